/*-------------------------------------------------------------------------
 *
 * fpt_general.c
 *	  Keys of the general class: forming, comparing, shortening, taking apart.
 *	  See fpt_general.h for what the tree expects of them.
 *
 * A tuple holds what class and head of its key do not tell:
 *
 *		1 byte		number of columns (6 bits); FPT_T_NULLS: a bitmap follows
 *		bitmap		a bit a column, set for NULLs
 *		columns		one after the other, unaligned
 *
 * A full entry has all columns of the index, INCLUDE columns too.  The tuple is
 * empty if the head restores all of them, or if all of them are NULL (which the
 * class tells).
 *
 * Columns are stored as follows.  A value that the head restores is not stored
 * at all; of a string or uuid whose first bytes are in the head, the others
 * are.  The head stands for columns only in front of the first NULL.
 *
 *		fixed length	its bytes
 *		name			as a varlena; the zeroes at the end are left out
 *		varlena			length in one byte (0 .. 127) or two (0x80 in the first
 *						one), then the bytes.  The length counts those in the
 *						head, too.  FPT_V_COMPRESSED, in the first of two bytes:
 *						the bytes are a compressed varlena, header included, and
 *						nothing of them is in the head.
 *
 * Partial keys are of the same form, with fewer columns.
 *
 *-------------------------------------------------------------------------
 */
#include "fpt_general.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/itup.h"
#include "access/toast_internals.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
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

/* How fpt_general_write() gets at it, where that takes no asking. */
typedef enum FPTWriteKind
{
	FPT_WRITE_OTHER,
	FPT_WRITE_HEAD4,			/* a number of 4 bytes, all in the head */
	FPT_WRITE_HEAD8,
	FPT_WRITE_BYTES,			/* bytes of the tuple, typlen of them */
	FPT_WRITE_VARLENA			/* of these, the first ones may be in the head */
} FPTWriteKind;

typedef struct FPTColumn
{
	FPTColumnKind kind;
	FPTWriteKind write;
	uint64		writexor;		/* FPT_WRITE_HEAD*: what to apply to the part */

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
	FPTColumn	col[FLEXIBLE_ARRAY_MEMBER];
};

/* Room for a value that is taken out of a tuple, aligned. */
typedef union FPTValueBuf
{
	char		bytes[FPT_MAX_TUPLE + NAMEDATALEN];
	int64		align_int64;
	double		align_double;
} FPTValueBuf;

/* Where a key's columns are. */
typedef struct FPTReader
{
	const FPTGeneral *g;
	uint64		head;
	int			natts;			/* columns it has */
	int			i;				/* next one */
	int			headto;			/* the head stands for columns before this */
	bool		allnull;		/* all columns are NULL */
	bool		allhead;		/* all are in the head */
	const uint8 *nulls;			/* bitmap or NULL */
	const char *p;
	const char *end;
} FPTReader;

/* A column of a tuple, not yet made a Datum. */
typedef struct FPTField
{
	bool		isnull;
	bool		restored;		/* all of it is in the head */
	bool		compressed;
	int			nhead;			/* bytes of it in the head */
	int			len;			/* all bytes */
	const char *data;			/* the others */
} FPTField;

void
fpt_general_corrupt(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("entry of an fptree index is damaged"),
			 errhint("Please REINDEX the index.")));
}

/* --- description ---------------------------------------------------------- */

bool
fpt_index_is_general(Relation rel)
{
	return RelationGetNumberOfAttributes(rel) != 1 ||
		fpt_keytype_for(index_getprocid(rel, 1, FPT_ORDER_PROC),
						rel->rd_opcintype[0]) == NULL;
}

Size
fpt_general_size(Relation rel)
{
	return offsetof(FPTGeneral, col) +
		RelationGetNumberOfAttributes(rel) * sizeof(FPTColumn);
}

/* Recognise comparison functions that we know better than to call. */
static void
init_key_column(Relation rel, int i, FPTColumn *c)
{
	Oid			cmpproc = index_getprocid(rel, i + 1, FPT_ORDER_PROC);

	c->descending = (rel->rd_indoption[i] & INDOPTION_DESC) != 0;
	c->nullsfirst = (rel->rd_indoption[i] & INDOPTION_NULLS_FIRST) != 0;
	c->collation = rel->rd_indcollation[i];
	c->cmp = index_getprocinfo(rel, i + 1, FPT_ORDER_PROC);
	c->type = fpt_keytype_for(cmpproc, rel->rd_opcintype[i]);
	if (c->type != NULL)
		c->kind = FPT_COL_IMAGE;
	else if (c->typlen == -1 && fpt_head_is_bytes(cmpproc, c->collation))
		c->kind = FPT_COL_BYTES;
}

/* What the heads mean for reading a column. */
static void
init_head_column(const FPTHeadDesc *hd, int i, FPTColumn *c)
{
	const FPTHeadPart *part = &hd->part[i];

	c->nhead = fpt_head_nbytes(hd, i);
	c->plainhead = !part->descending && part->kind != FPT_HEAD_BPCHAR;
	c->headshift = 64 - part->shift - part->bits;
	c->restores = fpt_head_restoring(hd, i);
	if (c->restores != FPT_RESTORES_ALL || part->kind != FPT_HEAD_IMAGE)
		return;
	c->writexor = part->descending ? PG_UINT64_MAX : 0;
	if (part->type->kind == FPT_IMG_S32 || part->type->kind == FPT_IMG_U32)
		c->write = FPT_WRITE_HEAD4;
	if (part->type->kind == FPT_IMG_S64 || part->type->kind == FPT_IMG_U64)
		c->write = FPT_WRITE_HEAD8;
	if (part->type->kind == FPT_IMG_S32)
		c->writexor ^= FPT_SIGN32;
	if (part->type->kind == FPT_IMG_S64)
		c->writexor ^= FPT_SIGN64;
}

