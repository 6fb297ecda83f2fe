/*-------------------------------------------------------------------------
 *
 * page/port.h
 *	  What the page kernel needs of its surroundings.
 *
 * Inside the server that is postgres.h and PageHeaderData.  With
 * FPT_STANDALONE defined (unit tests, fuzzers, micro-benchmarks) it is the C
 * library and a look-alike of PageHeaderData.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_PORT_H
#define FPT_PAGE_PORT_H

#ifndef FPT_STANDALONE

#include "postgres.h"
#include "storage/bufpage.h"

/* PageHeaderData without its flexible array: 24 bytes. */
typedef struct FPTPageStd
{
	PageXLogRecPtr pd_lsn;
	uint16		pd_checksum;
	uint16		pd_flags;
	LocationIndex pd_lower;
	LocationIndex pd_upper;
	LocationIndex pd_special;
	uint16		pd_pagesize_version;
	TransactionId pd_prune_xid;
} FPTPageStd;

StaticAssertDecl(sizeof(FPTPageStd) == SizeOfPageHeaderData,
				 "FPTPageStd must look like PageHeaderData");

#else							/* FPT_STANDALONE */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t uint8;
typedef int16_t int16;
typedef uint16_t uint16;
typedef uint32_t uint32;
typedef int64_t int64;
typedef uint64_t uint64;
typedef int64_t int64;

#ifndef BLCKSZ
#define BLCKSZ 8192
#endif

#define UINT64CONST(x)		UINT64_C(x)
#define Assert(c)			assert(c)
#define StaticAssertDecl(c, m) _Static_assert(c, m)
#define pg_attribute_always_inline __attribute__((always_inline)) inline
#define pg_noinline			__attribute__((noinline))
#define Min(a, b)			((a) < (b) ? (a) : (b))
#define Max(a, b)			((a) > (b) ? (a) : (b))
#ifndef likely
#define likely(c)			__builtin_expect((c) != 0, 1)
#define unlikely(c)			__builtin_expect((c) != 0, 0)
#endif

typedef struct FPTPageStd
{
	uint32		pd_lsn[2];
	uint16		pd_checksum;
	uint16		pd_flags;
	uint16		pd_lower;
	uint16		pd_upper;
	uint16		pd_special;
	uint16		pd_pagesize_version;
	uint32		pd_prune_xid;
} FPTPageStd;

#define PG_PAGE_LAYOUT_VERSION 4

#endif							/* FPT_STANDALONE */

/*
 * Bring a line into the processor's cache.  To gcc a function that does nothing
 * but prefetch has no effect, and it leaves out the calls of it
 * (ipa-pure-const).  The empty statement is an effect, for any function that
 * calls this one.
 */
static pg_attribute_always_inline void
fpt_prefetch(const void *line)
{
	__builtin_prefetch(line);
	__asm__ volatile ("");
}

#endif							/* FPT_PAGE_PORT_H */
