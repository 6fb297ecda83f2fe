/*-------------------------------------------------------------------------
 *
 * store/map.h
 *	  What a backend knows of where the pages of an index lie.
 *
 * store/place.h goes there, store/stripe.h makes the stripes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_MAP_H
#define FPT_STORE_MAP_H

#include "page/format.h"
#include "server/compat.h"

#define FPT_MAX_STRIPES			64
#define FPT_MIN_STRIPES			2

/*
 * One stripe, as a backend knows it.  Its lock is that of the index: whoever
 * has opened the index may read and write the file.
 */
typedef struct FPTStripe
{
	FPTLocator	locator;		/* of its file */
	Oid			relid;
	Oid			space;			/* InvalidOid: the database's own */
	uint32		nblocks;		/* hint: at least so many blocks */
	uint64		reads;			/* pages read by who has this copy */
	const char *spacename;		/* for messages; lives as long as we do */
} FPTStripe;

/*
 * All stripes of an index, FPT_MIN_STRIPES to FPT_MAX_STRIPES, in the order of
 * the list in the metapage: page numbers follow from it.  Constant for the life
 * of the relfilenode, but for the hints in at[].
 */
typedef struct FPTStripes
{
	int			n;
	bool		permanent;		/* not unlogged */
	bool		unsettled;		/* see fpt_stripes_settle() */
	FPTStripe	at[FLEXIBLE_ARRAY_MEMBER];
} FPTStripes;

static inline Size
fpt_stripes_size(int n)
{
	Assert(n >= FPT_MIN_STRIPES && n <= FPT_MAX_STRIPES);
	return offsetof(FPTStripes, at) + n * sizeof(FPTStripe);
}

/*
 * What is known of the places of an index's pages; a part of FPTIndex.  One of
 * zeroes will do for the metapage and the root of any index, before there is a
 * description.
 */
typedef struct FPTPageMap
{
	uint32		npages;			/* hint: all pages below this number exist */
	FPTStripes *stripes;		/* NULL: the index is not striped */
} FPTPageMap;

/* Is this page in a stripe?  In which one, at which block? */
static inline bool
fpt_page_is_striped(const FPTPageMap *map, uint32 pageno)
{
	return unlikely(map->stripes != NULL) && pageno > FPT_FIRSTPAGE;
}

static inline int
fpt_page_stripe(const FPTPageMap *map, uint32 pageno)
{
	Assert(fpt_page_is_striped(map, pageno));
	return (pageno - (FPT_FIRSTPAGE + 1)) % map->stripes->n;
}

static inline int
fpt_nstripes(const FPTPageMap *map)
{
	return map->stripes == NULL ? 0 : map->stripes->n;
}

/* May no entry be inserted, for all that is known? */
static inline bool
fpt_map_unsettled(const FPTPageMap *map)
{
	return unlikely(map->stripes != NULL) && map->stripes->unsettled;
}

#endif							/* FPT_STORE_MAP_H */
