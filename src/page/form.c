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
#include "page/encoding.h"
#include "page/fill.h"
#include "page/form.h"
#include "page/format.h"
#include "page/geom.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/node.h"
#include "page/number_form.h"
#include "page/rows.h"
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

/* The base of pages whose keys need none. */
static const FPTKey fpt_form_zero = {.cls = FPT_CLS_VALUE};

/* A page that is being formed, and what is known of its entries. */
typedef struct FPTForm
{
	const FPTLayout *l;
	FPTPageSpec spec;
	FPTEntry   *entries;		/* in order */
	int			n;
	int			kind;			/* FPT_KIND_*, as their TIDs allow */
	int			first;			/* the first and last one that is a value, */
	int			last;			/* -1: none is */
	int			bytes;			/* of tuples, fences' included */
	int			offbits;		/* bits of the highest offset there may be */
	uint32		tidbase;		/* what TIDs are relative to */
	int			rowbits;		/* FPTPageSpecial.rowbits */
	int			kw;				/* the key width chosen */
	int			fixed;			/* the keys' fixed bits, which are left out of
								 * all here but the entries and the fences of
								 * spec; -1: they are not */
	int			lent;			/* bits that keys lend, of which they are
								 * multiples here, likewise; 0: none */
	uint32		maxblock;		/* highest block, less tidbase, of rows that
								 * there are, or may be */
	FPTKey		base;			/* what keys shall be relative to */
	FPTKey		low;			/* the fences, and the first and the last */
	FPTKey		high;			/* value, relative to the prefix; of a fence */
	FPTKey		from;			/* that does not begin with it the page is */
	FPTKey		to;				/* open there; their tuples mean nothing */
} FPTForm;

/*
 * What a page of the key width chosen, or another one, would be like: pages of
 * the form's kind; not those of extra encodings (fpt_extra_geom).
 */
static inline const FPTGeom *
fpt_form_geom(const FPTForm *f, int kw)
{
	return &f->l->geoms->geom[kw - 1][f->kind];
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
 * base.  Of wide keys only the upper half is lowered, whose width is what
 * counts, and the lower one is zero then.
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
	if (f->high.cls != FPT_CLS_VALUE)
		below /= 2;
	below &= ~fpt_lent_mask(f->lent);
	if (wide && below == 0)
		return;
	if (wide)
	{
		/* the lower half takes one of the upper ones, which does not count */
		f->base.lo = 0;
		below--;
	}
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
	bool		lowopen = f->low.cls != FPT_CLS_VALUE;
	bool		highopen = f->high.cls != FPT_CLS_VALUE;
	const FPTKey *from = lowopen ? &f->from : &f->low;
	FPTDistance content = fpt_distance(&f->to, from);
	FPTDistance span = highopen ? content : fpt_distance(&f->high, from);
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
		FPTKeyBuf	whole;

		/* Close by, so that it costs no key width. */
		k->hi = entries[1].key.hi;
		k->lo = entries[1].key.lo;
		if (fpt_is_general(l) && entries[1].key.cut > 0)
			k->lo = l->cut(l->arg, &entries[1].key, NULL, 0, &whole) ==
				FPT_CUT_DONE ? whole.key.lo : 0;
		if (entries[1].key.tid == 0 && !fpt_is_general(l))
		{
			if (k->lo-- == 0)
				k->hi--;
		}
	}
}

/*
 * Make the page in this encoding (the low nibble; base is what a form without
 * values has).  Not FPT_OK: it is undefined what the page is.  A wide root may
 * leave no room for two wide fences, though there be no node.
 */
static FPTResult
fpt_form_as(FPTForm *f, void *page, int enc, const FPTKey *base, int fill)
{
	FPTPageSpec spec = f->spec;
	FPTKey		whole = *base;
	int			bits = 0;

	Assert(enc < FPT_NENC);
	if (f->fixed >= 0)
	{
		fpt_key_expand(f->fixed, &whole.hi, &whole.lo);
		bits = FPT_ENC_FIXED;
	}
	else if (f->lent > 0)
	{
		whole.lo = whole.hi << (64 - f->lent) | whole.lo >> f->lent;
		whole.hi = 0;
		bits = FPT_ENC_LENT;
	}
	spec.lent = f->lent;
	spec.rowbits = f->rowbits;
	fpt_page_init(f->l, page, &spec, fpt_enc(enc, f->kind) | bits, &whole,
				  f->tidbase);
	if ((spec.low->len > 0 && fpt_special(page)->low.hi == 0) ||
		(spec.high->len > 0 && fpt_header(page)->high.hi == 0))
		return FPT_FULL;
	return fpt_page_fill(f->l, page, f->entries, f->n, fill);
}

