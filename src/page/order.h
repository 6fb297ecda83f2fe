/*-------------------------------------------------------------------------
 *
 * page/order.h
 *	  The order of the entries of a node, and of a kid.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_ORDER_H
#define FPT_PAGE_ORDER_H

#include "page/node.h"

/*
 * The positions of n numbers, 1 to FPT_MAX_CAP, in the order of these, equal
 * ones in their own; "pos" has room for FPT_MAX_CAP.
 */
extern void fpt_numbers_order(const uint64 *at, int n, uint8 *pos);

/*
 * Some slots of a node without a permutation in the order of their entries.
 * "set" is of those in use; "slots" has room for FPT_MAX_CAP.  Returns their
 * number.
 */
extern int	fpt_slots_order(FPTPage pg, const char *node, uint64 set,
							uint8 *slots);

/* So many slots at an end of a node are found without all being ordered. */
#define FPT_END_MOST	8

/*
 * Of some slots of a node without a permutation those of the m highest entries
 * ("high"), or of the lowest, in the order of these.  "set" is of those in use,
 * which are m or more; m is FPT_END_MOST at most.
 */
extern void fpt_slots_end(FPTPage pg, const char *node, uint64 set, bool high,
						  int m, uint8 *slots);

/*
 * All slots in use of any node, in order: their number, or -1 if corrupt.
 * "slots" has room for FPT_MAX_CAP.  A corrupt permutation may name one twice,
 * or one that is not in use.
 */
extern int	fpt_node_order(FPTPage pg, char *node, uint8 *slots);

/*
 * Of the slots in use of a node without a permutation those whose entries are
 * before a place in it.  Mostly the place knows them.
 */
extern uint64 fpt_node_before(FPTPage pg, char *node, const FPTLoc *loc);

/*
 * The slot of a node's entry at a place in it, or -1: there is none, or the
 * node is corrupt.
 */
extern int	fpt_node_slot(FPTPage pg, char *node, const FPTLoc *loc);

#endif							/* FPT_PAGE_ORDER_H */
