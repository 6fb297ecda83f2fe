/*-------------------------------------------------------------------------
 *
 * fpt_kernel.c
 *	  Page kernel: reading one page image.
 *
 * The in-page tree (fpB+-tree paper, section 3.1) has a root with one
 * separator for each leaf node.  Separators are images without TIDs: all
 * entries of node i are >= separator i and <= separator i + 1.  The first
 * separator of each region (NULL nodes, value nodes) is never looked at.
 *
 * Nodes in use are never empty, except for the instant between
 * fpt_page_make_room() and the insertion that follows it.
 *
 *-------------------------------------------------------------------------
 */
#include "fpt_kernel_int.h"

/* Geometry of a page; NULL if its encoding or its counts make no sense. */
static inline const FPTGeom *
fpt_geom_of(const FPTLayout *l, void *page)
{
	FPTPageHeader *h = fpt_header(page);
	unsigned	kwi = h->enc & FPT_ENC_KW_MASK;
	unsigned	kind = (h->enc & ~FPT_ENC_KW_MASK) ^ FPT_ENC_TID4;
	const FPTGeom *g;

	/* 0: short TIDs; FPT_ENC_TID4: long ones; anything else is not valid */
	if (h->level > 0)
		kind = kind == FPT_ENC_TID4 ? FPT_KIND_INNER : FPT_NKINDS;
	else if (kind == FPT_ENC_TID4)
		kind = FPT_KIND_LEAF6;
	if (kwi >= FPT_NENC || kind >= FPT_NKINDS)
		return NULL;

	/* key widths beyond the key size have no geometry */
	g = &l->geom[kwi][kind];
	if (g->cap == 0 || h->nnodes > g->maxnodes || h->nkids > h->nnodes ||
		h->nnull > h->nkids)
		return NULL;
	if (unlikely(g->dict) &&
		h->std.pd_upper + h->ndict * FPT_DICT_ITEM > FPT_SPECIAL_OFFSET)
		return NULL;
	return g;
}

const FPTGeom *
fpt_page_geom(const FPTLayout *l, void *page)
{
	return fpt_geom_of(l, page);
}

/* Is a general fence's tuple where it says? */
static inline bool
fpt_fence_sound(const void *page, const FPTFence *f)
{
	uint32		len;

	return f->hi == 0 ||
		(f->hi < BLCKSZ && fpt_tuple_at(page, (unsigned) f->hi, &len) != NULL);
}

bool
fpt_page_sane(const FPTLayout *l, void *page, uint32 pageno)
{
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpecial *s = fpt_special(page);
	const FPTGeom *g;

	if (h->std.pd_special != FPT_SPECIAL_OFFSET ||
		s->pageid != FPT_PAGE_ID ||
		s->version != FPT_VERSION ||
		s->pageno != pageno ||
		s->indexid != l->indexid ||
		(h->flags & ~FPT_F_ALL) != 0 ||
		(h->flags & FPT_F_META) != 0 ||
		h->level > FPT_MAX_LEVEL)
		return false;
	g = fpt_geom_of(l, page);
	if (g == NULL || h->std.pd_lower != fpt_lower(g, h->nnodes))
		return false;
	if (likely(!fpt_is_general(l)))
		return h->std.pd_upper == FPT_SPECIAL_OFFSET;
	return h->std.pd_upper <= FPT_SPECIAL_OFFSET &&
		fpt_heap_room(g, page) >= 0 &&
		fpt_fence_sound(page, &h->high) && fpt_fence_sound(page, &s->low);
}

int
fpt_choose_enc(const FPTLayout *l, int level, const FPTKey *base,
			   const FPTKey *last, uint64 or_tids)
{
	uint64		lo = last->lo - base->lo;
	uint64		hi = last->hi - base->hi - (last->lo < base->lo ? 1 : 0);
	int			kwi;

	for (kwi = 0; (1 << kwi) < l->keysize; kwi++)
	{
		if (fpt_fits(1 << kwi, hi, lo))
			break;
	}
	if (level == 0 && fpt_tid_is_short(or_tids))
		return kwi | FPT_ENC_TID4;
	return kwi;
}

/*
 * Kids [*from, *to) that may hold keys of this class.  Keys of a class that
 * the page cannot hold give an empty region at the right place.
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
}

/* What fpt_slot_cmp returns for a tuple that is not there. */
#define FPT_CMP_CORRUPT		2

/* Order of a general key and a slot's, whose head is the same. */
static int
fpt_slot_cmp(const FPTLayout *l, const FPTGeom *g, void *page,
			 const char *node, int slot, const FPTKey *key)
{
	FPTKey		k;
	int			r;

	k.hi = 0;
	k.lo = key->lo;
	k.cls = key->cls;
	k.tid = 0;
	if (!fpt_slot_tuple(g, page, node, slot, &k))
		return FPT_CMP_CORRUPT;
	r = l->cmp(l->arg, key, &k);
	if (r != 0)
		return r < 0 ? -1 : 1;

	/* another line of the node, that mostly is not needed */
	return fpt_tid_cmp(key->tid, fpt_slot_tid(g, node, slot));
}

