/*-------------------------------------------------------------------------
 *
 * tree_mem.c
 *	  B+-trees in memory: nodes of one cache line, nodes of several lines that
 *	  are prefetched (pB+), these with an external or an internal jump-pointer
 *	  array; cache-sensitive ones (CSB+), also with several lines (pCSB+).
 *
 * After Chen, Gibbons, Mowry: Improving Index Performance through Prefetching.
 * A node has its number of keys, then the keys, then pointers or tuple ids; a
 * leaf also has the next leaf's number.  A key of an inner node is the lowest
 * one below the child on its right.
 *
 * With an external array leaves have a hint, too, and one entry fewer.  With an
 * internal one the inner nodes above leaves are linked.
 *
 * Deletion is lazy: when a leaf's last entry goes, half of a sibling's entries
 * come, or it is removed if the sibling has but one.  Inner nodes with one child
 * get children of a sibling likewise.
 *
 * CSB+-trees are those of Rao and Ross, as that paper compares with them: an
 * inner node has one pointer, to the group of its children, and so has nearly
 * twice the keys.  The paper loads and searches only.  Insertion is an extra
 * here: a new node moves those on its right, and a full group is divided into
 * two ("full" CSB+-trees).  A group's first leaf never moves, so links from
 * other groups stay right.  Deletion removes no node.
 *
 *-------------------------------------------------------------------------
 */
#include "find.h"

typedef enum MemKind
{
	MEM_PLAIN,
	MEM_EXTERNAL,
	MEM_INTERNAL,
	MEM_GROUPS
} MemKind;

typedef struct PageHow
{
	int			w;				/* lines of a node */
	MemKind		kind;
	bool		prefetch;
	Finder		finder;
} PageHow;

static void array_visit(const Tree *t, char *leaf, Path *path,
						const PageHow how);

#define PAGE_BYTES(how)	((size_t) (how).w * LINE)
#define PAGE_STEPS(steps) (steps)
#define PAGE_VISITED(t, leaf, path, how) array_visit(t, leaf, path, how)
#define PAGE_RANKED
#define PAGE_PAIRS
#define COUNT(p)		(*(uint32_t *) (p))
#include "pagetree.h"

#define MAX_W			32
#define MAX_KIDS		(MAX_W * LINE / 8 + 2)

/* --- layout ------------------------------------------------------------- */

/*
 * Entries of a leaf, from which count, link and hint take some; children of an
 * inner node, and of one above leaves, from which a link may take some.  A node
 * of a group has a key less than children, its count and its children's group.
 */
INLINE int
page_capacity(int level, const PageHow how)
{
	int			taken = 0;

	if (level > 0 && how.kind == MEM_GROUPS)
		return (how.w * LINE - 8) / KEYSIZE + 1;
	if (level == 0)
		taken = KEYSIZE + 4 + (how.kind == MEM_EXTERNAL ? 4 : 0);
	else if (level == 1 && how.kind == MEM_INTERNAL)
		taken = 4;
	return (how.w * LINE - taken) / (KEYSIZE + 4);
}

#define KEYS(p)			((Key *) ((p) + KEYSIZE))
#define KIDS(p, how) \
	((uint32_t *) ((p) + KEYSIZE * (how.w * LINE / (KEYSIZE + 4))))
#define GROUP(p)		(*(uint32_t *) ((p) + 4))
#define GROUP_KEYS(p)	((Key *) ((p) + 8))
#define LINK(p, how)	((uint32_t *) ((p) + how.w * LINE - 4))
#define HINT(p, how)	(*(uint32_t *) ((p) + how.w * LINE - 8))

INLINE uint32_t *
page_link(char *page, int level, const PageHow how)
{
	return level == 0 || (level == 1 && how.kind == MEM_INTERNAL) ?
		LINK(page, how) : NULL;
}

/* Entries of a leaf; of an inner node, keys and the children after them. */
INLINE Pairs
page_pairs(char *page, int level, const PageHow how)
{
	return (Pairs) {KEYS(page), level > 0 ? KIDS(page, how) + 1 :
		(uint32_t *) (KEYS(page) + page_capacity(0, how))};
}

