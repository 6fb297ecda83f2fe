/*-------------------------------------------------------------------------
 *
 * scan/qual.c
 *	  Scan keys of general indexes: see scan/qual.h.
 *
 * A qual becomes intervals of its column if its argument is of the column's
 * type, or of a type whose values can be placed between the column's: see
 * scan/argument.h.  Any other qual, as one of an operator family of users that
 * compares different types, is asked of each entry.
 *
 * A row comparison, which the planner gives to the index from version 18 on,
 * becomes an interval of its first column, is asked of each entry, and, if it
 * is of the first columns in the order of the index, says where in that
 * interval a scan begins and ends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/compare.h"
#include "key/general.h"
#include "key/procs.h"
#include "page/format.h"
#include "page/port.h"
#include "scan/argument.h"
#include "scan/qual.h"
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
	int			nrow;			/* so many members, of the columns from the first */
	bool		rowfirst;		/* entries begin there, or else end */
	bool		rowincl;		/* with the values themselves */
	MemoryContext qualcxt;		/* of everything above, reset at a rescan */
	int			longcol;		/* the column that may have long values in the
								 * heads, or -1; see know_codes() */
	int			ncodes;			/* so many there are, by their addresses */
	int			maxcodes;
	FPTCode    *codes;
	MemoryContext argcxt;		/* see fetch_arguments(); NULL: not needed yet */
	MemoryContext poscxt;		/* values of positions */
	MemoryContext matchcxt;		/* values of entries */
	FPTPosition pos;			/* near and far end of the current range */
	FPTPosition end;
	FPTPosition walk;			/* see fpt_quals_walk_end() */
	FPTConverted walkbuf;		/* a value of that, if it is converted */
	FPTAllowed	col[FLEXIBLE_ARRAY_MEMBER]; /* nkeycols */
};

/* --- intervals ----------------------------------------------------------- */

static inline int
value_cmp(const FPTQuals *q, int i, Datum a, bool anull, const FPTBound *b)
{
	Assert(i >= 0 && i < q->nkeycols && !b->inf);
	return fpt_general_compare_values(q->g, i, a, anull, b->value, b->isnull);
}

/*
 * Is a value below an interval (-1), in it, or above it (1)?  Runs the type's
 * function, which may raise, with a page locked, perhaps (L7).
 */
static pg_attribute_always_inline int
value_side(const FPTQuals *q, int i, Datum v, bool vnull,
		   const FPTInterval *iv)
{
	if (!iv->lo.inf)
	{
		int			c = value_cmp(q, i, v, vnull, &iv->lo);

		if (c < 0 || (c == 0 && !iv->lo.incl))
			return -1;
	}
	if (!iv->hi.inf)
	{
		int			c = value_cmp(q, i, v, vnull, &iv->hi);

		if (c > 0 || (c == 0 && !iv->hi.incl))
			return 1;
	}
	return 0;
}

/* Order of two lower bounds, and of two upper ones. */
static int
lower_cmp(const FPTQuals *q, int i, const FPTBound *a, const FPTBound *b)
{
	int			c;

	if (a->inf || b->inf)
		return (int) b->inf - (int) a->inf;
	c = value_cmp(q, i, a->value, a->isnull, b);
	return c != 0 ? c : (int) b->incl - (int) a->incl;
}

static int
upper_cmp(const FPTQuals *q, int i, const FPTBound *a, const FPTBound *b)
{
	int			c;

	if (a->inf || b->inf)
		return (int) a->inf - (int) b->inf;
	c = value_cmp(q, i, a->value, a->isnull, b);
	return c != 0 ? c : (int) a->incl - (int) b->incl;
}

static bool
interval_empty(const FPTQuals *q, int i, const FPTInterval *iv)
{
	int			c;

	if (iv->lo.inf || iv->hi.inf)
		return false;
	c = value_cmp(q, i, iv->lo.value, iv->lo.isnull, &iv->hi);
	return c > 0 || (c == 0 && !(iv->lo.incl && iv->hi.incl));
}

/* Is there one value only? */
static inline bool
interval_point(const FPTQuals *q, int i, const FPTInterval *iv)
{
	return !iv->lo.inf && !iv->hi.inf &&
		(iv->lo.value == iv->hi.value && iv->lo.isnull == iv->hi.isnull ?
		 true : value_cmp(q, i, iv->lo.value, iv->lo.isnull, &iv->hi) == 0);
}

/* The k'th value of an array's set; it may be in *buf. */
static inline Datum
set_value(const FPTSet *s, int k, FPTConverted *buf)
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
set_interval(const FPTSet *s, int k, FPTConverted *buf)
{
	FPTInterval iv = {{0, false, false, true}, {0, false, false, true}};

	Assert(k >= 0 && k < s->n);
	if (s->width == 0)
		return s->iv;
	iv.lo.value = set_value(s, k * s->width, buf);
	iv.hi.value = iv.lo.value;
	if (unlikely(s->width == 2))
		iv.hi.value = s->values[k * 2 + 1];
	return iv;
}

/*
 * Is a value below the k'th interval (< 0), in it, or above it (> 0)?  As
 * value_side().
 */
static pg_attribute_always_inline int
set_side(const FPTQuals *q, int i, const FPTSet *s, int k, Datum v, bool vnull)
{
	FPTConverted buf;
	int			c;

	if (s->width == 0)
		return value_side(q, i, v, vnull, &s->iv);
	c = fpt_general_compare_values(q->g, i, v, vnull,
								   set_value(s, k * s->width, &buf), false);
	if (likely(s->width == 1) || c <= 0)
		return c;
	c = fpt_general_compare_values(q->g, i, v, vnull, s->values[k * 2 + 1],
								   false);
	return Max(c, 0);
}

/*
 * Of an array's intervals, keep those that have something in common with a set;
 * there may be none.  An interval is kept as it is: if it is of more than one
 * value, matches are rechecked.  Takes no memory.  Runs functions of types,
 * with no page locked.  These may raise; may be cancelled.
 */
