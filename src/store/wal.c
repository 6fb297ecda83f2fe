/*-------------------------------------------------------------------------
 *
 * store/wal.c
 *	  The one place that changes pages in shared buffers and writes WAL.
 *
 * All records are of core's generic resource manager, so that a server without
 * this library replays them.  They are written by hand, in the form that
 * generic_redo() reads: for each block a sequence of {uint16 offset, uint16
 * length, bytes}, or a full image.  The official functions copy each page twice
 * and compare it byte by byte, which for an insertion of fourteen bytes costs
 * twenty times as much; and they log all of a node taken from the page's hole,
 * of which we know that it was zero (see fpt_set_nnodes() in page/modify.c).
 *
 * fpt_wal_insert() changes a page in place and knows which bytes it changed.
 * Everything else changes private copies, which fpt_wal_finish() compares with
 * the pages.
 *
 * Rules (see src/README.md, "WAL"):
 *	- pd_lower .. pd_upper is zero, on disk as well, hints apart: a replay
 *	  forgets them, and what comes to lie where they were is logged in full;
 *	- a page that may not exist at replay, or whose old contents do not
 *	  matter, is logged as a full image, or, in a split, as one without its
 *	  nodes, in a record before;
 *	- at most four pages go into a record.
 *
 * Compiled with FPT_GENERIC_WAL_ONLY, all of it uses the official functions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"

#include "page/check.h"
#include "page/format.h"
#include "page/hints.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "server/compat.h"
#include "store/place.h"
#include "store/wal.h"

#ifdef FPT_GENERIC_WAL_ONLY

FPTWal *
fpt_wal_start(Relation rel, const FPTLayout *l)
{
	return GenericXLogStart(rel);
}

Page
fpt_wal_page(FPTWal *wal, Buffer buf, bool blank)
{
	return GenericXLogRegisterBuffer(wal, buf,
									 blank ? GENERIC_XLOG_FULL_IMAGE : 0);
}

Page
fpt_wal_new(FPTWal *wal, Buffer buf)
{
	return fpt_wal_page(wal, buf, true);
}

void
fpt_wal_changed(FPTWal *wal, Buffer buf, const FPTChanges *changed)
{
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

/* Bytes of a record with a page's image besides the page, and of alignment. */
#define FPT_IMAGE_RECORD	(SizeOfXLogRecord + 4 + 12 + 4 + 5 + 7)

StaticAssertDecl(FPT_FRAGMENT_HEAD == FPT_EDIT_HEADER,
				 "the page kernel counts bytes of records, too");

/*
 * Bytes that are compared by one call of memcmp(), which is fast; of those that
 * differ somewhere, the lines that do are looked for.
 */
#define FPT_SAME_BLOCK		256
#define FPT_SAME_LINE		64

/*
 * A page that a record changes.  The bytes of its delta are fragments, in
 * ascending order, as generic_redo() reads them.
 */
typedef struct FPTWalPage
{
	Buffer		buf;
	bool		blank;			/* log a full image */
	const FPTChanges *changed;	/* where it may differ, or NULL: anywhere */
	int			deltalen;		/* bytes of delta; -1: log a full image */
	char	   *image;			/* BLCKSZ: the page as it shall be */
	char	   *delta;			/* BLCKSZ */
	char	   *bare;			/* of a new page, BLCKSZ: what a record before
								 * makes of it, or NULL */
} FPTWalPage;

struct GenericXLogState
{
	Relation	rel;
	const FPTLayout *l;			/* of the index, the caller's */
	int			npages;
	FPTWalPage	pages[XLR_NORMAL_MAX_BLOCK_ID];
};

FPTWal *
fpt_wal_start(Relation rel, const FPTLayout *l)
{
	FPTWal	   *wal = (FPTWal *) palloc(sizeof(FPTWal));

	Assert(CritSectionCount == 0);
	wal->rel = rel;
	wal->l = l;
	wal->npages = 0;
	return wal;
}

/*
 * See store/wal.h.  Raises an error about a fifth page (W2), and for want of
 * memory: nothing has been changed by then.
 */
