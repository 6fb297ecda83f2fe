/*-------------------------------------------------------------------------
 *
 * exec/onlyscan.c
 *	  The plan node that returns rows of an index.
 *
 * It returns what core's index-only scan would, in the same order.  What that
 * asks for each entry is asked for a batch: exec/sight.c finds out which rows
 * have to be looked up.  Values of the others go into the node's slot as they
 * are in the batch: no index tuple is made of an image.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bswap.h"
#include "utils/rel.h"

#include "exec/node.h"
#include "exec/onlyscan.h"
#include "key/image.h"
#include "key/tid.h"
#include "scan/batch.h"
#include "scan/scan.h"
#include "scan/state.h"
#include "server/compat.h"

typedef struct FPTOnlyScanState
{
	CustomScanState css;		/* these two are an FPTNodeState */
	FPTNodeScan ns;
	bool		backward;		/* the plan's direction */
	bool		started;
	bool		each;			/* entry by entry (E4) */
	bool		nocolumns;		/* nothing of a row is wanted */
	bool		serializable;
	bool		looked;			/* the current row was looked up */
	int			run;			/* entries after the current one that are
								 * visible, with nothing else to do */
	ScanDirection dir;			/* of the last step, if this is known: */
	unsigned	turn;			/* the batch that was looked at, */
	int			nhidden;		/* of it; ns.sight.hidden says which, */
	int			nexthidden;		/* number of the next one in there, */
	int			hidden;			/* and that entry; none: beyond the batch */
	int			bytes;			/* of an image's value, and how it differs: */
	uint64		flip;			/* fpt_image_value_bytes() */
	FPTDecoded	value;			/* E9: one passed by reference */
} FPTOnlyScanState;

/* --- batches ------------------------------------------------------------- */

/* To the next entry that must be looked up, in this direction. */
static inline void
fpt_onlyscan_pass(FPTOnlyScanState *st, ScanDirection dir)
{
	st->nexthidden += dir;
	if (st->nexthidden >= 0 && st->nexthidden < st->nhidden)
		st->hidden = st->ns.sight.hidden[st->nexthidden];
	else
		st->hidden = ScanDirectionIsForward(dir) ? INT_MAX : -1;
}

/*
 * The scan has come to an entry that may be of another batch than the one
 * before, or in another direction: find out which entries have to be looked up,
 * from there on.  Locks, errors and memory as of fpt_sight_look().
 */
static pg_noinline void
fpt_onlyscan_look(FPTOnlyScanState *st, ScanDirection dir)
{
	IndexScanDesc scan = st->ns.scan;
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	const FPTBatch *b = &so->cur;
	int			low = 0;
	int			high;

	if (st->turn != so->turn)	/* E7 */
	{
		st->nhidden = fpt_sight_look(scan, &st->ns.sight, false);
		st->turn = so->turn;
	}
	high = st->nhidden;
	while (low < high)
	{
		int			mid = (low + high) / 2;

		if (st->ns.sight.hidden[mid] < b->pos)
			low = mid + 1;
		else
			high = mid;
	}
	/* the first one from there on; backward the last one, to there */
	if (ScanDirectionIsForward(dir))
		st->nexthidden = low - 1;
	else
		st->nexthidden = low +
			(low < st->nhidden && st->ns.sight.hidden[low] == b->pos);
	fpt_onlyscan_pass(st, dir);
	st->dir = dir;
}

/*
 * Is the row of the current entry visible, which the map does not vouch for?
 * The leaf is still pinned.  As fpt_node_fetch().
 */
static pg_noinline bool
fpt_onlyscan_fetch(FPTOnlyScanState *st, ScanDirection dir)
{
	const FPTBatch *b = &((FPTScanOpaque *) st->ns.scan->opaque)->cur;
	ItemPointerData tid;

	CHECK_FOR_INTERRUPTS();
	st->looked = true;
	fpt_onlyscan_pass(st, dir);
	fpt_tid_decode(b->tids[b->pos], &tid);
	return fpt_node_fetch(&st->ns, &tid);
}

/*
 * E8: has the current entry, for which the map vouched when its batch was
 * looked at, a visible row?  Locks its heap page if the map still does.  As
 * fpt_node_fetch() if somebody has written there since.
 */
