/*-------------------------------------------------------------------------
 *
 * sql/check.c
 *	  Verification of an index: fptree_index_check() and
 *	  fptree_index_parent_check().
 *
 * What can be told from one page alone is fpt_page_check()'s business.  Here
 * are the invariants between pages, between the levels, and between the index
 * and its table:
 *
 *	 - The pages of a level, followed by right links, tile the key space: the
 *	   first one's low fence is minus infinity, every other one's is, byte for
 *	   byte, its left sibling's high fence, the last one's high fence is plus
 *	   infinity.  As a page's fences are in ascending order and enclose its
 *	   entries, that proves that the entries of the whole level ascend, and
 *	   that the chain of right links has no cycle.
 *	 - Left links mirror right links, levels are what the walk expects, and no
 *	   deleted page is linked.
 *	 - The downlinks of the level above name the pages of this level one after
 *	   the other, with their low fences as separators.  A page without downlink
 *	   is one whose left sibling says so (FPT_F_INCOMPLETE).
 *	 - Pages that no level links to are deleted or were never used.
 *	 - Every leaf entry is found by a search from the root.
 *	 - Every visible row of the table has an entry with its key and TID, and no
 *	   entry leads to another row or to none (sql/heapcheck.c).
 *	 - No two visible rows of a unique index are equal.  As in an insertion,
 *	   a NULL in any key column makes a row unlike all others, unless the index
 *	   is one of NULLS NOT DISTINCT.
 *
 * fptree_index_check() takes AccessShareLock only.  Pages are copied one at a
 * time; where two copies contradict each other, splits and deletions that
 * happened in between may be the reason.  Then the way from the left sibling
 * is walked again with share locks coupled from left to right (the order in
 * which writers lock siblings), so that what is compared existed at one
 * instant; only a contradiction found that way is corruption.
 *
 * fptree_index_parent_check() takes ShareLock, which keeps off all writers and
 * VACUUM; nothing but hint bits changes while it looks.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "key/collation.h"
#include "key/general.h"
#include "key/image.h"
#include "key/tid.h"
#include "page/check.h"
#include "page/copy.h"
#include "page/format.h"
#include "page/hints.h"
#include "page/kernel.h"
#include "page/layout.h"
#include "page/prefix.h"
#include "server/compat.h"
#include "server/stop.h"
#include "sql/contradict.h"
#include "sql/heapcheck.h"
#include "sql/relcheck.h"
#include "store/buf.h"
#include "store/index.h"
#include "store/map.h"
#include "store/meta.h"
#include "store/place.h"
#include "tree/prefetch.h"
#include "tree/search.h"
#include "tree/sweep.h"

/* Pages that a walk with locks coupled may pass: it cannot be interrupted. */
#define FPT_VERIFY_MAX_WALK 64

/*
 * A private copy of a page, as it was at one instant, and its entries, n of
 * them: their tuples are in the copy.  Nothing in it is trusted until
 * fpt_page_check() has found nothing wrong.
 */
typedef struct FPTView
{
	char	   *page;			/* BLCKSZ */
	uint32		pageno;			/* what it was read as */
	int			n;				/* entries; 0 until they are extracted */
	FPTEntry   *entries;		/* room for FPT_MAX_ENTRIES */
} FPTView;

/*
 * The entries of one key in a unique index, as far as the walk has come.
 * "last" is a copy: the page of the first entry may be long gone.
 */
typedef struct FPTGroup
{
	bool		valid;			/* there is a group: equal keys are an error */
	bool		fetched;		/* the first entry's row was looked up */
	bool		live;			/* a visible row was found */
	FPTKeyBuf	last;			/* last image equal to the key */
	uint64		tid;			/* of the first entry, or of the visible row */
	uint32		pageno;			/* where that is */
} FPTGroup;

/*
 * A check under way.  All that it allocates is in one context, of
 * fpt_verify_in_context().
 */
typedef struct FPTVerify
{
	Relation	rel;
	Relation	heaprel;
	FPTIndex	ix;				/* a copy: rd_amcache may go away */
	bool		parent;			/* ShareLock is held, nothing changes */
	bool		heapallindexed; /* what the caller asked for */
	bool		rootdescend;
	bool		checkunique;	/* ... of a unique, not deferrable index */
	BufferAccessStrategy strategy;	/* reads do not flood shared buffers */
	Snapshot	snapshot;		/* for the table, or InvalidSnapshot */
	BlockNumber heapblocks;		/* or more; see fpt_verify_heap_tid() */
	uint32		npages;			/* when the check started */
	uint8	   *seen;			/* pages reached: one bit each */
	FPTView		target;			/* page under verification */
	FPTView		above;			/* parent check: the page that holds ... */
	int			above_next;		/* ... the next downlink, and its place */
	int64		nentries;		/* leaf entries seen */

	/* heapallindexed */
	FPTHeapCheck *table;		/* where entries are collected */
	uint16	   *slotids;		/* of the target's entries */
	bool		use_hints;		/* as index scans of this transaction do */

	/* checkunique */
	FPTKeyBuf	skip;			/* entries below were seen before */
	FPTGroup	group;
	FPTLookup	lookup;
} FPTVerify;

PG_FUNCTION_INFO_V1(fptree_index_check);
PG_FUNCTION_INFO_V1(fptree_index_parent_check);

