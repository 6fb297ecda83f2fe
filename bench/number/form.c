/*-------------------------------------------------------------------------
 *
 * form.c
 *	  Making leaf pages of numbers.
 *
 * A page is filled node after node.  Each takes the fewest bytes a slot in which
 * as many entries as it is to have fit: nothing is predicted, and nothing else
 * decides.
 *
 *-------------------------------------------------------------------------
 */
#include "number.h"

/* Lines of nodes are such that a page has this many of them. */
#define FEWEST_NODES	8

/*
 * Units of separators are at most 1/512 of a node's share of the page, and part
 * all but so many percent of neighbours: where they do not, nothing is shifted.
 */
#define UNIT_BITS		9
#define PERCENT_TIED	3

/* How full nodes of repeated keys are when a page is split. */
#define REPEATED_SLOTS	90

/* Work of num_form(): keys of the entries, as far as a page can reach. */
static num_u128 form_keys[NUM_MAXENTRIES];

/* What a page is made with. */
typedef struct Form
{
	const NumIndex *ix;
	const NumEntry *e;
	int			n;
	const NumFill *fill;
	int			step;			/* between labels; 0: no heads */
	int			restbits;		/* with heads: of a rest, which counts ... */
	uint64		restbase;		/* ... from this */
	int			x;
} Form;

void
num_set_sep(const NumPage *pg, int kid, uint64 sep)
{
	memcpy(pg->p + FPT_LINE + kid * pg->sw, &sep, (size_t) pg->sw);
}

/*
 * The window of 2^t rows with the most of these: how many are outside.  *r is
 * where it begins, at a block.
 */
static int
best_window(const NumEntry *e, int n, int t, int ob, uint64 *r)
{
	uint64		rows[NUM_MAXCAP];
	int			best = 0;

	for (int i = 0; i < n; i++)
	{
		uint64		x = num_row(e[i].tid, ob);
		int			j = i;

		for (; j > 0 && rows[j - 1] > x; j--)
			rows[j] = rows[j - 1];
		rows[j] = x;
	}
	*r = 0;
	for (int i = 0, j = 0; i < n; i++)
	{
		uint64		from = rows[i] >> ob << ob;

		while (j < n && rows[j] - from <= num_ones(t))
			j++;
		if (j - i > best)
		{
			best = j - i;
			*r = from;
		}
	}
	return n - best;
}

/* May the number grow by a quarter before it reaches the border? */
static NumWide
with_slack(NumWide last, NumWide border)
{
	NumWide		more = num_add(last, num_shr(last, 2));

	return num_less(more, border) ? more : border;
}

/* The plan of a relative node of so many entries; false: none. */
static bool
plan_relative(const NumPage *pg, const NumEntry *e, const num_u128 *keys,
			  uint64 sep, uint64 end, int maxfar, NumPlan *plan)
{
	num_u128	from, to;
	uint64		row;
	int			n = plan->take;
	int			w = plan->s.w;
	int			nfar = num_nfar(num_cap(pg->x, w, true));

	num_sep_number(pg, sep, &from, &row);
	num_sep_number(pg, end, &to, &row);
	if (keys[0] < from || (uint64) nfar >= num_ones(pg->ob) / 2)
		return false;
	to = to > keys[n - 1] ? to - from : keys[n - 1] - from;
	to = with_slack((NumWide) {keys[n - 1] - from, 0}, (NumWide) {to, 0}).hi;
	plan->s.t = Min(8 * w - num_bits((NumWide) {0, (uint64) to}),
					pg->ob + NUM_WINDOWS - 1);
	/* rows that hardly follow each other: later ones would all be far */
	plan->s.t = Min(plan->s.t, pg->t - 3);
	if (to >> 63 != 0 || plan->s.t < pg->ob)
		return false;
	plan->s.rel = true;
	for (int i = 0; i < n; i++)
	{
		if ((e[i].tid & 0xFFFF) > num_ones(pg->ob) - (uint64) nfar ||
			num_row(e[i].tid, pg->ob) >> 32 != 0)
			return false;
	}
	return best_window(e, n, plan->s.t, pg->ob, &plan->r) <=
		Min(maxfar, nfar);
}

