/*-------------------------------------------------------------------------
 *
 * scan/skip.h
 *	  From one key of an index to the next one, by a search.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_SKIP_H
#define FPT_SCAN_SKIP_H

#include "access/genam.h"
#include "access/sdir.h"

#include "page/layout.h"
#include "scan/qualset.h"

/* Where a scan goes on; zeroed before the first use in a scan. */
typedef struct FPTSkip
{
	FPTPosition pos;
	FPTKey		key;
	bool		far;			/* the last search ended in another leaf */
	uint64		n;				/* searches so far */
} FPTSkip;

/*
 * Is the order of keys such that a search finds all entries after a key?  Not
 * where a collation has got another version; nor after many searches where
 * comparisons may contradict each other, and lead in a circle (L11).
 */
extern bool fpt_skip_may(IndexScanDesc scan, const FPTSkip *s);

/*
 * Leave the current batch for the first one whose entries are, in this
 * direction, after all that begin with these values, of the first natts
 * columns; false if no entry is left.  Values must not be in the batch and must
 * live as long as the new one.  fpt_skip_may() is true.  Locks, errors and
 * memory as of fpt_batch_after().
 */
extern bool fpt_skip(IndexScanDesc scan, FPTSkip *s, const Datum *values,
					 const bool *isnull, int natts, ScanDirection dir);

#endif							/* FPT_SCAN_SKIP_H */
