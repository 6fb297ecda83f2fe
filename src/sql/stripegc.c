/*-------------------------------------------------------------------------
 *
 * sql/stripegc.c
 *	  Dropping the stripes of indexes that are gone.
 *
 * Nothing in pg_depend leads from an index to its stripes: see src/README.md,
 * "Stripes", for why.  An object access hook sees each index that is dropped,
 * and remembers what its metapage names.  Just before the transaction commits,
 * in it, the stripes are dropped, or given to the index that has taken over the
 * file.  An event trigger loads the library before any command that may drop an
 * index; it has nothing else to do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "commands/event_trigger.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "sql/relcheck.h"
#include "sql/stripegc.h"
#include "store/map.h"
#include "store/stripe.h"

PG_FUNCTION_INFO_V1(fptree_ddl_start);

/*
 * A striped index that this transaction has dropped, or that is being dropped
 * by DROP INDEX CONCURRENTLY: then it still is in the catalogue when the first
 * of that command's transactions commits.  In TopMemoryContext, as it may
 * outlive the transaction; in a list, the latest first.
 */
typedef struct FPTDropped
{
	struct FPTDropped *next;
	Oid			index;			/* not in pg_class any more, sooner or later */
	Oid			space;			/* of its main fork */
	Oid			file;			/* number of it */
	SubTransactionId subid;		/* Invalid: of an earlier transaction */
	int			n;				/* stripes; 0: some have its name only */
	Oid			oids[FLEXIBLE_ARRAY_MEMBER];
} FPTDropped;

static FPTDropped *fpt_dropped = NULL;

static object_access_hook_type fpt_prev_object_access = NULL;

/* --- an index is dropped ------------------------------------------------ */

/*
 * The stripes of an index, by name if its metapage cannot be read.  Returns how
 * many; oids has room for FPT_MAX_STRIPES.  Reads catalogues.
 */
static int
fpt_stripes_of(Relation index, Oid *oids)
{
	int			n = fpt_metapage_stripes(index, oids);

	if (n >= 0)
		return n;
	for (n = 0; n < FPT_MAX_STRIPES; n++)
	{
		oids[n] = fpt_stripe_by_name(RelationGetRelid(index), n + 1);
		if (!OidIsValid(oids[n]))
			break;
	}
	return n;
}

/*
 * Whoever drops the index has locked it.  What is remembered stays until
 * fpt_collect() or fpt_forget_dropped() is done with it; may raise.
 */
static void
fpt_remember_dropped(Oid indexid)
{
	Relation	index = relation_open(indexid, NoLock);
	bool		ours = fpt_is_fptree(index) &&
		index->rd_rel->relpersistence != RELPERSISTENCE_TEMP;
	Oid			oids[FPT_MAX_STRIPES];
	int			n = ours ? fpt_stripes_of(index, oids) : 0;
	FPTDropped *d;

	Assert(CheckRelationLockedByMe(index, ShareUpdateExclusiveLock, true));
	if (ours)
		fpt_table_lost_index(index->rd_index->indrelid, indexid);
	/* It may have given its striped file to another index. */
	if (n > 0 || (ours && OidIsValid(fpt_stripe_by_name(indexid, 1))))
	{
		d = MemoryContextAlloc(TopMemoryContext,
							   offsetof(FPTDropped, oids) + n * sizeof(Oid));
		d->index = indexid;
		d->space = index->rd_rel->reltablespace;
		d->file = index->rd_rel->relfilenode;
		d->subid = GetCurrentSubTransactionId();
		d->n = n;
		Assert(OidIsValid(d->file));
		memcpy(d->oids, oids, n * sizeof(Oid));
		d->next = fpt_dropped;
		fpt_dropped = d;
	}
	relation_close(index, NoLock);
}

/*
 * object_access_hook: sees all that is created, altered or dropped.  May raise,
 * which ends the DROP.
 */
static void
fpt_object_access(ObjectAccessType access, Oid classid, Oid objectid,
				  int subid, void *arg)
{
	if (fpt_prev_object_access)
		fpt_prev_object_access(access, classid, objectid, subid, arg);
	if (access == OAT_DROP && classid == RelationRelationId && subid == 0 &&
		get_rel_relkind(objectid) == RELKIND_INDEX)
		fpt_remember_dropped(objectid);
}

/* --- collection --------------------------------------------------------- */

/*
 * What a living index's metapage names; 0 if it is no fptree index, or is gone;
 * -1 if the metapage cannot be read.  Locks it, AccessShareLock, to the end of
 * the transaction.
 */
static int
fpt_stripes_of_living(Oid indexid, Oid *oids)
{
	Relation	index = try_relation_open(indexid, AccessShareLock);
	int			n = 0;

	if (index == NULL)
		return 0;
	if (fpt_is_fptree(index))
		n = fpt_metapage_stripes(index, oids);
	Assert(n >= -1 && n <= FPT_MAX_STRIPES);
	relation_close(index, NoLock);
	return n;
}

/*
 * Is this one of n OIDs?  n may be -1, of a metapage that cannot be read: no.
 */
static bool
fpt_oid_is_in(Oid oid, const Oid *oids, int n)
{
	for (int i = 0; i < n; i++)
		if (oids[i] == oid)
			return true;
	return false;
}

