/*-------------------------------------------------------------------------
 *
 * sql/estimate.c
 *	  How large an index would be if it were built now.
 *
 * An index of few leaves is read as a whole (FPT_SAMPLE_PAGES), and its entries
 * are given to a build that writes nothing (load/build.h): the result is exact,
 * as far as entries are not dead, and do not come or go meanwhile.
 *
 * If there are more, inner pages are read, to count the leaves, and some runs
 * of neighbouring leaves, evenly spread over the keys.  Neighbours, because
 * pages pack the bytes that keys and TIDs next to each other have in common.
 * Each run is given to a trial of its own.  That shows how many pages there
 * would be for a leaf of today's; the first page of a run, which knows
 * nothing of a page before it, and the last one, which is not full, count as
 * the part that their entries are of the others'.
 *
 * All pages are copied before the first trial, because the highest offset of
 * all rows decides how TIDs are stored, and only the whole sample has it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/amapi.h"
#include "access/genam.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/general.h"
#include "key/image.h"
#include "key/procs.h"
#include "load/build.h"
#include "page/copy.h"
#include "page/kernel.h"
#include "page/layout.h"
#include "server/compat.h"
#include "sql/btree.h"
#include "sql/estimate.h"
#include "sql/relcheck.h"
#include "store/buf.h"
#include "store/index.h"
#include "store/options.h"
#include "store/place.h"

/* The index that is read, of either kind, and the page read last. */
typedef struct FPTTree
{
	Relation	rel;
	bool		btree;
	FPTBtree	bt;
	FPTIndex	ix;				/* of ours */
	BufferAccessStrategy strategy;
	uint32		most;			/* steps of a walk (L11) */
	int64		nread;
	int			rootlevel;

	char	   *copy;
	int			level;			/* -1: not in the tree */
	uint32		right;			/* FPT_NOPAGE: it is the last one */
	FPTBtreePage bpage;
} FPTTree;

/*
 * Entries of a run that are tried, whole leaves; that many times as there are
 * runs, if all leaves are read.
 */
#define FPT_SAMPLE_ENTRIES	30000

/* A leaf that was copied. */
typedef struct FPTSampleLeaf
{
	char	   *copy;
	FPTBtreePage bpage;
} FPTSampleLeaf;

/* Neighbouring leaves, and what a build makes of them. */
typedef struct FPTSampleRun
{
	int			n;
	FPTSampleLeaf *leaves;
	double		entries;

	double		closed;			/* leaves but the first and the last one */
	double		keys;			/* of these */
	double		first;			/* keys of the first one */
	double		part;			/* how full the last one is, if alone */
	double		inner;			/* inner pages above leaves, but the last, */
	double		children;		/* their children, */
	double		per_inner;		/* or what a full one would have */
	double		npages;			/* of all levels */
	double		fresh;			/* leaves of a fresh btree */
	double		fresh_inner;	/* children of an inner page of that */
} FPTSampleRun;

typedef struct FPTSample
{
	FPTTree		tree;
	Relation	as;
	int			most;			/* pages of a level that are read */
	FPTTrial   *trial;
	HTAB	   *given;			/* TIDs that the trial has */
	FPTBtreeFresh *fresh;		/* NULL: it is not a btree */
	uint32		maxoff;
	double		entries;
	double		used;			/* bytes of our leaves, and their room */
	double		room;
	NameData   *names;			/* for columns that btree has as strings */
	int			nruns;
	FPTSampleRun runs[FPT_SAMPLE_RUNS];
} FPTSample;

/* --- reading ------------------------------------------------------------- */

/*
 * Begin.  Returns false if the index has no entries; else *root is its root.
 * Raises an error if the metapage is damaged.
 */
static bool
fpt_tree_begin(FPTTree *t, Relation rel, uint32 *root)
{
	t->rel = rel;
	t->btree = !fpt_is_fptree(rel);
	t->strategy = GetAccessStrategy(BAS_BULKREAD);
	t->nread = 0;
	t->rootlevel = 0;
	t->copy = palloc(FPT_BTREE_COPY);
	if (t->btree)
	{
		t->most = fpt_other_blocks(rel);
		return fpt_btree_begin(rel, t->strategy, &t->bt, root);
	}
	fpt_index_copy(rel, &t->ix);
	t->most = fpt_npages(rel, &t->ix.map);
	(void) fpt_find_root(rel, &t->ix);
	*root = t->ix.root;
	return true;
}

