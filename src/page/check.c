/*-------------------------------------------------------------------------
 *
 * page/check.c
 *	  Page kernel: full structural check of one page image.
 *
 * Every invariant of a page that can be seen from the page alone is checked
 * here, and only here; sql/check.c adds those between pages.
 *
 *-------------------------------------------------------------------------
 */
#include "page/check.h"
#include "page/coding.h"
#include "page/format.h"
#include "page/kernel.h"
#include "page/node.h"
#include "page/number_check.h"
#include "page/order.h"

/* What fpt_page_check carries from node to node. */
typedef struct FPTCheckState
{
	FPTPage		pg;
	FPTKey		low;			/* the fences, once they are checked */
	FPTKey		high;
	FPTKey		prev;			/* last entry seen, if nseen is not 0, */
	FPTKey		stored;			/* and with the head that is stored */
	int			nseen;			/* entries so far */
	int			prevcode;		/* prev's number, if there is a dictionary */
	uint8		taken_bytes[BLCKSZ / 8];	/* by tuples, a bit each */
	bool		taken[FPT_MAX_NODES + 1];	/* by node number: in use */
	bool		compare;		/* keys: else general ones are not */
	FPTFault   *fault;			/* where to say what is wrong */
} FPTCheckState;

/*
 * Note what is wrong and which field says so; returns "what", never NULL.  The
 * checks below return that, or NULL: nothing wrong was found.
 */
static const char *
fpt_fault(FPTCheckState *st, const char *what, const char *field,
		  uint64 value)
{
	Assert(what != NULL && field != NULL);
	Assert(st->fault->rank < 0 || st->fault->kid >= 0);
	st->fault->what = what;
	st->fault->field = field;
	st->fault->value = value;
	return what;
}

/*
 * Are these keys, which should ascend, seen not to?  May raise if keys are
 * compared.
 */
static bool
fpt_not_below(FPTCheckState *st, const FPTKey *a, const FPTKey *b)
{
	return st->compare && fpt_key_cmp(st->pg.l, a, b) >= 0;
}

/*
 * Does a tuple share bytes with another one?  (It lies within the page.)  Its
 * bytes, the length in front included, are taken from now on, so each tuple is
 * asked about once: a second offset that leads to it is an overlap, too.
 */
