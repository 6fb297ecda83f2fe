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

extern IndexBulkDeleteResult *fptbulkdelete(IndexVacuumInfo *info,
											IndexBulkDeleteResult *stats,
											IndexBulkDeleteCallback callback,
											void *callback_state);
extern IndexBulkDeleteResult *fptvacuumcleanup(IndexVacuumInfo *info,
											   IndexBulkDeleteResult *stats);

#endif							/* FPT_TREE_VACUUM_H */
