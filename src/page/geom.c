/*-------------------------------------------------------------------------
 *
 * page/geom.c
 *	  Geometry of pages: from node widths to offsets, and which widths to use.
 *
 * Widths are chosen by goal G of the fpB+-tree paper (section 3.1.1): "maximize
 * the page fan-out while maintaining the analytical search cost to be within
 * 10% of the optimal".  The cost of searching an in-page tree of L levels with
 * w lines in a nonleaf node and x lines in a leaf node is
 *
 *		(L - 1) * (T1 + (w - 1) * Tnext) + T1 + (x - 1) * Tnext
 *
 * where T1 is the latency of a cache miss and Tnext that of one more line
 * prefetched with it.  Read literally the cheapest tree is always w = x = 1,
 * which leaves most of the page empty.  The paper avoids that by giving every
 * (w, x) the L that "utilizes the most space in the page", so that a tree of
 * small nodes has many levels and is not cheap; "the optimal" is the cheapest
 * of all (w, x) so treated.  (With the paper's parameters this gives the optima
 * and ratios of its Table 2; the unit tests verify that.)
 *
 * Our in-page trees have two levels: only pairs for which L = 2 comes out can
 * be chosen, but all of them count for the optimum.  The unit tests verify that
 * goal G does select two levels for every page size, key width and kind.
 *
 *-------------------------------------------------------------------------
 */
#include "page/geom.h"

#define FPT_MAX_LINES		32	/* widest node that may be asked for */
#define FPT_GOAL_LINES		16	/* widest one considered otherwise */
#define FPT_GOAL_NODES		8	/* not so wide that there are fewer */
#define FPT_MIN_CAPACITY	8	/* fewer entries make no usable page */
#define FPT_GOAL_TOLERANCE	1.10

/*
 * Where the hint bitmap of a page of n nodes begins: one bit a slot, ending at
 * the special line.  Inner pages have no hints.
 */
static int
fpt_hint_start(const FPTGeom *g, int n)
{
	int			bytes = 0;

	if (g->dw == 0)
		bytes = (n * g->cap + 63) / 64 * 8;
	return FPT_SPECIAL_OFFSET - bytes;
}

/*
 * What a slot of this kind, FPT_KIND_*, has, with separators of kw bytes.
 * Returns the kind as a page of images would have it.  Sets g's coding and all
 * widths but those of nodes.  A slot that owns a tuple is free if the offset of
 * its TID is zero (W8): 2 bytes of a whole TID, 1 of a short one.
 */
static int
fpt_geom_slot(FPTGeom *g, int kw, int kind)
{
	static const uint8 tidwidth[FPT_NKINDS] = {2, 3, 4, 6, 6, 2, 3, 4, 6};

	if (kind >= FPT_KIND_DICT)
	{
		kind -= FPT_KIND_DICT;
		g->coding = FPT_CODING_DICT;
	}
	else if (kind >= FPT_KIND_GENERAL)
	{
		kind -= FPT_KIND_GENERAL;
		g->coding = FPT_CODING_TUPLE;
		g->ow = sizeof(uint16);
	}
	Assert(kind >= 0 && kind < FPT_NKINDS);
	g->kw = kw;
	g->rw = kw > 8 ? kw - 8 : kw;
	g->wide = g->rw < kw;
	g->near = kind >= FPT_KIND_NEAR;
	g->sw = g->rw - (g->near ? 1 : 0);
	g->tw = tidwidth[kind];
	g->dw = kind == FPT_KIND_INNER ? 4 : 0;
	g->fw = g->tw;
	if (g->coding == FPT_CODING_TUPLE)
		g->fw = g->tw == 6 ? sizeof(uint16) : 1;
	g->pw = g->kw - g->rw + g->tw + g->dw + g->ow;
	g->ks = g->sw;
	if (g->wide && kind != FPT_KIND_INNER && g->sw + g->pw <= FPT_JOINED_BYTES)
	{
		g->joined = true;
		g->pw += g->sw;
		g->ks = g->pw;
	}
	return kind;
}

/*
 * Can there be pages of this kind with separators of kw bytes?  Keys relative
 * to nodes have a byte less of what is searched, and one at least.
 */
static inline bool
fpt_kind_exists(int kw, int kind)
{
	if (kind >= FPT_KIND_GENERAL)
		return kind % FPT_NKINDS < FPT_KIND_NEAR;
	return kind < FPT_KIND_NEAR || (kw > 1 && kw != 9);
}

