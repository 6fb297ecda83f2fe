/*-------------------------------------------------------------------------
 *
 * scan/qual.c
 *	  Scan keys of general indexes: see scan/qual.h.
 *
 * A qual becomes intervals of its column if its argument is of the column's
 * type, or of a type whose values can be placed between the column's: see
 * fpt_image_cut(), and name and text.  Any other qual, as one of an operator
 * family of users that compares different types, is asked of each entry.
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
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/compare.h"
#include "key/general.h"
#include "key/image.h"
#include "key/procs.h"
#include "page/format.h"
#include "page/port.h"
#include "scan/qual.h"
#include "scan/scankey.h"

/* An end of an interval; inf: there is none, NULLs included. */
typedef struct FPTBound
{
	Datum		value;
	bool		isnull;
	bool		inf;
	bool		incl;			/* the value itself belongs to it */
} FPTBound;

/* Values of a column that are allowed, in the order of the index. */
typedef struct FPTInterval
{
	FPTBound	lo;
	FPTBound	hi;
} FPTInterval;

/*
 * Disjoint intervals, ascending.  Those of an array are single values, but for
 * a few pairs of types, and there may be millions: then the values are all that
 * is kept.
 */
typedef struct FPTSet
{
	int			n;
	Datum	   *values;			/* single ones, not NULL, or else */
	FPTInterval *iv;
} FPTSet;

typedef struct FPTAllowed
{
	bool		any;			/* no quals at all */
	FPTSet		set;
	int			cur;			/* the one that the current position is in */
} FPTAllowed;

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

struct FPTQuals
{
	Relation	rel;
	const FPTGeneral *g;
	int			nkeycols;
	int			nstarts;		/* rescans, as far as they are counted */
	bool		point;			/* "column = value" on the first columns, and
								 * no other quals */
	bool		read;			/* what follows has been worked out of keys */
	ScanKey		keys;			/* the scan's own */
	int			nscankeys;
	bool		never;			/* no entry can match */
	bool		recheck;
	int			last;			/* last column with quals, or -1 */
	FPTAllowed	col[INDEX_MAX_KEYS];
	int			nothers;		/* quals that are asked of each entry */
	ScanKey		others;
	int			nasked;			/* arguments of these, elements of arrays */
	ScanKey		row;			/* first member of a row comparison, or NULL: no
								 * entry before, or after, its values matches
								 * */
	int			nrow;			/* so many members, of the columns from the first */
	bool		rowfirst;		/* entries begin there, or else end */
	bool		rowincl;		/* with the values themselves */
	MemoryContext qualcxt;		/* of everything above, reset at a rescan */
	MemoryContext poscxt;		/* values of positions */
	MemoryContext matchcxt;		/* values of entries */
	FPTPosition pos;			/* near and far end of the current range */
	FPTPosition end;
};

/* --- intervals ----------------------------------------------------------- */

static inline int
value_cmp(const FPTQuals *q, int i, Datum a, bool anull, const FPTBound *b)
{
	return fpt_general_compare_values(q->g, i, a, anull, b->value, b->isnull);
}

/* Is a value below an interval (-1), in it, or above it (1)? */
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

static inline FPTInterval
set_interval(const FPTSet *s, int k)
{
	FPTInterval iv;

	Assert(k >= 0 && k < s->n);
	if (s->values == NULL)
		return s->iv[k];
	iv.lo.value = s->values[k];
	iv.lo.isnull = false;
	iv.lo.inf = false;
	iv.lo.incl = true;
	iv.hi = iv.lo;
	return iv;
}

/* Of a set of values, keep those that are in another set. */
static void
keep_values(const FPTQuals *q, int i, FPTSet *a, const FPTSet *b)
{
	int			n = 0;
	int			k = 0;

	for (int j = 0; j < a->n && k < b->n; j++)
	{
		FPTInterval iv = set_interval(b, k);
		int			side = value_side(q, i, a->values[j], false, &iv);

		CHECK_FOR_INTERRUPTS();
		while (side > 0 && ++k < b->n)
		{
			CHECK_FOR_INTERRUPTS();
			iv = set_interval(b, k);
			side = value_side(q, i, a->values[j], false, &iv);
		}
		if (side == 0)
			a->values[n++] = a->values[j];
	}
	a->n = n;
}