static void
page_fill(char *page, int level, Pairs entries, int n, const PageHow how)
{
	int			above = level > 0;

	if (above)
		KIDS(page, how)[0] = entries.values[0];
	COUNT(page) = (uint32_t) (n - above);
	pairs_copy(page_pairs(page, level, how), pairs_from(entries, above),
			   n - above);
}

/*
 * A leaf's entries, or the children of an inner node, which does not know the
 * first one's key; their number.
 */
static int
page_list(char *page, int level, Pairs out, const PageHow how)
{
	int			above = level > 0;

	if (above)
		out.values[0] = KIDS(page, how)[0];
	pairs_copy(pairs_from(out, above), page_pairs(page, level, how),
			   COUNT(page));
	return (int) COUNT(page) + above;
}

INLINE void
page_prefetch(const char *page, const PageHow how)
{
	if (how.prefetch)
		prefetch_lines(page, PAGE_BYTES(how));
}

/* --- external jump-pointer array ---------------------------------------- */

/*
 * A list of chunks of 8 lines: numbers of leaves in the order of keys, with
 * holes (0) between them.  A leaf's hint is its chunk, which is right, and its
 * slot, which may be out of date.
 */
#define CHUNK_SLOTS		126

typedef struct Chunk
{
	uint32_t	slot[CHUNK_SLOTS];
	uint32_t	prev;
	uint32_t	next;
} Chunk;

INLINE Chunk *
chunk_at(const Tree *t, uint32_t no)
{
	return (Chunk *) arena_at(&t->others, no, sizeof(Chunk));
}

INLINE void
set_hint(const Tree *t, uint32_t leaf, uint32_t chunk, int slot,
		 const PageHow how)
{
	HINT(page_at(t, leaf, how), how) = chunk * CHUNK_SLOTS + (uint32_t) slot;
}

/* Put leaves into a chunk, holes evenly between them, and correct their hints. */
static void
chunk_spread(const Tree *t, uint32_t no, const uint32_t *leaves, int n,
			 const PageHow how)
{
	Chunk	   *c = chunk_at(t, no);

	memset(c->slot, 0, sizeof(c->slot));
	for (int i = 0; i < n; i++)
	{
		int			slot = i * CHUNK_SLOTS / n;

		c->slot[slot] = leaves[i];
		set_hint(t, leaves[i], no, slot, how);
	}
}

/* A new chunk after another one, or the first. */
static uint32_t
chunk_new(Tree *t, uint32_t after)
{
	uint32_t	no = arena_new(&t->others);
	Chunk	   *c = chunk_at(t, no);

	c->prev = after;
	c->next = 0;
	if (after != 0)
	{
		c->next = chunk_at(t, after)->next;
		chunk_at(t, after)->next = no;
		if (c->next != 0)
			chunk_at(t, c->next)->prev = no;
	}
	return no;
}

/* The slot nearest to this one that has a number, or -1. */
static int
chunk_nearest(const uint32_t *s, int slot, uint32_t number)
{
	for (int d = 1; d < CHUNK_SLOTS; d++)
	{
		if (slot + d < CHUNK_SLOTS && s[slot + d] == number)
			return slot + d;
		if (slot >= d && s[slot - d] == number)
			return slot - d;
	}
	return -1;
}

/*
 * Slot of a leaf in its chunk, from the hint in both directions.  The hint is
 * corrected, as the leaf is in the cache.
 */
INLINE int
chunk_find(const Tree *t, uint32_t leaf, uint32_t *chunk, const PageHow how)
{
	uint32_t	hint = HINT(page_at(t, leaf, how), how);
	int			slot = (int) (hint % CHUNK_SLOTS);
	const uint32_t *s;

	*chunk = hint / CHUNK_SLOTS;
	s = chunk_at(t, *chunk)->slot;
	if (s[slot] == leaf)
		return slot;
	slot = chunk_nearest(s, slot, leaf);
	if (slot < 0)
		lab_fail("leaf %u is not in its chunk", leaf);
	set_hint(t, leaf, *chunk, slot, how);
	return slot;
}

