/*-------------------------------------------------------------------------
 *
 * key/column.h
 *	  What the files of general keys share (key/general.c, key/compare.c,
 *	  key/itup.c): what is known of each column, and reading a tuple column by
 *	  column.  See key/general.c for the format of tuples.
 *
 * Whoever reads columns checks what comes from disk: reader_begin() and
 * reader_next() return false where a tuple makes no sense, and never go beyond
 * its end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_KEY_COLUMN_H
#define FPT_KEY_COLUMN_H

#include "access/itup.h"
#include "access/tupmacs.h"
#include "fmgr.h"
#include "port/pg_bswap.h"
#include "utils/sortsupport.h"

#include "key/head.h"
#include "key/image.h"
#include "page/format.h"
#include "page/layout.h"
#include "server/compat.h"

/*
 * How the columns of an index are compared, formed and taken apart.  Filled by
 * fpt_general_init() once per relcache entry, part of the chunk of FPTIndex,
 * and copied with it: plain data, and pointers to what lives as long as the
 * relcache entry does (rd_supportinfo, rd_att), nothing else.
 */
typedef struct FPTGeneral FPTGeneral;

/* Raise the error of a tuple whose columns cannot be what it says. */
static inline void __attribute__((noreturn))
fpt_general_corrupt(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("entry of an fptree index is damaged"),
			 errhint("Please REINDEX the index.")));
}

/*
 * A tuple's header, see key/general.c: how many columns it has, whether a
 * bitmap of NULLs follows, and whether the last column has no length.
 * FPT_T_HEADER is in front of it, or it is left out.
 */
#define FPT_T_COLUMNS		0x3F
#define FPT_T_NULLS			0x40
#define FPT_T_REST			0x80
#define FPT_T_HEADER		0xFF	/* the header follows; else it is usual */
#define FPT_T_SHORT			0x30	/* usual, but see key/general.c */

/*
 * The length of a varlena, or a name, in front of its bytes: one byte, or two
 * of which the first has FPT_V_TWO, and perhaps FPT_V_COMPRESSED, and the upper
 * six bits of the length.  FPT_V_MAX is more than FPT_MAX_TUPLE with any
 * BLCKSZ.
 */
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

/*
 * What is to be done for a column, for all entries alike: worked out once, so
 * that write_column() asks nothing that does not depend on the entry.  Of
 * FPT_WRITE_HEAD* the value is (head >> shift) ^ mask, cut to its width (all 64
 * bits: no shift); of the others the nhead bytes are the first of head <<
 * shift, the most significant one in front.
 */
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

/*
 * What is known of one column.  "nhead", "plainhead" and "headshift" say which
 * bytes of a value that is not restored are those of the head: nhead of them,
 * at most eight, the first ones of its string; 0 for columns without a part,
 * and for parts that hold something else than the first bytes.
 *
 * "cmp" points into rd_supportinfo, "type" into a static table.  "ssup" is
 * somebody's own, hence the contract of fpt_general_sort_support().
 */
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

/*
 * How the columns of an index are compared, formed and taken apart: see above.
 * col[] has natts elements, of which the first nkeys are key columns, and of
 * these the first head.nparts have a part in the head.
 */
struct FPTGeneral
{
	FPTHeadDesc head;
	int			nkeys;
	int			natts;
	uint8		usual;			/* header of entries without NULLs */
	bool		simple;			/* all columns are known to write_simple() */
	bool		unsure;			/* see fpt_general_unsure() */
	bool		prefixes;		/* the first column is a string of bytes, and
								 * the head its first 8: pages may have
								 * prefixes */
	bool		string;			/* it is the only column, and the head has its
								 * first 8 bytes as they are */
	uint16		writeflags;		/* t_info of what it makes, but for the size */
	FPTColumn	col[FLEXIBLE_ARRAY_MEMBER];
};

/* Room for a value that is taken out of a tuple, aligned. */
typedef union FPTValueBuf
{
	char		bytes[FPT_MAX_PREFIX + FPT_MAX_TUPLE + NAMEDATALEN];
	int64		align_int64;
	double		align_double;
} FPTValueBuf;

/* What a header says of the last column's length. */
#define FPT_LENGTH_STORED	(-1)	/* it is in front of the column */
#define FPT_LENGTH_REST		(-2)	/* all that is left of the tuple */

/* Length of the last column as a header says it. */
static inline int
header_length(uint8 header)
{
	if ((header & FPT_T_COLUMNS) >= FPT_T_SHORT)
		return (header & FPT_T_COLUMNS) - FPT_T_SHORT;
	return header & FPT_T_REST ? FPT_LENGTH_REST : FPT_LENGTH_STORED;
}

/*
 * Where a key's columns are.  What is from p up to end has not been read; both
 * are in the page, or wherever the key's tuple is, and so nothing read lives
 * longer than that.  i <= natts <= g->natts; "headto" never rises.
 */
