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
 * of ours may look?  Not under row security, or security barriers, where the
 * order matters in which conditions are asked; nor with parameters of other
 * tables, or conditions without a column; nor where core has proven that no row
 * matches.  Looks at the table, which the planner has locked.
 */
extern bool fpt_only_table(PlannerInfo *root, RelOptInfo *rel);

/* May the index be used?  It is one of ours, and no hint or setting forbids. */
extern bool fpt_only_index(const IndexOptInfo *info);

/*
 * The path of an index-only scan that has nothing to ask of entries: all of the
 * table's conditions are conditions of the index, or follow from its predicate.
 * NULL: no such path.  It is made by core, for us alone, and is not in
 * the table's lists.
 */
extern IndexPath *fpt_only_path(PlannerInfo *root, RelOptInfo *rel,
								IndexOptInfo *info);

/* Its conditions, as clauses, with the index's columns to the left. */
extern List *fpt_only_quals(const IndexPath *path);

#endif							/* FPT_PLAN_ONLY_H */