/* Divide a full chunk, with a new leaf after the one in "slot". */
static void
chunk_split(Tree *t, uint32_t chunk, int slot, uint32_t new_leaf,
			const PageHow how)
{
	uint32_t	leaves[CHUNK_SLOTS + 1];
	int			half = (CHUNK_SLOTS + 1) / 2;
	uint32_t	right;

	memcpy(leaves, chunk_at(t, chunk)->slot, sizeof(uint32_t) * (slot + 1));
	leaves[slot + 1] = new_leaf;
	memcpy(leaves + slot + 2, chunk_at(t, chunk)->slot + slot + 1,
		   sizeof(uint32_t) * (CHUNK_SLOTS - slot - 1));
	right = chunk_new(t, chunk);
	chunk_spread(t, chunk, leaves, half, how);
	chunk_spread(t, right, leaves + half, CHUNK_SLOTS + 1 - half, how);
}

/*
 * Put a new leaf's number after that of the leaf which was split, moving what
 * is between it and the nearest hole.  The hints of moved ones stay.
 */
static void
array_insert(Tree *t, uint32_t leaf, uint32_t new_leaf, const PageHow how)
{
	uint32_t	chunk;
	int			slot = chunk_find(t, leaf, &chunk, how);
	uint32_t   *s = chunk_at(t, chunk)->slot;
	int			hole = chunk_nearest(s, slot, 0);

	if (hole < 0)
	{
		chunk_split(t, chunk, slot, new_leaf, how);
		return;
	}
	if (hole > slot)
	{
		slot++;
		memmove(s + slot + 1, s + slot, sizeof(*s) * (size_t) (hole - slot));
	}
	else
	{
		memmove(s + hole, s + hole + 1, sizeof(*s) * (size_t) (slot - hole));
		set_hint(t, leaf, chunk, slot - 1, how);
	}
	s[slot] = new_leaf;
	set_hint(t, new_leaf, chunk, slot, how);
}

/* A removed leaf leaves a hole; a chunk without leaves is removed. */
static void
array_remove(Tree *t, uint32_t leaf, const PageHow how)
{
	uint32_t	no;
	int			slot = chunk_find(t, leaf, &no, how);
	Chunk	   *c = chunk_at(t, no);

	c->slot[slot] = 0;
	for (int i = 0; i < CHUNK_SLOTS; i++)
	{
		if (c->slot[i] != 0)
			return;
	}
	if (c->prev != 0)
		chunk_at(t, c->prev)->next = c->next;
	if (c->next != 0)
		chunk_at(t, c->next)->prev = c->prev;
	arena_release(&t->others, no);
}

static void
array_build(Tree *t, int fill, const PageHow how)
{
	int			per = LAB_MAX(1, CHUNK_SLOTS * fill / 100);
	uint32_t   *leaves = lab_alloc(sizeof(uint32_t) * (size_t) t->leaves);
	uint32_t	no = t->root;
	uint32_t	chunk = 0;

	for (int level = t->levels - 1; level > 0; level--)
		no = KIDS(page_at(t, no, how), how)[0];
	for (long i = 0; i < t->leaves; no = *LINK(page_at(t, no, how), how))
		leaves[i++] = no;
	arena_init(&t->others, sizeof(Chunk),
			   (uint64_t) (t->nodes.max / 4 / per + 2));
	for (long i = 0; i < t->leaves; i += per)
	{
		chunk = chunk_new(t, chunk);
		chunk_spread(t, chunk, leaves + i, (int) LAB_MIN(per, t->leaves - i),
					 how);
	}
	free(leaves);
}

/* What a scan reads beside leaves belongs to it: two chunks of the array. */
static void
array_visit(const Tree *t, char *leaf, Path *path, const PageHow how)
{
	const Chunk *c;

	if (how.kind != MEM_EXTERNAL)
		return;
	c = chunk_at(t, HINT(leaf, how) / CHUNK_SLOTS);
	path_add(path, c, sizeof(Chunk));
	if (c->next != 0)
		path_add(path, chunk_at(t, c->next), sizeof(Chunk));
}

/* --- search ------------------------------------------------------------- */

INLINE int
page_rank(char *page, Key key, const PageHow how, Path *path)
{
	path_add(path, page, PAGE_BYTES(how));
	page_prefetch(page, how);
	return find_le(KEYS(page), (int) COUNT(page), key, how.finder);
}

