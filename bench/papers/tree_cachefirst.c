/*-------------------------------------------------------------------------
 *
 * tree_cachefirst.c
 *	  The cache-first fpB+-tree, as in the paper: a tree of nodes that are some
 *	  lines wide, which are then placed into pages.
 *
 * A reference is a page and a line in it.  Leaf nodes are in leaf pages, which
 * have nothing else.  A page of inner nodes has one top node and as many nodes
 * below it as there is room for, level by level; of the level that does not fit
 * as a whole, those that do are spread evenly.  Inner nodes that remain become
 * the tops of other pages, but leaf parents go to overflow pages.
 *
 * A leaf node that is split needs room in its page, else the page's upper half
 * of nodes moves to a new page; references to these are in leaf parents, which
 * are linked.  The page knows the parent of its first node (the back pointer,
 * which follows when that parent moves).  A leaf parent takes its new sibling in
 * its own page, or in the open overflow page.  For other inner nodes a page
 * without room is split: its top node becomes two, and the subtrees below the
 * upper half of its children move (the paper's Figure 9c).  If the top node is
 * not even half full, the subtree that needs room moves out instead.
 *
 * After one such step an insertion begins again at the root, so no step has to
 * know what another one moved.
 *
 * A scan asks for all nodes of a leaf page, by the page's map of used slots,
 * before it reads them.  The paper's external array of leaf pages is for disks,
 * and not here.  Deletion is lazy: nodes remain.
 *
 *-------------------------------------------------------------------------
 */
#include "find.h"

/*
 * Bytes of a node: the paper's Table 2, for keys of 8 bytes, too.  The check has
 * smaller ones, as its trees would have but few inner nodes.
 */
#if defined(SMALL_NODES) && PAGESIZE <= 8192
#define NODE		128
#elif PAGESIZE <= 8192
#define NODE		576
#elif PAGESIZE == 16384
#define NODE		704
#else
#define NODE		640
#endif

#define INNER_HEAD	(KEYSIZE == 4 ? 12 : 16)
#define MAX_HEIGHT	16

enum
{
	SLOTS = (PAGESIZE - LINE) / NODE,
	LEAF_ENTRIES = (NODE - 8) / (KEYSIZE + 4),
	INNER_ENTRIES = (NODE - INNER_HEAD) / (KEYSIZE + 6)
};

_Static_assert(SLOTS < 64, "a page's map has a bit for each slot");

typedef struct Ref
{
	uint32_t	page;			/* 0: none */
	uint32_t	line;
} Ref;

typedef enum PageKind
{
	PAGE_LEAVES,
	PAGE_INNER,
	PAGE_OVERFLOW
} PageKind;

typedef struct PageHeader
{
	uint64_t	map;			/* used slots */
	Ref			back;			/* leaves: parent of the first node */
	uint32_t	first;			/* leaves: line of the first node */
	uint32_t	kind;
	uint32_t	used;
	char		unused[LINE - 28];
} PageHeader;

/* Leaf nodes, and leaf parents, have the next one's reference. */
typedef struct NodeHeader
{
	uint16_t	count;
	uint16_t	link_line;
	uint32_t	link_page;
} NodeHeader;

#define HEAD(node)			((NodeHeader *) (node))
#define COUNT(node)			(HEAD(node)->count)
#define LEAF_KEYS(node)		((Key *) ((node) + 8))
#define LEAF_TIDS(node)		((Tid *) ((node) + 8 + KEYSIZE * LEAF_ENTRIES))
#define INNER_KEYS(node)	((Key *) ((node) + INNER_HEAD))
#define INNER_PAGES(node) \
	((uint32_t *) ((node) + INNER_HEAD + KEYSIZE * INNER_ENTRIES))
#define INNER_LINES(node)	((uint16_t *) (INNER_PAGES(node) + INNER_ENTRIES))

typedef struct CacheTree
{
	Arena		pages;
	Ref			root;
	int			height;			/* of the root; leaves have 0 */
	uint32_t	overflow;		/* the open overflow page, or 0 */
	long		overflows;
	long		leaf_pages;
	long		splits;
} CacheTree;

