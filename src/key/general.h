/*-------------------------------------------------------------------------
 *
 * key/general.h
 *	  General keys: what the tree asks of those who know types.
 *
 * An index whose key has no image (key/image.h) stores an entry as
 *
 *	 class	is the first key column NULL?  (FPT_CLS_*; NULLs have own nodes)
 *	 head	8 bytes, FPTKey.lo: a monotone map of the first column, or of the
 *			first few columns together.  In the node arrays, in as few bytes
 *			as the page needs, searched by SIMD.
 *	 tuple	a string of bytes with a length, in the page's tuple area; may be
 *			empty.  Whatever head and class do not tell.
 *	 TID
 *
 * The tree and the page kernel see tuples as bytes.  Their contents are the
 * business of the functions declared here, in key/general.c, key/compare.c and
 * key/itup.c: forming, comparing, shortening and taking apart.
 *
 * Order.  Keys are compared by class, head, these two being equal by
 * FPTLayout.cmp (fpt_general_compare), and at last by TID.  Hence a head must
 * be monotone in the order of the key columns of the index, DESC and NULLS
 * placement considered:
 *
 *		a < b implies head(a) <= head(b), and a = b implies head(a) = head(b)
 *
 * for every a and b of the same class, where "=" is that of the operator class
 * and not that of bytes.  A constant is a head.  Heads of NULLs, that is of
 * entries of class FPT_CLS_NULLFIRST or FPT_CLS_NULLLAST, are zero.
 *
 * Only key columns count in comparisons; INCLUDE columns are in the tuple, and
 * that is all.
 *
 * Partial keys.  A key may consist of the first columns only (as many as it
 * says; possibly none).  It stands for the position before all keys that begin
 * so, or, only in memory, after all of them:
 *
 *		separators in inner pages and fences	before
 *		bounds of scans							before or after
 *
 * Between keys that agree in the columns both have, "before" is less than any
 * further column and "after" is greater; "before" equals "before", and "after"
 * "after", if they have equally many columns.  TIDs decide then: partial keys
 * have TID 0 ("before") or FPT_MAX_TID ("after").
 *
 * A partial key's head must be monotone, too: that of "before (a)" at most the
 * least, that of "after (a)" at least the greatest head of a key beginning
 * with a.  So where a head covers several columns, or where the first column
 * itself is shortened, what is missing is filled up with the lowest, or with
 * the highest value.  A partial key of no columns at all has head 0 or ~0.
 *
 * Rules for these functions.  They may be called with page locks held, may
 * raise errors and may run foreign code (operator classes' functions).  They
 * are never called in a critical section.  Bytes of a stored tuple come from
 * disk: lengths are to be checked, and fpt_general_corrupt() to be raised if
 * they do not make sense.  Tuples are not aligned.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_GENERAL_H
#define FPT_KEY_GENERAL_H

#include "access/itup.h"
#include "utils/relcache.h"

#include "key/column.h"
#include "page/layout.h"

/*
 * May the index have image keys, or does it need general ones?  (Of several
 * fixed-width columns an image may be made, too: 16 bytes are enough for two
 * columns of 4 bytes and a flag for the second one's NULLs, if only the last
 * column's type has classes of equal images.)
 */
extern bool fpt_index_is_general(Relation rel);

/* Bytes of an index's FPTGeneral. */
extern Size fpt_general_size(Relation rel);

/*
 * Fill *g, which has fpt_general_size() bytes, in.  Reads catalogues, so that
 * no page may be locked and invalidations may be processed; may raise.
 */
extern void fpt_general_init(Relation rel, FPTGeneral *g);

/*
 * May comparisons contradict each other, so that there is no order that all
 * keys could be in?  A library's collation may have such strings, and a type of
 * an extension such values.  False where all functions are known as numbers' or
 * bytes'.  Constant for an index; raises nothing.
 */
extern bool fpt_general_unsure(const FPTGeneral *g);

/* What a search key in memory has instead of a tuple; see FPTKey.search. */
typedef struct FPTGeneralSearch
{
	int			natts;			/* columns given, from the first on */
	bool		after;			/* after all keys that begin so */
	const Datum *values;
	const bool *isnull;
	const uint64 *code;			/* see fpt_head_long_column(), or NULL */
} FPTGeneralSearch;

