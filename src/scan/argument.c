/*-------------------------------------------------------------------------
 *
 * scan/argument.c
 *	  Arguments of quals as intervals, and stepping through arrays of them.
 *
 * An argument of the column's own type is compared as it is.  Of the types
 * that have images an argument of another type is placed between the column's
 * values by fpt_image_cut(), and so is any argument where the keys themselves
 * are images.  Where the column's order and the qual's comparison are core's
 * functions, a name is compared with texts as a text, and a text with names as
 * a name.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_index.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/procs.h"
#include "scan/argument.h"

FPTInterval
fpt_not_null(Relation rel, int i)
{
	FPTInterval iv = {FPT_UNBOUNDED, FPT_UNBOUNDED};
	FPTBound	null = {.isnull = true};

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

	if (conv->descending)
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
	FPTBound	lo = FPT_UNBOUNDED;
	FPTBound	hi = FPT_UNBOUNDED;
	FPTBound	b = {.value = value, .incl = true};

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

/*
 * fpt_image_cut() by a function of a user: nobody knows what it leaves in the
 * current context at each of its calls, of which there may be some hundred.  It
 * gets a context of its own below the scan's, which is reset after each
 * argument.  Runs it, which may raise; no page is locked.
 */
static pg_noinline void
foreign_cut(const FPTConverter *conv, Datum value, FPTCut *cut)
{
	FPTCross   *c = conv->cross;
	MemoryContext old;

	if (c->scratch == NULL)
		c->scratch = AllocSetContextCreate(GetMemoryChunkContext(c),
										   "fptree comparisons",
										   ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(c->scratch);
	fpt_image_cut(conv->type, &c->cmp, conv->key->sk_collation, value, cut);
	MemoryContextSwitchTo(old);
	MemoryContextReset(c->scratch);
}

/*
 * The interval of a column's values between two ascending images, of a qual
 * with this strategy; false if there is none.  An interval of "=" has two ends,
 * so that the least and the greatest value of a type are single values as
 * others are.  Both may be in conv->buf.
 */
static bool
decoded_interval(const FPTConverter *conv, FPTImage lo, FPTImage hi,
				 FPTInterval *iv)
{
	bool		equal = conv->key->sk_strategy == BTEqualStrategyNumber;
	FPTBound	lob = FPT_UNBOUNDED;
	FPTBound	hib = FPT_UNBOUNDED;
	FPTImage	min;
	FPTImage	max;

	fpt_image_limits(conv->type, &min, &max);
	if (fpt_img_cmp(lo, max) > 0 || fpt_img_cmp(hi, min) < 0)
		return false;
	lob.inf = !equal && fpt_img_cmp(lo, min) <= 0;
	hib.inf = !equal && fpt_img_cmp(hi, max) >= 0;
	if (fpt_img_cmp(lo, min) > 0)
		min = lo;
	if (fpt_img_cmp(hi, max) < 0)
		max = hi;
	lob.value = fpt_image_decode(conv->type, min, conv->buf[0].image);
	hib.value = fpt_image_decode(conv->type, max, conv->buf[1].image);
	*iv = ascending(conv, lob, hib);
	return true;
}

/*
 * The ascending images lo .. hi that match an argument; false if there are
 * none.  Runs the comparison function, which may raise; no page is locked.
 */
static inline bool
matching_images(FPTConverter *conv, Datum value, FPTImage *lo, FPTImage *hi)
{
	FPTCross   *c = conv->cross;
	FPTCut		cut;

	if (unlikely(c != NULL && c->cmp.fn_oid >= FirstNormalObjectId))
		foreign_cut(conv, value, &cut);
	else
		fpt_image_cut(conv->type, c != NULL ? &c->cmp : NULL,
					  conv->key->sk_collation, value, &cut);
	conv->fuzzy |= cut.fuzzy;
	return fpt_cut_interval(conv->type, &cut, conv->key->sk_strategy, lo, hi);
}

/* See scan/argument.h. */
bool
fpt_argument_images(FPTConverter *conv, Datum value, FPTImage *lo,
					FPTImage *hi)
{
	FPTImage	tmp;

	Assert(conv->how == FPT_ARG_KEY);
	if (conv->cross == NULL &&
		conv->key->sk_strategy == BTEqualStrategyNumber &&
		(conv->type->kind == FPT_IMG_S32 || conv->type->kind == FPT_IMG_S64))
	{
		/* every value has an image of its own */
		fpt_image_encode(conv->type, value, lo);
		*hi = *lo;
	}
	else if (!matching_images(conv, value, lo, hi))
		return false;
	Assert(fpt_img_cmp(*lo, *hi) <= 0);
	if (conv->descending)
	{
		fpt_image_invert(conv->type, lo);
		fpt_image_invert(conv->type, hi);
		tmp = *lo;
		*lo = *hi;
		*hi = tmp;
	}
	return true;
}

/*
 * Comparison function of the type of the i'th column with another one of its
 * family, looked up once for each type, and good as long as the scan.  Reads
 * catalogues; raises an error if there is none, or one of other arguments:
 * fpt_image_cut() passes it Datums of these types.  Allocates in args->cxt.
 */
static FPTCross *
cross_function(FPTArguments *args, int i, Oid subtype)
{
	Relation	rel = args->rel;
	Oid			opcintype = rel->rd_opcintype[i];
	RegProcedure proc;
	Oid		   *argtypes;
	int			nargs;
	FPTCross   *c;

	for (c = args->cross; c != NULL; c = c->next)
	{
		if (c->subtype == subtype && c->i == i)
			return c;
	}
	proc = get_opfamily_proc(rel->rd_opfamily[i], opcintype, subtype,
							 FPT_ORDER_PROC);
	if (!RegProcedureIsValid(proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("operator family of index \"%s\" has no comparison function for types %s and %s",
						RelationGetRelationName(rel),
						format_type_be(opcintype), format_type_be(subtype)),
				 errhint("Add it with ALTER OPERATOR FAMILY, and check the operator class with amvalidate().")));

	(void) get_func_signature(proc, &argtypes, &nargs);
	if (nargs != 2 || get_func_rettype(proc) != INT4OID ||
		!IsBinaryCoercible(opcintype, argtypes[0]) ||
		!IsBinaryCoercible(subtype, argtypes[1]))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("comparison function of index \"%s\" for types %s and %s has a wrong signature",
						RelationGetRelationName(rel),
						format_type_be(opcintype), format_type_be(subtype)),
				 errhint("Check the operator class with amvalidate().")));
	pfree(argtypes);

	c = MemoryContextAllocZero(args->cxt, sizeof(FPTCross));
	fmgr_info_cxt(proc, &c->cmp, args->cxt);
	c->i = i;
	c->subtype = subtype;
	c->next = args->cross;
	args->cross = c;
	return c;
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
fpt_converter_init(FPTConverter *conv, FPTArguments *args, int i, ScanKey key)
{
	Relation	rel = args->rel;

	conv->rel = rel;
	conv->i = i;
	conv->key = key;
	conv->type = args->type;
	conv->descending = (rel->rd_indoption[i] & INDOPTION_DESC) != 0;
	conv->cross = NULL;
	conv->fuzzy = false;
	conv->buf = NULL;
	conv->how = FPT_ARG_KEY;
	if (conv->type == NULL)
	{
		conv->how = FPT_ARG_SAME;
		if (fpt_argument_is_same(rel, i, key))
			return;
		conv->how = FPT_ARG_IMAGE;
		conv->type = fpt_keytype_for(index_getprocid(rel, i + 1,
													 FPT_ORDER_PROC),
									 rel->rd_opcintype[i]);
		conv->buf = palloc(2 * sizeof(FPTConverted));
	}
	if (conv->type != NULL)
	{
		if (OidIsValid(key->sk_subtype) &&
			key->sk_subtype != rel->rd_opcintype[i])
			conv->cross = cross_function(args, i, key->sk_subtype);
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
	FPTBound	b = {.incl = true};
	FPTImage	lo;
	FPTImage	hi;
	text	   *t;

	switch (conv->how)
	{
		case FPT_ARG_SAME:
			break;
		case FPT_ARG_KEY:
			if (!fpt_argument_images(conv, value, &lo, &hi))
				return 0;
			iv->lo = iv->hi = b;
			iv->lo.image = lo;
			iv->hi.image = hi;
			return 1;
		case FPT_ARG_IMAGE:
			return matching_images(conv, value, &lo, &hi) &&
				decoded_interval(conv, lo, hi, iv) ? 1 : 0;
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

void
fpt_elements_begin(FPTElements *e, Datum arg)
{
	e->array = DatumGetArrayTypeP(arg);
	e->ours = ((Pointer) e->array != DatumGetPointer(arg));
	e->n = ArrayGetNItems(ARR_NDIM(e->array), ARR_DIMS(e->array));
	e->i = 0;
	e->next = ARR_DATA_PTR(e->array);
	e->nulls = (uint8 *) ARR_NULLBITMAP(e->array);
	get_typlenbyvalalign(ARR_ELEMTYPE(e->array), &e->typlen, &e->typbyval,
						 &e->typalign);
}
