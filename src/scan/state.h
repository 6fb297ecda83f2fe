/*-------------------------------------------------------------------------
 *
 * scan/state.h
 *	  What the files of an index scan share: scan/scan.c, scan/batch.c,
 *	  scan/heapahead.c, scan/heaplines.c, scan/parallel.c and scan/standby.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_STATE_H
#define FPT_SCAN_STATE_H

#include "access/genam.h"
#include "access/itup.h"
#include "access/sdir.h"
#include "access/xlogdefs.h"
#include "storage/block.h"
#include "storage/buf.h"

#include "key/general.h"
#include "page/layout.h"
#include "scan/extrakey.h"
#include "scan/qual.h"
#include "scan/range.h"
#include "store/counts.h"
#include "store/index.h"
#include "tree/predicate.h"
#include "tree/prefetch.h"
#include "tree/search.h"

/*
 * A batch takes GROWS times as many nodes of a leaf as the one before it, up to
 * MAX; after that whole leaves.  See scan/part.h.
 */
#define FPT_PART_GROWS		4
#define FPT_PART_MAX		32

/* The matching entries of one leaf, or of a part of it. */
typedef struct FPTBatch
{
	bool		valid;
	Buffer		buf;			/* pinned, or InvalidBuffer */
	uint32		pageno;
	uint32		left;			/* where the scan may go on: siblings, or the */
	uint32		right;			/* page itself where a bound is in it (B2) */
	XLogRecPtr	lsn;
	bool		last;			/* known: the scan has nothing after it */
	int			n;
	int			pos;			/* entry returned last */
	int			nullfrom;		/* entries nullfrom .. nullto - 1 are NULLs */
	int			nullto;
	int			tupbytes;		/* FPTRun.tupbytes */
	uint32		cut;			/* bytes of the page's prefix, see FPTKey */
	bool		doubt;			/* entries are returned if the standby shows */
	int			askedfrom;		/* them (scan/standby.c); looked up have been */
	int			askedto;		/* askedfrom .. askedto - 1 */

	/* what a copy has of its own, from here on: see fpt_batch_copy() */
	int			max;			/* allocated entries */
	FPTKeyBuf  *low;			/* interval of the key space it stands for, */
	FPTKeyBuf  *high;			/* see fpt_bound_set() */
	int			lowroom;		/* bytes of data[] that they have */
	int			highroom;
	char	   *first;			/* the first chunk begins and ends here: */
	char	   *firstend;		/* fpt_batch_first_chunk() */
	uint64	   *tids;
	uint64	   *los;			/* images; index-only scans */
	uint64	   *his;			/* images, upper halves of 16-byte ones */
	uint16	   *slotids;
	uint16	   *tupoffs;		/* general keys: tuples in the page, while it */
	uint16	   *tuplens;		/* is locked; lengths of these */
	FPTItups	itups;			/* general keys, index-only scans; */
	uint32	   *items;			/* each entry's item there */
} FPTBatch;

/* Changes of the block ahead of which something is known; see ring. */
#define FPT_RING			1024

/* What: a read was started; it is one that the position has come back to. */
#define FPT_RING_STARTED	1
#define FPT_RING_AGAIN		2

StaticAssertDecl(FPT_RING > FPT_MAX_DISTANCE, "ring too small");

/* Runs of heap blocks that are told apart at a time. */
#define FPT_RUNS			16

/* Blocks that lie close together, and which way they go. */
typedef struct FPTHeapRun
{
	BlockNumber last;			/* its block that is furthest on ... */
	bool		down;			/* ... in this direction */
	uint16		gap;			/* so many may be missing before its next one */
	unsigned	length;			/* blocks that must be read; 0: no run */
	unsigned	used;			/* when it was come by, see "runclock" */
	uint64		passed;			/* bit i: the i'th block behind "last" was asked
								 * for or is left to the operating system */
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
	bool		atend;			/* there is no batch after the current one in
								 * direction aheaddir */
	bool		forward;		/* direction of the position from the entry */
	int			pos;
	BlockNumber curblk;			/* of the entry returned last */
	BlockNumber lastblk;		/* come to last, ahead */
	int			nahead;			/* changes of the block between those two ... */
	int			nagain;			/* ... of which so many to one just passed */
	BlockNumber nblocks;		/* the heap has so many, at least */
	int			switches;		/* of the block so far, in this scan */
	int			horizon;		/* after so many the last scan was left */
	FPTDistance dist;
	Buffer		vmbuf;			/* visibility map, index-only scans */
	bool		allvisible;		/* at the last VACUUM nearly all pages were */
	unsigned	visible;		/* pages found to be so */
	unsigned	back;			/* entries that came back to a block */
	bool		missed;			/* a block was not in shared buffers */
	BlockNumber *ask;			/* blocks that are to be asked for together */
	int			nask;
	unsigned	head;			/* number of lastblk, counted on and on */
	uint8	   *ring;			/* FPT_RING, by number: FPT_RING_*; NULL: as
								 * nothing is prepared yet */
	FPTHeapRun *runs;			/* FPT_RUNS */
	unsigned	runclock;		/* blocks that were looked for in there */
	int			down;			/* asked for last, in a row, going down runs */
	bool		mixed;			/* lately a block was in shared buffers */
	bool		own;			/* but next ones may, as the scan reads them */
	unsigned	inrun;			/* blocks in a row that were of a run */
	int			runpause;		/* length of the last pause because of that */
} FPTHeapAhead;

