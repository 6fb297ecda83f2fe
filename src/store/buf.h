/*-------------------------------------------------------------------------
 *
 * store/buf.h
 *	  Pages and buffers: the index's description, reading with checks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_BUF_H
#define FPT_STORE_BUF_H

#include "storage/buf.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"

#include "page/layout.h"
#include "store/index.h"

/*
 * The index's description, read from the metapage the first time.  It lives
 * until an invalidation is processed (store/index.h), in rd_indexcxt.  The
 * first time a page is locked for a moment, and catalogues are read: no page
 * may be locked then, and invalidations may be processed.  Raises an error if
 * the metapage is damaged, or a stripe is missing.  The index is locked.
 */
extern FPTIndex *fpt_index(Relation rel);

/*
 * A copy of it, for who must not lose it to an invalidation; what it points to
 * is in the current context, and freed with it.  As fpt_index().
 */
extern void fpt_index_copy(Relation rel, FPTIndex *ix);

/*
 * If a descent has found no page that covers its key, and went on at another
 * one (ix->strayed), warn of it, once in a session and index.  No page is
 * locked: the client may be slow.  Keeps the index's OID in TopMemoryContext.
 */
extern void fpt_warn_strayed(Relation rel, FPTIndex *ix);

/*
 * Warn if the index has been built with another version of a collation.  Before
 * keys are looked for that were not in the index already.  Reads nothing: the
 * description knows.
 */
extern void fpt_index_current(Relation rel, const FPTIndex *ix);

/*
 * Prepare the contents of a new index's metapage (layout chosen here); nstripes
 * 0: it is not striped.  Changes the copy only; reads catalogues.  Raises an
 * error if the index's options leave no usable page.  *layout is complete
 * afterwards; the description of general keys that it points to is in the
 * current context.
 */
extern void fpt_meta_init(Relation rel, Page page, FPTLayout *layout,
						  const Oid *stripes, int nstripes);

/*
 * Describe the index's general keys in a layout; in the current context.  Reads
 * catalogues: no page may be locked.
 */
extern void fpt_layout_general(Relation rel, FPTLayout *layout);

/*
 * Ask the metapage where the root is: true if it is not where ix->root has it.
 * That can be once in an index's life, when its only leaf is split; the
 * relation's own description learns it, too.  Pages may be locked, the metapage
 * not.  Raises an error if the metapage is damaged.
 */
extern bool fpt_find_root(Relation rel, FPTIndex *ix);

/*
 * The metapage, locked exclusively, of an index that is open.  Other pages may
 * be locked; none is locked after it (L2).
 */
extern Buffer fpt_lock_meta(Relation rel);

/*
 * Read a page and lock it (BUFFER_LOCK_SHARE, _EXCLUSIVE, or 0 for pin only).
 * Returns it pinned.  The page has passed fpt_page_sane(): anything else is
 * ERRCODE_INDEX_CORRUPTED, as is a number beyond the end of the file, and a
 * page that this process has locked already (L9).  Deleted pages are returned
 * as well: the caller's fence check sorts them out.  With 0 nothing is checked.
 *
 * Neither reads catalogues nor processes invalidations, so that *ix is still
 * there.  Cannot be cancelled while it waits for the lock.
 */
extern Buffer fpt_getbuf(Relation rel, FPTIndex *ix, uint32 pageno, int lock);

/*
 * Is the index dead, as the catalogue has it at this moment: set so by DROP
 * INDEX CONCURRENTLY or REINDEX CONCURRENTLY?  A statement that has opened it
 * before still inserts into it.  No page is locked: processes invalidations,
 * and reads catalogues, which may raise.
 */
extern bool fpt_index_is_dead(Relation rel);

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
 * copy.  Not in a critical section.
 */
extern void fpt_corrupt_page(Relation rel, const FPTLayout *l, Page page,
							 uint32 pageno)
			__attribute__((noreturn));

/*
 * fpt_getbuf(), guessing the buffer by where this backend saw the page last; of
 * a leaf the node, too, by the fraction that fpt_page_fraction() has told, or
 * FPT_NO_GUESS; of another page FPT_GUESS_INNER.  "lock" is not 0.  A wrong
 * guess costs some prefetched lines.  Returns the page pinned and locked;
 * raises errors as fpt_getbuf().
 */
#define FPT_NO_GUESS		PG_UINT32_MAX
#define FPT_GUESS_INNER		(PG_UINT32_MAX - 1)

extern Buffer fpt_getbuf_hot(Relation rel, FPTIndex *ix, uint32 pageno,
							 int lock, uint32 fraction);

/*
 * fpt_getbuf_hot() will be called for that page next: begin to bring what it
 * looks at first, while the caller is done with another page.  Pins nothing, as
 * fpt_page_expect().
 */
extern void fpt_page_await(Relation rel, const FPTLayout *l, uint32 pageno);

/* The same of a leaf, and the node where the fraction says that the key is. */
extern void fpt_page_await_node(Relation rel, const FPTIndex *ix,
								uint32 pageno, uint32 fraction);

/*
 * A page will be read soon: bring its first lines, if it is known where.  Pins
 * nothing, and looks at no byte of the page, which may be another one by now.
 */
extern void fpt_page_expect(Relation rel, uint32 pageno);

/* fpt_getbuf() with a buffer access strategy, or NULL. */
extern Buffer fpt_getbuf_extended(Relation rel, FPTIndex *ix, uint32 pageno,
								  int lock, BufferAccessStrategy strategy);

/*
 * The check itself, for pages that were locked by other means; pageno: the one
 * by which the page was read.  Raises ERRCODE_INDEX_CORRUPTED if the page is
 * not sane, its lock and pin then left to the end of the transaction.
 */
extern void fpt_check_buffer(Relation rel, FPTIndex *ix, Buffer buf,
							 uint32 pageno);

/*
 * Leave hints in a leaf, which is locked, at n entries that are dead to
 * everybody, if it has room for hints and may be changed: by their slots, and
 * the TIDs they had; what has another one by now is not the entry.  "which": of
 * slotids and tids those with these numbers, or NULL: the first ones.  The page
 * may be logged.  Raises what logging does.
 */
extern void fpt_leave_hints(const FPTLayout *l, Buffer buf,
							const uint16 *slotids, const uint64 *tids,
							const int *which, int n);

#endif							/* FPT_STORE_BUF_H */
