/*-------------------------------------------------------------------------
 *
 * exec/node.h
 *	  The scan of an index by a plan node of ours.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_EXEC_NODE_H
#define FPT_EXEC_NODE_H

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "utils/relcache.h"

#include "exec/sight.h"
#include "server/compat.h"

/*
 * What a node has of its index.  Its plan is a scan of the table (scanrelid),
 * whose tuples (custom_scan_tlist) begin with the columns of the index, so that
 * custom_exprs, the index's conditions, are of these.
 */
typedef struct FPTNodeScan
{
	CustomScanState *css;
	Relation	table;
	Oid			indexid;
	Relation	index;			/* NULL: EXPLAIN only */
	IndexScanDesc scan;			/* NULL: not begun */
	ParallelIndexScanDesc shared;	/* of a parallel scan; NULL: none */
	ScanDirection dir;			/* the plan's: forward, unless the node says
								 * otherwise */
	ScanKey		keys;
	int			nkeys;
	IndexRuntimeKeyInfo *runtime;
	int			nruntime;
	ExprContext *context;		/* for values of runtime keys */
	ExprState  *recheck;		/* the conditions; NULL: not wanted so far */
	TupleTableSlot *row;		/* of the table; NULL: not wanted so far */
	FPTSight	sight;
} FPTNodeScan;

/* What the state of each node of ours begins with. */
typedef struct FPTNodeState
{
	CustomScanState css;
	FPTNodeScan ns;
} FPTNodeState;

/*
 * The tuple of a node that aggregates, custom_scan_tlist, in the current
 * context: the columns of the index, as the target entries "columns", and the
 * aggregates.
 */
extern List *fpt_node_tuple(List *columns, List *aggrefs);

/*
 * Open the index and make scan keys of its conditions; from
 * BeginCustomScan.  The table is open and locked, the index is locked as the
 * table.  Reads catalogues; allocates in the query's context.  Raises an error
 * if the user may not call an aggregate of the node's, an operator of its
 * conditions, or one of the functions "equality" (Oids), which it does without.
 *
 * From then on the node has no current relation: its rows are none of the
 * table's, and UPDATE ... WHERE CURRENT OF would take the table's place of one
 * from the node if it found it by that (execCurrentOf).
 */
extern void fpt_node_open(FPTNodeScan *ns, CustomScanState *css, Oid indexid,
						  const List *equality, int eflags);

/*
 * Begin the scan, or begin it anew, with the present values of parameters.
 * Nothing is read yet.  Evaluates expressions, which may raise.
 */
extern void fpt_node_restart(FPTNodeScan *ns);

/*
 * A parallel scan by the node: the bytes of its shared memory.  The leader
 * initialises it ("target") and begins the scan, a worker takes part in
 * it.  After that fpt_node_restart() begins a participant's part, at each
 * execution.  Before another one, while there are no workers, the leader has
 * the scan begin anew.
 */
extern Size fpt_node_shared_size(const FPTNodeScan *ns);
extern void fpt_node_share(FPTNodeScan *ns, ParallelIndexScanDesc target);
extern void fpt_node_share_again(FPTNodeScan *ns);

static inline void
fpt_node_take_part(FPTNodeScan *ns, ParallelIndexScanDesc target)
{
	Assert(ns->scan == NULL);
	ns->shared = target;
}

/* EndCustomScan: end the scan, if it was begun, and close the index. */
extern void fpt_node_end(CustomScanState *css);

/* What a node of ours has of its index; NULL: another node. */
extern FPTNodeScan *fpt_node_of(PlanState *ps);

/*
 * Has the entry of this TID, to which the scan has come, a row that the
 * snapshot sees?  Looks at the table; its leaf is pinned.  May be cancelled,
 * and raise.
 */
extern bool fpt_node_fetch(FPTNodeScan *ns, ItemPointer tid);

/*
 * Entry by entry, as core's index-only scan: the next one, in this direction,
 * whose row the
 * snapshot sees, and that meets the conditions, goes into the node's scan
 * tuple, whose other columns stay as they are.  False at the end.  For
 * conditions that the index decides only in part, so that entries must be
 * rechecked (E4), and other rare cases.
 *
 * No page is locked before or after.  Reads the map and the table; runs
 * functions of conditions; may be cancelled, and raise.
 */
extern bool fpt_node_next(FPTNodeScan *ns, ScanDirection dir);

/*
 * EXPLAIN: the direction if it is backward, the index, its conditions, and with
 * ANALYZE rows looked up.
 */
extern void fpt_node_explain(FPTNodeScan *ns, List *ancestors,
							 ExplainState *es);

#endif							/* FPT_EXEC_NODE_H */
