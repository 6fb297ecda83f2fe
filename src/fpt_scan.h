/*-------------------------------------------------------------------------
 *
 * fpt_scan.h
 *	  What the files of an index scan share: fpt_scan.c, fpt_batch.c,
 *	  fpt_heapahead.c, fpt_parallel.c and fpt_standby.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_H
#define FPT_SCAN_H

#include "fpt_prefetch.h"

#include "fpt_qual.h"

/* The matching entries of one leaf. */
typedef struct FPTBatch
{
	bool		valid;
	Buffer		buf;			/* pinned, or InvalidBuffer */
	uint32		pageno;
	uint32		left;
	uint32		right;
	XLogRecPtr	lsn;
	FPTKeyBuf  *low;			/* interval of the key space it stands for */
	FPTKeyBuf  *high;
	int			n;
	int			pos;			/* entry returned last */
	int			nullfrom;		/* entries nullfrom .. nullto - 1 are NULLs */
	int			nullto;
	int			max;			/* allocated entries */
	uint64	   *tids;
	uint64	   *los;			/* images; index-only scans */
	uint64	   *his;			/* images, upper halves of 16-byte ones */
	uint16	   *slotids;
	uint16	   *tupoffs;		/* general keys: tuples in the page, for as long */
	uint16	   *tuplens;		/* as it is locked; lengths of these */
	int			tupbytes;		/* FPTRun.tupbytes */
	bool		doubt;			/* entries are returned if the standby shows */
	int			askedfrom;		/* them (fpt_standby.c); askedfrom .. askedto */
	int			askedto;		/* - 1 have been looked up */
	FPTItups	itups;			/* general keys, index-only scans; */
	uint32	   *items;			/* each entry's item there */
} FPTBatch;

/* Blocks ahead of which it is known whether a read was started; see ring. */
#define FPT_RING			1024

StaticAssertDecl(FPT_RING > FPT_MAX_DISTANCE, "ring too small");

/* Ascending runs of heap blocks that are told apart at a time. */
#define FPT_RUNS			4

typedef struct FPTHeapRun
{
	BlockNumber last;			/* its highest block so far */
	unsigned	length;			/* blocks; 0: no run */
	unsigned	gap;			/* so many may be missing before its next one */
} FPTHeapRun;

/*
 * Read-ahead of heap pages: a second position in the entries, ahead of the one
 * being returned, in the current batch or in the one after it.
 *
 * "sleep" is all that an entry costs while nothing is to be done: before the
 * scan has returned a few entries, where read-ahead is off, and in a pause.
 */
typedef struct FPTHeapAhead
{
	int			sleep;			/* entries to return before the next look */
	int			pause;			/* length of the pause in progress, or 0 */
	bool		begun;			/* "enabled" is known */
	bool		enabled;
	bool		inahead;		/* the position is in the batch "ahead" */
	bool		atend;			/* there is no batch after the current one */
	bool		forward;		/* direction of the position from the entry */
	int			pos;
	BlockNumber curblk;			/* of the entry returned last */
	BlockNumber lastblk;		/* come to last, ahead */
	int			nahead;			/* changes of the block between those two */
	BlockNumber nblocks;		/* of the heap, when read-ahead began */
	int			switches;		/* of the block so far, in this scan */
	int			horizon;		/* after so many the last scan was left */
	FPTDistance dist;
	Buffer		vmbuf;			/* visibility map, index-only scans */
	bool		allvisible;		/* at the last VACUUM nearly all pages were */
	unsigned	visible;		/* pages found to be so */
	unsigned	head;			/* number of lastblk, counted on and on */
	bool	   *ring;			/* FPT_RING, by number: a read was started */
	FPTHeapRun	runs[FPT_RUNS]; /* the one come by last is the first */
	unsigned	inrun;			/* blocks in a row that were of a run */
	int			runpause;		/* length of the last pause because of that */
} FPTHeapAhead;

typedef struct FPTStandby FPTStandby;

typedef struct FPTScanOpaque
{
	FPTIndex	ix;				/* own copy, see FPTIndex */
	MemoryContext cxt;			/* lives as long as the scan */
	FPTRanges	ranges;			/* image keys */
	FPTQuals   *quals;			/* general keys, else NULL */
	bool		haveranges;		/* one of these has been computed */
	int			misses;			/* jumps in a row that left the next leaf */
	int			poorseeks;		/* seeks in a row that left few entries out */
	uint32		steps;			/* from leaf to leaf by their fences ... */
	int			stepdir;		/* ... in this direction */
	bool		disorder;		/* one did not get on in the order of keys */
	FPTBatch	cur;
	FPTBatch	ahead;			/* batch after cur in direction aheaddir */
	ScanDirection aheaddir;
	FPTBatch	mark;
	int			markpos;		/* marked entry of cur, or -1: see mark */
	int			nkilled;
	int			maxkilled;
	int		   *killed;			/* entries of cur found dead by the caller */
	IndexTuple	itup;			/* tuple that is overwritten each time; general
								 * keys: of items that are not index tuples */
	IndexTuple	nulltup;
	char	   *decoded;		/* FPT_DECODE_BYTES */
	FPTWindow  *window;			/* leaf read-ahead, once a scan is long */
	FPTLook		look;			/* for the next descent ... */
	const FPTKey *lookat;		/* ... which is to this key */
	FPTHeapAhead heap;
	FPTStandby *standby;		/* during recovery, index-only scans */
	bool	   *visible;		/* of the entries of cur that were looked up */
	uint64		nscans;			/* starts; of the planner's probes none */
	uint64		counters[FPT_NCOUNTERS];
} FPTScanOpaque;

