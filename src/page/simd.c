/*-------------------------------------------------------------------------
 *
 * page/simd.c
 *	  Searching the slots of a node, in several instruction sets.
 *
 * A variant has the functions of FPTSimd (page/layout.h).  Those that compare
 * look at all n keys, whatever their order: there is no branch to mispredict,
 * and the caller picks what it needs from the two bit sets.
 *
 * Vector variants read whole vectors and mask the result, hence up to 63 bytes
 * behind the last key or TID.  That stays inside the page: the special line is
 * last.  It is 64 bytes long, and nodes end where it begins, at the latest.
 * What is read there, next to what was asked for, may be other slots, tuples,
 * or hint bits that somebody sets meanwhile: whatever it is, its bits are cut
 * off.
 *
 * Bit i of a result is the i'th number in memory.  In a vector the lowest lane
 * comes first, as the instructions that make bits of lanes have it.
 *
 * Nothing in here fails, raises, or trusts what it is given: bytes of a damaged
 * node give bits that mean nothing, never more of them than n.
 *
 * Which variant runs is chosen at run time: the library is built for the
 * baseline CPU, and only functions with a target attribute use more.
 *
 *-------------------------------------------------------------------------
 */
#include "page/rank.h"
#include "page/simd.h"
#include "page/vector.h"

/* The n lowest bits. */
static inline uint64
fpt_low_bits(int n)
{
	Assert(n >= 0 && n <= 64);
	return n < 64 ? (UINT64CONST(1) << n) - 1 : ~UINT64CONST(0);
}

/*
 * Drop the bits of what was read behind the last key.  No key is both below and
 * equal.
 */
static inline uint64
fpt_cmp_result(uint64 lt, uint64 equal, int n, uint64 *eq)
{
	Assert((lt & equal) == 0);
	*eq = equal & fpt_low_bits(n);
	return lt & fpt_low_bits(n);
}

/* --- portable ----------------------------------------------------------- */

/*
 * fpt_cmp_fn for keys of a width that the compiler knows.  The bits are made
 * without branches, as those of vectors are: which keys are below is as good as
 * random.
 */
