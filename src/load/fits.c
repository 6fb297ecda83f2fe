/*-------------------------------------------------------------------------
 *
 * load/fits.c
 *	  Does an entry still fit into the page that a level fills, and in which
 *	  encoding is that page made?
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "load/fits.h"
#include "page/encoding.h"
#include "page/fill.h"
#include "page/geom.h"
#include "page/kernel.h"
#include "page/modify.h"

/* See load/fits.h. */
int
fpt_level_fixed(const FPTFits *fits, const FPTLoadLevel *lv,
				const FPTKey *base)
{
	if (lv->level > 0 || fits->layout.keysize < 16 ||
		base->cls != FPT_CLS_VALUE)
		return -1;
	return (int) fpt_fixed_bits(base->hi, base->lo);
}

/* The fewest bytes that hold how far the last value is above the base. */
static int
fpt_level_kw(const FPTFits *fits, const FPTLoadLevel *lv, const FPTKey *base,
			 const FPTKey *last)
{
	FPTApart	d = fpt_level_distance(lv, base, last);

	if (lv->lent > 0)
		fpt_lent_distance(lv->lent, &d.hi, &d.lo);
	return fpt_width_for(&fits->layout, d.hi, d.lo);
}

/* Entries of a leaf that is filled to "fill" percent. */
static int
fpt_fill_entries(const FPTGeom *g, int fill)
{
	int			capacity = (int) g->capacity;

	Assert(fill <= 100);
	return Min(capacity * fill / 100 + fpt_spare_slots(g) * fill / 100,
			   capacity);
}

/*
 * How many entries a page may have when nnull of them are NULLs, which have
 * nodes of their own: limited by the fill factor and by the nodes.  Inner pages
 * need two entries, or the tree would not end; a leaf takes one, however small
 * the fill factor is.  At most FPT_MAX_ENTRIES.
 */
static int
fpt_fill_limit(const FPTGeom *g, const FPTLoadLevel *lv, int nnull)
{
	int			fill = g->kw == 1 ? lv->fewfill : lv->fillfactor;
	int			limit = (int) (g->capacity * fill / 100);
	int			nullnodes = (nnull + g->cap - 1) / g->cap;
	int			nodes = nnull + (g->maxnodes - nullnodes) * g->cap;

	Assert(g->cap > 0 && nullnodes <= g->maxnodes);

	/* few distinct keys: their next rows come to a few nodes, need slots */
	if (lv->level == 0 && g->kw > 1)
		limit = fpt_fill_entries(g, fill);
	limit = Min(limit, FPT_MAX_ENTRIES);
	return Min(Max(limit, lv->level == 0 ? 1 : 2), nodes);
}

/*
 * The most entries that a leaf without NULLs of this geometry has in a node:
 * fpt_page_fill() has as many nodes as the fill factor asks for, or all.
 */
static int
fpt_fill_node_most(const FPTGeom *g, const FPTLoadLevel *lv)
{
	int			limit = fpt_fill_limit(g, lv, 0);

	return Max(Max(1, g->cap * lv->fillfactor / 100),
			   (limit + g->maxnodes - 1) / g->maxnodes);
}

/* See load/fits.h. */
int
fpt_load_span(const FPTFits *fits, const FPTLoadLevel *lv, int kind, int last)
{
	int			span = 1;

	for (; kind <= last && !fpt_is_general(&fits->layout); kind++)
	{
		const FPTGeom *g = &fits->layout.geoms->geom[1][FPT_KIND_NEAR + kind];

		if (g->cap > 0)
			span = Max(span, fpt_fill_node_most(g, lv));
	}
	Assert(span <= FPT_MAX_CAP);
	return span;
}

/*
 * The kind of a level's page with its entries and, unless NULL, another one;
 * *t: how whole TIDs are stored then.  All pages have bits for the offsets of
 * all rows, so that what keys lend is the same in all.
 */
