/*-------------------------------------------------------------------------
 *
 * page/layout.h
 *	  The page kernel: what its files and its callers share.
 *
 * Plain C on BLCKSZ bytes: no buffers, no locks, no WAL, no memory allocation,
 * no ereport.  A caller inside the server holds the lock that the operation
 * needs and logs what changed.
 *
 * No value read from a page is trusted.  Functions that meet an impossible one
 * return FPT_CORRUPT (or false, or -1) and leave the page alone as far as they
 * came; none reads or writes outside the page, none loops for ever.  What was
 * wrong fpt_page_check() says.
 *
 * A general key's comparison may raise, and run anybody's code, which may
 * invalidate whatever the caller has not copied.  So may the functions that
 * compare: fpt_key_cmp and what is built on it, fpt_page_lower_bound, _range,
 * _find_child, _insert, _insert_find, _make_room, _find_room,
 * _form, _fill (a page with a dictionary), _join, _repeats, _check.  All others
 * raise nothing and may be called in critical sections.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_LAYOUT_H
#define FPT_PAGE_LAYOUT_H

#include "page/format.h"

/*
 * A position in the index's total order, or a fence.  Image keys use the first
 * four fields only.  General keys (see key/general.h) have their head in lo,
 * and a tuple: bytes in a page or in memory of the caller's; or, in a search
 * key, something that FPTLayout.cmp knows to compare with tuples.
 *
 * Entries of a page with a prefix come as they are there: head and tuple are
 * those of the key without the first "cut" bytes of its first column, which are
 * at "pre".  It is the same key: whoever reads columns, compares or copies
 * keys finds it whole.  But heads of keys with different prefixes say nothing
 * of one another (fpt_same_prefix).
 */
typedef struct FPTKey
{
	uint64		hi;				/* image, upper half; 0 unless of 16 bytes */
	uint64		lo;				/* image, lower half, or the whole; a head */
	uint64		tid;			/* 0 .. FPT_MAX_TID */
	uint32		cls;			/* FPT_CLS_* */
	uint32		len;			/* bytes of the tuple, without its length */
	const char *tup;			/* the tuple, or NULL if len is 0 */
	const void *search;			/* instead of a tuple, or NULL */
	const char *pre;			/* what its first column begins with, */
	uint32		cut;			/* and how many bytes that is: 0, none */
} FPTKey;

/* A key whose tuple and prefix are its own, in data. */
typedef struct FPTKeyBuf
{
	FPTKey		key;
	char		data[FPT_MAX_TUPLE + FPT_MAX_PREFIX];
} FPTKeyBuf;

/* An entry: key with TID, and the downlink in inner pages (else 0). */
typedef struct FPTEntry
{
	FPTKey		key;
	uint32		down;			/* page number, not trusted if read */
} FPTEntry;

/*
 * How entries are stored: which row of fpt_encodings[] says what that means.
 * Who may ask: src/page/README.md, "Page encodings".
 */
typedef enum FPTCoding
{
	FPT_CODING_IMAGE,			/* keys are images, relative to a base */
	FPT_CODING_TUPLE,			/* general keys: heads, and a tuple a slot */
	FPT_CODING_DICT,			/* numbers of keys in a dictionary */
	FPT_CODING_NUMBER			/* key and row are one number */
} FPTCoding;
#define FPT_NCODINGS		4

/*
 * Geometry of pages of one encoding and kind, derived from the widths by
 * fpt_geom_init(); all offsets are in bytes.  A node lies within its x lines,
 * and all maxnodes of them end in front of the hint bitmap.  The parts of a
 * slot's payload lie pw bytes from those of the next slot: low, TID, down,
 * offset.
 */
typedef struct FPTGeom
{
	uint8		kw;				/* stored bytes of a separator: 1 to 16 */
	uint8		rw;				/* of these, the upper ones, searched */
	uint8		sw;				/* the same of a slot's key: rw, or one less
								 * where keys are relative to their nodes */
	uint8		tw;				/* bytes of a TID in its slot: 3, 4 or 6; 1:
								 * relative to the node */
	uint8		fw;				/* of these, the first ones, that are zero in a
								 * free slot */
	uint8		dw;				/* stored bytes of a downlink: 4 or 0 */
	uint8		pw;				/* bytes of a slot's payload */
	uint8		w;				/* lines of the in-page root */
	uint8		x;				/* lines of a leaf node */
	uint8		cap;			/* slots of a leaf node */
	uint8		maxnodes;		/* nodes that fit, root's fan-out considered */
	uint8		enc;			/* FPT_ENC_* */
	uint8		ow;				/* stored bytes of a tuple's offset: 2 or 0 */
	uint8		iw;				/* bytes of an item of a dictionary, or 0 */
	uint8		nfar;			/* far TIDs that a node has room for; 0: TIDs
								 * are not relative to nodes */
	uint8		farbits;		/* one is for 2^farbits rows */
	uint8		coding;			/* FPTCoding */
	bool		shared;			/* the page's space: by nodes and tuples */
	bool		ties;			/* stored keys of different ones can be equal */
	bool		perm;			/* nodes have a bitmap and a permutation */
	bool		wide;			/* rw < kw: keys are stored in two parts */
	bool		near;			/* sw < rw: keys are relative to their nodes */
	uint16		node_off;		/* offset of node 0 in the page */
	uint16		kids_off;		/* offset of the root's node numbers */
	uint16		key_off;		/* offsets within a node */
	uint16		perm_off;		/* the permutation, if there is one */
	uint16		low_off;		/* slot 0's lower 8 bytes, if sw < kw */
	uint16		tid_off;		/* slot 0's TID */
	uint16		down_off;		/* slot 0's downlink, if dw is not 0 */
	uint16		off_off;		/* slot 0's tuple offset, if ow is not 0 */
	uint16		far_off;		/* what TIDs are relative to, then far ones, if
								 * nfar is not 0 */
	uint16		hint_off;		/* offset of the hint bitmap in the page */
	uint64		capmask;		/* one bit for each slot */
	uint32		capacity;		/* maxnodes * cap: entries of a full page */
} FPTGeom;