/* The way to a key, by height: nodes, and the child taken there. */
typedef struct Way
{
	Ref			ref[MAX_HEIGHT];
	int			at[MAX_HEIGHT];
} Way;

typedef struct CacheCursor
{
	Ref			leaf;			/* page 0: no more entries */
	uint32_t	at;
	uint32_t	asked;			/* page whose nodes were asked for */
} CacheCursor;

INLINE PageHeader *
header(const CacheTree *t, uint32_t page)
{
	return (PageHeader *) arena_at(&t->pages, page, PAGESIZE);
}

INLINE char *
node_at(const CacheTree *t, Ref ref)
{
	return arena_at(&t->pages, ref.page, PAGESIZE) + ref.line * LINE;
}

INLINE bool
same(Ref a, Ref b)
{
	return a.page == b.page && a.line == b.line;
}

INLINE Ref
child(const char *node, int at)
{
	return (Ref) {INNER_PAGES(node)[at], INNER_LINES(node)[at]};
}

INLINE void
set_child(char *node, int at, Ref ref)
{
	INNER_PAGES(node)[at] = ref.page;
	INNER_LINES(node)[at] = (uint16_t) ref.line;
}

INLINE Ref
link_of(const char *node)
{
	return (Ref) {HEAD(node)->link_page, HEAD(node)->link_line};
}

INLINE void
set_link(char *node, Ref ref)
{
	HEAD(node)->link_page = ref.page;
	HEAD(node)->link_line = (uint16_t) ref.line;
}

/* --- pages and their slots ---------------------------------------------- */

static uint32_t
new_page(CacheTree *t, PageKind kind)
{
	uint32_t	no = arena_new(&t->pages);

	memset(header(t, no), 0, sizeof(PageHeader));
	header(t, no)->kind = kind;
	t->leaf_pages += kind == PAGE_LEAVES;
	t->overflows += kind == PAGE_OVERFLOW;
	return no;
}

INLINE int
room(const CacheTree *t, uint32_t page)
{
	return SLOTS - (int) header(t, page)->used;
}

/* A page's first free slot; there must be one. */
static Ref
new_node(CacheTree *t, uint32_t page)
{
	PageHeader *h = header(t, page);
	int			slot = __builtin_ctzll(~h->map);

	h->map |= UINT64_C(1) << slot;
	h->used++;
	return (Ref) {page, (uint32_t) (1 + slot * (NODE / LINE))};
}

static void
free_node(CacheTree *t, Ref ref)
{
	PageHeader *h = header(t, ref.page);

	h->map &= ~(UINT64_C(1) << ((ref.line - 1) / (NODE / LINE)));
	h->used--;
}

static Ref
new_overflow_node(CacheTree *t)
{
	if (t->overflow == 0 || room(t, t->overflow) == 0)
		t->overflow = new_page(t, PAGE_OVERFLOW);
	return new_node(t, t->overflow);
}

/* --- bulk load ---------------------------------------------------------- */

typedef struct Loader
{
	CacheTree  *t;
	int			slots;			/* of a page of inner nodes that are filled */
	int			height;
	long		n[MAX_HEIGHT];	/* nodes by height */
	Ref		   *ref[MAX_HEIGHT];
	Key		   *low[MAX_HEIGHT];
} Loader;

/* The first child of a node, or its end for the next one: they are even. */
static long
first_child(const Loader *b, int height, long node)
{
	return node * b->n[height - 1] / b->n[height];
}

