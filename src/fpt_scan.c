/*-------------------------------------------------------------------------
 *
 * fpt_scan.c
 *	  Index scans.
 *
 * A scan works through ranges of the key space (fpt_scankey.c) in batches: all
 * entries of one leaf that lie in the ranges are copied out under one share
 * lock.  Only the ends of the ranges are searched; no entry is compared.
 *
 * What the scan remembers of a batch is the interval of the key space that it
 * stands for, [low, high).  The next batch is that of the page which covers
 * "high" (backward: which covers what is just below "low").  The sibling links
 * are short cuts to that page; its level and fences tell whether a link still
 * leads there, and if not, the scan descends again.  So splits, deletions and
 * the re-use of pages between two batches are all the same to it, forward and
 * backward, on a primary and on a standby.
 *
 * Pins: an index-only scan, a scan with a non-MVCC snapshot and a scan of an
 * index without WAL keep the batch's page pinned until they leave it, which
 * holds up VACUUM's cleanup lock (see src/README.md, "Scans").
 *
 *-------------------------------------------------------------------------
 */
#include "fptree.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

/* Entries that fit into a batch as it is allocated first. */
#define FPT_BATCH_SMALL		(2 * FPT_MAX_CAP)

/* The matching entries of one leaf. */
typedef struct FPTBatch
{
	bool		valid;
	Buffer		buf;			/* pinned, or InvalidBuffer */
	uint32		pageno;
	uint32		left;
	uint32		right;
	XLogRecPtr	lsn;
	FPTKey		low;			/* interval of the key space it stands for */
	FPTKey		high;
	int			n;
	int			pos;			/* entry returned last */
	int			nullfrom;		/* entries nullfrom .. nullto - 1 are NULLs */
	int			nullto;
	int			max;			/* allocated entries */
	uint64	   *tids;
	uint64	   *los;			/* images; index-only scans */
	uint64	   *his;			/* images, upper halves of 16-byte ones */
	uint16	   *slotids;
} FPTBatch;

typedef struct FPTScanOpaque
{
	FPTIndex	ix;				/* own copy, see FPTIndex */
	MemoryContext cxt;			/* lives as long as the scan */
	FPTRanges	ranges;
	bool		haveranges;
	FPTBatch	cur;
	FPTBatch	mark;
	int			markpos;		/* marked entry of cur, or -1: see mark */
	int			nkilled;
	int			maxkilled;
	int		   *killed;			/* entries of cur found dead by the caller */
	IndexTuple	itup;			/* index-only: value tuple, overwritten */
	IndexTuple	nulltup;
	char	   *decoded;		/* FPT_DECODE_BYTES */
} FPTScanOpaque;

/* --- batches ---------------------------------------------------------------- */

static void
fpt_batch_alloc(FPTScanOpaque *so, FPTBatch *b, int max, bool want)
{
	bool		wide = so->ix.layout.keysize == 16;

	if (b->max < max)
	{
		uint64	   *tids = MemoryContextAlloc(so->cxt, max * sizeof(uint64));
		uint16	   *slots = MemoryContextAlloc(so->cxt, max * sizeof(uint16));

		if (b->max > 0)
		{
			memcpy(tids, b->tids, b->n * sizeof(uint64));
			memcpy(slots, b->slotids, b->n * sizeof(uint16));
			pfree(b->tids);
			pfree(b->slotids);
		}
		b->tids = tids;
		b->slotids = slots;
		if (b->los)
		{
			b->los = repalloc(b->los, max * sizeof(uint64));
			if (b->his)
				b->his = repalloc(b->his, max * sizeof(uint64));
		}
		b->max = max;
	}
	if (want && b->los == NULL)
	{
		b->los = MemoryContextAlloc(so->cxt, b->max * sizeof(uint64));
		if (wide)
			b->his = MemoryContextAlloc(so->cxt, b->max * sizeof(uint64));
	}
}

/* Copy a batch, with a pin of its own. */
static void
fpt_batch_copy(FPTScanOpaque *so, FPTBatch *to, const FPTBatch *from)
{
	FPTBatch	old = *to;

	old.n = 0;
	fpt_batch_alloc(so, &old, from->max, from->los != NULL);
	*to = *from;
	to->max = old.max;
	to->tids = old.tids;
	to->los = old.los;
	to->his = old.his;
	to->slotids = old.slotids;
	memcpy(to->tids, from->tids, from->n * sizeof(uint64));
	memcpy(to->slotids, from->slotids, from->n * sizeof(uint16));
	if (from->los)
		memcpy(to->los, from->los, from->n * sizeof(uint64));
	if (from->his)
		memcpy(to->his, from->his, from->n * sizeof(uint64));
	if (BufferIsValid(to->buf))
		IncrBufferRefCount(to->buf);
}