typedef struct FPTReader
{
	const FPTGeneral *g;
	uint64		head;
	int			natts;			/* columns it has */
	int			i;				/* next one */
	int			headto;			/* the head stands for columns before this */
	bool		allnull;		/* all columns are NULL */
	bool		allhead;		/* all are in the head */
	int			lastlen;		/* of the last column, or FPT_LENGTH_* */
	const uint8 *nulls;			/* bitmap or NULL */
	const char *p;
	const char *end;
	const char *pre;			/* what the first column begins with, */
	int			cut;			/* and how many bytes that is: FPTKey.cut */
} FPTReader;

/*
 * A column of a tuple, not yet made a Datum.  Of one that is neither NULL nor
 * restored, "data" has len - nhead bytes, all of them before the tuple's end,
 * and the head the first nhead.  The first npre bytes of its value are not
 * counted in these: they are the prefix, at FPTReader.pre.
 */
typedef struct FPTField
{
	bool		isnull;
	bool		restored;		/* all of it is in the head */
	bool		compressed;
	int			nhead;			/* bytes of it in the head */
	int			len;			/* all bytes but the prefix's */
	const char *data;			/* the others */
	int			npre;			/* bytes of the prefix, before all of them */
} FPTField;

/*
 * Begin to read an entry's columns.  Returns false if its tuple makes no sense:
 * it has more columns than the index, ends within its bitmap, or says otherwise
 * than the class whether the first column is NULL.  Of a key without a tuple,
 * all is in the head, or all is NULL.  Raises nothing, copies nothing; the page
 * that the key is in, if it is in one, stays locked, or is private.
 */
static inline bool
reader_begin(FPTReader *r, const FPTGeneral *g, const FPTKey *key)
{
	uint8		header;

	Assert(key->search == NULL);
	Assert(key->len == 0 || key->tup != NULL);
	r->g = g;
	r->head = key->lo;
	r->natts = g->natts;
	r->i = 0;
	r->headto = g->head.nparts;
	r->allnull = r->allhead = false;
	r->lastlen = FPT_LENGTH_STORED;
	r->nulls = NULL;
	r->p = r->end = NULL;
	r->pre = key->pre;
	r->cut = (int) key->cut;
	if (key->cls != FPT_CLS_VALUE)
		r->headto = 0;
	if (key->len == 0)
	{
		r->allhead = key->cls == FPT_CLS_VALUE;
		r->allnull = !r->allhead;
		return true;
	}

	r->p = key->tup;
	r->end = key->tup + key->len;
	if (likely((uint8) *r->p != FPT_T_HEADER))
		header = g->usual;
	else if (key->len < 2)
		return false;
	else
	{
		header = (uint8) r->p[1];
		r->p += 2;
	}
	r->lastlen = header_length(header);
	if (r->lastlen < 0)
		r->natts = header & FPT_T_COLUMNS;
	if (r->natts > g->natts)
		return false;
	if (header & FPT_T_NULLS)
	{
		int			bytes = (r->natts + 7) / 8;

		if (r->end - r->p < bytes)
			return false;
		r->nulls = (const uint8 *) r->p;
		r->p += bytes;

		/* the class says what the first column is */
		if (r->natts > 0 &&
			((r->nulls[0] & 1) != 0) != (key->cls != FPT_CLS_VALUE))
			return false;
	}
	return true;
}

static inline bool
reader_isnull(const FPTReader *r, int i)
{
	Assert(i >= 0 && i < r->natts);
	return r->nulls != NULL && (r->nulls[i / 8] & (1 << (i % 8))) != 0;
}

/*
 * Length of a varlena, or a name, in a tuple; r->i is the next column's, and
 * f->nhead what the head has of it at most.  Sets f->len, f->compressed, and
 * f->nhead to what the head really has.  Returns false if the tuple ends
 * before, which no sound one does.  Reads nothing beyond r->end; the length
 * itself is for the caller to compare with what is left.
 */
static inline bool
read_length(FPTReader *r, FPTField *f)
{
	uint8		b;

	if (r->i == r->natts && r->lastlen != FPT_LENGTH_STORED)
	{
		f->len = r->lastlen;
		if (r->lastlen == FPT_LENGTH_REST)
			f->len = f->nhead + (int) (r->end - r->p);
		else if (f->len > f->nhead)
			return false;
		f->nhead = Min(f->nhead, f->len);
		r->lastlen = FPT_LENGTH_STORED;
		return true;
	}
	if (r->p >= r->end)
		return false;
	b = (uint8) *r->p++;
	f->len = b;
	if (b & FPT_V_TWO)
	{
		if (r->p >= r->end)
			return false;
		f->compressed = (b & FPT_V_COMPRESSED) != 0;
		f->len = ((b & (FPT_V_MAX >> 8)) << 8) | (uint8) *r->p++;
		if (f->compressed)
			f->nhead = 0;
	}
	f->nhead = Min(f->nhead, f->len);
	return true;
}

/*
 * Does the head restore column i?  It stands for columns in front of the first
 * NULL only, which is the caller's to know.
 */
static inline bool
head_restores(const FPTGeneral *g, int i, uint64 head)
{
	FPTRestores restores = g->col[i].restores;

	Assert(restores == FPT_RESTORES_NEVER || i < g->head.nparts);
	return restores != FPT_RESTORES_NEVER &&
		(restores == FPT_RESTORES_ALL ||
		 fpt_head_restores(&g->head, i, head));
}

