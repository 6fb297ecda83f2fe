/*-------------------------------------------------------------------------
 *
 * plan/hooks.h
 *	  Hooks of the planner: what it is told of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_HOOKS_H
#define FPT_PLAN_HOOKS_H

/* Put the hook in place; once, when the library is loaded. */
extern void fpt_hooks_init(void);

#endif							/* FPT_PLAN_HOOKS_H */
