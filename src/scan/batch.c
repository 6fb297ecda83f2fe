/*-------------------------------------------------------------------------
 *
 * scan/batch.c
 *	  Reading the entries of a scan, leaf by leaf.
 *
 * A scan works through ranges of the key space (scan/range.c) in batches: all
 * entries of one leaf that lie in the ranges are copied out under one share
 * lock.  Only the ends of the ranges are searched; no entry is compared.
 *
 * What the scan remembers of a batch is the interval of the key space that it
 * stands for, [low, high).  The next batch is that of the page which covers
 * "high" (backward: which covers what is just below "low").  The sibling links
 * are short cuts to that page; its level and fences tell whether a link still
 * leads there, and if not, the scan descends again.  So splits, deletions and
 * the re-use of pages between two batches are all the same to it, forward and
 * backward, on a primary and on a standby.  A parallel scan has one such
 * position for all of its processes (scan/parallel.c).
 *
 * Pins: an index-only scan, a scan with a non-MVCC snapshot and a scan of an
 * index without WAL keep the batch's page pinned until they leave it, which
 * holds up VACUUM's cleanup lock (see src/scan/README.md).  During recovery
 * that is not enough for index-only scans, see scan/standby.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "key/image.h"
#include "key/itup.h"
#include "page/copy.h"
#include "page/kernel.h"
#include "scan/batch.h"
#include "scan/element.h"
#include "scan/parallel.h"
#include "scan/part.h"
#include "scan/position.h"
#include "scan/qual.h"
#include "scan/range.h"
#include "scan/source.h"
#include "scan/standby.h"
#include "scan/wanted.h"
#include "server/compat.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/counts.h"
#include "store/map.h"
#include "store/place.h"
#include "tree/predicate.h"
#include "tree/prefetch.h"
#include "tree/recall.h"
#include "tree/search.h"

/* Entries that fit into a batch as it is allocated first. */
#define FPT_BATCH_SMALL		FPT_MAX_CAP

/* That are allocated for entries of a few nodes. */
#define FPT_BATCH_MIDDLE	(4 * FPT_MAX_CAP)

/* Bytes of a bound's tuple and prefix that there is room for at first. */
#define FPT_BOUND_SMALL		128

/* Bytes for index tuples, likewise. */
#define FPT_ITUPS_SMALL		(2 * BLCKSZ)

/* --- batches ------------------------------------------------------------- */

/*
 * Where arrays grow.  General keys have a context of their own for it, made
 * when it is needed: a leaf's arrays are blocks no larger than they must be
 * there, as a plan may have hundreds of scans open.
 */
static MemoryContext
fpt_batch_context(FPTScanOpaque *so)
{
	if (so->quals == NULL)
		return so->cxt;
	if (so->growcxt == NULL)
		so->growcxt = AllocSetContextCreate(so->cxt, "fptree scan",
											ALLOCSET_SMALL_SIZES);
	return so->growcxt;
}

/*
 * An array's copy that has room for max elements, in the scan's context; its n
 * elements are kept.  The old one (or NULL) is freed, unless it is of the
 * batch's first chunk.
 */
static void *
fpt_batch_grow(FPTScanOpaque *so, const FPTBatch *b, void *old, int max,
			   Size size)
{
	void	   *new = MemoryContextAlloc(fpt_batch_context(so), max * size);

	Assert(b->n >= 0 && b->n <= max);
	if (old != NULL)
	{
		memcpy(new, old, b->n * size);
		if ((char *) old < b->first || (char *) old >= b->firstend)
			pfree(old);
	}
	return new;
}

/*
 * A batch's first chunk: its bounds, and the arrays for FPT_BATCH_SMALL entries
 * of image keys.  All that most scans need is one allocation.
 */
static void
fpt_batch_first_chunk(FPTScanOpaque *so, FPTBatch *b, bool keys)
{
	/* keys without a tuple need no room for one */
	int			room = so->quals != NULL ? FPT_BOUND_SMALL : 0;
	Size		bound = MAXALIGN(offsetof(FPTKeyBuf, data) + room);
	int			n = keys ? (so->ix.layout.keysize == 16 ? 3 : 2) : 1;
	Size		words = FPT_BATCH_SMALL * sizeof(uint64);
	Size		size = 2 * bound + n * words + FPT_BATCH_SMALL * sizeof(uint16);
	char	   *p = MemoryContextAlloc(so->cxt, size);

	b->first = p;
	b->firstend = p + size;
	b->low = (FPTKeyBuf *) p;
	b->high = (FPTKeyBuf *) (p + bound);
	b->lowroom = b->highroom = room;
	p += 2 * bound;
	b->tids = (uint64 *) p;
	if (n > 1)
		b->los = (uint64 *) (p + words);
	if (n > 2)
		b->his = (uint64 *) (p + 2 * words);
	b->slotids = (uint16 *) (p + n * words);
	b->max = FPT_BATCH_SMALL;
}

/*
 * Make room for max entries; "keys": for their keys, too; "want": for what an
 * index-only scan returns of them.  What there is of b->n entries is kept, and
 * nothing made smaller; the arrays that a batch has grow together.  Allocates
 * in the scan's context; the page may be locked, as all of that is bounded by
 * FPT_MAX_ENTRIES (L10).
 */
static void
fpt_batch_alloc(FPTScanOpaque *so, FPTBatch *b, int max, bool keys, bool want)
{
	bool		grow;

	Assert(max > 0 && max <= FPT_MAX_ENTRIES);
	if (b->low == NULL)
		fpt_batch_first_chunk(so, b, keys);
	grow = b->max < max;
	if (grow)
	{
		b->tids = fpt_batch_grow(so, b, b->tids, max, sizeof(uint64));
		b->slotids = fpt_batch_grow(so, b, b->slotids, max, sizeof(uint16));
		b->max = max;
	}
	if (b->los != NULL ? grow : keys)
		b->los = fpt_batch_grow(so, b, b->los, b->max, sizeof(uint64));
	if (so->ix.layout.keysize == 16 && (b->his != NULL ? grow : keys))
		b->his = fpt_batch_grow(so, b, b->his, b->max, sizeof(uint64));
	if (so->quals == NULL)
		return;
	if (b->tuplens != NULL ? grow : keys)
	{
		b->tupoffs = fpt_batch_grow(so, b, b->tupoffs, b->max, sizeof(uint16));
		b->tuplens = fpt_batch_grow(so, b, b->tuplens, b->max, sizeof(uint16));
	}
	if (b->items != NULL ? grow : want)
		b->items = fpt_batch_grow(so, b, b->items, b->max, sizeof(uint32));
	if (b->itups.data == NULL && want)
	{
		b->itups.size = FPT_ITUPS_SMALL;
		b->itups.data = MemoryContextAlloc(so->cxt, b->itups.size);
	}
}

/* Nodes whose entries are counted, to know whether there is room for them. */
#define FPT_ROOM_KIDS		4