static pg_attribute_always_inline uint64
fpt_cmp_scalar(const void *keys, int n, uint64 key, uint64 *eq, int width)
{
	const char *p = (const char *) keys;
	uint64		lt = 0;
	uint64		equal = 0;

	Assert(fpt_in_width(key, width));
	for (int i = 0; i < n; i++, p += width)
	{
		uint64		k = fpt_load_uint(p, width);

		lt |= (uint64) (k < key) << i;
		equal |= (uint64) (k == key) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

#define FPT_CMP_SCALAR(width) \
static uint64 \
fpt_cmp##width##_scalar(const void *keys, int n, uint64 key, uint64 *eq) \
{ \
	return fpt_cmp_scalar(keys, n, key, eq, width); \
}

FPT_CMP_SCALAR(1)
FPT_CMP_SCALAR(2)
FPT_CMP_SCALAR(3)
FPT_CMP_SCALAR(4)
FPT_CMP_SCALAR(5)
FPT_CMP_SCALAR(6)
FPT_CMP_SCALAR(7)
FPT_CMP_SCALAR(8)

/* FPTSimd.used; reads those n bytes only. */
static uint64
fpt_used_scalar(const void *low, int n, int stride)
{
	const uint8 *p = (const uint8 *) low;
	uint64		used = 0;

	Assert(n <= 64 && stride > 0);
	for (int i = 0; i < n; i++, p += stride)
		used |= (uint64) (*p != 0) << i;
	return used;
}

/*
 * Does each of n >= 1 numbers exceed the one before it?  Of a width that the
 * compiler knows.  All are looked at: mostly they do.
 */
static pg_attribute_always_inline bool
fpt_numbers_ascend(const char *p, int n, int width)
{
	uint64		prev = fpt_load_uint(p, width);
	bool		ascend = true;

	for (int i = 1; i < n; i++)
	{
		uint64		v = fpt_load_uint(p + i * width, width);

		ascend &= v > prev;
		prev = v;
	}
	return ascend;
}

/* FPTSimd.ascend: a loop of its own for the widths that are frequent. */
static bool
fpt_ascend_scalar(const void *keys, int n, int width)
{
	const char *p = (const char *) keys;

	Assert(n >= 1 && width >= 1 && width <= 8);
	switch (width)
	{
		case 1:
			return fpt_numbers_ascend(p, n, 1);
		case 2:
			return fpt_numbers_ascend(p, n, 2);
		case 3:
			return fpt_numbers_ascend(p, n, 3);
		case 4:
			return fpt_numbers_ascend(p, n, 4);
		case 8:
			return fpt_numbers_ascend(p, n, 8);
		default:
			return fpt_numbers_ascend(p, n, width);
	}
}

/*
 * FPTSimd.tids for a width that the compiler knows.  All n are written to
 * out[], also if one has no offset.
 */
static pg_attribute_always_inline bool
fpt_widen_tids(const char *p, int n, int stride, int width, uint32 tidbase,
			   int rowbits, uint64 *out)
{
	bool		valid = true;

	for (int i = 0; i < n; i++, p += stride)
	{
		uint32		v = (uint32) fpt_load_uint(p, width);

		out[i] = fpt_row_tid(tidbase, rowbits, v);
		valid &= (out[i] & 0xFFFF) != 0;
	}
	return valid;
}

static bool
fpt_tids_scalar(const void *tids, int n, int stride, int width, uint32 tidbase,
				int rowbits, uint64 *out)
{
	const char *p = (const char *) tids;

	Assert(width >= 3 && width <= 4 && stride >= width);
	if (width == 3)
		return fpt_widen_tids(p, n, stride, 3, tidbase, rowbits, out);
	return fpt_widen_tids(p, n, stride, 4, tidbase, rowbits, out);
}

static const FPTSimd fpt_simd_scalar = {
	"scalar",
	{fpt_cmp1_scalar, fpt_cmp2_scalar, fpt_cmp3_scalar, fpt_cmp4_scalar,
	fpt_cmp5_scalar, fpt_cmp6_scalar, fpt_cmp7_scalar, fpt_cmp8_scalar},
	fpt_used_scalar,
	fpt_order_scalar,
	fpt_ascend_scalar,
	fpt_tids_scalar
};

/* --- comparisons by vectors --------------------------------------------- */

/*
 * Defines fpt_cmp_fn for keys of "width" bytes.  A round compares "step" keys,
 * which begin at p, with one.  "of_key" and "of_keys" are expressions, of "key"
 * and of p: the two sides of the comparison, in vectors of a type "vec".
 * "below" and "same" make a bit for each key from these, "vkey" and "a".
 */
#define FPT_CMP_VECTOR(variant, target, width, step, vec, of_key, of_keys, \
					   below, same) \
static target uint64 \
fpt_cmp##width##_##variant(const void *keys, int n, uint64 key, uint64 *eq) \
{ \
	const char *p = (const char *) keys; \
	const vec	vkey = of_key; \
	uint64		lt = 0; \
	uint64		equal = 0; \
\
	Assert(fpt_in_width(key, width)); \
	for (int i = 0; i < n; i += (step), p += (step) * (width)) \
	{ \
		const vec	a = of_keys; \
\
		lt |= (uint64) (below) << i; \
		equal |= (uint64) (same) << i; \
	} \
	return fpt_cmp_result(lt, equal, n, eq); \
}

#ifdef FPT_SIMD_X86

/* --- SSE2: what every x86-64 CPU has ------------------------------------ */

/*
 * SSE2 and AVX2 only have signed comparisons: flipping the top bit of both
 * sides makes them unsigned ones.  And of those there are "above" and "equal":
 * a key is below the search key if that is above it.
 */
#define FPT_LOAD_SSE2(p)	_mm_loadu_si128((const __m128i *) (p))
#define FPT_FLIP1_SSE2(v)	_mm_xor_si128(v, _mm_set1_epi8((char) 0x80))
#define FPT_FLIP2_SSE2(v)	_mm_xor_si128(v, _mm_set1_epi16((short) 0x8000))
#define FPT_FLIP4_SSE2(v)	_mm_xor_si128(v, _mm_set1_epi32((int) 0x80000000))

/* The top bit of each lane, of so many bytes, is its result. */
#define FPT_BITS1_SSE2(v)	(uint32) _mm_movemask_epi8(v)
#define FPT_BITS4_SSE2(v)	(uint32) _mm_movemask_ps(_mm_castsi128_ps(v))
#define FPT_BITS8_SSE2(v)	(uint32) _mm_movemask_pd(_mm_castsi128_pd(v))

FPT_CMP_VECTOR(sse2,, 1, 16, __m128i,
			   FPT_FLIP1_SSE2(_mm_set1_epi8((char) key)),
			   FPT_FLIP1_SSE2(FPT_LOAD_SSE2(p)),
			   FPT_BITS1_SSE2(_mm_cmpgt_epi8(vkey, a)),
			   FPT_BITS1_SSE2(_mm_cmpeq_epi8(vkey, a)))

/*
 * Results of 16 keys, in two vectors, to one vector of bytes: 0 and -1 are what
 * they were after packing with signed saturation, and stay in order.  The
 * second 8 keys are loaded where they are compared, once.
 */
#define FPT_BITS2_SSE2(compare) \
	FPT_BITS1_SSE2( \
		_mm_packs_epi16(compare(vkey, a), \
						compare(vkey, FPT_FLIP2_SSE2(FPT_LOAD_SSE2(p + 16)))))

FPT_CMP_VECTOR(sse2,, 2, 16, __m128i,
			   FPT_FLIP2_SSE2(_mm_set1_epi16((short) key)),
			   FPT_FLIP2_SSE2(FPT_LOAD_SSE2(p)),
			   FPT_BITS2_SSE2(_mm_cmpgt_epi16),
			   FPT_BITS2_SSE2(_mm_cmpeq_epi16))

FPT_CMP_VECTOR(sse2,, 4, 4, __m128i,
			   FPT_FLIP4_SSE2(_mm_set1_epi32((int) (uint32) key)),
			   FPT_FLIP4_SSE2(FPT_LOAD_SSE2(p)),
			   FPT_BITS4_SSE2(_mm_cmpgt_epi32(vkey, a)),
			   FPT_BITS4_SSE2(_mm_cmpeq_epi32(vkey, a)))

/*
 * No 64-bit comparison in SSE2: combine those of the 32-bit halves, all of
 * which are flipped.  A key is below if its upper half is, or if that is equal
 * and its lower half is below.  Lanes 1 and 3 have the upper halves' results,
 * and only these count in the end; the shuffle puts the lower halves', of lanes
 * 0 and 2, beside them.
 */
#define FPT_LOWER_SSE2(v)	_mm_shuffle_epi32(v, _MM_SHUFFLE(2, 2, 0, 0))

static inline uint64
fpt_below8_sse2(__m128i vkey, __m128i a)
{
	__m128i		l = _mm_cmpgt_epi32(vkey, a);
	__m128i		e = _mm_cmpeq_epi32(vkey, a);

	return FPT_BITS8_SSE2(_mm_or_si128(l, _mm_and_si128(e, FPT_LOWER_SSE2(l))));
}

static inline uint64
fpt_same8_sse2(__m128i vkey, __m128i a)
{
	__m128i		e = _mm_cmpeq_epi32(vkey, a);

	return FPT_BITS8_SSE2(_mm_and_si128(e, FPT_LOWER_SSE2(e)));
}

FPT_CMP_VECTOR(sse2,, 8, 2, __m128i,
			   FPT_FLIP4_SSE2(_mm_set1_epi64x((long long) key)),
			   FPT_FLIP4_SSE2(FPT_LOAD_SSE2(p)),
			   fpt_below8_sse2(vkey, a),
			   fpt_same8_sse2(vkey, a))

/* Four bytes, unaligned, for a lane. */
static inline int
fpt_load_int(const char *p)
{
	int			v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/*
 * FPTSimd.used.  Bytes one behind the other; and TIDs that lie 2 or 4 bytes
 * apart: all but their lowest bytes are masked out, and what is left of 16 is
 * packed to one vector.  No saturation can change it, as it is below 256.  At
 * other distances lanes would have to be put together byte by byte, for which
 * SSE2 has no shuffle.
 */
static uint64
fpt_used_sse2(const void *low, int n, int stride)
{
	const __m128i *v = (const __m128i *) low;
	const __m128i zero = _mm_setzero_si128();
	uint64		none = 0;

	if (stride == 1)
	{
		for (int i = 0; i < n; i += 16, v++)
		{
			__m128i		z = _mm_cmpeq_epi8(_mm_loadu_si128(v), zero);

			none |= (uint64) (uint32) _mm_movemask_epi8(z) << i;
		}
		return ~none & fpt_low_bits(n);
	}
	if (stride == 2)
	{
		const __m128i byte = _mm_set1_epi16(0xFF);

		for (int i = 0; i < n; i += 16, v += 2)
		{
			__m128i		a = _mm_and_si128(_mm_loadu_si128(v), byte);
			__m128i		b = _mm_and_si128(_mm_loadu_si128(v + 1), byte);
			__m128i		z = _mm_cmpeq_epi8(_mm_packus_epi16(a, b), zero);

			none |= (uint64) (uint32) _mm_movemask_epi8(z) << i;
		}
		return ~none & fpt_low_bits(n);
	}
	if (stride == 4)
	{
		const __m128i byte = _mm_set1_epi32(0xFF);

		for (int i = 0; i < n; i += 16, v += 4)
		{
			__m128i		a = _mm_and_si128(_mm_loadu_si128(v), byte);
			__m128i		b = _mm_and_si128(_mm_loadu_si128(v + 1), byte);
			__m128i		c = _mm_and_si128(_mm_loadu_si128(v + 2), byte);
			__m128i		d = _mm_and_si128(_mm_loadu_si128(v + 3), byte);
			__m128i		z = _mm_packus_epi16(_mm_packs_epi32(a, b),
											 _mm_packs_epi32(c, d));

			z = _mm_cmpeq_epi8(z, zero);
			none |= (uint64) (uint32) _mm_movemask_epi8(z) << i;
		}
		return ~none & fpt_low_bits(n);
	}
	return fpt_used_scalar(low, n, stride);
}

static const FPTSimd fpt_simd_sse2 = {
	"sse2",
	{fpt_cmp1_sse2, fpt_cmp2_sse2, fpt_cmp3_scalar, fpt_cmp4_sse2,
	fpt_cmp5_scalar, fpt_cmp6_scalar, fpt_cmp7_scalar, fpt_cmp8_sse2},
	fpt_used_sse2,
	fpt_order_sse2,
	fpt_ascend_scalar,
	fpt_tids_scalar
};

/* --- AVX2 --------------------------------------------------------------- */

/*
 * The comparisons are those of SSE2, on vectors of twice the size; numbers of
 * 64 bits are compared as such.
 */
#define FPT_LOAD_AVX2(p)	_mm256_loadu_si256((const __m256i *) (p))
#define FPT_FLIP1_AVX2(v)	_mm256_xor_si256(v, _mm256_set1_epi8((char) 0x80))
#define FPT_FLIP2_AVX2(v) \
	_mm256_xor_si256(v, _mm256_set1_epi16((short) 0x8000))
#define FPT_FLIP4_AVX2(v) \
	_mm256_xor_si256(v, _mm256_set1_epi32((int) 0x80000000))
#define FPT_FLIP8_AVX2(v) \
	_mm256_xor_si256(v, _mm256_set1_epi64x((long long) (UINT64CONST(1) << 63)))
#define FPT_BITS1_AVX2(v)	(uint32) _mm256_movemask_epi8(v)
#define FPT_BITS4_AVX2(v)	(uint32) _mm256_movemask_ps(_mm256_castsi256_ps(v))
#define FPT_BITS8_AVX2(v)	(uint32) _mm256_movemask_pd(_mm256_castsi256_pd(v))

FPT_CMP_VECTOR(avx2, FPT_AVX2, 1, 32, __m256i,
			   FPT_FLIP1_AVX2(_mm256_set1_epi8((char) key)),
			   FPT_FLIP1_AVX2(FPT_LOAD_AVX2(p)),
			   FPT_BITS1_AVX2(_mm256_cmpgt_epi8(vkey, a)),
			   FPT_BITS1_AVX2(_mm256_cmpeq_epi8(vkey, a)))

/*
 * Packing works within 128-bit lanes, which gives the first vector's lower
 * half, the second's, the first's upper one, the second's: exchange the two in
 * the middle.
 */
#define FPT_BITS2_AVX2(compare) \
	FPT_BITS1_AVX2(_mm256_permute4x64_epi64( \
		_mm256_packs_epi16(compare(vkey, a), \
						   compare(vkey, \
								   FPT_FLIP2_AVX2(FPT_LOAD_AVX2(p + 32)))), \
		_MM_SHUFFLE(3, 1, 2, 0)))

FPT_CMP_VECTOR(avx2, FPT_AVX2, 2, 32, __m256i,
			   FPT_FLIP2_AVX2(_mm256_set1_epi16((short) key)),
			   FPT_FLIP2_AVX2(FPT_LOAD_AVX2(p)),
			   FPT_BITS2_AVX2(_mm256_cmpgt_epi16),
			   FPT_BITS2_AVX2(_mm256_cmpeq_epi16))

FPT_CMP_VECTOR(avx2, FPT_AVX2, 4, 8, __m256i,
			   FPT_FLIP4_AVX2(_mm256_set1_epi32((int) (uint32) key)),
			   FPT_FLIP4_AVX2(FPT_LOAD_AVX2(p)),
			   FPT_BITS4_AVX2(_mm256_cmpgt_epi32(vkey, a)),
			   FPT_BITS4_AVX2(_mm256_cmpeq_epi32(vkey, a)))

FPT_CMP_VECTOR(avx2, FPT_AVX2, 8, 4, __m256i,
			   FPT_FLIP8_AVX2(_mm256_set1_epi64x((long long) key)),
			   FPT_FLIP8_AVX2(FPT_LOAD_AVX2(p)),
			   FPT_BITS8_AVX2(_mm256_cmpgt_epi64(vkey, a)),
			   FPT_BITS8_AVX2(_mm256_cmpeq_epi64(vkey, a)))

/*
 * Keys of other widths, in each half of a vector half of them: shuffles, which
 * make lanes of them, do not cross halves, so these are loaded one by one, and
 * in part twice.  An index of -1 makes a byte zero.  Numbers of fewer bits than
 * the lanes compare as signed ones do.
 */
#define FPT_WIDEN_AVX2(p, half, ...) \
	_mm256_shuffle_epi8(_mm256_loadu2_m128i((const __m128i *) ((p) + (half)), \
											(const __m128i *) (p)), \
						_mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__)))

