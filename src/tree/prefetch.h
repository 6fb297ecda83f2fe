/*-------------------------------------------------------------------------
 *
 * tree/prefetch.h
 *	  Read-ahead of leaf pages and heap pages.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_PREFETCH_H
#define FPT_TREE_PREFETCH_H

#include "utils/relcache.h"

#include "page/layout.h"
#include "store/counts.h"
#include "store/index.h"
#include "store/map.h"

/* Settings, see sql/am.c */
extern bool fpt_guc_leaf_prefetch;

extern bool fpt_guc_heap_prefetch;

extern int	fpt_guc_prefetch_distance;

#define FPT_MAX_DISTANCE	1000

/* How many pages of each stripe were read, and of how many stripes; 0: none. */
typedef struct FPTStripeReads
{
	int			stripes;
	uint64		n[FPT_MAX_STRIPES];
} FPTStripeReads;

/*
 * The counters of ended scans, by index, while somebody collects them: EXPLAIN,
 * where it cannot ask each node for its scan's (up to 17), points fpt_reports
 * at a list of its own, in the order of the scans' ends.
 */
typedef struct FPTReport
{
	struct FPTReport *next;
	Oid			index;
	uint64		scans;
	uint64		n[FPT_NCOUNTERS];
	FPTStripeReads reads;
} FPTReport;

typedef struct FPTReports
{
	MemoryContext cxt;
	FPTReport  *first;
} FPTReports;

extern FPTReports *fpt_reports;

/*
 * Hand a scan's counters to the EXPLAIN that is running, which has asked for
 * them: fpt_reports is not NULL.  Allocates in its context; reads no page.
 */
extern void fpt_report_scan(Oid index, const uint64 *scan,
							const FPTPageMap *map);

/*
 * Add what was read by a scan, to "reads" of the same index.  Raises
 * nothing.
 */
extern void fpt_add_reads(FPTStripeReads *reads, const FPTPageMap *map);

/* --- distance ------------------------------------------------------------ */

/*
 * How far ahead to prefetch, and whether it is worth asking at all.
 *
 * The distance starts at one and grows with each step of the scan that had to
 * start a read (twofold for heap pages, fourfold for leaves, of which a bounded
 * range wastes none), up to the limit; of several disks up to half of it, then
 * by a quarter, so that nobody is far ahead who stops soon.  When a run of
 * prefetches finds all of it in shared buffers, nothing is asked for a while,
 * the while doubling each time, the distance halving: a scan of cached pages
 * soon pays next to nothing. A single read starts it all again.  And where a
 * scan ends, or skips, with more pages asked for in vain than it came to, the
 * distance is taken back to half of their number.
 *
 * It is kept over the rescans of a scan: the inner side of a join does not find
 * out anew each time that its pages are cached.
 */
typedef struct FPTDistance
{
	int			limit;			/* 0: never prefetch */
	int			fast;			/* from here on it grows by a quarter */
	bool		fixed;			/* fptree.prefetch_distance is set */
	int			now;
	int			hits;			/* prefetches in a row found in buffers */
	int			pause;			/* for so long nothing is asked */
	int			nextpause;
	bool		grow;			/* this step started a read */
} FPTDistance;

/*
 * Prefetches in a row without a read after which nothing is asked a while; less
 * after a pause that nothing has contradicted yet.
 */
#define FPT_HITS_TO_PAUSE	32
#define FPT_HITS_TO_GO_ON	4

/* Neighbours that are asked for in one request: see tree/sweep.c. */
#define FPT_REQUEST_MAX		16

/*
 * Going down a run of neighbours, which nobody else reads ahead, so many pages
 * may be asked for whatever the limit is, which stands for reads: they are two.
 */
#define FPT_DOWN_AHEAD		(2 * FPT_REQUEST_MAX)

/* Before the first prefetch; limit: pages ahead at most, 0: none. */
extern void fpt_distance_init(FPTDistance *d, int limit);

/* Tell it how a prefetch went: did it start a read?  The limit is not 0. */
extern void fpt_distance_note(FPTDistance *d, bool io);

/*
 * The scan's step is over: the distance grows once at most for all of it.
 * "down": it goes down a run.
 */
extern void fpt_distance_step(FPTDistance *d, int factor, bool down);

