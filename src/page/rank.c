/*-------------------------------------------------------------------------
 *
 * page/rank.c
 *	  FPTSimd.order in several instruction sets: the order of up to 64 numbers.
 *
 * The upper bits of each, as far as they differ, and its position make a number
 * of 16 bits, all of which are different; vectors compare all with all.  As in
 * page/simd.c nothing fails, raises, or trusts what it is given: no position is
 * beyond n - 1, whatever the numbers are.
 *
 *-------------------------------------------------------------------------
 */
#include "page/layout.h"
#include "page/rank.h"
#include "page/vector.h"

/* The upper bits of numbers that order() goes by, and those of a position. */
#define FPT_ORDER_BITS		10
#define FPT_PLACE_BITS		6

/* So far do numbers that are "span" apart at most have to be shifted. */
static inline int
fpt_order_shift(uint64 span)
{
	return span >> FPT_ORDER_BITS == 0 ? 0 :
		64 - FPT_ORDER_BITS - __builtin_clzll(span);
}

/*
 * For FPTSimd.order: n different numbers of 16 bits, in order as signed ones,
 * the lowest bits of which are a position.
 */
static pg_attribute_always_inline void
fpt_order_begin(const uint64 *at, int n, int16 *v)
{
	uint64		min = at[0];
	uint64		max = at[0];
	int			shift;

	for (int i = 1; i < n; i++)
	{
		min = Min(min, at[i]);
		max = Max(max, at[i]);
	}
	shift = fpt_order_shift(max - min);
	for (int i = 0; i < n; i++)
	{
		uint32		upper = (uint32) ((at[i] - min) >> shift);

		Assert(upper >> FPT_ORDER_BITS == 0);
		v[i] = (int16) ((upper << FPT_PLACE_BITS | i) ^ 0x8000);
	}
}

/* The positions in order, by the place of each. */
static pg_attribute_always_inline void
fpt_order_end(const uint16 *place, int n, uint8 *pos)
{
	for (int i = 0; i < n; i++)
	{
		Assert(place[i] < n);
		pos[place[i]] = (uint8) i;
	}
}

/* FPTSimd.order.  Insertion sort. */
void
fpt_order_scalar(const uint64 *at, int n, uint8 *pos)
{
	int16		v[FPT_MAX_CAP];

	Assert(n > 0 && n <= FPT_MAX_CAP);
	fpt_order_begin(at, n, v);
	for (int i = 1; i < n; i++)
	{
		int16		x = v[i];
		int			j = i;

		for (; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
	for (int i = 0; i < n; i++)
	{
		Assert(i == 0 || v[i - 1] < v[i]);
		pos[i] = v[i] & (FPT_MAX_CAP - 1);
	}
}

#ifdef FPT_SIMD_X86

/*
 * FPTSimd.order.  A number's place is how many are below it: all are compared
 * with all.  As they differ, so do their places.  A result of -1 is subtracted.
 * Lanes behind the last number have whatever v has there: nobody is compared
 * with them, and their places are not read.
 */
void
fpt_order_sse2(const uint64 *at, int n, uint8 *pos)
{
	int16		v[FPT_MAX_CAP];
	uint16		place[FPT_MAX_CAP];

	Assert(n > 0 && n <= FPT_MAX_CAP);
	fpt_order_begin(at, n, v);
	for (int i = 0; i < n; i += 16)
	{
		__m128i		a = _mm_loadu_si128((const __m128i *) (v + i));
		__m128i		b = _mm_loadu_si128((const __m128i *) (v + i + 8));
		__m128i		na = _mm_setzero_si128();
		__m128i		nb = _mm_setzero_si128();

		for (int j = 0; j < n; j++)
		{
			__m128i		x = _mm_set1_epi16(v[j]);

			na = _mm_sub_epi16(na, _mm_cmpgt_epi16(a, x));
			nb = _mm_sub_epi16(nb, _mm_cmpgt_epi16(b, x));
		}
		_mm_storeu_si128((__m128i *) (place + i), na);
		_mm_storeu_si128((__m128i *) (place + i + 8), nb);
	}
	fpt_order_end(place, n, pos);
}

/* The least and the greatest of n numbers. */
static inline FPT_AVX2 void
fpt_span_avx2(const uint64 *at, int n, uint64 *min, uint64 *max)
{
	const __m256i flip = _mm256_set1_epi64x((long long) (UINT64CONST(1) << 63));
	__m256i		lo = _mm256_xor_si256(_mm256_set1_epi64x((long long) at[0]),
									  flip);
	__m256i		hi = lo;
	uint64		four[2][4];
	int			i;

	for (i = 0; i + 4 <= n; i += 4)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (at + i));

		x = _mm256_xor_si256(x, flip);
		lo = _mm256_blendv_epi8(lo, x, _mm256_cmpgt_epi64(lo, x));
		hi = _mm256_blendv_epi8(hi, x, _mm256_cmpgt_epi64(x, hi));
	}
	_mm256_storeu_si256((__m256i *) four[0], _mm256_xor_si256(lo, flip));
	_mm256_storeu_si256((__m256i *) four[1], _mm256_xor_si256(hi, flip));
	*min = four[0][0];
	*max = four[1][0];
	for (int j = 1; j < 4; j++)
	{
		*min = Min(*min, four[0][j]);
		*max = Max(*max, four[1][j]);
	}
	for (; i < n; i++)
	{
		*min = Min(*min, at[i]);
		*max = Max(*max, at[i]);
	}
}