/*
 * Form a page of images in which keys are relative to their nodes, if these are
 * near enough to each other.  FPT_OK; else it is undefined what the page is.
 * Where it takes more than three quarters of what all nodes together can tell
 * to get from the first key to the last one they are not filled to see whether
 * they do.
 */
static FPTResult
fpt_form_near(const FPTForm *form, void *page, int fill)
{
	FPTForm		f = *form;
	const FPTGeom *g;
	FPTDistance span;

	if (f.spec.level > 0 || fpt_is_general(f.l) || f.first < 0)
		return FPT_UNFIT;
	f.kind += FPT_KIND_NEAR;
	g = fpt_form_geom(&f, f.kw);
	if (g->cap == 0)
		return FPT_UNFIT;
	span = fpt_distance(&f.to, &f.from);
	if (!fpt_near_enough(g, span.hi / g->maxnodes, span.lo / g->maxnodes))
		return FPT_UNFIT;
	return fpt_form_as(&f, page, f.kw - 1, &f.base, fill);
}

/* One of the form's keys without these fixed bits; a fence may have others. */
static void
fpt_form_squeeze(FPTKey *key, uint32 fixed)
{
	if (key->cls != FPT_CLS_VALUE ||
		fpt_key_squeeze_up(fixed, &key->hi, &key->lo))
		return;
	key->hi = ~UINT64CONST(0) >> (64 - FPT_FIXED_HIGHBITS);
	key->lo = ~UINT64CONST(0);
}

/*
 * Form a page of images without fixed bits, if all of its values have the same.
 * "shorter": and keys are shorter then; else they are as long, but near enough
 * to each other to be relative to nodes, as they may be without these bits
 * alone.  FPT_OK; else it is undefined what the page is.
 */
static FPTResult
fpt_form_fixed(const FPTForm *form, void *page, bool shorter, int fill)
{
	FPTForm		f = *form;

	if (f.spec.level > 0 || f.l->keysize < 16 || f.first < 0)
		return FPT_UNFIT;
	f.fixed = (int) fpt_fixed_bits(f.from.hi, f.from.lo);
	for (int i = f.first; i <= f.last; i++)
	{
		const FPTKey *k = &f.entries[i].key;

		if ((int) fpt_fixed_bits(k->hi, k->lo) != f.fixed)
			return FPT_UNFIT;
	}
	fpt_form_squeeze(&f.low, f.fixed);
	fpt_form_squeeze(&f.high, f.fixed);
	fpt_form_squeeze(&f.from, f.fixed);
	fpt_form_squeeze(&f.to, f.fixed);
	fpt_form_base(&f);
	if (shorter != (f.kw < form->kw) || f.kw == f.l->keysize)
		return FPT_UNFIT;
	if (fpt_form_near(&f, page, fill) == FPT_OK)
		return FPT_OK;
	return shorter ? fpt_form_as(&f, page, f.kw - 1, &f.base, fill) : FPT_UNFIT;
}

/* One of the form's keys as it is stored where keys lend bits, these. */
static void
fpt_form_lend(FPTKey *key, int bits, uint64 part)
{
	if (key->cls != FPT_CLS_VALUE)
		return;
	key->hi = key->lo >> (64 - bits);
	key->lo = key->lo << bits | part;
}

/*
 * Form a page of images of which keys lend TIDs what these need to take 3 bytes
 * in place of 4, if keys take "more" bytes for it; "near": relative to nodes.
 * They lend the less the fewer bits offsets have.  FPT_OK; else it is undefined
 * what the page is.  The lowest key and the base count as lending nothing, the
 * highest one as all it can.
 */
