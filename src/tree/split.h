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
 * leaves: how to look for dead entries before the split.
 */
extern void fpt_insert_hard(Relation rel, FPTIndex *ix, Buffer buf,
							const FPTEntry *e, Buffer childbuf,
							FPTStack *stack, FPTDelete *del);

/*
 * Insert an entry into a locked leaf whose image is about to be logged
 * (fpt_wal_image_due), packing the page.  False if that does not pay, or there
 * is no room: nothing was changed.
 */
extern bool fpt_insert_packed(Relation rel, FPTIndex *ix, Buffer buf,
							  const FPTEntry *e);

/* Give a locked page's new right sibling its downlink; releases buf. */
extern void fpt_finish_split(Relation rel, FPTIndex *ix, Buffer buf,
							 FPTStack *stack);

#endif							/* FPT_TREE_SPLIT_H */
