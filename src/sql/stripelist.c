/*-------------------------------------------------------------------------
 *
 * sql/stripelist.c
 *	  SQL functions about stripes.
 *
 * Core's size functions see an index's main fork, which of a striped one has
 * hardly any page.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "page/format.h"
#include "sql/relcheck.h"
#include "store/buf.h"
#include "store/map.h"
#include "store/place.h"
#include "store/stripe.h"

PG_FUNCTION_INFO_V1(fptree_stripes);
PG_FUNCTION_INFO_V1(fptree_index_size);
PG_FUNCTION_INFO_V1(fptree_orphans);
PG_FUNCTION_INFO_V1(fptree_drop_orphans);
PG_FUNCTION_INFO_V1(fptree_set_tablespaces);
PG_FUNCTION_INFO_V1(fptree_follow_renames);

#define FPT_STRIPES_COLS	7	/* of fptree_stripes() */

/*
 * One row of fptree_stripes(); NULLs for what is missing.  The stripe's index
 * is locked, which keeps the stripe (S3).  Reads catalogues and the stripe's
 * free space map; may be cancelled.  k is its number, from 1 on.  Columns:
 * number, OID, tablespace, bytes, pages, free pages, reads.
 */
static void
fpt_stripes_row(ReturnSetInfo *rsinfo, Oid relid, int k)
{
	Datum		values[FPT_STRIPES_COLS] = {0};
	bool		nulls[FPT_STRIPES_COLS] = {false, false, true, true, true,
	true, true};
	Relation	rel = RelationIdGetRelation(relid);
	FPTStripeSize size;
	Oid			space;
	char	   *name;

	Assert(k > 0 && k <= FPT_MAX_STRIPES);
	values[0] = Int32GetDatum(k);
	values[1] = ObjectIdGetDatum(relid);
	if (rel != NULL)
	{
		space = rel->rd_rel->reltablespace;
		name = get_tablespace_name(OidIsValid(space) ? space :
								   MyDatabaseTableSpace);
		if (name != NULL)
		{
			NameData   *n = palloc0(sizeof(NameData));

			namestrcpy(n, name);
			values[2] = NameGetDatum(n);
			nulls[2] = false;
		}
		if (fpt_stripe_measure(rel, &size))
		{
			values[3] = Int64GetDatum(fpt_relation_bytes(rel));
			values[4] = Int64GetDatum(size.pages);
			values[5] = Int64GetDatum(size.free_pages);
			nulls[3] = nulls[4] = nulls[5] = false;
		}
		values[6] = Int64GetDatum(fpt_stripe_reads(relid));
		nulls[6] = false;
		RelationClose(rel);
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * fptree_stripes(index regclass)
 *
 * A row for each stripe that the metapage names; none if the index is not
 * striped.  Locks the index, AccessShareLock, which keeps its stripes.  Raises
 * an error if the metapage cannot be read; not if a stripe is missing (S1), as
 * this is where one looks then.
 */
Datum
fptree_stripes(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Relation	index = fpt_open_index(PG_GETARG_OID(0), AccessShareLock);
	Oid			oids[FPT_MAX_STRIPES];
	FPTPageMap	map = {0};
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	n = fpt_has_contents(index) ? fpt_metapage_stripes(index, oids) : 0;
	/* CREATE INDEX CONCURRENTLY leaves anything in the file if it fails */
	if (n < 0 && !fpt_is_unbuilt(index) &&
		(!fpt_has_storage(index) || fpt_npages(index, &map) > 0))
		fpt_corrupt(index, FPT_METAPAGE, "The metapage is not one of fptree");
	Assert(n <= (int) lengthof(oids));
	for (int k = 0; k < n; k++)
		fpt_stripes_row(rsinfo, oids[k], k + 1);
	relation_close(index, AccessShareLock);
	return (Datum) 0;
}

/*
 * fptree_index_size(index regclass)
 *
 * Bytes of all files of an index: stripes, free space maps, init forks.  Locks
 * the index, AccessShareLock, which keeps its stripes.  A stripe that is
 * missing counts nothing; nor do any if the metapage cannot be read.  Raises an
 * error if a file cannot be looked at.
 */
Datum
fptree_index_size(PG_FUNCTION_ARGS)
{
	Relation	index = fpt_open_index(PG_GETARG_OID(0), AccessShareLock);
	Oid			oids[FPT_MAX_STRIPES];
	int			n = fpt_has_contents(index) ?
		fpt_metapage_stripes(index, oids) : 0;
	int64		size = fpt_relation_bytes(index);

	for (int k = 0; k < n; k++)
	{
		Relation	rel = RelationIdGetRelation(oids[k]);

		if (rel == NULL)
			continue;
		size += fpt_relation_bytes(rel);
		RelationClose(rel);
	}
	relation_close(index, AccessShareLock);
	PG_RETURN_INT64(size);
}

/* --- orphans ------------------------------------------------------------ */

/*
 * Is an index's access method ours?  Also if the index is being dropped.  Reads
 * catalogues, and calls the access method's handler.  An index that is not in
 * pg_class any more may have been: true, and who opens it will see.
 */
static bool
fpt_has_our_am(Oid indexid)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(indexid));
	const IndexAmRoutine *am;
	Oid			amid;

	if (!HeapTupleIsValid(tup))
		return true;
	amid = ((Form_pg_class) GETSTRUCT(tup))->relam;
	ReleaseSysCache(tup);
	am = GetIndexAmRoutineByAmId(amid, true);
	return am != NULL && am->aminsert == fptinsert;
}