/*
 * Binary searches among equal heads compare tuples, each of them a cache miss.
 * While one is compared, what either outcome will need next is on its way.
 */
static inline void
fpt_slot_prefetch(const FPTGeom *g, void *page, const char *node, int slot)
{
	if (slot < g->cap)
		__builtin_prefetch((char *) page +
						   fpt_slot_off(g, node, slot) % BLCKSZ);
}

static inline void
fpt_node_prefetch_ends(const FPTGeom *g, void *page, int kid)
{
	char	   *node = fpt_kid_node(g, page, kid);

	if (node != NULL)
	{
		__builtin_prefetch(node);
		__builtin_prefetch(node + g->off_off);
	}
}

/*
 * The same number as below, if the node's entries of the ranks a .. b - 1 have
 * the key's head: they are next to each other in order.
 */
static int
fpt_node_rank_general(const FPTLayout *l, const FPTGeom *g, void *page,
					  int kid, const char *node, int a, int b,
					  const FPTKey *key, bool *dup)
{
	const uint8 *perm = (const uint8 *) node + g->perm_off;

	while (a < b)
	{
		int			m = (a + b) / 2;
		int			r = 1;

		if (!fpt_is_low_entry(g, kid, m))
		{
			if (perm[m] >= g->cap)
				return -1;
			if (b - a > 2)
			{
				fpt_slot_prefetch(g, page, node, perm[(a + m) / 2]);
				fpt_slot_prefetch(g, page, node, perm[(m + 1 + b) / 2]);
			}
			r = fpt_slot_cmp(l, g, page, node, perm[m], key);
			if (r == FPT_CMP_CORRUPT)
				return -1;
		}
		if (r == 0)
			*dup = true;
		if (r > 0)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

/*
 * Number of entries of a node below the key, which is (hi, lo, its TID)
 * relative to the base.  *dup tells whether that very entry is there.  -1 if
 * the page is corrupt.  "general", here and below: the layout's keys are, known
 * to the compiler, so that pages of numbers are searched without asking.
 */
static pg_attribute_always_inline int
fpt_node_rank(const FPTLayout *l, const FPTGeom *g, void *page, int kid,
			  char *node, uint64 hi, uint64 lo, const FPTKey *key, uint64 tid,
			  uint64 *equal, bool *dup, const bool general)
{
	uint64		used = fpt_node_used(g, node);
	uint64		eq;
	uint64		lt;
	int			rank;

	lt = fpt_simd->cmp[fpt_kwi(g)] (node + sizeof(FPTNode), g->cap, g->cap,
									hi, lo, &eq) & used;
	rank = fpt_popcount(lt);
	*dup = false;
	eq &= used;
	*equal = eq;
	if (unlikely(eq != 0) && (tid != 0 || general))
	{
		if (general)
			return fpt_node_rank_general(l, g, page, kid, node, rank,
										 rank + fpt_popcount(eq), key, dup);
		for (; eq != 0; eq &= eq - 1)
		{
			uint64		t = fpt_slot_tid(g, node, fpt_ctz(eq));

			if (t < tid)
				rank++;
			else if (t == tid)
				*dup = true;
		}
	}
	return rank;
}

/*
 * Is the first entry of this kid below the key?  -1: corrupt.  An empty node is
 * not below anything.
 */
static int
fpt_kid_first_below(const FPTLayout *l, const FPTGeom *g, void *page, int kid,
					uint64 hi, uint64 lo, const FPTKey *key, uint64 tid)
{
	char	   *node = fpt_kid_node(g, page, kid);
	int			slot;
	uint64		khi,
				klo;

	if (node == NULL)
		return -1;
	if (fpt_node_used(g, node) == 0)
		return 0;
	slot = fpt_node_perm(g, node)[0];
	if (slot >= g->cap)
		return -1;
	fpt_slot_rel(g, node, slot, &khi, &klo);
	if (khi != hi)
		return khi < hi;
	if (klo != lo)
		return klo < lo;
	if (g->ow != 0)
	{
		int			r = fpt_slot_cmp(l, g, page, node, slot, key);

		return r == FPT_CMP_CORRUPT ? -1 : r > 0;
	}
	return fpt_slot_tid(g, node, slot) < tid;
}

/* Separators of the region's kids from..to - 1 below and equal to (hi, lo). */
static inline void
fpt_root_count(const FPTGeom *g, void *page, int from, int to, uint64 hi,
			   uint64 lo, int *nlt, int *neq)
{
	char	   *seps = (char *) page + FPT_LINE;
	int			width = g->kw == 16 ? 8 : g->kw;
	int			i;

	*nlt = *neq = 0;
	for (i = from; i < to; i += 64)
	{
		uint64		eq;
		uint64		lt;

		lt = fpt_simd->cmp[fpt_kwi(g)] (seps + i * width, Min(64, to - i),
										g->maxnodes, hi, lo, &eq);
		*nlt += fpt_popcount(lt);
		*neq += fpt_popcount(eq);
	}
}

/*
 * Which of the kids a + 1 .. b to look at: the last one first, as new rows of a
 * key mostly have the highest TIDs, then the one in the middle.
 */
static inline int
fpt_probe_kid(const FPTGeom *g, void *page, bool *probed, int a, int b)
{
	int			m = *probed ? a + (b - a + 1) / 2 : b;

	*probed = true;
	if (g->ow != 0 && b - a > 2)
	{
		fpt_node_prefetch_ends(g, page, a + (m - a) / 2);
		fpt_node_prefetch_ends(g, page, m + (b - m + 1) / 2);
	}
	return m;
}

/*
 * The kid in which the key belongs: the last one of the region whose
 * first entry is below it, or the region's first one.  -1: corrupt.
 */
static pg_attribute_always_inline int
fpt_region_kid(const FPTLayout *l, const FPTGeom *g, void *page, int from,
			   int to, uint64 hi, uint64 lo, const FPTKey *key, uint64 tid,
			   const bool general)
{
	int			nlt,
				neq;
	int			kid;

	fpt_root_count(g, page, from + 1, to, hi, lo, &nlt, &neq);
	kid = from + nlt;
	if (unlikely(neq > 0) && (tid != 0 || general))
	{
		int			a = kid;
		int			b = kid + neq;

		/* where all heads are the same they are no keys */
		bool		probed = general && neq == to - from - 1;

		/*
		 * Kids a + 1 .. b start with this very key (or a later one, if entries
		 * were deleted): the last one whose first entry is below.
		 */
		Assert(b < to);
		while (a < b)
		{
			int			m = fpt_probe_kid(g, page, &probed, a, b);
			int			below = fpt_kid_first_below(l, g, page, m, hi, lo, key,
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

/* NULL nodes have no separators to go by: TIDs or tuples tell them apart. */
static int
fpt_region_kid_null(const FPTLayout *l, const FPTGeom *g, void *page, int from,
					int to, uint64 lo, const FPTKey *key, uint64 tid)
{
	int			a = from;
	int			b = to - 1;
	bool		probed = false;

	while (a < b)
	{
		int			m = fpt_probe_kid(g, page, &probed, a, b);
		int			below = fpt_kid_first_below(l, g, page, m, 0, lo, key, tid);

		if (below < 0)
			return -1;
		if (below)
			a = m;
		else
			b = m - 1;
	}
	return a;
}

/* p's kid is known, or -1: look for the key in its node. */
static pg_attribute_always_inline FPTResult
fpt_place_node(const FPTLayout *l, const FPTGeom *g, void *page,
			   const FPTKey *key, uint64 tid, FPTPlace *p, const bool general)
{
	if (p->kid < 0)
		return FPT_CORRUPT;
	p->node = fpt_kid_node(g, page, p->kid);
	if (p->node == NULL)
		return FPT_CORRUPT;
	fpt_node_prefetch(g, p->node);
	if (g->dw == 0)
		__builtin_prefetch((char *) page + fpt_hint_off(g, page) +
						   fpt_kid(g, page, p->kid) * g->cap / 8);
	p->rank = fpt_node_rank(l, g, page, p->kid, p->node, p->hi, p->lo, key, tid,
							&p->eq, &p->dup, general);
	if (p->rank < 0)
		return FPT_CORRUPT;
	p->count = fpt_popcount(fpt_node_used(g, p->node));
	return FPT_OK;
}

static pg_attribute_always_inline FPTResult
fpt_find_place_of(const FPTLayout *l, const FPTGeom *g, void *page,
				  const FPTKey *key, uint64 tid, FPTPlace *p,
				  const bool general)
{
	FPTPageHeader *h = fpt_header(page);

	fpt_region(l, h, key->cls, &p->from, &p->to);
	p->dup = p->listed = false;
	p->rank = 0;
	p->where = 0;
	if (key->cls == FPT_CLS_VALUE)
	{
		p->where = fpt_rel(g, page, key, &p->hi, &p->lo);
		if (p->where < 0)
		{
			p->kid = p->from;
			return FPT_OK;
		}
		if (p->where > 0 || p->from >= p->to)
		{
			p->kid = p->to;
			return FPT_OK;
		}
		Assert(p->from < p->to);
		p->kid = fpt_region_kid(l, g, page, p->from, p->to, p->hi, p->lo,
								key, tid, general);
	}
	else
	{
		p->hi = p->lo = 0;

		/* a head that is not zero: behind all NULLs, see fpt_key_before() */
		if (p->from >= p->to || (general && key->lo != 0))
		{
			p->kid = p->to;
			return FPT_OK;
		}
		p->kid = fpt_region_kid_null(l, g, page, p->from, p->to, 0, key, tid);
	}
	return fpt_place_node(l, g, page, key, tid, p, general);
}

/*
 * Look the key up in the dictionary: sets p's listed, hi and lo, and *tid, which
 * is relative to the first key that is not below.  A key behind all of them is
 * not representable.
 */
static FPTResult
fpt_dict_place(const FPTLayout *l, void *page, const FPTKey *key,
			   FPTPlace *p, uint64 *tid)
{
	int			code = fpt_dict_find(l, page, key, &p->listed);

	if (code < 0)
		return FPT_CORRUPT;
	p->hi = 0;
	p->lo = (uint64) code;
	if (!p->listed || (int64) *tid < 0)
		*tid = 0;
	p->where = code >= fpt_header(page)->ndict ? 1 : 0;
	return FPT_OK;
}

/* In a page with a dictionary keys are numbers, once they are looked up. */
static FPTResult
fpt_find_place_dict(const FPTLayout *l, const FPTGeom *g, void *page,
					const FPTKey *key, uint64 tid, FPTPlace *p)
{
	fpt_region(l, fpt_header(page), key->cls, &p->from, &p->to);
	p->dup = p->listed = false;
	p->rank = 0;
	p->where = 0;
	p->hi = p->lo = 0;
	p->kid = p->to;
	if (p->from >= p->to || (key->cls != FPT_CLS_VALUE && key->lo != 0))
		return FPT_OK;
	if (fpt_dict_place(l, page, key, p, &tid) != FPT_OK)
		return FPT_CORRUPT;
	if (p->where > 0)
		return FPT_OK;
	if (key->cls == FPT_CLS_VALUE)
		p->kid = fpt_region_kid(l, g, page, p->from, p->to, 0, p->lo, key, tid,
								false);
	else
		p->kid = fpt_region_kid_null(l, g, page, p->from, p->to, p->lo, key,
									 tid);
	return fpt_place_node(l, g, page, key, tid, p, false);
}

static pg_noinline FPTResult
fpt_find_place_general(const FPTLayout *l, const FPTGeom *g, void *page,
					   const FPTKey *key, uint64 tid, FPTPlace *p)
{
	return fpt_find_place_of(l, g, page, key, tid, p, true);
}

static inline FPTResult
fpt_find_place(const FPTLayout *l, const FPTGeom *g, void *page,
			   const FPTKey *key, uint64 tid, FPTPlace *p)
{
	if (unlikely(g->heap))
		return g->dict ? fpt_find_place_dict(l, g, page, key, tid, p) :
			fpt_find_place_general(l, g, page, key, tid, p);
	return fpt_find_place_of(l, g, page, key, tid, p, false);
}

FPTResult
fpt_locate(const FPTLayout *l, const FPTGeom *g, void *page,
		   const FPTKey *key, FPTPlace *p)
{
	return fpt_find_place(l, g, page, key, key->tid, p);
}

FPTResult
fpt_page_lower_bound(const FPTLayout *l, void *page, const FPTKey *key,
					 FPTLoc *loc)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	FPTPlace	p;

	if (g == NULL || fpt_find_place(l, g, page, key, key->tid, &p) != FPT_OK)
		return FPT_CORRUPT;
	loc->kid = p.kid;
	loc->rank = p.rank;
	if (p.kid >= p.from && p.kid < p.to && p.where == 0 &&
		p.rank >= p.count)
	{
		loc->kid++;
		loc->rank = 0;
	}
	return FPT_OK;
}

/*
 * Number of entries of p's node below hi, which is not below the key of p.  Most
 * ranges are short: look near their beginning first.
 */
static int
fpt_node_range_end(const FPTLayout *l, const FPTGeom *g, void *page,
				   const FPTPlace *p, uint64 khi, uint64 klo,
				   const FPTKey *hi)
{
	const uint8 *perm = fpt_node_perm(g, p->node);
	uint64		eq;
	bool		dup;

	if (g->ow != 0)
	{
		for (int rank = p->rank; rank < p->count && rank < p->rank + 2; rank++)
		{
			uint64		shi,
						slo;
			int			r = 1;

			if (perm[rank] >= g->cap)
				return -1;
			fpt_slot_rel(g, p->node, perm[rank], &shi, &slo);
			if (slo == klo && !fpt_is_low_entry(g, p->kid, rank))
				r = fpt_slot_cmp(l, g, page, p->node, perm[rank], hi);
			else if (slo > klo)
				r = -1;
			if (r == FPT_CMP_CORRUPT)
				return -1;
			if (r <= 0)
				return rank;
		}
	}
	return fpt_node_rank(l, g, page, p->kid, p->node, khi, klo, hi, hi->tid,
						 &eq, &dup, g->ow != 0);
}

/*
 * The end of a range that begins at p, in a page with a dictionary: its number
 * and TID in *end.  False: behind all keys, or corrupt.
 */
static bool
fpt_dict_end(const FPTLayout *l, void *page, const FPTPlace *p,
			 const FPTKey *hi, FPTKey *end)
{
	FPTPlace	e = {.lo = p->lo, .listed = p->listed};
	FPTKey		k;

	*end = *hi;

	/* Mostly it has the same key as the range's beginning. */
	if (!p->listed || !fpt_dict_key(page, (int) p->lo, hi->cls, &k) ||
		fpt_keys_distinct(l, hi, &k))
	{
		if (fpt_dict_place(l, page, hi, &e, &end->tid) != FPT_OK ||
			e.where > 0)
			return false;
	}
	end->lo = e.lo;
	return true;
}

/*
 * Does the range that ends at hi end in the node of p, or right behind it?
 * Most ranges of a point lookup do, which saves the second descent.
 */
static inline bool
fpt_range_ends_here(const FPTLayout *l, const FPTGeom *g, void *page,
					const FPTPlace *p, const FPTKey *hi, FPTLoc *last)
{
	uint64		khi,
				klo,
				shi,
				slo;
	FPTKey		end;

	if (p->where != 0 || p->kid < p->from || p->kid >= p->to)
		return false;
	if (unlikely(g->dict))
	{
		if (!fpt_dict_end(l, page, p, hi, &end))
			return false;
		khi = 0;
		klo = end.lo;
		hi = &end;
	}
	else if (fpt_rel(g, page, hi, &khi, &klo) != 0)
		return false;
	last->kid = p->kid;
	last->rank = fpt_node_range_end(l, g, page, p, khi, klo, hi);
	if (last->rank < 0)
		return false;
	if (last->rank < p->count)
		return true;
	last->kid++;
	last->rank = 0;
	if (last->kid == p->to)
		return true;
	fpt_array_rel(g->kw, (char *) page + FPT_LINE, g->maxnodes, last->kid,
				  &shi, &slo);
	return khi < shi || (khi == shi && klo < slo);
}

/* Is this the range of all entries of one image? */
static inline bool
fpt_whole_image(const FPTLayout *l, const FPTKey *lo, const FPTKey *hi)
{
	return lo->cls == FPT_CLS_VALUE && hi->cls == FPT_CLS_VALUE &&
		lo->lo == hi->lo && lo->hi == hi->hi &&
		lo->tid == 0 && hi->tid == FPT_MAX_TID && !fpt_is_general(l);
}

FPTResult
fpt_page_range(const FPTLayout *l, void *page, const FPTKey *lo,
			   const FPTKey *hi, FPTLoc *first, FPTLoc *last)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	FPTKey		end;
	FPTPlace	p;

	if (g == NULL || fpt_find_place(l, g, page, lo, lo->tid, &p) != FPT_OK)
		return FPT_CORRUPT;
	first->kid = p.kid;
	first->rank = p.rank;
	if (p.where == 0 && p.kid >= p.from && p.kid < p.to &&
		fpt_whole_image(l, lo, hi))
	{
		/* The search has found the equal ones, too. */
		last->kid = p.kid;
		last->rank = p.rank + fpt_popcount(p.eq);
		if (last->rank < p.count)
			return FPT_OK;
	}
	if (p.kid >= p.from && p.kid < p.to && p.where == 0 &&
		p.rank >= p.count)
	{
		first->kid++;
		first->rank = 0;
	}
	end = *hi;
	end.tid++;
	if (lo->cls == FPT_CLS_VALUE && hi->cls == FPT_CLS_VALUE &&
		fpt_range_ends_here(l, g, page, &p, &end, last))
		return FPT_OK;
	return fpt_page_lower_bound(l, page, &end, last);
}

int
fpt_node_count(const FPTLayout *l, void *page, int kid)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	char	   *node;

	if (g == NULL || kid < 0 || kid >= fpt_header(page)->nkids)
		return -1;
	node = fpt_kid_node(g, page, kid);
	if (node == NULL)
		return -1;
	return fpt_popcount(fpt_node_used(g, node));
}

bool
fpt_page_step(const FPTLayout *l, void *page, FPTLoc *loc, int dir)
{
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

/* The key of an inner page's first entry, if it is not stored with it. */
static inline void
fpt_low_entry(const FPTLayout *l, const FPTGeom *g, void *page, int kid,
			  int rank, FPTKey *key)
{
	if (fpt_is_low_entry(g, kid, rank))
	{
		FPTKey		low = fpt_page_low(l, page);

		if (low.cls != FPT_CLS_MINF)
			*key = low;
	}
}

FPTResult
fpt_page_get(const FPTLayout *l, void *page, FPTLoc loc, FPTEntry *out)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	char	   *node;
	int			slot;

	if (g == NULL || loc.kid < 0 || loc.kid >= fpt_header(page)->nkids)
		return FPT_CORRUPT;
	node = fpt_kid_node(g, page, loc.kid);
	if (node == NULL || loc.rank < 0 ||
		loc.rank >= fpt_popcount(fpt_node_used(g, node)))
		return FPT_CORRUPT;
	slot = fpt_node_perm(g, node)[loc.rank];
	if (slot >= g->cap ||
		!fpt_slot_entry(g, page, node, slot, fpt_kid_cls(l, page, loc.kid),
						out))
		return FPT_CORRUPT;
	fpt_low_entry(l, g, page, loc.kid, loc.rank, &out->key);
	return FPT_OK;
}

FPTResult
fpt_page_find_child(const FPTLayout *l, void *page, const FPTKey *key,
					uint32 *child, FPTLoc *loc)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	FPTKey		next;
	uint64		tid = key->tid + 1;
	FPTPlace	p;
	int			slot;

	if (g == NULL || g->dw == 0 || fpt_header(page)->nkids == 0)
		return FPT_CORRUPT;

	/* The entry before the first one above key, or the very first. */
	if (fpt_is_general(l))
	{
		next = *key;
		next.tid++;
		key = &next;
		tid = next.tid;
	}
	if (fpt_find_place(l, g, page, key, tid, &p) != FPT_OK)
		return FPT_CORRUPT;
	if (p.rank > 0)
		p.rank--;
	else if (p.kid > 0)
	{
		p.kid--;
		p.node = fpt_kid_node(g, page, p.kid);
		if (p.node == NULL)
			return FPT_CORRUPT;
		p.rank = fpt_popcount(fpt_node_used(g, p.node)) - 1;
	}
	else
		p.node = fpt_kid_node(g, page, 0);
	if (p.node == NULL || p.rank < 0 ||
		p.rank >= fpt_popcount(fpt_node_used(g, p.node)))
		return FPT_CORRUPT;
	slot = fpt_node_perm(g, p.node)[p.rank];
	if (slot >= g->cap)
		return FPT_CORRUPT;
	*child = fpt_slot_down(g, p.node, slot);
	loc->kid = p.kid;
	loc->rank = p.rank;
	return FPT_OK;
}

uint32
fpt_page_fraction(const FPTLayout *l, void *page, FPTLoc loc,
				  const FPTKey *key)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	char	   *node = g ? fpt_kid_node(g, page, loc.kid) : NULL;
	uint8	   *perm;
	uint64		hi[3];
	uint64		lo[3];
	uint64	   *v;
	int			kid = loc.kid + 1;

	if (node == NULL || key->cls != FPT_CLS_VALUE ||
		fpt_rel(g, page, key, &hi[1], &lo[1]) != 0)
		return 0;
	perm = fpt_node_perm(g, node) + loc.rank;
	if (perm[0] >= g->cap)
		return 0;
	fpt_slot_rel(g, node, perm[0], &hi[0], &lo[0]);
	if (loc.rank + 1 < fpt_popcount(fpt_node_used(g, node)))
	{
		if (perm[1] >= g->cap)
			return 0;
		fpt_slot_rel(g, node, perm[1], &hi[2], &lo[2]);
	}
	else if (kid < fpt_header(page)->nkids && kid < g->maxnodes)
		fpt_array_rel(g->kw, (char *) page + FPT_LINE, g->maxnodes, kid,
					  &hi[2], &lo[2]);
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

void
fpt_guess_verdict(FPTGuess *guess, const FPTLayout *l, void *page, int kid)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	int			nkids = fpt_header(page)->nkids;

	guess->pending = false;
	if (g == NULL || g->dw != 0 || kid < 0 || kid >= nkids)
		return;

	/*
	 * A wrong guess costs a third of what a right one saves.  The first one
	 * knew nothing.
	 */
	if (guess->nkids == 0)
		guess->score = 0;
	else if (guess->node == g->node_off + fpt_kid(g, page, kid) * g->x * FPT_LINE)
		guess->score = Min(guess->score + 3, FPT_GUESS_MAX);
	else if (guess->score > FPT_GUESS_MIN)
		guess->score--;
	guess->node_off = g->node_off;
	guess->step = (uint16) (g->x * FPT_LINE);
	guess->nkids = (uint16) nkids;
	guess->hint_off = (uint16) fpt_hint_off(g, page);
	guess->cap = g->cap;
}

int
fpt_page_extract(const FPTLayout *l, void *page, FPTEntry *out, int max)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	int			nkids = fpt_header(page)->nkids;
	int			n = 0;
	int			kid;

	if (g == NULL)
		return -1;
	for (kid = 0; kid < nkids; kid++)
	{
		uint32		cls = fpt_kid_cls(l, page, kid);
		char	   *node = fpt_kid_node(g, page, kid);
		int			count;
		int			i;

		if (node == NULL)
			return -1;
		count = fpt_popcount(fpt_node_used(g, node));
		if (n + count > max)
			return -1;
		for (i = 0; i < count; i++)
		{
			int			slot = fpt_node_perm(g, node)[i];

			if (slot >= g->cap ||
				!fpt_slot_entry(g, page, node, slot, cls, &out[n]))
				return -1;
			fpt_low_entry(l, g, page, kid, i, &out[n++].key);
		}
	}
	return n;
}

