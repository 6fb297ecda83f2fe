/*-------------------------------------------------------------------------
 *
 * store/buf.c
 *	  Pages and buffers: the metapage, reading with checks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "common/pg_prng.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "key/collation.h"
#include "key/column.h"
#include "key/compare.h"
#include "key/general.h"
#include "key/image.h"
#include "key/procs.h"
#include "page/check.h"
#include "page/format.h"
#include "page/hints.h"
#include "page/kernel.h"
#include "page/widths.h"
#include "server/compat.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/map.h"
#include "store/meta.h"
#include "store/options.h"
#include "store/place.h"
#include "store/stripe.h"

/* See store/options.h */
FPTNodeLines fpt_debug_lines = {0, 0};

/*
 * See store/buf.h.  Where the page lies is said if there is a description,
 * which is not looked up for that: catalogues might be needed, with pages
 * locked.
 */
void
fpt_corrupt(Relation rel, uint32 pageno, const char *what)
{
	const FPTIndex *ix = (const FPTIndex *) rel->rd_amcache;

	Assert(CritSectionCount == 0);
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted at page %u",
					RelationGetRelationName(rel), pageno),
			 errdetail("%s.", what),
			 ix == NULL ? 0 : fpt_errplace(&ix->map, pageno),
			 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
					 quote_identifier(RelationGetRelationName(rel)))));
}

void
fpt_corrupt_fault(Relation rel, uint32 pageno, const FPTFault *fault)
{
	char	   *where = "";

	Assert(fault->what != NULL && fault->field != NULL);
	if (fault->kid >= 0)
		where = psprintf(", node %d", fault->kid);
	if (fault->rank >= 0)
		where = psprintf("%s, entry %d", where, fault->rank);
	fpt_corrupt(rel, pageno,
				psprintf("Page is not sound: %s (%s is " UINT64_FORMAT "%s)",
						 fault->what, fault->field, fault->value, where));
}

/*
 * See store/buf.h.  A page that is sound in itself is in the wrong place, or
 * comparisons have contradicted each other: no check of it alone can tell.
 */
void
fpt_corrupt_page(Relation rel, const FPTLayout *l, Page page, uint32 pageno)
{
	FPTFault	fault;

	if (PageIsNew(page))
		fpt_corrupt(rel, pageno, "The page is empty");
	if (fpt_page_check_form(l, page, pageno, &fault) != NULL)
		fpt_corrupt_fault(rel, pageno, &fault);
	fpt_corrupt(rel, pageno,
				"The page's entries are not those of its place in the tree");
}

/* --- metapage ------------------------------------------------------------ */

/* The number of bytes of the index's images, or of its heads. */
static int
fpt_rel_keysize(Relation rel, bool general)
{
	if (general)
		return sizeof(uint64);
	return fpt_keytype_for(index_getprocid(rel, 1, FPT_ORDER_PROC),
						   rel->rd_opcintype[0])->keysize;
}

/* Geometries that layouts of this backend have, or had. */
typedef struct FPTKnownGeoms
{
	struct FPTKnownGeoms *next;
	FPTGeoms	geoms;
} FPTKnownGeoms;

/*
 * The same geometries, for ever: layouts are copied, and outlive what they were
 * copied from.  Indexes whose widths no setting forces have one of four, by
 * the size of their keys.  Allocates where there are none yet.
 */
static const FPTGeoms *
fpt_geoms_keep(const FPTGeoms *geoms)
{
	static FPTKnownGeoms *known = NULL;
	FPTKnownGeoms *k;

	for (k = known; k != NULL; k = k->next)
	{
		if (memcmp(&k->geoms, geoms, sizeof(FPTGeoms)) == 0)
			return &k->geoms;
	}
	k = MemoryContextAlloc(TopMemoryContext, sizeof(FPTKnownGeoms));
	k->geoms = *geoms;
	k->next = known;
	known = k;
	return &k->geoms;
}

/*
 * Choose the layout of a new index.  Its indexid is a number by which pages of
 * this file know each other: one of another index, or of an earlier file, has a
 * different one, but for one in 2^32.  Raises an error if the widths that are
 * set leave no usable page.  Reads catalogues; allocates in the current
 * context.
 */
