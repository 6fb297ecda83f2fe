/*-------------------------------------------------------------------------
 *
 * page/encoding.c
 *	  Page kernel: what differs between encodings, one row of a table for each.
 *
 * Only what is done when a page is made, rebuilt or short of room goes through
 * the table: FPTEncoding says what each function has to do.  None of these
 * raises anything but what comparing keys does, and none allocates.  What
 * visits all tuples of a page asks the table for those of its entries, and is
 * asked by it, so it is here, too.
 *
 *-------------------------------------------------------------------------
 */
#include "page/coding.h"
#include "page/dict.h"
#include "page/encoding.h"
#include "page/format.h"
#include "page/number.h"
#include "page/prefix.h"
#include "page/tuple.h"

/* --- all tuples of a page ------------------------------------------------ */

/*
 * Visit all of them, fences and prefix first; false if one is not where it
 * should be.
 */
static bool
fpt_tuple_walk(FPTTupleWalk *w)
{
	FPTPageHeader *h = fpt_header(w->pg.p);

	if (!fpt_tuple_visit_fence(w, &fpt_special(w->pg.p)->low) ||
		!fpt_tuple_visit_fence(w, &h->high) ||
		!fpt_tuple_visit_prefix(w))
		return false;
	return fpt_encoding(w->pg.g)->walk(w);
}

/*
 * Bytes of all tuples, fences' included, and of the dictionary, as far as they
 * are in use.  -1: corrupt.  A walk that moves nothing: w.to is NULL.
 */
static int
fpt_tuple_bytes(FPTPage pg)
{
	FPTTupleWalk w = {.pg = pg, .from = pg.p};

	return fpt_tuple_walk(&w) ? w.bytes : -1;
}

/*
 * See page/encoding.h.  More bytes in use than there are between the lowest
 * tuple and the special line: two offsets lead to one tuple.
 */
int
fpt_tuple_garbage(FPTPage pg)
{
	int			bytes = fpt_tuple_bytes(pg);
	int			space = FPT_SPECIAL_OFFSET - fpt_tuples_from(pg);

	Assert(fpt_shares_space(pg.g));
	return bytes < 0 || bytes > space ? -1 : space - bytes;
}

/*
 * Write all tuples that the page refers to, as they are in the copy "from",
 * together below the special line; what becomes free is added to the hole.
 * Changes offsets and tuples only.  FPT_CORRUPT: it has stopped half-way.
 * Raises nothing.
 *
 * Two offsets that lead to one tuple, in a damaged page, would make two of it:
 * w.low keeps these from growing into the hole.  The arrays of a dictionary
 * follow the tuples at last, below them, with new offsets; what is between the
 * old pd_upper and the new one is zeroed (W5).
 */
static FPTResult
fpt_tuples_gather(FPTPage pg, const char *from)
{
	FPTPageHeader *h = fpt_header(pg.p);
	FPTTupleWalk w = {.pg = pg, .from = from};
	int			old = h->std.pd_upper;
	int			upper;

	Assert(from != pg.p && fpt_shares_space(pg.g));
	w.to = pg.p + FPT_SPECIAL_OFFSET;
	w.low = pg.p + old + fpt_dict_bytes(pg);
	if (!fpt_tuple_walk(&w))
		return FPT_CORRUPT;
	upper = (int) (w.to - pg.p) - fpt_dict_bytes(pg);
	Assert(upper >= old && upper <= FPT_SPECIAL_OFFSET);
	if (fpt_has_dict(pg.g))
		fpt_dict_write(pg.p, upper, fpt_dict_heads(from), w.offs, h->ndict);
	memset(pg.p + old, 0, upper - old);
	h->std.pd_upper = (uint16) upper;
	return FPT_OK;
}

/*
 * The same, once keys of the dictionary that no entry has are dropped; the copy
 * is made in work->page, and the rest of *work is not touched.  Keys are
 * dropped before the copy is made, so that both have the same arrays.
 */
