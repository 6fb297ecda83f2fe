/*-------------------------------------------------------------------------
 *
 * key/general.c
 *	  Keys of the general class: what is known of the columns, forming keys and
 *	  taking them apart.  See key/general.h for what the tree expects of them;
 *	  key/compare.c compares them, with the reader of key/column.h.
 *
 * A tuple holds what class and head of its key do not tell:
 *
 *		1 byte		FPT_T_HEADER
 *		1 byte		number of columns (6 bits); FPT_T_NULLS: a bitmap follows;
 *					FPT_T_REST: the last column has no length, see below
 *		bitmap		a bit a column, set for NULLs
 *		columns		one after the other, unaligned
 *
 * The first two bytes are left out if the second one is that of nearly all
 * entries (FPTGeneral.usual: all columns, no NULLs, and the last one without a
 * length, if it is of a kind that has one), unless the columns have no bytes or
 * begin with FPT_T_HEADER.  If it is that but for the last column, which has
 * fewer bytes than the head can have of it, FPT_T_SHORT and their number take
 * its place.
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
 * A name or varlena that is the last column and is not compressed is stored
 * without its length: what the head has not is the rest of the tuple, and if
 * that is nothing the header tells the length, where it can.
 *
 * Partial keys are of the same form, with fewer columns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/toast_internals.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "key/general.h"
#include "key/head.h"
#include "key/image.h"
#include "key/procs.h"
#include "key/tid.h"
#include "page/format.h"

/* --- description --------------------------------------------------------- */

/*
 * See key/general.h.  A key of several columns never has an image, nor has an
 * index with INCLUDE columns, which a page of images has no place for.
 */
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

/*
 * What is known of a key column's order: recognise comparison functions that we
 * know better than to call.  Reads catalogues.
 */
static void
init_key_column(Relation rel, int i, FPTColumn *c)
{
	Oid			cmpproc = index_getprocid(rel, i + 1, FPT_ORDER_PROC);

	Assert(i < IndexRelationGetNumberOfKeyAttributes(rel));
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

	Assert(i < hd->nparts);
	Assert(part->bits > 0 && part->shift + part->bits <= 64);
	c->nhead = fpt_head_nbytes(hd, i);
	c->plainhead = !part->descending && part->kind != FPT_HEAD_BPCHAR;
	c->headshift = 64 - part->shift - part->bits;
	c->restores = fpt_head_restoring(hd, i);
}

/*
 * How write_simple() (key/itup.c) gets at a column.  FPT_WRITE_OTHER, which is
 * zero, stays if it cannot: a name, a long value of fixed length, a DESC
 * string, numbers that are not just the head's bits (int2, floats).  Changes
 * c->step alone; the column's other fields are known.
 */
static void
init_write_step(const FPTHeadDesc *hd, int i, FPTColumn *c)
{
	FPTWriteStep *w = &c->step;
	const FPTHeadPart *part;

	/* write_column() aligns by a mask */
	Assert(c->align > 0 && (c->align & (c->align - 1)) == 0);
	Assert(c->nhead >= 0 && c->nhead <= (int) sizeof(uint64));
	w->align = c->align - 1;
	w->nhead = (uint8) c->nhead;
	w->shift = c->headshift;
	if (c->restores == FPT_RESTORES_NEVER)
	{
		if (c->nhead > 0 && !c->plainhead)
			return;
		if (c->typlen == -1)
			w->kind = FPT_WRITE_VARLENA;
		else if (c->typlen > 0 && c->typlen <= FPT_WRITE_FIXED_MAX &&
				 !c->isname)
		{
			w->kind = FPT_WRITE_FIXED;
			Assert(c->nhead <= c->typlen);
			w->typlen = (uint8) c->typlen;
		}
		return;
	}
	Assert(i < hd->nparts);
	part = &hd->part[i];
	if (c->restores != FPT_RESTORES_ALL || part->kind != FPT_HEAD_IMAGE)
		return;
	w->mask = part->descending ? PG_UINT64_MAX : 0;
	w->shift = part->shift;
	if (part->type->kind == FPT_IMG_S32 || part->type->kind == FPT_IMG_U32)
		w->kind = FPT_WRITE_HEAD4;
	if (part->type->kind == FPT_IMG_S64 || part->type->kind == FPT_IMG_U64)
		w->kind = FPT_WRITE_HEAD8;
	if (part->type->kind == FPT_IMG_S32)
		w->mask ^= FPT_SIGN32;
	if (part->type->kind == FPT_IMG_S64)
		w->mask ^= FPT_SIGN64;
}

