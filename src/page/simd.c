/*-------------------------------------------------------------------------
 *
 * page/simd.c
 *	  Comparing all keys of a node with one key, in several instruction sets.
 *
 * Every function has the contract of fpt_cmp_fn (see page/layout.h) and looks
 * at all n keys, whatever their order: there is no branch to mispredict, and
 * the caller picks what it needs from the two bit sets.  For key widths below
 * 16 bytes the key is "lo"; it must be representable in that width.
 *
 * Vector variants read whole vectors and mask the result, hence up to 63 bytes
 * behind the last key.  That stays inside the page: the special line is last.
 *
 * Which variant runs is chosen at run time: the library is built for the
 * baseline CPU, and only functions with a target attribute use more.
 *
 *-------------------------------------------------------------------------
 */
#include "page/simd.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define FPT_SIMD_X86 1
#include <immintrin.h>
#define FPT_AVX2	__attribute__((target("avx2")))
#define FPT_AVX512	__attribute__((target("avx512f,avx512bw")))
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define FPT_SIMD_NEON 1
#include <arm_neon.h>
#endif

/* The n lowest bits. */
static inline uint64
fpt_low_bits(int n)
{
	Assert(n >= 0 && n <= 64);
	return n < 64 ? (UINT64CONST(1) << n) - 1 : ~UINT64CONST(0);
}

/* Drop the bits of what was read behind the last key. */
static inline uint64
fpt_cmp_result(uint64 lt, uint64 equal, int n, uint64 *eq)
{
	*eq = equal & fpt_low_bits(n);
	return lt & fpt_low_bits(n);
}

/* 16-byte keys, given a function for 8-byte keys. */
static inline uint64
fpt_cmp_halves(fpt_cmp_fn cmp8, const void *keys, int n, int stride,
			   uint64 hi, uint64 lo, uint64 *eq)
{
	const char *lows = (const char *) keys + 8 * stride;
	uint64		lt;
	uint64		eq_hi;
	uint64		eq_lo;

	lt = cmp8(keys, n, stride, 0, hi, &eq_hi);
	if (eq_hi != 0)
	{
		lt |= cmp8(lows, n, stride, 0, lo, &eq_lo) & eq_hi;
		eq_hi &= eq_lo;
	}
	*eq = eq_hi;
	return lt;
}

/* --- portable ----------------------------------------------------------- */

