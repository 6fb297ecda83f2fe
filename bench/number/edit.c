/*-------------------------------------------------------------------------
 *
 * edit.c
 *	  Changing leaf pages of numbers.
 *
 * An insertion changes a slot.  Where there is none, or the node cannot have
 * the number, the node gives way, and its neighbours if need be: it is split if
 * the page has a node left, gets a slot by shifting, or some nodes are planned
 * anew, as a page is that is formed.
 *
 *-------------------------------------------------------------------------
 */
#include "number.h"

/* Shifting: nodes to go, entries to give, bytes of WAL to pay. */
#define SHIFT_REACH		24
#define SHIFT_GIVE		4
#define SHIFT_BYTES		150
#define SHIFT_NARROW	100		/* a slot, where these have 5 bytes or less */

/* Nodes that are planned anew together, at most. */
#define REPLAN_NODES	8

/* Distance of the label of a new head that is the last. */
#define LAST_HEAD_STEP	8

long		num_ways[NUM_NWAYS];

/* --- slots ------------------------------------------------------------------ */

void
num_node_clear(const NumNode *d, int slot)
{
	uint8	   *p = d->p + slot * d->s.w;

	if (d->s.rel)
	{
		uint64		off = num_load(p, Min(2, d->s.w)) & num_ones(d->ob);

		if (off > num_ones(d->ob) - (uint64) d->nfar)
			memset(d->far + 4 * (num_ones(d->ob) - off), 0, 4);
	}
	p[0] = 0;
	if (d->ob > 8)
		p[1] = 0;
}

/* Can the page tell this TID? */
static bool
tid_fits(const NumPage *pg, uint64 tid)
{
	return (tid & 0xFFFF) <= num_ones(pg->ob) &&
		tid >> 16 <= num_ones(pg->t - pg->ob);
}

NumResult
num_insert(const NumIndex *ix, void *page, const NumEntry *e)
{
	NumPage		pg;
	NumNode		d;
	num_u128	key;
	uint64		row, room;

	if (!num_page_open(ix, page, &pg))
		return NUM_CORRUPT;
	if (pg.n == 0 || !tid_fits(&pg, e->tid) || !num_key(&pg, ix, e, &key))
		return NUM_UNFIT;
	row = num_row(e->tid, pg.ob);
	if (!num_node_open(&pg, num_kid(&pg, key, row), &d))
		return NUM_CORRUPT;
	room = ~num_node_used(&d) & num_ones(d.cap);
	if (room == 0)
		return NUM_FULL;
	return num_node_put(&d, __builtin_ctzll(room), key, row) ? NUM_OK :
		NUM_UNFIT;
}

bool
num_remove(const NumIndex *ix, void *page, const NumEntry *e)
{
	NumPage		pg;
	NumNode		d;
	num_u128	key, k;
	uint64		row, r;

	if (!num_page_open(ix, page, &pg) || pg.n == 0 ||
		!tid_fits(&pg, e->tid) || !num_key(&pg, ix, e, &key))
		return false;
	row = num_row(e->tid, pg.ob);
	if (!num_node_open(&pg, num_kid(&pg, key, row), &d))
		return false;
	for (uint64 set = num_node_used(&d); set != 0; set &= set - 1)
	{
		num_node_get(&d, __builtin_ctzll(set), &k, &r);
		if (k == key && r == row)
		{
			num_node_clear(&d, __builtin_ctzll(set));
			return true;
		}
	}
	return false;
}

/* --- room -------------------------------------------------------------------- */

/* What makes room works with: a kid's entries, keys, slots. */
typedef struct Kid
{
	NumNode		d;
	int			n;
	NumEntry	e[NUM_MAXCAP];
	num_u128	keys[NUM_MAXCAP];
	uint8		slots[NUM_MAXCAP];
} Kid;

static uint64
unit_of(const NumPage *pg, num_u128 key, const NumEntry *e)
{
	return num_unit(pg, key, num_row(e->tid, pg->ob));
}

static bool
kid_open(const NumPage *pg, const NumIndex *ix, int kid, Kid *k)
{
	if (!num_node_open(pg, kid, &k->d))
		return false;
	k->n = num_node_entries(pg, ix, kid, k->e, k->slots);
	for (int i = 0; i < k->n; i++)
	{
		if (!num_key(pg, ix, &k->e[i], &k->keys[i]))
			return false;
	}
	return k->n >= 0;
}

