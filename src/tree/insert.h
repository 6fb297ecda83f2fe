/*-------------------------------------------------------------------------
 *
 * tree/insert.h
 *	  Inserting an entry: aminsert.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_INSERT_H
#define FPT_TREE_INSERT_H

#include "access/genam.h"
#include "nodes/execnodes.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"

/*
 * aminsert: put the entry of a row in, unless its key has to be unique and is
 * not, or the check is only made again (UNIQUE_CHECK_EXISTING).  Returns true,
 * but for what may be a conflict where the caller is to find out later
 * (UNIQUE_CHECK_PARTIAL).  Raises an error about a duplicate, a key that is too
 * long, damage, and about what serializable transactions do.
 *
 * No page may be locked before; none is locked or pinned on return, nor while
 * another transaction is waited for (L7).  It can be cancelled then, and in the
 * descent, but not from the leaf's lock to the entry's record.  Reads
 * catalogues.  Of general keys a description is kept in indexInfo->ii_Context.
 */
extern bool fptinsert(Relation rel, Datum *values, bool *isnull,
					  ItemPointer ht_ctid, Relation heapRel,
					  IndexUniqueCheck checkUnique, bool indexUnchanged,
					  IndexInfo *indexInfo);

#endif							/* FPT_TREE_INSERT_H */
