/*-------------------------------------------------------------------------
 *
 * exec/putoff.c
 *	  Entries whose rows are looked up later, page by page.
 *
 * A plain scan, or core's index-only scan, comes to a row's page when it comes
 * to its entry.  Where nobody wants to know in which order rows come, their
 * TIDs are sorted first, and each page is looked up, pinned and locked once for
 * all of its rows, as a bitmap scan does it.  The snapshot makes right that the
 * leaf has no pin any more (E2).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "exec/putoff.h"
#include "key/tid.h"
#include "load/radix.h"
#include "page/copy.h"
#include "page/kernel.h"
#include "scan/state.h"
#include "server/compat.h"
#include "server/stop.h"
#include "store/buf.h"

/* Entries that there is room for at first */
#define FPT_PUTOFF_START	512

void
fpt_putoff_init(FPTPutOff *p, MemoryContext cxt, Relation heap, int nwords)
{
	int			limit = 0;

	Assert(nwords >= FPT_PUTOFF_VALUE && nwords <= FPT_PUTOFF_WORDS);
	memset(p, 0, sizeof(FPTPutOff));
	p->cxt = cxt;
	p->nwords = nwords;
	p->limit = Max(work_mem * (size_t) 1024 / (nwords * sizeof(uint64)),
				   FPT_MAX_ENTRIES);
	if (fpt_guc_heap_prefetch && fpt_can_prefetch())
		limit = get_tablespace_io_concurrency(heap->rd_rel->reltablespace);
	fpt_distance_init(&p->dist, limit);
}

bool
fpt_putoff_room(FPTPutOff *p, int n)
{
	size_t		max = Max(p->max, FPT_PUTOFF_START);
	Size		size;

	Assert(n > 0 && n <= FPT_MAX_ENTRIES);
	if (p->n + n <= p->max)
		return true;
	while (max < p->n + n)
		max *= 2;
	max = Min(max, p->limit);
	if (max < p->n + n)
		return false;
	size = max * p->nwords * sizeof(uint64);
	if (p->recs == NULL)
		p->recs = MemoryContextAllocHuge(p->cxt, size);
	else
		p->recs = repalloc_huge(p->recs, size);
	p->max = max;
	return true;
}

void
fpt_putoff_leaf(FPTPutOff *p, const FPTBatch *b)
{
	if (p->nleaves == p->maxleaves)
	{
		int			max = Max(64, 2 * p->maxleaves);
		Size		size = max * sizeof(FPTPutOffLeaf);

		p->leaves = p->leaves == NULL ? MemoryContextAllocHuge(p->cxt, size) :
			repalloc_huge(p->leaves, size);
		p->maxleaves = max;
	}
	p->leaves[p->nleaves].pageno = b->pageno;
	p->leaves[p->nleaves].lsn = b->lsn;
	p->nleaves++;
}

/* The block of the i'th entry. */
static inline BlockNumber
fpt_putoff_block(const FPTPutOff *p, size_t i)
{
	return (BlockNumber) (p->recs[i * p->nwords] >> 16);
}

/* The first entry, from i on, of another block than the i'th; or p->n. */
static inline size_t
fpt_putoff_next(const FPTPutOff *p, size_t i)
{
	BlockNumber blk = fpt_putoff_block(p, i);

	while (i < p->n && fpt_putoff_block(p, i) == blk)
		i++;
	return i;
}

/* How far the table is read ahead of where its rows are looked up. */
typedef struct FPTPutOffAhead
{
	size_t		next;			/* entry whose block comes next */
	int			blocks;			/* asked for, and not visited */
} FPTPutOffAhead;

/*
 * The block of entry i is visited now: ask for some of those that follow.  No
 * page is locked.  May raise where the file cannot be opened.
 */
static void
fpt_putoff_ahead(IndexScanDesc scan, FPTPutOff *p, FPTPutOffAhead *a, size_t i)
{
	uint64	   *counters = ((FPTScanOpaque *) scan->opaque)->counters;
	FPTDistance *d = &p->dist;

	if (a->blocks > 0)
		a->blocks--;
	if (d->limit == 0)
		return;
	if (d->pause > 0)
	{
		d->pause--;
		return;
	}
	if (a->blocks == 0)
		a->next = fpt_putoff_next(p, i);
	while (d->pause == 0 && a->next < p->n &&
		   a->blocks < fpt_distance_now(d, false))
	{
		BlockNumber blk = fpt_putoff_block(p, a->next);
		bool		io;

		io = PrefetchBuffer(scan->heapRelation, MAIN_FORKNUM,
							blk).initiated_io;
		fpt_count(counters, io ? FPT_HEAP_ISSUED : FPT_HEAP_CACHED, 1);
		fpt_distance_note(d, io);
		a->next = fpt_putoff_next(p, a->next);
		a->blocks++;
	}
	fpt_count_distance(counters, d->now);
	fpt_distance_step(d, 2, false);
}

/* --- dead rows ----------------------------------------------------------- */

/*
 * Note that an entry's row is dead to everybody; not in a transaction that
 * began in recovery.
 */
static void
fpt_putoff_note(IndexScanDesc scan, FPTPutOff *p, const uint64 *rec)
{
	if (scan->xactStartedInRecovery)
		return;
	if (p->ndead == p->maxdead)
	{
		size_t		max = Max(256, 2 * p->maxdead);
		Size		size = max * 2 * sizeof(uint64);

		p->dead = p->dead == NULL ? MemoryContextAllocHuge(p->cxt, size) :
			repalloc_huge(p->dead, size);
		p->maxdead = max;
	}
	p->dead[2 * p->ndead] = rec[1];
	p->dead[2 * p->ndead + 1] = rec[0];
	p->ndead++;
}

