/*-------------------------------------------------------------------------
 *
 * tree/sweep.c
 *	  Read-ahead of VACUUM and the checks, which read whole levels.
 *
 * Such a walk goes along a level in key order, and in an aged index that is
 * anywhere in the file.  Asked for one by one each page is a read, where a walk
 * through the file from front to back has the operating system read sixteen at
 * a time.  So the numbers of the pages to come are copied from the level above,
 * sorted, and asked for in the order in which they lie in the file, neighbours
 * in one request, before the walk gets there.
 *
 * How many that are, a piece, depends on where they lie.  A few hundred will do
 * where the order of the keys is nearly that of the file.  Otherwise the piece
 * grows until its pages lie close together, in the end to all that the caches
 * can be expected to hold.  Where that is not enough, because the index is much
 * larger than they are, pieces stay small, and each page is a read as it has to
 * be.  So it is in levels above the leaves, whose pages are few and far
 * between, unless all is read next that lies around them (fpt_sweep_around).
 *
 * A VACUUM that has been through the file already knows by itself which leaves
 * its walk will come to, and tells (fpt_sweep_choose).
 *
 * All this is hints: the walk follows its own links.  A number that is wrong
 * costs a read in vain, or one more.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/qunique.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "storage/bufmgr.h"

#include "page/format.h"
#include "page/layout.h"
#include "server/compat.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/counts.h"
#include "store/map.h"
#include "store/place.h"
#include "tree/search.h"
#include "tree/sweep.h"

/* Pages of a piece at least, and how it grows. */
#define FPT_PIECE_PAGES		256
#define FPT_PIECE_GROWTH	4

/*
 * At most: a quarter of the caches, because two pieces are in them at a time,
 * and others need some, too; but memory for the numbers is bounded.
 */
#define FPT_PIECE_CACHE		4
#define FPT_PIECE_MAX		(1 << 20)

/* A piece need not grow if its requests have so many pages on average. */
#define FPT_PIECE_DENSE		4

/*
 * Pages in between that nobody wants and that are read all the same, since one
 * request costs more than so many pages.
 */
#define FPT_REQUEST_GAP		4

/*
 * Requests of neighbouring pages under way whatever maintenance_io_concurrency
 * is: 8 MB in all, as the operating system has with a large read_ahead_kb for
 * who reads a file from front to back.  A walk that slept for each of them
 * would not keep the disk busy.
 */
#define FPT_UNDER_WAY		64

/*
 * A file that is read from front to back is asked for in large pieces, of 1 MB,
 * and so many of them ahead.
 */
#define FPT_FRONT_PAGES		(8 * FPT_REQUEST_PAGES)
#define FPT_FRONT_PIECES	4

struct FPTSweep
{
	Relation	rel;
	FPTIndex   *ix;				/* the walk's */
	int			level;			/* that the walk goes along */
	bool		off;
	uint32		front;			/* pages before this one were asked for, or left
								 * to the operating system */
	uint8	   *around;			/* what lies around pages comes with them; for
								 * which of 16 it was asked; NULL: for none */
	BufferAccessStrategy strategy;	/* for pages of the level above */
	bool		begun;
	bool		sparse;			/* larger pieces are not denser ones */
	bool		ranges;			/* neighbouring pages can be one request */
	int			limit;			/* maintenance_io_concurrency */
	int			budget;			/* most pages of a piece */
	int			most;			/* most requests of neighbours under way */
	int			depth;			/* most requests of this piece under way */
	uint32		npages;
	FPTSweepNext next;			/* tells the leaves, or NULL: the parents do */
	void	   *arg;
	uint32		parent;			/* parent to copy next, or FPT_NOPAGE */
	uint32		nparents;		/* so many were */

	/* The walk's pages that are in no piece yet, "per" to be read for each. */
	uint32	   *list;
	int			per;
	int			nlist;
	int			maxlist;

	/* The piece that the walk is in. */
	int			nwalk;			/* its pages */
	int			walked;

	/* The one after it, and what is to be read for it in order of the file. */
	int			npiece;
	uint32	   *ask;
	int			nask;
	int			maxask;
	int			asked;
	int			ncached;		/* of its pages in shared buffers */

	/* The last pages of the requests made lately, a ring of "most". */
	uint32	   *under_way;
	unsigned	nrequests;
	int			nwaiting;		/* of these may be under way */
};

