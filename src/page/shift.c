/*-------------------------------------------------------------------------
 *
 * page/shift.c
 *	  Page kernel: making room in a full node with the help of its neighbours.
 *
 * Entries are shifted to a node with free slots, over the nodes in between, if
 * that is worth its WAL.
 *
 *-------------------------------------------------------------------------
 */
#include "page/encoding.h"
#include "page/format.h"
#include "page/kernel.h"
#include "page/node.h"
#include "page/order.h"
#include "page/root.h"
#include "page/shift.h"
#include "page/slots.h"

/*
 * Nodes away that entries of a full node are shifted to: half as many where the
 * permutations on the way are to be changed, too.  General pages can have more
 * nodes instead, and where many heads are the same shifting is dear.
 */
#define FPT_SHIFT_DISTANCE	12
#define FPT_SHIFT_TUPLES	4
#define FPT_SHIFT_TIES		2

/*
 * Shifting entries: bytes that a record takes besides them, more or less, and
 * each node on the way; and what a slot may cost that is gained by it
 * (fpt_shift_pays).  Where slots are narrow a split logs little for each, and
 * one gained alone takes more: then the page is split, for half the time; but
 * not where a key's next rows come to the same place, or rows come in order.
 */
#define FPT_SHIFT_RECORD	60
#define FPT_SHIFT_NODE		(3 * FPT_EDIT_HEADER)
#define FPT_SHIFT_WORTH		150
#define FPT_SHIFT_NARROW	5	/* bytes of such a slot, and */
#define FPT_SHIFT_LITTLE	75	/* what one may cost */
#define FPT_SHIFT_UNIT		16	/* parts of a byte that costs are counted in */

/*
 * Entries that a node gives at a time.  More cost less for each slot gained,
 * but the page is split sooner or later, and the slots that are left then have
 * been gained for nothing.
 */
#define FPT_SHIFT_MOST		4

/* What entries are shifted from, and to: kids next to each other. */
typedef struct FPTShifting
{
	FPTKid		a;				/* gives, */
	FPTKid		b;				/* takes */
	int			by;				/* b's place less a's: 1 or -1 */
} FPTShifting;

/*
 * The separator of a kid that is to begin with the k'th of the entries of the
 * one that gives, which are in these slots, in order.  k is not 0.
 */
static void
fpt_shift_sep(FPTPage pg, const FPTShifting *s, const uint8 *slots, int k,
			  uint64 *hi, uint64 *lo)
{
	uint64		base = fpt_kid_base(pg, s->a.kid);
	uint64		prevhi;

	Assert(k > 0);
	fpt_slot_rel(pg.g, s->a.node, base, slots[k - 1], &prevhi, lo);
	fpt_slot_rel(pg.g, s->a.node, base, slots[k], hi, lo);
	*lo = fpt_sep_low(prevhi, *hi, *lo);
}

/*
 * Can m entries of the kid that gives, in these slots, be told in the other
 * one's node, if its separator will have this searched part, where it is the
 * right one, and is there room for their TIDs?  FPT_FULL: no.  FPT_CORRUPT: one
 * is beyond what the page can tell.
 */
static FPTResult
fpt_shift_told(FPTPage pg, const FPTShifting *s, const uint8 *slots, int m,
			   uint64 sep)
{
	int			kid = s->a.kid;
	int			by = s->by;
	const FPTGeom *g = pg.g;
	uint64		from = fpt_kid_base(pg, kid);
	uint64		to = by > 0 ? fpt_base_of(g, sep) : fpt_kid_base(pg, kid + by);

	if (fpt_has_far(g))
	{
		uint64		last = 0;
		int			far = 0;

		/* neighbours share a far one mostly */
		for (int i = 0; i < m; i++)
		{
			uint64		tid = fpt_slot_tid(pg, s->a.node, slots[i]);
			uint64		v = fpt_far_of(g, fpt_special(pg.p)->tidbase, tid);

			if (!fpt_page_tells_tid(pg, tid))
				return FPT_CORRUPT;
			/* (who needs none may have one in common with who does) */
			if (fpt_tid_byte(pg, s->b.node, tid) == 0)
			{
				far += v != last;
				last = v;
			}
		}
		if (far > fpt_far_room(g, s->b.node))
			return FPT_FULL;
	}
	for (int i = 0; fpt_is_near(g) && i < m; i++)
	{
		uint64		hi,
					lo;

		fpt_slot_rel(g, s->a.node, from, slots[i], &hi, &lo);
		if (!fpt_fits(g->kw, hi, lo) || fpt_word(g, hi, lo) < from)
			return FPT_CORRUPT;
		if (fpt_node_tells(g, to, fpt_word(g, hi, lo)) != 0)
			return FPT_FULL;
	}
	return FPT_OK;
}