static void
keep_intervals(FPTQuals *q, int i, FPTSet *a, const FPTSet *b)
{
	FPTConverted buf;
	int			n = 0;
	int			k = 0;

	Assert(a->width > 0);
	for (int j = 0; j < a->n && k < b->n; j++)
	{
		FPTInterval iv = set_interval(a, j, &buf);
		int			side;

		CHECK_FOR_INTERRUPTS();
		while ((side = set_side(q, i, b, k, iv.lo.value, false)) > 0 &&
			   ++k < b->n)
			CHECK_FOR_INTERRUPTS();
		if (side < 0 && a->width == 2)
			side = set_side(q, i, b, k, iv.hi.value, false) >= 0 ? 0 : -1;
		if (side != 0)
			continue;
		memmove(a->values + n * a->width, a->values + j * a->width,
				a->width * sizeof(Datum));
		n++;
	}
	a->n = n;
	if (a->width == 2)
		q->recheck = true;
}

/*
 * Keep of a column what b allows as well; b is in the current context, and is
 * the column's from now on, or no one's.  Sets q->never if nothing is left, and
 * q->recheck if too much may be.  Runs functions of types, with no page locked;
 * may raise, and be cancelled.
 */
static void
intersect(FPTQuals *q, int i, FPTSet b)
{
	FPTSet	   *a = &q->col[i].set;

	Assert(i >= 0 && i < q->nkeycols);
	Assert(b.width == 0 ? b.n == 1 : b.n >= 0 && b.width <= 2);
	if (q->col[i].any)
		*a = b;
	else if (a->width == 0 && b.width == 0)
	{
		if (lower_cmp(q, i, &b.iv.lo, &a->iv.lo) > 0)
			a->iv.lo = b.iv.lo;
		if (upper_cmp(q, i, &b.iv.hi, &a->iv.hi) < 0)
			a->iv.hi = b.iv.hi;
		a->n = interval_empty(q, i, &a->iv) ? 0 : 1;
	}
	else if (a->width == 0 || b.width == 1)
	{
		keep_intervals(q, i, &b, a);
		*a = b;
	}
	else
		keep_intervals(q, i, a, &b);
	q->col[i].any = false;
	q->last = Max(q->last, i);
	if (a->n == 0)
		q->never = true;
}

/*
 * The same for one interval.  A single value is made a set of, in the current
 * context, so that arrays and values are looked for in the same way.  Locks and
 * errors as of intersect().
 */
static void
intersect_one(FPTQuals *q, int i, FPTInterval iv)
{
	FPTSet		b = {.n = 1};

	if (!iv.lo.inf && !iv.hi.inf && !iv.lo.isnull && !iv.hi.isnull &&
		iv.lo.incl && iv.hi.incl && iv.lo.value == iv.hi.value)
	{
		b.width = 1;
		b.values = palloc(sizeof(Datum));
		*b.values = iv.lo.value;
	}
	else
		b.iv = iv;
	intersect(q, i, b);
}

typedef struct FPTSortArg
{
	const FPTQuals *q;
	int			i;
	FPTArgument how;
} FPTSortArg;

/*
 * Order of two values of an array, for qsort_arg().  Runs the type's function,
 * or core's for names and texts; may be cancelled.
 */
static int
value_order(const void *a, const void *b, void *arg)
{
	const FPTSortArg *s = (const FPTSortArg *) arg;
	const FPTColumn *col = &s->q->g->col[s->i];
	Datum		x = *(const Datum *) a;
	Datum		y = *(const Datum *) b;
	int			c;

	CHECK_FOR_INTERRUPTS();
	if (s->how == FPT_ARG_SAME)
		return fpt_general_compare_values(s->q->g, s->i, x, false, y, false);

	/*
	 * Two names, or two texts, are in the order that they are in converted:
	 * the column's is core's (fpt_converter_init()).
	 */
	c = DatumGetInt32(DirectFunctionCall2Coll(s->how == FPT_ARG_NAME_TO_TEXT ?
											  btnamecmp : bttextcmp,
											  col->collation, x, y));
	return col->descending ? (c < 0) - (c > 0) : c;
}

/*
 * Sort an array's intervals and merge those that overlap, in place.  Runs
 * functions of types, with no page locked; may raise, and be cancelled.
 */
static void
sort_intervals(const FPTQuals *q, int i, FPTSet *s)
{
	FPTSortArg	arg = {q, i, s->how};
	int			w = s->width;
	Datum	   *last = s->values;

	if (s->n <= 1)
		return;
	qsort_arg(s->values, s->n, w * sizeof(Datum), value_order, &arg);
	for (Datum *v = last + w; v < s->values + (Size) s->n * w; v += w)
	{
		int			c = value_order(&last[w - 1], v, &arg);

		if (w == 1 ? c != 0 : c < 0)
		{
			last += w;
			memmove(last, v, w * sizeof(Datum));
		}
		else if (w == 2 && value_order(&last[1], &v[1], &arg) < 0)
			last[1] = v[1];
	}
	Assert((last - s->values) % w == 0 && (last - s->values) / w < s->n);
	s->n = (int) ((last - s->values) / w) + 1;
}

/* --- quals --------------------------------------------------------------- */

/*
 * Arguments that an entry is compared with, by quals without intervals, while
 * its page is locked (rule L10).  More are the executor's business.
 */
#define FPT_MAX_ASKED		64

/*
 * Let each entry be asked, or each row.  An array is taken apart here, before a
 * page is locked: catalogues are read, and functions of types run.  May raise,
 * and be cancelled.  Allocates in the current context, where it has to stay.
 */
static void
ask_entries(FPTQuals *q, int i, ScanKey key)
{
	FPTOther   *other = &q->others[q->nothers];
	FPTElements e = {.n = 1};
	Datum		value;

	if (key->sk_flags & SK_SEARCHARRAY)
		fpt_elements_begin(&e, key->sk_argument);

	/* the operators are strict */
	intersect_one(q, i, fpt_not_null(q->rel, i));
	if (e.n > FPT_MAX_ASKED - q->nasked)
	{
		q->recheck = true;
		return;
	}
	q->nothers++;
	Assert(q->nothers <= q->nscankeys);	/* as many as there is memory for */
	q->nasked += e.n;
	other->key = *key;
	other->args = palloc(Max(e.n, 1) * sizeof(Datum));
	other->nargs = 0;
	if ((key->sk_flags & SK_SEARCHARRAY) == 0)
		other->args[other->nargs++] = key->sk_argument;
	else
	{
		while (fpt_elements_next(&e, &value))
			other->args[other->nargs++] = value;
	}
	Assert(other->nargs <= e.n);	/* NULLs are left out */
}

