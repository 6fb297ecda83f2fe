/*-------------------------------------------------------------------------
 *
 * page/fill.h
 *	  Entries into empty nodes, and into a page of such.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_FILL_H
#define FPT_PAGE_FILL_H

#include "page/layout.h"
#include "page/node.h"

/* Give an empty node its permutation, if it has one. */
extern void fpt_node_set_perm(const FPTGeom *g, char *node);

/*
 * Write n sorted entries into a kid's empty node, their tuples being in the
 * page already.  Each is representable there, and n is 1 to cap.  Hints of all
 * its slots are cleared: none of them belongs to what is there now.  Cannot
 * fail.
 */
extern void fpt_node_write(FPTPage pg, int kid, const FPTRelEntry *e, int n);

/*
 * Put n entries, sorted, into a page that fpt_page_init made.  They are spread
 * evenly over nodes that are filled to at most "fill" percent where that is
 * possible, otherwise as densely as needed.  FPT_FULL if they do not fit,
 * FPT_UNFIT if one is not representable: the page is half filled.  May raise if
 * it is to have a dictionary.
 */
extern FPTResult fpt_page_fill(const FPTLayout *l, void *page,
							   const FPTEntry *entries, int n, int fill);

/*
 * What the TIDs of a node with n of a page's entries are to be relative to;
 * returns how many are too far from that, which may be more than a node has
 * room for.  Asked where TIDs are relative to nodes.  Raises nothing.
 */
extern int	fpt_rel_far(FPTPage pg, const FPTRelEntry *e, int n, uint32 *row);

#endif							/* FPT_PAGE_FILL_H */
