/*-------------------------------------------------------------------------
 *
 * plan/nodes.h
 *	  Where the planner is offered nodes of ours.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_NODES_H
#define FPT_PLAN_NODES_H

/*
 * Make the nodes known to core, and put the hooks in place; once, when the
 * library is loaded, and before fpt_plan_init(): a table's paths are offered
 * after it has been offered implied clauses.
 */
extern void fpt_plan_nodes_init(void);

#endif							/* FPT_PLAN_NODES_H */
