/*-------------------------------------------------------------------------
 *
 * plan/hooks.h
 *	  The hook of the executor's start: what core does for btree only.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_HOOKS_H
#define FPT_PLAN_HOOKS_H

/* Put the hook in place: once, as the library is loaded.  Raises nothing. */
extern void fpt_hooks_init(void);

#endif							/* FPT_PLAN_HOOKS_H */
