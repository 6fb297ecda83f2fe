/*-------------------------------------------------------------------------
 *
 * fptree_hints.c
 *	  Another extension's hook, which has the last word on a table's scans.
 *
 * It does what extensions do that take hints from queries: it frees indexes of
 * the planner's list and all paths that there are, and has core make paths anew
 * under other settings.  It is in a library of its own, since the place of a
 * hook in the chain hangs on the order in which libraries are loaded.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

/* What a table may be read by, besides a sequential scan */
typedef enum
{
	HINT_NONE,					/* the hook does nothing */
	HINT_SEQ,					/* no index is left */
	HINT_TID,					/* none either */
	HINT_INDEX,					/* index scans, of one index perhaps */
	HINT_BITMAP,
	HINT_NO_INDEX,				/* all but index scans */
	HINT_NO_BITMAP				/* all but bitmap scans */
} Hint;

static const struct config_enum_entry hint_options[] = {
	{"none", HINT_NONE, false},
	{"seq", HINT_SEQ, false},
	{"tid", HINT_TID, false},
	{"index", HINT_INDEX, false},
	{"bitmap", HINT_BITMAP, false},
	{"no_index", HINT_NO_INDEX, false},
	{"no_bitmap", HINT_NO_BITMAP, false},
	{NULL, 0, false}
};

static int	hint_scan = HINT_NONE;
static char *hint_index = NULL;
static set_rel_pathlist_hook_type prev_rel_pathlist = NULL;

/*
 * Take what memory has just been freed into use, lest who looks at it finds
 * what was there.
 */
static void
use_freed_memory(void)
{
	for (Size size = 8; size <= 1024; size *= 2)
	{
		for (int i = 0; i < 16; i++)
			memset(palloc(size), 0x7F, size);
	}
}

/*
 * Leave the planner the index that is named, if one is, or none at all.  What
 * is taken out is freed.
 */
static void
restrict_indexes(RelOptInfo *rel)
{
	ListCell   *lc;

	if (hint_scan == HINT_SEQ || hint_scan == HINT_TID)
	{
		list_free_deep(rel->indexlist);
		rel->indexlist = NIL;
		return;
	}
	if (*hint_index == '\0')
		return;
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *info = (IndexOptInfo *) lfirst(lc);
		char	   *name = get_rel_name(info->indexoid);

		if (name == NULL || strcmp(name, hint_index) != 0)
		{
			rel->indexlist = foreach_delete_current(rel->indexlist, lc);
			pfree(info);
		}
	}
}

/* Which kinds of scans may be used, as settings or as the table's own mask. */
static void
restrict_scans(RelOptInfo *rel)
{
	enable_seqscan = hint_scan == HINT_SEQ || hint_scan >= HINT_NO_INDEX;
	enable_tidscan = hint_scan == HINT_TID || hint_scan >= HINT_NO_INDEX;
	enable_indexscan = enable_indexonlyscan =
		hint_scan == HINT_INDEX || hint_scan == HINT_NO_BITMAP;
	enable_bitmapscan = hint_scan == HINT_BITMAP || hint_scan == HINT_NO_INDEX;
#ifdef PGS_SCAN_ANY
	rel->pgs_mask &= ~PGS_SCAN_ANY;
	if (enable_seqscan)
		rel->pgs_mask |= PGS_SEQSCAN;
	if (enable_tidscan)
		rel->pgs_mask |= PGS_TIDSCAN;
	if (enable_indexscan)
		rel->pgs_mask |= PGS_INDEXSCAN | PGS_INDEXONLYSCAN;
	if (enable_bitmapscan)
		rel->pgs_mask |= PGS_BITMAPSCAN;
#endif
}

/* Have core make the paths of a table once more. */
static void
make_paths(PlannerInfo *root, RelOptInfo *rel)
{
	list_free_deep(rel->pathlist);
	rel->pathlist = NIL;
	list_free_deep(rel->partial_pathlist);
	rel->partial_pathlist = NIL;
	add_path(rel, create_seqscan_path(root, rel, rel->lateral_relids, 0));
	create_index_paths(root, rel);
	create_tidscan_paths(root, rel);
}

/* set_rel_pathlist_hook.  An error leaves the settings as they are here. */
static void
hint_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
				  RangeTblEntry *rte)
{
	bool		seqscan = enable_seqscan;
	bool		tidscan = enable_tidscan;
	bool		indexscan = enable_indexscan;
	bool		indexonlyscan = enable_indexonlyscan;
	bool		bitmapscan = enable_bitmapscan;

	if (prev_rel_pathlist)
		prev_rel_pathlist(root, rel, rti, rte);
	if (hint_scan == HINT_NONE || rte->rtekind != RTE_RELATION || rte->inh ||
		rte->tablesample != NULL)
		return;
	restrict_indexes(rel);
	use_freed_memory();
	restrict_scans(rel);
	make_paths(root, rel);
	enable_seqscan = seqscan;
	enable_tidscan = tidscan;
	enable_indexscan = indexscan;
	enable_indexonlyscan = indexonlyscan;
	enable_bitmapscan = bitmapscan;
}

void
_PG_init(void)
{
	DefineCustomEnumVariable("fptree_hints.scan", "What tables are read by.",
							 NULL, &hint_scan, HINT_NONE, hint_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("fptree_hints.index",
							   "The index that may be used; empty: any.",
							   NULL, &hint_index, "", PGC_USERSET, 0,
							   NULL, NULL, NULL);
	prev_rel_pathlist = set_rel_pathlist_hook;
	set_rel_pathlist_hook = hint_rel_pathlist;
}
