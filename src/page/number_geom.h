/*-------------------------------------------------------------------------
 *
 * page/number_geom.h
 *	  Where the parts of a page of numbers are (page/number.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_NUMBER_GEOM_H
#define FPT_PAGE_NUMBER_GEOM_H

#include "page/format.h"
#include "page/layout.h"

#define FPT_NUM_MIN_WIDTH	2	/* bytes of a slot */
#define FPT_NUM_MAX_WIDTH	8
#define FPT_NUM_MIN_SEP		2	/* bytes of a separator */
#define FPT_NUM_MAX_SEP		8
#define FPT_NUM_MAX_LINES	24	/* lines of a node */
#define FPT_NUM_MAX_LABEL	0xFFFE
#define FPT_NUM_LABEL_BYTES	2
#define FPT_NUM_HINT_BYTES	8	/* of a node: a bit for each of FPT_MAX_CAP */

/* A page of numbers that is open: all that is here lies within the page. */
typedef struct FPTNumbers
{
	const FPTLayout *l;
	char	   *p;				/* BLCKSZ bytes */
	int			x;				/* lines of a node */
	int			sw;				/* bytes of a separator */
	int			ss;				/* separators are in units of 2^ss */
	int			t;				/* bits of a row */
	int			ob;				/* of these, bits of an offset */
	int			maxnodes;
	int			step;			/* bytes of a node */
	int			numbers;		/* offsets in the page: of the nodes' numbers */
	int			shapes;			/* ... of their shapes, a byte each */
	int			node0;			/* ... of node 0 */
	int			nkids;			/* nodes in use */
	int			nnodes;			/* nodes below pd_lower */
	int			upper;			/* pd_upper: where heads begin */
	int			nheads;
	int			headstep;		/* bytes of a head with its label */
} FPTNumbers;

/* Slots of a node of x lines, with w bytes each. */
static inline int
fpt_num_cap(int x, int w)
{
	return Min(FPT_MAX_CAP, x * FPT_LINE / w);
}

/* Where the hints begin; 8 bytes for each node, up to pd_upper. */
static inline int
fpt_num_hint_off(const FPTNumbers *pg)
{
	return pg->upper - FPT_NUM_HINT_BYTES * pg->maxnodes;
}

/* Bytes of the hole that are no hints. */
static inline int
fpt_num_hole(const FPTNumbers *pg)
{
	return fpt_num_hint_off(pg) - (pg->node0 + pg->nnodes * pg->step);
}

/* Open such a page.  False: fpt_num_geom() is NULL. */
extern bool fpt_num_open(const FPTLayout *l, void *page, FPTNumbers *pg);

/*
 * Geometry of a page of numbers, the same for all; NULL if the counts and
 * borders of this one make no sense.
 */
extern const FPTGeom *fpt_num_geom(const FPTLayout *l, void *page);

/* Where the parts of a page are: sets maxnodes and offsets from x and sw. */
extern void fpt_num_place(FPTNumbers *pg);

#endif							/* FPT_PAGE_NUMBER_GEOM_H */
