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
 * The entry's node is full: split it inside the page, else shift entries to a
 * node with room, else reorganise the page, so that fpt_page_insert can
 * succeed.  FPT_FULL: the page is all but full, split it.  "work" may be NULL,
 * which the first two of these never need.
 *
 * The page is a private copy.  FPT_OK: a free slot awaits the entry, which is
 * to follow at once, as its node may be empty.  FPT_FULL and FPT_NO_WORK: the
 * page has the entries it had.  FPT_UNFIT, FPT_DUPLICATE: as fpt_page_insert().
 * Else it may be half changed.  May raise, half-way, too.
 */
extern FPTResult fpt_page_make_room(const FPTLayout *l, void *page,
									const FPTEntry *e, FPTWork *work);

/*
 * The same after entries were removed to make room: free slots are used
 * wherever in the page they are.
 */
extern FPTResult fpt_page_find_room(const FPTLayout *l, void *page,
									const FPTEntry *e, FPTWork *work);

/*
 * Rebuild a page of many free slots in fewer nodes, whose bytes go to the hole:
 * an image of it in WAL is shorter.  Dead-entry hints stay with their entries.
 * FPT_FULL: not worth it, the page is unchanged.  FPT_NO_WORK: it would be, but
 * "work" is NULL.  FPT_CORRUPT: the page, a private copy where "work" is given,
 * may be half changed.  Raises nothing.
 */
extern FPTResult fpt_page_pack(const FPTLayout *l, void *page, FPTWork *work);

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

/*
 * Where among n entries in key order are those that came last?  Rows are put
 * into a table one behind the other, so it is those with the k highest TIDs
 * (FPT_RECENT_MAX at most): "from" to "to".  True if the way from one to the
 * other is half of all entries, or less, which is unlikely if keys come in
 * random order, and if no more than half of the way from the first to the last
 * of them in the table, and a block, is between two: the last rows of a load
 * are no sign of where those will be that come much later.  False, too, if
 * there are less than k, or k is less than 2; *band means nothing then.
 */
#define FPT_RECENT_MAX		16
typedef struct FPTBand
{
	int			from;			/* the first and the last one of those, */
	int			to;				/* counted from 0; others may be between */
	bool		local;			/* they lie together in the table, too: on a
								 * block, or on two next to each other */
} FPTBand;

extern bool fpt_recent_band(const uint64 *tids, int n, int k, FPTBand *band);

#endif							/* FPT_PAGE_MODIFY_H */