/* Entries of nkids nodes from "first" on, at most. */
static inline int
fpt_kids_count(const FPTLayout *l, Page page, int first, int nkids)
{
	int			sum = 0;

	for (int kid = first; kid < first + nkids; kid++)
	{
		int			n = fpt_node_count(l, page, kid);

		/* (a damaged page is found out when it is copied) */
		sum += n < 0 ? FPT_MAX_CAP : n;
	}
	return sum;
}

/*
 * Make room behind the batch's entries for those of so many of the page's
 * nodes, from "first" on.  Of a few nodes the room is for as many as they can
 * have, of more for what the page has: a plan may have hundreds of
 * scans open, each with a leaf.  Where another leaf has more, it is for what
 * such leaves can have, so that they need not be counted.  The page is locked;
 * as fpt_batch_alloc().
 */
static inline void
fpt_batch_room(FPTScanOpaque *so, FPTBatch *b, Page page, int first, int nkids)
{
	int			room = b->n + nkids * FPT_MAX_CAP;
	const FPTGeom *g;
	int			most;

	if (room <= b->max || b->max == FPT_MAX_ENTRIES ||
		(b->n == 0 && nkids <= FPT_ROOM_KIDS &&
		 fpt_kids_count(&so->ix.layout, page, first, nkids) <= b->max))
		return;
	g = fpt_page_geom(&so->ix.layout, page);
	Assert(g != NULL);			/* the page is sane */
	most = (int) g->capacity + FPT_MAX_CAP;
	if (b->max >= most)
		return;
	if (room <= FPT_BATCH_MIDDLE)
		room = FPT_BATCH_MIDDLE;
	else if (b->max <= FPT_BATCH_MIDDLE)
	{
		int			n = fpt_page_count(&so->ix.layout, page);

		/* a damaged page is found out when it is copied */
		room = n < 0 ? most : n + FPT_MAX_CAP;
	}
	else
		room = most;
	if (room > b->max)
		fpt_batch_alloc(so, b, Min(room, FPT_MAX_ENTRIES), false, false);
}

/*
 * Copy a key to a bound, with its bytes.  Where there is no room for them it
 * gets all that a key may need, in the scan's context; its old bytes are left
 * there, as few keys are so wide.  *key may be the bound's own.
 */
static inline void
fpt_bound_set(FPTScanOpaque *so, FPTKeyBuf **bound, int *room,
			  const FPTKey *key)
{
	if (unlikely(key->len > 0 && (int) (key->len + key->cut) > *room))
	{
		*bound = MemoryContextAlloc(fpt_batch_context(so), sizeof(FPTKeyBuf));
		*room = sizeof((*bound)->data);
	}
	fpt_key_copy(*bound, key);
}

static void
fpt_batch_set_low(FPTScanOpaque *so, FPTBatch *b, const FPTKey *key)
{
	fpt_bound_set(so, &b->low, &b->lowroom, key);
}

static void
fpt_batch_set_high(FPTScanOpaque *so, FPTBatch *b, const FPTKey *key)
{
	fpt_bound_set(so, &b->high, &b->highroom, key);
}

void
fpt_batch_copy(FPTScanOpaque *so, FPTBatch *to, const FPTBatch *from)
{
	Assert(from->valid && from->n > 0);
	Assert(to != from && !to->valid);
	Assert(from->items == NULL || from->tuplens != NULL);
	to->n = 0;					/* nothing is kept where arrays grow */
	fpt_batch_alloc(so, to, from->max, from->los != NULL,
					from->items != NULL);
	if (to->itups.size < from->itups.used)
	{
		pfree(to->itups.data);
		to->itups.data = MemoryContextAlloc(so->cxt, from->itups.size);
		to->itups.size = from->itups.size;
	}
	memcpy(to, from, offsetof(FPTBatch, max));
	fpt_batch_set_low(so, to, &from->low->key);
	fpt_batch_set_high(so, to, &from->high->key);
	to->itups.used = from->itups.used;
	memcpy(to->tids, from->tids, from->n * sizeof(uint64));
	memcpy(to->slotids, from->slotids, from->n * sizeof(uint16));
	if (from->los)
		memcpy(to->los, from->los, from->n * sizeof(uint64));
	if (from->his)
		memcpy(to->his, from->his, from->n * sizeof(uint64));
	if (from->items)
	{
		memcpy(to->tuplens, from->tuplens, from->n * sizeof(uint16));
		memcpy(to->items, from->items, from->n * sizeof(uint32));
		memcpy(to->itups.data, from->itups.data, from->itups.used);
	}
	to->askedfrom = to->askedto = 0;
	if (BufferIsValid(to->buf))
		IncrBufferRefCount(to->buf);
}

void
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
 * With the pin, VACUUM cannot have ended: TIDs still mean the same rows (P3).
 * If a leaf is read by parts, TIDs and LSN are the part's (B5).
 *
 * Locks the page to read, and leaves it as it was, pinned or not.  None is
 * noted any more.  Raises an error if the page is not sane; the hints may be
 * logged.  Cannot be cancelled while it waits for the lock.
 */
static void
fpt_kill_items(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTBatch   *b = &so->cur;
	Buffer		buf = b->buf;
	Page		page;

	Assert(b->valid);
	Assert(so->nkilled > 0 && so->nkilled <= so->maxkilled);
	fpt_stop_point(FPT_STOP_SCAN_KILL);
	if (BufferIsValid(buf))
	{
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		fpt_check_buffer(scan->indexRelation, &so->ix, buf, b->pageno);
	}
	else
		buf = fpt_getbuf(scan->indexRelation, &so->ix, b->pageno,
						 BUFFER_LOCK_SHARE);
	page = BufferGetPage(buf);
	if ((BufferIsValid(b->buf) || BufferGetLSNAtomic(buf) == b->lsn) &&
		fpt_page_on_level(page, 0))
		fpt_leave_hints(&so->ix.layout, buf, b->slotids, b->tids, so->killed,
						so->nkilled);
	if (BufferIsValid(b->buf))
		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	else
		UnlockReleaseBuffer(buf);
	so->nkilled = 0;
}

void
fpt_batch_leave(IndexScanDesc scan, FPTScanOpaque *so)
{
	if (!so->cur.valid)
		return;
	if (so->nkilled > 0)
		fpt_kill_items(scan, so);
	Assert(so->markpos < so->cur.n);
	if (so->markpos >= 0)
	{
		fpt_batch_forget(&so->mark);
		fpt_batch_copy(so, &so->mark, &so->cur);
		so->mark.pos = so->markpos;
		so->markpos = -1;
	}
	fpt_batch_forget(&so->cur);
}

/* --- reading pages ------------------------------------------------------- */

/*
 * Of n entries behind the batch's end, drop those that the quals rule out;
 * returns how many are left there, in their order.  Neighbours that share a
 * tuple and have the same head are asked once.  The page is locked, and the
 * tuples are in it: functions of types run, and may raise (L7).  What they
 * allocate is forgotten at the end.
 */
