/*-------------------------------------------------------------------------
 *
 * store/meta.h
 *	  What stands where in a metapage: fixed fields, and the OIDs of stripes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_META_H
#define FPT_STORE_META_H

#include "catalog/pg_index.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "page/format.h"
#include "store/map.h"

static inline FPTMetaData *
fpt_meta(Page page)
{
	return (FPTMetaData *) ((char *) page + FPT_META_OFFSET);
}

/*
 * Can this be where the root is?  In a striped index it is where it was built,
 * in the main fork.
 */
static inline bool
fpt_meta_root_valid(const FPTMetaData *meta)
{
	return meta->root >= FPT_FIRSTPAGE &&
		(meta->root == FPT_FIRSTPAGE || meta->nstripes <= 1);
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

/* What the metapage says of an index's keys. */
static inline uint16
fpt_meta_keyclass(bool general)
{
	return general ? FPT_KEYCLASS_GENERAL : FPT_KEYCLASS_IMAGE;
}

/* The order of the first key column, as the index's definition has it. */
static inline bool
fpt_rel_descending(Relation rel)
{
	return (rel->rd_indoption[0] & INDOPTION_DESC) != 0;
}

static inline bool
fpt_rel_nullsfirst(Relation rel)
{
	return (rel->rd_indoption[0] & INDOPTION_NULLS_FIRST) != 0;
}

/*
 * The stripes that a page names, whatever it is: their number, 0 of an index
 * that is not striped, or -1 if this is no metapage.  oids has room for
 * FPT_MAX_STRIPES.  The page is locked, or a copy; nothing in it is trusted,
 * and nothing raised.
 */
extern int	fpt_meta_stripes(Page page, Oid *oids);

#endif							/* FPT_STORE_META_H */
