/*-------------------------------------------------------------------------
 *
 * plan/count.h
 *	  Plans that count in an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_COUNT_H
#define FPT_PLAN_COUNT_H

/* Put the hook in place; once, when the library is loaded. */
extern void fpt_plan_count_init(void);

extern bool fpt_guc_enable_count;

#endif							/* FPT_PLAN_COUNT_H */
