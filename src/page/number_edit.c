/*-------------------------------------------------------------------------
 *
 * page/number_edit.c
 *	  Page kernel: changing leaf pages of numbers.
 *
 * An insertion writes a free slot.  If no slot is free, or the node is too
 * narrow for the entry, the node gives way, and its neighbours if need be: it
 * is split if the page has another node, or gets a slot by shifting, or some
 * nodes are planned anew, as those of a page that is formed.
 *
 *-------------------------------------------------------------------------
 */
#include "page/number_edit.h"
#include "page/number_form.h"
#include "page/slots.h"

/* Shifting: nodes to go, entries to give, bytes of WAL to pay for a slot. */
#define FPT_NUM_SHIFT_REACH		24
#define FPT_NUM_SHIFT_GIVE		4
#define FPT_NUM_SHIFT_BYTES		150
#define FPT_NUM_SHIFT_NARROW	100 /* a slot, where these have few bytes */
#define FPT_NUM_NARROW			5

/* Nodes that are planned anew together, at most. */
#define FPT_NUM_REPLAN			8

/* Distance of the label of a new head that is the last one. */
#define FPT_NUM_LAST_STEP		8

/* A page that has no more than this in use is formed anew, not split. */
#define FPT_NUM_ANEW_NUM		3
#define FPT_NUM_ANEW_DEN		4

/* A node that is open, and its entries in order. */
typedef struct FPTNumKid
{
	FPTNumNode	d;
	int			n;
	uint64		e[FPT_MAX_CAP];
	uint8		slots[FPT_MAX_CAP];
} FPTNumKid;

static bool
fpt_num_kid_open(const FPTNumbers *pg, int kid, FPTNumKid *k)
{
	if (!fpt_num_node(pg, kid, &k->d))
		return false;
	k->n = fpt_num_order(&k->d, fpt_num_used(&k->d), k->slots, k->e);
	for (int i = 0; i < k->n; i++)
		k->e[i] += k->d.b;
	return true;
}

/* Free a slot, and forget its hint. */
static void
fpt_num_clear(const FPTNumbers *pg, const FPTNumNode *d, int slot)
{
	d->p[slot * d->w] = 0;
	fpt_num_set_hints(pg, d->ordinal, fpt_num_hints(pg, d->ordinal) &
					  ~(UINT64CONST(1) << slot));
}

/* --- inserting ----------------------------------------------------------- */

/*
 * See page/modify.h.  p's lo is the entry's number, where the page has a head
 * for it; beyond is set where the node is too narrow for it.
 */
FPTResult
fpt_num_insert_find(const FPTNumbers *pg, const FPTEntry *e, FPTPlace *p)
{
	uint32		null = pg->l->nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;
	const char *head;
	FPTNumNode	d;
	uint64		eq;

	memset(p, 0, sizeof(FPTPlace));
	p->to = pg->nkids;
	if (e->key.cls != FPT_CLS_VALUE)
		return e->key.cls == null ? FPT_UNFIT : FPT_CORRUPT;
	if (pg->nkids == 0 || !fpt_num_tells_tid(pg, e->key.tid))
		return FPT_UNFIT;
	head = fpt_num_head_find(pg, e->key.hi, e->key.lo);
	if (head == NULL)
		return FPT_FULL;
	p->told = true;
	p->lo = fpt_num_label(head) << pg->t | fpt_num_row(e->key.tid, pg->ob);
	p->kid = fpt_num_kid(pg, p->lo);
	if (!fpt_num_node(pg, p->kid, &d))
		return FPT_CORRUPT;
	p->node = d.p;
	p->used = fpt_num_used(&d);
	p->count = fpt_popcount(p->used);
	if (!fpt_num_fits(&d, p->lo))
	{
		p->beyond = 1;
		return FPT_FULL;
	}
	(void) fpt_simd->cmp[d.w - 1] (d.p, d.cap, p->lo & fpt_ones(8 * d.w), &eq);
	if ((eq & p->used) != 0)
		return FPT_DUPLICATE;
	return p->count < d.cap ? FPT_OK : FPT_FULL;
}

/* See page/modify.h.  A free slot has no hint. */
void
fpt_num_insert_at(const FPTNumbers *pg, const FPTPlace *p, FPTEdit *edit)
{
	FPTNumNode	d;
	int			slot = fpt_ctz(~p->used);

	if (!fpt_num_node(pg, p->kid, &d) || slot >= d.cap)
	{
		Assert(false);			/* fpt_num_insert_find() has seen it */
		return;
	}
	fpt_num_put(&d, slot, p->lo);
	fpt_edit_add(edit, pg->p, d.p + slot * d.w, d.w);
}

