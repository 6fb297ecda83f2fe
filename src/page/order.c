/*-------------------------------------------------------------------------
 *
 * page/order.c
 *	  Page kernel: the order of a node's entries.
 *
 * Nodes of inner pages have a permutation that says it.  In all others the
 * entries' keys and TIDs say it themselves, and it is found out when it is
 * wanted: mostly the slots are in order, as builds and splits leave them; else
 * all are compared with all at once.
 *
 * An order is found part by part of what is compared: the searched bytes of
 * the keys, the lower 8 bytes of wide ones, the TIDs; the next part where the
 * one before it is the same.  No two entries are the same in all parts, but for
 * corruption, which does no harm here.
 *
 * Of general keys there is no part but the head: comparing tuples would run
 * anybody's code, and might raise.  Entries of one head are in the order of
 * their slots, which insertions see to (fpt_insert_slot() in page/slots.c).
 *
 *-------------------------------------------------------------------------
 */
#include "page/order.h"

/* Parts of what orders a node's entries. */
#define FPT_PART_KEY		0
#define FPT_PART_LOW		1
#define FPT_PART_TID		2

/* Entries behind those in order that are put among them one by one. */
#define FPT_ORDER_TAIL		12

/* Steps to the left, of all numbers, by which insertion may sort them. */
#define FPT_ORDER_STEPS		(4 * FPT_MAX_CAP)

/* How much in order are a part's numbers, as they come? */
#define FPT_MIXED			0	/* one is below the one before it */
#define FPT_ASCEND			1	/* ... none, but one is the same as that */
#define FPT_ASCEND_ALL		2	/* each is above the one before it */

/*
 * Numbers of n slots, "stride" apart, of a width that the compiler knows where
 * that is a frequent one, and whether the slots are the first ones.
 */
static pg_attribute_always_inline int
fpt_numbers_get(const char *p, int stride, int width, const uint8 *slots,
				bool plain, int n, uint64 *at)
{
	uint64		prev = fpt_load_uint(p + slots[0] * stride, width);
	bool		below = false;
	bool		same = false;

	Assert(n > 0 && n <= FPT_MAX_CAP);
	at[0] = prev;
	for (int i = 1; i < n; i++)
	{
		uint64		v = fpt_load_uint(p + (plain ? i : slots[i]) * stride,
									  width);

		at[i] = v;
		below |= v < prev;
		same |= v == prev;
		prev = v;
	}
	return below ? FPT_MIXED : same ? FPT_ASCEND : FPT_ASCEND_ALL;
}

/* The same of TIDs that are relative to the node: they are made whole. */
static int
fpt_tids_get(FPTPage pg, const char *node, const uint8 *slots, int n,
			 uint64 *at)
{
	bool		below = false;
	bool		same = false;

	for (int i = 0; i < n; i++)
	{
		at[i] = fpt_slot_tid(pg, node, slots[i]);
		below |= i > 0 && at[i] < at[i - 1];
		same |= i > 0 && at[i] == at[i - 1];
	}
	return below ? FPT_MIXED : same ? FPT_ASCEND : FPT_ASCEND_ALL;
}

/*
 * One part of what orders n slots: at[] has the number of each.  TIDs as they
 * are stored: within a page their order is that of whole ones.  Slots come in
 * their own order.  Returns how much the numbers are in order.
 */
static int
fpt_part_get(FPTPage pg, const char *node, int part, const uint8 *slots, int n,
			 uint64 *at)
{
	const FPTGeom *g = pg.g;
	const char *p = node + g->key_off;
	int			stride = g->sw;
	int			width = g->sw;
	bool		plain = slots[n - 1] == n - 1;

	if (part == FPT_PART_LOW)
	{
		p = node + g->low_off;
		stride = g->pw;
		width = 8;
	}
	else if (part == FPT_PART_TID)
	{
		if (fpt_has_far(g))
			return fpt_tids_get(pg, node, slots, n, at);
		p = node + g->tid_off;
		stride = g->pw;
		width = g->tw;
	}
	if (plain && stride == 1)
		return fpt_numbers_get(p, 1, 1, slots, true, n, at);
	if (plain && stride == 2 && width == 2)
		return fpt_numbers_get(p, 2, 2, slots, true, n, at);
	if (plain && stride == 3 && width == 3)
		return fpt_numbers_get(p, 3, 3, slots, true, n, at);
	return fpt_numbers_get(p, stride, width, slots, false, n, at);
}

/* The order of a node that was built: copied at once. */
static const uint8 fpt_all_slots[FPT_MAX_CAP] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
	48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63
};

