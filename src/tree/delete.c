/*-------------------------------------------------------------------------
 *
 * tree/delete.c
 *	  Removal of entries from a leaf: VACUUM's, and that of insertions, which
 *	  look for entries of dead rows before they split a leaf.
 *
 * An insertion tries two things, one after the other.  First, if there are
 * hints at dead entries, it removes those, together with what the table finds
 * dead on the same heap pages.  Then, if the entry to be inserted is likely to
 * be a new version of a row that is in the leaf already, it asks about the heap
 * pages that most entries with equal keys lead to ("bottom-up deletion").
 *
 * Everything happens under the exclusive lock that the insertion has on the
 * leaf.  No cleanup lock is needed, see src/README.md, "Pin rules".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "storage/bufmgr.h"

#include "build/radix.h"
#include "key/tid.h"
#include "page/copy.h"
#include "page/format.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/remove.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/place.h"
#include "store/wal.h"
#include "tree/delete.h"
#include "tree/search.h"

/* Of a page, as is looked for. */
#define FPT_ENOUGH_SHARE	8

/* Of a page, as must be freed so as not to split it all the same. */
#define FPT_SPLIT_SHARE		48

/* Heap pages that are looked at; if that many have nothing, it is given up. */
#define FPT_LAST_BLOCKS		32
#define FPT_VAIN_BLOCKS		8

/* Stages of an insertion's search for dead entries. */
#define FPT_DELETE_KILLED	0
#define FPT_DELETE_BOTTOM_UP	1
#define FPT_DELETE_DONE		2

/* A locked leaf, and what the table is asked about its entries. */
typedef struct FPTLeafDelete
{
	Relation	rel;
	Relation	heapRel;
	const FPTLayout *l;
	Buffer		buf;
	int			n;				/* entries of the leaf */
	uint64	   *tids;			/* in key order, as what follows */
	uint16	   *slotids;		/* as in FPTRun */
	bool	   *wanted;			/* hinted, or promising */
	bool	   *dead;			/* to be removed */
	uint64	   *order;			/* some in heap order, see fpt_order_tid() */
	int			norder;
	int		   *asked;			/* which of them the n'th question is about */
	int			ndead;
	int			freed;			/* bytes, as told by the questions */
	TransactionId horizon;		/* the youngest that made one of them dead */
	TM_IndexDeleteOp op;
} FPTLeafDelete;

/*
 * To sort entries by their TIDs: the TID, and in the lower bits, which it
 * leaves free, the entry's position in key order.
 */
#define FPT_ORDER_BITS		16

StaticAssertDecl(FPT_MAX_ENTRIES <= 1 << FPT_ORDER_BITS,
				 "an entry's position must fit beside its TID");

static inline uint64
fpt_order_tid(const FPTLeafDelete *d, int i)
{
	Assert(i >= 0 && i < d->norder);
	return d->order[i] >> FPT_ORDER_BITS;
}

static inline uint64
fpt_order_block(const FPTLeafDelete *d, int i)
{
	return fpt_order_tid(d, i) >> 16;
}

static inline int
fpt_order_pos(const FPTLeafDelete *d, int i)
{
	Assert(i >= 0 && i < d->norder);
	return (int) (d->order[i] & ((1 << FPT_ORDER_BITS) - 1));
}

/*
 * See tree/delete.h.  A page whose image will be logged is packed, which makes
 * the image shorter; work memory is allocated only if that pays.
 */
void
fpt_leaf_remove(Relation rel, const FPTLayout *l, Buffer buf,
				const uint64 gone[FPT_MAX_NODES])
{
	FPTWal	   *wal = fpt_wal_start(rel, l);
	Page		page = fpt_wal_page(wal, buf, false);
	FPTChanges  *changed = palloc(sizeof(FPTChanges));

	Assert(fpt_buffer_locked(buf, true));
	Assert(fpt_header(BufferGetPage(buf))->level == 0);
	Assert(fpt_header(page)->nkids > 0);
	if (fpt_page_take(l, page, gone, changed) != FPT_OK)
		fpt_corrupt_page(rel, l, BufferGetPage(buf), fpt_bufpage(buf));
	if (!fpt_wal_image_due(rel, buf))
		fpt_wal_changed(wal, buf, changed);
	else if (fpt_page_pack(l, page, NULL) == FPT_NO_WORK)
	{
		FPTWork    *work = palloc(sizeof(FPTWork));
		FPTResult	res = fpt_page_pack(l, page, work);

		pfree(work);
		if (res == FPT_CORRUPT)
			fpt_corrupt_page(rel, l, BufferGetPage(buf), fpt_bufpage(buf));
	}
	fpt_wal_finish(wal);
	pfree(changed);
}

