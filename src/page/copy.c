/*-------------------------------------------------------------------------
 *
 * page/copy.c
 *	  Page kernel: entries copied out of a page.
 *
 *-------------------------------------------------------------------------
 */
#include "page/coding.h"
#include "page/copy.h"
#include "page/encoding.h"
#include "page/kernel.h"
#include "page/number.h"
#include "page/order.h"
#include "page/simd.h"

/*
 * See page/copy.h.  Each node is put in order, as whoever changes a page at
 * large wants its entries in the order of keys.  A TID without an offset would
 * leave the slot free that it is put into (W8).
 */
int
fpt_page_extract(const FPTLayout *l, void *page, FPTEntry *out, int max)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			nkids = fpt_header(pg.p)->nkids;
	FPTNumbers	numbers;
	int			n = 0;
	int			kid;

	if (fpt_num_page(pg, &numbers))
		return fpt_num_extract(&numbers, out, max);
	if (pg.g == NULL)
		return -1;
	for (kid = 0; kid < nkids; kid++)
	{
		uint32		cls = fpt_kid_cls(pg, kid);
		char	   *node = fpt_kid_node(pg, kid);
		uint8		slots[FPT_MAX_CAP];
		uint64		base;
		int			count;
		int			i;

		if (node == NULL)
			return -1;
		base = fpt_kid_base(pg, kid);
		count = fpt_node_order(pg, node, slots);
		if (count < 0 || n + count > Min(max, (int) pg.g->capacity))
			return -1;
		for (i = 0; i < count; i++)
		{
			if (!fpt_slot_entry(pg, node, base, slots[i], cls, &out[n]) ||
				(fpt_is_leaf(pg.g) && !fpt_tid_is_valid(out[n].key.tid)))
				return -1;
			fpt_low_entry(pg, kid, i, &out[n++].key);
		}
	}
	return n;
}

/*
 * Copying a node.  What the loops below need is in local variables, as far as
 * it goes: the compiler must assume that what they store changes all else.
 */

/* Are these the first n slots, in their own order? */
static inline bool
fpt_slots_plain(const uint8 *slots, int n)
{
	uint64		differ = 0;
	int			i;

	for (i = 0; i + 8 <= n; i += 8)
	{
		uint64		v;

		memcpy(&v, slots + i, 8);
#ifdef WORDS_BIGENDIAN
		v = __builtin_bswap64(v);
#endif
		differ |= v ^ (UINT64CONST(0x0706050403020100) +
					   i * UINT64CONST(0x0101010101010101));
	}
	for (; i < n; i++)
		differ |= slots[i] ^ i;
	return differ == 0;
}

/*
 * Short TIDs of n slots, of a width and mostly of a distance that the compiler
 * knows; false if one has no offset.
 */
static pg_attribute_always_inline bool
fpt_copy_short_tids(const FPTPageSpecial *s, const char *tids, int stride,
					int width, const uint8 *slots, int n, uint64 *out)
{
	uint32		base = s->tidbase;
	int			rowbits = s->rowbits;
	bool		valid = true;

	for (int i = 0; i < n; i++)
	{
		uint64		v = fpt_load_uint(tids + slots[i] * stride, width);

		out[i] = fpt_row_tid(base, rowbits, (uint32) v);
		valid &= (out[i] & 0xFFFF) != 0;
	}
	return valid;
}

/*
 * TIDs of n slots that are relative to their node, made whole as if all were
 * near ones; bytes lie so far apart, which the compiler mostly knows.  *most:
 * the highest byte.  False if a TID has no offset.
 */
static pg_attribute_always_inline bool
fpt_copy_rows(FPTPage pg, const char *node, int stride, const uint8 *slots,
			  int n, uint64 *out, unsigned *most)
{
	const uint8 *bytes = (const uint8 *) node + pg.g->tid_off;
	uint32		tidbase = fpt_special(pg.p)->tidbase;
	int			rowbits = fpt_special(pg.p)->rowbits;
	uint32		row = fpt_node_row(pg.g, node) - 1;
	bool		valid = true;

	*most = 0;
	for (int i = 0; i < n; i++)
	{
		unsigned	byte = bytes[slots[i] * stride];

		*most = Max(*most, byte);
		out[i] = fpt_row_tid(tidbase, rowbits, row + byte);
		valid &= (out[i] & 0xFFFF) != 0;
	}
	return valid;
}