/* Keys whose tuples are those in the page: private copies, or locked ones. */
static inline FPTKey
fpt_low(FPTVerify *v, void *page)
{
	return fpt_page_low(&v->ix.layout, page);
}

static inline FPTKey
fpt_high(FPTVerify *v, void *page)
{
	return fpt_page_high(&v->ix.layout, page);
}

/* --- reading pages ------------------------------------------------------- */

/*
 * A page that a link or a downlink of page "from" names must exist: raises an
 * error if it does not.
 */
static void
fpt_verify_exists(FPTVerify *v, uint32 pageno, uint32 from)
{
	if (!fpt_page_exists(v->rel, &v->ix.map, pageno))
		fpt_corrupt(v->rel, from,
					psprintf("Page links to page %u, which does not exist",
							 pageno));
}

/*
 * Raise an error if a page that "from" links to, locked or a copy, is not one
 * of this index, with this number and an encoding that we know.
 */
static void
fpt_verify_sane(FPTVerify *v, void *page, uint32 pageno, uint32 from)
{
	if (PageIsNew((Page) page))
		fpt_corrupt(v->rel, pageno,
					psprintf("Page is empty, but page %u links to it", from));
	if (!fpt_page_sane(&v->ix.layout, page, pageno))
		fpt_corrupt(v->rel, pageno,
					"Page header, identity or encoding is not valid");
}

/*
 * Copy a page that page "from" links to.  It is locked to read for that, and no
 * longer; raises an error if it is not sane.
 */
static void
fpt_verify_read(FPTVerify *v, FPTView *view, uint32 pageno, uint32 from)
{
	Assert(view == &v->target || view == &v->above);
	fpt_verify_exists(v, pageno, from);
	fpt_stop_point(FPT_STOP_CHECK_PAGE);
	fpt_copy_page(v->rel, &v->ix.map, pageno, v->strategy, view->page);
	view->pageno = pageno;
	view->n = 0;
	fpt_verify_sane(v, view->page, pageno, from);
	Assert(fpt_special(view->page)->pageno == pageno);
}

/* Take the entries out of a copy; raises an error if they make no sense. */
static void
fpt_verify_extract(FPTVerify *v, FPTView *view)
{
	Assert(fpt_special(view->page)->pageno == view->pageno);
	view->n = fpt_page_extract(&v->ix.layout, view->page, view->entries,
							   FPT_MAX_ENTRIES);
	if (view->n < 0)
		fpt_corrupt(v->rel, view->pageno, "Entries cannot be read");
}

/*
 * Pin and share-lock a page that page "from" links to.  Returns it so; raises
 * an error if it is not sane.
 */
static Buffer
fpt_verify_lock(FPTVerify *v, uint32 pageno, uint32 from)
{
	Buffer		buf;

	fpt_verify_exists(v, pageno, from);
	buf = fpt_rawread(v->rel, &v->ix.map, pageno, v->strategy);
	LockBuffer(buf, BUFFER_LOCK_SHARE);
	fpt_verify_sane(v, BufferGetPage(buf), pageno, from);
	return buf;
}

/* --- one level from left to right ---------------------------------------- */

/*
 * Is the target what a walk of this level expects to the right of page "prev"
 * (FPT_NOPAGE: at the start), whose high fence is "at"?  NULL or the reason.
 * The page is a copy or locked, and sane.  Fences are compared byte for byte:
 * raises nothing.
 */
static const char *
fpt_verify_arrival(FPTVerify *v, void *page, int level, uint32 prev,
				   const FPTKey *at)
{
	FPTPageHeader *h = fpt_header(page);

	if (h->flags & FPT_F_DELETED)
		return "Page is deleted, but another page links to it";
	if (h->level != level)
		return "Page is on another level than the page that links to it says";
	if (!fpt_page_begins_at(&v->ix.layout, page, at))
		return prev == FPT_NOPAGE ?
			"First page of its level has a low fence" :
			"Low fence differs from the left sibling's high fence";
	if (h->left != prev)
		return "Left link does not point back to the left sibling";
	return NULL;
}

/*
 * Walk right from page "from" to the page that covers "at", share locks
 * coupled, and copy it to the target.  False if the page has been deleted or
 * used for something else since, so that no walk can start there.  No lock is
 * left; two pages are locked at a time, from left to right (L3),
 * FPT_VERIFY_MAX_WALK in all (L11).  Raises an error about a contradiction.
 */
static bool
fpt_verify_walk(FPTVerify *v, uint32 from, int level, const FPTKey *at)
{
	uint32		pageno = from;
	Buffer		buf = fpt_verify_lock(v, from, from);
	Page		page = BufferGetPage(buf);
	FPTKey		low = fpt_low(v, page);
	FPTKey		high = fpt_high(v, page);
	FPTKeyBuf	passed;
	bool		usable = fpt_page_on_level(page, level) &&
	fpt_key_cmp(&v->ix.layout, &low, at) <= 0;
	int			steps = 0;

	Assert(!v->parent);			/* whose pages stay as they are */
	while (usable && fpt_key_cmp(&v->ix.layout, &high, at) <= 0)
	{
		uint32		next = fpt_header(page)->right;
		FPTKey		nexthigh;
		const char *problem;
		Buffer		nextbuf;

		if (next == FPT_NOPAGE || next == pageno)
			fpt_corrupt(v->rel, pageno, "Right link is not valid");
		nextbuf = fpt_verify_lock(v, next, pageno);
		page = BufferGetPage(nextbuf);
		fpt_key_copy(&passed, &high);
		problem = fpt_verify_arrival(v, page, level, pageno, &passed.key);
		nexthigh = fpt_high(v, page);
		if (problem == NULL &&
			fpt_key_cmp(&v->ix.layout, &passed.key, &nexthigh) >= 0)
			problem = "Low fence is not below the high fence";
		if (problem != NULL)
			fpt_corrupt(v->rel, next, problem);
		UnlockReleaseBuffer(buf);
		buf = nextbuf;
		pageno = next;
		high = nexthigh;
		usable = ++steps <= FPT_VERIFY_MAX_WALK;
	}
	Assert(fpt_buffer_locked(buf, false));
	memcpy(v->target.page, BufferGetPage(buf), BLCKSZ);
	v->target.pageno = pageno;
	UnlockReleaseBuffer(buf);
	return usable;
}

