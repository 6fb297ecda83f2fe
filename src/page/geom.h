/*-------------------------------------------------------------------------
 *
 * page/geom.h
 *	  Where in a page its nodes are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_GEOM_H
#define FPT_PAGE_GEOM_H

#include "page/format.h"
#include "page/layout.h"

/*
 * Derive one geometry; false if (w, x), or the width of keys, makes no usable
 * page, whatever is in *g.  kind: FPT_KIND_*, FPT_KIND_GENERAL or _DICT added.
 */
extern bool fpt_geom_init(FPTGeom *g, int kw, int kind, int w, int x);

/*
 * Can keys be relative to their nodes, in pages of this geometry, if those that
 * are as many entries apart as fpt_page_fill() puts into a node, or less, are
 * (hi, lo) apart at most?  Then it makes such a page of them, whatever the
 * nodes begin with: a base is up to a quarter of what can be told below its
 * node's first key.  False of a geometry that there is not.
 */
static inline bool
fpt_near_enough(const FPTGeom *g, uint64 hi, uint64 lo)
{
#ifdef FPT_FEW_SLOTS
	return false;				/* see fpt_width_of() */
#endif
	if (!fpt_is_near(g) || (hi != 0 && !fpt_is_wide(g)))
		return false;
	/* upper halves are farther apart by one if the lower ones carry */
	return fpt_is_wide(g) ? hi < 3 * fpt_near_unit(g) :
		lo <= 3 * fpt_near_unit(g);
}

/*
 * What is behind the last node that there can be is free, as free slots are,
 * and as btree counts the bytes of a page: so much of a fill factor's free
 * slots it makes up for.  But no entry can go there, so that it counts as a
 * twentieth of the slots at most: small pages, and those of few nodes, have
 * much of it.
 */
static inline int
fpt_spare_slots(const FPTGeom *g)
{
	int			nodes = g->maxnodes * g->x * FPT_LINE;
	int			spare = FPT_SPECIAL_OFFSET - g->node_off - nodes;

	Assert(spare >= 0);
	return Min(spare / fpt_slot_bytes(g), (int) g->capacity / 20);
}

#endif							/* FPT_PAGE_GEOM_H */
