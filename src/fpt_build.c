/*-------------------------------------------------------------------------
 *
 * fpt_build.c
 *	  Building an index: heap scan, uniqueness check and parallel workers.
 *
 * The heap scan spools an entry for each tuple, NULL keys apart from the
 * others; fpt_sort.c sorts and fpt_load.c writes the pages.
 *
 * In a parallel build every participant, the leader among them, scans a part
 * of the heap and leaves its entries as sorted runs in files that are shared
 * through a file set.  When all are done the leader merges the runs while it
 * writes the pages.  Participants share maintenance_work_mem; the leader frees
 * its share before it merges.
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
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "fpt_build.h"

/* Keys of the chunks in the workers' shared memory */
#define FPT_SHM_SHARED		UINT64CONST(0xF970000000000001)
#define FPT_SHM_SCAN		UINT64CONST(0xF970000000000002)
#define FPT_SHM_QUERY		UINT64CONST(0xF970000000000003)
#define FPT_SHM_WALUSAGE	UINT64CONST(0xF970000000000004)
#define FPT_SHM_BUFUSAGE	UINT64CONST(0xF970000000000005)

/* Part of the sort memory that a build gives to the spool of NULLs: 1/16 */
#define FPT_NULLS_SHARE		16

/* The two spools of a participant, and their names in the file set. */
#define FPT_SPOOL_VALUES	0
#define FPT_SPOOL_NULLS		1
#define FPT_NSPOOLS			2

/* What participants of a parallel build share. */
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
	double		indtuples;
	bool		brokenhotchain;
	FPTSpoolExport exports[FLEXIBLE_ARRAY_MEMBER];	/* FPT_NSPOOLS for each */
} FPTBuildShared;

/* The leader's side of a parallel build */
typedef struct FPTBuildLeader
{
	ParallelContext *pcxt;
	FPTBuildShared *shared;
	ParallelTableScanDesc pscan;
	Snapshot	snapshot;
	WalUsage   *walusage;
	BufferUsage *bufusage;
	int			nstarted;		/* participants, the leader included */
} FPTBuildLeader;

/* State of a participant, or of the only process. */
typedef struct FPTBuild
{
	Relation	heap;
	Relation	index;
	FPTIndex	ix;				/* only what fpt_form_key() needs */
	int			nwords;			/* of a record of a value */
	FPTSpool   *spools[FPT_NSPOOLS];
	double		indtuples;
	FPTBuildLeader *leader;		/* NULL: serial */

	/* uniqueness check: images up to dup_hi equal the last live one */
	bool		unique;
	bool		nulls_distinct;
	bool		have_last;
	FPTImage	dup_hi;
} FPTBuild;

/* --- what can be indexed ------------------------------------------------ */

/*
 * Pattern operator classes compare bytes, but their "=" is the type's own: with
 * a nondeterministic collation that is not the same.  Core refuses it for the
 * classes of btree only.
 */
void
fpt_check_supported(Relation index)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		Oid			cmpproc = index_getprocid(index, i + 1, FPT_ORDER_PROC);
		Oid			collation = index->rd_indcollation[i];

		if ((cmpproc == F_BTTEXT_PATTERN_CMP ||
			 cmpproc == F_BTBPCHAR_PATTERN_CMP) &&
			OidIsValid(collation) &&
			!get_collation_isdeterministic(collation))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("nondeterministic collations are not supported for operator classes that compare bytes"),
					 errhint("Use the default operator class for column %d of index \"%s\", or another collation.",
							 i + 1, RelationGetRelationName(index))));
	}
}

/* Fill in a build's description of the index; its metapage is not written. */
static void
fpt_build_init(FPTBuild *b, Relation heap, Relation index,
			   IndexInfo *indexInfo)
{
	int16		opts = index->rd_indoption[0];

	memset(b, 0, sizeof(*b));
	b->heap = heap;
	b->index = index;
	b->ix.type = fpt_keytype_for(index_getprocid(index, 1, FPT_ORDER_PROC),
								 index->rd_opcintype[0]);
	b->ix.descending = (opts & INDOPTION_DESC) != 0;
	b->ix.layout.nullsfirst = (opts & INDOPTION_NULLS_FIRST) != 0;
	b->ix.layout.keysize = (uint8) b->ix.type->keysize;
	b->nwords = b->ix.type->keysize > 8 ? 3 : 2;
	b->unique = indexInfo->ii_Unique;
	b->nulls_distinct = !indexInfo->ii_NullsNotDistinct;
}

