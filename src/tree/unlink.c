/*-------------------------------------------------------------------------
 *
 * tree/unlink.c
 *	  Taking pages out of the tree.
 *
 * A page is unlinked by one WAL record that changes its left sibling, itself,
 * its right sibling and its parent.  A neighbour under the same parent takes
 * over its part of the key space.  The page may be given out again at once:
 * whoever still comes along with its number finds another level, other fences
 * or the deleted flag.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"

#include "page/copy.h"
#include "page/form.h"
#include "page/format.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/remove.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/place.h"
#include "store/wal.h"
#include "tree/search.h"
#include "tree/unlink.h"

void
fpt_unlink_release(FPTUnlink *u)
{
	if (BufferIsValid(u->parent))
		UnlockReleaseBuffer(u->parent);
	if (BufferIsValid(u->right))
		UnlockReleaseBuffer(u->right);
	if (BufferIsValid(u->target))
		UnlockReleaseBuffer(u->target);
	if (BufferIsValid(u->left))
		UnlockReleaseBuffer(u->left);
}

/* Most of what unlinking reads, VACUUM reads once: by way of its ring. */
static Buffer
fpt_unlink_read(FPTPrune *p, uint32 pageno, int lock)
{
	return fpt_getbuf_extended(p->rel, p->ix, pageno, lock, p->strategy);
}

/*
 * Lock page "targetno" of "level" and its left sibling.  The left one must be
 * locked first (L1); that it still is the left sibling is checked after.
 * False: it is not, or the page is another one by now; *u has the locked ones.
 * Nothing is locked before; true: both are, exclusively.  Cannot be cancelled
 * while it waits.  Raises an error if links are damaged.
 */
static bool
fpt_unlink_lock_pair(FPTPrune *p, FPTUnlink *u, uint32 targetno, int level)
{
	Relation	rel = p->rel;
	uint32		leftno;

	Assert(!BufferIsValid(u->left) && !BufferIsValid(u->target));
	if (level > 0)
		(void) fpt_find_root(rel, p->ix);
	if (targetno == FPT_FIRSTPAGE || targetno == p->ix->root)
		return false;
	u->target = fpt_unlink_read(p, targetno, BUFFER_LOCK_SHARE);
	leftno = fpt_header(BufferGetPage(u->target))->left;
	if (leftno == targetno)
		fpt_corrupt(rel, targetno, "The left link points to the page itself");
	if (leftno != FPT_NOPAGE)
	{
		UnlockReleaseBuffer(u->target);
		u->target = InvalidBuffer;
		fpt_stop_point(FPT_STOP_UNLINK_LEFT);
		u->left = fpt_unlink_read(p, leftno, BUFFER_LOCK_EXCLUSIVE);
		if (!fpt_page_on_level(BufferGetPage(u->left), level) ||
			fpt_header(BufferGetPage(u->left))->right != targetno)
			return false;
		u->target = fpt_unlink_read(p, targetno, BUFFER_LOCK_EXCLUSIVE);
	}
	else
	{
		LockBuffer(u->target, BUFFER_LOCK_UNLOCK);
		fpt_stop_point(FPT_STOP_UNLINK_LEFT);
		LockBuffer(u->target, BUFFER_LOCK_EXCLUSIVE);
		fpt_check_buffer(rel, p->ix, u->target, targetno);
	}
	return fpt_header(BufferGetPage(u->target))->left == leftno &&
		fpt_page_on_level(BufferGetPage(u->target), level);
}

/*
 * Lock the page above the target, which has its downlink, with pages of the
 * lower level locked (L2).  It is looked for by comparing keys.  Where the
 * order has changed since the entries were put in, that may end elsewhere, and
 * the target stays: it is empty and does no harm.  False: it was not found, and
 * u->parent may be locked all the same.  True: it is, exclusively, and u->loc
 * is the downlink's place in it.  Raises an error if an inner page is damaged,
 * or if comparing does.
 */
