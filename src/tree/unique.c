/*-------------------------------------------------------------------------
 *
 * tree/unique.c
 *	  Uniqueness check of an insertion.
 *
 * The protocol is nbtree's (_bt_check_unique): the exclusive lock of the first
 * leaf that could hold the key is kept all through the check and until the
 * entry is in, or the page to its right is locked.  Two inserters of one key
 * meet at that lock, and the second one sees the first one's entry.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "key/tid.h"
#include "page/copy.h"
#include "page/format.h"
#include "page/hints.h"
#include "page/kernel.h"
#include "page/port.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/place.h"
#include "tree/predicate.h"
#include "tree/search.h"
#include "tree/unique.h"

/* State of one check */
typedef struct FPTUnique
{
	Relation	rel;
	FPTIndex   *ix;
	FPTUniqueCheck *c;
	const FPTKey *key;			/* of the new row, */
	uint64		self;			/* and its TID */
	FPTKey		lo;				/* keys equal to the new one, as btree has it */
	FPTKey		hi;
	SnapshotData dirty;
	bool		found;			/* an entry of the row itself was met */
} FPTUnique;

static void
fpt_report_duplicate(FPTUnique *u)
{
	char	   *desc = BuildIndexValueDescription(u->rel, u->c->values,
												  u->c->isnull);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates unique constraint \"%s\"",
					RelationGetRelationName(u->rel)),
			 desc ? errdetail("Key %s already exists.", desc) : 0,
			 errtableconstraint(u->c->heapRel,
								RelationGetRelationName(u->rel))));
}

/*
 * A definite conflict with a committed row.  Unless our own row is dead by now
 * (CREATE INDEX CONCURRENTLY inserts rows that may be), it is an error.
 * Returns with the leaves locked as they were, or raises the error with none
 * locked: functions of types print the values (L7).
 */
static void
fpt_definite_conflict(FPTUnique *u, Buffer first, Buffer cur)
{
	ItemPointerData self;
	uint32		firstpage;

	fpt_tid_decode(u->self, &self);
	if (!table_index_fetch_tuple_check(u->c->heapRel, &self, SnapshotSelf,
									   NULL))
		return;

	/* Serializable transactions may fail for a better reason. */
	firstpage = fpt_bufpage(first);
	fpt_predicate_check(u->rel, u->ix, u->key, firstpage);
	if (BufferIsValid(cur) && cur != first)
		UnlockReleaseBuffer(cur);
	UnlockReleaseBuffer(first);
	fpt_report_duplicate(u);
}

/*
 * Examine one equal entry.  Returns a transaction to wait for, if any; *stop:
 * the check is over.  The leaves stay locked, cur at least to read, while heap
 * pages are (L6).  A definite conflict is raised as an error.  The table may
 * process invalidations: u->ix is a copy.  An entry whose row is dead to
 * everybody gets its hint.
 */
static TransactionId
fpt_unique_entry(FPTUnique *u, Buffer first, Buffer cur, uint64 tid,
				 int slotid, bool *stop)
{
	ItemPointerData htid;
	bool		all_dead = false;
	TransactionId xwait;
	Page		page = BufferGetPage(cur);

	Assert(fpt_buffer_locked(first, true) && fpt_buffer_locked(cur, false));
	if (fpt_page_hint_get(&u->ix->layout, page, slotid))
		return InvalidTransactionId;

	/* The row itself; if it is not checked again, fpt_note_twice() follows. */
	if (tid == u->self)
	{
		u->found = true;
		return InvalidTransactionId;
	}
	fpt_tid_decode(tid, &htid);
	if (!table_index_fetch_tuple_check(u->c->heapRel, &htid, &u->dirty,
									   &all_dead))
	{
		uint16		slot = (uint16) slotid;

		/*
		 * Dead to everybody: the whole HOT chain.  The page has been locked
		 * since its entries were copied, so the slot still is this entry's.
		 */
		if (all_dead)
			fpt_leave_hints(&u->ix->layout, cur, &slot, &tid, NULL, 1);
		return InvalidTransactionId;
	}
	if (u->c->how == UNIQUE_CHECK_PARTIAL)
	{
		u->c->is_unique = false;
		*stop = true;
		return InvalidTransactionId;
	}
	xwait = TransactionIdIsValid(u->dirty.xmin) ?
		u->dirty.xmin : u->dirty.xmax;
	if (TransactionIdIsValid(xwait))
	{
		u->c->token = u->dirty.speculativeToken;
		*stop = true;
		return xwait;
	}
	fpt_definite_conflict(u, first, cur);
	*stop = true;				/* our row is dead: nothing to enforce */
	return InvalidTransactionId;
}

/* Examine n entries of a page that were copied, as fpt_unique_entry() does. */
static inline TransactionId
fpt_unique_entries(FPTUnique *u, Buffer first, Buffer cur, const FPTRun *run,
				   int n, bool *stop)
{
	TransactionId xwait = InvalidTransactionId;

	for (int i = 0; i < n && !*stop && !TransactionIdIsValid(xwait); i++)
		xwait = fpt_unique_entry(u, first, cur, run->tids[i], run->slotids[i],
								 stop);
	return xwait;
}

/*
 * Examine all equal entries of one page, which is locked, as fpt_unique_entry()
 * does, and return what that does.  Raises an error if the page is damaged, or
 * if comparing does.
 */
