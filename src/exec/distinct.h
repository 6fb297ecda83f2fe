/*-------------------------------------------------------------------------
 *
 * exec/distinct.h
 *	  The plan node that returns the keys of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_EXEC_DISTINCT_H
#define FPT_EXEC_DISTINCT_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"

/* The node's name in EXPLAIN, and in plans that are written and read. */
#define FPT_DISTINCT_NAME	"Fptree Distinct"

/* Make it known to core; once, when the library is loaded. */
extern void fpt_distinct_register(void);

/* The keys that it returns, and in which order. */
typedef struct FPTDistinctKeys
{
	int			ncols;			/* the first columns of the index */
	List	   *equality;		/* functions of the query that say which are
								 * equal, as Oids */
	bool		backward;
} FPTDistinctKeys;

/*
 * A plan of it, in the current context.  "columns": target entries of the
 * index's columns, all of them.
 * "aggrefs": Aggrefs of count(*), which count a key's rows.  The node's tuples
 * have the columns, NULL after the key's, then the counts.  "quals": conditions
 * of the index, with the index's column to the left.
 */
extern CustomScan *fpt_distinct_plan(Index scanrelid, Oid indexid,
									 List *columns,
									 const FPTDistinctKeys *keys,
									 List *aggrefs, List *quals);

#endif							/* FPT_EXEC_DISTINCT_H */
