/*-------------------------------------------------------------------------
 *
 * page/form.c
 *	  Page kernel: making a page of sorted entries.
 *
 * Chooses what keys are stored relative to, in how many bytes, and in which
 * encoding.  fpt_page_init() and fpt_page_fill() do the rest.
 *
 *-------------------------------------------------------------------------
 */
#include "page/copy.h"
#include "page/dict.h"
#include "page/encoding.h"
#include "page/form.h"
#include "page/format.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/node.h"
#include "page/tuple.h"

/* A number of 128 bits: how far two images are from each other */
typedef struct FPTDistance
{
	uint64		hi;
	uint64		lo;
} FPTDistance;

/* a - b as a number of 128 bits; a is not below b. */
static inline FPTDistance
fpt_distance(const FPTKey *a, const FPTKey *b)
{
	FPTDistance d;

	d.lo = a->lo - b->lo;
	d.hi = a->hi - b->hi - (a->lo < b->lo ? 1 : 0);
	return d;
}

/*
 * Expected range of a page's keys once it is full, for an open-ended page: the
 * range now, of n keys, extrapolated to "capacity" of them.  Its upper half is
 * the largest there is where 128 bits do not do.
 */
static FPTDistance
fpt_extrapolate(FPTDistance range, int n, uint32 capacity)
{
	uint64		factor = capacity / Max(n, 1) + 1;
	uint64		low = (range.lo & 0xFFFFFFFF) * factor;
	uint64		mid = (range.lo >> 32) * factor + (low >> 32);
	FPTDistance d;

	Assert(n >= 0 && capacity > 0);
	d.lo = mid << 32 | (low & 0xFFFFFFFF);
	d.hi = ~UINT64CONST(0);
	if (range.hi < d.hi / factor - 1)
		d.hi = range.hi * factor + (mid >> 32);
	return d;
}

/* A page that is being formed, and what is known of its entries. */
typedef struct FPTForm
{
	const FPTLayout *l;
	const FPTPageSpec *spec;
	FPTEntry   *entries;		/* in order */
	int			n;
	int			kind;			/* FPT_KIND_*, as their TIDs allow */
	int			first;			/* the first and last one that is a value, */
	int			last;			/* -1: none is */
	int			bytes;			/* of tuples, fences' included */
	uint32		tidbase;		/* what these are relative to */
	int			kw;				/* the key width chosen */
	FPTKey		base;			/* what keys shall be relative to */
} FPTForm;

/*
 * What a page of the key width chosen, or another one, would be like: pages of
 * the form's kind; not those of FPT_ENC_WIDE, nor those with a dictionary.
 */
static inline const FPTGeom *
fpt_form_geom(const FPTForm *f, int kw)
{
	return &f->l->geom[kw - 1][f->kind];
}

/*
 * Do all of a form's entries fit in a page of this key width, however they are
 * spread?  See FPTEncoding.sure_fits.
 */
static inline bool
fpt_form_sure_fits(const FPTForm *f, int kw)
{
	const FPTGeom *g = fpt_form_geom(f, kw);

	return fpt_encoding(g)->sure_fits(g, f->n, f->last - f->first + 1 < f->n,
									  f->bytes);
}

/*
 * An open-ended page's base is moved down from the lowest entry by what the key
 * width leaves, or by half of that if it is open above, too: "inuse" is how far
 * the entries, or the fence, reach, which the key width can hold.  Changes f's
 * base, which is the lowest entry before.  A key width of all bytes needs no
 * base.  Of wide keys only the upper half is lowered: its width is what counts.
 */
static void
fpt_form_lower_base(FPTForm *f, FPTDistance inuse)
{
	bool		wide = f->kw > (int) sizeof(uint64);
	uint64	   *base = wide ? &f->base.hi : &f->base.lo;
	uint64		max = ~UINT64CONST(0) >> (64 * (wide ? 2 : 1) - 8 * f->kw);
	uint64		below = max - (wide ? inuse.hi : inuse.lo);

	if (f->kw == f->l->keysize)
	{
		f->base.hi = f->base.lo = 0;
		return;
	}
	Assert((wide ? inuse.hi : inuse.lo) <= max);
	if (f->spec->high->cls != FPT_CLS_VALUE)
		below /= 2;
	*base -= Min(*base, below);
}

