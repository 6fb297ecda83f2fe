/*-------------------------------------------------------------------------
 *
 * plan/count.h
 *	  Plans that count in an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_COUNT_H
#define FPT_PLAN_COUNT_H

#include "nodes/pathnodes.h"

extern bool fpt_guc_enable_count;

/*
 * Offer paths for this step of grouping, of a table that fpt_only_table() has
 * looked at.  In the planner's context.  Reads catalogues.
 */
extern void fpt_offer_count(PlannerInfo *root, RelOptInfo *input,
							RelOptInfo *output);

#endif							/* FPT_PLAN_COUNT_H */