/* Read a page of ours.  Raises an error if it is no page. */
static void
fpt_tree_read_ours(FPTTree *t, uint32 pageno)
{
	FPTPageHeader *h = fpt_header(t->copy);

	CHECK_FOR_INTERRUPTS();
	if (!fpt_page_exists(t->rel, &t->ix.map, pageno))
		fpt_corrupt(t->rel, pageno, "There is no such page");
	fpt_copy_page(t->rel, &t->ix.map, pageno, t->strategy, t->copy);
	if (!fpt_page_sane(&t->ix.layout, t->copy, pageno))
		fpt_corrupt(t->rel, pageno, "The page header is not valid");
	t->level = h->flags & FPT_F_DELETED ? -1 : h->level;
	t->right = h->right;
}

/* Copy a page to t->copy.  May be cancelled; raises if it is no page. */
static void
fpt_tree_read(FPTTree *t, uint32 pageno)
{
	t->nread++;
	if (!t->btree)
	{
		fpt_tree_read_ours(t, pageno);
		return;
	}
	fpt_btree_read(&t->bt, pageno, t->copy, &t->bpage);
	t->level = t->bpage.level;
	t->right = t->bpage.right == P_NONE ? FPT_NOPAGE : t->bpage.right;
}

/* Entries of a page of ours, in t->copy or elsewhere; raises if damaged. */
static int
fpt_tree_extract(const FPTTree *t, char *copy, FPTEntry *entries)
{
	int			n = fpt_page_extract(&t->ix.layout, copy, entries,
									 FPT_MAX_ENTRIES);

	if (n < 0)
		fpt_corrupt(t->rel, fpt_special(copy)->pageno,
					"The entries cannot be read");
	return n;
}

/* Children of the inner page in t->copy; "children" has FPT_MAX_ENTRIES. */
static int
fpt_tree_children(FPTTree *t, FPTEntry *entries, uint32 *children)
{
	int			n;

	if (t->btree)
		return fpt_btree_children(&t->bt, t->copy, &t->bpage, children);
	n = fpt_tree_extract(t, t->copy, entries);
	for (int i = 0; i < n; i++)
		children[i] = entries[i].down;
	return n;
}

StaticAssertDecl(FPT_MAX_ENTRIES >= MaxIndexTuplesPerPage,
				 "children of a btree's page have no room");

/* Numbers of pages of a level, in the order of keys. */
typedef struct FPTSampleLevel
{
	uint32	   *pages;
	Size		n;
	Size		size;
} FPTSampleLevel;

/* Add the children of the page in t->copy to those of its level. */
static void
fpt_level_append(FPTSampleLevel *lv, const uint32 *children, int n)
{
	if (lv->n + n > lv->size)
	{
		lv->size = Max(lv->size * 2, lv->n + n);
		lv->pages = lv->pages == NULL ?
			palloc_extended(lv->size * sizeof(uint32), MCXT_ALLOC_HUGE) :
			repalloc_huge(lv->pages, lv->size * sizeof(uint32));
	}
	memcpy(lv->pages + lv->n, children, n * sizeof(uint32));
	lv->n += n;
}

/* Raise the error about a level that has no pages. */
static void __attribute__((noreturn))
fpt_no_pages(const FPTTree *t, int level)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" has no pages of level %d",
					RelationGetRelationName(t->rel), level),
			 errhint("Please REINDEX the index.")));
}

/*
 * Find leaves, from the root down; returns how many there are, an estimate if
 * any level has more than "most" pages.  *leaves: those whose parents
 * were read.  A page that has another level than its parent says has become
 * another one since.  Raises an error if none has the right one.
 */
static double
fpt_find_leaves(FPTTree *t, uint32 root, int most, FPTSampleLevel *leaves)
{
	FPTEntry   *entries = palloc(sizeof(FPTEntry) * FPT_MAX_ENTRIES);
	uint32	   *children = palloc(sizeof(uint32) * FPT_MAX_ENTRIES);
	FPTSampleLevel cur = {0};
	double		total = 1;

	fpt_level_append(&cur, &root, 1);
	fpt_tree_read(t, root);
	t->rootlevel = t->level;
	if (t->level < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("the root of index \"%s\", page %u, is deleted",
						RelationGetRelationName(t->rel), root),
				 errhint("Please REINDEX the index.")));
	for (int level = t->level; level > 0; level--)
	{
		FPTSampleLevel next = {0};
		Size		want = Min(cur.n, (Size) most);
		Size		nread = 0;

		for (Size i = 0; i < want; i++)
		{
			fpt_tree_read(t, cur.pages[(2 * i + 1) * cur.n / (2 * want)]);
			if (t->level != level)
				continue;
			fpt_level_append(&next, children,
							 fpt_tree_children(t, entries, children));
			nread++;
		}
		if (next.n == 0)
			fpt_no_pages(t, level - 1);
		total *= (double) next.n / nread;
		pfree(cur.pages);
		cur = next;
	}
	*leaves = cur;
	pfree(entries);
	pfree(children);
	return total;
}

