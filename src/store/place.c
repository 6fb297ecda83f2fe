/*-------------------------------------------------------------------------
 *
 * store/place.c
 *	  Where the pages of an index lie: see store/place.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <math.h>

#include "access/xact.h"
#include "access/xlogutils.h"
#include "catalog/storage.h"
#include "catalog/storage_xlog.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "storage/freespace.h"
#include "storage/fsm_internals.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/hsearch.h"
#include "utils/rel.h"
#include "utils/spccache.h"
#include "utils/wait_event.h"

#include "server/stop.h"
#include "store/place.h"

#ifdef FPT_HAVE_BULK_WRITE
#include "storage/bulk_write.h"
#endif

/* --- stripes ------------------------------------------------------------ */

/* Page p is in stripe (p - 2) mod n, at block (p - 2) / n. */
#define FPT_FIRST_STRIPED	(FPT_FIRSTPAGE + 1)

/* Alignment of a page in memory that suits direct I/O */
#define FPT_IO_ALIGN		4096

/* Most pages that scans have under way, whatever the settings are */
#define FPT_MAX_CONCURRENCY	400

/*
 * Pages of the free space map that may turn out to be in use, before a file is
 * extended: other pages are locked meanwhile (L10).  After a crash the map may
 * name any number of them.
 */
#define FPT_MAX_STALE		32

/*
 * Page numbers and places, by the rule above: the stripe of a page, the block
 * where it lies there, and the number of the page at a block.
 */
static inline FPTStripe *
fpt_stripe_of(const FPTPageMap *map, uint32 pageno)
{
	return &map->stripes->at[fpt_page_stripe(map, pageno)];
}

static inline BlockNumber
fpt_stripe_block(const FPTPageMap *map, uint32 pageno)
{
	Assert(fpt_page_is_striped(map, pageno));
	return (pageno - FPT_FIRST_STRIPED) / map->stripes->n;
}

static inline uint32
fpt_stripe_pageno(const FPTPageMap *map, int stripe, BlockNumber block)
{
	Assert(stripe >= 0 && stripe < map->stripes->n);
	return block * map->stripes->n + stripe + FPT_FIRST_STRIPED;
}

/*
 * The open file of a stripe, which is opened if need be.  Asks the storage
 * manager by the file's name, and so reads no catalogues (S4).
 */
static inline SMgrRelation
fpt_stripe_smgr(const FPTStripe *s)
{
	return smgropen(s->locator, FPT_NO_BACKEND);
}

/*
 * Look how large a stripe is: sets its nblocks.  Asks the storage manager, and
 * no catalogue (S4); may raise.
 */
static void
fpt_stripe_size(FPTStripe *s)
{
	s->nblocks = smgrnblocks(fpt_stripe_smgr(s), MAIN_FORKNUM);
}

FPTStripes *
fpt_stripes_copy(const FPTStripes *st)
{
	FPTStripes *copy = palloc(fpt_stripes_size(st->n));

	memcpy(copy, st, fpt_stripes_size(st->n));
	for (int k = 0; k < copy->n; k++)
		copy->at[k].reads = 0;
	return copy;
}

void
fpt_stripes_learn(FPTStripes *to, const FPTStripes *from)
{
	Assert(to->n == from->n);
	for (int k = 0; k < to->n; k++)
		to->at[k].nblocks = from->at[k].nblocks;
}

void
fpt_stripe_place(FPTStripe *s, Relation stripe)
{
	Assert(stripe->rd_rel->relkind == RELKIND_TOASTVALUE);
	s->locator = FPT_LOCATOR(stripe);
	s->nblocks = 0;
	s->reads = 0;
	(void) RelationGetSmgr(stripe);
}

/* Its init fork is written by the build of the index. */
void
fpt_stripe_create_file(const FPTLocator *locator, char persistence)
{
	SMgrRelation smgr = RelationCreateStorage(*locator, persistence, true);

	Assert(persistence != RELPERSISTENCE_TEMP);
	if (persistence == RELPERSISTENCE_UNLOGGED)
	{
		smgrcreate(smgr, INIT_FORKNUM, false);
		log_smgrcreate(locator, INIT_FORKNUM);
		smgrimmedsync(smgr, INIT_FORKNUM);
	}
	smgrclose(smgr);
}

/*
 * A stripe as the free space map, and whoever extends files, want it.  Page
 * locks are held by then, so catalogues must not be read, which may take away
 * the description of the index.  Nothing in it needs to be freed but itself: it
 * must not become the owner of the open file, which outlives it.  Returns it in
 * the current context, for pfree().
 */
static Relation
fpt_stripe_fake(const FPTPageMap *map, const FPTStripe *s)
{
	Relation	rel = CreateFakeRelcacheEntry(s->locator);

	Assert(OidIsValid(s->relid));
	rel->rd_id = s->relid;
	rel->rd_lockInfo.lockRelId.relId = s->relid;
	rel->rd_rel->relkind = RELKIND_INDEX;
	rel->rd_rel->relpersistence = map->stripes->permanent ?
		RELPERSISTENCE_PERMANENT : RELPERSISTENCE_UNLOGGED;
	rel->rd_smgr = fpt_stripe_smgr(s);
	return rel;
}

/*
 * See store/place.h.  Of an index that is not striped it is what core would
 * allow a scan of that tablespace.
 */
