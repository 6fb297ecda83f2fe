/*-------------------------------------------------------------------------
 *
 * fpt_split.c
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
 * one record that needs no flag.
 *
 * Lock order: from lower to higher levels, and from left to right in a level.
 * Pages taken from the free space map are locked conditionally.
 *
 *-------------------------------------------------------------------------
 */
#include "fptree.h"

#include "storage/predicate.h"

/* Fill of the nodes of a new right page, percent. */
#define FPT_SPLIT_FILL			75
#define FPT_SPLIT_FILL_ASCENDING 100

/* Share of the entries that a rightmost inner page keeps, percent. */
#define FPT_SPLIT_INNER_KEEP	90

/* What a split works on. */
typedef struct FPTSplit
{
	Relation	rel;
	FPTIndex   *ix;
	const FPTEntry *e;			/* the entry to insert */
	FPTEntry   *entries;		/* the page's entries and e, in order */
	int			n;
	int			pos;			/* e's place in them */
	int			at;				/* first entry of the right page */
	FPTKey		low;			/* the page's fences */
	FPTKey		high;
	FPTKey		sep;			/* fence between left and right */
} FPTSplit;

static FPTEntry *
fpt_alloc_entries(void)
{
	return (FPTEntry *) palloc(sizeof(FPTEntry) * (FPT_MAX_ENTRIES + 1));
}

/* Read a page's entries and put e among them. */
static void
fpt_split_read(FPTSplit *sp, Page page, uint32 pageno)
{
	int			n = fpt_page_extract(&sp->ix->layout, page, sp->entries,
									 FPT_MAX_ENTRIES);
	int			a = 0;
	int			b = n;

	if (n < 0)
		fpt_corrupt(sp->rel, pageno, "The page contradicts itself");
	sp->low = fpt_fence_get(&fpt_special(page)->low);
	sp->high = fpt_fence_get(&fpt_header(page)->high);

	/* Nothing goes before the separator that stands for minus infinity. */
	if (fpt_header(page)->level > 0 && sp->low.cls == FPT_CLS_MINF && n > 0)
		a = 1;
	while (a < b)
	{
		int			m = (a + b) / 2;

		if (fpt_key_cmp(&sp->entries[m].key, &sp->e->key) < 0)
			a = m + 1;
		else
			b = m;
	}
	memmove(sp->entries + a + 1, sp->entries + a, (n - a) * sizeof(FPTEntry));
	sp->entries[a] = *sp->e;
	sp->n = n + 1;
	sp->pos = a;
}

/*
 * Choose where to split.  The rightmost page, when its last entry is the new
 * one, keeps fillfactor percent of a full page; any other is halved.
 */
static void
fpt_split_choose(FPTSplit *sp, Page page)
{
	FPTPageHeader *h = fpt_header(page);
	FPTOptions *opts = (FPTOptions *) sp->rel->rd_options;

	sp->at = (sp->n + 1) / 2;
	if (h->right == FPT_NOPAGE && sp->pos == sp->n - 1 && sp->n > 2)
	{
		int			keep = FPT_SPLIT_INNER_KEEP;

		if (h->level == 0)
			keep = opts ? opts->fillfactor : FPT_DEFAULT_FILLFACTOR;
		sp->at = Max(1, Min(sp->n - 1, (sp->n - 1) * keep / 100));
	}
	Assert(sp->at > 0 && sp->at < sp->n);

	/*
	 * A leaf's separator without the TID, where the keys differ, sends a
	 * search for the key alone straight to the right page.
	 */
	sp->sep = sp->entries[sp->at].key;
	if (h->level == 0 &&
		fpt_image_cmp(&sp->entries[sp->at - 1].key, &sp->sep) != 0)
		sp->sep.tid = 0;
}

