/*-------------------------------------------------------------------------
 *
 * plan/plan.h
 *	  Plans that core does not make for other access methods.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_PLAN_H
#define FPT_PLAN_PLAN_H

/* Put the hooks in place; once, when the library is loaded. */
extern void fpt_plan_init(void);

extern bool fpt_guc_plan_families;

extern bool fpt_guc_plan_extremes;

extern bool fpt_guc_plan_rows;

#endif							/* FPT_PLAN_PLAN_H */
