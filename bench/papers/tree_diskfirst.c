/*-------------------------------------------------------------------------
 *
 * tree_diskfirst.c
 *	  The disk-first fpB+-tree, as in the paper: in each page a small tree of
 *	  nodes that are some lines wide.
 *
 * The nodes' widths are goal G's (the paper's Table 2), which makes in-page
 * trees of two levels for all page sizes: one nonleaf node of NONLEAF bytes, with
 * keys and 2-byte places of leaf nodes of LEAF bytes.  Keys and values are in
 * arrays of their own.  The nonleaf node is the list of leaf nodes in order, so
 * it serves as the page's jump-pointer array, too.
 *
 * An insertion into a full node splits it if the page has an unused one; else,
 * if the page is far from full, all entries are distributed anew; else the page
 * is split by halves of its leaf nodes, and both trees are made anew.  Leaf
 * pages are loaded with entries in all nodes, others with full nodes.
 *
 *-------------------------------------------------------------------------
 */
#include "find.h"

typedef struct PageHow
{
	Finder		finder;
} PageHow;

#define PAGE_HALVES
#include "pagetree.h"

typedef struct PageHeader
{
	uint32_t	count;			/* entries */
	uint32_t	next;
	uint16_t	used;			/* leaf nodes; the first ones in the page */
	char		unused[LINE - 10];
} PageHeader;

#define HEADER(page)	((PageHeader *) (page))

/* --- layout ------------------------------------------------------------- */

/*
 * Keys of 4 bytes: the paper's Table 2, which has leaf nodes of 512 bytes in
 * pages of 16 kB.  Of 8 bytes: goal G (exp_pages.py).
 */
#if PAGESIZE <= 4096
#define NONLEAF		(KEYSIZE == 4 ? 64 : 128)
#define LEAF		(KEYSIZE == 4 ? 384 : 320)
#elif PAGESIZE == 8192
#define NONLEAF		192
#define LEAF		(KEYSIZE == 4 ? 256 : 512)
#elif PAGESIZE == 16384
#define NONLEAF		192
#define LEAF		(KEYSIZE == 4 ? 512 : 896)
#else
#define NONLEAF		(KEYSIZE == 4 ? 256 : 384)
#define LEAF		(KEYSIZE == 4 ? 832 : 896)
#endif

/* A node's count takes as much as a key, or 4 bytes. */
enum
{
	FANOUT = (NONLEAF - KEYSIZE) / (KEYSIZE + 2),
	NODE_ENTRIES = (LEAF - 8) / (KEYSIZE + 4),
	ROOM = (PAGESIZE - LINE - NONLEAF) / LEAF,
	NODES = ROOM < FANOUT ? ROOM : FANOUT,
	ENTRIES = NODES * NODE_ENTRIES
};

#define COUNT(node)		(*(uint16_t *) (node))
#define ROOT(page)		((char *) (page) + LINE)
#define ROOT_KEYS(page)	((Key *) (ROOT(page) + KEYSIZE))
#define ROOT_PLACES(page) \
	((uint16_t *) (ROOT(page) + KEYSIZE * (1 + FANOUT)))
#define NODE_PAIRS(node) \
	((Pairs) {(Key *) ((node) + 8), \
		(uint32_t *) ((node) + 8 + KEYSIZE * NODE_ENTRIES)})
#define NODE_KEYS(node)	(NODE_PAIRS(node).keys)

INLINE int
page_capacity(int level, const PageHow how)
{
	return ENTRIES;
}

INLINE uint32_t *
page_link(char *page, int level, const PageHow how)
{
	return &HEADER(page)->next;
}

/* The i'th leaf node in the order of keys; places count lines. */
INLINE char *
node_at(const char *page, int i)
{
	return (char *) page + ROOT_PLACES(page)[i] * LINE;
}

/* --- search ------------------------------------------------------------- */

typedef struct Place
{
	char	   *node;			/* the leaf node of a key */
	int			nth;			/* it is this one */
	int			at;				/* keys there that are not above it */
	bool		there;			/* the last of these is the key */
} Place;

INLINE Place
page_find(const char *page, Key key, const PageHow how, Path *path)
{
	Place		p;

	path_add(path, ROOT(page), NONLEAF);
	prefetch_lines(ROOT(page), NONLEAF);
	/* the first node may have got keys that are below its own */
	p.nth = find_le(ROOT_KEYS(page) + 1, COUNT(ROOT(page)) - 1, key,
					how.finder);
	p.node = node_at(page, p.nth);
	path_add(path, p.node, LEAF);
	prefetch_lines(p.node, LEAF);
	p.at = find_le(NODE_KEYS(p.node), COUNT(p.node), key, how.finder);
	p.there = p.at > 0 && NODE_KEYS(p.node)[p.at - 1] == key;
	return p;
}

