/*-------------------------------------------------------------------------
 *
 * page/form.h
 *	  Making a page of sorted entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_FORM_H
#define FPT_PAGE_FORM_H

#include "page/layout.h"

/*
 * Make a page of n sorted entries: choose base and encoding and fill
 * it.  Entries of inner pages: *entries is changed where it stands for
 * minus infinity.
 */
extern FPTResult fpt_page_form(const FPTLayout *l, void *page,
							   const FPTPageSpec *spec, FPTEntry *entries,
							   int n, int fill);

/*
 * What the reach of a page shall be that is made of a leaf page's entries and
 * others, n in all: no less than this one's, or each half of it would be made
 * anew once more.
 */
extern uint32 fpt_page_reach(const FPTLayout *l, void *page,
							 const FPTEntry *entries, int n);

/*
 * Has a page of general keys without room so many entries of the same keys that
 * one with a dictionary would have an eighth of its space free?
 */
extern bool fpt_page_repeats(const FPTLayout *l, void *page, FPTWork *work);

#endif							/* FPT_PAGE_FORM_H */
