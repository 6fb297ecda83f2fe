/*-------------------------------------------------------------------------
 *
 * plan/cost.c
 *	  Cost estimates.
 *
 * btree's estimate fits, because it is computed from the index at hand: number
 * of pages (fewer than a btree's of the same rows), of entries, and the height
 * of the tree, which the planner knows for btree only and which is read from
 * the root page here.  What a page costs to search is not told apart: it is
 * dwarfed by the executor's cost of a row.
 *
 * Three things are.  Whether a scan is worth parallel workers is not decided
 * by the number of our dense pages (fpt_btree_pages).  A long scan does not
 * wait for each leaf, since they are read ahead: fpt_readahead_credit() has the
 * rule, src/README.md the reasons.  And before version 18 a btree reads all of
 * the index if a column in front has no quals, and we do not (fpt_skip_cost).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/lockdefs.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "page/format.h"
#include "plan/cost.h"
#include "server/compat.h"
#include "store/buf.h"
#include "store/counts.h"
#include "store/index.h"
#include "store/place.h"
#include "store/stripe.h"
#include "tree/prefetch.h"
#include "tree/search.h"

/* Leaves that a scan has read before the distance has grown. */
#define FPT_COST_START		4

bool		fpt_guc_cost_readahead = true;
bool		fpt_guc_plan_costs = true;

int
fpt_tree_height(Relation rel)
{
	int			k;
	int			n;

	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));
	/* From 18 on asked before fpt_show_pages() can leave out such an index. */
	if (!fpt_stripes_present(rel, &k, &n))
		return -1;
	return fpt_tree_level(rel, fpt_index(rel));
}

/*
 * Does the path search for each element of an array?  Looks at index quals, so
 * what an array clause was made of counts.
 */
static bool
fpt_has_array(IndexPath *path)
{
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *ic = lfirst_node(IndexClause, lc);
		ListCell   *lq;

		foreach(lq, ic->indexquals)
		{
			if (IsA(lfirst_node(RestrictInfo, lq)->clause, ScalarArrayOpExpr))
				return true;
		}
	}
	return false;
}

/*
 * What read-ahead saves of the random_page_cost that core charges for each
 * leaf.  With n reads at a time a leaf costs an n-th of it, but no less than a
 * page of a sequential scan, which is read ahead, too.  Only for a single pass
 * over a single range: what repeated ones cost depends on what is cached, of
 * which core's estimate has a notion of its own.  Returns 0 where there is
 * nothing to save; never more than what core has charged for the leaves.  May
 * read the metapage, and raise then; the planner has locked the index.
 */
static Cost
fpt_readahead_credit(IndexPath *path, double loop_count, double pages)
{
	Oid			space = path->indexinfo->reltablespace;
	Relation	index;
	int			distance;
	double		spc_random;
	double		spc_seq;

	Assert(loop_count >= 1 && pages >= 0);
	if (!fpt_guc_cost_readahead || !fpt_guc_leaf_prefetch ||
		pages <= FPT_COST_START || loop_count > 1 || fpt_has_array(path))
		return 0;
	if (path->indexinfo->hypothetical)
		distance = get_tablespace_io_concurrency(space);
	else
	{
		/* The planner holds a lock on the index already. */
		index = index_open(path->indexinfo->indexoid, NoLock);
		distance = fpt_io_concurrency(index, &fpt_index(index)->map, false);
		index_close(index, NoLock);
	}
	if (distance > 0 && fpt_guc_prefetch_distance > 0)
		distance = fpt_guc_prefetch_distance;
	if (distance <= 1)
		return 0;
	get_tablespace_page_costs(space, &spc_random, &spc_seq);
	return (pages - FPT_COST_START) *
		Max(0, spc_random - Max(spc_seq, spc_random / distance));
}

/* --- skipping ------------------------------------------------------------ */

/*
 * What a column's quals leave of its values.  nvalues is 0 where "fixed" means
 * one value.
 */
typedef struct FPTCostColumn
{
	List	   *quals;
	bool		fixed;			/* some values, to be looked up */
	double		nvalues;		/* how many of them, or 0 */
} FPTCostColumn;

/* CPU cost of a page of a descent, in operators: as btree's is reckoned. */
#define FPT_COST_PAGE		50.0

/*
 * Add a qual to its column's: does it leave one value of the column, or how
 * many?  Of two that fix the column the array's number stands.  Reads
 * catalogues (what operators are).  The list grows in the planner's context.
 */