static FPTResult
fpt_page_compact(FPTPage pg, FPTWork *work)
{
	bool		used[FPT_MAX_DICT];

	if (!fpt_hole_sound(pg))
		return FPT_CORRUPT;
	if (fpt_has_dict(pg.g) && (fpt_dict_used(pg, used) != FPT_OK ||
							   fpt_dict_purge(pg, used) != FPT_OK))
		return FPT_CORRUPT;
	memcpy(work->page, pg.p, BLCKSZ);
	return fpt_tuples_gather(pg, work->page);
}

/* --- images -------------------------------------------------------------- */

/* Rebuild rather than split a page of which no more than this is in use. */
#define FPT_REORG_NUM		3	/* quarters of the slots */
#define FPT_REORG_DEN		4

/* NULLs and values share no node: to that up to cap - 1 slots are lost. */
static bool
image_sure_fits(const FPTGeom *g, int n, bool mixed, int bytes)
{
	Assert(bytes == 0);
	return n <= (int) g->capacity - (mixed ? g->cap - 1 : 0);
}

/* Entries need nothing but nodes. */
static FPTResult
image_begin(FPTPage pg, const FPTEntry *entries, int n)
{
	Assert(fpt_header(pg.p)->nkids == 0);
	return FPT_OK;
}

static int
image_nodes(FPTPage pg, const FPTEntry *entries, int n)
{
	return pg.g->maxnodes;
}

/*
 * Stored keys of n entries, those that go into one node.  A NULL's key is zero.
 * FPT_UNFIT: one cannot be told relative to the page's base.
 */
static FPTResult
image_store(FPTPage pg, const FPTEntry *entries, int from, int n,
			FPTRelEntry *out)
{
	for (int i = 0; i < n; i++)
	{
		const FPTKey *k = &entries[from + i].key;

		out[i].hi = out[i].lo = 0;
		out[i].off = 0;
		if (k->cls == FPT_CLS_VALUE &&
			fpt_rel(pg, k, &out[i].hi, &out[i].lo) != 0)
			return FPT_UNFIT;
	}
	return FPT_OK;
}

/* Slots count: what is gained is that entries find free ones where they go. */
static bool
image_rebuild_pays(FPTPage pg, int n)
{
	return n * FPT_REORG_DEN <= (int) pg.g->capacity * FPT_REORG_NUM;
}

/* The hints, whose place is the same for any number of nodes. */
static FPTResult
image_clear(FPTPage pg, const char *copy)
{
	Assert(fpt_header(pg.p)->nkids == 0);
	memset(pg.p + pg.g->hint_off, 0, FPT_SPECIAL_OFFSET - pg.g->hint_off);
	return FPT_OK;
}

static FPTResult
image_reclaim(FPTPage pg, int step, FPTWork *work)
{
	return FPT_UNFIT;
}

static bool
image_walk(FPTTupleWalk *w)
{
	return true;
}

/* Whatever a page of this base can have it tells. */
static FPTResult
image_tell(FPTPage pg, const FPTKey *key, int code)
{
	Assert(false);
	return FPT_FULL;
}

/* Slots count, times what one takes. */
static FPTResult
image_space(FPTPage pg, int n, FPTSpace *space)
{
	int			entry = fpt_slot_bytes(pg.g);

	space->used = n * entry;
	space->room = (int) pg.g->capacity * entry;
	return FPT_OK;
}

/* --- heads and tuples ---------------------------------------------------- */

/* Those of a dictionary take less, which only forming a page finds out. */
static bool
tuple_sure_fits(const FPTGeom *g, int n, bool mixed, int bytes)
{
	int			nodes = fpt_ceil_div(n, g->cap) + (mixed ? 1 : 0);

	return nodes <= g->maxnodes &&
		fpt_lower(g, nodes) + fpt_hint_bytes(g, nodes) + bytes <=
		FPT_SPECIAL_OFFSET;
}

