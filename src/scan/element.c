/*-------------------------------------------------------------------------
 *
 * scan/element.c
 *	  The leaves of an array's elements, as their parents have them.
 *
 * Elements that are far apart have a leaf each, and a descent to each of them
 * waits for one page after the other.  But one leaf parent knows the leaves of
 * many elements.  So it is asked about all of the next ones while it is locked,
 * and its answers are remembered.  A leaf proves by its fences that it is the
 * one, or else the scan descends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "storage/bufmgr.h"

#include "page/kernel.h"
#include "scan/element.h"
#include "store/buf.h"
#include "store/counts.h"
#include "store/place.h"
#include "tree/prefetch.h"
#include "tree/search.h"

/* A parent is asked about fewer elements at first, as the scan may stop. */
#define FPT_ELEMENTS_START	4

/* Leaves whose first lines are on their way into the processor's cache. */
#define FPT_ELEMENTS_AHEAD	4

/* See scan/element.h. */
bool
fpt_array_dense(IndexScanDesc scan, FPTScanOpaque *so, uint32 hint, bool jump,
				int element)
{
	bool		moved = element != so->element;
	bool		stayed = so->stayed;

	so->element = element;
	if (hint == FPT_NOPAGE || fpt_is_probe(scan))
		return false;
	if (!jump)
		so->stayed = moved;
	return stayed && (jump || moved);
}

/*
 * Ask the parent about elements from i on; it is share-locked, and stays so.
 * Stops at its end, or where it makes no sense: a descent will say why.
 */
static void
fpt_elements_ask(FPTScanOpaque *so, Page page, int i)
{
	const FPTLayout *l = &so->ix.layout;
	FPTElementLeaves *e = so->leaves;
	bool		guess = fpt_guess_wanted(&so->ix.guess);
	int			end = Min(so->ranges.n, i + e->most);

	Assert(e->most <= FPT_ELEMENTS_MAX);
	for (; i < end; i++)
	{
		FPTRange	r;
		FPTLoc		loc;
		uint32	   *leaf = &e->leaf[e->n];

		(void) fpt_range(l, &so->ranges, i, &r);
		if (!fpt_page_below_high(l, page, &r.lo) ||
			fpt_page_find_child(l, page, &r.lo, leaf, &loc) != FPT_OK ||
			*leaf == FPT_METAPAGE || *leaf == so->ix.root)
			break;
		e->fraction[e->n] = guess ?
			fpt_page_fraction(l, page, loc, &r.lo) : FPT_NO_GUESS;
		e->n++;
	}
}

/*
 * Ask for the leaves that are known, if pages had to be read of late: those
 * that the scan comes to next will be, too.  No page is locked.  May raise.
 */
static void
fpt_elements_read(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTElementLeaves *e = so->leaves;
	FPTPageMap *map = &so->ix.map;
	int64		read = pgBufferUsage.shared_blks_read;
	int			limit;

	if (read == e->read || !fpt_guc_leaf_prefetch || so->wanted != NULL)
	{
		e->read = read;
		return;
	}
	e->read = read;
	limit = fpt_io_concurrency(scan->indexRelation, map, false);
	for (int i = 1; i < e->n && i <= limit; i++)
	{
		bool		io;

		if (e->leaf[i] == e->leaf[i - 1] ||
			!fpt_page_exists(scan->indexRelation, map, e->leaf[i]))
			continue;
		io = fpt_prefetch_page(scan->indexRelation, map, e->leaf[i]);
		fpt_count(so->counters, io ? FPT_LEAF_ISSUED : FPT_LEAF_CACHED, 1);
		fpt_count(NULL, FPT_LEAF_REQUESTS, io);
	}
}

/*
 * Look for the leaves of the elements from i on: n is 0 if that did not lead to
 * the leaf parent.  As fpt_element_leaf().
 */
static pg_noinline void
fpt_elements_find(IndexScanDesc scan, FPTScanOpaque *so, const FPTRange *r)
{
	FPTElementLeaves *e = so->leaves;
	Buffer		buf;

	if (e == NULL)
	{
		e = so->leaves = MemoryContextAllocZero(so->cxt,
												sizeof(FPTElementLeaves));
		e->most = FPT_ELEMENTS_START;
		e->read = pgBufferUsage.shared_blks_read;
	}
	e->first = r->element;
	e->n = 0;
	buf = fpt_descend_try(scan->indexRelation, &so->ix, &r->lo, 1,
						  BUFFER_LOCK_SHARE);
	if (!BufferIsValid(buf))
		return;
	fpt_elements_ask(so, BufferGetPage(buf), r->element);
	UnlockReleaseBuffer(buf);
	e->most = FPT_ELEMENTS_MAX;
	fpt_elements_read(scan, so);
	for (int i = 0; i < Min(e->n, FPT_ELEMENTS_AHEAD); i++)
		fpt_page_await_node(scan->indexRelation, &so->ix, e->leaf[i],
							e->fraction[i]);
}

/*
 * Are elements far apart?  They are where the last jump was not to the next
 * leaf.  The participants of a parallel scan take some of them each.
 */
static inline bool
fpt_array_far(IndexScanDesc scan, const FPTScanOpaque *so)
{
	return so->missed && so->quals == NULL && scan->parallel_scan == NULL &&
		!fpt_is_probe(scan);
}

Buffer
fpt_element_leaf(IndexScanDesc scan, FPTScanOpaque *so, const FPTRange *r)
{
	const FPTLayout *l = &so->ix.layout;
	FPTElementLeaves *e = so->leaves;
	Buffer		buf;
	Page		page;
	int			i;

	Assert(r->element >= 0);
	if (!fpt_array_far(scan, so))
		return InvalidBuffer;
	if (e == NULL || r->element < e->first || r->element >= e->first + e->n)
	{
		if (so->ranges.n - r->element < FPT_ELEMENTS_START ||
			so->ix.rootlevel == 0)
			return InvalidBuffer;
		fpt_elements_find(scan, so, r);
		e = so->leaves;
		if (e->n == 0)
			return InvalidBuffer;
	}
	i = r->element - e->first;
	if (i + FPT_ELEMENTS_AHEAD < e->n)
		fpt_page_await_node(scan->indexRelation, &so->ix,
							e->leaf[i + FPT_ELEMENTS_AHEAD],
							e->fraction[i + FPT_ELEMENTS_AHEAD]);
	buf = fpt_getbuf_hot(scan->indexRelation, &so->ix, e->leaf[i],
						 BUFFER_LOCK_SHARE, e->fraction[i]);
	page = BufferGetPage(buf);
	if (fpt_page_on_level(page, 0) && fpt_page_above_low(l, page, &r->lo) &&
		fpt_page_below_high(l, page, &r->lo))
		return buf;
	UnlockReleaseBuffer(buf);
	return InvalidBuffer;
}