static int
fpt_level_kind(const FPTLoadLevel *lv, const FPTKey *key, FPTLoadTids *t)
{
	FPTTidRange tids = lv->tids;
	int			kind;

	t->base = t->rowbits = 0;
	if (lv->level > 0)
		return FPT_KIND_INNER;
	if (key != NULL)
		fpt_tids_add(&tids, key->tid);
	tids.maxoff = Max(tids.maxoff, lv->alloff);
	kind = fpt_choose_tids(&tids, lv->reach, &t->base, &t->rowbits);
	if (lv->lent > 0 && kind == FPT_KIND_LEAF4)
	{
		int			bits = fpt_row_bits(tids.maxoff);
		int			need = fpt_lent_needed(tids.maxblock - t->base, bits);

		if (need >= 0 && need <= lv->lent)
		{
			t->rowbits = bits;
			kind = FPT_KIND_LEAF3;
		}
	}
	return kind;
}

/* Do n entries fit in a page, nnull NULLs among them? */
static bool
fpt_fill_fits(const FPTGeom *g, const FPTLoadLevel *lv, int n, int nnull)
{
	int			nodes = (nnull + g->cap - 1) / g->cap +
		(n - nnull + g->cap - 1) / g->cap;

	Assert(nnull >= 0 && nnull <= n);
	return nodes <= g->maxnodes && n <= fpt_fill_limit(g, lv, 0);
}

/*
 * Are values so far apart near enough to each other to be relative to nodes, as
 * the level's page has them, in pages of this geometry?  What was measured over
 * as many as nodes have whose keys are a byte says less of others.
 */
static inline bool
fpt_apart_near(const FPTGeom *g, const FPTLoadLevel *lv, FPTApart d)
{
	if (d.span < FPT_MAX_CAP && g->kw > 2)
	{
		Assert(d.hi == 0 && d.lo < 256);
		d.lo *= (uint64) ((FPT_MAX_CAP + d.span - 1) / d.span);
	}
	if (lv->lent > 0)
	{
		if (d.hi != 0)
			return false;		/* fpt_apart_step() knows none */
		fpt_lent_distance(lv->lent, &d.hi, &d.lo);
	}
	return fpt_near_enough(g, d.hi, d.lo);
}

/*
 * What an "apart" as large as this is to be, or all ones: no number of bytes
 * tells it, or none that it has been measured for.  In steps, so that it is
 * asked for, and the encoding with it, a few times a page.
 */
static FPTApart
fpt_apart_step(const FPTFits *fits, const FPTLoadLevel *lv, FPTApart d)
{
	int			most = d.span < FPT_MAX_CAP ? 2 : fits->layout.keysize;

	for (int kw = 2; kw <= most; kw++)
	{
		const FPTGeom *g = &fits->layout.geoms->geom[kw - 1][FPT_KIND_NEAR];

		if (fpt_apart_near(g, lv, d))
		{
			/* the most that is near enough, with all that keys may lend */
			d.lo = (3 * fpt_near_unit(g) - fpt_lent_mask(lv->lent)) >> lv->lent;
			d.hi = 0;
			if (fpt_is_wide(g))
			{
				d.hi = d.lo - 1;
				d.lo = PG_UINT64_MAX;
			}
			return d;
		}
	}
	d.hi = d.lo = PG_UINT64_MAX;
	return d;
}

/*
 * Measure all of a leaf's values, and unless NULL another one, over so many
 * entries; over FPT_MAX_CAP if a byte does not tell that.
 */
static FPTApart
fpt_level_measure(const FPTFits *fits, const FPTLoadLevel *lv, int span,
				  const FPTKey *key)
{
	int			end = fits->layout.nullsfirst ? lv->n : lv->n - lv->nnull;
	FPTApart	most = {.span = span};

	Assert(span > 0 && lv->first <= end);
	for (int i = lv->first + 1; i < end + (key != NULL ? 1 : 0); i++)
	{
		int			from = Max(lv->first, i - span);
		FPTApart	d = fpt_level_distance(lv, &lv->entries[from].key,
										   i < end ? &lv->entries[i].key : key);

		d.span = span;
		if (fpt_apart_above(&d, &most))
			most = d;
	}
	most = fpt_apart_step(fits, lv, most);
	if (span < FPT_MAX_CAP && most.hi == PG_UINT64_MAX)
		most = fpt_level_measure(fits, lv, FPT_MAX_CAP, key);
	return most;
}

