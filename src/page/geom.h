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
 * What goal G selects, the largest page fan-out among the (w, x) whose
 * analytical search cost is within 10% of the best: for images of each width,
 * and for heads where slots own tuples.
 */
extern const FPTWidths fpt_goal_images[FPT_NKW][FPT_KIND_INNER + 1];
extern const FPTWidths fpt_goal_tuples[FPT_ENC_WIDE][FPT_KIND_INNER + 1];

/*
 * The widths of an index's pages: goal G's, for all key widths up to keysize
 * (in bytes) and all kinds.  force_w, force_x: lines that are asked for, or 0.
 * Returns false if these make no usable page: "widths" are of no use then.
 */
extern bool fpt_choose_widths(int keysize, int force_w, int force_x,
							  FPTWidths widths[FPT_NKW][FPT_NKINDS]);

/*
 * Derive one geometry; false if (w, x), or the width of keys, makes no usable
 * page, whatever is in *g.  kind: FPT_KIND_*, FPT_KIND_GENERAL or _DICT added.
 */
extern bool fpt_geom_init(FPTGeom *g, int kw, int kind, int w, int x);

/*
 * fpt_choose_widths() for general keys, of all widths that there are, with the
 * rows FPT_ENC_WIDE and FPT_ENC_DICT.
 */
extern bool fpt_choose_widths_general(int force_w, int force_x,
									  FPTWidths widths[FPT_NKW][FPT_NKINDS]);

/*
 * Fill a layout from what the metapage says, which is not trusted; false if
 * that is impossible, and *l is as it was.  Its geometries are in *geoms then,
 * which must not change as long as there is a copy of the layout.
 */
extern bool fpt_layout_init(FPTLayout *l, FPTGeoms *geoms, int keysize,
							bool nullsfirst, uint32 indexid,
							FPTWidths widths[FPT_NKW][FPT_NKINDS]);

/* The same for general keys; cmp, separate and arg are the caller's to set. */
extern bool fpt_layout_init_general(FPTLayout *l, FPTGeoms *geoms,
									bool nullsfirst, uint32 indexid,
									FPTWidths widths[FPT_NKW][FPT_NKINDS]);

/*
 * Can keys be relative to their nodes, in pages of this geometry, if those that
 * are FPT_MAX_CAP entries apart, or less, are (hi, lo) apart at most?  Then
 * fpt_page_fill() makes such a page of them, whatever the nodes begin with: a
 * base is up to a quarter of what can be told below its node's first key.
 * False of a geometry that there is not.
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