static pg_noinline bool
fpt_onlyscan_lock(FPTOnlyScanState *st)
{
	const FPTBatch *b = &((FPTScanOpaque *) st->ns.scan->opaque)->cur;
	ItemPointerData tid;

	if (fpt_sight_locked(st->ns.scan, &st->ns.sight, b->tids[b->pos]))
		return true;
	st->looked = true;
	fpt_tid_decode(b->tids[b->pos], &tid);
	return fpt_node_fetch(&st->ns, &tid);
}

/*
 * The scan has stepped to an entry of a batch that was looked at: how many of
 * the next ones can be returned with no more ado?  Neither are they looked up,
 * nor does the scan look ahead in the table.  A cursor that goes back has no
 * such entries.
 */
static inline int
fpt_onlyscan_run(const FPTOnlyScanState *st, FPTScanOpaque *so,
				 ScanDirection dir)
{
	const FPTBatch *b = &so->cur;
	int			run;

	Assert(!st->serializable);
	if (ScanDirectionIsBackward(dir) != st->backward)
		return 0;
	run = ScanDirectionIsForward(dir) ? Min(st->hidden, b->n) - b->pos - 1 :
		b->pos - st->hidden - 1;
	run = Max(Min(run, so->heap.sleep), 0);
	so->heap.sleep -= run;
	return run;
}

/*
 * Go to the next entry with a visible row; false at the end.  No page is locked
 * before or after.  Reads leaves, the map and the table; may be cancelled, and
 * raise.
 */
static bool
fpt_onlyscan_step(FPTOnlyScanState *st, ScanDirection dir)
{
	IndexScanDesc scan = st->ns.scan;
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	const FPTBatch *b = &so->cur;

	st->run = 0;
	st->looked = false;
	for (;;)
	{
		if (!fpt_entry_step(scan, dir))
		{
			table_index_fetch_reset(scan->xs_heapfetch);
			st->dir = NoMovementScanDirection;
			return false;
		}
		if (unlikely(st->dir != dir || st->turn != so->turn))
			fpt_onlyscan_look(st, dir);
		pgstat_count_index_tuples(scan->indexRelation, 1);
		if (likely(b->pos != st->hidden))
		{
			if (likely(!st->serializable))
				break;
			if (fpt_onlyscan_lock(st))
				return true;
		}
		else if (fpt_onlyscan_fetch(st, dir))
			return true;
		st->looked = false;
	}
	st->run = fpt_onlyscan_run(st, so, dir);
	return true;
}

/* --- rows of the result -------------------------------------------------- */

/* The value of the current entry, of an image that is no NULL. */
static inline Datum
fpt_onlyscan_value(FPTOnlyScanState *st, const FPTScanOpaque *so)
{
	const FPTBatch *b = &so->cur;
	FPTImage	img = {.lo = b->los[b->pos] ^ st->flip};

	if (likely(st->bytes == sizeof(int64)))
		return Int64GetDatum((int64) img.lo);
	if (st->bytes == sizeof(int32))
		return Int32GetDatum((int32) img.lo);
	if (b->his != NULL)
		img.hi = b->his[b->pos] ^ st->flip;
	if (st->bytes == 2 * sizeof(uint64))
	{
		uint64		bytes[2] = {pg_hton64(img.hi), pg_hton64(img.lo)};

		memcpy(st->value.buf, bytes, sizeof(bytes));
		return PointerGetDatum(st->value.buf);
	}
	if (so->ix.descending)
		fpt_image_invert(so->ix.type, &img);
	return fpt_image_decode(so->ix.type, img, st->value.buf);
}

/* Whose row the node's tuple is: UPDATE ... WHERE CURRENT OF asks (E10). */
static inline void
fpt_onlyscan_place(FPTOnlyScanState *st)
{
	const FPTBatch *b = &((FPTScanOpaque *) st->ns.scan->opaque)->cur;

	fpt_tid_decode(b->tids[b->pos], &st->css.ss.ss_ScanTupleSlot->tts_tid);
}

