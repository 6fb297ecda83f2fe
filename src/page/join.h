/*-------------------------------------------------------------------------
 *
 * page/join.h
 *	  One page of two neighbours' entries, or a full one and the rest.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_JOIN_H
#define FPT_PAGE_JOIN_H

#include "page/layout.h"

/*
 * Memory of fpt_page_join() and fpt_page_slide(), the caller's: nothing in it
 * outlives the call but the fence.
 */
typedef struct FPTJoinWork
{
	char		formed[BLCKSZ];
	FPTEntry	entries[FPT_MAX_ENTRIES];
	FPTWork		work;
	FPTKeyBuf	sep;			/* fence between the two after a slide */
} FPTJoinWork;

/*
 * How full a page is, in thousandths of what fpt_page_space() calls its room.
 * -1: the page is corrupt.  Raises nothing.
 */
extern int	fpt_page_thousandths(const FPTLayout *l, void *page);

/*
 * The same of a leaf page with n entries, roughly: of general keys with tuples
 * of their own, some of these are counted, which takes a hundredth of the time.
 */
extern int	fpt_page_guess_fill(const FPTLayout *l, void *page, int n);

/*
 * Put the entries of a leaf page's right neighbour after its own, and let it
 * end where that one ends.  The page is a private copy; the neighbour is only
 * read.  Links and flags of the page stay.  "most": how full the page may be
 * then, in thousandths.  If the hole has room for them, the entries are added
 * one by one, and nothing else moves; otherwise the page is formed anew, for a
 * table of "reach" blocks (FPTPageSpec).
 *
 * FPT_OK.  FPT_FULL: they do not fit, or general keys do not ascend, or not
 * between the fences; FPT_CORRUPT: one of the pages is, as images show
 * that do not.  Then it is undefined what the page is.  May raise.
 */
extern FPTResult fpt_page_join(const FPTLayout *l, void *page, void *right,
							   int most, uint32 reach, FPTJoinWork *work);

/*
 * Hand the first entries of a leaf page's right neighbour over to the page: as
 * many as make it about as full as "most" allows, and no fuller.  Both pages
 * are private copies.  The neighbour keeps one entry at least, and begins at
 * work->sep, where the page ends.  Links and flags stay.
 *
 * FPT_OK.  FPT_FULL: next to nothing fits, or a fence does not, or as
 * fpt_page_join(); FPT_CORRUPT: one of the pages is.  Then it is undefined what
 * the pages are.  May raise.
 */
extern FPTResult fpt_page_slide(const FPTLayout *l, void *page, void *right,
								int most, uint32 reach, FPTJoinWork *work);

#endif							/* FPT_PAGE_JOIN_H */