static int
fpt_filter_entries(FPTScanOpaque *so, FPTBatch *b, Page page, int n,
				   bool isnull)
{
	int			to = b->n;
	uint32		cut;
	const char *pre = fpt_page_prefix(page, &cut);
	uint64		prev = 0;		/* head of the key looked at last */
	int			prevoff = -1;	/* where its tuple is */
	bool		match = false;	/* does it match? */

	Assert(b->tupoffs != NULL && b->los != NULL && b->n + n <= b->max);
	Assert(b->cut == cut);
	for (int i = b->n; i < b->n + n; i++)
	{
		int			off = b->tupoffs[i];

		if (off != prevoff || b->los[i] != prev)
		{
			FPTKey		key;

			fpt_batch_key(so, b, i, isnull, (char *) page + off, pre, &key);
			match = fpt_quals_match(so->quals, &key);
			prev = key.lo;
			prevoff = off;
		}
		if (match)
		{
			b->tids[to] = b->tids[i];
			b->los[to] = b->los[i];
			b->slotids[to] = b->slotids[i];
			b->tupoffs[to] = b->tupoffs[i];
			b->tuplens[to] = b->tuplens[i];
			to++;
		}
	}
	fpt_quals_reset(so->quals);
	return to - b->n;
}

/*
 * fpt_page_range(), but that an end which is the page's own is not looked for.
 * So whole pages are copied whole, whatever the order of their entries is
 * today; of image keys, whose order does not change, so is an end beyond the
 * page's.  The page is locked, or a copy.  Returns FPT_OK, and places that mean
 * something only then, or FPT_CORRUPT.  May raise where general keys are
 * compared.
 */
static inline FPTResult
fpt_find_range(const FPTLayout *l, Page page, const FPTKey *lo,
			   const FPTKey *hi, FPTLoc *first, FPTLoc *last)
{
	bool		general = fpt_is_general(l);
	bool		head = (general ? lo->cls == FPT_CLS_MINF :
						!fpt_page_above_low(l, page, lo)) ||
		fpt_page_begins_at(l, page, lo);
	bool		tail = general ? hi->cls == FPT_CLS_PINF ||
		fpt_page_ends_at(l, page, hi) : !fpt_page_below_high(l, page, hi);

	if (head != tail)
	{
		FPTKey		end = *hi;

		end.tid++;
		if (fpt_page_lower_bound(l, page, head ? &end : lo,
								 head ? last : first) != FPT_OK)
			return FPT_CORRUPT;
	}
	else if (!head &&
			 fpt_page_range(l, page, lo, hi, first, last) != FPT_OK)
		return FPT_CORRUPT;
	if (head)
		memset(first, 0, sizeof(FPTLoc));
	if (tail)
	{
		memset(last, 0, sizeof(FPTLoc));
		last->kid = fpt_header(page)->nkids;
	}
	return FPT_OK;
}

/*
 * Copy entries part[0] .. part[1] - 1 of a locked page, all of them NULL or
 * none, to the end of the batch, which has room for those of any sound page;
 * run->tupbytes goes on from part to part.  Locks and errors: see
 * fpt_copy_range().
 */
static inline void
fpt_copy_part(IndexScanDesc scan, FPTBatch *b, Page page, const FPTLoc *part,
			  bool isnull, bool filter, FPTRun *run)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	const FPTLayout *l = &so->ix.layout;
	int			n;

	run->tids = b->tids + b->n;
	run->slotids = b->slotids + b->n;
	if (b->los != NULL)
	{
		run->los = b->los + b->n;
		run->his = b->his ? b->his + b->n : NULL;
	}
	if (b->tuplens != NULL)
	{
		run->tupoffs = b->tupoffs + b->n;
		run->tuplens = b->tuplens + b->n;
	}
	run->max = b->max - b->n;
	run->unordered = so->bare && b->los == NULL;
	if (!fpt_loc_before(&part[0], &part[1]))
		n = 0;
	else
		n = run->max <= 0 ? -1 :
			fpt_page_copy(l, page, part[0], part[1],
						  scan->ignore_killed_tuples, run);
	if (n < 0)
		fpt_corrupt_page(scan->indexRelation, l, page, b->pageno);
	Assert(b->n + n <= b->max);
	if (filter)
		n = fpt_filter_entries(so, b, page, n, isnull);
	if (b->items != NULL)
		fpt_general_write_page(l->arg, page, isnull, n, run, &b->itups,
							   b->items + b->n);
	if (isnull && n > 0)
	{
		if (b->nullto == 0)
			b->nullfrom = b->n;
		b->nullto = b->n + n;
	}
	b->n += n;
}

/*
 * Ranges that ascend do not do so in the page: it is damaged, an error, unless
 * comparisons may contradict each other.  Then the scan gets on all the same,
 * at the cost of rows that it does not find.
 */
static void
fpt_disordered(IndexScanDesc scan, FPTScanOpaque *so, const FPTBatch *b)
{
	if (!so->ix.unsure)
		fpt_corrupt(scan->indexRelation, b->pageno, "Entries are out of order");
	so->ix.strayed = true;
}

/*
 * Copy one range's entries of a locked page to the end of the batch, or those
 * of a part of it, and then the batch's bounds say so; "filter": only those
 * that match the quals.  The range may end after the page.  Returns
 * whether there are entries in it, matching or not.  *done: where the one
 * before ended, and now this one does.  Ranges ascend, and so must their places
 * in the page, or entries might be copied again and again until they overrun
 * the batch.
 *
 * Raises an error if the page contradicts itself, or functions of types do
 * (L7).  Arrays, and the index tuples of an index-only scan, grow in the scan's
 * context.
 */
static bool
fpt_copy_range(IndexScanDesc scan, FPTBatch *b, Page page, const FPTKey *lo,
			   const FPTKey *hi, bool filter, FPTLoc *done)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	const FPTLayout *l = &so->ix.layout;
	FPTLoc		first,
				last;
	FPTLoc		border = fpt_page_null_border(l, page);
	FPTRun		run = {.tupbytes = b->tupbytes};

	Assert(b->valid && b->max > 0);
	if (fpt_find_range(l, page, lo, hi, &first, &last) != FPT_OK)
		fpt_corrupt_page(scan->indexRelation, l, page, b->pageno);
	fpt_guess_learn(&so->ix.guess, l, page, first.kid);
	if (!fpt_loc_before(&first, &last))
	{
		if (fpt_loc_before(done, &last))
			*done = last;
		return false;
	}
	if (unlikely(fpt_loc_before(&first, done)))
	{
		fpt_disordered(scan, so, b);
		first = *done;
		if (!fpt_loc_before(&first, &last))
			return false;
	}
	if (so->part > 0)
		fpt_part_cut(so, b, page, &first, &last, so->filldir);
	*done = last;
	fpt_batch_room(so, b, page, first.kid,
				   last.kid - first.kid + (last.rank > 0));
	if (filter)
		fpt_batch_alloc(so, b, b->max, true, false);

	/* NULLs and values separately, to know which are which. */
	if (first.kid < border.kid)
	{
		FPTLoc		part[2] = {first, last};

		if (fpt_loc_before(&border, &last))
			part[1] = border;
		fpt_copy_part(scan, b, page, part, l->nullsfirst, filter, &run);
	}
	if (last.kid >= border.kid)
	{
		FPTLoc		part[2] = {border.kid > first.kid ? border : first, last};

		fpt_copy_part(scan, b, page, part, !l->nullsfirst, filter, &run);
	}
	b->tupbytes = run.tupbytes;
	return true;
}

