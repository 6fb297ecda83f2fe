/*-------------------------------------------------------------------------
 *
 * plan/count.c
 *	  Plans that count in an index.
 *
 * An aggregation of a whole table, or of rows that one index selects, gets a
 * path of its own beside core's (exec/count.c).  It is offered where an
 * index-only scan could answer the query and has nothing to ask of its entries;
 * anything else is left to core's plans.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"

#include "exec/count.h"
#include "exec/tally.h"
#include "plan/cost.h"
#include "plan/count.h"
#include "plan/only.h"
#include "server/compat.h"

/*
 * A visible row's part of what core charges for its index tuple, its row and
 * the comparisons of both: measured, see docs/benchmarks.md.
 */
#define FPT_COUNT_CPU		0.1

bool		fpt_guc_enable_count = true;

/* What a query wants of the index's first column. */
typedef struct FPTWanted
{
	List	   *aggrefs;
	List	   *aggregates;		/* FPTAggregate of each */
	Expr	   *key;			/* the column, or NULL */
	Oid			keytype;
	bool		values;			/* and not only whether it is NULL */
} FPTWanted;

/* --- queries ------------------------------------------------------------- */

/*
 * Add an aggregate to those wanted.  False if it cannot be done here, or is
 * of another expression than those before.
 */
static bool
fpt_want_aggregate(FPTWanted *w, Aggref *agg)
{
	Expr	   *arg = NULL;
	Oid			type = InvalidOid;
	FPTAggregate aggregate;

	if (agg->aggfilter != NULL || agg->aggdistinct != NIL ||
		agg->aggorder != NIL || agg->aggdirectargs != NIL ||
		agg->aggvariadic || agg->aggkind != AGGKIND_NORMAL ||
		agg->aggsplit != AGGSPLIT_SIMPLE || agg->agglevelsup > 0 ||
		list_length(agg->args) > 1)
		return false;
	if (agg->args != NIL)
	{
		arg = linitial_node(TargetEntry, agg->args)->expr;
		type = exprType((Node *) arg);
	}
	aggregate = fpt_aggregate(agg->aggfnoid, type);
	if (aggregate == FPT_AGG_NONE ||
		(arg != NULL && w->key != NULL && !equal(arg, w->key)))
		return false;
	if (arg != NULL)
	{
		w->key = arg;
		w->keytype = type;
	}
	w->values |= fpt_aggregate_wants_value(aggregate);
	w->aggrefs = lappend(w->aggrefs, agg);
	w->aggregates = lappend_int(w->aggregates, aggregate);
	return true;
}

/*
 * What a step of aggregation wants; false if it cannot be done here.  In the
 * current context.
 */
static bool
fpt_want(PlannerInfo *root, const RelOptInfo *output, FPTWanted *w)
{
	const Query *parse = root->parse;
	List	   *vars;
	ListCell   *lc;

	memset(w, 0, sizeof(FPTWanted));
	if (!parse->hasAggs || parse->groupClause != NIL ||
		parse->groupingSets != NIL || parse->havingQual != NULL ||
		root->hasHavingQual || parse->hasTargetSRFs || parse->rowMarks != NIL)
		return false;
	vars = pull_var_clause((Node *) output->reltarget->exprs,
						   PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS |
						   PVC_INCLUDE_PLACEHOLDERS);
	foreach(lc, vars)
	{
		if (!IsA(lfirst(lc), Aggref) || !fpt_want_aggregate(w, lfirst(lc)))
			return false;
	}
	return w->aggrefs != NIL;
}

/* Is the wanted column the index's first one? */
static bool
fpt_index_suits(const FPTWanted *w, const IndexOptInfo *info)
{
	if (w->key == NULL)
		return true;
	if (!equal(linitial_node(TargetEntry, info->indextlist)->expr, w->key))
		return false;
	return !w->values ||
		(info->ncolumns == 1 && info->opcintype[0] == w->keytype);
}

/* --- paths --------------------------------------------------------------- */

