/*-------------------------------------------------------------------------
 *
 * exec/count.h
 *	  The plan node that counts in an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_EXEC_COUNT_H
#define FPT_EXEC_COUNT_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"

/* The node's name in EXPLAIN, and in plans that are written and read. */
#define FPT_COUNT_NAME		"Fptree Count"

/* Make it known to core; once, when the library is loaded. */
extern void fpt_count_register(void);

/*
 * A plan of it, in the current context.  "columns": target entries of the
 * index's columns, all of them.  "aggrefs": Aggrefs of these;
 * "aggregates" has the FPTAggregate of each, and "keytype" is the first
 * column's type.  The node's tuples have the columns, then the results.
 * "quals": conditions of the index, with the index's column to the left.
 */
extern CustomScan *fpt_count_plan(Index scanrelid, Oid indexid, List *columns,
								  List *aggrefs, List *aggregates,
								  Oid keytype, List *quals);

#endif							/* FPT_EXEC_COUNT_H */
