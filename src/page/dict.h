/*-------------------------------------------------------------------------
 *
 * page/dict.h
 *	  Nodes whose keys are few: a dictionary, and codes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_DICT_H
#define FPT_PAGE_DICT_H

#include "page/layout.h"
#include "page/node.h"

/*
 * Look a key up that is searched for: sets p's told, hi, lo and where, and
 * *tid, which is relative to the first key that is not below.  A key after all
 * of them is not representable.  Nothing is looked up if p's region is empty:
 * hi and lo are zero then.  FPT_CORRUPT or FPT_OK; may raise.
 */
extern FPTResult fpt_dict_place(FPTPage pg, const FPTKey *key, FPTPlace *p,
								uint64 *tid);

/*
 * The end of a range that begins at p, which has a node: its number and TID in
 * *end.  False: after all keys, or corrupt.  May raise.
 */
extern bool fpt_dict_end(FPTPage pg, const FPTPlace *p, const FPTKey *hi,
						 FPTKey *end);

/*
 * May e, which belongs at p, go into the page?  FPT_FULL: the dictionary does
 * not have the key.  FPT_UNFIT: nor can it, because e is of another class,
 * equals a key that is not alike, or has a TID that is too wide.  Raises
 * nothing: p's told and lo tell what was compared.
 */
extern FPTResult fpt_dict_admits(FPTPage pg, const FPTEntry *e,
								 const FPTPlace *p);

/*
 * Copy heads, and where tuples are, of n slots to entry "at" of a run on.
 * *shared is the number of the last entry's key, or -1.  False: a number has no
 * key, or all keys together have more bytes than a page.  Raises nothing.
 */
extern bool fpt_dict_copy(char *page, const char *node, const uint8 *slots,
						  int n, FPTRun *run, int at, int *shared);

/*
 * Write the arrays, of n keys, at "upper"; pd_upper is to be there.  They are
 * not in the page.  Raises nothing.
 */
extern void fpt_dict_write(void *page, int upper, const void *heads,
						   const uint16 *offs, int n);

/*
 * Would a leaf page with a dictionary, of geometry d, be so much smaller than
 * one of geometry g?  False as well if there are more keys than a dictionary
 * has, or too few rows of each.  Raises nothing.
 */
extern bool fpt_dict_pays(const FPTGeom *g, const FPTGeom *d,
						  const FPTEntry *entries, int n);

/*
 * Can these entries of pg, a leaf page, be in one with a dictionary, of
 * geometry d, that has an eighth of its space free?  May raise.
 */
extern bool fpt_dict_frees(FPTPage pg, const FPTGeom *d,
						   const FPTEntry *entries, int n);

/*
 * Is there room for another entry with this key in a page with a dictionary, of
 * geometry d, that is being filled, beside a low fence of so many bytes?  May
 * raise.
 */
extern bool fpt_dict_has_room(FPTGrowing *page, const FPTGeom *d,
							  const FPTKey *key, int low);

/* Is there room for fences of so many bytes, once its entries are complete? */
extern bool fpt_dict_closes(const FPTGrowing *page, const FPTGeom *d,
							int fences);

/*
 * Make the dictionary of an empty page for n sorted entries.  FPT_UNFIT: they
 * cannot have one.  FPT_FULL: there is no room, or there are too many keys.
 * The page is of no use then.  May raise.
 */
extern FPTResult fpt_dict_build(FPTPage pg, const FPTEntry *entries, int n);

/*
 * Put a key that the dictionary does not have into it, as number "code", the
 * one that fpt_dict_place() gave.  FPT_FULL: no room, and nothing is changed.
 * FPT_CORRUPT: it has stopped half-way.  Raises nothing.
 */
extern FPTResult fpt_dict_add(FPTPage pg, const FPTKey *key, int code);

/*
 * Which keys of the dictionary have entries?  "used" has room for FPT_MAX_DICT.
 * FPT_OK or FPT_CORRUPT.  Raises nothing.
 */
extern FPTResult fpt_dict_used(FPTPage pg, bool *used);

/*
 * Drop the keys that are not "used" from the arrays.  The tuples stay where
 * they are, and so does pd_upper: what is free now is between the arrays and
 * the tuples, which the caller is about to move.  FPT_CORRUPT: it has stopped
 * half-way.  Raises nothing.
 */
extern FPTResult fpt_dict_purge(FPTPage pg, const bool *used);

/*
 * The walk of a page with a dictionary: those of its keys that have entries,
 * and the arrays.  False: corrupt.  Raises nothing.
 */
extern bool fpt_dict_walk(FPTTupleWalk *w);

#endif							/* FPT_PAGE_DICT_H */
