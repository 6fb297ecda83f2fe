/*-------------------------------------------------------------------------
 *
 * fpt_prefetch.h
 *	  Read-ahead of leaf pages and heap pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PREFETCH_H
#define FPT_PREFETCH_H

#include "fptree.h"

/* Settings, see fpt_am.c */
extern bool fpt_guc_leaf_prefetch;
extern bool fpt_guc_heap_prefetch;
extern int	fpt_guc_prefetch_distance;

#define FPT_MAX_DISTANCE	1000

/*
 * How far ahead to prefetch, and whether it is worth asking at all.
 *
 * The distance starts at one and grows with each step of the scan that had to
 * start a read (twofold for heap pages, fourfold for leaves, of which a bounded
 * range wastes none), up to the limit.  When a run of prefetches finds all of
 * it in shared buffers, nothing is asked for a while, the while doubling each
 * time, the distance halving: a scan of cached pages soon pays next to nothing.
 * A single read starts it all again.
 */
typedef struct FPTDistance
{
	int			limit;			/* 0: never prefetch */
	bool		fixed;			/* fptree.prefetch_distance is set */
	int			now;
	int			hits;			/* prefetches in a row found in buffers */
	int			pause;			/* steps for which nothing is asked */
	int			nextpause;
	bool		grow;			/* this step started a read */
} FPTDistance;

/*
 * Prefetches in a row without a read after which nothing is asked a while; less
 * after a pause that nothing has contradicted yet.
 */
#define FPT_HITS_TO_PAUSE	32
#define FPT_HITS_TO_GO_ON	4

extern void fpt_distance_init(FPTDistance *d, int limit);

/* Tell it how a prefetch went: did it start a read? */
extern void fpt_distance_note(FPTDistance *d, bool io);

/* The scan's step is over: the distance grows once at most for all of it. */
extern void fpt_distance_step(FPTDistance *d, int factor);

/* Ask for a block; true if that started a read. */
extern bool fpt_prefetch(Relation rel, BlockNumber blk);

/*
 * The jump-pointer array as far as it has been copied: numbers of leaf pages
 * in the scan's direction, from the leaf-parent pages (fpB+-tree paper,
 * section 2.2).  They are hints: the scan follows its own links.
 */
#define FPT_WINDOW_MAX		512

typedef struct FPTWindow
{
	int			dir;			/* 1 forward, -1 backward, 0: not in use */
	int			n;
	int			cur;			/* page the scan reads now, as far as known */
	int			next;			/* page to prefetch next */
	int			lost;			/* steps in a row that were not found */
	bool		end;			/* nothing behind: the range ends here */
	FPTKeyBuf	bound;			/* where to go on in the leaf-parent level */
	FPTDistance dist;
	uint32		pages[FPT_WINDOW_MAX];
} FPTWindow;

/*
 * Begin at the leaf that covers (forward) or ends at (backward) "from"; stop at
 * "end", inclusive.  limit: most pages to be ahead.
 */
extern void fpt_window_begin(FPTWindow *w, const FPTKey *from, int dir,
							 int limit);

/* The scan is about to read this leaf: prefetch those that come after it. */
extern void fpt_window_step(FPTWindow *w, Relation rel, FPTIndex *ix,
							uint32 pageno, const FPTKey *end);

/* The walk is over: account for what was prefetched and not read. */
extern void fpt_window_done(FPTWindow *w);

/* Counters of this backend */
typedef struct FPTPrefetchStats
{
	uint64		leaf_issued;	/* reads started */
	uint64		leaf_cached;	/* asked for, found in shared buffers */
	uint64		leaf_wasted;	/* asked for, never read by the scan */
	uint64		heap_issued;
	uint64		heap_cached;
	uint64		heap_wasted;
	uint64		distance_max;	/* largest distance reached */
	uint64		skip_off;		/* not asked: switched off by setting */
	uint64		skip_limit;		/* ... tablespace allows no concurrency */
	uint64		skip_short;		/* ... scan too short so far */
	uint64		skip_pause;		/* ... all was cached before */
	uint64		skip_visible;	/* ... index-only scan, page all-visible */
	uint64		skip_kind;		/* ... snapshot or table not suited */
	uint64		skip_end;		/* ... end of the range reached */
	uint64		skip_sequential;	/* ... leaves lie one after the other */
} FPTPrefetchStats;

extern FPTPrefetchStats fpt_prefetch_stats;

#endif							/* FPT_PREFETCH_H */
