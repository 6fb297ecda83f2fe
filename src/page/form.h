/*-------------------------------------------------------------------------
 *
 * page/form.h
 *	  Making a page of sorted entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_FORM_H
#define FPT_PAGE_FORM_H

#include "page/layout.h"

/*
 * Make a page of n sorted entries, perhaps of none: choose base and encoding
 * and fill it, its nodes to at most "fill" percent where that is possible.
 * Links, flags and hints are zero.  Entries of inner pages: *entries is changed
 * where it stands for minus infinity.  No entry's tuple may be in the page's
 * bytes.
 *
 * FPT_FULL: they do not fit; FPT_UNFIT: one is not representable: it is
 * undefined then what the page is.  May raise.
 */
extern FPTResult fpt_page_form(const FPTLayout *l, void *page,
							   const FPTPageSpec *spec, FPTEntry *entries,
							   int n, int fill);

/*
 * Make a leaf page of the first of n sorted image entries, which are values, if
 * their keys repeat: returns how many it has when "fill" percent of it are
 * full; 0: this is no way for them, and it is undefined what the page is.
 * *most: about how many it would have if there were more.  Its links, flags and
 * hints are zero.  Raises nothing.
 */
extern int	fpt_page_form_first(const FPTLayout *l, void *page,
								const FPTPageSpec *spec,
								const FPTEntry *entries, int n, int fill,
								int *most);

/*
 * What the reach of a page shall be that is made of a leaf page's entries and
 * others, n in all: no less than this one's, or each half of it would be made
 * anew once more.  In blocks of the table.  Raises nothing.
 */
extern uint32 fpt_page_reach(const FPTLayout *l, void *page,
							 const FPTEntry *entries, int n);

/*
 * The bits of a row's number in pages that are made of these entries of a leaf
 * page and others, see FPTPageSpec: no less than this one's if they are few.
 * Raises nothing.
 */
extern int	fpt_page_rowbits(const FPTLayout *l, void *page,
							 const FPTEntry *entries, int n);

/*
 * Has a page of general keys without room so many entries of the same keys that
 * one with a dictionary would have an eighth of its space free?  May a leaf of
 * images be formed anew, as a page of numbers, because its keys repeat?  False
 * as well if it is damaged.  Takes all of *work, which has the page's entries
 * afterwards, as many as *n says; -1: they were not read.  May raise.
 */
extern bool fpt_page_repeats(const FPTLayout *l, void *page, FPTWork *work,
							 int *n);

/* A page with a prefix has no fewer entries: see FPT_MAX_PREFIX. */
#define FPT_PREFIX_ENTRIES	3

/*
 * How many bytes the first columns of two keys have in common at their
 * beginning, FPT_MAX_PREFIX at most: they are written to "bytes".  0 if that
 * cannot be told, or if they are too few for a prefix.  l->begin is not NULL.
 * Raises nothing.
 */
extern uint32 fpt_common_prefix(const FPTLayout *l, const FPTKey *a,
								const FPTKey *b, char *bytes);

/*
 * Have the entries of a leaf of general keys, which has no room, so much more
 * in common than its prefix that formed anew it would have an eighth of its
 * space free?  Pages filled one by one have none at first, and the left half of
 * a split has that of the whole.  False as well if it is damaged.  Raises
 * nothing.
 */
extern bool fpt_page_shares(const FPTLayout *l, void *page);

/*
 * The fewest bytes that hold last - base, 1 to keysize; both are values.  The
 * same of any number.
 */
extern int	fpt_choose_kw(const FPTLayout *l, const FPTKey *base,
						  const FPTKey *last);
extern int	fpt_width_for(const FPTLayout *l, uint64 hi, uint64 lo);

/*
 * The kind of a leaf page with the shortest whole TIDs that hold these, what
 * they are relative to, and how many bits offsets have in the numbers of rows,
 * 0 if TIDs are no such numbers.  "reach": rows that come later will be in
 * blocks below this one, and their TIDs can be held as well, if no offset is
 * higher than those there are; 0: none will come.
 */
extern int	fpt_choose_tids(const FPTTidRange *r, uint32 reach,
							uint32 *tidbase, int *rowbits);

/*
 * Where rows will be that come later, if a table has so many blocks: twice as
 * many, so that a page's TIDs get wider at most once while the table doubles,
 * and those of a page that was built full not before its first split.  Wider
 * ones in all pages at a time are dear: most do not fit, and are split.
 */
static inline uint32
fpt_tids_reach(uint32 blocks)
{
	return blocks + Min(blocks + 64, 0xFFFFFFFF - blocks);
}

#endif							/* FPT_PAGE_FORM_H */