/* A page of leaf entries: TIDs of the table, dead-entry hints, no downlinks. */
static inline bool
fpt_is_leaf(const FPTGeom *g)
{
	return g->dw == 0;
}

/*
 * The page's space is shared by nodes, hints behind them, and tuples from
 * pd_upper on; else nodes and hints have places of their own.
 */
static inline bool
fpt_shares_space(const FPTGeom *g)
{
	return g->shared;
}

/* Each slot has the offset of a tuple that is its entry's alone. */
static inline bool
fpt_has_offsets(const FPTGeom *g)
{
	return g->ow != 0;
}

/*
 * Keys that differ may be the same as far as they are searched: tuples tell
 * them apart, which are compared by functions of types that may raise.  Else
 * two stored keys that are the same are one key, and TIDs decide.
 */
static inline bool
fpt_has_ties(const FPTGeom *g)
{
	return g->ties;
}

/* Keys can be relative to a prefix: the tuples that have them are their own. */
static inline bool
fpt_may_prefix(const FPTGeom *g)
{
	return fpt_has_offsets(g);
}

/* Of entries that are tied the order of their slots tells which is first. */
static inline bool
fpt_slots_tell(const FPTGeom *g)
{
	return g->ties && !g->perm;
}

/* Keys of more than 8 bytes, stored in two parts. */
static inline bool
fpt_is_wide(const FPTGeom *g)
{
	return g->wide;
}

/* Keys are relative to their nodes, and have a byte less than separators. */
static inline bool
fpt_is_near(const FPTGeom *g)
{
	return g->near;
}

/*
 * TIDs are relative to their nodes: a byte, but for a few far ones, of 4, for
 * which there is room behind the slots.
 */
static inline bool
fpt_has_far(const FPTGeom *g)
{
	return g->nfar != 0;
}

/* Bytes of what TIDs of a node are relative to, and of a far one. */
#define FPT_FAR_BYTES		4

/*
 * The most far TIDs that a node has, the most rows of all of them, and the
 * fewest that a byte stands for without them.
 */
#define FPT_MAX_FAR			31
#define FPT_FAR_ROWS		48
#define FPT_MIN_ROWS		(255 - FPT_FAR_ROWS)

/* How many rows a slot's byte can tell by itself: its values from 1 on. */
static inline unsigned
fpt_near_rows(const FPTGeom *g)
{
	Assert(fpt_has_far(g));
	return 255 - (g->nfar << g->farbits);
}

/* Bytes of a slot, all of its parts, and its part of the permutation. */
static inline int
fpt_slot_bytes(const FPTGeom *g)
{
	return g->sw + g->pw + (g->perm ? 1 : 0);
}

/*
 * What a node's base is a multiple of, there: a quarter of what the searched
 * part of its keys can tell.
 */
static inline uint64
fpt_near_unit(const FPTGeom *g)
{
	return UINT64CONST(1) << (8 * g->sw - 2);
}

/*
 * The base of a node whose separator has this searched part: 0 if keys are
 * relative to none.
 */
static inline uint64
fpt_base_of(const FPTGeom *g, uint64 sep)
{
	return fpt_is_near(g) ? sep & ~(fpt_near_unit(g) - 1) : 0;
}

/* Geometries of all pages of an index, and what they were derived from. */
typedef struct FPTGeoms
{
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];	/* as in the metapage */
	FPTGeom		geom[FPT_NENC][FPT_NKINDS]; /* [low nibble of enc][kind]; all
											 * zero (cap 0): there is none */
} FPTGeoms;

/*
 * What the kernel must know of an index.  cmp compares two general keys of the
 * same class and head, TIDs left out; NULL if the index has image keys.
 * separate makes the fence between two neighbouring leaf entries.  Both may
 * raise errors: what calls them is not called in critical sections.
 */
