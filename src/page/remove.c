/*-------------------------------------------------------------------------
 *
 * page/remove.c
 *	  Page kernel: taking entries out of a page.
 *
 * Entries are taken out by their slots: a free one is a bit, or a TID, less.
 * Nothing else moves, but for what is behind it in a node's permutation.  A
 * node that becomes empty leaves the in-page root, and its bytes stay where
 * they are until it is used again, or fpt_page_trim() gives them back.
 *
 *-------------------------------------------------------------------------
 */
#include "page/kernel.h"
#include "page/node.h"
#include "page/number_edit.h"
#include "page/order.h"
#include "page/remove.h"
#include "page/root.h"

/*
 * Bytes from off on are going to change: add them to *changed, whose number is
 * not -1.  Mostly they are right behind those added last.
 */
static inline void
fpt_range_add(FPTChanges *changed, int off, int len)
{
	int			n = changed->n;

	Assert(n >= 0 && n < FPT_MAX_ENTRIES);
	Assert(off >= FPT_LINE);
	Assert(len >= 0 && off + len <= FPT_SPECIAL_OFFSET);
	if (n > 0)
	{
		int			last = changed->r[n - 1].off;

		/* what is between takes fewer bytes than another range */
		if (off >= last &&
			off < last + changed->r[n - 1].len + FPT_EDIT_HEADER)
		{
			changed->r[n - 1].len = (uint16) Max(changed->r[n - 1].len,
												 off + len - last);
			return;
		}
	}
	changed->r[n].off = (uint16) off;
	changed->r[n].len = (uint16) len;
	changed->n = n + 1;
}

/* The same of the far TIDs of slots that are to be freed. */
static void
fpt_ranges_add_far(FPTPage pg, const char *node, uint64 slots,
				   FPTChanges *changed)
{
	uint32		far = fpt_slots_far(pg.g, node, slots);

	for (; far != 0; far &= far - 1)
		fpt_range_add(changed, (int) (node - pg.p) +
					  fpt_far_off(pg.g, fpt_ctz(far)), FPT_FAR_BYTES);
}

/*
 * Take these slots of a node, which are in use, out of its permutation.  False
 * if that is corrupt, and nothing is changed.  The bitmap is the caller's to
 * change, but its bytes are added to *changed here.
 */
static bool
fpt_perm_take(FPTPage pg, char *node, uint64 gone, FPTChanges *changed)
{
	uint8	   *perm = fpt_node_perm(pg.g, node);
	uint8		order[FPT_MAX_CAP];
	int			count = fpt_node_order(pg, node, order);
	int			first = -1;
	int			n = 0;

	for (int i = 0; i < count; i++)
	{
		bool		stays = (gone >> order[i] & 1) == 0;

		if (!stays && first < 0)
			first = i;
		order[n] = order[i];
		n += stays;
	}
	if (count < 0)
		return false;
	Assert((gone & ~fpt_node_used(pg.g, node)) == 0);
	if (changed != NULL && changed->n >= 0 && first >= 0)
	{
		fpt_range_add(changed, (int) (node - pg.p), sizeof(uint64));
		if (first < n)
			fpt_range_add(changed, (int) ((char *) perm - pg.p) + first,
						  n - first);
	}
	memcpy(perm, order, n);
	return true;
}

/*
 * Take slots out of a node of this number.  FPT_OK or FPT_CORRUPT: it
 * contradicts itself, and nothing is changed.  *empty: nothing is left of it,
 * and the caller takes it out of the root; its bytes stay, as of any free node.
 * The bytes that change are added to *changed, unless that is NULL, or has
 * given up already (n is -1).
 */
static FPTResult
fpt_node_take(FPTPage pg, int ordinal, uint64 slots, FPTChanges *changed,
			  bool *empty)
{
	char	   *node = fpt_node(pg, ordinal);
	uint64		used = fpt_node_used(pg.g, node);
	uint64		gone = slots & used;
	uint64		hinted = 0;

	*empty = false;
	if (pg.g->perm && !fpt_perm_take(pg, node, gone, changed))
		return FPT_CORRUPT;
	if (gone == 0)
		return FPT_OK;
	if (fpt_is_leaf(pg.g))
		hinted = gone & fpt_node_hints(pg, ordinal);
	for (; hinted != 0; hinted &= hinted - 1)
		fpt_hint_clear(pg, ordinal * pg.g->cap + fpt_ctz(hinted));
	*empty = used == gone;
	if (*empty && changed != NULL)
		changed->n = -1;		/* the root changes, too */
	if (!pg.g->perm && changed != NULL && changed->n >= 0)
	{
		int			tids = (int) (node - pg.p) + pg.g->tid_off;

		for (uint64 bits = gone; bits != 0; bits &= bits - 1)
			fpt_range_add(changed, tids + fpt_ctz(bits) * pg.g->pw, pg.g->fw);
		fpt_ranges_add_far(pg, node, gone, changed);
	}
	if (!*empty)
		fpt_slots_free(pg.g, node, gone);
	return FPT_OK;
}

