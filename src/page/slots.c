/*-------------------------------------------------------------------------
 *
 * page/slots.c
 *	  Page kernel: which slots of a node entries go to.
 *
 * Where slots own tuples, in leaf pages, nothing but a slot's number says which
 * of two entries of one head is before the other (page/order.c).  So a new one
 * goes between the slots of its neighbours, and if no slot is free there, some
 * entries of that head move on to the nearest one that is.  Nodes in which many
 * entries have the same head are written with free slots between them.
 *
 *-------------------------------------------------------------------------
 */
#include "page/order.h"
#include "page/slots.h"

/*
 * See page/slots.h.  Heads are compared as they are stored: those of general
 * keys are in lo.
 */
bool
fpt_node_spreads(const FPTGeom *g, const FPTRelEntry *e, int n)
{
	int			same = 0;

	if (!fpt_slots_tell(g))
		return false;
	for (int i = 1; i < n; i++)
		same += e[i].lo == e[i - 1].lo;
	return same > n / FPT_SPREAD_SHARE;
}

/*
 * See page/slots.h.  What a base is rounded down to is a quarter of what a key
 * can tell, so that separators that move mostly have the base they had.
 */
FPTResult
fpt_kid_set_sep(FPTPage pg, int kid, uint64 hi, uint64 lo)
{
	const FPTGeom *g = pg.g;
	uint64		was = fpt_kid_base(pg, kid);
	uint64		base = fpt_base_of(g, fpt_word(g, hi, lo));
	char	   *node = fpt_kid_node(pg, kid);
	uint64		used;

	if (node == NULL)
		return FPT_CORRUPT;
	used = base != was ? fpt_node_used(g, node) : 0;
	for (uint64 set = used; set != 0; set &= set - 1)
	{
		char	   *at = node + g->key_off + fpt_ctz(set) * g->sw;

		if (fpt_node_tells(g, base, was + fpt_load_uint(at, g->sw)) != 0)
			return FPT_FULL;
	}
	for (uint64 set = used; set != 0; set &= set - 1)
	{
		char	   *at = node + g->key_off + fpt_ctz(set) * g->sw;

		fpt_store_uint(at, g->sw, was + fpt_load_uint(at, g->sw) - base);
	}
	fpt_sep_set(pg, kid, hi, lo);
	return FPT_OK;
}

/*
 * See page/slots.h.  A TID is copied as it is stored: the page is the same;
 * unless it is relative to the node, when there is room for it in the other one
 * (fpt_shift_told).  The slot left is free in the sense of W8, the one taken
 * was so before.
 */
void
fpt_slot_move(FPTPage pg, int fromkid, int from, int tokid, int to)
{
	FPTKid		k;
	char	   *a;
	char	   *b;
	int			fromid;
	int			toid;
	uint64		hi,
				lo;

	Assert(fromkid != tokid || from != to);
	(void) fpt_kid_open(pg, fromkid, &k);
	fromid = fpt_kid_slotid(pg.g, &k, from);
	a = k.node;
	(void) fpt_kid_open(pg, tokid, &k);
	toid = fpt_kid_slotid(pg.g, &k, to);
	b = k.node;
	Assert(from >= 0 && from < pg.g->cap && to >= 0 && to < pg.g->cap);
	fpt_slot_rel(pg.g, a, fpt_kid_base(pg, fromkid), from, &hi, &lo);
	fpt_slot_set_rel(pg.g, b, fpt_kid_base(pg, tokid), to, hi, lo);
	if (fpt_has_far(pg.g))
		fpt_slot_set_tid(pg, b, to, fpt_slot_tid(pg, a, from));
	else
		memcpy(b + pg.g->tid_off + to * pg.g->pw,
			   a + pg.g->tid_off + from * pg.g->pw, pg.g->tw);
	fpt_slot_set_down(pg.g, b, to, fpt_slot_down(pg.g, a, from));
	fpt_slot_set_off(pg.g, b, to, fpt_slot_off(pg.g, a, from));
	fpt_slots_free(pg.g, a, UINT64CONST(1) << from);
	fpt_slot_taken(pg.g, b, to);
	if (fpt_is_leaf(pg.g))
	{
		fpt_hint_clear(pg, toid);
		if (fpt_hint_test(pg, fromid))
			fpt_hint_set(pg, toid);
		fpt_hint_clear(pg, fromid);
	}
}

/*
 * See page/slots.h.  To the front first, then from the last one on to where
 * they shall be: no slot is taken before it is free.
 */
void
fpt_node_spread(FPTPage pg, int kid)
{
	uint64		used = fpt_node_used(pg.g, fpt_kid_node(pg, kid));
	int			n = fpt_popcount(used);

	for (int to = 0; used != 0; used &= used - 1, to++)
	{
		if (fpt_ctz(used) != to)
			fpt_slot_move(pg, kid, fpt_ctz(used), kid, to);
	}
	for (int from = n - 1; from > 0; from--)
	{
		int			to = fpt_spread_slot(pg.g, from, n);

		if (to != from)
			fpt_slot_move(pg, kid, from, kid, to);
	}
}

/*
 * See page/slots.h.  Goes from the border up to the m'th free slot; entries on
 * the way are moved from the far end on, so that each finds a free slot there,
 * and none passes another.
 */