static void
fpt_cost_qual(struct PlannerInfo *root, FPTCostColumn *col, Oid opfamily,
			  RestrictInfo *rinfo)
{
	Node	   *clause = (Node *) rinfo->clause;

	Assert(IsA(rinfo, RestrictInfo));
	col->quals = lappend(col->quals, rinfo);
	if (IsA(clause, NullTest))
		col->fixed |= ((NullTest *) clause)->nulltesttype == IS_NULL;
	else if (IsA(clause, OpExpr))
	{
		Oid			op = ((OpExpr *) clause)->opno;

		col->fixed |= get_op_opfamily_strategy(op, opfamily) ==
			BTEqualStrategyNumber;
	}
	else if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *array = (ScalarArrayOpExpr *) clause;

		if (get_op_opfamily_strategy(array->opno, opfamily) ==
			BTEqualStrategyNumber)
		{
			col->nvalues = fpt_array_length(root, lsecond(array->args));
			col->fixed = true;
		}
	}
}

/*
 * How many values does the column have, as far as its quals let them pass?  -1
 * if the statistics do not say; at least 1 else.  Reads catalogues.
 */
static double
fpt_cost_values(struct PlannerInfo *root, IndexOptInfo *info, int i,
				FPTCostColumn *col)
{
	TargetEntry *tle = list_nth_node(TargetEntry, info->indextlist, i);
	VariableStatData vardata;
	bool		isdefault;
	double		n;

	Assert(i < info->nkeycolumns);
	if (col->fixed)
		return Max(1, col->nvalues);
	examine_variable(root, (Node *) tle->expr, 0, &vardata);
	n = get_variable_numdistinct(&vardata, &isdefault);
	ReleaseVariableStats(vardata);
	if (isdefault)
		return -1;
	if (col->quals != NIL)
		n *= clauselist_selectivity(root, col->quals, info->rel->relid,
									JOIN_INNER, NULL);
	return n + 1;				/* NULL, or the end */
}

/*
 * How many places of the index does a scan look for that skips columns?  0 if
 * there is nothing to skip, or if it is not known.  The product over the
 * columns up to the last one that has a qual, as if they were independent:
 * rather too many than too few.  Reads catalogues.
 */
static double
fpt_skip_places(struct PlannerInfo *root, IndexPath *path)
{
	IndexOptInfo *info = path->indexinfo;
	FPTCostColumn cols[INDEX_MAX_KEYS];
	double		places = 1;
	bool		skips = false;
	int			last = -1;
	ListCell   *lc;
	ListCell   *lq;

	memset(cols, 0, sizeof(cols));
	foreach(lc, path->indexclauses)
	{
		IndexClause *ic = lfirst_node(IndexClause, lc);

		Assert(ic->indexcol >= 0 && ic->indexcol < info->nkeycolumns);
		foreach(lq, ic->indexquals)
			fpt_cost_qual(root, &cols[ic->indexcol],
						  info->opfamily[ic->indexcol], lfirst(lq));
		last = Max(last, ic->indexcol);
	}
	for (int i = 0; i <= last; i++)
		skips |= i < last && !cols[i].fixed;
	if (!skips)
		return 0;
	for (int i = 0; i <= last; i++)
	{
		double		n = 1;

		if (i < last || cols[i].fixed)
			n = fpt_cost_values(root, info, i, &cols[i]);
		if (n < 0)
			return 0;
		Assert(n >= 1);
		places *= n;
	}
	return places;
}

/*
 * The cost of a scan that looks for each value of a column without quals, or
 * with a range, in front of other quals.  Each place takes two descents, one
 * that finds out the next value and one to the entries wanted, and as many
 * leaves, which core charges as random reads.  Returns false if that is no
 * better than core's estimate, which is for a scan of all that the first
 * columns let pass; else *total and *index_pages are set.
 */