/* ... of an absolute one. */
static bool
plan_absolute(const NumPage *pg, const NumEntry *e, const num_u128 *keys,
			  uint64 sep, uint64 end, NumPlan *plan)
{
	num_u128	key;
	uint64		row;
	NumWide		b, last;
	int			n = plan->take;

	num_sep_number(pg, sep, &key, &row);
	b = num_join(key, pg->t, row);
	last = num_join(keys[n - 1], pg->t, num_row(e[n - 1].tid, pg->ob));
	if (keys[0] < key || num_less(num_join(keys[0], pg->t,
										   num_row(e[0].tid, pg->ob)), b))
		return false;
	last = num_sub(last, b);
	b = num_shl(end - sep, pg->ss);
	last = num_less(last, b) ? with_slack(last, b) : last;
	plan->s.t = pg->t;
	plan->s.rel = false;
	plan->r = 0;
	return num_bits(last) <= 8 * plan->s.w && 8 * plan->s.w >= pg->ob;
}

/* Where entries e[0 .. n) can be parted, near take; 0: nowhere. */
static int
separable(const NumPage *pg, const NumEntry *e, const num_u128 *keys, int n,
		  int take, int cap)
{
	for (int off = 0; off < cap; off++)
	{
		int			at[2] = {take - off, take + off};

		for (int k = 0; k < 2; k++)
		{
			int			a = at[k];

			if (a < 1 || a > cap || a > n)
				continue;
			if (a == n ||
				num_unit(pg, keys[a - 1], num_row(e[a - 1].tid, pg->ob)) <
				num_unit(pg, keys[a], num_row(e[a].tid, pg->ob)))
				return a;
		}
	}
	return 0;
}

/* A plan of this width with more entries than the best one so far, if any. */
static void
plan_width(const NumPage *pg, const NumEntry *e, const num_u128 *keys, int n,
		   int most, uint64 sep, NumPlan *p, NumPlan *best)
{
	int			cap = num_cap(pg->x, p->s.w, p->s.rel);
	int			maxfar = p->take;
	uint64		end = p->r;
	bool		rel = p->s.rel;

	for (int take = Max(1, Min(n, cap * most / 100)); take > best->take;
		 take -= Max(1, take / 16))
	{
		uint64		upto = end;

		p->take = separable(pg, e, keys, n, take, cap);
		if (p->take <= best->take)
			continue;
		if (p->take < n)
			upto = num_unit(pg, keys[p->take],
							num_row(e[p->take].tid, pg->ob));
		if (rel ? plan_relative(pg, e, keys, sep, upto, maxfar < 0 ?
								num_nfar(cap) / 2 : maxfar, p) :
			plan_absolute(pg, e, keys, sep, upto, p))
		{
			*best = *p;
			return;
		}
	}
}

/*
 * Plan a node that begins with e[0], its separator being sep: of the shape in
 * which it takes the most of n entries, so many percent of its slots at most.
 * "end" is the next separator if it takes all.  False: there is no such node.
 */
bool
num_plan_node(const NumPage *pg, const NumEntry *e, const num_u128 *keys,
			  int n, int percent, uint64 sep, uint64 end, int maxfar,
			  NumPlan *plan)
{
	plan->take = 0;
	for (int w = 1; w <= NUM_MAXW; w++)
	{
		for (int rel = 0; rel < (w <= NUM_MAXREL ? 2 : 1); rel++)
		{
			NumPlan		p = {{w, 0, rel != 0}, end, maxfar};

			if (num_cap(pg->x, w, rel) >= 2)
				plan_width(pg, e, keys, n, percent, sep, &p, plan);
		}
		if (plan->take == n ||
			num_cap(pg->x, w + 1, false) * percent / 100 <= plan->take)
			break;
	}
	return plan->take > 0;
}

