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
 * its siblings.  If it would be too many with any of them, a leaf to the right
 * should be split first: with a page more in between it is others that are far
 * enough.
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

/*
 * Ranges are balanced that have 3.5 pages of each stripe, but are no longer
 * than FPT_MAX_RANGE, or than there are stripes.  No stripe shall have more
 * than FPT_RANGE_MOST in one: a quarter more than if they took turns, where
 * that is four.
 */
#define FPT_MAX_RANGE		56
#define FPT_RANGE_MOST		5

/* How far to the right leaves may be split early, and how many. */
#define FPT_EARLY_REACH		4
#define FPT_EARLY_SPLITS	3

/* No neighbour is as far away. */
#define FPT_FAR				(2 * FPT_MAX_STRIPES)

/* The new page's neighbours, and what follows from them */
typedef struct FPTNearest
{
	const FPTPageMap *map;
	int			range;			/* pages of a range, the new one included */
	int			reach;			/* no page is noted that is as far away */
	/* stripes of the pages in order, the new one's place before at[FPT_FAR] */
	int8		at[2 * FPT_FAR];	/* -1: none, or not known */
	/* for one place: */
	int			dist[FPT_MAX_STRIPES];	/* of a stripe's nearest page */
	int			most[FPT_MAX_STRIPES];	/* pages it has in any range */
} FPTNearest;

