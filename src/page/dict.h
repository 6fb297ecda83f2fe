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
 * Are these of one class, and different for the operator class, whatever their
 * TIDs?  Then both may be in one dictionary.  May raise.
 */
extern bool fpt_keys_distinct(const FPTLayout *l, const FPTKey *a,
							  const FPTKey *b);

/*
 * Number of the first key of the dictionary that is not below "key", as many as
 * it has keys if all are; *exact: it equals "key".  -1: corrupt.  May raise.
 */
extern int	fpt_dict_find(FPTPage pg, const FPTKey *key, bool *exact);

/*
 * Write the arrays, of n keys, at "upper"; pd_upper is to be there.  They are
 * not in the page.  Raises nothing.
 */
extern void fpt_dict_write(void *page, int upper, const void *heads,
						   const uint16 *offs, int n);

/*
 * Make the dictionary of an empty page for n sorted entries.  FPT_UNFIT: they
 * cannot have one.  FPT_FULL: there is no room, or there are too many keys.
 * The page is of no use then.  May raise.
 */
extern FPTResult fpt_dict_build(FPTPage pg, const FPTEntry *entries, int n);

/*
 * Put a key that the dictionary does not have into it, as number "code", the
 * one that fpt_dict_find() gave.  FPT_FULL: no room, and nothing is changed.
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