/* How many share the work, as core reckons: the leader sees to its workers. */
static double
fpt_participants(int workers)
{
	double		leader = 1 - 0.3 * workers;

	return workers + (workers == 0 || (parallel_leader_participation &&
									   leader > 0) ? leader : 0);
}

/*
 * Costs: the index's pages as core has them, little for each row, and those of
 * the table that have to be looked up.  Participants share what entries cost.
 * The result's expressions are those of core's plan, and cost the same.
 */
static void
fpt_cost_count(CustomPath *path, const IndexPath *ip)
{
	const RelOptInfo *rel = ip->indexinfo->rel;
	const QualCost *result = &path->path.pathtarget->cost;
	double		rows = clamp_row_est(ip->indexselectivity * rel->tuples);
	Cost		entries = fpt_only_entries_cost(ip);

	path->path.rows = 1;
	path->path.total_cost = ip->indextotalcost - entries +
		FPT_COUNT_CPU * (entries + rows * cpu_tuple_cost) /
		fpt_participants(path->path.parallel_workers) +
		fpt_only_hidden_cost(ip, rows * (1 - rel->allvisfrac)) +
		cpu_tuple_cost;
	path->path.startup_cost = path->path.total_cost - cpu_tuple_cost +
		result->startup;
	path->path.total_cost += result->startup + result->per_tuple;
}

/* PlanCustomPath */
static Plan *
fpt_plan_count(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			   List *tlist, List *clauses, List *custom_plans)
{
	IndexPath  *ip = linitial(path->custom_private);
	CustomScan *plan;

	plan = fpt_count_plan(rel->relid, ip->indexinfo->indexoid,
						  ip->indexinfo->indextlist,
						  lsecond(path->custom_private),
						  lthird(path->custom_private),
						  linitial_oid(lfourth(path->custom_private)),
						  fpt_only_quals(ip));
	plan->scan.plan.targetlist = tlist;
	return &plan->scan.plan;
}

static const CustomPathMethods fpt_count_path_methods = {
	.CustomName = FPT_COUNT_NAME,
	.PlanCustomPath = fpt_plan_count,
};

/*
 * A path that counts in an index, by "workers" workers, or by one process if
 * that is 0.  Its relation is the table, by whose name EXPLAIN calls it.
 */
static Path *
fpt_count_path(RelOptInfo *input, RelOptInfo *output, IndexPath *ip,
			   const FPTWanted *w, int workers)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = input;
	path->path.pathtarget = output->reltarget;
	path->path.parallel_safe = input->consider_parallel &&
		output->consider_parallel;
	path->path.parallel_aware = workers > 0;
	path->path.parallel_workers = workers;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make4(ip, w->aggrefs, w->aggregates,
									  list_make1_oid(w->keytype));
	path->methods = &fpt_count_path_methods;
	fpt_cost_count(path, ip);
	return &path->path;
}

/*
 * Offer paths that count in this index, if it can answer the query.  Core says
 * how many workers this part of the index is worth.
 */
static void
fpt_count_paths(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
				IndexOptInfo *info, const FPTWanted *w)
{
	IndexPath  *ip = fpt_only_path(root, input, info);
	Path	   *path;
	int			workers;

	if (ip == NULL)
		return;
	add_path(output, fpt_count_path(input, output, ip, w, 0));
	if (!input->consider_parallel || !output->consider_parallel)
		return;
	workers = compute_parallel_worker(input, -1,
									  ceil(ip->indexselectivity * info->pages),
									  max_parallel_workers_per_gather);
	if (workers <= 0)
		return;
	path = fpt_count_path(input, output, ip, w, workers);
	add_path(output, (Path *) create_gather_path(root, output, path,
												 output->reltarget, NULL,
												 NULL));
}

void
fpt_offer_count(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output)
{
	FPTWanted	w;
	ListCell   *lc;

	if (!fpt_guc_enable_count || !fpt_want(root, output, &w))
		return;
	foreach(lc, input->indexlist)
	{
		IndexOptInfo *info = lfirst_node(IndexOptInfo, lc);

		if (fpt_only_index(info) && fpt_index_suits(&w, info))
			fpt_count_paths(root, input, output, info, &w);
	}
}
