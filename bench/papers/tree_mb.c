/*-------------------------------------------------------------------------
 *
 * tree_mb.c
 *	  Modularized B+-trees of three levels, after Sasaki and Araki: one large
 *	  root for all, middle nodes in order, leaves without order.
 *
 * Middle nodes and leaves have 512 bytes.  The root is two arrays, as large as
 * need be, in which an insertion moves what is on its right: that is rare, as it
 * happens when a middle node is split only.  A leaf's new entry goes after the
 * others.  If it is known that keys do not repeat, nothing is searched in the
 * leaf before ("unique").
 *
 * Memory of the root and the middle nodes is an arena of its own, so that large
 * pages can be had for it alone.
 *
 *-------------------------------------------------------------------------
 */
#include "find.h"

typedef struct MbShape
{
	Finder		root;			/* search of the root */
	bool		prefetch_middle;
	bool		prefetch_leaf;
	bool		unique;
	bool		small_leaves;	/* leaves in pages that are never large */
} MbShape;

typedef struct MbTree
{
	MbShape		shape;
	Arena		middle;
	Arena		leaf;
	Key		   *keys;			/* of the root: lowest below each middle node */
	uint32_t   *kids;
	int			n;
	int			max;
	uint32_t	first_leaf;
	long		splits;
} MbTree;

typedef struct MbCursor
{
	char	   *leaf;			/* NULL: no more entries */
	int32_t		at;				/* in the order of its keys */
} MbCursor;

#define NODE		512

/* --- layout ------------------------------------------------------------- */

enum
{
	KIDS_MAX = NODE / (KEYSIZE + 4),
	ENTRIES = (NODE - KEYSIZE - 4) / (KEYSIZE + 4)
};

#define COUNT(p)		(*(uint32_t *) (p))
#define KEYS(p)			((Key *) ((p) + KEYSIZE))
#define KIDS(p)			((uint32_t *) ((p) + KEYSIZE * KIDS_MAX))
#define TIDS(p)			((Tid *) ((p) + KEYSIZE * (1 + ENTRIES)))
#define LINK(p)			(*(uint32_t *) ((p) + NODE - 4))

INLINE char *
middle_at(const MbTree *t, uint32_t no)
{
	return arena_at(&t->middle, no, NODE);
}

INLINE char *
leaf_at(const MbTree *t, uint32_t no)
{
	return arena_at(&t->leaf, no, NODE);
}

/* --- bulk load ---------------------------------------------------------- */

/* The root's arrays grow by half, so that growing costs little. */
static void
root_reserve(MbTree *t, int n)
{
	Key		   *keys;
	uint32_t   *kids;

	if (n <= t->max)
		return;
	t->max = LAB_MAX(n, t->max + t->max / 2 + 64);
	keys = lab_alloc(sizeof(Key) * (size_t) t->max);
	kids = lab_alloc(sizeof(uint32_t) * (size_t) t->max);
	if (t->n > 0)
	{
		memcpy(keys, t->keys, sizeof(Key) * (size_t) t->n);
		memcpy(kids, t->kids, sizeof(uint32_t) * (size_t) t->n);
	}
	free(t->keys);
	free(t->kids);
	t->keys = keys;
	t->kids = kids;
}

static uint32_t
load_leaf(MbTree *t, const Load *load, long at, int n)
{
	uint32_t	no = arena_new(&t->leaf);
	char	   *p = leaf_at(t, no);

	COUNT(p) = (uint32_t) n;
	memcpy(KEYS(p), load->keys + at, sizeof(Key) * (size_t) n);
	memcpy(TIDS(p), load->tids + at, sizeof(Tid) * (size_t) n);
	LINK(p) = 0;
	/* as insertions would leave it: in no order */
	for (int i = n - 1; i > 0; i--)
	{
		int			j = (int) (hash64((uint64_t) at + (uint64_t) i) %
							   (uint64_t) (i + 1));
		Key			key = KEYS(p)[i];
		Tid			tid = TIDS(p)[i];

		KEYS(p)[i] = KEYS(p)[j];
		TIDS(p)[i] = TIDS(p)[j];
		KEYS(p)[j] = key;
		TIDS(p)[j] = tid;
	}
	return no;
}

