/*-------------------------------------------------------------------------
 *
 * page/geom.c
 *	  Geometry of pages: from node widths to offsets.
 *
 *-------------------------------------------------------------------------
 */
#include "page/geom.h"

#define FPT_MAX_LINES		32	/* widest node that may be asked for */
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
	static const uint8 tidwidth[FPT_NKINDS] = {1, 3, 4, 6, 6, 1, 3, 4, 6};

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
	return kind;
}

/*
 * Can there be pages of this kind with separators of kw bytes?  Keys relative
 * to nodes have a byte less of what is searched, and one at least.  Those of
 * general keys are not, nor are their TIDs.
 */
static inline bool
fpt_kind_exists(int kw, int kind)
{
	if (kind >= FPT_KIND_GENERAL)
		return kind % FPT_NKINDS < FPT_KIND_NEAR &&
			kind % FPT_NKINDS != FPT_KIND_LEAF1;
	return kind < FPT_KIND_NEAR || (kw > 1 && kw != 9);
}

/* Of so many slots one may have a far TID, or two of fewer: see README. */
#define FPT_FAR_SHARE		10
#define FPT_FAR_LEAST		2
#define FPT_MAX_FARBITS		3

/*
 * How many slots a node of so many bytes has, of "entry" bytes each.  Where
 * TIDs are relative to nodes what is left behind the slots is for far ones:
 * sets g's nfar and farbits.
 */
static int
fpt_geom_cap(FPTGeom *g, int bytes, int entry)
{
	int			cap = Min(bytes / entry, FPT_MAX_CAP);

	if (g->tw > 1)
		return cap;
	for (; cap > 0; cap--)
	{
		int			nfar = (bytes - cap * entry) / FPT_FAR_BYTES - 1;

		if (nfar < Max(FPT_FAR_LEAST, cap / FPT_FAR_SHARE))
			continue;
		g->nfar = Min(nfar, FPT_MAX_FAR);
		while (g->farbits < FPT_MAX_FARBITS &&
			   g->nfar << (g->farbits + 1) <= FPT_FAR_ROWS)
			g->farbits++;
		break;
	}
	return cap;
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
	cap = fpt_geom_cap(g, x * FPT_LINE - header, entry);
	g->cap = cap;
	g->key_off = header;
	g->perm_off = g->key_off + cap * g->sw;
	g->low_off = g->perm_off + (g->perm ? cap : 0);
	g->tid_off = g->low_off + g->kw - g->rw;
	g->down_off = g->tid_off + g->tw;
	g->off_off = g->down_off + g->dw;
	g->far_off = g->low_off + cap * g->pw;

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
	Assert(g->far_off + (g->nfar > 0 ? g->nfar + 1 : 0) * FPT_FAR_BYTES <=
		   x * FPT_LINE);
	Assert(g->kids_off + n <= g->node_off);
	Assert(n == 0 || g->node_off + n * x * FPT_LINE <= g->hint_off);
	Assert(g->hint_off <= FPT_SPECIAL_OFFSET);
	Assert(g->capacity <= FPT_MAX_ENTRIES);
	Assert(g->sw >= 1 && g->sw <= 8);
	return n >= 2 && cap >= 2 && g->capacity >= FPT_MIN_CAPACITY;
}
