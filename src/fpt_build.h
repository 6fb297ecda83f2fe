/*-------------------------------------------------------------------------
 *
 * fpt_build.h
 *	  What the files of the index build share: spools and the page loader.
 *
 * A build collects an index entry for each heap tuple in spools (fpt_sort.c),
 * which give them back in the index's order to the loader (fpt_load.c), which
 * writes the pages bottom-up.  fpt_build.c holds the access method's entry
 * points and the heap scan, fpt_gbuild.c and fpt_gsort.c do the same for general
 * keys, fpt_pbuild.c has parallel workers for both.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_H
#define FPT_BUILD_H

#include "fptree.h"

#include "access/tableam.h"
#include "storage/fileset.h"

/*
 * Runs that are merged at once, at most.  With more, some become one first; the
 * build for tests (fpt_stop.h) does so with the least that take two passes,
 * where others need hundreds of megabytes.
 */
#ifdef FPT_STOP_POINTS
#define FPT_MERGE_RUNS		2
#define FPT_MERGE_GENERAL	2
#else
#define FPT_MERGE_RUNS		(INT_MAX / 2)	/* memory sets the limit */
#define FPT_MERGE_GENERAL	256
#endif

/* --- fpt_sort.c --------------------------------------------------------- */

/*
 * A spooled entry is a record of 1, 2 or 3 words of 64 bits, which sort as one
 * long number, the first word being the most significant:
 *
 *		NULL keys			tid
 *		images of <= 8 bytes	lo, tid
 *		16-byte images		hi, lo, tid
 *
 * where the word "tid" is the TID shifted left by one, with the lowest bit set
 * if the tuple is dead to everybody but old snapshots.  No two records of an
 * index are equal.
 */
#define FPT_SPOOL_MAXWORDS	3

static inline uint64
fpt_spool_tidword(uint64 tid, bool alive)
{
	return (tid << 1) | (alive ? 0 : 1);
}

typedef struct FPTSpool FPTSpool;

/* What a participant of a parallel build leaves behind: runs in a file. */
typedef struct FPTSpoolExport
{
	int64		dirblock;		/* block where the list of runs is; general
								 * keys: number of the first run's file */
	int64		nruns;			/* 0: there is no file */
} FPTSpoolExport;

/* Sort n records of nwords words in place. */
extern void fpt_radix_sort(uint64 *recs, size_t n, int nwords);

/*
 * Begin a spool that uses at most "mem" bytes (but at least FPT_SPOOL_MINMEM).
 * With a file set, its runs go to the file "name" there, for
 * fpt_spool_export(); else to a private temporary file.
 */
#define FPT_SPOOL_MINMEM	((Size) 256 * 1024)
extern FPTSpool *fpt_spool_begin(int nwords, Size mem, FileSet *fileset,
								 const char *name);
extern void fpt_spool_put(FPTSpool *sp, const uint64 *rec);

/* All records are there: sort. */
extern void fpt_spool_sort(FPTSpool *sp);

/*
 * The next records in order: a pointer to some of them, valid until the next
 * call, and their number; 0 at the end.
 */
extern size_t fpt_spool_fetch(FPTSpool *sp, const uint64 **recs);

/* Leave all records in the file set, sorted. */
extern void fpt_spool_export(FPTSpool *sp, FPTSpoolExport *ex);

/* Add what another spool exported; before fpt_spool_sort(). */
extern void fpt_spool_import(FPTSpool *sp, FileSet *fileset, const char *name,
							 const FPTSpoolExport *ex);
extern void fpt_spool_end(FPTSpool *sp);

/* --- fpt_gsort.c: the same for general keys ------------------------------- */

/* An entry: its key's tuple is the caller's, or the sort's. */
typedef struct FPTGEntry
{
	FPTKey		key;
	uint16		flags;			/* FPT_GENTRY_* */
} FPTGEntry;

#define FPT_GENTRY_DEAD		0x0001	/* dead to everybody but old snapshots */
#define FPT_GENTRY_NULL		0x0002	/* a key column is NULL */
#define FPT_GENTRY_END		0x0004	/* no entry: the end of a run on disk */