static FPTResult
fpt_form_lent(const FPTForm *form, void *page, int more, bool near, int fill)
{
	FPTForm		f = *form;
	uint64		all;

	if (f.spec.level > 0 || fpt_is_general(f.l) || f.l->keysize > 8 ||
		f.kind != FPT_KIND_LEAF4 || f.first != 0 || f.last != f.n - 1)
		return FPT_UNFIT;
	f.rowbits = f.offbits;
	f.lent = fpt_lent_needed(f.maxblock, f.rowbits);
	if (f.lent < 1)
		return FPT_UNFIT;
	all = fpt_lent_mask(f.lent);
	f.kind = FPT_KIND_LEAF3;
	fpt_form_lend(&f.low, f.lent, 0);
	fpt_form_lend(&f.from, f.lent, 0);
	fpt_form_lend(&f.to, f.lent, all);
	fpt_form_lend(&f.high, f.lent, all);
	fpt_form_base(&f);
	if (f.kw != form->kw + more || f.kw >= f.l->keysize)
		return FPT_UNFIT;
	return near ? fpt_form_near(&f, page, fill) :
		fpt_form_as(&f, page, f.kw - 1, &f.base, fill);
}

/*
 * Form a page of the form's kind; of images without fixed bits, relative to
 * nodes, or that lend bits, whichever makes entries shortest: each of these
 * saves a byte, and lending bits may cost one.  Not FPT_OK: it is undefined
 * what the page is.
 */
static FPTResult
fpt_form_whole(FPTForm *f, void *page, int fill)
{
	if (fpt_form_fixed(f, page, true, fill) == FPT_OK ||
		fpt_form_lent(f, page, 0, true, fill) == FPT_OK ||
		fpt_form_near(f, page, fill) == FPT_OK ||
		fpt_form_lent(f, page, 1, true, fill) == FPT_OK ||
		fpt_form_lent(f, page, 0, false, fill) == FPT_OK ||
		fpt_form_fixed(f, page, false, fill) == FPT_OK)
		return FPT_OK;
	return fpt_form_as(f, page, f->kw - 1, &f->base, fill);
}

/*
 * Form a page of images whose TIDs are relative to their nodes, if rows follow
 * each other in the table, so that this can be.  FPT_OK; else it is undefined
 * what the page is.  Where whole ones take 6 bytes far ones would, too, and
 * there are none of these.
 */
static FPTResult
fpt_form_rows(const FPTForm *form, void *page, int fill)
{
	FPTForm		f = *form;

	f.rowbits = Max(f.spec.rowbits, f.offbits);
	if (f.spec.level > 0 || fpt_is_general(f.l) || f.kind == FPT_KIND_LEAF6 ||
		f.rowbits > FPT_MAX_ROWBITS || f.n == 0 ||
		!fpt_rows_follow(f.entries, f.n, f.rowbits))
		return FPT_UNFIT;
	f.kind = FPT_KIND_LEAF1;
	if (f.first >= 0)
		fpt_form_base(&f);
	return fpt_form_whole(&f, page, fill);
}

/*
 * A key relative to the prefix that the form has, as far as its head goes; the
 * bytes of its tuple then, or -1: it does not begin with the prefix, or its
 * tuple makes no sense.  *to's tuple means nothing.  The first entry of an
 * inner page, which has no tuple, has its head.
 */
static int
fpt_form_relative(const FPTForm *f, const FPTKey *key, FPTKey *to)
{
	FPTKeyBuf	buf;

	*to = *key;
	if (!fpt_is_general(f->l) || key->cls != FPT_CLS_VALUE || key->len == 0 ||
		key->cut == f->spec.nprefix)
		return (int) key->len;
	/* a damaged page of keys that have no prefixes may say that they have */
	if (f->l->cut == NULL ||
		f->l->cut(f->l->arg, key, f->spec.prefix, f->spec.nprefix, &buf) !=
		FPT_CUT_DONE)
		return -1;
	*to = buf.key;
	return (int) buf.key.len;
}

/* A fence; the page is open there if it does not begin with the prefix. */
static void
fpt_form_fence(const FPTForm *f, const FPTKey *fence, uint32 open, FPTKey *to)
{
	if (fpt_form_relative(f, fence, to) < 0)
		to->cls = open;
}

/*
 * What the entries are, before anything but the prefix is chosen.  Sets f's
 * first, last, bytes, kind, offbits, rowbits, tidbase and maxblock, and low,
 * high, from and to.
 * The first entry of an inner page counts no tuple: it stands for the low
 * fence, which has it (fpt_is_low_entry).  False: one does not begin with the
 * prefix.  May raise where a compressed value is damaged.
 */
