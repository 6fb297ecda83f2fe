/*-------------------------------------------------------------------------
 *
 * tree/vacuum.c
 *	  VACUUM: removing dead entries, recycling pages.
 *
 * The leaf level is walked along its right links, in key order, with a cleanup
 * lock on each page (index-only scans rely on it).  Splits move entries to the
 * right only, so the walk misses none.  Before it, the file is read from front
 * to back, and dead entries are removed where nobody is in the way (fpt_pass).
 * The walk then need not read a leaf again whose links and fences, as they were
 * noted, prove that it is the next one (fpt_walk_noted): in most indexes none.
 * Those that are empty it has to unlink, and asks for beforehand
 * (fpt_walk_ahead).
 *
 * The walk compares no keys.  Nobody else unlinks leaves, so the next one is
 * known by its number, and proves by its fence and its left link that nothing
 * is between (fpt_walk_certify); otherwise VACUUM fails.  Nor does it end well
 * if it has not met a page to which a downlink led when it began
 * (tree/reach.h).  If it passed a leaf by, entries would stay whose
 * TIDs are given to other rows.
 *
 * An empty leaf is unlinked (tree/unlink.h); one that has few entries is merged
 * with its left sibling (tree/join.h).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/collation.h"
#include "key/tid.h"
#include "page/copy.h"
#include "page/form.h"
#include "page/format.h"
#include "page/join.h"
#include "page/kernel.h"
#include "page/layout.h"
#include "page/remove.h"
#include "server/compat.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/index.h"
#include "store/map.h"
#include "store/place.h"
#include "tree/delete.h"
#include "tree/join.h"
#include "tree/prefetch.h"
#include "tree/reach.h"
#include "tree/search.h"
#include "tree/sweep.h"
#include "tree/unlink.h"
#include "tree/vacuum.h"

/*
 * Leaves that the callback is asked about together; in the order of the file
 * 24.  No more than three quarters of VACUUM's ring of buffers, so that they
 * are in shared buffers still when their entries are removed.
 */
#define FPT_CHUNK_LEAVES	128
#define FPT_PASS_PAGES		24
#define FPT_PASS_RING(ring)	Max((uint32) (ring) / 4 * 3, 1)

/* Parts of the table that a chunk's entries are sorted into. */
#define FPT_CHUNK_PARTS		1024

/* Bytes of n verdicts, of a bit each. */
#define FPT_BITS_SIZE(n)		(((n) + 63) / 64 * sizeof(uint64))

/* An entry of a chunk. */
typedef struct FPTChunkTid
{
	uint64		tid;
	uint64		pos;			/* in the chunk */
} FPTChunkTid;

/*
 * A fence's bytes, hashed.  Which leaf is the next one is known by its number;
 * the fence must agree with that, and does not where a page is damaged.
 */
typedef uint64 FPTFenceId;

typedef struct FPTChunk
{
	int			n;				/* leaves */
	int			max;			/* leaves there is memory for */
	uint32		pageno[FPT_CHUNK_LEAVES];
	XLogRecPtr	lsn[FPT_CHUNK_LEAVES];	/* of a leaf when it was read */
	int			first[FPT_CHUNK_LEAVES + 1];	/* in the arrays below */
	FPTFenceId	high;			/* where the chunk ends, in key order */
	uint64	   *tids;			/* leaf by leaf, of each as fpt_page_tids() */
	uint64	   *dead;			/* verdicts on them, a bit each */
	FPTChunkTid *order;			/* in heap order */
} FPTChunk;

/*
 * The leaf level is done up to "at".  There "next" begins, the right sibling of
 * "prev" (FPT_NOPAGE at the ends of the level) when the walk last saw either.
 */
typedef struct FPTWalk
{
	FPTFenceId	at;
	uint32		prev;
	uint32		next;
} FPTWalk;

/*
 * Which entries of a leaf are dead that the pass has left to the walk, by its
 * slots: that holds as long as the leaf has this LSN (W1, W6).
 */
typedef struct FPTKept
{
	XLogRecPtr	lsn;
	int			n;				/* all entries */
	int			ndead;
	int			nslots;			/* of the array; the others are empty */
	uint64		slots[FLEXIBLE_ARRAY_MEMBER];
} FPTKept;

/*
 * A leaf from which the dead entries were removed before the walk, as it was
 * then, under the cleanup lock.  If it was empty then, or was left, the walk
 * takes its word for nothing: the links are hints, as the parent always is.
 */
typedef struct FPTNote
{
	FPTFenceId	low;
	union
	{
		FPTFenceId	high;
		FPTKept    *kept;		/* if live is 0; may be NULL */
	}			end;
	uint32		left;
	uint32		right;
	uint32		parent;			/* or FPT_NOPAGE */
	uint16		live;			/* entries left, 0: the walk has to come */
	uint16		fill:11;		/* how full it was, in thousandths */
	uint16		gone:5;			/* part that was removed, FPT_GONE_ALL: all */
} FPTNote;

/* The fill of a leaf that is not merged with any other. */
#define FPT_FILL_NONE		2000

/* FPTNote.gone of a leaf all of whose entries this VACUUM has removed. */
#define FPT_GONE_ALL		31

/*
 * Two leaves may become one that is fuller than others (fpt_walk_most), and
 * three become two, only if VACUUM has removed this part of their entries on
 * average, in units of 1/FPT_GONE_ALL.  Else leaves that were split for want of
 * room would be filled again, and split again by the next insertions.
 */
#define FPT_GONE_LEAST		8

/* How much emptier than two full pages the three must be, in thousandths. */
#define FPT_SLIDE_SPARE		20

/*
 * Of an index that has not grown since the last VACUUM what the next insertions
 * need, this one has freed.  So it is enough if each of the three has lost an
 * entry or so, and if they have more room in two: with less, these would be
 * split soon.
 */
#define FPT_GONE_STEADY			1
#define FPT_SLIDE_SPARE_STEADY	60

/*
 * Growth of an index that does not count, as part of its entries.  With more,
 * one that grows by little at a time would have its splits undone each time.
 */
#define FPT_STEADY_SHARE	1024

/* A leaf that the walk has passed. */
typedef struct FPTPassed
{
	uint32		pageno;			/* or FPT_NOPAGE */
	int			fill;			/* in thousandths, or FPT_FILL_NONE */
	int			gone;			/* as in FPTNote */
} FPTPassed;

