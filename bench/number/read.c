/*-------------------------------------------------------------------------
 *
 * read.c
 *	  Reading a leaf page of numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "number.h"

/* Hints: as many bytes, below the heads, for each node that there may be. */
#define HINT_BYTES	8

NumGeom
num_geom(int x, int sw)
{
	NumGeom		g;
	int			space = BLCKSZ - 2 * FPT_LINE;

	g.step = x * FPT_LINE;
	g.maxnodes = Min(NUM_MAXNODES, space / g.step);
	for (;; g.maxnodes--)
	{
		int			lines = (g.maxnodes * (sw + 2) + FPT_LINE - 1) / FPT_LINE;

		g.node0 = (1 + lines) * FPT_LINE;
		if (lines * FPT_LINE + g.maxnodes * (g.step + HINT_BYTES) <= space)
			break;
	}
	g.numbers = FPT_LINE + g.maxnodes * sw;
	g.shapes = g.numbers + g.maxnodes;
	return g;
}

bool
num_page_open(const NumIndex *ix, void *page, NumPage *pg)
{
	FPTPageHeader *h = fpt_header(page);
	NumSpecial *s = num_special(page);
	int			upper = h->std.pd_upper;

	pg->p = (uint8 *) page;
	pg->x = h->enc & 31;
	pg->sw = (h->enc >> 5) + 1;
	pg->ss = s->ss;
	pg->t = s->t;
	pg->ob = s->ob;
	pg->n = h->nkids;
	pg->heads = s->heads != 0;
	pg->base = pg->heads ? 0 : (num_u128) s->base_hi << 64 | s->base_lo;
	pg->restbits = pg->heads ? s->heads - 1 : ix->restbits;
	pg->restbase = pg->heads ? s->base_lo : 0;
	pg->headstep = ix->headsize + ix->headextra + 2;
	if (s->pageid != FPT_PAGE_ID || s->version != NUM_VERSION ||
		pg->x < 1 || pg->x > NUM_MAXX || pg->ss > 191 || pg->ob < 1 ||
		pg->ob > 16 || pg->t < pg->ob || pg->t > 32 + pg->ob ||
		pg->restbits > ix->restbits)
		return false;
	pg->g = num_geom(pg->x, pg->sw);
	if (h->std.pd_special != FPT_SPECIAL_OFFSET || upper > FPT_SPECIAL_OFFSET ||
		h->nnodes > pg->g.maxnodes || h->nkids > h->nnodes ||
		h->std.pd_lower != pg->g.node0 + h->nnodes * pg->g.step ||
		h->std.pd_lower + HINT_BYTES * pg->g.maxnodes > upper)
		return false;
	pg->nheads = (FPT_SPECIAL_OFFSET - upper) / pg->headstep;
	return pg->heads ? upper + pg->nheads * pg->headstep == FPT_SPECIAL_OFFSET :
		upper == FPT_SPECIAL_OFFSET;
}

int
num_page_hole(const NumPage *pg)
{
	FPTPageHeader *h = fpt_header(pg->p);

	return h->std.pd_upper - h->std.pd_lower - HINT_BYTES * pg->g.maxnodes;
}

uint64
num_sep(const NumPage *pg, int kid)
{
	return num_load(pg->p + FPT_LINE + kid * pg->sw, pg->sw);
}

void
num_sep_number(const NumPage *pg, uint64 v, num_u128 *key, uint64 *row)
{
	NumWide		e = num_shl(v, pg->ss);

	*key = pg->base + (e.hi << (64 - pg->t)) + (e.lo >> pg->t);
	*row = e.lo & num_ones(pg->t);
}

uint64
num_unit(const NumPage *pg, num_u128 key, uint64 row)
{
	NumWide		e;

	if (key < pg->base)
		return 0;
	e = num_shr(num_join(key - pg->base, pg->t, Min(row, num_ones(pg->t))),
				pg->ss);
	if (e.hi != 0 || e.lo > num_ones(8 * pg->sw))
		return num_ones(8 * pg->sw);
	return e.lo;
}

