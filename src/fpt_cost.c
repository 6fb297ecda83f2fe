/*-------------------------------------------------------------------------
 *
 * fpt_cost.c
 *	  Cost estimates.
 *
 * btree's estimate fits, because it is computed from the index at hand: number
 * of pages (fewer than a btree's of the same rows), of entries, and the height
 * of the tree, which the planner knows for btree only and which is read from
 * the root page here.  What a page costs to search is not told apart: it is
 * dwarfed by the executor's cost of a row.
 *
 * Two things are.  Whether a scan is worth parallel workers is not decided by
 * the number of our dense pages (fpt_btree_pages).  And a long scan does not
 * wait for each leaf, since they are read ahead: fpt_readahead_credit() has the
 * rule, src/README.md the reasons.
 *
 *-------------------------------------------------------------------------
 */
#include "fpt_prefetch.h"

#include "access/relation.h"
#include "nodes/pathnodes.h"
#include "parser/parsetree.h"
#include "storage/lockdefs.h"
#include "utils/index_selfuncs.h"
#include "utils/lsyscache.h"
#include "utils/spccache.h"

/* Leaves that a scan has read before the distance has grown. */
#define FPT_COST_START		4

bool		fpt_guc_cost_readahead = true;

int
fpt_tree_height(Relation rel)
{
	FPTIndex   *ix = fpt_index(rel);
	Buffer		buf = fpt_getbuf(rel, ix, FPT_ROOTPAGE, BUFFER_LOCK_SHARE);

	ix->rootlevel = fpt_header(BufferGetPage(buf))->level;
	UnlockReleaseBuffer(buf);
	return ix->rootlevel;
}

/* Does the path search for each element of an array? */
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
 * which core's estimate has a notion of its own.
 */
static Cost
fpt_readahead_credit(IndexPath *path, double loop_count, double pages)
{
	Oid			space = path->indexinfo->reltablespace;
	int			distance;
	double		spc_random;
	double		spc_seq;

	if (!fpt_guc_cost_readahead || !fpt_guc_leaf_prefetch ||
		pages <= FPT_COST_START || loop_count > 1 || fpt_has_array(path))
		return 0;
	distance = get_tablespace_io_concurrency(space);
	if (distance > 0 && fpt_guc_prefetch_distance > 0)
		distance = fpt_guc_prefetch_distance;
	if (distance <= 1)
		return 0;
	get_tablespace_page_costs(space, &spc_random, &spc_seq);
	return (pages - FPT_COST_START) *
		Max(0, spc_random - Max(spc_seq, spc_random / distance));
}

/*
 * Core uses the number of pages that a path reads to decide whether the scan is
 * worth parallel workers, and how many, and for nothing else.  What they share
 * is the work on the entries, of which our pages hold up to three times as many
 * as btree's.  So pages are counted for that as if they were a btree's (without
 * deduplication): how many are they for one of ours?
 */
static double
fpt_btree_pages(struct PlannerInfo *root, const IndexOptInfo *info)
{
	Oid			heap = planner_rt_fetch(info->rel->relid, root)->relid;
	double		width = sizeof(IndexTupleData);
	double		pages;
	int			i;

	if (!info->rel->consider_parallel || info->pages == 0)
		return 1;
	for (i = 0; i < info->ncolumns; i++)
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
	*indexTotalCost -= fpt_readahead_credit(path, loop_count, *indexPages);
	*indexPages *= fpt_btree_pages(root, info);
	Assert(*indexTotalCost >= *indexStartupCost);
}