/*
 * TIDs that are relative to their node; false if one has no offset, or a block
 * beyond the last one that such a page can tell: a damaged node may begin with
 * any row.
 */
static bool
fpt_copy_near_tids(FPTPage pg, const char *node, const uint8 *slots, int n,
				   uint64 *out)
{
	const uint8 *bytes = (const uint8 *) node + pg.g->tid_off;
	uint32		tidbase = fpt_special(pg.p)->tidbase;
	int			stride = pg.g->pw;
	unsigned	most;
	uint64		last;
	bool		valid;

	if (stride == 1)
		valid = fpt_copy_rows(pg, node, 1, slots, n, out, &most);
	else
		valid = fpt_copy_rows(pg, node, stride, slots, n, out, &most);
	if (most <= fpt_near_rows(pg.g))
	{
		last = (uint64) fpt_node_row(pg.g, node) + Max(most, 1) - 1;
		last >>= fpt_special(pg.p)->rowbits & 0xF;
		return valid && last >> FPT_ROW_BLOCKBITS == 0;
	}
	valid = true;
	for (int i = 0; i < n; i++)
	{
		unsigned	byte = bytes[slots[i] * stride];

		if (byte > fpt_near_rows(pg.g))
			out[i] = fpt_byte_tid(pg, node, byte);
		valid &= (out[i] & 0xFFFF) != 0 &&
			((out[i] >> 16) - tidbase) >> FPT_ROW_BLOCKBITS == 0;
	}
	return valid;
}

/*
 * What the keys of n slots lend to their TIDs, whose other bits there are.  A
 * key's lowest byte is its first one, which has all of it: they lie so far
 * apart, which the compiler knows where it is a byte.
 */
static pg_attribute_always_inline void
fpt_copy_lent_bits(const uint8 *keys, int stride, uint64 mask, int shift,
				   const uint8 *slots, int n, uint64 *out)
{
	for (int i = 0; i < n; i++)
		out[i] = (out[i] + ((keys[slots[i] * stride] & mask) << shift)) &
			FPT_MAX_TID;
}

static pg_noinline void
fpt_copy_lent(FPTPage pg, const char *node, const uint8 *slots, int n,
			  uint64 *out)
{
	const uint8 *keys = (const uint8 *) node + pg.g->key_off;
	uint64		mask = fpt_lent_mask(fpt_lent_bits(pg.l, pg.p));
	int			shift = 16 + fpt_lent_blockbits(fpt_special(pg.p));
	int			stride = pg.g->sw;

	if (stride == 1)
		fpt_copy_lent_bits(keys, 1, mask, shift, slots, n, out);
	else
		fpt_copy_lent_bits(keys, stride, mask, shift, slots, n, out);
}

/*
 * TIDs of 3 or 4 bytes of n slots, made whole; false if one has no offset.  All
 * are copied even then.
 */
static bool
fpt_copy_narrow_tids(FPTPage pg, const char *node, const uint8 *slots, int n,
					 uint64 *out)
{
	const char *tids = node + pg.g->tid_off;
	const FPTPageSpecial *s = fpt_special(pg.p);
	int			width = pg.g->tw;
	int			stride = pg.g->pw;

	if (n > 1 && fpt_slots_plain(slots, n))
		return fpt_simd->tids(tids, n, stride, width, s->tidbase, s->rowbits,
							  out);
	if (stride == 3)
		return fpt_copy_short_tids(s, tids, 3, 3, slots, n, out);
	if (stride == 4 && width == 4)
		return fpt_copy_short_tids(s, tids, 4, 4, slots, n, out);
	return fpt_copy_short_tids(s, tids, stride, width, slots, n, out);
}