/* The number of a slot; false: the node cannot have it, but as a far row. */
bool
num_slot_encode(const NumNode *d, num_u128 key, uint64 row, NumWide *slot)
{
	NumWide		v;

	if (d->s.rel)
	{
		if (key < d->key || row < d->row || row - d->row > num_ones(d->s.t) ||
			num_row_is_far(d, row))
			return false;
		v = num_join(key - d->key, d->s.t, row - d->row);
		*slot = num_add(v, d->b);
	}
	else
	{
		if (row > num_ones(d->s.t))
			return false;
		*slot = num_join(key, d->s.t, row);
		if (num_less(*slot, d->b))
			return false;
		v = num_sub(*slot, d->b);
	}
	return num_bits(v) <= 8 * d->s.w;
}

static int
far_free(const NumNode *d)
{
	for (int j = 0; j < d->nfar; j++)
	{
		if (num_load(d->far + 4 * j, 4) == 0)
			return j;
	}
	return -1;
}

/* Put an entry into a free slot; false: this node cannot have it. */
bool
num_node_put(const NumNode *d, int slot, num_u128 key, uint64 row)
{
	uint8	   *p = d->p + slot * d->s.w;
	NumWide		v;

	if (!num_slot_encode(d, key, row, &v))
	{
		int			j = far_free(d);
		uint32		far = (uint32) row;

		if (j < 0 || row >> 32 != 0 ||
			!num_slot_encode(d, key,
							 d->row + num_ones(d->ob) - (uint64) d->nfar, &v))
			return false;
		/* in place of that offset, the one that says j */
		v.lo = v.lo + (uint64) (d->nfar - j);
		memcpy(d->far + 4 * j, &far, 4);
	}
	for (int i = 0; i < d->s.w; i++)
		p[i] = (uint8) (i < 8 ? v.lo >> (8 * i) : v.hi >> (8 * (i - 8)));
	return true;
}

bool
num_node_write(const NumPage *pg, int kid, NumShape s, uint64 r,
			   const NumEntry *e, const num_u128 *keys, int n)
{
	uint8	   *p = pg->p + pg->g.node0 +
		pg->p[pg->g.numbers + kid] * pg->g.step;
	uint32		block = (uint32) (r >> pg->ob);
	NumNode		d;

	pg->p[pg->g.shapes + kid] = num_shape_code(s, pg->ob);
	memset(p, 0, (size_t) pg->g.step);
	if (s.rel)
		memcpy(p + pg->g.step - 4, &block, 4);
	if (!num_node_open(pg, kid, &d) || n > d.cap)
		return false;
	for (int i = 0; i < n; i++)
	{
		if (!num_node_put(&d, i, keys[i], num_row(e[i].tid, pg->ob)))
			return false;
	}
	return true;
}

bool
num_add_node(const NumIndex *ix, NumPage *pg, int kid, uint64 sep)
{
	FPTPageHeader *h = fpt_header(pg->p);
	uint64		taken[4] = {0};
	int			no = 0;
	int			after = pg->n - kid;

	if (pg->n >= pg->g.maxnodes)
		return false;
	for (int k = 0; k < pg->n; k++)
	{
		int			i = pg->p[pg->g.numbers + k];

		taken[i / 64] |= UINT64CONST(1) << (i % 64);
	}
	while (taken[no / 64] >> (no % 64) & 1)
		no++;
	if (no >= h->nnodes)
	{
		if (num_page_hole(pg) < pg->g.step)
			return false;
		h->nnodes = (uint8) (no + 1);
		h->std.pd_lower = (uint16) (pg->g.node0 + h->nnodes * pg->g.step);
	}
	memmove(pg->p + FPT_LINE + (kid + 1) * pg->sw,
			pg->p + FPT_LINE + kid * pg->sw, (size_t) (after * pg->sw));
	memmove(pg->p + pg->g.numbers + kid + 1, pg->p + pg->g.numbers + kid,
			(size_t) after);
	memmove(pg->p + pg->g.shapes + kid + 1, pg->p + pg->g.shapes + kid,
			(size_t) after);
	num_set_sep(pg, kid, sep);
	pg->p[pg->g.numbers + kid] = (uint8) no;
	pg->p[pg->g.shapes + kid] = 0;
	h->nkids = (uint8) (pg->n + 1);
	return num_page_open(ix, pg->p, pg);
}

