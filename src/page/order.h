/*-------------------------------------------------------------------------
 *
 * page/order.h
 *	  The order of a node's entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_ORDER_H
#define FPT_PAGE_ORDER_H

#include "page/node.h"

/*
 * Some slots of a node without a permutation in the order of their entries.
 * "set" is of those in use; "slots" has room for FPT_MAX_CAP.  Returns their
 * number.
 */
extern int	fpt_slots_order(FPTPage pg, const char *node, uint64 set,
							uint8 *slots);

/*
 * "below" of a place (FPTLoc) is of the page as it was when the place was found
 * (L12): the entry's rank in slots, all of them in use, or none.
 */
static inline void
fpt_assert_below(FPTPage pg, const char *node, int rank, uint64 below)
{
	Assert(below == 0 || fpt_popcount(below) == rank);
	Assert((below & ~fpt_node_used(pg.g, node)) == 0);
}

/*
 * All slots in use of any node, in order: their number, or -1 if corrupt.
 * "slots" has room for FPT_MAX_CAP.  A corrupt permutation may name one twice,
 * or one that is not in use.
 */
extern int	fpt_node_order(FPTPage pg, char *node, uint8 *slots);

/*
 * The slot of a node's entry of this rank, or -1: there is none, or the node is
 * corrupt.  "below": slots of the entries before it, or 0 if not known.
 */
extern int	fpt_node_slot(FPTPage pg, char *node, int rank, uint64 below);

#endif							/* FPT_PAGE_ORDER_H */
