/*-------------------------------------------------------------------------
 *
 * load/parallel.c
 *	  Parallel workers of an index build.
 *
 * Every participant, the leader among them, scans a part of the heap and leaves
 * its entries as sorted runs in files that are shared through a file set.  When
 * all are done the leader merges the runs while it writes the pages.  So only
 * the leader sees all entries: it looks for duplicates, and it alone writes the
 * index and its WAL.
 *
 * Participants share maintenance_work_mem; the leader frees its share before it
 * merges.  What is done to a part of the heap is the business of load/build.c
 * (FPTShareWork).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/proc.h"
#include "storage/sharedfileset.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "load/parallel.h"
#include "load/progress.h"
#include "server/compat.h"

/* Keys of the chunks in the workers' shared memory */
#define FPT_SHM_SHARED		UINT64CONST(0xF970000000000001)
#define FPT_SHM_SCAN		UINT64CONST(0xF970000000000002)
#define FPT_SHM_QUERY		UINT64CONST(0xF970000000000003)
#define FPT_SHM_WALUSAGE	UINT64CONST(0xF970000000000004)
#define FPT_SHM_BUFUSAGE	UINT64CONST(0xF970000000000005)

/*
 * What participants of a parallel build share, in dynamic shared memory.  The
 * constant part is written before workers start; results are protected by
 * "mutex", held for the few lines of fpt_parallel_participate(), and may be
 * read without it once ndone is what the leader waits for.
 */
typedef struct FPTBuildShared
{
	/* constant */
	Oid			heaprelid;
	Oid			indexrelid;
	bool		isconcurrent;
	int			nparticipants;	/* planned, the leader included */
	uint64		queryid;
	SharedFileSet fileset;

	/* signalled when a participant is done */
	ConditionVariable done;

	/* results, protected by mutex */
	slock_t		mutex;
	int			ndone;
	double		reltuples;
	FPTScanned	scanned;
	bool		brokenhotchain;
	FPTSpoolExport exports[FLEXIBLE_ARRAY_MEMBER];	/* FPT_NSPOOLS for each */
} FPTBuildShared;

/* The leader's side of a parallel build */
struct FPTLeader
{
	Relation	heap;
	Relation	index;
	ParallelContext *pcxt;
	FPTBuildShared *shared;
	ParallelTableScanDesc pscan;
	Snapshot	snapshot;
	WalUsage   *walusage;
	BufferUsage *bufusage;
	int			nstarted;		/* participants, the leader included */
};

/* --- a participant's work ----------------------------------------------- */

void
fpt_share_scan(FPTShare *share, IndexBuildCallback callback, void *state)
{
	share->reltuples = table_index_build_scan(share->heap, share->index,
											  share->indexInfo, true,
											  share->progress, callback, state,
											  share->scan);
	if (share->progress)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
									 FPT_PHASE_SORT);
}

/*
 * Do a share of the work and tell the leader.  The work may raise an error,
 * which ends the build for all; the spinlock is held for a few lines after it.
 */
static void
fpt_parallel_participate(FPTBuildShared *shared, FPTShare *share,
						 FPTShareWork work)
{
	Assert(share->participant >= 0 &&
		   share->participant < shared->nparticipants);
	share->fileset = &shared->fileset.fs;
	work(share);

	SpinLockAcquire(&shared->mutex);
	shared->ndone++;
	shared->reltuples += share->reltuples;
	shared->scanned.indtuples += share->scanned.indtuples;
	shared->scanned.maxoff = Max(shared->scanned.maxoff,
								 share->scanned.maxoff);
	if (share->indexInfo->ii_BrokenHotChain)
		shared->brokenhotchain = true;
	memcpy(&shared->exports[share->participant * FPT_NSPOOLS],
		   share->exports, sizeof(share->exports));
	SpinLockRelease(&shared->mutex);
	ConditionVariableSignal(&shared->done);
}

/* --- the leader ---------------------------------------------------------- */

/* Bytes of FPTBuildShared.  Raises an error if they overflow. */
static Size
fpt_shared_size(int nparticipants)
{
	return add_size(offsetof(FPTBuildShared, exports),
					mul_size(sizeof(FPTSpoolExport),
							 mul_size(FPT_NSPOOLS, nparticipants)));
}

/*
 * Ask for the shared memory of all that participants share, before there is
 * any.  Each chunk and each key that fpt_parallel_init_shared() takes is
 * counted here.
 */