typedef struct FPTVacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void	   *callback_state;
	Relation	rel;
	FPTIndex	ix;				/* own copy, see FPTIndex */
	uint32		npages;			/* pages of the index when the walk began */
	FPTReach	reach;			/* which of these were met in the tree */
	FPTPrune	prune;			/* what takes pages out of it */
	uint32		nleaves;		/* passed, and still linked */
	int			most[2];		/* fills of merged leaves (fpt_join_most) */
	bool		steady;			/* the index has not grown */
	FPTPassed	last;			/* the leaf that the walk has passed last, */
	FPTPassed	left;			/* the one to the left of that, */
	FPTPassed	left2;			/* and its left sibling */
	uint64	   *tids;			/* of one leaf */
	uint64	   *verdicts;		/* on them, a bit each */
	bool		sorts;			/* the callback is asked in heap order */
	FPTChunk	chunk;
	FPTNote    *notes;			/* of each page, or NULL */
	Size		kept;			/* bytes of what they keep */
	uint64		nlive;			/* entries that the pass has left */
	uint32		nempty;			/* noted empty, and not told the sweep yet */
	uint32		ntold;			/* told, and not come to yet */
	uint32		ahead;			/* leaf to look at next for more of them */
	uint32		nlooks;			/* so many were looked at */
	FPTSweep   *sweep;			/* leaves read ahead */
} FPTVacuum;

static FPTFenceId
fpt_fence_id(const FPTKey *k)
{
	uint64		clslen = (uint64) k->cls << 32 | k->len;
	uint64		fixed[4] = {k->hi, k->lo, k->tid, clslen};
	uint64		id;

	id = hash_bytes_extended((const unsigned char *) fixed, sizeof(fixed), 0);
	if (k->len > 0)
		id = hash_bytes_extended((const unsigned char *) k->tup, (int) k->len,
								 id);
	return id;
}

static FPTFenceId
fpt_low_id(FPTVacuum *v, Page page)
{
	FPTKey		k = fpt_page_low(&v->ix.layout, page);

	return fpt_fence_id(&k);
}

static FPTFenceId
fpt_high_id(FPTVacuum *v, Page page)
{
	FPTKey		k = fpt_page_high(&v->ix.layout, page);

	return fpt_fence_id(&k);
}

/* What was noted about a page, or NULL. */
static inline FPTNote *
fpt_note_of(FPTVacuum *v, uint32 pageno)
{
	if (v->notes == NULL || pageno >= v->npages || v->notes[pageno].live == 0)
		return NULL;
	return &v->notes[pageno];
}

/* Was this leaf empty after the pass had been there? */
static inline bool
fpt_noted_empty(FPTVacuum *v, uint32 pageno)
{
	const FPTNote *note;

	if (v->notes == NULL || pageno >= v->npages)
		return false;
	note = &v->notes[pageno];

	/* A leaf without neighbours is never unlinked. */
	return note->live == 0 &&
		(note->left != FPT_NOPAGE || note->right != FPT_NOPAGE);
}

/* --- deleting entries ---------------------------------------------------- */

/* Copy the TIDs of a locked leaf, in no order; returns their number. */
static int
fpt_leaf_tids(FPTVacuum *v, Buffer buf, uint64 *tids)
{
	Page		page = BufferGetPage(buf);
	int			n;

	Assert(fpt_buffer_locked(buf, false) && fpt_header(page)->level == 0);
	n = fpt_page_tids(&v->ix.layout, page, tids, NULL);
	if (n < 0)
		fpt_corrupt_page(v->rel, &v->ix.layout, page, fpt_bufpage(buf));
	return n;
}

static inline bool
fpt_ask(IndexBulkDeleteCallback callback, void *state, uint64 tid)
{
	ItemPointerData t;

	fpt_tid_decode(tid, &t);
	return callback(&t, state);
}

/*
 * Ask about n TIDs, one after the other: the i'th bit of dead[] is set if so,
 * and cleared if not, as are those behind the last one in its word.  Nothing is
 * locked, or one leaf, for cleanup (L7).
 */
static void
fpt_ask_all(const FPTVacuum *v, const uint64 *tids, int n, uint64 *dead)
{
	IndexBulkDeleteCallback callback = v->callback;
	void	   *state = v->callback_state;

	while (n > 0)
	{
		int			m = Min(n, 64);
		uint64		bits = 0;

		for (int i = 0; i < m; i++)
			bits |= (uint64) fpt_ask(callback, state, tids[i]) << i;
		*dead++ = bits;
		tids += m;
		n -= m;
	}
}

/*
 * Which of the entries of a leaf that is locked are dead?  Returns answers as
 * bits, of which the leaf's begin at *first, and their number in *n, in the
 * order of fpt_page_tids().  From the chunk's answers if the leaf still has the
 * entries that they were given about, where they were, as it has if it has the
 * LSN it had (W1, W6); else by asking again, under its lock (L7): the
 * callback's answers do not change.  The leaf is locked for cleanup; the
 * answers are v's, and hold until the next call.  Raises an error if it is
 * damaged.
 */
static const uint64 *
fpt_leaf_verdicts(FPTVacuum *v, Buffer buf, int *first, int *n)
{
	FPTChunk   *c = &v->chunk;
	int			at = 0;

	Assert(c->n <= c->max && c->max <= FPT_CHUNK_LEAVES);
	Assert(fpt_buffer_locked(buf, true));
	while (at < c->n && c->pageno[at] != fpt_bufpage(buf))
		at++;
	if (at < c->n)
		*first = c->first[at];
	if (at < c->n && RelationNeedsWAL(v->rel) &&
		c->lsn[at] == PageGetLSN(BufferGetPage(buf)))
	{
		*n = c->first[at + 1] - c->first[at];
		return c->dead;
	}
	*n = fpt_leaf_tids(v, buf, v->tids);
	if (at < c->n && c->first[at + 1] - c->first[at] == *n &&
		memcmp(c->tids + c->first[at], v->tids, *n * sizeof(uint64)) == 0)
		return c->dead;
	fpt_ask_all(v, v->tids, *n, v->verdicts);
	*first = 0;
	return v->verdicts;
}

/* The part of n entries that "ndead" are, see FPTNote.gone. */
static inline int
fpt_gone(int ndead, int n)
{
	return n > 0 ? (ndead * FPT_GONE_ALL + n - 1) / n : 0;
}

/*
 * Keep the pass's findings about a leaf, locked for cleanup, for the walk, if
 * there is memory for it, in its note.
 */
static void
fpt_leaf_keep(FPTVacuum *v, Buffer buf, const uint64 slots[FPT_MAX_NODES],
			  int n, int ndead)
{
	Size		most = fpt_vacuum_mem() * (Size) 1024 -
		v->npages * sizeof(FPTNote);
	FPTNote    *note = &v->notes[fpt_bufpage(buf)];
	int			nslots = FPT_MAX_NODES;
	FPTKept    *kept;
	Size		size;

	Assert(note->live == 0 && note->end.kept == NULL);
	while (nslots > 0 && slots[nslots - 1] == 0)
		nslots--;
	size = offsetof(FPTKept, slots) + nslots * sizeof(uint64);
	if (!RelationNeedsWAL(v->rel) || v->kept + size > most)
		return;
	kept = palloc(size);
	kept->lsn = PageGetLSN(BufferGetPage(buf));
	kept->n = n;
	kept->ndead = ndead;
	kept->nslots = nslots;
	memcpy(kept->slots, slots, nslots * sizeof(uint64));
	note->end.kept = kept;
	v->kept += size;
}