/* Nodes for which there is room below "upper". */
static int
nodes_below(FPTPage pg, int upper)
{
	int			nodes = pg.g->maxnodes;

	while (nodes > 0 &&
		   fpt_lower(pg.g, nodes) + fpt_hint_bytes(pg.g, nodes) > upper)
		nodes--;
	return nodes;
}

/* What the entries' tuples will take is left out of the space of nodes. */
static int
tuple_nodes(FPTPage pg, const FPTEntry *entries, int n)
{
	int			upper = fpt_tuples_from(pg);

	for (int i = 0; i < n; i++)
	{
		const FPTEntry *e = &entries[i];
		FPTLocal	local;

		/* the first entry of an inner page has none */
		if (!fpt_is_leaf(pg.g) && i == 0)
			continue;

		/* (what does not begin with the page's prefix will be FPT_UNFIT) */
		(void) fpt_page_localize(pg, &e, &local);
		upper -= fpt_tuple_space(e->key.len);
	}
	return nodes_below(pg, upper);
}

/*
 * Heads go into the slots, tuples below those that are there, both relative to
 * the page's prefix.  FPT_UNFIT: a head cannot be told, or an entry does not
 * begin with the prefix.  FPT_FULL: a tuple has no room.  Some tuples may be in
 * the page then, that nothing refers to.
 */
static FPTResult
tuple_store(FPTPage pg, const FPTEntry *entries, int from, int n,
			FPTRelEntry *out)
{
	int			kid = fpt_header(pg.p)->nkids;

	for (int i = 0; i < n; i++)
	{
		const FPTEntry *e = &entries[from + i];
		const FPTKey *k;
		FPTLocal	local;
		int			off = 0;

		/*
		 * The first entry of an inner page may have nothing but a head.  That
		 * is the least one, where the low fence need not begin with the prefix.
		 */
		if (fpt_special(pg.p)->prefix != 0 && fpt_is_low_entry(pg.g, kid, i))
		{
			out[i].hi = out[i].lo = 0;
			out[i].off = 0;
			continue;
		}
		if (e->key.len > 0)
		{
			FPTResult	res = fpt_page_localize(pg, &e, &local);

			if (res != FPT_OK)
				return res;
		}
		k = &e->key;
		out[i].hi = out[i].lo = 0;
		if (k->cls == FPT_CLS_VALUE &&
			fpt_rel(pg, k, &out[i].hi, &out[i].lo) != 0)
			return FPT_UNFIT;
		if (k->len > 0 && !fpt_is_low_entry(pg.g, kid, i))
			off = fpt_tuple_put(pg, k);
		if (off < 0)
			return FPT_FULL;
		out[i].off = (uint16) off;
	}
	return FPT_OK;
}

/* Nodes that become hole count, free slots in nodes do not. */
static bool
tuple_rebuild_pays(FPTPage pg, int n)
{
	int			per = Max(1, pg.g->cap * FPT_REORG_FILL / 100);
	int			nodes = fpt_ceil_div(n, per) + 1;

	return (fpt_header(pg.p)->nnodes - nodes) * pg.g->x * FPT_LINE >=
		FPT_REORG_GAIN;
}

/* All tuples but the fences', and a dictionary. */
static FPTResult
tuple_clear(FPTPage pg, const char *copy)
{
	Assert(fpt_header(pg.p)->nkids == 0);
	fpt_header(pg.p)->ndict = 0;
	return fpt_tuples_gather(pg, copy);
}

/* Moving a few tuples into gaps logs less than moving all of them together. */
static FPTResult
tuple_reclaim(FPTPage pg, int step, FPTWork *work)
{
	switch (step)
	{
		case 0:
			return fpt_page_fill_gaps(pg, &work->u.map);
		case 1:
			return fpt_page_compact(pg, work);
		default:
			return FPT_UNFIT;
	}
}

/* Bytes count, of the space that nodes and tuples share. */
static FPTResult
tuple_space(FPTPage pg, int n, FPTSpace *space)
{
	int			tuples = fpt_tuple_bytes(pg);

	space->used = n * fpt_slot_bytes(pg.g) + tuples;
	space->room = FPT_SPECIAL_OFFSET - pg.g->node_off -
		fpt_hint_bytes(pg.g, fpt_header(pg.p)->nnodes);
	return tuples < 0 || space->used > space->room ? FPT_CORRUPT : FPT_OK;
}

