/*-------------------------------------------------------------------------
 *
 * tree_csb.c
 *	  Cache-sensitive B+-trees, with nodes of one line and of several that are
 *	  prefetched (pCSB+).
 *
 * After Rao and Ross, as Chen, Gibbons and Mowry compare with them: an inner
 * node has one pointer, to the group of its children, which lie side by side,
 * and so has nearly twice the keys.  Leaves are those of B+-trees.
 *
 * The paper loads and searches only.  Insertion is an extra here: a group has
 * room for all children that its parent can have ("full" CSB+-trees), a new
 * node moves those on its right, and a full group is divided into two.  A
 * group's first leaf never moves, so links from other groups stay right.
 * Deletion is lazy, and removes no node.
 *
 *-------------------------------------------------------------------------
 */
#include "find.h"

typedef struct CsbShape
{
	int			w;				/* lines of a node */
	bool		prefetch;
	Finder		finder;
} CsbShape;

typedef struct CsbTree
{
	CsbShape	shape;
	Arena		groups;
	uint32_t	root;			/* a group of one node */
	int			levels;
	long		leaves;
	long		nodes;
	long		splits;
} CsbTree;

#define MAX_LEVELS	32

/* A node on the way to a leaf, and the child that was taken. */
typedef struct CsbStep
{
	char	   *node;
	int			at;
} CsbStep;

typedef struct CsbCursor
{
	char	   *leaf;			/* NULL: no more entries */
	int32_t		at;
} CsbCursor;

/* --- layout ------------------------------------------------------------- */

/* Keys of an inner node; its count and its group take 8 bytes. */
INLINE int
inner_keys(int w)
{
	return (w * LINE - 8) / KEYSIZE;
}

/* Nodes of a group. */
INLINE int
group_max(int w)
{
	return inner_keys(w) + 1;
}

INLINE int
leaf_entries(int w)
{
	return (w * LINE - KEYSIZE - 4) / (KEYSIZE + 4);
}

#define COUNT(p)		(*(uint32_t *) (p))
#define GROUP(p)		(*(uint32_t *) ((p) + 4))
#define INNER_KEYS(p)	((Key *) ((p) + 8))
#define LEAF_KEYS(p)	((Key *) ((p) + KEYSIZE))
#define TIDS(p, w)		((Tid *) ((p) + KEYSIZE * (1 + leaf_entries(w))))
#define LINK(p, w)		(*(uint32_t *) ((p) + (w) * LINE - 4))

/* A leaf's number for links: its group, and its place in it. */
INLINE char *
node_at(const CsbTree *t, uint32_t group, int at, int w)
{
	return arena_at(&t->groups, group, (size_t) (group_max(w) * w * LINE)) +
		at * w * LINE;
}

INLINE char *
leaf_at(const CsbTree *t, uint32_t leaf, int w)
{
	return node_at(t, leaf / (uint32_t) group_max(w),
				   (int) (leaf % (uint32_t) group_max(w)), w);
}

INLINE uint32_t
leaf_number(uint32_t group, int at, int w)
{
	return group * (uint32_t) group_max(w) + (uint32_t) at;
}

/* --- bulk load ---------------------------------------------------------- */

/* A level's nodes lie in groups as the level above will want them. */
typedef struct Level
{
	uint32_t   *group;
	Key		   *low;			/* of each node */
	int		   *size;			/* of each group */
	long		ngroups;
} Level;

/* Divide n nodes into groups of "per", none of one node unless it is alone. */
static Level
level_plan(CsbTree *t, long n, int per)
{
	Level		l;
	long		max = n / per + 1;

	l.group = lab_alloc(sizeof(uint32_t) * (size_t) max);
	l.size = lab_alloc(sizeof(int) * (size_t) max);
	l.low = lab_alloc(sizeof(Key) * (size_t) n);
	l.ngroups = 0;
	for (long i = 0; i < n; l.ngroups++)
	{
		int			take = (int) LAB_MIN(per, n - i);

		if (n - i - take == 1)
			take += take > 2 ? -1 : 1;
		l.group[l.ngroups] = arena_new(&t->groups);
		l.size[l.ngroups] = take;
		i += take;
	}
	t->nodes += n;
	return l;
}

