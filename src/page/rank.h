/*-------------------------------------------------------------------------
 *
 * page/rank.h
 *	  FPTSimd.order in several instruction sets.
 *
 * Which of these there are says page/vector.h, which of them may run
 * page/simd.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_RANK_H
#define FPT_PAGE_RANK_H

#include "page/port.h"

extern void fpt_order_scalar(const uint64 *at, int n, uint8 *pos);
extern void fpt_order_sse2(const uint64 *at, int n, uint8 *pos);
extern void fpt_order_avx2(const uint64 *at, int n, uint8 *pos);
extern void fpt_order_neon(const uint64 *at, int n, uint8 *pos);

#endif							/* FPT_PAGE_RANK_H */
