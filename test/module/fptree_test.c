/*-------------------------------------------------------------------------
 *
 * fptree_test.c
 *	  Functions for the regression tests.
 *
 * They are in a library of their own, which is built for tests, never installed,
 * and has copies of the layer of keys and of store/place.c: the library that is
 * shipped has nothing that only tests use.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "key/compare.h"
#include "key/general.h"
#include "key/head.h"
#include "key/procs.h"
#include "key/tid.h"
#include "store/map.h"
#include "store/place.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(fptree_test_head);
PG_FUNCTION_INFO_V1(fptree_test_head_cut);
PG_FUNCTION_INFO_V1(fptree_test_general);
PG_FUNCTION_INFO_V1(fptree_test_compare);
PG_FUNCTION_INFO_V1(fptree_test_compares);
PG_FUNCTION_INFO_V1(fptree_test_compare_text);
PG_FUNCTION_INFO_V1(fptree_test_open_files);
PG_FUNCTION_INFO_V1(fptree_test_exist);
PG_FUNCTION_INFO_V1(fptree_test_usage);

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
	Datum		values[INDEX_MAX_KEYS] = {0};
	bool		isnull[INDEX_MAX_KEYS] = {0};
	bool		anynull = false;
	uint64		head;
	uint64		upper;

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
	fpt_head_prefix(&hd, values, isnull, hd.nparts, NULL, &head, &upper);
	for (int i = 0; i < hd.nparts && !anynull; i++)
		check_restored(&hd, i, head, values[i],
					   get_fn_expr_argtype(fcinfo->flinfo, 3 + i));
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%016llX %d",
											  (unsigned long long) head,
											  fpt_head_decided(&hd, head))));
}

/*
 * fptree_test_head_cut(opclass oid, len int, value "any") returns text: the head
 * of the value's first len bytes, its length of 4 among them, as a damaged page
 * may have them; NULL if it has not as many.  It must not depend on what is
 * behind these.
 */
Datum
fptree_test_head_cut(PG_FUNCTION_ARGS)
{
	Oid			opclass = PG_GETARG_OID(0);
	int			len = PG_GETARG_INT32(1);
	struct varlena *whole = PG_GETARG_VARLENA_P(2);
	Oid			type = get_opclass_input_type(opclass);
	Oid			cmp = get_opfamily_proc(get_opclass_family(opclass), type,
										type, FPT_ORDER_PROC);
	bool		isnull = false;
	uint64		head[2];
	uint64		upper;
	FPTHeadDesc hd;

	if (len < VARHDRSZ || len > (int) VARSIZE(whole))
		PG_RETURN_NULL();
	hd.nparts = 0;
	fpt_head_add(&hd, cmp, type, InvalidOid, 0);
	for (int i = 0; i < 2; i++)
	{
		char	   *cut = palloc(VARSIZE(whole));
		Datum		value = PointerGetDatum(cut);

		memset(cut, i == 0 ? 0x01 : 0xFE, VARSIZE(whole));
		memcpy(cut, whole, len);
		SET_VARSIZE(cut, len);
		fpt_head_prefix(&hd, &value, &isnull, 1, NULL, &head[i], &upper);
	}
	if (head[0] != head[1])
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("the head of %d bytes is of more", len)));
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%016llX",
											  (unsigned long long) head[0])));
}

/* --- general keys --------------------------------------------------------- */

/* A row, and the key made of it. */
typedef struct TestRow
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	FPTKeyBuf	buf;
} TestRow;

typedef struct TestIndex
{
	Relation	rel;
	int			nkeys;
	int			natts;
	FPTGeneral *g;
	int64		rows;
	int64		bytes;			/* of all tuples */
	int64		seps;			/* of all separators' tuples */
} TestIndex;

/* What must be true, and what is wrong if it is not. */
static void
test_that(TestIndex *t, bool ok, const char *wrong)
{
	if (ok)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg_internal("index %s, row %lld: %s",
							 RelationGetRelationName(t->rel),
							 (long long) t->rows, wrong)));
}

