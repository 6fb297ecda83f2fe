/*-------------------------------------------------------------------------
 *
 * tree/split.c
 *	  Making room for an entry: in the page, or by splitting it.
 *
 * A page split is one WAL record: the page, its new right sibling, the old
 * right sibling (whose left link changes) and, above the leaf level, the child
 * whose incomplete-split flag the inserted downlink clears: four pages at
 * most.  The new sibling's own downlink follows in a second record, which
 * clears the flag that the first one sets.  Whoever finds the flag set on a
 * page that it has locked exclusively finishes that split first.
 *
 * The root stays where it is: its entries move to two new pages below it, in
 * one record that needs no flag.  Not so the only leaf, which is the root, too:
 * it stays a leaf, and a new page is the root.  So a split moves entries of a
 * leaf to its right sibling and nowhere else (VACUUM's interlock with
 * index-only scans depends on that).
 *
 * A page holds far more entries in a narrow encoding than in a wide one, so an
 * entry far away from the others may not let half a page's entries form one.
 * Then the page is split next to that entry, or first without it.
 *
 * In a striped index a leaf may have to be split early, for the sake of the
 * place of another one's new sibling (tree/finddisk.h).
 *
 * Lock order: from lower to higher levels, and from left to right in a level.
 * Pages taken from the free space map are locked conditionally.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "key/column.h"
#include "key/compare.h"
#include "page/copy.h"
#include "page/encoding.h"
#include "page/form.h"
#include "page/format.h"
#include "page/geom.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/prefix.h"
#include "page/remove.h"
#include "page/room.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/meta.h"
#include "store/options.h"
#include "store/place.h"
#include "store/wal.h"
#include "tree/finddisk.h"
#include "tree/split.h"

/*
 * Fill of the nodes of a new right page, percent.  That of a leaf page has its
 * entries in as many nodes as it will need, as free slots are not logged (W9),
 * and the splits of full nodes would be.  Where the rows of one key fill nodes
 * the next ones do not come to all of these: so they are full.
 */
#define FPT_SPLIT_FILL			75
#define FPT_SPLIT_FILL_LEAF		50
#define FPT_SPLIT_FILL_REPEATED	100
#define FPT_SPLIT_FILL_ASCENDING 100
#define FPT_SPLIT_FILL_ARRIVING	90	/* more or less ascending */

/* Share of the entries that a rightmost inner page keeps, percent. */
#define FPT_SPLIT_INNER_KEEP	90

/* Bytes of a general entry besides its tuple, more or less. */
#define FPT_SPLIT_SLOT			16

/*
 * So far from the middle borders are tried one by one, farther away at
 * distances that double (L10).
 */
#define FPT_SPLIT_STEPS			16

/* Part of the entries within which a border is moved to one between keys. */
#define FPT_SPLIT_NEAR			4

/* So many rows of one key are as good as a node of them. */
#define FPT_SPLIT_RUN			16

/*
 * The border between leaves of images is moved to one between nodes that is as
 * near as this part of the entries: what stays are whole nodes then, which lose
 * nothing that would be logged.
 */
#define FPT_SPLIT_NODE_NEAR		64

/*
 * So many leaves are split early for another one, if they have this part of its
 * entries; and if this part of them goes to its new sibling: more splits follow
 * in the same place where rows ascend, and have the same neighbours.
 */
#define FPT_SPLIT_EARLY			3
#define FPT_SPLIT_EARLY_PART	8
#define FPT_SPLIT_EARLY_MOVED	4

/* A leaf has so many entries for each of those that came last. */
#define FPT_SPLIT_RECENT		4

/* What a split works on. */
typedef struct FPTSplit
{
	Relation	rel;
	FPTIndex   *ix;
	const FPTEntry *e;			/* the entry to insert, or NULL */
	FPTLocal   *local;			/* the same as the page has it, or NULL */
	FPTEntry   *entries;		/* the page's entries and e, in order */
	int			n;
	int			pos;			/* e's place in them; -1: it is not in */
	int			at;				/* first entry of the right page */
	FPTKey		low;			/* the page's fences */
	FPTKey		high;
	FPTKeyBuf	sep;			/* fence between left and right */
	char	   *left;			/* the pages as they shall be, links apart */
	char	   *right;
	FPTWork    *work;			/* for the kernel */
	uint32		reach;			/* of the pages, see FPTPageSpec */
	int			rowbits;		/* the same */
	int			spare;			/* of the page, see fpt_spare_slots(), or 0 */
	int			fill;			/* of the right page's nodes, percent */
} FPTSplit;

/*
 * A page's entries, in order, if they were read before it is split, to find out
 * whether they repeat: n of them in work's entries, which are the reader's; -1:
 * they were not.  The page has been locked since.
 */
typedef struct FPTRead
{
	FPTWork    *work;
	int			n;
} FPTRead;

static FPTEntry *
fpt_alloc_entries(void)
{
	return (FPTEntry *) palloc(sizeof(FPTEntry) * (FPT_MAX_ENTRIES + 1));
}

/*
 * What makes up for free slots of the page: of a leaf of images, but of few
 * distinct ones, as in builds.
 */
static int
fpt_split_spare(const FPTLayout *l, Page page)
{
	const FPTGeom *g = fpt_page_geom(l, page);

	if (g == NULL || !fpt_is_leaf(g) || fpt_shares_space(g) || g->kw == 1)
		return 0;
	return fpt_spare_slots(g);
}

/* Put e, which there is, among the page's entries, see fpt_split_read(). */
static void
fpt_split_add(FPTSplit *sp, Page page)
{
	int			a = 0;
	int			b = sp->n;
	const FPTEntry *e = sp->e;

	Assert(e->key.cls > FPT_CLS_MINF && e->key.cls < FPT_CLS_PINF);

	/*
	 * Nothing goes before the separator that stands for the low fence, not even
	 * where comparisons would have it so.
	 */
	if (fpt_header(page)->level > 0 && sp->n > 0)
		a = 1;
	while (a < b)
	{
		int			m = (a + b) / 2;

		if (fpt_key_cmp(&sp->ix->layout, &sp->entries[m].key, &e->key) < 0)
			a = m + 1;
		else
			b = m;
	}
	memmove(sp->entries + a + 1, sp->entries + a,
			(sp->n - a) * sizeof(FPTEntry));

	/*
	 * It is told whether it is like its neighbours, if it begins with their
	 * prefix; if not, it is unlike all of them.
	 */
	if (fpt_must_cut(fpt_page_open(&sp->ix->layout, page), &e->key))
	{
		sp->local = palloc(sizeof(FPTLocal));
		if (fpt_page_localize(fpt_page_open(&sp->ix->layout, page), &e,
							  sp->local) != FPT_OK)
			e = sp->e;
	}
	sp->entries[a] = *e;
	sp->n++;
	sp->pos = a;
}

/*
 * Read a page's entries, or take those that were read before ("read", or NULL),
 * and put e among them, if there is one.  Sets all that is known of them in
 * *sp, whose entries have room for FPT_MAX_ENTRIES + 1.  Their tuples and those
 * of the fences are the page's, which must not change as long as they are used:
 * it is locked exclusively, or a copy.  Raises an error if it is damaged, or if
 * comparing does.
 */
