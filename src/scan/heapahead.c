/*-------------------------------------------------------------------------
 *
 * scan/heapahead.c
 *	  Read-ahead of heap pages in index scans.
 *
 * A second position in a scan's entries runs ahead of the one being returned,
 * and asks for the heap pages that it comes by.  To see across the end of a
 * batch it may make the scan read the next one beforehand; at most one, and
 * only where batches do not pin their pages.
 *
 * Blocks that ascend one after the other are left to the operating system,
 * which reads them ahead in large pieces if nobody asks for them one by one.
 * But it does not see what is in shared buffers: where every second block is,
 * or most are, there is no run.  Blocks that descend are asked for, once, and
 * neighbours in one request.
 *
 * States.  fptgettuple() counts "sleep" down with each entry that it returns,
 * and looks in here when it is used up; nothing else is known of it outside.
 *
 *	   scan starts
 *		   |	fpt_heap_begin()
 *		   |------------- a setting, the snapshot, the kind of table ----> OFF
 *		   v																^
 *		 SHORT	sleep = FPT_HEAP_START entries, then each change of the		|
 *		   |	block counts, until there were FPT_HEAP_START				|
 *		   |																|
 *		   |	fpt_heap_prepare() -- the tablespace allows no concurrency -+
 *		   v
 *		AWAKE	at each change of the block the position goes on, until
 *		 |	^	"target" blocks ahead of the entry that is returned; the
 *		 |	|	distance grows where reads were started
 *		 |	|
 *		 v	|	all that was asked for was cached, or blocks are in runs:
 *		PAUSE	sleep = pause entries, longer each time.  What went by is
 *				counted when it is over (fpt_heap_count_pause)
 *
 * The position is lost, and begins again at the current entry, where the scan
 * turns round, is positioned anew or ends: fpt_heap_restart(), which counts
 * what was read in vain.  A rescan goes back to SHORT, or to what is left of a
 * PAUSE; the distance, and the length of the next pause, are kept.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "scan/batch.h"
#include "scan/heapahead.h"
#include "scan/wanted.h"
#include "store/counts.h"
#include "store/place.h"
#include "tree/prefetch.h"

/* Heap blocks that a scan must have changed between before it reads ahead. */
#define FPT_HEAP_START		4

/* Growth of the distance a step: a LIMIT may end the scan at any row. */
#define FPT_HEAP_GROWTH		2

/*
 * An index-only scan soon stops to look at the visibility map if all pages are
 * said to be all-visible.  Else so many visible ones count as one page found in
 * shared buffers: the next one that is not visible has to be read.
 */
#define FPT_VISIBLE_PER_HIT	16

/*
 * So do so many entries of blocks that were come by just before, once a block
 * had to be read: nobody looks where these are.
 */
#define FPT_BACK_PER_HIT	16

/*
 * From so many blocks in a row on they are a run.  Fewer come about by chance
 * where a scan passes every few blocks, none of which the system reads ahead.
 */
#define FPT_RUN_LENGTH		4

/* Where lately some were in shared buffers, that takes more. */
#define FPT_RUN_MIXED		16

/* A long run may miss so many blocks at a time. */
#define FPT_RUN_GAP			8

/* Blocks that are put together before they are asked for. */
#define FPT_ASK_MAX			64

/*
 * After so many blocks of runs and no others nothing is looked at for a while,
 * which doubles each time, as for pages that are cached.  It stays short: other
 * blocks may come, and are missed for as long.
 */
#define FPT_RUN_ENOUGH		32
#define FPT_RUN_PAUSE		32
#define FPT_RUN_PAUSE_MAX	256

/* The heap block of an entry. */
static inline BlockNumber
fpt_batch_block(const FPTBatch *b, int pos)
{
	Assert(pos >= 0 && pos < b->n);
	return (BlockNumber) (b->tids[pos] >> 16);
}

/*
 * Changes of the block between two entries of a batch, "from" not included.
 * *last: the block before them, and then the one of "to".
 */
static int
fpt_count_switches(const FPTBatch *b, int from, int to, BlockNumber *last)
{
	int			by = to >= from ? 1 : -1;
	int			n = 0;

	while (from != to)
	{
		BlockNumber blk = fpt_batch_block(b, from += by);

		n += blk != *last;
		*last = blk;
	}
	return n;
}

