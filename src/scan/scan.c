/*-------------------------------------------------------------------------
 *
 * scan/scan.c
 *	  Index scans: the access method's functions.
 *
 * They return what scan/batch.c reads and scan/standby.c allows, and give
 * scan/heapahead.c and scan/heaplines.c the occasion to look ahead.  Only here
 * is it known that an executor asks for one entry after the other.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "port/pg_bswap.h"

#include "key/general.h"
#include "key/image.h"
#include "key/tid.h"
#include "page/layout.h"
#include "page/port.h"
#include "scan/batch.h"
#include "scan/heapahead.h"
#include "scan/heaplines.h"
#include "scan/qual.h"
#include "scan/scan.h"
#include "scan/standby.h"
#include "scan/state.h"
#include "scan/extrakey.h"
#include "scan/wanted.h"
#include "server/compat.h"
#include "store/buf.h"

/* The largest index tuple that core's format allows. */
#define FPT_ITUP_SIZE		(INDEX_SIZE_MASK + 1)

/* --- batches ------------------------------------------------------------- */

/*
 * Start the scan at its first entry in this direction; false if there is none.
 * Locks, errors and memory as of fpt_batch_first().
 */
static bool
fpt_first(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	Assert(!so->cur.valid);
	fpt_heap_restart(so);
	fpt_heap_begin(scan, so);
	fpt_lines_begin(scan, so);
	fpt_wanted_begin(so);
	pgstat_count_index_scan(scan->indexRelation);
	fpt_count_search(scan);
	so->turn++;
	return fpt_batch_first(scan, so, &so->cur, dir);
}

/*
 * Leave the exhausted batch for the next one in this direction, at its first
 * entry; false if there is none, and then none is current.  Of the old one the
 * pin is given back, and dead entries are marked.  A leaf is read if that was
 * not done ahead, see fpt_batch_after(): no page is locked before or after; may
 * raise, and be cancelled.
 */
static bool
fpt_next_batch(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTBatch	old;

	Assert(so->cur.valid);
	so->turn++;
	if (so->cur.last && ScanDirectionIsForward(dir) && !so->ahead.valid)
	{
		fpt_batch_leave(scan, so);
		return false;
	}
	old = so->cur;
	if (so->ahead.valid && so->aheaddir != dir)
	{
		/* Of a parallel scan it would be nobody's, but that has no way back. */
		Assert(scan->parallel_scan == NULL);
		fpt_heap_restart(so);
	}
	fpt_wanted_passed(so, &so->cur);
	fpt_batch_leave(scan, so);
	if (so->ahead.valid)
	{
		/* It has been read already. */
		FPTBatch	spare = so->cur;

		so->cur = so->ahead;
		so->ahead = spare;
		so->heap.inahead = false;
		return true;
	}
	/* The look ahead may have come to the end, by any number of leaves. */
	if (so->heap.atend && so->aheaddir == dir)
		return false;
	if (!fpt_batch_after(scan, &so->cur, &old, dir))
		return false;
	so->heap.pos = so->cur.pos;
	so->heap.atend = false;
	return true;
}

/* --- returning entries --------------------------------------------------- */

/*
 * Build the tuples that an index-only scan of image keys overwrites and
 * returns, in the scan's context, once.  No page is locked.
 */
static pg_noinline void
fpt_make_itups(IndexScanDesc scan, FPTScanOpaque *so)
{
	MemoryContext old = MemoryContextSwitchTo(so->cxt);
	TupleDesc	desc = RelationGetDescr(scan->indexRelation);
	const FPTKeyType *type = so->ix.type;
	FPTImage	zero = {0, 0};
	Datum		value;
	bool		isnull = false;

	Assert(so->itup == NULL && type != NULL);
	so->decoded = palloc0(FPT_DECODE_BYTES);
	value = fpt_image_decode(type, zero, so->decoded);
	so->itupbytes = fpt_image_value_bytes(type, &so->itupflip);
	if (so->ix.descending)
		so->itupflip = ~so->itupflip;
	so->itup = index_form_tuple(desc, &value, &isnull);
	isnull = true;
	so->nulltup = index_form_tuple(desc, &value, &isnull);
	scan->xs_itupdesc = desc;
	MemoryContextSwitchTo(old);
}

