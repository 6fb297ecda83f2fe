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

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/rel.h"
#include "utils/spccache.h"

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

static create_upper_paths_hook_type fpt_prev_upper_paths = NULL;

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

/*
 * Costs: the index's pages as core has them, little for each row, and
 * those of the table's pages that are not all-visible and have rows of it, each
 * once, as a bitmap scan is charged for them.  The result's expressions are
 * those of core's plan, and cost the same.
 */
static void
fpt_cost_count(CustomPath *path, const IndexPath *ip)
{
	const RelOptInfo *rel = ip->indexinfo->rel;
	const QualCost *result = &path->path.pathtarget->cost;
	double		rows = clamp_row_est(ip->indexselectivity * rel->tuples);
	double		hidden = rows * (1 - rel->allvisfrac);
	double		pages = Max(ceil(rel->pages * (1 - rel->allvisfrac)), 1);
	double		visited;
	double		spc_random;
	double		spc_seq;
	Cost		entries;
	Cost		io = 0;

	get_tablespace_page_costs(rel->reltablespace, &spc_random, &spc_seq);
	entries = rows * (cpu_index_tuple_cost +
					  cpu_operator_cost * list_length(ip->indexclauses));
	entries = Min(entries, ip->indextotalcost - ip->path.startup_cost);
	entries = Max(entries, 0);
	if (hidden >= 1)
	{
		visited = ceil(Min(2 * pages * hidden / (2 * pages + hidden), pages));
		io = visited * (spc_random - (spc_random - spc_seq) *
						sqrt(visited / Max(rel->pages, 1)));
	}
	path->path.rows = 1;
	path->path.total_cost = ip->indextotalcost - entries +
		FPT_COUNT_CPU * (entries + rows * cpu_tuple_cost) +
		io + hidden * cpu_tuple_cost + cpu_tuple_cost;
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
 * Offer a path that counts in this index, if it can answer the query.  The
 * path's relation is the table, by whose name EXPLAIN calls it.
 */
static void
fpt_offer_count(PlannerInfo *root, RelOptInfo *input, RelOptInfo *output,
				IndexOptInfo *info, const FPTWanted *w)
{
	IndexPath  *ip = fpt_only_path(root, input, info);
	CustomPath *path;

	if (ip == NULL)
		return;
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = input;
	path->path.pathtarget = output->reltarget;
	path->path.parallel_safe = input->consider_parallel &&
		output->consider_parallel;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make4(ip, w->aggrefs, w->aggregates,
									  list_make1_oid(w->keytype));
	path->methods = &fpt_count_path_methods;
	fpt_cost_count(path, ip);
	add_path(output, &path->path);
}

/*
 * create_upper_paths_hook.  The hook that there was is called first: it may
 * change what we read.
 */
static void
fpt_upper_paths(PlannerInfo *root, UpperRelationKind stage,
				RelOptInfo *input, RelOptInfo *output, void *extra)
{
	FPTWanted	w;
	ListCell   *lc;

	if (fpt_prev_upper_paths)
		fpt_prev_upper_paths(root, stage, input, output, extra);
	if (stage != UPPERREL_GROUP_AGG || !fpt_guc_enable_count ||
		output->reloptkind != RELOPT_UPPER_REL ||
		!fpt_only_table(root, input) || !fpt_want(root, output, &w))
		return;
	foreach(lc, input->indexlist)
	{
		IndexOptInfo *info = lfirst_node(IndexOptInfo, lc);

		if (fpt_only_index(info) && fpt_index_suits(&w, info))
			fpt_offer_count(root, input, output, info, &w);
	}
}

void
fpt_plan_count_init(void)
{
	Assert(create_upper_paths_hook != fpt_upper_paths);
	fpt_count_register();
	fpt_prev_upper_paths = create_upper_paths_hook;
	create_upper_paths_hook = fpt_upper_paths;
}
