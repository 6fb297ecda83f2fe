/*-------------------------------------------------------------------------
 *
 * test_geom.c
 *	  Geometry of pages and goal G.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

static FPTGeoms geoms;
static const char *const kindnames[FPT_NKINDS] = {"leaf1", "leaf3", "leaf4",
"leaf6", "inner", "near1", "near3", "near4", "near6"};

/*
 * How many far TIDs a node of so many slots has room for, behind what the other
 * ones are relative to.
 */
static int
far_room(const FPTGeom *g, int cap)
{
	return (g->x * FPT_LINE - cap * fpt_slot_bytes(g)) / 4 - 1;
}

/* The same, at least: one of ten slots has a far one, or two of fewer. */
static int
far_least(int cap)
{
	return Max(2, cap / 10);
}

/*
 * TIDs relative to nodes: slots are followed by four bytes that all have, and by
 * far TIDs, which have as many as there is room for; another slot would leave
 * too little.
 */
static void
check_far(const FPTGeom *g, bool has, int nodeend)
{
	CHECK(fpt_has_far(g) == has && (g->nfar > 0) == has);
	CHECK(g->far_off == nodeend);
	if (!has)
		return;
	CHECK(g->nfar >= far_least(g->cap) && g->nfar <= FPT_MAX_FAR);
	CHECK(g->nfar == Min(far_room(g, g->cap), FPT_MAX_FAR));
	CHECK(g->far_off + 4 * (1 + g->nfar) <= g->x * FPT_LINE);
	CHECK(g->cap == FPT_MAX_CAP ||
		  far_room(g, g->cap + 1) < far_least(g->cap + 1));
	CHECK((int) fpt_near_rows(g) + (g->nfar << g->farbits) == 255);
	CHECK(g->farbits == 3 || g->nfar << (g->farbits + 1) > FPT_FAR_ROWS);
	CHECK(g->farbits <= 3 && g->nfar << g->farbits <= FPT_FAR_ROWS);
	CHECK(fpt_near_rows(g) >= FPT_MIN_ROWS);
	CHECK(fpt_far_off(g, g->nfar - 1) + 4 <= g->x * FPT_LINE);
}

