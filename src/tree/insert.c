/*-------------------------------------------------------------------------
 *
 * tree/insert.c
 *	  Insertion of an index entry.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "key/compare.h"
#include "key/general.h"
#include "key/tid.h"
#include "page/format.h"
#include "page/layout.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/index.h"
#include "store/map.h"
#include "store/place.h"
#include "store/stripe.h"
#include "store/wal.h"
#include "tree/delete.h"
#include "tree/insert.h"
#include "tree/predicate.h"
#include "tree/recall.h"
#include "tree/search.h"
#include "tree/split.h"
#include "tree/unique.h"

/*
 * The leaf for a key, or where the search for it ends if comparisons contradict
 * each other, locked exclusively, without an open split: those on the way are
 * finished, each for good (L11).  An ascending load finds the rightmost page
 * without a descent, if nobody holds it; other leaves may be remembered (R1).
 * Nothing may be locked before, and nothing else is on return; *stack is the
 * way there, of rootlevel -1 if there was no descent.  May be cancelled.
 * Raises an error if the tree is damaged, or if comparing does.
 */
static Buffer
fpt_find_leaf(Relation rel, FPTIndex *ix, const FPTKey *key, FPTStack *stack)
{
	Buffer		buf;

	stack->rootlevel = -1;
	if (ix->lastleaf != FPT_NOPAGE)
	{
		fpt_stop_point(FPT_STOP_RIGHTMOST);
		buf = fpt_getbuf(rel, ix, ix->lastleaf, 0);
		if (ConditionalLockBuffer(buf))
		{
			Page		page = BufferGetPage(buf);
			FPTPageHeader *h = fpt_header(page);

			fpt_check_buffer(rel, ix, buf, ix->lastleaf);
			if (h->level == 0 && h->right == FPT_NOPAGE &&
				!(h->flags & (FPT_F_DELETED | FPT_F_INCOMPLETE)) &&
				fpt_page_above_low(&ix->layout, page, key))
				return buf;
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
		}
		ReleaseBuffer(buf);
		ix->lastleaf = FPT_NOPAGE;
	}
	for (;;)
	{
		buf = fpt_recall_leaf(rel, ix, key, BUFFER_LOCK_EXCLUSIVE, NULL);
		if (!BufferIsValid(buf))
			buf = fpt_descend_anyway(rel, ix, key, 0, BUFFER_LOCK_EXCLUSIVE,
									 stack, NULL);
		if (likely(!(fpt_header(BufferGetPage(buf))->flags & FPT_F_INCOMPLETE)))
			return buf;
		fpt_stop_point(FPT_STOP_FINISH_SPLIT);
		fpt_finish_split(rel, ix, buf, stack);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * From the locked leaf that covers (key, 0), where the uniqueness check was
 * made, to the one that covers (key, TID).  The lock moves along hand over
 * hand, so that an inserter of the same key cannot slip by; an open split is
 * finished while the page before it is kept locked, for the same reason.  Both
 * are locked exclusively, one after the other; *stack is the way to the first.
 * Returns the latter, locked exclusively, and nothing else locked or pinned.
 * Cannot be cancelled.  Raises an error where a leaf does not continue the one
 * before, or is damaged.
 */
static Buffer
fpt_walk_to_entry(Relation rel, FPTIndex *ix, Buffer buf, const FPTKey *key,
				  FPTStack *stack)
{
	uint32		steps = 0;

	Assert(fpt_buffer_locked(buf, true));
	while (!fpt_page_below_high(&ix->layout, BufferGetPage(buf), key))
	{
		uint32		right = fpt_header(BufferGetPage(buf))->right;
		FPTKey		high = fpt_page_high(&ix->layout, BufferGetPage(buf));
		FPTKey		lo;
		FPTKey		hi;
		Buffer		next;

		/*
		 * So the fence is one of the keys that are equal; unless the order has
		 * changed, and the walk, which cannot be cancelled, might be long
		 * (L11).
		 */
		fpt_equal_range(ix, key, &lo, &hi);
		if (fpt_key_cmp(&ix->layout, &high, &lo) < 0)
		{
			if (!ix->unsure)
				fpt_corrupt(rel, fpt_bufpage(buf), "Entries are out of order");
			ix->strayed = true;
			break;
		}
		if (right <= FPT_FIRSTPAGE || right == fpt_bufpage(buf))
			fpt_corrupt(rel, fpt_bufpage(buf), "The right link is not valid");
		fpt_stop_point(FPT_STOP_UNIQUE_WALK);
		next = fpt_getbuf(rel, ix, right, BUFFER_LOCK_EXCLUSIVE);
		fpt_check_continues(rel, ix, next, &high, ++steps);
		if (fpt_header(BufferGetPage(next))->flags & FPT_F_INCOMPLETE)
		{
			fpt_finish_split(rel, ix, next, stack);
			steps--;			/* the same page again */
			continue;
		}
		UnlockReleaseBuffer(buf);
		buf = next;
	}
	return buf;
}

/* The insertion is over: keep what its copy of the description has learnt. */
static void
fpt_insert_learnt(Relation rel, const FPTIndex *ix)
{
	FPTIndex   *cached = (FPTIndex *) rel->rd_amcache;

	Assert(ix != cached);
	if (cached != NULL && cached->layout.indexid == ix->layout.indexid)
	{
		cached->rootlevel = ix->rootlevel;
		cached->lastleaf = ix->lastleaf;
		cached->vain = ix->vain;
		fpt_map_learn(&cached->map, &ix->map);
	}
}

/*
 * The entry's node is full.  The table may be asked for dead rows, which may
 * process invalidations: work on a copy of the description, so that *ix of
 * image keys may be gone on return.  Locks and raises as fpt_insert_hard()
 * does, which releases the leaf.
 */
static void
fpt_insert_full(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				FPTStack *stack, FPTDelete *del)
{
	FPTIndex	own;

	if (fpt_is_general(&ix->layout))
	{
		/* it is one already */
		fpt_insert_hard(rel, ix, buf, e, InvalidBuffer, stack, del);
		return;
	}
	own = *ix;
	fpt_map_own(&own.map);
	fpt_insert_hard(rel, &own, buf, e, InvalidBuffer, stack, del);
	fpt_insert_learnt(rel, &own);
	fpt_map_free(&own.map);
}

/*
 * Put the entry into the leaf that covers it, which is locked exclusively;
 * releases it.  *ix of image keys may be gone afterwards.  If the leaf has the
 * entry nothing is done, and that is noted (fpt_note_twice).  Raises an error
 * if the leaf is damaged, if a serializable transaction must fail, or if
 * comparing does.  Cannot be cancelled.
 */
static void
fpt_insert_leaf(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				FPTStack *stack, FPTDelete *del)
{
	uint32		pageno = fpt_bufpage(buf);
	bool		rightmost = fpt_header(BufferGetPage(buf))->right == FPT_NOPAGE;
	FPTResult	res;

	Assert(fpt_buffer_locked(buf, true));
	Assert(fpt_header(BufferGetPage(buf))->level == 0);
	Assert(!(fpt_header(BufferGetPage(buf))->flags & FPT_F_INCOMPLETE));
	Assert(fpt_is_general(&ix->layout) ||	/* no users' code */
		   fpt_page_above_low(&ix->layout, BufferGetPage(buf), &e->key));
	fpt_predicate_check(rel, ix, &e->key, pageno);
	fpt_stop_point(FPT_STOP_INSERT_LEAF);
	if (unlikely(fpt_wal_image_due(rel, buf)) &&
		fpt_insert_packed(rel, ix, buf, e))
		res = FPT_OK;
	else
		res = fpt_wal_insert(rel, ix, buf, e);
	switch (res)
	{
		case FPT_OK:
			UnlockReleaseBuffer(buf);
			if (rightmost)
				ix->lastleaf = pageno;
			break;
		case FPT_FULL:
		case FPT_UNFIT:
			fpt_insert_full(rel, ix, buf, e, stack, del);
			break;
		case FPT_DUPLICATE:
			fpt_note_twice(del, pageno,
						   "The entry to be inserted is there already");
			UnlockReleaseBuffer(buf);
			break;
		default:
			fpt_corrupt_page(rel, &ix->layout, BufferGetPage(buf), pageno);
			break;
	}
}

/*
 * Damage that was noted (fpt_note_twice) is an error, unless the index is
 * dead.  No page is locked; as fpt_index_is_dead().
 */
static inline void
fpt_check_twice(Relation rel, const FPTDelete *del)
{
	if (unlikely(del->twice != NULL) && !fpt_index_is_dead(rel))
		fpt_corrupt(rel, del->twicepage, del->twice);
}

/* Is any key column NULL? */
static inline bool
fpt_any_null(Relation rel, const bool *isnull)
{
	int			n = IndexRelationGetNumberOfKeyAttributes(rel);

	for (int i = 0; i < n; i++)
	{
		if (isnull[i])
			return true;
	}
	return false;
}

/*
 * Comparing general keys may process invalidations, so that insertions of them
 * work on a copy of the description, which a statement keeps (ii_AmCache).
 */
typedef struct FPTInsertCache
{
	FPTIndex	ix;
	int			ninserts;		/* as far as they are counted */
} FPTInsertCache;

/*
 * To look up the types' sort support takes as long as a few insertions, which
 * it makes shorter.
 */
#define FPT_MANY_INSERTS	16

/*
 * The statement's copy, as good as new, in info->ii_Context; "cached" may be
 * gone on return.  Where there is none yet the metapage is read, and
 * catalogues, these once more after some insertions: no page may be locked.
 * Warns if the collation has got another version.
 */
static FPTIndex *
fpt_insert_copy(Relation rel, FPTIndex *cached, IndexInfo *info)
{
	FPTInsertCache *c = (FPTInsertCache *) info->ii_AmCache;
	MemoryContext old;

	Assert(fpt_is_general(&cached->layout));
	if (likely(c != NULL && c->ix.serial == cached->serial))
	{
		Assert(c->ix.layout.indexid == cached->layout.indexid);
		c->ix.root = cached->root;
		c->ix.rootlevel = cached->rootlevel;
		c->ix.lastleaf = cached->lastleaf;
		c->ix.vain = cached->vain;
		fpt_map_learn(&c->ix.map, &cached->map);
		if (c->ninserts >= FPT_MANY_INSERTS ||
			++c->ninserts < FPT_MANY_INSERTS)
			return &c->ix;
		old = MemoryContextSwitchTo(info->ii_Context);
		fpt_general_sort_support(unconstify(void *, c->ix.layout.arg), rel,
								 false);
		MemoryContextSwitchTo(old);
		return &c->ix;
	}

	/* what there was of an earlier description is the context's to free */
	old = MemoryContextSwitchTo(info->ii_Context);
	info->ii_AmCache = NULL;
	c = palloc0(sizeof(FPTInsertCache));
	fpt_index_copy(rel, &c->ix);
	MemoryContextSwitchTo(old);
	fpt_index_current(rel, &c->ix);
	info->ii_AmCache = c;
	return &c->ix;
}

/*
 * Insert an entry unless another one is equal, or, if check->how says so, only
 * look whether there is one, and wait for who may have put it in.  Returns
 * whether it is the only one, as aminsert() does; raises an error if it must be
 * and is not.  *ix of image keys is fetched again after whatever asks the table
 * or waits, so it may be gone on return.  No page is locked before, after, or
 * while it waits (L7); may be cancelled then.
 */
static bool
fpt_insert_checked(Relation rel, FPTIndex *ix, const FPTEntry *e,
				   FPTUniqueCheck *check, FPTDelete *del)
{
	bool		general = fpt_is_general(&ix->layout);
	ItemPointerData tid;
	FPTStack	stack;
	Buffer		buf;

	Assert(check->how != UNIQUE_CHECK_NO);
	fpt_tid_decode(e->key.tid, &tid);
	for (;;)
	{
		FPTKey		lo,
					hi;
		TransactionId xwait;

		fpt_equal_range(ix, &e->key, &lo, &hi);
		buf = fpt_find_leaf(rel, ix, &lo, &stack);
		xwait = fpt_check_unique(rel, ix, buf, &e->key, check);
		if (!general)
			ix = fpt_index(rel);
		if (!TransactionIdIsValid(xwait))
			break;
		UnlockReleaseBuffer(buf);

		/* Wait for the other inserter, or its speculation, unlocked (L7). */
		fpt_stop_point(FPT_STOP_UNIQUE_WAIT);
		if (check->token)
			SpeculativeInsertionWait(xwait, check->token);
		else
			XactLockTableWait(xwait, rel, &tid, XLTW_InsertIndex);
		if (!general)
			ix = fpt_index(rel);
	}
	if (check->how == UNIQUE_CHECK_EXISTING)
		UnlockReleaseBuffer(buf);
	else
	{
		buf = fpt_walk_to_entry(rel, ix, buf, &e->key, &stack);
		fpt_insert_leaf(rel, ix, buf, e, &stack, del);
	}
	return check->is_unique;
}

/* See tree/insert.h. */
bool
fptinsert(Relation rel, Datum *values, bool *isnull, ItemPointer ht_ctid,
		  Relation heapRel, IndexUniqueCheck checkUnique, bool indexUnchanged,
		  IndexInfo *indexInfo)
{
	FPTIndex   *ix = fpt_index(rel);
	bool		general = fpt_is_general(&ix->layout);
	FPTKeyBuf	buf_key;
	bool		checking = checkUnique != UNIQUE_CHECK_NO;
	bool		is_unique = checkUnique != UNIQUE_CHECK_PARTIAL;
	FPTEntry	e;
	FPTDelete	del = {0};

	Assert(ItemPointerIsValid(ht_ctid));
	if (unlikely(fpt_map_unsettled(&ix->map)))
	{
		fpt_stripes_settle(rel, ix->map.stripes);
		ix = fpt_index(rel);	/* catalogues were read */
		ix->map.stripes->unsettled = false;
	}
	del.heapRel = heapRel;
	del.versions = indexUnchanged;
	if (general)
	{
		ix = fpt_insert_copy(rel, ix, indexInfo);
		fpt_general_form(ix->layout.arg, rel, values, isnull,
						 fpt_tid_encode(ht_ctid), &buf_key);
		e.key = buf_key.key;
	}
	else
		fpt_form_key(ix, values[0], isnull[0], fpt_tid_encode(ht_ctid), &e.key);
	e.down = 0;
	Assert(fpt_tid_is_valid(e.key.tid));

	/* NULLs are unlike anything, unless the index was declared otherwise. */
	if (fpt_any_null(rel, isnull) && !indexInfo->ii_NullsNotDistinct)
	{
		checking = false;
		is_unique = true;
	}
	del.unique = checking;
	if (checking)
	{
		FPTUniqueCheck check = {
			.heapRel = heapRel,
			.values = values,
			.isnull = isnull,
			.how = checkUnique,
		};

		is_unique = fpt_insert_checked(rel, ix, &e, &check, &del);
	}
	else
	{
		FPTStack	stack;
		Buffer		buf;

		/* A check that is made again inserts nothing. */
		if (checkUnique == UNIQUE_CHECK_EXISTING)
			return true;
		buf = fpt_find_leaf(rel, ix, &e.key, &stack);
		fpt_insert_leaf(rel, ix, buf, &e, &stack, &del);
	}
	if (general)
	{
		fpt_insert_learnt(rel, ix);
		fpt_warn_strayed(rel, ix);
	}
	fpt_check_twice(rel, &del);
	return is_unique;
}