/* Is the TID one of n dead ones, which ascend? */
static bool
fpt_putoff_is_dead(const uint64 *dead, size_t n, uint64 tid)
{
	size_t		i = 0;

	while (n > 0)
	{
		size_t		half = n / 2;

		if (dead[2 * (i + half) + 1] < tid)
		{
			i += half + 1;
			n -= half + 1;
		}
		else
			n = half;
	}
	return dead[2 * i + 1] == tid;
}

/*
 * Hints for n dead entries of a leaf, if its LSN is that of the copy, or a pin
 * has kept VACUUM off since (P3).  The leaf is locked to read, and given back;
 * under the lock there is a binary search for each of its entries (L10).
 * Raises if the page is damaged.
 */
static void
fpt_putoff_hints(IndexScanDesc scan, FPTPutOff *p, const uint64 *dead,
				 size_t n)
{
	FPTScanOpaque *so = (FPTScanOpaque *) scan->opaque;
	const FPTLayout *l = &so->ix.layout;
	const FPTPutOffLeaf *leaf = &p->leaves[dead[0]];
	Buffer		buf = fpt_getbuf(scan->indexRelation, &so->ix, leaf->pageno,
								 BUFFER_LOCK_SHARE);
	Page		page = BufferGetPage(buf);
	int			found = 0;
	int			entries = 0;

	if ((fpt_putoff_keeps_pin(scan) ||
		 BufferGetLSNAtomic(buf) == leaf->lsn) && fpt_page_on_level(page, 0))
		entries = fpt_page_tids(l, page, p->tids, p->slotids);
	if (entries < 0)
		fpt_corrupt_page(scan->indexRelation, l, page, leaf->pageno);
	for (int i = 0; i < entries; i++)
	{
		uint64		last = dead[2 * (n - 1) + 1];

		if (p->tids[i] > last || !fpt_putoff_is_dead(dead, n, p->tids[i]))
			continue;
		p->deadtids[found] = p->tids[i];
		p->deadslots[found++] = p->slotids[i];
	}
	if (found > 0)
		fpt_leave_hints(l, buf, p->deadslots, p->deadtids, NULL, found);
	UnlockReleaseBuffer(buf);
}

/* Hints for all dead entries that were noted, leaf by leaf. */
static pg_noinline void
fpt_putoff_kill(IndexScanDesc scan, FPTPutOff *p)
{
	size_t		from = 0;

	fpt_radix_sort(p->dead, p->ndead, 2);
	if (p->tids == NULL)
	{
		Size		n = FPT_MAX_ENTRIES;

		p->tids = MemoryContextAlloc(p->cxt, n * sizeof(uint64));
		p->deadtids = MemoryContextAlloc(p->cxt, n * sizeof(uint64));
		p->slotids = MemoryContextAlloc(p->cxt, n * sizeof(uint16));
		p->deadslots = MemoryContextAlloc(p->cxt, n * sizeof(uint16));
	}
	while (from < p->ndead)
	{
		size_t		to = from;

		while (to < p->ndead && p->dead[2 * to] == p->dead[2 * from])
			to++;
		CHECK_FOR_INTERRUPTS();
		fpt_putoff_hints(scan, p, p->dead + 2 * from, to - from);
		from = to;
	}
	p->ndead = 0;
}

/* --- rows ---------------------------------------------------------------- */

/*
 * Look up the rows of entries from "from" on that are on its block; those that
 * are visible go to the beginning of p->recs, from *found on.  Returns the
 * first entry of another block.
 *
 * The heap page is pinned, and locked to read, and given back.  Dead rows are
 * pruned before, as by any scan.  Raises if the table is damaged.
 */
static size_t
fpt_putoff_page(IndexScanDesc scan, FPTPutOff *p, size_t from, size_t *found)
{
	Relation	heap = scan->heapRelation;
	BlockNumber blk = fpt_putoff_block(p, from);
	Buffer		buf = ReadBuffer(heap, blk);
	size_t		i = from;

	fpt_heap_prune(heap, buf);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	for (; i < p->n && fpt_putoff_block(p, i) == blk; i++)
	{
		const uint64 *rec = p->recs + i * p->nwords;
		ItemPointerData tid;
		HeapTupleData row;
		bool		dead;

		fpt_tid_decode(rec[0], &tid);
		if (!heap_hot_search_buffer(&tid, heap, buf, scan->xs_snapshot, &row,
									&dead, true))
		{
			if (dead)
				fpt_putoff_note(scan, p, rec);
			continue;
		}
		memmove(p->recs + *found * p->nwords, rec,
				p->nwords * sizeof(uint64));
		(*found)++;
		pgstat_count_heap_fetch(scan->indexRelation);
	}
	UnlockReleaseBuffer(buf);
	return i;
}

size_t
fpt_putoff_visit(IndexScanDesc scan, FPTPutOff *p)
{
	FPTPutOffAhead ahead = {0};
	size_t		found = 0;
	size_t		i = 0;

	Assert(IsMVCCSnapshot(scan->xs_snapshot));
	if (p->n == 0)
		return 0;
	fpt_stop_point(FPT_STOP_PUTOFF_VISIT);
	fpt_radix_sort(p->recs, p->n, p->nwords);
	while (i < p->n)
	{
		CHECK_FOR_INTERRUPTS();
		fpt_putoff_ahead(scan, p, &ahead, i);
		i = fpt_putoff_page(scan, p, i, &found);
		Assert(found <= i);
	}
	if (p->ndead > 0)
		fpt_putoff_kill(scan, p);
	p->n = 0;
	p->nleaves = 0;
	return found;
}
