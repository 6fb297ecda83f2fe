/*-------------------------------------------------------------------------
 *
 * scan/argument.c
 *	  Arguments of quals on columns of general keys, as intervals.
 *
 * An argument of the column's own type is compared as it is.  Of the types
 * that have images an argument of another type is placed between the column's
 * values by fpt_image_cut().  Where the column's order and the qual's
 * comparison are core's functions, a name is compared with texts as a text, and
 * a text with names as a name.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_index.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "key/procs.h"
#include "scan/argument.h"
#include "scan/scankey.h"

FPTInterval
fpt_not_null(Relation rel, int i)
{
	FPTInterval iv = {{0, false, true, true}, {0, false, true, true}};
	FPTBound	null = {0, true, false, false};

	if (rel->rd_indoption[i] & INDOPTION_NULLS_FIRST)
		iv.lo = null;
	else
		iv.hi = null;
	return iv;
}

/*
 * The interval of ascending values between two bounds, in the order of the
 * index, where the first may be the last.  No NULLs are in it.
 */
static FPTInterval
ascending(const FPTConverter *conv, FPTBound lo, FPTBound hi)
{
	FPTInterval iv = fpt_not_null(conv->rel, conv->i);

	if (conv->rel->rd_indoption[conv->i] & INDOPTION_DESC)
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

/*
 * "column <strategy> value", value of the column's type, which is in the result
 * as it is.  Raises an error if the strategy is none of btree's.
 */
static FPTInterval
operator_interval(const FPTConverter *conv, Datum value)
{
	FPTBound	lo = {0, false, true, true};
	FPTBound	hi = {0, false, true, true};
	FPTBound	b = {value, false, false, true};

	switch (conv->key->sk_strategy)
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
			elog(ERROR, "unrecognized strategy number: %d",
				 conv->key->sk_strategy);
	}
	return ascending(conv, lo, hi);
}

static FPTBound
image_bound(const FPTKeyType *type, FPTImage img, FPTConverted *buf)
{
	FPTBound	b = {0, false, false, true};

	b.value = fpt_image_decode(type, img, buf->image);
	return b;
}

/*
 * The same for a value of another type, in *iv; false if no value matches.  An
 * interval of "=" has two ends, so that the least and the greatest value of a
 * type are single values as others are.  Both may be in conv->buf.  Runs the
 * comparison function, which may raise; no page is locked.
 */
static bool
image_interval(FPTConverter *conv, Datum value, FPTInterval *iv)
{
	const FPTKeyType *type = conv->type;
	StrategyNumber strategy = conv->key->sk_strategy;
	FPTBound	lob = {0, false, true, true};
	FPTBound	hib = {0, false, true, true};
	FPTImage	lo;
	FPTImage	hi;
	FPTImage	min;
	FPTImage	max;
	FPTCut		cut;

	fpt_image_cut(type, &conv->cmp, conv->key->sk_collation, value, &cut);
	conv->fuzzy |= cut.fuzzy;
	if (!fpt_cut_interval(type, &cut, strategy, &lo, &hi))
		return false;
	fpt_image_limits(type, &min, &max);
	if (fpt_img_cmp(lo, max) > 0 || fpt_img_cmp(hi, min) < 0)
		return false;
	if (fpt_img_cmp(lo, min) > 0)
		lob = image_bound(type, lo, &conv->buf[0]);
	else if (strategy == BTEqualStrategyNumber)
		lob = image_bound(type, min, &conv->buf[0]);
	if (fpt_img_cmp(hi, max) < 0)
		hib = image_bound(type, hi, &conv->buf[1]);
	else if (strategy == BTEqualStrategyNumber)
		hib = image_bound(type, max, &conv->buf[1]);
	*iv = ascending(conv, lob, hib);
	return true;
}

/*
 * How does a column compare with a qual's argument of the other of the types
 * text and name?  Orders and comparisons of users may be any: names that differ
 * may be equal, or in the opposite order.  Unknown unless both are core's.
 * Reads the relcache; with no page locked, as fpt_converter_init().
 */