int
fpt_page_count(const FPTLayout *l, void *page)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	int			nkids = fpt_header(page)->nkids;
	int			n = 0;
	int			kid;

	if (g == NULL)
		return -1;
	for (kid = 0; kid < nkids; kid++)
	{
		char	   *node = fpt_kid_node(g, page, kid);

		if (node == NULL)
			return -1;
		n += fpt_popcount(fpt_node_used(g, node));
	}
	return n;
}

/* The TIDs of n slots; false if one is not a heap TID. */
static bool
fpt_copy_tids(const FPTGeom *g, const char *node, const uint8 *slots, int n,
			  uint64 *out)
{
	bool		valid = true;
	int			i;

	if (g->tw == 4)
	{
		for (i = 0; i < n; i++)
		{
			uint32		v;

			memcpy(&v, node + g->tid_off + slots[i] * 4, 4);
			out[i] = fpt_tid_widen(v);
			valid &= (v & FPT_TID4_MAXOFF) != 0;
		}
		return valid;
	}
	for (i = 0; i < n; i++)
	{
		out[i] = fpt_slot_tid(g, node, slots[i]);
		valid &= fpt_tid_is_valid(out[i]);
	}
	return valid;
}

/* The images of n slots. */
static void
fpt_copy_keys(const FPTGeom *g, void *page, const char *node,
			  const uint8 *slots, int n, uint64 *los, uint64 *his)
{
	FPTPageSpecial *s = fpt_special(page);
	const char *keys = node + sizeof(FPTNode);
	uint64		base = s->base_lo;
	int			i;

	if (g->kw == 8 && his == NULL)
	{
		for (i = 0; i < n; i++)
		{
			memcpy(&los[i], keys + slots[i] * 8, 8);
			los[i] += base;
		}
		return;
	}
	for (i = 0; i < n; i++)
	{
		uint64		hi,
					lo;

		fpt_slot_rel(g, node, slots[i], &hi, &lo);
		los[i] = lo + base;
		if (his)
			his[i] = hi + s->base_hi + (los[i] < lo ? 1 : 0);
	}
}

