/*-------------------------------------------------------------------------
 *
 * page/shift.h
 *	  Page kernel: making room in a full node with the help of its neighbours.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_SHIFT_H
#define FPT_PAGE_SHIFT_H

#include "page/node.h"

/*
 * Move m entries from the end of a kid to the front of the next one (by = 1),
 * or from its front to the end of the previous one (by = -1), and change the
 * separator between them.  Both kids are of one region, and have nodes; the
 * first one keeps an entry at least, the other one has room for m.  If the
 * first one has two nodes, one of them may be empty afterwards.  FPT_FULL: keys
 * are relative to nodes, and one could not be told any more; nothing is
 * changed.  FPT_CORRUPT: the nodes cannot be what the root says; no entry is
 * lost.  Raises nothing.
 */
extern FPTResult fpt_entries_shift(FPTPage pg, int kid, int by, int m);

/*
 * Make room in the full node of p by shifting entries towards a node that has
 * some: where a slot is gained for the least WAL.  FPT_OK: there is a free slot
 * on the way to e's place.  FPT_FULL: no room near enough, or it is not worth
 * it ("hard": it always is), or keys could not be told where they would go.
 * Then, and with FPT_CORRUPT, entries may have been shifted, none is lost.
 * Raises nothing.
 */
extern FPTResult fpt_node_shift(FPTPage pg, const FPTPlace *p, bool hard);

#endif							/* FPT_PAGE_SHIFT_H */
