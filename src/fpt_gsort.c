/*-------------------------------------------------------------------------
 *
 * fpt_gsort.c
 *	  Sorting the entries of an index of general keys, for the build.
 *
 * Entries are records of different lengths.  They are collected in memory; an
 * array of (class, head, address) sorts by radix, as the records of image keys
 * do (fpt_sort.c), and only where heads are equal, fpt_gorder.c goes on.  What
 * exceeds the memory goes to temporary files as sorted runs, which are merged
 * by a heap.
 *
 * In a parallel build each participant has a sort whose runs, a file each, are
 * in a file set, and the leader merges them all.
 *
 * No two entries are equal: TIDs decide at last, so the result does not depend
 * on the order in which entries come.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "fpt_build.h"
#include "fpt_general.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

/*
 * Memory that an item takes: half of the items are copied while they are
 * sorted.
 */
#define FPT_GITEM_BYTES		(sizeof(FPTGItem) * 3 / 2)


typedef struct FPTGRun
{
	BufFile    *file;
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
	char	  **chunks;			/* of records */
	int			nchunks;
	int			maxchunks;
	Size		chunkleft;		/* bytes free in the last one */
	FPTGItem   *items;
	size_t		n;
	size_t		max;
	size_t		next;			/* to be fetched, if there are no runs */
	FileSet    *fileset;		/* runs are files there; NULL: private ones */
	const char *name;			/* their names' beginning */
	int			firstfile;		/* number of the first run's file there */
	FPTGRun   **runs;
	int			nruns;
	int			maxruns;
	binaryheap *heap;			/* of runs, when they are merged */
};

FPTGSort *
fpt_gsort_begin(const FPTLayout *l, Size mem, FileSet *fileset,
				const char *name)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree sort",
											  ALLOCSET_DEFAULT_SIZES);
	FPTGSort   *s = MemoryContextAllocZero(cxt, sizeof(FPTGSort));

	s->l = l;
	s->cxt = cxt;
	s->recs = AllocSetContextCreate(cxt, "fptree sort records",
									ALLOCSET_DEFAULT_SIZES);
	s->mem = Max(mem, 2 * FPT_GCHUNK_BYTES);
	s->fileset = fileset;
	s->name = name ? MemoryContextStrdup(cxt, name) : NULL;
	s->maxruns = FPT_MERGE_GENERAL;
	s->runs = MemoryContextAlloc(cxt, sizeof(FPTGRun *) * s->maxruns);
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

