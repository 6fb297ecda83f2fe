/*-------------------------------------------------------------------------
 *
 * plan/extrakeys.h
 *	  Extra keys for the scans of a plan that is about to run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PLAN_EXTRAKEYS_H
#define FPT_PLAN_EXTRAKEYS_H

#include "executor/execdesc.h"

/*
 * Give extra keys (scan/extrakey.h) to all scans of our indexes in a query that
 * the executor has started, in the query's context.  Reads catalogues if a scan
 * gets one; may raise.
 */
extern void fpt_give_keys(QueryDesc *query);

#endif							/* FPT_PLAN_EXTRAKEYS_H */
