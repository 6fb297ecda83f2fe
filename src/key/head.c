/*-------------------------------------------------------------------------
 *
 * key/head.c
 *	  Heads: see key/head.h.
 *
 * Each kind has a code of up to 64 bits, left-aligned in a uint64, whose order
 * never contradicts that of the type's comparison function, and a rule that
 * tells from the code whether all values that have it are equal.  Cutting off
 * lower bits keeps the order, as it only makes different codes equal.
 *
 * The kinds are recognised by the comparison function, and those of strings by
 * the collation.  No code is known for
 *
 *  - collations other than "C" of the C library: strxfrm() does not agree with
 *	  strcoll() on all systems, nor do ICU's sort keys with its comparison,
 *	  which operators use, for all strings;
 *  - enums, whose order is in a catalog and can be changed there;
 *  - arrays, ranges, multiranges, records, tsquery and jsonb, whose comparison
 *	  begins with properties that take as long to find as the comparison itself,
 *	  or with elements of any type.
 *
 * Codes are stored on disk, so they do not depend on the server's version.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/socket.h>

#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "storage/itemptr.h"
#include "tsearch/ts_type.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/inet.h"
#include "utils/timestamp.h"
#include "utils/varbit.h"

#include "key/head.h"
#include "key/locale.h"
#include "server/compat.h"

/* --- bits ---------------------------------------------------------------- */

/* A number of "bits" bits, left-aligned. */
static inline uint64
left(uint64 code, int bits)
{
	Assert(bits > 0 && bits <= 64);
	Assert(bits == 64 || (code >> bits) == 0);
	return code << (64 - bits);
}

/* The upper "bits" bits of a number. */
static inline uint64
upper_bits(uint64 code, int bits)
{
	Assert(bits > 0 && bits <= 64);
	return code >> (64 - bits);
}

static inline uint64
lowmask(int bits)
{
	Assert(bits > 0 && bits <= 64);
	return PG_UINT64_MAX >> (64 - bits);
}

static inline int64
clamp(int64 v, int64 min, int64 max)
{
	return v < min ? min : v > max ? max : v;
}

/* --- numeric ------------------------------------------------------------- */

/*
 * The code of a numeric: 2^63 for zero, plus or minus a magnitude.  The
 * magnitude has the weight (power of 10000 of the first digit, 8 bits), the
 * first four digits of base 10000 as one number (54 bits) and one bit that says
 * whether there are more.  Numbers of more than about 500 decimal digits on
 * either side of the point share the codes at the ends.
 */
#define NUM_ZERO			(UINT64CONST(1) << 63)
#define NUM_NAN				((UINT64CONST(1) << 63) - 1)
#define NUM_INF				((UINT64CONST(1) << 63) - 2)
#define NUM_WEIGHT_SHIFT	55
#define NUM_WEIGHT_BIAS		128
#define NUM_HUGE			(UINT64CONST(255) << NUM_WEIGHT_SHIFT)
#define NUM_TINY			UINT64CONST(1)
#define NUM_DIGITS			4
#define NUM_BASE			10000

/*
 * The header word of a stored numeric: two bits of format, then either a scale
 * of 14 bits with the weight in a word of its own, or sign, scale and weight.
 */
#define NUM_FORMAT			0xC000
#define NUM_FORMAT_NEG		0x4000	/* two words, negative */
#define NUM_FORMAT_SHORT	0x8000	/* one word */
#define NUM_FORMAT_SPECIAL	0xC000
#define NUM_SPECIAL			0xF000
#define NUM_SPECIAL_PINF	0xD000
#define NUM_SPECIAL_NINF	0xF000
#define NUM_SHORT_NEG		0x2000
#define NUM_SHORT_WNEG		0x0040	/* the weight's sign */
#define NUM_SHORT_WEIGHT	0x003F

/*
 * Returns the magnitude of n digits, the first of which counts 10000 ^ weight:
 * 0 of zero, NUM_TINY and NUM_HUGE of what has no code of its own, else below
 * NUM_HUGE.  Digits are read one by one, since they need not be aligned, and
 * kept in 0 .. 9999, since a damaged page may have others.
 */
