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
 * pages of 16 kB.  Of 8 bytes: goal G (goal.py).
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
#define NODE_KEYS(node)	((Key *) ((node) + 8))
#define NODE_VALUES(node) ((uint32_t *) ((node) + 8 + KEYSIZE * NODE_ENTRIES))

INLINE int
page_capacity(int level, const PageHow how)
{
	(void) level;
	(void) how;
	return ENTRIES;
}

INLINE uint32_t *
page_link(char *page)
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

/* The leaf node of a key; *at: keys there that are not above it. */
INLINE char *
page_node(const char *page, Key key, const PageHow how, Path *path, int *nth,
		  int *at)
{
	char	   *node;

	path_add(path, ROOT(page), NONLEAF);
	prefetch_lines(ROOT(page), NONLEAF);
	/* the first node may have got keys that are below its own */
	*nth = find_le(ROOT_KEYS(page) + 1, COUNT(ROOT(page)) - 1, key, how.finder);
	node = node_at(page, *nth);
	path_add(path, node, LEAF);
	prefetch_lines(node, LEAF);
	*at = find_le(NODE_KEYS(node), COUNT(node), key, how.finder);
	return node;
}

INLINE uint32_t
page_child(const char *page, Key key, const PageHow how, Path *path)
{
	int			nth,
				at;
	char	   *node = page_node(page, key, how, path, &nth, &at);

	return NODE_VALUES(node)[LAB_MAX(at - 1, 0)];
}

INLINE Tid
page_lookup(const char *page, Key key, const PageHow how, Path *path)
{
	int			nth,
				at;
	char	   *node = page_node(page, key, how, path, &nth, &at);

	if (at == 0 || NODE_KEYS(node)[at - 1] != key)
		return 0;
	return NODE_VALUES(node)[at - 1];
}

/* --- scan --------------------------------------------------------------- */

/* A position: number of the node in order, and of the entry in it. */
INLINE uint32_t
page_open(const char *page, Key key, const PageHow how)
{
	int			nth,
				at;
	char	   *node = page_node(page, key, how, NULL, &nth, &at);

	if (at > 0 && NODE_KEYS(node)[at - 1] == key)
		at--;
	for (int i = nth + 1; i < COUNT(ROOT(page)) && i < nth + lab.distance; i++)
		prefetch_lines(node_at(page, i), LEAF);
	return (uint32_t) (nth << 16 | at);
}

/* At a page's beginning its first nodes are asked for, then one for each. */
INLINE long
page_copy(const char *page, uint32_t *position, long n, Tid *out,
		  const PageHow how)
{
	int			nodes = COUNT(ROOT(page));
	long		got = 0;

	(void) how;
	if (*position == 0)
	{
		for (int i = 0; i < nodes && i < lab.distance; i++)
			prefetch_lines(node_at(page, i), LEAF);
	}
	for (int nth = (int) (*position >> 16); nth < nodes; nth++)
	{
		const char *node = node_at(page, nth);
		int			at = (int) (*position & 0xFFFF);
		int			take = (int) LAB_MIN(n - got, COUNT(node) - at);

		if (nth + lab.distance < nodes)
			prefetch_lines(node_at(page, nth + lab.distance), LEAF);
		memcpy(out + got, NODE_VALUES(node) + at, sizeof(Tid) * (size_t) take);
		got += take;
		*position = (uint32_t) (nth << 16 | (at + take));
		if (got == n)
			break;
		*position = (uint32_t) (nth + 1) << 16;
	}
	return got;
}

INLINE void
page_ahead(const char *page, const PageHow how)
{
	prefetch_lines(page, LINE + NONLEAF);
	(void) how;
}

/* --- forming ------------------------------------------------------------ */

/* Put n entries into the first "nodes" leaf nodes, as evenly as can be. */
static void
page_spread(char *page, const Key *keys, const uint32_t *values, int n,
			int nodes)
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
		ROOT_KEYS(page)[j] = keys[i];
		COUNT(node) = (uint16_t) (end - i);
		memcpy(NODE_KEYS(node), keys + i, sizeof(Key) * (size_t) (end - i));
		memcpy(NODE_VALUES(node), values + i,
			   sizeof(uint32_t) * (size_t) (end - i));
		i = end;
	}
}

/* Leaf nodes for n entries: all of a leaf page's, if each gets an entry. */
static void
page_fill(char *page, int level, const Key *keys, const uint32_t *values, int n,
		  const PageHow how)
{
	int			nodes = (n + NODE_ENTRIES - 1) / NODE_ENTRIES;

	(void) how;
	if (level == 0)
		nodes = LAB_MIN(n, (int) NODES);
	page_spread(page, keys, values, n, LAB_MAX(nodes, 1));
}

static int
page_list(const char *page, const PageHow how, Key *keys, uint32_t *values)
{
	int			n = 0;

	(void) how;
	for (int i = 0; i < COUNT(ROOT(page)); i++)
	{
		char	   *node = node_at(page, i);

		memcpy(keys + n, NODE_KEYS(node), sizeof(Key) * COUNT(node));
		memcpy(values + n, NODE_VALUES(node), sizeof(uint32_t) * COUNT(node));
		n += COUNT(node);
	}
	return n;
}

/* --- changes ------------------------------------------------------------ */

static void
node_put(char *page, char *node, int at, Key key, uint32_t value)
{
	size_t		tail = COUNT(node) - (size_t) at;

	memmove(NODE_KEYS(node) + at + 1, NODE_KEYS(node) + at, tail * sizeof(Key));
	memmove(NODE_VALUES(node) + at + 1, NODE_VALUES(node) + at,
			tail * sizeof(uint32_t));
	NODE_KEYS(node)[at] = key;
	NODE_VALUES(node)[at] = value;
	COUNT(node)++;
	HEADER(page)->count++;
}