/* What slots are put in order by. */
typedef struct FPTOrder
{
	FPTPage		pg;
	const char *node;
	int			part;
	int			n;
	const uint8 *slots;			/* in their own order */
	uint64		at[FPT_MAX_CAP];	/* their numbers, by the part */
} FPTOrder;

/* The part that tells entries apart where this one is the same. */
static inline int
fpt_order_next(const FPTGeom *g, int part)
{
	return part == FPT_PART_KEY && fpt_is_wide(g) ? FPT_PART_LOW : FPT_PART_TID;
}

/*
 * Two slots of the same number in this part: is the second one's entry below
 * the first one's?  "a" comes before "b", and stays there where slots tell.
 */
static bool
fpt_tied_below(const FPTOrder *o, int a, int b)
{
	int			part = o->part;
	const FPTGeom *g = o->pg.g;
	const char *tids = o->node + g->tid_off;
	uint64		na,
				nb;

	if (part == FPT_PART_TID || fpt_slots_tell(g))
		return false;
	part = fpt_order_next(g, part);
	if (part == FPT_PART_LOW)
	{
		na = fpt_slot_low(g, o->node, a);
		nb = fpt_slot_low(g, o->node, b);
		if (na != nb)
			return nb < na;
	}
	if (fpt_has_far(g))
		return fpt_slot_tid(o->pg, o->node, b) <
			fpt_slot_tid(o->pg, o->node, a);

	/* their order is that of whole ones */
	na = fpt_load_uint(tids + a * g->pw, g->tw);
	nb = fpt_load_uint(tids + b * g->pw, g->tw);
	return nb < na;
}

/* Is the entry at position q below the one at p, or stays before it? */
static inline bool
fpt_order_below(const FPTOrder *o, uint8 q, uint8 p)
{
	return o->at[q] < o->at[p] ||
		(o->at[q] == o->at[p] &&
		 !fpt_tied_below(o, o->slots[q], o->slots[p]));
}

/*
 * How many positions are in order already, before the first one that is not: in
 * nodes that were built, all but those of entries that came later.
 */
static inline int
fpt_order_begun(const FPTOrder *o)
{
	int			n = 1;

	while (n < o->n && o->at[n - 1] < o->at[n])
		n++;
	return n;
}

/* Put the rest of the positions, from the n'th on, among those before. */
static void
fpt_order_tail(const FPTOrder *o, int n, uint8 *pos)
{
	for (int i = n; i < o->n; i++)
	{
		int			a = 0;
		int			b = i;

		while (a < b)
		{
			int			m = (a + b) / 2;

			if (fpt_order_below(o, pos[m], (uint8) i))
				a = m + 1;
			else
				b = m;
		}
		memmove(pos + a + 1, pos + a, i - a);
		pos[a] = (uint8) i;
	}
}

/*
 * Put positions, which are in an order that is near to it, into the order of
 * their numbers by insertion; those of the same number stay as they are.
 * False: that takes too many steps, and the positions are in no order.
 */
static inline bool
fpt_order_insert(const uint64 *at, int n, uint8 *pos)
{
	uint64		prev = at[pos[0]];
	int			steps = FPT_ORDER_STEPS;

	for (int i = 1; i < n; i++)
	{
		uint8		p = pos[i];
		uint64		v = at[p];
		int			j = i;

		if (likely(v >= prev))
		{
			prev = v;
			continue;
		}
		for (; j > 0 && at[pos[j - 1]] > v; j--)
			pos[j] = pos[j - 1];
		pos[j] = p;
		steps -= i - j;
		if (steps < 0)
			return false;
	}
	return true;
}

/*
 * The positions of n numbers in the order of these, equal ones in their own, by
 * merging runs of twice as many.
 */
static void
fpt_order_merge(const uint64 *at, int n, uint8 *pos)
{
	uint8		other[FPT_MAX_CAP];

	memcpy(pos, fpt_all_slots, n);
	for (int len = 1; len < n; len *= 2)
	{
		for (int from = 0; from < n; from += 2 * len)
		{
			int			a = from;
			int			b = Min(from + len, n);
			int			enda = b;
			int			endb = Min(from + 2 * len, n);

			for (int i = from; i < endb; i++)
			{
				bool		right = a == enda ||
					(b < endb && at[pos[b]] < at[pos[a]]);

				other[i] = pos[right ? b++ : a++];
			}
		}
		memcpy(pos, other, n);
	}
}

/* See page/order.h. */
void
fpt_numbers_order(const uint64 *at, int n, uint8 *pos)
{
	Assert(n > 0 && n <= FPT_MAX_CAP);
	fpt_simd->order(at, n, pos);
	if (!fpt_order_insert(at, n, pos))
		fpt_order_merge(at, n, pos);
}