static bool
fpt_skip_cost(struct PlannerInfo *root, IndexPath *path, double loop_count,
			  Cost startup, Cost *total, Selectivity selectivity,
			  double *index_pages)
{
	IndexOptInfo *info = path->indexinfo;
	double		places = fpt_core_costs_skips() ? 0 :
		fpt_skip_places(root, path);
	double		entries = ceil(selectivity * info->rel->tuples);
	double		pages;
	double		spc_random;
	Cost		io;
	Cost		cpu;

	Assert(selectivity >= 0 && selectivity <= 1);
	Assert(*total >= startup);
	if (places <= 0 || info->tuples < 1)
		return false;
	pages = ceil(Min(2 * places + entries * info->pages / info->tuples,
					 info->pages));
	get_tablespace_page_costs(info->reltablespace, &spc_random, NULL);
	io = pages * spc_random;
	if (loop_count > 1)
		io = index_pages_fetched(pages * loop_count, info->pages, info->pages,
								 root) * spc_random / loop_count;
	cpu = 2 * places * cpu_operator_cost *
		(ceil(log(Max(info->tuples, 2)) / log(2.0)) +
		 (info->tree_height + 1) * FPT_COST_PAGE) +
		entries * (cpu_index_tuple_cost +
				   list_length(path->indexclauses) * cpu_operator_cost);
	if (startup + io + cpu >= *total)
		return false;
	*total = startup + io + cpu;
	*index_pages = pages;
	return true;
}

/*
 * Core uses the number of pages that a path reads to decide whether the scan is
 * worth parallel workers, and how many, and for nothing else.  What they share
 * is the work on the entries, of which our pages hold up to three times as many
 * as btree's.  So pages are counted for that as if they were a btree's (without
 * deduplication): how many are they for one of ours?  1 at least.  Column
 * widths are the statistics' averages, or the type's.  Reads catalogues.
 */
static double
fpt_btree_pages(struct PlannerInfo *root, const IndexOptInfo *info)
{
	Oid			heap = planner_rt_fetch(info->rel->relid, root)->relid;
	double		width = sizeof(IndexTupleData);
	double		pages;

	if (!info->rel->consider_parallel || info->pages == 0)
		return 1;
	for (int i = 0; i < info->ncolumns; i++)
	{
		int32		column = 0;

		if (info->indexkeys[i] > 0)
			column = get_attavgwidth(heap, info->indexkeys[i]);
		if (column <= 0)
			column = get_attavgwidth(info->indexoid, i + 1);
		if (column <= 0)
			column = get_typavgwidth(get_atttype(info->indexoid, i + 1), -1);
		width += column;
	}
	width = MAXALIGN((Size) width) + sizeof(ItemIdData);
	pages = info->tuples * width / (BLCKSZ * BTREE_DEFAULT_FILLFACTOR / 100);
	return Max(1, pages / info->pages);
}

/*
 * amcostestimate: btree's, with our tree's height and size, less what
 * read-ahead hides, and with skips priced where core does not.  May read the
 * index's root.  Locks no index: the planner has.  May raise if the index is
 * damaged.  Sets what core wants, and the height in *path's index, which lives
 * as long as the plan is made.
 */
void
fptcostestimate(struct PlannerInfo *root, struct IndexPath *path,
				double loop_count, Cost *indexStartupCost,
				Cost *indexTotalCost, Selectivity *indexSelectivity,
				double *indexCorrelation, double *indexPages)
{
	IndexOptInfo *info = path->indexinfo;

	if (info->tree_height < 0 && !info->hypothetical)
	{
		/* The planner holds a lock on the index already. */
		Relation	rel = index_open(info->indexoid, NoLock);

		info->tree_height = fpt_tree_height(rel);
		index_close(rel, NoLock);
	}
	btcostestimate(root, path, loop_count, indexStartupCost, indexTotalCost,
				   indexSelectivity, indexCorrelation, indexPages);
	if ((!fpt_guc_plan_costs ||
		 !fpt_skip_cost(root, path, loop_count, *indexStartupCost,
						indexTotalCost, *indexSelectivity, indexPages)) &&
		!isinf(*indexTotalCost))
		*indexTotalCost -=
			Min(fpt_readahead_credit(path, loop_count, *indexPages),
				*indexTotalCost - *indexStartupCost);
	if (fpt_guc_plan_costs)
		*indexPages *= fpt_btree_pages(root, info);
	Assert(*indexTotalCost >= *indexStartupCost);
	Assert(*indexPages >= 0);
	info->amcostestimate = enable_indexscan && enable_indexonlyscan ?
		fptcostestimate : fpt_cost_barred;
}

/* See plan/cost.h: the same function under another address. */
void
fpt_cost_barred(struct PlannerInfo *root, struct IndexPath *path,
				double loop_count, Cost *indexStartupCost,
				Cost *indexTotalCost, Selectivity *indexSelectivity,
				double *indexCorrelation, double *indexPages)
{
	fptcostestimate(root, path, loop_count, indexStartupCost, indexTotalCost,
					indexSelectivity, indexCorrelation, indexPages);
}
