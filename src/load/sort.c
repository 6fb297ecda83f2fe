/*-------------------------------------------------------------------------
 *
 * load/sort.c
 *	  Spools: collecting and sorting the entries of a new index.
 *
 * There is one array of records of one to three 64-bit words, which a radix
 * sort orders without comparing.  An image key is such a record, with its TID.
 * Of a general key the record (FPTItem) is what it begins with and the place of
 * the rest (FPTRecord), which lies in chunks of memory; where items say that
 * keys are equal, load/order.c goes on.  Compared with tuplesort.c an image's
 * record takes a third of the memory, and neither sorting nor writing it calls
 * a function.
 *
 * When memory reaches the spool's limit, it is sorted and written to a
 * temporary file as a run, and the end of the build merges the runs.  Order is
 * total, because TIDs decide lastly: it depends neither on the order in which
 * the table was scanned nor on who scanned which part.
 *
 * A run starts at a block boundary of its file and has records one after the
 * other: images' as they are in the array, an FPTRecord of each general key.
 * All of them are multiples of 8 bytes.  Files are read in units of whole
 * blocks; a record that a unit cuts off is moved to before the next one.
 *
 * A spool's files are closed, and so deleted, by its end or by that of the
 * transaction.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/buffile.h"
#include "storage/shmem.h"
#include "utils/memutils.h"

#include "load/item.h"
#include "load/order.h"
#include "load/radix.h"
#include "load/sort.h"
#include "page/format.h"

/* Image records that are given back at once. */
#define FPT_FETCH_RECORDS	1024

/* Bytes written between two checks for interrupts. */
#define FPT_RUN_BUFFER		65536

/* Longest read buffer of a run being merged. */
#define FPT_MAX_READ		((Size) 32 * BLCKSZ)

/* Records that the array has room for at first. */
#define FPT_FIRST_RECORDS	4096

/* The same of runs, and of chunks. */
#define FPT_FIRST_RUNS		16
#define FPT_FIRST_CHUNKS	64

/* Memory of an item: half of them are copied while they are sorted. */
#define FPT_ITEM_BYTES		(sizeof(FPTItem) * 3 / 2)

#define FPT_MAX_RECORD		MAXALIGN(sizeof(FPTRecord) + FPT_MAX_TUPLE)
StaticAssertDecl(FPT_MAX_RECORD <= BLCKSZ,
				 "a record may take more than a unit of reading");

/* A sorted sequence of records in a file. */
typedef struct FPTSpoolRun
{
	int64		block;			/* where it starts in its file */
	uint64		bytes;
} FPTSpoolRun;

/*
 * A run with its file and the state of reading it.  rec .. end is what has been
 * read and not given back; it is within the buffer, or in the room for a record
 * before it.
 */
typedef struct FPTRunReader
{
	FPTSpoolRun run;
	BufFile    *file;
	uint64		nread;			/* bytes of the run read so far */
	char	   *buf;			/* has room for a record before it */
	const uint64 *rec;			/* the next record */
	const char *end;			/* of what is read */
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
	const FPTLayout *l;			/* general keys; NULL: records are all */
	int			nwords;
	Size		recsize;		/* bytes of a record of so many words */
	Size		maxsize;		/* of any record in a run */
	Size		mem;			/* bytes to use at most */

	/* collected and not yet written records */
	uint64	   *recs;
	size_t		nrecs;
	size_t		maxrecs;		/* room in recs */
	size_t		limit;			/* room allowed by mem */
	bool		sorted;			/* recs are in order (items never are) */

	/* general keys: what recs tell the places of */
	MemoryContext chunkcxt;
	char	  **chunks;
	int			nchunks;
	int			maxchunks;
	Size		chunkleft;		/* bytes free in the last one */

	/* what has been written */
	FPTRunWriter out;
	FileSet    *fileset;		/* NULL: out is a private file */
	char	   *name;
	FPTRunReader *runs;
	int			nruns;
	int			maxruns;
	uint64	   *last;			/* last record of the last run */
	List	   *files;			/* all files opened */

	/* giving back */
	size_t		nfetched;		/* records of recs given back */
	char	   *readbuf;		/* the readers' buffers */
	Size		readsize;		/* bytes read at once */
	FPTRunReader **queue;		/* runs not exhausted, by next record */
	int			nqueue;
	bool		given;			/* the first one's has been given back */
};

