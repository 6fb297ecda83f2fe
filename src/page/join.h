/*-------------------------------------------------------------------------
 *
 * page/join.h
 *	  One page of two neighbours' entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_JOIN_H
#define FPT_PAGE_JOIN_H

#include "page/layout.h"

/* Memory of fpt_page_join(), the caller's: nothing in it outlives the call. */
typedef struct FPTJoinWork
{
	char		formed[BLCKSZ];
	FPTEntry	entries[FPT_MAX_ENTRIES];
	FPTWork		work;
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

#endif							/* FPT_PAGE_JOIN_H */
