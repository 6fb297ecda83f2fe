/*-------------------------------------------------------------------------
 *
 * store/counts.h
 *	  Counters of read-ahead: of this backend, and of a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_COUNTS_H
#define FPT_STORE_COUNTS_H

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

#endif							/* FPT_STORE_COUNTS_H */
