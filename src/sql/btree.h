/*-------------------------------------------------------------------------
 *
 * sql/btree.h
 *	  Reading pages of btree indexes, for estimates (sql/estimate.c).
 *
 * Pages are private copies.  Nothing on them is trusted: whatever could lead
 * beyond the copy, or beyond the file, is ERRCODE_INDEX_CORRUPTED.  Only what
 * values mean to their types is not asked, as btree itself does not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SQL_BTREE_H
#define FPT_SQL_BTREE_H

#include "storage/bufmgr.h"
#include "utils/relcache.h"

/* An open btree index; the caller has it locked. */
typedef struct FPTBtree
{
	Relation	rel;
	BufferAccessStrategy strategy;
	uint32		nblocks;		/* when it was last asked for */
	bool		equalimage;		/* may keys be deduplicated? */
} FPTBtree;

/* What a copy of a page is. */
typedef struct FPTBtreePage
{
	uint32		block;
	int			level;			/* 0: a leaf; -1: deleted, or half-dead */
	uint32		right;			/* 0: it is the last one */
	int			first;			/* its items, by number: no high key; */
	int			last;			/* first - 1: no items */
} FPTBtreePage;

/* A copy and some bytes that any reader of a value's header may see. */
#define FPT_BTREE_COPY		(BLCKSZ + MAXIMUM_ALIGNOF * 2)

/*
 * An entry of a leaf.  "key" is its tuple without header and TIDs, the same
 * bytes for equal keys that may be deduplicated.
 */
typedef struct FPTBtreeEntry
{
	uint64		tid;
	Datum	   *values;			/* as the index has them, or NULL */
	bool	   *isnull;
	const char *key;
	Size		keylen;
	Size		size;			/* of a tuple with this key and one TID */
} FPTBtreeEntry;

typedef void (*FPTBtreeVisit) (void *arg, const FPTBtreeEntry *entry);

/*
 * Begin to read, and find the root: returns false if the index is empty.
 * Locks one page at a time, to copy it.  Raises an error if the metapage makes
 * no sense.
 */
extern bool fpt_btree_begin(Relation rel, BufferAccessStrategy strategy,
							FPTBtree *bt, uint32 *root);

/*
 * Copy a page; "copy" has FPT_BTREE_COPY bytes, aligned.  Raises an error if
 * there is no such block, or it is not a btree's page.
 */
extern void fpt_btree_read(FPTBtree *bt, uint32 block, char *copy,
						   FPTBtreePage *page);

/*
 * The children of an inner page, in order, MaxIndexTuplesPerPage at most.
 * Returns their number.
 */
extern int	fpt_btree_children(const FPTBtree *bt, const char *copy,
							   const FPTBtreePage *page, uint32 *children);

/*
 * Visit a leaf's entries but the dead ones, in order.  "deform": with their
 * values, which point into the copy; names are as the index has them, without
 * the zeroes at the end.
 */
extern void fpt_btree_entries(const FPTBtree *bt, const char *copy,
							  const FPTBtreePage *page, bool deform,
							  FPTBtreeVisit visit, void *arg);

/*
 * A build of btree's that keeps nothing but the sizes of tuples: give it
 * entries in order, and ask how many leaves they take.
 */
typedef struct FPTBtreeFresh
{
	bool		dedup;
	int			full;			/* bytes to be left free */
	int			free;			/* bytes of the page that is being filled */
	int			nitems;			/* there */
	Size		lastsize;		/* of the last of them, */
	Size		lastextra;		/* more than without posting list */
	double		pages;			/* closed */
	double		keybytes;		/* of all entries, for inner pages */
	double		nkeys;

	/* the tuple that is being formed */
	char	   *key;			/* INDEX_SIZE_MASK bytes */
	Size		keylen;
	Size		size;
	int			ntids;			/* 0: no tuple */
} FPTBtreeFresh;

/* In the current context; raises nothing.  fillfactor: in percent. */
extern void fpt_btree_fresh_begin(FPTBtreeFresh *f, const FPTBtree *bt,
								  int fillfactor);
extern void fpt_btree_fresh_add(FPTBtreeFresh *f, const FPTBtreeEntry *entry);

/*
 * Returns the leaves, the last one counted as the part that is filled.
 * *per_inner: children of an inner page.
 */
extern double fpt_btree_fresh_end(FPTBtreeFresh *f, double *per_inner);

#endif							/* FPT_SQL_BTREE_H */