int
fpt_io_concurrency(Relation rel, const FPTPageMap *map, bool maintenance)
{
	Oid			spaces[FPT_MAX_STRIPES];
	int			n;
	double		sum = 0;
	double		harmonic = 0;

	if (map->stripes == NULL)
	{
		Oid			tablespace = rel->rd_rel->reltablespace;

		return maintenance ?
			get_tablespace_maintenance_io_concurrency(tablespace) :
			get_tablespace_io_concurrency(tablespace);
	}

	/* The map may be a part of what looking up a tablespace throws away. */
	n = map->stripes->n;
	Assert(n >= FPT_MIN_STRIPES && n <= FPT_MAX_STRIPES);
	for (int k = 0; k < n; k++)
		spaces[k] = map->stripes->at[k].space;

	/*
	 * Requests for n disks fall on some of them twice before they have fallen
	 * on all once: to keep all busy takes 1 + 1/2 + ... + 1/n times as many.
	 * And pages are needed in order: while the disk that has most of them is
	 * waited for, others must not run out of work.  Four times that: with
	 * twice, two disks are idle at times (docs/benchmarks.md, "Stripes").
	 */
	for (int k = 0; k < n; k++)
	{
		sum += maintenance ?
			get_tablespace_maintenance_io_concurrency(spaces[k]) :
			get_tablespace_io_concurrency(spaces[k]);
		harmonic += 1.0 / (k + 1);
	}
	if (!maintenance)
		sum *= 4;
	return (int) rint(Min(sum * harmonic, FPT_MAX_CONCURRENCY));
}

/* --- which pages there are ---------------------------------------------- */

/*
 * map->npages becomes the number of the first page that is missing, for all
 * that is known of the stripes' sizes.
 */
static void
fpt_stripes_note(FPTPageMap *map)
{
	map->npages = FPT_MAX_PAGENO;
	for (int k = 0; k < map->stripes->n; k++)
		map->npages = Min(map->npages,
						  fpt_stripe_pageno(map, k,
											map->stripes->at[k].nblocks));
}

/*
 * Look how large all stripes are, and note it in the map.  The result is one
 * beyond the last page.
 */
static uint32
fpt_npages_striped(FPTPageMap *map)
{
	uint32		end = FPT_FIRST_STRIPED;

	for (int k = 0; k < map->stripes->n; k++)
	{
		FPTStripe  *s = &map->stripes->at[k];

		fpt_stripe_size(s);
		if (s->nblocks > 0)
			end = Max(end, fpt_stripe_pageno(map, k, s->nblocks - 1) + 1);
	}
	fpt_stripes_note(map);
	Assert(end >= map->npages);
	return end;
}

uint32
fpt_npages(Relation rel, FPTPageMap *map)
{
	if (map->stripes != NULL)
		return fpt_npages_striped(map);
	map->npages = RelationGetNumberOfBlocks(rel);
	return map->npages;
}

/*
 * See store/place.h.  What the main fork has is counted as metapage and root.
 */
uint32
fpt_total_pages(Relation rel, FPTPageMap *map)
{
	uint32		n = fpt_npages(rel, map);

	if (map->stripes == NULL)
		return n;
	n = FPT_FIRST_STRIPED;
	for (int k = 0; k < map->stripes->n; k++)
		n += map->stripes->at[k].nblocks;
	return n;
}

/*
 * See store/place.h.  What is known of a stripe's size may be too little, never
 * too much: files of indexes do not shrink.  A map of which nothing is known
 * yet, as that of most scans, learns it of all stripes; after that only the
 * page's own is looked at: who goes through all numbers asks for each that is
 * missing.
 */
bool
fpt_page_exists_now(Relation rel, FPTPageMap *map, uint32 pageno)
{
	FPTStripe  *s;
	BlockNumber block;

	if (!fpt_page_is_striped(map, pageno))
		return pageno < (map->stripes == NULL ? fpt_npages(rel, map) :
						 RelationGetNumberOfBlocks(rel));
	s = fpt_stripe_of(map, pageno);
	block = fpt_stripe_block(map, pageno);
	if (block < s->nblocks)
		return true;
	if (map->npages == 0)
		(void) fpt_npages_striped(map);
	else
	{
		uint32		known = s->nblocks;

		fpt_stripe_size(s);
		if (s->nblocks != known)
			fpt_stripes_note(map);
	}
	return block < s->nblocks;
}

bool
fpt_has_storage(Relation rel)
{
	return smgrexists(RelationGetSmgr(rel), MAIN_FORKNUM);
}

bool
fpt_has_init(Relation rel)
{
	return smgrexists(RelationGetSmgr(rel), INIT_FORKNUM);
}

/* --- reading ------------------------------------------------------------ */

/* What is being done with a stripe, for messages */
typedef struct FPTAccess
{
	Relation	rel;			/* the index */
	const FPTPageMap *map;
	int			stripe;			/* from 0 on; told from 1 on */
	const char *what;			/* a participle: "reading" */
} FPTAccess;

/* Errors of the file system name a path only. */
static void
fpt_stripe_context(void *arg)
{
	FPTAccess  *a = (FPTAccess *) arg;

	Assert(a->stripe >= 0 && a->stripe < a->map->stripes->n);
	errcontext("%s stripe %d of %d of index \"%s\", in tablespace \"%s\"",
			   a->what, a->stripe + 1, a->map->stripes->n,
			   RelationGetRelationName(a->rel),
			   a->map->stripes->at[a->stripe].spacename);
}

int
fpt_errplace(const FPTPageMap *map, uint32 pageno)
{
	if (fpt_page_is_striped(map, pageno))
		errcontext("block %u of stripe %d of %d, in tablespace \"%s\"",
				   fpt_stripe_block(map, pageno),
				   fpt_page_stripe(map, pageno) + 1, map->stripes->n,
				   fpt_stripe_of(map, pageno)->spacename);
	return 0;
}

/* --- reads of stripes ---------------------------------------------------- */

/* How many pages of a stripe this backend has read. */
typedef struct FPTTold
{
	Oid			stripe;			/* key */
	uint64		n;				/* pages, since the backend began */
	uint64		told;			/* of these, the statistics know */
} FPTTold;

static HTAB *fpt_reads = NULL;
static bool fpt_reads_new = false;	/* is there anything to tell? */

