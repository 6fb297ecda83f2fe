/*-------------------------------------------------------------------------
 *
 * fpt_wal.c
 *	  The one place that changes pages in shared buffers and writes WAL.
 *
 * All records are of core's generic resource manager, so that a server without
 * this library replays them.  They are written by hand, in the form that
 * generic_redo() reads: for each block a sequence of {uint16 offset, uint16
 * length, bytes}, or a full image.  The official functions copy each page twice
 * and compare it byte by byte, which for an insertion of fourteen bytes costs
 * twenty times as much; and they log all of a node taken from the page's hole,
 * of which we know that it was zero (see fpt_set_nnodes() in fpt_modify.c).
 *
 * fpt_wal_insert() changes a page in place and knows which bytes it changed.
 * Everything else changes private copies, which fpt_wal_finish() compares with
 * the pages.
 *
 * Rules (see src/README.md, "WAL"):
 *	- pd_lower .. pd_upper is zero, on disk as well, hints apart: a replay
 *	  forgets them, and what comes to lie where they were is logged in full;
 *	- a page that may not exist at replay, or whose old contents do not
 *	  matter, is logged as a full image;
 *	- at most four pages go into a record.
 *
 * Compiled with FPT_GENERIC_WAL_ONLY, all of it uses the official functions.
 *
 *-------------------------------------------------------------------------
 */
#include "fptree.h"

#include "access/generic_xlog.h"
#include "access/rmgr.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"

#ifdef FPT_GENERIC_WAL_ONLY

FPTWal *
fpt_wal_start(Relation rel, const FPTLayout *l)
{
	(void) l;
	return GenericXLogStart(rel);
}

Page
fpt_wal_page(FPTWal *wal, Buffer buf, bool blank)
{
	return GenericXLogRegisterBuffer(wal, buf,
									 blank ? GENERIC_XLOG_FULL_IMAGE : 0);
}

void
fpt_wal_finish(FPTWal *wal)
{
	GenericXLogFinish(wal);
}

void
fpt_wal_abort(FPTWal *wal)
{
	GenericXLogAbort(wal);
}

FPTResult
fpt_wal_insert(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e)
{
	FPTWal	   *wal = fpt_wal_start(rel, &ix->layout);
	Page		page = fpt_wal_page(wal, buf, false);
	FPTEdit		edit = {0};
	FPTResult	res = fpt_page_insert(&ix->layout, page, e, &edit);

	if (res == FPT_OK)
		fpt_wal_finish(wal);
	else
		fpt_wal_abort(wal);
	return res;
}

#else							/* !FPT_GENERIC_WAL_ONLY */

/* Equal bytes between two changed ones that do not pay a new fragment. */
#define FPT_FRAGMENT_HEAD	(2 * sizeof(uint16))

/* Bytes that are compared by one call of memcmp(), which is fast. */
#define FPT_SAME_BLOCK		256

/* A page that a record changes. */
typedef struct FPTWalPage
{
	Buffer		buf;
	bool		blank;			/* log a full image */
	int			deltalen;		/* bytes of delta; -1: log a full image */
	char	   *image;			/* BLCKSZ: the page as it shall be */
	char	   *delta;			/* BLCKSZ */
} FPTWalPage;

struct GenericXLogState
{
	Relation	rel;
	const FPTLayout *l;
	int			npages;
	FPTWalPage	pages[XLR_NORMAL_MAX_BLOCK_ID];
};

FPTWal *
fpt_wal_start(Relation rel, const FPTLayout *l)
{
	FPTWal	   *wal = (FPTWal *) palloc(sizeof(FPTWal));

	wal->rel = rel;
	wal->l = l;
	wal->npages = 0;
	return wal;
}

Page
fpt_wal_page(FPTWal *wal, Buffer buf, bool blank)
{
	FPTWalPage *p;
	int			i;

	for (i = 0; i < wal->npages; i++)
	{
		if (wal->pages[i].buf == buf)
			return (Page) wal->pages[i].image;
	}
	if (wal->npages >= XLR_NORMAL_MAX_BLOCK_ID)
		elog(ERROR, "too many pages for one WAL record");
	p = &wal->pages[wal->npages++];
	p->buf = buf;
	p->blank = blank;
	p->image = palloc(2 * BLCKSZ);
	p->delta = p->image + BLCKSZ;
	memcpy(p->image, BufferGetPage(buf), BLCKSZ);
	return (Page) p->image;
}

