/*-------------------------------------------------------------------------
 *
 * page/number.h
 *	  Leaf pages of numbers: an entry is one number, key and row side by side.
 *
 *		E = label << t | row,		row = block << ob | offset,	offset > 0
 *
 * The label stands for a head, an image that is stored once a page.  Labels
 * ascend as heads do, so numbers ascend as entries do.  A slot stores the
 * lowest w bytes of E.  Its node's separator is a number B, too, and
 *
 *		E = B + (slot - B) mod 2^8w
 *
 * so that each node has the width that its own entries need.  See
 * src/page/README.md, "Pages of numbers".
 *
 * In the page kernel only files named number*.c know how such a page looks.
 * All functions here take a leaf page of image keys; unless one says more, it
 * trusts nothing that it reads from the page, raises nothing and allocates
 * nothing.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_PAGE_NUMBER_H
#define FPT_PAGE_NUMBER_H

#include "page/format.h"
#include "page/layout.h"
#include "page/node.h"
#include "page/number_geom.h"
#include "page/simd.h"

/* A node of such a page. */
typedef struct FPTNumNode
{
	char	   *p;
	int			ordinal;		/* its number */
	int			w;				/* bytes of a slot */
	int			cap;			/* slots */
	uint64		b;				/* the separator, as a number */
	const char *head;			/* of entries to copy, or NULL: not known */
} FPTNumNode;

/* Does the page's geometry say that it is one of numbers? */
static inline bool
fpt_is_number(const FPTGeom *g)
{
	return g->coding == FPT_CODING_NUMBER;
}

/* What fpt_page_sane() asks of the borders of such a page. */
extern bool fpt_num_sane(const FPTLayout *l, void *page);

/* Is this page one of numbers?  Then open it as that. */
static inline bool
fpt_num_page(FPTPage pg, FPTNumbers *n)
{
	return unlikely(pg.g != NULL && fpt_is_number(pg.g)) &&
		fpt_num_open(pg.l, pg.p, n);
}

/* All ones in the lowest bits, 0 to 64. */
static inline uint64
fpt_ones(int bits)
{
	return bits >= 64 ? ~UINT64CONST(0) : (UINT64CONST(1) << bits) - 1;
}

/* Bits of a number, 0 of zero. */
static inline int
fpt_bits_of(uint64 v)
{
	return v == 0 ? 0 : fpt_top_bit(v) + 1;
}

/* The number of a row; of one whose offset has no more than ob bits. */
static inline uint64
fpt_num_row(uint64 tid, int ob)
{
	return (tid >> 16) << ob | (tid & 0xFFFF);
}

/* The TID of an entry: any block, any offset. */
static inline uint64
fpt_num_tid(const FPTNumbers *pg, uint64 e)
{
	return (e & fpt_ones(pg->t)) >> pg->ob << 16 | (e & fpt_ones(pg->ob));
}

/* Can the page represent this TID? */
static inline bool
fpt_num_tells_tid(const FPTNumbers *pg, uint64 tid)
{
	return (tid & 0xFFFF) != 0 && (tid & 0xFFFF) <= fpt_ones(pg->ob) &&
		tid >> 16 <= fpt_ones(pg->t - pg->ob);
}

/* The separator of a kid, in units; the kid is one of maxnodes. */
static inline uint64
fpt_num_sep(const FPTNumbers *pg, int kid)
{
	Assert(kid >= 0 && kid < pg->maxnodes);
	return fpt_load_uint(pg->p + FPT_LINE + kid * pg->sw, pg->sw);
}

/* A number in the units of separators: at most the highest one these have. */
static inline uint64
fpt_num_unit(const FPTNumbers *pg, uint64 e)
{
	return Min(e >> pg->ss, fpt_ones(8 * pg->sw));
}

/* The number of a kid's node, which may be any byte. */
static inline int
fpt_num_ordinal(const FPTNumbers *pg, int kid)
{
	return ((const uint8 *) pg->p)[pg->numbers + kid];
}

/* Which slots of a node are in use; free slots have a lowest byte of zero. */
static inline uint64
fpt_num_used(const FPTNumNode *d)
{
	return fpt_simd->used(d->p, d->cap, d->w);
}

/* The distance of a slot's entry from the node's separator. */
static inline uint64
fpt_num_distance(const FPTNumNode *d, int slot)
{
	Assert(slot >= 0 && slot < d->cap);
	return (fpt_load_uint(d->p + slot * d->w, d->w) - d->b) &
		fpt_ones(8 * d->w);
}

/* Put an entry that the node can have into a free slot. */
static inline void
fpt_num_put(const FPTNumNode *d, int slot, uint64 e)
{
	Assert(slot >= 0 && slot < d->cap);
	fpt_store_uint(d->p + slot * d->w, d->w, e);
}