/*
 * The page that the walk arrived at is not the expected one, in an index that
 * others may be changing.  Find the page that covers "at" in a way that takes
 * concurrent changes into account.  It is the target then; nothing is locked on
 * return.  Raises an error if there is none.
 */
static void
fpt_verify_relocate(FPTVerify *v, int level, uint32 prev, const FPTKey *at)
{
	Buffer		buf;
	FPTKey		low;
	FPTKey		high;

	Assert(!v->parent);
	Assert(level >= 0 && level <= FPT_MAX_LEVEL);
	elog(DEBUG2, "concurrent change right of page %u of index \"%s\"",
		 prev, RelationGetRelationName(v->rel));
	if (prev != FPT_NOPAGE && fpt_verify_walk(v, prev, level, at))
		return;

	/* The left sibling is gone, too: start again from the root. */
	elog(DEBUG2, "starting again from the root of index \"%s\"",
		 RelationGetRelationName(v->rel));
	buf = fpt_descend(v->rel, &v->ix, at, level, BUFFER_LOCK_SHARE, NULL);
	v->target.pageno = fpt_bufpage(buf);
	memcpy(v->target.page, BufferGetPage(buf), BLCKSZ);
	UnlockReleaseBuffer(buf);
	low = fpt_low(v, v->target.page);
	high = fpt_high(v, v->target.page);
	if (fpt_header(v->target.page)->level != level ||
		fpt_key_cmp(&v->ix.layout, &low, at) > 0 ||
		fpt_key_cmp(&v->ix.layout, &high, at) <= 0)
	{
		fpt_contradict_page(v->rel, &v->ix, v->target.page,
							v->target.pageno);
		fpt_corrupt(v->rel, v->target.pageno,
					"A search from the root ends at the wrong page");
	}
}

/*
 * Account for having reached the target.  Where nothing can change, raises an
 * error if it was reached before.  Pages that were added since the check began
 * have no bit.
 */
static void
fpt_verify_mark(FPTVerify *v)
{
	uint32		pageno = v->target.pageno;
	uint8		bit = (uint8) (1 << (pageno % 8));

	if (pageno >= v->npages)
		return;
	if (v->parent && (v->seen[pageno / 8] & bit))
		fpt_corrupt(v->rel, pageno, "Page is linked more than once");
	v->seen[pageno / 8] |= bit;
}

/*
 * Make "pageno", right of page "prev" on this level, the target.  Copies it,
 * one lock at a time, or coupled ones (fpt_verify_walk); raises an error about
 * what is wrong with it.  "at" is the high fence of "prev", minus infinity at
 * the level's beginning; "from" is the page that has named "pageno".  The
 * target need not be that page: where others change the index it is the one
 * that covers "at", of which entries below v->skip have been seen.
 */
static void
fpt_verify_arrive(FPTVerify *v, int level, uint32 prev, const FPTKey *at,
				  uint32 pageno, uint32 from)
{
	const char *problem;
	FPTFault	fault;

	fpt_verify_read(v, &v->target, pageno, from);
	problem = fpt_verify_arrival(v, v->target.page, level, prev, at);
	if (problem != NULL)
	{
		if (v->parent)
			fpt_corrupt(v->rel, pageno, problem);
		fpt_verify_relocate(v, level, prev, at);
	}
	fpt_verify_mark(v);
	Assert(fpt_page_on_level(v->target.page, level));
	if (fpt_page_check(&v->ix.layout, v->target.page, v->target.pageno,
					   &fault) != NULL)
	{
		fpt_contradict_page(v->rel, &v->ix, v->target.page,
							v->target.pageno);
		fpt_corrupt_fault(v->rel, v->target.pageno, &fault);
	}
	fpt_verify_extract(v, &v->target);
	fpt_key_copy(&v->skip, at);
}

/* --- downlinks against the level below ----------------------------------- */

/*
 * Move the cursor on the level above to the next downlink; false at the end.
 * Copies pages of that level, one lock at a time; raises an error if one has
 * none.
 */
static bool
fpt_verify_next_downlink(FPTVerify *v)
{
	Assert(v->parent && v->above_next <= v->above.n);
	while (v->above_next >= v->above.n)
	{
		uint32		next = fpt_header(v->above.page)->right;

		if (next == FPT_NOPAGE)
			return false;
		fpt_verify_read(v, &v->above, next, v->above.pageno);
		fpt_verify_extract(v, &v->above);
		if (v->above.n == 0)
			fpt_corrupt(v->rel, next, "Inner page has no entries");
		v->above_next = 0;
	}
	return true;
}

