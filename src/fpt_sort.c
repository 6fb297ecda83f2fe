/*-------------------------------------------------------------------------
 *
 * fpt_sort.c
 *	  Spools: collecting and sorting the entries of a new index.
 *
 * Entries are records of one to three 64-bit words (see fpt_build.h) in one
 * array.  A radix sort orders them without comparing; when the array reaches
 * the spool's memory limit, it is sorted and written to a temporary file as a
 * run, and the end of the build merges the runs.  Compared with tuplesort.c a
 * record takes a third of the memory, and neither sorting nor writing it calls
 * a function.
 *
 * Order is total, because TIDs are part of the records: it depends neither on
 * the order in which the heap was scanned nor on who scanned which part.
 *
 * A run starts at a block boundary of its file.  Files are read in units of
 * BLCKSZ / 8 records, which are a whole number of blocks for every record
 * size.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "fpt_build.h"

/* Records of a unit of reading and writing; nwords * BLCKSZ bytes. */
#define FPT_UNIT			(BLCKSZ / sizeof(uint64))

/* Records looked at between two checks for interrupts. */
#define FPT_SORT_CHUNK		65536

/* Shorter arrays are sorted by insertion. */
#define FPT_SORT_SMALL		24

/* Longest read buffer of a run being merged, in units. */
#define FPT_MAX_UNITS		16

/* Records that the array has room for at first. */
#define FPT_FIRST_RECORDS	4096

/* A sorted sequence of records in a file. */
typedef struct FPTSpoolRun
{
	int64		block;			/* where it starts in its file */
	uint64		nrecs;
} FPTSpoolRun;

/* The same with its file and the state of reading it. */
typedef struct FPTRunReader
{
	FPTSpoolRun run;
	BufFile    *file;
	uint64		nread;			/* records of the run read so far */
	uint64	   *buf;
	size_t		pos;			/* next record in buf */
	size_t		len;			/* records in buf */
} FPTRunReader;

/* A file that runs are appended to. */
typedef struct FPTRunWriter
{
	BufFile    *file;
	uint64		bytes;			/* written so far */
} FPTRunWriter;

struct FPTSpool
{
	MemoryContext cxt;			/* everything below lives here */
	int			nwords;
	Size		mem;			/* bytes to use at most */

	/* collected and not yet written records */
	uint64	   *recs;
	size_t		nrecs;
	size_t		maxrecs;		/* room in recs */
	size_t		limit;			/* room allowed by mem */
	bool		sorted;			/* recs are in order */

	/* what has been written */
	FPTRunWriter out;
	FileSet    *fileset;		/* NULL: out is a private file */
	char	   *name;
	FPTRunReader *runs;
	int			nruns;
	int			maxruns;
	uint64		last[FPT_SPOOL_MAXWORDS];	/* last record of the last run */
	BufFile   **files;			/* all files opened */
	int			nfiles;

	/* giving back */
	size_t		nfetched;		/* records of recs given back */
	uint64	   *mergebuf;		/* a unit of merged records */
	uint64	   *readbuf;		/* the readers' buffers */
	size_t		units;			/* units of a reader's buffer */
	int		   *heap;			/* runs not exhausted, a heap by next record */
	int			nheap;
};

/* --- radix sort --------------------------------------------------------- */

/* Is record a before record b? */
static pg_attribute_always_inline bool
fpt_rec_less(const uint64 *a, const uint64 *b, int nwords)
{
	for (int w = 0; w < nwords - 1; w++)
	{
		if (a[w] != b[w])
			return a[w] < b[w];
	}
	return a[nwords - 1] < b[nwords - 1];
}

static pg_attribute_always_inline void
fpt_rec_copy(uint64 *to, const uint64 *from, int nwords)
{
	for (int w = 0; w < nwords; w++)
		to[w] = from[w];
}

static pg_attribute_always_inline void
fpt_rec_swap(uint64 *a, uint64 *b, int nwords)
{
	for (int w = 0; w < nwords; w++)
	{
		uint64		t = a[w];

		a[w] = b[w];
		b[w] = t;
	}
}

