/*-------------------------------------------------------------------------
 *
 * tree/prefetch.c
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
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "page/format.h"
#include "page/kernel.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/place.h"
#include "tree/prefetch.h"
#include "tree/search.h"

/* Steps of the first pause, and of the longest. */
#define FPT_FIRST_PAUSE		16
#define FPT_LAST_PAUSE		4096

/* Growth of the distance a step. */
#define FPT_LEAF_GROWTH		4

/* Unknown pages in a row after which the window is thrown away. */
#define FPT_MAX_LOST		8

/* Most leaves asked for with the first one, or one a disk: a scan may stop. */
#define FPT_START_LEAVES	8

/* How far behind the last known place a page is looked for. */
#define FPT_WINDOW_LOOK		8

/*
 * After so many neighbouring pages that are not in shared buffers the next one
 * is left to the operating system; after more where others lately were, and the
 * system finds but a few to read before it has to begin anew.
 */
#define FPT_RUN_LEAVES		2
#define FPT_RUN_MIXED		16

bool		fpt_guc_leaf_prefetch = true;
bool		fpt_guc_heap_prefetch = true;
int			fpt_guc_prefetch_distance = 0;

FPTReports *fpt_reports = NULL;

/* --- counters ------------------------------------------------------------ */

void
fpt_add_reads(FPTStripeReads *reads, const FPTPageMap *map)
{
	reads->stripes = fpt_nstripes(map);
	for (int k = 0; k < reads->stripes; k++)
		reads->n[k] += map->stripes->at[k].reads;
}

void
fpt_report_scan(Oid index, const uint64 *scan, const FPTPageMap *map)
{
	FPTReport **link = &fpt_reports->first;
	FPTReport  *r;

	Assert(fpt_reports != NULL && OidIsValid(index));
	while (*link && (*link)->index != index)
		link = &(*link)->next;
	if (*link == NULL)
	{
		*link = MemoryContextAllocZero(fpt_reports->cxt, sizeof(FPTReport));
		(*link)->index = index;
	}
	r = *link;
	r->scans++;
	fpt_add_reads(&r->reads, map);
	for (int i = 0; i < FPT_NCOUNTERS; i++)
	{
		if (i == FPT_DISTANCE_MAX)
			r->n[i] = Max(r->n[i], scan[i]);
		else
			r->n[i] += scan[i];
	}
}

/* --- distance ------------------------------------------------------------ */

void
fpt_distance_init(FPTDistance *d, int limit)
{
	Assert(limit >= 0);
	d->limit = limit;
	d->fast = limit;
	d->fixed = limit > 0 && fpt_guc_prefetch_distance > 0;
	d->now = d->fixed ? fpt_guc_prefetch_distance : 1;
	d->hits = 0;
	d->pause = 0;
	d->grow = false;
	d->nextpause = FPT_FIRST_PAUSE;
}

/*
 * See tree/prefetch.h.  Hits count to a pause only while none is on: what a
 * burst asks for after the one that began it says nothing new.
 */
void
fpt_distance_note(FPTDistance *d, bool io)
{
	Assert(d->limit > 0 && d->now >= 1);
	if (d->fixed)
		return;
	if (io)
	{
		/* A pause that an earlier prefetch of the burst began is off. */
		d->hits = 0;
		d->pause = 0;
		d->nextpause = FPT_FIRST_PAUSE;
		d->grow = true;
	}
	else if (d->pause == 0 &&
			 ++d->hits >= (d->nextpause == FPT_FIRST_PAUSE ?
						   FPT_HITS_TO_PAUSE : FPT_HITS_TO_GO_ON))
	{
		if (d->nextpause != FPT_FIRST_PAUSE)
			d->now = Max(1, d->now / 2);
		d->hits = 0;
		d->pause = d->nextpause;
		d->nextpause = Min(d->nextpause * 2, FPT_LAST_PAUSE);
	}
}

/*
 * So many reads were started, and the scan went elsewhere: go back, and after a
 * single one, with nothing to go back to, pause.  A fixed distance stays.
 */
static void
fpt_distance_wasted(FPTDistance *d, uint64 n)
{
	if (d->fixed || n == 0)
		return;
	/* What the walk has not come to is no reason to grow. */
	d->grow = false;
	if (n > 1)
	{
		d->now = (int) Max(1, Min((uint64) d->now, n) / 2);
		return;
	}
	d->now = 1;
	d->hits = 0;
	d->pause = d->nextpause;
	d->nextpause = Min(d->nextpause * 2, FPT_LAST_PAUSE);
}

