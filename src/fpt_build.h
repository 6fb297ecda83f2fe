/*-------------------------------------------------------------------------
 *
 * fpt_build.h
 *	  What the files of the index build share: spools and the page loader.
 *
 * A build collects an index entry for each heap tuple in spools (fpt_sort.c),
 * which give them back in the index's order to the loader (fpt_load.c), which
 * writes the pages bottom-up.  fpt_build.c holds the access method's entry
 * points, the heap scan and what parallel workers need.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_H
#define FPT_BUILD_H

#include "fptree.h"

#include "storage/fileset.h"

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
	int64		dirblock;		/* block where the list of runs is */
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

typedef struct FPTGSort FPTGSort;

extern FPTGSort *fpt_gsort_begin(const FPTLayout *l, Size mem);
extern void fpt_gsort_put(FPTGSort *s, const FPTGEntry *e);

/* All entries are there: sort. */
extern void fpt_gsort_sort(FPTGSort *s);

/*
 * The next entry in order, false at the end.  Its tuple is in buf, which has
 * FPT_MAX_TUPLE bytes, or in memory of the sort's.
 */
extern bool fpt_gsort_fetch(FPTGSort *s, FPTGEntry *e, char *buf);
extern void fpt_gsort_end(FPTGSort *s);

/* --- fpt_gbuild.c --------------------------------------------------------- */

/*
 * Scan the heap and load all entries of an index of general keys; returns the
 * number of heap tuples.
 */
struct FPTLoad;
extern double fpt_gbuild(Relation heap, Relation index, IndexInfo *indexInfo,
						 struct FPTLoad *load, double *indtuples);

/* --- fpt_load.c --------------------------------------------------------- */

typedef struct FPTLoad FPTLoad;

/*
 * Write a whole index into an empty fork: begin, add all keys in ascending
 * order, end.  Nothing is durable before the end.
 */
extern FPTLoad *fpt_load_begin(Relation rel, ForkNumber fork);
extern void fpt_load_add(FPTLoad *load, const FPTKey *key);

/* The layout of the index that is being written. */
extern const FPTLayout *fpt_load_layout(FPTLoad *load);
extern void fpt_load_end(FPTLoad *load);

/* --- fpt_build.c -------------------------------------------------------- */

/* Sub-phases of pg_stat_progress_create_index; 1 is core's "initializing". */
#define FPT_PHASE_SCAN			2
#define FPT_PHASE_SORT			3
#define FPT_PHASE_LOAD			4

/*
 * Raise an error if fptree cannot index what the index's definition asks for.
 */
extern void fpt_check_supported(Relation index);

/* Entry point of parallel workers, found by its name. */
struct shm_toc;
extern PGDLLEXPORT void fpt_parallel_build_main(struct dsm_segment *seg,
												struct shm_toc *toc);

#endif							/* FPT_BUILD_H */