/* There is a page at this distance in a direction. */
static void
fpt_nearest_page(FPTNearest *near, uint32 pageno, int dir, int dist)
{
	Assert(dir == 1 || dir == -1);
	Assert(dist > 0 && dist < near->reach);
	if (pageno != FPT_NOPAGE && fpt_page_is_striped(near->map, pageno))
		near->at[dir > 0 ? FPT_FAR + dist - 1 : FPT_FAR - dist] =
			fpt_page_stripe(near->map, pageno);
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
	while (dist < near->reach)
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

	Assert(w->dist < near->reach);
	if (w->pageno < FPT_FIRSTPAGE ||
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
 * Note what the parent, if the page that the number leads to is that, knows of
 * the pages to one side of a child, and the parent's siblings, where it ends
 * too soon.  key: the child's low fence.  False: it is another page, or its
 * lock was not free.  Locks and raises as fpt_nearest_in() does, FPT_PARENTS
 * times.
 */
static bool
fpt_nearest_side(FPTNearest *near, Relation rel, FPTIndex *ix, int dir,
				 const FPTKey *key, int level, uint32 parent)
{
	FPTNearWalk w;

	w.dir = dir;
	w.level = level;
	w.pageno = parent;
	w.dist = dir < 0 ? 2 : 1;
	fpt_key_copy(&w.at, key);
	for (int i = 0; i < FPT_PARENTS && w.dist < near->reach; i++)
		fpt_nearest_in(near, rel, ix, &w, i > 0);
	return w.dist < FPT_FAR || w.pageno != parent;
}

/*
 * Note what the parent knows of the pages to both sides of a child, which is
 * locked, and whose right sibling is going to be new.  Where the stack's number
 * is of no use, as there was no descent, or the parent was split since, or is
 * busy, it takes one, as posting the downlink will (L2).  Locks and raises as
 * that and fpt_nearest_side() do.
 */
static void
fpt_nearest_parent(FPTNearest *near, Relation rel, FPTIndex *ix, Page child,
				   const FPTStack *stack)
{
	FPTKey		key = fpt_page_low(&ix->layout, child);
	int			level = fpt_header(child)->level + 1;
	uint32		parent = FPT_NOPAGE;
	Buffer		buf;

	if (stack != NULL && stack->rootlevel >= level)
		parent = stack->page[level];
	for (int dir = -1; dir <= 1; dir += 2)
	{
		if (fpt_nearest_side(near, rel, ix, dir, &key, level, parent))
			continue;
		buf = fpt_descend_try(rel, ix, &key, level, BUFFER_LOCK_SHARE);
		if (!BufferIsValid(buf))
			break;
		parent = fpt_bufpage(buf);
		UnlockReleaseBuffer(buf);
		(void) fpt_nearest_side(near, rel, ix, dir, &key, level, parent);
	}
}

/*
 * How far each stripe's nearest page is from the place before near->at[place],
 * and how many pages it has in the range with most of them, of all ranges that
 * a page there would be in.  Sets near's dist (FPT_FAR: none is near) and most.
 * Raises nothing.
 */
static void
fpt_nearest_count(FPTNearest *near, int place)
{
	int			n = near->map->stripes->n;
	int			last = near->range - 1;
	int			count[FPT_MAX_STRIPES] = {0};
	const int8 *right = near->at + place - 1;
	const int8 *left = near->at + place;

	Assert(near->range > n && near->range < near->reach);
	Assert(place - last >= 0 && place + last <= 2 * FPT_FAR);
	for (int s = 0; s < n; s++)
		near->dist[s] = FPT_FAR;
	for (int d = last; d > 0; d--)
	{
		if (right[d] >= 0)
			near->dist[right[d]] = d;
		if (left[-d] >= 0)
		{
			near->dist[left[-d]] = d;
			count[left[-d]]++;
		}
	}
	memcpy(near->most, count, sizeof(count));
	/* Move the range to the right until the new page is its first one. */
	for (int d = 1; d <= last; d++)
	{
		int			leaves = left[d - last - 1];
		int			enters = right[d];

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
 * May a new page be in the stripe?  It is far enough from the stripe's others,
 * which is so of one stripe at least, and these are not too many.
 */
static bool
fpt_nearest_fits(const FPTNearest *near, int s)
{
	return near->dist[s] >= (near->map->stripes->n + 1) / 2 &&
		near->most[s] < FPT_RANGE_MOST;
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

	turn++;
	for (int i = 0; i < n; i++)
	{
		uint8		s = (turn + i) % n;
		int			j = i;

		for (; j > 0 && fpt_nearest_better(near, s, order->stripe[j - 1]); j--)
			order->stripe[j] = order->stripe[j - 1];
		order->stripe[j] = s;
	}
	for (order->good = 1; order->good < n; order->good++)
		if (!fpt_nearest_fits(near, order->stripe[order->good]))
			break;
	Assert(order->good >= 1 && order->good <= n);
}

/* The best stripe for the place before near->at[place]; -1: none fits. */
static int
fpt_nearest_best(FPTNearest *near, int place)
{
	int			best = 0;

	fpt_nearest_count(near, place);
	for (int s = 1; s < near->map->stripes->n; s++)
		if (fpt_nearest_better(near, s, best))
			best = s;
	return fpt_nearest_fits(near, best) ? best : -1;
}

/*
 * Which page to the right of the new one's place must be split first, and
 * others to a sum of "splits", to let a stripe fit there?  1 is the nearest, 0:
 * that does not help.  The splits' own new pages go where they fit.  near is as
 * it was on return, but for dist and most.  Raises nothing.
 */
static int
fpt_nearest_early(FPTNearest *near, int splits)
{
	for (int k = 1; k <= FPT_EARLY_REACH; k++)
	{
		int8	   *at = near->at + FPT_FAR + k;
		size_t		rest = near->at + lengthof(near->at) - at - 1;
		int			s;
		bool		helps;

		if (at[-1] < 0)
			break;
		s = fpt_nearest_best(near, FPT_FAR + k);
		if (s < 0)
			continue;
		memmove(at + 1, at, rest);
		*at = s;
		helps = splits > 1 ? fpt_nearest_early(near, splits - 1) > 0 :
			fpt_nearest_best(near, FPT_FAR) >= 0;
		memmove(at, at + 1, rest);
		if (helps)
			return k;
	}
	return 0;
}

/*
 * See tree/finddisk.h.  The nearest pages are known from the page's own links
 * and number, whatever the parent says.
 */
void
fpt_find_disk(Relation rel, FPTIndex *ix, Buffer buf, const FPTStack *stack,
			  uint32 other, FPTStripeOrder *order, int *early)
{
	Page		page = BufferGetPage(buf);
	FPTPageHeader *h = fpt_header(page);
	FPTNearest	near;
	int			n;

	if (early != NULL)
		*early = 0;
	if (ix->map.stripes == NULL)
		return;
	/* Others have added pages since. */
	(void) fpt_npages(rel, &ix->map);
	n = ix->map.stripes->n;
	Assert(n >= FPT_MIN_STRIPES && n <= FPT_MAX_STRIPES);
	Assert(fpt_buffer_locked(buf, true));
	near.map = &ix->map;
	near.range = Max(n + 1, Min(7 * n / 2, FPT_MAX_RANGE));
	near.reach = near.range + FPT_EARLY_REACH;
	memset(near.at, -1, sizeof(near.at));
	fpt_nearest_page(&near, other == FPT_NOPAGE ? fpt_bufpage(buf) : other,
					 -1, 1);
	fpt_nearest_page(&near, h->left, -1, 2);
	fpt_nearest_page(&near, h->right, 1, 1);
	if (fpt_bufpage(buf) != ix->root)
		fpt_nearest_parent(&near, rel, ix, page, stack);
	fpt_nearest_count(&near, FPT_FAR);
	fpt_nearest_sort(&near, order);
	if (early == NULL || fpt_nearest_fits(&near, order->stripe[0]))
		return;
	Assert(h->level == 0);
	for (int i = 1; i <= FPT_EARLY_SPLITS && *early == 0; i++)
		*early = fpt_nearest_early(&near, i);
}
