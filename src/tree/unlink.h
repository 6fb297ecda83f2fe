/*-------------------------------------------------------------------------
 *
 * tree/unlink.h
 *	  Taking pages out of the tree.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_UNLINK_H
#define FPT_TREE_UNLINK_H

#include "access/genam.h"
#include "access/xlogdefs.h"
#include "storage/buf.h"
#include "utils/relcache.h"

#include "page/join.h"
#include "page/layout.h"
#include "store/index.h"
#include "store/wal.h"
#include "tree/reach.h"

/* VACUUM's means to take pages out, and the results. */
typedef struct FPTPrune
{
	Relation	rel;
	FPTIndex   *ix;				/* VACUUM's copy */
	BufferAccessStrategy strategy;	/* pages are read through it */
	IndexBulkDeleteResult *stats;
	FPTReach   *reach;
	uint32		blocks;			/* blocks that TIDs must reach: more than the
								 * table has, see fpt_tids_reach() */
	uint32		npages;			/* pages of the index when the walk began */
	uint32		ninner;			/* inner pages that were unlinked */
	uint32		njoined;		/* leaves that were merged */
	uint32		nslid;			/* leaves that others were filled from */
	bool		lost;			/* an empty page's downlink was not found */
	bool		mapfull;		/* the free space map cannot grow */
	uint32		nomap;			/* free pages that are not in it for that */
	FPTWork    *work;			/* for the kernel, or NULL: not yet needed */
	FPTJoinWork *join;			/* the same */
} FPTPrune;

/*
 * The pages that unlinking a page involves; locked in this order.  Siblings
 * are InvalidBuffer at the ends of a level.
 */
typedef struct FPTUnlink
{
	Buffer		left;
	Buffer		target;
	Buffer		right;
	Buffer		parent;
	FPTKey		low;			/* the target's fences */
	FPTKey		high;
	FPTLoc		loc;			/* the target's downlink in the parent */
	XLogRecPtr	before;			/* LSN of the right one before the record */
	bool		to_right;		/* the right sibling takes over, or the left */
	bool		alone;			/* locked, the target had our pin only (P7) */
} FPTUnlink;

/* Between which pages an unlinked one was; FPT_NOPAGE at the level's ends. */
typedef struct FPTHeir
{
	uint32		left;
	uint32		right;
	bool		to_right;		/* its range is the right one's now */
	XLogRecPtr	before;			/* LSN of the right one, and then: unless */
	XLogRecPtr	after;			/* to_right, only its link has changed */
} FPTHeir;

/*
 * Lock all pages that unlinking page "pageno" of "level" involves.  False (with
 * whatever is locked still in *u) if that is not possible now.  From left to
 * right, then the parent (L1), exclusively; nothing is locked before.  The
 * fences in *u are the target's own bytes.  Raises an error if links are
 * damaged, or as fpt_unlink_lock_parent() does.
 */
extern bool fpt_unlink_lock(FPTPrune *p, FPTUnlink *u, uint32 pageno,
							int level);

/*
 * The rest of it: the page and its left sibling, if there is one, are locked
 * exclusively, and *u has them.
 */
extern bool fpt_unlink_lock_rest(FPTPrune *p, FPTUnlink *u, int level);

/* Unlock and unpin the pages, whatever fpt_unlink_lock() returned. */
extern void fpt_unlink_release(FPTUnlink *u);

/*
 * Register the pages with a record in the order in which they are locked.  A
 * replay locks them in that order, too: it must not meet a reader of a standby
 * who couples locks from left to right (L8).
 */
extern void fpt_unlink_register(FPTUnlink *u, FPTWal *wal);

/*
 * Take the target out of the lists and its parent, in one record (L5, W2):
 * "wal", which may have the neighbour's page registered with other changes
 * already.  False: nothing was changed.  "wal" is over in either case.  All its
 * pages are locked exclusively, and stay so.  Raises an error, with nothing
 * changed, if one is damaged.  May allocate p->work, which stays.
 */
extern bool fpt_unlink_apply(FPTPrune *p, FPTUnlink *u, FPTWal *wal);

/* What the walk must know of a page that was unlinked; *u is still locked. */
extern FPTHeir fpt_unlink_heir(const FPTUnlink *u);

/*
 * Puts a free page into the free space map.  Returns false if the map cannot
 * grow, which is tried once.  Pages may be locked.  May raise an error.
 */
extern bool fpt_prune_record(FPTPrune *p, uint32 pageno);

/*
 * Unlink a leaf if it still is empty and can be spared.  True: it is gone, and
 * *heir says where it was.  Nothing is locked or pinned before or after.
 * Cannot be cancelled while pages are locked.  Raises an error if they are
 * damaged, or if comparing keys does.
 */
extern bool fpt_unlink_leaf(FPTPrune *p, uint32 pageno, FPTHeir *heir);

#endif							/* FPT_TREE_UNLINK_H */