static void
fpt_form_or_fail(FPTSplit *sp, Page page, int level, uint32 pageno,
				 const FPTKey *low, const FPTKey *high, int from, int to,
				 int fill)
{
	if (fpt_page_form(&sp->ix->layout, page, level, pageno, low, high,
					  sp->entries + from, to - from, fill) != FPT_OK)
		elog(ERROR, "half a page does not fit into one in index \"%s\"",
			 RelationGetRelationName(sp->rel));
}

/* Turn the (copied) page into the left half, in place where that works. */
static void
fpt_split_left(FPTSplit *sp, Page page, uint32 pageno, uint32 rightno)
{
	FPTPageHeader *h = fpt_header(page);
	const FPTLayout *l = &sp->ix->layout;
	bool		mine = sp->pos < sp->at;
	FPTResult	res;

	res = fpt_page_truncate(l, page, mine ? sp->at - 1 : sp->at);
	if (res == FPT_OK && mine)
	{
		FPTEdit		edit = {0};

		res = fpt_page_make_room(l, page, sp->e);
		if (res == FPT_OK)
			res = fpt_page_insert(l, page, sp->e, &edit);
	}
	if (res != FPT_OK)
	{
		uint32		left = h->left;
		uint32		right = h->right;
		uint16		flags = h->flags;

		fpt_form_or_fail(sp, page, h->level, pageno, &sp->low, &sp->sep, 0,
						 sp->at, FPT_SPLIT_FILL);
		h->left = left;
		h->right = right;
		h->flags = flags;
	}
	else
		fpt_page_trim(l, page);
	h->high = fpt_fence_make(&sp->sep);
	h->right = rightno;
	h->flags |= FPT_F_INCOMPLETE;
}

/* Split a page that is not the root; its parent gets the new downlink. */
static void
fpt_split_page(FPTSplit *sp, Buffer buf, Buffer childbuf, FPTStack *stack)
{
	Relation	rel = sp->rel;
	Page		page = BufferGetPage(buf);
	uint32		pageno = fpt_bufpage(buf);
	int			level = fpt_header(page)->level;
	uint32		oldright = fpt_header(page)->right;
	bool		rightmost = oldright == FPT_NOPAGE;
	Buffer		rbuf = fpt_allocbuf(rel);
	uint32		rightno = fpt_bufpage(rbuf);
	Buffer		obuf = InvalidBuffer;
	FPTWal	   *wal;
	Page		copy;
	int			fill = FPT_SPLIT_FILL;

	if (oldright == pageno || oldright == rightno)
		fpt_corrupt(rel, pageno, "The right link is not valid");
	if (!rightmost)
	{
		obuf = fpt_getbuf(rel, sp->ix, oldright, BUFFER_LOCK_EXCLUSIVE);
		if (fpt_header(BufferGetPage(obuf))->left != pageno ||
			fpt_header(BufferGetPage(obuf))->level != level)
			fpt_corrupt(rel, oldright,
						"The left link does not point to the left sibling");
	}
	else if (sp->pos == sp->n - 1)
		fill = FPT_SPLIT_FILL_ASCENDING;

	wal = fpt_wal_start(rel);
	copy = fpt_wal_page(wal, buf, false);
	fpt_split_left(sp, copy, pageno, rightno);
	copy = fpt_wal_page(wal, rbuf, true);
	fpt_form_or_fail(sp, copy, level, rightno, &sp->sep, &sp->high, sp->at,
					 sp->n, fill);
	fpt_header(copy)->left = pageno;
	fpt_header(copy)->right = oldright;
	if (!rightmost)
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

	if (level == 0)
		PredicateLockPageSplit(rel, BufferGetBlockNumber(buf),
							   BufferGetBlockNumber(rbuf));
	if (!rightmost)
		UnlockReleaseBuffer(obuf);
	UnlockReleaseBuffer(rbuf);
	fpt_finish_split(rel, sp->ix, buf, stack);
}