/*
 * Are there hints in the leaf, which is locked exclusively?  Mostly there are
 * not even bits.  Raises nothing: a leaf that cannot be read may be said to
 * have some, and fpt_leaf_delete_begin() says what is wrong.
 */
static bool
fpt_leaf_hinted(const FPTLayout *l, Page page)
{
	FPTRun		run = {0};
	int			first;
	int			end;

	if (!fpt_page_has_hints(l, page))
		return false;
	fpt_page_hint_area(l, page, &first, &end);
	while (first < end && ((char *) page)[first] == 0)
		first++;
	return first < end &&
		fpt_page_copy_all(l, page, true, &run) <
		fpt_page_count(l, page);
}

/*
 * Read the leaf's TIDs.  Needs its exclusive lock, until the end; raises an
 * error if they cannot be read.  The arrays are in the current context, for
 * fpt_leaf_delete_end() to free.
 */
static void
fpt_leaf_delete_begin(FPTLeafDelete *d, Relation rel, Relation heapRel,
					  const FPTLayout *l, Buffer buf)
{
	Page		page = BufferGetPage(buf);
	FPTRun		run = {0};

	Assert(fpt_header(page)->level == 0);
	Assert(fpt_buffer_locked(buf, true));
	d->rel = rel;
	d->heapRel = heapRel;
	d->l = l;
	d->buf = buf;
	d->tids = run.tids = palloc(sizeof(uint64) * FPT_MAX_ENTRIES);
	d->slotids = run.slotids = palloc(sizeof(uint16) * FPT_MAX_ENTRIES);
	d->n = fpt_page_copy_all(l, page, false, &run);
	if (d->n < 0)
		fpt_corrupt_page(rel, l, page, fpt_bufpage(buf));
	d->wanted = palloc0(sizeof(bool) * (d->n + 1));
	d->dead = palloc0(sizeof(bool) * (d->n + 1));
	d->order = palloc(sizeof(uint64) * (d->n + 1));
	d->asked = palloc(sizeof(int) * (d->n + 1));
	d->norder = 0;
	d->ndead = 0;
	d->freed = 0;
	d->horizon = InvalidTransactionId;
	d->op.irel = rel;
	d->op.iblknum = fpt_bufpage(buf);
	d->op.bottomup = false;
	d->op.bottomupfreespace = 0;
	d->op.ndeltids = 0;
	d->op.deltids = palloc(sizeof(TM_IndexDelete) * (d->n + 1));
	d->op.status = palloc(sizeof(TM_IndexStatus) * (d->n + 1));
}

static void
fpt_leaf_delete_end(FPTLeafDelete *d)
{
	pfree(d->tids);
	pfree(d->slotids);
	pfree(d->wanted);
	pfree(d->dead);
	pfree(d->order);
	pfree(d->asked);
	pfree(d->op.deltids);
	pfree(d->op.status);
}

/*
 * Entries with hints are wanted.  Nobody sets hints now: the leaf is locked
 * exclusively.  Raises nothing, as its entries have been read once.
 */
static void
fpt_want_hinted(FPTLeafDelete *d)
{
	Page		page = BufferGetPage(d->buf);
	FPTRun		run = {0};
	uint16	   *live = palloc(sizeof(uint16) * FPT_MAX_ENTRIES);
	int			nlive;
	int			j = 0;

	run.slotids = live;
	nlive = fpt_page_copy_all(d->l, page, true, &run);
	Assert(nlive >= 0 && nlive <= d->n);
	for (int i = 0; i < d->n; i++)
	{
		if (j < nlive && live[j] == d->slotids[i])
			j++;
		else
			d->wanted[i] = true;
	}
	Assert(j == nlive);			/* the same entries, in the same order */
	pfree(live);
}

/* Bits that tell which heap pages may have wanted entries. */
#define FPT_BLOCK_BITS		12

static inline uint32
fpt_block_bit(uint64 block)
{
	return ((uint32) block * 2654435761U) >> (32 - FPT_BLOCK_BITS);
}

/*
 * Put entries of heap pages with wanted ones, and of one more page, in heap
 * order; a few others may be among them.  Sets d's order and norder, from its
 * tids and wanted.  Raises an error if two entries of the leaf have the same
 * TID, which the table would take for one.
 */
