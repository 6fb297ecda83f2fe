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

#include "load/load.h"

/* Entry point of parallel workers, found by its name. */
extern PGDLLEXPORT void fpt_parallel_build_main(dsm_segment *seg,
												shm_toc *toc);

extern IndexBuildResult *fptbuild(Relation heap, Relation index,
								  IndexInfo *indexInfo);
extern void fptbuildempty(Relation index);
extern char *fptbuildphasename(int64 phasenum);

/*
 * A trial: the pages that a build of "index" would make of some entries, given
 * to a sink (load/load.h) and not written.  The relation need not be an index
 * of ours, nor have a file: columns, operator families, support functions,
 * order, collations and options are asked of it.  "blocks" is how many the
 * table has.
 *
 * Entries come in any order, and are sorted as a build sorts.  No row of the
 * table has an offset above maxoff, or above those of the entries.  Uniqueness
 * is not looked at.  All three read catalogues, run comparison functions, write
 * temporary files where maintenance_work_mem is short, and may be cancelled and
 * raise, also for an entry that is too wide; only the end, which frees all that
 * is in a context below the one it began in, gives pages to the sink.
 */
typedef struct FPTTrial FPTTrial;

extern FPTTrial *fpt_trial_begin(Relation index, uint32 blocks,
								 FPTLoadSink sink, void *arg);
extern void fpt_trial_add(FPTTrial *t, uint64 tid, Datum *values,
						  bool *isnull);
extern void fpt_trial_end(FPTTrial *t, uint32 maxoff);

#endif							/* FPT_BUILD_BUILD_H */