/*
 * The current entry's index tuple, which is not in the batch: made of a copy of
 * the entry's own, which is.  So->itup is overwritten, and allocated the first
 * time.  Raises an error if the entry's tuple makes no sense.
 */
static pg_noinline void
fpt_return_stored(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTBatch   *b = &so->cur;
	const char *tup;
	FPTKey		key;

	Assert(b->items[b->pos] & FPT_ITUP_STORED);
	if (unlikely(so->itup == NULL))
		so->itup = MemoryContextAllocZero(so->cxt, FPT_ITUP_SIZE);
	tup = b->itups.data + (b->items[b->pos] & ~FPT_ITUP_STORED);
	fpt_batch_key(so, b, b->pos,
				  b->pos >= b->nullfrom && b->pos < b->nullto,
				  tup, tup + b->tuplens[b->pos], &key);
	fpt_general_write(so->ix.layout.arg, &key, so->itup);
	scan->xs_itup = so->itup;
}

/*
 * Write the value of the current entry to "data", whatever its image's kind.
 * Uses so->decoded.
 */
static pg_noinline void
fpt_decode_value(FPTScanOpaque *so, char *data)
{
	const FPTBatch *b = &so->cur;
	const FPTKeyType *type = so->ix.type;
	FPTImage	img;
	Datum		value;

	img.lo = b->los[b->pos];
	img.hi = b->his ? b->his[b->pos] : 0;
	if (so->ix.descending)
		fpt_image_invert(type, &img);
	value = fpt_image_decode(type, img, so->decoded);
	if (type->typbyval)
		store_att_byval(data, value, type->typlen);
	else
		memcpy(data, DatumGetPointer(value), type->typlen);
}

/*
 * The current entry's index tuple, of an image key: so->itup, overwritten, or
 * so->nulltup.  Any image makes one, however damaged its page was: raises
 * nothing.  No page is locked.  Kinds that most indexes have, see
 * fpt_image_value_bytes(), are written here.
 */
static pg_noinline void
fpt_return_image(IndexScanDesc scan, FPTScanOpaque *so)
{
	const FPTBatch *b = &so->cur;
	int			pos = b->pos;
	uint64		lo;
	char	   *data;

	Assert(b->los != NULL);
	if (unlikely(so->itup == NULL))
		fpt_make_itups(scan, so);
	if (unlikely(pos >= b->nullfrom) && pos < b->nullto)
	{
		scan->xs_itup = so->nulltup;
		return;
	}
	scan->xs_itup = so->itup;
	data = (char *) so->itup + IndexInfoFindDataOffset(0);
	lo = b->los[pos] ^ so->itupflip;
	if (likely(so->itupbytes == sizeof(uint64)))
		memcpy(data, &lo, sizeof(uint64));
	else if (so->itupbytes == sizeof(uint32))
	{
		uint32		v = (uint32) lo;

		memcpy(data, &v, sizeof(v));
	}
	else if (so->itupbytes == 2 * sizeof(uint64))
	{
		uint64		hi = pg_hton64(b->his[pos] ^ so->itupflip);

		lo = pg_hton64(lo);
		memcpy(data, &hi, sizeof(uint64));
		memcpy(data + sizeof(uint64), &lo, sizeof(uint64));
	}
	else
		fpt_decode_value(so, data);
}

static inline void
fpt_return_itup(IndexScanDesc scan, FPTScanOpaque *so)
{
	const FPTBatch *b = &so->cur;

	Assert(b->pos >= 0 && b->pos < b->n);
	if (b->items == NULL)
		fpt_return_image(scan, so);
	else if (likely(!(b->items[b->pos] & FPT_ITUP_STORED)))
		scan->xs_itup = (IndexTuple) (b->itups.data + b->items[b->pos]);
	else
		fpt_return_stored(scan, so);
}

