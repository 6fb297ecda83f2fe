/*-------------------------------------------------------------------------
 *
 * sql/stripegc.c
 *	  Dropping the stripes of indexes that are gone.
 *
 * Nothing in pg_depend leads from an index to its stripes:
 * src/store/README.md, "Stripes", for why.  An object access hook sees each
 * index that is dropped, and remembers what its metapage names.  Just before
 * the transaction commits, in it, the stripes are dropped, or given to the
 * index that has taken over the file: the one whose metapage names them then
 * (S1).  Temporary tables that are dropped ON COMMIT go later in the commit,
 * and indexes on a column of their row type with them: stripes of these are
 * dropped when the hook sees the index.
 *
 * In a session that has not loaded the library, the first fptree index that is
 * dropped loads it: core opens an index to drop it, and asks its access
 * method's handler what it can.  That is after the hook would have been
 * called, and before anything is gone.  So the handler, called for the first
 * time, and in a DROP, remembers the indexes that this session has locked as
 * if it dropped them; whether it did is seen at commit.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_depend.h"
#include "storage/lmgr.h"
#include "tcop/pquery.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "sql/relcheck.h"
#include "sql/stripegc.h"
#include "store/map.h"
#include "store/owner.h"
#include "store/stripe.h"

/*
 * A striped index that this transaction has dropped, or that is being dropped
 * by DROP INDEX CONCURRENTLY: then it still is in the catalogue when the first
 * of that command's transactions commits.  Or one that the transaction has
 * locked as if it dropped it.  Who drops it holds that lock until the end, so
 * that without it the entry means nothing.  In TopMemoryContext, as it may
 * outlive the transaction; in a list, the latest first, each index once.
 */
typedef struct FPTDropped
{
	struct FPTDropped *next;
	Oid			index;			/* not in pg_class any more, sooner or later */
	Oid			table;			/* it may go, too */
	SubTransactionId subid;		/* Invalid: of an earlier transaction */
	int			n;				/* stripes; 0: known by its name only */
	Oid			oids[FLEXIBLE_ARRAY_MEMBER];
} FPTDropped;

static FPTDropped *fpt_dropped = NULL;

/* This transaction is being committed or prepared; fpt_collect() has run. */
static bool fpt_collected = false;

static void fpt_collect(Oid dropping);

static object_access_hook_type fpt_prev_object_access = NULL;

/* --- an index is dropped ------------------------------------------------ */

/*
 * Does this session hold one of the locks under which core drops an index?
 * Concurrently, the weaker one: of the transaction, then of the session.
 */
static bool
fpt_locked_to_drop(Oid index)
{
	return fpt_lock_held(index, AccessExclusiveLock) ||
		fpt_lock_held(index, ShareUpdateExclusiveLock);
}

/* Take an index off the list, if it is there.  Raises nothing. */
static void
fpt_forget_index(Oid indexid)
{
	for (FPTDropped **link = &fpt_dropped; *link != NULL;
		 link = &(*link)->next)
		if ((*link)->index == indexid)
		{
			FPTDropped *d = *link;

			*link = d->next;
			pfree(d);
			return;
		}
}

/*
 * Whoever drops the index has locked it.  "sure": it is dropped, not perhaps.
 * What is remembered stays until fpt_collect() or fpt_forget_dropped() is done
 * with it; may raise.
 */