/*
 * A head that the page has not: a label between its neighbours'.  NUM_UNFIT:
 * there is none, NUM_FULL: the page has no room for it.  Hints move.
 */
static NumResult
add_head(const NumIndex *ix, NumPage *pg, num_u128 head)
{
	FPTPageHeader *h = fpt_header(pg->p);
	uint64		below, above, label;
	uint8	   *p;

	if (num_head_find(pg, ix, head, &below, &above) >= 0)
		return NUM_OK;
	label = above > NUM_MAXLABEL ? below + LAST_HEAD_STEP :
		below + (above - below) / 2;
	if (label == below || label > NUM_MAXLABEL)
		return NUM_UNFIT;
	if (num_page_hole(pg) < pg->headstep)
		return NUM_FULL;
	h->std.pd_upper -= (uint16) pg->headstep;
	p = pg->p + h->std.pd_upper;
	memset(p, 0, (size_t) pg->headstep);
	memcpy(p, &label, 2);
	memcpy(p + 2, &head, (size_t) ix->headsize);
	num_ways[NUM_WAY_HEAD]++;
	return num_page_open(ix, pg->p, pg) ? NUM_OK : NUM_CORRUPT;
}

/* Keep the heads with labels up to this one. */
static void
drop_heads(NumPage *pg, uint64 last)
{
	FPTPageHeader *h = fpt_header(pg->p);
	uint8	   *first = pg->p + FPT_SPECIAL_OFFSET;

	for (int i = 0; i < pg->nheads;)
	{
		uint8	   *p = first - (i + 1) * pg->headstep;

		if (num_load(p, 2) <= last)
			i++;
		else					/* the last one takes its place */
			memmove(p, first - pg->nheads-- * pg->headstep,
					(size_t) pg->headstep);
	}
	memset(pg->p + h->std.pd_upper, 0, (size_t)
		   (FPT_SPECIAL_OFFSET - pg->nheads * pg->headstep -
			h->std.pd_upper));
	h->std.pd_upper = (uint16) (FPT_SPECIAL_OFFSET -
								pg->nheads * pg->headstep);
}

/*
 * Where rows of a head end behind which the new one comes, if that is in the
 * upper half of the kid: more will come there, and none before.  Or -1.
 */
static int
key_end(const NumPage *pg, const Kid *k, const NumEntry *new, num_u128 key)
{
	int			at = k->n;

	while (at > 0 && num_entry_cmp(&k->e[at - 1], new) > 0)
		at--;
	if (at < k->n / 2 || at < 1 || k->e[at - 1].head != new->head ||
		(at < k->n && k->e[at].head == new->head) ||
		unit_of(pg, k->keys[at - 1], &k->e[at - 1]) >=
		unit_of(pg, key, new))
		return -1;
	return at;
}

/*
 * Split a full node, by a node that is free; the new one is of the same shape.
 * Rows that ascend leave a full node behind them.
 */
static bool
split_node(const NumIndex *ix, NumPage *pg, int kid, const NumEntry *new,
		   num_u128 key)
{
	Kid			k;
	int			at = -1;
	bool		behind = false;
	uint64		u = unit_of(pg, key, new);
	uint8		copy[BLCKSZ];

	if (!kid_open(pg, ix, kid, &k) || k.n < 2)
		return false;
	if (kid == pg->n - 1 && num_entry_cmp(new, &k.e[k.n - 1]) > 0)
	{
		if (unit_of(pg, k.keys[k.n - 1], &k.e[k.n - 1]) < u)
		{
			NumShape	s = k.d.s;

			if (!num_add_node(ix, pg, kid + 1, u))
				return false;
			num_ways[NUM_WAY_APPEND]++;
			return num_node_write(pg, kid + 1, s, s.rel ?
								  num_row(new->tid, pg->ob) >> pg->ob << pg->ob :
								  0, NULL, NULL, 0);
		}
		for (int a = k.n - 1; a > k.n / 2 && at < 0; a--)
		{
			if (unit_of(pg, k.keys[a - 1], &k.e[a - 1]) <
				unit_of(pg, k.keys[a], &k.e[a]))
				at = a;
		}
	}
	if (at < 0)
	{
		at = key_end(pg, &k, new, key);
		behind = at >= 0;
	}
	for (int off = 0; off < k.n && at < 0; off++)
	{
		int			a = k.n / 2 + (off & 1 ? -(off + 1) / 2 : off / 2);

		if (a > 0 && a < k.n && unit_of(pg, k.keys[a - 1], &k.e[a - 1]) <
			unit_of(pg, k.keys[a], &k.e[a]))
			at = a;
	}
	memcpy(copy, pg->p, BLCKSZ);
	if (at < 0)
		return false;
	if (!behind)
		u = unit_of(pg, k.keys[at], &k.e[at]);
	if (!num_add_node(ix, pg, kid + 1, u))
		return false;
	if (!num_node_write(pg, kid + 1, k.d.s, k.d.row, k.e + at, k.keys + at,
						k.n - at))
	{
		memcpy(pg->p, copy, BLCKSZ);
		return num_page_open(ix, pg->p, pg) && false;
	}
	for (int i = at; i < k.n; i++)
		num_node_clear(&k.d, k.slots[i]);
	num_ways[NUM_WAY_SPLIT]++;
	return true;
}