/*
 * Copy up to "most" neighbouring leaves.  Fewer, where the index ends, or a
 * page has become another one.
 */
static void
fpt_read_run(FPTTree *t, uint32 start, int most, FPTSampleRun *run)
{
	uint32		pageno = start;

	run->leaves = palloc(most * sizeof(FPTSampleLeaf));
	for (uint32 steps = 0; steps <= t->most; steps++)
	{
		fpt_tree_read(t, pageno);
		if (t->level > 0)
			break;
		if (t->level == 0)
		{
			FPTSampleLeaf *leaf = &run->leaves[run->n++];

			leaf->copy = palloc(FPT_BTREE_COPY);
			memcpy(leaf->copy, t->copy, FPT_BTREE_COPY);
			leaf->bpage = t->bpage;
		}
		if (run->n == most || t->right == FPT_NOPAGE)
			break;
		pageno = t->right;
	}
}

/* --- trials -------------------------------------------------------------- */

/* A page that a trial has made. */
static void
fpt_sample_sink(void *arg, const FPTLayout *l, void *page)
{
	FPTSampleRun *run = (FPTSampleRun *) arg;
	FPTPageHeader *h = fpt_header(page);
	int			n = fpt_page_count(l, page);
	FPTSpace	space;

	run->npages += 1;
	if (n <= 0 || h->level > 1 || fpt_page_space(l, page, n, &space) != FPT_OK)
		return;
	if (h->level == 0 && h->right != FPT_NOPAGE)
	{
		/* the first one knows less of its rows than those in an index do */
		if (h->left == FPT_NOPAGE)
		{
			run->first = n;
			return;
		}
		run->closed += 1;
		run->keys += n;
	}
	else if (h->level == 0)
		run->part = (double) space.used / Max(1, space.room);
	else if (h->right != FPT_NOPAGE)
	{
		run->inner += 1;
		run->children += n;
	}
	else
		run->per_inner = space.room * FPT_INNER_FILLFACTOR / 100.0 /
			Max(1.0, (double) space.used / n);
}

/* An entry of a btree is visited the first time: its TID. */
static void
fpt_sample_look(void *arg, const FPTBtreeEntry *e)
{
	FPTSample  *s = (FPTSample *) arg;

	s->entries += 1;
	s->maxoff = Max(s->maxoff, (uint32) (e->tid & 0xFFFF));
}

/*
 * Give an entry to the trial, but none with a TID that it has: no entry may
 * come twice.  They would where a damaged link leads back, and a TID does if
 * its row was removed, and another one took its place, meanwhile.
 */
static void
fpt_sample_add(FPTSample *s, uint64 tid, Datum *values, bool *isnull)
{
	bool		found;

	(void) hash_search(s->given, &tid, HASH_ENTER, &found);
	if (!found)
		fpt_trial_add(s->trial, tid, values, isnull);
}

/* The second time: to the trials. */
static void
fpt_sample_give(void *arg, const FPTBtreeEntry *e)
{
	FPTSample  *s = (FPTSample *) arg;
	TupleDesc	desc = RelationGetDescr(s->tree.rel);
	Datum		values[INDEX_MAX_KEYS];

	s->entries += 1;
	fpt_btree_fresh_add(s->fresh, e);
	if (s->as == NULL)
		return;
	for (int i = 0; i < desc->natts; i++)
	{
		values[i] = e->values[i];
		if (TupleDescAttr(desc, i)->attlen == -2 && !e->isnull[i])
		{
			namestrcpy(&s->names[i], DatumGetCString(values[i]));
			values[i] = NameGetDatum(&s->names[i]);
		}
	}
	fpt_sample_add(s, e->tid, values, e->isnull);
}

