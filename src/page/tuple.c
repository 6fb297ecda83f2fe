/*-------------------------------------------------------------------------
 *
 * page/tuple.c
 *	  Page kernel: tuples of general keys.
 *
 * Tuples lie one behind the other from pd_upper to the special line, each
 * found by the offset in its entry's slot, in a fence or in the dictionary; no
 * two offsets are the same.  A new one goes below the lowest, and pd_upper, if
 * it was above, some more bytes below it (FPT_TUPLE_RESERVE).  The tuple of a
 * removed entry stays until fpt_page_fill_gaps() moves others into its place,
 * or fpt_page_compact() all that are still referred to together.  A dictionary
 * lies below all tuples.
 *
 *-------------------------------------------------------------------------
 */
#include "page/tuple.h"

/*
 * See page/tuple.h.  A dictionary, which is below all tuples, moves down; where
 * slots own tuples pd_upper goes some bytes lower than it must.
 */
int
fpt_tuple_put(FPTPage pg, const FPTKey *key)
{
	FPTPageHeader *h = fpt_header(pg.p);
	int			dict = fpt_dict_bytes(pg);
	int			upper = fpt_tuples_from(pg) - fpt_tuple_space(key->len);
	int			off = upper + dict;
	uint8	   *p = (uint8 *) pg.p + off;

	Assert(key->len > 0 && key->len <= FPT_MAX_TUPLE);
	Assert(key->tup != NULL);
	if (upper < fpt_hole_from(pg) ||
		h->std.pd_upper + dict > FPT_SPECIAL_OFFSET)
		return -1;
	if (dict > 0)
		memmove(pg.p + upper, pg.p + h->std.pd_upper, dict);
	if (key->len < FPT_TUPLE_LONG)
		*p++ = (uint8) key->len;
	else
	{
		*p++ = (uint8) (FPT_TUPLE_LONG | (key->len >> 8));
		*p++ = (uint8) key->len;
	}
	memcpy(p, key->tup, key->len);
	Assert(off >= upper && off + fpt_tuple_space(key->len) <=
		   FPT_SPECIAL_OFFSET);
	if (upper < h->std.pd_upper && fpt_has_offsets(pg.g))
		upper = Max(upper / FPT_TUPLE_RESERVE * FPT_TUPLE_RESERVE,
					fpt_hole_from(pg));
	h->std.pd_upper = (uint16) Min(upper, h->std.pd_upper);
	return off;
}

/*
 * See page/tuple.h.  Whatever the offsets are, nothing is written below
 * w->low.
 */
int
fpt_tuple_visit(FPTTupleWalk *w, unsigned off)
{
	uint32		len;
	int			space;

	Assert(w->to == NULL || w->to >= w->low);
	if (off == 0)
		return 0;
	if (fpt_tuple_at(w->from, off, &len) == NULL)
		return -1;
	space = fpt_tuple_space(len);
	w->bytes += space;
	if (w->to == NULL)
		return (int) off;

	/* Only offsets that overlap can need more than there was. */
	if (w->to - space < w->low)
		return -1;
	w->to -= space;
	memcpy(w->to, w->from + off, space);
	return (int) (w->to - w->pg.p);
}

/*
 * See page/tuple.h.  A fence's offset is a whole word, any number if damaged.
 */
bool
fpt_tuple_visit_fence(FPTTupleWalk *w, FPTFence *f)
{
	int			off = -1;

	if (f->hi < BLCKSZ)
		off = fpt_tuple_visit(w, (unsigned) f->hi);
	if (off < 0)
		return false;
	if (w->to != NULL)
		f->hi = (uint64) off;
	return true;
}

/* See page/tuple.h. */
bool
fpt_tuple_visit_prefix(FPTTupleWalk *w)
{
	FPTPageSpecial *s = fpt_special(w->pg.p);
	int			off = fpt_tuple_visit(w, s->prefix);

	if (off < 0)
		return false;
	if (w->to != NULL)
		s->prefix = (uint16) off;
	return true;
}

/*
 * See page/tuple.h.  Goes node by node, slot by slot: in which order tuples lie
 * means nothing.  False: it has stopped half-way.
 */
bool
fpt_tuple_walk_slots(FPTTupleWalk *w)
{
	FPTPageHeader *h = fpt_header(w->pg.p);
	int			kid;

	Assert(fpt_has_offsets(w->pg.g));
	for (kid = 0; kid < h->nkids; kid++)
	{
		char	   *node = fpt_kid_node(w->pg, kid);
		uint64		used;

		if (node == NULL)
			return false;
		for (used = fpt_node_used(w->pg.g, node); used != 0; used &= used - 1)
		{
			int			slot = fpt_ctz(used);
			int			off;

			off = fpt_tuple_visit(w, fpt_slot_off(w->pg.g, node, slot));
			if (off < 0)
				return false;
			if (w->to != NULL)
				fpt_slot_set_off(w->pg.g, node, slot, (uint16) off);
		}
	}
	return true;
}

/* --- gaps ---------------------------------------------------------------- */

/* A run of bytes between tuples that nothing refers to. */
typedef struct FPTGap
{
	uint16		off;			/* in the page, bytes; grows as it is filled */
	uint16		len;			/* bytes left, may be 0 */
} FPTGap;

/* Gaps that are remembered, the last ones of the page. */
#define FPT_MAX_GAPS		64

/*
 * Enter the tuple at "off", to which the bytes at "ref" refer, into the map; 0
 * is none.  False: there is none, or another one refers to it as well.
 */
