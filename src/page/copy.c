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
#include "page/order.h"
#include "page/simd.h"

/*
 * See page/copy.h.  Each node is put in order, as whoever changes a page at
 * large wants its entries in the order of keys.
 */
int
fpt_page_extract(const FPTLayout *l, void *page, FPTEntry *out, int max)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			nkids = fpt_header(pg.p)->nkids;
	int			n = 0;
	int			kid;

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
		if (count < 0 || n + count > max)
			return -1;
		for (i = 0; i < count; i++)
		{
			if (!fpt_slot_entry(pg, node, base, slots[i], cls, &out[n]))
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
fpt_copy_short_tids(const char *tids, int stride, int width, uint32 base,
					const uint8 *slots, int n, uint64 *out)
{
	bool		valid = true;

	for (int i = 0; i < n; i++)
	{
		uint64		v = fpt_load_uint(tids + slots[i] * stride, width);

		out[i] = fpt_tid_widen(base, (uint32) v);
		valid &= (v & FPT_TID_MAXOFF) != 0;
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

/* TIDs that are relative to their node; false if one has no offset. */
static bool
fpt_copy_near_tids(FPTPage pg, const char *node, const uint8 *slots, int n,
				   uint64 *out)
{
	const uint8 *bytes = (const uint8 *) node + pg.g->tid_off;
	int			stride = pg.g->pw;
	unsigned	most;
	bool		valid;

	if (stride == 1)
		valid = fpt_copy_rows(pg, node, 1, slots, n, out, &most);
	else
		valid = fpt_copy_rows(pg, node, stride, slots, n, out, &most);
	if (most <= fpt_near_rows(pg.g))
		return valid;
	valid = true;
	for (int i = 0; i < n; i++)
	{
		unsigned	byte = bytes[slots[i] * stride];

		if (byte > fpt_near_rows(pg.g))
			out[i] = fpt_byte_tid(pg, node, byte);
		valid &= (out[i] & 0xFFFF) != 0;
	}
	return valid;
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
	uint32		base = fpt_special(pg.p)->tidbase;
	int			width = pg.g->tw;
	int			stride = pg.g->pw;
	bool		valid = true;
	int			i;

	Assert(n >= 0 && n <= pg.g->cap);
	if (fpt_has_far(pg.g))
		return fpt_copy_near_tids(pg, node, slots, n, out);
	if (width < 6 && n > 1 && fpt_slots_plain(slots, n))
		return fpt_simd->tids(tids, n, stride, width, base, out);
	if (stride == 3)
		return fpt_copy_short_tids(tids, 3, 3, base, slots, n, out);
	if (stride == 4 && width == 4)
		return fpt_copy_short_tids(tids, 4, 4, base, slots, n, out);
	if (width < 6)
		return fpt_copy_short_tids(tids, stride, width, base, slots, n, out);
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

/* The images of n slots of a node, where the page leaves out fixed bits. */
static void
fpt_copy_fixed_keys(FPTPage pg, uint64 nodebase, const char *node,
					const uint8 *slots, int n, uint64 *los, uint64 *his)
{
	const FPTPageSpecial *s = fpt_special(pg.p);
	uint64		base_hi = s->base_hi;
	uint64		base_lo = s->base_lo;
	uint32		fixed = s->fixed;

	Assert(fpt_is_fixed(pg.p));
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
	int			width = pg.g->sw;
	int			i;

	if (unlikely(fpt_is_fixed(pg.p)))
	{
		fpt_copy_fixed_keys(pg, nodebase, node, slots, n, los, his);
		return;
	}
	if (!fpt_is_wide(pg.g) && his == NULL)
	{
		base += nodebase;
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
	int			last;			/* fpt_keys_copy()'s */
} FPTCopying;

/*
 * Slots of a node without a permutation whose entries are before a place in it.
 * Mostly the place knows them.
 */
static inline uint64
fpt_slots_before(FPTPage pg, char *node, const FPTLoc *loc)
{
	uint8		slots[FPT_MAX_CAP];
	uint64		below = 0;
	int			n;

	if (loc->below != 0 || loc->rank == 0)
	{
		fpt_assert_below(pg, node, loc->rank, loc->below);
		return loc->rank > 0 ? loc->below & pg.g->capmask : 0;
	}
	n = fpt_node_order(pg, node, slots);
	for (int i = 0; i < Min(n, loc->rank); i++)
		below |= UINT64CONST(1) << slots[i];
	return below;
}

/*
 * The slots of a node's entries that are to be copied, in order: from "first",
 * if that is not NULL, and before "end"; their number, or -1 if corrupt.
 */
static inline int
fpt_node_range(FPTPage pg, char *node, const FPTLoc *first, const FPTLoc *end,
			   uint64 dead, uint8 *slots)
{
	uint64		set;

	if (pg.g->perm)
	{
		int			to = fpt_popcount(fpt_node_used(pg.g, node));

		if (end != NULL)
			to = Min(to, end->rank);
		return fpt_copy_slots(pg.g, fpt_node_perm(pg.g, node),
							  first != NULL ? first->rank : 0, to, dead, slots);
	}
	set = end != NULL ? fpt_slots_before(pg, node, end) :
		fpt_node_used(pg.g, node);
	if (first != NULL)
		set &= ~fpt_slots_before(pg, node, first);
	return fpt_slots_order(pg, node, set & ~dead, slots);
}

/*
 * Copy the entries of m slots of the kid's node; "last" is fpt_keys_copy()'s.
 * False if corrupt; then what is in the run's arrays means nothing.
 */
static pg_attribute_always_inline bool
fpt_slots_copy(FPTPage pg, int kid, char *node, const uint8 *slots, int m,
			   FPTCopying *c, int *last)
{
	FPTRun	   *run = c->run;
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
			fpt_copy_keys(pg, kid, node, slots, m, run->los + n,
						  run->his ? run->his + n : NULL);
		if (run->tupoffs && !fpt_find_tuples(pg, node, slots, m, run, n))
			return false;
	}
	if (run->slotids)
	{
		uint16	   *slotids = run->slotids + n;
		int			first = fpt_kid(pg, kid) * pg.g->cap;

		for (int i = 0; i < m; i++)
			slotids[i] = (uint16) (first + slots[i]);
	}
	c->n = n + m;
	return true;
}

/*
 * Copy the kid's entries from "first" on and before "end" if these are in this
 * kid.  False if corrupt.
 */
static inline bool
fpt_node_copy(FPTPage pg, int kid, const FPTLoc *first, const FPTLoc *end,
			  FPTCopying *c)
{
	char	   *node = fpt_kid_node(pg, kid);
	uint64		dead;
	uint8		slots[FPT_MAX_CAP];
	int			m;

	if (node == NULL)
		return false;
	if (kid + 1 < end->kid)
		fpt_kid_prefetch(pg, kid + 1);
	dead = c->skip_dead ? fpt_node_hints(pg, fpt_kid(pg, kid)) : 0;
	m = fpt_node_range(pg, node, kid == first->kid ? first : NULL,
					   kid == end->kid ? end : NULL, dead, slots);
	return m >= 0 && fpt_slots_copy(pg, kid, node, slots, m, c, &c->last);
}

/*
 * See page/copy.h.  A node is used by one kid in a sound page only; in any,
 * there are no more kids than nodes, so that no more is copied than a page can
 * hold.
 */
int
fpt_page_copy(const FPTLayout *l, void *page, FPTLoc first, FPTLoc last,
			  bool skip_dead, FPTRun *run)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTCopying	c = {.run = run, .last = -1};
	int			nkids = fpt_header(page)->nkids;
	int			kid;

	if (pg.g == NULL || first.kid < 0 || first.rank < 0 || last.kid > nkids)
		return -1;
	c.skip_dead = skip_dead && fpt_is_leaf(pg.g);
	for (kid = first.kid; kid <= last.kid && kid < nkids; kid++)
	{
		if (!fpt_node_copy(pg, kid, &first, &last, &c))
			return -1;
	}
	Assert(c.n <= (int) pg.g->capacity);
	return c.n;
}

/*
 * See page/copy.h.  Of the node's entries only those of the image are put in
 * order, by their TIDs: the others, and the ends of the range, are not looked
 * for.
 */
int
fpt_page_copy_image(const FPTLayout *l, void *page, const FPTKey *key,
					bool skip_dead, FPTRun *run, int *kid)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTCopying	c = {.run = run};
	FPTPlace	p;
	uint8		slots[FPT_MAX_CAP];
	int			m;

	if (pg.g == NULL || pg.g->perm || fpt_is_general(l) ||
		!fpt_locate_image(pg, key, &p))
		return FPT_NO_IMAGE;
	*kid = p.kid;
	if (skip_dead)
		p.eq &= ~fpt_node_hints(pg, fpt_kid(pg, p.kid));
	Assert((p.eq & ~fpt_node_used(pg.g, p.node)) == 0);
	m = fpt_slots_order(pg, p.node, p.eq, slots);
	if (!fpt_slots_copy(pg, p.kid, p.node, slots, m, &c, NULL))
		return FPT_NO_IMAGE;
	return m;
}

/* The numbers of these slots of a kid's node, as in FPTRun. */
static inline void
fpt_put_slotids(FPTPage pg, int kid, uint64 set, uint16 *slotids)
{
	int			first = fpt_kid(pg, kid) * pg.g->cap;

	for (int i = 0; set != 0; set &= set - 1)
		slotids[i++] = (uint16) (first + fpt_ctz(set));
}

/*
 * See page/copy.h.  Where the slots in use are the first ones their TIDs are
 * widened where they lie, without a list of slots.
 */
int
fpt_page_tids(const FPTLayout *l, void *page, uint64 *tids, uint16 *slotids)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			nkids = fpt_header(page)->nkids;
	int			n = 0;

	if (pg.g == NULL || !fpt_is_leaf(pg.g))
		return -1;
	for (int kid = 0; kid < nkids; kid++)
	{
		char	   *node = fpt_kid_node(pg, kid);
		uint8		slots[FPT_MAX_CAP];
		uint64		used;
		int			m = 0;

		if (node == NULL)
			return -1;
		if (kid + 1 < nkids)
			fpt_kid_prefetch(pg, kid + 1);
		used = fpt_node_used(pg.g, node);
		Assert(n + pg.g->cap <= FPT_MAX_ENTRIES);
		if (slotids != NULL)
			fpt_put_slotids(pg, kid, used, slotids + n);
		if (pg.g->tw < 6 && !fpt_has_far(pg.g) && (used & (used + 1)) == 0)
		{
			m = fpt_popcount(used);
			if (!fpt_simd->tids(node + pg.g->tid_off, m, pg.g->pw, pg.g->tw,
								fpt_special(page)->tidbase, tids + n))
				return -1;
		}
		else
		{
			for (; used != 0; used &= used - 1)
				slots[m++] = (uint8) fpt_ctz(used);
			if (!fpt_copy_tids(pg, node, slots, m, tids + n))
				return -1;
		}
		n += m;
	}
	return n;
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

	Assert(first >= 0 && n >= 0);
	if (pg.g == NULL)
		return -1;
	for (int kid = 0; kid < nkids; kid++)
	{
		char	   *node = fpt_kid_node(pg, kid);
		uint64		used;
		uint64		bits = 0;
		uint64		slots = 0;
		int			m;

		if (node == NULL)
			return -1;
		used = fpt_node_used(pg.g, node);
		m = fpt_popcount(used);
		if (m > n - at)
			return -1;
		if (m > 0)
			bits = fpt_bits_get(marks, first + at, m);
		at += m;
		nmarked += fpt_popcount(bits);
		if ((used & (used + 1)) == 0)
			slots = bits;
		else
		{
			/* the bits are as many as the slots in use: spread them */
			for (; bits != 0; bits >>= 1, used &= used - 1)
				slots |= (bits & 1) != 0 ? used & -used : 0;
		}
		gone[fpt_kid(pg, kid)] = slots;
	}
	return at == n ? nmarked : -1;
}