/* Nothing overlaps, everything is inside the page. */
static void
check_geom(const FPTGeom *g, int kw, int kind, int w, int x)
{
	static const int tidwidth[FPT_NKINDS] = {1, 3, 4, 6, 6, 1, 3, 4, 6};
	bool		dict = kind >= FPT_KIND_DICT;
	bool		general = !dict && kind >= FPT_KIND_GENERAL;
	int			basic = kind % FPT_KIND_GENERAL;
	bool		inner = basic == FPT_KIND_INNER;
	bool		near = basic >= FPT_KIND_NEAR;
	bool		perm = inner;
	int			low = kw > 8 ? 8 : 0;
	int			entry = kw - (near ? 1 : 0) + tidwidth[basic] +
		(inner ? 4 : 0) + (perm ? 1 : 0) + (general ? 2 : 0);
	int			nodeend = (perm ? 8 : 0) + g->cap * entry;
	int			nodesend = g->node_off + g->maxnodes * x * FPT_LINE;

	CHECK(g->kw == kw && g->w == w && g->x == x);
	CHECK(g->tw == tidwidth[basic]);
	CHECK(g->dw == (inner ? 4 : 0));
	CHECK(g->ow == (general ? 2 : 0));
	CHECK(g->perm == perm);
	CHECK(g->rw == kw - low && g->sw == g->rw - (near ? 1 : 0));
	CHECK(!near || (!general && !dict));
	CHECK(fpt_is_near(g) == near);
	if (near)
		CHECK(4 * fpt_near_unit(g) == UINT64CONST(1) << (8 * g->sw));
	CHECK(g->pw == low + g->tw + g->dw + g->ow);
	CHECK(fpt_slot_bytes(g) == entry);
	CHECK((g->enc & FPT_ENC_KW_MASK) == kw - 1);
	CHECK(g->enc >> FPT_ENC_TID_SHIFT ==
		  (inner ? 0 : near ? 4 + FPT_KIND_LEAF6 - (basic - FPT_KIND_NEAR) :
		   FPT_KIND_LEAF6 - basic));
	CHECK(fpt_has_dict(g) == dict && fpt_has_offsets(g) == general);
	CHECK(g->iw == (dict ? FPT_DICT_ITEM : 0));
	CHECK(fpt_shares_space(g) == (general || dict));
	CHECK(fpt_has_ties(g) == general && fpt_may_prefix(g) == general);
	CHECK(fpt_slots_tell(g) == (general && !perm));
	CHECK(inner || fpt_geom_kind(g) == basic);
	CHECK(fpt_is_leaf(g) == !inner && fpt_is_wide(g) == (low > 0));
	CHECK(g->cap >= 2 && g->cap <= FPT_MAX_CAP);
	CHECK(g->key_off == (perm ? 8 : 0));
	if (perm)
		CHECK(g->perm_off == g->key_off + g->cap * g->sw);
	CHECK(g->low_off == g->key_off +
		  g->cap * (g->sw + (perm ? 1 : 0)));
	CHECK(g->tid_off == g->low_off + low);
	CHECK(g->down_off == g->tid_off + g->tw);
	CHECK(g->off_off == g->down_off + g->dw);
	CHECK(nodeend == g->low_off + g->cap * g->pw);
	CHECK(nodeend <= x * FPT_LINE);
	check_far(g, tidwidth[basic] == 1, nodeend);
	CHECK(g->cap == FPT_MAX_CAP || fpt_has_far(g) ||
		  nodeend + entry > x * FPT_LINE);
	CHECK(!fpt_has_far(g) || (!general && !dict && !inner));
	CHECK(fpt_popcount(g->capmask) == g->cap && (g->capmask & 1) == 1);
	CHECK(g->kids_off == FPT_LINE + g->maxnodes * kw);
	CHECK(g->kids_off + g->maxnodes <= g->node_off);
	CHECK(g->node_off == (1 + w) * FPT_LINE);
	CHECK(g->maxnodes >= 2);
	CHECK(g->capacity == (uint32) g->maxnodes * g->cap);
	CHECK(g->capacity >= 8 && g->capacity <= FPT_MAX_ENTRIES);
	CHECK(nodesend <= g->hint_off && g->hint_off <= FPT_SPECIAL_OFFSET);
	CHECK(g->hint_off % 8 == 0);
	if (g->dw == 0)
		CHECK((FPT_SPECIAL_OFFSET - g->hint_off) * 8 >= (int) g->capacity);
	else
		CHECK(g->hint_off == FPT_SPECIAL_OFFSET);
}

/*
 * Keys relative to nodes have a byte less of what is searched.  Slots that own
 * tuples, or have numbers, have neither those nor TIDs relative to nodes.
 */
static bool
has_kind(int kw, int kind)
{
	if (kind >= FPT_KIND_GENERAL)
		return kind % FPT_KIND_GENERAL < FPT_KIND_NEAR &&
			kind % FPT_KIND_GENERAL != FPT_KIND_LEAF1;
	return kind < FPT_KIND_NEAR || (kw != 1 && kw != 9);
}

static void
test_all_widths(void)
{
	int			usable = 0;

	for (int kw = 1; kw <= FPT_NKW; kw++)
	{
		for (int kind = 0; kind < FPT_KIND_DICT + FPT_KIND_INNER; kind++)
		{
			if (kw > (kind >= FPT_KIND_DICT ? 1 :
					  kind >= FPT_KIND_GENERAL ? 8 : FPT_NKW))
				continue;
			for (int w = 1; w <= 32; w++)
			{
				for (int x = 1; x <= 32; x++)
				{
					FPTGeom		g;

					if (fpt_geom_init(&g, kw, kind, w, x))
					{
						CHECK(has_kind(kw, kind));
						check_geom(&g, kw, kind, w, x);
						usable++;
					}
				}
			}
		}
	}
	CHECK(usable > 100);
}