/* --- heads --------------------------------------------------------------- */

/* How many heads have entries. */
static int
fpt_num_heads_used(const FPTNumbers *pg)
{
	uint64		last = 0;
	int			n = 0;
	FPTNumKid	k;

	for (int kid = 0; kid < pg->nkids && fpt_num_kid_open(pg, kid, &k); kid++)
	{
		for (int i = 0; i < k.n; i++)
		{
			n += k.e[i] >> pg->t != last;
			last = k.e[i] >> pg->t;
		}
	}
	return n;
}

/*
 * Add a head for an image.  FPT_UNFIT: no label is free between its
 * neighbours', or many heads have no entries any more.  FPT_FULL: the page has
 * no room for it.  Moves the hints.
 */
static FPTResult
fpt_num_add_head(FPTNumbers *pg, const FPTKey *key)
{
	uint64		below,
				above,
				label;
	int			hints = FPT_NUM_HINT_BYTES * pg->maxnodes;
	int			from = fpt_num_hint_off(pg);
	char	   *p;

	fpt_num_labels(pg, key->hi, key->lo, &below, &above);
	label = above > FPT_NUM_MAX_LABEL ? below + FPT_NUM_LAST_STEP :
		below + (above - below) / 2;
	if (label <= below || label >= above)
		return FPT_UNFIT;
	if (fpt_num_hole(pg) < pg->headstep)
		return fpt_num_heads_used(pg) * 8 < pg->nheads * 7 ? FPT_UNFIT :
			FPT_FULL;
	memmove(pg->p + from - pg->headstep, pg->p + from, hints);
	pg->upper -= pg->headstep;
	pg->nheads++;
	fpt_header(pg->p)->std.pd_upper = (uint16) pg->upper;
	p = pg->p + pg->upper;
	fpt_store_uint(p, FPT_NUM_LABEL_BYTES, label);
	fpt_store_uint(p + FPT_NUM_LABEL_BYTES, Min(8, pg->l->keysize), key->lo);
	if (pg->l->keysize > 8)
		fpt_store_uint(p + FPT_NUM_LABEL_BYTES + 8, 8, key->hi);
	return FPT_OK;
}

/* Drop heads with labels above this one.  Moves the hints. */
static void
fpt_num_drop_heads(FPTNumbers *pg, uint64 last)
{
	int			hints = FPT_NUM_HINT_BYTES * pg->maxnodes;
	int			from = fpt_num_hint_off(pg);
	int			to = FPT_SPECIAL_OFFSET;

	for (int off = FPT_SPECIAL_OFFSET - pg->headstep; off >= pg->upper;
		 off -= pg->headstep)
	{
		if (fpt_num_label(pg->p + off) > last)
			continue;
		to -= pg->headstep;
		memmove(pg->p + to, pg->p + off, pg->headstep);
	}
	pg->upper = to;
	pg->nheads = (FPT_SPECIAL_OFFSET - to) / pg->headstep;
	fpt_header(pg->p)->std.pd_upper = (uint16) to;
	memmove(pg->p + to - hints, pg->p + from, hints);
	memset(pg->p + from, 0, to - hints - from);
}

/* --- room ---------------------------------------------------------------- */

/*
 * The place after the rows of the new entry's key, if the entry goes there and
 * it is in the upper half of the node: more will come there, and nothing before
 * it.  Or -1.
 */
static int
fpt_num_key_end(const FPTNumbers *pg, const FPTNumKid *k, uint64 e)
{
	int			at = k->n;

	while (at > 0 && k->e[at - 1] > e)
		at--;
	if (at < k->n / 2 || at < 1 || k->e[at - 1] >> pg->t != e >> pg->t ||
		(at < k->n && k->e[at] >> pg->t == e >> pg->t) ||
		fpt_num_unit(pg, k->e[at - 1]) >= fpt_num_unit(pg, e))
		return -1;
	return at;
}

/* Can entries be parted before the at'th one? */
static inline bool
fpt_num_parts(const FPTNumbers *pg, const FPTNumKid *k, int at)
{
	return at > 0 && at < k->n &&
		fpt_num_unit(pg, k->e[at - 1]) < fpt_num_unit(pg, k->e[at]);
}