/*
 * Parent check: the target must be the child of the next downlink, and start
 * where the separator says; or have none, if its left sibling says so.  Raises
 * an error if not.  Nothing is locked; a page of the level above may be copied.
 * Comparison functions of general keys run, on copies.
 */
static void
fpt_verify_downlink(FPTVerify *v, bool incomplete)
{
	bool		more = fpt_verify_next_downlink(v);
	uint32		pageno = v->target.pageno;
	FPTKey		low = fpt_low(v, v->target.page);
	FPTKey		sep;
	FPTEntry   *e;

	Assert(v->parent);
	if (incomplete)
	{
		if (more && v->above.entries[v->above_next].down == pageno)
			fpt_corrupt(v->rel, pageno,
						psprintf("Page has a downlink in page %u, but its left sibling's split is not finished",
								 v->above.pageno));
		return;
	}
	if (!more)
		fpt_corrupt(v->rel, pageno, "Page has no downlink in the level above");
	Assert(v->above_next >= 0 && v->above_next < v->above.n);
	e = &v->above.entries[v->above_next];
	if (e->down != pageno)
	{
		fpt_contradict_page(v->rel, &v->ix, v->target.page, pageno);
		fpt_corrupt(v->rel, v->above.pageno,
					psprintf("Downlink %d points to page %u instead of page %u",
							 v->above_next + 1, e->down, pageno));
	}

	/* The first separator of a page stands for the page's low fence. */
	sep = v->above_next == 0 ? fpt_low(v, v->above.page) : e->key;
	if (fpt_key_cmp(&v->ix.layout, &sep, &low) != 0)
		fpt_corrupt(v->rel, pageno,
					psprintf("Low fence differs from the separator in page %u",
							 v->above.pageno));
	v->above_next++;
}

/* --- entries of leaf pages ----------------------------------------------- */

/*
 * Does the entry's TID lie in the table, if that is a heap?  Raises an error if
 * it does not.
 *
 * Rows are added before their index entries, and the table is truncated after
 * removing them (under a lock that our lock on the table keeps off), hence the
 * size may be read late.
 */
static void
fpt_verify_heap_tid(FPTVerify *v, uint64 tid)
{
	uint64		block = tid >> 16;

	if (block >= InvalidBlockNumber)
		fpt_corrupt(v->rel, v->target.pageno, "Heap TID is not valid");
	if (v->heaprel->rd_tableam != GetHeapamTableAmRoutine() ||
		block < v->heapblocks)
		return;
	v->heapblocks = RelationGetNumberOfBlocks(v->heaprel);
	if (block >= v->heapblocks)
		fpt_corrupt(v->rel, v->target.pageno,
					psprintf("Entry points to block %u of table \"%s\", which has %u",
							 (uint32) block,
							 RelationGetRelationName(v->heaprel),
							 v->heapblocks));
}

/*
 * Raise an error unless the key is the image of some value, or its tuple has
 * the form that its columns ask for.  The page is a copy.
 */
static void
fpt_verify_image(FPTVerify *v, const FPTKey *key)
{
	FPTDecoded	room;
	FPTKey		again;

	Assert((v->ix.type == NULL) == fpt_is_general(&v->ix.layout));
	if (fpt_is_general(&v->ix.layout))
	{
		if (!fpt_general_valid(v->ix.layout.arg, key))
			fpt_corrupt(v->rel, v->target.pageno, "An entry's tuple is not valid");
		return;
	}
	if (key->cls != FPT_CLS_VALUE)
		return;
	fpt_form_key(&v->ix, fpt_key_value(&v->ix, key, &room), false, key->tid,
				 &again);
	if (fpt_image_cmp(key, &again) != 0)
		fpt_corrupt(v->rel, v->target.pageno,
					psprintf("Key is not the image of a value of type %s",
							 v->ix.type->name));
}

/*
 * rootdescend: raise an error unless a search from the root finds this entry.
 * Locks one page at a time, to read, and keeps none.
 */
static void
fpt_verify_search(FPTVerify *v, const FPTEntry *e)
{
	FPTLayout  *l = &v->ix.layout;
	Buffer		buf = fpt_descend(v->rel, &v->ix, &e->key, 0,
								  BUFFER_LOCK_SHARE, NULL);
	uint32		pageno = fpt_bufpage(buf);
	Page		page = BufferGetPage(buf);
	FPTEntry	found;
	FPTLoc		loc;
	bool		ok;

	Assert(v->parent && v->rootdescend);	/* so that nothing moves */
	ok = pageno == v->target.pageno &&
		fpt_page_lower_bound(l, page, &e->key, &loc) == FPT_OK &&
		fpt_page_get(l, page, loc, &found) == FPT_OK &&
		fpt_key_cmp(&v->ix.layout, &found.key, &e->key) == 0;
	UnlockReleaseBuffer(buf);
	if (ok)
		return;
	fpt_contradict_search(v->rel, &v->ix, &e->key, v->target.page,
						  v->target.pageno);
	fpt_corrupt(v->rel, v->target.pageno,
				psprintf("A search for the entry of heap TID (%u,%u) ends at page %u",
						 FPT_TID_FORMAT_ARGS(e->key.tid), pageno));
}

/*
 * Is any key column NULL?  Raises an error if the entry's tuple makes no sense.
 */