/*
 * See page/geom.h.  Everything is worked out before it is looked at, so that
 * the assertions hold of pages that are not usable, too.  Arguments are checked
 * one by one, as they may be a damaged metapage's.
 */
bool
fpt_geom_init(FPTGeom *g, int kw, int kind, int w, int x)
{
	int			header;
	int			entry;
	int			cap;
	int			n;

	memset(g, 0, sizeof(FPTGeom));
	if (kw < 1 || kw > FPT_NKW ||
		kind < 0 || kind >= FPT_KIND_DICT + FPT_KIND_INNER ||
		(kind >= FPT_KIND_GENERAL && kw > 8) ||
		(kind >= FPT_KIND_DICT && kw > 1) ||
		!fpt_kind_exists(kw, kind) ||
		w < 1 || w > FPT_MAX_LINES || x < 1 || x > FPT_MAX_LINES)
		return false;

	kind = fpt_geom_slot(g, kw, kind);
	g->w = w;
	g->x = x;
	g->perm = g->dw > 0;
	g->enc = fpt_enc(g->kw - 1, kind);

	header = g->perm ? sizeof(FPTNode) : 0;
	entry = fpt_slot_bytes(g);
	cap = (x * FPT_LINE - header) / entry;
	cap = Min(cap, FPT_MAX_CAP);
	g->cap = cap;
	g->key_off = header;
	g->perm_off = g->key_off + (g->joined ? 1 : cap) * g->sw;
	g->low_off = g->perm_off + (g->perm ? cap : 0);
	g->tid_off = g->low_off + g->kw - g->rw;
	g->down_off = g->tid_off + g->tw;
	g->off_off = g->down_off + g->dw;

	/* the root's fan-out and the space, less the hints, limit the nodes */
	g->node_off = (1 + w) * FPT_LINE;
	n = Min(w * FPT_LINE / (kw + 1), FPT_MAX_NODES);
	n = Min(n, Max(0, FPT_BODY_LINES - w) / x);
	while (n > 0 && g->node_off + n * x * FPT_LINE > fpt_hint_start(g, n))
		n--;
	g->maxnodes = n;
	g->kids_off = FPT_LINE + n * kw;
	g->hint_off = fpt_hint_start(g, n);

	g->capmask = cap < 64 ? (UINT64CONST(1) << cap) - 1 : ~UINT64CONST(0);
	g->capacity = n * cap;
	Assert((g->joined ? g->key_off : g->low_off) + cap * g->pw <= x * FPT_LINE);
	Assert(g->kids_off + n <= g->node_off);
	Assert(n == 0 || g->node_off + n * x * FPT_LINE <= g->hint_off);
	Assert(g->hint_off <= FPT_SPECIAL_OFFSET);
	Assert(g->capacity <= FPT_MAX_ENTRIES);
	Assert(g->sw >= 1 && g->sw <= 8);
	return n >= 2 && cap >= 2 && g->capacity >= FPT_MIN_CAPACITY;
}

/*
 * Would n leaf nodes fit in the page below that many levels in all, of nodes
 * as wide and with the same fan-out as the root?  The paper's question; what we
 * store has two levels, whatever comes out.
 */
static bool
fpt_levels_fit(const FPTGeom *g, int levels, int n)
{
	int			fanout = g->w * FPT_LINE / (g->kw + 1);
	int			lines = n * g->x;
	int			nodes = n;

	Assert(levels >= 2 && n >= 0);
	for (int i = 1; i < levels; i++)
	{
		nodes = (nodes + fanout - 1) / fanout;
		lines += nodes * g->w;
	}
	return nodes == 1 && (1 + lines) * FPT_LINE <= fpt_hint_start(g, n);
}

/* The number of levels that "utilizes the most space": holds most nodes. */
static int
fpt_best_levels(const FPTGeom *g)
{
	int			levels = 2;
	int			n = g->maxnodes;

	while (fpt_levels_fit(g, levels + 1, n + 1))
	{
		levels++;
		while (fpt_levels_fit(g, levels, n + 1))
			n++;
	}
	return levels;
}

/*
 * The paper's cost of a search, in ns: each node's first line, then the others.
 */
static double
fpt_search_cost(const FPTGeom *g, int levels)
{
	Assert(levels >= 2);
	return (levels - 1) * (FPT_T1 + (g->w - 1) * FPT_TNEXT) +
		FPT_T1 + (g->x - 1) * FPT_TNEXT;
}

