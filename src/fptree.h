/*-------------------------------------------------------------------------
 *
 * fptree.h
 *	  In-memory declarations of the fptree access method.
 *
 * Layers, each calling only downwards:
 *
 *	  page kernel		fpt_kernel.c fpt_modify.c fpt_pagecheck.c fpt_simd.c
 *						fpt_geom.c
 *	  keys				fpt_image.c fpt_sortkey.c fpt_head.c fpt_collation.c
 *						fpt_general.c
 *	  buffers and WAL	fpt_place.c fpt_buf.c fpt_wal.c fpt_stop.c
 *	  tree				fpt_search.c fpt_insert.c fpt_unique.c fpt_split.c
 *						fpt_delete.c fpt_prefetch.c fpt_counts.c fpt_vacuum.c
 *						fpt_build.c fpt_sort.c fpt_load.c
 *	  scan				fpt_scankey.c fpt_qual.c fpt_heapahead.c fpt_parallel.c
 *						fpt_scan.c
 *	  AM and SQL		fpt_am.c fpt_cost.c fpt_validate.c fpt_check.c
 *						fpt_heapcheck.c fpt_inspect.c fpt_stats.c fpt_hooks.c
 *						fpt_plan.c fpt_preload.c
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPTREE_H
#define FPTREE_H

#include "postgres.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "access/itup.h"
#include "access/relscan.h"
#include "access/skey.h"
#include "nodes/execnodes.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/array.h"
#include "utils/rel.h"

#include "fpt_compat.h"
#include "fpt_image.h"
#include "fpt_kernel.h"
#include "fpt_place.h"
#include "fpt_stop.h"

/* Support functions of an operator class, numbered as btree's. */
#define FPT_ORDER_PROC		1
#define FPT_SORTSUPPORT_PROC 2
#define FPT_INRANGE_PROC	3
#define FPT_EQUALIMAGE_PROC 4
#define FPT_OPTIONS_PROC	5
#define FPT_NPROCS			5

/* Reloptions */
typedef struct FPTOptions
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	int			fillfactor;		/* percent of a leaf page's slots, at build */
	int			node_lines;		/* w: lines of nonleaf nodes, 0 = goal G */
	int			leaf_node_lines;	/* x: lines of leaf nodes, 0 = goal G */
	int			tablespaces;	/* where the list of them is, 0: none */
} FPTOptions;

#define FPT_DEFAULT_FILLFACTOR	90
#define FPT_FEW_FILLFACTOR		96	/* the default where keys take a byte */
#define FPT_MIN_FILLFACTOR		10
#define FPT_INNER_FILLFACTOR	90	/* bulk-built inner pages */
#define FPT_MAX_NODE_LINES		32

/*
 * What a backend knows of an open index, hung on rd_amcache as one chunk.
 * Everything in it but the hints is constant for the life of a relfilenode.
 *
 * A relcache invalidation frees it.  Whoever runs foreign code in between
 * (heap visibility checks, waiting for transactions, build and vacuum
 * callbacks, comparison functions of general keys) works on a copy or fetches
 * it again.  Of general keys an FPTGeneral is behind it, layout.arg; of a
 * striped index its stripes, map.stripes.
 */
typedef struct FPTIndex
{
	FPTLayout	layout;
	const FPTKeyType *type;		/* static table entry */
	bool		descending;
	bool		sortkeys;		/* FPT_KEYCLASS_SORTKEY */
	uint32		sortversion;
	uint32		collversion;
	bool		stale;			/* one of these two is another one by now */
	bool		headless;		/* heads of all keys are the same */
	uint64		serial;			/* number of this description, in the backend */
	int			rootlevel;		/* hint, as of the last descent */
	uint32		lastleaf;		/* hint: rightmost leaf, if inserted to last */
	FPTPageMap	map;			/* where its pages lie */
	FPTGuess	guess;			/* of nodes of leaves */
} FPTIndex;

/* --- fpt_buf.c: metapage, reading and checking pages --------------------- */

/* The index's description, read from the metapage the first time. */
extern FPTIndex *fpt_index(Relation rel);

/* A copy of it; what it points to is in the current context. */
extern void fpt_index_copy(Relation rel, FPTIndex *ix);

/*
 * Raise an error if sort keys in the index are not those of the collation as it
 * is now, and warn if it has been built with another version of any collation.
 * Before keys are looked for that were not in the index already.
 */
