/*-------------------------------------------------------------------------
 *
 * plan/only.c
 *	  What an index of ours answers alone.
 *
 * For paths of our own nodes core's matching of clauses with indexes is wanted,
 * but not the paths that survive in its lists: a bitmap scan may be cheaper
 * than the index-only scan, and dearer than we are.  So core makes the paths of
 * one index once more, into an empty list.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "plan/cost.h"
#include "plan/only.h"
#include "server/compat.h"

bool
fpt_only_table(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte;
	Relation	table;
	bool		heap;
	ListCell   *lc;

	if (!IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION ||
		rel->indexlist == NIL || root->qual_security_level > 0 ||
		!bms_is_empty(rel->lateral_relids))
		return false;
	/* core has not matched its conditions with indexes */
	if (IS_DUMMY_REL(rel))
		return false;
	rte = planner_rt_fetch(rel->relid, root);
	if (rte->inh || rte->tablesample != NULL || rte->securityQuals != NIL)
		return false;
	foreach(lc, rel->baserestrictinfo)
	{
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return false;
	}
	table = table_open(rte->relid, NoLock);
	heap = table->rd_tableam == GetHeapamTableAmRoutine() &&
		(table->rd_rel->relkind == RELKIND_RELATION ||
		 table->rd_rel->relkind == RELKIND_MATVIEW);
	table_close(table, NoLock);
	return heap;
}

/* Has the index a column twice?  Conditions are told apart by their columns. */
static bool
fpt_columns_twice(const IndexOptInfo *info)
{
	ListCell   *a;
	ListCell   *b;

	foreach(a, info->indextlist)
	{
		for_each_cell(b, info->indextlist, lnext(info->indextlist, a))
		{
			if (equal(lfirst_node(TargetEntry, a)->expr,
					  lfirst_node(TargetEntry, b)->expr))
				return true;
		}
	}
	return false;
}

bool
fpt_only_index(const IndexOptInfo *info)
{
	return fpt_is_ours(info) && !fpt_is_barred(info) && enable_indexscan &&
		enable_indexonlyscan && info->ncolumns > 0 && !info->hypothetical &&
		!fpt_columns_twice(info);
}

/* Do these clauses say no more than the conditions of the index? */
static bool
fpt_only_implied(List *clauses, const IndexPath *path)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (!is_redundant_with_indexclauses(lfirst_node(RestrictInfo, lc),
											path->indexclauses))
			return false;
	}
	return true;
}

/*
 * A column of the index, for a condition's left side: the expression that the
 * node's tuple has for it.  The condition's own may have labels of another
 * type, or collation, and without these be that of another column.
 */
static Expr *
fpt_only_column(const IndexOptInfo *info, int column)
{
	return copyObjectImpl(list_nth_node(TargetEntry, info->indextlist,
										column)->expr);
}

/* A copy of a condition of an index clause, with its column as above. */
static Node *
fpt_only_qual(const IndexOptInfo *info, const IndexClause *from,
			  const RestrictInfo *rinfo)
{
	Node	   *clause = copyObjectImpl((Node *) rinfo->clause);
	Expr	   *column = fpt_only_column(info, from->indexcol);
	ListCell   *lc;
	ListCell   *li;

	if (IsA(clause, OpExpr))
		linitial(((OpExpr *) clause)->args) = column;
	else if (IsA(clause, ScalarArrayOpExpr))
		linitial(((ScalarArrayOpExpr *) clause)->args) = column;
	else if (IsA(clause, NullTest))
		((NullTest *) clause)->arg = column;
	else if (IsA(clause, RowCompareExpr))
	{
		forboth(lc, ((RowCompareExpr *) clause)->largs, li, from->indexcols)
			lfirst(lc) = fpt_only_column(info, lfirst_int(li));
	}
	return clause;
}

