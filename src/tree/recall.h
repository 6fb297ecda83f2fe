/*-------------------------------------------------------------------------
 *
 * tree/recall.h
 *	  Separators of leaf parents that the session remembers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_RECALL_H
#define FPT_TREE_RECALL_H

#include "storage/buf.h"
#include "utils/rel.h"

#include "page/format.h"
#include "page/layout.h"
#include "store/index.h"
#include "tree/search.h"

/* fptree.separator_memory: kB of them, of all indexes; 0: none, nobody asks. */
extern int	fpt_guc_separator_memory;

/* Its assign_hook: forgets separators beyond the limit.  Raises nothing. */
extern void fpt_recall_limit(int kilobytes, void *extra);

/*
 * Searches of an index that find no separators, until the leaf parent of the
 * next one is copied, which costs as much as 25 to 60 searches gain.  It is
 * twice as many, up to FPT_RECALL_WAITS times, after each copy that was of
 * little use, and half as many as soon as one has been of use.
 */
#define FPT_RECALL_AFTER	32
#define FPT_RECALL_WAITS	7

/* Indexes whose OIDs have the same remainder. */
#define FPT_RECALL_BUCKETS	256

typedef struct FPTRecallBucket
{
	struct FPTRecalled *first;	/* tree/recall.c's, or NULL */
	uint16		searches;		/* that found no separators, of late */
	uint8		waits;			/* doublings of FPT_RECALL_AFTER */
} FPTRecallBucket;

extern FPTRecallBucket fpt_recall[FPT_RECALL_BUCKETS];

static inline FPTRecallBucket *
fpt_recall_bucket(Oid relid)
{
	return &fpt_recall[relid % FPT_RECALL_BUCKETS];
}

/* A search has found no separators: is the leaf parent to be copied? */
static inline bool
fpt_recall_due(FPTRecallBucket *b)
{
	return ++b->searches >= FPT_RECALL_AFTER << b->waits;
}

/*
 * fpt_recall_leaf() where separators are remembered; or none are, and "due",
 * and so they shall be.
 */
extern Buffer fpt_recall_search(Relation rel, FPTIndex *ix, const FPTKey *key,
								int lock, const FPTLook *look, bool due);

/*
 * The leaf that covers key, by the separators that are remembered, locked as
 * asked; or InvalidBuffer, and no lock: the caller must descend.  So it must
 * where the range of "look", which may be NULL, goes on after that leaf (R4).
 *
 * No page may be locked before (R2).  Raises an error if a page is damaged, as
 * a descent does, and may be cancelled.  Separators are in a context of their
 * own, below TopMemoryContext.
 */
static inline Buffer
fpt_recall_leaf(Relation rel, FPTIndex *ix, const FPTKey *key, int lock,
				const FPTLook *look)
{
	FPTRecallBucket *b = fpt_recall_bucket(RelationGetRelid(rel));
	bool		due = false;

	if (fpt_guc_separator_memory == 0 || key->cls != FPT_CLS_VALUE ||
		fpt_is_general(&ix->layout))
		return InvalidBuffer;
	if (b->first == NULL)
	{
		due = fpt_recall_due(b);
		if (likely(!due))
			return InvalidBuffer;
	}
	return fpt_recall_search(rel, ix, key, lock, look, due);
}

#endif							/* FPT_TREE_RECALL_H */
