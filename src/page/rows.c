/*-------------------------------------------------------------------------
 *
 * page/rows.c
 *	  Page kernel: rows that follow each other in the table.
 *
 * Where the table is more or less in the order of the keys the entries of a
 * node have rows that lie close to each other, and a byte tells which one an
 * entry has.  Some may be anywhere: those that were updated.  See "Encodings"
 * in src/page/README.md.
 *
 *-------------------------------------------------------------------------
 */
#include "page/order.h"
#include "page/rows.h"

/* Steps to the left, of all TIDs, by which insertion may sort them. */
#define FPT_ROWS_STEPS		(4 * FPT_MAX_CAP)

/* Put n TIDs in order, which may be in any. */
static void
fpt_rows_sort_any(uint64 *tids, int n)
{
	uint64		given[FPT_MAX_CAP];
	uint8		pos[FPT_MAX_CAP];

	memcpy(given, tids, n * sizeof(uint64));
	fpt_numbers_order(given, n, pos);
	for (int i = 0; i < n; i++)
		tids[i] = given[pos[i]];
}

/*
 * Put n TIDs in order: mostly they are, or in the opposite one, where the index
 * is a descending one; else some are out of place, or those of each key are in
 * order.
 */
static void
fpt_rows_sort(uint64 *tids, int n)
{
	int			down = 0;
	int			steps = FPT_ROWS_STEPS;

	for (int i = 1; i < n; i++)
		down += tids[i] < tids[i - 1];
	if (down == 0)
		return;
	for (int i = 0, j = n - 1; down > n / 2 && i < j; i++, j--)
	{
		uint64		tid = tids[i];

		tids[i] = tids[j];
		tids[j] = tid;
	}
	for (int i = 1; i < n; i++)
	{
		uint64		tid = tids[i];
		int			j;

		for (j = i; j > 0 && tids[j - 1] > tid; j--)
			tids[j] = tids[j - 1];
		tids[j] = tid;
		steps -= i - j;
		if (steps < 0)
		{
			fpt_rows_sort_any(tids, n);
			return;
		}
	}
}

/*
 * See page/rows.h.  In order, TIDs that share a far one are neighbours.  Of all
 * stretches of rows that a byte can tell the one with the most of such groups,
 * all of each; a quarter of what it tells besides is for rows in front of them,
 * as most that come later will be behind.
 */
int
fpt_rows_choose(const FPTGeom *g, uint32 tidbase, int rowbits,
				const uint64 *tids, int n, uint32 *row)
{
	uint64		near = fpt_near_rows(g);
	uint64		sorted[FPT_MAX_CAP];
	uint64		first[FPT_MAX_CAP];
	uint64		last[FPT_MAX_CAP];
	int			none = 0;		/* groups that have rows without a number */
	int			m = 0;			/* others */
	int			best = 0;
	int			at = 0;

	Assert(n >= 0 && n <= FPT_MAX_CAP);
	rowbits &= 0xF;
	memcpy(sorted, tids, n * sizeof(uint64));
	fpt_rows_sort(sorted, n);
	for (int i = 0, j; i < n; i = j)
	{
		uint64		far = fpt_far_of(g, tidbase, sorted[i]);

		for (j = i + 1;
			 j < n && fpt_far_of(g, tidbase, sorted[j]) == far; j++)
			;
		first[m] = fpt_row_of(tidbase, rowbits, sorted[i]);
		last[m] = fpt_row_of(tidbase, rowbits, sorted[j - 1]);
		/* offsets ascend: if the last one's row has a number all have */
		if (last[m] != FPT_NO_ROW)
			m++;
		else
			none++;
	}
	for (int a = 0, b = 0; b < m; b++)
	{
		while (last[b] - first[a] >= near)
			a++;
		if (b - a + 1 > best)
		{
			best = b - a + 1;
			at = a;
		}
	}
	*row = 0;
	if (best > 0)
	{
		uint64		slack = near - 1 - (last[at + best - 1] - first[at]);

		*row = (uint32) (first[at] - Min(first[at], slack / 4));
	}
	return none + m - best;
}

/* See page/rows.h: three quarters of those seen so far, at each step. */
bool
fpt_rows_follow(const FPTEntry *entries, int n, int rowbits)
{
	uint64		blocks = FPT_MIN_ROWS >> rowbits;
	int			near = 0;

	for (int i = 1; i < n; i++)
	{
		uint64		a = entries[i - 1].key.tid >> 16;
		uint64		b = entries[i].key.tid >> 16;

		near += a < b ? b - a <= blocks + 1 : a - b <= blocks + 1;
		if (i % FPT_MAX_CAP == 0 && near < i / 4 * 3)
			return false;
	}
	return near >= (n - 1) / 4 * 3;
}
