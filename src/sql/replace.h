/*-------------------------------------------------------------------------
 *
 * sql/replace.h
 *	  Can an fptree index take a btree's place, or the other way round, and by
 *	  which statements?
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SQL_REPLACE_H
#define FPT_SQL_REPLACE_H

#include "nodes/pg_list.h"
#include "utils/relcache.h"

/* How an index may be replaced, or why it cannot be. */
typedef struct FPTReplacement
{
	Oid			am;				/* the other access method */
	bool		has_opclasses;	/* it has all of these: */
	Oid			opclasses[INDEX_MAX_KEYS];
	int			fillfactor;		/* as the index's options say; 0: they do not */
	char	   *reasons;		/* why it cannot be replaced; NULL: it can */
} FPTReplacement;

/*
 * Look into the catalogues.  The index, of btree's or ours, and its table are
 * locked; it may be a partitioned one.  Results are in the current context.
 * Raises nothing but what catalogues may.
 */
extern void fpt_replace_judge(Relation index, FPTReplacement *r);

/*
 * Add to the reasons of a partitioned index what stands against dropping this
 * partition's, which is locked, as its table is.  As fpt_replace_judge().
 */
extern void fpt_replace_judge_part(Relation part, FPTReplacement *r);

/*
 * The statements, as C strings in order, each a transaction of its own.  Only
 * of an index that can be replaced.  Locks the partitions of a partitioned
 * index, AccessShareLock, to the end of the transaction.
 */
extern List *fpt_replace_statements(Relation index, const FPTReplacement *r);

#endif							/* FPT_SQL_REPLACE_H */
