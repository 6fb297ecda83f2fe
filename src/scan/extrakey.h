/*-------------------------------------------------------------------------
 *
 * scan/extrakey.h
 *	  Keys of a scan that are no quals: the executor's hook adds them.
 *
 * They are the last ones of the scan's keys (plan/extrakeys.c), and so come
 * with every rescan.  A flag that no operator's key has names the kind of each;
 * the flags are among those that the executor leaves to access methods.  No
 * extra key decides which entries match.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_EXTRAKEY_H
#define FPT_SCAN_EXTRAKEY_H

#include "access/skey.h"

/*
 * Where entries begin that may match, or end: the argument points to keys of
 * the first columns, the last one with SK_ROW_END.  They are "column = value",
 * and from some column on "column > value" or "<".  The node of the plan
 * returns no row that is before the position of these values in the order of
 * the index, or, as the operators have it, no row after it.  Several keys of a
 * column must have equal values; if they do not, that column and those after it
 * say nothing.
 */
#define FPT_SK_POSITION		0x00010000

#define FPT_SK_EXTRA			FPT_SK_POSITION

/* Returns how many of n keys are those of operators. */
static inline int
fpt_operator_keys(const ScanKeyData *keys, int n)
{
	while (n > 0 && unlikely(keys[n - 1].sk_flags & FPT_SK_EXTRA))
		n--;
	return n;
}

#endif							/* FPT_SCAN_EXTRAKEY_H */
