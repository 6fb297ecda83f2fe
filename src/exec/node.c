/*-------------------------------------------------------------------------
 *
 * exec/node.c
 *	  The scan of an index by a plan node of ours.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "executor/executor.h"
#include "executor/nodeIndexscan.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "exec/node.h"
#include "key/tid.h"
#include "scan/state.h"
#include "server/compat.h"

/* May the user call this function?  Reads catalogues; raises if not. */
static void
fpt_node_require(Oid function, ObjectType type)
{
	if (fpt_function_acl(function, GetUserId()) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, type, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/*
 * May the user call the functions that the node does the work of: aggregates,
 * the operators of conditions, and the equality of keys ("equality", a list of
 * Oids)?  Core asks when it prepares a node, for EXPLAIN, too, but does not ask
 * for row comparisons.  Reads catalogues; raises the error if not.
 */
static void
fpt_node_require_functions(const CustomScan *plan, const List *equality)
{
	ListCell   *lc;

	foreach(lc, plan->custom_scan_tlist)
	{
		Aggref	   *agg = (Aggref *) lfirst_node(TargetEntry, lc)->expr;

		if (IsA(agg, Aggref))
			fpt_node_require(agg->aggfnoid, OBJECT_AGGREGATE);
	}
	foreach(lc, plan->custom_exprs)
	{
		Node	   *qual = lfirst(lc);

		if (IsA(qual, OpExpr))
			fpt_node_require(((OpExpr *) qual)->opfuncid, OBJECT_FUNCTION);
		else if (IsA(qual, ScalarArrayOpExpr))
			fpt_node_require(((ScalarArrayOpExpr *) qual)->opfuncid,
							 OBJECT_FUNCTION);
	}
	foreach(lc, equality)
		fpt_node_require(lfirst_oid(lc), OBJECT_FUNCTION);
}

void
fpt_node_open(FPTNodeScan *ns, CustomScanState *css, Oid indexid,
			  const List *equality, int eflags)
{
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	EState	   *estate = css->ss.ps.state;
	ExprContext *standard = css->ss.ps.ps_ExprContext;
	RangeTblEntry *rte = exec_rt_fetch(plan->scan.scanrelid, estate);

	Assert(css->ss.ss_currentRelation != NULL);
	ns->css = css;
	ns->table = css->ss.ss_currentRelation;
	css->ss.ss_currentRelation = NULL;
	ns->indexid = indexid;
	ns->dir = ForwardScanDirection;
	fpt_node_require_functions(plan, equality);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
	{
		/* functions and subqueries that values of conditions have */
		(void) ExecInitQual(plan->custom_exprs, &css->ss.ps);
		return;
	}
	ns->sight.cxt = estate->es_query_cxt;
	ns->index = index_open(indexid, rte->rellockmode);
	ExecIndexBuildScanKeys(&css->ss.ps, ns->index, plan->custom_exprs, false,
						   &ns->keys, &ns->nkeys, &ns->runtime, &ns->nruntime,
						   NULL, NULL);
	if (ns->nruntime == 0)
		return;

	/* values of runtime keys live as long as the scan, not as a row */
	ExecAssignExprContext(estate, &css->ss.ps);
	ns->context = css->ss.ps.ps_ExprContext;
	css->ss.ps.ps_ExprContext = standard;
}

List *
fpt_node_tuple(List *columns, List *aggrefs)
{
	List	   *tuple = NIL;
	ListCell   *lc;

	foreach(lc, columns)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;

		tuple = lappend(tuple, makeTargetEntry(copyObjectImpl(expr),
											   list_length(tuple) + 1, NULL,
											   false));
	}
	foreach(lc, aggrefs)
		tuple = lappend(tuple, makeTargetEntry(copyObjectImpl(lfirst(lc)),
											   list_length(tuple) + 1, NULL,
											   false));
	return tuple;
}

/* Begin the scan, with other participants if it is shared. */
static void
fpt_node_beginscan(FPTNodeScan *ns)
{
	EState	   *estate = ns->css->ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	Assert(ns->index != NULL && ns->scan == NULL);
	if (ns->shared != NULL)
		ns->scan = fpt_index_beginscan_parallel(ns->table, ns->index,
												ns->nkeys, ns->shared);
	else
		ns->scan = fpt_index_beginscan(ns->table, ns->index,
									   estate->es_snapshot, ns->nkeys);
	ns->scan->xs_want_itup = true;
	MemoryContextSwitchTo(old);
}

Size
fpt_node_shared_size(const FPTNodeScan *ns)
{
	return fpt_index_parallel_size(ns->index, ns->css->ss.ps.state->es_snapshot,
								   ns->nkeys);
}

void
fpt_node_share(FPTNodeScan *ns, ParallelIndexScanDesc target)
{
	fpt_index_parallel_init(ns->table, ns->index,
							ns->css->ss.ps.state->es_snapshot, target);
	ns->shared = target;
	fpt_node_beginscan(ns);
}

void
fpt_node_share_again(FPTNodeScan *ns)
{
	Assert(ns->scan != NULL && ns->scan->parallel_scan == ns->shared);
	index_parallelrescan(ns->scan);
}

void
fpt_node_restart(FPTNodeScan *ns)
{
	if (ns->scan == NULL)
		fpt_node_beginscan(ns);
	if (ns->nruntime > 0)
	{
		ResetExprContext(ns->context);
		ExecIndexEvalRuntimeKeys(ns->context, ns->runtime, ns->nruntime);
	}
	index_rescan(ns->scan, ns->keys, ns->nkeys, NULL, 0);
}

void
fpt_node_end(CustomScanState *css)
{
	FPTNodeScan *ns = &((FPTNodeState *) css)->ns;

	fpt_map_done(&ns->sight.map);
	if (ns->row != NULL)
		ExecDropSingleTupleTableSlot(ns->row);
	if (ns->scan != NULL)
		index_endscan(ns->scan);
	if (ns->index != NULL)
		index_close(ns->index, NoLock);
	ns->row = NULL;
	ns->scan = NULL;
	ns->index = NULL;
}

FPTNodeScan *
fpt_node_of(PlanState *ps)
{
	if (!IsA(ps, CustomScanState) ||
		((CustomScanState *) ps)->methods->EndCustomScan != fpt_node_end)
		return NULL;
	return &((FPTNodeState *) ps)->ns;
}

/* The state of all conditions, and a slot for rows: made when first wanted. */
static pg_noinline void
fpt_node_prepare(FPTNodeScan *ns)
{
	CustomScanState *css = ns->css;
	CustomScan *plan = (CustomScan *) css->ss.ps.plan;
	MemoryContext old = MemoryContextSwitchTo(css->ss.ps.state->es_query_cxt);

	ns->recheck = ExecInitQual(plan->custom_exprs, &css->ss.ps);
	ns->row = table_slot_create(ns->table, NULL);
	MemoryContextSwitchTo(old);
}

bool
fpt_node_fetch(FPTNodeScan *ns, ItemPointer tid)
{
	bool		found;

	if (ns->row == NULL)
		fpt_node_prepare(ns);
	InstrCountTuples2(&ns->css->ss, 1);
	ns->scan->xs_heaptid = *tid;
	ns->scan->xs_heap_continue = false;
	found = index_fetch_heap(ns->scan, ns->row);
	ExecClearTuple(ns->row);
	return found;
}

/*
 * The same by the visibility map (E1), or else the table.  A serializable
 * transaction locks the heap page before it believes the map (E3), and so
 * before the entry is asked: conditions take time.  As fpt_node_next().
 */
static bool
fpt_node_shows(FPTNodeScan *ns, ItemPointer tid)
{
	BlockNumber blk = ItemPointerGetBlockNumber(tid);
	BlockNumber base;
	const uint8 *bits;
	bool		proven;

	if (unlikely(IsolationIsSerializable()))
		proven = fpt_sight_locked(ns->scan, &ns->sight, fpt_tid_encode(tid));
	else
	{
		bits = fpt_map_bits(ns->scan->heapRelation, &ns->sight.map, blk, &base);
		proven = fpt_map_visible(bits, blk - base);
	}
	return proven || fpt_node_fetch(ns, tid);
}

bool
fpt_node_next(FPTNodeScan *ns, ScanDirection dir)
{
	IndexScanDesc scan = ns->scan;
	ScanState  *ss = &ns->css->ss;
	TupleTableSlot *slot = ss->ss_ScanTupleSlot;
	ExprContext *econtext = ss->ps.ps_ExprContext;
	ItemPointer tid;

	if (ns->row == NULL)
		fpt_node_prepare(ns);
	while ((tid = index_getnext_tid(scan, dir)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (!fpt_node_shows(ns, tid))
			continue;
		ExecClearTuple(slot);
		index_deform_tuple(scan->xs_itup, scan->xs_itupdesc, slot->tts_values,
						   slot->tts_isnull);
		ExecStoreVirtualTuple(slot);
		if (scan->xs_recheck)
		{
			econtext->ecxt_scantuple = slot;
			if (!ExecQualAndReset(ns->recheck, econtext))
			{
				InstrCountFiltered2(ss, 1);
				continue;
			}
		}
		return true;
	}
	return false;
}

void
fpt_node_explain(FPTNodeScan *ns, List *ancestors, ExplainState *es)
{
	ScanState  *ss = &ns->css->ss;
	CustomScan *plan = (CustomScan *) ss->ps.plan;
	const char *name = get_rel_name(ns->indexid);

	Assert(name != NULL);
	if (ScanDirectionIsBackward(ns->dir))
		ExplainPropertyText("Scan Direction", "Backward", es);
	ExplainPropertyText("Index Name", es->format == EXPLAIN_FORMAT_TEXT ?
						quote_identifier(name) : name, es);
	if (plan->custom_exprs != NIL)
	{
		List	   *context = set_deparse_context_plan(es->deparse_cxt,
													   ss->ps.plan, ancestors);
		bool		prefix = list_length(es->rtable) > 1 || es->verbose;
		Node	   *cond = (Node *) make_ands_explicit(plan->custom_exprs);

		ExplainPropertyText("Index Cond",
							deparse_expression(cond, context, prefix, false),
							es);
	}
	if (es->analyze && ss->ps.instrument != NULL)
		ExplainPropertyFloat("Heap Fetches", NULL,
							 ss->ps.instrument->ntuples2, 0, es);
}