static bool
fpt_unlink_lock_parent(FPTPrune *p, FPTUnlink *u, int level)
{
	uint32		child;

	Assert(fpt_buffer_locked(u->target, true) && level > 0);
	fpt_stop_point(FPT_STOP_UNLINK_PARENT);
	u->parent = fpt_descend_try(p->rel, p->ix, &u->low, level,
								BUFFER_LOCK_EXCLUSIVE);
	if (BufferIsValid(u->parent) &&
		fpt_page_find_child(&p->ix->layout, BufferGetPage(u->parent), &u->low,
							&child, &u->loc) == FPT_OK &&
		child == fpt_bufpage(u->target))
		return true;
	p->lost = true;
	return false;
}

/* See tree/unlink.h. */
bool
fpt_unlink_lock_rest(FPTPrune *p, FPTUnlink *u, int level)
{
	FPTPageHeader *h = fpt_header(BufferGetPage(u->target));
	uint32		pageno = fpt_bufpage(u->target);

	Assert(fpt_buffer_locked(u->target, true));
	u->low = fpt_page_low(&p->ix->layout, BufferGetPage(u->target));
	u->high = fpt_page_high(&p->ix->layout, BufferGetPage(u->target));

	/* The parent must know both the page and its right sibling. */
	if ((h->flags & FPT_F_INCOMPLETE) ||
		(BufferIsValid(u->left) &&
		 (fpt_header(BufferGetPage(u->left))->flags & FPT_F_INCOMPLETE)))
		return false;
	if (h->right != FPT_NOPAGE)
	{
		if (h->right == pageno || h->right == h->left)
			fpt_corrupt(p->rel, pageno, "The right link is not valid");
		u->right = fpt_unlink_read(p, h->right, BUFFER_LOCK_EXCLUSIVE);
		if (fpt_header(BufferGetPage(u->right))->left != pageno)
			fpt_corrupt(p->rel, h->right,
						"The left link does not point to the left sibling");
	}
	return fpt_unlink_lock_parent(p, u, level + 1);
}

/* See tree/unlink.h. */
bool
fpt_unlink_lock(FPTPrune *p, FPTUnlink *u, uint32 pageno, int level)
{
	memset(u, 0, sizeof(*u));
	return fpt_unlink_lock_pair(p, u, pageno, level) &&
		fpt_unlink_lock_rest(p, u, level);
}

/* See tree/unlink.h. */
void
fpt_unlink_register(FPTUnlink *u, FPTWal *wal)
{
	Assert(BufferIsValid(u->target) && BufferIsValid(u->parent));
	if (BufferIsValid(u->left))
		fpt_wal_page(wal, u->left, false);
	fpt_wal_page(wal, u->target, false);
	if (BufferIsValid(u->right))
		fpt_wal_page(wal, u->right, false);
	fpt_wal_page(wal, u->parent, false);
}

/* Give a page that takes over the target's range the target's fence. */
static FPTResult
fpt_unlink_fence(FPTPrune *p, Page page, const FPTKey *fence, bool high)
{
	const FPTLayout *l = &p->ix->layout;

	if (high ? fpt_page_ends_at(l, page, fence) :
		fpt_page_begins_at(l, page, fence))
		return FPT_OK;
	if (p->work == NULL)
		p->work = palloc(sizeof(FPTWork));
	return high ? fpt_page_set_high(l, page, fence, p->work) :
		fpt_page_set_low(l, page, fence, p->work);
}

/*
 * Take the target's downlink out of its parent.  If the right sibling takes
 * over, it is made to lead there, and the sibling's own, which is the next one,
 * goes.  The parent is locked exclusively, and registered.
 */
