/*-------------------------------------------------------------------------
 *
 * exec/group.h
 *	  Entries of a batch that have the same key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_EXEC_GROUP_H
#define FPT_EXEC_GROUP_H

#include "access/genam.h"

#include "scan/state.h"

/* Neighbours in a batch, all that it has of one key */
typedef struct FPTGroup
{
	int			from;
	int			to;				/* exclusive */
	int			shown;			/* an entry whose row is visible, or -1 */
	int			rows;			/* that are visible, as far as is known */
} FPTGroup;

/* A key that outlives its batch */
typedef struct FPTGroupKey
{
	MemoryContext cxt;			/* of values that are passed by reference */
	bool		valid;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
} FPTGroupKey;

/* The groups of a batch, see fpt_groups_init(). */
typedef struct FPTGroups
{
	MemoryContext cxt;
	int			ncols;			/* the first columns of the index, which make
								 * up a key */
	int			n;
	int			max;
	FPTGroup   *list;			/* in the order of the index */
	FPTGroupKey key;			/* of the group that is looked for */
} FPTGroups;

/*
 * Prepare for a scan of an index by its first ncols columns; allocates in
 * "cxt", as all of these do.
 */
extern void fpt_groups_init(FPTGroups *g, MemoryContext cxt, int ncols);

/*
 * Divide the current batch of the scan, an index-only one.  "sorted": entries
 * that lie between two of the same key have that key; else each is compared
 * with the one before.
 *
 * No page is locked.  Runs functions of types, and raises errors of these, or
 * of entries that make no sense.
 */
extern void fpt_groups_find(IndexScanDesc scan, FPTGroups *g, bool sorted);

/* Copy a key. */
extern void fpt_group_copy(IndexScanDesc scan, const FPTGroups *g,
						   const Datum *values, const bool *isnull,
						   FPTGroupKey *key);

/* Are values that key?  Locks and errors as above. */
extern bool fpt_group_is_key(IndexScanDesc scan, const FPTGroups *g,
							 const Datum *values, const bool *isnull,
							 const FPTGroupKey *key);

/* The key of the i'th entry, copied.  Locks and errors as above. */
extern void fpt_group_key(IndexScanDesc scan, const FPTGroups *g, int i,
						  FPTGroupKey *key);

/* Has the i'th entry that key?  Locks and errors as above. */
extern bool fpt_group_has_key(IndexScanDesc scan, const FPTGroups *g, int i,
							  const FPTGroupKey *key);

#endif							/* FPT_EXEC_GROUP_H */