/* Give the tree a new level: the root's entries move to two new pages. */
static void
fpt_split_root(FPTSplit *sp, Buffer buf, Buffer childbuf)
{
	Relation	rel = sp->rel;
	Page		page = BufferGetPage(buf);
	int			level = fpt_header(page)->level;
	Buffer		lbuf = fpt_allocbuf(rel);
	Buffer		rbuf = fpt_allocbuf(rel);
	bool		ascending = sp->pos == sp->n - 1;
	FPTEntry	top[2];
	FPTWal	   *wal;
	Page		copy;

	if (level >= FPT_MAX_LEVEL)
		elog(ERROR, "index \"%s\" has too many levels",
			 RelationGetRelationName(rel));
	wal = fpt_wal_start(rel);
	copy = fpt_wal_page(wal, lbuf, true);
	fpt_form_or_fail(sp, copy, level, fpt_bufpage(lbuf), &sp->low, &sp->sep,
					 0, sp->at, ascending ? 100 : FPT_SPLIT_FILL);
	fpt_header(copy)->right = fpt_bufpage(rbuf);
	copy = fpt_wal_page(wal, rbuf, true);
	fpt_form_or_fail(sp, copy, level, fpt_bufpage(rbuf), &sp->sep, &sp->high,
					 sp->at, sp->n,
					 ascending ? FPT_SPLIT_FILL_ASCENDING : FPT_SPLIT_FILL);
	fpt_header(copy)->left = fpt_bufpage(lbuf);

	memset(top, 0, sizeof(top));
	top[0].down = fpt_bufpage(lbuf);
	top[1].key = sp->sep;
	top[1].down = fpt_bufpage(rbuf);
	copy = fpt_wal_page(wal, buf, true);
	if (fpt_page_form(&sp->ix->layout, copy, level + 1, FPT_ROOTPAGE,
					  &sp->low, &sp->high, top, 2, 100) != FPT_OK)
		elog(ERROR, "two entries do not fit into a page");
	if (BufferIsValid(childbuf))
	{
		copy = fpt_wal_page(wal, childbuf, false);
		fpt_header(copy)->flags &= ~FPT_F_INCOMPLETE;
	}
	fpt_wal_finish(wal);
	sp->ix->rootlevel = level + 1;

	if (level == 0)
	{
		PredicateLockPageSplit(rel, FPT_ROOTPAGE, BufferGetBlockNumber(lbuf));
		PredicateLockPageSplit(rel, FPT_ROOTPAGE, BufferGetBlockNumber(rbuf));
	}
	UnlockReleaseBuffer(rbuf);
	UnlockReleaseBuffer(lbuf);
	UnlockReleaseBuffer(buf);
}

/* Rewrite a page in an encoding that can hold e as well; e goes in. */
static bool
fpt_recode(Relation rel, FPTIndex *ix, Page copy, uint32 pageno,
		   const FPTEntry *e)
{
	FPTPageHeader *h = fpt_header(copy);
	uint32		left = h->left;
	uint32		right = h->right;
	uint16		flags = h->flags;
	FPTSplit	sp;
	FPTResult	res;

	memset(&sp, 0, sizeof(sp));
	sp.rel = rel;
	sp.ix = ix;
	sp.e = e;
	sp.entries = fpt_alloc_entries();
	fpt_split_read(&sp, copy, pageno);
	res = fpt_page_form(&ix->layout, copy, h->level, pageno, &sp.low,
						&sp.high, sp.entries, sp.n, 90);
	pfree(sp.entries);
	h->left = left;
	h->right = right;
	h->flags = flags;
	return res == FPT_OK;
}

/*
 * Try to get e into the page without splitting it.  True: done and logged.
 */
