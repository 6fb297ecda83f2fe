/*-------------------------------------------------------------------------
 *
 * page/number_form.c
 *	  Page kernel: making leaf pages of numbers.
 *
 * A page is filled node after node.  Each node has the width with which it
 * takes the most entries; nothing is predicted, and nothing else decides.
 *
 *-------------------------------------------------------------------------
 */
#include "page/number_form.h"

/* Lines of nodes are such that a page has this many nodes, or more. */
#define FPT_NUM_FEWEST_NODES	8

/*
 * A node's share of the numbers that separators count has 2^9 units or more,
 * and at most this percentage of neighbours have the same unit: entries can be
 * parted between units only.
 */
#define FPT_NUM_UNIT_BITS		9
#define FPT_NUM_TIED			3

/* How full nodes are when all entries must go into a page, percent. */
#define FPT_NUM_SLOTS_ALL		90

/* Numbers that planning a node looks at. */
#define FPT_NUM_WINDOW			(FPT_MAX_CAP + 1)

/* What a page is made of. */
typedef struct FPTNumForm
{
	const FPTLayout *l;
	const FPTPageSpec *spec;
	const FPTEntry *entries;
	int			n;
	int			nheads;			/* different keys of these */
	int			rows;			/* most entries of one key */
	int			slots;			/* how full nodes should be, percent, */
	int			nodes;			/* and how many of a page's */
	bool		all;			/* all entries must go in */
	int			t;
	int			ob;
	int			label;			/* distance of labels */
	int			x;
	int			sw;
	int			ss;
} FPTNumForm;

/* Numbers of entries, one after the other. */
typedef struct FPTNumSource
{
	int			i;				/* the next entry's place */
	uint64		label;			/* of the entry before it, or 0 */
} FPTNumSource;

/* Has this entry, which is not the first one, the key of the one before it? */
static inline bool
fpt_num_same_key(const FPTEntry *e)
{
	return e[-1].key.lo == e->key.lo && e[-1].key.hi == e->key.hi;
}

/* The next entry's number. */
static inline uint64
fpt_num_next(const FPTNumForm *f, FPTNumSource *s)
{
	const FPTEntry *e = &f->entries[s->i];

	Assert(s->i < f->n);
	if (s->i == 0 || !fpt_num_same_key(e))
		s->label += (uint64) f->label;
	s->i++;
	return s->label << f->t | fpt_num_row(e->key.tid, f->ob);
}

bool
fpt_num_repeats(const FPTEntry *entries, int n)
{
	int			heads = 1;

	for (int i = 1; i < n; i++)
		heads += !fpt_num_same_key(&entries[i]);
	return n >= 4 && heads * 2 <= n;
}

/*
 * Survey all entries: choose the bits of rows, which represent all blocks
 * within the page's reach, and count keys and their rows.  False: an offset is
 * too high, or an entry is no value.
 */
static bool
fpt_num_survey(FPTNumForm *f)
{
	uint32		maxoff = 1;
	uint32		maxblock = Max(f->spec->reach, 1) - 1;
	int			rows = 0;

	f->nheads = f->rows = 0;
	for (int i = 0; i < f->n; i++)
	{
		const FPTKey *k = &f->entries[i].key;

		if (k->cls != FPT_CLS_VALUE || (k->tid & 0xFFFF) == 0)
			return false;
		maxoff = Max(maxoff, (uint32) (k->tid & 0xFFFF));
		maxblock = Max(maxblock, (uint32) (k->tid >> 16));
		if (i == 0 || !fpt_num_same_key(&f->entries[i]))
		{
			f->nheads++;
			rows = 0;
		}
		f->rows = Max(f->rows, ++rows);
	}
	f->ob = fpt_row_bits(maxoff);
	if (f->ob > FPT_MAX_ROWBITS)
		return false;
	f->ob = Min(Max(f->ob, f->spec->rowbits), FPT_MAX_ROWBITS);
	f->t = f->ob + fpt_row_bits(maxblock);
	return true;
}

/*
 * Labels are as far apart as costs no byte of a slot, in a node with the
 * average number of heads.  In a page that is not one of a build they are far
 * enough apart that one or two keys may come between two others: such a page
 * may have been formed anew because a key found no label.
 */