static void
fpt_layout_choose(Relation rel, FPTLayout *layout)
{
	bool		general = fpt_index_is_general(rel);
	int			w = fpt_debug_lines.w;
	int			x = fpt_debug_lines.x;
	int			keysize = fpt_rel_keysize(rel, general);
	bool		nullsfirst = fpt_rel_nullsfirst(rel);
	uint32		indexid = pg_prng_uint32(&pg_global_prng_state);
	FPTGeoms   *geoms = palloc(sizeof(FPTGeoms));
	FPTWidths	widths[FPT_NKW][FPT_NKINDS] = {0};
	bool		ok;

	if (general)
		ok = fpt_choose_widths_general(w, x, widths) &&
			fpt_layout_init_general(layout, geoms, nullsfirst, indexid, widths);
	else
		ok = fpt_choose_widths(keysize, w, x, widths) &&
			fpt_layout_init(layout, geoms, keysize, nullsfirst, indexid,
							widths);
	if (!ok)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("node widths leave no usable page for index \"%s\"",
						RelationGetRelationName(rel)),
				 errhint("Reset fptree.debug_node_lines, or set it to other values.")));
	layout->geoms = fpt_geoms_keep(geoms);
	pfree(geoms);
	if (general)
		fpt_layout_general(rel, layout);
	Assert(fpt_is_general(layout) == general);
	Assert(layout->keysize == keysize);
}

/*
 * See store/buf.h.  pd_lower ends the list of stripes: core leaves out of an
 * image what is behind it, up to pd_upper.
 */
void
fpt_meta_init(Relation rel, Page page, FPTLayout *layout, const Oid *stripes,
			  int nstripes)
{
	FPTMetaData *meta = fpt_meta(page);
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpecial *s = fpt_special(page);
	bool		general;

	Assert(nstripes == 0 ||
		   (nstripes >= FPT_MIN_STRIPES && nstripes <= FPT_MAX_STRIPES));
	fpt_layout_choose(rel, layout);
	general = fpt_is_general(layout);
	memset(page, 0, BLCKSZ);
	h->std.pd_lower = FPT_META_OFFSET + sizeof(FPTMetaData) +
		nstripes * sizeof(Oid);
	h->std.pd_upper = h->std.pd_special = FPT_SPECIAL_OFFSET;
	h->std.pd_pagesize_version = BLCKSZ | PG_PAGE_LAYOUT_VERSION;
	h->flags = FPT_F_META;
	s->pageno = FPT_METAPAGE;
	s->indexid = layout->indexid;
	s->version = FPT_VERSION;
	s->pageid = FPT_PAGE_ID;

	meta->magic = FPT_MAGIC;
	meta->version = nstripes > 0 ? FPT_VERSION_STRIPED : FPT_VERSION;
	meta->indexid = layout->indexid;
	meta->keyclass = fpt_meta_keyclass(general);
	meta->collversion = general ? fpt_collations_version(rel) : 0;
	meta->keysize = layout->keysize;
	meta->nullsfirst = layout->nullsfirst;
	meta->descending = fpt_rel_descending(rel);
	meta->linesize = FPT_LINE;
	meta->nstripes = Max(nstripes, 1);
	meta->root = FPT_FIRSTPAGE;
	memcpy(meta->widths, layout->geoms->widths, sizeof(meta->widths));
	if (nstripes > 0)
		memcpy(fpt_meta_oids(page), stripes, nstripes * sizeof(Oid));
	Assert(h->std.pd_lower <= h->std.pd_upper);
}

/*
 * Check a metapage against the catalogue's idea of the index; copy it to *ix.
 * Returns the number of stripes, their OIDs in *oids.  The page is a copy, as
 * catalogues are read.  Raises an error if it is not this index's metapage, or
 * of another version of the format.
 *
 * All that scans derive from a metapage is checked here, once: key class and
 * size against the definition, order, node widths by fpt_layout_init(), which
 * refuses what would lead beyond a page.
 */
