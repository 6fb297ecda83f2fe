/*-------------------------------------------------------------------------
 *
 * scan/argument.h
 *	  Arguments of quals as intervals, and stepping through arrays of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_SCAN_ARGUMENT_H
#define FPT_SCAN_ARGUMENT_H

#include "access/skey.h"
#include "access/tupmacs.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/rel.h"

#include "key/image.h"

/* An end of an interval; inf: there is none, NULLs included. */
typedef struct FPTBound
{
	union
	{
		Datum		value;		/* general keys: of the column's type */
		FPTImage	image;		/* image keys: in the order of the index */
	};
	bool		isnull;
	bool		inf;
	bool		incl;			/* the value itself belongs to it */
} FPTBound;

#define FPT_UNBOUNDED		((FPTBound) {.inf = true, .incl = true})

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
	FPT_ARG_KEY,				/* the same, and the column's keys are images */
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

/* A comparison function of a column's type and another one. */
typedef struct FPTCross
{
	struct FPTCross *next;
	int			i;				/* column */
	Oid			subtype;
	FmgrInfo	cmp;
	MemoryContext scratch;		/* where it runs if it is a user's, or NULL */
} FPTCross;

/* What is known of an index's arguments, and kept over rescans. */
typedef struct FPTArguments
{
	Relation	rel;
	const FPTKeyType *type;		/* of image keys, else NULL */
	MemoryContext cxt;			/* lives as long as the scan */
	FPTCross   *cross;			/* those that were needed so far */
} FPTArguments;

typedef struct FPTConverter
{
	Relation	rel;
	int			i;				/* column */
	ScanKey		key;
	FPTArgument how;
	const FPTKeyType *type;		/* of images */
	bool		descending;
	FPTCross   *cross;			/* NULL: the argument is of the same type */
	bool		bytewise;		/* strings that are equal have the same bytes */
	bool		fuzzy;			/* of the intervals so far one was too wide */
	FPTConverted *buf;			/* for each end of an interval, or NULL */
} FPTConverter;

/* Is an argument of the type of column i? */
static inline bool
fpt_argument_is_same(Relation rel, int i, ScanKey key)
{
	Oid			opcintype = rel->rd_opcintype[i];

	return !OidIsValid(key->sk_subtype) || key->sk_subtype == opcintype ||
		IsPolymorphicType(opcintype) || opcintype == RECORDOID;
}

/*
 * Values but no NULLs, of column i, in the order of the index.  Raises nothing,
 * looks nothing up.
 */
extern FPTInterval fpt_not_null(Relation rel, int i);

/*
 * How is a qual of column i made comparable with it?  conv->how tells;
 * FPT_ARG_UNKNOWN is no error.  Looks up functions, once a type and scan, which
 * are kept in args->cxt: may raise, if an operator family lacks one or it has
 * other arguments, and no page is locked.  Allocates conv->buf, if intervals
 * need it, in the current context, which has to live as long as they do.  *key
 * is the caller's, and used as long as *conv.
 */
extern void fpt_converter_init(FPTConverter *conv, FPTArguments *args, int i,
							   ScanKey key);

/*
 * The interval of one argument, which is not NULL.  Returns 1 if there is one,
 * 0 if no value matches, -1 if nobody knows; *iv means something only after 1.
 * Values that are passed by reference are the argument itself or, of another
 * type, in conv->buf, until it is used again.  conv->fuzzy is set, and never
 * reset, if the interval may have values that do not match.  May raise, and run
 * functions of types, and fetch what is stored out of line, into the current
 * context; no page is locked.  What functions of users allocate is freed.
 */
extern int	fpt_argument_interval(FPTConverter *conv, Datum value,
								  FPTInterval *iv);

/*
 * The same where conv->how is FPT_ARG_KEY, without bounds: the images lo .. hi,
 * in the order of the index; false if there are none.  May raise as the same.
 */
extern bool fpt_argument_images(FPTConverter *conv, Datum value, FPTImage *lo,
								FPTImage *hi);

/*
 * A name as a text, or a text, neither compressed nor out of line, that is no
 * longer than a name, as a name; "how" says which, and is one of the two.  The
 * result is in *buf.  Takes so many steps, allocates nothing, and never fails:
 * pages may be locked.
 */
extern Datum fpt_convert(FPTArgument how, Datum value, FPTConverted *buf);

/* Steps through an array's elements without an array of Datums. */
typedef struct FPTElements
{
	ArrayType  *array;
	bool		ours;			/* detoasted or flattened: to be freed */
	int			n;				/* number of elements */
	int			i;
	char	   *next;
	uint8	   *nulls;			/* bitmap; NULL: there are none */
	int16		typlen;
	bool		typbyval;
	char		typalign;
} FPTElements;

/*
 * Before the first element of an array, which is arg.  A copy of it is made in
 * the current context if it is compressed, out of line or expanded (e->ours).
 * No page is locked: that reads TOAST tables and catalogues, and may raise.
 */
extern void fpt_elements_begin(FPTElements *e, Datum arg);

/*
 * The next element that is not NULL; false if there is none.  One that is
 * passed by reference is in the array.  Allocates nothing, raises nothing.
 */
static inline bool
fpt_elements_next(FPTElements *e, Datum *value)
{
	while (e->i < e->n)
	{
		int			i = e->i++;

		if (e->nulls != NULL && (e->nulls[i / 8] & (1 << (i % 8))) == 0)
			continue;
		*value = fetch_att(e->next, e->typbyval, e->typlen);
		e->next = att_addlength_pointer(e->next, e->typlen, e->next);
		e->next = (char *) att_align_nominal(e->next, e->typalign);
		return true;
	}
	return false;
}

#endif							/* FPT_SCAN_ARGUMENT_H */