static TransactionId
fpt_unique_page(FPTUnique *u, Buffer first, Buffer cur, bool *stop)
{
	const FPTLayout *l = &u->ix->layout;
	Page		page = BufferGetPage(cur);
	uint64		tids[FPT_MAX_CAP];
	uint16		slotids[FPT_MAX_CAP];
	FPTRun		run = {.tids = tids, .slotids = slotids};
	FPTLoc		from,
				to;
	TransactionId xwait = InvalidTransactionId;

	Assert(BufferIsValid(first) && BufferIsValid(cur));
	Assert(fpt_key_cmp(l, &u->lo, &u->hi) < 0);
	Assert(u->lo.tid == 0 && u->hi.tid == FPT_MAX_TID);
	if (fpt_whole_image(l, &u->lo, &u->hi))
	{
		int			kid;
		int			n = fpt_page_copy_image(l, page, &u->lo, false, &run, &kid);

		if (n >= 0)
		{
			fpt_guess_learn(&u->ix->guess, l, page, kid);
			return fpt_unique_entries(u, first, cur, &run, n, stop);
		}
	}
	if (fpt_page_range(l, page, &u->lo, &u->hi, &from, &to) != FPT_OK)
		fpt_corrupt_page(u->rel, l, page, fpt_bufpage(cur));
	fpt_guess_learn(&u->ix->guess, l, page, from.kid);
	while (from.kid <= to.kid && !*stop && !TransactionIdIsValid(xwait))
	{
		FPTLoc		next = {.kid = from.kid + 1};
		int			n = fpt_page_copy(l, page, from,
									  from.kid < to.kid ? next : to, false,
									  &run);

		if (n < 0)
			fpt_corrupt_page(u->rel, l, page, fpt_bufpage(cur));
		xwait = fpt_unique_entries(u, first, cur, &run, n, stop);
		from = next;
	}
	return xwait;
}

/*
 * Lock the right sibling to read, unlocking the page unless it is the first,
 * whose exclusive lock stays.  Returns it; raises an error unless it continues
 * the page (L11).  Cannot be cancelled.
 */
static pg_noinline Buffer
fpt_unique_step(FPTUnique *u, Buffer first, Buffer cur, uint32 steps)
{
	FPTKeyBuf	next;
	uint32		right = fpt_header(BufferGetPage(cur))->right;
	Buffer		buf;

	Assert(BufferIsValid(first) && BufferIsValid(cur));
	next.key = fpt_page_high(&u->ix->layout, BufferGetPage(cur));
	Assert(next.key.cls != FPT_CLS_PINF);
	fpt_key_copy(&next, &next.key);
	if (right <= FPT_FIRSTPAGE || right == fpt_bufpage(cur) ||
		right == fpt_bufpage(first))
		fpt_corrupt(u->rel, fpt_bufpage(cur), "The right link is not valid");

	/*
	 * The right sibling is locked before cur is let go (L3), so nobody can
	 * split or unlink it in between: it must continue where cur ends.
	 */
	fpt_stop_point(FPT_STOP_UNIQUE_STEP);
	buf = fpt_getbuf(u->rel, u->ix, right, BUFFER_LOCK_SHARE);
	if (cur != first)
		UnlockReleaseBuffer(cur);
	fpt_check_continues(u->rel, u->ix, buf, &next.key, steps);
	return buf;
}

/*
 * See tree/unique.h.  It ends at the first page that goes beyond the equal
 * keys: whatever equals the key is in these pages, and nobody else who checks
 * the key can add to them, as he would need the first one's lock.
 */
TransactionId
fpt_check_unique(Relation rel, FPTIndex *ix, Buffer buf, const FPTKey *key,
				 FPTUniqueCheck *c)
{
	FPTUnique	u;
	FPTIndex   *copy = palloc(sizeof(FPTIndex));
	Buffer		cur = buf;
	bool		stop = false;
	uint32		steps = 0;
	TransactionId xwait = InvalidTransactionId;

	Assert(c->how != UNIQUE_CHECK_NO);
	Assert(fpt_tid_is_valid(key->tid));
	Assert(fpt_header(BufferGetPage(buf))->level == 0);
	Assert(fpt_buffer_locked(buf, true));
	/* heap visibility checks may invalidate */
	*copy = *ix;
	fpt_map_own(&copy->map);
	memset(&u, 0, sizeof(u));
	u.rel = rel;
	u.ix = copy;
	u.c = c;
	u.key = key;
	u.self = key->tid;
	c->is_unique = true;
	c->token = 0;
	fpt_equal_range(copy, key, &u.lo, &u.hi);
	InitDirtySnapshot(u.dirty);
	fpt_stop_point(FPT_STOP_UNIQUE_CHECK);
	for (;;)
	{
		FPTKey		high;

		xwait = fpt_unique_page(&u, buf, cur, &stop);
		if (stop || fpt_page_below_high(&u.ix->layout, BufferGetPage(cur),
										&u.hi))
			break;

		/*
		 * So the fence is one of the keys looked for; unless the order has
		 * changed, and the walk, which cannot be cancelled, might be long
		 * (L11).
		 */
		high = fpt_page_high(&u.ix->layout, BufferGetPage(cur));
		if (fpt_key_cmp(&u.ix->layout, &high, &u.lo) < 0)
			break;
		cur = fpt_unique_step(&u, buf, cur, ++steps);
	}
	if (cur != buf)
		UnlockReleaseBuffer(cur);
	fpt_map_free(&copy->map);
	pfree(copy);
	if (c->how == UNIQUE_CHECK_EXISTING && !u.found && !stop)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("failed to re-find tuple within index \"%s\"",
						RelationGetRelationName(rel)),
				 errhint("This may be because of a non-immutable index expression."),
				 errtableconstraint(c->heapRel, RelationGetRelationName(rel))));
	return xwait;
}
