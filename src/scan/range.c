/*-------------------------------------------------------------------------
 *
 * scan/range.c
 *	  From a scan's quals to ranges of image keys.
 *
 * An index has one column, and what scan/qual.c finds to be allowed of it, in
 * the order of the index, is what the scan walks through.  Nothing is compared
 * any more after that, except when FPTRanges.recheck says so.
 *
 * A nested loop comes here once a probe.  The usual quals take no memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "key/image.h"
#include "scan/qual.h"
#include "scan/range.h"

/*
 * The range of an interval: of values, or the NULLs; of all entries, if it is
 * NULL.
 */
static void
set_interval_range(const FPTIndex *ix, const FPTInterval *iv, FPTRange *range)
{
	FPTImage	lo = {0, 0};
	FPTImage	hi = fpt_image_max(ix->type);

	if (iv == NULL || (iv->lo.isnull && iv->lo.incl))
	{
		uint32		cls = ix->layout.nullsfirst ? FPT_CLS_NULLFIRST :
			FPT_CLS_NULLLAST;

		memset(range, 0, sizeof(FPTRange));
		range->lo.cls = iv == NULL ? FPT_CLS_MINF : cls;
		range->hi.cls = iv == NULL ? FPT_CLS_PINF : cls;
		range->hi.tid = FPT_MAX_TID;
		range->moved = true;
		range->element = -1;
		return;
	}
	if (!iv->lo.inf && !iv->lo.isnull)
		lo = iv->lo.image;
	if (!iv->hi.inf && !iv->hi.isnull)
		hi = iv->hi.image;
	fpt_image_range(lo, hi, range);
}

/* "column <operator> value"? */
static inline bool
is_comparison(ScanKey key)
{
	return key->sk_flags == 0 && key->sk_attno == 1 &&
		key->sk_strategy >= BTLessStrategyNumber &&
		key->sk_strategy <= BTGreaterStrategyNumber;
}

/*
 * Is a comparison of integers one of core's functions, so that no family need
 * be asked about it?  *v: the argument.  "id = 123" on a bigint is one:
 * the literal is an integer.  Reads nothing but the key.
 */
static inline bool
integer_argument(Relation rel, ScanKey key, int64 *v)
{
	/* by the column's type, the argument's, and the strategy */
	static const Oid funcs[3][3][BTMaxStrategyNumber] = {
		{
			{0},
			{F_INT24LT, F_INT24LE, F_INT24EQ, F_INT24GE, F_INT24GT},
			{F_INT28LT, F_INT28LE, F_INT28EQ, F_INT28GE, F_INT28GT}
		},
		{
			{F_INT42LT, F_INT42LE, F_INT42EQ, F_INT42GE, F_INT42GT},
			{0},
			{F_INT48LT, F_INT48LE, F_INT48EQ, F_INT48GE, F_INT48GT}
		},
		{
			{F_INT82LT, F_INT82LE, F_INT82EQ, F_INT82GE, F_INT82GT},
			{F_INT84LT, F_INT84LE, F_INT84EQ, F_INT84GE, F_INT84GT},
			{0}
		}
	};
	Oid			coltype = rel->rd_opcintype[0];
	int			col = coltype == INT8OID ? 2 : coltype == INT4OID ? 1 : 0;
	int			arg;

	if (col == 0 && coltype != INT2OID)
		return false;
	if (key->sk_subtype == INT4OID)
	{
		arg = 1;
		*v = DatumGetInt32(key->sk_argument);
	}
	else if (key->sk_subtype == INT8OID)
	{
		arg = 2;
		*v = DatumGetInt64(key->sk_argument);
	}
	else if (key->sk_subtype == INT2OID)
	{
		arg = 0;
		*v = DatumGetInt16(key->sk_argument);
	}
	else
		return false;
	return key->sk_func.fn_oid == funcs[col][arg][key->sk_strategy - 1];
}

/*
 * Where the argument of a comparison lies, if that takes no look-up: it is of
 * the column's type, or both are integers.  Raises nothing.
 */
static inline bool
cut_at_once(Relation rel, const FPTKeyType *type, ScanKey key, FPTCut *cut)
{
	int64		v;

	if (key->sk_subtype == InvalidOid ||
		key->sk_subtype == rel->rd_opcintype[0])
		fpt_image_cut(type, NULL, InvalidOid, key->sk_argument, cut);
	else if (integer_argument(rel, key, &v))
		fpt_image_cut_integer(type, v, cut);
	else
		return false;
	return true;
}

/*
 * "column = value", the commonest qual: its one image, in the order of the
 * index.  False if that takes more than a look at the key.  Raises nothing.
 */