extern void fpt_index_current(Relation rel, const FPTIndex *ix);

/*
 * Prepare the contents of a new index's metapage (layout chosen here); nstripes
 * 0: it is not striped.
 */
extern void fpt_meta_init(Relation rel, Page page, FPTLayout *layout,
						  const Oid *stripes, int nstripes);

/*
 * Describe the index's general keys in a layout; in the current context.  Heads
 * may be made of sort keys, or may not.
 */
extern void fpt_layout_general(Relation rel, FPTLayout *layout, bool sortkeys);

/*
 * Read a page and lock it (BUFFER_LOCK_SHARE, _EXCLUSIVE, or 0 for pin only).
 * The page has passed fpt_page_sane(): anything else is ERRCODE_INDEX_CORRUPTED.
 * Deleted pages are returned as well: the caller's fence check sorts them out.
 */
extern Buffer fpt_getbuf(Relation rel, FPTIndex *ix, uint32 pageno, int lock);

/* Raise ERRCODE_INDEX_CORRUPTED about a page. */
extern void fpt_corrupt(Relation rel, uint32 pageno, const char *what)
			__attribute__((noreturn));

/* The same: what fpt_page_check() found wrong with the page. */
extern void fpt_corrupt_fault(Relation rel, uint32 pageno,
							  const FPTFault *fault)
			__attribute__((noreturn));

/*
 * The same, of a page whose contents stopped an operation: a check says what is
 * wrong with them, without comparing general keys.  The page is locked, or a
 * copy.
 */
extern void fpt_corrupt_page(Relation rel, const FPTLayout *l, Page page,
							 uint32 pageno)
			__attribute__((noreturn));

/*
 * The same, guessing the buffer by where this backend saw the page last; if it
 * is a leaf, with the fraction from fpt_page_fraction() to guess the node by.
 */
#define FPT_NO_GUESS		PG_UINT32_MAX

extern Buffer fpt_getbuf_hot(Relation rel, FPTIndex *ix, uint32 pageno,
							 int lock, uint32 fraction);

/* A page will be read soon: bring its first lines, if it is known where. */
extern void fpt_page_expect(Relation rel, uint32 pageno);

/* The same with a buffer access strategy. */
extern Buffer fpt_getbuf_extended(Relation rel, FPTIndex *ix, uint32 pageno,
								  int lock, BufferAccessStrategy strategy);

/*
 * The check itself, for pages that were locked by other means; pageno: the one
 * by which the page was read.
 */
extern void fpt_check_buffer(Relation rel, FPTIndex *ix, Buffer buf,
							 uint32 pageno);

/* --- fpt_collation.c: versions of collations -------------------------------- */

/*
 * A hash of the versions of all collations that an index's order depends on; 0:
 * there are none.
 */
extern uint32 fpt_collations_version(Relation rel);

/* Warn, once in a session, of an index with other ones (FPTIndex.stale). */
extern void fpt_warn_stale(Relation rel);

/* --- TIDs ------------------------------------------------------------------ */

static inline uint64
fpt_tid_encode(ItemPointer tid)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

StaticAssertDecl(sizeof(BlockIdData) == sizeof(BlockNumber),
				 "block numbers are no two halves");

static inline void
fpt_tid_decode(uint64 tid, ItemPointer out)
{
	BlockNumber block = (BlockNumber) (tid >> 16);

	/* both halves of the block number in one go, the upper one first */
#ifndef WORDS_BIGENDIAN
	block = (block << 16) | (block >> 16);
#endif
	memcpy(&out->ip_blkid, &block, sizeof(block));
	out->ip_posid = (OffsetNumber) (tid & 0xFFFF);
}

/* --- keys -------------------------------------------------------------------- */

/* Key of an index entry, in the index's order (DESC, NULLS placement). */
static inline void
fpt_form_key(FPTIndex *ix, Datum value, bool isnull, uint64 tid, FPTKey *key)
{
	memset(key, 0, sizeof(FPTKey));
	key->tid = tid;
	if (isnull)
		key->cls = ix->layout.nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;
	else
	{
		FPTImage	img;

		fpt_image_encode(ix->type, value, &img);
		if (ix->descending)
			fpt_image_invert(ix->type, &img);
		key->hi = img.hi;
		key->lo = img.lo;
		key->cls = FPT_CLS_VALUE;
	}
}

/* --- fpt_scankey.c: quals to ranges ------------------------------------------ */