static pg_attribute_always_inline void
fpt_insertion_sort(uint64 *recs, size_t n, int nwords)
{
	for (size_t i = 1; i < n; i++)
	{
		uint64		rec[FPT_SPOOL_MAXWORDS];
		size_t		j = i;

		fpt_rec_copy(rec, recs + i * nwords, nwords);
		for (; j > 0 && fpt_rec_less(rec, recs + (j - 1) * nwords, nwords); j--)
			fpt_rec_copy(recs + j * nwords, recs + (j - 1) * nwords, nwords);
		fpt_rec_copy(recs + j * nwords, rec, nwords);
	}
}

/* Bits of word w in which the records differ. */
static pg_attribute_always_inline uint64
fpt_word_diff(const uint64 *recs, size_t n, int nwords, int w)
{
	uint64		first = recs[w];
	uint64		diff = 0;

	for (size_t from = 0; from < n; from += FPT_SORT_CHUNK)
	{
		size_t		to = Min(from + FPT_SORT_CHUNK, n);

		for (size_t i = from; i < to; i++)
			diff |= recs[i * nwords + w] ^ first;
		CHECK_FOR_INTERRUPTS();
	}
	return diff;
}

/* Eight bits of one word. */
typedef struct FPTDigit
{
	int			word;
	int			shift;
} FPTDigit;

static pg_attribute_always_inline unsigned
fpt_digit(const uint64 *rec, FPTDigit d)
{
	return (rec[d.word] >> d.shift) & 0xFF;
}

/* Where a digit's records begin: start[v]; start[256] = n. */
static pg_attribute_always_inline void
fpt_digit_starts(const uint64 *recs, size_t n, int nwords, FPTDigit d,
				 size_t *start)
{
	memset(start, 0, 257 * sizeof(size_t));
	for (size_t from = 0; from < n; from += FPT_SORT_CHUNK)
	{
		size_t		to = Min(from + FPT_SORT_CHUNK, n);

		for (size_t i = from; i < to; i++)
			start[fpt_digit(recs + i * nwords, d) + 1]++;
		CHECK_FOR_INTERRUPTS();
	}
	for (int v = 0; v < 256; v++)
		start[v + 1] += start[v];
}

/*
 * Bring each record into its digit's part of the array, in place.
 *
 * next[v] is the end of what is already in place in part v.  A pass goes over
 * the unsettled records of every part and swaps each with the first unsettled
 * place of the part where it belongs, which settles one record a step.  Steps
 * do not depend on each other's loads, so that the CPU overlaps their cache
 * misses; following each record's cycle to its end would wait for one after
 * the other.  A part that got its last record drops out.
 */
static pg_attribute_always_inline void
fpt_digit_permute(uint64 *recs, int nwords, FPTDigit d, const size_t *start)
{
	size_t		next[256];
	uint8		open[256];
	int			nopen = 0;

	for (int v = 0; v < 256; v++)
	{
		next[v] = start[v];
		if (start[v + 1] > start[v])
			open[nopen++] = (uint8) v;
	}
	/* When one part is open, what is in it belongs there. */
	while (nopen > 1)
	{
		int			still = 0;

		for (int i = 0; i < nopen; i++)
		{
			unsigned	v = open[i];
			size_t		end = start[v + 1];

			for (size_t from = next[v]; from < end; from += FPT_SORT_CHUNK)
			{
				size_t		to = Min(from + FPT_SORT_CHUNK, end);

				for (size_t j = from; j < to; j++)
				{
					uint64	   *rec = recs + j * nwords;
					size_t		place = next[fpt_digit(rec, d)]++;

					fpt_rec_swap(rec, recs + place * nwords, nwords);
				}
				CHECK_FOR_INTERRUPTS();
			}
			if (next[v] < end)
				open[still++] = (uint8) v;
		}
		nopen = still;
	}
}

/*
 * Sort records whose words before w are equal: by the highest eight bits in
 * which they differ, then each part by "recurse".  The depth of the recursion
 * is at most eight times the number of words.
 */