static void
test_impossible_widths(void)
{
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];
	FPTLayout	l;
	FPTGeom		g;

	CHECK(!fpt_geom_init(&g, 0, 0, 1, 3));
	CHECK(!fpt_geom_init(&g, 17, 0, 1, 3));
	CHECK(!fpt_geom_init(&g, 4, -1, 1, 3));
	CHECK(!fpt_geom_init(&g, 4, FPT_KIND_DICT, 1, 3));
	CHECK(!fpt_geom_init(&g, 1, FPT_KIND_DICT + FPT_KIND_INNER, 1, 3));
	CHECK(!fpt_geom_init(&g, 2, FPT_KIND_DICT, 1, 3));
	CHECK(!fpt_geom_init(&g, 9, FPT_KIND_GENERAL, 1, 3));
	CHECK(!fpt_geom_init(&g, 4, 0, 0, 3));
	CHECK(!fpt_geom_init(&g, 4, 0, 1, 0));
	CHECK(!fpt_geom_init(&g, 4, 0, 33, 3));
	CHECK(!fpt_geom_init(&g, 1, FPT_KIND_NEAR, 1, 3));
	CHECK(fpt_geom_init(&g, 2, FPT_KIND_NEAR, 1, 3));
	CHECK(!fpt_geom_init(&g, 9, FPT_KIND_NEAR, 2, 8));
	CHECK(!fpt_geom_init(&g, 4, FPT_KIND_GENERAL + FPT_KIND_NEAR, 1, 3));
	CHECK(fpt_geom_init(&g, 4, FPT_KIND_GENERAL + FPT_KIND_LEAF3, 1, 3));
	CHECK(!fpt_geom_init(&g, 4, FPT_KIND_GENERAL + FPT_KIND_LEAF1, 1, 3));
	CHECK(fpt_geom_init(&g, 1, FPT_KIND_DICT + FPT_KIND_LEAF3, 1, 3));
	CHECK(!fpt_geom_init(&g, 1, FPT_KIND_DICT + FPT_KIND_LEAF1, 1, 3));
	CHECK(!fpt_geom_init(&g, 4, 0, 1, 33));
	CHECK(fpt_geom_init(&g, 4, 0, 1, 3));
	CHECK(fpt_choose_widths_general(0, 0, widths));
	CHECK(fpt_layout_init_general(&l, &geoms, false, 1, widths));
	for (int i = 0; i <= FPT_ENC_DICT; i++)
	{
		CHECK(widths[i][FPT_KIND_LEAF1].w == 0);
		CHECK(widths[i][FPT_KIND_LEAF1].x == 0);
		CHECK(geoms.geom[i][FPT_KIND_LEAF1].cap == 0);
		CHECK(geoms.geom[i][FPT_KIND_LEAF3].cap > 0);
	}
	widths[1][FPT_KIND_LEAF3].x = 0;
	CHECK(!fpt_layout_init_general(&l, &geoms, false, 1, widths));
#if BLCKSZ <= 1024
	CHECK(!fpt_geom_init(&g, 4, 0, 1, 8));	/* one node only */
	CHECK(!fpt_geom_init(&g, 4, 0, 20, 1)); /* no node at all */
	CHECK(!fpt_geom_init(&g, 16, FPT_KIND_INNER, 1, 1));	/* 3 * 2 entries */
#endif
}

static void
test_layout(void)
{
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];
	FPTLayout	l;

	for (int keysize = 4; keysize <= 16; keysize *= 2)
	{
		CHECK(fpt_choose_widths(keysize, 0, 0, widths));
		CHECK(fpt_layout_init(&l, &geoms, keysize, true, 42, widths));
		CHECK(l.keysize == keysize && l.nullsfirst && l.indexid == 42);
		for (int i = 0; i < FPT_NKW; i++)
		{
			bool		used = i < keysize;

			for (int kind = 0; kind < FPT_NKINDS; kind++)
			{
				bool		has = used && has_kind(i + 1, kind);

				CHECK((l.geoms->geom[i][kind].cap > 0) == has);
				CHECK((l.geoms->widths[i][kind].w > 0) == has);
			}
		}
		CHECK(fpt_layout_init(&l, &geoms, keysize, false, 43, widths));
		CHECK(!l.nullsfirst && l.indexid == 43 && l.geoms == &geoms);
	}
	CHECK(!fpt_layout_init(&l, &geoms, 0, false, 1, widths));
	CHECK(!fpt_layout_init(&l, &geoms, 2, false, 1, widths));
	CHECK(!fpt_layout_init(&l, &geoms, 12, false, 1, widths));
	CHECK(!fpt_layout_init(&l, &geoms, 32, false, 1, widths));
	CHECK(l.keysize == 16);		/* untouched */
	widths[2][2].x = 0;
	CHECK(!fpt_layout_init(&l, &geoms, 4, false, 1, widths));
	widths[2][2].x = 200;
	CHECK(!fpt_layout_init(&l, &geoms, 4, false, 1, widths));

	/* there need not be keys relative to nodes, but what there is makes sense */
	CHECK(fpt_choose_widths(4, 0, 0, widths));
	widths[2][FPT_KIND_NEAR].x = 200;
	CHECK(!fpt_layout_init(&l, &geoms, 4, false, 1, widths));
	widths[2][FPT_KIND_NEAR].w = widths[2][FPT_KIND_NEAR].x = 0;
	CHECK(fpt_layout_init(&l, &geoms, 4, false, 1, widths));
	CHECK(l.geoms->geom[2][FPT_KIND_NEAR].cap == 0 && l.geoms->geom[1][FPT_KIND_NEAR].cap > 0);
}