/* The heads of n slots of a page with a dictionary; false if corrupt. */
static bool
fpt_copy_dict_heads(void *page, const char *node, const uint8 *slots, int n,
					uint64 *los)
{
	int			ndict = fpt_header(page)->ndict;
	const char *heads = fpt_dict_heads(page);
	int			i;

	for (i = 0; i < n; i++)
	{
		int			code = fpt_slot_code(node, slots[i]);

		if (code >= ndict)
			return false;
		memcpy(&los[i], heads + code * sizeof(uint64), sizeof(uint64));
	}
	return true;
}

/* The next entry's tuple, behind what run->tups holds; false: no room. */
static inline bool
fpt_copy_tuple(FPTRun *run, int i, const char *tup, uint32 len)
{
	if (unlikely(run->tupused + (int) len > BLCKSZ))
		return false;
	run->tupoffs[i] = (uint16) run->tupused;
	fpt_copy_bytes(run->tups + run->tupused, tup, len);
	run->tupused += (int) len;
	run->tupends[i] = (uint16) run->tupused;
	return true;
}

/* The tuples of n slots, from entry "at" of the run on; false if corrupt. */
static bool
fpt_copy_tuples(const FPTGeom *g, void *page, const char *node,
				const uint8 *slots, int n, FPTRun *run, int at)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		uint16		off = fpt_slot_off(g, node, slots[i]);
		const char *tup = NULL;
		uint32		len = 0;

		if (off != 0)
		{
			tup = fpt_tuple_at(page, off, &len);
			if (unlikely(tup == NULL))
				return false;
		}
		if (!fpt_copy_tuple(run, at + i, tup, len))
			return false;
	}
	return true;
}

