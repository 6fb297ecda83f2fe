/*-------------------------------------------------------------------------
 *
 * page/room.c
 *	  Page kernel: making room in a page for an entry whose node is full.
 *
 * The page is a private copy, which callers compare with what it was or log as
 * a whole.
 *
 *-------------------------------------------------------------------------
 */
#include "page/coding.h"
#include "page/copy.h"
#include "page/encoding.h"
#include "page/fill.h"
#include "page/format.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/node.h"
#include "page/number_edit.h"
#include "page/order.h"
#include "page/prefix.h"
#include "page/room.h"
#include "page/root.h"
#include "page/shift.h"
#include "page/slots.h"
#include "page/tuple.h"

/* Free slots that a page must have to be rebuilt after entries were removed. */
#define FPT_REORG_SPARE		16

/*
 * Fill of a packed page's nodes, percent, and bytes worth packing a page for.
 * A slot of each node or more stay free: in full ones, the next insertions
 * would log another node each.
 */
#define FPT_PACK_FILL		93
#define FPT_PACK_GAIN		(BLCKSZ / 16)

/*
 * In general pages, where nodes and tuples share the space: bytes of garbage
 * that make compacting the tuples worth its WAL.
 */
#define FPT_COMPACT_GAIN	(BLCKSZ / 32)

/* Appended entries at the end of a node that make it "ascending". */
#define FPT_ASCENDING_RUN	4

/* --- nodes -------------------------------------------------------------- */

/*
 * Read the entries of a kid, in order; -1 if corrupt.  "slots", which are
 * theirs, and "e" have room for as many as its node has slots.
 */
static int
fpt_node_read(FPTPage pg, int kid, uint8 *slots, FPTRelEntry *e)
{
	const FPTGeom *g = pg.g;
	char	   *node = fpt_kid_node(pg, kid);
	uint64		base;
	int			n;

	if (node == NULL)
		return -1;
	base = fpt_kid_base(pg, kid);
	n = fpt_node_order(pg, node, slots);
	for (int i = 0; i < n; i++)
	{
		int			slot = slots[i];

		fpt_slot_rel(g, node, base, slot, &e[i].hi, &e[i].lo);
		if (!fpt_fits(g->kw, e[i].hi, e[i].lo) ||
			fpt_word(g, e[i].hi, e[i].lo) < base)
			return -1;
		e[i].tid = fpt_slot_tid(pg, node, slot);
		if (!fpt_page_tells_tid(pg, e[i].tid))
			return -1;
		e[i].down = fpt_slot_down(g, node, slot);
		e[i].off = fpt_slot_off(g, node, slot);
	}
	return n;
}

/* --- making room --------------------------------------------------------- */

/*
 * The k highest of n TIDs, in ascending order: kept sorted while all are gone
 * through once; n is at most a page's, k is small.  From the end, where the
 * highest are if rows ascend: the others are only looked at.  *band: from the
 * first to the last of them.
 */
static void
fpt_highest_tids(const uint64 *tids, int n, int k, uint64 *last, FPTBand *band)
{
	int			had = 0;

	Assert(k > 0 && k <= n);
	for (int i = n - 1; i >= 0; i--)
	{
		int			j;

		if (had < k)
		{
			for (j = had++; j > 0 && last[j - 1] > tids[i]; j--)
				last[j] = last[j - 1];
			last[j] = tids[i];
		}
		else if (tids[i] > last[0])
		{
			for (j = 0; j + 1 < k && last[j + 1] < tids[i]; j++)
				last[j] = last[j + 1];
			last[j] = tids[i];
		}
	}
	for (band->from = 0; tids[band->from] < last[0]; band->from++)
		;
	for (band->to = n - 1; tids[band->to] < last[0]; band->to--)
		;
}

/* So few of the highest TIDs tell mostly that all asked for are no band. */
#define FPT_RECENT_FEW		5

