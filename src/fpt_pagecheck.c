/*-------------------------------------------------------------------------
 *
 * fpt_pagecheck.c
 *	  Page kernel: full structural check of one page image.
 *
 * Every invariant of a page that can be seen from the page alone is checked
 * here, and only here; fpt_check.c adds those between pages.
 *
 *-------------------------------------------------------------------------
 */
#include "fpt_kernel_int.h"

/* What fpt_page_check carries from node to node. */
typedef struct FPTCheckState
{
	FPTPage		pg;
	FPTKey		low;
	FPTKey		high;
	FPTKey		prev;			/* last entry seen */
	int			nseen;
	int			prevcode;		/* its number in the dictionary, or -1 */
	uint8		taken_bytes[BLCKSZ / 8];	/* by tuples, a bit each */
	bool		taken[FPT_MAX_NODES + 1];
} FPTCheckState;

/* Does a tuple share bytes with another one?  (It lies within the page.) */
static bool
fpt_tuple_overlaps(FPTCheckState *st, const FPTKey *k)
{
	int			end = (int) (k->tup - st->pg.p) + (int) k->len;
	int			i;

	if (k->len == 0)
		return false;
	for (i = end - fpt_tuple_space(k->len); i < end; i++)
	{
		if (st->taken_bytes[i / 8] & (1 << (i % 8)))
			return true;
		st->taken_bytes[i / 8] |= 1 << (i % 8);
	}
	return false;
}

static bool
fpt_fence_valid(FPTCheckState *st, const FPTFence *f)
{
	const FPTLayout *l = st->pg.l;
	FPTKey		k = fpt_fence_get(l, st->pg.p, f);
	bool		infinite = k.cls == FPT_CLS_MINF || k.cls == FPT_CLS_PINF;

	if (infinite ? k.len > 0 : fpt_tuple_overlaps(st, &k))
		return false;
	if (((f->tidcls >> 48) & 0xFF) != 0 || k.cls > FPT_CLS_PINF)
		return false;
	if (k.cls != FPT_CLS_VALUE)
		return k.hi == 0 && k.lo == 0;
	if (l->keysize <= 8 && k.hi != 0)
		return false;
	return l->keysize > 4 || k.lo <= 0xFFFFFFFF;
}

static const char *
fpt_check_header(FPTCheckState *st, uint32 pageno)
{
	FPTPageHeader *h = fpt_header(st->pg.p);
	FPTPageSpecial *s = fpt_special(st->pg.p);

	if (!fpt_page_sane(st->pg.l, st->pg.p, pageno))
		return "page header, identity or encoding is not valid";
	if ((h->ndict != 0 && !fpt_has_dict(st->pg.g)) || s->reserved[0] != 0 ||
		s->reserved[1] != 0 || s->reserved[2] != 0)
		return "reserved bytes of the page header are not zero";
	if (!fpt_fence_valid(st, &h->high))
		return "high fence is not valid";
	if (!fpt_fence_valid(st, &s->low))
		return "low fence is not valid";
	if ((st->pg.l->keysize <= 8 && s->base_hi != 0) ||
		(fpt_has_dict(st->pg.g) && s->base_lo != 0) ||
		(st->pg.l->keysize == 4 && s->base_lo > 0xFFFFFFFF))
		return "key base is not valid";
	st->low = fpt_page_low(st->pg.l, st->pg.p);
	st->high = fpt_page_high(st->pg.l, st->pg.p);
	if (fpt_key_cmp(st->pg.l, &st->low, &st->high) >= 0)
		return "low fence is not below the high fence";
	if ((st->high.cls == FPT_CLS_PINF) != (h->right == FPT_NOPAGE))
		return "high fence and right link disagree about being rightmost";
	if ((st->low.cls == FPT_CLS_MINF) != (h->left == FPT_NOPAGE))
		return "low fence and left link disagree about being leftmost";
	if (h->level > 0 && h->nkids == 0)
		return "inner page has no entries";
	return NULL;
}

/* Was the last entry one that stands for minus infinity and has no tuple? */
static inline bool
fpt_is_minf_entry(FPTCheckState *st)
{
	return fpt_is_general(st->pg.l) && fpt_header(st->pg.p)->level > 0 &&
		st->nseen == 1 && st->low.cls == FPT_CLS_MINF;
}