/*
 * A range had no entries: the first one after it, in *e, is where ranges are
 * worth asking for again; false if the page has none.  *leapt: the place of the
 * last one so met, which must be before.
 *
 * Rule L10: of a range with entries at least one is passed, a range without is
 * followed by a leap, and of two leaps the second one is at a later entry.  So
 * a locked page takes at most two steps for each entry and one more, whatever
 * the ranges are (fpt_check_steps).
 */
static bool
fpt_leap(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b, Page page,
		 const FPTLoc *done, FPTLoc *leapt, FPTEntry *e)
{
	if (done->kid >= fpt_header(page)->nkids)
		return false;
	if (unlikely(!fpt_loc_before(leapt, done)))
	{
		fpt_disordered(scan, so, b);
		return false;
	}
	*leapt = *done;
	if (fpt_page_get(&so->ix.layout, page, *done, e) != FPT_OK)
		fpt_corrupt_page(scan->indexRelation, &so->ix.layout, page, b->pageno);
	return true;
}

static inline void
fpt_check_steps(const FPTScanOpaque *so, Page page, int steps)
{
#ifdef USE_ASSERT_CHECKING
	int			n = fpt_page_count(&so->ix.layout, page);

	/* -1: a damaged page, of which fewer steps are found out to be wrong */
	Assert(n < 0 || steps <= 2 * n + 1);
#endif
}

/*
 * Fill a batch where r, the range that the scan has come to, is that of one
 * image, and no other one begins before the batch's end.  False:
 * fpt_fill_ranges() must do it, and the batch still has no entries.  The page
 * is locked to read.  Allocates nothing, raises nothing: what is wrong with a
 * damaged page is the other's to say.
 */
static inline bool
fpt_fill_image(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b, Page page,
			   const FPTRange *r)
{
	const FPTLayout *l = &so->ix.layout;
	FPTRun		run = {.tids = b->tids, .slotids = b->slotids, .los = b->los,
	.his = b->his};
	int			kid;
	int			n;

	Assert(b->n == 0 && b->max >= FPT_MAX_CAP);
	if (so->quals != NULL || so->ranges.n == 0)
		return false;
	if (so->ranges.spans == NULL)
		r = &so->ranges.one;
	if (r == NULL || !fpt_whole_image(l, &r->lo, &r->hi) ||
		fpt_key_cmp(l, &r->lo, &b->low->key) < 0 ||
		fpt_key_cmp(l, &r->hi, &b->high->key) >= 0 ||
		!fpt_source_alone(so, r, &b->high->key))
		return false;
	if (unlikely(so->reading.on))
		fpt_reading_range(&so->reading, &r->lo, &r->hi);
	n = fpt_page_copy_image(l, page, &r->lo, scan->ignore_killed_tuples, &run,
							&kid);
	if (n < 0)
		return false;
	fpt_guess_learn(&so->ix.guess, l, page, kid);
	b->n = n;
	b->last = scan->parallel_scan == NULL &&
		(so->ranges.spans == NULL || r->element + 1 == so->ranges.n);
	return true;
}

/*
 * Seeks in a row that stayed in a node after which entries are asked one by
 * one, to the end of the page: a seek takes as long as some twenty entries.
 */
#define FPT_POOR_SEEKS		8

/*
 * Instead of asking the entries of a range (FPTRange.seek): where do they
 * begin?  To *done, if that is after it.  The page is locked; functions of
 * types run, and may raise (L7).
 */
static void
fpt_seek(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b, Page page,
		 const FPTKey *from, FPTLoc *done)
{
	const FPTLayout *l = &so->ix.layout;
	FPTLoc		at = {0};

	if (from->cls != FPT_CLS_MINF && !fpt_page_begins_at(l, page, from) &&
		fpt_page_lower_bound(l, page, from, &at) != FPT_OK)
		fpt_corrupt_page(scan->indexRelation, l, page, b->pageno);
	so->poorseeks = at.kid > done->kid ? 0 : so->poorseeks + 1;
	if (fpt_loc_before(done, &at))
		*done = at;
}

/*
 * What a page has of one range, from *done on, to the end of the batch; if the
 * range tells too little of where its entries are, only where they begin.
 * Where that ended is in *done.  "cut": the page goes on after the batch's
 * end.  Returns whether there are entries in it.  As fpt_copy_range().
 */
static bool
fpt_fill_range(IndexScanDesc scan, FPTBatch *b, Page page, const FPTRange *r,
			   bool cut, FPTLoc *done)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	const FPTLayout *l = &so->ix.layout;
	const FPTKey *low = &b->low->key;
	const FPTKey *high = &b->high->key;
	bool		inside = r->here || fpt_key_cmp(l, &r->lo, low) > 0;
	const FPTKey *from = inside ? &r->lo : low;
	const FPTKey *to = &r->hi;
	FPTKey		before;
	FPTLoc		at;

	if (r->seek && so->poorseeks < FPT_POOR_SEEKS)
	{
		fpt_seek(scan, so, b, page, from, done);
		return false;
	}
	if (inside || fpt_key_cmp(l, from, to) <= 0)
	{
		if (cut && fpt_key_cmp(l, to, high) >= 0)
		{
			before = fpt_key_before(&so->ix, high);
			to = &before;
		}
		return fpt_copy_range(scan, b, page, from, to, r->filter, done);
	}
	if (fpt_page_lower_bound(l, page, low, &at) != FPT_OK)
		fpt_corrupt_page(scan->indexRelation, l, page, b->pageno);
	if (fpt_loc_before(done, &at))
		*done = at;
	return false;
}

/*
 * A serializable transaction begins to read the part of a locked leaf that the
 * batch stands for.  Numbers of keys are of no use where the order may have
 * changed.
 */
static pg_noinline void
fpt_begin_reading(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b,
				  Page page)
{
	bool		keys = !so->disorder && !so->ix.stale;

	so->reading.goeson = so->inpage;
	fpt_reading_begin(&so->reading, scan, &so->ix, page, &b->low->key,
					  &b->high->key, keys);
}

/*
 * Its locks for a range whose entries on the page, as far as the batch goes,
 * have been copied, or searched for the first one ("seek"): nobody has changed
 * the page since, which is locked.  As fpt_reading_range().
 */
static pg_noinline void
fpt_read_range(FPTScanOpaque *so, const FPTRange *r, bool seek)
{
	if (seek)
		fpt_reading_from(&so->reading, &r->lo);
	else
		fpt_reading_range(&so->reading, &r->lo, &r->hi);
}

/*
 * And for the ranges after r that will not be asked for, as there is no entry
 * up to "to"; of a seek, for all of that.  r, which is in *buf or in the scan,
 * means nothing any more.  As fpt_reading_range().
 */
