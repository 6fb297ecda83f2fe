/*-------------------------------------------------------------------------
 *
 * store/owner.c
 *	  Whose a stripe is.
 *
 * A build has lost the index's metapage already: it finds the file that it
 * replaces by the row that pg_class had before.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "storage/bufpage.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "store/meta.h"
#include "store/owner.h"
#include "store/place.h"
#include "store/stripe.h"

/* --- living indexes ----------------------------------------------------- */

int
fpt_stripes_of_living(Oid indexid, aminsert_function aminsert, Oid *oids)
{
	Relation	index = try_relation_open(indexid, AccessShareLock);
	int			n = 0;

	if (index == NULL)
		return 0;
	if (index->rd_rel->relkind == RELKIND_INDEX &&
		index->rd_indam != NULL && index->rd_indam->aminsert == aminsert &&
		index->rd_rel->relpersistence != RELPERSISTENCE_TEMP)
		n = fpt_metapage_stripes_anyhow(index, oids, DEBUG1);
	/* No committed stripe is that of an index that was never ready. */
	if (n < 0 && fpt_is_unbuilt(index))
		n = 0;
	Assert(n >= -1 && n <= FPT_MAX_STRIPES);
	relation_close(index, NoLock);
	return n;
}

bool
fpt_oid_is_in(Oid oid, const Oid *oids, int n)
{
	for (int i = 0; i < n; i++)
		if (oids[i] == oid)
			return true;
	return false;
}

FPTOwner
fpt_stripe_owner(Oid stripe, aminsert_function aminsert, Oid but, Oid *owner)
{
	List	   *indexes = fpt_relations_of(InvalidOid, RELKIND_INDEX);
	FPTOwner	found = FPT_OWNER_NONE;
	ListCell   *lc;

	*owner = InvalidOid;
	foreach(lc, indexes)
	{
		Oid			oids[FPT_MAX_STRIPES];
		int			n;

		if (lfirst_oid(lc) == but)
			continue;
		n = fpt_stripes_of_living(lfirst_oid(lc), aminsert, oids);
		if (fpt_oid_is_in(stripe, oids, n))
		{
			found = FPT_OWNER_FOUND;
			*owner = lfirst_oid(lc);
			break;
		}
		if (n < 0)
			found = FPT_OWNER_UNKNOWN;
		/* one that was dropped meanwhile could not be locked */
		if (fpt_lock_held(lfirst_oid(lc), AccessShareLock))
			UnlockRelationOid(lfirst_oid(lc), AccessShareLock);
	}
	list_free(indexes);
	return found;
}

/* --- the index that is built -------------------------------------------- */

/*
 * The file that an index had before the one that pg_class says, in this
 * transaction or when it began.  False: there was no other.  *logged: it was a
 * permanent index's.  Reads catalogues.
 *
 * REINDEX (TABLESPACE ..) writes the new tablespace into the row first, then
 * the new file.  A row in between names a file that there never was: the right
 * tablespace is that of the first row with the file's number.
 */
static bool
fpt_file_before(Oid indexid, FPTLocator *file, bool *logged)
{
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	HeapTuple	row = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(indexid));
	Oid			now = InvalidOid;
	Oid			number = InvalidOid;

	if (HeapTupleIsValid(row))
		now = ((Form_pg_class) GETSTRUCT(row))->relfilenode;
	while (HeapTupleIsValid(row))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(row);
		ItemPointerData tid = row->t_self;

		if (OidIsValid(number) && form->relfilenode != number)
			break;
		if (form->relfilenode != now)
		{
			number = form->relfilenode;
			*file = fpt_locator(form->reltablespace, number);
			*logged = form->relpersistence == RELPERSISTENCE_PERMANENT;
		}
		heap_freetuple(row);
		row = fpt_class_row_before(pg_class, indexid, &tid);
	}
	if (HeapTupleIsValid(row))
		heap_freetuple(row);
	table_close(pg_class, AccessShareLock);
	return OidIsValid(number);
}

/*
 * The stripes that the metapage names which the build of an index replaces; as
 * fpt_meta_stripes().
 */
static int
fpt_stripes_before(Relation index, Oid *oids)
{
	PGAlignedBlock page;
	FPTLocator	file;
	bool		logged;

	if (!fpt_file_before(RelationGetRelid(index), &file, &logged) ||
		!fpt_copy_old_meta(index, file, logged, page.data))
		return -1;
	return fpt_meta_stripes((Page) page.data, oids);
}