/* The level's "apart" with another entry. */
static FPTApart
fpt_level_apart(const FPTFits *fits, const FPTLoadLevel *lv, const FPTKey *key)
{
	FPTApart	d;

	if (fpt_is_general(&fits->layout) || key->cls != FPT_CLS_VALUE ||
		lv->n <= lv->first || fpt_level_within(lv, key, &d))
		return lv->apart;
	d = fpt_apart_step(fits, lv, d);
	if (d.span < FPT_MAX_CAP && d.hi == PG_UINT64_MAX)
		d = fpt_level_measure(fits, lv, FPT_MAX_CAP, key);
	return d;
}

/*
 * Another part of the level's keys is stored from now on, or nodes have another
 * number of them: so is its "apart", with another value unless NULL.
 */
static void
fpt_level_reapart(const FPTFits *fits, FPTLoadLevel *lv, const FPTKey *key)
{
	int			span = lv->rows.off ? fits->span : fits->rowspan;

	if (lv->nnull > 0)
		span = FPT_MAX_CAP;		/* values may get fewer nodes */
	else if (lv->lent > 0)
		span = fits->lentspan;
	lv->apart = fpt_level_measure(fits, lv, span, key);
}

/* The level's page cannot leave out fixed bits. */
static void
fpt_level_unfix(FPTFits *fits, FPTLoadLevel *lv)
{
	Assert(lv->fixed >= 0);
	lv->fixed = -1;
	fpt_level_reapart(fits, lv, NULL);
}

/* Its keys lend so many bits from now on, or 0: none any more. */
static void
fpt_level_lend(FPTFits *fits, FPTLoadLevel *lv, int bits)
{
	Assert(bits == 0 || (bits == fits->lent && lv->nnull == 0));
	if (lv->lent != bits)
	{
		lv->lent = bits;
		fpt_level_reapart(fits, lv, NULL);
	}
}

/*
 * The geometry of a page of this key width and kind: of a leaf that with keys
 * relative to nodes, if there is one and the values are near enough for it; and
 * with TIDs that are, in place of those of the kind, if rows follow each other.
 * Where keys lend bits only one with TIDs of 3 bytes is to be trusted, as
 * "apart" was measured over what such nodes have (fpt_level_lending).
 */
static inline const FPTGeom *
fpt_level_geom(FPTFits *fits, const FPTLoadLevel *lv, int kw, int kind,
			   const FPTApart *apart, const FPTRows *rows)
{
	const FPTGeom *g = &fits->layout.geoms->geom[kw - 1][kind];
	const FPTGeom *r = &fits->layout.geoms->geom[kw - 1][FPT_KIND_LEAF1];

	if (kind == FPT_KIND_INNER)
		return g;
	if (fpt_apart_near(g + FPT_KIND_NEAR, lv, *apart))
	{
		g += FPT_KIND_NEAR;
		r += FPT_KIND_NEAR;
	}
	/* far ones would have as many bytes as the others */
	return kind < FPT_KIND_LEAF6 && fpt_rows_enough(rows, r) ? r : g;
}

/* The tightest encoding's geometry for a level's entries and another one. */
static const FPTGeom *
fpt_tight_geom(FPTFits *fits, const FPTLoadLevel *lv, const FPTKey *key)
{
	FPTApart	apart = fpt_level_apart(fits, lv, key);
	FPTKey		base = lv->base.cls == FPT_CLS_VALUE ? lv->base : *key;
	FPTKey		last = key->cls == FPT_CLS_VALUE ? *key : lv->last;
	FPTRows		rows = lv->rows;
	FPTLoadTids t;
	int			kind = fpt_level_kind(lv, key, &t);
	int			kw = fpt_level_kw(fits, lv, &base, &last);

	fpt_rows_add(&rows, key->tid);
	return fpt_level_geom(fits, lv, kw, kind, &apart, &rows);
}

