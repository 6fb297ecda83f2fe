/*-------------------------------------------------------------------------
 *
 * tree_cachefirst.c
 *	  The cache-first fpB+-tree, as in the paper: a tree of nodes that are some
 *	  lines wide, which are then placed into pages.
 *
 * A reference in a node is a page and a line in it, elsewhere the number that
 * the line has of all.  Leaf nodes are in leaf pages, which have nothing else.
 * A page of inner nodes has one top node and as many nodes below it as there is
 * room for, level by level; of the level that does not fit as a whole, those
 * that do are spread evenly.  Inner nodes that remain become the tops of other
 * pages, but leaf parents go to overflow pages.
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

typedef struct PageHow
{
	Finder		finder;
} PageHow;

/* Of pagetree.h, "pages" are the nodes, and have the numbers of lines. */
#define PAGE_BYTES(how)	LINE
#define PAGE_RANKED
#define PAGE_OWN_BUILD
#include "pagetree.h"

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
#define LINES		(PAGESIZE / LINE)	/* of a page */
#define MAX_HEIGHT	16

enum
{
	SLOTS = (PAGESIZE - LINE) / NODE,
	LEAF_ENTRIES = (NODE - 8) / (KEYSIZE + 4),
	INNER_ENTRIES = (NODE - INNER_HEAD) / (KEYSIZE + 6)
};

_Static_assert(SLOTS < 64, "a page's map has a bit for each slot");

typedef enum PageKind
{
	PAGE_LEAVES,
	PAGE_INNER,
	PAGE_OVERFLOW
} PageKind;

typedef struct PageHeader
{
	uint64_t	map;			/* used slots */
	uint32_t	back;			/* leaves: parent of the first node */
	uint32_t	first;			/* leaves: the first node */
	uint32_t	kind;
	uint32_t	used;
	char		unused[LINE - 24];
} PageHeader;

/* Leaf nodes, and leaf parents, have the next one's number. */
typedef struct NodeHeader
{
	uint16_t	count;
	uint16_t	unused;
	uint32_t	link;
} NodeHeader;

#define HEAD(node)			((NodeHeader *) (node))
#define COUNT(node)			(HEAD(node)->count)
#define LINK(node)			(HEAD(node)->link)
#define LEAF_KEYS(node)		((Key *) ((node) + 8))
#define LEAF_TIDS(node)		((Tid *) ((node) + 8 + KEYSIZE * LEAF_ENTRIES))
#define LEAF(node)			((Pairs) {LEAF_KEYS(node), LEAF_TIDS(node)})
#define INNER_KEYS(node)	((Key *) ((node) + INNER_HEAD))
#define INNER_PAGES(node) \
	((uint32_t *) ((node) + INNER_HEAD + KEYSIZE * INNER_ENTRIES))
#define INNER_LINES(node)	((uint16_t *) (INNER_PAGES(node) + INNER_ENTRIES))
#define INNER(node)			((Pairs) {INNER_KEYS(node), INNER_PAGES(node)})

/* Leaves of the tree are leaf pages here. */
typedef struct CacheTree
{
	Tree		tree;
	uint32_t	overflow;		/* the open overflow page, or 0 */
	long		overflows;
} CacheTree;

INLINE char *
node_at(const CacheTree *t, uint32_t no)
{
	return arena_at(&t->tree.nodes, no, LINE);
}

/* Of the page in which a node lies; arenas are aligned. */
INLINE PageHeader *
header_of(const char *node)
{
	return (PageHeader *) ((uintptr_t) node & ~(uintptr_t) (PAGESIZE - 1));
}

INLINE PageHeader *
header(const CacheTree *t, uint32_t no)
{
	return (PageHeader *) arena_at(&t->tree.nodes, no / LINES, PAGESIZE);
}

INLINE bool
same_page(uint32_t a, uint32_t b)
{
	return a / LINES == b / LINES;
}

INLINE uint32_t
child(const char *node, int at)
{
	return INNER_PAGES(node)[at] * LINES + INNER_LINES(node)[at];
}

