/*-------------------------------------------------------------------------
 *
 * load/load.c
 *	  Writing the pages of a new index bottom-up from sorted keys.
 *
 * On each level one page is being filled.  Its entries are kept in an array
 * until the next one would exceed the fill factor of a page in the tightest
 * encoding that represents all of them; only then the page is formatted, in
 * that encoding.  So how many entries a page gets depends on its keys.
 *
 * A closed page's low fence and number become an entry of the level above.
 * When all keys are there, the levels are closed from below.  The first level
 * that has a single page is the top one, and this page is the root.  The first
 * leaf of an index in one file is page 1, and may be the root; a striped index
 * has its root there, the only page in its main fork, and leaves below it.
 *
 * store/place.c writes pages to the file.  A page's number is given when its
 * left sibling is closed, which must name it, so inner pages are written after
 * pages with higher numbers, and the metapage is written last; until then their
 * places hold zeroes.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/compare.h"
#include "load/load.h"
#include "page/encoding.h"
#include "page/fill.h"
#include "page/fixed.h"
#include "page/form.h"
#include "page/format.h"
#include "page/geom.h"
#include "page/kernel.h"
#include "page/lent.h"
#include "page/modify.h"
#include "page/node.h"
#include "page/rows.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/map.h"
#include "store/meta.h"
#include "store/options.h"
#include "store/place.h"
#include "store/stripe.h"

/* --- loader ------------------------------------------------------------- */

/*
 * A bound of how far two values are apart, if they are "span" entries apart, or
 * less: what some number of bytes can tell (fpt_near_enough()).  As many, or
 * more, are put into a node of any page that may be made of them, from its
 * first entry to that of the next one.
 */
typedef struct FPTApart
{
	uint64		hi;
	uint64		lo;
	int			span;
} FPTApart;

/* How the TIDs of a page are stored, if short (fpt_choose_tids()) */
typedef struct FPTLoadTids
{
	uint32		base;
	int			rowbits;
} FPTLoadTids;

/*
 * The page being filled on one level.
 *
 * entries[0 .. n-1] are its entries in ascending order; tuples of general keys
 * are in "tups", those of repeated keys of a leaf once.  "n" and the bytes of
 * tuples never exceed what a page of some encoding holds (fpt_level_room()).
 * When it is closed, a leaf has at least one entry, but for that of an empty
 * index, an inner page two, but for a level's last one.
 */
typedef struct FPTLoadLevel
{
	int			level;
	int			fillfactor;
	int			fewfill;		/* the same where there are few distinct keys */
	uint32		reach;			/* see fpt_choose_tids() */
	uint32		alloff;			/* highest offset of all rows, of which short
								 * TIDs tell no higher ones: a page with one is
								 * known when it comes */
	uint32		npages;			/* closed pages of this level */
	uint32		pageno;			/* of the page, or FPT_NOPAGE if the first */
	uint32		left;			/* its left sibling */
	FPTKeyBuf	low;			/* its low fence */

	int			n;				/* entries */
	int			nnull;			/* of these, NULLs */
	FPTKey		base;			/* an FPT_CLS_VALUE if known, else zeroes */
	FPTKey		last;			/* last entry of class FPT_CLS_VALUE, or base:
								 * class, image or head, and no more */
	FPTTidRange tids;			/* what its TIDs are */
	FPTRows		rows;			/* of a leaf of images: do its rows follow each
								 * other? */
	uint32		maxoff;			/* highest offset of the page before */
	int			first;			/* the first value's place in entries[] */
	FPTApart	apart;			/* how far values are from one another */
	int			fixed;			/* fixed bits of all values and of base, which
								 * the page leaves out; -1: they are not all
								 * the same, or there are none */
	int			lent;			/* bits that keys lend to TIDs; 0: none */

	/*
	 * A value is known to fit while there are less than easy_n entries, if it
	 * is at most (easy_hi, easy_lo) beyond base, and no farther from others
	 * than "apart" says, and its TID is in one of these blocks, with an offset
	 * that is not above easy_off.
	 */
	bool		narrow;			/* values have 8 bytes or less */
	bool		easy_rows;		/* ... if its row is in line, too */
	int			easy_n;
	uint64		easy_hi;
	uint64		easy_lo;
	uint32		easy_minblock;
	uint32		easy_maxblock;
	uint32		easy_off;

	int			gather;			/* entries that are wanted before it is formed,
								 * as their keys repeat; 0: it is as others */
	bool		plain;			/* it must be as others */
	bool		isformed;		/* it is in "formed", without its number, links
								 * and high fence */
	char	   *formed;			/* BLCKSZ bytes, or NULL */

	int			tupbytes;		/* general keys: space of the entries' tuples */
	FPTGrowing	growing;		/* general keys: for other encodings; its n is
								 * set when it is asked for */
	int			tupused;		/* bytes in tups */
	int			tupsize;
	char	   *tups;			/* tupsize bytes for them, or NULL */

	/* what the first entries, but an inner page's first one, would need */
	char		prefix[FPT_MAX_PREFIX]; /* in a page with this prefix: */
	uint32		nprefix;		/* it is the one of the first of them */
	int			cutn;			/* those that have been counted */
	int			cutbytes;		/* space of their tuples */
	FPTEntry	entries[FPT_MAX_ENTRIES];
} FPTLoadLevel;

/*
 * A build in progress: levels from the leaves (0) up, each begun when the first
 * page below it is closed.  All of it is in "cxt", which the end deletes.
 */
struct FPTLoad
{
	MemoryContext cxt;
	Relation	rel;
	FPTLayout	layout;
	FPTPageMap	map;
	FPTPageWriter *writer;		/* NULL: not begun yet */
	FPTLoadSink sink;			/* gets the pages; NULL: the file does */
	void	   *sinkarg;
	char	   *scratch;		/* the page that it gets */
	bool		init;			/* for the init fork */
	char	   *meta;			/* the metapage, written last */
	uint32		npages;			/* page numbers given away */
	int			fillfactor;
	int			fewfill;
	uint32		reach;
	int			lent;			/* bits that keys may lend to TIDs, or 0 */
	uint32		alloff;			/* see FPTLoadLevel */

