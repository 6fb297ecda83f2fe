/*-------------------------------------------------------------------------
 *
 * page/kernel.h
 *	  Searching and reading a page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_KERNEL_H
#define FPT_PAGE_KERNEL_H

#include "page/format.h"
#include "page/layout.h"
#include "page/node.h"

/* Geometry of a page; NULL if its encoding or its counts make no sense. */
extern const FPTGeom *fpt_page_geom(const FPTLayout *l, void *page);

/*
 * The sanity check made on every page read: cheap, O(1).  False: not page
 * "pageno" of this index, or its header cannot be.  True: encoding, counts,
 * borders and fences are what the kernel can work with; about entries it says
 * nothing.
 */
extern bool fpt_page_sane(const FPTLayout *l, void *page, uint32 pageno);

/* Number of entries, or -1: corrupt. */
extern int	fpt_page_count(const FPTLayout *l, void *page);

/* Number of nodes in use, or -1: corrupt. */
extern int	fpt_page_nodes(const FPTLayout *l, void *page);

/*
 * How full the page is.  FPT_CORRUPT: the tuples are not where they should be.
 * n: fpt_page_count(), and not -1.
 */
extern FPTResult fpt_page_space(const FPTLayout *l, void *page, int n,
								FPTSpace *space);

/* Number of entries of the kid, or -1: there is none, or corrupt. */
extern int	fpt_node_count(const FPTLayout *l, void *page, int kid);

/*
 * Read one entry; its tuple is the page's.  FPT_CORRUPT: it is not there, or
 * cannot be read.  Raises nothing.
 */
extern FPTResult fpt_page_get(const FPTLayout *l, void *page, FPTLoc loc,
							  FPTEntry *out);

/*
 * First entry >= key; loc->kid == nkids if there is none.  FPT_OK or
 * FPT_CORRUPT.  May raise.
 */
extern FPTResult fpt_page_lower_bound(const FPTLayout *l, void *page,
									  const FPTKey *key, FPTLoc *loc);

/*
 * The entries from .. to (both inclusive, from <= to): *first is the first one,
 * *last the place after the last one, the same as *first if there is none.  If
 * the place's rank is not 0 there is an entry.  FPT_OK or FPT_CORRUPT.  May
 * raise.
 */
extern FPTResult fpt_page_range(const FPTLayout *l, void *page,
								const FPTKey *from, const FPTKey *to,
								FPTLoc *first, FPTLoc *last);

/* Is this the range of all entries of one image? */
static inline bool
fpt_whole_image(const FPTLayout *l, const FPTKey *from, const FPTKey *to)
{
	return from->cls == FPT_CLS_VALUE && to->cls == FPT_CLS_VALUE &&
		from->lo == to->lo && from->hi == to->hi &&
		from->tid == 0 && to->tid == FPT_MAX_TID && !fpt_is_general(l);
}

/*
 * The child that covers key: downlink of the last separator <= key, or of the
 * first one.  FPT_CORRUPT: so is the page, or it is no inner page, or empty.
 * May raise.  *child is any number.
 */
extern FPTResult fpt_page_find_child(const FPTLayout *l, void *page,
									 const FPTKey *key, uint32 *child,
									 FPTLoc *loc);

/*
 * How far key is on the way from the separator at loc of an inner page, which
 * fpt_page_find_child() found for it, to the next one: 0 .. 65535.  0 where
 * that cannot be told.  Raises nothing that this did not.
 */
extern uint32 fpt_page_fraction(const FPTLayout *l, void *page, FPTLoc loc,
								const FPTKey *key);

/*
 * The verdict: the kid'th node of this leaf is where the search led.  Changes
 * the score, and notes what the leaf looks like.
 */
extern void fpt_guess_verdict(FPTGuess *guess, const FPTLayout *l, void *page,
							  int kid);

/*
 * Is it worth while to work out the fraction for a guess?  Not in the first
 * search, as most are the only one: nothing would use the verdict.
 */
static inline bool
fpt_guess_wanted(FPTGuess *guess)
{
	if (unlikely(guess->nkids == 0) && guess->skipped == 0)
	{
		guess->skipped++;
		return false;
	}
	return guess->score >= 0 || ++guess->skipped % 16 == 0;
}

/* Prefetch the i'th node of a leaf, if leaves look like the last one. */
static inline void
fpt_guess_lines(const FPTGuess *guess, const void *page, unsigned i)
{
	const char *node = (const char *) page + guess->node_off + i * guess->step;

	for (int b = 0; b < guess->step; b += FPT_LINE)
		fpt_prefetch(node + b);
	fpt_prefetch((const char *) page + guess->hint_off + i * guess->cap / 8);
}

/*
 * Guess and prefetch the node of a leaf for a key that is so far (0 .. 65535)
 * on the way through the leaf's range.  Where keys are spread evenly and nodes
 * are in order, as a build leaves them, the guess is right most of the time and
 * hides one of the two memory latencies of a leaf; elsewhere verdicts end it.
 * The node's dead-entry hints are wanted as well.
 */
static inline void
fpt_guess_prefetch(FPTGuess *guess, const void *page, uint32 fraction)
{
	unsigned	i = (guess->nkids * fraction) >> 16;

	guess->node = guess->node_off + i * guess->step;
	guess->pending = true;
	if (guess->score > 0)
		fpt_guess_lines(guess, page, i);
}

/* The same if there was a guess; each has one verdict. */
static inline void
fpt_guess_learn(FPTGuess *guess, const FPTLayout *l, void *page, int kid)
{
	if (guess->pending)
		fpt_guess_verdict(guess, l, page, kid);
}

/*
 * Step to the next (dir > 0) or previous entry; false at the page's end, or if
 * the page is corrupt.  Then *loc is behind the end, or as it was.
 */
extern bool fpt_page_step(const FPTLayout *l, void *page, FPTLoc *loc,
						  int dir);

/*
 * Where a key, TID included, is or belongs: fills *p.  FPT_OK or FPT_CORRUPT.
 * May raise.
 */
extern FPTResult fpt_locate(FPTPage pg, const FPTKey *key, FPTPlace *p);

/*
 * Does this kid, which follows the place of the key, begin with the very entry?
 * Nothing before the place is above the key.  1, 0 or -1: corrupt.  May raise
 * where slots own tuples.
 */
extern int	fpt_kid_has(FPTPage pg, int kid, const FPTKey *key,
						const FPTPlace *p);

/*
 * The entries of an image, whatever their TIDs, in a leaf page without
 * permutations: sets p's kid, node and eq, and nothing else that means
 * anything.  False: this cannot tell, ask fpt_page_range().  There
 * may be some in another kid, or none could be, or the page is corrupt.
 */
extern bool fpt_locate_image(FPTPage pg, const FPTKey *key, FPTPlace *p);

#endif							/* FPT_PAGE_KERNEL_H */
