/*-------------------------------------------------------------------------
 *
 * store/counts.c
 *	  Counters of scans of each index, of all sessions.
 *
 * They are in a segment of shared memory that all sessions find by its name,
 * without the library being preloaded: from 17 on.  Before, nothing is counted
 * for others than the session.
 *
 * It is a table of a fixed size, of sets.  An index has its place in one set,
 * by a hash of its OID and its database's; where that is full, it takes the
 * place of the index that has been scanned the longest time ago.  So those of
 * indexes that were dropped go when the room is needed, and nobody has to tell.
 *
 * A scan writes to it once, when it ends, under the spinlock of one set.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/spin.h"
#include "utils/resowner.h"

#include "server/compat.h"
#include "store/counts.h"

uint64		fpt_counters[FPT_NCOUNTERS];

const char *const fpt_counter_names[FPT_NCOUNTERS] = {
	[FPT_LEAF_ISSUED] = "leaf_issued",
	[FPT_LEAF_CACHED] = "leaf_cached",
	[FPT_LEAF_WASTED] = "leaf_wasted",
	[FPT_LEAF_REQUESTS] = "leaf_requests",
	[FPT_HEAP_ISSUED] = "heap_issued",
	[FPT_HEAP_CACHED] = "heap_cached",
	[FPT_HEAP_WASTED] = "heap_wasted",
	[FPT_HEAP_REQUESTS] = "heap_requests",
	[FPT_DISTANCE_MAX] = "distance_max",
	[FPT_SKIP_OFF] = "skip_off",
	[FPT_SKIP_LIMIT] = "skip_limit",
	[FPT_SKIP_SHORT] = "skip_short",
	[FPT_SKIP_PAUSE] = "skip_pause",
	[FPT_SKIP_END] = "skip_end",
	[FPT_SKIP_SEQUENTIAL] = "skip_sequential",
	[FPT_SKIP_LOST] = "skip_lost",
	[FPT_SKIP_GONE] = "skip_gone",
	[FPT_SKIP_KIND] = "skip_kind",
	[FPT_SKIP_BITMAP] = "skip_bitmap",
	[FPT_SKIP_VISIBLE] = "skip_visible",
	[FPT_SKIP_PINNED] = "skip_pinned",
	[FPT_SKIP_FAR] = "skip_far",
};

/*
 * Indexes that may be in each other's way, with the lock that is theirs alone.
 */
typedef struct FPTCountsSet
{
	slock_t		lock;			/* of all below; held for a few lines */
	FPTCounts	of[FPT_COUNTS_WAYS];
} FPTCountsSet;

/* The segment; its size is a part of its name. */
typedef struct FPTCountsTable
{
	FPTCountsSet sets[FPT_COUNTS_SETS];
} FPTCountsTable;

bool		fpt_counts_untried = true;
static FPTCountsTable *table = NULL;

/* Callback of the segment's creation: in one session, before others see it. */
static void
fpt_counts_init(FPT_SEGMENT_INIT_PARAMS)
{
	FPTCountsTable *t = ptr;

	memset(t, 0, sizeof(FPTCountsTable));
	for (int i = 0; i < FPT_COUNTS_SETS; i++)
		SpinLockInit(&t->sets[i].lock);
}

/*
 * Find the table, or make it.  Where there is no shared memory left for it, the
 * statement goes on, with a warning, and the session counts nothing: hence the
 * subtransaction, which releases what the attempt has locked.  A cancellation
 * has to wait.  Needs a running statement; keeps no lock; raises no error.
 */
