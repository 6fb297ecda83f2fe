/*-------------------------------------------------------------------------
 *
 * page/modify.c
 *	  Page kernel: changing one page image.
 *
 * fpt_page_insert() changes a few bytes in known places and reports them.  All
 * other operations change the page at large; their callers compare images or
 * log the whole page.
 *
 *-------------------------------------------------------------------------
 */
#include "page/coding.h"
#include "page/copy.h"
#include "page/encoding.h"
#include "page/format.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/node.h"
#include "page/number_edit.h"
#include "page/prefix.h"
#include "page/root.h"
#include "page/slots.h"
#include "page/tuple.h"

/*
 * See page/modify.h.  pd_lower and pd_upper are those of an empty page, so that
 * W7 holds from the beginning; all that is not set here is zero, the hole above
 * all (W5).  Fences go in last: their tuples need the geometry.
 */
void
fpt_page_init(const FPTLayout *l, void *page, const FPTPageSpec *spec,
			  int enc, const FPTKey *base, uint32 tidbase)
{
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpecial *s = fpt_special(page);
	uint64		hi = base->hi;
	uint64		lo = base->lo;
	FPTPage		pg;

	Assert(spec->level >= 0 && spec->level <= FPT_MAX_LEVEL);
	Assert((spec->low->len == 0 && spec->high->len == 0) || fpt_is_general(l));
	memset(page, 0, BLCKSZ);
	h->std.pd_upper = FPT_SPECIAL_OFFSET;
	h->std.pd_special = FPT_SPECIAL_OFFSET;
	h->std.pd_pagesize_version = BLCKSZ | PG_PAGE_LAYOUT_VERSION;
	h->level = (uint8) spec->level;
	h->enc = (uint8) enc;
	if ((enc & FPT_ENC_LENT) != 0 && l->keysize <= 8)
		s->bits = (uint16) spec->lent;
	else if ((enc & FPT_ENC_FIXED) != 0)
	{
		s->bits = (uint16) fpt_fixed_bits(hi, lo);
		fpt_key_squeeze(&hi, &lo);
	}
	s->base_hi = hi;
	s->base_lo = lo;
	s->tidbase = tidbase;
	s->rowbits = 0;
	s->pageno = spec->pageno;
	s->indexid = l->indexid;
	s->version = FPT_VERSION;
	s->pageid = FPT_PAGE_ID;
	pg = fpt_page_open(l, page);
	Assert(pg.g != NULL);
	if (pg.g->tw < 6)
		s->rowbits = (uint8) (pg.g->tw == 4 || spec->rowbits == 0 ?
							  FPT_MAX_ROWBITS : spec->rowbits);
	Assert(fpt_rowbits_sound(pg));
	h->std.pd_lower = fpt_lower(pg.g, 0);

	/* An empty page has room for any two, but for a wide root. */
	(void) fpt_page_set_low(l, page, spec->low, NULL);
	(void) fpt_page_set_high(l, page, spec->high, NULL);
	if (spec->nprefix > 0 && fpt_may_prefix(pg.g))
	{
		FPTKey		prefix = {.tup = spec->prefix, .len = spec->nprefix};
		int			off = fpt_tuple_put(pg, &prefix);

		/* without it the entries are stored whole */
		s->prefix = (uint16) Max(off, 0);
	}
	Assert(h->std.pd_upper == FPT_SPECIAL_OFFSET || fpt_shares_space(pg.g));
	Assert(h->std.pd_lower <= h->std.pd_upper);
}

/* --- fences -------------------------------------------------------------- */

/*
 * Set a fence of a page that is a private copy.  FPT_FULL: no room for its
 * tuple, even if all others are moved together; FPT_NO_WORK: that was needed.
 * FPT_CORRUPT: the page makes no sense, or its tuples do not.  The fence has no
 * tuple then, but the new head, class and TID.  Compares nothing, raises
 * nothing.
 */