void
fpt_general_init(Relation rel, FPTGeneral *g, bool sortkeys)
{
	TupleDesc	desc = RelationGetDescr(rel);

	memset(g, 0, fpt_general_size(rel));
	g->natts = RelationGetNumberOfAttributes(rel);
	g->nkeys = IndexRelationGetNumberOfKeyAttributes(rel);
	for (int i = 0; i < g->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		FPTColumn  *c = &g->col[i];

		c->typlen = att->attlen;
		c->byval = att->attbyval;
		c->align = (uint8) att_align_nominal(1, att->attalign);
		c->storage = att->attstorage;
		c->compression = att->attcompression;
		c->isname = att->atttypid == NAMEOID;
		if (i >= g->nkeys)
			continue;
		init_key_column(rel, i, c);
		if (i == g->head.nparts)
			(void) fpt_head_add(&g->head, c->cmp->fn_oid,
								rel->rd_opcintype[i], c->collation,
								rel->rd_indoption[i], sortkeys);
	}
	g->sortversion = fpt_head_sortversion(&g->head);
	for (int i = 0; i < g->natts; i++)
	{
		FPTColumn  *c = &g->col[i];

		if (i < g->head.nparts)
			init_head_column(&g->head, i, c);
		if (c->restores != FPT_RESTORES_NEVER)
			continue;
		if (c->typlen == -1 && (c->nhead == 0 || c->plainhead))
			c->write = FPT_WRITE_VARLENA;
		else if (c->byval)
			c->write = FPT_WRITE_BYTES;
	}
}

bool
fpt_general_headless(const FPTGeneral *g)
{
	return g->head.nparts == 0;
}

uint32
fpt_general_sortversion(const FPTGeneral *g)
{
	return g->sortversion;
}

/* --- reading -------------------------------------------------------------- */

/* Begin to read an entry's columns; false if its tuple makes no sense. */
static inline bool
reader_begin(FPTReader *r, const FPTGeneral *g, const FPTKey *key)
{
	r->g = g;
	r->head = key->lo;
	r->natts = g->natts;
	r->i = 0;
	r->headto = g->head.nparts;
	r->allnull = r->allhead = false;
	r->nulls = NULL;
	r->p = r->end = NULL;
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
	r->natts = (uint8) *r->p & FPT_T_COLUMNS;
	if (((uint8) *r->p & ~FPT_T_ALL) != 0 || r->natts > g->natts)
		return false;
	if ((uint8) *r->p++ & FPT_T_NULLS)
	{
		int			bytes = (r->natts + 7) / 8;

		if (r->end - r->p < bytes)
			return false;
		r->nulls = (const uint8 *) r->p;
		r->p += bytes;
	}
	return true;
}

static inline bool
reader_isnull(const FPTReader *r, int i)
{
	return r->nulls != NULL && (r->nulls[i / 8] & (1 << (i % 8))) != 0;
}

/* Length of a varlena, and a name, in a tuple. */
static inline bool
read_length(FPTReader *r, FPTField *f)
{
	uint8		b;

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

	return restores != FPT_RESTORES_NEVER &&
		(restores == FPT_RESTORES_ALL ||
		 fpt_head_restores(&g->head, i, head));
}

/* The next column, of which there must be one; false if it makes no sense. */
static inline bool
reader_next(FPTReader *r, FPTField *f)
{
	int			i = r->i++;
	const FPTColumn *c = &r->g->col[i];

	Assert(i < r->natts);
	f->isnull = f->restored = f->compressed = false;
	f->nhead = f->len = 0;
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
	if (f->compressed && (c->typlen != -1 || f->len <= VARHDRSZ_COMPRESSED))
		return false;
	if (r->end - r->p < f->len - f->nhead)
		return false;
	f->data = r->p;
	r->p += f->len - f->nhead;
	return true;
}

