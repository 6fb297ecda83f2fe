/*-------------------------------------------------------------------------
 *
 * tree/join.c
 *	  Merging a leaf with its left sibling, or filling that from it.
 *
 * Entries move to the left only.  So the left page keeps its base and its low
 * fence, a record has little but the entries that move, and VACUUM's walk has
 * been at both pages: what moves is not dead.  Why nobody returns an entry
 * twice, or none, see src/tree/README.md, "Merging leaves".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "key/collation.h"
#include "page/format.h"
#include "page/join.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/remove.h"
#include "page/room.h"
#include "server/stop.h"
#include "store/buf.h"
#include "store/options.h"
#include "store/place.h"
#include "tree/join.h"
#include "tree/search.h"

/*
 * How full a merged page may be, in thousandths of the fill factor: of general
 * keys, and of images.  By default 89% and 94%; of leaves that VACUUM has
 * emptied, 94% and 97%.
 */
static const int join_general[2] = {990, 1045};
static const int join_images[2] = {1045, 1080};

/*
 * See tree/join.h.  A build leaves a page 90% full.  With a higher limit
 * updates split what VACUUM has just merged; with a lower one most pages stay
 * as they are after half of the rows are gone.  A page of general keys is full
 * earlier than it looks, by removed tuples that still lie between
 * others.  Leaves that VACUUM has emptied have a limit that is a bit higher:
 * most pairs go into one page then, and else three become two, which logs twice
 * as much for a page that is freed.  Where comparisons are not to be trusted a
 * scan that goes on at a key may miss the entries that have moved, and nothing
 * is merged.
 */
void
fpt_join_most(FPTPrune *p, int most[2])
{
	const int  *share = fpt_is_general(&p->ix->layout) ? join_general :
		join_images;
	FPTOptions *opts = (FPTOptions *) p->rel->rd_options;
	int			fill = opts ? opts->fillfactor : FPT_DEFAULT_FILLFACTOR;

	most[0] = most[1] = 0;
	if (p->ix->stale || (p->ix->unsure && !fpt_order_is_sound(p->rel)))
		return;
	for (int i = 0; i < 2; i++)
		most[i] = Min(1000, share[i] * fill / 100);
}

static void
fpt_join_alloc(FPTPrune *p)
{
	if (p->join == NULL)
		p->join = palloc(sizeof(FPTJoinWork));
}

/*
 * All pages that are involved are locked: move the entries of "from", which is
 * the target's page or a copy of it, and unlink the target, in one record (L5,
 * W2).  False: nothing was changed.  The locks stay.  Raises an error if a page
 * is damaged, or if comparing does.
 */
static bool
fpt_join_apply(FPTPrune *p, FPTUnlink *u, Page from, int most, int *fill)
{
	const FPTLayout *l = &p->ix->layout;
	FPTWal	   *wal = fpt_wal_start(p->rel, l);
	FPTResult	res;
	Page		page;

	Assert(u->alone);			/* P7 */
	Assert(!u->to_right && fpt_buffer_locked(u->left, true));
	fpt_join_alloc(p);
	fpt_unlink_register(u, wal);
	page = fpt_wal_page(wal, u->left, false);
	res = fpt_page_join(l, page, from, most, p->blocks, p->join);
	if (res == FPT_OK)
		*fill = fpt_page_thousandths(l, page);
	else
		fpt_wal_abort(wal);
	if (res == FPT_CORRUPT)
		fpt_corrupt_page(p->rel, l, BufferGetPage(u->target),
						 fpt_bufpage(u->target));
	if (res != FPT_OK)
		return false;
	PredicateLockPageCombine(p->rel, fpt_bufpage(u->target),
							 fpt_bufpage(u->left));	/* K3 */
	return fpt_unlink_apply(p, u, wal);
}

/*
 * Lock what merging the leaf with its left sibling, or filling that, involves,
 * and look whether either may be: "left" and "right" are its siblings still,
 * both have downlinks in one parent, and nobody else has the leaf pinned (P7).
 * Who pins it after this look waits for the lock, and has read nothing.  False,
 * with whatever is locked in *u: no.  Locks and errors are fpt_unlink_lock()'s.
 */
static bool
fpt_join_lock(FPTPrune *p, FPTUnlink *u, uint32 pageno, uint32 left,
			  uint32 right)
{
	Assert(left != FPT_NOPAGE);
	fpt_stop_point(FPT_STOP_JOIN_LEAF);
	if (!fpt_unlink_lock(p, u, pageno, 0) || !BufferIsValid(u->left) ||
		fpt_bufpage(u->left) != left ||
		fpt_header(BufferGetPage(u->target))->right != right ||
		fpt_header(BufferGetPage(u->target))->nkids == 0 ||
		(u->loc.kid == 0 && u->loc.rank == 0))
		return false;
	u->to_right = false;
	u->alone = IsBufferCleanupOK(u->target);
	if (u->alone)
		fpt_stop_point(FPT_STOP_JOIN_ALONE);
	return u->alone;
}

/* See tree/join.h. */
bool
fpt_join_leaf(FPTPrune *p, uint32 pageno, uint32 left, uint32 right, int most,
			  FPTHeir *heir, int *fill)
{
	FPTUnlink	u;
	bool		lost = p->lost;
	bool		done;

	Assert(most > 0);
	done = fpt_join_lock(p, &u, pageno, left, right) &&
		fpt_join_apply(p, &u, BufferGetPage(u.target), most, fill);
	if (done)
	{
		*heir = fpt_unlink_heir(&u);
		p->njoined++;
	}
	fpt_unlink_release(&u);
	p->lost = lost;				/* the leaf is not empty: no harm is done */
	return done;
}

