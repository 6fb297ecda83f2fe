/*-------------------------------------------------------------------------
 *
 * exec/count.c
 *	  The plan node that counts in an index.
 *
 * It returns one row: the aggregates of all rows that an index-only scan would
 * return.  Leaf by leaf it copies TIDs, and keys if it must, asks the
 * visibility map for all of them (exec/sight.c), adds up those that are proven
 * to be visible, and puts the others off (exec/putoff.c).
 *
 * In a parallel scan each participant adds up the entries that it has read, and
 * the last one returns the row (E11).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/relscan.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "pgstat.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "exec/count.h"
#include "exec/node.h"
#include "exec/putoff.h"
#include "exec/sight.h"
#include "exec/tally.h"
#include "key/image.h"
#include "scan/batch.h"
#include "scan/state.h"
#include "server/compat.h"

/*
 * The participants of a parallel scan share this, and core's description of the
 * scan, at FPT_COUNT_SCAN.
 */
typedef struct FPTCountShared
{
	slock_t		mutex;			/* protects all of it */
	int			counting;		/* participants that have begun, and have not
								 * added what they found */
	bool		returned;		/* the row has a participant that returns it */
	FPTTally	tally;			/* of those that have added theirs */
} FPTCountShared;

#define FPT_COUNT_SCAN	BUFFERALIGN(sizeof(FPTCountShared))

typedef struct FPTCountState
{
	CustomScanState css;		/* these two are an FPTNodeState */
	FPTNodeScan ns;
	List	   *aggregates;		/* FPTAggregate */
	Oid			keytype;
	bool		nulls;			/* is a key NULL? is asked */
	bool		values;			/* its value is */
	bool		done;			/* the row has been returned */
	FPTPutOff	off;			/* entries put off, with values */
	FPTPutOff	offnull;		/* those with a NULL, if it matters */
	FPTTally	tally;
	FPTCountShared *shared;		/* NULL: not a parallel scan */
	uint64		flip;			/* of fpt_image_value_bytes() */
	int			bytes;
	int64	   *numbers;		/* keys of a batch */
	int			maxnumbers;
} FPTCountState;

/* --- batches ------------------------------------------------------------- */

/*
 * Keys from "from" to "to" - 1 of the batch as numbers, to st->numbers, at
 * their places.  Allocates if there is no room, in the query's context.
 */
static void
fpt_count_numbers(FPTCountState *st, const FPTBatch *b, int from, int to)
{
	const uint64 *los = b->los;
	uint64		flip = st->flip;
	int64	   *numbers;

	Assert(from >= 0 && from <= to && to <= b->n);
	if (st->maxnumbers < b->n)
	{
		if (st->numbers != NULL)
			pfree(st->numbers);
		st->numbers = MemoryContextAlloc(st->ns.sight.cxt,
										 b->max * sizeof(int64));
		st->maxnumbers = b->max;
	}
	numbers = st->numbers;
	if (st->bytes == sizeof(uint64))
	{
		for (int i = from; i < to; i++)
			numbers[i] = (int64) (los[i] ^ flip);
	}
	else if (st->keytype == OIDOID)
	{
		for (int i = from; i < to; i++)
			numbers[i] = (uint32) (los[i] ^ flip);
	}
	else
	{
		for (int i = from; i < to; i++)
			numbers[i] = (int32) (los[i] ^ flip);
	}
}

/* Look up entries that were put off, and add up the rows found. */
static void
fpt_count_visit(FPTCountState *st, FPTPutOff *p)
{
	size_t		found;

	if (p->n == 0)
		return;
	InstrCountTuples2(&st->css.ss, p->n);
	found = fpt_putoff_visit(st->ns.scan, p);
	if (p == &st->offnull)
		st->tally.rows += found;
	else if (!st->values)
	{
		st->tally.rows += found;
		st->tally.keys += found;
	}
	else
	{
		for (size_t i = 0; i < found; i++)
		{
			int64		key = (int64) p->recs[i * p->nwords + FPT_PUTOFF_VALUE];

			fpt_tally_keys(&st->tally, &key, 1);
		}
	}
}

static inline void
fpt_count_visit_all(FPTCountState *st)
{
	fpt_count_visit(st, &st->off);
	fpt_count_visit(st, &st->offnull);
}