/*
 * Capacities that are all but the same differ by one part of so many: no more
 * than wider nodes save in WAL (fpt_choose_nodes).
 */
#define FPT_EQUAL_SHARE		50

/*
 * Is "a" the better choice of two?  Capacity decides, then the cost.  Of equals
 * the later one, whose leaf nodes are narrower (less to move and to log).
 */
static bool
fpt_better_geom(const FPTGeom *a, const FPTGeom *b)
{
	if (a->capacity != b->capacity)
		return a->capacity > b->capacity;
	return a->w + a->x <= b->w + b->x;
}

/* A pair of widths under consideration. */
typedef struct FPTCandidate
{
	FPTGeom		geom;
	int			levels;			/* those that use most of the page's space */
	double		cost;			/* of a search through these, in ns */
} FPTCandidate;

/*
 * Derive the candidate; false if it is not allowed or makes no usable page.
 * force_w, force_x: the widths asked for, 0 if any will do.
 */
static bool
fpt_candidate(FPTCandidate *c, int kw, int kind, int w, int x,
			  int force_w, int force_x)
{
	if ((force_w != 0 && w != force_w) || (force_x != 0 && x != force_x) ||
		!fpt_geom_init(&c->geom, kw, kind, w, x))
		return false;
	c->levels = fpt_best_levels(&c->geom);
	c->cost = fpt_search_cost(&c->geom, c->levels);
	return true;
}

/* The last width to look at, if this one is asked for, or none (0). */
static inline int
fpt_widest(int force)
{
	return force > 0 ? Min(force, FPT_MAX_LINES) : FPT_GOAL_LINES;
}

/*
 * Of the pairs with all but the same capacity as the best one, take that with
 * the narrowest leaf nodes, if they have permutations, of which an insertion
 * logs half.  If not, that with most slots in a node: wide nodes are filled
 * more evenly, so that pages get fuller, and entries are moved, and logged,
 * less often.  (Measured, 8-byte keys, doubled by random insertions: nodes of
 * 10 lines instead of 5 save 13% of the bytes and 7% of the WAL; of uuids 15
 * lines instead of 11 save 1% and 2%.)  Searches do not get slower, so their
 * cost may exceed limit (0: any) by a fifth.  *best is the best one before, and
 * what was taken after.
 */
static void
fpt_choose_nodes(int kw, int kind, int force_w, int force_x, double limit,
				 FPTGeom *best)
{
	uint32		least = best->capacity - best->capacity / FPT_EQUAL_SHARE;
	bool		narrow = best->perm;
	FPTCandidate c;

	for (int w = 1; w <= fpt_widest(force_w); w++)
	{
		for (int x = 1; x <= fpt_widest(force_x); x++)
		{
			if (!fpt_candidate(&c, kw, kind, w, x, force_w, force_x) ||
				c.geom.capacity < least ||
				(limit != 0 &&
				 (c.levels > 2 || c.cost > limit * (narrow ? 1 : 1.2))))
				continue;
			if (narrow ? c.geom.x < best->x :
				c.geom.cap > best->cap && c.geom.maxnodes >= FPT_GOAL_NODES)
				*best = c.geom;
		}
	}
}

/*
 * Goal G for one key width and kind.  If forced widths leave no two-level tree
 * that qualifies, the usable pair of the largest capacity it is.  False: no
 * usable pair, *out is zero.  First all pairs are asked for the least cost, of
 * any number of levels, then those within 10% of it for the largest capacity.
 */
static bool
fpt_choose_pair(int kw, int kind, int force_w, int force_x, FPTWidths *out)
{
	FPTCandidate c;
	FPTGeom		best;
	bool		best_ok = false;	/* best qualifies */
	double		limit = 0;

	for (int w = 1; w <= fpt_widest(force_w); w++)
	{
		for (int x = 1; x <= fpt_widest(force_x); x++)
		{
			if (fpt_candidate(&c, kw, kind, w, x, force_w, force_x) &&
				(limit == 0 || c.cost * FPT_GOAL_TOLERANCE < limit))
				limit = c.cost * FPT_GOAL_TOLERANCE;
		}
	}

	memset(&best, 0, sizeof(best));
	for (int w = 1; w <= fpt_widest(force_w); w++)
	{
		for (int x = 1; x <= fpt_widest(force_x); x++)
		{
			bool		ok;

			if (!fpt_candidate(&c, kw, kind, w, x, force_w, force_x))
				continue;
			ok = c.levels == 2 && c.cost <= limit;
			if (ok > best_ok ||
				(ok == best_ok && fpt_better_geom(&c.geom, &best)))
			{
				best = c.geom;
				best_ok = ok;
			}
		}
	}
	if (best.capacity > 0)
		fpt_choose_nodes(kw, kind, force_w, force_x, best_ok ? limit : 0,
						 &best);
	Assert(best.x <= FPT_MAX_LINES && best.w <= FPT_MAX_LINES);
	out->w = best.w;
	out->x = best.x;
	return best.capacity > 0;
}