/*
 * Cache lines of the table, for the entries after the one being returned
 * (scan/heaplines.c).  Entries are counted from the batch's first one in the
 * scan's direction.
 */
typedef struct FPTHeapLines
{
	bool		begun;			/* "enabled" is known */
	bool		enabled;
	bool		forward;		/* direction, and ... */
	unsigned	turn;			/* ... batch (FPTScanOpaque.turn) of these: */
	int			next;			/* entry at which to go on */
	int			pages;			/* pages were asked for, of entries before */
	int			rows;			/* rows were asked for, of entries before */
	BlockNumber blk;			/* of the entry returned last */
	int			come;			/* blocks come to in this scan, up to a few */
	uint32		hash;			/* of the table's file */
	int			rest;			/* blocks that are left to the table's access
								 * method, as the last ones were not buffered */
	int			restlen;		/* number of these last time */
} FPTHeapLines;

typedef struct FPTStandby FPTStandby;

typedef struct FPTScanOpaque
{
	FPTIndex	ix;				/* own copy, see FPTIndex */
	MemoryContext cxt;			/* lives as long as the scan */
	MemoryContext growcxt;		/* see fpt_batch_context() */
	int			nkeys;			/* of operators; others come after them */
	FPTRanges	ranges;			/* image keys */
	FPTQuals   *quals;			/* general keys, else NULL */
	bool		haveranges;		/* one of these has been computed */
	bool		whole;			/* batches are whole leaves: all is wanted */
	bool		bare;			/* index-only, but nothing of entries is wanted
								 * but TIDs, of each node in any order */
	bool		skips;			/* on the way to the next key: fpt_skip() */
	bool		missed;			/* the last jump was not to the next leaf */
	bool		stayed;			/* the last one was to the next leaf, or an
								 * array's next element goes on there */
	int			element;		/* of the array, that the scan went on with */
	struct FPTElementLeaves *leaves;	/* see scan/element.h; NULL: none yet */
	int			poorseeks;		/* seeks in a row that left few entries out */
	int			part;			/* nodes that the next batch may take of a leaf;
								 * 0: all */
	int			few;			/* entries that it takes; 0: nodes */
	int			reached;		/* nodes that the last one might, of this scan
								 * or of the one before */
	int			filldir;		/* direction in which a batch is filled */
	bool		inpage;			/* the next batch begins in the page where the
								 * last one ended */
	uint32		steps;			/* from leaf to leaf by their fences ... */
	int			stepdir;		/* ... in this direction */
	bool		disorder;		/* one did not get on in the order of keys */
	FPTBatch	cur;
	unsigned	turn;			/* times that another batch has become cur, for
								 * who steps from entry to entry */
	FPTBatch	ahead;			/* batch after cur in direction aheaddir */
	ScanDirection aheaddir;		/* looked in last */
	FPTBatch	mark;
	int			markpos;		/* marked entry of cur, or -1: see mark */
	int			nkilled;
	int			maxkilled;
	int		   *killed;			/* entries of cur found dead by the caller */
	IndexTuple	itup;			/* tuple that is overwritten each time; general
								 * keys: of items that are not index tuples */
	IndexTuple	nulltup;
	char	   *decoded;		/* FPT_DECODE_BYTES */
	int			itupbytes;		/* fpt_image_value_bytes() of stored images; */
	uint64		itupflip;		/* the bits in which values differ from them */
	FPTWindow  *window;			/* leaf read-ahead, once a scan is long */
	FPTLook		look;			/* for the next descent ... */
	const FPTKey *lookat;		/* ... which is to this key */
	FPTReading	reading;		/* of a leaf, while it is locked */
	FPTHeapAhead heap;
	FPTHeapLines lines;
	const FPTWanted *wanted;	/* see scan/wanted.h; NULL: all */
	int64		hadrows;		/* rows counted before the scan started */
	int64		passed;			/* entries of the batches that were left, and */
	int			passedlast;		/* of the last leaf; -1: none yet */
	uint32		passedpage;		/* which is this one */
	bool		leafspared;		/* it went to a leaf with no look ahead */
	FPTStandby *standby;		/* during recovery, index-only scans */
	bool	   *visible;		/* of the entries of cur that were looked up */
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

#endif							/* FPT_SCAN_STATE_H */
