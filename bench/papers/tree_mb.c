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

typedef struct PageHow
{
	Finder		root;			/* search of the root */
	bool		prefetch_middle;
	bool		prefetch_leaf;
	bool		unique;
	bool		small_leaves;	/* leaves in pages that are never large */
} PageHow;

#define NODE		512

#define PAGE_BYTES(how)	NODE
#define PAGE_OWN_BUILD
#define PAGE_OWN_DESCENT
#include "pagetree.h"

/* Units of tree.nodes are leaves, of tree.others middle nodes. */
typedef struct MbTree
{
	Tree		tree;
	Pairs		root;			/* lowest keys below middle nodes, and these */
	int			n;
	int			max;
} MbTree;

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
/* keys, and the children after them */
#define BETWEEN(p)		((Pairs) {KEYS(p), KIDS(p) + 1})

INLINE char *
middle_at(const MbTree *t, uint32_t no)
{
	return arena_at(&t->tree.others, no, NODE);
}

INLINE char *
leaf_at(const MbTree *t, uint32_t no)
{
	return arena_at(&t->tree.nodes, no, NODE);
}

INLINE uint32_t *
page_link(char *leaf, int level, const PageHow how)
{
	return level == 0 ? &LINK(leaf) : NULL;
}

/* --- bulk load ---------------------------------------------------------- */

/* The root gets a middle node.  Its arrays grow by half: that costs little. */
static void
root_put(MbTree *t, int at, Key key, uint32_t kid)
{
	if (t->n == t->max)
	{
		Pairs		old = t->root;

		t->max += t->max / 2 + 64;
		t->root = pairs_new(t->max);
		if (t->n > 0)
			pairs_copy(t->root, old, t->n);
		pairs_free(old);
	}
	pairs_put(t->root, t->n++, at, key, kid);
}

