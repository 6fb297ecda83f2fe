/*-------------------------------------------------------------------------
 *
 * scan/parallel.h
 *	  Parallel scans: whose turn it is, and where.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_PARALLEL_H
#define FPT_SCAN_PARALLEL_H

#include "access/genam.h"

#include "page/layout.h"
#include "scan/state.h"
#include "server/compat.h"
#include "tree/prefetch.h"

/*
 * fpt_parallel_seize() where the scan is parallel.  Waits for other
 * participants, so with no page locked, and may be cancelled.  After true the
 * caller gives the scan up (fpt_parallel_release, fpt_parallel_done) or raises
 * an error; after false it must not.
 */
extern bool fpt_parallel_seize_it(IndexScanDesc scan, FPTKeyBuf *pos,
								  uint32 *hint);

/*
 * Before the next leaf is looked for.  In a parallel scan: wait for the turn,
 * and get the position where the scan goes on, and its hint, which are the
 * caller's own if nobody has begun yet; false if the scan is over, and they are
 * left as they were.  Else: true, and nothing.
 */
static inline bool
fpt_parallel_seize(IndexScanDesc scan, FPTKeyBuf *pos, uint32 *hint)
{
	if (likely(scan->parallel_scan == NULL))
		return true;
	return fpt_parallel_seize_it(scan, pos, hint);
}

/*
 * The turn of a parallel scan is over: others go on at pos, probably on page
 * "hint"; if pos is an end of the key space, the scan is over
 * (fpt_parallel_done).  The key is copied, and has a tuple, not a search.
 * Under the leaf's share lock, as a rule; wakes one that waits.  Locks a
 * spinlock for a few instructions, raises nothing.
 */
extern void fpt_parallel_release(IndexScanDesc scan, const FPTKey *pos,
								 uint32 hint);

/*
 * The turn is over, and there is nothing left; no-op if not parallel.  Wakes
 * all that wait.  A page may be locked; raises nothing.
 */
extern void fpt_parallel_done(IndexScanDesc scan);

/*
 * The window of leaf read-ahead, for who has seized the scan, and until he
 * gives it up; it is in shared memory and counts for this participant's scan.
 * If nobody has used it yet, catalogues are read, which may raise: no page is
 * locked then.
 */
extern FPTWindow *fpt_parallel_window(IndexScanDesc scan, FPTScanOpaque *so);

/* amestimateparallelscan: bytes of shared memory for any index. */
extern Size fptestimateparallelscan(FPT_ESTIMATE_PARALLEL_PARAMS);

/*
 * aminitparallelscan: "target" is in shared memory, of so many bytes, and
 * nobody else's yet.  Raises nothing.
 */
extern void fptinitparallelscan(void *target);

/*
 * amparallelrescan: the leader begins anew, while there are no workers.  The
 * window of leaf read-ahead, its distance learnt, is kept.  Raises nothing.
 */
extern void fptparallelrescan(IndexScanDesc scan);

#endif							/* FPT_SCAN_PARALLEL_H */