/* The order of two keys as the tree sees it. */
static int
total_order(TestIndex *t, const FPTKey *a, const FPTKey *b)
{
	int			c;

	if (a->cls != b->cls)
		return a->cls < b->cls ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	c = fpt_general_compare(t->g, a, b);
	if (c != 0)
		return c;
	return a->tid < b->tid ? -1 : a->tid > b->tid ? 1 : 0;
}

/* The first column in which two rows differ; by the operator classes only. */
static int
first_difference(TestIndex *t, TestRow *a, TestRow *b)
{
	for (int i = 0; i < t->nkeys; i++)
	{
		FmgrInfo   *cmp = index_getprocinfo(t->rel, i + 1, FPT_ORDER_PROC);

		if (a->isnull[i] != b->isnull[i])
			return i;
		if (!a->isnull[i] &&
			DatumGetInt32(FunctionCall2Coll(cmp, t->rel->rd_indcollation[i],
											a->values[i],
											b->values[i])) != 0)
			return i;
	}
	return t->nkeys;
}

/* A key comes apart into what it was made from. */
static void
check_deform(TestIndex *t, TestRow *row)
{
	TupleDesc	desc = RelationGetDescr(t->rel);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	test_that(t, fpt_general_valid(t->g, &row->buf.key),
			  "the tuple is not valid");
	test_that(t, fpt_general_deform(t->g, &row->buf.key, values,
									isnull) == t->natts,
			  "columns are missing");
	for (int i = 0; i < t->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		test_that(t, isnull[i] == row->isnull[i], "a column's NULL is wrong");
		if (isnull[i])
			continue;
		/* a name, which btree stores as cstring, or anything else */
		if (att->attlen == -2)
			test_that(t, strcmp(DatumGetCString(values[i]),
								DatumGetCString(row->values[i])) == 0,
					  "a name is not the same");
		else
			test_that(t, datum_image_eq(values[i], row->values[i],
										att->attbyval, att->attlen),
					  "a column's value is not the same");
	}
}

/*
 * Bounds made of the first columns of a and b, of which the first n are the
 * same.
 */
static void
check_bounds(TestIndex *t, TestRow *a, TestRow *b, int n)
{
	FPTGeneralSearch s = {0};
	FPTKey		key;

	s.values = a->values;
	s.isnull = a->isnull;
	s.after = true;
	for (s.natts = 1; s.natts <= t->nkeys; s.natts++)
	{
		fpt_general_search_key(t->g, &s, &key);
		test_that(t, (total_order(t, &key, &b->buf.key) > 0) == (n >= s.natts),
				  "an upper bound is on the wrong side");
	}
	s.values = b->values;
	s.isnull = b->isnull;
	for (s.natts = 0; s.natts <= t->nkeys; s.natts++)
	{
		if (s.natts == 0 && a->isnull[0] != b->isnull[0])
			continue;
		s.after = false;
		fpt_general_search_key(t->g, &s, &key);
		if (s.natts == 0)
			key.cls = b->buf.key.cls;
		test_that(t, total_order(t, &key, &b->buf.key) < 0 &&
				  total_order(t, &b->buf.key, &key) > 0,
				  "a lower bound is not below its key");
		test_that(t, (total_order(t, &key, &a->buf.key) < 0) == (n >= s.natts),
				  "a lower bound is on the wrong side");
		s.after = true;
		fpt_general_search_key(t->g, &s, &key);
		if (s.natts == 0)
			key.cls = b->buf.key.cls;
		test_that(t, total_order(t, &key, &b->buf.key) > 0 &&
				  total_order(t, &b->buf.key, &key) < 0 &&
				  total_order(t, &key, &a->buf.key) > 0,
				  "an upper bound is not above its key");
	}
}

