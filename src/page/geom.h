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
 * Choose widths by goal G: the largest page fan-out among the (w, x) whose
 * analytical search cost is within 10% of the best.  For all key widths up to
 * keysize (in bytes) and all kinds.  force_w / force_x: lines, 0 or a
 * reloption's value.  Returns false if the forced widths make no usable page:
 * "widths" are of no use then.
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

#endif							/* FPT_PAGE_GEOM_H */
