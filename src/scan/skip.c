/*-------------------------------------------------------------------------
 *
 * scan/skip.c
 *	  From one key of an index to the next one, by a search.
 *
 * If only one entry of each key is wanted, the scan goes on after all others.
 * The position after a key is one in the key space as any other, so it is
 * reached as the end of a batch would be.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"

#include "page/format.h"
#include "scan/batch.h"
#include "scan/position.h"
#include "scan/skip.h"
#include "scan/state.h"
#include "server/compat.h"
#include "store/index.h"

/* Searches that each page of an index may account for. */
#define FPT_SKIPS_A_PAGE	16

bool
fpt_skip_may(IndexScanDesc scan, const FPTSkip *s)
{
	const FPTScanOpaque *so = (const FPTScanOpaque *) scan->opaque;

	return !so->ix.stale && !so->disorder &&
		(!so->ix.unsure ||
		 s->n < FPT_SKIPS_A_PAGE * (uint64) so->ix.map.npages);
}

/*
 * Make the bound beside the position's values, in this direction: s->key.  It
 * is beside all images of equal values.
 */
static void
fpt_skip_key(FPTScanOpaque *so, FPTSkip *s, int natts, int dir)
{
	FPTKey	   *key = &s->key;
	FPTImage	img;
	FPTImage	lo;
	FPTImage	hi;

	if (so->quals != NULL)
	{
		fpt_quals_beside(so->quals, &s->pos, natts, dir, key);
		return;
	}
	fpt_form_key(&so->ix, s->pos.values[0], s->pos.isnull[0],
				 dir > 0 ? FPT_MAX_TID : 0, key);
	if (s->pos.isnull[0])
		return;
	img.hi = key->hi;
	img.lo = key->lo;
	fpt_image_class(so->ix.type, so->ix.descending, img, &lo, &hi);
	key->hi = dir > 0 ? hi.hi : lo.hi;
	key->lo = dir > 0 ? hi.lo : lo.lo;
}

bool
fpt_skip(IndexScanDesc scan, FPTSkip *s, const Datum *values,
		 const bool *isnull, int natts, ScanDirection dir)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	FPTBatch   *b = &so->cur;
	bool		forward = ScanDirectionIsForward(dir);
	uint32		page = b->pageno;
	uint32		next = forward ? b->right : b->left;

	Assert(b->valid && b->n > 0 && fpt_skip_may(scan, s));
	if (forward ? b->last || b->high->key.cls == FPT_CLS_PINF :
		b->low->key.cls == FPT_CLS_MINF)
	{
		fpt_batch_leave(scan, so);
		return false;
	}
	memcpy(s->pos.values, values, natts * sizeof(Datum));
	memcpy(s->pos.isnull, isnull, natts * sizeof(bool));
	fpt_skip_key(so, s, natts, forward ? 1 : -1);
	fpt_batch_leave(scan, so);
	s->n++;
	fpt_count_search(scan);
	if (!fpt_batch_beside(scan, b, &s->key, s->far ? FPT_NOPAGE : next, dir))
		return false;
	s->far = b->pageno != page && b->pageno != next;
	return true;
}
