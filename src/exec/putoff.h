/*-------------------------------------------------------------------------
 *
 * exec/putoff.h
 *	  Entries whose rows are looked up later, page by page.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_EXEC_PUTOFF_H
#define FPT_EXEC_PUTOFF_H

#include "access/relscan.h"
#include "utils/rel.h"

#include "page/format.h"
#include "scan/state.h"
#include "tree/prefetch.h"

/* Words of an entry: its TID, its leaf in "leaves", a number of the node's */
#define FPT_PUTOFF_WORDS	3
#define FPT_PUTOFF_VALUE	2

/* A leaf that entries were copied from, and its LSN then */
typedef struct FPTPutOffLeaf
{
	uint32		pageno;
	XLogRecPtr	lsn;
} FPTPutOffLeaf;

typedef struct FPTPutOff
{
	MemoryContext cxt;
	int			nwords;			/* used of an entry's: 2, or all */
	uint64	   *recs;			/* nwords for each */
	size_t		n;
	size_t		max;			/* room */
	size_t		limit;			/* of max, by work_mem */
	FPTPutOffLeaf *leaves;
	int			nleaves;
	int			maxleaves;
	uint64	   *dead;			/* leaf and TID of entries found dead */
	size_t		ndead;
	size_t		maxdead;
	uint64	   *tids;			/* of a leaf, to find these: FPT_MAX_ENTRIES */
	uint16	   *slotids;
	uint64	   *deadtids;		/* those that were found */
	uint16	   *deadslots;
	FPTDistance dist;			/* of reading the table ahead */
} FPTPutOff;

/*
 * Nothing is put off yet.  What will be is allocated in "cxt".  Reads
 * catalogues, for how much the table's disk allows.
 */
extern void fpt_putoff_init(FPTPutOff *p, MemoryContext cxt, Relation heap,
							int nwords);

/* Forget all that were put off; a visit may have been cancelled. */
static inline void
fpt_putoff_clear(FPTPutOff *p)
{
	p->n = 0;
	p->nleaves = 0;
	p->ndead = 0;
}

/*
 * Make room for n entries, at most as many as a leaf has.  False: work_mem
 * allows no more, and those put off must be visited first.
 */
extern bool fpt_putoff_room(FPTPutOff *p, int n);

/* Entries of this batch follow, for which there is room. */
extern void fpt_putoff_leaf(FPTPutOff *p, const FPTBatch *b);

/* Put one off. */
static inline void
fpt_putoff_add(FPTPutOff *p, uint64 tid, uint64 value)
{
	uint64	   *rec = p->recs + p->n++ * p->nwords;

	Assert(p->n <= p->max && p->nleaves > 0);
	rec[0] = tid;
	rec[1] = p->nleaves - 1;
	if (p->nwords > FPT_PUTOFF_VALUE)
		rec[FPT_PUTOFF_VALUE] = value;
}

/*
 * Must entries be visited before their leaf's pin is given back?  Where it is
 * not WAL-logged, only the pin proves later that they are still there.
 */
static inline bool
fpt_putoff_keeps_pin(IndexScanDesc scan)
{
	return !RelationNeedsWAL(scan->indexRelation);
}

/*
 * Look up the rows of all that were put off; returns how many of them the
 * scan's snapshot sees.  These are the first ones in p->recs then, and nothing
 * is put off any more.  Predicate locks are taken as by any look-up of a row.
 *
 * Entries whose rows are dead to everybody get hints, where their leaf has not
 * changed.
 *
 * No page is locked before or after, and none pinned by this.  May be cancelled
 * at each page, and raise if table or index are damaged.
 */
extern size_t fpt_putoff_visit(IndexScanDesc scan, FPTPutOff *p);

#endif							/* FPT_EXEC_PUTOFF_H */