FPTSweep *
fpt_sweep_begin(Relation rel, FPTIndex *ix, int level,
				BufferAccessStrategy strategy)
{
	FPTSweep   *s = palloc0(sizeof(FPTSweep));
	int			limit = fpt_io_concurrency(rel, &ix->map, true);

	s->rel = rel;
	s->ix = ix;
	s->level = level;
	s->strategy = strategy;
	s->off = !fpt_guc_leaf_prefetch || !fpt_can_prefetch_pages();
	s->limit = limit;
	s->most = s->depth = Max(limit, FPT_UNDER_WAY);
	s->ranges = fpt_can_prefetch_range(rel);
	s->under_way = palloc(s->most * sizeof(uint32));
	s->budget = Min(effective_cache_size / FPT_PIECE_CACHE, FPT_PIECE_MAX);
	if (VacuumCostActive)
		s->budget = Min(s->budget, FPT_AHEAD_DELAYED);
	s->npages = fpt_npages(rel, &ix->map);
	s->budget = Max(s->budget, FPT_PIECE_PAGES);
	s->parent = FPT_NOPAGE;
	s->per = 1;
	s->maxlist = s->maxask = FPT_PIECE_PAGES + FPT_MAX_ENTRIES;
	s->list = palloc(s->maxlist * sizeof(uint32));
	s->ask = palloc(s->maxask * sizeof(uint32));

	/* Of temporary indexes single pages are asked for: no pieces to grow. */
	s->sparse = !s->ranges;
	Assert(s->depth > 0 && s->budget <= Max(FPT_PIECE_MAX, FPT_PIECE_PAGES));
	return s;
}

void
fpt_sweep_choose(FPTSweep *s, FPTSweepNext next, void *arg)
{
	Assert(!s->begun && next != NULL && s->level == 0);
	s->next = next;
	s->arg = arg;
	s->front = 0;				/* asked for once, and maybe gone again */
	s->per = FPT_LEAF_PAGES;
	s->list = repalloc(s->list, s->maxlist * s->per * sizeof(uint32));
	s->budget = Max(s->budget / s->per, FPT_PIECE_PAGES);

	/* They may lie apart: no more requests at a time than single reads. */
	s->most = s->depth = Max(s->limit, 2);
}

void
fpt_sweep_around(FPTSweep *s, uint32 asked, uint8 *around, uint32 npages)
{
	Assert(!s->begun);
	s->front = asked;
	if (asked == 0 || npages > (uint32) s->budget)
		return;
	s->around = around;
	s->npages = Min(s->npages, npages);
}

void
fpt_sweep_end(FPTSweep *s)
{
	pfree(s->list);
	pfree(s->ask);
	pfree(s->under_way);
	pfree(s);
}

/* --- the file from front to back ----------------------------------------- */

/*
 * Ask for pages first + from .. first + to - 1, less those in shared buffers
 * but for gaps of "gap" between two others.  Returns the number of requests.
 * Raises an error if a file cannot be opened.
 */
static int
fpt_sweep_range(FPTSweep *s, const bool *cached, uint32 first, int from, int to,
				int gap)
{
	int			requests = 0;

	Assert(from >= 0 && to <= FPT_FRONT_PAGES && gap >= 0);
	for (int i = from; i < to;)
	{
		int			begin = i;
		int			end = i;	/* behind the last page to be read */

		for (; i < to && i - end <= gap; i++)
		{
			if (!cached[i])
				end = i + 1;
			else if (end == begin)
				begin = end = i + 1;
		}
		if (end == begin)
			continue;
		fpt_prefetch_pages(s->rel, &s->ix->map, first + begin,
						   first + end - 1);
		requests++;
	}
	return requests;
}

/*
 * Ask for a large piece, of n pages.  The operating system takes what it is
 * asked for up to its own limit, which is that of its own read-ahead, and
 * forgets the rest.  So the piece is asked for as a whole, and once more in
 * parts: who has taken the whole has them.  n is FPT_FRONT_PAGES at most.  No
 * page is locked (L7).  Raises an error if the file cannot be opened.
 */