typedef struct FPTGSort FPTGSort;

/*
 * Begin a sort that uses about "mem" bytes.  With a file set, its runs are files
 * there whose names begin with "name", for fpt_gsort_export().
 */
extern FPTGSort *fpt_gsort_begin(const FPTLayout *l, Size mem,
								 FileSet *fileset, const char *name);
extern void fpt_gsort_put(FPTGSort *s, const FPTGEntry *e);

/* All entries are there: sort. */
extern void fpt_gsort_sort(FPTGSort *s);

/*
 * The next entry in order, false at the end.  Its tuple is in buf, which has
 * FPT_MAX_TUPLE bytes, or in memory of the sort's.
 */
extern bool fpt_gsort_fetch(FPTGSort *s, FPTGEntry *e, char *buf);

/* Leave all entries in the file set, sorted. */
extern void fpt_gsort_export(FPTGSort *s, FPTSpoolExport *ex);

/* Add what another sort exported; before fpt_gsort_sort(). */
extern void fpt_gsort_import(FPTGSort *s, FileSet *fileset, const char *name,
							 const FPTSpoolExport *ex);
extern void fpt_gsort_end(FPTGSort *s);

/* A record in memory: its fixed part, then the tuple.  Not aligned in files. */
typedef struct FPTGRecord
{
	uint64		head;
	uint64		tid;
	uint32		len;
	uint16		cls;
	uint16		flags;			/* FPT_GENTRY_* */
} FPTGRecord;

/*
 * What fpt_radix_sort() sorts of it.  The record's place is its chunk's number
 * and the offset there: the order of places is that in which records came.
 */
typedef struct FPTGItem
{
	uint64		cls;
	uint64		head;
	uint64		place;
} FPTGItem;

#define FPT_GCHUNK_BITS		18
#define FPT_GCHUNK_BYTES	((Size) 1 << FPT_GCHUNK_BITS)

/* How far ahead of their use records are asked for, which lie anywhere. */
#define FPT_GITEM_AHEAD		8

static inline void
fpt_grecord_get(const FPTGRecord *rec, FPTGEntry *e)
{
	e->key.hi = 0;
	e->key.lo = rec->head;
	e->key.tid = rec->tid;
	e->key.cls = rec->cls;
	e->key.len = rec->len;
	e->key.tup = rec->len > 0 ? (const char *) (rec + 1) : NULL;
	e->key.search = NULL;
	e->flags = rec->flags;
}

static inline const FPTGRecord *
fpt_gitem_record(char *const *chunks, const FPTGItem *item)
{
	return (const FPTGRecord *) (chunks[item->place >> FPT_GCHUNK_BITS] +
								 (item->place & (FPT_GCHUNK_BYTES - 1)));
}

static inline void
fpt_gitem_get(char *const *chunks, const FPTGItem *item, FPTGEntry *e)
{
	fpt_grecord_get(fpt_gitem_record(chunks, item), e);
}

/*
 * Item i of n is being used: ask for the record of one that comes later.
 * Always inline, because gcc removes calls of functions that only prefetch,
 * taking them for functions without effect.
 */
static pg_attribute_always_inline void
fpt_gitem_ahead(char *const *chunks, const FPTGItem *items, size_t i,
				size_t n)
{
	if (i + FPT_GITEM_AHEAD < n)
	{
		const char *rec = (const char *)
		fpt_gitem_record(chunks, &items[i + FPT_GITEM_AHEAD]);

		__builtin_prefetch(rec);
		__builtin_prefetch(rec + FPT_LINE);
	}
}

/* The end of the items from "from" on that have the same class and head. */
static inline size_t
fpt_gitem_run(const FPTGItem *items, size_t from, size_t n)
{
	size_t		to = from + 1;

	while (to < n && items[to].head == items[from].head &&
		   items[to].cls == items[from].cls)
		to++;
	return to;
}

/* --- fpt_gorder.c --------------------------------------------------------- */

/*
 * Sort items whose records have the same class and head.  tmp has room for half
 * of them, but for at least FPT_GORDER_TMP.  Destroys class and head of the
 * items.
 */
