/*-------------------------------------------------------------------------
 *
 * key/image.h
 *	  Key images: order-preserving unsigned numbers that stand for values.
 *
 * The image of a value is an unsigned number of 4, 8 or 16 bytes.  Comparing
 * images as numbers refines the order of btree's comparison function: where
 * that says "less", the image is less; values that it calls equal though their
 * bytes differ (0.0 and -0.0, NaNs) have images next to each other, which form
 * a class of equal images.  So the image decodes to the very bytes that were
 * stored, and equality means the range of a class.
 *
 * Images here are ascending.  A DESC index stores their complements, see
 * fpt_image_invert().
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_IMAGE_H
#define FPT_KEY_IMAGE_H

#include "fmgr.h"

/* Images of up to 8 bytes use lo only, hi is zero. */
typedef struct FPTImage
{
	uint64		hi;
	uint64		lo;
} FPTImage;

/* How values become images. */
typedef enum FPTKind
{
	FPT_IMG_S32,				/* int4, date */
	FPT_IMG_S64,				/* int8, money, time, timestamp, timestamptz */
	FPT_IMG_U32,				/* oid */
	FPT_IMG_U64,				/* xid8, pg_lsn */
	FPT_IMG_S16,				/* int2 */
	FPT_IMG_BOOL,
	FPT_IMG_CHAR,				/* "char": unsigned, as btree compares it */
	FPT_IMG_F4,
	FPT_IMG_F8,
	FPT_IMG_MAC6,				/* macaddr */
	FPT_IMG_MAC8,				/* macaddr8 */
	FPT_IMG_UUID
} FPTKind;

/*
 * A supported type, an entry of a static table.  It is recognised by the
 * comparison function of the operator class, never by the type alone: another
 * comparison function means another order.  Types of other OIDs that use the
 * function and are represented in the same way share the entry, so that typid
 * is what the function is for, not the column's.
 */
typedef struct FPTKeyType
{
	Oid			cmpproc;		/* support function 1 of the operator class */
	Oid			typid;			/* the type that it compares */
	FPTKind		kind;
	int16		keysize;		/* bytes of an image: 4, 8 or 16 */
	int16		typlen;			/* pg_type.typlen of the type */
	bool		typbyval;		/* pg_type.typbyval of the type */
	const char *name;
} FPTKeyType;

/* Room for a decoded value that is passed by reference. */
#define FPT_DECODE_BYTES	16

typedef union FPTDecoded
{
	char		buf[FPT_DECODE_BYTES];
	uint64		align;
} FPTDecoded;
#define FPT_SIGN32			UINT64CONST(0x80000000)
#define FPT_SIGN64			UINT64CONST(0x8000000000000000)

/*
 * Flipping the sign bit of a positive IEEE number and all bits of a negative
 * one sorts everything but the NaNs with the sign bit set, which come out
 * below -infinity.  Taking this number off (modulo 2^32 or 2^64) moves them,
 * and nothing else, to the upper end, where btree has all NaNs.
 */
#define FPT_F4_SHIFT		UINT64CONST(0x007FFFFF)
#define FPT_F8_SHIFT		UINT64CONST(0x000FFFFFFFFFFFFF)

/*
 * Entry of a type's operator class by support function 1, for an operator class
 * on type "typid".  NULL: none, or values of that type are not represented as
 * the function's argument type is.  The entry is constant.  Reads catalogues if
 * the type is another one than the function's; may raise if there is no such
 * type.
 */
extern const FPTKeyType *fpt_keytype_for(Oid cmpproc, Oid typid);

/* The kinds that fpt_image_encode() leaves to a function. */
extern void fpt_image_encode_slow(const FPTKeyType *type, Datum value,
								  FPTImage *img);

/*
 * The value of an ascending image.  Values passed by reference are written to
 * buf, which is as an FPTDecoded: FPT_DECODE_BYTES, aligned.  Any number makes
 * a Datum; bits that no value of the type sets are left out.  Allocates
 * nothing.
 */
extern Datum fpt_image_decode(const FPTKeyType *type, FPTImage img,
							  char *buf);

/*
 * How an ascending image and the value's bytes differ, where they hardly do.
 * 4, 8: the value is the machine's number of so many bytes, the image's lower
 * half with the bits in *flip the other way round.  16: its bytes are those of
 * the whole image, the highest first, and *flip is 0.  0: another kind.
 */
static inline int
fpt_image_value_bytes(const FPTKeyType *type, uint64 *flip)
{
	*flip = 0;
	switch (type->kind)
	{
		case FPT_IMG_S32:
			*flip = FPT_SIGN32;
			break;
		case FPT_IMG_S64:
			*flip = FPT_SIGN64;
			break;
		case FPT_IMG_U32:
		case FPT_IMG_U64:
		case FPT_IMG_UUID:
			break;
		default:
			return 0;
	}
	Assert(type->typlen == type->keysize);
	return type->typlen;
}

/*
 * The images, in the index's order, of all values that btree calls equal to
 * that of "img" (index's order, too): lo .. hi, img among them.
 */
extern void fpt_image_class(const FPTKeyType *type, bool descending,
							FPTImage img, FPTImage *lo, FPTImage *hi);

