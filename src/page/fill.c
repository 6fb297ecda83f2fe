/*-------------------------------------------------------------------------
 *
 * page/fill.c
 *	  Page kernel: entries into empty nodes, and into a page of such.
 *
 * Builds, and splits, form pages of entries that are in order: node after node,
 * each of which is written at once.
 *
 *-------------------------------------------------------------------------
 */
#include "page/coding.h"
#include "page/encoding.h"
#include "page/fill.h"
#include "page/format.h"
#include "page/node.h"
#include "page/root.h"
#include "page/rows.h"
#include "page/slots.h"

/* See page/fill.h.  Ascending insertions need not change it. */
void
fpt_node_set_perm(const FPTGeom *g, char *node)
{
	for (int i = 0; g->perm && i < g->cap; i++)
		fpt_node_perm(g, node)[i] = (uint8) i;
}

/* A kid's node gets other entries: no hint belongs to them. */
static inline void
fpt_node_hints_clear(FPTPage pg, int kid)
{
	int			ordinal = fpt_kid(pg, kid);

	if (!fpt_is_leaf(pg.g) || fpt_node_hints(pg, ordinal) == 0)
		return;
	for (int i = 0; i < pg.g->cap; i++)
		fpt_hint_clear(pg, ordinal * pg.g->cap + i);
}

/* See page/fill.h. */
int
fpt_rel_far(FPTPage pg, const FPTRelEntry *e, int n, uint32 *row)
{
	const FPTPageSpecial *s = fpt_special(pg.p);
	uint64		tids[FPT_MAX_CAP];

	for (int i = 0; i < n; i++)
		tids[i] = e[i].tid;
	return fpt_rows_choose(pg.g, s->tidbase, s->rowbits, tids, n, row);
}

/*
 * See page/fill.h.  They take the first n slots in order, which makes the
 * identity their permutation; or slots with free ones between them, where many
 * have one head.
 */
void
fpt_node_write(FPTPage pg, int kid, const FPTRelEntry *e, int n)
{
	char	   *node = fpt_node(pg, fpt_kid(pg, kid));
	uint64		base = fpt_kid_base(pg, kid);
	bool		spread = fpt_node_spreads(pg.g, e, n);

	Assert(n > 0);
	Assert(n <= pg.g->cap);
	Assert(fpt_node_used(pg.g, node) == 0);
	fpt_node_set_perm(pg.g, node);
	if (fpt_has_far(pg.g))
	{
		uint32		row;

		(void) fpt_rel_far(pg, e, n, &row);
		fpt_node_set_row(pg.g, node, row);
	}
	for (int i = 0; i < n; i++)
	{
		int			slot = spread ? fpt_spread_slot(pg.g, i, n) : i;

		fpt_slot_set_rel(pg.g, node, base, slot, e[i].hi, e[i].lo);
		fpt_slot_set_tid(pg, node, slot, e[i].tid);
		fpt_slot_set_down(pg.g, node, slot, e[i].down);
		fpt_slot_set_off(pg.g, node, slot, e[i].off);
		fpt_slot_taken(pg.g, node, slot);
	}
	fpt_node_hints_clear(pg, kid);
}

/* What is next to come into a page that fpt_fill_region() fills. */
typedef struct FPTFill
{
	const FPTEntry *entries;	/* the region's */
	int			from;			/* the next node's: the first one, */
	int			n;				/* and how many */
	bool		isnull;
	bool		first;			/* it is its region's first one */
	const FPTKey *end;			/* the key that the node after it begins with,
								 * or its own last one */
	uint64		prevhi;			/* upper half of the stored key before */
} FPTFill;

/*
 * Where keys are relative to nodes: can the next one tell its entries, the
 * searched parts of which are "least" to "most", and all that may come to it,
 * if (hi, lo) is its separator?  A region's first separator, which no search
 * looks at, becomes zero if it can then: nothing that comes is below that.
 */