/*
 * The same of a kid; there are so many kids.  One that becomes empty is taken
 * out of the root.
 */
static FPTResult
fpt_kid_take(FPTPage pg, int kid, uint64 slots, FPTChanges *changed)
{
	FPTKid		k;
	bool		empty = false;
	FPTResult	res;

	Assert(pg.g != NULL && kid >= 0 && kid < fpt_header(pg.p)->nkids);
	if (!fpt_kid_open(pg, kid, &k))
		return FPT_CORRUPT;
	res = fpt_node_take(pg, k.ordinal, slots, changed, &empty);
	if (res == FPT_OK && empty)
		fpt_node_remove(pg, kid);
	return res;
}

/* See page/remove.h.  changed->n becomes -1 where a node leaves the root. */
FPTResult
fpt_page_take(const FPTLayout *l, void *page, const uint64 gone[FPT_MAX_NODES],
			  FPTChanges *changed)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	n;

	if (fpt_num_page(pg, &n))
		return fpt_num_take(&n, gone, changed);
	changed->n = 0;
	if (pg.g == NULL)
		return FPT_CORRUPT;

	/* Backwards: a node that becomes empty leaves the root. */
	for (int kid = fpt_header(page)->nkids - 1; kid >= 0; kid--)
	{
		FPTKid		k;

		if (!fpt_kid_open(pg, kid, &k))
			return FPT_CORRUPT;
		if (gone[k.ordinal] != 0 &&
			fpt_kid_take(pg, kid, gone[k.ordinal], changed) != FPT_OK)
			return FPT_CORRUPT;
	}
	return FPT_OK;
}

/* See page/remove.h.  fpt_page_get() has made sure that the slot exists. */
FPTResult
fpt_page_delete(const FPTLayout *l, void *page, FPTLoc loc)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTEntry	e;
	FPTNumbers	n;
	int			slot;

	if (fpt_num_page(pg, &n))
		return fpt_num_delete(&n, loc);
	if (pg.g == NULL || fpt_page_get(l, page, loc, &e) != FPT_OK)
		return FPT_CORRUPT;
	slot = fpt_node_slot(pg, fpt_kid_node(pg, loc.kid), &loc);
	Assert(slot >= 0);
	return fpt_kid_take(pg, loc.kid, UINT64CONST(1) << slot, NULL);
}

/*
 * See page/remove.h.  Behind the border whole nodes leave the root, at it some
 * entries of one do.
 */
FPTResult
fpt_page_truncate(const FPTLayout *l, void *page, int n)
{
	FPTPageHeader *h = fpt_header(page);
	FPTPage		pg = fpt_page_open(l, page);
	int			before = fpt_page_count(l, page);
	FPTNumbers	numbers;
	int			kid;

	if (fpt_num_page(pg, &numbers))
		return fpt_num_truncate(&numbers, n);
	if (before < 0)
		return FPT_CORRUPT;

	/* Backwards, so that removing a node moves nothing still to be seen. */
	for (kid = h->nkids - 1; kid >= 0; kid--)
	{
		int			count = fpt_node_count(l, page, kid);
		uint64		drop = 0;
		uint8		slots[FPT_MAX_CAP];

		/* nodes before it: a damaged root names one twice, perhaps */
		before -= count;
		if (count < 0 || before < 0)
			return FPT_CORRUPT;
		if (before + count <= n)
			break;
		if (fpt_node_order(pg, fpt_kid_node(pg, kid), slots) != count)
			return FPT_CORRUPT;
		for (int i = Max(0, n - before); i < count; i++)
			drop |= UINT64CONST(1) << slots[i];
		if (fpt_kid_take(pg, kid, drop, NULL) != FPT_OK)
			return FPT_CORRUPT;
	}
	return FPT_OK;
}
