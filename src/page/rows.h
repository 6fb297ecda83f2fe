/*-------------------------------------------------------------------------
 *
 * page/rows.h
 *	  Rows that follow each other in the table: TIDs relative to nodes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_ROWS_H
#define FPT_PAGE_ROWS_H

#include "page/layout.h"
#include "page/node.h"

/*
 * What the TIDs of a node shall be relative to, so that n of them, at most
 * FPT_MAX_CAP of any kind, take the fewest far ones.  Returns how many that are
 * at most: no more than they take when relative to any other row.  Raises
 * nothing.
 */
extern int	fpt_rows_choose(const FPTGeom *g, uint32 tidbase, int rowbits,
							const uint64 *tids, int n, uint32 *row);

/*
 * Do most rows of a page's entries, numbered with so many bits, lie near those
 * of their neighbours?  Quick, where they do not; what it says of others
 * fpt_page_fill() finds out.
 */
extern bool fpt_rows_follow(const FPTEntry *entries, int n, int rowbits);

/*
 * The rows of entries as they come, in order, for builds: do they follow each
 * other so well that fpt_page_fill() makes a page of TIDs relative to nodes of
 * them, wherever its nodes begin?
 *
 * An entry is in line if its row is within FPT_MIN_ROWS of those in line before
 * it, as far as these can be in one node with it: no node has more than
 * FPT_MAX_CAP entries, and four blocks of entries and what there is of a fifth
 * one are as many or more.  All others are out of line, and "most" of them came
 * within FPT_MAX_CAP entries.  So a node has no more far TIDs than that.
 */
#define FPT_ROWS_BLOCK		(FPT_MAX_CAP / 4)
#define FPT_ROWS_BLOCKS		5

typedef struct FPTRows
{
	bool		off;			/* they do not */
	int			bits;			/* FPTPageSpecial.rowbits */
	int			n;				/* entries in the first block, the latest one */
	int			most;			/* see above */
	uint64		out;			/* of the last FPT_MAX_CAP, those out of line */
	uint64		lo;				/* first and last row of those in line in all */
	uint64		hi;				/* blocks; lo is above hi: there is none, */
	uint64		from[FPT_ROWS_BLOCKS];	/* and in each */
	uint64		to[FPT_ROWS_BLOCKS];
} FPTRows;

/* Begin a page, whose rows are numbered with so many bits. */
static inline void
fpt_rows_begin(FPTRows *r, int bits)
{
	memset(r, 0, sizeof(FPTRows));
	r->bits = bits;
	r->off = bits < 1 || bits > FPT_MAX_ROWBITS;
	r->lo = FPT_NO_ROW;
	for (int i = 0; i < FPT_ROWS_BLOCKS; i++)
		r->from[i] = FPT_NO_ROW;
}

/* Is this row in line?  Of one that has no number (FPT_NO_ROW) false. */
static inline bool
fpt_rows_in_line(const FPTRows *r, uint64 row)
{
	return row != FPT_NO_ROW &&
		(r->lo > r->hi || (row < r->lo + FPT_MIN_ROWS &&
						   row + FPT_MIN_ROWS > r->hi));
}

/* The latest block is full: forget the one that no node reaches any more. */
static inline void
fpt_rows_next_block(FPTRows *r)
{
	r->lo = FPT_NO_ROW;
	r->hi = 0;
	for (int i = FPT_ROWS_BLOCKS - 1; i > 0; i--)
	{
		r->from[i] = r->from[i - 1];
		r->to[i] = r->to[i - 1];
		r->lo = Min(r->lo, r->from[i]);
		r->hi = Max(r->hi, r->to[i]);
	}
	r->from[0] = FPT_NO_ROW;
	r->to[0] = 0;
	r->n = 0;
}

/* Add an entry's TID. */
static inline void
fpt_rows_add(FPTRows *r, uint64 tid)
{
	uint64		row;

	if (r->off)
		return;
	row = fpt_row_of(0, r->bits, tid);
	r->out <<= 1;
	if (likely(fpt_rows_in_line(r, row)))
	{
		r->lo = Min(r->lo, row);
		r->hi = Max(r->hi, row);
		r->from[0] = Min(r->from[0], row);
		r->to[0] = Max(r->to[0], row);
	}
	else
	{
		r->out |= 1;
		r->most = Max(r->most, fpt_popcount(r->out));
	}
	if (++r->n == FPT_ROWS_BLOCK)
		fpt_rows_next_block(r);
}

/* Would these make a page of this geometry, if it is one of such TIDs? */
static inline bool
fpt_rows_enough(const FPTRows *r, const FPTGeom *g)
{
	return !r->off && fpt_has_far(g) && r->most <= g->nfar;
}

#endif							/* FPT_PAGE_ROWS_H */