/* Two rows that follow each other in the order of the index. */
static void
check_pair(TestIndex *t, TestRow *a, TestRow *b)
{
	int			n = first_difference(t, a, b);
	FPTKeyBuf	sep;

	test_that(t, total_order(t, &a->buf.key, &b->buf.key) < 0 &&
			  total_order(t, &b->buf.key, &a->buf.key) > 0,
			  "the order is wrong");
	if (a->buf.key.cls == b->buf.key.cls && a->buf.key.lo == b->buf.key.lo)
		test_that(t, (fpt_general_compare(t->g, &a->buf.key,
										  &b->buf.key) == 0) ==
				  (n == t->nkeys), "the comparison is wrong");

	fpt_general_separate(t->g, &a->buf.key, &b->buf.key, &sep);
	test_that(t, fpt_general_valid(t->g, &sep.key),
			  "the separator is not valid");
	test_that(t, total_order(t, &a->buf.key, &sep.key) < 0 &&
			  total_order(t, &sep.key, &b->buf.key) <= 0 &&
			  total_order(t, &b->buf.key, &sep.key) >= 0,
			  "the separator does not separate");
	test_that(t, sep.key.tid == (n == t->nkeys ? b->buf.key.tid : 0),
			  "the separator has the wrong TID");
	t->seps += sep.key.len;
	check_bounds(t, a, b, n);
}

/*
 * fptree_test_general(btree index) returns text: makes general keys of the rows
 * of a table in the order of a btree index on it, and checks that they have
 * that order, and all else that the tree expects.
 */
Datum
fptree_test_general(PG_FUNCTION_ARGS)
{
	Oid			indexoid = PG_GETARG_OID(0);
	Relation	heap;
	TestIndex	t;
	IndexInfo  *info;
	SysScanDesc scan;
	HeapTuple	tuple;
	TupleTableSlot *slot;
	EState	   *estate = CreateExecutorState();
	TestRow    *rows[2];
	int			cur = 0;

	heap = table_open(IndexGetRelation(indexoid, false), AccessShareLock);
	memset(&t, 0, sizeof(t));
	t.rel = index_open(indexoid, AccessShareLock);
	test_that(&t, t.rel->rd_rel->relam == BTREE_AM_OID, "not a btree index");
	t.nkeys = IndexRelationGetNumberOfKeyAttributes(t.rel);
	t.natts = RelationGetNumberOfAttributes(t.rel);
	t.g = palloc(fpt_general_size(t.rel));
	fpt_general_init(t.rel, t.g);
	info = BuildIndexInfo(t.rel);
	slot = MakeSingleTupleTableSlot(RelationGetDescr(heap), &TTSOpsHeapTuple);
	GetPerTupleExprContext(estate)->ecxt_scantuple = slot;
	rows[0] = palloc(sizeof(TestRow));
	rows[1] = palloc(sizeof(TestRow));

	/* as catalogues are scanned: the functions are the same in all versions */
	scan = systable_beginscan_ordered(heap, t.rel, GetActiveSnapshot(), 0,
									  NULL);
	while ((tuple = systable_getnext_ordered(scan, ForwardScanDirection)) != NULL)
	{
		TestRow    *row = rows[cur];

		ExecStoreHeapTuple(tuple, slot, false);

		/* the values point into the row, which stays in memory */
		FormIndexDatum(info, slot, estate, row->values, row->isnull);
		for (int i = 0; i < t.natts; i++)
		{
			Form_pg_attribute att = TupleDescAttr(RelationGetDescr(t.rel), i);

			if (!row->isnull[i])
				row->values[i] = datumCopy(row->values[i], att->attbyval,
										   att->attlen);
		}
		fpt_general_form(t.g, t.rel, row->values, row->isnull,
						 fpt_tid_encode(&tuple->t_self), &row->buf);
		check_deform(&t, row);
		if (t.rows++ > 0)
			check_pair(&t, rows[1 - cur], row);
		t.bytes += row->buf.key.len;
		cur = 1 - cur;
	}
	systable_endscan_ordered(scan);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);
	index_close(t.rel, AccessShareLock);
	table_close(heap, AccessShareLock);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%lld rows, tuples of %lld bytes, separators of %lld",
											  (long long) t.rows,
											  (long long) (t.bytes / Max(t.rows, 1)),
											  (long long) (t.seps / Max(t.rows, 1)))));
}

static int64 ncompares = 0;
static int64 cancel_at = 0;

/*
 * A comparison function for int4 that counts its calls.  At one of them, if that
 * is wanted, the user cancels the statement.
 */