/* What two sets have in common. */
static FPTSet
common_intervals(const FPTQuals *q, int i, const FPTSet *a, const FPTSet *b)
{
	FPTSet		out = {0};
	const FPTInterval *x = a->iv;
	const FPTInterval *y = b->iv;

	Assert(a->values == NULL && b->values == NULL);
	out.iv = palloc(((Size) a->n + b->n) * sizeof(FPTInterval));
	while (x < a->iv + a->n && y < b->iv + b->n)
	{
		int			c = upper_cmp(q, i, &x->hi, &y->hi);
		FPTInterval *both = &out.iv[out.n];

		CHECK_FOR_INTERRUPTS();
		both->lo = lower_cmp(q, i, &x->lo, &y->lo) > 0 ? x->lo : y->lo;
		both->hi = c < 0 ? x->hi : y->hi;
		if (!interval_empty(q, i, both))
			out.n++;
		if (c < 0)
			x++;
		else
			y++;
	}
	return out;
}

/* Keep of a column what b allows as well; b is in the current context. */
static void
intersect(FPTQuals *q, int i, FPTSet b)
{
	FPTAllowed *a = &q->col[i];

	if (a->any)
		a->set = b;
	else if (a->set.values != NULL)
		keep_values(q, i, &a->set, &b);
	else if (b.values != NULL)
	{
		keep_values(q, i, &b, &a->set);
		a->set = b;
	}
	else
		a->set = common_intervals(q, i, &a->set, &b);
	a->any = false;
	q->last = Max(q->last, i);
	if (a->set.n == 0)
		q->never = true;
}

static void
intersect_one(FPTQuals *q, int i, FPTInterval iv)
{
	FPTSet		b = {.n = 1};

	if (!iv.lo.inf && !iv.hi.inf && !iv.lo.isnull && !iv.hi.isnull &&
		iv.lo.incl && iv.hi.incl && iv.lo.value == iv.hi.value)
	{
		b.values = palloc(sizeof(Datum));
		*b.values = iv.lo.value;
	}
	else
	{
		b.iv = palloc(sizeof(FPTInterval));
		*b.iv = iv;
	}
	intersect(q, i, b);
}

typedef struct FPTSortArg
{
	const FPTQuals *q;
	int			i;
} FPTSortArg;

static int
interval_order(const void *a, const void *b, void *arg)
{
	const FPTSortArg *s = (const FPTSortArg *) arg;

	CHECK_FOR_INTERRUPTS();
	return lower_cmp(s->q, s->i, &((const FPTInterval *) a)->lo,
					 &((const FPTInterval *) b)->lo);
}

/* Sort intervals and merge those that overlap; returns their number. */
static int
sort_intervals(FPTQuals *q, int i, FPTInterval *iv, int n)
{
	FPTSortArg	arg = {q, i};
	int			last = 0;

	if (n <= 1)
		return n;
	qsort_arg(iv, n, sizeof(FPTInterval), interval_order, &arg);
	for (int k = 1; k < n; k++)
	{
		FPTInterval both = {iv[k].lo, iv[last].hi};

		CHECK_FOR_INTERRUPTS();
		if (interval_empty(q, i, &both))
			iv[++last] = iv[k];
		else if (upper_cmp(q, i, &iv[k].hi, &iv[last].hi) > 0)
			iv[last].hi = iv[k].hi;
	}
	return last + 1;
}

static int
value_order(const void *a, const void *b, void *arg)
{
	const FPTSortArg *s = (const FPTSortArg *) arg;

	CHECK_FOR_INTERRUPTS();
	return fpt_general_compare_values(s->q->g, s->i, *(const Datum *) a, false,
									  *(const Datum *) b, false);
}

/* Sort values and drop those that are there already; returns their number. */
static int
sort_values(FPTQuals *q, int i, Datum *values, int n)
{
	FPTSortArg	arg = {q, i};
	int			last = 0;

	if (n <= 1)
		return n;
	qsort_arg(values, n, sizeof(Datum), value_order, &arg);
	for (int k = 1; k < n; k++)
	{
		if (value_order(&values[last], &values[k], &arg) != 0)
			values[++last] = values[k];
	}
	return last + 1;
}

/* --- quals --------------------------------------------------------------- */

