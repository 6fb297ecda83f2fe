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

/* The counters of a scan that may go on yet, as if it ended now. */
extern void fpt_scan_counters(IndexScanDesc scan,
							  uint64 counters[FPT_NCOUNTERS],
							  FPTStripeReads *reads);

extern IndexScanDesc fptbeginscan(Relation rel, int nkeys, int norderbys);
extern void fptrescan(IndexScanDesc scan, ScanKey scankey, int nscankeys,
					  ScanKey orderbys, int norderbys);
extern bool fptgettuple(IndexScanDesc scan, ScanDirection dir);
extern int64 fptgetbitmap(IndexScanDesc scan, TIDBitmap *tbm);
extern void fptendscan(IndexScanDesc scan);
extern void fptmarkpos(IndexScanDesc scan);
extern void fptrestrpos(IndexScanDesc scan);

#endif							/* FPT_SCAN_SCAN_H */