static void
fpt_split_read(FPTSplit *sp, Page page, uint32 pageno, const FPTRead *read)
{
	Assert(sp->entries != NULL);
	if (read != NULL && read->n >= 0)
	{
		sp->n = read->n;
		memcpy(sp->entries, read->work->u.entries, sp->n * sizeof(FPTEntry));
	}
	else
		sp->n = fpt_page_extract(&sp->ix->layout, page, sp->entries,
								 FPT_MAX_ENTRIES);
	if (sp->n < 0)
		fpt_corrupt_page(sp->rel, &sp->ix->layout, page, pageno);
	sp->low = fpt_page_low(&sp->ix->layout, page);
	sp->high = fpt_page_high(&sp->ix->layout, page);
	sp->pos = -1;
	if (sp->e != NULL)
		fpt_split_add(sp, page);
	Assert(sp->n <= FPT_MAX_ENTRIES + 1 && sp->pos < sp->n);
	sp->spare = fpt_split_spare(&sp->ix->layout, page);
	sp->reach = fpt_page_reach(&sp->ix->layout, page, sp->entries, sp->n);
	sp->rowbits = fpt_page_rowbits(&sp->ix->layout, page, sp->entries, sp->n);
}

/*
 * Does the new leaf entry follow the one that was inserted before it?  Rows
 * that arrive together lie together in the heap.
 */
static bool
fpt_split_local_run(FPTSplit *sp)
{
	uint64		tid = sp->e->key.tid;
	uint64		prev;

	if (sp->pos < 1)
		return false;
	prev = sp->entries[sp->pos - 1].key.tid;
	return tid == prev + 1 ||
		((tid >> 16) == (prev >> 16) + 1 &&
		 (tid & 0xFFFF) == FirstOffsetNumber);
}

/* Are two leaf entries, or an entry and a fence, of the same key? */
static inline bool
fpt_split_same_key(const FPTKey *a, const FPTKey *b)
{
	return a->hi == b->hi && fpt_key_alike(a, b);
}

/*
 * Is the new leaf entry the last row of the page's first key, and is there
 * nothing else, or rows of one other key that goes on in the next page?  More
 * rows of the first one will come after the new one, as they get higher TIDs,
 * and nothing elsewhere.
 */
static bool
fpt_split_long_run(const FPTSplit *sp)
{
	const FPTKey *last = &sp->entries[sp->n - 1].key;

	Assert(sp->n > 0 && sp->pos < sp->n);
	if (sp->pos < 1 ||
		!fpt_split_same_key(&sp->entries[0].key, &sp->e->key))
		return false;
	return sp->pos == sp->n - 1 ||
		(!fpt_split_same_key(&sp->e->key, &sp->entries[sp->pos + 1].key) &&
		 fpt_split_same_key(&sp->entries[sp->pos + 1].key, last) &&
		 sp->high.tid != 0 && fpt_split_same_key(last, &sp->high));
}

/*
 * In an index of several columns, is the new leaf entry the last one of those
 * of its values in the first columns, which are half of the page or more?  Such
 * rows arrive in the order of the further columns, an event of each of some
 * sources at a time, and more will come after the new one.  Runs functions of
 * types, which may raise (L7).
 */
static bool
fpt_split_group_end(const FPTSplit *sp)
{
	const FPTGeneral *g = sp->ix->layout.arg;
	const FPTEntry *e = &sp->entries[sp->pos];
	int			n;

	if (!fpt_is_general(&sp->ix->layout) || fpt_general_nkeys(g) < 2 ||
		sp->pos <= sp->n / 2)
		return false;
	n = fpt_general_common(g, &e[-1].key, &e->key);
	return n > 0 && n < fpt_general_nkeys(g) &&
		fpt_general_common(g, &e[-(sp->n / 2)].key, &e->key) >= n &&
		(sp->pos == sp->n - 1 ||
		 fpt_general_common(g, &e->key, &e[1].key) < n);
}

/*
 * Where a key begins near "at", if keys repeat: its rows are found in one page
 * then, and both halves can grow.  Returns that border, or "at", which is one
 * of 1 .. sp->n - 1, as is what is returned.  Compares bytes, so raises
 * nothing.
 */
static int
fpt_split_between_keys(const FPTSplit *sp, int at)
{
	int			max = Min(sp->n / FPT_SPLIT_NEAR, Min(at, sp->n - at));

	Assert(at >= 1 && at < sp->n);
	for (int d = 0; d < max; d++)
	{
		if (!fpt_split_same_key(&sp->entries[at - d - 1].key,
								&sp->entries[at - d].key))
			return at - d;
		if (!fpt_split_same_key(&sp->entries[at + d - 1].key,
								&sp->entries[at + d].key))
			return at + d;
	}
	return at;
}

/* Bytes of a general entry; one that shares its tuple has none of its own. */
static inline int
fpt_split_weight(const FPTSplit *sp, int i)
{
	const FPTKey *k = &sp->entries[i].key;

	if (i > 0 && k->tup == sp->entries[i - 1].key.tup)
		return FPT_SPLIT_SLOT;
	return (int) k->len + FPT_SPLIT_SLOT;
}

/*
 * The middle: by entries, or by bytes where their tuples are not alike.
 * Returns the right half's first entry, of 1 .. sp->n - 1, or 1 if there is one
 * entry only.  Raises nothing.
 */
static int
fpt_split_half(FPTSplit *sp, int level)
{
	int			total = 0;
	int			sum = 0;
	int			i;

	if (!fpt_is_general(&sp->ix->layout))
		return (sp->n + 1) / 2;
	/*
	 * A page of widest separators has two children, and a third one leaves one
	 * of its halves with a single child.  That must be the half where more are
	 * to come, or each of them would split the whole path up to the root.
	 */
	if (level > 0 && sp->n == 3)
		return sp->pos <= 1 ? 1 : 2;
	for (i = 0; i < sp->n; i++)
		total += fpt_split_weight(sp, i);
	for (i = 0; i < sp->n - 1 && sum < total / 2; i++)
		sum += fpt_split_weight(sp, i);
	return Max(i, 1);
}

/*
 * Of a leaf of images, locked: the border between two nodes that is near "at",
 * or at.  Returns one of 1 .. sp->n - 1, whatever the nodes are, if "at" is
 * one.  Raises nothing.
 */
static int
fpt_split_between_nodes(const FPTSplit *sp, Page page, int at)
{
	const FPTLayout *l = &sp->ix->layout;
	int			nkids = fpt_header(page)->nkids;
	int			best = at;
	int			near = sp->n / FPT_SPLIT_NODE_NEAR;
	int			border = 0;

	for (int kid = 0; kid < nkids - 1; kid++)
	{
		int			here;

		border += fpt_node_count(l, page, kid);
		here = border;
		if (sp->pos >= 0 && sp->pos < border)
			here++;				/* with the new one */
		if (abs(here - at) <= near && here > 0 && here < sp->n)
		{
			best = here;
			near = abs(here - at) - 1;
		}
	}
	return best;
}