/* Values but no NULLs; in the order of the index. */
static FPTInterval
not_null(const FPTQuals *q, int i)
{
	FPTInterval iv = {{0, false, true, true}, {0, false, true, true}};
	FPTBound	null = {0, true, false, false};

	if (q->rel->rd_indoption[i] & INDOPTION_NULLS_FIRST)
		iv.lo = null;
	else
		iv.hi = null;
	return iv;
}

/* The interval of ascending values between two bounds. */
static FPTInterval
ascending(const FPTQuals *q, int i, FPTBound lo, FPTBound hi)
{
	FPTInterval iv = not_null(q, i);

	if (q->rel->rd_indoption[i] & INDOPTION_DESC)
	{
		FPTBound	tmp = lo;

		lo = hi;
		hi = tmp;
	}
	if (!lo.inf)
		iv.lo = lo;
	if (!hi.inf)
		iv.hi = hi;
	return iv;
}

/* "column <strategy> value", value of the column's type. */
static FPTInterval
operator_interval(const FPTQuals *q, int i, int strategy, Datum value)
{
	FPTBound	lo = {0, false, true, true};
	FPTBound	hi = {0, false, true, true};
	FPTBound	b = {value, false, false, true};

	switch (strategy)
	{
		case BTLessStrategyNumber:
			hi = b;
			hi.incl = false;
			break;
		case BTLessEqualStrategyNumber:
			hi = b;
			break;
		case BTEqualStrategyNumber:
			lo = hi = b;
			break;
		case BTGreaterEqualStrategyNumber:
			lo = b;
			break;
		case BTGreaterStrategyNumber:
			lo = b;
			lo.incl = false;
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg_internal("unrecognized strategy number: %d",
									 strategy)));
	}
	return ascending(q, i, lo, hi);
}

/* How a qual's argument is made comparable. */
typedef enum FPTArgument
{
	FPT_ARG_SAME,				/* it is of the column's type */
	FPT_ARG_IMAGE,				/* compare images, with a function */
	FPT_ARG_NAME_TO_TEXT,
	FPT_ARG_TEXT_TO_NAME,
	FPT_ARG_UNKNOWN				/* not at all */
} FPTArgument;

typedef struct FPTConverter
{
	FPTArgument how;
	const FPTKeyType *type;
	FmgrInfo	cmp;
} FPTConverter;

/* Images that stand for values of the type: some have fewer than bits. */
static void
valid_range(const FPTKeyType *type, FPTImage *min, FPTImage *max)
{
	min->hi = min->lo = 0;
	*max = fpt_image_max(type);
	switch (type->kind)
	{
		case FPT_IMG_S16:
			min->lo = (uint64) (FPT_SIGN32 + PG_INT16_MIN);
			max->lo = FPT_SIGN32 + PG_INT16_MAX;
			break;
		case FPT_IMG_BOOL:
			max->lo = 1;
			break;
		case FPT_IMG_CHAR:
			max->lo = PG_UINT8_MAX;
			break;
		case FPT_IMG_MAC6:
			max->lo = UINT64CONST(0xFFFFFFFFFFFF);
			break;
		default:
			break;
	}
}

static FPTBound
image_bound(FPTQuals *q, const FPTKeyType *type, FPTImage img)
{
	FPTBound	b = {0, false, false, true};
	MemoryContext old = MemoryContextSwitchTo(q->qualcxt);

	b.value = fpt_image_decode(type, img, type->typbyval &&
							   type->typlen <= (int) sizeof(Datum) ? NULL :
							   palloc(FPT_DECODE_BYTES));
	MemoryContextSwitchTo(old);
	return b;
}

/* The same for a value of another type; false if no value matches. */
static bool
image_interval(FPTQuals *q, int i, FPTConverter *conv, ScanKey key,
			   Datum value, FPTInterval *iv, bool *fuzzy)
{
	const FPTKeyType *type = conv->type;
	FPTBound	lob = {0, false, true, true};
	FPTBound	hib = {0, false, true, true};
	FPTImage	lo;
	FPTImage	hi;
	FPTImage	min;
	FPTImage	max;
	FPTCut		cut;

	fpt_image_cut(type, &conv->cmp, key->sk_collation, value, &cut);
	*fuzzy |= cut.fuzzy;
	if (!fpt_cut_interval(type, &cut, key->sk_strategy, &lo, &hi))
		return false;
	valid_range(type, &min, &max);
	if (fpt_img_cmp(lo, max) > 0 || fpt_img_cmp(hi, min) < 0)
		return false;
	if (fpt_img_cmp(lo, min) > 0)
		lob = image_bound(q, type, lo);
	if (fpt_img_cmp(hi, max) < 0)
		hib = image_bound(q, type, hi);
	*iv = ascending(q, i, lob, hib);
	return true;
}