/*
 * Split a full node; the new one is as wide.  Rows that ascend leave a full
 * node before them.  False: there is no room for a node, or no border; nothing
 * is changed.
 */
static bool
fpt_num_split(FPTNumbers *pg, int kid, uint64 e)
{
	FPTNumKid	k;
	FPTNumNode	d;
	bool		last = kid == pg->nkids - 1;
	uint64		sep = fpt_num_unit(pg, e);
	int			at = -1;

	if (!fpt_num_kid_open(pg, kid, &k) || k.n < 2)
		return false;
	if (last && e > k.e[k.n - 1])
	{
		if (fpt_num_unit(pg, k.e[k.n - 1]) < sep)
			return fpt_num_add_node(pg, kid + 1, sep, k.d.w);
		for (int a = k.n - 1; a > k.n / 2 && at < 0; a--)
			at = fpt_num_parts(pg, &k, a) ? a : -1;
		if (at >= 0)
			sep = fpt_num_unit(pg, k.e[at]);
	}
	if (at < 0)
		at = fpt_num_key_end(pg, &k, e);
	for (int off = 0; off < k.n && at < 0; off++)
	{
		int			a = k.n / 2 + (off & 1 ? -(off + 1) / 2 : off / 2);

		if (!fpt_num_parts(pg, &k, a))
			continue;
		at = a;
		sep = fpt_num_unit(pg, k.e[at]);
	}
	if (at < 0 || !fpt_num_add_node(pg, kid + 1, sep, k.d.w) ||
		!fpt_num_node(pg, kid + 1, &d))
		return false;
	for (int i = at; i < k.n; i++)
	{
		fpt_num_put(&d, i - at, k.e[i]);
		fpt_num_clear(pg, &k.d, k.slots[i]);
	}
	return true;
}

/*
 * Give "count" entries of a kid to the one that is next on one side.  "e" will
 * be inserted into the giver, or between the two; 0: it is elsewhere.  False:
 * the two cannot be parted there, or the taker is too narrow; then nothing is
 * changed.
 */
static bool
fpt_num_give(const FPTNumbers *pg, int from, int dir, int count, uint64 e)
{
	FPTNumKid	f;
	FPTNumKid	t;
	int			right = dir > 0 ? from + 1 : from;
	uint64		below = 0;		/* unit of the last entry on the left, */
	uint64		sep;			/* and of the first one on the right */
	uint64		room;
	int			a;				/* the first entry that is on the right */
	int			b;				/* those that go: a .. b - 1 */

	if (!fpt_num_kid_open(pg, from, &f) ||
		!fpt_num_kid_open(pg, from + dir, &t) || count >= f.n)
		return false;
	a = dir > 0 ? f.n - count : count;
	sep = a < f.n ? fpt_num_unit(pg, f.e[a]) : ~UINT64CONST(0);
	if (a > 0)
		below = fpt_num_unit(pg, f.e[a - 1]);
	if (e != 0 && (dir > 0 ? count > 0 : a > 0 && e < f.e[a - 1]))
		below = Max(below, fpt_num_unit(pg, e));
	else if (e != 0)
		sep = Min(sep, fpt_num_unit(pg, e));
	if (below >= sep || sep > fpt_ones(8 * pg->sw) ||
		(right + 1 < pg->nkids && sep >= fpt_num_sep(pg, right + 1)))
		return false;
	if (dir > 0)
		t.d.b = sep << pg->ss;
	b = dir > 0 ? f.n : a;
	a = dir > 0 ? a : 0;
	room = ~fpt_num_used(&t.d) & fpt_first_slots(t.d.cap);
	if (fpt_popcount(room) < b - a ||
		(t.n > 0 && !fpt_num_fits(&t.d, t.e[t.n - 1])) ||
		(b > a && (!fpt_num_fits(&t.d, f.e[a]) ||
				   !fpt_num_fits(&t.d, f.e[b - 1]))))
		return false;
	fpt_num_set_sep(pg, right, sep);
	for (int i = a; i < b; i++)
	{
		fpt_num_put(&t.d, fpt_ctz(room), f.e[i]);
		fpt_num_clear(pg, &f.d, f.slots[i]);
		room &= room - 1;
	}
	return true;
}

