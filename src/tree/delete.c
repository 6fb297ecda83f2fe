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
 * pages that most entries with equal keys lead to ("bottom-up deletion").  It
 * does that first, before the leaf is full, where the entry is certain to be
 * one, and its node has a dead version.
 *
 * Everything happens under the exclusive lock that the insertion has on the
 * leaf.  No cleanup lock is needed, see src/README.md, "Pin rules".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "storage/bufmgr.h"

#include "key/tid.h"
#include "load/radix.h"
#include "page/copy.h"
#include "page/format.h"
#include "page/hints.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/remove.h"
#include "page/room.h"
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

/*
 * Versions that a leaf must have, as far as the entries of a node tell, to be
 * looked for before it is full; and heap pages that are asked whether one of
 * that node's is dead.
 */
#define FPT_EARLY_VERSIONS	80
#define FPT_EARLY_BLOCKS	2

/* Stages of an insertion's search for dead entries. */
#define FPT_DELETE_EARLY	0
#define FPT_DELETE_KILLED	1
#define FPT_DELETE_BOTTOM_UP	2
#define FPT_DELETE_DONE		3

/* Entries that fpt_leaf_delete_begin() reads, if not those of one node. */
#define FPT_READ_ORDERED	(-1)	/* all, in key order */
#define FPT_READ_ALL		(-2)	/* all, in no order */

