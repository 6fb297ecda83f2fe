/*-------------------------------------------------------------------------
 *
 * fpt_counts.h
 *	  Counters of scans of each index, of all sessions; see fpt_counts.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_COUNTS_H
#define FPT_COUNTS_H

#include "fpt_prefetch.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "datatype/timestamp.h"

/* Of one index. */
typedef struct FPTCounts
{
	Oid			db;				/* InvalidOid: not in use */
	Oid			index;
	uint64		scans;
	TimestampTz since;
	TimestampTz last;			/* start of the last statement that counted */
	uint64		n[FPT_NCOUNTERS];
} FPTCounts;

/* An index has room for as many others of its set beside it. */
#define FPT_COUNTS_WAYS		8
#define FPT_COUNTS_SETS		256

extern bool fpt_counts_untried;

extern void fpt_counts_attach(void);

/*
 * When a scan is planned, or begins: have the counters at hand when it ends.
 * The first time in a session this may take a while; it does not fail.  The end
 * of a subtransaction may begin a new command, which the leader of a parallel
 * operation may not do: it has planned before.
 */
static inline void
fpt_counts_begin(void)
{
	if (unlikely(fpt_counts_untried) &&
		(!IsInParallelMode() || IsParallelWorker()))
		fpt_counts_attach();
}

/* Add what a scan has counted. */
extern void fpt_counts_add(Oid index, uint64 scans, const uint64 *n);

/*
 * Copy what is in use of a set, for this database, to "to" (FPT_COUNTS_WAYS);
 * returns how many that are.
 */
extern int	fpt_counts_read(int set, FPTCounts *to);

/* Begin anew for an index of this database, or all of them (InvalidOid). */
extern void fpt_counts_reset(Oid index);

#endif							/* FPT_COUNTS_H */
