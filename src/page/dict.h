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

extern bool fpt_keys_distinct(const FPTLayout *l, const FPTKey *a,
							  const FPTKey *b);

extern int	fpt_dict_find(FPTPage pg, const FPTKey *key, bool *exact);
extern void fpt_dict_write(void *page, int upper, const void *heads,
						   const uint16 *offs, int n);
extern FPTResult fpt_dict_build(FPTPage pg, const FPTEntry *entries, int n);
extern FPTResult fpt_dict_add(FPTPage pg, const FPTKey *key, int code);

/* Which keys of the dictionary have entries? */
extern FPTResult fpt_dict_used(FPTPage pg, bool *used);
extern FPTResult fpt_dict_purge(FPTPage pg, const bool *used);

extern bool fpt_dict_walk(FPTTupleWalk *w);

#endif							/* FPT_PAGE_DICT_H */