/* All bytes of a column, one after the other. */
static inline void
field_bytes(const FPTReader *r, int i, const FPTField *f, char *to)
{
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
 * A column's value, in buf if it is passed by reference.  Varlenas get a long
 * header, so that functions need not copy them.
 */
static inline Datum
field_value(const FPTReader *r, int i, const FPTField *f, char *buf)
{
	const FPTColumn *c = &r->g->col[i];

	Assert(!f->isnull);
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
		SET_VARSIZE(buf, f->len + VARHDRSZ);
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

/* Bytes that field_value() may write. */
static inline Size
field_size(const FPTReader *r, int i, const FPTField *f)
{
	if (f->restored)
		return FPT_DECODE_BYTES;
	return Max(f->len, r->g->col[i].isname ? NAMEDATALEN : 0) + VARHDRSZ + 1;
}

int
fpt_general_deform(const FPTGeneral *g, const FPTKey *key, Datum *values,
				   bool *isnull)
{
	FPTReader	r;
	FPTField	f;

	if (!reader_begin(&r, g, key))
		fpt_general_corrupt();
	for (int i = 0; i < g->natts; i++)
	{
		values[i] = (Datum) 0;
		isnull[i] = true;
		if (i >= r.natts)
			continue;
		if (!reader_next(&r, &f))
			fpt_general_corrupt();
		isnull[i] = f.isnull;
		if (!f.isnull)
			values[i] = field_value(&r, i, &f, g->col[i].byval ? NULL :
									palloc(field_size(&r, i, &f)));
	}
	return r.natts;
}

/* A column's value in core's form, at p; returns its length. */
static inline Size
field_put(const FPTReader *r, int i, const FPTField *f, char *p)
{
	const FPTColumn *c = &r->g->col[i];

	if (f->restored)
	{
		Datum		value = fpt_head_value(&r->g->head, i, r->head, p);

		if (c->byval)
			store_att_byval(p, value, c->typlen);
		else
			Assert(DatumGetPointer(value) == p);
		return att_addlength_datum(0, c->typlen, value);
	}
	if (c->byval)
	{
		fpt_copy_bytes(p, f->data, c->typlen);
		return c->typlen;
	}
	(void) field_value(r, i, f, p);
	if (c->isname)
		return NAMEDATALEN;
	if (c->typlen == -1 && !f->compressed)
		return f->len + VARHDRSZ;
	return c->typlen == -2 ? f->len + 1 : f->len;
}

/* Zeroes up to where a value may begin: they tell a reader to align. */
static inline char *
align_to(char *p, int align)
{
	char	   *begin = (char *) TYPEALIGN(align, p);

	while (p < begin)
		*p++ = 0;
	return p;
}

/*
 * fpt_general_write() for a tuple without NULLs and with short strings; false
 * if this one is another.  Its bytes are checked here, too.
 */
static inline bool
write_simple(const FPTGeneral *g, const FPTKey *key, IndexTuple itup)
{
	const char *p = key->tup;
	const char *end = p + key->len;
	char	   *to = (char *) itup + MAXALIGN(sizeof(IndexTupleData));
	char	   *limit = (char *) itup + INDEX_SIZE_MASK - FPT_V_SHORT_MAX - 64;
	uint16		flags = 0;

	/* the number of columns, and no bitmap */
	if (key->cls != FPT_CLS_VALUE || (key->len > 0 && *p++ != g->natts))
		return false;
	for (int i = 0; i < g->natts; i++)
	{
		const FPTColumn *c = &g->col[i];
		uint64		v;
		uint32		head4;
		int			len;
		int			nhead;

		if (unlikely(to > limit))
			return false;
		switch (c->write)
		{
			case FPT_WRITE_HEAD4:
				v = (key->lo >> g->head.part[i].shift) ^ c->writexor;
				head4 = (uint32) v;
				to = align_to(to, c->align);
				memcpy(to, &head4, sizeof(head4));
				to += sizeof(head4);
				break;
			case FPT_WRITE_HEAD8:
				v = key->lo ^ c->writexor;
				to = align_to(to, c->align);
				memcpy(to, &v, sizeof(v));
				to += sizeof(v);
				break;
			case FPT_WRITE_BYTES:
				if (unlikely(end - p < c->typlen))
					return false;
				to = align_to(to, c->align);
				fpt_copy_bytes(to, p, c->typlen);
				p += c->typlen;
				to += c->typlen;
				break;
			case FPT_WRITE_VARLENA:
				if (unlikely(p >= end))
					return false;
				len = (uint8) *p++;
				nhead = Min(c->nhead, len);
				if (unlikely(len > FPT_V_SHORT_MAX || end - p < len - nhead))
					return false;
				to = align_to(to, c->align);
				SET_VARSIZE(to, VARHDRSZ + len);
				if (nhead > 0)
				{
					v = pg_hton64(key->lo << c->headshift);
					memcpy(to + VARHDRSZ, &v, sizeof(v));
				}
				fpt_copy_bytes(to + VARHDRSZ + nhead, p, len - nhead);
				p += len - nhead;
				to += VARHDRSZ + len;
				flags = INDEX_VAR_MASK;
				break;
			case FPT_WRITE_OTHER:
				return false;
		}
	}
	itup->t_info = flags | (uint16) (to - (char *) itup);
	return true;
}

void
fpt_general_write(const FPTGeneral *g, const FPTKey *key, IndexTuple itup)
{
	bits8	   *nulls = (bits8 *) (itup + 1);
	char	   *start = (char *) itup;
	uint16		flags = 0;
	FPTReader	r;
	FPTField	f;
	Size		off;

	if (likely(write_simple(g, key, itup)))
		return;
	if (!reader_begin(&r, g, key) || r.natts != g->natts)
		fpt_general_corrupt();
	if (unlikely(r.allnull || r.nulls != NULL))
		flags = INDEX_NULL_MASK;
	off = IndexInfoFindDataOffset(flags);
	memset(nulls, 0, off - sizeof(IndexTupleData));
	for (int i = 0; i < g->natts; i++)
	{
		const FPTColumn *c = &g->col[i];
		Size		begin = TYPEALIGN(c->align, off);

		if (!reader_next(&r, &f))
			fpt_general_corrupt();
		if (unlikely(f.isnull))
			continue;
		if (unlikely(flags & INDEX_NULL_MASK))
			nulls[i >> 3] |= 1 << (i & 7);
		if (c->typlen < 0)
			flags |= INDEX_VAR_MASK;
		if (unlikely(begin + field_size(&r, i, &f) > INDEX_SIZE_MASK))
			fpt_general_corrupt();

		/* zeroes between columns tell a reader to align */
		while (off < begin)
			start[off++] = 0;
		off += field_put(&r, i, &f, start + off);
	}
	itup->t_info = flags | (uint16) off;
}

bool
fpt_general_valid(const FPTGeneral *g, const FPTKey *key)
{
	FPTReader	r;
	FPTField	f;

	if (!reader_begin(&r, g, key))
		return false;
	while (r.i < r.natts)
	{
		if (!reader_next(&r, &f))
			return false;
		if (f.compressed)
		{
			uint32		header;

			memcpy(&header, f.data, sizeof(header));
			if (!VARATT_IS_4B_C(&header) ||
				VARSIZE_4B(&header) != (Size) f.len)
				return false;
		}
	}
	/* nothing but the columns, and the first one as the class says */
	return r.p == r.end &&
		(r.natts == 0 || r.nulls == NULL ||
		 reader_isnull(&r, 0) == (key->cls != FPT_CLS_VALUE));
}

/* --- forming -------------------------------------------------------------- */

/* Appends to a tuple, as long as there is room; counts what would be there. */
typedef struct FPTWriter
{
	char	   *data;
	Size		len;
} FPTWriter;

static inline void
put(FPTWriter *w, const void *bytes, Size n)
{
	if (w->len + n <= FPT_MAX_TUPLE)
		memcpy(w->data + w->len, bytes, n);
	w->len += n;
}

static inline void
put_byte(FPTWriter *w, int byte)
{
	char		b = (char) byte;

	put(w, &b, 1);
}

/* Bytes of known length, the first "skip" of which are in the head. */
static void
put_string(FPTWriter *w, const char *s, Size len, int skip, int flags)
{
	if (len > FPT_V_MAX)
	{
		/* too long, anyway */
		w->len += len;
		return;
	}
	if (len > FPT_V_SHORT_MAX || flags != 0)
	{
		put_byte(w, FPT_V_TWO | flags | (int) (len >> 8));
		put_byte(w, (int) (len & 0xFF));
	}
	else
		put_byte(w, (int) len);
	if (len > (Size) skip)
		put(w, s + skip, len - skip);
}

/* A value whose first "skip" bytes are in the head. */
static void
put_value(FPTWriter *w, const FPTColumn *c, Datum value, int skip)
{
	if (c->byval)
	{
		union
		{
			Datum		align;
			char		bytes[sizeof(Datum)];
		}			u;

		store_att_byval(u.bytes, value, c->typlen);
		put(w, u.bytes, c->typlen);
	}
	else if (c->isname)
	{
		const char *s = DatumGetCString(value);

		put_string(w, s, strnlen(s, NAMEDATALEN - 1), skip, 0);
	}
	else if (c->typlen == -2)
		put_string(w, DatumGetCString(value), strlen(DatumGetCString(value)),
				   skip, 0);
	else if (c->typlen == -1)
	{
		const char *p = DatumGetPointer(value);

		if (VARATT_IS_COMPRESSED(p))
			put_string(w, p, VARSIZE_4B(p), 0, FPT_V_COMPRESSED);
		else
			put_string(w, VARDATA_ANY(p), VARSIZE_ANY_EXHDR(p), skip, 0);
	}
	else
		put(w, DatumGetPointer(value) + skip, c->typlen - skip);
}

/*
 * Make a key of the first natts columns: head (of the least key that begins
 * so), class and tuple.  The tuple's length can come out as more than
 * FPT_MAX_TUPLE; its contents are not complete then.
 */
static void
form_key(const FPTGeneral *g, const Datum *values, const bool *isnull,
		 int natts, FPTKeyBuf *buf)
{
	FPTKey	   *key = &buf->key;
	FPTWriter	w = {buf->data, 0};
	int			headto = Min(g->head.nparts, natts);
	bool		empty = natts == g->natts;
	bool		nulls = false;
	uint64		max;

	key->hi = key->lo = 0;
	key->search = NULL;
	if (isnull[0])
		headto = 0;
	else
		fpt_head_prefix(&g->head, values, isnull, natts, &key->lo, &max);
	for (int i = 0; i < natts; i++)
	{
		if (isnull[i])
		{
			nulls = true;
			headto = Min(headto, i);
			empty &= isnull[0];
		}
		else
			empty &= i < headto && head_restores(g, i, key->lo);
	}

	if (!empty)
	{
		put_byte(&w, natts | (nulls ? FPT_T_NULLS : 0));
		for (int i = 0; nulls && i < natts; i += 8)
		{
			int			bits = 0;

			for (int k = i; k < Min(i + 8, natts); k++)
				bits |= isnull[k] ? 1 << (k - i) : 0;
			put_byte(&w, bits);
		}
		for (int i = 0; i < natts; i++)
		{
			if (isnull[i] ||
				(i < headto && head_restores(g, i, key->lo)))
				continue;
			put_value(&w, &g->col[i], values[i],
					  i < headto ? g->col[i].nhead : 0);
		}
	}
	key->len = (uint32) w.len;
	key->tup = w.len > 0 ? buf->data : NULL;
}

static inline uint32
key_class(const FPTGeneral *g, bool isnull)
{
	if (!isnull)
		return FPT_CLS_VALUE;
	return g->col[0].nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;
}

/*
 * A varlena as it is stored: never out of line, compressed if it is long.  As
 * for btree the table's own compression is kept.
 */
static Datum
storable(const FPTColumn *c, Datum value)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);

	if (VARATT_IS_EXTERNAL(v))
		v = detoast_external_attr(v);
	if (!VARATT_IS_EXTENDED(v) && VARSIZE(v) > TOAST_INDEX_TARGET &&
		(c->storage == TYPSTORAGE_EXTENDED || c->storage == TYPSTORAGE_MAIN))
	{
		Datum		compressed = toast_compress_datum(PointerGetDatum(v),
													  c->compression);

		if (DatumGetPointer(compressed) != NULL)
		{
			if (DatumGetPointer(value) != (char *) v)
				pfree(v);
			return compressed;
		}
	}
	return PointerGetDatum(v);
}