static bool
fpt_tuple_overlaps(FPTCheckState *st, const FPTKey *k)
{
	int			end = (int) (k->tup - st->pg.p) + (int) k->len;
	int			i;

	Assert(k->len == 0 || (k->tup > st->pg.p && end <= FPT_SPECIAL_OFFSET));
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

/*
 * Can this be a fence, whose tuple is known to lie within the page?  Takes the
 * tuple's bytes.  Raises nothing.
 */
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

/*
 * What tells one page from another: what fpt_page_sane() asks, one by one, so
 * that the field can be told.  Raises nothing.
 */
static const char *
fpt_check_identity(FPTCheckState *st, uint32 pageno)
{
	static const char *const what = "page header or identity is not valid";
	FPTPageHeader *h = fpt_header(st->pg.p);
	FPTPageSpecial *s = fpt_special(st->pg.p);

	if (h->std.pd_special != FPT_SPECIAL_OFFSET)
		return fpt_fault(st, what, "pd_special", h->std.pd_special);
	if (s->pageid != FPT_PAGE_ID)
		return fpt_fault(st, what, "page id", s->pageid);
	if (s->version != FPT_VERSION)
		return fpt_fault(st, what, "format version", s->version);
	if (s->pageno != pageno)
		return fpt_fault(st, what, "page number", s->pageno);
	if (s->indexid != st->pg.l->indexid)
		return fpt_fault(st, what, "index id", s->indexid);
	if ((h->flags & ~FPT_F_ALL) != 0 || (h->flags & FPT_F_META) != 0)
		return fpt_fault(st, what, "flags", h->flags);
	if (h->level > FPT_MAX_LEVEL)
		return fpt_fault(st, what, "level", h->level);
	if (s->tidbase > FPT_MAX_TIDBASE)
		return fpt_fault(st, what, "block of TIDs", s->tidbase);
	return NULL;
}

/*
 * Is pd_upper where tuples begin, or where fpt_tuple_put() would have it?  Not
 * asked before fpt_hole_sound(); of image pages it is where the special line
 * is.
 */
static bool
fpt_reserve_sound(FPTPage pg)
{
	int			upper = fpt_header(pg.p)->std.pd_upper;
	int			from = fpt_tuples_from(pg);

	Assert(upper >= fpt_hole_from(pg));
	Assert(upper <= from && from <= FPT_SPECIAL_OFFSET);
	return upper == from ||
		(from - upper < FPT_TUPLE_RESERVE &&
		 (upper % FPT_TUPLE_RESERVE == 0 || upper == fpt_hole_from(pg)));
}

/*
 * Encoding, counts and borders; where nothing is wrong st->pg.g is not NULL.
 * Raises nothing.
 */
static const char *
fpt_check_encoding(FPTCheckState *st)
{
	static const char *const what = "page's encoding or counts are not valid";
	FPTPageHeader *h = fpt_header(st->pg.p);
	const FPTGeom *g = st->pg.g;

	if (g == NULL)
	{
		if (h->nkids > h->nnodes)
			return fpt_fault(st, what, "number of nodes in use", h->nkids);
		if (h->nnull > h->nkids)
			return fpt_fault(st, what, "number of NULL nodes", h->nnull);

		/* the encoding is none, or one of fewer nodes or keys */
		return fpt_fault(st, what, "encoding", h->enc);
	}
	Assert(h->nnull <= h->nkids && h->nkids <= h->nnodes);
	Assert(h->nnodes <= g->maxnodes);
	if (h->std.pd_lower != fpt_lower(g, h->nnodes))
		return fpt_fault(st, what, "pd_lower", h->std.pd_lower);
	if (!fpt_rowbits_sound(st->pg))
		return fpt_fault(st, what, "bits of a row",
						 fpt_special(st->pg.p)->rowbits);
	if (fpt_shares_space(g) ? !fpt_hole_sound(st->pg) :
		h->std.pd_upper != FPT_SPECIAL_OFFSET)
		return fpt_fault(st, what, "pd_upper", h->std.pd_upper);
	if (!fpt_reserve_sound(st->pg))
		return fpt_fault(st, what, "pd_upper", h->std.pd_upper);
	return NULL;
}

/*
 * Both fences, and that the links to siblings agree with them.  Sets st's low
 * and high.  May raise.
 */
static const char *
fpt_check_fences(FPTCheckState *st)
{
	FPTPageHeader *h = fpt_header(st->pg.p);
	FPTPageSpecial *s = fpt_special(st->pg.p);

	if (fpt_is_general(st->pg.l) && !fpt_fence_sound(st->pg.p, &h->high))
		return fpt_fault(st, "high fence is not valid", "offset of its tuple",
						 h->high.hi);
	if (fpt_is_general(st->pg.l) && !fpt_fence_sound(st->pg.p, &s->low))
		return fpt_fault(st, "low fence is not valid", "offset of its tuple",
						 s->low.hi);
	if (!fpt_fence_valid(st, &h->high) ||
		h->high.tidcls >> 56 == FPT_CLS_MINF)
		return fpt_fault(st, "high fence is not valid", "class and TID",
						 h->high.tidcls);
	if (!fpt_fence_valid(st, &s->low))
		return fpt_fault(st, "low fence is not valid", "class and TID",
						 s->low.tidcls);
	st->low = fpt_page_low(st->pg.l, st->pg.p);
	st->high = fpt_page_high(st->pg.l, st->pg.p);
	if (fpt_not_below(st, &st->low, &st->high))
		return fpt_fault(st, "low fence is not below the high fence",
						 "lower half of the low one", st->low.lo);
	if ((st->high.cls == FPT_CLS_PINF) != (h->right == FPT_NOPAGE))
		return fpt_fault(st,
						 "high fence and right link disagree about being rightmost",
						 "right link", h->right);
	if ((st->low.cls == FPT_CLS_MINF) != (h->left == FPT_NOPAGE))
		return fpt_fault(st,
						 "low fence and left link disagree about being leftmost",
						 "left link", h->left);
	return NULL;
}

/* The prefix, if there is one.  Takes its bytes; raises nothing. */
static const char *
fpt_check_prefix(FPTCheckState *st)
{
	static const char *const what = "prefix is not valid";
	FPTPageSpecial *s = fpt_special(st->pg.p);
	FPTKey		k = {.len = 0};

	if (!fpt_prefix_sound(st->pg))
		return fpt_fault(st, what, "offset of its tuple", s->prefix);
	k.tup = fpt_page_prefix(st->pg.p, &k.len);
	if (fpt_tuple_overlaps(st, &k))
		return fpt_fault(st, "tuples overlap", "offset of the prefix",
						 s->prefix);
	return NULL;
}

/*
 * Line 0 and the last line.  Nothing else is looked at before this has found
 * nothing.  May raise.
 */
static const char *
fpt_check_header(FPTCheckState *st, uint32 pageno)
{
	static const char *const reserved =
	"reserved bytes of the page header are not zero";
	FPTPageHeader *h = fpt_header(st->pg.p);
	FPTPageSpecial *s = fpt_special(st->pg.p);
	const char *msg;

	msg = fpt_check_identity(st, pageno);
	if (msg == NULL)
		msg = fpt_check_encoding(st);
	if (msg != NULL)
		return msg;
	if (h->ndict != 0 && !fpt_has_dict(st->pg.g))
		return fpt_fault(st, reserved, "number of keys", h->ndict);
	if (s->reserved != 0 || s->t != 0 || s->unit != 0)
		return fpt_fault(st, reserved, "bytes of the last line",
						 s->reserved != 0 ? s->reserved : s->t | s->unit);
	if (s->bits != 0 && (h->enc & FPT_ENC_BITS) == 0)
		return fpt_fault(st, reserved, "bits of keys", s->bits);
	msg = fpt_check_fences(st);
	if (msg == NULL)
		msg = fpt_check_prefix(st);
	if (msg != NULL)
		return msg;
	Assert(fpt_page_sane(st->pg.l, st->pg.p, pageno));
	if (fpt_is_fixed(st->pg.l, st->pg.p) &&
		s->base_hi >> FPT_FIXED_HIGHBITS != 0)
		return fpt_fault(st, "key base is not valid", "upper half", s->base_hi);
	if (st->pg.l->keysize <= 8 && s->base_hi != 0)
		return fpt_fault(st, "key base is not valid", "upper half", s->base_hi);
	if ((fpt_has_dict(st->pg.g) && s->base_lo != 0) ||
		(st->pg.l->keysize == 4 && s->base_lo > 0xFFFFFFFF))
		return fpt_fault(st, "key base is not valid", "lower half", s->base_lo);
	if (h->level > 0 && h->nkids == 0 && !(h->flags & FPT_F_DELETED))
		return fpt_fault(st, "inner page has no entries", "nodes in use", 0);
	return NULL;
}

/* Was the last entry one that stands for minus infinity and has no tuple? */
static inline bool
fpt_is_minf_entry(FPTCheckState *st)
{
	return fpt_is_general(st->pg.l) && fpt_header(st->pg.p)->level > 0 &&
		st->nseen == 1 && st->low.cls == FPT_CLS_MINF;
}

/*
 * The order of a separator, as it is stored, and an entry's key, where keys
 * lend bits; 0: they do not, or the two are stored as the same.
 */
static int
fpt_check_lent(FPTCheckState *st, uint64 sep, const FPTKey *key)
{
	uint64		hi,
				lo;

	if (!fpt_is_lent(st->pg.l, st->pg.p) ||
		fpt_rel(st->pg, key, &hi, &lo) != 0)
		return 0;
	return sep < lo ? -1 : sep > lo;
}

/*
 * One entry against its predecessor and the low fence; separators are
 * fpt_check_separator()'s.  Of the fences the first and the last entry are
 * asked (fpt_check_last), as all are above the one before.  Makes it st's prev.
 * May raise.  "key is beyond the largest one": base and stored key together
 * have gone past all bits, so that the sum is below the base.
 */
static const char *
fpt_check_entry(FPTCheckState *st, const FPTEntry *e)
{
	bool		inner = fpt_header(st->pg.p)->level > 0;
	FPTPageSpecial *s = fpt_special(st->pg.p);
	uint64		hi = e->key.hi;
	uint64		lo = e->key.lo;

	Assert(st->nseen >= 0 && st->nseen < (int) st->pg.g->capacity);
	if (fpt_is_fixed(st->pg.l, st->pg.p))
		fpt_key_squeeze(&hi, &lo);
	if (st->nseen > 0 &&
		(fpt_is_minf_entry(st) ?
		 st->compare && fpt_image_cmp(&st->prev, &e->key) > 0 :
		 fpt_not_below(st, &st->prev, &e->key)))
		return fpt_fault(st, "entries are out of order", "key, lower half",
						 e->key.lo);
	if (inner && st->nseen == 0)
	{
		/*
		 * The first separator is the low fence, or means -infinity.  Where the
		 * page has a prefix, which the fence need not begin with, its head is
		 * any that is not above the next one's.
		 */
		if (st->low.cls != FPT_CLS_MINF &&
			(st->low.cls != e->key.cls || st->low.tid != e->key.tid ||
			 (s->prefix == 0 && fpt_image_cmp(&st->low, &e->key) != 0)))
			return fpt_fault(st, "first separator differs from the low fence",
							 "key, lower half", e->key.lo);
	}
	else if (st->nseen == 0 && st->compare &&
			 fpt_key_cmp(st->pg.l, &e->key, &st->low) < 0)
		return fpt_fault(st, "entry is below the low fence",
						 "key, lower half", e->key.lo);
	if (st->pg.l->keysize <= 8 &&
		(e->key.hi != 0 || (st->pg.l->keysize == 4 && e->key.lo > 0xFFFFFFFF)))
		return fpt_fault(st, "key is wider than the key size",
						 "key, lower half", e->key.lo);
	if (e->key.cls == FPT_CLS_VALUE &&
		(hi < s->base_hi || (hi == s->base_hi && lo < s->base_lo)))
		return fpt_fault(st, "key is beyond the largest one",
						 "key, lower half", e->key.lo);
	if (inner && e->down == FPT_METAPAGE)
		return fpt_fault(st, "downlink points to the metapage",
						 "downlink", e->down);
	if (!inner && !fpt_tid_is_valid(e->key.tid))
		return fpt_fault(st, "heap TID is not valid", "TID", e->key.tid);
	st->prev = st->stored = e->key;
	if (s->prefix != 0 && inner && st->nseen == 0 &&
		st->low.cls != FPT_CLS_MINF)
		st->prev = st->low;
	st->nseen++;
	return NULL;
}

/*
 * Is the separator of a kid between its neighbours' entries?  "code" is the
 * number of its first entry in a dictionary.  Separators that no search looks
 * at may be anything.  Raises nothing.
 */
static const char *
fpt_check_separator(FPTCheckState *st, int kid, const FPTEntry *first,
					int code)
{
	static const char *const above =
	"separator is above its node's first entry";
	static const char *const below =
	"separator is below the previous node's last entry";
	FPTPageHeader *h = fpt_header(st->pg.p);
	int			vfrom = st->pg.l->nullsfirst ? h->nnull : 0;
	FPTKey		sep;
	uint64		hi,
				lo;

	if (first->key.cls != FPT_CLS_VALUE || kid == vfrom)
		return NULL;
	fpt_sep_get(st->pg, kid, &hi, &lo);
	if (fpt_has_dict(st->pg.g))
	{
		Assert(code >= 0 && code < h->ndict && hi == 0);
		if ((int) lo > code)
			return fpt_fault(st, above, "number of the separator", lo);
		if ((int) lo < st->prevcode)
			return fpt_fault(st, below, "number of the separator", lo);
		return NULL;
	}
	fpt_unrel(st->pg, hi, lo, &sep.hi, &sep.lo);
	sep.cls = FPT_CLS_VALUE;
	sep.tid = 0;
	if (fpt_image_cmp(&sep, &first->key) > 0 ||
		fpt_check_lent(st, lo, &first->key) > 0)
		return fpt_fault(st, above, "separator, lower half", sep.lo);
	if (fpt_image_cmp(&sep, &st->stored) < 0 ||
		fpt_check_lent(st, lo, &st->stored) < 0)
		return fpt_fault(st, below, "separator, lower half", sep.lo);
	return NULL;
}

/*
 * A slot of one of the kid's nodes that its order names, which has it: its
 * tuple and stored key.  Fills *e if nothing is wrong, its tuple being the
 * page's.  Raises nothing.
 */
static const char *
fpt_check_slot(FPTCheckState *st, int kid, int rank, char *node, int slot,
			   FPTEntry *e)
{
	FPTPage		pg = st->pg;
	uint64		base = fpt_kid_base(pg, kid);
	uint32		cls = fpt_kid_cls(pg, kid);
	uint64		hi,
				lo;

	Assert(slot >= 0 && slot < pg.g->cap);
	if (!fpt_slot_entry(pg, node, base, slot, cls, e))
		return fpt_fault(st, "tuple is not within the page's tuples",
						 fpt_has_dict(pg.g) ? "number" : "offset",
						 fpt_has_dict(pg.g) ? fpt_slot_code(node, slot) :
						 fpt_slot_off(pg.g, node, slot));
	if (!fpt_has_dict(pg.g) && fpt_tuple_overlaps(st, &e->key))
		return fpt_fault(st, "tuples overlap", "offset",
						 fpt_slot_off(pg.g, node, slot));
	if (fpt_is_low_entry(pg.g, kid, rank))
	{
		if (e->key.len > 0)
			return fpt_fault(st, "first separator has a tuple", "length",
							 e->key.len);
		if (fpt_special(pg.p)->prefix == 0)
		{
			e->key.len = st->low.len;
			e->key.tup = st->low.tup;
		}
	}
	else if (fpt_special(pg.p)->prefix != 0 && cls == FPT_CLS_VALUE &&
			 e->key.len == 0)
		return fpt_fault(st, "entry of a page with a prefix has no tuple",
						 "offset", 0);
	if (fpt_has_dict(pg.g))
		return NULL;
	fpt_slot_rel(pg.g, node, base, slot, &hi, &lo);

	/* searches compare the stored key with zero */
	if (cls != FPT_CLS_VALUE && (hi != 0 || lo != 0))
		return fpt_fault(st, "NULL entry has a key", "key, lower half", lo);

	/* no search gets that far, nor beyond the end of all numbers */
	if (!fpt_fits(pg.g->kw, hi, lo) || fpt_word(pg.g, hi, lo) < base)
		return fpt_fault(st, "key is too far from the page's base",
						 "key, lower half", lo);
	return NULL;
}

/*
 * A kid's node: it is this one's alone, and has entries.  Sets st's taken.
 * Raises nothing.
 */
static const char *
fpt_check_node_used(FPTCheckState *st, char *node, int ordinal)
{
	uint64		used;

	if (st->taken[ordinal])
		return fpt_fault(st, "in-page root points to a node twice",
						 "node number", ordinal);
	st->taken[ordinal] = true;
	used = st->pg.g->perm ? ((FPTNode *) node)->used :
		fpt_node_used(st->pg.g, node);
	if (used & ~st->pg.g->capmask)
		return fpt_fault(st, "node uses slots it does not have", "used", used);
	if (used == 0)
		return fpt_fault(st, "node in use is empty", "used", 0);
	return NULL;
}

/*
 * The last entry, after all nodes, against the high fence.  One that stands for
 * minus infinity has no tuple to compare.  May raise.
 */
static const char *
fpt_check_last(FPTCheckState *st)
{
	if (st->nseen > 0 && !fpt_is_minf_entry(st) &&
		fpt_not_below(st, &st->prev, &st->high))
		return fpt_fault(st, "entry is not below the high fence",
						 "key, lower half", st->prev.lo);
	return NULL;
}

/*
 * Free slots of a node without a bitmap: their TIDs are zero, not just those
 * bytes of them that tell which slots are free, unless slots own tuples.  What
 * is left of a TID is an entry that got lost.  Where slots own tuples fw is the
 * width of what tells, and there is nothing to find.  Raises nothing.
 */
static const char *
fpt_check_free_slots(FPTCheckState *st, const char *node)
{
	const FPTGeom *g = st->pg.g;
	uint64		free = ~fpt_node_used(g, node) & g->capmask;

	for (; !g->perm && free != 0; free &= free - 1)
	{
		uint64		tid = fpt_load_uint(node + g->tid_off +
										fpt_ctz(free) * g->pw, g->fw);

		if (tid != 0)
			return fpt_fault(st, "free slot has a block of a TID", "stored TID",
							 tid);
	}
	return NULL;
}

/*
 * Where TIDs are relative to nodes: each far one is that of a slot or more, and
 * what the near ones are relative to is a row that the page can have.  Raises
 * nothing.
 */
static const char *
fpt_check_far(FPTCheckState *st, const char *node)
{
	const FPTGeom *g = st->pg.g;
	int			rowbits = fpt_special(st->pg.p)->rowbits;
	uint32		seen = 0;

	if (!fpt_has_far(g))
		return NULL;
	for (uint64 used = fpt_node_used(g, node); used != 0; used &= used - 1)
	{
		int			far = fpt_slot_far(g, node, fpt_ctz(used));

		if (far < 0)
		{
			uint64		row = (uint64) fpt_node_row(g, node) +
				fpt_slot_byte(g, node, fpt_ctz(used)) - 1;

			if (row >> rowbits >> FPT_ROW_BLOCKBITS != 0)
				return fpt_fault(st, "row is beyond the last one", "its number",
								 row);
			continue;
		}
		seen |= 1u << far;
	}
	for (int i = 0; i < g->nfar; i++)
	{
		uint32		tid = fpt_far_get(g, node, i);

		if ((tid != 0) != ((seen >> i & 1) != 0))
			return fpt_fault(st, "far TID is not that of a slot", "stored TID",
							 tid);
		if (tid != 0 && (~tid & ((1u << g->farbits) - 1)) != 0)
			return fpt_fault(st, "far TID is not the last of its rows",
							 "stored TID", tid);
	}
	if (fpt_node_row(g, node) >> rowbits >> FPT_ROW_BLOCKBITS != 0)
		return fpt_fault(st, "row of a node is not valid", "its number",
						 fpt_node_row(g, node));
	return NULL;
}

/*
 * A kid and all of its entries, after the kids before it.  Sets the fault's kid
 * and rank.  May raise.  The permutation is copied as it is, as what is wrong
 * with it is to be named; fpt_node_order() would only say that something is.
 */
static const char *
fpt_check_entries(FPTCheckState *st, int kid)
{
	FPTPage		pg = st->pg;
	FPTKid		k;
	const char *msg;
	uint8		slots[FPT_MAX_CAP];
	uint64		seen = 0;
	int			count;

	st->fault->kid = kid;
	if (!fpt_kid_open(pg, kid, &k))
		return fpt_fault(st, "in-page root points to a node that does not exist",
						 "node number", fpt_kid(pg, kid));
	msg = fpt_check_node_used(st, k.node, k.ordinal);
	if (msg == NULL)
		msg = fpt_check_free_slots(st, k.node);
	if (msg == NULL)
		msg = fpt_check_far(st, k.node);
	if (msg != NULL)
		return msg;
	count = fpt_popcount(fpt_node_used(pg.g, k.node));
	if (pg.g->perm)
		memcpy(slots, fpt_node_perm(pg.g, k.node), count);
	else
		(void) fpt_node_order(pg, k.node, slots);
	for (int i = 0; i < count && msg == NULL; i++)
	{
		int			slot = slots[i];
		char	   *node = k.node;
		FPTEntry	e;

		st->fault->rank = i;
		if (slot >= pg.g->cap || !fpt_slot_used(pg.g, node, slot))
			return fpt_fault(st,
							 "node's order names a slot that is not in use",
							 "slot", slot);
		if (seen & (UINT64CONST(1) << slot))
			return fpt_fault(st, "node's order names a slot twice", "slot",
							 slot);
		seen |= UINT64CONST(1) << slot;
		msg = fpt_check_slot(st, kid, i, node, slot, &e);
		if (msg == NULL && i == 0 && st->compare)
			msg = fpt_check_separator(st, kid, &e, fpt_slot_code(node, slot));
		if (msg == NULL)
			msg = fpt_check_entry(st, &e);
		st->prevcode = fpt_slot_code(node, slot);
	}
	Assert(msg != NULL || fpt_popcount(seen) == count);
	return msg;
}

/*
 * The keys of the dictionary are of one class, and ascend.  Marks the bytes it
 * takes.  May raise.  The class is that of the first kid; keys that have no
 * entries any more are checked as all others are.
 */
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
		return fpt_fault(st, "page with a dictionary has both NULLs and values",
						 "number of NULL nodes", h->nnull);
	Assert(upper >= fpt_hole_from(st->pg));
	Assert(upper + fpt_dict_bytes(st->pg) <= FPT_SPECIAL_OFFSET);
	for (i = upper; i < upper + fpt_dict_bytes(st->pg); i++)
	{
		if (st->taken_bytes[i / 8] & (1 << (i % 8)))
			return fpt_fault(st, "dictionary overlaps tuples", "offset", i);
		st->taken_bytes[i / 8] |= 1 << (i % 8);
	}
	for (i = 0; i < h->ndict; i++)
	{
		FPTKey		k;
		uint64		head;

		if (!fpt_dict_key(st->pg.p, i, cls, &k) || fpt_tuple_overlaps(st, &k))
			return fpt_fault(st,
							 "tuple of the dictionary is not within the page's tuples",
							 "offset", fpt_dict_off(st->pg.p, i));

		/* without entries nobody knows of which class they were */
		k.tid = 0;
		if (i > 0 && h->nkids > 0 && fpt_not_below(st, &prev, &k))
			return fpt_fault(st, "keys of the dictionary are out of order",
							 "head", k.lo);
		memcpy(&head, fpt_dict_heads(st->pg.p) + i * sizeof(head),
			   sizeof(head));
		if (h->nnull != 0 && head != 0)
			return fpt_fault(st, "NULL of the dictionary has a head", "head",
							 head);
		prev = k;
	}
	return NULL;
}