static void *
mb_build(const Load *load, MbShape shape)
{
	MbTree	   *t = lab_alloc(sizeof(MbTree));
	int			entries = LAB_MAX(1, ENTRIES * load->fill / 100);
	int			kids = LAB_MAX(2, KIDS_MAX * load->fill / 100);
	long		leaves = load->expect / entries * 5 / 4 + 2;
	int			memory = lab.memory;
	char	   *prev = NULL;
	char	   *p = NULL;
	long		i = 0;

	t->shape = shape;
	arena_init(&t->middle, NODE, (uint64_t) (leaves / kids * 5 / 4 + 2));
	if (shape.small_leaves)
		lab.memory = 0;
	arena_init(&t->leaf, NODE, (uint64_t) leaves);
	lab.memory = memory;
	do
	{
		int			n = (int) LAB_MIN(entries, load->n - i);
		uint32_t	no = load_leaf(t, load, i, n);
		/* keys that come before all others sort after the root's first */
		Key			low = prev != NULL ? load->keys[i] : 0;

		if (prev != NULL)
			LINK(prev) = no;
		else
			t->first_leaf = no;
		prev = leaf_at(t, no);
		if (p == NULL || (int) COUNT(p) + 1 == kids)
		{
			root_reserve(t, t->n + 1);
			t->keys[t->n] = low;
			t->kids[t->n] = arena_new(&t->middle);
			p = middle_at(t, t->kids[t->n++]);
			COUNT(p) = 0;
			KIDS(p)[0] = no;
		}
		else
		{
			KEYS(p)[COUNT(p)++] = low;
			KIDS(p)[COUNT(p)] = no;
		}
		i += n;
	} while (i < load->n);
	return t;
}

static void
mb_destroy(void *tree)
{
	MbTree	   *t = tree;

	arena_destroy(&t->middle);
	arena_destroy(&t->leaf);
	free(t->keys);
	free(t->kids);
	free(t);
}

/* --- search ------------------------------------------------------------- */

/* A leaf, and the way to it. */
typedef struct MbPlace
{
	int			root;
	char	   *middle;
	int			kid;
	uint32_t	no;
	char	   *leaf;
} MbPlace;

INLINE void
mb_descend(const MbTree *t, Key key, const MbShape s, MbPlace *place,
		   Path *path)
{
	int			at = find_le(t->keys, t->n, key, s.root) - 1;

	place->root = LAB_MAX(at, 0);
	path_add(path, t->keys, sizeof(Key) * (size_t) t->n);
	path_add(path, t->kids + place->root, sizeof(uint32_t));
	place->middle = middle_at(t, t->kids[place->root]);
	path_add(path, place->middle, NODE);
	if (s.prefetch_middle)
		prefetch_lines(place->middle, NODE);
	place->kid = find_simd(KEYS(place->middle), (int) COUNT(place->middle), key);
	place->no = KIDS(place->middle)[place->kid];
	place->leaf = leaf_at(t, place->no);
	path_add(path, place->leaf, NODE);
	if (s.prefetch_leaf)
		prefetch_lines(place->leaf, NODE);
}

INLINE Tid
mb_find(const MbTree *t, Key key, const MbShape s, Path *path)
{
	MbPlace		place;
	int			at;

	mb_descend(t, key, s, &place, path);
	at = find_equal(KEYS(place.leaf), (int) COUNT(place.leaf), key);
	return at >= 0 ? TIDS(place.leaf)[at] : 0;
}

/* --- scan --------------------------------------------------------------- */

typedef struct MbEntry
{
	Key			key;
	Tid			tid;
} MbEntry;

static int
entry_cmp(const void *a, const void *b)
{
	Key			x = ((const MbEntry *) a)->key;
	Key			y = ((const MbEntry *) b)->key;

	return (x > y) - (x < y);
}

/* A leaf's entries in order; their number. */
static int
leaf_sort(const char *leaf, MbEntry *e)
{
	int			n = (int) COUNT(leaf);

	for (int i = 0; i < n; i++)
	{
		e[i].key = KEYS(leaf)[i];
		e[i].tid = TIDS(leaf)[i];
	}
	qsort(e, (size_t) n, sizeof(*e), entry_cmp);
	return n;
}

static void
mb_open_scan(const MbTree *t, Key from, MbCursor *c)
{
	MbPlace		place;

	mb_descend(t, from, t->shape, &place, NULL);
	c->leaf = place.leaf;
	c->at = 0;
	for (uint32_t i = 0; i < COUNT(c->leaf); i++)
		c->at += KEYS(c->leaf)[i] < from;
}

