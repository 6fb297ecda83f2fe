/*-------------------------------------------------------------------------
 *
 * tree/vacuum.h
 *	  VACUUM: ambulkdelete and amvacuumcleanup.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_VACUUM_H
#define FPT_TREE_VACUUM_H

#include "access/genam.h"

/*
 * ambulkdelete: remove the entries whose rows the callback says are dead,
 * unlink empty pages, and note free ones.  The callback is asked of all
 * entries, of some more than once, and says the same each time.  Raises an
 * error if it cannot be proven that all leaves were passed (P1), or a page is
 * damaged: then no TID may be freed.
 *
 * Returns stats, allocated in the current context if NULL.  No page may be
 * locked or pinned before, and none is on return.  Reads catalogues; may be
 * cancelled or delayed between two pages, but not while it waits for a lock
 * other than a leaf's cleanup lock.  Nobody else may be in here for the index,
 * which is what VACUUM's lock on the table sees to.
 */
extern IndexBulkDeleteResult *fptbulkdelete(IndexVacuumInfo *info,
											IndexBulkDeleteResult *stats,
											IndexBulkDeleteCallback callback,
											void *callback_state);
/*
 * amvacuumcleanup: let free pages be found, and correct the counts.  Returns
 * stats, NULL if fptbulkdelete() was not called.  Reads catalogues; locks no
 * page of the index but for a moment.
 */
extern IndexBulkDeleteResult *fptvacuumcleanup(IndexVacuumInfo *info,
											   IndexBulkDeleteResult *stats);

#endif							/* FPT_TREE_VACUUM_H */