/*
 * The TIDs of n slots; false if one is not a heap TID.  All are copied even
 * then.
 */
static bool
fpt_copy_tids(FPTPage pg, const char *node, const uint8 *slots, int n,
			  uint64 *out)
{
	const char *tids = node + pg.g->tid_off;
	int			stride = pg.g->pw;
	bool		valid = true;
	int			i;

	Assert(n >= 0 && n <= pg.g->cap);
	if (fpt_has_far(pg.g))
		return fpt_copy_near_tids(pg, node, slots, n, out);
	if (likely(pg.g->tw < 6))
	{
		valid = fpt_copy_narrow_tids(pg, node, slots, n, out);
		if (unlikely(fpt_is_lent(pg.l, pg.p)))
			fpt_copy_lent(pg, node, slots, n, out);
		return valid;
	}
	for (i = 0; i < n; i++)
	{
		out[i] = fpt_load_uint(tids + slots[i] * stride, 6);
		valid &= fpt_tid_is_valid(out[i]);
	}
	return valid;
}

/* Keys of up to 8 bytes, of a width that the compiler knows. */
static pg_attribute_always_inline void
fpt_widen_keys(const char *keys, int width, uint64 base, const uint8 *slots,
			   int n, uint64 *los)
{
	for (int i = 0; i < n; i++)
		los[i] = fpt_load_uint(keys + slots[i] * width, width) + base;
}

/* Those of n slots: what they are, and "base". */
static inline void
fpt_copy_narrow_keys(const char *keys, int width, uint64 base,
					 const uint8 *slots, int n, uint64 *los)
{
	if (width == 1)
		fpt_widen_keys(keys, 1, base, slots, n, los);
	else if (width == 2)
		fpt_widen_keys(keys, 2, base, slots, n, los);
	else if (width == 3)
		fpt_widen_keys(keys, 3, base, slots, n, los);
	else if (width == 4)
		fpt_widen_keys(keys, 4, base, slots, n, los);
	else
		fpt_widen_keys(keys, width, base, slots, n, los);
}

/* The images of n slots of a node, where they lend bits. */
static pg_noinline void
fpt_copy_lent_keys(FPTPage pg, uint64 nodebase, const char *node,
				   const uint8 *slots, int n, uint64 *los)
{
	uint64		base = fpt_special(pg.p)->base_lo;
	int			bits = fpt_lent_bits(pg.l, pg.p);

	fpt_copy_narrow_keys(node + pg.g->key_off, pg.g->sw, nodebase, slots, n,
						 los);
	for (int i = 0; i < n; i++)
		los[i] = (los[i] >> bits) + base;
}

/* The images of n slots of a node, where the page leaves out fixed bits. */
static void
fpt_copy_fixed_keys(FPTPage pg, uint64 nodebase, const char *node,
					const uint8 *slots, int n, uint64 *los, uint64 *his)
{
	const FPTPageSpecial *s = fpt_special(pg.p);
	uint64		base_hi = s->base_hi;
	uint64		base_lo = s->base_lo;
	uint32		fixed = s->bits;

	Assert(fpt_is_fixed(pg.l, pg.p));
	for (int i = 0; i < n; i++)
	{
		uint64		hi,
					lo;

		fpt_slot_rel(pg.g, node, nodebase, slots[i], &hi, &lo);
		lo += base_lo;
		hi += base_hi + (lo < base_lo ? 1 : 0);
		fpt_key_expand(fixed, &hi, &lo);
		los[i] = lo;
		if (his)
			his[i] = hi;
	}
}

/*
 * The images of n slots of the kid's node.  "his" may be NULL: keys have no
 * upper halves, or nobody wants them.
 */