static void
fpt_num_choose_labels(FPTNumForm *f)
{
	int			least = f->all ? 4 : 1;
	int			heads = FPT_MAX_CAP * f->nheads / Max(f->n, 1) + 1;
	int			width = (fpt_bits_of(least * heads) + f->t + 7) / 8;

	f->label = 16;
	while (f->label > least &&
		   ((fpt_bits_of(f->label * heads) + f->t + 7) / 8 > width ||
			(f->nheads + 1) * f->label > FPT_NUM_MAX_LABEL / 2))
		f->label /= 2;
}

/*
 * Lines of a node with which a page has the most slots of this width; of
 * several the widest nodes, since what one has free serves more entries.
 */
static int
fpt_num_best_lines(int w)
{
	int			best = 2;
	int			most = 0;

	for (int x = 1; x <= FPT_NUM_MAX_LINES; x++)
	{
		FPTNumbers	pg = {.x = x, .sw = 3};
		int			n;

		fpt_num_place(&pg);
		n = pg.maxnodes * fpt_num_cap(x, w);
		if ((pg.maxnodes >= FPT_NUM_FEWEST_NODES || x == 1) && n >= most)
		{
			most = n;
			best = x;
		}
	}
	return best;
}

/*
 * Is there no room for all entries in nodes of this size, wherever they are
 * parted?  A node has rows of one key, no more than one has, or is so wide that
 * it represents two labels.  fpt_num_form() tries no other size then.  Wider
 * separators may leave some bytes more, but fpt_num_fill() does not use these:
 * it keeps nodes and keys to the bytes of the most nodes.
 */
static bool
fpt_num_hopeless(const FPTNumForm *f)
{
	FPTNumbers	pg = {.x = f->x, .sw = FPT_NUM_MIN_SEP,
	.upper = FPT_SPECIAL_OFFSET};
	int			bits = fpt_bits_of((uint64) (f->label - 1) << f->t);
	int			most = fpt_num_cap(f->x, Max((bits + 7) / 8,
											 FPT_NUM_MIN_WIDTH));
	int			nodes;

	most = Max(most, Min(f->rows, fpt_num_cap(f->x, FPT_NUM_MIN_WIDTH)));
	nodes = (f->n + most - 1) / most;
	fpt_num_place(&pg);
	return nodes > pg.maxnodes || nodes * pg.step + f->nheads *
		(f->l->keysize + FPT_NUM_LABEL_BYTES) > fpt_num_hole(&pg);
}

/*
 * Survey the entries, and choose all but separators.  False: there is no such
 * page of them.
 */
static bool
fpt_num_choose(FPTNumForm *f)
{
	if (fpt_is_general(f->l) || f->spec->level > 0 || f->n < 1 ||
		!fpt_num_survey(f))
		return false;
	fpt_num_choose_labels(f);
	f->x = fpt_num_best_lines(4);
	return (f->nheads + 1) * f->label <= FPT_NUM_MAX_LABEL;
}

bool
fpt_num_may_form(const FPTLayout *l, const FPTPageSpec *spec,
				 const FPTEntry *entries, int n)
{
	FPTNumForm	f = {.l = l, .spec = spec, .entries = entries, .n = n,
	.all = true};

	return n <= FPT_MAX_ENTRIES && fpt_num_choose(&f) &&
		!fpt_num_hopeless(&f);
}

/*
 * The distance that a node should represent: a quarter more than that of its
 * last entry, but no more than that of the next separator.
 */
static inline uint64
fpt_num_slack(uint64 last, uint64 border)
{
	return last < border ? Min(last + last / 4, border) : last;
}