/* A way of shifting: to which side, how far, how many entries a node. */
typedef struct FPTNumShift
{
	int			dir;
	int			dist;
	int			give;
} FPTNumShift;

/* The cheapest way to a free slot, per slot; dist 0: no way is worth it. */
static FPTNumShift
fpt_num_cheapest(const FPTNumbers *pg, int kid, int w)
{
	FPTNumShift best = {0, 0, 0};
	int			least = 0;

	for (int i = 2; i < 2 * FPT_NUM_SHIFT_REACH + 2; i++)
	{
		FPTNumShift s = {i & 1 ? 1 : -1, i / 2, 0};
		FPTNumNode	d;
		int			room;

		if (!fpt_num_node(pg, kid + s.dir * s.dist, &d))
			continue;
		room = d.cap - fpt_popcount(fpt_num_used(&d));
		for (s.give = 1; s.give <= Min(FPT_NUM_SHIFT_GIVE, room); s.give++)
		{
			int			cost = s.dist * (s.give * (w + 9) + 8);

			if (w > FPT_NUM_NARROW ? cost > FPT_NUM_SHIFT_BYTES :
				s.give < 2 || cost > FPT_NUM_SHIFT_NARROW * s.give)
				continue;
			if (best.dist == 0 || cost * best.give < least * s.give)
			{
				least = cost;
				best = s;
			}
		}
	}
	return best;
}

/*
 * Shift entries from node to node towards one that has free slots.  False: not
 * all of the way; entries may have changed nodes.
 */
static bool
fpt_num_shift(const FPTNumbers *pg, int kid, uint64 e)
{
	FPTNumKid	k;
	FPTNumShift s;
	int			above = 0;

	if (!fpt_num_kid_open(pg, kid, &k))
		return false;
	while (above < k.n && k.e[k.n - 1 - above] > e)
		above++;
	if (kid == pg->nkids - 1 && above == 0)
		return false;			/* rows ascend */
	s = fpt_num_cheapest(pg, kid, k.d.w);
	if (s.dist == 0)
		return false;
	for (int i = s.dist - 1; i >= 0; i--)
	{
		int			count = s.give;

		if (i == 0)
			count = Min(count, s.dir > 0 ? above : k.n - above);
		if ((count == 0 && s.dir < 0) ||
			!fpt_num_give(pg, kid + s.dir * i, s.dir, count, i == 0 ? e : 0))
			return false;
	}
	return true;
}

/* Entries of some kids and a new one, and plans of their nodes. */
typedef struct FPTNumReplan
{
	int			n;
	uint64		e[FPT_NUM_REPLAN * FPT_MAX_CAP + 1];
	int			nplans;
	FPTNumPlan	plans[FPT_NUM_REPLAN + 1];
	uint64		seps[FPT_NUM_REPLAN + 1];
} FPTNumReplan;

static bool
fpt_num_gather(const FPTNumbers *pg, int from, int to, uint64 e,
			   FPTNumReplan *r)
{
	FPTNumKid	k;
	int			at;

	r->n = 0;
	for (int kid = from; kid < to; kid++)
	{
		if (!fpt_num_kid_open(pg, kid, &k))
			return false;
		memcpy(r->e + r->n, k.e, sizeof(uint64) * k.n);
		r->n += k.n;
	}
	for (at = r->n++; at > 0 && r->e[at - 1] > e; at--)
		r->e[at] = r->e[at - 1];
	r->e[at] = e;

	/* a damaged page's nodes may overlap */
	for (int i = 1; i < r->n; i++)
	{
		if (r->e[i - 1] >= r->e[i])
			return false;
	}
	return true;
}

/* Plan all entries, in at most "most" nodes filled to "percent". */
static bool
fpt_num_plan_all(const FPTNumbers *pg, uint64 sep, uint64 end, int percent,
				 int most, FPTNumReplan *r)
{
	r->nplans = 0;
	for (int i = 0; i < r->n; i += r->plans[r->nplans++].take)
	{
		if (r->nplans == most)
			return false;
		if (i > 0)
			sep = fpt_num_unit(pg, r->e[i]);
		r->seps[r->nplans] = sep;
		if (fpt_num_unit(pg, r->e[i]) < sep ||
			!fpt_num_plan(pg, r->e + i, r->n - i, percent, sep, end,
						  &r->plans[r->nplans]))
			return false;
	}
	return true;
}