static void
fpt_copy_keys(FPTPage pg, int kid, const char *node, const uint8 *slots,
			  int n, uint64 *los, uint64 *his)
{
	const char *keys = node + pg.g->key_off;
	uint64		nodebase = fpt_kid_base(pg, kid);
	uint64		base = fpt_special(pg.p)->base_lo;
	int			i;

	if (unlikely((fpt_header(pg.p)->enc & FPT_ENC_BITS) != 0))
	{
		if (!fpt_is_lent(pg.l, pg.p))
			fpt_copy_fixed_keys(pg, nodebase, node, slots, n, los, his);
		else
		{
			fpt_copy_lent_keys(pg, nodebase, node, slots, n, los);
			if (his)
				memset(his, 0, n * sizeof(uint64));
		}
		return;
	}
	if (!fpt_is_wide(pg.g) && his == NULL)
	{
		fpt_copy_narrow_keys(keys, pg.g->sw, base + nodebase, slots, n, los);
		return;
	}
	for (i = 0; i < n; i++)
	{
		uint64		hi,
					lo;

		fpt_slot_rel(pg.g, node, nodebase, slots[i], &hi, &lo);
		los[i] = lo + base;
		if (his)
			his[i] = hi + fpt_special(pg.p)->base_hi + (los[i] < lo ? 1 : 0);
	}
}

/* Downlinks of n slots of an inner page's node. */
static pg_noinline void
fpt_copy_downs(const FPTGeom *g, const char *node, const uint8 *slots, int n,
			   uint32 *downs)
{
	Assert(!fpt_is_leaf(g));
	for (int i = 0; i < n; i++)
		memcpy(downs + i, node + g->down_off + slots[i] * g->pw, 4);
}

/* Tuples that are asked for before they are looked at. */
#define FPT_TUPLES_AHEAD	8

/*
 * Where the tuples of n slots are, from entry "at" of the run on; false if
 * corrupt.  They have no more bytes in all than a page has.  Offsets are
 * used to prefetch before they are checked: prefetching does not fault.
 */
static bool
fpt_find_tuples(FPTPage pg, const char *node, const uint8 *slots, int n,
				FPTRun *run, int at)
{
	uint16	   *tupoffs = run->tupoffs + at;
	uint16	   *tuplens = run->tuplens + at;
	const char *offs = node + pg.g->off_off;
	int			stride = pg.g->pw;
	uint32		bytes = 0;
	uint16		off;
	int			i;

	Assert(n <= pg.g->cap && at >= 0);
	if (!fpt_has_offsets(pg.g))
	{
		memset(tupoffs, 0, n * sizeof(uint16));
		memset(tuplens, 0, n * sizeof(uint16));
		return true;
	}
	for (i = 0; i < Min(n, FPT_TUPLES_AHEAD); i++)
	{
		memcpy(&off, offs + slots[i] * stride, sizeof(off));
		fpt_prefetch(pg.p + off);
	}
	for (i = 0; i < n; i++)
	{
		const char *tup;
		uint32		len;

		if (i + FPT_TUPLES_AHEAD < n)
		{
			memcpy(&off, offs + slots[i + FPT_TUPLES_AHEAD] * stride,
				   sizeof(off));
			fpt_prefetch(pg.p + off);
		}
		memcpy(&off, offs + slots[i] * stride, sizeof(off));
		if (off == 0)
		{
			tupoffs[i] = tuplens[i] = 0;
			continue;
		}
		tup = fpt_tuple_at(pg.p, off, &len);
		if (unlikely(tup == NULL))
			return false;
		tupoffs[i] = (uint16) (tup - pg.p);
		tuplens[i] = (uint16) len;
		bytes += len;
	}
	run->tupbytes += bytes;
	return run->tupbytes <= BLCKSZ;
}

/*
 * The slots of entries rank .. to - 1, less the dead ones; their number, or -1
 * if corrupt.  "perm" is the page's, and not trusted; "slots" has room for
 * FPT_MAX_CAP.
 */
static inline int
fpt_copy_slots(const FPTGeom *g, const uint8 *perm, int rank, int to,
			   uint64 dead, uint8 *slots)
{
	int			cap = g->cap;
	int			m = 0;

	Assert(rank >= 0 && to <= cap);
	if (likely(dead == 0))
	{
		bool		valid = true;

		for (; rank < to; rank++, m++)
		{
			slots[m] = perm[rank];
			valid &= perm[rank] < cap;
		}
		return valid ? m : -1;
	}
	for (; rank < to; rank++)
	{
		int			slot = perm[rank];

		if (slot >= cap)
			return -1;
		slots[m] = (uint8) slot;
		m += ((dead >> slot) & 1) == 0;
	}
	return m;
}

