/*-------------------------------------------------------------------------
 *
 * tree/search.h
 *	  Descending the tree, and moving right.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_TREE_SEARCH_H
#define FPT_TREE_SEARCH_H

#include "storage/buf.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"

#include "page/format.h"
#include "page/layout.h"
#include "store/index.h"

/*
 * All keys that btree's comparison calls equal to this one, whatever their
 * TIDs: *lo to *hi, both inclusive.  NULLs equal each other here.  Tuples are
 * those of *key, not copied.  Raises nothing.
 */
extern void fpt_equal_range(FPTIndex *ix, const FPTKey *key, FPTKey *lo,
							FPTKey *hi);

/*
 * The key just below an exclusive bound: the page that covers it is the one to
 * the left of the bound.  Below minus infinity there is nothing to be found.  A
 * tuple is that of *bound, not copied.  Raises nothing.
 */
extern FPTKey fpt_key_before(const FPTIndex *ix, const FPTKey *bound);

/*
 * Is a page, which is locked or a copy, in the tree, on this level?  Two tests,
 * which compilers do not make one of: descents are the faster by it.
 */
static inline bool
fpt_page_on_level(void *page, int level)
{
	FPTPageHeader *h = fpt_header(page);

	if (h->level != level || (h->flags & FPT_F_DELETED))
		return false;
	return true;
}

/* Page numbers of the path of a descent, by level; hints, not trusted. */
typedef struct FPTStack
{
	int			rootlevel;
	uint32		page[FPT_MAX_LEVEL + 1];
} FPTStack;

/*
 * Descend to the page of "level" that covers key, locked as asked (the pages
 * above are share-locked, one at a time).  Returns it pinned, and leaves
 * nothing else locked or pinned.  stack may be NULL; else the pages above
 * "level" are told in it.  Pages of lower levels may be locked before (L2);
 * where no page is, it may be cancelled as it moves right or begins anew.
 *
 * Raises an error if the tree is damaged.  With a page locked, general keys are
 * compared by functions of types (L7), which may raise, too, and may process
 * invalidations: *ix is a copy then.
 */
extern Buffer fpt_descend(Relation rel, FPTIndex *ix, const FPTKey *key,
						  int level, int lock, FPTStack *stack);

/*
 * The level of the root, 0 if all entries are in one leaf.  Locks one page at a
 * time, to read.  Raises an error if it is damaged.
 */
extern int	fpt_tree_level(Relation rel, FPTIndex *ix);

/* The first page of a level, locked to read; raises as fpt_descend() does. */
extern Buffer fpt_descend_first(Relation rel, FPTIndex *ix, int level);

/*
 * The page numbers in an inner page, in the order of keys, as far as it makes
 * sense; "children" has room for FPT_MAX_ENTRIES.  Returns how many these are:
 * fewer than fpt_page_count() if the page is damaged.  It is locked, or a copy.
 * Raises nothing.
 */
extern int	fpt_page_children(const FPTLayout *l, Page page,
							  uint32 *children);

/*
 * Of a descent to the first leaf of a range: "start" is called before that leaf
 * is read, if the range goes on after it.  No page is locked then.  It may be
 * called more than once, each time the descent begins anew, and may raise.
 */
typedef struct FPTLook
{
	int			dir;
	const FPTKey *end;			/* of the range, in this direction */
	void		(*start) (void *arg, uint32 leaf);	/* NULL: do not look */
	void	   *arg;
} FPTLook;

/* The same to a leaf, to read, looking.  Raises as that does. */
extern Buffer fpt_descend_looking(Relation rel, FPTIndex *ix,
								  const FPTKey *key, const FPTLook *look);

/*
 * The same where comparisons may contradict each other, as those of a cyclic
 * order do, and no page covers the key (FPTIndex.unsure).  Then the descent
 * ends at a page of the level that links lead to, which it says in ix->strayed:
 * with no page locked, fpt_warn_strayed() is to be called.  An entry that is
 * put there is in the index, and scans of all of it return it.  look may be
 * NULL.  Raises an error where links contradict fences byte by byte, which is
 * damage and no order.
 */
extern Buffer fpt_descend_anyway(Relation rel, FPTIndex *ix, const FPTKey *key,
								 int level, int lock, FPTStack *stack,
								 const FPTLook *look);

/*
 * The same for what can be done without: one attempt, and InvalidBuffer (no
 * lock) where it ends at a page that does not cover the key, or moves too far
 * (L11).  An index in the order of another version of a comparison function may
 * have no such page.
 */
extern Buffer fpt_descend_try(Relation rel, FPTIndex *ix, const FPTKey *key,
							  int level, int lock);

/*
 * Starting from a locked page whose number somebody remembered: the page of
 * "level" that covers key, or InvalidBuffer (and no lock) if this page is not
 * on the way to it, or the way is too long (L11).  Raises an error if a right
 * link contradicts a fence.  "lock" is how the page is locked, and how those to
 * the right of it will be, one at a time; those that are passed are released.
 * May be cancelled in between if no other page is locked.
 */
extern Buffer fpt_moveright(Relation rel, FPTIndex *ix, Buffer buf,
							const FPTKey *key, int level, int lock);

/*
 * A walk that couples locks (L3) has come to this leaf, which must begin at
 * "at", where the one to the left of it ends, and get the walk on: that can be
 * neither cancelled nor restarted.  After more steps than there are pages it
 * has not got on (L11).  Raises an error if so; changes no lock.
 */
extern void fpt_check_continues(Relation rel, FPTIndex *ix, Buffer buf,
								const FPTKey *at, uint32 steps);

#endif							/* FPT_TREE_SEARCH_H */
