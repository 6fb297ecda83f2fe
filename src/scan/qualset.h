/*-------------------------------------------------------------------------
 *
 * scan/qualset.h
 *	  What quals allow, and where in it a scan is: what scan/qual.c makes of
 *	  scan keys, and scan/position.c moves through.  Of no use to others.
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
#include "scan/scankey.h"

/*
 * Disjoint intervals, ascending: one, or those of an array.  There may be
 * millions of these, so values are all that is kept of them: both ends belong
 * to an interval, neither is NULL, and if each is a single value, as it is but
 * for a few pairs of types, there is one for both.  Names that are compared
 * with texts, and texts with names, stay in the query's array, as they are:
 * they are converted, which takes no longer than a comparison and allocates
 * nothing, whenever they are looked at.
 */
typedef struct FPTSet
{
	int			n;
	int			width;			/* values an interval; 0: it is the one in iv */
	FPTArgument how;			/* FPT_ARG_*_TO_*: values are converted */
	Datum	   *values;
	FPTConverted *at;			/* the one that a position is at */
	FPTInterval iv;
} FPTSet;

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
	Relation	rel;
	const FPTGeneral *g;
	int			nkeycols;
	int			nstarts;		/* rescans, as far as they are counted */
	bool		point;			/* "column = value" on the first columns, and
								 * no other quals */
	bool		read;			/* what follows has been worked out of keys */
	ScanKey		keys;			/* the scan's own, or a copy in argcxt */
	int			nscankeys;
	bool		never;			/* no entry can match */
	bool		recheck;
	int			last;			/* last column with quals, or -1 */
	int			nothers;		/* quals that are asked of each entry */
	FPTOther   *others;
	int			nasked;			/* arguments of these, elements of arrays */
	ScanKey		row;			/* first member of a row comparison, or NULL: no
								 * entry before, or after, its values matches
								 * */
	int			nrow;			/* so many members, of the first columns */
	bool		rowfirst;		/* entries begin there, or else end */
	bool		rowincl;		/* with the values themselves */
	MemoryContext qualcxt;		/* of everything above, reset at a rescan */
	int			longcol;		/* the column that may have long values in the
								 * heads, or -1; see know_codes() */
	int			ncodes;			/* so many there are, by their addresses */
	int			maxcodes;
	FPTCode    *codes;
	MemoryContext argcxt;		/* see fetch_arguments(); NULL: not needed */
	MemoryContext poscxt;		/* values of positions */
	MemoryContext matchcxt;		/* values of entries */
	FPTPosition pos;			/* near and far end of the current range */
	FPTPosition end;
	FPTPosition walk;			/* see fpt_quals_walk_end() */
	FPTConverted walkbuf;		/* a value of that, if it is converted */
	FPTAllowed	col[FLEXIBLE_ARRAY_MEMBER]; /* nkeycols */
};

static inline int
fpt_value_cmp(const struct FPTQuals *q, int i, Datum a, bool anull,
			  const FPTBound *b)
{
	Assert(i >= 0 && i < q->nkeycols && !b->inf);
	return fpt_general_compare_values(q->g, i, a, anull, b->value, b->isnull);
}

/*
 * Is a value below an interval (-1), in it, or above it (1)?  Runs the type's
 * function, which may raise, with a page locked, perhaps (L7).
 */
static pg_attribute_always_inline int
fpt_value_side(const struct FPTQuals *q, int i, Datum v, bool vnull,
		   const FPTInterval *iv)
{
	if (!iv->lo.inf)
	{
		int			c = fpt_value_cmp(q, i, v, vnull, &iv->lo);

		if (c < 0 || (c == 0 && !iv->lo.incl))
			return -1;
	}
	if (!iv->hi.inf)
	{
		int			c = fpt_value_cmp(q, i, v, vnull, &iv->hi);

		if (c > 0 || (c == 0 && !iv->hi.incl))
			return 1;
	}
	return 0;
}

/* Is there one value only? */
static inline bool
fpt_interval_point(const struct FPTQuals *q, int i, const FPTInterval *iv)
{
	return !iv->lo.inf && !iv->hi.inf &&
		(iv->lo.value == iv->hi.value && iv->lo.isnull == iv->hi.isnull ?
		 true : fpt_value_cmp(q, i, iv->lo.value, iv->lo.isnull, &iv->hi) == 0);
}

/* The k'th value of an array's set; it may be in *buf. */
static inline Datum
fpt_set_value(const FPTSet *s, int k, FPTConverted *buf)
{
	Assert(k >= 0 && k < s->n * s->width);
	if (likely(s->how == FPT_ARG_SAME))
		return s->values[k];
	return fpt_convert(s->how, s->values[k], buf);
}

/*
 * The k'th interval; ends that are converted are in *buf, which is not looked
 * at for others and may be NULL then.  Raises nothing, allocates nothing.
 */
static pg_attribute_always_inline FPTInterval
fpt_set_interval(const FPTSet *s, int k, FPTConverted *buf)
{
	FPTInterval iv = {{0, false, false, true}, {0, false, false, true}};

	Assert(k >= 0 && k < s->n);
	if (s->width == 0)
		return s->iv;
	iv.lo.value = fpt_set_value(s, k * s->width, buf);
	iv.hi.value = iv.lo.value;
	if (unlikely(s->width == 2))
		iv.hi.value = s->values[k * 2 + 1];
	return iv;
}

/*
 * Is a value below the k'th interval (< 0), in it, or above it (> 0)?  As
 * fpt_value_side().
 */
static pg_attribute_always_inline int
fpt_set_side(const struct FPTQuals *q, int i, const FPTSet *s, int k,
			 Datum v, bool vnull)
{
	FPTConverted buf;
	int			c;

	if (s->width == 0)
		return fpt_value_side(q, i, v, vnull, &s->iv);
	c = fpt_general_compare_values(q->g, i, v, vnull,
								   fpt_set_value(s, k * s->width, &buf), false);
	if (likely(s->width == 1) || c <= 0)
		return c;
	c = fpt_general_compare_values(q->g, i, v, vnull, s->values[k * 2 + 1],
								   false);
	return Max(c, 0);
}

static inline int
fpt_code_order(const void *a, const void *b)
{
	const char *x = ((const FPTCode *) a)->value;
	const char *y = ((const FPTCode *) b)->value;

	return x < y ? -1 : x > y;
}

#endif							/* FPT_SCAN_QUALSET_H */