static bool
fpt_verify_any_null(FPTVerify *v, const FPTKey *key)
{
	return key->cls != FPT_CLS_VALUE ||
		(fpt_is_general(&v->ix.layout) &&
		 fpt_general_any_null(v->ix.layout.arg, key));
}

/*
 * The entry is the first one of its key: what follows is compared with it.
 * Entries with NULLs have no group, unless NULLs are equal.
 */
static void
fpt_verify_group_start(FPTVerify *v, const FPTKey *key)
{
	FPTGroup   *g = &v->group;
	FPTKey		lo;
	FPTKey		hi;

	Assert(v->rel->rd_index->indisunique);
	Assert(key->tid <= FPT_MAX_TID);
	g->valid = v->rel->rd_index->indnullsnotdistinct ||
		!fpt_verify_any_null(v, key);
	g->fetched = g->live = false;
	fpt_equal_range(&v->ix, key, &lo, &hi);
	if (!fpt_key_whole(&v->ix.layout, &hi, &g->last))
		fpt_corrupt(v->rel, v->target.pageno, "An entry's tuple is not valid");
	g->tid = key->tid;
	g->pageno = v->target.pageno;
}

/*
 * checkunique: entries come in order, so equal ones one after the other.  Rows
 * are looked up only where there are several, and each once.  Nothing is
 * locked; heap pages are for a moment.  Raises an error about two visible rows
 * of one key, and what comparison functions raise.  Entries below v->skip were
 * seen on another page, before a split.
 */
static void
fpt_verify_unique(FPTVerify *v, const FPTKey *key)
{
	FPTGroup   *g = &v->group;

	Assert(v->checkunique && v->snapshot != InvalidSnapshot);
	if (fpt_key_cmp(&v->ix.layout, key, &v->skip.key) < 0)
		return;
	if (!g->valid || fpt_key_cmp(&v->ix.layout, key, &g->last.key) > 0)
	{
		fpt_verify_group_start(v, key);
		return;
	}
	if (!g->fetched)
	{
		g->live = fpt_lookup_visible(&v->lookup, g->tid);
		g->fetched = true;
	}
	if (!fpt_lookup_visible(&v->lookup, key->tid))
		return;
	if (g->live)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is unique, but has two visible rows with the same key",
						RelationGetRelationName(v->rel)),
				 errdetail_internal("Heap TID (%u,%u) in page %u and heap TID (%u,%u) in page %u.",
									FPT_TID_FORMAT_ARGS(g->tid), g->pageno,
									FPT_TID_FORMAT_ARGS(key->tid),
									v->target.pageno),
				 errhint("Remove the duplicate rows, then run \"REINDEX INDEX %s;\" to rebuild the index.",
						 quote_identifier(RelationGetRelationName(v->rel)))));
	g->live = true;
	g->tid = key->tid;
	g->pageno = v->target.pageno;
}

/*
 * heapallindexed: is there something to learn from the leaf's dead-entry hints?
 * If so, get the numbers of its entries' slots.  Raises an error if they cannot
 * be read.
 */
static bool
fpt_verify_hints(FPTVerify *v)
{
	FPTLayout  *l = &v->ix.layout;
	FPTRun		run = {.slotids = v->slotids};
	Assert(v->heapallindexed && v->slotids != NULL);
	if (!v->use_hints || !fpt_page_has_hints(l, v->target.page))
		return false;
	if (fpt_page_copy_all(l, v->target.page, false, &run) != v->target.n)
		fpt_corrupt(v->rel, v->target.pageno, "Entries cannot be read");
	return true;
}

/*
 * heapallindexed: remember an entry.  One that is marked as dead does not
 * count, since index scans pass it over: rows are dead to all snapshots, ours
 * included, before their entries are marked.
 */
static void
fpt_verify_remember(FPTVerify *v, int i, bool hints)
{
	bool		dead = hints &&
	fpt_page_hint_get(&v->ix.layout, v->target.page, v->slotids[i]);

	Assert(i >= 0 && i < v->target.n && v->table != NULL);
	fpt_heapcheck_entry(v->table, &v->target.entries[i].key, dead);
}

/*
 * The entries of the leaf that is in v->target, as far as the caller wants
 * them checked.  No page is locked, so that values may be detoasted and rows
 * looked up (L7); raises an error about the first that is wrong.  With
 * checkunique it may be cancelled at each entry.
 */
static void
fpt_verify_leaf(FPTVerify *v)
{
	bool		hints = v->heapallindexed && fpt_verify_hints(v);

	Assert(fpt_page_on_level(v->target.page, 0));
	for (int i = 0; i < v->target.n; i++)
	{
		FPTEntry   *e = &v->target.entries[i];

		fpt_verify_heap_tid(v, e->key.tid);
		fpt_verify_image(v, &e->key);
		if (v->rootdescend)
			fpt_verify_search(v, e);
		if (v->heapallindexed)
			fpt_verify_remember(v, i, hints);
		if (v->checkunique)
		{
			CHECK_FOR_INTERRUPTS();
			fpt_verify_unique(v, &e->key);
		}
	}
	v->nentries += v->target.n;
}

/*
 * The entries of the inner page that is in v->target: their children must
 * exist.  Raises an error if one does not.
 */