/* The current entry, in the node's scan tuple: it lives until the next step. */
static inline TupleTableSlot *
fpt_onlyscan_row(FPTOnlyScanState *st)
{
	TupleTableSlot *slot = st->css.ss.ss_ScanTupleSlot;
	const FPTScanOpaque *so = (FPTScanOpaque *) st->ns.scan->opaque;
	const FPTBatch *b = &so->cur;

	if (unlikely(TTS_SHOULDFREE(slot)))
		ExecClearTuple(slot);
	if (b->items == NULL)
	{
		slot->tts_isnull[0] = unlikely(b->pos >= b->nullfrom) &&
			b->pos < b->nullto;
		slot->tts_values[0] = slot->tts_isnull[0] ? (Datum) 0 :
			fpt_onlyscan_value(st, so);
	}
	else
	{
		bool		passing;
		IndexTuple	tuple = fpt_entry_tuple(st->ns.scan, b->pos, &passing);

		index_deform_tuple(tuple, st->ns.scan->xs_itupdesc, slot->tts_values,
						   slot->tts_isnull);
	}
	slot->tts_nvalid = slot->tts_tupleDescriptor->natts;
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	fpt_onlyscan_place(st);
	return slot;
}

/* --- the node ------------------------------------------------------------ */

static void
fpt_onlyscan_begin(CustomScanState *css, EState *estate, int eflags)
{
	FPTOnlyScanState *st = (FPTOnlyScanState *) css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;

	fpt_node_open(&st->ns, css, linitial_oid(linitial(plan->custom_private)),
				  NIL, eflags);
	st->backward = linitial_int(lsecond(plan->custom_private));
	if (st->backward)
		st->ns.dir = BackwardScanDirection;
	st->nocolumns = plan->scan.plan.targetlist == NIL;
	css->ss.ss_currentRelation = st->ns.table;	/* E10 */
	css->ss.ss_ScanTupleSlot->tts_tableOid = RelationGetRelid(st->ns.table);
}

/* Begin the scan anew: nothing is known of batches. */
static pg_noinline void
fpt_onlyscan_start(FPTOnlyScanState *st)
{
	IndexScanDesc scan;
	FPTScanOpaque *so;

	fpt_node_restart(&st->ns);
	scan = st->ns.scan;
	so = (FPTScanOpaque *) scan->opaque;
	st->each = fpt_batch_prepare(scan, so);
	st->bytes = 0;
	st->flip = 0;
	if (so->ix.type != NULL)
		st->bytes = fpt_image_value_bytes(so->ix.type, &st->flip);
	if (st->bytes > 0 && so->ix.descending)
		st->flip = ~st->flip;
	st->dir = NoMovementScanDirection;
	st->turn = so->turn;
	st->serializable = IsolationIsSerializable();
	st->run = 0;
	st->started = true;
}

/* The next row, in the node's scan tuple; an empty slot at the end. */
static TupleTableSlot *
fpt_onlyscan_next(ScanState *ss)
{
	FPTOnlyScanState *st = (FPTOnlyScanState *) ss;
	ScanDirection dir = ss->ps.state->es_direction;
	bool		found;

	if (unlikely(!st->started))
		fpt_onlyscan_start(st);
	if (st->backward)
		dir = (ScanDirection) -dir;
	if (unlikely(st->each))
	{
		found = fpt_node_next(&st->ns, dir);
		if (!found)
			return ExecClearTuple(ss->ss_ScanTupleSlot);
		ss->ss_ScanTupleSlot->tts_tid = st->ns.scan->xs_heaptid;	/* E10 */
		return ss->ss_ScanTupleSlot;
	}
	if (!fpt_onlyscan_step(st, dir))
		return ExecClearTuple(ss->ss_ScanTupleSlot);
	(void) fpt_onlyscan_row(st);
	if (unlikely(st->looked))	/* E10 */
		ss->ss_ScanTupleSlot->tts_tid = st->ns.scan->xs_heaptid;
	return ss->ss_ScanTupleSlot;
}

/*
 * A row that EvalPlanQual has in the scan's place.  As in core's index-only
 * scans there is none: tables whose rows are locked, or looked up again, need
 * their TIDs.
 */
static bool
fpt_onlyscan_recheck(ScanState *ss, TupleTableSlot *slot)
{
	elog(ERROR, "EvalPlanQual recheck is not supported in index-only scans");
	return false;
}

