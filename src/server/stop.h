/*-------------------------------------------------------------------------
 *
 * server/stop.h
 *	  Stop points: places where a test can hold a backend.
 *
 * Compiled in with "make STOP_POINTS=1" only; otherwise the functions below are
 * empty and no code is generated.  A session names the points at which it is to
 * stop in the setting fptree.stop_at, a list of
 *
 *		point[:n][@gate]	at the n-th visit, wait for advisory lock "gate"
 *		point[:n]!			at the n-th visit, raise an error
 *
 * with n and gate 1 if left out.  Another session holds the advisory lock, and
 * lets go of it when the stopped one shall go on.  That wait is seen by
 * pg_blocking_pids(), thus by the isolation tester.  It is legal while buffer
 * content locks are held (a heavyweight lock of which no page lock depends),
 * but cannot be cancelled then.  No point is in a critical section.  At one
 * point, extend_page, it is the stopped session that lets go of the gate, and
 * it goes on when another one waits for the extension lock or has used the
 * page.
 *
 * docs/testing.md lists the points and the tests that use them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SERVER_STOP_H
#define FPT_SERVER_STOP_H

#include "storage/buf.h"
#include "utils/relcache.h"

typedef enum FPTStop
{
	/* descents and scans */
	FPT_STOP_DESCEND,			/* parent unlocked, child's number in hand */
	FPT_STOP_MOVE_RIGHT,		/* page unlocked, to go to its right sibling */
	FPT_STOP_GUESS,				/* a buffer is guessed, not pinned yet */
	FPT_STOP_LOCK_PAGE,			/* page pinned, to be locked */
	FPT_STOP_LOCK_BUSY,			/* the same, and another backend locks it */
	FPT_STOP_SCAN_STEP,			/* to go to a remembered sibling */
	FPT_STOP_SCAN_PAGE,			/* batch read, page unlocked (pinned or not) */
	FPT_STOP_SCAN_ASKED,		/* standby: entries looked up, not yet proven */
	FPT_STOP_SCAN_KILL,			/* to leave hints at dead entries */
	FPT_STOP_PUTOFF_VISIT,		/* leaves left, to look up rows put off */
	FPT_STOP_WINDOW_FILL,		/* leaf numbers copied, none asked for yet */

	/* insertions */
	FPT_STOP_RIGHTMOST,			/* to look at the remembered rightmost leaf */
	FPT_STOP_INSERT_LEAF,		/* leaf locked, entry not in */
	FPT_STOP_PREDICATE,			/* locks of cells looked for, not the leaf's */
	FPT_STOP_DELETE,			/* leaf locked, dead entries not removed yet */
	FPT_STOP_FINISH_SPLIT,		/* leaf locked, an open split found */
	FPT_STOP_SPLIT_SIBLING,		/* page locked, to lock its old right sibling */
	FPT_STOP_LEAF_SPLIT,		/* leaf split, no downlink yet */
	FPT_STOP_LEAF_LINKED,		/* downlink is there, left page still locked */
	FPT_STOP_INNER_SPLIT,		/* the same two above the leaves */
	FPT_STOP_INNER_LINKED,
	FPT_STOP_ROOT_SPLIT,		/* root has a new level, its halves locked */
	FPT_STOP_LOCK_PARENT,		/* child locked, to look for the parent */
	FPT_STOP_ALLOC_PAGE,		/* number from the free space map in hand */
	FPT_STOP_EXTEND_PAGE,		/* a page is added, not locked; before 16 */

	/* uniqueness checks */
	FPT_STOP_UNIQUE_CHECK,		/* first leaf locked, nothing looked at */
	FPT_STOP_UNIQUE_STEP,		/* to lock a further leaf */
	FPT_STOP_UNIQUE_WALK,		/* checked, to lock the leaf of the entry */
	FPT_STOP_UNIQUE_WAIT,		/* to wait for another transaction */

	/* VACUUM */
	FPT_STOP_VACUUM_CHUNK,		/* verdicts on a chunk known, nothing locked */
	FPT_STOP_VACUUM_LEAF,		/* between two leaves */
	FPT_STOP_CLEANUP_BUSY,		/* leaf pinned here and by another backend */
	FPT_STOP_LEAF_EMPTY,		/* leaf emptied and unlocked, not unlinked */
	FPT_STOP_UNLINK_LEFT,		/* left sibling's number known, none locked */
	FPT_STOP_UNLINK_PARENT,		/* siblings and page locked, not the parent */
	FPT_STOP_LEAF_UNLINKED,		/* leaf unlinked, not in the free space map */
	FPT_STOP_INNER_UNLINKED,	/* the same above the leaves */
	FPT_STOP_JOIN_LEAF,			/* leaf to be merged, nothing locked */
	FPT_STOP_JOIN_ALONE,		/* all locked, nobody else had it pinned */
	FPT_STOP_MERGE_INNER,		/* a leaf without neighbour found, unlocked */
	FPT_STOP_FREE_PAGES,		/* walk over, to look for forgotten pages */

	/* builds */
	FPT_STOP_BUILD_LOAD,		/* table read, nothing written */
	FPT_STOP_BUILD_META,		/* the metapage alone is not written */
	FPT_STOP_BUILD_DONE,		/* all written */

	/* checks */
	FPT_STOP_CHECK_PAGE,		/* to copy a page */
	FPT_NSTOPS
} FPTStop;

#ifdef FPT_STOP_POINTS

/*
 * How many points are armed in this session: all that a point costs while it is
 * 0 is to look at it.
 */
extern int	fpt_stops_armed;

/* Tablespaces of indexes that name none: fptree.test_tablespaces */
extern char *fpt_guc_test_tablespaces;

/*
 * What the functions below do if any point is armed.  May wait, or raise an
 * error; not in a critical section.
 */
extern void fpt_stop_hit(FPTStop point);
extern void fpt_stop_hit_busy(FPTStop point, Buffer buf);
extern void fpt_stop_hit_extending(Relation rel, Buffer buf);
extern void fpt_stop_init(void);

static inline void
fpt_stop_point(FPTStop point)
{
	if (unlikely(fpt_stops_armed > 0))
		fpt_stop_hit(point);
}

/* Stop only if the lock that is about to be taken is not free. */
static inline void
fpt_stop_if_busy(FPTStop point, Buffer buf)
{
	if (unlikely(fpt_stops_armed > 0))
		fpt_stop_hit_busy(point, buf);
}

/* Stop with the extension lock, see above. */
static inline void
fpt_stop_extending(Relation rel, Buffer buf)
{
	if (unlikely(fpt_stops_armed > 0))
		fpt_stop_hit_extending(rel, buf);
}

#else							/* !FPT_STOP_POINTS */

static inline void
fpt_stop_point(FPTStop point)
{
}

static inline void
fpt_stop_if_busy(FPTStop point, Buffer buf)
{
}

static inline void
fpt_stop_extending(Relation rel, Buffer buf)
{
}

static inline void
fpt_stop_init(void)
{
}

#endif							/* FPT_STOP_POINTS */

#endif							/* FPT_SERVER_STOP_H */