/* --- records ------------------------------------------------------------- */

/* Bytes of a record in a run. */
static inline Size
fpt_rec_size(const FPTSpool *sp, const uint64 *rec)
{
	return sp->l == NULL ? sp->recsize :
		fpt_record_size(((const FPTRecord *) rec)->len);
}

/*
 * Is general record a before record b?  By class and head, then as a whole.
 * May raise errors of comparison functions.
 */
static bool
fpt_general_less(const FPTLayout *l, const FPTRecord *a, const FPTRecord *b)
{
	FPTKey		x;
	FPTKey		y;

	if (a->cls != b->cls)
		return a->cls < b->cls;
	if (a->head != b->head)
		return a->head < b->head;
	fpt_record_get(a, &x);
	fpt_record_get(b, &y);
	return fpt_key_cmp(l, &x, &y) < 0;
}

/* Is record a of a run before record b? */
static inline bool
fpt_run_less(const FPTSpool *sp, const uint64 *a, const uint64 *b)
{
	if (likely(sp->l == NULL))
		return a[0] != b[0] ? a[0] < b[0] : fpt_rec_less(a, b, sp->nwords);
	return fpt_general_less(sp->l, (const FPTRecord *) a,
							(const FPTRecord *) b);
}

/* The i'th record of the sorted array, as runs have it. */
static inline const uint64 *
fpt_spool_rec(const FPTSpool *sp, size_t i)
{
	const FPTItem *items = (const FPTItem *) sp->recs;

	Assert(i < sp->nrecs);
	if (sp->l == NULL)
		return sp->recs + i * sp->nwords;
	fpt_item_ahead(sp->chunks, items, i, sp->nrecs);
	return (const uint64 *) fpt_item_record(sp->chunks, &items[i]);
}

/* --- files of runs ------------------------------------------------------ */

/*
 * Read n bytes of a file from a block on.  Raises an error if they cannot be
 * had.
 */
static void
fpt_file_read(BufFile *file, int64 block, void *to, Size n)
{
	if (BufFileSeekBlock(file, block) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek to block %lld of temporary file",
						(long long) block)));
	if (BufFileRead(file, to, n) != n)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read block %lld of temporary file",
						(long long) block)));
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
	sp->files = lappend(sp->files, sp->out.file);
	MemoryContextSwitchTo(old);
}

/*
 * Append bytes to a file of runs.  May be cancelled, at each FPT_RUN_BUFFER;
 * raises an error if the disk is full.
 */
static void
fpt_writer_put(FPTRunWriter *out, const void *data, Size len)
{
	const char *p = data;

	Assert(out->file != NULL);
	while (len > 0)
	{
		Size		part = Min(len, (Size) FPT_RUN_BUFFER);

		CHECK_FOR_INTERRUPTS();
		BufFileWrite(out->file, unconstify(char *, p), part);
		out->bytes += part;
		p += part;
		len -= part;
	}
}

/* Fill up to a block's end, with zeroes; returns the next block's number. */
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

/*
 * Add a run to the list: a place in a file, where it is empty yet or whole.
 * The list is in sp->cxt and may move.
 */
static void
fpt_spool_add_run(FPTSpool *sp, BufFile *file, FPTSpoolRun run)
{
	FPTRunReader *r;

	Assert(file != NULL && run.block >= 0);
	if (sp->nruns >= sp->maxruns)
	{
		sp->maxruns *= 2;
		sp->runs = repalloc_huge(sp->runs, mul_size(sp->maxruns,
													sizeof(FPTRunReader)));
	}
	r = &sp->runs[sp->nruns++];
	memset(r, 0, sizeof(*r));
	r->run = run;
	r->file = file;
}