/* Do rows of few keys fill the nodes of a leaf? */
static bool
fpt_split_repeats(const FPTSplit *sp)
{
	int			same = 0;

	for (int i = FPT_SPLIT_RUN; i < sp->n; i++)
		same += fpt_split_same_key(&sp->entries[i - FPT_SPLIT_RUN].key,
								   &sp->entries[i].key);
	return same > sp->n / 4;
}

/*
 * How many entries a leaf keeps after which the next ones will come: as many as
 * a build puts into a page, but for those of few distinct keys.
 */
static int
fpt_split_keep(const FPTSplit *sp)
{
	FPTOptions *opts = (FPTOptions *) sp->rel->rd_options;
	int			keep = opts ? opts->fillfactor : FPT_DEFAULT_FILLFACTOR;

	return Max(1, Min(sp->n - 1, (sp->n - 1 + sp->spare) * keep / 100));
}

/*
 * Do the rows of a leaf arrive in one part of it, with the new entry?  Then the
 * border is behind that part, so that the page has room for the next ones, and
 * nothing is in their way; or, if little or nothing follows, before it, and
 * the page that they have left stays full.  Where the new entry is the last one
 * of that part the next ones go beyond the border, perhaps, and where it is the
 * first one no more rows come after the border: that page must not be less than
 * half full for ever.  Returns the border, 0: they do not, or it would be.
 * Frees what it allocates; raises nothing.
 */
static int
fpt_split_where_rows_arrive(const FPTSplit *sp, bool rightmost)
{
	uint64	   *tids;
	FPTBand		band;
	bool		near;
	int			keep = fpt_split_keep(sp);

	if (sp->n < FPT_SPLIT_RECENT * FPT_RECENT_MAX)
		return 0;
	tids = (uint64 *) palloc(sp->n * sizeof(uint64));
	for (int i = 0; i < sp->n; i++)
		tids[i] = sp->entries[i].key.tid;
	near = fpt_recent_band(tids, sp->n, FPT_RECENT_MAX, &band) &&
		band.from <= sp->pos && band.to >= sp->pos;
	pfree(tids);
	if (!near)
		return 0;
	Assert(band.from >= 0 && band.from <= band.to && band.to < sp->n);
	if ((sp->pos == band.to && band.to + 1 < sp->n / 2) ||
		(sp->pos == band.from && band.from >= sp->n / 2))
		return 0;
	if (band.to + 1 < keep)
		return band.to + 1;
	if (band.from < sp->n / 2)
		return 0;
	return rightmost ? Min(keep, band.from) : band.from;
}

/*
 * Where to split a page if nothing speaks against it.  Returns the right half's
 * first entry, which fpt_split_try() checks; sets sp->fill.  The page is
 * locked, and is what sp's entries were read from.  May raise
 * (fpt_split_group_end).
 */
static int
fpt_split_middle(FPTSplit *sp, Page page)
{
	FPTPageHeader *h = fpt_header(page);
	bool		images = h->level == 0 && !fpt_is_general(&sp->ix->layout);
	int			keep;

	Assert(sp->n > 1 && sp->pos < sp->n);
	sp->fill = FPT_SPLIT_FILL;
	if (h->level == 0 && !fpt_page_few_keys(&sp->ix->layout, page) &&
		!fpt_split_repeats(sp))
		sp->fill = FPT_SPLIT_FILL_LEAF;
	else if (images)
		sp->fill = FPT_SPLIT_FILL_REPEATED;
	if (h->right != FPT_NOPAGE || sp->pos != sp->n - 1 || sp->n <= 2)
	{
		/* The page where the run goes on gets the lesser part of the others. */
		if (h->level == 0 && fpt_split_long_run(sp))
			return sp->pos > sp->n / 2 ? sp->pos : sp->pos + 1;

		/*
		 * What follows the group does not stay with it, where it would be in
		 * the way for ever.  If that is little, the page is left full.
		 */
		if (h->level == 0 && fpt_split_group_end(sp))
		{
			keep = fpt_split_keep(sp);
			return sp->pos < keep ? sp->pos + 1 : keep;
		}
		keep = h->level == 0 ?
			fpt_split_where_rows_arrive(sp, h->right == FPT_NOPAGE) : 0;
		if (keep > 0)
		{
			if (keep <= sp->pos)
				sp->fill = FPT_SPLIT_FILL_ARRIVING;
			return keep;
		}

		/* An ascending run within the key space leaves a full page, too. */
		if (h->level == 0 && sp->pos > sp->n / 2 && fpt_split_local_run(sp))
			return sp->pos;
		keep = fpt_split_half(sp, h->level);
		if (images)
			keep = fpt_split_between_nodes(sp, page, keep);
		return h->level == 0 ? fpt_split_between_keys(sp, keep) : keep;
	}

	/* Ascending: the rightmost page keeps fillfactor percent. */
	sp->fill = FPT_SPLIT_FILL_ASCENDING;
	if (h->level == 0)
		return fpt_split_keep(sp);
	return Max(1, (sp->n - 1) * FPT_SPLIT_INNER_KEEP / 100);
}

/* Take e out of sp's entries: it is put in later. */
static void
fpt_split_leave_out(FPTSplit *sp)
{
	Assert(sp->pos >= 0 && sp->pos < sp->n);
	memmove(sp->entries + sp->pos, sp->entries + sp->pos + 1,
			(sp->n - sp->pos - 1) * sizeof(FPTEntry));
	sp->n--;
	sp->pos = -1;
}

/*
 * The left half in the page's own image: entries stay where they are, only
 * those of the right half go.  Makes sp->left from sp's at and sep; if that is
 * not FPT_OK what is in there means nothing.  The page itself is only read.
 * Comparing keys may raise.
 */
static FPTResult
fpt_split_left_in_place(FPTSplit *sp, Page page)
{
	const FPTLayout *l = &sp->ix->layout;
	bool		mine = sp->pos >= 0 && sp->pos < sp->at;
	FPTEdit		edit = {0};
	FPTResult	res;

	memcpy(sp->left, page, BLCKSZ);
	res = fpt_page_truncate(l, sp->left, mine ? sp->at - 1 : sp->at);
	if (res == FPT_OK && mine)
		res = fpt_page_insert(l, sp->left, sp->e, &edit);
	if (res == FPT_FULL)
	{
		res = fpt_page_make_room(l, sp->left, sp->e, sp->work);
		if (res == FPT_OK)
			res = fpt_page_insert(l, sp->left, sp->e, &edit);
	}
	if (res == FPT_OK)
	{
		fpt_page_trim(l, sp->left);
		res = fpt_page_set_high(l, sp->left, &sp->sep.key, sp->work);
	}
	return res;
}

/*
 * Make the two halves for a split at "at": sets sp's at, sep, left and right.
 * False if one of them cannot be, or there would be nothing in it; then these
 * mean nothing.  The page is only read.  Comparing keys may raise.
 */
