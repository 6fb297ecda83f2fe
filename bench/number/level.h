/*-------------------------------------------------------------------------
 *
 * level.h
 *	  The leaf level of an index, in pages of numbers or in the product's: one
 *	  set of rules for when pages are split, and a model of their WAL.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_NUMBER_LEVEL_H
#define FPT_NUMBER_LEVEL_H

#include "number.h"

typedef struct Leaf
{
	char	   *page;
	NumEntry	low;			/* its low fence */
} Leaf;

typedef struct Level
{
	bool		number;			/* pages of numbers, else the product's */
	NumIndex	ix;
	int			fill;			/* percent, of built pages */
	Leaf	   *leaf;
	long		n;
	long		max;
	long		rows;
	/* of insertions since level_reset() */
	double		wal;
	long		inserted;
	long		rooms;			/* ... that changed more than a slot */
	double		roomwal;
	long		splits;
	double		splitwal;
	long		reforms;
	double		reformwal;
} Level;

extern void level_init(Level *l, bool number, const NumIndex *ix, int fill);
extern void level_free(Level *l);
extern void level_reset(Level *l);

/* n entries in order, into an empty level. */
extern void level_build(Level *l, const NumEntry *e, long n);
extern void level_insert(Level *l, const NumEntry *e);

/* Every entry is there, in order; else the program ends. */
extern void level_check(Level *l);

/* Bytes with inner pages, 300 leaves each, root and metapage. */
extern double level_bytes(const Level *l);

extern uint64 lab_random(uint64 *state);

#endif							/* FPT_NUMBER_LEVEL_H */
