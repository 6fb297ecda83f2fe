/*-------------------------------------------------------------------------
 *
 * tree/split.h
 *	  Making room: inside a page, or by splitting it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_SPLIT_H
#define FPT_TREE_SPLIT_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "page/layout.h"
#include "store/index.h"
#include "tree/delete.h"
#include "tree/search.h"

/*
 * Insert an entry into a locked page that had no free slot for it: inside the
 * page if possible, else by splitting it.  Releases the page.  childbuf, for
 * inner pages: the locked left page of a split whose downlink e is; its
 * incomplete-split flag goes in the same record.  It stays locked.  del, for
 * leaves: how to look for dead entries before the split; else NULL.
 *
 * The page is locked exclusively, and has no open split.  It is split as often
 * as it takes until e is in; of other pages what a split needs is locked (L1,
 * L4), and released.  Cannot be cancelled.  That a leaf has the entry is noted
 * in *del (fpt_note_twice).  Raises an error if a page is damaged, if an inner
 * one has the entry, or no new one is to be had, and if comparing does: a split
 * may be left open then, for whoever comes next to finish.  With del *ix must
 * be the caller's copy, see fpt_delete_step().  Frees what it allocates.
 */
extern void fpt_insert_hard(Relation rel, FPTIndex *ix, Buffer buf,
							const FPTEntry *e, Buffer childbuf,
							FPTStack *stack, FPTDelete *del);

/*
 * Insert an entry into a locked leaf whose image is about to be logged
 * (fpt_wal_image_due), packing the page.  False if that does not pay, or there
 * is no room: nothing was changed.  The leaf's exclusive lock is kept.
 * Comparing keys may raise, before anything is changed.
 */
extern bool fpt_insert_packed(Relation rel, FPTIndex *ix, Buffer buf,
							  const FPTEntry *e);

/*
 * Give the new right sibling of a page, which is locked exclusively and marked
 * as incompletely split, its downlink; releases buf.  The pages above are
 * locked meanwhile, as far as they split.  Cannot be cancelled; raises as
 * fpt_insert_hard() does.  *stack is hints.
 */
extern void fpt_finish_split(Relation rel, FPTIndex *ix, Buffer buf,
							 FPTStack *stack);

#endif							/* FPT_TREE_SPLIT_H */