static FPTResult
fpt_set_fence(const FPTLayout *l, void *page, FPTFence *f, const FPTKey *key,
			  FPTWork *work)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			off = 0;

	Assert(!fpt_is_general(l) || key->cut == 0);
	f->lo = key->lo;
	f->tidcls = key->tid | ((uint64) key->cls << 56);
	if (likely(!fpt_is_general(pg.l)))
	{
		f->hi = key->hi;
		return FPT_OK;
	}
	f->hi = 0;
	if (key->len == 0)
		return FPT_OK;
	if (pg.g == NULL)
		return FPT_CORRUPT;
	for (int step = 0; fpt_tuple_room(pg) < fpt_tuple_space(key->len); step++)
	{
		FPTResult	res = FPT_NO_WORK;

		if (work != NULL)
			res = fpt_encoding(pg.g)->reclaim(pg, step, work);
		if (res == FPT_UNFIT)
			return FPT_FULL;
		if (res != FPT_OK)
			return res;
	}
	off = fpt_tuple_put(pg, key);
	Assert(off > 0);			/* there is room for it */
	f->hi = (uint64) off;
	return FPT_OK;
}

FPTResult
fpt_page_set_low(const FPTLayout *l, void *page, const FPTKey *low,
				 FPTWork *work)
{
	return fpt_set_fence(l, page, &fpt_special(page)->low, low, work);
}

FPTResult
fpt_page_set_high(const FPTLayout *l, void *page, const FPTKey *high,
				  FPTWork *work)
{
	return fpt_set_fence(l, page, &fpt_header(page)->high, high, work);
}

/* --- inserting ----------------------------------------------------------- */

/* See page/modify.h. */
FPTResult
fpt_insert_place(FPTPage pg, const FPTEntry *e, FPTPlace *p)
{
	uint32		null = pg.l->nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;
	FPTResult	res;

	p->beyond = 0;
	p->crowded = false;
	if (e->key.cls != FPT_CLS_VALUE &&
		(e->key.cls != null || (fpt_is_general(pg.l) && e->key.lo != 0)))
		return FPT_CORRUPT;
	if (fpt_locate(pg, &e->key, p) != FPT_OK)
		return FPT_CORRUPT;
	res = fpt_entry_admitted(pg, e, p);
	if (res != FPT_OK)
		return res;
	if (p->where != 0)
		return FPT_UNFIT;

	/*
	 * Nothing goes before the entry that stands for minus infinity: it needs a
	 * lower key first, which fpt_page_form() gives it.
	 */
	if (!fpt_is_leaf(pg.g) && p->kid == 0 && p->rank == 0 &&
		fpt_header(pg.p)->nkids > 0 &&
		fpt_page_low(pg.l, pg.p).cls == FPT_CLS_MINF)
		return FPT_UNFIT;
	if (!fpt_page_tells_tid(pg, e->key.tid) ||
		(e->key.cls != FPT_CLS_VALUE && fpt_is_lent(pg.l, pg.p)))
		return FPT_UNFIT;
	if (p->from >= p->to)
		return FPT_FULL;
	if (p->dup)
		return FPT_DUPLICATE;

	/* a search for TID 0 does not look at TIDs; most separators have that */
	for (uint64 eq = p->eq;
		 e->key.tid == 0 && !fpt_has_ties(pg.g) && eq != 0;
		 eq &= eq - 1)
	{
		if (fpt_slot_tid(pg, p->node, fpt_ctz(eq)) == 0)
			return FPT_DUPLICATE;
	}
	if (p->rank >= p->count && p->kid + 1 < p->to)
	{
		/* The next node may begin with this very entry. */
		int			has = fpt_kid_has(pg, p->kid + 1, &e->key, p);

		if (has != 0)
			return has < 0 ? FPT_CORRUPT : FPT_DUPLICATE;
	}
	if (!fpt_tuple_fits(pg, &e->key))
		return FPT_FULL;
	p->beyond = fpt_node_tells(pg.g, fpt_kid_base(pg, p->kid),
							   fpt_word(pg.g, p->hi, p->lo));
	p->crowded = fpt_has_far(pg.g) && !fpt_node_takes(pg, p->node, e->key.tid);
	return p->count < pg.g->cap && p->beyond == 0 && !p->crowded ?
		FPT_OK : FPT_FULL;
}

FPTResult
fpt_page_insert_find(const FPTLayout *l, void *page, const FPTEntry **e,
					 FPTLocal *local, FPTPlace *p)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	n;
	FPTResult	res;

	if (fpt_num_page(pg, &n))
		return fpt_num_insert_find(&n, *e, p);
	if (pg.g == NULL)
		return FPT_CORRUPT;
	res = fpt_page_localize(pg, e, local);
	return res == FPT_OK ? fpt_insert_place(pg, *e, p) : res;
}