static void fpt_order_part(FPTPage pg, const char *node, int part,
						   uint8 *slots, int n);

/*
 * Put each run of the same number, of o's slots, which are in the order of
 * theirs ("pos") by now, in order by the next part.  A pair is exchanged if its
 * second entry is the lower one.
 */
static void
fpt_order_runs(const FPTOrder *o, const uint8 *pos, uint8 *slots)
{
	int			from = 0;

	for (int i = 1; i <= o->n; i++)
	{
		if (i < o->n && o->at[pos[i]] == o->at[pos[from]])
			continue;
		if (i - from == 2 && fpt_tied_below(o, slots[from], slots[from + 1]))
		{
			uint8		slot = slots[from];

			slots[from] = slots[from + 1];
			slots[from + 1] = slot;
		}
		else if (i - from > 2)
			fpt_order_part(o->pg, o->node, fpt_order_next(o->pg.g, o->part),
						   slots + from, i - from);
		from = i;
	}
}

/*
 * Put n slots, which are different ones and come in their own order, into the
 * order of their entries by this part of these, and by those after it.
 *
 * Where a few came to a built node they are put among the others.  Else
 * FPTSimd.order() leaves little to do, mostly: a few pairs that the upper bits
 * of their numbers do not tell apart.  Where some are the same, each run of
 * them is put in order in turn, by the next part: three deep at most.
 */
static void
fpt_order_part(FPTPage pg, const char *node, int part, uint8 *slots, int n)
{
	FPTOrder	o;				/* (its numbers are not all set) */
	const FPTGeom *g = pg.g;
	uint8		pos[FPT_MAX_CAP];
	uint8		given[FPT_MAX_CAP];
	int			how;
	bool		done = false;

	Assert(n > 0 && n <= g->cap);
	o.pg = pg;
	o.node = node;
	o.part = part;
	o.n = n;
	o.slots = slots;
	how = fpt_part_get(pg, node, part, slots, n, o.at);
	if (how == FPT_ASCEND_ALL || (how == FPT_ASCEND && fpt_slots_tell(g)))
		return;
	memcpy(pos, fpt_all_slots, FPT_MAX_CAP);
	if (how == FPT_MIXED)
	{
		int			begun = fpt_order_begun(&o);

		done = n - begun <= FPT_ORDER_TAIL;
		if (done)
			fpt_order_tail(&o, begun, pos);
		else
			fpt_numbers_order(o.at, n, pos);
		if (slots[n - 1] == n - 1)
			memcpy(slots, pos, n);	/* the slots are the positions */
		else
		{
			memcpy(given, slots, n);
			for (int i = 0; i < n; i++)
				slots[i] = given[pos[i]];
		}
	}
	if (!done && part != FPT_PART_TID && !fpt_slots_tell(g))
		fpt_order_runs(&o, pos, slots);
}

/*
 * Have these slots, some, all the same key, as most nodes of an index of few
 * distinct ones?  Wide keys are not asked.
 */
static inline bool
fpt_slots_repeat(const FPTGeom *g, const char *node, uint64 set)
{
	const char *keys = node + g->key_off;
	uint64		key;
	uint64		same;

	/* the first and the last one tell of most others that they do not */
	Assert(set != 0);
	if (fpt_is_wide(g))
		return false;
	key = fpt_load_uint(keys + fpt_ctz(set) * g->sw, g->sw);
	if (key != fpt_load_uint(keys + fpt_top_bit(set) * g->sw, g->sw))
		return false;
	fpt_simd->cmp[g->sw - 1] (keys, g->cap, key, &same);
	return (set & ~same) == 0;
}

/*
 * See page/order.h.  Most of the time goes into calls for nodes whose slots are
 * in order, or whose keys are all the same: these are looked for first.
 */
int
fpt_slots_order(FPTPage pg, const char *node, uint64 set, uint8 *slots)
{
	int			part = FPT_PART_KEY;
	int			n = 0;

	Assert(!pg.g->perm && (set & ~pg.g->capmask) == 0);

	if (set == 0)
		return 0;
	if (!fpt_slots_tell(pg.g) && fpt_slots_repeat(pg.g, node, set))
		part = FPT_PART_TID;

	/* the first slots, in order: what builds leave and scans mostly see */
	if ((set & (set + 1)) == 0)
	{
		n = fpt_popcount(set);
		memcpy(slots, fpt_all_slots, FPT_MAX_CAP);
		if (part == FPT_PART_TID ||
			!fpt_simd->ascend(node + pg.g->key_off, n, pg.g->sw))
			fpt_order_part(pg, node, part, slots, n);
		return n;
	}
	for (; set != 0; set &= set - 1)
		slots[n++] = (uint8) fpt_ctz(set);
	if (n > 1)
		fpt_order_part(pg, node, part, slots, n);
	return n;
}

