/*-------------------------------------------------------------------------
 *
 * scan/source.c
 *	  The ranges that a scan goes through, of image keys or of general ones.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "key/image.h"
#include "page/kernel.h"
#include "scan/position.h"
#include "scan/qual.h"
#include "scan/source.h"
#include "store/buf.h"

/* --- ranges of images ----------------------------------------------------- */

/* Order of the key of an image and a TID, and another one. */
static inline int
fpt_image_key_cmp(uint64 hi, uint64 lo, uint64 tid, const FPTKey *key)
{
	if (key->cls != FPT_CLS_VALUE)
		return FPT_CLS_VALUE < key->cls ? -1 : 1;
	if (hi != key->hi)
		return hi < key->hi ? -1 : 1;
	if (lo != key->lo)
		return lo < key->lo ? -1 : 1;
	return fpt_tid_cmp(tid, key->tid);
}

/* Does the i'th range begin, or end, before key?  Spans are not made ranges. */
static inline bool
fpt_range_begins_before(const FPTLayout *l, const FPTRanges *ranges, int i,
						const FPTKey *key)
{
	const FPTSpan *s = ranges->spans + i;

	Assert(i >= 0 && i < ranges->n);
	if (likely(ranges->spans == NULL))
		return fpt_key_cmp(l, &ranges->one.lo, key) < 0;
	if (l->keysize == 16)
		return fpt_image_key_cmp(s->a, s->b, 0, key) < 0;
	return fpt_image_key_cmp(0, s->a, 0, key) < 0;
}

static inline bool
fpt_range_ends_before(const FPTLayout *l, const FPTRanges *ranges, int i,
					  const FPTKey *key)
{
	const FPTSpan *s = ranges->spans + i;

	Assert(i >= 0 && i < ranges->n);
	if (likely(ranges->spans == NULL))
		return fpt_key_cmp(l, &ranges->one.hi, key) < 0;
	return fpt_image_key_cmp(l->keysize == 16 ? s->a : 0, s->b, FPT_MAX_TID,
							 key) < 0;
}

/*
 * First range of image keys that does not end before key; ranges->n if there is
 * none.  A binary search, of images only: raises nothing, and a page may be
 * locked (L10).
 */
static int
fpt_first_range(const FPTLayout *l, const FPTRanges *ranges, const FPTKey *key)
{
	int			i = 0;
	int			end = ranges->n;

	while (i < end)
	{
		int			m = i + (end - i) / 2;

		if (fpt_range_ends_before(l, ranges, m, key))
			i = m + 1;
		else
			end = m;
	}
	return i;
}

/*
 * The same as fpt_first_range().  Mostly it is the one after that which was
 * found last: elements of an array are taken one after the other.
 */
static inline int
fpt_next_range(const FPTLayout *l, FPTRanges *ranges, const FPTKey *key)
{
	int			i = ranges->next;

	if (i <= 0 || i >= ranges->n ||
		fpt_range_ends_before(l, ranges, i, key) ||
		!fpt_range_ends_before(l, ranges, i - 1, key))
		i = fpt_first_range(l, ranges, key);
	ranges->next = i + 1;
	return i;
}

/*
 * The first range with positions at or above "at" (dir > 0), or the last one
 * with positions below it (dir < 0); -1 if there is none.  Raises nothing; a
 * binary search, and few steps.
 */
static int
fpt_range_from(const FPTLayout *l, FPTRanges *ranges, const FPTKey *at,
			   int dir)
{
	int			i = ranges->n;

	if (dir < 0)
	{
		if (i > 1)
			i = Min(i, fpt_first_range(l, ranges, at) + 1);
		while (i > 0 && !fpt_range_begins_before(l, ranges, i - 1, at))
			i--;
		return i - 1;
	}
	i = fpt_next_range(l, ranges, at);
	return i < ranges->n ? i : -1;
}

/* --- both ----------------------------------------------------------------- */