/*
 * Hints may be set for used slots of nodes in use only.  After all nodes, which
 * say what is in use.  Raises nothing.
 */
static const char *
fpt_check_hints(FPTCheckState *st)
{
	const FPTGeom *g = st->pg.g;
	int			n = !fpt_shares_space(g) ? (int) g->capacity :
		fpt_header(st->pg.p)->nnodes * g->cap;
	int			i;

	if (!fpt_is_leaf(g))
		return NULL;
	Assert(n <= (int) g->capacity);
	Assert(fpt_hint_off(st->pg) + (n + 7) / 8 <=
		   fpt_header(st->pg.p)->std.pd_upper);
	for (i = 0; i < n; i++)
	{
		int			ordinal = i / g->cap;
		char	   *node = fpt_node(st->pg, ordinal);

		if (fpt_hint_test(st->pg, i) &&
			(!st->taken[ordinal] ||
			 (fpt_node_used(g, node) & (UINT64CONST(1) << (i % g->cap))) == 0))
			return fpt_fault(st, "dead-entry hint for a slot that is not in use",
							 "slot", i);
	}
	return NULL;
}

/*
 * The hole is zero but for the hints: WAL records count on it (W5).  Raises
 * nothing.
 */
static const char *
fpt_check_hole(FPTCheckState *st)
{
	FPTPageHeader *h = fpt_header(st->pg.p);
	int			from = h->std.pd_lower;
	int			end = h->std.pd_upper;
	int			i;

	if (fpt_shares_space(st->pg.g))
		from += fpt_hint_bytes(st->pg.g, h->nnodes);
	else if (fpt_is_leaf(st->pg.g))
		end = st->pg.g->hint_off;
	Assert(from <= end && end <= FPT_SPECIAL_OFFSET);
	for (i = from; i < end; i++)
	{
		if (st->pg.p[i] != 0)
			return fpt_fault(st, "free space between nodes and hints is not zero",
							 "offset", i);
	}
	return NULL;
}

