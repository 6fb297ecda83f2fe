/*-------------------------------------------------------------------------
 *
 * fpt_build.h
 *	  What the files of the index build share: spools and the page loader.
 *
 * A build collects an index entry for each heap tuple in spools (fpt_sort.c),
 * which give them back in the index's order to the loader (fpt_load.c), which
 * writes the pages bottom-up.  fpt_build.c holds the access method's entry
 * points and the heap scan, fpt_pbuild.c has parallel workers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_H
#define FPT_BUILD_H

#include "fptree.h"

#include "access/tableam.h"
#include "storage/dsm.h"
#include "storage/fileset.h"
#include "storage/shm_toc.h"

/*
 * Runs that are merged at once, at most.  With more, some become one first; the
 * build for tests (fpt_stop.h) does so with the least that take two passes,
 * where others need hundreds of megabytes.
 */
#ifdef FPT_STOP_POINTS
#define FPT_MERGE_RUNS		2
#else
#define FPT_MERGE_RUNS		(1 << 20)	/* memory sets the limit */
#endif

/* --- fpt_radix.c -------------------------------------------------------- */

/* A record is a number of 1, 2 or 3 words of 64 bits, the first one upmost. */
#define FPT_MAX_WORDS		3

/* Is record a before record b? */
static pg_attribute_always_inline bool
fpt_rec_less(const uint64 *a, const uint64 *b, int nwords)
{
	for (int w = 0; w < nwords - 1; w++)
	{
		if (a[w] != b[w])
			return a[w] < b[w];
	}
	return a[nwords - 1] < b[nwords - 1];
}

static pg_attribute_always_inline void
fpt_rec_copy(uint64 *to, const uint64 *from, int nwords)
{
	for (int w = 0; w < nwords; w++)
		to[w] = from[w];
}

/* Sort n records of nwords words in place. */
extern void fpt_radix_sort(uint64 *recs, size_t n, int nwords);

/* --- fpt_sort.c --------------------------------------------------------- */

/*
 * A spooled image key is a record of 1, 2 or 3 words of 64 bits, which sort as
 * one long number, the first word being the most significant:
 *
 *		NULL keys			tid
 *		images of <= 8 bytes	lo, tid
 *		16-byte images		hi, lo, tid
 *
 * where the word "tid" is the TID shifted left by one, with the lowest bit set
 * if the tuple is dead to everybody but old snapshots.  No two records of an
 * index are equal.
 *
 * A spooled general key is this and its tuple, filled up with zeroes to a
 * multiple of 8 bytes.
 */
typedef struct FPTRecord
{
	uint64		head;
	uint64		tid;
	uint32		len;
	uint16		cls;
	uint16		flags;			/* FPT_ENTRY_* */
} FPTRecord;

#define FPT_ENTRY_DEAD		0x0001	/* dead to everybody but old snapshots */
#define FPT_ENTRY_NULL		0x0002	/* a key column is NULL */
StaticAssertDecl(FPT_ENTRY_DEAD == 1, "it is the lowest bit of an image's TID");

/*
 * What is sorted of it in memory, as a record of 3 words.  The place is the
 * number of a chunk and the offset there: the order of places is that in which
 * records came.
 */
typedef struct FPTItem
{
	uint64		cls;
	uint64		head;
	uint64		place;
} FPTItem;

#define FPT_ITEM_WORDS		3

#define FPT_CHUNK_BITS		18
#define FPT_CHUNK_BYTES		((Size) 1 << FPT_CHUNK_BITS)

typedef struct FPTSpool FPTSpool;

/* What a participant of a parallel build leaves behind: runs in a file. */
typedef struct FPTSpoolExport
{
	int64		dirblock;		/* block where the list of runs is */
	int64		nruns;			/* 0: there is no file */
} FPTSpoolExport;

/*
 * Begin a spool that uses at most "mem" bytes (but at least FPT_SPOOL_MINMEM).
 * With a file set, its runs go to the file "name" there, for
 * fpt_spool_export(); else to a private temporary file.  "l": the spool is of
 * general keys and nwords FPT_ITEM_WORDS; NULL: of records of so many words.
 */
#define FPT_SPOOL_MINMEM	((Size) 256 * 1024)
extern FPTSpool *fpt_spool_begin(const FPTLayout *l, int nwords, Size mem,
								 FileSet *fileset, const char *name);

/* Add a record, which may write what is in memory to a file. */
extern void fpt_spool_put(FPTSpool *sp, const uint64 *rec);

/* The same with a general key, whose tuple is copied; flags: FPT_ENTRY_*. */
extern void fpt_spool_put_key(FPTSpool *sp, const FPTKey *key,
							  unsigned flags);