static int
fpt_meta_read(Relation rel, Page page, FPTIndex *ix, Oid *oids)
{
	FPTMetaData *meta = fpt_meta(page);
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpecial *s = fpt_special(page);
	bool		general = fpt_index_is_general(rel);
	FPTGeoms   *geoms;
	int			nstripes;
	bool		ok;

	if (PageIsNew(page))
		fpt_corrupt(rel, FPT_METAPAGE, "The metapage is empty");
	if (s->pageid != FPT_PAGE_ID || s->pageno != FPT_METAPAGE ||
		!(h->flags & FPT_F_META) || meta->magic != FPT_MAGIC)
		fpt_corrupt(rel, FPT_METAPAGE, "The metapage is not one of fptree");
	if ((meta->version != FPT_VERSION &&
		 meta->version != FPT_VERSION_STRIPED) || s->version != FPT_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has on-disk format version %u, this fptree reads version %u",
						RelationGetRelationName(rel), meta->version,
						FPT_VERSION_STRIPED),
				 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
						 quote_identifier(RelationGetRelationName(rel)))));
	if (general && meta->keyclass == FPT_KEYCLASS_SORTKEY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" was built with sort keys of its collation",
						RelationGetRelationName(rel)),
				 errdetail("Sort keys of ICU contradict its comparison of some strings, so that searches could give wrong results."),
				 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
						 quote_identifier(RelationGetRelationName(rel)))));
	nstripes = fpt_meta_stripes(page, oids);
	if (nstripes < 0)
		fpt_corrupt(rel, FPT_METAPAGE, "The metapage is not one of fptree");
	ix->type = fpt_keytype_for(index_getprocid(rel, 1, FPT_ORDER_PROC),
							   rel->rd_opcintype[0]);
	ix->descending = meta->descending;
	ix->collversion = meta->collversion;
	if (general)
		ix->type = NULL;
	if (meta->keyclass != fpt_meta_keyclass(general) ||
		meta->keysize != fpt_rel_keysize(rel, general) ||
		meta->linesize != FPT_LINE || meta->nstripes != Max(nstripes, 1) ||
		meta->indexid != s->indexid || meta->sortversion != 0 ||
		!fpt_meta_root_valid(meta) ||
		meta->descending != fpt_rel_descending(rel) ||
		meta->nullsfirst != fpt_rel_nullsfirst(rel))
		fpt_corrupt(rel, FPT_METAPAGE,
					"The metapage does not match the index's definition");
	geoms = palloc(sizeof(FPTGeoms));
	if (general)
		ok = fpt_layout_init_general(&ix->layout, geoms, meta->nullsfirst,
									 meta->indexid, meta->widths);
	else
		ok = fpt_layout_init(&ix->layout, geoms, meta->keysize,
							 meta->nullsfirst, meta->indexid, meta->widths);
	if (!ok)
		fpt_corrupt(rel, FPT_METAPAGE, "The metapage has impossible node widths");
	ix->layout.geoms = fpt_geoms_keep(geoms);
	pfree(geoms);
	ix->root = meta->root;
	ix->rootlevel = 0;
	ix->lastleaf = FPT_NOPAGE;
	ix->vain.skip = ix->vain.last = 0;
	ix->map.npages = 0;
	ix->map.stripes = NULL;
	return nstripes;
}

/*
 * See store/buf.h.  The metapage is locked last, whatever else is (L2), and
 * nothing is waited for meanwhile.
 */
bool
fpt_find_root(Relation rel, FPTIndex *ix)
{
	Buffer		buf = fpt_rawread_meta(rel);
	FPTMetaData *meta = fpt_meta(BufferGetPage(buf));
	FPTIndex   *cached = (FPTIndex *) rel->rd_amcache;
	uint32		was = ix->root;
	bool		ok;

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	ok = meta->magic == FPT_MAGIC && meta->indexid == ix->layout.indexid &&
		fpt_meta_root_valid(meta);
	if (ok)
		ix->root = meta->root;
	UnlockReleaseBuffer(buf);
	if (!ok || (ix->root != was && was != FPT_FIRSTPAGE))
		fpt_corrupt(rel, FPT_METAPAGE,
					"The metapage does not say where the root is");
	if (cached != NULL && cached->layout.indexid == ix->layout.indexid)
		cached->root = ix->root;
	return ix->root != was;
}

Buffer
fpt_lock_meta(Relation rel)
{
	Buffer		buf = fpt_rawread_meta(rel);

	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	return buf;
}

void
fpt_layout_general(Relation rel, FPTLayout *layout)
{
	FPTGeneral *g = palloc(fpt_general_size(rel));

	Assert(fpt_index_is_general(rel));
	fpt_general_init(rel, g);
	layout->cmp = fpt_general_compare;
	layout->separate = fpt_general_separate;
	layout->begin = NULL;
	layout->cut = NULL;
	if (g->prefixes)
	{
		layout->begin = fpt_general_begin;
		layout->cut = fpt_general_cut;
	}
	layout->arg = g;
}

/*
 * Hang a description on the relcache entry; frees what it points to, of which
 * the copies are behind it in the one chunk that the relcache frees.  Reads
 * catalogues; may raise, and the relcache entry has no description then.
 */
