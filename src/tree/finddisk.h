/*-------------------------------------------------------------------------
 *
 * tree/finddisk.h
 *	  In which stripe a new page belongs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_FINDDISK_H
#define FPT_TREE_FINDDISK_H

#include "storage/buf.h"
#include "utils/relcache.h"

#include "store/index.h"
#include "store/place.h"
#include "tree/search.h"

/*
 * If the index is striped: where the new right sibling of a page that is going
 * to be split belongs, or one of the halves of the root; other: the page of the
 * other half, or FPT_NOPAGE.  The page is locked; its parent, by its number in
 * the stack, and siblings of this are locked for a moment, one at a time, if
 * that does not take waiting.  Nothing else is locked or pinned on return.
 *
 * *order: all stripes, the best first; it is left as it was where the index is
 * not striped.  stack may be NULL: then little is known.  Cannot be cancelled.
 * Raises an error if a file cannot be looked at, a page not be read, or if
 * comparing does.  A damaged inner page is of no use, and no error.
 */
extern void fpt_find_disk(Relation rel, FPTIndex *ix, Buffer buf,
						  const FPTStack *stack, uint32 other,
						  FPTStripeOrder *order);

#endif							/* FPT_TREE_FINDDISK_H */
