/*-------------------------------------------------------------------------
 *
 * tree/reach.h
 *	  Which pages downlinks lead to, and which were met: VACUUM's last proof.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_REACH_H
#define FPT_TREE_REACH_H

#include "storage/bufmgr.h"

#include "store/index.h"

/* Pages that are added to the index meanwhile are neither noted nor missed. */
typedef struct FPTReach
{
	Relation	rel;
	FPTIndex   *ix;
	uint32		npages;
	uint8	   *met;			/* a bit for each page: met in the tree */
	uint8	   *led;			/* the same: downlinks led there at first */
	uint8	   *around;			/* see fpt_sweep_around() */
	BufferAccessStrategy strategy;	/* by way of which pages are read */
} FPTReach;

/*
 * Nothing is noted yet.  Allocates two bits a page and some in the current
 * context, with which they are freed; npages: of the index.  *ix is the
 * caller's, and stays where it is.
 */
extern void fpt_reach_begin(FPTReach *r, Relation rel, FPTIndex *ix,
							uint32 npages, BufferAccessStrategy strategy);

/*
 * Go through the levels above the leaves, from the root down, and note their
 * pages and what they lead to.  Before any leaf is visited: then whatever is
 * noted is linked until VACUUM itself unlinks it.  One page is locked at a
 * time, to read; between two VACUUM may be cancelled or delayed.  Raises an
 * error if one is damaged.  The walk takes no more steps than the index has
 * pages (L11).  asked: what fpt_sweep_front() returned, if the file is read
 * from front to back next, else 0.
 */
extern void fpt_reach_inner(FPTReach *r, uint32 asked);

/*
 * Certify that every page to which a downlink led when VACUUM began was met, in
 * the inner levels or by the walk, which is over (P1).  The proofs of the walk
 * compare a leaf with its neighbours, and neighbours may agree on a lie: if a
 * leaf is split and the writes of it and of its old right sibling are both
 * lost, then they are what they were before, and fit.  But their parent leads
 * to the new leaf, and so would searches.  Locks nothing; may be cancelled.
 * Raises an error if a page was passed by.
 */
extern void fpt_reach_certify(FPTReach *r);

/*
 * A page was met in the tree; one that came later (FPTReach) may be told,
 * too.
 */
static inline void
fpt_reach_note(FPTReach *r, uint32 pageno)
{
	if (pageno < r->npages)
		r->met[pageno / 8] |= 1 << (pageno % 8);
}

/*
 * A leaf that was met is unlinked, and may be used again at once: it is as if
 * nothing had led to it.  If it is met again, it is another one.
 */
static inline void
fpt_reach_forget(FPTReach *r, uint32 pageno)
{
	if (pageno >= r->npages)
		return;
	Assert((r->met[pageno / 8] & (1 << (pageno % 8))) != 0);
	r->met[pageno / 8] &= ~(1 << (pageno % 8));
	r->led[pageno / 8] &= ~(1 << (pageno % 8));
}

/* Was this page, one of the first npages, met? */
static inline bool
fpt_reach_noted(const FPTReach *r, uint32 pageno)
{
	Assert(pageno < r->npages);
	return (r->met[pageno / 8] & (1 << (pageno % 8))) != 0;
}

#endif							/* FPT_TREE_REACH_H */
