/*-------------------------------------------------------------------------
 *
 * page/copy.h
 *	  Entries copied out of a page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_COPY_H
#define FPT_PAGE_COPY_H

#include "page/format.h"
#include "page/layout.h"
#include "page/node.h"

/*
 * Copy all entries in order; returns their number or -1: corrupt, also if there
 * are more than a page has, or more than "max", or one of a leaf has no heap
 * TID.  Tuples are not copied: keys point into the page.
 */
extern int	fpt_page_extract(const FPTLayout *l, void *page, FPTEntry *out,
							 int max);

/*
 * Copy entries first .. last - 1 (places; last.kid may be nkids) to run's
 * arrays, skipping those whose hint bit is set if skip_dead.  Returns their
 * number or -1: corrupt, what is in the arrays means nothing; so is a page with
 * more entries there than run->max, or than any page has.  Those that are
 * not NULL have room for FPT_MAX_ENTRIES, or for the kid's FPT_MAX_CAP if the
 * range is within one; tupoffs and tuplens come together.  run->tupbytes, zero
 * before, stays within BLCKSZ, whatever the page holds.
 */
extern int	fpt_page_copy(const FPTLayout *l, void *page, FPTLoc first,
						  FPTLoc last, bool skip_dead, FPTRun *run);

/*
 * fpt_page_copy() of all entries of a page, which is locked or a copy.  Returns
 * their number, or -1 if the page contradicts itself.
 */
static inline int
fpt_page_copy_all(const FPTLayout *l, void *page, bool skip_dead, FPTRun *run)
{
	FPTLoc		first = {0};
	FPTLoc		last = {.kid = fpt_header(page)->nkids};

	return fpt_page_copy(l, page, first, last, skip_dead, run);
}

/*
 * What fpt_page_copy() copies of the range of all entries of one image, in a
 * locked leaf page or a copy, mostly for a third of the work; *kid is their
 * node.  FPT_NO_IMAGE: this cannot tell, ask fpt_page_range().
 */
extern int	fpt_page_copy_image(const FPTLayout *l, void *page,
								const FPTKey *key, bool skip_dead, FPTRun *run,
								int *kid);

/*
 * The place n entries (one at least) after "from" in a leaf page of image keys,
 * or before it (dir < 0), and the entry there.  False: the page ends before, is
 * one of numbers, or is corrupt; then *to and *e mean nothing.  Raises nothing.
 */
extern bool fpt_page_away(const FPTLayout *l, void *page, const FPTLoc *from,
						  int n, int dir, FPTLoc *to, FPTEntry *e);

/*
 * The TIDs of these of a node's slots, which are in use, in the slots' order;
 * there is room for FPT_MAX_CAP.  Returns their number, or -1: one is no heap
 * TID.
 */
extern int	fpt_node_tids(FPTPage pg, const char *node, uint64 used,
						  uint64 *tids);

/*
 * The TIDs of all entries of a leaf page, node by node, of each in the order of
 * slots, not of keys: that takes a third of the time.  slotids, as in FPTRun,
 * may be NULL.  There is room for FPT_MAX_ENTRIES.  Returns their number or -1:
 * corrupt, or no leaf page.  All of them can be heap TIDs.
 */
extern int	fpt_page_tids(const FPTLayout *l, void *page, uint64 *tids,
						  uint16 *slotids);

/* Bits first .. first + n - 1 of a string of them: 1 to 64. */
static inline uint64
fpt_bits_get(const uint64 *bits, int first, int n)
{
	int			shift = first % 64;
	uint64		v = bits[first / 64] >> shift;

	Assert(first >= 0 && n >= 1 && n <= 64);
	if (shift + n > 64)
		v |= bits[first / 64 + 1] << (64 - shift);
	return v & (~UINT64CONST(0) >> (64 - n));
}

/*
 * Which slots are meant by marks on n entries in that order, bits of a string
 * from "first" on: gone[] has a set of slots for each node in use, by its
 * number, those of other nodes are not set.  Returns how many entries are
 * marked; -1 if the page has not n, or is corrupt.
 */
extern int	fpt_page_marked(const FPTLayout *l, void *page,
							const uint64 *marks, int first, int n,
							uint64 gone[FPT_MAX_NODES]);

#endif							/* FPT_PAGE_COPY_H */