/*
 * Name the stripes that an index has after it, by which builds will find them
 * (S1).  Locks the index, AccessShareLock, and what is renamed, to the end of
 * the transaction.  Nothing happens if its metapage cannot be read.
 */
static void
fpt_stripes_adopt(Oid indexid)
{
	Oid			oids[FPT_MAX_STRIPES];
	int			n = fpt_stripes_of_living(indexid, oids);
	Oid			named;

	Assert(OidIsValid(indexid));
	for (int k = 0; k < n; k++)
		if (fpt_is_stripe(oids[k], &named) && named != indexid)
			fpt_stripe_rename(oids[k], indexid, k + 1);
}

/*
 * The index whose metapage names a stripe; InvalidOid: none.  Opens all indexes
 * that are no btrees, and locks them to the end of the transaction: the last
 * resort of fpt_drop_stripes_of().
 */
static Oid
fpt_index_with(Oid stripe)
{
	List	   *indexes = fpt_relations_of(InvalidOid, RELKIND_INDEX);
	Oid			found = InvalidOid;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Oid			oids[FPT_MAX_STRIPES];
		int			n = fpt_stripes_of_living(lfirst_oid(lc), oids);

		if (fpt_oid_is_in(stripe, oids, n))
			found = lfirst_oid(lc);
	}
	list_free(indexes);
	return found;
}

/*
 * An index is gone, and its file with it.  Stripes named after another index,
 * which exists: tools that rebuild tables had the two exchange their files.
 * Perhaps the other one was rebuilt since, in stripes of this name; else it is
 * the stripes with our name that it has.  If what we got was not striped, that
 * other one is looked for.  Stripes are locked as they are dropped; the indexes
 * that are asked, AccessShareLock, to the end of the transaction.  May raise,
 * which aborts the transaction.
 *
 * In doubt a stripe stays: fptree_orphans() finds what belongs to nobody.
 */
static void
fpt_drop_stripes_of(const FPTDropped *d)
{
	Oid			partner = InvalidOid;
	Oid			theirs[FPT_MAX_STRIPES];
	int			ntheirs = 0;
	Oid			oid;

	Assert(d->n >= 0 && d->n <= FPT_MAX_STRIPES);
	for (int k = 0; k < d->n; k++)
	{
		Oid			named;

		if (!fpt_is_stripe(d->oids[k], &named))
			continue;
		if (named != d->index && named != partner)
		{
			ntheirs = fpt_stripes_of_living(named, theirs);
			if (ntheirs != 0)
				partner = named;
		}
		/* nobody knows what an unreadable metapage names */
		if (ntheirs >= 0 && !fpt_oid_is_in(d->oids[k], theirs, ntheirs))
			fpt_stripe_drop(d->oids[k]);
	}
	if (d->n == 0)
		partner = fpt_index_with(fpt_stripe_by_name(d->index, 1));
	if (OidIsValid(partner))
		fpt_stripes_adopt(partner);
	if (ntheirs < 0 || (d->n > 0 && !OidIsValid(partner)))
		return;
	for (int k = 1; OidIsValid(oid = fpt_stripe_by_name(d->index, k)); k++)
		fpt_stripe_drop(oid);
}

/*
 * An index is gone, and "heir" has its file.  If that has been rebuilt since,
 * it has new stripes, and the old ones belong to nobody.
 */
static void
fpt_stripes_inherit(const FPTDropped *d, Oid heir)
{
	Oid			theirs[FPT_MAX_STRIPES];
	int			ntheirs = fpt_stripes_of_living(heir, theirs);
	Oid			named;

	Assert(OidIsValid(heir) && heir != d->index);
	fpt_stripes_adopt(heir);
	for (int k = 0; ntheirs >= 0 && k < d->n; k++)
		if (!fpt_oid_is_in(d->oids[k], theirs, ntheirs) &&
			fpt_is_stripe(d->oids[k], &named))
			fpt_stripe_drop(d->oids[k]);
}

/*
 * Before commit: see to the stripes of indexes that do not exist any more.
 * Those that still do are being dropped concurrently: in a later transaction.
 * Reads and changes catalogues; an error here aborts the transaction, which
 * keeps what was dropped.
 */
static void
fpt_collect(void)
{
	FPTDropped **link = &fpt_dropped;

	Assert(IsTransactionState());
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	while (*link != NULL)
	{
		FPTDropped *d = *link;
		Oid			heir;

		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(d->index)))
		{
			d->subid = InvalidSubTransactionId;
			link = &d->next;
			continue;
		}
		/* ALTER TABLE makes a new index of an old one's file. */
		heir = fpt_relid_by_file(d->space, d->file);
		if (OidIsValid(heir))
			fpt_stripes_inherit(d, heir);
		else
			fpt_drop_stripes_of(d);
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
		fpt_forget_lost_indexes();
	if (fpt_dropped == NULL)
		return;
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
		fpt_collect();
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
		fpt_forget_dropped(subid);
	else if (event == SUBXACT_EVENT_COMMIT_SUB)
		for (FPTDropped *d = fpt_dropped; d != NULL; d = d->next)
			if (d->subid == subid)
				d->subid = parent;
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

/* Being called has loaded the library, and with it the hooks. */
Datum
fptree_ddl_start(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function fptree_ddl_start() was not called by an event trigger")));
	PG_RETURN_NULL();
}
