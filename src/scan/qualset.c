/*-------------------------------------------------------------------------
 *
 * scan/qualset.c
 *	  What quals allow of a column: sets of disjoint intervals, ascending.
 *
 * They are ANDed, so the sets are intersected.  Values are images, or compared
 * by functions of types, which is all the same here: see scan/qualset.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "scan/qualset.h"

/* --- intervals of arrays ------------------------------------------------- */

/* See scan/qualset.h. */
void
fpt_set_allocate(FPTSet *s, Size n)
{
	Assert(s->words == 1 || s->words == 2);
	s->values = MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) *
									   s->words * sizeof(uint64));
}

/* See scan/qualset.h. */
void
fpt_set_widen(FPTSet *s, int max)
{
	Assert(s->width == 1 && s->words == 1 && s->n <= max);
	s->values = repalloc_huge(s->values, (Size) max * 2 * sizeof(uint64));
	for (int k = s->n - 1; k >= 0; k--)
		s->values[k * 2] = s->values[k * 2 + 1] = s->values[k];
	s->width = s->words = 2;
}

/* Make the n'th interval what the k'th one of a set of the same kind is. */
static inline void
put_interval(FPTSet *s, int n, const FPTSet *from, int k)
{
	s->values[(Size) n * s->words] = from->values[(Size) k * s->words];
	if (s->words == 2)
		s->values[(Size) n * 2 + 1] = from->values[(Size) k * 2 + 1];
}

/* Make it that of two values. */
static inline void
put_ends(FPTSet *s, int n, const FPTInterval *iv, bool images)
{
	Assert(s->width == 2 && n >= 0);
	Assert(!iv->lo.inf && !iv->lo.isnull && !iv->hi.inf && !iv->hi.isnull);
	s->values[(Size) n * 2] = images ? iv->lo.image.lo : iv->lo.value;
	s->values[(Size) n * 2 + 1] = images ? iv->hi.image.lo : iv->hi.value;
}

/* Is there no image between two intervals of an array? */
static inline bool
is_next(const FPTInterval *x, const FPTInterval *y)
{
	return x->hi.image.lo + 1 == y->lo.image.lo;
}

/* --- sorting ------------------------------------------------------------- */

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

typedef struct FPTSortArg
{
	const FPTQuals *q;
	int			i;
	FPTArgument how;
} FPTSortArg;

/*
 * Order of two values of an array, for qsort_arg().  Runs the type's function,
 * or core's for names and texts; may be cancelled.
 */
static int
value_order(const void *a, const void *b, void *arg)
{
	const FPTSortArg *s = (const FPTSortArg *) arg;
	const FPTColumn *col = &s->q->g->col[s->i];
	Datum		x = (Datum) *(const uint64 *) a;
	Datum		y = (Datum) *(const uint64 *) b;
	int			c;

	CHECK_FOR_INTERRUPTS();
	if (s->how == FPT_ARG_SAME)
		return fpt_general_compare_values(s->q->g, s->i, x, false, y, false);

	/*
	 * Two names, or two texts, are in the order that they are in converted:
	 * the column's is core's (fpt_converter_init()).
	 */
	c = DatumGetInt32(DirectFunctionCall2Coll(s->how == FPT_ARG_NAME_TO_TEXT ?
											  btnamecmp : bttextcmp,
											  col->collation, x, y));
	return col->descending ? (c < 0) - (c > 0) : c;
}

/* Merge what overlaps of a sorted array, in place.  As fpt_set_sort(). */
static pg_attribute_always_inline void
merge(const FPTQuals *q, int i, FPTSet *s, bool images)
{
	FPTConverted xbuf;
	FPTConverted ybuf;
	FPTInterval x = fpt_set_interval(s, 0, &xbuf, images);
	int			last = 0;

	for (int k = 1; k < s->n; k++)
	{
		FPTInterval y = fpt_set_interval(s, k, &ybuf, images);
		int			c = fpt_value_cmp(q, i, &x.hi, &y.lo, images);

		CHECK_FOR_INTERRUPTS();
		if (s->width == 1 ? c != 0 : c < 0 && !(images && is_next(&x, &y)))
		{
			put_interval(s, ++last, s, k);
			x = images ? y : fpt_set_interval(s, last, &xbuf, false);
		}
		else if (s->width == 2 &&
				 fpt_value_cmp(q, i, &x.hi, &y.hi, images) < 0)
		{
			x.hi = y.hi;
			put_ends(s, last, &x, images);
		}
	}
	s->n = last + 1;
}

/* See scan/qualset.h. */
void
fpt_set_sort(const FPTQuals *q, int i, FPTSet *s)
{
	FPTSortArg	arg = {q, i, s->how};

	if (s->n <= 1)
		return;
	if (q->g == NULL)
	{
		sort_spans((FPTSpan *) s->values, s->n);
		merge(q, i, s, true);
	}
	else
	{
		qsort_arg(s->values, s->n, s->words * sizeof(uint64), value_order,
				  &arg);
		merge(q, i, s, false);
	}
}

/* --- intersecting -------------------------------------------------------- */

/* Intersect two intervals, into the first one; false if nothing is left. */
static pg_attribute_always_inline bool
narrow(const FPTQuals *q, int i, FPTInterval *a, const FPTInterval *b,
	   bool images)
{
	int			c;

	if (fpt_bound_cmp(q, i, -1, &b->lo, &a->lo, images) > 0)
		a->lo = b->lo;
	if (fpt_bound_cmp(q, i, 1, &b->hi, &a->hi, images) < 0)
		a->hi = b->hi;
	if (a->lo.inf || a->hi.inf)
		return true;
	c = fpt_value_cmp(q, i, &a->lo, &a->hi, images);
	return c < 0 || (c == 0 && a->lo.incl && a->hi.incl);
}