INLINE uint32_t
page_child(char *page, Key key, int *at, const PageHow how, Path *path)
{
	bool		group = how.kind == MEM_GROUPS;
	int			rank;

	path_add(path, page, PAGE_BYTES(how));
	page_prefetch(page, how);
	rank = find_le(group ? GROUP_KEYS(page) : KEYS(page), (int) COUNT(page),
				   key, how.finder);
	if (at != NULL)
		*at = rank;
	return group ? GROUP(page) + (uint32_t) rank : KIDS(page, how)[rank];
}

/* --- scan --------------------------------------------------------------- */

/*
 * The next leaf's number in the external array, or 0 at its end.  Upon entering
 * a chunk the one after it is asked for.
 */
INLINE uint32_t
external_next(const Tree *t, PageCursor *c)
{
	const Chunk *chunk = chunk_at(t, c->list);

	for (;;)
	{
		while (++c->slot < CHUNK_SLOTS)
		{
			if (chunk->slot[c->slot] != 0)
				return chunk->slot[c->slot];
		}
		if (chunk->next == 0)
			return 0;
		c->list = chunk->next;
		c->slot = -1;
		chunk = chunk_at(t, c->list);
		if (chunk->next != 0)
			prefetch_lines(chunk_at(t, chunk->next), sizeof(Chunk));
	}
}

/* A scan comes to an inner node above leaves, and asks for the next one. */
INLINE char *
internal_enter(const Tree *t, PageCursor *c, uint32_t no, int kid,
			   const PageHow how)
{
	char	   *bottom = page_at(t, no, how);

	c->list = no;
	c->slot = kid;
	if (*LINK(bottom, how) != 0)
		prefetch_lines(page_at(t, *LINK(bottom, how), how), PAGE_BYTES(how));
	return bottom;
}

/* The next leaf's number, or 0: children of inner nodes, which are linked. */
INLINE uint32_t
internal_next(const Tree *t, PageCursor *c, const PageHow how)
{
	char	   *bottom = page_at(t, c->list, how);

	if (++c->slot > (int) COUNT(bottom))
	{
		if (*LINK(bottom, how) == 0)
			return 0;
		bottom = internal_enter(t, c, *LINK(bottom, how), 0, how);
	}
	return KIDS(bottom, how)[c->slot];
}

/* Where the array goes on after the first leaf of a scan. */
INLINE void
array_open(const Tree *t, PageCursor *c, const PageStep *steps,
		   const PageHow how)
{
	c->ahead = 0;
	c->end = how.kind == MEM_INTERNAL && t->levels == 1;
	if (how.kind == MEM_EXTERNAL)
	{
		Chunk	   *chunk = chunk_at(t, HINT(c->page, how) / CHUNK_SLOTS);

		prefetch_lines(chunk, sizeof(Chunk));
		c->slot = chunk_find(t, steps[0].no, &c->list, how);
		if (chunk->next != 0)
			prefetch_lines(chunk_at(t, chunk->next), sizeof(Chunk));
	}
	else if (how.kind == MEM_INTERNAL && !c->end)
		internal_enter(t, c, steps[1].no, steps[1].at, how);
}

INLINE void
page_ahead(Tree *t, PageCursor *c, const PageStep *steps, const PageHow how)
{
	if (steps != NULL)
		array_open(t, c, steps, how);
	else
	{
		c->ahead--;
		page_prefetch(c->page, how);
	}
	if (how.kind != MEM_EXTERNAL && how.kind != MEM_INTERNAL)
		return;
	for (; !c->end && c->ahead < lab.distance; c->ahead++)
	{
		uint32_t	next = how.kind == MEM_EXTERNAL ? external_next(t, c) :
			internal_next(t, c, how);

		if (next == 0)
			c->end = true;
		else
			prefetch_lines(page_at(t, next, how), PAGE_BYTES(how));
	}
}

/* --- insertion ---------------------------------------------------------- */

INLINE PageResult
page_insert(char *page, int level, Key key, uint32_t value, int *at,
			const PageHow how)
{
	int			n = (int) COUNT(page);

	if (level == 0)
	{
		*at = page_rank(page, key, how, NULL);
		if (*at > 0 && KEYS(page)[*at - 1] == key)
			return PAGE_THERE;
	}
	if (n + (level > 0) == page_capacity(level, how))
		return PAGE_FULL;
	pairs_put(page_pairs(page, level, how), n, *at, key, value);
	COUNT(page)++;
	return PAGE_DONE;
}