static uint64
numeric_magnitude(const char *data, int n, int weight)
{
	uint64		v = 0;
	int16		digit;
	int			i = 0;
	int			k = 0;
	bool		more = false;

	/* as they are stored there are no zeroes at the ends */
	for (; i < n; i++, weight--)
	{
		memcpy(&digit, data + i * sizeof(int16), sizeof(int16));
		if (digit != 0)
			break;
	}
	if (i >= n)
		return 0;
	weight += NUM_WEIGHT_BIAS;
	if (weight < 0)
		return NUM_TINY;
	if (weight >= 255)
		return NUM_HUGE;

	for (; i < n && !more; i++)
	{
		memcpy(&digit, data + i * sizeof(int16), sizeof(int16));
		if (k < NUM_DIGITS)
		{
			v = v * NUM_BASE + (uint64) clamp(digit, 0, NUM_BASE - 1);
			k++;
		}
		else
			more = (digit != 0);
	}
	for (; k < NUM_DIGITS; k++)
		v *= NUM_BASE;
	Assert(v < (UINT64CONST(1) << (NUM_WEIGHT_SHIFT - 1)));
	return ((uint64) weight << NUM_WEIGHT_SHIFT) | (v << 1) | (more ? 1 : 0);
}

/*
 * The code of a numeric: its sign, its weight and its first digits, as far as
 * 64 bits go.  NaN is above infinity.  The value may be toasted, and is then
 * detoasted in the current context and freed, which may raise.  Whatever bytes
 * it has there is a code: only the value's length says how many digits there
 * are.
 */
static uint64
numeric_code(Datum value)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	const char *p = VARDATA_ANY(v);
	int			len = VARSIZE_ANY_EXHDR(v);
	uint16		head = 0;
	int16		weight = 0;
	bool		negative;
	uint64		mag;

	if (len >= (int) sizeof(head))
		memcpy(&head, p, sizeof(head));
	if ((head & NUM_FORMAT) == NUM_FORMAT_SPECIAL)
	{
		if ((head & NUM_SPECIAL) == NUM_SPECIAL_PINF)
			mag = NUM_ZERO + NUM_INF;
		else if ((head & NUM_SPECIAL) == NUM_SPECIAL_NINF)
			mag = NUM_ZERO - NUM_INF;
		else
			mag = NUM_ZERO + NUM_NAN;
	}
	else
	{
		int			size = sizeof(head);

		if (head & NUM_FORMAT_SHORT)
		{
			negative = (head & NUM_SHORT_NEG) != 0;
			weight = head & NUM_SHORT_WEIGHT;
			if (head & NUM_SHORT_WNEG)
				weight -= NUM_SHORT_WEIGHT + 1;
		}
		else
		{
			negative = (head & NUM_FORMAT) == NUM_FORMAT_NEG;
			if (len >= size + (int) sizeof(weight))
				memcpy(&weight, p + size, sizeof(weight));
			size += sizeof(weight);
		}
		mag = numeric_magnitude(p + size,
								(len - size) / (int) sizeof(int16), weight);
		mag = negative ? NUM_ZERO - mag : NUM_ZERO + mag;
	}
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return mag;
}

/* Are all numerics with this code equal? */
static bool
numeric_sure(uint64 code)
{
	uint64		mag = code >= NUM_ZERO ? code - NUM_ZERO : NUM_ZERO - code;

	if (mag == 0 || mag == NUM_INF || mag == NUM_NAN)
		return true;
	return mag != NUM_TINY && mag < NUM_HUGE && (mag & 1) == 0;
}

/* --- other types --------------------------------------------------------- */

/* The first eight bytes; strings that are shorter end in zeroes. */
static inline uint64
bytes_code(const char *p, int len)
{
	uint64		code = 0;

	Assert(len >= 0);
	memcpy(&code, p, Min(len, (int) sizeof(code)));
	return pg_ntoh64(code);
}

/*
 * The code of a string of bytes: its first eight.  Of a toasted one no more
 * than these are read, but for bpchar, whose trailing blanks do not count.
 * What that takes is allocated in the current context, and freed.  Reading a
 * toasted value may raise.
 */
static uint64
varlena_code(FPTHeadKind kind, Datum value)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);
	const char *p;
	int			len;
	uint64		code;

	/* the blanks that bpchar must not count can be anywhere */
	if (kind == FPT_HEAD_BPCHAR)
		v = PG_DETOAST_DATUM_PACKED(value);
	else if (!fpt_varlena_is_plain(v))
		v = PG_DETOAST_DATUM_SLICE(value, 0, sizeof(uint64));
	p = VARDATA_ANY(v);
	len = VARSIZE_ANY_EXHDR(v);
	if (kind == FPT_HEAD_BPCHAR)
	{
		while (len > 0 && p[len - 1] == ' ')
			len--;
	}
	code = bytes_code(p, len);
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return code;
}