static void
test_forced_widths(void)
{
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];

	CHECK(fpt_choose_widths(4, 1, 2, widths));
	for (int kind = 0; kind < FPT_NKINDS; kind++)
		CHECK(widths[3][kind].w == 1 && widths[3][kind].x == 2);
	CHECK(widths[4][0].w == 0);
	CHECK(fpt_choose_widths(8, 3, 0, widths));
	CHECK(widths[7][0].w == 3 && widths[7][0].x > 0);
	CHECK(fpt_choose_widths(8, 0, 4, widths));
	CHECK(widths[7][0].w > 0 && widths[7][0].x == 4);

	/* far from what goal G wants, but usable */
	CHECK(fpt_choose_widths(4, 1, 1, widths));
	CHECK(!fpt_choose_widths(4, 33, 0, widths));
	CHECK(!fpt_choose_widths(4, 0, -1, widths));
#if BLCKSZ <= 1024
	CHECK(!fpt_choose_widths(4, 8, 8, widths));
#endif
}

/* --- goal G ------------------------------------------------------------- */

/* Leaf nodes that an in-page tree of this many levels holds, one at a time. */
static int
count_leaf_nodes(const FPTGeom *g, int levels)
{
	int			fanout = g->w * FPT_LINE / (g->kw + 1);
	int			n = 0;

	for (;;)
	{
		int			nodes = n + 1;
		int			lines = nodes * g->x;
		int			hints = 0;

		for (int i = 1; i < levels; i++)
		{
			nodes = (nodes + fanout - 1) / fanout;
			lines += nodes * g->w;
		}
		if (g->dw == 0)
			hints = ((n + 1) * g->cap + 63) / 64 * 8;
		if (nodes > 1 || (1 + lines) * FPT_LINE + hints > FPT_SPECIAL_OFFSET)
			return n;
		n++;
	}
}

/* Cost and capacity of (w, x) with the best number of levels. */
static double
paper_cost(const FPTGeom *g, int *levels, int *capacity)
{
	int			most = 0;

	*levels = 0;
	for (int i = 1; i <= 6; i++)
	{
		int			n = count_leaf_nodes(g, i);

		if (n > most)
		{
			most = n;
			*levels = i;
		}
	}
	*capacity = most * g->cap;
	return (*levels - 1) * (GOAL_T1 + (g->w - 1) * GOAL_TNEXT) +
		GOAL_T1 + (g->x - 1) * GOAL_TNEXT;
}

/*
 * Goal G with L enumerated as the paper does.  Pages of one node (L = 1) are
 * such that the node fills the page: all other ones waste most of it.
 */
