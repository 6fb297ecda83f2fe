/*-------------------------------------------------------------------------
 *
 * page/tuple.h
 *	  Tuples of general keys, and fences.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_TUPLE_H
#define FPT_PAGE_TUPLE_H

#include "page/format.h"
#include "page/layout.h"
#include "page/node.h"

/*
 * Store a key's tuple, of 1 byte at least, below the others; its offset, or -1
 * if there is no room above the nodes and their hints: nothing is changed.
 * (While a page is filled, nodes and tuples are both known to fit.)  The tuple
 * is not in the page.  All in here raise nothing.
 */
extern int	fpt_tuple_put(FPTPage pg, const FPTKey *key);

/*
 * Add to the hole what is free between tuples, by moving the lowest ones into
 * gaps, as long as there are gaps for them.  Not for pages with a dictionary.
 * FPT_OK, whether that was anything, or FPT_CORRUPT: nothing is changed.  *map
 * is work memory.
 */
extern FPTResult fpt_page_fill_gaps(FPTPage pg, FPTTupleMap *map);

/*
 * One tuple of a walk, at "off" of w->from: count it, or move it and return its
 * new offset, 0 of an empty one; -1: corrupt.  The same of a fence's, which is
 * none of an image key's; false: corrupt.
 */
extern int	fpt_tuple_visit(FPTTupleWalk *w, unsigned off);
extern bool fpt_tuple_visit_fence(FPTTupleWalk *w, FPTFence *f);

/* The same of the page's prefix, if it has one. */
extern bool fpt_tuple_visit_prefix(FPTTupleWalk *w);

/* The walk of pages whose slots have a tuple each; false: corrupt. */
extern bool fpt_tuple_walk_slots(FPTTupleWalk *w);

/* Is there room in the hole for the tuple that a slot with this key needs? */
static inline bool
fpt_tuple_fits(FPTPage pg, const FPTKey *key)
{
	return !fpt_has_offsets(pg.g) ||
		fpt_tuple_room(pg) >= fpt_tuple_space(key->len);
}

#endif							/* FPT_PAGE_TUPLE_H */
