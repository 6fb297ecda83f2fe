/*-------------------------------------------------------------------------
 *
 * server/stop.c
 *	  Stop points: places where a test can hold a backend, see server/stop.h.
 *
 * Only in builds for tests ("make STOP_POINTS=1").  What is armed is known to
 * its own backend only, so that nothing is shared and nothing is left behind.
 * Parallel workers get the setting from their leader, and arm all of it anew.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/guc.h"
#include "utils/rel.h"

#include "server/stop.h"

#define FPT_MAX_ARMED		8		/* points in the setting, at most */

/* A point at which this session stops. */
typedef struct FPTArmed
{
	FPTStop		point;
	int			visits;			/* still to come until it stops; 0: done */
	int			gate;			/* advisory lock, or 0: raise an error */
} FPTArmed;

/* By number, as in the setting and in docs/testing.md */
static const char *const fpt_stop_names[FPT_NSTOPS] = {
	[FPT_STOP_DESCEND] = "descend",
	[FPT_STOP_MOVE_RIGHT] = "move_right",
	[FPT_STOP_GUESS] = "guess",
	[FPT_STOP_LOCK_PAGE] = "lock_page",
	[FPT_STOP_LOCK_BUSY] = "lock_busy",
	[FPT_STOP_SCAN_STEP] = "scan_step",
	[FPT_STOP_SCAN_PAGE] = "scan_page",
	[FPT_STOP_SCAN_ASKED] = "scan_asked",
	[FPT_STOP_SCAN_KILL] = "scan_kill",
	[FPT_STOP_PUTOFF_VISIT] = "putoff_visit",
	[FPT_STOP_WINDOW_FILL] = "window_fill",
	[FPT_STOP_RIGHTMOST] = "rightmost",
	[FPT_STOP_INSERT_LEAF] = "insert_leaf",
	[FPT_STOP_PREDICATE] = "predicate",
	[FPT_STOP_DELETE] = "delete",
	[FPT_STOP_FINISH_SPLIT] = "finish_split",
	[FPT_STOP_SPLIT_SIBLING] = "split_sibling",
	[FPT_STOP_LEAF_SPLIT] = "leaf_split",
	[FPT_STOP_LEAF_LINKED] = "leaf_linked",
	[FPT_STOP_INNER_SPLIT] = "inner_split",
	[FPT_STOP_INNER_LINKED] = "inner_linked",
	[FPT_STOP_ROOT_SPLIT] = "root_split",
	[FPT_STOP_LOCK_PARENT] = "lock_parent",
	[FPT_STOP_ALLOC_PAGE] = "alloc_page",
	[FPT_STOP_EXTEND_PAGE] = "extend_page",
	[FPT_STOP_UNIQUE_CHECK] = "unique_check",
	[FPT_STOP_UNIQUE_STEP] = "unique_step",
	[FPT_STOP_UNIQUE_WALK] = "unique_walk",
	[FPT_STOP_UNIQUE_WAIT] = "unique_wait",
	[FPT_STOP_VACUUM_CHUNK] = "vacuum_chunk",
	[FPT_STOP_VACUUM_LEAF] = "vacuum_leaf",
	[FPT_STOP_CLEANUP_BUSY] = "cleanup_busy",
	[FPT_STOP_LEAF_EMPTY] = "leaf_empty",
	[FPT_STOP_UNLINK_LEFT] = "unlink_left",
	[FPT_STOP_UNLINK_PARENT] = "unlink_parent",
	[FPT_STOP_LEAF_UNLINKED] = "leaf_unlinked",
	[FPT_STOP_INNER_UNLINKED] = "inner_unlinked",
	[FPT_STOP_JOIN_LEAF] = "join_leaf",
	[FPT_STOP_JOIN_ALONE] = "join_alone",
	[FPT_STOP_MERGE_INNER] = "merge_inner",
	[FPT_STOP_FREE_PAGES] = "free_pages",
	[FPT_STOP_BUILD_LOAD] = "build_load",
	[FPT_STOP_BUILD_META] = "build_meta",
	[FPT_STOP_BUILD_DONE] = "build_done",
	[FPT_STOP_CHECK_PAGE] = "check_page",
};

