/*-------------------------------------------------------------------------
 *
 * key/compare.h
 *	  Comparing general keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_COMPARE_H
#define FPT_KEY_COMPARE_H

#include "utils/relcache.h"

#include "key/column.h"
#include "key/general.h"
#include "page/layout.h"

/*
 * Make a key for a scan's bound: class, head and "search" of *key are set.  *s
 * must live as long as the key.  TID: 0, or FPT_MAX_TID if "after".  Values may
 * be compressed.  If any is out of line it is fetched for the head, so that no
 * page may be locked then.  May raise.
 */
extern void fpt_general_search_key(const FPTGeneral *g,
								   const FPTGeneralSearch *s, FPTKey *key);

/*
 * The same for the bounds before and after all keys that begin with the same
 * values: *before and *after differ in nothing but "after".
 */
extern void fpt_general_search_keys(const FPTGeneral *g,
									const FPTGeneralSearch *before,
									const FPTGeneralSearch *after,
									FPTKey *lo, FPTKey *hi);

/*
 * Order of two keys of the same class and the same head, TIDs left out; heads
 * need not be the same if the keys have different prefixes.  Each has a tuple,
 * or a "search".  This is FPTLayout.cmp; arg is the FPTGeneral.  Returns less
 * than, equal to or more than 0.  Runs functions of types, which may raise:
 * perhaps with a page locked (L7), not in a critical section (W1).
 */
extern int	fpt_general_compare(const void *arg, const FPTKey *a,
								const FPTKey *b);

/*
 * In how many of the first key columns have two entries the same value?  None
 * if their classes differ.  As fpt_general_compare(): may raise, a page may be
 * locked.
 */
extern int	fpt_general_common(const FPTGeneral *g, const FPTKey *a,
							   const FPTKey *b);

/*
 * Order of two values of a key column, DESC and NULLS placement considered.
 * Returns less than, equal to or more than 0.  Neither value is out of line.
 * Runs the type's function, which may raise.
 */
extern int	fpt_general_compare_values(const FPTGeneral *g, int i, Datum a,
									   bool anull, Datum b, bool bnull);

/*
 * The fence between two neighbouring leaf entries, prev < key: the shortest
 * partial key s with prev < s <= key.  Where all key columns are equal that is
 * key itself, with its TID (INCLUDE columns can be left out); else the TID is
 * 0.  This is FPTLayout.separate.
 *
 * Pages are locked when a page is split: comparison functions run as in
 * fpt_general_compare().  May raise, before anything is changed.  Memory is
 * taken in a context of its own, and given back, but for an error.
 */
extern void fpt_general_separate(const void *arg, const FPTKey *prev,
								 const FPTKey *key, FPTKeyBuf *sep);

/*
 * From now on *g, which is the caller's own and does not outlive the current
 * memory context, compares by the sort support functions of the types' btree
 * operator classes, where these have the same order.  With abbreviated keys, or
 * without.  Reads catalogues, so that no page may be locked; may raise.
 */
extern void fpt_general_sort_support(FPTGeneral *g, Relation rel,
									 bool abbreviate);

extern int	fpt_general_nkeys(const FPTGeneral *g);

/*
 * The first key column that class and head leave open; may be the last + 1:
 * then equal heads are equal keys.
 */
extern int	fpt_general_open(const FPTGeneral *g, const FPTKey *key);

/*
 * What is known of the order of key column i, without its direction; that and
 * the placement of NULLs in *descending and *nullsfirst.
 */
extern FPTColumnOrder fpt_general_order(const FPTGeneral *g, int i,
										bool *descending, bool *nullsfirst);

/*
 * Column i of an entry, which has it; false if it is not stored as it is, since
 * it is compressed or restored by the head.  s->data is in the entry's tuple,
 * and lives as long.  Raises an error if the tuple makes no sense.
 */
extern bool fpt_general_string(const FPTGeneral *g, int i, const FPTKey *key,
							   FPTGeneralString *s);

/* Has the column abbreviated keys that are compared as unsigned numbers? */
extern bool fpt_general_can_abbreviate(const FPTGeneral *g, int i);

/*
 * The abbreviated key of an entry's column i, as an unsigned number in
 * ascending order; 0 of NULL.  Less means less; equal ones say nothing.  Runs
 * the type's sort support, which may raise, and keeps memory in the context
 * that fpt_general_sort_support() was called in.
 */
extern uint64 fpt_general_abbreviate(const FPTGeneral *g, int i,
									 const FPTKey *key, bool *isnull);

/*
 * After n of them: are they worth it?  Asks the type, which estimates how many
 * different ones there are.
 */
extern bool fpt_general_abbreviations_pay(const FPTGeneral *g, int i, int n);

#endif							/* FPT_KEY_COMPARE_H */
