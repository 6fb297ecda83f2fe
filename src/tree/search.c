/*-------------------------------------------------------------------------
 *
 * tree/search.c
 *	  Descending the tree.
 *
 * Locks: one page at a time, share mode above the level that is wanted; a
 * parent is unlocked before its child is locked.  What may have happened to
 * the child in between is told by the child itself: a page of the right level,
 * not deleted, whose fences enclose the key, is the page that belongs to the
 * key, whoever remembered its number and for however long.  A page that was
 * split is left to the right (Lehman and Yao); for anything else the descent
 * starts again at the root, whose number changes once in an index's life, from
 * that of the first leaf (fpt_find_root()).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "key/image.h"
#include "page/kernel.h"
#include "page/prefix.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/place.h"
#include "tree/search.h"

/*
 * Descents in a row that found a stale downlink before the tree is called
 * corrupted.  A single one needs a page to be unlinked in the few instructions
 * between two locks.
 */
#define FPT_MAX_RESTARTS	20

/*
 * Moves to the right in a row that a sound index may ask of who holds other
 * pages locked (L11): each other session may have split the page once while
 * this one waited for it, and splits may have been left unfinished.
 */
#define FPT_MAX_MOVES		(100 + MaxBackends)

/*
 * Pages that a descent passes to the right where fences do not tell how far to
 * go.
 */
#define FPT_MAX_STRAY		20

/* Attempts of a descent after which an order that is none is thought of. */
#define FPT_STRAY_AFTER		2

/*
 * See tree/search.h.  Several images may stand for values that are equal, as
 * those of 0 and -0 do; of a general key the comparison function sees to that.
 */
void
fpt_equal_range(FPTIndex *ix, const FPTKey *key, FPTKey *lo, FPTKey *hi)
{
	Assert(key->tid <= FPT_MAX_TID);
	*lo = *hi = *key;
	lo->tid = 0;
	hi->tid = FPT_MAX_TID;
	if (key->cls == FPT_CLS_VALUE && !fpt_is_general(&ix->layout))
	{
		FPTImage	img;
		FPTImage	a,
					b;

		img.hi = key->hi;
		img.lo = key->lo;
		fpt_image_class(ix->type, ix->descending, img, &a, &b);
		lo->hi = a.hi;
		lo->lo = a.lo;
		hi->hi = b.hi;
		hi->lo = b.lo;
	}
}

/*
 * See tree/search.h.  The predecessor in the order of class, image and TID,
 * whether such a key could be in the index or not.
 */
FPTKey
fpt_key_before(const FPTIndex *ix, const FPTKey *bound)
{
	FPTKey		k = *bound;

	if (k.cls == FPT_CLS_PINF)
	{
		k.cls = FPT_CLS_NULLLAST;
		if (fpt_is_general(&ix->layout))
		{
			/* Heads of NULLs are 0: this is after all of them. */
			k.lo = PG_UINT64_MAX;
			k.tid = FPT_MAX_TID;
			return k;
		}
	}
	else if (k.tid > 0 || fpt_is_general(&ix->layout))
	{
		/* A general key has no predecessor but itself with a TID of -1. */
		k.tid--;
		return k;
	}
	else if (k.cls == FPT_CLS_VALUE && (k.lo > 0 || k.hi > 0))
	{
		if (k.lo-- == 0)
			k.hi--;
		k.tid = FPT_MAX_TID;
		return k;
	}
	else if (k.cls > FPT_CLS_MINF)
		k.cls--;
	if (k.cls == FPT_CLS_MINF)
		k.hi = k.lo = k.tid = 0;
	else
	{
		k.hi = k.lo = PG_UINT64_MAX;
		k.tid = FPT_MAX_TID;
	}
	return k;
}

/*
 * Where all heads are the same, comparing a key with a fence takes a call of
 * the type's function.  But a child's fences are mostly copies of two
 * neighbouring separators of its parent, between which the search has found the
 * key already: these are remembered, and compared byte by byte.
 */
typedef struct FPTBounds
{
	FPTKeyBuf	low;			/* not above the key */
	FPTKeyBuf	high;			/* above it */
	bool		sure;			/* comparisons contradict each other: see
								 * fpt_stray_right() */
} FPTBounds;

