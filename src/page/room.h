/*-------------------------------------------------------------------------
 *
 * page/room.h
 *	  Making room in a page for an entry whose node is full.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_ROOM_H
#define FPT_PAGE_ROOM_H

#include "page/layout.h"
#include "page/node.h"

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

#endif							/* FPT_PAGE_ROOM_H */