typedef struct FPTLayout
{
	int			(*cmp) (const void *arg, const FPTKey *a, const FPTKey *b);
	void		(*separate) (const void *arg, const FPTKey *prev,
							 const FPTKey *key, FPTKeyBuf *sep);

	/*
	 * Of keys whose first column is a string in the order of its bytes; else
	 * NULL.  begin writes its first bytes, "max" at most, to "bytes" and
	 * returns their number, or -1: they are not to be had.  cut makes *key the
	 * same one relative to a prefix of len bytes (none, if 0), in *out, which
	 * may refer to the bytes of *key and of the prefix.  It returns
	 * FPT_CUT_*; unless FPT_CUT_DONE or _SEARCH, *out means nothing.  begin
	 * raises nothing, cut may where it has to undo a compression.
	 */
	int			(*begin) (const void *arg, const FPTKey *key, char *bytes,
						  int max);
	int			(*cut) (const void *arg, const FPTKey *key,
						const char *prefix, uint32 len, FPTKeyBuf *out);
	const void *arg;			/* of all of these */
	uint8		keysize;		/* 4, 8 or 16; of general keys 8 */
	bool		nullsfirst;		/* NULLs are below all values, else above */
	bool		nonumbers;		/* do not make pages of numbers */
	uint32		indexid;		/* that all pages have, FPTPageSpecial */
	const FPTGeoms *geoms;		/* outlives all layouts that share it */
} FPTLayout;

/* Where a key is whose first column may begin with a prefix. */
#define FPT_CUT_BELOW		(-1)	/* below all keys that do */
#define FPT_CUT_DONE		0
#define FPT_CUT_ABOVE		1		/* above all keys that do */
#define FPT_CUT_SEARCH		2		/* it does, but can only be looked for */
#define FPT_CUT_CORRUPT		3		/* the tuple makes no sense */

/* What a page is in the tree, whatever its entries: for making one. */
typedef struct FPTPageSpec
{
	int			level;			/* 0: a leaf page */
	uint32		pageno;			/* its number */
	const FPTKey *low;			/* its fences, as FPTPageSpecial.low and */
	const FPTKey *high;			/* FPTPageHeader.high will hold them */
	uint32		reach;			/* of a leaf page: see fpt_choose_tids() */
	int			rowbits;		/* the same: FPTPageSpecial.rowbits, or for
								 * fpt_page_form() the least there may be; 0:
								 * of fpt_page_init() the most, of that any */
	int			lent;			/* bits that keys lend, with FPT_ENC_LENT */
	const char *prefix;			/* where slots own tuples: the prefix, and */
	uint32		nprefix;		/* its bytes; 0: none */
	bool		numbers;		/* of a leaf of images, for fpt_page_form(): it
								 * must be a page of numbers */
} FPTPageSpec;

/*
 * A place in a page: rank'th entry (in key order) of the kid.  "below" are the
 * slots of its node that have the entries before this one, rank of them, or
 * none: it is not known (L12).
 */
typedef struct FPTLoc
{
	int			kid;			/* 0 .. nkids - 1, or nkids: behind the end */
	int			rank;			/* 0 .. number of the kid's entries - 1 */
	uint64		below;
} FPTLoc;

/* Of two places in a page, or behind its end, is a the earlier one? */
static inline bool
fpt_loc_before(const FPTLoc *a, const FPTLoc *b)
{
	return a->kid < b->kid || (a->kid == b->kid && a->rank < b->rank);
}

/* Where a key is, or belongs, in a page. */
typedef struct FPTPlace
{
	int			from;			/* kids of the key's region */
	int			to;
	int			kid;			/* its node; "to" or "from" if there is none,
								 * and if it is foreign, that of the entry
								 * above it, which rank is the place of */
	int			where;			/* -1: below the base, 1: not representable,
								 * FPT_FOREIGN: likewise, and not at an end */
	int			beyond;			/* the same of its node, where that has a base:
								 * then it is below or above all there is */
	bool		crowded;		/* the node has no room for the TID of the entry
								 * that is to be inserted */
	int			rank;			/* entries of the kid below the key */
	int			count;			/* entries of the kid */
	bool		dup;			/* the very entry is in the kid */
	bool		told;			/* hi and lo are the key's; else those of the
								 * first one above it that the page can have,
								 * as they are of one that is foreign */
	uint64		used;			/* slots of the node that hold entries */
	uint64		below;			/* of these, those below the key (none, if nodes
								 * have permutations) */
	uint64		eq;				/* slots of the node with the key's image */
	uint64		same;			/* of these, some that have the very key, if it
								 * is general: as far as they were compared */
	uint64		hi;				/* the key relative to the base */
	uint64		lo;
	char	   *node;			/* valid if from <= kid < to and where == 0 */
} FPTPlace;

typedef enum FPTResult
{
	FPT_OK = 0,
	FPT_FULL,					/* no free slot in the node (or the page) */
	FPT_UNFIT,					/* key or TID not representable in this page */
	FPT_DUPLICATE,				/* the very same (key, TID) is there */
	FPT_CORRUPT,				/* the page contradicts itself */
	FPT_NO_WORK					/* needs the work memory that was not given */
} FPTResult;

/*
 * Byte ranges that an operation changed, for hand-written WAL, which takes so
 * many bytes for each besides.
 */
