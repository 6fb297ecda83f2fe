/*-------------------------------------------------------------------------
 *
 * scan/standby.h
 *	  Index-only scans during recovery.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_STANDBY_H
#define FPT_SCAN_STANDBY_H

#include "access/genam.h"
#include "access/sdir.h"

#include "scan/state.h"

/*
 * Does a batch that is being copied become one whose entries are returned only
 * if fpt_standby_shows() says so?  To be asked while the leaf is locked.
 * Raises nothing.
 */
extern bool fpt_standby_doubts(IndexScanDesc scan);

/*
 * May the current entry, to which the scan came in direction dir, be returned,
 * whatever the executor will find in the visibility map?  Else its row is not
 * visible to the scan's snapshot.  The batch is in doubt, and its leaf pinned;
 * the entry's TID is in scan->xs_heaptid, and stays there.
 *
 * No page is locked before or after.  Reads the visibility map, of which pages
 * stay pinned, and perhaps the row; may be cancelled, and raises an error if
 * one of them cannot be read.  Allocates in the scan's context.
 */
extern bool fpt_standby_shows(IndexScanDesc scan, FPTScanOpaque *so,
							  ScanDirection dir);

/* The same; proven entries are most of them. */
static inline bool
fpt_shows(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	const FPTBatch *b = &so->cur;

	if (likely(!b->doubt))
		return true;
	if (likely(b->pos >= b->askedfrom && b->pos < b->askedto &&
			   so->visible[b->pos]))
		return true;
	return fpt_standby_shows(scan, so, dir);
}

/*
 * The scan is over: gives back the pins of the visibility map, and the slot.
 * Before the scan's context is deleted.  Nothing to do if no entry was asked
 * for.
 */
extern void fpt_standby_end(FPTScanOpaque *so);

#endif							/* FPT_SCAN_STANDBY_H */
