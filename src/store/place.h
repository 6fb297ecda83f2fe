/*-------------------------------------------------------------------------
 *
 * store/place.h
 *	  Where the pages of an index lie.
 *
 * Everybody else names a page by its page number.  This file and store/place.c
 * are the only ones that know which file it is in, and at which block: in the
 * index's main fork, at the block of the same number; or, if the index is
 * striped, the metapage and the root there and all others in the stripes in
 * turn (store/stripe.h).  They read, prefetch, allocate, free and count pages,
 * tell a buffer's page number, and write the pages of a build.  test/layers
 * sees to it that nobody else does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_PLACE_H
#define FPT_STORE_PLACE_H

#include "storage/block.h"
#include "storage/buf.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "page/format.h"
#include "server/compat.h"
#include "store/map.h"

/* Page numbers end before this one. */
#define FPT_MAX_PAGENO		MaxBlockNumber

/* --- stripes ------------------------------------------------------------- */

/*
 * Copy a map's stripes, in the current context; the copy has counted no reads.
 */
extern FPTStripes *fpt_stripes_copy(const FPTStripes *st);

/*
 * For copies of an FPTIndex that must outlive the original: give the copy
 * stripes of its own, and free them.
 */
static inline void
fpt_map_own(FPTPageMap *map)
{
	if (unlikely(map->stripes != NULL))
		map->stripes = fpt_stripes_copy(map->stripes);
}

static inline void
fpt_map_free(FPTPageMap *map)
{
	if (unlikely(map->stripes != NULL))
		pfree(map->stripes);
}

/* Take over what another map of the same index knows of its files' sizes. */
extern void fpt_stripes_learn(FPTStripes *to, const FPTStripes *from);

static inline void
fpt_map_learn(FPTPageMap *to, const FPTPageMap *from)
{
	Assert(fpt_nstripes(to) == fpt_nstripes(from));
	to->npages = from->npages;
	if (unlikely(to->stripes != NULL))
		fpt_stripes_learn(to->stripes, from->stripes);
}

/*
 * Fill in the place of a stripe, an open relation.  Its relcache entry owns the
 * open file from then on, so that it stays open when the transaction ends.  Its
 * size is not looked at: nblocks is a hint, and 0 is right.
 */
extern void fpt_stripe_place(FPTStripe *s, Relation stripe);

/*
 * Create the file of a stripe, and that of its init fork if it is unlogged.
 * Both are logged, and removed if the transaction aborts.  May raise.
 */
extern void fpt_stripe_create_file(const FPTLocator *locator,
								   char persistence);

/* --- which pages there are ----------------------------------------------- */

/*
 * Page numbers of the index are below this one, now: asks the storage manager,
 * and notes what it says in the map.  Where it is striped, not all of them need
 * exist: fpt_total_pages() tells how many do.  Raises an error if a file cannot
 * be looked at; reads no catalogues.
 */
extern uint32 fpt_npages(Relation rel, FPTPageMap *map);
extern uint32 fpt_total_pages(Relation rel, FPTPageMap *map);

/*
 * Looks at the files, as fpt_npages(), and raises as that: for numbers beyond
 * what is known.
 */
extern bool fpt_page_exists_now(Relation rel, FPTPageMap *map, uint32 pageno);

/*
 * Is there such a page?  Numbers beyond the end come from damaged links; they
 * must not reach the buffer manager, which would take one of them for a request
 * to extend.
 */
static inline bool
fpt_page_exists(Relation rel, FPTPageMap *map, uint32 pageno)
{
	return likely(pageno < map->npages) ||
		fpt_page_exists_now(rel, map, pageno);
}

/* Has the index its files at all?  And what an unlogged one is reset to? */
extern bool fpt_has_storage(Relation rel);
extern bool fpt_has_init(Relation rel);

/*
 * Is it being built CONCURRENTLY, or has that failed?  Builds write files past
 * shared buffers, the metapage last: whoever read it before would leave zeroes
 * there, which outlive the build.  So pages of such an index are not read but
 * by its build.  Looks at the relcache entry alone: what that does not know of
 * yet was not built, for us, when the index was locked.
 */
static inline bool
fpt_is_unbuilt(Relation index)
{
	return !index->rd_index->indisready && index->rd_index->indislive;
}

/* Does page b lie right behind page a, so that reading a may bring it? */
static inline bool
fpt_page_follows(const FPTPageMap *map, uint32 a, uint32 b)
{
	return b == a + 1 && map->stripes == NULL;
}