#define FPT_GORDER_TMP		128
extern void fpt_gorder_sort(const FPTLayout *l, char *const *chunks,
							FPTGItem *items, size_t n, FPTGItem *tmp);

/* --- fpt_gbuild.c --------------------------------------------------------- */

/*
 * Scan the heap and load all entries of an index of general keys; returns the
 * number of heap tuples.
 */
struct FPTLoad;
extern double fpt_gbuild(Relation heap, Relation index, IndexInfo *indexInfo,
						 struct FPTLoad *load, double *indtuples);

/* --- fpt_build.c ---------------------------------------------------------- */

/* Is the index created?  TRUNCATE and REINDEX only build it anew. */
extern bool fpt_is_created(Relation index);

/* --- fpt_load.c --------------------------------------------------------- */

typedef struct FPTLoad FPTLoad;

/*
 * Write a whole index where there is nothing yet: begin, add all keys in
 * ascending order, end.  Nothing is durable before the end.  "init": write what
 * an unlogged index is reset to.  The stripes are there, and empty.
 */
extern FPTLoad *fpt_load_begin(Relation rel, bool init, const Oid *stripes,
							   int nstripes);
extern void fpt_load_add(FPTLoad *load, const FPTKey *key);

/* The layout of the index that is being written. */
extern const FPTLayout *fpt_load_layout(FPTLoad *load);

/* General keys: compare by the types' sort support (fpt_general.h). */
extern void fpt_load_sort_support(FPTLoad *load);
extern void fpt_load_end(FPTLoad *load);

/* --- fpt_pbuild.c ------------------------------------------------------- */

/* Spools that a participant of a parallel build may leave behind */
#define FPT_NSPOOLS			2

/* A participant's share of a parallel build */
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
	double		indtuples;
	FPTSpoolExport exports[FPT_NSPOOLS];
} FPTShare;

typedef struct FPTParallel FPTParallel;

/*
 * The leader: start workers.  NULL if none are wanted, or if none could be
 * started: build alone then.
 */
extern FPTParallel *fpt_parallel_begin(Relation heap, Relation index,
									   IndexInfo *indexInfo);

/*
 * Take part in the scan and wait until all participants are done.  Returns the
 * number of heap tuples.  Then their results can be looked at.
 */
extern double fpt_parallel_scan(FPTParallel *leader, IndexInfo *indexInfo,
								double *indtuples);
extern int	fpt_parallel_participants(const FPTParallel *leader);
extern FileSet *fpt_parallel_files(FPTParallel *leader);
extern const FPTSpoolExport *fpt_parallel_exports(const FPTParallel *leader,
												  int participant);

/* The files are not needed any more. */
extern void fpt_parallel_end(FPTParallel *leader);

/* A participant: scan the share's part of the heap. */
extern void fpt_share_scan(FPTShare *share, IndexBuildCallback callback,
						   void *state);

/* Entry point of parallel workers, found by its name. */
struct shm_toc;
extern PGDLLEXPORT void fpt_parallel_build_main(struct dsm_segment *seg,
												struct shm_toc *toc);

/* A participant's work, by class of keys (fpt_build.c and fpt_gbuild.c). */
extern void fpt_build_share(FPTShare *share);
extern void fpt_gbuild_share(FPTShare *share);

/* --- fpt_build.c -------------------------------------------------------- */

/* Sub-phases of pg_stat_progress_create_index; 1 is core's "initializing". */
#define FPT_PHASE_SCAN			2
#define FPT_PHASE_SORT			3
#define FPT_PHASE_LOAD			4

/*
 * Raise an error if fptree cannot index what the index's definition asks for.
 */
extern void fpt_check_supported(Relation index);

/*
 * Raise the error of a unique index that cannot be built because two live rows
 * have these values.
 */
extern void fpt_duplicate_found(Relation heap, Relation index,
								Datum *values, bool *isnull)
	__attribute__((noreturn));

/* The heap is read: so many entries are to be sorted and loaded. */
extern void fpt_build_progress(double indtuples);

#endif							/* FPT_BUILD_H */