/* Keys of 3 bytes to 32 bits, */
FPT_CMP_VECTOR(avx2, FPT_AVX2, 3, 8, __m256i,
			   _mm256_set1_epi32((int) key),
			   FPT_WIDEN_AVX2(p, 12, 0, 1, 2, -1, 3, 4, 5, -1,
							  6, 7, 8, -1, 9, 10, 11, -1),
			   FPT_BITS4_AVX2(_mm256_cmpgt_epi32(vkey, a)),
			   FPT_BITS4_AVX2(_mm256_cmpeq_epi32(vkey, a)))

/* and of 5 to 7 bytes to 64 bits. */
FPT_CMP_VECTOR(avx2, FPT_AVX2, 5, 4, __m256i,
			   _mm256_set1_epi64x((long long) key),
			   FPT_WIDEN_AVX2(p, 10, 0, 1, 2, 3, 4, -1, -1, -1,
							  5, 6, 7, 8, 9, -1, -1, -1),
			   FPT_BITS8_AVX2(_mm256_cmpgt_epi64(vkey, a)),
			   FPT_BITS8_AVX2(_mm256_cmpeq_epi64(vkey, a)))

FPT_CMP_VECTOR(avx2, FPT_AVX2, 6, 4, __m256i,
			   _mm256_set1_epi64x((long long) key),
			   FPT_WIDEN_AVX2(p, 12, 0, 1, 2, 3, 4, 5, -1, -1,
							  6, 7, 8, 9, 10, 11, -1, -1),
			   FPT_BITS8_AVX2(_mm256_cmpgt_epi64(vkey, a)),
			   FPT_BITS8_AVX2(_mm256_cmpeq_epi64(vkey, a)))

