/*-------------------------------------------------------------------------
 *
 * page/kernel.c
 *	  Page kernel: reading one page image.
 *
 * The in-page tree (fpB+-tree paper, section 3.1) has a root with one
 * separator for each kid, a leaf node.  Separators are images without TIDs: all
 * entries of kid i are >= separator i and <= separator i + 1.  The first
 * separator of each region (NULL nodes, value nodes) is never looked at.
 *
 * Nodes in use are never empty, except for the instant between
 * fpt_page_make_room() and the insertion that follows it.
 *
 *-------------------------------------------------------------------------
 */
#include "page/coding.h"
#include "page/encoding.h"
#include "page/kernel.h"
#include "page/number.h"
#include "page/order.h"
#include "page/port.h"
#include "page/prefix.h"
#include "page/simd.h"

const FPTGeom *
fpt_page_geom(const FPTLayout *l, void *page)
{
	return fpt_geom_of(l, page);
}

/* The same of what only pages of general keys have. */
static pg_noinline bool
fpt_general_sane(FPTPage pg)
{
	return fpt_hole_sound(pg) &&
		fpt_fence_sound(pg.p, &fpt_header(pg.p)->high) &&
		fpt_fence_sound(pg.p, &fpt_special(pg.p)->low) && fpt_prefix_sound(pg);
}

/*
 * See page/kernel.h.  What tells one page from another comes first: of a page
 * that is not ours the rest means nothing.  Tuples of fences are looked at, as
 * one without its tuple would be taken for another key.
 */
bool
fpt_page_sane(const FPTLayout *l, void *page, uint32 pageno)
{
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpecial *s = fpt_special(page);
	FPTPage		pg;

	if (h->std.pd_special != FPT_SPECIAL_OFFSET ||
		s->pageid != FPT_PAGE_ID ||
		s->version != FPT_VERSION ||
		s->pageno != pageno ||
		s->indexid != l->indexid ||
		(h->flags & ~FPT_F_ALL) != 0 ||
		(h->flags & FPT_F_META) != 0 ||
		s->tidbase > FPT_MAX_TIDBASE ||
		h->level > FPT_MAX_LEVEL ||
		h->high.tidcls >> 56 == FPT_CLS_MINF)
		return false;
	pg = fpt_page_open(l, page);
	if (unlikely(pg.g != NULL && fpt_is_number(pg.g)))
		return fpt_num_sane(l, page);
	if (pg.g == NULL || h->std.pd_lower != fpt_lower(pg.g, h->nnodes) ||
		!fpt_rowbits_sound(pg))
		return false;
	if (likely(!fpt_shares_space(pg.g)))
		return h->std.pd_upper == FPT_SPECIAL_OFFSET;
	return fpt_general_sane(pg);
}

/* --- searching ----------------------------------------------------------- */

/*
 * fpt_rel() of a key that must be made relative to the page's prefix first; not
 * 0 also if it does not begin with that, or is corrupt.  May raise.
 */
static pg_noinline int
fpt_rel_cut(FPTPage pg, const FPTKey *key, uint64 *hi, uint64 *lo)
{
	FPTKeyBuf	local;

	if (fpt_page_cut(pg, key, &local) != FPT_CUT_DONE)
		return -1;
	return fpt_rel(pg, &local.key, hi, lo);
}

/*
 * Kids [*from, *to) that may hold keys of this class.  Keys of a class that
 * the page cannot hold give an empty region at the right place.  Whatever the
 * page holds, 0 <= *from <= *to <= nkids.
 */
static inline void
fpt_region(const FPTLayout *l, FPTPageHeader *h, uint32 cls,
		   int *from, int *to)
{
	int			vfrom = l->nullsfirst ? h->nnull : 0;
	int			vto = l->nullsfirst ? h->nkids : h->nkids - h->nnull;

	switch (cls)
	{
		case FPT_CLS_VALUE:
			*from = vfrom;
			*to = vto;
			break;
		case FPT_CLS_NULLFIRST:
			*from = 0;
			*to = vfrom;
			break;
		case FPT_CLS_NULLLAST:
			*from = vto;
			*to = h->nkids;
			break;
		case FPT_CLS_MINF:
			*from = *to = 0;
			break;
		default:
			*from = *to = h->nkids;
			break;
	}
	Assert(*from >= 0 && *from <= *to && *to <= h->nkids);
}

/* What fpt_slot_cmp returns for a tuple that is not there. */
#define FPT_CMP_CORRUPT		2

/*
 * Order of a general key and a slot's, whose head is the same, without TIDs:
 * -1, 0, 1 or FPT_CMP_CORRUPT.  The key is relative to the page's prefix, which
 * so need not be looked up.  May raise.
 */
static pg_attribute_always_inline int
fpt_slot_cmp_key(FPTPage pg, const char *node, int slot, const FPTKey *key)
{
	uint16		off = fpt_slot_off(pg.g, node, slot);
	FPTKey		k;
	int			r;

	Assert(fpt_has_ties(pg.g) && fpt_is_general(pg.l));
	k.hi = 0;
	k.lo = key->lo;
	k.cls = key->cls;
	k.tid = 0;
	k.len = 0;
	k.tup = NULL;
	k.search = NULL;
	k.pre = NULL;
	k.cut = 0;
	if (off != 0)
	{
		k.tup = fpt_tuple_at(pg.p, off, &k.len);
		if (k.tup == NULL)
			return FPT_CMP_CORRUPT;
		k.pre = key->pre;
		k.cut = key->cut;
	}
	r = pg.l->cmp(pg.l->arg, key, &k);
	return r < 0 ? -1 : r > 0;
}

/* The same, TIDs included. */
static int
fpt_slot_cmp(FPTPage pg, const char *node, int slot, const FPTKey *key)
{
	int			r = fpt_slot_cmp_key(pg, node, slot, key);

	if (r != 0)
		return r;

	/* another line of the node, that mostly is not needed */
	return fpt_tid_cmp(key->tid, fpt_slot_tid(pg, node, slot));
}

/*
 * Binary searches among equal heads compare tuples, each of them a cache miss.
 * While one is compared, what either outcome will need next is on its way.
 */
static inline void
fpt_slot_prefetch(FPTPage pg, const char *node, int slot)
{
	if (slot < pg.g->cap)
		fpt_prefetch(pg.p + fpt_slot_off(pg.g, node, slot) % BLCKSZ);
}

