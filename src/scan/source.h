/*-------------------------------------------------------------------------
 *
 * scan/source.h
 *	  The ranges that a scan goes through, one after the other, whatever its
 *	  keys are.
 *
 * Those of image keys are known from the start (scan/range.h), those of general
 * keys are made one at a time (scan/position.h).  Nobody else asks which.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_SOURCE_H
#define FPT_SCAN_SOURCE_H

#include "access/relscan.h"

#include "key/image.h"
#include "page/format.h"
#include "page/layout.h"
#include "scan/range.h"
#include "scan/state.h"

/*
 * Work out what the scan's keys allow, as far as has to be done before the
 * first range is asked for; once after each rescan.
 *
 * No page is locked: functions of types run, and catalogues may be read.  May
 * be cancelled, and raise; warns of another version of a collation.  Allocates
 * in the scan's context, in place of what the last call did.
 */
extern void fpt_source_set(IndexScanDesc scan, FPTScanOpaque *so);

/*
 * The first range with positions at or above "from" (dir > 0), or the last one
 * with positions below it (dir < 0); NULL: there is none.  It is in *buf or, if
 * it is the only one, in the scan; "here" is the caller's to set.  How long its
 * keys live, what "from" may be, which locks may be held and what may be raised
 * is as of fpt_quals_range(); of image keys it takes a binary search, and
 * raises nothing.
 */
extern FPTRange *fpt_source_search(FPTScanOpaque *so, const FPTKey *from,
								   int dir, FPTRange *buf);

static inline FPTRange *
fpt_source_from(FPTScanOpaque *so, const FPTKey *from, int dir, FPTRange *buf)
{
	FPTRange   *one = &so->ranges.one;

	Assert(dir == 1 || dir == -1);
	if (so->quals != NULL || so->ranges.spans != NULL)
		return fpt_source_search(so, from, dir, buf);
	if (so->ranges.n == 0 ||
		(dir > 0 ? fpt_key_cmp(&so->ix.layout, &one->hi, from) < 0 :
		 fpt_key_cmp(&so->ix.layout, &one->lo, from) >= 0))
		return NULL;
	one->here = false;
	return one;
}

/*
 * The range after r, which this, fpt_source_from() or both returned last, with
 * that buffer; else as fpt_source_from() for dir > 0.
 */
extern FPTRange *fpt_source_next(FPTScanOpaque *so, FPTRange *r,
								 FPTRange *buf);

/*
 * Is r, which was asked for last, of image keys and forward, the only range up
 * to "high"?  Raises nothing; a page may be locked.
 */
extern bool fpt_source_alone(const FPTScanOpaque *so, const FPTRange *r,
							 const FPTKey *high);

/*
 * How far leaves may be read ahead: to the far end of r, which was asked for
 * last, of an array's last element if its elements are "dense", or of what
 * follows r if it is a part.  The key may be in *buf, and lives as long as
 * r's.  No page is locked.  Of general keys runs functions of types, which may
 * raise.
 */
extern const FPTKey *fpt_source_end(FPTScanOpaque *so, const FPTRange *r,
									bool dense, int dir, FPTKey *buf);

/*
 * Does a range end at a value, at another one than it begins at, and before the
 * type's last one?  Raises nothing.
 */
static inline bool
fpt_source_bounded(const FPTScanOpaque *so, const FPTRange *r, int dir)
{
	const FPTKey *end = dir > 0 ? &r->hi : &r->lo;
	FPTImage	last = {0, 0};

	if (so->quals != NULL)
		return r->bounded;
	if (r->lo.cls != FPT_CLS_VALUE ||
		(r->lo.hi == r->hi.hi && r->lo.lo == r->hi.lo))
		return false;
	Assert(r->hi.cls == FPT_CLS_VALUE);
	if (dir > 0)
		last = fpt_image_max(so->ix.type);
	return end->hi != last.hi || end->lo != last.lo;
}

/*
 * Will a scan want the leaf after one that covers "low" to "high"?  "first" is
 * the range that it has come to, NULL if it goes backward.  The answer only
 * brings cache lines: where the end of a scan of general keys is not at hand,
 * it is no, as for a single value, most of which are on one leaf.  A page may
 * be locked; functions of types run where general keys are compared (L7).
 */
extern bool fpt_source_goes_on(FPTScanOpaque *so, const FPTKey *low,
							   const FPTKey *high, const FPTRange *first);

#endif							/* FPT_SCAN_SOURCE_H */