/*
 * Number of requests that the disks of an index can work on at the same time,
 * by the settings of their tablespaces; "maintenance": those for VACUUM.  0:
 * the setting forbids them.  Reads catalogues (a cache of tablespaces), after
 * which *map is not looked at any more.
 */
extern int	fpt_io_concurrency(Relation rel, const FPTPageMap *map,
							   bool maintenance);

/* --- locks --------------------------------------------------------------- */

/*
 * Does this process hold the lock of a buffer that it is about to lock (L9)?
 * Local buffers have none: this is false of them, whatever the server says.
 */
static inline bool
fpt_buffer_is_mine(Buffer buf)
{
	Assert(BufferIsValid(buf));
	return !BufferIsLocal(buf) && fpt_holds_lock(buf);
}

/*
 * For assertions: does this process hold a page's lock, or its exclusive lock?
 * Of local buffers, which have none, it is true.
 */
static inline bool
fpt_buffer_locked(Buffer buf, bool exclusive)
{
	Assert(BufferIsValid(buf));
	return BufferIsLocal(buf) ||
		(exclusive ? fpt_holds_exclusive_lock(buf) : fpt_holds_lock(buf));
}

/* --- reading ------------------------------------------------------------- */

/* fpt_rawread() and fpt_rawread_recent() of pages that lie in stripes. */
extern Buffer fpt_stripe_read(Relation rel, const FPTPageMap *map,
							  uint32 pageno, BufferAccessStrategy strategy);
extern bool fpt_stripe_read_recent(const FPTPageMap *map, uint32 pageno,
								   Buffer buf);

/*
 * Pin an existing page; strategy may be NULL.  Not locked, not checked: that is
 * fpt_getbuf()'s task.  Raises an error if it cannot be read.  Reads no
 * catalogues.
 */
static inline Buffer
fpt_rawread(Relation rel, const FPTPageMap *map, uint32 pageno,
			BufferAccessStrategy strategy)
{
	Assert(pageno < FPT_MAX_PAGENO);
	if (fpt_page_is_striped(map, pageno))
		return fpt_stripe_read(rel, map, pageno, strategy);
	if (strategy == NULL)
		return ReadBuffer(rel, pageno);
	return ReadBufferExtended(rel, MAIN_FORKNUM, pageno, RBM_NORMAL, strategy);
}

/*
 * Pin it in the buffer it was in last; returns false, and pins nothing, if it
 * is not there any more.  Any number of a buffer will do.
 */
static inline bool
fpt_rawread_recent(Relation rel, const FPTPageMap *map, uint32 pageno,
				   Buffer buf)
{
	if (fpt_page_is_striped(map, pageno))
		return fpt_stripe_read_recent(map, pageno, buf);
	return ReadRecentBuffer(FPT_LOCATOR(rel), MAIN_FORKNUM, pageno, buf);
}

/*
 * A private copy of a page, taken under its share lock.  Nothing in it has been
 * looked at beyond what the buffer manager verifies on a read.  The page
 * exists; nothing is locked or pinned afterwards.  May raise (checksums).
 */
static inline void
fpt_copy_page(Relation rel, const FPTPageMap *map, uint32 pageno,
			  BufferAccessStrategy strategy, char *copy)
{
	Buffer		buf = fpt_rawread(rel, map, pageno, strategy);

	Assert(!fpt_buffer_is_mine(buf));	/* L9 */
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
}

/*
 * Of an index that is not ours: the number of its blocks, which asks the
 * storage manager, and a private copy of one of them, as fpt_copy_page().
 */
extern uint32 fpt_other_blocks(Relation rel);
extern void fpt_copy_other(Relation rel, uint32 block,
						   BufferAccessStrategy strategy, char *copy);

/*
 * For ereport(): tell in which stripe a page lies, if the index is striped.
 * Always 0, as such functions' results are not looked at.
 */
extern int	fpt_errplace(const FPTPageMap *map, uint32 pageno);

/* Pin the metapage, whatever is in it; what cannot be read is zeroes. */
static inline Buffer
fpt_rawread_meta(Relation rel)
{
	return ReadBufferExtended(rel, MAIN_FORKNUM, FPT_METAPAGE,
							  RBM_ZERO_ON_ERROR, NULL);
}

/*
 * Can the metapage, which is there, be read from its file?  False: a message of
 * this level, not an error's, says why not.
 */
extern bool fpt_meta_readable(Relation rel, int elevel);