/*
 * The scan has not looked for a while: how far ahead, in changes of the block,
 * is the position still?  Returns no more than it was.  Changes nothing.
 *
 * A scan that turned back in a pause may just have left its batch on the side
 * that it came from; then the batch's first entry is taken for the current one.
 */
static int
fpt_heap_distance(const FPTScanOpaque *so)
{
	const FPTHeapAhead *h = &so->heap;
	const FPTBatch *b = &so->cur;
	BlockNumber last;
	int			n = 0;

	Assert(h->nahead >= 0);
	Assert(!h->inahead || so->ahead.valid);
	if (b->valid && b->n > 0 && h->nahead > 0)
	{
		int			pos = Max(0, Min(b->pos, b->n - 1));

		last = fpt_batch_block(b, pos);
		if (h->inahead)
		{
			int			first = h->forward ? 0 : so->ahead.n - 1;

			n = fpt_count_switches(b, pos, h->forward ? b->n - 1 : 0, &last);
			n += fpt_batch_block(&so->ahead, first) != last;
			last = fpt_batch_block(&so->ahead, first);
			n += fpt_count_switches(&so->ahead, first, h->pos, &last);
		}
		else if (h->forward ? h->pos > pos : h->pos < pos)
			n = fpt_count_switches(b, pos, h->pos, &last);
	}
	return Min(n, h->nahead);
}

/* What is known of the i'th block before the last one that was come to? */
static inline uint8 *
fpt_heap_ring(const FPTHeapAhead *h, int i)
{
	Assert(i >= 0 && i < FPT_RING && h->ring != NULL);
	return &h->ring[(h->head - i) % FPT_RING];
}

/*
 * Set nahead after a pause; the position is not behind the current entry.
 * Reads nothing.
 */
static void
fpt_heap_recount(FPTScanOpaque *so)
{
	FPTHeapAhead *h = &so->heap;

	h->nahead = fpt_heap_distance(so);
	h->nagain = 0;
	for (int i = 0; i < h->nahead; i++)
		h->nagain += (*fpt_heap_ring(h, i) & FPT_RING_AGAIN) != 0;
	if (h->nahead == 0 && !h->inahead)
		h->lastblk = InvalidBlockNumber;	/* begin at the current entry */
}

/* Heap pages that are being read, and that the scan has not come to. */
static uint64
fpt_heap_unused(const FPTScanOpaque *so)
{
	const FPTHeapAhead *h = &so->heap;
	int			nahead = h->pause > 0 ? fpt_heap_distance(so) : h->nahead;
	uint64		n = 0;

	Assert(nahead >= 0 && nahead < FPT_RING);
	for (int i = 0; i < nahead; i++)
		n += (*fpt_heap_ring(h, i) & FPT_RING_STARTED) != 0;
	return n;
}

/* --- runs ---------------------------------------------------------------- */

/* Where a block is, as a run sees it. */
typedef enum FPTRunPlace
{
	FPT_RUN_ELSEWHERE,
	FPT_RUN_TURN,				/* right behind a short one, which may turn */
	FPT_RUN_INSIDE,				/* left out before */
	FPT_RUN_NEXT,				/* further on */
	FPT_RUN_PASSED				/* was asked for, or left to the system */
} FPTRunPlace;

/* Blocks from the first one of a run to its last one; no more than 64 count. */
static inline int
fpt_run_width(const FPTHeapRun *r)
{
	return pg_leftmost_one_pos64(r->passed) + 1;
}

/* How far behind its last block is a block?  Below zero: further on. */
static inline int64
fpt_run_behind(const FPTHeapRun *r, BlockNumber blk)
{
	return r->down ? (int64) blk - r->last : (int64) r->last - blk;
}

/*
 * Where is a block that will be read, as this run sees it?  Changes nothing.  A
 * block inside or passed is one of the last 64, those that "passed" has bits
 * for.
 */