/*
 * See page/order.h.  All slots are gone through once, from the end at which the
 * wanted ones are if slots are in order.  Most are only compared with the one
 * of those kept that would go first: pos[0] if "high", else the last.
 */
void
fpt_slots_end(FPTPage pg, const char *node, uint64 set, bool high, int m,
			  uint8 *slots)
{
	FPTOrder	o = {.pg = pg, .node = node, .part = FPT_PART_KEY};
	uint8		own[FPT_MAX_CAP];
	uint8		pos[FPT_END_MOST];
	int			had = 0;

	Assert(!pg.g->perm && (set & ~pg.g->capmask) == 0);
	Assert(m > 0 && m <= FPT_END_MOST && m <= fpt_popcount(set));
	if (!fpt_slots_tell(pg.g) && fpt_slots_repeat(pg.g, node, set))
		o.part = FPT_PART_TID;
	own[0] = 0;					/* gcc 14 thinks that there may be none */
	for (; set != 0; set &= set - 1)
		own[o.n++] = (uint8) fpt_ctz(set);
	o.slots = own;
	(void) fpt_part_get(pg, node, o.part, own, o.n, o.at);
	for (int i = o.n - 1; high && i >= 0; i--)
	{
		int			j = 0;

		if (had == m && fpt_order_below(&o, (uint8) i, pos[0]))
			continue;
		if (had < m)
			memmove(pos + 1, pos, had++);
		for (; j + 1 < had && !fpt_order_below(&o, (uint8) i, pos[j + 1]); j++)
			pos[j] = pos[j + 1];
		pos[j] = (uint8) i;
	}
	for (int i = 0; !high && i < o.n; i++)
	{
		int			j;

		if (had == m && fpt_order_below(&o, pos[m - 1], (uint8) i))
			continue;
		had = Min(had + 1, m);
		for (j = had - 1; j > 0 && !fpt_order_below(&o, pos[j - 1], (uint8) i);
			 j--)
			pos[j] = pos[j - 1];
		pos[j] = (uint8) i;
	}
	for (int i = 0; i < m; i++)
		slots[i] = own[pos[i]];
}

/*
 * See page/order.h.  A permutation is copied without a branch for each slot;
 * what is wrong with one of them is found out at the end.
 */
int
fpt_node_order(FPTPage pg, char *node, uint8 *slots)
{
	const uint8 *perm;
	bool		valid = true;
	int			n;

	if (!pg.g->perm)
		return fpt_slots_order(pg, node, fpt_node_used(pg.g, node), slots);
	perm = fpt_node_perm(pg.g, node);
	n = fpt_popcount(fpt_node_used(pg.g, node));
	for (int i = 0; i < n; i++)
	{
		slots[i] = perm[i];
		valid &= perm[i] < pg.g->cap;
	}
	return valid ? n : -1;
}

/*
 * See page/order.h.  What a place knows is of the page as it was when it was
 * found (L12): slots in use, as many as its rank.
 */
uint64
fpt_node_before(FPTPage pg, char *node, const FPTLoc *loc)
{
	uint64		set = loc->below & pg.g->capmask;
	uint8		slots[FPT_MAX_CAP];
	int			n;

	Assert(!pg.g->perm);
	if (set != 0 || loc->rank == 0)
	{
		Assert(fpt_popcount(set) == loc->rank);
		Assert((set & ~fpt_node_used(pg.g, node)) == 0);
		return set;
	}
	n = fpt_node_order(pg, node, slots);
	for (int i = 0; i < Min(n, loc->rank); i++)
		set |= UINT64CONST(1) << slots[i];
	return set;
}

/*
 * See page/order.h.  Where the place knows what is before it only the slots
 * behind these are put in order, of which the entry is the first.
 */
int
fpt_node_slot(FPTPage pg, char *node, const FPTLoc *loc)
{
	uint8		slots[FPT_MAX_CAP];
	uint64		set = fpt_node_used(pg.g, node);
	int			rank = loc->rank;
	int			n;

	Assert(rank >= 0);
	if (rank >= fpt_popcount(set))
		return -1;
	if (pg.g->perm)
	{
		int			slot = fpt_node_perm(pg.g, node)[rank];

		return slot < pg.g->cap ? slot : -1;
	}
	if (loc->below != 0)
	{
		set &= ~fpt_node_before(pg, node, loc);
		rank = 0;
	}
	n = fpt_slots_order(pg, node, set, slots);
	return rank < n ? slots[rank] : -1;
}
