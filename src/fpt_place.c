/*-------------------------------------------------------------------------
 *
 * fpt_place.c
 *	  Where the pages of an index lie: see fpt_place.h.
 *
 *-------------------------------------------------------------------------
 */
#include "fptree.h"

#include "miscadmin.h"
#include "storage/freespace.h"
#include "storage/indexfsm.h"

#ifdef FPT_HAVE_BULK_WRITE
#include "storage/bulk_write.h"
#endif

/* --- which pages there are ------------------------------------------------ */

uint32
fpt_npages(Relation rel, FPTPageMap *map)
{
	map->npages = RelationGetNumberOfBlocks(rel);
	return map->npages;
}

bool
fpt_has_storage(Relation rel)
{
	return smgrexists(RelationGetSmgr(rel), MAIN_FORKNUM);
}

bool
fpt_prefetch_page(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	(void) map;
	return PrefetchBuffer(rel, MAIN_FORKNUM, pageno).initiated_io;
}

bool
fpt_can_prefetch_pages(void)
{
	return fpt_can_prefetch();
}

void
fpt_prefetch_pages(Relation rel, const FPTPageMap *map, uint32 first,
				   uint32 last)
{
	(void) map;
	Assert(first <= last);
	fpt_prefetch_blocks(rel, MAIN_FORKNUM, first, (int) (last - first + 1));
}

bool
fpt_page_buffered(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	(void) map;
	return fpt_block_buffered(rel, MAIN_FORKNUM, pageno);
}

void
fpt_await_page(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	PGIOAlignedBlock ignored;

	(void) map;
	smgrread(RelationGetSmgr(rel), MAIN_FORKNUM, pageno, ignored.data);
}

/* --- allocation ----------------------------------------------------------- */

Buffer
fpt_allocbuf(Relation rel, FPTPageMap *map, uint32 *pageno)
{
	Buffer		buf;

	for (;;)
	{
		*pageno = GetFreeIndexPage(rel);
		if (*pageno == InvalidBlockNumber)
			break;
		fpt_stop_point(FPT_STOP_ALLOC_PAGE);
		if (*pageno <= FPT_ROOTPAGE || !fpt_page_exists(rel, map, *pageno))
			continue;
		buf = fpt_rawread(rel, map, *pageno, NULL);

		/*
		 * The free space map is a hint: somebody may use the page already.
		 * Not waiting for its lock keeps us out of deadlocks.
		 */
		if (ConditionalLockBuffer(buf))
		{
			if (fpt_page_recyclable(BufferGetPage(buf)))
				return buf;
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
		}
		ReleaseBuffer(buf);
	}
	buf = fpt_extend_relation(rel, MAIN_FORKNUM);
	*pageno = BufferGetBlockNumber(buf);
	return buf;
}

void
fpt_record_free(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	(void) map;
	RecordFreeIndexPage(rel, pageno);
}

bool
fpt_recorded_free(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	(void) map;
	return GetRecordedFreeSpace(rel, pageno) > 0;
}

void
fpt_publish_free(Relation rel, const FPTPageMap *map)
{
	(void) map;
	IndexFreeSpaceMapVacuum(rel);
}

/* --- builds --------------------------------------------------------------- */

#ifndef FPT_HAVE_BULK_WRITE

/* Pages of a batch: what a WAL record can hold. */
#define FPT_BATCH			32

/* Alignment of a page in memory that suits direct I/O */
#define FPT_IO_ALIGN		4096

struct FPTPageWriter
{
	Relation	rel;
	ForkNumber	fork;
	bool		use_wal;
	BlockNumber nblocks;		/* blocks the file has */
	int			n;				/* pages waiting in the batch */
	BlockNumber blocks[FPT_BATCH];
	char	   *pages[FPT_BATCH];	/* the first n in use, others free */
	char	   *zeroes;
};

static char *
fpt_io_page(void)
{
	char	   *p = palloc0(BLCKSZ + FPT_IO_ALIGN);

	return (char *) TYPEALIGN(FPT_IO_ALIGN, p);
}

FPTPageWriter *
fpt_pagewriter_begin(Relation rel, bool init)
{
	FPTPageWriter *w = palloc(sizeof(FPTPageWriter));

	w->rel = rel;
	w->fork = init ? INIT_FORKNUM : MAIN_FORKNUM;

	/*
	 * The init fork of an unlogged index is logged even at wal_level minimal:
	 * it is copied at the end of recovery.
	 */
	w->use_wal = RelationNeedsWAL(rel) || init;
	w->nblocks = 0;
	w->n = 0;
	for (int i = 0; i < FPT_BATCH; i++)
		w->pages[i] = fpt_io_page();
	w->zeroes = fpt_io_page();
	return w;
}