/*
 * Make room for n entries of a batch, by a visit of those put off if need be.
 */
static void
fpt_count_room(FPTCountState *st, FPTPutOff *p, const FPTBatch *b, int n)
{
	if (!fpt_putoff_room(p, n))
	{
		fpt_count_visit(st, p);
		if (!fpt_putoff_room(p, n))
			elog(ERROR, "no room for the entries of a leaf");
	}
	fpt_putoff_leaf(p, b);
}

/* Put the i'th entry of the batch off; room has been made. */
static inline void
fpt_count_later(FPTCountState *st, const FPTBatch *b, int i)
{
	if (i >= b->nullfrom && i < b->nullto)
		fpt_putoff_add(&st->offnull, b->tids[i], 0);
	else
		fpt_putoff_add(&st->off, b->tids[i],
					   st->values ? (uint64) st->numbers[i] : 0);
}

/* Add up entries "from" to "to" - 1 of the batch, which are visible. */
static void
fpt_count_run(FPTCountState *st, const FPTBatch *b, int from, int to)
{
	FPTTally   *t = &st->tally;
	int			before = Max(Min(to, b->nullfrom) - from, 0);
	int			after = Max(from, b->nullto);
	int			nafter = Max(to - after, 0);

	Assert(from <= to);
	t->rows += (to - from) - before - nafter;
	if (st->values)
	{
		fpt_tally_keys(t, st->numbers + from, before);
		fpt_tally_keys(t, st->numbers + after, nafter);
		return;
	}
	t->rows += before + nafter;
	t->keys += before + nafter;
}

/*
 * Count the current batch, of whose entries nhidden are not proven to be
 * visible, as st->ns.sight.hidden says.  Looks up those put off if there is no
 * room for more: no page is locked.
 */
static void
fpt_count_batch(FPTCountState *st, const FPTBatch *b, int nhidden)
{
	const int  *hidden = st->ns.sight.hidden;
	int			from = 0;

	if (nhidden > 0)
	{
		fpt_count_room(st, &st->off, b, nhidden);
		if (b->nullto > b->nullfrom)
			fpt_count_room(st, &st->offnull, b, nhidden);
	}
	if (st->values)
	{
		fpt_count_numbers(st, b, 0, b->nullfrom);
		fpt_count_numbers(st, b, b->nullto, b->n);
	}

	/* runs of visible ones between the others */
	for (int k = 0; k < nhidden; k++)
	{
		if (hidden[k] > from)
			fpt_count_run(st, b, from, hidden[k]);
		fpt_count_later(st, b, hidden[k]);
		from = hidden[k] + 1;
	}
	if (b->n > from)
		fpt_count_run(st, b, from, b->n);
}

/*
 * Can batches be counted, or must entries be looked at one by one (E4)?  The
 * scan has just been begun anew; works out what its keys allow.
 */
static bool
fpt_count_by_batches(FPTCountState *st)
{
	IndexScanDesc scan = st->ns.scan;
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	const FPTKeyType *type = so->ix.type;

	so->bare = false;
	so->whole = !fpt_batch_prepare(scan, so);
	if (!so->whole)
		return false;
	if (!st->values)
	{
		so->bare = true;
		return true;
	}
	if (so->quals != NULL || type == NULL || type->typid != st->keytype)
		return false;
	st->bytes = fpt_image_value_bytes(type, &st->flip);
	if (so->ix.descending)
		st->flip = ~st->flip;
	return st->bytes == sizeof(uint64) || st->bytes == sizeof(uint32);
}

/* Count all rows of the scan, batch by batch. */
static void
fpt_count_all(FPTCountState *st)
{
	IndexScanDesc scan = st->ns.scan;
	FPTBatch   *b = &((FPTScanOpaque *) scan->opaque)->cur;
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	bool		more;

	pgstat_count_index_scan(scan->indexRelation);
	fpt_count_search(scan);
	for (more = fpt_batch_first(scan, so, b, ForwardScanDirection); more;
		 more = fpt_batch_after(scan, b, b, ForwardScanDirection))
	{
		int			nhidden = fpt_sight_look(scan, &st->ns.sight, true);

		pgstat_count_index_tuples(scan->indexRelation, b->n);
		fpt_count_batch(st, b, nhidden);
		if (fpt_putoff_keeps_pin(scan))
			fpt_count_visit_all(st);
		fpt_batch_leave(scan, so);
	}
	fpt_count_visit_all(st);
}