void
fpt_source_set(IndexScanDesc scan, FPTScanOpaque *so)
{
	if (so->quals == NULL)
	{
		fpt_image_ranges(scan->indexRelation, &so->ix, scan->keyData,
						 so->nkeys, so->cxt, &so->ranges);
		return;
	}
	/* The planner's queries are planned, whatever plan they will get. */
	if (!fpt_is_probe(scan))
		fpt_index_current(scan->indexRelation, &so->ix);
	fpt_quals_set(so->quals, scan->keyData, so->nkeys,
				  scan->numberOfKeys - so->nkeys);

	/*
	 * Without quals there is nothing to recheck, and CLUSTER takes no such
	 * entry; nor does the planner's look-up of an extreme.
	 */
	so->ranges.recheck = so->quals->recheck ||
		(so->ix.stale && so->nkeys > 0 && !fpt_is_probe(scan));
}

FPTRange *
fpt_source_search(FPTScanOpaque *so, const FPTKey *from, int dir,
				  FPTRange *buf)
{
	const FPTLayout *l = &so->ix.layout;
	int			i;

	if (so->quals != NULL)
		return fpt_quals_range(so->quals, from, dir, buf) ? buf : NULL;
	Assert(so->ranges.spans != NULL && so->ranges.n != 1);
	i = fpt_range_from(l, &so->ranges, from, dir);
	return i >= 0 ? fpt_range(l, &so->ranges, i, buf) : NULL;
}

FPTRange *
fpt_source_next(FPTScanOpaque *so, FPTRange *r, FPTRange *buf)
{
	FPTKey		end;

	if (so->quals != NULL)
	{
		Assert(r == buf);
		end = r->hi;
		return fpt_quals_range(so->quals, &end, 1, buf) ? buf : NULL;
	}
	if (r->element < 0 || r->element + 1 >= so->ranges.n)
		return NULL;
	Assert(r == buf && so->ranges.spans != NULL);
	return fpt_range(&so->ix.layout, &so->ranges, r->element + 1, buf);
}

bool
fpt_source_alone(const FPTScanOpaque *so, const FPTRange *r,
				 const FPTKey *high)
{
	const FPTRanges *ranges = &so->ranges;
	int			next = r->element + 1;

	Assert(so->quals == NULL && next >= 0);
	return ranges->spans == NULL || next >= ranges->n ||
		!fpt_range_begins_before(&so->ix.layout, ranges, next, high);
}

const FPTKey *
fpt_source_end(FPTScanOpaque *so, const FPTRange *r, bool dense, int dir,
			   FPTKey *buf)
{
	if (r->part)
	{
		Assert(so->quals != NULL);
		if (fpt_quals_walk_end(so->quals, dir, buf))
			return buf;
	}
	else if (dense)
	{
		FPTRange	last;

		Assert(r->element >= 0);
		if (so->quals != NULL)
			fpt_quals_array_end(so->quals, dir, buf);
		else
		{
			(void) fpt_range(&so->ix.layout, &so->ranges,
							 dir > 0 ? so->ranges.n - 1 : 0, &last);
			*buf = dir > 0 ? last.hi : last.lo;
		}
		return buf;
	}
	return dir > 0 ? &r->hi : &r->lo;
}

bool
fpt_source_goes_on(FPTScanOpaque *so, const FPTKey *low, const FPTKey *high,
				   const FPTRange *first)
{
	const FPTLayout *l = &so->ix.layout;
	const FPTRanges *ranges = &so->ranges;

	if (so->quals != NULL)
		return first != NULL && !(first->point && first->here) &&
			fpt_key_cmp(l, high, &first->hi) <= 0;
	/* elements that are far apart have other leaves between them */
	if (ranges->spans != NULL && !so->stayed)
		return false;
	if (first != NULL)
		return !fpt_range_ends_before(l, ranges, ranges->n - 1, high);
	return fpt_range_begins_before(l, ranges, 0, low);
}