static bool
fpt_fill_sep(FPTPage pg, const FPTFill *f, uint64 least, uint64 most,
			 uint64 *hi, uint64 *lo)
{
	const FPTGeom *g = pg.g;
	uint64		endhi;
	uint64		endlo;
	uint64		word;
	uint64		base;

	if (!fpt_is_near(g) || f->end->cls != FPT_CLS_VALUE)
		return true;
	if (fpt_rel(pg, f->end, &endhi, &endlo) != 0)
		return false;
	word = fpt_word(g, endhi, endlo);
	if (f->first && fpt_node_tells(g, 0, word) == 0)
		*hi = *lo = 0;
	base = fpt_base_of(g, fpt_word(g, *hi, *lo));
	return fpt_node_tells(g, base, least) == 0 &&
		fpt_node_tells(g, base, most) == 0 &&
		fpt_node_tells(g, base, word) == 0;
}

/*
 * Put the entries into a new node at the root's end.  FPT_OK, or as
 * fpt_fill_region().  f->prevhi becomes that of the last one.
 */
static FPTResult
fpt_fill_node(FPTPage pg, FPTFill *f)
{
	const FPTEntry *in = f->entries + f->from;
	int			kid = fpt_header(pg.p)->nkids;
	FPTRelEntry e[FPT_MAX_CAP];
	uint64		least = ~UINT64CONST(0);
	uint64		most = 0;
	uint64		hi;
	uint64		lo;
	uint32		row;
	FPTResult	res;

	for (int j = 0; j < f->n; j++)
	{
		if (!fpt_page_tells_tid(pg, in[j].key.tid))
			return FPT_UNFIT;
		e[j].tid = in[j].key.tid;
		e[j].down = in[j].down;
	}
	if (fpt_has_far(pg.g) && fpt_rel_far(pg, e, f->n, &row) > pg.g->nfar)
		return FPT_UNFIT;
	res = fpt_encoding(pg.g)->store(pg, f->entries, f->from, f->n, e);
	if (res != FPT_OK)
		return res;
	for (int j = 0; fpt_is_near(pg.g) && j < f->n; j++)
	{
		least = Min(least, fpt_word(pg.g, e[j].hi, e[j].lo));
		most = Max(most, fpt_word(pg.g, e[j].hi, e[j].lo));
	}
	hi = e[0].hi;
	lo = f->first ? e[0].lo : fpt_sep_low(f->prevhi, hi, e[0].lo);
	if (!fpt_fill_sep(pg, f, least, most, &hi, &lo))
		return FPT_UNFIT;
	if (fpt_node_add(pg, kid, f->isnull, hi, lo) == NULL)
		return FPT_FULL;
	fpt_node_write(pg, kid, e, f->n);
	f->prevhi = e[f->n - 1].hi;
	return FPT_OK;
}

/* Are these the pages that fpt_fill_numbers() is for? */
static inline bool
fpt_fills_numbers(FPTPage pg, bool isnull)
{
	return pg.l->keysize <= 8 && !fpt_is_general(pg.l) && !isnull &&
		fpt_is_leaf(pg.g) && pg.g->tw < 6;
}

/*
 * Bytes for n TIDs, which the page can tell as far ones, in place of the TIDs
 * in tids[], which are relative to the page's block; far ones go to "far" as
 * they are stored.  Returns their number, or -1: they are more than a node has
 * room for.  *row: what the others are relative to.
 */
static int
fpt_fill_rows(FPTPage pg, uint64 *tids, int n, uint32 *far, uint32 *row)
{
	int			bits = fpt_special(pg.p)->rowbits & 0xF;
	unsigned	near = fpt_near_rows(pg.g);
	int			nfar = 0;

	if (fpt_rows_choose(pg.g, 0, bits, tids, n, row) > pg.g->nfar)
		return -1;
	for (int i = 0; i < n; i++)
	{
		uint64		number = fpt_row_of(0, bits, tids[i]) - *row;
		uint32		v;
		int			j = 0;

		if (number < near)
		{
			tids[i] = number + 1;
			continue;
		}
		v = (uint32) fpt_far_of(pg.g, 0, tids[i]);
		while (j < nfar && far[j] != v)
			j++;
		Assert(j < pg.g->nfar);
		far[j] = v;
		nfar = Max(nfar, j + 1);
		tids[i] = fpt_far_byte(pg.g, j, tids[i]);
	}
	return nfar;
}