/*
 * Is there room for another general entry in a page of an encoding that does
 * not go by key widths, beside a low fence of so many bytes?  Or, if key is
 * NULL, for both fences?  fpt_page_form() makes such a page then, or one that
 * is as good.  May compare keys, and raise, if there is another one.
 */
static bool
fpt_level_room_extra(FPTFits *fits, FPTLoadLevel *lv, const FPTKey *key,
					 int fences)
{
	FPTLoadTids t;
	int			kind = fpt_level_kind(lv, key, &t);

	lv->growing.n = lv->n;
	for (int c = FPT_NCODINGS; c-- > 0;)
	{
		const FPTEncoding *enc = &fpt_encodings[c];
		const FPTGeom *g = fpt_extra_geom(&fits->layout, c, kind);

		if (g == NULL || enc->room == NULL)
			continue;
		if (key != NULL ? enc->room(&lv->growing, g, key, fences) :
			enc->closes(&lv->growing, g, fences))
			return true;
	}
	return false;
}

/*
 * Count an entry as it would be in a page with the level's prefix: its head is
 * in *head.  False: it cannot be there.
 */
static bool
fpt_level_count_cut(FPTFits *fits, const FPTLoadLevel *lv, const FPTKey *key,
					uint64 *head, int *bytes)
{
	FPTKeyBuf	buf;

	if (fits->layout.cut(fits->layout.arg, key, lv->prefix, lv->nprefix,
						 &buf) != FPT_CUT_DONE)
		return false;
	*head = buf.key.lo;
	*bytes += fpt_tuple_space(buf.key.len);
	return true;
}

/*
 * Do the level's entries and another one, or NULL, fit in "fill" percent of a
 * page with the prefix that they have in common, besides fences of so many
 * bytes?  fpt_page_form() makes such a page then, or one that is as good.
 * Asked where they do not without, so that loading keys that have nothing in
 * common costs no more.  Those counted once are not counted again as long as
 * the prefix is the same, and it gets shorter only.  May raise where a
 * compressed value is damaged.
 *
 * An entry leaves less behind than it has without the prefix when it goes to
 * the next page (fpt_level_spill()): the high fence that it becomes then must
 * have room besides.
 */
static bool
fpt_level_room_prefix(FPTFits *fits, FPTLoadLevel *lv, const FPTKey *key,
					  int fences, int fill)
{
	const FPTLayout *l = &fits->layout;
	int			first = lv->level > 0 ? 1 : 0;
	int			n = lv->n + (key != NULL ? 1 : 0);
	const FPTKey *last = key != NULL ? key : &lv->entries[lv->n - 1].key;
	int			bytes = 0;
	char		prefix[FPT_MAX_PREFIX];
	uint32		same;
	FPTKey		from = {.cls = FPT_CLS_VALUE};
	FPTKey		to = {.cls = FPT_CLS_VALUE};
	FPTLoadTids t;
	const FPTGeom *g;

	/* (the last one may still go to the next page, see fpt_level_spill()) */
	if (l->cut == NULL || lv->nnull > 0 ||
		n < FPT_PREFIX_ENTRIES + (key != NULL ? 1 : 0) ||
		lv->entries[0].key.cls != FPT_CLS_VALUE)
		return false;
	same = fpt_common_prefix(l, &lv->entries[first].key, last, prefix);
	if (same == 0)
		return false;
	if (same != lv->nprefix)
	{
		memcpy(lv->prefix, prefix, same);
		lv->nprefix = same;
		lv->cutn = first;
		lv->cutbytes = 0;
	}
	for (; lv->cutn < lv->n; lv->cutn++)
	{
		if (!fpt_level_count_cut(fits, lv, &lv->entries[lv->cutn].key, &to.lo,
								 &lv->cutbytes))
			return false;
	}
	if (!fpt_level_count_cut(fits, lv, last, &to.lo, &bytes))
		return false;
	if (key == NULL)
		bytes = 0;				/* it has been counted */

	/* heads are told relative to the low fence, or to the first entry */
	if (lv->low.key.cls != FPT_CLS_VALUE ||
		!fpt_level_count_cut(fits, lv, &lv->low.key, &from.lo, &(int) {0}))
		(void) fpt_level_count_cut(fits, lv, &lv->entries[first].key, &from.lo,
								   &(int) {0});
	g = &l->geoms->geom[fpt_choose_kw(l, &from, &to) - 1]
		[fpt_level_kind(lv, key, &t)];
	bytes += fences + fpt_tuple_space(lv->nprefix) + lv->cutbytes;
	return fpt_space_fits(g, n, 0, bytes, fill) &&
		(key == NULL ||
		 fpt_space_fits(g, n, 0, bytes + fpt_tuple_space(key->len), 100));
}

