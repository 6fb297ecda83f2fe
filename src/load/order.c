/*-------------------------------------------------------------------------
 *
 * load/order.c
 *	  Sorting entries of general keys whose class and head are equal.
 *
 * The comparison of two strings by the rules of a language costs a hundred
 * times as much as that of two numbers, so as few as possible are made:
 *
 *	- By a merge sort, which needs fewer comparisons than a quicksort, and
 *	  hardly more than one an entry if the entries are in order already.
 *
 *	- Strings are sorted by their bytes first.  That can be done by radix, with
 *	  numbers of eight bytes behind the prefix that all have in common.  Where
 *	  bytes are the order, that is nearly all that is to be done; in other
 *	  collations it brings together what is equal, and often (digits, words of
 *	  one case) it is the order, too.
 *
 *	- If a sample says that it is not, abbreviated keys are used, as core's
 *	  sorts do, provided that the type's sort support has them.  Those of ICU
 *	  contradict its comparison of some strings, which operators use: so
 *	  neighbours are compared afterwards, and all is sorted without them if any
 *	  two are out of order.
 *
 * While items are sorted here, their class and head are replaced by other
 * numbers to sort by, and are not restored.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "miscadmin.h"
#include "port/pg_bswap.h"

#include "key/column.h"
#include "key/compare.h"
#include "key/general.h"
#include "load/order.h"
#include "load/radix.h"

/* So few are compared without further ado. */
#define FPT_ORDER_FEW		24

/* So few are sorted by insertion, which needs no more comparisons then. */
#define FPT_ORDER_INSERT	5

/* Classes of items: as numbers to sort by */
#define FPT_ORDER_NULLFIRST	0
#define FPT_ORDER_VALUE		1
#define FPT_ORDER_NULLLAST	2

/* Where the records are, and the column that they are sorted by. */
typedef struct FPTOrder
{
	const FPTLayout *l;
	const FPTGeneral *g;
	char	   *const *chunks;
	FPTItem    *tmp;
	int			col;
	bool		descending;
	bool		nullsfirst;
	bool		exact;			/* bytes are the order */
} FPTOrder;

/* --- by comparison ------------------------------------------------------- */

/*
 * Two whole entries, TIDs included: 0 only of an item and itself.  May raise
 * what comparison functions raise.
 */
static inline int
item_cmp(const FPTOrder *o, const FPTItem *a, const FPTItem *b)
{
	FPTKey		x;
	FPTKey		y;

	fpt_item_get(o->chunks, a, &x);
	fpt_item_get(o->chunks, b, &y);
	return fpt_key_cmp(o->l, &x, &y);
}

/* Few items, with one comparison each if they are in order. */
static void
insertion_sort(const FPTOrder *o, FPTItem *items, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		FPTItem		item = items[i];
		size_t		k = i;

		for (; k > 0 && item_cmp(o, &items[k - 1], &item) > 0; k--)
			items[k] = items[k - 1];
		items[k] = item;
	}
}

/*
 * Sort by comparing whole keys.  As all that sorts here it may be cancelled,
 * and raise errors of comparison functions; items may be lost then.  o->tmp has
 * room for half of the items.  The recursion is as deep as n has bits.
 */
static void
merge_sort(const FPTOrder *o, FPTItem *items, size_t n)
{
	FPTItem    *tmp = o->tmp;
	size_t		half = n / 2;
	size_t		i = 0;
	size_t		j = half;
	size_t		to = 0;

	if (n <= FPT_ORDER_INSERT)
	{
		insertion_sort(o, items, n);
		return;
	}
	CHECK_FOR_INTERRUPTS();
	merge_sort(o, items, half);
	merge_sort(o, items + half, n - half);
	if (item_cmp(o, &items[half - 1], &items[half]) <= 0)
		return;
	memcpy(tmp, items, half * sizeof(FPTItem));
	while (i < half && j < n)
	{
		CHECK_FOR_INTERRUPTS();
		if (item_cmp(o, &tmp[i], &items[j]) <= 0)
			items[to++] = tmp[i++];
		else
			items[to++] = items[j++];
	}
	memcpy(items + to, tmp + i, (half - i) * sizeof(FPTItem));
}

/* --- by bytes ------------------------------------------------------------ */

/* The number that stands for a NULL, where they are to be sorted. */
static inline uint64
null_class(const FPTOrder *o)
{
	return o->nullsfirst ? FPT_ORDER_NULLFIRST : FPT_ORDER_NULLLAST;
}

