/*-------------------------------------------------------------------------
 *
 * fpt_stats.c
 *	  SQL access to the read-ahead counters of this backend.
 *
 *-------------------------------------------------------------------------
 */
#include "fpt_prefetch.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(fptree_prefetch_stats);
PG_FUNCTION_INFO_V1(fptree_prefetch_reset);

/* One row for each counter: name, value. */
Datum
fptree_prefetch_stats(PG_FUNCTION_ARGS)
{
	static const struct
	{
		const char *name;
		const uint64 *value;
	}			counters[] = {
		{"leaf_issued", &fpt_prefetch_stats.leaf_issued},
		{"leaf_cached", &fpt_prefetch_stats.leaf_cached},
		{"leaf_wasted", &fpt_prefetch_stats.leaf_wasted},
		{"heap_issued", &fpt_prefetch_stats.heap_issued},
		{"heap_cached", &fpt_prefetch_stats.heap_cached},
		{"heap_wasted", &fpt_prefetch_stats.heap_wasted},
		{"distance_max", &fpt_prefetch_stats.distance_max},
		{"skip_off", &fpt_prefetch_stats.skip_off},
		{"skip_limit", &fpt_prefetch_stats.skip_limit},
		{"skip_short", &fpt_prefetch_stats.skip_short},
		{"skip_pause", &fpt_prefetch_stats.skip_pause},
		{"skip_visible", &fpt_prefetch_stats.skip_visible},
		{"skip_kind", &fpt_prefetch_stats.skip_kind},
		{"skip_end", &fpt_prefetch_stats.skip_end},
		{"skip_sequential", &fpt_prefetch_stats.skip_sequential},
	};
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			i;

	InitMaterializedSRF(fcinfo, 0);
	for (i = 0; i < (int) lengthof(counters); i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		values[0] = CStringGetTextDatum(counters[i].name);
		values[1] = Int64GetDatum((int64) *counters[i].value);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

Datum
fptree_prefetch_reset(PG_FUNCTION_ARGS)
{
	memset(&fpt_prefetch_stats, 0, sizeof(fpt_prefetch_stats));
	PG_RETURN_VOID();
}