/* How far ahead may pages be: those of a run downwards, or others? */
static inline int
fpt_distance_now(const FPTDistance *d, bool down)
{
	return d->fixed || down ? d->now : Min(d->now, d->limit);
}

/*
 * Pages are asked for in bursts of a quarter of the distance: the device is
 * told of several reads at once, and the bookkeeping is paid once for all.
 * Going down a run it is half of it: the more neighbours, the fewer requests.
 */
static inline int
fpt_burst(int distance, bool down)
{
	return Max(1, down ? Min(distance / 2, FPT_REQUEST_MAX) : distance / 4);
}

/* --- leaves -------------------------------------------------------------- */

/*
 * The jump-pointer array as far as it has been copied: numbers of leaf pages
 * in the scan's direction, from the leaf-parent pages (fpB+-tree paper,
 * section 2.2).  They are hints: the scan follows its own links.
 */
#define FPT_WINDOW_MAX		1024

typedef struct FPTWindow
{
	uint64	   *counters;		/* of the scan, or NULL */
	int			dir;			/* 1 forward, -1 backward, 0: not in use */
	int			n;
	int			cur;			/* page the scan reads now, as far as known */
	int			next;			/* page to prefetch next */
	int			lost;			/* steps in a row that were not found */
	int			came;			/* pages asked for that the walk has come to */
	int			run;			/* neighbours before "next" not in buffers */
	bool		mixed;			/* lately one of them was */
	int			most;			/* leaves after this one that are wanted */
	bool		end;			/* nothing after: the range ends here */
	int			start;			/* leaves that a start asks for, see there */
	int			moststart;
	int			tried;			/* by the last start, if it may learn, or -1 */
	int			ran;			/* leaves that the walk has gone on to */
	FPTKeyBuf	bound;			/* where to go on in the leaf-parent level */
	FPTDistance dist;
	uint32		pages[FPT_WINDOW_MAX];
	bool		started[FPT_WINDOW_MAX];	/* prefetching started a read */
} FPTWindow;

/*
 * Before the first step of a walk in this index.  Reads catalogues (how much
 * its tablespaces allow), so that no page may be locked; may raise, and *w is
 * as it was then.  "counters" may be NULL, and are the caller's.
 */
extern void fpt_window_init(FPTWindow *w, Relation rel, const FPTPageMap *map,
							uint64 *counters);

/*
 * A walk in direction dir is about to go on to leaf "pageno", which covers
 * (forward) or ends at (backward) "at": prefetch the leaves that come after
 * it, up to the one that holds "end".
 *
 * No page may be locked.  Leaf-parents are, to read, one at a time; nothing is
 * locked or pinned on return.  May be cancelled.  Raises an error if an inner
 * page is damaged, or if comparing general keys does, which may process
 * invalidations: *ix is a copy then.
 */
extern void fpt_window_step(FPTWindow *w, Relation rel, FPTIndex *ix,
							const FPTKey *at, uint32 pageno, int dir,
							const FPTKey *end);

/*
 * The read of a walk's first leaf, which covers (forward) or ends at (backward)
 * "at", has begun: prefetch leaves after it, up to the one that holds "end".
 * "all": the walk will not stop before.  No page may be locked; the limit is
 * not 0.  Locks and raises as fpt_window_step() does.
 *
 * Where the walk stopped before it had come to all that the last start asked
 * for, as a rescan under a LIMIT does again and again, the next one asks for
 * half as many, in the end for none; and for more again after a walk that ran
 * on.
 */
extern void fpt_window_start(FPTWindow *w, Relation rel, FPTIndex *ix,
							 const FPTKey *at, int dir, const FPTKey *end,
							 bool all);

/* Has the walk come to the last leaf of its range, as far as is known? */
static inline bool
fpt_window_ended(const FPTWindow *w)
{
	return w->end && w->cur >= w->n - 1;
}

/* Pages for which a read was started, and that the walk has not come to. */
extern uint64 fpt_window_unused(const FPTWindow *w);

/* The walk is over, or goes on elsewhere: account for what was not read. */
extern void fpt_window_done(FPTWindow *w);

/* The same before a walk's first leaf; also learns from the last start. */
extern void fpt_window_leave(FPTWindow *w);

/* --- all leaves ---------------------------------------------------------- */

/* Read-ahead of a walk along all leaves: tree/sweep.c. */
typedef struct FPTSweep FPTSweep;

#endif							/* FPT_TREE_PREFETCH_H */