/*
 * The lines that fpt_kid_first_below() will look at first: heads, and the
 * beginning of the payload.  Nothing happens if the root names no node there.
 */
static inline void
fpt_node_prefetch_ends(FPTPage pg, int kid)
{
	char	   *node = fpt_kid_node(pg, kid);

	if (node != NULL)
	{
		fpt_prefetch(node);
		fpt_prefetch(node + pg.g->off_off);
	}
}

/*
 * The slots in "order" are in the order of their entries.  Those of the ranks
 * a .. b - 1 have the key's head: the number of all that are below it.  -1:
 * corrupt.  Sets p's dup if one of them is the very entry, and adds to p's same
 * those that have the very key.  May raise.
 */
static int
fpt_order_search(FPTPage pg, FPTPlace *p, const uint8 *order, int a, int b,
				 const FPTKey *key)
{
	Assert(a >= 0 && a <= b && b <= pg.g->cap);
	while (a < b)
	{
		int			m = (a + b) / 2;
		int			r = 1;

		if (!fpt_is_low_entry(pg.g, p->kid, m))
		{
			if (order[m] >= pg.g->cap)
				return -1;
			if (b - a > 2)
			{
				fpt_slot_prefetch(pg, p->node, order[(a + m) / 2]);
				fpt_slot_prefetch(pg, p->node, order[(m + 1 + b) / 2]);
			}
			r = fpt_slot_cmp_key(pg, p->node, order[m], key);
			if (r == FPT_CMP_CORRUPT)
				return -1;
			if (r == 0)
			{
				p->same |= UINT64CONST(1) << order[m];
				r = fpt_tid_cmp(key->tid, fpt_slot_tid(pg, p->node, order[m]));
			}
		}
		if (r == 0)
			p->dup = true;
		if (r > 0)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

/*
 * Number of entries below the key in p's node: those in "lt", whose heads are,
 * and of those in p's eq, whose heads are the key's, the first ones.  Sets p's
 * below, same and dup.  -1: corrupt.  May raise.
 */
static int
fpt_node_rank_tied(FPTPage pg, FPTPlace *p, uint64 lt, const FPTKey *key)
{
	uint64		eq = p->eq;
	int			rank = fpt_popcount(lt);
	uint8		slots[FPT_MAX_CAP];
	int			n = 0;
	int			below;

	Assert((lt & eq) == 0 && eq != 0);
	p->same = 0;
	if (pg.g->perm)
		return fpt_order_search(pg, p, fpt_node_perm(pg.g, p->node), rank,
								rank + fpt_popcount(eq), key);

	/* those of one head are in the order of their slots */
	for (; eq != 0; eq &= eq - 1)
		slots[n++] = (uint8) fpt_ctz(eq);
	below = fpt_order_search(pg, p, slots, 0, n, key);
	if (below < 0)
		return -1;
	for (int i = 0; i < below; i++)
		lt |= UINT64CONST(1) << slots[i];
	p->below = lt;
	return rank + below;
}

/*
 * Of a node's slots in use those whose keys are below (hi, lo), relative to the
 * page's base, and those that equal it.  What is below the base of the kid's
 * node, or beyond what its keys can tell, is not compared.  All slots are, as
 * free ones cost nothing; of wide keys the lower halves, only where the upper
 * ones are equal.
 */
static pg_attribute_always_inline uint64
fpt_node_compare(FPTPage pg, const char *node, int kid, uint64 used,
				 uint64 hi, uint64 lo, uint64 *eq)
{
	const FPTGeom *g = pg.g;
	uint64		word = fpt_word(g, hi, lo);
	uint64		lt;
	uint64		same;

	if (fpt_is_near(g))
	{
		uint64		base = fpt_kid_base(pg, kid);
		int			beyond = fpt_node_tells(g, base, word);

		if (unlikely(beyond != 0))
		{
			*eq = 0;
			return beyond > 0 ? used : 0;
		}
		word -= base;
	}
	lt = fpt_simd->cmp[g->sw - 1] (node + g->key_off, g->cap, word, eq) & used;
	*eq &= used;
	if (unlikely(fpt_is_wide(g)) && *eq != 0)
	{
		for (same = *eq; same != 0; same &= same - 1)
		{
			uint64		low = fpt_slot_low(g, node, fpt_ctz(same));

			if (low != lo)
				*eq &= ~(same & -same);
			if (low < lo)
				lt |= same & -same;
		}
	}
	Assert((lt & *eq) == 0 && ((lt | *eq) & ~used) == 0);
	return lt;
}

/*
 * Of these slots of a node whose bytes stand for TIDs, those that have near
 * ones, which are in the order of their bytes: they are compared with this TID
 * as keys are, all at once.  Returns those that are below it; *same: those that
 * have it, *rest: the others of the slots, or all if the TID is no row's.
 */
static uint64
fpt_slots_near_below(FPTPage pg, const char *node, uint64 slots, uint64 tid,
					 uint64 *same, uint64 *rest)
{
	const FPTGeom *g = pg.g;
	const FPTPageSpecial *s = fpt_special(pg.p);
	uint64		row = fpt_row_of(s->tidbase, s->rowbits & 0xF, tid);
	uint64		from = fpt_node_row(g, node);
	uint64		near;
	uint64		below;

	*same = 0;
	*rest = slots;
	if (g->pw != 1 || row == FPT_NO_ROW)
		return 0;
	near = fpt_simd->cmp[0] (node + g->tid_off, g->cap, fpt_near_rows(g), same);
	near = (near | *same) & slots;
	*same = 0;
	*rest = slots & ~near;
	if (row < from)
		return 0;
	if (row - from >= fpt_near_rows(g))
		return near;
	below = near & fpt_simd->cmp[0] (node + g->tid_off, g->cap,
									 row - from + 1, same);
	*same &= near;
	return below;
}

/*
 * Of these slots of a node in use those whose TIDs are below this one; *same:
 * those that have it.  Where whole TIDs lie one behind the other they are
 * compared as keys are, all at once.
 */
static inline uint64
fpt_slots_tid_below(FPTPage pg, const char *node, uint64 slots, uint64 tid,
					uint64 *same)
{
	const FPTGeom *g = pg.g;
	uint64		stored = tid;
	uint64		below = 0;

	Assert((slots & ~g->capmask) == 0);
	*same = 0;
	if (unlikely(g->pw != g->tw || fpt_has_far(g)))
	{
		if (fpt_has_far(g))
			below = fpt_slots_near_below(pg, node, slots, tid, same, &slots);
		for (; slots != 0; slots &= slots - 1)
		{
			uint64		t = fpt_slot_tid(pg, node, fpt_ctz(slots));

			if (t < tid)
				below |= slots & -slots;
			else if (t == tid)
				*same |= slots & -slots;
		}
		return below;
	}
	if (g->tw < 6)
	{
		const FPTPageSpecial *s = fpt_special(pg.p);
		int			rowbits = s->rowbits & 0xF;
		uint64		block = tid >> 16;
		uint64		off = tid & 0xFFFF;

		/* as it would be stored, or the least that is above all there are */
		if (block < s->tidbase)
			return 0;
		block -= s->tidbase;
		/* what keys lend is the same in all slots of one number */
		block -= fpt_lent_part(s, fpt_lent_bits(pg.l, pg.p), tid) <<
			fpt_lent_blockbits(s);
		stored = off >> rowbits != 0 ? (block + 1) << rowbits :
			block << rowbits | off;
	}
	if (stored >> (8 * g->tw) != 0)
		return slots;
	below = fpt_simd->cmp[g->tw - 1] (node + g->tid_off, g->cap, stored, same);
	*same &= slots;
	return below & slots;
}

/*
 * Number of entries below the key in the node of p, whose hi and lo are the
 * key relative to the base; sets p's used, below, eq and dup.  -1 if the page
 * is corrupt.  "ties", here and below: fpt_has_ties(), known to the compiler,
 * so that pages of numbers are searched without asking.  May raise if "ties".
 */
static pg_attribute_always_inline int
fpt_node_rank(FPTPage pg, const FPTKey *key, uint64 tid, FPTPlace *p,
			  const bool ties)
{
	uint64		used = fpt_node_used(pg.g, p->node);
	uint64		eq;
	uint64		lt;

	Assert(ties == fpt_has_ties(pg.g));
	lt = fpt_node_compare(pg, p->node, p->kid, used, p->hi, p->lo, &eq);
	p->dup = false;
	p->used = used;
	p->eq = eq;
	p->below = 0;
	if (unlikely(eq != 0) && (tid != 0 || ties))
	{
		if (ties)
			return fpt_node_rank_tied(pg, p, lt, key);
		lt |= fpt_slots_tid_below(pg, p->node, eq, tid, &eq);
		p->dup = eq != 0;
	}
	if (!pg.g->perm)
		p->below = lt;
	return fpt_popcount(lt);
}

/*
 * Is slot 0, without a permutation, in use and its entry below?  False may also
 * mean that it would take a comparison of tuples to tell.
 */
static inline bool
fpt_slot0_below(FPTPage pg, const char *node, uint64 base, uint64 hi,
				uint64 lo, uint64 tid)
{
	uint64		khi,
				klo;

	if (fpt_load_uint(node + pg.g->tid_off, pg.g->tw == 6 ? 2 : 1) == 0)
		return false;
	fpt_slot_rel(pg.g, node, base, 0, &khi, &klo);
	if (khi != hi)
		return khi < hi;
	if (klo != lo)
		return klo < lo;
	return !fpt_has_ties(pg.g) && fpt_slot_tid(pg, node, 0) < tid;
}

/*
 * Is the kid's first entry below the key?  -1: corrupt.  An empty node is not
 * below anything.  May raise where keys are tied.
 */
static int
fpt_kid_first_below(FPTPage pg, int kid, uint64 hi, uint64 lo,
					const FPTKey *key, uint64 tid)
{
	char	   *node = fpt_kid_node(pg, kid);
	uint64		base;
	uint64		used;
	int			slot;
	uint64		khi,
				klo;

	if (node == NULL)
		return -1;
	base = fpt_kid_base(pg, kid);
	if (!pg.g->perm && fpt_slot0_below(pg, node, base, hi, lo, tid))
		return 1;
	used = fpt_node_used(pg.g, node);
	if (used == 0)
		return 0;
	if (!pg.g->perm)
	{
		/* if any entry is below, the first one is */
		uint64		eq;

		if (fpt_node_compare(pg, node, kid, used, hi, lo, &eq) != 0)
			return 1;
		if (fpt_has_ties(pg.g) && eq != 0)
		{
			int			r = fpt_slot_cmp(pg, node, fpt_ctz(eq), key);

			return r == FPT_CMP_CORRUPT ? -1 : r > 0;
		}
		return eq != 0 && fpt_slots_tid_below(pg, node, eq, tid, &eq) != 0;
	}
	slot = fpt_node_perm(pg.g, node)[0];
	if (slot >= pg.g->cap)
		return -1;
	fpt_slot_rel(pg.g, node, base, slot, &khi, &klo);
	if (khi != hi)
		return khi < hi;
	if (klo != lo)
		return klo < lo;
	if (fpt_has_ties(pg.g))
	{
		int			r = fpt_slot_cmp(pg, node, slot, key);

		return r == FPT_CMP_CORRUPT ? -1 : r > 0;
	}
	return fpt_slot_tid(pg, node, slot) < tid;
}

/*
 * See page/kernel.h.  Mostly the kid's separator tells, and its nodes need not
 * be read.
 */
int
fpt_kid_has(FPTPage pg, int kid, const FPTKey *key, const FPTPlace *p)
{
	char	   *node = fpt_kid_node(pg, kid);
	uint64		eq;
	uint64		hi,
				lo;

	Assert(p->where == 0 && kid > p->kid && kid < p->to);
	if (node == NULL)
		return -1;
	if (key->cls == FPT_CLS_VALUE)
	{
		/* a separator is not above what its kid begins with */
		fpt_sep_get(pg, kid, &hi, &lo);
		if (hi > p->hi || (hi == p->hi && lo > p->lo))
			return 0;
	}
	if (fpt_has_ties(pg.g) || pg.g->perm)
	{
		FPTEntry	first;

		if (fpt_page_get(pg.l, pg.p, (FPTLoc) {.kid = kid}, &first) != FPT_OK)
			return -1;
		return fpt_key_cmp(pg.l, &first.key, key) == 0;
	}
	if (!p->told)
		return 0;
	fpt_node_compare(pg, node, kid, fpt_node_used(pg.g, node), p->hi, p->lo,
					 &eq);
	if (eq != 0)
		fpt_slots_tid_below(pg, node, eq, key->tid, &eq);
	return eq != 0;
}

/*
 * Of the separators of kids whose upper bytes are the same, those below and
 * equal by the lower ones.  Separators ascend, but nobody trusts in that.
 */
static pg_noinline void
fpt_root_count_low(FPTPage pg, int kid, uint64 same, uint64 lo, int *nlt,
				   int *neq)
{
	for (; same != 0; same &= same - 1)
	{
		uint64		shi,
					slo;

		fpt_sep_get(pg, kid + fpt_ctz(same), &shi, &slo);
		*nlt += slo < lo;
		*neq += slo == lo;
	}
}

/*
 * Separators of the region's kids from..to - 1 below and equal to (hi, lo).
 * Comparisons may read a few bytes past it, never past the page.
 */
static inline void
fpt_root_count(FPTPage pg, int from, int to, uint64 hi, uint64 lo, int *nlt,
			   int *neq)
{
	const FPTGeom *g = pg.g;
	char	   *seps = pg.p + FPT_LINE;
	int			i;

	Assert(from >= 0 && from <= to && to <= g->maxnodes);
	*nlt = *neq = 0;
	for (i = from; i < to; i += 64)
	{
		uint64		eq;
		uint64		lt;

		lt = fpt_simd->cmp[g->rw - 1] (seps + i * g->rw, Min(64, to - i),
									   fpt_word(g, hi, lo), &eq);
		*nlt += fpt_popcount(lt);
		if (unlikely(fpt_is_wide(g)))
			fpt_root_count_low(pg, i, eq, lo, nlt, neq);
		else
			*neq += fpt_popcount(eq);
	}
}

/*
 * Which of the kids a + 1 .. b to look at: the last one first, as new rows of a
 * key mostly have the highest TIDs, then the one in the middle.
 */
static inline int
fpt_probe_kid(FPTPage pg, bool *probed, int a, int b)
{
	int			m = *probed ? a + (b - a + 1) / 2 : b;

	*probed = true;
	if (fpt_has_ties(pg.g) && b - a > 2)
	{
		fpt_node_prefetch_ends(pg, a + (m - a) / 2);
		fpt_node_prefetch_ends(pg, m + (b - m + 1) / 2);
	}
	return m;
}

/*
 * The kid in which the key (p's hi and lo) belongs: the last one of p's region
 * whose first entry is below it, or the region's first one.  -1: corrupt.  May
 * raise if "ties".
 */
static pg_attribute_always_inline int
fpt_region_kid(FPTPage pg, const FPTKey *key, uint64 tid, const FPTPlace *p,
			   const bool ties)
{
	int			nlt,
				neq;
	int			kid;

	Assert(p->from < p->to && p->to <= fpt_header(pg.p)->nkids);
	fpt_root_count(pg, p->from + 1, p->to, p->hi, p->lo, &nlt, &neq);
	Assert(nlt >= 0 && neq >= 0 && nlt + neq < p->to - p->from);
	kid = p->from + nlt;
	if (unlikely(neq > 0) && (tid != 0 || ties))
	{
		int			a = kid;
		int			b = kid + neq;

		/* where all heads are the same they are no keys */
		bool		probed = ties && neq == p->to - p->from - 1;

		/*
		 * Kids a + 1 .. b start with this very key (or a later one, if entries
		 * were deleted): the last one whose first entry is below.
		 */
		Assert(b < p->to);
		while (a < b)
		{
			int			m = fpt_probe_kid(pg, &probed, a, b);
			int			below = fpt_kid_first_below(pg, m, p->hi, p->lo, key,
													tid);

			if (below < 0)
				return -1;
			if (below)
				a = m;
			else
				b = m - 1;
		}
		kid = a;
	}
	return kid;
}

/*
 * NULL nodes have no separators to go by: TIDs or tuples tell them apart.  The
 * kid, which is one of p's region, or -1: corrupt.  May raise.
 */
static int
fpt_region_kid_null(FPTPage pg, const FPTKey *key, uint64 tid,
					const FPTPlace *p)
{
	int			a = p->from;
	int			b = p->to - 1;
	bool		probed = false;

	Assert(key->cls != FPT_CLS_VALUE && p->from < p->to);
	while (a < b)
	{
		int			m = fpt_probe_kid(pg, &probed, a, b);
		int			below = fpt_kid_first_below(pg, m, 0, p->lo, key, tid);

		if (below < 0)
			return -1;
		if (below)
			a = m;
		else
			b = m - 1;
	}
	return a;
}

/*
 * The node of p's kid, which exists: fills p's node.  Asks for its lines, and
 * for that of its hints, unless they are not wanted.  False: the root names a
 * node that there is not.
 */
static pg_attribute_always_inline bool
fpt_place_open(FPTPage pg, FPTPlace *p, const bool hints)
{
	FPTKid		k;

	if (unlikely(!fpt_kid_open(pg, p->kid, &k)))
		return false;
	p->node = k.node;
	fpt_node_prefetch(pg.g, p->node);
	if (hints && fpt_is_leaf(pg.g))
		fpt_prefetch(pg.p + fpt_hint_off(pg) + k.ordinal * pg.g->cap / 8);
	return true;
}

/*
 * p's kid is known, or -1: look for the key in its node.  Fills p's node, rank,
 * count, eq and dup.
 */
static pg_attribute_always_inline FPTResult
fpt_place_node(FPTPage pg, const FPTKey *key, uint64 tid, FPTPlace *p,
			   const bool ties, const bool hints)
{
	if (p->kid < 0 || !fpt_place_open(pg, p, hints))
		return FPT_CORRUPT;
	p->rank = fpt_node_rank(pg, key, tid, p, ties);
	if (p->rank < 0)
		return FPT_CORRUPT;
	p->count = fpt_popcount(p->used);
	return FPT_OK;
}

static FPTResult fpt_find_place_foreign(FPTPage pg, const FPTKey *key,
										FPTPlace *p);

/*
 * Where the key is or belongs.  Fills all of *p; p's node only if the key
 * belongs in a node.  "general" and "ties" are what the layout and the geometry
 * say, known to the compiler, so that pages of numbers are searched without
 * asking; "hints": they will be looked at.  FPT_CORRUPT or FPT_OK; may raise if
 * "general".
 */
static pg_attribute_always_inline FPTResult
fpt_find_place_of(FPTPage pg, const FPTKey *key, uint64 tid, FPTPlace *p,
				  const bool general, const bool ties, const bool hints)
{
	FPTPageHeader *h = fpt_header(pg.p);

	Assert(general == fpt_is_general(pg.l) && ties == fpt_has_ties(pg.g));
	fpt_region(pg.l, h, key->cls, &p->from, &p->to);
	p->dup = false;
	p->told = true;
	p->rank = 0;
	p->where = 0;
	if (key->cls != FPT_CLS_VALUE)
	{
		p->hi = p->lo = 0;

		/* a head that is not zero: after all NULLs, see fpt_key_before() */
		if (p->from >= p->to || (general && key->lo != 0))
		{
			p->kid = p->to;
			return FPT_OK;
		}
	}
	if (fpt_place_tell(pg, key, p, &tid, general && !ties) != FPT_OK)
		return FPT_CORRUPT;
	if (p->where < 0)
	{
		p->kid = p->from;
		return FPT_OK;
	}
	if (p->where > 0 || p->from >= p->to)
	{
		if (unlikely(p->where == FPT_FOREIGN && p->from < p->to))
			return fpt_find_place_foreign(pg, key, p);
		p->kid = p->to;
		return FPT_OK;
	}
	Assert(p->from < p->to);
	if (key->cls == FPT_CLS_VALUE)
		p->kid = fpt_region_kid(pg, key, tid, p, ties);
	else
		p->kid = fpt_region_kid_null(pg, key, tid, p);
	return fpt_place_node(pg, key, tid, p, ties, hints);
}

/*
 * The same of a key that is foreign to the page: the place of the first entry
 * above it, as a place without a node, where nothing can be put and nothing is
 * found to be equal.
 */
static pg_noinline FPTResult
fpt_find_place_foreign(FPTPage pg, const FPTKey *key, FPTPlace *p)
{
	FPTKey		above = {.hi = key->hi, .lo = key->lo, .cls = FPT_CLS_VALUE};
	uint32		fixed = fpt_special(pg.p)->bits;

	if (fpt_key_squeeze_up(fixed, &above.hi, &above.lo))
	{
		fpt_key_expand(fixed, &above.hi, &above.lo);
		Assert(fpt_image_cmp(key, &above) < 0);
		if (fpt_find_place_of(pg, &above, 0, p, false, false, true) != FPT_OK)
			return FPT_CORRUPT;
		Assert(p->where != FPT_FOREIGN);
		if (fpt_place_has_node(p) && p->rank >= p->count)
		{
			p->kid++;
			p->rank = 0;
		}
	}
	else
		p->kid = p->to;
	p->where = FPT_FOREIGN;
	p->dup = false;
	return FPT_OK;
}

/*
 * The same in a page of general keys where what is stored of two different ones
 * is not the same.  May raise.
 */
static pg_noinline FPTResult
fpt_find_place_untied(FPTPage pg, const FPTKey *key, uint64 tid, FPTPlace *p)
{
	return fpt_find_place_of(pg, key, tid, p, true, false, true);
}

/*
 * The same in a page of general keys.  The key may be relative to any prefix,
 * and is relative to the page's afterwards, in *buf, if the place has a node.
 * May raise.
 */
static pg_attribute_always_inline FPTResult
fpt_find_place_cut(FPTPage pg, const FPTKey **key, uint64 tid, FPTPlace *p,
				   FPTKeyBuf *buf)
{
	int			cut = FPT_CUT_DONE;

	if (fpt_must_cut(pg, *key))
	{
		cut = fpt_page_cut(pg, *key, buf);
		*key = &buf->key;
	}
	switch (cut)
	{
		case FPT_CUT_DONE:
		case FPT_CUT_SEARCH:
			return fpt_has_ties(pg.g) ?
				fpt_find_place_of(pg, *key, tid, p, true, true, true) :
				fpt_find_place_untied(pg, *key, tid, p);
		case FPT_CUT_CORRUPT:
			return FPT_CORRUPT;
	}

	/* before or after all values, but after the low fence's entry */
	fpt_region(pg.l, fpt_header(pg.p), FPT_CLS_VALUE, &p->from, &p->to);
	p->dup = false;
	p->told = true;
	p->rank = 0;
	p->where = cut;
	p->kid = cut < 0 ? p->from : p->to;
	if (p->kid < p->to && fpt_is_low_entry(pg.g, p->kid, 0))
	{
		p->node = fpt_kid_node(pg, 0);
		if (p->node == NULL)
			return FPT_CORRUPT;
		if (fpt_popcount(fpt_node_used(pg.g, p->node)) > 1)
			p->rank = 1;
		else
			p->kid = 1;
	}
	return FPT_OK;
}

static pg_noinline FPTResult
fpt_find_place_general(FPTPage pg, const FPTKey *key, uint64 tid, FPTPlace *p)
{
	FPTKeyBuf	buf;

	return fpt_find_place_cut(pg, &key, tid, p, &buf);
}

/*
 * The same in any page.  "tid" is what the key's TID counts as.  Inline, so
 * that searches of images, the most frequent, call nothing.
 */
static pg_attribute_always_inline FPTResult
fpt_find_place(FPTPage pg, const FPTKey *key, uint64 tid, FPTPlace *p)
{
	if (unlikely(fpt_is_general(pg.l)))
		return fpt_find_place_general(pg, key, tid, p);
	return fpt_find_place_of(pg, key, tid, p, false, false, true);
}

/* See page/kernel.h.  Hints are a line that an insertion does not look at. */
FPTResult
fpt_locate(FPTPage pg, const FPTKey *key, FPTPlace *p)
{
	if (unlikely(fpt_is_general(pg.l)))
		return fpt_find_place_general(pg, key, key->tid, p);
	return fpt_find_place_of(pg, key, key->tid, p, false, false, false);
}

/*
 * The slots of a node, in use or not, of keys that are stored as p's hi and lo,
 * or as that and up to "mask" more, which is what keys may lend.
 */
static inline uint64
fpt_node_same(FPTPage pg, const char *node, const FPTPlace *p, uint64 mask)
{
	uint64		all = pg.g->capmask;
	uint64		same;
	uint64		eq;
	uint64		below = fpt_node_compare(pg, node, p->kid, all, p->hi, p->lo,
										 &eq);

	if (likely(mask == 0))
		return eq;
	same = fpt_node_compare(pg, node, p->kid, all, p->hi, p->lo | mask, &eq);
	return (same | eq) & ~below;
}

/*
 * Is the separator of p's kid, which is not the first one of its region, one
 * that the image's entries may be stored as?  See fpt_node_same().
 */
static inline bool
fpt_sep_same(FPTPage pg, const FPTPlace *p, int kid, uint64 mask)
{
	uint64		hi,
				lo;

	fpt_sep_get(pg, kid, &hi, &lo);
	return hi == p->hi && (lo & ~mask) == p->lo;
}

/*
 * The separator of p's kid is one of these: are all of the image's entries in
 * that kid?  The one before may end with some.
 */
static pg_noinline bool
fpt_image_begins(FPTPage pg, FPTPlace *p, uint64 mask)
{
	FPTKid		k;
	bool		none;

	Assert(p->kid > p->from && p->kid < p->to);
	if (p->kid - 1 > p->from && fpt_sep_same(pg, p, p->kid - 1, mask))
		return false;
	p->kid--;
	none = fpt_kid_open(pg, p->kid, &k) &&
		fpt_slots_used(pg.g, k.node, fpt_node_same(pg, k.node, p, mask)) == 0;
	p->kid++;
	return none;
}

/*
 * See page/kernel.h.  Where no separator is one that the image's entries may be
 * stored as, all of these are in one kid; where one is, mostly, too.  No TID
 * has to be compared.  Slots are compared before it is known which are in use:
 * then only equal ones are asked about.
 */
bool
fpt_locate_image(FPTPage pg, const FPTKey *key, FPTPlace *p)
{
	const FPTGeom *g = pg.g;
	uint64		mask = fpt_lent_mask(fpt_lent_bits(pg.l, pg.p));
	int			nlt,
				neq;

	Assert(!g->perm && !fpt_is_general(pg.l));
	fpt_region(pg.l, fpt_header(pg.p), key->cls, &p->from, &p->to);
	if (key->cls != FPT_CLS_VALUE || p->from >= p->to ||
		fpt_rel(pg, key, &p->hi, &p->lo) != 0)
		return false;
	p->lo &= ~mask;
	fpt_root_count(pg, p->from + 1, p->to, p->hi, p->lo | mask, &nlt, &neq);
	p->kid = p->from + nlt + neq;
	if (unlikely(neq > 0 || mask != 0) && p->kid > p->from &&
		fpt_sep_same(pg, p, p->kid, mask) && !fpt_image_begins(pg, p, mask))
		return false;
	if (!fpt_place_open(pg, p, true))
		return false;
	p->eq = fpt_slots_used(g, p->node, fpt_node_same(pg, p->node, p, mask));
	return true;
}

/*
 * A place as others have it: one behind a kid's last entry is the first one of
 * the next kid, which is not empty; of the last kid, the page's end.
 */
static inline void
fpt_place_loc(const FPTPlace *p, FPTLoc *loc)
{
	loc->kid = p->kid;
	loc->rank = p->rank;
	loc->below = 0;
	if (!fpt_place_has_node(p))
		return;
	if (p->rank >= p->count)
	{
		loc->kid++;
		loc->rank = 0;
		return;
	}
	loc->below = p->below;
}

/* See page/kernel.h. */
FPTResult
fpt_page_lower_bound(const FPTLayout *l, void *page, const FPTKey *key,
					 FPTLoc *loc)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTPlace	p;
	FPTNumbers	n;

	if (fpt_num_page(pg, &n))
		return fpt_num_lower_bound(&n, key, loc);
	if (pg.g == NULL || fpt_find_place(pg, key, key->tid, &p) != FPT_OK)
		return FPT_CORRUPT;
	fpt_place_loc(&p, loc);
	return FPT_OK;
}

/*
 * Number of entries of p's node below "end", which is p's hi and lo relative
 * to the base and not below the entry at p's rank.  "same": its head is that of
 * the key that p is the place of.  It is above what p's same has.  Most ranges
 * are short: look near their beginning first.  -1: corrupt.  May raise.
 */
static int
fpt_node_range_end(FPTPage pg, FPTPlace *p, const FPTKey *end, bool same)
{
	Assert(p->rank >= 0 && p->rank <= p->count);
	if (same && fpt_slots_tell(pg.g))
	{
		uint64		rest = p->eq & ~p->below;

		for (int rank = p->rank; rank < p->rank + 2; rank++)
		{
			int			r;

			if (rest == 0)
				return rank;
			if ((p->same & rest & -rest) == 0)
			{
				r = fpt_slot_cmp(pg, p->node, fpt_ctz(rest), end);
				if (r == FPT_CMP_CORRUPT)
					return -1;
				if (r <= 0)
					return rank;
			}
			p->below |= rest & -rest;
			rest &= rest - 1;
		}
	}
	return fpt_node_rank(pg, end, end->tid, p, fpt_has_ties(pg.g));
}

/*
 * Does the range that ends at hi, which is relative to the page's prefix, end
 * in p's node, which there is, or right after it?  Most ranges of a point
 * lookup do, which saves the second descent.  p's hi and lo become those of
 * that end.  True: *last is the end.  False: it is to be searched for, if the
 * page is not corrupt.  May raise.
 */
static pg_attribute_always_inline bool
fpt_range_ends_at(FPTPage pg, FPTPlace *p, const FPTKey *hi, FPTLoc *last)
{
	uint64		lo = p->lo;
	uint64		shi,
				slo;
	FPTKey		end;

	if (!fpt_end_tell(pg, p, &hi, &end))
		return false;
	last->kid = p->kid;
	last->rank = fpt_node_range_end(pg, p, hi, p->lo == lo);
	last->below = p->below;
	if (last->rank < 0)
		return false;
	if (last->rank < p->count)
		return true;
	last->kid++;
	last->rank = 0;
	last->below = 0;
	if (last->kid == p->to)
		return true;
	fpt_sep_get(pg, last->kid, &shi, &slo);
	return p->hi < shi || (p->hi == shi && p->lo < slo);
}

/* The same where hi must be made relative to the page's prefix. */
static pg_noinline bool
fpt_range_ends_cut(FPTPage pg, FPTPlace *p, const FPTKey *hi, FPTLoc *last)
{
	FPTKeyBuf	local;

	return fpt_page_cut(pg, hi, &local) == FPT_CUT_DONE &&
		fpt_range_ends_at(pg, p, &local.key, last);
}

/* The same of any key, if the range begins in a node at all. */
static inline bool
fpt_range_ends_here(FPTPage pg, FPTPlace *p, const FPTKey *hi, FPTLoc *last)
{
	if (!fpt_place_has_node(p))
		return false;
	if (fpt_must_cut(pg, hi))
		return fpt_range_ends_cut(pg, p, hi, last);
	return fpt_range_ends_at(pg, p, hi, last);
}

/*
 * Do the ends enclose all entries of one general key?  They do where both are
 * of the very same search key (FPTRange).
 */
static inline bool
fpt_one_key(const FPTKey *from, const FPTKey *to)
{
	return from->search != NULL && from->search == to->search &&
		from->cls == FPT_CLS_VALUE && from->lo == to->lo &&
		from->tid == 0 && to->tid == FPT_MAX_TID;
}

/*
 * fpt_page_range() of such ends.  The key is made relative to the page's prefix
 * once, and entries that the search for the begin has found to have it are not
 * compared with the end.
 */
static pg_noinline FPTResult
fpt_page_range_key(FPTPage pg, const FPTKey *from, const FPTKey *to,
				   FPTLoc *first, FPTLoc *last)
{
	FPTKeyBuf	buf;
	const FPTKey *key = from;
	FPTKey		end;
	FPTPlace	p;

	if (fpt_find_place_cut(pg, &key, from->tid, &p, &buf) != FPT_OK)
		return FPT_CORRUPT;
	fpt_place_loc(&p, first);
	if (fpt_place_has_node(&p))
	{
		end = *key;
		end.tid = to->tid + 1;
		if (fpt_range_ends_at(pg, &p, &end, last))
			return FPT_OK;
	}
	end = *to;
	end.tid++;
	return fpt_page_lower_bound(pg.l, pg.p, &end, last);
}

/*
 * See page/kernel.h.  The end is what is not below "to" with the next TID,
 * which FPT_MAX_TID has as well: keys hold 64 bits of it.
 */
FPTResult
fpt_page_range(const FPTLayout *l, void *page, const FPTKey *from,
			   const FPTKey *to, FPTLoc *first, FPTLoc *last)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTKey		end;
	FPTPlace	p;
	FPTNumbers	n;

	if (fpt_num_page(pg, &n))
		return fpt_num_range(&n, from, to, first, last);
	if (pg.g != NULL && unlikely(fpt_is_general(l)) && fpt_one_key(from, to))
		return fpt_page_range_key(pg, from, to, first, last);
	if (pg.g == NULL || fpt_find_place(pg, from, from->tid, &p) != FPT_OK)
		return FPT_CORRUPT;
	fpt_place_loc(&p, first);
	if (fpt_place_has_node(&p) && fpt_whole_image(l, from, to) &&
		!fpt_is_lent(l, page))
	{
		/* The search has found the equal ones, too. */
		last->kid = p.kid;
		last->below = p.below | p.eq;
		last->rank = p.rank + fpt_popcount(p.eq);
		if (last->rank < p.count)
			return FPT_OK;
	}
	end = *to;
	end.tid++;
	p.same = 0;
	if (from->cls == FPT_CLS_VALUE && to->cls == FPT_CLS_VALUE &&
		fpt_range_ends_here(pg, &p, &end, last))
		return FPT_OK;
	return fpt_page_lower_bound(l, page, &end, last);
}