/*
 * The same where keys are in a dictionary.  Neighbours that share a tuple in the
 * page share the copy.  *shared is the number in the dictionary of the one that
 * was copied last, or -1.
 */
static bool
fpt_copy_dict_tuples(void *page, const char *node, const uint8 *slots, int n,
					 FPTRun *run, int at, int *shared)
{
	int			i;

	for (i = at; i < at + n; i++)
	{
		int			code = fpt_slot_code(node, slots[i - at]);
		FPTKey		k;

		if (code == *shared)
		{
			run->tupoffs[i] = run->tupoffs[i - 1];
			run->tupends[i] = run->tupends[i - 1];
			continue;
		}
		if (!fpt_dict_key(page, code, FPT_CLS_VALUE, &k) ||
			!fpt_copy_tuple(run, i, k.tup, k.len))
			return false;
		*shared = code;
	}
	return true;
}

/* One node's entries rank .. to - 1 for fpt_page_copy. */
static int
fpt_node_copy(const FPTGeom *g, void *page, char *node, int ordinal,
			  int rank, int to, bool skip_dead, FPTRun *run, int n,
			  int *shared)
{
	const uint8 *perm = fpt_node_perm(g, node);
	uint64		dead = skip_dead ? fpt_node_hints(g, page, ordinal) : 0;
	uint8		slots[FPT_MAX_CAP];
	int			m = 0;
	int			i;

	for (; rank < to; rank++)
	{
		int			slot = perm[rank];

		if (slot >= g->cap)
			return -1;
		slots[m] = (uint8) slot;
		m += ((dead >> slot) & 1) == 0;
	}
	if (run->tids && !fpt_copy_tids(g, node, slots, m, run->tids + n) &&
		g->dw == 0)
		return -1;
	if (run->los && g->dict)
	{
		if (!fpt_copy_dict_heads(page, node, slots, m, run->los + n))
			return -1;
		if (run->his)
			memset(run->his + n, 0, m * sizeof(uint64));
	}
	else if (run->los)
		fpt_copy_keys(g, page, node, slots, m, run->los + n,
					  run->his ? run->his + n : NULL);
	if (run->tups &&
		!(g->dict ? fpt_copy_dict_tuples(page, node, slots, m, run, n, shared) :
		  fpt_copy_tuples(g, page, node, slots, m, run, n)))
		return -1;
	if (run->slotids)
	{
		for (i = 0; i < m; i++)
			run->slotids[n + i] = (uint16) (ordinal * g->cap + slots[i]);
	}
	return n + m;
}

