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
#include "page/rows.h"

/*
 * Put n rows in order: mostly they are, or in the opposite one, where the index
 * is a descending one; else some are out of place.
 */
static void
fpt_rows_sort(uint64 *rows, int n)
{
	int			down = 0;

	for (int i = 1; i < n; i++)
		down += rows[i] < rows[i - 1];
	if (down == 0)
		return;
	for (int i = 0, j = n - 1; down > n / 2 && i < j; i++, j--)
	{
		uint64		row = rows[i];

		rows[i] = rows[j];
		rows[j] = row;
	}
	for (int i = 1; i < n; i++)
	{
		uint64		row = rows[i];
		int			j;

		for (j = i; j > 0 && rows[j - 1] > row; j--)
			rows[j] = rows[j - 1];
		rows[j] = row;
	}
}

/*
 * See page/rows.h.  Of all stretches of rows that a byte can tell the one with
 * the most of these; a quarter of what it tells besides is for rows in front of
 * them, as most that come later will be behind.
 */
int
fpt_rows_choose(const FPTGeom *g, uint32 tidbase, int rowbits,
				const uint64 *tids, int n, uint32 *row)
{
	uint64		near = fpt_near_rows(g);
	uint64		rows[FPT_MAX_CAP];
	int			m = 0;
	int			best = 0;
	int			at = 0;

	Assert(n >= 0 && n <= FPT_MAX_CAP);
	rowbits &= 0xF;
	for (int i = 0; i < n; i++)
	{
		rows[m] = fpt_row_of(tidbase, rowbits, tids[i]);
		m += rows[m] != FPT_NO_ROW;
	}
	fpt_rows_sort(rows, m);
	for (int a = 0, b = 0; b < m; b++)
	{
		while (rows[b] - rows[a] >= near)
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
		uint64		slack = near - 1 - (rows[at + best - 1] - rows[at]);

		*row = (uint32) (rows[at] - Min(rows[at], slack / 4));
	}
	return n - best;
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
