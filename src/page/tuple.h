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

/* Store a key's tuple; its offset, or -1: there is no room. */
extern int	fpt_tuple_put(FPTPage pg, const FPTKey *key);

/* Move tuples into gaps that removed ones have left. */
extern FPTResult fpt_page_fill_gaps(FPTPage pg, FPTTupleMap *map);

/*
 * One tuple of a walk: count it, or move it and return its new offset; -1:
 * corrupt.  The same of a fence's, which is none of an image key's; false:
 * corrupt.
 */
extern int	fpt_tuple_visit(FPTTupleWalk *w, unsigned off);
extern bool fpt_tuple_visit_fence(FPTTupleWalk *w, FPTFence *f);

/* The walk of pages whose slots have a tuple each; false: corrupt. */
extern bool fpt_tuple_walk_slots(FPTTupleWalk *w);

#endif							/* FPT_PAGE_TUPLE_H */