/* Split the nth leaf node, which is full, and put the entry into a half. */
static void
node_split(char *page, int nth, int at, Key key, uint32_t value)
{
	char	   *node = node_at(page, nth);
	int			nodes = COUNT(ROOT(page));
	char	   *right = page + LINE + NONLEAF + HEADER(page)->used * LEAF;
	int			half = COUNT(node) / 2;
	int			rest = COUNT(node) - half;

	prefetch_lines(right, LEAF);
	memcpy(NODE_KEYS(right), NODE_KEYS(node) + half,
		   sizeof(Key) * (size_t) rest);
	memcpy(NODE_VALUES(right), NODE_VALUES(node) + half,
		   sizeof(uint32_t) * (size_t) rest);
	COUNT(right) = (uint16_t) rest;
	COUNT(node) = (uint16_t) half;
	HEADER(page)->used++;
	memmove(ROOT_KEYS(page) + nth + 2, ROOT_KEYS(page) + nth + 1,
			sizeof(Key) * (size_t) (nodes - nth - 1));
	memmove(ROOT_PLACES(page) + nth + 2, ROOT_PLACES(page) + nth + 1,
			sizeof(uint16_t) * (size_t) (nodes - nth - 1));
	ROOT_KEYS(page)[nth + 1] = NODE_KEYS(right)[0];
	ROOT_PLACES(page)[nth + 1] = (uint16_t) ((right - page) / LINE);
	COUNT(ROOT(page))++;
	if (at <= half)
		node_put(page, node, at, key, value);
	else
		node_put(page, right, at - half, key, value);
}

/* The node is full: split it, distribute anew, or say that the page is full. */
NOINLINE PageResult
page_make_room(char *page, int nth, int at, Key key, uint32_t value)
{
	Key			keys[ENTRIES];
	uint32_t	values[ENTRIES];
	PageHow		how = {FIND_BINARY};
	char	   *node;

	if (HEADER(page)->used < NODES)
	{
		node_split(page, nth, at, key, value);
		return PAGE_DONE;
	}
	/* fewer than an empty slot for each node: close to full */
	if (HEADER(page)->count > ENTRIES - NODES)
		return PAGE_FULL;
	page_list(page, how, keys, values);
	page_spread(page, keys, values, (int) HEADER(page)->count, NODES);
	node = page_node(page, key, how, NULL, &nth, &at);
	node_put(page, node, at, key, value);
	return PAGE_DONE;
}

INLINE PageResult
page_insert(char *page, int level, Key key, uint32_t value, const PageHow how)
{
	int			nth,
				at;
	char	   *node = page_node(page, key, how, NULL, &nth, &at);

	if (level == 0 && at > 0 && NODE_KEYS(node)[at - 1] == key)
		return PAGE_THERE;
	if (COUNT(node) == NODE_ENTRIES)
		return page_make_room(page, nth, at, key, value);
	node_put(page, node, at, key, value);
	return PAGE_DONE;
}

INLINE bool
page_delete(char *page, Key key, const PageHow how)
{
	int			nth,
				at;
	char	   *node = page_node(page, key, how, NULL, &nth, &at);
	size_t		tail;

	if (at == 0 || NODE_KEYS(node)[at - 1] != key)
		return false;
	tail = COUNT(node) - (size_t) at;
	memmove(NODE_KEYS(node) + at - 1, NODE_KEYS(node) + at, tail * sizeof(Key));
	memmove(NODE_VALUES(node) + at - 1, NODE_VALUES(node) + at,
			tail * sizeof(uint32_t));
	COUNT(node)--;
	HEADER(page)->count--;
	return true;
}

/* By halves of the leaf nodes; both in-page trees are made anew. */
static Key
page_split(char *left, char *right, int level, const PageHow how)
{
	Key			keys[ENTRIES];
	uint32_t	values[ENTRIES];
	int			n = page_list(left, how, keys, values);
	int			half = 0;

	for (int i = 0; i < COUNT(ROOT(left)) / 2; i++)
		half += COUNT(node_at(left, i));
	page_fill(right, level, keys + half, values + half, n - half, how);
	page_fill(left, level, keys, values, half, how);
	return keys[half];
}

static const char *
page_wrong(const char *page, const PageHow how)
{
	uint32_t	n = 0;
	int			nodes = COUNT(ROOT(page));

	(void) how;
	if (nodes != HEADER(page)->used || nodes > NODES)
		return "the page has another number of nodes";
	for (int i = 0; i < nodes; i++)
	{
		const char *node = node_at(page, i);

		n += COUNT(node);
		/* the first node may have keys that are lower */
		if (i > 0 && COUNT(node) > 0 && NODE_KEYS(node)[0] < ROOT_KEYS(page)[i])
			return "a node has keys below its own";
		if (i + 1 < nodes && COUNT(node) > 0 &&
			NODE_KEYS(node)[COUNT(node) - 1] >= ROOT_KEYS(page)[i + 1])
			return "a node has keys of the next one";
	}
	return n == HEADER(page)->count ? NULL : "entries are lost";
}

/* --- the trees ---------------------------------------------------------- */

#include "pagetree.h"

PAGE_TREE(diskfirst, "disk-first fpB+", "disk-first", {FIND_BINARY})
PAGE_TREE(vdiskfirst, "disk-first fpB+, SIMD", "disk-first", {FIND_SIMD})
