/*-------------------------------------------------------------------------
 *
 * scan/qual.c
 *	  Scan keys: see scan/qual.h.
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
 * Of image keys, which have one column, all quals become intervals, and what a
 * row comparison says besides is the executor's business.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "scan/argument.h"
#include "scan/qual.h"
#include "scan/extrakey.h"

/* --- quals --------------------------------------------------------------- */

/*
 * Arguments that an entry is compared with, by quals without intervals, while
 * its page is locked (rule L10).  More are the executor's business.
 */
#define FPT_MAX_ASKED		64

/* Leave the NULLs of a column out. */
static void
narrow_to_values(FPTQuals *q, int i)
{
	FPTInterval iv = fpt_not_null(q->args.rel, i);

	fpt_set_narrow(q, i, &iv);
}

/* What a qual becomes that is asked, in the current context. */
static FPTOther *
next_other(FPTQuals *q, ScanKey key)
{
	FPTOther   *other;

	Assert(q->g != NULL && q->nothers < q->nscankeys);
	if (q->others == NULL)
		q->others = palloc0(q->nscankeys * sizeof(FPTOther));
	other = &q->others[q->nothers++];
	other->key = *key;
	return other;
}

/*
 * Let each entry be asked, or each row.  An array is taken apart here, before a
 * page is locked: catalogues are read, and functions of types run.  May raise,
 * and be cancelled.  Allocates in the current context, where it has to stay.
 */
static void
ask_entries(FPTQuals *q, int i, ScanKey key)
{
	FPTOther   *other;
	FPTElements e = {.n = 1};
	Datum		value;

	if (key->sk_flags & SK_SEARCHARRAY)
		fpt_elements_begin(&e, key->sk_argument);

	/* the operators are strict */
	narrow_to_values(q, i);
	if (e.n > FPT_MAX_ASKED - q->nasked)
	{
		q->recheck = true;
		return;
	}
	q->nasked += e.n;
	other = next_other(q, key);
	other->args = palloc(Max(e.n, 1) * sizeof(Datum));
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
	if (conv->buf == NULL || q->g->col[conv->i].byval || from->inf ||
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
	bool		images = conv->how == FPT_ARG_KEY;
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
		if (!found || fpt_bound_cmp(q, i, -1, &iv.lo, &all.lo, images) < 0)
			keep_bound(q, conv, &iv.lo, &all.lo, &buf[0]);
		if (!found || fpt_bound_cmp(q, i, 1, &iv.hi, &all.hi, images) > 0)
			keep_bound(q, conv, &iv.hi, &all.hi, &buf[1]);
		found = true;
	}
	if (images && e.ours)
		pfree(e.array);
	q->recheck |= conv->fuzzy;
	if (found)
		fpt_set_narrow(q, i, &all);
	else
		q->never = true;
}

/*
 * Collect the elements of "column = ANY (array)"; false if one cannot be
 * placed.  What is not the array's own is copied to the current context.
 * Locks, errors and memory: see add_array().
 */
static bool
collect(FPTQuals *q, FPTConverter *conv, FPTElements *e, FPTSet *set)
{
	const FPTColumn *c = &q->g->col[conv->i];
	Datum		value;
	FPTInterval iv;

	while (fpt_elements_next(e, &value))
	{
		int			known = 1;
		uint64	   *to;

		CHECK_FOR_INTERRUPTS();
		if (conv->how != FPT_ARG_SAME)
			known = fpt_argument_interval(conv, value, &iv);
		if (known < 0)
			return false;
		if (known == 0)
			continue;
		if (conv->how == FPT_ARG_IMAGE && set->width == 1 &&
			!fpt_interval_point(q, conv->i, &iv))
			fpt_set_widen(set, e->n);
		to = set->values + (Size) set->n++ * set->width;
		*to = value;
		if (conv->how == FPT_ARG_TEXT_TO_NAME)
			*to = PointerGetDatum(DatumGetTextPP(value));
		else if (conv->how == FPT_ARG_IMAGE)
			*to = datumCopy(iv.lo.value, c->byval, c->typlen);
		if (set->width == 2)
			to[1] = datumCopy(iv.hi.value, c->byval, c->typlen);
	}
	return true;
}