static void
fpt_verify_inner(FPTVerify *v)
{
	Assert(fpt_header(v->target.page)->level > 0);
	for (int i = 0; i < v->target.n; i++)
		fpt_verify_exists(v, v->target.entries[i].down, v->target.pageno);
}

/* --- levels -------------------------------------------------------------- */

/*
 * Put the cursor on the level above before its first downlink; "first" is that
 * level's first page.  Copies it; raises an error if it is not sane.
 */
static void
fpt_verify_above_start(FPTVerify *v, uint32 first)
{
	Assert(v->parent);
	fpt_verify_read(v, &v->above, first, first);
	fpt_verify_extract(v, &v->above);
	v->above_next = 0;
}

/*
 * Verify a level.  "first" is its first page as page "from" says; the same of
 * the next level below is returned.  The root's level has no level above.
 * Locks one page at a time, or two (L3), and keeps none; may be cancelled.
 * Raises an error about the first thing that is wrong.
 */
static uint32
fpt_verify_level(FPTVerify *v, int level, bool isroot, uint32 first,
				 uint32 from)
{
	FPTKey		minf = {.cls = FPT_CLS_MINF};
	FPTKey		high;
	FPTKeyBuf	at;
	uint32		below = FPT_NOPAGE;
	uint32		prev = FPT_NOPAGE;
	uint32		pageno = first;
	bool		incomplete = false;
	FPTSweep   *sweep = NULL;

	Assert(level >= 0 && level <= FPT_MAX_LEVEL);
	if (!isroot)
		sweep = fpt_sweep_begin(v->rel, &v->ix, level, v->strategy);
	fpt_key_copy(&at, &minf);
	while (pageno != FPT_NOPAGE)
	{
		FPTPageHeader *h = fpt_header(v->target.page);

		CHECK_FOR_INTERRUPTS();
		if (sweep != NULL)
			fpt_sweep_step(sweep);
		fpt_verify_arrive(v, level, prev, &at.key, pageno, from);
		if (v->parent && !isroot)
			fpt_verify_downlink(v, incomplete);
		if (level == 0)
			fpt_verify_leaf(v);
		else
		{
			fpt_verify_inner(v);
			if (below == FPT_NOPAGE)
				below = v->target.entries[0].down;
		}
		high = fpt_high(v, v->target.page);
		fpt_key_copy(&at, &high);
		incomplete = (h->flags & FPT_F_INCOMPLETE) != 0;
		from = prev = v->target.pageno;
		pageno = h->right;
	}
	if (incomplete)
		fpt_corrupt(v->rel, prev,
					"Split is not finished, but there is no right sibling");
	if (v->parent && !isroot && fpt_verify_next_downlink(v))
		fpt_corrupt(v->rel, v->above.pageno,
					psprintf("Downlink %d points to page %u, which its level does not reach",
							 v->above_next + 1,
							 v->above.entries[v->above_next].down));
	if (sweep != NULL)
		fpt_sweep_end(sweep);
	return below;
}

/*
 * Returns the root's level.  Raises an error if it is no root.  It is the
 * target afterwards.
 */
static int
fpt_verify_root(FPTVerify *v)
{
	FPTPageHeader *h;

	/* It may become another one before it is read, once. */
	do
	{
		(void) fpt_find_root(v->rel, &v->ix);
		fpt_verify_read(v, &v->target, v->ix.root, FPT_METAPAGE);
		h = fpt_header(v->target.page);
	} while (h->right != FPT_NOPAGE && fpt_find_root(v->rel, &v->ix));
	if (h->flags != 0)
		fpt_corrupt(v->rel, v->ix.root,
					psprintf("Root page has flags 0x%04X", h->flags));
	if (h->left != FPT_NOPAGE || h->right != FPT_NOPAGE)
		fpt_corrupt(v->rel, v->ix.root, "Root page has siblings");
	if (h->level == 0 && v->ix.root != FPT_FIRSTPAGE)
		fpt_corrupt(v->rel, v->ix.root, "Root page is a leaf");
	return h->level;
}

/*
 * From the root to the leaves, each level from left to right.  Raises an error
 * about the first thing that is wrong; may be cancelled.  Each level's first
 * page is the one that the first downlink of the level above names.
 */
static void
fpt_verify_levels(FPTVerify *v)
{
	int			rootlevel = fpt_verify_root(v);
	int			level;
	uint32		first = v->ix.root;
	uint32		from = FPT_METAPAGE;

	for (level = rootlevel; level >= 0; level--)
	{
		bool		isroot = level == rootlevel;
		uint32		below;

		elog(DEBUG1, "verifying level %d of index \"%s\"", level,
			 RelationGetRelationName(v->rel));
		if (v->parent && !isroot)
			fpt_verify_above_start(v, from);
		below = fpt_verify_level(v, level, isroot, first, from);
		from = first;
		first = below;
	}
	Assert(first == FPT_NOPAGE);	/* nothing is below leaves */
}

/* --- the metapage and pages outside the levels --------------------------- */

/*
 * What is wrong with a metapage, compared with the index's description?  NULL
 * if nothing is.  The page is a copy.  The description was made of the same
 * page, and checked, when the index was opened first: it cannot differ but by
 * damage.
 */