/*
 * Put the array in order; not twice, since the items of general keys are what
 * fpt_gorder_sort() leaves.  May be cancelled, and raise errors of comparison
 * functions, and leaves behind what these allocate in the current context.
 * Takes half of the items' memory again while it sorts items by comparing
 * (FPT_ITEM_BYTES has counted that).
 */
static void
fpt_spool_sort_array(FPTSpool *sp)
{
	FPTItem    *items = (FPTItem *) sp->recs;
	FPTItem    *tmp = NULL;
	size_t		to;

	if (!sp->sorted)
		fpt_radix_sort(sp->recs, sp->nrecs, sp->nwords);
	sp->sorted = sp->l == NULL;
	if (sp->l == NULL)
		return;
	for (size_t from = 0; from < sp->nrecs; from = to)
	{
		CHECK_FOR_INTERRUPTS();
		to = fpt_item_run(items, from, sp->nrecs);
		if (to - from < 2)
			continue;
		if (tmp == NULL)
			tmp = MemoryContextAllocHuge(sp->cxt,
										 Max(sp->nrecs / 2, FPT_GORDER_TMP) *
										 sizeof(FPTItem));
		fpt_gorder_sort(sp->l, sp->chunks, items + from, to - from, tmp);
	}
	if (tmp != NULL)
		pfree(tmp);
}

/*
 * Sort what is in memory and write it out, which leaves no records there.  If
 * it continues the last run it becomes part of that: then a table in key
 * order gives one run, and NULLs' TIDs do.  May be cancelled; raises errors of
 * comparison functions and of writing.
 */
static void
fpt_spool_dump(FPTSpool *sp)
{
	const uint64 *rec;
	uint64		from;

	Assert(sp->queue == NULL);	/* no merge has begun */
	if (sp->nrecs == 0)
		return;
	fpt_spool_sort_array(sp);
	fpt_spool_open_out(sp);
	if (sp->nruns == 0 || !fpt_run_less(sp, sp->last, fpt_spool_rec(sp, 0)))
	{
		FPTSpoolRun run = {.block = fpt_writer_align(&sp->out)};

		fpt_spool_add_run(sp, sp->out.file, run);
	}
	Assert(sp->runs[sp->nruns - 1].file == sp->out.file);
	from = sp->out.bytes;
	if (sp->l == NULL)
		fpt_writer_put(&sp->out, sp->recs, sp->nrecs * sp->recsize);
	else
	{
		for (size_t i = 0; i < sp->nrecs; i++)
		{
			rec = fpt_spool_rec(sp, i);
			fpt_writer_put(&sp->out, rec, fpt_rec_size(sp, rec));
		}
	}
	sp->runs[sp->nruns - 1].run.bytes += sp->out.bytes - from;
	rec = fpt_spool_rec(sp, sp->nrecs - 1);
	memcpy(sp->last, rec, fpt_rec_size(sp, rec));
	sp->nrecs = 0;
	if (sp->chunkcxt != NULL)
		MemoryContextReset(sp->chunkcxt);
	sp->nchunks = 0;
	sp->chunkleft = 0;
}

/* --- collecting --------------------------------------------------------- */

/*
 * See load/sort.h.  An array of images has a fixed limit; of general keys the
 * limit depends on how long records are (fpt_spool_limit()).
 */