/* See page/room.h.  The highest of all lie among any more of the highest. */
bool
fpt_recent_band(const uint64 *tids, int n, int k, FPTBand *band)
{
	uint64		last[FPT_RECENT_MAX];
	uint64		blocks;

	if (k < 2 || k > FPT_RECENT_MAX || n < k)
		return false;
	if (k > FPT_RECENT_FEW)
	{
		fpt_highest_tids(tids, n, FPT_RECENT_FEW, last, band);
		if (band->to - band->from > n / 2)
			return false;
	}
	fpt_highest_tids(tids, n, k, last, band);
	blocks = (last[k - 1] >> 16) - (last[0] >> 16);
	for (int j = 1; j < k; j++)
	{
		/* a long pause: what was before it tells nothing of what comes now */
		if (((last[j] >> 16) - (last[j - 1] >> 16)) * 2 > blocks + 2)
			return false;
	}
	band->local = blocks <= 1;
	return band->to - band->from <= n / 2;
}

/*
 * Can the rows that came last to a node lie in half of it?  So many of the
 * highest TIDs alone tell mostly that they do not, by their slots' keys, before
 * the node's entries are put in order.  tids: of the node's entries, in the
 * order of slots, which are more than these; k: how many are asked for, with
 * the new entry's.  True if it is not known.  Raises nothing.
 */
static bool
fpt_node_may_band(FPTPage pg, const FPTPlace *p, const uint64 *tids, int k)
{
	const FPTGeom *g = pg.g;
	const char *keys = p->node + g->key_off;
	uint64		last[FPT_RECENT_FEW] = {0};
	uint64		words[FPT_RECENT_FEW] = {0};
	uint64		low = ~UINT64CONST(0);
	uint64		high = 0;
	uint64		below;
	uint64		upto;
	uint64		same;
	uint64		used = p->used;

	if (k <= FPT_RECENT_FEW)
		return true;
	for (int i = 0; used != 0; i++, used &= used - 1)
	{
		int			j = 0;

		if (tids[i] <= last[0])
			continue;
		for (; j + 1 < FPT_RECENT_FEW && last[j + 1] < tids[i]; j++)
		{
			last[j] = last[j + 1];
			words[j] = words[j + 1];
		}
		last[j] = tids[i];
		words[j] = fpt_load_uint(keys + fpt_ctz(used) * g->sw, g->sw);
	}
	for (int j = 0; j < FPT_RECENT_FEW; j++)
	{
		low = Min(low, words[j]);
		high = Max(high, words[j]);
	}
	below = fpt_simd->cmp[g->sw - 1] (keys, g->cap, high, &same);
	upto = fpt_simd->cmp[g->sw - 1] (keys, g->cap, low, &same);
	upto |= same;
	return fpt_popcount(below & ~upto & p->used) + 1 <= (p->count + 1) / 2;
}

/*
 * Do the rows that belong in the full node of a leaf arrive in one part of it,
 * and e there, too?  *band: where, counting the node's entries and e in order;
 * means nothing if false.  False as well if the node is corrupt, in inner
 * pages, whose TIDs are no rows', and in pages with a dictionary, where keys
 * are few and TIDs ascend within each.  Raises nothing.
 */
static bool
fpt_node_band(FPTPage pg, const FPTPlace *p, const FPTEntry *e, FPTBand *band)
{
	uint64		tids[FPT_MAX_CAP + 1];
	uint64		stored[FPT_MAX_CAP];
	uint8		slots[FPT_MAX_CAP];
	int			k = Min((p->count + 1) / 4, FPT_RECENT_MAX);
	int			n = 0;
	bool		may;
	bool		is;

	if (!fpt_is_leaf(pg.g) || fpt_encoding(pg.g)->few_keys ||
		fpt_node_tids(pg, p->node, p->used, stored) != p->count)
		return false;
	may = fpt_node_may_band(pg, p, stored, k);
	/* with assertions the long way is gone, too: both must say the same */
#ifndef USE_ASSERT_CHECKING
	if (!may)
		return false;
#endif
	if (fpt_node_order(pg, p->node, slots) != p->count)
		return false;
	for (int i = 0; i < p->count; i++)
	{
		uint64		before = (UINT64CONST(1) << slots[i]) - 1;

		if (i == p->rank)
			tids[n++] = e->key.tid;
		tids[n++] = stored[fpt_popcount(p->used & before)];
	}
	if (p->rank >= p->count)
		tids[n++] = e->key.tid;
	is = fpt_recent_band(tids, n, k, band) && band->from <= p->rank &&
		band->to >= p->rank;
	Assert(may || !is);
	return is;
}