Page
fpt_wal_page(FPTWal *wal, Buffer buf, bool blank)
{
	FPTWalPage *p;

	Assert(fpt_buffer_locked(buf, true));
	for (int i = 0; i < wal->npages; i++)
	{
		if (wal->pages[i].buf == buf)
		{
			Assert(wal->pages[i].blank || !blank);
			return (Page) wal->pages[i].image;
		}
	}
	if (wal->npages >= XLR_NORMAL_MAX_BLOCK_ID)	/* W2 */
		elog(ERROR, "too many pages for one WAL record");
	p = &wal->pages[wal->npages++];
	p->buf = buf;
	p->blank = blank;
	p->changed = NULL;
	p->image = palloc(2 * BLCKSZ);
	p->delta = p->image + BLCKSZ;
	p->bare = NULL;
	memcpy(p->image, BufferGetPage(buf), BLCKSZ);
	return (Page) p->image;
}

Page
fpt_wal_new(FPTWal *wal, Buffer buf)
{
	Page		image = fpt_wal_page(wal, buf, true);
	FPTWalPage *p = &wal->pages[wal->npages - 1];

	Assert(p->image == (char *) image && p->buf == buf);
	p->bare = palloc(BLCKSZ);
	return image;
}

/* See store/wal.h.  The page has been asked for before. */
void
fpt_wal_changed(FPTWal *wal, Buffer buf, const FPTChanges *changed)
{
	int			i = 0;

	while (i < wal->npages && wal->pages[i].buf != buf)
		i++;
	Assert(i < wal->npages);
	wal->pages[i].changed = changed;
}

void
fpt_wal_abort(FPTWal *wal)
{
	for (int i = 0; i < wal->npages; i++)
	{
		pfree(wal->pages[i].image);
		if (wal->pages[i].bare != NULL)
			pfree(wal->pages[i].bare);
	}
	pfree(wal);
}

/*
 * Bit i of the result: do the i'th of 8 bytes differ?
 *
 * The multiplication puts bits 0, 8, .. 56 side by side: its constant has a one
 * where each of them, moved up, comes to bit 56 to 63, and no two sums meet.
 */
static inline uint32
fpt_differ8(const char *a, const char *b)
{
#ifdef WORDS_BIGENDIAN
	uint32		bits = 0;

	for (int i = 0; i < (int) sizeof(uint64); i++)
		bits |= (uint32) (a[i] != b[i]) << i;
	return bits;
#else
	const uint64 low7 = UINT64CONST(0x7f7f7f7f7f7f7f7f);
	uint64		x,
				y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	x ^= y;
	if (x == 0)
		return 0;

	/* the highest bit of each byte that is not zero, then those side by side */
	x = ((x & low7) + low7) | x;
	x = (x >> 7) & UINT64CONST(0x0101010101010101);
	return (uint32) ((x * UINT64CONST(0x0102040810204080)) >> 56);
#endif
}

/*
 * Append a fragment of the bytes from .. to - 1 to a page's delta.  Returns
 * false if that grows too large to be worth it: beyond a page, which an image
 * is.  The delta is of no use then.
 */
