/*-------------------------------------------------------------------------
 *
 * page/dict.c
 *	  Page kernel: leaf pages of few distinct general keys.
 *
 * Such a page (FPT_ENC_DICT) has a dictionary: its distinct keys, heads and
 * tuples, in the index's order.  What its nodes store of an entry is the number
 * of its key in the dictionary, one byte, and the TID.  Numbers ascend as keys
 * do, so once a search key has been looked up in the dictionary, the page is
 * searched as one of image keys.
 *
 * Invariants: two keys of the dictionary are never equal for the operator
 * class, or entries would not be in the order of their TIDs; so values that are
 * equal but not alike are not in one such page.  All keys are of one class.  A
 * key may be in the dictionary though no entry has it any more.
 *
 * The dictionary's arrays begin at pd_upper: heads[ndict] of 8 bytes and
 * offsets[ndict] of 2 bytes, of the tuples that lie behind them (0 is the empty
 * tuple).  fpt_page_geom() has made sure that they lie within the page.
 *
 *-------------------------------------------------------------------------
 */
#include "page/dict.h"
#include "page/format.h"
#include "page/prefix.h"
#include "page/tuple.h"

/* Order of two keys whatever their TIDs.  May raise. */
static inline int
fpt_dict_cmp(const FPTLayout *l, const FPTKey *a, const FPTKey *b)
{
	FPTKey		k = *b;

	k.tid = a->tid;
	return fpt_key_cmp(l, a, &k);
}

/*
 * Are these of one class, and different for the operator class, whatever their
 * TIDs?  Then both may be in one dictionary.  May raise.
 */
static bool
fpt_keys_distinct(const FPTLayout *l, const FPTKey *a, const FPTKey *b)
{
	return a->cls == b->cls && fpt_dict_cmp(l, a, b) != 0;
}

/* The i'th head; they are not aligned. */
static inline uint64
fpt_dict_head(const char *heads, int i)
{
	uint64		head;

	memcpy(&head, heads + i * sizeof(uint64), sizeof(uint64));
	return head;
}

/*
 * The first of the heads a .. b - 1 that is not below "head"; b: none.  Of
 * heads that do not ascend, as in a damaged page, any of a .. b.
 */