void
fpt_general_form(const FPTGeneral *g, Relation rel, const Datum *values,
				 const bool *isnull, uint64 tid, FPTKeyBuf *buf)
{
	Datum		stored[INDEX_MAX_KEYS];

	for (int i = 0; i < g->natts; i++)
	{
		stored[i] = values[i];
		if (!isnull[i] && g->col[i].typlen == -1)
			stored[i] = storable(&g->col[i], values[i]);
	}
	buf->key.cls = key_class(g, isnull[0]);
	buf->key.tid = tid;
	form_key(g, stored, isnull, g->natts, buf);

	/* A statement may insert many rows before its memory is freed. */
	for (int i = 0; i < g->natts; i++)
	{
		if (!isnull[i] && stored[i] != values[i])
			pfree(DatumGetPointer(stored[i]));
	}
	if (buf->key.len > FPT_MAX_TUPLE)
	{
		ItemPointerData htid;

		fpt_tid_decode(tid, &htid);
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index row size %u exceeds fptree maximum %d for index \"%s\"",
						buf->key.len, FPT_MAX_TUPLE,
						RelationGetRelationName(rel)),
				 errdetail("Index row references tuple (%u,%u) of the table.",
						   ItemPointerGetBlockNumberNoCheck(&htid),
						   ItemPointerGetOffsetNumberNoCheck(&htid)),
				 errhint("Values larger than a third of a page cannot be indexed. Consider an index on a hash of the value, or full text indexing.")));
	}
}