int
fpt_node_count(const FPTLayout *l, void *page, int kid)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	numbers;
	char	   *node;

	if (fpt_num_page(pg, &numbers))
		return fpt_num_node_count(&numbers, kid);
	if (pg.g == NULL || kid < 0 || kid >= fpt_header(pg.p)->nkids)
		return -1;
	node = fpt_kid_node(pg, kid);
	return node == NULL ? -1 : fpt_popcount(fpt_node_used(pg.g, node));
}

/*
 * See page/kernel.h.  Nodes in use are not empty, so that one step from node to
 * node will do; a damaged page's empty one ends the way back.
 */
bool
fpt_page_step(const FPTLayout *l, void *page, FPTLoc *loc, int dir)
{
	Assert(dir == 1 || dir == -1);
	loc->below = 0;
	if (dir > 0)
	{
		int			n = fpt_node_count(l, page, loc->kid);

		if (n < 0)
			return false;
		if (loc->rank + 1 < n)
			loc->rank++;
		else
		{
			loc->kid++;
			loc->rank = 0;
		}
		return loc->kid < fpt_header(page)->nkids;
	}
	if (loc->rank > 0)
		loc->rank--;
	else
	{
		int			n = fpt_node_count(l, page, loc->kid - 1);

		if (n <= 0)
			return false;
		loc->kid--;
		loc->rank = n - 1;
	}
	return true;
}

