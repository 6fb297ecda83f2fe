/*-------------------------------------------------------------------------
 *
 * goal.c
 *	  Derives the widths of nodes that are in page/widths.c.
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
 * and ratios of its Table 2; test_geom.c verifies that.)
 *
 * Our in-page trees have two levels: only pairs for which L = 2 comes out can
 * be chosen, but all of them count for the optimum.  Goal G does select two
 * levels for every page size, key width and kind, which test_geom.c verifies.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

#define GOAL_LINES			16	/* widest node considered */
#define GOAL_NODES			8	/* not so wide that there are fewer */
#define GOAL_TOLERANCE		1.10

/* Leaf nodes are to have so many lines. */
typedef struct GoalLines
{
	int			from;
	int			to;
} GoalLines;

/*
 * Would n leaf nodes fit in the page below that many levels in all, of nodes
 * as wide and with the same fan-out as the root?  The paper's question; what we
 * store has two levels, whatever comes out.
 */
static bool
goal_levels_fit(const FPTGeom *g, int levels, int n)
{
	int			fanout = g->w * FPT_LINE / (g->kw + 1);
	int			lines = n * g->x;
	int			nodes = n;
	int			hints = 0;

	for (int i = 1; i < levels; i++)
	{
		nodes = (nodes + fanout - 1) / fanout;
		lines += nodes * g->w;
	}
	if (fpt_is_leaf(g))
		hints = (n * g->cap + 63) / 64 * 8;
	return nodes == 1 && (1 + lines) * FPT_LINE + hints <= FPT_SPECIAL_OFFSET;
}

/* The number of levels that "utilizes the most space": holds most nodes. */
static int
goal_best_levels(const FPTGeom *g)
{
	int			levels = 2;
	int			n = g->maxnodes;

	while (goal_levels_fit(g, levels + 1, n + 1))
	{
		levels++;
		while (goal_levels_fit(g, levels, n + 1))
			n++;
	}
	return levels;
}

/*
 * The paper's cost of a search, in ns: each node's first line, then the others.
 */
static double
goal_search_cost(const FPTGeom *g, int levels)
{
	return (levels - 1) * (GOAL_T1 + (g->w - 1) * GOAL_TNEXT) +
		GOAL_T1 + (g->x - 1) * GOAL_TNEXT;
}

/*
 * Capacities that are all but the same differ by one part of so many: no more
 * than wider nodes save in WAL (goal_nodes).
 */
#define GOAL_EQUAL_SHARE		50

/*
 * Is "a" the better choice of two?  Capacity decides, then the cost.  Of equals
 * the later one, whose leaf nodes are narrower (less to move and to log).
 */
static bool
goal_better_geom(const FPTGeom *a, const FPTGeom *b)
{
	if (a->capacity != b->capacity)
		return a->capacity > b->capacity;
	return a->w + a->x <= b->w + b->x;
}

/* A pair of widths under consideration. */
typedef struct GoalCandidate
{
	FPTGeom		geom;
	int			levels;			/* those that use most of the page's space */
	double		cost;			/* of a search through these, in ns */
} GoalCandidate;

/* Derive the candidate; false if it makes no usable page. */
static bool
goal_candidate(GoalCandidate *c, int kw, int kind, int w, int x)
{
	if (!fpt_geom_init(&c->geom, kw, kind, w, x))
		return false;
	c->levels = goal_best_levels(&c->geom);
	c->cost = goal_search_cost(&c->geom, c->levels);
	return true;
}

/*
 * Of the pairs with all but the same capacity as the best one, take that with
 * the narrowest leaf nodes, if they have permutations, of which an insertion
 * logs half.  If not, that with most slots in a node: wide nodes are filled
 * more evenly, so that pages get fuller, and entries are moved, and logged,
 * less often (docs/benchmarks.md, "Nodes and pages").  Searches do not get
 * slower, so their cost may exceed limit (0: any) by a fifth.  *best is the
 * best one before, and what was taken after.
 */
static void
goal_nodes(int kw, int kind, GoalLines lines, double limit, FPTGeom *best)
{
	uint32		least = best->capacity - best->capacity / GOAL_EQUAL_SHARE;
	bool		narrow = best->perm;
	GoalCandidate c;

	for (int w = 1; w <= GOAL_LINES; w++)
	{
		for (int x = lines.from; x <= lines.to; x++)
		{
			if (!goal_candidate(&c, kw, kind, w, x) ||
				c.geom.capacity < least ||
				(limit != 0 &&
				 (c.levels > 2 || c.cost > limit * (narrow ? 1 : 1.2))))
				continue;
			if (narrow ? c.geom.x < best->x :
				c.geom.cap > best->cap && c.geom.maxnodes >= GOAL_NODES)
				*best = c.geom;
		}
	}
}