/* Half of a full leaf's entries go to a new one. */
static void
leaf_split(char *p, char *q, int at, Key key, Tid tid, const PageHow how)
{
	int			n = (int) COUNT(p);
	int			half = (n + 1) / 2;
	char	   *to = at <= half ? p : q;

	page_fill(q, 0, pairs_from(page_pairs(p, 0, how), half), n - half, how);
	COUNT(p) = (uint32_t) half;
	pairs_put(page_pairs(to, 0, how), (int) COUNT(to),
			  at <= half ? at : at - half, key, tid);
	COUNT(to)++;
}

/* --- groups (CSB+) ------------------------------------------------------ */

/*
 * Children of a node lie side by side, in a group: a unit of the arena that has
 * room for all that the node can have.  A node's number is that of its place.
 */
static uint32_t
group_new(Tree *t, const PageHow how)
{
	return arena_new(&t->nodes) * (uint32_t) page_capacity(1, how);
}

/*
 * Give n nodes of a level numbers, in groups of "per": none has one node unless
 * it is alone.
 */
static void
group_nodes(Tree *t, uint32_t *no, long n, int per, const PageHow how)
{
	for (long i = 0; i < n;)
	{
		uint32_t	first = group_new(t, how);
		int			take = (int) LAB_MIN(per, n - i);

		if (n - i - take == 1)
			take += take > 2 ? -1 : 1;
		for (int j = 0; j < take; j++)
			no[i++] = first + (uint32_t) j;
	}
	t->count += n;
}

/* Nodes above those of a level, which become these; their number. */
static long
group_level(Tree *t, Pairs level, long n, int per, const PageHow how)
{
	uint32_t	max = (uint32_t) page_capacity(1, how);
	uint32_t   *no;
	char	   *p = NULL;
	long		above = 0;

	for (long i = 0; i < n; i++)
		above += level.values[i] % max == 0;
	no = lab_alloc(sizeof(uint32_t) * (size_t) above);
	group_nodes(t, no, above, per, how);
	above = 0;
	for (long i = 0; i < n; i++)
	{
		if (level.values[i] % max != 0)
		{
			GROUP_KEYS(p)[COUNT(p)++] = level.keys[i];
			continue;
		}
		p = page_at(t, no[above], how);
		COUNT(p) = 0;
		GROUP(p) = level.values[i];
		level.keys[above++] = level.keys[i];
	}
	memcpy(level.values, no, sizeof(uint32_t) * (size_t) above);
	free(no);
	return above;
}

static void *
group_build(const Load *load, const PageHow how)
{
	Tree	   *t = lab_alloc(sizeof(Tree));
	int			group = load_take(load, page_capacity(1, how));
	int			per = load_take(load, page_capacity(0, how));
	long		n = LAB_MAX(1, (load->n + per - 1) / per);
	Pairs		level = pairs_new(n);

	t->leaf_entries = page_capacity(0, how);
	arena_init(&t->nodes, PAGE_BYTES(how) * (size_t) page_capacity(1, how),
			   load_units(load, t->leaf_entries) / (uint64_t) group + 16);
	t->leaves = n;
	group_nodes(t, level.values, n, group, how);
	for (long i = 0; i < n; i++)
	{
		char	   *p = page_at(t, level.values[i], how);
		Pairs		from = pairs_from(load->pairs, i * per);

		page_fill(p, 0, from, (int) LAB_MIN(per, load->n - i * per), how);
		*LINK(p, how) = i + 1 < n ? level.values[i + 1] : 0;
		level.keys[i] = load->n > 0 ? from.keys[0] : 0;
	}
	for (t->levels = 1; n > 1; t->levels++)
		n = group_level(t, level, n, group, how);
	t->root = level.values[0];
	pairs_free(level);
	return t;
}

/* Links inside a group of n leaves, and from the last one to "next". */
static void
group_link(const Tree *t, uint32_t group, int n, uint32_t next,
		   const PageHow how)
{
	for (int i = 0; i < n; i++)
		*LINK(page_at(t, group + (uint32_t) i, how), how) =
			i + 1 < n ? group + (uint32_t) i + 1 : next;
}

