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
#include "utils/relcache.h"

#include "page/layout.h"
#include "store/index.h"
#include "tree/reach.h"

/* VACUUM's means to take pages out, and the results. */
typedef struct FPTPrune
{
	Relation	rel;
	FPTIndex   *ix;				/* VACUUM's copy */
	BufferAccessStrategy strategy;	/* pages are read through it */
	IndexBulkDeleteResult *stats;
	FPTReach   *reach;
	uint32		npages;			/* pages of the index when the walk began */
	uint32		ninner;			/* inner pages that were unlinked */
	bool		lost;			/* an empty page's downlink was not found */
	FPTWork    *work;			/* for the kernel, or NULL: not yet needed */
} FPTPrune;

/* Between which pages an unlinked one was; FPT_NOPAGE at the level's ends. */
typedef struct FPTHeir
{
	uint32		left;
	uint32		right;
	bool		to_right;		/* its range is the right one's now */
} FPTHeir;

/*
 * Unlink a leaf if it still is empty and can be spared.  True: it is gone, and
 * *heir says where it was.  Nothing is locked or pinned before or after.
 * Cannot be cancelled while pages are locked.  Raises an error if they are
 * damaged, or if comparing keys does.
 */
extern bool fpt_unlink_leaf(FPTPrune *p, uint32 pageno, FPTHeir *heir);

#endif							/* FPT_TREE_UNLINK_H */