static void
fpt_sweep_large(FPTSweep *s, uint32 first, int n)
{
	bool		cached[FPT_FRONT_PAGES];
	int			ncached = 0;
	int			gap = FPT_REQUEST_GAP;

	Assert(n > 0 && n <= FPT_FRONT_PAGES);
	for (int i = 0; i < n; i++)
	{
		cached[i] = fpt_page_buffered(s->rel, &s->ix->map, first + i);
		ncached += cached[i];
	}
	fpt_count(NULL, FPT_LEAF_CACHED, ncached);
	fpt_count(NULL, FPT_LEAF_ISSUED, n - ncached);
	if (ncached < n / 2)
	{
		gap = n;
		(void) fpt_sweep_range(s, cached, first, 0, n, gap);
	}
	for (int i = 0; i < n; i += FPT_REQUEST_PAGES)
		fpt_count(NULL, FPT_LEAF_REQUESTS,
				  fpt_sweep_range(s, cached, first, i,
								  Min(n, i + FPT_REQUEST_PAGES), gap));
}

/*
 * See tree/sweep.h.  So many pieces as to keep the disk busy are asked for
 * ahead; each is asked for once, as s->front only grows.
 */
uint32
fpt_sweep_front(FPTSweep *s, uint32 pageno)
{
	uint64		ahead = (uint64) (pageno / FPT_FRONT_PAGES + FPT_FRONT_PIECES) *
		FPT_FRONT_PAGES;
	uint32		to = (uint32) Min(s->npages, ahead);
	bool		large;

	/*
	 * Stripes are files, each of which is read from front to back.  Of
	 * temporary relations it is not known what is cached.
	 */
	large = s->ix->map.stripes == NULL && s->ranges;
	if (s->off)
		return 0;
	s->front = Max(s->front, pageno);
	while (s->front < to)
	{
		uint32		first = s->front;
		int			n = Min(to - first,
							FPT_FRONT_PAGES - first % FPT_FRONT_PAGES);

		if (large)
			fpt_sweep_large(s, first, n);
		else
			fpt_count(NULL, FPT_SKIP_SEQUENTIAL, n);
		s->front += n;
	}
	return large ? s->front : 0;
}

/* --- the numbers of the pages -------------------------------------------- */

/*
 * Copy the downlinks of the next parent, which is found by its sibling's link:
 * a level is as long as its links say, whatever the keys' order is now.
 * The page is locked, to read, for that long; nothing else is.  The list has
 * room for FPT_MAX_ENTRIES more.  Sets s->parent to the next one, FPT_NOPAGE at
 * the end.  Raises an error if the page is damaged.
 */
static void
fpt_sweep_copy(FPTSweep *s)
{
	Buffer		buf = fpt_getbuf_extended(s->rel, s->ix, s->parent,
										  BUFFER_LOCK_SHARE, s->strategy);
	Page		page = BufferGetPage(buf);
	uint32		next = fpt_header(page)->right;

	Assert(s->next == NULL && s->per == 1);
	Assert(s->maxlist - s->nlist >= FPT_MAX_ENTRIES);
	if (fpt_header(page)->level != s->level + 1)
		next = FPT_NOPAGE;		/* unlinked, and used again */
	else
		s->nlist += fpt_page_children(&s->ix->layout, page,
									  s->list + s->nlist);
	UnlockReleaseBuffer(buf);
	fpt_stop_point(FPT_STOP_WINDOW_FILL);

	/* A damaged link must lead nowhere, and not round in circles. */
	if (++s->nparents > s->npages ||
		(next != FPT_NOPAGE && !fpt_page_exists(s->rel, &s->ix->map, next)))
		next = FPT_NOPAGE;
	s->parent = next;
	if (next != FPT_NOPAGE && s->limit > 0)
		fpt_prefetch_page(s->rel, &s->ix->map, next);
}

/*
 * Have n pages in the list, if there are as many, or more: what a parent has is
 * taken as a whole.  No page is locked: it may be cancelled, and sleep.
 * The list grows in the context it is in.  Raises an error if a page is
 * damaged.
 */
static void
fpt_sweep_collect(FPTSweep *s, int n)
{
	while (s->nlist < n && (s->next != NULL || s->parent != FPT_NOPAGE))
	{
		if (s->maxlist - s->nlist < FPT_MAX_ENTRIES)
		{
			s->maxlist = s->maxlist * 2 + FPT_MAX_ENTRIES;
			s->list = repalloc(s->list, s->maxlist * s->per * sizeof(uint32));
		}
		if (s->next == NULL)
			fpt_sweep_copy(s);
		else if (s->next(s->arg, s->list + s->nlist * s->per))
			s->nlist++;
		else
			break;
		fpt_vacuum_delay();
	}
}

