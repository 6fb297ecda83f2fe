/*-------------------------------------------------------------------------
 *
 * key/head.h
 *	  Heads: 64-bit numbers that stand for the beginning of a key.
 *
 * Keys of several columns, and of types without images, are compared by their
 * heads first.  The order of the heads never contradicts that of the keys: a
 * smaller head means a smaller key, in the index's order, with DESC and the
 * placement of NULLs accounted for.  Of equal heads, the columns from
 * fpt_head_decided() on must be compared by the operator classes' functions.
 *
 * A head consists of parts, one for each of the first key columns, from the
 * most significant bits on.  A part holds the upper bits of the column's code;
 * only the code of a type with few enough bits is held as a whole and can be
 * followed by another part.  Keys whose first column is NULL have no head (see
 * key/general.h).  NULL in another column is a code of zeroes (NULLS FIRST) or
 * ones, and the bits behind it are the same, whatever the columns are that they
 * stand for.  So it shares its head with a few values, but is on no wrong side
 * of any.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_HEAD_H
#define FPT_KEY_HEAD_H


#include "key/image.h"
#include "server/compat.h"

/*
 * Is a varlena's value what follows its header?  The server's macros count a
 * pointer to one that is stored elsewhere as short.
 */
static inline bool
fpt_varlena_is_plain(const void *p)
{
	return !VARATT_IS_EXTERNAL(p) && !VARATT_IS_COMPRESSED(p);
}

/* How values become codes.  Codes have 64 bits, the first ones matter most. */
typedef enum FPTHeadKind
{
	FPT_HEAD_NONE,				/* nothing known of the order: no part */
	FPT_HEAD_IMAGE,				/* key image, see key/image.h */
	FPT_HEAD_FLOAT,				/* the same with equal images made one */
	FPT_HEAD_TEXT,				/* bytes of a text, "C" collation */
	FPT_HEAD_BPCHAR,			/* the same without trailing blanks */
	FPT_HEAD_NAME,				/* name, or the cstring in its place */
	FPT_HEAD_BYTEA,
	FPT_HEAD_BITS,				/* bit, bit varying */
	FPT_HEAD_NUMERIC,
	FPT_HEAD_INET,				/* inet, cidr */
	FPT_HEAD_INTERVAL,
	FPT_HEAD_TIMETZ,
	FPT_HEAD_TID,
	FPT_HEAD_OIDVECTOR,
	FPT_HEAD_TSVECTOR
} FPTHeadKind;

/* Does fpt_head_restores() depend on the head? */
typedef enum FPTRestores
{
	FPT_RESTORES_NEVER,			/* it is false */
	FPT_RESTORES_SOME,			/* it does */
	FPT_RESTORES_ALL			/* it is true */
} FPTRestores;

/*
 * A column's part of the head: bits shift .. shift + bits - 1 are the upper
 * bits of the column's code, complemented if the column is descending; of a
 * NULL, all zeroes or ones, and so are all bits below.
 */
typedef struct FPTHeadPart
{
	FPTHeadKind kind;
	uint8		shift;			/* number of bits below the part */
	uint8		bits;			/* bits of the part */
	bool		whole;			/* that is all of the code */
	bool		descending;
	bool		nullsfirst;
	const FPTKeyType *type;		/* FPT_HEAD_IMAGE, FPT_HEAD_FLOAT */
} FPTHeadPart;

/* No type's code is shorter than two bits. */
#define FPT_HEAD_MAXPARTS	32

/*
 * The parts of an index's heads, from the most significant bits on: they do not
 * overlap, and only the last one may be cut off (not "whole").  Constant for
 * the life of a relfilenode, as heads are stored: what comes out of
 * fpt_head_add() may depend on nothing but the definition of the index and the
 * operator classes' functions.
 */
typedef struct FPTHeadDesc
{
	int			nparts;			/* columns 0 .. nparts - 1 have one */
	FPTHeadPart part[FPT_HEAD_MAXPARTS];
} FPTHeadDesc;

/*
 * Column by column: start with nparts = 0 and call this for each key column, as
 * long as it returns true; false: it has no part, and nor can those after it.
 * "options" are the column's INDOPTION_* bits.  Reads catalogues; may raise.
 * No page may be locked.
 */
extern bool fpt_head_add(FPTHeadDesc *hd, Oid cmpproc, Oid typid,
						 Oid collation, int16 options);

/* Is a comparison function known here, as one that uses no collation? */
extern bool fpt_head_known(Oid cmpproc, Oid typid);

/* Does a comparison function compare varlenas byte by byte? */
extern bool fpt_head_is_bytes(Oid cmpproc, Oid collation);

/*
 * The smallest and the largest head of the keys that begin with the given
 * values of the first n columns; of all columns, both are the key's head.
 * Values need not be detoasted: as much of one as its code takes is fetched and
 * freed again, so a page may be locked only if none is out of line.  "known":
 * the code of the last column that has a part, or NULL.  May raise (memory).
 */
extern void fpt_head_prefix(const FPTHeadDesc *hd, const Datum *values,
							const bool *isnull, int n, const uint64 *known,
							uint64 *min, uint64 *max);

/*
 * To make the code of a value may take as long as the value is long, which must
 * not happen while a page is locked (L10): codes of long ones are made before,
 * and handed to fpt_head_prefix().  The first returns the column that may have
 * such values, which is the last one that has a part, or -1; the second one's
 * code, and may raise.
 */
extern int	fpt_head_long_column(const FPTHeadDesc *hd);
extern uint64 fpt_head_code(const FPTHeadDesc *hd, int i, Datum value);

/* Is a varlena longer than any that a page has, as stored there? */
static inline bool
fpt_head_is_long(Datum value)
{
	return VARSIZE_ANY(DatumGetPointer(value)) > BLCKSZ;
}

/*
 * The number of columns that the head decides: keys with this head have equal,
 * non-null values in them.
 */
extern int	fpt_head_decided(const FPTHeadDesc *hd, uint64 head);

/*
 * Does the head restore column i, if no column up to i is NULL?  False for
 * columns without a part.
 */
extern bool fpt_head_restores(const FPTHeadDesc *hd, int i, uint64 head);

/* May it, for some heads or for all?  Constant for an index. */
extern FPTRestores fpt_head_restoring(const FPTHeadDesc *hd, int i);

/* The value that the head restores; buf as for fpt_image_decode(). */
extern Datum fpt_head_value(const FPTHeadDesc *hd, int i, uint64 head,
							char *buf);

/*
 * What can be taken from a head if no column up to i is NULL: the whole value,
 * where fpt_head_restores() says so, or the first fpt_head_nbytes() bytes of a
 * string or uuid (fpt_head_bytes()).  Of a shorter string only as many bytes as
 * it has mean something.  None of these raises, or allocates.
 */
extern int	fpt_head_nbytes(const FPTHeadDesc *hd, int i);

/* Write the first fpt_head_nbytes() bytes of a value to "bytes". */
extern void fpt_head_bytes(const FPTHeadDesc *hd, int i, uint64 head,
						   char *bytes);

#endif							/* FPT_KEY_HEAD_H */