/*
 * The same of image keys; false if an element equals several images of 16
 * bytes, for which there is no room.  May raise, and be cancelled.
 */
static bool
collect_images(FPTConverter *conv, FPTElements *e, FPTSet *set)
{
	bool		wide = conv->type->keysize == 16;
	uint64	   *to = set->values;
	Datum		value;
	FPTImage	lo;
	FPTImage	hi;

	while (fpt_elements_next(e, &value))
	{
		CHECK_FOR_INTERRUPTS();
		if (!fpt_argument_images(conv, value, &lo, &hi))
			continue;
		if (wide && fpt_img_cmp(lo, hi) != 0)
			return false;
		*to++ = wide ? lo.hi : lo.lo;
		*to++ = hi.lo;
	}
	set->n = (int) ((to - set->values) / 2);
	set->width = wide ? 1 : 2;
	return true;
}

/*
 * "column = ANY (array)".  Takes 8 bytes for an element, or 16 if one of them
 * is not a single value, or keys are images; btree takes 9.  (Values of more
 * than 8 bytes, if an operator family of users compares them with another type,
 * come on top.)  They are in the current context, where they have to stay, and
 * point into the array; images do not.  Where the elements do not make a set
 * the array is read once more: entries are asked, or, if one equals several
 * images of 16 bytes, the interval of all elements is what is kept.  Runs
 * functions of types, with no page locked; may raise, and be cancelled.
 */
static void
add_array(FPTQuals *q, FPTConverter *conv)
{
	bool		images = conv->how == FPT_ARG_KEY;
	FPTSet		set = {.width = 1, .words = images ? 2 : 1};
	FPTElements e;
	bool		collected;

	if (conv->how == FPT_ARG_UNKNOWN)
	{
		ask_entries(q, conv->i, conv->key);
		return;
	}
	if (conv->how == FPT_ARG_NAME_TO_TEXT || conv->how == FPT_ARG_TEXT_TO_NAME)
	{
		set.how = conv->how;
		set.at = palloc(sizeof(FPTConverted));
	}
	fpt_elements_begin(&e, conv->key->sk_argument);
	fpt_set_allocate(&set, e.n);
	collected = images ? collect_images(conv, &e, &set) :
		collect(q, conv, &e, &set);
	if (images && e.ours)
		pfree(e.array);
	q->recheck |= conv->fuzzy || (images && !collected);
	if (collected)
	{
		fpt_set_sort(q, conv->i, &set);
		fpt_set_intersect(q, conv->i, &set);
		return;
	}
	pfree(set.values);
	if (images)
		add_any(q, conv);
	else
		ask_entries(q, conv->i, conv->key);
}

/*
 * How many members of a row comparison, from the first on, are of the columns
 * of the index from the first on, which order them all as the operator does?
 * Looks nothing up.
 */