static inline int
fpt_dict_head_bound(const char *heads, int a, int b, uint64 head)
{
	Assert(a >= 0 && a <= b && b <= FPT_MAX_DICT);
	while (a < b)
	{
		int			m = (a + b) / 2;

		if (fpt_dict_head(heads, m) < head)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

/*
 * The end of those that equal "head", which begin at a, if there are any.
 * Mostly a head is one key's: two are looked at before the rest is searched.
 */
static inline int
fpt_dict_head_end(const char *heads, int a, int n, uint64 head)
{
	Assert(a >= 0 && a <= n);
	for (int i = 0; i < 2; i++, a++)
	{
		if (a >= n || fpt_dict_head(heads, a) != head)
			return a;
	}
	return head == ~UINT64CONST(0) ? n :
		fpt_dict_head_bound(heads, a, n, head + 1);
}

/*
 * Number of the first key of the dictionary that is not below "key", as many as
 * it has keys if all are; *exact: it equals "key".  -1: corrupt.  May raise.
 *
 * Mostly heads alone tell: a tuple is read only of a key that has the same one.
 * NULLs have no heads.
 */
static int
fpt_dict_find(FPTPage pg, const FPTKey *key, bool *exact)
{
	const char *heads = fpt_dict_heads(pg.p);
	int			n = fpt_header(pg.p)->ndict;
	int			a;
	int			b;

	Assert(pg.g->iw != 0);
	for (b = 0; b < n * (int) sizeof(uint64); b += FPT_LINE)
		fpt_prefetch(heads + b);
	*exact = false;
	a = 0;
	b = n;
	if (key->cls == FPT_CLS_VALUE)
	{
		a = fpt_dict_head_bound(heads, 0, n, key->lo);
		b = fpt_dict_head_end(heads, a, n, key->lo);
	}
	while (a < b)
	{
		int			m = (a + b) / 2;
		FPTKey		k;
		int			r;

		if (!fpt_dict_key(pg.p, m, key->cls, &k))
			return -1;
		k.tid = key->tid;
		r = fpt_key_cmp(pg.l, key, &k);
		if (r == 0)
		{
			*exact = true;
			return m;
		}
		if (r > 0)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

/*
 * Look the key up: sets p's told, hi, lo and where, and *tid.  FPT_CORRUPT or
 * FPT_OK; may raise.
 */
static inline FPTResult
fpt_dict_tell(FPTPage pg, const FPTKey *key, FPTPlace *p, uint64 *tid)
{
	int			code = fpt_dict_find(pg, key, &p->told);

	if (code < 0)
		return FPT_CORRUPT;
	p->hi = 0;
	p->lo = (uint64) code;
	if (!p->told || (int64) *tid < 0)
		*tid = 0;
	p->where = code >= fpt_header(pg.p)->ndict ? 1 : 0;
	return FPT_OK;
}

/* See page/dict.h.  Of a page that has no entries of a class nobody asks. */
FPTResult
fpt_dict_place(FPTPage pg, const FPTKey *key, FPTPlace *p, uint64 *tid)
{
	if (p->from >= p->to)
	{
		p->hi = p->lo = 0;
		return FPT_OK;
	}
	return fpt_dict_tell(pg, key, p, tid);
}

/* See page/dict.h.  Mostly it has the same key as the range's beginning. */
bool
fpt_dict_end(FPTPage pg, const FPTPlace *p, const FPTKey *hi, FPTKey *end)
{
	FPTPlace	e = {.lo = p->lo, .told = p->told};
	FPTKey		k;

	Assert(pg.g->iw != 0 && fpt_place_has_node(p));
	*end = *hi;
	if (!p->told || !fpt_dict_key(pg.p, (int) p->lo, hi->cls, &k) ||
		fpt_keys_distinct(pg.l, hi, &k))
	{
		if (fpt_dict_tell(pg, hi, &e, &end->tid) != FPT_OK ||
			e.where > 0)
			return false;
	}
	end->lo = e.lo;
	return true;
}

/* See page/dict.h.  p is the entry's place, of a page that is as it was. */
FPTResult
fpt_dict_admits(FPTPage pg, const FPTEntry *e, const FPTPlace *p)
{
	FPTKey		k;

	if (p->from >= p->to ||
		!fpt_page_tells_tid(pg, e->key.tid))
		return FPT_UNFIT;
	if (!p->told)
		return FPT_FULL;
	if (!fpt_dict_key(pg.p, (int) p->lo, e->key.cls, &k) ||
		!fpt_key_alike(&k, &e->key))
		return FPT_UNFIT;
	return FPT_OK;
}

/*
 * See page/dict.h.  A tuple counts once for all entries in a row that share it.
 */
bool
fpt_dict_copy(char *page, const char *node, const uint8 *slots, int n,
			  FPTRun *run, int at, int *shared)
{
	uint64	   *los = run->los ? run->los + at : NULL;
	uint16	   *tupoffs = run->tupoffs ? run->tupoffs + at : NULL;
	uint16	   *tuplens = run->tupoffs ? run->tuplens + at : NULL;
	int			last = -1;
	uint64		head = 0;
	uint16		off = 0;
	uint16		len = 0;
	int			i;

	Assert(at >= 0 && n <= FPT_MAX_CAP);
	for (i = 0; i < n; i++)
	{
		int			code = fpt_slot_code(node, slots[i]);

		if (unlikely(code != last))
		{
			FPTKey		k;

			if (!fpt_dict_key(page, code, FPT_CLS_VALUE, &k))
				return false;
			head = k.lo;
			off = (uint16) (k.len > 0 ? k.tup - page : 0);
			len = (uint16) k.len;
			last = code;
			if (code != *shared)
				run->tupbytes += len;
			*shared = code;
		}
		if (los)
			los[i] = head;
		if (tupoffs)
		{
			tupoffs[i] = off;
			tuplens[i] = len;
		}
	}
	return run->tupbytes <= BLCKSZ;
}

/*
 * See page/dict.h.  Writes n * FPT_DICT_ITEM bytes from "upper" on; what it
 * leaves of older arrays, below or behind, is the caller's to zero or to use.
 */
void
fpt_dict_write(void *page, int upper, const void *heads, const uint16 *offs,
			   int n)
{
	FPTPageHeader *h = fpt_header(page);

	Assert(upper > 0 && upper + n * FPT_DICT_ITEM <= FPT_SPECIAL_OFFSET);
	Assert(n <= FPT_MAX_DICT);
	memcpy((char *) page + upper, heads, n * sizeof(uint64));
	memcpy((char *) page + upper + n * sizeof(uint64), offs,
		   n * sizeof(uint16));
	h->std.pd_upper = (uint16) upper;
	h->ndict = (uint8) n;
}

/* Rows a key, on average, that make a dictionary be considered. */
#define FPT_DICT_ROWS		2

/* Rows a key that make a page one of few distinct keys. */
#define FPT_DICT_ROWS_FEW	4

/* What a dictionary must save: one part of so many. */
#define FPT_DICT_SHARE		8

/*
 * See page/dict.h.  Compares bytes only; whether there can be a dictionary is
 * another question (fpt_dict_build).  Fences and the page's fixed lines are on
 * both sides, and left out.
 */
bool
fpt_dict_pays(const FPTGeom *g, const FPTGeom *d, const FPTEntry *entries,
			  int n)
{
	int			nodes = fpt_ceil_div(n, g->cap);
	int			dnodes;
	int			bytes = 0;
	int			dbytes = 0;
	int			ndict = 0;
	int			i;

	Assert(fpt_is_leaf(g) && fpt_is_leaf(d) && d->iw != 0);
	if (n < FPT_DICT_ROWS)
		return false;
	for (i = 0; i < n; i++)
	{
		int			space = fpt_tuple_space(entries[i].key.len) +
			(int) entries[i].key.cut;

		bytes += space;
		if (i > 0 && fpt_key_alike(&entries[i - 1].key, &entries[i].key))
			continue;
		if (++ndict > FPT_MAX_DICT || ndict * FPT_DICT_ROWS > n)
			return false;
		dbytes += space + FPT_DICT_ITEM;
	}
	dnodes = fpt_ceil_div(n, d->cap);
	bytes += nodes * g->x * FPT_LINE + fpt_hint_bytes(g, nodes);
	dbytes += dnodes * d->x * FPT_LINE + fpt_hint_bytes(d, dnodes);
	return dbytes * FPT_DICT_SHARE <= bytes * (FPT_DICT_SHARE - 1);
}

/*
 * Can all of these be in one dictionary?  *room: space besides nodes, in bytes,
 * of which their tuples and items are taken off; negative: there is not enough.
 * Compares each key with the one before it: may raise.
 */
static bool
fpt_dict_room(const FPTLayout *l, const FPTEntry *entries, int n, int *room)
{
	for (int i = 0; i < n; i++)
	{
		if (i > 0 && fpt_key_alike(&entries[i - 1].key, &entries[i].key))
			continue;
		if (i > 0 &&
			!fpt_keys_distinct(l, &entries[i - 1].key, &entries[i].key))
			return false;
		*room -= fpt_tuple_space(entries[i].key.len + entries[i].key.cut) +
			FPT_DICT_ITEM;
	}
	return true;
}

/* See page/dict.h.  Fences stay as they are. */
bool
fpt_dict_frees(FPTPage pg, const FPTGeom *d, const FPTEntry *entries, int n)
{
	int			nodes = fpt_ceil_div(n, Max(1, d->cap * FPT_REORG_FILL / 100));
	int			room = FPT_SPECIAL_OFFSET - FPT_REORG_GAIN -
		fpt_lower(d, Min(nodes, d->maxnodes)) - fpt_hint_bytes(d, nodes) -
		fpt_tuple_space(fpt_page_low(pg.l, pg.p).len) -
		fpt_tuple_space(fpt_page_high(pg.l, pg.p).len);

	Assert(d->iw != 0);
	return nodes <= d->maxnodes && fpt_dict_room(pg.l, entries, n, &room) &&
		room >= 0;
}

/*
 * Can a page's entries and another one have a dictionary?  Neighbours must be
 * alike to the byte, or distinct to the comparison function too: what is equal
 * but not alike cannot share an item.  Compares each pair once (seen): may
 * raise what comparison functions raise.
 */
static bool
fpt_dict_suits(FPTGrowing *page, const FPTKey *key)
{
	Assert(page->seen <= page->n);
	while (page->seen >= 0 && page->seen < page->n)
	{
		const FPTEntry *e = &page->entries[page->seen];
		const FPTKey *a = &e->key;
		const FPTKey *b = page->seen + 1 < page->n ? &e[1].key : key;

		if (fpt_key_alike(a, b) || fpt_keys_distinct(page->l, a, b))
			page->seen++;
		else
			page->seen = -1;
	}
	return page->seen >= 0;
}

/*
 * See page/dict.h.  A page with many rows a key is filled as those of few
 * distinct image keys are.
 *
 * An entry whose key repeats leaves no tuple's space behind when it goes to the
 * next page (fpt_level_spill() in load/load.c), so the high fence that it then
 * becomes must have room besides.
 */
bool
fpt_dict_has_room(FPTGrowing *page, const FPTGeom *d, const FPTKey *key,
				  int low)
{
	bool		repeats = page->n > 0 &&
		fpt_key_alike(&page->entries[page->n - 1].key, key);
	int			n = page->n + 1;
	int			nkeys = page->nkeys + (repeats ? 0 : 1);
	int			bytes = low + page->keybytes + nkeys * FPT_DICT_ITEM;
	int			fill;

	Assert(fpt_is_leaf(d) && d->iw != 0);
	Assert(page->nkeys <= page->n && page->keybytes >= 0);
	if (nkeys > FPT_MAX_DICT || n < FPT_DICT_ROWS * nkeys)
		return false;
	if (!repeats)
		bytes += fpt_tuple_space(key->len);
	fill = n >= FPT_DICT_ROWS_FEW * nkeys ? page->fewfill : page->fill;
	return fpt_space_fits(d, n, 0, bytes, fill) &&
		fpt_space_fits(d, n, 0, bytes + fpt_tuple_space(key->len), 100) &&
		fpt_dict_suits(page, key);
}

/* See page/dict.h. */
bool
fpt_dict_closes(const FPTGrowing *page, const FPTGeom *d, int fences)
{
	return page->seen >= page->n - 1 && page->nkeys <= FPT_MAX_DICT &&
		fpt_space_fits(d, page->n, 0, fences + page->keybytes +
					   page->nkeys * FPT_DICT_ITEM, 100);
}

/*
 * See page/dict.h.  Tuples go below those that are there, the fences', and the
 * arrays below all of them at the end, when it is known how many keys there
 * are.  Neighbours are compared; entries are sorted, so that is all.
 */
FPTResult
fpt_dict_build(FPTPage pg, const FPTEntry *entries, int n)
{
	uint64		heads[FPT_MAX_DICT];
	uint16		offs[FPT_MAX_DICT];
	int			m = 0;
	int			i;

	Assert(fpt_header(pg.p)->ndict == 0);
	for (i = 0; i < n; i++)
	{
		const FPTEntry *e = &entries[i];
		FPTLocal	local;
		int			off = 0;

		if (i > 0 && fpt_key_alike(&e[-1].key, &e->key))
			continue;
		if (i > 0 && !fpt_keys_distinct(pg.l, &e[-1].key, &e->key))
			return FPT_UNFIT;
		if (m >= FPT_MAX_DICT)
			return FPT_FULL;

		/* whole, though it comes from a page with a prefix */
		if (fpt_page_localize(pg, &e, &local) != FPT_OK)
			return FPT_UNFIT;
		if (e->key.len > 0)
			off = fpt_tuple_put(pg, &e->key);
		if (off < 0)
			return FPT_FULL;
		heads[m] = e->key.lo;
		offs[m++] = (uint16) off;
	}
	if (fpt_tuple_room(pg) < m * FPT_DICT_ITEM)
		return FPT_FULL;
	fpt_dict_write(pg.p, fpt_header(pg.p)->std.pd_upper - m * FPT_DICT_ITEM,
				   heads, offs, m);
	return FPT_OK;
}

/*
 * Give all keys of nodes and separators of the root other numbers: "map" has
 * one for each of 256.  FPT_CORRUPT: the root names an impossible node, and it
 * has stopped half-way.  Nodes begin with their keys here, one byte each, and
 * separators are of one byte, too.
 */
static FPTResult
fpt_dict_renumber(FPTPage pg, const uint8 *map)
{
	FPTPageHeader *h = fpt_header(pg.p);
	uint8	   *seps = (uint8 *) pg.p + FPT_LINE;
	int			kid;

	for (kid = 0; kid < h->nkids; kid++)
	{
		char	   *node = fpt_kid_node(pg, kid);
		uint8	   *keys = (uint8 *) node;
		uint64		used;

		if (node == NULL)
			return FPT_CORRUPT;
		for (used = fpt_node_used(pg.g, node); used != 0; used &= used - 1)
			keys[fpt_ctz(used)] = map[keys[fpt_ctz(used)]];
		seps[kid] = map[seps[kid]];
	}
	return FPT_OK;
}

/*
 * See page/dict.h.  All numbers from "code" on are one more afterwards, those
 * of separators, too.  The tuple is put first, as fpt_tuple_put() moves the
 * arrays down; these are then copied out, and written anew an item lower.
 */
FPTResult
fpt_dict_add(FPTPage pg, const FPTKey *key, int code)
{
	FPTPageHeader *h = fpt_header(pg.p);
	int			n = h->ndict;
	uint64		heads[FPT_MAX_DICT];
	uint16		offs[FPT_MAX_DICT];
	uint8		map[256];
	int			off = 0;
	int			i;

	Assert(code >= 0 && code <= n);
	if (n >= FPT_MAX_DICT ||
		fpt_tuple_room(pg) < fpt_tuple_space(key->len) + FPT_DICT_ITEM ||
		(key->len > 0 && (off = fpt_tuple_put(pg, key)) < 0))
		return FPT_FULL;
	memcpy(heads, fpt_dict_heads(pg.p), n * sizeof(uint64));
	memcpy(offs, fpt_dict_offs(pg.p), n * sizeof(uint16));
	memmove(heads + code + 1, heads + code, (n - code) * sizeof(uint64));
	memmove(offs + code + 1, offs + code, (n - code) * sizeof(uint16));
	heads[code] = key->lo;
	offs[code] = (uint16) off;
	fpt_dict_write(pg.p, h->std.pd_upper - FPT_DICT_ITEM, heads, offs, n + 1);
	for (i = 0; i < 256; i++)
		map[i] = (uint8) Min(i < code ? i : i + 1, 255);
	return fpt_dict_renumber(pg, map);
}

/* See page/dict.h.  Only slots in use count: free ones keep their numbers. */
FPTResult
fpt_dict_used(FPTPage pg, bool *used)
{
	FPTPageHeader *h = fpt_header(pg.p);
	int			kid;

	Assert(pg.g->iw != 0);
	memset(used, 0, FPT_MAX_DICT * sizeof(bool));
	for (kid = 0; kid < h->nkids; kid++)
	{
		char	   *node = fpt_kid_node(pg, kid);
		uint64		bits;

		if (node == NULL)
			return FPT_CORRUPT;
		for (bits = fpt_node_used(pg.g, node); bits != 0; bits &= bits - 1)
		{
			int			code = fpt_slot_code(node, fpt_ctz(bits));

			if (code >= h->ndict)
				return FPT_CORRUPT;
			used[code] = true;
		}
	}
	return FPT_OK;
}

/*
 * See page/dict.h.  The arrays get shorter at their end: each key that is kept
 * moves to a lower number, or keeps its own.
 */
FPTResult
fpt_dict_purge(FPTPage pg, const bool *used)
{
	FPTPageHeader *h = fpt_header(pg.p);
	int			n = h->ndict;
	uint64		heads[FPT_MAX_DICT];
	uint16		offs[FPT_MAX_DICT];
	uint8		map[256] = {0};
	int			m = 0;
	int			i;

	Assert(pg.g->iw != 0);
	memcpy(heads, fpt_dict_heads(pg.p), n * sizeof(uint64));
	memcpy(offs, fpt_dict_offs(pg.p), n * sizeof(uint16));
	for (i = 0; i < 256; i++)
	{
		/* a separator without entries goes on to the next key */
		map[i] = (uint8) m;
		if (i < n && used[i])
		{
			heads[m] = heads[i];
			offs[m++] = offs[i];
		}
	}
	Assert(m <= n);
	fpt_dict_write(pg.p, h->std.pd_upper, heads, offs, m);
	return fpt_dict_renumber(pg, map);
}

/*
 * See page/dict.h.  Nodes refer to no tuples here, so they are looked at for
 * the numbers in use only.  Where tuples are moved, their new offsets are in
 * w->offs, for the caller to write: the arrays themselves are about to move.
 */
bool
fpt_dict_walk(FPTTupleWalk *w)
{
	bool		used[FPT_MAX_DICT];
	int			code;

	Assert(w->pg.g->iw != 0);
	if (fpt_dict_used(w->pg, used) != FPT_OK)
		return false;
	for (code = 0; code < fpt_header(w->pg.p)->ndict; code++)
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
