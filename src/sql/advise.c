/*-------------------------------------------------------------------------
 *
 * sql/advise.c
 *	  fptree_advise(): what indexes would take as fptree indexes, and how they
 *	  are replaced.  fptree_stat_approx(): what one would take if it were built
 *	  again.
 *
 * Both read a sample of the indexes (sql/estimate.h), one after the other, with
 * AccessShareLock on an index and its table while it is read, and no longer.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "server/compat.h"
#include "sql/estimate.h"
#include "sql/relcheck.h"
#include "sql/replace.h"
#include "store/place.h"
#include "store/stripe.h"

PG_FUNCTION_INFO_V1(fptree_advise);
PG_FUNCTION_INFO_V1(fptree_stat_approx);

/* Columns of the results, as the install script declares them */
#define FPT_ADVISE_COLS		10
#define FPT_APPROX_COLS		9

/* A row of fptree_advise(); -1, or NULL: not known. */
typedef struct FPTAdvice
{
	Oid			index;
	Oid			table;
	Oid			am;
	int64		size;
	int64		fresh_size;
	int64		fptree_size;
	bool		replaceable;
	char	   *reason;
	List	   *statements;
} FPTAdvice;

/* --- privileges ---------------------------------------------------------- */

/*
 * May the user read this table's indexes to count their entries?  As of
 * pgstattuple's functions: the owner, and roles that may read statistics.
 * Reads catalogues.
 */
static bool
fpt_may_sample(Oid table)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES) ||
		has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
		fpt_owns(table);
}

static void
fpt_require_may_sample(Relation index)
{
	if (!fpt_may_sample(index->rd_index->indrelid))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for index \"%s\"",
						RelationGetRelationName(index)),
				 errhint("The owner of the table may read it, and members of pg_stat_scan_tables or pg_read_all_stats.")));
}

/* --- which indexes ------------------------------------------------------- */

/* Is this an index of btree's or ours, partitioned or not? */
static bool
fpt_is_advisable(Relation rel)
{
	return (rel->rd_rel->relkind == RELKIND_INDEX ||
			rel->rd_rel->relkind == RELKIND_PARTITIONED_INDEX) &&
		(rel->rd_rel->relam == BTREE_AM_OID ||
		 rel->rd_rel->relam == get_index_am_oid("fptree", true));
}

/*
 * Is this a schema of TOAST tables?  Of those of temporary tables the server
 * knows only this session's.
 */
static bool
fpt_is_toast_schema(Oid schema)
{
	char	   *name;

	if (IsToastNamespace(schema))
		return true;
	if (!isOtherTempNamespace(schema))
		return false;
	name = get_namespace_name(schema);
	return name != NULL && strncmp(name, "pg_toast", strlen("pg_toast")) == 0;
}

/*
 * The indexes of the database but those of the system, of either access method.
 * Reads pg_class; locks no index.
 */
static List *
fpt_all_indexes(void)
{
	Relation	classes = table_open(RelationRelationId, AccessShareLock);
	Oid			fptree = get_index_am_oid("fptree", true);
	SysScanDesc scan = systable_beginscan(classes, InvalidOid, false, NULL, 0,
										  NULL);
	List	   *list = NIL;
	HeapTuple	tup;

	while (HeapTupleIsValid(tup = systable_getnext(scan)))
	{
		Form_pg_class c = (Form_pg_class) GETSTRUCT(tup);

		if ((c->relkind == RELKIND_INDEX ||
			 c->relkind == RELKIND_PARTITIONED_INDEX) &&
			(c->relam == BTREE_AM_OID || c->relam == fptree) &&
			!IsCatalogNamespace(c->relnamespace) &&
			!fpt_is_toast_schema(c->relnamespace) &&
			c->oid >= FirstNormalObjectId)
			list = lappend_oid(list, c->oid);
	}
	systable_endscan(scan);
	table_close(classes, AccessShareLock);
	return list;
}

/*
 * The indexes that the user has named: one, or all of a table, of either access
 * method.  Raises an error if it is neither.
 */
static List *
fpt_named_indexes(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	List	   *list = NIL;

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (fpt_is_advisable(rel))
		list = list_make1_oid(relid);
	else if (rel->rd_rel->relkind == RELKIND_RELATION ||
			 rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
			 rel->rd_rel->relkind == RELKIND_MATVIEW)
	{
		ListCell   *lc;

		foreach(lc, RelationGetIndexList(rel))
		{
			Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

			if (fpt_is_advisable(index))
				list = lappend_oid(list, lfirst_oid(lc));
			index_close(index, AccessShareLock);
		}
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is neither a table nor an index of access method btree or fptree",
						RelationGetRelationName(rel))));
	relation_close(rel, AccessShareLock);
	return list;
}

/* --- one index ----------------------------------------------------------- */