void
fpt_node_push(FPTPage pg, int kid, int m, int by)
{
	int			cap = pg.g->cap;
	uint64		used = fpt_node_used(pg.g, fpt_kid_node(pg, kid));
	uint64		move = 0;
	int			to = by > 0 ? 0 : cap - 1;

	/* as far as it takes to have m free ones */
	for (int n = 0; n < m; to += by)
	{
		Assert(to >= 0 && to < cap);
		if (used & (UINT64CONST(1) << to))
			move |= UINT64CONST(1) << to;
		else
			n++;
	}
	for (to -= by; move != 0; to -= by)
	{
		int			from = by > 0 ? fpt_top_bit(move) : fpt_ctz(move);

		if (from != to)
			fpt_slot_move(pg, kid, from, kid, to);
		move &= ~(UINT64CONST(1) << from);
	}
}

/*
 * See page/slots.h.  head[] has the heads in the order they will have: those of
 * the m slots, and b's nearest one behind them (by = 1) or before.
 */
bool
fpt_shift_ties(FPTPage pg, const char *a, const uint8 *slots, int m, char *b,
			   int by)
{
	uint64		used;
	uint64		heads[FPT_MAX_CAP + 2];
	uint64	   *head = heads + 1;
	uint64		hi;
	uint8		next;

	if (!fpt_slots_tell(pg.g))
		return false;
	for (int i = 0; i < m; i++)
		fpt_slot_rel(pg.g, a, 0, slots[i], &hi, &head[i]);
	used = fpt_node_used(pg.g, b);
	if (used != 0)
	{
		fpt_slots_end(pg, b, used, by < 0, 1, &next);
		fpt_slot_rel(pg.g, b, 0, next, &hi, by > 0 ? &head[m] : --head);
		m++;
	}
	for (int i = 1; i < m; i++)
	{
		if (head[i] == head[i - 1])
			return true;
	}
	return false;
}

/*
 * Free a slot of p's full or partly full node between those of the entries that
 * have the new one's head, some before it and some after it: move as few of
 * them as that takes by one place, to the nearest free slot.  Returns the slot;
 * adds to *edit what else was changed, the payload of the slot included: two
 * ranges, of the key of the slot that was free, as all that move have the same,
 * and of the payload of all slots from there to the one returned.  Slots of
 * other heads may be among these; they stay as they are.
 */
static int
fpt_insert_open(FPTPage pg, const FPTPlace *p, uint64 before, uint64 after,
				FPTEdit *edit)
{
	const FPTGeom *g = pg.g;
	uint64		free = ~p->used & g->capmask;
	int			lo = before != 0 ? fpt_top_bit(before) : -1;
	int			hi = after != 0 ? fpt_ctz(after) : g->cap;
	uint64		above = free & ~fpt_first_slots(hi);
	uint64		under = free & fpt_first_slots(lo + 1);
	bool		up = above != 0;
	int			first;
	int			last;
	int			to;
	uint64		was;
	uint64		move;

	Assert(free != 0 && (above | under) == free);
	if (above != 0 && under != 0)
		up = fpt_popcount(after & fpt_first_slots(fpt_ctz(above))) <=
			fpt_popcount(before & ~fpt_first_slots(fpt_top_bit(under)));
	to = up ? fpt_ctz(above) : fpt_top_bit(under);
	move = up ? after & fpt_first_slots(to) : before & ~fpt_first_slots(to);
	first = up ? hi : to;
	last = up ? to : lo;
	was = fpt_bytes8(p->node + g->key_off + to * g->sw);
	fpt_slot_set_rel(g, p->node, 0, to, p->hi, p->lo);
	fpt_edit_changed(edit, pg.p, p->node + g->key_off + to * g->sw, was);
	while (move != 0)
	{
		int			from = up ? fpt_top_bit(move) : fpt_ctz(move);

		fpt_slot_move(pg, p->kid, from, p->kid, to);
		move &= ~(UINT64CONST(1) << from);
		to = from;
	}
	Assert(to == (up ? hi : lo));
	fpt_edit_add(edit, pg.p, p->node + g->tid_off + first * g->pw,
				 (last - first + 1) * g->pw);
	return to;
}

/*
 * See page/slots.h.  Elsewhere than among entries of its own head any free slot
 * will do, and the first one is taken.
 */
int
fpt_insert_slot(FPTPage pg, const FPTPlace *p, FPTEdit *edit, bool *moved)
{
	const FPTGeom *g = pg.g;
	uint64		free = ~p->used & g->capmask;
	uint64		before = p->eq & p->below;
	uint64		after = p->eq & ~p->below;
	int			lo;
	int			hi;

	Assert(free != 0);
	*moved = false;
	if (!fpt_slots_tell(g) || p->eq == 0)
		return fpt_ctz(free);
	lo = before != 0 ? fpt_top_bit(before) : -1;
	hi = after != 0 ? fpt_ctz(after) : g->cap;
	Assert(lo < hi);
	free &= fpt_first_slots(hi) & ~fpt_first_slots(lo + 1);
	if (free == 0)
	{
		*moved = true;
		return fpt_insert_open(pg, p, before, after, edit);
	}

	/* rows that follow will go on in the same direction, or between */
	if (after == 0)
		return fpt_ctz(free);
	if (before == 0)
		return fpt_top_bit(free);
	if ((free & ~fpt_first_slots((lo + hi) / 2)) != 0)
		free &= ~fpt_first_slots((lo + hi) / 2);
	return fpt_ctz(free);
}