/*
 * The code of a bit string: its first 64 bits.  Bits after the last one are
 * zeroes, so that a string's code is not above that of one that it begins.  One
 * too short to have a length (a damaged value) has no bits.
 */
static uint64
bits_code(Datum value)
{
	VarBit	   *v = DatumGetVarBitP(value);
	uint64		code = bytes_code((char *) VARBITS(v),
								  Max(0, (int) VARBITBYTES(v)));

	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return code;
}

/*
 * Addresses are compared by the network, then by the length of its mask, then
 * as a whole.  IPv4: a zero, the network (32 bits), the mask's length (6), as
 * much as there is room for of the address within the network (25).  IPv6: a
 * one, and the network's first 63 bits.
 */
#define INET4_MASK_SHIFT	25
#define INET4_NET_SHIFT		31
#define INET4_HOST_BITS		25

/*
 * The code of an inet or cidr: IPv4 before IPv6, the network's bits, how many
 * these are, and of IPv4 the first of the host's.  Detoasts in the current
 * context, which may raise, and frees.  A mask longer than the address (a
 * damaged value) counts as 32.
 *
 * No shift is by the width of its operand: the host of a mask of 32 bits is
 * zero without one, and network bits are masked only where there are others.
 */
static uint64
inet_code(Datum value)
{
	struct varlena *v = PG_DETOAST_DATUM_PACKED(value);
	inet_struct in;
	uint64		code;
	int			bits;

	memset(&in, 0, sizeof(in));
	memcpy(&in, VARDATA_ANY(v), Min(VARSIZE_ANY_EXHDR(v), sizeof(in)));
	bits = in.bits;
	if (in.family == PGSQL_AF_INET)
	{
		uint32		addr = (uint32) (bytes_code((char *) in.ipaddr, 4) >> 32);
		uint32		host;

		bits = Min(bits, 32);
		host = bits >= 32 ? 0 : addr << bits;
		if (bits < 32)
			addr &= ~(PG_UINT32_MAX >> bits);
		code = ((uint64) addr << INET4_NET_SHIFT) |
			((uint64) bits << INET4_MASK_SHIFT) |
			(host >> (32 - INET4_HOST_BITS));
	}
	else
	{
		code = bytes_code((char *) in.ipaddr, 8);
		if (bits < 64)
			code &= ~(PG_UINT64_MAX >> bits);
		code = (code >> 1) | FPT_SIGN64;
	}
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return code;
}

/* IPv4, and the whole address is in the code? */
static inline bool
inet_sure(uint64 code)
{
	return (code & FPT_SIGN64) == 0 &&
		((code >> INET4_MASK_SHIFT) & 0x3F) >= 32 - INET4_HOST_BITS;
}

/* The address that a code stands for, which is sure; built in buf. */
static Datum
inet_value(uint64 code, char *buf)
{
	int			bits = (int) ((code >> INET4_MASK_SHIFT) & 0x3F);
	uint32		addr = (uint32) (code >> INET4_NET_SHIFT);
	uint64		host = (code & lowmask(INET4_HOST_BITS)) <<
	(32 - INET4_HOST_BITS);
	inet	   *in = (inet *) buf;

	Assert(inet_sure(code));
	memset(in, 0, VARHDRSZ + 2);
	SET_VARSIZE(in, VARHDRSZ + 2 + 4);
	in->inet_data.family = PGSQL_AF_INET;
	in->inet_data.bits = (unsigned char) bits;
	addr = pg_hton32(addr | (uint32) (host >> bits));
	memcpy(in->inet_data.ipaddr, &addr, 4);
	return PointerGetDatum(buf);
}

/*
 * Intervals are compared by their length in microseconds, a month counting 30
 * days.  That can be more than 64 bits hold: intervals of more than 292,000
 * years share the codes at the ends.
 */
#define INTERVAL_MAX_DAYS	(PG_INT64_MAX / USECS_PER_DAY - 1)

/*
 * The code of an interval: its microseconds, as comparisons count them (a month
 * has 30 days), cut off where 64 bits do not have them.  Fields of a struct on
 * a page need not be aligned, hence the copy.  The sum of months and days is
 * below 2^37, and cannot overflow.
 */