/* What fpt_page_copy carries from node to node. */
typedef struct FPTCopying
{
	FPTRun	   *run;
	bool		skip_dead;		/* leave out entries with hints */
	int			n;				/* entries copied */
	int			max;			/* and no more than these */
	int			last;			/* fpt_keys_copy()'s */
} FPTCopying;

/*
 * The slots of a node without a permutation whose entries are to be copied:
 * from "first", if that is not NULL, and before "end", less the dead ones.
 */
static inline uint64
fpt_node_range(FPTPage pg, char *node, const FPTLoc *first, const FPTLoc *end,
			   uint64 dead)
{
	uint64		set = end != NULL ? fpt_node_before(pg, node, end) :
		fpt_node_used(pg.g, node);

	if (first != NULL)
		set &= ~fpt_node_before(pg, node, first);
	return set & ~dead;
}

/* The same of one with a permutation: in order, their number, -1: corrupt. */
static inline int
fpt_perm_range(FPTPage pg, char *node, const FPTLoc *first, const FPTLoc *end,
			   uint64 dead, uint8 *slots)
{
	int			to = fpt_popcount(fpt_node_used(pg.g, node));

	if (end != NULL)
		to = Min(to, end->rank);
	return fpt_copy_slots(pg.g, fpt_node_perm(pg.g, node),
						  first != NULL ? first->rank : 0, to, dead, slots);
}

/*
 * Copy the entries of m slots of the kid's node; "last" is fpt_keys_copy()'s.
 * False if corrupt; then what is in the run's arrays means nothing.
 */
static pg_attribute_always_inline bool
fpt_slots_copy(FPTPage pg, const FPTKid *k, const uint8 *slots, int m,
			   FPTCopying *c, int *last)
{
	FPTRun	   *run = c->run;
	char	   *node = k->node;
	int			n = c->n;
	FPTResult	res;

	Assert(c->n >= 0 && m >= 0 && m <= pg.g->cap);
	if (run->tids && !fpt_copy_tids(pg, node, slots, m, run->tids + n) &&
		fpt_is_leaf(pg.g))
		return false;
	res = fpt_keys_copy(pg, node, slots, m, run, n, last);
	if (res == FPT_CORRUPT)
		return false;
	if (res == FPT_UNFIT)
	{
		if (run->los)
			fpt_copy_keys(pg, k->kid, node, slots, m, run->los + n,
						  run->his ? run->his + n : NULL);
		if (run->tupoffs && !fpt_find_tuples(pg, node, slots, m, run, n))
			return false;
	}
	if (unlikely(run->downs != NULL))
		fpt_copy_downs(pg.g, node, slots, m, run->downs + n);
	if (run->slotids)
	{
		uint16	   *slotids = run->slotids + n;
		int			first = k->ordinal * pg.g->cap;

		for (int j = 0; j < m; j++)
			slotids[j] = (uint16) (first + slots[j]);
	}
	c->n = n + m;
	return true;
}

/* The numbers of these slots of a node, as in FPTRun. */
static inline void
fpt_put_slotids(FPTPage pg, int ordinal, uint64 set, uint16 *slotids)
{
	int			first = ordinal * pg.g->cap;

	for (int i = 0; set != 0; set &= set - 1)
		slotids[i++] = (uint16) (first + fpt_ctz(set));
}

/*
 * Copy TIDs of "set" of the slots of the kid's node, in the slots' order, which
 * need not be found out.  False if corrupt.
 */
static inline bool
fpt_kid_copy_tids(FPTPage pg, const FPTKid *k, uint64 set, FPTCopying *c)
{
	FPTRun	   *run = c->run;
	int			m = fpt_popcount(set);

	Assert(run->los == NULL && run->tupoffs == NULL);
	if (m == 0)
		return true;
	if (c->n + m > c->max ||
		fpt_node_tids(pg, k->node, set, run->tids + c->n) < 0)
		return false;
	if (run->slotids != NULL)
		fpt_put_slotids(pg, k->ordinal, set, run->slotids + c->n);
	c->n += m;
	return true;
}

