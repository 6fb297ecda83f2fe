/*-------------------------------------------------------------------------
 *
 * load/build.h
 *	  Building an index: the access method's entry points.
 *
 * A build collects an index entry for each heap tuple in spools (load/sort.c),
 * which give them back in the index's order to the loader (load/load.c), which
 * writes the pages bottom-up.  load/build.c holds the access method's entry
 * points and the heap scan, load/parallel.c has parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_BUILD_H
#define FPT_BUILD_BUILD_H

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "storage/dsm.h"
#include "storage/shm_toc.h"
#include "utils/relcache.h"

/* Entry point of parallel workers, found by its name. */
extern PGDLLEXPORT void fpt_parallel_build_main(dsm_segment *seg,
												shm_toc *toc);

extern IndexBuildResult *fptbuild(Relation heap, Relation index,
								  IndexInfo *indexInfo);
extern void fptbuildempty(Relation index);
extern char *fptbuildphasename(int64 phasenum);

#endif							/* FPT_BUILD_BUILD_H */
