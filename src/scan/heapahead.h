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

/* A scan starts: at its first entry, or anew. */
extern void fpt_heap_begin(IndexScanDesc scan, FPTScanOpaque *so);

/* Give up the batch read ahead and begin again at the current entry. */
extern void fpt_heap_restart(FPTScanOpaque *so);

/* The pause in progress is over, or the scan: how much of it was there? */
extern void fpt_heap_count_pause(FPTScanOpaque *so);

/* What its end would add to the scan's counters, were it to end now. */
extern void fpt_heap_counters(const FPTScanOpaque *so, uint64 *counters);

/*
 * The scan returns an entry after some for which nothing was done (heap.sleep):
 * see whether there is something to do now.
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
