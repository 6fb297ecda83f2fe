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
 * Write all tuples that the page refers to, as they are in the copy "from",
 * together below the special line; what becomes free is added to the hole.
 * Changes offsets and tuples only.  FPT_CORRUPT: it has stopped half-way.
 * Raises nothing.
 */
extern FPTResult fpt_tuples_gather(FPTPage pg, const char *from);

/*
 * The same, once keys of the dictionary that no entry has are dropped; the copy
 * is made in work->page, and the rest of *work is not touched.
 */
extern FPTResult fpt_page_compact(FPTPage pg, FPTWork *work);

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