/*
 * Is the new entry's stored key above all of the full node of p?  Then *hi and
 * *lo are a separator between them, below it: as near as may be to the node,
 * which has no room for those that come after and are a little lower; of a wide
 * key, one without a lower half.  Where keys are relative to nodes, and that is
 * too far from the new one, it is right below that.  Raises nothing: only
 * stored keys are compared.
 */
static bool
fpt_place_above(FPTPage pg, const FPTPlace *p, uint64 *hi, uint64 *lo)
{
	const FPTGeom *g = pg.g;
	FPTLoc		last = {.kid = p->kid, .rank = p->count - 1};
	int			slot;

	if (p->rank < p->count || fpt_kid_cls(pg, p->kid) != FPT_CLS_VALUE)
		return false;
	slot = fpt_node_slot(pg, p->node, &last);
	if (slot < 0)
		return false;
	fpt_slot_rel(pg.g, p->node, fpt_kid_base(pg, p->kid), slot, hi, lo);
	if (p->hi < *hi || (p->hi == *hi && p->lo <= *lo))
		return false;
	if (*hi < p->hi)
	{
		(*hi)++;
		*lo = 0;
	}
	else
		(*lo)++;				/* p's is above it */
	if (*hi == p->hi && *lo >= p->lo)
	{
		*hi = p->hi - (p->lo == 0 ? 1 : 0);
		*lo = p->lo - 1;
	}
	if (fpt_node_tells(g, fpt_base_of(g, fpt_word(g, *hi, *lo)),
					   fpt_word(g, p->hi, p->lo)) != 0)
	{
		*hi = p->hi - (fpt_is_wide(g) ? 1 : 0);
		*lo = fpt_is_wide(g) ? 0 : p->lo - 1;
	}
	return true;
}

/*
 * Was the full node of p, whose slots are these in order, filled in ascending
 * order, and does e go on so?  The last FPT_ASCENDING_RUN entries tell: those
 * that came one after the other, each above all others, are in the slots of
 * their ranks, as are those of a node that was written at once.
 */
static bool
fpt_node_ascends(const FPTPlace *p, const uint8 *slots)
{
	for (int i = Max(0, p->count - FPT_ASCENDING_RUN); i < p->count; i++)
	{
		if (slots[i] != i)
			return false;
	}
	return p->rank == p->count;
}

/*
 * A new node for e and what will follow it, if e is above all of p's full node
 * and room is left for its tuple.  FPT_FULL: it is not, or there is none; the
 * page is unchanged.  FPT_OK: the node is there, empty, until e goes into it.
 * Raises nothing.
 */
static FPTResult
fpt_node_append(FPTPage pg, const FPTPlace *p, const FPTEntry *e)
{
	char	   *node;
	uint64		hi,
				lo;

	if (!fpt_place_above(pg, p, &hi, &lo) ||
		(fpt_has_offsets(pg.g) && fpt_tuple_room(pg) <
		 fpt_tuple_space(e->key.len) + fpt_node_space(pg)))
		return FPT_FULL;
	node = fpt_node_add(pg, p->kid + 1, false, hi, lo);
	if (node == NULL)
		return FPT_FULL;
	fpt_node_set_perm(pg.g, node);
	fpt_node_begin_rows(pg, node, e->key.tid);
	return FPT_OK;
}

/*
 * Split the node of p, which is full, or crowded: in the middle, or, where rows
 * arrive in more or less ascending order, so that it is left nearly full
 * ("band": where they do, or NULL).  FPT_OK: there is a free slot on the way to
 * e's place.  FPT_FULL: the page has no room for another node, and is
 * unchanged.  FPT_CORRUPT: the node is; nothing is changed.  Raises nothing.
 *
 * Entries above the border are written to a new node behind p's, and leave
 * their slots here; those below stay in theirs, unless they are to be spread.
 */