FPT_CMP_VECTOR(avx2, FPT_AVX2, 7, 4, __m256i,
			   _mm256_set1_epi64x((long long) key),
			   FPT_WIDEN_AVX2(p, 14, 0, 1, 2, 3, 4, 5, 6, -1,
							  7, 8, 9, 10, 11, 12, 13, -1),
			   FPT_BITS8_AVX2(_mm256_cmpgt_epi64(vkey, a)),
			   FPT_BITS8_AVX2(_mm256_cmpeq_epi64(vkey, a)))

/*
 * Bytes at a distance, from slot i on, 16 by 16; then one by one.  Nothing else
 * is read: where they are far apart a vector would hold one or two of them.
 * Returns the bits of these slots only.
 */
static FPT_AVX2 uint64
fpt_used_apart_avx2(const void *low, int n, int stride, int i)
{
	const uint8 *p = (const uint8 *) low + i * stride;
	uint64		used = 0;

	Assert(n <= 64 && i >= 0 && i <= n);
	for (; i + 16 <= n; i += 16, p += 16 * stride)
	{
		const uint8 *q = p + 8 * stride;
		__m128i		a = _mm_setr_epi8((char) p[0], (char) p[stride],
									  (char) p[2 * stride],
									  (char) p[3 * stride],
									  (char) p[4 * stride],
									  (char) p[5 * stride],
									  (char) p[6 * stride],
									  (char) p[7 * stride],
									  (char) q[0], (char) q[stride],
									  (char) q[2 * stride],
									  (char) q[3 * stride],
									  (char) q[4 * stride],
									  (char) q[5 * stride],
									  (char) q[6 * stride],
									  (char) q[7 * stride]);
		__m128i		z = _mm_cmpeq_epi8(a, _mm_setzero_si128());

		used |= (uint64) (~(uint32) _mm_movemask_epi8(z) & 0xFFFF) << i;
	}
	for (; i < n; i++, p += stride)
		used |= (uint64) (*p != 0) << i;
	return used;
}