/* Sort what is in memory. */
static void
fpt_gsort_items(FPTGSort *s)
{
	FPTGItem   *tmp = NULL;
	size_t		to;

	fpt_radix_sort((uint64 *) s->items, s->n, 3);
	for (size_t from = 0; from < s->n; from = to)
	{
		to = fpt_gitem_run(s->items, from, s->n);
		if (to - from < 2)
			continue;
		if (tmp == NULL)
			tmp = MemoryContextAllocHuge(s->cxt,
										 Max(s->n / 2, FPT_GORDER_TMP) *
										 sizeof(FPTGItem));
		fpt_gorder_sort(s->l, s->chunks, s->items + from, to - from, tmp);
	}
	if (tmp != NULL)
		pfree(tmp);
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

/* All of a run's records are written. */
static void
fpt_grun_finish(BufFile *file)
{
	FPTGEntry	end;

	memset(&end, 0, sizeof(end));
	end.flags = FPT_GENTRY_END;
	fpt_grun_write(file, &end);
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

	fpt_grun_get(run, &rec, sizeof(rec));
	if (rec.flags & FPT_GENTRY_END)
		return false;
	if (rec.len > FPT_MAX_TUPLE)
		elog(ERROR, "temporary file of an index build is damaged");
	fpt_grecord_get(&rec, &run->e);
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

/* Begin to read the first n runs. */
static void
fpt_gsort_rewind(FPTGSort *s, int n)
{
	MemoryContext old = MemoryContextSwitchTo(s->cxt);

	s->heap = binaryheap_allocate(n, fpt_grun_cmp,
								  unconstify(FPTLayout *, s->l));
	for (int i = 0; i < n; i++)
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

/* Name of a run's file in a file set */
static void
fpt_grun_name(char buf[MAXPGPATH], const char *prefix, int number)
{
	snprintf(buf, MAXPGPATH, "%s.%d", prefix, number);
}

/* A new run, to be written; with the file of that number, if it is shared. */
static FPTGRun *
fpt_grun_begin(FPTGSort *s, int number)
{
	MemoryContext old = MemoryContextSwitchTo(s->cxt);
	FPTGRun    *run = palloc0(sizeof(FPTGRun));
	char		name[MAXPGPATH];

	if (s->fileset != NULL)
	{
		fpt_grun_name(name, s->name, number);
		run->file = BufFileCreateFileSet(s->fileset, name);
	}
	else
		run->file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	return run;
}

static void
fpt_gsort_add_run(FPTGSort *s, FPTGRun *run)
{
	if (s->nruns == s->maxruns)
	{
		s->maxruns *= 2;
		s->runs = repalloc(s->runs, sizeof(FPTGRun *) * s->maxruns);
	}
	s->runs[s->nruns++] = run;
}

/*
 * Merge the first n runs into one, which goes to the end.  In a file set that
 * must be all of them, lest there be gaps in the numbers of their files.
 */
static void
fpt_gsort_join(FPTGSort *s, int n)
{
	FPTGRun    *run = fpt_grun_begin(s, s->firstfile + n);
	FPTGEntry	e;
	char		buf[FPT_MAX_TUPLE];
	char		name[MAXPGPATH];

	Assert(n <= s->nruns && (s->fileset == NULL || n == s->nruns));
	fpt_gsort_rewind(s, n);
	while (fpt_gsort_merge(s, &e, buf))
	{
		CHECK_FOR_INTERRUPTS();
		fpt_grun_write(run->file, &e);
	}
	fpt_grun_finish(run->file);
	binaryheap_free(s->heap);
	s->heap = NULL;
	for (int i = 0; i < n; i++)
	{
		BufFileClose(s->runs[i]->file);
		pfree(s->runs[i]);
		if (s->fileset != NULL)
		{
			fpt_grun_name(name, s->name, s->firstfile + i);
			BufFileDeleteFileSet(s->fileset, name, false);
		}
	}
	s->firstfile += n;
	s->nruns -= n;
	memmove(s->runs, s->runs + n, s->nruns * sizeof(FPTGRun *));
	fpt_gsort_add_run(s, run);
}

/* Write what is in memory as a run. */
static void
fpt_gsort_dump(FPTGSort *s)
{
	FPTGRun    *run;

	if (s->n == 0)
		return;
	if (s->nruns == FPT_MERGE_GENERAL)
		fpt_gsort_join(s, s->nruns);
	fpt_gsort_items(s);
	run = fpt_grun_begin(s, s->firstfile + s->nruns);
	for (size_t i = 0; i < s->n; i++)
	{
		FPTGEntry	e;

		CHECK_FOR_INTERRUPTS();
		fpt_gitem_ahead(s->chunks, s->items, i, s->n);
		fpt_gitem_get(s->chunks, &s->items[i], &e);
		fpt_grun_write(run->file, &e);
	}
	fpt_grun_finish(run->file);
	fpt_gsort_add_run(s, run);
	MemoryContextReset(s->recs);
	s->nchunks = 0;
	s->chunkleft = 0;
	s->n = 0;
	s->used = s->max * FPT_GITEM_BYTES;
}

/* --- putting and fetching ----------------------------------------------- */

static void
fpt_gsort_grow(FPTGSort *s)
{
	size_t		max = Max(s->max * 2, 1024);

	s->used += (max - s->max) * FPT_GITEM_BYTES;
	if (s->items == NULL)
		s->items = MemoryContextAlloc(s->cxt, max * sizeof(FPTGItem));
	else
		s->items = repalloc_huge(s->items, max * sizeof(FPTGItem));
	s->max = max;
}

static void
fpt_gsort_add_chunk(FPTGSort *s)
{
	if (s->nchunks >= s->maxchunks)
	{
		s->maxchunks = Max(64, s->maxchunks * 2);
		if (s->chunks == NULL)
			s->chunks = MemoryContextAlloc(s->cxt,
										   s->maxchunks * sizeof(char *));
		else
			s->chunks = repalloc(s->chunks, s->maxchunks * sizeof(char *));
	}
	s->chunks[s->nchunks++] = MemoryContextAlloc(s->recs, FPT_GCHUNK_BYTES);
	s->chunkleft = FPT_GCHUNK_BYTES;
	s->used += FPT_GCHUNK_BYTES;
}

void
fpt_gsort_put(FPTGSort *s, const FPTGEntry *e)
{
	Size		size = MAXALIGN(sizeof(FPTGRecord) + e->key.len);
	FPTGRecord *rec;
	Size		offset;

	Assert(e->key.len <= FPT_MAX_TUPLE && e->key.search == NULL);
	if (s->chunkleft < size)
	{
		if (s->used + FPT_GCHUNK_BYTES > s->mem)
			fpt_gsort_dump(s);
		fpt_gsort_add_chunk(s);
	}
	if (s->n >= s->max)
		fpt_gsort_grow(s);
	offset = FPT_GCHUNK_BYTES - s->chunkleft;
	rec = (FPTGRecord *) (s->chunks[s->nchunks - 1] + offset);
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
	s->items[s->n].place = ((uint64) (s->nchunks - 1) << FPT_GCHUNK_BITS) |
		offset;
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
	Assert(s->fileset == NULL); /* exports are merged by who imports them */
	while (s->nruns > FPT_MERGE_GENERAL)
		fpt_gsort_join(s, FPT_MERGE_GENERAL);
	fpt_gsort_rewind(s, s->nruns);
}

bool
fpt_gsort_fetch(FPTGSort *s, FPTGEntry *e, char *buf)
{
	if (s->nruns > 0)
		return fpt_gsort_merge(s, e, buf);
	if (s->next >= s->n)
		return false;
	fpt_gitem_ahead(s->chunks, s->items, s->next, s->n);
	fpt_gitem_get(s->chunks, &s->items[s->next++], e);
	return true;
}

/* --- from one process to another ----------------------------------------- */

void
fpt_gsort_export(FPTGSort *s, FPTSpoolExport *ex)
{
	Assert(s->fileset != NULL);
	fpt_gsort_dump(s);
	for (int i = 0; i < s->nruns; i++)
		BufFileExportFileSet(s->runs[i]->file);
	ex->dirblock = s->firstfile;
	ex->nruns = s->nruns;
}

void
fpt_gsort_import(FPTGSort *s, FileSet *fileset, const char *name,
				 const FPTSpoolExport *ex)
{
	MemoryContext old = MemoryContextSwitchTo(s->cxt);
	char		file[MAXPGPATH];

	for (int64 i = 0; i < ex->nruns; i++)
	{
		FPTGRun    *run = palloc0(sizeof(FPTGRun));

		fpt_grun_name(file, name, (int) (ex->dirblock + i));
		run->file = BufFileOpenFileSet(fileset, file, O_RDONLY, false);
		fpt_gsort_add_run(s, run);
	}
	MemoryContextSwitchTo(old);
}