/*
 * Add the reads of a stripe since the last time to the statistics.  The index
 * need not be locked any more: the next transaction adds those of an aborted
 * one, while others may drop the stripe.  So it is locked for a moment,
 * AccessShareLock; a stripe that is gone counts as told.  False: somebody is
 * making or dropping it, which is not waited for.  Reads catalogues; may raise.
 */
static bool
fpt_reads_tell(FPTTold *r)
{
	Relation	rel;

	Assert(r->told < r->n);
	if (!ConditionalLockRelationOid(r->stripe, AccessShareLock))
		return false;
	rel = RelationIdGetRelation(r->stripe);
	if (rel != NULL)
	{
		/* Nobody opens stripes in the usual way, which would do that. */
		pgstat_init_relation(rel);
		if (pgstat_should_count_relation(rel))
			FPT_STAT_NUMSCANS(rel->pgstat_info) += r->n - r->told;
		RelationClose(rel);
	}
	UnlockRelationOid(r->stripe, AccessShareLock);
	r->told = r->n;
	return true;
}

/*
 * Before commit: catalogues can be read, and nobody holds a page's lock.  What
 * it reads of catalogues may raise, which aborts the transaction.  Tells the
 * statistics what was read of each stripe since the last time; of a transaction
 * that aborts, or of a stripe that is locked, the next one does.
 */
static void
fpt_reads_xact(XactEvent event, void *arg)
{
	HASH_SEQ_STATUS status;
	FPTTold *r;

	if (!fpt_reads_new || (event != XACT_EVENT_PRE_COMMIT &&
						   event != XACT_EVENT_PARALLEL_PRE_COMMIT))
		return;
	fpt_reads_new = false;
	Assert(fpt_reads != NULL && IsTransactionState());
	hash_seq_init(&status, fpt_reads);
	while ((r = hash_seq_search(&status)) != NULL)
	{
		Assert(r->told <= r->n);
		if (r->told < r->n && !fpt_reads_tell(r))
			fpt_reads_new = true;
	}
}

/*
 * A page was read; page locks may be held, so nothing is done but counting, in
 * a hash table that lives as long as the backend.  Raises an error only for
 * want of memory.
 */
static void
fpt_stripe_count_read(FPTStripe *s)
{
	FPTTold *r;
	bool		found;

	Assert(OidIsValid(s->relid));
	if (fpt_reads == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(FPTTold);
		fpt_reads = hash_create("reads of fptree stripes", 64, &ctl,
								HASH_ELEM | HASH_BLOBS);
		RegisterXactCallback(fpt_reads_xact, NULL);
	}
	r = hash_search(fpt_reads, &s->relid, HASH_ENTER, &found);
	if (!found)
		r->n = r->told = 0;
	r->n++;
	s->reads++;
	fpt_reads_new = true;
}

/*
 * See store/place.h.  What the statistics have, what they have been told and
 * have not yet, and what they have not been told.
 */
int64
fpt_stripe_reads(Oid stripe)
{
	PgStat_StatTabEntry *stats = pgstat_fetch_stat_tabentry(stripe);
	PgStat_TableStatus *pending = find_tabstat_entry(stripe);
	FPTTold *r = fpt_reads == NULL ? NULL :
		hash_search(fpt_reads, &stripe, HASH_FIND, NULL);

	return (stats == NULL ? 0 : stats->numscans) +
		(pending == NULL ? 0 : FPT_STAT_NUMSCANS(pending)) +
		(r == NULL ? 0 : r->n - r->told);
}

/*
 * fpt_rawread() of a page in a stripe.  Errors of the read tell which one.
 * Returns it pinned, not locked.  Whether it was read or found is seen by
 * core's counter of hits.
 */
Buffer
fpt_stripe_read(Relation rel, const FPTPageMap *map, uint32 pageno,
				BufferAccessStrategy strategy)
{
	FPTAccess	access = {rel, map, fpt_page_stripe(map, pageno), "reading"};
	ErrorContextCallback context = {error_context_stack, fpt_stripe_context,
	&access};
	int64		hits = pgBufferUsage.shared_blks_hit;
	Buffer		buf;

	error_context_stack = &context;
	buf = ReadBufferWithoutRelcache(map->stripes->at[access.stripe].locator,
									MAIN_FORKNUM,
									fpt_stripe_block(map, pageno),
									RBM_NORMAL, strategy,
									map->stripes->permanent);
	error_context_stack = context.previous;

	/* The statistics of the index are those of all its files. */
	pgstat_count_buffer_read(rel);
	if (pgBufferUsage.shared_blks_hit != hits)
		pgstat_count_buffer_hit(rel);
	else
		fpt_stripe_count_read(&map->stripes->at[access.stripe]);
	return buf;
}

bool
fpt_stripe_read_recent(const FPTPageMap *map, uint32 pageno, Buffer buf)
{
	Assert(BufferIsValid(buf));
	return ReadRecentBuffer(fpt_stripe_of(map, pageno)->locator, MAIN_FORKNUM,
							fpt_stripe_block(map, pageno), buf);
}

/* See store/place.h.  Shared buffers are looked at first, by core. */
bool
fpt_prefetch_page(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	if (fpt_page_is_striped(map, pageno))
		return PrefetchSharedBuffer(fpt_stripe_smgr(fpt_stripe_of(map, pageno)),
									MAIN_FORKNUM,
									fpt_stripe_block(map, pageno)).initiated_io;
	return PrefetchBuffer(rel, MAIN_FORKNUM, pageno).initiated_io;
}

#ifdef USE_PREFETCH
/*
 * The file of which blocks are asked for where the server can ask for single
 * ones only (up to 16): the segment asked last, which stays open from one
 * request to the next, to the end of the transaction.  It is one of the
 * server's virtual files, of which there can be any number: asking must not
 * fail.
 */
static struct
{
	bool		known;			/* the end of a transaction closes it */
	File		file;			/* < 0: none is open */
	FPTLocator	locator;		/* whose it is */
	BlockNumber seg;			/* which segment, of RELSEG_SIZE blocks */
}			fpt_advised = {.file = -1};