static FPTResult
fpt_unlink_downlink(const FPTLayout *l, const FPTUnlink *u, Page parent,
					uint32 rightno)
{
	FPTLoc		next = u->loc;
	FPTResult	res;

	if (!u->to_right)
		return fpt_page_delete(l, parent, u->loc);
	Assert(rightno != FPT_NOPAGE);
	if (!fpt_page_step(l, parent, &next, 1))
		return FPT_CORRUPT;
	res = fpt_page_set_down(l, parent, u->loc, rightno);
	return res == FPT_OK ? fpt_page_delete(l, parent, next) : res;
}

/* See tree/unlink.h. */
bool
fpt_prune_record(FPTPrune *p, uint32 pageno)
{
	if (!p->mapfull && !fpt_record_free(p->rel, &p->ix->map, pageno))
		p->mapfull = true;
	return !p->mapfull;
}

/*
 * This page was unlinked, and is locked still: who may have it, and when?  A
 * leaf may be given out at once; if it is free in the end is counted then
 * (fpt_find_free_pages), unless nobody will look, as it is one that has come
 * meanwhile.  An inner page waits for the next VACUUM: a descent that holds
 * pages of lower levels could otherwise be about to lock it, by a number it has
 * just read, as the leaf it became.  May raise if the free space map cannot be
 * read.
 */
static void
fpt_unlink_count(FPTPrune *p, Page page)
{
	uint32		pageno = fpt_special(page)->pageno;
	bool		recorded;

	p->stats->pages_newly_deleted++;
	if (fpt_header(page)->level > 0)
	{
		fpt_stop_point(FPT_STOP_INNER_UNLINKED);
		fpt_reach_note(p->reach, pageno);
		p->ninner++;
		return;
	}
	fpt_stop_point(FPT_STOP_LEAF_UNLINKED);
	recorded = fpt_prune_record(p, pageno);
	fpt_reach_forget(p->reach, pageno);
	if (pageno < p->npages)
		return;
	if (recorded)
		p->stats->pages_free++;
	else
		p->nomap++;
}

/* See tree/unlink.h. */
bool
fpt_unlink_apply(FPTPrune *p, FPTUnlink *u, FPTWal *wal)
{
	const FPTLayout *l = &p->ix->layout;
	uint32		leftno = BufferIsValid(u->left) ? fpt_bufpage(u->left) : 0;
	uint32		rightno = BufferIsValid(u->right) ? fpt_bufpage(u->right) : 0;
	Buffer		heir = u->to_right ? u->right : u->left;
	FPTResult	res;
	Page		page;

	Assert(fpt_buffer_locked(u->target, true));
	Assert(fpt_header(BufferGetPage(u->parent))->level ==
		   fpt_header(BufferGetPage(u->target))->level + 1);
	Assert(fpt_header(BufferGetPage(u->target))->level > 0 ||
		   fpt_header(BufferGetPage(u->target))->nkids == 0 ||
		   u->alone);			/* P4, P7 */
	Assert(fpt_bufpage(u->target) > FPT_FIRSTPAGE);
	Assert(u->to_right ? rightno != 0 : leftno != 0);
	Assert(leftno != rightno);
	fpt_unlink_register(u, wal);
	page = fpt_wal_page(wal, u->target, false);
	fpt_header(page)->flags |= FPT_F_DELETED;
	fpt_header(page)->nkids = fpt_header(page)->nnull = 0;
	fpt_page_trim(l, page);
	if (leftno)
	{
		page = fpt_wal_page(wal, u->left, false);
		fpt_header(page)->right = rightno;
	}
	if (rightno)
	{
		page = fpt_wal_page(wal, u->right, false);
		fpt_header(page)->left = leftno;
		u->before = PageGetLSN(BufferGetPage(u->right));
	}
	res = fpt_unlink_fence(p, fpt_wal_page(wal, heir, false),
						   u->to_right ? &u->low : &u->high, !u->to_right);
	if (res == FPT_FULL)
	{
		/* A wide fence and a full page: another VACUUM may find room. */
		fpt_wal_abort(wal);
		return false;
	}
	if (res != FPT_OK)
		fpt_corrupt_page(p->rel, l, BufferGetPage(heir), fpt_bufpage(heir));
	res = fpt_unlink_downlink(l, u, fpt_wal_page(wal, u->parent, false),
							  rightno);
	if (res != FPT_OK)
		fpt_corrupt_page(p->rel, l, BufferGetPage(u->parent),
						 fpt_bufpage(u->parent));
	fpt_wal_finish(wal);
	fpt_unlink_count(p, BufferGetPage(u->target));
	return true;
}