/* Is an argument of the column's type? */
static inline bool
argument_is_same(const FPTQuals *q, int i, ScanKey key)
{
	Oid			opcintype = q->rel->rd_opcintype[i];

	return !OidIsValid(key->sk_subtype) || key->sk_subtype == opcintype ||
		IsPolymorphicType(opcintype) || opcintype == RECORDOID;
}

/*
 * How is a qual of column i made comparable with it?  Looks up functions: may
 * raise.
 */
static void
converter_init(FPTQuals *q, int i, ScanKey key, FPTConverter *conv)
{
	Oid			opcintype = q->rel->rd_opcintype[i];

	conv->how = FPT_ARG_SAME;
	if (argument_is_same(q, i, key))
		return;
	conv->how = FPT_ARG_UNKNOWN;
	conv->type = fpt_keytype_for(index_getprocid(q->rel, i + 1,
												 FPT_ORDER_PROC), opcintype);
	if (conv->type != NULL)
	{
		fpt_lookup_cross(q->rel, i, key->sk_subtype, q->qualcxt, &conv->cmp);
		conv->how = FPT_ARG_IMAGE;
	}
	else if (opcintype == TEXTOID && key->sk_subtype == NAMEOID)
		conv->how = FPT_ARG_NAME_TO_TEXT;
	else if (opcintype == NAMEOID && key->sk_subtype == TEXTOID)
		conv->how = FPT_ARG_TEXT_TO_NAME;
}

/*
 * The interval of one argument.  Returns 1 if there is one, 0 if no value
 * matches, -1 if nobody knows.
 */
static int
argument_interval(FPTQuals *q, int i, ScanKey key, FPTConverter *conv,
				  Datum value, FPTInterval *iv, bool *fuzzy)
{
	MemoryContext old;
	char	   *s;
	int			known = 1;

	switch (conv->how)
	{
		case FPT_ARG_SAME:
			break;
		case FPT_ARG_IMAGE:
			return image_interval(q, i, conv, key, value, iv, fuzzy) ? 1 : 0;
		case FPT_ARG_NAME_TO_TEXT:
			old = MemoryContextSwitchTo(q->qualcxt);
			value = CStringGetTextDatum(NameStr(*DatumGetName(value)));
			MemoryContextSwitchTo(old);
			break;
		case FPT_ARG_TEXT_TO_NAME:
			old = MemoryContextSwitchTo(q->qualcxt);
			s = TextDatumGetCString(value);
			if (strlen(s) < NAMEDATALEN)
			{
				char	   *name = palloc0(NAMEDATALEN);

				strcpy(name, s);
				value = CStringGetDatum(name);
			}
			else
				known = -1;
			MemoryContextSwitchTo(old);
			break;
		case FPT_ARG_UNKNOWN:
			known = -1;
			break;
	}
	if (known > 0)
		*iv = operator_interval(q, i, key->sk_strategy, value);
	return known;
}

/*
 * Arguments that an entry is compared with, by quals without intervals, while
 * its page is locked (rule L10).  More are the executor's business.
 */
#define FPT_MAX_ASKED		64

/* Let each entry be asked, or each row. */
static void
ask_entries(FPTQuals *q, int i, ScanKey key)
{
	int			n = 1;

	if (key->sk_flags & SK_SEARCHARRAY)
	{
		ArrayType  *array = DatumGetArrayTypeP(key->sk_argument);

		n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	}

	/* the operators are strict */
	intersect_one(q, i, not_null(q, i));
	if (n > FPT_MAX_ASKED - q->nasked)
	{
		q->recheck = true;
		return;
	}
	q->nasked += n;
	q->others[q->nothers++] = *key;
}

/*
 * "column < ANY (array)" and its like: intervals that all begin or all end at
 * the same place, so that the widest one is their union.
 */