/* Can the node store this entry? */
static inline bool
fpt_num_fits(const FPTNumNode *d, uint64 e)
{
	return e >= d->b && e - d->b <= fpt_ones(8 * d->w);
}

/*
 * The hints of a node.  Others may set some at the same time, under a share
 * lock as well.
 */
static inline uint64
fpt_num_hints(const FPTNumbers *pg, int ordinal)
{
	return fpt_load_uint(pg->p + fpt_num_hint_off(pg) +
						 FPT_NUM_HINT_BYTES * ordinal, 8);
}

static inline void
fpt_num_set_hints(const FPTNumbers *pg, int ordinal, uint64 hints)
{
	Assert(ordinal >= 0 && ordinal < pg->maxnodes);
	fpt_store_uint(pg->p + fpt_num_hint_off(pg) +
				   FPT_NUM_HINT_BYTES * ordinal, 8, hints);
}

/* --- reading (page/number.c) --------------------------------------------- */

/* Open a kid's node.  False: its number or its shape makes no sense. */
extern bool fpt_num_node(const FPTNumbers *pg, int kid, FPTNumNode *d);

/* The kid to which an entry belongs; 0 of a page without any. */
extern int	fpt_num_kid(const FPTNumbers *pg, uint64 e);

/*
 * Some slots of a node in the order of their entries, and the distances of
 * these from the node's separator.  Both arrays have room for FPT_MAX_CAP.
 * Returns the number of slots.
 */
extern int	fpt_num_order(const FPTNumNode *d, uint64 set, uint8 *slots,
						  uint64 *distances);

/* The head of an image: a pointer to its label, or NULL. */
extern char *fpt_num_head_find(const FPTNumbers *pg, uint64 hi, uint64 lo);

/* The head with this label: a pointer to it, or NULL. */
extern char *fpt_num_head_of(const FPTNumbers *pg, uint64 label);

/* The label and the image at a head. */
static inline uint64
fpt_num_label(const char *head)
{
	return fpt_load_uint(head, FPT_NUM_LABEL_BYTES);
}

static inline void
fpt_num_image(const FPTNumbers *pg, const char *head, uint64 *hi, uint64 *lo)
{
	head += FPT_NUM_LABEL_BYTES;
	*lo = fpt_load_uint(head, Min(8, pg->l->keysize));
	*hi = pg->l->keysize > 8 ? fpt_load_uint(head + 8, 8) : 0;
}

/*
 * The labels next to an image without a head: 0 if no head is below, and
 * FPT_NUM_MAX_LABEL + 1 if no head is above.
 */
extern void fpt_num_labels(const FPTNumbers *pg, uint64 hi, uint64 lo,
						   uint64 *below, uint64 *above);

/* What page/kernel.h and page/copy.h say, of pages of numbers. */
extern FPTResult fpt_num_lower_bound(const FPTNumbers *pg, const FPTKey *key,
									 FPTLoc *loc);
extern FPTResult fpt_num_range(const FPTNumbers *pg, const FPTKey *from,
							   const FPTKey *to, FPTLoc *first, FPTLoc *last);
extern int	fpt_num_count(const FPTNumbers *pg);
extern int	fpt_num_node_count(const FPTNumbers *pg, int kid);
extern FPTResult fpt_num_get(const FPTNumbers *pg, FPTLoc loc, FPTEntry *out);
extern int	fpt_num_copy(const FPTNumbers *pg, FPTLoc first, FPTLoc last,
						 bool skip_dead, FPTRun *run);
extern int	fpt_num_copy_image(const FPTNumbers *pg, const FPTKey *key,
							   bool skip_dead, FPTRun *run, int *kid);
extern int	fpt_num_extract(const FPTNumbers *pg, FPTEntry *out, int max);
extern int	fpt_num_tids(const FPTNumbers *pg, uint64 *tids, uint16 *slotids);
extern int	fpt_num_marked(const FPTNumbers *pg, const uint64 *marks,
						   int first, int n, uint64 gone[FPT_MAX_NODES]);
extern bool fpt_num_slot_is(const FPTNumbers *pg, int slotid, uint64 tid);
extern bool fpt_num_hint_get(const FPTNumbers *pg, int slotid);
extern void fpt_num_hint_set(const FPTNumbers *pg, int slotid);
extern bool fpt_num_all_hints(const FPTNumbers *pg,
							  uint64 hints[FPT_MAX_NODES]);
extern void fpt_num_space(const FPTNumbers *pg, FPTSpace *space);

#endif							/* FPT_PAGE_NUMBER_H */
