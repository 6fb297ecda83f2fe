/*-------------------------------------------------------------------------
 *
 * load/radix.h
 *	  Radix sort of records of a few words.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_RADIX_H
#define FPT_BUILD_RADIX_H

#include "page/port.h"

/* A record is a number of 1, 2 or 3 words of 64 bits, the first one upmost. */
#define FPT_MAX_WORDS		3

/* Is record a before record b? */
static pg_attribute_always_inline bool
fpt_rec_less(const uint64 *a, const uint64 *b, int nwords)
{
	for (int w = 0; w < nwords - 1; w++)
	{
		if (a[w] != b[w])
			return a[w] < b[w];
	}
	return a[nwords - 1] < b[nwords - 1];
}

static pg_attribute_always_inline void
fpt_rec_copy(uint64 *to, const uint64 *from, int nwords)
{
	for (int w = 0; w < nwords; w++)
		to[w] = from[w];
}

/*
 * Sort n records of nwords words in place, without comparing and without
 * memory.  Equal records come in any order.  May be cancelled, the records then
 * in no order.
 */
extern void fpt_radix_sort(uint64 *recs, size_t n, int nwords);

#endif							/* FPT_BUILD_RADIX_H */
