/*-------------------------------------------------------------------------
 *
 * scan/scankey.c
 *	  From a scan's quals to ranges of keys.
 *
 * An index has one column, and every qual on it that reaches us is a set of
 * ascending images: an interval, or for "= ANY (array)" several.  The quals are
 * ANDed, so the sets are intersected; the result, mirrored if the index is
 * DESC, is what the scan walks through.  Nothing is compared any more after
 * that, except when FPTRanges.recheck says so.
 *
 * A nested loop comes here once a probe.  The usual quals take no memory; what
 * the others need is kept in FPTRanges.work from rescan to rescan.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "key/image.h"
#include "key/procs.h"
#include "scan/scankey.h"

/* Buffers: the spans so far, and those of the next array. */
#define FPT_NBUFS			2

/* A comparison function of the column's type and another one. */
typedef struct FPTCross
{
	struct FPTCross *next;
	Oid			subtype;
	FmgrInfo	cmp;
} FPTCross;

typedef struct FPTQualWork
{
	FPTCross   *cross;			/* those that were needed so far */
	MemoryContext scratch;		/* where those of users run, or NULL */
	FPTSpan    *buf[FPT_NBUFS];
	Size		max[FPT_NBUFS];
} FPTQualWork;

/* What the functions below work with. */
typedef struct FPTQualState
{
	Relation	rel;
	FPTIndex   *ix;
	MemoryContext cxt;
	FPTRanges  *ranges;
	FPTImage	lo;				/* the quals seen so far allow lo .. hi, */
	FPTImage	hi;				/* ascending */
} FPTQualState;

static inline int
span_order(const FPTSpan *x, const FPTSpan *y)
{
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

#define ST_SORT sort_spans
#define ST_ELEMENT_TYPE FPTSpan
#define ST_COMPARE(x, y) span_order(x, y)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/* --- helpers ------------------------------------------------------------- */

/* What is kept over rescans, in the scan's context; all zeroes at first. */
static FPTQualWork *
get_work(FPTQualState *qs)
{
	FPTRanges  *ranges = qs->ranges;

	if (ranges->work == NULL)
		ranges->work = MemoryContextAllocZero(qs->cxt, sizeof(FPTQualWork));
	return ranges->work;
}

/*
 * Make one of the buffers large enough for n spans; the first "keep" of them
 * stay.  Core bounds an array's elements at MaxArraySize.  Returns it, in the
 * scan's context; it may have moved.
 */
static FPTSpan *
get_buffer(FPTQualState *qs, int which, Size n, Size keep)
{
	FPTQualWork *work = get_work(qs);
	FPTSpan    *old = work->buf[which];

	Assert(which >= 0 && which < FPT_NBUFS);
	Assert(keep <= n && keep <= work->max[which]);
	if (n <= work->max[which])
		return old;
	n = Max(n, 16);
	if (keep > 0)
		work->buf[which] = repalloc_huge(old, n * sizeof(FPTSpan));
	else
	{
		work->buf[which] = NULL;
		work->max[which] = 0;
		if (old != NULL)
			pfree(old);
		work->buf[which] = MemoryContextAllocHuge(qs->cxt,
												  n * sizeof(FPTSpan));
	}
	work->max[which] = n;
	return work->buf[which];
}

/* Turn the ascending images lo .. hi into those of the index's order. */
static inline void
to_index_order(const FPTIndex *ix, FPTImage *lo, FPTImage *hi)
{
	Assert(fpt_img_cmp(*lo, *hi) <= 0);
	if (ix->descending)
	{
		FPTImage	tmp = *lo;

		*lo = *hi;
		*hi = tmp;
		fpt_image_invert(ix->type, lo);
		fpt_image_invert(ix->type, hi);
	}
}

/* The range of the ascending images lo .. hi. */
static inline void
set_range(FPTIndex *ix, FPTImage lo, FPTImage hi, FPTRange *range)
{
	to_index_order(ix, &lo, &hi);
	memset(range, 0, sizeof(FPTRange));
	range->lo.hi = lo.hi;
	range->lo.lo = lo.lo;
	range->lo.cls = FPT_CLS_VALUE;
	range->hi.hi = hi.hi;
	range->hi.lo = hi.lo;
	range->hi.tid = FPT_MAX_TID;
	range->hi.cls = FPT_CLS_VALUE;
}

/* The range of all entries of the classes from .. to. */
static inline void
set_class_range(FPTRange *range, uint32 from, uint32 to)
{
	Assert(from <= to);
	memset(range, 0, sizeof(FPTRange));
	range->lo.cls = from;
	range->hi.cls = to;
	range->hi.tid = FPT_MAX_TID;
}

/* See scan/scankey.h. */
void
fpt_lookup_cross(Relation rel, int i, Oid subtype, MemoryContext cxt,
				 FmgrInfo *cmp)
{
	Oid			opfamily = rel->rd_opfamily[i];
	Oid			opcintype = rel->rd_opcintype[i];
	RegProcedure proc;
	Oid		   *argtypes;
	int			nargs;

	Assert(i >= 0 && i < IndexRelationGetNumberOfKeyAttributes(rel));
	proc = get_opfamily_proc(opfamily, opcintype, subtype, FPT_ORDER_PROC);
	if (!RegProcedureIsValid(proc))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("operator family of index \"%s\" has no comparison function for types %s and %s",
						RelationGetRelationName(rel),
						format_type_be(opcintype), format_type_be(subtype)),
				 errhint("Add it with ALTER OPERATOR FAMILY, and check the operator class with amvalidate().")));

	(void) get_func_signature(proc, &argtypes, &nargs);
	if (nargs != 2 || get_func_rettype(proc) != INT4OID ||
		!IsBinaryCoercible(opcintype, argtypes[0]) ||
		!IsBinaryCoercible(subtype, argtypes[1]))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("comparison function of index \"%s\" for types %s and %s has a wrong signature",
						RelationGetRelationName(rel),
						format_type_be(opcintype), format_type_be(subtype)),
				 errhint("Check the operator class with amvalidate().")));
	pfree(argtypes);

	fmgr_info_cxt(proc, cmp, cxt);
}