/*
 * Plan kids "from" to "to" - 1 anew, with the new entry, in as many nodes or
 * "more" more.  True: there is a free slot for it.  False: nothing is changed.
 */
static bool
fpt_num_replan(FPTNumbers *pg, int from, int to, int more, uint64 e)
{
	FPTNumReplan r;
	uint64		sep = Min(fpt_num_sep(pg, from), fpt_num_unit(pg, e));
	uint64		end = to < pg->nkids ? fpt_num_sep(pg, to) :
	fpt_ones(8 * pg->sw);
	int			most = to - from + more;
	int			percent = 60;

	if (!fpt_num_gather(pg, from, to, e, &r) ||
		!fpt_num_plan_all(pg, sep, end, 100, most, &r))
		return false;
	while (!fpt_num_plan_all(pg, sep, end, percent, most, &r))
		percent += 10;
	if (r.nplans < to - from)
		return false;
	if (r.nplans > to - from &&
		!fpt_num_add_node(pg, to, r.seps[to - from], FPT_NUM_MAX_WIDTH))
		return false;
	for (int i = 0, at = 0; i < r.nplans; at += r.plans[i++].take)
	{
		uint64		mine[FPT_MAX_CAP];
		int			n = 0;

		for (int j = at; j < at + r.plans[i].take; j++)
		{
			if (r.e[j] != e)
				mine[n++] = r.e[j];
		}
		fpt_num_set_sep(pg, from + i, r.seps[i]);
		fpt_num_write(pg, from + i, r.plans[i].w, mine, n);
	}
	return true;
}

/* The fewest nodes that can be planned so that the new entry is among them. */
static bool
fpt_num_replan_around(FPTNumbers *pg, int kid, uint64 e)
{
	for (int m = 1; m <= Min(FPT_NUM_REPLAN, pg->nkids); m++)
	{
		for (int more = 0; more <= 1; more++)
		{
			for (int i = 0; i < m; i++)
			{
				int			from = kid - i;

				if (from >= 0 && from + m <= pg->nkids &&
					fpt_num_replan(pg, from, from + m, more, e))
					return true;
			}
		}
	}
	return false;
}

/* Is so little of the page in use that it may be formed anew? */
static bool
fpt_num_roomy(const FPTNumbers *pg)
{
	FPTSpace	space;

	fpt_num_space(pg, &space);
	return space.used * FPT_NUM_ANEW_DEN <= space.room * FPT_NUM_ANEW_NUM;
}

/*
 * See page/room.h.  FPT_UNFIT also if much of the page is free: then it
 * should be formed anew.
 */
FPTResult
fpt_num_make_room(FPTNumbers *pg, const FPTEntry *e)
{
	FPTPlace	p;
	FPTResult	res = fpt_num_insert_find(pg, e, &p);

	if (res == FPT_FULL && !p.told)
	{
		res = fpt_num_add_head(pg, &e->key);
		if (res != FPT_OK)
			return res;
		res = fpt_num_insert_find(pg, e, &p);
	}
	for (int i = 0; i < 3 && res == FPT_FULL && p.beyond == 0; i++)
	{
		if (!fpt_num_split(pg, p.kid, p.lo) &&
			!fpt_num_shift(pg, p.kid, p.lo))
			break;
		res = fpt_num_insert_find(pg, e, &p);
	}
	if (res != FPT_FULL)
		return res;
	p.kid = fpt_num_kid(pg, p.lo);
	if (fpt_num_replan_around(pg, p.kid, p.lo))
		return fpt_num_insert_find(pg, e, &p);
	return fpt_num_roomy(pg) ? FPT_UNFIT : FPT_FULL;
}

/* --- removing ------------------------------------------------------------ */

/* Take a kid out of the root; its node keeps its bytes, but has no hints. */
static void
fpt_num_remove_kid(FPTNumbers *pg, int kid)
{
	int			after = pg->nkids - kid - 1;

	fpt_num_set_hints(pg, fpt_num_ordinal(pg, kid), 0);
	memmove(pg->p + FPT_LINE + kid * pg->sw,
			pg->p + FPT_LINE + (kid + 1) * pg->sw, after * pg->sw);
	memmove(pg->p + pg->numbers + kid, pg->p + pg->numbers + kid + 1, after);
	memmove(pg->p + pg->shapes + kid, pg->p + pg->shapes + kid + 1, after);
	fpt_header(pg->p)->nkids = (uint8) --pg->nkids;
}

