/*-------------------------------------------------------------------------
 *
 * page/coding.h
 *	  What differs between encodings of pages, for the paths of every search,
 *	  scan and insertion.
 *
 * These ask which encoding a page has, and nobody else does but the table
 * (page/encoding.c) for the rare paths, what makes geometries (page/geom.c) and
 * the check.  They are inline, and know what is rare: the code of pages without
 * a dictionary goes by it with a comparison of a byte, or none.  What a page's
 * geometry says (fpt_has_ties(), fpt_shares_space() and what else page/layout.h
 * has) is no question for the encoding.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_CODING_H
#define FPT_PAGE_CODING_H

#include "page/dict.h"
#include "page/layout.h"
#include "page/node.h"

/* Keys are numbers into the page's dictionary, which has the tuples. */
static inline bool
fpt_has_dict(const FPTGeom *g)
{
	return g->coding == FPT_CODING_DICT;
}

/* --- searching ----------------------------------------------------------- */

/*
 * What a page of this encoding stores of a key that is searched for: p's hi and
 * lo, whether they are the key's own (told), and where, if the page cannot have
 * it.  *tid, what the key's TID counts as, becomes what it counts as among
 * entries of that.  p's region is known; of a NULL hi and lo are zero, as p's
 * where is, and told is set.  "numbers": stored keys may be something else than
 * keys less the base, known to the compiler.  FPT_CORRUPT or FPT_OK; may raise
 * if "numbers".
 */
static pg_attribute_always_inline FPTResult
fpt_place_tell(FPTPage pg, const FPTKey *key, FPTPlace *p, uint64 *tid,
			   const bool numbers)
{
	Assert(p->told && p->where == 0);
	Assert(numbers || !fpt_has_dict(pg.g));
	if (numbers && fpt_has_dict(pg.g))
		return fpt_dict_place(pg, key, p, tid);
	if (key->cls == FPT_CLS_VALUE)
		p->where = fpt_rel(pg, key, &p->hi, &p->lo);
	return FPT_OK;
}

/*
 * The same of the end of a range that begins at p, which has a node, into p's
 * hi and lo; *hi becomes what the entries there are compared with, in *end if
 * that is another key.  False: after all that the page can have, or corrupt.
 * May raise.
 */
static pg_attribute_always_inline bool
fpt_end_tell(FPTPage pg, FPTPlace *p, const FPTKey **hi, FPTKey *end)
{
	Assert(fpt_place_has_node(p));
	if (unlikely(fpt_has_dict(pg.g)))
	{
		if (!fpt_dict_end(pg, p, *hi, end))
			return false;
		p->hi = 0;
		p->lo = end->lo;
		*hi = end;
		return true;
	}
	return fpt_rel(pg, *hi, &p->hi, &p->lo) == 0;
}

/* --- entries ------------------------------------------------------------- */

/*
 * A slot's entry with its key made absolute; false if its tuple is not where it
 * should be.  "base" and cls are the kid's.
 */
static inline bool
fpt_slot_entry(FPTPage pg, char *node, uint64 base, int slot, uint32 cls,
			   FPTEntry *out)
{
	out->key.tid = fpt_slot_tid(pg, node, slot);
	out->down = fpt_slot_down(pg.g, node, slot);
	if (unlikely(fpt_has_dict(pg.g)))
		return fpt_dict_key(pg.p, fpt_slot_code(node, slot), cls, &out->key);
	out->key.hi = out->key.lo = 0;
	if (cls == FPT_CLS_VALUE)
	{
		uint64		hi,
					lo;

		fpt_slot_rel(pg.g, node, base, slot, &hi, &lo);
		fpt_unrel(pg, hi, lo, &out->key.hi, &out->key.lo);
	}
	out->key.cls = cls;
	return fpt_slot_tuple(pg, node, slot, &out->key);
}

/*
 * Copy the keys of n slots, and where their tuples are, to entry "at" of a run
 * on, if this encoding has a way of its own.  FPT_UNFIT: it has none, a key is
 * what its slot stores and the base, its tuple the slot's.  FPT_CORRUPT: what
 * is in the run means nothing.  *last is for this function from one node to the
 * next, -1 at first; or "last" is NULL, known to the compiler: keys are images.
 * Raises nothing.
 */
static pg_attribute_always_inline FPTResult
fpt_keys_copy(FPTPage pg, const char *node, const uint8 *slots, int n,
			  FPTRun *run, int at, int *last)
{
	Assert(last != NULL || !fpt_has_dict(pg.g));
	if (last == NULL || likely(!fpt_has_dict(pg.g)))
		return FPT_UNFIT;
	if ((run->los || run->tupoffs) &&
		!fpt_dict_copy(pg.p, node, slots, n, run, at, last))
		return FPT_CORRUPT;
	if (run->his)
		memset(run->his + at, 0, n * sizeof(uint64));
	return FPT_OK;
}

/* --- inserting ----------------------------------------------------------- */

/*
 * May e, whose place is p, go into this page as far as its encoding is
 * concerned?  FPT_OK: as far as p tells.  FPT_FULL: the page must be told its
 * key first (FPTEncoding.tell).  FPT_UNFIT: it cannot have it.  Raises nothing.
 */
static inline FPTResult
fpt_entry_admitted(FPTPage pg, const FPTEntry *e, const FPTPlace *p)
{
	if (unlikely(fpt_has_dict(pg.g)))
		return fpt_dict_admits(pg, e, p);
	Assert(p->told);
	return FPT_OK;
}

#endif							/* FPT_PAGE_CODING_H */
