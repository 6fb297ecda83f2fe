/*-------------------------------------------------------------------------
 *
 * scan/heaplines.c
 *	  Cache lines of the table, for the rows that a scan comes to next.
 *
 * A plain scan of a cached table in random order waits for memory five times a
 * row, one wait after the other: for the buffer mapping, the buffer's
 * descriptor, the page's header, the line pointer and the row.  But the entries
 * to come are in the batch.  So the lines of some of them are asked for while
 * the executor is busy with the rows before:
 *
 *	   entry   0   1   2   3   4   5   6   7   8   9  10  11  12
 *			   |    -------------- rows --------------
 *			   |    -- descriptors, headers, line pointers --
 *		   returned
 *
 * A table of hints says where a block is.  A hint that is wrong, or missing,
 * costs time only.  The rules (H1-H5) are in src/scan/README.md, section 9,
 * "Cache lines of the table".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "page/port.h"
#include "scan/heaplines.h"
#include "scan/wanted.h"
#include "server/compat.h"
#include "store/place.h"

bool		fpt_guc_heap_lines = true;

/* Blocks that a scan must have come to before it asks for lines ahead. */
#define FPT_LINES_START		4

/*
 * Entries ahead whose pages are asked for, and entries between two looks.  Rows
 * are asked for half as far ahead.
 */
#define FPT_LINES_AHEAD		8
#define FPT_LINES_GROUP		4

/*
 * A block that is in no shared buffer makes the scan leave the next one, two,
 * four, ... to heapam, up to this number.  A block that is there ends that.
 */
#define FPT_LINES_REST		64

/*
 * Where this session has found blocks of tables last (H1).  Blocks that are
 * neighbours do not compete, so these are 512 MB of a table; memory is taken
 * into use as hints are.
 */
#define FPT_BLOCK_HINTS		65536

typedef struct FPTBlockHint
{
	uint32		key;			/* of the table's file and the block */
	Buffer		buf;
} FPTBlockHint;

static FPTBlockHint fpt_block_hints[FPT_BLOCK_HINTS];

/* The buffer that the block may be in, or InvalidBuffer. */
static inline Buffer
fpt_hint_find(const FPTHeapLines *l, BlockNumber blk)
{
	uint32		key = l->hash + blk;
	const FPTBlockHint *h = &fpt_block_hints[key % FPT_BLOCK_HINTS];

	return h->key == key ? h->buf : InvalidBuffer;
}

static inline void
fpt_hint_note(const FPTHeapLines *l, BlockNumber blk, Buffer buf)
{
	uint32		key = l->hash + blk;
	FPTBlockHint *h = &fpt_block_hints[key % FPT_BLOCK_HINTS];

	h->key = key;
	h->buf = buf;
}

/* A block was not in shared buffers. */
static inline void
fpt_lines_rest(FPTHeapLines *l)
{
	l->restlen = Min(Max(1, l->restlen * 2), FPT_LINES_REST);
	l->rest = l->restlen;
}

/* See scan/heaplines.h. */
void
fpt_lines_begin(IndexScanDesc scan, FPTScanOpaque *so)
{
	FPTHeapLines *l = &so->lines;
	Relation	heap = scan->heapRelation;

	l->blk = InvalidBlockNumber;
	l->come = 0;
	if (l->begun)
		return;
	l->begun = true;
	l->enabled = fpt_guc_heap_lines && heap != NULL && !scan->xs_want_itup &&
		scan->xs_heapfetch != NULL &&
		IsMVCCSnapshot(scan->xs_snapshot) && !RelationUsesLocalBuffers(heap) &&
		heap->rd_tableam == GetHeapamTableAmRoutine();
	if (l->enabled)
		l->hash = fpt_relnumber(heap) * 2654435761U;
}

/* The TID of the k'th entry of a batch, in the scan's direction. */
static inline uint64
fpt_lines_tid(const FPTBatch *b, bool forward, int k)
{
	Assert(k >= 0 && k < b->n);
	return b->tids[forward ? k : b->n - 1 - k];
}

/*
 * Where a page has the line pointer of a TID; a place beyond the page if the
 * index is damaged.
 */
static inline uint32
fpt_line_pointer(uint64 tid)
{
	return SizeOfPageHeaderData +
		((uint32) (tid & 0xFFFF) - 1) * (uint32) sizeof(ItemIdData);
}

/*
 * Ask for the descriptor, the page's header and the line pointer of an entry.
 * False: its block is in no shared buffer.  Where no hint says so, that is
 * looked up, under a lock of the mapping; no spinlock may be held.
 */
static inline bool
fpt_lines_page(IndexScanDesc scan, const FPTHeapLines *l, uint64 tid)
{
	BlockNumber blk = (BlockNumber) (tid >> 16);
	Buffer		buf = fpt_hint_find(l, blk);
	const char *page;

	if (unlikely(!BufferIsValid(buf)))
	{
		buf = fpt_block_buffer(scan->heapRelation, blk);
		if (!BufferIsValid(buf))
			return false;
		fpt_hint_note(l, blk, buf);
	}
	page = BufferGetPage(buf);
	fpt_prefetch(GetBufferDescriptor(buf - 1));
	fpt_prefetch(page);
	fpt_prefetch(page + fpt_line_pointer(tid));
	return true;
}