static void
fpt_batch_forget(FPTBatch *b)
{
	if (b->valid && BufferIsValid(b->buf))
		ReleaseBuffer(b->buf);
	b->buf = InvalidBuffer;
	b->valid = false;
	b->n = 0;
}

/*
 * Leave hints for the entries of the current batch that were found dead.  If
 * the page was not pinned all the time, an unchanged LSN must prove that no
 * VACUUM has removed an entry in between (its TID might have a new owner).
 * With the pin, VACUUM cannot have ended: TIDs still mean the same rows.
 */
static void
fpt_kill_items(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTBatch   *b = &so->cur;
	Buffer		buf = b->buf;
	Page		page;
	bool		dirty = false;
	int			i;

	if (BufferIsValid(buf))
	{
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		fpt_check_buffer(scan->indexRelation, &so->ix, buf);
	}
	else
		buf = fpt_getbuf(scan->indexRelation, &so->ix, b->pageno,
						 BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	if ((BufferIsValid(b->buf) || BufferGetLSNAtomic(buf) == b->lsn) &&
		fpt_header(page)->level == 0 &&
		fpt_page_has_hints(&so->ix.layout, page))
	{
		for (i = 0; i < so->nkilled; i++)
		{
			int			slotid = b->slotids[so->killed[i]];

			if (fpt_page_slot_is(&so->ix.layout, page, slotid,
								 b->tids[so->killed[i]]))
			{
				fpt_page_hint_set(&so->ix.layout, page, slotid);
				dirty = true;
			}
		}
		if (dirty)
			MarkBufferDirtyHint(buf, true);
	}
	if (BufferIsValid(b->buf))
		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	else
		UnlockReleaseBuffer(buf);
	so->nkilled = 0;
}

/* Leave the current batch; keeps what mark/restore needs of it. */
static void
fpt_leave_batch(IndexScanDesc scan, FPTScanOpaque *so)
{
	if (!so->cur.valid)
		return;
	if (so->nkilled > 0)
		fpt_kill_items(scan, so);
	if (so->markpos >= 0)
	{
		fpt_batch_forget(&so->mark);
		fpt_batch_copy(so, &so->mark, &so->cur);
		so->mark.pos = so->markpos;
		so->markpos = -1;
	}
	fpt_batch_forget(&so->cur);
}

/* --- the key space -------------------------------------------------------- */

/* First range that does not end before key; ranges->n if there is none. */
static int
fpt_first_range(FPTRanges *ranges, const FPTKey *key)
{
	int			a = 0;
	int			b = ranges->n;

	while (a < b)
	{
		int			m = (a + b) / 2;

		if (fpt_key_cmp(&ranges->r[m].hi, key) < 0)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

/* The key just below an exclusive bound: the page that covers it is wanted. */
static FPTKey
fpt_key_before(const FPTKey *bound)
{
	FPTKey		k = *bound;

	if (k.cls == FPT_CLS_PINF)
		k.cls = FPT_CLS_NULLLAST;
	else if (k.tid > 0)
	{
		k.tid--;
		return k;
	}
	else if (k.cls == FPT_CLS_VALUE && (k.lo > 0 || k.hi > 0))
	{
		if (k.lo-- == 0)
			k.hi--;
		k.tid = FPT_MAX_TID;
		return k;
	}
	else if (k.cls > FPT_CLS_MINF)
		k.cls--;
	if (k.cls == FPT_CLS_MINF)
		k.hi = k.lo = k.tid = 0;
	else
	{
		k.hi = k.lo = PG_UINT64_MAX;
		k.tid = FPT_MAX_TID;
	}
	return k;
}

/* --- reading pages --------------------------------------------------------- */

/* Copy one range's entries of a locked page to the end of the batch. */
static void
fpt_copy_range(IndexScanDesc scan, FPTScanOpaque *so, Page page,
			   const FPTKey *lo, const FPTKey *hi)
{
	FPTBatch   *b = &so->cur;
	const FPTLayout *l = &so->ix.layout;
	FPTLoc		first,
				last;
	FPTLoc		border = fpt_page_null_border(l, page);
	FPTRun		run = {0};
	int			part;

	if (fpt_page_range(l, page, lo, hi, &first, &last) != FPT_OK)
		fpt_corrupt(scan->indexRelation, b->pageno, "The page contradicts itself");
	if (first.kid > last.kid ||
		(first.kid == last.kid && first.rank >= last.rank))
		return;
	if (b->n + FPT_MAX_CAP > b->max || first.kid != last.kid)
		fpt_batch_alloc(so, b, FPT_MAX_ENTRIES, false);

	/* NULLs and values separately, to know which are which. */
	for (part = 0; part < 2; part++)
	{
		FPTLoc		from = first;
		FPTLoc		to = last;
		bool		isnull = (part == 0) == l->nullsfirst;
		int			n;

		if (part == 0 && border.kid < to.kid)
			to = border;
		if (part == 1 && border.kid > from.kid)
			from = border;
		if (part == 0 ? from.kid >= border.kid : to.kid < border.kid)
			continue;
		run.tids = b->tids + b->n;
		run.slotids = b->slotids + b->n;
		if (scan->xs_want_itup)
		{
			run.los = b->los + b->n;
			run.his = b->his ? b->his + b->n : NULL;
		}
		n = fpt_page_copy(l, page, from, to, scan->ignore_killed_tuples, &run);
		if (n < 0)
			fpt_corrupt(scan->indexRelation, b->pageno,
						"The page contradicts itself");
		if (isnull && n > 0)
		{
			if (b->nullto == 0)
				b->nullfrom = b->n;
			b->nullto = b->n + n;
		}
		b->n += n;
	}
}

/*
 * Fill the current batch from a share-locked leaf, for the part of the key
 * space from "from" to "to" (exclusive) that the page covers.  The page is
 * unlocked, and unpinned where that is safe.
 */
static void
fpt_fill_batch(IndexScanDesc scan, FPTScanOpaque *so, Buffer buf,
			   const FPTKey *from, const FPTKey *to)
{
	Relation	rel = scan->indexRelation;
	FPTBatch   *b = &so->cur;
	Page		page = BufferGetPage(buf);
	int			i = 0;

	fpt_test_old_snapshot(scan->xs_snapshot, rel, page);
	PredicateLockPage(rel, BufferGetBlockNumber(buf), scan->xs_snapshot);
	b->valid = true;
	b->pageno = fpt_bufpage(buf);
	b->left = fpt_header(page)->left;
	b->right = fpt_header(page)->right;
	b->low = fpt_fence_get(&fpt_special(page)->low);
	b->high = fpt_fence_get(&fpt_header(page)->high);
	if (from && fpt_key_cmp(from, &b->low) > 0)
		b->low = *from;
	if (to && fpt_key_cmp(to, &b->high) < 0)
		b->high = *to;
	b->n = 0;
	b->nullfrom = b->nullto = 0;
	fpt_batch_alloc(so, b, FPT_BATCH_SMALL, scan->xs_want_itup);

	if (so->ranges.n > 1)
		i = fpt_first_range(&so->ranges, &b->low);
	for (; i < so->ranges.n; i++)
	{
		FPTRange   *r = &so->ranges.r[i];
		FPTKey		hi = r->hi;

		if (fpt_key_cmp(&r->lo, &b->high) >= 0)
			break;
		if (fpt_key_cmp(&hi, &b->high) >= 0)
			hi = fpt_key_before(&b->high);
		fpt_copy_range(scan, so, page,
					   fpt_key_cmp(&r->lo, &b->low) > 0 ? &r->lo : &b->low,
					   &hi);
	}
	if (scan->xs_want_itup || !IsMVCCSnapshot(scan->xs_snapshot) ||
		!RelationNeedsWAL(rel))
	{
		b->buf = buf;
		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	}
	else
	{
		b->lsn = BufferGetLSNAtomic(buf);
		b->buf = InvalidBuffer;
		UnlockReleaseBuffer(buf);
	}
}

/* Share-lock the leaf that covers key, by a remembered number if it will do. */
static Buffer
fpt_leaf_for(IndexScanDesc scan, FPTScanOpaque *so, const FPTKey *key,
			 uint32 hint)
{
	Relation	rel = scan->indexRelation;

	if (hint != FPT_NOPAGE)
	{
		Buffer		buf = fpt_getbuf(rel, &so->ix, hint, BUFFER_LOCK_SHARE);
		Page		page = BufferGetPage(buf);

		if (fpt_header(page)->level == 0 &&
			!(fpt_header(page)->flags & FPT_F_DELETED) &&
			fpt_page_above_low(page, key) &&
			fpt_page_below_high(page, key))
			return buf;
		UnlockReleaseBuffer(buf);
	}
	return fpt_descend(rel, &so->ix, key, 0, BUFFER_LOCK_SHARE, NULL);
}

/*
 * Go to the next batch with any entries: forward from "from" (inclusive) on,
 * with "hint" the page that probably covers it.  False at the end.
 */
static bool
fpt_forward(IndexScanDesc scan, FPTScanOpaque *so, FPTKey from, uint32 hint)
{
	for (;;)
	{
		int			i = fpt_first_range(&so->ranges, &from);
		Buffer		buf;

		if (i >= so->ranges.n)
			return false;
		if (fpt_key_cmp(&so->ranges.r[i].lo, &from) > 0)
		{
			from = so->ranges.r[i].lo;
			hint = FPT_NOPAGE;
		}
		CHECK_FOR_INTERRUPTS();
		buf = fpt_leaf_for(scan, so, &from, hint);
		fpt_fill_batch(scan, so, buf, &from, NULL);
		so->cur.pos = 0;
		if (so->cur.n > 0)
			return true;
		from = so->cur.high;
		hint = so->cur.right;
		fpt_batch_forget(&so->cur);
		if (from.cls == FPT_CLS_PINF)
			return false;
	}
}

/* The same backward, from "to" (exclusive) on. */
static bool
fpt_backward(IndexScanDesc scan, FPTScanOpaque *so, FPTKey to, uint32 hint)
{
	for (;;)
	{
		int			i = so->ranges.n;
		FPTKey		key;
		FPTKey		end;
		Buffer		buf;

		/* The last range that begins below "to". */
		if (i > 1)
			i = Min(i, fpt_first_range(&so->ranges, &to) + 1);
		while (i > 0 && fpt_key_cmp(&so->ranges.r[i - 1].lo, &to) >= 0)
			i--;
		if (i == 0)
			return false;
		end = so->ranges.r[i - 1].hi;
		end.tid++;
		if (fpt_key_cmp(&end, &to) < 0)
		{
			to = end;
			hint = FPT_NOPAGE;
		}
		CHECK_FOR_INTERRUPTS();
		key = fpt_key_before(&to);
		buf = fpt_leaf_for(scan, so, &key, hint);
		fpt_fill_batch(scan, so, buf, NULL, &to);
		so->cur.pos = so->cur.n - 1;
		if (so->cur.n > 0)
			return true;
		to = so->cur.low;
		hint = so->cur.left;
		fpt_batch_forget(&so->cur);
		if (to.cls == FPT_CLS_MINF)
			return false;
	}
}

/* Start the scan at its first entry in this direction. */
static bool
fpt_first(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTKey		end;

	pgstat_count_index_scan(scan->indexRelation);
	fpt_count_search(scan);
	if (!so->haveranges)
	{
		fpt_preprocess_keys(scan->indexRelation, &so->ix, scan->keyData,
							scan->numberOfKeys, so->cxt, &so->ranges);
		so->haveranges = true;
	}
	if (so->ranges.n == 0)
		return false;
	if (ScanDirectionIsForward(dir))
		return fpt_forward(scan, so, so->ranges.r[0].lo, FPT_NOPAGE);
	end = so->ranges.r[so->ranges.n - 1].hi;
	end.tid++;
	return fpt_backward(scan, so, end, FPT_NOPAGE);
}

/* Leave the exhausted batch for the next one. */
static bool
fpt_next_batch(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTKey		low = so->cur.low;
	FPTKey		high = so->cur.high;
	uint32		left = so->cur.left;
	uint32		right = so->cur.right;

	fpt_leave_batch(scan, so);
	if (ScanDirectionIsForward(dir))
		return high.cls != FPT_CLS_PINF && fpt_forward(scan, so, high, right);
	return low.cls != FPT_CLS_MINF && fpt_backward(scan, so, low, left);
}

/* --- returning entries ------------------------------------------------------------ */

/* Build the tuples that an index-only scan overwrites and returns. */
static void
fpt_make_itups(IndexScanDesc scan, FPTScanOpaque *so)
{
	MemoryContext old = MemoryContextSwitchTo(so->cxt);
	TupleDesc	desc = RelationGetDescr(scan->indexRelation);
	FPTImage	zero = {0, 0};
	Datum		value;
	bool		isnull = false;

	so->decoded = palloc0(FPT_DECODE_BYTES);
	value = fpt_image_decode(so->ix.type, zero, so->decoded);
	so->itup = index_form_tuple(desc, &value, &isnull);
	isnull = true;
	so->nulltup = index_form_tuple(desc, &value, &isnull);
	scan->xs_itupdesc = desc;
	MemoryContextSwitchTo(old);
}

static inline void
fpt_return_itup(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTBatch   *b = &so->cur;
	const FPTKeyType *type = so->ix.type;
	FPTImage	img;
	Datum		value;
	char	   *data;

	if (unlikely(so->itup == NULL))
		fpt_make_itups(scan, so);
	if (b->pos >= b->nullfrom && b->pos < b->nullto)
	{
		scan->xs_itup = so->nulltup;
		return;
	}
	img.lo = b->los[b->pos];
	img.hi = b->his ? b->his[b->pos] : 0;
	if (so->ix.descending)
		fpt_image_invert(type, &img);
	value = fpt_image_decode(type, img, so->decoded);
	data = (char *) so->itup + IndexInfoFindDataOffset(0);
	if (type->typbyval)
		store_att_byval(data, value, type->typlen);
	else
		memcpy(data, DatumGetPointer(value), type->typlen);
	scan->xs_itup = so->itup;
}

bool
fptgettuple(IndexScanDesc scan, ScanDirection dir)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	FPTBatch   *b = &so->cur;

	if (!b->valid)
	{
		if (!fpt_first(scan, so, dir))
			return false;
	}
	else
	{
		if (scan->kill_prior_tuple)
		{
			if (so->nkilled == so->maxkilled)
			{
				so->maxkilled = Max(64, so->maxkilled * 2);
				if (so->killed == NULL)
					so->killed = MemoryContextAlloc(so->cxt,
													so->maxkilled * sizeof(int));
				else
					so->killed = repalloc(so->killed,
										  so->maxkilled * sizeof(int));
			}
			so->killed[so->nkilled++] = b->pos;
		}
		if (ScanDirectionIsForward(dir) ? ++b->pos >= b->n : --b->pos < 0)
		{
			if (!fpt_next_batch(scan, so, dir))
				return false;
		}
	}
	fpt_tid_decode(b->tids[b->pos], &scan->xs_heaptid);
	scan->xs_recheck = so->ranges.recheck;
	if (scan->xs_want_itup)
		fpt_return_itup(scan, so);
	return true;
}

int64
fptgetbitmap(IndexScanDesc scan, TIDBitmap *tbm)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	ItemPointerData tids[64];
	int64		total = 0;
	bool		more;

	for (more = fpt_first(scan, so, ForwardScanDirection); more;
		 more = fpt_next_batch(scan, so, ForwardScanDirection))
	{
		int			i = 0;

		while (i < so->cur.n)
		{
			int			k;

			for (k = 0; k < (int) lengthof(tids) && i < so->cur.n; k++, i++)
				fpt_tid_decode(so->cur.tids[i], &tids[k]);
			tbm_add_tuples(tbm, tids, k, so->ranges.recheck);
		}
		total += so->cur.n;
	}
	return total;
}

/* --- scan life cycle ------------------------------------------------------------------ */

IndexScanDesc
fptbeginscan(Relation rel, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(rel, nkeys, norderbys);
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree scan",
											  ALLOCSET_SMALL_SIZES);
	FPTScanOpaque *so = MemoryContextAllocZero(cxt, sizeof(FPTScanOpaque));

	Assert(norderbys == 0);
	memcpy(&so->ix, fpt_index(rel), sizeof(FPTIndex));
	so->cxt = cxt;
	so->markpos = -1;
	scan->xs_itupdesc = RelationGetDescr(rel);
	scan->opaque = so;
	return scan;
}

void
fptrescan(IndexScanDesc scan, ScanKey scankey, int nscankeys,
		  ScanKey orderbys, int norderbys)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	so->markpos = -1;
	fpt_leave_batch(scan, so);
	fpt_batch_forget(&so->mark);
	if (scankey && scan->numberOfKeys > 0)
		memmove(scan->keyData, scankey,
				scan->numberOfKeys * sizeof(ScanKeyData));
	so->haveranges = false;
}

void
fptendscan(IndexScanDesc scan)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	so->markpos = -1;
	fpt_leave_batch(scan, so);
	fpt_batch_forget(&so->mark);
	MemoryContextDelete(so->cxt);
}

void
fptmarkpos(IndexScanDesc scan)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	fpt_batch_forget(&so->mark);
	so->markpos = so->cur.valid ? so->cur.pos : -1;
}

void
fptrestrpos(IndexScanDesc scan)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	if (so->markpos >= 0)
	{
		so->cur.pos = so->markpos;
		return;
	}
	fpt_leave_batch(scan, so);
	if (so->mark.valid)
	{
		fpt_batch_copy(so, &so->cur, &so->mark);
		so->markpos = so->cur.pos;
		fpt_batch_forget(&so->mark);
	}
}
