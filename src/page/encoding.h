/*-------------------------------------------------------------------------
 *
 * page/encoding.h
 *	  What differs between encodings of pages, for the rare paths.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_ENCODING_H
#define FPT_PAGE_ENCODING_H

#include "page/layout.h"
#include "page/node.h"

/*
 * What differs between encodings where a page is made, rebuilt or short of
 * room; what is done once an entry or a search is in page/coding.h.
 * src/page/README.md, "Page encodings", lists what a new one touches.
 */
typedef struct FPTEncoding
{
	/*
	 * Keys are few, each of many entries, whose TIDs ascend: that rows come to
	 * one part of a node, or that a page has free slots, means nothing.
	 */
	bool		few_keys;

	/*
	 * Do n entries with so many bytes of tuples, fences' included, fit in any
	 * case?  "mixed": NULLs are among them, which do not share a node.
	 */
	bool		(*sure_fits) (const FPTGeom *g, int n, bool mixed, int bytes);

	/*
	 * The lower nibble of FPTPageHeader.enc of pages that have this encoding
	 * whatever their key width is, beside those of one: 0: there are none.
	 * They are tried where others have no room, with nodes filled to this much,
	 * percent, or more.
	 */
	uint8		extra;
	uint8		fill;

	/*
	 * Would n entries take so much less in such a page, of geometry g, than in
	 * one of geometry "was", that it is tried first?  Compares bytes only, and
	 * raises nothing.  NULL: never.
	 */
	bool		(*pays) (const FPTGeom *was, const FPTGeom *g,
						 const FPTEntry *entries, int n);

	/*
	 * Would pg, which has these entries, as a page of geometry g have an eighth
	 * of its space free?  May raise.  NULL if "pays" is.
	 */
	bool		(*frees) (FPTPage pg, const FPTGeom *g,
						  const FPTEntry *entries, int n);

	/*
	 * Is there room for another entry with this key in such a page, of geometry
	 * g, beside a low fence of so many bytes?  May raise.  NULL: builds do not
	 * count on such pages.
	 */
	bool		(*room) (FPTGrowing *page, const FPTGeom *g, const FPTKey *key,
						 int low);

	/* Is there room for fences of so many bytes, if there was for entries? */
	bool		(*closes) (const FPTGrowing *page, const FPTGeom *g,
						   int fences);

	/* Put into an empty page what its n entries need besides nodes. */
	FPTResult	(*begin) (FPTPage pg, const FPTEntry *entries, int n);

	/* Nodes for which there is room beside what n entries need besides. */
	int			(*nodes) (FPTPage pg, const FPTEntry *entries, int n);

	/*
	 * The stored keys, and tuples, of entries[from .. from + n - 1], which will
	 * be the page's next node; they come in order, from 0 on.  FPT_UNFIT: one
	 * of them is not representable.
	 */
	FPTResult	(*store) (FPTPage pg, const FPTEntry *entries, int from,
						  int n, FPTRelEntry *out);

	/*
	 * Let the page tell a key that it does not, which would be stored as this
	 * number (FPTPlace.told and lo).  FPT_FULL: no room, nothing is changed.
	 * FPT_CORRUPT: half changed.
	 */
	FPTResult	(*tell) (FPTPage pg, const FPTKey *key, int code);

	/* Is there enough to be gained by rebuilding a page of n entries? */
	bool		(*rebuild_pays) (FPTPage pg, int n);

	/* The page has lost its nodes: nor shall there be what belongs to them. */
	FPTResult	(*clear) (FPTPage pg, const char *copy);

	/*
	 * Add bytes of removed entries to the hole, the cheapest way first (step
	 * 0).  FPT_UNFIT: there are no more ways.
	 */
	FPTResult	(*reclaim) (FPTPage pg, int step, FPTWork *work);

	/* Visit the tuples of all entries. */
	bool		(*walk) (FPTTupleWalk *w);

	/* How full is a page of n entries?  FPT_OK or FPT_CORRUPT. */
	FPTResult	(*space) (FPTPage pg, int n, FPTSpace *space);
} FPTEncoding;

extern const FPTEncoding fpt_encodings[FPT_NCODINGS];

/* What pages of this geometry do in their own way. */
static inline const FPTEncoding *
fpt_encoding(const FPTGeom *g)
{
	Assert(g->coding < FPT_NCODINGS);
	return &fpt_encodings[g->coding];
}

/* FPTEncoding.few_keys of a page; false of one that makes no sense. */
static inline bool
fpt_page_few_keys(const FPTLayout *l, void *page)
{
	const FPTGeom *g = fpt_geom_of(l, page);

	return g != NULL && fpt_encoding(g)->few_keys;
}

/*
 * Geometry of pages of this kind that have an encoding whatever their key width
 * is; NULL: an index of this layout has none.
 */
static inline const FPTGeom *
fpt_extra_geom(const FPTLayout *l, int coding, int kind)
{
	int			extra = fpt_encodings[coding].extra;
	const FPTGeom *g = &l->geoms->geom[extra][kind];

	return extra != 0 && g->cap > 0 && g->coding == coding ? g : NULL;
}

/*
 * Bytes of the tuple area that nothing refers to.  -1: corrupt.  Raises
 * nothing.
 */
extern int	fpt_tuple_garbage(FPTPage pg);

#endif							/* FPT_PAGE_ENCODING_H */