/* What indexes say of stripes; OIDs, all of it */
typedef struct FPTClaims
{
	List	   *indexes;		/* those that were asked, sorted */
	List	   *used;			/* stripes that they name in their metapages */
	List	   *empty;			/* indexes that have none yet, or none here */
	List	   *damaged;		/* indexes whose metapages cannot be read */
} FPTClaims;

/* Ask an fptree index, which is locked, and so is its table. */
static void
fpt_claims_add(FPTClaims *claims, Relation index)
{
	Oid			oids[FPT_MAX_STRIPES];
	int			n = fpt_metapage_stripes(index, oids);
	Oid			indexid = RelationGetRelid(index);

	Assert(n >= -1 && n <= FPT_MAX_STRIPES);
	claims->indexes = lappend_oid(claims->indexes, indexid);
	for (int k = 0; k < n; k++)
		claims->used = lappend_oid(claims->used, oids[k]);
	if (n >= 0)
		return;
	if (fpt_is_unbuilt(index) || !fpt_has_contents(index))
		claims->empty = lappend_oid(claims->empty, indexid);
	else
		claims->damaged = lappend_oid(claims->damaged, indexid);
}

/*
 * Ask all indexes.  They and their tables are locked, AccessShareLock, until
 * the end of the transaction: pg_repack has two indexes exchange their files,
 * and locks the table alone.  False: one was dropped meanwhile; ALTER TABLE may
 * have made another one of its file, so this is not all.  May be cancelled
 * while it waits for a lock.
 */
static bool
fpt_claims_read(FPTClaims *claims)
{
	ListCell   *lc;

	/* Locks that are held already do not do that. */
	AcceptInvalidationMessages();
	foreach(lc, fpt_relations_of(InvalidOid, RELKIND_INDEX))
	{
		Oid			table = IndexGetRelation(lfirst_oid(lc), true);
		Relation	index;
		bool		ours;

		if (!OidIsValid(table))
			return false;
		if (!fpt_has_our_am(lfirst_oid(lc)))
			continue;
		LockRelationOid(table, AccessShareLock);
		index = try_relation_open(lfirst_oid(lc), AccessShareLock);
		if (index == NULL)
		{
			UnlockRelationOid(table, AccessShareLock);
			return false;
		}
		ours = fpt_is_fptree(index) && !RELATION_IS_OTHER_TEMP(index);
		if (ours)
			fpt_claims_add(claims, index);
		relation_close(index, ours ? NoLock : AccessShareLock);
		if (!ours)
			UnlockRelationOid(table, AccessShareLock);
	}
	list_sort(claims->indexes, list_oid_cmp);
	return true;
}

/* Say that nobody knows whose stripes are, because of this index. */
static void
fpt_warn_of_claims(Oid indexid)
{
	const char *name = get_rel_name(indexid);

	ereport(WARNING,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("cannot tell which stripes belong to no index"),
			 errdetail("The metapage of index \"%s\" cannot be read, so that any of them may be its.",
					   name != NULL ? name : "?"),
			 errhint("Run \"REINDEX INDEX %s;\" first.",
					 name != NULL ? quote_identifier(name) : "?")));
}

/*
 * The stripes that no index names in its metapage.  If the metapage of an index
 * cannot be read, no stripe, and a warning (S1); of an index that is not built
 * the names say which are its.
 *
 * The stripes are looked at first: one that was committed by then has its index
 * in the second look, unless this was dropped meanwhile.  Indexes are asked
 * until all of them had been locked, and their tables, before the first was
 * asked: an exchange of files that began earlier is waited for at the last
 * table that it has locked, by when the other index may have named the stripes
 * of its old file.  Returns OIDs, in the current context; locks as
 * fpt_claims_read() does.  May be cancelled.
 */