static void
load_leaves(Loader *b, const Load *load, int per)
{
	uint32_t	page = 0;
	char	   *prev = NULL;

	for (long i = 0; i < b->n[0]; i++)
	{
		long		from = i * per;
		int			n = (int) LAB_MIN(per, load->n - from);
		Ref			ref;
		char	   *node;

		if (page == 0 || room(b->t, page) == 0)
			page = new_page(b->t, PAGE_LEAVES);
		ref = new_node(b->t, page);
		if (header(b->t, page)->used == 1)
			header(b->t, page)->first = ref.line;
		node = node_at(b->t, ref);
		COUNT(node) = (uint16_t) n;
		set_link(node, (Ref) {0, 0});
		memcpy(LEAF_KEYS(node), load->keys + from, sizeof(Key) * (size_t) n);
		memcpy(LEAF_TIDS(node), load->tids + from, sizeof(Tid) * (size_t) n);
		if (prev != NULL)
			set_link(prev, ref);
		prev = node;
		b->ref[0][i] = ref;
		b->low[0][i] = i > 0 ? load->keys[from] : 0;
	}
}

static void
place_top(Loader *b, int height, long node)
{
	uint32_t	page = new_page(b->t, PAGE_INNER);
	int			left = b->slots - 1;
	long		from = node,
				to = node + 1;

	b->ref[height][node] = new_node(b->t, page);
	for (int h = height - 1; h > 0; h--)
	{
		long		n;
		int			spread;

		from = first_child(b, h + 1, from);
		to = first_child(b, h + 1, to);
		n = to - from;
		spread = (int) LAB_MIN(left, n);
		/* a level, or as much of it as fits; the others are tops of their own */
		for (long i = 0; i < n; i++)
		{
			if ((i + 1) * spread / n > i * spread / n)
				b->ref[h][from + i] = new_node(b->t, page);
			else if (h == 1)
				b->ref[h][from + i] = new_overflow_node(b->t);
			else
				place_top(b, h, from + i);
		}
		left -= spread;
		if (spread == n)
			continue;
		/* children of those that found room */
		for (long i = 0; h > 1 && i < n; i++)
		{
			if (b->ref[h][from + i].page != page)
				continue;
			for (long j = first_child(b, h, from + i);
				 j < first_child(b, h, from + i + 1); j++)
			{
				if (h == 2)
					b->ref[1][j] = new_overflow_node(b->t);
				else
					place_top(b, h - 1, j);
			}
		}
		return;
	}
}

/* Give pages whose first leaf is below this parent the back pointer to it. */
static void
set_backs(CacheTree *t, Ref parent)
{
	const char *node = node_at(t, parent);

	for (int i = 0; i < COUNT(node); i++)
	{
		Ref			leaf = child(node, i);

		if (i > 0 && INNER_PAGES(node)[i - 1] == leaf.page)
			continue;
		if (header(t, leaf.page)->first == leaf.line)
			header(t, leaf.page)->back = parent;
	}
}

static void
load_inner(Loader *b, int height)
{
	for (long i = 0; i < b->n[height]; i++)
	{
		char	   *node = node_at(b->t, b->ref[height][i]);
		long		from = first_child(b, height, i);
		int			n = (int) (first_child(b, height, i + 1) - from);

		COUNT(node) = (uint16_t) n;
		set_link(node, height == 1 && i + 1 < b->n[1] ? b->ref[1][i + 1] :
				 (Ref) {0, 0});
		for (int j = 0; j < n; j++)
		{
			INNER_KEYS(node)[j] = b->low[height - 1][from + j];
			set_child(node, j, b->ref[height - 1][from + j]);
		}
		b->low[height][i] = b->low[height - 1][from];
		if (height == 1)
			set_backs(b->t, b->ref[1][i]);
	}
}

