/*-------------------------------------------------------------------------
 *
 * load/fits.h
 *	  The page that a level of a build fills: does another entry fit, and in
 *	  which encoding is the page made?
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_LOAD_FITS_H
#define FPT_LOAD_FITS_H

#include "key/compare.h"
#include "page/fixed.h"
#include "page/form.h"
#include "page/format.h"
#include "page/layout.h"
#include "page/lent.h"
#include "page/node.h"
#include "page/rows.h"

/*
 * A bound of how far two values are apart, if they are "span" entries apart, or
 * less: what some number of bytes can tell (fpt_near_enough()).  As many, or
 * more, are put into a node of any page that may be made of them, from its
 * first entry to that of the next one.
 */
typedef struct FPTApart
{
	uint64		hi;
	uint64		lo;
	int			span;
} FPTApart;

/* What all levels of a build have in common, for the choice of encodings. */
typedef struct FPTFits
{
	FPTLayout	layout;
	int			lent;			/* bits that keys may lend to TIDs, or 0 */

	/* the most entries of a node whose keys are a byte and relative to it: */
	int			rowspan;		/* of any; */
	int			span;			/* where TIDs are not relative to it; */
	int			lentspan;		/* and where keys lend bits */
} FPTFits;

/* How the TIDs of a page are stored, if short (fpt_choose_tids()) */
typedef struct FPTLoadTids
{
	uint32		base;
	int			rowbits;
} FPTLoadTids;

/*
 * The page being filled on one level.
 *
 * entries[0 .. n-1] are its entries in ascending order; tuples of general keys
 * are in "tups", those of repeated keys of a leaf once.  "n" and the bytes of
 * tuples never exceed what a page of some encoding holds (fpt_level_room()).
 * When it is closed, a leaf has at least one entry, but for that of an empty
 * index, an inner page two, but for a level's last one.
 */
typedef struct FPTLoadLevel
{
	int			level;
	int			fillfactor;
	int			fewfill;		/* the same where there are few distinct keys */
	uint32		reach;			/* see fpt_choose_tids() */
	uint32		alloff;			/* highest offset of all rows, of which short
								 * TIDs tell no higher ones: a page with one is
								 * known when it comes */
	uint32		npages;			/* closed pages of this level */
	uint32		pageno;			/* of the page, or FPT_NOPAGE if the first */
	uint32		left;			/* its left sibling */
	FPTKeyBuf	low;			/* its low fence */

	int			n;				/* entries */
	int			nnull;			/* of these, NULLs */
	FPTKey		base;			/* an FPT_CLS_VALUE if known, else zeroes */
	FPTKey		last;			/* last entry of class FPT_CLS_VALUE, or base:
								 * class, image or head, and no more */
	FPTTidRange tids;			/* what its TIDs are */
	FPTRows		rows;			/* of a leaf of images: do its rows follow each
								 * other? */
	uint32		maxoff;			/* highest offset of the page before */
	int			first;			/* the first value's place in entries[] */
	FPTApart	apart;			/* how far values are from one another */
	int			fixed;			/* fixed bits of all values and of base, which
								 * the page leaves out; -1: they are not all
								 * the same, or there are none */
	int			lent;			/* bits that keys lend to TIDs; 0: none */

	/*
	 * A value is known to fit while there are less than easy_n entries, if it
	 * is at most (easy_hi, easy_lo) beyond base, and no farther from others
	 * than "apart" says, and its TID is in one of these blocks, with an offset
	 * that is not above easy_off.
	 */
	bool		narrow;			/* values have 8 bytes or less */
	bool		easy_rows;		/* ... if its row is in line, too */
	int			easy_n;
	uint64		easy_hi;
	uint64		easy_lo;
	uint32		easy_minblock;
	uint32		easy_maxblock;
	uint32		easy_off;

	int			gather;			/* entries that are wanted before it is formed,
								 * as their keys repeat; 0: it is as others */
	bool		plain;			/* it must be as others */
	bool		isformed;		/* it is in "formed", without its number, links
								 * and high fence */
	char	   *formed;			/* BLCKSZ bytes, or NULL */

	int			tupbytes;		/* general keys: space of the entries' tuples */
	FPTGrowing	growing;		/* general keys: for other encodings; its n is
								 * set when it is asked for */
	int			tupused;		/* bytes in tups */
	int			tupsize;
	char	   *tups;			/* tupsize bytes for them, or NULL */

	/* what the first entries, but an inner page's first one, would need */
	char		prefix[FPT_MAX_PREFIX]; /* in a page with this prefix: */
	uint32		nprefix;		/* it is the one of the first of them */
	int			cutn;			/* those that have been counted */
	int			cutbytes;		/* space of their tuples */
	FPTEntry	entries[FPT_MAX_ENTRIES];
} FPTLoadLevel;

/* Is this a value with other fixed bits than those that are left out? */
static inline bool
fpt_level_foreign(const FPTLoadLevel *lv, const FPTKey *key)
{
	return lv->fixed >= 0 && key->cls == FPT_CLS_VALUE &&
		(int) fpt_fixed_bits(key->hi, key->lo) != lv->fixed;
}