/*
 * Ask for the row of an entry.  The page may be another one by now: its line
 * pointer is only a place to prefetch from (H2).
 */
static inline void
fpt_lines_tuple(const FPTHeapLines *l, uint64 tid)
{
#ifndef USE_VALGRIND			/* which lets nobody read without a pin */
	Buffer		buf = fpt_hint_find(l, (BlockNumber) (tid >> 16));
	uint32		at = fpt_line_pointer(tid);
	const char *page;
	uint32		bits;
	ItemIdData	item;

	if (unlikely(!BufferIsValid(buf)) || unlikely(at >= BLCKSZ))
		return;
	page = BufferGetPage(buf);
	bits = *(const volatile uint32 *) (page + at);
	memcpy(&item, &bits, sizeof(item));
	page += ItemIdGetOffset(&item) % BLCKSZ;
	fpt_prefetch(page);
	fpt_prefetch(page + FPT_LINE / 2);
#endif
}

/*
 * Ask for lines of entries after the current one, as far as they are wanted and
 * in its batch, if the last time was a group of entries ago.  An entry whose
 * block is that of the entry before it needs nothing.  Locks as of
 * fpt_lines_page().
 */
static void
fpt_lines_ahead(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTHeapLines *l = &so->lines;
	const FPTBatch *b = &so->cur;
	bool		forward = ScanDirectionIsForward(dir);
	int			p = forward ? b->pos : b->n - 1 - b->pos;
	int			end;
	int			to;

	if (l->turn != so->turn || l->forward != forward)
	{
		l->turn = so->turn;
		l->forward = forward;
		l->next = l->pages = l->rows = 0;
	}
	if (p < l->next)
		return;
	l->next = p + FPT_LINES_GROUP;
	end = Min(fpt_wanted_entries(so, dir), b->n - p) + p;
	to = Min(p + 1 + FPT_LINES_AHEAD + FPT_LINES_GROUP, end);
	for (int k = Max(l->pages, p + 1); k < to; k++)
	{
		uint64		tid = fpt_lines_tid(b, forward, k);

		if (tid >> 16 != fpt_lines_tid(b, forward, k - 1) >> 16 &&
			!fpt_lines_page(scan, l, tid))
		{
			fpt_lines_rest(l);
			break;
		}
	}
	l->pages = Max(l->pages, to);
	to = Min(p + 1 + FPT_LINES_AHEAD / 2 + FPT_LINES_GROUP, end);
	for (int k = Max(l->rows, p + 1); k < to; k++)
	{
		uint64		tid = fpt_lines_tid(b, forward, k);

		if (tid >> 16 != fpt_lines_tid(b, forward, k - 1) >> 16)
			fpt_lines_tuple(l, tid);
	}
	l->rows = Max(l->rows, to);
}

/*
 * Pin the current entry's block where heapam looks for it, which so need not
 * search the mapping (H3).  It is visited as by ReadBuffer() (H4).
 */
static void
fpt_lines_pin(IndexScanDesc scan, FPTHeapLines *l, uint64 tid)
{
	BlockNumber blk = (BlockNumber) (tid >> 16);
	Buffer		buf = fpt_hint_find(l, blk);

	fpt_heap_place_empty(scan);
	if (likely(BufferIsValid(buf)))
	{
		/* of the first rows of a scan, nobody has asked for these */
		fpt_prefetch(BufferGetPage(buf));
		fpt_prefetch((char *) BufferGetPage(buf) + fpt_line_pointer(tid));
		if (likely(fpt_block_pin(scan->heapRelation, blk, buf)))
			l->restlen = 0;
		else
		{
			fpt_lines_rest(l);
			buf = InvalidBuffer;
		}
	}
	if (unlikely(!BufferIsValid(buf)))
	{
		buf = ReadBuffer(scan->heapRelation, blk);
		fpt_hint_note(l, blk, buf);
	}
	fpt_heap_place_fill(scan, blk, buf);
	fpt_heap_place_prune(scan);
}

/* See scan/heaplines.h. */
void
fpt_lines_turn(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	FPTHeapLines *l = &so->lines;
	const FPTBatch *b = &so->cur;
	uint64		tid;

	Assert(l->enabled && b->pos >= 0 && b->pos < b->n);
	tid = b->tids[b->pos];
	l->blk = (BlockNumber) (tid >> 16);
	if (l->rest > 0)
	{
		l->rest--;
		return;
	}
	if (l->come < FPT_LINES_START)
		l->come++;
	else
		fpt_lines_ahead(scan, so, dir);
	fpt_lines_pin(scan, l, tid);
}
