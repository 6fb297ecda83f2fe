/*-------------------------------------------------------------------------
 *
 * page/number_check.h
 *	  Is a leaf page of numbers sound in itself?
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_NUMBER_CHECK_H
#define FPT_PAGE_NUMBER_CHECK_H

#include "page/number.h"

/*
 * Find a fault of such a page, whose identity and fences are sound; *fault says
 * more.  NULL: it has no fault.
 */
extern const char *fpt_num_check(const FPTLayout *l, void *page,
								 FPTFault *fault);

#endif							/* FPT_PAGE_NUMBER_CHECK_H */