/*
 * Is the parent's next downlink that of the target's right sibling?  Not if
 * that is under another parent.  All of them are locked, and stay so.  Raises
 * an error if the parent is damaged.
 */
static bool
fpt_unlink_next_is_right(FPTPrune *p, FPTUnlink *u)
{
	FPTLoc		next = u->loc;
	FPTEntry	e;

	Assert(BufferIsValid(u->target) && BufferIsValid(u->parent));
	if (!BufferIsValid(u->right) ||
		!fpt_page_step(&p->ix->layout, BufferGetPage(u->parent), &next, 1))
		return false;
	if (fpt_page_get(&p->ix->layout, BufferGetPage(u->parent), next,
					 &e) != FPT_OK)
		fpt_corrupt_page(p->rel, &p->ix->layout, BufferGetPage(u->parent),
						 fpt_bufpage(u->parent));
	return e.down == fpt_bufpage(u->right);
}

/* Choose who takes over; false if the page is its parent's only child. */
static bool
fpt_unlink_choose(FPTPrune *p, FPTUnlink *u)
{
	u->to_right = fpt_unlink_next_is_right(p, u);
	Assert(!u->to_right || BufferIsValid(u->right));
	if (u->to_right)
		return true;
	return (u->loc.kid > 0 || u->loc.rank > 0) && BufferIsValid(u->left);
}

/* See tree/unlink.h. */
FPTHeir
fpt_unlink_heir(const FPTUnlink *u)
{
	FPTHeir		heir = {.left = FPT_NOPAGE,.right = FPT_NOPAGE,
	.to_right = u->to_right,.before = u->before};

	if (BufferIsValid(u->left))
		heir.left = fpt_bufpage(u->left);
	if (BufferIsValid(u->right))
	{
		heir.right = fpt_bufpage(u->right);
		heir.after = PageGetLSN(BufferGetPage(u->right));
	}
	return heir;
}

static bool fpt_unlink_inner(FPTPrune *p, uint32 pageno, int level);

/*
 * Unlink the leaf, if it still is empty.  False: it is not, or is its parent's
 * only child, *parent.  Locks, and errors: see fpt_unlink_leaf().
 */
static bool
fpt_unlink_try(FPTPrune *p, uint32 pageno, uint32 *parent, FPTHeir *heir)
{
	FPTUnlink	u;
	bool		done = false;

	*parent = FPT_NOPAGE;
	if (fpt_unlink_lock(p, &u, pageno, 0) &&
		fpt_header(BufferGetPage(u.target))->nkids == 0)
	{
		if (fpt_unlink_choose(p, &u))
		{
			PredicateLockPageCombine(p->rel, fpt_bufpage(u.target),
									 fpt_bufpage(u.to_right ?
												 u.right : u.left));
			done = fpt_unlink_apply(p, &u, fpt_wal_start(p->rel,
														 &p->ix->layout));
			*heir = fpt_unlink_heir(&u);
		}
		else
			*parent = fpt_bufpage(u.parent);
	}
	fpt_unlink_release(&u);
	return done;
}

/* See tree/unlink.h.  An only child: join its parent with a neighbour first. */
bool
fpt_unlink_leaf(FPTPrune *p, uint32 pageno, FPTHeir *heir)
{
	uint32		parent;

	Assert(pageno != FPT_NOPAGE);
	if (fpt_unlink_try(p, pageno, &parent, heir))
		return true;
	return parent != FPT_NOPAGE && fpt_unlink_inner(p, parent, 1) &&
		fpt_unlink_try(p, pageno, &parent, heir);
}

