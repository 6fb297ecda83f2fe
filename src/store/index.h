/*-------------------------------------------------------------------------
 *
 * store/index.h
 *	  What a backend knows of an open index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_STORE_INDEX_H
#define FPT_STORE_INDEX_H

#include "key/image.h"
#include "page/format.h"
#include "page/layout.h"
#include "store/map.h"

/*
 * Full nodes whose versions the table called alive, of late: so many more are
 * not asked about, twice as many after each in vain (fpt_delete_early).
 */
typedef struct FPTVain
{
	uint8		skip;			/* that are still to be left out */
	uint8		last;			/* left out last, FPT_MAX_VAIN at most */
} FPTVain;

#define FPT_MAX_VAIN		63

/*
 * What a backend knows of an open index, hung on rd_amcache as one chunk.
 * Everything in it but the hints and the root is constant for the life of a
 * relfilenode.
 *
 * A relcache invalidation frees it.  Whoever runs foreign code in between
 * (heap visibility checks, waiting for transactions, build and vacuum
 * callbacks, comparison functions of general keys) works on a copy or fetches
 * it again.  Of general keys an FPTGeneral is behind it, layout.arg; of a
 * striped index its stripes, map.stripes.
 */
typedef struct FPTIndex
{
	FPTLayout	layout;
	const FPTKeyType *type;		/* static table entry; NULL: general keys */
	bool		descending;		/* images are complemented */
	uint32		collversion;	/* as in the metapage */
	bool		stale;			/* it is another one by now */
	bool		headless;		/* heads of all keys are the same */
	bool		unsure;			/* comparisons may contradict each other */
	bool		strayed;		/* they did: to be said (fpt_warn_strayed()) */
	uint64		serial;			/* number of this description, in the backend */
	uint32		root;			/* page number, fpt_find_root() has the rules */
	int			rootlevel;		/* hint, as of the last descent */
	uint32		lastleaf;		/* hint: rightmost leaf, if inserted to last */
	FPTVain		vain;
	FPTPageMap	map;			/* where its pages lie */
	FPTGuess	guess;			/* of nodes of leaves */
} FPTIndex;

/* Image of a value in the index's order (DESC).  Raises nothing. */
static inline FPTImage
fpt_value_image(const FPTIndex *ix, Datum value)
{
	FPTImage	img;

	Assert(ix->type != NULL);
	fpt_image_encode(ix->type, value, &img);
	if (ix->descending)
		fpt_image_invert(ix->type, &img);
	return img;
}

/*
 * Key of an index entry, in the index's order (DESC, NULLS placement).  Of
 * image keys; fpt_general_form() is for the others.  All of *key is set, the
 * bytes between fields too.  Raises nothing.
 */
static inline void
fpt_form_key(FPTIndex *ix, Datum value, bool isnull, uint64 tid, FPTKey *key)
{
	Assert(ix->type != NULL);
	memset(key, 0, sizeof(FPTKey));
	key->tid = tid;
	if (isnull)
		key->cls = ix->layout.nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;
	else
	{
		FPTImage	img = fpt_value_image(ix, value);

		key->hi = img.hi;
		key->lo = img.lo;
		key->cls = FPT_CLS_VALUE;
	}
}

/* The value of an image key of class FPT_CLS_VALUE, which may be in *room. */
static inline Datum
fpt_key_value(const FPTIndex *ix, const FPTKey *key, FPTDecoded *room)
{
	FPTImage	img = fpt_image_max(ix->type);

	Assert(key->cls == FPT_CLS_VALUE);
	img.hi &= key->hi;			/* a damaged page may have more bits */
	img.lo &= key->lo;
	if (ix->descending)
		fpt_image_invert(ix->type, &img);
	return fpt_image_decode(ix->type, img, room->buf);
}

#endif							/* FPT_STORE_INDEX_H */