/*
 * Divide the full group of a parent between it and a new node, "right", which
 * lies on its right already.  Returns the first key of the latter's children.
 */
static Key
group_split(Tree *t, char *parent, char *right, bool leaves, const PageHow how)
{
	int			n = (int) COUNT(parent) + 1;
	int			half = n / 2;
	uint32_t	middle = GROUP(parent) + (uint32_t) half;
	uint32_t	group = group_new(t, how);

	memcpy(page_at(t, group, how), page_at(t, middle, how),
		   PAGE_BYTES(how) * (size_t) (n - half));
	COUNT(right) = (uint32_t) (n - half - 1);
	GROUP(right) = group;
	memcpy(GROUP_KEYS(right), GROUP_KEYS(parent) + half,
		   sizeof(Key) * COUNT(right));
	COUNT(parent) = (uint32_t) half - 1;
	if (leaves)
	{
		group_link(t, group, n - half, *LINK(page_at(
			t, GROUP(parent) + (uint32_t) n - 1, how), how), how);
		*LINK(page_at(t, middle - 1, how), how) = group;
	}
	return GROUP_KEYS(parent)[half - 1];
}

/*
 * Make room for a node on the right of the one that steps[level] leads to, in
 * the group below.  If that is full, its parent is split first, which may move
 * the parent: steps follow.  The parent's key for the new node is not yet set.
 */
static void
group_room(Tree *t, PageStep *steps, int level, const PageHow how)
{
	PageStep   *step = &steps[level];
	char	   *p;
	char	   *kid;
	int			tail;

	if (level == t->levels)
	{
		*step = (PageStep) {group_new(t, how), 0};
		COUNT(page_at(t, step->no, how)) = 0;
		GROUP(page_at(t, step->no, how)) = t->root;
		t->root = step->no;
		t->levels++;
		t->count++;
	}
	p = page_at(t, step->no, how);
	if ((int) COUNT(p) + 1 == page_capacity(1, how))
	{
		char	   *above;

		group_room(t, steps, level + 1, how);
		above = page_at(t, step[1].no, how);
		/* the parent may have moved with its group */
		step->no = GROUP(above) + (uint32_t) step[1].at;
		p = page_at(t, step->no, how);
		GROUP_KEYS(above)[step[1].at] =
			group_split(t, p, p + PAGE_BYTES(how), level == 1, how);
		t->count++;
		if (step->at > (int) COUNT(p))
		{
			step->at -= (int) COUNT(p) + 1;
			step->no++;
			step[1].at++;
			p += PAGE_BYTES(how);
		}
	}
	tail = (int) COUNT(p) - step->at;
	kid = page_at(t, GROUP(p) + (uint32_t) step->at + 1, how);
	memmove(kid + PAGE_BYTES(how), kid, PAGE_BYTES(how) * (size_t) tail);
	memmove(GROUP_KEYS(p) + step->at + 1, GROUP_KEYS(p) + step->at,
			sizeof(Key) * (size_t) tail);
	COUNT(p)++;
}

/* Split the full leaf that steps lead to, and put the entry into a half. */
static void
group_divide(Tree *t, PageStep *steps, Key key, Tid tid, const PageHow how)
{
	char	   *above;
	char	   *p;
	uint32_t	at,
				last,
				next;

	group_room(t, steps, 1, how);
	above = page_at(t, steps[1].no, how);
	at = (uint32_t) steps[1].at;
	last = COUNT(above);
	p = page_at(t, GROUP(above) + at, how);
	/* of the group's last leaf, which may be the one that is split */
	next = *LINK(page_at(t, GROUP(above) + (at + 1 < last ? last : at), how),
				 how);
	page_prefetch(p + PAGE_BYTES(how), how);
	leaf_split(p, p + PAGE_BYTES(how), steps[0].at, key, tid, how);
	GROUP_KEYS(above)[at] = KEYS(p + PAGE_BYTES(how))[0];
	group_link(t, GROUP(above), (int) last + 1, next, how);
	t->leaves++;
	t->count++;
	t->splits++;
}

/* --- splits --------------------------------------------------------------- */

static void *
mem_build(const Load *load, const PageHow how)
{
	Tree	   *t;

	if (how.kind == MEM_GROUPS)
		return group_build(load, how);
	t = tree_build(load, how);
	if (how.kind == MEM_EXTERNAL)
		array_build(t, load->fill, how);
	return t;
}