void
fpt_general_init(Relation rel, FPTGeneral *g)
{
	TupleDesc	desc = RelationGetDescr(rel);

	memset(g, 0, fpt_general_size(rel));
	g->natts = RelationGetNumberOfAttributes(rel);
	g->nkeys = IndexRelationGetNumberOfKeyAttributes(rel);
	Assert(g->nkeys > 0 && g->nkeys <= g->natts);
	Assert(g->natts <= INDEX_MAX_KEYS && g->natts < FPT_T_SHORT);
	for (int i = 0; i < g->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		FPTColumn  *c = &g->col[i];

		c->typlen = att->attlen;
		c->byval = att->attbyval;
		c->align = (uint8) att_align_nominal(1, att->attalign);
		c->storage = att->attstorage;
		c->compression = att->attcompression;
		/* or a domain over it, which is as long */
		c->isname = att->attlen == NAMEDATALEN &&
			getBaseType(att->atttypid) == NAMEOID;
		if (i >= g->nkeys)
			continue;
		init_key_column(rel, i, c);
		g->unsure |= c->kind == FPT_COL_ANY &&
			!fpt_head_known(c->cmp->fn_oid, rel->rd_opcintype[i]);
		if (i == g->head.nparts)
			(void) fpt_head_add(&g->head, c->cmp->fn_oid,
								rel->rd_opcintype[i], c->collation,
								rel->rd_indoption[i]);
	}
	Assert(g->head.nparts <= g->nkeys);
	g->prefixes = g->col[0].kind == FPT_COL_BYTES && g->head.nparts == 1 &&
		fpt_head_nbytes(&g->head, 0) == (int) sizeof(uint64);
	g->usual = (uint8) g->natts;
	if (g->col[g->natts - 1].typlen < 0 || g->col[g->natts - 1].isname)
		g->usual |= FPT_T_REST;
	g->simple = FPT_WRITE_MAX(g->natts) <= INDEX_SIZE_MASK;
	for (int i = 0; i < g->natts; i++)
	{
		FPTColumn  *c = &g->col[i];

		if (i < g->head.nparts)
			init_head_column(&g->head, i, c);
		init_write_step(&g->head, i, c);
		g->simple &= c->step.kind != FPT_WRITE_OTHER;
		if (c->typlen < 0)
			g->writeflags = INDEX_VAR_MASK;
	}
	g->string = g->prefixes && g->natts == 1 && g->col[0].plainhead &&
		g->col[0].nhead == (int) sizeof(uint64);
}

/* --- taking apart -------------------------------------------------------- */

/*
 * See key/general.h.  Each value has an allocation of its own: what index-only
 * scans return, of which there are many, fpt_general_write() makes.
 */
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

bool
fpt_general_any_null(const FPTGeneral *g, const FPTKey *key)
{
	FPTReader	r;

	if (!reader_begin(&r, g, key) || r.natts != g->natts)
		fpt_general_corrupt();
	for (int i = 0; i < g->nkeys; i++)
	{
		if (r.allnull || reader_isnull(&r, i))
			return true;
	}
	return false;
}

/*
 * A column's value in core's form, at p; returns its length.  p has
 * field_size() bytes and the column's alignment, and so can be the Datum
 * itself.  Raises an error if a compressed value's header contradicts its
 * length.
 */
static inline Size
field_put(const FPTReader *r, int i, const FPTField *f, char *p)
{
	const FPTColumn *c = &r->g->col[i];

	Assert(!f->isnull);
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
		return f->npre + f->len + VARHDRSZ;
	return c->typlen == -2 ? f->len + 1 : f->len;
}

/*
 * See key/general.h.
 *
 * Columns are aligned by the rule of heap_fill_tuple() but for short varlenas:
 * each is written with a long header, at its type's alignment.
 * att_align_pointer() then finds it because the bytes skipped are zeroes.
 */
void
fpt_general_write(const FPTGeneral *g, const FPTKey *key, IndexTuple itup)
{
	uint8	   *nulls = (uint8 *) (itup + 1);
	char	   *start = (char *) itup;
	uint16		flags = 0;
	FPTReader	r;
	FPTField	f;
	Size		off;

	Assert((uintptr_t) itup % MAXIMUM_ALIGNOF == 0);
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
	Assert(off <= INDEX_SIZE_MASK);
	itup->t_info = flags | (uint16) off;
}