INLINE void
set_child(char *node, int at, uint32_t no)
{
	INNER_PAGES(node)[at] = no / LINES;
	INNER_LINES(node)[at] = (uint16_t) (no % LINES);
}

/* --- pages and their slots ---------------------------------------------- */

/* The number of its first line. */
static uint32_t
new_page(CacheTree *t, PageKind kind)
{
	uint32_t	no = arena_new(&t->tree.nodes) * LINES;

	memset(header(t, no), 0, sizeof(PageHeader));
	header(t, no)->kind = kind;
	t->tree.leaves += kind == PAGE_LEAVES;
	t->overflows += kind == PAGE_OVERFLOW;
	return no;
}

INLINE int
room(const CacheTree *t, uint32_t page)
{
	return SLOTS - (int) header(t, page)->used;
}

/* The first free slot of a node's page, or of a page; there must be one. */
static uint32_t
new_node(CacheTree *t, uint32_t page)
{
	PageHeader *h = header(t, page);
	int			slot = __builtin_ctzll(~h->map);

	h->map |= UINT64_C(1) << slot;
	h->used++;
	return page / LINES * LINES + 1 + (uint32_t) (slot * (NODE / LINE));
}

INLINE int
slot_of(uint32_t no)
{
	return (int) (no % LINES - 1) / (NODE / LINE);
}

static void
free_node(CacheTree *t, uint32_t no)
{
	PageHeader *h = header(t, no);

	h->map &= ~(UINT64_C(1) << slot_of(no));
	h->used--;
}

static uint32_t
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
	Pairs		nodes[MAX_HEIGHT];	/* their lowest keys and their numbers */
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
		uint32_t	no;
		char	   *node;

		if (page == 0 || room(b->t, page) == 0)
			page = new_page(b->t, PAGE_LEAVES);
		no = new_node(b->t, page);
		if (header(b->t, page)->used == 1)
			header(b->t, page)->first = no;
		node = node_at(b->t, no);
		COUNT(node) = (uint16_t) n;
		LINK(node) = 0;
		pairs_copy(LEAF(node), pairs_from(load->pairs, from), n);
		if (prev != NULL)
			LINK(prev) = no;
		prev = node;
		b->nodes[0].values[i] = no;
		b->nodes[0].keys[i] = i > 0 ? load->pairs.keys[from] : 0;
	}
}

/*
 * Give a node a page of its own, as its top, and nodes below it the places that
 * are left there; or a leaf parent a place in an overflow page.
 */
static void
place(Loader *b, int height, long node)
{
	uint32_t	page;
	int			left = b->slots - 1;
	int			spread = left;
	long		from = node,
				to = node + 1;

	if (height == 1 && b->height > 1)
	{
		b->nodes[1].values[node] = new_overflow_node(b->t);
		return;
	}
	page = new_page(b->t, PAGE_INNER);
	b->nodes[height].values[node] = new_node(b->t, page);
	for (int h = height; h > 1 && spread > 0; h--)
	{
		long		first = first_child(b, h, from);
		long		n = first_child(b, h, to) - first;

		/* a level, or as much of it as fits; the others are tops of their own */
		spread = (int) LAB_MIN(left, n);
		for (long i = 0, parent = from; i < n; i++)
		{
			while (first + i == first_child(b, h, parent + 1))
				parent++;
			if (!same_page(b->nodes[h].values[parent], page))
				continue;
			if ((i + 1) * spread / n > i * spread / n)
				b->nodes[h - 1].values[first + i] = new_node(b->t, page);
			else
				place(b, h - 1, first + i);
		}
		left -= spread;
		from = first;
		to = first + n;
	}
}

/* Give pages whose first leaf is below this parent the back pointer to it. */
static void
set_backs(CacheTree *t, uint32_t parent)
{
	const char *node = node_at(t, parent);

	for (int i = 0; i < COUNT(node); i++)
	{
		uint32_t	leaf = child(node, i);

		if (i > 0 && INNER_PAGES(node)[i - 1] == INNER_PAGES(node)[i])
			continue;
		if (header(t, leaf)->first == leaf)
			header(t, leaf)->back = parent;
	}
}