/* A leaf of ours, the first time. */
static void
fpt_sample_look_ours(FPTSample *s, char *copy, FPTEntry *entries)
{
	const FPTLayout *l = &s->tree.ix.layout;
	int			n = fpt_tree_extract(&s->tree, copy, entries);
	FPTSpace	space;

	if (fpt_page_space(l, copy, n, &space) != FPT_OK)
		fpt_corrupt(s->tree.rel, fpt_special(copy)->pageno,
					"The entries cannot be counted");
	s->used += space.used;
	s->room += space.room;
	s->entries += n;
	for (int i = 0; i < n; i++)
		s->maxoff = Max(s->maxoff, (uint32) (entries[i].key.tid & 0xFFFF));
}

/*
 * And the second time.  Values are taken out of the keys, and made to keys
 * again, in "cxt", which is reset.
 */
static void
fpt_sample_give_ours(FPTSample *s, char *copy, FPTEntry *entries,
					 MemoryContext cxt)
{
	const FPTIndex *ix = &s->tree.ix;
	int			n = fpt_tree_extract(&s->tree, copy, entries);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	for (int i = 0; i < n; i++)
	{
		const FPTKey *key = &entries[i].key;
		MemoryContext old = MemoryContextSwitchTo(cxt);
		FPTDecoded	room;

		if (fpt_is_general(&ix->layout))
			(void) fpt_general_deform(ix->layout.arg, key, values, isnull);
		else
		{
			isnull[0] = key->cls != FPT_CLS_VALUE;
			values[0] = isnull[0] ? (Datum) 0 : fpt_key_value(ix, key, &room);
		}
		fpt_sample_add(s, key->tid, values, isnull);
		s->entries += 1;
		MemoryContextSwitchTo(old);
		MemoryContextReset(cxt);
	}
}

/* Look at the sample, before trials: entries, offsets, how full leaves are. */
static void
fpt_sample_survey(FPTSample *s, FPTEntry *entries)
{
	for (int r = 0; r < s->nruns; r++)
	{
		for (int i = 0; i < s->runs[r].n; i++)
		{
			FPTSampleLeaf *leaf = &s->runs[r].leaves[i];

			CHECK_FOR_INTERRUPTS();
			if (s->tree.btree)
				fpt_btree_entries(&s->tree.bt, leaf->copy, &leaf->bpage, false,
								  fpt_sample_look, s);
			else
				fpt_sample_look_ours(s, leaf->copy, entries);
		}
	}
}

/*
 * All leaves were read, and have more entries than a sample needs: make runs of
 * the only one.
 */
static void
fpt_sample_divide(FPTSample *s)
{
	FPTSampleRun all = s->runs[0];

	Assert(s->nruns == 1);
	s->nruns = FPT_SAMPLE_RUNS;
	for (int r = 0; r < s->nruns; r++)
	{
		FPTSampleRun *run = &s->runs[r];
		int			from = r * all.n / s->nruns;

		memset(run, 0, sizeof(*run));
		run->leaves = all.leaves + from;
		run->n = (r + 1) * all.n / s->nruns - from;
	}
}

/* Give a run's entries to a trial; "blocks" is how many the table has. */
static void
fpt_sample_try(FPTSample *s, FPTSampleRun *run, uint32 blocks,
			   FPTEntry *entries)
{
	FPTTree    *t = &s->tree;
	FPTBtreeFresh fresh;
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree sample entry",
											  ALLOCSET_SMALL_SIZES);
	HASHCTL		ctl = {.keysize = sizeof(uint64), .entrysize = sizeof(uint64),
	.hcxt = CurrentMemoryContext};

	/* in our context, so that it goes with an error or a cancellation, too */
	s->given = hash_create("fptree sample TIDs", FPT_SAMPLE_ENTRIES, &ctl,
						   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	s->entries = 0;
	s->fresh = &fresh;
	if (t->btree)
		fpt_btree_fresh_begin(&fresh, &t->bt, BTGetFillFactor(t->rel));
	if (s->as != NULL)
		s->trial = fpt_trial_begin(s->as, blocks, fpt_sample_sink, run);
	for (int i = 0; i < run->n; i++)
	{
		FPTSampleLeaf *leaf = &run->leaves[i];

		CHECK_FOR_INTERRUPTS();
		if (s->nruns > 1 && s->entries >= FPT_SAMPLE_ENTRIES)
			run->n = i;
		else if (t->btree)
			fpt_btree_entries(&t->bt, leaf->copy, &leaf->bpage, true,
							  fpt_sample_give, s);
		else
			fpt_sample_give_ours(s, leaf->copy, entries, cxt);
	}
	if (s->as != NULL)
		fpt_trial_end(s->trial, s->maxoff);
	if (t->btree)
		run->fresh = fpt_btree_fresh_end(&fresh, &run->fresh_inner);
	run->entries = s->entries;
	hash_destroy(s->given);
	MemoryContextDelete(cxt);
}

