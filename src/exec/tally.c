/*-------------------------------------------------------------------------
 *
 * exec/tally.c
 *	  Aggregates of an index's key, of all rows of a scan.
 *
 * Only of core's own functions, and of types whose values are whole numbers:
 * their results do not hang on the order of rows, which sums of float8 do.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "exec/tally.h"

#define FPT_LIMB	((int64) 0xFFFFFFFF)

/* An aggregate function of a type of keys */
typedef struct FPTKnown
{
	Oid			function;
	Oid			type;
	FPTAggregate aggregate;
} FPTKnown;

static const FPTKnown fpt_known[] = {
	{F_MIN_INT4, INT4OID, FPT_AGG_MIN},
	{F_MAX_INT4, INT4OID, FPT_AGG_MAX},
	{F_SUM_INT4, INT4OID, FPT_AGG_SUM4},
	{F_AVG_INT4, INT4OID, FPT_AGG_AVG},
	{F_MIN_INT8, INT8OID, FPT_AGG_MIN},
	{F_MAX_INT8, INT8OID, FPT_AGG_MAX},
	{F_SUM_INT8, INT8OID, FPT_AGG_SUM8},
	{F_AVG_INT8, INT8OID, FPT_AGG_AVG},
	{F_MIN_OID, OIDOID, FPT_AGG_MIN},
	{F_MAX_OID, OIDOID, FPT_AGG_MAX},
	{F_MIN_DATE, DATEOID, FPT_AGG_MIN},
	{F_MAX_DATE, DATEOID, FPT_AGG_MAX},
	{F_MIN_TIME, TIMEOID, FPT_AGG_MIN},
	{F_MAX_TIME, TIMEOID, FPT_AGG_MAX},
	{F_MIN_TIMESTAMP, TIMESTAMPOID, FPT_AGG_MIN},
	{F_MAX_TIMESTAMP, TIMESTAMPOID, FPT_AGG_MAX},
	{F_MIN_TIMESTAMPTZ, TIMESTAMPTZOID, FPT_AGG_MIN},
	{F_MAX_TIMESTAMPTZ, TIMESTAMPTZOID, FPT_AGG_MAX},
};

FPTAggregate
fpt_aggregate(Oid function, Oid type)
{
	if (function == F_COUNT_)
		return FPT_AGG_COUNT;
	if (function == F_COUNT_ANY)
		return FPT_AGG_COUNT_KEY;
	for (int i = 0; i < (int) lengthof(fpt_known); i++)
	{
		if (fpt_known[i].function == function && fpt_known[i].type == type)
			return fpt_known[i].aggregate;
	}
	return FPT_AGG_NONE;
}

int64
fpt_key_number(Oid type, Datum value)
{
	switch (type)
	{
		case INT4OID:
		case DATEOID:
			return DatumGetInt32(value);
		case OIDOID:
			return DatumGetObjectId(value);
		default:
			return DatumGetInt64(value);
	}
}

/* The other way round. */
static Datum
fpt_number_key(Oid type, int64 n)
{
	switch (type)
	{
		case INT4OID:
		case DATEOID:
			return Int32GetDatum((int32) n);
		case OIDOID:
			return ObjectIdGetDatum((Oid) n);
		default:
			return Int64GetDatum(n);
	}
}

void
fpt_tally_clear(FPTTally *t)
{
	memset(t, 0, sizeof(FPTTally));
	t->min = PG_INT64_MAX;
	t->max = PG_INT64_MIN;
}

/* Bring the lower parts of a sum into their bounds. */
static void
fpt_sum_carry(FPTSum *s)
{
	s->high += s->low >> 32;
	s->low &= FPT_LIMB;
	s->top += s->high >> 32;
	s->high &= FPT_LIMB;
}

void
fpt_tally_keys(FPTTally *t, const int64 *keys, int n)
{
	int64		high = 0;
	int64		low = 0;
	int64		min = t->min;
	int64		max = t->max;

	for (int i = 0; i < n; i++)
	{
		high += keys[i] >> 32;
		low += keys[i] & FPT_LIMB;
		min = Min(min, keys[i]);
		max = Max(max, keys[i]);
	}
	t->rows += n;
	t->keys += n;
	t->min = min;
	t->max = max;
	t->sum.high += high;
	t->sum.low += low;
	fpt_sum_carry(&t->sum);
}

void
fpt_tally_add(FPTTally *t, const FPTTally *other)
{
	t->rows += other->rows;
	t->keys += other->keys;
	t->min = Min(t->min, other->min);
	t->max = Max(t->max, other->max);
	t->sum.top += other->sum.top;
	t->sum.high += other->sum.high;
	t->sum.low += other->sum.low;
	fpt_sum_carry(&t->sum);
}

/* Is the sum one of 64 bits?  Then it is in *n. */
static bool
fpt_sum_int64(const FPTSum *s, int64 *n)
{
	*n = (int64) ((uint64) s->high << 32 | (uint64) s->low);
	return s->top == (*n < 0 ? -1 : 0);
}

/* The sum as a numeric, in the current context. */
static Numeric
fpt_sum_numeric(const FPTSum *s)
{
	Datum		two32 = NumericGetDatum(int64_to_numeric((int64) 1 << 32));
	int64		n;
	Datum		sum;

	if (fpt_sum_int64(s, &n))
		return int64_to_numeric(n);
	sum = NumericGetDatum(int64_to_numeric(s->top));
	sum = DirectFunctionCall2(numeric_mul, sum, two32);
	sum = DirectFunctionCall2(numeric_add, sum,
							  NumericGetDatum(int64_to_numeric(s->high)));
	sum = DirectFunctionCall2(numeric_mul, sum, two32);
	sum = DirectFunctionCall2(numeric_add, sum,
							  NumericGetDatum(int64_to_numeric(s->low)));
	return DatumGetNumeric(sum);
}

Datum
fpt_tally_result(const FPTTally *t, FPTAggregate a, Oid type, bool *isnull)
{
	Datum		sum;
	Datum		keys;
	int64		n;

	Assert(a != FPT_AGG_NONE);
	*isnull = false;
	if (a == FPT_AGG_COUNT)
		return Int64GetDatum(t->rows);
	if (a == FPT_AGG_COUNT_KEY)
		return Int64GetDatum(t->keys);
	*isnull = t->keys == 0;
	if (*isnull)
		return (Datum) 0;
	switch (a)
	{
		case FPT_AGG_MIN:
			return fpt_number_key(type, t->min);
		case FPT_AGG_MAX:
			return fpt_number_key(type, t->max);
		case FPT_AGG_SUM4:
			(void) fpt_sum_int64(&t->sum, &n);
			return Int64GetDatum(n);
		case FPT_AGG_SUM8:
			return NumericGetDatum(fpt_sum_numeric(&t->sum));
		default:
			Assert(a == FPT_AGG_AVG);
			sum = NumericGetDatum(fpt_sum_numeric(&t->sum));
			keys = NumericGetDatum(int64_to_numeric(t->keys));
			return DirectFunctionCall2(numeric_div, sum, keys);
	}
}