/*
 * Is a stripe the index's, whose metapage names it?  Metapages that pg_upgrade
 * has brought name stripes that there are not, whose OIDs may be others' by
 * now: an index whose name and metapage both say so.  In doubt it is not.
 */
static bool
fpt_stripe_is_ours(Relation index, Oid stripe)
{
	Oid			theirs[FPT_MAX_STRIPES];
	Oid			named;
	int			n;

	if (!fpt_is_stripe(stripe, &named))
		return false;
	if (named == RelationGetRelid(index))
		return true;
	n = fpt_stripes_of_living(named, index->rd_indam->aminsert, theirs);
	return n >= 0 && !fpt_oid_is_in(stripe, theirs, n);
}

/* Has this transaction made a stripe's file? */
static bool
fpt_stripe_is_new(Oid stripe)
{
	Relation	rel = RelationIdGetRelation(stripe);
	bool		is = rel != NULL && fpt_file_is_new(rel);

	if (rel != NULL)
		RelationClose(rel);
	return is;
}

/*
 * Is a stripe with the index's name another one's?  The metapage that the build
 * replaces names n stripes; -1: no file, or one that cannot be read.  An index
 * that is created has none, nor has one that TRUNCATE empties, in the
 * transaction that has made its file: then its stripes have got their files
 * from this transaction as well.  Else all indexes are asked: also where
 * TRUNCATE empties an older file, in a transaction that has moved the table;
 * and where the metapage names others, as a rollback of that leaves it.
 */
static bool
fpt_stripe_is_strange(Relation index, Oid stripe, const Oid *ours, int n)
{
	Oid			owner;

	if (fpt_oid_is_in(stripe, ours, n))
		return false;
	if (!ReindexIsProcessingIndex(RelationGetRelid(index)))
	{
		Assert(n < 0);
		if (fpt_stripe_is_new(stripe))
			return false;
		if (fpt_is_created(index))
			return true;
	}
	return fpt_stripe_owner(stripe, index->rd_indam->aminsert,
							RelationGetRelid(index), &owner) != FPT_OWNER_NONE;
}

/*
 * Take an index's name from a stripe that is not the index's: it is named after
 * itself, which no index can be named by, until its own index is built.
 */
static void
fpt_stripe_set_aside(Oid stripe)
{
	fpt_stripe_rename(stripe, stripe, 1);
}

/*
 * Make this stripe the index's k-th by name, from 1 on; one that has the name
 * gets the other's name instead: if two indexes have exchanged their files,
 * both have the right names then.
 */
static void
fpt_stripe_claim(Relation index, Oid stripe, int k)
{
	Oid			holder = fpt_stripe_by_name(RelationGetRelid(index), k);
	Oid			named;
	int			number;

	if (holder == stripe || (OidIsValid(holder) &&
							 !fpt_is_stripe(holder, &named)))
		return;
	fpt_stripe_named(stripe, &named, &number);
	if (OidIsValid(holder))
		fpt_stripe_set_aside(holder);
	fpt_stripe_rename(stripe, RelationGetRelid(index), k);
	if (OidIsValid(holder) && named != stripe)
		fpt_stripe_rename(holder, named, number);
}

void
fpt_stripes_claim(Relation index)
{
	Oid			ours[FPT_MAX_STRIPES];
	int			n = -1;
	Oid			stripe;
	Oid			named;

	Assert(CheckRelationLockedByMe(index, RowExclusiveLock, true));
	if (index->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		return;
	if (ReindexIsProcessingIndex(RelationGetRelid(index)))
		n = fpt_stripes_before(index, ours);
	for (int k = 0; k < n; k++)
		if (!fpt_stripe_is_ours(index, ours[k]))
			ours[k] = InvalidOid;
		else
			fpt_stripe_claim(index, ours[k], k + 1);
	for (int k = 0;
		 OidIsValid(stripe = fpt_stripe_by_name(RelationGetRelid(index),
												k + 1)) || k < n;
		 k++)
		if (fpt_is_stripe(stripe, &named) &&
			fpt_stripe_is_strange(index, stripe, ours, n))
			fpt_stripe_set_aside(stripe);
}
