/*-------------------------------------------------------------------------
 *
 * scan/qualset.h
 *	  What quals allow, as sets of disjoint intervals, and where in it a scan
 *	  is: what scan/qual.c makes of scan keys.  scan/position.c moves through
 *	  it, and scan/range.c has ranges of it; others ask for "recheck" only.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_QUALSET_H
#define FPT_SCAN_QUALSET_H

#include "access/skey.h"
#include "utils/relcache.h"

#include "key/compare.h"
#include "key/general.h"
#include "page/port.h"
#include "scan/argument.h"

typedef struct FPTQuals FPTQuals;

/*
 * Disjoint intervals, ascending: one, or those of an array.  There may be
 * millions of these, so values are all that is kept of them: both ends belong
 * to an interval, neither is NULL, and if each is a single value, as it is but
 * for a few pairs of types, there is one for both.  Names that are compared
 * with texts, and texts with names, stay in the query's array, as they are:
 * they are converted, which takes no longer than a comparison and allocates
 * nothing, whenever they are looked at.
 *
 * Of image keys there are two words for each interval: images of 16 bytes are
 * single values, and others have two, as neighbours become one interval.
 */
typedef struct FPTSet
{
	int			n;
	int			width;			/* values an interval; 0: it is the one in iv */
	int			words;			/* so many are they */
	FPTArgument how;			/* FPT_ARG_*_TO_*: values are converted */
	uint64	   *values;			/* Datums, or images */
	FPTConverted *at;			/* the one that a position is at */
	FPTInterval iv;
} FPTSet;

/*
 * The two words of image keys: the images a .. b, or where images have 16 bytes
 * the one image of these halves.
 */
typedef struct FPTSpan
{
	uint64		a;
	uint64		b;
} FPTSpan;

typedef struct FPTAllowed
{
	bool		any;			/* no quals at all */
	FPTSet		set;
	int			cur;			/* the one that the current position is in */
} FPTAllowed;

/* A qual without intervals. */
typedef struct FPTOther
{
	ScanKeyData key;
	int			nargs;			/* one, or the array's elements; not of rows */
	Datum	   *args;
} FPTOther;

/*
 * A position.  Side -1: before all entries that begin with these values, 1:
 * after them, 0: somewhere among them.
 */
typedef struct FPTPosition
{
	FPTGeneralSearch s;			/* see pos_key() */
	int			natts;
	int			side;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
} FPTPosition;

/* The code in the heads of a long value of the quals, which is at "value". */
typedef struct FPTCode
{
	const char *value;
	uint64		code;
} FPTCode;

struct FPTQuals
{
	FPTArguments args;
	const FPTGeneral *g;		/* NULL: image keys, without what only
								 * scan/position.c needs */
	bool		nullsfirst;		/* image keys */
	int			nkeycols;
	int			nstarts;		/* rescans, as far as they are counted */
	bool		point;			/* "column = value" on the first columns, and
								 * no other quals */
	bool		read;			/* what follows has been worked out of keys */
	ScanKey		keys;			/* the scan's own, or a copy in argcxt */
	int			nscankeys;
	ScanKey		position;		/* members of FPT_SK_POSITION, or NULL */
	bool		never;			/* no entry can match */
	bool		recheck;
	int			last;			/* last column with quals, or -1 */
	int			nothers;		/* quals that are asked of each entry */
	FPTOther   *others;
	int			nasked;			/* arguments of these, elements of arrays */
	ScanKey		row;			/* first member of a row comparison, or of a
								 * position: no entry before, or after, its
								 * values matches */
	int			nrow;			/* so many members, of the first columns */
	bool		rowfirst;		/* entries begin there, or else end */
	bool		rowincl;		/* with the values themselves */
	MemoryContext qualcxt;		/* of everything above, reset at a rescan; this
								 * and the others are NULL as long as nothing
								 * was put there: most scans need none */
	int			longcol;		/* the column that may have long values in the
								 * heads, or -1; see know_codes() */
	int			ncodes;			/* so many there are, by their addresses */
	int			maxcodes;
	FPTCode    *codes;
	MemoryContext argcxt;		/* see fetch_arguments() */
	MemoryContext poscxt;		/* values of positions */
	MemoryContext matchcxt;		/* values of entries */
	FPTPosition pos;			/* near and far end of the current range */
	FPTPosition end;
	FPTPosition walk;			/* see fpt_quals_walk_end() */
	FPTConverted walkbuf;		/* a value of that, if it is converted */
	FPTAllowed	col[FLEXIBLE_ARRAY_MEMBER]; /* nkeycols */
};

/* Empty a context, which need not be there. */
static inline void
fpt_context_reset(MemoryContext cxt)
{
	if (cxt != NULL)
		MemoryContextReset(cxt);
}

/*
 * The functions below work on values of either kind of keys.  Their callers say
 * which it is; where there may be millions of values they do it with a
 * constant, for which the compiler makes code of its own.
 */

/*
 * Order of two values of column i, or NULLs.  Runs the type's function, which
 * may raise, with a page locked, perhaps (L7); of images, none.
 */
static pg_attribute_always_inline int
fpt_value_cmp(const FPTQuals *q, int i, const FPTBound *a, const FPTBound *b,
			  bool images)
{
	Assert(i >= 0 && i < q->nkeycols && !a->inf && !b->inf);
	Assert(images == (q->g == NULL));
	if (!images)
		return fpt_general_compare_values(q->g, i, a->value, a->isnull,
										  b->value, b->isnull);
	if (likely(!a->isnull && !b->isnull))
		return fpt_img_cmp(a->image, b->image);
	return ((int) a->isnull - (int) b->isnull) * (q->nullsfirst ? -1 : 1);
}