/* All separators are compared: no branch depends on them. */
static pg_attribute_always_inline int
seps_below(const uint8 *p, int n, int sw, uint64 v)
{
	int			below = 0;

	for (int i = 0; i < n; i++, p += sw)
		below += num_load(p, sw) <= v;
	return below;
}

int
num_kid(const NumPage *pg, num_u128 key, uint64 row)
{
	uint64		v = num_unit(pg, key, row);
	const uint8 *p = pg->p + FPT_LINE;
	int			n = 0;

	switch (pg->sw)
	{
		case 1: n = seps_below(p, pg->n, 1, v); break;
		case 2: n = seps_below(p, pg->n, 2, v); break;
		case 3: n = seps_below(p, pg->n, 3, v); break;
		case 4: n = seps_below(p, pg->n, 4, v); break;
		case 5: n = seps_below(p, pg->n, 5, v); break;
		case 6: n = seps_below(p, pg->n, 6, v); break;
		case 7: n = seps_below(p, pg->n, 7, v); break;
		default: n = seps_below(p, pg->n, 8, v); break;
	}
	return Max(0, n - 1);
}

bool
num_node_open(const NumPage *pg, int kid, NumNode *d)
{
	int			no = pg->p[pg->g.numbers + kid];
	int			code = pg->p[pg->g.shapes + kid];
	uint64		row;
	uint32		block;

	if (no >= fpt_header(pg->p)->nnodes || code >= NUM_NSHAPES)
		return false;
	d->p = pg->p + pg->g.node0 + no * pg->g.step;
	d->ob = pg->ob;
	d->s.rel = code >= NUM_MAXW;
	if (d->s.rel)
	{
		d->s.w = (code - NUM_MAXW) / NUM_WINDOWS + 1;
		d->s.t = (code - NUM_MAXW) % NUM_WINDOWS + pg->ob;
		if (d->s.t > 8 * d->s.w || d->s.t >= pg->t)
			return false;
	}
	else
	{
		d->s.w = code + 1;
		d->s.t = pg->t;
	}
	d->cap = num_cap(pg->x, d->s.w, d->s.rel);
	d->nfar = d->s.rel ? num_nfar(d->cap) : 0;
	d->far = d->p + pg->g.step - 4 - 4 * d->nfar;
	if (d->cap < 1 || 8 * d->s.w < d->ob || (uint64) d->nfar >= num_ones(d->ob))
		return false;
	num_sep_number(pg, num_sep(pg, kid), &d->key, &row);
	if (d->s.rel)
	{
		memcpy(&block, d->p + pg->g.step - 4, 4);
		d->row = (uint64) block << d->ob;
		d->b = num_add(num_join(d->key, d->s.t, 0), (NumWide) {0, d->row});
	}
	else
	{
		d->row = 0;
		d->b = num_join(d->key, d->s.t, row);
	}
	return true;
}

static pg_attribute_always_inline uint64
slots_used(const uint8 *p, int n, int w, uint64 mask)
{
	uint64		used = 0;

	for (int i = 0; i < n; i++, p += w)
		used |= (uint64) ((num_load(p, Min(w, 2)) & mask) != 0) << i;
	return used;
}

uint64
num_node_used(const NumNode *d)
{
	uint64		mask = num_ones(d->ob);

	switch (d->s.w)
	{
		case 1: return slots_used(d->p, d->cap, 1, mask);
		case 2: return slots_used(d->p, d->cap, 2, mask);
		case 3: return slots_used(d->p, d->cap, 3, mask);
		case 4: return slots_used(d->p, d->cap, 4, mask);
		default: return slots_used(d->p, d->cap, d->s.w, mask);
	}
}