/* The same, entry by entry. */
static void
fpt_count_each(FPTCountState *st)
{
	TupleTableSlot *slot = st->css.ss.ss_ScanTupleSlot;

	while (fpt_node_next(&st->ns, ForwardScanDirection))
	{
		if (slot->tts_isnull[0] && st->nulls)
			st->tally.rows++;
		else if (st->values)
		{
			int64		key = fpt_key_number(st->keytype,
											 slot->tts_values[0]);

			fpt_tally_keys(&st->tally, &key, 1);
		}
		else
		{
			st->tally.rows++;
			st->tally.keys++;
		}
	}
}

/* --- parallel scans (E11) ------------------------------------------------ */

/* Begin with one's part; false: the row has been returned without it. */
static bool
fpt_count_enter(FPTCountShared *shared)
{
	bool		open;

	if (shared == NULL)
		return true;
	SpinLockAcquire(&shared->mutex);
	open = !shared->returned;
	if (open)
		shared->counting++;
	SpinLockRelease(&shared->mutex);
	return open;
}

/*
 * One's part has been counted: add it to the others'.  Is it the last one?
 * Then it returns the row, and st->tally is that of all.
 */
static bool
fpt_count_leave(FPTCountState *st)
{
	FPTCountShared *shared = st->shared;
	bool		counted PG_USED_FOR_ASSERTS_ONLY;
	bool		last;

	if (shared == NULL)
		return true;
	SpinLockAcquire(&shared->mutex);
	counted = shared->counting > 0 && !shared->returned;
	fpt_tally_add(&shared->tally, &st->tally);
	last = --shared->counting == 0;
	shared->returned = last;
	st->tally = shared->tally;
	SpinLockRelease(&shared->mutex);
	Assert(counted);
	return last;
}

static Size
fpt_count_estimate(CustomScanState *css, ParallelContext *pcxt)
{
	FPTCountState *st = (FPTCountState *) css;

	return add_size(FPT_COUNT_SCAN, fpt_node_shared_size(&st->ns));
}

/* Nobody counts, and nothing has been counted. */
static void
fpt_count_clear(FPTCountShared *shared)
{
	shared->counting = 0;
	shared->returned = false;
	fpt_tally_clear(&shared->tally);
}

static void
fpt_count_share(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	FPTCountState *st = (FPTCountState *) css;

	st->shared = coordinate;
	SpinLockInit(&st->shared->mutex);
	fpt_count_clear(st->shared);
	fpt_node_share(&st->ns, (ParallelIndexScanDesc)
				   ((char *) coordinate + FPT_COUNT_SCAN));
}

/* There are no workers now. */
static void
fpt_count_share_again(CustomScanState *css, ParallelContext *pcxt,
					  void *coordinate)
{
	FPTCountState *st = (FPTCountState *) css;

	Assert(st->shared == coordinate);
	fpt_count_clear(st->shared);
	fpt_node_share_again(&st->ns);
}

static void
fpt_count_take_part(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	FPTCountState *st = (FPTCountState *) css;

	st->shared = coordinate;
	fpt_node_take_part(&st->ns, (ParallelIndexScanDesc)
					   ((char *) coordinate + FPT_COUNT_SCAN));
}

/* --- the node ------------------------------------------------------------ */