/*
 * Copy the metapage of a file that this transaction has taken from an index,
 * rel, whatever is in it; what is damaged is zeroes.  "logged": it was a
 * permanent index's.  False: there is no such file, or nothing in it, or it
 * cannot be read, and a warning says why.
 */
extern bool fpt_copy_old_meta(Relation rel, FPTLocator file, bool logged,
							  char *copy);

/*
 * Ask for an existing page, pinning nothing (P5); true if that started a read.
 * Raises an error if the file cannot be opened.
 */
extern bool fpt_prefetch_page(Relation rel, const FPTPageMap *map,
							  uint32 pageno);

/*
 * Ask for the existing pages that lie from "first" to "last", in one read if
 * they are not too many.  Nothing is done where the operating system cannot.
 * Pins nothing (P5).  Of a file that cannot be opened nothing is asked (up to
 * 16), or an error raised (from 17 on).
 */
extern void fpt_prefetch_pages(Relation rel, const FPTPageMap *map,
							   uint32 first, uint32 last);
extern bool fpt_can_prefetch_pages(void);

/*
 * The same for blocks of a relation, also of a table, and whether that can be:
 * not of temporary ones, which are few.
 */
extern void fpt_prefetch_range(Relation rel, BlockNumber first, int n);
extern bool fpt_can_prefetch_range(Relation rel);

/*
 * The buffer that a block of a relation, also of a table, is in, or
 * InvalidBuffer.  It is not pinned, and may be another block's at any time.
 * Locks, and temporary relations, as of the next one.
 */
extern Buffer fpt_block_buffer(Relation rel, BlockNumber blk);

/*
 * Pin a block of a table in a buffer that it may be in, which is verified.
 * False, and nothing is pinned: it is not there.  Counts in the buffer's usage,
 * and in statistics, as ReadBuffer().  Any number of a shared buffer will do;
 * the table is not a temporary one.  Raises only what is about resources.
 */
extern bool fpt_block_pin(Relation rel, BlockNumber blk, Buffer buf);

/*
 * Is a page in shared buffers, or a block of a relation, also of a table?  It
 * may come and go at any time.  Of temporary relations they are not known:
 * false.  Locks a partition of the buffer mapping for a moment, so no spinlock
 * may be held.
 */
static inline bool
fpt_block_buffered(Relation rel, BlockNumber blk)
{
	return BufferIsValid(fpt_block_buffer(rel, blk));
}

extern bool fpt_page_buffered(Relation rel, const FPTPageMap *map,
							  uint32 pageno);

/*
 * Wait until the operating system has an existing page: reads it to nowhere.
 * Cannot be cancelled; raises an error if it cannot be read.
 */
extern void fpt_await_page(Relation rel, const FPTPageMap *map,
						   uint32 pageno);

/*
 * How many pages lie between a and b, of which b lies behind a?  More than a
 * request can have, if they are in different files.
 */
static inline uint32
fpt_pages_between(const FPTPageMap *map, uint32 a, uint32 b)
{
	Assert(a < b);
	return map->stripes == NULL ? b - a - 1 : FPT_MAX_PAGENO / 2;
}

/*
 * The order in the file, for qsort(), of what begins with numbers of pages, or
 * of blocks of a relation, also of a table.
 */
static inline int
fpt_page_order(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return x < y ? -1 : x > y;
}

/*
 * The number of the page in a buffer, as the page itself has it.  It must have
 * been checked since it was read, with the number it was read by.
 */
static inline uint32
fpt_bufpage(Buffer buf)
{
	uint32		pageno = fpt_special((char *) BufferGetPage(buf))->pageno;

	Assert(pageno >= BufferGetBlockNumber(buf));
	return pageno;
}

/* --- allocation ---------------------------------------------------------- */

/*
 * The stripes of an index, those where a new page is wanted most first; in the
 * first "good" ones no neighbour is too near, and there is one at least.
 */
typedef struct FPTStripeOrder
{
	int			good;			/* 1 to the number of stripes */
	uint8		stripe[FPT_MAX_STRIPES];	/* numbers from 0 on, each once */
} FPTStripeOrder;

/*
 * A page nobody can reach, locked exclusively, contents undefined; *pageno: its
 * number, which the page does not tell yet.  Waits for no page's lock.  order:
 * in which stripe, if the index has any.  Raises an error if no file can be
 * extended.  Reads no catalogues, which could take the index's description
 * away.
 */
extern Buffer fpt_allocbuf(Relation rel, FPTPageMap *map,
						   const FPTStripeOrder *order, uint32 *pageno);