/*
 * Fill slots and *n with the pass's findings about a leaf, which is locked for
 * cleanup, and return the number of dead entries; -1: it has kept nothing, or
 * the leaf has changed since.
 */
static int
fpt_leaf_kept(FPTVacuum *v, Buffer buf, uint64 slots[FPT_MAX_NODES], int *n)
{
	uint32		pageno = fpt_bufpage(buf);
	const FPTKept *kept;

	if (v->notes == NULL || pageno >= v->npages || v->notes[pageno].live > 0)
		return -1;
	kept = v->notes[pageno].end.kept;
	if (kept == NULL || kept->lsn != PageGetLSN(BufferGetPage(buf)))
		return -1;
	memset(slots, 0, FPT_MAX_NODES * sizeof(uint64));
	memcpy(slots, kept->slots, kept->nslots * sizeof(uint64));
	*n = kept->n;
	return kept->ndead;
}

/*
 * Which slots of a leaf that is locked for cleanup have dead entries?  Fills
 * slots, and *n with the number of all entries; returns that of the dead ones.
 * Raises an error if the leaf is damaged.
 */
static int
fpt_leaf_dead(FPTVacuum *v, Buffer buf, uint64 slots[FPT_MAX_NODES], int *n)
{
	Page		page = BufferGetPage(buf);
	int			first = 0;
	int			ndead = fpt_leaf_kept(v, buf, slots, n);
	const uint64 *dead;

	Assert(fpt_header(page)->level == 0);
	if (ndead >= 0)
	{
#ifdef USE_ASSERT_CHECKING
		uint64		now[FPT_MAX_NODES] = {0};
		int			all;

		dead = fpt_leaf_verdicts(v, buf, &first, &all);
		Assert(all == *n && ndead == fpt_page_marked(&v->ix.layout, page, dead,
													 first, all, now));
		Assert(memcmp(now, slots, sizeof(now)) == 0);
#endif
		return ndead;
	}
	memset(slots, 0, FPT_MAX_NODES * sizeof(uint64));
	dead = fpt_leaf_verdicts(v, buf, &first, n);
	Assert(*n >= 0 && *n <= FPT_MAX_ENTRIES);
	ndead = fpt_page_marked(&v->ix.layout, page, dead, first, *n, slots);
	if (ndead < 0)
		fpt_corrupt_page(v->rel, &v->ix.layout, page, fpt_bufpage(buf));
	return ndead;
}

/*
 * Remove the "ndead" entries in these slots from a leaf that is locked for
 * cleanup, and stays so.  Raises an error, with nothing changed, if it is
 * damaged.
 */
static void
fpt_vacuum_leaf(FPTVacuum *v, Buffer buf, const uint64 slots[FPT_MAX_NODES],
				int ndead)
{
	if (ndead > 0)
		fpt_leaf_remove(v->rel, &v->ix.layout, buf, slots);
	v->stats->tuples_removed += ndead;
}

/* How full is a locked leaf with n entries?  In thousandths. */
static int
fpt_leaf_fill(FPTVacuum *v, Page page, int n)
{
	int			fill = -1;

	if (v->most[0] > 0)
		fill = fpt_page_guess_fill(&v->ix.layout, page, n);
	return fill < 0 ? FPT_FILL_NONE : Min(fill, FPT_FILL_NONE);
}

/* --- chunks -------------------------------------------------------------- */

/* Is this a leaf that begins at that fence? */
static inline bool
fpt_leaf_begins_at(FPTVacuum *v, Page page, FPTFenceId at)
{
	return fpt_page_on_level(page, 0) && fpt_low_id(v, page) == at;
}

/* The last leaf, and no other, has no end and no right sibling. */
static inline bool
fpt_leaf_ends_well(FPTVacuum *v, Page page)
{
	return (fpt_header(page)->right == FPT_NOPAGE) ==
		(fpt_page_high(&v->ix.layout, page).cls == FPT_CLS_PINF);
}

/*
 * Put the n entries of a chunk in heap order, roughly: by parts of the table.
 * To sort them for good would take longer than asking about them.  Fills
 * c->order, which has room for them.  Raises nothing, whatever the TIDs are.
 */
static void
fpt_chunk_sort(FPTChunk *c, int n)
{
	int			start[FPT_CHUNK_PARTS] = {0};
	uint64		all = 0;
	int			shift = 0;
	int			sum = 0;

	for (int i = 0; i < n; i++)
		all |= c->tids[i];
	while (all >> shift >= FPT_CHUNK_PARTS)
		shift++;
	for (int i = 0; i < n; i++)
		start[c->tids[i] >> shift]++;
	for (int i = 0; i < FPT_CHUNK_PARTS; i++)
	{
		int			here = start[i];

		start[i] = sum;
		sum += here;
	}
	for (int i = 0; i < n; i++)
	{
		FPTChunkTid *o = &c->order[start[c->tids[i] >> shift]++];

		Assert(o < c->order + n);
		o->tid = c->tids[i];
		o->pos = i;
	}
	Assert(sum == n);
}

/*
 * Ask the callback about a chunk's entries.  Its answer is a search among all
 * dead TIDs; asked in heap order those searches find what they touch in the
 * processor's cache.  Sets c->dead.  No page is locked or pinned (L7).
 */
static void
fpt_chunk_ask(FPTVacuum *v)
{
	FPTChunk   *c = &v->chunk;
	int			n = c->first[c->n];

	Assert(c->n <= c->max && n <= c->max * FPT_MAX_ENTRIES);
	if (!v->sorts)
	{
		fpt_ask_all(v, c->tids, n, c->dead);
		return;
	}
	fpt_chunk_sort(c, n);
	memset(c->dead, 0, FPT_BITS_SIZE(n));
	for (int i = 0; i < n; i++)
	{
		uint64		pos = c->order[i].pos;
		uint64		bit = fpt_ask(v->callback, v->callback_state,
								  c->order[i].tid);

		c->dead[pos / 64] |= bit << pos % 64;
	}
}