IndexTuple
fpt_entry_tuple(IndexScanDesc scan, int i, bool *passing)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	FPTBatch   *b = &so->cur;

	Assert(b->valid && i >= 0 && i < b->n && scan->xs_want_itup);
	b->pos = i;
	fpt_return_itup(scan, so);
	*passing = b->items == NULL || (b->items[i] & FPT_ITUP_STORED);
	return scan->xs_itup;
}

/*
 * The executor has found the row of the current entry dead.  Entries may be
 * noted twice, by a scan that goes to and fro, but no more of them than the
 * batch has: that is all fpt_kill_items() does under the page's lock (L10).
 */
static pg_noinline void
fpt_note_killed(FPTScanOpaque *so)
{
	Assert(so->cur.pos >= 0 && so->cur.pos < so->cur.n);
	Assert(so->nkilled < so->cur.n);
	if (so->nkilled == so->maxkilled)
	{
		so->maxkilled = Max(64, so->maxkilled * 2);
		if (so->killed == NULL)
			so->killed = MemoryContextAlloc(so->cxt,
											so->maxkilled * sizeof(int));
		else
			so->killed = repalloc(so->killed, so->maxkilled * sizeof(int));
	}
	so->killed[so->nkilled++] = so->cur.pos;
}

/*
 * To the next entry, if it is not that after the current one, in its batch;
 * false if there is none.  As fpt_next_batch().
 */
static pg_noinline bool
fpt_step(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTBatch   *b = &so->cur;

	if (!b->valid)
		return fpt_first(scan, so, dir);
	if (ScanDirectionIsForward(dir) ? ++b->pos >= b->n : --b->pos < 0)
		return fpt_next_batch(scan, so, dir);
	return true;
}

/* See scan/scan.h. */
bool
fpt_entry_step(IndexScanDesc scan, ScanDirection dir)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	FPTBatch   *b = &so->cur;

	/* There are no entries in a batch that is not valid. */
	Assert(b->valid || b->n == 0);
	if (unlikely(scan->kill_prior_tuple) && so->nkilled < b->n)
		fpt_note_killed(so);
	scan->kill_prior_tuple = false;
	if (likely(ScanDirectionIsForward(dir) && b->pos + 1 < b->n))
		b->pos++;
	else if (!fpt_step(scan, so, dir))
		return false;
	if (unlikely(--so->heap.sleep < 0))
		fpt_heap_look(scan, so, dir);
	return true;
}

/* See scan/scan.h. */
bool
fptgettuple(IndexScanDesc scan, ScanDirection dir)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	FPTBatch   *b = &so->cur;

	/* There are no entries in a batch that is not valid. */
	Assert(b->valid || b->n == 0);
	if (unlikely(scan->kill_prior_tuple) && so->nkilled < b->n)
		fpt_note_killed(so);
	do
	{
		if (likely(ScanDirectionIsForward(dir) && b->pos + 1 < b->n))
			b->pos++;
		else if (!fpt_step(scan, so, dir))
			return false;
		fpt_tid_decode(b->tids[b->pos], &scan->xs_heaptid);
		if (unlikely(--so->heap.sleep < 0))
			fpt_heap_look(scan, so, dir);
	} while (unlikely(!fpt_shows(scan, so, dir)));
	scan->xs_recheck = so->ranges.recheck;
	if (scan->xs_want_itup)
		fpt_return_itup(scan, so);
	else
		fpt_lines_row(scan, so, dir);
	return true;
}

/*
 * See scan/scan.h.  A bitmap scan is not index-only, so that none of its
 * entries is in doubt (fpt_standby_doubts).
 */
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

		Assert(so->cur.valid && so->cur.n > 0 && !so->cur.doubt);
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

/* --- scan life cycle ----------------------------------------------------- */