/*
 * TIDs of 3 bytes, alone or with 2 bytes behind them: the lowest ones of four
 * by four to one vector.  If one slot is left, or two, what is read is too far
 * behind them: the last of the four loads ends 76 bytes from the first slot if
 * slots take 5 bytes, so 61 behind three of these, but 66 behind two.
 */
static FPT_AVX2 uint64
fpt_used_avx2(const void *low, int n, int stride)
{
	const __m128i zero = _mm_setzero_si128();
	const __m128i pick = _mm_setr_epi8(0, stride, 2 * stride, 3 * stride,
									   -1, -1, -1, -1, -1, -1, -1, -1,
									   -1, -1, -1, -1);
	const char *p = (const char *) low;
	uint64		none = 0;
	int			i;

	if (stride > 5)
		return fpt_used_apart_avx2(low, n, stride, 0);
	if (stride != 3 && stride != 5)
		return fpt_used_sse2(low, n, stride);
	for (i = 0; i + 2 < n; i += 16, p += 16 * stride)
	{
		__m128i		a = _mm_loadu_si128((const __m128i *) p);
		__m128i		b = _mm_loadu_si128((const __m128i *) (p + 4 * stride));
		__m128i		c = _mm_loadu_si128((const __m128i *) (p + 8 * stride));
		__m128i		d = _mm_loadu_si128((const __m128i *) (p + 12 * stride));
		__m128i		z;

		a = _mm_unpacklo_epi32(_mm_shuffle_epi8(a, pick),
							   _mm_shuffle_epi8(b, pick));
		c = _mm_unpacklo_epi32(_mm_shuffle_epi8(c, pick),
							   _mm_shuffle_epi8(d, pick));
		z = _mm_cmpeq_epi8(_mm_unpacklo_epi64(a, c), zero);
		none |= (uint64) (uint32) _mm_movemask_epi8(z) << i;
	}
	none = ~none & fpt_low_bits(Min(n, i));
	return i < n ? none | fpt_used_apart_avx2(low, n, stride, i) : none;
}

/*
 * Four numbers of up to 8 bytes to 64 bits, the topmost of which is flipped:
 * only those of 8 bytes need that, for the others it changes nothing in their
 * order.  Reads 2 * width + 16 bytes.
 */
static inline FPT_AVX2 __m256i
fpt_four_avx2(const char *p, int width, __m256i widen)
{
	const __m256i flip = _mm256_set1_epi64x((long long) (UINT64CONST(1) << 63));
	__m256i		a = _mm256_loadu2_m128i((const __m128i *) (p + 2 * width),
										(const __m128i *) p);

	return _mm256_xor_si256(_mm256_shuffle_epi8(a, widen), flip);
}

