/*-------------------------------------------------------------------------
 *
 * key/image.c
 *	  Key images: encoding, decoding, and where the argument of a comparison
 *	  lies among them.
 *
 * The order of the images is that of btree's comparison functions, refined; see
 * key/image.h.  A comparison with a value of another type ("cross-type") cuts
 * the images of the column's type in two or three parts.  For the pairs of
 * types that the built-in operator families have, the cut is computed; for any
 * other pair it is found by bisection with the family's comparison function.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "pgtime.h"
#include "port/pg_bswap.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "key/image.h"

/* 8-byte types are passed by value where a Datum has room for them. */
#define FPT_BYVAL8			(sizeof(Datum) >= 8)

static const FPTKeyType fpt_keytypes[] = {
	{F_BTINT4CMP, INT4OID, FPT_IMG_S32, 4, 4, true, "integer"},
	{F_BTINT8CMP, INT8OID, FPT_IMG_S64, 8, 8, FPT_BYVAL8, "bigint"},
	{F_BTINT2CMP, INT2OID, FPT_IMG_S16, 4, 2, true, "smallint"},
	{F_BTOIDCMP, OIDOID, FPT_IMG_U32, 4, 4, true, "oid"},
	{F_XID8CMP, XID8OID, FPT_IMG_U64, 8, 8, FPT_BYVAL8, "xid8"},
	{F_BTFLOAT4CMP, FLOAT4OID, FPT_IMG_F4, 4, 4, true, "real"},
	{F_BTFLOAT8CMP, FLOAT8OID, FPT_IMG_F8, 8, 8, FPT_BYVAL8,
	"double precision"},
	{F_BTBOOLCMP, BOOLOID, FPT_IMG_BOOL, 4, 1, true, "boolean"},
	{F_BTCHARCMP, CHAROID, FPT_IMG_CHAR, 4, 1, true, "\"char\""},
	{F_CASH_CMP, MONEYOID, FPT_IMG_S64, 8, 8, FPT_BYVAL8, "money"},
	{F_DATE_CMP, DATEOID, FPT_IMG_S32, 4, 4, true, "date"},
	{F_TIME_CMP, TIMEOID, FPT_IMG_S64, 8, 8, FPT_BYVAL8, "time"},
	{F_TIMESTAMP_CMP, TIMESTAMPOID, FPT_IMG_S64, 8, 8, FPT_BYVAL8,
	"timestamp"},
	{F_TIMESTAMPTZ_CMP, TIMESTAMPTZOID, FPT_IMG_S64, 8, 8, FPT_BYVAL8,
	"timestamp with time zone"},
	{F_UUID_CMP, UUIDOID, FPT_IMG_UUID, 16, 16, false, "uuid"},
	{F_MACADDR_CMP, MACADDROID, FPT_IMG_MAC6, 8, 6, false, "macaddr"},
	{F_MACADDR8_CMP, MACADDR8OID, FPT_IMG_MAC8, 8, 8, false, "macaddr8"},
	{F_PG_LSN_CMP, PG_LSNOID, FPT_IMG_U64, 8, 8, FPT_BYVAL8, "pg_lsn"},
};

/* Finite dates and timestamps: first, and first after the last. */
#define FPT_DATE_MIN		(DATETIME_MIN_JULIAN - POSTGRES_EPOCH_JDATE)
#define FPT_DATE_END		(DATE_END_JULIAN - POSTGRES_EPOCH_JDATE)
#define FPT_DATE_TSEND		(TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)

/*
 * Local time and UTC never differ by this much: a POSIX time zone
 * specification allows just under 168 hours.
 */
#define FPT_TZ_DAYS			8
#define FPT_TZ_USECS		(FPT_TZ_DAYS * USECS_PER_DAY)

StaticAssertDecl(PG_INT64_MAX - END_TIMESTAMP > FPT_TZ_USECS,
				 "a finite timestamp plus FPT_TZ_USECS must not overflow");

/* Most places where the rule for a local time can change, see tz_breaks(). */
#define FPT_MAX_BREAKS		64

/* --- the types ----------------------------------------------------------- */

const FPTKeyType *
fpt_keytype_for(Oid cmpproc, Oid typid)
{
	const FPTKeyType *type = fpt_keytypes;
	int16		typlen;
	bool		typbyval;

	while (type->cmpproc != cmpproc)
	{
		if (++type == fpt_keytypes + lengthof(fpt_keytypes))
			return NULL;
	}
	if (type->typid == typid)
		return type;

	/* An operator class on, say, regclass that uses btoidcmp is welcome. */
	get_typlenbyval(typid, &typlen, &typbyval);
	if (typlen != type->typlen || typbyval != type->typbyval)
		return NULL;
	return type;
}

