/*-------------------------------------------------------------------------
 *
 * page/vector.h
 *	  Which instruction sets there may be, for page/simd.c and page/rank.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_VECTOR_H
#define FPT_PAGE_VECTOR_H

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define FPT_SIMD_X86 1
#include <immintrin.h>
#define FPT_AVX2	__attribute__((target("avx2")))
#define FPT_AVX512	__attribute__((target("avx512f,avx512bw")))
#elif defined(__aarch64__) && defined(__ARM_NEON)
#define FPT_SIMD_NEON 1
#include <arm_neon.h>
#endif

#endif							/* FPT_PAGE_VECTOR_H */