/*
 * The separators around a child, copied, as the page is about to be unlocked;
 * false: the page contradicts itself.  Raises nothing.
 */
static bool
fpt_child_bounds(FPTIndex *ix, Page page, FPTLoc loc, FPTBounds *bounds)
{
	const FPTLayout *l = &ix->layout;
	FPTEntry	e;

	if (fpt_page_get(l, page, loc, &e) != FPT_OK ||
		!fpt_key_whole(l, &e.key, &bounds->low))
		return false;
	if (!fpt_page_step(l, page, &loc, 1))
		e.key = fpt_page_high(l, page);
	else if (fpt_page_get(l, page, loc, &e) != FPT_OK)
		return false;
	return fpt_key_whole(l, &e.key, &bounds->high);
}

/* Is this page the one of "level" that covers key, or to the left of it? */
static inline bool
fpt_page_serves(FPTIndex *ix, Page page, const FPTKey *key, int level,
				const FPTBounds *bounds)
{
	if (!fpt_page_on_level(page, level))
		return false;
	return (bounds != NULL &&
			fpt_page_begins_at(&ix->layout, page, &bounds->low.key)) ||
		fpt_page_above_low(&ix->layout, page, key);
}

/*
 * Has a walk to the right made more moves than it may (L11)?  Where other pages
 * are locked, more than FPT_MAX_MOVES; else, where it can be cancelled at each
 * of them, more than the index has pages, which only links and fences that lead
 * in a circle make it do.  The page that it is at is not locked.
 */
static pg_noinline bool
fpt_moved_far(Relation rel, FPTIndex *ix, uint32 moves)
{
	if (moves <= (uint32) FPT_MAX_MOVES)
		return false;
	return !INTERRUPTS_CAN_BE_PROCESSED() ||
		(moves > ix->map.npages && moves > fpt_npages(rel, &ix->map));
}

/*
 * fpt_moveright(), which see for locks and errors; bounds: keys on either side
 * of the key, or NULL.  A page that begins and ends at these is the right one
 * without comparing.
 */
static inline Buffer
fpt_moveright_between(Relation rel, FPTIndex *ix, Buffer buf,
					  const FPTKey *key, int level, int lock,
					  const FPTBounds *bounds)
{
	FPTKeyBuf	passed;			/* high fence behind us, if we moved */
	uint32		moves = 0;

	for (;;)
	{
		Page		page = BufferGetPage(buf);
		FPTKey		high;
		uint32		right;

		Assert(fpt_buffer_locked(buf, lock == BUFFER_LOCK_EXCLUSIVE));
		if (unlikely(!fpt_page_serves(ix, page, key, level, bounds)))
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
		if (bounds != NULL &&
			fpt_page_ends_at(&ix->layout, page, &bounds->high.key))
			return buf;
		if (likely(fpt_page_below_high(&ix->layout, page, key)))
			return buf;

		/*
		 * High fences rise from page to page, or links lead in a circle (or to
		 * a page that was recycled this moment): begin again, a few times.
		 */
		high = fpt_page_high(&ix->layout, page);
		if (moves > 0 && fpt_key_cmp(&ix->layout, &high, &passed.key) <= 0)
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
		right = fpt_header(page)->right;
		if (right == FPT_NOPAGE || right == fpt_bufpage(buf))
			fpt_corrupt(rel, fpt_bufpage(buf),
						"The right link contradicts the high fence");
		fpt_key_copy(&passed, &high);
		UnlockReleaseBuffer(buf);
		CHECK_FOR_INTERRUPTS();
		if (unlikely(fpt_moved_far(rel, ix, ++moves)))
			return InvalidBuffer;
		fpt_stop_point(FPT_STOP_MOVE_RIGHT);
		buf = fpt_getbuf(rel, ix, right, lock);
	}
}