static long
mb_scan_on(const MbTree *t, MbCursor *c, long n, Tid *out)
{
	long		got = 0;

	while (c->leaf != NULL)
	{
		MbEntry		e[ENTRIES];
		int			count;

		if (LINK(c->leaf) != 0)
			prefetch_lines(leaf_at(t, LINK(c->leaf)), NODE);
		count = leaf_sort(c->leaf, e);
		while (c->at < count && got < n)
			out[got++] = e[c->at++].tid;
		if (got == n)
			break;
		c->leaf = LINK(c->leaf) != 0 ? leaf_at(t, LINK(c->leaf)) : NULL;
		c->at = 0;
	}
	return got;
}

/* --- changes ------------------------------------------------------------ */

/* A middle node on the right of a full one takes half of its children. */
static char *
middle_split(MbTree *t, MbPlace *place)
{
	char	   *p = place->middle;
	uint32_t	no = arena_new(&t->middle);
	char	   *q = middle_at(t, no);
	int			half = ((int) COUNT(p) + 1) / 2;
	int			rest = (int) COUNT(p) + 1 - half;
	int			at = place->root + 1;
	size_t		tail = (size_t) (t->n - at);

	root_reserve(t, t->n + 1);
	memmove(t->keys + at + 1, t->keys + at, tail * sizeof(Key));
	memmove(t->kids + at + 1, t->kids + at, tail * sizeof(uint32_t));
	t->keys[at] = KEYS(p)[half - 1];
	t->kids[at] = no;
	t->n++;
	COUNT(q) = (uint32_t) rest - 1;
	memcpy(KEYS(q), KEYS(p) + half, sizeof(Key) * (size_t) (rest - 1));
	memcpy(KIDS(q), KIDS(p) + half, sizeof(uint32_t) * (size_t) rest);
	COUNT(p) = (uint32_t) half - 1;
	if (place->kid < half)
		return p;
	place->kid -= half;
	return q;
}

static void
leaf_append(char *p, Key key, Tid tid)
{
	KEYS(p)[COUNT(p)] = key;
	TIDS(p)[COUNT(p)] = tid;
	COUNT(p)++;
}

/* Divide a full leaf at its median; the entry goes into one of the two. */
NOINLINE void
leaf_split(MbTree *t, MbPlace *place, Key key, Tid tid)
{
	MbEntry		e[ENTRIES];
	uint32_t	no = arena_new(&t->leaf);
	char	   *p = place->leaf;
	char	   *q = leaf_at(t, no);
	int			n = leaf_sort(p, e);
	int			half = n / 2;
	char	   *above = place->middle;
	size_t		tail;

	COUNT(p) = COUNT(q) = 0;
	for (int i = 0; i < n; i++)
		leaf_append(i < half ? p : q, e[i].key, e[i].tid);
	LINK(q) = LINK(p);
	LINK(p) = no;
	leaf_append(key < e[half].key ? p : q, key, tid);
	t->splits++;
	if ((int) COUNT(above) + 1 == KIDS_MAX)
		above = middle_split(t, place);
	tail = COUNT(above) - (size_t) place->kid;
	memmove(KEYS(above) + place->kid + 1, KEYS(above) + place->kid,
			tail * sizeof(Key));
	memmove(KIDS(above) + place->kid + 2, KIDS(above) + place->kid + 1,
			tail * sizeof(uint32_t));
	KEYS(above)[place->kid] = e[half].key;
	KIDS(above)[place->kid + 1] = no;
	COUNT(above)++;
}

/* "unique": the caller knows that the key is not there. */
INLINE bool
mb_put(MbTree *t, Key key, Tid tid, const MbShape s)
{
	MbPlace		place;

	mb_descend(t, key, s, &place, NULL);
	if (!s.unique &&
		find_equal(KEYS(place.leaf), (int) COUNT(place.leaf), key) >= 0)
		return false;
	if (COUNT(place.leaf) == ENTRIES)
		leaf_split(t, &place, key, tid);
	else
		leaf_append(place.leaf, key, tid);
	return true;
}

INLINE bool
mb_take(MbTree *t, Key key, const MbShape s)
{
	MbPlace		place;
	int			at;
	char	   *p;

	mb_descend(t, key, s, &place, NULL);
	p = place.leaf;
	at = find_equal(KEYS(p), (int) COUNT(p), key);
	if (at < 0)
		return false;
	COUNT(p)--;
	KEYS(p)[at] = KEYS(p)[COUNT(p)];
	TIDS(p)[at] = TIDS(p)[COUNT(p)];
	return true;
}

