/*-------------------------------------------------------------------------
 *
 * page/lent.h
 *	  Keys of up to 8 bytes that lend their lowest bits to TIDs.
 *
 * A key has so many bytes that the page's, or a node's, can be told, and mostly
 * there are some bits to spare.  A TID has so many bytes that the table's rows
 * can be told, and if the table has more blocks in which a row may be than
 * three tell, a bit or two more would do.  In a page that is FPT_ENC_LENT those
 * are with the key: what is stored of a key, in slots and separators alike, is
 * how far it is above the page's base, times 2 to the power of the bits that
 * are lent, plus the upper bits of the block of the entry's TID.
 *
 * Entries are in the order of keys, then TIDs; those upper bits are what TIDs
 * are compared by first.  So the order of what is stored is that of entries,
 * and most of the page kernel need not know.  Who asks for keys that are equal
 * must: entries of one key may be stored with different numbers.
 *
 * NULLs have no keys that could lend anything: such pages have none.
 *
 * Nothing here raises an error or allocates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_LENT_H
#define FPT_PAGE_LENT_H

#include "page/format.h"
#include "page/layout.h"

/*
 * The most bits that are lent: a node's base, from which keys are told, has
 * none of them (fpt_near_unit).
 */
#define FPT_LENT_MAX		6

/* Bits of a row's number that are with the TID. */
#define FPT_LENT_TIDBITS	24

/* Do the page's keys lend bits?  fpt_page_open() has found it sound. */
static inline bool
fpt_is_lent(const FPTLayout *l, void *page)
{
	return (fpt_header(page)->enc & FPT_ENC_LENT) != 0 && l->keysize <= 8;
}

/* How many, FPT_LENT_MAX or less wherever the page has been opened; 0: none. */
static inline int
fpt_lent_bits(const FPTLayout *l, void *page)
{
	return unlikely(fpt_is_lent(l, page)) ? fpt_special(page)->bits & 7 : 0;
}

/* Bits of a block, relative to the page's, that are with the TID. */
static inline int
fpt_lent_blockbits(const FPTPageSpecial *s)
{
	return FPT_LENT_TIDBITS - (s->rowbits & 0xF);
}

/* All ones, so many bits. */
static inline uint64
fpt_lent_mask(int bits)
{
	Assert(bits >= 0 && bits < 8);
	return (UINT64CONST(1) << bits) - 1;
}

/*
 * The bits of a TID that go with the key; of one that the page cannot tell the
 * least or the greatest, so that it is before or behind all that the page can.
 */
static inline uint64
fpt_lent_part(const FPTPageSpecial *s, int bits, uint64 tid)
{
	uint64		block = tid >> 16;

	if (block < s->tidbase)
		return 0;
	return Min((block - s->tidbase) >> fpt_lent_blockbits(s),
			   fpt_lent_mask(bits));
}

/* Can this TID be stored in a page whose keys lend so many bits? */
static inline bool
fpt_lent_fits(const FPTPageSpecial *s, int bits, uint64 tid)
{
	uint64		block = tid >> 16;

	return (tid & 0xFFFF) >> (s->rowbits & 0xF) == 0 && block >= s->tidbase &&
		(block - s->tidbase) >> (fpt_lent_blockbits(s) + bits) == 0;
}

/*
 * The bits that are needed for all blocks up to this one, relative to the
 * page's, where offsets have so many; -1: keys cannot lend them.  Blocks have
 * 24 at most with them, as in all pages of short TIDs, so that none is beyond
 * the last one there can be (FPT_MAX_TIDBASE).
 */
static inline int
fpt_lent_needed(uint32 block, int rowbits)
{
	uint32		top = block >> (FPT_LENT_TIDBITS - rowbits);
	int			bits = top == 0 ? 0 : 32 - __builtin_clz(top);

	Assert(rowbits >= 1 && rowbits <= FPT_MAX_ROWBITS);
	return bits <= Min(rowbits, FPT_LENT_MAX) ? bits : -1;
}

/* A distance between keys as it is stored, with the highest bits of a TID. */
static inline void
fpt_lent_distance(int bits, uint64 *hi, uint64 *lo)
{
	Assert(bits > 0 && *hi == 0);
	*hi = *lo >> (64 - bits);
	*lo = *lo << bits | fpt_lent_mask(bits);
}

#endif							/* FPT_PAGE_LENT_H */