/* --- numbers in a dictionary --------------------------------------------- */

/* The dictionary is there already: it has taken its space. */
static int
dict_nodes(FPTPage pg, const FPTEntry *entries, int n)
{
	return nodes_below(pg, fpt_header(pg.p)->std.pd_upper);
}

/*
 * Keys got their numbers in the order in which fpt_dict_build() met them.
 * FPT_OK, as they are the same entries: nodes are filled from the first one on,
 * slots in order.
 */
static FPTResult
dict_store(FPTPage pg, const FPTEntry *entries, int from, int n,
		   FPTRelEntry *out)
{
	FPTPageHeader *h = fpt_header(pg.p);
	int			code = 0;

	/* the last entry of the node before this one */
	if (from > 0)
	{
		char	   *node = fpt_kid_node(pg, h->nkids - 1);
		int			count = fpt_popcount(fpt_node_used(pg.g, node));

		code = fpt_slot_code(node, count - 1);
	}
	for (int i = 0; i < n; i++)
	{
		const FPTEntry *e = &entries[from + i];

		if (from + i > 0 && !fpt_key_alike(&e[-1].key, &e->key))
			code++;
		Assert(code < h->ndict);
		out[i].hi = 0;
		out[i].lo = (uint64) code;
		out[i].off = 0;
	}
	return FPT_OK;
}

/* A gap between tuples below the dictionary cannot be. */
static FPTResult
dict_reclaim(FPTPage pg, int step, FPTWork *work)
{
	return step == 0 ? fpt_page_compact(pg, work) : FPT_UNFIT;
}

/* --- numbers -------------------------------------------------------------- */

static FPTResult
number_space(FPTPage pg, int n, FPTSpace *space)
{
	FPTNumbers	numbers;

	if (!fpt_num_page(pg, &numbers))
		return FPT_CORRUPT;
	fpt_num_space(&numbers, space);
	return FPT_OK;
}

const FPTEncoding fpt_encodings[FPT_NCODINGS] = {
	[FPT_CODING_IMAGE] = {
		.sure_fits = image_sure_fits,
		.begin = image_begin,
		.nodes = image_nodes,
		.store = image_store,
		.rebuild_pays = image_rebuild_pays,
		.clear = image_clear,
		.reclaim = image_reclaim,
		.tell = image_tell,
		.walk = image_walk,
		.space = image_space,
	},
	[FPT_CODING_TUPLE] = {

		/* for wide tuples, that leave no room for ordinary nodes */
		.extra = FPT_ENC_WIDE,
		.fill = 100,
		.sure_fits = tuple_sure_fits,
		.begin = image_begin,
		.nodes = tuple_nodes,
		.store = tuple_store,
		.rebuild_pays = tuple_rebuild_pays,
		.clear = tuple_clear,
		.reclaim = tuple_reclaim,
		.tell = image_tell,
		.walk = fpt_tuple_walk_slots,
		.space = tuple_space,
	},
	[FPT_CODING_DICT] = {
		.few_keys = true,
		.extra = FPT_ENC_DICT,
		.pays = fpt_dict_pays,
		.frees = fpt_dict_frees,
		.room = fpt_dict_has_room,
		.closes = fpt_dict_closes,
		.sure_fits = tuple_sure_fits,
		.begin = fpt_dict_build,
		.nodes = dict_nodes,
		.store = dict_store,
		.rebuild_pays = tuple_rebuild_pays,
		.clear = tuple_clear,
		.reclaim = dict_reclaim,
		.tell = fpt_dict_add,
		.walk = fpt_dict_walk,
		.space = tuple_space,
	},
	[FPT_CODING_NUMBER] = {

		/* (all else of such pages is in files of their own) */
		.few_keys = true,
		.space = number_space,
	},
};