static void
fpt_index_keep(Relation rel, FPTIndex *ix)
{
	static uint64 serial = 0;
	bool		general = fpt_index_is_general(rel);
	FPTStripes *st = ix->map.stripes;
	Size		stripes = MAXALIGN(sizeof(FPTIndex));
	Size		size = stripes;
	char	   *chunk;

	Assert((ix->type == NULL) == general);
	ix->serial = ++serial;
	if (st != NULL)
		size += MAXALIGN(fpt_stripes_size(st->n));
	if (general)
	{
		const FPTGeneral *g;

		/* This looks up catalogues, which may take away what there is. */
		fpt_layout_general(rel, &ix->layout);
		g = ix->layout.arg;
		ix->headless = g->head.nparts == 0;
		ix->unsure = fpt_general_unsure(g);
		ix->stale = ix->collversion != 0 &&
			fpt_collations_version(rel) != ix->collversion;
	}
	chunk = MemoryContextAlloc(rel->rd_indexcxt,
							   size + (general ? fpt_general_size(rel) : 0));
	if (general)
	{
		memcpy(chunk + size, ix->layout.arg, fpt_general_size(rel));
		pfree(unconstify(void *, ix->layout.arg));
		ix->layout.arg = chunk + size;
	}
	if (st != NULL)
	{
		memcpy(chunk + stripes, st, fpt_stripes_size(st->n));
		pfree(st);
		ix->map.stripes = (FPTStripes *) (chunk + stripes);
	}
	Assert(rel->rd_amcache == NULL);
	memcpy(chunk, ix, sizeof(FPTIndex));
	rel->rd_amcache = chunk;
}

/*
 * See store/buf.h.  Looking up types or stripes may process an invalidation,
 * which is no harm: rd_amcache is set last, and in one go.
 */
FPTIndex *
fpt_index(Relation rel)
{
	if (unlikely(rel->rd_amcache == NULL))
	{
		FPTIndex	ix;
		PGAlignedBlock copy;
		Oid			oids[FPT_MAX_STRIPES];
		int			nstripes;

		Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
		memset(&ix, 0, sizeof(ix));

		/* Looking up the type may read catalogues: not under the lock. */
		fpt_copy_page(rel, &ix.map, FPT_METAPAGE, NULL, copy.data);
		nstripes = fpt_meta_read(rel, (Page) copy.data, &ix, oids);
		Assert(nstripes <= (int) lengthof(oids));
		if (nstripes > 0)
			ix.map.stripes = fpt_stripes_load(rel, oids, nstripes);
		fpt_index_keep(rel, &ix);
	}
	return (FPTIndex *) rel->rd_amcache;
}

void
fpt_index_copy(Relation rel, FPTIndex *ix)
{
	FPTIndex   *cached = fpt_index(rel);

	Assert(ix != cached);
	memcpy(ix, cached, sizeof(FPTIndex));
	fpt_map_own(&ix->map);
	if (fpt_is_general(&ix->layout))
	{
		Size		size = fpt_general_size(rel);
		char	   *g = palloc(size);

		memcpy(g, cached->layout.arg, size);
		ix->layout.arg = g;
	}
}

/*
 * See store/buf.h.  With other versions of a collation the order is a guess,
 * and core goes on with a warning: so do we.
 */
void
fpt_index_current(Relation rel, const FPTIndex *ix)
{
	if (likely(!ix->stale))
		return;
	Assert(ix->collversion != 0);
	fpt_warn_stale(rel);
}

void
fpt_warn_strayed(Relation rel, FPTIndex *ix)
{
	static List *told = NIL;

	if (likely(!ix->strayed))
		return;
	ix->strayed = false;
	if (!fpt_first_time(&told, RelationGetRelid(rel)))
		return;
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("comparisons of keys of index \"%s\" contradict each other",
					RelationGetRelationName(rel)),
			 errdetail("The operator class or the collation gives its values no order, or not the one that they were put in.  Searches may miss rows."),
			 errhint("Run \"REINDEX INDEX %s;\" if the order has changed; if it is none, have no index on these values.",
					 quote_identifier(RelationGetRelationName(rel)))));
}

/* See store/buf.h.  VACUUM asks indisready, as the executor does. */
bool
fpt_index_is_dead(Relation rel)
{
	HeapTuple	tup;
	bool		dead;

	AcceptInvalidationMessages();
	tup = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(RelationGetRelid(rel)));
	if (!HeapTupleIsValid(tup))
		return false;
	dead = !((Form_pg_index) GETSTRUCT(tup))->indisready;
	ReleaseSysCache(tup);
	return dead;
}

