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
 *-------------------------------------------------------------------------
 */
#include "fptree.h"

#include "access/relation.h"
#include "nodes/pathnodes.h"
#include "storage/lockdefs.h"
#include "utils/index_selfuncs.h"

int
fpt_tree_height(Relation rel)
{
	FPTIndex   *ix = fpt_index(rel);
	Buffer		buf = fpt_getbuf(rel, ix, FPT_ROOTPAGE, BUFFER_LOCK_SHARE);

	ix->rootlevel = fpt_header(BufferGetPage(buf))->level;
	UnlockReleaseBuffer(buf);
	return ix->rootlevel;
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
}
