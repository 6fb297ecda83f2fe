/*-------------------------------------------------------------------------
 *
 * page/hints.h
 *	  Hints of dead entries in a leaf page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_HINTS_H
#define FPT_PAGE_HINTS_H

#include "page/layout.h"

/* Is this a leaf page, with room for the hint bitmap in its hole? */
extern bool fpt_page_has_hints(const FPTLayout *l, void *page);

/* Is this slot (number as in FPTRun.slotids) used and its TID this one? */
extern bool fpt_page_slot_is(const FPTLayout *l, void *page, int slotid,
							 uint64 tid);

/* Where a leaf page's hints are, or none: bytes *from .. *to - 1 of its hole */
extern void fpt_page_hint_area(const FPTLayout *l, void *page, int *from,
							   int *to);

/*
 * The hint of a slot; of numbers that no slot has there is none, and none is
 * set.  Setting one is not logged.
 */
extern bool fpt_page_hint_get(const FPTLayout *l, void *page, int slotid);
extern void fpt_page_hint_set(const FPTLayout *l, void *page, int slotid);

/*
 * The hints of all entries: hints[] has a set of slots for each node in use, by
 * its number, those of other nodes are not set.  Returns whether there are any
 * hints; false of a page that cannot have any, or makes no sense.
 */
extern bool fpt_page_hints(const FPTLayout *l, void *page,
						   uint64 hints[FPT_MAX_NODES]);

#endif							/* FPT_PAGE_HINTS_H */
