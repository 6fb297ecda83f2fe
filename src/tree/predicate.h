/*-------------------------------------------------------------------------
 *
 * tree/predicate.h
 *	  Predicate locks of serializable transactions: of leaves, and of intervals
 *	  of the key space.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_PREDICATE_H
#define FPT_TREE_PREDICATE_H

#include "access/genam.h"
#include "access/xact.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "page/layout.h"
#include "store/index.h"

/* A read of one leaf, which is locked, and the predicate locks it has taken. */
typedef struct FPTReading
{
	bool		on;				/* there may be something to lock */
	bool		goeson;			/* the read after this one is of the same leaf,
								 * which it goes on with */
	bool		whole;			/* the leaf is: no more is needed */
	int			ncells;			/* cells that are */
	uint64		at;				/* number up to which it was read: see
								 * fpt_reading_gap() */
	Relation	rel;
	const FPTIndex *ix;
	Snapshot	snapshot;
	void	   *page;
	uint32		pageno;
	const FPTKey *low;			/* bounds of the part that is read */
	const FPTKey *high;
} FPTReading;

/*
 * Entries of a leaf from "low" to "high", all of those that will be read in it,
 * are about to be read by a serializable transaction; the keys live until it is
 * unlocked.  "keys": a value that matches has a number between those of the
 * range's ends; else the leaf is locked, and the other functions do nothing.
 * p->goeson is the caller's to set: what the last call has locked of this leaf
 * counts then.
 *
 * For this one and the next three the page is locked to read, and stays so.
 * They raise errors for want of shared memory, and where general keys are
 * compared functions of types do (L7).  They allocate nothing of ours.
 */
extern void fpt_reading_begin(FPTReading *p, IndexScanDesc scan,
							  const FPTIndex *ix, void *page,
							  const FPTKey *low, const FPTKey *high,
							  bool keys);

/* The range lo .. hi, as far as it is within the bounds, is read. */
extern void fpt_reading_range(FPTReading *p, const FPTKey *lo,
							  const FPTKey *hi);

/*
 * It is not yet known how far it is read from lo on: up to the key of the call
 * of fpt_reading_gap() that follows, or to the bound if that is nearer.
 */
extern void fpt_reading_from(FPTReading *p, const FPTKey *lo);
extern void fpt_reading_gap(FPTReading *p, const FPTKey *to);

/*
 * An insertion of this key into leaf pageno, which is locked exclusively and
 * covers it: raises an error if this serializable transaction must fail because
 * another one has read there.  Nothing has been changed.
 */
extern void fpt_predicate_insert(Relation rel, const FPTIndex *ix,
								 const FPTKey *key, uint32 pageno);

/* The same, for all transactions: nothing to do but in serializable ones. */
static inline void
fpt_predicate_check(Relation rel, const FPTIndex *ix, const FPTKey *key,
					uint32 pageno)
{
	if (unlikely(IsolationIsSerializable()))
		fpt_predicate_insert(rel, ix, key, pageno);
}

#endif							/* FPT_TREE_PREDICATE_H */