/* Close it, if it is open.  Raises nothing. */
static void
fpt_advise_close(void)
{
	if (fpt_advised.file >= 0)
		FileClose(fpt_advised.file);
	fpt_advised.file = -1;
}

/* The end of a transaction, of any kind: locks that kept the file are gone. */
static void
fpt_advise_xact(XactEvent event, void *arg)
{
	fpt_advise_close();
}

/*
 * Open a segment of the relation's file, in place of the one that is open.
 * Returns false if it cannot be; raises nothing but for want of memory.
 */
static bool
fpt_advise_open(Relation rel, BlockNumber seg)
{
	char	   *path;
	char	   *name;

	if (fpt_advised.file >= 0 && fpt_advised.seg == seg &&
		fpt_locator_equals(&fpt_advised.locator, &FPT_LOCATOR(rel)))
		return true;
	if (!fpt_advised.known)
		RegisterXactCallback(fpt_advise_xact, NULL);
	fpt_advised.known = true;
	fpt_advise_close();
	path = fpt_file_path(rel, MAIN_FORKNUM);
	name = seg > 0 ? psprintf("%s.%u", path, seg) : path;
	fpt_advised.file = PathNameOpenFile(name, O_RDONLY | PG_BINARY);
	fpt_advised.locator = FPT_LOCATOR(rel);
	fpt_advised.seg = seg;
	if (name != path)
		pfree(name);
	pfree(path);
	return fpt_advised.file >= 0;
}
#endif

/*
 * Have the operating system read n neighbouring blocks in one piece, though the
 * server does not: for it each would be a read of its own.  The request goes to
 * the file itself, which stays where it is as long as the relation is locked.
 * Cut where segments of the file end.  Raises nothing but for want of memory.
 */
static void
fpt_advise_blocks(Relation rel, BlockNumber blk, int n)
{
	Assert(n > 0 && blk < MaxBlockNumber);
#ifdef USE_PREFETCH
	while (n > 0)
	{
		BlockNumber seg = blk / RELSEG_SIZE;
		BlockNumber off = blk % RELSEG_SIZE;
		int			here = Min(n, (int) (RELSEG_SIZE - off));

		if (fpt_advise_open(rel, seg))
			(void) FilePrefetch(fpt_advised.file, (off_t) off * BLCKSZ,
								here * BLCKSZ, WAIT_EVENT_DATA_FILE_PREFETCH);
		blk += here;
		n -= here;
	}
#endif
}

bool
fpt_can_prefetch_pages(void)
{
	return fpt_can_prefetch();
}

bool
fpt_can_prefetch_range(Relation rel)
{
	return !RelationUsesLocalBuffers(rel) && fpt_can_prefetch();
}

void
fpt_prefetch_range(Relation rel, BlockNumber first, int n)
{
	if (!fpt_prefetch_blocks(rel, MAIN_FORKNUM, first, n))
		fpt_advise_blocks(rel, first, n);
}

void
fpt_prefetch_pages(Relation rel, const FPTPageMap *map, uint32 first,
				   uint32 last)
{
	Assert(first <= last);
	if (map->stripes != NULL)
	{
		/* They lie in different files; nobody asks for many. */
		for (uint32 pageno = first; pageno <= last; pageno++)
			fpt_prefetch_page(rel, map, pageno);
		return;
	}
	fpt_prefetch_range(rel, first, last - first + 1);
}

/*
 * See store/place.h.  Local buffers are not looked at.  What core has for this
 * pins the page, or starts a read: so the mapping is asked directly.
 */
Buffer
fpt_block_buffer(Relation rel, BlockNumber blk)
{
	BufferTag	tag;
	uint32		hash;
	LWLock	   *lock;
	int			id;

	if (RelationUsesLocalBuffers(rel))
		return InvalidBuffer;
	fpt_buffer_tag(&tag, rel, MAIN_FORKNUM, blk);
	hash = BufTableHashCode(&tag);
	lock = BufMappingPartitionLock(hash);
	LWLockAcquire(lock, LW_SHARED);
	id = BufTableLookup(&tag, hash);
	LWLockRelease(lock);
	return id >= 0 ? id + 1 : InvalidBuffer;
}

/* See store/place.h. */
bool
fpt_block_pin(Relation rel, BlockNumber blk, Buffer buf)
{
	Assert(!BufferIsLocal(buf) && !RelationUsesLocalBuffers(rel));
	if (!ReadRecentBuffer(FPT_LOCATOR(rel), MAIN_FORKNUM, blk, buf))
		return false;
	Assert(BufferGetBlockNumber(buf) == blk);
	fpt_buffer_used(buf);
	fpt_count_hit(rel);
	return true;
}

/*
 * See store/place.h.  The made-up relation only has the name that is looked up.
 */
bool
fpt_page_buffered(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	Relation	fake;
	bool		is;

	if (!fpt_page_is_striped(map, pageno))
		return fpt_block_buffered(rel, pageno);
	fake = fpt_stripe_fake(map, fpt_stripe_of(map, pageno));
	is = fpt_block_buffered(fake, fpt_stripe_block(map, pageno));
	pfree(fake);
	return is;
}

/*
 * See store/place.h.  Past shared buffers: what is there may be newer, but
 * nobody looks at what is read here.
 */
void
fpt_await_page(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	PGIOAlignedBlock ignored;

	if (fpt_page_is_striped(map, pageno))
		smgrread(fpt_stripe_smgr(fpt_stripe_of(map, pageno)), MAIN_FORKNUM,
				 fpt_stripe_block(map, pageno), ignored.data);
	else
		smgrread(RelationGetSmgr(rel), MAIN_FORKNUM, pageno, ignored.data);
}

/*
 * Can the metapage of a file, which is there, be read, as far as the operating
 * system is asked?  False: no, and a message says why.  An error of reading
 * leaves nothing open or locked behind, so that it need not end the
 * transaction, and there need not be a subtransaction, nor may there be one.
 */