/* Has it pages that may be read, by this session? */
static bool
fpt_can_sample(Relation index)
{
	return index->rd_index->indisvalid && !RELATION_IS_OTHER_TEMP(index) &&
		fpt_has_contents(index);
}

/*
 * Bytes of an index's pages, in all of its files, without a look into them.  A
 * stripe that is missing counts nothing.  The index is locked, which keeps its
 * stripes (S3).  Reads catalogues; raises an error if a file cannot be looked
 * at.
 */
static int64
fpt_files_size(Relation index)
{
	Oid			oids[FPT_MAX_STRIPES];
	int			n = 0;
	int64		blocks = fpt_other_blocks(index);

	if (fpt_is_fptree(index))
		n = fpt_metapage_stripes(index, oids);
	for (int k = 0; k < n; k++)
	{
		Relation	rel = RelationIdGetRelation(oids[k]);

		if (rel == NULL)
			continue;
		if (fpt_has_storage(rel))
			blocks += fpt_other_blocks(rel);
		RelationClose(rel);
	}
	return blocks * BLCKSZ;
}

/*
 * Estimate an index that is locked, and add the sizes to the advice.  May be
 * cancelled, and raise, as fpt_estimate().
 */
static void
fpt_advise_sizes(Relation index, const FPTReplacement *r, int most,
				 FPTAdvice *a)
{
	FPTEstimate e;
	Relation	as = index;

	if (!fpt_can_sample(index))
		return;
	if (!fpt_is_fptree(index))
		as = r->has_opclasses ?
			fpt_fptree_like(index, r->opclasses, r->fillfactor) : NULL;
	fpt_estimate(index, as, most, &e);
	a->size = Max(a->size, 0) + e.size;
	a->fresh_size = Max(a->fresh_size, 0) + e.fresh_size;
	if (as != NULL)
		a->fptree_size = Max(a->fptree_size, 0) + e.fptree_size;
}

/*
 * Lock a table and an index of it, without waiting if "wait" is not set.
 * Returns false, with neither, if somebody has one of them locked.
 */
static bool
fpt_lock_both(Oid table, Oid indexid, bool wait)
{
	if (wait)
	{
		LockRelationOid(table, AccessShareLock);
		LockRelationOid(indexid, AccessShareLock);
		return true;
	}
	if (!ConditionalLockRelationOid(table, AccessShareLock))
		return false;
	if (ConditionalLockRelationOid(indexid, AccessShareLock))
		return true;
	UnlockRelationOid(table, AccessShareLock);
	return false;
}

/*
 * The indexes of a partitioned index's tree, itself included, which stay locked
 * with their tables until the end of the transaction; without those that were
 * dropped meanwhile, as they can be below a partition that is not locked yet.
 * Raises an error if one is locked by somebody else, and "wait" is not set.
 */
static List *
fpt_lock_partitions(Relation index, bool wait)
{
	List	   *tree = find_all_inheritors(RelationGetRelid(index), NoLock,
										   NULL);
	List	   *locked = NIL;
	ListCell   *lc;

	foreach(lc, tree)
	{
		Oid			part = lfirst_oid(lc);
		Oid			table = IndexGetRelation(part, true);

		if (!OidIsValid(table))
			continue;
		if (!fpt_lock_both(table, part, wait))
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("partition \"%s\" is locked by another session",
							get_rel_name(part))));
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(part)))
			locked = lappend_oid(locked, part);
	}
	list_free(tree);
	return locked;
}

/*
 * The sum of the partitions' sizes, for a partitioned index, and what stands
 * against dropping them.
 */
static void
fpt_advise_partitions(Relation index, FPTReplacement *r, bool wait, int most,
					  FPTAdvice *a)
{
	bool		judge = r->reasons == NULL;
	ListCell   *lc;

	foreach(lc, fpt_lock_partitions(index, wait))
	{
		Relation	part = index_open(lfirst_oid(lc), NoLock);
		FPTReplacement own = *r;

		if (judge && RelationGetRelid(part) != RelationGetRelid(index))
			fpt_replace_judge_part(part, r);
		if (part->rd_rel->relkind == RELKIND_INDEX)
		{
			fpt_replace_judge(part, &own);
			fpt_advise_sizes(part, &own, most, a);
		}
		index_close(part, NoLock);
	}
}

/*
 * Fill in the advice about an index, locked as its table is; all of it in the
 * current context.  May be cancelled, and raise an error about a damaged page.
 */
static void
fpt_advise_index(Relation index, bool wait, int most, FPTAdvice *a)
{
	FPTReplacement r;

	a->table = index->rd_index->indrelid;
	a->am = index->rd_rel->relam;
	a->size = a->fresh_size = a->fptree_size = -1;
	fpt_replace_judge(index, &r);
	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		fpt_advise_partitions(index, &r, wait, most, a);
	else
		fpt_advise_sizes(index, &r, most, a);
	a->replaceable = r.reasons == NULL && r.has_opclasses;
	a->reason = r.reasons;
	if (a->replaceable)
		a->statements = fpt_replace_statements(index, &r);
}

