/*-------------------------------------------------------------------------
 *
 * exec/sight.h
 *	  Which entries of a batch have rows that everybody sees.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_EXEC_SIGHT_H
#define FPT_EXEC_SIGHT_H

#include "access/genam.h"

#include "scan/vismap.h"

/* A node's; zeroed before the first use, except the context. */
typedef struct FPTSight
{
	MemoryContext cxt;
	FPTVisMap	map;
	int		   *hidden;			/* entries of the batch, ascending, whose rows
								 * must be looked up */
	int			max;
} FPTSight;

/*
 * How many entries of the scan's current batch must be looked up in the table;
 * s->hidden says which.  The rows of the others are visible to the scan's
 * snapshot, as the visibility map proves (E1), and if "lock" is set, predicate
 * locks are taken of their blocks (E3).
 *
 * The batch is one of an index-only scan, so that its leaf is pinned, and it
 * must be asked for only once.  No page is locked before or after.  Reads the
 * visibility map: may be cancelled, and raise.  Allocates in s->cxt.
 */
extern int	fpt_sight_look(IndexScanDesc scan, FPTSight *s, bool lock);

/*
 * In a serializable transaction: does the map vouch for the row of this TID,
 * and its page have a predicate lock that was taken before?  Asks the map,
 * takes the lock if it does, and asks again: who has written until then has
 * found no lock, and only a look at the row finds the conflict.  Needs the
 * leaf's pin, and reads the map, as fpt_sight_look().
 */
extern bool fpt_sight_locked(IndexScanDesc scan, FPTSight *s, uint64 tid);

#endif							/* FPT_EXEC_SIGHT_H */