int			fpt_stops_armed = 0;
char	   *fpt_guc_test_tablespaces = NULL;

static FPTArmed fpt_armed[FPT_MAX_ARMED];
static char *fpt_guc_stop_at = NULL;

/* --- the setting ------------------------------------------------------- */

/*
 * A number from 1 on at *s, which is moved behind it; -1 if there is none, or
 * it is above a million.
 */
static int
fpt_stop_number(const char **s)
{
	char	   *end;
	long		n = strtol(*s, &end, 10);

	if (end == *s || n < 1 || n > 1000000)
		return -1;
	*s = end;
	return (int) n;
}

/* The point of that name; FPT_NSTOPS: there is none. */
static FPTStop
fpt_stop_find(const char *name, size_t len)
{
	int			i;

	for (i = 0; i < FPT_NSTOPS; i++)
	{
		Assert(fpt_stop_names[i] != NULL);	/* each has one */
		if (strlen(fpt_stop_names[i]) == len &&
			strncmp(fpt_stop_names[i], name, len) == 0)
			break;
	}
	return (FPTStop) i;
}

/*
 * Read the setting; returns the number of points, or -1.  Changes armed[] only;
 * of a list that is wrong some of it.  Raises nothing, allocates nothing: it
 * runs in check and assign hooks.
 */
static int
fpt_stop_parse(const char *s, FPTArmed armed[FPT_MAX_ARMED])
{
	int			n = 0;

	for (s += strspn(s, " ,"); *s != '\0'; s += strspn(s, " ,"))
	{
		size_t		len = strcspn(s, " ,:@!");
		FPTArmed	a = {fpt_stop_find(s, len), 1, 1};

		s += len;
		if (*s == ':')
		{
			s++;
			a.visits = fpt_stop_number(&s);
		}
		if (*s == '@')
		{
			s++;
			a.gate = fpt_stop_number(&s);
		}
		else if (*s == '!')
		{
			s++;
			a.gate = 0;
		}
		if (n == FPT_MAX_ARMED || a.point == FPT_NSTOPS || a.visits < 0 ||
			a.gate < 0 || (*s != '\0' && strspn(s, " ,") == 0))
			return -1;
		armed[n++] = a;
	}
	return n;
}

/* check_hook of fptree.stop_at: is the list one?  Changes nothing. */
static bool
fpt_stop_check(char **newval, void **extra, GucSource source)
{
	FPTArmed	armed[FPT_MAX_ARMED];

	return fpt_stop_parse(*newval, armed) >= 0;
}

/*
 * assign_hook: arms the points, whose visits are counted from here on.  The
 * list has passed the check.
 */
static void
fpt_stop_assign(const char *newval, void *extra)
{
	fpt_stops_armed = fpt_stop_parse(newval, fpt_armed);
	Assert(fpt_stops_armed >= 0 && fpt_stops_armed <= FPT_MAX_ARMED);
}