static inline FPTRunPlace
fpt_run_place(const FPTHeapRun *r, BlockNumber blk)
{
	int64		behind = fpt_run_behind(r, blk);
	int			width;

	if (r->length == 0 || behind < -1 - (int64) r->gap || behind >= 64)
		return FPT_RUN_ELSEWHERE;
	if (behind < 0)
		return FPT_RUN_NEXT;
	if ((r->passed >> behind) & 1)
		return FPT_RUN_PASSED;
	width = fpt_run_width(r);
	if (behind < width)
		return FPT_RUN_INSIDE;
	return behind == width && width < FPT_RUN_LENGTH ? FPT_RUN_TURN :
		FPT_RUN_ELSEWHERE;
}

/*
 * The position ahead comes to a block that will be read.  Which run does it
 * belong to, and *place: where?  Of several the longest, which so takes in what
 * others have begun; if there is none, the result is where a new one may begin,
 * in place of the one that was come by the longest time ago
 * (FPT_RUN_ELSEWHERE).  *passed: is there one that has passed it?  Changes
 * nothing: fpt_heap_run_on() does.
 */
static FPTHeapRun *
fpt_heap_find_run(const FPTHeapAhead *h, BlockNumber blk, FPTRunPlace *place,
				  bool *passed)
{
	FPTHeapRun *best = NULL;
	FPTHeapRun *oldest = h->runs;

	Assert(h->runs != NULL);
	*place = FPT_RUN_ELSEWHERE;
	*passed = false;
	for (FPTHeapRun *r = h->runs; r < h->runs + FPT_RUNS; r++)
	{
		FPTRunPlace p = fpt_run_place(r, blk);

		if (h->runclock - r->used > h->runclock - oldest->used)
			oldest = r;
		*passed |= p == FPT_RUN_PASSED;
		if (p != FPT_RUN_ELSEWHERE &&
			(best == NULL || r->length > best->length ||
			 (r->length == best->length && p > *place)))
		{
			best = r;
			*place = p;
		}
	}
	return best != NULL ? best : oldest;
}

/* So many blocks are a run that the operating system reads ahead. */
static inline unsigned
fpt_heap_run_length(const FPTHeapAhead *h)
{
	return h->mixed ? FPT_RUN_MIXED : FPT_RUN_LENGTH;
}

static inline bool
fpt_heap_left_alone(const FPTHeapAhead *h, const FPTHeapRun *r)
{
	return !r->down && r->length >= fpt_heap_run_length(h);
}

/*
 * Is it the scan itself that may have read a block which is in shared buffers?
 * It has at its start, in a pause, and where it goes to and fro.
 */
static bool
fpt_heap_own(const FPTHeapAhead *h, BlockNumber blk)
{
	bool		own = h->own;

	for (const FPTHeapRun *r = h->runs; r < h->runs + FPT_RUNS; r++)
	{
		int64		behind = fpt_run_behind(r, blk);

		own |= r->length > 0 && behind > 0 && behind <= FPT_RUN_GAP;
	}
	return own;
}

/*
 * A run goes on to a block.  What one upwards leaves out the system reads with
 * it; downwards nobody does.
 */
static void
fpt_run_next(FPTHeapRun *r, BlockNumber blk)
{
	int64		by = -fpt_run_behind(r, blk);

	Assert(by > 0);
	r->passed = by < 64 ? r->passed << by : 0;
	if (!r->down)
		r->passed |= by < 64 ? ((uint64) 1 << by) - 1 : PG_UINT64_MAX;
	r->passed |= 1;
	r->last = blk;
}

/* A short run turns, to the block behind it. */
static void
fpt_run_turn(FPTHeapRun *r, BlockNumber blk)
{
	int			width = fpt_run_width(r);
	uint64		passed = 1;

	Assert(width < FPT_RUN_LENGTH);
	for (int i = 0; i < width; i++)
		passed |= ((r->passed >> i) & 1) << (width - i);
	r->passed = passed;
	r->last = blk;
	r->down = !r->down;
	r->length = 1;
}

/*
 * A block, which fpt_heap_find_run() has found the place of, goes on a run, or
 * begins one.  "cached": it need not be read, which makes the run shorter, and
 * puts an end to a short one: the system sees none.  Changes the run, and what
 * is known of runs; asks for nothing, raises nothing.
 */
