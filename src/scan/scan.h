/*-------------------------------------------------------------------------
 *
 * scan/scan.h
 *	  Index scans: the access method's functions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_SCAN_H
#define FPT_SCAN_SCAN_H

#include "access/genam.h"
#include "access/sdir.h"
#include "access/skey.h"
#include "nodes/tidbitmap.h"
#include "utils/relcache.h"

#include "store/counts.h"
#include "tree/prefetch.h"

/*
 * The counters of a scan that may go on yet, as if it ended now: *reads and all
 * of "counters" are overwritten.  Pages read are those of this process, and so
 * are the counters.  Changes nothing of the scan, locks nothing, raises
 * nothing.
 */
extern void fpt_scan_counters(IndexScanDesc scan,
							  uint64 counters[FPT_NCOUNTERS],
							  FPTStripeReads *reads);

/*
 * ambeginscan: returns a scan that has neither quals nor a position, which
 * fptrescan() gives it; no page is locked or pinned.  The descriptor is in the
 * current context, all else in one of its own below that, which fptendscan()
 * deletes.  norderbys is 0.  The index is open and locked until then.  May read
 * the metapage, and catalogues (fpt_index_copy): no page may be locked.  Raises
 * an error if the index is damaged.
 */
extern IndexScanDesc fptbeginscan(Relation rel, int nkeys, int norderbys);

/*
 * amrescan: begin anew, with other keys if there are any; nscankeys is as many
 * as the scan began with.  Pins are given back, but for those of the visibility
 * map; the mark is lost.  What was found dead is marked, for which a leaf is
 * locked for a moment: raises an error if that is damaged.  Else nothing is
 * looked for yet.
 */
extern void fptrescan(IndexScanDesc scan, ScanKey scankey, int nscankeys,
					  ScanKey orderbys, int norderbys);

/*
 * amgettuple: the next entry in this direction, in scan->xs_heaptid,
 * xs_recheck, and for index-only scans xs_itup, which lives until the next
 * call.  False at the end: the scan has no position then, and begins anew if it
 * is asked again.  The executor tells by kill_prior_tuple that the row of the
 * entry before is dead to everybody.
 *
 * No page is locked before or after; the entry's may stay pinned (P2), one for
 * the mark (P6), and some of the visibility map.  Where a leaf is read, or heap
 * pages are asked for, it may be cancelled, or raise: of a damaged page, by
 * functions of types.  A parallel scan waits for other participants there.
 * Allocates in the scan's context.
 */
extern bool fptgettuple(IndexScanDesc scan, ScanDirection dir);

/*
 * To the next entry in this direction, which is the current batch's at
 * FPTBatch.pos then, for nodes of ours (src/exec/): nothing is returned of it,
 * and a standby is not asked for it.  FPTScanOpaque.turn says whether the
 * batch is another one.  Else as fptgettuple(); kill_prior_tuple is taken back.
 */
extern bool fpt_entry_step(IndexScanDesc scan, ScanDirection dir);

/*
 * The index tuple of the i'th entry of the current batch, of an index-only
 * scan, as fptgettuple() returns it in xs_itup: it lives until the batch is
 * left, or, *passing, until the next call.  Locks nothing; raises an error if
 * the entry makes no sense.
 */
extern IndexTuple fpt_entry_tuple(IndexScanDesc scan, int i, bool *passing);

/*
 * amgetbitmap: adds the TIDs of all entries that match, and returns their
 * number; the executor is told which are to be rechecked.  The scan has just
 * been begun anew.  Pages, errors and memory as of fptgettuple(); may be
 * cancelled at each leaf.
 */
extern int64 fptgetbitmap(IndexScanDesc scan, TIDBitmap *tbm);

/*
 * amendscan: gives back all pins and memory but the descriptor, and adds up
 * what was counted.  Dead entries are marked as in fptrescan(), which may
 * raise.
 */
extern void fptendscan(IndexScanDesc scan);

/*
 * ammarkpos: the current entry is marked, in place of another one; none is, if
 * there is no current one.  Gives back the pin of the old mark.  Copies
 * nothing: that is done when the batch is left (fpt_batch_leave).
 */
extern void fptmarkpos(IndexScanDesc scan);

/*
 * amrestrpos: back to the marked entry, which is the current one again: the
 * next call of fptgettuple() goes on from there.  Its batch is copied, in the
 * scan's context, if it is not the current one; no leaf is read for it.
 * Without a mark the scan has no position.  Leaving the current batch may
 * raise, see fptrescan().  Not of a parallel scan.
 */
extern void fptrestrpos(IndexScanDesc scan);

#endif							/* FPT_SCAN_SCAN_H */
