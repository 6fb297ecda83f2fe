/*-------------------------------------------------------------------------
 *
 * number.h
 *	  Leaf pages whose entries are one number each: a laboratory.
 *
 *		E = key << t | row,		row = block << ob | offset,		offset > 0
 *
 * A slot holds the lowest W bytes of E.  Its node knows what is above: its
 * separator is a number of the same kind, B, and an entry is
 *
 *		E = B + (slot - B) mod 2^8W
 *
 * so that slots need not change when separators do, and a node that has the
 * rows of a single key takes as many bytes as the distance of these rows.  The
 * lowest ob bits of a slot are those of an offset: zero in a free slot.
 *
 * Absolute nodes have t = T, the page's.  In a relative node, for rows that
 * follow each other in the table as keys do, t is less: row is R + (D mod 2^t),
 * R being the number at the node's end, key S + (D >> t), S the separator's.
 * Some of its rows may be anywhere: the far ones, 4 bytes each, in front of R;
 * the highest offsets say which.
 *
 * Keys of a page with heads are numbers as well: the label of the head, and the
 * rest.  A head is what many entries have in common: the whole key, if it is
 * repeated, or its first column.  Labels ascend as heads do, with gaps, so that
 * a new head changes no slot.
 *
 * The page, byte by byte, is in docs/decisions-number.md.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_NUMBER_H
#define FPT_NUMBER_H

#include "page/format.h"

typedef unsigned __int128 num_u128;

#define NUM_VERSION		21
#define NUM_MAXW		24		/* bytes of a slot */
#define NUM_MAXREL		16		/* ... of a relative node */
#define NUM_WINDOWS		12		/* a relative node's t: ob + 0 .. 11 */
#define NUM_MAXX		24		/* lines of a node */
#define NUM_MAXSW		8		/* bytes of a separator */
#define NUM_MAXNODES	250
#define NUM_MAXCAP		64		/* slots of a node: one bit each */
#define NUM_MAXLABEL	0xFFFF
#define NUM_MAXENTRIES	(BLCKSZ / 2)

/* What an index knows of its keys and its table. */
typedef struct NumIndex
{
	int			headsize;		/* bytes of a head, or of a key without one */
	int			headextra;		/* more bytes that a stored head takes */
	int			restbits;		/* what follows the head: 0, 32 or 64 */
	uint64		blocks;			/* of the table, at present */
	int			maxoff;			/* highest offset, at present */
	bool		noheads;		/* no pages with heads */
} NumIndex;

/* An entry.  Its order is that of head, rest, TID (block << 16 | offset). */
typedef struct NumEntry
{
	num_u128	head;
	uint64		rest;
	uint64		tid;
} NumEntry;

typedef enum NumResult
{
	NUM_OK,
	NUM_FULL,					/* the page has to be split */
	NUM_UNFIT,					/* ... or formed anew */
	NUM_CORRUPT
} NumResult;

/* The last line: FPTPageSpecial with other names for its last 16 bytes. */
typedef struct NumSpecial
{
	uint64		base_hi;		/* what separators count from, or rests */
	uint64		base_lo;
	FPTFence	low;
	uint32		pageno;
	uint32		indexid;
	uint8		t;				/* bits of a row */
	uint8		ob;				/* ... of an offset */
	uint8		ss;				/* separators are in units of 2^ss */
	uint8		heads;			/* 1 + bits of a rest: keys begin with labels
								 * of heads, rests count from base; else 0 */
	uint32		reserved[2];
	uint16		version;
	uint16		pageid;
} NumSpecial;

StaticAssertDecl(sizeof(NumSpecial) == FPT_LINE, "the last line");

static inline NumSpecial *
num_special(void *page)
{
	return (NumSpecial *) ((char *) page + FPT_SPECIAL_OFFSET);
}

/* Where the parts of a page are: by lines of a node, bytes of a separator. */
typedef struct NumGeom
{
	int			maxnodes;
	int			numbers;		/* nodes' numbers, a byte each */
	int			shapes;			/* ... shapes */
	int			node0;			/* the first node */
	int			step;			/* bytes of a node */
} NumGeom;

/* A page that is open.  All that is here is sound, whatever the page holds. */
typedef struct NumPage
{
	uint8	   *p;
	NumGeom		g;
	int			x;
	int			sw;
	int			ss;
	int			t;
	int			ob;
	int			n;				/* nodes in use */
	bool		heads;
	int			restbits;		/* of a key: below its label */
	uint64		restbase;
	int			nheads;
	int			headstep;		/* bytes of a head, with its label */
	num_u128	base;
} NumPage;

/* --- numbers of 192 bits -------------------------------------------------- */

typedef struct NumWide
{
	num_u128	hi;
	uint64		lo;
} NumWide;

static inline NumWide
num_join(num_u128 key, int t, uint64 row)
{
	Assert(t > 0 && t < 64);
	return (NumWide) {key >> (64 - t), (uint64) key << t | row};
}