/* Put them into a new node. */
static void
fpt_fill_far(FPTPage pg, char *node, uint32 row, const uint32 *far, int nfar)
{
	fpt_node_set_row(pg.g, node, row);
	for (int i = 0; i < nfar; i++)
		fpt_store_uint(node + fpt_far_off(pg.g, i), FPT_FAR_BYTES, far[i]);
}

/*
 * The same for images of 8 bytes or less and short TIDs, a third of the
 * instructions: builds of such indexes, and their splits, do little else.  Keys
 * and TIDs are made in one pass, and checked all at once.  Where keys lend bits
 * the lowest one counts as having none of them set, the highest one all.
 */
static FPTResult
fpt_fill_numbers(FPTPage pg, const FPTFill *f)
{
	const FPTGeom *g = pg.g;
	const FPTEntry *in = f->entries + f->from;
	int			kid = fpt_header(pg.p)->nkids;
	uint64		base = fpt_special(pg.p)->base_lo;
	uint64		tidbase = (uint64) fpt_special(pg.p)->tidbase << 16;
	int			bits = fpt_lent_bits(pg.l, pg.p);
	uint64		lent = fpt_lent_mask(bits);
	uint64		keys[FPT_MAX_CAP];
	uint64		tids[FPT_MAX_CAP];
	uint32		far[FPT_MAX_FAR];
	int			nfar = 0;
	uint32		row = 0;
	int			rowbits = fpt_has_far(g) ? FPT_MAX_ROWBITS :
		fpt_special(pg.p)->rowbits & 0xF;
	int			blockbits = 8 * (fpt_has_far(g) ? FPT_FAR_BYTES : g->tw) -
		rowbits;
	uint64		least = ~UINT64CONST(0);
	uint64		most = 0;
	uint64		blocks = 0;
	uint64		offsets = 0;
	uint64		hi = 0;
	uint64		lo;
	char	   *node;

	for (int j = 0; j < f->n; j++)
	{
		const FPTKey *key = &in[j].key;
		uint64		tid = key->tid - tidbase;

		keys[j] = (key->lo - base) << bits |
			((tid >> 16) >> blockbits & lent);
		least = Min(least, key->lo);
		most = Max(most, key->lo);
		/* below the base all bits are set that a block may not have */
		blocks |= tid >> 16;
		offsets |= tid & 0xFFFF;
		tids[j] = fpt_has_far(g) ? tid : fpt_tid_narrow(0, rowbits, tid);
	}
	if (least < base || (bits > 0 && (most - base) >> (64 - bits) != 0))
		return FPT_UNFIT;
	least = (least - base) << bits;
	most = (most - base) << bits | lent;
	if (!fpt_fits(g->kw, 0, most) || blocks >> (blockbits + bits) != 0 ||
		offsets >> rowbits != 0)
		return FPT_UNFIT;
	if (fpt_has_far(g))
		nfar = fpt_fill_rows(pg, tids, f->n, far, &row);
	if (nfar < 0)
		return FPT_UNFIT;
	lo = keys[0];
	if (!fpt_fill_sep(pg, f, least, most, &hi, &lo))
		return FPT_UNFIT;
	node = fpt_node_add(pg, kid, false, hi, lo);
	if (node == NULL)
		return FPT_FULL;
	base = fpt_kid_base(pg, kid);
	for (int j = 0; base != 0 && j < f->n; j++)
		keys[j] -= base;
	fpt_store_uints(node + g->key_off, g->sw, keys, f->n);
	fpt_store_uints(node + g->tid_off, g->tw, tids, f->n);
	if (fpt_has_far(g))
		fpt_fill_far(pg, node, row, far, nfar);
	fpt_node_hints_clear(pg, kid);
	return FPT_OK;
}

