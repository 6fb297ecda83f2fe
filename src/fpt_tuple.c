/*-------------------------------------------------------------------------
 *
 * fpt_tuple.c
 *	  Page kernel: tuples of general keys, and fences.
 *
 * Tuples lie one behind the other from pd_upper to the special line, each
 * found by the offset in its entry's slot, in a fence or in the dictionary; no
 * two offsets are the same.  A new one goes below the lowest.  The tuple of a
 * removed entry stays until fpt_page_compact() moves what is still referred to
 * together.  A dictionary lies below all tuples.
 *
 *-------------------------------------------------------------------------
 */
#include "fpt_kernel_int.h"

/*
 * Store a key's tuple below the others; its offset, or -1 if there is no room
 * above the nodes and their hints.  (While a page is filled, nodes and tuples
 * are both known to fit.)
 */
int
fpt_tuple_put(const FPTGeom *g, void *page, const FPTKey *key)
{
	FPTPageHeader *h = fpt_header(page);
	int			dict = fpt_dict_bytes(g, page);
	int			upper = h->std.pd_upper - fpt_tuple_space(key->len);
	int			off = upper + dict;
	uint8	   *p = (uint8 *) page + off;

	Assert(key->len > 0 && key->len <= FPT_MAX_TUPLE);
	Assert(key->tup != NULL);
	if (upper < fpt_lower(g, h->nnodes) ||
		h->std.pd_upper + dict > FPT_SPECIAL_OFFSET)
		return -1;
	if (dict > 0)
		memmove((char *) page + upper, (char *) page + h->std.pd_upper, dict);
	if (key->len < FPT_TUPLE_LONG)
		*p++ = (uint8) key->len;
	else
	{
		*p++ = (uint8) (FPT_TUPLE_LONG | (key->len >> 8));
		*p++ = (uint8) key->len;
	}
	memcpy(p, key->tup, key->len);
	h->std.pd_upper = (uint16) upper;
	return off;
}

/* Every tuple that a page refers to, one call for each. */
typedef struct FPTTupleWalk
{
	char	   *page;
	const char *from;			/* where the tuples are: the page or a copy */
	char	   *to;				/* moved: lowest byte in use; else NULL */
	char	   *low;			/* nothing is moved below this */
	int			bytes;			/* that all of them take, dictionary included */
	uint16		offs[FPT_MAX_DICT]; /* of the dictionary's, where they are */
} FPTTupleWalk;

/* One of them: count it, or move it and return its new offset; -1: corrupt. */
static int
fpt_tuple_visit(FPTTupleWalk *w, unsigned off)
{
	uint32		len;
	int			space;

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
	return (int) (w->to - w->page);
}

static bool
fpt_tuple_visit_fence(FPTTupleWalk *w, FPTFence *f)
{
	int			off = f->hi < BLCKSZ ? fpt_tuple_visit(w, (unsigned) f->hi) : -1;

	if (off < 0)
		return false;
	if (w->to != NULL)
		f->hi = (uint64) off;
	return true;
}

/* Those of the dictionary's keys that have entries, and the arrays. */
static bool
fpt_tuple_walk_dict(const FPTGeom *g, FPTTupleWalk *w)
{
	bool		used[FPT_MAX_DICT];
	int			code;

	if (fpt_dict_used(g, w->page, used) != FPT_OK)
		return false;
	for (code = 0; code < fpt_header(w->page)->ndict; code++)
	{
		int			off;

		if (!used[code])
			continue;
		off = fpt_tuple_visit(w, fpt_dict_off(w->from, code));
		if (off < 0)
			return false;
		w->offs[code] = (uint16) off;
		w->bytes += FPT_DICT_ITEM;
	}
	return true;
}