#define FPT_MAX_EDITS		8
#define FPT_EDIT_HEADER		4	/* offset and length, as generic redo reads */
typedef struct FPTEdit
{
	int			n;				/* ranges, in no order */
	struct
	{
		uint16		off;		/* in the page, bytes */
		uint16		len;		/* 1 at least */
	}			r[FPT_MAX_EDITS];
} FPTEdit;

/*
 * Where in a leaf the wanted node probably is, so that it comes into the cache
 * together with the lines that tell where it really is: fpt_guess_prefetch().
 */
typedef struct FPTGuess
{
	uint16		node_off;		/* what the last leaf looked like: offset of */
	uint16		step;			/* node 0, bytes of a node, nodes in use, */
	uint16		nkids;			/* offset of the dead-entry hints and */
	uint16		hint_off;		/* how many a node has */
	uint16		cap;
	uint16		node;			/* offset of the node guessed last */
	bool		pending;		/* that guess awaits its verdict */
	int			score;			/* of past guesses, within FPT_GUESS_* */
	uint8		skipped;		/* descents without a guess */
} FPTGuess;

#define FPT_GUESS_MAX		30
#define FPT_GUESS_MIN		(-10)

/* Upper bound of the entries of any page, for callers' arrays. */
#define FPT_MAX_ENTRIES		(BLCKSZ / 9 * 4)

/* Ranges within which an operation changed bytes; n is -1: anywhere. */
typedef struct FPTChanges
{
	int			n;
	struct
	{
		uint16		off;		/* in the page, bytes */
		uint16		len;
	}			r[FPT_MAX_ENTRIES];
} FPTChanges;

/* --- work memory -------------------------------------------------------- */

/* A tuple of a page, and what refers to it. */
typedef struct FPTTupleRef
{
	char	   *ref;			/* of 2 bytes, 8 in a fence */
	uint16		off;			/* where the tuple is, its length first */
	uint16		space;			/* bytes that it takes, length included */
	bool		fence;			/* ref is FPTFence.hi, else a slot's offset */
} FPTTupleRef;

/* All tuples of a page, and which of them begins at a byte: number + 1. */
typedef struct FPTTupleMap
{
	FPTTupleRef tuples[FPT_MAX_ENTRIES + 3];
	int			n;
	uint16		at[BLCKSZ];
} FPTTupleMap;

/*
 * Memory for what rebuilds a page, the caller's: too much for a stack (a tenth
 * of a megabyte with pages of 8 kB).  Nothing in it outlives the call.  It must
 * be the call's alone: comparing keys may run anybody's code.  Where NULL is
 * allowed, FPT_NO_WORK says that it was needed; then the page's entries are
 * what they were, and the call may be repeated with it.
 */
typedef struct FPTWork
{
	char		page[BLCKSZ];	/* a copy of the page */
	union
	{
		FPTEntry	entries[FPT_MAX_ENTRIES];
		FPTTupleMap map;
	}			u;
} FPTWork;

/* --- bytes ------------------------------------------------------------ */

/*
 * memmove() of a few bytes.  Two moves that may overlap cover any length up to
 * 32, where a call would take longer than the work.  All is read before
 * anything is written, so that "to" and "from" may overlap as well.
 */
static inline void
fpt_copy_bytes(char *to, const char *from, size_t n)
{
	char		a[16];
	char		b[16];

	if (n > 32)
		memmove(to, from, n);
	else if (n >= 16)
	{
		memcpy(a, from, 16);
		memcpy(b, from + n - 16, 16);
		memcpy(to, a, 16);
		memcpy(to + n - 16, b, 16);
	}
	else if (n >= 8)
	{
		memcpy(a, from, 8);
		memcpy(b, from + n - 8, 8);
		memcpy(to, a, 8);
		memcpy(to + n - 8, b, 8);
	}
	else if (n >= 4)
	{
		memcpy(a, from, 4);
		memcpy(b, from + n - 4, 4);
		memcpy(to, a, 4);
		memcpy(to + n - 4, b, 4);
	}
	else if (n > 0)
	{
		a[0] = from[0];
		a[1] = from[n / 2];
		a[2] = from[n - 1];
		to[0] = a[0];
		to[n / 2] = a[1];
		to[n - 1] = a[2];
	}
}

/*
 * Packed numbers of 1 to 8 bytes, the lowest first.  Reading takes 8 bytes
 * whatever the width: behind what is read must be the rest of a page.
 */
static inline uint64
fpt_load_uint(const char *p, int width)
{
	uint64		v;

	Assert(width >= 1 && width <= 8);
	memcpy(&v, p, 8);
#ifdef WORDS_BIGENDIAN
	v = __builtin_bswap64(v);
#endif
	return v & (~UINT64CONST(0) >> (64 - 8 * width));
}

/*
 * Write the lowest "width" bytes of v, 1 to 8; no byte behind them is touched:
 * that is the next slot's.  Below 4 bytes the middle and the last one may be
 * the same; from 4 on two writes of 4 overlap as they have to.
 */