static FPTResult
fpt_node_split(FPTPage pg, FPTPlace *p, const FPTEntry *e, const FPTBand *band)
{
	FPTRelEntry rel[FPT_MAX_CAP];
	uint8		slots[FPT_MAX_CAP];
	bool		ascends;
	int			keep = p->count / 2;
	uint64		drop = 0;
	char	   *node;
	uint32		row;
	int			i;

	Assert(p->count >= 2 && p->rank <= p->count);
	if (!pg.g->perm && !fpt_has_free_node(pg))
		return FPT_FULL;		/* before entries are put into order */
	if (fpt_node_read(pg, p->kid, slots, rel) != p->count)
		return FPT_CORRUPT;
	ascends = fpt_node_ascends(p, slots);
	if (band != NULL && band->to < p->count)
	{
		/* What follows would be in the way for ever. */
		if (band->local)
			keep = Max(1, band->to);
	}
	else if (ascends || (band != NULL && band->from >= p->count / 2))
	{
		FPTResult	res = fpt_node_append(pg, p, e);

		if (res != FPT_FULL)
			return res;
		keep = Max(1, Min(p->rank, p->count - 1));
	}
	Assert(keep >= 1 && keep < p->count);
	/* those of a part are no more than all, if each slot has one of its own */
	if (fpt_has_far(pg.g) &&
		fpt_rel_far(pg, rel + keep, p->count - keep, &row) > pg.g->nfar)
		return FPT_CORRUPT;
	node = fpt_node_add(pg, p->kid + 1,
						fpt_kid_cls(pg, p->kid) != FPT_CLS_VALUE, rel[keep].hi,
						fpt_sep_low(rel[keep - 1].hi, rel[keep].hi,
									rel[keep].lo));
	if (node == NULL)
		return FPT_FULL;
	fpt_node_write(pg, p->kid + 1, rel + keep, p->count - keep);
	for (i = keep; i < p->count; i++)
	{
		drop |= UINT64CONST(1) << slots[i];
		fpt_hint_clear(pg, fpt_kid(pg, p->kid) * pg.g->cap + slots[i]);
	}
	fpt_slots_free(pg.g, p->node, drop);
	if (fpt_node_spreads(pg.g, rel, keep))
		fpt_node_spread(pg, p->kid);
	return FPT_OK;
}

/*
 * Rows arrive at the end of p's full node.  If the next node is where the later
 * ones are, and has room, let it begin with e, or with some entries above e.
 * FPT_OK: there is a free slot on the way to e's place.  FPT_FULL: it is not
 * where they are, or full; nothing is changed.  FPT_CORRUPT: the root names a
 * node twice, or one that there is not; nothing is changed either.  Raises
 * nothing.
 *
 * The TIDs of both nodes' first entries decide: where the next node was begun
 * after this one, its first row has the higher one.
 */
static FPTResult
fpt_node_pass_on(FPTPage pg, const FPTPlace *p)
{
	FPTLoc		loc = {.kid = p->kid};
	FPTEntry	first;
	FPTEntry	next;
	int			count;
	int			room;
	uint64		hi,
				lo;

	if (p->kid + 1 >= p->to)
		return FPT_FULL;
	if (fpt_kid_node(pg, p->kid + 1) == p->node)
		return FPT_CORRUPT;
	count = fpt_node_count(pg.l, pg.p, p->kid + 1);
	if (count < 0)
		return FPT_CORRUPT;
	room = pg.g->cap - count;
	if (room < 1 || count == 0)
		return FPT_FULL;
	if (fpt_page_get(pg.l, pg.p, loc, &first) != FPT_OK)
		return FPT_CORRUPT;
	loc.kid++;
	if (fpt_page_get(pg.l, pg.p, loc, &next) != FPT_OK)
		return FPT_CORRUPT;
	if (next.key.tid < first.key.tid)
		return FPT_FULL;
	if (fpt_place_above(pg, p, &hi, &lo))
		return fpt_kid_set_sep(pg, p->kid + 1, hi, lo);

	/* e would follow the entry that is passed on, as their keys look alike. */
	if (p->rank >= p->count && room < 2)
		return FPT_FULL;
	return fpt_entries_shift(pg, p->kid, 1,
							 Max(1, Min(room, p->count - p->rank)));
}

