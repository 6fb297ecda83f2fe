/*-------------------------------------------------------------------------
 *
 * key/tid.h
 *	  Heap TIDs as numbers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_TID_H
#define FPT_KEY_TID_H

#include "storage/block.h"
#include "storage/itemptr.h"

/*
 * A TID as a number: block << 16 | offset, which is below 2^48 and has the
 * order of TIDs.  The TID need not be valid.
 */
static inline uint64
fpt_tid_encode(ItemPointer tid)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

StaticAssertDecl(sizeof(BlockIdData) == sizeof(BlockNumber),
				 "block numbers are no two halves");

static inline void
fpt_tid_decode(uint64 tid, ItemPointer out)
{
	BlockNumber block = (BlockNumber) (tid >> 16);

	/* both halves of the block number in one go, the upper one first */
#ifndef WORDS_BIGENDIAN
	block = (block << 16) | (block >> 16);
#endif
	memcpy(&out->ip_blkid, &block, sizeof(block));
	out->ip_posid = (OffsetNumber) (tid & 0xFFFF);
}

/* For "(%u,%u)" in a message. */
#define FPT_TID_FORMAT_ARGS(tid) \
	(uint32) ((tid) >> 16), (uint32) ((tid) & 0xFFFF)

#endif							/* FPT_KEY_TID_H */