static void
add_any(FPTQuals *q, int i, ScanKey key, FPTConverter *conv)
{
	FPTElements e;
	Datum		value;
	FPTInterval all;
	FPTInterval iv;
	bool		fuzzy = false;
	bool		found = false;

	fpt_elements_begin(&e, key->sk_argument);
	while (fpt_elements_next(&e, &value))
	{
		int			known = argument_interval(q, i, key, conv, value, &iv,
											  &fuzzy);

		CHECK_FOR_INTERRUPTS();
		if (known < 0)
		{
			ask_entries(q, i, key);
			return;
		}
		if (known == 0)
			continue;
		if (!found || lower_cmp(q, i, &iv.lo, &all.lo) < 0)
			all.lo = iv.lo;
		if (!found || upper_cmp(q, i, &iv.hi, &all.hi) > 0)
			all.hi = iv.hi;
		found = true;
	}
	q->recheck |= fuzzy;
	if (found)
		intersect_one(q, i, all);
	else
		q->never = true;
}

/*
 * "column = ANY (array)".  Takes 8 bytes for an element as long as these are
 * single values; btree takes 9.
 */
static void
add_array(FPTQuals *q, int i, ScanKey key, FPTConverter *conv)
{
	FPTElements e;
	FPTSet		set = {0};
	FPTInterval iv;
	Datum		value;
	bool		fuzzy = false;
	bool		point;

	fpt_elements_begin(&e, key->sk_argument);
	set.values = palloc(Max(e.n, 1) * sizeof(Datum));
	while (fpt_elements_next(&e, &value))
	{
		int			known = argument_interval(q, i, key, conv, value, &iv,
											  &fuzzy);

		CHECK_FOR_INTERRUPTS();
		if (known < 0)
		{
			ask_entries(q, i, key);
			return;
		}
		if (known == 0)
			continue;
		point = interval_point(q, i, &iv);
		if (!point && interval_empty(q, i, &iv))
			continue;
		if (set.values != NULL && !point)
		{
			/* intervals after all, the values so far among them */
			set.iv = palloc(e.n * sizeof(FPTInterval));
			for (int k = 0; k < set.n; k++)
				set.iv[k] = set_interval(&set, k);
			pfree(set.values);
			set.values = NULL;
		}
		if (set.values != NULL)
			set.values[set.n++] = iv.lo.value;
		else
			set.iv[set.n++] = iv;
	}
	q->recheck |= fuzzy;
	if (set.values != NULL)
		set.n = sort_values(q, i, set.values, set.n);
	else
		set.n = sort_intervals(q, i, set.iv, set.n);
	intersect(q, i, set);
}

/*
 * How many members of a row comparison, from the first on, are of the columns
 * of the index from the first on, which order them all as the operator does?
 */