/*
 * Goal G for one key width and kind, and leaf nodes of so many lines.  If there
 * is no two-level tree that qualifies, the usable pair of the largest capacity
 * it is.  First all pairs are asked for the least cost, of any number of
 * levels, then those within 10% of it for the largest capacity.
 */
static FPTWidths
goal_pair(int kw, int kind, GoalLines lines)
{
	GoalCandidate c;
	FPTGeom		best;
	bool		best_ok = false;	/* best qualifies */
	double		limit = 0;

	for (int w = 1; w <= GOAL_LINES; w++)
	{
		for (int x = lines.from; x <= lines.to; x++)
		{
			if (goal_candidate(&c, kw, kind, w, x) &&
				(limit == 0 || c.cost * GOAL_TOLERANCE < limit))
				limit = c.cost * GOAL_TOLERANCE;
		}
	}

	memset(&best, 0, sizeof(best));
	for (int w = 1; w <= GOAL_LINES; w++)
	{
		for (int x = lines.from; x <= lines.to; x++)
		{
			bool		ok;

			if (!goal_candidate(&c, kw, kind, w, x))
				continue;
			ok = c.levels == 2 && c.cost <= limit;
			if (ok > best_ok ||
				(ok == best_ok && goal_better_geom(&c.geom, &best)))
			{
				best = c.geom;
				best_ok = ok;
			}
		}
	}
	if (best.capacity > 0)
		goal_nodes(kw, kind, lines, best_ok ? limit : 0, &best);
	return (FPTWidths) {.w = best.w, .x = best.x};
}

/*
 * Where slots own tuples: lines of leaf nodes.  In narrower ones more entries
 * are moved from node to node, and logged; wider ones leave more space unused,
 * as a page holds a few of them.  Where heads have few bytes many are the same,
 * and entries are moved within their nodes: these are as narrow as can be.
 */
#define GOAL_TUPLE_LINES		Max(2, Min(9, FPT_BODY_LINES / 14))
#define GOAL_TUPLE_LINES_FEW	2
#define GOAL_TUPLE_KW_FEW		2

/*
 * The same of this kind.  As many lines as a slot has bytes hold FPT_MAX_CAP
 * slots: no more are of use.  The nodes of a page share its space with tuples,
 * of which goal G knows nothing: it is asked as for pages of nodes only.
 */
static GoalLines
goal_tuple_lines(int kw, int kind)
{
	FPTGeom		g;
	int			n = GOAL_TUPLE_LINES_FEW;

	if (kind == FPT_KIND_INNER)
		return (GoalLines) {1, GOAL_LINES};
	if (kind == FPT_KIND_LEAF1)
		return (GoalLines) {1, 0};	/* there are none */
	if (kw > GOAL_TUPLE_KW_FEW)
	{
		(void) fpt_geom_init(&g, kw, FPT_KIND_GENERAL + kind, 1, 2);
		n = Min(GOAL_TUPLE_LINES, fpt_slot_bytes(&g));
	}
	return (GoalLines) {n, n};
}

/*
 * Compare a table of page/widths.c, "rows" key widths, with what is derived; if
 * they differ, print what it should be.
 */
static void
goal_compare(const char *name, const FPTWidths (*table)[FPT_KIND_INNER + 1],
			 int rows, bool tuples)
{
	FPTWidths	goal[FPT_NKW][FPT_KIND_INNER + 1];
	bool		same = true;

	for (int i = 0; i < rows; i++)
	{
		for (int kind = 0; kind <= FPT_KIND_INNER; kind++)
		{
			FPTWidths  *g = &goal[i][kind];

			*g = goal_pair(i + 1, (tuples ? FPT_KIND_GENERAL : 0) + kind,
						   tuples ? goal_tuple_lines(i + 1, kind) :
						   (GoalLines) {1, GOAL_LINES});
			same &= g->w == table[i][kind].w && g->x == table[i][kind].x;
		}
	}
	CHECK(same);
	if (same)
		return;
	printf("%s, BLCKSZ %d, should be\n", name, BLCKSZ);
	for (int i = 0; i < rows; i++)
		for (int kind = 0; kind <= FPT_KIND_INNER; kind++)
			printf("%s{%d, %d}%s", kind == 0 ? "\t{" : ", ", goal[i][kind].w,
				   goal[i][kind].x, kind == FPT_KIND_INNER ? "},\n" : "");
}

void
test_goal_table(void)
{
	goal_compare("fpt_goal_images", fpt_goal_images, FPT_NKW, false);
	goal_compare("fpt_goal_tuples", fpt_goal_tuples, FPT_ENC_WIDE, true);
}