/* Keep an end of an interval; a value that is in conv->buf goes to *buf. */
static void
keep_bound(const FPTQuals *q, const FPTConverter *conv, const FPTBound *from,
		   FPTBound *to, FPTConverted *buf)
{
	*to = *from;
	if (conv->how == FPT_ARG_SAME || q->g->col[conv->i].byval || from->inf ||
		from->isnull)
		return;
	memcpy(buf, DatumGetPointer(from->value), sizeof(FPTConverted));
	to->value = PointerGetDatum(buf);
}

/*
 * "column < ANY (array)" and its like: intervals that all begin or all end at
 * the same place, so that the widest one is their union.  Runs functions of
 * types, with no page locked; may raise, and be cancelled.  Allocates in the
 * current context, where it has to stay.
 */
static void
add_any(FPTQuals *q, FPTConverter *conv)
{
	int			i = conv->i;
	FPTElements e;
	Datum		value;
	FPTInterval all;
	FPTInterval iv;
	FPTConverted *buf = palloc(2 * sizeof(FPTConverted));
	bool		found = false;

	fpt_elements_begin(&e, conv->key->sk_argument);
	while (fpt_elements_next(&e, &value))
	{
		int			known = fpt_argument_interval(conv, value, &iv);

		CHECK_FOR_INTERRUPTS();
		if (known < 0)
		{
			ask_entries(q, i, conv->key);
			return;
		}
		if (known == 0)
			continue;
		if (!found || lower_cmp(q, i, &iv.lo, &all.lo) < 0)
			keep_bound(q, conv, &iv.lo, &all.lo, &buf[0]);
		if (!found || upper_cmp(q, i, &iv.hi, &all.hi) > 0)
			keep_bound(q, conv, &iv.hi, &all.hi, &buf[1]);
		found = true;
	}
	q->recheck |= conv->fuzzy;
	if (found)
		intersect_one(q, i, all);
	else
		q->never = true;
}

/*
 * Give each of a set's single values, of which there may be max, two ends.
 * They may move.
 */
static void
widen_set(FPTSet *s, int max)
{
	Assert(s->width == 1 && s->n <= max);
	s->values = repalloc_huge(s->values, (Size) max * 2 * sizeof(Datum));
	for (int k = s->n - 1; k >= 0; k--)
		s->values[k * 2] = s->values[k * 2 + 1] = s->values[k];
	s->width = 2;
}

/*
 * Put an element into an array's set, which has room for it; "value" is what it
 * is itself.  What is not the array's own is copied to the current context.  No
 * page is locked.
 */
static void
add_element(const FPTQuals *q, const FPTConverter *conv, FPTSet *s,
			const FPTInterval *iv, Datum value)
{
	const FPTColumn *c = &q->g->col[conv->i];
	Datum	   *to = s->values + (Size) s->n++ * s->width;

	if (conv->how == FPT_ARG_TEXT_TO_NAME)
		*to = PointerGetDatum(DatumGetTextPP(value));
	else if (conv->how != FPT_ARG_IMAGE)
		*to = value;
	else
	{
		to[0] = datumCopy(iv->lo.value, c->byval, c->typlen);
		if (s->width == 2)
			to[1] = datumCopy(iv->hi.value, c->byval, c->typlen);
	}
}

/*
 * "column = ANY (array)".  Takes 8 bytes for an element, or 16 if one of them
 * is not a single value; btree takes 9.  (Values of more than 8 bytes, if an
 * operator family of users compares them with another type, come on top.)  They
 * are in the current context, where they have to stay, and point into the
 * array.  Runs functions of types, with no page locked; may raise, and be
 * cancelled.
 */
static void
add_array(FPTQuals *q, FPTConverter *conv)
{
	int			i = conv->i;
	FPTElements e;
	FPTSet		set = {.width = 1};
	FPTInterval iv;
	Datum		value;

	if (conv->how == FPT_ARG_UNKNOWN)
	{
		ask_entries(q, i, conv->key);
		return;
	}
	if (fpt_argument_is_string(conv->how))
	{
		set.how = conv->how;
		set.at = palloc(sizeof(FPTConverted));
	}
	fpt_elements_begin(&e, conv->key->sk_argument);
	set.values = MemoryContextAllocHuge(CurrentMemoryContext,
										Max(e.n, 1) * sizeof(Datum));
	while (fpt_elements_next(&e, &value))
	{
		int			known;

		CHECK_FOR_INTERRUPTS();
		if (conv->how == FPT_ARG_SAME)
		{
			set.values[set.n++] = value;
			continue;
		}
		known = fpt_argument_interval(conv, value, &iv);
		if (known < 0)
		{
			pfree(set.values);
			ask_entries(q, i, conv->key);
			return;
		}
		if (known == 0)
			continue;
		if (set.width == 1 && !interval_point(q, i, &iv))
			widen_set(&set, e.n);
		add_element(q, conv, &set, &iv, value);
	}
	q->recheck |= conv->fuzzy;
	sort_intervals(q, i, &set);
	intersect(q, i, set);
}

/*
 * How many members of a row comparison, from the first on, are of the columns
 * of the index from the first on, which order them all as the operator does?
 * Looks nothing up.
 */
static int
row_prefix(const FPTQuals *q, ScanKey member)
{
	int			n = 0;

	for (;; member++)
	{
		if (member->sk_attno != n + 1 || (member->sk_flags & SK_ISNULL) ||
			((q->rel->rd_indoption[n] ^ q->rel->rd_indoption[0]) &
			 INDOPTION_DESC) || !fpt_argument_is_same(q->rel, n, member) ||
			member->sk_collation != q->rel->rd_indcollation[n])
			return n;
		n++;
		if (member->sk_flags & SK_ROW_END)
			return n;
	}
}

/*
 * "(column, column ...) < (value, value ...)": true where the first members
 * that are not equal say so, but not if a NULL is among those up to there.
 * Runs functions of types, with no page locked; may raise, and be cancelled.
 * Allocates in the current context; q->row points into the key.
 */
