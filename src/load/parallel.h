/*-------------------------------------------------------------------------
 *
 * load/parallel.h
 *	  The participants of a parallel build: leader and workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_PARALLEL_H
#define FPT_BUILD_PARALLEL_H

#include "access/tableam.h"
#include "nodes/execnodes.h"
#include "storage/dsm.h"
#include "storage/fileset.h"
#include "storage/shm_toc.h"
#include "utils/relcache.h"

#include "load/sort.h"

/* Spools that a participant of a parallel build may leave behind */
#define FPT_NSPOOLS			2

/* What scanning the heap, or a part of it, has found */
typedef struct FPTScanned
{
	double		indtuples;		/* entries */
	uint32		maxoff;			/* the highest offset of their rows, or 0 */
} FPTScanned;

/*
 * A participant's share of a parallel build: what it is told, and what it
 * leaves.  It is its own; results are added to those of the others when it is
 * done.
 */
typedef struct FPTShare
{
	Relation	heap;
	Relation	index;
	IndexInfo  *indexInfo;
	TableScanDesc scan;			/* of a part of the heap */
	bool		progress;		/* report it? */
	Size		mem;			/* to be used */
	FileSet    *fileset;		/* where runs go, under names of one's own: */
	int			participant;	/* number, from 0 */

	/* results */
	double		reltuples;
	FPTScanned	scanned;
	FPTSpoolExport exports[FPT_NSPOOLS];
} FPTShare;

typedef struct FPTLeader FPTLeader;

/*
 * The leader: start workers.  NULL if none are wanted, or if none could be
 * started: build alone then.  From then on until fpt_leader_end() the process
 * is in parallel mode: no transaction IDs are assigned, no commands counted.
 * Allocates in the current context, and shared memory.  Reads catalogues; may
 * raise.
 */
extern FPTLeader *fpt_leader_begin(Relation heap, Relation index,
									   IndexInfo *indexInfo);

/* Does a participant's share; FPTShare tells what is to be done. */
typedef void (*FPTShareWork) (FPTShare *share);

/*
 * Take part in the scan and wait until all participants are done.  Returns the
 * number of heap tuples; *scanned: what all have found.  Then their results can
 * be looked at.  May be cancelled; raises the errors of workers, too.  Holds no
 * lock while it waits but those of the command.
 */
extern double fpt_leader_scan(FPTLeader *leader, IndexInfo *indexInfo,
								FPTShareWork work, FPTScanned *scanned);

/*
 * Participants that were planned, the leader included, which is the last one.
 */
extern int	fpt_leader_participants(const FPTLeader *leader);

/* Where participants left their runs; until fpt_leader_end(). */
extern FileSet *fpt_leader_files(FPTLeader *leader);

/* What a participant left, FPT_NSPOOLS of them. */
extern const FPTSpoolExport *fpt_leader_exports(const FPTLeader *leader,
												  int participant);

/*
 * The files are not needed any more: wait for the workers' ends, add what they
 * have used to this process's usage, and leave parallel mode.  May raise a
 * worker's error.
 */
extern void fpt_leader_end(FPTLeader *leader);

/*
 * A participant: scan the share's part of the heap, "callback" called for each
 * tuple.  Sets share->reltuples.  May raise, or be cancelled.
 */
extern void fpt_share_scan(FPTShare *share, IndexBuildCallback callback,
						   void *state);

/*
 * The life of a worker.  Opens table and index with the locks that the leader's
 * command has, and gives them back; may raise, which the leader is told.
 */
extern void fpt_worker_work(dsm_segment *seg, shm_toc *toc,
							  FPTShareWork work);

#endif							/* FPT_BUILD_PARALLEL_H */