bool
fpt_num_plan(const FPTNumbers *pg, const uint64 *e, int n, int percent,
			 uint64 sep, uint64 end, FPTNumPlan *plan)
{
	uint64		b = sep << pg->ss;

	Assert(n > 0 && fpt_num_unit(pg, e[0]) >= sep);
	plan->take = 0;
	for (int w = FPT_NUM_MIN_WIDTH; w <= FPT_NUM_MAX_WIDTH; w++)
	{
		int			most = fpt_num_cap(pg->x, w) * percent / 100;

		most = Min(Max(most, 1), n);
		if (most <= plan->take)
			break;
		for (int take = most; take > plan->take; take--)
		{
			uint64		next = take < n ? fpt_num_unit(pg, e[take]) : end;

			if (take < n && fpt_num_unit(pg, e[take - 1]) >= next)
				continue;
			if (fpt_num_slack(e[take - 1] - b, (next << pg->ss) - b) >
				fpt_ones(8 * w))
				continue;
			plan->w = w;
			plan->take = take;
		}
	}
	return plan->take > 0;
}

void
fpt_num_set_sep(const FPTNumbers *pg, int kid, uint64 sep)
{
	Assert(kid >= 0 && kid < pg->maxnodes);
	fpt_store_uint(pg->p + FPT_LINE + kid * pg->sw, pg->sw, sep);
}

void
fpt_num_write(const FPTNumbers *pg, int kid, int w, const uint64 *e, int n)
{
	FPTNumNode	d;

	((uint8 *) pg->p)[pg->shapes + kid] = (uint8) (w - 1);
	if (!fpt_num_node(pg, kid, &d))
		return;
	Assert(n <= d.cap);
	memset(d.p, 0, pg->step);
	fpt_num_set_hints(pg, d.ordinal, 0);
	for (int i = 0; i < n; i++)
	{
		Assert(fpt_num_fits(&d, e[i]));
		fpt_num_put(&d, i, e[i]);
	}
}

/* The lowest number of a node that the root does not list. */
static int
fpt_num_free_node(const FPTNumbers *pg)
{
	bool		taken[256] = {false};
	int			no = 0;

	for (int kid = 0; kid < pg->nkids; kid++)
		taken[fpt_num_ordinal(pg, kid)] = true;
	while (taken[no])			/* no node is number 255 */
		no++;
	return no;
}

bool
fpt_num_add_node(FPTNumbers *pg, int kid, uint64 sep, int w)
{
	FPTPageHeader *h = fpt_header(pg->p);
	int			after = pg->nkids - kid;
	int			no;

	if (pg->nkids >= pg->maxnodes)
		return false;
	no = fpt_num_free_node(pg);
	if (no >= pg->nnodes)
	{
		no = pg->nnodes;
		if (no >= pg->maxnodes || fpt_num_hole(pg) < pg->step)
			return false;
		h->nnodes = (uint8) ++pg->nnodes;
		h->std.pd_lower = (uint16) (pg->node0 + pg->nnodes * pg->step);
	}
	memmove(pg->p + FPT_LINE + (kid + 1) * pg->sw,
			pg->p + FPT_LINE + kid * pg->sw, after * pg->sw);
	memmove(pg->p + pg->numbers + kid + 1, pg->p + pg->numbers + kid, after);
	memmove(pg->p + pg->shapes + kid + 1, pg->p + pg->shapes + kid, after);
	fpt_num_set_sep(pg, kid, sep);
	pg->p[pg->numbers + kid] = (char) no;
	h->nkids = (uint8) ++pg->nkids;
	fpt_num_write(pg, kid, w, NULL, 0);
	return true;
}

/* --- pages --------------------------------------------------------------- */

static void
fpt_num_set_fence(FPTFence *f, const FPTKey *key)
{
	f->hi = key->hi;
	f->lo = key->lo;
	f->tidcls = key->tid | (uint64) key->cls << 56;
}

/* Make an empty page, and open it. */
static void
fpt_num_begin(const FPTNumForm *f, void *page, FPTNumbers *pg)
{
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpecial *s = fpt_special(page);

	memset(page, 0, BLCKSZ);
	h->std.pd_upper = FPT_SPECIAL_OFFSET;
	h->std.pd_special = FPT_SPECIAL_OFFSET;
	h->std.pd_pagesize_version = BLCKSZ | PG_PAGE_LAYOUT_VERSION;
	h->enc = FPT_ENC_NUMBER;
	h->ndict = (uint8) (f->x | (f->sw - 1) << 5);
	s->rowbits = (uint8) f->ob;
	s->t = (uint8) f->t;
	s->unit = (uint8) f->ss;
	s->pageno = f->spec->pageno;
	s->indexid = f->l->indexid;
	s->version = FPT_VERSION;
	s->pageid = FPT_PAGE_ID;
	(void) fpt_num_open(f->l, page, pg);
	h->std.pd_lower = (uint16) pg->node0;
	fpt_num_set_fence(&s->low, f->spec->low);
	fpt_num_set_fence(&h->high, f->spec->high);
}

