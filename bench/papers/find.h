/*-------------------------------------------------------------------------
 *
 * find.h
 *	  Searching an array of keys: binary, without branches, by vectors and by
 *	  interpolation.
 *
 * The papers search by binary search only.  The others are here so that a gain
 * is not ascribed to a paper's idea if a better search of the old node would
 * have brought it, too.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PAPERS_FIND_H
#define PAPERS_FIND_H

#include "lab.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

typedef enum Finder
{
	FIND_BINARY,
	FIND_BRANCHLESS,
	FIND_SIMD,
	FIND_INTERPOLATE
} Finder;

INLINE int
find_binary(const Key *keys, int n, Key key)
{
	int			low = 0;
	int			high = n;

	while (low < high)
	{
		/* without a sign, lest some trees' loops are longer than others' */
		int			mid = (int) ((unsigned) (low + high) / 2);

		if (keys[mid] <= key)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

INLINE int
find_branchless(const Key *keys, int n, Key key)
{
	const Key  *base = keys;

	while (n > 1)
	{
		int			half = n / 2;

		base += (base[half - 1] <= key) * half;
		n -= half;
	}
	return (int) (base - keys) + (n == 1 && *base <= key);
}

#ifdef __AVX512F__

#define FIND_LANES	(LINE / KEYSIZE)

#if KEYSIZE == 4
#define find_vector(key)		_mm512_set1_epi32((int) (key))
#define find_compare(a, v)		_mm512_cmple_epu32_mask(a, v)
#define find_compare_eq(m, a, v) _mm512_mask_cmpeq_epu32_mask(m, a, v)
#define find_load(m, p)			_mm512_maskz_loadu_epi32(m, p)
#define find_masked(m, a, v)	_mm512_mask_cmple_epu32_mask(m, a, v)
#else
#define find_vector(key)		_mm512_set1_epi64((long long) (key))
#define find_compare(a, v)		_mm512_cmple_epu64_mask(a, v)
#define find_compare_eq(m, a, v) _mm512_mask_cmpeq_epu64_mask(m, a, v)
#define find_load(m, p)			_mm512_maskz_loadu_epi64(m, p)
#define find_masked(m, a, v)	_mm512_mask_cmple_epu64_mask(m, a, v)
#endif

#define find_tail(n)			((1u << (n)) - 1)

INLINE int
find_simd(const Key *keys, int n, Key key)
{
	__m512i		v = find_vector(key);
	int			count = 0;
	int			i = 0;

	for (; i + FIND_LANES <= n; i += FIND_LANES)
		count += __builtin_popcount(
				find_compare(_mm512_loadu_si512((const void *) (keys + i)), v));
	if (i < n)
		count += __builtin_popcount(
			find_masked(find_tail(n - i), find_load(find_tail(n - i), keys + i), v));
	return count;
}

/* Position of the key in an array without order, or -1. */
INLINE int
find_equal(const Key *keys, int n, Key key)
{
	__m512i		v = find_vector(key);

	for (int i = 0; i < n; i += FIND_LANES)
	{
		uint32_t	some = n - i < FIND_LANES ? find_tail(n - i) :
			find_tail(FIND_LANES);
		uint32_t	mask = find_compare_eq(some, find_load(some, keys + i), v);

		if (mask != 0)
			return i + __builtin_ctz(mask);
	}
	return -1;
}

#else							/* the compiler's vectors */

#define FIND_LANES	16

INLINE int
find_simd(const Key *keys, int n, Key key)
{
	uint32_t	count = 0;

	for (int i = 0; i < n; i++)
		count += keys[i] <= key;
	return (int) count;
}

INLINE int
find_equal(const Key *keys, int n, Key key)
{
	for (int i = 0; i < n; i++)
	{
		if (keys[i] == key)
			return i;
	}
	return -1;
}

#endif

/*
 * A guess by the key's distance from the first and the last, then a line of
 * keys at a time from there.  Keys that are not spread evenly make the guess
 * wrong: after a few lines the rest is left to binary search.
 */
INLINE int
find_interpolate(const Key *keys, int n, Key key)
{
	Key			first;
	Key			last;
	int			at;

	if (n < 2 * FIND_LANES)
		return find_simd(keys, n, key);
	first = keys[0];
	last = keys[n - 1];
	if (key < first)
		return 0;
	if (key >= last)
		return n;
	at = (int) ((double) (key - first) * (n - 1) / (double) (last - first));
	at -= FIND_LANES / 2;
	for (int step = 0; step < 8; step++)
	{
		int			count;

		at = LAB_MAX(0, LAB_MIN(at, n - FIND_LANES));
		count = find_simd(keys + at, FIND_LANES, key);
		if (count == 0 && at > 0)
			at -= FIND_LANES;
		else if (count == FIND_LANES && at < n - FIND_LANES)
			at += FIND_LANES;
		else
			return at + count;
	}
	return find_branchless(keys, n, key);
}

/* Number of keys that are not above a key, in an array in order. */
INLINE int
find_le(const Key *keys, int n, Key key, const Finder finder)
{
	switch (finder)
	{
		case FIND_BINARY:
			return find_binary(keys, n, key);
		case FIND_BRANCHLESS:
			return find_branchless(keys, n, key);
		case FIND_SIMD:
			return find_simd(keys, n, key);
		default:
			return find_interpolate(keys, n, key);
	}
}

#endif							/* PAPERS_FIND_H */
