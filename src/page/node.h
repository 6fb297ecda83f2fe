/*-------------------------------------------------------------------------
 *
 * page/node.h
 *	  Accessors shared by the files of the page kernel, and by nobody else.
 *
 * All of them stay inside the page for any contents of a page whose header
 * passed fpt_page_sane(), or fpt_page_geom() alone: ordinals are checked
 * against the geometry, used bits are masked, slots are checked by callers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_NODE_H
#define FPT_PAGE_NODE_H

#include "page/fixed.h"
#include "page/format.h"
#include "page/layout.h"
#include "page/lent.h"
#include "page/number_geom.h"
#include "page/simd.h"

/* An entry with its key relative to the page's base. */
typedef struct FPTRelEntry
{
	uint64		hi;				/* key less base, or its number in the */
	uint64		lo;				/* dictionary; hi: 0 unless keys are wide */
	uint64		tid;			/* whole, not as it is stored */
	uint32		down;			/* 0 in leaf pages */
	uint16		off;			/* of its tuple, 0: empty */
} FPTRelEntry;

/*
 * A page in hand.  Every exported function opens the page that it is given, and
 * the handle lives until it returns, or makes the page one of another encoding;
 * it is passed by value, so that its members stay in registers.  "g" is what
 * fpt_page_open() found: callers of anything else have made sure that it is not
 * NULL.
 */
typedef struct FPTPage
{
	const FPTLayout *l;
	const FPTGeom *g;
	char	   *p;				/* BLCKSZ bytes */
} FPTPage;

/*
 * Has the page an encoding of those that leave out fixed bits, or whose keys
 * lend some?  Asked where its highest bit, or that of an inner page, would make
 * no sense else.
 */
static pg_noinline bool
fpt_bits_sound(const FPTLayout *l, void *page)
{
	FPTPageHeader *h = fpt_header(page);
	int			bits = fpt_special(page)->bits;

	if (h->level > 0 || fpt_is_general(l) ||
		(h->enc & FPT_ENC_KW_MASK) + 1 >= l->keysize)
		return false;
	if (l->keysize == 16)
		return bits <= FPT_FIXED_MAX;
	return (h->enc & FPT_ENC_TID_MASK) >> FPT_ENC_TID_SHIFT ==
		FPT_KIND_LEAF6 - FPT_KIND_LEAF3 && bits >= 1 &&
		bits <= FPT_LENT_MAX && h->nnull == 0;
}

/*
 * Geometry of a page; NULL if its encoding or its counts make no sense.  Not
 * NULL: nodes, root and a dictionary's arrays lie within the page, as far as
 * the counts say, and nnull <= nkids <= nnodes <= maxnodes.  Nothing else of
 * the header has been looked at.
 */
static inline const FPTGeom *
fpt_geom_of(const FPTLayout *l, void *page)
{
	FPTPageHeader *h = fpt_header(page);
	unsigned	upper = h->enc >> FPT_ENC_TID_SHIFT;
	unsigned	kind = FPT_KIND_INNER;
	const FPTGeom *g;

	/* TIDs, and a bit for FPT_ENC_NEAR; inner pages have neither */
	if (upper > (h->level > 0 ? 0 : 7))
	{
		if (h->enc == FPT_ENC_NUMBER)
			return fpt_num_geom(l, page);
		if (!fpt_bits_sound(l, page))
			return NULL;
	}
	if (h->level == 0)
		kind = FPT_KIND_LEAF6 - upper % 4 + upper / 4 % 2 * FPT_KIND_NEAR;

	/* key widths beyond the key size have no geometry */
	g = &l->geoms->geom[h->enc & FPT_ENC_KW_MASK][kind];
	if (g->cap == 0 || h->nnodes > g->maxnodes || h->nkids > h->nnodes ||
		h->nnull > h->nkids)
		return NULL;
	if (unlikely(g->iw != 0) &&
		h->std.pd_upper + h->ndict * g->iw > FPT_SPECIAL_OFFSET)
		return NULL;
	return g;
}

/* A handle of a page of which nothing is known yet. */
static inline FPTPage
fpt_page_open(const FPTLayout *l, void *page)
{
	FPTPage		pg = {.l = l, .g = fpt_geom_of(l, page), .p = (char *) page};

	return pg;
}

/*
 * Has the page bits of rows if it must have them, and else none?  Then the
 * blocks that its TIDs tell, with what keys lend to them, have 24 bits at most.
 */
static inline bool
fpt_rowbits_sound(FPTPage pg)
{
	int			bits = fpt_special(pg.p)->rowbits;

	if (pg.g->tw == 6)
		return bits == 0;
	if (pg.g->tw == 4)
		return bits == FPT_MAX_ROWBITS;
	return bits <= FPT_MAX_ROWBITS &&
		bits >= Max(1, fpt_lent_bits(pg.l, pg.p));
}

/* Is a general fence's tuple where it says?  hi is a whole word: any number. */
static inline bool
fpt_fence_sound(const void *page, const FPTFence *f)
{
	uint32		len;

	return f->hi == 0 ||
		(f->hi < BLCKSZ && fpt_tuple_at(page, (unsigned) f->hi, &len) != NULL);
}

/*
 * Is a general page's prefix where it says, and may it have one?  Only such an
 * index can.
 */
static inline bool
fpt_prefix_sound(FPTPage pg)
{
	uint32		len;

	return fpt_special(pg.p)->prefix == 0 ||
		(pg.l->cut != NULL && fpt_may_prefix(pg.g) &&
		 fpt_page_prefix(pg.p, &len) != NULL);
}

