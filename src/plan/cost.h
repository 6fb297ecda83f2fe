/*-------------------------------------------------------------------------
 *
 * plan/cost.h
 *	  What a scan of an index costs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_COST_H
#define FPT_PLAN_COST_H

#include "nodes/pathnodes.h"
#include "utils/relcache.h"

extern bool fpt_guc_cost_readahead;
extern bool fpt_guc_plan_costs;

/*
 * amcostestimate.  The other one stands in its place in the planner's entry of
 * an index while the last paths that were made of it could not be index-only
 * scans, by settings: those of a hint, perhaps, which only a hook's own making
 * of paths sees.
 */
extern void fptcostestimate(struct PlannerInfo *root, struct IndexPath *path,
							double loop_count, Cost *indexStartupCost,
							Cost *indexTotalCost, Selectivity *indexSelectivity,
							double *indexCorrelation, double *indexPages);
extern void fpt_cost_barred(struct PlannerInfo *root, struct IndexPath *path,
							double loop_count, Cost *indexStartupCost,
							Cost *indexTotalCost, Selectivity *indexSelectivity,
							double *indexCorrelation, double *indexPages);

/* Were index-only scans forbidden, see fptcostestimate()? */
static inline bool
fpt_is_barred(const IndexOptInfo *info)
{
	return (void *) info->amcostestimate == (void *) fpt_cost_barred;
}

/*
 * Is this an index of ours?  It has our callback, whatever access method it
 * says it has.
 */
static inline bool
fpt_is_ours(const IndexOptInfo *info)
{
	return (void *) info->amcostestimate == (void *) fptcostestimate ||
		fpt_is_barred(info);
}

/*
 * The level of the root, as it is now; -1 if the index cannot be used, which
 * lacks a stripe.  Reads the root, and the first time the metapage; locks one
 * page at a time.  The caller has locked the index.  Raises an error if one of
 * the two is damaged.
 */
extern int	fpt_tree_height(Relation rel);

#endif							/* FPT_PLAN_COST_H */