/*
 * See page/kernel.h.  Kid and rank are checked, as a damaged page may have
 * fewer entries than a search in it has counted; "below" is of the page as it
 * is (L12).
 */
FPTResult
fpt_page_get(const FPTLayout *l, void *page, FPTLoc loc, FPTEntry *out)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	n;
	char	   *node;
	int			slot;

	if (fpt_num_page(pg, &n))
		return fpt_num_get(&n, loc, out);
	if (pg.g == NULL || loc.kid < 0 || loc.kid >= fpt_header(pg.p)->nkids ||
		loc.rank < 0)
		return FPT_CORRUPT;
	node = fpt_kid_node(pg, loc.kid);
	slot = node == NULL ? -1 : fpt_node_slot(pg, node, &loc);
	if (slot < 0)
		return FPT_CORRUPT;
	if (!fpt_slot_entry(pg, node, fpt_kid_base(pg, loc.kid), slot,
						fpt_kid_cls(pg, loc.kid), out))
		return FPT_CORRUPT;
	fpt_low_entry(pg, loc.kid, loc.rank, &out->key);
	return FPT_OK;
}

/*
 * See page/kernel.h.  Looks for the first separator above the key, which the
 * key with the next TID is a bound of, and takes the entry before it: a
 * separator that equals the key is its child's.  The last node before may have
 * to be read.
 */
