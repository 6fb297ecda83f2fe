/*-------------------------------------------------------------------------
 *
 * fpt_gsort.c
 *	  Sorting the entries of an index of general keys, for the build.
 *
 * Entries are records of different lengths.  They are collected in memory; an
 * array of (class, head, address) sorts by radix, as the records of image keys
 * do (fpt_sort.c), and only where heads are equal, keys are compared.  What
 * exceeds the memory goes to temporary files as sorted runs, which are merged
 * by a heap.
 *
 * No two entries are equal: TIDs decide at last, so the result does not depend
 * on the order in which entries come.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fpt_build.h"
#include "fpt_general.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

/* Runs that are merged at once; when there are so many, they become one. */
#define FPT_GSORT_MAXRUNS	256

/* Memory for records is taken in chunks. */
#define FPT_GSORT_CHUNK		((Size) 1024 * 1024)

/* A record: its fixed part, then the tuple.  Not aligned in files. */
typedef struct FPTGRecord
{
	uint64		head;
	uint64		tid;
	uint32		len;
	uint16		cls;
	uint16		flags;			/* FPT_GENTRY_* */
} FPTGRecord;

/* What the radix sort sorts. */
typedef struct FPTGItem
{
	uint64		cls;
	uint64		head;
	uint64		rec;			/* address of an FPTGRecord */
} FPTGItem;

typedef struct FPTGRun
{
	BufFile    *file;
	int64		left;			/* records still to be read */
	FPTGEntry	e;				/* the next one */
	char		data[FPT_MAX_TUPLE];
} FPTGRun;

struct FPTGSort
{
	const FPTLayout *l;
	MemoryContext cxt;			/* of the sort */
	MemoryContext recs;			/* of the records in memory */
	Size		mem;			/* at most so much */
	Size		used;
	char	   *chunk;			/* where the next record goes */
	Size		chunkleft;
	FPTGItem   *items;
	size_t		n;
	size_t		max;
	size_t		next;			/* to be fetched, if there are no runs */
	FPTGRun   **runs;
	int			nruns;
	binaryheap *heap;			/* of runs, when they are merged */
};

FPTGSort *
fpt_gsort_begin(const FPTLayout *l, Size mem)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree sort",
											  ALLOCSET_DEFAULT_SIZES);
	FPTGSort   *s = MemoryContextAllocZero(cxt, sizeof(FPTGSort));

	s->l = l;
	s->cxt = cxt;
	s->recs = AllocSetContextCreate(cxt, "fptree sort records",
									ALLOCSET_DEFAULT_SIZES);
	s->mem = Max(mem, 2 * FPT_GSORT_CHUNK);
	s->runs = MemoryContextAlloc(cxt, sizeof(FPTGRun *) * FPT_GSORT_MAXRUNS);
	return s;
}

void
fpt_gsort_end(FPTGSort *s)
{
	for (int i = 0; i < s->nruns; i++)
		BufFileClose(s->runs[i]->file);
	MemoryContextDelete(s->cxt);
}

/* --- in memory ---------------------------------------------------------- */

static void
fpt_gentry_get(const FPTGRecord *rec, FPTGEntry *e)
{
	memset(&e->key, 0, sizeof(FPTKey));
	e->key.lo = rec->head;
	e->key.tid = rec->tid;
	e->key.cls = rec->cls;
	e->key.len = rec->len;
	e->key.tup = rec->len > 0 ? (const char *) (rec + 1) : NULL;
	e->flags = rec->flags;
}

static int
fpt_gitem_cmp(const void *a, const void *b, void *arg)
{
	const FPTLayout *l = (const FPTLayout *) arg;
	FPTGEntry	x,
				y;

	fpt_gentry_get((const FPTGRecord *) (uintptr_t) ((const FPTGItem *) a)->rec,
				   &x);
	fpt_gentry_get((const FPTGRecord *) (uintptr_t) ((const FPTGItem *) b)->rec,
				   &y);
	return fpt_key_cmp(l, &x.key, &y.key);
}

