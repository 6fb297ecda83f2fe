/*-------------------------------------------------------------------------
 *
 * store/stripeam.c
 *	  The table access method of stripes: files without rows.
 *
 * Core creates, drops and copies the files of a relation, replays that on
 * standbys and cleans up after aborted transactions; all it wants is a
 * relation with storage.  heap would do, but for VACUUM, which would take
 * index pages for empty heap pages and cut them off.  Whatever would read or
 * write rows is refused here, by callbacks that raise an error and do nothing.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/multixact.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "utils/rel.h"

#include "server/compat.h"
#include "store/place.h"
#include "store/stripe.h"

PG_FUNCTION_INFO_V1(fptree_stripe_handler);

/* Raise the error: somebody takes a stripe for a table. */
static void __attribute__((noreturn))
fpt_stripe_refuse(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is a stripe of an fptree index",
					RelationGetRelationName(rel)),
			 errhint("Name the index instead; function fptree_stripes() lists the stripes of one.")));
}

static TableScanDesc
fpt_stripe_scan_begin(Relation rel, Snapshot snapshot, int nkeys,
					  struct ScanKeyData *key, ParallelTableScanDesc pscan,
					  uint32 flags)
{
	fpt_stripe_refuse(rel);
}

static IndexFetchTableData *
fpt_stripe_index_fetch_begin(Relation rel FPT_TABLEAM_FLAGS)
{
	fpt_stripe_refuse(rel);
}

static bool
fpt_stripe_fetch_row_version(Relation rel, ItemPointer tid, Snapshot snapshot,
							 TupleTableSlot *slot)
{
	fpt_stripe_refuse(rel);
}

static void
fpt_stripe_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid,
						FPTTableOptions options,
						struct BulkInsertStateData *bistate)
{
	fpt_stripe_refuse(rel);
}

static void
fpt_stripe_multi_insert(Relation rel, TupleTableSlot **slots, int nslots,
						CommandId cid, FPTTableOptions options,
						struct BulkInsertStateData *bistate)
{
	fpt_stripe_refuse(rel);
}

/*
 * A stripe gets a file, as it is created or rebuilt.  Raises an error if it is
 * no stripe but a user's table.
 */
static void
fpt_stripe_set_new_file(Relation rel, const FPTLocator *locator,
						char persistence, TransactionId *freezeXid,
						MultiXactId *minmulti)
{
	/* Users can name the access method in CREATE TABLE, too. */
	if (rel->rd_rel->relkind != RELKIND_TOASTVALUE ||
		RelationGetNamespace(rel) != PG_TOAST_NAMESPACE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("access method \"%s\" is for the stripes of fptree indexes only",
						FPT_STRIPE_AM),
				 errhint("Use another access method for tables.")));
	/* There is nothing to freeze: VACUUM passes over the relation. */
	*freezeXid = InvalidTransactionId;
	*minmulti = InvalidMultiXactId;
	fpt_stripe_create_file(locator, persistence);
}

static void
fpt_stripe_truncate(Relation rel)
{
	fpt_stripe_refuse(rel);
}

static void
fpt_stripe_copy_data(Relation rel, const FPTLocator *locator)
{
	fpt_stripe_refuse(rel);
}

static void
fpt_stripe_copy_for_cluster(Relation from, Relation to, Relation index,
							bool sort,
							TransactionId oldest FPT_TABLEAM_SNAPSHOT,
							TransactionId *freezeXid, MultiXactId *minmulti,
							double *ntuples, double *vacuumed, double *recent)
{
	fpt_stripe_refuse(from);
}

/* Its index's VACUUM does what there is to do. */
static void
fpt_stripe_vacuum(Relation rel, FPTVacuumParams *params,
				  BufferAccessStrategy strategy)
{
}

static bool
fpt_stripe_needs_toast(Relation rel)
{
	return false;
}

/*
 * Handler of the table access method of stripes: heap's functions where core
 * asks a relation of any kind, errors where somebody takes a stripe for a
 * table.  The result is static: core may keep the pointer.
 */
Datum
fptree_stripe_handler(PG_FUNCTION_ARGS)
{
	static TableAmRoutine am;

	am = *GetHeapamTableAmRoutine();
	am.scan_begin = fpt_stripe_scan_begin;
	am.index_fetch_begin = fpt_stripe_index_fetch_begin;
	am.tuple_fetch_row_version = fpt_stripe_fetch_row_version;
	am.tuple_insert = fpt_stripe_tuple_insert;
	am.multi_insert = fpt_stripe_multi_insert;
	am.FPT_TABLEAM_NEW_FILE = fpt_stripe_set_new_file;
	am.relation_nontransactional_truncate = fpt_stripe_truncate;
	am.relation_copy_data = fpt_stripe_copy_data;
	am.relation_copy_for_cluster = fpt_stripe_copy_for_cluster;
	am.relation_vacuum = fpt_stripe_vacuum;
	am.relation_needs_toast_table = fpt_stripe_needs_toast;
	PG_RETURN_POINTER(&am);
}