/*
 * Copy the kid's entries from "first" on and before "end" if these are in this
 * kid.  False if corrupt: also if there are more than a page has, as can be
 * where a damaged one names a node more than once.
 */
static inline bool
fpt_kid_copy(FPTPage pg, int kid, const FPTLoc *first, const FPTLoc *end,
			 FPTCopying *c)
{
	FPTKid		k;
	uint64		dead = 0;
	uint64		set;
	uint8		slots[FPT_MAX_CAP];
	int			m;

	if (!fpt_kid_open(pg, kid, &k))
		return false;
	if (kid + 1 < end->kid)
		fpt_kid_prefetch(pg, kid + 1);
	if (c->skip_dead)
		dead = fpt_node_hints(pg, k.ordinal);
	first = kid == first->kid ? first : NULL;
	end = kid == end->kid ? end : NULL;
	if (pg.g->perm)
		m = fpt_perm_range(pg, k.node, first, end, dead, slots);
	else
	{
		set = fpt_node_range(pg, k.node, first, end, dead);
		if (c->run->unordered)
			return fpt_kid_copy_tids(pg, &k, set, c);
		m = fpt_slots_order(pg, k.node, set, slots);
	}
	return m >= 0 && c->n + m <= c->max &&
		fpt_slots_copy(pg, &k, slots, m, c, &c->last);
}

/*
 * The slot of the only entry from first on and before last, as most look-ups
 * have it, in a node without a permutation; -1: there are more, or none, or
 * the places do not say.
 */
static inline int
fpt_only_slot(const FPTGeom *g, const FPTLoc *first, const FPTLoc *last)
{
	uint64		set = last->below & ~first->below & g->capmask;

	if (first->kid != last->kid || last->rank != first->rank + 1 || g->perm ||
		set == 0 || (set & (set - 1)) != 0)
		return -1;
	return fpt_ctz(set);
}

/* See page/copy.h. */
int
fpt_page_copy(const FPTLayout *l, void *page, FPTLoc first, FPTLoc last,
			  bool skip_dead, FPTRun *run)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTCopying	c = {.run = run, .last = -1};
	int			nkids = fpt_header(page)->nkids;
	FPTNumbers	n;
	int			kid;
	int			slot;

	if (fpt_num_page(pg, &n))
		return fpt_num_copy(&n, first, last, skip_dead, run);
	if (pg.g == NULL || first.kid < 0 || first.rank < 0 || last.kid > nkids)
		return -1;
	c.skip_dead = skip_dead && fpt_is_leaf(pg.g);
	c.max = (int) pg.g->capacity;
	if (run->max > 0)
		c.max = Min(c.max, run->max);
	slot = fpt_only_slot(pg.g, &first, &last);
	if (slot >= 0 && first.kid < nkids && c.max > 0)
	{
		uint8		slots[1] = {(uint8) slot};
		FPTKid		k;
		int			m = 1;

		if (!fpt_kid_open(pg, first.kid, &k))
			return -1;
		if (c.skip_dead)
			m = (fpt_node_hints(pg, k.ordinal) >> slot & 1) == 0;
		return fpt_slots_copy(pg, &k, slots, m, &c, &c.last) ? c.n : -1;
	}
	if (last.rank > 0)
		nkids = Min(nkids, last.kid + 1);
	else
		nkids = Min(nkids, last.kid);
	for (kid = first.kid; kid < nkids; kid++)
	{
		if (!fpt_kid_copy(pg, kid, &first, &last, &c))
			return -1;
	}
	Assert(c.n <= (int) pg.g->capacity);
	return c.n;
}