/*
 * Widths for keys relative to nodes: a node's are as wide as those of keys that
 * have as many bytes as these, for which goal G has chosen x; the root is the
 * narrowest one that has room for the most of them.  Zero if there are no such
 * pages, or no usable one.
 */
static void
fpt_choose_near(int kw, int kind, int force_w, int x, FPTWidths *out)
{
	uint32		capacity = 0;

	for (int w = 1; w <= fpt_widest(force_w); w++)
	{
		FPTGeom		g;

		if ((force_w == 0 || w == force_w) &&
			fpt_geom_init(&g, kw, FPT_KIND_NEAR + kind, w, x) &&
			g.capacity > capacity)
		{
			capacity = g.capacity;
			out->w = w;
			out->x = x;
		}
	}
}

/*
 * See page/geom.h.  Without forced widths what is chosen depends on the size of
 * pages only: it is worked out once, which takes milliseconds.  Key widths are
 * worked out as they are asked for; one that is not known yet is zero.
 */
bool
fpt_choose_widths(int keysize, int force_w, int force_x,
				  FPTWidths widths[FPT_NKW][FPT_NKINDS])
{
	static FPTWidths chosen[FPT_NKW][FPT_NKINDS];

	memset(widths, 0, sizeof(FPTWidths) * FPT_NKW * FPT_NKINDS);
	Assert(keysize <= FPT_NKW);
	for (int i = 0; i < keysize; i++)
	{
		for (int kind = 0; kind <= FPT_KIND_INNER; kind++)
		{
			FPTWidths  *wx = &chosen[i][kind];
			FPTWidths	forced;

			if (force_w != 0 || force_x != 0)
				wx = &forced;
			if ((wx == &forced || wx->w == 0) &&
				!fpt_choose_pair(i + 1, kind, force_w, force_x, wx))
				return false;
			widths[i][kind] = *wx;
		}
		for (int kind = 0; i > 0 && kind < FPT_KIND_INNER; kind++)
			fpt_choose_near(i + 1, kind, force_w, widths[i - 1][kind].x,
							&widths[i][FPT_KIND_NEAR + kind]);
	}
	return true;
}

/* All of a layout but what general keys need besides. */
static void
fpt_layout_set(FPTLayout *l, const FPTGeoms *geoms, int keysize,
			   bool nullsfirst, uint32 indexid)
{
	memset(l, 0, sizeof(FPTLayout));
	l->geoms = geoms;
	l->keysize = keysize;
	l->nullsfirst = nullsfirst;
	l->indexid = indexid;
}

/* See page/geom.h; for image keys. */
bool
fpt_layout_init(FPTLayout *l, FPTGeoms *geoms, int keysize, bool nullsfirst,
				uint32 indexid, FPTWidths widths[FPT_NKW][FPT_NKINDS])
{
	if (keysize != 4 && keysize != 8 && keysize != 16)
		return false;
	memset(geoms, 0, sizeof(FPTGeoms));

	/* geometries of wider keys stay zero: no page may use them */
	for (int i = 0; i < keysize; i++)
	{
		for (int kind = 0; kind < FPT_NKINDS; kind++)
		{
			FPTWidths	wx = widths[i][kind];
			FPTGeom    *g = &geoms->geom[i][kind];

			/* nobody needs keys relative to nodes: there may be none */
			if (!fpt_geom_init(g, i + 1, kind, wx.w, wx.x))
			{
				if (kind < FPT_KIND_NEAR || wx.w != 0 || wx.x != 0)
					return false;
				memset(g, 0, sizeof(FPTGeom));
			}
			geoms->widths[i][kind] = wx;
		}
	}
	fpt_layout_set(l, geoms, keysize, nullsfirst, indexid);
	return true;
}

/* --- general keys ------------------------------------------------------- */

/*
 * Lines of leaf nodes.  In narrower ones more entries are moved from node to
 * node, and logged; wider ones leave more space unused, as a page holds a few
 * of them.  Where heads have few bytes many are the same, and entries are moved
 * within their nodes: these are as narrow as can be.
 */