void
fpt_distance_step(FPTDistance *d, int factor, bool down)
{
	if (d->grow && !d->fixed)
	{
		int			most = down ? Max(d->limit, FPT_DOWN_AHEAD) : d->limit;
		int			fast = Min(d->now * factor, down ? most : d->fast);

		d->now = Min(Max(fast, d->now + fpt_burst(d->now, false)), most);
	}
	d->grow = false;
}

/* --- window -------------------------------------------------------------- */

/*
 * See tree/prefetch.h.  What is set here outlives a window: that of
 * fpt_window_open() does not.  A rescan goes on with the distance that was
 * learnt.
 */
void
fpt_window_init(FPTWindow *w, Relation rel, const FPTPageMap *map,
				uint64 *counters)
{
	int			limit = fpt_io_concurrency(rel, map, false);
	int			disks = fpt_nstripes(map);

	Assert(InterruptHoldoffCount == 0); /* no page is locked */
	w->counters = counters;
	w->dir = 0;
	w->start = w->moststart = Min(limit, Max(FPT_START_LEAVES, disks));
	w->tried = -1;
	w->ran = 0;
	w->mixed = false;
	w->most = PG_INT32_MAX;
	fpt_distance_init(&w->dist, limit);
	if (disks > 0)
		w->dist.fast = Max(1, limit / 2);
	/* a page for each of them, to begin with */
	if (!w->dist.fixed && disks > 0)
		w->dist.now = Max(1, Min(disks, limit));
}

/* The walk has passed the pages before "to", or will never come to them. */
static void
fpt_window_pass(FPTWindow *w, int from, int to)
{
	for (int i = from; i < to; i++)
	{
		if (w->started[i])
			fpt_count(w->counters, FPT_LEAF_WASTED, 1);
	}
}

uint64
fpt_window_unused(const FPTWindow *w)
{
	uint64		n = 0;

	if (w->dir != 0)
	{
		for (int i = w->cur + 1; i < Min(w->next, w->n); i++)
			n += w->started[i];
	}
	return n;
}

void
fpt_window_done(FPTWindow *w)
{
	if (w->dir != 0)
	{
		uint64		unused = fpt_window_unused(w);

		fpt_count(w->counters, FPT_LEAF_WASTED, unused);
		if (unused > (uint64) w->came)
			fpt_distance_wasted(&w->dist, unused);
	}
	w->dir = 0;
}

void
fpt_window_leave(FPTWindow *w)
{
	fpt_window_done(w);
	Assert(w->tried <= w->start && w->start <= w->moststart);
	if (w->ran < w->tried)
		w->start = Max(w->ran, w->start / 2);
	else if (w->tried >= 0)
		w->start = Max(w->start, Min(w->ran, w->moststart));
	w->tried = -1;
	w->ran = 0;
}

/* Drop what the walk has passed. */
static void
fpt_window_compact(FPTWindow *w)
{
	int			gone = Min(w->cur, w->n);
	int			left = w->n - gone;

	memmove(w->pages, w->pages + gone, left * sizeof(w->pages[0]));
	memmove(w->started, w->started + gone, left * sizeof(w->started[0]));
	w->n = left;
	w->cur -= gone;
	w->next = Max(w->next - gone, w->cur + 1);
}

/*
 * Copy downlinks of a share-locked leaf-parent page, from loc on in the
 * window's direction, until the window has "max" pages or the range ends.  Sets
 * w->bound, where to go on, and w->end.  The page stays locked.  Raises an
 * error if it is damaged, or if comparing keys does.
 */
