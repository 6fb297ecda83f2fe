/*-------------------------------------------------------------------------
 *
 * exec/sight.c
 *	  Which entries of a batch have rows that everybody sees.
 *
 * What core's index-only scan asks for each entry is asked for a batch here, in
 * one loop over its TIDs, while its leaf is pinned.  See exec/README.md.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "access/xact.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

#include "exec/sight.h"
#include "page/port.h"
#include "scan/state.h"
#include "server/stop.h"

/*
 * Read the map's bits of n TIDs; the numbers of those whose heap page is not
 * all-visible go to hidden[], which has room for one more than n.  Returns how
 * many they are.  As fpt_map_bits().
 */
static int
fpt_sight_bits(Relation heap, FPTSight *s, const uint64 *tids, int n)
{
	BlockNumber base;
	const uint8 *bits = fpt_map_bits(heap, &s->map,
									 (BlockNumber) (tids[0] >> 16), &base);
	int		   *hidden = s->hidden;
	int			nhidden = 0;

	for (int i = 0; i < n; i++)
	{
		BlockNumber blk = (BlockNumber) (tids[i] >> 16);
		uint32		at = blk - base;	/* large if before it, too */

		if (unlikely(at >= FPT_MAP_PER_PAGE))
		{
			bits = fpt_map_bits(heap, &s->map, blk, &base);
			at = blk - base;
		}
		hidden[nhidden] = i;
		nhidden += !fpt_map_visible(bits, at);
	}
	return nhidden;
}

/* Has the leaf the LSN that it had when the batch was copied (V2)? */
static bool
fpt_sight_unchanged(const FPTBatch *b)
{
	bool		same;

	Assert(BufferIsValid(b->buf));
	LockBuffer(b->buf, BUFFER_LOCK_SHARE);
	same = BufferGetLSNAtomic(b->buf) == b->lsn;
	LockBuffer(b->buf, BUFFER_LOCK_UNLOCK);
	return same;
}

bool
fpt_sight_locked(IndexScanDesc scan, FPTSight *s, uint64 tid)
{
	Relation	heap = scan->heapRelation;
	BlockNumber blk = (BlockNumber) (tid >> 16);
	BlockNumber base;
	const uint8 *bits = fpt_map_bits(heap, &s->map, blk, &base);

	if (!fpt_map_visible(bits, blk - base))
		return false;
	PredicateLockPage(heap, blk, scan->xs_snapshot);
	return fpt_map_visible(bits, blk - base);
}

/*
 * The entries of the batch that must be looked up, as fpt_sight_bits() has
 * them, and predicate locks of the others' blocks (E3).  As fpt_sight_locked().
 */
static pg_noinline int
fpt_sight_lock(IndexScanDesc scan, FPTSight *s)
{
	const FPTBatch *b = &((FPTScanOpaque *) scan->opaque)->cur;
	BlockNumber last = InvalidBlockNumber;
	bool		visible = false;
	int			nhidden = 0;

	for (int i = 0; i < b->n; i++)
	{
		BlockNumber blk = (BlockNumber) (b->tids[i] >> 16);

		if (blk != last)
			visible = fpt_sight_locked(scan, s, b->tids[i]);
		last = blk;
		if (!visible)
			s->hidden[nhidden++] = i;
	}
	return nhidden;
}

int
fpt_sight_look(IndexScanDesc scan, FPTSight *s, bool lock)
{
	const FPTBatch *b = &((FPTScanOpaque *) scan->opaque)->cur;
	int			nhidden;

	Assert(b->valid && b->n > 0 && BufferIsValid(b->buf));
	if (s->max < b->n)
	{
		if (s->hidden != NULL)
			pfree(s->hidden);
		s->hidden = MemoryContextAlloc(s->cxt, (b->max + 1) * sizeof(int));
		s->max = b->max;
	}
	if (lock && unlikely(IsolationIsSerializable()))
	{
		Assert(!b->doubt);		/* no such transaction is in recovery */
		return fpt_sight_lock(scan, s);
	}
	nhidden = fpt_sight_bits(scan->heapRelation, s, b->tids, b->n);
	if (b->doubt)
	{
		fpt_stop_point(FPT_STOP_SCAN_ASKED);
		if (!fpt_sight_unchanged(b))
		{
			for (nhidden = 0; nhidden < b->n; nhidden++)
				s->hidden[nhidden] = nhidden;
		}
	}
	return nhidden;
}