static bool
fpt_meta_reads(SMgrRelation smgr, const char *name, int elevel)
{
	MemoryContext cxt = CurrentMemoryContext;
	PGIOAlignedBlock ignored;
	volatile bool reads = true;

	PG_TRY();
	{
		smgrread(smgr, MAIN_FORKNUM, FPT_METAPAGE, ignored.data);
	}
	PG_CATCH();
	{
		ErrorData  *e;

		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		if (ERRCODE_TO_CATEGORY(e->sqlerrcode) != ERRCODE_SYSTEM_ERROR &&
			e->sqlerrcode != ERRCODE_DATA_CORRUPTED)
			PG_RE_THROW();
		FlushErrorState();
		reads = false;
		ereport(elevel,
				(errcode(e->sqlerrcode),
				 errmsg("cannot read the metapage of index \"%s\"", name),
				 errdetail("%s.", e->message)));
		FreeErrorData(e);
	}
	PG_END_TRY();
	return reads;
}

/*
 * See store/place.h.  A buffer may be all that an attempt to read the page has
 * left: only if the page is in it, it need not be read.
 */
bool
fpt_meta_readable(Relation rel, int elevel)
{
	Buffer		buf = fpt_block_buffer(rel, FPT_METAPAGE);

	if (BufferIsValid(buf) &&
		ReadRecentBuffer(FPT_LOCATOR(rel), MAIN_FORKNUM, FPT_METAPAGE, buf))
	{
		ReleaseBuffer(buf);
		return true;
	}
	return fpt_meta_reads(RelationGetSmgr(rel), RelationGetRelationName(rel),
						  elevel);
}

/* See store/place.h.  Nobody changes the file any more. */
bool
fpt_copy_old_meta(Relation rel, FPTLocator file, bool logged, char *copy)
{
	SMgrRelation smgr = smgropen(file, FPT_NO_BACKEND);
	Buffer		buf;

	if (!smgrexists(smgr, MAIN_FORKNUM) ||
		smgrnblocks(smgr, MAIN_FORKNUM) <= FPT_METAPAGE ||
		!fpt_meta_reads(smgr, RelationGetRelationName(rel), WARNING))
		return false;
	buf = ReadBufferWithoutRelcache(file, MAIN_FORKNUM, FPT_METAPAGE,
									RBM_ZERO_ON_ERROR, NULL, logged);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	return true;
}

/* --- allocation --------------------------------------------------------- */

/*
 * Lock a page that the free space map names, which is a hint: somebody may use
 * the page already.  Not waiting for its lock keeps us out of deadlocks (L4).
 * Returns it, locked exclusively; InvalidBuffer, with no lock or pin, if it is
 * not to be had.
 */
static Buffer
fpt_lock_free(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	Buffer		buf = fpt_rawread(rel, map, pageno, NULL);

	if (ConditionalLockBuffer(buf))
	{
		if (fpt_page_recyclable(BufferGetPage(buf)))
			return buf;
		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	}
	ReleaseBuffer(buf);
	return InvalidBuffer;
}

/*
 * A free page of this stripe (-1: the index is not striped), or InvalidBuffer;
 * *pageno: its number.  As fpt_allocbuf(), which see.  Waits for no page's lock
 * (L4), and keeps none but that of the result.  The map may name pages beyond
 * the end, after a crash: the size is looked up then.  Looks at FPT_MAX_STALE
 * pages at most (L10).  Metapage and root are never given out, whatever a
 * damaged map says.
 */
static Buffer
fpt_reuse_page(Relation rel, FPTPageMap *map, int stripe, uint32 *pageno)
{
	Relation	file = stripe < 0 ? rel :
		fpt_stripe_fake(map, &map->stripes->at[stripe]);
	Buffer		buf = InvalidBuffer;

	for (int tries = 0; !BufferIsValid(buf) && tries < FPT_MAX_STALE; tries++)
	{
		BlockNumber block = GetFreeIndexPage(file);

		if (block == InvalidBlockNumber)
			break;
		fpt_stop_point(FPT_STOP_ALLOC_PAGE);
		*pageno = stripe < 0 ? block : fpt_stripe_pageno(map, stripe, block);
		if (*pageno > FPT_FIRSTPAGE && fpt_page_exists(rel, map, *pageno))
			buf = fpt_lock_free(rel, map, *pageno);
	}
	if (file != rel)
		pfree(file);
	Assert(!BufferIsValid(buf) || fpt_buffer_locked(buf, true));
	return buf;
}

/*
 * Extend a file by one page, which is returned locked exclusively and zeroed.
 * It may be that the lock of the file's extension is taken and released (15),
 * with page locks held: whoever has it waits for no page.  Raises an error if
 * the file cannot be extended.
 */
static Buffer
fpt_extend_file(Relation rel)
{
	bool		needlock = !RELATION_IS_LOCAL(rel);
	Buffer		buf = fpt_core_extend(rel, MAIN_FORKNUM);

	while (!BufferIsValid(buf))
	{
		bool		locked;

		if (needlock)
			LockRelationForExtension(rel, ExclusiveLock);
		buf = ReadBufferExtended(rel, MAIN_FORKNUM, P_NEW, RBM_NORMAL, NULL);
		fpt_stop_extending(rel, buf);

		/*
		 * A stale free space map may have led somebody here before us, who
		 * may be waiting for the extension lock to get another page: no
		 * waiting for him.
		 */
		locked = ConditionalLockBuffer(buf);
		if (needlock)
			UnlockRelationForExtension(rel, ExclusiveLock);
		if (locked && PageIsNew(BufferGetPage(buf)))
			break;
		if (locked)
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
		ReleaseBuffer(buf);
		buf = InvalidBuffer;
	}
	Assert(fpt_buffer_locked(buf, true) && PageIsNew(BufferGetPage(buf)));
	return buf;
}

