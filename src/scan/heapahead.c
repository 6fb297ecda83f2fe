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
 * Blocks that come one after the other are left to the operating system, which
 * reads them ahead in large pieces if nobody asks for them one by one.  But it
 * does not see what is in shared buffers: where every second block is, or most
 * are, there is no run.
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

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "scan/batch.h"
#include "scan/heapahead.h"
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

/* So do so many entries of blocks that were come by just before. */
#define FPT_BACK_PER_HIT	16

/*
 * From so many blocks in a row on they are a run.  Fewer come about by chance
 * where a scan passes every few blocks, none of which the system reads ahead.
 */
#define FPT_RUN_LENGTH		4

/* Where lately some were in shared buffers, that takes more. */
#define FPT_RUN_MIXED		16

/* Neighbours that are asked for in one request: see tree/sweep.c. */
#define FPT_REQUEST_BLOCKS	16

/* A long run may miss so many blocks at a time, or come back by so many. */
#define FPT_RUN_GAP			8
#define FPT_RUN_BACK		32

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

/* Changes of the block between two entries of a batch, "from" not included. */
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
 * is the position still?  Changes nothing.
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

/* Set nahead after a pause; the position is not behind the current entry. */
static void
fpt_heap_recount(FPTScanOpaque *so)
{
	FPTHeapAhead *h = &so->heap;

	h->nahead = fpt_heap_distance(so);
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
	Assert(nahead == 0 || h->ring != NULL);
	for (int i = 0; i < nahead; i++)
		n += h->ring[(h->head - i) % FPT_RING];
	return n;
}

/* --- ascending runs ------------------------------------------------------ */

/* So many blocks are a run. */
static inline unsigned
fpt_heap_run_length(const FPTHeapAhead *h)
{
	return h->mixed ? FPT_RUN_MIXED : FPT_RUN_LENGTH;
}

/*
 * The position ahead comes to a block that will be read.  Which run would it go
 * on?  FPT_RUNS: none.  *before: it will have been read along with that.
 */
static int
fpt_heap_find_run(const FPTHeapAhead *h, BlockNumber blk, bool *before)
{
	int			i;

	*before = false;
	for (i = 0; i < FPT_RUNS; i++)
	{
		const FPTHeapRun *o = &h->runs[i];

		*before = blk <= o->last &&
			o->last - blk < Min(o->span, FPT_RUN_BACK);
		if (*before || (o->length > 0 && blk > o->last &&
						blk - o->last <= 1 + o->gap))
			break;
	}
	return i;
}

/*
 * Is it the scan itself that may have read a block which is in shared buffers?
 * It has at its start, in a pause, and where it goes to and fro.
 */
static bool
fpt_heap_own(const FPTHeapAhead *h, BlockNumber blk)
{
	bool		own = h->own;

	for (int i = 0; i < FPT_RUNS; i++)
		own |= h->runs[i].last > blk && h->runs[i].last - blk <= FPT_RUN_GAP;
	return own;
}

/*
 * It goes on run i, or begins one.  "cached": it need not be read, which makes
 * the run shorter, and puts an end to a short one: the system sees none.
 */
static void
fpt_heap_run_on(FPTHeapAhead *h, int i, BlockNumber blk, bool cached)
{
	FPTHeapRun	r = {blk, 1, 1, 0};

	if (i < FPT_RUNS)
	{
		const FPTHeapRun *o = &h->runs[i];

		r.span = o->span + (blk > o->last ? blk - o->last : 0);
		r.length = o->length + (!cached && blk > o->last);
		r.last = Max(o->last, blk);
		if (cached && !fpt_heap_own(h, blk))
		{
			r.length = Max(1, r.length / 2);
			h->mixed = true;
			h->inrun = 0;
			h->runpause = 0;
		}
	}
	if (!cached && (i == FPT_RUNS || blk > h->runs[i].last))
		h->own = false;
	if (!cached && r.length >= FPT_RUN_MIXED)
		h->mixed = false;
	if (r.length >= fpt_heap_run_length(h))
		r.gap = Min(1 + r.length / 8, FPT_RUN_GAP);

	/* To the front; a new one in place of the one come by longest ago. */
	for (i = Min(i, FPT_RUNS - 1); i > 0; i--)
		h->runs[i] = h->runs[i - 1];
	h->runs[0] = r;
}

