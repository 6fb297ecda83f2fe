/*-------------------------------------------------------------------------
 *
 * fpt_finddisk.c
 *	  In which stripe a new page of a striped index goes.
 *
 * A range scan is as fast as the disk that has most of its pages, so pages that
 * are neighbours in key order should be on different disks.  Builds deal pages
 * out in turn; a split puts the new page into the stripe whose nearest page, in
 * key order, is farthest away (Seeger and Larson, Multi-Disk B-trees: FindDisk
 * by local balancing).  The neighbours are found in the parent and its siblings.
 *
 *-------------------------------------------------------------------------
 */
#include "fptree.h"

/* Farther than any neighbour that is looked at */
#define FPT_FAR				(2 * FPT_MAX_STRIPES)

/* Inner pages that are looked at to each side, the parent among them */
#define FPT_PARENTS			2

/* How near the nearest page of each stripe is to the new one */
typedef struct FPTNearest
{
	const FPTPageMap *map;
	int			dist[FPT_MAX_STRIPES];
} FPTNearest;

/* There is a page at this distance. */
static void
fpt_nearest_page(FPTNearest *near, uint32 pageno, int dist)
{
	int			s;

	if (pageno == FPT_NOPAGE || !fpt_page_is_striped(near->map, pageno))
		return;
	s = fpt_page_stripe(near->map, pageno);
	near->dist[s] = Min(near->dist[s], dist);
}

/*
 * Note the children of an inner page from the one that covers key on, itself
 * included if "self", in a direction; dist: how far the first one is.  Returns
 * how far the next one would be.
 */
static int
fpt_nearest_walk(FPTNearest *near, FPTIndex *ix, Page page, const FPTKey *key,
				 int dir, int dist, bool self)
{
	uint32		child;
	FPTLoc		loc;

	if (fpt_page_find_child(&ix->layout, page, key, &child, &loc) != FPT_OK)
		return FPT_FAR;
	if (self)
		fpt_nearest_page(near, child, dist++);
	while (dist <= near->map->stripes->n)
	{
		FPTEntry	e;

		if (!fpt_page_step(&ix->layout, page, &loc, dir))
			return dist;
		if (fpt_page_get(&ix->layout, page, loc, &e) != FPT_OK)
			return FPT_FAR;
		fpt_nearest_page(near, e.down, dist++);
	}
	return dist;
}

/*
 * The same with page *pageno, which must be one of "level" and cover *at, if its
 * lock is to be had at once: we hold those of other pages.  A number that is out
 * of date leads to a page that does not cover the key, or that we hold locked
 * ourselves.  *pageno and *at become those of its sibling.
 */
static int
fpt_nearest_in(FPTNearest *near, Relation rel, FPTIndex *ix, int level,
			   uint32 *pageno, FPTKeyBuf *at, int dir, int dist, bool self)
{
	Buffer		buf;
	Page		page;
	FPTKey		edge;

	if (*pageno < FPT_ROOTPAGE || !fpt_page_exists(rel, &ix->map, *pageno))
		return FPT_FAR;
	buf = fpt_getbuf(rel, ix, *pageno, 0);
	if (!ConditionalLockBuffer(buf))
	{
		ReleaseBuffer(buf);
		return FPT_FAR;
	}
	page = BufferGetPage(buf);
	if (!fpt_page_sane(&ix->layout, page, *pageno) ||
		fpt_header(page)->level != level ||
		(fpt_header(page)->flags & FPT_F_DELETED) ||
		!fpt_page_above_low(&ix->layout, page, &at->key) ||
		!fpt_page_below_high(&ix->layout, page, &at->key))
		dist = FPT_FAR;
	else
	{
		dist = fpt_nearest_walk(near, ix, page, &at->key, dir, dist, self);
		*pageno = dir > 0 ? fpt_header(page)->right : fpt_header(page)->left;
		if (*pageno == FPT_NOPAGE)
			dist = FPT_FAR;
		else
		{
			edge = dir > 0 ? fpt_page_high(&ix->layout, page) :
				fpt_page_low(&ix->layout, page);
			if (dir < 0)
				edge = fpt_key_before(ix, &edge);
			fpt_key_copy(at, &edge);
		}
	}
	UnlockReleaseBuffer(buf);
	return dist;
}

/*
 * Note what the parent knows of the pages to both sides of a child whose right
 * sibling is going to be new, and its siblings, where it ends too soon.
 */
static void
fpt_nearest_parent(FPTNearest *near, Relation rel, FPTIndex *ix, Page child,
				   const FPTStack *stack)
{
	int			level = fpt_header(child)->level + 1;
	FPTKey		key = fpt_page_low(&ix->layout, child);

	if (stack == NULL || stack->rootlevel < level)
		return;
	for (int dir = -1; dir <= 1; dir += 2)
	{
		uint32		pageno = stack->page[level];
		int			dist = dir < 0 ? 2 : 1;
		FPTKeyBuf	at;

		fpt_key_copy(&at, &key);
		for (int i = 0; i < FPT_PARENTS && dist <= near->map->stripes->n; i++)
			dist = fpt_nearest_in(near, rel, ix, level, &pageno, &at, dir,
								  dist, i > 0);
	}
}

/*
 * Stripes with far pages first; of equal ones the smaller file, then by turns.
 */
static void
fpt_nearest_sort(const FPTNearest *near, FPTStripeOrder *order)
{
	static uint32 turn = 0;
	const FPTStripe *at = near->map->stripes->at;
	int			n = near->map->stripes->n;

	turn++;
	for (int i = 0; i < n; i++)
	{
		uint8		s = (turn + i) % n;
		int			j = i;

		for (; j > 0; j--)
		{
			uint8		t = order->stripe[j - 1];

			if (near->dist[t] > near->dist[s] ||
				(near->dist[t] == near->dist[s] &&
				 at[t].nblocks <= at[s].nblocks))
				break;
			order->stripe[j] = t;
		}
		order->stripe[j] = s;
	}
}

void
fpt_find_disk(Relation rel, FPTIndex *ix, Buffer buf, const FPTStack *stack,
			  uint32 other, FPTStripeOrder *order)
{
	Page		page = BufferGetPage(buf);
	FPTPageHeader *h = fpt_header(page);
	FPTNearest	near;

	if (ix->map.stripes == NULL)
		return;
	/* Others have added pages since. */
	(void) fpt_npages(rel, &ix->map);
	near.map = &ix->map;
	for (int s = 0; s < ix->map.stripes->n; s++)
		near.dist[s] = FPT_FAR;
	fpt_nearest_page(&near, fpt_bufpage(buf), 1);
	fpt_nearest_page(&near, other, 1);
	fpt_nearest_page(&near, h->right, 1);
	fpt_nearest_page(&near, h->left, 2);
	fpt_nearest_parent(&near, rel, ix, page, stack);
	fpt_nearest_sort(&near, order);
}
