/*-------------------------------------------------------------------------
 *
 * key/itup.h
 *	  General keys as index tuples of core's format.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_ITUP_H
#define FPT_KEY_ITUP_H

#include "key/column.h"
#include "key/general.h"

/*
 * Items for n entries of a page, all NULL in their first column or none, whose
 * heads and tuples "run" tells.  With FPT_ITUP_STORED the page's prefix, if its
 * entries have one, follows the tuple.  Neighbours that share a tuple, and have
 * the same head, share the item.  The page is locked, or a copy.  t->data is
 * allocated by the caller, and grows in its context: want of memory is all that
 * may raise.  An entry whose tuple makes no sense is copied as it is, for
 * fpt_general_write() to complain about.
 */
extern void fpt_general_write_page(const FPTGeneral *g, const char *page,
								   bool isnull, int n, const FPTRun *run,
								   FPTItups *t, uint32 *items);

#endif							/* FPT_KEY_ITUP_H */