static uint64
interval_code(Datum value)
{
	Interval	in;
	int64		days;
	int64		rest;
	int64		span;

	memcpy(&in, DatumGetPointer(value), sizeof(in));
	days = (int64) in.month * DAYS_PER_MONTH + in.day + in.time / USECS_PER_DAY;
	rest = in.time % USECS_PER_DAY;
	if (rest < 0)
	{
		rest += USECS_PER_DAY;
		days--;
	}
	if (days > INTERVAL_MAX_DAYS)
		span = PG_INT64_MAX;
	else if (days < -INTERVAL_MAX_DAYS)
		span = PG_INT64_MIN;
	else
		span = days * USECS_PER_DAY + rest;
	return (uint64) span ^ FPT_SIGN64;
}

static inline bool
interval_sure(uint64 code)
{
	return code != 0 && code != PG_UINT64_MAX;
}

/*
 * timetz: the time in UTC, made positive (38 bits), then the zone, likewise (18
 * bits).
 */
#define TIMETZ_ZONE_BITS	18
#define TIMETZ_BITS			(38 + TIMETZ_ZONE_BITS)
#define TIMETZ_ZONE_BIAS	(INT64CONST(1) << 17)
#define TIMETZ_TIME_BIAS	(INT64CONST(1) << 36)

/*
 * The code of a timetz.  Its fields are within the ranges of the type, or made
 * so: no other value would fit the bits.
 */
static uint64
timetz_code(Datum value)
{
	TimeTzADT	t;
	int64		zone;
	int64		utc;
	const char *p = (const char *) DatumGetPointer(value);

	/* the struct's size is more than the type's */
	memcpy(&t.time, p, sizeof(t.time));
	memcpy(&t.zone, p + offsetof(TimeTzADT, zone), sizeof(t.zone));
	zone = clamp(t.zone, -TZDISP_LIMIT, TZDISP_LIMIT);
	utc = clamp(t.time, 0, USECS_PER_DAY) + zone * USECS_PER_SEC;
	return left(((uint64) (utc + TIMETZ_TIME_BIAS) << TIMETZ_ZONE_BITS) |
				(uint64) (zone + TIMETZ_ZONE_BIAS), TIMETZ_BITS);
}

/*
 * The timetz of a code, in buf, which has 12 bytes at least and the alignment
 * of an int64.
 */
static Datum
timetz_value(uint64 code, char *buf)
{
	TimeTzADT  *t = (TimeTzADT *) buf;

	code = upper_bits(code, TIMETZ_BITS);
	t->zone = (int32) ((int64) (code & lowmask(TIMETZ_ZONE_BITS)) -
					   TIMETZ_ZONE_BIAS);
	t->time = (int64) (code >> TIMETZ_ZONE_BITS) - TIMETZ_TIME_BIAS -
		t->zone * USECS_PER_SEC;
	return PointerGetDatum(buf);
}

#define TID_BITS			48