/* Is p's node the one in which the key is, or belongs? */
static inline bool
fpt_place_has_node(const FPTPlace *p)
{
	return p->where == 0 && p->kid >= p->from && p->kid < p->to;
}

/*
 * Number of bits set.  The compiler's builtin is a library call where the
 * instruction cannot be taken for granted.
 */
static inline int
fpt_popcount(uint64 v)
{
#if defined(__POPCNT__) || defined(__aarch64__)
	return __builtin_popcountll(v);
#else
#if defined(__x86_64__) && defined(__GNUC__)
	if (likely(fpt_has_popcnt))
	{
		uint64		n;

		__asm__("popcntq %1,%0": "=r"(n):"rm"(v):"cc");
		return (int) n;
	}
#endif
	v -= (v >> 1) & UINT64CONST(0x5555555555555555);
	v = (v & UINT64CONST(0x3333333333333333)) +
		((v >> 2) & UINT64CONST(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64CONST(0x0F0F0F0F0F0F0F0F);
	return (int) ((v * UINT64CONST(0x0101010101010101)) >> 56);
#endif
}

/* Number of the lowest bit set; v is not zero. */
static inline int
fpt_ctz(uint64 v)
{
	Assert(v != 0);
	return __builtin_ctzll(v);
}

/* Number of the highest bit set; v is not zero. */
static inline int
fpt_top_bit(uint64 v)
{
	Assert(v != 0);
	return 63 - __builtin_clzll(v);
}

/* pd_lower of a page with this many nodes */
static inline int
fpt_lower(const FPTGeom *g, int nnodes)
{
	Assert(nnodes >= 0 && nnodes <= FPT_MAX_NODES);
	return g->node_off + nnodes * g->x * FPT_LINE;
}

/*
 * Does an offset from the base fit in kw bytes, 1 to 16?  Shifts are by less
 * than 64 bits in either branch.
 */
static inline bool
fpt_fits(int kw, uint64 hi, uint64 lo)
{
	if (kw <= 8)
		return hi == 0 && lo <= ~UINT64CONST(0) >> (64 - 8 * kw);
	return hi <= ~UINT64CONST(0) >> (128 - 8 * kw);
}

/* Bytes that a number of 128 bits takes, 1 at least. */
static inline int
fpt_bytes_of(uint64 hi, uint64 lo)
{
	if (hi != 0)
		return 16 - __builtin_clzll(hi) / 8;
	return 8 - __builtin_clzll(lo | 1) / 8;
}

/*
 * The width of keys that need so many bytes.  Tests of stop points (see
 * server/stop.h) split pages of few slots, and mean those that have one of five
 * widths; their TIDs all take 6 bytes (fpt_choose_tids).
 */
static inline int
fpt_width_of(int bytes)
{
#ifdef FPT_FEW_SLOTS
	while ((bytes & (bytes - 1)) != 0)
		bytes++;
#endif
	return bytes;
}

/* The next narrower one; 0: there is none. */
static inline int
fpt_width_below(int width)
{
#ifdef FPT_FEW_SLOTS
	return width / 2;
#endif
	return width - 1;
}

/* What fpt_rel() says of a key with other fixed bits than the page's. */
#define FPT_FOREIGN			2

/* fpt_rel() where keys lend bits. */
static pg_noinline int
fpt_rel_lent(FPTPage pg, const FPTKey *key, uint64 *hi, uint64 *lo)
{
	FPTPageSpecial *s = fpt_special(pg.p);
	int			bits = fpt_lent_bits(pg.l, pg.p);
	uint64		distance = key->lo - s->base_lo;

	Assert(bits > 0);
	*hi = 0;
	*lo = distance << bits | fpt_lent_part(s, bits, key->tid);
	if (key->hi != 0)
		return 1;
	if (key->lo < s->base_lo)
		return -1;
	return distance >> (64 - bits) == 0 && fpt_fits(pg.g->kw, 0, *lo) ? 0 : 1;
}

/*
 * A key relative to the page's base: -1 below it, 1 too far, 0 in *hi, *lo;
 * FPT_FOREIGN: the page can have no such key, but keys on both sides of it.
 * Where keys lend bits they have those of the key's TID.
 */
static inline int
fpt_rel(FPTPage pg, const FPTKey *key, uint64 *hi, uint64 *lo)
{
	FPTPageSpecial *s = fpt_special(pg.p);
	uint64		khi = key->hi;
	uint64		klo = key->lo;

	Assert(key->cls == FPT_CLS_VALUE);
	if (unlikely((fpt_header(pg.p)->enc & FPT_ENC_BITS) != 0))
	{
		if (fpt_is_lent(pg.l, pg.p))
			return fpt_rel_lent(pg, key, hi, lo);
		if (fpt_fixed_bits(khi, klo) != s->bits)
			return FPT_FOREIGN;
		fpt_key_squeeze(&khi, &klo);
	}
	*lo = klo - s->base_lo;
	*hi = khi - s->base_hi;
	if (khi < s->base_hi || (khi == s->base_hi && klo < s->base_lo))
		return -1;
	if (klo < s->base_lo)
		(*hi)--;
	return fpt_fits(pg.g->kw, *hi, *lo) ? 0 : 1;
}

/* The image of which fpt_rel() says (hi, lo), whatever the TID is. */
static inline void
fpt_unrel(FPTPage pg, uint64 hi, uint64 lo, uint64 *khi, uint64 *klo)
{
	FPTPageSpecial *s = fpt_special(pg.p);

	lo >>= fpt_lent_bits(pg.l, pg.p);
	*klo = lo + s->base_lo;
	*khi = hi + s->base_hi + (*klo < lo ? 1 : 0);
	if (unlikely(fpt_is_fixed(pg.l, pg.p)))
		fpt_key_expand(s->bits, khi, klo);
}

/* Address of a node by its number, which is one of the geometry's. */
static inline char *
fpt_node(FPTPage pg, int ordinal)
{
	Assert(ordinal >= 0 && ordinal < pg.g->maxnodes);
	return pg.p + pg.g->node_off + ordinal * pg.g->x * FPT_LINE;
}

/* Node number of a kid. */
static inline int
fpt_kid(FPTPage pg, int kid)
{
	Assert(kid >= 0 && kid < pg.g->maxnodes);
	return ((uint8 *) pg.p)[pg.g->kids_off + kid];
}

/* Node of a kid, or NULL if the root names an impossible one. */
static inline char *
fpt_kid_node(FPTPage pg, int kid)
{
	int			ordinal;

	Assert(kid >= 0);
	if (kid >= pg.g->maxnodes)
		return NULL;
	ordinal = fpt_kid(pg, kid);
	if (ordinal >= fpt_header(pg.p)->nnodes || ordinal >= pg.g->maxnodes)
		return NULL;
	return fpt_node(pg, ordinal);
}

/* A kid in hand: its node. */
typedef struct FPTKid
{
	int			kid;			/* its place in the root */
	int			ordinal;		/* its node's number, */
	char	   *node;			/* and where that is */
} FPTKid;

/* Open a kid; false if its node is one that there is not. */
static inline bool
fpt_kid_open(FPTPage pg, int kid, FPTKid *k)
{
	k->kid = kid;
	k->ordinal = kid < pg.g->maxnodes ? fpt_kid(pg, kid) : 0;
	k->node = fpt_kid_node(pg, kid);
	return k->node != NULL;
}

/* The number of a kid's slot in the page, as in FPTRun.slotids. */
static inline int
fpt_kid_slotid(const FPTGeom *g, const FPTKid *k, int slot)
{
	return k->ordinal * g->cap + slot;
}

/* A place in a page, found in another copy of it. */
static inline void
fpt_place_move(FPTPlace *p, const char *from, char *to)
{
	Assert(fpt_place_has_node(p));
	p->node = to + (p->node - from);
}

/*
 * Ask for all lines of a node; of a kid's, if it has one.  Reads none of them.
 */
static inline void
fpt_node_prefetch(const FPTGeom *g, char *node)
{
	int			i;

	for (i = 0; i < g->x; i++)
		fpt_prefetch(node + i * FPT_LINE);
}

static inline void
fpt_kid_prefetch(FPTPage pg, int kid)
{
	char	   *node = fpt_kid_node(pg, kid);

	if (node != NULL)
		fpt_node_prefetch(pg.g, node);
}

/*
 * Slots of a node of TIDs of 6 bytes, whose offsets may be any 16 bits, that
 * are not free.
 */
static pg_noinline uint64
fpt_node_used6(const FPTGeom *g, const char *node)
{
	const char *p = node + g->tid_off;
	uint64		used = 0;

	for (int i = 0; i < g->cap; i++, p += g->pw)
		used |= (uint64) (p[0] != 0 || p[1] != 0) << i;
	return used;
}

/* Slots of a node that hold entries, a bit each; all of them exist. */
static inline uint64
fpt_node_used(const FPTGeom *g, const char *node)
{
	if (g->perm)
		return ((const FPTNode *) node)->used & g->capmask;
	if (unlikely(g->tw == 6))
		return fpt_node_used6(g, node);
	return fpt_simd->used(node + g->tid_off, g->cap, g->pw);
}

/* So few slots are looked at one by one. */
#define FPT_FEW_SLOTS_USED	6

/*
 * Of these slots, which the node has, returns those that hold entries.  If they
 * are few, the TIDs of others are not looked at.
 */
static inline uint64
fpt_slots_used(const FPTGeom *g, const char *node, uint64 set)
{
	const char *tids = node + g->tid_off;
	uint64		rest = set;

	Assert((set & ~g->capmask) == 0);
	if (g->perm)
		return set & ((const FPTNode *) node)->used;
	for (int i = 0; rest != 0; i++, rest &= rest - 1)
	{
		const char *p = tids + fpt_ctz(rest) * g->pw;

		if (unlikely(i == FPT_FEW_SLOTS_USED))
			return set & fpt_node_used(g, node);
		if (p[0] == 0 && (g->tw < 6 || p[1] == 0))
			set &= ~(rest & -rest);
	}
	return set;
}

/* Does this slot hold an entry? */
static inline bool
fpt_slot_used(const FPTGeom *g, const char *node, int slot)
{
	Assert(slot >= 0 && slot < g->cap);
	return fpt_slots_used(g, node, UINT64CONST(1) << slot) != 0;
}

/* The permutation of a node that has one: slots, not trusted to be any. */
static inline uint8 *
fpt_node_perm(const FPTGeom *g, char *node)
{
	Assert(g->perm);
	return (uint8 *) node + g->perm_off;
}

/* The first n slots. */
static inline uint64
fpt_first_slots(int n)
{
	Assert(n >= 0 && n <= FPT_MAX_CAP);
	return n == 64 ? ~UINT64CONST(0) : (UINT64CONST(1) << n) - 1;
}

/*
 * Class of the entries of a kid: nodes of NULLs are the first nnull ones of the
 * root, or the last ones.  An empty page has a kid 0 for this question.
 */
static inline uint32
fpt_kid_cls(FPTPage pg, int kid)
{
	FPTPageHeader *h = fpt_header(pg.p);

	Assert(kid >= 0 && kid < Max(h->nkids, 1));
	if (pg.l->nullsfirst)
		return kid < h->nnull ? FPT_CLS_NULLFIRST : FPT_CLS_VALUE;
	return kid >= h->nkids - h->nnull ? FPT_CLS_NULLLAST : FPT_CLS_VALUE;
}

/*
 * Separator of a kid, relative to the page's base: keys of the root are one
 * behind the other, their lower 8 bytes, if they are wide, behind all of them.
 */
static inline void
fpt_sep_get(FPTPage pg, int kid, uint64 *hi, uint64 *lo)
{
	const FPTGeom *g = pg.g;
	const char *seps = pg.p + FPT_LINE;

	Assert(kid >= 0 && kid < g->maxnodes);
	*hi = 0;
	*lo = fpt_load_uint(seps + kid * g->rw, g->rw);
	if (unlikely(fpt_is_wide(g)))
	{
		*hi = *lo;
		*lo = fpt_load_uint(seps + g->maxnodes * g->rw + kid * 8, 8);
	}
}

/*
 * The part of a key, relative to the page's base, that is searched: of a wide
 * one its upper half.
 */
static inline uint64
fpt_word(const FPTGeom *g, uint64 hi, uint64 lo)
{
	return fpt_is_wide(g) ? hi : lo;
}

/*
 * What the searched part of a kid's keys is relative to, beside the page's
 * base: 0 but for FPT_ENC_NEAR.  Changes only where its separator does.
 */
static inline uint64
fpt_kid_base(FPTPage pg, int kid)
{
	const FPTGeom *g = pg.g;

	Assert(kid >= 0 && kid < g->maxnodes);
	if (!fpt_is_near(g))
		return 0;
	return fpt_base_of(g, fpt_load_uint(pg.p + FPT_LINE + kid * g->rw, g->rw));
}

/*
 * Can the searched part of a key be stored in a node of this base?  -1: it is
 * below that, 1: too far, 0: yes.
 */
static inline int
fpt_node_tells(const FPTGeom *g, uint64 base, uint64 word)
{
	if (!fpt_is_near(g))
		return 0;
	if (word < base)
		return -1;
	return (word - base) >> (8 * g->sw) != 0;
}

/* Store a kid's separator, which is representable. */
static inline void
fpt_sep_set(FPTPage pg, int kid, uint64 hi, uint64 lo)
{
	const FPTGeom *g = pg.g;
	char	   *seps = pg.p + FPT_LINE;

	Assert(kid >= 0 && kid < g->maxnodes && fpt_fits(g->kw, hi, lo));
	fpt_store_uint(seps + kid * g->rw, g->rw, fpt_word(g, hi, lo));
	if (fpt_is_wide(g))
		fpt_store_uint(seps + g->maxnodes * g->rw + kid * 8, 8, lo);
}

/*
 * The lower half of a separator before an entry (hi, lo), behind one whose
 * upper half is prevhi.  Where the upper halves tell the two apart it is zero,
 * as those of most separators of wide keys are then: they are not logged when
 * separators move.
 */
static inline uint64
fpt_sep_low(uint64 prevhi, uint64 hi, uint64 lo)
{
	return prevhi != hi ? 0 : lo;
}

/* Lower 8 bytes of a slot's wide key. */
static inline uint64
fpt_slot_low(const FPTGeom *g, const char *node, int slot)
{
	Assert(fpt_is_wide(g));
	return fpt_load_uint(node + g->low_off + slot * g->pw, 8);
}

/*
 * The key of a slot relative to the page's base; "base" is what fpt_kid_base()
 * says of the node.
 */
static inline void
fpt_slot_rel(const FPTGeom *g, const char *node, uint64 base, int slot,
			 uint64 *hi, uint64 *lo)
{
	Assert(slot >= 0 && slot < g->cap);
	*hi = 0;
	*lo = fpt_load_uint(node + g->key_off + slot * g->sw, g->sw) + base;
	if (unlikely(fpt_is_wide(g)))
	{
		*hi = *lo;
		*lo = fpt_slot_low(g, node, slot);
	}
}

/* Store a key, relative to the page's base, which is representable. */
static inline void
fpt_slot_set_rel(const FPTGeom *g, char *node, uint64 base, int slot,
				 uint64 hi, uint64 lo)
{
	Assert(slot >= 0 && slot < g->cap && fpt_fits(g->kw, hi, lo));
	Assert(fpt_node_tells(g, base, fpt_word(g, hi, lo)) == 0);
	fpt_store_uint(node + g->key_off + slot * g->sw, g->sw,
				   fpt_word(g, hi, lo) - base);
	if (fpt_is_wide(g))
		fpt_store_uint(node + g->low_off + slot * g->pw, 8, lo);
}

/* --- TIDs relative to nodes ---------------------------------------------- */

/* The row that a slot's byte of 1 stands for; any number. */
static inline uint32
fpt_node_row(const FPTGeom *g, const char *node)
{
	Assert(fpt_has_far(g));
	return (uint32) fpt_load_uint(node + g->far_off, FPT_FAR_BYTES);
}

static inline void
fpt_node_set_row(const FPTGeom *g, char *node, uint32 row)
{
	Assert(fpt_has_far(g));
	fpt_store_uint(node + g->far_off, FPT_FAR_BYTES, row);
}

/* Where a node's i'th far TID is. */
static inline int
fpt_far_off(const FPTGeom *g, int i)
{
	Assert(i >= 0 && i < g->nfar);
	return g->far_off + (i + 1) * FPT_FAR_BYTES;
}

/* It, as it is stored; 0: it is free. */
static inline uint32
fpt_far_get(const FPTGeom *g, const char *node, int i)
{
	return (uint32) fpt_load_uint(node + fpt_far_off(g, i), FPT_FAR_BYTES);
}

/* A slot's byte: 0 if it is free, fpt_near_rows() or less, or a far one. */
static inline unsigned
fpt_slot_byte(const FPTGeom *g, const char *node, int slot)
{
	Assert(fpt_has_far(g) && slot >= 0 && slot < g->cap);
	return ((const uint8 *) node)[g->tid_off + slot * g->pw];
}

/* Which far TID a slot shares, or -1: it has a near one, or none. */
static inline int
fpt_slot_far(const FPTGeom *g, const char *node, int slot)
{
	int			i = (int) fpt_slot_byte(g, node, slot) -
		(int) fpt_near_rows(g) - 1;

	return i < 0 ? -1 : i >> g->farbits;
}

/* The same of some slots: a bit for each far TID. */
static inline uint32
fpt_slots_far(const FPTGeom *g, const char *node, uint64 slots)
{
	uint32		far = 0;

	for (; fpt_has_far(g) && slots != 0; slots &= slots - 1)
	{
		int			i = fpt_slot_far(g, node, fpt_ctz(slots));

		if (i >= 0)
			far |= 1u << i;
	}
	return far;
}

/* The first far TID of a node that is free, or -1: none is. */
static inline int
fpt_far_free(const FPTGeom *g, const char *node)
{
	for (int i = 0; i < g->nfar; i++)
	{
		if (fpt_far_get(g, node, i) == 0)
			return i;
	}
	return -1;
}

/* How many of them are. */
static inline int
fpt_far_room(const FPTGeom *g, const char *node)
{
	int			n = 0;

	for (int i = 0; i < g->nfar; i++)
		n += fpt_far_get(g, node, i) == 0;
	return n;
}

/* The byte for a TID among the rows of the i'th far one. */
static inline unsigned
fpt_far_byte(const FPTGeom *g, int i, uint64 tid)
{
	return fpt_near_rows(g) + (i << g->farbits) +
		(unsigned) (tid & ((1u << g->farbits) - 1)) + 1;
}

/*
 * The byte that stands for a TID in this node, 0: it needs a far one that is
 * not there.
 */
static inline unsigned
fpt_tid_byte(FPTPage pg, const char *node, uint64 tid)
{
	const FPTPageSpecial *s = fpt_special(pg.p);
	uint64		row = fpt_row_of(s->tidbase, s->rowbits & 0xF, tid);
	uint64		from = fpt_node_row(pg.g, node);
	uint64		far;

	if (row >= from && row - from < fpt_near_rows(pg.g))
		return (unsigned) (row - from) + 1;
	far = fpt_far_of(pg.g, s->tidbase, tid);
	for (int i = 0; i < pg.g->nfar; i++)
	{
		if (fpt_far_get(pg.g, node, i) == far)
			return fpt_far_byte(pg.g, i, tid);
	}
	return 0;
}

/* Has a node of such TIDs room for this one?  The page can tell it. */
static inline bool
fpt_node_takes(FPTPage pg, const char *node, uint64 tid)
{
	return fpt_tid_byte(pg, node, tid) != 0 || fpt_far_free(pg.g, node) >= 0;
}

/*
 * An empty node gets this one first: a quarter of what a byte tells is for rows
 * before it, as most of those that come next will be behind.
 */
static inline void
fpt_node_begin_rows(FPTPage pg, char *node, uint64 tid)
{
	const FPTPageSpecial *s = fpt_special(pg.p);
	uint32		slack;
	uint64		row;

	if (!fpt_has_far(pg.g))
		return;
	slack = fpt_near_rows(pg.g) / 4;
	row = fpt_row_of(s->tidbase, s->rowbits & 0xF, tid);
	fpt_node_set_row(pg.g, node,
					 row == FPT_NO_ROW || row < slack ? 0 :
					 (uint32) row - slack);
}

/* The TID that a slot's byte stands for, which may be any. */
static inline uint64
fpt_byte_tid(FPTPage pg, const char *node, unsigned byte)
{
	const FPTPageSpecial *s = fpt_special(pg.p);
	unsigned	near = fpt_near_rows(pg.g);

	if (unlikely(byte > near))
	{
		unsigned	mask = (1u << pg.g->farbits) - 1;
		unsigned	i = byte - near - 1;

		return fpt_row_tid(s->tidbase, FPT_MAX_ROWBITS,
						   (fpt_far_get(pg.g, node, i >> pg.g->farbits) &
							~mask) | (i & mask));
	}
	return fpt_row_tid(s->tidbase, s->rowbits,
					   fpt_node_row(pg.g, node) + byte - 1);
}

/*
 * Store a TID for which there is room (fpt_node_takes()) in a slot that is
 * free.
 */
static inline void
fpt_slot_set_near(FPTPage pg, char *node, int slot, uint64 tid)
{
	unsigned	byte = fpt_tid_byte(pg, node, tid);

	Assert(fpt_slot_byte(pg.g, node, slot) == 0);
	if (byte == 0)
	{
		int			i = fpt_far_free(pg.g, node);

		Assert(i >= 0);
		i = Max(i, 0);
		fpt_store_uint(node + fpt_far_off(pg.g, i), FPT_FAR_BYTES,
					   fpt_far_of(pg.g, fpt_special(pg.p)->tidbase, tid));
		byte = fpt_far_byte(pg.g, i, tid);
	}
	node[pg.g->tid_off + slot * pg.g->pw] = (char) byte;
}

/* The bits that a slot's key lends to its TID, as part of that. */
static inline uint64
fpt_slot_lent(FPTPage pg, const char *node, int slot, int bits)
{
	/* the lowest byte is the first one, and bases have none of the bits */
	uint64		key = ((const uint8 *) node)[pg.g->key_off + slot * pg.g->sw];

	return (key & fpt_lent_mask(bits)) <<
		(16 + fpt_lent_blockbits(fpt_special(pg.p)));
}

/* Can the page tell this TID? */
static inline bool
fpt_page_tells_tid(FPTPage pg, uint64 tid)
{
	const FPTPageSpecial *s = fpt_special(pg.p);
	int			bits = fpt_lent_bits(pg.l, pg.p);

	if (unlikely(bits > 0))
		return fpt_lent_fits(s, bits, tid);
	return fpt_tid_fits(pg.g->tw, s->tidbase, s->rowbits & 0xF, tid);
}

/* A slot's TID, which may be any 48 bits. */
static inline uint64
fpt_slot_tid(FPTPage pg, const char *node, int slot)
{
	uint64		v;

	Assert(slot >= 0 && slot < pg.g->cap);
	if (unlikely(fpt_has_far(pg.g)))
		return fpt_byte_tid(pg, node, fpt_slot_byte(pg.g, node, slot));
	v = fpt_load_uint(node + pg.g->tid_off + slot * pg.g->pw, pg.g->tw);
	if (pg.g->tw == 6)
		return v;
	v = fpt_row_tid(fpt_special(pg.p)->tidbase, fpt_special(pg.p)->rowbits,
					(uint32) v);
	if (unlikely(fpt_is_lent(pg.l, pg.p)))
	{
		/* (a block that has wrapped around, of a damaged page, may again) */
		v += fpt_slot_lent(pg, node, slot, fpt_lent_bits(pg.l, pg.p));
		v &= FPT_MAX_TID;
	}
	return v;
}

/*
 * Store a TID, which fits in the page's form of them.  The slot has its key
 * already, and with it what that lends.
 */
static inline void
fpt_slot_set_tid(FPTPage pg, char *node, int slot, uint64 tid)
{
	Assert(slot >= 0 && slot < pg.g->cap);
	Assert(fpt_page_tells_tid(pg, tid));
	Assert(!fpt_is_lent(pg.l, pg.p) ||
		   fpt_slot_lent(pg, node, slot, fpt_lent_bits(pg.l, pg.p)) >>
		   (16 + fpt_lent_blockbits(fpt_special(pg.p))) ==
		   fpt_lent_part(fpt_special(pg.p), fpt_lent_bits(pg.l, pg.p), tid));
	if (unlikely(fpt_has_far(pg.g)))
	{
		fpt_slot_set_near(pg, node, slot, tid);
		return;
	}
	if (pg.g->tw < 6)
		tid = fpt_tid_narrow(fpt_special(pg.p)->tidbase,
							 fpt_special(pg.p)->rowbits & 0xF, tid);
	fpt_store_uint(node + pg.g->tid_off + slot * pg.g->pw, pg.g->tw, tid);
}

/*
 * An entry is put into a slot that was free, or taken out of it.  Where there
 * is no bitmap its TID tells which (W8).
 */
static inline void
fpt_slot_taken(const FPTGeom *g, char *node, int slot)
{
	if (g->perm)
		((FPTNode *) node)->used |= UINT64CONST(1) << slot;
}

/* The same of some slots, out of which entries are taken. */
static inline void
fpt_slots_free(const FPTGeom *g, char *node, uint64 slots)
{
	Assert((slots & ~g->capmask) == 0);
	if (g->perm)
		((FPTNode *) node)->used &= ~slots & g->capmask;
	else
	{
		uint32		far = fpt_slots_far(g, node, slots);

		for (; slots != 0; slots &= slots - 1)
			fpt_store_uint(node + g->tid_off + fpt_ctz(slots) * g->pw, g->fw,
						   0);
		if (far != 0)
			far &= ~fpt_slots_far(g, node, g->capmask);
		for (; far != 0; far &= far - 1)
			fpt_store_uint(node + fpt_far_off(g, fpt_ctz(far)), FPT_FAR_BYTES,
						   0);
	}
}

/* All of them: mostly their TIDs are one behind the other. */
static inline void
fpt_node_free(const FPTGeom *g, char *node)
{
	Assert(!g->perm);
	if (g->pw == g->fw)
		memset(node + g->tid_off, 0, g->cap * g->fw);
	else
		fpt_slots_free(g, node, g->capmask);
	if (fpt_has_far(g))
		memset(node + fpt_far_off(g, 0), 0, g->nfar * FPT_FAR_BYTES);
}

/* A slot's downlink, which may be any number; 0 in leaf pages. */
static inline uint32
fpt_slot_down(const FPTGeom *g, const char *node, int slot)
{
	uint32		v;

	Assert(slot >= 0 && slot < g->cap);
	if (fpt_is_leaf(g))
		return 0;
	memcpy(&v, node + g->down_off + slot * g->pw, 4);
	return v;
}

/* Store a downlink; in leaf pages there is none, and nothing is done. */
static inline void
fpt_slot_set_down(const FPTGeom *g, char *node, int slot, uint32 down)
{
	Assert(slot >= 0 && slot < g->cap);
	if (!fpt_is_leaf(g))
		memcpy(node + g->down_off + slot * g->pw, &down, 4);
}

/* --- dictionary (page/dict.c) -------------------------------------------- */

/* Bytes of a page's dictionary, its tuples left out. */
static inline int
fpt_dict_bytes(FPTPage pg)
{
	return fpt_header(pg.p)->ndict * pg.g->iw;
}

/*
 * A dictionary's arrays, of ndict each, unaligned; fpt_page_open() has made
 * sure that they lie within the page.
 */
static inline const char *
fpt_dict_heads(const void *page)
{
	return (const char *) page + ((const FPTPageHeader *) page)->std.pd_upper;
}

static inline const char *
fpt_dict_offs(const void *page)
{
	return fpt_dict_heads(page) +
		((const FPTPageHeader *) page)->ndict * sizeof(uint64);
}

/* Offset of the tuple of a key of the dictionary, not trusted; 0: empty. */
static inline uint16
fpt_dict_off(const void *page, int code)
{
	uint16		off;

	Assert(code >= 0 && code < ((const FPTPageHeader *) page)->ndict);
	memcpy(&off, fpt_dict_offs(page) + code * sizeof(uint16), sizeof(uint16));
	return off;
}

/*
 * A key of the dictionary: head and tuple; cls is the page's.  False if there
 * is no such key, or its tuple is not where it should be.
 */
static inline bool
fpt_dict_key(const void *page, int code, uint32 cls, FPTKey *key)
{
	uint16		off;

	if (code >= ((const FPTPageHeader *) page)->ndict)
		return false;
	key->hi = key->lo = 0;
	key->cls = cls;
	if (cls == FPT_CLS_VALUE)
		memcpy(&key->lo, fpt_dict_heads(page) + code * sizeof(uint64),
			   sizeof(uint64));
	key->len = 0;
	key->tup = NULL;
	key->search = NULL;
	key->pre = NULL;
	key->cut = 0;
	off = fpt_dict_off(page, code);
	if (off == 0)
		return true;
	key->tup = fpt_tuple_at(page, off, &key->len);
	return key->tup != NULL;
}

/*
 * Number of a slot's key in the dictionary, which need not have it; nodes have
 * no header there.  Of a page without it means nothing.
 */
static inline int
fpt_slot_code(const char *node, int slot)
{
	return ((const uint8 *) node)[slot];
}

/* Offset of a slot's tuple, not trusted; 0: empty, or slots own none. */
static inline uint16
fpt_slot_off(const FPTGeom *g, const char *node, int slot)
{
	uint16		v;

	Assert(slot >= 0 && slot < g->cap);
	if (!fpt_has_offsets(g))
		return 0;
	memcpy(&v, node + g->off_off + slot * g->pw, 2);
	return v;
}

/* Store a tuple's offset; where slots own none nothing is done. */
static inline void
fpt_slot_set_off(const FPTGeom *g, char *node, int slot, uint16 off)
{
	Assert(slot >= 0 && slot < g->cap);
	if (fpt_has_offsets(g))
		memcpy(node + g->off_off + slot * g->pw, &off, 2);
}

/*
 * A slot's tuple as part of a key of the class that is in *key, and the page's
 * prefix, if it has one; false if one of them is not where it should be.
 */
static inline bool
fpt_slot_tuple(FPTPage pg, const char *node, int slot, FPTKey *key)
{
	uint16		off = fpt_slot_off(pg.g, node, slot);

	key->len = 0;
	key->tup = NULL;
	key->search = NULL;
	key->pre = NULL;
	key->cut = 0;
	if (off == 0)
		return true;
	key->tup = fpt_tuple_at(pg.p, off, &key->len);
	if (key->tup == NULL || key->cls != FPT_CLS_VALUE)
		return key->tup != NULL;
	key->pre = fpt_page_prefix(pg.p, &key->cut);
	return likely(key->cut == 0) || key->pre != NULL;
}

/* Bytes that a tuple of this length takes in a page. */
static inline int
fpt_tuple_space(uint32 len)
{
	if (len == 0)
		return 0;
	return (int) len + (len < FPT_TUPLE_LONG ? 1 : 2);
}

/* Bytes of the hints of so many nodes. */
static inline int
fpt_hint_bytes(const FPTGeom *g, int nnodes)
{
	return fpt_is_leaf(g) ? (nnodes * g->cap + 63) / 64 * 8 : 0;
}

/* Where a leaf page's hints begin. */
static inline int
fpt_hint_off(FPTPage pg)
{
	return fpt_shares_space(pg.g) ?
		fpt_lower(pg.g, fpt_header(pg.p)->nnodes) : pg.g->hint_off;
}

/* The end of a page's nodes, and of a general page's hints behind them. */
static inline int
fpt_hole_from(FPTPage pg)
{
	int			nnodes = fpt_header(pg.p)->nnodes;

	return fpt_lower(pg.g, nnodes) + fpt_hint_bytes(pg.g, nnodes);
}

/* Are the borders of a general page's hole where they can be? */
static inline bool
fpt_hole_sound(FPTPage pg)
{
	int			upper = fpt_header(pg.p)->std.pd_upper;

	return upper <= FPT_SPECIAL_OFFSET && upper >= fpt_hole_from(pg);
}

/*
 * Where a general page's tuples, or its dictionary, begin: where slots own
 * tuples, at the first byte from pd_upper on that is not zero, as their lengths
 * are not.  FPT_TUPLE_RESERVE bytes are looked at.
 */
static inline int
fpt_tuples_from(FPTPage pg)
{
	int			from = fpt_header(pg.p)->std.pd_upper;
	int			end = Min(from + FPT_TUPLE_RESERVE, FPT_SPECIAL_OFFSET);

	if (!fpt_has_offsets(pg.g))
		return from;
	for (; from + 8 <= end; from += 8)
	{
		if (fpt_load_uint(pg.p + from, 8) != 0)
			break;
	}
	while (from < end && pg.p[from] == 0)
		from++;
	return from;
}

/*
 * Bytes of a general page that are neither hints nor in use; negative if its
 * borders make no sense.
 */
static inline int
fpt_tuple_room(FPTPage pg)
{
	if (!fpt_hole_sound(pg))
		return -1;
	return fpt_tuples_from(pg) - fpt_hole_from(pg);
}

/*
 * The first entry of an inner page of general keys stands for the low fence:
 * it has that one's head and TID, but no tuple.
 */
static inline bool
fpt_is_low_entry(const FPTGeom *g, int kid, int rank)
{
	Assert(kid >= 0 && rank >= 0);
	return fpt_has_offsets(g) && !fpt_is_leaf(g) && kid == 0 && rank == 0;
}

/* The key of an inner page's first entry, if it is not stored with it. */
static inline void
fpt_low_entry(FPTPage pg, int kid, int rank, FPTKey *key)
{
	if (fpt_is_low_entry(pg.g, kid, rank))
	{
		FPTKey		low = fpt_page_low(pg.l, pg.p);

		if (low.cls != FPT_CLS_MINF)
			*key = low;
	}
}

/*
 * Every tuple that a page refers to, one call for each (fpt_tuple_visit).
 * Tuples are moved from the special line downwards: "to" starts there.
 */
typedef struct FPTTupleWalk
{
	FPTPage		pg;				/* the references are its own */
	const char *from;			/* where the tuples are: the page or a copy */
	char	   *to;				/* moved: lowest byte in use; else NULL */
	char	   *low;			/* nothing is moved below this */
	int			bytes;			/* that all of them take, dictionary included */
	uint16		offs[FPT_MAX_DICT]; /* of the dictionary's, where they are */
} FPTTupleWalk;

/* Percent of its nodes that a rebuilt page fills, and bytes to be gained. */
#define FPT_REORG_FILL		90
#define FPT_REORG_GAIN		(BLCKSZ / 8)

/* a / b rounded up: nodes, or pages, for so many entries.  b > 0. */
static inline int
fpt_ceil_div(int a, int b)
{
	return (a + b - 1) / b;
}

/*
 * Do n entries, nnull NULLs among them, with so many bytes of tuples fit in
 * "fill" percent of a page whose nodes share the space with these?
 */
static inline bool
fpt_space_fits(const FPTGeom *g, int n, int nnull, int bytes, int fill)
{
	int			nodes = fpt_ceil_div(nnull, g->cap) +
		fpt_ceil_div(n - nnull, g->cap);

	Assert(nnull >= 0 && nnull <= n && bytes >= 0);
	return nodes <= g->maxnodes &&
		fpt_lower(g, nodes) + fpt_hint_bytes(g, nodes) + bytes <=
		g->node_off + (FPT_SPECIAL_OFFSET - g->node_off) * fill / 100;
}

/*
 * The hint bits of a node of a leaf page, one a slot.  Others set bits while
 * this reads them, under a share lock as well: each is read as it was before,
 * or after that.
 */
static inline uint64
fpt_node_hints(FPTPage pg, int ordinal)
{
	int			bit = ordinal * pg.g->cap;
	const uint8 *p = (const uint8 *) pg.p + fpt_hint_off(pg) + bit / 8;
	uint64		v;

	Assert(fpt_is_leaf(pg.g) && ordinal < pg.g->maxnodes);
	/* What is read behind the bitmap is the special line. */
	memcpy(&v, p, 8);
#ifdef WORDS_BIGENDIAN
	v = __builtin_bswap64(v);
#endif
	if (bit % 8 != 0)
		v = (v >> (bit % 8)) | ((uint64) p[8] << (64 - bit % 8));
	return v & pg.g->capmask;
}

/* The hint of a slot of a leaf page, numbered as in FPTRun.slotids. */
static inline bool
fpt_hint_test(FPTPage pg, int slotid)
{
	Assert(slotid >= 0 && slotid < (int) pg.g->capacity);
	return (((uint8 *) pg.p)[fpt_hint_off(pg) + slotid / 8] >>
			(slotid % 8)) & 1;
}

/*
 * Set it.  Readers do that under a share lock, without WAL, and may lose one
 * another's hint in the same byte: a hint that is lost is set again.
 */
static inline void
fpt_hint_set(FPTPage pg, int slotid)
{
	Assert(slotid >= 0 && slotid < (int) pg.g->capacity);
	((uint8 *) pg.p)[fpt_hint_off(pg) + slotid / 8] |= 1 << (slotid % 8);
}

/* Forget a slot's hint: it is about to hold another entry, or none. */
static inline void
fpt_hint_clear(FPTPage pg, int slotid)
{
	Assert(slotid >= 0 && slotid < (int) pg.g->capacity);
	if (fpt_is_leaf(pg.g))
		((uint8 *) pg.p)[fpt_hint_off(pg) + slotid / 8] &=
			~(1 << (slotid % 8));
}

#endif							/* FPT_PAGE_NODE_H */
