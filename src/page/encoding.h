/*-------------------------------------------------------------------------
 *
 * page/encoding.h
 *	  What differs between encodings of pages, for the rare paths.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_ENCODING_H
#define FPT_PAGE_ENCODING_H

#include "page/layout.h"
#include "page/node.h"

extern FPTResult fpt_tuples_gather(FPTPage pg, const char *from);
extern FPTResult fpt_page_compact(FPTPage pg, FPTWork *work);
extern int	fpt_tuple_bytes(FPTPage pg);
extern int	fpt_tuple_garbage(FPTPage pg);

/*
 * May e, which belongs at p, go into a page with a dictionary?  FPT_FULL: the
 * dictionary does not have the key.  FPT_UNFIT: nor can it, because e is of
 * another class, or equals a key that is not alike.
 */
extern FPTResult fpt_dict_admits(FPTPage pg, const FPTEntry *e,
								 const FPTPlace *p);

#endif							/* FPT_PAGE_ENCODING_H */