/* A range's ends are inclusive, TIDs 0 and FPT_MAX_TID, classes too. */
typedef struct FPTRange
{
	FPTKey		lo;
	FPTKey		hi;
} FPTRange;

/*
 * What is kept of each of an array's ranges, of which there may be millions:
 * the images a .. b, or where images have 16 bytes the image of these halves.
 */
typedef struct FPTSpan
{
	uint64		a;
	uint64		b;
} FPTSpan;

/*
 * A scan's quals as ranges in the index's order, ascending and disjoint.  A
 * NULL range runs from (NULL, 0) to (NULL, FPT_MAX_TID).
 */
typedef struct FPTRanges
{
	int			n;				/* 0: the quals contradict each other */
	FPTSpan    *spans;			/* several; NULL: there is one at most, */
	FPTRange	one;			/* which is here */
	bool		recheck;		/* entries in them may not match: xs_recheck */
	struct FPTQualWork *work;	/* fpt_scankey.c's own, kept over rescans */
} FPTRanges;

/* The range of a span. */
static inline void
fpt_span_range(const FPTLayout *l, FPTSpan s, FPTRange *range)
{
	bool		wide = l->keysize == 16;

	memset(range, 0, sizeof(FPTRange));
	range->lo.hi = wide ? s.a : 0;
	range->lo.lo = wide ? s.b : s.a;
	range->lo.cls = FPT_CLS_VALUE;
	range->hi.hi = range->lo.hi;
	range->hi.lo = s.b;
	range->hi.tid = FPT_MAX_TID;
	range->hi.cls = FPT_CLS_VALUE;
}

/* The i'th range; *buf is overwritten. */
static inline const FPTRange *
fpt_range(const FPTLayout *l, const FPTRanges *ranges, int i, FPTRange *buf)
{
	Assert(i >= 0 && i < ranges->n);
	if (likely(ranges->spans == NULL))
		return &ranges->one;
	fpt_span_range(l, ranges->spans[i], buf);
	return buf;
}

/*
 * Compute the ranges of a scan's keys.  "ranges" is zeroed by the first caller
 * and may be passed again at a rescan: memory is reused.
 */
extern void fpt_preprocess_keys(Relation rel, FPTIndex *ix, ScanKey keys,
								int nkeys, MemoryContext cxt,
								FPTRanges *ranges);

/* The executor has passed a key that no index scan has: an internal error. */
extern void fpt_reject_key(Relation rel, ScanKey key)
			__attribute__((noreturn));

/* Steps through an array's elements without an array of Datums. */
typedef struct FPTElements
{
	ArrayType  *array;
	bool		ours;			/* detoasted or flattened: to be freed */
	int			n;				/* number of elements */
	int			i;
	char	   *next;
	uint8	   *nulls;			/* bitmap; NULL: there are none */
	int16		typlen;
	bool		typbyval;
	char		typalign;
} FPTElements;

extern void fpt_elements_begin(FPTElements *e, Datum arg);

/* The next element that is not NULL; false if there is none. */
static inline bool
fpt_elements_next(FPTElements *e, Datum *value)
{
	while (e->i < e->n)
	{
		int			i = e->i++;

		if (e->nulls != NULL && (e->nulls[i / 8] & (1 << (i % 8))) == 0)
			continue;
		*value = fetch_att(e->next, e->typbyval, e->typlen);
		e->next = att_addlength_pointer(e->next, e->typlen, e->next);
		e->next = (char *) att_align_nominal(e->next, e->typalign);
		return true;
	}
	return false;
}

/* Comparison function of a column's type with another one of its family. */
extern void fpt_lookup_cross(Relation rel, int i, Oid subtype,
							 MemoryContext cxt, FmgrInfo *cmp);

/* --- fpt_wal.c: the one place that writes WAL ------------------------------ */

/*
 * Insert an entry into a free slot of a locked page, logged by hand.  Anything
 * but FPT_OK: nothing was changed.
 */
extern FPTResult fpt_wal_insert(Relation rel, FPTIndex *ix, Buffer buf,
								const FPTEntry *e);

/*
 * Any other change: up to four pages in one record.  fpt_wal_page() gives a
 * private copy of a locked page to be changed (blank = new contents, logged
 * whole: W3); fpt_wal_finish() applies and logs all of them in one critical
 * section (W1), fpt_wal_abort() forgets them.
 */
typedef struct GenericXLogState FPTWal;