/*
 * See key/general.h.  Reads what fpt_general_deform() would, and looks besides
 * at the headers of compressed values, and whether bytes are left over.  What
 * values mean to their types is not asked.
 */
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
			if ((r.i == 1 && r.cut > 0) || !VARATT_IS_4B_C(&header) ||
				VARSIZE_4B(&header) != (Size) f.len)
				return false;
		}
	}
	/* nothing but the columns */
	return r.p == r.end && r.lastlen == FPT_LENGTH_STORED;
}

/* --- forming ------------------------------------------------------------- */

/*
 * Appends to a tuple, as long as there is room (FPT_MAX_TUPLE); "len" counts
 * on, so that an error can tell what there would have been.
 */
typedef struct FPTWriter
{
	char	   *data;
	Size		len;
	bool		last;			/* the column that is put is the last one */
	bool		whole;			/* no columns are missing or NULL */
	int			lastlen;		/* what the header shall say of its length */
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

/*
 * Append bytes, with their length; the first "skip" of them are in the head,
 * and so are not repeated, but count.  The last column's length is left out if
 * the end of the tuple tells it.  That needs a byte in the tuple: a string that
 * is all in the head may be shorter than what the head has of one.  "flags":
 * FPT_V_COMPRESSED, or 0.
 */
static void
put_string(FPTWriter *w, const char *s, Size len, int skip, int flags)
{
	Assert(skip >= 0 && (skip == 0 || flags == 0));
	if (len > FPT_V_MAX)
	{
		/* too long, anyway */
		w->len += len;
		return;
	}
	if (w->last && flags == 0 && len >= (Size) skip)
		w->lastlen = FPT_LENGTH_REST;
	else if (w->last && flags == 0 && w->whole)
		w->lastlen = (int) len;
	else if (len > FPT_V_SHORT_MAX || flags != 0)
	{
		put_byte(w, FPT_V_TWO | flags | (int) (len >> 8));
		put_byte(w, (int) (len & 0xFF));
	}
	else
		put_byte(w, (int) len);
	if (len > (Size) skip)
		put(w, s + skip, len - skip);
}

/*
 * Append a value whose first "skip" bytes are in the head.  It is not out of
 * line.  By value: its typlen bytes, as in memory, so in the machine's order
 * (as all that core stores).
 */
static void
put_value(FPTWriter *w, const FPTColumn *c, Datum value, int skip)
{
	Assert(skip == 0 || !c->byval);
	Assert(c->typlen < 0 || skip <= c->typlen);
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

		Assert(!VARATT_IS_EXTERNAL(p));
		if (VARATT_IS_COMPRESSED(p))
			put_string(w, p, VARSIZE_4B(p), 0, FPT_V_COMPRESSED);
		else
			put_string(w, VARDATA_ANY(p), VARSIZE_ANY_EXHDR(p), skip, 0);
	}
	else
		put(w, (const char *) DatumGetPointer(value) + skip,
			c->typlen - skip);
}

/*
 * The header goes in front of what was put, unless it is left out.  "header":
 * but for what it says of a length.
 */
static inline void
put_header(FPTWriter *w, const FPTGeneral *g, int header)
{
	if (w->lastlen == FPT_LENGTH_REST)
		header |= FPT_T_REST;
	else if (w->lastlen >= 0)
		header = FPT_T_SHORT + w->lastlen;
	Assert(w->lastlen < 0 || w->lastlen < (int) sizeof(uint64));
	/* of what is too long for a page the first byte need not be there */
	if (header == g->usual && w->len > 0 &&
		(w->len > FPT_MAX_TUPLE || (uint8) w->data[0] != FPT_T_HEADER))
		return;
	if (w->len + 2 <= FPT_MAX_TUPLE)
	{
		memmove(w->data + 2, w->data, w->len);
		w->data[0] = (char) FPT_T_HEADER;
		w->data[1] = (char) header;
	}
	w->len += 2;
}

/*
 * See key/general.h.
 *
 * The first NULL ends what the head stands for (headto): bits behind it are
 * filled up, see key/head.h.  The tuple is empty if nothing is left to say: all
 * columns restored, or all NULL.  A partial key always has a header, which says
 * how many columns it has.
 */
