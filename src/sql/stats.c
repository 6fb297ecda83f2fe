/*-------------------------------------------------------------------------
 *
 * sql/stats.c
 *	  SQL access to the counters of read-ahead of this backend, and of scans
 *	  of all of them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "sql/relcheck.h"
#include "store/counts.h"

PG_FUNCTION_INFO_V1(fptree_prefetch_stats);
PG_FUNCTION_INFO_V1(fptree_prefetch_reset);
PG_FUNCTION_INFO_V1(fptree_stat_scans);
PG_FUNCTION_INFO_V1(fptree_stat_reset);

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
 * Set the counters of this backend to zero; those of others, and of indexes,
 * stay.
 */
Datum
fptree_prefetch_reset(PG_FUNCTION_ARGS)
{
	memset(fpt_counters, 0, sizeof(fpt_counters));
	PG_RETURN_VOID();
}

/*
 * fptree_stat_scans()
 *
 * One row for each index of this database: OID, scans, time of the last one,
 * since when, and the counters.  Locks a set's spinlock while it is copied, and
 * none while rows are made of the copy.  No row where the session has no shared
 * memory for counters, as before 17.  Raises an error if the function is
 * declared otherwise.
 */
Datum
fptree_stat_scans(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FPTCounts	counts[FPT_COUNTS_WAYS];

	InitMaterializedSRF(fcinfo, 0);
	for (int set = 0; set < FPT_COUNTS_SETS; set++)
	{
		int			n = fpt_counts_read(set, counts);

		Assert(n >= 0 && n <= (int) lengthof(counts));
		for (int i = 0; i < n; i++)
		{
			Datum		values[4 + FPT_NCOUNTERS];
			bool		nulls[4 + FPT_NCOUNTERS] = {false};
			int			col = 0;

			Assert(counts[i].db == MyDatabaseId);
			values[col++] = ObjectIdGetDatum(counts[i].index);
			values[col++] = Int64GetDatum((int64) counts[i].scans);
			values[col++] = TimestampTzGetDatum(counts[i].last);
			values[col++] = TimestampTzGetDatum(counts[i].since);
			for (int c = 0; c < FPT_NCOUNTERS; c++)
			{
				/* requests are counted for the session only */
				if (c != FPT_LEAF_REQUESTS && c != FPT_HEAP_REQUESTS)
					values[col++] = Int64GetDatum((int64) counts[i].n[c]);
			}
			if (col != rsinfo->setDesc->natts)
				elog(ERROR, "fptree_stat_scans() has another result type");
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
								 nulls);
		}
	}
	return (Datum) 0;
}

/*
 * fptree_stat_reset(index regclass)
 *
 * Of an index, or of all of this database (NULL).  Locks the index,
 * AccessShareLock, and the spinlock of one set after the other.
 */
Datum
fptree_stat_reset(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		fpt_counts_reset(InvalidOid);
	else
	{
		Relation	index = fpt_open_index(PG_GETARG_OID(0), AccessShareLock);

		fpt_counts_reset(RelationGetRelid(index));
		relation_close(index, AccessShareLock);
	}
	PG_RETURN_VOID();
}