/* --- pages --------------------------------------------------------------- */

/* Read any page by its number, which may come from a damaged link. */
static inline Buffer
fpt_readpage(Relation rel, FPTIndex *ix, uint32 pageno,
			 BufferAccessStrategy strategy)
{
	if (unlikely(!fpt_page_exists(rel, &ix->map, pageno)))
		fpt_corrupt(rel, pageno, "A link points beyond the end of the index");
	return fpt_rawread(rel, &ix->map, pageno, strategy);
}

void
fpt_check_buffer(Relation rel, FPTIndex *ix, Buffer buf, uint32 pageno)
{
	Assert(fpt_buffer_locked(buf, false));
	if (unlikely(!fpt_page_sane(&ix->layout, BufferGetPage(buf), pageno)))
		fpt_corrupt_page(rel, &ix->layout, BufferGetPage(buf), pageno);
}

/* Header, in-page root and fences: what any visit of a page needs, at once. */
static inline void
fpt_page_prefetch(const FPTLayout *l, const char *page)
{
	fpt_prefetch(page);
	fpt_prefetch(page + FPT_LINE);
	fpt_prefetch(page + 2 * FPT_LINE);
	/* tuples of fences, and the special line */
	if (unlikely(fpt_is_general(l)))
		fpt_prefetch(page + FPT_SPECIAL_OFFSET - FPT_LINE);
	fpt_prefetch(page + FPT_SPECIAL_OFFSET);
}

/*
 * Lock a pinned page and check it.  Returns with pin and lock.  Raises an
 * error, with the pin given back, if the lock is ours already (L9); or if the
 * page is not sane.  Waits for the lock, which nothing can cancel.
 */
static inline void
fpt_lock_read(Relation rel, FPTIndex *ix, Buffer buf, uint32 pageno, int lock)
{
	Assert(lock == BUFFER_LOCK_SHARE || lock == BUFFER_LOCK_EXCLUSIVE);
	/* Nothing would ever notice, or end, a wait for ourselves (L9). */
	if (unlikely(fpt_buffer_is_mine(buf)))
	{
		ReleaseBuffer(buf);
		fpt_corrupt(rel, pageno, "A link leads back to a page that led to it");
	}

	fpt_stop_point(FPT_STOP_LOCK_PAGE);
	fpt_stop_if_busy(FPT_STOP_LOCK_BUSY, buf);
	LockBuffer(buf, lock);
	fpt_check_buffer(rel, ix, buf, pageno);
}

/*
 * Where pages were found last, by all indexes of this backend.  A right guess
 * saves the search in the buffer mapping table, a third of the time of a
 * lookup in a large cached index.  fpt_rawread_recent() verifies it, but does
 * not tell the clock sweep that the page is in use, so some visits go the
 * usual way: fewer of those of inner pages, which are visited a hundred times
 * as often as the pages below.  Pages that are neighbours in the file do not
 * compete.
 */
#define FPT_HOT_SIZE		32768	/* a power of two; 256 kB, used by need */
#define FPT_HOT_USES		17	/* primes: no level is left out for ever */
#define FPT_HOT_INNER_USES	127

/*
 * A place of a page in shared buffers, as of the last visit.  Both may be out
 * of date, and "key" be that of another page with the same hash.
 */
typedef struct FPTHotBuffer
{
	uint32		key;			/* of relation and page */
	Buffer		buf;
} FPTHotBuffer;

static FPTHotBuffer fpt_hot[FPT_HOT_SIZE];

/*
 * The buffer that a page was in last, which is remembered in *hot, or
 * InvalidBuffer.
 */
static inline Buffer
fpt_hot_find(Relation rel, uint32 pageno, uint32 *key, FPTHotBuffer **hot)
{
	*key = fpt_relnumber(rel) * 2654435761U + pageno;
	*hot = &fpt_hot[*key % FPT_HOT_SIZE];
	return (*hot)->key == *key && (*hot)->buf > 0 ? (*hot)->buf : InvalidBuffer;
}

/* See store/buf.h. */
void
fpt_page_await(Relation rel, const FPTLayout *l, uint32 pageno)
{
	uint32		key;
	FPTHotBuffer *hot;
	Buffer		buf = fpt_hot_find(rel, pageno, &key, &hot);

	if (buf != InvalidBuffer)
	{
		fpt_prefetch(GetBufferDescriptor(buf - 1));
		fpt_page_prefetch(l, BufferGetPage(buf));
	}
}