static bool
fpt_insert_in_page(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				   Buffer childbuf)
{
	uint32		pageno = fpt_bufpage(buf);
	FPTWal	   *wal = fpt_wal_start(rel);
	Page		copy = fpt_wal_page(wal, buf, false);
	FPTEdit		edit = {0};
	FPTResult	res = fpt_page_make_room(&ix->layout, copy, e);

	if (res == FPT_OK)
		res = fpt_page_insert(&ix->layout, copy, e, &edit);
	else if (res == FPT_UNFIT)
		res = fpt_recode(rel, ix, copy, pageno, e) ? FPT_OK : FPT_FULL;
	if (res == FPT_DUPLICATE)
		fpt_corrupt(rel, pageno, "The entry to be inserted is there already");
	if (res == FPT_CORRUPT || res == FPT_UNFIT)
		fpt_corrupt(rel, pageno, "The page contradicts itself");
	if (res == FPT_FULL)
	{
		fpt_wal_abort(wal);
		return false;
	}
	if (BufferIsValid(childbuf))
	{
		copy = fpt_wal_page(wal, childbuf, false);
		fpt_header(copy)->flags &= ~FPT_F_INCOMPLETE;
	}
	fpt_wal_finish(wal);
	return true;
}

void
fpt_insert_hard(Relation rel, FPTIndex *ix, Buffer buf, const FPTEntry *e,
				Buffer childbuf, FPTStack *stack)
{
	FPTSplit	sp;

	if (fpt_insert_in_page(rel, ix, buf, e, childbuf))
	{
		UnlockReleaseBuffer(buf);
		return;
	}
	memset(&sp, 0, sizeof(sp));
	sp.rel = rel;
	sp.ix = ix;
	sp.e = e;
	sp.entries = fpt_alloc_entries();
	fpt_split_read(&sp, BufferGetPage(buf), fpt_bufpage(buf));
	if (sp.n < 3)
		fpt_corrupt(rel, fpt_bufpage(buf), "The page is full of nothing");
	fpt_split_choose(&sp, BufferGetPage(buf));
	if (fpt_bufpage(buf) == FPT_ROOTPAGE)
		fpt_split_root(&sp, buf, childbuf);
	else
		fpt_split_page(&sp, buf, childbuf, stack);
	pfree(sp.entries);
}

/* The parent-level page for a separator, locked exclusively, no split open. */
static Buffer
fpt_lock_parent(Relation rel, FPTIndex *ix, const FPTKey *sep, int level,
				FPTStack *stack)
{
	for (;;)
	{
		Buffer		buf = InvalidBuffer;

		if (stack && stack->rootlevel >= level &&
			stack->page[level] >= FPT_ROOTPAGE)
		{
			buf = fpt_getbuf(rel, ix, stack->page[level],
							 BUFFER_LOCK_EXCLUSIVE);
			buf = fpt_moveright(rel, ix, buf, sep, level,
								BUFFER_LOCK_EXCLUSIVE);
		}
		if (!BufferIsValid(buf))
			buf = fpt_descend(rel, ix, sep, level, BUFFER_LOCK_EXCLUSIVE,
							  NULL);
		if (!(fpt_header(BufferGetPage(buf))->flags & FPT_F_INCOMPLETE))
			return buf;
		fpt_finish_split(rel, ix, buf, stack);
	}
}

void
fpt_finish_split(Relation rel, FPTIndex *ix, Buffer buf, FPTStack *stack)
{
	Page		page = BufferGetPage(buf);
	FPTPageHeader *h = fpt_header(page);
	FPTEntry	e;
	Buffer		pbuf;

	Assert(h->flags & FPT_F_INCOMPLETE);
	if (h->right <= FPT_ROOTPAGE || fpt_bufpage(buf) == FPT_ROOTPAGE)
		fpt_corrupt(rel, fpt_bufpage(buf),
					"A split is marked incomplete, but there is no right sibling");
	e.key = fpt_fence_get(&h->high);
	e.down = h->right;
	pbuf = fpt_lock_parent(rel, ix, &e.key, h->level + 1, stack);
	fpt_insert_hard(rel, ix, pbuf, &e, buf, stack);
	UnlockReleaseBuffer(buf);
}