/* All of them, fences first; false if one is not where it should be. */
static bool
fpt_tuple_walk(const FPTGeom *g, FPTTupleWalk *w)
{
	FPTPageHeader *h = fpt_header(w->page);
	int			kid;

	if (!fpt_tuple_visit_fence(w, &fpt_special(w->page)->low) ||
		!fpt_tuple_visit_fence(w, &h->high))
		return false;
	if (g->dict)
		return fpt_tuple_walk_dict(g, w);
	for (kid = 0; kid < h->nkids; kid++)
	{
		char	   *node = fpt_kid_node(g, w->page, kid);
		uint64		used;

		if (node == NULL)
			return false;
		for (used = fpt_node_used(g, node); used != 0; used &= used - 1)
		{
			int			slot = fpt_ctz(used);
			int			off = fpt_tuple_visit(w, fpt_slot_off(g, node, slot));

			if (off < 0)
				return false;
			if (w->to != NULL)
				fpt_slot_set_off(g, node, slot, (uint16) off);
		}
	}
	return true;
}

/* Bytes of all tuples, and the dictionary, that are in use; -1: corrupt. */
int
fpt_tuple_bytes(const FPTGeom *g, void *page)
{
	FPTTupleWalk w = {.page = page, .from = page};

	return fpt_tuple_walk(g, &w) ? w.bytes : -1;
}

/* Move all tuples together; what becomes free is added to the hole. */
FPTResult
fpt_page_compact(const FPTLayout *l, const FPTGeom *g, void *page)
{
	FPTPageHeader *h = fpt_header(page);
	char		copy[BLCKSZ];
	FPTTupleWalk w = {.page = page, .from = copy};
	bool		used[FPT_MAX_DICT];
	int			old = h->std.pd_upper;
	int			upper;

	if (fpt_heap_room(g, page) < 0)
		return FPT_CORRUPT;
	if (g->dict && (fpt_dict_used(g, page, used) != FPT_OK ||
					fpt_dict_purge(g, page, used) != FPT_OK))
		return FPT_CORRUPT;
	memcpy(copy, page, BLCKSZ);
	w.to = (char *) page + FPT_SPECIAL_OFFSET;
	w.low = (char *) page + old + fpt_dict_bytes(g, page);
	if (!fpt_tuple_walk(g, &w))
		return FPT_CORRUPT;
	upper = (int) (w.to - (char *) page) - fpt_dict_bytes(g, page);
	if (g->dict)
		fpt_dict_write(page, upper, fpt_dict_heads(copy), w.offs, h->ndict);
	memset((char *) page + old, 0, upper - old);
	h->std.pd_upper = (uint16) upper;
	return FPT_OK;
}

/* --- fences --------------------------------------------------------------- */

static FPTResult
fpt_set_fence(const FPTLayout *l, void *page, FPTFence *f, const FPTKey *key)
{
	const FPTGeom *g = fpt_page_geom(l, page);
	int			off = 0;

	f->lo = key->lo;
	f->tidcls = key->tid | ((uint64) key->cls << 56);
	if (likely(!fpt_is_general(l)))
	{
		f->hi = key->hi;
		return FPT_OK;
	}
	f->hi = 0;
	if (key->len == 0)
		return FPT_OK;
	if (g == NULL)
		return FPT_CORRUPT;
	if (fpt_heap_room(g, page) < fpt_tuple_space(key->len))
	{
		FPTResult	res = fpt_page_compact(l, g, page);

		if (res != FPT_OK)
			return res;
		if (fpt_heap_room(g, page) < fpt_tuple_space(key->len))
			return FPT_FULL;
	}
	off = fpt_tuple_put(g, page, key);
	f->hi = (uint64) off;
	return FPT_OK;
}

FPTResult
fpt_page_set_low(const FPTLayout *l, void *page, const FPTKey *low)
{
	return fpt_set_fence(l, page, &fpt_special(page)->low, low);
}

FPTResult
fpt_page_set_high(const FPTLayout *l, void *page, const FPTKey *high)
{
	return fpt_set_fence(l, page, &fpt_header(page)->high, high);
}