static pg_noinline void
fpt_read_leap(FPTScanOpaque *so, FPTRange *r, FPTRange *buf, bool seek,
			  const FPTKey *to)
{
	if (!seek)
	{
		r = fpt_source_next(so, r, buf);
		if (r == NULL)
			return;
		fpt_reading_from(&so->reading, &r->lo);
	}
	fpt_reading_gap(&so->reading, to);
}

/*
 * All ranges between the batch's bounds: their entries are appended to it.  r
 * is the first one, in *buf or in the scan, or NULL if that is not known; "to"
 * is what ends the batch, if it is not the end of the page.  Comparing general
 * keys is dear: what is known of the first range is not asked again, and where
 * the page has no more entries no other one is asked for.
 *
 * The page is locked to read, before and after; what bounds the steps
 * fpt_leap() says (L10).  Functions of types run where keys are general (L7),
 * which may raise, as does a page that contradicts itself.
 */
static void
fpt_fill_ranges(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b, Page page,
				const FPTKey *to, FPTRange *r, FPTRange *buf)
{
	const FPTLayout *l = &so->ix.layout;
	const FPTKey *low = &b->low->key;
	const FPTKey *high = &b->high->key;
	FPTLoc		done = {0};
	FPTLoc		leapt = {.kid = -1};
	int			steps = 0;

	/* Backward, a page that took over its left sibling goes on after "high". */
	bool		cut = to != NULL && !fpt_page_ends_at(l, page, high);

	/* another try on each page */
	so->poorseeks = Min(so->poorseeks, FPT_POOR_SEEKS - 1);
	if (r == NULL)
	{
		r = fpt_source_from(so, low, 1, buf);
		if (r != NULL)
			r->here = !r->moved;
	}
	while (r != NULL && (r->here || fpt_key_cmp(l, &r->lo, high) < 0))
	{
		bool		seek = r->seek && so->poorseeks < FPT_POOR_SEEKS;
		bool		found;
		bool		leap;
		FPTEntry	e;

		found = fpt_fill_range(scan, b, page, r, cut, &done);

		/* no more than the part, so after its bound is known (B6) */
		if (unlikely(so->reading.on))
			fpt_read_range(so, r, seek);
		steps++;
		if (r->point)
		{
			/*
			 * An entry after the only range: so it has no other leaf.  (In a
			 * page that is cut it may be one of the range.)
			 */
			b->last = !cut && scan->parallel_scan == NULL &&
				(done.rank > 0 || fpt_node_count(l, page, done.kid) > 0);
			Assert(!b->last ||
				   fpt_node_count(l, page, done.kid) > done.rank);
			break;
		}
		if (found && done.kid < fpt_header(page)->nkids)
		{
			r = fpt_source_next(so, r, buf);
			continue;
		}
		leap = fpt_leap(scan, so, b, page, &done, &leapt, &e) &&
			!(cut && fpt_key_cmp(l, &e.key, high) >= 0);
		if (unlikely(so->reading.on))
			fpt_read_leap(so, r, buf, seek, leap ? &e.key : high);
		if (!leap)
			break;
		r = fpt_source_from(so, &e.key, 1, buf);
	}
	fpt_check_steps(so, page, steps);
}

/*
 * Fill a batch from a share-locked leaf, for the part of the key space from
 * "from" to "to" (exclusive) that the page covers.  At most one of them is
 * given, "to" always if the scan goes backward.  Forward, *first is the first
 * range from there on, in *rbuf or in the scan, backward it is NULL.
 *
 * The page is unlocked, and unpinned where that is safe (P2).  The batch is
 * valid, perhaps without entries; its bounds and links tell where to go on.
 * b->pos is the caller's to set.  A parallel scan is given up as soon as the
 * bounds are known.  Raises an error, lock and pin left to the end of the
 * transaction, if the page contradicts itself, a function of a type does, or
 * the snapshot is too old (up to 16).  Allocates in the scan's context.
 */
static void
fpt_fill_batch(IndexScanDesc scan, FPTBatch *b, Buffer buf, const FPTKey *from,
			   const FPTKey *to, FPTRange *first, FPTRange *rbuf)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	Relation	rel = scan->indexRelation;
	const FPTLayout *l = &so->ix.layout;
	Page		page = BufferGetPage(buf);
	FPTKey		low = fpt_page_low(l, page);
	FPTKey		high = fpt_page_high(l, page);

	Assert(fpt_header(page)->level == 0);
	Assert(!(fpt_header(page)->flags & FPT_F_DELETED));
	Assert(!b->valid && fpt_buffer_locked(buf, false));
	Assert(from == NULL || to == NULL);
	Assert((first == NULL) == (to != NULL));
	fpt_test_old_snapshot(scan->xs_snapshot, rel, page);
	b->valid = true;
	b->pageno = fpt_bufpage(buf);
	b->left = fpt_header(page)->left;
	b->right = fpt_header(page)->right;
	if (from && fpt_key_cmp(l, from, &low) > 0)
	{
		low = *from;
		b->left = b->pageno;	/* B2 */
	}
	if (to && fpt_key_cmp(l, to, &high) < 0)
	{
		high = *to;
		b->right = b->pageno;
	}
	so->filldir = to == NULL ? 1 : -1;

	/* The scan goes on at one of these, and so gets ahead. */
	Assert(fpt_is_general(l) || fpt_key_cmp(l, &low, &high) < 0);
	b->last = false;
	b->n = 0;
	b->nullfrom = b->nullto = 0;
	b->tupbytes = 0;
	b->itups.used = 0;
	if (so->part == 0 && fpt_source_goes_on(so, &low, &high, first))
		fpt_page_expect(rel, to == NULL ? b->right : b->left);
	fpt_batch_alloc(so, b, FPT_BATCH_SMALL, scan->xs_want_itup && !so->bare,
					scan->xs_want_itup && !so->bare);
	fpt_batch_set_low(so, b, &low);
	fpt_batch_set_high(so, b, &high);
	if (scan->parallel_scan != NULL)
		fpt_parallel_release(scan, to == NULL ? &high : &low,
							 to == NULL ? b->right : b->left);

	if (so->quals != NULL)
		(void) fpt_page_prefix(page, &b->cut);
	so->reading.on = IsolationIsSerializable();
	if (unlikely(so->reading.on))
		fpt_begin_reading(scan, so, b, page);
	if (!fpt_fill_image(scan, so, b, page, first))
		fpt_fill_ranges(scan, so, b, page, to, first, rbuf);
	fpt_part_next(so);
	Assert(b->n <= FPT_MAX_ENTRIES);
	b->doubt = fpt_standby_doubts(scan);	/* B8 */
	b->askedfrom = b->askedto = 0;
	b->lsn = BufferGetLSNAtomic(buf);
	if (scan->xs_want_itup || !IsMVCCSnapshot(scan->xs_snapshot) ||
		!RelationNeedsWAL(rel))
	{
		b->buf = buf;			/* keeps its pin (P2, B4) */
		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	}
	else
	{
		b->buf = InvalidBuffer;
		UnlockReleaseBuffer(buf);
	}
	fpt_stop_point(FPT_STOP_SCAN_PAGE);
}