/*
 * The first interval of an array that is not below *iv (end: -1), or that is
 * above it (1).  A binary search, which runs functions of types, with no page
 * locked; they may raise.
 */
static inline int
find(const FPTQuals *q, int i, const FPTSet *s, const FPTInterval *iv, int end,
	 bool images)
{
	FPTConverted buf;
	int			lo = 0;
	int			hi = s->n;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		FPTInterval x = fpt_set_interval(s, mid, &buf, images);
		int			side = fpt_value_side(q, i, end < 0 ? &x.hi : &x.lo, iv,
										  images);

		if (side < 0 || (end > 0 && side == 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Keep of an array what is in an interval.  Where that ends before a value that
 * one of the array's goes on to, the value is left in, and q->recheck set.
 * Allocates nothing; else as find().
 */
static void
clip(FPTQuals *q, int i, FPTSet *s, const FPTInterval *iv)
{
	bool		images = q->g == NULL;
	int			from = find(q, i, s, iv, -1, images);

	s->n = find(q, i, s, iv, 1, images) - from;
	memmove(s->values, s->values + (Size) from * s->words,
			(Size) s->n * s->words * sizeof(uint64));
	for (int k = 0; s->width == 2 && k < s->n; k += Max(s->n - 1, 1))
	{
		FPTInterval x = fpt_set_interval(s, k, NULL, images);

		(void) narrow(q, i, &x, iv, images);
		put_ends(s, k, &x, images);
		q->recheck |= !x.lo.incl || !x.hi.incl;
	}
}

/*
 * Keep of an array what another one has as well.  Of single values that is done
 * in place; else there may be more intervals than either has, so that room for
 * them is allocated in the current context, most of which is never touched.
 * Runs functions of types, with no page locked; may raise, and be cancelled.
 */
static pg_attribute_always_inline void
intersect_arrays(const FPTQuals *q, int i, FPTSet *s, const FPTSet *with,
				 bool images)
{
	/* of single values, if one of them is */
	FPTSet		a = s->width == 1 ? *s : *with;
	FPTSet		b = s->width == 1 ? *with : *s;
	FPTConverted buf;
	FPTInterval x = fpt_set_interval(&a, 0, &buf, images);
	int			j = 0;
	int			k = 0;
	int			n = 0;

	*s = a;
	if (a.width == 2)
		fpt_set_allocate(s, (Size) a.n + b.n);
	while (k < b.n)
	{
		int			lo = fpt_set_side(q, i, &b, k, &x.lo, images);
		int			hi = lo;

		CHECK_FOR_INTERRUPTS();
		if (a.width == 2 && lo <= 0)
			hi = fpt_set_side(q, i, &b, k, &x.hi, images);
		if (lo == 0 && hi == 0)
			put_interval(s, n++, &a, j);
		else if (lo <= 0 && hi >= 0)
		{
			FPTInterval y = fpt_set_interval(&b, k, NULL, images);

			(void) narrow(q, i, &y, &x, images);
			put_ends(s, n++, &y, images);
		}
		if (hi > 0)
			k++;
		else if (++j < a.n)
			x = fpt_set_interval(&a, j, &buf, images);
		else
			break;
	}
	Assert(n < a.n + b.n);
	s->n = n;
	if (s->values != a.values)
	{
		pfree(a.values);
		pfree(b.values);
	}
}

/* Column i has a set, which may be empty. */
static inline void
settle(FPTQuals *q, int i)
{
	q->col[i].any = false;
	q->last = Max(q->last, i);
	if (q->col[i].set.n == 0)
		q->never = true;
}

/* See scan/qualset.h. */
void
fpt_set_intersect(FPTQuals *q, int i, const FPTSet *b)
{
	FPTSet	   *a = &q->col[i].set;
	FPTInterval iv = a->iv;

	Assert(i >= 0 && i < q->nkeycols && b->width > 0);
	if (q->never)
		return;
	if (q->col[i].any || b->n == 0)
		*a = *b;
	else if (a->width == 0)
	{
		*a = *b;
		clip(q, i, a, &iv);
	}
	else if (q->g == NULL)
		intersect_arrays(q, i, a, b, true);
	else
		intersect_arrays(q, i, a, b, false);
	settle(q, i);
}

/* See scan/qualset.h. */
void
fpt_set_narrow(FPTQuals *q, int i, const FPTInterval *iv)
{
	FPTSet	   *a = &q->col[i].set;
	bool		images = q->g == NULL;

	Assert(i >= 0 && i < q->nkeycols);
	if (q->never)
		return;
	if (!images && !iv->lo.inf && !iv->hi.inf && !iv->lo.isnull &&
		!iv->hi.isnull && iv->lo.incl && iv->hi.incl &&
		iv->lo.value == iv->hi.value)
	{
		FPTSet		b = {.n = 1, .width = 1, .words = 1};

		fpt_set_allocate(&b, 1);
		b.values[0] = iv->lo.value;
		fpt_set_intersect(q, i, &b);
		return;
	}
	if (q->col[i].any)
	{
		a->n = 1;
		a->width = 0;
		a->how = FPT_ARG_SAME;
		a->iv = *iv;
	}
	else if (a->width > 0)
		clip(q, i, a, iv);
	else
		a->n = narrow(q, i, &a->iv, iv, images);
	settle(q, i);
}