void
fpt_general_form_key(const FPTGeneral *g, const Datum *values,
					 const bool *isnull, int natts, FPTKeyBuf *buf)
{
	FPTKey	   *key = &buf->key;
	FPTWriter	w = {.data = buf->data, .lastlen = FPT_LENGTH_STORED};
	int			headto = Min(g->head.nparts, natts);
	bool		empty = natts == g->natts;
	bool		nulls = false;
	uint64		max;

	Assert(natts >= 0 && natts <= g->natts);
	key->hi = key->lo = 0;
	key->search = NULL;
	key->pre = NULL;
	key->cut = 0;
	if (isnull[0])
		headto = 0;
	else
		fpt_head_prefix(&g->head, values, isnull, natts, NULL, &key->lo,
						&max);
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

	w.whole = natts == g->natts && !nulls;
	if (!empty)
	{
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
			w.last = i == natts - 1;
			put_value(&w, &g->col[i], values[i],
					  i < headto ? g->col[i].nhead : 0);
		}
	}
	if (!empty)
		put_header(&w, g, natts | (nulls ? FPT_T_NULLS : 0));
	key->len = (uint32) w.len;
	key->tup = w.len > 0 ? buf->data : NULL;
}

/* --- prefixes ------------------------------------------------------------ */

/*
 * How a string of bytes stands to those that begin with the prefix, in the
 * index's order: FPT_CUT_BELOW, _DONE (it does) or _ABOVE.
 */
static inline int
prefix_order(const FPTGeneral *g, const char *s, int n, const char *prefix,
			 int len)
{
	int			res;

	if (len == 0)
		return FPT_CUT_DONE;
	res = memcmp(s, prefix, Min(n, len));
	if (res == 0)
		res = n < len ? -1 : 0;
	if (res == 0)
		return FPT_CUT_DONE;
	return (res < 0) != g->col[0].descending ? FPT_CUT_BELOW : FPT_CUT_ABOVE;
}

/* The head of a first column that is a string of bytes. */
static inline uint64
head_of_bytes(const FPTGeneral *g, const char *s, int n)
{
	uint64		head = 0;

	Assert(g->prefixes && n >= 0);
	if (likely(n >= (int) sizeof(head)))
		memcpy(&head, s, sizeof(head));
	else
		memcpy(&head, s, n);
	head = pg_ntoh64(head);
	return g->col[0].descending ? ~head : head;
}

/* As *key, but relative to a prefix: what remains is told by head and tuple. */
static inline void
key_relative(FPTKey *to, const FPTKey *key, uint64 head, const char *prefix,
			 uint32 len)
{
	*to = *key;
	to->lo = head;
	to->pre = len > 0 ? prefix : NULL;
	to->cut = len;
}

/*
 * fpt_general_cut() of a value that must be taken out of its varlena, whole or
 * compressed, but not out of line.  The key keeps its tuple, or what it has in
 * place of one: FPT_CUT_DONE says no more than that it can be looked for.  What
 * is allocated is freed; may raise for want of memory.
 */
static int
cut_varlena(const FPTGeneral *g, const FPTKey *key, Datum value,
			const char *prefix, uint32 len, FPTKey *to)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);
	const char *s;
	int			n;
	int			res;

	Assert(!VARATT_IS_EXTERNAL(v));
	if (unlikely(!fpt_varlena_is_plain(v)))
		v = PG_DETOAST_DATUM_SLICE(value, 0, len + sizeof(uint64));
	s = VARDATA_ANY(v);
	n = (int) VARSIZE_ANY_EXHDR(v);
	res = prefix_order(g, s, n, prefix, (int) len);
	if (res == FPT_CUT_DONE)
		key_relative(to, key, head_of_bytes(g, s + len, n - (int) len), prefix,
					 len);
	if ((Pointer) v != DatumGetPointer(value))
		pfree(v);
	return res;
}

/*
 * fpt_general_cut() of an entry with a single column, which has more bytes than
 * prefix and head together and no header: the rest is the end of its tuple,
 * where it is.  False: it is another one.
 */