static void
fpt_remember_dropped(Oid indexid, bool sure)
{
	Relation	index = relation_open(indexid, NoLock);
	bool		ours = fpt_is_fptree(index) &&
		index->rd_rel->relpersistence != RELPERSISTENCE_TEMP;
	Oid			oids[FPT_MAX_STRIPES];
	int			n = ours ?
		Max(fpt_metapage_stripes_anyhow(index, oids,
										sure ? WARNING : DEBUG1), 0) : 0;
	FPTDropped *d;

	Assert(CheckRelationLockedByMe(index, ShareUpdateExclusiveLock, true));
	if (ours && sure)
		fpt_table_lost_index(index->rd_index->indrelid, indexid);
	fpt_forget_index(indexid);
	/* Damaged, or it has given its striped file to another index. */
	if (n > 0 || (ours && OidIsValid(fpt_stripe_by_name(indexid, 1))))
	{
		d = MemoryContextAlloc(TopMemoryContext,
							   offsetof(FPTDropped, oids) + n * sizeof(Oid));
		d->index = indexid;
		d->table = index->rd_index->indrelid;
		d->subid = GetCurrentSubTransactionId();
		d->n = n;
		Assert(OidIsValid(d->table));
		memcpy(d->oids, oids, n * sizeof(Oid));
		d->next = fpt_dropped;
		fpt_dropped = d;
	}
	relation_close(index, NoLock);
}

/*
 * object_access_hook: sees all that is created, altered or dropped.  May raise,
 * which ends the DROP.  After an index is dropped in the midst of a commit, no
 * callback comes that may change catalogues: its stripes are dropped here.
 */
static void
fpt_object_access(ObjectAccessType access, Oid classid, Oid objectid,
				  int subid, void *arg)
{
	if (fpt_prev_object_access)
		fpt_prev_object_access(access, classid, objectid, subid, arg);
	if (access == OAT_DROP && classid == RelationRelationId && subid == 0 &&
		get_rel_relkind(objectid) == RELKIND_INDEX)
	{
		fpt_remember_dropped(objectid, true);
		if (fpt_collected)
			fpt_collect(objectid);
	}
}

/*
 * May this session be in the midst of a DROP?  Core has pg_depend locked as it
 * drops things, but for an index that is dropped concurrently, which no
 * function can do.
 */
static bool
fpt_may_be_dropping(void)
{
	/* The last ones cannot drop anything. */
	return IsTransactionState() && !IsParallelWorker() &&
		!RecoveryInProgress() && !HistoricSnapshotActive() &&
		(fpt_lock_held(DependRelationId, RowExclusiveLock) ||
		 (ActivePortal != NULL &&
		  ActivePortal->commandTag == CMDTAG_DROP_INDEX));
}

void
fpt_stripegc_handled(void)
{
	static bool handled = false;
	List	   *indexes;
	ListCell   *lc;

	if (handled)
		return;
	handled = true;
	if (!fpt_may_be_dropping())
		return;
	indexes = fpt_relations_of(InvalidOid, RELKIND_INDEX);
	foreach(lc, indexes)
		if (fpt_locked_to_drop(lfirst_oid(lc)))
			fpt_remember_dropped(lfirst_oid(lc), false);
	list_free(indexes);
}

/* --- collection --------------------------------------------------------- */

/*
 * Name the stripes that an index has after it, by which builds will find them
 * (S1).  Another stripe that has such a name is dropped, unless it is some
 * index's: then its name stays, and so does that of ours.  Locks the index,
 * AccessShareLock, and what is renamed or dropped, to the end of the
 * transaction.  Nothing happens if its metapage cannot be read.
 */
static void
fpt_stripes_adopt(Oid indexid)
{
	Oid			oids[FPT_MAX_STRIPES];
	int			n = fpt_stripes_of_living(indexid, fptinsert, oids);
	Oid			named;
	Oid			owner;

	Assert(OidIsValid(indexid));
	for (int k = 0; k < n; k++)
	{
		Oid			other = fpt_stripe_by_name(indexid, k + 1);

		if (!fpt_is_stripe(oids[k], &named) || named == indexid)
			continue;
		if (OidIsValid(other))
		{
			if (!fpt_is_stripe(other, &named) ||
				fpt_stripe_owner(other, fptinsert, InvalidOid,
								 &owner) != FPT_OWNER_NONE)
				continue;
			fpt_stripe_drop(other);
		}
		fpt_stripe_rename(oids[k], indexid, k + 1);
	}
}