/*
 * Give "count" entries to the kid that is next on one side.  "new", if it is
 * not NULL, is to be inserted into the giver, or between the two.
 */
static bool
give(const NumIndex *ix, NumPage *pg, int from, int dir, int count,
	 const NumEntry *new, num_u128 newkey)
{
	Kid			f, t;
	int			right = dir > 0 ? from + 1 : from;
	int			a;				/* the first that is right of the border */
	uint64		left_unit = 0, sep;
	uint64		room;

	if (!kid_open(pg, ix, from, &f) || !kid_open(pg, ix, from + dir, &t) ||
		count >= f.n)
		return false;
	a = dir > 0 ? f.n - count : count;
	sep = a < f.n ? unit_of(pg, f.keys[a], &f.e[a]) : ~UINT64CONST(0);
	if (a > 0)
		left_unit = unit_of(pg, f.keys[a - 1], &f.e[a - 1]);
	if (new)
	{
		uint64		u = unit_of(pg, newkey, new);

		/* it is left of the border, if it can be, but where none is given */
		if (dir > 0 ? count > 0 : a > 0 &&
			num_entry_cmp(new, &f.e[a - 1]) < 0)
			left_unit = Max(left_unit, u);
		else
			sep = Min(sep, u);
	}
	if (left_unit >= sep || sep > num_ones(8 * pg->sw))
		return false;
	if (right + 1 < pg->n && sep >= num_sep(pg, right + 1))
		return false;
	num_set_sep(pg, right, sep);
	if (!num_node_open(pg, from + dir, &t.d))
		return false;
	if (dir > 0)				/* its own must still be told */
		for (int i = 0; i < t.n; i++)
		{
			num_u128	key;
			uint64		row;

			num_node_get(&t.d, t.slots[i], &key, &row);
			if (key != t.keys[i] || row != num_row(t.e[i].tid, pg->ob))
				return false;
		}
	room = ~num_node_used(&t.d) & num_ones(t.d.cap);
	for (int i = dir > 0 ? a : 0; i < (dir > 0 ? f.n : a); i++)
	{
		if (room == 0 || !num_node_put(&t.d, __builtin_ctzll(room), f.keys[i],
									   num_row(f.e[i].tid, pg->ob)))
			return false;
		room &= room - 1;
	}
	for (int i = dir > 0 ? a : 0; i < (dir > 0 ? f.n : a); i++)
		num_node_clear(&f.d, f.slots[i]);
	return true;
}

/* What is to be shifted: how far, to which side, how many entries. */
typedef struct Shift
{
	int			dir;
	int			dist;
	int			give;
} Shift;

/* The cheapest way to a free slot, a slot; dist 0: none that is worth it. */
static Shift
cheapest_shift(const NumPage *pg, int kid, int w)
{
	Shift		best = {0, 0, 0};
	double		least = 0;

	for (int i = 2; i < 2 * SHIFT_REACH + 2; i++)
	{
		Shift		s = {i & 1 ? 1 : -1, i / 2, 0};
		NumNode		d;
		int			k = kid + s.dir * s.dist;
		int			room;

		if (k < 0 || k >= pg->n || !num_node_open(pg, k, &d))
			continue;
		room = d.cap - __builtin_popcountll(num_node_used(&d));
		for (s.give = 1; s.give <= Min(SHIFT_GIVE, room); s.give++)
		{
			int			cost = s.dist * (s.give * (w + 9) + 8);

			if (w > 5 ? cost > SHIFT_BYTES :
				s.give < 2 || cost > SHIFT_NARROW * s.give)
				continue;
			if (best.dist == 0 || (double) cost / s.give < least)
			{
				least = (double) cost / s.give;
				best = s;
			}
		}
	}
	return best;
}