/* --- comparing ------------------------------------------------------------ */

/* Either an entry's columns, or a search key's. */
typedef struct FPTSide
{
	const FPTGeneralSearch *search; /* NULL: read from the tuple */
	FPTReader	r;
	FPTField	f;
	int			natts;
} FPTSide;

static void
side_begin(FPTSide *s, const FPTGeneral *g, const FPTKey *key)
{
	s->search = (const FPTGeneralSearch *) key->search;
	if (s->search != NULL)
		s->natts = s->search->natts;
	else
	{
		if (!reader_begin(&s->r, g, key))
			fpt_general_corrupt();
		s->natts = s->r.natts;
	}
	s->natts = Min(s->natts, g->nkeys);
}

/* Step to the next column; is it NULL? */
static inline bool
side_next(FPTSide *s, int i)
{
	if (s->search != NULL)
		return s->search->isnull[i];
	if (!reader_next(&s->r, &s->f))
		fpt_general_corrupt();
	return s->f.isnull;
}

static inline Datum
side_value(FPTSide *s, int i, FPTValueBuf *buf)
{
	if (s->search != NULL)
		return s->search->values[i];
	return field_value(&s->r, i, &s->f, buf->bytes);
}

/* Two values of a column by bytes; neither is compressed or out of line. */
static int
compare_bytes(Datum a, Datum b)
{
	const char *pa = DatumGetPointer(a);
	const char *pb = DatumGetPointer(b);
	Size		la = VARSIZE_ANY_EXHDR(pa);
	Size		lb = VARSIZE_ANY_EXHDR(pb);
	int			c = memcmp(VARDATA_ANY(pa), VARDATA_ANY(pb), Min(la, lb));

	if (c != 0)
		return c;
	return la < lb ? -1 : la > lb ? 1 : 0;
}

static inline bool
is_plain(Datum d)
{
	const char *p = DatumGetPointer(d);

	return !VARATT_IS_EXTENDED(p) || VARATT_IS_SHORT(p);
}

static int
compare_images(const FPTKeyType *type, Datum a, Datum b)
{
	FPTImage	ia;
	FPTImage	ib;

	fpt_image_encode(type, a, &ia);
	fpt_image_encode(type, b, &ib);
	if (type->kind == FPT_IMG_F4 || type->kind == FPT_IMG_F8)
	{
		FPTImage	lo;

		fpt_image_class(type, false, ia, &lo, &ia);
		fpt_image_class(type, false, ib, &lo, &ib);
	}
	return fpt_img_cmp(ia, ib);
}

