/*-------------------------------------------------------------------------
 *
 * scan/batch.h
 *	  Reading the entries of a scan, leaf by leaf.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_BATCH_H
#define FPT_SCAN_BATCH_H

#include "access/genam.h"
#include "access/sdir.h"

#include "page/format.h"
#include "page/layout.h"
#include "scan/state.h"

/*
 * Work out the quals, if that has not been done since the last rescan, so that
 * fpt_batch_first() need not.  Returns whether entries must be rechecked.  As
 * fpt_source_set().
 */
extern bool fpt_batch_prepare(IndexScanDesc scan, FPTScanOpaque *so);

/*
 * Read the first batch of the scan in this direction into b, which is so->cur,
 * or the one after "from"; false if there is none, and then b is not valid.
 * The batch has an entry at least, and b->pos is at the first one in this
 * direction.  *from may be what b was before it was left: of it the bounds and
 * links are used, which leaving it has kept.
 *
 * No page is locked, before or after; a pin is left where a batch needs one
 * (P2).  Quals are worked out first, if that has not been done since the last
 * rescan.  Any number of leaves without entries is passed by: may be cancelled
 * at each.  Raises errors of damaged pages, and of functions of types.  A
 * parallel scan waits for other participants.  Allocates in the scan's context.
 */
extern bool fpt_batch_first(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b,
							ScanDirection dir);
extern bool fpt_batch_after(IndexScanDesc scan, FPTBatch *b,
							const FPTBatch *from, ScanDirection dir);

/*
 * Read the first batch of the scan after "key", or backward before it, into b,
 * which is so->cur; as fpt_batch_after().  It takes as little of its leaf as
 * the first batch of a scan, and no leaf is read ahead.  "key" is in the scan's
 * direction from the last batch's entries, and of image keys (TID 0 or
 * FPT_MAX_TID) or made by fpt_quals_beside().  "hint" is a leaf that may cover
 * it, or FPT_NOPAGE.  The last batch has been left, and has no bound at which
 * the scan ends.
 */
extern bool fpt_batch_beside(IndexScanDesc scan, FPTBatch *b,
							 const FPTKey *key, uint32 hint,
							 ScanDirection dir);

/*
 * Read the batch after the current one, into so->ahead, if it is in the next
 * leaf.  False: there is none (*end), or that leaf has no entry of the scan.
 * Then the current batch stands for its interval, too, and the next call looks
 * at the leaf after it: who may stop at any row must not be made to read more.
 * The current batch has no pin, and so the one ahead gets none (P6).  Locks,
 * errors and memory as of fpt_batch_after().
 */
extern bool fpt_batch_ahead(IndexScanDesc scan, FPTScanOpaque *so,
							ScanDirection dir, bool *end);

/*
 * Copy a batch, with a pin of its own: the mark's (P6).  "to" is not valid; its
 * arrays are used again, or made larger in the scan's context.  Of what the
 * standby was asked nothing is copied.  Locks nothing, raises nothing.
 */
extern void fpt_batch_copy(FPTScanOpaque *so, FPTBatch *to,
						   const FPTBatch *from);

/*
 * Done with it: gives the pin back, if there is one.  What was allocated stays
 * for the next, and so do bounds and links, which fpt_batch_after() wants.
 * Raises nothing; a batch that is not valid may be passed.
 */
extern void fpt_batch_forget(FPTBatch *b);

/*
 * Leave the current batch, if there is one: hints at entries that were found
 * dead go to its page, and what mark/restore needs of it is kept, a copy in the
 * scan's context.  For the hints the page is locked for a moment; raises an
 * error if it is damaged.  Locks and raises nothing else.
 */
extern void fpt_batch_leave(IndexScanDesc scan, FPTScanOpaque *so);

/*
 * The i'th entry's key in a batch of general keys that has them; its tuple is
 * at tup and the page's prefix, of which values have b->cut bytes, at pre, in
 * the locked page or a copy, and have to stay there as long as *key is used.
 * Raises nothing.
 * Written in place: a copy of what was just written in smaller pieces stalls.
 */
static inline void
fpt_batch_key(FPTScanOpaque *so, const FPTBatch *b, int i, bool isnull,
			  const char *tup, const char *pre, FPTKey *key)
{
	Assert(i >= 0 && b->los != NULL && b->tuplens != NULL);
	key->hi = 0;
	key->lo = b->los[i];
	key->tid = b->tids[i];
	key->cls = FPT_CLS_VALUE;
	if (isnull)
		key->cls = so->ix.layout.nullsfirst ? FPT_CLS_NULLFIRST :
			FPT_CLS_NULLLAST;
	key->len = b->tuplens[i];
	key->tup = key->len > 0 ? tup : NULL;
	key->search = NULL;
	key->pre = pre;
	key->cut = isnull ? 0 : b->cut;
}

#endif							/* FPT_SCAN_BATCH_H */
