/*-------------------------------------------------------------------------
 *
 * plan/explain.h
 *	  Read-ahead in EXPLAIN.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_EXPLAIN_H
#define FPT_PLAN_EXPLAIN_H

/* Put the hooks in place; once, when the library is loaded. */
extern void fpt_explain_init(void);

#endif							/* FPT_PLAN_EXPLAIN_H */
