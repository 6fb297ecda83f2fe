/*-------------------------------------------------------------------------
 *
 * tree/recall.c
 *	  Separators of leaf parents that the session remembers.
 *
 * A descent reads the root and a leaf parent to learn the number of a leaf, and
 * the next one learns it from the same two pages.  So a session that searches
 * an index often copies separators and downlinks of leaf parents, and finds the
 * number of a leaf in its own memory: it pins and locks one page.  That number
 * is a hint like any other: the leaf proves by its level and its fences that it
 * is the one (R1).  Section 8 of src/tree/README.md has the rules.
 *
 * Separators are numbers of 8 bytes here, the upper ones of an image.  Where
 * these leave open on which side of a separator a key is, the search descends.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "page/copy.h"
#include "page/kernel.h"
#include "server/compat.h"
#include "store/buf.h"
#include "tree/recall.h"

int			fpt_guc_separator_memory = 512;

/* Uses for which a copy was worth while. */
#define FPT_RECALL_WORTH	64

/* Leaves that were not the right ones, until a copy is thrown away. */
#define FPT_RECALL_STALE	16

/* One separator in 8 may have the same number as the one before. */
#define FPT_RECALL_REPEATS	8

/*
 * The separators of one leaf parent, as of the moment when it was copied:
 * seps[i] is the lower bound of the i'th leaf, of number fpt_leaves(p)[i].
 */
typedef struct FPTParent
{
	dlist_node	node;			/* in fpt_parents */
	struct FPTRecalled *of;
	uint64		when;			/* fpt_recall_clock at the last use */
	uint64		high;			/* upper bound of the last leaf, unless open */
	bool		open;			/* all keys from the first one on are covered */
	int			n;
	uint32		uses;
	uint32		misses;			/* leaves that were not the right ones */
	uint64		seps[FLEXIBLE_ARRAY_MEMBER];
} FPTParent;

/* The leaf parents of an index, one at least, in the order of lows[]. */
typedef struct FPTRecalled
{
	struct FPTRecalled *next;	/* in the same bucket */
	Oid			relid;
	Oid			file;			/* R3: fpt_relnumber(), */
	uint32		indexid;		/* and the number that its pages share */
	int			n;
	int			max;
	uint64	   *lows;			/* seps[0] of each */
	FPTParent **parents;
} FPTRecalled;

FPTRecallBucket fpt_recall[FPT_RECALL_BUCKETS];
static dlist_head fpt_parents = DLIST_STATIC_INIT(fpt_parents);
static uint64 fpt_recall_clock = 0;

/* Where all of that is, and how many bytes it has. */
static MemoryContext fpt_recall_cxt = NULL;
static Size fpt_recall_bytes = 0;

static inline uint32 *
fpt_leaves(FPTParent *p)
{
	return (uint32 *) (p->seps + p->n);
}

static void *
fpt_recall_alloc(Size size)
{
	void	   *chunk;

	if (fpt_recall_cxt == NULL)
		fpt_recall_cxt = AllocSetContextCreate(TopMemoryContext,
											   "fptree separators",
											   ALLOCSET_SMALL_SIZES);
	chunk = MemoryContextAlloc(fpt_recall_cxt, size);
	fpt_recall_bytes += GetMemoryChunkSpace(chunk);
	return chunk;
}

static void
fpt_recall_free(void *chunk)
{
	Size		size = GetMemoryChunkSpace(chunk);

	Assert(fpt_recall_bytes >= size);
	fpt_recall_bytes -= size;
	pfree(chunk);
}

/* --- forgetting ---------------------------------------------------------- */

/* An index without leaf parents. */
static void
fpt_recall_forget(FPTRecalled *x)
{
	FPTRecalled **link = &fpt_recall_bucket(x->relid)->first;

	Assert(x->n == 0);
	while (*link != x)
		link = &(*link)->next;
	*link = x->next;
	fpt_recall_free(x->lows);
	fpt_recall_free(x->parents);
	fpt_recall_free(x);
}