static void
fpt_heap_run_on(FPTHeapAhead *h, FPTHeapRun *r, FPTRunPlace place,
				BlockNumber blk, bool cached)
{
	bool		further = place == FPT_RUN_NEXT || place == FPT_RUN_TURN;

	Assert(place == FPT_RUN_ELSEWHERE || r->length > 0);
	if (place == FPT_RUN_ELSEWHERE)
	{
		memset(r, 0, sizeof(FPTHeapRun));
		r->last = blk;
		r->length = 1;
		r->passed = 1;
	}
	else
	{
		bool		own = !cached || fpt_heap_own(h, blk);

		if (place == FPT_RUN_NEXT)
			fpt_run_next(r, blk);
		else if (place == FPT_RUN_TURN)
			fpt_run_turn(r, blk);
		else
			r->passed |= (uint64) 1 << fpt_run_behind(r, blk);
		r->length += !cached && further;
		if (!own)
		{
			r->length = Max(1, r->length / 2);
			h->mixed = true;
			h->inrun = 0;
			h->runpause = 0;
		}
	}
	if (!cached && (further || place == FPT_RUN_ELSEWHERE))
		h->own = false;
	if (!cached && r->length >= FPT_RUN_MIXED)
		h->mixed = false;
	r->gap = 0;
	if (r->length >= (r->down ? FPT_RUN_LENGTH : fpt_heap_run_length(h)))
		r->gap = Min(1 + r->length / 8, FPT_RUN_GAP);
	r->used = ++h->runclock;
}

/*
 * After a pause of so many entries: runs may have gone on by as many blocks.
 * Of a short one nobody has read what is between.
 */
static void
fpt_heap_runs_passed(FPTHeapAhead *h, int pause)
{
	for (FPTHeapRun *r = h->runs; r < h->runs + FPT_RUNS; r++)
	{
		if (r->length >= fpt_heap_run_length(h))
			r->gap = Min(r->gap + pause, PG_UINT16_MAX);
	}
	h->own = true;
}

/* Only runs are in sight: look away for a while. */
static void
fpt_heap_run_pause(FPTHeapAhead *h)
{
	FPTDistance *d = &h->dist;

	if (d->fixed || h->inrun < FPT_RUN_ENOUGH)
		return;
	d->now = Max(1, d->now / 2);
	h->runpause = Max(FPT_RUN_PAUSE, Min(h->runpause * 2, FPT_RUN_PAUSE_MAX));
	h->sleep = h->pause = h->runpause;
}

/* --- the position ahead -------------------------------------------------- */

/* See scan/heapahead.h. */
void
fpt_heap_count_pause(FPTScanOpaque *so)
{
	FPTHeapAhead *h = &so->heap;

	if (h->pause > 0)
		fpt_count(so->counters, FPT_SKIP_PAUSE, h->pause - h->sleep);
	h->pause = 0;
}

/*
 * See scan/heapahead.h.  The batch read ahead has no pin (P6).  Its leaf was a
 * step (L11), and will be one again: a scan that is turned round or positioned
 * anew, which is nothing that it does by itself, begins to count anew.
 */
void
fpt_heap_restart(FPTScanOpaque *so)
{
	FPTHeapAhead *h = &so->heap;

	if (h->nahead > 0)
		fpt_count(so->counters, FPT_HEAP_WASTED, fpt_heap_unused(so));
	fpt_batch_forget(&so->ahead);
	so->steps = 0;
	h->inahead = false;
	h->atend = false;
	h->pos = -1;
	h->nahead = h->nagain = 0;
	h->lastblk = InvalidBlockNumber;
}

void
fpt_heap_counters(const FPTScanOpaque *so, uint64 *counters)
{
	const FPTHeapAhead *h = &so->heap;

	if (h->nahead > 0)
		counters[FPT_HEAP_WASTED] += fpt_heap_unused(so);
	if (h->pause > 0)
		counters[FPT_SKIP_PAUSE] += h->pause - h->sleep;
}

/*
 * See scan/heapahead.h.  What has been learnt of the heap, the distance and its
 * pauses, is kept over rescans: an inner loop that finds its pages cached is
 * left alone.
 */
