/*-------------------------------------------------------------------------
 *
 * page/slots.h
 *	  Which slots of a node entries go to, and what insertions log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_SLOTS_H
#define FPT_PAGE_SLOTS_H

#include "page/format.h"
#include "page/layout.h"
#include "page/node.h"

/* One entry of so many with the head of the one before it is many. */
#define FPT_SPREAD_SHARE	4

/* --- edits --------------------------------------------------------------- */

/* These bytes, one at least and all within the page, have changed. */
static inline void
fpt_edit_add(FPTEdit *edit, void *page, const void *p, int len)
{
	Assert(len > 0);
	Assert((const char *) p >= (char *) page &&
		   (const char *) p + len <= (char *) page + BLCKSZ);
	Assert(edit->n < FPT_MAX_EDITS);
	edit->r[edit->n].off = (uint16) ((const char *) p - (char *) page);
	edit->r[edit->n].len = (uint16) len;
	edit->n++;
}

/*
 * The 8 bytes at p, of which the first ones may be meant: behind the last node
 * is the special line.
 */
static inline uint64
fpt_bytes8(const void *p)
{
	uint64		v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/*
 * Of the 8 bytes at p, which were "was", record those from the first to the
 * last one that changed.  The others are the same where the page is replayed
 * (W6): of an offset or a TID the upper ones are mostly zero.
 */
static inline void
fpt_edit_changed(FPTEdit *edit, void *page, const char *p, uint64 was)
{
	uint64		differ = fpt_bytes8(p) ^ was;
	int			first;
	int			end;

	if (differ == 0)
		return;
#ifdef WORDS_BIGENDIAN
	differ = __builtin_bswap64(differ);
#endif
	first = fpt_ctz(differ) / 8;
	end = 8 - __builtin_clzll(differ) / 8;
	fpt_edit_add(edit, page, p + first, end - first);
}

/* --- separators ---------------------------------------------------------- */

/*
 * Change the separator of a kid, and with it what its nodes' keys are relative
 * to.  FPT_FULL: one of them could not be told any more; nothing is changed.
 * FPT_CORRUPT: the page names nodes that there are not.  Raises nothing.
 */
extern FPTResult fpt_kid_set_sep(FPTPage pg, int kid, uint64 hi, uint64 lo);

/* --- slots --------------------------------------------------------------- */

/* The i'th of n slots so that free ones are left between them. */
static inline int
fpt_spread_slot(const FPTGeom *g, int i, int n)
{
	Assert(i < n && n <= g->cap);
	return i * g->cap / n;
}

/*
 * Shall free slots be left between the entries of a new node?  If many have the
 * head of the one before, new ones will have to go between the slots of two.
 */
extern bool fpt_node_spreads(const FPTGeom *g, const FPTRelEntry *e, int n);

/*
 * Spread the entries of a kid's node over its slots, as those of such a new one
 * are, in the order in which they are.
 */
extern void fpt_node_spread(FPTPage pg, int kid);

/*
 * Move slot "from" of a kid to the free slot "to" of a kid, hint included; both
 * have been opened.  Their orders are the caller's to mend.
 */
extern void fpt_slot_move(FPTPage pg, int fromkid, int from, int tokid, int to);

/*
 * Free the first m slots of a kid's node (by = 1), or the last ones: what is
 * there goes on to the nearest free slots, the order of slots stays.  The node
 * has m free slots, or more, and no permutation.
 */
extern void fpt_node_push(FPTPage pg, int kid, int m, int by);

/*
 * Has one of m slots of node a, which are in order, or the entry of node b that
 * they are put in front of (by = 1) or behind, the head of the one before?
 * Then they must not go into any slots.  False where the order of slots means
 * nothing.
 */
extern bool fpt_shift_ties(FPTPage pg, const char *a, const uint8 *slots, int m,
						   char *b, int by);

/*
 * The slot for a new entry in p's node, which has a free one.  Entries of one
 * head are in the order of their slots: if there is none between those of its
 * neighbours, some of them are moved.  *moved: so they were, and *edit says
 * what was changed; of the entry's own slot the payload.  Cannot fail: *p was
 * found in the page as it is (L12).
 */
extern int	fpt_insert_slot(FPTPage pg, const FPTPlace *p, FPTEdit *edit,
							bool *moved);

#endif							/* FPT_PAGE_SLOTS_H */
