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
 * an error.
 */
extern bool fpt_parallel_seize_it(IndexScanDesc scan, FPTKeyBuf *pos,
								  uint32 *hint);

/*
 * Before the next leaf is looked for.  In a parallel scan: wait for the turn,
 * and get the position where the scan goes on, which is the caller's own if
 * nobody has begun yet; false if the scan is over.  Else: nothing.
 */
static inline bool
fpt_parallel_seize(IndexScanDesc scan, FPTKeyBuf *pos, uint32 *hint)
{
	if (likely(scan->parallel_scan == NULL))
		return true;
	return fpt_parallel_seize_it(scan, pos, hint);
}

/*
 * The turn of a parallel scan is over: others go on at pos.  Under the leaf's
 * share lock, as a rule; wakes one that waits.
 */
extern void fpt_parallel_release(IndexScanDesc scan, const FPTKey *pos,
								 uint32 hint);

/* The turn is over, and there is nothing left; no-op if not parallel. */
extern void fpt_parallel_done(IndexScanDesc scan);

/* The window of leaf read-ahead, for who has seized the scan. */
extern FPTWindow *fpt_parallel_window(IndexScanDesc scan, FPTScanOpaque *so);

extern Size fptestimateparallelscan(FPT_ESTIMATE_PARALLEL_PARAMS);
extern void fptinitparallelscan(void *target);
extern void fptparallelrescan(IndexScanDesc scan);

#endif							/* FPT_SCAN_PARALLEL_H */
