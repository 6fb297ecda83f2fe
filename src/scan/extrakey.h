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

/*
 * How many rows the node must still return: the argument points to FPTWanted.
 * It is a hint for read-ahead.
 */
#define FPT_SK_WANTED		0x00020000

typedef struct FPTWanted
{
	/*
	 * Returns the rows that are still wanted of the node, the next one
	 * included; below zero: nobody knows.  Sets *had to the number of those
	 * that were counted already.  Raises nothing, and reads memory only.
	 */
	int64		(*rows) (const struct FPTWanted *wanted, int64 *had);
	void	   *arg;
} FPTWanted;

#define FPT_SK_EXTRA			(FPT_SK_POSITION | FPT_SK_WANTED)

/* Returns how many of n keys are those of operators. */
static inline int
fpt_operator_keys(const ScanKeyData *keys, int n)
{
	while (n > 0 && unlikely(keys[n - 1].sk_flags & FPT_SK_EXTRA))
		n--;
	return n;
}

/* The rows that are wanted of a scan with these extra keys; NULL: all. */
static inline const FPTWanted *
fpt_extra_wanted(const ScanKeyData *keys, int n)
{
	for (int k = 0; k < n; k++)
	{
		if (keys[k].sk_flags & FPT_SK_WANTED)
			return (const FPTWanted *) DatumGetPointer(keys[k].sk_argument);
	}
	return NULL;
}

#endif							/* FPT_SCAN_EXTRAKEY_H */