static void
check_goal(int kw, int kind, FPTWidths chosen)
{
	double		best = GOAL_T1 + (FPT_BODY_LINES - 1) * GOAL_TNEXT;
	int			most = 0;
	int			mostlevels = 0;
	FPTGeom		g;
	double		cost;
	double		limit;
	bool		narrow;
	int			cap;
	int			levels;
	int			capacity;

	for (int pass = 1; pass <= 2; pass++)
	{
		for (int w = 1; w <= 32; w++)
		{
			for (int x = 1; x <= 32; x++)
			{
				if (!fpt_geom_init(&g, kw, kind, w, x))
					continue;
				cost = paper_cost(&g, &levels, &capacity);
				if (pass == 1)
					best = Min(best, cost);
				else if (w <= 16 && x <= 16 && cost <= 1.1 * best &&
						 capacity > most)
				{
					most = capacity;
					mostlevels = levels;
				}
			}
		}
	}
	CHECK(fpt_geom_init(&g, kw, kind, chosen.w, chosen.x));
	cost = paper_cost(&g, &levels, &capacity);
	printf("%5d %2d %s: w %2d x %2d cap %2d nodes %3d capacity %4d, "
		   "%5.2f bytes at 90%%, cost %.0f (%.2f of optimal)\n",
		   BLCKSZ, kw, kindnames[kind], g.w, g.x, g.cap, g.maxnodes,
		   (int) g.capacity, BLCKSZ / (0.9 * g.capacity), cost, cost / best);
	CHECK(mostlevels == 2);
	CHECK(levels == 2);
	narrow = g.perm;
	limit = best * 1.1 * (narrow ? 1 : 1.2);
	cap = g.cap;
	CHECK(cost <= limit);

	/*
	 * Within 2% of the largest capacity; of these no leaf nodes are narrower,
	 * or, if they have no permutations, none have more slots.
	 */
	CHECK((int) g.capacity >= most - most / 50 &&
		  capacity == (int) g.capacity);
	for (int w = 1; w <= 16; w++)
	{
		for (int x = 1; x <= 16; x++)
		{
			if (!fpt_geom_init(&g, kw, kind, w, x))
				continue;
			cost = paper_cost(&g, &levels, &capacity);
			CHECK(levels != 2 || cost > limit ||
				  capacity < most - most / 50 ||
				  (narrow ? x >= chosen.x : g.cap <= cap || g.maxnodes < 8));
		}
	}
}

/*
 * Keys relative to nodes: leaf nodes as those of keys of a byte less, but for
 * those with many slots of a byte, a root that is not wider than it takes to
 * have as many of them as any has.
 */
static void
check_near(int kw, int kind, FPTWidths widths[FPT_NKW][FPT_NKINDS])
{
	FPTWidths	wx = widths[kw - 1][kind];
	FPTGeom		chosen;
	FPTGeom		g;
	int			plain;

	if (!has_kind(kw, kind))
	{
		CHECK(wx.w == 0 && wx.x == 0);
		return;
	}
	plain = widths[kw - 2][kind - FPT_KIND_NEAR].x;
	CHECK(fpt_geom_init(&chosen, kw, kind, wx.w, wx.x));
	CHECK(wx.x == plain || (kw == 2 && wx.x < plain));
	if (kw == 2 && (wx.x < plain || chosen.cap > 52))
	{
		/* a line more is too many slots, one less too few in the page */
		uint32		capacity[3] = {0};

		for (int w = 1; w <= 16; w++)
		{
			const int	x[3] = {plain, wx.x + 1, wx.x - 1};

			for (int i = 0; i < 3; i++)
			{
				if (fpt_geom_init(&g, kw, kind, w, x[i]))
				{
					CHECK(i != 1 || g.cap > 52);
					capacity[i] = Max(capacity[i], g.capacity);
				}
			}
		}
		capacity[0] -= capacity[0] / 100;
		CHECK(chosen.capacity >= capacity[0]);
		CHECK(chosen.cap <= 52 || capacity[2] < capacity[0]);
	}
	for (int w = 1; w <= 16; w++)
	{
		if (fpt_geom_init(&g, kw, kind, w, wx.x))
			CHECK(w < wx.w ? g.capacity < chosen.capacity :
				  g.capacity <= chosen.capacity);
	}
	printf("%5d %2d %s: w %2d x %2d cap %2d nodes %3d capacity %4d, %.2f bytes "
		   "at 90%%\n", BLCKSZ, kw, kindnames[kind], wx.w, wx.x, chosen.cap,
		   chosen.maxnodes, (int) chosen.capacity,
		   BLCKSZ / (0.9 * chosen.capacity));
}

static void
test_goal(void)
{
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];

	CHECK(fpt_choose_widths(16, 0, 0, widths));
	for (int i = 0; i < FPT_NKW; i++)
	{
		for (int kind = 0; kind <= FPT_KIND_INNER; kind++)
			check_goal(i + 1, kind, widths[i][kind]);
		for (int kind = FPT_KIND_NEAR; kind < FPT_NKINDS; kind++)
			check_near(i + 1, kind, widths);
	}
}

/*
 * The paper's own Table 2: 4-byte keys and TIDs, 2-byte offsets, 4 and 8 bytes
 * of node headers, a page header of a line; T1 = 150, Tnext = 10.
 */