/* Two values of a column, ascending. */
static int
compare_values(const FPTColumn *c, Datum a, Datum b)
{
	if (c->kind == FPT_COL_IMAGE)
		return compare_images(c->type, a, b);
	if (c->kind == FPT_COL_BYTES && is_plain(a) && is_plain(b))
		return compare_bytes(a, b);
	if (c->fastcmp != NULL)
		return c->fastcmp(a, b, c->ssup);
	return DatumGetInt32(FunctionCall2Coll(c->cmp, c->collation, a, b));
}

int
fpt_general_compare_values(const FPTGeneral *g, int i, Datum a, bool anull,
						   Datum b, bool bnull)
{
	const FPTColumn *c = &g->col[i];
	int			res;

	if (anull || bnull)
	{
		if (anull && bnull)
			return 0;
		return anull == c->nullsfirst ? -1 : 1;
	}
	res = compare_values(c, a, b);
	if (c->descending)
		return res < 0 ? 1 : res > 0 ? -1 : 0;
	return res;
}

/*
 * A string of bytes that is looked for, and an entry's, which stays where it is.
 * The heads are equal, and so are as many bytes as they hold of both.
 */
static inline bool
compare_search_bytes(const FPTGeneralSearch *s, int i, const FPTSide *entry,
					 int *res)
{
	const FPTField *f = &entry->f;
	const char *p = DatumGetPointer(s->values[i]);
	int			len;
	int			skip;

	if (f->compressed || f->restored || !is_plain(s->values[i]))
		return false;
	len = (int) VARSIZE_ANY_EXHDR(p);
	skip = Min(f->nhead, len);
	*res = memcmp(VARDATA_ANY(p) + skip, f->data, Min(len, f->len) - skip);
	if (*res == 0)
		*res = len - f->len;
	*res = (*res > 0) - (*res < 0);
	return true;
}

/*
 * A column of two keys, of bytes, where they are; false if they must be put
 * together first.
 */
static inline bool
compare_in_place(const FPTGeneral *g, int i, const FPTSide *a,
				 const FPTSide *b, int *res)
{
	const FPTField *fa = &a->f;
	const FPTField *fb = &b->f;

	if (g->col[i].kind != FPT_COL_BYTES)
		return false;
	if (a->search != NULL && b->search == NULL)
		return compare_search_bytes(a->search, i, b, res);
	if (b->search != NULL && a->search == NULL)
	{
		if (!compare_search_bytes(b->search, i, a, res))
			return false;
		*res = -*res;
		return true;
	}
	if (a->search != NULL || fa->compressed || fb->compressed ||
		fa->restored || fb->restored || fa->nhead != fb->nhead ||
		(fa->nhead > 0 && a->r.head != b->r.head))
		return false;
	*res = memcmp(fa->data, fb->data, Min(fa->len, fb->len) - fa->nhead);
	if (*res == 0)
		*res = fa->len - fb->len;
	*res = (*res > 0) - (*res < 0);
	return true;
}

/* A column of two keys, in the index's order. */
static int
compare_column(const FPTGeneral *g, int i, FPTSide *a, bool anull,
			   FPTSide *b, bool bnull)
{
	const FPTColumn *c = &g->col[i];
	FPTValueBuf abuf;
	FPTValueBuf bbuf;
	Datum		av;
	Datum		bv;
	int			res;

	if (anull || bnull)
	{
		if (anull && bnull)
			return 0;
		return anull == c->nullsfirst ? -1 : 1;
	}
	if (compare_in_place(g, i, a, b, &res))
		return c->descending ? -res : res;
	av = side_value(a, i, &abuf);
	bv = side_value(b, i, &bbuf);
	res = compare_values(c, av, bv);
	if (c->descending)
		return res < 0 ? 1 : res > 0 ? -1 : 0;
	return res;
}

/* The first column in which the two differ, n if they do not; *res: how. */
static int
compare_columns(const FPTGeneral *g, FPTSide *a, FPTSide *b, int from, int n,
				int *res)
{
	*res = 0;
	for (int i = 0; i < n; i++)
	{
		bool		anull = side_next(a, i);
		bool		bnull = side_next(b, i);

		if (i < from)
			continue;
		*res = compare_column(g, i, a, anull, b, bnull);
		if (*res != 0)
			return i;
	}
	return n;
}

/* Two ends of a range, often of the very same values? */
static inline bool
same_values(const FPTGeneralSearch *a, const FPTGeneralSearch *b, int n)
{
	if (a == NULL || b == NULL)
		return false;
	for (int i = 0; i < n; i++)
	{
		if (a->isnull[i] != b->isnull[i] ||
			(!a->isnull[i] && a->values[i] != b->values[i]))
			return false;
	}
	return true;
}

/*
 * Does the entry have nothing but its head, which is that of the search key?
 * Then the columns that are looked for have the entry's values.  (A NULL might
 * have the head of a value.)
 */
static inline bool
search_in_head(const FPTGeneralSearch *s, const FPTKey *entry)
{
	if (s == NULL || entry->search != NULL || entry->len != 0 ||
		entry->cls != FPT_CLS_VALUE)
		return false;
	for (int i = 0; i < s->natts; i++)
	{
		if (s->isnull[i])
			return false;
	}
	return true;
}