/*
 * FPTSimd.ascend.  Four are compared with the four that begin one later.  The
 * last ones, four at most, are left to the scalar loop; the first of them is
 * the one that was the later of the last pair here, so no pair is left out.
 */
static FPT_AVX2 bool
fpt_ascend_avx2(const void *keys, int n, int width)
{
	static const signed char pick[8][16] = {
		{0, -1, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1, -1},
		{0, 1, -1, -1, -1, -1, -1, -1, 2, 3, -1, -1, -1, -1, -1, -1},
		{0, 1, 2, -1, -1, -1, -1, -1, 3, 4, 5, -1, -1, -1, -1, -1},
		{0, 1, 2, 3, -1, -1, -1, -1, 4, 5, 6, 7, -1, -1, -1, -1},
		{0, 1, 2, 3, 4, -1, -1, -1, 5, 6, 7, 8, 9, -1, -1, -1},
		{0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11, -1, -1},
		{0, 1, 2, 3, 4, 5, 6, -1, 7, 8, 9, 10, 11, 12, 13, -1},
		{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	};
	const __m256i widen =
		_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)
													pick[width - 1]));
	const char *p = (const char *) keys;
	__m256i		all = _mm256_set1_epi8(-1);

	Assert(n >= 1 && width >= 1 && width <= 8);
	for (; n > 4; n -= 4, p += 4 * width)
		all = _mm256_and_si256(all,
							   _mm256_cmpgt_epi64(fpt_four_avx2(p + width,
																width, widen),
												  fpt_four_avx2(p, width,
																widen)));
	return _mm256_movemask_epi8(all) == -1 && fpt_ascend_scalar(p, n, width);
}

/*
 * FPTSimd.tids.  Four at a time: their bytes are put into 64 bits each, which
 * are shifted so that the block is where it belongs, and the offset is put
 * below it.  Then the base is added, which does not carry, as it is
 * FPT_MAX_TIDBASE at most.
 */
static FPT_AVX2 bool
fpt_tids_avx2(const void *tids, int n, int stride, int width, uint32 tidbase,
			  int rowbits, uint64 *out)
{
	/* of four TIDs one behind the other, and of four in 4 bytes each */
	static const signed char pick[2][32] = {
		{0, 1, 2, -1, -1, -1, -1, -1, 3, 4, 5, -1, -1, -1, -1, -1,
			6, 7, 8, -1, -1, -1, -1, -1, 9, 10, 11, -1, -1, -1, -1, -1},
		{0, 1, 2, 3, -1, -1, -1, -1, 4, 5, 6, 7, -1, -1, -1, -1,
			8, 9, 10, 11, -1, -1, -1, -1, 12, 13, 14, 15, -1, -1, -1, -1}
	};
	const __m128i mask = _mm_set1_epi32((int) (0xFFFFFFFF >>
											   (32 - 8 * width)));
	const signed char *how = pick[stride != width ? 1 : width - 3];
	const __m256i widen = _mm256_loadu_si256((const __m256i *) how);
	const __m256i base = _mm256_set1_epi64x((long long) tidbase << 16);
	const __m256i offset = _mm256_set1_epi64x((1 << (rowbits & 0xF)) - 1);
	const __m128i down = _mm_cvtsi32_si128(rowbits & 0xF);
	const char *p = (const char *) tids;
	__m256i		none = _mm256_setzero_si256();

	Assert(width >= 3 && width <= 4 && stride >= width);
	for (; n >= 4; n -= 4, p += 4 * stride, out += 4)
	{
		__m128i		a;
		__m256i		v;
		__m256i		off;

		if (stride != width)
		{
			a = _mm_setr_epi32(fpt_load_int(p), fpt_load_int(p + stride),
							   fpt_load_int(p + 2 * stride),
							   fpt_load_int(p + 3 * stride));
			a = _mm_and_si128(a, mask);
		}
		else
			a = _mm_loadu_si128((const __m128i *) p);
		v = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(a), widen);
		off = _mm256_and_si256(v, offset);
		none = _mm256_or_si256(none,
							   _mm256_cmpeq_epi64(off,
												  _mm256_setzero_si256()));
		v = _mm256_slli_epi64(_mm256_srl_epi64(v, down), 16);
		v = _mm256_add_epi64(_mm256_or_si256(v, off), base);
		_mm256_storeu_si256((__m256i *) out, v);
	}
	return fpt_tids_scalar(p, n, stride, width, tidbase, rowbits, out) &&
		_mm256_testz_si256(none, none);
}

static const FPTSimd fpt_simd_avx2 = {
	"avx2",
	{fpt_cmp1_avx2, fpt_cmp2_avx2, fpt_cmp3_avx2, fpt_cmp4_avx2,
	fpt_cmp5_avx2, fpt_cmp6_avx2, fpt_cmp7_avx2, fpt_cmp8_avx2},
	fpt_used_avx2,
	fpt_order_avx2,
	fpt_ascend_avx2,
	fpt_tids_avx2
};

/* --- AVX-512 (F and BW): unsigned comparisons, results as bits ---------- */

/*
 * Keys of other widths than those of lanes are compared by functions of AVX2,
 * which no CPU with AVX-512 lacks; what is no comparison is theirs, too.
 */