static pg_attribute_always_inline void
fpt_radix_step(uint64 *recs, size_t n, int nwords, int w,
			   void (*recurse) (uint64 *, size_t, int))
{
	size_t		start[257];
	FPTDigit	d;
	uint64		diff = 0;

	if (n <= FPT_SORT_SMALL)
	{
		fpt_insertion_sort(recs, n, nwords);
		return;
	}
	for (; w < nwords; w++)
	{
		diff = fpt_word_diff(recs, n, nwords, w);
		if (diff != 0)
			break;
	}
	if (diff == 0)
		return;					/* all equal */
	d.word = w;
	d.shift = Max(pg_leftmost_one_pos64(diff) - 7, 0);
	fpt_digit_starts(recs, n, nwords, d, start);
	fpt_digit_permute(recs, nwords, d, start);
	for (int v = 0; v < 256; v++)
	{
		if (start[v + 1] - start[v] > 1)
			recurse(recs + start[v] * nwords, start[v + 1] - start[v], w);
	}
}

/* One copy for each record size, so that the sizes are constants. */
static void
fpt_radix1(uint64 *recs, size_t n, int w)
{
	fpt_radix_step(recs, n, 1, w, fpt_radix1);
}

static void
fpt_radix2(uint64 *recs, size_t n, int w)
{
	fpt_radix_step(recs, n, 2, w, fpt_radix2);
}

static void
fpt_radix3(uint64 *recs, size_t n, int w)
{
	fpt_radix_step(recs, n, 3, w, fpt_radix3);
}

void
fpt_radix_sort(uint64 *recs, size_t n, int nwords)
{
	switch (nwords)
	{
		case 1:
			fpt_radix1(recs, n, 0);
			break;
		case 2:
			fpt_radix2(recs, n, 0);
			break;
		default:
			Assert(nwords == 3);
			fpt_radix3(recs, n, 0);
			break;
	}
}

/* --- files of runs ------------------------------------------------------ */

static void
fpt_spool_keep_file(FPTSpool *sp, BufFile *file)
{
	if (sp->files == NULL)
		sp->files = MemoryContextAlloc(sp->cxt, sizeof(BufFile *));
	else
		sp->files = repalloc(sp->files, (sp->nfiles + 1) * sizeof(BufFile *));
	sp->files[sp->nfiles++] = file;
}

/* The file for new runs, created when it is first wanted. */
static void
fpt_spool_open_out(FPTSpool *sp)
{
	MemoryContext old;

	if (sp->out.file != NULL)
		return;
	old = MemoryContextSwitchTo(sp->cxt);
	if (sp->fileset != NULL)
		sp->out.file = BufFileCreateFileSet(sp->fileset, sp->name);
	else
		sp->out.file = BufFileCreateTemp(false);
	sp->out.bytes = 0;
	MemoryContextSwitchTo(old);
	fpt_spool_keep_file(sp, sp->out.file);
}

static void
fpt_writer_put(FPTRunWriter *out, const void *data, Size len)
{
	const char *p = data;

	while (len > 0)
	{
		Size		part = Min(len, (Size) FPT_SORT_CHUNK);

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(out->file, unconstify(char *, p), part);
		out->bytes += part;
		p += part;
		len -= part;
	}
}

/* Fill up to a block's end; returns the next block's number. */
static int64
fpt_writer_align(FPTRunWriter *out)
{
	Size		rest = (Size) (out->bytes % BLCKSZ);

	if (rest > 0)
	{
		PGAlignedBlock zeroes;

		memset(zeroes.data, 0, BLCKSZ);
		fpt_writer_put(out, zeroes.data, BLCKSZ - rest);
	}
	return (int64) (out->bytes / BLCKSZ);
}

static void
fpt_spool_add_run(FPTSpool *sp, BufFile *file, int64 block, uint64 nrecs)
{
	FPTRunReader *r;

	if (sp->nruns >= sp->maxruns)
	{
		int			max = Max(16, 2 * sp->maxruns);
		Size		size = mul_size(max, sizeof(FPTRunReader));

		if (sp->runs == NULL)
			sp->runs = MemoryContextAllocHuge(sp->cxt, size);
		else
			sp->runs = repalloc_huge(sp->runs, size);
		sp->maxruns = max;
	}
	r = &sp->runs[sp->nruns++];
	memset(r, 0, sizeof(*r));
	r->run.block = block;
	r->run.nrecs = nrecs;
	r->file = file;
}

static void
fpt_spool_sort_array(FPTSpool *sp)
{
	if (!sp->sorted)
		fpt_radix_sort(sp->recs, sp->nrecs, sp->nwords);
	sp->sorted = true;
}

