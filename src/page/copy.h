/*-------------------------------------------------------------------------
 *
 * page/copy.h
 *	  Entries copied out of a page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_COPY_H
#define FPT_PAGE_COPY_H

#include "page/format.h"
#include "page/layout.h"

/* Copy all entries in order; returns their number or -1 (corrupt). */
extern int	fpt_page_extract(const FPTLayout *l, void *page, FPTEntry *out,
							 int max);

/*
 * Copy entries first .. last - 1 (places; last.kid may be nkids) to run's
 * arrays, skipping those whose hint bit is set if skip_dead.  Returns their
 * number or -1.
 */
extern int	fpt_page_copy(const FPTLayout *l, void *page, FPTLoc first,
						  FPTLoc last, bool skip_dead, FPTRun *run);

/*
 * fpt_page_copy() of all entries of a page, which is locked or a copy.  Returns
 * their number, or -1 if the page contradicts itself.
 */
static inline int
fpt_page_copy_all(const FPTLayout *l, void *page, bool skip_dead, FPTRun *run)
{
	FPTLoc		first = {0};
	FPTLoc		last = {.kid = fpt_header(page)->nkids};

	return fpt_page_copy(l, page, first, last, skip_dead, run);
}

#endif							/* FPT_PAGE_COPY_H */
