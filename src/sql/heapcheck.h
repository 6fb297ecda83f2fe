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
	IndexFetchTableData *fetch; /* keeps a pin on the last row's page */
	TupleTableSlot *slot;		/* of the table's kind, empty between calls */
	Snapshot	snapshot;		/* the caller's */
} FPTLookup;

/*
 * Begin; in the current context.  The table is locked, the snapshot registered.
 */
extern void fpt_lookup_begin(FPTLookup *lk, Relation heaprel,
							 Snapshot snapshot);

/*
 * Is a row visible at this TID, any member of its HOT chain?  Locks the heap
 * page for a moment, and keeps a pin on it until the next call, or the end.
 * Any TID may be asked for that lies in the table; may raise.
 */
extern bool fpt_lookup_visible(FPTLookup *lk, uint64 tid);

/* Give back what was begun, the pin included. */
extern void fpt_lookup_end(FPTLookup *lk);

typedef struct FPTHeapCheck FPTHeapCheck;

/*
 * Begin to collect entries.  "still": nobody changes the table or the index
 * meanwhile, so that entries without a row can be judged, too.  What it takes
 * is in the current context; maintenance_work_mem is shared by two sorts, which
 * go on in temporary files.
 */
extern FPTHeapCheck *fpt_heapcheck_begin(Relation rel, Relation heaprel,
										 FPTIndex *ix, Snapshot snapshot,
										 bool still);

/*
 * An entry; "dead": it carries a hint, and index scans pass it over.  Values of
 * general keys are detoasted: no page may be locked.  May be cancelled, and
 * raise (temporary files).
 */
extern void fpt_heapcheck_entry(FPTHeapCheck *hc, const FPTKey *key,
								bool dead);

/*
 * All entries were seen: scan the table and compare.  Raises an error about the
 * first contradiction.  Expressions and predicate of the index run; may be
 * cancelled.  Frees *hc.
 */
extern void fpt_heapcheck_end(FPTHeapCheck *hc);

#endif							/* FPT_SQL_HEAPCHECK_H */