void
fpt_heap_begin(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTHeapAhead *h = &so->heap;
	FPTCounter	why;

	h->switches = 0;
	h->own = true;
	h->curblk = InvalidBlockNumber;
	if (h->pause > 0)
	{
		/* What is left of it. */
		fpt_heap_count_pause(so);
		h->pause = h->sleep;
	}
	if (h->pause == 0)
		h->sleep = FPT_HEAP_START;
	if (h->begun)
		return;
	h->begun = true;
	if (fpt_is_probe(scan))
		return;
	if (scan->heapRelation == NULL)
		why = FPT_SKIP_BITMAP;
	else if (!fpt_guc_heap_prefetch)
		why = FPT_SKIP_OFF;
	else if (!IsMVCCSnapshot(scan->xs_snapshot) ||
			 scan->heapRelation->rd_tableam != GetHeapamTableAmRoutine())
		why = FPT_SKIP_KIND;
	else
	{
		h->enabled = true;
		return;
	}
	fpt_count(so->counters, why, 1);
}

/*
 * The scan is long enough: look up what the first steps need not know.  False:
 * the tablespace allows no read-ahead, and there will be none.  No page is
 * locked: reads a cache of tablespaces, and asks for the heap's size, which may
 * raise.  Allocates in the scan's context.
 */
static bool
fpt_heap_prepare(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTHeapAhead *h = &so->heap;
	Oid			tablespace = scan->heapRelation->rd_rel->reltablespace;
	int			limit = get_tablespace_io_concurrency(tablespace);

	if (limit == 0)
	{
		fpt_count(so->counters, FPT_SKIP_LIMIT, 1);
		h->enabled = false;
		return false;
	}
	fpt_distance_init(&h->dist, limit);
	h->ring = MemoryContextAllocZero(so->cxt, FPT_RING);
	h->runs = MemoryContextAllocZero(so->cxt, FPT_RUNS * sizeof(FPTHeapRun));
	h->ask = MemoryContextAlloc(so->cxt, FPT_ASK_MAX * sizeof(BlockNumber));
	h->nblocks = RelationGetNumberOfBlocks(scan->heapRelation);
	h->allvisible = scan->heapRelation->rd_rel->relallvisible >=
		scan->heapRelation->rd_rel->relpages * 0.98;
	return true;
}

/*
 * Ask for the blocks that were put together, neighbours in one request: one by
 * one each would be a read.  None is left.  No page is locked (L7); may be
 * cancelled, and raises an error if the heap's file cannot be opened.
 */
static void
fpt_heap_request(IndexScanDesc scan, FPTHeapAhead *h)
{
	int			from = 0;

	if (h->nask > 1)
		qsort(h->ask, h->nask, sizeof(BlockNumber), fpt_page_order);
	while (from < h->nask)
	{
		BlockNumber blk = h->ask[from];
		int			n = 1;

		/* a device that has enough to do makes who asks for more wait */
		CHECK_FOR_INTERRUPTS();
		while (from + n < h->nask && n < FPT_REQUEST_MAX &&
			   h->ask[from + n] == blk + n)
			n++;
		if (n > 1)
			fpt_prefetch_range(scan->heapRelation, blk, n);
		else
			(void) PrefetchBuffer(scan->heapRelation, MAIN_FORKNUM, blk);
		fpt_count(NULL, FPT_HEAP_REQUESTS, 1);
		from += n;
	}
	h->nask = 0;
}

/*
 * Move the read-ahead position to the next entry; false, and counted why, if
 * there is none yet known, or none at all.  May read a leaf into so->ahead, see
 * fpt_batch_ahead(): no page is locked before or after; may be cancelled, and
 * raise.
 */
static bool
fpt_heap_advance(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTHeapAhead *h = &so->heap;
	int			by = ScanDirectionIsForward(dir) ? 1 : -1;
	FPTBatch   *b = h->inahead ? &so->ahead : &so->cur;
	FPTCounter	why;

	Assert(so->cur.valid && (!h->inahead || so->ahead.valid));
	if (!h->inahead && (h->pos - so->cur.pos) * by < 0)
		h->pos = so->cur.pos;
	if (h->pos + by >= 0 && h->pos + by < b->n)
	{
		h->pos += by;
		return true;
	}

	/* One batch ahead is as far as it goes, and none where pages get pinned. */
	if (h->inahead)
		why = FPT_SKIP_FAR;
	else if (BufferIsValid(so->cur.buf))
		why = FPT_SKIP_PINNED;
	else
	{
		/* An end that was seen is one of that direction only. */
		if (so->aheaddir != dir)
			h->atend = false;
		so->aheaddir = dir;

		/* that reads a leaf, and may wait for it */
		fpt_heap_request(scan, h);
		if (!h->atend && fpt_batch_ahead(scan, so, dir, &h->atend))
		{
			h->inahead = true;
			h->pos = so->ahead.pos;
			return true;
		}
		why = h->atend ? FPT_SKIP_END : FPT_SKIP_FAR;
	}
	fpt_count(so->counters, why, 1);
	return false;
}