/* A slot's number less the node's */
static inline NumWide
slot_number(const NumNode *d, int slot)
{
	const uint8 *p = d->p + slot * d->s.w;
	int			w = d->s.w;
	NumWide		v;

	if (w <= 8)
		return (NumWide) {0, (num_load(p, w) - d->b.lo) & num_ones(8 * w)};
	v.lo = num_load(p, 8);
	v.hi = num_load(p + 8, Min(8, w - 8));
	if (w > 16)
		v.hi |= (num_u128) num_load(p + 16, w - 16) << 64;
	v = num_sub(v, d->b);
	if (w < 24)
		v.hi &= ((num_u128) 1 << (8 * (w - 8))) - 1;
	return v;
}

/* ... as key and row; far rows as they are */
static inline void
number_split(const NumNode *d, NumWide v, num_u128 *key, uint64 *row)
{
	int			t = d->s.t;

	if (!d->s.rel)
		v = num_add(v, d->b);
	*key = (v.hi << (64 - t)) + (v.lo >> t);
	*row = v.lo & num_ones(t);
	if (d->s.rel)
	{
		*key += d->key;
		*row += d->row;
	}
}

void
num_node_get(const NumNode *d, int slot, num_u128 *key, uint64 *row)
{
	number_split(d, slot_number(d, slot), key, row);
	if (num_row_is_far(d, *row))
		*row = num_load(d->far + 4 * (num_ones(d->ob) -
									  (*row & num_ones(d->ob))), 4);
}

/* --- heads ------------------------------------------------------------------ */

static inline const uint8 *
head_at(const NumPage *pg, int i)
{
	return pg->p + FPT_SPECIAL_OFFSET - (i + 1) * pg->headstep;
}

static inline uint64
head_label(const NumPage *pg, int i)
{
	return num_load(head_at(pg, i), 2);
}

num_u128
num_head_get(const NumPage *pg, const NumIndex *ix, int i)
{
	const uint8 *p = head_at(pg, i) + 2;
	num_u128	v = num_load(p, Min(8, ix->headsize));

	if (ix->headsize > 8)
		v |= (num_u128) num_load(p + 8, ix->headsize - 8) << 64;
	return v;
}

int
num_head_labelled(const NumPage *pg, uint64 label)
{
	for (int i = 0; i < pg->nheads; i++)
	{
		if (head_label(pg, i) == label)
			return i;
	}
	return -1;
}

/*
 * Also the labels of the heads next to it: *below is 0 if there is none, *above
 * NUM_MAXLABEL + 1.  Heads are in no order.
 */
int
num_head_find(const NumPage *pg, const NumIndex *ix, num_u128 head,
			  uint64 *below, uint64 *above)
{
	int			found = -1;

	*below = 0;
	*above = NUM_MAXLABEL + 1;
	for (int i = 0; i < pg->nheads; i++)
	{
		num_u128	h = num_head_get(pg, ix, i);
		uint64		label = head_label(pg, i);

		if (h == head)
			found = i;
		else if (h < head)
			*below = Max(*below, label);
		else
			*above = Min(*above, label);
	}
	return found;
}

bool
num_key(const NumPage *pg, const NumIndex *ix, const NumEntry *e,
		num_u128 *key)
{
	num_u128	head = e->head;

	if (pg->heads)
	{
		int			bytes = Min(8, ix->headsize);
		int			found = -1;

		for (int i = 0; i < pg->nheads && found < 0; i++)
			if (num_load(head_at(pg, i) + 2, bytes) ==
				((uint64) head & num_ones(8 * bytes)) &&
				num_head_get(pg, ix, i) == head)
				found = i;
		if (found < 0)
			return false;
		head = head_label(pg, found);
		if (e->rest < pg->restbase ||
			e->rest - pg->restbase > num_ones(pg->restbits))
			return false;
	}
	*key = head << pg->restbits | (e->rest - pg->restbase);
	return true;
}