/*
 * Open two kids next to each other.  False: the page names nodes that there are
 * not, or one of them twice.
 */
static bool
fpt_shift_open(FPTPage pg, int kid, int by, FPTShifting *s)
{
	Assert(by == 1 || by == -1);
	s->by = by;
	return fpt_kid_open(pg, kid, &s->a) && fpt_kid_open(pg, kid + by, &s->b) &&
		s->a.node != s->b.node;
}

/*
 * Put the slots in use of the kid that gives in order, as far as they matter:
 * those of the m entries to move, from the first one on or the last, and of the
 * one next to these come to their places among all.  False: the node is
 * corrupt.
 */
static bool
fpt_shift_order(FPTPage pg, const FPTShifting *s, uint64 used, int m,
				uint8 *slots)
{
	int			n = fpt_popcount(used);

	Assert(m > 0 && m < n);
	if (pg.g->perm || m + 1 > FPT_END_MOST)
		return fpt_node_order(pg, s->a.node, slots) == n;
	fpt_slots_end(pg, s->a.node, used, s->by > 0, m + 1,
				  s->by > 0 ? slots + n - m - 1 : slots);
	return true;
}

/*
 * See page/shift.h.  Of the kid that takes any free slots will do, and the
 * lowest are taken.  Where slots own tuples and one of the entries has the head
 * of its neighbour, they must be in the order of slots: then the taker's own
 * entries are pushed out of the way first, and bused pretends that all slots
 * but the first m, or the last, are in use.
 */
FPTResult
fpt_entries_shift(FPTPage pg, int kid, int by, int m)
{
	FPTShifting s;
	uint8		aslots[FPT_MAX_CAP];
	uint8		bslots[FPT_MAX_CAP];	/* afterwards */
	uint64		aused;
	uint64		bused;
	int			na;
	int			nb;
	int			first;			/* of the entries to move */
	int			at;				/* where they go */
	uint64		hi,
				lo;
	FPTResult	res;

	Assert(m > 0);
	if (!fpt_shift_open(pg, kid, by, &s))
		return FPT_CORRUPT;
	aused = fpt_node_used(pg.g, s.a.node);
	na = fpt_popcount(aused);
	bused = fpt_node_used(pg.g, s.b.node);
	nb = fpt_popcount(bused);
	first = by > 0 ? na - m : 0;
	at = by > 0 ? 0 : nb;
	if (m >= na || nb + m > pg.g->cap ||
		!fpt_shift_order(pg, &s, aused, m, aslots) ||
		(pg.g->perm &&
		 fpt_node_order(pg, s.b.node, bslots + (by > 0 ? m : 0)) < 0))
		return FPT_CORRUPT;
	fpt_shift_sep(pg, &s, aslots, by > 0 ? first : m, &hi, &lo);
	if (!fpt_fits(pg.g->kw, hi, lo))
		return FPT_CORRUPT;
	res = fpt_shift_told(pg, &s, aslots + first, m, fpt_word(pg.g, hi, lo));
	if (res == FPT_OK && by > 0)
		res = fpt_kid_set_sep(pg, kid + 1, hi, lo);
	if (res != FPT_OK)
		return res;
	if (fpt_shift_ties(pg, s.a.node, aslots + first, m, s.b.node, by))
	{
		fpt_node_push(pg, kid + by, m, by);
		bused = by > 0 ? ~fpt_first_slots(m) :
			~pg.g->capmask | fpt_first_slots(pg.g->cap - m);
	}
	for (int i = 0; i < m; i++)
	{
		int			to = fpt_ctz(~bused);

		fpt_slot_move(pg, kid, aslots[first + i], kid + by, to);
		bused |= UINT64CONST(1) << to;
		bslots[at + i] = (uint8) to;
	}
	if (pg.g->perm)
	{
		memcpy(fpt_node_perm(pg.g, s.b.node), bslots, nb + m);
		if (by < 0)
			memcpy(fpt_node_perm(pg.g, s.a.node), aslots + m, na - m);
	}

	/* its keys are above this, so that none gets out of reach */
	if (by < 0 && fpt_kid_set_sep(pg, kid, hi, lo) != FPT_OK)
		return FPT_CORRUPT;
	return FPT_OK;
}