/* ExecCustomScan: the next row, projected if need be. */
static TupleTableSlot *
fpt_onlyscan_exec(CustomScanState *css)
{
	FPTOnlyScanState *st = (FPTOnlyScanState *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	TupleTableSlot *slot = css->ss.ss_ScanTupleSlot;

	if (likely(st->run > 0) &&
		ScanDirectionIsForward(css->ss.ps.state->es_direction))
	{
		st->run--;
		((FPTScanOpaque *) st->ns.scan->opaque)->cur.pos += st->dir;
		pgstat_count_index_tuples(st->ns.index, 1);
		if (!st->nocolumns)
			fpt_onlyscan_row(st);
		else
			fpt_onlyscan_place(st);
	}
	else if (unlikely(css->ss.ps.state->es_epq_active != NULL))
		return ExecScan(&css->ss, fpt_onlyscan_next, fpt_onlyscan_recheck);
	else
	{
		(void) fpt_onlyscan_next(&css->ss);
		if (TTS_EMPTY(slot))
			return css->ss.ps.ps_ProjInfo == NULL ? NULL :
				ExecClearTuple(css->ss.ps.ps_ResultTupleSlot);
	}
	if (css->ss.ps.ps_ProjInfo == NULL)
		return slot;
	if (st->nocolumns)
	{
		slot = ExecClearTuple(css->ss.ps.ps_ResultTupleSlot);
		return ExecStoreVirtualTuple(slot);
	}
	ResetExprContext(econtext);
	econtext->ecxt_scantuple = slot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

/* The scan itself is begun anew when a row is asked for. */
static void
fpt_onlyscan_rescan(CustomScanState *css)
{
	((FPTOnlyScanState *) css)->started = false;
	((FPTOnlyScanState *) css)->run = 0;
	ExecScanReScan(&css->ss);
}

/* Nothing is marked if no row has been asked for. */
static void
fpt_onlyscan_mark(CustomScanState *css)
{
	FPTOnlyScanState *st = (FPTOnlyScanState *) css;

	if (!st->started)
		fpt_onlyscan_start(st);
	index_markpos(st->ns.scan);
}

/* The marked entry may be of another batch, of which nothing is known. */
static void
fpt_onlyscan_restore(CustomScanState *css)
{
	FPTOnlyScanState *st = (FPTOnlyScanState *) css;

	if (!st->started)
		fpt_onlyscan_start(st);
	index_restrpos(st->ns.scan);
	st->run = 0;
	st->dir = NoMovementScanDirection;
}

static void
fpt_onlyscan_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	fpt_node_explain(&((FPTOnlyScanState *) css)->ns, ancestors, es);
}

static const CustomExecMethods fpt_onlyscan_exec_methods = {
	.CustomName = FPT_ONLYSCAN_NAME,
	.BeginCustomScan = fpt_onlyscan_begin,
	.ExecCustomScan = fpt_onlyscan_exec,
	.EndCustomScan = fpt_node_end,
	.ReScanCustomScan = fpt_onlyscan_rescan,
	.MarkPosCustomScan = fpt_onlyscan_mark,
	.RestrPosCustomScan = fpt_onlyscan_restore,
	.ExplainCustomScan = fpt_onlyscan_explain,
};

bool
fpt_is_onlyscan(const PlanState *ps)
{
	return IsA(ps, CustomScanState) &&
		((const CustomScanState *) ps)->methods == &fpt_onlyscan_exec_methods;
}

static Node *
fpt_onlyscan_state(CustomScan *plan)
{
	FPTOnlyScanState *st = (FPTOnlyScanState *)
		newNode(sizeof(FPTOnlyScanState), T_CustomScanState);

	st->css.methods = &fpt_onlyscan_exec_methods;
	return (Node *) st;
}

static const CustomScanMethods fpt_onlyscan_methods = {
	.CustomName = FPT_ONLYSCAN_NAME,
	.CreateCustomScanState = fpt_onlyscan_state,
};

void
fpt_onlyscan_register(void)
{
	RegisterCustomScanMethods(&fpt_onlyscan_methods);
}

CustomScan *
fpt_onlyscan_plan(Index scanrelid, Oid indexid, List *columns, List *quals,
				  bool backward)
{
	CustomScan *plan = makeNode(CustomScan);

	plan->scan.scanrelid = scanrelid;
	plan->flags = FPT_ONLYSCAN_FLAGS;
	plan->custom_scan_tlist = fpt_node_tuple(columns, NIL);
	plan->custom_exprs = copyObjectImpl(quals);
	plan->custom_private = list_make2(list_make1_oid(indexid),
									  list_make1_int(backward));
	plan->methods = &fpt_onlyscan_methods;
	return plan;
}
