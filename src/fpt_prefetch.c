/*-------------------------------------------------------------------------
 *
 * fpt_prefetch.c
 *	  Read-ahead of leaf pages along the jump-pointer array.
 *
 * The leaf-parent pages, linked to their siblings, are an array of pointers to
 * all leaves in key order (fpB+-tree paper, section 2.2; pB+-tree paper,
 * section 3.4).  A walk along the leaves copies a piece of it into a window
 * and asks for the pages that come next, never beyond the end of its range:
 * the separators tell where that is.
 *
 * A page number in a window is a hint.  The walk follows its own links and
 * certifies what it reads; a leaf that was split, unlinked or re-used since the
 * window was copied costs one useless prefetch.
 *
 *-------------------------------------------------------------------------
 */
#include "fpt_prefetch.h"

#define FPT_FIRST_PAUSE		16
#define FPT_LAST_PAUSE		4096

/* Growth of the distance a step. */
#define FPT_LEAF_GROWTH		4

/* Unknown pages in a row after which the window is thrown away. */
#define FPT_MAX_LOST		8

/* How far behind the last known place a page is looked for. */
#define FPT_WINDOW_LOOK		8

bool		fpt_guc_leaf_prefetch = true;
bool		fpt_guc_heap_prefetch = true;
int			fpt_guc_prefetch_distance = 0;

FPTPrefetchStats fpt_prefetch_stats;

/* --- distance ----------------------------------------------------------------- */

void
fpt_distance_init(FPTDistance *d, int limit)
{
	d->limit = limit;
	d->fixed = limit > 0 && fpt_guc_prefetch_distance > 0;
	d->now = d->fixed ? fpt_guc_prefetch_distance : 1;
	d->hits = 0;
	d->pause = 0;
	d->grow = false;
	d->nextpause = FPT_FIRST_PAUSE;
}

void
fpt_distance_note(FPTDistance *d, bool io)
{
	Assert(d->limit > 0 && d->now >= 1);
	if (d->fixed)
		return;
	if (io)
	{
		d->hits = 0;
		d->nextpause = FPT_FIRST_PAUSE;
		d->grow = true;
	}
	else if (++d->hits >= (d->nextpause == FPT_FIRST_PAUSE ?
						   FPT_HITS_TO_PAUSE : FPT_HITS_TO_GO_ON))
	{
		if (d->nextpause != FPT_FIRST_PAUSE)
			d->now = Max(1, d->now / 2);
		d->hits = 0;
		d->pause = d->nextpause;
		d->nextpause = Min(d->nextpause * 2, FPT_LAST_PAUSE);
	}
}

void
fpt_distance_step(FPTDistance *d, int factor)
{
	if (d->grow && !d->fixed)
	{
		d->now = Min(d->now * factor, d->limit);
		if (d->now > (int) fpt_prefetch_stats.distance_max)
			fpt_prefetch_stats.distance_max = d->now;
	}
	d->grow = false;
}

bool
fpt_prefetch(Relation rel, BlockNumber blk)
{
	PrefetchBufferResult r = PrefetchBuffer(rel, MAIN_FORKNUM, blk);

	return r.initiated_io;
}

/* --- window --------------------------------------------------------------------- */

void
fpt_window_begin(FPTWindow *w, const FPTKey *from, int dir, int limit)
{
	w->dir = dir;
	w->n = 0;
	w->cur = 0;
	w->next = 1;
	w->lost = 0;
	w->end = false;
	fpt_key_copy(&w->bound, from);
	fpt_distance_init(&w->dist, limit);
}

void
fpt_window_done(FPTWindow *w)
{
	if (w->dir != 0 && w->next > w->cur + 1)
		fpt_prefetch_stats.leaf_wasted += w->next - w->cur - 1;
	w->dir = 0;
}

/* Drop what the walk has passed. */
static void
fpt_window_compact(FPTWindow *w)
{
	int			gone = Min(w->cur, w->n);

	memmove(w->pages, w->pages + gone, (w->n - gone) * sizeof(w->pages[0]));
	w->n -= gone;
	w->cur -= gone;
	w->next = Max(w->next - gone, w->cur + 1);
}

/*
 * Copy downlinks of a share-locked leaf-parent page, from loc on in the
 * window's direction.  Sets w->bound and w->end.
 */