extern FPTWal *fpt_wal_start(Relation rel, const FPTLayout *l);
extern Page fpt_wal_page(FPTWal *wal, Buffer buf, bool blank);
extern void fpt_wal_finish(FPTWal *wal);
extern void fpt_wal_abort(FPTWal *wal);

/*
 * Entries of rows that snapshots older than "horizon" may see are about to be
 * removed: have standbys cancel queries that hold such a snapshot.
 */
extern void fpt_wal_conflict(Relation rel, Relation heapRel, uint32 pageno,
							 TransactionId horizon);

/* --- fpt_search.c ------------------------------------------------------------------ */

/*
 * All keys that btree's comparison calls equal to this one, whatever their
 * TIDs.  NULLs equal each other here.
 */
extern void fpt_equal_range(FPTIndex *ix, const FPTKey *key, FPTKey *lo,
							FPTKey *hi);

/*
 * The key just below an exclusive bound: the page that covers it is the one to
 * the left of the bound.
 */
extern FPTKey fpt_key_before(const FPTIndex *ix, const FPTKey *bound);

/* Page numbers of the path of a descent, by level; hints, not trusted. */
typedef struct FPTStack
{
	int			rootlevel;
	uint32		page[FPT_MAX_LEVEL + 1];
} FPTStack;

/*
 * Descend to the page of "level" that covers key, locked as asked (the pages
 * above are share-locked, one at a time).  stack may be NULL.
 */
extern Buffer fpt_descend(Relation rel, FPTIndex *ix, const FPTKey *key,
						  int level, int lock, FPTStack *stack);

/*
 * Of a descent to the first leaf of a range: "start" is called before that leaf
 * is read, if the range goes on behind it.  No page is locked then.
 */
typedef struct FPTLook
{
	int			dir;
	const FPTKey *end;			/* of the range, in this direction */
	void		(*start) (void *arg, uint32 leaf);	/* NULL: do not look */
	void	   *arg;
} FPTLook;

/* The same to a leaf, to read, looking. */
extern Buffer fpt_descend_looking(Relation rel, FPTIndex *ix,
								  const FPTKey *key, const FPTLook *look);

/*
 * The same for what can be done without: one attempt, and InvalidBuffer (no
 * lock) where it ends at a page that does not cover the key.  An index in the
 * order of another version of a comparison function may have no such page.
 */
extern Buffer fpt_descend_try(Relation rel, FPTIndex *ix, const FPTKey *key,
							  int level, int lock);

/*
 * Starting from a locked page whose number somebody remembered: the page of
 * "level" that covers key, or InvalidBuffer (and no lock) if this page is not
 * on the way to it.
 */
extern Buffer fpt_moveright(Relation rel, FPTIndex *ix, Buffer buf,
							const FPTKey *key, int level, int lock);

/* --- fpt_build.c --------------------------------------------------------------------- */
extern IndexBuildResult *fptbuild(Relation heap, Relation index,
								  IndexInfo *indexInfo);
extern void fptbuildempty(Relation index);
extern char *fptbuildphasename(int64 phasenum);

/* --- fpt_delete.c: removing entries of a leaf -------------------------------- */

/* Remove the entries that dead[], in key order, marks from a locked leaf. */
extern void fpt_leaf_remove(Relation rel, const FPTLayout *l, Buffer buf,
							const bool *dead);

/* What an insertion knows that helps to find entries of dead rows. */
typedef struct FPTDelete
{
	Relation	heapRel;
	bool		versions;		/* the entry is one of a new version of a row
								 * whose old entries are equal to it */
	bool		unique;			/* uniqueness was checked: equal entries are
								 * old versions */
	int			stage;			/* what was tried; 0 at first */
} FPTDelete;

/*
 * An exclusively locked leaf has no room for e: remove entries of dead rows, if
 * there are any that have not been looked for.  False: split it.  Asks the
 * table, so that relcache invalidations may be processed: *ix is the caller's
 * copy.
 */
extern bool fpt_delete_step(Relation rel, FPTIndex *ix, Buffer buf,
							const FPTEntry *e, FPTDelete *del);

/* --- fpt_finddisk.c ---------------------------------------------------------- */

/*
 * If the index is striped: where the new right sibling of a page that is going
 * to be split belongs, or one of the halves of the root; other: the page of the
 * other half, or FPT_NOPAGE.  The page is locked; its parent, by its number in
 * the stack, and siblings of this are locked for a moment, one at a time, if
 * that does not take waiting.
 */