static void *
cache_build(const Load *load)
{
	CacheTree  *t = lab_alloc(sizeof(CacheTree));
	int			per = LAB_MAX(2, LEAF_ENTRIES * load->fill / 100);
	int			fan = LAB_MAX(2, INNER_ENTRIES * load->fill / 100);
	Loader		b = {.t = t,.slots = LAB_MAX(2, SLOTS * load->fill / 100)};

	arena_init(&t->pages, PAGESIZE,
			   (uint64_t) (load->expect / per / SLOTS * 3 / 2 + 64));
	b.n[0] = LAB_MAX(1, (load->n + per - 1) / per);
	while (b.n[b.height] > 1)
	{
		b.n[b.height + 1] = (b.n[b.height] + fan - 1) / fan;
		b.height++;
	}
	for (int h = 0; h <= b.height; h++)
	{
		b.ref[h] = lab_alloc(sizeof(Ref) * (size_t) b.n[h]);
		b.low[h] = lab_alloc(sizeof(Key) * (size_t) b.n[h]);
	}
	load_leaves(&b, load, per);
	if (b.height > 0)
		place_top(&b, b.height, 0);
	for (int h = 1; h <= b.height; h++)
		load_inner(&b, h);
	t->height = b.height;
	t->root = b.ref[b.height][0];
	for (int h = 0; h <= b.height; h++)
	{
		free(b.ref[h]);
		free(b.low[h]);
	}
	return t;
}

static void
cache_destroy(void *tree)
{
	CacheTree  *t = tree;

	arena_destroy(&t->pages);
	free(t);
}

/* --- search, scan ------------------------------------------------------- */

/* The node at "height" on the way to a key; way, path: NULL, or filled. */
INLINE Ref
cache_descend(const CacheTree *t, Key key, int height, const Finder finder,
			  Way *way, Path *path)
{
	Ref			ref = t->root;

	for (int h = t->height; h > height; h--)
	{
		char	   *node = node_at(t, ref);
		int			at;

		path_add(path, node, NODE);
		prefetch_lines(node, NODE);
		at = LAB_MAX(find_le(INNER_KEYS(node), COUNT(node), key, finder) - 1, 0);
		if (way != NULL)
		{
			way->ref[h] = ref;
			way->at[h] = at;
		}
		ref = child(node, at);
	}
	if (way != NULL)
		way->ref[height] = ref;
	return ref;
}

INLINE Tid
cache_search(const CacheTree *t, Key key, const Finder finder, Path *path)
{
	char	   *leaf = node_at(t, cache_descend(t, key, 0, finder, NULL, path));
	int			at;

	path_add(path, leaf, NODE);
	prefetch_lines(leaf, NODE);
	at = find_le(LEAF_KEYS(leaf), COUNT(leaf), key, finder) - 1;
	return at >= 0 && LEAF_KEYS(leaf)[at] == key ? LEAF_TIDS(leaf)[at] : 0;
}

INLINE void
cache_open(const CacheTree *t, Key key, CacheCursor *c, const Finder finder)
{
	char	   *leaf;
	int			at;

	c->leaf = cache_descend(t, key, 0, finder, NULL, NULL);
	leaf = node_at(t, c->leaf);
	prefetch_lines(leaf, NODE);
	at = find_le(LEAF_KEYS(leaf), COUNT(leaf), key, finder);
	c->at = (uint32_t) (at > 0 && LEAF_KEYS(leaf)[at - 1] == key ? at - 1 : at);
	c->asked = 0;
}

/* All nodes of the page, and its successor's map, which is needed next. */
static void
ask_page(const CacheTree *t, uint32_t page)
{
	for (uint64_t map = header(t, page)->map; map != 0; map &= map - 1)
		prefetch_lines((char *) header(t, page) + LINE +
					   __builtin_ctzll(map) * NODE, NODE);
}

static long
cache_next(void *tree, Cursor *cursor, long n, Tid *out)
{
	const CacheTree *t = tree;
	CacheCursor *c = CURSOR(CacheCursor, cursor);
	long		got = 0;

	while (c->leaf.page != 0)
	{
		char	   *leaf = node_at(t, c->leaf);
		int			take = (int) LAB_MIN(n - got, (long) COUNT(leaf) - c->at);

		if (c->asked != c->leaf.page && n - got > take)
		{
			ask_page(t, c->leaf.page);
			c->asked = c->leaf.page;
		}
		memcpy(out + got, LEAF_TIDS(leaf) + c->at, sizeof(Tid) * (size_t) take);
		got += take;
		c->at += (uint32_t) take;
		if (got == n)
			break;
		c->leaf = link_of(leaf);
		c->at = 0;
		if (c->leaf.page != 0 && c->leaf.page != c->asked)
			__builtin_prefetch(header(t, c->leaf.page));
	}
	return got;
}