/* --- pieces -------------------------------------------------------------- */

/* Where the request that begins with ask[from] ends. */
static int
fpt_sweep_request(const FPTSweep *s, int from)
{
	const FPTPageMap *map = &s->ix->map;
	const uint32 *ask = s->ask;
	int			to = from + 1;

	Assert(from >= 0 && from < s->nask);
	while (to < s->nask && s->ranges &&
		   fpt_pages_between(map, ask[to - 1], ask[to]) <= FPT_REQUEST_GAP &&
		   fpt_pages_between(map, ask[from], ask[to]) + 2 <= FPT_REQUEST_PAGES)
		to++;
	return to;
}

/*
 * A page has to be read: put it into "ask", and what comes with it, unless that
 * was asked for.  Pages that came later than the walk are no matter.
 */
static void
fpt_sweep_want(FPTSweep *s, uint32 page)
{
	uint32		group = page / FPT_REQUEST_PAGES;
	uint8		bit = 1 << (group % 8);

	if (s->around == NULL)
	{
		s->ask[s->nask++] = page;
		return;
	}
	if (page >= s->npages || (s->around[group / 8] & bit) != 0)
		return;
	s->around[group / 8] |= bit;
	page = group * FPT_REQUEST_PAGES;
	for (int i = 0; i < FPT_REQUEST_PAGES; i++)
	{
		if (page + i >= s->front && page + i < s->npages)
			s->ask[s->nask++] = page + i;
	}
}

/*
 * What is to be read for the first n pages of the list?  Puts it into "ask",
 * each page once, and returns by how many requests.  No page is locked: may be
 * cancelled.  "ask" grows in the context it is in.
 */
static int
fpt_sweep_sort(FPTSweep *s, int n)
{
	int			requests = 0;
	int			most;

	Assert(n >= 0 && n <= s->nlist);
	n *= s->per;
	most = n;
	if (s->around != NULL)
		most = (int) Min((int64) n * FPT_REQUEST_PAGES, (int64) s->npages + n);
	if (s->maxask < most)
	{
		s->maxask = most;
		s->ask = repalloc(s->ask, most * sizeof(uint32));
	}
	s->nask = s->ncached = 0;
	for (int i = 0; i < n; i++)
	{
		uint32		page = s->list[i];

		CHECK_FOR_INTERRUPTS();
		if (page == FPT_NOPAGE || page < s->front ||
			!fpt_page_exists(s->rel, &s->ix->map, page))
			continue;
		if (fpt_page_buffered(s->rel, &s->ix->map, page))
			s->ncached++;
		else
			fpt_sweep_want(s, page);
	}
	qsort(s->ask, s->nask, sizeof(uint32), fpt_page_order);

	/* Leaves have neighbours in common, or a damaged page two downlinks. */
	s->nask = (int) qunique(s->ask, s->nask, sizeof(uint32), fpt_page_order);
	for (int i = 0; i < s->nask; i = fpt_sweep_request(s, i))
		requests++;
	Assert(requests <= s->nask && s->nask <= most);
	return requests;
}

/*
 * How many requests may be under way in the next piece?  Of such as are mostly
 * of one page, no more than single reads.  Those of the last piece count.
 */
static void
fpt_sweep_set_depth(FPTSweep *s, bool single)
{
	s->depth = single ? Max(s->limit, 2) : s->most;
	Assert(s->depth > 1 && s->depth <= s->most);
}

/*
 * Make the next piece, of no pages at the end: sets s->npiece and "ask", takes
 * its pages off the list, and asks for nothing.  Reads their parents: no page
 * is locked before or after.  May be cancelled, and raise, as
 * fpt_sweep_collect().
 */