/*
 * The scan comes to one more leaf, in this direction.  False: these are more
 * than the index has pages, so that it does not get on (L11).  Where
 * comparisons may contradict each other it can have jumped back again and
 * again, which it does no more then, and counts anew; only links can go on to
 * lead in a circle, an error.  May raise where the file cannot be looked at.
 */
static bool
fpt_scan_steps(IndexScanDesc scan, FPTScanOpaque *so, int dir)
{
	if (so->stepdir != dir)
		so->steps = 0;
	so->stepdir = dir;
	if (likely(++so->steps <= so->ix.map.npages) ||
		so->steps <= fpt_npages(scan->indexRelation, &so->ix.map))
		return true;
	if (!so->ix.unsure)
		return false;
	if (so->disorder)
		fpt_corrupt(scan->indexRelation, so->cur.pageno,
					"The links of leaves lead in a circle");
	so->disorder = so->ix.strayed = true;
	so->steps = 0;
	return true;
}

/*
 * Is this live leaf the one on which a scan of general keys goes on at "at",
 * the fence that it has come to?  It is if it begins there (dir < 0: ends
 * there), byte for byte, whatever the comparison function makes of that.  So a
 * scan of the whole index returns every row, as one of a btree does, though the
 * order of keys may be another one than when they were put in.
 *
 * What bounds a scan is that it gets on in the order of keys; one with quals
 * asks whether it does.  If not, it goes on from leaf to leaf and does not jump
 * to where the quals' next range begins, or it might come by here for ever.  If
 * links and fences lead in a circle, it is found out after as many steps as
 * there are pages (L11), and keys are compared again.
 *
 * The page is locked to read.  Counts the step (so->steps).  May raise where
 * keys are compared, or the file cannot be looked at.
 */
static bool
fpt_leaf_continues(IndexScanDesc scan, FPTScanOpaque *so, Page page,
				   const FPTKey *at, int dir)
{
	const FPTLayout *l = &so->ix.layout;
	FPTKey		far = dir > 0 ? fpt_page_high(l, page) : fpt_page_low(l, page);

	Assert(dir == 1 || dir == -1);
	if (!(dir > 0 ? fpt_page_begins_at(l, page, at) :
		  fpt_page_ends_at(l, page, at)))
		return false;

	/* A damaged fence must not make the scan begin again. */
	if (dir > 0 ? far.cls <= FPT_CLS_MINF : far.cls >= FPT_CLS_PINF)
		return false;
	if (!fpt_scan_steps(scan, so, dir))
		return false;
	if (so->nkeys > 0 && !so->disorder)
	{
		int			cmp = fpt_key_cmp(l, &far, at);

		so->disorder = dir > 0 ? cmp <= 0 : cmp >= 0;
		if (so->disorder)
			so->steps = 0;
	}
	return true;
}

/*
 * Share-lock the leaf that covers key, by a remembered number if it will do,
 * "hint" or one that the session has (R1); returns it pinned, and nothing else.
 * "at": where a scan of general keys goes on, if it does not jump; else NULL.
 * Then the leaf may be the one that continues there without covering key, see
 * fpt_leaf_continues().
 *
 * No page is locked before.  so->look is used up, whether there was a descent
 * or not: what it points to need not live longer.  Raises an error if the tree
 * is damaged, or the remembered page, or if a function of a type does; may be
 * cancelled before the leaf is locked.
 */
static Buffer
fpt_leaf_for(IndexScanDesc scan, FPTScanOpaque *so, const FPTKey *key,
			 uint32 hint, const FPTKey *at, int dir)
{
	Relation	rel = scan->indexRelation;
	FPTLook		look = so->look;
	FPTLook    *looking = look.start != NULL ? &look : NULL;
	Buffer		buf;

	so->look.start = NULL;
	if (hint != FPT_NOPAGE)
	{
		Page		page;

		fpt_stop_point(FPT_STOP_SCAN_STEP);
		buf = fpt_getbuf_hot(rel, &so->ix, hint, BUFFER_LOCK_SHARE,
							 FPT_NO_GUESS);
		page = BufferGetPage(buf);
		if (fpt_page_on_level(page, 0) &&
			((at != NULL && fpt_leaf_continues(scan, so, page, at, dir)) ||
			 (fpt_page_above_low(&so->ix.layout, page, key) &&
			  fpt_page_below_high(&so->ix.layout, page, key))))
			return buf;
		UnlockReleaseBuffer(buf);
	}
	buf = fpt_recall_leaf(rel, &so->ix, key, BUFFER_LOCK_SHARE, looking);
	if (BufferIsValid(buf))
		return buf;
	if (so->disorder || !so->ix.unsure)
		return fpt_descend_looking(rel, &so->ix, key, looking);
	buf = fpt_descend_anyway(rel, &so->ix, key, 0, BUFFER_LOCK_SHARE, NULL,
							 looking);

	/* once in a scan: from there on it goes from leaf to leaf, to its end */
	if (so->ix.strayed)
		so->disorder = true;
	return buf;
}

/*
 * The window of leaves, if the scan has one yet.  A parallel scan's is made now
 * if need be, see fpt_parallel_window().
 */
static FPTWindow *
fpt_known_window(IndexScanDesc scan, FPTScanOpaque *so)
{
	if (scan->parallel_scan != NULL)
		return fpt_parallel_window(scan, so);
	return so->window;
}

/*
 * Make sure that there is one.  The first time it reads catalogues, so that no
 * page may be locked, and allocates it in the scan's context.
 */
static FPTWindow *
fpt_scan_window(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTWindow  *w = fpt_known_window(scan, so);

	if (w == NULL)
	{
		w = so->window = MemoryContextAlloc(so->cxt, sizeof(FPTWindow));
		fpt_window_init(w, scan->indexRelation, &so->ix.map, so->counters);
	}
	return w;
}

/*
 * FPTLook.start: if the first leaf has to be read, ask for it, so that it is
 * the first one to come, and for those after it.  No page is locked.  Reads
 * catalogues, and leaf parents, one at a time; may raise, and be cancelled.  Of
 * a parallel scan the caller has the turn.
 */
static void
fpt_start_ahead(void *arg, uint32 leaf)
{
	IndexScanDesc scan = (IndexScanDesc) arg;
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	Relation	rel = scan->indexRelation;
	FPTPageMap *map = &so->ix.map;
	FPTWindow  *w;
	int			limit = so->window != NULL ? so->window->dist.limit :
		fpt_io_concurrency(rel, map, false);

	Assert(so->lookat != NULL && so->look.end != NULL);
	if (limit > 0 && fpt_page_exists(rel, map, leaf) &&
		fpt_prefetch_page(rel, map, leaf))
	{
		w = fpt_scan_window(scan, so);
		w->most = fpt_wanted_leaves(scan, so, true, so->look.dir);
		fpt_window_start(w, rel, &so->ix, so->lookat, so->look.dir,
						 so->look.end, scan->heapRelation == NULL);
	}
}

/*
 * The disks can read the next leaves while the first one is waited for: reading
 * ahead begins in the descent, unless the scan may stop at that leaf.  A bitmap
 * scan never does.  Others do, by a LIMIT, where the range has no end but that
 * of the values its first columns are fixed to, or no value but these.
 *
 * *key and *end have to live until fpt_leaf_for() has returned, which is to be
 * called next.
 */