/* --- splits ------------------------------------------------------------- */

static void
put_child(char *node, int at, Key key, Ref ref)
{
	size_t		tail = (size_t) (COUNT(node) - at);

	memmove(INNER_KEYS(node) + at + 1, INNER_KEYS(node) + at,
			sizeof(Key) * tail);
	memmove(INNER_PAGES(node) + at + 1, INNER_PAGES(node) + at,
			sizeof(uint32_t) * tail);
	memmove(INNER_LINES(node) + at + 1, INNER_LINES(node) + at,
			sizeof(uint16_t) * tail);
	INNER_KEYS(node)[at] = key;
	set_child(node, at, ref);
	COUNT(node)++;
}

/* The upper half of the entries of a node goes to an empty one. */
static Key
halve(char *left, char *right, bool leaf)
{
	int			half = COUNT(left) / 2;
	size_t		rest = (size_t) (COUNT(left) - half);

	COUNT(right) = (uint16_t) rest;
	COUNT(left) = (uint16_t) half;
	set_link(right, link_of(left));
	if (leaf)
	{
		memcpy(LEAF_KEYS(right), LEAF_KEYS(left) + half, sizeof(Key) * rest);
		memcpy(LEAF_TIDS(right), LEAF_TIDS(left) + half, sizeof(Tid) * rest);
		return LEAF_KEYS(right)[0];
	}
	memcpy(INNER_KEYS(right), INNER_KEYS(left) + half, sizeof(Key) * rest);
	memcpy(INNER_PAGES(right), INNER_PAGES(left) + half,
		   sizeof(uint32_t) * rest);
	memcpy(INNER_LINES(right), INNER_LINES(left) + half,
		   sizeof(uint16_t) * rest);
	return INNER_KEYS(right)[0];
}

/* The parent, which has room, gets a sibling; or the root gets a parent. */
static void
put_sibling(CacheTree *t, const Way *way, int height, Key key, Ref right)
{
	Ref			root;
	char	   *node;

	if (height < t->height)
	{
		put_child(node_at(t, way->ref[height + 1]), way->at[height + 1] + 1,
				  key, right);
		return;
	}
	/* into the page of the old root, if there is room and it is no leaf */
	if (height > 0 && room(t, t->root.page) > 0)
		root = new_node(t, t->root.page);
	else
		root = new_node(t, new_page(t, PAGE_INNER));
	node = node_at(t, root);
	COUNT(node) = 0;
	set_link(node, (Ref) {0, 0});
	put_child(node, 0, 0, t->root);
	put_child(node, 1, key, right);
	t->root = root;
	if (++t->height == MAX_HEIGHT)
		lab_fail("the tree is too high");
	if (height == 0)
		set_backs(t, root);
}

/* Split a node; its sibling has this empty place. */
static void
split_node(CacheTree *t, const Way *way, int height, Ref right)
{
	char	   *node = node_at(t, way->ref[height]);
	Key			key = halve(node, node_at(t, right), height == 0);

	if (height <= 1)
		set_link(node, right);
	if (height == 1)
		set_backs(t, right);
	t->splits += height == 0;
	put_sibling(t, way, height, key, right);
}