/* Take these slots of a kid, as far as they are in use. */
static FPTResult
fpt_num_take_kid(FPTNumbers *pg, int kid, uint64 gone, FPTChanges *changed)
{
	FPTNumNode	d;
	uint64		used;

	if (!fpt_num_node(pg, kid, &d))
		return FPT_CORRUPT;
	used = fpt_num_used(&d);
	gone &= used;
	if (gone == 0)
		return FPT_OK;
	if (gone == used)
	{
		changed->n = -1;		/* the root changes, too */
		fpt_num_remove_kid(pg, kid);
		return FPT_OK;
	}
	for (; gone != 0; gone &= gone - 1)
	{
		int			slot = fpt_ctz(gone);

		fpt_num_clear(pg, &d, slot);
		if (changed->n < 0)
			continue;
		changed->r[changed->n].off = (uint16) (d.p - pg->p + slot * d.w);
		changed->r[changed->n++].len = 1;
	}
	return FPT_OK;
}

/* Backwards: a node that becomes empty leaves the root. */
FPTResult
fpt_num_take(FPTNumbers *pg, const uint64 gone[FPT_MAX_NODES],
			 FPTChanges *changed)
{
	changed->n = 0;
	if (fpt_num_count(pg) < 0)
		return FPT_CORRUPT;
	for (int kid = pg->nkids - 1; kid >= 0; kid--)
	{
		if (fpt_num_take_kid(pg, kid, gone[fpt_num_ordinal(pg, kid)],
							 changed) != FPT_OK)
			return FPT_CORRUPT;
	}
	return FPT_OK;
}

FPTResult
fpt_num_delete(FPTNumbers *pg, FPTLoc loc)
{
	FPTNumKid	k;

	if (!fpt_num_kid_open(pg, loc.kid, &k) || loc.rank < 0 || loc.rank >= k.n)
		return FPT_CORRUPT;
	if (k.n == 1)
		fpt_num_remove_kid(pg, loc.kid);
	else
		fpt_num_clear(pg, &k.d, k.slots[loc.rank]);
	return FPT_OK;
}

/*
 * See page/remove.h.  Nodes stay where they are; heads that nothing needs any
 * more go.
 */
FPTResult
fpt_num_truncate(FPTNumbers *pg, int n)
{
	uint64		last = 0;
	int			keep = 0;

	if (fpt_num_count(pg) < 0)
		return FPT_CORRUPT;
	for (; keep < pg->nkids && n > 0; keep++)
	{
		FPTNumKid	k;

		if (!fpt_num_kid_open(pg, keep, &k))
			return FPT_CORRUPT;
		for (int i = n; i < k.n; i++)
			fpt_num_clear(pg, &k.d, k.slots[i]);
		if (k.n > 0)
			last = k.e[Min(n, k.n) - 1] >> pg->t;
		n -= Min(n, k.n);
	}
	while (pg->nkids > keep)
		fpt_num_remove_kid(pg, pg->nkids - 1);
	fpt_num_drop_heads(pg, last);
	return FPT_OK;
}

/* Shorten the page to this number of nodes; all others are free. */
static void
fpt_num_set_nnodes(FPTNumbers *pg, int nnodes)
{
	FPTPageHeader *h = fpt_header(pg->p);
	int			lower = pg->node0 + nnodes * pg->step;

	Assert(nnodes <= pg->nnodes);
	memset(pg->p + lower, 0, (pg->nnodes - nnodes) * pg->step);
	pg->nnodes = nnodes;
	h->nnodes = (uint8) nnodes;
	h->std.pd_lower = (uint16) lower;
}

void
fpt_num_trim(FPTNumbers *pg)
{
	int			nnodes = 0;

	for (int kid = 0; kid < pg->nkids; kid++)
		nnodes = Max(nnodes, fpt_num_ordinal(pg, kid) + 1);
	if (nnodes < pg->nnodes)
		fpt_num_set_nnodes(pg, nnodes);
}

void
fpt_num_strip(FPTNumbers *pg)
{
	FPTPageHeader *h = fpt_header(pg->p);

	h->nkids = 0;
	pg->nkids = 0;
	h->flags = FPT_F_DELETED;
	memset(pg->p + fpt_num_hint_off(pg), 0,
		   FPT_NUM_HINT_BYTES * pg->maxnodes);
	fpt_num_set_nnodes(pg, 0);
}
