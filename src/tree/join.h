/*-------------------------------------------------------------------------
 *
 * tree/join.h
 *	  Merging a leaf with its left sibling, or filling that from it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_JOIN_H
#define FPT_TREE_JOIN_H

#include "tree/unlink.h"

/*
 * How full a page may be that two leaves become, in thousandths
 * (fpt_page_thousandths); if both together look fuller it need not be tried.
 * most[1]: if this VACUUM has removed many of their entries; most[0]: if not.
 * 0: merge none.  Reads catalogues, so no page may be locked, and p->ix is a
 * copy; may raise, or be cancelled.  The index is locked.
 */
extern void fpt_join_most(FPTPrune *p, int most[2]);

/*
 * Let the left sibling of a leaf that VACUUM has passed take over its entries,
 * and unlink the leaf, in one record.  "left" and "right": its siblings when
 * the walk saw it; if either is another one by now nothing is done, nor if
 * anybody but VACUUM has the leaf pinned (P7), if the two are under different
 * parents, or if their entries are too many.
 *
 * True: the leaf is gone, *heir says where it was, and *fill how full the left
 * one is.  Nothing is locked or pinned before or after; never waits for a pin.
 * Cannot be cancelled while pages are locked.  Raises an error if they are
 * damaged, or if comparing keys does.
 */
extern bool fpt_join_leaf(FPTPrune *p, uint32 pageno, uint32 left,
						  uint32 right, int most, FPTHeir *heir, int *fill);

/*
 * The same with a leaf that the walk visits, and that is locked for cleanup and
 * stays so: the entries in the slots of "dead" are left out, so that the record
 * removes them, too.  The caller has its pin only, and nothing else locked.
 */
extern bool fpt_join_visited(FPTPrune *p, Buffer buf, const uint64 *dead,
							 uint32 left, int most, FPTHeir *heir, int *fill);

/*
 * The same two leaves do not fit into one: let the left one take over as many
 * of the first entries as it may, in one record.  Conditions, locks and errors
 * are those of fpt_join_leaf(), but that the leaf keeps an entry at least, and
 * stays.  True: it was done, and fill[0] and fill[1] say how full they are.
 */
extern bool fpt_slide_leaf(FPTPrune *p, uint32 pageno, uint32 left,
						   uint32 right, int most, int fill[2]);

#endif							/* FPT_TREE_JOIN_H */
