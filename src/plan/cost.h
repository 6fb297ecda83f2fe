/*-------------------------------------------------------------------------
 *
 * plan/cost.h
 *	  What a scan of an index costs.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_COST_H
#define FPT_PLAN_COST_H

#include "nodes/nodes.h"
#include "utils/relcache.h"

extern bool fpt_guc_cost_readahead;
extern bool fpt_guc_plan_costs;

struct PlannerInfo;

struct IndexPath;

extern void fptcostestimate(struct PlannerInfo *root, struct IndexPath *path,
							double loop_count, Cost *indexStartupCost,
							Cost *indexTotalCost, Selectivity *indexSelectivity,
							double *indexCorrelation, double *indexPages);

/*
 * The level of the root, as it is now; -1 if the index cannot be used, which
 * lacks a stripe.  Reads the root, and the first time the metapage; locks one
 * page at a time.  The caller has locked the index.  Raises an error if one of
 * the two is damaged.
 */
extern int	fpt_tree_height(Relation rel);

#endif							/* FPT_PLAN_COST_H */