FPTSpool *
fpt_spool_begin(const FPTLayout *l, int nwords, Size mem, FileSet *fileset,
				const char *name)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree build spool",
											  ALLOCSET_DEFAULT_SIZES);
	FPTSpool   *sp = MemoryContextAllocZero(cxt, sizeof(FPTSpool));

	Assert(nwords >= 1 && nwords <= FPT_MAX_WORDS);
	Assert(fileset == NULL || name != NULL);
	sp->cxt = cxt;
	sp->l = l;
	sp->nwords = nwords;
	sp->recsize = sp->maxsize = nwords * sizeof(uint64);
	sp->mem = Max(mem, FPT_SPOOL_MINMEM);
	sp->limit = sp->mem / sp->recsize;
	if (l != NULL)
	{
		Assert(sp->recsize == sizeof(FPTItem));
		sp->maxsize = FPT_MAX_RECORD;
		sp->mem = Max(mem, 2 * FPT_CHUNK_BYTES);
		sp->limit = SIZE_MAX;	/* chunks count */
		sp->chunkcxt = AllocSetContextCreate(cxt, "fptree build records",
											 ALLOCSET_DEFAULT_SIZES);
		sp->maxchunks = FPT_FIRST_CHUNKS;
		sp->chunks = MemoryContextAlloc(cxt, sp->maxchunks * sizeof(char *));
	}
	sp->last = MemoryContextAlloc(cxt, sp->maxsize);
	sp->maxruns = FPT_FIRST_RUNS;
	sp->runs = MemoryContextAlloc(cxt, sp->maxruns * sizeof(FPTRunReader));
	sp->sorted = l == NULL;
	sp->fileset = fileset;
	if (name != NULL)
		sp->name = MemoryContextStrdup(cxt, name);
	return sp;
}

/*
 * How large may the array become?  Of general keys so large that it and the
 * records, if they go on as they are, take all memory at the same time.
 */
static Size
fpt_spool_limit(const FPTSpool *sp)
{
	Size		bytes;

	if (sp->l == NULL || sp->nrecs == 0)
		return sp->limit;
	bytes = FPT_ITEM_BYTES + sp->nchunks * FPT_CHUNK_BYTES / sp->nrecs;
	return sp->mem / bytes;
}

/*
 * Make room for another record: a larger array, or an empty one.  An eighth
 * more is the least that is worth to copy it.  May write out all records, as
 * fpt_spool_dump().
 */
static void
fpt_spool_make_room(FPTSpool *sp)
{
	Size		limit = fpt_spool_limit(sp);

	Assert(sp->nrecs == sp->maxrecs);
	if (sp->maxrecs >= (sp->l == NULL ? limit : limit - limit / 8))
	{
		fpt_spool_dump(sp);
		return;
	}
	if (sp->recs == NULL)
	{
		sp->maxrecs = Min(FPT_FIRST_RECORDS, limit);
		sp->recs = MemoryContextAllocHuge(sp->cxt, sp->maxrecs * sp->recsize);
		return;
	}
	sp->maxrecs = Min(sp->maxrecs * 2, limit);
	sp->recs = repalloc_huge(sp->recs, sp->maxrecs * sp->recsize);
}

/* fpt_spool_put() of records of nw words; the compiler knows how many 2 are. */
static pg_attribute_always_inline void
fpt_spool_put_words(FPTSpool *sp, const uint64 *rec, int nw)
{
	uint64	   *place;

	Assert(sp->l == NULL && sp->queue == NULL);
	if (unlikely(sp->nrecs >= sp->maxrecs))
		fpt_spool_make_room(sp);
	Assert(sp->nrecs < sp->maxrecs);
	place = sp->recs + sp->nrecs * nw;
	if (sp->nrecs == 0)
		sp->sorted = true;
	else if (sp->sorted && !fpt_rec_less(place - nw, rec, nw))
		sp->sorted = false;
	fpt_rec_copy(place, rec, nw);
	sp->nrecs++;
}

void
fpt_spool_put(FPTSpool *sp, const uint64 *rec)
{
	if (likely(sp->nwords == 2))
		fpt_spool_put_words(sp, rec, 2);
	else
		fpt_spool_put_words(sp, rec, sp->nwords);
}

/*
 * Begin a chunk, with all others written out if memory is full (as
 * fpt_spool_dump()).  It has room for any record.
 */
static void
fpt_spool_add_chunk(FPTSpool *sp)
{
	Size		used = sp->maxrecs * FPT_ITEM_BYTES +
		sp->nchunks * FPT_CHUNK_BYTES;

	Assert(sp->l != NULL && sp->queue == NULL);
	if (used + FPT_CHUNK_BYTES > sp->mem)
		fpt_spool_dump(sp);
	if (sp->nchunks >= sp->maxchunks)
	{
		sp->maxchunks *= 2;
		sp->chunks = repalloc(sp->chunks, sp->maxchunks * sizeof(char *));
	}
	sp->chunks[sp->nchunks++] = MemoryContextAlloc(sp->chunkcxt,
												   FPT_CHUNK_BYTES);
	sp->chunkleft = FPT_CHUNK_BYTES;
}

