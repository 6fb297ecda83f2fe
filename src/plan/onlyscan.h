/*-------------------------------------------------------------------------
 *
 * plan/onlyscan.h
 *	  Plans that return rows of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_ONLYSCAN_H
#define FPT_PLAN_ONLYSCAN_H

#include "nodes/pathnodes.h"

extern bool fpt_guc_enable_onlyscan;

/*
 * Offer paths for a table whose paths core has made.  In the planner's context.
 */
extern void fpt_offer_onlyscan(PlannerInfo *root, RelOptInfo *rel);

#endif							/* FPT_PLAN_ONLYSCAN_H */