static inline void
fpt_store_uint(char *p, int width, uint64 v)
{
	Assert(width >= 1 && width <= 8);
	if (width < 4)
	{
		p[0] = (char) v;
		p[width / 2] = (char) (v >> (8 * (width / 2)));
		p[width - 1] = (char) (v >> (8 * (width - 1)));
	}
	else
	{
		uint32		a = (uint32) v;
		uint32		b = (uint32) (v >> (8 * (width - 4)));

#ifdef WORDS_BIGENDIAN
		a = __builtin_bswap32(a);
		b = __builtin_bswap32(b);
#endif
		memcpy(p, &a, 4);
		memcpy(p + width - 4, &b, 4);
	}
}

/*
 * Write n numbers one behind the other, as fpt_store_uint() writes each; no
 * byte behind them is touched.  The next one's bytes are, before they are
 * written: eight at a time, as long as there are so many.
 */
static inline void
fpt_store_uints(char *p, int width, const uint64 *v, int n)
{
	int			i = 0;

	Assert(width >= 1 && width <= 8 && n >= 0);
#ifndef WORDS_BIGENDIAN
	for (int many = n - (8 + width - 1) / width; i <= many; i++)
		memcpy(p + i * width, &v[i], 8);
#endif
	for (; i < n; i++)
		fpt_store_uint(p + i * width, width, v[i]);
}

/* --- order ------------------------------------------------------------ */

/* Are keys compared by functions of types, which may raise? */
static inline bool
fpt_is_general(const FPTLayout *l)
{
	return l->cmp != NULL;
}

/*
 * TIDs in keys: -1, as a number with a sign, is just below all others (see
 * fpt_key_before).
 */
static inline int
fpt_tid_cmp(uint64 a, uint64 b)
{
	return ((int64) a > (int64) b) - ((int64) a < (int64) b);
}

/*
 * Are two general keys relative to the same prefix, or both to none?  If not,
 * their heads say nothing of one another; two of one length need not be one.
 */
static inline bool
fpt_same_prefix(const char *apre, uint32 acut, const char *bpre, uint32 bcut)
{
	return acut == bcut &&
		(likely(acut == 0) || apre == bpre || memcmp(apre, bpre, acut) == 0);
}

/*
 * Order of two keys, TIDs included: below, equal or above zero.  May raise if
 * keys are general.
 */
static inline int
fpt_key_cmp(const FPTLayout *l, const FPTKey *a, const FPTKey *b)
{
	bool		general = unlikely(fpt_is_general(l));

	if (a->cls != b->cls)
		return a->cls < b->cls ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	if (a->lo != b->lo &&
		(!general || fpt_same_prefix(a->pre, a->cut, b->pre, b->cut)))
		return a->lo < b->lo ? -1 : 1;
	if (general && a->cls != FPT_CLS_MINF && a->cls != FPT_CLS_PINF)
	{
		int			r = l->cmp(l->arg, a, b);

		if (r != 0)
			return r;
	}
	return fpt_tid_cmp(a->tid, b->tid);
}

/* The same without the TIDs, for image keys. */
static inline int
fpt_image_cmp(const FPTKey *a, const FPTKey *b)
{
	if (a->cls != b->cls)
		return a->cls < b->cls ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return 0;
}

/*
 * A stored tuple's bytes, or NULL if there cannot be one at this offset.  "off"
 * is not 0.
 */
static inline const char *
fpt_tuple_at(const void *page, unsigned off, uint32 *len)
{
	const uint8 *p = (const uint8 *) page + off;
	int			head = 1;

	if (off < ((const FPTPageHeader *) page)->std.pd_upper ||
		off < FPT_LINE || off >= FPT_SPECIAL_OFFSET)
		return NULL;
	*len = p[0];
	if (p[0] & FPT_TUPLE_LONG)
	{
		*len = ((uint32) (p[0] & ~FPT_TUPLE_LONG) << 8) | p[1];
		head = 2;

		/* a short one has a short length, or its space would not be known */
		if (*len < FPT_TUPLE_LONG)
			return NULL;
	}
	if (*len == 0 || *len > FPT_MAX_TUPLE ||
		off + head + *len > FPT_SPECIAL_OFFSET)
		return NULL;
	return (const char *) p + head;
}

/*
 * A fence as a key.  A general one's tuple is that in the page, which has
 * passed fpt_page_sane().
 */
static inline FPTKey
fpt_fence_get(const FPTLayout *l, const void *page, const FPTFence *f)
{
	FPTKey		k;

	k.hi = f->hi;
	k.lo = f->lo;
	k.tid = f->tidcls & FPT_MAX_TID;
	k.cls = (uint32) (f->tidcls >> 56);
	k.len = 0;
	k.tup = NULL;
	k.search = NULL;
	k.pre = NULL;
	k.cut = 0;
	if (unlikely(fpt_is_general(l)))
	{
		if (f->hi != 0)
			k.tup = fpt_tuple_at(page, (unsigned) f->hi & 0xFFFF, &k.len);
		if (k.tup == NULL)
			k.len = 0;
		k.hi = 0;
	}
	return k;
}

/* A page's fences as keys: see fpt_fence_get(). */
static inline FPTKey
fpt_page_low(const FPTLayout *l, const void *page)
{
	return fpt_fence_get(l, page, &((const FPTPageSpecial *)
									((const char *) page +
									 FPT_SPECIAL_OFFSET))->low);
}