/* A comparison gives a bit for a lane.  A vector holds 64 keys of a byte. */
FPT_CMP_VECTOR(avx512, FPT_AVX512, 1, 64, __m512i,
			   _mm512_set1_epi8((char) key), _mm512_loadu_si512(p),
			   _mm512_cmplt_epu8_mask(a, vkey),
			   _mm512_cmpeq_epu8_mask(a, vkey))

FPT_CMP_VECTOR(avx512, FPT_AVX512, 2, 32, __m512i,
			   _mm512_set1_epi16((short) key), _mm512_loadu_si512(p),
			   _mm512_cmplt_epu16_mask(a, vkey),
			   _mm512_cmpeq_epu16_mask(a, vkey))

FPT_CMP_VECTOR(avx512, FPT_AVX512, 4, 16, __m512i,
			   _mm512_set1_epi32((int) key), _mm512_loadu_si512(p),
			   _mm512_cmplt_epu32_mask(a, vkey),
			   _mm512_cmpeq_epu32_mask(a, vkey))

FPT_CMP_VECTOR(avx512, FPT_AVX512, 8, 8, __m512i,
			   _mm512_set1_epi64((long long) key), _mm512_loadu_si512(p),
			   _mm512_cmplt_epu64_mask(a, vkey),
			   _mm512_cmpeq_epu64_mask(a, vkey))

static const FPTSimd fpt_simd_avx512 = {
	"avx512",
	{fpt_cmp1_avx512, fpt_cmp2_avx512, fpt_cmp3_avx2, fpt_cmp4_avx512,
	fpt_cmp5_avx2, fpt_cmp6_avx2, fpt_cmp7_avx2, fpt_cmp8_avx512},
	fpt_used_avx2,
	fpt_order_avx2,
	fpt_ascend_avx2,
	fpt_tids_avx2
};

#endif							/* FPT_SIMD_X86 */

#ifdef FPT_SIMD_NEON

/* --- NEON, which every 64-bit ARM CPU has ------------------------------- */

/*
 * Comparison results to bits: each lane keeps a bit of its own, and their sum,
 * which never carries, is the set; of bytes, each half of the vector for
 * itself.
 */
static inline uint64
fpt_bits1_neon(uint8x16_t lanes)
{
	static const uint8 bit[16] = {1, 2, 4, 8, 16, 32, 64, 128,
	1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t	b = vandq_u8(lanes, vld1q_u8(bit));

	return (uint64) vaddv_u8(vget_low_u8(b)) |
		(uint64) vaddv_u8(vget_high_u8(b)) << 8;
}

static inline uint64
fpt_bits2_neon(uint16x8_t lanes)
{
	static const uint16 bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};

	return vaddvq_u16(vandq_u16(lanes, vld1q_u16(bit)));
}

static inline uint64
fpt_bits4_neon(uint32x4_t lanes)
{
	static const uint32 bit[4] = {1, 2, 4, 8};

	return vaddvq_u32(vandq_u32(lanes, vld1q_u32(bit)));
}

static inline uint64
fpt_bits8_neon(uint64x2_t lanes)
{
	static const uint64_t bit[2] = {1, 2};

	return vaddvq_u64(vandq_u64(lanes, vld1q_u64(bit)));
}

/* NEON compares unsigned numbers as they are. */
#define FPT_LOAD_NEON(p)	vld1q_u8((const uint8 *) (p))

FPT_CMP_VECTOR(neon,, 1, 16, uint8x16_t,
			   vdupq_n_u8((uint8) key), FPT_LOAD_NEON(p),
			   fpt_bits1_neon(vcltq_u8(a, vkey)),
			   fpt_bits1_neon(vceqq_u8(a, vkey)))

FPT_CMP_VECTOR(neon,, 2, 8, uint16x8_t,
			   vdupq_n_u16((uint16) key),
			   vreinterpretq_u16_u8(FPT_LOAD_NEON(p)),
			   fpt_bits2_neon(vcltq_u16(a, vkey)),
			   fpt_bits2_neon(vceqq_u16(a, vkey)))

FPT_CMP_VECTOR(neon,, 4, 4, uint32x4_t,
			   vdupq_n_u32((uint32) key),
			   vreinterpretq_u32_u8(FPT_LOAD_NEON(p)),
			   fpt_bits4_neon(vcltq_u32(a, vkey)),
			   fpt_bits4_neon(vceqq_u32(a, vkey)))

FPT_CMP_VECTOR(neon,, 8, 2, uint64x2_t,
			   vdupq_n_u64(key), vreinterpretq_u64_u8(FPT_LOAD_NEON(p)),
			   fpt_bits8_neon(vcltq_u64(a, vkey)),
			   fpt_bits8_neon(vceqq_u64(a, vkey)))

/*
 * 16 bytes, of which keys of "width" bytes are made wider, to "lane" bytes
 * each: an index of 255 makes a byte zero.
 */
static inline uint8x16_t
fpt_widen_neon(const char *p, int width, int lane)
{
	uint8		at[16];

	Assert(width < lane && (lane == 4 || lane == 8));
	for (int i = 0; i < 16; i++)
		at[i] = i % lane < width ? (uint8) (i / lane * width + i % lane) : 255;
	return vqtbl1q_u8(FPT_LOAD_NEON(p), vld1q_u8(at));
}