static void
fpt_parallel_estimate(ParallelContext *pcxt, Relation heap, Snapshot snapshot)
{
	shm_toc_estimate_chunk(&pcxt->estimator,
						   fpt_shared_size(pcxt->nworkers + 1));
	shm_toc_estimate_chunk(&pcxt->estimator,
						   table_parallelscan_estimate(heap, snapshot));
	shm_toc_estimate_chunk(&pcxt->estimator,
						   mul_size(sizeof(WalUsage), pcxt->nworkers));
	shm_toc_estimate_chunk(&pcxt->estimator,
						   mul_size(sizeof(BufferUsage), pcxt->nworkers));
	shm_toc_estimate_keys(&pcxt->estimator, 4);
	if (debug_query_string)
	{
		shm_toc_estimate_chunk(&pcxt->estimator,
							   strlen(debug_query_string) + 1);
		shm_toc_estimate_keys(&pcxt->estimator, 1);
	}
}

/*
 * Fill the shared memory that fpt_parallel_estimate() asked for.  No worker has
 * started, so nothing is locked.
 */
static void
fpt_parallel_init_shared(FPTLeader *leader, bool isconcurrent)
{
	ParallelContext *pcxt = leader->pcxt;
	Size		size = fpt_shared_size(pcxt->nworkers + 1);
	FPTBuildShared *shared = shm_toc_allocate(pcxt->toc, size);

	Assert(pcxt->nworkers > 0 && leader->shared == NULL);
	memset(shared, 0, size);
	shared->heaprelid = RelationGetRelid(leader->heap);
	shared->indexrelid = RelationGetRelid(leader->index);
	shared->isconcurrent = isconcurrent;
	shared->nparticipants = pcxt->nworkers + 1;
	shared->queryid = pgstat_get_my_query_id();
	SharedFileSetInit(&shared->fileset, pcxt->seg);
	ConditionVariableInit(&shared->done);
	SpinLockInit(&shared->mutex);
	shm_toc_insert(pcxt->toc, FPT_SHM_SHARED, shared);
	leader->shared = shared;

	size = table_parallelscan_estimate(leader->heap, leader->snapshot);
	leader->pscan = shm_toc_allocate(pcxt->toc, size);
	table_parallelscan_initialize(leader->heap, leader->pscan,
								  leader->snapshot);
	shm_toc_insert(pcxt->toc, FPT_SHM_SCAN, leader->pscan);

	leader->walusage = shm_toc_allocate(pcxt->toc,
										mul_size(sizeof(WalUsage),
												 pcxt->nworkers));
	shm_toc_insert(pcxt->toc, FPT_SHM_WALUSAGE, leader->walusage);
	leader->bufusage = shm_toc_allocate(pcxt->toc,
										mul_size(sizeof(BufferUsage),
												 pcxt->nworkers));
	shm_toc_insert(pcxt->toc, FPT_SHM_BUFUSAGE, leader->bufusage);
	if (debug_query_string)
	{
		Size		len = strlen(debug_query_string) + 1;
		char	   *query = shm_toc_allocate(pcxt->toc, len);

		memcpy(query, debug_query_string, len);
		shm_toc_insert(pcxt->toc, FPT_SHM_QUERY, query);
	}
}

void
fpt_leader_end(FPTLeader *leader)
{
	Assert(IsInParallelMode());
	WaitForParallelWorkersToFinish(leader->pcxt);
	for (int i = 0; i < leader->pcxt->nworkers_launched; i++)
		InstrAccumParallelQuery(&leader->bufusage[i], &leader->walusage[i]);
	if (IsMVCCSnapshot(leader->snapshot))
		UnregisterSnapshot(leader->snapshot);
	DestroyParallelContext(leader->pcxt);
	ExitParallelMode();
	pfree(leader);
}

/*
 * See load/parallel.h.  What was begun is undone where there turn out to be no
 * workers; after an error the abort of the transaction does that.
 */
FPTLeader *
fpt_leader_begin(Relation heap, Relation index, IndexInfo *indexInfo)
{
	int			nworkers = fpt_build_workers(heap, index, indexInfo);
	FPTLeader *leader;
	ParallelContext *pcxt;

	if (nworkers <= 0)
		return NULL;
	leader = palloc0(sizeof(FPTLeader));
	leader->heap = heap;
	leader->index = index;
	EnterParallelMode();
	pcxt = CreateParallelContext("fptree", "fpt_parallel_build_main",
								 nworkers);
	leader->pcxt = pcxt;

	/*
	 * A concurrent build indexes what a snapshot sees; the scan of any other
	 * one looks at all tuples and decides itself.
	 */
	leader->snapshot = SnapshotAny;
	if (indexInfo->ii_Concurrent)
		leader->snapshot = RegisterSnapshot(GetTransactionSnapshot());

	fpt_parallel_estimate(pcxt, heap, leader->snapshot);
	InitializeParallelDSM(pcxt);
	if (pcxt->seg != NULL)
	{
		fpt_parallel_init_shared(leader, indexInfo->ii_Concurrent);
		LaunchParallelWorkers(pcxt);
	}
	if (pcxt->nworkers_launched == 0)
	{
		/* no shared memory to be had, or no workers */
		fpt_leader_end(leader);
		return NULL;
	}
	elog(DEBUG1, "building index \"%s\" with %d of %d requested parallel workers",
		 RelationGetRelationName(index), pcxt->nworkers_launched, nworkers);
	leader->nstarted = pcxt->nworkers_launched + 1;
	return leader;
}