/*
 * Heads of entries "from" to "to" - 1, but of one that the entry before has;
 * their labels are those of the numbers.  There is room.
 */
static void
fpt_num_add_heads(const FPTNumForm *f, FPTNumbers *pg, int from, int to,
				  const uint64 *e)
{
	for (int i = from; i < to; i++)
	{
		const FPTKey *k = &f->entries[i].key;
		char	   *p;

		if (i > 0 && fpt_num_same_key(&f->entries[i]))
			continue;
		pg->upper -= pg->headstep;
		pg->nheads++;
		p = pg->p + pg->upper;
		fpt_store_uint(p, FPT_NUM_LABEL_BYTES, e[i - from] >> pg->t);
		fpt_store_uint(p + FPT_NUM_LABEL_BYTES, Min(8, f->l->keysize), k->lo);
		if (f->l->keysize > 8)
			fpt_store_uint(p + FPT_NUM_LABEL_BYTES + 8, 8, k->hi);
	}
	fpt_header(pg->p)->std.pd_upper = (uint16) pg->upper;
}

/* How many new heads entries "from" to "to" - 1 need. */
static int
fpt_num_new_heads(const FPTNumForm *f, int from, int to)
{
	int			n = 0;

	for (int i = from; i < to; i++)
		n += i == 0 || !fpt_num_same_key(&f->entries[i]);
	return n;
}

/*
 * Make nodes of the entries, one after the other, until the page is full.
 * Returns how many entries they have, 0: no two can be parted, or not all fit
 * that must.  widths[] counts nodes by their width.
 */
static int
fpt_num_fill(const FPTNumForm *f, void *page,
			 int widths[FPT_NUM_MAX_WIDTH + 1])
{
	FPTNumbers	pg;
	FPTNumSource next = {0};
	int			percent;
	int			most;
	int			space;

	fpt_num_begin(f, page, &pg);
	space = pg.maxnodes * pg.step * f->nodes / 100;
	most = (pg.maxnodes * f->nodes + 99) / 100;
	/* what the last node is more than asked for, slots are less */
	percent = Max(1, f->slots * f->nodes * pg.maxnodes / (100 * most));
	memset(widths, 0, sizeof(int) * (FPT_NUM_MAX_WIDTH + 1));
	for (int kid = 0; kid < most && next.i < f->n; kid++)
	{
		uint64		e[FPT_NUM_WINDOW];
		FPTNumSource s = next;
		FPTNumPlan	plan;
		int			n = Min(FPT_NUM_WINDOW, f->n - next.i);
		int			heads;

		for (int i = 0; i < n; i++)
			e[i] = fpt_num_next(f, &s);
		if (!fpt_num_plan(&pg, e, n, percent, fpt_num_unit(&pg, e[0]),
						  fpt_ones(8 * pg.sw), &plan))
			return 0;
		heads = fpt_num_new_heads(f, next.i, next.i + plan.take);
		if (fpt_num_hole(&pg) < heads * pg.headstep + pg.step ||
			(kid > 0 && (pg.nheads + heads) * pg.headstep +
			 (kid + 1) * pg.step > space))
			break;
		fpt_num_add_heads(f, &pg, next.i, next.i + plan.take, e);
		if (!fpt_num_add_node(&pg, kid, fpt_num_unit(&pg, e[0]), plan.w))
			return 0;
		fpt_num_write(&pg, kid, plan.w, e, plan.take);
		widths[plan.w]++;
		for (int i = 0; i < plan.take; i++)
			(void) fpt_num_next(f, &next);
	}
	return f->all && next.i < f->n ? 0 : next.i;
}