/*
 * See load/sort.h.  Records are whole words, the last of which is zeroed
 * first: what is behind the tuple goes to a file, too.
 */
void
fpt_spool_put_key(FPTSpool *sp, const FPTKey *key, unsigned flags)
{
	Size		size = fpt_record_size(key->len);
	Size		offset;
	FPTItem    *item;
	FPTRecord  *rec;

	Assert(sp->l != NULL && key->search == NULL && size <= FPT_MAX_RECORD);
	/* each may write all out, and the chunk with it */
	if (unlikely(sp->nrecs >= sp->maxrecs))
		fpt_spool_make_room(sp);
	if (sp->chunkleft < size)
		fpt_spool_add_chunk(sp);
	Assert(sp->nrecs < sp->maxrecs && sp->chunkleft >= size);
	offset = FPT_CHUNK_BYTES - sp->chunkleft;
	sp->chunkleft -= size;
	item = (FPTItem *) sp->recs + sp->nrecs++;
	item->cls = key->cls;
	item->head = key->lo;
	item->place = ((uint64) (sp->nchunks - 1) << FPT_CHUNK_BITS) | offset;
	rec = (FPTRecord *) (sp->chunks[sp->nchunks - 1] + offset);
	((uint64 *) rec)[size / sizeof(uint64) - 1] = 0;	/* padding */
	rec->head = key->lo;
	rec->tid = key->tid;
	rec->len = key->len;
	rec->cls = (uint16) key->cls;
	rec->flags = (uint16) flags;
	if (key->len > 0)
		memcpy(rec + 1, key->tup, key->len);
}

/* --- merging ------------------------------------------------------------ */

/*
 * Is all of the run's next record read?  Raises an error if its length is none
 * that a record can have.
 */
static inline bool
fpt_reader_ready(const FPTSpool *sp, const FPTRunReader *r)
{
	Size		left = r->end - (const char *) r->rec;

	Assert((const char *) r->rec <= r->end);
	if (sp->l == NULL)
		return left >= sp->recsize;
	if (left < sizeof(FPTRecord))
		return false;
	if (unlikely(((const FPTRecord *) r->rec)->len > FPT_MAX_TUPLE))
		elog(ERROR, "temporary file of an index build is damaged");
	return left >= fpt_rec_size(sp, r->rec);
}

/*
 * Read the next part of a run, of whose next record only the beginning is
 * there, or nothing.  True: it is there now; false: it was the run's end.  That
 * beginning is moved to before the part, where there is room for any record; so
 * a record that was given back before is gone.  May be cancelled.  Raises an
 * error if the file cannot be read, or ends within a record.
 */
static bool
fpt_reader_fill(FPTSpool *sp, FPTRunReader *r)
{
	Size		rest = r->end - (const char *) r->rec;
	Size		n = (Size) Min(r->run.bytes - r->nread, (uint64) sp->readsize);

	if (n == 0 && rest == 0)
		return false;
	CHECK_FOR_INTERRUPTS();
	Assert(rest < sp->maxsize && (n == 0 || r->nread % BLCKSZ == 0));
	if (rest > 0)
		memmove(r->buf - rest, r->rec, rest);
	fpt_file_read(r->file, r->run.block + (int64) (r->nread / BLCKSZ),
				  r->buf, n);
	r->nread += n;
	r->rec = (const uint64 *) (r->buf - rest);
	r->end = r->buf + n;
	if (!fpt_reader_ready(sp, r))
		elog(ERROR, "temporary file of an index build is damaged");
	return true;
}

/*
 * Let the queue's i'th run sink to where its next record belongs, as in a
 * binary heap.  May raise errors of comparison functions, the queue then in no
 * order.
 *
 * Not that of lib/binaryheap.h, which calls a function for each comparison: of
 * images that takes longer than comparing them.
 */