/* See store/buf.h.  Without a guess that has proved right it is too much. */
void
fpt_page_await_node(Relation rel, const FPTIndex *ix, uint32 pageno,
					uint32 fraction)
{
	uint32		key;
	FPTHotBuffer *hot;
	Buffer		buf = fpt_hot_find(rel, pageno, &key, &hot);

	if (buf != InvalidBuffer)
	{
		char	   *page = BufferGetPage(buf);

		fpt_prefetch(GetBufferDescriptor(buf - 1));
		fpt_page_prefetch(&ix->layout, page);
		if (fraction < FPT_GUESS_INNER && ix->guess.score > 0)
			fpt_guess_lines(&ix->guess, page,
							(ix->guess.nkids * fraction) >> 16);
	}
}

/* See store/buf.h. */
Buffer
fpt_getbuf_hot(Relation rel, FPTIndex *ix, uint32 pageno, int lock,
			   uint32 fraction)
{
	static uint32 uses = 0;
	uint32		every = fraction == FPT_GUESS_INNER ?
		FPT_HOT_INNER_USES : FPT_HOT_USES;
	uint32		key;
	FPTHotBuffer *hot;
	Buffer		buf = fpt_hot_find(rel, pageno, &key, &hot);

	/*
	 * Where the page would be is known before it is known to be there, so that
	 * a node can come along with the lines that fpt_page_await() has asked for.
	 */
	if (buf != InvalidBuffer && fraction < FPT_GUESS_INNER)
		fpt_guess_prefetch(&ix->guess, BufferGetPage(buf), fraction);
	fpt_stop_point(FPT_STOP_GUESS);

	/* A temporary index may share its number with another backend's file. */
	if (RelationUsesLocalBuffers(rel))
		buf = fpt_readpage(rel, ix, pageno, NULL);
	else if (buf != InvalidBuffer && ++uses % every != 0 &&
			 fpt_rawread_recent(rel, &ix->map, pageno, buf))
	{
		pgstat_count_buffer_read(rel);
		pgstat_count_buffer_hit(rel);
	}
	else
	{
		buf = fpt_readpage(rel, ix, pageno, NULL);
		hot->key = key;
		hot->buf = buf;
	}
	fpt_lock_read(rel, ix, buf, pageno, lock);
	return buf;
}

/*
 * Lines at the beginning of a leaf that is read next: header, root, the first
 * nodes.  What follows is brought by the processor's own read-ahead, and by
 * fpt_page_copy() where the nodes are out of order.  What fewer or more of them
 * gain, section 9 of src/scan/README.md says.
 */
#define FPT_EXPECT_LINES	12

void
fpt_page_expect(Relation rel, uint32 pageno)
{
	uint32		key;
	FPTHotBuffer *hot;
	Buffer		buf = fpt_hot_find(rel, pageno, &key, &hot);

	if (buf != InvalidBuffer)
	{
		char	   *page = BufferGetPage(buf);
		int			i;

		for (i = 0; i < FPT_EXPECT_LINES; i++)
			fpt_prefetch(page + i * FPT_LINE);
		fpt_prefetch(page + FPT_SPECIAL_OFFSET);
	}
}

Buffer
fpt_getbuf_extended(Relation rel, FPTIndex *ix, uint32 pageno, int lock,
					BufferAccessStrategy strategy)
{
	Buffer		buf = fpt_readpage(rel, ix, pageno, strategy);

	if (lock != 0)
	{
		fpt_page_prefetch(&ix->layout, BufferGetPage(buf));
		fpt_lock_read(rel, ix, buf, pageno, lock);
	}
	return buf;
}

Buffer
fpt_getbuf(Relation rel, FPTIndex *ix, uint32 pageno, int lock)
{
	return fpt_getbuf_extended(rel, ix, pageno, lock, NULL);
}

void
fpt_leave_hints(const FPTLayout *l, Buffer buf, const uint16 *slotids,
				const uint64 *tids, const int *which, int n)
{
	Page		page = BufferGetPage(buf);
	bool		dirty = false;

	Assert(fpt_buffer_locked(buf, false));
	if (!fpt_page_has_hints(l, page) || !fpt_hints_begin(buf))
		return;
	for (int i = 0; i < n; i++)
	{
		int			e = which != NULL ? which[i] : i;

		Assert(e >= 0);
		if (fpt_page_slot_is(l, page, slotids[e], tids[e]))
		{
			fpt_page_hint_set(l, page, slotids[e]);
			dirty = true;
		}
	}
	fpt_hints_end(buf, dirty);
}