/* Order of a search key and an entry that begins with its values. */
static inline int
search_side(const FPTGeneral *g, const FPTGeneralSearch *s)
{
	return s->natts == g->nkeys ? 0 : s->after ? 1 : -1;
}

int
fpt_general_compare(const void *arg, const FPTKey *a, const FPTKey *b)
{
	const FPTGeneral *g = (const FPTGeneral *) arg;
	FPTSide		sa;
	FPTSide		sb;
	bool		aafter;
	bool		bafter;
	int			from = 1;		/* NULLs: class and head say no more */
	int			n;
	int			res;

	Assert(a->cls == b->cls && a->lo == b->lo);

	/* What has the same bytes is equal, whatever "=" is. */
	if (a->search == NULL && b->search == NULL && a->len == b->len &&
		(a->len == 0 || memcmp(a->tup, b->tup, a->len) == 0))
		return 0;
	if (a->search != NULL && a->search == b->search)
		return 0;
	if (search_in_head((const FPTGeneralSearch *) a->search, b))
		return search_side(g, (const FPTGeneralSearch *) a->search);
	if (search_in_head((const FPTGeneralSearch *) b->search, a))
		return -search_side(g, (const FPTGeneralSearch *) b->search);
	side_begin(&sa, g, a);
	side_begin(&sb, g, b);
	n = Min(sa.natts, sb.natts);
	if (a->cls == FPT_CLS_VALUE)
	{
		from = fpt_head_decided(&g->head, a->lo);
		if (sa.search != NULL)
			from = Min(from, sa.search->natts);
		if (sb.search != NULL)
			from = Min(from, sb.search->natts);
	}
	if (from < n && !same_values(sa.search, sb.search, n))
	{
		(void) compare_columns(g, &sa, &sb, from, n, &res);
		if (res != 0)
			return res;
	}

	/* Equal as far as both go: what is partial is before or behind. */
	aafter = sa.search != NULL && sa.search->after;
	bafter = sb.search != NULL && sb.search->after;
	if (sa.natts == sb.natts)
	{
		if (sa.natts == g->nkeys)
			return 0;			/* TIDs decide */
		return (int) aafter - (int) bafter;
	}
	if (sa.natts < sb.natts)
		return aafter ? 1 : -1;
	return bafter ? -1 : 1;
}

/* --- search keys and separators ------------------------------------------- */

/* A search key, apart from its head; true if it has one. */
static inline bool
search_key_begin(const FPTGeneral *g, const FPTGeneralSearch *s, FPTKey *key)
{
	bool		null = s->natts > 0 && s->isnull[0];

	key->hi = key->lo = 0;
	key->len = 0;
	key->tup = NULL;
	key->search = s;
	key->tid = s->after ? FPT_MAX_TID : 0;
	key->cls = key_class(g, null);
	return !null;
}

void
fpt_general_search_key(const FPTGeneral *g, const FPTGeneralSearch *s,
					   FPTKey *key)
{
	uint64		min;
	uint64		max;

	if (search_key_begin(g, s, key))
	{
		fpt_head_prefix(&g->head, s->values, s->isnull, s->natts, &min, &max);
		key->lo = s->after ? max : min;
	}
}

void
fpt_general_search_keys(const FPTGeneral *g, const FPTGeneralSearch *before,
						const FPTGeneralSearch *after, FPTKey *lo, FPTKey *hi)
{
	Assert(!before->after && after->after);
	if (search_key_begin(g, before, lo) && search_key_begin(g, after, hi))
		fpt_head_prefix(&g->head, before->values, before->isnull,
						before->natts, &lo->lo, &hi->lo);
	else
		(void) search_key_begin(g, after, hi);
}

/*
 * A shorter string than "value" that is greater than "prev": as many bytes as
 * it takes to differ.  "value" itself if it cannot be shortened.
 */
static Datum
shorten(const FPTColumn *c, Datum prev, Datum value)
{
	const char *p = DatumGetPointer(prev);
	const char *v = DatumGetPointer(value);
	Size		plen;
	Size		vlen;
	Size		n = 0;
	char	   *result;

	if (c->kind != FPT_COL_BYTES || c->descending || !is_plain(prev) ||
		!is_plain(value))
		return value;
	plen = VARSIZE_ANY_EXHDR(p);
	vlen = VARSIZE_ANY_EXHDR(v);
	while (n < plen && n < vlen && VARDATA_ANY(p)[n] == VARDATA_ANY(v)[n])
		n++;
	if (n + 1 >= vlen)
		return value;
	result = palloc(VARHDRSZ + n + 1);
	memcpy(VARDATA(result), VARDATA_ANY(v), n + 1);
	SET_VARSIZE(result, VARHDRSZ + n + 1);
	return PointerGetDatum(result);
}