/*
 * Share n entries of one region out over k new nodes at the root's end; there
 * are slots enough in these.  The first n % k of them get one more than the
 * others, so that none is empty.  FPT_FULL: no room for a node, or for a tuple;
 * FPT_UNFIT: a key or a TID is not representable; the page is half filled then.
 * Entries of a damaged page need not be in order.  Compares no keys: raises
 * nothing.
 */
static FPTResult
fpt_fill_region(FPTPage pg, const FPTEntry *entries, int n, int k, bool isnull)
{
	FPTFill		f = {.entries = entries, .isnull = isnull, .first = true};
	bool		numbers = fpt_fills_numbers(pg, isnull);

	Assert(n >= 0 && k <= n);
	for (int i = 0; i < k; i++)
	{
		FPTResult	res;

		f.n = n / k + (i < n % k ? 1 : 0);
		Assert(f.n > 0 && f.n <= pg.g->cap);
		f.end = &entries[Min(f.from + f.n, n - 1)].key;
		res = numbers ? fpt_fill_numbers(pg, &f) : fpt_fill_node(pg, &f);
		if (res != FPT_OK)
			return res;
		f.from += f.n;
		f.first = false;
	}
	Assert(f.from == n);
	return FPT_OK;
}

/*
 * See page/fill.h.  NULLs and values have nodes of their own: two regions, in
 * the order that the layout says.  Only a dictionary's begin() compares keys,
 * and may raise, before any node is there.
 */
FPTResult
fpt_page_fill(const FPTLayout *l, void *page, const FPTEntry *entries, int n,
			  int fill)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			per = Max(1, pg.g->cap * fill / 100);
	int			nfirst = 0;		/* entries of the first region */
	int			kfirst,
				ksecond;
	int			maxnodes;
	bool		firstnull = pg.l->nullsfirst;
	FPTResult	res;

	Assert(fill > 0 && fill <= 100);
	Assert(fpt_header(pg.p)->nkids == 0);
	res = fpt_encoding(pg.g)->begin(pg, entries, n);
	if (res != FPT_OK)
		return res;
	maxnodes = fpt_encoding(pg.g)->nodes(pg, entries, n);
	Assert(maxnodes <= pg.g->maxnodes);
	while (nfirst < n &&
		   (entries[nfirst].key.cls != FPT_CLS_VALUE) == firstnull)
		nfirst++;
	kfirst = fpt_ceil_div(nfirst, per);
	ksecond = fpt_ceil_div(n - nfirst, per);
	if (kfirst + ksecond > maxnodes)
	{
		/* Denser: all nodes, the larger region getting the slack. */
		int			slack;

		kfirst = fpt_ceil_div(nfirst, pg.g->cap);
		ksecond = fpt_ceil_div(n - nfirst, pg.g->cap);
		slack = maxnodes - kfirst - ksecond;
		if (slack < 0)
			return FPT_FULL;
		if (nfirst > n - nfirst)
			kfirst = Min(kfirst + slack, nfirst);
		else
			ksecond = Min(ksecond + slack, n - nfirst);
	}
	Assert(kfirst + ksecond <= maxnodes);
	res = fpt_fill_region(pg, entries, nfirst, kfirst, firstnull);
	if (res == FPT_OK)
		res = fpt_fill_region(pg, entries + nfirst, n - nfirst, ksecond,
							  !firstnull);

	/* an image in WAL would have what is kept for tuples to come */
	if (fpt_has_offsets(pg.g))
		fpt_header(page)->std.pd_upper = (uint16) fpt_tuples_from(pg);
	return res;
}