INLINE uint32_t
page_child(char *page, Key key, int *entry, const PageHow how, Path *path)
{
	Place		p = page_find(page, key, how, path);

	return NODE_PAIRS(p.node).values[LAB_MAX(p.at - 1, 0)];
}

INLINE Tid
page_lookup(Tree *t, char *page, Key key, const PageHow how, Path *path)
{
	Place		p = page_find(page, key, how, path);

	return p.there ? NODE_PAIRS(p.node).values[p.at - 1] : 0;
}

/* --- scan --------------------------------------------------------------- */

/* A position: number of the node in order, and of the entry in it. */
INLINE void
page_open(Tree *t, PageCursor *c, Key key, const PageHow how)
{
	Place		p = page_find(c->page, key, how, NULL);
	int			nodes = COUNT(ROOT(c->page));

	for (int i = p.nth + 1; i < nodes && i < p.nth + lab.distance; i++)
		prefetch_lines(node_at(c->page, i), LEAF);
	c->position = (uint64_t) p.nth << 16 | (uint64_t) (p.at - p.there);
}

/* At a page's beginning its first nodes are asked for, then one for each. */
INLINE long
page_copy(PageCursor *c, long n, Tid *out, const PageHow how)
{
	int			nodes = COUNT(ROOT(c->page));
	long		got = 0;

	if (c->position == 0)
	{
		for (int i = 0; i < nodes && i < lab.distance; i++)
			prefetch_lines(node_at(c->page, i), LEAF);
	}
	for (int nth = (int) (c->position >> 16); nth < nodes; nth++)
	{
		const char *node = node_at(c->page, nth);
		int			at = (int) (c->position & 0xFFFF);
		int			take = (int) LAB_MIN(n - got, COUNT(node) - at);

		if (nth + lab.distance < nodes)
			prefetch_lines(node_at(c->page, nth + lab.distance), LEAF);
		memcpy(out + got, NODE_PAIRS(node).values + at,
			   sizeof(Tid) * (size_t) take);
		got += take;
		c->position = (uint64_t) nth << 16 | (uint64_t) (at + take);
		if (got == n)
			break;
		c->position = (uint64_t) (nth + 1) << 16;
	}
	return got;
}

/* The next page's nonleaf node. */
INLINE void
page_ahead(Tree *t, PageCursor *c, const PageStep *steps, const PageHow how)
{
	if (HEADER(c->page)->next != 0)
		prefetch_lines(page_at(t, HEADER(c->page)->next, how), LINE + NONLEAF);
}

/* --- forming ------------------------------------------------------------ */

/* Put n entries into the first "nodes" leaf nodes, as evenly as can be. */
static void
page_spread(char *page, Pairs entries, int n, int nodes)
{
	int			i = 0;

	HEADER(page)->count = (uint32_t) n;
	HEADER(page)->used = (uint16_t) nodes;
	COUNT(ROOT(page)) = (uint16_t) nodes;
	for (int j = 0; j < nodes; j++)
	{
		int			end = (int) ((long) n * (j + 1) / nodes);
		char	   *node = page + LINE + NONLEAF + j * LEAF;

		ROOT_PLACES(page)[j] = (uint16_t) ((node - page) / LINE);
		ROOT_KEYS(page)[j] = entries.keys[i];
		COUNT(node) = (uint16_t) (end - i);
		pairs_copy(NODE_PAIRS(node), pairs_from(entries, i), end - i);
		i = end;
	}
}

/* Leaf nodes for n entries: all of a leaf page's, if each gets an entry. */
static void
page_fill(char *page, int level, Pairs entries, int n, const PageHow how)
{
	int			nodes = (n + NODE_ENTRIES - 1) / NODE_ENTRIES;

	if (level == 0)
		nodes = LAB_MIN(n, (int) NODES);
	page_spread(page, entries, n, LAB_MAX(nodes, 1));
}

/* All entries in order; their number. */
static int
page_list(const char *page, Pairs out)
{
	int			n = 0;

	for (int i = 0; i < COUNT(ROOT(page)); i++)
	{
		char	   *node = node_at(page, i);

		pairs_copy(pairs_from(out, n), NODE_PAIRS(node), COUNT(node));
		n += COUNT(node);
	}
	return n;
}

/* --- changes ------------------------------------------------------------ */

static void
node_put(char *page, char *node, int at, Key key, uint32_t value)
{
	pairs_put(NODE_PAIRS(node), COUNT(node), at, key, value);
	COUNT(node)++;
	HEADER(page)->count++;
}

