/*-------------------------------------------------------------------------
 *
 * scan/vismap.h
 *	  The visibility map of a table, read by many rows at a time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_VISMAP_H
#define FPT_SCAN_VISMAP_H

#include "access/visibilitymap.h"
#include "storage/block.h"
#include "storage/buf.h"
#include "utils/relcache.h"

/*
 * The map's format: from its page header on, two bits for each heap page, the
 * the lower one says all-visible.  A call for each entry would cost as
 * much as the executor's, a tenth of a row's cost in all.
 */
#define FPT_MAP_PER_BYTE	4
#define FPT_MAP_PER_PAGE	(FPT_MAP_PER_BYTE * \
							 (BLCKSZ - MAXALIGN(SizeOfPageHeaderData)))

/* Pages of it that are kept pinned; each stands for 255 MB of the table. */
#define FPT_MAP_BUFFERS		8

typedef struct FPTMapPage
{
	Buffer		buf;			/* pinned, or InvalidBuffer */
	BlockNumber number;			/* if pinned */
} FPTMapPage;

/* Before the first use it must be zeroed. */
typedef struct FPTVisMap
{
	FPTMapPage	pages[FPT_MAP_BUFFERS];
} FPTVisMap;

/*
 * The bits of the heap page "blk" and of those in the same page of the map, the
 * first of which *base is set to; NULL if the map does not have it.  It stays
 * pinned, until another one takes its place.  If it is not at hand it is read:
 * may be cancelled, and raise.
 */
extern const uint8 *fpt_map_bits(Relation heap, FPTVisMap *map,
								 BlockNumber blk, BlockNumber *base);

/*
 * By these bits, is heap page number "at" of their page of the map all-visible?
 * As in visibilitymap_get_status() that takes no lock.
 */
static inline bool
fpt_map_visible(const uint8 *bits, uint32 at)
{
	Assert(at < FPT_MAP_PER_PAGE);
	return bits != NULL &&
		((bits[at / FPT_MAP_PER_BYTE] >>
		  (at % FPT_MAP_PER_BYTE * BITS_PER_HEAPBLOCK)) &
		 VISIBILITYMAP_ALL_VISIBLE);
}

/* Give the pins back.  Raises nothing. */
extern void fpt_map_done(FPTVisMap *map);

#endif							/* FPT_SCAN_VISMAP_H */