static void
add_row(FPTQuals *q, ScanKey key)
{
	ScanKey		member = (ScanKey) DatumGetPointer(key->sk_argument);
	bool		less = key->sk_strategy == BTLessStrategyNumber ||
		key->sk_strategy == BTLessEqualStrategyNumber;
	ScanKeyData first = *member;
	int			n = 1;
	FPTInterval iv;
	int			i = member->sk_attno - 1;
	FPTConverter conv;

	if (member->sk_flags & SK_ISNULL)
	{
		q->never = true;
		return;
	}
	first.sk_strategy = less ? BTLessEqualStrategyNumber :
		BTGreaterEqualStrategyNumber;
	fpt_converter_init(&conv, q->rel, i, &first);
	intersect_one(q, i, fpt_not_null(q->rel, i));
	switch (fpt_argument_interval(&conv, first.sk_argument, &iv))
	{
		case 1:					/* (all entries are asked: never mind "fuzzy") */
			intersect_one(q, i, iv);
			break;
		case 0:
			q->never = true;
			return;
	}

	while ((member[n - 1].sk_flags & SK_ROW_END) == 0)
		n++;
	q->row = member;
	q->nrow = row_prefix(q, member);
	q->rowfirst = less == ((q->rel->rd_indoption[0] & INDOPTION_DESC) != 0);
	q->rowincl = q->nrow < n || key->sk_strategy == first.sk_strategy;
	if (n > FPT_MAX_ASKED - q->nasked)
	{
		q->recheck = true;
		return;
	}
	q->nasked += n;
	Assert(q->nothers < q->nscankeys);
	q->others[q->nothers++].key = *key;
}

/*
 * Take one of the scan's quals in: intersect the intervals of its column with
 * what it allows, or note that there is nothing, or that entries are to be
 * asked.  Runs functions of types, so with no page locked; may be cancelled,
 * and raises an error for a key that no index scan has.  Allocates in the
 * current context, q->qualcxt.
 */
static void
add_key(FPTQuals *q, ScanKey key)
{
	int			i = key->sk_attno - 1;
	FPTConverter conv;
	FPTInterval iv;

	if (i < 0 || i >= q->nkeycols ||
		(key->sk_flags & (SK_ROW_MEMBER | SK_ORDER_BY)))
		fpt_reject_key(q->rel, key);
	if (key->sk_flags & SK_ROW_HEADER)
	{
		add_row(q, key);
		return;
	}
	if (key->sk_flags & SK_SEARCHNULL)
	{
		FPTBound	null = {0, true, false, true};

		iv.lo = iv.hi = null;
		intersect_one(q, i, iv);
		return;
	}
	if (key->sk_flags & SK_SEARCHNOTNULL)
	{
		intersect_one(q, i, fpt_not_null(q->rel, i));
		return;
	}
	if (key->sk_flags & SK_ISNULL)
	{
		q->never = true;		/* the operators are strict */
		return;
	}
	if (key->sk_strategy < BTLessStrategyNumber ||
		key->sk_strategy > BTGreaterStrategyNumber)
		fpt_reject_key(q->rel, key);
	fpt_converter_init(&conv, q->rel, i, key);
	if (key->sk_flags & SK_SEARCHARRAY)
	{
		if (key->sk_strategy == BTEqualStrategyNumber)
			add_array(q, &conv);
		else
			add_any(q, &conv);
		return;
	}
	switch (fpt_argument_interval(&conv, key->sk_argument, &iv))
	{
		case 1:
			q->recheck |= conv.fuzzy;
			intersect_one(q, i, iv);
			break;
		case 0:
			q->never = true;
			break;
		default:
			ask_entries(q, i, key);
			break;
	}
}

/*
 * To look up the types' sort support takes as long as a few descents, which it
 * makes shorter.
 */
#define FPT_MANY_STARTS		16

FPTQuals *
fpt_quals_begin(Relation rel, const FPTGeneral *g, MemoryContext cxt)
{
	int			nkeycols = IndexRelationGetNumberOfKeyAttributes(rel);
	FPTQuals   *q = MemoryContextAllocZero(cxt, offsetof(FPTQuals, col) +
										   nkeycols * sizeof(FPTAllowed));

	q->rel = rel;
	q->g = g;
	q->nkeycols = nkeycols;
	q->longcol = fpt_head_long_column(&g->head);
	q->qualcxt = AllocSetContextCreate(cxt, "fptree quals",
									   ALLOCSET_SMALL_SIZES);
	q->poscxt = AllocSetContextCreate(cxt, "fptree position",
									  ALLOCSET_SMALL_SIZES);
	q->matchcxt = AllocSetContextCreate(cxt, "fptree entries",
										ALLOCSET_SMALL_SIZES);
	return q;
}

/*
 * "column = value" on the first columns, one qual each, and no others?  Looks
 * nothing up.
 */
static bool
quals_are_point(const FPTQuals *q)
{
	if (q->nscankeys == 0 || q->nscankeys > q->nkeycols)
		return false;
	for (int i = 0; i < q->nscankeys; i++)
	{
		ScanKey		key = &q->keys[i];

		if (key->sk_attno != i + 1 || key->sk_flags != 0 ||
			key->sk_strategy != BTEqualStrategyNumber ||
			!fpt_argument_is_same(q->rel, i, key))
			return false;
	}
	return true;
}

/*
 * What the scan's keys allow of each column, in q->qualcxt.  What was known is
 * forgotten, and so are positions.  Runs functions of types, with no page
 * locked; may raise, and be cancelled.
 */
static void
quals_read(FPTQuals *q)
{
	MemoryContext old;

	Assert(InterruptHoldoffCount == 0);
	MemoryContextReset(q->qualcxt);
	MemoryContextReset(q->poscxt);
	MemoryContextReset(q->matchcxt);
	q->never = false;
	q->recheck = false;
	q->last = -1;
	q->nothers = 0;
	q->nasked = 0;
	q->nrow = 0;
	for (int i = 0; i < q->nkeycols; i++)
		q->col[i].any = true;

	old = MemoryContextSwitchTo(q->qualcxt);
	q->others = palloc(Max(q->nscankeys, 1) * sizeof(FPTOther));
	for (int k = 0; k < q->nscankeys && !q->never; k++)
		add_key(q, &q->keys[k]);
	MemoryContextSwitchTo(old);
	q->read = true;
}

/*
 * Is a key's value, which is no array, compressed or stored elsewhere?  Reads
 * catalogues if it is of another type than the column.
 */
static inline bool
argument_is_stored(const FPTQuals *q, ScanKey key)
{
	int			i = key->sk_attno - 1;
	int			typlen;

	if ((key->sk_flags & (SK_ISNULL | SK_SEARCHARRAY | SK_ROW_HEADER)) ||
		i < 0 || i >= q->nkeycols)
		return false;
	typlen = q->g->col[i].typlen;
	if (OidIsValid(key->sk_subtype) &&
		key->sk_subtype != q->rel->rd_opcintype[i])
		typlen = get_typlen(key->sk_subtype);
	return typlen == -1 &&
		!fpt_varlena_is_plain(DatumGetPointer(key->sk_argument));
}