static void
load_inner(Loader *b, int height)
{
	Pairs		mine = b->nodes[height];
	Pairs		below = b->nodes[height - 1];

	for (long i = 0; i < b->n[height]; i++)
	{
		char	   *node = node_at(b->t, mine.values[i]);
		long		from = first_child(b, height, i);
		int			n = (int) (first_child(b, height, i + 1) - from);

		COUNT(node) = (uint16_t) n;
		LINK(node) = height == 1 && i + 1 < b->n[1] ? mine.values[i + 1] : 0;
		for (int j = 0; j < n; j++)
		{
			INNER_KEYS(node)[j] = below.keys[from + j];
			set_child(node, j, below.values[from + j]);
		}
		mine.keys[i] = below.keys[from];
		if (height == 1)
			set_backs(b->t, mine.values[i]);
	}
}

static void *
cache_build(const Load *load, const PageHow how)
{
	CacheTree  *t = lab_alloc(sizeof(CacheTree));
	int			per = load_take(load, LEAF_ENTRIES);
	int			fan = load_take(load, INNER_ENTRIES);
	Loader		b = {.t = t, .slots = load_take(load, SLOTS)};

	t->tree.leaf_entries = SLOTS * LEAF_ENTRIES;
	arena_init(&t->tree.nodes, PAGESIZE,
			   (uint64_t) (load->expect / per / SLOTS * 3 / 2 + 64));
	b.n[0] = LAB_MAX(1, (load->n + per - 1) / per);
	for (; b.n[b.height] > 1; b.height++)
		b.n[b.height + 1] = (b.n[b.height] + fan - 1) / fan;
	for (int h = 0; h <= b.height; h++)
		b.nodes[h] = pairs_new(b.n[h]);
	load_leaves(&b, load, per);
	if (b.height > 0)
		place(&b, b.height, 0);
	for (int h = 1; h <= b.height; h++)
		load_inner(&b, h);
	t->tree.levels = b.height + 1;
	t->tree.root = b.nodes[b.height].values[0];
	for (int h = 0; h <= b.height; h++)
		pairs_free(b.nodes[h]);
	return t;
}

/* --- search, scan ------------------------------------------------------- */

INLINE uint32_t *
page_link(char *node, int level, const PageHow how)
{
	return level <= 1 ? &LINK(node) : NULL;
}

INLINE uint32_t
page_child(char *node, Key key, int *at, const PageHow how, Path *path)
{
	int			rank;

	path_add(path, node, NODE);
	prefetch_lines(node, NODE);
	rank = find_le(INNER_KEYS(node), COUNT(node), key, how.finder) - 1;
	rank = LAB_MAX(rank, 0);
	if (at != NULL)
		*at = rank;
	return child(node, rank);
}

INLINE int
page_rank(char *leaf, Key key, const PageHow how, Path *path)
{
	path_add(path, leaf, NODE);
	prefetch_lines(leaf, NODE);
	return find_le(LEAF_KEYS(leaf), COUNT(leaf), key, how.finder);
}

INLINE Key
page_key(char *leaf, int at, const PageHow how)
{
	return LEAF_KEYS(leaf)[at];
}

INLINE uint32_t
page_value(char *leaf, int at, const PageHow how, Path *path)
{
	return LEAF_TIDS(leaf)[at];
}

/* c->below is the page whose nodes were asked for. */
INLINE void
page_ahead(Tree *t, PageCursor *c, const PageStep *steps, const PageHow how)
{
	if (steps != NULL)
		c->below = 0;
	else if (c->below != (uintptr_t) header_of(c->page))
		__builtin_prefetch(header_of(c->page));
}

/* All nodes of the page. */
NOINLINE void
ask_page(const PageHeader *h)
{
	for (uint64_t map = h->map; map != 0; map &= map - 1)
	{
		const char *node = (const char *) h + LINE +
			__builtin_ctzll(map) * NODE;

#pragma GCC unroll 16
		for (int i = 0; i < NODE; i += LINE)
			__builtin_prefetch(node + i);
	}
}