/* --- statistics, check -------------------------------------------------- */

static void
mb_stats(const void *tree, Stats *s)
{
	const MbTree *t = tree;

	memset(s, 0, sizeof(*s));
	s->levels = 3;
	s->nodes = (long) t->middle.live + t->leaf.live + 1;
	s->leaves = t->leaf.live;
	s->bytes = ((size_t) t->middle.live + t->leaf.live) * NODE;
	s->extra = (size_t) t->n * (sizeof(Key) + sizeof(uint32_t));
	s->splits = t->splits;
	s->leaf_entries = ENTRIES;
}

static const char *
mb_check(const void *tree)
{
	const MbTree *t = tree;
	uint32_t	next = t->first_leaf;
	long		leaves = 0;

	for (int i = 0; i < t->n; i++)
	{
		char	   *p = middle_at(t, t->kids[i]);

		if (i > 0 && t->keys[i] <= t->keys[i - 1])
			return "the root's keys are not in order";
		for (int j = 0; j <= (int) COUNT(p); j++, leaves++)
		{
			char	   *leaf = leaf_at(t, KIDS(p)[j]);
			Key			low = j > 0 ? KEYS(p)[j - 1] : t->keys[i];
			bool		last = i + 1 == t->n && j == (int) COUNT(p);
			Key			high = j < (int) COUNT(p) ? KEYS(p)[j] :
				last ? 0 : t->keys[i + 1];

			if (KIDS(p)[j] != next)
				return "leaves are linked in another order";
			next = LINK(leaf);
			for (uint32_t k = 0; k < COUNT(leaf); k++)
			{
				if (KEYS(leaf)[k] < low ||
					(!last && KEYS(leaf)[k] >= high))
					return "a leaf has another one's key";
			}
		}
	}
	return next != 0 || leaves != t->leaf.live ? "leaves are lost" : NULL;
}

/* --- the trees ---------------------------------------------------------- */

/* same: insert() does not look for the key */
#define MB_TREE(id, text, form, same, ...) \
static const MbShape id##_shape = __VA_ARGS__; \
static void *id##_build(const Load *l) { return mb_build(l, id##_shape); } \
static Tid id##_search(const void *t, Key k) \
{ return mb_find(t, k, id##_shape, NULL); } \
static void id##_visit(const void *t, Key k, Path *path) \
{ mb_find(t, k, id##_shape, path); } \
static void id##_open(void *t, Key k, Cursor *c) \
{ mb_open_scan(t, k, CURSOR(MbCursor, c)); } \
static long id##_next(void *t, Cursor *c, long n, Tid *out) \
{ return mb_scan_on(t, CURSOR(MbCursor, c), n, out); } \
static bool id##_insert(void *t, Key k, Tid tid) \
{ return mb_put(t, k, tid, id##_shape); } \
static bool id##_delete(void *t, Key k) \
{ return mb_take(t, k, id##_shape); } \
const TreeKind id = { \
	.name = #id, .label = text, .shape = form, .repeats = same, \
	.build = id##_build, .destroy = mb_destroy, .search = id##_search, \
	.visit = id##_visit, .open = id##_open, .next = id##_next, \
	.insert = id##_insert, .delete = id##_delete, .stats = mb_stats, \
	.check = mb_check \
};

MB_TREE(mbplus, "MB+", "mb", false, {FIND_INTERPOLATE, true, true, false, false})
MB_TREE(mbbin, "MB+, binary search of the root", "mb", false,
		{FIND_BINARY, true, true, false, false})
MB_TREE(mbless, "MB+, branchless search of the root", "mb", false,
		{FIND_BRANCHLESS, true, true, false, false})
MB_TREE(mbmid, "MB+, only middle nodes prefetched", "mb", false,
		{FIND_INTERPOLATE, true, false, false, false})
MB_TREE(mbnone, "MB+, nothing prefetched", "mb", false,
		{FIND_INTERPOLATE, false, false, false, false})
MB_TREE(mbuniq, "MB+, keys known to be unique", "mb unique", true,
		{FIND_INTERPOLATE, true, true, true, false})
MB_TREE(mbsmall, "MB+, leaves in small pages", "mb small", false,
		{FIND_INTERPOLATE, true, true, false, true})