int
fpt_page_copy(const FPTLayout *l, void *page, FPTLoc first, FPTLoc last,
			  bool skip_dead, FPTRun *run)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	int			nkids = fpt_header(page)->nkids;
	int			n = 0;
	int			shared = -1;
	int			kid;

	if (g == NULL || first.kid < 0 || first.rank < 0 || last.kid > nkids)
		return -1;
	skip_dead = skip_dead && g->dw == 0;
	for (kid = first.kid; kid <= last.kid && kid < nkids; kid++)
	{
		char	   *node = fpt_kid_node(g, page, kid);
		int			to;

		if (node == NULL)
			return -1;
		if (kid + 1 < last.kid)
			fpt_kid_prefetch(g, page, kid + 1);
		to = fpt_popcount(fpt_node_used(g, node));
		if (kid == last.kid)
			to = Min(to, last.rank);
		n = fpt_node_copy(g, page, node, fpt_kid(g, page, kid),
						  kid == first.kid ? first.rank : 0, to,
						  skip_dead, run, n, &shared);
		if (n < 0)
			return -1;
	}
	return n;
}

/* --- hints ---------------------------------------------------------------- */

bool
fpt_page_has_hints(const FPTLayout *l, void *page)
{
	const FPTGeom *g = fpt_geom_of(l, page);

	/* that of a general page is never taken by tuples */
	return g != NULL && g->dw == 0 &&
		(g->heap || fpt_header(page)->std.pd_lower <= g->hint_off);
}

