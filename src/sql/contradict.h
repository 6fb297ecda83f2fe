/*-------------------------------------------------------------------------
 *
 * sql/contradict.h
 *	  Verification: is it the operator class that contradicts itself?
 *
 * Where an index of general keys is out of order, comparisons of three keys, or
 * two, may prove that no order would be right.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SQL_CONTRADICT_H
#define FPT_SQL_CONTRADICT_H

#include "utils/relcache.h"

#include "page/layout.h"
#include "store/index.h"

/*
 * A page is out of order, in itself or in its level: raises an error if
 * comparisons of an entry or a fence that is with two others contradict each
 * other.  The page is a copy, and nothing is locked: users' functions are
 * called, three times for each entry, and the index's leaves are read, each
 * locked for a moment.  May be cancelled.  Does nothing in an index of images.
 */
extern void fpt_contradict_page(Relation rel, FPTIndex *ix, void *page,
								uint32 pageno);

/*
 * The same of a key of leaf page "leaf", a copy, which a search does not find
 * there.
 */
extern void fpt_contradict_search(Relation rel, FPTIndex *ix,
								  const FPTKey *key, void *leaf,
								  uint32 pageno);

#endif							/* FPT_SQL_CONTRADICT_H */