static bool
fpt_delta_add(FPTWalPage *p, int from, int to)
{
	uint16		head[2];

	Assert(from >= 0 && from < to && to <= BLCKSZ);
	Assert(p->deltalen >= 0);
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
 * Bytes at .. at + n - 1 differ: put them into the fragment *start .. *end - 1,
 * or into a new one, if they are too far from its end: a new one's head is as
 * long as the bytes it saves.  *end is 0 before the first.  Returns false if
 * the delta grows too large.
 */
static inline bool
fpt_delta_grow(FPTWalPage *p, int *start, int *end, int at, int n)
{
	Assert(n > 0 && at >= *end);	/* they come in ascending order */
	if (*end == 0 || at - *end >= (int) FPT_FRAGMENT_HEAD)
	{
		if (*end != 0 && !fpt_delta_add(p, *start, *end))
			return false;
		*start = at;
	}
	*end = at + n;
	return true;
}

/* Are FPT_SAME_LINE bytes equal?  Too few for a call. */
static inline bool
fpt_same_line(const char *a, const char *b)
{
	uint64		differ = 0;

	for (int i = 0; i < FPT_SAME_LINE; i += sizeof(uint64))
	{
		uint64		x,
					y;

		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		differ |= x ^ y;
	}
	return differ == 0;
}

/*
 * Append what of the bytes from .. to - 1 differs from "old", the page as it
 * will be found at replay.  False: the delta grows too large to be worth it.
 * Compares 256 bytes at a time where they are the same, then 64, then eight.
 */
static bool
fpt_delta_range(FPTWalPage *p, const char *old, int from, int to)
{
	const char *image = p->image;
	int			start = 0;
	int			end = 0;
	int			i = from;

	Assert(from >= 0 && from <= to && to <= BLCKSZ);
	while (i < to)
	{
		uint32		bits;
		int			n = Min((int) sizeof(uint64), to - i);

		if (i % FPT_SAME_LINE == 0)
		{
			if (i % FPT_SAME_BLOCK == 0 && i + FPT_SAME_BLOCK <= to &&
				memcmp(image + i, old + i, FPT_SAME_BLOCK) == 0)
			{
				i += FPT_SAME_BLOCK;
				continue;
			}
			if (i + FPT_SAME_LINE <= to &&
				fpt_same_line(image + i, old + i))
			{
				i += FPT_SAME_LINE;
				continue;
			}
		}

		/* bytes up to where words begin, words, and the bytes that are left */
		if (i % sizeof(uint64) != 0 || n < (int) sizeof(uint64))
		{
			bits = image[i] != old[i];
			n = 1;
		}
		else
			bits = fpt_differ8(image + i, old + i);
		if (bits == 0xff)
		{
			if (!fpt_delta_grow(p, &start, &end, i, n))
				return false;
			bits = 0;
		}
		for (; bits != 0; bits &= bits - 1)
		{
			if (!fpt_delta_grow(p, &start, &end,
								i + pg_rightmost_one_pos32(bits), 1))
				return false;
		}
		i += n;
	}
	return end == 0 || fpt_delta_add(p, start, end);
}

/*
 * The same; the old page's hole was zero, but for hints (W4, W5): whether there
 * are any where the replay begins nobody knows, so these bytes are logged
 * whatever they are.  Numbers of the old page's header are brought within from
 * ..  to: the new page may have another hole.
 */
static bool
fpt_delta_part(FPTWalPage *p, const FPTLayout *l, char *old, int from, int to)
{
	static const char zeroes[BLCKSZ] = {0};
	int			lower = Min(Max(((PageHeader) old)->pd_lower, from), to);
	int			upper = Min(Max(((PageHeader) old)->pd_upper, lower), to);
	int			hfrom;
	int			hto;

	Assert(from >= 0 && from <= to && to <= BLCKSZ);
	fpt_page_hint_area(l, old, &hfrom, &hto);
	hfrom = Min(Max(hfrom, lower), upper);
	hto = Min(Max(hto, hfrom), upper);
	return fpt_delta_range(p, old, from, lower) &&
		fpt_delta_range(p, zeroes, lower, hfrom) &&
		(hfrom == hto || fpt_delta_add(p, hfrom, hto)) &&
		fpt_delta_range(p, zeroes, hto, upper) &&
		fpt_delta_range(p, old, upper, to);
}

/* Bytes of a page's image, whose hole is left out. */
static inline int
fpt_image_bytes(const char *image)
{
	return ((PageHeader) image)->pd_lower +
		BLCKSZ - ((PageHeader) image)->pd_upper;
}

/*
 * Has nothing of a page changed but in the ranges that were told (true), the
 * hole left out?  "old": the page in shared buffers, locked and not yet
 * changed.
 */
static pg_attribute_unused() bool
fpt_same_outside(const FPTWalPage *p, const char *old)
{
	PGAlignedBlock copy;
	int			lower = ((PageHeader) old)->pd_lower;
	int			upper = ((PageHeader) old)->pd_upper;

	memcpy(copy.data, old, BLCKSZ);
	for (int i = 0; i < p->changed->n; i++)
	{
		int			off = p->changed->r[i].off;
		int			len = p->changed->r[i].len;

		if (off < lower ? off + len > lower : off < upper)
			return false;
		memcpy(copy.data + off, p->image + off, len);
	}
	return memcmp(copy.data, p->image, lower) == 0 &&
		memcmp(copy.data + upper, p->image + upper, BLCKSZ - upper) == 0;
}

/*
 * Append what differs from "old", the page in shared buffers, in the ranges of
 * which we were told.  False: the delta grows too large to be worth it.
 */
static bool
fpt_delta_known(FPTWalPage *p, const char *old)
{
	const FPTChanges *c = p->changed;

	Assert(fpt_same_outside(p, old));
	for (int i = 0; i < c->n; i++)
	{
		int			from = c->r[i].off;
		int			to = from + c->r[i].len;

		while (from < to && p->image[from] == old[from])
			from++;
		while (from < to && p->image[to - 1] == old[to - 1])
			to--;

		/* in so few bytes there are not two fragments */
		if (to - from <= (int) FPT_FRAGMENT_HEAD + 2)
		{
			if (from < to && !fpt_delta_add(p, from, to))
				return false;
		}
		else if (!fpt_delta_range(p, old, from, to))
			return false;
	}
	return true;
}

/*
 * Compute what to log of a page that is "old" where it is replayed.  False: an
 * image is not longer; a delta takes "more" bytes besides.
 */
static bool
fpt_delta_from(FPTWalPage *p, const FPTLayout *l, char *old, int more)
{
	int			lower = ((PageHeader) p->image)->pd_lower;
	int			upper = ((PageHeader) p->image)->pd_upper;
	bool		known = p->changed != NULL && p->changed->n >= 0;

	Assert(!known || !p->blank);
	Assert(lower <= upper && upper <= FPT_SPECIAL_OFFSET);	/* W7 */
	p->deltalen = 0;
	if ((known ? !fpt_delta_known(p, old) :
		 (!fpt_delta_part(p, l, old, 0, lower) ||
		  !fpt_delta_part(p, l, old, upper, BLCKSZ))) ||
		p->deltalen + more >= fpt_image_bytes(p->image))
	{
		p->deltalen = -1;
		return false;
	}
	Assert(p->deltalen <= BLCKSZ);
	return true;
}

/*
 * Compute what to log of a page: all of it if it is blank (W3), or if that is
 * shorter than its delta.  A new page has a record of its own before, with an
 * image that lacks nodes (W9), if these have so many free slots that a delta
 * and that record are shorter.  Sets p->deltalen, and what is at p->bare.
 * Reads the page in shared buffers, which is locked and not yet changed.
 */
static void
fpt_delta(FPTWalPage *p, const FPTLayout *l)
{
	Assert(BufferIsValid(p->buf));
	p->deltalen = -1;
	if (!p->blank)
		(void) fpt_delta_from(p, l, (char *) BufferGetPage(p->buf), 0);
	else if (p->bare != NULL)
	{
		memcpy(p->bare, p->image, BLCKSZ);
		fpt_page_strip(l, p->bare);

		/* half of a damaged page, as fpt_wal_verify() has it, is damaged */
		Assert(fpt_page_check_form(l, p->bare, fpt_special(p->bare)->pageno,
								   NULL) == NULL ||
			   fpt_page_check_form(l, p->image, fpt_special(p->bare)->pageno,
								   NULL) != NULL);
		(void) fpt_delta_from(p, l, p->bare,
							  FPT_IMAGE_RECORD + fpt_image_bytes(p->bare));
	}
}

/*
 * Make a new page the one that its delta begins with, in a record and a
 * critical section of its own (W1, W9).  It is locked exclusively, and stays
 * so.
 */
static void
fpt_log_bare(FPTWalPage *p)
{
	Page		page = BufferGetPage(p->buf);
	XLogRecPtr	recptr;

	Assert(p->blank && p->bare != NULL && p->deltalen >= 0);
	Assert(fpt_buffer_locked(p->buf, true));
	START_CRIT_SECTION();
	memcpy(page, p->bare, BLCKSZ);
	MarkBufferDirty(p->buf);
	XLogBeginInsert();
	XLogRegisterBuffer(0, p->buf, REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
	recptr = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, recptr);
	END_CRIT_SECTION();

	/* whether the page's next record needs an image, it tells by that */
	PageSetLSN((Page) p->image, recptr);
}

#ifdef USE_ASSERT_CHECKING

/* Insertions of which one is checked: a check costs as much as a hundred. */
#define FPT_WAL_CHECKED		16

/*
 * A record is about to be made, in builds with assertions: of sound pages it
 * must make sound ones.  Of others it need not, nor can it: half of a damaged
 * page is damaged.  Keys are not compared: that runs users' code, which may
 * fail, and a page that was given out for this record would be lost; nor does a
 * changed comparison function make any page unsound.  PANIC if it does not.
 */
static void
fpt_wal_verify(const FPTWal *wal)
{
	FPTFault	fault;
	uint32		pageno;
	int			i;

	for (i = 0; i < wal->npages; i++)
	{
		const FPTWalPage *p = &wal->pages[i];

		pageno = p->blank ? fpt_special(p->image)->pageno : fpt_bufpage(p->buf);
		if (fpt_page_check_form(wal->l, p->image, pageno, &fault) != NULL)
			break;
	}
	if (i >= wal->npages)
		return;
	for (i = 0; i < wal->npages; i++)
	{
		Page		was = BufferGetPage(wal->pages[i].buf);

		if (!PageIsNew(was) &&
			fpt_page_check_form(wal->l, was, fpt_special(was)->pageno,
								NULL) != NULL)
			return;
	}
	elog(PANIC, "WAL record of page %u: %s (%s is " UINT64_FORMAT
		 ", node %d, entry %d)",
		 pageno, fault.what, fault.field, fault.value, fault.kid, fault.rank);
}

#endif							/* USE_ASSERT_CHECKING */

/*
 * All pages are locked exclusively, and stay so.  Whatever may raise, for want
 * of memory, comes before the critical section (W1).  Frees the copies.
 * Unlogged indexes are changed in the same way, without the record.
 */
void
fpt_wal_finish(FPTWal *wal)
{
	bool		needwal = RelationNeedsWAL(wal->rel);
	XLogRecPtr	recptr = InvalidXLogRecPtr;

	Assert(wal->npages > 0 && wal->npages <= XLR_NORMAL_MAX_BLOCK_ID);
#ifdef USE_ASSERT_CHECKING
	fpt_wal_verify(wal);
#endif
	for (int i = 0; needwal && i < wal->npages; i++)
		fpt_delta(&wal->pages[i], wal->l);
	for (int i = 0; needwal && i < wal->npages; i++)
	{
		if (wal->pages[i].blank && wal->pages[i].deltalen >= 0)
			fpt_log_bare(&wal->pages[i]);
	}

	START_CRIT_SECTION();
	for (int i = 0; i < wal->npages; i++)
	{
		Assert(fpt_buffer_locked(wal->pages[i].buf, true));
		memcpy(BufferGetPage(wal->pages[i].buf), wal->pages[i].image, BLCKSZ);
		MarkBufferDirty(wal->pages[i].buf);
	}
	if (needwal)
	{
		XLogBeginInsert();
		for (int i = 0; i < wal->npages; i++)
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
		for (int i = 0; i < wal->npages; i++)
			PageSetLSN(BufferGetPage(wal->pages[i].buf), recptr);
	}
	END_CRIT_SECTION();
	fpt_wal_abort(wal);			/* frees the copies */
}

/*
 * Edits of so many bytes in all, or fewer, are given to core in one piece: it
 * takes the CRC of each piece, and copies it, by itself.
 */
#define FPT_SHORT_EDITS		128

/*
 * Write the record for one page's edits (W6: the bytes as they are now).
 * Caller is in the critical section that changed them (W1).  The page is locked
 * exclusively, and gets the record's LSN.  XLogRegisterBufData() keeps pointers
 * only, hence what is on the stack of this function.
 */
static void
fpt_log_edits(Buffer buf, Page page, const FPTEdit *edit)
{
	uint16		head[FPT_MAX_EDITS][2];
	char		piece[FPT_SHORT_EDITS];
	Size		bytes = edit->n * sizeof(head[0]);
	char	   *to = piece;
	XLogRecPtr	recptr;

	Assert(CritSectionCount > 0);
	Assert(edit->n > 0 && edit->n <= FPT_MAX_EDITS);
	Assert(fpt_buffer_locked(buf, true));
	XLogBeginInsert();
	XLogRegisterBuffer(0, buf, REGBUF_STANDARD);
	for (int i = 0; i < edit->n; i++)
		bytes += edit->r[i].len;
	for (int i = 0; i < edit->n; i++)
	{
		char	   *from = (char *) page + edit->r[i].off;
		Size		len = edit->r[i].len;

		Assert(edit->r[i].off + len <= BLCKSZ);
		head[i][0] = edit->r[i].off;
		head[i][1] = edit->r[i].len;
		if (bytes > sizeof(piece))
		{
			XLogRegisterBufData(0, (char *) head[i], sizeof(head[i]));
			XLogRegisterBufData(0, from, len);
			continue;
		}
		memcpy(to, head[i], sizeof(head[i]));
		memcpy(to + sizeof(head[i]), from, len);
		to += sizeof(head[i]) + len;
	}
	if (to > piece)
		XLogRegisterBufData(0, piece, to - piece);
	recptr = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, recptr);
}