/*
 * Sort the array and write it out.  If it continues the last run it becomes
 * part of that: then a heap in key order gives one run, and NULLs' TIDs do.
 */
static void
fpt_spool_dump(FPTSpool *sp)
{
	int			nw = sp->nwords;

	if (sp->nrecs == 0)
		return;
	fpt_spool_sort_array(sp);
	fpt_spool_open_out(sp);
	if (sp->nruns > 0 && fpt_rec_less(sp->last, sp->recs, nw))
		sp->runs[sp->nruns - 1].run.nrecs += sp->nrecs;
	else
		fpt_spool_add_run(sp, sp->out.file, fpt_writer_align(&sp->out),
						  sp->nrecs);
	fpt_writer_put(&sp->out, sp->recs, sp->nrecs * nw * sizeof(uint64));
	fpt_rec_copy(sp->last, sp->recs + (sp->nrecs - 1) * nw, nw);
	sp->nrecs = 0;
}

/* --- collecting --------------------------------------------------------- */

FPTSpool *
fpt_spool_begin(int nwords, Size mem, FileSet *fileset, const char *name)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree build spool",
											  ALLOCSET_DEFAULT_SIZES);
	FPTSpool   *sp = MemoryContextAllocZero(cxt, sizeof(FPTSpool));

	Assert(nwords >= 1 && nwords <= FPT_SPOOL_MAXWORDS);
	sp->cxt = cxt;
	sp->nwords = nwords;
	sp->mem = Max(mem, FPT_SPOOL_MINMEM);
	sp->limit = sp->mem / (nwords * sizeof(uint64));
	sp->sorted = true;
	sp->fileset = fileset;
	if (name != NULL)
		sp->name = MemoryContextStrdup(cxt, name);
	return sp;
}

/* Make room for another record: a larger array, or an empty one. */
static void
fpt_spool_make_room(FPTSpool *sp)
{
	Size		recsize = sp->nwords * sizeof(uint64);

	if (sp->maxrecs >= sp->limit)
	{
		fpt_spool_dump(sp);
		return;
	}
	if (sp->recs == NULL)
	{
		sp->maxrecs = Min(FPT_FIRST_RECORDS, sp->limit);
		sp->recs = MemoryContextAllocHuge(sp->cxt, sp->maxrecs * recsize);
		return;
	}
	sp->maxrecs = Min(sp->maxrecs * 2, sp->limit);
	sp->recs = repalloc_huge(sp->recs, sp->maxrecs * recsize);
}

void
fpt_spool_put(FPTSpool *sp, const uint64 *rec)
{
	int			nw = sp->nwords;
	uint64	   *place;

	if (unlikely(sp->nrecs >= sp->maxrecs))
		fpt_spool_make_room(sp);
	place = sp->recs + sp->nrecs * nw;
	if (sp->nrecs == 0)
		sp->sorted = true;
	else if (sp->sorted && !fpt_rec_less(place - nw, rec, nw))
		sp->sorted = false;
	fpt_rec_copy(place, rec, nw);
	sp->nrecs++;
}

/* --- merging ------------------------------------------------------------ */

/* Read the next part of a run; false at its end. */
static bool
fpt_reader_fill(FPTSpool *sp, FPTRunReader *r)
{
	Size		recsize = sp->nwords * sizeof(uint64);
	uint64		left = r->run.nrecs - r->nread;
	size_t		n = (size_t) Min(left, (uint64) (sp->units * FPT_UNIT));
	int64		block;

	r->pos = r->len = 0;
	if (n == 0)
		return false;
	CHECK_FOR_INTERRUPTS();
	/* nread is a multiple of FPT_UNIT, so this is a block boundary */
	block = r->run.block + (int64) (r->nread * recsize / BLCKSZ);
	if (BufFileSeekBlock(r->file, block) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek to block %lld of temporary file",
						(long long) block)));
	if (BufFileRead(r->file, r->buf, n * recsize) != n * recsize)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read block %lld of temporary file",
						(long long) block)));
	r->nread += n;
	r->len = n;
	return true;
}

static inline const uint64 *
fpt_reader_head(FPTSpool *sp, int run)
{
	FPTRunReader *r = &sp->runs[run];

	return r->buf + r->pos * sp->nwords;
}