static bool
fpt_split_try(FPTSplit *sp, Page page, int at)
{
	const FPTLayout *l = &sp->ix->layout;
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpec left = {.level = h->level,
		.pageno = fpt_special(page)->pageno, .low = &sp->low,
	.high = &sp->sep.key, .reach = sp->reach, .rowbits = sp->rowbits};
	FPTPageSpec right = {.level = h->level, .low = &sp->sep.key,
	.high = &sp->high, .reach = sp->reach, .rowbits = sp->rowbits};
	bool		inplace;

	if (at < 1 || at >= sp->n)
		return false;
	sp->at = at;

	/*
	 * A leaf's separator without the TID, where the keys differ, sends a
	 * search for the key alone straight to the right page.
	 */
	if (h->level == 0 && fpt_is_general(l))
		l->separate(l->arg, &sp->entries[at - 1].key, &sp->entries[at].key,
					&sp->sep);
	else if (!fpt_key_whole(l, &sp->entries[at].key, &sp->sep))
		return false;
	if (h->level == 0 && !fpt_is_general(l) &&
		fpt_image_cmp(&sp->entries[at - 1].key, &sp->sep.key) != 0)
		sp->sep.key.tid = 0;
	if (fpt_page_form(l, sp->right, &right, sp->entries + at, sp->n - at,
					  sp->fill) != FPT_OK)
		return false;

	/*
	 * Alone in the left page, what stands for minus infinity must be below the
	 * high fence, though no separator had to be above it before: it gets
	 * another image.
	 */
	inplace = at > 1 || h->level == 0 || sp->low.cls != FPT_CLS_MINF ||
		fpt_is_general(l);
	return (inplace && fpt_split_left_in_place(sp, page) == FPT_OK) ||
		fpt_page_form(l, sp->left, &left, sp->entries, at,
					  FPT_SPLIT_FILL) == FPT_OK;
}

/*
 * Wide tuples leave few places for a border, and none perhaps if the new one is
 * among them: a separator may be as wide as the entry after it.  Without the
 * new one there always is one, in front of the last entry: the left page gets
 * no more than there was, the right one that entry and two fences, for which
 * there is room in every page.
 *
 * Each try lays out all entries, so not all borders are tried (L10): those near
 * the middle, some farther and farther away, and the last one.  If that misses
 * one where the new entry could stay, the page is split without it, and its
 * half once more; of few entries, as pages of the widest tuples have, none is
 * missed.  Returns and raises as fpt_split_try() does.
 */
static bool
fpt_split_anywhere(FPTSplit *sp, Page page)
{
	int			middle = fpt_split_half(sp, fpt_header(page)->level);
	int			by = 0;

	while (by < sp->n)
	{
		if (fpt_split_try(sp, page, middle - by) ||
			(by > 0 && fpt_split_try(sp, page, middle + by)))
			return true;
		by = by < FPT_SPLIT_STEPS ? by + 1 : by * 2;
	}
	return fpt_split_try(sp, page, sp->n - 1);
}

/*
 * Choose where to split and make the halves, sp's left and right.  sp->pos is
 * -1 afterwards if the entry is in neither: it has been taken out of sp's
 * entries, and is put in later.  The page is locked exclusively, and not
 * changed.  Raises an error if there is no border, which a sound page has, or
 * if comparing does.
 */
static void
fpt_split_choose(FPTSplit *sp, Page page)
{
	int			pos = sp->pos;

	/* where keys are few another one may fit only in much smaller pages */
	bool		few = fpt_page_few_keys(&sp->ix->layout, page);

	if (fpt_split_try(sp, page, fpt_split_middle(sp, page)) ||
		fpt_split_try(sp, page, pos) || fpt_split_try(sp, page, pos + 1))
		return;

	/* A full page may have no room for the tuple of a new fence. */
	if (fpt_is_general(&sp->ix->layout) && !few &&
		(fpt_split_try(sp, page, fpt_split_keep(sp)) ||
		 fpt_split_try(sp, page, fpt_split_half(sp, fpt_header(page)->level)) ||
		 fpt_split_anywhere(sp, page)))
		return;

	/*
	 * Too far from both its neighbours: make the gap a border first.  Or its
	 * TID is, from those of all others, or has a higher offset, and as long
	 * ones half of these would not fit: without it they take no more than they
	 * took.
	 */
	fpt_split_leave_out(sp);
	sp->reach = 0;
	sp->rowbits = 0;
	if (few && fpt_split_try(sp, page, sp->n / 2))
		return;
	if (fpt_is_general(&sp->ix->layout) && fpt_split_anywhere(sp, page))
		return;

	/*
	 * Where TIDs were relative to nodes half of the page may need whole ones,
	 * for which there is no room.  The left page is what it was, and the right
	 * one needs one entry.
	 */
	if (!fpt_split_try(sp, page, pos) &&
		!fpt_split_try(sp, page, sp->n / 2) &&
		!fpt_split_anywhere(sp, page))
		fpt_corrupt(sp->rel, fpt_special(page)->pageno,
					"Half of the page's entries do not make a page");
}

/* Copy a half into place; its links and number are the caller's business. */
static void
fpt_split_put(Page copy, const char *half, uint32 pageno, uint32 left,
			  uint32 right, uint16 flags)
{
	memcpy(copy, half, BLCKSZ);
	fpt_special(copy)->pageno = pageno;
	fpt_header(copy)->left = left;
	fpt_header(copy)->right = right;
	fpt_header(copy)->flags = flags;
}

/*
 * Split a page that is not the root, in one record (L5, W2).  *rbuf: its new
 * right sibling, locked, in the stripe that *order says, if there are stripes;
 * the page is marked as incompletely split.  The page is locked exclusively and
 * stays so, as does childbuf, if there is one; the old right sibling is locked
 * and released.  Cannot be cancelled.  Raises an error, with nothing changed,
 * if links are damaged, or if no page is to be had.
 */
static void
fpt_split_page(FPTSplit *sp, Buffer buf, Buffer *rbuf, Buffer childbuf,
			   const FPTStripeOrder *order)
{
	Relation	rel = sp->rel;
	FPTPageHeader *h = fpt_header(BufferGetPage(buf));
	uint32		pageno = fpt_bufpage(buf);
	uint32		oldright = h->right;
	uint32		rightno;
	Buffer		obuf = InvalidBuffer;
	FPTWal	   *wal;
	Page		copy;

	Assert(sp->at > 0 && sp->at < sp->n);
	Assert(pageno != sp->ix->root && fpt_buffer_locked(buf, true));
	if (oldright == pageno ||
		(BufferIsValid(childbuf) && oldright == fpt_bufpage(childbuf)))
		fpt_corrupt(rel, pageno, "The right link is not valid");
	fpt_stop_point(FPT_STOP_SPLIT_SIBLING);
	if (oldright != FPT_NOPAGE)
	{
		obuf = fpt_getbuf(rel, sp->ix, oldright, BUFFER_LOCK_EXCLUSIVE);
		if (fpt_header(BufferGetPage(obuf))->left != pageno ||
			fpt_header(BufferGetPage(obuf))->level != h->level)
			fpt_corrupt(rel, oldright,
						"The left link does not point to the left sibling");
	}

	/*
	 * Last, so that nobody waits for a lock while he holds a page that was
	 * recycled this moment: others may wait for it by a stale number (L4).
	 */
	*rbuf = fpt_allocbuf(rel, &sp->ix->map, order, &rightno);
	Assert(rightno != pageno && rightno != oldright);
	wal = fpt_wal_start(rel, &sp->ix->layout);
	copy = fpt_wal_page(wal, buf, false);
	fpt_split_put(copy, sp->left, pageno, h->left, rightno,
				  h->flags | FPT_F_INCOMPLETE);
	copy = fpt_wal_new(wal, *rbuf);
	fpt_split_put(copy, sp->right, rightno, pageno, oldright, 0);
	if (BufferIsValid(obuf))
	{
		copy = fpt_wal_page(wal, obuf, false);
		fpt_header(copy)->left = rightno;
	}
	if (BufferIsValid(childbuf))
	{
		copy = fpt_wal_page(wal, childbuf, false);
		fpt_header(copy)->flags &= ~FPT_F_INCOMPLETE;
	}
	fpt_wal_finish(wal);

	if (h->level == 0)
		PredicateLockPageSplit(rel, pageno, rightno);	/* K3, S6 */
	if (BufferIsValid(obuf))
		UnlockReleaseBuffer(obuf);
}