/* A leaf's slots of a kid's node that are in use; -1: there is no such node. */
static inline int
fpt_kid_count(FPTPage pg, int kid)
{
	char	   *node;

	if (kid < 0 || kid >= fpt_header(pg.p)->nkids)
		return -1;
	node = fpt_kid_node(pg, kid);
	return node == NULL ? -1 : fpt_popcount(fpt_node_used(pg.g, node));
}

/*
 * See page/copy.h.  Nodes on the way are counted, and the last one is put in
 * order.  "below" is made of those before the place or of the others, which
 * are fewer.
 */
bool
fpt_page_away(const FPTLayout *l, void *page, const FPTLoc *from, int n,
			  int dir, FPTLoc *to, FPTEntry *e)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			kid = from->kid;
	int			rank = from->rank + n * dir;
	uint8		slots[FPT_MAX_CAP];
	uint64		used;
	FPTNumbers	numbers;
	int			count;

	Assert(n > 0 && (dir == 1 || dir == -1) && !fpt_is_general(l));
	if (pg.g == NULL || pg.g->perm || fpt_num_page(pg, &numbers))
		return false;
	for (; rank < 0; rank += count)
	{
		count = fpt_kid_count(pg, --kid);
		if (count < 0)
			return false;
	}
	for (; (count = fpt_kid_count(pg, kid)) <= rank; rank -= count, kid++)
	{
		if (count < 0 || dir < 0)
			return false;
	}
	used = fpt_node_used(pg.g, fpt_kid_node(pg, kid));
	count = fpt_slots_order(pg, fpt_kid_node(pg, kid), used, slots);
	to->kid = kid;
	to->rank = rank;
	to->below = 0;
	for (int i = rank > count / 2 ? rank : 0;
		 i < (rank > count / 2 ? count : rank); i++)
		to->below |= UINT64CONST(1) << slots[i];
	if (rank > count / 2)
		to->below ^= used;
	return fpt_slot_entry(pg, fpt_kid_node(pg, kid), fpt_kid_base(pg, kid),
						  slots[rank], fpt_kid_cls(pg, kid), e);
}

/*
 * The only entry of an image, in this slot of the kid's node: of it
 * nothing is unknown but the TID.  False if that is no heap TID.
 */
static inline bool
fpt_one_copy(FPTPage pg, const FPTKid *k, int slot, const FPTKey *key,
			 FPTRun *run)
{
	uint8		slots[1] = {(uint8) slot};

	if (!fpt_copy_tids(pg, k->node, slots, 1, run->tids))
		return false;
	if (run->slotids)
		run->slotids[0] = (uint16) (k->ordinal * pg.g->cap + slot);
	if (run->los)
		run->los[0] = key->lo;
	if (run->his)
		run->his[0] = key->hi;
	return true;
}

/*
 * See page/copy.h.  Of the node's entries only those of the image are put in
 * order, by their TIDs: the others, and the ends of the range, are not looked
 * for.  Mostly there is one.
 */
int
fpt_page_copy_image(const FPTLayout *l, void *page, const FPTKey *key,
					bool skip_dead, FPTRun *run, int *kid)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTCopying	c = {.run = run};
	FPTPlace	p;
	FPTKid		k;
	uint64		set;
	uint8		slots[FPT_MAX_CAP];
	FPTNumbers	n;
	int			m;

	if (fpt_num_page(pg, &n))
		return fpt_num_copy_image(&n, key, skip_dead, run, kid);
	if (pg.g == NULL || pg.g->perm || fpt_is_general(l) ||
		!fpt_locate_image(pg, key, &p) || !fpt_kid_open(pg, p.kid, &k))
		return FPT_NO_IMAGE;
	*kid = p.kid;
	set = p.eq;
	if (skip_dead)
		set &= ~fpt_node_hints(pg, k.ordinal);
	Assert((set & ~fpt_node_used(pg.g, p.node)) == 0);
	if (set == 0)
		return 0;
	if ((set & (set - 1)) == 0)
		return fpt_one_copy(pg, &k, fpt_ctz(set), key, run) ? 1 : FPT_NO_IMAGE;
	m = fpt_slots_order(pg, k.node, set, slots);
	if (!fpt_slots_copy(pg, &k, slots, m, &c, NULL))
		return FPT_NO_IMAGE;
	return m;
}

