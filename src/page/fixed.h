/*-------------------------------------------------------------------------
 *
 * page/fixed.h
 *	  Keys of 16 bytes without the bits that all of a page's have in common.
 *
 * A uuid has six bits that say what it is: four of a version, and two of a
 * variant.  They are in the middle of the number, so that keys relative to a
 * base are longer by them, though in nearly all indexes they never vary.  In a
 * page that is FPT_ENC_FIXED they are left out: of two keys that have the same
 * six bits, the one that is greater with them is greater without.  Then there
 * are 122 bits, in two words as keys have them.
 *
 * A key with other bits is "foreign" to the page.  Between those that are not
 * it has a place all the same: before the first one that is above it.
 *
 * Nothing here raises an error or allocates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_FIXED_H
#define FPT_PAGE_FIXED_H

#include "page/format.h"
#include "page/layout.h"

#define FPT_FIXED_LOWBITS	62	/* of the lower word, below the variant */
#define FPT_FIXED_LOWMASK	((UINT64CONST(1) << FPT_FIXED_LOWBITS) - 1)
#define FPT_FIXED_HIGHBITS	58	/* of the upper word of a key without them */
#define FPT_FIXED_MAX		0x3F	/* six bits */

/* Does the page leave out fixed bits?  fpt_page_open() has found it sound. */
static inline bool
fpt_is_fixed(const FPTLayout *l, void *page)
{
	return (fpt_header(page)->enc & FPT_ENC_FIXED) != 0 && l->keysize == 16;
}

/* The bits that may be left out of a key: its version, and its variant. */
static inline uint32
fpt_fixed_bits(uint64 hi, uint64 lo)
{
	return (uint32) (((hi >> 12) & 0xF) << 2 | lo >> FPT_FIXED_LOWBITS);
}

/* What is before the variant, without the version: 60 bits. */
static inline uint64
fpt_fixed_upper(uint64 hi)
{
	return (hi >> 16) << 12 | (hi & 0xFFF);
}

/* A key without its fixed bits. */
static inline void
fpt_key_squeeze(uint64 *hi, uint64 *lo)
{
	uint64		upper = fpt_fixed_upper(*hi);

	*hi = upper >> (64 - FPT_FIXED_LOWBITS);
	*lo = upper << FPT_FIXED_LOWBITS | (*lo & FPT_FIXED_LOWMASK);
}

/* The key with these fixed bits; what is beyond 122 bits is left out. */
static inline void
fpt_key_expand(uint32 fixed, uint64 *hi, uint64 *lo)
{
	uint64		upper = *hi << (64 - FPT_FIXED_LOWBITS) |
		*lo >> FPT_FIXED_LOWBITS;

	Assert(fixed <= FPT_FIXED_MAX);
	*hi = (upper >> 12) << 16 | (uint64) (fixed >> 2) << 12 | (upper & 0xFFF);
	*lo = (uint64) fixed << FPT_FIXED_LOWBITS | (*lo & FPT_FIXED_LOWMASK);
}

/*
 * The least key with these fixed bits that is not below this one, without them;
 * false: there is none.
 */
static inline bool
fpt_key_squeeze_up(uint32 fixed, uint64 *hi, uint64 *lo)
{
	uint32		bits = fpt_fixed_bits(*hi, *lo);
	uint64		upper = fpt_fixed_upper(*hi);

	Assert(fixed <= FPT_FIXED_MAX);
	if (bits == fixed)
	{
		fpt_key_squeeze(hi, lo);
		return true;
	}
	if (bits >> 2 != fixed >> 2)
		upper = ((upper >> 12) + (bits >> 2 > fixed >> 2 ? 1 : 0)) << 12;
	else if (bits > fixed)
		upper++;
	*hi = upper >> (64 - FPT_FIXED_LOWBITS);
	*lo = upper << FPT_FIXED_LOWBITS;
	return upper >> 60 == 0;
}

#endif							/* FPT_PAGE_FIXED_H */
