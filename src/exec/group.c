/*-------------------------------------------------------------------------
 *
 * exec/group.c
 *	  Entries of a batch that have the same key.
 *
 * They are neighbours, so a group's end is searched for: one entry on, two,
 * four and so on, and then between the last two.  Images are compared as
 * numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/itup.h"
#include "access/relscan.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "exec/group.h"
#include "key/compare.h"
#include "scan/qualset.h"
#include "scan/scan.h"
#include "store/index.h"

/* Groups that there is room for at first */
#define FPT_GROUPS_START	64

void
fpt_groups_init(FPTGroups *g, MemoryContext cxt, int ncols)
{
	Assert(ncols > 0 && ncols <= INDEX_MAX_KEYS);
	memset(g, 0, sizeof(FPTGroups));
	g->cxt = cxt;
	g->ncols = ncols;
	g->key.cxt = AllocSetContextCreate(cxt, "fptree group",
									   ALLOCSET_SMALL_SIZES);
}

void
fpt_group_copy(IndexScanDesc scan, const FPTGroups *g, const Datum *values,
			   const bool *isnull, FPTGroupKey *key)
{
	MemoryContext old;

	MemoryContextReset(key->cxt);
	old = MemoryContextSwitchTo(key->cxt);
	for (int c = 0; c < g->ncols; c++)
	{
		Form_pg_attribute att = TupleDescAttr(scan->xs_itupdesc, c);

		key->isnull[c] = isnull[c];
		key->values[c] = isnull[c] ? (Datum) 0 :
			datumCopy(values[c], att->attbyval, att->attlen);
	}
	MemoryContextSwitchTo(old);
	key->valid = true;
}

/* The key of the i'th entry, as fpt_entry_tuple() has it. */
static inline void
fpt_group_values(IndexScanDesc scan, const FPTGroups *g, int i, Datum *values,
				 bool *isnull)
{
	bool		passing;
	IndexTuple	tuple = fpt_entry_tuple(scan, i, &passing);

	for (int c = 0; c < g->ncols; c++)
		values[c] = index_getattr(tuple, c + 1, scan->xs_itupdesc, &isnull[c]);
}

void
fpt_group_key(IndexScanDesc scan, const FPTGroups *g, int i, FPTGroupKey *key)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	fpt_group_values(scan, g, i, values, isnull);
	fpt_group_copy(scan, g, values, isnull, key);
}

bool
fpt_group_is_key(IndexScanDesc scan, const FPTGroups *g, const Datum *values,
				 const bool *isnull, const FPTGroupKey *key)
{
	const FPTScanOpaque *so = (const FPTScanOpaque *) scan->opaque;

	Assert(key->valid);

	/* the last columns differ first */
	for (int c = g->ncols - 1; c >= 0; c--)
	{
		if (isnull[c] || key->isnull[c])
		{
			if (isnull[c] != key->isnull[c])
				return false;
		}
		else if (so->quals == NULL)
		{
			FPTImage	img = fpt_value_image(&so->ix, values[c]);
			FPTImage	lo;
			FPTImage	hi;

			fpt_image_class(so->ix.type, so->ix.descending,
							fpt_value_image(&so->ix, key->values[c]),
							&lo, &hi);
			if (fpt_img_cmp(img, lo) < 0 || fpt_img_cmp(img, hi) > 0)
				return false;
		}
		else if (fpt_general_compare_values(so->quals->g, c, values[c], false,
											key->values[c], false) != 0)
			return false;
	}
	return true;
}

/* Is the i'th entry of a batch of images NULL? */
static inline bool
fpt_entry_null(const FPTBatch *b, int i)
{
	return i >= b->nullfrom && i < b->nullto;
}

bool
fpt_group_has_key(IndexScanDesc scan, const FPTGroups *g, int i,
				  const FPTGroupKey *key)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	fpt_group_values(scan, g, i, values, isnull);
	return fpt_group_is_key(scan, g, values, isnull, key);
}

/*
 * The last image that is equal to the i'th entry's.  It means nothing if the
 * entry is NULL.
 */
static inline FPTImage
fpt_group_last(const FPTScanOpaque *so, int i)
{
	const FPTBatch *b = &so->cur;
	FPTImage	img = {b->his != NULL ? b->his[i] : 0, b->los[i]};
	FPTImage	lo;

	fpt_image_class(so->ix.type, so->ix.descending, img, &lo, &img);
	return img;
}

/*
 * Has entry j, which comes after entry i of the current batch, the same key?
 * g->key is i's; of images, "last" is the last equal one.
 */
static inline bool
fpt_group_same(IndexScanDesc scan, const FPTGroups *g, const FPTBatch *b,
			   bool images, FPTImage last, int i, int j)
{
	if (!images)
		return fpt_group_has_key(scan, g, j, &g->key);
	if (fpt_entry_null(b, i) || fpt_entry_null(b, j))
		return fpt_entry_null(b, i) && fpt_entry_null(b, j);
	if (b->his != NULL && b->his[j] != last.hi)
		return b->his[j] < last.hi;
	return b->los[j] <= last.lo;
}

/* The end of the group that begins with entry i; as fpt_groups_find(). */
static inline int
fpt_group_end(IndexScanDesc scan, const FPTGroups *g, const FPTBatch *b,
			  bool images, bool sorted, int i)
{
	int			in = i;			/* an entry of the group */
	int			step = 1;
	int			out = b->n;		/* the group ends before */
	FPTImage	last = {0, 0};

	if (images)
		last = fpt_group_last((FPTScanOpaque *) scan->opaque, i);

	/* at first from one to the next, for ever if there is no order */
	while (in + step < out &&
		   fpt_group_same(scan, g, b, images, last, i, in + step))
	{
		in += step;
		if (sorted)
			step *= 2;
	}
	out = Min(out, in + step);
	while (out - in > 1)
	{
		int			mid = in + (out - in) / 2;

		if (fpt_group_same(scan, g, b, images, last, i, mid))
			in = mid;
		else
			out = mid;
	}
	return out;
}

/* Add a group. */
static void
fpt_groups_add(FPTGroups *g, int from, int to)
{
	FPTGroup   *group;

	if (g->n == g->max)
	{
		int			max = Max(FPT_GROUPS_START, 2 * g->max);
		Size		size = max * sizeof(FPTGroup);

		g->list = g->list == NULL ? MemoryContextAlloc(g->cxt, size) :
			repalloc(g->list, size);
		g->max = max;
	}
	group = &g->list[g->n++];
	group->from = from;
	group->to = to;
	group->shown = -1;
	group->rows = 0;
}

void
fpt_groups_find(IndexScanDesc scan, FPTGroups *g, bool sorted)
{
	const FPTScanOpaque *so = (const FPTScanOpaque *) scan->opaque;
	const FPTBatch *b = &so->cur;
	bool		images = so->quals == NULL;
	int			to;

	Assert(b->valid && b->n > 0 && (!images || g->ncols == 1));
	Assert(!images || b->los != NULL);
	g->n = 0;
	for (int from = 0; from < b->n; from = to)
	{
		if (images)
			to = fpt_group_end(scan, g, b, true, sorted, from);
		else
		{
			CHECK_FOR_INTERRUPTS();
			fpt_group_key(scan, g, from, &g->key);
			to = fpt_group_end(scan, g, b, false, sorted, from);
		}
		fpt_groups_add(g, from, to);
	}
}
