/*-------------------------------------------------------------------------
 *
 * sql/stats.c
 *	  SQL access to the counters of read-ahead of this backend.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "store/counts.h"

PG_FUNCTION_INFO_V1(fptree_prefetch_stats);
PG_FUNCTION_INFO_V1(fptree_prefetch_reset);

/*
 * fptree_prefetch_stats()
 *
 * One row for each counter of this backend: name, value.  Locks nothing.
 */
Datum
fptree_prefetch_stats(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < FPT_NCOUNTERS; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		values[0] = CStringGetTextDatum(fpt_counter_names[i]);
		values[1] = Int64GetDatum((int64) fpt_counters[i]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/*
 * fptree_prefetch_reset()
 *
 * Set the counters of this backend to zero.
 */
Datum
fptree_prefetch_reset(PG_FUNCTION_ARGS)
{
	memset(fpt_counters, 0, sizeof(fpt_counters));
	PG_RETURN_VOID();
}