/*
 * Put a new entry's tuple into the page; where it is, or 0: the slot owns none,
 * or it is empty.  Must find room: fpt_insert_place() has looked.  Adds what it
 * changed to *edit, two ranges at most: the tuple, and pd_upper where the bytes
 * kept below the lowest tuple were used up.  Runs in a critical section: raises
 * nothing.
 */
static int
fpt_insert_tuple(FPTPage pg, const FPTKey *key, FPTEdit *edit)
{
	FPTPageHeader *h = fpt_header(pg.p);
	const char *at = (const char *) &h->std.pd_upper;
	uint64		was = fpt_bytes8(at);
	int			off;

	if (!fpt_has_offsets(pg.g) || key->len == 0)
		return 0;
	off = fpt_tuple_put(pg, key);
	Assert(off > 0);
	fpt_edit_add(edit, pg.p, pg.p + off, fpt_tuple_space(key->len));
	fpt_edit_changed(edit, pg.p, at, was);
	return off;
}

/*
 * Put a new entry's key, p's hi and lo, into a slot of its node.  Adds one
 * range at most, of the searched part; of a wide key the rest is payload.
 */
static inline void
fpt_insert_key(FPTPage pg, char *node, int slot, const FPTPlace *p,
			   FPTEdit *edit)
{
	char	   *at = node + pg.g->key_off + slot * pg.g->sw;
	uint64		was = fpt_bytes8(at);

	fpt_slot_set_rel(pg.g, node, fpt_kid_base(pg, p->kid), slot, p->hi, p->lo);
	fpt_edit_changed(edit, pg.p, at, was);
}

/*
 * Put the rest of a new entry into a slot: what the searched part of its key
 * leaves out, TID, downlink and where the tuple is, which are one behind the
 * other.  Adds one range at most: all of it, or, where it is a TID and a
 * tuple's offset at most, which fpt_bytes8() covers, only the bytes that are
 * others now.  Another one is a far TID.
 */
static inline void
fpt_insert_payload(FPTPage pg, char *node, int slot, const FPTEntry *e,
				   int off, FPTEdit *edit)
{
	const FPTGeom *g = pg.g;
	char	   *at_tid = node + g->tid_off + slot * g->pw;
	char	   *at = at_tid - (fpt_is_wide(g) ? 8 : 0);
	uint64		was = fpt_bytes8(at_tid);
	int			far = fpt_has_far(g) ? fpt_far_free(g, node) : -1;
	char	   *at_far = far >= 0 ? node + fpt_far_off(g, far) : at_tid;
	uint64		was_far = fpt_bytes8(at_far);

	fpt_slot_set_tid(pg, node, slot, e->key.tid);
	if (far >= 0)
		fpt_edit_changed(edit, pg.p, at_far, was_far);
	fpt_slot_set_down(g, node, slot, e->down);
	fpt_slot_set_off(g, node, slot, (uint16) off);
	if (!fpt_is_wide(g) && fpt_is_leaf(g))
	{
		fpt_edit_changed(edit, pg.p, at_tid, was);
		return;
	}
	fpt_edit_add(edit, pg.p, at, g->pw);
}

/*
 * See page/modify.h.  The edits of one insertion are FPT_MAX_EDITS at most, and
 * tell all that replay needs: what they leave out is the same there (W6).  They
 * are: of a permutation the bitmap's byte and what moves; or of slots that were
 * moved a key and their payload; the key; a tuple and pd_upper; the payload; a
 * far TID.  A free slot has no hint: the line with the hints is not looked at.
 * Raises nothing, as it is called in a critical section (W1).
 */
void
fpt_page_insert_at(const FPTLayout *l, void *page, const FPTEntry *e,
				   const FPTPlace *at, FPTEdit *edit)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTPlace	p = *at;
	FPTEdit		unwanted = {0};
	FPTNumbers	n;
	bool		moved;
	int			slot;

	if (fpt_num_page(pg, &n))
	{
		fpt_num_insert_at(&n, at, edit);
		return;
	}
	Assert(p.count < pg.g->cap && p.where == 0);
	Assert(p.used == fpt_node_used(pg.g, p.node));
	Assert(p.count == fpt_popcount(p.used));
	Assert(p.rank <= p.count);
	slot = fpt_insert_slot(pg, &p, edit, &moved);
	Assert(slot < pg.g->cap);
	if (pg.g->perm)
	{
		uint8	   *perm = fpt_node_perm(pg.g, p.node);

		fpt_slot_taken(pg.g, p.node, slot);
#ifdef WORDS_BIGENDIAN
		fpt_edit_add(edit, pg.p, p.node, sizeof(FPTNode));
#else
		fpt_edit_add(edit, pg.p, p.node + slot / 8, 1);
#endif
		if (p.rank < p.count || perm[p.rank] != slot)
		{
			memmove(perm + p.rank + 1, perm + p.rank, p.count - p.rank);
			perm[p.rank] = (uint8) slot;
			fpt_edit_add(edit, pg.p, perm + p.rank, p.count - p.rank + 1);
		}
	}
	fpt_insert_key(pg, p.node, slot, &p, edit);
	fpt_insert_payload(pg, p.node, slot, e,
					   fpt_insert_tuple(pg, &e->key, edit),
					   moved ? &unwanted : edit);
}