/*
 * Both kinds of the check: see page/check.h.  Each step relies on what those
 * before it have found sound, so the first fault ends it.  May raise if
 * "compare".
 */
static const char *
fpt_check_page(const FPTLayout *l, void *page, uint32 pageno, bool compare,
			   FPTFault *fault)
{
	FPTCheckState st;
	FPTFault	unwanted;
	const char *msg;

	memset(&st, 0, sizeof(st));
	st.pg = fpt_page_open(l, page);
	st.compare = compare;
	st.fault = fault != NULL ? fault : &unwanted;
	st.fault->kid = st.fault->rank = -1;
	if (fpt_header(page)->enc == FPT_ENC_NUMBER && !fpt_is_general(l))
	{
		msg = fpt_check_identity(&st, pageno);
		if (msg == NULL)
			msg = fpt_check_fences(&st);
		return msg != NULL ? msg : fpt_num_check(l, page, st.fault);
	}
	msg = fpt_check_header(&st, pageno);
	if (msg == NULL)
		msg = fpt_check_hole(&st);
	if (msg != NULL)
		return msg;
	if (fpt_header(page)->flags & FPT_F_DELETED)
		return fpt_header(page)->nkids == 0 ? NULL :
			fpt_fault(&st, "deleted page has entries", "nodes in use",
					  fpt_header(page)->nkids);
	msg = fpt_check_dict(&st);
	for (int kid = 0; msg == NULL && kid < fpt_header(page)->nkids; kid++)
		msg = fpt_check_entries(&st, kid);
	if (msg == NULL)
		msg = fpt_check_last(&st);
	if (msg != NULL)
		return msg;
	Assert(st.nseen == fpt_page_count(l, page));
	st.fault->kid = st.fault->rank = -1;
	return fpt_check_hints(&st);
}

/* See page/check.h. */
const char *
fpt_page_check(const FPTLayout *l, void *page, uint32 pageno, FPTFault *fault)
{
	return fpt_check_page(l, page, pageno, true, fault);
}

/*
 * See page/check.h.  Image keys are compared here as well: that raises nothing.
 */
const char *
fpt_page_check_form(const FPTLayout *l, void *page, uint32 pageno,
					FPTFault *fault)
{
	return fpt_check_page(l, page, pageno, !fpt_is_general(l), fault);
}