/*
 * Make p's entry one that a node can tell: relative to its own it is too low,
 * or too high.  FPT_OK: it belongs in a node that can, which may be full.
 * FPT_UNFIT: there is none, and none to be had; the page is unchanged.
 * FPT_CORRUPT: the node is empty.  Raises nothing.
 *
 * If it is too low, it is so for the first of all, whose base is as it likes.
 * If it is too high it begins a node, or the next one: what is not above all of
 * the node's entries is not too high.
 */
static FPTResult
fpt_room_beyond(FPTPage pg, const FPTPlace *p, const FPTEntry *e)
{
	FPTResult	res;
	uint64		hi,
				lo;

	Assert(fpt_is_near(pg.g) && p->beyond != 0);
	if (p->count == 0)
		return FPT_CORRUPT;
	if (p->beyond < 0)
		res = fpt_kid_set_sep(pg, p->kid, p->hi, p->lo);
	else
	{
		res = fpt_node_append(pg, p, e);
		if (res == FPT_FULL && p->kid + 1 < p->to &&
			fpt_kid_node(pg, p->kid + 1) != NULL &&
			fpt_place_above(pg, p, &hi, &lo))
			res = fpt_kid_set_sep(pg, p->kid + 1, hi, lo);
	}
	return res == FPT_FULL ? FPT_UNFIT : res;
}

/*
 * Set the dead-entry hints of a page that was rebuilt from a copy of itself as
 * they are there: the entries are the same, in the same order, in other slots.
 * Goes through both pages at once; "rest" is what is left of a node here.  All
 * hints of the page are clear before.
 */
static void
fpt_hints_carry(FPTPage pg, FPTPage was)
{
	int			kid = 0;
	uint64		rest = 0;
	uint8		slots[FPT_MAX_CAP];

	for (int from = 0; from < fpt_header(was.p)->nkids; from++)
	{
		FPTKid		k;
		int			n;

		/* they were opened when the entries were extracted */
		(void) fpt_kid_open(was, from, &k);
		n = fpt_node_order(was, k.node, slots);
		for (int i = 0; i < n; i++)
		{
			/* as fpt_node_write() left them: slots are in order */
			if (rest == 0)
			{
				Assert(kid < fpt_header(pg.p)->nkids);
				rest = fpt_node_used(pg.g, fpt_kid_node(pg, kid++));
			}
			if (fpt_hint_test(was, fpt_kid_slotid(was.g, &k, slots[i])))
				fpt_hint_set(pg, fpt_kid(pg, kid - 1) * pg.g->cap +
							 fpt_ctz(rest));
			rest &= rest - 1;
		}
	}
	Assert(kid == fpt_header(pg.p)->nkids && rest == 0);
}

/*
 * Rebuild the in-page tree of n entries in nodes of so much fill; tuples are
 * moved together, and hints stay with their entries.  FPT_FULL: the page is
 * unchanged.  FPT_CORRUPT: it may be half changed.  Raises nothing but where
 * the page has a dictionary.  Takes all of *work.
 */
static FPTResult
fpt_page_rebuild(FPTPage pg, int n, int fill, FPTWork *work)
{
	FPTPageHeader *h = fpt_header(pg.p);
	FPTEntry   *e = work->u.entries;
	FPTResult	res;

	/* From a copy, where tuples do not move while they are put back. */
	memcpy(work->page, pg.p, BLCKSZ);
	if (fpt_page_extract(pg.l, work->page, e, FPT_MAX_ENTRIES) != n ||
		(fpt_shares_space(pg.g) && !fpt_hole_sound(pg)))
		return FPT_CORRUPT;
	h->nkids = h->nnull = 0;
	fpt_set_nnodes(pg, 0);
	res = fpt_encoding(pg.g)->clear(pg, work->page);
	if (res == FPT_OK)
		res = fpt_page_fill(pg.l, pg.p, e, n, fill);
	Assert(res != FPT_OK || fpt_page_count(pg.l, pg.p) == n);
	if (res == FPT_OK && fpt_is_leaf(pg.g))
		fpt_hints_carry(pg, fpt_page_open(pg.l, work->page));

	/*
	 * Keys of a dictionary that were different may be equal by now, if the
	 * comparison function is another one.  Its page stays as it is.
	 */
	if (res == FPT_FULL || res == FPT_UNFIT)
	{
		memcpy(pg.p, work->page, BLCKSZ);
		res = FPT_FULL;
	}
	return res;
}

