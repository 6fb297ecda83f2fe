/*-------------------------------------------------------------------------
 *
 * store/counts.h
 *	  Counters of scans of each index, of all sessions; see store/counts.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_COUNTS_H
#define FPT_STORE_COUNTS_H

#include "access/parallel.h"
#include "access/xact.h"
#include "datatype/timestamp.h"

/* What was asked for, and each reason for not asking. */
typedef enum FPTCounter
{
	FPT_LEAF_ISSUED,			/* reads started */
	FPT_LEAF_CACHED,			/* asked for, found in shared buffers */
	FPT_LEAF_WASTED,			/* reads started, never come to */
	FPT_LEAF_REQUESTS,			/* what those reads took; of the session only */
	FPT_HEAP_ISSUED,
	FPT_HEAP_CACHED,
	FPT_HEAP_WASTED,
	FPT_HEAP_REQUESTS,
	FPT_DISTANCE_MAX,			/* largest distance reached */
	FPT_SKIP_OFF,				/* not asked: switched off by a setting */
	FPT_SKIP_LIMIT,				/* ... tablespace allows no concurrency */
	FPT_SKIP_SHORT,				/* ... the scan is too short so far */
	FPT_SKIP_PAUSE,				/* ... all was cached before */
	FPT_SKIP_END,				/* ... the end of the range is in sight */
	FPT_SKIP_SEQUENTIAL,		/* ... pages lie one after the other */
	FPT_SKIP_LOST,				/* ... leaf is not where the parents said */
	FPT_SKIP_GONE,				/* ... page number behind the end of the file */
	FPT_SKIP_KIND,				/* ... snapshot or table not suited */
	FPT_SKIP_BITMAP,			/* ... heap pages are the executor's business */
	FPT_SKIP_VISIBLE,			/* ... index-only scan, page all-visible */
	FPT_SKIP_PINNED,			/* ... rows of the next leaf not looked at */
	FPT_SKIP_FAR,				/* ... rows of the leaf after the next */
	FPT_NCOUNTERS
} FPTCounter;

/* Of this backend */
extern uint64 fpt_counters[FPT_NCOUNTERS];

extern const char *const fpt_counter_names[FPT_NCOUNTERS];

/* Count for the backend, and for a scan if there is one (else NULL). */
static inline void
fpt_count(uint64 *scan, FPTCounter what, uint64 n)
{
	fpt_counters[what] += n;
	if (scan)
		scan[what] += n;
}

/* The same of the distance reached: the largest one counts. */
static inline void
fpt_count_distance(uint64 *scan, uint64 distance)
{
	if (fpt_counters[FPT_DISTANCE_MAX] < distance)
		fpt_counters[FPT_DISTANCE_MAX] = distance;
	if (scan && scan[FPT_DISTANCE_MAX] < distance)
		scan[FPT_DISTANCE_MAX] = distance;
}

/*
 * Counters of one index, in all sessions.  In shared memory, under the spinlock
 * of its set.  FPT_DISTANCE_MAX is a maximum, all others are sums.
 */
typedef struct FPTCounts
{
	Oid			db;				/* InvalidOid: not in use */
	Oid			index;
	uint64		scans;			/* that have ended */
	TimestampTz since;			/* start of the statement that began to count */
	TimestampTz last;			/* start of the last statement that counted */
	uint64		n[FPT_NCOUNTERS];
} FPTCounts;

/* An index has room for as many others of its set beside it. */
#define FPT_COUNTS_WAYS		8
#define FPT_COUNTS_SETS		256

/* Has this session not looked for the counters yet?  It does so once. */
extern bool fpt_counts_untried;

/* For fpt_counts_begin() alone, which see. */
extern void fpt_counts_attach(void);

/*
 * When a scan is planned, or begins: have the counters at hand when it ends.
 * The first time in a session this may take a while; it does not fail.  No page
 * may be locked.  The end of a subtransaction may begin a new command, which
 * the leader of a parallel operation may not do: it has planned before.
 */
static inline void
fpt_counts_begin(void)
{
	if (unlikely(fpt_counts_untried) &&
		(!IsInParallelMode() || IsParallelWorker()))
		fpt_counts_attach();
}

/*
 * Add what a scan has counted.  One spinlock, for a few lines; raises no error,
 * allocates nothing.  Nothing happens if the session has no counters at hand,
 * or track_counts is off.
 */
extern void fpt_counts_add(Oid index, uint64 scans, const uint64 *n);

/*
 * Copy what is in use of a set, for this database, to "to" (FPT_COUNTS_WAYS);
 * returns how many that are.  One spinlock, for a few lines.
 */
extern int	fpt_counts_read(int set, FPTCounts *to);

/*
 * Begin anew for an index of this database, or all of them (InvalidOid).  One
 * spinlock after the other.
 */
extern void fpt_counts_reset(Oid index);

#endif							/* FPT_STORE_COUNTS_H */