/* An item's string from byte "skip" on; false if it cannot be had. */
static inline bool
item_string(const FPTOrder *o, const FPTItem *item, int skip,
			FPTGeneralString *s)
{
	FPTKey		e;

	fpt_item_get(o->chunks, item, &e);
	if (!fpt_general_string(o->g, o->col, &e, s))
		return false;
	skip = Min(skip, s->len);
	s->data += skip;
	s->len -= skip;
	return true;
}

/*
 * How many bytes from "skip" on have all strings in common?  -1: there is
 * nothing more to sort by, or not all strings can be had.  May be cancelled;
 * changes nothing.  Where some items are NULL, and others are not, there is
 * something to sort by.
 */
static int
common_bytes(const FPTOrder *o, const FPTItem *items, size_t n, int skip)
{
	FPTGeneralString first = {.isnull = true};
	FPTGeneralString s;
	int			common = 0;
	bool		same = true;

	Assert(n > 0 && skip >= 0);
	for (size_t i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fpt_item_ahead(o->chunks, items, i, n);
		if (!item_string(o, &items[i], skip, &s))
			return -1;
		same &= i == 0 || s.isnull == first.isnull;
		if (s.isnull)
			continue;
		if (first.isnull)
		{
			first = s;
			common = s.len;
		}
		same &= s.len == first.len;
		common = Min(common, s.len);
		if (common > 0 && memcmp(first.data, s.data, common) != 0)
		{
			int			k = 0;

			while (first.data[k] == s.data[k])
				k++;
			common = k;
		}
	}
	return same && common == first.len ? -1 : common;
}

/*
 * Give items numbers: eight bytes from "skip" on, and a class of NULLs.
 * Returns whether any two differ.  Bytes behind a string's end are zeroes,
 * which puts it before, or beside, what it begins.  May be cancelled.
 */
static bool
number_bytes(const FPTOrder *o, FPTItem *items, size_t n, int skip)
{
	bool		differ = false;

	for (size_t i = 0; i < n; i++)
	{
		FPTItem    *item = &items[i];
		FPTGeneralString s;
		uint64		code = 0;
		bool		known PG_USED_FOR_ASSERTS_ONLY;

		CHECK_FOR_INTERRUPTS();
		fpt_item_ahead(o->chunks, items, i, n);
		known = item_string(o, item, skip, &s);
		Assert(known);			/* common_bytes() has seen them all */
		if (s.isnull)
			item->cls = null_class(o);
		else
		{
			item->cls = FPT_ORDER_VALUE;
			if (s.len > 0)
				memcpy(&code, s.data, Min(s.len, (int) sizeof(code)));
			code = pg_ntoh64(code);
			if (o->descending)
				code = ~code;
		}
		item->head = code;
		differ |= item->cls != items[0].cls || code != items[0].head;
	}
	return differ;
}

/*
 * Sort by the bytes from "skip" on.  If these are the order, the items are in
 * order then; else they nearly are sorted by bytes.  The depth of the recursion
 * is at most an eighth of the longest string.  May be cancelled; where the
 * bytes are the order, entries are compared, which may raise.
 */
static void
sort_bytes(const FPTOrder *o, FPTItem *items, size_t n, int skip)
{
	int			common;

	Assert(n > 0 && skip >= 0);
	CHECK_FOR_INTERRUPTS();
	common = n < FPT_ORDER_FEW ? -1 : common_bytes(o, items, n, skip);
	if (common < 0 || !number_bytes(o, items, n, skip + common))
	{
		if (o->exact)
			merge_sort(o, items, n);
		return;
	}
	fpt_radix_sort((uint64 *) items, n, 3);
	for (size_t from = 0, to; from < n; from = to)
	{
		to = fpt_item_run(items, from, n);
		if (to - from > 1)
			sort_bytes(o, items + from, to - from,
					   skip + common + (int) sizeof(uint64));
	}
}

/* --- other strings ------------------------------------------------------- */

/*
 * Do bytes give the order, as far as a sample can tell?  Sorts a copy of up to
 * FPT_GORDER_TMP items, in o->tmp, by bytes, and compares neighbours: may
 * raise, or be cancelled.  The items themselves are as before.
 */
