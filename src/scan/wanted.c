/*-------------------------------------------------------------------------
 *
 * scan/wanted.c
 *	  How many entries a scan will be asked for: of a LIMIT that is known.
 *
 * The node that counts rows says how many are still wanted (FPT_SK_WANTED), and
 * how many it has counted.  The scan knows how many entries it has returned.
 * As long as each was a row, as many entries are wanted as rows.  Otherwise a
 * filter, or the snapshot, leaves some out, and as many are wanted as it takes
 * at that rate, twice over.  So a bound that was too low rises with the entries
 * that were none, and read-ahead stops for good nowhere.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/rel.h"

#include "scan/extrakey.h"
#include "scan/wanted.h"

void
fpt_wanted_begin(FPTScanOpaque *so)
{
	so->passed = 0;
	so->passedlast = -1;
	so->leafspared = false;
	so->hadrows = 0;
	if (unlikely(so->wanted != NULL))
		(void) so->wanted->rows(so->wanted, &so->hadrows);
}

int
fpt_wanted_entries(const FPTScanOpaque *so, ScanDirection dir)
{
	const FPTBatch *b = &so->cur;
	int64		come = so->passed;
	int64		had;
	double		rows;

	if (likely(so->wanted == NULL))
		return PG_INT32_MAX;
	rows = (double) so->wanted->rows(so->wanted, &had);
	if (rows < 0)
		return PG_INT32_MAX;
	had -= so->hadrows;
	if (b->valid)
		come += ScanDirectionIsForward(dir) ? b->pos : b->n - 1 - b->pos;
	if (come > had)
		rows *= 2.0 * (come + 1) / (Max(had, 0) + 1);
	return (int) Min(rows, PG_INT32_MAX);
}

int
fpt_wanted_leaves(IndexScanDesc scan, FPTScanOpaque *so, bool start,
				  ScanDirection dir)
{
	Form_pg_class rd = scan->indexRelation->rd_rel;
	const FPTBatch *b = &so->cur;
	int			entries;
	double		leaf;

	if (likely(so->wanted == NULL) || scan->parallel_scan != NULL ||
		rd->reltuples <= 0 || rd->relpages <= 0)
		return PG_INT32_MAX;
	entries = fpt_wanted_entries(so, dir);
	if (entries == PG_INT32_MAX)
		return PG_INT32_MAX;
	leaf = rd->reltuples / rd->relpages;
	if (b->valid)
		entries -= ScanDirectionIsForward(dir) ? b->n - b->pos : b->pos + 1;
	/* the scan begins within its first leaf */
	if (so->passedlast >= 0 && so->passed > so->passedlast)
		leaf = Min(leaf, so->passedlast);
	entries = (int) (Max(entries, 0) / Max(leaf, 1));
	if (start || entries > 0)
		return entries;
	if (so->leafspared)
		return 1;
	so->leafspared = true;
	return 0;
}