void
fpt_counts_attach(void)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	void	   *volatile found;
	char		name[NAMEDATALEN];

	Assert(fpt_counts_untried && table == NULL);
	Assert(IsTransactionState());
	fpt_counts_untried = false;
	if (!fpt_have_segments())
		return;
	/* Another version of the library may have counters of another size. */
	snprintf(name, sizeof(name), "fptree_stat_indexes_%zu",
			 sizeof(FPTCountsTable));
	HOLD_INTERRUPTS();
	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		found = fpt_named_segment(name, sizeof(FPTCountsTable),
								  fpt_counts_init);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
		table = found;
	}
	PG_CATCH();
	{
		ErrorData  *e;

		HOLD_INTERRUPTS();		/* the error has let them through */
		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
		ereport(WARNING,
				(errcode(e->sqlerrcode),
				 errmsg("this session does not count scans of fptree indexes"),
				 errdetail("There is no shared memory for the counters: %s.",
						   e->message)));
		FreeErrorData(e);
	}
	PG_END_TRY();
	RESUME_INTERRUPTS();
}

/* The set of an index of this database.  Locks nothing. */
static FPTCountsSet *
fpt_counts_set(Oid index)
{
	uint32		hash = hash_combine(murmurhash32(MyDatabaseId),
									murmurhash32(index));

	Assert(table != NULL && OidIsValid(index));
	return &table->sets[hash % FPT_COUNTS_SETS];
}

/*
 * Returns an index's place in its set, whose lock is held: cleared, if it is a
 * new one.  The place taken is an unused one, whose last scan was never, or
 * that of the index that has not been scanned for the longest time.
 */
static FPTCounts *
fpt_counts_place(FPTCountsSet *set, Oid index, TimestampTz now)
{
	FPTCounts  *oldest = &set->of[0];

	for (int i = 0; i < FPT_COUNTS_WAYS; i++)
	{
		FPTCounts  *c = &set->of[i];

		if (c->index == index && c->db == MyDatabaseId)
			return c;
		if (c->last < oldest->last)
			oldest = c;
	}
	memset(oldest, 0, sizeof(FPTCounts));
	oldest->db = MyDatabaseId;
	oldest->index = index;
	oldest->since = now;
	return oldest;
}

/* See store/counts.h. */
void
fpt_counts_add(Oid index, uint64 scans, const uint64 *n)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();
	FPTCountsSet *set;
	FPTCounts  *c;
	uint64		distance;

	if (table == NULL || scans == 0 || !pgstat_track_counts)
		return;
	set = fpt_counts_set(index);
	SpinLockAcquire(&set->lock);
	c = fpt_counts_place(set, index, now);
	c->scans += scans;
	c->last = Max(c->last, now);
	distance = Max(c->n[FPT_DISTANCE_MAX], n[FPT_DISTANCE_MAX]);
	for (int i = 0; i < FPT_NCOUNTERS; i++)
		c->n[i] += n[i];
	c->n[FPT_DISTANCE_MAX] = distance;
	SpinLockRelease(&set->lock);
}

/* See store/counts.h.  Copied, so that nothing is done under the spinlock. */
int
fpt_counts_read(int set, FPTCounts *to)
{
	FPTCountsSet *s;
	int			n = 0;

	Assert(set >= 0 && set < FPT_COUNTS_SETS);
	fpt_counts_begin();
	if (table == NULL)
		return 0;
	s = &table->sets[set];
	SpinLockAcquire(&s->lock);
	for (int i = 0; i < FPT_COUNTS_WAYS; i++)
	{
		if (s->of[i].db == MyDatabaseId)
			to[n++] = s->of[i];
	}
	SpinLockRelease(&s->lock);
	return n;
}

/*
 * See store/counts.h.  An index keeps its place, and the time of its last scan,
 * by which places are given away.
 */
void
fpt_counts_reset(Oid index)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();

	fpt_counts_begin();
	if (table == NULL)
		return;
	for (int i = 0; i < FPT_COUNTS_SETS; i++)
	{
		FPTCountsSet *s = &table->sets[i];

		SpinLockAcquire(&s->lock);
		for (int j = 0; j < FPT_COUNTS_WAYS; j++)
		{
			FPTCounts  *c = &s->of[j];

			if (c->db != MyDatabaseId ||
				(OidIsValid(index) && c->index != index))
				continue;
			c->scans = 0;
			c->since = now;
			memset(c->n, 0, sizeof(c->n));
		}
		SpinLockRelease(&s->lock);
	}
}