/* The page is as it was if the result is false. */
static bool
shift(const NumIndex *ix, NumPage *pg, int kid, const NumEntry *new,
	  num_u128 key)
{
	Kid			k;
	Shift		s;
	int			above = 0;
	uint8		copy[BLCKSZ];

	if (!kid_open(pg, ix, kid, &k))
		return false;
	while (above < k.n && num_entry_cmp(&k.e[k.n - 1 - above], new) > 0)
		above++;
	if (kid == pg->n - 1 && above == 0)
		return false;			/* rows ascend */
	s = cheapest_shift(pg, kid, k.d.s.w);
	if (s.dist == 0)
		return false;
	memcpy(copy, pg->p, BLCKSZ);
	for (int i = s.dist - 1; i >= 0; i--)
	{
		int			count = s.give;

		if (i == 0)
			count = Min(count, s.dir > 0 ? above : k.n - above);
		if ((count == 0 && s.dir < 0) ||
			!give(ix, pg, kid + s.dir * i, s.dir, count, i == 0 ? new : NULL,
				  key))
		{
			memcpy(pg->p, copy, BLCKSZ);
			return false;
		}
	}
	num_ways[NUM_WAY_SHIFT]++;
	return true;
}

/* Entries of some kids and a new one, and plans of their nodes. */
typedef struct Replan
{
	int			n;
	NumEntry	e[REPLAN_NODES * NUM_MAXCAP + 1];
	num_u128	keys[REPLAN_NODES * NUM_MAXCAP + 1];
	int			nplans;
	NumPlan		plans[REPLAN_NODES + 2];
	uint64		seps[REPLAN_NODES + 2];
} Replan;

static bool
replan_gather(const NumIndex *ix, NumPage *pg, int from, int to,
			  const NumEntry *new, num_u128 key, Replan *r)
{
	Kid			k;
	int			at;

	r->n = 0;
	for (int kid = from; kid < to; kid++)
	{
		if (!kid_open(pg, ix, kid, &k))
			return false;
		memcpy(r->e + r->n, k.e, sizeof(NumEntry) * (size_t) k.n);
		memcpy(r->keys + r->n, k.keys, sizeof(num_u128) * (size_t) k.n);
		r->n += k.n;
	}
	for (at = r->n++; at > 0 && num_entry_cmp(&r->e[at - 1], new) > 0; at--)
	{
		r->e[at] = r->e[at - 1];
		r->keys[at] = r->keys[at - 1];
	}
	r->e[at] = *new;
	r->keys[at] = key;
	return true;
}

/* Plans of all entries, in nodes filled so far, most of them at most. */
static bool
replan_fill(const NumPage *pg, uint64 sep, uint64 end, int percent, int most,
			Replan *r)
{
	r->nplans = 0;
	for (int i = 0; i < r->n;)
	{
		NumPlan    *p = &r->plans[r->nplans];

		if (r->nplans == most)
			return false;
		if (i > 0)
			sep = unit_of(pg, r->keys[i], &r->e[i]);
		r->seps[r->nplans] = sep;
		if (!num_plan_node(pg, r->e + i, r->keys + i, r->n - i, percent,
						   sep, end, NUM_MAXCAP, p))
			return false;
		r->nplans++;
		i += p->take;
	}
	return true;
}