static int
row_prefix(const FPTQuals *q, ScanKey member)
{
	Relation	rel = q->args.rel;
	int			n = 0;

	for (;; member++)
	{
		if (member->sk_attno != n + 1 || (member->sk_flags & SK_ISNULL) ||
			((rel->rd_indoption[n] ^ rel->rd_indoption[0]) &
			 INDOPTION_DESC) || !fpt_argument_is_same(rel, n, member) ||
			member->sk_collation != rel->rd_indcollation[n])
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
	fpt_converter_init(&conv, &q->args, i, &first);
	narrow_to_values(q, i);
	switch (fpt_argument_interval(&conv, first.sk_argument, &iv))
	{
		case 1:					/* (all entries are asked: never mind "fuzzy") */
			fpt_set_narrow(q, i, &iv);
			break;
		case 0:
			q->never = true;
			return;
	}

	while ((member[n - 1].sk_flags & SK_ROW_END) == 0)
		n++;
	if (q->g == NULL)
	{
		q->recheck = true;
		return;
	}
	q->row = member;
	q->nrow = row_prefix(q, member);
	q->rowfirst = less ==
		((q->args.rel->rd_indoption[0] & INDOPTION_DESC) != 0);
	q->rowincl = q->nrow < n || key->sk_strategy == first.sk_strategy;
	if (n > FPT_MAX_ASKED - q->nasked)
	{
		q->recheck = true;
		return;
	}
	q->nasked += n;
	(void) next_other(q, key);
}

/*
 * Are the rows that match after a position's value, in the order of the index
 * (1), or before it (-1)?  0: they have the value.
 */
static int
position_side(const FPTQuals *q, ScanKey member)
{
	bool		desc = (q->args.rel->rd_indoption[member->sk_attno - 1] &
						INDOPTION_DESC) != 0;

	if (member->sk_strategy == BTEqualStrategyNumber)
		return 0;
	return (member->sk_strategy > BTEqualStrategyNumber) != desc ? 1 : -1;
}

/*
 * Set *to to a position's value of a column; false if the column has no such
 * value.  Locks, errors and memory: see add_position().
 */
static bool
position_value(FPTQuals *q, int i, ScanKey member, ScanKey to)
{
	FPTConverter conv;
	FPTInterval iv;

	if ((member->sk_flags & SK_ISNULL) ||
		member->sk_collation != q->args.rel->rd_indcollation[i])
		return false;
	*to = *member;
	if (fpt_argument_is_same(q->args.rel, i, member))
		return true;
	to->sk_strategy = BTEqualStrategyNumber;
	fpt_converter_init(&conv, &q->args, i, to);
	if (conv.how != FPT_ARG_IMAGE ||
		fpt_argument_interval(&conv, member->sk_argument, &iv) != 1 ||
		conv.fuzzy || !fpt_interval_point(q, i, &iv))
		return false;
	to->sk_argument = iv.lo.value;
	return true;
}

/*
 * Take in where entries begin that may match, or end (FPT_SK_POSITION), as the
 * values of a row comparison, but no entry is asked.  The position ends before
 * a value of another type that the column does not have, and before a NULL, to
 * which no row is equal.  Runs functions of types, with no page locked; may
 * raise, and be cancelled.  Allocates in the current context, q->qualcxt.
 */
static void
add_position(FPTQuals *q)
{
	ScanKey		member = q->position;
	ScanKey		row = palloc((q->nkeycols + 1) * sizeof(ScanKeyData));
	bool		incl = true;
	int			side = 0;
	int			n = 0;

	for (;; member++)
	{
		int			i = member->sk_attno - 1;
		int			by = position_side(q, member);

		Assert(i == n || i == n - 1);
		if ((side != 0 && by != side) ||
			!position_value(q, i, member, &row[n]))
		{
			n = i;
			break;
		}
		if (i < n && fpt_general_compare_values(q->g, i, row[i].sk_argument,
												false, row[n].sk_argument,
												false) != 0)
		{
			n = i;
			break;
		}
		side = by;
		n = i + 1;
		if (member->sk_flags & SK_ROW_END)
		{
			incl = member->sk_strategy != BTLessStrategyNumber &&
				member->sk_strategy != BTGreaterStrategyNumber;
			break;
		}
	}
	if (side == 0 || n == 0)
		return;
	q->row = row;
	q->nrow = n;
	q->rowfirst = side > 0;
	q->rowincl = incl;
}

/* The executor has passed a key that no index scan has: an internal error. */
static pg_noinline void
reject_key(Relation rel, ScanKey key)
{
	elog(ERROR, "unexpected scan key for index \"%s\": attribute %d, strategy %d, flags 0x%X",
		 RelationGetRelationName(rel), key->sk_attno, key->sk_strategy,
		 (unsigned) key->sk_flags);
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
		reject_key(q->args.rel, key);
	if (key->sk_flags & SK_ROW_HEADER)
	{
		add_row(q, key);
		return;
	}
	if (key->sk_flags & SK_SEARCHNULL)
	{
		iv.lo = iv.hi = (FPTBound) {.isnull = true, .incl = true};
		fpt_set_narrow(q, i, &iv);
		return;
	}
	if (key->sk_flags & SK_SEARCHNOTNULL)
	{
		narrow_to_values(q, i);
		return;
	}
	if (key->sk_flags & SK_ISNULL)
	{
		q->never = true;		/* the operators are strict */
		return;
	}
	if (key->sk_strategy < BTLessStrategyNumber ||
		key->sk_strategy > BTGreaterStrategyNumber)
		reject_key(q->args.rel, key);
	fpt_converter_init(&conv, &q->args, i, key);
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
			fpt_set_narrow(q, i, &iv);
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
fpt_quals_begin(Relation rel, const FPTIndex *ix, MemoryContext cxt)
{
	int			nkeycols = IndexRelationGetNumberOfKeyAttributes(rel);
	FPTQuals   *q = MemoryContextAlloc(cxt, offsetof(FPTQuals, col) +
									   nkeycols * sizeof(FPTAllowed));

	/* positions have room for many columns: they are written before read */
	memset(q, 0, offsetof(FPTQuals, pos));
	memset(q->col, 0, nkeycols * sizeof(FPTAllowed));
	q->args.rel = rel;
	q->args.type = ix->type;
	q->args.cxt = cxt;
	q->nkeycols = nkeycols;
	q->nullsfirst = ix->layout.nullsfirst;
	if (fpt_is_general(&ix->layout))
	{
		q->g = ix->layout.arg;
		q->longcol = fpt_head_long_column(&q->g->head);
	}
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
			!fpt_argument_is_same(q->args.rel, i, key))
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
	if (q->qualcxt == NULL)
		q->qualcxt = AllocSetContextCreate(q->args.cxt, "fptree quals",
										   ALLOCSET_SMALL_SIZES);
	else
		MemoryContextReset(q->qualcxt);
	fpt_context_reset(q->poscxt);
	fpt_context_reset(q->matchcxt);
	q->never = false;
	q->recheck = false;
	q->last = -1;
	q->nothers = 0;
	q->others = NULL;
	q->nasked = 0;
	q->nrow = 0;
	for (int i = 0; i < q->nkeycols; i++)
		q->col[i].any = true;

	old = MemoryContextSwitchTo(q->qualcxt);
	for (int k = 0; k < q->nscankeys && !q->never; k++)
		add_key(q, &q->keys[k]);
	if (q->position != NULL && q->nrow == 0 && !q->never)
		add_position(q);
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
		key->sk_subtype != q->args.rel->rd_opcintype[i])
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
				AllocSetContextCreate(q->args.cxt, "fptree arguments",
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
		MemoryContext cxt = q->args.cxt;

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
fpt_quals_set(FPTQuals *q, ScanKey keys, int nkeys, int nextra)
{
	MemoryContext old;

	q->nscankeys = nkeys;
	q->position = NULL;
	for (int k = nkeys; k < nkeys + nextra; k++)
	{
		if (keys[k].sk_flags & FPT_SK_POSITION)
			q->position = (ScanKey) DatumGetPointer(keys[k].sk_argument);
	}
	if (q->g == NULL)
	{
		q->keys = keys;
		fpt_quals_read(q);
		return;
	}
	if (q->nstarts < FPT_MANY_STARTS && ++q->nstarts == FPT_MANY_STARTS)
	{
		old = MemoryContextSwitchTo(q->args.cxt);
		fpt_general_sort_support(unconstify(FPTGeneral *, q->g), q->args.rel,
								 false);
		MemoryContextSwitchTo(old);
	}
	q->keys = fetch_arguments(q, keys, nkeys);
	q->point = quals_are_point(q);
	q->read = false;
	q->recheck = false;
	if (!q->point)
		fpt_quals_read(q);
	if (q->longcol >= 0)
		know_codes(q);
}

void
fpt_quals_reset(FPTQuals *q)
{
	fpt_context_reset(q->matchcxt);
}