/* The next leaf of the chunk has these n entries; it is locked. */
static void
fpt_chunk_add(FPTChunk *c, Buffer buf, int n)
{
	Assert(c->n < c->max && n >= 0 && n <= FPT_MAX_ENTRIES);
	Assert(fpt_buffer_locked(buf, false));
	c->pageno[c->n] = fpt_bufpage(buf);
	c->lsn[c->n] = BufferGetLSNAtomic(buf);
	c->first[c->n + 1] = c->first[c->n] + n;
	c->n++;
}

/*
 * Read leaves from the next one of the walk on and ask the callback about their
 * entries.  Locks one leaf at a time, to read, and none while the callback is
 * asked (L7), nor on return.  May be cancelled; raises an error if a page
 * cannot be read.  What has changed since, the walk sees (fpt_leaf_verdicts).
 */
static void
fpt_chunk_read(FPTVacuum *v, const FPTWalk *w)
{
	FPTChunk   *c = &v->chunk;
	uint32		next = w->next;

	Assert(v->notes == NULL && next != FPT_NOPAGE);
	c->high = w->at;
	for (c->n = c->first[0] = 0; c->n < c->max && next != FPT_NOPAGE;)
	{
		Buffer		buf;
		Page		page;

		fpt_sweep_step(v->sweep);
		buf = fpt_getbuf_extended(v->rel, &v->ix, next, BUFFER_LOCK_SHARE,
								  v->info->strategy);
		page = BufferGetPage(buf);
		if (!fpt_leaf_begins_at(v, page, c->high))
		{
			/* The walk will say what is wrong: the chunk ends here. */
			UnlockReleaseBuffer(buf);
			break;
		}
		fpt_chunk_add(c, buf, fpt_leaf_tids(v, buf, c->tids + c->first[c->n]));
		c->high = fpt_high_id(v, page);
		next = fpt_header(page)->right;
		UnlockReleaseBuffer(buf);
		fpt_vacuum_delay();
	}
	fpt_chunk_ask(v);
	fpt_stop_point(FPT_STOP_VACUUM_CHUNK);
}

/* --- the file from front to back ----------------------------------------- */

/*
 * Is this page, which may be any and is locked, one of that level?  Where it is
 * no leaf, or is damaged, the walk will not come, or will say so.
 */
static bool
fpt_pass_is(FPTVacuum *v, Page page, uint32 pageno, int level)
{
	return fpt_page_sane(&v->ix.layout, page, pageno) &&
		fpt_page_on_level(page, level);
}

/* Note which leaves the downlinks of a locked leaf-parent lead to. */
static void
fpt_pass_parent(FPTVacuum *v, Page page, uint32 pageno)
{
	uint32		children[FPT_MAX_ENTRIES];
	int			n = fpt_page_children(&v->ix.layout, page, children);

	Assert(v->notes != NULL && fpt_header(page)->level == 1);
	for (int i = 0; i < n; i++)
	{
		if (children[i] < v->npages)
			v->notes[children[i]].parent = pageno;
	}
}

/*
 * Copy the TIDs of a page if it is a leaf.  Who has locked it is not waited
 * for: the walk will.  Nothing is locked or pinned before or after.  What is
 * wrong with the page is left to the walk to report; what the disk cannot give
 * is raised.  Of a leaf-parent, notes where it leads.
 */
static void
fpt_pass_read(FPTVacuum *v, uint32 pageno)
{
	FPTChunk   *c = &v->chunk;
	Buffer		buf = fpt_rawread(v->rel, &v->ix.map, pageno,
								  v->info->strategy);
	Page		page = BufferGetPage(buf);

	if (!ConditionalLockBuffer(buf))
	{
		ReleaseBuffer(buf);
		return;
	}
	if (fpt_pass_is(v, page, pageno, 0))
	{
		int			n = fpt_page_tids(&v->ix.layout, page,
									  c->tids + c->first[c->n], NULL);

		if (n >= 0)
			fpt_chunk_add(c, buf, n);
	}
	else if (fpt_pass_is(v, page, pageno, 1))
		fpt_pass_parent(v, page, pageno);
	UnlockReleaseBuffer(buf);
}

/*
 * How full will a locked leaf be without "ndead" of its n entries?  In
 * thousandths, roughly.
 */
static int
fpt_leaf_fill_without(FPTVacuum *v, Page page, int n, int ndead)
{
	int			fill = fpt_leaf_fill(v, page, n);

	return fill == FPT_FILL_NONE || n == 0 ? fill : fill * (n - ndead) / n;
}

/*
 * Is a leaf left as it is, with "ndead" dead ones of its n entries, and this
 * fill without them?  The walk will merge it with its left sibling, if it has
 * one, most probably, and then the record of that removes them, too.
 */
static bool
fpt_pass_leaves(FPTVacuum *v, Page page, int n, int ndead, int fill)
{
	return v->most[0] > 0 && fpt_header(page)->left != FPT_NOPAGE &&
		ndead < n && fpt_gone(ndead, n) >= FPT_GONE_LEAST &&
		fill <= v->most[1] / 2;
}

/*
 * Remove the dead entries of a leaf, locked for cleanup (P1), and note what the
 * walk needs.  Who has pinned it is not waited for: the walk will.  The walk
 * also gets leaves that are empty, to be unlinked, or will be merged, or are
 * damaged.  Leaves nothing locked or pinned.  May raise about entries that
 * cannot be read.
 */
static void
fpt_pass_leaf(FPTVacuum *v, uint32 pageno)
{
	Buffer		buf = fpt_rawread(v->rel, &v->ix.map, pageno,
								  v->info->strategy);
	Page		page = BufferGetPage(buf);
	FPTPageHeader *h = fpt_header(page);
	FPTNote    *note = &v->notes[pageno];
	uint64		slots[FPT_MAX_NODES];
	int			n;

	Assert(pageno >= FPT_FIRSTPAGE && pageno < v->npages);
	if (!ConditionalLockBufferForCleanup(buf))
	{
		ReleaseBuffer(buf);
		return;
	}
	if (fpt_pass_is(v, page, pageno, 0) && fpt_leaf_ends_well(v, page))
	{
		int			ndead = fpt_leaf_dead(v, buf, slots, &n);
		int			fill = fpt_leaf_fill_without(v, page, n, ndead);
		bool		later = fpt_pass_leaves(v, page, n, ndead, fill);

		if (!later)
		{
			fpt_vacuum_leaf(v, buf, slots, ndead);
			fill = fpt_leaf_fill(v, page, n - ndead);
		}
		note->live = (uint16) (later ? 0 : n - ndead);
		note->gone = (uint16) fpt_gone(ndead, n);
		note->fill = (uint16) fill;
		note->low = fpt_low_id(v, page);
		if (note->live > 0)
			note->end.high = fpt_high_id(v, page);
		else if (later)
			fpt_leaf_keep(v, buf, slots, n, ndead);
		note->left = h->left;
		note->right = h->right;
		v->nlive += n - ndead;
		v->nempty += fpt_noted_empty(v, pageno);
	}
	UnlockReleaseBuffer(buf);
}