/* May this page be given out again?  (deleted, or never initialised) */
static inline bool
fpt_page_recyclable(Page page)
{
	return PageIsNew(page) ||
		(fpt_special(page)->pageid == FPT_PAGE_ID &&
		 (fpt_header(page)->flags & FPT_F_DELETED) != 0);
}

/*
 * Makes the free space map long enough for this number of pages, if these take
 * more than one page of it, so that fpt_record_free() need not extend it page
 * by page while pages of the index are locked, as they must not be now.
 * Returns false if a disk is full.  Waits for the lock for extension of the
 * file, or of each stripe; may be cancelled.  Raises any other error.
 */
extern bool fpt_prepare_free(Relation rel, const FPTPageMap *map,
							 uint32 npages);

/*
 * A page may be given out again: note it in the free space map, a hint, not
 * logged.  Returns false if the map would have to grow and the disk is full: a
 * later VACUUM that removes entries finds the page.  Waits for the lock for
 * extension if the map is to grow, raises any other error, and allocates in the
 * current context.  Pages may be locked.  Reads no catalogues.
 */
extern bool fpt_record_free(Relation rel, const FPTPageMap *map,
							uint32 pageno);

/* Is it in there? */
extern bool fpt_recorded_free(Relation rel, const FPTPageMap *map,
							  uint32 pageno);

/*
 * Let fpt_allocbuf() find all that was recorded: brings the map's upper pages
 * up to date.
 */
extern void fpt_publish_free(Relation rel, const FPTPageMap *map);

/*
 * Core decides by the size of the main fork whether a worker of a parallel
 * VACUUM is worth while for an index: that of a striped index is built as large
 * as the default of min_parallel_index_scan_size if the index is.
 */
#define FPT_MAIN_PADDING	(512 * 1024 / BLCKSZ)

/* Can this be the number of pages in the main fork of a striped index? */
static inline bool
fpt_maybe_striped(uint32 npages)
{
	return npages == FPT_FIRSTPAGE + 1 || npages == FPT_MAIN_PADDING;
}

/* --- builds -------------------------------------------------------------- */

/*
 * Writes the pages of a new index behind the back of the buffer manager: nobody
 * else knows it yet.  fpt_pagewriter_get() gives memory for a page that is to
 * be filled, and handed back by fpt_pagewriter_put() before the next one; in
 * any order, each once.  Nothing is durable before the end.  "init": write what
 * an unlogged index is reset to.  All of it is in the current context.
 */
typedef struct FPTPageWriter FPTPageWriter;

/* Begin; reads catalogues of a striped index, and keeps its stripes open. */
extern FPTPageWriter *fpt_pagewriter_begin(Relation rel,
										   const FPTPageMap *map, bool init);

/*
 * Memory for page "pageno", BLCKSZ bytes, with anything in it.  May write and
 * log others; may be cancelled, and raise.
 */
extern void *fpt_pagewriter_get(FPTPageWriter *w, uint32 pageno);

/*
 * It is filled: "page" is what the last fpt_pagewriter_get() gave.  May write
 * and log.
 */
extern void fpt_pagewriter_put(FPTPageWriter *w, void *page);

/* Write what is left.  Files are durable then, or will be at commit. */
extern void fpt_pagewriter_end(FPTPageWriter *w);

/* --- sizes --------------------------------------------------------------- */

/*
 * Bytes of all files of a relation, or of a file: free space map included.
 * Asks the storage manager; may raise.
 */
extern int64 fpt_relation_bytes(Relation rel);

/*
 * How many pages of a stripe were read from outside shared buffers since the
 * statistics were reset, by all sessions; of others those that they have
 * reported.
 */
extern int64 fpt_stripe_reads(Oid stripe);

/* What there is of a stripe. */
typedef struct FPTStripeSize
{
	int64		pages;			/* blocks of its main fork */
	int64		free_pages;		/* of these, that the free space map knows */
} FPTStripeSize;

/*
 * False: its file is missing.  Reads the free space map, entry by entry; may be
 * cancelled.
 */
extern bool fpt_stripe_measure(Relation stripe, FPTStripeSize *size);

/* --- for tests ----------------------------------------------------------- */

#ifdef FPT_STOP_POINTS

/* Throw the index out of shared buffers.  Nobody else may be using it. */
extern void fpt_evict_pages(Relation rel, const FPTPageMap *map);
#endif

#endif							/* FPT_STORE_PLACE_H */