	/* the most entries of a node whose keys are a byte and relative to it: */
	int			rowspan;		/* of any; */
	int			span;			/* where TIDs are not relative to it; */
	int			lentspan;		/* and where keys lend bits */
	int64		nkeys;
	FPTLoadLevel *levels[FPT_MAX_LEVEL + 1];
};

static void fpt_level_add(FPTLoad *load, int level, const FPTKey *key,
						  uint32 down);
static void fpt_level_put(FPTLoadLevel *lv, const FPTKey *key, uint32 down);

/*
 * The fixed bits that a level's page can leave out if its base is this one, or
 * -1.
 */
static int
fpt_level_fixed(const FPTLoad *load, const FPTLoadLevel *lv,
				const FPTKey *base)
{
	if (lv->level > 0 || load->layout.keysize < 16 ||
		base->cls != FPT_CLS_VALUE)
		return -1;
	return (int) fpt_fixed_bits(base->hi, base->lo);
}

/* Is this a value with other fixed bits than those that are left out? */
static inline bool
fpt_level_foreign(const FPTLoadLevel *lv, const FPTKey *key)
{
	return lv->fixed >= 0 && key->cls == FPT_CLS_VALUE &&
		(int) fpt_fixed_bits(key->hi, key->lo) != lv->fixed;
}

/*
 * How far a value is above another one, in what the page stores of them: the
 * lower one is not foreign, and a foreign upper one counts as the next above.
 */
static inline FPTApart
fpt_level_distance(const FPTLoadLevel *lv, const FPTKey *from, const FPTKey *to)
{
	uint64		fromhi = from->hi;
	uint64		fromlo = from->lo;
	FPTApart	d = {.hi = to->hi, .lo = to->lo};

	if (lv->fixed >= 0)
	{
		Assert(!fpt_level_foreign(lv, from));
		fpt_key_squeeze(&fromhi, &fromlo);
		(void) fpt_key_squeeze_up(lv->fixed, &d.hi, &d.lo);
	}
	d.hi -= fromhi + (d.lo < fromlo ? 1 : 0);
	d.lo -= fromlo;
	return d;
}

/* The fewest bytes that hold how far the last value is above the base. */
static int
fpt_level_kw(const FPTLoad *load, const FPTLoadLevel *lv, const FPTKey *base,
			 const FPTKey *last)
{
	FPTApart	d = fpt_level_distance(lv, base, last);

	if (lv->lent > 0)
		fpt_lent_distance(lv->lent, &d.hi, &d.lo);
	return fpt_width_for(&load->layout, d.hi, d.lo);
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

/*
 * The same of all pages of these kinds whose keys are a byte and relative to
 * nodes.  The level is one of leaves.
 */
static int
fpt_load_span(const FPTLoad *load, const FPTLoadLevel *lv, int kind, int last)
{
	int			span = 1;

	for (; kind <= last && !fpt_is_general(&load->layout); kind++)
	{
		const FPTGeom *g = &load->layout.geoms->geom[1][FPT_KIND_NEAR + kind];

		if (g->cap > 0)
			span = Max(span, fpt_fill_node_most(g, lv));
	}
	Assert(span <= FPT_MAX_CAP);
	return span;
}

/*
 * Start the level's next page, which is empty.  low: its low fence; left and
 * pageno: FPT_NOPAGE for a level's first one, whose number is given when it is
 * closed, as it may turn out to be the root.  The base is the fence's value if
 * it has one: entries are not below it.
 */
static void
fpt_level_start(const FPTLoad *load, FPTLoadLevel *lv, const FPTKey *low,
				uint32 left, uint32 pageno)
{
	Assert(low->search == NULL);
	Assert(pageno == FPT_NOPAGE || pageno > FPT_FIRSTPAGE);
	fpt_key_copy(&lv->low, low);
	lv->tupbytes = lv->tupused = 0;
	lv->growing.nkeys = lv->growing.keybytes = lv->growing.seen = 0;
	lv->nprefix = 0;
	lv->cutn = lv->cutbytes = 0;
	lv->left = left;
	lv->pageno = pageno;
	lv->n = lv->nnull = 0;
	lv->gather = 0;
	lv->plain = lv->isformed = false;
	fpt_tids_none(&lv->tids);
	fpt_rows_begin(&lv->rows, lv->level > 0 || fpt_is_general(&load->layout) ?
				   0 : fpt_row_bits(lv->maxoff));
	lv->first = 0;
	lv->apart.hi = lv->apart.lo = 0;
	lv->apart.span = load->rowspan;
	lv->easy_n = 0;
	memset(&lv->base, 0, sizeof(FPTKey));
	if (low->cls == FPT_CLS_VALUE)
	{
		lv->base.hi = low->hi;
		lv->base.lo = low->lo;
		lv->base.cls = low->cls;
	}
	lv->last = lv->base;
	lv->fixed = fpt_level_fixed(load, lv, &lv->base);
	lv->lent = 0;				/* until rows are seen not to follow */
}

/*
 * Begin a level, with its first page, which is in memory only.  Returns it; it
 * is in load->cxt, some 80 bytes for each entry that a page may have; where
 * pages may have prefixes, FPT_MAX_PREFIX more, mostly never written to.
 * Raises an error if there are as many levels as an index may have.
 */
static FPTLoadLevel *
fpt_level_create(FPTLoad *load, int level)
{
	FPTLoadLevel *lv;
	FPTKey		low;

	if (level > FPT_MAX_LEVEL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index \"%s\" has too many levels",
						RelationGetRelationName(load->rel))));
	Assert(load->levels[level] == NULL);
	lv = MemoryContextAlloc(load->cxt, sizeof(FPTLoadLevel));
	lv->tups = NULL;
	lv->tupsize = 0;
	lv->formed = NULL;
	if (fpt_is_general(&load->layout))
	{
		/* whole, they take more than those of a page with a prefix */
		lv->tupsize = 2 * BLCKSZ;
		if (load->layout.cut != NULL)
			lv->tupsize += FPT_MAX_ENTRIES * (FPT_MAX_PREFIX + 2);
		lv->tups = MemoryContextAlloc(load->cxt, lv->tupsize);
	}
	lv->level = level;
	lv->fillfactor = level == 0 ? load->fillfactor : FPT_INNER_FILLFACTOR;
	lv->fewfill = level == 0 ? load->fewfill : FPT_INNER_FILLFACTOR;
	lv->reach = load->reach;
	lv->alloff = load->alloff;
	lv->narrow = !fpt_is_general(&load->layout) && load->layout.keysize <= 8;
	lv->growing.l = &load->layout;
	lv->growing.entries = lv->entries;
	lv->growing.fill = lv->fillfactor;
	lv->growing.fewfill = lv->fewfill;
	lv->npages = 0;
	lv->maxoff = FPT_TID_MAXOFF;	/* as nothing is known */
	if (level == 0)
	{
		load->rowspan = fpt_load_span(load, lv, FPT_KIND_LEAF1,
									  FPT_KIND_LEAF6);
		load->span = fpt_load_span(load, lv, FPT_KIND_LEAF3, FPT_KIND_LEAF6);
		load->lentspan = fpt_load_span(load, lv, FPT_KIND_LEAF3,
									   FPT_KIND_LEAF3);
	}
	memset(&low, 0, sizeof(low));
	low.cls = FPT_CLS_MINF;
	fpt_level_start(load, lv, &low, FPT_NOPAGE, FPT_NOPAGE);
	load->levels[level] = lv;
	return lv;
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