static bool
fpt_map_add(FPTTupleMap *map, const char *page, unsigned off, char *ref,
			bool fence)
{
	FPTTupleRef *t;
	uint32		len;

	if (off == 0)
		return true;
	if (map->n >= FPT_MAX_ENTRIES + 3 || off >= BLCKSZ ||
		fpt_tuple_at(page, off, &len) == NULL || map->at[off] != 0)
		return false;
	t = &map->tuples[map->n++];
	t->ref = ref;
	t->off = (uint16) off;
	t->space = (uint16) fpt_tuple_space(len);
	t->fence = fence;
	map->at[off] = (uint16) map->n;
	return true;
}

/*
 * Map all tuples of a page, fences and prefix included; false if one is not
 * where it should be, or two are the same one.  Only looks.
 */
static bool
fpt_map_tuples(FPTPage pg, FPTTupleMap *map)
{
	FPTFence   *low = &fpt_special(pg.p)->low;
	FPTFence   *high = &fpt_header(pg.p)->high;
	int			kid;

	map->n = 0;
	memset(map->at, 0, sizeof(map->at));
	if (low->hi >= BLCKSZ || high->hi >= BLCKSZ ||
		!fpt_map_add(map, pg.p, (unsigned) low->hi, (char *) &low->hi, true) ||
		!fpt_map_add(map, pg.p, (unsigned) high->hi, (char *) &high->hi,
					 true) ||
		!fpt_map_add(map, pg.p, fpt_special(pg.p)->prefix,
					 (char *) &fpt_special(pg.p)->prefix, false))
		return false;
	for (kid = 0; kid < fpt_header(pg.p)->nkids; kid++)
	{
		char	   *node = fpt_kid_node(pg, kid);
		uint64		used;

		if (node == NULL)
			return false;
		for (used = fpt_node_used(pg.g, node); used != 0; used &= used - 1)
		{
			int			slot = fpt_ctz(used);

			if (!fpt_map_add(map, pg.p, fpt_slot_off(pg.g, node, slot),
							 node + pg.g->off_off + slot * pg.g->pw, false))
				return false;
		}
	}
	return true;
}

/*
 * The gaps from "upper" on; -1: tuples overlap.  Their number; "gaps" has room
 * for FPT_MAX_GAPS, and keeps the last ones, in no order.
 */
static int
fpt_map_gaps(const FPTTupleMap *map, int upper, FPTGap *gaps)
{
	int			seen = 0;
	int			ngaps = 0;
	int			start = upper;
	int			off = upper;

	Assert(upper > 0 && upper <= FPT_SPECIAL_OFFSET);
	while (off < FPT_SPECIAL_OFFSET)
	{
		if (map->at[off] == 0)
		{
			off++;
			continue;
		}
		if (off > start)
		{
			gaps[ngaps % FPT_MAX_GAPS].off = (uint16) start;
			gaps[ngaps++ % FPT_MAX_GAPS].len = (uint16) (off - start);
		}
		off += map->tuples[map->at[off] - 1].space;
		start = off;
		seen++;
	}
	if (seen < map->n || off > FPT_SPECIAL_OFFSET)
		return -1;
	if (off > start)
	{
		gaps[ngaps % FPT_MAX_GAPS].off = (uint16) start;
		gaps[ngaps++ % FPT_MAX_GAPS].len = (uint16) (off - start);
	}
	return Min(ngaps, FPT_MAX_GAPS);
}

/*
 * Move the tuple at "at" into a gap behind it; false if it fits in none.
 * Changes the map and the gap to match, and the offset of whoever refers to it.
 * A gap lies behind the tuple, so what is copied does not overlap.
 */
static bool
fpt_fill_gap(char *page, FPTTupleMap *map, int at, FPTGap *gaps, int ngaps)
{
	FPTTupleRef *t = &map->tuples[map->at[at] - 1];

	Assert(map->at[at] != 0 && t->off == at);
	for (int i = 0; i < ngaps; i++)
	{
		FPTGap	   *gap = &gaps[i];
		uint64		off = gap->off;
		uint16		shortoff = gap->off;

		if (gap->off <= t->off || gap->len < t->space)
			continue;
		memcpy(page + off, page + t->off, t->space);
		if (t->fence)
			memcpy(t->ref, &off, sizeof(off));
		else
			memcpy(t->ref, &shortoff, sizeof(shortoff));
		map->at[off] = map->at[at];
		t->off = shortoff;
		gap->off += t->space;
		gap->len -= t->space;
		return true;
	}
	return false;
}

/*
 * See page/tuple.h.  Where tuples are of much the same length, as those of
 * versions of rows are, this moves no more bytes than are gained, while
 * compacting moves, and logs, nearly all.
 */
FPTResult
fpt_page_fill_gaps(FPTPage pg, FPTTupleMap *map)
{
	FPTPageHeader *h = fpt_header(pg.p);
	FPTGap		gaps[FPT_MAX_GAPS];
	int			old = h->std.pd_upper;
	int			upper = old;
	int			ngaps;
	int			space;

	Assert(fpt_shares_space(pg.g) && fpt_has_offsets(pg.g));
	if (!fpt_hole_sound(pg) || !fpt_map_tuples(pg, map))
		return FPT_CORRUPT;
	ngaps = fpt_map_gaps(map, old, gaps);
	if (ngaps < 0)
		return FPT_CORRUPT;
	while (upper < FPT_SPECIAL_OFFSET)
	{
		if (map->at[upper] == 0)
		{
			upper++;
			continue;
		}
		space = map->tuples[map->at[upper] - 1].space;
		if (!fpt_fill_gap(pg.p, map, upper, gaps, ngaps))
			break;
		upper += space;
	}
	Assert(upper >= old && upper <= FPT_SPECIAL_OFFSET);
	memset(pg.p + old, 0, upper - old);
	h->std.pd_upper = (uint16) upper;
	return FPT_OK;
}