/*
 * Values that are stored out of line are fetched here, and once: comparisons
 * would do so whenever they look at an entry, with its page locked (L7), and
 * wait for locks of the TOAST table there.  The executor has fetched what it
 * evaluates, rows' members among them; but the check of an exclusion
 * constraint, which INSERT ... ON CONFLICT is as well, passes a row's values as
 * they are.  Returns the keys, or a copy that lives until the next call.  No
 * page is locked; may raise, and be cancelled.
 */
static ScanKey
fetch_arguments(FPTQuals *q, ScanKey keys, int nkeys)
{
	MemoryContext old;
	ScanKey		copy = NULL;

	for (int k = 0; k < nkeys; k++)
	{
		if (likely(!argument_is_stored(q, &keys[k])))
			continue;
		if (q->argcxt == NULL)
			q->argcxt =
				AllocSetContextCreate(MemoryContextGetParent(q->qualcxt),
									  "fptree arguments",
									  ALLOCSET_SMALL_SIZES);
		else if (copy == NULL)
			MemoryContextReset(q->argcxt);
		old = MemoryContextSwitchTo(q->argcxt);
		if (copy == NULL)
		{
			copy = palloc(nkeys * sizeof(ScanKeyData));
			memcpy(copy, keys, nkeys * sizeof(ScanKeyData));
		}
		copy[k].sk_argument =
			PointerGetDatum(PG_DETOAST_DATUM(keys[k].sk_argument));
		MemoryContextSwitchTo(old);
	}
	return copy != NULL ? copy : keys;
}

static int
code_order(const void *a, const void *b)
{
	const char *x = ((const FPTCode *) a)->value;
	const char *y = ((const FPTCode *) b)->value;

	return x < y ? -1 : x > y;
}

/*
 * Note the code of a value of the quals, if it is long.  Takes as long as the
 * value is: no page is locked.  May raise.  Allocates in the scan's context.
 */
static void
know_code(FPTQuals *q, Datum value)
{
	if (likely(!fpt_head_is_long(value)))
		return;
	if (q->ncodes == q->maxcodes)
	{
		MemoryContext cxt = MemoryContextGetParent(q->qualcxt);

		q->maxcodes = q->maxcodes * 2 + 4;
		if (q->codes == NULL)
			q->codes = MemoryContextAlloc(cxt, q->maxcodes * sizeof(FPTCode));
		else
			q->codes = repalloc_huge(q->codes, q->maxcodes * sizeof(FPTCode));
	}
	q->codes[q->ncodes].value = DatumGetPointer(value);
	q->codes[q->ncodes].code = fpt_head_code(&q->g->head, q->longcol, value);
	q->ncodes++;
}

/*
 * The codes of long values, of which positions are made with pages locked: to
 * make one takes as long as the value is long (L10), and it is the same for all
 * of the scan.  No page is locked; may raise, and be cancelled.
 */
static void
know_codes(FPTQuals *q)
{
	int			i = q->longcol;
	const FPTSet *set = &q->col[i].set;

	Assert(i >= 0 && i < q->nkeycols);
	q->ncodes = 0;
	if (q->point)
	{
		if (i < q->nscankeys)
			know_code(q, q->keys[i].sk_argument);
		return;
	}
	if (q->never)
		return;
	if (!q->col[i].any && set->width == 0)
	{
		if (!set->iv.lo.inf && !set->iv.lo.isnull)
			know_code(q, set->iv.lo.value);
		if (!set->iv.hi.inf && !set->iv.hi.isnull)
			know_code(q, set->iv.hi.value);
	}
	else if (!q->col[i].any && set->how == FPT_ARG_SAME)
	{
		for (int k = 0; k < set->n * set->width; k++)
		{
			CHECK_FOR_INTERRUPTS();
			know_code(q, set->values[k]);
		}
	}
	if (i < q->nrow)
		know_code(q, q->row[i].sk_argument);
	if (q->ncodes > 1)
		qsort(q->codes, q->ncodes, sizeof(FPTCode), code_order);
}

/* The code that is known of a position's value, or NULL. */
static inline const uint64 *
known_code(const FPTQuals *q, const FPTPosition *pos)
{
	int			i = q->longcol;
	FPTCode		want;
	const FPTCode *found;

	if (likely(q->ncodes == 0) || pos->natts <= i || pos->isnull[i])
		return NULL;
	want.value = DatumGetPointer(pos->values[i]);
	found = bsearch(&want, q->codes, q->ncodes, sizeof(FPTCode), code_order);
	return found != NULL ? &found->code : NULL;
}

void
fpt_quals_set(FPTQuals *q, ScanKey keys, int nkeys)
{
	MemoryContext old;

	if (q->nstarts < FPT_MANY_STARTS && ++q->nstarts == FPT_MANY_STARTS)
	{
		old = MemoryContextSwitchTo(MemoryContextGetParent(q->qualcxt));
		fpt_general_sort_support(unconstify(FPTGeneral *, q->g), q->rel,
								 false);
		MemoryContextSwitchTo(old);
	}
	q->keys = fetch_arguments(q, keys, nkeys);
	q->nscankeys = nkeys;
	q->point = quals_are_point(q);
	q->read = false;
	q->recheck = false;
	if (!q->point)
		quals_read(q);
	if (q->longcol >= 0)
		know_codes(q);
}

bool
fpt_quals_recheck(const FPTQuals *q)
{
	return q->recheck;
}

void
fpt_quals_reset(FPTQuals *q)
{
	MemoryContextReset(q->matchcxt);
}

/* --- positions ----------------------------------------------------------- */

/*
 * The interval that a value is in (*in), or else the next one in this
 * direction; -1: there is none.  Runs the type's function, which may raise,
 * with a page locked, perhaps: a binary search (L10).
 */