FPTResult
fpt_page_find_child(const FPTLayout *l, void *page, const FPTKey *key,
					uint32 *child, FPTLoc *loc)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTKey		next;
	uint64		tid = key->tid + 1;
	FPTPlace	p;
	int			slot;

	if (pg.g == NULL || fpt_is_leaf(pg.g) || fpt_header(pg.p)->nkids == 0)
		return FPT_CORRUPT;

	/* The entry before the first one above key, or the very first. */
	if (fpt_is_general(pg.l))
	{
		next = *key;
		next.tid++;
		key = &next;
		tid = next.tid;
	}
	if (fpt_find_place(pg, key, tid, &p) != FPT_OK)
		return FPT_CORRUPT;
	if (p.rank > 0)
		p.rank--;
	else if (p.kid > 0)
	{
		p.kid--;
		p.node = fpt_kid_node(pg, p.kid);
		if (p.node == NULL)
			return FPT_CORRUPT;
		p.rank = fpt_popcount(fpt_node_used(pg.g, p.node)) - 1;
	}
	else
		p.node = fpt_kid_node(pg, 0);
	if (p.node == NULL || p.rank < 0 ||
		p.rank >= fpt_popcount(fpt_node_used(pg.g, p.node)))
		return FPT_CORRUPT;
	slot = fpt_node_perm(pg.g, p.node)[p.rank];
	if (slot >= pg.g->cap)
		return FPT_CORRUPT;
	*child = fpt_slot_down(pg.g, p.node, slot);
	loc->kid = p.kid;
	loc->rank = p.rank;
	loc->below = 0;
	return FPT_OK;
}

