/*-------------------------------------------------------------------------
 *
 * page/remove.h
 *	  Taking entries out of a page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_REMOVE_H
#define FPT_PAGE_REMOVE_H

#include "page/layout.h"

/*
 * Remove entries of all nodes: of each the slots in gone[] at its number; those
 * that are free count for nothing.  A node that becomes empty leaves the root:
 * kids behind it get other places.  Outside of *changed nothing but hints is
 * changed.  FPT_OK or FPT_CORRUPT: some may be removed, the page is a private
 * copy.  All in here raise nothing.
 */
extern FPTResult fpt_page_take(const FPTLayout *l, void *page,
							   const uint64 gone[FPT_MAX_NODES],
							   FPTChanges *changed);

/* Remove one entry.  FPT_CORRUPT: there is none, and nothing is changed. */
extern FPTResult fpt_page_delete(const FPTLayout *l, void *page, FPTLoc loc);

/*
 * Keep the first n entries only (page split); nodes stay where they are, and
 * tuples.  FPT_OK or FPT_CORRUPT: it has stopped half-way.
 */
extern FPTResult fpt_page_truncate(const FPTLayout *l, void *page, int n);

#endif							/* FPT_PAGE_REMOVE_H */