static int
find_interval(const FPTQuals *q, int i, Datum v, bool vnull, int dir, bool *in)
{
	const FPTSet *set = &q->col[i].set;
	const Datum *values = set->width == 1 && set->how == FPT_ARG_SAME ?
		set->values : NULL;
	int			lo = 0;
	int			hi = set->n;

	Assert(!q->col[i].any && set->n > 0);

	/* the first one that is not below the value: a binary search (rule L10) */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		int			side;

		if (likely(values != NULL))
			side = fpt_general_compare_values(q->g, i, v, vnull, values[mid],
											  false);
		else
			side = set_side(q, i, set, mid, v, vnull);
		if (side == 0)
		{
			*in = true;
			return mid;
		}
		if (side > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*in = false;
	if (dir < 0)
		return lo - 1;
	return lo < set->n ? lo : -1;
}

/* The end of an interval that a scan in this direction comes to first. */
static inline const FPTBound *
near_end(const FPTInterval *iv, int dir)
{
	return dir > 0 ? &iv->lo : &iv->hi;
}

static inline const FPTBound *
far_end(const FPTInterval *iv, int dir)
{
	return dir > 0 ? &iv->hi : &iv->lo;
}

/*
 * Set the columns from i on to the first values that are allowed, as far as
 * those are known; "which" is column i's interval, -1 for its first one.  Those
 * before i stay.  Values are not copied: they are the quals', or where a set
 * converts them (FPTSet.at).  Compares nothing, raises nothing, allocates
 * nothing.
 */
static void
pos_fill(FPTQuals *q, FPTPosition *pos, int i, int which, int dir)
{
	Assert(i >= 0 && i < q->nkeycols && (dir == 1 || dir == -1));
	pos->natts = i;
	pos->side = -dir;
	for (; i < q->nkeycols && !q->col[i].any; i++, which = -1)
	{
		FPTAllowed *a = &q->col[i];
		FPTInterval iv;
		const FPTBound *b;

		a->cur = which >= 0 ? which : dir > 0 ? 0 : a->set.n - 1;
		iv = set_interval(&a->set, a->cur, a->set.at);
		b = near_end(&iv, dir);
		if (b->inf)
			return;
		pos->values[i] = b->value;
		pos->isnull[i] = b->isnull;
		pos->natts = i + 1;
		if (!b->incl)
		{
			pos->side = dir;
			return;
		}
	}
}

/*
 * Is a column's value the last one of its current interval?  Runs the type's
 * function, which may raise, with a page locked, perhaps (L7).
 */
static bool
pos_at_end(const FPTQuals *q, const FPTPosition *pos, int i, int dir)
{
	const FPTAllowed *a = &q->col[i];
	FPTConverted buf;
	FPTInterval iv;
	const FPTBound *b;

	if (a->any)
		return false;
	iv = set_interval(&a->set, a->cur, &buf);
	b = far_end(&iv, dir);
	if (a->set.width != 0 && !pos->isnull[i] && pos->values[i] == b->value)
		return true;
	return !b->inf &&
		value_cmp(q, i, pos->values[i], pos->isnull[i], b) == 0;
}

/* Go on to the next interval of a column, if there is one. */
static bool
pos_next_interval(FPTQuals *q, FPTPosition *pos, int i, int dir)
{
	int			next = q->col[i].cur + dir;

	if (next < 0 || next >= q->col[i].set.n)
		return false;
	pos_fill(q, pos, i, next, dir);
	return true;
}

/*
 * Column i's values in this direction are exhausted: go on to the next value of
 * the last column before it that has one.  Returns that column, or -1, and then
 * the position means nothing.  A comparison a column, as pos_at_end().
 */
static int
pos_carry(FPTQuals *q, FPTPosition *pos, int i, int dir)
{
	while (--i >= 0)
	{
		if (!pos_at_end(q, pos, i, dir))
		{
			/* whatever comes next */
			pos->natts = i + 1;
			pos->side = dir;
			return i;
		}
		if (pos_next_interval(q, pos, i, dir))
			return i;
	}
	return -1;
}

/*
 * Move a position on to the first one from it on that all columns' quals allow.
 * False if there is none.  *moved: the first column that was changed, or that
 * was not there before, -1: none.  Sets the columns' current intervals.
 * Compares values, perhaps with a page locked: one binary search a column
 * (L10).  The types' functions may raise.
 */
static bool
pos_seek(FPTQuals *q, FPTPosition *pos, int dir, int *moved)
{
	int			natts = pos->natts;
	bool		beyond = natts > 0 && pos->side == dir;

	Assert(natts >= 0 && natts <= q->nkeycols && !q->never);
	*moved = -1;
	for (int i = 0; i < natts; i++)
	{
		FPTAllowed *a = &q->col[i];
		bool		in = true;

		if (!a->any)
			a->cur = find_interval(q, i, pos->values[i], pos->isnull[i], dir,
								   &in);
		if (in)
		{
			if (!beyond || i < natts - 1 || !pos_at_end(q, pos, i, dir))
				continue;
			*moved = i;
			if (pos_next_interval(q, pos, i, dir))
				return true;
		}
		else if (a->cur >= 0)
		{
			*moved = i;
			pos_fill(q, pos, i, a->cur, dir);
			return true;
		}
		*moved = pos_carry(q, pos, i, dir);
		return *moved >= 0;
	}
	if (natts < q->nkeycols && !beyond)
	{
		pos_fill(q, pos, natts, -1, dir);
		if (pos->natts > natts)
			*moved = natts;
	}
	return true;
}

/*
 * The position of a key.  One that has no columns but a class is on either side
 * of the first column's NULLs.  Of a stored key the values are copies in
 * q->poscxt, of which those made before are gone; of a search key they are
 * those of the position that it was made of.  A page may be locked.  Raises an
 * error if the key's tuple makes no sense.
 */
static void
pos_load(FPTQuals *q, FPTPosition *pos, const FPTKey *key)
{
	if (key->search != NULL)
	{
		const FPTPosition *from = (const FPTPosition *)
		((const char *) key->search - offsetof(FPTPosition, s));

		pos->natts = from->natts;
		pos->side = from->side;
		memmove(pos->values, from->values, from->natts * sizeof(Datum));
		memmove(pos->isnull, from->isnull, from->natts * sizeof(bool));
		return;
	}

	MemoryContextReset(q->poscxt);
	pos->natts = 0;
	pos->side = key->cls == FPT_CLS_PINF ? 1 : -1;
	if (key->cls != FPT_CLS_MINF && key->cls != FPT_CLS_PINF)
	{
		MemoryContext old = MemoryContextSwitchTo(q->poscxt);
		bool		nullsfirst = (q->rel->rd_indoption[0] &
								  INDOPTION_NULLS_FIRST) != 0;

		pos->natts = fpt_general_deform(q->g, key, pos->values, pos->isnull);
		MemoryContextSwitchTo(old);
		pos->natts = Min(pos->natts, q->nkeycols);
		if (pos->natts == q->nkeycols)
			pos->side = 0;
		else if (pos->natts == 0 &&
				 (key->cls == FPT_CLS_NULLLAST ||
				  (key->cls == FPT_CLS_VALUE && nullsfirst)))
		{
			pos->natts = 1;
			pos->isnull[0] = true;
			pos->side = key->cls == FPT_CLS_VALUE ? 1 : -1;
		}
	}
	Assert(pos->natts >= 0 && pos->natts <= q->nkeycols);
}

static inline void
pos_search(const FPTQuals *q, FPTPosition *pos)
{
	pos->s.code = known_code(q, pos);
	pos->s.natts = pos->natts;
	pos->s.after = pos->side > 0;
	pos->s.values = pos->values;
	pos->s.isnull = pos->isnull;
}

/*
 * The position of a row comparison's values, before all entries from there on
 * that may match, or after those up to there.
 */
static void
pos_row(const FPTQuals *q, FPTPosition *pos)
{
	Assert(q->nrow > 0 && q->nrow <= q->nkeycols);
	for (int i = 0; i < q->nrow; i++)
	{
		pos->values[i] = q->row[i].sk_argument;
		pos->isnull[i] = false;
	}
	pos->natts = q->nrow;
	pos->side = q->rowfirst == q->rowincl ? -1 : 1;
}

/*
 * Is a position after the end of a range that ends at those values?  Runs
 * functions of types, which may raise, with a page locked, perhaps (L7).
 */
static bool
pos_passes_row(const FPTQuals *q, const FPTPosition *pos, int dir)
{
	bool		excl = q->rowfirst == q->rowincl ? dir > 0 : dir < 0;

	for (int i = 0; i < Min(pos->natts, q->nrow); i++)
	{
		int			c = fpt_general_compare_values(q->g, i, pos->values[i],
												   pos->isnull[i],
												   q->row[i].sk_argument,
												   false);

		if (c != 0)
			return (c > 0) == (dir > 0);
	}
	return (excl && pos->natts >= q->nrow) ||
		(pos->natts <= q->nrow && pos->side == dir);
}

/*
 * A position as a key, which lives as long as the position.  Values are in
 * memory, and codes of the quals' long ones are known, so that a page may be
 * locked (L10).  May raise, where heads are made of sort keys.
 */
static void
pos_key(const FPTQuals *q, FPTPosition *pos, FPTKey *key)
{
	Assert(pos->side != 0);
	if (pos->natts == 0)
	{
		memset(key, 0, sizeof(*key));
		key->cls = pos->side < 0 ? FPT_CLS_MINF : FPT_CLS_PINF;
		key->tid = pos->side < 0 ? 0 : FPT_MAX_TID;
		return;
	}
	pos_search(q, pos);
	fpt_general_search_key(q->g, &pos->s, key);
}

/* Does a column's current interval have one value? */
static inline bool
column_is_fixed(const FPTQuals *q, int i)
{
	const FPTAllowed *a = &q->col[i];
	FPTInterval iv;

	if (a->any || a->set.width == 1)
		return !a->any;
	Assert(a->cur >= 0 && a->cur < a->set.n);
	iv = set_interval(&a->set, a->cur, NULL);
	return interval_point(q, i, &iv);
}

/* How many columns before "to" are fixed, those before "from" being so? */
static int
fixed_columns(const FPTQuals *q, int from, int to)
{
	while (from < to && column_is_fixed(q, from))
		from++;
	return from;
}

/* Columns of the position of which a value is known. */
static inline int
known_columns(const FPTPosition *pos, int dir)
{
	return pos->side == dir ? pos->natts - 1 : pos->natts;
}

/*
 * The far end of a range in which q->pos is: of the first e columns, which are
 * fixed, the values, of the next one the end of its interval, or a row
 * comparison's values there, in *end.  False if the position is after those
 * values, and so are all that are allowed.  Its values are those of q->pos and
 * the quals, not copies.  Runs functions of types, which may raise, with a page
 * locked, perhaps (L7).
 */
static bool
end_of_fixed(FPTQuals *q, FPTPosition *end, int e, int dir)
{
	FPTPosition *pos = &q->pos;

	Assert(e >= 0 && e <= pos->natts && end != pos);
	memcpy(end->values, pos->values, e * sizeof(Datum));
	memcpy(end->isnull, pos->isnull, e * sizeof(bool));
	end->natts = e;
	end->side = dir;
	if (e < q->nkeycols && !q->col[e].any)
	{
		const FPTSet *set = &q->col[e].set;
		FPTInterval iv = set_interval(set, q->col[e].cur, set->at);
		const FPTBound *b = far_end(&iv, dir);

		if (!b->inf)
		{
			end->values[e] = b->value;
			end->isnull[e] = b->isnull;
			end->natts = e + 1;
			end->side = b->incl ? dir : -dir;
			if (e == 0 && q->nrow > 1 && q->rowfirst == (dir < 0) &&
				b->incl && !b->isnull &&
				value_cmp(q, 0, q->row->sk_argument, false, b) == 0)
			{
				if (pos_passes_row(q, pos, dir))
					return false;
				pos_row(q, end);
			}
		}
	}
	return true;
}

/*
 * The far end of the range that begins at q->pos, in q->end.  Returns the
 * number of fixed columns; -1 if there is no such range.  *part: see
 * FPTQualRange.  As end_of_fixed().
 */
static int
range_end(FPTQuals *q, int dir, int moved, bool *part)
{
	int			to = known_columns(&q->pos, dir);
	int			e = fixed_columns(q, 0, to);

	/*
	 * What is before "moved" keeps its value: with any other one the position
	 * would have to be moved again.
	 */
	*part = e < moved && q->pos.side != dir;
	if (*part)
		e = fixed_columns(q, moved, to);
	return end_of_fixed(q, &q->end, e, dir) ? e : -1;
}

bool
fpt_quals_walk_end(FPTQuals *q, int dir, FPTKey *end)
{
	int			e = fixed_columns(q, 0, known_columns(&q->pos, dir));

	Assert(!q->point && q->read);
	if (!end_of_fixed(q, &q->walk, e, dir))
		return false;
	pos_key(q, &q->walk, end);
	return true;
}

/*
 * The first column that may have several values, if all it may have are those
 * of an array, one of which the position is in; else -1.  Runs functions of
 * types, as column_is_fixed().
 */
static int
array_column(const FPTQuals *q)
{
	int			i = 0;

	while (i < q->pos.natts && !q->col[i].any && q->col[i].set.n == 1)
		i++;
	if (i == q->pos.natts || q->col[i].any || q->nrow > 0)
		return -1;
	return fixed_columns(q, 0, i) == i ? i : -1;
}

void
fpt_quals_array_end(FPTQuals *q, int dir, FPTKey *end)
{
	FPTPosition *walk = &q->walk;
	int			i = array_column(q);
	const FPTSet *set = &q->col[i].set;
	FPTInterval iv;

	Assert(!q->point && q->read && i >= 0 && set->width > 0);
	iv = set_interval(set, dir > 0 ? set->n - 1 : 0, &q->walkbuf);
	memcpy(walk->values, q->pos.values, i * sizeof(Datum));
	memcpy(walk->isnull, q->pos.isnull, i * sizeof(bool));
	walk->values[i] = far_end(&iv, dir)->value;
	walk->isnull[i] = false;
	walk->natts = i + 1;
	walk->side = dir;
	pos_key(q, walk, end);
}

/*
 * The one range of a point: from before to after all keys that begin with its
 * values.  Its keys live as long as q->pos and q->end.  As pos_key(): a page
 * may be locked; may raise, where heads are made of sort keys.
 */
static void
point_range(FPTQuals *q, FPTQualRange *r)
{
	FPTPosition *pos = &q->pos;
	FPTPosition *end = &q->end;

	for (int i = 0; i < q->nscankeys; i++)
	{
		pos->values[i] = end->values[i] = q->keys[i].sk_argument;
		pos->isnull[i] = end->isnull[i] = false;
	}
	pos->natts = end->natts = q->nscankeys;
	pos->side = -1;
	end->side = 1;
	pos_search(q, pos);
	pos_search(q, end);
	fpt_general_search_keys(q->g, &pos->s, &end->s, &r->lo, &r->hi);
	r->filter = false;
	r->seek = false;
	r->moved = true;
	r->bounded = false;
	r->part = false;
	r->element = -1;
}

bool
fpt_quals_range(FPTQuals *q, const FPTKey *from, int dir, FPTQualRange *r)
{
	FPTKey		near;
	FPTKey		far;
	int			moved;
	int			e;
	int			array;
	bool		begin;			/* at a row comparison's values */

	Assert(dir == 1 || dir == -1);
	r->point = q->point;
	r->here = false;
	if (q->point)
	{
		/* there is nothing after it */
		if (from->search != NULL)
			return false;
		if (from->cls == (dir > 0 ? FPT_CLS_MINF : FPT_CLS_PINF))
		{
			/* What is asked for next, backward, is so with a page locked. */
			if (dir < 0 && !q->read)
				quals_read(q);
			point_range(q, r);
			return true;
		}
	}
	if (!q->read)
		quals_read(q);
	if (q->never ||
		from->cls == (dir > 0 ? FPT_CLS_PINF : FPT_CLS_MINF))
		return false;
	pos_load(q, &q->pos, from);
	begin = q->nrow > 1 && q->rowfirst == (dir > 0) &&
		from->cls == (dir > 0 ? FPT_CLS_MINF : FPT_CLS_PINF);
	if (begin)
		pos_row(q, &q->pos);
	if (!pos_seek(q, &q->pos, dir, &moved))
		return false;
	e = range_end(q, dir, moved, &r->part);
	if (e < 0)
		return false;

	r->moved = moved >= 0 || begin;
	r->filter = q->nothers > 0 || q->last > e;
	r->seek = dir > 0 && q->last > e && q->last >= q->pos.natts;

	array = array_column(q);
	r->element = array >= 0 ? q->col[array].cur : -1;

	/* (a value and not the NULLs, at which a range without an end ends) */
	r->bounded = q->end.natts > e && !q->end.isnull[e];
	near = *from;
	if (r->moved || from->search != NULL)
		pos_key(q, &q->pos, &near);
	pos_key(q, &q->end, &far);
	r->lo = dir > 0 ? near : far;
	r->hi = dir > 0 ? far : near;
	return true;
}

/* --- entries ------------------------------------------------------------- */

/*
 * "value <operator> argument", for a qual that has no intervals.  With a page
 * locked: FPT_MAX_ASKED calls at most, of all quals together (rule L10), and no
 * look-ups; nothing is allocated here.
 */
static bool
ask(FPTOther *other, Datum value)
{
	for (int k = 0; k < other->nargs; k++)
	{
		if (DatumGetBool(FunctionCall2Coll(&other->key.sk_func,
										   other->key.sk_collation, value,
										   other->args[k])))
			return true;
	}
	return false;
}

/*
 * The same of a row comparison, whose members have functions of order, one call
 * each at most.  The functions may raise, with a page locked; nothing is
 * allocated here.
 */
static bool
ask_row(ScanKey key, const Datum *values, const bool *isnull)
{
	ScanKey		member = (ScanKey) DatumGetPointer(key->sk_argument);
	int			c = 0;

	for (;; member++)
	{
		int			i = member->sk_attno - 1;

		if (isnull[i] || (member->sk_flags & SK_ISNULL))
			return false;
		c = DatumGetInt32(FunctionCall2Coll(&member->sk_func,
											member->sk_collation, values[i],
											member->sk_argument));
		if (c != 0 || (member->sk_flags & SK_ROW_END))
			break;
	}
	switch (key->sk_strategy)
	{
		case BTLessStrategyNumber:
			return c < 0;
		case BTLessEqualStrategyNumber:
			return c <= 0;
		case BTGreaterEqualStrategyNumber:
			return c >= 0;
		default:
			return c > 0;
	}
}

bool
fpt_quals_match(FPTQuals *q, const FPTKey *key)
{
	MemoryContext old = MemoryContextSwitchTo(q->matchcxt);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	bool		in = true;

	Assert(q->read);
	(void) fpt_general_deform(q->g, key, values, isnull);
	for (int i = 0; i <= q->last && in; i++)
	{
		if (!q->col[i].any)
			(void) find_interval(q, i, values[i], isnull[i], 1, &in);
	}
	for (int k = 0; k < q->nothers && in; k++)
	{
		FPTOther   *other = &q->others[k];
		int			i = other->key.sk_attno - 1;

		if (other->key.sk_flags & SK_ROW_HEADER)
			in = ask_row(&other->key, values, isnull);
		else
			in = !isnull[i] && ask(other, values[i]);
	}
	MemoryContextSwitchTo(old);
	return in;
}
