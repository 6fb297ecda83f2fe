/*-------------------------------------------------------------------------
 *
 * scan/range.h
 *	  The quals of a scan as ranges of image keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_RANGE_H
#define FPT_SCAN_RANGE_H

#include "access/skey.h"
#include "utils/relcache.h"

#include "page/format.h"
#include "page/layout.h"
#include "scan/qualset.h"
#include "store/index.h"

/* A range's ends are inclusive, TIDs 0 and FPT_MAX_TID, classes too. */
typedef struct FPTRange
{
	FPTKey		lo;
	FPTKey		hi;
} FPTRange;

/*
 * A scan's quals as ranges in the index's order, ascending and disjoint.  A
 * NULL range runs from (NULL, 0) to (NULL, FPT_MAX_TID).
 */
typedef struct FPTRanges
{
	int			n;				/* 0: the quals contradict each other */
	const FPTSpan *spans;		/* several; NULL: there is one at most, */
	FPTRange	one;			/* which is here */
	bool		recheck;		/* entries in them may not match: xs_recheck */
	FPTQuals   *quals;			/* what they are made of, or NULL: nothing was
								 * so far */
} FPTRanges;

/* The range of the images lo .. hi, in the index's order.  Raises nothing. */
static inline void
fpt_image_range(FPTImage lo, FPTImage hi, FPTRange *range)
{
	Assert(fpt_img_cmp(lo, hi) <= 0);
	memset(range, 0, sizeof(FPTRange));
	range->lo.hi = lo.hi;
	range->lo.lo = lo.lo;
	range->lo.cls = FPT_CLS_VALUE;
	range->hi.hi = hi.hi;
	range->hi.lo = hi.lo;
	range->hi.tid = FPT_MAX_TID;
	range->hi.cls = FPT_CLS_VALUE;
}

/*
 * The i'th range, which may be in *buf.  Raises nothing; a page may be locked.
 */
static inline const FPTRange *
fpt_range(const FPTLayout *l, const FPTRanges *ranges, int i, FPTRange *buf)
{
	FPTImage	lo = {0, 0};
	FPTImage	hi = {0, 0};

	Assert(i >= 0 && i < ranges->n);
	if (likely(ranges->spans == NULL))
		return &ranges->one;
	lo.lo = ranges->spans[i].a;
	hi.lo = ranges->spans[i].b;
	if (l->keysize == 16)
	{
		hi.hi = lo.lo;
		lo = hi;
	}
	fpt_image_range(lo, hi, buf);
	return buf;
}

/*
 * Compute the ranges of a scan's keys, which stay in place until the next call.
 * "ranges" is zeroed by the first caller and may be passed again at a rescan.
 * What they say, in cxt and in contexts below it, lives until then.  The index
 * has image keys; *ix is the scan's own, as rel it is used until the end.
 *
 * No page may be locked: catalogues are read and comparison functions run,
 * which may raise.  May be cancelled.  Raises an error, too, for a key that no
 * index scan has.
 */
extern void fpt_image_ranges(Relation rel, FPTIndex *ix, ScanKey keys,
							 int nkeys, MemoryContext cxt, FPTRanges *ranges);

#endif							/* FPT_SCAN_RANGE_H */