/*
 * Spread the entries over all nodes, if that gains enough (or "hard":
 * anything).  FPT_FULL: it does not, the page is unchanged, as it is with
 * FPT_NO_WORK: it would, but "work" is NULL.  Raises nothing but where the page
 * has a dictionary.
 */
static FPTResult
fpt_page_reorganise(FPTPage pg, bool hard, FPTWork *work)
{
	int			n = fpt_page_count(pg.l, pg.p);

	if (n < 0)
		return FPT_CORRUPT;
	if (!fpt_encoding(pg.g)->rebuild_pays(pg, n) &&
		(!hard || n + FPT_REORG_SPARE > (int) pg.g->capacity))
		return FPT_FULL;
	if (work == NULL)
		return FPT_NO_WORK;

	/* Leave a node or two for regions and splits. */
	return fpt_page_rebuild(pg, n, FPT_REORG_FILL, work);
}

/*
 * See page/room.h.  What a packed page saves is counted in whole nodes,
 * before anything is copied.
 */
FPTResult
fpt_page_pack(const FPTLayout *l, void *page, FPTWork *work)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			n = fpt_page_count(l, page);
	int			nodes;

	if (pg.g == NULL || n < 0)
		return FPT_CORRUPT;

	/* Its numbers are short, and its keys would have to be compared. */
	if (fpt_encoding(pg.g)->few_keys)
		return FPT_FULL;

	/* NULLs and values have nodes of their own, of which one is not full. */
	nodes = fpt_ceil_div(n, Max(1, pg.g->cap * FPT_PACK_FILL / 100)) +
		(fpt_header(pg.p)->nnull > 0 ? 1 : 0);
	if ((fpt_header(pg.p)->nnodes - nodes) * pg.g->x * FPT_LINE < FPT_PACK_GAIN)
		return FPT_FULL;
	if (work == NULL)
		return FPT_NO_WORK;
	return fpt_page_rebuild(pg, n, FPT_PACK_FILL, work);
}

/*
 * Has a page of general keys enough free slots for the tuples for which there
 * would be room after another node was added?  With tuples as long as those
 * there are on average, a node more would leave slots without tuples.  False of
 * image pages, and of damaged ones.
 */
static bool
fpt_slots_abound(FPTPage pg)
{
	int			n;
	int			slots;
	int			room;
	int			bytes;

	if (!fpt_shares_space(pg.g))
		return false;
	n = fpt_page_count(pg.l, pg.p);
	if (n <= 0)
		return false;
	slots = fpt_header(pg.p)->nkids * pg.g->cap - n;
	room = fpt_tuple_room(pg) - fpt_node_space(pg);
	bytes = FPT_SPECIAL_OFFSET - fpt_tuples_from(pg);
	return (int64) room * n < (int64) slots * bytes;
}

/*
 * A free slot by p's full node, for e: at the end of the next one, in another
 * node, or with the help of the neighbours.  FPT_OK: entries have made room on
 * the way to e's place, which may be in another node by now.  FPT_FULL: there
 * is none; the page is as it was, but for entries that changed nodes.  Else as
 * fpt_page_insert(), or FPT_CORRUPT, the page being half changed perhaps.
 * Raises nothing.  "hard" as below.
 */
