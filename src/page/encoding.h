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

/*
 * Bytes of all tuples, fences' included, and of the dictionary, as far as they
 * are in use; and bytes of the tuple area that nothing refers to.  -1: corrupt.
 * Both raise nothing.
 */
extern int	fpt_tuple_bytes(FPTPage pg);
extern int	fpt_tuple_garbage(FPTPage pg);

/*
 * May e, which belongs at p, go into a page with a dictionary?  FPT_FULL: the
 * dictionary does not have the key.  FPT_UNFIT: nor can it, because e is of
 * another class, equals a key that is not alike, or has a TID that is too wide.
 * Raises nothing: p's listed and lo tell what was compared.
 */
extern FPTResult fpt_dict_admits(FPTPage pg, const FPTEntry *e,
								 const FPTPlace *p);

#endif							/* FPT_PAGE_ENCODING_H */