static void
level_free(Level *l)
{
	free(l->group);
	free(l->size);
	free(l->low);
}

static Level
load_leaves(CsbTree *t, const Load *load, int group)
{
	int			w = t->shape.w;
	int			per = LAB_MAX(1, leaf_entries(w) * load->fill / 100);
	long		n = LAB_MAX(1, (load->n + per - 1) / per);
	Level		l = level_plan(t, n, group);
	char	   *prev = NULL;
	long		i = 0;
	long		k = 0;

	for (long g = 0; g < l.ngroups; g++)
	{
		for (int at = 0; at < l.size[g]; at++, k++)
		{
			int			take = (int) LAB_MIN(per, load->n - i);
			char	   *p = node_at(t, l.group[g], at, w);

			COUNT(p) = (uint32_t) take;
			memcpy(LEAF_KEYS(p), load->keys + i, sizeof(Key) * (size_t) take);
			memcpy(TIDS(p, w), load->tids + i, sizeof(Tid) * (size_t) take);
			LINK(p, w) = 0;
			if (prev != NULL)
				LINK(prev, w) = leaf_number(l.group[g], at, w);
			prev = p;
			l.low[k] = take > 0 ? load->keys[i] : 0;
			i += take;
		}
	}
	t->leaves = n;
	return l;
}

static void *
csb_build(const Load *load, CsbShape shape)
{
	CsbTree    *t = lab_alloc(sizeof(CsbTree));
	int			w = shape.w;
	int			group = LAB_MAX(2, group_max(w) * load->fill / 100);
	Level		below;

	t->shape = shape;
	arena_init(&t->groups, (size_t) (group_max(w) * w * LINE),
			   (uint64_t) (load->expect * 100 / load->fill / leaf_entries(w) *
						   5 / 4 / group + 16));
	below = load_leaves(t, load, group);
	for (t->levels = 1; below.ngroups > 1 || below.size[0] > 1; t->levels++)
	{
		Level		l = level_plan(t, below.ngroups, group);
		long		k = 0;
		long		first = 0;

		for (long g = 0; g < l.ngroups; g++)
		{
			for (int at = 0; at < l.size[g]; at++, k++)
			{
				char	   *p = node_at(t, l.group[g], at, w);
				int			n = below.size[k] - 1;

				COUNT(p) = (uint32_t) n;
				GROUP(p) = below.group[k];
				memcpy(INNER_KEYS(p), below.low + first + 1,
					   sizeof(Key) * (size_t) n);
				l.low[k] = below.low[first];
				first += n + 1;
			}
		}
		level_free(&below);
		below = l;
	}
	t->root = below.group[0];
	level_free(&below);
	return t;
}

static void
csb_destroy(void *tree)
{
	CsbTree    *t = tree;

	arena_destroy(&t->groups);
	free(t);
}

/* --- search, scan ------------------------------------------------------- */

/* The leaf of a key; steps, if not NULL, get inner nodes by level. */
INLINE char *
csb_descend(const CsbTree *t, Key key, const CsbShape s, CsbStep *steps,
			Path *path)
{
	char	   *p = node_at(t, t->root, 0, s.w);

	for (int level = t->levels - 1; level > 0; level--)
	{
		int			at;

		path_add(path, p, (size_t) s.w * LINE);
		if (s.prefetch)
			prefetch_lines(p, (size_t) s.w * LINE);
		at = find_le(INNER_KEYS(p), (int) COUNT(p), key, s.finder);
		if (steps != NULL)
		{
			steps[level].node = p;
			steps[level].at = at;
		}
		p = node_at(t, GROUP(p), at, s.w);
	}
	path_add(path, p, (size_t) s.w * LINE);
	if (s.prefetch)
		prefetch_lines(p, (size_t) s.w * LINE);
	return p;
}

INLINE Tid
csb_find(const CsbTree *t, Key key, const CsbShape s, Path *path)
{
	char	   *p = csb_descend(t, key, s, NULL, path);
	int			at = find_le(LEAF_KEYS(p), (int) COUNT(p), key, s.finder);

	return at > 0 && LEAF_KEYS(p)[at - 1] == key ? TIDS(p, s.w)[at - 1] : 0;
}