Datum
fptree_test_compare(PG_FUNCTION_ARGS)
{
	int32		a = PG_GETARG_INT32(0);
	int32		b = PG_GETARG_INT32(1);

	if (++ncompares == cancel_at)
	{
		QueryCancelPending = true;
		InterruptPending = true;
	}
	PG_RETURN_INT32(a < b ? -1 : a > b);
}

/* A comparison function for int4 and text, which leaves memory behind. */
Datum
fptree_test_compare_text(PG_FUNCTION_ARGS)
{
	int32		a = PG_GETARG_INT32(0);
	int32		b = pg_strtoint32(text_to_cstring(PG_GETARG_TEXT_PP(1)));

	PG_RETURN_INT32(a < b ? -1 : a > b);
}

/* Calls since the last call of this function, which says where to cancel now. */
Datum
fptree_test_compares(PG_FUNCTION_ARGS)
{
	int64		n = ncompares;

	ncompares = 0;
	cancel_at = PG_GETARG_INT64(0);
	PG_RETURN_INT64(n);
}

/*
 * fptree_test_open_files() returns int: opens as many files as the server lets
 * a session have open besides those of relations, to the end of the
 * transaction, and says how many.
 */
Datum
fptree_test_open_files(PG_FUNCTION_ARGS)
{
	MemoryContext cxt = CurrentMemoryContext;
	volatile int n = 0;

	PG_TRY();
	{
		while (OpenTransientFile("/dev/null", O_RDONLY) >= 0)
			n++;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		FlushErrorState();
	}
	PG_END_TRY();
	PG_RETURN_INT32(n);
}

/*
 * fptree_test_exist(stripes oid[], known bool, VARIADIC pages int8[]) returns
 * text: which of the pages exist (t, f), and at how many stripes was looked for
 * that, by way of a map that knows nothing, or of each stripe but its last
 * block; "all" if it knows all pages then.
 */
Datum
fptree_test_exist(PG_FUNCTION_ARGS)
{
	ArrayType  *oids = PG_GETARG_ARRAYTYPE_P(0);
	ArrayType  *pages = PG_GETARG_ARRAYTYPE_P(2);
	int			n = ArrayGetNItems(ARR_NDIM(oids), ARR_DIMS(oids));
	int			npages = ArrayGetNItems(ARR_NDIM(pages), ARR_DIMS(pages));
	FPTStripes *st = palloc0(fpt_stripes_size(n));
	FPTPageMap	map = {0, st};
	uint32		known[FPT_MAX_STRIPES];
	char	   *result = palloc0(npages + 1);
	int			looks = 0;
	uint32		all;

	st->n = n;
	for (int k = 0; k < n; k++)
	{
		Relation	rel = relation_open(((Oid *) ARR_DATA_PTR(oids))[k],
										AccessShareLock);

		fpt_stripe_place(&st->at[k], rel);
		relation_close(rel, AccessShareLock);
	}
	if (PG_GETARG_BOOL(1))
	{
		(void) fpt_npages(NULL, &map);
		map.npages -= n;
		for (int k = 0; k < n; k++)
			st->at[k].nblocks--;
	}
	for (int k = 0; k < n; k++)
		known[k] = st->at[k].nblocks;
	for (int i = 0; i < npages; i++)
		result[i] = fpt_page_exists(NULL, &map,
									((int64 *) ARR_DATA_PTR(pages))[i]) ?
			't' : 'f';
	for (int k = 0; k < n; k++)
		looks += st->at[k].nblocks != known[k];
	all = map.npages;
	(void) fpt_npages(NULL, &map);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s %d%s", result, looks,
											  all == map.npages ? " all" :
											  "")));
}

/*
 * fptree_test_usage(relation regclass, block int8) returns int: how often the
 * buffer of the block has been used, as the clock sweep knows it; -1 if the block
 * is in none.  Does not pin it.
 */
Datum
fptree_test_usage(PG_FUNCTION_ARGS)
{
	Relation	rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buf = fpt_block_buffer(rel, (BlockNumber) PG_GETARG_INT64(1));
	int			usage = -1;

	if (BufferIsValid(buf))
		usage = BUF_STATE_GET_USAGECOUNT(
			GetBufferDescriptor(buf - 1)->state.value);
	relation_close(rel, AccessShareLock);
	PG_RETURN_INT32(usage);
}
