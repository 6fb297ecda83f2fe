/*-------------------------------------------------------------------------
 *
 * page/geom.c
 *	  Geometry of pages: from node widths to offsets, and which widths to use.
 *
 * Widths are those that goal G of the fpB+-tree paper (section 3.1.1) selects,
 * with our additions: a table, page/widths.c.  Others can be asked for, which
 * tests do.
 *
 *-------------------------------------------------------------------------
 */
#include "page/geom.h"

#define FPT_MAX_LINES		32	/* widest node that may be asked for */
#define FPT_ROOT_LINES		16	/* widest root that is looked for */
#define FPT_MIN_CAPACITY	8	/* fewer entries make no usable page */

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
		g->shared = true;
		g->iw = FPT_DICT_ITEM;
	}
	else if (kind >= FPT_KIND_GENERAL)
	{
		kind -= FPT_KIND_GENERAL;
		g->coding = FPT_CODING_TUPLE;
		g->shared = true;
		g->ties = true;
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
	if (g->ties)
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
 * See page/geom.h.  Where keys are relative to nodes, these are as wide as
 * those of keys that are a byte shorter, as their slots are.
 */
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
				fpt_choose_root(i + 1, FPT_KIND_NEAR + kind, force_w,
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
 * See page/geom.h.  Pages of a few wide tuples, row FPT_ENC_WIDE, cannot spare
 * more than a line for each.  Numbers into a dictionary take a byte, as the
 * shortest images do.
 */
bool
fpt_choose_widths_general(int force_w, int force_x,
						  FPTWidths widths[FPT_NKW][FPT_NKINDS])
{
	bool		ok = true;

	memset(widths, 0, sizeof(FPTWidths) * FPT_NKW * FPT_NKINDS);
	for (int kind = 0; kind <= FPT_KIND_INNER; kind++)
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