List *
fpt_only_quals(const IndexPath *path)
{
	const IndexOptInfo *info = path->indexinfo;
	List	   *quals = NIL;
	ListCell   *lc;
	ListCell   *lq;

	foreach(lc, path->indexclauses)
	{
		IndexClause *from = lfirst_node(IndexClause, lc);

		foreach(lq, from->indexquals)
			quals = lappend(quals,
							fpt_only_qual(info, from,
										  lfirst_node(RestrictInfo, lq)));
	}
	return quals;
}

/*
 * Is a condition, as a whole, what an expression column of the index has?  Then
 * core would put that column in its place, which is no condition of the index.
 */
static bool
fpt_only_confused(const IndexPath *path)
{
	List	   *quals;
	ListCell   *lc;

	if (path->indexinfo->indexprs == NIL)
		return false;
	quals = fpt_only_quals(path);
	foreach(lc, path->indexinfo->indextlist)
	{
		if (list_member(quals, lfirst_node(TargetEntry, lc)->expr))
			return true;
	}
	return false;
}

/* Are the conditions of the index all that there is to ask? */
static bool
fpt_only_clauses(const IndexPath *path)
{
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		if (lfirst_node(IndexClause, lc)->lossy)
			return false;
	}
	if (!fpt_only_implied(path->indexinfo->indrestrictinfo, path) ||
		fpt_only_confused(path))
		return false;
	return path->path.param_info == NULL ||
		fpt_only_implied(path->path.param_info->ppi_clauses, path);
}

List *
fpt_only_paths(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *info)
{
	List	   *paths = rel->pathlist;
	List	   *partial = rel->partial_pathlist;
	List	   *indexes = rel->indexlist;
	bool		bitmap = info->amhasgetbitmap;
	bool		parallel = info->amcanparallel;
	List	   *found = NIL;
	ListCell   *lc;

	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	rel->indexlist = list_make1(info);
	info->amhasgetbitmap = false;
	info->amcanparallel = false;
	create_index_paths(root, rel);
	foreach(lc, rel->pathlist)
	{
		Path	   *path = (Path *) lfirst(lc);

		if (IsA(path, IndexPath) && path->pathtype == T_IndexOnlyScan &&
			!fpt_path_disabled(path) && fpt_only_clauses((IndexPath *) path))
			found = lappend(found, path);
	}
	rel->pathlist = paths;
	rel->partial_pathlist = partial;
	rel->indexlist = indexes;
	info->amhasgetbitmap = bitmap;
	info->amcanparallel = parallel;
	return found;
}

IndexPath *
fpt_only_path(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *info)
{
	ListCell   *lc;

	foreach(lc, fpt_only_paths(root, rel, info))
	{
		IndexPath  *path = lfirst_node(IndexPath, lc);

		if (path->path.param_info == NULL)
			return path;
	}
	return NULL;
}

Cost
fpt_only_entries_cost(const IndexPath *path)
{
	double		rows = clamp_row_est(path->indexselectivity *
									 path->indexinfo->rel->tuples);
	Cost		charged = rows * (cpu_index_tuple_cost + cpu_operator_cost *
								  list_length(path->indexclauses));

	charged = Min(charged, path->indextotalcost - path->path.startup_cost);
	return Max(charged, 0);
}

Cost
fpt_only_hidden_cost(const IndexPath *path, double rows)
{
	const RelOptInfo *rel = path->indexinfo->rel;
	double		pages = Max(ceil(rel->pages * (1 - rel->allvisfrac)), 1);
	Cost		most = path->path.total_cost - path->indextotalcost -
		cpu_tuple_cost * clamp_row_est(path->indexselectivity * rel->tuples);
	double		visited;
	double		spc_random;
	double		spc_seq;
	Cost		io;

	if (rows < 1)
		return 0;
	get_tablespace_page_costs(rel->reltablespace, &spc_random, &spc_seq);
	visited = ceil(Min(2 * pages * rows / (2 * pages + rows), pages));
	io = visited * (spc_random - (spc_random - spc_seq) *
					sqrt(visited / Max(rel->pages, 1)));
	return Min(io, Max(most, 0)) + rows * cpu_tuple_cost;
}