static void
fpt_queue_sink(FPTSpool *sp, int i)
{
	FPTRunReader **queue = sp->queue;
	FPTRunReader *r = queue[i];

	Assert(i >= 0 && i < sp->nqueue);
	for (;;)
	{
		int			child = 2 * i + 1;

		if (child >= sp->nqueue)
			break;
		if (child + 1 < sp->nqueue &&
			fpt_run_less(sp, queue[child + 1]->rec, queue[child]->rec))
			child++;
		if (!fpt_run_less(sp, queue[child]->rec, r->rec))
			break;
		queue[i] = queue[child];
		i = child;
	}
	queue[i] = r;
}

/*
 * Start merging the first n runs: read the beginning of each, and queue them.
 * Buffers and queue are allocated, for n at least.  As
 * fpt_reader_fill() and fpt_queue_sink().
 */
static void
fpt_merge_start(FPTSpool *sp, int n)
{
	Assert(n > 0 && n <= sp->nruns);
	Assert(sp->queue != NULL && sp->readbuf != NULL);
	sp->nqueue = 0;
	sp->given = false;
	for (int i = 0; i < n; i++)
	{
		FPTRunReader *r = &sp->runs[i];

		r->buf = sp->readbuf + i * (sp->maxsize + sp->readsize) + sp->maxsize;
		r->rec = (const uint64 *) r->buf;
		r->end = r->buf;
		r->nread = 0;
		if (fpt_reader_fill(sp, r))
			sp->queue[sp->nqueue++] = r;
	}
	for (int i = sp->nqueue / 2 - 1; i >= 0; i--)
		fpt_queue_sink(sp, i);
}

/*
 * The next records of the runs being merged, as fpt_spool_fetch() gives them
 * back; returns their number, 0 at the end.  May be cancelled, and raise errors
 * of reading and of comparison functions.
 */
static size_t
fpt_merge_fetch(FPTSpool *sp, const uint64 **recs)
{
	FPTRunReader *r;
	size_t		n = 1;

	Assert(!sp->given || sp->nqueue > 0);
	if (sp->given)
	{
		/* Only now: what was given back had to be there until now. */
		r = sp->queue[0];
		r->rec = (const uint64 *) ((const char *) r->rec +
								   fpt_rec_size(sp, r->rec));
		if (!fpt_reader_ready(sp, r) && !fpt_reader_fill(sp, r))
			sp->queue[0] = sp->queue[--sp->nqueue];
		if (sp->nqueue > 1)
			fpt_queue_sink(sp, 0);
	}
	sp->given = sp->nqueue > 0;
	if (!sp->given)
		return 0;
	r = sp->queue[0];
	*recs = r->rec;
	if (sp->nqueue == 1 && sp->l == NULL)
	{
		/* Nothing to merge: all that is read, the last one is "given". */
		n = (r->end - (const char *) r->rec) / sp->recsize;
		r->rec += (n - 1) * sp->nwords;
	}
	return n;
}

/* Close, and so delete, files that no run is in any more. */
static void
fpt_spool_close_unused(FPTSpool *sp)
{
	ListCell   *lc;

	foreach(lc, sp->files)
	{
		int			run = 0;

		while (run < sp->nruns && sp->runs[run].file != lfirst(lc))
			run++;
		if (run < sp->nruns)
			continue;
		BufFileClose(lfirst(lc));
		sp->files = foreach_delete_current(sp->files, lc);
	}
}

/*
 * Merge the first n runs into one, which goes to the end of the list.  A file
 * is never read and written at the same time: when the runs merged earlier are
 * due, a new file is begun, and those are closed that no run is in.  As
 * fpt_merge_fetch(), and writes.
 */
static void
fpt_merge_first_runs(FPTSpool *sp, int n)
{
	FPTSpoolRun run;
	const uint64 *recs;
	size_t		k;

	Assert(n > 1 && n <= sp->nruns);
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
	fpt_merge_start(sp, n);
	run.block = fpt_writer_align(&sp->out);
	while ((k = fpt_merge_fetch(sp, &recs)) > 0)
		fpt_writer_put(&sp->out, recs, k * fpt_rec_size(sp, recs));
	run.bytes = sp->out.bytes - (uint64) run.block * BLCKSZ;
	memmove(sp->runs, sp->runs + n, (sp->nruns - n) * sizeof(FPTRunReader));
	sp->nruns -= n;
	fpt_spool_add_run(sp, sp->out.file, run);
}