static List *
fpt_find_orphans(void)
{
	Oid			am = get_table_am_oid(FPT_STRIPE_AM, true);
	List	   *stripes = OidIsValid(am) ?
		fpt_relations_of(am, RELKIND_TOASTVALUE) : NIL;
	List	   *orphans = NIL;
	List	   *asked;
	FPTClaims	claims = {0};
	ListCell   *lc;
	bool		all;

	if (stripes == NIL)
		return NIL;
	do
	{
		CHECK_FOR_INTERRUPTS();
		asked = claims.indexes;
		memset(&claims, 0, sizeof(claims));
		all = fpt_claims_read(&claims);
	} while (!all || !equal(asked, claims.indexes));
	foreach(lc, stripes)
	{
		Oid			named;

		if (!list_member_oid(claims.used, lfirst_oid(lc)) &&
			fpt_is_stripe(lfirst_oid(lc), &named) &&
			!list_member_oid(claims.empty, named))
			orphans = lappend_oid(orphans, lfirst_oid(lc));
	}
	if (orphans == NIL || claims.damaged == NIL)
		return orphans;
	fpt_warn_of_claims(linitial_oid(claims.damaged));
	return NIL;
}

/*
 * fptree_orphans()
 *
 * Stripes that belong to no index: left behind by a DROP that this library did
 * not see.  As fpt_find_orphans().
 */
Datum
fptree_orphans(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	foreach(lc, fpt_find_orphans())
	{
		Datum		value = ObjectIdGetDatum(lfirst_oid(lc));
		bool		isnull = false;

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value,
							 &isnull);
	}
	return (Datum) 0;
}

/*
 * fptree_drop_orphans()
 *
 * Drop them; returns their number.  Locks as fpt_find_orphans(), and the
 * stripes that it drops, to the end of the transaction.  Who may call it is the
 * install script's business.
 */
Datum
fptree_drop_orphans(PG_FUNCTION_ARGS)
{
	int			n = 0;
	ListCell   *lc;

	PreventCommandIfReadOnly("fptree_drop_orphans()");
	foreach(lc, fpt_find_orphans())
	{
		Oid			named;

		/* Another session may be dropping it, too. */
		LockRelationOid(lfirst_oid(lc), AccessExclusiveLock);
		if (!fpt_is_stripe(lfirst_oid(lc), &named))
		{
			UnlockRelationOid(lfirst_oid(lc), AccessExclusiveLock);
			continue;
		}
		fpt_stripe_drop(lfirst_oid(lc));
		n++;
	}
	PG_RETURN_INT32(n);
}

/* --- lists of tablespaces ----------------------------------------------- */

/* Raise an error unless the user owns the index. */
static void
fpt_must_own(Oid indexid)
{
	if (!fpt_owns(indexid))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX,
					   get_rel_name(indexid));
}

/* Is this an index of ours, which the user owns?  Reads catalogues. */
static bool
fpt_owns_index(Oid indexid)
{
	return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(indexid)) &&
		fpt_owns(indexid) && fpt_has_our_am(indexid);
}

/*
 * Write a list of tablespaces into pg_class; NULL: none.  Core does that by
 * ALTER INDEX, but not for partitioned indexes.  The index is locked, and its
 * table, ShareUpdateExclusiveLock, which keeps others from updating the row in
 * place.  Raises an error about a list that is none.
 */
static void
fpt_list_write(Relation index, char *list)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	Oid			relid = RelationGetRelid(index);
	HeapTuple	old = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(relid));
	HeapTuple	new;
	Datum		values[Natts_pg_class] = {0};
	bool		nulls[Natts_pg_class] = {0};
	bool		replace[Natts_pg_class] = {0};
	const int	at = Anum_pg_class_reloptions - 1;
	Node	   *value = list != NULL ? (Node *) makeString(list) : NULL;
	Datum		options;
	bool		isnull;

	Assert(CheckRelationLockedByMe(index, ShareUpdateExclusiveLock, true));
	if (!HeapTupleIsValid(old))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	options = SysCacheGetAttr(RELOID, old, Anum_pg_class_reloptions, &isnull);
	values[at] = transformRelOptions(isnull ? (Datum) 0 : options,
									 list_make1(makeDefElem("tablespaces",
															value, -1)),
									 NULL, NULL, false, list == NULL);
	nulls[at] = values[at] == (Datum) 0;
	replace[at] = true;
	(void) index_reloptions(index->rd_indam->amoptions, values[at], true);
	new = heap_modify_tuple(old, RelationGetDescr(pg_class), values, nulls,
							replace);
	CatalogTupleUpdate(pg_class, &new->t_self, new);
	InvokeObjectPostAlterHook(RelationRelationId, relid, 0);
	table_close(pg_class, RowExclusiveLock);
	CommandCounterIncrement();
}