static void
fpt_count_begin(CustomScanState *css, EState *estate, int eflags)
{
	FPTCountState *st = (FPTCountState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	Oid			indexid = linitial_oid(linitial(plan->custom_private));
	ListCell   *lc;

	st->aggregates = lsecond(plan->custom_private);
	st->keytype = lsecond_oid(linitial(plan->custom_private));
	foreach(lc, st->aggregates)
	{
		st->nulls |= lfirst_int(lc) != FPT_AGG_COUNT;
		st->values |= fpt_aggregate_wants_value(lfirst_int(lc));
	}
	fpt_node_open(&st->ns, css, indexid, NIL, eflags);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	fpt_putoff_init(&st->off, estate->es_query_cxt, st->ns.table,
					st->values ? FPT_PUTOFF_WORDS : FPT_PUTOFF_VALUE);
	fpt_putoff_init(&st->offnull, estate->es_query_cxt, st->ns.table,
					FPT_PUTOFF_VALUE);
}

/* The results, in the node's scan tuple, after the index's columns. */
static TupleTableSlot *
fpt_count_result(FPTCountState *st)
{
	TupleTableSlot *slot = st->css.ss.ss_ScanTupleSlot;
	int			i = slot->tts_tupleDescriptor->natts -
		list_length(st->aggregates);
	ListCell   *lc;

	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, i * sizeof(bool));
	foreach(lc, st->aggregates)
	{
		slot->tts_values[i] = fpt_tally_result(&st->tally, lfirst_int(lc),
											   st->keytype,
											   &slot->tts_isnull[i]);
		i++;
	}
	return ExecStoreVirtualTuple(slot);
}

/*
 * ExecCustomScan: the one row, projected if need be; NULL after it, and where
 * another participant returns it.
 */
static TupleTableSlot *
fpt_count_exec(CustomScanState *css)
{
	FPTCountState *st = (FPTCountState *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	MemoryContext old;
	TupleTableSlot *slot;

	if (st->done)
		return NULL;
	st->done = true;
	if (!fpt_count_enter(st->shared))
		return NULL;
	fpt_tally_clear(&st->tally);
	fpt_putoff_clear(&st->off);
	fpt_putoff_clear(&st->offnull);
	fpt_node_restart(&st->ns);
	if (fpt_count_by_batches(st))
		fpt_count_all(st);
	else
		fpt_count_each(st);
	if (!fpt_count_leave(st))
		return NULL;
	ResetExprContext(econtext);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	slot = fpt_count_result(st);
	MemoryContextSwitchTo(old);
	if (css->ss.ps.ps_ProjInfo == NULL)
		return slot;
	econtext->ecxt_scantuple = slot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

/* The scan itself is begun anew when the row is asked for. */
static void
fpt_count_rescan(CustomScanState *css)
{
	((FPTCountState *) css)->done = false;
}

static void
fpt_count_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	fpt_node_explain(&((FPTCountState *) css)->ns, ancestors, es);
}

static const CustomExecMethods fpt_count_exec_methods = {
	.CustomName = FPT_COUNT_NAME,
	.BeginCustomScan = fpt_count_begin,
	.ExecCustomScan = fpt_count_exec,
	.EndCustomScan = fpt_node_end,
	.ReScanCustomScan = fpt_count_rescan,
	.EstimateDSMCustomScan = fpt_count_estimate,
	.InitializeDSMCustomScan = fpt_count_share,
	.ReInitializeDSMCustomScan = fpt_count_share_again,
	.InitializeWorkerCustomScan = fpt_count_take_part,
	.ExplainCustomScan = fpt_count_explain,
};

static Node *
fpt_count_state(CustomScan *plan)
{
	FPTCountState *st = (FPTCountState *) newNode(sizeof(FPTCountState),
												  T_CustomScanState);

	st->css.methods = &fpt_count_exec_methods;
	return (Node *) st;
}

static const CustomScanMethods fpt_count_methods = {
	.CustomName = FPT_COUNT_NAME,
	.CreateCustomScanState = fpt_count_state,
};

void
fpt_count_register(void)
{
	RegisterCustomScanMethods(&fpt_count_methods);
}

CustomScan *
fpt_count_plan(Index scanrelid, Oid indexid, List *columns, List *aggrefs,
			   List *aggregates, Oid keytype, List *quals)
{
	CustomScan *plan = makeNode(CustomScan);

	Assert(list_length(aggrefs) == list_length(aggregates));
	plan->scan.scanrelid = scanrelid;
	plan->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	plan->custom_scan_tlist = fpt_node_tuple(columns, aggrefs);
	plan->custom_exprs = copyObjectImpl(quals);
	plan->custom_private = list_make2(list_make2_oid(indexid, keytype),
									  aggregates);
	plan->methods = &fpt_count_methods;
	return plan;
}