/* Plan the kids from .. to - 1 anew, with the new entry, in "more" nodes more */
static bool
replan(const NumIndex *ix, NumPage *pg, int from, int to, int more,
	   const NumEntry *new, num_u128 key)
{
	static Replan r;			/* the server's would be in FPTWork */
	uint64		sep = Min(num_sep(pg, from), unit_of(pg, key, new));
	uint64		end = to < pg->n ? num_sep(pg, to) : num_ones(8 * pg->sw);
	uint8		copy[BLCKSZ];

	if (!replan_gather(ix, pg, from, to, new, key, &r))
		return false;
	for (int percent = 60;; percent += 5)
	{
		if (percent > 100)
			return false;
		if (replan_fill(pg, sep, end, percent, to - from + more, &r))
			break;
	}
	if (r.nplans < to - from)
		return false;
	memcpy(copy, pg->p, BLCKSZ);
	for (int i = 0, at = 0; i < r.nplans; at += r.plans[i++].take)
	{
		int			kid = from + i;

		if (kid < to)
			num_set_sep(pg, kid, r.seps[i]);
		else if (!num_add_node(ix, pg, kid, r.seps[i]))
		{
			memcpy(pg->p, copy, BLCKSZ);
			return num_page_open(ix, pg->p, pg) && false;
		}
		if (!num_node_write(pg, kid, r.plans[i].s, r.plans[i].r, r.e + at,
							r.keys + at, r.plans[i].take))
		{
			memcpy(pg->p, copy, BLCKSZ);
			return num_page_open(ix, pg->p, pg) && false;
		}
	}
	num_ways[NUM_WAY_REPLAN]++;
	return true;
}

/* The fewest nodes that can be planned so that the new entry is among them. */
static bool
replan_around(const NumIndex *ix, NumPage *pg, int kid, const NumEntry *new,
			  num_u128 key)
{
	for (int m = 1; m <= Min(REPLAN_NODES, pg->n); m++)
	{
		for (int more = 0; more <= 1; more++)
		{
			for (int i = 0; i < m; i++)
			{
				int			from = kid - i;

				if (from < 0 || from + m > pg->n)
					continue;
				if (replan(ix, pg, from, from + m, more, new, key))
					return true;
			}
		}
	}
	return false;
}

NumResult
num_insert_room(const NumIndex *ix, void *page, const NumEntry *e)
{
	NumPage		pg;
	num_u128	key;
	NumResult	r;

	if (!num_page_open(ix, page, &pg))
		return NUM_CORRUPT;
	if (pg.n == 0 || !tid_fits(&pg, e->tid))
		return NUM_UNFIT;
	if (pg.heads && (r = add_head(ix, &pg, e->head)) != NUM_OK)
		return r;
	if (!num_key(&pg, ix, e, &key) || key < pg.base)
		return NUM_UNFIT;
	for (int i = 0; i < 4; i++)
	{
		int			kid = num_kid(&pg, key, num_row(e->tid, pg.ob));
		NumNode		d;
		NumWide		slot;

		r = num_insert(ix, page, e);
		if (r == NUM_OK || r == NUM_CORRUPT)
			return r;
		if (!num_node_open(&pg, kid, &d))
			return NUM_CORRUPT;
		if (r == NUM_UNFIT ||
			!num_slot_encode(&d, key, num_row(e->tid, pg.ob), &slot))
			break;
		if (!split_node(ix, &pg, kid, e, key) && !shift(ix, &pg, kid, e, key))
		{
			num_ways[NUM_WAY_FULL]++;
			return NUM_FULL;
		}
	}
	if (replan_around(ix, &pg, num_kid(&pg, key, num_row(e->tid, pg.ob)), e,
					  key))
		return NUM_OK;
	num_ways[NUM_WAY_FULL]++;
	return NUM_FULL;
}

void
num_truncate(const NumIndex *ix, void *page, int n)
{
	FPTPageHeader *h = fpt_header(page);
	NumPage		pg;
	int			kid;
	int			top = 0;
	uint64		last = 0;

	if (!num_page_open(ix, page, &pg))
		return;
	for (kid = 0; kid < pg.n && n > 0; kid++)
	{
		Kid			k;

		if (!kid_open(&pg, ix, kid, &k))
			return;
		for (int i = n; i < k.n; i++)
			num_node_clear(&k.d, k.slots[i]);
		if (pg.heads && k.n > 0)
			last = (uint64) (k.keys[Min(n, k.n) - 1] >> pg.restbits);
		n -= Min(n, k.n);
		top = Max(top, pg.p[pg.g.numbers + kid] + 1);
	}
	h->nkids = (uint8) kid;
	h->nnodes = (uint8) top;
	memset(pg.p + pg.g.node0 + top * pg.g.step, 0, (size_t)
		   (h->std.pd_lower - pg.g.node0 - top * pg.g.step));
	h->std.pd_lower = (uint16) (pg.g.node0 + top * pg.g.step);
	if (pg.heads)
		drop_heads(&pg, last);
}