static uint64
fpt_cmp1_scalar(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				uint64 *eq)
{
	uint64		lt = 0;
	uint64		equal = 0;

	Assert(hi == 0 && lo <= 0xFF);
	for (int i = 0; i < n; i++)
	{
		uint8		k = ((const uint8 *) keys)[i];

		lt |= (uint64) (k < lo) << i;
		equal |= (uint64) (k == lo) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp2_scalar(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				uint64 *eq)
{
	uint64		lt = 0;
	uint64		equal = 0;

	Assert(hi == 0 && lo <= 0xFFFF);
	for (int i = 0; i < n; i++)
	{
		uint16		k;

		memcpy(&k, (const char *) keys + 2 * i, 2);
		lt |= (uint64) (k < lo) << i;
		equal |= (uint64) (k == lo) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp4_scalar(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				uint64 *eq)
{
	uint64		lt = 0;
	uint64		equal = 0;

	Assert(hi == 0 && lo <= 0xFFFFFFFF);
	for (int i = 0; i < n; i++)
	{
		uint32		k;

		memcpy(&k, (const char *) keys + 4 * i, 4);
		lt |= (uint64) (k < lo) << i;
		equal |= (uint64) (k == lo) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp8_scalar(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				uint64 *eq)
{
	uint64		lt = 0;
	uint64		equal = 0;

	Assert(hi == 0);
	for (int i = 0; i < n; i++)
	{
		uint64		k;

		memcpy(&k, (const char *) keys + 8 * i, 8);
		lt |= (uint64) (k < lo) << i;
		equal |= (uint64) (k == lo) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp16_scalar(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				 uint64 *eq)
{
	return fpt_cmp_halves(fpt_cmp8_scalar, keys, n, stride, hi, lo, eq);
}

static const FPTSimd fpt_simd_scalar = {
	"scalar",
	{fpt_cmp1_scalar, fpt_cmp2_scalar, fpt_cmp4_scalar, fpt_cmp8_scalar,
	fpt_cmp16_scalar}
};

#ifdef FPT_SIMD_X86

/* --- SSE2: what every x86-64 CPU has ------------------------------------ */

/*
 * SSE2 and AVX2 only have signed comparisons: flipping the top bit of both
 * sides makes them unsigned ones.
 */
static uint64
fpt_cmp1_sse2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	const __m128i *v = (const __m128i *) keys;
	const __m128i flip = _mm_set1_epi8((char) 0x80);
	const __m128i key = _mm_set1_epi8((char) (lo ^ 0x80));
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 16, v++)
	{
		__m128i		a = _mm_xor_si128(_mm_loadu_si128(v), flip);
		__m128i		l = _mm_cmpgt_epi8(key, a);
		__m128i		e = _mm_cmpeq_epi8(key, a);

		lt |= (uint64) (uint32) _mm_movemask_epi8(l) << i;
		equal |= (uint64) (uint32) _mm_movemask_epi8(e) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp2_sse2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	const __m128i *v = (const __m128i *) keys;
	const __m128i flip = _mm_set1_epi16((short) 0x8000);
	const __m128i key = _mm_set1_epi16((short) (lo ^ 0x8000));
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 16, v += 2)
	{
		__m128i		a = _mm_xor_si128(_mm_loadu_si128(v), flip);
		__m128i		b = _mm_xor_si128(_mm_loadu_si128(v + 1), flip);
		__m128i		l = _mm_packs_epi16(_mm_cmpgt_epi16(key, a),
										_mm_cmpgt_epi16(key, b));
		__m128i		e = _mm_packs_epi16(_mm_cmpeq_epi16(key, a),
										_mm_cmpeq_epi16(key, b));

		lt |= (uint64) (uint32) _mm_movemask_epi8(l) << i;
		equal |= (uint64) (uint32) _mm_movemask_epi8(e) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp4_sse2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	const __m128i *v = (const __m128i *) keys;
	const __m128i flip = _mm_set1_epi32((int) 0x80000000);
	const __m128i key = _mm_set1_epi32((int) ((uint32) lo ^ 0x80000000));
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 4, v++)
	{
		__m128i		a = _mm_xor_si128(_mm_loadu_si128(v), flip);
		__m128		l = _mm_castsi128_ps(_mm_cmpgt_epi32(key, a));
		__m128		e = _mm_castsi128_ps(_mm_cmpeq_epi32(key, a));

		lt |= (uint64) (uint32) _mm_movemask_ps(l) << i;
		equal |= (uint64) (uint32) _mm_movemask_ps(e) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

/* No 64-bit comparison in SSE2: combine those of the 32-bit halves. */
static uint64
fpt_cmp8_sse2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	const __m128i *v = (const __m128i *) keys;
	const __m128i flip = _mm_set1_epi32((int) 0x80000000);
	const __m128i key = _mm_xor_si128(_mm_set1_epi64x((long long) lo), flip);
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 2, v++)
	{
		__m128i		a = _mm_xor_si128(_mm_loadu_si128(v), flip);
		__m128i		l = _mm_cmpgt_epi32(key, a);
		__m128i		e = _mm_cmpeq_epi32(key, a);
		__m128i		lowl = _mm_shuffle_epi32(l, _MM_SHUFFLE(2, 2, 0, 0));
		__m128i		lowe = _mm_shuffle_epi32(e, _MM_SHUFFLE(2, 2, 0, 0));

		/* only the upper half of each 64 bits counts from here on */
		l = _mm_or_si128(l, _mm_and_si128(e, lowl));
		e = _mm_and_si128(e, lowe);
		lt |= (uint64) (uint32) _mm_movemask_pd(_mm_castsi128_pd(l)) << i;
		equal |= (uint64) (uint32) _mm_movemask_pd(_mm_castsi128_pd(e)) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp16_sse2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			   uint64 *eq)
{
	return fpt_cmp_halves(fpt_cmp8_sse2, keys, n, stride, hi, lo, eq);
}

static const FPTSimd fpt_simd_sse2 = {
	"sse2",
	{fpt_cmp1_sse2, fpt_cmp2_sse2, fpt_cmp4_sse2, fpt_cmp8_sse2,
	fpt_cmp16_sse2}
};

/* --- AVX2 --------------------------------------------------------------- */

/* 32 words of comparison results to 32 bits. */
static inline FPT_AVX2 uint64
fpt_bits16_avx2(__m256i a, __m256i b)
{
	/* packing works within 128-bit lanes: put them in order again */
	__m256i		bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(a, b),
												 _MM_SHUFFLE(3, 1, 2, 0));

	return (uint32) _mm256_movemask_epi8(bytes);
}

static FPT_AVX2 uint64
fpt_cmp1_avx2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	const __m256i *v = (const __m256i *) keys;
	const __m256i flip = _mm256_set1_epi8((char) 0x80);
	const __m256i key = _mm256_set1_epi8((char) (lo ^ 0x80));
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 32, v++)
	{
		__m256i		a = _mm256_xor_si256(_mm256_loadu_si256(v), flip);
		__m256i		l = _mm256_cmpgt_epi8(key, a);
		__m256i		e = _mm256_cmpeq_epi8(key, a);

		lt |= (uint64) (uint32) _mm256_movemask_epi8(l) << i;
		equal |= (uint64) (uint32) _mm256_movemask_epi8(e) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static FPT_AVX2 uint64
fpt_cmp2_avx2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	const __m256i *v = (const __m256i *) keys;
	const __m256i flip = _mm256_set1_epi16((short) 0x8000);
	const __m256i key = _mm256_set1_epi16((short) (lo ^ 0x8000));
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 32, v += 2)
	{
		__m256i		a = _mm256_xor_si256(_mm256_loadu_si256(v), flip);
		__m256i		b = _mm256_xor_si256(_mm256_loadu_si256(v + 1), flip);

		lt |= fpt_bits16_avx2(_mm256_cmpgt_epi16(key, a),
							  _mm256_cmpgt_epi16(key, b)) << i;
		equal |= fpt_bits16_avx2(_mm256_cmpeq_epi16(key, a),
								 _mm256_cmpeq_epi16(key, b)) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static FPT_AVX2 uint64
fpt_cmp4_avx2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	const __m256i *v = (const __m256i *) keys;
	const __m256i flip = _mm256_set1_epi32((int) 0x80000000);
	const __m256i key = _mm256_set1_epi32((int) ((uint32) lo ^ 0x80000000));
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 8, v++)
	{
		__m256i		a = _mm256_xor_si256(_mm256_loadu_si256(v), flip);
		__m256		l = _mm256_castsi256_ps(_mm256_cmpgt_epi32(key, a));
		__m256		e = _mm256_castsi256_ps(_mm256_cmpeq_epi32(key, a));

		lt |= (uint64) (uint32) _mm256_movemask_ps(l) << i;
		equal |= (uint64) (uint32) _mm256_movemask_ps(e) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static FPT_AVX2 uint64
fpt_cmp8_avx2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	const __m256i *v = (const __m256i *) keys;
	const __m256i flip = _mm256_set1_epi64x((long long) (UINT64CONST(1) << 63));
	const __m256i key = _mm256_xor_si256(_mm256_set1_epi64x((long long) lo),
										 flip);
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 4, v++)
	{
		__m256i		a = _mm256_xor_si256(_mm256_loadu_si256(v), flip);
		__m256d		l = _mm256_castsi256_pd(_mm256_cmpgt_epi64(key, a));
		__m256d		e = _mm256_castsi256_pd(_mm256_cmpeq_epi64(key, a));

		lt |= (uint64) (uint32) _mm256_movemask_pd(l) << i;
		equal |= (uint64) (uint32) _mm256_movemask_pd(e) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp16_avx2(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			   uint64 *eq)
{
	return fpt_cmp_halves(fpt_cmp8_avx2, keys, n, stride, hi, lo, eq);
}

static const FPTSimd fpt_simd_avx2 = {
	"avx2",
	{fpt_cmp1_avx2, fpt_cmp2_avx2, fpt_cmp4_avx2, fpt_cmp8_avx2,
	fpt_cmp16_avx2}
};

/* --- AVX-512 (F and BW): unsigned comparisons, results as bits ---------- */

/* One vector holds the keys of any node. */
static FPT_AVX512 uint64
fpt_cmp1_avx512(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				uint64 *eq)
{
	const __m512i key = _mm512_set1_epi8((char) lo);
	__m512i		a = _mm512_loadu_si512(keys);

	return fpt_cmp_result(_mm512_cmplt_epu8_mask(a, key),
						  _mm512_cmpeq_epu8_mask(a, key), n, eq);
}

static FPT_AVX512 uint64
fpt_cmp2_avx512(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				uint64 *eq)
{
	const __m512i *v = (const __m512i *) keys;
	const __m512i key = _mm512_set1_epi16((short) lo);
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 32, v++)
	{
		__m512i		a = _mm512_loadu_si512(v);

		lt |= (uint64) _mm512_cmplt_epu16_mask(a, key) << i;
		equal |= (uint64) _mm512_cmpeq_epu16_mask(a, key) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static FPT_AVX512 uint64
fpt_cmp4_avx512(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				uint64 *eq)
{
	const __m512i *v = (const __m512i *) keys;
	const __m512i key = _mm512_set1_epi32((int) lo);
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 16, v++)
	{
		__m512i		a = _mm512_loadu_si512(v);

		lt |= (uint64) _mm512_cmplt_epu32_mask(a, key) << i;
		equal |= (uint64) _mm512_cmpeq_epu32_mask(a, key) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static FPT_AVX512 uint64
fpt_cmp8_avx512(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				uint64 *eq)
{
	const __m512i *v = (const __m512i *) keys;
	const __m512i key = _mm512_set1_epi64((long long) lo);
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 8, v++)
	{
		__m512i		a = _mm512_loadu_si512(v);

		lt |= (uint64) _mm512_cmplt_epu64_mask(a, key) << i;
		equal |= (uint64) _mm512_cmpeq_epu64_mask(a, key) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp16_avx512(const void *keys, int n, int stride, uint64 hi, uint64 lo,
				 uint64 *eq)
{
	return fpt_cmp_halves(fpt_cmp8_avx512, keys, n, stride, hi, lo, eq);
}

static const FPTSimd fpt_simd_avx512 = {
	"avx512",
	{fpt_cmp1_avx512, fpt_cmp2_avx512, fpt_cmp4_avx512, fpt_cmp8_avx512,
	fpt_cmp16_avx512}
};

#endif							/* FPT_SIMD_X86 */

#ifdef FPT_SIMD_NEON

/* --- NEON, which every 64-bit ARM CPU has ------------------------------- */

/*
 * Comparison results to bits: leave each lane its own bit and add them up; of
 * bytes, each half of the vector for itself.
 */
static inline uint64
fpt_bits8_neon(uint8x16_t lanes)
{
	static const uint8 bit[16] = {1, 2, 4, 8, 16, 32, 64, 128,
	1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t	b = vandq_u8(lanes, vld1q_u8(bit));

	return (uint64) vaddv_u8(vget_low_u8(b)) |
		(uint64) vaddv_u8(vget_high_u8(b)) << 8;
}

static uint64
fpt_cmp1_neon(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	const uint8x16_t key = vdupq_n_u8((uint8) lo);
	const uint8 *p = (const uint8 *) keys;
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 16, p += 16)
	{
		uint8x16_t	a = vld1q_u8(p);

		lt |= fpt_bits8_neon(vcltq_u8(a, key)) << i;
		equal |= fpt_bits8_neon(vceqq_u8(a, key)) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp2_neon(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	static const uint16 bit[8] = {1, 2, 4, 8, 16, 32, 64, 128};
	const uint16x8_t bits = vld1q_u16(bit);
	const uint16x8_t key = vdupq_n_u16((uint16) lo);
	const uint8 *p = (const uint8 *) keys;
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 8, p += 16)
	{
		uint16x8_t	a = vreinterpretq_u16_u8(vld1q_u8(p));

		lt |= (uint64) vaddvq_u16(vandq_u16(vcltq_u16(a, key), bits)) << i;
		equal |= (uint64) vaddvq_u16(vandq_u16(vceqq_u16(a, key), bits)) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp4_neon(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	static const uint32 bit[4] = {1, 2, 4, 8};
	const uint32x4_t bits = vld1q_u32(bit);
	const uint32x4_t key = vdupq_n_u32((uint32) lo);
	const uint8 *p = (const uint8 *) keys;
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 4, p += 16)
	{
		uint32x4_t	a = vreinterpretq_u32_u8(vld1q_u8(p));

		lt |= (uint64) vaddvq_u32(vandq_u32(vcltq_u32(a, key), bits)) << i;
		equal |= (uint64) vaddvq_u32(vandq_u32(vceqq_u32(a, key), bits)) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp8_neon(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			  uint64 *eq)
{
	static const uint64_t bit[2] = {1, 2};
	const uint64x2_t bits = vld1q_u64(bit);
	const uint64x2_t key = vdupq_n_u64(lo);
	const uint8 *p = (const uint8 *) keys;
	uint64		lt = 0;
	uint64		equal = 0;

	for (int i = 0; i < n; i += 2, p += 16)
	{
		uint64x2_t	a = vreinterpretq_u64_u8(vld1q_u8(p));

		lt |= (uint64) vaddvq_u64(vandq_u64(vcltq_u64(a, key), bits)) << i;
		equal |= (uint64) vaddvq_u64(vandq_u64(vceqq_u64(a, key), bits)) << i;
	}
	return fpt_cmp_result(lt, equal, n, eq);
}

static uint64
fpt_cmp16_neon(const void *keys, int n, int stride, uint64 hi, uint64 lo,
			   uint64 *eq)
{
	return fpt_cmp_halves(fpt_cmp8_neon, keys, n, stride, hi, lo, eq);
}

static const FPTSimd fpt_simd_neon = {
	"neon",
	{fpt_cmp1_neon, fpt_cmp2_neon, fpt_cmp4_neon, fpt_cmp8_neon,
	fpt_cmp16_neon}
};

#endif							/* FPT_SIMD_NEON */

/* --- choosing ----------------------------------------------------------- */

const FPTSimd *fpt_simd = &fpt_simd_scalar;
bool		fpt_has_popcnt = false;

/*
 * The variants this CPU and its operating system can run, best first.  (The
 * compiler's CPU test includes whether the system saves the wide registers.)
 */
#define FPT_MAX_VARIANTS	4

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
	return n;
}

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
