/*-------------------------------------------------------------------------
 *
 * store/meta.h
 *	  What stands where in a metapage: fixed fields, and the OIDs of stripes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_META_H
#define FPT_STORE_META_H

#include "storage/bufpage.h"

#include "page/format.h"
#include "store/map.h"

static inline FPTMetaData *
fpt_meta(Page page)
{
	return (FPTMetaData *) ((char *) page + FPT_META_OFFSET);
}

/* OIDs of stripes in a metapage; they need not be aligned as such. */
static inline char *
fpt_meta_oids(Page page)
{
	return (char *) page + FPT_META_OFFSET + sizeof(FPTMetaData);
}

StaticAssertDecl(FPT_META_OFFSET + sizeof(FPTMetaData) +
				 FPT_MAX_STRIPES * sizeof(Oid) <= FPT_SPECIAL_OFFSET,
				 "a metapage has no room for its stripes");

/*
 * The stripes that a page names, whatever it is: their number, 0 of an index
 * that is not striped, or -1 if this is no metapage.
 */
extern int	fpt_meta_stripes(Page page, Oid *oids);

#endif							/* FPT_STORE_META_H */