/* A page's key back; *last: a head that was found before, or -1. */
static bool
entry_of(const NumPage *pg, const NumIndex *ix, num_u128 key, uint64 tid,
		 int *last, NumEntry *e)
{
	e->rest = pg->restbase + ((uint64) key & num_ones(pg->restbits));
	e->head = key >> pg->restbits;
	e->tid = tid;
	if (!pg->heads)
		return true;
	if (*last < 0 || head_label(pg, *last) != e->head)
	{
		if (e->head > NUM_MAXLABEL ||
			(*last = num_head_labelled(pg, (uint64) e->head)) < 0)
			return false;
	}
	e->head = num_head_get(pg, ix, *last);
	return true;
}

/* --- entries ---------------------------------------------------------------- */

int
num_node_entries(const NumPage *pg, const NumIndex *ix, int kid, NumEntry *e,
				 uint8 *slots)
{
	NumNode		d;
	struct
	{
		num_u128	key;
		uint64		row;
		uint8		slot;
	}			v[NUM_MAXCAP], x;
	int			n = 0;
	int			last = -1;

	if (!num_node_open(pg, kid, &d))
		return -1;
	for (uint64 set = num_node_used(&d); set != 0; set &= set - 1)
	{
		int			j = n++;

		x.slot = (uint8) __builtin_ctzll(set);
		num_node_get(&d, x.slot, &x.key, &x.row);
		for (; j > 0 && (v[j - 1].key > x.key || (v[j - 1].key == x.key &&
												  v[j - 1].row > x.row)); j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
	for (int i = 0; i < n; i++)
	{
		if (!entry_of(pg, ix, v[i].key, num_tid(v[i].row, d.ob), &last, &e[i]))
			return -1;
		if (slots)
			slots[i] = v[i].slot;
	}
	return n;
}

int
num_extract(const NumIndex *ix, void *page, NumEntry *e, int max)
{
	NumPage		pg;
	int			n = 0;

	if (!num_page_open(ix, page, &pg))
		return -1;
	for (int kid = 0; kid < pg.n; kid++)
	{
		int			m = max - n < NUM_MAXCAP ? -1 :
			num_node_entries(&pg, ix, kid, e + n, NULL);

		if (m < 0)
			return -1;
		n += m;
	}
	return n;
}

/*
 * Rows of a key in one node.  Slots of up to 8 bytes are compared with the
 * first one that the key could have, and there are as many as rows.
 */
static int
node_find(const NumNode *d, num_u128 key, uint64 *tids, int max)
{
	int			n = 0;

	if (key < d->key)
		return 0;
	if (d->s.w <= 8)
	{
		int			w = d->s.w;
		NumWide		low = d->s.rel ? num_join(key - d->key, d->s.t, 0) :
			num_join(key, d->s.t, 0);
		uint64		span = num_ones(d->s.t);
		uint64		x, all = num_ones(8 * w);

		if (!d->s.rel && num_less(low, d->b))	/* its first rows are before */
		{
			span -= d->b.lo - low.lo;
			low = d->b;
		}
		if (!d->s.rel)
			low = num_sub(low, d->b);
		if (low.hi != 0 || low.lo > all)
			return 0;
		x = d->b.lo + low.lo;
		span = Min(span, all - low.lo);
		for (int i = 0; i < d->cap; i++)
		{
			uint64		v = num_load(d->p + i * w, w);
			uint64		row;

			if (((v - x) & all) > span || (v & num_ones(d->ob)) == 0)
				continue;
			num_node_get(d, i, &key, &row);
			if (n == max)
				return -1;
			tids[n++] = num_tid(row, d->ob);
		}
		return n;
	}
	for (uint64 set = num_node_used(d); set != 0; set &= set - 1)
	{
		num_u128	k;
		uint64		row;

		num_node_get(d, __builtin_ctzll(set), &k, &row);
		if (k != key)
			continue;
		if (n == max)
			return -1;
		tids[n++] = num_tid(row, d->ob);
	}
	return n;
}

int
num_find(const NumIndex *ix, void *page, num_u128 head, uint64 rest,
		 uint64 *tids, int max)
{
	NumPage		pg;
	num_u128	key;
	int			n = 0;
	uint64		most;

	if (!num_page_open(ix, page, &pg))
		return -1;
	if (!num_key(&pg, ix, &(NumEntry) {head, rest, 0}, &key) || pg.n == 0)
		return 0;
	most = num_unit(&pg, key, num_ones(pg.t));
	for (int kid = num_kid(&pg, key, 0);
		 kid < pg.n && (kid == 0 || num_sep(&pg, kid) <= most); kid++)
	{
		NumNode		d;
		int			m;

		if (!num_node_open(&pg, kid, &d) ||
			(m = node_find(&d, key, tids + n, max - n)) < 0)
			return -1;
		n += m;
	}
	return n;
}

/* --- checking --------------------------------------------------------------- */

static const char *
check_heads(const NumPage *pg, const NumIndex *ix)
{
	for (int i = 0; i < pg->nheads; i++)
	{
		uint64		below, above, label = head_label(pg, i);

		if (num_head_find(pg, ix, num_head_get(pg, ix, i), &below, &above) != i)
			return "a head is there twice";
		if (label <= below || label >= above)
			return "labels are not in the heads' order";
	}
	return NULL;
}

/* Far rows are told by one slot each, or free. */
static const char *
check_far(const NumNode *d)
{
	uint64		told = 0;

	if (!d->s.rel)
		return NULL;
	for (uint64 set = num_node_used(d); set != 0; set &= set - 1)
	{
		num_u128	key;
		uint64		row, bit;

		number_split(d, slot_number(d, __builtin_ctzll(set)), &key, &row);
		if (!num_row_is_far(d, row))
			continue;
		bit = UINT64CONST(1) << (num_ones(d->ob) - (row & num_ones(d->ob)));
		if (told & bit)
			return "two slots have the same far row";
		told |= bit;
	}
	for (int j = 0; j < d->nfar; j++)
	{
		uint64		row = num_load(d->far + 4 * j, 4);

		if ((row != 0) != (told >> j & 1))
			return "a far row is no slot's";
		if (row != 0 && (row & num_ones(d->ob)) == 0)
			return "a far row has no offset";
	}
	return NULL;
}

const char *
num_check(const NumIndex *ix, void *page)
{
	NumPage		pg;
	NumEntry	e[NUM_MAXCAP], last = {0, 0, 0};
	uint64		taken[4] = {0};
	const char *what;

	if (!num_page_open(ix, page, &pg))
		return "the header makes no sense";
	if ((what = check_heads(&pg, ix)) != NULL)
		return what;
	for (int kid = 0; kid < pg.n; kid++)
	{
		NumNode		d;
		int			no = pg.p[pg.g.numbers + kid];
		int			n = num_node_entries(&pg, ix, kid, e, NULL);

		if (n < 0)
			return "a node makes no sense";
		if (taken[no / 64] >> (no % 64) & 1)
			return "a node is there twice";
		taken[no / 64] |= UINT64CONST(1) << (no % 64);
		if (kid > 0 && num_sep(&pg, kid) <= num_sep(&pg, kid - 1))
			return "separators do not ascend";
		(void) num_node_open(&pg, kid, &d);
		if ((what = check_far(&d)) != NULL)
			return what;
		for (int i = 0; i < n; i++)
		{
			num_u128	key;

			if (last.tid != 0 && num_entry_cmp(&last, &e[i]) >= 0)
				return "entries do not ascend";
			last = e[i];
			if (!num_key(&pg, ix, &last, &key) ||
				num_kid(&pg, key, num_row(last.tid, pg.ob)) != kid)
				return "an entry is in the wrong node";
		}
	}
	return NULL;
}