static bool
fpt_form_survey(FPTForm *f)
{
	int			level = f->spec.level;
	FPTTidRange tids;

	Assert(f->n >= 0);
	fpt_tids_none(&tids);
	f->first = f->last = -1;
	f->bytes = fpt_tuple_space(f->spec.low->len) +
		fpt_tuple_space(f->spec.high->len) + fpt_tuple_space(f->spec.nprefix);
	fpt_form_fence(f, f->spec.low, FPT_CLS_MINF, &f->low);
	fpt_form_fence(f, f->spec.high, FPT_CLS_PINF, &f->high);
	for (int i = 0; i < f->n; i++)
	{
		const FPTKey *k = &f->entries[i].key;
		bool		stored = level == 0 || i > 0;
		int			len = (int) k->len;

		fpt_tids_add(&tids, k->tid);
		if (k->cls == FPT_CLS_VALUE)
		{
			len = fpt_form_relative(f, k, &f->to);
			if (len < 0 && stored)
				return false;
			if (f->first < 0)
			{
				f->first = i;
				f->from = f->to;
			}
			f->last = i;
		}
		if (stored)
			f->bytes += fpt_tuple_space((uint32) len);
	}
	if (f->spec.rowbits > 0 && f->spec.rowbits <= FPT_MAX_ROWBITS)
		tids.maxoff = Max(tids.maxoff, (1u << f->spec.rowbits) - 1);
	f->offbits = fpt_row_bits(tids.maxoff);
	f->tidbase = f->rowbits = 0;
	f->kind = FPT_KIND_INNER;
	if (level == 0)
		f->kind = fpt_choose_tids(&tids, f->spec.reach, &f->tidbase,
								  &f->rowbits);
	f->maxblock = Max(tids.maxblock, Max(f->spec.reach, 1) - 1) - f->tidbase;
	return true;
}

/*
 * A page between two fences has the prefix that these have in common, as all
 * that will ever come to it begins with that; but a longer one that all it has
 * begin with, if that saves so many bytes more.  What does not begin with it,
 * which is between a fence and the entry next to it, has the page formed anew.
 */
#define FPT_PREFIX_MORE		(BLCKSZ / 32)

/* See page/form.h. */
uint32
fpt_common_prefix(const FPTLayout *l, const FPTKey *a, const FPTKey *b,
				  char *bytes)
{
	char		other[FPT_MAX_PREFIX];
	int			n;
	int			m;
	int			same = 0;

	if (a->cls != FPT_CLS_VALUE || b->cls != FPT_CLS_VALUE)
		return 0;
	n = l->begin(l->arg, a, bytes, FPT_MAX_PREFIX);
	m = l->begin(l->arg, b, other, FPT_MAX_PREFIX);
	while (same < n && same < m && bytes[same] == other[same])
		same++;
	return same < FPT_MIN_PREFIX ? 0 : (uint32) same;
}

/*
 * Form the page with this prefix, in the encoding of heads and tuples.  FPT_OK,
 * or it is undefined what the page is.  The form is as it was.  The first entry
 * of an inner page, whose key is the low fence and need not begin with the
 * prefix, gets the least head that the page can tell, as no key that may come
 * is below it.  May raise where a compressed value is damaged.
 */
static FPTResult
fpt_form_with_prefix(const FPTForm *form, void *page, const char *prefix,
					 uint32 nprefix, int fill)
{
	FPTForm		f = *form;
	FPTKey		first = f.entries[0].key;
	FPTResult	res = FPT_UNFIT;

	f.spec.prefix = prefix;
	f.spec.nprefix = nprefix;
	if (f.spec.level > 0)
	{
		FPTKey	   *k = &f.entries[0].key;

		if (fpt_form_relative(&f, &f.entries[1].key, k) < 0)
		{
			*k = first;
			return FPT_UNFIT;
		}
		k->tid = first.tid;
		k->len = k->cut = 0;
		k->tup = k->pre = NULL;
	}
	if (fpt_form_survey(&f))
	{
		fpt_form_base(&f);
		if (f.spec.level > 0)
			f.entries[0].key.lo = f.base.lo;
		res = fpt_form_as(&f, page, f.kw - 1, &f.base, fill);
	}
	f.entries[0].key = first;
	return res;
}

/*
 * Form the page with a prefix, if it has many entries that have one in common,
 * and all are values.  FPT_OK; else it is undefined what the page is.
 */