/* Order of two upper bounds (end: 1), or of two lower ones (-1). */
static pg_attribute_always_inline int
fpt_bound_cmp(const FPTQuals *q, int i, int end, const FPTBound *a,
			  const FPTBound *b, bool images)
{
	int			c;

	if (a->inf || b->inf)
		return end * ((int) a->inf - (int) b->inf);
	c = fpt_value_cmp(q, i, a, b, images);
	return c != 0 ? c : end * ((int) a->incl - (int) b->incl);
}

/*
 * Is a value below an interval (-1), in it, or above it (1)?  As
 * fpt_value_cmp().
 */
static pg_attribute_always_inline int
fpt_value_side(const FPTQuals *q, int i, const FPTBound *v,
			   const FPTInterval *iv, bool images)
{
	if (!iv->lo.inf)
	{
		int			c = fpt_value_cmp(q, i, v, &iv->lo, images);

		if (c < 0 || (c == 0 && !iv->lo.incl))
			return -1;
	}
	if (!iv->hi.inf)
	{
		int			c = fpt_value_cmp(q, i, v, &iv->hi, images);

		if (c > 0 || (c == 0 && !iv->hi.incl))
			return 1;
	}
	return 0;
}

/* Is there one value only?  Of general keys. */
static inline bool
fpt_interval_point(const FPTQuals *q, int i, const FPTInterval *iv)
{
	return !iv->lo.inf && !iv->hi.inf &&
		(iv->lo.value == iv->hi.value && iv->lo.isnull == iv->hi.isnull ?
		 true : fpt_value_cmp(q, i, &iv->lo, &iv->hi, false) == 0);
}

/*
 * The k'th interval; ends that are converted are in *buf, which is not looked
 * at for others and may be NULL then.  Raises nothing, allocates nothing.
 */
static pg_attribute_always_inline FPTInterval
fpt_set_interval(const FPTSet *s, int k, FPTConverted *buf, bool images)
{
	FPTInterval iv = {{.incl = true}, {.incl = true}};

	Assert(k >= 0 && k < s->n);
	if (s->width == 0)
		return s->iv;
	if (images)
	{
		uint64		first = s->values[(Size) k * 2];

		iv.hi.image.lo = s->values[(Size) k * 2 + 1];
		iv.hi.image.hi = s->width == 1 ? first : 0;
		iv.lo.image.lo = s->width == 1 ? iv.hi.image.lo : first;
		iv.lo.image.hi = iv.hi.image.hi;
		return iv;
	}
	iv.lo.value = (Datum) s->values[(Size) k * s->width];
	if (unlikely(s->how != FPT_ARG_SAME))
		iv.lo.value = fpt_convert(s->how, iv.lo.value, buf);
	iv.hi.value = iv.lo.value;
	if (unlikely(s->width == 2))
		iv.hi.value = (Datum) s->values[(Size) k * 2 + 1];
	return iv;
}

/*
 * Is a value below the k'th interval (< 0), in it, or above it (> 0)?  As
 * fpt_value_cmp().
 */
static pg_attribute_always_inline int
fpt_set_side(const FPTQuals *q, int i, const FPTSet *s, int k,
			 const FPTBound *v, bool images)
{
	if (!images && likely(s->width == 1 && s->how == FPT_ARG_SAME))
		return fpt_general_compare_values(q->g, i, v->value, v->isnull,
										  (Datum) s->values[k], false);
	else
	{
		FPTConverted buf;
		FPTInterval iv = fpt_set_interval(s, k, &buf, images);

		if (s->width == 1)
			return fpt_value_cmp(q, i, v, &iv.lo, images);
		return fpt_value_side(q, i, v, &iv, images);
	}
}

/* Room for so many intervals of an array's set, in the current context. */
extern void fpt_set_allocate(FPTSet *s, Size n);

/*
 * Give each of a set's single values, of which there may be max, two ends.
 * They may move.  Not of image keys.
 */
extern void fpt_set_widen(FPTSet *s, int max);

/*
 * Sort an array's intervals and merge those that overlap, in place; images,
 * too, if there is none between them.  Runs functions of types, with no page
 * locked; may raise, and be cancelled.  Allocates nothing.
 */
extern void fpt_set_sort(const FPTQuals *q, int i, FPTSet *s);

/*
 * Keep of column i what an array's set allows as well, which is sorted, and the
 * column's from now on, or no one's.  Sets q->never if nothing is left, and
 * q->recheck if too much may be.  Runs functions of types, with no page locked;
 * may raise, and be cancelled.  Allocates in the current context, q->qualcxt.
 */
extern void fpt_set_intersect(FPTQuals *q, int i, const FPTSet *b);

/*
 * The same for one interval, which is copied.  A single value of general keys
 * is made a set of, so that arrays and values are looked for in the same way.
 * May raise, and be cancelled, as fpt_set_intersect().
 */
extern void fpt_set_narrow(FPTQuals *q, int i, const FPTInterval *iv);

static inline int
fpt_code_order(const void *a, const void *b)
{
	const char *x = ((const FPTCode *) a)->value;
	const char *y = ((const FPTCode *) b)->value;

	return x < y ? -1 : x > y;
}

#endif							/* FPT_SCAN_QUALSET_H */
