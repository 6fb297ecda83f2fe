/*-------------------------------------------------------------------------
 *
 * scan/heaplines.h
 *	  Cache lines of the table, for the rows that a scan comes to next.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_HEAPLINES_H
#define FPT_SCAN_HEAPLINES_H

#include "access/genam.h"
#include "access/sdir.h"
#include "storage/block.h"

#include "scan/state.h"

/* fptree.heap_lines */
extern bool fpt_guc_heap_lines;

/*
 * A scan starts, at its first entry or anew.  Decides, the first time, if the
 * table's lines may be asked for (H5).  Locks, reads and allocates nothing;
 * raises nothing.
 */
extern void fpt_lines_begin(IndexScanDesc scan, FPTScanOpaque *so);

/*
 * The entry being returned is in another block than the one before.  Asks for
 * lines of the entries after it, and pins its block where heapam looks for it
 * (H3).
 *
 * No page is locked before or after.  May read the block, and prune it: may be
 * cancelled, and raises what heapam would a moment later.  Allocates nothing.
 */
extern void fpt_lines_turn(IndexScanDesc scan, FPTScanOpaque *so,
						   ScanDirection dir);

/* A plain scan returns the current entry.  As fpt_lines_turn(). */
static inline void
fpt_lines_row(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	if (so->lines.enabled &&
		so->lines.blk != (BlockNumber) (so->cur.tids[so->cur.pos] >> 16))
		fpt_lines_turn(scan, so, dir);
}

/* Core has given back the pin of heapam's page, other than in a rescan. */
static inline void
fpt_lines_lost(FPTScanOpaque *so)
{
	so->lines.blk = InvalidBlockNumber;
}

#endif							/* FPT_SCAN_HEAPLINES_H */