/*
 * Where comparisons contradict each other (FPTIndex.unsure): from the locked
 * child of a downlink go right as long as the key is not below the high fence
 * and fences rise, a few pages at most.  A NULL, or an end of the index, has
 * its place all the same, which no function decides: to that it goes on.  Bytes
 * are asked and not comparisons: is each page the one to which links lead?  Its
 * low fence must be the separator, around->low, or the high fence of the page
 * before.
 *
 * Most orders are sound, and a child that others have split many times in this
 * moment must not pass for a contradiction, or an entry would get into a page
 * that is not its own.  What is one for sure: a page ends, byte for byte,
 * where the parent had the key before, and has it after that.  around->sure:
 * go by the number of pages alone.
 *
 * Returns the page where that ends, which need not cover the key, locked as
 * asked; InvalidBuffer, with no lock, if a page is not what links say, as it
 * was unlinked meanwhile, or the index is damaged, or if that may be splits.
 * Raises an error if a right link cannot be one, or if comparing does.
 */
static Buffer
fpt_stray_right(Relation rel, FPTIndex *ix, Buffer buf, const FPTKey *key,
				int level, int lock, FPTBounds *around)
{
	const FPTLayout *l = &ix->layout;
	FPTKeyBuf  *low = &around->low;
	bool		value = key->cls == FPT_CLS_VALUE;

	for (uint32 moves = 0;; moves++)
	{
		Page		page = BufferGetPage(buf);
		FPTKey		high;
		FPTKeyBuf	whole;
		uint32		right;

		Assert(fpt_buffer_locked(buf, lock == BUFFER_LOCK_EXCLUSIVE));
		if (!fpt_page_on_level(page, level) ||
			!fpt_page_begins_at(l, page, &low->key))
		{
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
		right = fpt_header(page)->right;
		high = fpt_page_high(l, page);
		if (right == FPT_NOPAGE || fpt_page_below_high(l, page, key) ||
			(value && moves > 0 && fpt_key_cmp(l, &high, &low->key) <= 0) ||
			!fpt_key_whole(l, &high, &whole))
			return buf;
		around->sure |= fpt_page_ends_at(l, page, &around->high.key);
		if (value && moves >= FPT_MAX_STRAY)
		{
			if (around->sure)
				return buf;
			UnlockReleaseBuffer(buf);
			return InvalidBuffer;
		}
		if (right == fpt_bufpage(buf))
			fpt_corrupt(rel, fpt_bufpage(buf),
						"The right link contradicts the high fence");
		fpt_key_copy(low, &whole.key);
		UnlockReleaseBuffer(buf);
		CHECK_FOR_INTERRUPTS();
		if (fpt_moved_far(rel, ix, moves))
			return InvalidBuffer;
		buf = fpt_getbuf(rel, ix, right, lock);
	}
}

/*
 * See tree/search.h.  Where it begins is compared byte by byte: the order may
 * have changed, and the fences are copies of each other all the same.
 */
void
fpt_check_continues(Relation rel, FPTIndex *ix, Buffer buf, const FPTKey *at,
					uint32 steps)
{
	Page		page = BufferGetPage(buf);
	FPTKey		high = fpt_page_high(&ix->layout, page);

	Assert(steps > 0 && fpt_buffer_locked(buf, false));
	if (!fpt_page_on_level(page, 0) ||
		!fpt_page_begins_at(&ix->layout, page, at))
		fpt_corrupt(rel, fpt_bufpage(buf),
					"The page does not continue its left sibling");
	if (!ix->unsure && fpt_key_cmp(&ix->layout, &high, at) <= 0)
		fpt_corrupt(rel, fpt_bufpage(buf), "The page ends before it begins");
	if (steps > ix->map.npages && steps > fpt_npages(rel, &ix->map))
		fpt_corrupt(rel, fpt_bufpage(buf), "The right links lead in a circle");
}

Buffer
fpt_moveright(Relation rel, FPTIndex *ix, Buffer buf, const FPTKey *key,
			  int level, int lock)
{
	return fpt_moveright_between(rel, ix, buf, key, level, lock, NULL);
}

/*
 * Other pages prove by their level and fences that they are what was looked
 * for.  The root is found by its number, so it is asked, too: a scan that were
 * given a page which ends before its key would go backwards, for ever.
 *
 * Is this page, which is locked, a root that has the level and covers the key?
 * The first leaf was one when its number was remembered, and may have siblings
 * by now; if they are gone again it is as good as the root, which is above it.
 */
static inline bool
fpt_root_serves(FPTIndex *ix, Buffer buf, const FPTKey *key, int level)
{
	Page		page = BufferGetPage(buf);
	FPTPageHeader *h = fpt_header(page);

	return h->level >= level && h->right == FPT_NOPAGE &&
		fpt_page_serves(ix, page, key, h->level, NULL) &&
		fpt_page_below_high(&ix->layout, page, key);
}

/*
 * Lock the root to look for key: as asked if it is of the wanted level, else to
 * read.  Returns it, and its level in ix->rootlevel.  InvalidBuffer, and no
 * lock: the tree has no such level.  Raises an error if it is not a root that
 * covers the key.  Cannot be cancelled while it waits.
 */
static Buffer
fpt_lock_root(Relation rel, FPTIndex *ix, const FPTKey *key, int level,
			  int lock)
{
	Assert(level >= 0 && level <= FPT_MAX_LEVEL);
	Assert(lock == BUFFER_LOCK_SHARE || lock == BUFFER_LOCK_EXCLUSIVE);
	for (;;)
	{
		int			mode = ix->rootlevel == level ? lock : BUFFER_LOCK_SHARE;
		Buffer		buf = fpt_getbuf_hot(rel, ix, ix->root, mode,
										 FPT_GUESS_INNER);
		int			top = fpt_header(BufferGetPage(buf))->level;

		if (top == level && mode != lock)
		{
			/* It may grow in between; then it is no longer what is wanted. */
			LockBuffer(buf, BUFFER_LOCK_UNLOCK);
			LockBuffer(buf, lock);
			fpt_check_buffer(rel, ix, buf, ix->root);
			top = fpt_header(BufferGetPage(buf))->level;
		}
		ix->rootlevel = top;
		if (likely(fpt_root_serves(ix, buf, key, level)))
			return buf;
		UnlockReleaseBuffer(buf);
		if (fpt_find_root(rel, ix))
			continue;
		if (top < level)
			return InvalidBuffer;
		fpt_corrupt(rel, ix->root, "The page is not a root");
	}
}

/* See tree/search.h. */
int
fpt_tree_level(Relation rel, FPTIndex *ix)
{
	FPTPageHeader *h;
	Buffer		buf;
	bool		grown;

	do
	{
		buf = fpt_getbuf(rel, ix, ix->root, BUFFER_LOCK_SHARE);
		h = fpt_header(BufferGetPage(buf));
		ix->rootlevel = h->level;
		grown = h->level == 0 && h->right != FPT_NOPAGE;
		UnlockReleaseBuffer(buf);
	} while (grown && fpt_find_root(rel, ix));
	return ix->rootlevel;
}

/*
 * Does the range that ends at look->end go on after the child at loc of a
 * locked leaf parent, which stays locked?  Raises an error if that is damaged,
 * or if comparing does.
 */
static bool
fpt_goes_on(Relation rel, FPTIndex *ix, Buffer parent, FPTLoc loc,
			const FPTLook *look)
{
	const FPTLayout *l = &ix->layout;
	Page		page = BufferGetPage(parent);
	FPTEntry	e;
	int			cmp;

	Assert(look->dir == 1 || look->dir == -1);
	Assert(fpt_header(page)->level == 1 && fpt_buffer_locked(parent, false));
	if (look->dir > 0 && !fpt_page_step(l, page, &loc, 1))
		e.key = fpt_page_high(l, page);
	else if (look->dir < 0 && loc.kid == 0 && loc.rank == 0)
		e.key = fpt_page_low(l, page);
	else if (fpt_page_get(l, page, loc, &e) != FPT_OK)
		fpt_corrupt_page(rel, l, page, fpt_bufpage(parent));
	if (e.key.cls == FPT_CLS_PINF || e.key.cls == FPT_CLS_MINF)
		return false;
	cmp = fpt_key_cmp(l, &e.key, look->end);
	return look->dir > 0 ? cmp <= 0 : cmp > 0;
}

/*
 * One descent, a page at a time (L2).  Returns the page of "level", locked as
 * asked; InvalidBuffer, with no lock, if it met a page that was not what it
 * should be.  Raises an error about what no concurrent change explains.  stack
 * and look may be NULL; look->start is called with no page locked or pinned.
 */
static Buffer
fpt_descend_once(Relation rel, FPTIndex *ix, const FPTKey *key, int level,
				 int lock, FPTStack *stack, const FPTLook *look)
{
	Buffer		buf = fpt_lock_root(rel, ix, key, level, lock);
	int			cur = ix->rootlevel;
	FPTBounds	around;
	const FPTBounds *bounds = ix->headless ? &around : NULL;

	if (unlikely(buf == InvalidBuffer))
		return buf;
	if (stack)
		stack->rootlevel = cur;
	while (cur > level)
	{
		Page		page = BufferGetPage(buf);
		uint32		child;
		uint32		fraction = cur > 1 ? FPT_GUESS_INNER : FPT_NO_GUESS;
		FPTLoc		loc;
		bool		more = false;
		int			mode;

		Assert(cur <= FPT_MAX_LEVEL && fpt_header(page)->level == cur);
		if (stack)
			stack->page[cur] = fpt_bufpage(buf);
		if (fpt_page_find_child(&ix->layout, page, key, &child,
								&loc) != FPT_OK ||
			(unlikely(ix->headless) &&
			 !fpt_child_bounds(ix, page, loc, &around)))
			fpt_corrupt_page(rel, &ix->layout, page, fpt_bufpage(buf));
		if (child == FPT_METAPAGE || child == ix->root)
			fpt_corrupt(rel, fpt_bufpage(buf), "A downlink is not valid");
		fpt_page_await(rel, &ix->layout, child);
		if (cur == 1 && fpt_guess_wanted(&ix->guess))
			fraction = fpt_page_fraction(&ix->layout, page, loc, key);
		if (unlikely(look != NULL) && cur == 1)
			more = fpt_goes_on(rel, ix, buf, loc, look);
		UnlockReleaseBuffer(buf);
		if (unlikely(more))
			look->start(look->arg, child);
		cur--;
		mode = cur == level ? lock : BUFFER_LOCK_SHARE;
		fpt_stop_point(FPT_STOP_DESCEND);
		buf = fpt_getbuf_hot(rel, ix, child, mode, fraction);
		buf = fpt_moveright_between(rel, ix, buf, key, cur, mode, bounds);
		if (buf == InvalidBuffer)
			return buf;
	}
	return buf;
}

/*
 * One descent that ends somewhere, whatever comparisons make of it: where
 * fpt_stray_right() does on each level, which see for "anyway".  For an index
 * whose comparisons may contradict each other, of which no page covers some
 * keys.  Wherever they do not, it is the page that covers the key.
 *
 * Returns it locked as asked, and nothing else is; InvalidBuffer if pages are
 * not what links say.  Raises an error about what no concurrent change
 * explains, or if comparing does.  stack may be NULL.
 */
static Buffer
fpt_descend_astray(Relation rel, FPTIndex *ix, const FPTKey *key, int level,
				   int lock, FPTStack *stack, bool anyway)
{
	const FPTLayout *l = &ix->layout;
	Buffer		buf = fpt_lock_root(rel, ix, key, level, lock);
	int			cur = ix->rootlevel;

	Assert(ix->unsure);
	if (stack)
		stack->rootlevel = cur;
	while (BufferIsValid(buf) && cur > level)
	{
		Page		page = BufferGetPage(buf);
		FPTBounds	around;
		FPTLoc		loc;
		FPTKey		first = fpt_page_low(l, page);
		uint32		child;
		int			mode = cur - 1 == level ? lock : BUFFER_LOCK_SHARE;

		if (stack)
			stack->page[cur] = fpt_bufpage(buf);
		if (fpt_page_find_child(l, page, key, &child, &loc) != FPT_OK ||
			!fpt_child_bounds(ix, page, loc, &around) ||
			(loc.kid == 0 && loc.rank == 0 &&
			 !fpt_key_whole(l, &first, &around.low)))
			fpt_corrupt_page(rel, l, page, fpt_bufpage(buf));
		if (child == FPT_METAPAGE || child == ix->root)
			fpt_corrupt(rel, fpt_bufpage(buf), "A downlink is not valid");
		UnlockReleaseBuffer(buf);
		cur--;
		around.sure = anyway;
		fpt_stop_point(FPT_STOP_DESCEND);
		buf = fpt_getbuf(rel, ix, child, mode);
		buf = fpt_stray_right(rel, ix, buf, key, cur, mode, &around);
	}
	if (BufferIsValid(buf) &&
		!(fpt_page_above_low(l, BufferGetPage(buf), key) &&
		  fpt_page_below_high(l, BufferGetPage(buf), key)))
		ix->strayed = true;
	return buf;
}

Buffer
fpt_descend_try(Relation rel, FPTIndex *ix, const FPTKey *key, int level,
				int lock)
{
	return fpt_descend_once(rel, ix, key, level, lock, NULL, NULL);
}

/*
 * Descend again and again until that ends at the page of the level which covers
 * the key: one attempt may be overtaken by splits and deletions.  Returns the
 * page, locked as asked and nothing else; an index where descents never arrive
 * is corrupted.  Raises an error about it.  May be cancelled if nothing was
 * locked before.
 */
static Buffer
fpt_descend_until(Relation rel, FPTIndex *ix, const FPTKey *key, int level,
				  int lock, FPTStack *stack, const FPTLook *look)
{
	int			restarts;

	Assert(key->cls > FPT_CLS_MINF || (key->tid == 0 && key->lo == 0));
	for (restarts = 0; restarts < FPT_MAX_RESTARTS; restarts++)
	{
		Buffer		buf = fpt_descend_once(rel, ix, key, level, lock, stack,
											 look);

		if (buf != InvalidBuffer)
		{
			Assert(fpt_buffer_locked(buf, lock == BUFFER_LOCK_EXCLUSIVE));
			Assert(fpt_header(BufferGetPage(buf))->level == level);
			/* Callers go on at the page's fences and rely on getting ahead. */
			Assert(fpt_page_above_low(&ix->layout, BufferGetPage(buf), key));
			Assert(fpt_page_below_high(&ix->layout, BufferGetPage(buf), key));
			return buf;
		}
		CHECK_FOR_INTERRUPTS();
		if (restarts > 10)
			pg_usleep(1000L);
	}
	fpt_corrupt(rel, ix->root,
				"Descents keep arriving at pages that do not cover the key");
	return InvalidBuffer;		/* keep compiler quiet */
}

Buffer
fpt_descend(Relation rel, FPTIndex *ix, const FPTKey *key, int level,
			int lock, FPTStack *stack)
{
	return fpt_descend_until(rel, ix, key, level, lock, stack, NULL);
}

Buffer
fpt_descend_anyway(Relation rel, FPTIndex *ix, const FPTKey *key, int level,
				   int lock, FPTStack *stack, const FPTLook *look)
{
	Buffer		buf;

	for (int n = 1; ix->unsure && n <= FPT_MAX_RESTARTS; n++)
	{
		buf = fpt_descend_once(rel, ix, key, level, lock, stack, look);
		if (buf == InvalidBuffer && n >= FPT_STRAY_AFTER)
			buf = fpt_descend_astray(rel, ix, key, level, lock, stack,
									 n > FPT_MAX_RESTARTS / 2);
		if (buf != InvalidBuffer)
			return buf;
		CHECK_FOR_INTERRUPTS();
	}
	return fpt_descend_until(rel, ix, key, level, lock, stack, look);
}

Buffer
fpt_descend_first(Relation rel, FPTIndex *ix, int level)
{
	FPTKey		minf = {.cls = FPT_CLS_MINF};

	return fpt_descend(rel, ix, &minf, level, BUFFER_LOCK_SHARE, NULL);
}

/* See tree/search.h.  A damaged root may have us read a node many times. */
int
fpt_page_children(const FPTLayout *l, Page page, uint32 *children)
{
	FPTLoc		loc = {0};
	FPTEntry	e;
	int			n = 0;

	Assert(fpt_header(page)->level > 0);
	if (fpt_header(page)->nkids == 0)
		return 0;
	do
	{
		if (fpt_page_get(l, page, loc, &e) != FPT_OK)
			break;
		children[n++] = e.down;
	} while (n < FPT_MAX_ENTRIES && fpt_page_step(l, page, &loc, 1));
	return n;
}

Buffer
fpt_descend_looking(Relation rel, FPTIndex *ix, const FPTKey *key,
					const FPTLook *look)
{
	return fpt_descend_until(rel, ix, key, 0, BUFFER_LOCK_SHARE, NULL, look);
}
