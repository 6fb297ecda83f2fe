/*-------------------------------------------------------------------------
 *
 * plan/distinct.c
 *	  Plans that go from key to key of an index.
 *
 * DISTINCT and GROUP BY of the first columns of an index get a path of their
 * own beside core's (exec/distinct.c), where an index-only scan could answer
 * the query and has nothing to ask of its entries.  Anything else is left to
 * core's plans.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "exec/distinct.h"
#include "exec/tally.h"
#include "key/collation.h"
#include "plan/cost.h"
#include "plan/distinct.h"
#include "plan/only.h"
#include "server/compat.h"
#include "store/buf.h"

/*
 * An entry's part of core's charge for its index tuple, its row and the
 * comparison with the one before; and a search for the next key, in operators.
 */
#define FPT_ENTRY_CPU		0.1
#define FPT_SEARCH_CPU		30

bool		fpt_guc_enable_distinct = true;

/* The keys that a query wants. */
typedef struct FPTKeysWanted
{
	List	   *clauses;		/* SortGroupClauses */
	List	   *exprs;			/* their expressions */
	PathTarget *target;			/* the result's */
	List	   *aggrefs;		/* count(*) in there */
} FPTKeysWanted;

/* --- queries ------------------------------------------------------------- */

/* Is this count(*), of all of a group's rows? */
static bool
fpt_counts_rows(const Aggref *agg)
{
	return agg->args == NIL && agg->aggfilter == NULL &&
		agg->aggdistinct == NIL && agg->aggorder == NIL &&
		agg->aggdirectargs == NIL && !agg->aggvariadic &&
		agg->aggkind == AGGKIND_NORMAL && agg->aggsplit == AGGSPLIT_SIMPLE &&
		agg->agglevelsup == 0 &&
		fpt_aggregate(agg->aggfnoid, InvalidOid) == FPT_AGG_COUNT;
}

/*
 * Is there anything in an expression but keys and counts?  Adds counts to those
 * wanted.
 */
static bool
fpt_wants_more(Node *node, FPTKeysWanted *w)
{
	if (node == NULL)
		return false;
	if (list_member(w->exprs, node))
		return false;
	if (IsA(node, Aggref))
	{
		if (!fpt_counts_rows((Aggref *) node))
			return true;
		w->aggrefs = list_append_unique(w->aggrefs, node);
		return false;
	}
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) ||
		IsA(node, WindowFunc) || IsA(node, GroupingFunc))
		return true;
	return expression_tree_walker(node, fpt_wants_more, (void *) w);
}

/*
 * Find out which keys a step of grouping wants, or of DISTINCT; false if it
 * cannot be done here.  In the current context.
 */
static bool
fpt_want_keys(PlannerInfo *root, UpperRelationKind stage,
			  const RelOptInfo *input, const RelOptInfo *output,
			  FPTKeysWanted *w)
{
	const Query *parse = root->parse;
	bool		group = stage == UPPERREL_GROUP_AGG;
	ListCell   *lc;

	memset(w, 0, sizeof(FPTKeysWanted));
	if (parse->hasTargetSRFs || parse->rowMarks != NIL ||
		parse->groupingSets != NIL || parse->havingQual != NULL ||
		root->hasHavingQual || (!group && parse->hasDistinctOn))
		return false;
	w->clauses = group ? parse->groupClause : parse->distinctClause;
	w->target = group ? output->reltarget : input->reltarget;
	if (w->clauses == NIL)
		return false;
	foreach(lc, w->clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);

		w->exprs = lappend(w->exprs,
						   get_sortgroupclause_expr(clause,
													root->processed_tlist));
	}
	return !fpt_wants_more((Node *) w->target->exprs, w);
}

/*
 * Which column of the index is this, to which a clause of the query refers, and
 * has it the same notion of equality?  -1: none.
 */
static int
fpt_key_column(const IndexOptInfo *info, Node *expr,
			   const SortGroupClause *clause)
{
	for (int i = 0; i < info->nkeycolumns; i++)
	{
		TargetEntry *te = list_nth_node(TargetEntry, info->indextlist, i);

		if (!equal(te->expr, expr))
			continue;
		if (get_op_opfamily_strategy(clause->eqop, info->opfamily[i]) !=
			BTEqualStrategyNumber ||
			info->indexcollations[i] != exprCollation(expr) ||
			(OidIsValid(info->indexcollations[i]) &&
			 !get_collation_isdeterministic(info->indexcollations[i])))
			return -1;
		return i;
	}
	return -1;
}

