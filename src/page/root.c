/*-------------------------------------------------------------------------
 *
 * page/root.c
 *	  Page kernel: the in-page root, and which nodes are in use.
 *
 *-------------------------------------------------------------------------
 */
#include "page/format.h"
#include "page/node.h"
#include "page/root.h"
#include "page/tuple.h"

/*
 * Shift the root's arrays at "kid" by "by" (1 or -1) entries: separators, their
 * lower halves where keys are wide, node numbers.  Before one is added, nkids
 * is below maxnodes, or it would go beyond the root's lines.  The caller
 * changes nkids afterwards.
 */
static void
fpt_root_shift(FPTPage pg, int kid, int by)
{
	const FPTGeom *g = pg.g;
	char	   *seps = pg.p + FPT_LINE;
	int			from = by > 0 ? kid : kid + 1;
	int			n = fpt_header(pg.p)->nkids - from;

	Assert(by == 1 || by == -1);
	Assert(kid >= 0 && kid <= fpt_header(pg.p)->nkids);
	memmove(seps + (from + by) * g->rw, seps + from * g->rw, n * g->rw);
	if (fpt_is_wide(g))
	{
		char	   *lows = seps + g->maxnodes * g->rw;

		memmove(lows + (from + by) * 8, lows + from * 8, n * 8);
	}
	memmove(pg.p + g->kids_off + from + by, pg.p + g->kids_off + from, n);
}

/*
 * See page/root.h.  What the hole gets back is zeroed: hint bits apart it is
 * zero at all times, in shared buffers, on disk and at replay, and WAL records
 * count on that (W5).
 */
void
fpt_set_nnodes(FPTPage pg, int nnodes)
{
	FPTPageHeader *h = fpt_header(pg.p);
	int			had = Min(h->nnodes, pg.g->maxnodes);
	uint64		hints[FPT_MAX_NODES + 1];
	int			i;

	Assert(nnodes >= 0 && nnodes <= pg.g->maxnodes);
	if (fpt_shares_space(pg.g) && fpt_is_leaf(pg.g))
	{
		/* The hints lie at the border: they move with it. */
		for (i = 0; i < Min(had, nnodes); i++)
			hints[i] = fpt_node_hints(pg, i);
		memset(pg.p + fpt_lower(pg.g, had), 0, fpt_hint_bytes(pg.g, had));
	}
	if (nnodes < had)
		memset(fpt_node(pg, nnodes), 0, (had - nnodes) * pg.g->x * FPT_LINE);

	/* what was kept for tuples to come is the hole's */
	h->std.pd_upper = (uint16) fpt_tuples_from(pg);
	h->nnodes = (uint8) nnodes;
	h->std.pd_lower = fpt_lower(pg.g, nnodes);
	if (fpt_shares_space(pg.g) && fpt_is_leaf(pg.g))
	{
		for (i = 0; i < Min(had, nnodes); i++)
		{
			for (; hints[i] != 0; hints[i] &= hints[i] - 1)
				fpt_hint_set(pg, i * pg.g->cap + fpt_ctz(hints[i]));
		}
	}
}

/*
 * Lowest node number not in use, or -1: as many are as there can be, whatever
 * numbers a damaged page names, twice or beyond the last one.
 */
static int
fpt_free_ordinal(FPTPage pg)
{
	bool		taken[FPT_MAX_NODES + 1] = {false};
	int			nkids = fpt_header(pg.p)->nkids;

	if (nkids >= pg.g->maxnodes)
		return -1;
	for (int i = 0; i < nkids; i++)
		taken[fpt_kid(pg, i)] = true;
	for (int i = 0; i < pg.g->maxnodes; i++)
	{
		if (!taken[i])
			return i;
	}
	return -1;
}

/* Has the page room for another node? */
bool
fpt_has_free_node(FPTPage pg)
{
	return fpt_free_ordinal(pg) >= 0;
}

/*
 * A node of this number, which is free, is put to use.  What it had means
 * nothing (fpt_node_add).
 */
static char *
fpt_node_take_up(FPTPage pg, int ordinal)
{
	char	   *node;

	if (ordinal >= fpt_header(pg.p)->nnodes)
	{
		/* The lowest free number is the first one in the hole. */
		fpt_set_nnodes(pg, ordinal + 1);
	}
	node = fpt_node(pg, ordinal);
	if (pg.g->perm)
		memset(node, 0, pg.g->x * FPT_LINE);
	else
		fpt_node_free(pg.g, node);
	return node;
}

/*
 * See page/root.h.  A node that was free has what it had.  Where TIDs tell what
 * is in use the rest of it means nothing, and is not worth its WAL.  All TIDs
 * go, whatever was left of them: no check has looked at a free node.
 */
char *
fpt_node_add(FPTPage pg, int at, bool isnull, uint64 hi, uint64 lo)
{
	FPTPageHeader *h = fpt_header(pg.p);
	int			ordinal = fpt_free_ordinal(pg);

	Assert(at >= 0 && at <= h->nkids);
	if (ordinal < 0)
		return NULL;
	if (fpt_shares_space(pg.g) && ordinal >= h->nnodes &&
		fpt_tuple_room(pg) < fpt_node_space(pg))
		return NULL;
	fpt_root_shift(pg, at, 1);
	((uint8 *) pg.p)[pg.g->kids_off + at] = (uint8) ordinal;
	fpt_sep_set(pg, at, hi, lo);
	h->nkids++;
	if (isnull)
		h->nnull++;
	Assert(h->nkids <= pg.g->maxnodes && h->nnull <= h->nkids);
	return fpt_node_take_up(pg, ordinal);
}

/* See page/root.h.  Its class is asked for while it still is a kid. */
void
fpt_node_remove(FPTPage pg, int kid)
{
	FPTPageHeader *h = fpt_header(pg.p);
	bool		isnull = fpt_kid_cls(pg, kid) != FPT_CLS_VALUE;

	Assert(kid < h->nkids);
	fpt_root_shift(pg, kid, -1);
	h->nkids--;
	if (isnull)
		h->nnull--;
}