/* How many of all entries have the unit of the one before? */
static int
fpt_num_tied(const FPTNumForm *f)
{
	FPTNumSource s = {0};
	uint64		last = 0;
	int			tied = 0;

	while (s.i < f->n)
	{
		uint64		unit = fpt_num_next(f, &s) >> f->ss;

		tied += unit == last;
		last = unit;
	}
	return tied;
}

/*
 * Choose the fewest bytes that separators can have, and their unit, such that
 * they count twice as many labels as there are.
 */
static void
fpt_num_choose_seps(FPTNumForm *f)
{
	int			bits = fpt_bits_of(2 * (uint64) (f->nheads + 1) * f->label) +
		f->t;

	for (f->sw = FPT_NUM_MIN_SEP; f->sw < FPT_NUM_MAX_SEP; f->sw++)
	{
		FPTNumbers	pg = {.x = f->x, .sw = f->sw};

		fpt_num_place(&pg);
		f->ss = Max(0, bits - 8 * f->sw);
		if (f->ss == 0 ||
			(f->ss + fpt_bits_of(pg.maxnodes) + FPT_NUM_UNIT_BITS <= bits &&
			 fpt_num_tied(f) * 100 <= f->n * FPT_NUM_TIED))
			break;
	}
	f->ss = Max(0, bits - 8 * f->sw);
}

/* The width that most nodes have. */
static int
fpt_num_usual(const int widths[FPT_NUM_MAX_WIDTH + 1])
{
	int			w = FPT_NUM_MIN_WIDTH;

	for (int i = w; i <= FPT_NUM_MAX_WIDTH; i++)
	{
		if (widths[i] > widths[w])
			w = i;
	}
	return w;
}

/*
 * Where keys repeat, new rows come to all of them, after the others of each
 * key, and all pages would be split by growth of a few percent.  So pages leave
 * twice the space that the fill factor asks for, half of it as slots.
 */
static int
fpt_num_fill_slots(int fill)
{
	return Max(50, fill);
}

static int
fpt_num_fill_nodes(int fill)
{
	return Max(50, 2 * fill - 100) * 100 / fpt_num_fill_slots(fill);
}

int
fpt_num_bytes(const FPTNumbers *pg)
{
	return pg->node0 + pg->nnodes * pg->step + FPT_SPECIAL_OFFSET - pg->upper +
		FPT_NUM_HINT_BYTES * pg->maxnodes;
}

int
fpt_num_space_for(const FPTNumbers *pg, int fill)
{
	return pg->maxnodes * pg->step * fpt_num_fill_nodes(fill) / 100;
}

/*
 * See page/number.h.  Lines are chosen by what
 * the first attempt has made of a guess.
 */
int
fpt_num_form(const FPTLayout *l, void *page, const FPTPageSpec *spec,
			 const FPTEntry *entries, int n, int fill, bool all)
{
	FPTNumForm	f = {.l = l, .spec = spec, .entries = entries,
	.n = Min(n, FPT_MAX_ENTRIES), .all = all};
	int			widths[FPT_NUM_MAX_WIDTH + 1];
	int			got = 0;
	bool		hopeless;

	if ((all && n > FPT_MAX_ENTRIES) || !fpt_num_choose(&f))
		return 0;
	hopeless = all && fpt_num_hopeless(&f);
	/* with assertions the long way is gone, too: both must say the same */
#ifndef USE_ASSERT_CHECKING
	if (hopeless)
		return 0;
#endif
	f.slots = all ? FPT_NUM_SLOTS_ALL : fpt_num_fill_slots(fill);
	f.nodes = all ? 100 : fpt_num_fill_nodes(fill);
	for (int i = 0; i < 3; i++)
	{
		int			x = f.x;

		fpt_num_choose_seps(&f);
		got = fpt_num_fill(&f, page, widths);
		Assert(!hopeless || got == 0);
		if (got > 0)
			x = fpt_num_best_lines(fpt_num_usual(widths));
		else if (!all)
			return 0;
		else if (f.slots == 100)
			break;
		else
			f.slots = 100;
		if (got > 0 && x == f.x)
			return got;
		if (i < 2)
			f.x = x;
	}
	return got;
}
