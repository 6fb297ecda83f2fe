/*-------------------------------------------------------------------------
 *
 * scan/part.c
 *	  How much of a leaf a batch takes.
 *
 * A dense leaf has thousands of entries, and who asks for the first rows of a
 * range wants a few.  So the first batch of a scan takes the entries of one
 * node, and each one after it of several times as many, until whole leaves are
 * copied.  The rules are in src/scan/README.md, "Parts of a leaf".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "page/copy.h"
#include "page/kernel.h"
#include "scan/part.h"
#include "scan/wanted.h"

/*
 * Entries that a part's node at the scan's end of it must have, or it does not
 * count: most pages of rows that are asked for have no more.
 */
#define FPT_PART_FEW		24

/*
 * A LIMIT's rows that are taken alone, at least: the first one may be dead; and
 * at most.
 */
#define FPT_PART_LEAST		4
#define FPT_PART_MOST		(4 * FPT_MAX_CAP)

/*
 * How many entries a scan that begins should take at first, as a LIMIT wants no
 * more; 0: no such number, or the last scan did not do with it.
 */
static inline int
fpt_part_few(const FPTScanOpaque *so)
{
	int			wanted;

	if (so->wanted == NULL || so->reached > 0)
		return 0;
	wanted = fpt_wanted_entries(so, ForwardScanDirection);
	return wanted <= FPT_PART_MOST ? Max(wanted, FPT_PART_LEAST) : 0;
}

/* See scan/part.h.  Who takes parts is rule B3. */
void
fpt_part_begin(IndexScanDesc scan, FPTScanOpaque *so)
{
	so->inpage = false;
	so->part = 0;
	so->few = 0;
	if (so->quals == NULL && so->ranges.n == 1 && so->ranges.spans == NULL &&
		scan->heapRelation != NULL && scan->parallel_scan == NULL && !so->whole)
	{
		so->part = Max(1, so->reached / FPT_PART_GROWS);
		so->few = fpt_part_few(so);
	}
	so->reached = 0;
}

/*
 * The border of a part that goes forward from "first", or backward from "last".
 * False: that is not before the other end.
 */
static inline bool
fpt_part_border(const FPTScanOpaque *so, Page page, const FPTLoc *first,
				const FPTLoc *last, int dir, FPTLoc *border)
{
	int			nodes = so->part;

	memset(border, 0, sizeof(FPTLoc));
	if (last->kid - first->kid <= nodes)
		return false;
	if (dir > 0)
	{
		int			n = fpt_node_count(&so->ix.layout, page, first->kid);

		border->kid = first->kid + nodes + (n - first->rank < FPT_PART_FEW);
		return border->kid < last->kid;
	}
	border->kid = last->kid - nodes + (last->rank >= FPT_PART_FEW);
	return border->kid > first->kid;
}

/* See scan/part.h. */
void
fpt_part_cut(FPTScanOpaque *so, FPTBatch *b, Page page, FPTLoc *first,
			 FPTLoc *last, int dir)
{
	const FPTLayout *l = &so->ix.layout;
	FPTLoc		border;
	FPTEntry	e;

	Assert(so->part > 0 && !fpt_is_general(l));
	if (so->few > 0 &&
		fpt_page_away(l, page, dir > 0 ? first : last, so->few, dir, &border,
					  &e))
	{
		if (dir > 0 ? !fpt_loc_before(&border, last) :
			!fpt_loc_before(first, &border))
			return;
	}
	else if (!fpt_part_border(so, page, first, last, dir, &border) ||
			 fpt_page_get(l, page, border, &e) != FPT_OK)
		return;
	if (fpt_key_cmp(l, &e.key, &b->low->key) <= 0 ||
		fpt_key_cmp(l, &e.key, &b->high->key) >= 0)
		return;
	if (dir > 0)
	{
		*last = border;
		fpt_key_copy(b->high, &e.key);	/* B1 */
		b->right = b->pageno;	/* B2 */
	}
	else
	{
		*first = border;
		fpt_key_copy(b->low, &e.key);
		b->left = b->pageno;
	}
}