static inline bool
equal_image(Relation rel, const FPTIndex *ix, ScanKey key, FPTImage *img)
{
	const FPTKeyType *type = ix->type;
	int64		v;

	if (key->sk_strategy != BTEqualStrategyNumber || !is_comparison(key) ||
		(type->kind != FPT_IMG_S32 && type->kind != FPT_IMG_S64))
		return false;
	if (key->sk_subtype == InvalidOid ||
		key->sk_subtype == rel->rd_opcintype[0])
		fpt_image_encode(type, key->sk_argument, img);
	else if (!integer_argument(rel, key, &v) ||
			 (type->kind == FPT_IMG_S32 && v != (int32) v))
		return false;
	else
		*img = fpt_image_integer(type, v);
	if (ix->descending)
		fpt_image_invert(type, img);
	return true;
}

/*
 * The images lo .. hi, in the order of the index, that a comparison allows;
 * false if it allows nothing.  Looks a function up only if it must: then as
 * fpt_image_ranges(), and so much of *ranges as that needs is made.
 */
static inline bool
comparison_images(Relation rel, FPTIndex *ix, ScanKey key, MemoryContext cxt,
				  FPTRanges *ranges, FPTImage *lo, FPTImage *hi)
{
	FPTConverter conv;
	FPTCut		cut;
	bool		any;

	if (cut_at_once(rel, ix->type, key, &cut))
	{
		any = ix->descending ?
			fpt_cut_interval(ix->type, &cut, key->sk_strategy, hi, lo) :
			fpt_cut_interval(ix->type, &cut, key->sk_strategy, lo, hi);
		if (any && ix->descending)
		{
			fpt_image_invert(ix->type, lo);
			fpt_image_invert(ix->type, hi);
		}
		return any;
	}
	if (ranges->quals == NULL)
		ranges->quals = fpt_quals_begin(rel, ix, cxt);
	fpt_converter_init(&conv, &ranges->quals->args, 0, key);
	any = fpt_argument_images(&conv, key->sk_argument, lo, hi);
	ranges->recheck |= conv.fuzzy;
	return any;
}

/*
 * "column IS NOT NULL", as min() and max() ask for: no more than that it has a
 * value.
 */
static inline bool
is_not_null(ScanKey key)
{
	return (key->sk_flags & SK_SEARCHNOTNULL) != 0 && key->sk_attno == 1;
}

/*
 * The range of comparisons with values, as the probe of a nested loop has them,
 * or of all values; false if a key is of another kind, or there is none.  No
 * set is made.  As fpt_image_ranges().
 */
static inline bool
set_comparison_range(Relation rel, FPTIndex *ix, ScanKey keys, int nkeys,
					 MemoryContext cxt, FPTRanges *ranges)
{
	FPTImage	from = {0, 0};
	FPTImage	upto = fpt_image_max(ix->type);
	bool		empty = false;
	int			k;

	for (k = 0; k < nkeys; k++)
	{
		FPTImage	lo;
		FPTImage	hi;

		if (is_not_null(&keys[k]))
			continue;
		if (!is_comparison(&keys[k]))
			break;
		if (!comparison_images(rel, ix, &keys[k], cxt, ranges, &lo, &hi))
		{
			empty = true;
			continue;
		}
		if (fpt_img_cmp(lo, from) > 0)
			from = lo;
		if (fpt_img_cmp(hi, upto) < 0)
			upto = hi;
	}
	if (k == 0 || k < nkeys)
	{
		ranges->recheck = false;
		return false;
	}
	ranges->n = !empty && fpt_img_cmp(from, upto) <= 0;
	if (ranges->n > 0)
		fpt_image_range(from, upto, &ranges->one);
	return true;
}

/* The ranges of what quals allow, which have been read. */
static inline void
set_ranges(const FPTIndex *ix, const FPTQuals *q, FPTRanges *ranges)
{
	const FPTSet *set = &q->col[0].set;
	FPTInterval iv;

	ranges->recheck = q->recheck;
	if (q->never)
		ranges->n = 0;
	else if (q->col[0].any)
		set_interval_range(ix, NULL, &ranges->one);
	else if (set->n == 1)
	{
		iv = fpt_set_interval(set, 0, NULL, true);
		set_interval_range(ix, &iv, &ranges->one);
	}
	else
	{
		ranges->n = set->n;
		ranges->spans = (const FPTSpan *) set->values;
	}
}

/* See scan/range.h. */
void
fpt_image_ranges(Relation rel, FPTIndex *ix, ScanKey keys, int nkeys,
				 MemoryContext cxt, FPTRanges *ranges)
{
	FPTImage	img;

	Assert(ix->type != NULL);
	ranges->n = 1;
	ranges->spans = NULL;
	ranges->recheck = false;

	if (nkeys == 0)
	{
		set_interval_range(ix, NULL, &ranges->one);
		return;
	}
	if (nkeys == 1 && equal_image(rel, ix, keys, &img))
	{
		fpt_image_range(img, img, &ranges->one);
		return;
	}
	if (set_comparison_range(rel, ix, keys, nkeys, cxt, ranges))
		return;
	if (ranges->quals == NULL)
		ranges->quals = fpt_quals_begin(rel, ix, cxt);
	fpt_quals_set(ranges->quals, keys, nkeys, 0);
	set_ranges(ix, ranges->quals, ranges);
}