FPT_CMP_VECTOR(neon,, 3, 4, uint32x4_t,
			   vdupq_n_u32((uint32) key),
			   vreinterpretq_u32_u8(fpt_widen_neon(p, 3, 4)),
			   fpt_bits4_neon(vcltq_u32(a, vkey)),
			   fpt_bits4_neon(vceqq_u32(a, vkey)))

FPT_CMP_VECTOR(neon,, 5, 2, uint64x2_t,
			   vdupq_n_u64(key), vreinterpretq_u64_u8(fpt_widen_neon(p, 5, 8)),
			   fpt_bits8_neon(vcltq_u64(a, vkey)),
			   fpt_bits8_neon(vceqq_u64(a, vkey)))

FPT_CMP_VECTOR(neon,, 6, 2, uint64x2_t,
			   vdupq_n_u64(key), vreinterpretq_u64_u8(fpt_widen_neon(p, 6, 8)),
			   fpt_bits8_neon(vcltq_u64(a, vkey)),
			   fpt_bits8_neon(vceqq_u64(a, vkey)))

FPT_CMP_VECTOR(neon,, 7, 2, uint64x2_t,
			   vdupq_n_u64(key), vreinterpretq_u64_u8(fpt_widen_neon(p, 7, 8)),
			   fpt_bits8_neon(vcltq_u64(a, vkey)),
			   fpt_bits8_neon(vceqq_u64(a, vkey)))

/*
 * FPTSimd.used.  Structure loads take every second, third or fourth byte, plain
 * ones all; they read 16 * stride bytes, so 63 at most behind the lowest byte
 * of one slot.
 */
static uint64
fpt_used_neon(const void *low, int n, int stride)
{
	const uint8 *p = (const uint8 *) low;
	uint64		used = 0;

	if (stride > 4)
		return fpt_used_scalar(low, n, stride);
	for (int i = 0; i < n; i += 16, p += 16 * stride)
	{
		uint8x16_t	a;

		if (stride == 1)
			a = vld1q_u8(p);
		else if (stride == 2)
			a = vld2q_u8(p).val[0];
		else if (stride == 3)
			a = vld3q_u8(p).val[0];
		else
			a = vld4q_u8(p).val[0];
		used |= fpt_bits1_neon(vtstq_u8(a, a)) << i;
	}
	return used & fpt_low_bits(n);
}

static const FPTSimd fpt_simd_neon = {
	"neon",
	{fpt_cmp1_neon, fpt_cmp2_neon, fpt_cmp3_neon, fpt_cmp4_neon,
	fpt_cmp5_neon, fpt_cmp6_neon, fpt_cmp7_neon, fpt_cmp8_neon},
	fpt_used_neon,
	fpt_order_neon,
	fpt_ascend_scalar,
	fpt_tids_scalar
};

#endif							/* FPT_SIMD_NEON */

/* --- choosing ----------------------------------------------------------- */

/* Until fpt_simd_select() is called; variants never change, only this does. */
const FPTSimd *fpt_simd = &fpt_simd_scalar;
bool		fpt_has_popcnt = false;

#define FPT_MAX_VARIANTS	4		/* three of x86, and the scalar one */

/*
 * The variants this CPU and its operating system can run, best first, in v;
 * returns their number.  (The compiler's CPU test includes whether the system
 * saves the wide registers.)
 */
static int
fpt_simd_variants(const FPTSimd *v[FPT_MAX_VARIANTS])
{
	int			n = 0;

#ifdef FPT_SIMD_X86
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
		v[n++] = &fpt_simd_avx512;
	if (__builtin_cpu_supports("avx2"))
		v[n++] = &fpt_simd_avx2;
	v[n++] = &fpt_simd_sse2;
#endif
#ifdef FPT_SIMD_NEON
	v[n++] = &fpt_simd_neon;
#endif
	v[n++] = &fpt_simd_scalar;
	Assert(n <= FPT_MAX_VARIANTS);
	return n;
}

/*
 * See page/simd.h.  The scalar variant does without popcnt, too, so that tests
 * of it run all that a CPU without either would run.
 */
bool
fpt_simd_select(const char *name)
{
	const FPTSimd *v[FPT_MAX_VARIANTS];
	int			n = fpt_simd_variants(v);

	for (int i = 0; i < n; i++)
	{
		if (strcmp(name, "auto") == 0 || strcmp(name, v[i]->name) == 0)
		{
			fpt_simd = v[i];
#ifdef FPT_SIMD_X86
			fpt_has_popcnt = fpt_simd != &fpt_simd_scalar &&
				__builtin_cpu_supports("popcnt");
#endif
			return true;
		}
	}
	return false;
}

int
fpt_simd_available(const char *names[], int max)
{
	const FPTSimd *v[FPT_MAX_VARIANTS];
	int			n = fpt_simd_variants(v);

	if (n > max)
		n = max;
	for (int i = 0; i < n; i++)
		names[i] = v[i]->name;
	return n;
}