/*
 * Choose key width and base of a page that has values.  A page between two
 * value fences gets a width that holds every key that can ever arrive, if its
 * entries fit then; an open-ended page gets room in the directions it can
 * grow.  Sets f's kw and base, by which all entries are representable: a width
 * of all bytes holds any difference.
 */
static void
fpt_form_base(FPTForm *f)
{
	const FPTKey *low = f->spec->low;
	const FPTKey *high = f->spec->high;
	const FPTKey *last = &f->entries[f->last].key;
	bool		lowopen = low->cls != FPT_CLS_VALUE;
	bool		highopen = high->cls != FPT_CLS_VALUE;
	const FPTKey *from = lowopen ? &f->entries[f->first].key : low;
	FPTDistance content = fpt_distance(last, from);
	FPTDistance span = highopen ? content : fpt_distance(high, from);
	int			kw;

	Assert(f->first >= 0 && f->first <= f->last && f->last < f->n);
	for (kw = 1; kw < f->l->keysize; kw = fpt_width_of(kw + 1))
	{
		FPTDistance need = span;

		if (lowopen || highopen)
			need = fpt_extrapolate(span, f->n, fpt_form_geom(f, kw)->capacity);
		if (fpt_fits(kw, need.hi, need.lo))
			break;
	}

	/* Too wide to hold the entries: as tight as the contents allow. */
	while (kw > 1 && !fpt_form_sure_fits(f, kw) &&
		   fpt_fits(fpt_width_below(kw), content.hi, content.lo))
		kw = fpt_width_below(kw);

	Assert(kw <= f->l->keysize);
	f->kw = kw;
	f->base = *from;
	f->base.cls = FPT_CLS_VALUE;
	f->base.tid = 0;
	if (lowopen)
		fpt_form_lower_base(f, fpt_fits(kw, span.hi, span.lo) ? span : content);
}

/*
 * The first separator of the leftmost page of an inner level stands for minus
 * infinity: give it a key that is below all others.  Changes entries[0], which
 * is the caller's.  Its TID is 0, so that the second one's image will do unless
 * that has TID 0 as well.  A general one has the second one's head, no tuple,
 * and is not compared with anything (fpt_is_low_entry).
 */
static void
fpt_form_minf(const FPTLayout *l, FPTEntry *entries, int n)
{
	FPTKey	   *k = &entries[0].key;

	Assert(n > 0);
	memset(k, 0, sizeof(FPTKey));
	k->cls = l->nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_VALUE;
	if (k->cls == FPT_CLS_VALUE && n > 1 &&
		entries[1].key.cls == FPT_CLS_VALUE)
	{
		/* Close by, so that it costs no key width. */
		k->hi = entries[1].key.hi;
		k->lo = entries[1].key.lo;
		if (entries[1].key.tid == 0 && !fpt_is_general(l))
		{
			if (k->lo-- == 0)
				k->hi--;
		}
	}
}

/* What a dictionary must save: one part of so many. */
#define FPT_DICT_SHARE		8

/*
 * Would a page with a dictionary be so much smaller than one of this key width
 * (enc) and kind?  Compares bytes only, so that it raises nothing; whether
 * there can be a dictionary is another question (fpt_dict_build).  Fences and
 * the page's fixed lines are on both sides, and left out.  False as well if
 * there are more keys than a dictionary has, or too few rows of each.
 */
static bool
fpt_dict_pays(const FPTLayout *l, int level, int enc, int kind,
			  const FPTEntry *entries, int n)
{
	const FPTGeom *g = &l->geom[enc][kind];
	const FPTGeom *d = &l->geom[FPT_ENC_DICT][kind];
	int			nodes = fpt_ceil_div(n, g->cap);
	int			dnodes;
	int			bytes = 0;
	int			dbytes = 0;
	int			ndict = 0;
	int			i;

	if (level > 0 || !fpt_is_general(l) || n < FPT_DICT_ROWS)
		return false;
	for (i = 0; i < n; i++)
	{
		bytes += fpt_tuple_space(entries[i].key.len);
		if (i > 0 && fpt_key_alike(&entries[i - 1].key, &entries[i].key))
			continue;
		if (++ndict > FPT_MAX_DICT || ndict * FPT_DICT_ROWS > n)
			return false;
		dbytes += fpt_tuple_space(entries[i].key.len) + FPT_DICT_ITEM;
	}
	dnodes = fpt_ceil_div(n, d->cap);
	bytes += nodes * g->x * FPT_LINE + fpt_hint_bytes(g, nodes);
	dbytes += dnodes * d->x * FPT_LINE + fpt_hint_bytes(d, dnodes);
	return dbytes * FPT_DICT_SHARE <= bytes * (FPT_DICT_SHARE - 1);
}