/* --- the whole ------------------------------------------------------------ */

/*
 * Pages of a tree with these leaves, metapage and root included; an empty one
 * has "least".
 */
static double
fpt_tree_pages(double leaves, double per_inner, double least)
{
	double		pages = ceil(leaves) + 1;
	double		level = leaves;

	per_inner = Max(per_inner, 2.0);
	if (leaves <= 1)
		return leaves > 0 ? 2 : least;
	do
	{
		level = ceil(level / per_inner);
		pages += level;
	} while (level > 1);
	return pages;
}

/*
 * Leaves of an fptree index for a leaf of the run; the children of an inner
 * page are added to *per_inner.
 */
static double
fpt_run_ratio(const FPTSampleRun *run, int fillfactor, double *per_inner)
{
	*per_inner += run->inner > 0 ? run->children / run->inner : run->per_inner;
	if (run->closed == 0 && run->first > 0)
		return run->entries / run->first / run->n;
	if (run->closed == 0)
		return run->part * 100 / fillfactor / run->n;
	return run->closed * run->entries / run->keys / run->n;
}

/* Extrapolate from the runs, or sum up the only one. */
static void
fpt_sample_sum(const FPTSample *s, FPTEstimate *e)
{
	double		ratio = 0;
	double		per_inner = 0;
	double		fresh = 0;
	double		fresh_inner = 0;
	int			n = 0;
	int			fillfactor = FPT_DEFAULT_FILLFACTOR;

	if (s->as != NULL && s->as->rd_options != NULL)
		fillfactor = ((FPTOptions *) s->as->rd_options)->fillfactor;
	e->entries = 0;
	for (int r = 0; r < s->nruns; r++)
	{
		const FPTSampleRun *run = &s->runs[r];

		if (run->n == 0)
			continue;
		n++;
		e->entries += run->entries / run->n;
		fresh += run->fresh / run->n;
		fresh_inner += run->fresh_inner;
		if (s->as != NULL && run->entries > 0)
			ratio += fpt_run_ratio(run, fillfactor, &per_inner);
	}
	n = Max(n, 1);
	e->entries *= e->leaf_pages / n;
	if (s->as != NULL)
		e->fptree_size = BLCKSZ * (int64)
			(e->whole ? s->runs[0].npages + 1 :
			 fpt_tree_pages(e->leaf_pages * ratio / n, per_inner / n, 2));
	if (s->tree.btree)
		e->fresh_size = BLCKSZ * (int64)
			fpt_tree_pages(e->leaf_pages * fresh / n, fresh_inner / n, 1);
	else
		e->fresh_size = e->fptree_size;
	e->density = s->room > 0 ? 100.0 * s->used / s->room : -1;
}

/* Copy the leaves of the sample. */
static void
fpt_sample_read(FPTSample *s, uint32 root, FPTEstimate *e)
{
	FPTSampleLevel leaves;
	int			most;
	int			nleaves = 0;

	e->leaf_pages = fpt_find_leaves(&s->tree, root, s->most, &leaves);
	e->whole = e->leaf_pages <= s->most && leaves.n <= (Size) s->most;
	s->nruns = e->whole ? 1 : Min(FPT_SAMPLE_RUNS, s->most / FPT_SAMPLE_RUN);
	most = e->whole ? (int) leaves.n : s->most / s->nruns;
	for (int r = 0; r < s->nruns; r++)
	{
		Size		at = (2 * r + 1) * leaves.n / (2 * s->nruns);

		/* a run lies around its place, not after it */
		at -= Min(at, (Size) most / 2);
		fpt_read_run(&s->tree, leaves.pages[e->whole ? 0 : at], most,
					 &s->runs[r]);
		nleaves += s->runs[r].n;
	}
	if (nleaves == 0)
		fpt_no_pages(&s->tree, 0);
	pfree(leaves.pages);
}