/* If the scan leaves the node, all nodes of its page are asked for first. */
INLINE long
page_copy(PageCursor *c, long n, Tid *out, const PageHow how)
{
	PageHeader *h = header_of(c->page);
	long		take = LAB_MIN(n, (long) COUNT(c->page) - (long) c->position);

	if (c->below != (uintptr_t) h && n > take)
	{
		ask_page(h);
		c->below = (uintptr_t) h;
	}
	memcpy(out, LEAF_TIDS(c->page) + c->position, sizeof(Tid) * (size_t) take);
	c->position += (uint64_t) take;
	return take;
}

/* --- splits ------------------------------------------------------------- */

static void
put_child(char *node, int at, Key key, uint32_t no)
{
	memmove(INNER_LINES(node) + at + 1, INNER_LINES(node) + at,
			sizeof(uint16_t) * (size_t) (COUNT(node) - at));
	pairs_put(INNER(node), COUNT(node), at, key, 0);
	set_child(node, at, no);
	COUNT(node)++;
}

/* The upper half of the entries of a node goes to an empty one. */
static Key
halve(char *left, char *right, bool leaf)
{
	int			half = COUNT(left) / 2;
	int			rest = COUNT(left) - half;

	COUNT(right) = (uint16_t) rest;
	COUNT(left) = (uint16_t) half;
	LINK(right) = LINK(left);
	if (leaf)
	{
		pairs_copy(LEAF(right), pairs_from(LEAF(left), half), rest);
		return LEAF_KEYS(right)[0];
	}
	pairs_copy(INNER(right), pairs_from(INNER(left), half), rest);
	memcpy(INNER_LINES(right), INNER_LINES(left) + half,
		   sizeof(uint16_t) * (size_t) rest);
	return INNER_KEYS(right)[0];
}

/* The parent, which has room, gets a sibling; or the root gets a parent. */
static void
put_sibling(CacheTree *t, const PageStep *way, int height, Key key,
			uint32_t right)
{
	uint32_t	old = t->tree.root;
	char	   *node;

	if (height < t->tree.levels - 1)
	{
		put_child(node_at(t, way[height + 1].no), way[height + 1].at + 1, key,
				  right);
		return;
	}
	/* into the page of the old root, if there is room and it is no leaf */
	t->tree.root = new_node(t, height > 0 && room(t, old) > 0 ? old :
							new_page(t, PAGE_INNER));
	node = node_at(t, t->tree.root);
	COUNT(node) = 0;
	LINK(node) = 0;
	put_child(node, 0, 0, old);
	put_child(node, 1, key, right);
	if (++t->tree.levels > MAX_HEIGHT)
		lab_fail("the tree is too high");
	if (height == 0)
		set_backs(t, t->tree.root);
}

/* Split a node; its sibling has this empty place. */
static void
split_node(CacheTree *t, const PageStep *way, int height, uint32_t right)
{
	char	   *node = node_at(t, way[height].no);
	Key			key = halve(node, node_at(t, right), height == 0);

	if (height <= 1)
		LINK(node) = right;
	if (height == 1)
		set_backs(t, right);
	t->tree.splits += height == 0;
	put_sibling(t, way, height, key, right);
}

/* The upper half of a leaf page's nodes goes to a new page. */
static void
split_leaf_page(CacheTree *t, uint32_t page)
{
	PageHeader *h = header(t, page);
	uint32_t	to = new_page(t, PAGE_LEAVES);
	uint32_t	parent = h->back;
	uint32_t	leaf = h->first;
	char	   *prev = NULL;
	int			n = (int) h->used;
	int			at = 0;

	while (child(node_at(t, parent), at) != leaf)
		at++;
	for (int i = 0; i < n; i++, at++)
	{
		char	   *node = node_at(t, leaf);
		uint32_t	next = LINK(node);

		while (at == COUNT(node_at(t, parent)))
		{
			parent = LINK(node_at(t, parent));
			at = 0;
		}
		if (i >= n / 2)
		{
			uint32_t	moved = new_node(t, to);

			memcpy(node_at(t, moved), node, NODE);
			free_node(t, leaf);
			set_child(node_at(t, parent), at, moved);
			LINK(prev) = moved;
			node = node_at(t, moved);
			if (i == n / 2)
			{
				header(t, to)->first = moved;
				header(t, to)->back = parent;
			}
		}
		prev = node;
		leaf = next;
	}
}