/*
 * Make the page in this encoding (the low nibble; base is what a form without
 * values has).  Not FPT_OK: it is undefined what the page is.
 */
static FPTResult
fpt_form_as(FPTForm *f, void *page, int enc, const FPTKey *base, int fill)
{
	Assert(enc < FPT_NENC);
	fpt_page_init(f->l, page, f->spec, fpt_enc(enc, f->kind), base,
				  f->tidbase);
	return fpt_page_fill(f->l, page, f->entries, f->n, fill);
}

/*
 * What the entries are, before anything is chosen.  Sets f's first, last,
 * bytes, kind and tidbase.  The first entry of an inner page counts no tuple:
 * it stands for the low fence, which has it (fpt_is_low_entry).
 */
static void
fpt_form_survey(FPTForm *f)
{
	int			level = f->spec->level;
	FPTTidRange tids;

	Assert(f->n >= 0);
	fpt_tids_none(&tids);
	f->first = f->last = -1;
	f->bytes = fpt_tuple_space(f->spec->low->len) +
		fpt_tuple_space(f->spec->high->len);
	for (int i = 0; i < f->n; i++)
	{
		const FPTKey *k = &f->entries[i].key;

		fpt_tids_add(&tids, k->tid);
		if (level == 0 || i > 0)
			f->bytes += fpt_tuple_space(k->len);
		if (k->cls == FPT_CLS_VALUE)
		{
			if (f->first < 0)
				f->first = i;
			f->last = i;
		}
	}
	f->tidbase = 0;
	f->kind = FPT_KIND_INNER;
	if (level == 0)
		f->kind = fpt_choose_tids(&tids, f->spec->reach, &f->tidbase);
}

/*
 * See page/form.h.  Pages of general keys are tried with a dictionary, first if
 * that saves much, else if there is no room without; then with narrow nodes.
 * Each try begins with fpt_page_init(), so none sees what the last one left.
 * Raises what comparing the dictionary's keys raises, and nothing else.
 */
FPTResult
fpt_page_form(const FPTLayout *l, void *page, const FPTPageSpec *spec,
			  FPTEntry *entries, int n, int fill)
{
	static const FPTKey zero = {.cls = FPT_CLS_VALUE};
	FPTForm		f = {.l = l, .spec = spec, .entries = entries, .n = n, .kw = 1};
	bool		dict;
	FPTResult	res;

	if (spec->level > 0 && spec->low->cls == FPT_CLS_MINF && n > 0)
		fpt_form_minf(l, entries, n);
	fpt_form_survey(&f);
	if (f.first >= 0)
		fpt_form_base(&f);
	else
		f.base = spec->low->cls == FPT_CLS_VALUE ? *spec->low : zero;
	dict = fpt_dict_pays(l, spec->level, f.kw - 1, f.kind, entries, n);
	if (dict && fpt_form_as(&f, page, FPT_ENC_DICT, &zero, fill) == FPT_OK)
		return FPT_OK;
	res = fpt_form_as(&f, page, f.kw - 1, &f.base, fill);
	if (res != FPT_FULL || !fpt_is_general(l))
		return res;
	if (!dict && spec->level == 0 &&
		fpt_form_as(&f, page, FPT_ENC_DICT, &zero, fill) == FPT_OK)
		return FPT_OK;

	/* Wide tuples, perhaps, that leave no room for ordinary nodes. */
	return fpt_form_as(&f, page, FPT_ENC_WIDE, &zero, 100);
}

/*
 * See page/form.h.  The blocks that this page's short TIDs can tell are counted
 * from 0, where they were formed with a reach.
 */