#ifdef USE_ASSERT_CHECKING

/* The same of an insertion: what it will make of the page, in a copy. */
static void
fpt_wal_verify_insert(Relation rel, FPTIndex *ix, Buffer buf,
					  const FPTEntry *e, const FPTPlace *place)
{
	static int	ninserts = 0;
	FPTWal	   *wal;
	Page		copy;
	FPTPlace	p = *place;
	FPTEdit		edit = {0};

	if (++ninserts % FPT_WAL_CHECKED != 0)
		return;
	wal = fpt_wal_start(rel, &ix->layout);
	copy = fpt_wal_page(wal, buf, false);
	fpt_place_move(&p, (char *) BufferGetPage(buf), copy);
	fpt_page_insert_at(&ix->layout, copy, e, &p, &edit);
	fpt_wal_verify(wal);
	fpt_wal_abort(wal);
}

#endif							/* USE_ASSERT_CHECKING */

/*
 * See store/wal.h.  Once the place is found nothing can fail, and the place is
 * good as the page has not changed since (L12).
 */
FPTResult
fpt_wal_insert(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e)
{
	Page		page = BufferGetPage(buf);
	FPTEdit		edit;
	FPTPlace	place;
	FPTLocal	local;
	FPTResult	res;

	Assert(CritSectionCount == 0);
	Assert(fpt_buffer_locked(buf, true));
	edit.n = 0;

	/* Comparing general keys may raise errors, the rest does not. */
	res = fpt_page_insert_find(&ix->layout, page, &e, &local, &place);
	if (res != FPT_OK)
		return res;
#ifdef USE_ASSERT_CHECKING
	fpt_wal_verify_insert(rel, ix, buf, e, &place);
#endif
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
 * What this process knows of the last checkpoint, or of full_page_writes, may
 * have changed when the record is made: then the guess was wrong, and no harm
 * is done.
 */
bool
fpt_wal_image_due(Relation rel, Buffer buf)
{
	Assert(fpt_buffer_locked(buf, false));
	return RelationNeedsWAL(rel) && XLogCheckBufferNeedsBackup(buf);
}

/*
 * The record is btree's, of the kind that precedes the re-use of a page: it
 * names a relation and a transaction, changes nothing, and every server knows
 * it.  It comes before the generic record with the removal.  Snapshots that are
 * taken between the two are of no concern: the transactions up to the horizon
 * have committed before, so that nobody sees the rows any more.
 *
 * The caller has the leaf locked, exclusively.  The table is asked only whether
 * logical decoding wants its rows.
 */
void
fpt_wal_conflict(Relation rel, Relation heapRel, uint32 pageno,
				 TransactionId horizon)
{
	xl_btree_reuse_page rec;
	FullTransactionId next;
	FullTransactionId full;
	uint32		past;

	Assert(CritSectionCount == 0);
	if (!TransactionIdIsNormal(horizon) || !RelationNeedsWAL(rel) ||
		!XLogStandbyInfoActive())
		return;

	/* The horizon is in the past, by less than half of all numbers. */
	next = ReadNextFullTransactionId();
	past = (uint32) (XidFromFullTransactionId(next) - horizon);
	full = FullTransactionIdFromU64(U64FromFullTransactionId(next) - past);
	Assert(FullTransactionIdIsNormal(full));
	memset(&rec, 0, sizeof(rec));
	fpt_fill_conflict(&rec, rel, heapRel, full);
	rec.block = pageno;
	XLogBeginInsert();
	XLogRegisterData((char *) &rec, SizeOfBtreeReusePage);
	XLogInsert(RM_BTREE_ID, XLOG_BTREE_REUSE_PAGE);
}
