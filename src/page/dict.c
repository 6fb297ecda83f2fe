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

bool
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
 * See page/dict.h.  Mostly heads alone tell: a tuple is read only of a key that
 * has the same one.  NULLs have no heads.
 */
int
fpt_dict_find(FPTPage pg, const FPTKey *key, bool *exact)
{
	const char *heads = fpt_dict_heads(pg.p);
	int			n = fpt_header(pg.p)->ndict;
	int			a;
	int			b;

	Assert(fpt_has_dict(pg.g));
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

	Assert(fpt_has_dict(pg.g));
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

	Assert(fpt_has_dict(pg.g));
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

	Assert(fpt_has_dict(w->pg.g));
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