void
fpt_wal_abort(FPTWal *wal)
{
	int			i;

	for (i = 0; i < wal->npages; i++)
		pfree(wal->pages[i].image);
	pfree(wal);
}

/* First byte of from .. to - 1 in which two images differ, or to. */
static int
fpt_skip_same(const char *a, const char *b, int from, int to)
{
	while (from + FPT_SAME_BLOCK <= to &&
		   memcmp(a + from, b + from, FPT_SAME_BLOCK) == 0)
		from += FPT_SAME_BLOCK;
	while (from + (int) sizeof(uint64) <= to)
	{
		uint64		x,
					y;

		memcpy(&x, a + from, sizeof(x));
		memcpy(&y, b + from, sizeof(y));
		if (x != y)
			break;
		from += sizeof(uint64);
	}
	while (from < to && a[from] == b[from])
		from++;
	return from;
}

/*
 * Append a fragment of the bytes from .. to - 1 to a page's delta.  False if
 * that grows too large to be worth it.
 */
static bool
fpt_delta_add(FPTWalPage *p, int from, int to)
{
	uint16		head[2];

	if (p->deltalen + FPT_FRAGMENT_HEAD + (to - from) > BLCKSZ)
		return false;
	head[0] = (uint16) from;
	head[1] = (uint16) (to - from);
	memcpy(p->delta + p->deltalen, head, sizeof(head));
	p->deltalen += sizeof(head);
	memcpy(p->delta + p->deltalen, p->image + from, to - from);
	p->deltalen += to - from;
	return true;
}

/*
 * Append what of the bytes from .. to - 1 differs from "old", the page as it
 * will be found at replay.
 */
static bool
fpt_delta_range(FPTWalPage *p, const char *old, int from, int to)
{
	int			i = from;

	Assert(from >= 0 && from <= to && to <= BLCKSZ);
	while ((i = fpt_skip_same(p->image, old, i, to)) < to)
	{
		int			start = i;
		int			end = i + 1;

		for (i = end; i < to && i - end < (int) FPT_FRAGMENT_HEAD; i++)
		{
			if (p->image[i] != old[i])
				end = i + 1;
		}
		i = end;
		if (!fpt_delta_add(p, start, end))
			return false;
	}
	return true;
}

/*
 * The same; the old page's hole was zero, but for hints: whether there are any
 * where the replay begins nobody knows, so these bytes are logged whatever they
 * are.
 */
static bool
fpt_delta_part(FPTWalPage *p, const FPTLayout *l, char *old, int from, int to)
{
	static const char zeroes[BLCKSZ] = {0};
	int			lower = Min(Max(((PageHeader) old)->pd_lower, from), to);
	int			upper = Min(Max(((PageHeader) old)->pd_upper, lower), to);
	int			hfrom;
	int			hto;

	fpt_page_hint_area(l, old, &hfrom, &hto);
	hfrom = Min(Max(hfrom, lower), upper);
	hto = Min(Max(hto, hfrom), upper);
	return fpt_delta_range(p, old, from, lower) &&
		fpt_delta_range(p, zeroes, lower, hfrom) &&
		(hfrom == hto || fpt_delta_add(p, hfrom, hto)) &&
		fpt_delta_range(p, zeroes, hto, upper) &&
		fpt_delta_range(p, old, upper, to);
}

/* Compute what to log of a page. */
static void
fpt_delta(FPTWalPage *p, const FPTLayout *l)
{
	char	   *old = (char *) BufferGetPage(p->buf);
	int			lower = ((PageHeader) p->image)->pd_lower;
	int			upper = ((PageHeader) p->image)->pd_upper;

	Assert(BufferIsValid(p->buf));
	Assert(lower <= upper && upper <= FPT_SPECIAL_OFFSET);
	p->deltalen = 0;
	if (p->blank ||
		!fpt_delta_part(p, l, old, 0, lower) ||
		!fpt_delta_part(p, l, old, upper, BLCKSZ) ||
		p->deltalen >= lower + BLCKSZ - upper)
		p->deltalen = -1;
}