/*
 * Is there room for another general entry?  There is for the first one, and in
 * inner pages, where the first one has no tuple, for the second.  A page that
 * is full as it is may go on as one with a prefix, or of another encoding,
 * which may compare keys.  Notes the base if this is the first value.
 */
static bool
fpt_level_room_general(FPTFits *fits, FPTLoadLevel *lv, const FPTKey *key)
{
	int			nnull = lv->nnull + (key->cls != FPT_CLS_VALUE ? 1 : 0);
	int			low = fpt_tuple_space(lv->low.key.len);
	int			bytes = low + lv->tupbytes + fpt_tuple_space(key->len);
	const FPTGeom *g = fpt_tight_geom(fits, lv, key);

	Assert(lv->nnull <= lv->n && lv->tupbytes >= 0);
	if (lv->n >= FPT_MAX_ENTRIES - 1)
		return false;
	if (lv->n >= fpt_level_least(lv) &&
		!fpt_space_fits(g, lv->n + 1, nnull, bytes, lv->fillfactor) &&
		!fpt_level_room_prefix(fits, lv, key, low, lv->fillfactor) &&
		!fpt_level_room_extra(fits, lv, key, low))
		return false;
	if (lv->base.cls != FPT_CLS_VALUE && key->cls == FPT_CLS_VALUE)
	{
		lv->base.lo = key->lo;
		lv->base.cls = FPT_CLS_VALUE;
	}
	return true;
}

/*
 * What else certainly fits into pages of this encoding, once key is there: as
 * many entries as its nodes hold, keys as far from the base as its bytes tell,
 * TIDs in blocks within its reach.  An entry within all of these changes
 * neither the width of keys nor that of TIDs, so it need not be asked for
 * (fpt_level_easy()).
 */
static void
fpt_level_note_easy(FPTLoadLevel *lv, const FPTGeom *g, const FPTKey *key,
					int nnull)
{
	lv->easy_n = lv->base.cls == FPT_CLS_VALUE ?
		fpt_fill_limit(g, lv, nnull) : 0;
	lv->easy_hi = g->kw > 8 ? PG_UINT64_MAX >> (128 - 8 * g->kw) : 0;
	lv->easy_lo = PG_UINT64_MAX >> (64 - 8 * Min(g->kw, 8)) >> lv->lent;
	lv->easy_minblock = 0;
	lv->easy_maxblock = lv->easy_off = PG_UINT32_MAX;
	lv->easy_rows = fpt_has_far(g);
	if (g->tw < 6)
	{
		FPTLoadTids t;
		int			bits = 8 * FPT_FAR_BYTES - FPT_MAX_ROWBITS;
		uint32		first = lv->reach > 0 ? 0 :
			Min(lv->tids.minblock, (uint32) (key->tid >> 16));

		(void) fpt_level_kind(lv, key, &t);
		if (!fpt_has_far(g))
			bits = 8 * g->tw - t.rowbits + lv->lent;

		/*
		 * blocks in which they do not get further apart than TIDs can tell;
		 * none where the sum is beyond the last block there can be
		 */
		lv->easy_minblock = first;
		lv->easy_maxblock = first + (1u << bits) - 1;
		lv->easy_off = lv->alloff;
	}
}