/* --- collecting --------------------------------------------------------- */

/* A spool's name in the file set; buf has MAXPGPATH bytes. */
static void
fpt_spool_name(char *buf, int participant, int which)
{
	snprintf(buf, MAXPGPATH, "fptree%d.%d", participant, which);
}

/* Create both spools; mem bytes to share.  fileset NULL: private ones. */
static void
fpt_build_begin_spools(FPTBuild *b, Size mem, FileSet *fileset,
					   int participant)
{
	Size		nullmem = Max(mem / FPT_NULLS_SHARE, FPT_SPOOL_MINMEM);
	char		name[MAXPGPATH];

	for (int which = 0; which < FPT_NSPOOLS; which++)
	{
		bool		nulls = which == FPT_SPOOL_NULLS;
		Size		part = nulls ? nullmem : mem - Min(mem, nullmem);

		fpt_spool_name(name, participant, which);
		b->spools[which] = fpt_spool_begin(nulls ? 1 : b->nwords, part,
										   fileset, name);
	}
}

static void
fpt_build_end_spools(FPTBuild *b)
{
	for (int which = 0; which < FPT_NSPOOLS; which++)
	{
		fpt_spool_end(b->spools[which]);
		b->spools[which] = NULL;
	}
}

/* Callback of the heap scan */
static void
fpt_build_callback(Relation index, ItemPointer tid, Datum *values,
				   bool *isnull, bool tupleIsAlive, void *state)
{
	FPTBuild   *b = (FPTBuild *) state;
	uint64		rec[FPT_SPOOL_MAXWORDS];
	FPTKey		key;

	(void) index;
	fpt_form_key(&b->ix, values[0], isnull[0], fpt_tid_encode(tid), &key);
	rec[0] = key.hi;
	rec[1] = key.lo;
	rec[2] = fpt_spool_tidword(key.tid, tupleIsAlive);
	if (key.cls != FPT_CLS_VALUE)
		fpt_spool_put(b->spools[FPT_SPOOL_NULLS], rec + 2);
	else
		fpt_spool_put(b->spools[FPT_SPOOL_VALUES],
					  rec + FPT_SPOOL_MAXWORDS - b->nwords);
	b->indtuples += 1;
}

/* --- feeding the loader ------------------------------------------------- */

static void
fpt_build_duplicate(FPTBuild *b, const FPTKey *key)
{
	union
	{
		char		bytes[FPT_DECODE_BYTES];
		uint64		align;
	}			buf;
	bool		isnull = key->cls != FPT_CLS_VALUE;
	Datum		value = (Datum) 0;
	char	   *desc;

	if (!isnull)
	{
		FPTImage	img;

		img.hi = key->hi;
		img.lo = key->lo;
		if (b->ix.descending)
			fpt_image_invert(b->ix.type, &img);
		value = fpt_image_decode(b->ix.type, img, buf.bytes);
	}
	desc = BuildIndexValueDescription(b->index, &value, &isnull);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"",
					RelationGetRelationName(b->index)),
			 desc ? errdetail("Key %s is duplicated.", desc) :
			 errdetail("Duplicate keys exist."),
			 errtableconstraint(b->heap, RelationGetRelationName(b->index))));
}

/*
 * A live entry of a unique index.  Images refine btree's equality, and equal
 * ones are neighbours, so it is enough to compare with the last live entry.
 */
static void
fpt_build_check_unique(FPTBuild *b, const FPTKey *key)
{
	FPTImage	img;
	FPTImage	lo;

	img.hi = key->hi;
	img.lo = key->lo;
	if (b->have_last && fpt_img_cmp(img, b->dup_hi) <= 0)
		fpt_build_duplicate(b, key);
	b->have_last = true;
	fpt_image_class(b->ix.type, b->ix.descending, img, &lo, &b->dup_hi);
}