/* Entries that fit in any page, however wide they are. */
static inline int
fpt_level_least(const FPTLoadLevel *lv)
{
	return lv->level == 0 ? 1 : 2;
}

/* The value so many entries before the next one, or the first of all. */
static inline const FPTKey *
fpt_level_before(const FPTLoadLevel *lv)
{
	int			at = Max(lv->first, lv->n - lv->apart.span);
	const FPTKey *from = &lv->entries[at].key;

	Assert(lv->first < lv->n && from->cls == FPT_CLS_VALUE);
	return from;
}

/* Is this distance farther than that one? */
static inline bool
fpt_apart_above(const FPTApart *a, const FPTApart *b)
{
	return a->hi > b->hi || (a->hi == b->hi && a->lo > b->lo);
}

/*
 * Is another value no farther from that one than the level's "apart" says?
 * *d: how far it is.
 */
static inline bool
fpt_level_within(const FPTLoadLevel *lv, const FPTKey *key, FPTApart *d)
{
	*d = fpt_level_distance(lv, fpt_level_before(lv), key);
	d->span = lv->apart.span;
	return !fpt_apart_above(d, &lv->apart);
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
fpt_apart_step(const FPTLoad *load, const FPTLoadLevel *lv, FPTApart d)
{
	int			most = d.span < FPT_MAX_CAP ? 2 : load->layout.keysize;

	for (int kw = 2; kw <= most; kw++)
	{
		const FPTGeom *g = &load->layout.geoms->geom[kw - 1][FPT_KIND_NEAR];

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
fpt_level_measure(const FPTLoad *load, const FPTLoadLevel *lv, int span,
				  const FPTKey *key)
{
	int			end = load->layout.nullsfirst ? lv->n : lv->n - lv->nnull;
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
	most = fpt_apart_step(load, lv, most);
	if (span < FPT_MAX_CAP && most.hi == PG_UINT64_MAX)
		most = fpt_level_measure(load, lv, FPT_MAX_CAP, key);
	return most;
}

/* The level's "apart" with another entry. */
static FPTApart
fpt_level_apart(const FPTLoad *load, const FPTLoadLevel *lv, const FPTKey *key)
{
	FPTApart	d;

	if (fpt_is_general(&load->layout) || key->cls != FPT_CLS_VALUE ||
		lv->n <= lv->first || fpt_level_within(lv, key, &d))
		return lv->apart;
	d = fpt_apart_step(load, lv, d);
	if (d.span < FPT_MAX_CAP && d.hi == PG_UINT64_MAX)
		d = fpt_level_measure(load, lv, FPT_MAX_CAP, key);
	return d;
}

/*
 * What is stored of the level's keys is another part, or nodes have another
 * number of them: so is its "apart", with another value unless NULL.
 */
static void
fpt_level_reapart(const FPTLoad *load, FPTLoadLevel *lv, const FPTKey *key)
{
	int			span = lv->rows.off ? load->span : load->rowspan;

	if (lv->nnull > 0)
		span = FPT_MAX_CAP;		/* values may get fewer nodes */
	else if (lv->lent > 0)
		span = load->lentspan;
	lv->apart = fpt_level_measure(load, lv, span, key);
}

/* The level's page cannot leave out fixed bits. */
static void
fpt_level_unfix(FPTLoad *load, FPTLoadLevel *lv)
{
	Assert(lv->fixed >= 0);
	lv->fixed = -1;
	fpt_level_reapart(load, lv, NULL);
}

/* Its keys lend so many bits from now on, or 0: none any more. */
static void
fpt_level_lend(FPTLoad *load, FPTLoadLevel *lv, int bits)
{
	Assert(bits == 0 || (bits == load->lent && lv->nnull == 0));
	if (lv->lent != bits)
	{
		lv->lent = bits;
		fpt_level_reapart(load, lv, NULL);
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
fpt_level_geom(FPTLoad *load, const FPTLoadLevel *lv, int kw, int kind,
			   const FPTApart *apart, const FPTRows *rows)
{
	const FPTGeom *g = &load->layout.geoms->geom[kw - 1][kind];
	const FPTGeom *r = &load->layout.geoms->geom[kw - 1][FPT_KIND_LEAF1];

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
fpt_tight_geom(FPTLoad *load, const FPTLoadLevel *lv, const FPTKey *key)
{
	FPTApart	apart = fpt_level_apart(load, lv, key);
	FPTKey		base = lv->base.cls == FPT_CLS_VALUE ? lv->base : *key;
	FPTKey		last = key->cls == FPT_CLS_VALUE ? *key : lv->last;
	FPTRows		rows = lv->rows;
	FPTLoadTids t;
	int			kind = fpt_level_kind(lv, key, &t);
	int			kw = fpt_level_kw(load, lv, &base, &last);

	fpt_rows_add(&rows, key->tid);
	return fpt_level_geom(load, lv, kw, kind, &apart, &rows);
}

/* Is this entry's key the one of the entry before it? */
static inline bool
fpt_level_repeats(const FPTLoadLevel *lv, const FPTKey *key)
{
	return lv->n > 0 && fpt_key_alike(&lv->entries[lv->n - 1].key, key);
}

/*
 * Is there room for another general entry in a page of an encoding that does
 * not go by key widths, beside a low fence of so many bytes?  Or, if key is
 * NULL, for both fences?  fpt_page_form() makes such a page then, or one that
 * is as good.  May compare keys, and raise, if there is another one.
 */
static bool
fpt_level_room_extra(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *key,
					 int fences)
{
	FPTLoadTids t;
	int			kind = fpt_level_kind(lv, key, &t);

	lv->growing.n = lv->n;
	for (int c = FPT_NCODINGS; c-- > 0;)
	{
		const FPTEncoding *enc = &fpt_encodings[c];
		const FPTGeom *g = fpt_extra_geom(&load->layout, c, kind);

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
fpt_level_count_cut(FPTLoad *load, const FPTLoadLevel *lv, const FPTKey *key,
					uint64 *head, int *bytes)
{
	FPTKeyBuf	buf;

	if (load->layout.cut(load->layout.arg, key, lv->prefix, lv->nprefix,
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
fpt_level_room_prefix(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *key,
					  int fences, int fill)
{
	const FPTLayout *l = &load->layout;
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
		if (!fpt_level_count_cut(load, lv, &lv->entries[lv->cutn].key, &to.lo,
								 &lv->cutbytes))
			return false;
	}
	if (!fpt_level_count_cut(load, lv, last, &to.lo, &bytes))
		return false;
	if (key == NULL)
		bytes = 0;				/* it has been counted */

	/* heads are told relative to the low fence, or to the first entry */
	if (lv->low.key.cls != FPT_CLS_VALUE ||
		!fpt_level_count_cut(load, lv, &lv->low.key, &from.lo, &(int) {0}))
		(void) fpt_level_count_cut(load, lv, &lv->entries[first].key, &from.lo,
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
fpt_level_room_general(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *key)
{
	int			nnull = lv->nnull + (key->cls != FPT_CLS_VALUE ? 1 : 0);
	int			low = fpt_tuple_space(lv->low.key.len);
	int			bytes = low + lv->tupbytes + fpt_tuple_space(key->len);
	const FPTGeom *g = fpt_tight_geom(load, lv, key);

	Assert(lv->nnull <= lv->n && lv->tupbytes >= 0);
	if (lv->n >= FPT_MAX_ENTRIES - 1)
		return false;
	if (lv->n >= fpt_level_least(lv) &&
		!fpt_space_fits(g, lv->n + 1, nnull, bytes, lv->fillfactor) &&
		!fpt_level_room_prefix(load, lv, key, low, lv->fillfactor) &&
		!fpt_level_room_extra(load, lv, key, low))
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
fpt_level_lending(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *key,
				  const FPTGeom *g)
{
	bool		far = fpt_has_far(g);

	if (lv->lent == 0 && load->lent > 0 && lv->nnull == 0 && !far &&
		g->tw == 4 && key->cls == FPT_CLS_VALUE)
	{
		fpt_level_lend(load, lv, load->lent);
		g = fpt_tight_geom(load, lv, key);
	}
	if (lv->lent > 0 && (far || g->tw != 3 || g->kw == load->layout.keysize ||
						 !fpt_fill_fits(g, lv, lv->n + 1, 0)))
	{
		FPTApart	apart = lv->apart;
		const FPTGeom *plain;

		fpt_level_lend(load, lv, 0);
		plain = fpt_tight_geom(load, lv, key);
		if (g->kw == load->layout.keysize || g->tw != 3 ||
			fpt_fill_fits(plain, lv, lv->n + 1, 0))
			return plain;
		lv->lent = load->lent;
		lv->apart = apart;
	}
	return g;
}

/*
 * Is there room for another entry?  Looks for the encoding that holds all; then
 * notes what else certainly fits in this encoding.  Of general keys it may
 * compare some, and raise.
 */
static bool
fpt_level_room(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *key)
{
	bool		isnull = key->cls != FPT_CLS_VALUE;
	int			nnull = lv->nnull + (isnull ? 1 : 0);
	int			fixed = lv->fixed;
	int			lent = lv->lent;
	FPTApart	apart = lv->apart;
	const FPTGeom *g;

	if (fpt_is_general(&load->layout))
		return fpt_level_room_general(load, lv, key);
	if (fpt_level_foreign(lv, key))
		fpt_level_unfix(load, lv);
	if (isnull)
	{
		/* as fpt_level_reapart() */
		fpt_level_lend(load, lv, 0);
		if (lv->apart.span < FPT_MAX_CAP)
			lv->apart = fpt_level_measure(load, lv, FPT_MAX_CAP, NULL);
	}
	g = fpt_tight_geom(load, lv, key);
	if (lv->fixed >= 0 && g->kw == load->layout.keysize)
	{
		Assert(!isnull);		/* a NULL makes no key longer */
		fpt_level_unfix(load, lv);
		g = fpt_tight_geom(load, lv, key);
	}
	g = fpt_level_lending(load, lv, key, g);
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
		lv->fixed = fpt_level_fixed(load, lv, key);
	}
	lv->base.tid = 0;
	lv->apart = fpt_level_apart(load, lv, key);
	if (!fpt_has_far(g) && !lv->rows.off)
	{
		lv->rows.off = true;	/* for the whole page */
		if (lv->apart.span < FPT_MAX_CAP)
			fpt_level_reapart(load, lv, key);
	}
	if (isnull && load->layout.nullsfirst)
		lv->first = lv->n + 1;
	fpt_level_note_easy(lv, g, key, nnull);
	return true;
}

/* The same, without the trouble, for most entries; false: not known. */
static inline bool
fpt_level_easy(const FPTLoadLevel *lv, const FPTKey *key)
{
	uint32		block = (uint32) (key->tid >> 16);
	FPTApart	d;
	FPTApart	apart;

	if (lv->n >= lv->easy_n || key->cls != FPT_CLS_VALUE)
		return false;
	if (lv->narrow)
	{
		/* what follows, without the upper halves, which are zero */
		if (key->lo - lv->base.lo > lv->easy_lo ||
			(key->lo - fpt_level_before(lv)->lo > lv->apart.lo &&
			 lv->apart.hi == 0))
			return false;
	}
	else
	{
		if (fpt_level_foreign(lv, key))
			return false;
		d = fpt_level_distance(lv, &lv->base, key);
		if (d.hi > lv->easy_hi || d.lo > lv->easy_lo ||
			!fpt_level_within(lv, key, &apart))
			return false;
	}
	return block >= lv->easy_minblock && block <= lv->easy_maxblock &&
		(key->tid & 0xFFFF) <= lv->easy_off &&
		(!lv->easy_rows ||
		 fpt_rows_in_line(&lv->rows, fpt_row_of(0, lv->rows.bits, key->tid)));
}

/*
 * The geometry of a page that is complete, of this kind: one that also
 * represents all that may be inserted below the high fence, if that costs no
 * space.
 */
static const FPTGeom *
fpt_level_final(FPTLoad *load, const FPTLoadLevel *lv, const FPTKey *high,
				int kind)
{
	int			kw = fpt_level_kw(load, lv, &lv->base, &lv->last);
	const FPTGeom *g = fpt_level_geom(load, lv, kw, kind, &lv->apart,
									  &lv->rows);

	Assert(!fpt_is_general(&load->layout));
	if (high->cls == FPT_CLS_VALUE)
	{
		int			all = fpt_level_kw(load, lv, &lv->base, high);
		const FPTGeom *w = fpt_level_geom(load, lv, all, kind, &lv->apart,
										  &lv->rows);

		if (((lv->fixed < 0 && lv->lent == 0) ||
			 all < load->layout.keysize) &&
			fpt_fill_fits(w, lv, lv->n, lv->nnull))
			g = w;
	}
	Assert((lv->fixed < 0 && lv->lent == 0) || g->kw < load->layout.keysize);
	return g;
}

/*
 * The geometry of a page that is complete; "g" is the one that it has as it is.
 * Where its keys lend bits, but are not relative to nodes, as they could be if
 * they lent none, slots would be as short: then they lend none any more.
 */
static const FPTGeom *
fpt_level_settle(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *high,
				 const FPTGeom *g)
{
	FPTLoadTids t;
	const FPTGeom *plain;

	if (lv->lent == 0 || fpt_is_near(g))
		return g;
	fpt_level_lend(load, lv, 0);
	plain = fpt_level_final(load, lv, high, fpt_level_kind(lv, NULL, &t));
	if (fpt_slot_bytes(plain) <= fpt_slot_bytes(g) &&
		fpt_fill_fits(plain, lv, lv->n, lv->nnull))
		return plain;
	fpt_level_lend(load, lv, load->lent);
	return g;
}

/*
 * The encoding of a page that is complete; *t: how its TIDs are stored.  Fixed
 * bits are left out only if keys would be longer with them.
 */
static int
fpt_level_encoding(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *high,
				   FPTLoadTids *t)
{
	int			kind = fpt_level_kind(lv, NULL, t);
	const FPTGeom *g = fpt_level_final(load, lv, high, kind);
	bool		leave = lv->fixed >= 0;

	g = fpt_level_settle(load, lv, high, g);
	if (leave)
	{
		int			fixed = lv->fixed;
		FPTApart	apart = lv->apart;

		fpt_level_unfix(load, lv);
		leave = fpt_level_final(load, lv, high, kind) != g;
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

/* The next page's number.  Raises an error when they are used up. */
static uint32
fpt_load_pageno(FPTLoad *load)
{
	if (load->npages >= FPT_MAX_PAGENO)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index \"%s\" has too many pages",
						RelationGetRelationName(load->rel))));
	return load->npages++;
}

/*
 * Memory for a page, to be filled before another one is asked for.  The writer
 * is begun when the first one is wanted.  May write the pages before it, and
 * raise.
 */
static void *
fpt_load_page(FPTLoad *load, uint32 pageno)
{
	Assert(pageno < load->npages);
	if (load->sink != NULL)
		return load->scratch;
	if (load->writer == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(load->cxt);

		load->writer = fpt_pagewriter_begin(load->rel, &load->map,
											load->init);
		MemoryContextSwitchTo(old);
	}
	return fpt_pagewriter_get(load->writer, pageno);
}

/* A page that fpt_load_page() gave is filled.  May write, log, and raise. */
static void
fpt_load_put(FPTLoad *load, void *page)
{
	if (load->sink != NULL)
		load->sink(load->sinkarg, &load->layout, page);
	else
		fpt_pagewriter_put(load->writer, page);
}

/*
 * Format and write a level's page.  "high" is its high fence, "right" its right
 * sibling, or FPT_NOPAGE; the level is as before.  May write to the file, log,
 * be cancelled, and raise; a page that cannot be formatted is an error of ours,
 * as room was asked for before.
 */
static void
fpt_level_write(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *high,
				uint32 right)
{
	void	   *page = fpt_load_page(load, lv->pageno);
	FPTPageSpec spec = {.level = lv->level, .pageno = lv->pageno,
	.low = &lv->low.key, .high = high, .reach = lv->reach,
	.rowbits = fpt_row_bits(lv->alloff), .lent = lv->lent};
	FPTResult	res;

	Assert(load->levels[lv->level] == lv);
	/* nothing but the leaf of an empty index has no entries */
	Assert(lv->n > 0 || (lv->level == 0 && lv->npages == 0));
	if (lv->isformed)
	{
		memcpy(page, lv->formed, BLCKSZ);
		fpt_special(page)->pageno = lv->pageno;
		res = fpt_page_set_high(&load->layout, page, high, NULL);
	}
	else if (fpt_is_general(&load->layout))
		res = fpt_page_form(&load->layout, page, &spec, lv->entries, lv->n,
							lv->fillfactor);
	else
	{
		FPTLoadTids t;
		int			enc = fpt_level_encoding(load, lv, high, &t);

		spec.rowbits = t.rowbits;
		fpt_page_init(&load->layout, page, &spec, enc, &lv->base, t.base);
		res = fpt_page_fill(&load->layout, page, lv->entries, lv->n,
							lv->fillfactor);
	}
	fpt_header(page)->left = lv->left;
	fpt_header(page)->right = right;
	if (res != FPT_OK)
		elog(ERROR, "could not fill page %u of index \"%s\": result %d",
			 lv->pageno, RelationGetRelationName(load->rel), (int) res);
	fpt_load_put(load, page);
	if (lv->level == 0 && load->nkeys > 0 && load->sink == NULL)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
									 load->nkeys);
}

/*
 * The page that a level fills is complete: write it and tell its parent.
 * "high" is the low fence of the next page, if there is one, which is started;
 * of a level's last page it is plus infinity.  Recursive, by fpt_level_add():
 * at most once a level.  As fpt_level_write().
 */
static void
fpt_level_close(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *high)
{
	bool		rightmost = high->cls == FPT_CLS_PINF;
	uint32		right = FPT_NOPAGE;
	uint32		pageno;
	FPTKeyBuf	low;
	FPTKey		key;

	Assert(rightmost || lv->n > 0);
	if (lv->pageno == FPT_NOPAGE)
		lv->pageno = fpt_load_pageno(load);
	pageno = lv->pageno;
	if (!rightmost)
		right = fpt_load_pageno(load);
	fpt_level_write(load, lv, high, right);

	/*
	 * The leftmost page's entry stands for minus infinity.  It must have a key
	 * nevertheless, in a class that may come first: that of the page's base
	 * lets the parent represent what is inserted later.
	 */
	fpt_key_copy(&low, &lv->low.key);
	key = low.key;
	if (key.cls == FPT_CLS_MINF)
	{
		key = lv->base;
		key.cls = FPT_CLS_VALUE;
		if (load->layout.nullsfirst)
		{
			key.hi = key.lo = 0;
			key.cls = FPT_CLS_NULLFIRST;
		}
	}
	lv->npages++;
	lv->maxoff = lv->tids.maxoff;
	if (!rightmost)
		fpt_level_start(load, lv, high, pageno, right);
	fpt_level_add(load, lv->level + 1, &key, pageno);
}

/*
 * Lower bound of a leaf page that begins with "key", after "prev".  Without a
 * TID where the images differ, so that a later entry with the image of key goes
 * to the same page as key whatever its TID is.  Of general keys the tuple is in
 * *buf; compares, and so may raise.
 */
static FPTKey
fpt_separator(const FPTLayout *l, const FPTKey *prev, const FPTKey *key,
			  FPTKeyBuf *buf)
{
	FPTKey		sep = *key;

	if (fpt_is_general(l))
	{
		l->separate(l->arg, prev, key, buf);
		return buf->key;
	}
	if (fpt_image_cmp(prev, key) != 0)
		sep.tid = 0;
	return sep;
}

/*
 * Keep the tuple of an entry that is about to be added, which is the last one
 * of the level's, as the caller's is good for this call only.  A leaf's key
 * that repeats shares the tuple of the one before.  Counts what a page would
 * need for the tuples of all entries, and of all keys.
 */
static void
fpt_level_keep(FPTLoadLevel *lv, FPTKey *key)
{
	const FPTKey *prev = lv->n > 1 ? &lv->entries[lv->n - 2].key : NULL;
	bool		repeats = prev != NULL && fpt_key_alike(prev, key);

	Assert(lv->n > 0 && key == &lv->entries[lv->n - 1].key);
	if (lv->level == 0 && repeats)
		key->tup = prev->tup;
	else if (key->len > 0)
	{
		Assert(lv->tupused + (int) key->len <= lv->tupsize);
		memcpy(lv->tups + lv->tupused, key->tup, key->len);
		key->tup = lv->tups + lv->tupused;
		lv->tupused += (int) key->len;
	}
	if (lv->level == 0 || lv->n > 1)
		lv->tupbytes += fpt_tuple_space(key->len);
	if (!repeats)
	{
		lv->growing.nkeys++;
		lv->growing.keybytes += fpt_tuple_space(key->len);
	}
}

/*
 * Does a page that is complete have room for this high fence, in the encoding
 * that its entries want, with a prefix, or in another one?
 */
static bool
fpt_level_fence_fits(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *high)
{
	const FPTKey *last = &lv->entries[lv->n - 1].key;
	int			fences = fpt_tuple_space(lv->low.key.len) +
	fpt_tuple_space(high->len);

	Assert(lv->n > 0);
	return fpt_space_fits(fpt_tight_geom(load, lv, last), lv->n, lv->nnull,
							fences + lv->tupbytes, 100) ||
		fpt_level_room_prefix(load, lv, NULL, fences, 100) ||
		fpt_level_room_extra(load, lv, NULL, fences);
}

/*
 * A page of general keys is complete.  Its high fence, which only the next
 * entry's key tells, may be so wide that there is no room for it: then the
 * page's last entry goes to the next page, which makes room for a fence as wide
 * as itself.  Returns false if all is well; true if the page was closed, and
 * the next one begun with that entry.  As fpt_level_close().
 */
static bool
fpt_level_spill(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *high)
{
	const FPTLayout *l = &load->layout;
	FPTKeyBuf	last;
	FPTKeyBuf	sep;
	FPTKey		fence;
	uint32		down;

	if (!fpt_is_general(l) || lv->n <= fpt_level_least(lv) ||
		fpt_level_fence_fits(load, lv, high))
		return false;
	lv->n--;
	lv->growing.seen = Min(lv->growing.seen, lv->n);
	lv->nprefix = 0;			/* count anew */
	if (!fpt_level_repeats(lv, &lv->entries[lv->n].key))
	{
		lv->growing.nkeys--;
		lv->growing.keybytes -= fpt_tuple_space(lv->entries[lv->n].key.len);
	}
	fpt_key_copy(&last, &lv->entries[lv->n].key);
	down = lv->entries[lv->n].down;
	lv->tupbytes -= fpt_tuple_space(last.key.len);
	if (last.key.cls != FPT_CLS_VALUE)
		lv->nnull--;
	Assert(lv->n >= fpt_level_least(lv));
	Assert(lv->nnull >= 0 && lv->growing.nkeys > 0 && lv->tupbytes >= 0);
	fence = last.key;
	if (lv->level == 0)
		fence = fpt_separator(l, &lv->entries[lv->n - 1].key, &last.key, &sep);
	fpt_level_close(load, lv, &fence);
	fpt_level_add(load, lv->level, &last.key, down);
	return true;
}

/* Put an entry for which there is room into the level's page. */
static inline void
fpt_level_put(FPTLoadLevel *lv, const FPTKey *key, uint32 down)
{
	FPTEntry   *e = &lv->entries[lv->n++];

	Assert(lv->n <= FPT_MAX_ENTRIES);
	e->key = *key;
	e->down = down;
	if (unlikely(lv->tups != NULL))
		fpt_level_keep(lv, &e->key);
	fpt_tids_add(&lv->tids, key->tid);
	fpt_rows_add(&lv->rows, key->tid);
	if (key->cls == FPT_CLS_VALUE)
	{
		lv->last.cls = FPT_CLS_VALUE;
		lv->last.hi = key->hi;
		lv->last.lo = key->lo;
	}
	else
		lv->nnull++;
}

/*
 * Form a leaf of the level's first entries, whose keys repeat, in "formed":
 * returns how many it has, 0: there is no such page.  *most: how many there
 * should be.
 */
static int
fpt_level_form(FPTLoad *load, FPTLoadLevel *lv, int *most)
{
	FPTKey		high = {.cls = FPT_CLS_PINF};
	FPTPageSpec spec = {.level = lv->level, .low = &lv->low.key,
		.high = &high, .reach = lv->reach,
	.rowbits = fpt_row_bits(lv->alloff)};

	if (lv->formed == NULL)
		lv->formed = MemoryContextAlloc(load->cxt, BLCKSZ);
	return fpt_page_form_first(&load->layout, lv->formed, &spec, lv->entries,
							   lv->n, lv->fillfactor, most);
}

/* Where keys repeat a leaf must have an eighth more entries so than else. */
#define FPT_GATHER_SHARE		8

/*
 * A leaf has no room for another entry, a value.  Do its keys repeat, so that a
 * page of another kind has room for many more?  Then entries are gathered until
 * it is full.
 */
static bool
fpt_level_gather(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *key)
{
	int			most;

	if (lv->level > 0 || lv->plain || lv->nnull > 0 ||
		key->cls != FPT_CLS_VALUE || fpt_is_general(&load->layout) ||
		fpt_level_form(load, lv, &most) < lv->n ||
		most < lv->n + lv->n / FPT_GATHER_SHARE)
		return false;
	lv->gather = Min(most + most / 16, FPT_MAX_ENTRIES - 1);
	lv->easy_n = 0;
	return lv->n < lv->gather;
}

/*
 * Entries are gathered, and got of these are in "formed": write them.  The next
 * ones are added again, to pages that may be written, too; if got is 0, all, to
 * pages as others are.  If it is all there are the caller writes them.  As
 * fpt_level_close().
 */
static void
fpt_level_part(FPTLoad *load, FPTLoadLevel *lv, int got)
{
	int			n = lv->n - got;
	FPTEntry   *rest;
	FPTKeyBuf	buf;
	FPTKey		high;

	Assert(lv->gather > 0 && lv->level == 0 && n >= 0);
	lv->isformed = got > 0;
	if (n == 0)
		return;
	rest = MemoryContextAlloc(load->cxt, n * sizeof(FPTEntry));
	memcpy(rest, lv->entries + got, n * sizeof(FPTEntry));
	if (got > 0)
	{
		lv->n = got;
		high = fpt_separator(&load->layout, &lv->entries[got - 1].key,
							 &rest[0].key, &buf);
		fpt_level_close(load, lv, &high);
	}
	else
	{
		fpt_key_copy(&buf, &lv->low.key);
		fpt_level_start(load, lv, &buf.key, lv->left, lv->pageno);
		lv->plain = true;
	}
	for (int i = 0; i < n; i++)
		fpt_level_add(load, 0, &rest[i].key, 0);
	pfree(rest);
}

/*
 * Add an entry to a leaf whose entries are gathered.  False: that is over, and
 * the entry is not added; the leaf is complete, in "formed", or has begun anew.
 */
static bool
fpt_level_add_gathered(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *key)
{
	bool		value = key->cls == FPT_CLS_VALUE;
	int			most;
	int			got;

	if (!value || lv->n >= lv->gather)
	{
		got = fpt_level_form(load, lv, &most);
		if (!value || got < lv->n || most <= lv->n ||
			lv->n >= FPT_MAX_ENTRIES - 1)
		{
			fpt_level_part(load, lv, got);
			return false;
		}
		lv->gather = Min(Max(most + most / 16, lv->n + FPT_MAX_CAP),
						 FPT_MAX_ENTRIES - 1);
	}
	fpt_level_put(lv, key, 0);
	return true;
}

/*
 * Add an entry to a level of which it is not known whether its page has room.
 * If it has none it is closed, and the next one begun: as fpt_level_close().
 * After fpt_level_spill() it begins again, with a page of one entry: that has
 * room, or is closed without a spill.  So it does after entries
 * were gathered that did not fit into one page.
 */
static pg_noinline void
fpt_level_add_hard(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *key,
				   uint32 down)
{
	FPTKeyBuf	sep;

	if (lv->gather > 0)
	{
		if (fpt_level_add_gathered(load, lv, key))
			return;
		if (!lv->isformed)
		{
			fpt_level_add(load, lv->level, key, down);
			return;
		}
	}
	if (lv->isformed || !fpt_level_room(load, lv, key))
	{
		FPTKey		high = *key;

		if (!lv->isformed && fpt_level_gather(load, lv, key))
		{
			fpt_level_put(lv, key, down);
			return;
		}
		if (lv->level == 0)
			high = fpt_separator(&load->layout, &lv->entries[lv->n - 1].key,
								 key, &sep);
		if (fpt_level_spill(load, lv, &high))
		{
			/* The last entry has begun the next page. */
			fpt_level_add(load, lv->level, key, down);
			return;
		}
		fpt_level_close(load, lv, &high);
		(void) fpt_level_room(load, lv, key);	/* the first always fits */
	}
	fpt_level_put(lv, key, down);
}

/*
 * Add an entry to a level; keys come in ascending order.  "down": an inner
 * page's child.  The key's tuple is copied.
 */
static inline void
fpt_level_add(FPTLoad *load, int level, const FPTKey *key, uint32 down)
{
	FPTLoadLevel *lv = load->levels[level];

	if (unlikely(lv == NULL))
		lv = fpt_level_create(load, level);
	Assert(lv->n == 0 || fpt_is_general(&load->layout) ||
		   fpt_key_cmp(&load->layout, &lv->entries[lv->n - 1].key, key) < 0);
	if (likely(fpt_level_easy(lv, key)))
		fpt_level_put(lv, key, down);
	else
		fpt_level_add_hard(load, lv, key, down);
}

/*
 * See load/load.h.  General keys are compared with sort support, which the
 * layout's description gets here: nobody else sees it.
 */
FPTLoad *
fpt_load_begin(Relation rel, bool init, const Oid *stripes, int nstripes,
			   uint32 blocks)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree build pages",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	FPTLoad    *load = palloc0(sizeof(FPTLoad));
	FPTOptions *opts = (FPTOptions *) rel->rd_options;

	load->cxt = cxt;
	load->rel = rel;
	load->init = init;
	load->fillfactor = opts ? opts->fillfactor : FPT_DEFAULT_FILLFACTOR;
	load->fewfill = opts ? opts->fillfactor : FPT_FEW_FILLFACTOR;
	load->reach = load->fillfactor < 100 ? fpt_tids_reach(blocks) : 0;
	load->npages = nstripes > 0 ? FPT_FIRSTPAGE + 1 : FPT_FIRSTPAGE;
	Assert(load->fillfactor > 0 && load->fillfactor <= 100);
	load->meta = palloc0(BLCKSZ);
	fpt_meta_init(rel, (Page) load->meta, &load->layout, stripes, nstripes);
	if (!init && fpt_is_general(&load->layout))
		/* the description was made for us only */
		fpt_general_sort_support(unconstify(void *, load->layout.arg), rel,
								 true);
	if (nstripes > 0)
		load->map.stripes = fpt_stripes_load(rel, stripes, nstripes);
	fpt_level_create(load, 0);
	MemoryContextSwitchTo(old);
	fpt_load_offsets(load, FPT_TID_MAXOFF);
	return load;
}

/*
 * See load/load.h.  As the table may grow, so may offsets: rows that have been
 * updated leave theirs behind until VACUUM, and a page built full that has not
 * the bits for the next ones would be split by the first of them, all pages at
 * a time.  A quarter more than there are: autovacuum mostly comes before that.
 */
void
fpt_load_offsets(FPTLoad *load, uint32 maxoff)
{
	Assert(load->nkeys == 0);
	if (load->reach > 0)
		maxoff += maxoff / 4;
	load->alloff = load->levels[0]->alloff = Min(maxoff, FPT_TID_MAXOFF);
	load->lent = 0;
	if (load->reach > 0 && !fpt_is_general(&load->layout) &&
		load->layout.keysize <= 8)
		load->lent = Max(0, fpt_lent_needed(load->reach - 1,
											fpt_row_bits(load->alloff)));
}

void
fpt_load_divert(FPTLoad *load, FPTLoadSink sink, void *arg)
{
	Assert(sink != NULL && load->nkeys == 0 && load->writer == NULL);
	load->sink = sink;
	load->sinkarg = arg;
	load->scratch = MemoryContextAlloc(load->cxt, BLCKSZ);
}

const FPTLayout *
fpt_load_layout(FPTLoad *load)
{
	return &load->layout;
}

void
fpt_load_add(FPTLoad *load, const FPTKey *key)
{
	Assert(!load->init && key->search == NULL);
	load->nkeys++;
	fpt_level_add(load, 0, key, 0);
}

/*
 * See load/load.h.  Levels are closed from below; closing one may begin the
 * next one above, so that the loop looks at it then.
 */
void
fpt_load_end(FPTLoad *load)
{
	bool		striped = load->map.stripes != NULL;
	FPTKey		high;
	FPTLoadLevel *leaf = load->levels[0];
	int			level = 0;
	uint32		root;
	int			most;
	void	   *page;

	while (leaf->gather > 0 && !leaf->isformed)
		fpt_level_part(load, leaf, fpt_level_form(load, leaf, &most));
	memset(&high, 0, sizeof(high));
	high.cls = FPT_CLS_PINF;
	/*
	 * A level with closed pages has a level above it with their entries; in
	 * stripes the leaf level always has one, as the root is no leaf there.
	 */
	for (; load->levels[level]->npages > 0 || (level == 0 && striped); level++)
		fpt_level_close(load, load->levels[level], &high);
	Assert(load->levels[level]->pageno == FPT_NOPAGE);
	root = striped ? FPT_FIRSTPAGE : fpt_load_pageno(load);
	load->levels[level]->pageno = root;
	fpt_level_write(load, load->levels[level], &high, FPT_NOPAGE);
	fpt_meta((Page) load->meta)->root = root;
	Assert((level == 0) == (root == FPT_FIRSTPAGE) || striped);

	if (load->sink == NULL)
	{
		fpt_stop_point(FPT_STOP_BUILD_META);
		page = fpt_load_page(load, FPT_METAPAGE);
		memcpy(page, load->meta, BLCKSZ);
		fpt_load_put(load, page);
		fpt_pagewriter_end(load->writer);
	}
	MemoryContextDelete(load->cxt);
}
