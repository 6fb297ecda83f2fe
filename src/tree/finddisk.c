/*-------------------------------------------------------------------------
 *
 * tree/finddisk.c
 *	  In which stripe a new page of a striped index goes.
 *
 * A range scan is as fast as the disk that has most of its pages, so pages
 * that are neighbours in key order should be on different disks.  Builds deal
 * pages out in turn.  A split chooses for the new page among the stripes that
 * have no page within half as many pages as there are stripes (Seeger and
 * Larson, Multi-Disk B-trees: FindDisk by local balancing): the one that would
 * have fewest pages in any range around the new one; of equal ones that whose
 * nearest page is farthest away.  The neighbours are found in the parent and
 * its siblings.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "page/format.h"
#include "page/kernel.h"
#include "page/layout.h"
#include "store/buf.h"
#include "store/map.h"
#include "tree/finddisk.h"

/* Inner pages that are looked at to each side, the parent among them */
#define FPT_PARENTS			2

/* Ranges are balanced that are so long, or as long as there are stripes. */
#define FPT_MAX_RANGE		40

/* No neighbour is as far away. */
#define FPT_FAR				(2 * FPT_MAX_STRIPES)

/* The new page's neighbours, and what follows from them */
typedef struct FPTNearest
{
	const FPTPageMap *map;
	int			range;			/* pages of a range, the new one included */
	/* the stripe of the page at each distance to the left, right; -1: none */
	int8		side[2][FPT_FAR];
	int			dist[FPT_MAX_STRIPES];	/* of a stripe's nearest page */
	int			most[FPT_MAX_STRIPES];	/* pages it has in any range */
} FPTNearest;

/* There is a page at this distance in a direction. */
static void
fpt_nearest_page(FPTNearest *near, uint32 pageno, int dir, int dist)
{
	Assert(dir == 1 || dir == -1);
	Assert(dist > 0 && dist < FPT_FAR);
	if (pageno != FPT_NOPAGE && fpt_page_is_striped(near->map, pageno))
		near->side[dir > 0][dist] = fpt_page_stripe(near->map, pageno);
}

/*
 * Note the children of an inner page from the one that covers key on, itself
 * included if "self", in a direction; dist: how far the first one is.  Returns
 * how far the next one would be, or FPT_FAR: whatever is wrong with the page,
 * which is locked and stays so, ends the walk.  Comparing keys may raise.
 */
static int
fpt_nearest_walk(FPTNearest *near, FPTIndex *ix, Page page, const FPTKey *key,
				 int dir, int dist, bool self)
{
	uint32		child;
	FPTLoc		loc;

	Assert(fpt_header(page)->level > 0);
	if (fpt_page_find_child(&ix->layout, page, key, &child, &loc) != FPT_OK)
		return FPT_FAR;
	if (self)
		fpt_nearest_page(near, child, dir, dist++);
	while (dist < near->range)
	{
		FPTEntry	e;

		if (!fpt_page_step(&ix->layout, page, &loc, dir))
			return dist;
		if (fpt_page_get(&ix->layout, page, loc, &e) != FPT_OK)
			return FPT_FAR;
		fpt_nearest_page(near, e.down, dir, dist++);
	}
	return dist;
}

/* A walk over the pages of a level's parents, to one side of a key. */
typedef struct FPTNearWalk
{
	int			dir;
	int			level;			/* of the parents */
	uint32		pageno;			/* the parent that is next ... */
	FPTKeyBuf	at;				/* ... and the key it covers */
	int			dist;			/* pages come by so far; FPT_FAR: it is over */
} FPTNearWalk;

/*
 * The same with the next parent, which must be of the level and cover the key,
 * if its lock is to be had at once: we hold those of other pages.  A number
 * that is out of date leads to a page that does not cover the key, or that we
 * hold locked ourselves.  The walk goes on to that page's sibling.  Takes no
 * lock that it has to wait for (L4), and keeps none, nor a pin.  Raises an
 * error if the page cannot be read, or if comparing does.
 */
static void
fpt_nearest_in(FPTNearest *near, Relation rel, FPTIndex *ix, FPTNearWalk *w,
			   bool self)
{
	Buffer		buf;
	Page		page;
	FPTKey		edge;

	Assert(w->dist < near->range);
	if (w->pageno < FPT_ROOTPAGE ||
		!fpt_page_exists(rel, &ix->map, w->pageno))
	{
		w->dist = FPT_FAR;
		return;
	}
	buf = fpt_getbuf(rel, ix, w->pageno, 0);
	if (!ConditionalLockBuffer(buf))
	{
		ReleaseBuffer(buf);
		w->dist = FPT_FAR;
		return;
	}
	page = BufferGetPage(buf);
	if (!fpt_page_sane(&ix->layout, page, w->pageno) ||
		!fpt_page_on_level(page, w->level) ||
		!fpt_page_above_low(&ix->layout, page, &w->at.key) ||
		!fpt_page_below_high(&ix->layout, page, &w->at.key))
		w->dist = FPT_FAR;
	else
	{
		w->dist = fpt_nearest_walk(near, ix, page, &w->at.key, w->dir,
								   w->dist, self);
		w->pageno = w->dir > 0 ? fpt_header(page)->right :
			fpt_header(page)->left;
		if (w->pageno == FPT_NOPAGE)
			w->dist = FPT_FAR;
		else
		{
			edge = w->dir > 0 ? fpt_page_high(&ix->layout, page) :
				fpt_page_low(&ix->layout, page);
			if (w->dir < 0)
				edge = fpt_key_before(ix, &edge);
			fpt_key_copy(&w->at, &edge);
		}
	}
	UnlockReleaseBuffer(buf);
}