/*
 * Are entries shifted to where that costs the least, a few at a time?  Else to
 * the nearest kid with room: where nodes have permutations, or are a part of
 * the page only.
 */
static inline bool
fpt_shift_chooses(FPTPage pg)
{
	return !pg.g->perm && !fpt_shares_space(pg.g);
}

/*
 * Bytes that shifting an entry from node to node logs: there it is put, here
 * its slot is freed.
 */
static inline int
fpt_shift_entry(const FPTGeom *g)
{
	return fpt_slot_bytes(g) + 1;
}

/* A way to shift entries of a full node, and what it logs for each of them. */
typedef struct FPTShift
{
	int			by;				/* 1: to the right, -1: to the left */
	int			nodes;			/* how far the node with room is; 0: none */
	int			m;				/* entries that each node on the way gives */
	int			cost;			/* bytes for a slot gained, in parts of one;
								 * or the way, where nothing is chosen */
} FPTShift;

/* Are most of the full kid's entries of the new one's key? */
static inline bool
fpt_place_repeats(const FPTPlace *p)
{
	return fpt_popcount(p->eq) > p->count / 2;
}

/*
 * How many of a full node's entries to shift to a node with so much room: half
 * of it, for later, as far as the new entry stays on this side of what moves,
 * or finds room where it goes.  All of it in a node of many rows of the new
 * entry's key, as their next ones will come here, too; but for a slot if keys
 * are wide, as the separator may have no lower half, and send the new entry
 * after them.  1 at least; to the left, one less than are below the new entry,
 * which must not become the first one.
 */
static int
fpt_shift_share(FPTPage pg, const FPTPlace *p, int by, int room)
{
	int			share = fpt_place_repeats(p) ? 1 : 2;

	if (by < 0)
		return Max(1, Min(room / share, p->rank - 1));
	if (p->rank >= p->count)
		return Max(1, Min(room / 2, p->count - 1));
	if (share == 1 && fpt_is_wide(pg.g))
		room--;
	return Max(1, Min(room / share, p->count - p->rank));
}

/*
 * How many nodes away p's full node may look for room; all of its region if
 * "hard".  Where many heads are the same, slots are pushed in each node on the
 * way, and the payload of all of them is logged.
 */
static int
fpt_shift_reach(FPTPage pg, const FPTPlace *p, bool hard)
{
	if (hard)
		return p->to - p->from;
	if (pg.g->perm)
		return FPT_SHIFT_DISTANCE / 2;
	if (!fpt_has_ties(pg.g))
		return FPT_SHIFT_DISTANCE;
	return fpt_popcount(p->eq) > pg.g->cap / FPT_SPREAD_SHARE ?
		FPT_SHIFT_TIES : FPT_SHIFT_TUPLES;
}

/*
 * The cheapest way, or the nearest, to shift entries of p's full node towards
 * one side, if it is cheaper than *best, or that is none.  "hard": no node is
 * too far.  Only looks; where the page is corrupt, the way ends.  "least" keeps
 * every node on the way from giving its last entry.
 */
