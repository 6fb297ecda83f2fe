/*-------------------------------------------------------------------------
 *
 * scan/heapahead.h
 *	  Read-ahead of heap pages in a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_HEAPAHEAD_H
#define FPT_SCAN_HEAPAHEAD_H

#include "access/genam.h"
#include "access/sdir.h"

#include "scan/state.h"

/*
 * A scan starts: at its first entry, or anew.  Decides if heap pages may be
 * read ahead at all, and counts why not.  Locks, reads and allocates nothing;
 * raises nothing.
 */
extern void fpt_heap_begin(IndexScanDesc scan, FPTScanOpaque *so);

/*
 * Give up the batch read ahead and begin again at the current entry, when the
 * scan gets on.  Counts what was asked for in vain.  Raises nothing; may be
 * called at any time, and again, but in a parallel scan only where it begins or
 * ends: the batch would be nobody's.
 */
extern void fpt_heap_restart(FPTScanOpaque *so);

/*
 * The pause in progress is over, or the scan: how many entries of it went by is
 * counted.  Raises nothing.
 */
extern void fpt_heap_count_pause(FPTScanOpaque *so);

/*
 * What its end would add to the scan's counters, were it to end now, is added
 * to "counters" (FPT_NCOUNTERS).  Changes nothing of the scan, raises nothing.
 */
extern void fpt_heap_counters(const FPTScanOpaque *so, uint64 *counters);

/*
 * The scan returns an entry after some for which nothing was done (heap.sleep):
 * see whether there is something to do now, and set heap.sleep.  The current
 * batch is valid, and its position that of the entry.
 *
 * No page is locked before or after.  May read the next leaf (fpt_batch_ahead),
 * ask for heap pages, which may take waiting, and pin one of the visibility
 * map, which fptendscan() gives back.  May be cancelled, and raise; allocates
 * in the scan's context.  What it comes to changes nothing of what the scan
 * returns.
 */
extern void fpt_heap_look(IndexScanDesc scan, FPTScanOpaque *so,
						  ScanDirection dir);

/*
 * How often has the scan changed the block?  For a pause its entries stand,
 * which come to the same in a table in random order.
 */
static inline int
fpt_heap_come(const FPTHeapAhead *h)
{
	return h->switches + (h->pause > 0 ? h->pause - h->sleep : 0);
}

#endif							/* FPT_SCAN_HEAPAHEAD_H */