/* Forget a leaf parent, and the index with its last one.  Raises nothing. */
static void
fpt_parent_forget(FPTParent *p)
{
	FPTRecalled *x = p->of;
	int			i = 0;

	while (x->parents[i] != p)
		i++;
	x->n--;
	memmove(x->lows + i, x->lows + i + 1, (x->n - i) * sizeof(uint64));
	memmove(x->parents + i, x->parents + i + 1,
			(x->n - i) * sizeof(FPTParent *));
	dlist_delete(&p->node);
	fpt_recall_free(p);
	if (x->n == 0)
		fpt_recall_forget(x);
}

/* A copy was in vain, or there was nothing to copy: the next one can wait. */
static inline void
fpt_recall_wait(FPTRecallBucket *b)
{
	b->waits = Min(b->waits + 1, FPT_RECALL_WAITS);
}

/* Forget a leaf parent that is stale, or has to give way to others. */
static void
fpt_parent_dismiss(FPTParent *p)
{
	if (p->uses < FPT_RECALL_WORTH)
		fpt_recall_wait(fpt_recall_bucket(p->of->relid));
	fpt_parent_forget(p);
}

/* The index has got another file (R3): forget all of the old one. */
static pg_noinline void
fpt_recall_replaced(FPTRecalled *x)
{
	while (x->n > 1)
		fpt_parent_forget(x->parents[x->n - 1]);
	fpt_parent_forget(x->parents[0]);
}

/* R5: forget leaf parents that were used longest ago, until it is enough. */
static void
fpt_recall_shrink(Size limit)
{
	while (fpt_recall_bytes > limit && !dlist_is_empty(&fpt_parents))
	{
		FPTParent  *oldest = NULL;
		dlist_iter	iter;

		dlist_foreach(iter, &fpt_parents)
		{
			FPTParent  *p = dlist_container(FPTParent, node, iter.cur);

			if (oldest == NULL || p->when < oldest->when)
				oldest = p;
		}
		fpt_parent_dismiss(oldest);
	}
}

/* See tree/recall.h. */
void
fpt_recall_limit(int kilobytes, void *extra)
{
	fpt_recall_shrink((Size) kilobytes * 1024);
}

/* --- copying leaf parents ------------------------------------------------ */

/* The part of a key of class FPT_CLS_VALUE that separators are compared by. */
static inline uint64
fpt_recall_number(const FPTLayout *l, const FPTKey *key)
{
	return l->keysize > (int) sizeof(uint64) ? key->hi : key->lo;
}

/* Is there more to it? */
static inline bool
fpt_recall_more(const FPTLayout *l, const FPTKey *key)
{
	return key->tid != 0 ||
		(l->keysize > (int) sizeof(uint64) && key->lo != 0);
}

/*
 * A separator, or a fence, as a number: keys whose numbers are below it are
 * below it.  Those of the number before it may be on either side.  "more": the
 * number is not all of it.
 */
static inline uint64
fpt_recall_above(uint64 number, bool more)
{
	return number < PG_UINT64_MAX && more ? number + 1 : number;
}

static uint64
fpt_recall_bound(const FPTLayout *l, const FPTKey *key)
{
	if (key->cls < FPT_CLS_VALUE)
		return 0;
	if (key->cls > FPT_CLS_VALUE)
		return PG_UINT64_MAX;
	return fpt_recall_above(fpt_recall_number(l, key),
							fpt_recall_more(l, key));
}

/*
 * Copy n numbers and leaves of a leaf parent, a copy, to p, which has room for
 * them.  rest[i] becomes zero where the i'th number is all of its separator; it
 * has room for 2 n.  Returns how many of them are of NULLs, the first ones of a
 * NULLS FIRST index, else the last ones; -1: the page makes no sense.
 */
