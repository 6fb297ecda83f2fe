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
 * Read the first batch of the scan in this direction into b, or the one after
 * "from"; false if there is none.  The batch has an entry at least, and b->pos
 * is at the first one.  No page is locked, before or after; a pin is left where
 * a batch needs one.  Raises errors.
 */
extern bool fpt_batch_first(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b,
							ScanDirection dir);
extern bool fpt_batch_after(IndexScanDesc scan, FPTBatch *b,
							const FPTBatch *from, ScanDirection dir);

/*
 * Read the batch after the current one, into so->ahead, if it is in the next
 * leaf.  False: there is none (*end), or that leaf has no entry of the scan.
 * Then the current batch stands for its interval, too, and the next call looks
 * at the leaf after it: who may stop at any row must not be made to read more.
 */
extern bool fpt_batch_ahead(IndexScanDesc scan, FPTScanOpaque *so,
							ScanDirection dir, bool *end);

/* Copy a batch, with a pin of its own: the mark's (P6). */
extern void fpt_batch_copy(FPTScanOpaque *so, FPTBatch *to,
						   const FPTBatch *from);

/* Done with it: gives the pin back, if there is one. */
extern void fpt_batch_forget(FPTBatch *b);

/*
 * Leave the current batch: hints at entries that were found dead go to its
 * page, and what mark/restore needs of it is kept.
 */
extern void fpt_batch_leave(IndexScanDesc scan, FPTScanOpaque *so);

/*
 * The i'th entry's key in a batch that has keys; its tuple is at tup.
 * Written in place: a copy of what was just written in smaller pieces stalls.
 */
static inline void
fpt_batch_key(FPTScanOpaque *so, const FPTBatch *b, int i, bool isnull,
			  const char *tup, FPTKey *key)
{
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
}

#endif							/* FPT_SCAN_BATCH_H */
