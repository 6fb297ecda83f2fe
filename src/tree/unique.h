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

/*
 * Look for a conflicting entry, from the locked leaf that covers (key, 0) on.
 * Returns the transaction to wait for (buf still locked), or an invalid one;
 * *is_unique false: a possible conflict was found (UNIQUE_CHECK_PARTIAL).
 */
extern TransactionId fpt_check_unique(Relation rel, FPTIndex *ix, Buffer buf,
									  const FPTKey *key, Relation heapRel,
									  Datum *values, bool *isnull,
									  IndexUniqueCheck checkUnique,
									  bool *is_unique,
									  uint32 *speculativeToken);

#endif							/* FPT_TREE_UNIQUE_H */