/*
 * Is it the planner, looking for a column's present minimum or maximum?  Such
 * scans are not counted among those of the session or of a statement.
 */
static inline bool
fpt_is_probe(IndexScanDesc scan)
{
	return scan->xs_snapshot != NULL &&
		scan->xs_snapshot->snapshot_type == SNAPSHOT_NON_VACUUMABLE;
}

/* --- fpt_batch.c -------------------------------------------------------------- */

/*
 * Read the first batch of the scan in this direction into b, or the one after
 * "from"; false if there is none.  The batch has an entry at least, and b->pos
 * is at the first one.  No page is locked, before or after; a pin is left where
 * a batch needs one.  Raises errors.
 */
extern bool fpt_batch_first(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b,
							ScanDirection dir);
extern bool fpt_batch_after(IndexScanDesc scan, FPTScanOpaque *so, FPTBatch *b,
							const FPTBatch *from, ScanDirection dir);

/* Copy a batch, with a pin of its own: the mark's (P6). */
extern void fpt_batch_copy(FPTScanOpaque *so, FPTBatch *to,
						   const FPTBatch *from);

/* Done with it: gives the pin back, if there is one. */
extern void fpt_batch_forget(FPTBatch *b);

/*
 * Leave the current batch: hints at entries that were found dead go to its page,
 * and what mark/restore needs of it is kept.
 */
extern void fpt_batch_leave(IndexScanDesc scan, FPTScanOpaque *so);

/*
 * The i'th entry's key in a batch that has keys; its tuple is at tup.
 * Written in place: a copy of what was just written in smaller pieces stalls.
 */
static inline void
fpt_batch_key(FPTScanOpaque *so, const FPTBatch *b, int i, bool isnull,
			  const char *tup, FPTKey *key)
{
	key->hi = 0;
	key->lo = b->los[i];
	key->tid = b->tids[i];
	key->cls = FPT_CLS_VALUE;
	if (isnull)
		key->cls = so->ix.layout.nullsfirst ? FPT_CLS_NULLFIRST :
			FPT_CLS_NULLLAST;
	key->len = b->tuplens[i];
	key->tup = key->len > 0 ? tup : NULL;
	key->search = NULL;
}

/* --- fpt_heapahead.c ---------------------------------------------------------- */

/* A scan starts: at its first entry, or anew. */
extern void fpt_heap_begin(IndexScanDesc scan, FPTScanOpaque *so);

/* Give up the batch read ahead and begin again at the current entry. */
extern void fpt_heap_restart(FPTScanOpaque *so);

/* The pause in progress is over, or the scan: how much of it was there? */
extern void fpt_heap_count_pause(FPTScanOpaque *so);

/* What its end would add to the scan's counters, were it to end now. */
extern void fpt_heap_counters(const FPTScanOpaque *so, uint64 *counters);

/*
 * The scan returns an entry after some for which nothing was done (heap.sleep):
 * see whether there is something to do now.
 */
extern void fpt_heap_look(IndexScanDesc scan, FPTScanOpaque *so,
						  ScanDirection dir);

/*
 * How often has the scan changed the block?  For a pause its entries stand,
 * which come to the same in a table in random order.
 */
static inline int
fpt_heap_come(const FPTHeapAhead *h)
{
	return h->switches + (h->pause > 0 ? h->pause - h->sleep : 0);
}

/* --- fpt_parallel.c ----------------------------------------------------------- */

extern bool fpt_parallel_seize_it(IndexScanDesc scan, FPTKeyBuf *pos,
								  uint32 *hint);

/*
 * Before the next leaf is looked for.  In a parallel scan: wait for the turn,
 * and get the position where the scan goes on, which is the caller's own if
 * nobody has begun yet; false if the scan is over.  Else: nothing.
 */
static inline bool
fpt_parallel_seize(IndexScanDesc scan, FPTKeyBuf *pos, uint32 *hint)
{
	if (likely(scan->parallel_scan == NULL))
		return true;
	return fpt_parallel_seize_it(scan, pos, hint);
}

/* The turn of a parallel scan is over: others go on at pos. */
extern void fpt_parallel_release(IndexScanDesc scan, const FPTKey *pos,
								 uint32 hint);

/* The turn is over, and there is nothing left; no-op if not parallel. */
extern void fpt_parallel_done(IndexScanDesc scan);

/* The window of leaf read-ahead, for who has seized the scan. */
extern FPTWindow *fpt_parallel_window(IndexScanDesc scan, FPTScanOpaque *so);

/* --- fpt_standby.c ------------------------------------------------------------ */

/*
 * Does a batch that is being copied become one whose entries are returned only
 * if fpt_standby_shows() says so?  To be asked while the leaf is locked.
 */
extern bool fpt_standby_doubts(IndexScanDesc scan);

/*
 * May the current entry, to which the scan came in direction dir, be returned,
 * whatever the executor will find in the visibility map?  Else its row is not
 * visible to the scan's snapshot.  No page is locked.
 */
extern bool fpt_standby_shows(IndexScanDesc scan, FPTScanOpaque *so,
							  ScanDirection dir);

/* The same; proven entries are most of them. */
static inline bool
fpt_shows(IndexScanDesc scan, FPTScanOpaque *so, ScanDirection dir)
{
	const FPTBatch *b = &so->cur;

	if (likely(!b->doubt))
		return true;
	if (likely(b->pos >= b->askedfrom && b->pos < b->askedto &&
			   so->visible[b->pos]))
		return true;
	return fpt_standby_shows(scan, so, dir);
}

extern void fpt_standby_end(FPTScanOpaque *so);

#endif							/* FPT_SCAN_H */