static FPTResult
fpt_room_nearby(FPTPage pg, FPTPlace *p, const FPTEntry *e, bool hard)
{
	FPTBand		band;
	bool		near = !hard && fpt_node_band(pg, p, e, &band);
	FPTResult	res = FPT_FULL;

	if (near && band.to == p->count && band.from >= p->count / 2)
		res = fpt_node_pass_on(pg, p);
	if (res == FPT_FULL && fpt_slots_abound(pg))
		res = fpt_node_shift(pg, p, hard);
	/* (if entries were shifted in vain, it was farther away than p's node) */
	if (res == FPT_FULL)
		res = fpt_node_split(pg, p, e, near ? &band : NULL);
	if (res == FPT_FULL && (!fpt_shares_space(pg.g) || hard))
		res = fpt_node_shift(pg, p, hard);
	return res;
}

/*
 * Make the TIDs of p's node, which has a free slot, relative to another row, if
 * that leaves room for e's.  FPT_FULL: it does not; nothing is changed.
 * FPT_CORRUPT: a TID cannot be.  Raises nothing.
 */
static FPTResult
fpt_node_rebase(FPTPage pg, const FPTPlace *p, const FPTEntry *e)
{
	FPTRelEntry rel[FPT_MAX_CAP];
	uint8		slots[FPT_MAX_CAP];
	uint32		row;

	if (fpt_node_read(pg, p->kid, slots, rel) != p->count)
		return FPT_CORRUPT;
	rel[p->count].tid = e->key.tid;
	if (fpt_rel_far(pg, rel, p->count + 1, &row) > pg.g->nfar)
		return FPT_FULL;
	fpt_node_free(pg.g, p->node);
	fpt_node_set_row(pg.g, p->node, row);
	for (int i = 0; i < p->count; i++)
		fpt_slot_set_tid(pg, p->node, slots[i], rel[i].tid);
	return FPT_OK;
}

/*
 * Room for e's TID, which is too far from those of p's node, where there are
 * too many of the kind: with another row that they are relative to, or in half
 * of the node, which has room for as many as all of it.  FPT_UNFIT: the node is
 * not even half full, so rows do not come in the order of keys; or there is no
 * room for another node, though a quarter of the page is free: it is to be
 * formed anew, with whole TIDs mostly.  FPT_FULL: no room for another node.
 * Unless FPT_OK the page is unchanged.  FPT_CORRUPT: the node is.  Raises
 * nothing.
 */
static FPTResult
fpt_room_crowded(FPTPage pg, FPTPlace *p, const FPTEntry *e)
{
	FPTResult	res = FPT_FULL;

	Assert(p->crowded);
	if (p->count < pg.g->cap)
		res = fpt_node_rebase(pg, p, e);
	if (res != FPT_FULL)
		return res;
	if (p->count < Max(2, pg.g->cap / 2))
		return FPT_UNFIT;
	res = fpt_node_split(pg, p, e, NULL);
	if (res == FPT_FULL &&
		fpt_page_count(pg.l, pg.p) * 4 <= (int) pg.g->capacity * 3)
		return FPT_UNFIT;
	return res;
}

/*
 * A free slot for e: in a new node, or in the neighbours' nodes.  FPT_OK: there
 * is one now.  FPT_FULL: the page is as it was, but for entries that changed
 * nodes, or one more key in its dictionary.  Else as fpt_page_insert(), or
 * FPT_CORRUPT, the page being half changed perhaps.  May raise: keys are
 * compared to find e's place, before anything is changed and once more
 * afterwards.
 *
 * "hard": distance and cost do not count, nor where rows came last (FPTBand).
 */