/*
 * A new page at the end of this stripe.  Returns it locked exclusively, and
 * zeroed; *pageno: its number.  Raises an error if the index has too many, or
 * the disk is full.
 */
static Buffer
fpt_stripe_extend(Relation rel, FPTPageMap *map, int stripe, uint32 *pageno)
{
	FPTStripe  *s = &map->stripes->at[stripe];
	Relation	fake = fpt_stripe_fake(map, s);
	FPTAccess	access = {rel, map, stripe, "extending"};
	ErrorContextCallback context = {error_context_stack, fpt_stripe_context,
	&access};
	Buffer		buf;
	BlockNumber block;

	error_context_stack = &context;
	buf = fpt_extend_file(fake);
	error_context_stack = context.previous;
	block = BufferGetBlockNumber(buf);
	pfree(fake);
	pgstat_count_buffer_read(rel);
	if (block >= (FPT_MAX_PAGENO - stripe) / map->stripes->n - 1)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index \"%s\" has too many pages",
						RelationGetRelationName(rel))));
	s->nblocks = Max(s->nblocks, block + 1);
	*pageno = fpt_stripe_pageno(map, stripe, block);
	return buf;
}

/*
 * See store/place.h.  Of what the free space map names, FPT_MAX_STALE pages
 * that are not free are passed over, then the file is extended (L10).
 *
 * In stripes, free pages are used only where a new one would be as far from its
 * neighbours as is promised of all: no two of ceil(n/2) on one disk.
 */
Buffer
fpt_allocbuf(Relation rel, FPTPageMap *map, const FPTStripeOrder *order,
			 uint32 *pageno)
{
	Buffer		buf;

	Assert(CritSectionCount == 0);
	if (map->stripes == NULL)
	{
		buf = fpt_reuse_page(rel, map, -1, pageno);
		if (BufferIsValid(buf))
			return buf;
		buf = fpt_extend_file(rel);
		*pageno = BufferGetBlockNumber(buf);
		return buf;
	}
	Assert(order != NULL);
	Assert(order->good > 0 && order->good <= map->stripes->n);
	for (int i = 0; i < order->good; i++)
	{
		buf = fpt_reuse_page(rel, map, order->stripe[i], pageno);
		if (BufferIsValid(buf))
			return buf;
	}
	return fpt_stripe_extend(rel, map, order->stripe[0], pageno);
}

/*
 * Number of blocks of a free space map that has a slot for this block of the
 * main fork: of each level all pages up to the one that leads there.
 */
static BlockNumber
fpt_map_blocks(BlockNumber block)
{
	const BlockNumber slots = SlotsPerFSMPage;
	const int	levels = slots >= 1626 ? 3 : 4; /* as in freespace.c */
	BlockNumber n = 0;

	for (int level = 0; level < levels; level++)
	{
		block /= slots;
		n += block + 1;
	}
	return n;
}

/*
 * Extends the free space map to this many blocks of zeroes, which are empty
 * pages of it.  The caller must hold the lock for extension.  Raises an error
 * if the file cannot be made or extended; then nothing is locked or pinned
 * that was not before.
 */
static void
fpt_map_extend(SMgrRelation smgr, BlockNumber blocks, char *zeroes)
{
	if (!smgrexists(smgr, FSM_FORKNUM))
		smgrcreate(smgr, FSM_FORKNUM, false);
	for (BlockNumber n = smgrnblocks(smgr, FSM_FORKNUM); n < blocks; n++)
	{
		CHECK_FOR_INTERRUPTS();
		smgrextend(smgr, FSM_FORKNUM, n, zeroes, false);
	}
}

/*
 * Makes the free space map long enough for this block of the main fork, as
 * core would when the block is put into it.  Returns false if the disk is
 * full: core would raise an error, and VACUUM, which alone can make space in
 * the index, would fail at the first page that it frees.  That error is caught
 * without a subtransaction, which parallel workers may not have: it leaves
 * nothing to clean up (fpt_map_extend).  Pages may be locked.
 * Waits for the lock for extension, which it takes if this process does not
 * know the map to be long enough.  Raises any other error.
 */
static bool
fpt_map_reaches(Relation rel, BlockNumber block)
{
	SMgrRelation smgr = RelationGetSmgr(rel);
	BlockNumber blocks = fpt_map_blocks(block);
	BlockNumber known = smgr->smgr_cached_nblocks[FSM_FORKNUM];
	MemoryContext context = CurrentMemoryContext;
	uint32		holdoff = InterruptHoldoffCount;
	uint32		cancel = QueryCancelHoldoffCount;
	volatile bool full = false;
	char	   *raw;

	if (known != InvalidBlockNumber && known >= blocks)
		return true;
	raw = palloc0(BLCKSZ + FPT_IO_ALIGN);
	LockRelationForExtension(rel, ExclusiveLock);
	PG_TRY();
	{
		fpt_map_extend(smgr, blocks,
					   (char *) TYPEALIGN(FPT_IO_ALIGN, raw));
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_DISK_FULL)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		/* an error forgets the locks of pages that forbid interrupts */
		InterruptHoldoffCount = holdoff;
		QueryCancelHoldoffCount = cancel;
		full = true;
	}
	PG_END_TRY();
	UnlockRelationForExtension(rel, ExclusiveLock);
	pfree(raw);
	return !full;
}

/* See store/place.h. */
bool
fpt_prepare_free(Relation rel, const FPTPageMap *map, uint32 npages)
{
	int			n = Max(fpt_nstripes(map), 1);
	BlockNumber last = npages / n;
	bool		reaches = true;

	Assert(InterruptHoldoffCount == 0); /* no page is locked */
	if (last / SlotsPerFSMPage == 0)
		return true;
	if (map->stripes == NULL)
		return fpt_map_reaches(rel, last);
	for (int k = 0; k < n; k++)
	{
		Relation	fake = fpt_stripe_fake(map, &map->stripes->at[k]);

		reaches &= fpt_map_reaches(fake, last);
		pfree(fake);
	}
	return reaches;
}

