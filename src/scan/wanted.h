/*-------------------------------------------------------------------------
 *
 * scan/wanted.h
 *	  How many entries a scan will be asked for: of a LIMIT that is known.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_WANTED_H
#define FPT_SCAN_WANTED_H

#include "access/sdir.h"

#include "scan/state.h"

/* A scan starts, or starts anew: rows that were counted before are not its. */
extern void fpt_wanted_begin(FPTScanOpaque *so);

/*
 * How many entries are probably wanted, from the current one on, or, if no
 * batch is current, from the next one on?  PG_INT32_MAX: nobody knows.  A hint,
 * which may change with each entry.  Raises nothing, and reads memory only.
 */
extern int	fpt_wanted_entries(const FPTScanOpaque *so, ScanDirection dir);

/*
 * The scan goes on to a leaf: how many leaves after that are probably wanted?
 * "start": to its first leaf, whose entries before its begin are not wanted.
 * PG_INT32_MAX: nobody knows.  At most once in a scan 0 is returned for a leaf
 * that is not the first one: if it has fewer entries than an average leaf, the
 * next ones may, too.
 */
extern int	fpt_wanted_leaves(IndexScanDesc scan, FPTScanOpaque *so, bool start,
							  ScanDirection dir);

/* The scan leaves a batch. */
static inline void
fpt_wanted_passed(FPTScanOpaque *so, const FPTBatch *b)
{
	so->passed += b->n;
	if (b->pageno != so->passedpage || so->passedlast < 0)
		so->passedlast = 0;
	so->passedlast += b->n;
	so->passedpage = b->pageno;
}

#endif							/* FPT_SCAN_WANTED_H */
