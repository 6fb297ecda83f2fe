/*-------------------------------------------------------------------------
 *
 * page/prefix.c
 *	  Page kernel: keys relative to the prefix of a page.
 *
 * Entries of a page with a prefix are stored without the bytes that all of them
 * begin with.  A key that comes from outside is made relative to these before
 * it is compared with them, or stored; what that means to a key's head and
 * tuple its type knows (FPTLayout.cut).
 *
 *-------------------------------------------------------------------------
 */
#include "page/prefix.h"

/*
 * See page/prefix.h.  A page without a prefix, or of other keys, wants the key
 * whole.  Two prefixes of one length need not be the same.
 */
int
fpt_page_cut(FPTPage pg, const FPTKey *key, FPTKeyBuf *out)
{
	uint32		len = 0;
	const char *prefix = NULL;

	if (key->cls == FPT_CLS_VALUE && fpt_may_prefix(pg.g))
	{
		prefix = fpt_page_prefix(pg.p, &len);
		if (len > 0 && (prefix == NULL || pg.l->cut == NULL))
			return FPT_CUT_CORRUPT;
	}
	if (fpt_same_prefix(key->pre, key->cut, prefix, len))
	{
		out->key = *key;
		return FPT_CUT_DONE;
	}
	Assert(pg.l->cut != NULL);
	return pg.l->cut(pg.l->arg, key, prefix, len, out);
}

/* See page/prefix.h. */
FPTResult
fpt_entry_localize(FPTPage pg, const FPTEntry **e, FPTLocal *local)
{
	const FPTKey *key = &(*e)->key;

	switch (fpt_page_cut(pg, key, &local->buf))
	{
		case FPT_CUT_DONE:
			break;
		case FPT_CUT_CORRUPT:
			return FPT_CORRUPT;
		default:
			return FPT_UNFIT;
	}
	local->entry.key = local->buf.key;
	local->entry.down = (*e)->down;

	/* the page's prefix moves where its tuples are moved together */
	if (local->entry.key.cut > 0)
	{
		memcpy(local->prefix, local->entry.key.pre, local->entry.key.cut);
		local->entry.key.pre = local->prefix;
	}
	*e = &local->entry;
	return FPT_OK;
}

/* See page/prefix.h.  A compressed value is not stored relative to a prefix. */
bool
fpt_key_whole(const FPTLayout *l, const FPTKey *key, FPTKeyBuf *out)
{
	if (fpt_is_general(l) && key->cut > 0)
		return l->cut(l->arg, key, NULL, 0, out) == FPT_CUT_DONE;
	fpt_key_copy(out, key);
	return true;
}
