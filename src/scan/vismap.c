/*-------------------------------------------------------------------------
 *
 * scan/vismap.c
 *	  The visibility map of a table, read by many rows at a time.
 *
 * Bits are read in place, in pages of the map that stay pinned.  Rules
 * about their meaning for an entry are where they are asked:
 * scan/standby.c, exec/sight.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "scan/vismap.h"

StaticAssertDecl(BITS_PER_HEAPBLOCK * FPT_MAP_PER_BYTE == BITS_PER_BYTE &&
				 VISIBILITYMAP_ALL_VISIBLE == 1,
				 "the visibility map has another format");

const uint8 *
fpt_map_bits(Relation heap, FPTVisMap *map, BlockNumber blk, BlockNumber *base)
{
	BlockNumber number = blk / FPT_MAP_PER_PAGE;
	FPTMapPage *m = &map->pages[number % FPT_MAP_BUFFERS];

	*base = number * FPT_MAP_PER_PAGE;
	if (!BufferIsValid(m->buf) || m->number != number)
	{
		CHECK_FOR_INTERRUPTS();
		(void) visibilitymap_get_status(heap, blk, &m->buf);
		m->number = number;
	}
	if (!BufferIsValid(m->buf))
		return NULL;
	return (const uint8 *) PageGetContents(BufferGetPage(m->buf));
}

void
fpt_map_done(FPTVisMap *map)
{
	for (int i = 0; i < FPT_MAP_BUFFERS; i++)
	{
		if (BufferIsValid(map->pages[i].buf))
			ReleaseBuffer(map->pages[i].buf);
		map->pages[i].buf = InvalidBuffer;
	}
}
