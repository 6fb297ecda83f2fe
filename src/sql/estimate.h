/*-------------------------------------------------------------------------
 *
 * sql/estimate.h
 *	  How large an index would be if it were built now, from a sample of it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SQL_ESTIMATE_H
#define FPT_SQL_ESTIMATE_H

#include "utils/relcache.h"

/*
 * Pages that are read of a level, at most, where the user does not say; and
 * what he may say.
 */
#define FPT_SAMPLE_PAGES	1280
#define FPT_SAMPLE_MIN		20
#define FPT_SAMPLE_MAX		65536

/*
 * More leaves than that are read in runs of neighbours: in this many runs, or
 * in fewer if they would be shorter than FPT_SAMPLE_RUN.
 */
#define FPT_SAMPLE_RUNS		20
#define FPT_SAMPLE_RUN		8

/* An index's sizes.  Numbers of pages and entries are estimates. */
typedef struct FPTEstimate
{
	int64		size;			/* bytes of the index as it is */
	bool		whole;			/* all leaves were read */
	int64		pages_read;
	int			level;			/* the root's */
	double		leaf_pages;
	double		entries;
	double		density;		/* percent of the leaves' room that is used; of
								 * a btree -1 */
	int64		fresh_size;		/* bytes if it were built again as it is */
	int64		fptree_size;	/* and as an fptree index; -1: it cannot be */
} FPTEstimate;

/*
 * Estimate an index of btree's or ours, which is locked, its table too.  "as":
 * the index that it would be (fpt_fptree_like()), NULL if it cannot be one; the
 * index itself if it is ours.  Reads "most" pages of a level, at most, one
 * locked at a time, to copy it; keeps the leaves in memory meanwhile.  May be
 * cancelled, and raises an error about a damaged page, and what comparison
 * functions raise, which run as the table's owner.
 */
extern void fpt_estimate(Relation rel, Relation as, int most,
						 FPTEstimate *e);

/*
 * A description of the fptree index with these operator classes that a btree
 * index would be: not a relation that anybody could open, but one that a trial
 * (load/build.h) can be made with, as long as the btree is open.  fillfactor 0:
 * the default.  In the current context; reads catalogues.  NULL: fptree cannot
 * store what the columns are stored as.
 */
extern Relation fpt_fptree_like(Relation btree, const Oid *opclasses,
								int fillfactor);

#endif							/* FPT_SQL_ESTIMATE_H */