/*
 * See load/parallel.h.  The leader's number is that after the last planned
 * worker's, whether that one has started or not.
 */
double
fpt_leader_scan(FPTLeader *leader, IndexInfo *indexInfo, FPTShareWork work,
				  FPTScanned *scanned)
{
	FPTBuildShared *shared = leader->shared;
	FPTShare	share = {
		.heap = leader->heap,
		.index = leader->index,
		.indexInfo = indexInfo,
		.scan = fpt_beginscan_parallel(leader->heap, leader->pscan),
		.progress = true,
		.mem = (Size) maintenance_work_mem * 1024 / leader->nstarted,
		.participant = leader->pcxt->nworkers
	};
	bool		alldone = false;

	Assert(leader->nstarted > 1 && leader->nstarted <= shared->nparticipants);
	fpt_parallel_participate(shared, &share, work);

	/* Else a worker that cannot start would be waited for forever. */
	WaitForParallelWorkersToAttach(leader->pcxt);
	for (;;)
	{
		SpinLockAcquire(&shared->mutex);
		alldone = shared->ndone >= leader->nstarted;
		SpinLockRelease(&shared->mutex);
		if (alldone)
			break;
		ConditionVariableSleep(&shared->done,
							   WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	ConditionVariableCancelSleep();
	Assert(shared->ndone == leader->nstarted);

	/* Nobody changes the results any more. */
	*scanned = shared->scanned;
	if (shared->brokenhotchain)
		indexInfo->ii_BrokenHotChain = true;
	return shared->reltuples;
}

int
fpt_leader_participants(const FPTLeader *leader)
{
	return leader->shared->nparticipants;
}

FileSet *
fpt_leader_files(FPTLeader *leader)
{
	return &leader->shared->fileset.fs;
}

const FPTSpoolExport *
fpt_leader_exports(const FPTLeader *leader, int participant)
{
	Assert(participant >= 0 && participant < leader->shared->nparticipants);
	return &leader->shared->exports[participant * FPT_NSPOOLS];
}

/* --- a worker ------------------------------------------------------------ */

/*
 * See load/parallel.h.  The index is not looked into, and not written: its
 * file has no metapage yet.
 */
void
fpt_worker_work(dsm_segment *seg, shm_toc *toc, FPTShareWork work)
{
	FPTBuildShared *shared = shm_toc_lookup(toc, FPT_SHM_SHARED, false);
	ParallelTableScanDesc pscan = shm_toc_lookup(toc, FPT_SHM_SCAN, false);
	WalUsage   *walusage = shm_toc_lookup(toc, FPT_SHM_WALUSAGE, false);
	BufferUsage *bufusage = shm_toc_lookup(toc, FPT_SHM_BUFUSAGE, false);
	LOCKMODE	heaplock = ShareLock;
	LOCKMODE	indexlock = AccessExclusiveLock;
	FPTShare	share = {.participant = ParallelWorkerNumber};

	/* The leader's flag of a concurrent build is the only one inherited. */
	Assert(MyProc->statusFlags == 0 ||
		   MyProc->statusFlags == PROC_IN_SAFE_IC);
	Assert(ParallelWorkerNumber >= 0 &&
		   ParallelWorkerNumber < shared->nparticipants - 1);
	debug_query_string = shm_toc_lookup(toc, FPT_SHM_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	pgstat_report_query_id(shared->queryid, false);

	/* The same locks that the leader's command holds */
	if (shared->isconcurrent)
	{
		heaplock = ShareUpdateExclusiveLock;
		indexlock = RowExclusiveLock;
	}
	share.heap = table_open(shared->heaprelid, heaplock);
	share.index = index_open(shared->indexrelid, indexlock);
	SharedFileSetAttach(&shared->fileset, seg);
	share.indexInfo = BuildIndexInfo(share.index);
	share.indexInfo->ii_Concurrent = shared->isconcurrent;
	share.scan = fpt_beginscan_parallel(share.heap, pscan);
	share.mem = (Size) maintenance_work_mem * 1024 / shared->nparticipants;

	InstrStartParallelQuery();
	fpt_parallel_participate(shared, &share, work);
	InstrEndParallelQuery(&bufusage[ParallelWorkerNumber],
						  &walusage[ParallelWorkerNumber]);
	index_close(share.index, indexlock);
	table_close(share.heap, heaplock);
}
