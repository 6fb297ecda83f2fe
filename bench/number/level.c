/*-------------------------------------------------------------------------
 *
 * level.c
 *	  The leaf level of an index, see level.h.
 *
 * WAL is what generic records of the pages would have: 44 bytes, and 4 for each
 * range of bytes that differ, gaps of 4 bytes or less included.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "level.h"
#include "page/check.h"
#include "page/copy.h"
#include "page/form.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/remove.h"
#include "page/room.h"
#include "page/rows.h"
#include "page/simd.h"
#include "page/widths.h"

#define PAGENO			7
#define RECORD			44
#define RANGE			4
#define DOWNLINK		72		/* what the parent of a page that is split logs */

static FPTLayout layout;
static FPTGeoms geoms;
static FPTWork work;
static FPTEntry entries[NUM_MAXENTRIES];
static NumEntry all[NUM_MAXENTRIES + 1];

uint64
lab_random(uint64 *state)
{
	uint64		z = *state += UINT64CONST(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static void
give_up(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

/* --- the product's pages ---------------------------------------------------- */

static FPTKey
key_of(const NumEntry *e)
{
	return (FPTKey) {.hi = (uint64) (e->head >> 64), .lo = (uint64) e->head,
					 .tid = e->tid, .cls = FPT_CLS_VALUE};
}

/* A fence between two entries: with a TID only where keys are the same. */
static NumEntry
border(const NumEntry *a, const NumEntry *b)
{
	NumEntry	f = *b;

	if (a->head != b->head || a->rest != b->rest)
		f.tid = 0;
	return f;
}

static void
layout_make(int keysize)
{
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];

	memset(widths, 0, sizeof(widths));
	memset(&layout, 0, sizeof(layout));
	if (!fpt_choose_widths(keysize, 0, 0, widths) ||
		!fpt_layout_init(&layout, &geoms, keysize, false, 1, widths))
		give_up("no layout");
}

static bool
product_form(const Level *l, char *page, FPTKey low, FPTKey high,
			 const NumEntry *e, int n, int percent)
{
	FPTPageSpec spec = {.pageno = PAGENO, .low = &low, .high = &high,
	.reach = fpt_tids_reach((uint32) l->ix.blocks)};

	if (n > NUM_MAXENTRIES)
		return false;
	for (int i = 0; i < n; i++)
		entries[i] = (FPTEntry) {.key = key_of(&e[i])};
	return fpt_page_form(&layout, page, &spec, entries, n, percent) == FPT_OK;
}

/* Does a page that is filled so far take these? */
static bool
product_takes(const Level *l, char *page, const NumEntry *e, long n, long total)
{
	FPTKey		low = {.cls = FPT_CLS_MINF};
	FPTKey		high = {.cls = FPT_CLS_PINF};
	NumEntry	f;

	if (n < total)
	{
		f = border(&e[n - 1], &e[n]);
		high = key_of(&f);
	}
	return product_form(l, page, low, high, e, (int) n, l->fill) &&
		n <= Max(1, fpt_page_geom(&layout, page)->capacity * l->fill / 100);
}

/* The next page of a build: the most that it takes, near *guess. */
static long
product_take(const Level *l, char *page, const NumEntry *e, long total,
			 long *guess)
{
	long		lo = 0, hi = Min(total, NUM_MAXENTRIES - 1);
	long		step = Max(1, *guess / 64);
	long		at = Min(Max(*guess, 1), hi);

	while (lo < hi)
	{
		if (product_takes(l, page, e, at, total))
		{
			lo = at;
			at = Min(hi, at + step);
			step *= 2;
		}
		else
		{
			hi = at - 1;
			step = Max(1, (hi - lo + 1) / 2);
			at = lo > 0 ? Min(hi, lo + step) : Max(1, at - Max(1, at / 16));
		}
	}
	if (lo == 0 || !product_takes(l, page, e, lo, total))
		give_up("the product forms no page");
	return *guess = lo;
}

/* --- both -------------------------------------------------------------------- */

/* A page of all of these; false: they do not fit. */
static bool
form_all(const Level *l, char *page, long at, const NumEntry *low,
		 const NumEntry *high, const NumEntry *e, int n, int percent)
{
	FPTKey		lo, hi;

	if (l->number)
	{
		NumFill		fill = {percent, 100, true, high == NULL};

		while (fill.slots <= 100)
		{
			if (num_form(&l->ix, page, e, n, &fill) == n)
				return true;
			fill.slots = fill.slots < 100 ? Min(100, fill.slots + 10) : 101;
		}
		return false;
	}
	(void) at;
	lo = low ? key_of(low) : (FPTKey) {.cls = FPT_CLS_MINF};
	hi = high ? key_of(high) : (FPTKey) {.cls = FPT_CLS_PINF};
	return product_form(l, page, lo, hi, e, n, percent);
}

static int
extract(const Level *l, char *page, NumEntry *e)
{
	int			n;

	if (l->number)
		return num_extract(&l->ix, page, e, NUM_MAXENTRIES + 1);
	n = fpt_page_extract(&layout, page, entries, NUM_MAXENTRIES);
	for (int i = 0; i < n; i++)
		e[i] = (NumEntry) {(num_u128) entries[i].key.hi << 64 |
						   entries[i].key.lo, 0, entries[i].key.tid};
	return n;
}

static NumResult
result_of(FPTResult r)
{
	return r == FPT_OK ? NUM_OK : r == FPT_FULL ? NUM_FULL : NUM_UNFIT;
}

/* Insert where nothing else changes; *wal: bytes of the record's ranges. */
static NumResult
insert_slot(const Level *l, char *page, const NumEntry *e)
{
	FPTEntry	x = {.key = key_of(e)};
	FPTEdit		edit;

	if (l->number)
		return num_insert(&l->ix, page, e);
	edit.n = 0;
	return result_of(fpt_page_insert(&layout, page, &x, &edit));
}

static NumResult
insert_room(const Level *l, char *page, const NumEntry *e, NumResult why)
{
	FPTEntry	x = {.key = key_of(e)};

	if (l->number)
		return num_insert_room(&l->ix, page, e);
	for (int k = 0; k < 6; k++)
	{
		NumResult	r = result_of(fpt_page_make_room(&layout, page, &x, &work));

		if (r != NUM_OK)
			return r == NUM_UNFIT ? r : why;
		why = insert_slot(l, page, e);
		if (why == NUM_OK)
			return why;
	}
	return why;
}

static int
truncate_page(const Level *l, char *page, int n, const NumEntry *mid)
{
	FPTKey		high = key_of(mid);

	if (l->number)
		num_truncate(&l->ix, page, n);
	else if (fpt_page_truncate(&layout, page, n) != FPT_OK ||
			 fpt_page_set_high(&layout, page, &high, &work) != FPT_OK)
		return -1;
	return n;
}

/* Bytes of the ranges in which two pages differ, and of what says where. */
static double
delta(const char *a, const char *b)
{
	int			lower = fpt_header((void *) b)->std.pd_lower;
	int			upper = fpt_header((void *) b)->std.pd_upper;
	int			bytes = 0, last = -100;

	for (int i = 0; i < BLCKSZ; i++)
	{
		if (i == lower && !(lower > upper))
			i = upper;
		if (i >= BLCKSZ || a[i] == b[i])
			continue;
		if (i - last > 4)
			bytes += RANGE + 1;
		else
			bytes += i - last;
		last = i;
	}
	return bytes;
}

static double
record(double bytes)
{
	return ((long) (RECORD + bytes) + 7) / 8 * 8;
}

static void
add_leaf(Level *l, long at, const char *page, const NumEntry *low)
{
	if (l->n == l->max)
	{
		l->max = Max(1024, l->max * 2);
		l->leaf = realloc(l->leaf, sizeof(Leaf) * (size_t) l->max);
	}
	memmove(l->leaf + at + 1, l->leaf + at,
			sizeof(Leaf) * (size_t) (l->n - at));
	l->leaf[at].page = aligned_alloc(FPT_LINE, BLCKSZ);
	memcpy(l->leaf[at].page, page, BLCKSZ);
	l->leaf[at].low = *low;
	l->n++;
}

void
level_init(Level *l, bool number, const NumIndex *ix, int fill)
{
	memset(l, 0, sizeof(*l));
	l->number = number;
	l->ix = *ix;
	l->fill = fill;
	if (!number)
		layout_make(ix->headsize);
	fpt_simd_select("auto");
}

void
level_free(Level *l)
{
	for (long i = 0; i < l->n; i++)
		free(l->leaf[i].page);
	free(l->leaf);
}

void
level_reset(Level *l)
{
	l->wal = l->roomwal = l->splitwal = l->reformwal = 0;
	l->inserted = l->rooms = l->splits = l->reforms = 0;
	memset(num_ways, 0, sizeof(num_ways));
}

/*
 * Most of what a fill factor leaves is slots of nodes; a fifth of it is nodes,
 * for what a single one cannot hold.
 */
void
level_build(Level *l, const NumEntry *e, long n)
{
	static char page[BLCKSZ] __attribute__((aligned(64)));
	NumEntry	low = {0, 0, 0};
	int			free = (100 - l->fill + 4) / 5;
	NumFill		fill = {l->fill + free, 100 - free, false, false};
	long		guess = 1000;

	for (long at = 0, take; at < n; at += take)
	{
		if (l->number)
			take = num_form(&l->ix, page, e + at, (int) Min(n - at, 100000),
							&fill);
		else
			take = product_take(l, page, e + at, n - at, &guess);
		if (take == 0)
			give_up("no page can be formed");
		add_leaf(l, l->n, page, &low);
		if (at + take < n)
			low = border(&e[at + take - 1], &e[at + take]);
	}
	l->rows = n;
}

static void
count(Level *l, double wal, long *times, double *bytes)
{
	l->wal += wal;
	*bytes += wal;
	(*times)++;
}

/* Where to split: the middle, or the nearest border between keys. */
static int
split_point(int n, int at)
{
	for (int d = 0; d < n / 8; d++)
	{
		for (int k = -1; k <= 1; k += 2)
		{
			int			a = at + k * d;

			if (a > 0 && a < n && (all[a - 1].head != all[a].head ||
								   all[a - 1].rest != all[a].rest))
				return a;
		}
	}
	return at;
}

/* Left half: what is left of the page, or anew if that takes much less. */
static void
left_half(Level *l, char *copy, long i, const NumEntry *low,
		  const NumEntry *mid, const NumEntry *new, int pos, int at)
{
	static char anew[BLCKSZ] __attribute__((aligned(64)));
	NumResult	r = NUM_OK;
	bool		formed;

	if (truncate_page(l, copy, pos < at ? at - 1 : at, mid) < 0)
		give_up("a page cannot be truncated");
	if (pos < at && (r = insert_slot(l, copy, new)) != NUM_OK)
		r = insert_room(l, copy, new, r);
	if (!l->number && r == NUM_OK)
		return;
	formed = form_all(l, anew, i, low, mid, all, at, l->number ? 90 : 75) ||
		form_all(l, anew, i, low, mid, all, at, 100);
	if (!formed && r != NUM_OK)
		give_up("half of a page does not fit");
	if (r != NUM_OK ||
		(formed && 10 * (fpt_header(anew)->std.pd_lower +
						 BLCKSZ - fpt_header(anew)->std.pd_upper) <
		 7 * (fpt_header(copy)->std.pd_lower +
			  BLCKSZ - fpt_header(copy)->std.pd_upper)))
		memcpy(copy, anew, BLCKSZ);
}

/* The i'th page is full: two of it, with the new entry. */
static void
split(Level *l, long i, const NumEntry *new, NumResult why)
{
	static char copy[BLCKSZ] __attribute__((aligned(64)));
	static char right[BLCKSZ] __attribute__((aligned(64)));
	static char zero[BLCKSZ];
	char	   *page = l->leaf[i].page;
	const NumEntry *low = i > 0 ? &l->leaf[i].low : NULL;
	const NumEntry *high = i + 1 < l->n ? &l->leaf[i + 1].low : NULL;
	NumEntry	mid;
	int			n = extract(l, page, all);
	int			pos = n++;
	int			at;
	bool		end;
	double		wal;

	for (; pos > 0 && num_entry_cmp(&all[pos - 1], new) > 0; pos--)
		all[pos] = all[pos - 1];
	all[pos] = *new;
	if (why == NUM_UNFIT && form_all(l, copy, i, low, high, all, n, 90))
	{
		count(l, record(delta(page, copy)), &l->reforms, &l->reformwal);
		memcpy(page, copy, BLCKSZ);
		return;
	}
	end = pos == n - 1 && i == l->n - 1;
	at = split_point(n, end ? Max(1, (n - 1) * l->fill / 100) : (n + 1) / 2);
	for (;; at += Max(1, (n - at) / 8))
	{
		if (at >= n)
			give_up("no half of a page fits");
		mid = border(&all[at - 1], &all[at]);
		if (form_all(l, right, i, &mid, high, all + at, n - at, end ? 90 : 50))
			break;
	}
	memcpy(copy, page, BLCKSZ);
	left_half(l, copy, i, low, &mid, new, pos, at);
	wal = delta(page, copy) + delta(zero, right) + 16;
	wal = record(wal) + record(100) + DOWNLINK;
	count(l, wal, &l->splits, &l->splitwal);
	memcpy(page, copy, BLCKSZ);
	add_leaf(l, i + 1, right, &mid);
}

static long
find_leaf(const Level *l, const NumEntry *e)
{
	long		a = 0, b = l->n;

	while (b - a > 1)
	{
		long		m = (a + b) / 2;

		if (num_entry_cmp(&l->leaf[m].low, e) <= 0)
			a = m;
		else
			b = m;
	}
	return a;
}

void
level_insert(Level *l, const NumEntry *e)
{
	static char was[BLCKSZ] __attribute__((aligned(64)));
	static char copy[BLCKSZ] __attribute__((aligned(64)));
	long		i = find_leaf(l, e);
	char	   *page = l->leaf[i].page;
	NumResult	r;

	l->rows++;
	l->inserted++;
	memcpy(was, page, BLCKSZ);
	r = insert_slot(l, page, e);
	if (r == NUM_OK)
	{
		l->wal += record(delta(was, page));
		return;
	}
	memcpy(copy, page, BLCKSZ);
	r = insert_room(l, copy, e, r);
	if (r == NUM_OK)
	{
		count(l, record(delta(page, copy)), &l->rooms, &l->roomwal);
		memcpy(page, copy, BLCKSZ);
		return;
	}
	split(l, i, e, r);
}

void
level_check(Level *l)
{
	long		n = 0;
	NumEntry	last = {0, 0, 0};

	for (long i = 0; i < l->n; i++)
	{
		int			m = extract(l, l->leaf[i].page, all);
		const char *what = l->number ?
			num_check(&l->ix, l->leaf[i].page) : NULL;

		if (what)
			give_up(what);
		for (int k = 0; k < m; k++)
		{
			if (n++ > 0 && num_entry_cmp(&last, &all[k]) >= 0)
				give_up("entries are not in order");
			last = all[k];
		}
	}
	if (n != l->rows)
		give_up("entries are lost");
}

double
level_bytes(const Level *l)
{
	return (double) (l->n + l->n / 300 + 2) * BLCKSZ;
}
