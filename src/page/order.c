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

/* Slots that are sorted without the help of vectors. */
#define FPT_ORDER_FEW		8

/* Bits of a number that FPTSimd.order() is given, beside those of a slot. */
#define FPT_ORDER_BITS		25
#define FPT_SLOT_BITS		6

/*
 * A slot's number in one part of the order.  TIDs as they are stored: within a
 * page their order is that of whole ones.
 */
static inline uint64
fpt_part_get(const FPTGeom *g, const char *node, int part, int slot)
{
	if (part == FPT_PART_KEY)
		return fpt_load_uint(node + g->key_off + slot * g->ks, g->sw);
	if (part == FPT_PART_LOW)
		return fpt_slot_low(g, node, slot);
	return fpt_load_uint(node + g->tid_off + slot * g->pw, g->tw);
}

/* The order of a node that was built: copied at once. */
static const uint8 fpt_all_slots[FPT_MAX_CAP] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
	48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63
};

/*
 * Put n slots, which are different ones, into the order of their numbers, which
 * are in at[] by slot: first by the upper bits in which they differ, then by
 * all of them.  Equal ones are in the order of slots, if all were before.
 *
 * FPTSimd.order() takes numbers of 31 bits: FPT_ORDER_BITS of the difference
 * from the least one, then the slot, which makes all of them different.  What
 * these bits leave open, few entries mostly, the insertion sort behind it
 * settles.
 */
static void
fpt_order_numbers(const uint64 *at, uint8 *slots, int n)
{
	if (n > FPT_ORDER_FEW)
	{
		uint32		v[FPT_MAX_CAP];
		uint64		min = at[slots[0]];
		uint64		max = min;
		int			shift = 0;

		for (int i = 1; i < n; i++)
		{
			min = Min(min, at[slots[i]]);
			max = Max(max, at[slots[i]]);
		}
		if ((max - min) >> FPT_ORDER_BITS != 0)
			shift = 64 - FPT_ORDER_BITS - __builtin_clzll(max - min);
		for (int i = 0; i < n; i++)
			v[i] = (uint32) ((at[slots[i]] - min) >> shift) << FPT_SLOT_BITS |
				slots[i];
		fpt_simd->order(v, n, slots);
	}
	for (int i = 1; i < n; i++)
	{
		uint8		slot = slots[i];
		int			j = i;

		for (; j > 0 && at[slots[j - 1]] > at[slot]; j--)
			slots[j] = slots[j - 1];
		slots[j] = slot;
	}
}

/*
 * Put slots into the order of their TIDs, of 3 bytes or less: what is sorted is
 * all there is to compare, as 24 bits and a slot's number are less than 31.
 * (Four bytes are loaded and masked: behind the last TID is the page's rest.)
 */
static void
fpt_order_tids(const FPTGeom *g, const char *node, uint8 *slots, int n)
{
	const char *tids = node + g->tid_off;
	const uint32 mask = 0xFFFFFFFF >> (32 - 8 * g->tw);
	int			stride = g->pw;
	uint32		v[FPT_MAX_CAP];
	uint32		prev = 0;
	bool		ascend = true;

	Assert(g->tw <= 3 && n <= g->cap);
	for (int i = 0; i < n; i++)
	{
		const char *p = tids + slots[i] * stride;
		uint32		tid = (uint32) fpt_load_uint(p, 4) & mask;

		ascend &= tid >= prev;
		v[i] = tid << FPT_SLOT_BITS | slots[i];
		prev = tid;
	}
	if (!ascend)
		fpt_simd->order(v, n, slots);
}

/*
 * The same by this part of the entries, and by those after it.  Calls itself
 * for each run of the same part, so three deep at most.  Slots come in their
 * own order; so they stay where that tells, and heads are the same.
 */
static void
fpt_order_part(const FPTGeom *g, const char *node, int part, uint8 *slots,
			   int n)
{
	uint64		at[FPT_MAX_CAP];
	uint64		prev = fpt_part_get(g, node, part, slots[0]);
	bool		ascend = true;	/* no number is below the one before it */
	bool		differ = true;	/* none is the same as that */
	int			next = part + 1;
	int			from = 0;

	Assert(n > 0 && n <= g->cap);
	if (part == FPT_PART_TID && g->tw <= 3)
	{
		fpt_order_tids(g, node, slots, n);
		return;
	}
	at[slots[0]] = prev;
	for (int i = 1; i < n; i++)
	{
		uint64		v = fpt_part_get(g, node, part, slots[i]);

		at[slots[i]] = v;
		ascend &= v >= prev;
		differ &= v != prev;
		prev = v;
	}
	if (ascend && differ)
		return;
	if (!ascend)
		fpt_order_numbers(at, slots, n);
	if (part == FPT_PART_TID || fpt_slots_tell(g))
		return;
	if (next == FPT_PART_LOW && !fpt_is_wide(g))
		next = FPT_PART_TID;
	for (int i = 1; i <= n; i++)
	{
		if (i < n && at[slots[i]] == at[slots[from]])
			continue;
		if (i - from > 1)
			fpt_order_part(g, node, next, slots + from, i - from);
		from = i;
	}
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

/* Do the searched parts of the keys of the first n slots ascend? */
static inline bool
fpt_slots_ascend(const FPTGeom *g, const char *node, int n)
{
	const char *at = node + g->key_off;
	bool		ascend = true;

	if (likely(!g->joined))
		return fpt_simd->ascend(at, n, g->sw);
	for (int i = 1; i < n; i++, at += g->ks)
		ascend &= fpt_load_uint(at, g->sw) < fpt_load_uint(at + g->ks, g->sw);
	return ascend;
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
			!fpt_slots_ascend(pg.g, node, n))
			fpt_order_part(pg.g, node, part, slots, n);
		return n;
	}
	for (; set != 0; set &= set - 1)
		slots[n++] = (uint8) fpt_ctz(set);
	if (n > 1)
		fpt_order_part(pg.g, node, part, slots, n);
	return n;
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
 * See page/order.h.  With "below" known only the slots behind these are put in
 * order, of which the entry is the first.
 */
int
fpt_node_slot(FPTPage pg, char *node, int rank, uint64 below)
{
	uint64		used = fpt_node_used(pg.g, node);
	uint8		slots[FPT_MAX_CAP];
	int			n;

	Assert(rank >= 0);
	if (rank >= fpt_popcount(used))
		return -1;
	if (pg.g->perm)
	{
		int			slot = fpt_node_perm(pg.g, node)[rank];

		return slot < pg.g->cap ? slot : -1;
	}
	if (below != 0)
	{
		fpt_assert_below(pg, node, rank, below);
		used &= ~below;
		rank = 0;
	}
	n = fpt_slots_order(pg, node, used, slots);
	return rank < n ? slots[rank] : -1;
}