static void
fpt_leaf_order(FPTLeafDelete *d, uint64 more)
{
	uint64		bits[(1 << FPT_BLOCK_BITS) / 64] = {0};
	uint32		bit = fpt_block_bit(more);

	Assert(d->norder == 0);
	bits[bit / 64] |= UINT64CONST(1) << (bit % 64);
	for (int i = 0; i < d->n; i++)
	{
		bit = fpt_block_bit(d->tids[i] >> 16);
		if (d->wanted[i])
			bits[bit / 64] |= UINT64CONST(1) << (bit % 64);
	}
	for (int i = 0; i < d->n; i++)
	{
		Assert(d->tids[i] <= FPT_MAX_TID);
		bit = fpt_block_bit(d->tids[i] >> 16);
		if (bits[bit / 64] & (UINT64CONST(1) << (bit % 64)))
			d->order[d->norder++] = (d->tids[i] << FPT_ORDER_BITS) | i;
	}
	fpt_radix_sort(d->order, d->norder, 1);

	/* One row has one entry; the table relies on that. */
	for (int i = 1; i < d->norder; i++)
	{
		if (fpt_order_tid(d, i) == fpt_order_tid(d, i - 1))
			fpt_corrupt(d->rel, fpt_bufpage(d->buf),
						"Two entries have the same TID");
	}
}

/*
 * The i'th entry in heap order is one of those that fpt_leaf_delete_answer()
 * will ask about; no entry is twice, or there is no room.  space: bytes that
 * its removal frees, 0 if nobody counts them.  Touches no page, raises nothing.
 */
static void
fpt_leaf_delete_ask(FPTLeafDelete *d, int i, int space)
{
	TM_IndexDelete *del = &d->op.deltids[d->op.ndeltids];
	TM_IndexStatus *status = &d->op.status[d->op.ndeltids];
	int			pos = fpt_order_pos(d, i);

	Assert(d->op.ndeltids < d->norder);
	Assert(space >= 0 && space <= PG_INT16_MAX);
	fpt_tid_decode(fpt_order_tid(d, i), &del->tid);
	d->asked[d->op.ndeltids] = pos;
	del->id = (int16) d->op.ndeltids++;
	/* for core's messages, of those that a page of line pointers can have */
	status->idxoffnum = (OffsetNumber) Min(pos + 1, MaxOffsetNumber);
	status->knowndeletable = !d->op.bottomup && d->wanted[pos];
	status->promising = d->op.bottomup && d->wanted[pos];
	status->freespace = (int16) space;
}

/*
 * Let the table answer, and mark what it calls dead.  Not the last one: one
 * entry stays at least (P3, P4).  VACUUM must remain the only one to empty a
 * leaf, because an empty leaf may be unlinked though it is pinned.  The leaf
 * stays locked while heap pages are (L6); the table may process invalidations,
 * and raise.
 */
static void
fpt_leaf_delete_answer(FPTLeafDelete *d)
{
	TransactionId horizon;

	if (d->op.ndeltids == 0)
		return;
	Assert(d->op.ndeltids <= d->norder);
	Assert(fpt_buffer_locked(d->buf, true));
	horizon = table_index_delete_tuples(d->heapRel, &d->op);
	if (!TransactionIdIsValid(d->horizon) ||
		(TransactionIdIsValid(horizon) &&
		 TransactionIdFollows(horizon, d->horizon)))
		d->horizon = horizon;
	for (int i = 0; i < d->op.ndeltids && d->ndead < d->n - 1; i++)
	{
		int			id = d->op.deltids[i].id;
		TM_IndexStatus *status = &d->op.status[id];

		if (status->knowndeletable)
		{
			Assert(d->asked[id] >= 0 && d->asked[id] < d->n);
			Assert(!d->dead[d->asked[id]]);
			d->dead[d->asked[id]] = true;
			d->ndead++;
			d->freed += status->freespace;
		}
	}
	Assert(d->ndead < d->n);
	d->op.ndeltids = 0;
}

/*
 * Remove what is marked, and free what *d has; true if that is anything.  The
 * leaf's exclusive lock is kept.  Raises an error if the leaf is damaged.
 *
 * A standby may run queries that still see some of the rows, for which the
 * table has not logged a conflict yet, as it has not removed them.  Generic
 * records raise no conflicts, so one is logged before.
 */
