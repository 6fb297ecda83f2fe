/*-------------------------------------------------------------------------
 *
 * page/simd.h
 *	  Searching the keys of a node, by the widest vectors there are.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_SIMD_H
#define FPT_PAGE_SIMD_H

#include "page/layout.h"

extern const FPTSimd *fpt_simd; /* the one in use; never NULL */

/*
 * Use this variant from now on, the best one of this CPU for "auto".  False if
 * it is unknown or not supported: nothing is changed.
 */
extern bool fpt_simd_select(const char *name);

/*
 * Names of all variants this build knows that this CPU can run, best first, max
 * of them at most.  Returns their number.
 */
extern int	fpt_simd_available(const char *names[], int max);

/* The CPU has the popcnt instruction, and may use it (page/simd.c). */
extern bool fpt_has_popcnt;

/*
 * Can a number of so many bytes, 1 to 8, be this key?  Vectors cut off what is
 * above, and would find what is not there.
 */
static inline bool
fpt_in_width(uint64 key, int width)
{
	return key <= ~UINT64CONST(0) >> (64 - 8 * width);
}

#endif							/* FPT_PAGE_SIMD_H */
