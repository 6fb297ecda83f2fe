/*-------------------------------------------------------------------------
 *
 * scan/part.h
 *	  How much of a leaf a batch takes: src/scan/README.md, "Parts of a leaf".
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_PART_H
#define FPT_SCAN_PART_H

#include "access/genam.h"
#include "storage/bufpage.h"

#include "scan/state.h"

/*
 * The scan begins, whose ranges are known: its first batch takes what a LIMIT
 * wants, if that is little, or one node, or what most of its last batch took if
 * the scan is one of several.  Raises nothing.
 */
extern void fpt_part_begin(IndexScanDesc scan, FPTScanOpaque *so);

/*
 * Cut the page's entries *first .. *last - 1, which are all that the batch
 * would take, to those that the scan asks for first.  Where that cuts some off,
 * the batch's bound is the border, and its link there is the page (B1, B2).
 * "dir": the scan's direction.
 *
 * The page is locked to read.  Nothing is cut off where the border is not
 * within the batch's bounds, as may be on a damaged page.  Raises nothing,
 * allocates nothing.
 */
extern void fpt_part_cut(FPTScanOpaque *so, FPTBatch *b, Page page,
						 FPTLoc *first, FPTLoc *last, int dir);

/* A batch has been filled: the next one may take more.  Raises nothing. */
static inline void
fpt_part_next(FPTScanOpaque *so)
{
	if (so->part == 0)
		return;
	if (so->few > 0)
	{
		so->few = 0;
		return;
	}
	so->reached = so->part;
	so->part *= FPT_PART_GROWS;
	if (so->part > FPT_PART_MAX)
		so->part = 0;
}

#endif							/* FPT_SCAN_PART_H */