static bool
fpt_leaf_delete_apply(FPTLeafDelete *d)
{
	bool		any = d->ndead > 0;

	if (any)
	{
		int			cap = fpt_page_geom(d->l, BufferGetPage(d->buf))->cap;
		uint64		gone[FPT_MAX_NODES] = {0};

		Assert(d->ndead < d->n);
		for (int i = 0; i < d->n; i++)
			gone[d->slotids[i] / cap] |= (uint64) d->dead[i] <<
				d->slotids[i] % cap;
		fpt_wal_conflict(d->rel, d->heapRel, d->op.iblknum, d->horizon);
		fpt_stop_point(FPT_STOP_DELETE);
		fpt_leaf_remove(d->rel, d->l, d->buf, gone);
	}
	fpt_leaf_delete_end(d);
	return any;
}

/* The number of entries in heap order, from i on, of one heap page. */
static int
fpt_block_run(const FPTLeafDelete *d, int i)
{
	int			n = 0;

	while (i + n < d->norder &&
		   fpt_order_block(d, i + n) == fpt_order_block(d, i))
		n++;
	Assert(n > 0);				/* or callers would not get on */
	return n;
}

/*
 * Remove entries with hints, and others that are dead on the same heap pages
 * and on that of the new row, which is certainly in memory.  True if anything
 * was removed.  The leaf's exclusive lock is kept.  The table may process
 * invalidations, and raise; so does a damaged leaf.
 */
static bool
fpt_delete_killed(Relation rel, Relation heapRel, const FPTLayout *l,
				  Buffer buf, uint64 newtid)
{
	FPTLeafDelete d;
	int			run;

	if (!fpt_leaf_hinted(l, BufferGetPage(buf)))
		return false;
	fpt_leaf_delete_begin(&d, rel, heapRel, l, buf);
	fpt_want_hinted(&d);
	fpt_leaf_order(&d, newtid >> 16);
	for (int i = 0; i < d.norder; i += run)
	{
		bool		ask = fpt_order_block(&d, i) == newtid >> 16;

		run = fpt_block_run(&d, i);
		for (int j = i; j < i + run; j++)
			ask |= d.wanted[fpt_order_pos(&d, j)];
		for (int j = i; ask && j < i + run; j++)
			fpt_leaf_delete_ask(&d, j, 0);
	}
	fpt_leaf_delete_answer(&d);
	return fpt_leaf_delete_apply(&d);
}

/* Do two entries of a leaf that are next to each other differ by TID only? */
static bool
fpt_same_key(const FPTLayout *l, const FPTKey *a, const FPTKey *b)
{
	if (fpt_image_cmp(a, b) != 0)
		return false;
	return !fpt_is_general(l) ||
		(a->len == b->len &&
		 (a->len == 0 || memcmp(a->tup, b->tup, a->len) == 0)) ||
		l->cmp(l->arg, a, b) == 0;
}

/*
 * Entries that have others of the same key beside them are wanted.  Computes
 * how many bytes the removal of each entry would free.  The leaf is locked:
 * general keys may be compared by functions of types there (L7).  Raises an
 * error if its entries cannot be read.
 */
static void
fpt_want_versions(FPTLeafDelete *d, int *space)
{
	Page		page = BufferGetPage(d->buf);
	const FPTGeom *g = fpt_page_geom(d->l, page);
	FPTEntry   *e = palloc(sizeof(FPTEntry) * FPT_MAX_ENTRIES);
	int			n = fpt_page_extract(d->l, page, e, FPT_MAX_ENTRIES);

	if (g == NULL || n != d->n)
		fpt_corrupt_page(d->rel, d->l, page, fpt_bufpage(d->buf));
	Assert(g->cap > 0);
	for (int i = 0; i < n; i++)
	{
		space[i] = g->x * FPT_LINE / g->cap;
		if (fpt_is_general(d->l))
			space[i] += (int) e[i].key.len + 1;
		if (i > 0 && fpt_same_key(d->l, &e[i - 1].key, &e[i].key))
			d->wanted[i - 1] = d->wanted[i] = true;
	}
	pfree(e);
}

/*
 * The heap pages with most wanted entries: their numbers of those and where
 * they begin in the heap order, most first.  Returns how many there are, 0 if
 * no entry is wanted.  Raises nothing.
 */