static inline NumWide
num_sub(NumWide a, NumWide b)
{
	return (NumWide) {a.hi - b.hi - (a.lo < b.lo), a.lo - b.lo};
}

static inline NumWide
num_add(NumWide a, NumWide b)
{
	uint64		lo = a.lo + b.lo;

	return (NumWide) {a.hi + b.hi + (lo < a.lo), lo};
}

static inline bool
num_less(NumWide a, NumWide b)
{
	return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
}

static inline NumWide
num_shr(NumWide a, int n)
{
	if (n >= 64)
	{
		a = (NumWide) {a.hi >> 64, (uint64) a.hi};
		n -= 64;
		if (n >= 64)
		{
			a = (NumWide) {a.hi >> 64, (uint64) a.hi};
			n -= 64;
		}
	}
	if (n == 0)
		return a;
	return (NumWide) {a.hi >> n, a.lo >> n | (uint64) a.hi << (64 - n)};
}

static inline NumWide
num_shl(uint64 v, int n)
{
	if (n >= 128)
		return (NumWide) {(num_u128) (n < 192 ? v << (n - 128) : 0) << 64, 0};
	if (n >= 64)
		return (NumWide) {(num_u128) v << (n - 64), 0};
	return (NumWide) {n == 0 ? 0 : v >> (64 - n), v << n};
}

static inline int
num_bits64(uint64 v)
{
	return v == 0 ? 0 : 64 - __builtin_clzll(v);
}

static inline int
num_bits(NumWide v)
{
	uint64		top = (uint64) (v.hi >> 64);
	uint64		mid = (uint64) v.hi;

	return top ? 128 + num_bits64(top) : mid ? 64 + num_bits64(mid) :
		num_bits64(v.lo);
}

static inline uint64
num_ones(int bits)
{
	return bits >= 64 ? ~UINT64CONST(0) : (UINT64CONST(1) << bits) - 1;
}

/* Bytes, lowest first, to a number and back; at most 8. */
static inline uint64
num_load(const uint8 *p, int n)
{
	uint64		v = 0;

	memcpy(&v, p, (size_t) n);
	return v;
}

/* --- nodes ------------------------------------------------------------------ */

/*
 * A node's shape, one byte: absolute, W - 1; relative, NUM_MAXW and
 * 12 (W - 1) + t - ob.
 */
typedef struct NumShape
{
	int			w;
	int			t;
	bool		rel;
} NumShape;

#define NUM_NSHAPES		(NUM_MAXW + NUM_WINDOWS * NUM_MAXREL)

static inline uint8
num_shape_code(NumShape s, int ob)
{
	return (uint8) (s.rel ? NUM_MAXW + NUM_WINDOWS * (s.w - 1) + s.t - ob :
					s.w - 1);
}

typedef struct NumNode
{
	uint8	   *p;
	NumShape	s;
	int			ob;
	int			cap;
	int			nfar;			/* far rows that there may be */
	uint8	   *far;			/* ... and where they are */
	num_u128	key;			/* the separator's */
	uint64		row;			/* relative: R */
	NumWide		b;
} NumNode;

static inline int
num_nfar(int cap)
{
	return Max(1, cap / 10);
}

/* Slots of a node of so many lines. */
static inline int
num_cap(int x, int w, bool rel)
{
	int			cap = Min(NUM_MAXCAP, FPT_LINE * x / w);

	if (rel)
		while (cap > 0 && cap * w + 4 + 4 * num_nfar(cap) > FPT_LINE * x)
			cap--;
	return cap;
}

/* Offsets that are no row's, but say which far one. */
static inline bool
num_row_is_far(const NumNode *d, uint64 row)
{
	return d->s.rel &&
		(row & num_ones(d->ob)) > num_ones(d->ob) - (uint64) d->nfar;
}

static inline uint64
num_row(uint64 tid, int ob)
{
	return (tid >> 16) << ob | (tid & 0xFFFF);
}

static inline uint64
num_tid(uint64 row, int ob)
{
	return (row >> ob) << 16 | (row & num_ones(ob));
}