static inline bool
cut_in_place(const FPTGeneral *g, const FPTKey *key, const char *prefix,
			 uint32 len, FPTKeyBuf *out, int *res)
{
	const char *rest = key->tup + len;
	char		first[sizeof(uint64)];
	uint64		head = g->col[0].descending ? ~key->lo : key->lo;

	if (g->natts > 1 || key->cut > 0 || len < FPT_MIN_PREFIX ||
		key->len <= len || (uint8) key->tup[0] == FPT_T_HEADER ||
		(uint8) *rest == FPT_T_HEADER)
		return false;
	head = pg_hton64(head);
	memcpy(first, &head, sizeof(first));
	*res = prefix_order(g, first, sizeof(first), prefix, sizeof(first));
	if (*res == FPT_CUT_DONE)
		*res = prefix_order(g, key->tup, (int) key->len,
							prefix + sizeof(first),
							(int) (len - sizeof(first)));
	if (*res == FPT_CUT_DONE)
	{
		key_relative(&out->key, key,
					 head_of_bytes(g, rest - sizeof(first), sizeof(first)),
					 prefix, len);
		out->key.tup = rest;
		out->key.len = key->len - len;
	}
	return true;
}

/*
 * The tuple of an entry whose first column, of n bytes at s, has been read; r
 * is at what follows it.  Writes to out->data, and sets the length; false: it
 * would be too long.
 */
static bool
cut_tuple(const FPTReader *r, const char *s, int n, FPTKeyBuf *out)
{
	const FPTGeneral *g = r->g;
	FPTWriter	w = {.data = out->data, .lastlen = r->lastlen};

	w.whole = r->natts == g->natts && r->nulls == NULL;
	w.last = r->natts == 1;
	if (w.last)
		w.lastlen = FPT_LENGTH_STORED;
	if (r->nulls != NULL)
		put(&w, r->nulls, (r->natts + 7) / 8);
	put_string(&w, s, n, sizeof(uint64), 0);
	put(&w, r->p, r->end - r->p);
	put_header(&w, g, r->natts | (r->nulls != NULL ? FPT_T_NULLS : 0));
	out->key.len = (uint32) w.len;
	out->key.tup = out->data;
	return w.len <= FPT_MAX_TUPLE;
}

int
fpt_general_begin(const void *arg, const FPTKey *key, char *bytes, int max)
{
	const FPTGeneral *g = (const FPTGeneral *) arg;
	FPTReader	r;
	FPTField	f;
	FPTValueBuf buf;
	int			n;

	Assert(key->search == NULL);
	if (!g->prefixes || key->cls != FPT_CLS_VALUE || key->len == 0 ||
		!reader_begin(&r, g, key) || r.natts == 0 || !reader_next(&r, &f) ||
		f.compressed)
		return -1;
	field_bytes(&r, 0, &f, buf.bytes);
	n = Min(f.npre + f.len, max);
	memcpy(bytes, buf.bytes, n);
	return n;
}

int
fpt_general_cut(const void *arg, const FPTKey *key, const char *prefix,
				uint32 len, FPTKeyBuf *out)
{
	const FPTGeneral *g = (const FPTGeneral *) arg;
	const FPTGeneralSearch *s = (const FPTGeneralSearch *) key->search;
	FPTReader	r;
	FPTField	f;
	FPTValueBuf buf;
	int			n;
	int			res;

	Assert(g->prefixes && key->cls == FPT_CLS_VALUE);
	Assert(len == 0 || (len >= FPT_MIN_PREFIX && len <= FPT_MAX_PREFIX));
	if (s != NULL)
	{
		Assert(key->cut == 0 && len > 0);
		if (s->natts == 0)
			return s->after ? FPT_CUT_ABOVE : FPT_CUT_BELOW;
		return cut_varlena(g, key, s->values[0], prefix, len, &out->key);
	}
	if (key->len > 0 && cut_in_place(g, key, prefix, len, out, &res))
		return res;
	if (!reader_begin(&r, g, key))
		return FPT_CUT_CORRUPT;
	if (r.natts == 0)
		return FPT_CUT_BELOW;	/* before all others */
	if (!reader_next(&r, &f))
		return FPT_CUT_CORRUPT;
	if (f.compressed)
	{
		/* no page has it without the beginning of what it was made of */
		if (key->cut > 0)
			return FPT_CUT_CORRUPT;
		field_bytes(&r, 0, &f, buf.bytes);
		if (!VARATT_IS_4B_C(buf.bytes) ||
			VARSIZE_4B(buf.bytes) != (Size) f.len)
			return FPT_CUT_CORRUPT;
		res = cut_varlena(g, key, PointerGetDatum(buf.bytes), prefix, len,
						  &out->key);
		return res == FPT_CUT_DONE && len > 0 ? FPT_CUT_SEARCH : res;
	}
	field_bytes(&r, 0, &f, buf.bytes);
	n = f.npre + f.len;
	res = prefix_order(g, buf.bytes, n, prefix, (int) len);
	if (res != FPT_CUT_DONE)
		return res;
	key_relative(&out->key, key,
				 head_of_bytes(g, buf.bytes + len, n - (int) len), prefix, len);
	return cut_tuple(&r, buf.bytes + len, n - (int) len, out) ?
		FPT_CUT_DONE : FPT_CUT_CORRUPT;
}