static void
fpt_leaf_look(IndexScanDesc scan, FPTScanOpaque *so, const FPTKey *key,
			  const FPTKey *end, bool bounded, int dir)
{
	if (!fpt_guc_leaf_prefetch || (scan->heapRelation != NULL && !bounded) ||
		fpt_wanted_leaves(scan, so, true, dir) == 0)
		return;
	so->look.start = fpt_start_ahead;
	so->look.arg = scan;
	so->look.dir = dir;
	so->look.end = end;
	so->lookat = key;
}

/*
 * The scan steps to the leaf "hint", or jumps (FPT_NOPAGE).  From the second
 * leaf in a row on, leaves are read ahead, up to the range's end; "bounded":
 * from the first one on, or, in a step, no more than are wanted, as the range
 * has all of their entries.  Not for the planner, which wants one entry.
 *
 * No page is locked before or after.  Leaf parents are read, one at a time, and
 * catalogues the first time: may raise, and be cancelled.  If it is a jump,
 * *key and *end are kept, see fpt_leaf_look().  The window is in the scan's
 * context, or the parallel scan's shared memory.
 */
static void
fpt_leaf_ahead(IndexScanDesc scan, FPTScanOpaque *so, const FPTKey *key,
			   uint32 hint, const FPTKey *end, bool bounded, int dir)
{
	FPTWindow  *w;
	int			most;

	if (fpt_is_probe(scan))
		return;
	w = fpt_known_window(scan, so);
	if (hint == FPT_NOPAGE)
	{
		if (w != NULL)
			fpt_window_leave(w);
		fpt_count(so->counters, FPT_SKIP_SHORT, 1);
		fpt_leaf_look(scan, so, key, end, bounded, dir);
		return;
	}
	most = bounded ? fpt_wanted_leaves(scan, so, false, dir) : PG_INT32_MAX;
	if (most == 0 && w == NULL)
	{
		fpt_count(so->counters, FPT_SKIP_SHORT, 1);
		return;
	}
	w = fpt_scan_window(scan, so);
	w->most = most;
	fpt_window_step(w, scan->indexRelation, &so->ix, key, hint, dir, end);
}

/*
 * A jump led to this leaf, which is locked: to the next one, "hint"?  "step":
 * as expected; fpt_leaf_ahead() was told so before, and there is a window.
 * Raises nothing.
 */
static void
fpt_jump_learn(IndexScanDesc scan, FPTScanOpaque *so, Buffer buf, uint32 hint,
			   bool step)
{
	Assert(fpt_buffer_locked(buf, false));
	Assert(!step || so->window != NULL || scan->parallel_scan != NULL);
	if (hint == FPT_NOPAGE)
		return;
	so->stayed = fpt_bufpage(buf) == hint;
	so->missed = !so->stayed;
	if (step && !so->stayed)
		fpt_window_leave(fpt_known_window(scan, so));
}

/*
 * Will a jump to where the quals' next range begins be one to the next leaf?
 * Where there is a range in each leaf, as with quals on a later column, so are
 * all of them, and leaves are read ahead as if there were no jumps.  It is so
 * as long as it was so, at first in a walk from leaf to leaf that has not come
 * to the end of its range.
 */
static bool
fpt_jump_stays(IndexScanDesc scan, FPTScanOpaque *so, uint32 hint, int dir)
{
	FPTWindow  *w;

	if (hint == FPT_NOPAGE || so->missed || fpt_is_probe(scan))
		return false;
	w = fpt_known_window(scan, so);
	if (w == NULL || w->dir != dir)
		return so->stayed;
	return !fpt_window_ended(w);
}

/*
 * Lock the leaf that covers "target", in the range r, which was asked for last;
 * returns it pinned and share-locked, and nothing else.  "hint" is the sibling
 * that the scan has come to the end of, "at", which covers it at least if no
 * key was jumped over.  After a jump it is tried first while that goes well.
 * Tells read-ahead where to begin, or to go on.
 *
 * No page is locked before.  May be cancelled, and raise: see fpt_leaf_ahead()
 * and fpt_leaf_for().
 */
static inline Buffer
fpt_range_leaf(IndexScanDesc scan, const FPTKey *at, const FPTKey *target,
			   uint32 hint, bool jump, const FPTRange *r, int dir)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	bool		step = !jump || fpt_jump_stays(scan, so, hint, dir);
	bool		dense = false;
	FPTKey		from;
	FPTKey		last;
	Buffer		buf = InvalidBuffer;

	CHECK_FOR_INTERRUPTS();
	if ((so->inpage || so->skips) && !jump) /* B7, B9 */
		return fpt_leaf_for(scan, so, target, hint,
							fpt_is_general(&so->ix.layout) ? at : NULL, dir);
	if (r->element >= 0 && !r->part)
		dense = fpt_array_dense(scan, so, hint, jump, r->element);
	step |= dense;
	if (step && hint != FPT_NOPAGE)
	{
		from = dir > 0 ? *at : fpt_key_before(&so->ix, at);
		fpt_leaf_ahead(scan, so, &from, hint,
					   fpt_source_end(so, r, dense, dir, &last),
					   !jump && !dense && !r->seek && r->element < 0, dir);
	}
	else if (r->seek)
	{
		/* on the way to values of later columns, for one leaf only */
		fpt_leaf_ahead(scan, so, target, FPT_NOPAGE,
					   dir > 0 ? &r->lo : &r->hi, false, dir);
	}
	else
		fpt_leaf_ahead(scan, so, target, FPT_NOPAGE,
					   dir > 0 ? &r->hi : &r->lo,
					   fpt_source_bounded(so, r, dir), dir);
	if (!jump)
		return fpt_leaf_for(scan, so, target, hint,
							fpt_is_general(&so->ix.layout) ? at : NULL, dir);
	if (r->element >= 0 && dir > 0 && !step)
		buf = fpt_element_leaf(scan, so, r);
	if (!BufferIsValid(buf))
		buf = fpt_leaf_for(scan, so, target, step ? hint : FPT_NOPAGE, NULL,
						   dir);
	so->look.start = NULL;
	fpt_jump_learn(scan, so, buf, hint, step);
	return buf;
}

/*
 * Fill a batch, maybe with nothing, from where the ranges go on from "at",
 * which is inclusive forward and exclusive backward; "hint" is the page that
 * probably covers it.  False: there is no such range.  No page is locked before
 * or after this; the batch holds the pin it needs, if any.  May be cancelled,
 * and raise; allocates in the scan's context.  Where keys are general,
 * functions of types run, in part with the leaf locked (L7).
 */