/*
 * How far a value is above another one, in what the page stores of them: the
 * lower one is not foreign, and a foreign upper one counts as the next above.
 */
static inline FPTApart
fpt_level_distance(const FPTLoadLevel *lv, const FPTKey *from, const FPTKey *to)
{
	uint64		fromhi = from->hi;
	uint64		fromlo = from->lo;
	FPTApart	d = {.hi = to->hi, .lo = to->lo};

	if (lv->fixed >= 0)
	{
		Assert(!fpt_level_foreign(lv, from));
		fpt_key_squeeze(&fromhi, &fromlo);
		(void) fpt_key_squeeze_up(lv->fixed, &d.hi, &d.lo);
	}
	d.hi -= fromhi + (d.lo < fromlo ? 1 : 0);
	d.lo -= fromlo;
	return d;
}

/* Entries that fit in any page, however wide they are. */
static inline int
fpt_level_least(const FPTLoadLevel *lv)
{
	return lv->level == 0 ? 1 : 2;
}

/* The value so many entries before the next one, or the first of all. */
static inline const FPTKey *
fpt_level_before(const FPTLoadLevel *lv)
{
	int			at = Max(lv->first, lv->n - lv->apart.span);
	const FPTKey *from = &lv->entries[at].key;

	Assert(lv->first < lv->n && from->cls == FPT_CLS_VALUE);
	return from;
}

/* Is this distance farther than that one? */
static inline bool
fpt_apart_above(const FPTApart *a, const FPTApart *b)
{
	return a->hi > b->hi || (a->hi == b->hi && a->lo > b->lo);
}

/*
 * Is another value no farther from that one than the level's "apart" says?
 * *d: how far it is.
 */
static inline bool
fpt_level_within(const FPTLoadLevel *lv, const FPTKey *key, FPTApart *d)
{
	*d = fpt_level_distance(lv, fpt_level_before(lv), key);
	d->span = lv->apart.span;
	return !fpt_apart_above(d, &lv->apart);
}

/* Is this entry's key the one of the entry before it? */
static inline bool
fpt_level_repeats(const FPTLoadLevel *lv, const FPTKey *key)
{
	return lv->n > 0 && fpt_key_alike(&lv->entries[lv->n - 1].key, key);
}

/* The same, without the trouble, for most entries; false: not known. */
static inline bool
fpt_level_easy(const FPTLoadLevel *lv, const FPTKey *key)
{
	uint32		block = (uint32) (key->tid >> 16);
	FPTApart	d;
	FPTApart	apart;

	if (lv->n >= lv->easy_n || key->cls != FPT_CLS_VALUE)
		return false;
	if (lv->narrow)
	{
		/* what follows, without the upper halves, which are zero */
		if (key->lo - lv->base.lo > lv->easy_lo ||
			(key->lo - fpt_level_before(lv)->lo > lv->apart.lo &&
			 lv->apart.hi == 0))
			return false;
	}
	else
	{
		if (fpt_level_foreign(lv, key))
			return false;
		d = fpt_level_distance(lv, &lv->base, key);
		if (d.hi > lv->easy_hi || d.lo > lv->easy_lo ||
			!fpt_level_within(lv, key, &apart))
			return false;
	}
	return block >= lv->easy_minblock && block <= lv->easy_maxblock &&
		(key->tid & 0xFFFF) <= lv->easy_off &&
		(!lv->easy_rows ||
		 fpt_rows_in_line(&lv->rows, fpt_row_of(0, lv->rows.bits, key->tid)));
}

/*
 * The fixed bits that a level's page can leave out if its base is this one, or
 * -1.
 */
extern int	fpt_level_fixed(const FPTFits *fits, const FPTLoadLevel *lv,
							const FPTKey *base);

/*
 * The most entries that a build puts into a node of any page of the kinds
 * "kind" to "last" whose keys are a byte and relative to nodes.  The level is
 * one of leaves.
 */
extern int	fpt_load_span(const FPTFits *fits, const FPTLoadLevel *lv, int kind,
						  int last);

/*
 * Is there room for another entry?  Looks for the encoding that holds all; then
 * notes what else certainly fits in this encoding.  Of general keys it may
 * compare some, and raise.
 */
extern bool fpt_level_room(FPTFits *fits, FPTLoadLevel *lv, const FPTKey *key);

/*
 * The encoding of a page that is complete; *t: how its TIDs are stored.  Fixed
 * bits are left out only if keys would be longer with them.
 */
extern int	fpt_level_encoding(FPTFits *fits, FPTLoadLevel *lv,
							   const FPTKey *high, FPTLoadTids *t);

/*
 * Does a page that is complete have room for this high fence, in the encoding
 * that its entries want, with a prefix, or in another one?
 */
extern bool fpt_level_fence_fits(FPTFits *fits, FPTLoadLevel *lv,
								 const FPTKey *high);

#endif							/* FPT_LOAD_FITS_H */
