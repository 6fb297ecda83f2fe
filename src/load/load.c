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
#include "load/fits.h"
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

/*
 * A build in progress: levels from the leaves (0) up, each begun when the first
 * page below it is closed.  All of it is in "cxt", which the end deletes.
 */
struct FPTLoad
{
	MemoryContext cxt;
	Relation	rel;
	FPTFits		fits;
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
	uint32		alloff;			/* see FPTLoadLevel */

	int64		nkeys;
	FPTLoadLevel *levels[FPT_MAX_LEVEL + 1];
};

static void fpt_level_add(FPTLoad *load, int level, const FPTKey *key,
						  uint32 down);
static void fpt_level_put(FPTLoadLevel *lv, const FPTKey *key, uint32 down);

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
	fpt_rows_begin(&lv->rows,
				   lv->level > 0 || fpt_is_general(&load->fits.layout) ? 0 :
				   fpt_row_bits(lv->maxoff));
	lv->first = 0;
	lv->apart.hi = lv->apart.lo = 0;
	lv->apart.span = load->fits.rowspan;
	lv->easy_n = 0;
	memset(&lv->base, 0, sizeof(FPTKey));
	if (low->cls == FPT_CLS_VALUE)
	{
		lv->base.hi = low->hi;
		lv->base.lo = low->lo;
		lv->base.cls = low->cls;
	}
	lv->last = lv->base;
	lv->fixed = fpt_level_fixed(&load->fits, lv, &lv->base);
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
	if (fpt_is_general(&load->fits.layout))
	{
		/* whole, they take more than those of a page with a prefix */
		lv->tupsize = 2 * BLCKSZ;
		if (load->fits.layout.cut != NULL)
			lv->tupsize += FPT_MAX_ENTRIES * (FPT_MAX_PREFIX + 2);
		lv->tups = MemoryContextAlloc(load->cxt, lv->tupsize);
	}
	lv->level = level;
	lv->fillfactor = level == 0 ? load->fillfactor : FPT_INNER_FILLFACTOR;
	lv->fewfill = level == 0 ? load->fewfill : FPT_INNER_FILLFACTOR;
	lv->reach = load->reach;
	lv->alloff = load->alloff;
	lv->narrow = !fpt_is_general(&load->fits.layout) &&
		load->fits.layout.keysize <= 8;
	lv->growing.l = &load->fits.layout;
	lv->growing.entries = lv->entries;
	lv->growing.fill = lv->fillfactor;
	lv->growing.fewfill = lv->fewfill;
	lv->npages = 0;
	lv->maxoff = FPT_TID_MAXOFF;	/* as nothing is known */
	if (level == 0)
	{
		FPTFits    *fits = &load->fits;

		fits->rowspan = fpt_load_span(fits, lv, FPT_KIND_LEAF1,
									  FPT_KIND_LEAF6);
		fits->span = fpt_load_span(fits, lv, FPT_KIND_LEAF3, FPT_KIND_LEAF6);
		fits->lentspan = fpt_load_span(fits, lv, FPT_KIND_LEAF3,
									   FPT_KIND_LEAF3);
	}
	memset(&low, 0, sizeof(low));
	low.cls = FPT_CLS_MINF;
	fpt_level_start(load, lv, &low, FPT_NOPAGE, FPT_NOPAGE);
	load->levels[level] = lv;
	return lv;
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
		load->sink(load->sinkarg, &load->fits.layout, page);
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
		res = fpt_page_set_high(&load->fits.layout, page, high, NULL);
	}
	else if (fpt_is_general(&load->fits.layout))
		res = fpt_page_form(&load->fits.layout, page, &spec, lv->entries, lv->n,
							lv->fillfactor);
	else
	{
		FPTLoadTids t;
		int			enc = fpt_level_encoding(&load->fits, lv, high, &t);

		spec.rowbits = t.rowbits;
		fpt_page_init(&load->fits.layout, page, &spec, enc, &lv->base, t.base);
		res = fpt_page_fill(&load->fits.layout, page, lv->entries, lv->n,
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
		if (load->fits.layout.nullsfirst)
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
 * A page of general keys is complete.  Its high fence, which only the next
 * entry's key tells, may be so wide that there is no room for it: then the
 * page's last entry goes to the next page, which makes room for a fence as wide
 * as itself.  Returns false if all is well; true if the page was closed, and
 * the next one begun with that entry.  As fpt_level_close().
 */
static bool
fpt_level_spill(FPTLoad *load, FPTLoadLevel *lv, const FPTKey *high)
{
	const FPTLayout *l = &load->fits.layout;
	FPTKeyBuf	last;
	FPTKeyBuf	sep;
	FPTKey		fence;
	uint32		down;

	if (!fpt_is_general(l) || lv->n <= fpt_level_least(lv) ||
		fpt_level_fence_fits(&load->fits, lv, high))
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
	return fpt_page_form_first(&load->fits.layout, lv->formed, &spec,
							   lv->entries, lv->n, lv->fillfactor, most);
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
		key->cls != FPT_CLS_VALUE || fpt_is_general(&load->fits.layout) ||
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
		high = fpt_separator(&load->fits.layout, &lv->entries[got - 1].key,
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
	if (lv->isformed || !fpt_level_room(&load->fits, lv, key))
	{
		FPTKey		high = *key;

		if (!lv->isformed && fpt_level_gather(load, lv, key))
		{
			fpt_level_put(lv, key, down);
			return;
		}
		if (lv->level == 0)
			high = fpt_separator(&load->fits.layout,
								 &lv->entries[lv->n - 1].key, key, &sep);
		if (fpt_level_spill(load, lv, &high))
		{
			/* The last entry has begun the next page. */
			fpt_level_add(load, lv->level, key, down);
			return;
		}
		fpt_level_close(load, lv, &high);
		/* the first always fits */
		(void) fpt_level_room(&load->fits, lv, key);
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
	Assert(lv->n == 0 || fpt_is_general(&load->fits.layout) ||
		   fpt_key_cmp(&load->fits.layout, &lv->entries[lv->n - 1].key,
					   key) < 0);
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
	fpt_meta_init(rel, (Page) load->meta, &load->fits.layout, stripes,
				  nstripes);
	if (!init && fpt_is_general(&load->fits.layout))
		/* the description was made for us only */
		fpt_general_sort_support(unconstify(void *, load->fits.layout.arg), rel,
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
	load->fits.lent = 0;
	if (load->reach > 0 && !fpt_is_general(&load->fits.layout) &&
		load->fits.layout.keysize <= 8)
		load->fits.lent = Max(0, fpt_lent_needed(load->reach - 1,
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
	return &load->fits.layout;
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
