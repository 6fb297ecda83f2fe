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

extern bool fptinsert(Relation rel, Datum *values, bool *isnull,
					  ItemPointer ht_ctid, Relation heapRel,
					  IndexUniqueCheck checkUnique, bool indexUnchanged,
					  IndexInfo *indexInfo);

#endif							/* FPT_TREE_INSERT_H */