/*
 * See store/place.h.  A stripe's map is found by way of the relation that is
 * made up for it (S4): pages may be locked.
 */
bool
fpt_record_free(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	bool		striped = fpt_page_is_striped(map, pageno);
	BlockNumber block = striped ? fpt_stripe_block(map, pageno) : pageno;
	Relation	file = rel;
	bool		recorded;

	if (striped)
		file = fpt_stripe_fake(map, fpt_stripe_of(map, pageno));
	recorded = fpt_map_reaches(file, block);
	if (recorded)
		RecordFreeIndexPage(file, block);
	if (striped)
		pfree(file);
	return recorded;
}

/* See store/place.h.  Of the map's lowest pages, which are up to date. */
bool
fpt_recorded_free(Relation rel, const FPTPageMap *map, uint32 pageno)
{
	Relation	fake;
	bool		is;

	if (!fpt_page_is_striped(map, pageno))
		return GetRecordedFreeSpace(rel, pageno) > 0;
	fake = fpt_stripe_fake(map, fpt_stripe_of(map, pageno));
	is = GetRecordedFreeSpace(fake, fpt_stripe_block(map, pageno)) > 0;
	pfree(fake);
	return is;
}

/* See store/place.h.  Each stripe has a map of its own. */
void
fpt_publish_free(Relation rel, const FPTPageMap *map)
{
	if (map->stripes == NULL)
		IndexFreeSpaceMapVacuum(rel);
	for (int k = 0; k < fpt_nstripes(map); k++)
	{
		Relation	fake = fpt_stripe_fake(map, &map->stripes->at[k]);

		IndexFreeSpaceMapVacuum(fake);
		pfree(fake);
	}
}

/* --- builds ------------------------------------------------------------- */

#ifndef FPT_HAVE_BULK_WRITE

/* Pages of a batch: what a WAL record can hold. */
#define FPT_BATCH			32

/*
 * Writes one file.  Pages are collected in a batch, logged in one record, and
 * written in the order of their blocks.
 */
typedef struct FPTFileWriter
{
	Relation	rel;			/* the index, or a stripe */
	ForkNumber	fork;			/* main, or init */
	bool		use_wal;		/* log images of all pages */
	BlockNumber nblocks;		/* blocks the file has */
	int			n;				/* pages waiting in the batch */
	BlockNumber blocks[FPT_BATCH];
	char	   *pages[FPT_BATCH];	/* the first n in use, others free */
	char	   *zeroes;			/* a page that was never asked for */
} FPTFileWriter;

/* Memory for a page, zeroed and aligned, in the current context. */
static char *
fpt_io_page(void)
{
	char	   *p = palloc0(BLCKSZ + FPT_IO_ALIGN);

	return (char *) TYPEALIGN(FPT_IO_ALIGN, p);
}

/* A writer of a new file, in the current context; index: whose file it is. */
static FPTFileWriter *
fpt_filewriter_begin(Relation rel, Relation index, bool init)
{
	FPTFileWriter *w = palloc(sizeof(FPTFileWriter));

	w->rel = rel;
	w->fork = init ? INIT_FORKNUM : MAIN_FORKNUM;

	/*
	 * The init fork of an unlogged index is logged even at wal_level minimal:
	 * it is copied at the end of recovery.
	 */
	w->use_wal = RelationNeedsWAL(index) || init;
	w->nblocks = 0;
	w->n = 0;
	for (int i = 0; i < FPT_BATCH; i++)
		w->pages[i] = fpt_io_page();
	w->zeroes = fpt_io_page();
	return w;
}

/* Sort the batch by block number; it nearly is in that order already. */
static void
fpt_filewriter_sort(FPTFileWriter *w)
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

/*
 * Write the pages that were collected, in the order of their blocks; blocks in
 * between that were never asked for are zeroes.  May be cancelled; raises an
 * error if the file cannot be written.
 */
