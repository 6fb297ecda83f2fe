/*-------------------------------------------------------------------------
 *
 * fpt_testing.c
 *	  Functions for the regression tests.
 *
 * The extension does not declare them: the tests do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#include "fptree.h"
#include "fpt_head.h"

PG_FUNCTION_INFO_V1(fptree_test_head);

/* What a head restores must be what it was made from, byte by byte. */
static void
check_restored(const FPTHeadDesc *hd, int i, uint64 head, Datum value,
			   Oid typid)
{
	union
	{
		char		buf[FPT_DECODE_BYTES];
		int64		align_int64;
	}			u;
	int16		typlen;
	bool		typbyval;
	Datum		restored;

	if (!fpt_head_restores(hd, i, head))
		return;
	restored = fpt_head_value(hd, i, head, u.buf);
	get_typlenbyval(typid, &typlen, &typbyval);
	if (typlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM(value));
	if (!datumIsEqual(value, restored, typbyval, typlen))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("column %d is not what its head restores",
								 i + 1)));
}

/*
 * fptree_test_head(opclasses oid[], collations oid[], options int[], VARIADIC
 * "any") returns text: the head of a key as 16 hexadecimal digits, the number
 * of columns that it decides.
 */
Datum
fptree_test_head(PG_FUNCTION_ARGS)
{
	ArrayType  *opclasses = PG_GETARG_ARRAYTYPE_P(0);
	ArrayType  *collations = PG_GETARG_ARRAYTYPE_P(1);
	ArrayType  *options = PG_GETARG_ARRAYTYPE_P(2);
	int			n = PG_NARGS() - 3;
	FPTHeadDesc hd;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	bool		anynull = false;
	uint64		head;

	if (n < 1 || n > INDEX_MAX_KEYS ||
		ArrayGetNItems(ARR_NDIM(opclasses), ARR_DIMS(opclasses)) < n ||
		ArrayGetNItems(ARR_NDIM(collations), ARR_DIMS(collations)) < n ||
		ArrayGetNItems(ARR_NDIM(options), ARR_DIMS(options)) < n ||
		ARR_ELEMTYPE(opclasses) != OIDOID ||
		ARR_ELEMTYPE(collations) != OIDOID ||
		ARR_ELEMTYPE(options) != INT4OID ||
		array_contains_nulls(opclasses) || array_contains_nulls(collations) ||
		array_contains_nulls(options) || PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg_internal("wrong arguments")));

	hd.nparts = 0;
	for (int i = 0; i < n; i++)
	{
		Oid			opclass = ((Oid *) ARR_DATA_PTR(opclasses))[i];
		Oid			type = get_opclass_input_type(opclass);
		Oid			cmp = get_opfamily_proc(get_opclass_family(opclass), type,
											type, FPT_ORDER_PROC);

		isnull[i] = PG_ARGISNULL(3 + i);
		values[i] = isnull[i] ? (Datum) 0 : PG_GETARG_DATUM(3 + i);
		anynull |= isnull[i];
		if (i == hd.nparts)
			fpt_head_add(&hd, cmp, type,
						 ((Oid *) ARR_DATA_PTR(collations))[i],
						 (int16) ((int32 *) ARR_DATA_PTR(options))[i]);
	}
	head = fpt_head_form(&hd, values, isnull);
	for (int i = 0; i < hd.nparts && !anynull; i++)
		check_restored(&hd, i, head, values[i],
					   get_fn_expr_argtype(fcinfo->flinfo, 3 + i));
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%016llX %d",
											  (unsigned long long) head,
											  fpt_head_decided(&hd, head))));
}