static int
row_prefix(const FPTQuals *q, ScanKey member)
{
	int			n = 0;

	for (;; member++)
	{
		if (member->sk_attno != n + 1 || (member->sk_flags & SK_ISNULL) ||
			((q->rel->rd_indoption[n] ^ q->rel->rd_indoption[0]) &
			 INDOPTION_DESC) || !argument_is_same(q, n, member) ||
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
	FPTConverter conv;
	bool		fuzzy = false;

	if (member->sk_flags & SK_ISNULL)
	{
		q->never = true;
		return;
	}
	first.sk_strategy = less ? BTLessEqualStrategyNumber :
		BTGreaterEqualStrategyNumber;
	converter_init(q, first.sk_attno - 1, &first, &conv);
	intersect_one(q, first.sk_attno - 1, not_null(q, first.sk_attno - 1));
	switch (argument_interval(q, first.sk_attno - 1, &first, &conv,
							  first.sk_argument, &iv, &fuzzy))
	{
		case 1:					/* (all entries are asked: never mind "fuzzy") */
			intersect_one(q, first.sk_attno - 1, iv);
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
	q->others[q->nothers++] = *key;
}

/*
 * Take one of the scan's quals in: intersect the intervals of its column with
 * what it allows, or note that there is nothing, or that entries are to be
 * asked.  Runs functions of types, so with no page locked; raises an error for
 * a key that no index scan has.
 */
static void
add_key(FPTQuals *q, ScanKey key)
{
	int			i = key->sk_attno - 1;
	FPTConverter conv;
	FPTInterval iv;
	bool		fuzzy = false;

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
		intersect_one(q, i, not_null(q, i));
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
	converter_init(q, i, key, &conv);
	if (key->sk_flags & SK_SEARCHARRAY)
	{
		if (key->sk_strategy == BTEqualStrategyNumber)
			add_array(q, i, key, &conv);
		else
			add_any(q, i, key, &conv);
		return;
	}
	switch (argument_interval(q, i, key, &conv, key->sk_argument, &iv, &fuzzy))
	{
		case 1:
			q->recheck |= fuzzy;
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
	FPTQuals   *q = MemoryContextAllocZero(cxt, sizeof(FPTQuals));

	q->rel = rel;
	q->g = g;
	q->nkeycols = IndexRelationGetNumberOfKeyAttributes(rel);
	q->qualcxt = AllocSetContextCreate(cxt, "fptree quals",
									   ALLOCSET_SMALL_SIZES);
	q->poscxt = AllocSetContextCreate(cxt, "fptree position",
									  ALLOCSET_SMALL_SIZES);
	q->matchcxt = AllocSetContextCreate(cxt, "fptree entries",
										ALLOCSET_SMALL_SIZES);
	return q;
}

/* "column = value" on the first columns, one qual each, and no others? */
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
			!argument_is_same(q, i, key))
			return false;
	}
	return true;
}

/* What the scan's keys allow of each column. */
static void
quals_read(FPTQuals *q)
{
	MemoryContext old;

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
	{
		q->col[i].any = true;
		memset(&q->col[i].set, 0, sizeof(FPTSet));
	}

	old = MemoryContextSwitchTo(q->qualcxt);
	q->others = palloc(Max(q->nscankeys, 1) * sizeof(ScanKeyData));
	for (int k = 0; k < q->nscankeys && !q->never; k++)
		add_key(q, &q->keys[k]);
	MemoryContextSwitchTo(old);
	q->read = true;
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
	q->keys = keys;
	q->nscankeys = nkeys;
	q->point = quals_are_point(q);
	q->read = false;
	q->recheck = false;
	if (!q->point)
		quals_read(q);
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
 * direction; -1: there is none.
 */
static int
find_interval(const FPTQuals *q, int i, Datum v, bool vnull, int dir, bool *in)
{
	const FPTSet *set = &q->col[i].set;
	int			lo = 0;
	int			hi = set->n;

	/* the first one that is not below the value: a binary search (rule L10) */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		int			side;

		if (set->values != NULL)
			side = fpt_general_compare_values(q->g, i, v, vnull,
											  set->values[mid], false);
		else
			side = value_side(q, i, v, vnull, &set->iv[mid]);
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
 * those are known; "which" is column i's interval, -1 for its first one.
 */
static void
pos_fill(FPTQuals *q, FPTPosition *pos, int i, int which, int dir)
{
	pos->natts = i;
	pos->side = -dir;
	for (; i < q->nkeycols && !q->col[i].any; i++, which = -1)
	{
		FPTAllowed *a = &q->col[i];
		FPTInterval iv;
		const FPTBound *b;

		a->cur = which >= 0 ? which : dir > 0 ? 0 : a->set.n - 1;
		iv = set_interval(&a->set, a->cur);
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

/* Is a column's value the last one of its current interval? */
static bool
pos_at_end(const FPTQuals *q, const FPTPosition *pos, int i, int dir)
{
	const FPTAllowed *a = &q->col[i];
	FPTInterval iv;
	const FPTBound *b;

	if (a->any)
		return false;
	iv = set_interval(&a->set, a->cur);
	b = far_end(&iv, dir);
	if (a->set.values != NULL && !pos->isnull[i] && pos->values[i] == b->value)
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
 * the last column before it that has one.  Returns that column, or -1.
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
 * was not there before, -1: none.
 */
static bool
pos_seek(FPTQuals *q, FPTPosition *pos, int dir, int *moved)
{
	int			natts = pos->natts;
	bool		beyond = natts > 0 && pos->side == dir;

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
 * of the first column's NULLs.
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
}

static inline void
pos_search(FPTPosition *pos)
{
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
	for (int i = 0; i < q->nrow; i++)
	{
		pos->values[i] = q->row[i].sk_argument;
		pos->isnull[i] = false;
	}
	pos->natts = q->nrow;
	pos->side = q->rowfirst == q->rowincl ? -1 : 1;
}

/* Is a position after the end of a range that ends at those values? */
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

/* A position as a key, which lives as long as the position. */
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
	pos_search(pos);
	fpt_general_search_key(q->g, &pos->s, key);
}

/* Does a column's current interval have one value? */
static inline bool
column_is_fixed(const FPTQuals *q, int i)
{
	const FPTAllowed *a = &q->col[i];

	return !a->any && (a->set.values != NULL ||
					   interval_point(q, i, &a->set.iv[a->cur]));
}

/*
 * The far end of the range that begins at q->pos: of the columns that are fixed
 * the values, of the next one the end of its interval, or a row comparison's
 * values there.  Returns the number of fixed columns; -1 if the position is
 * after those values, and so are all that are allowed.
 */
static int
range_end(FPTQuals *q, int dir, int moved)
{
	FPTPosition *pos = &q->pos;
	FPTPosition *end = &q->end;
	bool		beyond = pos->side == dir;
	int			to = beyond ? pos->natts - 1 : pos->natts;
	int			e = 0;

	while (e < to && column_is_fixed(q, e))
		e++;
	if (e < moved && !beyond)
	{
		/*
		 * What is before "moved" keeps its value: with any other one the
		 * position would have to be moved again.
		 */
		e = moved;
		while (e < to && column_is_fixed(q, e))
			e++;
	}

	memcpy(end->values, pos->values, e * sizeof(Datum));
	memcpy(end->isnull, pos->isnull, e * sizeof(bool));
	end->natts = e;
	end->side = dir;
	if (e < q->nkeycols && !q->col[e].any)
	{
		FPTInterval iv = set_interval(&q->col[e].set, q->col[e].cur);
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
					return -1;
				pos_row(q, end);
			}
		}
	}
	return e;
}

/*
 * The one range of a point: from before to after all keys that begin with its
 * values.
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
	pos_search(pos);
	pos_search(end);
	fpt_general_search_keys(q->g, &pos->s, &end->s, &r->lo, &r->hi);
	r->filter = false;
	r->seek = false;
	r->moved = true;
}

bool
fpt_quals_range(FPTQuals *q, const FPTKey *from, int dir, FPTQualRange *r)
{
	FPTKey		near;
	FPTKey		far;
	int			moved;
	int			e;
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
	e = range_end(q, dir, moved);
	if (e < 0)
		return false;

	r->moved = moved >= 0 || begin;
	r->filter = q->nothers > 0 || q->last > e;
	r->seek = dir > 0 && q->last > e && q->last >= q->pos.natts;
	near = *from;
	if (r->moved || from->search != NULL)
		pos_key(q, &q->pos, &near);
	pos_key(q, &q->end, &far);
	r->lo = dir > 0 ? near : far;
	r->hi = dir > 0 ? far : near;
	return true;
}

/* --- entries ------------------------------------------------------------- */

/* "value <operator> argument", for a qual that has no intervals. */
static bool
ask(FPTQuals *q, ScanKey key, Datum value)
{
	ArrayType  *array;
	ArrayIterator it;
	Datum		elem;
	bool		isnull;

	if ((key->sk_flags & SK_SEARCHARRAY) == 0)
		return DatumGetBool(FunctionCall2Coll(&key->sk_func,
											  key->sk_collation, value,
											  key->sk_argument));
	array = DatumGetArrayTypeP(key->sk_argument);
	it = array_create_iterator(array, 0, NULL);
	while (array_iterate(it, &elem, &isnull))
	{
		if (!isnull && DatumGetBool(FunctionCall2Coll(&key->sk_func,
													  key->sk_collation,
													  value, elem)))
			return true;
	}
	return false;
}

/* The same of a row comparison, whose members have functions of order. */
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
		int			i = q->others[k].sk_attno - 1;

		if (q->others[k].sk_flags & SK_ROW_HEADER)
			in = ask_row(&q->others[k], values, isnull);
		else
			in = !isnull[i] && ask(q, &q->others[k], values[i]);
	}
	MemoryContextSwitchTo(old);
	return in;
}