/* Let the heap's i'th element sink to where it belongs. */
static void
fpt_heap_sink(FPTSpool *sp, int i)
{
	int		   *heap = sp->heap;
	int			run = heap[i];
	const uint64 *rec = fpt_reader_head(sp, run);
	int			nw = sp->nwords;

	for (;;)
	{
		int			child = 2 * i + 1;
		const uint64 *crec;

		if (child >= sp->nheap)
			break;
		crec = fpt_reader_head(sp, heap[child]);
		if (child + 1 < sp->nheap)
		{
			const uint64 *other = fpt_reader_head(sp, heap[child + 1]);

			if (fpt_rec_less(other, crec, nw))
			{
				crec = other;
				child++;
			}
		}
		if (!fpt_rec_less(crec, rec, nw))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = run;
}

/* Start merging runs first .. first + n - 1; buffers are allocated. */
static void
fpt_merge_start(FPTSpool *sp, int first, int n)
{
	Size		bufwords = sp->units * FPT_UNIT * sp->nwords;

	sp->nheap = 0;
	for (int i = 0; i < n; i++)
	{
		FPTRunReader *r = &sp->runs[first + i];

		r->buf = sp->readbuf + i * bufwords;
		r->nread = 0;
		if (fpt_reader_fill(sp, r))
			sp->heap[sp->nheap++] = first + i;
	}
	for (int i = sp->nheap / 2 - 1; i >= 0; i--)
		fpt_heap_sink(sp, i);
}

/* The run at the top of the heap has come to the end of its buffer. */
static void
fpt_merge_refill(FPTSpool *sp)
{
	if (!fpt_reader_fill(sp, &sp->runs[sp->heap[0]]))
		sp->heap[0] = sp->heap[--sp->nheap];
}

/* The next records of the runs being merged, at most a unit. */
static size_t
fpt_merge_fetch(FPTSpool *sp, const uint64 **recs)
{
	int			nw = sp->nwords;
	size_t		n = 0;

	if (sp->nheap == 1)
	{
		/* Nothing to merge: hand out the buffer. */
		FPTRunReader *r = &sp->runs[sp->heap[0]];

		if (r->pos < r->len || fpt_reader_fill(sp, r))
		{
			*recs = r->buf + r->pos * nw;
			n = r->len - r->pos;
			r->pos = r->len;
			return n;
		}
		sp->nheap = 0;
	}
	while (sp->nheap > 0 && n < FPT_UNIT)
	{
		FPTRunReader *r = &sp->runs[sp->heap[0]];

		fpt_rec_copy(sp->mergebuf + n * nw, r->buf + r->pos * nw, nw);
		n++;
		r->pos++;
		if (unlikely(r->pos >= r->len))
			fpt_merge_refill(sp);
		if (sp->nheap > 1)
			fpt_heap_sink(sp, 0);
	}
	*recs = sp->mergebuf;
	return n;
}

/* Close, and so delete, files that no run is in any more. */
static void
fpt_spool_close_unused(FPTSpool *sp)
{
	int			kept = 0;

	for (int i = 0; i < sp->nfiles; i++)
	{
		int			run = 0;

		while (run < sp->nruns && sp->runs[run].file != sp->files[i])
			run++;
		if (run < sp->nruns)
			sp->files[kept++] = sp->files[i];
		else
			BufFileClose(sp->files[i]);
	}
	sp->nfiles = kept;
}

/*
 * Merge the first n runs into one, which goes to the end of the list.  A file
 * is never read and written at the same time: when the runs merged earlier are
 * due, a new file is begun.
 */
static void
fpt_merge_first_runs(FPTSpool *sp, int n)
{
	const uint64 *recs;
	uint64		nrecs = 0;
	int64		block;
	size_t		k;

	for (int i = 0; i < n; i++)
	{
		if (sp->runs[i].file == sp->out.file)
			sp->out.file = NULL;
	}
	if (sp->out.file == NULL)
	{
		fpt_spool_close_unused(sp);
		fpt_spool_open_out(sp);
	}
	fpt_merge_start(sp, 0, n);
	block = fpt_writer_align(&sp->out);
	while ((k = fpt_merge_fetch(sp, &recs)) > 0)
	{
		fpt_writer_put(&sp->out, recs, k * sp->nwords * sizeof(uint64));
		nrecs += k;
	}
	memmove(sp->runs, sp->runs + n, (sp->nruns - n) * sizeof(FPTRunReader));
	sp->nruns -= n;
	fpt_spool_add_run(sp, sp->out.file, block, nrecs);
}

/*
 * Prepare for giving back merged runs.  Each run being read needs a buffer of
 * at least a unit; where memory has no room for that many, merge some first.
 */
static void
fpt_spool_prepare_merge(FPTSpool *sp)
{
	Size		unit = FPT_UNIT * sp->nwords * sizeof(uint64);
	Size		fit = sp->mem / unit - 1;
	int			fanin = (int) Min(fit, (Size) FPT_MERGE_RUNS);

	if (sp->recs != NULL)
		pfree(sp->recs);
	sp->recs = NULL;
	sp->maxrecs = 0;
	fanin = Max(2, fanin);
	sp->units = Min((Size) fanin / Min(fanin, sp->nruns), FPT_MAX_UNITS);
	sp->mergebuf = MemoryContextAlloc(sp->cxt, unit);
	sp->readbuf = MemoryContextAllocHuge(sp->cxt, Min(fanin, sp->nruns) *
										 sp->units * unit);
	sp->heap = MemoryContextAllocHuge(sp->cxt,
									  Min(fanin, sp->nruns) * sizeof(int));
	Assert(sp->fileset == NULL);	/* exports are sorted by who imports them */
	while (sp->nruns > fanin)
		fpt_merge_first_runs(sp, Min(fanin, sp->nruns - fanin + 1));
	fpt_merge_start(sp, 0, sp->nruns);
}

/* --- the end of the collection ------------------------------------------ */

void
fpt_spool_sort(FPTSpool *sp)
{
	if (sp->nruns == 0)
		fpt_spool_sort_array(sp);
	else
	{
		fpt_spool_dump(sp);
		fpt_spool_prepare_merge(sp);
	}
}

size_t
fpt_spool_fetch(FPTSpool *sp, const uint64 **recs)
{
	size_t		n;

	CHECK_FOR_INTERRUPTS();
	if (sp->nruns > 0)
		return fpt_merge_fetch(sp, recs);
	n = Min(sp->nrecs - sp->nfetched, FPT_UNIT);
	*recs = sp->recs + sp->nfetched * sp->nwords;
	sp->nfetched += n;
	return n;
}

void
fpt_spool_export(FPTSpool *sp, FPTSpoolExport *ex)
{
	Assert(sp->fileset != NULL);
	fpt_spool_dump(sp);
	ex->nruns = sp->nruns;
	ex->dirblock = 0;
	if (sp->nruns == 0)
		return;
	ex->dirblock = fpt_writer_align(&sp->out);
	for (int i = 0; i < sp->nruns; i++)
		fpt_writer_put(&sp->out, &sp->runs[i].run, sizeof(FPTSpoolRun));
	BufFileExportFileSet(sp->out.file);
}

void
fpt_spool_import(FPTSpool *sp, FileSet *fileset, const char *name,
				 const FPTSpoolExport *ex)
{
	MemoryContext old;
	BufFile    *file;

	/* A dumped array could be joined to an imported run by mistake. */
	Assert(sp->nrecs == 0 && sp->out.file == NULL);
	if (ex->nruns == 0)
		return;
	old = MemoryContextSwitchTo(sp->cxt);
	file = BufFileOpenFileSet(fileset, name, O_RDONLY, false);
	MemoryContextSwitchTo(old);
	fpt_spool_keep_file(sp, file);
	if (BufFileSeekBlock(file, ex->dirblock) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek to block %lld of temporary file",
						(long long) ex->dirblock)));
	for (int64 i = 0; i < ex->nruns; i++)
	{
		FPTSpoolRun run;

		if (BufFileRead(file, &run, sizeof(run)) != sizeof(run))
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read block %lld of temporary file",
							(long long) ex->dirblock)));
		fpt_spool_add_run(sp, file, run.block, run.nrecs);
	}
}

void
fpt_spool_end(FPTSpool *sp)
{
	for (int i = 0; i < sp->nfiles; i++)
		BufFileClose(sp->files[i]);
	MemoryContextDelete(sp->cxt);
}
