/*-------------------------------------------------------------------------
 *
 * page/widths.h
 *	  Which widths nodes have, and layouts of pages that have these.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_WIDTHS_H
#define FPT_PAGE_WIDTHS_H

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

#endif							/* FPT_PAGE_WIDTHS_H */