/* Move a node and all below it that is in its page to another page. */
static uint32_t
move_subtree(CacheTree *t, uint32_t no, int height, uint32_t to)
{
	uint32_t	moved = new_node(t, to);
	char	   *node = node_at(t, moved);

	memcpy(node, node_at(t, no), NODE);
	free_node(t, no);
	for (int i = 0; height > 1 && i < COUNT(node); i++)
	{
		if (same_page(child(node, i), no))
			set_child(node, i, move_subtree(t, child(node, i), height - 1, to));
	}
	return moved;
}

/* The leaf parent before the one that is on this way, or 0. */
static uint32_t
parent_before(const CacheTree *t, const PageStep *way)
{
	for (int h = 2; h < t->tree.levels; h++)
	{
		uint32_t	no;

		if (way[h].at == 0)
			continue;
		no = child(node_at(t, way[h].no), way[h].at - 1);
		for (h--; h > 1; h--)
			no = child(node_at(t, no), COUNT(node_at(t, no)) - 1);
		return no;
	}
	return 0;
}

/* Links and back pointers to the leaf parents below a node that was moved. */
static void
mend_links(CacheTree *t, uint32_t no, int height)
{
	char	   *node = node_at(t, no);
	PageStep	way[MAX_LEVELS];
	uint32_t	before;

	for (int i = 0; height > 1 && i < COUNT(node); i++)
	{
		if (same_page(child(node, i), no))
			mend_links(t, child(node, i), height - 1);
	}
	if (height > 1)
		return;
	tree_descend(&t->tree, INNER_KEYS(node)[0], way, (PageHow) {FIND_BINARY},
				 NULL);
	before = parent_before(t, way);
	if (before != 0)
		LINK(node_at(t, before)) = no;
	set_backs(t, no);
}

/*
 * Make room in the page of an inner node that is no leaf parent.  "top" is the
 * height of the page's top node; the parent of that has room.
 */
static void
split_inner_page(CacheTree *t, const PageStep *way, int top)
{
	char	   *node = node_at(t, way[top].no);
	uint32_t	to = new_page(t, PAGE_INNER);
	uint32_t	right;
	char	   *upper;

	if (COUNT(node) < INNER_ENTRIES / 2)
	{
		right = move_subtree(t, child(node, way[top].at), top - 1, to);
		set_child(node, way[top].at, right);
		mend_links(t, right, top - 1);
		return;
	}
	right = new_node(t, to);
	upper = node_at(t, right);
	halve(node, upper, false);
	for (int i = 0; i < COUNT(upper); i++)
	{
		if (same_page(child(upper, i), way[top].no))
			set_child(upper, i, move_subtree(t, child(upper, i), top - 1, to));
	}
	put_sibling(t, way, top, INNER_KEYS(upper)[0], right);
	mend_links(t, right, top);
}

/* One step towards room in the node at this height, which is full. */
static void
make_room(CacheTree *t, const PageStep *way, int height)
{
	uint32_t	no = way[height].no;
	int			highest = t->tree.levels - 1;
	bool		root = height == highest;
	int			top = height;

	if (!root && COUNT(node_at(t, way[height + 1].no)) == INNER_ENTRIES)
		make_room(t, way, height + 1);
	else if (room(t, no) > (root && height > 0))
		split_node(t, way, height, new_node(t, no));
	else if (height == 0 && !root)
		split_leaf_page(t, no);
	else if (height == 1)
		split_node(t, way, height, new_overflow_node(t));
	else
	{
		while (top < highest && same_page(way[top + 1].no, no))
			top++;
		if (top < highest &&
			COUNT(node_at(t, way[top + 1].no)) == INNER_ENTRIES)
			make_room(t, way, top + 1);
		else
			split_inner_page(t, way, top);
	}
}