/*
 * Shall the level's keys lend bits, if there is another entry, which is given
 * the geometry g as it is?  Returns the geometry that it is to have.  They do
 * once rows are known not to follow each other, so that TIDs are whole, until
 * there is no room with longer keys, and would be with longer TIDs.  Reads all
 * of the level's keys where it changes its mind.
 */
static const FPTGeom *
fpt_level_lending(FPTFits *fits, FPTLoadLevel *lv, const FPTKey *key,
				  const FPTGeom *g)
{
	bool		far = fpt_has_far(g);

	if (lv->lent == 0 && fits->lent > 0 && lv->nnull == 0 && !far &&
		g->tw == 4 && key->cls == FPT_CLS_VALUE)
	{
		fpt_level_lend(fits, lv, fits->lent);
		g = fpt_tight_geom(fits, lv, key);
	}
	if (lv->lent > 0 && (far || g->tw != 3 || g->kw == fits->layout.keysize ||
						 !fpt_fill_fits(g, lv, lv->n + 1, 0)))
	{
		FPTApart	apart = lv->apart;
		const FPTGeom *plain;

		fpt_level_lend(fits, lv, 0);
		plain = fpt_tight_geom(fits, lv, key);
		if (g->kw == fits->layout.keysize || g->tw != 3 ||
			fpt_fill_fits(plain, lv, lv->n + 1, 0))
			return plain;
		lv->lent = fits->lent;
		lv->apart = apart;
	}
	return g;
}

/* See load/fits.h. */
bool
fpt_level_room(FPTFits *fits, FPTLoadLevel *lv, const FPTKey *key)
{
	bool		isnull = key->cls != FPT_CLS_VALUE;
	int			nnull = lv->nnull + (isnull ? 1 : 0);
	int			fixed = lv->fixed;
	int			lent = lv->lent;
	FPTApart	apart = lv->apart;
	const FPTGeom *g;

	if (fpt_is_general(&fits->layout))
		return fpt_level_room_general(fits, lv, key);
	if (fpt_level_foreign(lv, key))
		fpt_level_unfix(fits, lv);
	if (isnull)
	{
		/* as fpt_level_reapart() */
		fpt_level_lend(fits, lv, 0);
		if (lv->apart.span < FPT_MAX_CAP)
			lv->apart = fpt_level_measure(fits, lv, FPT_MAX_CAP, NULL);
	}
	g = fpt_tight_geom(fits, lv, key);
	if (lv->fixed >= 0 && g->kw == fits->layout.keysize)
	{
		Assert(!isnull);		/* a NULL makes no key longer */
		fpt_level_unfix(fits, lv);
		g = fpt_tight_geom(fits, lv, key);
	}
	g = fpt_level_lending(fits, lv, key, g);
	if (lv->n > 0 && !fpt_fill_fits(g, lv, lv->n + 1, nnull))
	{
		/* it goes to the next page, and this one is as it was */
		lv->fixed = fixed;
		lv->lent = lent;
		lv->apart = apart;
		return false;
	}
	if (lv->base.cls != FPT_CLS_VALUE && !isnull)
	{
		lv->base = *key;
		lv->fixed = fpt_level_fixed(fits, lv, key);
	}
	lv->base.tid = 0;
	lv->apart = fpt_level_apart(fits, lv, key);
	if (!fpt_has_far(g) && !lv->rows.off)
	{
		lv->rows.off = true;	/* for the whole page */
		if (lv->apart.span < FPT_MAX_CAP)
			fpt_level_reapart(fits, lv, key);
	}
	if (isnull && fits->layout.nullsfirst)
		lv->first = lv->n + 1;
	fpt_level_note_easy(lv, g, key, nnull);
	return true;
}