static const char *
fpt_verify_meta_problem(FPTVerify *v, char *page)
{
	FPTPageSpecial *s = fpt_special(page);
	FPTMetaData *m = fpt_meta(page);
	FPTLayout  *l = &v->ix.layout;

	if (s->pageid != FPT_PAGE_ID || s->version != FPT_VERSION ||
		s->pageno != FPT_METAPAGE || s->indexid != l->indexid)
		return "Metapage has another page's identity";
	if (m->magic != FPT_MAGIC)
		return "Metapage has a wrong magic number";
	if (m->version != (v->ix.map.stripes != NULL ? FPT_VERSION_STRIPED :
					   FPT_VERSION))
		return "Metapage has an unknown version number";
	if (m->indexid != l->indexid)
		return "Metapage belongs to another index";
	if (m->keyclass != fpt_meta_keyclass(fpt_is_general(l)) ||
		m->collversion != v->ix.collversion || m->keysize != l->keysize)
		return "Metapage has another key size than the index";
	if (m->nullsfirst != (l->nullsfirst ? 1 : 0) ||
		m->descending != (v->ix.descending ? 1 : 0) ||
		l->nullsfirst != fpt_rel_nullsfirst(v->rel) ||
		v->ix.descending != fpt_rel_descending(v->rel))
		return "Metapage has another sort order than the index";
	if (m->linesize != FPT_LINE ||
		m->nstripes != Max(fpt_nstripes(&v->ix.map), 1))
		return "Metapage has an unknown geometry";
	if (memcmp(m->widths, l->geoms->widths, sizeof(m->widths)) != 0)
		return "Metapage has other node widths than the index";
	if (!fpt_meta_root_valid(m))
		return "Metapage has no root";
	for (int i = 0; i < (int) lengthof(m->reserved); i++)
	{
		if (m->reserved[i] != 0)
			return "Metapage has data in its reserved bytes";
	}
	return NULL;
}

/*
 * Raise an error if the metapage is not, or not any more, what the index's
 * description was made of.
 */
static void
fpt_verify_meta(FPTVerify *v)
{
	const char *problem;

	fpt_copy_page(v->rel, &v->ix.map, FPT_METAPAGE, v->strategy,
				  v->target.page);
	problem = fpt_verify_meta_problem(v, v->target.page);
	if (problem != NULL)
		fpt_corrupt(v->rel, FPT_METAPAGE, problem);
}

/*
 * Pages that the walk did not reach.  A page that was allocated and not linked
 * because of a crash is all zeroes, or still marked as deleted: a page's first
 * contents and the links to it come in one WAL record.  Copies one page at a
 * time; may be cancelled.  Raises an error only if nobody can have changed the
 * index meanwhile.
 */
static void
fpt_verify_unlinked(FPTVerify *v)
{
	char	   *page = v->target.page;
	uint32		lost = 0;
	uint32		free = 0;
	uint32		pageno;

	Assert(v->seen[0] & (1 << FPT_FIRSTPAGE));
	for (pageno = FPT_FIRSTPAGE; pageno < v->npages; pageno++)
	{
		if (v->seen[pageno / 8] & (1 << (pageno % 8)))
			continue;
		/* of stripes, some are shorter than others */
		if (!fpt_page_exists(v->rel, &v->ix.map, pageno))
			continue;
		CHECK_FOR_INTERRUPTS();
		fpt_copy_page(v->rel, &v->ix.map, pageno, v->strategy, page);
		if (PageIsNew((Page) page) ||
			(fpt_page_sane(&v->ix.layout, page, pageno) &&
			 (fpt_header(page)->flags & FPT_F_DELETED)))
		{
			free++;
			continue;
		}
		if (v->parent)
			fpt_corrupt(v->rel, pageno,
						"Page is neither linked to nor deleted");
		lost++;
	}

	/* Others may have split pages behind the walk: nothing to worry about. */
	if (lost > 0)
		elog(DEBUG1, "%u pages of index \"%s\" were not reached", lost,
			 RelationGetRelationName(v->rel));
	elog(DEBUG1, "%u pages of index \"%s\" are free", free,
		 RelationGetRelationName(v->rel));
}

/* --- the table ----------------------------------------------------------- */

/*
 * The snapshot that heapallindexed and checkunique look at the table with, in
 * v->snapshot; the caller unregisters it.  It is taken before the first leaf
 * page is read, so that entries of all rows it sees are in the index by then,
 * and no TID that a leaf page names can have been given to another row it sees.
 * Raises an error if the transaction's is too old for the index.
 */
static void
fpt_verify_snapshot(FPTVerify *v)
{
	HeapTupleHeader row = v->rel->rd_indextuple->t_data;

	Assert(v->snapshot == InvalidSnapshot);
	v->snapshot = RegisterSnapshot(GetTransactionSnapshot());

	/*
	 * In REPEATABLE READ that may be an old one, which sees rows older than
	 * an index whose creation met broken HOT chains must know.
	 */
	if (IsolationUsesXactSnapshot() && v->rel->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(row),
							   v->snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" cannot be verified using transaction snapshot",
						RelationGetRelationName(v->rel)),
				 errhint("Verify it in another transaction.")));
}

/* --- the whole ----------------------------------------------------------- */

/* Memory for a page and its entries, in the current context. */
static void
fpt_view_init(FPTView *view)
{
	memset(view, 0, sizeof(*view));
	view->page = palloc(BLCKSZ);
	view->entries = palloc(FPT_MAX_ENTRIES * sizeof(FPTEntry));
}

/*
 * Check an index that is open and locked, as v says.  Raises an error about
 * the first thing that is wrong; else nothing is held at the end but what the
 * caller had.
 */
