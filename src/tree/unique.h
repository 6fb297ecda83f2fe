/*-------------------------------------------------------------------------
 *
 * tree/unique.h
 *	  Uniqueness checks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_UNIQUE_H
#define FPT_TREE_UNIQUE_H

#include "access/genam.h"
#include "storage/buf.h"
#include "utils/relcache.h"

#include "page/layout.h"
#include "store/index.h"

/* The row whose key is checked, and what was found. */
typedef struct FPTUniqueCheck
{
	Relation	heapRel;
	Datum	   *values;			/* of the index's columns */
	bool	   *isnull;
	IndexUniqueCheck how;		/* not UNIQUE_CHECK_NO */
	bool		is_unique;		/* false: there may be a conflict
								 * (UNIQUE_CHECK_PARTIAL) */
	uint32		token;			/* not 0: wait for this speculative insertion
								 * of the transaction */
} FPTUniqueCheck;

/*
 * Look for a conflicting entry, from the locked leaf that covers (key, 0) on.
 * Returns the transaction to wait for, or an invalid one; buf is still locked.
 * Raises an error, with no lock left, if there is a conflict.  Asks the table,
 * so that relcache invalidations may be processed: *ix of image keys may be
 * gone.  The leaf is locked exclusively, nothing else is; meanwhile a leaf to
 * its right, or two, are, to read (L3), and heap pages (L6).  Cannot be
 * cancelled.  Other errors are about damage, about the entry itself, if it is
 * not there (UNIQUE_CHECK_EXISTING), or are the table's and comparisons'; locks
 * are the transaction's to release then.  Frees what it allocates.
 */
extern TransactionId fpt_check_unique(Relation rel, FPTIndex *ix, Buffer buf,
									  const FPTKey *key, FPTUniqueCheck *c);

#endif							/* FPT_TREE_UNIQUE_H */