/* Make a root above two pages with the split's separator between them. */
static void
fpt_split_form_root(const FPTSplit *sp, Page copy, int level, uint32 pageno,
					uint32 leftno, uint32 rightno)
{
	FPTPageSpec root = {.level = level, .pageno = pageno, .low = &sp->low,
		.high = &sp->high};
	FPTEntry	top[2];

	Assert(sp->low.cls == FPT_CLS_MINF && sp->high.cls == FPT_CLS_PINF);
	memset(top, 0, sizeof(top));
	top[0].down = leftno;
	top[1].key = sp->sep.key;
	top[1].down = rightno;
	if (fpt_page_form(&sp->ix->layout, copy, &root, top, 2, 100) != FPT_OK)
		elog(ERROR, "two entries do not fit into a page");
}

/*
 * Split the only leaf.  It stays a leaf, under its number, with half of its
 * entries; a new page is the root above it, and the metapage says so in the
 * same record (W2).  Returns the new right sibling locked exclusively.  The
 * leaf is locked exclusively and stays so.  Cannot be cancelled.  Raises an
 * error, with nothing changed, if no page can be allocated.
 */
static void
fpt_split_first(FPTSplit *sp, Buffer buf, Buffer *rbuf)
{
	Relation	rel = sp->rel;
	uint16		flags = fpt_header(BufferGetPage(buf))->flags;
	FPTWal	   *wal;
	Buffer		top;
	Buffer		meta;
	Page		copy;
	uint32		rightno;
	uint32		rootno;

	Assert(fpt_bufpage(buf) == FPT_FIRSTPAGE && fpt_buffer_locked(buf, true));
	Assert(sp->ix->map.stripes == NULL);
	Assert(sp->at > 0 && sp->at < sp->n);
	*rbuf = fpt_allocbuf(rel, &sp->ix->map, NULL, &rightno);
	top = fpt_allocbuf(rel, &sp->ix->map, NULL, &rootno);
	Assert(rightno != rootno && Min(rightno, rootno) > FPT_FIRSTPAGE);
	meta = fpt_lock_meta(rel);
	wal = fpt_wal_start(rel, &sp->ix->layout);
	copy = fpt_wal_page(wal, buf, false);
	fpt_split_put(copy, sp->left, FPT_FIRSTPAGE, FPT_NOPAGE, rightno, flags);
	copy = fpt_wal_new(wal, *rbuf);
	fpt_split_put(copy, sp->right, rightno, FPT_FIRSTPAGE, FPT_NOPAGE, 0);
	copy = fpt_wal_page(wal, top, true);
	fpt_split_form_root(sp, copy, 1, rootno, FPT_FIRSTPAGE, rightno);
	fpt_meta(fpt_wal_page(wal, meta, false))->root = rootno;
	fpt_wal_finish(wal);
	PredicateLockPageSplit(rel, FPT_FIRSTPAGE, rightno);	/* K3 */
	sp->ix->root = rootno;
	sp->ix->rootlevel = 1;
	UnlockReleaseBuffer(meta);
	UnlockReleaseBuffer(top);
	fpt_stop_point(FPT_STOP_ROOT_SPLIT);
}

/*
 * Give the tree a new level: the root's entries move to two new pages, which
 * are returned locked exclusively, with the downlinks of both in the root,
 * which is released.  It is no leaf.  childbuf, if there is one, stays locked.
 * Cannot be cancelled.  Raises an error, with nothing changed, if there are too
 * many levels, or no page is to be had.
 */
static void
fpt_split_root(FPTSplit *sp, Buffer buf, Buffer *lbuf, Buffer *rbuf,
			   Buffer childbuf)
{
	Relation	rel = sp->rel;
	int			level = fpt_header(BufferGetPage(buf))->level;
	uint32		rootno = fpt_bufpage(buf);
	FPTWal	   *wal;
	Page		copy;
	uint32		leftno;
	uint32		rightno;
	FPTStripeOrder order;

	Assert(rootno == sp->ix->root && fpt_buffer_locked(buf, true));
	Assert(sp->at > 0 && sp->at < sp->n && level > 0);
	if (level >= FPT_MAX_LEVEL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index \"%s\" has too many levels",
						RelationGetRelationName(rel)),
				 errhint("Run \"REINDEX INDEX %s;\" to rebuild the index.",
						 quote_identifier(RelationGetRelationName(rel)))));
	fpt_find_disk(rel, sp->ix, buf, NULL, FPT_NOPAGE, &order, NULL);
	*lbuf = fpt_allocbuf(rel, &sp->ix->map, &order, &leftno);
	fpt_find_disk(rel, sp->ix, buf, NULL, leftno, &order, NULL);
	*rbuf = fpt_allocbuf(rel, &sp->ix->map, &order, &rightno);
	Assert(leftno != rightno && leftno != rootno && rightno != rootno);
	wal = fpt_wal_start(rel, &sp->ix->layout);
	copy = fpt_wal_page(wal, *lbuf, true);
	fpt_split_put(copy, sp->left, leftno, FPT_NOPAGE, rightno, 0);
	copy = fpt_wal_page(wal, *rbuf, true);
	fpt_split_put(copy, sp->right, rightno, leftno, FPT_NOPAGE, 0);

	copy = fpt_wal_page(wal, buf, true);
	fpt_split_form_root(sp, copy, level + 1, rootno, leftno, rightno);
	if (BufferIsValid(childbuf))
	{
		copy = fpt_wal_page(wal, childbuf, false);
		fpt_header(copy)->flags &= ~FPT_F_INCOMPLETE;
	}
	fpt_wal_finish(wal);
	sp->ix->rootlevel = level + 1;
	UnlockReleaseBuffer(buf);
	fpt_stop_point(FPT_STOP_ROOT_SPLIT);
}

/*
 * Rewrite a page in an encoding that can hold e as well; e goes in.  "copy" is
 * private (fpt_wal_page), and "read", or NULL, of the page that it is a copy
 * of; with that, a leaf of images becomes a page of numbers or nothing.  False:
 * there is none; the copy is as it was.  Frees what it allocates.  Raises an
 * error if the page is damaged, or if comparing does.
 */