void
fpt_general_separate(const void *arg, const FPTKey *prev, const FPTKey *key,
					 FPTKeyBuf *sep)
{
	const FPTGeneral *g = (const FPTGeneral *) arg;
	Datum		pvalues[INDEX_MAX_KEYS];
	Datum		values[INDEX_MAX_KEYS];
	bool		pisnull[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	int			natts = 0;
	bool		differ = prev->cls != key->cls;
	MemoryContext cxt;
	MemoryContext old;

	Assert(prev->search == NULL && key->search == NULL);

	/* A statement, or a build, splits many pages. */
	cxt = AllocSetContextCreate(CurrentMemoryContext, "fptree separator",
								ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(cxt);
	isnull[0] = key->cls != FPT_CLS_VALUE;
	if (!differ)
	{
		FPTSide		a;
		FPTSide		b;
		int			res;

		side_begin(&a, g, prev);
		side_begin(&b, g, key);
		natts = compare_columns(g, &a, &b, 0, Min(a.natts, b.natts), &res);
		differ = natts < g->nkeys;
		(void) fpt_general_deform(g, prev, pvalues, pisnull);
		(void) fpt_general_deform(g, key, values, isnull);
		if (res != 0)
		{
			if (!pisnull[natts] && !isnull[natts])
				values[natts] = shorten(&g->col[natts], pvalues[natts],
										values[natts]);
			natts++;
		}
	}
	sep->key.cls = key->cls;
	sep->key.tid = differ ? 0 : key->tid;
	form_key(g, values, isnull, natts, sep);
	Assert(sep->key.len <= FPT_MAX_TUPLE);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

/* --- sorting -------------------------------------------------------------- */

/* Sort support of a key column, if btree has one for the same order. */
static void
sort_support_column(Relation rel, int i, FPTColumn *c, bool abbreviate)
{
	Oid			type = rel->rd_opcintype[i];
	Oid			lessop = get_opfamily_member(rel->rd_opfamily[i], type, type,
											 BTLessStrategyNumber);
	Oid			family;
	SortSupport ssup;

	if (!OidIsValid(lessop) ||
		!fpt_btree_less(lessop, &family, &type) ||
		get_opfamily_proc(family, type, type, BTORDER_PROC) != c->cmp->fn_oid ||
		!OidIsValid(get_opfamily_proc(family, type, type, BTSORTSUPPORT_PROC)))
		return;
	ssup = palloc0(sizeof(SortSupportData));
	ssup->ssup_cxt = CurrentMemoryContext;
	ssup->ssup_collation = c->collation;
	ssup->abbreviate = abbreviate;
	PrepareSortSupportFromOrderingOp(lessop, ssup);
	c->fastcmp = ssup->comparator;
	if (ssup->abbrev_converter != NULL)
		c->fastcmp = ssup->abbrev_full_comparator;
	c->ssup = ssup;
}

void
fpt_general_sort_support(FPTGeneral *g, Relation rel, bool abbreviate)
{
	for (int i = 0; i < g->nkeys; i++)
	{
		if (g->col[i].kind == FPT_COL_ANY)
			sort_support_column(rel, i, &g->col[i], abbreviate);
	}
}

int
fpt_general_nkeys(const FPTGeneral *g)
{
	return g->nkeys;
}

int
fpt_general_open(const FPTGeneral *g, const FPTKey *key)
{
	int			n = 1;			/* NULLs: class and head say no more */

	if (key->cls == FPT_CLS_VALUE)
		n = fpt_head_decided(&g->head, key->lo);
	return Min(n, g->nkeys);
}

FPTColumnOrder
fpt_general_order(const FPTGeneral *g, int i, bool *descending,
				  bool *nullsfirst)
{
	const FPTColumn *c = &g->col[i];

	Assert(i < g->nkeys);
	*descending = c->descending;
	*nullsfirst = c->nullsfirst;
	if (c->kind == FPT_COL_BYTES)
		return FPT_ORDER_BYTES;
	if (c->kind == FPT_COL_ANY && OidIsValid(c->collation) &&
		(c->typlen == -1 || c->isname))
		return FPT_ORDER_STRING;
	return FPT_ORDER_OTHER;
}

/* Read up to column i, which there must be. */
static void
read_column(FPTReader *r, const FPTGeneral *g, int i, const FPTKey *key,
			FPTField *f)
{
	if (!reader_begin(r, g, key) || i >= r->natts)
		fpt_general_corrupt();
	do
	{
		if (!reader_next(r, f))
			fpt_general_corrupt();
	} while (r->i <= i);
}

bool
fpt_general_string(const FPTGeneral *g, int i, const FPTKey *key,
				   FPTGeneralString *s)
{
	FPTReader	r;
	FPTField	f;

	read_column(&r, g, i, key, &f);
	s->isnull = f.isnull;
	s->data = f.data;
	s->len = f.len - f.nhead;
	return !f.restored && !f.compressed;
}

bool
fpt_general_can_abbreviate(const FPTGeneral *g, int i)
{
	const FPTColumn *c = &g->col[i];

	return c->ssup != NULL && c->ssup->abbrev_converter != NULL &&
		c->ssup->comparator == ssup_datum_unsigned_cmp;
}

uint64
fpt_general_abbreviate(const FPTGeneral *g, int i, const FPTKey *key,
					   bool *isnull)
{
	SortSupport ssup = g->col[i].ssup;
	FPTReader	r;
	FPTField	f;
	FPTValueBuf buf;

	read_column(&r, g, i, key, &f);
	*isnull = f.isnull;
	if (f.isnull)
		return 0;
	return (uint64) ssup->abbrev_converter(field_value(&r, i, &f, buf.bytes),
										   ssup);
}

bool
fpt_general_abbreviations_pay(const FPTGeneral *g, int i, int n)
{
	SortSupport ssup = g->col[i].ssup;

	return !ssup->abbrev_abort(n, ssup);
}