static void
fpt_window_copy(FPTWindow *w, Relation rel, FPTIndex *ix, Buffer buf,
				FPTLoc loc, const FPTKey *end, int max)
{
	const FPTLayout *l = &ix->layout;
	Page		page = BufferGetPage(buf);
	FPTKey		fence;
	bool		first = true;

	Assert(max <= FPT_WINDOW_MAX);
	Assert(fpt_header(page)->level == 1 && fpt_buffer_locked(buf, false));
	for (;;)
	{
		FPTEntry	e;

		if (fpt_page_get(l, page, loc, &e) != FPT_OK)
			fpt_corrupt_page(rel, l, page, fpt_bufpage(buf));
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
		w->started[w->n] = false;
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
	if (fence.cls == FPT_CLS_PINF || fence.cls == FPT_CLS_MINF ||
		(w->dir > 0 && fpt_key_cmp(l, &fence, end) > 0))
		w->end = true;
}

/*
 * The search for where a window goes on did not arrive.  It is only for
 * read-ahead, which does without the rest: the walk will pass the window's end,
 * and begin another one.  A window that has no page has no end to pass: it is
 * given up, and the next one begun some steps later, as the search may fail for
 * good, where the order of keys has changed.
 */
static void
fpt_window_fail(FPTWindow *w)
{
	w->end = true;

	/* It may be a search of this process, in a window that others share. */
	w->bound.key.search = NULL;
	fpt_count(w->counters, FPT_SKIP_LOST, 1);
	if (w->n == 0)
	{
		fpt_window_done(w);
		w->dist.pause = Max(w->dist.pause, FPT_FIRST_PAUSE);
	}
}

/*
 * Copy more of the jump-pointer array, from w->bound on; the next leaf-parent
 * is read ahead, after the lock is gone (L7).  If the search does not arrive
 * the window ends here: w->end; a new one is not in use any more: w->dir is 0.
 * Nothing is locked before or after.  May be cancelled; raises an error if a
 * page is damaged, or if comparing does.
 */
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
	max = Min(FPT_WINDOW_MAX, w->cur + 4 * w->dist.now);
	if (w->dir < 0)
		key = fpt_key_before(ix, &key);
	buf = fpt_descend_try(rel, ix, &key, 1, BUFFER_LOCK_SHARE);
	if (!BufferIsValid(buf))
	{
		fpt_window_fail(w);
		return;
	}
	if (fpt_page_find_child(&ix->layout, BufferGetPage(buf), &key, &child,
							&loc) != FPT_OK)
		fpt_corrupt_page(rel, &ix->layout, BufferGetPage(buf),
						 fpt_bufpage(buf));
	fpt_window_copy(w, rel, ix, buf, loc, end, max);
	sibling = w->dir > 0 ? fpt_header(BufferGetPage(buf))->right :
		fpt_header(BufferGetPage(buf))->left;
	UnlockReleaseBuffer(buf);
	fpt_stop_point(FPT_STOP_WINDOW_FILL);
	if (!w->end && w->n < max && sibling != FPT_NOPAGE &&
		fpt_page_exists(rel, &ix->map, sibling))
		fpt_prefetch_page(rel, &ix->map, sibling);
}

/*
 * Where in the window is this page?  Sets w->cur, and counts what was passed.
 * Gives up the window if it has no idea for some steps: w->dir is 0 then.
 * Touches no page.
 */
static void
fpt_window_find(FPTWindow *w, uint32 pageno)
{
	for (int i = w->cur; i < w->n && i < w->cur + FPT_WINDOW_LOOK; i++)
	{
		if (w->pages[i] == pageno)
		{
			fpt_window_pass(w, w->cur + 1, Min(i, w->next));
			if (i > w->cur && i < w->next)
				w->came += w->started[i];
			w->cur = i;
			w->lost = 0;
			return;
		}
	}

	/* After a range's end the walk is in the next range: begin another one. */
	if (fpt_window_ended(w))
	{
		fpt_window_done(w);
		return;
	}

	/* Split off or recycled since; the next ones may be known again. */
	fpt_count(w->counters, FPT_SKIP_LOST, 1);
	if (++w->lost > FPT_MAX_LOST)
		fpt_window_done(w);
}

/* A page to ask for, and where in the window it is. */
typedef struct FPTAsk
{
	uint32		page;			/* first, see fpt_page_order() */
	int			at;
} FPTAsk;

/*
 * Page i of the window is next: leave it alone, because it is in shared buffers
 * or because the operating system reads it ahead?  All that this sees of a scan
 * is what it reads from outside shared buffers: of pages one after the other
 * every second one is no run.  Asked once of each page, in turn: w->run and the
 * distance learn from it.  No page is read or locked.
 */