extern void fpt_find_disk(Relation rel, FPTIndex *ix, Buffer buf,
						  const FPTStack *stack, uint32 other,
						  FPTStripeOrder *order);

/* --- fpt_split.c: making room ------------------------------------------------ */

/*
 * Insert an entry into a locked page that had no free slot for it: inside the
 * page if possible, else by splitting it.  Releases the page.  childbuf, for
 * inner pages: the locked left page of a split whose downlink e is; its
 * incomplete-split flag goes in the same record.  It stays locked.  del, for
 * leaves: how to look for dead entries before the split.
 */
extern void fpt_insert_hard(Relation rel, FPTIndex *ix, Buffer buf,
							const FPTEntry *e, Buffer childbuf,
							FPTStack *stack, FPTDelete *del);

/* Give a locked page's new right sibling its downlink; releases buf. */
extern void fpt_finish_split(Relation rel, FPTIndex *ix, Buffer buf,
							 FPTStack *stack);

/* --- fpt_unique.c ----------------------------------------------------------- */

/*
 * Look for a conflicting entry, from the locked leaf that covers (key, 0) on.
 * Returns the transaction to wait for (buf still locked), or an invalid one;
 * *is_unique false: a possible conflict was found (UNIQUE_CHECK_PARTIAL).
 */
extern TransactionId fpt_check_unique(Relation rel, FPTIndex *ix, Buffer buf,
									  const FPTKey *key, Relation heapRel,
									  Datum *values, bool *isnull,
									  IndexUniqueCheck checkUnique,
									  bool *is_unique,
									  uint32 *speculativeToken);

/* --- fpt_insert.c ------------------------------------------------------------ */
extern bool fptinsert(Relation rel, Datum *values, bool *isnull,
					  ItemPointer ht_ctid, Relation heapRel,
					  IndexUniqueCheck checkUnique, bool indexUnchanged,
					  IndexInfo *indexInfo);

/* --- fpt_vacuum.c --------------------------------------------------------------------- */
extern IndexBulkDeleteResult *fptbulkdelete(IndexVacuumInfo *info,
											IndexBulkDeleteResult *stats,
											IndexBulkDeleteCallback callback,
											void *callback_state);
extern IndexBulkDeleteResult *fptvacuumcleanup(IndexVacuumInfo *info,
											   IndexBulkDeleteResult *stats);

/* --- fpt_scan.c ------------------------------------------------------------------------ */
extern IndexScanDesc fptbeginscan(Relation rel, int nkeys, int norderbys);
extern void fptrescan(IndexScanDesc scan, ScanKey scankey, int nscankeys,
					  ScanKey orderbys, int norderbys);
extern bool fptgettuple(IndexScanDesc scan, ScanDirection dir);
extern int64 fptgetbitmap(IndexScanDesc scan, TIDBitmap *tbm);
extern void fptendscan(IndexScanDesc scan);
extern void fptmarkpos(IndexScanDesc scan);
extern void fptrestrpos(IndexScanDesc scan);

/* --- fpt_parallel.c -------------------------------------------------------------------- */
extern Size fptestimateparallelscan(FPT_ESTIMATE_PARALLEL_PARAMS);
extern void fptinitparallelscan(void *target);
extern void fptparallelrescan(IndexScanDesc scan);

/* --- fpt_cost.c, fpt_validate.c, fpt_hooks.c, fpt_explain.c ---------------------------- */
struct PlannerInfo;
struct IndexPath;
extern void fptcostestimate(struct PlannerInfo *root, struct IndexPath *path,
							double loop_count, Cost *indexStartupCost,
							Cost *indexTotalCost, Selectivity *indexSelectivity,
							double *indexCorrelation, double *indexPages);
extern int	fpt_tree_height(Relation rel);
extern bool fptvalidate(Oid opclassoid);
extern void fptadjustmembers(Oid opfamilyoid, Oid opclassoid,
							 List *operators, List *functions);
extern void fpt_hooks_init(void);
extern void fpt_explain_init(void);
extern void fpt_plan_init(void);
extern bool fpt_guc_plan_families;
extern bool fpt_guc_plan_extremes;
extern bool fpt_guc_plan_rows;

/* fpt_preload.c: new sessions and ON CONFLICT, said of a database's first one. */
extern void fpt_preload_notice(Relation index);

#endif							/* FPTREE_H */