/*
 * Has this transaction written the row that an index has in pg_class now, when
 * it created or changed it?  Reads catalogues.
 */
static bool
fpt_is_written_here(Oid indexid)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(indexid));
	bool		is;

	if (!HeapTupleIsValid(tup))
		return false;
	is = TransactionIdIsCurrentTransactionId(
		HeapTupleHeaderGetXmin(tup->t_data));
	ReleaseSysCache(tup);
	return is;
}

/*
 * ALTER TABLE makes a new index of a dropped one's file, on the same table.  By
 * now other commands may have moved that file, or made the index anew: only the
 * metapages of the table's indexes say which of the stripes are in use.  These
 * are added to *kept, and get the name of their index.
 *
 * Returns false if a metapage cannot be read that may be such an index's: all
 * stripes may be in use then.  Asks only indexes that this transaction has
 * created or changed, which it has locked itself: nothing here waits for others
 * than who have locked the whole table.  Takes AccessShareLock on the table and
 * on what it asks, to the end of the transaction.  May raise.
 */
static bool
fpt_stripes_inherit(const FPTDropped *d, List **kept)
{
	Relation	table = try_relation_open(d->table, AccessShareLock);
	bool		sure = true;
	List	   *indexes;
	ListCell   *lc;

	if (table == NULL)
		return true;
	indexes = RelationGetIndexList(table);
	relation_close(table, NoLock);
	foreach(lc, indexes)
	{
		Oid			theirs[FPT_MAX_STRIPES];
		int			ntheirs;
		int			before = list_length(*kept);

		if (lfirst_oid(lc) == d->index || !fpt_is_written_here(lfirst_oid(lc)))
			continue;
		ntheirs = fpt_stripes_of_living(lfirst_oid(lc), fptinsert, theirs);
		sure &= ntheirs >= 0;
		for (int k = 0; k < d->n; k++)
			if (fpt_oid_is_in(d->oids[k], theirs, ntheirs))
				*kept = lappend_oid(*kept, d->oids[k]);
		if (list_length(*kept) > before)
			fpt_stripes_adopt(lfirst_oid(lc));
	}
	list_free(indexes);
	return sure;
}

/*
 * An index is gone; "kept" is what has gone over to others with its file.  The
 * rest of its stripes may be named after another index, which exists: tools
 * that rebuild tables had the two exchange their files.  Perhaps the other one
 * was rebuilt since, in stripes of this name; else it is the stripes with our
 * name that it has.  If what we got was not striped, or cannot be read, that
 * other one is looked for.  After that, a stripe with our name is nobody's, or
 * a third index's, if more than two have exchanged their files: only if there
 * is one are all indexes asked.  Stripes are locked as they are dropped; the
 * indexes that are asked, AccessShareLock, to the end of the transaction.  May
 * raise, which aborts the transaction.
 *
 * In doubt a stripe stays: fptree_orphans() finds what belongs to nobody.
 */
static void
fpt_drop_stripes_of(const FPTDropped *d, const List *kept)
{
	Oid			partner = InvalidOid;
	Oid			theirs[FPT_MAX_STRIPES];
	int			ntheirs = 0;
	Oid			oid;

	Assert(d->n >= 0 && d->n <= FPT_MAX_STRIPES);
	for (int k = 0; k < d->n; k++)
	{
		Oid			named;

		if (list_member_oid(kept, d->oids[k]) ||
			!fpt_is_stripe(d->oids[k], &named))
			continue;
		if (named != d->index && named != partner)
		{
			ntheirs = fpt_stripes_of_living(named, fptinsert, theirs);
			if (ntheirs != 0)
				partner = named;
		}
		/* nobody knows what an unreadable metapage names */
		if (ntheirs >= 0 && !fpt_oid_is_in(d->oids[k], theirs, ntheirs))
			fpt_stripe_drop(d->oids[k]);
	}
	if (d->n == 0)
		(void) fpt_stripe_owner(fpt_stripe_by_name(d->index, 1), fptinsert,
								InvalidOid, &partner);
	if (OidIsValid(partner))
		fpt_stripes_adopt(partner);
	if (ntheirs < 0)
		return;
	for (int k = 1; OidIsValid(oid = fpt_stripe_by_name(d->index, k)); k++)
	{
		Oid			third;
		FPTOwner	whose = fpt_stripe_owner(oid, fptinsert, InvalidOid,
											 &third);

		if (whose == FPT_OWNER_FOUND)
			fpt_stripes_adopt(third);
		else if (whose == FPT_OWNER_NONE)
			fpt_stripe_drop(oid);
	}
}