/*
 * Prepare for giving back merged runs; nothing is in memory any more.  Each run
 * being read needs a buffer of at least a block; where memory has no room for
 * that many, merge some first, the last time no more than leaves as many as
 * there is room for.  As fpt_merge_first_runs().
 */
static void
fpt_spool_prepare_merge(FPTSpool *sp)
{
	Size		fit = sp->mem / (sp->maxsize + BLCKSZ);
	int			fanin = Max(2, (int) Min(fit, (Size) FPT_MERGE_RUNS));
	int			ways = Min(fanin, sp->nruns);

	Assert(sp->nrecs == 0);
	Assert(sp->fileset == NULL);	/* exports are sorted by who imports them */
	if (sp->recs != NULL)
		pfree(sp->recs);
	sp->recs = NULL;
	sp->maxrecs = 0;
	sp->readsize = sp->mem / ways - sp->maxsize;
	sp->readsize = Min(sp->readsize - sp->readsize % BLCKSZ, FPT_MAX_READ);
	Assert(sp->readsize >= BLCKSZ);
	sp->readbuf = MemoryContextAllocHuge(sp->cxt, ways *
										 (sp->maxsize + sp->readsize));
	sp->queue = MemoryContextAlloc(sp->cxt, ways * sizeof(FPTRunReader *));
	while (sp->nruns > fanin)
		fpt_merge_first_runs(sp, Min(fanin, sp->nruns - fanin + 1));
	Assert(sp->nruns <= ways);	/* there are so many buffers */
	fpt_merge_start(sp, sp->nruns);
}

/* --- the end of the collection ------------------------------------------ */

void
fpt_spool_sort(FPTSpool *sp)
{
	Assert(sp->queue == NULL);
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
	Assert(sp->nfetched <= sp->nrecs);
	n = sp->nrecs - sp->nfetched;
	if (n == 0)
		return 0;
	n = sp->l == NULL ? Min(n, FPT_FETCH_RECORDS) : 1;
	*recs = fpt_spool_rec(sp, sp->nfetched);
	sp->nfetched += n;
	return n;
}

void
fpt_spool_export(FPTSpool *sp, FPTSpoolExport *ex)
{
	Assert(sp->fileset != NULL);
	Assert(sp->queue == NULL);
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

/*
 * See load/sort.h.  The file stays open in sp->cxt; the list of runs is at its
 * end, behind the last run.
 */
void
fpt_spool_import(FPTSpool *sp, FileSet *fileset, const char *name,
				 const FPTSpoolExport *ex)
{
	MemoryContext old = MemoryContextSwitchTo(sp->cxt);
	Size		size = mul_size(ex->nruns, sizeof(FPTSpoolRun));
	FPTSpoolRun *dir;
	BufFile    *file;

	/* A dumped array could be joined to an imported run by mistake. */
	Assert(sp->nrecs == 0 && sp->out.file == NULL);
	Assert(sp->fileset == NULL && sp->queue == NULL);
	if (ex->nruns > 0)
	{
		file = BufFileOpenFileSet(fileset, name, O_RDONLY, false);
		sp->files = lappend(sp->files, file);
		dir = palloc_extended(size, MCXT_ALLOC_HUGE);
		fpt_file_read(file, ex->dirblock, dir, size);
		for (int64 i = 0; i < ex->nruns; i++)
			fpt_spool_add_run(sp, file, dir[i]);
		pfree(dir);
	}
	MemoryContextSwitchTo(old);
}

void
fpt_spool_end(FPTSpool *sp)
{
	ListCell   *lc;

	foreach(lc, sp->files)
		BufFileClose(lfirst(lc));
	MemoryContextDelete(sp->cxt);
}