/*
 * The geometry of a page that is complete, of this kind: one that also
 * represents all that may be inserted below the high fence, if that costs no
 * space.
 */
static const FPTGeom *
fpt_level_final(FPTFits *fits, const FPTLoadLevel *lv, const FPTKey *high,
				int kind)
{
	int			kw = fpt_level_kw(fits, lv, &lv->base, &lv->last);
	const FPTGeom *g = fpt_level_geom(fits, lv, kw, kind, &lv->apart,
									  &lv->rows);

	Assert(!fpt_is_general(&fits->layout));
	if (high->cls == FPT_CLS_VALUE)
	{
		int			all = fpt_level_kw(fits, lv, &lv->base, high);
		const FPTGeom *w = fpt_level_geom(fits, lv, all, kind, &lv->apart,
										  &lv->rows);

		if (((lv->fixed < 0 && lv->lent == 0) ||
			 all < fits->layout.keysize) &&
			fpt_fill_fits(w, lv, lv->n, lv->nnull))
			g = w;
	}
	Assert((lv->fixed < 0 && lv->lent == 0) || g->kw < fits->layout.keysize);
	return g;
}

/*
 * The geometry of a page that is complete; "g" is the one that it has as it is.
 * Where its keys lend bits, but are not relative to nodes, as they could be if
 * they lent none, slots would be as short: then they lend none any more.
 */
static const FPTGeom *
fpt_level_settle(FPTFits *fits, FPTLoadLevel *lv, const FPTKey *high,
				 const FPTGeom *g)
{
	FPTLoadTids t;
	const FPTGeom *plain;

	if (lv->lent == 0 || fpt_is_near(g))
		return g;
	fpt_level_lend(fits, lv, 0);
	plain = fpt_level_final(fits, lv, high, fpt_level_kind(lv, NULL, &t));
	if (fpt_slot_bytes(plain) <= fpt_slot_bytes(g) &&
		fpt_fill_fits(plain, lv, lv->n, lv->nnull))
		return plain;
	fpt_level_lend(fits, lv, fits->lent);
	return g;
}

/* See load/fits.h. */
int
fpt_level_encoding(FPTFits *fits, FPTLoadLevel *lv, const FPTKey *high,
				   FPTLoadTids *t)
{
	int			kind = fpt_level_kind(lv, NULL, t);
	const FPTGeom *g = fpt_level_final(fits, lv, high, kind);
	bool		leave = lv->fixed >= 0;

	g = fpt_level_settle(fits, lv, high, g);
	if (leave)
	{
		int			fixed = lv->fixed;
		FPTApart	apart = lv->apart;

		fpt_level_unfix(fits, lv);
		leave = fpt_level_final(fits, lv, high, kind) != g;
		lv->fixed = fixed;
		lv->apart = apart;
	}
	Assert(lv->lent == 0 || g->tw == 3);
	(void) fpt_level_kind(lv, NULL, t);
	if (fpt_has_far(g))
		t->rowbits = lv->rows.bits;
	if (lv->lent > 0)
		return g->enc | FPT_ENC_LENT;
	return leave ? g->enc | FPT_ENC_FIXED : g->enc;
}

/* See load/fits.h. */
bool
fpt_level_fence_fits(FPTFits *fits, FPTLoadLevel *lv, const FPTKey *high)
{
	const FPTKey *last = &lv->entries[lv->n - 1].key;
	int			fences = fpt_tuple_space(lv->low.key.len) +
	fpt_tuple_space(high->len);

	Assert(lv->n > 0);
	return fpt_space_fits(fpt_tight_geom(fits, lv, last), lv->n, lv->nnull,
							fences + lv->tupbytes, 100) ||
		fpt_level_room_prefix(fits, lv, NULL, fences, 100) ||
		fpt_level_room_extra(fits, lv, NULL, fences);
}
