/*-------------------------------------------------------------------------
 *
 * scan/argument.h
 *	  Arguments of quals on columns of general keys, as intervals.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_ARGUMENT_H
#define FPT_SCAN_ARGUMENT_H

#include "access/skey.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/rel.h"

#include "key/image.h"

/* An end of an interval; inf: there is none, NULLs included. */
typedef struct FPTBound
{
	Datum		value;
	bool		isnull;
	bool		inf;
	bool		incl;			/* the value itself belongs to it */
} FPTBound;

/* Values of a column that are allowed, in the order of the index. */
typedef struct FPTInterval
{
	FPTBound	lo;
	FPTBound	hi;
} FPTInterval;

/* How a qual's argument is made comparable. */
typedef enum FPTArgument
{
	FPT_ARG_SAME,				/* it is of the column's type */
	FPT_ARG_IMAGE,				/* compare images, with a function */
	FPT_ARG_NAME_TO_TEXT,		/* fpt_convert() */
	FPT_ARG_TEXT_TO_NAME,
	FPT_ARG_UNKNOWN				/* not at all */
} FPTArgument;

/* A converted value that is passed by reference. */
typedef union FPTConverted
{
	char		name[NAMEDATALEN];
	char		text[VARHDRSZ + NAMEDATALEN];
	char		image[FPT_DECODE_BYTES];
	int64		align_int64;
	double		align_double;
} FPTConverted;

typedef struct FPTConverter
{
	Relation	rel;
	int			i;				/* column */
	ScanKey		key;
	FPTArgument how;
	const FPTKeyType *type;		/* of images */
	FmgrInfo	cmp;
	bool		bytewise;		/* strings that are equal have the same bytes */
	bool		fuzzy;			/* of the intervals so far one was too wide */
	FPTConverted *buf;			/* for each end of an interval */
} FPTConverter;

/* Is an argument of the type of column i? */
static inline bool
fpt_argument_is_same(Relation rel, int i, ScanKey key)
{
	Oid			opcintype = rel->rd_opcintype[i];

	return !OidIsValid(key->sk_subtype) || key->sk_subtype == opcintype ||
		IsPolymorphicType(opcintype) || opcintype == RECORDOID;
}

/* Does an argument stay what it is, until it is compared? */
static inline bool
fpt_argument_is_string(FPTArgument how)
{
	return how == FPT_ARG_NAME_TO_TEXT || how == FPT_ARG_TEXT_TO_NAME;
}

/*
 * Values but no NULLs, of column i, in the order of the index.  Raises nothing,
 * looks nothing up.
 */
extern FPTInterval fpt_not_null(Relation rel, int i);

/*
 * How is a qual of column i made comparable with it?  conv->how tells;
 * FPT_ARG_UNKNOWN is no error.  Looks up functions: may raise, if an operator
 * family lacks one or it has other arguments, and no page is locked.  Allocates
 * conv->buf, for arguments of other types, in the current context, which has to
 * live as long as the intervals.  *key is the caller's, and used as long as
 * *conv.
 */
extern void fpt_converter_init(FPTConverter *conv, Relation rel, int i,
							   ScanKey key);

/*
 * The interval of one argument, which is not NULL.  Returns 1 if there is one,
 * 0 if no value matches, -1 if nobody knows; *iv means something only after 1.
 * Values that are passed by reference are the argument itself or, of another
 * type, in conv->buf, until it is used again.  conv->fuzzy is set, and never
 * reset, if the interval may have values that do not match.  May raise, and run
 * functions of types, and fetch what is stored out of line, into the current
 * context; no page is locked.
 */
extern int	fpt_argument_interval(FPTConverter *conv, Datum value,
								  FPTInterval *iv);

/*
 * A name as a text, or a text, neither compressed nor out of line, that is no
 * longer than a name, as a name; "how" says which, and is one of the two.  The
 * result is in *buf.  Takes so many steps, allocates nothing, and never fails:
 * pages may be locked.
 */
extern Datum fpt_convert(FPTArgument how, Datum value, FPTConverted *buf);

#endif							/* FPT_SCAN_ARGUMENT_H */