/*
 * See page/copy.h.  Where the slots in use are the first ones their TIDs are
 * widened where they lie, without a list of slots.
 */
int
fpt_node_tids(FPTPage pg, const char *node, uint64 used, uint64 *tids)
{
	uint8		slots[FPT_MAX_CAP];
	int			m = 0;

	if (pg.g->tw < 6 && !fpt_has_far(pg.g) && (used & (used + 1)) == 0 &&
		!fpt_is_lent(pg.l, pg.p))
	{
		m = fpt_popcount(used);
		return fpt_simd->tids(node + pg.g->tid_off, m, pg.g->pw, pg.g->tw,
							  fpt_special(pg.p)->tidbase,
							  fpt_special(pg.p)->rowbits, tids) ? m : -1;
	}
	for (; used != 0; used &= used - 1)
		slots[m++] = (uint8) fpt_ctz(used);
	return fpt_copy_tids(pg, node, slots, m, tids) ? m : -1;
}

/*
 * See page/copy.h.  A damaged page may name a node more than once: no more
 * entries are copied than a page can have.
 */
int
fpt_page_tids(const FPTLayout *l, void *page, uint64 *tids, uint16 *slotids)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			nkids = fpt_header(page)->nkids;
	FPTNumbers	numbers;
	int			n = 0;

	if (fpt_num_page(pg, &numbers))
		return fpt_num_tids(&numbers, tids, slotids);
	if (pg.g == NULL || !fpt_is_leaf(pg.g))
		return -1;
	for (int kid = 0; kid < nkids; kid++)
	{
		FPTKid		k;
		uint64		used;
		int			m;

		if (!fpt_kid_open(pg, kid, &k))
			return -1;
		if (kid + 1 < nkids)
			fpt_kid_prefetch(pg, kid + 1);
		used = fpt_node_used(pg.g, k.node);
		if (n + fpt_popcount(used) > (int) pg.g->capacity)
			return -1;
		if (slotids != NULL)
			fpt_put_slotids(pg, k.ordinal, used, slotids + n);
		m = fpt_node_tids(pg, k.node, used, tids + n);
		if (m < 0)
			return -1;
		n += m;
	}
	return n;
}

/* As many bits as slots are in use, as if these were the first: spread them. */
static inline uint64
fpt_bits_spread(uint64 used, uint64 bits)
{
	uint64		slots = 0;

	if ((used & (used + 1)) == 0)
		return bits;
	for (; bits != 0; bits >>= 1, used &= used - 1)
		slots |= (bits & 1) != 0 ? used & -used : 0;
	return slots;
}

/*
 * See page/copy.h.  The order is that of fpt_page_tids(): node by node, by
 * slots, so that marks on what it has copied need no other list.
 */
int
fpt_page_marked(const FPTLayout *l, void *page, const uint64 *marks, int first,
				int n, uint64 gone[FPT_MAX_NODES])
{
	FPTPage		pg = fpt_page_open(l, page);
	int			nkids = fpt_header(page)->nkids;
	int			at = 0;
	int			nmarked = 0;
	FPTNumbers	numbers;

	Assert(first >= 0 && n >= 0);
	if (fpt_num_page(pg, &numbers))
		return fpt_num_marked(&numbers, marks, first, n, gone);
	if (pg.g == NULL)
		return -1;
	for (int kid = 0; kid < nkids; kid++)
	{
		FPTKid		k;
		uint64		used;
		uint64		bits = 0;
		int			m;

		if (!fpt_kid_open(pg, kid, &k))
			return -1;
		used = fpt_node_used(pg.g, k.node);
		m = fpt_popcount(used);
		if (m > n - at)
			return -1;
		if (m > 0)
			bits = fpt_bits_get(marks, first + at, m);
		at += m;
		nmarked += fpt_popcount(bits);
		gone[k.ordinal] = fpt_bits_spread(used, bits);
	}
	return at == n ? nmarked : -1;
}