static bool
fpt_recode(Relation rel, FPTIndex *ix, Page copy, uint32 pageno,
		   const FPTEntry *e, const FPTRead *read)
{
	FPTPageHeader *h = fpt_header(copy);
	uint32		left = h->left;
	uint32		right = h->right;
	uint16		flags = h->flags;
	FPTSplit	sp;
	FPTPageSpec spec = {.level = h->level, .pageno = pageno, .low = &sp.low,
	.high = &sp.high};
	FPTResult	res;
	char	   *formed = palloc(BLCKSZ);

	Assert(e->key.cls > FPT_CLS_MINF && e->key.cls < FPT_CLS_PINF);
	memset(&sp, 0, sizeof(sp));
	sp.rel = rel;
	sp.ix = ix;
	sp.e = e;
	sp.entries = fpt_alloc_entries();
	fpt_split_read(&sp, copy, pageno, read);
	spec.reach = sp.reach;
	spec.rowbits = sp.rowbits;
	spec.numbers = read != NULL && !fpt_is_general(&ix->layout);
	res = fpt_page_form(&ix->layout, formed, &spec, sp.entries, sp.n, 90);
	if (res == FPT_OK)
		memcpy(copy, formed, BLCKSZ);
	pfree(sp.entries);
	if (sp.local != NULL)
		pfree(sp.local);
	pfree(formed);
	h->left = left;
	h->right = right;
	h->flags = flags;
	return res == FPT_OK;
}

/* Log a page with its new entry, which may be its child's downlink. */
static void
fpt_insert_finish(FPTWal *wal, Buffer childbuf)
{
	if (BufferIsValid(childbuf))
		fpt_header(fpt_wal_page(wal, childbuf, false))->flags &=
			~FPT_F_INCOMPLETE;
	fpt_wal_finish(wal);
}

/*
 * Make room for e in the copy of a page: fpt_page_make_room(), or, if entries
 * were removed for it, fpt_page_find_room().  Mostly that is a matter of a node
 * or two, and needs no work memory; what is allocated is freed.  Returns their
 * result, but for FPT_NO_WORK.  Comparing keys may raise.
 */
static FPTResult
fpt_insert_room(const FPTLayout *l, Page copy, const FPTEntry *e, bool removed)
{
	FPTWork    *work = NULL;
	FPTResult	res;

	for (;;)
	{
		res = removed ? fpt_page_find_room(l, copy, e, work) :
			fpt_page_make_room(l, copy, e, work);
		if (res != FPT_NO_WORK)
			break;
		Assert(work == NULL);
		work = palloc(sizeof(FPTWork));
	}
	if (work != NULL)
		pfree(work);
	return res;
}

/*
 * Comparisons that contradict each other call another separator equal to that
 * of a child's new right sibling, so that this gets no downlink: only the right
 * link leads there.  Otherwise the split would be left open, and fail again at
 * each insertion.  The child is locked exclusively and stays so.
 */
static void
fpt_leave_unlinked(Relation rel, FPTIndex *ix, Buffer childbuf)
{
	Assert(ix->unsure);
	ix->strayed = true;
	fpt_insert_finish(fpt_wal_start(rel, &ix->layout), childbuf);
}

/*
 * Try to get e into the page without splitting it.  True: done and logged;
 * false: nothing has changed.  "removed": after entries were removed for it.
 * The page and childbuf, if there is one, are locked exclusively and stay so.
 * If it is a leaf (del is not NULL) and has e, that is noted
 * (fpt_note_twice): true, and nothing has changed.  Raises an error, with
 * nothing changed, if the page is damaged, or an inner one that has e, or if
 * comparing does.
 */
static bool
fpt_insert_in_page(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				   Buffer childbuf, FPTDelete *del, bool removed)
{
	uint32		pageno = fpt_bufpage(buf);
	FPTWal	   *wal = fpt_wal_start(rel, &ix->layout);
	Page		copy = fpt_wal_page(wal, buf, false);
	FPTEdit		edit = {0};
	FPTResult	res = fpt_insert_room(&ix->layout, copy, e, removed);

	Assert(fpt_buffer_locked(buf, true));
	if (res == FPT_OK)
		res = fpt_page_insert(&ix->layout, copy, e, &edit);
	else if (res == FPT_UNFIT)
		res = fpt_recode(rel, ix, copy, pageno, e, NULL) ? FPT_OK : FPT_FULL;
	if (res == FPT_DUPLICATE && ix->unsure && BufferIsValid(childbuf))
	{
		fpt_wal_abort(wal);
		fpt_leave_unlinked(rel, ix, childbuf);
		return true;
	}
	if (res == FPT_DUPLICATE && del == NULL)
		fpt_corrupt(rel, pageno, "The entry to be inserted is there already");
	if (res == FPT_DUPLICATE)
	{
		fpt_wal_abort(wal);
		fpt_note_twice(del, pageno,
					   "The entry to be inserted is there already");
		return true;
	}
	if (res == FPT_CORRUPT || res == FPT_UNFIT)
		fpt_corrupt_page(rel, &ix->layout, BufferGetPage(buf), pageno);
	if (res == FPT_FULL)
	{
		fpt_wal_abort(wal);
		return false;
	}
	fpt_insert_finish(wal, childbuf);
	return true;
}

/*
 * An image of the leaf will be logged, as this is its first change since a
 * checkpoint: pack the page, if that makes the image much shorter, and put e
 * in.  True: done and logged; false: nothing has changed.  The leaf is locked
 * exclusively and stays so.  May raise.
 */
bool
fpt_insert_packed(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e)
{
	FPTEdit		edit = {0};
	FPTWork    *work;
	FPTWal	   *wal;
	Page		copy;
	FPTResult	res;

	if (fpt_page_pack(&ix->layout, BufferGetPage(buf), NULL) != FPT_NO_WORK)
		return false;
	work = palloc(sizeof(FPTWork));
	wal = fpt_wal_start(rel, &ix->layout);
	copy = fpt_wal_page(wal, buf, true);
	res = fpt_page_pack(&ix->layout, copy, work);
	if (res == FPT_OK)
		res = fpt_page_make_room(&ix->layout, copy, e, work);
	if (res == FPT_OK)
		res = fpt_page_insert(&ix->layout, copy, e, &edit);
	pfree(work);
	if (res == FPT_OK)
		fpt_wal_finish(wal);
	else
		fpt_wal_abort(wal);		/* whoever inserts next says what is wrong */
	return res == FPT_OK;
}

/*
 * The last thing that is tried before a page of general keys is split: to form
 * it anew, in narrower nodes, with a prefix, or with a dictionary where keys
 * repeat; or a leaf of images, where these repeat.  True: e is in, and logged;
 * false: nothing has changed.  Locks stay as they are, as in
 * fpt_insert_in_page().  Sets *read, whose work memory it allocates unless
 * there is some already.  Raises as fpt_recode() does.
 */
