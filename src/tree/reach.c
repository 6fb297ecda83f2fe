/*-------------------------------------------------------------------------
 *
 * tree/reach.c
 *	  Which pages downlinks lead to, and which were met: VACUUM's last proof.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "page/format.h"
#include "page/kernel.h"
#include "server/compat.h"
#include "store/buf.h"
#include "store/place.h"
#include "tree/reach.h"
#include "tree/search.h"
#include "tree/sweep.h"

void
fpt_reach_begin(FPTReach *r, Relation rel, FPTIndex *ix, uint32 npages,
				BufferAccessStrategy strategy)
{
	r->rel = rel;
	r->ix = ix;
	r->npages = npages;
	r->met = palloc0(npages / 8 + 1);
	r->led = palloc0(npages / 8 + 1);
	r->around = palloc0(npages / (8 * FPT_REQUEST_PAGES) + 1);
	r->strategy = strategy;
}

/* Of eight pages, those that downlinks led to and that were not met yet. */
static inline uint8
fpt_reach_missing(const FPTReach *r, uint32 byte)
{
	Assert(byte <= r->npages / 8);
	return r->led[byte] & ~r->met[byte];
}

/*
 * Note which pages the downlinks of an inner page lead to, and that it was met.
 * It is locked, to read, and stays so.  Raises an error if entries cannot be
 * read: what they lead to would be unknown.
 */
static void
fpt_reach_page(FPTReach *r, Buffer buf)
{
	uint32		children[FPT_MAX_ENTRIES];
	Page		page = BufferGetPage(buf);
	int			n = fpt_page_children(&r->ix->layout, page, children);

	Assert(fpt_buffer_locked(buf, false) && fpt_header(page)->level > 0);
	if (n != fpt_page_count(&r->ix->layout, page))
		fpt_corrupt_page(r->rel, &r->ix->layout, page, fpt_bufpage(buf));
	for (int i = 0; i < n; i++)
	{
		if (children[i] < r->npages)
			r->led[children[i] / 8] |= 1 << (children[i] % 8);
	}
	fpt_reach_note(r, fpt_bufpage(buf));
}

/*
 * Go along a level of inner pages by its links, and note its pages and what
 * they lead to.  They are asked for ahead if the level is not the root's.
 * Locks, and errors: see fpt_reach_inner().
 */
static void
fpt_reach_level(FPTReach *r, int level, bool ahead, uint32 asked)
{
	FPTSweep   *s = NULL;
	uint32		steps = 0;
	Buffer		buf;

	Assert(level > 0);
	if (ahead)
	{
		s = fpt_sweep_begin(r->rel, r->ix, level, r->strategy);
		fpt_sweep_around(s, asked, r->around, r->npages);
		fpt_sweep_step(s);
	}
	buf = fpt_descend_first(r->rel, r->ix, level);
	for (;;)
	{
		uint32		next = fpt_header(BufferGetPage(buf))->right;

		fpt_reach_page(r, buf);
		UnlockReleaseBuffer(buf);
		if (next == FPT_NOPAGE)
			break;
		if (++steps > r->npages && steps > fpt_npages(r->rel, &r->ix->map))
			fpt_corrupt(r->rel, next, "The right links lead in a circle");
		fpt_vacuum_delay();
		if (s != NULL)
			fpt_sweep_step(s);
		buf = fpt_getbuf_extended(r->rel, r->ix, next, BUFFER_LOCK_SHARE,
								  r->strategy);
		if (!fpt_page_on_level(BufferGetPage(buf), level))
			fpt_corrupt(r->rel, next,
						"The page is not of its left sibling's level");
	}
	if (s != NULL)
		fpt_sweep_end(s);
}

/*
 * See tree/reach.h.  Each level is entered by a descent and walked by its
 * links, which compares no keys: an inner page that VACUUM itself has not
 * unlinked yet is in it, whatever the order of keys is now.
 */
void
fpt_reach_inner(FPTReach *r, uint32 asked)
{
	int			top = fpt_tree_level(r->rel, r->ix);

	for (int level = top; level > 0; level--)
		fpt_reach_level(r, level, level < top, asked);
}

void
fpt_reach_certify(FPTReach *r)
{
	for (uint32 i = 0; i <= r->npages / 8; i++)
	{
		uint8		missing = fpt_reach_missing(r, i);

		CHECK_FOR_INTERRUPTS();
		if (missing != 0)
			fpt_corrupt(r->rel, i * 8 + pg_rightmost_one_pos32(missing),
						"A downlink leads to the page, but its neighbours' links pass it by");
	}
}