/*
 * See page/kernel.h.  Only one 64-bit word of images is used, the upper one
 * where it tells the separators apart.  An approximation will do: it places a
 * guess.
 */
uint32
fpt_page_fraction(const FPTLayout *l, void *page, FPTLoc loc,
				  const FPTKey *key)
{
	FPTPage		pg = fpt_page_open(l, page);
	char	   *node = pg.g ? fpt_kid_node(pg, loc.kid) : NULL;
	uint8	   *perm;
	uint64		hi[3];
	uint64		lo[3];
	uint64	   *v;
	int			kid = loc.kid + 1;

	if (node == NULL || fpt_is_leaf(pg.g) || key->cls != FPT_CLS_VALUE)
		return 0;
	if ((fpt_must_cut(pg, key) ? fpt_rel_cut(pg, key, &hi[1], &lo[1]) :
		 fpt_rel(pg, key, &hi[1], &lo[1])) != 0)
		return 0;
	perm = fpt_node_perm(pg.g, node) + loc.rank;
	if (perm[0] >= pg.g->cap)
		return 0;
	fpt_slot_rel(pg.g, node, 0, perm[0], &hi[0], &lo[0]);
	if (loc.rank + 1 < fpt_popcount(fpt_node_used(pg.g, node)))
	{
		if (perm[1] >= pg.g->cap)
			return 0;
		fpt_slot_rel(pg.g, node, 0, perm[1], &hi[2], &lo[2]);
	}
	else if (kid < fpt_header(pg.p)->nkids && kid < pg.g->maxnodes)
		fpt_sep_get(pg, kid, &hi[2], &lo[2]);
	else
		return 0;

	/* the words that differ, upper ones first */
	v = hi[0] < hi[2] ? hi : lo;
	if (v[1] < v[0] || v[1] >= v[2])
		return 0;

	/* halves, which are never negative as signed numbers */
	return (uint32) (65535.0 * (double) (int64) ((v[1] - v[0]) >> 1) /
					 ((double) (int64) ((v[2] - v[0]) >> 1) + 1.0));
}