/*
 * Note what the parent knows of the pages to both sides of a child whose right
 * sibling is going to be new, and its siblings, where it ends too soon.  The
 * child is locked.  Locks and raises as fpt_nearest_in() does, FPT_PARENTS
 * times to each side.
 */
static void
fpt_nearest_parent(FPTNearest *near, Relation rel, FPTIndex *ix, Page child,
				   const FPTStack *stack)
{
	FPTKey		key = fpt_page_low(&ix->layout, child);
	FPTNearWalk w;

	w.level = fpt_header(child)->level + 1;
	if (stack == NULL || stack->rootlevel < w.level)
		return;
	for (w.dir = -1; w.dir <= 1; w.dir += 2)
	{
		w.pageno = stack->page[w.level];
		w.dist = w.dir < 0 ? 2 : 1;
		fpt_key_copy(&w.at, &key);
		for (int i = 0; i < FPT_PARENTS && w.dist < near->range; i++)
			fpt_nearest_in(near, rel, ix, &w, i > 0);
	}
}

/*
 * How far each stripe's nearest page is, and how many pages it has in the range
 * with most of them, of all ranges that the new page is going to be in.  Sets
 * near's dist (FPT_FAR: none is near) and most.  Raises nothing.
 */
static void
fpt_nearest_count(FPTNearest *near)
{
	int			n = near->map->stripes->n;
	int			last = near->range - 1;
	int			count[FPT_MAX_STRIPES] = {0};

	Assert(near->range > n && near->range <= FPT_FAR);
	for (int s = 0; s < n; s++)
		near->dist[s] = FPT_FAR;
	for (int d = last; d > 0; d--)
	{
		for (int dir = 0; dir < 2; dir++)
			if (near->side[dir][d] >= 0)
				near->dist[near->side[dir][d]] = d;
		if (near->side[0][d] >= 0)
			count[near->side[0][d]]++;
	}
	memcpy(near->most, count, sizeof(count));
	/* Move the range to the right until the new page is its first one. */
	for (int d = 1; d <= last; d++)
	{
		int			leaves = near->side[0][last + 1 - d];
		int			enters = near->side[1][d];

		Assert(leaves < n && enters < n);
		Assert(leaves < 0 || count[leaves] > 0);
		if (leaves >= 0)
			count[leaves]--;
		if (enters >= 0)
		{
			count[enters]++;
			near->most[enters] = Max(near->most[enters], count[enters]);
		}
	}
}

/* Is stripe s a better place for the new page than t? */
static bool
fpt_nearest_better(const FPTNearest *near, int s, int t)
{
	const FPTStripe *at = near->map->stripes->at;
	int			far = (near->map->stripes->n + 1) / 2;

	if (Min(near->dist[s], far) != Min(near->dist[t], far))
		return near->dist[s] > near->dist[t];
	if (near->most[s] != near->most[t])
		return near->most[s] < near->most[t];
	if (near->dist[s] != near->dist[t])
		return near->dist[s] > near->dist[t];
	return at[s].nblocks < at[t].nblocks;
}

/*
 * Puts all stripes into *order, the best first; of equal ones by turns, which
 * each backend takes by itself.  Sets order->good, 1 at least.  Raises nothing.
 */
static void
fpt_nearest_sort(const FPTNearest *near, FPTStripeOrder *order)
{
	static uint32 turn = 0;
	int			n = near->map->stripes->n;
	int			far = (n + 1) / 2;

	turn++;
	for (int i = 0; i < n; i++)
	{
		uint8		s = (turn + i) % n;
		int			j = i;

		for (; j > 0 && fpt_nearest_better(near, s, order->stripe[j - 1]); j--)
			order->stripe[j] = order->stripe[j - 1];
		order->stripe[j] = s;
	}
	/* Near the edges of what is known, no stripe may be far enough. */
	for (order->good = 1; order->good < n; order->good++)
		if (near->dist[order->stripe[order->good]] < far)
			break;
	Assert(order->good >= 1 && order->good <= n);
}

/*
 * See tree/finddisk.h.  The nearest pages are known from the page's own links
 * and number, whatever the parent says.
 */
void
fpt_find_disk(Relation rel, FPTIndex *ix, Buffer buf, const FPTStack *stack,
			  uint32 other, FPTStripeOrder *order)
{
	Page		page = BufferGetPage(buf);
	FPTPageHeader *h = fpt_header(page);
	FPTNearest	near;
	int			n;

	if (ix->map.stripes == NULL)
		return;
	/* Others have added pages since. */
	(void) fpt_npages(rel, &ix->map);
	n = ix->map.stripes->n;
	Assert(n >= FPT_MIN_STRIPES && n <= FPT_MAX_STRIPES);
	Assert(fpt_buffer_locked(buf, true));
	near.map = &ix->map;
	near.range = Max(n + 1, Min(7 * n / 2, FPT_MAX_RANGE));
	memset(near.side, -1, sizeof(near.side));
	fpt_nearest_page(&near, other == FPT_NOPAGE ? fpt_bufpage(buf) : other,
					 -1, 1);
	fpt_nearest_page(&near, h->left, -1, 2);
	fpt_nearest_page(&near, h->right, 1, 1);
	fpt_nearest_parent(&near, rel, ix, page, stack);
	fpt_nearest_count(&near);
	fpt_nearest_sort(&near, order);
}