/* Split the leaf node, which is full, and put the entry into a half. */
static void
node_split(char *page, Place p, Key key, uint32_t value)
{
	int			nodes = COUNT(ROOT(page));
	char	   *right = page + LINE + NONLEAF + HEADER(page)->used * LEAF;
	int			half = COUNT(p.node) / 2;
	int			rest = COUNT(p.node) - half;

	prefetch_lines(right, LEAF);
	pairs_copy(NODE_PAIRS(right), pairs_from(NODE_PAIRS(p.node), half), rest);
	COUNT(right) = (uint16_t) rest;
	COUNT(p.node) = (uint16_t) half;
	HEADER(page)->used++;
	memmove(ROOT_KEYS(page) + p.nth + 2, ROOT_KEYS(page) + p.nth + 1,
			sizeof(Key) * (size_t) (nodes - p.nth - 1));
	memmove(ROOT_PLACES(page) + p.nth + 2, ROOT_PLACES(page) + p.nth + 1,
			sizeof(uint16_t) * (size_t) (nodes - p.nth - 1));
	ROOT_KEYS(page)[p.nth + 1] = NODE_KEYS(right)[0];
	ROOT_PLACES(page)[p.nth + 1] = (uint16_t) ((right - page) / LINE);
	COUNT(ROOT(page))++;
	if (p.at <= half)
		node_put(page, p.node, p.at, key, value);
	else
		node_put(page, right, p.at - half, key, value);
}

/* The node is full: split it, distribute anew, or say that the page is full. */
NOINLINE PageResult
page_make_room(char *page, Place p, Key key, uint32_t value)
{
	Key			keys[ENTRIES];
	uint32_t	values[ENTRIES];
	Pairs		all = {keys, values};

	if (HEADER(page)->used < NODES)
	{
		node_split(page, p, key, value);
		return PAGE_DONE;
	}
	/* fewer than an empty slot for each node: close to full */
	if (HEADER(page)->count > ENTRIES - NODES)
		return PAGE_FULL;
	page_spread(page, all, page_list(page, all), NODES);
	p = page_find(page, key, (PageHow) {FIND_BINARY}, NULL);
	node_put(page, p.node, p.at, key, value);
	return PAGE_DONE;
}

INLINE PageResult
page_insert(char *page, int level, Key key, uint32_t value, int *entry,
			const PageHow how)
{
	Place		p = page_find(page, key, how, NULL);

	if (level == 0 && p.there)
		return PAGE_THERE;
	if (COUNT(p.node) == NODE_ENTRIES)
		return page_make_room(page, p, key, value);
	node_put(page, p.node, p.at, key, value);
	return PAGE_DONE;
}

INLINE bool
page_delete(Tree *t, char *page, PageStep *steps, Key key, const PageHow how)
{
	Place		p = page_find(page, key, how, NULL);

	if (p.there)
	{
		pairs_drop(NODE_PAIRS(p.node), COUNT(p.node), p.at - 1);
		COUNT(p.node)--;
		HEADER(page)->count--;
	}
	return p.there;
}

/* By halves of the leaf nodes; both in-page trees are made anew. */
static Key
page_halve(char *left, char *right, int level, const PageHow how)
{
	Key			keys[ENTRIES];
	uint32_t	values[ENTRIES];
	Pairs		all = {keys, values};
	int			n = page_list(left, all);
	int			half = 0;

	for (int i = 0; i < COUNT(ROOT(left)) / 2; i++)
		half += COUNT(node_at(left, i));
	page_fill(right, level, pairs_from(all, half), n - half, how);
	page_fill(left, level, all, half, how);
	return keys[half];
}

static void
page_view(Walk *w, char *page, uint32_t no, int level, View *v,
		  const PageHow how)
{
	Pairs		all = {v->buffer, v->values};
	int			nodes = COUNT(ROOT(page));
	int			n = page_list(page, all);

	if (nodes != HEADER(page)->used || nodes > NODES ||
		n != (int) HEADER(page)->count)
		w->wrong = "the page has another number of nodes, or entries";
	for (int i = 0; i < nodes; i++)
	{
		const char *node = node_at(page, i);

		/* the first node may have keys that are lower */
		if (i > 0 && COUNT(node) > 0 && NODE_KEYS(node)[0] < ROOT_KEYS(page)[i])
			w->wrong = "a node has keys below its own";
		if (i + 1 < nodes && COUNT(node) > 0 &&
			NODE_KEYS(node)[COUNT(node) - 1] >= ROOT_KEYS(page)[i + 1])
			w->wrong = "a node has keys of the next one";
	}
	page_show(w, level, v, all, n);
}

TREE_KIND(diskfirst, "disk-first fpB+", "disk-first", tree, .pages = true,
		  {FIND_BINARY})
TREE_KIND(vdiskfirst, "disk-first fpB+, SIMD", "disk-first", tree,
		  .pages = true, {FIND_SIMD})