/* Is there memory for what a pass over the file notes? */
static bool
fpt_pass_fits(FPTVacuum *v)
{
	return fpt_guc_leaf_prefetch &&
		v->npages <= fpt_vacuum_mem() * (Size) 1024 / sizeof(FPTNote);
}

/*
 * Has the index no more entries than after its last VACUUM, or build, as core
 * has recorded?  General keys are not asked: most of their pages would be
 * formed anew for little.
 */
static bool
fpt_pass_steady(const FPTVacuum *v)
{
	float4		had = v->rel->rd_rel->reltuples;

	return !fpt_is_general(&v->ix.layout) && had > 0 &&
		v->nlive <= had + had / FPT_STEADY_SHARE;
}

/*
 * An index that has aged lies in its file in no order, and nothing is as fast
 * as to read a file from front to back, as btree's VACUUM does: the operating
 * system then reads ahead as much at a time as it has been told to.  So dead
 * entries are removed in that order, under cleanup locks, and of each leaf its
 * links and fences are noted.  Which leaves there are, and that none was passed
 * by, the walk finds out from these (P1).
 *
 * Not where the notes take more than maintenance_work_mem.  No page is locked
 * or pinned from one step to the next, where VACUUM may be cancelled or
 * delayed.
 */
static void
fpt_pass(FPTVacuum *v)
{
	FPTChunk   *c = &v->chunk;
	uint32		pageno = FPT_FIRSTPAGE;
	uint32		pages = Min(c->max, FPT_PASS_PAGES);

	Assert(v->notes == NULL && v->nleaves == 0);
	if (!fpt_pass_fits(v))
		return;
	v->notes = palloc_extended(v->npages * sizeof(FPTNote),
							   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	while (pageno < v->npages)
	{
		uint32		end = pageno + Min(v->npages - pageno, pages);
		int			i;

		for (c->n = c->first[0] = 0; pageno < end; pageno++)
		{
			fpt_vacuum_delay();
			/* of stripes, some are shorter than others */
			if (!fpt_page_exists(v->rel, &v->ix.map, pageno))
				continue;
			(void) fpt_sweep_front(v->sweep, pageno);
			fpt_pass_read(v, pageno);
		}
		fpt_chunk_ask(v);
		fpt_stop_point(FPT_STOP_VACUUM_CHUNK);
		for (i = 0; i < c->n; i++)
		{
			fpt_pass_leaf(v, c->pageno[i]);
			fpt_vacuum_delay();
			fpt_stop_point(FPT_STOP_VACUUM_LEAF);
		}
	}
	c->n = 0;
	v->steady = fpt_pass_steady(v);
}

/* --- the walk ------------------------------------------------------------ */

/*
 * Certify that the leaf which is locked for cleanup is the one that the walk
 * comes to next, w->next, and that none is passed by (P1).  Nothing is compared
 * in the order of keys, which may have changed since they were put in.
 *
 * The leaf was its left sibling's right one.  Only VACUUM unlinks leaves, of
 * which there is one at a time; a leaf that is split, or its left sibling,
 * leaves it its low fence.  So this must still be w->at.  Its left link must
 * lead to the left sibling, unless that has been split since; returns whether
 * it does, for who has unlocked the leaf to look (fpt_walk_certify_left).
 * Raises an error where there is no proof: the heap's TIDs must not be freed.
 */
static bool
fpt_walk_certify(FPTVacuum *v, const FPTWalk *w, Page page)
{
	FPTPageHeader *h = fpt_header(page);

	Assert(fpt_special(page)->pageno == w->next);
	if (!fpt_leaf_begins_at(v, page, w->at))
		fpt_corrupt(v->rel, w->next,
					"The page does not continue its left sibling");
	if (!fpt_leaf_ends_well(v, page))
		fpt_corrupt(v->rel, w->next,
					"The right link contradicts the high fence");
	return h->left == w->prev;
}

/*
 * The walk passes its next leaf, which has n entries.  Leaves that are passed,
 * and are linked still, are different pages.
 */
static void
fpt_walk_count(FPTVacuum *v, const FPTWalk *w, int n)
{
	Assert(n >= 0 && n <= FPT_MAX_ENTRIES);
	if (++v->nleaves > v->ix.map.npages &&
		v->nleaves > fpt_npages(v->rel, &v->ix.map))
		fpt_corrupt(v->rel, w->next, "The right links lead in a circle");
	fpt_reach_note(&v->reach, w->next);
	v->stats->num_index_tuples += n;
}

/*
 * The leaf to the right of w->prev has another left sibling: w->prev must have
 * been split, and so have another high fence than when the walk was there.
 * Locks it, to read, for a moment; nothing else is locked.
 */
static void
fpt_walk_certify_left(FPTVacuum *v, const FPTWalk *w)
{
	Buffer		buf;
	bool		split;

	if (w->prev == FPT_NOPAGE)
		fpt_corrupt(v->rel, w->next, "The first leaf has a left sibling");
	buf = fpt_getbuf(v->rel, &v->ix, w->prev, BUFFER_LOCK_SHARE);
	split = fpt_high_id(v, BufferGetPage(buf)) != w->at;
	UnlockReleaseBuffer(buf);
	if (!split)
		fpt_corrupt(v->rel, w->next,
					"The left link does not point to the left sibling");
}

/* Put the walk in front of the first leaf. */
static void
fpt_walk_start(FPTVacuum *v, FPTWalk *w)
{
	FPTKey		minf = {.cls = FPT_CLS_MINF};
	Buffer		buf = fpt_descend_first(v->rel, &v->ix, 0);

	w->at = fpt_fence_id(&minf);
	w->prev = FPT_NOPAGE;
	w->next = fpt_bufpage(buf);
	UnlockReleaseBuffer(buf);
}

/*
 * VACUUM itself has changed the left link of a leaf, and nothing else: the
 * pass's findings hold with the new LSN.
 */
static void
fpt_leaf_relinked(FPTVacuum *v, const FPTHeir *heir)
{
	FPTKept    *kept;

	if (v->notes == NULL || heir->right == FPT_NOPAGE || heir->to_right ||
		heir->right >= v->npages || v->notes[heir->right].live > 0)
		return;
	kept = v->notes[heir->right].end.kept;
	if (kept != NULL && kept->lsn == heir->before)
		kept->lsn = heir->after;
}

/*
 * The leaf that the walk has come from, w->prev, is unlinked, and was between
 * the two pages of *heir; "low": where it began.  Its page may be another
 * leaf's from now on, so that nothing is known about it; of the right sibling,
 * what the walk has changed is noted.  Puts *w between the two.  Looks at no
 * page, raises nothing.
 */
static void
fpt_walk_unlinked(FPTVacuum *v, FPTWalk *w, const FPTHeir *heir,
				  FPTFenceId low)
{
	FPTNote    *note;

	Assert(v->nleaves > 0);

	/* All of it: its neighbours tell read-ahead of an empty leaf. */
	if (v->notes != NULL && w->prev < v->npages)
		memset(&v->notes[w->prev], 0, sizeof(FPTNote));
	note = heir->right == FPT_NOPAGE ? NULL : fpt_note_of(v, heir->right);
	if (note != NULL && note->left == w->prev && note->low == w->at)
	{
		note->left = heir->left;
		if (heir->to_right)
			note->low = low;
	}
	else if (note != NULL)
		memset(note, 0, sizeof(FPTNote));
	fpt_leaf_relinked(v, heir);
	w->prev = heir->left;
	w->next = heir->right;
	if (heir->to_right)
		w->at = low;
	v->nleaves--;
}

/*
 * Put the walk after its next leaf if that was done before, and was, as it was
 * noted, the one to the right of the last.  A leaf that has come in between
 * since then was split from the last one, when no dead entry was in that any
 * more; see src/tree/README.md, section 12.
 */
static bool
fpt_walk_noted(FPTVacuum *v, FPTWalk *w)
{
	FPTNote    *note = fpt_note_of(v, w->next);

	if (note == NULL || note->left != w->prev || note->low != w->at)
		return false;
	fpt_walk_count(v, w, (int) note->live);
	v->last.fill = note->fill;
	v->last.gone = note->gone;
	w->at = note->end.high;
	w->prev = w->next;
	w->next = note->right;
	return true;
}

/*
 * The sweep's leaves (FPTSweepNext): those that the pass left empty, in the
 * walk's order, as far as the notes' right links lead; each with what it takes
 * to unlink it.  A leaf without a note ends the look ahead, which begins anew
 * when the walk has come to the next one that is empty.  False: there is none
 * now.  No page is read; may be cancelled.
 */
static bool
fpt_walk_ahead(void *arg, uint32 pages[FPT_LEAF_PAGES])
{
	FPTVacuum  *v = arg;

	Assert(v->notes != NULL);
	while (v->nempty > 0 && v->ahead != FPT_NOPAGE &&
		   v->nlooks <= v->npages)
	{
		uint32		pageno = v->ahead;
		bool		empty = fpt_noted_empty(v, pageno);
		const FPTNote *note;

		if (!empty && fpt_note_of(v, pageno) == NULL)
			break;
		Assert(pageno < v->npages);
		note = &v->notes[pageno];
		v->nlooks++;
		v->ahead = note->right;
		if (empty)
		{
			/* An empty neighbour is gone by then, or comes next. */
			v->nempty--;
			v->ntold++;
			pages[0] = pageno;
			pages[1] = fpt_note_of(v, note->left) ? note->left : FPT_NOPAGE;
			pages[2] = fpt_note_of(v, note->right) ? note->right : FPT_NOPAGE;
			pages[3] = note->parent;
			return true;
		}
		fpt_vacuum_delay();
	}
	return false;
}

/* The walk is about to read a leaf; what comes after it is asked for. */
static void
fpt_walk_expect(FPTVacuum *v, uint32 pageno)
{
	if (!fpt_noted_empty(v, pageno))
		return;
	if (v->ntold == 0)
		v->ahead = pageno;
	fpt_sweep_step(v->sweep);
	if (v->ntold > 0)
		v->ntold--;
}

/*
 * How full may the left leaf become with the entries of the next one, from
 * which VACUUM has removed the part "gone"?
 */
static int
fpt_walk_most(const FPTVacuum *v, int gone)
{
	return v->most[v->left.gone + gone >= 2 * FPT_GONE_LEAST];
}

/*
 * Can the last three leaves become two, and has this VACUUM removed enough of
 * their entries?  Then the left one is filled from the one in the middle, which
 * the last one is merged with.
 */
static bool
fpt_walk_slides(const FPTVacuum *v)
{
	int			spare = 2 * v->most[0] -
		(v->left2.fill + v->left.fill + v->last.fill);
	int			gone = v->left2.gone + v->left.gone + v->last.gone;

	if (v->left2.pageno == FPT_NOPAGE || v->left2.fill > v->most[0])
		return false;
	return (spare >= FPT_SLIDE_SPARE && gone >= 3 * FPT_GONE_LEAST) ||
		(v->steady && spare >= FPT_SLIDE_SPARE_STEADY &&
		 gone >= 3 * FPT_GONE_STEADY);
}

/*
 * Fill the last leaf but two from the one after it, if the three can become
 * two; "next" is the last one, which the walk may have passed or not.
 */
static bool
fpt_walk_slide(FPTVacuum *v, uint32 next)
{
	int			fill[2];

	if (!fpt_walk_slides(v) ||
		!fpt_slide_leaf(&v->prune, v->left.pageno, v->left2.pageno, next,
						v->most[0], fill))
		return false;
	v->left2.fill = fill[0];
	v->left.fill = fill[1];
	return true;
}

/*
 * The walk comes to its next leaf, nothing is locked.  If the pass has left it
 * as it is, to be merged, this makes room in its left sibling.
 */
static void
fpt_walk_prepare(FPTVacuum *v, const FPTWalk *w)
{
	const FPTNote *note = v->notes == NULL || w->next >= v->npages ? NULL :
		&v->notes[w->next];

	if (note == NULL || note->live > 0 || note->gone == 0 ||
		note->gone == FPT_GONE_ALL || note->left != w->prev ||
		w->prev == FPT_NOPAGE || v->left.pageno != w->prev)
		return;
	v->last.fill = note->fill;
	v->last.gone = note->gone;
	if (v->left.fill + v->last.fill > fpt_walk_most(v, v->last.gone))
		(void) fpt_walk_slide(v, w->next);
}

/*
 * The walk has met its next leaf, which is locked for cleanup and has dead ones
 * among its n entries: merge the others with its left sibling, which the walk
 * has passed last, if both together are no fuller than one page should be.
 * True: done, and *heir says where it was.  The leaf stays locked.  Locks and
 * errors are fpt_join_visited()'s.
 */
static bool
fpt_walk_take(FPTVacuum *v, const FPTWalk *w, Buffer buf, const uint64 *dead,
			  int n, int ndead, FPTHeir *heir)
{
	int			most = fpt_walk_most(v, fpt_gone(ndead, n));
	int			fill;

	if (v->most[0] == 0 || ndead == 0 || ndead == n || w->prev == FPT_NOPAGE ||
		v->left.pageno != w->prev)
		return false;
	fill = fpt_leaf_fill_without(v, BufferGetPage(buf), n, ndead);
	if (v->left.fill + fill > most ||
		!fpt_join_visited(&v->prune, buf, dead, w->prev, most, heir, &fill))
		return false;
	v->left.fill = fill;
	v->left.gone = (v->left.gone + fpt_gone(ndead, n)) / 2;
	v->stats->tuples_removed += ndead;
	return true;
}

/*
 * Visit the next leaf, which is locked for cleanup, and put the walk after it:
 * its dead entries go, or it goes, with the others in its left sibling.
 * Returns how many it has, or -1 if it is gone; *linked: does its left link
 * lead to where the walk came from?  Raises an error where there is no proof
 * that it is the next one, or if a page is damaged.
 */
static int
fpt_walk_visit(FPTVacuum *v, FPTWalk *w, Buffer buf, bool *linked)
{
	Page		page = BufferGetPage(buf);
	FPTWalk		from = *w;
	uint64		dead[FPT_MAX_NODES];
	FPTHeir		heir;
	int			n;
	int			ndead;

	*linked = fpt_walk_certify(v, w, page);
	ndead = fpt_leaf_dead(v, buf, dead, &n);
	fpt_walk_count(v, w, n - ndead);
	w->at = fpt_high_id(v, page);
	w->prev = w->next;
	w->next = fpt_header(page)->right;
	if (*linked && fpt_walk_take(v, &from, buf, dead, n, ndead, &heir))
	{
		fpt_walk_unlinked(v, w, &heir, from.at);
		return -1;
	}
	fpt_vacuum_leaf(v, buf, dead, ndead);
	v->last.fill = fpt_leaf_fill(v, page, n - ndead);
	v->last.gone = fpt_gone(ndead, n);
	return n - ndead;
}

/*
 * Do the next leaf and put the walk after it; the leaf is unlinked if it
 * became empty.  Returns false at the end of the chunk that was read before.
 * Locks one leaf, for cleanup (P1), with no other pin (P5), and unlocks it; may
 * raise an error.
 */
static bool
fpt_walk_step(FPTVacuum *v, FPTWalk *w)
{
	FPTWalk		from = *w;
	FPTHeir		heir;
	Buffer		buf;
	bool		linked;
	bool		more;
	int			live;

	Assert(w->next != FPT_NOPAGE);
	fpt_walk_expect(v, w->next);
	fpt_walk_prepare(v, w);
	buf = fpt_getbuf_extended(v->rel, &v->ix, w->next, 0, v->info->strategy);
	fpt_stop_if_busy(FPT_STOP_CLEANUP_BUSY, buf);
	LockBufferForCleanup(buf);
	fpt_check_buffer(v->rel, &v->ix, buf, w->next);
	live = fpt_walk_visit(v, w, buf, &linked);
	UnlockReleaseBuffer(buf);
	if (!linked)
		fpt_walk_certify_left(v, &from);
	more = w->at != v->chunk.high;
	if (live == 0)
	{
		Assert(from.next == w->prev);
		fpt_stop_point(FPT_STOP_LEAF_EMPTY);
		if (fpt_unlink_leaf(&v->prune, w->prev, &heir))
			fpt_walk_unlinked(v, w, &heir, from.at);
	}
	return more;
}

/*
 * Merge the leaf that the walk has passed last, w->prev, with its left sibling.
 * True: done; *w is after the left sibling then, and that is v->left still.
 */
static bool
fpt_walk_merge(FPTVacuum *v, FPTWalk *w, FPTFenceId low)
{
	int			most = fpt_walk_most(v, v->last.gone);
	FPTHeir		heir;
	int			fill;

	if (v->left.fill + v->last.fill > most ||
		!fpt_join_leaf(&v->prune, w->prev, v->left.pageno, w->next, most,
					   &heir, &fill))
		return false;
	fpt_walk_unlinked(v, w, &heir, low);
	Assert(w->prev == v->left.pageno);
	v->left.fill = fill;
	v->left.gone = (v->left.gone + v->last.gone) / 2;
	return true;
}

/*
 * The walk has passed the leaf w->prev, from *from: merge it with its left
 * sibling if both together are no fuller than one page should be; or make two
 * leaves of three.  Every leaf up to w->next was visited, so no dead entry
 * moves (P1).  Puts *w after the left sibling where the leaf is gone.  Nothing
 * is locked or pinned before or after.  Raises errors as fpt_join_leaf() does.
 */
static void
fpt_walk_join(FPTVacuum *v, FPTWalk *w, const FPTWalk *from)
{
	Assert(w->prev == from->next);
	v->last.pageno = w->prev;
	if (v->most[0] > 0 && from->prev != FPT_NOPAGE &&
		v->left.pageno == from->prev)
	{
		if (fpt_walk_merge(v, w, from->at))
			return;
		if (fpt_walk_slide(v, v->last.pageno) && fpt_walk_merge(v, w, from->at))
			return;
		v->left2 = v->left;
	}
	else
		v->left2.pageno = FPT_NOPAGE;
	v->left = v->last;
}

/* --- all leaves ---------------------------------------------------------- */

/*
 * The levels above, the pass over the file, if notes are kept, and the walk
 * over all leaves (P1).  No page is locked between two steps, where VACUUM may
 * be cancelled or delayed.  Raises an error if it cannot be proven that none
 * was passed by.
 */
static void
fpt_vacuum_leaves(FPTVacuum *v)
{
	FPTWalk		w;
	uint32		asked = 0;
	bool		more = false;

	Assert(v->nleaves == 0 && v->notes == NULL);
	if (fpt_pass_fits(v))
		asked = fpt_sweep_front(v->sweep, FPT_FIRSTPAGE);
	fpt_reach_inner(&v->reach, asked);
	fpt_pass(v);
	v->prune.mapfull = !fpt_prepare_free(v->rel, &v->ix.map, v->npages);
	fpt_walk_start(v, &w);
	if (v->notes != NULL)
		fpt_sweep_choose(v->sweep, fpt_walk_ahead, v);
	v->left.pageno = v->left2.pageno = FPT_NOPAGE;
	while (w.next != FPT_NOPAGE)
	{
		FPTWalk		from = w;

		if (v->notes == NULL && !more)
			fpt_chunk_read(v, &w);
		if (fpt_walk_noted(v, &w))
		{
			fpt_walk_join(v, &w, &from);
			fpt_vacuum_delay();
			continue;
		}
		more = fpt_walk_step(v, &w);
		if (w.prev == from.next)
			fpt_walk_join(v, &w, &from);
		fpt_vacuum_delay();
		fpt_stop_point(FPT_STOP_VACUUM_LEAF);
	}
	fpt_reach_certify(&v->reach);
}

/* --- pages that nobody uses ---------------------------------------------- */

/*
 * Put pages that are deleted or were never initialised into the free space map:
 * it is not WAL-logged, and an extension may have been interrupted.  Pages that
 * the walk met are in use, but for inner ones that were unlinked, and counted.
 * Counts those that are free, among them the leaves that were unlinked, but for
 * those that others have taken since.  Warns if the map cannot grow.  Locks one
 * page at a time, to read; may be cancelled.  Raises an error if one cannot be
 * read.
 */
static void
fpt_find_free_pages(FPTVacuum *v)
{
	uint32		pageno;

	for (pageno = FPT_FIRSTPAGE + 1; pageno < v->npages; pageno++)
	{
		Buffer		buf;
		bool		recyclable;

		if (fpt_reach_noted(&v->reach, pageno))
			continue;
		fpt_vacuum_delay();
		/* of stripes, some are shorter than others */
		if (!fpt_page_exists(v->rel, &v->ix.map, pageno))
			continue;
		if (fpt_recorded_free(v->rel, &v->ix.map, pageno))
		{
			v->stats->pages_free++;
			continue;
		}
		buf = fpt_rawread(v->rel, &v->ix.map, pageno, v->info->strategy);
		LockBuffer(buf, BUFFER_LOCK_SHARE);
		recyclable = fpt_page_recyclable(BufferGetPage(buf));
		UnlockReleaseBuffer(buf);
		if (recyclable && fpt_prune_record(&v->prune, pageno))
			v->stats->pages_free++;
		else if (recyclable)
			v->prune.nomap++;
	}
	v->stats->pages_deleted = v->stats->pages_free + v->prune.nomap +
		v->prune.ninner;
	if (v->prune.nomap > 0)
		ereport(WARNING,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("no space for the free space map of index \"%s\"",
						RelationGetRelationName(v->rel)),
				 errdetail_plural("%u free page is not in it.",
								  "%u free pages are not in it.",
								  v->prune.nomap, v->prune.nomap),
				 errhint("They will be, if there is space on the disk when VACUUM next removes entries.")));
}

