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
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/compare.h"
#include "page/port.h"
#include "scan/argument.h"
#include "scan/qual.h"
#include "scan/qualset.h"

/* --- intervals ----------------------------------------------------------- */

/* Order of two upper bounds (end: 1), or of two lower ones (-1). */
static int
bound_cmp(const FPTQuals *q, int i, int end, const FPTBound *a,
		  const FPTBound *b)
{
	int			c;

	if (a->inf || b->inf)
		return end * ((int) a->inf - (int) b->inf);
	c = fpt_value_cmp(q, i, a->value, a->isnull, b);
	return c != 0 ? c : end * ((int) a->incl - (int) b->incl);
}

static bool
interval_empty(const FPTQuals *q, int i, const FPTInterval *iv)
{
	int			c;

	if (iv->lo.inf || iv->hi.inf)
		return false;
	c = fpt_value_cmp(q, i, iv->lo.value, iv->lo.isnull, &iv->hi);
	return c > 0 || (c == 0 && !(iv->lo.incl && iv->hi.incl));
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
		FPTInterval iv = fpt_set_interval(a, j, &buf);
		int			side;

		CHECK_FOR_INTERRUPTS();
		while ((side = fpt_set_side(q, i, b, k, iv.lo.value, false)) > 0 &&
			   ++k < b->n)
			CHECK_FOR_INTERRUPTS();
		if (side < 0 && a->width == 2)
			side = fpt_set_side(q, i, b, k, iv.hi.value, false) >= 0 ? 0 : -1;
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
		if (bound_cmp(q, i, -1, &b.iv.lo, &a->iv.lo) > 0)
			a->iv.lo = b.iv.lo;
		if (bound_cmp(q, i, 1, &b.iv.hi, &a->iv.hi) < 0)
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
		if (!found || bound_cmp(q, i, -1, &iv.lo, &all.lo) < 0)
			keep_bound(q, conv, &iv.lo, &all.lo, &buf[0]);
		if (!found || bound_cmp(q, i, 1, &iv.hi, &all.hi) > 0)
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
		if (set.width == 1 && !fpt_interval_point(q, i, &iv))
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

/* See scan/qual.h. */
void
fpt_quals_read(FPTQuals *q)
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
		qsort(q->codes, q->ncodes, sizeof(FPTCode), fpt_code_order);
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
		fpt_quals_read(q);
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
