/*-------------------------------------------------------------------------
 *
 * plan/nodes.c
 *	  Where the planner is offered nodes of ours.
 *
 * Each node's paths are made in a file of its own: plan/count.c,
 * plan/distinct.c, plan/onlyscan.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/paths.h"
#include "optimizer/planner.h"

#include "exec/count.h"
#include "exec/distinct.h"
#include "exec/onlyscan.h"
#include "plan/count.h"
#include "plan/distinct.h"
#include "plan/nodes.h"
#include "plan/only.h"
#include "plan/onlyscan.h"

static create_upper_paths_hook_type fpt_prev_upper_paths = NULL;
static set_rel_pathlist_hook_type fpt_prev_rel_pathlist = NULL;

/*
 * create_upper_paths_hook.  The hook that there was is called first: it may
 * change what we read.
 */
static void
fpt_upper_paths(PlannerInfo *root, UpperRelationKind stage,
				RelOptInfo *input, RelOptInfo *output, void *extra)
{
	if (fpt_prev_upper_paths)
		fpt_prev_upper_paths(root, stage, input, output, extra);
	if ((stage != UPPERREL_GROUP_AGG && stage != UPPERREL_DISTINCT) ||
		input->reloptkind != RELOPT_BASEREL ||
		output->reloptkind != RELOPT_UPPER_REL || !fpt_only_table(root, input))
		return;
	if (stage == UPPERREL_GROUP_AGG)
		fpt_offer_count(root, input, output);
	fpt_offer_distinct(root, stage, input, output);
}

/*
 * set_rel_pathlist_hook.  What we do comes before the hook that there was, as
 * in plan/plan.c.
 */
static void
fpt_nodes_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
				   RangeTblEntry *rte)
{
	if (fpt_guc_enable_onlyscan && rel->indexlist != NIL)
		fpt_offer_onlyscan(root, rel);
	if (fpt_prev_rel_pathlist)
		fpt_prev_rel_pathlist(root, rel, rti, rte);
}

void
fpt_plan_nodes_init(void)
{
	Assert(create_upper_paths_hook != fpt_upper_paths &&
		   set_rel_pathlist_hook != fpt_nodes_pathlist);
	fpt_count_register();
	fpt_distinct_register();
	fpt_onlyscan_register();
	fpt_prev_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = fpt_upper_paths;
	fpt_prev_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = fpt_nodes_pathlist;
}