INLINE void
csb_open_scan(const CsbTree *t, Key from, CsbCursor *c, const CsbShape s)
{
	c->leaf = csb_descend(t, from, s, NULL, NULL);
	c->at = find_le(LEAF_KEYS(c->leaf), (int) COUNT(c->leaf), from, s.finder);
	if (c->at > 0 && LEAF_KEYS(c->leaf)[c->at - 1] == from)
		c->at--;
}

INLINE long
csb_scan_on(const CsbTree *t, CsbCursor *c, long n, Tid *out, const CsbShape s)
{
	long		got = 0;

	while (c->leaf != NULL)
	{
		int			take = (int) LAB_MIN(n - got, (int) COUNT(c->leaf) - c->at);
		uint32_t	next;

		memcpy(out + got, TIDS(c->leaf, s.w) + c->at,
			   sizeof(Tid) * (size_t) take);
		got += take;
		c->at += take;
		if (got == n)
			break;
		next = LINK(c->leaf, s.w);
		c->leaf = next != 0 ? leaf_at(t, next, s.w) : NULL;
		c->at = 0;
		if (s.prefetch && next != 0)
			prefetch_lines(c->leaf, (size_t) s.w * LINE);
	}
	return got;
}

/* --- insertion ---------------------------------------------------------- */

/*
 * Set the links inside a group of n leaves, from the first one on, and that of
 * the last one to "next".
 */
static void
group_link(CsbTree *t, uint32_t group, int n, uint32_t next)
{
	int			w = t->shape.w;

	for (int i = 0; i < n; i++)
		LINK(node_at(t, group, i, w), w) =
			i + 1 < n ? leaf_number(group, i + 1, w) : next;
}

/*
 * Divide the full group of a parent between it and a new node, "right", which
 * lies on its right already.  Returns the first key of the latter's children.
 */
static Key
group_split(CsbTree *t, char *parent, char *right, bool leaves)
{
	int			w = t->shape.w;
	size_t		node = (size_t) w * LINE;
	int			n = (int) COUNT(parent) + 1;
	int			half = n / 2;
	uint32_t	group = GROUP(parent);
	uint32_t	new_group = arena_new(&t->groups);
	Key			separator = INNER_KEYS(parent)[half - 1];
	uint32_t	next = 0;

	if (leaves)
		next = LINK(node_at(t, group, n - 1, w), w);
	memcpy(node_at(t, new_group, 0, w), node_at(t, group, half, w),
		   node * (size_t) (n - half));
	COUNT(right) = (uint32_t) (n - half - 1);
	GROUP(right) = new_group;
	memcpy(INNER_KEYS(right), INNER_KEYS(parent) + half,
		   sizeof(Key) * COUNT(right));
	COUNT(parent) = (uint32_t) half - 1;
	if (leaves)
	{
		group_link(t, new_group, n - half, next);
		LINK(node_at(t, group, half - 1, w), w) = leaf_number(new_group, 0, w);
	}
	return separator;
}

/*
 * Make room for a node on the right of the one that steps[level] leads to, in
 * the group below.  If that is full, its parent is split first, which may move
 * the parent: steps follow.  The parent's key for the new node is not yet set.
 */
static char *
group_room(CsbTree *t, CsbStep *steps, int level)
{
	int			w = t->shape.w;
	size_t		node = (size_t) w * LINE;
	char	   *p;
	int			at;
	int			n;

	if (level == t->levels)
	{
		uint32_t	root = arena_new(&t->groups);

		p = node_at(t, root, 0, w);
		COUNT(p) = 0;
		GROUP(p) = t->root;
		t->root = root;
		t->levels++;
		t->nodes++;
		steps[level].node = p;
		steps[level].at = 0;
	}
	p = steps[level].node;
	if ((int) COUNT(p) == inner_keys(w))
	{
		char	   *right = group_room(t, steps, level + 1);
		int			left_at = steps[level + 1].at;
		char	   *above = steps[level + 1].node;
		Key			separator;

		/* the parent may have moved with its group */
		p = node_at(t, GROUP(above), left_at, w);
		right = node_at(t, GROUP(above), left_at + 1, w);
		separator = group_split(t, p, right, level == 1);
		INNER_KEYS(above)[left_at] = separator;
		t->nodes++;
		if (steps[level].at > (int) COUNT(p))
		{
			steps[level].at -= (int) COUNT(p) + 1;
			steps[level + 1].at++;
			p = right;
		}
		steps[level].node = p;
	}
	at = steps[level].at;
	n = (int) COUNT(p) + 1;
	memmove(node_at(t, GROUP(p), at + 2, w), node_at(t, GROUP(p), at + 1, w),
			node * (size_t) (n - at - 1));
	memmove(INNER_KEYS(p) + at + 1, INNER_KEYS(p) + at,
			sizeof(Key) * (size_t) (n - at - 1));
	COUNT(p)++;
	return node_at(t, GROUP(p), at + 1, w);
}