void
fpt_wal_finish(FPTWal *wal)
{
	bool		needwal = RelationNeedsWAL(wal->rel);
	XLogRecPtr	recptr = InvalidXLogRecPtr;
	int			i;

	for (i = 0; needwal && i < wal->npages; i++)
		fpt_delta(&wal->pages[i], wal->l);

	START_CRIT_SECTION();
	for (i = 0; i < wal->npages; i++)
	{
		memcpy(BufferGetPage(wal->pages[i].buf), wal->pages[i].image, BLCKSZ);
		MarkBufferDirty(wal->pages[i].buf);
	}
	if (needwal)
	{
		XLogBeginInsert();
		for (i = 0; i < wal->npages; i++)
		{
			FPTWalPage *p = &wal->pages[i];

			if (p->deltalen < 0)
				XLogRegisterBuffer(i, p->buf,
								   REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
			else
			{
				XLogRegisterBuffer(i, p->buf, REGBUF_STANDARD);
				XLogRegisterBufData(i, p->delta, p->deltalen);
			}
		}
		recptr = XLogInsert(RM_GENERIC_ID, 0);
		for (i = 0; i < wal->npages; i++)
			PageSetLSN(BufferGetPage(wal->pages[i].buf), recptr);
	}
	END_CRIT_SECTION();
	fpt_wal_abort(wal);			/* frees the copies */
}

/* Write the record for one page's edits.  Caller is in a critical section. */
static void
fpt_log_edits(Buffer buf, Page page, const FPTEdit *edit)
{
	uint16		head[FPT_MAX_EDITS][2];
	XLogRecPtr	recptr;
	int			i;

	Assert(CritSectionCount > 0);
	Assert(edit->n > 0 && edit->n <= FPT_MAX_EDITS);
	XLogBeginInsert();
	XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
	for (i = 0; i < edit->n; i++)
	{
		head[i][0] = edit->r[i].off;
		head[i][1] = edit->r[i].len;
		XLogRegisterBufData(0, (char *) head[i], sizeof(head[i]));
		XLogRegisterBufData(0, (char *) page + edit->r[i].off,
							edit->r[i].len);
	}
	recptr = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, recptr);
}

FPTResult
fpt_wal_insert(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e)
{
	Page		page = BufferGetPage(buf);
	FPTEdit		edit;
	FPTPlace	place;
	FPTResult	res;

	edit.n = 0;

	/* Comparing general keys may raise errors, the rest does not. */
	res = fpt_page_insert_find(&ix->layout, page, e, &place);
	if (res != FPT_OK)
		return res;
	START_CRIT_SECTION();
	fpt_page_insert_at(&ix->layout, page, e, &place, &edit);
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(rel))
		fpt_log_edits(buf, page, &edit);
	END_CRIT_SECTION();
	return FPT_OK;
}

#endif							/* FPT_GENERIC_WAL_ONLY */

/*
 * The record is btree's, of the kind that precedes the re-use of a page: it
 * names a relation and a transaction, changes nothing, and every server knows
 * it.  It comes before the generic record with the removal.  Snapshots that
 * are taken between the two are of no concern: the transactions up to the
 * horizon have committed before, so that nobody sees the rows any more.
 */
void
fpt_wal_conflict(Relation rel, Relation heapRel, BlockNumber block,
				 TransactionId horizon)
{
	FullTransactionId next;
	uint64		full;

	if (!TransactionIdIsNormal(horizon) || !RelationNeedsWAL(rel) ||
		!XLogStandbyInfoActive())
		return;

	/* The horizon is in the past, by less than half of all numbers. */
	next = ReadNextFullTransactionId();
	full = U64FromFullTransactionId(next) -
		(uint32) (XidFromFullTransactionId(next) - horizon);
	fpt_log_conflict(rel, heapRel, block, FullTransactionIdFromU64(full));
}