static inline FPTKey
fpt_page_high(const FPTLayout *l, const void *page)
{
	return fpt_fence_get(l, page, &((const FPTPageHeader *) page)->high);
}

/* fpt_key_cmp() of a key and a fence, which is copied only if it has to be. */
static inline int
fpt_fence_cmp(const FPTLayout *l, const void *page, const FPTKey *k,
			  const FPTFence *f)
{
	uint32		cls = (uint32) (f->tidcls >> 56);

	if (k->cls != cls)
		return k->cls < cls ? -1 : 1;
	if (unlikely(fpt_is_general(l)))
	{
		FPTKey		x;

		if (k->lo != f->lo && k->cut == 0)
			return k->lo < f->lo ? -1 : 1;
		x = fpt_fence_get(l, page, f);
		return fpt_key_cmp(l, k, &x);
	}
	if (k->hi != f->hi)
		return k->hi < f->hi ? -1 : 1;
	if (k->lo != f->lo)
		return k->lo < f->lo ? -1 : 1;
	return fpt_tid_cmp(k->tid, f->tidcls & FPT_MAX_TID);
}

/*
 * Is the key below the page's high fence; not below its low one?  Both: it is
 * the page's.  May raise if keys are general.
 */
static inline bool
fpt_page_below_high(const FPTLayout *l, const void *page, const FPTKey *k)
{
	return fpt_fence_cmp(l, page, k, &((const FPTPageHeader *) page)->high) < 0;
}

static inline bool
fpt_page_above_low(const FPTLayout *l, const void *page, const FPTKey *k)
{
	return fpt_fence_cmp(l, page, k,
						 &((const FPTPageSpecial *)
						   ((const char *) page +
							FPT_SPECIAL_OFFSET))->low) >= 0;
}

/*
 * The prefix of a page whose slots own tuples: its bytes, and *len.  NULL: it
 * has none, and *len is 0, or, if damaged, one that is not where it should be
 * or of an impossible length; *len is not 0 then.
 */
static inline const char *
fpt_page_prefix(const void *page, uint32 *len)
{
	unsigned	off = ((const FPTPageSpecial *)
					   ((const char *) page + FPT_SPECIAL_OFFSET))->prefix;
	const char *p;

	*len = off;
	if (likely(off == 0))
		return NULL;
	p = fpt_tuple_at(page, off, len);
	if (p == NULL || *len < FPT_MIN_PREFIX || *len > FPT_MAX_PREFIX)
	{
		*len = 1;
		return NULL;
	}
	return p;
}

/*
 * A key whose bytes are somebody else's, made to own them.  "from" may be
 * to->key.  What it has in place of a tuple, for a search, stays somebody
 * else's.
 */
static inline void
fpt_key_copy(FPTKeyBuf *to, const FPTKey *from)
{
	to->key = *from;
	if (from->len > 0)
	{
		Assert(from->len <= FPT_MAX_TUPLE);
		fpt_copy_bytes(to->data, from->tup, from->len);
		to->key.tup = to->data;
	}
	if (from->len > 0 && from->cut > 0)
	{
		Assert(from->cut <= FPT_MAX_PREFIX);
		fpt_copy_bytes(to->data + from->len, from->pre, from->cut);
		to->key.pre = to->data + from->len;
	}
}

/* --- geometry (page/geom.c) ---------------------------------------------- */

/* FPTPageHeader.enc of pages of this kind; "low" is its lower nibble. */
static inline int
fpt_enc(int low, int kind)
{
	Assert(low >= 0 && low <= FPT_ENC_KW_MASK);
	Assert(kind >= 0 && kind < FPT_NKINDS);
	if (kind >= FPT_KIND_NEAR)
	{
		kind -= FPT_KIND_NEAR;
		low |= FPT_ENC_NEAR;
	}
	if (kind < FPT_KIND_LEAF6)
		low |= (FPT_KIND_LEAF6 - kind) << FPT_ENC_TID_SHIFT;
	return low;
}

/* FPT_KIND_* of leaf pages of this geometry: fpt_enc() the other way round. */
static inline int
fpt_geom_kind(const FPTGeom *g)
{
	int			kind = FPT_KIND_LEAF6 -
		((g->enc & FPT_ENC_TID_MASK) >> FPT_ENC_TID_SHIFT);

	Assert(fpt_is_leaf(g));
	return fpt_is_near(g) ? kind + FPT_KIND_NEAR : kind;
}

/* --- SIMD (page/simd.c) -------------------------------------------------- */

/*
 * Compare n <= 64 unsigned numbers of one width, packed at an arbitrary
 * address, with "key", which is representable in that width.  Returns the bits
 * of those below, sets *eq to the bits of those equal; bits >= n are zero.
 */
typedef uint64 (*fpt_cmp_fn) (const void *keys, int n, uint64 key,
							  uint64 *eq);