static void
leaf_put(char *p, int w, int at, Key key, Tid tid)
{
	size_t		tail = COUNT(p) - (size_t) at;

	memmove(LEAF_KEYS(p) + at + 1, LEAF_KEYS(p) + at, tail * sizeof(Key));
	memmove(TIDS(p, w) + at + 1, TIDS(p, w) + at, tail * sizeof(Tid));
	LEAF_KEYS(p)[at] = key;
	TIDS(p, w)[at] = tid;
	COUNT(p)++;
}

/* Split the full leaf that steps lead to, and put the entry into a half. */
NOINLINE void
leaf_split(CsbTree *t, CsbStep *steps, int at, Key key, Tid tid)
{
	int			w = t->shape.w;
	char	   *q = group_room(t, steps, 1);
	char	   *above = steps[1].node;
	int			kid = steps[1].at;
	uint32_t	group = GROUP(above);
	char	   *p = node_at(t, group, kid, w);
	int			last = (int) COUNT(above);
	int			n = (int) COUNT(p);
	int			half = (n + 1) / 2;
	uint32_t	next;

	/* of the group's last leaf, which may be the one that is split */
	next = LINK(node_at(t, group, kid + 1 < last ? last : kid, w), w);
	if (t->shape.prefetch)
		prefetch_lines(q, (size_t) w * LINE);
	COUNT(q) = (uint32_t) (n - half);
	memcpy(LEAF_KEYS(q), LEAF_KEYS(p) + half, sizeof(Key) * (size_t) (n - half));
	memcpy(TIDS(q, w), TIDS(p, w) + half, sizeof(Tid) * (size_t) (n - half));
	COUNT(p) = (uint32_t) half;
	INNER_KEYS(above)[kid] = LEAF_KEYS(q)[0];
	group_link(t, group, last + 1, next);
	if (at <= half)
		leaf_put(p, w, at, key, tid);
	else
		leaf_put(q, w, at - half, key, tid);
	t->leaves++;
	t->nodes++;
	t->splits++;
}

INLINE bool
csb_put(CsbTree *t, Key key, Tid tid, const CsbShape s)
{
	CsbStep		steps[MAX_LEVELS];
	char	   *p = csb_descend(t, key, s, steps, NULL);
	int			at = find_le(LEAF_KEYS(p), (int) COUNT(p), key, s.finder);

	if (at > 0 && LEAF_KEYS(p)[at - 1] == key)
		return false;
	if ((int) COUNT(p) < leaf_entries(s.w))
		leaf_put(p, s.w, at, key, tid);
	else
		leaf_split(t, steps, at, key, tid);
	return true;
}

INLINE bool
csb_take(CsbTree *t, Key key, const CsbShape s)
{
	char	   *p = csb_descend(t, key, s, NULL, NULL);
	int			at = find_le(LEAF_KEYS(p), (int) COUNT(p), key, s.finder) - 1;
	size_t		tail;

	if (at < 0 || LEAF_KEYS(p)[at] != key)
		return false;
	tail = COUNT(p) - (size_t) at - 1;
	memmove(LEAF_KEYS(p) + at, LEAF_KEYS(p) + at + 1, tail * sizeof(Key));
	memmove(TIDS(p, s.w) + at, TIDS(p, s.w) + at + 1, tail * sizeof(Tid));
	COUNT(p)--;
	return true;
}

/* --- statistics, check -------------------------------------------------- */

static void
csb_stats(const void *tree, Stats *s)
{
	const CsbTree *t = tree;

	memset(s, 0, sizeof(*s));
	s->levels = t->levels;
	s->nodes = t->nodes;
	s->leaves = t->leaves;
	s->bytes = (size_t) t->groups.live * t->groups.unit;
	s->splits = t->splits;
	s->leaf_entries = leaf_entries(t->shape.w);
}