/* Sort what is in memory. */
static void
fpt_gsort_items(FPTGSort *s)
{
	size_t		from;
	size_t		to;

	fpt_radix_sort((uint64 *) s->items, s->n, 3);
	for (from = 0; from < s->n; from = to)
	{
		for (to = from + 1; to < s->n &&
			 s->items[to].head == s->items[from].head &&
			 s->items[to].cls == s->items[from].cls; to++)
			;
		if (to - from > 1)
			qsort_arg(s->items + from, to - from, sizeof(FPTGItem),
					  fpt_gitem_cmp, unconstify(FPTLayout *, s->l));
	}
}

/* --- runs --------------------------------------------------------------- */

static void
fpt_grun_write(BufFile *file, const FPTGEntry *e)
{
	FPTGRecord	rec;

	memset(&rec, 0, sizeof(rec));
	rec.head = e->key.lo;
	rec.tid = e->key.tid;
	rec.len = e->key.len;
	rec.cls = (uint16) e->key.cls;
	rec.flags = e->flags;
	BufFileWrite(file, &rec, sizeof(rec));
	if (rec.len > 0)
		BufFileWrite(file, unconstify(char *, e->key.tup), rec.len);
}

static void
fpt_grun_get(FPTGRun *run, void *to, Size n)
{
	if (BufFileRead(run->file, to, n) != n)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file of an index build")));
}

/* Read a run's next record; false at its end. */
static bool
fpt_grun_read(FPTGRun *run)
{
	FPTGRecord	rec;

	if (run->left == 0)
		return false;
	run->left--;
	fpt_grun_get(run, &rec, sizeof(rec));
	if (rec.len > FPT_MAX_TUPLE)
		elog(ERROR, "temporary file of an index build is damaged");
	fpt_gentry_get(&rec, &run->e);
	if (rec.len > 0)
	{
		fpt_grun_get(run, run->data, rec.len);
		run->e.key.tup = run->data;
	}
	return true;
}

/* Which run's entry comes first?  (The heap has the greatest on top.) */
static int
fpt_grun_cmp(Datum a, Datum b, void *arg)
{
	const FPTGRun *x = (const FPTGRun *) DatumGetPointer(a);
	const FPTGRun *y = (const FPTGRun *) DatumGetPointer(b);

	return fpt_key_cmp((const FPTLayout *) arg, &y->e.key, &x->e.key);
}