/*
 * fpt_order_begin(), four at a time: the lower halves of 64 bits are brought
 * together, then of these the lower halves.
 */
static inline FPT_AVX2 void
fpt_order_begin_avx2(const uint64 *at, int n, int16 *v)
{
	const __m256i halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
	const __m128i pick = _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13,
									   -1, -1, -1, -1, -1, -1, -1, -1);
	const __m128i flip = _mm_set1_epi16((short) 0x8000);
	__m256i		place = _mm256_setr_epi64x(0, 1, 2, 3);
	uint64		min;
	uint64		max;
	__m256i		base;
	__m128i		shift;

	fpt_span_avx2(at, n, &min, &max);
	base = _mm256_set1_epi64x((long long) min);
	shift = _mm_cvtsi32_si128(fpt_order_shift(max - min));
	for (int i = 0; i < n; i += 4)
	{
		__m256i		x = _mm256_loadu_si256((const __m256i *) (at + i));
		__m128i		y;

		x = _mm256_srl_epi64(_mm256_sub_epi64(x, base), shift);
		x = _mm256_or_si256(_mm256_slli_epi64(x, FPT_PLACE_BITS), place);
		x = _mm256_permutevar8x32_epi32(x, halves);
		y = _mm_shuffle_epi8(_mm256_castsi256_si128(x), pick);
		_mm_storel_epi64((__m128i *) (v + i), _mm_xor_si128(y, flip));
		place = _mm256_add_epi64(place, _mm256_set1_epi64x(4));
	}
}

/* As fpt_order_sse2(). */
FPT_AVX2 void
fpt_order_avx2(const uint64 *at, int n, uint8 *pos)
{
	int16		v[FPT_MAX_CAP];
	uint16		place[FPT_MAX_CAP];

	Assert(n > 0 && n <= FPT_MAX_CAP);
	fpt_order_begin_avx2(at, n, v);
	for (int i = 0; i < n; i += 32)
	{
		__m256i		a = _mm256_loadu_si256((const __m256i *) (v + i));
		__m256i		b = _mm256_loadu_si256((const __m256i *) (v + i + 16));
		__m256i		na = _mm256_setzero_si256();
		__m256i		nb = _mm256_setzero_si256();

		for (int j = 0; j < n; j++)
		{
			__m256i		x = _mm256_set1_epi16(v[j]);

			na = _mm256_sub_epi16(na, _mm256_cmpgt_epi16(a, x));
			nb = _mm256_sub_epi16(nb, _mm256_cmpgt_epi16(b, x));
		}
		_mm256_storeu_si256((__m256i *) (place + i), na);
		_mm256_storeu_si256((__m256i *) (place + i + 16), nb);
	}
	fpt_order_end(place, n, pos);
}

#endif							/* FPT_SIMD_X86 */

#ifdef FPT_SIMD_NEON

/* As fpt_order_sse2(). */
void
fpt_order_neon(const uint64 *at, int n, uint8 *pos)
{
	int16		v[FPT_MAX_CAP];
	uint16		place[FPT_MAX_CAP];

	Assert(n > 0 && n <= FPT_MAX_CAP);
	fpt_order_begin(at, n, v);
	for (int i = 0; i < n; i += 16)
	{
		int16x8_t	a = vld1q_s16(v + i);
		int16x8_t	b = vld1q_s16(v + i + 8);
		uint16x8_t	na = vdupq_n_u16(0);
		uint16x8_t	nb = vdupq_n_u16(0);

		for (int j = 0; j < n; j++)
		{
			int16x8_t	x = vdupq_n_s16(v[j]);

			na = vsubq_u16(na, vcgtq_s16(a, x));
			nb = vsubq_u16(nb, vcgtq_s16(b, x));
		}
		vst1q_u16(place + i, na);
		vst1q_u16(place + i + 8, nb);
	}
	fpt_order_end(place, n, pos);
}

#endif							/* FPT_SIMD_NEON */
