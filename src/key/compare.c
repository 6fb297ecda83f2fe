/*-------------------------------------------------------------------------
 *
 * key/compare.c
 *	  Keys of the general class: comparing them, search keys, separators, and
 *	  what sorting many of them needs.  key/general.c makes them and takes them
 *	  apart; key/general.h says what the order is.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/compare.h"
#include "key/head.h"
#include "key/image.h"
#include "page/format.h"
#include "server/compat.h"

/* --- comparing ----------------------------------------------------------- */

/* Either an entry's columns, or a search key's. */
typedef struct FPTSide
{
	const FPTGeneralSearch *search; /* NULL: read from the tuple */
	FPTReader	r;
	FPTField	f;
	int			natts;
	const char *pre;			/* FPTKey.pre and .cut */
	uint32		cut;
} FPTSide;

/*
 * Begin to go over a key's columns, but for INCLUDE columns.  Raises an error
 * if it is an entry whose tuple makes no sense.
 */
static void
side_begin(FPTSide *s, const FPTGeneral *g, const FPTKey *key)
{
	s->search = (const FPTGeneralSearch *) key->search;
	s->pre = key->pre;
	s->cut = key->cut;
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

/*
 * Step to the next column, which is number i; is it NULL?  Raises an error if
 * the tuple makes no sense.
 */
static inline bool
side_next(FPTSide *s, int i)
{
	Assert(i < s->natts);
	if (s->search != NULL)
		return s->search->isnull[i];
	Assert(s->r.i == i);
	if (!reader_next(&s->r, &s->f))
		fpt_general_corrupt();
	return s->f.isnull;
}

/*
 * The value of the column that side_next() stepped to, which is not NULL.  In
 * *buf if it is an entry's and passed by reference: so it is good until *buf is
 * used again.
 */
static inline Datum
side_value(FPTSide *s, int i, FPTValueBuf *buf)
{
	if (s->search != NULL)
		return s->search->values[i];
	Assert(s->r.i == i + 1);
	return field_value(&s->r, i, &s->f, buf->bytes);
}

static inline bool
is_plain(Datum d)
{
	return fpt_varlena_is_plain(DatumGetPointer(d));
}

/* Order of two strings of bytes, -1, 0 or 1; a beginning is less than all. */
static inline int
order_bytes(const char *a, int alen, const char *b, int blen)
{
	int			c = memcmp(a, b, Min(alen, blen));

	if (c == 0)
		c = alen - blen;
	return (c > 0) - (c < 0);
}

/* Two values of a column by bytes; neither is compressed or out of line. */
static int
compare_bytes(Datum a, Datum b)
{
	const char *pa = DatumGetPointer(a);
	const char *pb = DatumGetPointer(b);

	Assert(is_plain(a) && is_plain(b));
	return order_bytes(VARDATA_ANY(pa), VARSIZE_ANY_EXHDR(pa),
					   VARDATA_ANY(pb), VARSIZE_ANY_EXHDR(pb));
}

/*
 * Two values of a type with images: equal if the images are of one class, as
 * 0.0 and -0.0 are.  A class stands for its last image.
 */
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

/*
 * Order of two values of a column, ascending: less than, equal to or more than
 * 0.  Neither is out of line: otherwise comparing them would read a TOAST
 * table, perhaps with a page locked (L7).  Calls the type's function where
 * nothing simpler will do: that may raise, and allocate in the current context.
 */
static int
compare_values(const FPTColumn *c, Datum a, Datum b)
{
	Assert(c->cmp != NULL);
	Assert(c->fastcmp == NULL || c->ssup != NULL);

	/* or comparing would read TOAST, perhaps with a page locked (L7) */
	Assert(c->typlen != -1 || (!VARATT_IS_EXTERNAL(DatumGetPointer(a)) &&
							   !VARATT_IS_EXTERNAL(DatumGetPointer(b))));
	if (c->kind == FPT_COL_IMAGE)
		return compare_images(c->type, a, b);
	if (c->kind == FPT_COL_BYTES && is_plain(a) && is_plain(b))
		return compare_bytes(a, b);
	if (c->fastcmp != NULL)
		return c->fastcmp(a, b, c->ssup);
	return DatumGetInt32(FunctionCall2Coll(c->cmp, c->collation, a, b));
}

/* The same in the index's order, NULLs where they belong. */
static inline int
compare_ordered(const FPTColumn *c, Datum a, bool anull, Datum b, bool bnull)
{
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

int
fpt_general_compare_values(const FPTGeneral *g, int i, Datum a, bool anull,
						   Datum b, bool bnull)
{
	Assert(i >= 0 && i < g->nkeys);
	return compare_ordered(&g->col[i], a, anull, b, bnull);
}

/*
 * A string of bytes that is looked for, and an entry's, which stays where it
 * is; both without the first "cut" bytes, of the page's prefix.  The heads are
 * equal, and so are as many bytes as they hold of both.  Returns false if one
 * of the two is not plain bytes, so that they must be compared as values; else
 * *res is -1, 0 or 1.  Nothing is copied, nothing raised.
 */
static inline bool
compare_search_bytes(const FPTGeneralSearch *s, int i, int cut,
					 const FPTSide *entry, int *res)
{
	const FPTField *f = &entry->f;
	const char *p = DatumGetPointer(s->values[i]);
	int			len;
	int			skip;

	Assert(!s->isnull[i] && !f->isnull);
	if (f->compressed || f->restored || !is_plain(s->values[i]))
		return false;
	len = (int) VARSIZE_ANY_EXHDR(p) - cut;
	Assert(len >= 0);
	skip = Min(f->nhead, len);
	Assert(skip <= f->len);
	*res = order_bytes(VARDATA_ANY(p) + cut + skip, len - skip, f->data,
					   f->len - skip);
	return true;
}

/*
 * A column of two keys, of bytes, where they are; *res: -1, 0 or 1.  Returns
 * false if they must be put together first: compressed ones, those of which the
 * head has parts of different length, or pages' prefixes have, two search keys.
 * Copies nothing, raises nothing.
 */
static inline bool
compare_in_place(const FPTGeneral *g, int i, const FPTSide *a,
				 const FPTSide *b, int *res)
{
	const FPTField *fa = &a->f;
	const FPTField *fb = &b->f;
	int			cut = i == 0 ? (int) a->cut : 0;

	if (g->col[i].kind != FPT_COL_BYTES ||
		(i == 0 && !fpt_same_prefix(a->pre, a->cut, b->pre, b->cut)))
		return false;
	if (a->search != NULL && b->search == NULL)
		return compare_search_bytes(a->search, i, cut, b, res);
	if (b->search != NULL && a->search == NULL)
	{
		if (!compare_search_bytes(b->search, i, cut, a, res))
			return false;
		*res = -*res;
		return true;
	}
	if (a->search != NULL || fa->compressed || fb->compressed ||
		fa->restored || fb->restored || fa->nhead != fb->nhead ||
		(fa->nhead > 0 && a->r.head != b->r.head))
		return false;
	Assert(fa->nhead <= fa->len && fa->nhead <= fb->len);
	*res = order_bytes(fa->data, fa->len - fa->nhead, fb->data,
					   fb->len - fb->nhead);
	return true;
}

/*
 * A column of two keys, in the index's order, NULLs where they belong.  Returns
 * -1, 0 or 1, or what the type's function does, which may be a user's, and may
 * raise.  Has room for both values on the stack, FPT_MAX_TUPLE bytes each.
 */
static int
compare_column(const FPTGeneral *g, int i, FPTSide *a, bool anull,
			   FPTSide *b, bool bnull)
{
	FPTValueBuf abuf;
	FPTValueBuf bbuf;
	Datum		av = (Datum) 0;
	Datum		bv = (Datum) 0;
	int			res;

	if (!anull && !bnull)
	{
		if (compare_in_place(g, i, a, b, &res))
			return g->col[i].descending ? -res : res;
		av = side_value(a, i, &abuf);
		bv = side_value(b, i, &bbuf);
	}
	return compare_ordered(&g->col[i], av, anull, bv, bnull);
}

/*
 * The first column, not before "from", in which the two differ; n if they do
 * not in the first n columns.  *res: how, in the index's order.  Columns before
 * "from" are passed over, which costs no comparison, but their bytes must be
 * found.  May raise what comparison functions raise, and an error if a tuple
 * makes no sense.
 */
static int
compare_columns(const FPTGeneral *g, FPTSide *a, FPTSide *b, int from, int n,
				int *res)
{
	Assert(from >= 0 && from <= n);
	Assert(n <= Min(a->natts, b->natts));
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
	Assert(s->natts <= g->nkeys);
	return s->natts == g->nkeys ? 0 : s->after ? 1 : -1;
}

/*
 * The bytes after those in the head of a key of an index that has one column, a
 * string of bytes (FPTGeneral.string), and no zero in the head; NULL: this does
 * not apply.  A search key's are its value's, after "cut" bytes of prefix.
 */
static inline const char *
string_rest(const FPTKey *key, int *len)
{
	const FPTGeneralSearch *s = (const FPTGeneralSearch *) key->search;
	const char *p;
	int			before = (int) (key->cut + sizeof(uint64));

	if (s == NULL)
	{
		/* a value without a header is whole, and not compressed */
		*len = (int) key->len;
		return key->len > 0 && (uint8) *key->tup != FPT_T_HEADER ?
			key->tup : NULL;
	}
	if (s->natts != 1 || s->isnull[0] || !is_plain(s->values[0]))
		return NULL;
	p = DatumGetPointer(s->values[0]);
	*len = (int) VARSIZE_ANY_EXHDR(p) - before;
	return *len >= 0 ? VARDATA_ANY(p) + before : NULL;
}

/*
 * Order of two keys of such an index, whose heads are the same; true: it is in
 * *res.  Most comparisons of texts are of this kind.  Heads with a zero may be
 * of shorter strings.  Copies nothing, raises nothing.
 */
static inline bool
compare_strings(const FPTKey *a, const FPTKey *b, int *res)
{
	const uint64 ones = UINT64CONST(0x0101010101010101);
	const char *pa;
	const char *pb;
	int			alen = 0;
	int			blen = 0;

	if (((a->lo - ones) & ~a->lo & (ones << 7)) != 0 ||
		a->cls != FPT_CLS_VALUE ||
		!fpt_same_prefix(a->pre, a->cut, b->pre, b->cut))
		return false;
	pa = string_rest(a, &alen);
	pb = string_rest(b, &blen);
	if (pa == NULL || pb == NULL)
		return false;
	*res = order_bytes(pa, alen, pb, blen);
	return true;
}

/*
 * The same of any keys.
 *
 * From the cheapest to the dearest: the same bytes; a search key that is all in
 * the head, which both have; columns, those left out that the head decides.  At
 * last a partial key stands before, or after, all that begin so.  Keys that are
 * relative to different prefixes have heads that tell nothing.
 */
static pg_noinline int
compare_keys(const FPTGeneral *g, const FPTKey *a, const FPTKey *b)
{
	FPTSide		sa;
	FPTSide		sb;
	bool		aafter;
	bool		bafter;
	int			from = 1;		/* NULLs: class and head say no more */
	bool		heads = fpt_same_prefix(a->pre, a->cut, b->pre, b->cut);
	int			n;
	int			res;

	Assert(a->cls == b->cls && (!heads || a->lo == b->lo));
	Assert(CritSectionCount == 0);
	/* What has the same bytes is equal, whatever "=" is. */
	if (heads && a->search == NULL && b->search == NULL && a->len == b->len &&
		(a->len == 0 || memcmp(a->tup, b->tup, a->len) == 0))
		return 0;
	if (a->search != NULL && a->search == b->search)
		return 0;
	if (heads && search_in_head((const FPTGeneralSearch *) a->search, b))
		return search_side(g, (const FPTGeneralSearch *) a->search);
	if (heads && search_in_head((const FPTGeneralSearch *) b->search, a))
		return -search_side(g, (const FPTGeneralSearch *) b->search);
	side_begin(&sa, g, a);
	side_begin(&sb, g, b);
	n = Min(sa.natts, sb.natts);
	if (a->cls == FPT_CLS_VALUE)
	{
		from = heads ? fpt_head_decided(&g->head, a->lo) : 0;
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

	/* Equal as far as both go: what is partial is before or after. */
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

/* FPTLayout.cmp, see key/compare.h. */
int
fpt_general_compare(const void *arg, const FPTKey *a, const FPTKey *b)
{
	const FPTGeneral *g = (const FPTGeneral *) arg;
	int			res;

	if (likely(g->string) && compare_strings(a, b, &res))
		return res;
	return compare_keys(g, a, b);
}

int
fpt_general_common(const FPTGeneral *g, const FPTKey *a, const FPTKey *b)
{
	FPTSide		sa;
	FPTSide		sb;
	int			res;

	Assert(a->search == NULL && b->search == NULL);
	if (a->cls != b->cls)
		return 0;
	side_begin(&sa, g, a);
	side_begin(&sb, g, b);
	return compare_columns(g, &sa, &sb, 0, Min(sa.natts, sb.natts), &res);
}

/* --- search keys and separators ------------------------------------------ */

/* A search key, apart from its head; true if it has one. */
static inline bool
search_key_begin(const FPTGeneral *g, const FPTGeneralSearch *s, FPTKey *key)
{
	bool		null = s->natts > 0 && s->isnull[0];

	Assert(s->natts >= 0 && s->natts <= g->nkeys);
	key->hi = key->lo = 0;
	key->len = 0;
	key->tup = NULL;
	key->pre = NULL;
	key->cut = 0;
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
		fpt_head_prefix(&g->head, s->values, s->isnull, s->natts, s->code,
						&min, &max);
		key->lo = s->after ? max : min;
	}
}

void
fpt_general_search_keys(const FPTGeneral *g, const FPTGeneralSearch *before,
						const FPTGeneralSearch *after, FPTKey *from, FPTKey *to)
{
	Assert(!before->after && after->after);
	Assert(before->natts == after->natts);
	if (search_key_begin(g, before, from) && search_key_begin(g, after, to))
		fpt_head_prefix(&g->head, before->values, before->isnull,
						before->natts, before->code, &from->lo, &to->lo);
	else
		(void) search_key_begin(g, after, to);
	Assert(from->cls == to->cls && from->lo <= to->lo);
}

/*
 * Returns a shorter string than "value" that is greater than "prev": as many
 * bytes as it takes to differ, in the current context.  "value" itself if it
 * cannot be shortened, as the order is not that of bytes, or is descending,
 * where a beginning would be before and not after.
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
	Assert(CritSectionCount == 0);

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
	Assert(natts <= g->nkeys);
	sep->key.cls = key->cls;
	sep->key.tid = differ ? 0 : key->tid;
	fpt_general_form_key(g, values, isnull, natts, sep);
	Assert(sep->key.len <= FPT_MAX_TUPLE);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(cxt);
}

/* --- sorting ------------------------------------------------------------- */

/*
 * Sort support of a key column, if btree has one for the same order: the
 * default "<" of our family must be the "<" of a family of btree that has the
 * same comparison function.  Sets c->ssup and c->fastcmp, or leaves them NULL.
 * Reads catalogues; may raise.  Allocates in the current context.
 */
static void
sort_support_column(Relation rel, int i, FPTColumn *c, bool abbreviate)
{
	Oid			type = rel->rd_opcintype[i];
	Oid			lessop = get_opfamily_member(rel->rd_opfamily[i], type, type,
											 BTLessStrategyNumber);
	Oid			family;
	FPTOrdering is;
	SortSupport ssup;

	Assert(c->cmp != NULL);
	if (!OidIsValid(lessop) ||
		!get_ordering_op_properties(lessop, &family, &type, &is) ||
		is != FPT_LESS ||
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
	Assert(c->fastcmp != NULL);
}

void
fpt_general_sort_support(FPTGeneral *g, Relation rel, bool abbreviate)
{
	Assert(g->nkeys == IndexRelationGetNumberOfKeyAttributes(rel));
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
	Assert(i >= 0 && i < g->natts);
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

	Assert(key->cut == 0);
	read_column(&r, g, i, key, &f);
	s->isnull = f.isnull;
	s->data = f.data;
	s->len = f.len - f.nhead;
	Assert(s->len >= 0);
	return !f.restored && !f.compressed;
}

bool
fpt_general_can_abbreviate(const FPTGeneral *g, int i)
{
	const FPTColumn *c = &g->col[i];

	Assert(i >= 0 && i < g->nkeys);
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

	Assert(fpt_general_can_abbreviate(g, i));
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

	Assert(n > 0 && fpt_general_can_abbreviate(g, i));
	return !ssup->abbrev_abort(n, ssup);
}
