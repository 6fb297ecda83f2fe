/*-------------------------------------------------------------------------
 *
 * plan/only.h
 *	  What an index of ours answers alone.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_ONLY_H
#define FPT_PLAN_ONLY_H

#include "nodes/pathnodes.h"

/*
 * Is this a plain table, of core's table access method, in whose indexes nodes
 * of ours may look?  It may be a part of another one.  Not under row security,
 * or security barriers, where the order matters in which conditions are asked;
 * nor with parameters of other tables, or conditions without a column; nor
 * where core has proven that no row matches.  Looks at the table, which the
 * planner has locked.
 */
extern bool fpt_only_table(PlannerInfo *root, RelOptInfo *rel);

/* May the index be used?  It is one of ours, and no hint or setting forbids. */
extern bool fpt_only_index(const IndexOptInfo *info);

/*
 * Paths of index-only scans that have nothing to ask of entries: all of the
 * table's conditions are conditions of the index, or follow from its predicate.
 * They are made by core, for us alone, and are not in the table's lists.
 */
extern List *fpt_only_paths(PlannerInfo *root, RelOptInfo *rel,
							IndexOptInfo *info);

/* One of them without parameters of other tables; NULL: no such path. */
extern IndexPath *fpt_only_path(PlannerInfo *root, RelOptInfo *rel,
								IndexOptInfo *info);

/* Its conditions, as clauses, with the index's columns to the left. */
extern List *fpt_only_quals(const IndexPath *path);

/* What core charges for the entries of such a path. */
extern Cost fpt_only_entries_cost(const IndexPath *path);

/*
 * So many rows that must be looked up: their pages of the table, each once, as
 * for a bitmap scan, but no more than core charges the index-only scan for
 * them, which knows whether rows are in the index's order.
 */
extern Cost fpt_only_hidden_cost(const IndexPath *path, double rows);

#endif							/* FPT_PLAN_ONLY_H */