static int
fpt_parent_read(const FPTLayout *l, Page page, int n, FPTParent *p,
				uint64 *rest)
{
	const FPTPageHeader *h = fpt_header(page);
	bool		wide = l->keysize > (int) sizeof(uint64);
	FPTRun		run = {.tids = rest, .downs = fpt_leaves(p), .max = n};
	int			nulls = 0;

	run.los = wide ? rest + n : p->seps;
	run.his = wide ? p->seps : NULL;
	if (fpt_page_copy_all(l, page, false, &run) != n)
		return -1;
	for (int i = 0; wide && i < n; i++)
		rest[i] |= run.los[i];
	for (int i = 0; i < h->nnull; i++)
		nulls += fpt_node_count(l, page, l->nullsfirst ? i : h->nkids - 1 - i);
	return nulls;
}

/*
 * Separators and leaves of a leaf parent, a copy of n entries: to p, which has
 * room for them; rest[] has room for 2 n numbers.  False: the page makes no
 * sense, or the numbers are of little use, as many of them are the same.
 */
static bool
fpt_parent_fill(FPTIndex *ix, Page page, int n, FPTParent *p, uint64 *rest)
{
	const FPTLayout *l = &ix->layout;
	FPTKey		low = fpt_page_low(l, page);
	FPTKey		high = fpt_page_high(l, page);
	const uint32 *leaves;
	uint64		prev;
	int			repeats = 0;
	int			nulls;
	int			from;			/* values begin here, or after it */

	p->n = n;
	leaves = fpt_leaves(p);
	nulls = fpt_parent_read(l, page, n, p, rest);
	if (nulls < 0)
		return false;
	from = l->nullsfirst ? nulls : 0;

	/* Leaves that have only NULLs are not looked for. */
	if (!l->nullsfirst)
		p->n = Max(n - nulls, 1);
	p->open = p->n < n || high.cls > FPT_CLS_VALUE;
	p->high = fpt_recall_bound(l, &high);
	p->uses = p->misses = 0;

	/* the first separator of the level is lower than it says */
	prev = p->seps[0] = fpt_recall_bound(l, &low);
	for (int i = 1; i < p->n; i++)
	{
		uint64		sep = i < from ? 0 :
			fpt_recall_above(p->seps[i], rest[i] != 0);

		if (sep < prev)
			return false;
		repeats += sep == prev && i >= from;
		prev = p->seps[i] = sep;
	}
	for (int i = 0; i < p->n; i++)
	{
		if (leaves[i] == FPT_METAPAGE || leaves[i] == ix->root)
			return false;
	}
	if (p->n < n)
		memmove(fpt_leaves(p), leaves, p->n * sizeof(uint32));
	return repeats <= n / FPT_RECALL_REPEATS;
}

/* The index's leaf parents, or none, with room for one more. */
static FPTRecalled *
fpt_recall_room(Relation rel, const FPTIndex *ix, FPTRecallBucket *b)
{
	FPTRecalled *x = b->first;
	uint64	   *lows;
	FPTParent **parents;
	int			max;

	while (x != NULL && x->relid != RelationGetRelid(rel))
		x = x->next;
	if (x != NULL && x->n < x->max)
		return x;
	max = x != NULL ? 2 * x->max : 4;
	lows = fpt_recall_alloc(max * sizeof(uint64));
	parents = fpt_recall_alloc(max * sizeof(FPTParent *));
	if (x != NULL)
	{
		memcpy(lows, x->lows, x->n * sizeof(uint64));
		memcpy(parents, x->parents, x->n * sizeof(FPTParent *));
		fpt_recall_free(x->lows);
		fpt_recall_free(x->parents);
	}
	else
	{
		x = fpt_recall_alloc(sizeof(FPTRecalled));
		x->next = b->first;
		x->relid = RelationGetRelid(rel);
		x->file = fpt_relnumber(rel);
		x->indexid = ix->layout.indexid;
		x->n = 0;
		b->first = x;
	}
	x->max = max;
	x->lows = lows;
	x->parents = parents;
	return x;
}

/* How many of n ascending numbers are not above v? */
static inline int
fpt_count_upto(const uint64 *numbers, int n, uint64 v)
{
	int			first = 0;

	while (n > 0)
	{
		int			half = (n + 1) / 2;

		first += numbers[first + half - 1] <= v ? half : 0;
		n -= half;
	}
	return first;
}