/*
 * See page/kernel.h.  The score rises by 3 and falls by 1, within bounds, so
 * that a session that goes from one part of the index to another soon learns
 * anew.
 */
void
fpt_guess_verdict(FPTGuess *guess, const FPTLayout *l, void *page, int kid)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			nkids = fpt_header(pg.p)->nkids;

	guess->pending = false;
	if (pg.g == NULL || !fpt_is_leaf(pg.g) || kid < 0 || kid >= nkids ||
		fpt_is_number(pg.g))
		return;

	/*
	 * A wrong guess costs a third of what a right one saves.  The first one
	 * knew nothing.
	 */
	if (guess->nkids == 0)
		guess->score = 0;
	else if (guess->node == fpt_lower(pg.g, fpt_kid(pg, kid)))
		guess->score = Min(guess->score + 3, FPT_GUESS_MAX);
	else if (guess->score > FPT_GUESS_MIN)
		guess->score--;
	guess->node_off = pg.g->node_off;
	guess->step = (uint16) (pg.g->x * FPT_LINE);
	guess->nkids = (uint16) nkids;
	guess->hint_off = (uint16) fpt_hint_off(pg);
	guess->cap = pg.g->cap;
}

/*
 * Number of nodes in use, or -1: corrupt, which it also is if the page names
 * more than it can have.  *entries: of these nodes.
 */
static int
fpt_count(FPTPage pg, int *entries)
{
	int			nkids = fpt_header(pg.p)->nkids;
	FPTNumbers	n;

	*entries = 0;
	if (fpt_num_page(pg, &n))
	{
		*entries = fpt_num_count(&n);
		return *entries < 0 ? -1 : n.nkids;
	}
	for (int kid = 0; kid < nkids; kid++)
	{
		char	   *node = fpt_kid_node(pg, kid);

		if (node == NULL)
			return -1;
		*entries += fpt_popcount(fpt_node_used(pg.g, node));
	}
	return nkids;
}

int
fpt_page_count(const FPTLayout *l, void *page)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			n;

	return pg.g != NULL && fpt_count(pg, &n) >= 0 ? n : -1;
}

int
fpt_page_nodes(const FPTLayout *l, void *page)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			n;

	return pg.g != NULL ? fpt_count(pg, &n) : -1;
}

FPTResult
fpt_page_space(const FPTLayout *l, void *page, int n, FPTSpace *space)
{
	FPTPage		pg = fpt_page_open(l, page);

	Assert(n >= 0);
	if (pg.g == NULL)
		return FPT_CORRUPT;
	return fpt_encoding(pg.g)->space(pg, n, space);
}
