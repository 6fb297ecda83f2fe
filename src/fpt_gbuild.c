/*-------------------------------------------------------------------------
 *
 * fpt_gbuild.c
 *	  Building an index of general keys: heap scan and uniqueness check.
 *
 * One process does all of it.  Entries are formed as insertions would, sorted
 * by fpt_gsort.c and written by fpt_load.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "fpt_build.h"
#include "fpt_general.h"

typedef struct FPTGBuild
{
	Relation	heap;
	Relation	index;
	const FPTLayout *l;
	const FPTGeneral *g;
	FPTGSort   *sort;
	MemoryContext rowcxt;		/* reset for each row */
	FPTKeyBuf	buf;			/* of one entry */
	double		indtuples;
	int			nkeys;
	bool		unique;
	bool		nulls_distinct;

	/* the last live entry of a unique index */
	bool		have_last;
	FPTKeyBuf	last;
} FPTGBuild;

/* Callback of the heap scan */
static void
fpt_gbuild_callback(Relation index, ItemPointer tid, Datum *values,
					bool *isnull, bool tupleIsAlive, void *state)
{
	FPTGBuild  *b = (FPTGBuild *) state;
	MemoryContext old = MemoryContextSwitchTo(b->rowcxt);
	FPTGEntry	e;

	fpt_general_form(b->g, index, values, isnull, fpt_tid_encode(tid),
					 &b->buf);
	e.key = b->buf.key;
	e.flags = tupleIsAlive ? 0 : FPT_GENTRY_DEAD;
	for (int i = 0; i < b->nkeys; i++)
	{
		if (isnull[i])
			e.flags |= FPT_GENTRY_NULL;
	}
	MemoryContextSwitchTo(old);
	fpt_gsort_put(b->sort, &e);
	MemoryContextReset(b->rowcxt);
	b->indtuples += 1;
}

static void
fpt_gbuild_duplicate(FPTGBuild *b, const FPTKey *key)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	char	   *desc;

	(void) fpt_general_deform(b->g, key, values, isnull);
	desc = BuildIndexValueDescription(b->index, values, isnull);
	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("could not create unique index \"%s\"",
					RelationGetRelationName(b->index)),
			 desc ? errdetail("Key %s is duplicated.", desc) :
			 errdetail("Duplicate keys exist."),
			 errtableconstraint(b->heap, RelationGetRelationName(b->index))));
}

/*
 * A live entry of a unique index: equal keys are neighbours, so it is enough to
 * compare with the last live one.
 */
static void
fpt_gbuild_check_unique(FPTGBuild *b, const FPTGEntry *e)
{
	FPTKey		key = e->key;

	if (b->nulls_distinct && (e->flags & FPT_GENTRY_NULL))
		return;
	key.tid = b->last.key.tid;
	if (b->have_last && fpt_key_cmp(b->l, &key, &b->last.key) == 0)
		fpt_gbuild_duplicate(b, &key);
	fpt_key_copy(&b->last, &e->key);
	b->have_last = true;
}

double
fpt_gbuild(Relation heap, Relation index, IndexInfo *indexInfo, FPTLoad *load,
		   double *indtuples)
{
	FPTGBuild  *b = palloc0(sizeof(FPTGBuild));
	double		reltuples;
	FPTGEntry	e;
	MemoryContext old;

	b->heap = heap;
	b->index = index;
	b->l = fpt_load_layout(load);
	b->g = b->l->arg;
	fpt_load_sort_support(load);
	b->nkeys = indexInfo->ii_NumIndexKeyAttrs;
	b->unique = indexInfo->ii_Unique;
	b->nulls_distinct = !indexInfo->ii_NullsNotDistinct;
	b->sort = fpt_gsort_begin(b->l, (Size) maintenance_work_mem * 1024);
	b->rowcxt = AllocSetContextCreate(CurrentMemoryContext,
									  "fptree build row",
									  ALLOCSET_SMALL_SIZES);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_SCAN);
	reltuples = table_index_build_scan(heap, index, indexInfo, true, true,
									   fpt_gbuild_callback, b, NULL);
	fpt_stop_point(FPT_STOP_BUILD_LOAD);

	old = MemoryContextSwitchTo(b->rowcxt);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_SORT);
	fpt_gsort_sort(b->sort);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_LOAD);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) b->indtuples);
	while (fpt_gsort_fetch(b->sort, &e, b->buf.data))
	{
		if (b->unique && !(e.flags & FPT_GENTRY_DEAD))
			fpt_gbuild_check_unique(b, &e);
		fpt_load_add(load, &e.key);
	}
	MemoryContextSwitchTo(old);
	fpt_gsort_end(b->sort);
	MemoryContextDelete(b->rowcxt);
	*indtuples = b->indtuples;
	pfree(b);
	return reltuples;
}