/* The upper half of a leaf page's nodes goes to a new page. */
static void
split_leaf_page(CacheTree *t, uint32_t page)
{
	PageHeader *h = header(t, page);
	uint32_t	to = new_page(t, PAGE_LEAVES);
	Ref			parent = h->back;
	Ref			leaf = {page, h->first};
	char	   *prev = NULL;
	int			n = (int) h->used;
	int			at = 0;

	while (!same(child(node_at(t, parent), at), leaf))
		at++;
	for (int i = 0; i < n; i++, at++)
	{
		char	   *node = node_at(t, leaf);
		Ref			next = link_of(node);

		while (at == COUNT(node_at(t, parent)))
		{
			parent = link_of(node_at(t, parent));
			at = 0;
		}
		if (i >= n / 2)
		{
			Ref			moved = new_node(t, to);

			memcpy(node_at(t, moved), node, NODE);
			free_node(t, leaf);
			set_child(node_at(t, parent), at, moved);
			set_link(prev, moved);
			node = node_at(t, moved);
			if (i == n / 2)
			{
				header(t, to)->first = moved.line;
				header(t, to)->back = parent;
			}
		}
		prev = node;
		leaf = next;
	}
}

/* Move a node and all below it that is in its page to another page. */
static Ref
move_subtree(CacheTree *t, Ref ref, int height, uint32_t to)
{
	Ref			moved = new_node(t, to);
	char	   *node = node_at(t, moved);

	memcpy(node, node_at(t, ref), NODE);
	free_node(t, ref);
	for (int i = 0; height > 1 && i < COUNT(node); i++)
	{
		if (INNER_PAGES(node)[i] == ref.page)
			set_child(node, i, move_subtree(t, child(node, i), height - 1, to));
	}
	return moved;
}

/* The leaf parent before the one that is on this way, or none. */
static Ref
parent_before(const CacheTree *t, const Way *way)
{
	for (int h = 2; h <= t->height; h++)
	{
		Ref			ref;

		if (way->at[h] == 0)
			continue;
		ref = child(node_at(t, way->ref[h]), way->at[h] - 1);
		for (h--; h > 1; h--)
			ref = child(node_at(t, ref), COUNT(node_at(t, ref)) - 1);
		return ref;
	}
	return (Ref) {0, 0};
}

/* Links and back pointers to the leaf parents below a node that was moved. */
static void
mend_links(CacheTree *t, Ref ref, int height)
{
	char	   *node = node_at(t, ref);
	Way			way;
	Ref			before;

	for (int i = 0; height > 1 && i < COUNT(node); i++)
	{
		if (INNER_PAGES(node)[i] == ref.page)
			mend_links(t, child(node, i), height - 1);
	}
	if (height > 1)
		return;
	cache_descend(t, INNER_KEYS(node)[0], 1, FIND_BINARY, &way, NULL);
	before = parent_before(t, &way);
	if (before.page != 0)
		set_link(node_at(t, before), ref);
	set_backs(t, ref);
}

/*
 * Make room in the page of an inner node that is no leaf parent.  "top" is the
 * height of the page's top node; the parent of that has room.
 */
static void
split_inner_page(CacheTree *t, const Way *way, int top)
{
	char	   *node = node_at(t, way->ref[top]);
	uint32_t	to = new_page(t, PAGE_INNER);
	Ref			right;
	char	   *upper;

	if (COUNT(node) < INNER_ENTRIES / 2)
	{
		right = move_subtree(t, child(node, way->at[top]), top - 1, to);
		set_child(node, way->at[top], right);
		mend_links(t, right, top - 1);
		return;
	}
	right = new_node(t, to);
	upper = node_at(t, right);
	halve(node, upper, false);
	for (int i = 0; i < COUNT(upper); i++)
	{
		if (INNER_PAGES(upper)[i] == way->ref[top].page)
			set_child(upper, i, move_subtree(t, child(upper, i), top - 1, to));
	}
	put_sibling(t, way, top, INNER_KEYS(upper)[0], right);
	mend_links(t, right, top);
}

/* One step towards room in the node at this height, which is full. */
static void
make_room(CacheTree *t, const Way *way, int height)
{
	uint32_t	page = way->ref[height].page;
	bool		root = height == t->height;
	int			top = height;

	if (!root && COUNT(node_at(t, way->ref[height + 1])) == INNER_ENTRIES)
		make_room(t, way, height + 1);
	else if (room(t, page) > (root && height > 0))
		split_node(t, way, height, new_node(t, page));
	else if (height == 0 && !root)
		split_leaf_page(t, page);
	else if (height == 1)
		split_node(t, way, height, new_overflow_node(t));
	else
	{
		while (top < t->height && way->ref[top + 1].page == page)
			top++;
		if (top < t->height &&
			COUNT(node_at(t, way->ref[top + 1])) == INNER_ENTRIES)
			make_room(t, way, top + 1);
		else
			split_inner_page(t, way, top);
	}
}

