/*-------------------------------------------------------------------------
 *
 * page/widths.c
 *	  Widths of nodes, in lines: which ones to use.
 *
 * They are those that goal G of the fpB+-tree paper (section 3.1.1) selects,
 * with our additions, which the tables have: root and leaf nodes, by key width
 * (rows) and kind of page: leaf pages with TIDs that are relative to nodes, and
 * of 3, 4 and 6 bytes, inner pages.  Slots that own tuples, and pages with a
 * dictionary, have none of the first kind.  test/kernel/goal.c derives these
 * numbers, and compares them; see "Node widths" in README.md.  Others can
 * be asked for, which tests do.
 *
 *-------------------------------------------------------------------------
 */
#include "page/geom.h"
#include "page/widths.h"

#define FPT_ROOT_LINES		16	/* widest root that is looked for */

#if BLCKSZ == 1024
const FPTWidths fpt_goal_images[FPT_NKW][FPT_KIND_INNER + 1] = {
	{{1, 1}, {1, 1}, {1, 3}, {1, 1}, {1, 2}},
	{{1, 3}, {1, 3}, {1, 3}, {1, 1}, {1, 3}},
	{{1, 2}, {1, 3}, {1, 1}, {1, 1}, {1, 1}},
	{{1, 3}, {1, 1}, {1, 1}, {1, 3}, {1, 2}},
	{{1, 3}, {1, 2}, {1, 2}, {1, 3}, {1, 4}},
	{{1, 4}, {1, 2}, {1, 3}, {1, 3}, {1, 2}},
	{{1, 4}, {1, 3}, {1, 4}, {1, 4}, {1, 3}},
	{{1, 4}, {1, 4}, {1, 3}, {1, 2}, {1, 4}},
	{{1, 3}, {1, 3}, {1, 4}, {1, 4}, {1, 2}},
	{{1, 4}, {1, 4}, {1, 4}, {1, 3}, {1, 4}},
	{{1, 3}, {1, 4}, {1, 4}, {1, 4}, {1, 4}},
	{{1, 4}, {1, 4}, {1, 3}, {1, 4}, {1, 3}},
	{{1, 4}, {1, 3}, {1, 4}, {1, 3}, {2, 2}},
	{{1, 3}, {1, 4}, {1, 4}, {1, 3}, {1, 3}},
	{{1, 4}, {1, 4}, {1, 3}, {1, 3}, {1, 3}},
	{{1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}},
};

const FPTWidths fpt_goal_tuples[FPT_ENC_WIDE][FPT_KIND_INNER + 1] = {
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 1}},
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 2}},
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 3}},
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 2}},
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 3}},
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 4}},
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 2}},
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 4}},
};

#elif BLCKSZ == 2048
const FPTWidths fpt_goal_images[FPT_NKW][FPT_KIND_INNER + 1] = {
	{{1, 1}, {1, 2}, {1, 2}, {1, 2}, {1, 2}},
	{{1, 3}, {1, 4}, {1, 2}, {1, 2}, {1, 4}},
	{{1, 2}, {1, 2}, {1, 2}, {1, 2}, {1, 3}},
	{{1, 4}, {1, 4}, {1, 4}, {1, 4}, {2, 2}},
	{{1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}},
	{{1, 4}, {1, 4}, {1, 4}, {1, 4}, {2, 2}},
	{{1, 4}, {1, 4}, {1, 4}, {1, 4}, {2, 3}},
	{{1, 4}, {1, 4}, {1, 4}, {1, 4}, {1, 4}},
	{{2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 4}},
	{{2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 4}},
	{{2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 4}},
	{{2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 3}},
	{{2, 5}, {2, 3}, {2, 3}, {2, 3}, {2, 4}},
	{{2, 5}, {2, 4}, {2, 5}, {2, 5}, {3, 3}},
	{{2, 5}, {2, 5}, {2, 3}, {2, 5}, {3, 3}},
	{{2, 5}, {3, 3}, {2, 5}, {2, 5}, {2, 4}},
};