static FPTArgument
string_argument(Relation rel, int i, ScanKey key)
{
	/* of members of rows, and by strategy */
	static const Oid text_name[] = {
		F_BTTEXTNAMECMP, F_TEXTLTNAME, F_TEXTLENAME, F_TEXTEQNAME,
		F_TEXTGENAME, F_TEXTGTNAME
	};
	static const Oid name_text[] = {
		F_BTNAMETEXTCMP, F_NAMELTTEXT, F_NAMELETEXT, F_NAMEEQTEXT,
		F_NAMEGETEXT, F_NAMEGTTEXT
	};
	Oid			order = index_getprocid(rel, i + 1, FPT_ORDER_PROC);
	int			which = key->sk_flags & SK_ROW_MEMBER ? 0 : key->sk_strategy;

	Assert(which < (int) lengthof(text_name));
	if (order == F_BTTEXTCMP && rel->rd_opcintype[i] == TEXTOID &&
		key->sk_subtype == NAMEOID && key->sk_func.fn_oid == text_name[which])
		return FPT_ARG_NAME_TO_TEXT;
	if (order == F_BTNAMECMP && rel->rd_opcintype[i] == NAMEOID &&
		key->sk_subtype == TEXTOID && key->sk_func.fn_oid == name_text[which])
		return FPT_ARG_TEXT_TO_NAME;
	return FPT_ARG_UNKNOWN;
}

void
fpt_converter_init(FPTConverter *conv, Relation rel, int i, ScanKey key)
{
	Oid			opcintype = rel->rd_opcintype[i];

	conv->rel = rel;
	conv->i = i;
	conv->key = key;
	conv->fuzzy = false;
	conv->how = FPT_ARG_SAME;
	if (fpt_argument_is_same(rel, i, key))
		return;
	conv->buf = palloc(2 * sizeof(FPTConverted));
	conv->type = fpt_keytype_for(index_getprocid(rel, i + 1, FPT_ORDER_PROC),
								 opcintype);
	if (conv->type != NULL)
	{
		fpt_lookup_cross(rel, i, key->sk_subtype, CurrentMemoryContext,
						 &conv->cmp);
		conv->how = FPT_ARG_IMAGE;
		return;
	}
	conv->how = string_argument(rel, i, key);
	if (conv->how == FPT_ARG_TEXT_TO_NAME)
		conv->bytewise = !OidIsValid(key->sk_collation) ||
			get_collation_isdeterministic(key->sk_collation);
}

Datum
fpt_convert(FPTArgument how, Datum value, FPTConverted *buf)
{
	const char *p = (const char *) DatumGetPointer(value);
	Size		len;

	if (how == FPT_ARG_NAME_TO_TEXT)
	{
		len = strnlen(p, NAMEDATALEN);
		SET_VARSIZE(buf->text, VARHDRSZ + len);
		memcpy(VARDATA(buf->text), p, len);
		return PointerGetDatum(buf->text);
	}
	len = VARSIZE_ANY_EXHDR(p);
	Assert(how == FPT_ARG_TEXT_TO_NAME && len < NAMEDATALEN);
	memset(buf->name, 0, NAMEDATALEN);
	memcpy(buf->name, VARDATA_ANY(p), len);
	return NameGetDatum((Name) buf->name);
}

int
fpt_argument_interval(FPTConverter *conv, Datum value, FPTInterval *iv)
{
	text	   *t;

	switch (conv->how)
	{
		case FPT_ARG_SAME:
			break;
		case FPT_ARG_IMAGE:
			return image_interval(conv, value, iv) ? 1 : 0;
		case FPT_ARG_NAME_TO_TEXT:
			value = fpt_convert(conv->how, value, conv->buf);
			break;
		case FPT_ARG_TEXT_TO_NAME:
			t = DatumGetTextPP(value);
			if (VARSIZE_ANY_EXHDR(t) >= NAMEDATALEN)
				return conv->bytewise &&
					conv->key->sk_strategy == BTEqualStrategyNumber ? 0 : -1;
			value = fpt_convert(conv->how, PointerGetDatum(t), conv->buf);
			break;
		case FPT_ARG_UNKNOWN:
			return -1;
	}
	*iv = operator_interval(conv, value);
	return 1;
}