/* --- changes ------------------------------------------------------------ */

INLINE bool
cache_insert(CacheTree *t, Key key, Tid tid, const Finder finder)
{
	char	   *leaf = node_at(t, cache_descend(t, key, 0, finder, NULL, NULL));
	int			at;
	size_t		tail;

	prefetch_lines(leaf, NODE);
	at = find_le(LEAF_KEYS(leaf), COUNT(leaf), key, finder);
	if (at > 0 && LEAF_KEYS(leaf)[at - 1] == key)
		return false;
	while (COUNT(leaf) == LEAF_ENTRIES)
	{
		Way			way;

		cache_descend(t, key, 0, finder, &way, NULL);
		make_room(t, &way, 0);
		leaf = node_at(t, cache_descend(t, key, 0, finder, NULL, NULL));
		at = find_le(LEAF_KEYS(leaf), COUNT(leaf), key, finder);
	}
	tail = (size_t) (COUNT(leaf) - at);
	memmove(LEAF_KEYS(leaf) + at + 1, LEAF_KEYS(leaf) + at, sizeof(Key) * tail);
	memmove(LEAF_TIDS(leaf) + at + 1, LEAF_TIDS(leaf) + at, sizeof(Tid) * tail);
	LEAF_KEYS(leaf)[at] = key;
	LEAF_TIDS(leaf)[at] = tid;
	COUNT(leaf)++;
	return true;
}

INLINE bool
cache_delete(CacheTree *t, Key key, const Finder finder)
{
	char	   *leaf = node_at(t, cache_descend(t, key, 0, finder, NULL, NULL));
	int			at;
	size_t		tail;

	prefetch_lines(leaf, NODE);
	at = find_le(LEAF_KEYS(leaf), COUNT(leaf), key, finder) - 1;
	if (at < 0 || LEAF_KEYS(leaf)[at] != key)
		return false;
	tail = (size_t) (COUNT(leaf) - at - 1);
	memmove(LEAF_KEYS(leaf) + at, LEAF_KEYS(leaf) + at + 1, sizeof(Key) * tail);
	memmove(LEAF_TIDS(leaf) + at, LEAF_TIDS(leaf) + at + 1, sizeof(Tid) * tail);
	COUNT(leaf)--;
	return true;
}

/* --- statistics, check -------------------------------------------------- */

static void
cache_stats(const void *tree, Stats *s)
{
	const CacheTree *t = tree;

	memset(s, 0, sizeof(*s));
	s->levels = t->height + 1;
	s->nodes = t->pages.live;
	s->leaves = t->leaf_pages;
	s->overflow = t->overflows;
	s->bytes = (size_t) t->pages.live * PAGESIZE;
	s->splits = t->splits;
	s->leaf_entries = SLOTS * LEAF_ENTRIES;
}

typedef struct CacheCheck
{
	const CacheTree *t;
	Ref			next[2];		/* leaf, leaf parent that must come */
	bool		any[2];
	uint32_t	leaf_page;		/* of the leaf before */
	long		nodes,
				leaf_runs;		/* of leaves that are in one page */
	const char *wrong;
} CacheCheck;

static void
check_leaf(CacheCheck *c, Ref ref, Ref parent)
{
	PageHeader *h = header(c->t, ref.page);

	if (h->kind != PAGE_LEAVES)
		c->wrong = "a leaf is not in a leaf page";
	if (ref.page == c->leaf_page)
		return;
	c->leaf_page = ref.page;
	c->leaf_runs++;
	if (h->first != ref.line)
		c->wrong = "a leaf page has another first node";
	if (c->t->height > 0 && !same(h->back, parent))
		c->wrong = "a back pointer is wrong";
}