const FPTWidths fpt_goal_tuples[FPT_ENC_WIDE][FPT_KIND_INNER + 1] = {
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 1}},
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 2}},
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 4}},
	{{0, 0}, {2, 2}, {2, 2}, {2, 2}, {2, 2}},
	{{0, 0}, {2, 2}, {2, 2}, {2, 2}, {1, 3}},
	{{0, 0}, {2, 2}, {2, 2}, {2, 2}, {1, 4}},
	{{0, 0}, {2, 2}, {2, 2}, {2, 2}, {2, 2}},
	{{0, 0}, {2, 2}, {2, 2}, {2, 2}, {1, 4}},
};

#elif BLCKSZ == 4096
const FPTWidths fpt_goal_images[FPT_NKW][FPT_KIND_INNER + 1] = {
	{{1, 2}, {1, 3}, {1, 4}, {1, 7}, {1, 2}},
	{{1, 3}, {1, 4}, {1, 3}, {1, 6}, {1, 4}},
	{{2, 2}, {2, 3}, {1, 7}, {1, 6}, {2, 3}},
	{{2, 4}, {1, 7}, {1, 6}, {1, 6}, {1, 6}},
	{{2, 4}, {1, 6}, {1, 6}, {1, 6}, {2, 5}},
	{{1, 7}, {1, 7}, {3, 3}, {3, 3}, {2, 5}},
	{{1, 7}, {3, 3}, {1, 7}, {1, 7}, {2, 5}},
	{{2, 7}, {2, 7}, {3, 3}, {2, 7}, {2, 5}},
	{{2, 7}, {3, 3}, {2, 7}, {3, 4}, {2, 5}},
	{{2, 7}, {2, 7}, {2, 7}, {2, 7}, {2, 6}},
	{{2, 7}, {2, 7}, {3, 4}, {2, 7}, {2, 6}},
	{{2, 8}, {3, 4}, {2, 7}, {3, 4}, {4, 3}},
	{{2, 8}, {2, 7}, {2, 7}, {2, 7}, {2, 8}},
	{{2, 7}, {2, 7}, {4, 4}, {2, 7}, {2, 8}},
	{{2, 8}, {4, 4}, {2, 7}, {2, 7}, {5, 3}},
	{{2, 8}, {3, 7}, {3, 7}, {2, 8}, {4, 4}},
};

const FPTWidths fpt_goal_tuples[FPT_ENC_WIDE][FPT_KIND_INNER + 1] = {
	{{0, 0}, {1, 2}, {1, 2}, {1, 2}, {1, 3}},
	{{0, 0}, {2, 2}, {2, 2}, {2, 2}, {2, 2}},
	{{0, 0}, {1, 4}, {1, 4}, {1, 4}, {1, 4}},
	{{0, 0}, {2, 4}, {2, 4}, {2, 4}, {1, 5}},
	{{0, 0}, {2, 4}, {2, 4}, {2, 4}, {2, 3}},
	{{0, 0}, {2, 4}, {2, 4}, {2, 4}, {2, 4}},
	{{0, 0}, {2, 4}, {2, 4}, {2, 4}, {2, 4}},
	{{0, 0}, {2, 4}, {2, 4}, {2, 4}, {2, 5}},
};

#elif BLCKSZ == 8192
const FPTWidths fpt_goal_images[FPT_NKW][FPT_KIND_INNER + 1] = {
	{{2, 2}, {1, 4}, {1, 5}, {1, 7}, {1, 5}},
	{{2, 3}, {2, 5}, {1, 6}, {1, 8}, {2, 4}},
	{{2, 4}, {2, 6}, {2, 7}, {1, 9}, {3, 3}},
	{{2, 5}, {2, 7}, {2, 8}, {1, 10}, {2, 6}},
	{{2, 6}, {2, 8}, {2, 9}, {2, 11}, {3, 5}},
	{{2, 7}, {2, 9}, {2, 10}, {2, 12}, {3, 5}},
	{{2, 8}, {2, 10}, {2, 11}, {2, 13}, {2, 8}},
	{{3, 8}, {2, 11}, {2, 12}, {2, 12}, {5, 4}},
	{{2, 10}, {2, 12}, {2, 12}, {2, 15}, {3, 7}},
	{{2, 11}, {2, 13}, {2, 12}, {2, 15}, {3, 8}},
	{{2, 12}, {2, 12}, {2, 15}, {2, 15}, {5, 5}},
	{{3, 12}, {2, 15}, {2, 15}, {2, 15}, {5, 6}},
	{{3, 12}, {2, 15}, {2, 15}, {2, 15}, {6, 5}},
	{{2, 15}, {2, 15}, {2, 15}, {2, 15}, {5, 6}},
	{{2, 15}, {2, 15}, {2, 15}, {2, 15}, {6, 5}},
	{{3, 15}, {3, 15}, {3, 15}, {3, 11}, {5, 7}},
};