static void
fpt_window_copy(FPTWindow *w, Relation rel, FPTIndex *ix, Buffer buf,
				FPTLoc loc, const FPTKey *end, int max)
{
	const FPTLayout *l = &ix->layout;
	Page		page = BufferGetPage(buf);
	FPTKey		fence;
	bool		first = true;

	for (;;)
	{
		FPTEntry	e;

		if (fpt_page_get(l, page, loc, &e) != FPT_OK)
			fpt_corrupt(rel, fpt_bufpage(buf), "The page contradicts itself");
		if (w->dir > 0 && !first)
		{
			/* The separator is the child's lowest key. */
			fpt_key_copy(&w->bound, &e.key);
			if (fpt_key_cmp(l, &e.key, end) > 0)
			{
				w->end = true;
				return;
			}
		}
		if (w->n >= max)
			return;
		w->pages[w->n++] = e.down;
		first = false;
		if (w->dir < 0 && (loc.kid > 0 || loc.rank > 0 ||
						   fpt_page_low(l, page).cls != FPT_CLS_MINF))
		{
			/* (the first one of a leftmost page is no key) */
			fpt_key_copy(&w->bound, &e.key);
			if (fpt_key_cmp(l, &e.key, end) <= 0)
			{
				w->end = true;
				return;
			}
		}
		if (!fpt_page_step(l, page, &loc, w->dir))
			break;
	}
	fence = w->dir > 0 ? fpt_page_high(l, page) : fpt_page_low(l, page);
	fpt_key_copy(&w->bound, &fence);
	if (fence.cls == FPT_CLS_PINF || fence.cls == FPT_CLS_MINF)
		w->end = true;
}

/* Copy more of the jump-pointer array; the next leaf-parent is read ahead. */
static void
fpt_window_fill(FPTWindow *w, Relation rel, FPTIndex *ix, const FPTKey *end)
{
	FPTKeyBuf	from;
	FPTKey		key;
	uint32		child;
	uint32		sibling;
	FPTLoc		loc;
	Buffer		buf;
	int			max;

	Assert(!w->end);
	Assert(w->cur >= 0 && w->cur <= w->n);
	fpt_window_compact(w);
	fpt_key_copy(&from, &w->bound.key);
	key = from.key;
	max = Min(FPT_WINDOW_MAX, Max(16, w->cur + 4 * w->dist.now));
	if (w->dir < 0)
		key = fpt_key_before(ix, &key);
	buf = fpt_descend(rel, ix, &key, 1, BUFFER_LOCK_SHARE, NULL);
	if (fpt_page_find_child(&ix->layout, BufferGetPage(buf), &key, &child,
							&loc) != FPT_OK)
		fpt_corrupt(rel, fpt_bufpage(buf), "The page contradicts itself");
	fpt_window_copy(w, rel, ix, buf, loc, end, max);
	sibling = w->dir > 0 ? fpt_header(BufferGetPage(buf))->right :
		fpt_header(BufferGetPage(buf))->left;
	UnlockReleaseBuffer(buf);
	if (!w->end && w->n < max && sibling != FPT_NOPAGE && sibling < ix->npages)
		fpt_prefetch(rel, sibling);
}

/* Where in the window is this page? */
static void
fpt_window_find(FPTWindow *w, uint32 pageno)
{
	int			i;

	for (i = w->cur; i < w->n && i < w->cur + FPT_WINDOW_LOOK; i++)
	{
		if (w->pages[i] == pageno)
		{
			w->cur = i;
			w->lost = 0;
			return;
		}
	}

	/* Split off or recycled since; the next ones may be known again. */
	w->lost++;
}

void
fpt_window_step(FPTWindow *w, Relation rel, FPTIndex *ix, uint32 pageno,
				const FPTKey *end)
{
	FPTDistance *d = &w->dist;
	int			target;

	Assert(w->dir == 1 || w->dir == -1);
	Assert(w->n >= 0 && w->n <= FPT_WINDOW_MAX);
	Assert(w->cur >= 0 && d->limit > 0);
	if (w->n > 0)
		fpt_window_find(w, pageno);
	if (w->lost > FPT_MAX_LOST)
	{
		fpt_window_done(w);
		return;
	}
	if (d->pause > 0)
	{
		d->pause--;
		fpt_prefetch_stats.skip_pause++;
		return;
	}
	if (w->n - w->cur - 1 < d->now && !w->end)
		fpt_window_fill(w, rel, ix, end);
	w->next = Max(w->next, w->cur + 1);
	target = Min(w->cur + d->now, w->n - 1);
	if (w->next >= w->n)
		fpt_prefetch_stats.skip_end++;
	while (w->next <= target && d->pause == 0)
	{
		int			i = w->next++;
		uint32		page = w->pages[i];
		bool		io;

		/* Runs of consecutive pages are the operating system's strength. */
		if (w->dir > 0 && i > 1 && page == w->pages[i - 1] + 1 &&
			page == w->pages[i - 2] + 2)
		{
			fpt_prefetch_stats.skip_sequential++;
			continue;
		}

		/* A damaged link must not reach the buffer manager. */
		if (page >= ix->npages && page >= (ix->npages = fpt_npages(rel)))
			continue;
		io = fpt_prefetch(rel, page);
		if (io)
			fpt_prefetch_stats.leaf_issued++;
		else
			fpt_prefetch_stats.leaf_cached++;
		fpt_distance_note(d, io);
	}
	fpt_distance_step(d, FPT_LEAF_GROWTH);
}