static inline int
num_entry_cmp(const NumEntry *a, const NumEntry *b)
{
	if (a->head != b->head)
		return a->head < b->head ? -1 : 1;
	if (a->rest != b->rest)
		return a->rest < b->rest ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

/* --- pages (read.c) --------------------------------------------------------- */

/* Where the parts of a page are. */
extern NumGeom num_geom(int x, int sw);

/* Is this a leaf page of numbers, whose counts and borders are sound? */
extern bool num_page_open(const NumIndex *ix, void *page, NumPage *pg);

/* The bytes of the page from pd_lower on that nodes, heads, hints leave. */
extern int	num_page_hole(const NumPage *pg);

/* The kid's separator, as it is stored and as a number. */
extern uint64 num_sep(const NumPage *pg, int kid);
extern void num_sep_number(const NumPage *pg, uint64 v, num_u128 *key,
						   uint64 *row);

/* What the page's separators say of a number: units, as many as there are. */
extern uint64 num_unit(const NumPage *pg, num_u128 key, uint64 row);

/* The node for a number, the first one for what is below all. */
extern int	num_kid(const NumPage *pg, num_u128 key, uint64 row);

/* A node; false: its number or its shape makes no sense. */
extern bool num_node_open(const NumPage *pg, int kid, NumNode *d);

extern uint64 num_node_used(const NumNode *d);

/* An entry of a node as numbers, and the TID's row. */
extern void num_node_get(const NumNode *d, int slot, num_u128 *key,
						 uint64 *row);

/* The head with this label, or of these bytes: its number, or -1. */
extern int	num_head_labelled(const NumPage *pg, uint64 label);
extern int	num_head_find(const NumPage *pg, const NumIndex *ix,
						  num_u128 head, uint64 *below, uint64 *above);
extern num_u128 num_head_get(const NumPage *pg, const NumIndex *ix, int i);

/* A page's key of an entry; false: its head has no label, or no bits its rest */
extern bool num_key(const NumPage *pg, const NumIndex *ix, const NumEntry *e,
					num_u128 *key);

/* Entries of a node in order, NUM_MAXCAP at most, and their slots; or -1. */
extern int	num_node_entries(const NumPage *pg, const NumIndex *ix, int kid,
							 NumEntry *e, uint8 *slots);

/* All entries of a page, in order; max: room in e.  -1: corrupt. */
extern int	num_extract(const NumIndex *ix, void *page, NumEntry *e, int max);

/* TIDs of the entries of a key, not in order, max at most; or -1. */
extern int	num_find(const NumIndex *ix, void *page, num_u128 head,
					 uint64 rest, uint64 *tids, int max);

/* Does a whole page hold what a page may?  NULL: yes, else what is wrong. */
extern const char *num_check(const NumIndex *ix, void *page);

/* --- making pages (form.c) -------------------------------------------------- */

/* How a page is to be filled. */
typedef struct NumFill
{
	int			slots;			/* percent of a node's */
	int			nodes;			/* ... of a page's */
	bool		all;			/* all of the entries, or none */
	bool		open;			/* keys ascend beyond the last one */
} NumFill;

/* The number of a slot; false: the node cannot have it, except as a far row. */
extern bool num_slot_encode(const NumNode *d, num_u128 key, uint64 row,
							NumWide *slot);

/* Put an entry into a free slot; false: this node cannot have it. */
extern bool num_node_put(const NumNode *d, int slot, num_u128 key, uint64 row);

/*
 * Write a node that holds e[0 .. n) in this shape, R if relative.  False: it
 * cannot; then the page is spoilt.
 */
extern bool num_node_write(const NumPage *pg, int kid, NumShape s, uint64 r,
						   const NumEntry *e, const num_u128 *keys, int n);

/*
 * Form a page of the first entries: the number of these, 0 if none fit.  The
 * rest of the header and of the special line is the caller's.
 */
extern int	num_form(const NumIndex *ix, void *page, const NumEntry *e, int n,
					 const NumFill *fill);

/* Choose a shape for a node, and how many entries it takes: see form.c. */
typedef struct NumPlan
{
	NumShape	s;
	uint64		r;
	int			take;
} NumPlan;

extern bool num_plan_node(const NumPage *pg, const NumEntry *e,
						  const num_u128 *keys, int n, int percent,
						  uint64 sep, uint64 end, int maxfar, NumPlan *plan);

/* A new node in the root, empty: the page is open again.  False: no room. */
extern bool num_add_node(const NumIndex *ix, NumPage *pg, int kid, uint64 sep);
extern void num_set_sep(const NumPage *pg, int kid, uint64 sep);

/* --- changing them (edit.c) ------------------------------------------------- */

/* Only a slot, or a slot and a far row, changes. */
extern NumResult num_insert(const NumIndex *ix, void *page, const NumEntry *e);

/*
 * Insert what num_insert() refused; other parts of the page change.  The page
 * is a copy, spoilt unless the result is NUM_OK.
 */
extern NumResult num_insert_room(const NumIndex *ix, void *page,
								 const NumEntry *e);

/* Remove an entry; false: there is none. */
extern bool num_remove(const NumIndex *ix, void *page, const NumEntry *e);

/* Keep the first n entries, which are no more than there are. */
extern void num_truncate(const NumIndex *ix, void *page, int n);

extern void num_node_clear(const NumNode *d, int slot);

/* How often each way of making room was taken. */
typedef enum NumWay
{
	NUM_WAY_SPLIT, NUM_WAY_SHIFT, NUM_WAY_APPEND, NUM_WAY_REPLAN, NUM_WAY_HEAD,
	NUM_WAY_FULL, NUM_NWAYS
} NumWay;

extern long num_ways[NUM_NWAYS];

#endif							/* FPT_NUMBER_H */