/*
 * An index-only scan reads pages only that are not all-visible.  Counts one
 * that is.  May read a page of the visibility map, which stays pinned
 * (heap.vmbuf).
 */
static bool
fpt_heap_wanted(IndexScanDesc scan, FPTScanOpaque *so, BlockNumber blk)
{
	if (!scan->xs_want_itup ||
		!VM_ALL_VISIBLE(scan->heapRelation, blk, &so->heap.vmbuf))
		return true;
	fpt_count(so->counters, FPT_SKIP_VISIBLE, 1);
	return false;
}

/*
 * Ask for a block that is in no shared buffer, soon: with its neighbours, which
 * may come next.  Does that start a read?  No page is locked (L7); if there are
 * enough of them, as fpt_heap_request().
 */
static bool
fpt_heap_gather(IndexScanDesc scan, FPTHeapAhead *h, const FPTHeapRun *r,
				BlockNumber blk)
{
	bool		io;

	Assert(h->nask >= 0 && h->nask <= FPT_ASK_MAX);
	if (fpt_can_prefetch_range(scan->heapRelation))
	{
		if (h->nask == FPT_ASK_MAX)
			fpt_heap_request(scan, h);
		h->ask[h->nask++] = blk;
		h->down = r->down && r->length >= FPT_RUN_LENGTH ?
			Min(h->down, FPT_RUN_LENGTH) + 1 : 0;
		return true;
	}
	io = PrefetchBuffer(scan->heapRelation, MAIN_FORKNUM, blk).initiated_io;
	fpt_count(NULL, FPT_HEAP_REQUESTS, io);
	return io;
}

/* How many blocks ahead is the position, without those that it came back to? */
static inline int
fpt_heap_ahead(const FPTHeapAhead *h)
{
	Assert(h->nagain >= 0 && h->nagain <= h->nahead);
	return h->nahead - h->nagain;
}

/*
 * Ask for a block that will be read, unless it is in shared buffers, was asked
 * for just before, or is left to the operating system.  *io: that started a
 * read.  False: nobody knows, and the distance learns nothing from it.  Counts
 * which of these it was.  No page is locked (L7); may be cancelled, and raise,
 * as fpt_heap_request().
 */
static bool
fpt_heap_want(IndexScanDesc scan, FPTScanOpaque *so, BlockNumber blk, bool *io)
{
	FPTHeapAhead *h = &so->heap;
	FPTRunPlace place;
	bool		passed;
	FPTHeapRun *r = fpt_heap_find_run(h, blk, &place, &passed);

	*io = false;
	if (!passed && fpt_block_buffered(scan->heapRelation, blk))
	{
		fpt_heap_run_on(h, r, place, blk, true);
		fpt_count(so->counters, FPT_HEAP_CACHED, 1);
		fpt_count_distance(so->counters, fpt_heap_ahead(h));
		return !fpt_heap_left_alone(h, r);
	}
	h->missed |= !passed;
	fpt_heap_run_on(h, r, place, blk, false);
	if (fpt_heap_left_alone(h, r))
	{
		fpt_count(so->counters, FPT_SKIP_SEQUENTIAL, 1);
		h->inrun += place == FPT_RUN_NEXT;
		return false;
	}
	if (passed)
	{
		fpt_count(so->counters, FPT_SKIP_SEQUENTIAL, 1);
		if (!h->missed)
			return true;		/* as all were, it is in shared buffers */
		*fpt_heap_ring(h, 0) |= FPT_RING_AGAIN;
		h->nagain++;
		return ++h->back % FPT_BACK_PER_HIT == 0;
	}
	h->inrun = 0;
	h->runpause = 0;
	*io = fpt_heap_gather(scan, h, r, blk);
	fpt_count(so->counters, *io ? FPT_HEAP_ISSUED : FPT_HEAP_CACHED, 1);
	fpt_count_distance(so->counters, fpt_heap_ahead(h));
	if (*io)
		*fpt_heap_ring(h, 0) |= FPT_RING_STARTED;
	return true;
}

