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
 * that does not take waiting; else there is a descent to the parent (L2).
 * Nothing else is locked or pinned on return.
 *
 * *order: all stripes, the best first; it is left as it was where the index is
 * not striped.  stack may be NULL.  Cannot be cancelled.  Raises an error if a
 * file cannot be looked at, a page not be read, a descent is needed and the
 * tree is damaged, or if comparing does.
 *
 * "early", of leaves only, or NULL: 0, unless the new sibling would be one
 * page too many in a range, wherever it goes: then which leaf to the right (1:
 * the next one) should be split first, as with a page more in between another
 * stripe will do.  That is worth asking for again afterwards, a few times; 0
 * if no leaf would.
 */
extern void fpt_find_disk(Relation rel, FPTIndex *ix, Buffer buf,
						  const FPTStack *stack, uint32 other,
						  FPTStripeOrder *order, int *early);

#endif							/* FPT_TREE_FINDDISK_H */
