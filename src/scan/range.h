/*-------------------------------------------------------------------------
 *
 * scan/range.h
 *	  Ranges of the key space; and the quals of a scan as ranges of image keys.
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

/*
 * A part of the key space, all of whose entries match the quals, but for those
 * that "filter" is about.  What is said of values is always so for images: they
 * are one column, whose ranges are all known.
 */
typedef struct FPTRange
{
	FPTKey		lo;				/* inclusive, as is hi: of images TIDs are 0 */
	FPTKey		hi;				/* and FPT_MAX_TID */
	bool		filter;			/* entries are to be asked fpt_quals_match() */
	bool		seek;			/* the values of a column in front of one with
								 * quals are not known where it begins: the
								 * first entry there tells more ("dir" > 0) */
	bool		moved;			/* may not begin where it was asked for */
	bool		bounded;		/* general keys: of the column after the fixed
								 * ones it ends at a value, and not with all
								 * that follows; see fpt_source_bounded() */
	bool		part;			/* others follow, of other values of columns in
								 * which it has a single one: see
								 * fpt_quals_walk_end() */
	int			element;		/* of the array on the first column that is not
								 * of one value, if there is one, or -1 */
	bool		point;			/* the quals allow one value of the first
								 * columns: there is no other range */
	bool		here;			/* set by a scan that knows: "lo" is between
								 * the fences of the page at hand */
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
	int			next;			/* hint: the one that will be asked for next */
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
	range->moved = true;
	range->element = -1;
}

/*
 * The i'th range, which may be in *buf.  Raises nothing; a page may be locked.
 */
static inline FPTRange *
fpt_range(const FPTLayout *l, FPTRanges *ranges, int i, FPTRange *buf)
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
	buf->element = i;
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
