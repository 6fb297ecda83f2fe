/*-------------------------------------------------------------------------
 *
 * scan/scankey.h
 *	  The quals of a scan as ranges of image keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_SCANKEY_H
#define FPT_SCAN_SCANKEY_H

#include "access/skey.h"
#include "access/tupmacs.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/relcache.h"

#include "page/format.h"
#include "page/layout.h"
#include "store/index.h"

/* A range's ends are inclusive, TIDs 0 and FPT_MAX_TID, classes too. */
typedef struct FPTRange
{
	FPTKey		lo;
	FPTKey		hi;
} FPTRange;

/*
 * What is kept of each of an array's ranges, of which there may be millions:
 * the images a .. b, or where images have 16 bytes the image of these halves.
 */
typedef struct FPTSpan
{
	uint64		a;
	uint64		b;
} FPTSpan;

/*
 * A scan's quals as ranges in the index's order, ascending and disjoint.  A
 * NULL range runs from (NULL, 0) to (NULL, FPT_MAX_TID).
 */
typedef struct FPTRanges
{
	int			n;				/* 0: the quals contradict each other */
	FPTSpan    *spans;			/* several; NULL: there is one at most, */
	FPTRange	one;			/* which is here */
	bool		recheck;		/* entries in them may not match: xs_recheck */
	struct FPTQualWork *work;	/* scan/scankey.c's own, kept over rescans */
} FPTRanges;

/* The range of a span, of image keys.  Raises nothing. */
static inline void
fpt_span_range(const FPTLayout *l, FPTSpan s, FPTRange *range)
{
	bool		wide = l->keysize == 16;

	Assert(wide || s.a <= s.b);
	memset(range, 0, sizeof(FPTRange));
	range->lo.hi = wide ? s.a : 0;
	range->lo.lo = wide ? s.b : s.a;
	range->lo.cls = FPT_CLS_VALUE;
	range->hi.hi = range->lo.hi;
	range->hi.lo = s.b;
	range->hi.tid = FPT_MAX_TID;
	range->hi.cls = FPT_CLS_VALUE;
}

/*
 * The i'th range, which may be in *buf.  Raises nothing; a page may be locked.
 */
static inline const FPTRange *
fpt_range(const FPTLayout *l, const FPTRanges *ranges, int i, FPTRange *buf)
{
	Assert(i >= 0 && i < ranges->n);
	if (likely(ranges->spans == NULL))
		return &ranges->one;
	fpt_span_range(l, ranges->spans[i], buf);
	return buf;
}

/*
 * Compute the ranges of a scan's keys.  "ranges" is zeroed by the first caller
 * and may be passed again at a rescan: memory, which is in cxt, is reused.
 * What they say lives until then; they point to nothing of the keys.  The index
 * has image keys.
 *
 * No page may be locked: catalogues are read and comparison functions run,
 * which may raise.  What these allocate stays in the current context.  May be
 * cancelled.  Raises an error, too, for a key that no index scan has
 * (fpt_reject_key).
 */
extern void fpt_preprocess_keys(Relation rel, FPTIndex *ix, ScanKey keys,
								int nkeys, MemoryContext cxt,
								FPTRanges *ranges);

/* The executor has passed a key that no index scan has: an internal error. */
extern void fpt_reject_key(Relation rel, ScanKey key)
			__attribute__((noreturn));

/* Steps through an array's elements without an array of Datums. */
typedef struct FPTElements
{
	ArrayType  *array;
	bool		ours;			/* detoasted or flattened: to be freed */
	int			n;				/* number of elements */
	int			i;
	char	   *next;
	uint8	   *nulls;			/* bitmap; NULL: there are none */
	int16		typlen;
	bool		typbyval;
	char		typalign;
} FPTElements;

/*
 * Before the first element of an array, which is arg.  A copy of it is made in
 * the current context if it is compressed, out of line or expanded (e->ours).
 * No page is locked: that reads TOAST tables and catalogues, and may raise.
 */
extern void fpt_elements_begin(FPTElements *e, Datum arg);

/*
 * The next element that is not NULL; false if there is none.  One that is
 * passed by reference is in the array.  Allocates nothing, raises nothing.
 */
static inline bool
fpt_elements_next(FPTElements *e, Datum *value)
{
	while (e->i < e->n)
	{
		int			i = e->i++;

		if (e->nulls != NULL && (e->nulls[i / 8] & (1 << (i % 8))) == 0)
			continue;
		*value = fetch_att(e->next, e->typbyval, e->typlen);
		e->next = att_addlength_pointer(e->next, e->typlen, e->next);
		e->next = (char *) att_align_nominal(e->next, e->typalign);
		return true;
	}
	return false;
}

/*
 * Comparison function of the type of the i'th column with another one of its
 * family, in *cmp; what that allocates is in cxt.  Reads catalogues; raises an
 * error if there is none, or one of other arguments: fpt_image_cut() passes it
 * Datums of these types.
 */
extern void fpt_lookup_cross(Relation rel, int i, Oid subtype,
							 MemoryContext cxt, FmgrInfo *cmp);

#endif							/* FPT_SCAN_SCANKEY_H */