static uint32_t
page_split(Tree *t, PageStep *step, int level, Key *key, uint32_t value,
		   const PageHow how)
{
	uint32_t	no;
	char	   *p = page_at(t, step->no, how);
	char	   *q;
	Key			keys[MAX_KIDS];
	uint32_t	kids[MAX_KIDS];
	Pairs		all = {keys, kids};
	int			n;

	if (how.kind == MEM_GROUPS)
	{
		group_divide(t, step, *key, value, how);
		return 0;
	}
	no = arena_new(&t->nodes);
	q = page_at(t, no, how);
	/* the new node's lines are asked for before entries are put into it */
	page_prefetch(q, how);
	if (level == 0)
	{
		leaf_split(p, q, step->at, *key, value, how);
		if (how.kind == MEM_EXTERNAL)
			array_insert(t, step->no, no, how);
		*key = KEYS(q)[0];
		return no;
	}
	n = page_list(p, level, all, how) + 1;
	pairs_put(all, n - 1, step->at + 1, *key, value);
	page_fill(p, level, all, n / 2, how);
	page_fill(q, level, pairs_from(all, n / 2), n - n / 2, how);
	*key = keys[n / 2];
	return no;
}

/* --- deletion ----------------------------------------------------------- */

/* The child on the right of the at'th key goes, and that key. */
static void
node_remove(Tree *t, char *above, int at, int level, const PageHow how)
{
	uint32_t	no = KIDS(above, how)[at + 1];
	uint32_t   *link = page_link(page_at(t, no, how), level, how);

	if (link != NULL)
		*page_link(page_at(t, KIDS(above, how)[at], how), level, how) = *link;
	pairs_drop(page_pairs(above, 1, how), (int) COUNT(above), at);
	COUNT(above)--;
	arena_release(&t->nodes, no);
}

/*
 * A leaf has lost its last entry: share a sibling's entries with it, or remove
 * the right one of the two if the other has but one entry.  Inner nodes that
 * are left with one child get some of a sibling's, or the two are joined.  A
 * root with one child is removed.
 */
NOINLINE void
node_refill(Tree *t, PageStep *steps, const PageHow how)
{
	for (int level = 0;; level++)
	{
		Key			keys[2 * MAX_KIDS];
		uint32_t	values[2 * MAX_KIDS];
		Pairs		all = {keys, values};
		char	   *node = page_at(t, steps[level].no, how);
		char	   *above;
		char	   *p;
		char	   *q;
		int			at,
					n,
					left;

		if (COUNT(node) > 0)
			return;
		if (level == t->levels - 1)
		{
			t->root = KIDS(node, how)[0];
			t->levels--;
			arena_release(&t->nodes, steps[level].no);
			return;
		}
		above = page_at(t, steps[level + 1].no, how);
		at = LAB_MIN(steps[level + 1].at, (int) COUNT(above) - 1);
		p = page_at(t, KIDS(above, how)[at], how);
		q = page_at(t, KIDS(above, how)[at + 1], how);
		page_prefetch(node == p ? q : p, how);
		left = page_list(p, level, all, how);
		n = left + page_list(q, level, pairs_from(all, left), how);
		if (level > 0)
			keys[left] = KEYS(above)[at];
		if (n > (level > 0 ? 3 : 1))
		{
			page_fill(p, level, all, n / 2, how);
			page_fill(q, level, pairs_from(all, n / 2), n - n / 2, how);
			KEYS(above)[at] = keys[n / 2];
			return;
		}
		page_fill(p, level, all, n, how);
		if (level == 0 && how.kind == MEM_EXTERNAL)
			array_remove(t, KIDS(above, how)[at + 1], how);
		t->leaves -= level == 0;
		node_remove(t, above, at, level, how);
	}
}

INLINE void
page_drop(Tree *t, PageStep *steps, char *page, int at, const PageHow how)
{
	pairs_drop(page_pairs(page, 0, how), (int) COUNT(page), at);
	if (--COUNT(page) == 0 && t->levels > 1 && how.kind != MEM_GROUPS)
		node_refill(t, steps, how);
}

