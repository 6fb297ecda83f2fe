/*-------------------------------------------------------------------------
 *
 * plan/distinct.h
 *	  Plans that go from key to key of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_DISTINCT_H
#define FPT_PLAN_DISTINCT_H

#include "nodes/pathnodes.h"

extern bool fpt_guc_enable_distinct;

/*
 * Offer paths for this step of grouping, or of DISTINCT; as fpt_offer_count().
 */
extern void fpt_offer_distinct(PlannerInfo *root, UpperRelationKind stage,
							   RelOptInfo *input, RelOptInfo *output);

#endif							/* FPT_PLAN_DISTINCT_H */
