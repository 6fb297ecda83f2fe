/*-------------------------------------------------------------------------
 *
 * plan/distinct.h
 *	  Plans that go from key to key of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_DISTINCT_H
#define FPT_PLAN_DISTINCT_H

/* Put the hook in place; once, when the library is loaded. */
extern void fpt_plan_distinct_init(void);

extern bool fpt_guc_enable_distinct;

#endif							/* FPT_PLAN_DISTINCT_H */