static bool
fpt_insert_anew(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				Buffer childbuf, FPTRead *read)
{
	Page		page = BufferGetPage(buf);
	Page		copy;
	FPTWal	   *wal;
	bool		shares = false;
	uint32		had;
	uint32		has;

	read->n = -1;
	if (!fpt_is_general(&ix->layout) &&
		(fpt_header(page)->level > 0 ||
		 fpt_page_count(&ix->layout, page) <= FPT_WIDE_ENTRIES))
		return false;
	if (fpt_page_count(&ix->layout, page) > FPT_WIDE_ENTRIES)
		shares = fpt_page_shares(&ix->layout, page);
	if (fpt_page_count(&ix->layout, page) > FPT_WIDE_ENTRIES && !shares)
	{
		if (read->work == NULL)
			read->work = palloc(sizeof(FPTWork));
		if (!fpt_page_repeats(&ix->layout, page, read->work, &read->n))
			return false;
	}
	wal = fpt_wal_start(rel, &ix->layout);
	copy = fpt_wal_page(wal, buf, false);
	(void) fpt_page_prefix(copy, &had);
	if (fpt_recode(rel, ix, copy, fpt_bufpage(buf), e, read))
	{
		/* a compressed value among the others keeps a page from sharing */
		(void) fpt_page_prefix(copy, &has);
		if ((!shares && fpt_is_general(&ix->layout)) || has > had ||
			fpt_page_few_keys(&ix->layout, copy))
		{
			fpt_insert_finish(wal, childbuf);
			return true;
		}
	}
	fpt_wal_abort(wal);
	return false;
}

/*
 * The parent-level page for a separator, locked exclusively, no split open:
 * those on the way are finished, each for good (L11).  Called with pages of
 * lower levels locked (L2), so it cannot be cancelled.  stack may be NULL, and
 * is not trusted.  Raises an error if the tree is damaged, or if comparing
 * does.
 */
static Buffer
fpt_lock_parent(Relation rel, FPTIndex *ix, const FPTKey *sep, int level,
				FPTStack *stack)
{
	for (;;)
	{
		Buffer		buf = InvalidBuffer;

		if (stack && stack->rootlevel >= level &&
			stack->page[level] >= FPT_FIRSTPAGE)
		{
			/*
			 * Only if it is to be had at once (L4): recycled meanwhile, it may
			 * even be a page that we hold locked ourselves.
			 */
			buf = fpt_getbuf(rel, ix, stack->page[level], 0);
			if (ConditionalLockBuffer(buf))
			{
				fpt_check_buffer(rel, ix, buf, stack->page[level]);
				buf = fpt_moveright(rel, ix, buf, sep, level,
									BUFFER_LOCK_EXCLUSIVE);
			}
			else
			{
				ReleaseBuffer(buf);
				buf = InvalidBuffer;
			}
		}
		if (!BufferIsValid(buf))
			buf = fpt_descend_anyway(rel, ix, sep, level,
									 BUFFER_LOCK_EXCLUSIVE, NULL, NULL);
		if (!(fpt_header(BufferGetPage(buf))->flags & FPT_F_INCOMPLETE))
			return buf;
		fpt_finish_split(rel, ix, buf, stack);
	}
}

/*
 * Give a locked page's new right sibling its downlink; buf stays locked, and
 * nothing else that this locks.  The key, the page's high fence, is in the
 * page: it does not change until the downlink is in.  Raises an error if the
 * page or the tree is damaged, or if comparing does; the split is left open
 * then.
 */
static void
fpt_post_downlink(Relation rel, FPTIndex *ix, Buffer buf, FPTStack *stack)
{
	FPTPageHeader *h = fpt_header(BufferGetPage(buf));
	FPTEntry	e;
	Buffer		pbuf;

	Assert(h->flags & FPT_F_INCOMPLETE);
	if (h->right <= FPT_FIRSTPAGE)
		fpt_corrupt(rel, fpt_bufpage(buf),
					"A split is marked incomplete, but there is no right sibling");
	e.key = fpt_page_high(&ix->layout, BufferGetPage(buf));
	e.down = h->right;
	fpt_stop_point(FPT_STOP_LOCK_PARENT);
	pbuf = fpt_lock_parent(rel, ix, &e.key, h->level + 1, stack);
	fpt_insert_hard(rel, ix, pbuf, &e, buf, stack, NULL);
}

void
fpt_finish_split(Relation rel, FPTIndex *ix, Buffer buf, FPTStack *stack)
{
	fpt_post_downlink(rel, ix, buf, stack);
	UnlockReleaseBuffer(buf);
}

/* For the split of a page; fpt_split_end() frees it.  e may be NULL. */
static void
fpt_split_begin(FPTSplit *sp, Relation rel, FPTIndex *ix, const FPTEntry *e)
{
	memset(sp, 0, sizeof(FPTSplit));
	sp->rel = rel;
	sp->ix = ix;
	sp->e = e;
	sp->entries = fpt_alloc_entries();
	sp->left = palloc(2 * BLCKSZ);
	sp->right = sp->left + BLCKSZ;
	sp->work = palloc(sizeof(FPTWork));
}

static void
fpt_split_end(FPTSplit *sp)
{
	pfree(sp->entries);
	pfree(sp->left);
	pfree(sp->work);
	if (sp->local != NULL)
		pfree(sp->local);
}

/*
 * The nth leaf to the right of one that is locked exclusively and stays so,
 * locked exclusively, too: locks are coupled on the way, from left to right
 * (L1).  InvalidBuffer: there is none.  Cannot be cancelled, so nth is small
 * (L11).  Raises an error if a leaf does not continue the one before, or is one
 * of those that are locked (L9), or damaged, or if comparing does.
 */
static Buffer
fpt_split_walk(Relation rel, FPTIndex *ix, Buffer buf, int nth)
{
	Buffer		at = buf;

	for (int i = 1; i <= nth && BufferIsValid(at); i++)
	{
		uint32		right = fpt_header(BufferGetPage(at))->right;
		FPTKey		high = fpt_page_high(&ix->layout, BufferGetPage(at));
		Buffer		next = InvalidBuffer;

		if (right != FPT_NOPAGE)
		{
			next = fpt_getbuf(rel, ix, right, BUFFER_LOCK_EXCLUSIVE);
			fpt_check_continues(rel, ix, next, &high, i);
		}
		if (at != buf)
			UnlockReleaseBuffer(at);
		at = next;
	}
	return at;
}

/*
 * Split the nth leaf to the right of one that is about to be split, which is
 * locked exclusively and stays so, in the middle, and finish that: its own
 * records say all of it.  False: nothing has changed, as there is no such leaf,
 * or it has an open split, too few entries, or none in the middle that makes a
 * fence.  Cannot be cancelled.  Locks and raises as fpt_split_walk() and an
 * insertion that splits that leaf do; of what it locks, nothing stays so.
 */