static bool
order_is_bytes(const FPTOrder *o, const FPTItem *items, size_t n)
{
	size_t		step = Max(n / FPT_GORDER_TMP, 1);
	size_t		k = 0;

	for (size_t i = 0; i < n && k < FPT_GORDER_TMP; i += step)
		o->tmp[k++] = items[i];
	sort_bytes(o, o->tmp, k, 0);
	for (size_t i = 1; i < k; i++)
	{
		FPTKey		x;
		FPTKey		y;

		fpt_item_get(o->chunks, &o->tmp[i - 1], &x);
		fpt_item_get(o->chunks, &o->tmp[i], &y);
		if (o->l->cmp(o->g, &x, &y) > 0)
			return false;
	}
	return true;
}

/*
 * Give items abbreviated keys; false if these turn out to be of no use, some
 * items then with other numbers than before, which is no loss: whoever sorts
 * them gives them new ones.  That is asked after 10, 20, 40 and so on, as
 * core's sorts do.  May be cancelled.  Runs the type's sort support, which may
 * raise.
 */
static bool
abbreviate(const FPTOrder *o, FPTItem *items, size_t n)
{
	size_t		ask = 10;

	for (size_t i = 0; i < n; i++)
	{
		FPTItem    *item = &items[i];
		FPTKey		e;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		fpt_item_ahead(o->chunks, items, i, n);
		if (i == ask)
		{
			if (!fpt_general_abbreviations_pay(o->g, o->col, (int) i))
				return false;
			ask = i < INT_MAX / 2 ? i * 2 : 0;
		}
		fpt_item_get(o->chunks, item, &e);
		item->head = fpt_general_abbreviate(o->g, o->col, &e, &isnull);
		item->cls = isnull ? null_class(o) : FPT_ORDER_VALUE;
		if (o->descending && !isnull)
			item->head = ~item->head;
	}
	return true;
}

/*
 * Sort by abbreviated keys, and what these leave equal by bytes and
 * comparison.  Returns whether they are in order for comparisons then, too:
 * each run of equal ones is, so that its borders are asked.  May be cancelled;
 * runs comparison functions, which may raise.
 */
static bool
sort_abbreviated(const FPTOrder *o, FPTItem *items, size_t n)
{
	fpt_radix_sort((uint64 *) items, n, 3);
	for (size_t from = 0, to; from < n; from = to)
	{
		CHECK_FOR_INTERRUPTS();
		to = fpt_item_run(items, from, n);
		if (to - from >= FPT_ORDER_FEW)
			sort_bytes(o, items + from, to - from, 0);
		if (to - from > 1)
			merge_sort(o, items + from, to - from);
		if (from > 0 && item_cmp(o, &items[from - 1], &items[from]) > 0)
			return false;
	}
	return true;
}

/*
 * Sort by a column of strings, whose order need not be that of their bytes.
 * May be cancelled.  Runs comparison functions, which may raise.
 *
 * By bytes first, then merge_sort(), which of items that are in order makes n -
 * 1 comparisons; or by abbreviated keys, if comparisons agree.
 */
static void
sort_strings(const FPTOrder *o, FPTItem *items, size_t n)
{
	if (fpt_general_can_abbreviate(o->g, o->col) &&
		!order_is_bytes(o, items, n) && abbreviate(o, items, n) &&
		sort_abbreviated(o, items, n))
		return;
	sort_bytes(o, items, n, 0);
	merge_sort(o, items, n);
}

/* --- interface ----------------------------------------------------------- */

/*
 * See load/order.h.  The column to begin with is the first that class and
 * head, which are the same for all items, leave open.
 */
void
fpt_gorder_sort(const FPTLayout *l, char *const *chunks, FPTItem *items,
				size_t n, FPTItem *tmp)
{
	FPTOrder	o = {.l = l, .g = l->arg, .chunks = chunks, .tmp = tmp};
	FPTKey		e;

	Assert(n > 1 && tmp != NULL);
	Assert(fpt_is_general(l));
	fpt_item_get(chunks, &items[0], &e);
	o.col = fpt_general_open(o.g, &e);
	if (n >= FPT_ORDER_FEW && e.len > 0 &&
		o.col < fpt_general_nkeys(o.g))
	{
		switch (fpt_general_order(o.g, o.col, &o.descending, &o.nullsfirst))
		{
			case FPT_ORDER_BYTES:
				o.exact = true;
				sort_bytes(&o, items, n, 0);
				return;
			case FPT_ORDER_STRING:
				sort_strings(&o, items, n);
				return;
			case FPT_ORDER_OTHER:
				break;
		}
	}
	merge_sort(&o, items, n);
}
