/*-------------------------------------------------------------------------
 *
 * store/meta.c
 *	  Reading a metapage that nobody has checked yet.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "store/meta.h"

/*
 * See store/meta.h.  The end of the array, pd_lower, must agree with its
 * length.
 */
int
fpt_meta_stripes(Page page, Oid *oids)
{
	FPTMetaData *meta = fpt_meta(page);
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpecial *s = fpt_special(page);
	int			n = meta->nstripes;

	if (PageIsNew(page) || s->pageid != FPT_PAGE_ID ||
		!(h->flags & FPT_F_META) || meta->magic != FPT_MAGIC)
		return -1;
	if (meta->version == FPT_VERSION)
		n = 0;
	else if (meta->version != FPT_VERSION_STRIPED ||
			 n < FPT_MIN_STRIPES || n > FPT_MAX_STRIPES)
		return -1;
	if (h->std.pd_special != FPT_SPECIAL_OFFSET ||
		h->std.pd_upper != FPT_SPECIAL_OFFSET ||
		h->std.pd_lower != FPT_META_OFFSET + sizeof(FPTMetaData) +
		n * sizeof(Oid))
		return -1;
	if (n > 0)
		memcpy(oids, fpt_meta_oids(page), n * sizeof(Oid));
	return n;
}