static int
fpt_best_blocks(FPTLeafDelete *d, int best[FPT_LAST_BLOCKS][2])
{
	int			nbest = 0;
	int			run;
	int			j;

	for (int i = 0; i < d->norder; i += run)
	{
		int			count = 0;

		run = fpt_block_run(d, i);
		for (j = i; j < i + run; j++)
			count += d->wanted[fpt_order_pos(d, j)];
		if (count <= 0 ||
			(nbest == FPT_LAST_BLOCKS && count <= best[nbest - 1][0]))
			continue;
		if (nbest < FPT_LAST_BLOCKS)
			nbest++;
		for (j = nbest - 1; j > 0 && best[j - 1][0] < count; j--)
			memcpy(best[j], best[j - 1], sizeof(best[j]));
		best[j][0] = count;
		best[j][1] = i;
	}
	return nbest;
}

/*
 * Ask about the best heap pages, one by one, until enough has been found or
 * several in a row had nothing.  Offered all of them, the table would sort all
 * entries, look at six pages at most, and give up after the first one that has
 * nothing: nbtree would deduplicate then.  What follows here is a split, or
 * soon the next search, which cost more than some further looks.  They are
 * FPT_LAST_BLOCKS at most, with the leaf locked (L10).  Marks what is dead, and
 * raises what the table does.  "space" is by key order, as is d's tids.
 */
static void
fpt_ask_blocks(FPTLeafDelete *d, const int *space)
{
	int			best[FPT_LAST_BLOCKS][2];
	int			nbest = fpt_best_blocks(d, best);
	int			vain = 0;

	Assert(d->op.bottomup && d->op.ndeltids == 0);
	Assert(nbest <= FPT_LAST_BLOCKS);
	for (int i = 0; i < nbest && vain < FPT_VAIN_BLOCKS &&
		 d->freed < BLCKSZ / FPT_ENOUGH_SHARE; i++)
	{
		int			end = best[i][1] + fpt_block_run(d, best[i][1]);
		int			before = d->ndead;

		for (int j = best[i][1]; j < end; j++)
			fpt_leaf_delete_ask(d, j, space[fpt_order_pos(d, j)]);
		fpt_leaf_delete_answer(d);
		vain = d->ndead == before ? vain + 1 : 0;
	}
}

/*
 * True if so much was removed that the leaf need not be split.  Otherwise it is
 * full of live entries, or of dead ones that are hard to find: after a few more
 * insertions all this would have to be done again.  Little may be removed and
 * the answer false.  The leaf's exclusive lock is kept.  Raises an error if the
 * leaf is damaged, and what the table and comparisons do.
 */
static bool
fpt_delete_bottom_up(Relation rel, Relation heapRel, const FPTLayout *l,
					 Buffer buf, uint64 newtid)
{
	FPTLeafDelete d;
	int		   *space;
	bool		enough;

	fpt_leaf_delete_begin(&d, rel, heapRel, l, buf);
	space = palloc(sizeof(int) * (d.n + 1));
	fpt_want_versions(&d, space);
	fpt_leaf_order(&d, newtid >> 16);
	d.op.bottomup = true;
	d.op.bottomupfreespace = BLCKSZ / FPT_ENOUGH_SHARE;
	fpt_ask_blocks(&d, space);
	pfree(space);
	enough = d.freed >= BLCKSZ / FPT_SPLIT_SHARE;
	return fpt_leaf_delete_apply(&d) && enough;
}

/* Does the leaf hold an entry that equals the new one? */
static bool
fpt_leaf_has_equal(FPTIndex *ix, Page page, const FPTKey *key)
{
	FPTKey		lo,
				hi;
	FPTLoc		from,
				to;

	fpt_equal_range(ix, key, &lo, &hi);
	return fpt_page_range(&ix->layout, page, &lo, &hi, &from, &to) == FPT_OK &&
		fpt_loc_before(&from, &to);
}

bool
fpt_delete_step(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				FPTDelete *del)
{
	Assert(!RecoveryInProgress());
	Assert(fpt_buffer_locked(buf, true) && del->heapRel != NULL);
	Assert(ix != rel->rd_amcache);
	if (del->stage == FPT_DELETE_KILLED)
	{
		del->stage = FPT_DELETE_BOTTOM_UP;
		if (fpt_delete_killed(rel, del->heapRel, &ix->layout, buf,
							  e->key.tid))
		{
			/* A unique index with dead entries has old versions, it seems. */
			del->versions |= del->unique;
			return true;
		}
	}
	if (del->stage == FPT_DELETE_BOTTOM_UP)
	{
		del->stage = FPT_DELETE_DONE;
		if (del->versions ||
			(del->unique && fpt_leaf_has_equal(ix, BufferGetPage(buf),
											   &e->key)))
			return fpt_delete_bottom_up(rel, del->heapRel, &ix->layout, buf,
										e->key.tid);
	}
	return false;
}