/*
 * Set the list of one index of ours, partitioned or not, that the user owns.
 * Locks its table, then it, ShareUpdateExclusiveLock, to the end of the
 * transaction.  Raises errors.  Nothing happens, and it returns false, if the
 * index has just been dropped, or has another list than "was" by now: somebody
 * had it locked to set that.  NULL: whatever it is.
 */
static bool
fpt_list_set(Oid indexid, char *list, const char *was)
{
	Oid			table = IndexGetRelation(indexid, true);
	Relation	index;
	const char *now;
	bool		same;

	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(indexid)))
		return false;
	/* Before others have to wait for the lock, and again with it */
	fpt_must_own(indexid);
	if (OidIsValid(table))
		LockRelationOid(table, ShareUpdateExclusiveLock);
	index = try_relation_open(indexid, ShareUpdateExclusiveLock);
	if (index == NULL)
		return false;
	if (index->rd_indam == NULL || index->rd_indam->aminsert != fptinsert)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an fptree index",
						RelationGetRelationName(index))));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	fpt_must_own(indexid);
	now = was != NULL ? fpt_tablespaces_of(indexid) : NULL;
	same = was == NULL || (now != NULL && strcmp(now, was) == 0);
	if (same)
		fpt_list_write(index, list);
	if (same && was != NULL)
		fpt_stripes_record_names(indexid, was, list);
	relation_close(index, NoLock);
	return same;
}

/*
 * fptree_set_tablespaces(index regclass, tablespaces text)
 *
 * Set the list of an index, and of those of its partitions; NULL takes it away.
 * Locks as fpt_list_set(): the index, and partitions, may have been dropped
 * before these were to be had.
 */
Datum
fptree_set_tablespaces(PG_FUNCTION_ARGS)
{
	char	   *list = PG_ARGISNULL(1) ? NULL :
		text_to_cstring(PG_GETARG_TEXT_PP(1));
	List	   *indexes;

	PreventCommandIfReadOnly("fptree_set_tablespaces()");
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the index must not be null")));
	indexes = list_make1_oid(PG_GETARG_OID(0));
	/* An index that is locked gets no more partitions. */
	for (int i = 0; i < list_length(indexes); i++)
	{
		Oid			indexid = list_nth_oid(indexes, i);

		if (fpt_list_set(indexid, list, NULL))
			indexes = list_concat(indexes,
								  find_inheritance_children(indexid, NoLock));
		else if (i == 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("relation with OID %u does not exist", indexid)));
	}
	PG_RETURN_VOID();
}

/*
 * fptree_follow_renames()
 *
 * Write the present names of tablespaces into the lists of the indexes that the
 * user owns, as far as stripes know which these are; returns the number of
 * lists that were changed.  All are read before one is written: a partitioned
 * index knows by the partitions that have its list.  A list that was set by
 * others meanwhile stays.  Locks as fpt_list_set().
 */
Datum
fptree_follow_renames(PG_FUNCTION_ARGS)
{
	List	   *indexes;
	List	   *stale = NIL;
	List	   *from = NIL;
	List	   *to = NIL;
	int			n = 0;
	ListCell   *lc;
	ListCell   *lfrom;
	ListCell   *lto;

	PreventCommandIfReadOnly("fptree_follow_renames()");
	indexes = list_concat(fpt_relations_of(InvalidOid,
										   RELKIND_PARTITIONED_INDEX),
						  fpt_relations_of(InvalidOid, RELKIND_INDEX));
	foreach(lc, indexes)
	{
		Oid			indexid = lfirst_oid(lc);
		char	   *was = fpt_owns_index(indexid) ?
			fpt_tablespaces_of(indexid) : NULL;
		char	   *list = was != NULL ?
			fpt_tablespaces_renamed(was, indexid) : NULL;

		CHECK_FOR_INTERRUPTS();
		if (list == NULL)
			continue;
		stale = lappend_oid(stale, indexid);
		from = lappend(from, was);
		to = lappend(to, list);
	}
	forthree(lc, stale, lfrom, from, lto, to)
		n += fpt_list_set(lfirst_oid(lc), lfirst(lto), lfirst(lfrom));
	PG_RETURN_INT32(n);
}
