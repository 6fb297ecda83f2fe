/*-------------------------------------------------------------------------
 *
 * page/root.h
 *	  The in-page root, and which nodes are in use.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_ROOT_H
#define FPT_PAGE_ROOT_H

#include "page/format.h"
#include "page/node.h"

/* Bytes of the hole that another node of a general page takes. */
static inline int
fpt_node_space(FPTPage pg)
{
	int			n = fpt_header(pg.p)->nnodes;

	return pg.g->x * FPT_LINE + fpt_hint_bytes(pg.g, n + 1) -
		fpt_hint_bytes(pg.g, n);
}

/*
 * Move the border between nodes and hole; what the hole gets back is zeroed.
 * The caller sees to it that no node in use is beyond the new border, and that
 * no tuple is below it.  Hints of nodes that stay are kept; in image pages all
 * are, as their bitmap does not move.  Changes pd_lower, pd_upper and nnodes;
 * cannot fail.
 */
extern void fpt_set_nnodes(FPTPage pg, int nnodes);

/*
 * Put a new, empty node in front of kid "at", with the separator (hi, lo),
 * among the NULLs or the values, as "isnull" says and its neighbours must
 * agree.  Returns it, or NULL if there is no room: nothing is changed then.
 * The caller fills it at once: nodes in use are not empty.  Kids behind it are
 * one further, but no node has moved.
 */
extern char *fpt_node_add(FPTPage pg, int at, bool isnull, uint64 hi,
						  uint64 lo);

/* Is there a node that is free, or can be had from the hole? */
extern bool fpt_has_free_node(FPTPage pg);

/*
 * Take the kid'th node, which is to have no entries, out of the root.  It is
 * free from now on, and its bytes stay; kids behind it get other places.
 */
extern void fpt_node_remove(FPTPage pg, int kid);

#endif							/* FPT_PAGE_ROOT_H */