/* --- callbacks ----------------------------------------------------------- */

/* Where the table's rows will be.  VACUUM has the table locked. */
static uint32
fpt_vacuum_reach(Relation rel)
{
	Relation	heap = table_open(rel->rd_index->indrelid, NoLock);
	uint32		blocks = RelationGetNumberOfBlocks(heap);

	table_close(heap, NoLock);
	return fpt_tids_reach(blocks);
}

/*
 * See tree/vacuum.h.  Counts are set, not added to: of several rounds, as
 * VACUUM makes them if it has little memory, the last one tells what is there.
 * All memory but that of the counts is freed at once, and so is what functions
 * of types leave.
 */
IndexBulkDeleteResult *
fptbulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			  IndexBulkDeleteCallback callback, void *callback_state)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree vacuum",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	FPTVacuum  *v;
	int			nentries;
	int			ring;

	Assert(callback != NULL && !RecoveryInProgress());
	Assert(CheckRelationLockedByMe(info->index, AccessShareLock, true));
	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	old = MemoryContextSwitchTo(cxt);
	v = palloc0(sizeof(FPTVacuum)); /* too large for a stack */
	v->info = info;
	v->stats = stats;
	v->callback = callback;
	v->callback_state = callback_state;
	v->rel = info->index;
	fpt_index_copy(info->index, &v->ix);
	if (v->ix.stale)
		fpt_warn_stale(v->rel);
	(void) fpt_find_root(v->rel, &v->ix);
	v->npages = fpt_npages(info->index, &v->ix.map);
	fpt_reach_begin(&v->reach, v->rel, &v->ix, v->npages, info->strategy);
	v->prune.rel = v->rel;
	v->prune.ix = &v->ix;
	v->prune.strategy = info->strategy;
	v->prune.stats = stats;
	v->prune.reach = &v->reach;
	v->prune.npages = v->npages;
	v->prune.blocks = fpt_vacuum_reach(v->rel);
	fpt_join_most(&v->prune, v->most);
	v->tids = palloc(sizeof(uint64) * FPT_MAX_ENTRIES);
	v->verdicts = palloc(FPT_BITS_SIZE(FPT_MAX_ENTRIES));
	v->sorts = fpt_vacuum_sorts(info);
	v->chunk.max = Min(FPT_CHUNK_LEAVES, v->npages);
	ring = fpt_ring_buffers(info->strategy);
	if (ring > 0)
		v->chunk.max = Min((uint32) v->chunk.max, FPT_PASS_RING(ring));
	nentries = v->chunk.max * FPT_MAX_ENTRIES;
	v->chunk.tids = palloc(sizeof(uint64) * nentries);
	v->chunk.order = palloc(sizeof(FPTChunkTid) * nentries);
	v->chunk.dead = palloc(FPT_BITS_SIZE(nentries));

	v->sweep = fpt_sweep_begin(v->rel, &v->ix, 0, info->strategy);
	stats->num_index_tuples = 0;
	stats->pages_deleted = 0;
	stats->pages_free = 0;
	fpt_vacuum_leaves(v);
	fpt_sweep_end(v->sweep);
	if (v->prune.lost)
		ereport(WARNING,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("empty pages of index \"%s\" cannot be unlinked",
						RelationGetRelationName(v->rel)),
				 errdetail("Searches do not lead to their downlinks: the order of keys has changed, or the index is damaged."),
				 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
						 quote_identifier(RelationGetRelationName(v->rel)))));
	if (v->prune.njoined > 0)
		ereport(info->message_level,
				(errmsg("index \"%s\": merged %u leaf pages with their left siblings",
						RelationGetRelationName(v->rel), v->prune.njoined)));
	if (v->prune.nslid > 0)
		ereport(info->message_level,
				(errmsg("index \"%s\": filled %u leaf pages from their right siblings",
						RelationGetRelationName(v->rel), v->prune.nslid)));
	fpt_stop_point(FPT_STOP_FREE_PAGES);
	fpt_find_free_pages(v);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
	return stats;
}

/* See tree/vacuum.h. */
IndexBulkDeleteResult *
fptvacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	FPTPageMap *map;

	/* Nothing was removed: there is nothing to tidy up. */
	if (info->analyze_only || stats == NULL)
		return stats;
	map = &fpt_index(info->index)->map;
	fpt_publish_free(info->index, map);
	stats->num_pages = fpt_total_pages(info->index, map);

	/* Concurrent splits may have had entries counted twice. */
	if (!info->estimated_count &&
		stats->num_index_tuples > info->num_heap_tuples)
		stats->num_index_tuples = info->num_heap_tuples;
	return stats;
}