/*
 * Lock table and index, without waiting if "wait" is not set.  NULL: there is
 * no such index, or *busy: somebody has it locked.
 */
static Relation
fpt_advise_lock(Oid indexid, bool wait, bool *busy)
{
	Oid			table = IndexGetRelation(indexid, true);
	Relation	index;

	*busy = false;
	if (!OidIsValid(table))
		return NULL;
	if (!fpt_lock_both(table, indexid, wait))
	{
		*busy = true;
		return NULL;
	}
	index = try_relation_open(indexid, NoLock);
	if (index != NULL && fpt_is_advisable(index))
		return index;
	if (index != NULL)
		relation_close(index, NoLock);
	UnlockRelationOid(indexid, AccessShareLock);
	UnlockRelationOid(table, AccessShareLock);
	return NULL;
}

/*
 * Advice about an index; false if it does not exist any more.  "named": the
 * user has named it, so that locks are waited for, and privileges and a damaged
 * page are errors.
 */
static bool
fpt_advise_one(Oid indexid, bool named, int most, FPTAdvice *a)
{
	bool		busy;
	Relation	index;
	Oid			table;

	memset(a, 0, sizeof(*a));
	a->index = indexid;
	a->size = a->fresh_size = a->fptree_size = -1;
	index = fpt_advise_lock(indexid, named, &busy);
	if (index == NULL)
	{
		a->reason = "it is locked by another session";
		return busy;
	}
	table = index->rd_index->indrelid;
	if (named)
		fpt_require_may_sample(index);
	if (fpt_may_sample(table))
		fpt_advise_index(index, named, most, a);
	else
	{
		a->table = table;
		a->am = index->rd_rel->relam;
		a->reason = "permission denied";
	}
	if (a->size < 0 && index->rd_rel->relkind == RELKIND_INDEX &&
		!RELATION_IS_OTHER_TEMP(index) && fpt_has_contents(index))
		a->size = fpt_files_size(index);
	index_close(index, AccessShareLock);
	UnlockRelationOid(table, AccessShareLock);
	return true;
}

/*
 * The same of one among many: an error that is about this index is its reason.
 * In a subtransaction, which releases what the error has left.
 */
static bool
fpt_advise_safely(Oid indexid, int most, FPTAdvice *a)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool found = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		found = fpt_advise_one(indexid, false, most, a);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *e;

		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		if (e->sqlerrcode == ERRCODE_QUERY_CANCELED ||
			ERRCODE_TO_CATEGORY(e->sqlerrcode) ==
			ERRCODE_OPERATOR_INTERVENTION ||
			ERRCODE_TO_CATEGORY(e->sqlerrcode) ==
			ERRCODE_INSUFFICIENT_RESOURCES)
			PG_RE_THROW();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		a->replaceable = false;
		a->statements = NIL;
		a->size = a->fresh_size = a->fptree_size = -1;
		a->reason = psprintf("it cannot be read: %s", e->message);
		found = true;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	return found;
}

/* --- rows ---------------------------------------------------------------- */

/* Set a column that is NULL if the size is not known. */
static void
fpt_set_size(Datum *values, bool *nulls, int i, int64 size)
{
	nulls[i] = size < 0;
	values[i] = Int64GetDatum(size);
}

/* C strings as a text[]. */
static Datum
fpt_text_array(List *list)
{
	Datum	   *elems = palloc(sizeof(Datum) * list_length(list));
	ListCell   *lc;

	foreach(lc, list)
		elems[foreach_current_index(lc)] =
			CStringGetTextDatum((char *) lfirst(lc));
	return PointerGetDatum(construct_array(elems, list_length(list), TEXTOID,
										   -1, false, TYPALIGN_INT));
}

