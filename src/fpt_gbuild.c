/*-------------------------------------------------------------------------
 *
 * fpt_gbuild.c
 *	  Building an index of general keys: heap scan and uniqueness check.
 *
 * Entries are formed as insertions would, sorted by fpt_gsort.c, in several
 * processes if it is worth while (fpt_pbuild.c), and written by fpt_load.c.
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
	FPTParallel *parallel;		/* the leader's; NULL: alone */
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

	(void) fpt_general_deform(b->g, key, values, isnull);
	fpt_duplicate_found(b->heap, b->index, values, isnull);
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

static void
fpt_gbuild_init(FPTGBuild *b, Relation heap, Relation index,
				IndexInfo *indexInfo, const FPTLayout *l)
{
	memset(b, 0, sizeof(*b));
	b->heap = heap;
	b->index = index;
	b->l = l;
	b->g = l->arg;
	b->nkeys = indexInfo->ii_NumIndexKeyAttrs;
	b->unique = indexInfo->ii_Unique;
	b->nulls_distinct = !indexInfo->ii_NullsNotDistinct;
	b->rowcxt = AllocSetContextCreate(CurrentMemoryContext,
									  "fptree build row",
									  ALLOCSET_SMALL_SIZES);
}

/* The beginning of the names of a participant's files */
static void
fpt_gbuild_name(char buf[MAXPGPATH], int participant)
{
	snprintf(buf, MAXPGPATH, "fptree%d", participant);
}

/*
 * Take part in a parallel build.  The index has no metapage yet, but all that
 * is needed is how its keys are formed and compared.
 */
void
fpt_gbuild_share(FPTShare *share)
{
	FPTGBuild  *b = palloc(sizeof(FPTGBuild));
	FPTLayout	layout;
	char		name[MAXPGPATH];

	memset(&layout, 0, sizeof(layout));
	fpt_layout_general(share->index, &layout, true);
	fpt_general_sort_support(unconstify(void *, layout.arg), share->index,
							 true);
	fpt_gbuild_init(b, share->heap, share->index, share->indexInfo, &layout);
	fpt_gbuild_name(name, share->participant);
	b->sort = fpt_gsort_begin(b->l, share->mem, share->fileset, name);
	fpt_share_scan(share, fpt_gbuild_callback, b);
	fpt_gsort_export(b->sort, &share->exports[0]);
	fpt_gsort_end(b->sort);
	MemoryContextDelete(b->rowcxt);
	share->indtuples = b->indtuples;
	pfree(b);
}

/* Scan the heap, alone or with workers; returns the number of its tuples. */
static double
fpt_gbuild_scan(FPTGBuild *b, IndexInfo *indexInfo)
{
	Size		mem = (Size) maintenance_work_mem * 1024;
	char		name[MAXPGPATH];
	double		reltuples;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_SCAN);
	b->parallel = fpt_parallel_begin(b->heap, b->index, indexInfo);
	if (b->parallel == NULL)
	{
		b->sort = fpt_gsort_begin(b->l, mem, NULL, NULL);
		return table_index_build_scan(b->heap, b->index, indexInfo, true, true,
									  fpt_gbuild_callback, b, NULL);
	}
	reltuples = fpt_parallel_scan(b->parallel, indexInfo, &b->indtuples);
	b->sort = fpt_gsort_begin(b->l, mem, NULL, NULL);
	for (int i = 0; i < fpt_parallel_participants(b->parallel); i++)
	{
		fpt_gbuild_name(name, i);
		fpt_gsort_import(b->sort, fpt_parallel_files(b->parallel), name,
						 fpt_parallel_exports(b->parallel, i));
	}
	return reltuples;
}

double
fpt_gbuild(Relation heap, Relation index, IndexInfo *indexInfo, FPTLoad *load,
		   double *indtuples)
{
	FPTGBuild  *b = palloc(sizeof(FPTGBuild));
	double		reltuples;
	FPTGEntry	e;
	MemoryContext old;

	fpt_load_sort_support(load);
	fpt_gbuild_init(b, heap, index, indexInfo, fpt_load_layout(load));
	reltuples = fpt_gbuild_scan(b, indexInfo);
	fpt_stop_point(FPT_STOP_BUILD_LOAD);

	old = MemoryContextSwitchTo(b->rowcxt);
	fpt_build_progress(b->indtuples);
	fpt_gsort_sort(b->sort);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, FPT_PHASE_LOAD);
	while (fpt_gsort_fetch(b->sort, &e, b->buf.data))
	{
		if (b->unique && !(e.flags & FPT_GENTRY_DEAD))
			fpt_gbuild_check_unique(b, &e);
		fpt_load_add(load, &e.key);
	}
	MemoryContextSwitchTo(old);
	fpt_gsort_end(b->sort);
	if (b->parallel != NULL)
		fpt_parallel_end(b->parallel);
	MemoryContextDelete(b->rowcxt);
	*indtuples = b->indtuples;
	pfree(b);
	return reltuples;
}