/* After a pause of so many entries: runs may have gone on by as many blocks. */
static void
fpt_heap_runs_passed(FPTHeapAhead *h, int pause)
{
	int			i;

	for (i = 0; i < FPT_RUNS; i++)
		h->runs[i].gap += pause;
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

/* The pause in progress is over, or the scan: how much of it was there? */
void
fpt_heap_count_pause(FPTScanOpaque *so)
{
	FPTHeapAhead *h = &so->heap;

	if (h->pause > 0)
		fpt_count(so->counters, FPT_SKIP_PAUSE, h->pause - h->sleep);
	h->pause = 0;
}

/* Give up the batch read ahead and begin again at the current entry. */
void
fpt_heap_restart(FPTScanOpaque *so)
{
	FPTHeapAhead *h = &so->heap;

	if (h->nahead > 0)
		fpt_count(so->counters, FPT_HEAP_WASTED, fpt_heap_unused(so));
	fpt_batch_forget(&so->ahead);
	h->inahead = false;
	h->atend = false;
	h->pos = -1;
	h->nahead = 0;
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
 * Decide at a scan's start whether heap pages may be read ahead at all.  What
 * has been learnt of the heap, the distance and its pauses, is kept over
 * rescans: an inner loop that finds its pages cached is left alone.
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

/* The scan is long enough: look up what the first steps need not know. */
static bool
fpt_heap_prepare(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTHeapAhead *h = &so->heap;
	int			limit;

	limit = get_tablespace_io_concurrency(scan->heapRelation->rd_rel->reltablespace);
	if (limit == 0)
	{
		fpt_count(so->counters, FPT_SKIP_LIMIT, 1);
		h->enabled = false;
		return false;
	}
	fpt_distance_init(&h->dist, limit);
	h->ring = MemoryContextAllocZero(so->cxt, FPT_RING * sizeof(bool));
	h->nblocks = RelationGetNumberOfBlocks(scan->heapRelation);
	h->allvisible = scan->heapRelation->rd_rel->relallvisible >=
		scan->heapRelation->rd_rel->relpages * 0.98;
	return true;
}

/* Ask for the blocks that were put together. */
static void
fpt_heap_request(IndexScanDesc scan, FPTHeapAhead *h)
{
	FPTHintFile file = FPT_NO_HINT_FILE;

	if (h->nask == 1)
		(void) PrefetchBuffer(scan->heapRelation, MAIN_FORKNUM, h->ask);
	else if (h->nask > 1)
		fpt_prefetch_range(scan->heapRelation, h->ask, h->nask, &file);
	fpt_hint_close(&file);
	fpt_count(NULL, FPT_HEAP_REQUESTS, h->nask > 0);
	h->nask = 0;
}

/*
 * Move the read-ahead position to the next entry; false, and counted why, if
 * there is none yet known, or none at all.
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

/* An index-only scan reads pages only that are not all-visible. */
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
 * Ask for a block that is in no shared buffer, soon: in one request with its
 * neighbours, if these come next, as they do going down a run.  One by one each
 * would be a read.
 */
static bool
fpt_heap_gather(IndexScanDesc scan, FPTHeapAhead *h, BlockNumber blk)
{
	if (!fpt_can_prefetch_range(scan->heapRelation))
		return PrefetchBuffer(scan->heapRelation, MAIN_FORKNUM,
							  blk).initiated_io;
	h->down = blk + 1 == h->ask;
	if (h->nask == FPT_REQUEST_BLOCKS ||
		(!h->down && blk != h->ask + h->nask))
		fpt_heap_request(scan, h);
	if (h->nask == 0 || h->down)
		h->ask = blk;
	h->nask++;
	return true;
}

/*
 * Ask for a block that will be read, unless it is in shared buffers, or left to
 * the operating system.  *io: that started a read.  False: nobody knows.
 */
static bool
fpt_heap_want(IndexScanDesc scan, FPTScanOpaque *so, BlockNumber blk, bool *io)
{
	FPTHeapAhead *h = &so->heap;
	bool		before;
	int			i = fpt_heap_find_run(h, blk, &before);

	*io = false;
	if (!before && fpt_block_buffered(scan->heapRelation, blk))
	{
		fpt_heap_run_on(h, i, blk, true);
		fpt_count(so->counters, FPT_HEAP_CACHED, 1);
		fpt_count_distance(so->counters, h->nahead);
		return h->runs[0].length < fpt_heap_run_length(h);
	}
	fpt_heap_run_on(h, i, blk, false);
	if (h->runs[0].length >= fpt_heap_run_length(h))
	{
		fpt_count(so->counters, FPT_SKIP_SEQUENTIAL, 1);
		h->inrun++;
		return false;
	}
	if (before)
	{
		fpt_count(so->counters, FPT_SKIP_SEQUENTIAL, 1);
		return ++h->back % FPT_BACK_PER_HIT == 0;
	}
	h->inrun = 0;
	h->runpause = 0;
	*io = fpt_heap_gather(scan, h, blk);
	fpt_count(so->counters, *io ? FPT_HEAP_ISSUED : FPT_HEAP_CACHED, 1);
	fpt_count_distance(so->counters, h->nahead);
	h->ring[h->head % FPT_RING] = *io;
	return true;
}

/* Ask for a block, the next one ahead. */
static void
fpt_heap_ask(IndexScanDesc scan, FPTScanOpaque *so, BlockNumber blk)
{
	FPTHeapAhead *h = &so->heap;
	FPTDistance *d = &h->dist;
	bool		io = false;

	Assert(h->ring != NULL && h->nahead < FPT_RING - 1);
	h->lastblk = blk;
	h->nahead++;
	h->ring[++h->head % FPT_RING] = false;
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

/*
 * So many blocks are asked for at a time.  Going down a run it is half of the
 * distance: the more of them, the fewer requests.
 */
static inline int
fpt_heap_burst(const FPTHeapAhead *h, int target)
{
	return h->down ? Max(1, Min(target / 2, FPT_REQUEST_BLOCKS)) :
		fpt_burst(target);
}

/* The scan returns an entry of another heap block than before. */
static void
fpt_heap_step(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTHeapAhead *h = &so->heap;
	FPTDistance *d = &h->dist;
	int			target;

	if (++h->switches <= FPT_HEAP_START)
	{
		fpt_count(so->counters, FPT_SKIP_SHORT, 1);
		return;
	}
	if (h->nahead > 0)
		h->nahead--;
	if (h->lastblk != InvalidBlockNumber &&
		h->forward != ScanDirectionIsForward(dir))
		fpt_heap_restart(so);
	if (h->nblocks == 0 && !fpt_heap_prepare(scan, so))
		return;
	if (h->lastblk == InvalidBlockNumber)
	{
		h->lastblk = h->curblk;
		h->pos = so->cur.pos;
		h->forward = ScanDirectionIsForward(dir);
	}

	target = d->now;
	if (!d->fixed)
	{
		/*
		 * Not further ahead than the scan has come so far: a LIMIT may end it,
		 * and then at most half of what was read is in vain.  And not further
		 * than the scan before it came, if that was left before its end; a
		 * scan that goes on has no such bound.
		 */
		target = Min(target, h->switches - FPT_HEAP_START);
		if (h->switches <= h->horizon)
			target = Min(target, h->horizon - h->switches);
	}
	if (target - h->nahead < fpt_heap_burst(h, target))
	{
		fpt_heap_run_pause(h);
		return;
	}
	while (h->nahead < target && fpt_heap_advance(scan, so, dir))
	{
		BlockNumber blk = fpt_batch_block(h->inahead ? &so->ahead : &so->cur,
										  h->pos);

		/* a device that has enough to do makes who asks for more wait */
		CHECK_FOR_INTERRUPTS();
		if (blk != h->lastblk)
			fpt_heap_ask(scan, so, blk);
	}
	fpt_heap_request(scan, h);
	fpt_distance_step(d, FPT_HEAP_GROWTH);
	if (d->pause > 0)
	{
		h->sleep = h->pause = d->pause;
		d->pause = 0;
		if (h->mixed)			/* what was cached has ended them */
			memset(h->runs, 0, sizeof(h->runs));
	}
	else
		fpt_heap_run_pause(h);
}

/* What has a scan come by before it looks for the first time? */
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

/*
 * The scan returns an entry after some for which nothing was done: see whether
 * there is something to do now.
 */
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
		h->switches = fpt_heap_come(h);
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