/* --- pages ------------------------------------------------------------------ */

/* Bits for rests: of what the entries span, a quarter below and more above. */
static void
choose_rests(Form *f)
{
	uint64		least = ~UINT64CONST(0);
	uint64		most = 0;
	uint64		span;

	f->restbits = f->ix->restbits;
	f->restbase = 0;
	if (f->step == 0)
		return;
	for (int i = 0; i < f->n; i++)
	{
		least = Min(least, f->e[i].rest);
		most = Max(most, f->e[i].rest);
	}
	span = most - least;
	if (span >> 62 != 0)
		return;
	f->restbase = least - Min(least, span / 4);
	f->restbits = Min(f->restbits, num_bits64(2 * span));
	if (most - f->restbase > num_ones(f->restbits))
		f->restbase = least;	/* of all that an image can be */
}

/*
 * Keys of the entries, with labels "step" apart if there are heads: how many
 * entries have one.
 */
static int
make_keys(const Form *f)
{
	uint64		label = 0;
	int			i;

	for (i = 0; i < f->n; i++)
	{
		num_u128	head = f->e[i].head;

		if (f->step > 0)
		{
			if (i == 0 || f->e[i - 1].head != head)
				label += (uint64) f->step;
			if (label > NUM_MAXLABEL)
				break;
			head = label;
		}
		form_keys[i] = head << f->restbits | (f->e[i].rest - f->restbase);
	}
	return i;
}

/* An empty page. */
static void
begin(const Form *f, void *page, int sw, int ss, num_u128 base)
{
	FPTPageHeader *h = fpt_header(page);
	NumSpecial *s = num_special(page);

	memset(page, 0, BLCKSZ);
	h->std.pd_pagesize_version = (uint16) (BLCKSZ | PG_PAGE_LAYOUT_VERSION);
	h->std.pd_special = h->std.pd_upper = FPT_SPECIAL_OFFSET;
	h->enc = (uint8) (f->x | (sw - 1) << 5);
	s->base_hi = (uint64) (base >> 64);
	s->base_lo = f->step > 0 ? f->restbase : (uint64) base;
	s->ob = (uint8) num_bits64((uint64) f->ix->maxoff + NUM_MAXCAP / 10 + 1);
	s->t = (uint8) (s->ob + Min(32, num_bits64(2 * f->ix->blocks)));
	s->ss = (uint8) ss;
	s->heads = (uint8) (f->step > 0 ? 1 + f->restbits : 0);
	s->version = NUM_VERSION;
	s->pageid = FPT_PAGE_ID;
	h->std.pd_lower = (uint16) num_geom(f->x, sw).node0;
}

/* Heads of e[from .. to), unless the one before has the same. */
static bool
add_heads(const Form *f, NumPage *pg, int from, int to, int most)
{
	FPTPageHeader *h = fpt_header(pg->p);

	for (int i = from; f->step > 0 && i < to; i++)
	{
		uint64		label = (uint64) (form_keys[i] >> f->restbits);
		uint8	   *p;

		if (i > 0 && f->e[i - 1].head == f->e[i].head)
			continue;
		if (num_page_hole(pg) < pg->headstep + pg->g.step ||
			(pg->nheads + 1) * pg->headstep + pg->n * pg->g.step > most)
			return false;
		h->std.pd_upper -= (uint16) pg->headstep;
		p = pg->p + h->std.pd_upper;
		memcpy(p, &label, 2);
		memcpy(p + 2, &f->e[i].head, (size_t) f->ix->headsize);
		pg->nheads++;
	}
	return true;
}

/*
 * Nodes of the entries, one after the other, until the page is full: how many
 * entries they have; 0: borders cannot be told, or not all fit that have to.
 */
