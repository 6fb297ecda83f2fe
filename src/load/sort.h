/*-------------------------------------------------------------------------
 *
 * load/sort.h
 *	  Sorting what a build has collected, in memory or through files.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_SORT_H
#define FPT_BUILD_SORT_H

#include "storage/fileset.h"

#include "page/layout.h"

/*
 * Runs that are merged at once, at most.  With more, some become one first; the
 * build for tests (server/stop.h) does so with the least that take two passes,
 * where others need hundreds of megabytes.
 */
#ifdef FPT_STOP_POINTS
#define FPT_MERGE_RUNS		2
#else
#define FPT_MERGE_RUNS		(1 << 20)	/* memory sets the limit */
#endif

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
 * It is in a context of its own, below the current one.
 */
#define FPT_SPOOL_MINMEM	((Size) 256 * 1024)
extern FPTSpool *fpt_spool_begin(const FPTLayout *l, int nwords, Size mem,
								 FileSet *fileset, const char *name);

/*
 * Add a record, which may write what is in memory to a file: may be cancelled,
 * and raise errors of that.
 */
extern void fpt_spool_put(FPTSpool *sp, const uint64 *rec);

/*
 * The same with a general key, whose tuple is copied; flags: FPT_ENTRY_*.
 * Writing sorts first: may raise errors of comparison functions, too, and leave
 * behind what these allocate in the current context.
 */
extern void fpt_spool_put_key(FPTSpool *sp, const FPTKey *key,
							  unsigned flags);

/*
 * All records are there: sort.  May be cancelled.  Of general keys this may
 * raise errors of comparison functions, as fetching does, and leaves behind
 * what these allocate in the current context.
 */
extern void fpt_spool_sort(FPTSpool *sp);

/*
 * The next records in order: a pointer to some of them, valid until the next
 * call, and their number; 0 at the end.  Of general keys: to one FPTRecord.
 * May be cancelled, and raise errors of reading and of comparison functions.
 */
extern size_t fpt_spool_fetch(FPTSpool *sp, const uint64 **recs);

/*
 * Leave all records in the file set, sorted: as runs, and a list of them.  *ex
 * tells where that is.  The file is closed by fpt_spool_end(), and stays.
 */
extern void fpt_spool_export(FPTSpool *sp, FPTSpoolExport *ex);

/*
 * Add what another spool exported; before fpt_spool_sort(), to a spool without
 * records.  Raises an error if the file cannot be read.
 */
extern void fpt_spool_import(FPTSpool *sp, FileSet *fileset, const char *name,
							 const FPTSpoolExport *ex);

/* Close the spool's files, which deletes private ones, and free its memory. */
extern void fpt_spool_end(FPTSpool *sp);

#endif							/* FPT_BUILD_SORT_H */