/* --- check -------------------------------------------------------------- */

/* The next leaf of the external array must be this one, and know its chunk. */
static void
array_view(Walk *w, char *leaf, uint32_t no, const PageHow how)
{
	PageCursor	c = {.list = w->list, .slot = w->slot};

	if (w->leaves == 1)
	{
		c.list = HINT(leaf, how) / CHUNK_SLOTS;
		c.slot = -1;
	}
	if (external_next(w->tree, &c) != no)
		w->wrong = "the array has leaves in another order";
	else if (HINT(leaf, how) / CHUNK_SLOTS != c.list)
		w->wrong = "a leaf has another chunk";
	else if (c.list != w->list && chunk_at(w->tree, c.list)->prev != w->list)
		w->wrong = "a chunk does not know the one before it";
	w->list = c.list;
	w->slot = c.slot;
}

static void
page_view(Walk *w, char *page, uint32_t no, int level, View *v,
		  const PageHow how)
{
	bool		group = how.kind == MEM_GROUPS;

	v->n = (int) COUNT(page);
	v->keys = group && level > 0 ? GROUP_KEYS(page) : KEYS(page);
	if (v->n == 0 && ((const Tree *) w->tree)->levels > 1 &&
		(level > 0 || !group))
		w->wrong = "a leaf is empty, or an inner node has one child";
	for (int i = 0; level > 0 && i <= v->n; i++)
		v->kid[i] = group ? GROUP(page) + (uint32_t) i : KIDS(page, how)[i];
	if (level == 0 && how.kind == MEM_EXTERNAL && w->wrong == NULL)
		array_view(w, page, no, how);
}

/* --- the trees ---------------------------------------------------------- */

#define mem_destroy	tree_destroy
#define mem_stats	tree_stats
#define mem_check	tree_check

#define MEM_TREE(id, text, width, array, ahead, find) \
	TREE_KIND(id, text, "memory " #width " " #array " " #ahead, mem, \
			  .pages = false, {width, array, ahead, find})

MEM_TREE(b1, "B+", 1, MEM_PLAIN, false, FIND_BINARY)
MEM_TREE(n8, "B+, 8 lines, not prefetched", 8, MEM_PLAIN, false, FIND_BINARY)
MEM_TREE(p1, "p1B+", 1, MEM_PLAIN, true, FIND_BINARY)
MEM_TREE(p2, "p2B+", 2, MEM_PLAIN, true, FIND_BINARY)
MEM_TREE(p4, "p4B+", 4, MEM_PLAIN, true, FIND_BINARY)
MEM_TREE(p8, "p8B+", 8, MEM_PLAIN, true, FIND_BINARY)
MEM_TREE(p12, "p12B+", 12, MEM_PLAIN, true, FIND_BINARY)
MEM_TREE(p16, "p16B+", 16, MEM_PLAIN, true, FIND_BINARY)
MEM_TREE(p24, "p24B+", 24, MEM_PLAIN, true, FIND_BINARY)
MEM_TREE(p32, "p32B+", 32, MEM_PLAIN, true, FIND_BINARY)
MEM_TREE(e8, "p8B+, external array", 8, MEM_EXTERNAL, true, FIND_BINARY)
MEM_TREE(i8, "p8B+, internal array", 8, MEM_INTERNAL, true, FIND_BINARY)
MEM_TREE(v1, "B+, SIMD", 1, MEM_PLAIN, false, FIND_SIMD)
MEM_TREE(v4, "p4B+, SIMD", 4, MEM_PLAIN, true, FIND_SIMD)
MEM_TREE(v8, "p8B+, SIMD", 8, MEM_PLAIN, true, FIND_SIMD)
MEM_TREE(v16, "p16B+, SIMD", 16, MEM_PLAIN, true, FIND_SIMD)
MEM_TREE(csb1, "CSB+", 1, MEM_GROUPS, false, FIND_BINARY)
MEM_TREE(csb8, "p8CSB+", 8, MEM_GROUPS, true, FIND_BINARY)
MEM_TREE(vcsb1, "CSB+, SIMD", 1, MEM_GROUPS, false, FIND_SIMD)
MEM_TREE(vcsb8, "p8CSB+, SIMD", 8, MEM_GROUPS, true, FIND_SIMD)