/* --- encoding and decoding ----------------------------------------------- */

static inline FPTImage
image64(uint64 lo)
{
	FPTImage	img;

	img.hi = 0;
	img.lo = lo;
	return img;
}

/* Big-endian numbers of 6 or 8 bytes. */
static inline uint64
load_be(const char *p, int bytes)
{
	uint64		v = 0;

	Assert(bytes > 0 && bytes <= (int) sizeof(v));
	memcpy((char *) &v + (sizeof(v) - bytes), p, bytes);
	return pg_ntoh64(v);
}

static inline void
store_be(char *p, uint64 v, int bytes)
{
	Assert(bytes > 0 && bytes <= (int) sizeof(v));
	v = pg_hton64(v);
	memcpy(p, (char *) &v + (sizeof(v) - bytes), bytes);
}

static inline uint32
float4_bits(float4 f)
{
	uint32		bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static inline uint64
float8_bits(float8 f)
{
	uint64		bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/*
 * A Datum of the 8-byte kinds, without palloc where they are by reference.
 * Floats come here as bits, too: going through a floating-point register could
 * change a signalling NaN.
 */
static inline Datum
datum64(uint64 v, char *buf)
{
	if (FPT_BYVAL8)
		return Int64GetDatum((int64) v);
	memcpy(buf, &v, sizeof(v));
	return PointerGetDatum(buf);
}

/*
 * See key/image.h.  Floats are taken as their bits, and DatumGetInt64() of a
 * type passed by reference where a Datum is narrow reads it.  The image is
 * within the type's keysize: upper bits are zero.
 */
void
fpt_image_encode_slow(const FPTKeyType *type, Datum value, FPTImage *img)
{
	const char *p = (const char *) DatumGetPointer(value);

	img->hi = 0;
	switch (type->kind)
	{
		case FPT_IMG_S32:
			img->lo = (uint32) DatumGetInt32(value) ^ (uint32) FPT_SIGN32;
			break;
		case FPT_IMG_S64:
			img->lo = (uint64) DatumGetInt64(value) ^ FPT_SIGN64;
			break;
		case FPT_IMG_U32:
			img->lo = DatumGetUInt32(value);
			break;
		case FPT_IMG_U64:
			img->lo = (uint64) DatumGetInt64(value);
			break;
		case FPT_IMG_S16:
			img->lo = (uint32) (int32) DatumGetInt16(value) ^
				(uint32) FPT_SIGN32;
			break;
		case FPT_IMG_BOOL:
			img->lo = DatumGetBool(value) ? 1 : 0;
			break;
		case FPT_IMG_CHAR:
			img->lo = (unsigned char) DatumGetChar(value);
			break;
		case FPT_IMG_F4:
			img->lo = fpt_f4_image((uint32) DatumGetInt32(value));
			break;
		case FPT_IMG_F8:
			img->lo = fpt_f8_image((uint64) DatumGetInt64(value));
			break;
		case FPT_IMG_MAC6:
			img->lo = load_be(p, 6);
			break;
		case FPT_IMG_MAC8:
			img->lo = load_be(p, 8);
			break;
		case FPT_IMG_UUID:
			img->hi = load_be(p, 8);
			img->lo = load_be(p + 8, 8);
			break;
	}
	Assert(fpt_img_cmp(*img, fpt_image_max(type)) <= 0);
}

/*
 * See key/image.h.  The reverse of fpt_image_encode(), to the bit: an
 * index-only scan returns NaNs and zeroes as they were stored.
 */
Datum
fpt_image_decode(const FPTKeyType *type, FPTImage img, char *buf)
{
	switch (type->kind)
	{
		case FPT_IMG_S32:
			return Int32GetDatum((int32) ((uint32) img.lo ^
										  (uint32) FPT_SIGN32));
		case FPT_IMG_S64:
			return datum64(img.lo ^ FPT_SIGN64, buf);
		case FPT_IMG_U32:
			/* extended to a Datum as fetch_att() does it */
			return Int32GetDatum((int32) (uint32) img.lo);
		case FPT_IMG_U64:
			return datum64(img.lo, buf);
		case FPT_IMG_S16:
			return Int16GetDatum((int16) (uint16) img.lo);
		case FPT_IMG_BOOL:
			return BoolGetDatum(img.lo != 0);
		case FPT_IMG_CHAR:
			return CharGetDatum((char) (unsigned char) img.lo);
		case FPT_IMG_F4:
			return Int32GetDatum((int32) fpt_f4_bits(img.lo));
		case FPT_IMG_F8:
			return datum64(fpt_f8_bits(img.lo), buf);
		case FPT_IMG_MAC6:
			store_be(buf, img.lo, 6);
			return PointerGetDatum(buf);
		case FPT_IMG_MAC8:
			store_be(buf, img.lo, 8);
			return PointerGetDatum(buf);
		case FPT_IMG_UUID:
			store_be(buf, img.hi, 8);
			store_be(buf + 8, img.lo, 8);
			return PointerGetDatum(buf);
	}
	pg_unreachable();
}

/*
 * The class of an ascending image: lo .. hi, itself among them.  Of other types
 * than floats it is alone in it; of floats there are two classes of several
 * images, the zeroes (two neighbours) and the NaNs (all above infinity).
 */
static void
ascending_class(const FPTKeyType *type, FPTImage img, FPTImage *from,
				FPTImage *to)
{
	uint64		zero;			/* image of -0.0; that of 0.0 is the next */
	uint64		inf;			/* image of infinity; NaNs are above */

	*from = *to = img;
	if (type->kind == FPT_IMG_F4)
	{
		zero = fpt_f4_image(float4_bits(-0.0f));
		inf = fpt_f4_image(float4_bits(INFINITY));
	}
	else if (type->kind == FPT_IMG_F8)
	{
		zero = fpt_f8_image(float8_bits(-0.0));
		inf = fpt_f8_image(float8_bits(INFINITY));
	}
	else
		return;

	if (img.lo > inf)
	{
		from->lo = inf + 1;
		*to = fpt_image_max(type);
	}
	else if (img.lo == zero || img.lo == zero + 1)
	{
		from->lo = zero;
		to->lo = zero + 1;
	}
}

void
fpt_image_class(const FPTKeyType *type, bool descending, FPTImage img,
				FPTImage *lo, FPTImage *hi)
{
	if (!descending)
		ascending_class(type, img, lo, hi);
	else
	{
		fpt_image_invert(type, &img);
		ascending_class(type, img, hi, lo);
		fpt_image_invert(type, lo);
		fpt_image_invert(type, hi);
	}
}

/* --- cuts: numbers ------------------------------------------------------- */

static inline FPTImage
image_next(FPTImage img)
{
	img.lo++;
	img.hi += (img.lo == 0);
	return img;
}

static inline FPTImage
image_prev(FPTImage img)
{
	img.hi -= (img.lo == 0);
	img.lo--;
	return img;
}

/*
 * The cut by the class of "img" itself (dir = 0), or by a value between that
 * class and the next images above (dir > 0) or below (dir < 0), of which there
 * are some.  Sets ge and le of *cut, whose flags stay clear.
 */
static void
cut_at_class(const FPTKeyType *type, FPTImage img, int dir, FPTCut *cut)
{
	FPTImage	lo;
	FPTImage	hi;

	ascending_class(type, img, &lo, &hi);
	if (dir == 0)
	{
		cut->ge = lo;
		cut->le = hi;
	}
	else if (dir > 0)
	{
		Assert(fpt_img_cmp(hi, fpt_image_max(type)) < 0);
		cut->le = hi;
		cut->ge = image_next(hi);
	}
	else
	{
		Assert(lo.hi > 0 || lo.lo > 0);
		cut->ge = lo;
		cut->le = image_prev(lo);
	}
}

/*
 * See key/image.h.  An argument beyond the type's range is above or below all
 * images.
 */
void
fpt_image_cut_integer(const FPTKeyType *type, int64 arg, FPTCut *cut)
{
	int64		max = PG_INT64_MAX >> (64 - 8 * type->typlen);	/* the type's */

	memset(cut, 0, sizeof(FPTCut));
	Assert(type->typlen == 2 || type->typlen == 4 || type->typlen == 8);
	if (arg > max)
	{
		cut->no_ge = true;
		cut->le = fpt_image_integer(type, max);
	}
	else if (arg < -max - 1)
	{
		cut->no_le = true;
		cut->ge = fpt_image_integer(type, -max - 1);
	}
	else
		cut->ge = cut->le = fpt_image_integer(type, arg);
}

/*
 * A float4 column and a float8, which need not be a float4: the cut is then
 * between two of these.  Arguments out of the range of float4 are first brought
 * to its ends, as their conversion would make them infinite; infinities and
 * NaNs are converted as they are.
 */
static void
cut_float48(const FPTKeyType *type, float8 arg, FPTCut *cut)
{
	float4		f;
	int			dir;

	Assert(type->kind == FPT_IMG_F4);
	if (isnan(arg) || isinf(arg))
		f = (float4) arg;
	else if (arg > FLT_MAX)
		f = FLT_MAX;
	else if (arg < -FLT_MAX)
		f = -FLT_MAX;
	else
		f = (float4) arg;

	/* f is one of the two float4 next to the argument, or equal to it. */
	if (isnan(arg) || (float8) f == arg)
		dir = 0;
	else
		dir = arg > (float8) f ? 1 : -1;
	cut_at_class(type, image64(fpt_f4_image(float4_bits(f))), dir, cut);
}

/* A float8 column and a float4. */
static void
cut_float84(const FPTKeyType *type, float4 arg, FPTCut *cut)
{
	Assert(type->kind == FPT_IMG_F8);
	cut_at_class(type, image64(fpt_f8_image(float8_bits((float8) arg))), 0,
				 cut);
}

/* --- cuts: dates and times ----------------------------------------------- */

/*
 * Cut a date, timestamp or timestamptz column between the numbers le and ge.
 * Numbers beyond the finite values, though never stored, are as good as any
 * other: they are below or above all finite values and still on the right side
 * of the infinities.
 */
static void
cut_numbers(const FPTKeyType *type, int64 ge, int64 le, FPTCut *cut)
{
	cut->ge = fpt_image_integer(type, ge);
	cut->le = fpt_image_integer(type, le);
}

/* The infinities are equal in all three types; true if arg was one. */
static bool
cut_infinity(const FPTKeyType *type, bool nobegin, bool noend, FPTCut *cut)
{
	bool		isdate = (type->kind == FPT_IMG_S32);
	int64		v;

	if (nobegin)
		v = isdate ? (int64) DATEVAL_NOBEGIN : (int64) DT_NOBEGIN;
	else if (noend)
		v = isdate ? (int64) DATEVAL_NOEND : (int64) DT_NOEND;
	else
		return false;
	cut_numbers(type, v, v, cut);
	return true;
}

static inline int64
floor_day(int64 ts)
{
	int64		day = ts / USECS_PER_DAY;

	return day * USECS_PER_DAY > ts ? day - 1 : day;
}

static inline int64
ceil_day(int64 ts)
{
	int64		day = ts / USECS_PER_DAY;

	return day * USECS_PER_DAY < ts ? day + 1 : day;
}

/*
 * Cut somewhere in from .. to, for arguments so near the ends of what a
 * timestamp can be that the functions we would use can fail: leave it to the
 * recheck.
 */
static void
cut_fuzzy(const FPTKeyType *type, int64 from, int64 to, FPTCut *cut)
{
	Assert(type->kind == FPT_IMG_S64);
	from = Max(from, MIN_TIMESTAMP - 1);
	to = Min(to, END_TIMESTAMP);
	cut_numbers(type, from, to, cut);
	cut->fuzzy = true;
}

static inline bool
far_from_ends(int64 ts)
{
	return ts >= MIN_TIMESTAMP + 3 * FPT_TZ_USECS &&
		ts < END_TIMESTAMP - 3 * FPT_TZ_USECS;
}

/* A date column and a timestamp. */
static void
cut_date_by_timestamp(const FPTKeyType *type, Timestamp arg, FPTCut *cut)
{
	Assert(type->kind == FPT_IMG_S32);
	if (!cut_infinity(type, TIMESTAMP_IS_NOBEGIN(arg),
					  TIMESTAMP_IS_NOEND(arg), cut))
		cut_numbers(type, ceil_day(arg), floor_day(arg), cut);
}

/*
 * A timestamp or timestamptz column and a date: midnight of that day, in the
 * session's time zone if tz.  Dates go further than timestamps at the upper
 * end, and that has no image to begin with.  Fuzzy near the ends of what a
 * timestamptz can be, where core's conversion may raise.
 */
static void
cut_timestamp_by_date(const FPTKeyType *type, bool tz, DateADT arg,
					  FPTCut *cut)
{
	int64		ts;

	Assert(type->kind == FPT_IMG_S64);
	if (cut_infinity(type, DATE_IS_NOBEGIN(arg), DATE_IS_NOEND(arg), cut))
		return;
	if (arg >= FPT_DATE_TSEND)
	{
		/* above all finite timestamps */
		cut_numbers(type, END_TIMESTAMP, END_TIMESTAMP - 1, cut);
		return;
	}
	ts = (int64) Max(arg, FPT_DATE_MIN) * USECS_PER_DAY;
	if (!tz)
		cut_numbers(type, ts, ts, cut);
	else if (!far_from_ends(ts))
		cut_fuzzy(type, ts - FPT_TZ_USECS, ts + FPT_TZ_USECS, cut);
	else
	{
		ts = DatumGetTimestampTz(DirectFunctionCall1(date_timestamptz,
													 DateADTGetDatum(arg)));
		cut_numbers(type, ts, ts, cut);
	}
}

/* The instant that a local time stands for in the session's time zone. */
static inline TimestampTz
local_instant(Timestamp ts)
{
	Datum		d = TimestampGetDatum(ts);

	return DatumGetTimestampTz(DirectFunctionCall1(timestamp_timestamptz, d));
}

/* A timestamptz column and a timestamp. */
static void
cut_timestamptz_by_timestamp(const FPTKeyType *type, Timestamp arg,
							 FPTCut *cut)
{
	Assert(type->kind == FPT_IMG_S64);
	if (cut_infinity(type, TIMESTAMP_IS_NOBEGIN(arg),
					 TIMESTAMP_IS_NOEND(arg), cut))
		return;
	if (!far_from_ends(arg))
		cut_fuzzy(type, arg - FPT_TZ_USECS, arg + FPT_TZ_USECS, cut);
	else
	{
		TimestampTz t = local_instant(arg);

		cut_numbers(type, t, t, cut);
	}
}

/*
 * Collect, in order, the local times in from .. to where the rule that turns a
 * local time into an instant may change, "from" itself first.
 *
 * The rule is "subtract the time zone's offset", and which offset depends on
 * the first transition of the zone later than (the local time, taken as UTC,
 * less one day), and on whether the local time less the offset before, and less
 * the offset after that transition, is earlier than it.  See
 * DetermineTimeZoneOffset().  Returns the number, or -1 if they are too many or
 * the zone's data cannot tell.  "breaks" has room for FPT_MAX_BREAKS.
 *
 * All times here are in microseconds since 2000, as timestamps, but for those
 * of the time zone library, which are in seconds since 1970.  A break too many
 * does no harm: the sections on its two sides have the same rule.
 */
static int
tz_breaks(int64 from, int64 to, int64 *breaks)
{
	const int64 epoch = (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) *
	SECS_PER_DAY;
	pg_time_t	t = from / USECS_PER_SEC + epoch - FPT_TZ_DAYS * SECS_PER_DAY;
	pg_time_t	end = to / USECS_PER_SEC + epoch + FPT_TZ_DAYS * SECS_PER_DAY;
	int			n = 0;

	Assert(from <= to);
	breaks[n++] = from;
	for (;;)
	{
		pg_time_t	boundary;
		long		off[2];
		int			isdst[2];
		int64		at[4];
		int			res;

		res = pg_next_dst_boundary(&t, &off[0], &isdst[0], &boundary,
								   &off[1], &isdst[1], session_timezone);
		if (res < 0)
			return -1;
		if (res == 0 || boundary > end)
			return n;
		if (boundary <= t || n + 4 > FPT_MAX_BREAKS)
			return -1;

		at[0] = boundary + off[0];
		at[1] = boundary + off[0] + 1;
		at[2] = boundary + off[1];
		at[3] = boundary + SECS_PER_DAY;
		for (int i = 0; i < 4; i++)
		{
			int64		v = (at[i] - epoch) * USECS_PER_SEC;
			int			j;

			if (v <= from || v > to)
				continue;
			for (j = n; j > 0 && breaks[j - 1] > v; j--)
				breaks[j] = breaks[j - 1];
			breaks[j] = v;
			n++;
		}
		Assert(n <= FPT_MAX_BREAKS);
		t = boundary;
	}
}

/*
 * Local times against an instant: every local time below *ge is earlier and
 * every one above *le is later than the instant.  Returns false if that is not
 * all there is to say (see FPTCut.fuzzy).
 *
 * Between two breaks an instant is its local time less a constant, so the
 * sections tell exactly where it is at or after the argument for the first
 * time, and at or before it for the last time.  Where the clock is set forward
 * these two are out of order: the skipped hour stands for the same instants as
 * the next one.
 *
 * Asks core for the instant of at most FPT_MAX_BREAKS local times, none of
 * which is so near the ends of the range that it would raise.
 */
static bool
cut_local_times(TimestampTz arg, int64 *ge, int64 *le)
{
	int64		breaks[FPT_MAX_BREAKS + 4];
	int64		from = arg - FPT_TZ_USECS;
	int64		to = arg + FPT_TZ_USECS;
	int			n;

	*ge = from;
	*le = to;
	if (!far_from_ends(arg))
		return false;
	n = tz_breaks(from, to, breaks);
	if (n < 0)
		return false;

	*ge = to + 1;
	*le = from - 1;
	for (int i = 0; i < n; i++)
	{
		int64		first = breaks[i];
		int64		last = i + 1 < n ? breaks[i + 1] - 1 : to;
		int64		equal;

		if (first > last)
			continue;			/* the same break twice */
		/* the local time at which this section's rule gives "arg" */
		equal = arg + (first - local_instant(first));
		if (equal <= last)
			*ge = Min(*ge, Max(first, equal));
		if (equal >= first)
			*le = Max(*le, Min(last, equal));
	}
	return *ge >= *le;
}

/* A timestamp column and a timestamptz. */
static void
cut_timestamp_by_timestamptz(const FPTKeyType *type, TimestampTz arg,
							 FPTCut *cut)
{
	int64		ge;
	int64		le;

	Assert(type->kind == FPT_IMG_S64);
	if (cut_infinity(type, TIMESTAMP_IS_NOBEGIN(arg),
					 TIMESTAMP_IS_NOEND(arg), cut))
		return;
	if (cut_local_times(arg, &ge, &le))
		cut_numbers(type, ge, le, cut);
	else
		cut_fuzzy(type, ge, le, cut);
}

/*
 * A date column and a timestamptz: a date is compared as its midnight in the
 * session's time zone.  The few midnights that may be out of order are asked
 * one by one, from both ends, until they are on the right side: at most those
 * of 2 * FPT_TZ_DAYS days.  They are asked by the comparison function, which
 * may raise.
 */
static void
cut_date_by_timestamptz(const FPTKeyType *type, FmgrInfo *cmp, TimestampTz arg,
						FPTCut *cut)
{
	int64		ge;
	int64		le;

	Assert(type->kind == FPT_IMG_S32);
	if (cut_infinity(type, TIMESTAMP_IS_NOBEGIN(arg),
					 TIMESTAMP_IS_NOEND(arg), cut))
		return;
	if (cut_local_times(arg, &ge, &le))
	{
		cut_numbers(type, ceil_day(ge), floor_day(le), cut);
		return;
	}

	ge = Max(ceil_day(ge), FPT_DATE_MIN);
	le = Min(floor_day(le), FPT_DATE_TSEND - 1);
	for (; ge <= le; ge++)
	{
		if (DatumGetInt32(FunctionCall2(cmp, DateADTGetDatum((DateADT) ge),
										TimestampTzGetDatum(arg))) >= 0)
			break;
	}
	for (; ge <= le; le--)
	{
		if (DatumGetInt32(FunctionCall2(cmp, DateADTGetDatum((DateADT) le),
										TimestampTzGetDatum(arg))) <= 0)
			break;
	}
	cut_numbers(type, ge, le, cut);
	cut->fuzzy = (ge < le);
}

/* --- cuts: any pair of types --------------------------------------------- */

typedef struct ImageSpan
{
	FPTImage	lo;
	FPTImage	hi;
} ImageSpan;

/* Most spans that the valid images of a type are. */
#define FPT_MAX_SPANS		3

static int
add_span(const FPTKeyType *type, int64 lo, int64 hi, int n, ImageSpan *spans)
{
	Assert(n >= 0 && n < FPT_MAX_SPANS);
	Assert(lo <= hi);
	Assert(n == 0 || fpt_image_integer(type, lo).lo > spans[n - 1].hi.lo);
	spans[n].lo = fpt_image_integer(type, lo);
	spans[n].hi = fpt_image_integer(type, hi);
	return n + 1;
}

/*
 * The images that decode to valid values of a type; the number of spans, in
 * ascending order.  A comparison function must not be given another: it may
 * raise, or take a date that does not exist for infinity.
 */
static int
valid_images(const FPTKeyType *type, ImageSpan *spans)
{
	int			n = 0;

	switch (type->typid)
	{
		case DATEOID:
			n = add_span(type, DATEVAL_NOBEGIN, DATEVAL_NOBEGIN, n, spans);
			n = add_span(type, FPT_DATE_MIN, FPT_DATE_END - 1, n, spans);
			return add_span(type, DATEVAL_NOEND, DATEVAL_NOEND, n, spans);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			n = add_span(type, DT_NOBEGIN, DT_NOBEGIN, n, spans);
			n = add_span(type, MIN_TIMESTAMP, END_TIMESTAMP - 1, n, spans);
			return add_span(type, DT_NOEND, DT_NOEND, n, spans);
		case TIMEOID:
			return add_span(type, 0, USECS_PER_DAY, n, spans);
		case INT2OID:
			return add_span(type, PG_INT16_MIN, PG_INT16_MAX, n, spans);
		default:
			break;
	}

	spans[0].lo = image64(0);
	spans[0].hi = fpt_image_max(type);
	if (type->kind == FPT_IMG_BOOL)
		spans[0].hi.lo = 1;
	else if (type->kind == FPT_IMG_CHAR)
		spans[0].hi.lo = PG_UINT8_MAX;
	else if (type->kind == FPT_IMG_MAC6)
		spans[0].hi.lo = UINT64CONST(0xFFFFFFFFFFFF);
	return 1;
}

void
fpt_image_limits(const FPTKeyType *type, FPTImage *min, FPTImage *max)
{
	ImageSpan	spans[FPT_MAX_SPANS];
	int			n = valid_images(type, spans);

	*min = spans[0].lo;
	*max = spans[n - 1].hi;
}

/* (a + b) / 2, for a <= b. */
static inline FPTImage
image_middle(FPTImage a, FPTImage b)
{
	FPTImage	half;

	Assert(fpt_img_cmp(a, b) <= 0);
	half.lo = b.lo - a.lo;
	half.hi = b.hi - a.hi - (b.lo < a.lo);
	half.lo = (half.lo >> 1) | (half.hi << 63);
	half.hi >>= 1;
	a.lo += half.lo;
	a.hi += half.hi + (a.lo < half.lo);
	return a;
}

/*
 * The first valid image whose value compares at least "least" (0: greater or
 * equal, 1: greater) with the argument; false if there is none.  Runs the
 * comparison function so many times as an image has bits, and once more for
 * each span of valid images; it may raise.  No page may be locked.  A function
 * that is no order makes some result, and the loop ends: lo .. hi is halved
 * each time.
 */
static bool
bisect(const FPTKeyType *type, FmgrInfo *cmp, Oid collation, Datum arg,
	   int least, FPTImage *result)
{
	ImageSpan	spans[FPT_MAX_SPANS];
	int			n = valid_images(type, spans);
	FPTDecoded	u;

	Assert(least == 0 || least == 1);
	Assert(n > 0 && n <= FPT_MAX_SPANS);
	for (int i = 0; i < n; i++)
	{
		FPTImage	lo = spans[i].lo;
		FPTImage	hi = spans[i].hi;
		FPTImage	mid = hi;

		/* "hi" satisfies from the second round on */
		for (;;)
		{
			Datum		value = fpt_image_decode(type, mid, u.buf);
			int32		c = DatumGetInt32(FunctionCall2Coll(cmp, collation,
															value, arg));

			if (c >= least)
				hi = mid;
			else if (fpt_img_cmp(mid, spans[i].hi) == 0)
				break;			/* nothing in this span */
			else
				lo = image_next(mid);
			if (fpt_img_cmp(lo, hi) >= 0)
			{
				*result = hi;
				return true;
			}
			mid = image_middle(lo, hi);
			Assert(fpt_img_cmp(lo, mid) <= 0 && fpt_img_cmp(mid, hi) < 0);
		}
	}
	return false;
}

/*
 * Any other pair of types: what their comparison function says.  As bisect().
 */
static void
cut_bisect(const FPTKeyType *type, FmgrInfo *cmp, Oid collation, Datum arg,
		   FPTCut *cut)
{
	FPTImage	gt;

	cut->no_ge = !bisect(type, cmp, collation, arg, 0, &cut->ge);
	if (!bisect(type, cmp, collation, arg, 1, &gt))
		cut->le = fpt_image_max(type);
	else if (gt.hi == 0 && gt.lo == 0)
		cut->no_le = true;
	else
		cut->le = image_prev(gt);
}

/* --- cuts: interface ----------------------------------------------------- */

/*
 * See key/image.h.  An argument of another type than the function's would be
 * misread: the caller has looked that up.
 */
void
fpt_image_cut(const FPTKeyType *type, FmgrInfo *cmp, Oid collation,
			  Datum arg, FPTCut *cut)
{
	memset(cut, 0, sizeof(FPTCut));

	if (cmp == NULL)
	{
		FPTImage	img;

		fpt_image_encode(type, arg, &img);
		ascending_class(type, img, &cut->ge, &cut->le);
		return;
	}

	/*
	 * The comparison function, not the types, tells what to compute, as it
	 * does for the type itself.  The caller made sure that its argument types
	 * are ours.
	 */
	switch (cmp->fn_oid)
	{
		case F_BTINT42CMP:
		case F_BTINT82CMP:
			fpt_image_cut_integer(type, DatumGetInt16(arg), cut);
			break;
		case F_BTINT24CMP:
		case F_BTINT84CMP:
			fpt_image_cut_integer(type, DatumGetInt32(arg), cut);
			break;
		case F_BTINT28CMP:
		case F_BTINT48CMP:
			fpt_image_cut_integer(type, DatumGetInt64(arg), cut);
			break;
		case F_BTFLOAT48CMP:
			cut_float48(type, DatumGetFloat8(arg), cut);
			break;
		case F_BTFLOAT84CMP:
			cut_float84(type, DatumGetFloat4(arg), cut);
			break;
		case F_DATE_CMP_TIMESTAMP:
			cut_date_by_timestamp(type, DatumGetTimestamp(arg), cut);
			break;
		case F_DATE_CMP_TIMESTAMPTZ:
			cut_date_by_timestamptz(type, cmp, DatumGetTimestampTz(arg), cut);
			break;
		case F_TIMESTAMP_CMP_DATE:
			cut_timestamp_by_date(type, false, DatumGetDateADT(arg), cut);
			break;
		case F_TIMESTAMPTZ_CMP_DATE:
			cut_timestamp_by_date(type, true, DatumGetDateADT(arg), cut);
			break;
		case F_TIMESTAMP_CMP_TIMESTAMPTZ:
			cut_timestamp_by_timestamptz(type, DatumGetTimestampTz(arg), cut);
			break;
		case F_TIMESTAMPTZ_CMP_TIMESTAMP:
			cut_timestamptz_by_timestamp(type, DatumGetTimestamp(arg), cut);
			break;
		default:
			cut_bisect(type, cmp, collation, arg, cut);
			break;
	}
}

/*
 * See key/image.h.  A fuzzy cut leaves the images between ge and le in,
 * whatever the strategy: the recheck of the qual throws out what is wrong.
 */
bool
fpt_cut_interval(const FPTKeyType *type, const FPTCut *cut, int strategy,
				 FPTImage *lo, FPTImage *hi)
{
	memset(lo, 0, sizeof(FPTImage));
	*hi = fpt_image_max(type);

	switch (strategy)
	{
		case BTLessStrategyNumber:
			if (cut->no_ge)
				return true;
			if (cut->fuzzy)
				*hi = cut->le;
			else if (cut->ge.hi == 0 && cut->ge.lo == 0)
				return false;
			else
				*hi = image_prev(cut->ge);
			return true;
		case BTLessEqualStrategyNumber:
			if (cut->no_le)
				return false;
			*hi = cut->le;
			return true;
		case BTEqualStrategyNumber:
			if (cut->no_ge || cut->no_le)
				return false;
			*lo = cut->ge;
			*hi = cut->le;
			return fpt_img_cmp(*lo, *hi) <= 0;
		case BTGreaterEqualStrategyNumber:
			if (cut->no_ge)
				return false;
			*lo = cut->ge;
			return true;
		case BTGreaterStrategyNumber:
			if (cut->no_le)
				return true;
			if (cut->fuzzy)
				*lo = cut->ge;
			else if (fpt_img_cmp(cut->le, *hi) == 0)
				return false;
			else
				*lo = image_next(cut->le);
			return true;
		default:
			elog(ERROR, "unrecognized strategy number: %d", strategy);
			return false;
	}
}
