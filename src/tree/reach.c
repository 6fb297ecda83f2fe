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
#include "tree/prefetch.h"
#include "tree/reach.h"
#include "tree/search.h"
#include "tree/sweep.h"

/* Pages of an inner level that are asked for in one request. */
#define FPT_REQUEST_INNER	16

/* Requests of neighbouring pages under way if no single pages may be. */
#define FPT_UNDER_WAY_AROUND	64

/* An inner level may take so much of the caches before the walk comes to it. */
#define FPT_INNER_CACHE		4

void
fpt_reach_begin(FPTReach *r, Relation rel, FPTIndex *ix, uint32 npages)
{
	r->rel = rel;
	r->ix = ix;
	r->npages = npages;
	r->asked = 0;
	r->met = palloc0(npages / 8 + 1);
	r->led = palloc0(npages / 8 + 1);
}

void
fpt_reach_end(FPTReach *r)
{
	pfree(r->met);
	pfree(r->led);
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
 * Is a page, which need not exist, to be read soon, not in shared buffers, and
 * not asked for yet?
 * Of stripes some are shorter than others: a damaged downlink does not get
 * beyond their ends.
 */
static bool
fpt_reach_unread(const FPTReach *r, uint32 pageno)
{
	return pageno >= r->asked && pageno < r->npages &&
		(fpt_reach_missing(r, pageno / 8) & (1 << (pageno % 8))) != 0 &&
		fpt_page_exists(r->rel, &r->ix->map, pageno) &&
		!fpt_page_buffered(r->rel, &r->ix->map, pageno);
}

/*
 * What one request asks for because of an unread page, first .. return value -
 * 1: neighbours that are unread, too, "most" in all; or all the pages of its
 * part of the file, if they are "around".  It may begin before *first, which is
 * set.
 */
static uint32
fpt_reach_request(const FPTReach *r, uint32 *first, uint32 most, bool around)
{
	FPTPageMap *map = &r->ix->map;
	uint32		end = *first + 1;

	while (around && *first > r->asked && *first % FPT_REQUEST_INNER != 0 &&
		   fpt_page_follows(map, *first - 1, *first))
		(*first)--;
	while (end < r->npages && fpt_page_follows(map, end - 1, end) &&
		   (around ? end % FPT_REQUEST_INNER != 0 &&
			fpt_page_exists(r->rel, map, end) :
			end - *first < most && fpt_reach_unread(r, end)))
		end++;
	Assert(end - *first <= FPT_REQUEST_INNER);
	return end;
}

/*
 * Ask for the pages of the next level, which the one above it has told, unless
 * they are in shared buffers: in the order of the file, neighbours together.
 * The walk, which is in key order, would wait for each.  Before it begins: what
 * downlinks led to and was not met is then just this level.
 *
 * No more requests are under way than maintenance_io_concurrency, so that
 * others' reads do not wait behind all of these, and no more pages are asked
 * for than a part of the caches has room for, or than VACUUM may read before it
 * pays for it: of a larger level the walk reads the rest itself.
 *
 * Where it is 0 no single pages are asked for.  But of an index that is read
 * as a whole next, and fits in the caches, what lies around them may come with
 * them, and is not read again.
 *
 * No page is locked; reads catalogues, may be cancelled, and raises an error if
 * a page cannot be read.
 */
static void
fpt_reach_ask(const FPTReach *r)
{
	FPTPageMap *map = &r->ix->map;
	uint32		limit = fpt_io_concurrency(r->rel, map, true);
	uint32		rest = Max(effective_cache_size / FPT_INNER_CACHE,
						   limit * FPT_REQUEST_INNER);
	bool		around = limit == 0;
	uint32		first = 0;
	uint32	   *under_way;

	if (VacuumCostActive)
		rest = Min(rest, FPT_AHEAD_DELAYED);
	if (!fpt_guc_leaf_prefetch || !fpt_can_prefetch_range(r->rel) ||
		(around && (r->asked == 0 || r->npages > rest)))
		return;
	if (around)
		limit = FPT_UNDER_WAY_AROUND;
	under_way = palloc(limit * sizeof(uint32));
	for (uint32 n = 0; first < r->npages && rest > 0;)
	{
		uint32		end;

		CHECK_FOR_INTERRUPTS();
		if (fpt_reach_missing(r, first / 8) == 0)
			first = (first / 8 + 1) * 8;
		else if (!fpt_reach_unread(r, first))
			first++;
		else
		{
			end = fpt_reach_request(r, &first, Min(FPT_REQUEST_INNER, rest),
									around);
			if (n >= limit)
				fpt_await_page(r->rel, map, under_way[n % limit]);
			under_way[n++ % limit] = end - 1;
			fpt_prefetch_pages(r->rel, map, first, end - 1);
			fpt_count(NULL, FPT_LEAF_ISSUED, end - first);
			fpt_count(NULL, FPT_LEAF_REQUESTS, 1);
			rest -= Min(rest, end - first);
			first = end;
		}
	}
	pfree(under_way);
}

/*
 * See tree/reach.h.  Each level is entered by a descent and walked by its
 * links, which compares no keys: an inner page that VACUUM itself has not
 * unlinked yet is in it, whatever the order of keys is now.
 */
void
fpt_reach_inner(FPTReach *r, uint32 asked)
{
	Buffer		buf = fpt_getbuf(r->rel, r->ix, FPT_ROOTPAGE,
								 BUFFER_LOCK_SHARE);
	int			top = fpt_header(BufferGetPage(buf))->level;

	UnlockReleaseBuffer(buf);
	r->asked = asked;
	for (int level = top; level > 0; level--)
	{
		uint32		steps = 0;
		uint32		next;

		if (level < top)
			fpt_reach_ask(r);
		buf = fpt_descend_first(r->rel, r->ix, level);
		for (;;)
		{
			fpt_reach_page(r, buf);
			next = fpt_header(BufferGetPage(buf))->right;
			UnlockReleaseBuffer(buf);
			if (next == FPT_NOPAGE)
				break;
			if (++steps > r->npages &&
				steps > fpt_npages(r->rel, &r->ix->map))
				fpt_corrupt(r->rel, next, "The right links lead in a circle");
			fpt_vacuum_delay();
			buf = fpt_getbuf(r->rel, r->ix, next, BUFFER_LOCK_SHARE);
			if (!fpt_page_on_level(BufferGetPage(buf), level))
				fpt_corrupt(r->rel, next,
							"The page is not of its left sibling's level");
		}
	}
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