/*
 * Where the argument of a comparison lies among the ascending images of a type.
 * ge: the first image that is not less than the argument; le: the last one that
 * is not greater.  Where ge <= le, the images between are equal to the
 * argument; else none is.
 *
 * fuzzy: images below ge are less and images above le are greater than the
 * argument, but of those between nothing is known: they must be rechecked.
 * (Comparing a timestamp with a timestamptz is no monotone function of the
 * timestamp where the session's time zone skips an hour.)
 */
typedef struct FPTCut
{
	FPTImage	ge;
	FPTImage	le;
	bool		no_ge;			/* all images are less; ge means nothing */
	bool		no_le;			/* all images are greater; le means nothing */
	bool		fuzzy;
} FPTCut;

/*
 * Compute the cut of a type's images by an argument.  cmp is the operator
 * family's comparison function for (the type, the argument's type), NULL when
 * these are the same.  Where the pair is not known here that function is run,
 * as bisect() says, or the session's time zone asked: may raise, and no page
 * may be locked.  What the function allocates stays in the current context.
 */
extern void fpt_image_cut(const FPTKeyType *type, FmgrInfo *cmp,
						  Oid collation, Datum arg, FPTCut *cut);

/*
 * The same for an integer, whatever its type's width, of the type smallint,
 * integer or bigint, in the order of core.  Calls nothing, raises nothing.
 */
extern void fpt_image_cut_integer(const FPTKeyType *type, int64 arg,
								  FPTCut *cut);

/*
 * The ascending images lo .. hi that satisfy "key <strategy> argument" (for a
 * fuzzy cut: at least those); false if there are none.  Raises an error if the
 * strategy is none of btree's.
 */
extern bool fpt_cut_interval(const FPTKeyType *type, const FPTCut *cut,
							 int strategy, FPTImage *lo, FPTImage *hi);

/*
 * The images of a type's least and greatest value: some have fewer than bits.
 */
extern void fpt_image_limits(const FPTKeyType *type, FPTImage *min,
							 FPTImage *max);

static inline int
fpt_img_cmp(FPTImage a, FPTImage b)
{
	if (a.hi != b.hi)
		return a.hi < b.hi ? -1 : 1;
	if (a.lo != b.lo)
		return a.lo < b.lo ? -1 : 1;
	return 0;
}

/* The image of an integer of a signed kind, which is in the kind's range. */
static inline FPTImage
fpt_image_integer(const FPTKeyType *type, int64 v)
{
	FPTImage	img = {0, 0};

	Assert(type->kind == FPT_IMG_S16 || type->kind == FPT_IMG_S32 ||
		   type->kind == FPT_IMG_S64);
	Assert(type->keysize > 4 || (v >= PG_INT32_MIN && v <= PG_INT32_MAX));
	img.lo = type->keysize == 4 ? (uint32) v ^ (uint32) FPT_SIGN32 :
		(uint64) v ^ FPT_SIGN64;
	return img;
}

/* The largest number an image of this type can be. */
static inline FPTImage
fpt_image_max(const FPTKeyType *type)
{
	FPTImage	img;

	img.hi = type->keysize == 16 ? PG_UINT64_MAX : 0;
	img.lo = type->keysize == 4 ? PG_UINT32_MAX : PG_UINT64_MAX;
	return img;
}

/* Turn an ascending image into a descending one and back. */
static inline void
fpt_image_invert(const FPTKeyType *type, FPTImage *img)
{
	FPTImage	max = fpt_image_max(type);

	img->hi ^= max.hi;
	img->lo ^= max.lo;
}

/* Images of the bits of IEEE numbers, and back. */
static inline uint64
fpt_f4_image(uint32 bits)
{
	bits ^= (bits & (uint32) FPT_SIGN32) ? PG_UINT32_MAX : (uint32) FPT_SIGN32;
	return (uint32) (bits - (uint32) FPT_F4_SHIFT);
}

static inline uint64
fpt_f8_image(uint64 bits)
{
	bits ^= (bits & FPT_SIGN64) ? PG_UINT64_MAX : FPT_SIGN64;
	return bits - FPT_F8_SHIFT;
}

static inline uint32
fpt_f4_bits(uint64 image)
{
	uint32		bits = (uint32) image + (uint32) FPT_F4_SHIFT;

	return bits ^ ((bits & (uint32) FPT_SIGN32) ?
				   (uint32) FPT_SIGN32 : PG_UINT32_MAX);
}

static inline uint64
fpt_f8_bits(uint64 image)
{
	uint64		bits = image + FPT_F8_SHIFT;

	return bits ^ ((bits & FPT_SIGN64) ? FPT_SIGN64 : PG_UINT64_MAX);
}

/* The ascending image of a value. */
static inline void
fpt_image_encode(const FPTKeyType *type, Datum value, FPTImage *img)
{
	if (type->kind == FPT_IMG_S32)
	{
		img->hi = 0;
		img->lo = (uint32) DatumGetInt32(value) ^ (uint32) FPT_SIGN32;
	}
	else if (type->kind == FPT_IMG_S64)
	{
		img->hi = 0;
		img->lo = (uint64) DatumGetInt64(value) ^ FPT_SIGN64;
	}
	else
		fpt_image_encode_slow(type, value, img);
}

#endif							/* FPT_KEY_IMAGE_H */