static bool
fpt_advance_range(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b,
				  const FPTKey *at, uint32 hint, int dir)
{
	const FPTLayout *l = &so->ix.layout;
	FPTRange	rbuf;
	FPTRange   *r = fpt_source_from(so, at, dir, &rbuf);
	const FPTKey *target = at;
	FPTKey		before;
	Buffer		buf;
	bool		jump = false;
	bool		whole;

	if (r == NULL)
		return false;
	if (r->moved && !so->disorder)
		jump = dir > 0 ? fpt_key_cmp(l, &r->lo, at) > 0 :
			fpt_key_cmp(l, &r->hi, at) < 0;
	if (jump && so->ix.unsure)
		(void) fpt_scan_steps(scan, so, dir);
	if (jump)
		target = dir > 0 ? &r->lo : &r->hi;
	else if (dir < 0)
	{
		before = fpt_key_before(&so->ix, at);
		target = &before;
	}
	buf = fpt_range_leaf(scan, at, target, hint, jump, r, dir);
	if (dir < 0)
	{
		fpt_fill_batch(scan, b, buf, NULL, at, NULL, &rbuf);
		return true;
	}
	if (at->search != NULL)
	{
		/* the range begins there, and not before */
		whole = !jump;
		r->here = true;
	}
	else
	{
		whole = !jump && fpt_page_begins_at(l, BufferGetPage(buf), at);
		r->here = jump || (whole && !r->moved);
	}
	fpt_fill_batch(scan, b, buf, whole ? NULL : at, NULL, r, &rbuf);
	return true;
}

/* What reading one leaf has come to. */
typedef enum FPTAdvance
{
	FPT_ADVANCE_END,			/* nothing is left of the scan */
	FPT_ADVANCE_EMPTY,			/* the leaf has no entry of it */
	FPT_ADVANCE_BATCH
} FPTAdvance;

/*
 * Read the next leaf that may have entries, from *at on; arguments as those of
 * fpt_advance_range().  The batch is valid only if there were any; of an empty
 * leaf *at and *hint tell where the scan goes on.  A parallel scan's turn is
 * waited for first, and over on return; *at and *hint are first set to where
 * the others have come to, if any has begun.  No page is locked before or
 * after; may be cancelled, and raise.
 */
static FPTAdvance
fpt_advance_leaf(IndexScanDesc scan, FPTBatch *b, FPTKeyBuf *at, uint32 *hint,
				 int dir)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;

	Assert(!b->valid);
	if (!fpt_parallel_seize(scan, at, hint))
		return FPT_ADVANCE_END;
	if (!fpt_advance_range(scan, so, b, &at->key, *hint, dir))
	{
		fpt_parallel_done(scan);
		return FPT_ADVANCE_END;
	}
	fpt_warn_strayed(scan->indexRelation, &so->ix);
	b->pos = dir > 0 ? 0 : b->n - 1;
	if (b->n > 0)
		return FPT_ADVANCE_BATCH;
	if (dir > 0 && b->last)
	{
		fpt_batch_forget(b);
		return FPT_ADVANCE_END;
	}
	fpt_key_copy(at, dir > 0 ? &b->high->key : &b->low->key);
	*hint = dir > 0 ? b->right : b->left;
	so->inpage = *hint == b->pageno;
	fpt_batch_forget(b);
	return at->key.cls == (dir > 0 ? FPT_CLS_PINF : FPT_CLS_MINF) ?
		FPT_ADVANCE_END : FPT_ADVANCE_EMPTY;
}

/*
 * Go to the next batch with any entries, from "start" on; false at the end,
 * then the batch is not valid.  Passes by any number of leaves.  *start may be
 * a bound of the batch, as it is copied first.
 */
static bool
fpt_advance(IndexScanDesc scan, FPTBatch *b, const FPTKey *start, uint32 hint,
			int dir)
{
	FPTKeyBuf	at;
	FPTAdvance	came;

	fpt_key_copy(&at, start);
	do
		came = fpt_advance_leaf(scan, b, &at, &hint, dir);
	while (came == FPT_ADVANCE_EMPTY);
	return came == FPT_ADVANCE_BATCH;
}

bool
fpt_batch_prepare(IndexScanDesc scan, FPTScanOpaque *so)
{
	if (!so->haveranges)
		fpt_source_set(scan, so);
	so->haveranges = true;
	return so->ranges.recheck;
}

bool
fpt_batch_first(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b,
				ScanDirection dir)
{
	FPTKey		start;

	Assert(b == &so->cur && !b->valid);
	so->steps = 0;
	so->disorder = false;
	if (so->leaves != NULL)
		so->leaves->n = 0;
	(void) fpt_batch_prepare(scan, so);
	fpt_part_begin(scan, so);
	memset(&start, 0, sizeof(start));
	start.cls = ScanDirectionIsForward(dir) ? FPT_CLS_MINF : FPT_CLS_PINF;
	return fpt_advance(scan, b, &start, FPT_NOPAGE,
					   ScanDirectionIsForward(dir) ? 1 : -1);
}

bool
fpt_batch_after(IndexScanDesc scan, FPTBatch *b, const FPTBatch *from,
				ScanDirection dir)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	bool		forward = ScanDirectionIsForward(dir);
	const FPTKey *key = forward ? &from->high->key : &from->low->key;

	Assert(!b->valid && from->low != NULL);
	so->inpage = (forward ? from->right : from->left) == from->pageno;
	return key->cls != (forward ? FPT_CLS_PINF : FPT_CLS_MINF) &&
		!(forward && from->last) &&
		fpt_advance(scan, b, key, forward ? from->right : from->left,
					forward ? 1 : -1);
}

bool
fpt_batch_beside(IndexScanDesc scan, FPTBatch *b, const FPTKey *key,
				 uint32 hint, ScanDirection dir)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	bool		found;

	Assert(b == &so->cur && !b->valid && so->haveranges);
	Assert(scan->parallel_scan == NULL);
	so->reached = 0;
	fpt_part_begin(scan, so);
	so->inpage = hint == b->pageno;
	so->skips = true;
	found = fpt_advance(scan, b, key, hint,
						ScanDirectionIsForward(dir) ? 1 : -1);
	so->skips = false;
	return found;
}

bool
fpt_batch_ahead(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir,
				bool *end)
{
	bool		forward = ScanDirectionIsForward(dir);
	const FPTKey *edge = forward ? &so->cur.high->key : &so->cur.low->key;
	uint32	   *link = forward ? &so->cur.right : &so->cur.left;
	FPTKeyBuf	at;
	uint32		hint = *link;
	FPTAdvance	came = FPT_ADVANCE_END;

	Assert(so->cur.valid && !so->ahead.valid);
	Assert(!BufferIsValid(so->cur.buf));
	fpt_key_copy(&at, edge);
	so->inpage = hint == so->cur.pageno;
	if (at.key.cls != (forward ? FPT_CLS_PINF : FPT_CLS_MINF) &&
		!(forward && so->cur.last))
		came = fpt_advance_leaf(scan, &so->ahead, &at, &hint, forward ? 1 : -1);
	if (came == FPT_ADVANCE_EMPTY)
	{
		if (forward)
			fpt_batch_set_high(so, &so->cur, &at.key);
		else
			fpt_batch_set_low(so, &so->cur, &at.key);
		*link = hint;
	}
	*end = came == FPT_ADVANCE_END;
	return came == FPT_ADVANCE_BATCH;
}