FPTResult
fpt_page_insert(const FPTLayout *l, void *page, const FPTEntry *e,
				FPTEdit *edit)
{
	FPTLocal	local;
	FPTPlace	p;
	FPTResult	res = fpt_page_insert_find(l, page, &e, &local, &p);

	if (res == FPT_OK)
		fpt_page_insert_at(l, page, e, &p, edit);
	return res;
}

/* --- nodes and downlinks ------------------------------------------------- */

/* See page/modify.h.  Nodes do not move, so free ones between others stay. */
void
fpt_page_trim(const FPTLayout *l, void *page)
{
	FPTPageHeader *h = fpt_header(page);
	FPTPage		pg = fpt_page_open(l, page);
	FPTNumbers	n;
	int			nnodes = 0;
	int			i;

	if (fpt_num_page(pg, &n))
	{
		fpt_num_trim(&n);
		return;
	}
	if (pg.g == NULL)
		return;
	for (i = 0; i < h->nkids; i++)
	{
		if (fpt_kid_node(pg, i) == NULL)
			return;
		nnodes = Max(nnodes, fpt_kid(pg, i) + 1);
	}
	if (nnodes < h->nnodes)
		fpt_set_nnodes(pg, nnodes);
}

/*
 * See page/modify.h.  The first record of a split's new page (W9).  What the
 * root of the narrower encoding leaves is zeroed as hole (W5).  The handle is
 * of the encoding before, and not used any more once that is changed.
 */
void
fpt_page_strip(const FPTLayout *l, void *page)
{
	FPTPageHeader *h = fpt_header(page);
	FPTPage		pg = fpt_page_open(l, page);
	const FPTGeom *least = pg.g;
	FPTNumbers	n;

	Assert(pg.g != NULL);
	if (fpt_num_page(pg, &n))
	{
		fpt_num_strip(&n);
		return;
	}
	h->nkids = h->nnull = 0;
	fpt_set_nnodes(pg, 0);
	h->flags = FPT_F_DELETED;

	/* Without nodes, any encoding will do: one with a narrow root. */
	for (int i = 0; i < FPT_NENC * FPT_NKINDS; i++)
	{
		const FPTGeom *g = &l->geoms->geom[i / FPT_NKINDS][i % FPT_NKINDS];

		if (g->cap > 0 && g->coding == pg.g->coding && g->dw == pg.g->dw &&
			!fpt_has_far(g) &&
			(fpt_has_far(least) || g->node_off < least->node_off))
			least = g;
	}
	if (least->node_off < pg.g->node_off)
		memset(pg.p + least->node_off, 0, pg.g->node_off - least->node_off);
	h->enc = least->enc;
	fpt_special(page)->bits = 0;
	fpt_special(page)->rowbits = least->tw < 6 ? FPT_MAX_ROWBITS : 0;
	h->std.pd_lower = fpt_lower(least, 0);
}

/* See page/modify.h.  The entry was read before, so its node and slot exist. */
FPTResult
fpt_page_set_down(const FPTLayout *l, void *page, FPTLoc loc, uint32 down)
{
	FPTPage		pg = fpt_page_open(l, page);
	FPTEntry	e;
	char	   *node;

	if (pg.g == NULL || fpt_is_leaf(pg.g) ||
		fpt_page_get(l, page, loc, &e) != FPT_OK)
		return FPT_CORRUPT;
	node = fpt_kid_node(pg, loc.kid);
	fpt_slot_set_down(pg.g, node, fpt_node_perm(pg.g, node)[loc.rank], down);
	return FPT_OK;
}