/* Has a column of the index one value in all entries of the path? */
static bool
fpt_column_fixed(const IndexPath *ip, int column)
{
	ListCell   *lc;
	ListCell   *lq;

	foreach(lc, ip->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (clause->indexcol != column)
			continue;
		foreach(lq, clause->indexquals)
		{
			Node	   *qual = (Node *) lfirst_node(RestrictInfo, lq)->clause;

			if (IsA(qual, OpExpr) &&
				get_op_opfamily_strategy(((OpExpr *) qual)->opno,
										 ip->indexinfo->opfamily[column]) ==
				BTEqualStrategyNumber)
				return true;
		}
	}
	return false;
}

/*
 * Return how many of the first columns of the index make up the wanted keys.
 * 0: there are others in between, or no such columns.  Those that have one
 * value only may be missing.
 */
static int
fpt_key_columns(const FPTKeysWanted *w, const IndexPath *ip)
{
	bool		wanted[INDEX_MAX_KEYS] = {0};
	int			n = 0;
	ListCell   *lc;
	ListCell   *le;

	forboth(lc, w->clauses, le, w->exprs)
	{
		int			i = fpt_key_column(ip->indexinfo, lfirst(le),
									   lfirst_node(SortGroupClause, lc));

		if (i < 0)
			return 0;
		wanted[i] = true;
		n = Max(n, i + 1);
	}
	for (int i = 0; i < n; i++)
	{
		Oid			collation = ip->indexinfo->indexcollations[i];

		if (wanted[i])
			continue;
		if (!fpt_column_fixed(ip, i) ||
			(OidIsValid(collation) &&
			 !get_collation_isdeterministic(collation)))
			return 0;
	}
	return n;
}

/* The columns of an index; the first ncols make up the keys. */
typedef struct FPTKeyNames
{
	const List *columns;		/* TargetEntries */
	int			ncols;
} FPTKeyNames;

/*
 * Is there an expression that the index has as a column after the key's?  Core
 * would take its value from there, where the node's rows have none.
 */
static bool
fpt_shows_others(Node *node, FPTKeyNames *names)
{
	ListCell   *lc;

	if (node == NULL || IsA(node, Const))
		return false;
	foreach(lc, names->columns)
	{
		if (equal(lfirst_node(TargetEntry, lc)->expr, node))
			return foreach_current_index(lc) >= names->ncols;
	}
	return expression_tree_walker(node, fpt_shows_others, (void *) names);
}

/* --- paths --------------------------------------------------------------- */

/*
 * The order of rows in this direction: that of the first ncols columns.  In the
 * current context.
 */
static List *
fpt_keys_order(PlannerInfo *root, const IndexOptInfo *info, int ncols,
			   ScanDirection dir)
{
	IndexOptInfo *part = makeNode(IndexOptInfo);

	*part = *info;
	part->nkeycolumns = ncols;
	return build_index_pathkeys(root, part, dir);
}

/*
 * Costs.  Between two keys the scan takes the cheaper way, a search or the
 * entries; that also says how many of the index's pages it reads.  A key is
 * charged as core would charge its row, so where nearly every row has another
 * key this is no cheaper than core's plan.
 */
static void
fpt_cost_distinct(CustomPath *path, const IndexPath *ip, int ncols,
				  bool counts, double groups)
{
	const IndexOptInfo *info = ip->indexinfo;
	const RelOptInfo *rel = info->rel;
	const QualCost *result = &path->path.pathtarget->cost;
	double		rows = clamp_row_est(ip->indexselectivity * rel->tuples);
	double		leaves = Max(ceil(ip->indexselectivity * info->pages), 1);
	double		hidden = rows * (1 - rel->allvisfrac);
	Cost		charged = fpt_only_entries_cost(ip);
	Cost		io;
	Cost		entries;

	groups = Min(groups, rows);
	io = ip->indextotalcost - charged;
	entries = FPT_ENTRY_CPU * (charged + rows * (cpu_tuple_cost +
												 ncols * cpu_operator_cost));
	if (!counts)
	{
		Cost		searches = groups * FPT_SEARCH_CPU * cpu_operator_cost;

		if (searches < entries)
		{
			entries = searches;
			io *= Min(1, groups / leaves);
		}
		hidden = groups * (1 - rel->allvisfrac);
	}
	path->path.rows = groups;
	path->path.startup_cost = ip->path.startup_cost + result->startup;
	path->path.total_cost = path->path.startup_cost + io + entries +
		fpt_only_hidden_cost(ip, hidden) +
		groups * (cpu_index_tuple_cost + cpu_tuple_cost +
				  ncols * cpu_operator_cost + result->per_tuple);
}

/* The functions of the operators by which keys are equal.  Reads catalogues. */
static List *
fpt_keys_equality(const List *clauses)
{
	List	   *functions = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
		functions = lappend_oid(functions,
								get_opcode(lfirst_node(SortGroupClause,
													   lc)->eqop));
	return functions;
}