static uint32_t
load_leaf(MbTree *t, const Load *load, long at, int n)
{
	uint32_t	no = arena_new(&t->tree.nodes);
	char	   *p = leaf_at(t, no);

	COUNT(p) = (uint32_t) n;
	pairs_copy((Pairs) {KEYS(p), TIDS(p)}, pairs_from(load->pairs, at), n);
	LINK(p) = 0;
	t->tree.leaves++;
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
mb_build(const Load *load, const PageHow how)
{
	MbTree	   *t = lab_alloc(sizeof(MbTree));
	int			entries = load_take(load, ENTRIES);
	int			kids = load_take(load, KIDS_MAX);
	long		leaves = load->expect / entries * 5 / 4 + 2;
	int			memory = lab.memory;
	char	   *prev = NULL;
	char	   *p = NULL;
	long		i = 0;

	t->tree.levels = 3;
	t->tree.leaf_entries = ENTRIES;
	arena_init(&t->tree.others, NODE, (uint64_t) (leaves / kids * 5 / 4 + 2));
	if (how.small_leaves)
		lab.memory = 0;
	arena_init(&t->tree.nodes, NODE, (uint64_t) leaves);
	lab.memory = memory;
	do
	{
		int			n = (int) LAB_MIN(entries, load->n - i);
		uint32_t	no = load_leaf(t, load, i, n);
		/* keys that come before all others sort after the root's first */
		Key			low = prev != NULL ? load->pairs.keys[i] : 0;

		if (prev != NULL)
			LINK(prev) = no;
		prev = leaf_at(t, no);
		if (p == NULL || (int) COUNT(p) + 1 == kids)
		{
			root_put(t, t->n, low, arena_new(&t->tree.others));
			p = middle_at(t, t->root.values[t->n - 1]);
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

	pairs_free(t->root);
	tree_destroy(t);
}

/* --- search ------------------------------------------------------------- */

/* The leaf of a key; steps: it, the middle node and its child, the root's. */
INLINE char *
tree_descend(Tree *tree, Key key, PageStep *steps, const PageHow how,
			 Path *path)
{
	const MbTree *t = (MbTree *) tree;
	int			top = find_le(t->root.keys, t->n, key, how.root) - 1;
	char	   *middle;
	char	   *leaf;
	int			at;

	top = LAB_MAX(top, 0);
	path_add(path, t->root.keys, sizeof(Key) * (size_t) t->n);
	path_add(path, t->root.values + top, sizeof(uint32_t));
	middle = middle_at(t, t->root.values[top]);
	path_add(path, middle, NODE);
	if (how.prefetch_middle)
		prefetch_lines(middle, NODE);
	at = find_simd(KEYS(middle), (int) COUNT(middle), key);
	leaf = leaf_at(t, KIDS(middle)[at]);
	path_add(path, leaf, NODE);
	if (how.prefetch_leaf)
		prefetch_lines(leaf, NODE);
	if (steps != NULL)
	{
		steps[0].no = KIDS(middle)[at];
		steps[1] = (PageStep) {t->root.values[top], at};
		steps[2].at = top;
	}
	return leaf;
}

INLINE Tid
page_lookup(Tree *t, char *leaf, Key key, const PageHow how, Path *path)
{
	int			at = find_equal(KEYS(leaf), (int) COUNT(leaf), key);

	return at >= 0 ? TIDS(leaf)[at] : 0;
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
		e[i] = (MbEntry) {KEYS(leaf)[i], TIDS(leaf)[i]};
	qsort(e, (size_t) n, sizeof(*e), entry_cmp);
	return n;
}

INLINE void
page_open(Tree *t, PageCursor *c, Key key, const PageHow how)
{
	c->position = 0;
	for (uint32_t i = 0; i < COUNT(c->page); i++)
		c->position += KEYS(c->page)[i] < key;
}

INLINE void
page_ahead(Tree *t, PageCursor *c, const PageStep *steps, const PageHow how)
{
	if (LINK(c->page) != 0)
		prefetch_lines(page_at(t, LINK(c->page), how), NODE);
}

/* A position is one in the order of keys. */
static long
page_copy(PageCursor *c, long n, Tid *out, const PageHow how)
{
	MbEntry		e[ENTRIES];
	int			count = leaf_sort(c->page, e);
	long		got = 0;

	while ((int) c->position < count && got < n)
		out[got++] = e[c->position++].tid;
	return got;
}

/* --- changes ------------------------------------------------------------ */

/* A middle node on the right of a full one takes half of its children. */
static void
middle_split(MbTree *t, PageStep *steps)
{
	char	   *p = middle_at(t, steps[1].no);
	uint32_t	no = arena_new(&t->tree.others);
	char	   *q = middle_at(t, no);
	int			half = ((int) COUNT(p) + 1) / 2;
	int			rest = (int) COUNT(p) - half;

	root_put(t, steps[2].at + 1, KEYS(p)[half - 1], no);
	COUNT(q) = (uint32_t) rest;
	KIDS(q)[0] = KIDS(p)[half];
	pairs_copy(BETWEEN(q), pairs_from(BETWEEN(p), half), rest);
	COUNT(p) = (uint32_t) half - 1;
	if (steps[1].at >= half)
		steps[1] = (PageStep) {no, steps[1].at - half};
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
tree_divide(Tree *tree, PageStep *steps, Key key, Tid tid, const PageHow how)
{
	MbTree	   *t = (MbTree *) tree;
	MbEntry		e[ENTRIES];
	uint32_t	no = arena_new(&tree->nodes);
	char	   *p = leaf_at(t, steps[0].no);
	char	   *q = leaf_at(t, no);
	int			n = leaf_sort(p, e);
	int			half = n / 2;
	char	   *above;

	COUNT(p) = COUNT(q) = 0;
	for (int i = 0; i < n; i++)
		leaf_append(i < half ? p : q, e[i].key, e[i].tid);
	LINK(q) = LINK(p);
	LINK(p) = no;
	leaf_append(key < e[half].key ? p : q, key, tid);
	tree->leaves++;
	tree->splits++;
	if ((int) COUNT(middle_at(t, steps[1].no)) + 1 == KIDS_MAX)
		middle_split(t, steps);
	above = middle_at(t, steps[1].no);
	pairs_put(BETWEEN(above), (int) COUNT(above), steps[1].at, e[half].key, no);
	COUNT(above)++;
}

/* "unique": the caller knows that the key is not there. */
INLINE PageResult
page_insert(char *leaf, int level, Key key, uint32_t tid, int *at,
			const PageHow how)
{
	if (!how.unique && find_equal(KEYS(leaf), (int) COUNT(leaf), key) >= 0)
		return PAGE_THERE;
	if (COUNT(leaf) == ENTRIES)
		return PAGE_FULL;
	leaf_append(leaf, key, tid);
	return PAGE_DONE;
}

INLINE bool
page_delete(Tree *t, char *p, PageStep *steps, Key key, const PageHow how)
{
	int			at = find_equal(KEYS(p), (int) COUNT(p), key);

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

	tree_stats(tree, s);
	s->nodes += (long) t->tree.others.live + 1;
	s->bytes += s->extra;
	s->extra = (size_t) t->n * (sizeof(Key) + sizeof(uint32_t));
}

static void
page_view(Walk *w, char *leaf, uint32_t no, int level, View *v,
		  const PageHow how)
{
	MbEntry		e[ENTRIES];
	char	   *middle = middle_at(w->tree, no);

	v->n = (int) COUNT(level > 0 ? middle : leaf);
	v->keys = level > 0 ? KEYS(middle) : v->buffer;
	for (int i = 0; level > 0 && i <= v->n; i++)
		v->kid[i] = KIDS(middle)[i];
	if (level == 0)
		leaf_sort(leaf, e);
	for (int i = 0; level == 0 && i < v->n; i++)
		v->buffer[i] = e[i].key;
}

static const char *
mb_check(const void *tree, const PageHow how)
{
	const MbTree *t = tree;
	Walk		w = {.tree = t, .how = &how, .view = tree_view};

	for (int i = 0; i < t->n; i++)
	{
		bool		last = i + 1 == t->n;

		walk_node(&w, t->root.values[i], 1, t->root.keys[i],
				  last ? 0 : t->root.keys[i + 1], last);
		if (!last && t->root.keys[i] >= t->root.keys[i + 1])
			return "the root's keys are not in order";
	}
	return walk_end(&w, (long) t->tree.others.live + t->tree.nodes.live,
					t->tree.nodes.live);
}

/* --- the trees ---------------------------------------------------------- */

/* same: insert() does not look for the key */
#define MB_TREE(id, text, form, same, ...) \
	TREE_KIND(id, text, form, mb, .repeats = same, __VA_ARGS__)

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