static int
paper_leaf_nodes(int body, int w, int x, int levels)
{
	int			fanout = (64 * w - 4) / 6;
	int			n = 0;

	for (;;)
	{
		int			nodes = n + 1;
		int			lines = nodes * x;

		for (int i = 1; i < levels; i++)
		{
			nodes = (nodes + fanout - 1) / fanout;
			lines += nodes * w;
		}
		if (nodes > 1 || lines > body)
			return n;
		n++;
	}
}

static void
check_paper(int page, int optimum, int expect_cost, int expect_w, int expect_x)
{
	int			body = page / 64 - 1;
	int			best = 1000000;
	int			most = 0;
	int			cost[33][33];
	int			fanout[33][33];
	int			levels[33][33];
	int			bw = 0;
	int			bx = 0;

	for (int w = 1; w <= 32; w++)
	{
		for (int x = 1; x <= 32; x++)
		{
			int			nodes = 0;

			cost[w][x] = 1000000;
			fanout[w][x] = levels[w][x] = 0;
			for (int i = 2; i <= 6; i++)
			{
				int			n = paper_leaf_nodes(body, w, x, i);

				if (n <= nodes)
					continue;
				nodes = n;
				levels[w][x] = i;
				fanout[w][x] = n * ((64 * x - 8) / 8);
				cost[w][x] = (i - 1) * (150 + 10 * (w - 1)) +
					150 + 10 * (x - 1);
			}
			best = Min(best, cost[w][x]);
		}
	}
	for (int w = 1; w <= 32; w++)
	{
		for (int x = 1; x <= 32; x++)
		{
			if (cost[w][x] * 10 <= best * 11 && fanout[w][x] > most)
			{
				most = fanout[w][x];
				bw = w;
				bx = x;
			}
		}
	}
	CHECK(best == optimum);
	CHECK(bw == expect_w && bx == expect_x && cost[bw][bx] == expect_cost);
	CHECK(levels[bw][bx] == 2);
}

static void
test_paper(void)
{
	check_paper(4096, 330, 350, 1, 6);	/* 1.06 */
	check_paper(8192, 350, 350, 3, 4);	/* 1.00 */

	/* the paper has x = 8 (cost 390, 1.03), with a fan-out of 35 less */
	check_paper(16384, 380, 400, 3, 9);
	check_paper(32768, 420, 450, 4, 13);	/* 1.07 */
}

/*
 * Half of a full leaf's entries, NULLs among them, fit in a page of the same
 * TIDs whose keys are not relative to nodes: splits end there.
 */
static void
test_halves(void)
{
	FPTLayout	l;

	for (int keysize = 4; keysize <= 16; keysize *= 2)
	{
		kt_layout(&l, keysize, false, false);
		for (int i = 0; i < keysize; i++)
		{
			for (int kind = FPT_KIND_NEAR; kind < FPT_NKINDS; kind++)
			{
				const FPTGeom *g = &l.geoms->geom[i][kind];
				const FPTGeom *plain = g - FPT_KIND_NEAR;
				int			half = ((int) g->capacity + 1) / 2;

				CHECK(g->cap == 0 ||
					  half + plain->cap <= (int) plain->capacity);
			}
		}
	}
}

/* What the design promises for the usual page size. */
static void
test_capacities(void)
{
#if BLCKSZ == 8192
	FPTLayout	l;

	kt_layout(&l, 16, false, false);
	CHECK(l.geoms->geom[0][FPT_KIND_LEAF4].capacity >= 1200);
	CHECK(l.geoms->geom[1][FPT_KIND_LEAF4].capacity >= 1000);
	CHECK(l.geoms->geom[2][FPT_KIND_LEAF4].capacity >= 800);
	CHECK(l.geoms->geom[3][FPT_KIND_LEAF4].capacity >= 560);
	CHECK(l.geoms->geom[3][FPT_KIND_LEAF6].capacity >= 490);
	CHECK(l.geoms->geom[1][FPT_KIND_NEAR + FPT_KIND_LEAF3].capacity >= 1900);
#endif
}

void
test_geom(void)
{
	kt_run("all widths", test_all_widths);
	kt_run("impossible widths", test_impossible_widths);
	kt_run("layout", test_layout);
	kt_run("forced widths", test_forced_widths);
	kt_run("goal G", test_goal);
	kt_run("goal G, table", test_goal_table);
	kt_run("the paper's Table 2", test_paper);
	kt_run("halves", test_halves);
	kt_run("capacities", test_capacities);
}