/*
 * One instruction set's functions, with one contract.  All variants give the
 * same bits; all may read up to 63 bytes behind what they are given, of slots
 * "stride" apart behind the last stride.  Callers see to it that a page's
 * special line follows.  None raises anything.
 *
 * used: the bits of those of n <= 64 bytes, "stride" apart, that are not zero.
 * order: the positions of 1 <= n <= 64 numbers in the order of these, as far as
 * their upper bits tell: the upper 10 of those in which the greatest one less
 * the least has any.  What these leave open is in the order of positions.  "at"
 * has room for 64.
 * ascend: is each of n >= 1 packed numbers of 1 to 8 bytes above the one before
 * it?
 * tids: make n TIDs of 3 or 4 bytes, "stride" apart, whole; false if one has no
 * offset.
 */
typedef struct FPTSimd
{
	const char *name;
	fpt_cmp_fn	cmp[8];			/* by the width less 1 */
	uint64		(*used) (const void *low, int n, int stride);
	void		(*order) (const uint64 *at, int n, uint8 *pos);
	bool		(*ascend) (const void *keys, int n, int width);
	bool		(*tids) (const void *tids, int n, int stride, int width,
						 uint32 tidbase, int rowbits, uint64 *out);
} FPTSimd;

/* --- kernel (page/kernel.c) ---------------------------------------------- */

/* What is known of some TIDs: how they can be stored follows from it. */
typedef struct FPTTidRange
{
	uint32		minblock;		/* minblock > maxblock: there are none */
	uint32		maxblock;
	uint32		maxoff;
} FPTTidRange;

/* None yet: minblock is above maxblock.  Add one, which may be any 48 bits. */
static inline void
fpt_tids_none(FPTTidRange *r)
{
	r->minblock = 0xFFFFFFFF;
	r->maxblock = r->maxoff = 0;
}

static inline void
fpt_tids_add(FPTTidRange *r, uint64 tid)
{
	uint32		block = (uint32) (tid >> 16);

	Assert(tid <= FPT_MAX_TID);
	r->minblock = Min(r->minblock, block);
	r->maxblock = Max(r->maxblock, block);
	r->maxoff = Max(r->maxoff, (uint32) (tid & 0xFFFF));
}

/*
 * Can this TID be stored in tw bytes, relative to this block, as the number of
 * a row with so many bits for its offset?  1: as a far one, at least.
 */
static inline bool
fpt_tid_fits(int tw, uint32 tidbase, int rowbits, uint64 tid)
{
	uint64		block = tid >> 16;

	Assert(tw == 6 || tw == 1 || (tw >= 3 && tw <= 4));
	if (tw == 1)
	{
		tw = FPT_FAR_BYTES;
		rowbits = FPT_MAX_ROWBITS;
	}
	return tw == 6 ||
		((tid & 0xFFFF) >> rowbits == 0 && block >= tidbase &&
		 (block - tidbase) >> (8 * tw - rowbits) == 0);
}

/*
 * The number of a row whose block is the page's or behind it: what is above the
 * bytes that it is stored in is not, and wrong unless fpt_tid_fits() or keys
 * lend it.
 */
static inline uint64
fpt_tid_narrow(uint32 tidbase, int rowbits, uint64 tid)
{
	return ((tid >> 16) - tidbase) << rowbits | (tid & 0xFFFF);
}

/*
 * The number of a row in pages of TIDs relative to nodes; FPT_NO_ROW: it has
 * none, as its offset is too high, or its block too far or before the page's.
 */
#define FPT_NO_ROW			(~UINT64CONST(0))
#define FPT_ROW_BLOCKBITS	(8 * FPT_FAR_BYTES - FPT_MAX_ROWBITS)

static inline uint64
fpt_row_of(uint32 tidbase, int rowbits, uint64 tid)
{
	uint64		block = (tid >> 16) - tidbase;
	uint64		off = tid & 0xFFFF;

	if (off >> rowbits != 0 || block >> FPT_ROW_BLOCKBITS != 0)
		return FPT_NO_ROW;
	return block << rowbits | off;
}

/*
 * The TID of a row: any, of pages whose rowbits are.  Shifts by 15 at most.
 * tidbase has passed fpt_page_sane() where the page is trusted that far; of any
 * other the block may wrap around, which harms nobody.
 */
static inline uint64
fpt_row_tid(uint32 tidbase, int rowbits, uint32 row)
{
	rowbits &= 0xF;
	return ((uint64) (tidbase + (row >> rowbits)) << 16) |
		(row & ((1u << rowbits) - 1));
}

/*
 * A far TID as it is stored: the number of the last one of its rows, which is
 * not zero.  Any other TID gets a number that no page stores.
 */
static inline uint64
fpt_far_of(const FPTGeom *g, uint32 tidbase, uint64 tid)
{
	uint64		row = fpt_row_of(tidbase, FPT_MAX_ROWBITS, tid);

	return row == FPT_NO_ROW ? tid + (UINT64CONST(1) << 48) :
		row | ((1u << g->farbits) - 1);
}

/* Bits of offsets up to this one, 1 at least. */
static inline int
fpt_row_bits(uint32 maxoff)
{
	return 32 - __builtin_clz(maxoff | 1);
}