/* See scan/scan.h. */
IndexScanDesc
fptbeginscan(Relation rel, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(rel, nkeys, norderbys);
	MemoryContext cxt;
	FPTScanOpaque *so;
	MemoryContext old;

	/*
	 * Core keeps contexts that are deleted, with their first block.  One of the
	 * default sizes has room there for all that a short scan needs, so that it
	 * takes no malloc().
	 */
	Assert(norderbys == 0);
	cxt = AllocSetContextCreate(CurrentMemoryContext, "fptree scan",
								ALLOCSET_DEFAULT_SIZES);
	so = MemoryContextAllocZero(cxt, sizeof(FPTScanOpaque));
	old = MemoryContextSwitchTo(cxt);
	fpt_index_copy(rel, &so->ix);
	MemoryContextSwitchTo(old);
	so->cxt = cxt;
	if (fpt_is_general(&so->ix.layout))
		so->quals = fpt_quals_begin(rel, &so->ix, cxt);
	so->markpos = -1;
	scan->xs_itupdesc = RelationGetDescr(rel);
	scan->opaque = so;
	return scan;
}

/* End all read-ahead. */
static void
fpt_ahead_done(FPTScanOpaque *so)
{
	fpt_heap_restart(so);
	if (so->window != NULL)
		fpt_window_done(so->window);
}

void
fpt_scan_counters(IndexScanDesc scan, uint64 counters[FPT_NCOUNTERS],
				  FPTStripeReads *reads)
{
	const FPTScanOpaque *so = (const FPTScanOpaque *) scan->opaque;

	memcpy(counters, so->counters, sizeof(so->counters));
	fpt_heap_counters(so, counters);
	if (so->window != NULL)
		counters[FPT_LEAF_WASTED] += fpt_window_unused(so->window);
	memset(reads, 0, sizeof(FPTStripeReads));
	fpt_add_reads(reads, &so->ix.map);
}

/* See scan/scan.h.  The mark goes first, or leaving the batch would copy it. */
void
fptrescan(IndexScanDesc scan, ScanKey scankey, int nscankeys,
		  ScanKey orderbys, int norderbys)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	Assert(norderbys == 0);
	Assert(scankey == NULL || nscankeys == scan->numberOfKeys);
	so->markpos = -1;
	fpt_ahead_done(so);

	so->heap.horizon = so->cur.valid ? fpt_heap_come(&so->heap) : 0;
	fpt_batch_leave(scan, so);
	Assert(so->nkilled == 0);
	fpt_batch_forget(&so->mark);
	if (scankey && scan->numberOfKeys > 0)
		memmove(scan->keyData, scankey,
				scan->numberOfKeys * sizeof(ScanKeyData));
	so->nkeys = fpt_operator_keys(scan->keyData, scan->numberOfKeys);
	so->wanted = fpt_extra_wanted(scan->keyData + so->nkeys,
								  scan->numberOfKeys - so->nkeys);
	so->haveranges = false;
}

/* See scan/scan.h. */
void
fptendscan(IndexScanDesc scan)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	so->markpos = -1;
	fpt_ahead_done(so);
	fpt_heap_count_pause(so);
	fpt_batch_leave(scan, so);
	fpt_batch_forget(&so->mark);
	if (BufferIsValid(so->heap.vmbuf))
		ReleaseBuffer(so->heap.vmbuf);
	fpt_standby_end(so);
	if (fpt_reports != NULL && !fpt_is_probe(scan))
		fpt_report_scan(RelationGetRelid(scan->indexRelation), so->counters,
						&so->ix.map);
	MemoryContextDelete(so->cxt);
}

void
fptmarkpos(IndexScanDesc scan)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	fpt_batch_forget(&so->mark);
	so->markpos = so->cur.valid ? so->cur.pos : -1;
}

/*
 * See scan/scan.h.  A mark in a batch of its own comes to the current one, so
 * that so->mark is free for the next.
 */
void
fptrestrpos(IndexScanDesc scan)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	Assert(scan->parallel_scan == NULL);
	fpt_ahead_done(so);
	fpt_lines_lost(so);
	if (so->markpos >= 0)
	{
		Assert(so->markpos < so->cur.n);
		so->cur.pos = so->markpos;
		return;
	}
	so->turn++;
	fpt_batch_leave(scan, so);
	if (so->mark.valid)
	{
		fpt_batch_copy(so, &so->cur, &so->mark);
		so->markpos = so->cur.pos;
		fpt_batch_forget(&so->mark);
	}
}