static bool
fpt_window_spares(FPTWindow *w, Relation rel, const FPTPageMap *map, int i)
{
	Assert(i > 0 && i < w->n);
	if (map->stripes != NULL)
		return false;			/* who asks for them sees it */
	if (!fpt_page_follows(map, w->pages[i - 1], w->pages[i]))
		w->run = 0;
	if (fpt_page_buffered(rel, map, w->pages[i]))
	{
		w->run /= 2;
		w->mixed = true;
		fpt_count(w->counters, FPT_LEAF_CACHED, 1);
		fpt_distance_note(&w->dist, false);
		return true;
	}
	if (w->dir < 0)
		return false;
	if (w->run >= FPT_RUN_MIXED)
		w->mixed = false;
	if (w->run++ < (w->mixed ? FPT_RUN_MIXED : FPT_RUN_LEAVES))
		return false;
	fpt_count(w->counters, FPT_SKIP_SEQUENTIAL, 1);
	return true;
}

/*
 * Ask for the first of n pages, and for those right behind it in one request
 * with it: one by one each would be a read.  Returns for how many, 1 at least.
 * No page is locked (L7).  Raises an error if a file cannot be opened.
 */
static int
fpt_window_request(FPTWindow *w, Relation rel, const FPTPageMap *map,
				   const FPTAsk *ask, int n)
{
	bool		io = true;
	int			m = 1;

	while (fpt_can_prefetch_range(rel) && m < n && m < FPT_REQUEST_MAX &&
		   fpt_page_follows(map, ask[m - 1].page, ask[m].page))
		m++;
	if (m > 1)
		fpt_prefetch_pages(rel, map, ask[0].page, ask[m - 1].page);
	else
		io = fpt_prefetch_page(rel, map, ask[0].page);
	fpt_count(w->counters, io ? FPT_LEAF_ISSUED : FPT_LEAF_CACHED, m);
	fpt_count(NULL, FPT_LEAF_REQUESTS, io);
	for (int k = 0; k < m; k++)
	{
		w->started[ask[k].at] = io;
		fpt_distance_note(&w->dist, io);
	}
	return m;
}

/*
 * Prefetch the window's pages up to "target", in the order in which they lie
 * on the disk.  Those of several disks in key order: each of them has but a few
 * of them, and the scan waits for the first one.  w->next is behind "target"
 * then.  No page is locked (L7); may be cancelled between two requests, and
 * raises an error if a file cannot be opened.
 */
static void
fpt_window_ask(FPTWindow *w, Relation rel, FPTIndex *ix, int target)
{
	FPTAsk		ask[FPT_WINDOW_MAX];
	int			n = 0;
	int			k = 0;

	Assert(w->next > 0 && target < w->n);
	fpt_count_distance(w->counters, target - w->cur);
	for (; w->next <= target; w->next++)
	{
		int			i = w->next;
		uint32		page = w->pages[i];

		/* A damaged link must not reach the buffer manager. */
		if (!fpt_page_exists(rel, &ix->map, page))
			fpt_count(w->counters, FPT_SKIP_GONE, 1);
		else if (!fpt_window_spares(w, rel, &ix->map, i))
		{
			ask[n].page = page;
			ask[n++].at = i;
		}
	}
	if (n > 1 && ix->map.stripes == NULL)
		qsort(ask, n, sizeof(FPTAsk), fpt_page_order);
	while (k < n)
	{
		/* a device that has enough to do makes who asks for more wait */
		CHECK_FOR_INTERRUPTS();
		k += fpt_window_request(w, rel, &ix->map, ask + k, n - k);
	}
}

/* Begin a window: its first page is the one that the walk is going to read. */
static void
fpt_window_open(FPTWindow *w, int dir)
{
	w->dir = dir;
	w->n = 0;
	w->cur = 0;
	w->next = 1;
	w->lost = 0;
	w->came = 0;
	w->run = 0;
	w->end = false;
}

/*
 * See tree/prefetch.h.  A window is opened only if there is something to ask
 * for; its first page is the leaf whose read has begun, which counts as one.
 */
void
fpt_window_start(FPTWindow *w, Relation rel, FPTIndex *ix, const FPTKey *at,
				 int dir, const FPTKey *end, bool all)
{
	FPTDistance *d = &w->dist;
	int			disks = fpt_nstripes(&ix->map);
	int			first = d->fixed ? d->now : all ? d->limit : w->start;

	Assert(dir == 1 || dir == -1);

	/* The descent may have begun anew, and come to another leaf. */
	fpt_window_done(w);
	fpt_count(w->counters, FPT_LEAF_ISSUED, 1);
	fpt_count(NULL, FPT_LEAF_REQUESTS, 1);
	fpt_distance_note(d, true);
	if (first > 0)
	{
		d->now = Max(d->now, first);
		fpt_window_open(w, dir);
		w->run = 1;				/* the first leaf is being read */
		fpt_key_copy(&w->bound, at);
		fpt_window_fill(w, rel, ix, end);
		first = Min(Min(first, w->most), w->n - 1);
	}
	if (first > 0)
		fpt_window_ask(w, rel, ix, first);
	if (!d->fixed && !all)
		w->tried = Max(first, 0);
	if (disks == 0)
		d->grow = false;		/* the walk has come to nothing of it yet */
	fpt_distance_step(d, FPT_LEAF_GROWTH, false);
}

