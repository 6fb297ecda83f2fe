/*-------------------------------------------------------------------------
 *
 * fpt_general_int.h
 *	  What the files that know the contents of tuples share: fpt_general.c, which
 *	  describes them, and fpt_itup.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_GENERAL_INT_H
#define FPT_GENERAL_INT_H

#include "fpt_general.h"

#include "access/itup.h"
#include "utils/sortsupport.h"

#include "fpt_head.h"

#define FPT_T_COLUMNS		0x3F
#define FPT_T_NULLS			0x40
#define FPT_T_ALL			0x7F

#define FPT_V_SHORT_MAX		0x7F	/* longest length in one byte */
#define FPT_V_TWO			0x80
#define FPT_V_COMPRESSED	0x40
#define FPT_V_MAX			0x3FFF

/* How a column is compared, where that is simpler than by a function. */
typedef enum FPTColumnKind
{
	FPT_COL_ANY,				/* support function 1 */
	FPT_COL_IMAGE,				/* images */
	FPT_COL_BYTES				/* text and bytea: memcmp(), then length */
} FPTColumnKind;

/* How write_simple() gets at it, where that takes no asking. */
typedef enum FPTWriteKind
{
	FPT_WRITE_OTHER,
	FPT_WRITE_HEAD4,			/* a number of 4 bytes, all in the head */
	FPT_WRITE_HEAD8,
	FPT_WRITE_FIXED,			/* bytes of the tuple, typlen of them, */
	FPT_WRITE_VARLENA			/* or varlena; the head may have the first */
} FPTWriteKind;

/* What is to be done for a column, for all entries alike. */
typedef struct FPTWriteStep
{
	uint64		mask;			/* FPT_WRITE_HEAD*: what to apply to the part */
	FPTWriteKind kind;
	uint8		shift;			/* of the part, or of the head's bytes */
	uint8		nhead;			/* bytes in the head */
	uint8		align;			/* less one */
	uint8		typlen;			/* FPT_WRITE_FIXED */
} FPTWriteStep;

/* write_simple() reads and writes so many bytes at once. */
#define FPT_WRITE_CHUNK		16

/* The longest value of fixed length that it knows. */
#define FPT_WRITE_FIXED_MAX	32

/* An index tuple that it makes has at most so many bytes. */
#define FPT_WRITE_MAX(natts) \
	(MAXALIGN(sizeof(IndexTupleData)) + FPT_WRITE_CHUNK + \
	 (natts) * (MAXIMUM_ALIGNOF + VARHDRSZ + FPT_V_SHORT_MAX))

typedef struct FPTColumn
{
	FPTWriteStep step;
	FPTColumnKind kind;
	FPTRestores restores;
	int			nhead;			/* bytes in the head, if it does not; */
	bool		plainhead;		/* they are the head's, as they are, after */
	uint8		headshift;		/* so many bits */
	int16		typlen;
	bool		byval;
	bool		isname;
	uint8		align;			/* in bytes */
	char		storage;		/* attstorage */
	char		compression;	/* attcompression */
	bool		descending;		/* key columns only, from here on */
	bool		nullsfirst;
	Oid			collation;
	FmgrInfo   *cmp;
	const FPTKeyType *type;		/* FPT_COL_IMAGE */

	/* FPT_COL_ANY, after fpt_general_sort_support(): the same, or NULL */
	int			(*fastcmp) (Datum a, Datum b, SortSupport ssup);
	SortSupport ssup;
} FPTColumn;

struct FPTGeneral
{
	FPTHeadDesc head;
	uint32		sortversion;	/* of the sort keys in it, or 0 */
	int			nkeys;
	int			natts;
	bool		simple;			/* all columns are known to write_simple() */
	uint16		writeflags;		/* t_info of what it makes, but for the size */
	FPTColumn	col[FLEXIBLE_ARRAY_MEMBER];
};

#endif							/* FPT_GENERAL_INT_H */