static int
fill_nodes(const Form *f, void *page, int n)
{
	NumPage		pg;
	int			i = 0;
	int			tied = 0;
	int			most, space, percent;

	if (!num_page_open(f->ix, page, &pg))
		return 0;
	space = pg.g.maxnodes * pg.g.step;
	most = (pg.g.maxnodes * f->fill->nodes + 99) / 100;
	/* what the last node is more than asked for, slots are less */
	percent = Max(1, f->fill->slots * f->fill->nodes * pg.g.maxnodes /
				  (100 * most));
	for (int kid = 0; kid < most && i < n; kid++)
	{
		uint64		sep = num_unit(&pg, form_keys[i],
								   num_row(f->e[i].tid, pg.ob));
		uint64		end = num_ones(8 * pg.sw);
		NumPlan		plan;

		if (!num_plan_node(&pg, f->e + i, form_keys + i, n - i,
						   percent, sep, end, -1, &plan))
			return 0;
		if (!add_heads(f, &pg, i, i + plan.take, space * f->fill->nodes / 100) ||
			!num_add_node(f->ix, &pg, kid, sep))
			break;
		if (!num_node_write(&pg, kid, plan.s, plan.r, f->e + i, form_keys + i,
							plan.take))
			return 0;
		i += plan.take;
	}
	for (int k = 1; k < i; k++)
		tied += num_unit(&pg, form_keys[k], num_row(f->e[k].tid, pg.ob)) ==
			num_unit(&pg, form_keys[k - 1], num_row(f->e[k - 1].tid, pg.ob));
	if (pg.sw < NUM_MAXSW && pg.ss > 0 && tied * 100 > i * PERCENT_TIED)
		return 0;
	return f->fill->all && i < f->n ? 0 : i;
}

/*
 * Lines of a node with which a page has the most slots of this shape: of several
 * the widest nodes, since what one has free serves more entries.
 */
static int
best_lines(NumShape s)
{
	int			best = 2;
	int			most = 0;

	for (int x = 1; x <= NUM_MAXX; x++)
	{
		NumGeom		g = num_geom(x, 2);
		int			n = g.maxnodes * num_cap(x, s.w, s.rel);

		if ((g.maxnodes >= FEWEST_NODES || x == 1) && n >= most)
		{
			most = n;
			best = x;
		}
	}
	return best;
}

/* The shape that most nodes of the page have. */
static NumShape
usual_shape(const Form *f, void *page)
{
	uint8		times[NUM_NSHAPES] = {0};
	NumShape	best = {1, 1, false};
	int			most = 0;
	NumPage		pg;
	NumNode		d;

	if (!num_page_open(f->ix, page, &pg))
		return best;
	for (int kid = 0; kid < pg.n; kid++)
	{
		int			code = pg.p[pg.g.shapes + kid];

		if (++times[code] > most && num_node_open(&pg, kid, &d))
		{
			most = times[code];
			best = d.s;
		}
	}
	return best;
}

/* Separators of this many bytes: how much the page would take. */
static int
form_with(Form *f, void *page, int sw, int n)
{
	num_u128	base = f->step > 0 ? 0 : form_keys[0];
	int			slots = 0;
	NumPage		pg;
	NumPlan		plan;
	NumWide		range;
	int			guess = n;

	begin(f, page, sw, 0, base);
	if (!num_page_open(f->ix, page, &pg))
		return 0;
	/* lines by what is in the middle of what comes */
	for (int i = 0; i < 3; i++)
	{
		int			at = Min(n / 2, 200);

		pg.ss = Max(0, num_bits(num_join(form_keys[n - 1] - base, pg.t, 0)) - 64);
		pg.sw = 8;
		if (!num_plan_node(&pg, f->e + at, form_keys + at, n - at, 90,
						   num_unit(&pg, form_keys[at],
									num_row(f->e[at].tid, pg.ob)),
						   ~UINT64CONST(0), -1, &plan))
			return 0;
		pg.x = f->x = best_lines(plan.s);
		slots = num_cap(f->x, plan.s.w, plan.s.rel);
	}
	pg.g = num_geom(f->x, sw);
	slots *= pg.g.maxnodes;
	if (!f->fill->all)
		guess = Min(n, Max(1, slots * f->fill->slots / 100));
	range = num_join(form_keys[guess - 1] - base + 1, pg.t, 0);
	range = num_add(range, num_shr(range, 4));
	if (f->fill->open)			/* it goes on as it began */
	{
		range = num_add(range, range);
		for (int m = guess; m < slots; m *= 2)
			range = num_add(range, range);
	}
	pg.ss = Max(0, num_bits(range) - 8 * sw);
	if (pg.ss > Max(0, num_bits(range) - num_bits64((uint64) pg.g.maxnodes) -
					UNIT_BITS))
		return 0;
	for (int i = 0;; i++)
	{
		int			got, x;

		begin(f, page, sw, pg.ss, base);
		got = fill_nodes(f, page, n);
		x = got > 0 ? best_lines(usual_shape(f, page)) : f->x;
		if (x == f->x || i == 2)
			return got;
		f->x = x;
	}
}