const FPTWidths fpt_goal_tuples[FPT_ENC_WIDE][FPT_KIND_INNER + 1] = {
	{{0, 0}, {2, 2}, {2, 2}, {2, 2}, {1, 5}},
	{{0, 0}, {3, 2}, {3, 2}, {3, 2}, {2, 3}},
	{{0, 0}, {1, 8}, {1, 9}, {1, 9}, {2, 4}},
	{{0, 0}, {2, 9}, {2, 9}, {2, 9}, {2, 5}},
	{{0, 0}, {2, 9}, {2, 9}, {2, 9}, {2, 8}},
	{{0, 0}, {2, 9}, {2, 9}, {2, 9}, {4, 4}},
	{{0, 0}, {2, 9}, {2, 9}, {2, 9}, {3, 7}},
	{{0, 0}, {2, 9}, {2, 9}, {2, 9}, {3, 8}},
};

#elif BLCKSZ == 16384
const FPTWidths fpt_goal_images[FPT_NKW][FPT_KIND_INNER + 1] = {
	{{4, 2}, {2, 4}, {2, 5}, {2, 7}, {2, 5}},
	{{4, 3}, {3, 5}, {2, 6}, {2, 8}, {3, 4}},
	{{4, 4}, {3, 6}, {3, 7}, {2, 9}, {4, 5}},
	{{4, 5}, {3, 7}, {3, 7}, {3, 9}, {2, 10}},
	{{4, 6}, {4, 7}, {3, 9}, {3, 11}, {3, 8}},
	{{4, 7}, {3, 9}, {3, 10}, {3, 9}, {3, 10}},
	{{5, 7}, {3, 10}, {3, 11}, {3, 13}, {4, 8}},
	{{4, 9}, {4, 11}, {3, 12}, {3, 13}, {4, 10}},
	{{4, 10}, {4, 12}, {3, 13}, {3, 13}, {6, 7}},
	{{4, 11}, {4, 13}, {3, 14}, {4, 13}, {6, 8}},
	{{4, 12}, {4, 13}, {4, 13}, {3, 16}, {8, 6}},
	{{4, 13}, {4, 13}, {4, 13}, {4, 13}, {8, 7}},
	{{4, 14}, {5, 13}, {4, 16}, {5, 13}, {5, 11}},
	{{4, 15}, {4, 16}, {5, 13}, {4, 16}, {10, 6}},
	{{5, 13}, {5, 13}, {5, 13}, {5, 13}, {5, 12}},
	{{4, 16}, {5, 15}, {4, 16}, {4, 16}, {8, 9}},
};

const FPTWidths fpt_goal_tuples[FPT_ENC_WIDE][FPT_KIND_INNER + 1] = {
	{{0, 0}, {4, 2}, {4, 2}, {4, 2}, {3, 3}},
	{{0, 0}, {6, 2}, {6, 2}, {6, 2}, {2, 6}},
	{{0, 0}, {2, 8}, {2, 9}, {2, 9}, {2, 8}},
	{{0, 0}, {3, 9}, {3, 9}, {3, 9}, {2, 10}},
	{{0, 0}, {3, 9}, {3, 9}, {3, 9}, {3, 8}},
	{{0, 0}, {3, 9}, {3, 9}, {3, 9}, {3, 10}},
	{{0, 0}, {4, 9}, {4, 9}, {4, 9}, {5, 7}},
	{{0, 0}, {4, 9}, {4, 9}, {4, 9}, {5, 8}},
};