/*
 * The comparison function for a key's argument; NULL: of the column's type.  It
 * is looked up once for each type, and good as long as the scan.  Reads
 * catalogues, may raise, and allocates in the scan's context.
 */
static inline FmgrInfo *
cross_cmp(FPTQualState *qs, ScanKey key)
{
	FPTQualWork *work;
	FPTCross   *c;

	if (key->sk_subtype == InvalidOid ||
		key->sk_subtype == qs->rel->rd_opcintype[0])
		return NULL;

	work = get_work(qs);
	for (c = work->cross; c != NULL; c = c->next)
	{
		if (c->subtype == key->sk_subtype)
			return &c->cmp;
	}
	c = MemoryContextAlloc(qs->cxt, sizeof(FPTCross));
	fpt_lookup_cross(qs->rel, 0, key->sk_subtype, qs->cxt, &c->cmp);
	c->subtype = key->sk_subtype;
	c->next = work->cross;
	work->cross = c;
	return &c->cmp;
}

/*
 * fpt_image_cut() by a function of a user: nobody knows what it leaves in the
 * current context at each of its calls, of which there may be some hundred; the
 * caller's lives as long as the query.  Runs it, which may raise; no page is
 * locked.  The scan's context gets one for it the first time.
 */
static pg_noinline void
foreign_cut(FPTQualState *qs, ScanKey key, FmgrInfo *cmp, Datum arg,
			FPTCut *cut)
{
	FPTQualWork *work = get_work(qs);
	MemoryContext old;

	if (work->scratch == NULL)
		work->scratch = AllocSetContextCreate(qs->cxt, "fptree arguments",
											  ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(work->scratch);
	fpt_image_cut(qs->ix->type, cmp, key->sk_collation, arg, cut);
	MemoryContextSwitchTo(old);
	MemoryContextReset(work->scratch);
}

/*
 * The ascending images lo .. hi that an argument (an array's element, or all
 * there is) allows; false if there are none.  Runs the comparison function,
 * which may raise; no page is locked.
 */
static inline bool
argument_interval(FPTQualState *qs, ScanKey key, FmgrInfo *cmp, Datum arg,
				  FPTImage *lo, FPTImage *hi)
{
	FPTCut		cut;

	if (unlikely(cmp != NULL && cmp->fn_oid >= FirstNormalObjectId))
		foreign_cut(qs, key, cmp, arg, &cut);
	else
		fpt_image_cut(qs->ix->type, cmp, key->sk_collation, arg, &cut);
	qs->ranges->recheck |= cut.fuzzy;
	return fpt_cut_interval(qs->ix->type, &cut, key->sk_strategy, lo, hi);
}

/* Intersect the interval of the quals so far with lo .. hi; false if empty. */
static inline bool
narrow(FPTQualState *qs, FPTImage lo, FPTImage hi)
{
	Assert(fpt_img_cmp(lo, hi) <= 0);
	if (fpt_img_cmp(lo, qs->lo) > 0)
		qs->lo = lo;
	if (fpt_img_cmp(hi, qs->hi) < 0)
		qs->hi = hi;
	return fpt_img_cmp(qs->lo, qs->hi) <= 0;
}

/* --- arrays -------------------------------------------------------------- */

void
fpt_elements_begin(FPTElements *e, Datum arg)
{
	e->array = DatumGetArrayTypeP(arg);
	e->ours = ((Pointer) e->array != DatumGetPointer(arg));
	e->n = ArrayGetNItems(ARR_NDIM(e->array), ARR_DIMS(e->array));
	e->i = 0;
	e->next = ARR_DATA_PTR(e->array);
	e->nulls = (uint8 *) ARR_NULLBITMAP(e->array);
	get_typlenbyvalalign(ARR_ELEMTYPE(e->array), &e->typlen, &e->typbyval,
						 &e->typalign);
}

static void
elements_end(FPTElements *e)
{
	if (e->ours)
		pfree(e->array);
}

/*
 * "key < ANY (array)" and its like: true if it is for one element at least.
 * These intervals all begin or all end at the same image, so that the largest
 * is their union.  Runs comparison functions, with no page locked; may raise,
 * and be cancelled.
 */
static bool
narrow_by_any(FPTQualState *qs, ScanKey key)
{
	FmgrInfo   *cmp = cross_cmp(qs, key);
	FPTElements e;
	Datum		value;
	FPTImage	lo;
	FPTImage	hi;
	FPTImage	elo;
	FPTImage	ehi;
	bool		found = false;

	Assert(key->sk_strategy != BTEqualStrategyNumber);
	lo.hi = lo.lo = hi.hi = hi.lo = 0;
	fpt_elements_begin(&e, key->sk_argument);
	while (fpt_elements_next(&e, &value))
	{
		CHECK_FOR_INTERRUPTS();
		if (!argument_interval(qs, key, cmp, value, &elo, &ehi))
			continue;
		if (!found || fpt_img_cmp(elo, lo) < 0)
			lo = elo;
		if (!found || fpt_img_cmp(ehi, hi) > 0)
			hi = ehi;
		found = true;
	}
	elements_end(&e);
	return found && narrow(qs, lo, hi);
}

/* The span of ascending images lo .. hi, in the index's order. */
static inline FPTSpan
make_span(const FPTIndex *ix, FPTImage lo, FPTImage hi)
{
	FPTSpan		s;

	to_index_order(ix, &lo, &hi);
	s.a = ix->layout.keysize == 16 ? lo.hi : lo.lo;
	s.b = hi.lo;
	return s;
}

/*
 * Sort spans and merge those that overlap or leave no image between them;
 * "wide": they are images of 16 bytes, of which equal ones are merged.  Returns
 * their number; they are from s on.  Allocates nothing.  May be cancelled.
 */
static int
sort_and_merge(FPTSpan *s, int n, bool wide)
{
	bool		sorted = true;
	int			last = 0;

	if (n <= 1)
		return n;
	for (int i = 1; i < n && sorted; i++)
	{
		CHECK_FOR_INTERRUPTS();
		sorted = span_order(&s[i - 1], &s[i]) <= 0;
	}
	if (!sorted)
		sort_spans(s, n);

	for (int i = 1; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (wide ? span_order(&s[i], &s[last]) != 0 :
			s[last].b != PG_UINT64_MAX && s[i].a > s[last].b + 1)
			s[++last] = s[i];
		else if (!wide)
			s[last].b = Max(s[last].b, s[i].b);
	}
	return last + 1;
}

/*
 * The spans of "key = ANY (array)" within qs->lo .. qs->hi, in a buffer;
 * returns their number.  -1: a user's operator class finds several images of 16
 * bytes equal to one element.  Then what is kept of the array is the interval
 * of all, and matches are rechecked.  Runs comparison functions, with no page
 * locked; may raise, and be cancelled.  The buffer may move.
 */
static int
array_spans(FPTQualState *qs, ScanKey key, int which)
{
	FmgrInfo   *cmp = cross_cmp(qs, key);
	bool		wide = qs->ix->layout.keysize == 16;
	bool		points = true;
	FPTElements e;
	FPTSpan    *s;
	FPTImage	min = qs->hi;
	FPTImage	max = qs->lo;
	Datum		value;
	int			n = 0;

	fpt_elements_begin(&e, key->sk_argument);
	s = get_buffer(qs, which, e.n, 0);
	while (fpt_elements_next(&e, &value))
	{
		FPTImage	lo;
		FPTImage	hi;

		CHECK_FOR_INTERRUPTS();
		if (!argument_interval(qs, key, cmp, value, &lo, &hi))
			continue;
		if (fpt_img_cmp(lo, qs->lo) < 0)
			lo = qs->lo;
		if (fpt_img_cmp(hi, qs->hi) > 0)
			hi = qs->hi;
		if (fpt_img_cmp(lo, hi) > 0)
			continue;
		if (wide)
		{
			points &= fpt_img_cmp(lo, hi) == 0;
			if (fpt_img_cmp(lo, min) < 0)
				min = lo;
			if (fpt_img_cmp(hi, max) > 0)
				max = hi;
		}
		s[n++] = make_span(qs->ix, lo, hi);
	}
	elements_end(&e);
	Assert(n <= e.n);
	if (points)
		return sort_and_merge(s, n, wide);
	qs->ranges->recheck = true;
	qs->lo = min;
	qs->hi = max;
	return -1;
}

/*
 * What two spans have in common, if anything; *xfirst: x ends before y does.
 * Wide ones are points.  *both means something after true only.
 */
static inline bool
span_meet(bool wide, FPTSpan x, FPTSpan y, FPTSpan *both, bool *xfirst)
{
	if (wide)
	{
		int			c = span_order(&x, &y);

		*both = x;
		*xfirst = c < 0;
		return c == 0;
	}
	both->a = Max(x.a, y.a);
	both->b = Min(x.b, y.b);
	*xfirst = x.b < y.b;
	return both->a <= both->b;
}

/*
 * Intersect disjoint, ascending spans; returns the number of the result's,
 * which are written to out, if that is not NULL.  *lead: out may be so many
 * spans in front of a, and must be as many at least, so that it overtakes what
 * is still to be read nowhere.  Allocates nothing.  May be cancelled.
 */
static int
intersect(bool wide, const FPTSpan *a, int na, const FPTSpan *b, int nb,
		  FPTSpan *out, int *lead)
{
	FPTSpan		x = na > 0 ? a[0] : (FPTSpan){0, 0};
	int			i = 0;
	int			k = 0;
	int			n = 0;

	Assert(na >= 0 && nb >= 0);
	*lead = 0;
	while (i < na && k < nb)
	{
		FPTSpan		both;
		bool		xfirst;

		CHECK_FOR_INTERRUPTS();
		if (span_meet(wide, x, b[k], &both, &xfirst))
		{
			*lead = Max(*lead, n - i);
			if (out != NULL)
				out[n] = both;
			n++;
		}
		if (!xfirst)
			k++;
		else if (++i < na)
			x = a[i];
	}
	Assert(n <= na + nb);
	return n;
}

/*
 * Of the n spans of the first buffer, what is in the m of the second one;
 * returns how many there are now in the first one, which may have moved.  May
 * be cancelled.
 */
static int
intersect_buffers(FPTQualState *qs, int n, int m)
{
	bool		wide = qs->ix->layout.keysize == 16;
	const FPTSpan *b = qs->ranges->work->buf[1];
	FPTSpan    *a = qs->ranges->work->buf[0];
	int			lead;

	Assert(n > 0 && m >= 0);
	if (intersect(wide, a, n, b, m, NULL, &lead) == 0)
		return 0;
	if (lead > 0)
	{
		a = get_buffer(qs, 0, (Size) n + lead, n);
		memmove(a + lead, a, n * sizeof(FPTSpan));
	}
	return intersect(wide, a + lead, n, b, m, a, &lead);
}

/*
 * The ranges of all "= ANY" keys, within qs->lo .. qs->hi.  Leaves ranges->n =
 * 0 if there are none.  The memory that takes is 16 bytes an element, in the
 * scan's context; btree's is 9.  Runs comparison functions, with no page
 * locked; may raise, and be cancelled.
 */
static void
preprocess_arrays(FPTQualState *qs, ScanKey keys, int nkeys)
{
	FPTRanges  *ranges = qs->ranges;
	int			n = -1;			/* spans so far, in the first buffer */

	for (int i = 0; i < nkeys; i++)
	{
		int			m;

		if ((keys[i].sk_flags & SK_SEARCHARRAY) == 0 ||
			keys[i].sk_strategy != BTEqualStrategyNumber)
			continue;
		m = array_spans(qs, &keys[i], n < 0 ? 0 : 1);
		if (m >= 0)
			n = n < 0 ? m : intersect_buffers(qs, n, m);
		if (n == 0)
			return;
	}
	if (n > 1)
		ranges->spans = ranges->work->buf[0];
	else if (n == 1)
		fpt_span_range(&qs->ix->layout, ranges->work->buf[0][0], &ranges->one);
	else
	{
		n = 1;
		set_range(qs->ix, qs->lo, qs->hi, &ranges->one);
	}
	ranges->n = n;
}

/* --- all keys ------------------------------------------------------------ */

void
fpt_reject_key(Relation rel, ScanKey key)
{
	elog(ERROR, "unexpected scan key for index \"%s\": attribute %d, strategy %d, flags 0x%X",
		 RelationGetRelationName(rel), key->sk_attno, key->sk_strategy,
		 (unsigned) key->sk_flags);
}

/*
 * A row comparison, of a column that is in the row several times: what its
 * first member says.  The rest is the executor's business.  False if nothing
 * matches.  Runs the comparison function, which may raise; no page is locked.
 */
static bool
narrow_by_row(FPTQualState *qs, ScanKey key)
{
	ScanKeyData first = *(ScanKey) DatumGetPointer(key->sk_argument);
	FPTImage	lo;
	FPTImage	hi;

	Assert(first.sk_flags & SK_ROW_MEMBER);
	if (first.sk_flags & SK_ISNULL)
		return false;
	first.sk_strategy = key->sk_strategy <= BTLessEqualStrategyNumber ?
		BTLessEqualStrategyNumber : BTGreaterEqualStrategyNumber;
	qs->ranges->recheck = true;
	return argument_interval(qs, &first, cross_cmp(qs, &first),
							 first.sk_argument, &lo, &hi) &&
		narrow(qs, lo, hi);
}

/* What the quals ask for, besides bounds. */
typedef struct Wanted
{
	bool		isnull;
	bool		notnull;
	bool		arrays;			/* "= ANY", which are looked at together */
} Wanted;

/*
 * Take a qual into account.  False: it can never be true, or contradicts those
 * before.  Locks, errors and memory: see preprocess().
 */
static bool
narrow_by_key(FPTQualState *qs, ScanKey key, Wanted *wanted)
{
	FPTImage	lo;
	FPTImage	hi;

	if (key->sk_attno != 1 ||
		(key->sk_flags & (SK_ROW_MEMBER | SK_ORDER_BY)))
		fpt_reject_key(qs->rel, key);
	if (key->sk_flags & SK_SEARCHNULL)
	{
		wanted->isnull = true;
		return true;
	}

	/* All else is true of values only. */
	wanted->notnull = true;
	if (key->sk_flags & SK_SEARCHNOTNULL)
		return true;
	if (key->sk_flags & SK_ROW_HEADER)
		return narrow_by_row(qs, key);
	if (key->sk_flags & SK_ISNULL)
		return false;			/* the operators are strict */
	if (key->sk_strategy < BTLessStrategyNumber ||
		key->sk_strategy > BTGreaterStrategyNumber)
		fpt_reject_key(qs->rel, key);
	if (!(key->sk_flags & SK_SEARCHARRAY))
		return argument_interval(qs, key, cross_cmp(qs, key),
								 key->sk_argument, &lo, &hi) &&
			narrow(qs, lo, hi);
	if (key->sk_strategy != BTEqualStrategyNumber)
		return narrow_by_any(qs, key);
	wanted->arrays = true;
	return true;
}

/*
 * The general case.  Leaves ranges->n = 0 as soon as the quals contradict each
 * other or one can never be true.  Runs comparison functions, and reads
 * catalogues, with no page locked; may be cancelled, or raise.  Allocates in
 * the scan's context, and only for arrays and arguments of other types.
 */
static void
preprocess(FPTQualState *qs, ScanKey keys, int nkeys)
{
	FPTRanges  *ranges = qs->ranges;
	Wanted		wanted = {0};

	Assert(ranges->n == 0 && ranges->spans == NULL);
	qs->lo.hi = qs->lo.lo = 0;
	qs->hi = fpt_image_max(qs->ix->type);

	for (int i = 0; i < nkeys; i++)
	{
		if (!narrow_by_key(qs, &keys[i], &wanted))
			return;
	}
	if (wanted.isnull && wanted.notnull)
		return;
	if (wanted.arrays)
	{
		preprocess_arrays(qs, keys, nkeys);
		return;
	}

	ranges->n = 1;
	if (wanted.isnull)
	{
		uint32		cls = qs->ix->layout.nullsfirst ?
		FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;

		set_class_range(&ranges->one, cls, cls);
	}
	else if (wanted.notnull)
		set_range(qs->ix, qs->lo, qs->hi, &ranges->one);
	else
		set_class_range(&ranges->one, FPT_CLS_MINF, FPT_CLS_PINF);
}

void
fpt_preprocess_keys(Relation rel, FPTIndex *ix, ScanKey keys, int nkeys,
					MemoryContext cxt, FPTRanges *ranges)
{
	FPTQualState qs;

	Assert(ix->type != NULL);
	ranges->n = 0;
	ranges->spans = NULL;
	ranges->recheck = false;

	/* "column = value", the probe of a nested loop */
	if (nkeys == 1 && keys->sk_flags == 0 &&
		keys->sk_strategy == BTEqualStrategyNumber && keys->sk_attno == 1 &&
		(keys->sk_subtype == InvalidOid ||
		 keys->sk_subtype == rel->rd_opcintype[0]) &&
		(ix->type->kind == FPT_IMG_S32 || ix->type->kind == FPT_IMG_S64))
	{
		FPTImage	img;

		fpt_image_encode(ix->type, keys->sk_argument, &img);
		set_range(ix, img, img, &ranges->one);
		ranges->n = 1;
		return;
	}

	qs.rel = rel;
	qs.ix = ix;
	qs.cxt = cxt;
	qs.ranges = ranges;
	preprocess(&qs, keys, nkeys);
	Assert(ranges->n >= 0);
	Assert(ranges->spans == NULL || ranges->n > 1);
}