static void
fpt_build_feed_values(FPTBuild *b, FPTLoad *load)
{
	FPTSpool   *sp = b->spools[FPT_SPOOL_VALUES];
	const uint64 *recs;
	size_t		n;

	while ((n = fpt_spool_fetch(sp, &recs)) > 0)
	{
		for (; n > 0; n--, recs += b->nwords)
		{
			uint64		tid = recs[b->nwords - 1];
			FPTKey		key = {.cls = FPT_CLS_VALUE};

			key.hi = b->nwords == 3 ? recs[0] : 0;
			key.lo = recs[b->nwords - 2];
			key.tid = tid >> 1;
			if (b->unique && (tid & 1) == 0)
				fpt_build_check_unique(b, &key);
			fpt_load_add(load, &key);
		}
	}
}

static void
fpt_build_feed_nulls(FPTBuild *b, FPTLoad *load)
{
	FPTSpool   *sp = b->spools[FPT_SPOOL_NULLS];
	bool		check = b->unique && !b->nulls_distinct;
	bool		seen = false;
	const uint64 *recs;
	size_t		n;
	FPTKey		key;

	memset(&key, 0, sizeof(key));
	key.cls = b->ix.layout.nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;
	while ((n = fpt_spool_fetch(sp, &recs)) > 0)
	{
		for (; n > 0; n--, recs++)
		{
			key.tid = recs[0] >> 1;
			if (check && (recs[0] & 1) == 0)
			{
				if (seen)
					fpt_build_duplicate(b, &key);
				seen = true;
			}
			fpt_load_add(load, &key);
		}
	}
}

/* --- parallel build: the leader ----------------------------------------- */

static Size
fpt_shared_size(int nparticipants)
{
	return add_size(offsetof(FPTBuildShared, exports),
					mul_size(sizeof(FPTSpoolExport),
							 mul_size(FPT_NSPOOLS, nparticipants)));
}

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