/*
 * An inner page with one child only: hand the child to a neighbour under the
 * same grandparent and unlink the page.  One record, four pages.  False: it
 * does not fit, and nothing was changed.  The pages, locked exclusively, stay
 * so.  Raises an error if one is damaged, or if comparing keys does.  Frees
 * what it allocates, but for p->work.
 */
static bool
fpt_unlink_inner_apply(FPTPrune *p, FPTUnlink *u)
{
	const FPTLayout *l = &p->ix->layout;
	Buffer		nbuf = u->to_right ? u->right : u->left;
	FPTEntry   *e = palloc(sizeof(FPTEntry) * (FPT_MAX_ENTRIES + 1));
	FPTEntry	only;
	FPTLoc		loc = {0};
	FPTPageHeader *h = fpt_header(BufferGetPage(nbuf));
	PGAlignedBlock merged;
	FPTKey		low,
				high;
	FPTPageSpec spec = {.level = h->level, .pageno = fpt_bufpage(nbuf),
		.low = &low, .high = &high};
	int			n;
	bool		fits;

	Assert(BufferIsValid(nbuf));
	Assert(fpt_header(BufferGetPage(u->target))->level > 0);
	if (fpt_page_get(l, BufferGetPage(u->target), loc, &only) != FPT_OK)
		fpt_corrupt_page(p->rel, l, BufferGetPage(u->target),
						 fpt_bufpage(u->target));
	n = fpt_page_extract(l, BufferGetPage(nbuf), e, FPT_MAX_ENTRIES);
	if (n < 1)
		fpt_corrupt_page(p->rel, l, BufferGetPage(nbuf), fpt_bufpage(nbuf));

	/* The child's separator is the page's low fence. */
	only.key = u->low;
	low = fpt_page_low(l, BufferGetPage(nbuf));
	high = fpt_page_high(l, BufferGetPage(nbuf));
	if (u->to_right)
	{
		memmove(e + 1, e, n * sizeof(FPTEntry));
		e[0] = only;
		low = u->low;
	}
	else
	{
		e[n] = only;
		high = u->high;
	}
	fits = fpt_page_form(l, merged.data, &spec, e, n + 1, 90) == FPT_OK;
	if (fits)
	{
		FPTWal	   *wal = fpt_wal_start(p->rel, l);
		Page		page;

		fpt_unlink_register(u, wal);
		page = fpt_wal_page(wal, nbuf, false);
		fpt_header(merged.data)->left = h->left;
		fpt_header(merged.data)->right = h->right;
		fpt_header(merged.data)->flags = h->flags;
		memcpy(page, merged.data, BLCKSZ);
		fits = fpt_unlink_apply(p, u, wal);
	}
	pfree(e);
	return fits;
}

/*
 * The page "pageno" of "level" has one child only: see above.  A parent that
 * has no other child either is joined first, and so is unlinked for good (L11).
 * True: the page is gone.  Nothing is locked before or after.  Calls itself
 * once for each level at a time.  Raises as fpt_unlink_leaf() does.
 */
static bool
fpt_unlink_inner(FPTPrune *p, uint32 pageno, int level)
{
	FPTUnlink	u;
	bool		done = false;
	uint32		parent = FPT_NOPAGE;

	check_stack_depth();
	fpt_stop_point(FPT_STOP_MERGE_INNER);
	if (fpt_unlink_lock(p, &u, pageno, level) &&
		fpt_page_count(&p->ix->layout, BufferGetPage(u.target)) == 1)
	{
		if (fpt_unlink_choose(p, &u))
			done = fpt_unlink_inner_apply(p, &u);
		else
			parent = fpt_bufpage(u.parent);
	}
	fpt_unlink_release(&u);
	if (parent != FPT_NOPAGE && fpt_unlink_inner(p, parent, level + 1))
		return fpt_unlink_inner(p, pageno, level);
	return done;
}