typedef struct CsbCheck
{
	const CsbTree *t;
	uint32_t	next;			/* leaf that must come, if "any" came */
	bool		any;
	long		leaves;
	long		nodes;
	const char *wrong;
} CsbCheck;

static void
check_leaf(CsbCheck *c, uint32_t group, int at, Key low, Key high, bool last)
{
	int			w = c->t->shape.w;
	char	   *p = node_at(c->t, group, at, w);

	c->leaves++;
	if (c->any && c->next != leaf_number(group, at, w))
		c->wrong = "leaves are linked in another order";
	c->any = true;
	c->next = LINK(p, w);
	for (uint32_t i = 0; i < COUNT(p); i++)
	{
		Key			key = LEAF_KEYS(p)[i];

		if (key < low || (!last && key >= high) ||
			(i > 0 && key <= LEAF_KEYS(p)[i - 1]))
			c->wrong = "keys are not in order";
	}
}

static void
check_node(CsbCheck *c, uint32_t group, int at, int level, Key low, Key high,
		   bool last)
{
	char	   *p = node_at(c->t, group, at, c->t->shape.w);
	int			n = (int) COUNT(p);

	c->nodes++;
	if (level == 0)
	{
		check_leaf(c, group, at, low, high, last);
		return;
	}
	for (int i = 0; i <= n && c->wrong == NULL; i++)
	{
		if (i > 0 && (INNER_KEYS(p)[i - 1] < low ||
					  (!last && INNER_KEYS(p)[i - 1] >= high)))
			c->wrong = "keys are not in order";
		check_node(c, GROUP(p), i, level - 1,
				   i > 0 ? INNER_KEYS(p)[i - 1] : low,
				   i < n ? INNER_KEYS(p)[i] : high, last && i == n);
	}
}

static const char *
csb_check(const void *tree)
{
	const CsbTree *t = tree;
	CsbCheck	c = {.t = t};

	check_node(&c, t->root, 0, t->levels - 1, 0, 0, true);
	if (c.wrong == NULL && c.next != 0)
		c.wrong = "the last leaf has a next one";
	if (c.wrong == NULL && (c.leaves != t->leaves || c.nodes != t->nodes))
		c.wrong = "nodes are lost";
	return c.wrong;
}

/* --- the trees ---------------------------------------------------------- */

#define CSB_TREE(id, text, width, ahead, find) \
static const CsbShape id##_shape = {width, ahead, find}; \
static void *id##_build(const Load *l) { return csb_build(l, id##_shape); } \
static Tid id##_search(const void *t, Key k) \
{ return csb_find(t, k, id##_shape, NULL); } \
static void id##_visit(const void *t, Key k, Path *path) \
{ csb_find(t, k, id##_shape, path); } \
static void id##_open(void *t, Key k, Cursor *c) \
{ csb_open_scan(t, k, CURSOR(CsbCursor, c), id##_shape); } \
static long id##_next(void *t, Cursor *c, long n, Tid *out) \
{ return csb_scan_on(t, CURSOR(CsbCursor, c), n, out, id##_shape); } \
static bool id##_insert(void *t, Key k, Tid tid) \
{ return csb_put(t, k, tid, id##_shape); } \
static bool id##_delete(void *t, Key k) \
{ return csb_take(t, k, id##_shape); } \
const TreeKind id = { \
	.name = #id, .label = text, .shape = "csb " #width " " #ahead, \
	.build = id##_build, .destroy = csb_destroy, .search = id##_search, \
	.visit = id##_visit, .open = id##_open, .next = id##_next, \
	.insert = id##_insert, .delete = id##_delete, .stats = csb_stats, \
	.check = csb_check \
};

CSB_TREE(csb1, "CSB+", 1, false, FIND_BINARY)
CSB_TREE(csb8, "p8CSB+", 8, true, FIND_BINARY)
CSB_TREE(vcsb1, "CSB+, SIMD", 1, false, FIND_SIMD)
CSB_TREE(vcsb8, "p8CSB+, SIMD", 8, true, FIND_SIMD)