#elif BLCKSZ == 32768
const FPTWidths fpt_goal_images[FPT_NKW][FPT_KIND_INNER + 1] = {
	{{8, 2}, {4, 4}, {4, 5}, {3, 7}, {4, 5}},
	{{8, 3}, {5, 5}, {4, 6}, {3, 8}, {6, 4}},
	{{8, 4}, {6, 6}, {5, 7}, {4, 9}, {5, 7}},
	{{8, 5}, {6, 7}, {5, 8}, {4, 10}, {7, 6}},
	{{8, 6}, {6, 8}, {6, 9}, {5, 11}, {6, 8}},
	{{8, 7}, {7, 9}, {6, 10}, {5, 12}, {6, 10}},
	{{8, 8}, {7, 10}, {6, 11}, {5, 13}, {8, 8}},
	{{8, 9}, {7, 11}, {6, 12}, {5, 14}, {8, 10}},
	{{8, 10}, {7, 12}, {6, 13}, {6, 15}, {12, 7}},
	{{8, 11}, {7, 13}, {7, 14}, {6, 16}, {11, 8}},
	{{8, 12}, {7, 14}, {7, 15}, {6, 16}, {14, 7}},
	{{8, 13}, {7, 15}, {7, 16}, {7, 16}, {10, 11}},
	{{8, 14}, {7, 16}, {7, 16}, {7, 16}, {14, 8}},
	{{8, 15}, {8, 16}, {8, 16}, {8, 16}, {10, 12}},
	{{8, 16}, {8, 16}, {8, 16}, {8, 16}, {11, 12}},
	{{9, 16}, {9, 16}, {9, 16}, {9, 16}, {15, 9}},
};

const FPTWidths fpt_goal_tuples[FPT_ENC_WIDE][FPT_KIND_INNER + 1] = {
	{{0, 0}, {8, 2}, {8, 2}, {8, 2}, {3, 7}},
	{{0, 0}, {12, 2}, {12, 2}, {12, 2}, {4, 6}},
	{{0, 0}, {4, 8}, {4, 9}, {4, 9}, {5, 7}},
	{{0, 0}, {5, 9}, {5, 9}, {5, 9}, {7, 6}},
	{{0, 0}, {6, 9}, {6, 9}, {6, 9}, {6, 8}},
	{{0, 0}, {7, 9}, {7, 9}, {7, 9}, {6, 10}},
	{{0, 0}, {7, 9}, {7, 9}, {7, 9}, {6, 12}},
	{{0, 0}, {8, 9}, {8, 9}, {8, 9}, {9, 8}},
};

#else
#error "no widths for this BLCKSZ"
#endif

/*
 * The narrowest root, force_w lines wide if that is not 0, with room for the
 * most nodes of x lines that there can be.  Both are zero if none is usable.
 */
static FPTWidths
fpt_choose_root(int kw, int kind, int force_w, int x)
{
	FPTWidths	wx = {0, 0};
	uint32		capacity = 0;
	int			from = force_w != 0 ? force_w : 1;
	int			to = force_w != 0 ? force_w : FPT_ROOT_LINES;

	for (int w = from; w <= to; w++)
	{
		FPTGeom		g;

		if (fpt_geom_init(&g, kw, kind, w, x) && g.capacity > capacity)
		{
			capacity = g.capacity;
			wx.w = (uint8) w;
			wx.x = (uint8) x;
		}
	}
	return wx;
}

/*
 * The widths of a kind of page: goal G's, but for those that are forced.  False
 * if there is no usable page then.
 */
static bool
fpt_choose_pair(FPTWidths goal, int kw, int kind, int force_w, int force_x,
				FPTWidths *out)
{
	FPTGeom		g;

	*out = goal;
	if (force_x != 0)
		*out = fpt_choose_root(kw, kind, force_w, force_x);
	else if (force_w != 0)
		out->w = (uint8) force_w;
	return fpt_geom_init(&g, kw, kind, out->w, out->x);
}

/*
 * Where keys are relative to nodes, and a byte each, nodes have no more slots
 * than this, if that costs the page no more than one in a hundred: the fewer
 * keys a node has the farther apart they may be (fpt_near_enough).
 */
#define FPT_NEAR_CAP		52