/* One row of fptree_advise(). */
static void
fpt_advise_row(ReturnSetInfo *rsinfo, const FPTAdvice *a)
{
	Datum		values[FPT_ADVISE_COLS] = {0};
	bool		nulls[FPT_ADVISE_COLS] = {false};
	NameData	am;
	char	   *amname = OidIsValid(a->am) ? get_am_name(a->am) : NULL;

	values[0] = ObjectIdGetDatum(a->index);
	values[1] = ObjectIdGetDatum(a->table);
	nulls[1] = !OidIsValid(a->table);
	nulls[2] = amname == NULL;
	if (amname != NULL)
	{
		namestrcpy(&am, amname);
		values[2] = NameGetDatum(&am);
	}
	fpt_set_size(values, nulls, 3, a->size);
	fpt_set_size(values, nulls, 4, a->fresh_size);
	fpt_set_size(values, nulls, 5, a->fptree_size);
	nulls[6] = a->size <= 0 || a->fptree_size < 0;
	if (!nulls[6])
		values[6] = Float8GetDatum(rint(1000.0 * a->fptree_size / a->size) /
								   1000.0);
	values[7] = BoolGetDatum(a->replaceable);
	nulls[8] = a->reason == NULL;
	if (a->reason != NULL)
		values[8] = CStringGetTextDatum(a->reason);
	nulls[9] = a->statements == NIL;
	if (a->statements != NIL)
		values[9] = fpt_text_array(a->statements);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* Raise an error if the function is declared with other columns. */
static void
fpt_require_columns(TupleDesc desc, int n)
{
	if (desc->natts != n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("function has wrong number of declared columns"),
				 errhint("Update the \"fptree\" extension with ALTER EXTENSION fptree UPDATE.")));
}

/* How many pages of a level to read; raises an error if out of range. */
static int
fpt_sample_pages(int32 arg)
{
	if (arg < FPT_SAMPLE_MIN || arg > FPT_SAMPLE_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sample_pages must be from %d to %d, not %d",
						FPT_SAMPLE_MIN, FPT_SAMPLE_MAX, arg)));
	return arg;
}

/*
 * fptree_advise(relation regclass DEFAULT NULL, sample_pages int DEFAULT 1280)
 *
 * A row for an index, for each index of a table, or for each of the database.
 */
Datum
fptree_advise(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree advice",
											  ALLOCSET_DEFAULT_SIZES);
	List	   *indexes;
	ListCell   *lc;
	bool		named;
	int			most;

	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("sample_pages must not be NULL")));
	most = fpt_sample_pages(PG_GETARG_INT32(1));
	InitMaterializedSRF(fcinfo, 0);
	fpt_require_columns(rsinfo->setDesc, FPT_ADVISE_COLS);
	indexes = PG_ARGISNULL(0) ? fpt_all_indexes() :
		fpt_named_indexes(PG_GETARG_OID(0));
	named = !PG_ARGISNULL(0) && list_length(indexes) == 1 &&
		linitial_oid(indexes) == PG_GETARG_OID(0);
	foreach(lc, indexes)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);
		FPTAdvice	a;

		CHECK_FOR_INTERRUPTS();
		if (named ? fpt_advise_one(lfirst_oid(lc), true, most, &a) :
			fpt_advise_safely(lfirst_oid(lc), most, &a))
			fpt_advise_row(rsinfo, &a);
		MemoryContextSwitchTo(old);
		MemoryContextReset(cxt);
	}
	MemoryContextDelete(cxt);
	return (Datum) 0;
}

/*
 * fptree_stat_approx(index regclass, sample_pages int DEFAULT 1280)
 *
 * What fptree_stat() says of space, from a sample, and the size that REINDEX
 * would give.
 */
Datum
fptree_stat_approx(PG_FUNCTION_ARGS)
{
	Oid			table = IndexGetRelation(PG_GETARG_OID(0), true);
	Relation	rel;
	Datum		values[FPT_APPROX_COLS] = {0};
	bool		nulls[FPT_APPROX_COLS] = {false};
	TupleDesc	desc;
	FPTEstimate e;

	/* The table, which is opened as well, is locked first, as by all others. */
	if (OidIsValid(table))
		LockRelationOid(table, AccessShareLock);
	rel = fpt_open_index(PG_GETARG_OID(0), AccessShareLock);
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	fpt_require_columns(desc, FPT_APPROX_COLS);
	fpt_require_may_sample(rel);
	if (!fpt_has_contents(rel))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("unlogged index \"%s\" has no contents during recovery",
						RelationGetRelationName(rel))));
	fpt_require_valid(rel);
	fpt_estimate(rel, rel, fpt_sample_pages(PG_GETARG_INT32(1)), &e);
	values[0] = Int32GetDatum(e.level);
	values[1] = Int64GetDatum(e.size);
	values[2] = Int64GetDatum(e.pages_read);
	values[3] = Int64GetDatum((int64) rint(e.leaf_pages));
	values[4] = Int64GetDatum((int64) rint(e.entries));
	values[5] = Float8GetDatum(rint(e.density * 100.0) / 100.0);
	nulls[5] = e.density < 0;
	values[6] = Int64GetDatum(e.fresh_size);
	values[7] = Float8GetDatum(e.size <= e.fresh_size ? 0 :
							   rint(10000.0 * (e.size - e.fresh_size) /
									e.size) / 100.0);
	values[8] = BoolGetDatum(!e.whole);
	index_close(rel, AccessShareLock);
	if (OidIsValid(table))
		UnlockRelationOid(table, AccessShareLock);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values,
											 nulls));
}
