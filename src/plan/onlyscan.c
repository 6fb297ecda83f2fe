/*-------------------------------------------------------------------------
 *
 * plan/onlyscan.c
 *	  Plans that return rows of an index.
 *
 * Where an index-only scan has nothing to ask of its entries, there is a path
 * of ours beside it (exec/onlyscan.c), in the same order and with the same
 * parameters.  Anything else is left to core's scan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/extensible.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "exec/onlyscan.h"
#include "plan/only.h"
#include "plan/onlyscan.h"

/*
 * The part of what core charges for an index tuple and its conditions, and of a
 * visible row: measured, see docs/benchmarks.md.
 */
#define FPT_ROW_CPU			0.5

bool		fpt_guc_enable_onlyscan = true;

/*
 * Does the index return all columns of the table that the query reads, besides
 * those of its predicate?  Core would find out, too, after some work.
 */
static bool
fpt_returns_columns(const RelOptInfo *rel, const IndexOptInfo *info)
{
	Bitmapset  *columns = NULL;
	Bitmapset  *returned = NULL;
	bool		all;
	ListCell   *lc;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &columns);
	foreach(lc, info->indrestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause,
					   rel->relid, &columns);
	for (int i = 0; i < info->ncolumns; i++)
	{
		int			attno = info->indexkeys[i];

		if (attno != 0 && info->canreturn[i])
			returned = bms_add_member(returned, attno -
									  FirstLowInvalidHeapAttributeNumber);
	}
	all = bms_is_subset(columns, returned);
	bms_free(columns);
	bms_free(returned);
	return all;
}

/*
 * Costs: those of core's scan, less what is saved for entries, and for rows
 * that are proven to be visible.
 */
static void
fpt_cost_onlyscan(CustomPath *path, const IndexPath *ip)
{
	const RelOptInfo *rel = ip->indexinfo->rel;
	double		rows = clamp_row_est(ip->indexselectivity * rel->tuples);
	Cost		saved = fpt_only_entries_cost(ip) +
		rows * rel->allvisfrac * cpu_tuple_cost;

	path->path.rows = ip->path.rows;
	path->path.startup_cost = ip->path.startup_cost;
	path->path.total_cost = ip->path.total_cost - (1 - FPT_ROW_CPU) * saved;
	path->path.total_cost = Max(path->path.total_cost,
								path->path.startup_cost);
}

/* PlanCustomPath */
static Plan *
fpt_plan_onlyscan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				  List *tlist, List *clauses, List *custom_plans)
{
	IndexPath  *ip = linitial(path->custom_private);
	CustomScan *plan;

	plan = fpt_onlyscan_plan(rel->relid, ip->indexinfo->indexoid,
							 ip->indexinfo->indextlist, fpt_only_quals(ip),
							 ScanDirectionIsBackward(ip->indexscandir));
	plan->scan.plan.targetlist = tlist;
	return &plan->scan.plan;
}

static const CustomPathMethods fpt_onlyscan_path_methods = {
	.CustomName = FPT_ONLYSCAN_NAME,
	.PlanCustomPath = fpt_plan_onlyscan,
};

/*
 * A path like that of core's scan.  NULL: conditions of a part of a table could
 * not be made those of another part, if they have parameters.
 */
static CustomPath *
fpt_onlyscan_path(const RelOptInfo *rel, IndexPath *ip)
{
	CustomPath *path;

	if (ip->path.param_info != NULL && rel->reloptkind != RELOPT_BASEREL)
		return NULL;
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = ip->path.parent;
	path->path.pathtarget = ip->path.pathtarget;
	path->path.param_info = ip->path.param_info;
	path->path.parallel_safe = ip->path.parallel_safe;
	path->path.pathkeys = ip->path.pathkeys;
	path->flags = FPT_ONLYSCAN_FLAGS;
	path->custom_private = list_make1(ip);
	path->methods = &fpt_onlyscan_path_methods;
	fpt_cost_onlyscan(path, ip);
	return path;
}

void
fpt_offer_onlyscan(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *paths = NIL;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *info = lfirst_node(IndexOptInfo, lc);

		if (!fpt_only_index(info) || !fpt_returns_columns(rel, info))
			continue;
		if (!fpt_only_table(root, rel))
			return;
		paths = list_concat(paths, fpt_only_paths(root, rel, info));
	}
	foreach(lc, paths)
	{
		CustomPath *path = fpt_onlyscan_path(rel, lfirst(lc));

		if (path != NULL)
			add_path(rel, &path->path);
	}
}