/* Remember a leaf parent, in the place of one that begins where it does. */
static void
fpt_parent_keep(Relation rel, const FPTIndex *ix, FPTRecallBucket *b,
				FPTParent *p)
{
	FPTRecalled *x = fpt_recall_room(rel, ix, b);
	int			i = fpt_count_upto(x->lows, x->n, p->seps[0]);
	FPTParent  *old = NULL;

	Assert(x->indexid == ix->layout.indexid);
	if (i > 0 && x->lows[i - 1] == p->seps[0])
		old = x->parents[i - 1];
	memmove(x->lows + i + 1, x->lows + i, (x->n - i) * sizeof(uint64));
	memmove(x->parents + i + 1, x->parents + i,
			(x->n - i) * sizeof(FPTParent *));
	x->lows[i] = p->seps[0];
	x->parents[i] = p;
	x->n++;
	p->of = x;
	p->when = ++fpt_recall_clock;
	dlist_push_head(&fpt_parents, &p->node);
	if (old != NULL)
		fpt_parent_forget(old);
}

/*
 * Remember a leaf parent, which is a copy.  False: it is not worth while.
 * Allocates for a moment in the current context.
 */
static bool
fpt_parent_copy(Relation rel, FPTIndex *ix, FPTRecallBucket *b, Page page)
{
	Size		limit = (Size) fpt_guc_separator_memory * 1024;
	int			n = fpt_page_count(&ix->layout, page);
	Size		size;
	uint64	   *rest;
	FPTParent  *p;

	if (n < 2 || n > FPT_MAX_ENTRIES)
		return false;
	size = offsetof(FPTParent, seps) + n * (sizeof(uint64) + sizeof(uint32));
	if (size > limit)
		return false;
	rest = palloc(2 * n * sizeof(uint64));
	p = fpt_recall_alloc(size);
	if (!fpt_parent_fill(ix, page, n, p, rest))
	{
		fpt_recall_free(p);
		pfree(rest);
		return false;
	}
	pfree(rest);
	fpt_parent_keep(rel, ix, b, p);
	fpt_recall_shrink(limit);
	return true;
}

/*
 * Copy the leaf parent of key, which has been looked for in vain.  A tree that
 * is one leaf has none.  Nothing is locked before or after, and the page is not
 * while its copy is read; may raise, and be cancelled.
 */
static pg_noinline void
fpt_recall_learn(Relation rel, FPTIndex *ix, FPTRecallBucket *b,
				 const FPTKey *key)
{
	PGAlignedBlock copy;
	Buffer		buf = fpt_descend_try(rel, ix, key, 1, BUFFER_LOCK_SHARE);

	b->searches = 0;
	if (BufferIsValid(buf))
	{
		memcpy(copy.data, BufferGetPage(buf), BLCKSZ);
		UnlockReleaseBuffer(buf);
		if (fpt_parent_copy(rel, ix, b, (Page) copy.data))
			return;
	}
	fpt_recall_wait(b);
}

/* --- searching ----------------------------------------------------------- */

/* The remembered leaf parent of a key that has this number, or NULL. */
static inline FPTParent *
fpt_recall_parent(Relation rel, const FPTIndex *ix, FPTRecallBucket *b,
				  uint64 number)
{
	FPTRecalled *x = b->first;
	FPTParent  *p;
	int			i;

	while (x != NULL && x->relid != RelationGetRelid(rel))
		x = x->next;
	if (x == NULL)
		return NULL;
	if (unlikely(x->indexid != ix->layout.indexid ||
				 x->file != fpt_relnumber(rel)))	/* R3 */
	{
		fpt_recall_replaced(x);
		return NULL;
	}
	i = fpt_count_upto(x->lows, x->n, number);
	if (i == 0)
		return NULL;
	p = x->parents[i - 1];
	return number < p->high || p->open ? p : NULL;
}

/*
 * R4: does the range of look go on after the i'th leaf?  Then a
 * descent says so before the leaf is read.
 */
