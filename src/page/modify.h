/*-------------------------------------------------------------------------
 *
 * page/modify.h
 *	  Changing a page: insert, delete, split, build.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_MODIFY_H
#define FPT_PAGE_MODIFY_H

#include "page/layout.h"
#include "page/node.h"
#include "page/prefix.h"

/*
 * Change a fence of a page that is no longer, or not yet, searched: a private
 * copy.  FPT_FULL: there is no room for its tuple, even if all others are moved
 * together.  FPT_NO_WORK: they have to be, and "work" is NULL.  Unless FPT_OK
 * is returned the fence has no tuple, and the page is of no use.  The key's
 * tuple is not in the page.
 */
extern FPTResult fpt_page_set_low(const FPTLayout *l, void *page,
								  const FPTKey *low, FPTWork *work);
extern FPTResult fpt_page_set_high(const FPTLayout *l, void *page,
								   const FPTKey *high, FPTWork *work);

/*
 * Make an empty page of this encoding.  base is what keys are stored relative
 * to, tidbase the block that short TIDs are.  Links and flags are zero.
 * Fences' tuples, which are not in the page's bytes, are copied.
 */
extern void fpt_page_init(const FPTLayout *l, void *page,
						  const FPTPageSpec *spec, int enc,
						  const FPTKey *base, uint32 tidbase);

/*
 * Insert into a free slot of the entry's node, the common case.  Adds to *edit
 * the bytes that change, hints apart.  FPT_FULL: see fpt_page_make_room();
 * FPT_UNFIT: this page cannot have the key or TID at all; FPT_DUPLICATE: it has
 * the entry.  Unless FPT_OK is returned nothing is changed.  May raise, before
 * anything is changed.
 */
extern FPTResult fpt_page_insert(const FPTLayout *l, void *page,
								 const FPTEntry *e, FPTEdit *edit);

/*
 * The same in two steps.  The first one only looks, and does what comparing of
 * keys there is; FPT_OK if the second one, which cannot fail, may follow, on
 * the page as it is (L12).  *e becomes the entry as the page will have it
 * (fpt_page_localize), which is what the second one takes.
 */
extern FPTResult fpt_page_insert_find(const FPTLayout *l, void *page,
									  const FPTEntry **e, FPTLocal *local,
									  FPTPlace *p);
extern void fpt_page_insert_at(const FPTLayout *l, void *page,
							   const FPTEntry *e, const FPTPlace *p,
							   FPTEdit *edit);

/*
 * Where would e go?  FPT_OK only if there is a free slot for it (and room for
 * its tuple), FPT_FULL if only that is missing, or its key in the dictionary,
 * or the node cannot tell it (p's beyond), or its TID (crowded); *p is its
 * place then.  Else as
 * fpt_page_insert(); FPT_CORRUPT also for a class that no entry of this index
 * has.  Changes nothing; may raise.
 */
extern FPTResult fpt_insert_place(FPTPage pg, const FPTEntry *e, FPTPlace *p);

/*
 * Give free nodes behind the last one in use back to the hole, which is zeroed.
 * A corrupt page stays as it is.
 */
extern void fpt_page_trim(const FPTLayout *l, void *page);

/*
 * Make a page that was formed this moment a deleted one without nodes, as short
 * as can be.  What else is in it stays, fences and tuples above all.
 */
extern void fpt_page_strip(const FPTLayout *l, void *page);

/*
 * Change the downlink of an entry of an inner page.  FPT_OK or FPT_CORRUPT: no
 * such entry, or a leaf page.  Raises nothing.
 */
extern FPTResult fpt_page_set_down(const FPTLayout *l, void *page, FPTLoc loc,
								   uint32 down);

#endif							/* FPT_PAGE_MODIFY_H */