/* A locked leaf, and what the table is asked about its entries. */
typedef struct FPTLeafDelete
{
	Relation	rel;
	FPTDelete  *del;			/* of the insertion */
	const FPTLayout *l;
	Buffer		buf;
	int			n;				/* entries of the leaf */
	uint64	   *tids;			/* in key order, perhaps, as what follows */
	uint16	   *slotids;		/* as in FPTRun */
	uint64	   *los;			/* images, or heads; as what follows, NULL */
	uint64	   *his;			/* if there are none, or nobody wants them */
	uint16	   *tupoffs;		/* tuples: where in the page, and lengths */
	uint16	   *tuplens;
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
 * Read the leaf's TIDs, or those of its kid'th node: in key order, with the
 * keys; or in no order, which takes a third of the time (FPT_READ_*).  Needs
 * the leaf's exclusive lock, until the end; raises an error if they cannot be
 * read.  The arrays are in the current context, for fpt_leaf_delete_end() to
 * free.
 */
static void
fpt_leaf_delete_begin(FPTLeafDelete *d, Relation rel, FPTDelete *del,
					  const FPTLayout *l, Buffer buf, int kid)
{
	Page		page = BufferGetPage(buf);
	int			max = kid >= 0 ? FPT_MAX_CAP : FPT_MAX_ENTRIES;
	FPTLoc		first = {.kid = Max(kid, 0)};
	FPTLoc		last = {.kid = kid >= 0 ? kid + 1 : fpt_header(page)->nkids};
	FPTRun		run = {0};

	Assert(fpt_header(page)->level == 0);
	Assert(fpt_buffer_locked(buf, true));
	memset(d, 0, sizeof(FPTLeafDelete));
	d->rel = rel;
	d->del = del;
	d->l = l;
	d->buf = buf;
	d->tids = run.tids = palloc(sizeof(uint64) * max);
	d->slotids = run.slotids = palloc(sizeof(uint16) * max);
	if (kid == FPT_READ_ALL)
		d->n = fpt_page_tids(l, page, d->tids, d->slotids);
	else
	{
		d->los = run.los = palloc(sizeof(uint64) * max);
		if (l->keysize == 16)
			d->his = run.his = palloc(sizeof(uint64) * max);
		if (fpt_is_general(l))
		{
			d->tupoffs = run.tupoffs = palloc(sizeof(uint16) * max);
			d->tuplens = run.tuplens = palloc(sizeof(uint16) * max);
		}
		d->n = fpt_page_copy(l, page, first, last, false, &run);
	}
	if (d->n < 0)
		fpt_corrupt_page(rel, l, page, fpt_bufpage(buf));
	d->wanted = palloc0(sizeof(bool) * (d->n + 1));
	d->dead = palloc0(sizeof(bool) * (d->n + 1));
	d->order = palloc(sizeof(uint64) * (d->n + 1));
	d->asked = palloc(sizeof(int) * (d->n + 1));
	d->horizon = InvalidTransactionId;
	d->op.irel = rel;
	d->op.iblknum = fpt_bufpage(buf);
	d->op.bottomup = kid != FPT_READ_ALL;
	if (d->op.bottomup)
		d->op.bottomupfreespace = BLCKSZ / FPT_ENOUGH_SHARE;
	d->op.deltids = palloc(sizeof(TM_IndexDelete) * (d->n + 1));
	d->op.status = palloc(sizeof(TM_IndexStatus) * (d->n + 1));
}

static void
fpt_leaf_delete_end(FPTLeafDelete *d)
{
	pfree(d->tids);
	pfree(d->slotids);
	if (d->los != NULL)
		pfree(d->los);
	if (d->his != NULL)
		pfree(d->his);
	if (d->tupoffs != NULL)
	{
		pfree(d->tupoffs);
		pfree(d->tuplens);
	}
	pfree(d->wanted);
	pfree(d->dead);
	pfree(d->order);
	pfree(d->asked);
	pfree(d->op.deltids);
	pfree(d->op.status);
}

/*
 * Entries with hints are wanted.  Nobody sets hints now: the leaf is locked
 * exclusively.  Raises nothing.
 */
static void
fpt_want_hinted(FPTLeafDelete *d, const uint64 hints[FPT_MAX_NODES])
{
	int			cap = fpt_page_geom(d->l, BufferGetPage(d->buf))->cap;

	for (int i = 0; i < d->n; i++)
		d->wanted[i] = (hints[d->slotids[i] / cap] >>
						d->slotids[i] % cap & 1) != 0;
}

/* Bits that tell which heap pages may have wanted entries. */
#define FPT_BLOCK_BITS		12

static inline uint32
fpt_block_bit(uint64 block)
{
	return ((uint32) block * 2654435761U) >> (32 - FPT_BLOCK_BITS);
}

/* Add an entry to those that will be in heap order. */
static inline void
fpt_order_add(FPTLeafDelete *d, int i)
{
	Assert(d->tids[i] <= FPT_MAX_TID && d->norder < d->n);
	d->order[d->norder++] = (d->tids[i] << FPT_ORDER_BITS) | i;
}

/*
 * Put the entries that were added in heap order.  If two of them have the same
 * TID, which the table would take for one, it will be asked about none
 * (fpt_note_twice).
 */
static void
fpt_order_sort(FPTLeafDelete *d)
{
	fpt_radix_sort(d->order, d->norder, 1);

	/* One row has one entry; the table relies on that. */
	for (int i = 1; i < d->norder; i++)
	{
		if (fpt_order_tid(d, i) == fpt_order_tid(d, i - 1))
		{
			fpt_note_twice(d->del, fpt_bufpage(d->buf),
						   "Two entries have the same TID");
			d->norder = 0;
		}
	}
}

/*
 * Put entries of heap pages with wanted ones, and of one more page, in heap
 * order; a few others may be among them.  Sets d's order and norder, from its
 * tids and wanted.
 */
static void
fpt_leaf_order(FPTLeafDelete *d, uint64 more)
{
	uint64		bits[(1 << FPT_BLOCK_BITS) / 64] = {0};
	uint32		bit = fpt_block_bit(more);

	bits[bit / 64] |= UINT64CONST(1) << (bit % 64);
	for (int i = 0; i < d->n; i++)
	{
		bit = fpt_block_bit(d->tids[i] >> 16);
		if (d->wanted[i])
			bits[bit / 64] |= UINT64CONST(1) << (bit % 64);
	}
	for (int i = 0; i < d->n; i++)
	{
		bit = fpt_block_bit(d->tids[i] >> 16);
		if (bits[bit / 64] & (UINT64CONST(1) << (bit % 64)))
			fpt_order_add(d, i);
	}
	fpt_order_sort(d);
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
	horizon = table_index_delete_tuples(d->del->heapRel, &d->op);
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
		fpt_wal_conflict(d->rel, d->del->heapRel, d->op.iblknum,
						 d->horizon);
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
fpt_delete_killed(Relation rel, FPTDelete *del, const FPTLayout *l,
				  Buffer buf, uint64 newtid)
{
	FPTLeafDelete d;
	uint64		hints[FPT_MAX_NODES];
	int			run;

	if (!fpt_page_hints(l, BufferGetPage(buf), hints))
		return false;
	fpt_leaf_delete_begin(&d, rel, del, l, buf, FPT_READ_ALL);
	fpt_want_hinted(&d, hints);
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

/*
 * Are the keys of two entries that are next to each other the same, byte for
 * byte?  Versions of a row have such keys, and nobody's code is run to find
 * that out.  "a" is the first one.
 */
static inline bool
fpt_same_bytes(const FPTLeafDelete *d, const char *page, int a)
{
	int			b = a + 1;

	Assert(a >= 0 && b < d->n);
	if (d->los[a] != d->los[b])
		return false;
	if (d->his != NULL)
		return d->his[a] == d->his[b];
	return d->tuplens == NULL ||
		(d->tuplens[a] == d->tuplens[b] &&
		 memcmp(page + d->tupoffs[a], page + d->tupoffs[b],
				d->tuplens[a]) == 0);
}

/*
 * INCLUDE columns, which may change from version to version, are in the tuples,
 * too: all of the leaf's entries that have keys equal to a neighbour's are
 * wanted.  Keys may be compared by functions of types, with the leaf locked
 * (L7).  Raises what these do, and an error if the leaf is damaged.
 */
static void
fpt_want_equal(FPTLeafDelete *d)
{
	Page		page = BufferGetPage(d->buf);
	FPTEntry   *e = palloc(sizeof(FPTEntry) * FPT_MAX_ENTRIES);

	if (fpt_page_extract(d->l, page, e, FPT_MAX_ENTRIES) != d->n)
		fpt_corrupt_page(d->rel, d->l, page, fpt_bufpage(d->buf));
	for (int i = 0; i + 1 < d->n; i++)
	{
		const FPTKey *a = &e[i].key;
		const FPTKey *b = &e[i + 1].key;

		if (a->cls == b->cls && a->lo == b->lo &&
			d->l->cmp(d->l->arg, a, b) == 0)
			d->wanted[i] = d->wanted[i + 1] = true;
	}
	pfree(e);
}

/*
 * Entries that have others of the same key beside them are wanted, and put in
 * heap order.  The table is not asked about the rest, which is in use mostly.
 * Raises what fpt_want_equal() does, if *d is of the whole leaf.
 */
static void
fpt_want_versions(FPTLeafDelete *d, bool whole)
{
	const char *page = BufferGetPage(d->buf);
	bool		included = IndexRelationGetNumberOfKeyAttributes(d->rel) <
		IndexRelationGetNumberOfAttributes(d->rel);

	for (int i = 0; i + 1 < d->n; i++)
	{
		if (fpt_same_bytes(d, page, i))
			d->wanted[i] = d->wanted[i + 1] = true;
	}
	if (included && whole)
		fpt_want_equal(d);
	for (int i = 0; i < d->n; i++)
	{
		if (d->wanted[i])
			fpt_order_add(d, i);
	}
	fpt_order_sort(d);
}

/*
 * Bytes of the leaf that removing an entry frees, which has keys read.  A tuple
 * in a dictionary stays.
 */
static int
fpt_entry_space(const FPTLeafDelete *d, const FPTGeom *g, int i)
{
	int			space = g->x * FPT_LINE / g->cap;

	return fpt_has_offsets(g) ? space + d->tuplens[i] + 1 : space;
}

/* No heap page in particular. */
#define FPT_ANY_BLOCK		(~UINT64CONST(0))

/*
 * Where the entries of the heap pages with most wanted ones begin in the heap
 * order, most first; before all others those of "known", a block.  Returns how
 * many there are, 0 if no entry is wanted.  Raises nothing.
 */
static int
fpt_best_blocks(FPTLeafDelete *d, uint64 known, int best[FPT_LAST_BLOCKS])
{
	int			counts[FPT_LAST_BLOCKS];
	int			nbest = 0;
	int			run;
	int			j;

	for (int i = 0; i < d->norder; i += run)
	{
		int			count;

		run = fpt_block_run(d, i);
		count = fpt_order_block(d, i) == known ? d->n : run;
		if (nbest == FPT_LAST_BLOCKS && count <= counts[nbest - 1])
			continue;
		if (nbest < FPT_LAST_BLOCKS)
			nbest++;
		for (j = nbest - 1; j > 0 && counts[j - 1] < count; j--)
		{
			counts[j] = counts[j - 1];
			best[j] = best[j - 1];
		}
		counts[j] = count;
		best[j] = i;
	}
	return nbest;
}

/*
 * Ask about the entries of a heap page, the first of which is the i'th in heap
 * order.  Returns how many they are.
 */
static int
fpt_ask_block(FPTLeafDelete *d, int i)
{
	const FPTGeom *g = fpt_page_geom(d->l, BufferGetPage(d->buf));
	int			run = fpt_block_run(d, i);

	Assert(d->op.bottomup && d->op.ndeltids == 0);
	for (int j = i; j < i + run; j++)
		fpt_leaf_delete_ask(d, j, fpt_entry_space(d, g, fpt_order_pos(d, j)));
	fpt_leaf_delete_answer(d);
	return run;
}

/*
 * Ask about the best heap pages, one by one, until enough has been found or
 * several in a row had nothing.  Offered all of them, the table would sort all
 * entries, look at six pages at most, and give up after the first one that has
 * nothing: nbtree would deduplicate then.  What follows here is a split, or
 * soon the next search, which cost more than some further looks.  They are
 * FPT_LAST_BLOCKS at most, with the leaf locked (L10).  Marks what is dead, and
 * raises what the table does.
 */
static void
fpt_ask_blocks(FPTLeafDelete *d, uint64 known)
{
	int			best[FPT_LAST_BLOCKS];
	int			nbest = fpt_best_blocks(d, known, best);
	int			vain = 0;

	Assert(nbest <= FPT_LAST_BLOCKS);
	for (int i = 0; i < nbest && vain < FPT_VAIN_BLOCKS &&
		 d->freed < BLCKSZ / FPT_ENOUGH_SHARE; i++)
	{
		int			before = d->ndead;

		(void) fpt_ask_block(d, best[i]);
		vain = d->ndead == before ? vain + 1 : 0;
	}
}

/*
 * Bytes of the leaf that were freed, by removing versions of rows that are
 * dead; there may be more of them.  "known": a block that has one, or
 * FPT_ANY_BLOCK.  The leaf's exclusive lock is kept.  Raises an error if the
 * leaf is damaged, and what the table does, and comparisons.
 */
static int
fpt_delete_bottom_up(Relation rel, FPTDelete *del, const FPTLayout *l,
					 Buffer buf, uint64 known)
{
	FPTLeafDelete d;

	fpt_leaf_delete_begin(&d, rel, del, l, buf, FPT_READ_ORDERED);
	fpt_want_versions(&d, true);
	fpt_ask_blocks(&d, known);
	return fpt_leaf_delete_apply(&d) ? d.freed : 0;
}

/*
 * A block of the table with a dead version of a row of which the leaf's kid'th
 * node has entries, as it has many, it seems; else FPT_ANY_BLOCK.  *vain: the
 * table was asked, and knows none.  Changes nothing, keeps the lock, and raises
 * as fpt_delete_bottom_up() does.
 */
static uint64
fpt_node_dead_block(Relation rel, FPTDelete *del, const FPTLayout *l,
					Buffer buf, int kid, bool *vain)
{
	FPTLeafDelete d;
	uint64		block = FPT_ANY_BLOCK;
	int			asked = 0;
	int			run;

	fpt_leaf_delete_begin(&d, rel, del, l, buf, kid);
	fpt_want_versions(&d, false);
	if (d.norder * fpt_header(BufferGetPage(buf))->nkids <
		FPT_EARLY_VERSIONS)
		d.norder = 0;
	for (int i = 0; i < d.norder && block == FPT_ANY_BLOCK &&
		 asked < FPT_EARLY_BLOCKS; i += run, asked++)
	{
		run = fpt_ask_block(&d, i);
		if (d.ndead > 0)
			block = fpt_order_block(&d, i);
	}
	*vain = asked > 0 && block == FPT_ANY_BLOCK;
	fpt_leaf_delete_end(&d);
	return block;
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

/* A question about dead versions was in vain, or not: when to ask again. */
static void
fpt_vain_learn(FPTVain *v, bool vain)
{
	v->last = vain ? Min(2 * v->last + 1, FPT_MAX_VAIN) : 0;
	v->skip = v->last;
}

/*
 * See tree/delete.h.  Where an old snapshot needs all versions the table is not
 * asked each time whether that is still so; nor where keys have several rows
 * that are in use, which cannot be told from versions.
 */
bool
fpt_delete_early(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				 FPTDelete *del)
{
	const FPTLayout *l = &ix->layout;
	FPTLocal	local;
	FPTPlace	p;
	uint64		block;
	bool		removed = false;
	bool		vain;

	Assert(fpt_buffer_locked(buf, true) && del->heapRel != NULL);
	Assert(ix != rel->rd_amcache);
	if (del->stage != FPT_DELETE_EARLY)
		return false;
	del->stage = FPT_DELETE_KILLED;
	if (!del->versions)
		return false;
	if (ix->vain.skip > 0)
	{
		ix->vain.skip--;
		return false;
	}
	if (fpt_page_insert_find(l, BufferGetPage(buf), &e, &local, &p) !=
		FPT_FULL || p.kid >= p.to)
		return false;
	block = fpt_node_dead_block(rel, del, l, buf, p.kid, &vain);
	if (block != FPT_ANY_BLOCK)
	{
		removed = fpt_delete_bottom_up(rel, del, l, buf, block) > 0;
		vain = !removed;
	}
	if (removed || vain)
		fpt_vain_learn(&ix->vain, vain);
	return removed;
}

/*
 * See tree/delete.h.  If less than a share of the page is freed by the last
 * step it is full of live entries, or of dead ones that are hard to find: after
 * a few more insertions all this would have to be done again.
 */
bool
fpt_delete_step(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				FPTDelete *del)
{
	Assert(!RecoveryInProgress());
	Assert(fpt_buffer_locked(buf, true) && del->heapRel != NULL);
	Assert(ix != rel->rd_amcache);
	if (del->stage <= FPT_DELETE_KILLED)
	{
		del->stage = FPT_DELETE_BOTTOM_UP;
		if (fpt_delete_killed(rel, del, &ix->layout, buf, e->key.tid))
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
			return fpt_delete_bottom_up(rel, del, &ix->layout, buf,
										FPT_ANY_BLOCK) >=
				BLCKSZ / FPT_SPLIT_SHARE;
	}
	return false;
}