/*
 * Make the entry of a heap tuple: class, head and tuple, which is written to
 * buf.  Values are detoasted, and compressed as btree does, so that no page may
 * be locked.  Raises btree's error for entries of more than FPT_MAX_TUPLE
 * bytes, or whose index tuple is longer than 13 bits can tell (pages of 32 kB).
 * What it allocates in the current context it frees.
 */
extern void fpt_general_form(const FPTGeneral *g, Relation rel,
							 const Datum *values, const bool *isnull,
							 uint64 tid, FPTKeyBuf *buf);

/*
 * Is any key column of an entry NULL?  INCLUDE columns do not count.  Raises an
 * error if the tuple makes no sense, or is that of a partial key.
 */
extern bool fpt_general_any_null(const FPTGeneral *g, const FPTKey *key);

/*
 * All columns of an entry, INCLUDE columns too.  Values passed by reference are
 * copies in the current context, aligned, varlenas with a long header unless
 * they are compressed: what the page has instead need be neither whole nor
 * aligned.  Columns that a partial key does not have are NULL; returns the
 * number it has.  Raises an error if the tuple makes no sense.
 */
extern int	fpt_general_deform(const FPTGeneral *g, const FPTKey *key,
							   Datum *values, bool *isnull);

/*
 * The same as an index tuple of core's format, for index-only scans, into a
 * buffer of INDEX_SIZE_MASK + 1 bytes, aligned.  Not by way of
 * index_form_tuple(), which allocates a new one and would compress wide values
 * again.  Allocates nothing.  Raises an error if the entry's tuple makes no
 * sense, or would make a longer one: what fpt_general_form() made does not.
 * The TID is not set.
 */
extern void fpt_general_write(const FPTGeneral *g, const FPTKey *key,
							  IndexTuple itup);

/*
 * Index tuples of many entries, one behind the other, each at a multiple of
 * MAXIMUM_ALIGNOF.  An item is where one begins in "data".  With
 * FPT_ITUP_STORED it is the entry's own tuple that is there, which
 * fpt_general_write() is to take apart when it is its turn: that is so for
 * entries that take longer, and may not be wanted.
 */
typedef struct FPTItups
{
	char	   *data;			/* allocated */
	Size		size;
	Size		used;
} FPTItups;

#define FPT_ITUP_STORED		((uint32) 1 << 31)

/* Is an entry's tuple well-formed?  For fptree_index_check(): no error. */
extern bool fpt_general_valid(const FPTGeneral *g, const FPTKey *key);

/*
 * FPTLayout.begin and .cut, see page/layout.h; arg is the FPTGeneral.  Only for
 * indexes whose first column is a string in the order of its bytes
 * (FPTGeneral.prefixes).  A compressed value cannot be stored without its first
 * bytes: FPT_CUT_SEARCH.  No value is out of line.  May raise for want of
 * memory, and where a compressed value is damaged.
 */
extern int	fpt_general_begin(const void *arg, const FPTKey *key, char *bytes,
							  int max);
extern int	fpt_general_cut(const void *arg, const FPTKey *key,
							const char *prefix, uint32 len, FPTKeyBuf *out);

typedef enum FPTColumnOrder
{
	FPT_ORDER_OTHER,			/* nothing is known */
	FPT_ORDER_BYTES,			/* bytes, a shorter string first */
	FPT_ORDER_STRING			/* of strings, but not that of bytes */
} FPTColumnOrder;

/*
 * A column of an entry, as far as it is not in the head: "data" is in the
 * entry's tuple.
 */
typedef struct FPTGeneralString
{
	bool		isnull;
	const char *data;
	int			len;
} FPTGeneralString;

/*
 * Make a key of the first natts columns: head (of the least key that begins so)
 * and tuple, which is in *buf; class and TID are the caller's.  No value is out
 * of line.  The tuple's length can come out as more than FPT_MAX_TUPLE; its
 * contents are not complete then, but nothing beyond *buf is written.  May
 * raise (memory).
 */
extern void fpt_general_form_key(const FPTGeneral *g, const Datum *values,
								 const bool *isnull, int natts,
								 FPTKeyBuf *buf);

#endif							/* FPT_KEY_GENERAL_H */
