/*-------------------------------------------------------------------------
 *
 * page/prefix.h
 *	  Keys relative to the prefix of a page, see FPT_MAX_PREFIX.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_PREFIX_H
#define FPT_PAGE_PREFIX_H

#include "page/format.h"
#include "page/layout.h"
#include "page/node.h"

/*
 * Has the page a prefix, or the key?  Then it must be made relative to what the
 * page has.  Few pages have: nobody else shall pay for more than this.
 */
static inline bool
fpt_must_cut(FPTPage pg, const FPTKey *key)
{
	return fpt_is_general(pg.l) &&
		unlikely(fpt_special(pg.p)->prefix != 0 || key->cut != 0);
}

/*
 * A general key relative to the page's prefix, in *out, if it is a value that
 * begins with that: FPT_CUT_*, as FPTLayout.cut has it.  The key itself where
 * that is what it is already.  *out may refer to the bytes of *key and of the
 * page.  May raise where a compressed value is damaged, and for want of memory.
 */
extern int	fpt_page_cut(FPTPage pg, const FPTKey *key, FPTKeyBuf *out);

/* An entry as a page with a prefix has it, and its key's bytes. */
typedef struct FPTLocal
{
	FPTEntry	entry;
	FPTKeyBuf	buf;
	char		prefix[FPT_MAX_PREFIX];
} FPTLocal;

/*
 * An entry that is to be put into the page, with its key as the page would have
 * it: *e is that afterwards, in *local, or what it was before, where the page
 * has no prefix.  It does not refer to the page's bytes, but may to those of
 * the entry.  FPT_UNFIT: it does not begin with the prefix, or is compressed.
 * FPT_CORRUPT.  May raise where a compressed value is damaged.
 */
extern FPTResult fpt_entry_localize(FPTPage pg, const FPTEntry **e,
									FPTLocal *local);

static inline FPTResult
fpt_page_localize(FPTPage pg, const FPTEntry **e, FPTLocal *local)
{
	if (fpt_must_cut(pg, &(*e)->key))
		return fpt_entry_localize(pg, e, local);
	return FPT_OK;
}

/*
 * An entry's key as it is without any prefix, with bytes of its own, in *out.
 * False: its tuple makes no sense.  Raises nothing.
 */
extern bool fpt_key_whole(const FPTLayout *l, const FPTKey *key,
						  FPTKeyBuf *out);

#endif							/* FPT_PAGE_PREFIX_H */