/*
 * The next column, of which there must be one.  Returns false if it makes no
 * sense: it ends beyond the tuple, is compressed where its type cannot be, or
 * is a name longer than any.  The bytes of a value are not looked at.  Raises
 * nothing.
 */
static inline bool
reader_next(FPTReader *r, FPTField *f)
{
	int			i = r->i++;
	const FPTColumn *c = &r->g->col[i];

	Assert(i < r->natts);
	f->isnull = f->restored = f->compressed = false;
	f->nhead = f->len = f->npre = 0;
	f->data = NULL;
	if (unlikely(r->allnull || reader_isnull(r, i)))
	{
		f->isnull = true;
		r->headto = Min(r->headto, i);
		return true;
	}
	if (i < r->headto)
	{
		if (head_restores(r->g, i, r->head))
		{
			f->restored = true;
			return true;
		}
		f->nhead = c->nhead;
	}
	if (r->allhead)
		return false;

	f->len = c->typlen;
	if ((c->typlen < 0 || c->isname) && !read_length(r, f))
		return false;
	if (c->isname && (f->len >= NAMEDATALEN || f->compressed))
		return false;
	if (f->compressed &&
		(c->typlen != -1 || f->len <= (int) VARHDRSZ_COMPRESSED))
		return false;
	if (r->end - r->p < f->len - f->nhead)
		return false;
	f->data = r->p;
	r->p += f->len - f->nhead;
	if (unlikely(r->cut > 0) && i == 0 && !f->compressed)
		f->npre = r->cut;
	return true;
}

/*
 * Write all bytes of a column to "to", f->npre + f->len of them, one after the
 * other: the prefix, those that the head has and those of the tuple.  Needs no
 * alignment on either side.
 */
static inline void
field_bytes(const FPTReader *r, int i, const FPTField *f, char *to)
{
	Assert(!f->isnull && !f->restored);
	Assert(f->nhead >= 0 && f->nhead <= f->len);
	Assert(f->nhead <= (int) sizeof(uint64));
	if (unlikely(f->npre > 0))
	{
		memcpy(to, r->pre, f->npre);
		to += f->npre;
	}
	if (f->nhead > 0)
	{
		const FPTColumn *c = &r->g->col[i];
		uint64		first = pg_hton64(r->head << c->headshift);

		if (!c->plainhead)
			fpt_head_bytes(&r->g->head, i, r->head, (char *) &first);
		if (likely(f->nhead == sizeof(first)))
			memcpy(to, &first, sizeof(first));
		else
			memcpy(to, &first, f->nhead);
	}
	fpt_copy_bytes(to + f->nhead, f->data, f->len - f->nhead);
}

/*
 * Returns a column's value, in buf if it is passed by reference.  Varlenas get
 * a long header, so that functions need not copy them; compressed ones stay so.
 * "buf" has field_size() bytes and the alignment of FPTValueBuf.  Raises
 * ERRCODE_INDEX_CORRUPTED if a compressed value's own header contradicts its
 * length in the tuple; allocates nothing.
 */
static inline Datum
field_value(const FPTReader *r, int i, const FPTField *f, char *buf)
{
	const FPTColumn *c = &r->g->col[i];

	Assert(!f->isnull);
	Assert(c->byval || buf != NULL);
	if (f->restored)
		return fpt_head_value(&r->g->head, i, r->head, buf);
	if (c->byval)
	{
		union
		{
			Datum		align;
			char		bytes[sizeof(Datum)];
		}			u;
		Datum		value;

		memcpy(u.bytes, f->data, c->typlen);
		value = fetch_att(u.bytes, true, c->typlen);
		return value;
	}
	if (c->typlen == -1 && !f->compressed)
	{
		field_bytes(r, i, f, buf + VARHDRSZ);
		SET_VARSIZE(buf, f->npre + f->len + VARHDRSZ);
		return PointerGetDatum(buf);
	}
	field_bytes(r, i, f, buf);
	if (c->isname)
		memset(buf + f->len, 0, NAMEDATALEN - f->len);
	else if (c->typlen == -2)
		buf[f->len] = '\0';
	else if (f->compressed &&
			 (!VARATT_IS_4B_C(buf) || VARSIZE_4B(buf) != (Size) f->len))
		fpt_general_corrupt();
	return PointerGetDatum(buf);
}

/*
 * Bytes that field_value() may write: the value, and its header or the zero
 * that ends it.
 */
static inline Size
field_size(const FPTReader *r, int i, const FPTField *f)
{
	Assert(!f->isnull);
	if (f->restored)
		return FPT_DECODE_BYTES;
	return Max(f->npre + f->len, r->g->col[i].isname ? NAMEDATALEN : 0) +
		VARHDRSZ + 1;
}

/* The class of a key whose first column is NULL, or is not. */
static inline uint32
key_class(const FPTGeneral *g, bool isnull)
{
	if (!isnull)
		return FPT_CLS_VALUE;
	return g->col[0].nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;
}

#endif							/* FPT_KEY_COLUMN_H */
