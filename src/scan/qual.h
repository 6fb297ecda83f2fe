/*-------------------------------------------------------------------------
 *
 * scan/qual.h
 *	  Scan keys: what quals allow.  Of image keys scan/range.h makes ranges of
 *	  it, all at once, of general keys scan/position.h, one after the other.
 *
 * Each column's quals allow a set of values: disjoint intervals, in the order
 * of the index.  Image keys have one column, and its intervals are the ranges.
 * Of general keys a position in the index is moved on to the first one from it
 * on whose columns are all allowed, as far as that can be told without reading:
 * after (a, b) with b beyond what its quals allow comes the next value of a,
 * whatever it is.  From there a range extends, to the end of the interval of
 * the first column that is not fixed; quals of columns after that one are
 * asked of each entry.
 *
 * So arrays, skipping to the next value of a leading column without quals, and
 * ranges in the middle of a key are all the same: a scan asks for the first
 * range from where it stands, reads it on the page where it begins, and asks
 * again at the end of the range or of the page, whichever comes first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_QUAL_H
#define FPT_SCAN_QUAL_H

#include "access/skey.h"
#include "utils/relcache.h"

#include "scan/qualset.h"
#include "store/index.h"

/*
 * Returns what a scan knows of its quals: none yet.  Allocated in cxt, which
 * lives as long as the scan, and in contexts below it.  *ix is the scan's own,
 * as rel it is used until the end: general keys are given the types' sort
 * support if the scan begins anew often.  Looks nothing up, raises nothing.
 */
extern FPTQuals *fpt_quals_begin(Relation rel, const FPTIndex *ix,
								 MemoryContext cxt);

/*
 * The scan's keys, at its start and at each rescan: nkeys of operators and then
 * nextra others (scan/extrakey.h); they stay in place until the next call.
 * Values out of line are fetched, into memory that lives as long.  No page is
 * locked: catalogues are read and functions of types run,
 * which may raise; may be cancelled.  Raises an error, too, for a key that no
 * index scan has.  Ranges that were asked for before mean nothing any more.
 */
extern void fpt_quals_set(FPTQuals *q, ScanKey keys, int nkeys, int nextra);

/*
 * Forget what fpt_quals_match() allocated; from time to time.  A page may be
 * locked; raises nothing.
 */
extern void fpt_quals_reset(FPTQuals *q);

/*
 * What the scan's keys allow of each column, in q->qualcxt.  What was known is
 * forgotten, and so are positions.  Runs functions of types, with no page
 * locked; may raise, and be cancelled.
 */
extern void fpt_quals_read(FPTQuals *q);

#endif							/* FPT_SCAN_QUAL_H */