static FPTResult
fpt_make_room_locally(FPTPage pg, const FPTEntry *e, bool hard)
{
	FPTPlace	p;
	char	   *node;
	FPTResult	res = fpt_insert_place(pg, e, &p);

	if (res != FPT_FULL)
		return res;
	if (p.beyond != 0)
	{
		res = fpt_room_beyond(pg, &p, e);
		if (res == FPT_OK)
			res = fpt_insert_place(pg, e, &p);
		if (res != FPT_FULL)
			return res;
		if (p.beyond != 0)
			return FPT_CORRUPT;
	}
	if (!p.told)
	{
		res = fpt_encoding(pg.g)->tell(pg, &e->key, (int) p.lo);
		if (res == FPT_OK)
			res = fpt_insert_place(pg, e, &p);
		if (res != FPT_FULL)
			return res;
		if (!p.told)
			return FPT_FULL;
	}
	if (!fpt_tuple_fits(pg, &e->key))
		return FPT_FULL;
	if (p.from >= p.to)
	{
		/* The first entry of its region. */
		if (fpt_has_offsets(pg.g) && fpt_tuple_room(pg) <
			fpt_tuple_space(e->key.len) + fpt_node_space(pg))
			return FPT_FULL;
		node = fpt_node_add(pg, p.from, e->key.cls != FPT_CLS_VALUE, p.hi,
							p.lo);
		if (node == NULL)
			return FPT_FULL;
		fpt_node_begin_rows(pg, node, e->key.tid);
		return FPT_OK;
	}

	/*
	 * Where the searched parts of keys tell nodes apart separators have no
	 * lower half, and e may belong in the node that entries went to, which is
	 * full now: then it is that one that needs room, and has it nearby.  It may
	 * be crowded, too.
	 */
	for (int i = 0; i < 3; i++)
	{
		res = p.crowded ? fpt_room_crowded(pg, &p, e) :
			fpt_room_nearby(pg, &p, e, hard);
		if (res != FPT_OK)
			return res;
		res = fpt_insert_place(pg, e, &p);
		if (res != FPT_FULL || p.beyond != 0 ||
			(p.count < pg.g->cap && !p.crowded))
			break;
	}
	return res;
}

/*
 * The same, once the bytes of removed entries' tuples are in the hole.
 * FPT_FULL: too few, or still no room.  FPT_NO_WORK before anything is
 * changed.  May raise.  Each step of the encoding's gains more than the last
 * one and logs more, so room is looked for after each.
 */
static FPTResult
fpt_make_room_tuples(FPTPage pg, const FPTEntry *e, bool hard, FPTWork *work)
{
	int			least = hard ? fpt_tuple_space(e->key.len) : FPT_COMPACT_GAIN;
	FPTResult	res = FPT_FULL;

	Assert(fpt_shares_space(pg.g));
	for (int step = 0; res == FPT_FULL; step++)
	{
		int			garbage = fpt_tuple_garbage(pg);

		if (garbage < 0)
			return FPT_CORRUPT;
		if (garbage < least)
			return FPT_FULL;
		if (work == NULL)
			return FPT_NO_WORK;
		res = fpt_encoding(pg.g)->reclaim(pg, step, work);
		if (res == FPT_UNFIT)
			return FPT_FULL;
		if (res == FPT_OK)
			res = fpt_make_room_locally(pg, e, hard);
	}
	return res;
}

/*
 * Make room for e, cheapest ways first.  FPT_OK: a free slot awaits it.
 * FPT_FULL: there is none to be had (for less than "hard").  Anything else is
 * why e cannot go in at all.  May raise; the page may be half changed unless
 * FPT_OK, FPT_FULL or FPT_NO_WORK is returned.
 */
static FPTResult
fpt_make_room(const FPTLayout *l, void *page, const FPTEntry *e, bool hard,
			  FPTWork *work)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	n;
	FPTLocal	local;
	FPTResult	res;

	if (fpt_num_page(pg, &n))
		return fpt_num_make_room(&n, e);
	if (pg.g == NULL)
		return FPT_CORRUPT;
	res = fpt_page_localize(pg, &e, &local);
	if (res == FPT_OK)
		res = fpt_make_room_locally(pg, e, hard);
	if (res == FPT_FULL && fpt_shares_space(pg.g))
		res = fpt_make_room_tuples(pg, e, hard, work);
	if (res == FPT_FULL)
	{
		/* Small pages can still be without a free node after this. */
		res = fpt_page_reorganise(pg, hard, work);
		if (res == FPT_OK)
			res = fpt_make_room_locally(pg, e, hard);
	}
	return res;
}

FPTResult
fpt_page_make_room(const FPTLayout *l, void *page, const FPTEntry *e,
				   FPTWork *work)
{
	return fpt_make_room(l, page, e, false, work);
}

FPTResult
fpt_page_find_room(const FPTLayout *l, void *page, const FPTEntry *e,
				   FPTWork *work)
{
	return fpt_make_room(l, page, e, true, work);
}