/*
 * The widths of pages of keys that are relative to nodes: these are as wide as
 * those of keys that are a byte shorter, as their slots are, but where they
 * would have more slots than FPT_NEAR_CAP.
 */
static FPTWidths
fpt_choose_near(int kw, int kind, int force_w, int force_x, int x)
{
	FPTWidths	wx = fpt_choose_root(kw, kind, force_w, x);
	uint32		least;
	FPTGeom		g;

	if (kw != 2 || force_x != 0 || !fpt_geom_init(&g, kw, kind, wx.w, wx.x))
		return wx;
	least = g.capacity - g.capacity / 100;
	while (g.cap > FPT_NEAR_CAP)
	{
		FPTWidths	fewer = fpt_choose_root(kw, kind, force_w, wx.x - 1);

		if (!fpt_geom_init(&g, kw, kind, fewer.w, fewer.x) ||
			g.capacity < least)
			break;
		wx = fewer;
	}
	return wx;
}

/* See page/widths.h. */
bool
fpt_choose_widths(int keysize, int force_w, int force_x,
				  FPTWidths widths[FPT_NKW][FPT_NKINDS])
{
	memset(widths, 0, sizeof(FPTWidths) * FPT_NKW * FPT_NKINDS);
	Assert(keysize <= FPT_NKW);
	for (int i = 0; i < keysize; i++)
	{
		for (int kind = 0; kind <= FPT_KIND_INNER; kind++)
			if (!fpt_choose_pair(fpt_goal_images[i][kind], i + 1, kind,
								 force_w, force_x, &widths[i][kind]))
				return false;
		for (int kind = 0; i > 0 && kind < FPT_KIND_INNER; kind++)
			widths[i][FPT_KIND_NEAR + kind] =
				fpt_choose_near(i + 1, FPT_KIND_NEAR + kind, force_w, force_x,
								widths[i - 1][kind].x);
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

/* See page/widths.h; for image keys. */
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
#ifdef FPT_FEW_SLOTS
	/* see fpt_width_of() */
	l->nonumbers = true;
#endif
	return true;
}

/* --- general keys ------------------------------------------------------- */

/*
 * See page/widths.h.  Pages of a few wide tuples, row FPT_ENC_WIDE, cannot
 * spare more than a line for each.  Numbers into a dictionary take a byte, as
 * the shortest images do.
 */
bool
fpt_choose_widths_general(int force_w, int force_x,
						  FPTWidths widths[FPT_NKW][FPT_NKINDS])
{
	bool		ok = true;

	memset(widths, 0, sizeof(FPTWidths) * FPT_NKW * FPT_NKINDS);
	for (int kind = FPT_KIND_LEAF3; kind <= FPT_KIND_INNER; kind++)
	{
		for (int i = 0; i < FPT_ENC_WIDE; i++)
			ok &= fpt_choose_pair(fpt_goal_tuples[i][kind], i + 1,
								  FPT_KIND_GENERAL + kind, force_w, force_x,
								  &widths[i][kind]);
		widths[FPT_ENC_WIDE][kind].w = widths[FPT_ENC_WIDE][kind].x = 1;
		if (kind != FPT_KIND_INNER)
			ok &= fpt_choose_pair(fpt_goal_images[0][kind], 1,
								  FPT_KIND_DICT + kind, force_w, force_x,
								  &widths[FPT_ENC_DICT][kind]);
	}
	return ok;
}

/*
 * See page/widths.h.  The row FPT_ENC_WIDE has heads of 8 bytes, as has the one
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

		for (int kind = FPT_KIND_LEAF3; kind <= FPT_KIND_INNER; kind++)
		{
			FPTWidths	wx = widths[i][kind];
			FPTGeom    *g = &geoms->geom[i][kind];

			ok &= fpt_geom_init(g, kw, FPT_KIND_GENERAL + kind, wx.w, wx.x);
			g->enc = (uint8) (i | (g->enc & ~FPT_ENC_KW_MASK));
			geoms->widths[i][kind] = wx;
		}
	}

	for (int kind = FPT_KIND_LEAF3; kind < FPT_KIND_INNER; kind++)
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