static void
fpt_filewriter_flush(FPTFileWriter *w)
{
	SMgrRelation smgr;

	CHECK_FOR_INTERRUPTS();
	if (w->n == 0)
		return;
	fpt_filewriter_sort(w);
	if (w->use_wal)
		fpt_log_newpages(w->rel, w->fork, w->n, w->blocks, w->pages);
	/* Nothing below closes the file, so one look at it is enough. */
	smgr = RelationGetSmgr(w->rel);
	for (int i = 0; i < w->n; i++)
	{
		BlockNumber block = w->blocks[i];

		Assert(i == 0 || w->blocks[i - 1] < block);	/* each page once */
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

/*
 * Memory for a block of the file; writes what was collected where there is no
 * room for another page.
 */
static void *
fpt_filewriter_get(FPTFileWriter *w, BlockNumber block)
{
	if (w->n >= FPT_BATCH)
		fpt_filewriter_flush(w);
	w->blocks[w->n] = block;
	return w->pages[w->n];
}

/* That page is filled: it is written with the next flush. */
static void
fpt_filewriter_put(FPTFileWriter *w, void *page)
{
	Assert(page == w->pages[w->n]);
	w->n++;
}

/* Write what is left, and make the file durable if nobody else will. */
static void
fpt_filewriter_end(FPTFileWriter *w)
{
	fpt_filewriter_flush(w);

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

/* Writes one file. */
typedef struct FPTFileWriter
{
	BulkWriteState *bulk;
	BulkWriteBuffer buf;
	BlockNumber block;			/* where it goes */
} FPTFileWriter;

/* The same; core's writer knows by itself whether the file is logged. */
static FPTFileWriter *
fpt_filewriter_begin(Relation rel, Relation index, bool init)
{
	FPTFileWriter *w = palloc(sizeof(FPTFileWriter));

	w->bulk = smgr_bulk_start_rel(rel, init ? INIT_FORKNUM : MAIN_FORKNUM);
	w->buf = NULL;
	return w;
}

/* Core's writer collects pages, in any order, as ours does before 17. */
static void *
fpt_filewriter_get(FPTFileWriter *w, BlockNumber block)
{
	CHECK_FOR_INTERRUPTS();
	w->buf = smgr_bulk_get_buf(w->bulk);
	w->block = block;
	return w->buf;
}

static void
fpt_filewriter_put(FPTFileWriter *w, void *page)
{
	Assert(page == (void *) w->buf);
	smgr_bulk_write(w->bulk, w->block, w->buf, true);
	w->buf = NULL;
}

/* Write what is left, and make the file durable if nobody else will. */
static void
fpt_filewriter_end(FPTFileWriter *w)
{
	smgr_bulk_finish(w->bulk);
}

#endif							/* FPT_HAVE_BULK_WRITE */

/*
 * Writes a new index: its main fork, and its stripes.  One page is in work at a
 * time.  All of it is in the context of fpt_pagewriter_begin().
 */
struct FPTPageWriter
{
	const FPTPageMap *map;		/* the caller's */
	uint32		npages;			/* asked for so far */
	bool		init;			/* write init forks */
	FPTFileWriter *cur;			/* of the page in work */
	FPTFileWriter *main;
	FPTFileWriter *stripes[FPT_MAX_STRIPES];
	Relation	rels[FPT_MAX_STRIPES];	/* the stripes, open to the end */
};

/* See store/place.h.  Raises an error if a stripe is gone. */
FPTPageWriter *
fpt_pagewriter_begin(Relation rel, const FPTPageMap *map, bool init)
{
	FPTPageWriter *w = palloc0(sizeof(FPTPageWriter));

	w->map = map;
	w->init = init;
	w->main = fpt_filewriter_begin(rel, rel, init);
	for (int k = 0; k < fpt_nstripes(map); k++)
	{
		w->rels[k] = RelationIdGetRelation(map->stripes->at[k].relid);
		if (w->rels[k] == NULL)
			elog(ERROR, "stripe %d of index \"%s\" is gone", k + 1,
				 RelationGetRelationName(rel));
		/* What decides for the index decides for its stripes. */
		Assert(RelationNeedsWAL(rel) || !RelationNeedsWAL(w->rels[k]));
		w->stripes[k] = fpt_filewriter_begin(w->rels[k], rel, init);
	}
	return w;
}

void *
fpt_pagewriter_get(FPTPageWriter *w, uint32 pageno)
{
	bool		striped = fpt_page_is_striped(w->map, pageno);

	Assert(pageno < FPT_MAX_PAGENO);
	w->npages++;
	w->cur = striped ? w->stripes[fpt_page_stripe(w->map, pageno)] : w->main;
	return fpt_filewriter_get(w->cur, striped ?
							  fpt_stripe_block(w->map, pageno) : pageno);
}

void
fpt_pagewriter_put(FPTPageWriter *w, void *page)
{
	Assert(w->cur != NULL);
	fpt_filewriter_put(w->cur, page);
}

/*
 * The main fork last: without a metapage there is no index.  Each file is
 * durable then, or will be at commit.
 */
void
fpt_pagewriter_end(FPTPageWriter *w)
{
	Assert(w->npages > FPT_FIRSTPAGE);	/* metapage and root */
	for (int k = 0; k < fpt_nstripes(w->map); k++)
	{
		fpt_filewriter_end(w->stripes[k]);
		RelationClose(w->rels[k]);
	}
	if (w->map->stripes != NULL && !w->init && w->npages >= FPT_MAIN_PADDING)
	{
		void	   *page = fpt_filewriter_get(w->main, FPT_MAIN_PADDING - 1);

		memset(page, 0, BLCKSZ);
		fpt_filewriter_put(w->main, page);
	}
	fpt_filewriter_end(w->main);
}

/* --- other indexes ------------------------------------------------------ */

uint32
fpt_other_blocks(Relation rel)
{
	return RelationGetNumberOfBlocks(rel);
}

void
fpt_copy_other(Relation rel, uint32 block, BufferAccessStrategy strategy,
			   char *copy)
{
	Buffer		buf = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL,
										 strategy);

	LockBuffer(buf, BUFFER_LOCK_SHARE);
	memcpy(copy, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
}

/* --- sizes -------------------------------------------------------------- */

int64
fpt_relation_bytes(Relation rel)
{
	SMgrRelation smgr = RelationGetSmgr(rel);
	int64		blocks = 0;

	for (ForkNumber fork = MAIN_FORKNUM; fork <= MAX_FORKNUM; fork++)
		if (smgrexists(smgr, fork))
			blocks += smgrnblocks(smgr, fork);
	return blocks * BLCKSZ;
}

bool
fpt_stripe_measure(Relation stripe, FPTStripeSize *size)
{
	if (!fpt_has_storage(stripe))
		return false;
	size->pages = RelationGetNumberOfBlocks(stripe);
	size->free_pages = 0;
	for (BlockNumber block = 0; block < size->pages; block++)
	{
		CHECK_FOR_INTERRUPTS();
		if (GetRecordedFreeSpace(stripe, block) > 0)
			size->free_pages++;
	}
	return true;
}

/* --- for tests ---------------------------------------------------------- */

#ifdef FPT_STOP_POINTS

void
fpt_evict_pages(Relation rel, const FPTPageMap *map)
{
	FlushRelationBuffers(rel);
	fpt_drop_buffers(rel, MAIN_FORKNUM);
	for (int k = 0; k < fpt_nstripes(map); k++)
	{
		Relation	stripe = RelationIdGetRelation(map->stripes->at[k].relid);

		FlushRelationBuffers(stripe);
		fpt_drop_buffers(stripe, MAIN_FORKNUM);
		RelationClose(stripe);
	}
}

#endif