/* PlanCustomPath */
static Plan *
fpt_plan_distinct(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				  List *tlist, List *clauses, List *custom_plans)
{
	IndexPath  *ip = linitial(path->custom_private);
	List	   *numbers = lthird(path->custom_private);
	FPTDistinctKeys keys = {
		.ncols = linitial_int(numbers),
		.equality = fpt_keys_equality(lfourth(path->custom_private)),
		.backward = lsecond_int(numbers)
	};
	CustomScan *plan;

	plan = fpt_distinct_plan(rel->relid, ip->indexinfo->indexoid,
							 ip->indexinfo->indextlist, &keys,
							 lsecond(path->custom_private), fpt_only_quals(ip));
	plan->scan.plan.targetlist = tlist;
	return &plan->scan.plan;
}

static const CustomPathMethods fpt_distinct_path_methods = {
	.CustomName = FPT_DISTINCT_NAME,
	.PlanCustomPath = fpt_plan_distinct,
};

/* How an index answers the query. */
typedef struct FPTKeysWay
{
	IndexPath  *ip;
	int			ncols;			/* of a key */
	double		groups;			/* keys */
	bool		backward;
	List	   *order;
} FPTKeysWay;

/*
 * Offer a path.  Its relation is the table, by whose name EXPLAIN calls it.
 */
static void
fpt_add_distinct(const FPTKeysWanted *w, const FPTKeysWay *way,
				 RelOptInfo *output)
{
	CustomPath *path = makeNode(CustomPath);
	RelOptInfo *input = way->ip->indexinfo->rel;

	path->path.pathtype = T_CustomScan;
	path->path.parent = input;
	path->path.pathtarget = w->target;
	path->path.parallel_safe = input->consider_parallel &&
		output->consider_parallel;
	path->path.pathkeys = way->order;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make4(way->ip, w->aggrefs,
									  list_make2_int(way->ncols,
													 way->backward),
									  w->clauses);
	path->methods = &fpt_distinct_path_methods;
	fpt_cost_distinct(path, way->ip, way->ncols, w->aggrefs != NIL,
					  way->groups);
	add_path(output, &path->path);
}

/*
 * Do entries of the same key lie together, so that others may be left out
 * between two of them, and by searches?  Not where comparisons may contradict
 * each other, or where the order may be another one than today's: others could
 * be in between, and a key come twice.  The planner has locked the index.
 * Reads catalogues, and the metapage the first time; may raise.  Allocates in
 * the current context.
 */
static bool
fpt_keys_ascend(const IndexOptInfo *info)
{
	Relation	index = index_open(info->indexoid, NoLock);
	FPTIndex	ix;
	bool		ascend;

	fpt_index_copy(index, &ix);
	ascend = !ix.stale && (!ix.unsure || fpt_order_is_sound(index));
	index_close(index, NoLock);
	return ascend;
}

/*
 * Offer paths by this index, if it can answer the query: one forward, and one
 * backward where that is the order that is asked for.
 */
static void
fpt_distinct_paths(PlannerInfo *root, const FPTKeysWanted *w,
				   RelOptInfo *input, RelOptInfo *output, IndexOptInfo *info)
{
	FPTKeysWay	way = {.ip = fpt_only_path(root, input, info)};
	FPTKeyNames names = {.columns = info->indextlist};

	if (way.ip == NULL)
		return;
	names.ncols = way.ncols = fpt_key_columns(w, way.ip);
	if (way.ncols == 0 ||
		fpt_shows_others((Node *) w->target->exprs, &names) ||
		!fpt_keys_ascend(info))
		return;
	way.groups = estimate_num_groups(root, w->exprs, way.ip->path.rows, NULL,
									 NULL);
	way.order = fpt_keys_order(root, info, way.ncols, ForwardScanDirection);
	fpt_add_distinct(w, &way, output);
	way.backward = true;
	way.order = fpt_keys_order(root, info, way.ncols, BackwardScanDirection);
	if (root->sort_pathkeys != NIL &&
		pathkeys_contained_in(root->sort_pathkeys, way.order))
		fpt_add_distinct(w, &way, output);
}

void
fpt_offer_distinct(PlannerInfo *root, UpperRelationKind stage,
				   RelOptInfo *input, RelOptInfo *output)
{
	FPTKeysWanted w;
	ListCell   *lc;

	if (!fpt_guc_enable_distinct ||
		!fpt_want_keys(root, stage, input, output, &w))
		return;
	foreach(lc, input->indexlist)
	{
		IndexOptInfo *info = lfirst_node(IndexOptInfo, lc);

		if (fpt_only_index(info))
			fpt_distinct_paths(root, &w, input, output, info);
	}
}
