/*-------------------------------------------------------------------------
 *
 * page/check.h
 *	  Is a page sound in itself?
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_CHECK_H
#define FPT_PAGE_CHECK_H

#include "page/layout.h"

/*
 * Full structural check of any BLCKSZ bytes, read as page "pageno": NULL if the
 * page is sound, else what is wrong, which is fault->what as well; "fault" may
 * be NULL, and means nothing if the page is sound.  The page is only read.  May
 * raise what comparing keys raises: a copy, or locked (L7).
 */
extern const char *fpt_page_check(const FPTLayout *l, void *page,
								  uint32 pageno, FPTFault *fault);

/*
 * The same but for the order of general keys, heads and separators included,
 * which only comparing them tells: this raises nothing and runs nobody's code.
 */
extern const char *fpt_page_check_form(const FPTLayout *l, void *page,
									   uint32 pageno, FPTFault *fault);

#endif							/* FPT_PAGE_CHECK_H */