static void
fpt_sweep_piece(FPTSweep *s)
{
	int			n = s->around != NULL ? s->budget : FPT_PIECE_PAGES;
	int			requests;

	/* What lies around pages is marked as it is sorted, which is done once. */
	for (;;)
	{
		bool		all;

		fpt_sweep_collect(s, n);
		all = s->nlist < n;
		n = Min(n, s->nlist);
		requests = fpt_sweep_sort(s, n);
		if (s->sparse || requests * FPT_PIECE_DENSE <= s->nask ||
			n >= s->budget || all)
			break;
		n = Min(n * FPT_PIECE_GROWTH, s->budget);
	}
	fpt_sweep_set_depth(s, requests * 2 > s->nask);
	if (n >= s->budget && n > FPT_PIECE_PAGES && requests * 2 > s->nask)
	{
		s->sparse = true;
		n = FPT_PIECE_PAGES;
		(void) fpt_sweep_sort(s, n);
	}
	fpt_count(NULL, FPT_LEAF_CACHED, s->ncached);
	Assert(n <= s->nlist);
	s->nlist -= n;
	memmove(s->list, s->list + n * s->per, s->nlist * s->per * sizeof(uint32));
	s->npiece = n;
	s->asked = 0;
}

/* --- requests ------------------------------------------------------------ */

/*
 * Wait, if as many requests are under way as may be, or more, because the piece
 * before might have more, until it is half as many as may be.
 */
static void
fpt_sweep_wait(FPTSweep *s)
{
	unsigned	left = s->depth - s->depth / 2;

	Assert(s->nwaiting <= s->most && (unsigned) s->nwaiting <= s->nrequests);
	if (s->nwaiting < s->depth)
		return;
	fpt_await_page(s->rel, &s->ix->map,
				   s->under_way[(s->nrequests - left - 1) % s->most]);
	s->nwaiting = left;
}

/*
 * Ask for the piece's pages before ask[to], and what is in one request with
 * them.  No page is locked (L7): it may be cancelled, sleep, or wait for a
 * read.  Raises an error if that fails.
 */
static void
fpt_sweep_ask(FPTSweep *s, int to)
{
	const FPTPageMap *map = &s->ix->map;

	Assert(to <= s->nask);
	while (s->asked < to)
	{
		int			from = s->asked;
		uint32		last;
		bool		io = true;	/* false: the page has come meanwhile */

		s->asked = fpt_sweep_request(s, from);
		last = s->ask[s->asked - 1];
		if (s->asked == from + 1 && s->limit == 0)
		{
			fpt_count(NULL, FPT_SKIP_LIMIT, 1);
			continue;
		}
		fpt_sweep_wait(s);
		if (s->asked == from + 1)
			io = fpt_prefetch_page(s->rel, map, last);
		else
			fpt_prefetch_pages(s->rel, map, s->ask[from], last);
		fpt_count(NULL, io ? FPT_LEAF_ISSUED : FPT_LEAF_CACHED,
				  s->asked - from);
		if (io)
		{
			fpt_count(NULL, FPT_LEAF_REQUESTS, 1);
			s->under_way[s->nrequests++ % s->most] = last;
			s->nwaiting++;
		}
		fpt_vacuum_delay();
	}
}

/*
 * Begin with the first page of the level above, unless the leaves are told, or
 * there is but one.
 */
static void
fpt_sweep_start(FPTSweep *s)
{
	s->begun = true;
	if (s->next == NULL && fpt_tree_level(s->rel, s->ix) > s->level)
	{
		Buffer		buf = fpt_descend_first(s->rel, s->ix,
											   s->level + 1);

		s->parent = fpt_bufpage(buf);
		UnlockReleaseBuffer(buf);
	}
}

/*
 * See tree/sweep.h.  While the walk is in one piece the one after it is asked
 * for, as far as the walk has come, so that the disk is kept busy all the time.
 */
void
fpt_sweep_step(FPTSweep *s)
{
	if (s->off)
	{
		fpt_count(NULL, FPT_SKIP_OFF, 1);
		return;
	}
	if (!s->begun)
		fpt_sweep_start(s);
	if (s->walked >= s->nwalk)
	{
		/*
		 * The walk comes to the next piece, and the one after it is made.  The
		 * first one is asked for before anything is read.
		 */
		if (s->npiece == 0)
			fpt_sweep_piece(s);
		fpt_sweep_ask(s, s->nask);
		s->nwalk = s->npiece;
		s->walked = 0;
		if (s->nwalk == 0)
		{
			fpt_count(NULL, FPT_SKIP_END, 1);
			return;
		}
		fpt_sweep_piece(s);
	}
	s->walked++;
	Assert(s->walked <= s->nwalk);
	fpt_sweep_ask(s, (int) ((int64) s->nask * s->walked / s->nwalk));
}
