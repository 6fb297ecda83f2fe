/*-------------------------------------------------------------------------
 *
 * exec/onlyscan.h
 *	  The plan node that returns rows of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_EXEC_ONLYSCAN_H
#define FPT_EXEC_ONLYSCAN_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"

/* The node's name in EXPLAIN, and in plans that are written and read. */
#define FPT_ONLYSCAN_NAME	"Fptree Index Only Scan"

/* What it can do besides: the flags of its paths and plans. */
#define FPT_ONLYSCAN_FLAGS	(CUSTOMPATH_SUPPORT_BACKWARD_SCAN | \
							 CUSTOMPATH_SUPPORT_MARK_RESTORE | \
							 CUSTOMPATH_SUPPORT_PROJECTION)

/* Make it known to core; once, when the library is loaded. */
extern void fpt_onlyscan_register(void);

/*
 * A plan of it, in the current context.  "columns": target entries of the
 * index's columns, all of them, which the node's tuples have.  "quals":
 * conditions of the index, with the index's column to the left.
 */
extern CustomScan *fpt_onlyscan_plan(Index scanrelid, Oid indexid,
									 List *columns, List *quals,
									 bool backward);

/* Is it the state of such a node? */
extern bool fpt_is_onlyscan(const PlanState *ps);

#endif							/* FPT_EXEC_ONLYSCAN_H */