/*
 * Ask for a block, the next one ahead, which the position is at from now on;
 * there is room for it in the ring.  A block that the heap does not have is not
 * asked for.  No page is locked (L7); may be cancelled, and raise.
 */
static void
fpt_heap_ask(IndexScanDesc scan, FPTScanOpaque *so, BlockNumber blk)
{
	FPTHeapAhead *h = &so->heap;
	FPTDistance *d = &h->dist;
	bool		io = false;

	Assert(h->nahead < FPT_RING - 1);
	h->lastblk = blk;
	h->nahead++;
	h->head++;
	*fpt_heap_ring(h, 0) = 0;
	if (blk >= h->nblocks &&
		blk >= (h->nblocks = RelationGetNumberOfBlocks(scan->heapRelation)))
	{
		fpt_count(so->counters, FPT_SKIP_GONE, 1);
		return;
	}
	if (fpt_heap_wanted(scan, so, blk))
	{
		if (!fpt_heap_want(scan, so, blk, &io))
			return;
	}
	else if (h->allvisible)
		d->hits = Max(d->hits, FPT_HITS_TO_PAUSE - FPT_HITS_TO_GO_ON);
	else if (++h->visible % FPT_VISIBLE_PER_HIT != 0)
		return;
	fpt_distance_note(d, io);
}

/* Does the position go down a run, or several? */
static inline bool
fpt_heap_down(const FPTHeapAhead *h)
{
	return h->down >= FPT_RUN_LENGTH;
}

/*
 * How many changes of the block ahead may the position be?  Not further than
 * the scan has come so far: a LIMIT may end it, and then at most half of what
 * was read is in vain.  And not further than the scan before it came, if that
 * was left before its end; a scan that goes on has no such bound.
 */
static int
fpt_heap_bound(const FPTHeapAhead *h)
{
	int			bound = FPT_RING - 2;

	if (h->dist.fixed)
		return bound;
	bound = Min(bound, h->switches - FPT_HEAP_START);
	if (h->switches <= h->horizon)
		bound = Min(bound, h->horizon - h->switches);
	return bound;
}

/*
 * How many blocks further may the position go, now?  As far as the distance,
 * which those do not count for that it comes back to: where rows of many blocks
 * take turns, it would not come to the next ones.
 */
static int
fpt_heap_room(const FPTHeapAhead *h)
{
	return Min(fpt_distance_now(&h->dist, fpt_heap_down(h)) - fpt_heap_ahead(h),
			   fpt_heap_bound(h) - h->nahead);
}

/*
 * How many entries further may the position go, now, not to look at any that
 * the scan will not be asked for?  See scan/wanted.h.
 */
static int
fpt_heap_wanted_on(const FPTScanOpaque *so, ScanDirection dir)
{
	const FPTHeapAhead *h = &so->heap;
	int			wanted = fpt_wanted_entries(so, dir);
	bool		forward = ScanDirectionIsForward(dir);
	int			ahead;

	if (likely(wanted == PG_INT32_MAX))
		return wanted;
	if (h->inahead)
		ahead = (forward ? so->cur.n - 1 - so->cur.pos : so->cur.pos) +
			(forward ? h->pos + 1 : so->ahead.n - h->pos);
	else
		ahead = h->lastblk == InvalidBlockNumber ? 0 :
			forward ? h->pos - so->cur.pos : so->cur.pos - h->pos;
	/* the current one is wanted, too */
	return wanted - 1 - Max(ahead, 0);
}

/*
 * The block has changed so often again.  Of a scan that has come half as far as
 * numbers go it does not matter how far.
 */
static inline void
fpt_heap_come_on(FPTHeapAhead *h, int n)
{
	Assert(n >= 0 && n <= PG_INT32_MAX / 2 - FPT_RING);
	h->switches = Min(h->switches, PG_INT32_MAX / 2) + n;
}

/*
 * The scan returns an entry of another heap block than before: the position
 * goes on as far as it may, and the next pause is set.  Locks, errors and
 * memory as of fpt_heap_look().
 */