void
fpt_page_hint_area(const FPTLayout *l, void *page, int *from, int *to)
{
	const FPTGeom *g = fpt_geom_of(l, page);

	*from = *to = 0;
	if (g == NULL || g->dw != 0)
		return;
	*from = fpt_hint_off(g, page);
	*to = g->heap ? *from + fpt_hint_bytes(g, fpt_header(page)->nnodes) :
		FPT_SPECIAL_OFFSET;
}

/* The node of a slot number, or NULL if there is no such slot. */
static char *
fpt_slotid_node(const FPTGeom *g, void *page, int slotid)
{
	if (g == NULL || g->dw != 0 || slotid < 0 ||
		slotid / g->cap >= fpt_header(page)->nnodes)
		return NULL;
	return fpt_node(g, page, slotid / g->cap);
}

bool
fpt_page_slot_is(const FPTLayout *l, void *page, int slotid, uint64 tid)
{
	const FPTGeom *g = fpt_geom_of(l, page);
	char	   *node = fpt_slotid_node(g, page, slotid);
	int			ordinal;
	int			kid;

	if (node == NULL ||
		(fpt_node_used(g, node) & (UINT64CONST(1) << (slotid % g->cap))) == 0 ||
		fpt_slot_tid(g, node, slotid % g->cap) != tid)
		return false;

	/* A free node keeps its bytes: it must be one in use. */
	ordinal = slotid / g->cap;
	for (kid = 0; kid < fpt_header(page)->nkids; kid++)
	{
		if (fpt_kid(g, page, kid) == ordinal)
			return true;
	}
	return false;
}

bool
fpt_page_hint_get(const FPTLayout *l, void *page, int slotid)
{
	const FPTGeom *g = fpt_geom_of(l, page);

	return fpt_slotid_node(g, page, slotid) != NULL &&
		fpt_hint_test(g, page, slotid);
}

void
fpt_page_hint_set(const FPTLayout *l, void *page, int slotid)
{
	const FPTGeom *g = fpt_geom_of(l, page);

	if (fpt_slotid_node(g, page, slotid) != NULL)
		((uint8 *) page)[fpt_hint_off(g, page) + slotid / 8] |=
			1 << (slotid % 8);
}