static void
check_node(CacheCheck *c, Ref ref, Ref parent, int height, Key low, Key high,
		   bool last)
{
	char	   *node = node_at(c->t, ref);
	PageHeader *h = header(c->t, ref.page);
	Key		   *keys = height > 0 ? INNER_KEYS(node) : LEAF_KEYS(node);
	int			n = COUNT(node);

	c->nodes++;
	if ((h->map >> (ref.line - 1) / (NODE / LINE) & 1) == 0)
		c->wrong = "a node is in a free slot";
	if (height <= 1)
	{
		if (c->any[height] && !same(c->next[height], ref))
			c->wrong = "nodes are linked in another order";
		c->any[height] = true;
		c->next[height] = link_of(node);
	}
	if (height == 0)
		check_leaf(c, ref, parent);
	else if (n == 0 || h->kind == PAGE_LEAVES ||
			 (h->kind == PAGE_OVERFLOW && height > 1))
		c->wrong = "an inner node is empty, or in a page of another kind";
	for (int i = 0; i < n; i++)
	{
		if ((keys[i] < low && (height == 0 || i > 0)) ||
			(!last && keys[i] >= high) || (i > 0 && keys[i] <= keys[i - 1]))
			c->wrong = "keys are not in order";
	}
	for (int i = 0; height > 0 && i < n && c->wrong == NULL; i++)
		check_node(c, child(node, i), ref, height - 1, i > 0 ? keys[i] : low,
				   i + 1 < n ? keys[i + 1] : high, last && i + 1 == n);
}

static const char *
cache_check(const void *tree)
{
	const CacheTree *t = tree;
	CacheCheck	c = {.t = t};
	long		used = 0,
				pages = 0;

	check_node(&c, t->root, (Ref) {0, 0}, t->height, 0, 0, true);
	for (int i = 0; i < 2; i++)
	{
		if (c.any[i] && c.next[i].page != 0)
			c.wrong = "the last node has a next one";
	}
	if (c.wrong == NULL && c.leaf_runs != t->leaf_pages)
		c.wrong = "a leaf page's nodes are not neighbours";
	/* no page is given back, so all that were given out are in use */
	for (uint32_t i = 1; i < t->pages.used && !lab.scattered; i++)
	{
		if (header(t, i)->used !=
			(uint32_t) __builtin_popcountll(header(t, i)->map))
			c.wrong = "a page's map has another number of nodes";
		used += header(t, i)->used;
		pages++;
	}
	if (c.wrong == NULL && !lab.scattered &&
		(used != c.nodes || pages != t->pages.live))
		c.wrong = "nodes are lost";
	return c.wrong;
}

/* --- the trees ---------------------------------------------------------- */

#define CACHE_TREE(id, text, finder) \
static Tid id##_search(const void *t, Key k) \
{ return cache_search(t, k, finder, NULL); } \
static void id##_visit(const void *t, Key k, Path *path) \
{ cache_search(t, k, finder, path); } \
static void id##_open(void *t, Key k, Cursor *c) \
{ cache_open(t, k, CURSOR(CacheCursor, c), finder); } \
static bool id##_insert(void *t, Key k, Tid tid) \
{ return cache_insert(t, k, tid, finder); } \
static bool id##_delete(void *t, Key k) \
{ return cache_delete(t, k, finder); } \
const TreeKind id = { \
	.name = #id, .label = text, .shape = "cache-first", .pages = true, \
	.build = cache_build, .destroy = cache_destroy, .search = id##_search, \
	.visit = id##_visit, .open = id##_open, .next = cache_next, \
	.insert = id##_insert, .delete = id##_delete, .stats = cache_stats, \
	.check = cache_check \
};

CACHE_TREE(cachefirst, "cache-first fpB+", FIND_BINARY)
CACHE_TREE(vcachefirst, "cache-first fpB+, SIMD", FIND_SIMD)