static void
fpt_shift_find(FPTPage pg, const FPTPlace *p, int by, bool hard,
			   FPTShift *best)
{
	const FPTGeom *g = pg.g;
	bool		atend = p->rank >= p->count;
	int			entry = fpt_shift_entry(g);
	int			least = p->count;	/* entries of a node that gives some */
	int			max = fpt_shift_reach(pg, p, hard);

	Assert(by == 1 || by == -1);
	Assert(p->kid >= p->from && p->kid < p->to);
	if (by < 0 && p->rank < 2)
		return;
	for (int nodes = 1; nodes <= max; nodes++)
	{
		int			kid = p->kid + by * nodes;
		int			count;
		int			room;
		FPTShift	s = {.by = by, .nodes = nodes};

		if (kid < p->from || kid >= p->to)
			return;
		count = fpt_node_count(pg.l, pg.p, kid);
		if (count <= 0)
			return;				/* the page is corrupt */
		room = pg.g->cap - count;

		/* What goes to the very end can follow to a direct neighbour only. */
		if (by > 0 && atend && (nodes > 1 || room < 2))
			return;
		if (room == 0)
		{
			least = Min(least, count);
			continue;
		}
		s.m = Min(fpt_shift_share(pg, p, by, room), least - 1);
		if (fpt_shift_chooses(pg) && !fpt_place_repeats(p) && !hard)
			s.m = Min(s.m, FPT_SHIFT_MOST);
		least = Min(least, count);
		if (s.m < 1)
			return;
		s.cost = FPT_SHIFT_UNIT * (FPT_SHIFT_RECORD + nodes *
								   (FPT_SHIFT_NODE + s.m * entry)) / s.m;
		if (!fpt_shift_chooses(pg))
			s.cost = nodes;
		if (best->nodes == 0 || s.cost < best->cost)
			*best = s;
		if (!fpt_shift_chooses(pg))
			return;
	}
}

/*
 * Is a slot worth what it costs to gain it so?  Where it is not the page is
 * full, and split, which logs three quarters of its entries for as many free
 * slots, so far less for a slot; but pages that are split sooner are emptier.
 * Rows of one key are worth any cost: the next ones come to the same node, and
 * to no other of those that a split would leave half empty.
 */
static inline bool
fpt_shift_pays(FPTPage pg, const FPTPlace *p, const FPTShift *s)
{
	bool		narrow = fpt_slot_bytes(pg.g) <= FPT_SHIFT_NARROW &&
		!fpt_has_far(pg.g) && p->eq == 0;
	int			worth = narrow ? FPT_SHIFT_LITTLE : FPT_SHIFT_WORTH;

	return !fpt_shift_chooses(pg) || fpt_place_repeats(p) ||
		s->cost <= FPT_SHIFT_UNIT * worth;
}

/*
 * See page/shift.h.  Looks to both sides before anything is moved; the nodes in
 * between are full, each is given what the next one takes from it.
 */
FPTResult
fpt_node_shift(FPTPage pg, const FPTPlace *p, bool hard)
{
	bool		repeats;
	FPTShift	s = {0};
	FPTResult	res = FPT_OK;

	Assert(p->count > 0 && fpt_place_has_node(p));

	/*
	 * A load in ascending order wants full pages behind it, not room.  Where
	 * keys repeat, the end of the page is the end of one of them.
	 */
	repeats = fpt_encoding(pg.g)->few_keys ||
		(!fpt_has_ties(pg.g) && p->eq != 0);
	if (p->rank >= p->count && p->kid + 1 == p->to && !repeats && !hard)
		return FPT_FULL;
	fpt_shift_find(pg, p, 1, hard, &s);
	fpt_shift_find(pg, p, -1, hard, &s);
	if (s.nodes == 0 || (!hard && !fpt_shift_pays(pg, p, &s)))
		return FPT_FULL;

	/* From the far end, so that every node has room when it is given some. */
	for (int kid = p->kid + s.by * (s.nodes - 1);
		 kid != p->kid - s.by && res == FPT_OK; kid -= s.by)
		res = fpt_entries_shift(pg, kid, s.by, s.m);
	return res;
}