/* The code of a TID: block, then offset, both as they are. */
static uint64
tid_code(Datum value)
{
	ItemPointer tid = (ItemPointer) DatumGetPointer(value);

	return left(((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) |
				ItemPointerGetOffsetNumberNoCheck(tid), TID_BITS);
}

/*
 * The number of elements, then the first one.  Of a damaged value only what its
 * length says is there.
 */
static uint64
oidvector_code(Datum value)
{
	oidvector  *v = (oidvector *) DatumGetPointer(value);
	Size		size = VARSIZE(v);
	uint64		code = 0;

	if (size >= offsetof(oidvector, values))
		code = (uint64) (uint32) v->dim1 << 32;
	if (size >= offsetof(oidvector, values) + sizeof(Oid) && v->dim1 > 0)
		code |= v->values[0];
	return code;
}

/*
 * tsvectors: the size in bytes, then the number of lexemes, none if a damaged
 * value is too short to tell.
 */
static uint64
tsvector_code(Datum value)
{
	TSVector	v = DatumGetTSVector(value);
	uint64		code = (uint64) VARSIZE(v) << 32;

	if (VARSIZE(v) >= DATAHDRSIZE)
		code |= (uint32) v->size;

	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return code;
}

/* --- images -------------------------------------------------------------- */

/* Bits of the code of an image type; 128: only the first 64 are used. */
static int
image_bits(const FPTKeyType *type)
{
	switch (type->kind)
	{
		case FPT_IMG_BOOL:
			return 2;
		case FPT_IMG_CHAR:
			return 9;
		case FPT_IMG_S16:
			return 16;
		case FPT_IMG_MAC6:
			return 48;
		default:
			return type->keysize * 8;
	}
}

/* What to add to an image for a code of as few bits as possible. */
static inline uint64
image_bias(const FPTKeyType *type)
{
	switch (type->kind)
	{
		case FPT_IMG_BOOL:
		case FPT_IMG_CHAR:
			return 1;			/* no value shares its code with NULL */
		case FPT_IMG_S16:
			return (uint64) -(int64) (FPT_SIGN32 + PG_INT16_MIN);
		default:
			return 0;
	}
}

/* The code that equal images are made, see FPTKeyType. */
static inline uint64
float_zero(const FPTKeyType *type)
{
	Assert(type->kind == FPT_IMG_F4 || type->kind == FPT_IMG_F8);
	return type->kind == FPT_IMG_F4 ? fpt_f4_image(0) : fpt_f8_image(0);
}

/*
 * The code of a value that has an image: the image, its width in the upper
 * bits.  Values that are equal but not alike have the same code: of a class the
 * last image (fpt_image_class()).  Of a uuid, with 128 bits, the upper half.
 */
static uint64
image_code(const FPTHeadPart *part, Datum value)
{
	const FPTKeyType *type = part->type;
	int			bits = image_bits(type);
	FPTImage	img;

	Assert(part->kind == FPT_HEAD_IMAGE || part->kind == FPT_HEAD_FLOAT);
	fpt_image_encode(type, value, &img);
	if (part->kind == FPT_HEAD_FLOAT)
	{
		FPTImage	lo;
		FPTImage	hi;

		/* of the zeroes the positive one, of the NaNs the largest image */
		fpt_image_class(type, false, img, &lo, &hi);
		img = hi;
	}
	if (bits > 64)
		return img.hi;
	return left((img.lo + image_bias(type)) & lowmask(bits), bits);
}

/*
 * The value of a code, where that is all of an image; in buf if passed by
 * reference.
 */
static Datum
image_value(const FPTHeadPart *part, uint64 code, char *buf)
{
	FPTImage	img;

	Assert(part->kind == FPT_HEAD_IMAGE || part->kind == FPT_HEAD_FLOAT);
	Assert(part->whole && part->type->keysize <= (int) sizeof(uint64));
	img.hi = 0;
	img.lo = upper_bits(code, image_bits(part->type)) - image_bias(part->type);
	return fpt_image_decode(part->type, img, buf);
}

/* --- parts --------------------------------------------------------------- */

/*
 * How heads are made of a column with this comparison function; *type: of what
 * has images, else NULL.  FPT_HEAD_NONE: there is no code that has the order.
 * Looks at collations only for functions that use them, which reads catalogues,
 * and may raise.
 */
static FPTHeadKind
head_kind(Oid cmpproc, Oid typid, Oid collation, const FPTKeyType **type)
{
	*type = fpt_keytype_for(cmpproc, typid);
	if (*type != NULL)
		return (*type)->kind == FPT_IMG_F4 || (*type)->kind == FPT_IMG_F8 ?
			FPT_HEAD_FLOAT : FPT_HEAD_IMAGE;
	switch (cmpproc)
	{
		case F_BTTEXTCMP:
			return fpt_collation_is_c(collation) ? FPT_HEAD_TEXT :
				FPT_HEAD_NONE;
		case F_BPCHARCMP:
			return fpt_collation_is_c(collation) ? FPT_HEAD_BPCHAR :
				FPT_HEAD_NONE;
		case F_BTNAMECMP:
			return fpt_collation_is_c(collation) ? FPT_HEAD_NAME :
				FPT_HEAD_NONE;
		case F_BTTEXT_PATTERN_CMP:
			return FPT_HEAD_TEXT;
		case F_BTBPCHAR_PATTERN_CMP:
			return FPT_HEAD_BPCHAR;
		case F_BYTEACMP:
			return FPT_HEAD_BYTEA;
		case F_BITCMP:
		case F_VARBITCMP:
			return FPT_HEAD_BITS;
		case F_NUMERIC_CMP:
			return FPT_HEAD_NUMERIC;
		case F_NETWORK_CMP:
			return FPT_HEAD_INET;
		case F_INTERVAL_CMP:
			return FPT_HEAD_INTERVAL;
		case F_TIMETZ_CMP:
			return FPT_HEAD_TIMETZ;
		case F_BTTIDCMP:
			return FPT_HEAD_TID;
		case F_BTOIDVECTORCMP:
			return FPT_HEAD_OIDVECTOR;
		case F_TSVECTOR_CMP:
			return FPT_HEAD_TSVECTOR;
		default:
			return FPT_HEAD_NONE;
	}
}

/*
 * Returns how many bits of a kind's code matter; *whole: these are all there
 * is, so that another part may follow.  Strings never are: the code does not
 * say where they end but by a zero.
 */
static int
code_bits(const FPTHeadPart *part, bool *whole)
{
	int			bits = 64;

	Assert(part->kind != FPT_HEAD_NONE);
	*whole = true;
	switch (part->kind)
	{
		case FPT_HEAD_IMAGE:
		case FPT_HEAD_FLOAT:
			bits = image_bits(part->type);
			*whole = bits <= 64;
			return Min(bits, 64);
		case FPT_HEAD_TIMETZ:
			return TIMETZ_BITS;
		case FPT_HEAD_TID:
			return TID_BITS;
		case FPT_HEAD_NUMERIC:
		case FPT_HEAD_INET:
		case FPT_HEAD_INTERVAL:
			return bits;
		default:
			*whole = false;
			return bits;
	}
}

/*
 * Returns a value's code, in ascending order, left-aligned; the value may be
 * toasted, and reading it may raise.  What is allocated is freed.
 */
static uint64
value_code(const FPTHeadPart *part, Datum value)
{
	Assert(part->kind != FPT_HEAD_NONE);

	/* Interrupts are held off while a page is locked: rule L10. */
	Assert(part->kind != FPT_HEAD_BPCHAR || InterruptHoldoffCount == 0 ||
		   !fpt_head_is_long(value));
	switch (part->kind)
	{
		case FPT_HEAD_IMAGE:
		case FPT_HEAD_FLOAT:
			return image_code(part, value);
		case FPT_HEAD_TEXT:
		case FPT_HEAD_BPCHAR:
		case FPT_HEAD_BYTEA:
			return varlena_code(part->kind, value);
		case FPT_HEAD_NAME:
			{
				const char *s = DatumGetCString(value);

				return bytes_code(s, (int) strnlen(s, sizeof(uint64)));
			}
		case FPT_HEAD_BITS:
			return bits_code(value);
		case FPT_HEAD_NUMERIC:
			return numeric_code(value);
		case FPT_HEAD_INET:
			return inet_code(value);
		case FPT_HEAD_INTERVAL:
			return interval_code(value);
		case FPT_HEAD_TIMETZ:
			return timetz_code(value);
		case FPT_HEAD_TID:
			return tid_code(value);
		case FPT_HEAD_OIDVECTOR:
			return oidvector_code(value);
		case FPT_HEAD_TSVECTOR:
			return tsvector_code(value);
		case FPT_HEAD_NONE:
			break;
	}
	return 0;
}

/* A column's code in a head, ascending; missing lower bits are zeroes. */
static inline uint64
part_code(const FPTHeadPart *part, uint64 head)
{
	uint64		code = (head >> part->shift) & lowmask(part->bits);

	Assert(part->shift + part->bits <= 64);
	if (part->descending)
		code ^= lowmask(part->bits);
	return left(code, part->bits);
}

/* For all that the head says, may column i be NULL?  The first one is not. */
static inline bool
maybe_null(const FPTHeadDesc *hd, int i, uint64 head)
{
	const FPTHeadPart *part = &hd->part[i];
	uint64		rest = lowmask(part->shift + part->bits);

	Assert(i >= 0 && i < hd->nparts);
	return i > 0 && (head & rest) == (part->nullsfirst ? 0 : rest);
}

/*
 * Are all values that have this code equal?  The code may be cut off: then its
 * lower bits are zeroes, and only strings that end before can be sure.
 */
static bool
code_sure(const FPTHeadPart *part, uint64 code)
{
	int			nbytes = part->bits / 8;

	switch (part->kind)
	{
		case FPT_HEAD_TEXT:
		case FPT_HEAD_BPCHAR:
		case FPT_HEAD_NAME:
			/* these contain no zeroes, so that one must stand for the end */
			return nbytes > 0 && (upper_bits(code, nbytes * 8) & 0xFF) == 0;
		case FPT_HEAD_NUMERIC:
			return part->whole && numeric_sure(code);
		case FPT_HEAD_INET:
			return part->whole && inet_sure(code);
		case FPT_HEAD_INTERVAL:
			return part->whole && interval_sure(code);
		default:
			return part->whole;
	}
}

/* --- interface ----------------------------------------------------------- */

bool
fpt_head_known(Oid cmpproc, Oid typid)
{
	const FPTKeyType *type;

	return head_kind(cmpproc, typid, InvalidOid, &type) != FPT_HEAD_NONE;
}

bool
fpt_head_is_bytes(Oid cmpproc, Oid collation)
{
	return cmpproc == F_BYTEACMP || cmpproc == F_BTTEXT_PATTERN_CMP ||
		(cmpproc == F_BTTEXTCMP && fpt_collation_is_c(collation));
}

/*
 * See key/head.h.  A part has the room that the parts before have left, if the
 * last one is whole.  FPT_HEAD_MAXPARTS is enough for all: a part takes two
 * bits at least.
 */
bool
fpt_head_add(FPTHeadDesc *hd, Oid cmpproc, Oid typid, Oid collation,
			 int16 options)
{
	FPTHeadPart *part = &hd->part[hd->nparts];
	int			room = 64;
	int			bits;

	Assert(hd->nparts >= 0 && hd->nparts <= FPT_HEAD_MAXPARTS);
	if (hd->nparts > 0)
		room = part[-1].whole ? part[-1].shift : 0;
	if (room == 0 || hd->nparts >= FPT_HEAD_MAXPARTS)
		return false;

	part->kind = head_kind(cmpproc, typid, collation, &part->type);
	if (part->kind == FPT_HEAD_NONE)
		return false;
	bits = code_bits(part, &part->whole);
	if (bits > room)
	{
		bits = room;
		part->whole = false;
	}
	part->bits = (uint8) bits;
	part->shift = (uint8) (room - bits);
	Assert(part->bits > 0 && part->shift + part->bits <= room);
	part->descending = (options & INDOPTION_DESC) != 0;
	part->nullsfirst = (options & INDOPTION_NULLS_FIRST) != 0;
	hd->nparts++;
	return true;
}

/*
 * Returns the head of at most the first n columns, the bits that these leave
 * open as zeroes; *rest: how many those are.  After a NULL none are: the bits
 * behind it are all zeroes or all ones, whatever follows.  May raise, as
 * value_code().
 */
static inline uint64
form_prefix(const FPTHeadDesc *hd, const Datum *values, const bool *isnull,
			int n, const uint64 *known, int *rest)
{
	uint64		head = 0;

	Assert(n >= 0 && n <= hd->nparts);
	*rest = 64;
	for (int i = 0; i < n; i++)
	{
		const FPTHeadPart *part = &hd->part[i];
		uint64		code;

		Assert(part->shift + part->bits <= *rest);
		if (isnull[i])
		{
			if (!part->nullsfirst)
				head |= lowmask(part->shift + part->bits);
			*rest = 0;
			return head;
		}
		if (unlikely(known != NULL && i == hd->nparts - 1))
			code = *known;
		else
			code = value_code(part, values[i]);
		code = upper_bits(code, part->bits);
		if (part->descending)
			code ^= lowmask(part->bits);
		head |= code << part->shift;
		*rest = part->shift;
	}
	return head;
}

void
fpt_head_prefix(const FPTHeadDesc *hd, const Datum *values,
				const bool *isnull, int n, const uint64 *known, uint64 *min,
				uint64 *max)
{
	int			rest;

	*min = *max = form_prefix(hd, values, isnull, Min(n, hd->nparts), known,
							  &rest);
	/* behind the last part there is nothing but zeroes */
	if (n < hd->nparts && rest > 0)
		*max |= lowmask(rest);
}

int
fpt_head_long_column(const FPTHeadDesc *hd)
{
	int			last = hd->nparts - 1;

	return last >= 0 && hd->part[last].kind == FPT_HEAD_BPCHAR ? last : -1;
}

uint64
fpt_head_code(const FPTHeadDesc *hd, int i, Datum value)
{
	Assert(i >= 0 && i < hd->nparts);
	return value_code(&hd->part[i], value);
}

/*
 * See key/head.h.  Where the head may be that of a NULL, nothing is decided
 * from there on: a value can have the same bits.
 */
int
fpt_head_decided(const FPTHeadDesc *hd, uint64 head)
{
	int			i;

	for (i = 0; i < hd->nparts; i++)
	{
		if (maybe_null(hd, i, head) ||
			!code_sure(&hd->part[i], part_code(&hd->part[i], head)))
			break;
	}
	return i;
}

/*
 * See key/head.h.  Not numerics, intervals and tsvectors, whose code leaves out
 * how a value is displayed; of floats those that are equal to no other, of inet
 * the IPv4 addresses of which the code has all bits.
 */
FPTRestores
fpt_head_restoring(const FPTHeadDesc *hd, int i)
{
	const FPTHeadPart *part = &hd->part[i];

	if (i >= hd->nparts || !part->whole)
		return FPT_RESTORES_NEVER;
	switch (part->kind)
	{
		case FPT_HEAD_IMAGE:
		case FPT_HEAD_TIMETZ:
		case FPT_HEAD_TID:
			return FPT_RESTORES_ALL;
		case FPT_HEAD_FLOAT:
		case FPT_HEAD_INET:
			return FPT_RESTORES_SOME;
		default:
			return FPT_RESTORES_NEVER;
	}
}

/*
 * See key/head.h.  Asked for each value of an index-only scan:
 * fpt_head_restoring() is asked once (FPTColumn.restores), this only where it
 * depends on the head.
 */
bool
fpt_head_restores(const FPTHeadDesc *hd, int i, uint64 head)
{
	const FPTHeadPart *part = &hd->part[i];
	FPTRestores how = fpt_head_restoring(hd, i);
	uint64		code;

	if (how != FPT_RESTORES_SOME)
		return how == FPT_RESTORES_ALL;
	code = part_code(part, head);
	if (part->kind == FPT_HEAD_INET)
		return inet_sure(code);
	code = upper_bits(code, part->bits);
	return code != float_zero(part->type) && code != lowmask(part->bits);
}

/* See key/head.h.  Called only where fpt_head_restores() is true. */
Datum
fpt_head_value(const FPTHeadDesc *hd, int i, uint64 head, char *buf)
{
	const FPTHeadPart *part = &hd->part[i];
	uint64		code;

	Assert(fpt_head_restores(hd, i, head));
	code = part_code(part, head);
	switch (part->kind)
	{
		case FPT_HEAD_TIMETZ:
			return timetz_value(code, buf);
		case FPT_HEAD_TID:
			code = upper_bits(code, TID_BITS);
			ItemPointerSet((ItemPointer) buf, (BlockNumber) (code >> 16),
						   (OffsetNumber) (code & 0xFFFF));
			return PointerGetDatum(buf);
		case FPT_HEAD_INET:
			return inet_value(code, buf);
		default:
			return image_value(part, code, buf);
	}
}

/*
 * See key/head.h.  Whole bytes only: bits of a byte are no prefix to compare.
 */
int
fpt_head_nbytes(const FPTHeadDesc *hd, int i)
{
	const FPTHeadPart *part = &hd->part[i];

	if (i >= hd->nparts)
		return 0;
	switch (part->kind)
	{
		case FPT_HEAD_TEXT:
		case FPT_HEAD_BPCHAR:
		case FPT_HEAD_NAME:
		case FPT_HEAD_BYTEA:
			return part->bits / 8;
		case FPT_HEAD_IMAGE:
			return part->type->kind == FPT_IMG_UUID ? part->bits / 8 : 0;
		default:
			return 0;
	}
}

/*
 * See key/head.h.  Blanks that bpchar leaves out of its code are put back:
 * within the string no zero can be meant.
 */
void
fpt_head_bytes(const FPTHeadDesc *hd, int i, uint64 head, char *bytes)
{
	const FPTHeadPart *part = &hd->part[i];
	uint64		code = pg_hton64(part_code(part, head));

	Assert(fpt_head_nbytes(hd, i) > 0);
	memcpy(bytes, &code, fpt_head_nbytes(hd, i));
	if (part->kind == FPT_HEAD_BPCHAR)
	{
		for (int k = 0; k < part->bits / 8; k++)
		{
			if (bytes[k] == '\0')
				bytes[k] = ' ';
		}
	}
}