/* Bytes that a page's nodes and heads take. */
static int
page_bytes(void *page)
{
	FPTPageHeader *h = fpt_header(page);

	return h->std.pd_lower + FPT_SPECIAL_OFFSET - h->std.pd_upper;
}

/* The first separators that serve. */
static int
form_step(Form *f, void *page, int step)
{
	int			n;

	f->step = step;
	f->x = 4;
	choose_rests(f);
	n = make_keys(f);
	if (n < (f->fill->all ? f->n : 1))
		return 0;
	for (int sw = 2; sw <= NUM_MAXSW; sw++)
	{
		int			got = form_with(f, page, sw, n);

		if (got > 0)
			return got;
	}
	return 0;
}

/* Is the other way worse by so many percent at most? */
static bool
no_worse(const Form *f, int got, int bytes, int than, int thanbytes, int percent)
{
	if (f->fill->all)
		return got > 0 && bytes * 100 <= thanbytes * (100 + percent);
	return got * 100 >= than * (100 - percent);
}

/*
 * Where heads are repeated, new rows come to all of them, behind the others of
 * each, and all pages would be split by growth of a few percent: pages leave
 * twice as much as they are asked for, half of which is slots.
 */
static NumFill
fill_repeated(const NumFill *fill)
{
	NumFill		f = *fill;

	if (f.all)
		f.slots = Max(f.slots, REPEATED_SLOTS);
	else
	{
		int			free = 100 - f.nodes * f.slots / 100;

		f.slots = Max(50, 100 - free);
		f.nodes = Max(50, 100 - 2 * free) * 100 / f.slots;
	}
	return f;
}

int
num_form(const NumIndex *ix, void *page, const NumEntry *e, int n,
		 const NumFill *fill)
{
	Form		f = {ix, e, Min(n, NUM_MAXENTRIES), fill, 0, 0, 0, 0};
	NumFill		repeated = fill_repeated(fill);
	NumFill		fuller = *fill;	/* plain pages, if all must fit */
	int			heads = 1;
	int			plain = 0, with = 0;
	int			bytes = 0, wbytes = 0;

	for (int i = 1; i < Min(f.n, 512); i++)
		heads += e[i].head != e[i - 1].head;
	if (heads * 2 <= Min(f.n, 512))
		fuller = repeated;
	if (8 * ix->headsize + ix->restbits <= 128)
	{
		f.fill = &fuller;
		while ((plain = form_step(&f, page, 0)) == 0 && fill->all &&
			   fuller.slots < 100)
			fuller.slots = Min(100, fuller.slots + 10);
		bytes = page_bytes(page);
	}
	if (ix->noheads || (plain > 0 && heads * 2 > Min(f.n, 512)))
		return plain;
	f.fill = heads * 2 <= Min(f.n, 512) ? &repeated : fill;
	with = form_step(&f, page, 1);
	wbytes = page_bytes(page);
	if (plain > 0 &&
		(with == 0 || no_worse(&f, plain, bytes, with, wbytes, 0)))
	{
		f.fill = &fuller;
		return form_step(&f, page, 0);
	}
	/* gaps between labels, as wide as they cost little */
	for (int step = 16; step > 1; step /= 2)
	{
		int			got = form_step(&f, page, step);

		if (got > 0 && no_worse(&f, got, page_bytes(page), with, wbytes, 2))
			return got;
	}
	return form_step(&f, page, 1);
}