/*
 * All records are there: sort.  Of general keys this may raise errors of
 * comparison functions, as fetching does, and leaves behind what these allocate
 * in the current context.
 */
extern void fpt_spool_sort(FPTSpool *sp);

/*
 * The next records in order: a pointer to some of them, valid until the next
 * call, and their number; 0 at the end.  Of general keys: to one FPTRecord.
 */
extern size_t fpt_spool_fetch(FPTSpool *sp, const uint64 **recs);

/* Leave all records in the file set, sorted. */
extern void fpt_spool_export(FPTSpool *sp, FPTSpoolExport *ex);

/* Add what another spool exported; before fpt_spool_sort(). */
extern void fpt_spool_import(FPTSpool *sp, FileSet *fileset, const char *name,
							 const FPTSpoolExport *ex);
extern void fpt_spool_end(FPTSpool *sp);

/* How far ahead of their use records are asked for, which lie anywhere. */
#define FPT_ITEM_AHEAD		8

static inline Size
fpt_record_size(uint32 len)
{
	return MAXALIGN(sizeof(FPTRecord) + len);
}

/* A record's key; its tuple is in the record. */
static inline void
fpt_record_get(const FPTRecord *rec, FPTKey *key)
{
	key->hi = 0;
	key->lo = rec->head;
	key->tid = rec->tid;
	key->cls = rec->cls;
	key->len = rec->len;
	key->tup = rec->len > 0 ? (const char *) (rec + 1) : NULL;
	key->search = NULL;
}

static inline const FPTRecord *
fpt_item_record(char *const *chunks, const FPTItem *item)
{
	return (const FPTRecord *) (chunks[item->place >> FPT_CHUNK_BITS] +
								(item->place & (FPT_CHUNK_BYTES - 1)));
}

static inline void
fpt_item_get(char *const *chunks, const FPTItem *item, FPTKey *key)
{
	fpt_record_get(fpt_item_record(chunks, item), key);
}

/*
 * Item i of n is being used: ask for the record of one that comes later.
 * Always inline, because gcc removes calls of functions that only prefetch,
 * taking them for functions without effect.
 */
static pg_attribute_always_inline void
fpt_item_ahead(char *const *chunks, const FPTItem *items, size_t i, size_t n)
{
	if (i + FPT_ITEM_AHEAD < n)
	{
		const char *rec = (const char *)
		fpt_item_record(chunks, &items[i + FPT_ITEM_AHEAD]);

		__builtin_prefetch(rec);
		__builtin_prefetch(rec + FPT_LINE);
	}
}

/* The end of the items from "from" on that have the same class and head. */
static inline size_t
fpt_item_run(const FPTItem *items, size_t from, size_t n)
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
							FPTItem *items, size_t n, FPTItem *tmp);

/* --- fpt_build.c ---------------------------------------------------------- */

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

typedef struct FPTLeader FPTLeader;

/*
 * The leader: start workers.  NULL if none are wanted, or if none could be
 * started: build alone then.
 */
extern FPTLeader *fpt_leader_begin(Relation heap, Relation index,
									   IndexInfo *indexInfo);

/* Does a participant's share; FPTShare tells what is to be done. */
typedef void (*FPTShareWork) (FPTShare *share);

/*
 * Take part in the scan and wait until all participants are done.  Returns the
 * number of heap tuples.  Then their results can be looked at.
 */
extern double fpt_leader_scan(FPTLeader *leader, IndexInfo *indexInfo,
								FPTShareWork work, double *indtuples);
extern int	fpt_leader_participants(const FPTLeader *leader);
extern FileSet *fpt_leader_files(FPTLeader *leader);
extern const FPTSpoolExport *fpt_leader_exports(const FPTLeader *leader,
												  int participant);

/* The files are not needed any more. */
extern void fpt_leader_end(FPTLeader *leader);

/* A participant: scan the share's part of the heap. */
extern void fpt_share_scan(FPTShare *share, IndexBuildCallback callback,
						   void *state);

/* The life of a worker. */
extern void fpt_worker_work(dsm_segment *seg, shm_toc *toc,
							  FPTShareWork work);

/* --- fpt_build.c -------------------------------------------------------- */

/* Sub-phases of pg_stat_progress_create_index; 1 is core's "initializing". */
#define FPT_PHASE_SCAN			2
#define FPT_PHASE_SORT			3
#define FPT_PHASE_LOAD			4

/* Entry point of parallel workers, found by its name. */
extern PGDLLEXPORT void fpt_parallel_build_main(dsm_segment *seg,
												shm_toc *toc);

#endif							/* FPT_BUILD_H */