/* Begin to read all runs. */
static void
fpt_gsort_rewind(FPTGSort *s)
{
	MemoryContext old = MemoryContextSwitchTo(s->cxt);

	s->heap = binaryheap_allocate(s->nruns, fpt_grun_cmp,
								  unconstify(FPTLayout *, s->l));
	for (int i = 0; i < s->nruns; i++)
	{
		if (BufFileSeek(s->runs[i]->file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind a temporary file of an index build")));
		if (fpt_grun_read(s->runs[i]))
			binaryheap_add_unordered(s->heap, PointerGetDatum(s->runs[i]));
	}
	binaryheap_build(s->heap);
	MemoryContextSwitchTo(old);
}

/* The least of all runs' entries, copied to *e and buf; false at the end. */
static bool
fpt_gsort_merge(FPTGSort *s, FPTGEntry *e, char *buf)
{
	FPTGRun    *run;

	if (binaryheap_empty(s->heap))
		return false;
	run = (FPTGRun *) DatumGetPointer(binaryheap_first(s->heap));
	*e = run->e;
	if (e->key.len > 0)
	{
		memcpy(buf, e->key.tup, e->key.len);
		e->key.tup = buf;
	}
	if (fpt_grun_read(run))
		binaryheap_replace_first(s->heap, PointerGetDatum(run));
	else
		binaryheap_remove_first(s->heap);
	return true;
}

static FPTGRun *
fpt_grun_begin(FPTGSort *s)
{
	MemoryContext old = MemoryContextSwitchTo(s->cxt);
	FPTGRun    *run = palloc0(sizeof(FPTGRun));

	run->file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	return run;
}

/* Make one run of all of them. */
static void
fpt_gsort_join(FPTGSort *s)
{
	FPTGRun    *run = fpt_grun_begin(s);
	FPTGEntry	e;
	char		buf[FPT_MAX_TUPLE];

	fpt_gsort_rewind(s);
	while (fpt_gsort_merge(s, &e, buf))
	{
		CHECK_FOR_INTERRUPTS();
		fpt_grun_write(run->file, &e);
		run->left++;
	}
	binaryheap_free(s->heap);
	s->heap = NULL;
	for (int i = 0; i < s->nruns; i++)
	{
		BufFileClose(s->runs[i]->file);
		pfree(s->runs[i]);
	}
	s->runs[0] = run;
	s->nruns = 1;
}

/* Write what is in memory as a run. */
static void
fpt_gsort_dump(FPTGSort *s)
{
	FPTGRun    *run;

	if (s->n == 0)
		return;
	if (s->nruns == FPT_GSORT_MAXRUNS)
		fpt_gsort_join(s);
	fpt_gsort_items(s);
	run = fpt_grun_begin(s);
	for (size_t i = 0; i < s->n; i++)
	{
		FPTGEntry	e;

		fpt_gentry_get((const FPTGRecord *) (uintptr_t) s->items[i].rec, &e);
		fpt_grun_write(run->file, &e);
		run->left++;
	}
	s->runs[s->nruns++] = run;
	MemoryContextReset(s->recs);
	s->chunk = NULL;
	s->chunkleft = 0;
	s->n = 0;
	s->used = s->max * sizeof(FPTGItem);
}

/* --- putting and fetching ----------------------------------------------- */

static void
fpt_gsort_grow(FPTGSort *s)
{
	size_t		max = Max(s->max * 2, 1024);

	s->used += (max - s->max) * sizeof(FPTGItem);
	if (s->items == NULL)
		s->items = MemoryContextAlloc(s->cxt, max * sizeof(FPTGItem));
	else
		s->items = repalloc_huge(s->items, max * sizeof(FPTGItem));
	s->max = max;
}

void
fpt_gsort_put(FPTGSort *s, const FPTGEntry *e)
{
	Size		size = MAXALIGN(sizeof(FPTGRecord) + e->key.len);
	FPTGRecord *rec;

	Assert(e->key.len <= FPT_MAX_TUPLE && e->key.search == NULL);
	if (s->chunkleft < size)
	{
		if (s->used + FPT_GSORT_CHUNK > s->mem)
			fpt_gsort_dump(s);
		s->chunk = MemoryContextAlloc(s->recs, FPT_GSORT_CHUNK);
		s->chunkleft = FPT_GSORT_CHUNK;
		s->used += FPT_GSORT_CHUNK;
	}
	if (s->n >= s->max)
		fpt_gsort_grow(s);
	rec = (FPTGRecord *) s->chunk;
	s->chunk += size;
	s->chunkleft -= size;
	rec->head = e->key.lo;
	rec->tid = e->key.tid;
	rec->len = e->key.len;
	rec->cls = (uint16) e->key.cls;
	rec->flags = e->flags;
	if (e->key.len > 0)
		memcpy(rec + 1, e->key.tup, e->key.len);
	s->items[s->n].cls = e->key.cls;
	s->items[s->n].head = e->key.lo;
	s->items[s->n].rec = (uint64) (uintptr_t) rec;
	s->n++;
}

void
fpt_gsort_sort(FPTGSort *s)
{
	s->next = 0;
	if (s->nruns == 0)
	{
		fpt_gsort_items(s);
		return;
	}
	fpt_gsort_dump(s);
	MemoryContextReset(s->recs);
	if (s->items != NULL)
		pfree(s->items);
	s->items = NULL;
	s->max = 0;
	fpt_gsort_rewind(s);
}

bool
fpt_gsort_fetch(FPTGSort *s, FPTGEntry *e, char *buf)
{
	if (s->nruns > 0)
		return fpt_gsort_merge(s, e, buf);
	if (s->next >= s->n)
		return false;
	fpt_gentry_get((const FPTGRecord *) (uintptr_t) s->items[s->next++].rec, e);
	return true;
}
