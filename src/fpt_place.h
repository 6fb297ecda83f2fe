/*-------------------------------------------------------------------------
 *
 * fpt_place.h
 *	  Where the pages of an index lie.
 *
 * Everybody else names a page by its page number.  This file and fpt_place.c
 * are the only ones that know which file it is in, and at which block: now, the
 * index's main fork, at the block of the same number.  They read, prefetch,
 * allocate, free and count pages, tell a buffer's page number, and write the
 * pages of a build.  test/layers sees to it that nobody else does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLACE_H
#define FPT_PLACE_H

#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "fpt_compat.h"
#include "fpt_page.h"

/*
 * What is known of the places of an index's pages; a part of FPTIndex.  One of
 * zeroes will do for the metapage and the root of any index, before there is a
 * description.
 */
typedef struct FPTPageMap
{
	uint32		npages;			/* hint: at least so many pages exist */
} FPTPageMap;

/* Page numbers end before this one. */
#define FPT_MAX_PAGENO		MaxBlockNumber

/* --- which pages there are ------------------------------------------------ */

/* Number of pages of the index now; page numbers are below it. */
extern uint32 fpt_npages(Relation rel, FPTPageMap *map);

/*
 * Is there such a page?  Numbers beyond the end come from damaged links; they
 * must not reach the buffer manager, which would take one of them for a request
 * to extend.
 */
static inline bool
fpt_page_exists(Relation rel, FPTPageMap *map, uint32 pageno)
{
	return likely(pageno < map->npages) || pageno < fpt_npages(rel, map);
}

/* Has the index its files at all? */
extern bool fpt_has_storage(Relation rel);

/* Does page b lie right behind page a, so that reading a may bring it? */
static inline bool
fpt_page_follows(const FPTPageMap *map, uint32 a, uint32 b)
{
	(void) map;
	return b == a + 1;
}

/* --- reading -------------------------------------------------------------- */

/*
 * Pin an existing page; strategy may be NULL.  Not locked, not checked: that is
 * fpt_getbuf()'s task.
 */
static inline Buffer
fpt_rawread(Relation rel, const FPTPageMap *map, uint32 pageno,
			BufferAccessStrategy strategy)
{
	(void) map;
	if (strategy == NULL)
		return ReadBuffer(rel, pageno);
	return ReadBufferExtended(rel, MAIN_FORKNUM, pageno, RBM_NORMAL, strategy);
}

/* Pin it in the buffer it was in last; false: it is not there any more. */
static inline bool
fpt_rawread_recent(Relation rel, const FPTPageMap *map, uint32 pageno,
				   Buffer buf)
{
	(void) map;
	return ReadRecentBuffer(FPT_LOCATOR(rel), MAIN_FORKNUM, pageno, buf);
}

/* Ask for an existing page; true if that started a read. */
extern bool fpt_prefetch_page(Relation rel, const FPTPageMap *map,
							  uint32 pageno);

/*
 * Ask for the existing pages that lie from "first" to "last", in one read if
 * they are not too many.  Nothing is done where the operating system cannot.
 */
extern void fpt_prefetch_pages(Relation rel, const FPTPageMap *map,
							   uint32 first, uint32 last);
extern bool fpt_can_prefetch_pages(void);

/* Is a page in shared buffers?  It may come and go at any time. */
extern bool fpt_page_buffered(Relation rel, const FPTPageMap *map,
							  uint32 pageno);

/* Wait until the operating system has an existing page. */
extern void fpt_await_page(Relation rel, const FPTPageMap *map,
						   uint32 pageno);

/* How many pages lie between a and b, of which b lies behind a? */
static inline uint32
fpt_pages_between(const FPTPageMap *map, uint32 a, uint32 b)
{
	(void) map;
	Assert(a < b);
	return b - a - 1;
}

/* The order of pages in the file: less than, equal to, greater than 0. */
static inline int
fpt_page_order(uint32 a, uint32 b)
{
	return a < b ? -1 : a > b;
}

/*
 * The number of the page in a buffer, as the page itself has it.  It must have
 * been checked since it was read, with the number it was read by.
 */
static inline uint32
fpt_bufpage(Buffer buf)
{
	uint32		pageno = fpt_special((char *) BufferGetPage(buf))->pageno;

	Assert(pageno == BufferGetBlockNumber(buf));
	return pageno;
}

/* --- allocation ----------------------------------------------------------- */

/*
 * A page nobody can reach, locked exclusively, contents undefined; *pageno: its
 * number, which the page does not tell yet.  Waits for no page's lock.
 */
extern Buffer fpt_allocbuf(Relation rel, FPTPageMap *map, uint32 *pageno);

/* A page may be given out again: note it in the free space map, a hint. */
extern void fpt_record_free(Relation rel, const FPTPageMap *map,
							uint32 pageno);

/* Is it in there? */
extern bool fpt_recorded_free(Relation rel, const FPTPageMap *map,
							  uint32 pageno);

/* Let fpt_allocbuf() find all that was recorded. */
extern void fpt_publish_free(Relation rel, const FPTPageMap *map);

/* --- builds --------------------------------------------------------------- */

/*
 * Writes the pages of a new index behind the back of the buffer manager: nobody
 * else knows it yet.  fpt_pagewriter_get() gives memory for a page that is to
 * be filled, and handed back by fpt_pagewriter_put() before the next one; in
 * any order, each once.  Nothing is durable before the end.  "init": write what
 * an unlogged index is reset to.  All of it is in the current context.
 */
typedef struct FPTPageWriter FPTPageWriter;

extern FPTPageWriter *fpt_pagewriter_begin(Relation rel, bool init);
extern void *fpt_pagewriter_get(FPTPageWriter *w, uint32 pageno);
extern void fpt_pagewriter_put(FPTPageWriter *w, void *page);
extern void fpt_pagewriter_end(FPTPageWriter *w);

/* --- for tests ------------------------------------------------------------ */

#ifdef FPT_STOP_POINTS
/* A page is being added: have the free space map say that it is free. */
extern void fpt_record_added(Relation rel, Buffer buf);

/* Throw the index out of shared buffers.  Nobody else may be using it. */
extern void fpt_evict_pages(Relation rel);
#endif

#endif							/* FPT_PLACE_H */