/*
 * Can this be a heap TID?  Callers hand it to the table: block
 * InvalidBlockNumber would be taken there for a request to extend it.
 */
static inline bool
fpt_tid_is_valid(uint64 tid)
{
	return (tid & 0xFFFF) != 0 && (tid >> 16) < 0xFFFFFFFF;
}

/*
 * Place of the first entry of the second region: entries in front of it are
 * NULLs in a NULLS FIRST index, those after it in any other.
 */
static inline FPTLoc
fpt_page_null_border(const FPTLayout *l, void *page)
{
	FPTPageHeader *h = fpt_header(page);
	FPTLoc		loc;

	loc.kid = l->nullsfirst ? h->nnull : h->nkids - h->nnull;
	loc.rank = 0;
	loc.below = 0;
	return loc;
}

/* How full a page is, in bytes. */
typedef struct FPTSpace
{
	int			used;			/* entries and, of general keys, all tuples */
	int			room;			/* for these, if no node had free slots */
} FPTSpace;

/*
 * A page whose entries are still to come, in order, as builds have it: what is
 * known of those that are there.
 */
typedef struct FPTGrowing
{
	const FPTLayout *l;
	const FPTEntry *entries;
	int			n;				/* how many there are */
	int			nkeys;			/* of these, not like the one before, */
	int			keybytes;		/* and the space of their tuples */
	int			seen;			/* compared with the next one; -1: the encoding
								 * that does so is out of the question */
	int			fill;			/* how full it shall be, percent, */
	int			fewfill;		/* and with few distinct keys */
} FPTGrowing;

/*
 * A page of general keys that has no room and at most so many entries may have
 * it once it is formed anew, with narrower nodes: try that before splitting.
 */
#define FPT_WIDE_ENTRIES	16

/*
 * Two keys are the same, byte for byte, TIDs left out; they are different also
 * for the operator class, and of one class.  Keys of a leaf page may share what
 * is stored of them if no two of the page's are neither.
 */
static inline bool
fpt_key_alike(const FPTKey *a, const FPTKey *b)
{
	Assert(a->search == NULL && b->search == NULL);
	return a->lo == b->lo && a->len == b->len && a->cls == b->cls &&
		fpt_same_prefix(a->pre, a->cut, b->pre, b->cut) &&
		(a->len == 0 || a->tup == b->tup ||
		 memcmp(a->tup, b->tup, a->len) == 0);
}

/*
 * Identity of places.  The pages of a level tile the key space, and a page's
 * high fence is byte for byte its right sibling's low one.  So a live page of
 * the level that begins (ends) at a fence that somebody remembers is the one to
 * the right (left) of it, whatever the type's comparison function makes of that
 * today.
 */
static inline bool
fpt_fence_is(const FPTLayout *l, const void *page, const FPTFence *f,
			 const FPTKey *k)
{
	FPTKey		fence;

	/* a bound of a scan that has no tuple, and so no bytes to compare */
	if (k->search != NULL)
		return false;
	fence = fpt_fence_get(l, page, f);
	return fence.hi == k->hi && fence.tid == k->tid &&
		fpt_key_alike(&fence, k);
}

/* The same of a page's low, and of its high fence.  Raise nothing. */
static inline bool
fpt_page_begins_at(const FPTLayout *l, const void *page, const FPTKey *k)
{
	return fpt_fence_is(l, page, &((const FPTPageSpecial *)
								   ((const char *) page +
									FPT_SPECIAL_OFFSET))->low, k);
}

static inline bool
fpt_page_ends_at(const FPTLayout *l, const void *page, const FPTKey *k)
{
	return fpt_fence_is(l, page, &((const FPTPageHeader *) page)->high, k);
}

/* What is wrong with a page. */
typedef struct FPTFault
{
	const char *what;			/* a clause, such as "tuples overlap" */
	const char *field;			/* what says so, */
	uint64		value;			/* and what it holds */
	int			kid;			/* node (by its place in the root) and entry */
	int			rank;			/* (by its place in the node); -1: neither */
} FPTFault;

/*
 * Where fpt_page_copy() copies entries to, in order: arrays of the caller's, by
 * the number of the entry in what is copied.  Those that are not wanted are
 * NULL.
 */
typedef struct FPTRun
{
	uint64	   *tids;
	uint64	   *los;			/* images, base added */
	uint64	   *his;			/* only for 16-byte keys */
	uint16	   *slotids;		/* kid's node number * cap + slot */
	uint16	   *tupoffs;		/* general keys: where the tuples are in the */
	uint16	   *tuplens;		/* page, neighbours may share one; lengths */
	int			tupbytes;		/* of all that are not shared; grows */
	int			max;			/* entries that there is room for; 0: for as
								 * many as a page has, or the kid that it is */
	bool		unordered;		/* of each node in any order: only TIDs and
								 * slotids are wanted */
	uint32	   *downs;			/* of an inner page; any number */
} FPTRun;

#define FPT_NO_IMAGE		(-1)	/* fpt_page_copy_image(): ask others */

#endif							/* FPT_PAGE_LAYOUT_H */