static bool
fpt_split_early(const FPTSplit *first, Buffer buf, int nth, FPTStack *stack)
{
	Relation	rel = first->rel;
	FPTIndex   *ix = first->ix;
	Buffer		ebuf = fpt_split_walk(rel, ix, buf, nth);
	Buffer		rbuf;
	FPTStripeOrder order;
	FPTSplit	sp;
	Page		page;
	bool		can;

	if (!BufferIsValid(ebuf))
		return false;
	page = BufferGetPage(ebuf);
	fpt_split_begin(&sp, rel, ix, NULL);
	fpt_split_read(&sp, page, fpt_bufpage(ebuf), NULL);
	can = !(fpt_header(page)->flags & FPT_F_INCOMPLETE) && sp.n > 1 &&
		sp.n >= first->n / FPT_SPLIT_EARLY_PART &&
		fpt_split_try(&sp, page, fpt_split_middle(&sp, page));
	if (can)
	{
		fpt_find_disk(rel, ix, ebuf, stack, FPT_NOPAGE, &order, NULL);
		fpt_split_page(&sp, ebuf, &rbuf, InvalidBuffer, &order);
		UnlockReleaseBuffer(rbuf);
		fpt_stop_point(FPT_STOP_LEAF_SPLIT);
		fpt_finish_split(rel, ix, ebuf, stack);
	}
	else
		UnlockReleaseBuffer(ebuf);
	fpt_split_end(&sp);
	return can;
}

/*
 * In which stripe the new right sibling of a page goes that is not the root and
 * will be split, if there are any: *order.  The page is locked exclusively and
 * stays so; leaves to the right of it may be split early, FPT_SPLIT_EARLY times
 * at most.  Cannot be cancelled.  Raises an error if fpt_find_disk() or
 * fpt_split_early() does.
 */
static void
fpt_split_place(const FPTSplit *sp, Buffer buf, FPTStack *stack,
				FPTStripeOrder *order)
{
	bool		early = fpt_header(BufferGetPage(buf))->level == 0 &&
		sp->n - sp->at >= sp->n / FPT_SPLIT_EARLY_MOVED;

	for (int i = 0;; i++)
	{
		int			nth = 0;

		fpt_find_disk(sp->rel, sp->ix, buf, stack, FPT_NOPAGE, order,
					  early && i < FPT_SPLIT_EARLY ? &nth : NULL);
		if (likely(nth == 0) || !fpt_split_early(sp, buf, nth, stack))
			break;
	}
}

/*
 * Is this page, which is locked exclusively, the root?  *ix may still have the
 * first leaf as the root, so the metapage is asked; nobody changes that while
 * the first leaf is locked.  Raises as fpt_find_root() does.
 */
static bool
fpt_is_root(Relation rel, FPTIndex *ix, Buffer buf)
{
	FPTPageHeader *h = fpt_header(BufferGetPage(buf));

	Assert(fpt_buffer_locked(buf, true));
	if (h->left != FPT_NOPAGE || h->right != FPT_NOPAGE)
		return false;
	if (ix->root == FPT_FIRSTPAGE)
		(void) fpt_find_root(rel, ix);
	return fpt_bufpage(buf) == ix->root;
}

/*
 * Split a page for e; "read" may have its entries.  If e is in, everything is
 * released and InvalidBuffer returned; else the page that covers e now, still
 * locked: a uniqueness check may depend on nobody else having had it in
 * between.  The page is locked exclusively, and childbuf, if there is one,
 * which stays so.  Splits pages above, too, and in stripes leaves to the right.
 * Cannot be cancelled; frees what it allocates.  Raises an error if a page is
 * damaged or none is to be had, or if comparing does.
 */
static Buffer
fpt_split(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
		  Buffer childbuf, FPTStack *stack, const FPTRead *read)
{
	bool		isroot = fpt_is_root(rel, ix, buf);
	FPTSplit	sp;
	FPTStripeOrder order;
	Buffer		lbuf = buf;
	Buffer		rbuf;
	bool		right;

	fpt_split_begin(&sp, rel, ix, e);
	fpt_split_read(&sp, BufferGetPage(buf), fpt_bufpage(buf), read);
	if (sp.n < (fpt_is_general(&ix->layout) ? 2 : 3))
		fpt_corrupt(rel, fpt_bufpage(buf), "The page is full of nothing");
	if (isroot &&
		(sp.low.cls != FPT_CLS_MINF || sp.high.cls != FPT_CLS_PINF))
		fpt_corrupt(rel, fpt_bufpage(buf), "The root does not cover all keys");
	fpt_split_choose(&sp, BufferGetPage(buf));

	/* Without e its downlink's child stays marked: the entry is yet to come. */
	if (sp.pos < 0)
		childbuf = InvalidBuffer;
	if (isroot && fpt_header(BufferGetPage(buf))->level == 0)
		fpt_split_first(&sp, buf, &rbuf);
	else if (isroot)
		fpt_split_root(&sp, buf, &lbuf, &rbuf, childbuf);
	else
	{
		fpt_split_place(&sp, buf, stack, &order);
		fpt_split_page(&sp, buf, &rbuf, childbuf, &order);
	}
	fpt_split_end(&sp);

	right = sp.pos < 0 && fpt_key_cmp(&ix->layout, &e->key, &sp.sep.key) >= 0;
	if (!right)
		UnlockReleaseBuffer(rbuf);
	if (!isroot)
	{
		bool		leaf = fpt_header(BufferGetPage(lbuf))->level == 0;

		fpt_stop_point(leaf ? FPT_STOP_LEAF_SPLIT : FPT_STOP_INNER_SPLIT);
		fpt_post_downlink(rel, ix, lbuf, stack);
		fpt_stop_point(leaf ? FPT_STOP_LEAF_LINKED : FPT_STOP_INNER_LINKED);
	}
	if (right || sp.pos >= 0)
		UnlockReleaseBuffer(lbuf);
	if (sp.pos >= 0)
		return InvalidBuffer;
	return right ? rbuf : lbuf;
}

/*
 * See tree/split.h.  Each round ends it or makes the page smaller: del's stages
 * are used up, and a split leaves less on the side where e goes.
 */
void
fpt_insert_hard(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				Buffer childbuf, FPTStack *stack, FPTDelete *del)
{
	bool		early = del != NULL && fpt_delete_early(rel, ix, buf, e, del);
	bool		removed = false;
	FPTRead		read = {NULL, -1};

	if (early && fpt_wal_insert(rel, ix, buf, e) == FPT_OK)
	{
		UnlockReleaseBuffer(buf);
		return;
	}
	while (BufferIsValid(buf))
	{
		/* Mostly the entry's own node has room after that. */
		if (removed && fpt_wal_insert(rel, ix, buf, e) == FPT_OK)
		{
			UnlockReleaseBuffer(buf);
			break;
		}
		if (fpt_insert_in_page(rel, ix, buf, e, childbuf, del, removed) ||
			(early &&
			 fpt_insert_in_page(rel, ix, buf, e, childbuf, del, true)))
		{
			UnlockReleaseBuffer(buf);
			break;
		}
		early = false;
		removed = del != NULL && fpt_delete_step(rel, ix, buf, e, del);
		if (removed)
			continue;
		if (fpt_insert_anew(rel, ix, buf, e, childbuf, &read))
		{
			UnlockReleaseBuffer(buf);
			break;
		}
		buf = fpt_split(rel, ix, buf, e, childbuf, stack, &read);
	}
	if (read.work != NULL)
		pfree(read.work);
}