/* Sort the batch by block number; it nearly is in that order already. */
static void
fpt_pagewriter_sort(FPTPageWriter *w)
{
	for (int i = 1; i < w->n; i++)
	{
		BlockNumber block = w->blocks[i];
		char	   *page = w->pages[i];
		int			j = i;

		for (; j > 0 && w->blocks[j - 1] > block; j--)
		{
			w->blocks[j] = w->blocks[j - 1];
			w->pages[j] = w->pages[j - 1];
		}
		w->blocks[j] = block;
		w->pages[j] = page;
	}
}

static void
fpt_pagewriter_flush(FPTPageWriter *w)
{
	SMgrRelation smgr;

	CHECK_FOR_INTERRUPTS();
	if (w->n == 0)
		return;
	fpt_pagewriter_sort(w);
	if (w->use_wal)
		fpt_log_newpages(w->rel, w->fork, w->n, w->blocks, w->pages);
	/* Nothing below closes the file, so one look at it is enough. */
	smgr = RelationGetSmgr(w->rel);
	for (int i = 0; i < w->n; i++)
	{
		BlockNumber block = w->blocks[i];

		while (w->nblocks < block)
			smgrextend(smgr, w->fork, w->nblocks++, w->zeroes, true);
		PageSetChecksumInplace((Page) w->pages[i], block);
		if (block < w->nblocks)
			smgrwrite(smgr, w->fork, block, w->pages[i], true);
		else
			smgrextend(smgr, w->fork, w->nblocks++, w->pages[i], true);
	}
	w->n = 0;
}

void *
fpt_pagewriter_get(FPTPageWriter *w, uint32 pageno)
{
	if (w->n >= FPT_BATCH)
		fpt_pagewriter_flush(w);
	w->blocks[w->n] = pageno;
	return w->pages[w->n];
}

void
fpt_pagewriter_put(FPTPageWriter *w, void *page)
{
	Assert(page == w->pages[w->n]);
	(void) page;
	w->n++;
}

void
fpt_pagewriter_end(FPTPageWriter *w)
{
	fpt_pagewriter_flush(w);

	/*
	 * A checkpoint that began after a page was logged knows nothing of the
	 * file, so WAL alone does not bring the page back: sync it ourselves.  An
	 * unlogged index must survive a clean shutdown.  What is not logged
	 * because of wal_level minimal is synced at commit.
	 */
	if (w->use_wal ||
		w->rel->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		smgrimmedsync(RelationGetSmgr(w->rel), w->fork);
}

#else							/* FPT_HAVE_BULK_WRITE */

struct FPTPageWriter
{
	BulkWriteState *bulk;
	BulkWriteBuffer buf;
	BlockNumber block;			/* where it goes */
};

FPTPageWriter *
fpt_pagewriter_begin(Relation rel, bool init)
{
	FPTPageWriter *w = palloc(sizeof(FPTPageWriter));

	w->bulk = smgr_bulk_start_rel(rel, init ? INIT_FORKNUM : MAIN_FORKNUM);
	w->buf = NULL;
	return w;
}

void *
fpt_pagewriter_get(FPTPageWriter *w, uint32 pageno)
{
	CHECK_FOR_INTERRUPTS();
	w->buf = smgr_bulk_get_buf(w->bulk);
	w->block = pageno;
	return w->buf;
}

void
fpt_pagewriter_put(FPTPageWriter *w, void *page)
{
	Assert(page == (void *) w->buf);
	(void) page;
	smgr_bulk_write(w->bulk, w->block, w->buf, true);
	w->buf = NULL;
}

void
fpt_pagewriter_end(FPTPageWriter *w)
{
	smgr_bulk_finish(w->bulk);
}

#endif							/* FPT_HAVE_BULK_WRITE */

/* --- for tests ------------------------------------------------------------ */

#ifdef FPT_STOP_POINTS

void
fpt_record_added(Relation rel, Buffer buf)
{
	RecordFreeIndexPage(rel, BufferGetBlockNumber(buf));
	IndexFreeSpaceMapVacuum(rel);
}

void
fpt_evict_pages(Relation rel)
{
	FlushRelationBuffers(rel);
	fpt_drop_buffers(rel, MAIN_FORKNUM);
}

#endif
