/*-------------------------------------------------------------------------
 *
 * sql/heapcheck.h
 *	  Verification: the entries of an index against the rows of its table.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SQL_HEAPCHECK_H
#define FPT_SQL_HEAPCHECK_H

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "page/layout.h"
#include "store/index.h"

/* Looking up rows by their TIDs. */
typedef struct FPTLookup
{
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;
	Snapshot	snapshot;
} FPTLookup;

extern void fpt_lookup_begin(FPTLookup *lk, Relation heaprel,
							 Snapshot snapshot);

/* Is a row visible at this TID, any member of its HOT chain? */
extern bool fpt_lookup_visible(FPTLookup *lk, uint64 tid);
extern void fpt_lookup_end(FPTLookup *lk);

typedef struct FPTHeapCheck FPTHeapCheck;

/*
 * Begin to collect entries.  "still": nobody changes the table or the index
 * meanwhile, so that entries without a row can be judged, too.
 */
extern FPTHeapCheck *fpt_heapcheck_begin(Relation rel, Relation heaprel,
										 FPTIndex *ix, Snapshot snapshot,
										 bool still);

/* An entry; "dead": it carries a hint, and index scans pass it over. */
extern void fpt_heapcheck_entry(FPTHeapCheck *hc, const FPTKey *key,
								bool dead);

/* All entries were seen: scan the table and compare. */
extern void fpt_heapcheck_end(FPTHeapCheck *hc);

#endif							/* FPT_SQL_HEAPCHECK_H */