/* One entry against its predecessor, the fences and its separator. */
static const char *
fpt_check_entry(FPTCheckState *st, const FPTEntry *e)
{
	bool		inner = fpt_header(st->pg.p)->level > 0;
	FPTPageSpecial *s = fpt_special(st->pg.p);

	if (st->nseen > 0 &&
		(fpt_is_minf_entry(st) ? fpt_image_cmp(&st->prev, &e->key) > 0 :
		 fpt_key_cmp(st->pg.l, &st->prev, &e->key) >= 0))
		return "entries are out of order";
	if (inner && st->nseen == 0)
	{
		/* The first separator repeats the low fence, or means -infinity. */
		if (st->low.cls != FPT_CLS_MINF &&
			fpt_key_cmp(st->pg.l, &st->low, &e->key) != 0)
			return "first separator differs from the low fence";
	}
	else if (fpt_key_cmp(st->pg.l, &e->key, &st->low) < 0)
		return "entry is below the low fence";
	if (!(st->nseen == 0 && inner && fpt_is_general(st->pg.l) &&
		  st->low.cls == FPT_CLS_MINF) &&
		fpt_key_cmp(st->pg.l, &e->key, &st->high) >= 0)
		return "entry is not below the high fence";
	if (st->pg.l->keysize <= 8 &&
		(e->key.hi != 0 || (st->pg.l->keysize == 4 && e->key.lo > 0xFFFFFFFF)))
		return "key is wider than the key size";
	if (e->key.cls == FPT_CLS_VALUE &&
		(e->key.hi < s->base_hi ||
		 (e->key.hi == s->base_hi && e->key.lo < s->base_lo)))
		return "key is beyond the largest one";
	if (inner && (e->down == FPT_METAPAGE || e->down == FPT_ROOTPAGE))
		return "downlink points to the metapage or the root";
	if (!inner && !fpt_tid_is_valid(e->key.tid))
		return "heap TID is not valid";
	st->prev = e->key;
	st->nseen++;
	return NULL;
}

/* Is the separator of a kid between its neighbours' entries? */
static const char *
fpt_check_separator(FPTCheckState *st, int kid, const FPTEntry *first,
					int code)
{
	FPTPageHeader *h = fpt_header(st->pg.p);
	int			vfrom = st->pg.l->nullsfirst ? h->nnull : 0;
	FPTPageSpecial *s = fpt_special(st->pg.p);
	FPTKey		sep;
	uint64		hi,
				lo;

	if (first->key.cls != FPT_CLS_VALUE || kid == vfrom)
		return NULL;
	fpt_array_rel(st->pg.g->kw, st->pg.p + FPT_LINE, st->pg.g->maxnodes, kid,
				  &hi, &lo);
	if (fpt_has_dict(st->pg.g))
	{
		if ((int) lo > code)
			return "separator is above its node's first entry";
		return (int) lo >= st->prevcode ? NULL :
			"separator is below the previous node's last entry";
	}
	sep.lo = lo + s->base_lo;
	sep.hi = hi + s->base_hi + (sep.lo < lo ? 1 : 0);
	sep.cls = FPT_CLS_VALUE;
	sep.tid = 0;
	if (fpt_image_cmp(&sep, &first->key) > 0)
		return "separator is above its node's first entry";
	if (fpt_image_cmp(&sep, &st->prev) < 0)
		return "separator is below the previous node's last entry";
	return NULL;
}

static const char *
fpt_check_node(FPTCheckState *st, int kid)
{
	FPTPage		pg = st->pg;
	char	   *node = fpt_kid_node(pg, kid);
	int			ordinal = fpt_kid(pg, kid);
	uint32		cls = fpt_kid_cls(st->pg, kid);
	uint64		seen = 0;
	int			count;
	int			i;

	if (node == NULL)
		return "in-page root points to a node that does not exist";
	if (st->taken[ordinal])
		return "in-page root points to a node twice";
	st->taken[ordinal] = true;
	if (((FPTNode *) node)->used & ~pg.g->capmask)
		return "node uses slots it does not have";
	count = fpt_popcount(fpt_node_used(pg.g, node));
	if (count == 0)
		return "node in use is empty";
	for (i = 0; i < count; i++)
	{
		int			slot = fpt_node_perm(pg.g, node)[i];
		const char *msg;
		FPTEntry	e;
		uint64		hi,
					lo;

		if (slot >= pg.g->cap ||
			(fpt_node_used(pg.g, node) & (UINT64CONST(1) << slot)) == 0)
			return "node's order names a slot that is not in use";
		if (seen & (UINT64CONST(1) << slot))
			return "node's order names a slot twice";
		seen |= UINT64CONST(1) << slot;
		if (!fpt_slot_entry(pg, node, slot, cls, &e))
			return "tuple is not within the page's tuples";
		if (!fpt_has_dict(pg.g) && fpt_tuple_overlaps(st, &e.key))
			return "tuples overlap";
		if (fpt_is_low_entry(pg.g, kid, i))
		{
			if (e.key.len > 0)
				return "first separator has a tuple";
			e.key.len = st->low.len;
			e.key.tup = st->low.tup;
		}
		if (cls != FPT_CLS_VALUE && !fpt_has_dict(pg.g))
		{
			/* searches compare the stored key with zero */
			fpt_slot_rel(pg.g, node, slot, &hi, &lo);
			if (hi != 0 || lo != 0)
				return "NULL entry has a key";
		}
		if (i == 0)
		{
			msg = fpt_check_separator(st, kid, &e, fpt_slot_code(node, slot));
			if (msg)
				return msg;
		}
		msg = fpt_check_entry(st, &e);
		if (msg)
			return msg;
		st->prevcode = fpt_slot_code(node, slot);
	}
	return NULL;
}