static FPTResult
fpt_form_prefixed(const FPTForm *f, void *page, int fill)
{
	char		wide[FPT_MAX_PREFIX];
	char		tight[FPT_MAX_PREFIX];
	int			first = f->spec.level > 0 ? 1 : 0;
	uint32		nwide;
	uint32		ntight;
	FPTResult	res = FPT_UNFIT;

	if (f->l->cut == NULL || f->n < FPT_PREFIX_ENTRIES || f->first > first ||
		f->last < f->n - 1 || f->entries[0].key.cls != FPT_CLS_VALUE)
		return FPT_UNFIT;
	ntight = fpt_common_prefix(f->l, &f->entries[first].key,
							   &f->entries[f->last].key, tight);
	if (ntight == 0)
		return FPT_UNFIT;
	nwide = fpt_common_prefix(f->l, f->spec.low, f->spec.high, wide);
	if (nwide > 0 && nwide <= ntight &&
		(ntight - nwide) * f->n <= FPT_PREFIX_MORE)
		res = fpt_form_with_prefix(f, page, wide, nwide, fill);
	if (res != FPT_OK && nwide < ntight)
		res = fpt_form_with_prefix(f, page, tight, ntight, fill);
	return res;
}

/* Would a page in this extra encoding save so much that it is tried first? */
static inline bool
fpt_form_pays(const FPTForm *f, int coding)
{
	const FPTEncoding *enc = &fpt_encodings[coding];
	const FPTGeom *g = fpt_extra_geom(f->l, coding, f->kind);

	return g != NULL && enc->pays != NULL &&
		enc->pays(fpt_form_geom(f, f->kw), g, f->entries, f->n);
}

/*
 * Form the page in the extra encoding (fpt_extra_geom) of this row.  FPT_UNFIT:
 * it has none for such pages.  Not FPT_OK: it is undefined what the page is.
 */
static FPTResult
fpt_form_extra(FPTForm *f, void *page, int coding, int fill)
{
	const FPTEncoding *enc = &fpt_encodings[coding];

	if (fpt_extra_geom(f->l, coding, f->kind) == NULL)
		return FPT_UNFIT;
	return fpt_form_as(f, page, enc->extra, &fpt_form_zero,
					   Max(fill, enc->fill));
}

/*
 * fpt_page_form() of any page but one of numbers.  An extra encoding is tried
 * first where that saves much, and all are, from the table's last one on, if
 * there is no room without; before that a prefix is tried, and keys relative to
 * nodes.  Each try begins with fpt_page_init(), so none sees what the last one
 * left.  Raises what comparing the dictionary's keys raises, and nothing but a
 * damaged compressed value besides.
 */
static FPTResult
fpt_form_page(const FPTLayout *l, void *page, const FPTPageSpec *spec,
			  FPTEntry *entries, int n, int fill)
{
	FPTForm		f = {.l = l, .spec = *spec, .entries = entries, .n = n,
	.kw = 1, .fixed = -1};
	bool		tried[FPT_NCODINGS] = {false};
	FPTResult	res;

	Assert(spec->nprefix == 0);
	if (spec->level > 0 && spec->low->cls == FPT_CLS_MINF && n > 0)
		fpt_form_minf(l, entries, n);
	if (!fpt_form_survey(&f))
		return FPT_UNFIT;
	if (f.first < 0)
		f.base = spec->low->cls == FPT_CLS_VALUE ? *spec->low : fpt_form_zero;
	if (fpt_form_rows(&f, page, fill) == FPT_OK)
		return FPT_OK;
	if (f.first >= 0)
		fpt_form_base(&f);
	for (int c = FPT_NCODINGS; c-- > 0;)
	{
		tried[c] = fpt_form_pays(&f, c);
		if (tried[c] && fpt_form_extra(&f, page, c, fill) == FPT_OK)
			return FPT_OK;
	}
	if (fpt_form_prefixed(&f, page, fill) == FPT_OK)
		return FPT_OK;
	res = fpt_form_whole(&f, page, fill);
	for (int c = FPT_NCODINGS; res == FPT_FULL && c-- > 0;)
	{
		if (!tried[c] && fpt_form_extra(&f, page, c, fill) == FPT_OK)
			return FPT_OK;
	}
	return res;
}

/* A page of numbers must take this part less than another one, or seven. */
#define FPT_NUMBER_SHARE	8