uint32
fpt_page_reach(const FPTLayout *l, void *page, const FPTEntry *entries, int n)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTTidRange tids;
	uint32		reach;

	fpt_tids_none(&tids);
	for (int i = 0; i < n; i++)
		fpt_tids_add(&tids, entries[i].key.tid);
	reach = fpt_tids_reach(tids.maxblock);
	if (pg.g != NULL && fpt_is_leaf(pg.g) && pg.g->tw < 6)
		reach = Max(reach, 1u << (8 * pg.g->tw - FPT_TID_OFFBITS));
	return reach;
}

/*
 * Can all of these be in one dictionary?  *room: space besides nodes, in bytes,
 * of which their tuples and items are taken off; negative: there is not enough.
 * Compares each key with the one before it: may raise.
 */
static bool
fpt_dict_room(const FPTLayout *l, const FPTEntry *entries, int n, int *room)
{
	for (int i = 0; i < n; i++)
	{
		if (i > 0 && fpt_key_alike(&entries[i - 1].key, &entries[i].key))
			continue;
		if (i > 0 &&
			!fpt_keys_distinct(l, &entries[i - 1].key, &entries[i].key))
			return false;
		*room -= fpt_tuple_space(entries[i].key.len) + FPT_DICT_ITEM;
	}
	return true;
}

/*
 * See page/form.h.  Bytes are counted before keys are compared, which is what
 * takes time and may raise.
 */
bool
fpt_page_repeats(const FPTLayout *l, void *page, FPTWork *work)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTEntry   *e = work->u.entries;
	const FPTGeom *d;
	int			kind;
	int			nodes;
	int			n;
	int			room;

	if (pg.g == NULL || !fpt_owns_tuples(pg.g) || !fpt_is_leaf(pg.g))
		return false;
	n = fpt_page_extract(l, page, e, FPT_MAX_ENTRIES);
	kind = FPT_KIND_LEAF6 - (pg.g->enc >> FPT_ENC_TID_SHIFT);
	if (n < 0 ||
		!fpt_dict_pays(l, 0, pg.g->enc & FPT_ENC_KW_MASK, kind, e, n))
		return false;
	d = &pg.l->geom[FPT_ENC_DICT][kind];
	nodes = fpt_ceil_div(n, Max(1, d->cap * FPT_REORG_FILL / 100));
	room = FPT_SPECIAL_OFFSET - FPT_REORG_GAIN - fpt_lower(d, nodes) -
		fpt_hint_bytes(d, nodes) -
		fpt_tuple_space(fpt_page_low(l, page).len) -
		fpt_tuple_space(fpt_page_high(l, page).len);
	return nodes <= d->maxnodes && fpt_dict_room(l, e, n, &room) && room >= 0;
}

/* See page/form.h.  "last" is not below "base". */
int
fpt_choose_kw(const FPTLayout *l, const FPTKey *base, const FPTKey *last)
{
	uint64		lo = last->lo - base->lo;
	uint64		hi = last->hi - base->hi - (last->lo < base->lo ? 1 : 0);

	return Min(fpt_width_of(fpt_bytes_of(hi, lo)), l->keysize);
}

/*
 * See page/form.h.  With a reach all of the table's blocks up to there must
 * fit, so the TIDs are relative to block 0; without, to the first one there is.
 */
int
fpt_choose_tids(const FPTTidRange *r, uint32 reach, uint32 *tidbase)
{
	uint32		last = Max(r->maxblock, reach > 0 ? reach - 1 : 0);
	uint32		first = reach > 0 || r->minblock > last ? 0 : r->minblock;

#ifdef FPT_FEW_SLOTS
	/* see fpt_width_of() */
	*tidbase = 0;
	return FPT_KIND_LEAF6;
#endif
	*tidbase = Min(first, FPT_MAX_TIDBASE);
	for (int kind = FPT_KIND_LEAF2; kind < FPT_KIND_LEAF6; kind++)
	{
		/* the last block, counted from the base, that can be told */
		uint32		apart = (256u << (8 * (kind - FPT_KIND_LEAF2))) - 1;

		if (r->maxoff <= FPT_TID_MAXOFF && last - *tidbase <= apart)
			return kind;
	}
	*tidbase = 0;
	return FPT_KIND_LEAF6;
}