/* The keys of the dictionary are of one class, and ascend. */
static const char *
fpt_check_dict(FPTCheckState *st)
{
	FPTPageHeader *h = fpt_header(st->pg.p);
	uint32		cls = fpt_kid_cls(st->pg, 0);
	FPTKey		prev = {0};
	int			upper = h->std.pd_upper;
	int			i;

	if (!fpt_has_dict(st->pg.g))
		return NULL;
	if (h->nnull != 0 && h->nnull != h->nkids)
		return "page with a dictionary has both NULLs and values";
	for (i = upper; i < upper + fpt_dict_bytes(st->pg); i++)
	{
		if (st->taken_bytes[i / 8] & (1 << (i % 8)))
			return "dictionary overlaps tuples";
		st->taken_bytes[i / 8] |= 1 << (i % 8);
	}
	for (i = 0; i < h->ndict; i++)
	{
		FPTKey		k;
		uint64		head;

		if (!fpt_dict_key(st->pg.p, i, cls, &k) || fpt_tuple_overlaps(st, &k))
			return "tuple of the dictionary is not within the page's tuples";

		/* without entries nobody knows of which class they were */
		k.tid = 0;
		if (i > 0 && h->nkids > 0 && fpt_key_cmp(st->pg.l, &prev, &k) >= 0)
			return "keys of the dictionary are out of order";
		memcpy(&head, fpt_dict_heads(st->pg.p) + i * sizeof(head),
			   sizeof(head));
		if (h->nnull != 0 && head != 0)
			return "NULL of the dictionary has a head";
		prev = k;
	}
	return NULL;
}

/* Hints may be set for used slots of nodes in use only. */
static const char *
fpt_check_hints(FPTCheckState *st)
{
	const FPTGeom *g = st->pg.g;
	int			n = !fpt_has_tuples(g) ? (int) g->capacity :
		fpt_header(st->pg.p)->nnodes * g->cap;
	int			i;

	if (!fpt_is_leaf(g))
		return NULL;
	for (i = 0; i < n; i++)
	{
		int			ordinal = i / g->cap;
		char	   *node = fpt_node(st->pg, ordinal);

		if (fpt_hint_test(st->pg, i) &&
			(!st->taken[ordinal] ||
			 (fpt_node_used(g, node) & (UINT64CONST(1) << (i % g->cap))) == 0))
			return "dead-entry hint for a slot that is not in use";
	}
	return NULL;
}

/* The hole is zero but for the hints: WAL records count on it. */
static const char *
fpt_check_hole(FPTCheckState *st)
{
	FPTPageHeader *h = fpt_header(st->pg.p);
	int			from = h->std.pd_lower;
	int			end = h->std.pd_upper;
	int			i;

	if (fpt_has_tuples(st->pg.g))
		from += fpt_hint_bytes(st->pg.g, h->nnodes);
	else if (fpt_is_leaf(st->pg.g))
		end = st->pg.g->hint_off;
	for (i = from; i < end; i++)
	{
		if (st->pg.p[i] != 0)
			return "free space between nodes and hints is not zero";
	}
	return NULL;
}

const char *
fpt_page_check(const FPTLayout *l, void *page, uint32 pageno)
{
	FPTCheckState st;
	const char *msg;
	int			kid;

	memset(&st, 0, sizeof(st));
	st.pg = fpt_page_open(l, page);
	msg = fpt_check_header(&st, pageno);
	if (msg)
		return msg;
	msg = fpt_check_hole(&st);
	if (msg)
		return msg;
	if (fpt_header(page)->flags & FPT_F_DELETED)
		return fpt_header(page)->nkids == 0 ? NULL :
			"deleted page has entries";
	msg = fpt_check_dict(&st);
	if (msg)
		return msg;
	for (kid = 0; kid < fpt_header(page)->nkids; kid++)
	{
		msg = fpt_check_node(&st, kid);
		if (msg)
			return msg;
	}
	return fpt_check_hints(&st);
}