/* Bytes of a leaf of images that are not hole. */
static int
fpt_form_bytes(const FPTLayout *l, void *page)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	n;

	if (fpt_num_page(pg, &n))
		return fpt_num_bytes(&n);
	return fpt_header(page)->std.pd_lower + FPT_SPECIAL_OFFSET -
		pg.g->hint_off;
}

/*
 * See page/form.h.  Where keys of a leaf repeat a page of numbers is formed as
 * well, and preferred if it takes less, or is the only one that has room.  It
 * is formed first, as mostly it is not: the other one stays then.
 */
FPTResult
fpt_page_form(const FPTLayout *l, void *page, const FPTPageSpec *spec,
			  FPTEntry *entries, int n, int fill)
{
	FPTResult	res;
	int			bytes = 0;		/* of a page of numbers, if one has room */

	if (!l->nonumbers && spec->level == 0 && !fpt_is_general(l) &&
		fpt_num_repeats(entries, n) &&
		fpt_num_form(l, page, spec, entries, n, fill, true) == n)
		bytes = fpt_form_bytes(l, page);
	if (bytes == 0 && spec->numbers)
		return FPT_FULL;
	res = fpt_form_page(l, page, spec, entries, n, fill);
	if (bytes == 0 ||
		(res == FPT_OK && bytes * FPT_NUMBER_SHARE >
		 fpt_form_bytes(l, page) * (FPT_NUMBER_SHARE - 1)))
		return spec->numbers && res == FPT_OK ? FPT_FULL : res;
	return fpt_num_form(l, page, spec, entries, n, fill, true) == n ? FPT_OK :
		FPT_CORRUPT;
}

/*
 * See page/form.h.  Nodes and heads count, of the space that both may have.
 */
int
fpt_page_form_first(const FPTLayout *l, void *page, const FPTPageSpec *spec,
					const FPTEntry *entries, int n, int fill, int *most)
{
	FPTNumbers	pg;
	int			got;

	*most = 0;
	if (l->nonumbers || fpt_is_general(l) || !fpt_num_repeats(entries, n))
		return 0;
	got = fpt_num_form(l, page, spec, entries, n, fill, false);
	if (got == 0 || !fpt_num_open(l, page, &pg))
		return 0;
	*most = got;
	if (got == n)
		*most = (int) ((int64) got * fpt_num_space_for(&pg, fill) /
					   (pg.nkids * pg.step + pg.nheads * pg.headstep));
	return got;
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
	FPTNumbers	numbers;
	uint32		reach;

	fpt_tids_none(&tids);
	for (int i = 0; i < n; i++)
		fpt_tids_add(&tids, entries[i].key.tid);
	reach = fpt_tids_reach(tids.maxblock);
	if (fpt_num_page(pg, &numbers))
		return Max(reach, (uint32) fpt_ones(numbers.t - numbers.ob));
	if (pg.g != NULL && fpt_is_leaf(pg.g) && pg.g->tw < 6 &&
		!fpt_has_far(pg.g))
	{
		int			bits = 8 * pg.g->tw - fpt_special(page)->rowbits +
			fpt_lent_bits(l, page);

		/* of a damaged page, any number */
		if (bits >= 0 && bits < 32)
			reach = Max(reach, 1u << bits);
	}
	return reach;
}

/* Of so many entries the highest offset tells how many rows blocks have. */
#define FPT_ROWBITS_ENTRIES	FPT_MAX_CAP

/*
 * See page/form.h.  A page that knew better when it had few entries does not
 * know what came later: that of an empty index has the most bits there can be.
 */
int
fpt_page_rowbits(const FPTLayout *l, void *page, const FPTEntry *entries,
				 int n)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	numbers;
	uint32		maxoff = 0;

	if (fpt_num_page(pg, &numbers))
		maxoff = (uint32) fpt_ones(numbers.ob);
	if (pg.g != NULL && fpt_has_far(pg.g) && n < FPT_ROWBITS_ENTRIES)
		return fpt_special(page)->rowbits;
	for (int i = 0; i < n; i++)
		maxoff = Max(maxoff, (uint32) (entries[i].key.tid & 0xFFFF));
	return fpt_row_bits(maxoff);
}

/*
 * See page/form.h.  Bytes are counted before keys are compared, which is what
 * takes time and may raise.
 */