/*
 * Lock what else merging a leaf involves that is locked for cleanup: its left
 * sibling, which comes before it, only if nobody has locked that (L1).
 * False, with whatever is locked in *u: it is not, or they cannot be merged.
 */
static bool
fpt_join_lock_visited(FPTPrune *p, FPTUnlink *u, Buffer buf, uint32 left)
{
	memset(u, 0, sizeof(*u));
	Assert(fpt_buffer_locked(buf, true) && left != FPT_NOPAGE);
	u->target = buf;
	u->alone = IsBufferCleanupOK(buf);
	if (!u->alone || fpt_bufpage(buf) == FPT_FIRSTPAGE)
		return false;
	u->left = fpt_getbuf_extended(p->rel, p->ix, left, 0, p->strategy);
	if (!ConditionalLockBuffer(u->left))
	{
		ReleaseBuffer(u->left);
		u->left = InvalidBuffer;
		return false;
	}
	fpt_check_buffer(p->rel, p->ix, u->left, left);
	return fpt_page_on_level(BufferGetPage(u->left), 0) &&
		fpt_header(BufferGetPage(u->left))->right == fpt_bufpage(buf) &&
		fpt_unlink_lock_rest(p, u, 0) && (u->loc.kid > 0 || u->loc.rank > 0);
}

/* See tree/join.h. */
bool
fpt_join_visited(FPTPrune *p, Buffer buf, const uint64 *dead, uint32 left,
				 int most, FPTHeir *heir, int *fill)
{
	FPTUnlink	u;
	bool		lost = p->lost;
	bool		done;

	Assert(most > 0);
	done = fpt_join_lock_visited(p, &u, buf, left);
	if (done)
	{
		Page		rest = (Page) palloc(BLCKSZ);
		FPTChanges *changed = palloc(sizeof(FPTChanges));

		memcpy(rest, BufferGetPage(buf), BLCKSZ);
		if (fpt_page_take(&p->ix->layout, rest, dead, changed) != FPT_OK)
			fpt_corrupt_page(p->rel, &p->ix->layout, BufferGetPage(buf),
							 fpt_bufpage(buf));
		done = fpt_join_apply(p, &u, rest, most, fill);
		pfree(rest);
		pfree(changed);
	}
	if (done)
	{
		*heir = fpt_unlink_heir(&u);
		p->njoined++;
	}
	u.target = InvalidBuffer;	/* the caller's */
	fpt_unlink_release(&u);
	p->lost = lost;				/* as above */
	return done;
}

/*
 * The target begins at p->join->sep now: so must its downlink.  "parent" is a
 * private copy.  Not FPT_OK: it means nothing.  May raise.
 */
static FPTResult
fpt_slide_downlink(FPTPrune *p, const FPTUnlink *u, Page parent)
{
	const FPTLayout *l = &p->ix->layout;
	FPTEntry	e = {.key = p->join->sep.key,.down = fpt_bufpage(u->target)};
	FPTEdit		edit = {0};
	FPTResult	res;

	Assert(u->loc.kid > 0 || u->loc.rank > 0);
	res = fpt_page_delete(l, parent, u->loc);
	if (res == FPT_OK)
		res = fpt_page_insert(l, parent, &e, &edit);
	if (res == FPT_FULL)
	{
		memset(&edit, 0, sizeof(edit));
		res = fpt_page_make_room(l, parent, &e, &p->join->work);
		if (res == FPT_OK)
			res = fpt_page_insert(l, parent, &e, &edit);
	}
	return res;
}

/*
 * All pages that are involved are locked: move the entries, and the fence
 * between the two, in one record (L5, W2).  The right sibling is not part of
 * it.  False: nothing was changed.  The locks stay.  Raises an error if a page
 * is damaged, or if comparing does.
 */
static bool
fpt_slide_apply(FPTPrune *p, FPTUnlink *u, int most, int fill[2])
{
	const FPTLayout *l = &p->ix->layout;
	FPTWal	   *wal = fpt_wal_start(p->rel, l);
	Page		left = fpt_wal_page(wal, u->left, false);
	Page		target = fpt_wal_page(wal, u->target, false);
	FPTResult	res;

	Assert(u->alone);			/* P7 */
	Assert(fpt_buffer_locked(u->left, true));
	Assert(fpt_buffer_locked(u->target, true));
	Assert(fpt_buffer_locked(u->parent, true));
	fpt_join_alloc(p);
	res = fpt_page_slide(l, left, target, most, p->blocks, p->join);
	if (res == FPT_CORRUPT)
		fpt_corrupt_page(p->rel, l, BufferGetPage(u->target),
						 fpt_bufpage(u->target));
	if (res == FPT_OK)
	{
		fill[0] = fpt_page_thousandths(l, left);
		fill[1] = fpt_page_thousandths(l, target);
		Assert(fpt_page_count(l, target) > 0);	/* P4 */
		res = fpt_slide_downlink(p, u, fpt_wal_page(wal, u->parent, false));
	}
	if (res != FPT_OK)
	{
		/* the separator has no room, say: they stay as they are */
		fpt_wal_abort(wal);
		return false;
	}
	fpt_wal_finish(wal);
	PredicateLockPageSplit(p->rel, fpt_bufpage(u->target),
						   fpt_bufpage(u->left));	/* K3 */
	return true;
}

/* See tree/join.h. */
bool
fpt_slide_leaf(FPTPrune *p, uint32 pageno, uint32 left, uint32 right,
			   int most, int fill[2])
{
	FPTUnlink	u;
	bool		lost = p->lost;
	bool		done;

	Assert(most > 0);
	done = fpt_join_lock(p, &u, pageno, left, right) &&
		fpt_slide_apply(p, &u, most, fill);
	p->nslid += done;
	fpt_unlink_release(&u);
	p->lost = lost;				/* as above */
	return done;
}
