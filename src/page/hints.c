/*-------------------------------------------------------------------------
 *
 * page/hints.c
 *	  Page kernel: hints of dead entries.
 *
 *-------------------------------------------------------------------------
 */
#include "page/hints.h"
#include "page/node.h"
#include "page/number.h"

bool
fpt_page_has_hints(const FPTLayout *l, void *page)
{
	FPTPage		pg = fpt_page_open(l, page);

	/* the one behind nodes that share the space is never taken by tuples */
	return pg.g != NULL && fpt_is_leaf(pg.g) &&
		(fpt_shares_space(pg.g) || fpt_is_number(pg.g) ||
		 fpt_header(pg.p)->std.pd_lower <= pg.g->hint_off);
}

void
fpt_page_hint_area(const FPTLayout *l, void *page, int *from, int *to)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	n;

	*from = *to = 0;
	if (fpt_num_page(pg, &n))
	{
		*from = fpt_num_hint_off(&n);
		*to = n.upper;
		return;
	}
	if (pg.g == NULL || !fpt_is_leaf(pg.g))
		return;
	*from = fpt_hint_off(pg);
	*to = fpt_shares_space(pg.g) ?
		*from + fpt_hint_bytes(pg.g, fpt_header(pg.p)->nnodes) :
		FPT_SPECIAL_OFFSET;
}

/* The node of a slot number, or NULL if there is no such slot. */
static char *
fpt_slotid_node(FPTPage pg, int slotid)
{
	if (pg.g == NULL || !fpt_is_leaf(pg.g) || slotid < 0 ||
		slotid / pg.g->cap >= fpt_header(pg.p)->nnodes)
		return NULL;
	return fpt_node(pg, slotid / pg.g->cap);
}

/*
 * See page/hints.h.  Asked before a hint is set for an entry that was read a
 * while ago, with the page locked again: nothing about it is taken for granted.
 */
bool
fpt_page_slot_is(const FPTLayout *l, void *page, int slotid, uint64 tid)
{
	FPTPage		pg = fpt_page_open(l, page);
	char	   *node;
	FPTNumbers	n;
	int			ordinal;
	int			kid;

	if (fpt_num_page(pg, &n))
		return fpt_num_slot_is(&n, slotid, tid);
	node = fpt_slotid_node(pg, slotid);
	if (node == NULL ||
		!fpt_slot_used(pg.g, node, slotid % pg.g->cap) ||
		fpt_slot_tid(pg, node, slotid % pg.g->cap) != tid)
		return false;

	/* A free node keeps its bytes: it must be one in use. */
	ordinal = slotid / pg.g->cap;
	for (kid = 0; kid < fpt_header(pg.p)->nkids; kid++)
	{
		if (fpt_kid(pg, kid) == ordinal)
			return true;
	}
	return false;
}

bool
fpt_page_hint_get(const FPTLayout *l, void *page, int slotid)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	n;

	if (fpt_num_page(pg, &n))
		return fpt_num_hint_get(&n, slotid);
	return fpt_slotid_node(pg, slotid) != NULL &&
		fpt_hint_test(pg, slotid);
}

void
fpt_page_hint_set(const FPTLayout *l, void *page, int slotid)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	n;

	if (fpt_num_page(pg, &n))
		fpt_num_hint_set(&n, slotid);
	else if (fpt_slotid_node(pg, slotid) != NULL)
		fpt_hint_set(pg, slotid);
}

bool
fpt_page_hints(const FPTLayout *l, void *page, uint64 hints[FPT_MAX_NODES])
{
	FPTPage		pg = fpt_page_open(l, page);
	int			nkids = fpt_header(page)->nkids;
	bool		any = false;
	FPTNumbers	n;

	if (fpt_num_page(pg, &n))
		return fpt_num_all_hints(&n, hints);
	if (pg.g == NULL || !fpt_page_has_hints(l, page))
		return false;
	for (int kid = 0; kid < nkids; kid++)
	{
		FPTKid		k;

		if (!fpt_kid_open(pg, kid, &k))
			return false;
		hints[k.ordinal] = fpt_node_hints(pg, k.ordinal) &
			fpt_node_used(pg.g, k.node);
		any |= hints[k.ordinal] != 0;
	}
	return any;
}