static inline bool
fpt_parent_goes_on(const FPTLayout *l, const FPTParent *p, int i,
				   const FPTLook *look)
{
	const FPTKey *end = look->end;
	bool		last = i + 1 == p->n;

	if (look->dir > 0)
		return !(last && p->open) &&
			(end->cls > FPT_CLS_VALUE ||
			 (last ? p->high : p->seps[i + 1]) <= fpt_recall_bound(l, end));
	return p->seps[i] > (end->cls == FPT_CLS_VALUE ?
						 fpt_recall_number(l, end) : 0);
}

/* fpt_page_fraction() of a key with this number, in the i'th leaf. */
static inline uint32
fpt_parent_fraction(const FPTParent *p, int i, uint64 number)
{
	uint64		from = p->seps[i];
	uint64		to;
	uint64		step;

	if (i + 1 == p->n && p->open)
		return 0;
	to = i + 1 == p->n ? p->high : p->seps[i + 1];
	step = (to - from) >> 16;
	return step > 0 ? (uint32) Min((number - from) / step, 65535) : 0;
}

/*
 * A leaf was not the one, as the tree has changed since.  After some of these
 * the leaf parent is forgotten.
 */
static pg_noinline void
fpt_recall_missed(Relation rel, const FPTIndex *ix, uint64 number)
{
	FPTRecallBucket *b = fpt_recall_bucket(RelationGetRelid(rel));
	FPTParent  *p = fpt_recall_parent(rel, ix, b, number);

	if (p != NULL && ++p->misses >= FPT_RECALL_STALE)
	{
		/* the next search copies a useful one anew */
		if (p->uses >= FPT_RECALL_WORTH)
			b->searches = FPT_RECALL_AFTER << FPT_RECALL_WAITS;
		fpt_parent_dismiss(p);
	}
}

/* See tree/recall.h. */
Buffer
fpt_recall_search(Relation rel, FPTIndex *ix, const FPTKey *key, int lock,
				  const FPTLook *look, bool due)
{
	const FPTLayout *l = &ix->layout;
	FPTRecallBucket *b = fpt_recall_bucket(RelationGetRelid(rel));
	uint64		number = fpt_recall_number(l, key);
	FPTParent  *p = fpt_recall_parent(rel, ix, b, number);
	uint32		fraction = FPT_NO_GUESS;
	uint32		leaf;
	Buffer		buf;
	Page		page;
	int			i;

	Assert(key->cls == FPT_CLS_VALUE && !fpt_is_general(l));
	Assert(InterruptHoldoffCount == 0); /* R2: no page is locked */
	if (unlikely(p == NULL))
	{
		if (unlikely(due || fpt_recall_due(b)))
			fpt_recall_learn(rel, ix, b, key);
		return InvalidBuffer;
	}
	i = fpt_count_upto(p->seps, p->n, number) - 1;
	Assert(i >= 0);
	if (fpt_recall_more(l, key) && !(i + 1 == p->n && p->open) &&
		(i + 1 == p->n ? p->high : p->seps[i + 1]) == number + 1)
		return InvalidBuffer;	/* it may be in the next leaf */
	if (look != NULL && fpt_parent_goes_on(l, p, i, look))
		return InvalidBuffer;
	if (unlikely(++p->uses == FPT_RECALL_WORTH) && b->waits > 0)
		b->waits--;
	p->when = ++fpt_recall_clock;
	leaf = fpt_leaves(p)[i];
	if (fpt_guess_wanted(&ix->guess))
		fraction = fpt_parent_fraction(p, i, number);
	fpt_page_await(rel, l, leaf);
	buf = fpt_getbuf_hot(rel, ix, leaf, lock, fraction);
	page = BufferGetPage(buf);
	if (likely(fpt_page_on_level(page, 0) && fpt_page_above_low(l, page, key) &&
			   fpt_page_below_high(l, page, key)))	/* R1 */
		return buf;
	UnlockReleaseBuffer(buf);
	fpt_recall_missed(rel, ix, number);
	return InvalidBuffer;
}
