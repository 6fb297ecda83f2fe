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
 * The range of comparisons with values, as the probe of a nested loop has them;
 * false if a key is of another kind, or there is none.  No set is made.  As
 * fpt_image_ranges().
 */
static inline bool
set_comparison_range(FPTArguments *args, ScanKey keys, int nkeys,
					 FPTRanges *ranges)
{
	const FPTImage min = {0, 0};
	const FPTImage max = {PG_UINT64_MAX, PG_UINT64_MAX};
	FPTImage	from = min;
	FPTImage	upto = max;
	FPTConverter conv;
	int			k;

	for (k = 0; k < nkeys && is_comparison(&keys[k]); k++)
	{
		FPTImage	lo;
		FPTImage	hi;

		fpt_converter_init(&conv, args, 0, &keys[k]);
		if (!fpt_argument_images(&conv, keys[k].sk_argument, &lo, &hi))
		{
			lo = max;
			hi = min;
		}
		if (k == 0 || fpt_img_cmp(lo, from) > 0)
			from = lo;
		if (k == 0 || fpt_img_cmp(hi, upto) < 0)
			upto = hi;
		ranges->recheck |= conv.fuzzy;
	}
	if (k == 0 || k < nkeys)
		return false;
	ranges->n = fpt_img_cmp(from, upto) <= 0;
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
	Assert(ix->type != NULL);
	ranges->n = 1;
	ranges->spans = NULL;
	ranges->recheck = false;

	/* "column = value", the commonest one */
	if (nkeys == 1 && keys->sk_flags == 0 &&
		keys->sk_strategy == BTEqualStrategyNumber && keys->sk_attno == 1 &&
		(keys->sk_subtype == InvalidOid ||
		 keys->sk_subtype == rel->rd_opcintype[0]) &&
		(ix->type->kind == FPT_IMG_S32 || ix->type->kind == FPT_IMG_S64))
	{
		FPTImage	img;

		fpt_image_encode(ix->type, keys->sk_argument, &img);
		if (ix->descending)
			fpt_image_invert(ix->type, &img);
		fpt_image_range(img, img, &ranges->one);
		return;
	}

	if (ranges->quals == NULL)
		ranges->quals = fpt_quals_begin(rel, ix, cxt);
	if (set_comparison_range(&ranges->quals->args, keys, nkeys, ranges))
		return;
	fpt_quals_set(ranges->quals, keys, nkeys, 0);
	set_ranges(ix, ranges->quals, ranges);
}