/* Declares the settings; from _PG_init(), before the prefix is reserved. */
void
fpt_stop_init(void)
{
	DefineCustomStringVariable("fptree.stop_at",
							   "Points at which this session stops, for tests.",
							   NULL, &fpt_guc_stop_at, "", PGC_SUSET,
							   GUC_NOT_IN_SAMPLE, fpt_stop_check,
							   fpt_stop_assign, NULL);
	DefineCustomStringVariable("fptree.test_tablespaces",
							   "Tablespaces of indexes that name none, for tests.",
							   NULL, &fpt_guc_test_tablespaces, "",
							   PGC_SUSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

/* --- stopping ---------------------------------------------------------- */

/*
 * Wait until whoever holds the gate lets go of it.  Page locks may be held:
 * then this cannot be cancelled.
 */
static void
fpt_stop_wait(int gate)
{
	LOCKTAG		tag;

	Assert(gate > 0 && CritSectionCount == 0);
	/* What pg_advisory_lock(bigint) locks; shared, so that several may wait. */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, 0, (uint32) gate, 1);
	(void) LockAcquire(&tag, ShareLock, true, false);
	(void) LockRelease(&tag, ShareLock, true);
}

/*
 * A backend has come by a point: wait, or raise an error, if it was told to.
 * Page locks may be held, and are when this returns.  A point counts its visits
 * until it stops, and never again.
 */
void
fpt_stop_hit(FPTStop point)
{
	Assert(CritSectionCount == 0);
	Assert(point >= 0 && point < FPT_NSTOPS);
	for (int i = 0; i < fpt_stops_armed; i++)
	{
		FPTArmed   *a = &fpt_armed[i];

		if (a->point != point || a->visits == 0 || --a->visits > 0)
			continue;
		if (a->gate == 0)
			ereport(ERROR,
					(errcode(ERRCODE_QUERY_CANCELED),
					 errmsg("stopped at point \"%s\"", fpt_stop_names[point])));
		fpt_stop_wait(a->gate);
	}
}

/*
 * A visit counts only if somebody else keeps us from the lock: that is tried,
 * and given back at once.  Leaves the buffer as it was, pinned and not locked.
 * Nothing is tried unless the point is armed.
 */
void
fpt_stop_hit_busy(FPTStop point, Buffer buf)
{
	bool		got;
	int			i;

	Assert(point == FPT_STOP_CLEANUP_BUSY || point == FPT_STOP_LOCK_BUSY);
	Assert(BufferIsValid(buf) && CritSectionCount == 0);
	for (i = 0; i < fpt_stops_armed; i++)
	{
		if (fpt_armed[i].point == point && fpt_armed[i].visits > 0)
			break;
	}
	if (i == fpt_stops_armed)
		return;
	got = point == FPT_STOP_CLEANUP_BUSY ?
		ConditionalLockBufferForCleanup(buf) : ConditionalLockBuffer(buf);
	if (got)
		LockBuffer(buf, BUFFER_LOCK_UNLOCK);
	else
		fpt_stop_hit(point);
}

/*
 * While the extension lock is held no other heavyweight lock may be waited for.
 * So nobody else can say when to go on: let go of the gate, which is our own,
 * and wait until somebody wants the extension lock, or has used the page.  The
 * free space map is told that it is free, as one out of date may say.  Called
 * with the extension lock and the page's pin, and keeps them; raises an error
 * after a minute.
 */
void
fpt_stop_hit_extending(Relation rel, Buffer buf)
{
	LOCKTAG		tag;
	int			i;
	int			msec;

	Assert(BufferIsValid(buf) && CritSectionCount == 0);
	for (i = 0; i < fpt_stops_armed; i++)
	{
		if (fpt_armed[i].point == FPT_STOP_EXTEND_PAGE &&
			fpt_armed[i].visits > 0 && --fpt_armed[i].visits == 0)
			break;
	}
	if (i == fpt_stops_armed)
		return;
	Assert(fpt_armed[i].gate > 0);	/* ours, see the setting */
	RecordFreeIndexPage(rel, BufferGetBlockNumber(buf));
	IndexFreeSpaceMapVacuum(rel);
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, 0, (uint32) fpt_armed[i].gate, 1);
	(void) LockRelease(&tag, ExclusiveLock, true);
	for (msec = 0; msec < 60000; msec++)
	{
		/* this counts its holder, too */
		if (RelationExtensionLockWaiterCount(rel) > 1)
			return;
		if (!PageIsNew(BufferGetPage(buf)))
		{
			/* who has taken the page needs no other one */
			LockBuffer(buf, BUFFER_LOCK_SHARE);
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
			return;
		}
		pg_usleep(1000L);
	}
	elog(ERROR, "nobody waits for the extension lock, or takes the page");
}
