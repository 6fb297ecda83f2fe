/*-------------------------------------------------------------------------
 *
 * exec/tally.h
 *	  Aggregates of an index's key, of all rows of a scan.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_EXEC_TALLY_H
#define FPT_EXEC_TALLY_H

#include "postgres.h"

/* Aggregates of rows; numbers, as plans have lists of them. */
typedef enum FPTAggregate
{
	FPT_AGG_NONE,				/* one that is not known */
	FPT_AGG_COUNT,				/* count(*) */
	FPT_AGG_COUNT_KEY,			/* count(key): without NULLs */
	FPT_AGG_MIN,
	FPT_AGG_MAX,
	FPT_AGG_SUM4,				/* sum(int4): an int8 */
	FPT_AGG_SUM8,				/* sum(int8): a numeric */
	FPT_AGG_AVG					/* of either: a numeric */
} FPTAggregate;

/*
 * A sum of 64-bit numbers: top * 2^64 + high * 2^32 + low.  The lower two are
 * 0 to 2^32 - 1 after fpt_sum_carry(); between carries fewer than 2^31 numbers
 * may be added.
 */
typedef struct FPTSum
{
	int64		top;
	int64		high;
	int64		low;
} FPTSum;

/* Rows seen so far; fpt_tally_clear() comes first. */
typedef struct FPTTally
{
	int64		rows;
	int64		keys;			/* that are not NULL; of these: */
	FPTSum		sum;
	int64		min;
	int64		max;
} FPTTally;

extern void fpt_tally_clear(FPTTally *t);

/* Add n keys that are not NULL, and their rows; few enough for FPTSum. */
extern void fpt_tally_keys(FPTTally *t, const int64 *keys, int n);

/* Add what another process has seen.  Few instructions; raises nothing. */
extern void fpt_tally_add(FPTTally *t, const FPTTally *other);

/*
 * Which aggregate a function of core's is, of a key of a type; of count() and
 * such the type does not matter.  Others, also of users, are FPT_AGG_NONE.
 */
extern FPTAggregate fpt_aggregate(Oid function, Oid type);

/* Is the value of a key wanted, and not only whether it is NULL? */
static inline bool
fpt_aggregate_wants_value(FPTAggregate a)
{
	return a >= FPT_AGG_MIN;
}

/*
 * The result, as the aggregate of core's has it, of keys of "type"; in the
 * current context.
 */
extern Datum fpt_tally_result(const FPTTally *t, FPTAggregate a, Oid type,
							  bool *isnull);

/* A key of a type that fpt_aggregate() knows, as a number, and back. */
extern int64 fpt_key_number(Oid type, Datum value);

#endif							/* FPT_EXEC_TALLY_H */