static void
fpt_heap_step(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTHeapAhead *h = &so->heap;
	FPTDistance *d = &h->dist;
	int			wanted;
	int			burst;

	fpt_heap_come_on(h, 1);
	if (h->switches <= FPT_HEAP_START)
	{
		fpt_count(so->counters, FPT_SKIP_SHORT, 1);
		return;
	}
	if (h->nahead > 0)
	{
		h->nagain -= (*fpt_heap_ring(h, h->nahead - 1) & FPT_RING_AGAIN) != 0;
		h->nahead--;
	}
	if (h->lastblk != InvalidBlockNumber &&
		h->forward != ScanDirectionIsForward(dir))
		fpt_heap_restart(so);
	wanted = fpt_heap_wanted_on(so, dir);
	if (wanted <= 0)
	{
		fpt_count(so->counters, FPT_SKIP_SHORT, 1);
		return;
	}
	if (h->ring == NULL && !fpt_heap_prepare(scan, so))
		return;
	if (h->lastblk == InvalidBlockNumber)
	{
		h->lastblk = h->curblk;
		h->pos = so->cur.pos;
		h->forward = ScanDirectionIsForward(dir);
	}

	burst = fpt_burst(Min(fpt_distance_now(d, fpt_heap_down(h)),
						  fpt_heap_bound(h)), fpt_heap_down(h));
	if (fpt_heap_room(h) < burst)
	{
		fpt_heap_run_pause(h);
		return;
	}

	/* (it is less, where a run downwards ends) */
	while (fpt_heap_room(h) > 0 && wanted-- > 0 &&
		   fpt_heap_advance(scan, so, dir))
	{
		BlockNumber blk = fpt_batch_block(h->inahead ? &so->ahead : &so->cur,
										  h->pos);

		CHECK_FOR_INTERRUPTS();
		if (blk != h->lastblk)
			fpt_heap_ask(scan, so, blk);
	}
	fpt_heap_request(scan, h);
	fpt_distance_step(d, FPT_HEAP_GROWTH, fpt_heap_down(h));
	if (d->pause > 0)
	{
		h->sleep = h->pause = d->pause;
		d->pause = 0;
		if (h->mixed)			/* what was cached has ended them */
			memset(h->runs, 0, FPT_RUNS * sizeof(FPTHeapRun));
	}
	else
		fpt_heap_run_pause(h);
}

/*
 * What has a scan come by before it looks for the first time?  The block of the
 * entry before the current one, as far as it is in this batch, and how many
 * changes there were up to it.
 */
static void
fpt_heap_first_look(FPTScanOpaque *so, ScanDirection dir)
{
	FPTHeapAhead *h = &so->heap;
	FPTBatch   *b = &so->cur;
	int			by = ScanDirectionIsForward(dir) ? 1 : -1;
	int			from = b->pos - by * FPT_HEAP_START;
	int			seen;

	Assert(b->valid && b->pos >= 0 && b->pos < b->n);
	from = Max(0, Min(from, b->n - 1));
	if (from == b->pos)
		return;
	h->curblk = fpt_batch_block(b, from);
	seen = 1 + fpt_count_switches(b, from, b->pos - by, &h->curblk);
	h->switches = Max(h->switches, seen);
	fpt_count(so->counters, FPT_SKIP_SHORT, seen);
}

/* See scan/heapahead.h. */
void
fpt_heap_look(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTHeapAhead *h = &so->heap;
	FPTBatch   *b = &so->cur;
	BlockNumber blk = fpt_batch_block(b, b->pos);

	Assert(b->valid);
	h->sleep = 0;
	if (!h->enabled)
	{
		h->sleep = PG_INT32_MAX;
		return;
	}
	if (h->pause > 0)
		fpt_heap_come_on(h, h->pause);
	if (h->curblk == InvalidBlockNumber)
		fpt_heap_first_look(so, dir);
	if (h->pause > 0)
	{
		fpt_heap_runs_passed(h, h->pause);
		fpt_heap_count_pause(so);
		fpt_heap_recount(so);
	}
	if (blk != h->curblk)
	{
		h->curblk = blk;
		fpt_heap_step(scan, so, dir);
	}
}