static void
fpt_verify_index(FPTVerify *v)
{
	Assert(CheckRelationLockedByMe(v->rel, v->parent ? ShareLock :
								   AccessShareLock, true));
	Assert(CheckRelationLockedByMe(v->heaprel, v->parent ? ShareLock :
								   AccessShareLock, true));
	fpt_index_copy(v->rel, &v->ix);
	if (v->ix.stale)
		fpt_warn_stale(v->rel);
	v->npages = fpt_npages(v->rel, &v->ix.map);
	v->strategy = GetAccessStrategy(BAS_BULKREAD);
	v->seen = MemoryContextAllocExtended(CurrentMemoryContext,
										 v->npages / 8 + 1,
										 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	fpt_view_init(&v->target);
	fpt_view_init(&v->above);
	v->checkunique = v->checkunique && v->rel->rd_index->indisunique &&
		v->rel->rd_index->indimmediate;

	fpt_verify_meta(v);
	if (v->heapallindexed || v->checkunique)
		fpt_verify_snapshot(v);
	if (v->heapallindexed)
	{
		v->table = fpt_heapcheck_begin(v->rel, v->heaprel, &v->ix,
									   v->snapshot, v->parent);
		v->slotids = palloc(FPT_MAX_ENTRIES * sizeof(uint16));
		v->use_hints = !TransactionStartedDuringRecovery();
	}
	if (v->checkunique)
		fpt_lookup_begin(&v->lookup, v->heaprel, v->snapshot);

	fpt_verify_levels(v);
	fpt_verify_unlinked(v);

	if (v->checkunique)
		fpt_lookup_end(&v->lookup);
	if (v->heapallindexed)
		fpt_heapcheck_end(v->table);
	if (v->snapshot != InvalidSnapshot)
		UnregisterSnapshot(v->snapshot);
	elog(DEBUG1, "%lld entries of index \"%s\" verified",
		 (long long) v->nentries, RelationGetRelationName(v->rel));
}

/*
 * All that is allocated for one index is freed at once, so that a query that
 * checks many does not gather it.  After an error it goes with its parent.
 */
static void
fpt_verify_in_context(FPTVerify *v)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree verification",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);

	fpt_verify_index(v);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

/*
 * False, with a notice, if there is no file to look into.  Raises an error if
 * the file is missing.
 */
static bool
fpt_verify_has_storage(Relation rel)
{
	if (!fpt_has_contents(rel))
	{
		ereport(NOTICE,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot verify unlogged index \"%s\" during recovery, skipping",
						RelationGetRelationName(rel))));
		return false;
	}
	if (!fpt_has_storage(rel))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" lacks a main relation fork",
						RelationGetRelationName(rel)),
				 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
						 quote_identifier(RelationGetRelationName(rel)))));
	return true;
}

/*
 * Open, verify and close.  The table is locked before the index, as everywhere
 * else.  Expressions and predicates of the index run as the table's owner, in a
 * security-restricted context.  Raises an error if it is no index of ours, or
 * about the first thing that is wrong; locks are given back at the end.
 */
static void
fpt_verify_relation(Oid indexid, FPTVerify *v)
{
	LOCKMODE	lockmode = v->parent ? ShareLock : AccessShareLock;
	Oid			heapid = IndexGetRelation(indexid, true);
	FPTCaller	caller;

	if (OidIsValid(heapid))
	{
		v->heaprel = table_open(heapid, lockmode);
		fpt_become_owner(v->heaprel, &caller);
	}
	else
		lockmode = AccessShareLock; /* not an index: what is it instead? */
	v->rel = fpt_open_index(indexid, lockmode);

	/* The first look-up of the table was done without a lock. */
	if (!OidIsValid(heapid) || IndexGetRelation(indexid, true) != heapid)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open the table of index \"%s\"",
						RelationGetRelationName(v->rel))));
	fpt_require_valid(v->rel);
	if (fpt_verify_has_storage(v->rel))
		fpt_verify_in_context(v);

	fpt_become_caller(&caller);
	index_close(v->rel, lockmode);
	table_close(v->heaprel, lockmode);
}

/*
 * fptree_index_check(index regclass, heapallindexed bool, checkunique bool)
 *
 * Beside others' changes: AccessShareLock on table and index.  Raises an error
 * about the first contradiction; may be cancelled.
 */
Datum
fptree_index_check(PG_FUNCTION_ARGS)
{
	FPTVerify	v = {.heapallindexed = PG_GETARG_BOOL(1),
	.checkunique = PG_GETARG_BOOL(2)};

	fpt_verify_relation(PG_GETARG_OID(0), &v);
	PG_RETURN_VOID();
}

/*
 * fptree_index_parent_check(index regclass, heapallindexed bool,
 *							 rootdescend bool, checkunique bool)
 *
 * With all others kept from writing: ShareLock on table and index.  As the
 * other one, and checks downlinks, lost pages, and entries without rows as
 * well.
 */
Datum
fptree_index_parent_check(PG_FUNCTION_ARGS)
{
	FPTVerify	v = {.parent = true, .heapallindexed = PG_GETARG_BOOL(1),
	.rootdescend = PG_GETARG_BOOL(2), .checkunique = PG_GETARG_BOOL(3)};

	fpt_verify_relation(PG_GETARG_OID(0), &v);
	PG_RETURN_VOID();
}