/* Fill the shared memory that fpt_parallel_estimate() asked for. */
static void
fpt_parallel_init_shared(FPTBuild *b, FPTBuildLeader *leader,
						 bool isconcurrent)
{
	ParallelContext *pcxt = leader->pcxt;
	Size		size = fpt_shared_size(pcxt->nworkers + 1);
	FPTBuildShared *shared = shm_toc_allocate(pcxt->toc, size);

	memset(shared, 0, size);
	shared->heaprelid = RelationGetRelid(b->heap);
	shared->indexrelid = RelationGetRelid(b->index);
	shared->isconcurrent = isconcurrent;
	shared->nparticipants = pcxt->nworkers + 1;
	shared->queryid = pgstat_get_my_query_id();
	SharedFileSetInit(&shared->fileset, pcxt->seg);
	ConditionVariableInit(&shared->done);
	SpinLockInit(&shared->mutex);
	shm_toc_insert(pcxt->toc, FPT_SHM_SHARED, shared);
	leader->shared = shared;

	size = table_parallelscan_estimate(b->heap, leader->snapshot);
	leader->pscan = shm_toc_allocate(pcxt->toc, size);
	table_parallelscan_initialize(b->heap, leader->pscan, leader->snapshot);
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

/* End of a parallel build, or of the attempt. */
static void
fpt_parallel_end(FPTBuildLeader *leader)
{
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
 * Start workers.  Leaves b->leader NULL if none could be started: build
 * serially then.
 */
static void
fpt_parallel_begin(FPTBuild *b, bool isconcurrent, int nworkers)
{
	FPTBuildLeader *leader = palloc0(sizeof(FPTBuildLeader));
	ParallelContext *pcxt;

	EnterParallelMode();
	pcxt = CreateParallelContext("fptree", "fpt_parallel_build_main",
								 nworkers);
	leader->pcxt = pcxt;

	/*
	 * A concurrent build indexes what a snapshot sees; the scan of any other
	 * one looks at all tuples and decides itself.
	 */
	leader->snapshot = SnapshotAny;
	if (isconcurrent)
		leader->snapshot = RegisterSnapshot(GetTransactionSnapshot());

	fpt_parallel_estimate(pcxt, b->heap, leader->snapshot);
	InitializeParallelDSM(pcxt);
	if (pcxt->seg == NULL)
	{
		/* no shared memory to be had */
		if (IsMVCCSnapshot(leader->snapshot))
			UnregisterSnapshot(leader->snapshot);
		DestroyParallelContext(pcxt);
		ExitParallelMode();
		pfree(leader);
		return;
	}
	fpt_parallel_init_shared(b, leader, isconcurrent);
	LaunchParallelWorkers(pcxt);
	if (pcxt->nworkers_launched == 0)
	{
		fpt_parallel_end(leader);
		return;
	}
	ereport(DEBUG1,
			(errmsg_internal("building index \"%s\" with %d of %d requested parallel workers",
							 RelationGetRelationName(b->index),
							 pcxt->nworkers_launched, nworkers)));
	leader->nstarted = pcxt->nworkers_launched + 1;
	b->leader = leader;
}

/*
 * A participant's work: scan, sort, leave runs in the file set.  "progress" in
 * the leader only.
 */
static void
fpt_parallel_participate(FPTBuild *b, FPTBuildShared *shared,
						 IndexInfo *indexInfo, TableScanDesc scan,
						 int participant, Size mem, bool progress)
{
	FPTSpoolExport exports[FPT_NSPOOLS];
	double		reltuples;

	fpt_build_begin_spools(b, mem, &shared->fileset.fs, participant);
	reltuples = table_index_build_scan(b->heap, b->index, indexInfo, true,
									   progress, fpt_build_callback, b, scan);
	if (progress)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
									 FPT_PHASE_SORT);
	for (int which = 0; which < FPT_NSPOOLS; which++)
		fpt_spool_export(b->spools[which], &exports[which]);
	fpt_build_end_spools(b);

	SpinLockAcquire(&shared->mutex);
	shared->ndone++;
	shared->reltuples += reltuples;
	shared->indtuples += b->indtuples;
	if (indexInfo->ii_BrokenHotChain)
		shared->brokenhotchain = true;
	memcpy(&shared->exports[participant * FPT_NSPOOLS], exports,
		   sizeof(exports));
	SpinLockRelease(&shared->mutex);
	ConditionVariableSignal(&shared->done);
}

/*
 * Take part in the scan, wait until all participants are done, collect their
 * runs.  Returns the number of heap tuples.
 */
static double
fpt_parallel_scan(FPTBuild *b, IndexInfo *indexInfo)
{
	FPTBuildLeader *leader = b->leader;
	FPTBuildShared *shared = leader->shared;
	Size		mem = (Size) maintenance_work_mem * 1024;
	char		name[MAXPGPATH];
	bool		alldone = false;

	fpt_parallel_participate(b, shared, indexInfo,
							 fpt_beginscan_parallel(b->heap, leader->pscan),
							 leader->pcxt->nworkers, mem / leader->nstarted,
							 true);

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

	/* Nobody changes the results any more. */
	b->indtuples = shared->indtuples;
	if (shared->brokenhotchain)
		indexInfo->ii_BrokenHotChain = true;
	fpt_build_begin_spools(b, mem, NULL, 0);
	for (int i = 0; i < shared->nparticipants; i++)
	{
		for (int which = 0; which < FPT_NSPOOLS; which++)
		{
			fpt_spool_name(name, i, which);
			fpt_spool_import(b->spools[which], &shared->fileset.fs, name,
							 &shared->exports[i * FPT_NSPOOLS + which]);
		}
	}
	return shared->reltuples;
}

/* --- parallel build: a worker ------------------------------------------- */

/* Run by a worker's process. */
void
fpt_parallel_build_main(dsm_segment *seg, shm_toc *toc)
{
	FPTBuildShared *shared = shm_toc_lookup(toc, FPT_SHM_SHARED, false);
	ParallelTableScanDesc pscan = shm_toc_lookup(toc, FPT_SHM_SCAN, false);
	WalUsage   *walusage = shm_toc_lookup(toc, FPT_SHM_WALUSAGE, false);
	BufferUsage *bufusage = shm_toc_lookup(toc, FPT_SHM_BUFUSAGE, false);
	LOCKMODE	heaplock = ShareLock;
	LOCKMODE	indexlock = AccessExclusiveLock;
	Relation	heap;
	Relation	index;
	IndexInfo  *indexInfo;
	FPTBuild	build;

	/* The leader's flag of a concurrent build is the only one inherited. */
	Assert(MyProc->statusFlags == 0 ||
		   MyProc->statusFlags == PROC_IN_SAFE_IC);
	debug_query_string = shm_toc_lookup(toc, FPT_SHM_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	pgstat_report_query_id(shared->queryid, false);

	/* The same locks that the leader's command holds */
	if (shared->isconcurrent)
	{
		heaplock = ShareUpdateExclusiveLock;
		indexlock = RowExclusiveLock;
	}
	heap = table_open(shared->heaprelid, heaplock);
	index = index_open(shared->indexrelid, indexlock);
	SharedFileSetAttach(&shared->fileset, seg);
	indexInfo = BuildIndexInfo(index);
	indexInfo->ii_Concurrent = shared->isconcurrent;
	fpt_build_init(&build, heap, index, indexInfo);

	InstrStartParallelQuery();
	fpt_parallel_participate(&build, shared, indexInfo,
							 fpt_beginscan_parallel(heap, pscan),
							 ParallelWorkerNumber,
							 (Size) maintenance_work_mem * 1024 /
							 shared->nparticipants, false);
	InstrEndParallelQuery(&bufusage[ParallelWorkerNumber],
						  &walusage[ParallelWorkerNumber]);
	index_close(index, indexlock);
	table_close(heap, heaplock);
}

/* --- access method's entry points --------------------------------------- */

/* Scan the heap, alone or with workers; returns the number of its tuples. */
static double
fpt_build_scan(FPTBuild *b, IndexInfo *indexInfo)
{
	const int	params[] = {
		PROGRESS_CREATEIDX_TUPLES_TOTAL,
		PROGRESS_SCAN_BLOCKS_TOTAL,
		PROGRESS_SCAN_BLOCKS_DONE
	};
	int64		vals[] = {0, 0, 0};
	int			nworkers = fpt_build_workers(b->heap, b->index, indexInfo);
	double		reltuples;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_SCAN);
	if (nworkers > 0)
		fpt_parallel_begin(b, indexInfo->ii_Concurrent, nworkers);
	if (b->leader != NULL)
		reltuples = fpt_parallel_scan(b, indexInfo);
	else
	{
		fpt_build_begin_spools(b, (Size) maintenance_work_mem * 1024, NULL, 0);
		reltuples = table_index_build_scan(b->heap, b->index, indexInfo, true,
										   true, fpt_build_callback, b, NULL);
	}
	/* The scan's block numbers mean nothing in the phases to come. */
	vals[0] = (int64) b->indtuples;
	pgstat_progress_update_multi_param(lengthof(params), params, vals);
	return reltuples;
}

IndexBuildResult *
fptbuild(Relation heap, Relation index, IndexInfo *indexInfo)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	FPTBuild	b;
	FPTLoad    *load;

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data",
			 RelationGetRelationName(index));
	fpt_check_supported(index);

	/* What this backend knows of a predecessor in the same file is void. */
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;

	/* Before the scan, so that bad options are found before the work. */
	load = fpt_load_begin(index, MAIN_FORKNUM);
	if (fpt_is_general(fpt_load_layout(load)))
	{
		result->heap_tuples = fpt_gbuild(heap, index, indexInfo, load,
										 &result->index_tuples);
		fpt_load_end(load);
		fpt_stop_point(FPT_STOP_BUILD_DONE);
		return result;
	}
	fpt_build_init(&b, heap, index, indexInfo);
	result->heap_tuples = fpt_build_scan(&b, indexInfo);
	fpt_stop_point(FPT_STOP_BUILD_LOAD);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_SORT);
	for (int which = 0; which < FPT_NSPOOLS; which++)
		fpt_spool_sort(b.spools[which]);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_LOAD);
	if (b.ix.layout.nullsfirst)
		fpt_build_feed_nulls(&b, load);
	fpt_build_feed_values(&b, load);
	if (!b.ix.layout.nullsfirst)
		fpt_build_feed_nulls(&b, load);
	fpt_load_end(load);

	fpt_build_end_spools(&b);
	if (b.leader != NULL)
		fpt_parallel_end(b.leader);
	fpt_stop_point(FPT_STOP_BUILD_DONE);
	result->index_tuples = b.indtuples;
	return result;
}

/* The init fork of an unlogged index: an empty index. */
void
fptbuildempty(Relation index)
{
	fpt_load_end(fpt_load_begin(index, INIT_FORKNUM));
}

char *
fptbuildphasename(int64 phasenum)
{
	switch (phasenum)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case FPT_PHASE_SCAN:
			return "scanning table";
		case FPT_PHASE_SORT:
			return "sorting live tuples";
		case FPT_PHASE_LOAD:
			return "loading tuples in tree";
		default:
			return NULL;
	}
}