/* --- changes ------------------------------------------------------------ */

INLINE PageResult
page_insert(char *leaf, int level, Key key, Tid tid, int *at, const PageHow how)
{
	int			rank = page_rank(leaf, key, how, NULL);

	if (rank > 0 && LEAF_KEYS(leaf)[rank - 1] == key)
		return PAGE_THERE;
	if (COUNT(leaf) == LEAF_ENTRIES)
		return PAGE_FULL;
	pairs_put(LEAF(leaf), COUNT(leaf), rank, key, tid);
	COUNT(leaf)++;
	return PAGE_DONE;
}

/* Step by step, each from the root: none has to know what another one moved. */
NOINLINE void
tree_divide(Tree *t, PageStep *steps, Key key, Tid tid, const PageHow how)
{
	char	   *leaf;

	do
	{
		make_room((CacheTree *) t, steps, 0);
		leaf = tree_descend(t, key, steps, how, NULL);
	} while (page_insert(leaf, 0, key, tid, NULL, how) == PAGE_FULL);
}

INLINE void
page_drop(Tree *t, PageStep *steps, char *leaf, int at, const PageHow how)
{
	pairs_drop(LEAF(leaf), COUNT(leaf), at);
	COUNT(leaf)--;
}

/* --- statistics, check -------------------------------------------------- */

static void
cache_stats(const void *tree, Stats *s)
{
	tree_stats(tree, s);
	s->overflow = ((const CacheTree *) tree)->overflows;
}

/* Of the walk, list is in the last leaf page, slot the number that came. */
static void
page_view(Walk *w, char *node, uint32_t no, int level, View *v,
		  const PageHow how)
{
	PageHeader *h = header_of(node);
	int			above = level > 0;

	v->n = COUNT(node) - above;
	v->keys = above ? INNER_KEYS(node) + 1 : LEAF_KEYS(node);
	for (int i = 0; above && i < COUNT(node); i++)
		v->kid[i] = child(node, i);
	if ((h->map >> slot_of(no) & 1) == 0)
		w->wrong = "a node is in a free slot";
	if (above != (h->kind != PAGE_LEAVES) || v->n < 0 ||
		(level > 1 && h->kind == PAGE_OVERFLOW))
		w->wrong = "an inner node is empty, or a page has another kind of node";
	if (above || (w->list != 0 && same_page(w->list, no)))
		return;
	w->list = no;
	w->slot++;
	if (h->first != no)
		w->wrong = "a leaf page has another first node";
	if (((const Tree *) w->tree)->levels > 1 && h->back != w->before[1])
		w->wrong = "a back pointer is wrong";
}

static const char *
cache_check(const void *tree, const PageHow how)
{
	const CacheTree *t = tree;
	const Arena *pages = &t->tree.nodes;
	Walk		w = {.tree = t, .how = &how, .view = tree_view};
	long		used = 0;

	walk_node(&w, t->tree.root, t->tree.levels - 1, 0, 0, true);
	if (w.wrong == NULL && w.slot != t->tree.leaves)
		w.wrong = "a leaf page's nodes are not neighbours";
	/* no page is given back, so all that were given out are in use */
	for (uint32_t i = 1; i < pages->used && !lab.scattered; i++)
	{
		PageHeader *h = header(t, i * LINES);

		if (h->used != (uint32_t) __builtin_popcountll(h->map))
			w.wrong = "a page's map has another number of nodes";
		used += h->used;
	}
	if (!lab.scattered && pages->used - 1 != pages->live)
		w.wrong = "pages are lost";
	return walk_end(&w, lab.scattered ? w.nodes : used, w.leaves);
}

/* --- the trees ---------------------------------------------------------- */

#define cache_destroy tree_destroy

TREE_KIND(cachefirst, "cache-first fpB+", "cache-first", cache, .pages = true,
		  {FIND_BINARY})
TREE_KIND(vcachefirst, "cache-first fpB+, SIMD", "cache-first", cache,
		  .pages = true, {FIND_SIMD})