#define FPT_TUPLE_LINES		Max(2, Min(9, FPT_BODY_LINES / 14))
#define FPT_TUPLE_LINES_FEW 2
#define FPT_TUPLE_KW_FEW	2

/*
 * Lines of leaf nodes of this kind; 0: as goal G has it, in inner pages.  As
 * many lines as a slot has bytes hold FPT_MAX_CAP slots: no more are of use.
 */
static inline int
fpt_tuple_lines(int kw, int kind)
{
	FPTGeom		g;

	if (kind == FPT_KIND_INNER)
		return 0;
	if (kw <= FPT_TUPLE_KW_FEW)
		return FPT_TUPLE_LINES_FEW;
	memset(&g, 0, sizeof(g));
	(void) fpt_geom_slot(&g, kw, FPT_KIND_GENERAL + kind);
	return Min(FPT_TUPLE_LINES, g.sw + g.pw);
}

/*
 * See page/geom.h.  The nodes of a page share its space with tuples, of which
 * goal G knows nothing: the widths are those for pages of nodes only.  Pages of
 * a few wide tuples, row FPT_ENC_WIDE, cannot spare more than a line for each.
 */
bool
fpt_choose_widths_general(int force_w, int force_x,
						  FPTWidths widths[FPT_NKW][FPT_NKINDS])
{
	static FPTWidths chosen[FPT_NKW][FPT_NKINDS];
	static bool known = false;
	bool		forced = force_w != 0 || force_x != 0;
	bool		ok = true;

	memcpy(widths, chosen, sizeof(chosen));
	if (known && !forced)
		return true;
	memset(widths, 0, sizeof(FPTWidths) * FPT_NKW * FPT_NKINDS);
	for (int kind = 0; kind <= FPT_KIND_INNER; kind++)
	{
		for (int i = 0; i < FPT_ENC_WIDE; i++)
			ok = fpt_choose_pair(i + 1, FPT_KIND_GENERAL + kind, force_w,
								 force_x > 0 ? force_x :
								 fpt_tuple_lines(i + 1, kind),
								 &widths[i][kind]) && ok;
		widths[FPT_ENC_WIDE][kind].w = widths[FPT_ENC_WIDE][kind].x = 1;
		if (kind != FPT_KIND_INNER)
			ok = fpt_choose_pair(1, FPT_KIND_DICT + kind, force_w, force_x,
								 &widths[FPT_ENC_DICT][kind]) && ok;
	}
	if (ok && !forced)
	{
		memcpy(chosen, widths, sizeof(chosen));
		known = true;
	}
	return ok;
}

/*
 * See page/geom.h.  The row FPT_ENC_WIDE has heads of 8 bytes, as has the one
 * before it, but other widths.
 */
bool
fpt_layout_init_general(FPTLayout *l, FPTGeoms *geoms, bool nullsfirst,
						uint32 indexid,
						FPTWidths widths[FPT_NKW][FPT_NKINDS])
{
	bool		ok = true;

	memset(geoms, 0, sizeof(FPTGeoms));
	for (int i = 0; i <= FPT_ENC_WIDE; i++)
	{
		int			kw = Min(i + 1, (int) sizeof(uint64));

		for (int kind = 0; kind <= FPT_KIND_INNER; kind++)
		{
			FPTWidths	wx = widths[i][kind];
			FPTGeom    *g = &geoms->geom[i][kind];

			ok &= fpt_geom_init(g, kw, FPT_KIND_GENERAL + kind, wx.w, wx.x);
			g->enc = (uint8) (i | (g->enc & ~FPT_ENC_KW_MASK));
			geoms->widths[i][kind] = wx;
		}
	}

	for (int kind = 0; kind < FPT_KIND_INNER; kind++)
	{
		FPTWidths	wx = widths[FPT_ENC_DICT][kind];
		FPTGeom    *g = &geoms->geom[FPT_ENC_DICT][kind];

		ok = fpt_geom_init(g, 1, FPT_KIND_DICT + kind, wx.w, wx.x) && ok;
		g->enc = (uint8) (FPT_ENC_DICT | (g->enc & ~FPT_ENC_KW_MASK));
		geoms->widths[FPT_ENC_DICT][kind] = wx;
	}
	if (ok)
		fpt_layout_set(l, geoms, sizeof(uint64), nullsfirst, indexid);
	return ok;
}