bool
fpt_page_repeats(const FPTLayout *l, void *page, FPTWork *work, int *n)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTEntry   *e = work->u.entries;

	*n = -1;
	if (pg.g == NULL || !fpt_is_leaf(pg.g))
		return false;
	if (!fpt_is_general(l))
	{
		FPTPageSpec spec = {0};

		if (l->nonumbers || fpt_is_number(pg.g))
			return false;
		*n = fpt_page_extract(l, page, e, FPT_MAX_ENTRIES);
		if (*n <= 0 || !fpt_num_repeats(e, *n))
			return false;
		spec.reach = fpt_page_reach(l, page, e, *n);
		spec.rowbits = fpt_page_rowbits(l, page, e, *n);
		return fpt_num_may_form(l, &spec, e, *n);
	}
	for (int c = FPT_NCODINGS; c-- > 0;)
	{
		const FPTEncoding *enc = &fpt_encodings[c];
		const FPTGeom *g = fpt_extra_geom(l, c, fpt_geom_kind(pg.g));

		if (c == pg.g->coding || g == NULL || enc->pays == NULL)
			continue;
		if (*n < 0)
			*n = fpt_page_extract(l, page, e, FPT_MAX_ENTRIES);
		if (*n < 0)
			return false;
		if (enc->pays(pg.g, g, e, *n) && enc->frees(pg, g, e, *n))
			return true;
	}
	return false;
}

/*
 * See page/form.h.  Without a prefix, what all begin with is left out of the
 * heads already, but for a byte.
 */
bool
fpt_page_shares(const FPTLayout *l, void *page)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			n = fpt_page_count(l, page);
	FPTLoc		loc = {.kid = fpt_header(page)->nkids - 1};
	char		bytes[FPT_MAX_PREFIX];
	FPTEntry	first;
	FPTEntry	last;
	int			more;

	if (pg.g == NULL || !fpt_may_prefix(pg.g) || !fpt_is_leaf(pg.g) ||
		l->begin == NULL || n < FPT_PREFIX_ENTRIES)
		return false;
	loc.rank = fpt_node_count(l, page, loc.kid) - 1;
	if (fpt_page_get(l, page, (FPTLoc) {0}, &first) != FPT_OK ||
		fpt_page_get(l, page, loc, &last) != FPT_OK)
		return false;
	more = (int) fpt_common_prefix(l, &first.key, &last.key, bytes) -
		(first.key.cut > 0 ? (int) first.key.cut : (int) sizeof(uint64) - 1);
	return more > 0 && more * n >= FPT_REORG_GAIN;
}

int
fpt_width_for(const FPTLayout *l, uint64 hi, uint64 lo)
{
	return Min(fpt_width_of(fpt_bytes_of(hi, lo)), l->keysize);
}

/* See page/form.h.  "last" is not below "base". */
int
fpt_choose_kw(const FPTLayout *l, const FPTKey *base, const FPTKey *last)
{
	uint64		lo = last->lo - base->lo;
	uint64		hi = last->hi - base->hi - (last->lo < base->lo ? 1 : 0);

	return fpt_width_for(l, hi, lo);
}

/*
 * See page/form.h.  With a reach all of the table's blocks up to there must
 * fit, so the TIDs are relative to block 0; without, to the first one there is.
 * Offsets get all the bits that blocks leave, as higher ones may come.
 */
int
fpt_choose_tids(const FPTTidRange *r, uint32 reach, uint32 *tidbase,
				int *rowbits)
{
	uint32		last = Max(r->maxblock, reach > 0 ? reach - 1 : 0);
	uint32		first = reach > 0 || r->minblock > last ? 0 : r->minblock;

#ifdef FPT_FEW_SLOTS
	/* see fpt_width_of() */
	*tidbase = *rowbits = 0;
	return FPT_KIND_LEAF6;
#endif
	*tidbase = Min(first, FPT_MAX_TIDBASE);
	*rowbits = Min(FPT_MAX_ROWBITS, 24 - fpt_row_bits(last - *tidbase));
	if (r->maxoff <= FPT_TID_MAXOFF && *rowbits >= fpt_row_bits(r->maxoff))
		return FPT_KIND_LEAF3;
	*rowbits = FPT_MAX_ROWBITS;
	if (r->maxoff <= FPT_TID_MAXOFF && (last - *tidbase) >> 24 == 0)
		return FPT_KIND_LEAF4;
	*tidbase = *rowbits = 0;
	return FPT_KIND_LEAF6;
}
