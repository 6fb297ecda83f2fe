/*-------------------------------------------------------------------------
 *
 * scan/standby.c
 *	  Index-only scans during recovery.
 *
 * The executor takes an entry's word for its row where the visibility map says
 * that the heap page is all-visible, and looks that up when it has got the
 * entry.  On a primary the leaf's pin makes that right: VACUUM cannot give the
 * row's line pointer to another row before the pin is gone.  Replay waits for
 * no pin.
 *
 * So the scan asks the visibility map itself, while the entry is proven to be
 * on its leaf: some of the batch's entries are looked up, with no lock held,
 * and if the leaf has the LSN then that it had when they were copied, no record
 * has taken any of them away before.  Where the bit is set, the row is visible
 * to all snapshots of the standby, for as long as they live.  Where it is not,
 * or the leaf has changed, the row is fetched under the scan's snapshot and the
 * entry dropped if there is none.  What the executor finds in the map later on
 * makes no difference to either.  See src/README.md, section 18.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "page/port.h"
#include "scan/standby.h"
#include "scan/vismap.h"
#include "server/stop.h"

/*
 * Entries of a batch looked up first.  Then three times as many as have been,
 * so that a LIMIT pays for no more than it reads, nearly.
 */
#define FPT_ASK_FIRST		8
#define FPT_ASK_GROWTH		3

struct FPTStandby
{
	int			max;			/* room in so->visible */
	FPTVisMap	map;
	TupleTableSlot *slot;		/* for rows that are fetched */
};

/*
 * May entries of a batch that is being copied be returned only after a look at
 * what has become of them (V1)?  The leaf must be locked, and stay pinned if
 * not: recovery has ended then, and only a cleanup lock takes entries away.
 *
 * The planner's look-up of an extreme wants an estimate and no row of a
 * snapshot: it is not worth reading rows, of which there may be many dead ones
 * that it would give up at.
 */
bool
fpt_standby_doubts(IndexScanDesc scan)
{
	return scan->xs_want_itup && IsMVCCSnapshot(scan->xs_snapshot) &&
		RecoveryInProgress();
}

/*
 * Room for the answers about a batch, of which nothing has been asked yet: in
 * the scan's context, for all that the batch has room for, and in place of the
 * answers about the last one.
 */
static void
fpt_standby_prepare(FPTScanOpaque *so)
{
	FPTStandby *s = so->standby;
	FPTBatch   *b = &so->cur;

	Assert(b->valid && b->n <= b->max);
	if (s == NULL)
		s = so->standby = MemoryContextAllocZero(so->cxt, sizeof(FPTStandby));
	if (s->max >= b->n)
		return;
	if (so->visible != NULL)
		pfree(so->visible);
	so->visible = MemoryContextAlloc(so->cxt, b->max * sizeof(bool));
	s->max = b->max;
}

/*
 * Look up entries "from" to "to" - 1 of the current batch in the visibility
 * map: is their heap page all-visible?  As in visibilitymap_get_status() that
 * takes no lock, and the answer may be out of date, see fpt_standby_ask().
 * Nothing else is locked, as this may read pages (V4); it may be cancelled, and
 * raise.
 */
static void
fpt_standby_look(IndexScanDesc scan, FPTScanOpaque *so, int from, int to)
{
	const uint64 *tids = so->cur.tids;
	bool	   *visible = so->visible;
	BlockNumber base;
	const uint8 *bits;

	Assert(from >= 0 && from < to && to <= so->cur.n);
	bits = fpt_map_bits(scan->heapRelation, &so->standby->map,
						(BlockNumber) (tids[from] >> 16), &base);
	for (int i = from; i < to; i++)
	{
		BlockNumber blk = (BlockNumber) (tids[i] >> 16);
		uint32		at = blk - base;	/* large if before it, too */

		if (unlikely(at >= FPT_MAP_PER_PAGE))
		{
			bits = fpt_map_bits(scan->heapRelation, &so->standby->map, blk,
								&base);
			at = blk - base;
		}
		visible[i] = fpt_map_visible(bits, at);
	}
}

/*
 * Look up the current entry, and some that come after it in the direction in
 * which the scan has come to it.  Those looked up are always in a row: a scan
 * goes from one entry to the next, or back to where it has been.
 *
 * The bits count if the leaf is found unchanged *after* they were read (V2).
 * If it is not, nothing will be proven of this batch any more: all its rows
 * will be fetched.  The leaf is pinned, and locked only to read its LSN (V4).
 * May be cancelled before that, and raise; allocates in the scan's context.
 */
static void
fpt_standby_ask(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTBatch   *b = &so->cur;
	int			asked = b->askedto - b->askedfrom;
	int			n = FPT_ASK_FIRST + FPT_ASK_GROWTH * asked;
	int			from;
	int			to;
	bool		same;

	Assert(b->valid && BufferIsValid(b->buf));
	if (b->askedfrom == b->askedto)
	{
		fpt_standby_prepare(so);
		b->askedfrom = b->askedto =
			ScanDirectionIsForward(dir) ? b->pos : b->pos + 1;
	}
	from = b->pos < b->askedfrom ? Max(b->askedfrom - n, 0) : b->askedto;
	to = b->pos < b->askedfrom ? b->askedfrom : Min(b->askedto + n, b->n);
	Assert(from <= b->pos && b->pos < to && to <= so->standby->max);
	fpt_standby_look(scan, so, from, to);
	fpt_stop_point(FPT_STOP_SCAN_ASKED);
	LockBuffer(b->buf, BUFFER_LOCK_SHARE);
	same = BufferGetLSNAtomic(b->buf) == b->lsn;
	LockBuffer(b->buf, BUFFER_LOCK_UNLOCK);
	b->askedfrom = same ? Min(b->askedfrom, from) : 0;
	b->askedto = same ? Max(b->askedto, to) : b->n;
	if (!same)
		memset(so->visible, false, b->n * sizeof(bool));
}

/*
 * Has the current entry a row that the scan's snapshot sees (V3)?  No page is
 * locked before or after; may raise if the table is damaged.  scan->xs_heaptid
 * stays what it is.  The slot is made once, in the scan's context.
 */
static bool
fpt_standby_fetch(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTStandby *s = so->standby;
	ItemPointerData tid = scan->xs_heaptid; /* will be that of the version */
	bool		again = false;
	bool		found;

	Assert(scan->xs_heapfetch != NULL && so->cur.doubt);
	if (s->slot == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(so->cxt);

		s->slot = table_slot_create(scan->heapRelation, NULL);
		MemoryContextSwitchTo(old);
	}
	found = table_index_fetch_tuple(scan->xs_heapfetch, &tid,
									scan->xs_snapshot, s->slot, &again, NULL);
	ExecClearTuple(s->slot);
	return found;
}

bool
fpt_standby_shows(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTBatch   *b = &so->cur;

	Assert(b->doubt && b->pos >= 0 && b->pos < b->n);
	if (b->pos < b->askedfrom || b->pos >= b->askedto)
		fpt_standby_ask(scan, so, dir);
	if (so->visible[b->pos])
		return true;
	CHECK_FOR_INTERRUPTS();
	return fpt_standby_fetch(scan, so);
}

void
fpt_standby_end(FPTScanOpaque *so)
{
	FPTStandby *s = so->standby;

	if (s == NULL)
		return;
	fpt_map_done(&s->map);
	if (s->slot != NULL)
		ExecDropSingleTupleTableSlot(s->slot);
}