/*
 * Before commit: see to the stripes of indexes that do not exist any more, and
 * of "dropping", which goes as soon as this returns.  Others that still do may
 * be being dropped concurrently: in a later transaction.  Reads and changes
 * catalogues; an error here aborts the transaction, which keeps what was
 * dropped.
 */
static void
fpt_collect(Oid dropping)
{
	FPTDropped **link = &fpt_dropped;

	Assert(IsTransactionState());
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	while (*link != NULL)
	{
		FPTDropped *d = *link;
		List	   *kept = NIL;

		if (!fpt_locked_to_drop(d->index))
		{
			*link = d->next;
			pfree(d);
			continue;
		}
		if (d->index != dropping &&
			SearchSysCacheExists1(RELOID, ObjectIdGetDatum(d->index)))
		{
			d->subid = InvalidSubTransactionId;
			link = &d->next;
			continue;
		}
		if (fpt_stripes_inherit(d, &kept))
			fpt_drop_stripes_of(d, kept);
		list_free(kept);
		*link = d->next;
		pfree(d);
	}
	PopActiveSnapshot();
}

/* --- transactions ------------------------------------------------------- */

/*
 * Forget what was dropped in a subtransaction, or all if that is Invalid: what
 * has been kept for a later transaction is as alive as before if that fails.
 * Called at an abort: reads no catalogues, raises nothing.
 */
static void
fpt_forget_dropped(SubTransactionId subid)
{
	FPTDropped **link = &fpt_dropped;

	Assert(CritSectionCount == 0);
	while (*link != NULL)
	{
		FPTDropped *d = *link;

		if (subid != InvalidSubTransactionId && d->subid != subid)
		{
			link = &d->next;
			continue;
		}
		*link = d->next;
		pfree(d);
	}
}

/*
 * At the end of a transaction.  Only before a commit, or a PREPARE, can
 * catalogues be read and changed, and an error still abort it.
 */
static void
fpt_stripe_xact(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
	{
		fpt_forget_lost_indexes();
		fpt_collected = false;
	}
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
	{
		if (fpt_dropped != NULL)
			fpt_collect(InvalidOid);
		fpt_collected = true;
	}
	else if (event == XACT_EVENT_ABORT)
		fpt_forget_dropped(InvalidSubTransactionId);
}

/*
 * What a subtransaction has dropped is its parent's when it commits, and alive
 * again when it aborts.
 */
static void
fpt_stripe_subxact(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		fpt_forget_dropped(subid);
		fpt_lost_indexes_subxact(subid, InvalidSubTransactionId);
	}
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
	{
		for (FPTDropped *d = fpt_dropped; d != NULL; d = d->next)
			if (d->subid == subid)
				d->subid = parent;
		fpt_lost_indexes_subxact(subid, parent);
	}
}

/*
 * Hooks that are there are called first, and stay (fpt_object_access).  Once in
 * a session, when the library is loaded.
 */
void
fpt_stripegc_init(void)
{
	Assert(object_access_hook != fpt_object_access);
	fpt_prev_object_access = object_access_hook;
	object_access_hook = fpt_object_access;
	RegisterXactCallback(fpt_stripe_xact, NULL);
	RegisterSubXactCallback(fpt_stripe_subxact, NULL);
}