void
fpt_estimate(Relation rel, Relation as, int most, FPTEstimate *e)
{
	MemoryContext cxt = AllocSetContextCreate(CurrentMemoryContext,
											  "fptree estimate",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(cxt);
	FPTSample  *s = palloc0(sizeof(FPTSample));
	FPTEntry   *entries = palloc(sizeof(FPTEntry) * FPT_MAX_ENTRIES);
	Relation	heap = table_open(rel->rd_index->indrelid, AccessShareLock);
	uint32		blocks = RelationGetNumberOfBlocks(heap);
	uint32		root;
	FPTCaller	caller;

	fpt_become_owner(heap, &caller);
	memset(e, 0, sizeof(*e));
	e->fptree_size = -1;
	e->density = -1;
	s->as = as;
	s->most = most;
	s->names = palloc(sizeof(NameData) * INDEX_MAX_KEYS);
	if (fpt_tree_begin(&s->tree, rel, &root))
	{
		fpt_sample_read(s, root, e);
		fpt_sample_survey(s, entries);
		if (e->whole && s->entries > FPT_SAMPLE_ENTRIES * FPT_SAMPLE_RUNS)
		{
			fpt_sample_divide(s);
			e->whole = false;
		}
	}
	else
	{
		/* an empty btree has no pages but the meta page */
		e->whole = true;
		s->nruns = 1;
	}
	for (int r = 0; r < s->nruns; r++)
		fpt_sample_try(s, &s->runs[r], blocks, entries);
	fpt_sample_sum(s, e);
	e->pages_read = s->tree.nread;
	e->level = s->tree.rootlevel;
	e->size = BLCKSZ * (int64)
		(s->tree.btree ? fpt_other_blocks(rel) :
		 fpt_total_pages(rel, &s->tree.ix.map));
	fpt_become_caller(&caller);
	table_close(heap, AccessShareLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

/* --- an index that is not there ------------------------------------------ */

/*
 * The columns of a btree's leaves as an index of ours has them: names are
 * names.  NULL if a column is stored as another type than it is of.
 */
static TupleDesc
fpt_like_columns(Relation btree)
{
	TupleDesc	desc = CreateTupleDescCopy(RelationGetDescr(btree));

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(btree); i++)
	{
		Oid			type = TupleDescAttr(desc, i)->atttypid;

		if (type == CSTRINGOID && btree->rd_opcintype[i] == NAMEOID)
			TupleDescInitEntry(desc, i + 1, NULL, NAMEOID, -1, 0);
		else if (type == CSTRINGOID)
			return NULL;
	}
	fpt_tupdesc_finish(desc);
	return desc;
}

Relation
fpt_fptree_like(Relation btree, const Oid *opclasses, int fillfactor)
{
	Relation	rel = palloc(sizeof(RelationData));
	int			nkeys = IndexRelationGetNumberOfKeyAttributes(btree);
	int			natts = RelationGetNumberOfAttributes(btree);
	int			nprocs;
	FPTOptions *options;

	*rel = *btree;
	rel->rd_att = fpt_like_columns(btree);
	if (rel->rd_att == NULL)
		return NULL;
	rel->rd_indam = GetIndexAmRoutineByAmId(get_index_am_oid("fptree", false),
											false);
	nprocs = rel->rd_indam->amsupport;
	rel->rd_indexcxt = CurrentMemoryContext;
	rel->rd_amcache = NULL;
	rel->rd_opcoptions = NULL;
	rel->rd_opfamily = palloc0(natts * sizeof(Oid));
	rel->rd_opcintype = palloc0(natts * sizeof(Oid));
	rel->rd_support = palloc0(natts * nprocs * sizeof(RegProcedure));
	rel->rd_supportinfo = palloc0(natts * nprocs * sizeof(FmgrInfo));
	for (int i = 0; i < nkeys; i++)
	{
		Oid			family = get_opclass_family(opclasses[i]);
		Oid			type = get_opclass_input_type(opclasses[i]);

		rel->rd_opfamily[i] = family;
		rel->rd_opcintype[i] = type;
		for (int n = 1; n <= FPT_NPROCS; n++)
			rel->rd_support[i * nprocs + n - 1] =
				get_opfamily_proc(family, type, type, n);
	}
	rel->rd_options = NULL;
	if (fillfactor > 0)
	{
		options = palloc0(sizeof(FPTOptions));
		SET_VARSIZE(options, sizeof(FPTOptions));
		options->fillfactor = fillfactor;
		rel->rd_options = (bytea *) options;
	}
	return rel;
}