/* --- forming entries ----------------------------------------------------- */

/*
 * A varlena as it is stored: never out of line, compressed if it is long.  As
 * for btree the table's own compression is kept.  Returns the value itself, or
 * a new one in the current context, which the caller frees.  Reads the TOAST
 * table of one that is out of line: no page may be locked.  May raise.
 */
static Datum
storable(const FPTColumn *c, Datum value)
{
	struct varlena *v = (struct varlena *) DatumGetPointer(value);

	Assert(c->typlen == -1);
	if (VARATT_IS_EXTERNAL(v))
		v = detoast_external_attr(v);
	Assert(!VARATT_IS_EXTERNAL(v));
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

/*
 * Most bytes that the index tuple has which an index-only scan makes of the
 * values: with a bitmap of NULLs, long headers, names in full.  Its length has
 * 13 bits, which pages of 32 kB have room for more than.  None is stored out of
 * line.
 */
static Size
index_tuple_size(const FPTGeneral *g, const Datum *values, const bool *isnull)
{
	Size		size = IndexInfoFindDataOffset(INDEX_NULL_MASK);

	for (int i = 0; i < g->natts; i++)
	{
		const FPTColumn *c = &g->col[i];
		const char *p = DatumGetPointer(values[i]);

		if (isnull[i])
			continue;
		size = TYPEALIGN(c->align, size);
		if (c->isname)
			size += NAMEDATALEN;
		else if (c->typlen == -1 && !VARATT_IS_COMPRESSED(p))
			size += VARHDRSZ + VARSIZE_ANY_EXHDR(p);
		else
			size = att_addlength_datum(size, c->typlen, values[i]);
	}
	return size;
}

/*
 * See key/general.h.  What was made for this row is freed before an error is
 * raised or the key returned, not at the end of the statement: an INSERT may
 * have many rows.
 */
void
fpt_general_form(const FPTGeneral *g, Relation rel, const Datum *values,
				 const bool *isnull, uint64 tid, FPTKeyBuf *buf)
{
	Datum		stored[INDEX_MAX_KEYS];
	Size		size;
	Size		most = FPT_MAX_TUPLE;

	Assert(CritSectionCount == 0);
	Assert(tid <= FPT_MAX_TID);
	for (int i = 0; i < g->natts; i++)
	{
		stored[i] = values[i];
		if (!isnull[i] && g->col[i].typlen == -1)
			stored[i] = storable(&g->col[i], values[i]);
	}
	buf->key.cls = key_class(g, isnull[0]);
	buf->key.tid = tid;
	fpt_general_form_key(g, stored, isnull, g->natts, buf);
	size = buf->key.len;
	if (BLCKSZ > 16384 && size <= most)
	{
		/* columns that are in the head, names and padding add to it */
		Size		whole = index_tuple_size(g, stored, isnull);

		if (whole > INDEX_SIZE_MASK)
		{
			size = whole;
			most = INDEX_SIZE_MASK;
		}
	}

	/* A statement may insert many rows before its memory is freed. */
	for (int i = 0; i < g->natts; i++)
	{
		if (!isnull[i] && stored[i] != values[i])
			pfree(DatumGetPointer(stored[i]));
	}
	if (size > most)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index row size %zu exceeds fptree maximum %zu for index \"%s\"",
						size, most, RelationGetRelationName(rel)),
				 errdetail("Index row references tuple (%u,%u) of the table.",
						   FPT_TID_FORMAT_ARGS(tid)),
				 errhint("Values larger than a third of a page cannot be indexed. Consider an index on a hash of the value, or full text indexing.")));
}

bool
fpt_general_unsure(const FPTGeneral *g)
{
	return g->unsure;
}