/*
 * Does a walk backward go down, from page i - 1 of the window to page i, so
 * that both can be asked for in one request?
 */
static inline bool
fpt_window_down(const FPTWindow *w, Relation rel, const FPTPageMap *map, int i)
{
	Assert(i > 0);
	return w->dir < 0 && i < w->n &&
		fpt_page_follows(map, w->pages[i], w->pages[i - 1]) &&
		fpt_can_prefetch_range(rel);
}

/*
 * Which page is to be asked for last, or is w->next behind it already?  As
 * far as the distance goes, of which what is beyond the limit is for neighbours
 * of those before; so much at a time that it is worth while, or a run's rest.
 */
static int
fpt_window_target(const FPTWindow *w, Relation rel, const FPTPageMap *map)
{
	bool		down = fpt_window_down(w, rel, map, w->next);
	int			now = fpt_distance_now(&w->dist, down);
	int			target = w->cur + fpt_distance_now(&w->dist, false);

	target = Max(target, w->next - 1);
	while (target < w->cur + now && fpt_window_down(w, rel, map, target + 1))
		target++;
	if (target + 1 - w->next < fpt_burst(now, down) && target >= w->cur + now)
		return w->next - 1;
	if (w->most < target - w->cur)
		target = Max(w->cur + w->most, w->next - 1);
	return Min(target, w->n - 1);
}

/*
 * See tree/prefetch.h.  Hints only: whatever "pageno" is, and wherever the walk
 * has come from, at worst a window is thrown away and another one begun.
 */
void
fpt_window_step(FPTWindow *w, Relation rel, FPTIndex *ix, const FPTKey *at,
				uint32 pageno, int dir, const FPTKey *end)
{
	FPTDistance *d = &w->dist;
	bool		down;
	int			target;

	Assert(dir == 1 || dir == -1);
	w->ran++;
	if (!fpt_guc_leaf_prefetch)
	{
		fpt_count(w->counters, FPT_SKIP_OFF, 1);
		return;
	}
	if (d->limit == 0)
	{
		fpt_count(w->counters, FPT_SKIP_LIMIT, 1);
		return;
	}
	if (w->dir != dir)
		fpt_window_done(w);
	else if (w->n > 0)
		fpt_window_find(w, pageno);
	if (d->pause > 0)
	{
		d->pause--;
		fpt_count(w->counters, FPT_SKIP_PAUSE, 1);

		/* The window is soon behind the walk, which begins another then. */
		if (w->dir != 0 && w->cur >= w->n - 1)
			fpt_window_done(w);
		return;
	}
	if (w->most == 0)
	{
		fpt_count(w->counters, FPT_SKIP_SHORT, 1);
		return;
	}
	if (w->dir == 0)
	{
		fpt_window_open(w, dir);
		fpt_key_copy(&w->bound, at);
	}
	Assert(w->n >= 0 && w->n <= FPT_WINDOW_MAX);
	Assert(w->cur >= 0);
	if (w->n - w->cur - 1 < d->now && !w->end)
		fpt_window_fill(w, rel, ix, end);
	if (w->n - w->cur - 1 < 1 && !w->end)
		fpt_window_fill(w, rel, ix, end);	/* was the parent's last leaf */
	if (w->dir == 0)
		return;
	if (w->next <= w->cur)
	{
		w->next = w->cur + 1;
		w->run = 0;				/* of those passed by nothing is known */
	}
	down = fpt_window_down(w, rel, &ix->map, w->next);
	target = fpt_window_target(w, rel, &ix->map);
	if (w->next >= w->n)
		fpt_count(w->counters, FPT_SKIP_END, 1);
	else if (target >= w->next)
		fpt_window_ask(w, rel, ix, target);
	fpt_distance_step(d, FPT_LEAF_GROWTH, down);
}
