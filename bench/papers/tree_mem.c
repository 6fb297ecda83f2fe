/*-------------------------------------------------------------------------
 *
 * tree_mem.c
 *	  B+-trees in memory: nodes of one cache line, nodes of several lines that
 *	  are prefetched (pB+), and these with an external or an internal
 *	  jump-pointer array.
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
 *-------------------------------------------------------------------------
 */
#include "find.h"

typedef enum MemKind
{
	MEM_PLAIN,
	MEM_EXTERNAL,
	MEM_INTERNAL
} MemKind;

typedef struct MemShape
{
	int			w;				/* lines of a node */
	MemKind		kind;
	bool		prefetch;
	Finder		finder;
} MemShape;

typedef struct MemTree
{
	MemShape	shape;
	Arena		nodes;
	Arena		chunks;			/* of the external jump-pointer array */
	uint32_t	root;
	int			levels;
	uint32_t	first_leaf;
	uint32_t	first_chunk;
	long		leaves;
	long		splits;
} MemTree;

#define MAX_W			32
#define MAX_LEVELS		32
#define MAX_KIDS		(MAX_W * LINE / 8 + 2)

/* A node on the way to a leaf, and the child that was taken. */
typedef struct MemStep
{
	char	   *node;
	int			at;
} MemStep;

typedef struct MemCursor
{
	char	   *leaf;			/* NULL: no more entries */
	char	   *bottom;			/* internal: where the array goes on */
	int32_t		at;				/* in the leaf */
	int32_t		kid;			/* in "bottom" */
	uint32_t	chunk;			/* external: where the array goes on */
	int32_t		slot;
	int32_t		ahead;			/* leaves asked for and not yet visited */
	bool		end;			/* of the array */
} MemCursor;

/* --- layout ------------------------------------------------------------- */

/* Children of an inner node. */
INLINE int
inner_kids(int w)
{
	return w * LINE / (KEYSIZE + 4);
}

/* Children of an inner node above leaves: the link takes 4 bytes. */
INLINE int
bottom_kids(int w, MemKind kind)
{
	return kind == MEM_INTERNAL ? (w * LINE - 4) / (KEYSIZE + 4) :
		inner_kids(w);
}

/* Entries of a leaf: count, link and hint take the rest. */
INLINE int
leaf_entries(int w, MemKind kind)
{
	return (w * LINE - KEYSIZE - 4 - (kind == MEM_EXTERNAL ? 4 : 0)) /
		(KEYSIZE + 4);
}

#define COUNT(p)		(*(uint32_t *) (p))
#define KEYS(p)			((Key *) ((p) + KEYSIZE))
#define KIDS(p, w)		((uint32_t *) ((p) + KEYSIZE * inner_kids(w)))
#define TIDS(p, w, k)	((Tid *) ((p) + KEYSIZE * (1 + leaf_entries(w, k))))
#define LINK(p, w)		(*(uint32_t *) ((p) + (w) * LINE - 4))
#define HINT(p, w)		(*(uint32_t *) ((p) + (w) * LINE - 8))

INLINE char *
node_at(const MemTree *t, uint32_t no, int w)
{
	return arena_at(&t->nodes, no, (size_t) w * LINE);
}

/* A new node; its lines are asked for before entries are put into it. */
static uint32_t
node_new(MemTree *t)
{
	uint32_t	no = arena_new(&t->nodes);
	char	   *p = node_at(t, no, t->shape.w);

	if (t->shape.prefetch)
		prefetch_lines(p, (size_t) t->shape.w * LINE);
	COUNT(p) = 0;
	LINK(p, t->shape.w) = 0;
	return no;
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
chunk_at(const MemTree *t, uint32_t no)
{
	return (Chunk *) arena_at(&t->chunks, no, sizeof(Chunk));
}

/* Put leaves into a chunk, holes evenly between them, and correct their hints. */
static void
chunk_spread(MemTree *t, uint32_t no, const uint32_t *leaves, int n)
{
	Chunk	   *c = chunk_at(t, no);

	memset(c->slot, 0, sizeof(c->slot));
	for (int i = 0; i < n; i++)
	{
		int			slot = i * CHUNK_SLOTS / n;

		c->slot[slot] = leaves[i];
		HINT(node_at(t, leaves[i], t->shape.w), t->shape.w) =
			no * CHUNK_SLOTS + (uint32_t) slot;
	}
}

/* A new chunk after another one, or the first. */
static uint32_t
chunk_new(MemTree *t, uint32_t after)
{
	uint32_t	no = arena_new(&t->chunks);
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
	else
		t->first_chunk = no;
	return no;
}

/*
 * Slot of a leaf in its chunk, from the hint in both directions.  The hint is
 * corrected, as the leaf is in the cache.
 */
INLINE int
chunk_find(const MemTree *t, char *leaf, uint32_t no, int w, uint32_t *chunk)
{
	uint32_t	hint = HINT(leaf, w);
	Chunk	   *c;
	int			slot = (int) (hint % CHUNK_SLOTS);

	*chunk = hint / CHUNK_SLOTS;
	c = chunk_at(t, *chunk);
	if (c->slot[slot] == no)
		return slot;
	for (int d = 1; d < CHUNK_SLOTS; d++)
	{
		int			found = -1;

		if (slot >= d && c->slot[slot - d] == no)
			found = slot - d;
		else if (slot + d < CHUNK_SLOTS && c->slot[slot + d] == no)
			found = slot + d;
		if (found >= 0)
		{
			HINT(leaf, w) = *chunk * CHUNK_SLOTS + (uint32_t) found;
			return found;
		}
	}
	lab_fail("leaf %u is not in its chunk", no);
}

/* Divide a full chunk, with a new leaf after the one in "slot". */
static void
chunk_split(MemTree *t, uint32_t chunk, int slot, uint32_t new_leaf)
{
	uint32_t	leaves[CHUNK_SLOTS + 1];
	int			half = (CHUNK_SLOTS + 1) / 2;
	uint32_t	right;

	memcpy(leaves, chunk_at(t, chunk)->slot, sizeof(uint32_t) * (slot + 1));
	leaves[slot + 1] = new_leaf;
	memcpy(leaves + slot + 2, chunk_at(t, chunk)->slot + slot + 1,
		   sizeof(uint32_t) * (CHUNK_SLOTS - slot - 1));
	right = chunk_new(t, chunk);
	chunk_spread(t, chunk, leaves, half);
	chunk_spread(t, right, leaves + half, CHUNK_SLOTS + 1 - half);
}

/*
 * Put a new leaf's number after that of the leaf which was split, moving what
 * is between it and the nearest hole.  The hints of moved ones stay.
 */
static void
array_insert(MemTree *t, uint32_t leaf, uint32_t new_leaf)
{
	int			w = t->shape.w;
	uint32_t	chunk;
	int			slot = chunk_find(t, node_at(t, leaf, w), leaf, w, &chunk);
	uint32_t   *s = chunk_at(t, chunk)->slot;

	for (int d = 1; d < CHUNK_SLOTS; d++)
	{
		int			right = slot + d;
		int			left = slot - d;

		if (right < CHUNK_SLOTS && s[right] == 0)
		{
			memmove(s + slot + 2, s + slot + 1,
					sizeof(*s) * (size_t) (right - slot - 1));
			s[++slot] = new_leaf;
		}
		else if (left >= 0 && s[left] == 0)
		{
			memmove(s + left, s + left + 1,
					sizeof(*s) * (size_t) (slot - left));
			s[slot] = new_leaf;
			HINT(node_at(t, leaf, w), w) =
				chunk * CHUNK_SLOTS + (uint32_t) slot - 1;
		}
		else
			continue;
		HINT(node_at(t, new_leaf, w), w) = chunk * CHUNK_SLOTS + (uint32_t) slot;
		return;
	}
	chunk_split(t, chunk, slot, new_leaf);
}

/* A removed leaf leaves a hole; a chunk without leaves is removed. */
static void
array_remove(MemTree *t, uint32_t leaf)
{
	int			w = t->shape.w;
	uint32_t	no;
	int			slot = chunk_find(t, node_at(t, leaf, w), leaf, w, &no);
	Chunk	   *c = chunk_at(t, no);

	c->slot[slot] = 0;
	for (int i = 0; i < CHUNK_SLOTS; i++)
	{
		if (c->slot[i] != 0)
			return;
	}
	if (c->prev != 0)
		chunk_at(t, c->prev)->next = c->next;
	else
		t->first_chunk = c->next;
	if (c->next != 0)
		chunk_at(t, c->next)->prev = c->prev;
	arena_release(&t->chunks, no);
}

static void
array_build(MemTree *t, const uint32_t *leaves, long n, int fill)
{
	int			per = LAB_MAX(1, CHUNK_SLOTS * fill / 100);
	uint32_t	chunk = 0;

	arena_init(&t->chunks, sizeof(Chunk),
			   (uint64_t) (t->nodes.max / 4 / per + 2));
	for (long i = 0; i < n; i += per)
	{
		chunk = chunk_new(t, chunk);
		chunk_spread(t, chunk, leaves + i, (int) LAB_MIN(per, n - i));
	}
}

/* --- bulk load ---------------------------------------------------------- */

/* Nodes of a level, and the lowest key of each. */
typedef struct Level
{
	uint32_t   *no;
	Key		   *low;
	long		n;
} Level;

static Level
level_alloc(long n)
{
	Level		l = {lab_alloc(sizeof(uint32_t) * (size_t) (n + 1)),
					 lab_alloc(sizeof(Key) * (size_t) (n + 1)), 0};

	return l;
}

static Level
load_leaves(MemTree *t, const Load *load)
{
	int			w = t->shape.w;
	MemKind		kind = t->shape.kind;
	int			per = LAB_MAX(1, leaf_entries(w, kind) * load->fill / 100);
	Level		l = level_alloc(load->n / per + 1);
	char	   *prev = NULL;
	long		i = 0;

	do
	{
		int			n = (int) LAB_MIN(per, load->n - i);
		uint32_t	no = node_new(t);
		char	   *p = node_at(t, no, w);

		COUNT(p) = (uint32_t) n;
		memcpy(KEYS(p), load->keys + i, sizeof(Key) * (size_t) n);
		memcpy(TIDS(p, w, kind), load->tids + i, sizeof(Tid) * (size_t) n);
		if (prev != NULL)
			LINK(prev, w) = no;
		prev = p;
		l.no[l.n] = no;
		l.low[l.n++] = n > 0 ? load->keys[i] : 0;
		i += n;
	} while (i < load->n);
	return l;
}

/*
 * Inner nodes above a level.  None has fewer than two children: the last but
 * one gives a child away, or the last joins it.
 */
static Level
load_inner(MemTree *t, const Level *below, bool bottom, int fill)
{
	int			w = t->shape.w;
	int			max = bottom ? bottom_kids(w, t->shape.kind) : inner_kids(w);
	int			per = LAB_MAX(2, max * fill / 100);
	Level		l = level_alloc(below->n / per + 1);
	char	   *prev = NULL;

	for (long i = 0; i < below->n;)
	{
		long		rest = below->n - i;
		int			n = (int) LAB_MIN(per, rest);
		uint32_t	no = node_new(t);
		char	   *p = node_at(t, no, w);

		if (rest - n == 1)
			n += n > 2 ? -1 : 1;
		COUNT(p) = (uint32_t) n - 1;
		memcpy(KEYS(p), below->low + i + 1, sizeof(Key) * (size_t) (n - 1));
		memcpy(KIDS(p, w), below->no + i, sizeof(uint32_t) * (size_t) n);
		if (bottom && t->shape.kind == MEM_INTERNAL)
		{
			if (prev != NULL)
				LINK(prev, w) = no;
			LINK(p, w) = 0;
			prev = p;
		}
		l.no[l.n] = no;
		l.low[l.n++] = below->low[i];
		i += n;
	}
	return l;
}

static void *
mem_build(const Load *load, MemShape shape)
{
	MemTree    *t = lab_alloc(sizeof(MemTree));
	int			per = leaf_entries(shape.w, shape.kind);
	Level		level;

	t->shape = shape;
	arena_init(&t->nodes, (size_t) shape.w * LINE,
			   (uint64_t) (load->expect * 100 / load->fill / per * 5 / 4 + 2));
	level = load_leaves(t, load);
	t->leaves = level.n;
	t->first_leaf = level.no[0];
	if (shape.kind == MEM_EXTERNAL)
		array_build(t, level.no, level.n, load->fill);
	for (t->levels = 1; level.n > 1; t->levels++)
	{
		Level		above = load_inner(t, &level, t->levels == 1, load->fill);

		free(level.no);
		free(level.low);
		level = above;
	}
	t->root = level.no[0];
	free(level.no);
	free(level.low);
	return t;
}

static void
mem_destroy(void *tree)
{
	MemTree    *t = tree;

	arena_destroy(&t->nodes);
	arena_destroy(&t->chunks);
	free(t);
}

/* --- search ------------------------------------------------------------- */

/*
 * The leaf of a key.  steps, if not NULL, gets the inner nodes by their levels:
 * 1 is above leaves.
 */
INLINE uint32_t
mem_descend(const MemTree *t, Key key, const MemShape s, MemStep *steps,
			Path *path)
{
	uint32_t	no = t->root;

	for (int level = t->levels - 1; level > 0; level--)
	{
		char	   *p = node_at(t, no, s.w);
		int			at;

		path_add(path, p, (size_t) s.w * LINE);
		if (s.prefetch)
			prefetch_lines(p, (size_t) s.w * LINE);
		at = find_le(KEYS(p), (int) COUNT(p), key, s.finder);
		if (steps != NULL)
		{
			steps[level].node = p;
			steps[level].at = at;
		}
		no = KIDS(p, s.w)[at];
	}
	return no;
}

INLINE Tid
mem_find(const MemTree *t, Key key, const MemShape s, Path *path)
{
	char	   *p = node_at(t, mem_descend(t, key, s, NULL, path), s.w);
	int			at;

	path_add(path, p, (size_t) s.w * LINE);
	if (s.prefetch)
		prefetch_lines(p, (size_t) s.w * LINE);
	at = find_le(KEYS(p), (int) COUNT(p), key, s.finder);
	if (at == 0 || KEYS(p)[at - 1] != key)
		return 0;
	return TIDS(p, s.w, s.kind)[at - 1];
}

/* What a scan reads beside leaves belongs to it: two chunks of the array. */
INLINE void
mem_trace(const MemTree *t, Key key, const MemShape s, Path *path)
{
	mem_find(t, key, s, path);
	if (s.kind == MEM_EXTERNAL)
	{
		const char *leaf = path->part[path->n - 1].at;
		const Chunk *c = chunk_at(t, HINT(leaf, s.w) / CHUNK_SLOTS);

		path_add(path, c, sizeof(Chunk));
		if (c->next != 0)
			path_add(path, chunk_at(t, c->next), sizeof(Chunk));
	}
}

/* --- scan --------------------------------------------------------------- */

INLINE void
mem_open_scan(MemTree *t, Key from, MemCursor *c, const MemShape s)
{
	MemStep		steps[MAX_LEVELS];
	uint32_t	no = mem_descend(t, from, s, steps, NULL);

	c->leaf = node_at(t, no, s.w);
	c->ahead = 0;
	c->end = s.kind == MEM_PLAIN || (s.kind == MEM_INTERNAL && t->levels == 1);
	if (s.prefetch)
		prefetch_lines(c->leaf, (size_t) s.w * LINE);
	c->at = find_le(KEYS(c->leaf), (int) COUNT(c->leaf), from, s.finder);
	if (c->at > 0 && KEYS(c->leaf)[c->at - 1] == from)
		c->at--;
	if (s.kind == MEM_EXTERNAL)
	{
		uint32_t	chunk = HINT(c->leaf, s.w) / CHUNK_SLOTS;

		prefetch_lines(chunk_at(t, chunk), sizeof(Chunk));
		c->slot = chunk_find(t, c->leaf, no, s.w, &c->chunk);
		if (chunk_at(t, chunk)->next != 0)
			prefetch_lines(chunk_at(t, chunk_at(t, chunk)->next),
						   sizeof(Chunk));
	}
	else if (!c->end)
	{
		c->bottom = steps[1].node;
		c->kid = steps[1].at;
		if (LINK(c->bottom, s.w) != 0)
			prefetch_lines(node_at(t, LINK(c->bottom, s.w), s.w),
						   (size_t) s.w * LINE);
	}
}

/*
 * The next leaf's number in the external array, or 0 at its end.  Upon entering
 * a chunk the one after it is asked for.
 */
INLINE uint32_t
external_next(const MemTree *t, MemCursor *c)
{
	const Chunk *chunk = chunk_at(t, c->chunk);

	for (;;)
	{
		while (++c->slot < CHUNK_SLOTS)
		{
			if (chunk->slot[c->slot] != 0)
				return chunk->slot[c->slot];
		}
		if (chunk->next == 0)
			return 0;
		c->chunk = chunk->next;
		c->slot = -1;
		chunk = chunk_at(t, c->chunk);
		if (chunk->next != 0)
			prefetch_lines(chunk_at(t, chunk->next), sizeof(Chunk));
	}
}

/* The same in the internal array: the children of linked inner nodes. */
INLINE uint32_t
internal_next(const MemTree *t, MemCursor *c, const int w)
{
	if (++c->kid > (int) COUNT(c->bottom))
	{
		uint32_t	next = LINK(c->bottom, w);

		if (next == 0)
			return 0;
		c->bottom = node_at(t, next, w);
		c->kid = 0;
		if (LINK(c->bottom, w) != 0)
			prefetch_lines(node_at(t, LINK(c->bottom, w), w), (size_t) w * LINE);
	}
	return KIDS(c->bottom, w)[c->kid];
}

INLINE long
mem_scan_on(const MemTree *t, MemCursor *c, long n, Tid *out, const MemShape s)
{
	long		got = 0;

	while (c->leaf != NULL)
	{
		int			count = (int) COUNT(c->leaf);
		int			take = (int) LAB_MIN(n - got, count - c->at);
		uint32_t	next;

		while (s.kind != MEM_PLAIN && !c->end && c->ahead < lab.distance)
		{
			uint32_t	ahead = s.kind == MEM_EXTERNAL ? external_next(t, c) :
				internal_next(t, c, s.w);

			if (ahead == 0)
				c->end = true;
			else
				prefetch_lines(node_at(t, ahead, s.w), (size_t) s.w * LINE);
			c->ahead++;
		}
		memcpy(out + got, TIDS(c->leaf, s.w, s.kind) + c->at,
			   sizeof(Tid) * (size_t) take);
		got += take;
		c->at += take;
		if (got == n)
			break;
		next = LINK(c->leaf, s.w);
		c->leaf = next != 0 ? node_at(t, next, s.w) : NULL;
		c->at = 0;
		c->ahead--;
		if (s.prefetch && next != 0)
			prefetch_lines(c->leaf, (size_t) s.w * LINE);
	}
	return got;
}

/* --- insertion ---------------------------------------------------------- */

static void
leaf_put(char *p, int w, MemKind kind, int at, Key key, Tid tid)
{
	size_t		tail = COUNT(p) - (size_t) at;
	Tid		   *tids = TIDS(p, w, kind);

	memmove(KEYS(p) + at + 1, KEYS(p) + at, tail * sizeof(Key));
	memmove(tids + at + 1, tids + at, tail * sizeof(Tid));
	KEYS(p)[at] = key;
	tids[at] = tid;
	COUNT(p)++;
}

/* Put a child on the right of the at'th, into a node with room. */
static void
inner_put(char *p, int w, int at, Key key, uint32_t kid)
{
	size_t		tail = COUNT(p) - (size_t) at;

	memmove(KEYS(p) + at + 1, KEYS(p) + at, tail * sizeof(Key));
	memmove(KIDS(p, w) + at + 2, KIDS(p, w) + at + 1, tail * sizeof(uint32_t));
	KEYS(p)[at] = key;
	KIDS(p, w)[at + 1] = kid;
	COUNT(p)++;
}

/* Children of one or two neighbours, on their way to other nodes. */
typedef struct Kids
{
	Key			key[2 * MAX_KIDS];
	uint32_t	kid[2 * MAX_KIDS];
	int			n;				/* children; keys are one fewer */
} Kids;

static void
kids_add(Kids *k, char *p, int w)
{
	memcpy(k->key + k->n, KEYS(p), sizeof(Key) * COUNT(p));
	memcpy(k->kid + k->n, KIDS(p, w), sizeof(uint32_t) * (COUNT(p) + 1));
	k->n += (int) COUNT(p) + 1;
}

static void
kids_store(const Kids *k, int from, int n, char *p, int w)
{
	COUNT(p) = (uint32_t) n - 1;
	memcpy(KEYS(p), k->key + from, sizeof(Key) * (size_t) (n - 1));
	memcpy(KIDS(p, w), k->kid + from, sizeof(uint32_t) * (size_t) n);
}

/*
 * Tell the inner nodes of a new node on the right of the one that was
 * descended to, on "level"; nodes that are full are split in turn.
 */
static void
inner_add(MemTree *t, MemStep *steps, int level, Key key, uint32_t kid)
{
	int			w = t->shape.w;

	for (; level < t->levels; level++)
	{
		char	   *p = steps[level].node;
		int			at = steps[level].at;
		int			max = level == 1 ? bottom_kids(w, t->shape.kind) :
			inner_kids(w);
		uint32_t	right;
		char	   *q;
		int			half;
		Kids		k = {.n = 0};

		if ((int) COUNT(p) + 1 < max)
		{
			inner_put(p, w, at, key, kid);
			return;
		}
		right = node_new(t);
		q = node_at(t, right, w);
		kids_add(&k, p, w);
		memmove(k.key + at + 1, k.key + at, sizeof(Key) * (k.n - 1 - at));
		memmove(k.kid + at + 2, k.kid + at + 1,
				sizeof(uint32_t) * (k.n - 1 - at));
		k.key[at] = key;
		k.kid[at + 1] = kid;
		k.n++;
		half = k.n / 2;
		kids_store(&k, 0, half, p, w);
		kids_store(&k, half, k.n - half, q, w);
		if (level == 1 && t->shape.kind == MEM_INTERNAL)
		{
			LINK(q, w) = LINK(p, w);
			LINK(p, w) = right;
		}
		key = k.key[half - 1];
		kid = right;
	}
	{
		uint32_t	root = node_new(t);
		char	   *p = node_at(t, root, w);

		COUNT(p) = 1;
		KEYS(p)[0] = key;
		KIDS(p, w)[0] = t->root;
		KIDS(p, w)[1] = kid;
		t->root = root;
		t->levels++;
	}
}

/* Split a full leaf and put the entry into one of its halves. */
NOINLINE void
leaf_split(MemTree *t, MemStep *steps, uint32_t no, int at, Key key, Tid tid)
{
	int			w = t->shape.w;
	MemKind		kind = t->shape.kind;
	uint32_t	right = node_new(t);
	char	   *p = node_at(t, no, w);
	char	   *q = node_at(t, right, w);
	int			n = (int) COUNT(p);
	int			half = (n + 1) / 2;

	COUNT(q) = (uint32_t) (n - half);
	memcpy(KEYS(q), KEYS(p) + half, sizeof(Key) * (size_t) (n - half));
	memcpy(TIDS(q, w, kind), TIDS(p, w, kind) + half,
		   sizeof(Tid) * (size_t) (n - half));
	COUNT(p) = (uint32_t) half;
	LINK(q, w) = LINK(p, w);
	LINK(p, w) = right;
	if (at <= half)
		leaf_put(p, w, kind, at, key, tid);
	else
		leaf_put(q, w, kind, at - half, key, tid);
	if (kind == MEM_EXTERNAL)
		array_insert(t, no, right);
	t->leaves++;
	t->splits++;
	inner_add(t, steps, 1, KEYS(q)[0], right);
}

INLINE bool
mem_put(MemTree *t, Key key, Tid tid, const MemShape s)
{
	MemStep		steps[MAX_LEVELS];
	uint32_t	no = mem_descend(t, key, s, steps, NULL);
	char	   *p = node_at(t, no, s.w);
	int			at;

	if (s.prefetch)
		prefetch_lines(p, (size_t) s.w * LINE);
	at = find_le(KEYS(p), (int) COUNT(p), key, s.finder);
	if (at > 0 && KEYS(p)[at - 1] == key)
		return false;
	if ((int) COUNT(p) < leaf_entries(s.w, s.kind))
		leaf_put(p, s.w, s.kind, at, key, tid);
	else
		leaf_split(t, steps, no, at, key, tid);
	return true;
}

/* --- deletion ----------------------------------------------------------- */

/* Take the child on the right of the at'th key, and that key, out. */
static void
inner_drop(char *p, int w, int at)
{
	size_t		tail = COUNT(p) - (size_t) at - 1;

	memmove(KEYS(p) + at, KEYS(p) + at + 1, tail * sizeof(Key));
	memmove(KIDS(p, w) + at + 1, KIDS(p, w) + at + 2, tail * sizeof(uint32_t));
	COUNT(p)--;
}

/*
 * Give inner nodes that are left with one child some of a sibling's, or join
 * the two.  A root with one child is removed.
 */
static void
inner_refill(MemTree *t, MemStep *steps, int level)
{
	int			w = t->shape.w;

	for (; COUNT(steps[level].node) == 0; level++)
	{
		char	   *above;
		int			at;
		char	   *p;
		char	   *q;
		uint32_t	right;
		Kids		k = {.n = 0};

		if (level == t->levels - 1)
		{
			uint32_t	old = t->root;

			t->root = KIDS(steps[level].node, w)[0];
			t->levels--;
			arena_release(&t->nodes, old);
			return;
		}
		above = steps[level + 1].node;
		at = LAB_MIN(steps[level + 1].at, (int) COUNT(above) - 1);
		p = node_at(t, KIDS(above, w)[at], w);
		right = KIDS(above, w)[at + 1];
		q = node_at(t, right, w);
		kids_add(&k, p, w);
		k.key[k.n - 1] = KEYS(above)[at];
		kids_add(&k, q, w);
		if (k.n > 3)
		{
			int			half = k.n / 2;

			kids_store(&k, 0, half, p, w);
			kids_store(&k, half, k.n - half, q, w);
			KEYS(above)[at] = k.key[half - 1];
			return;
		}
		kids_store(&k, 0, k.n, p, w);
		if (level == 1 && t->shape.kind == MEM_INTERNAL)
			LINK(p, w) = LINK(q, w);
		inner_drop(above, w, at);
		arena_release(&t->nodes, right);
	}
}

/*
 * A leaf has lost its last entry: share a sibling's entries with it, or remove
 * the right one of the two if the other has but one entry.
 */
NOINLINE void
leaf_refill(MemTree *t, MemStep *steps)
{
	int			w = t->shape.w;
	MemKind		kind = t->shape.kind;
	char	   *above = steps[1].node;
	int			at = LAB_MIN(steps[1].at, (int) COUNT(above) - 1);
	uint32_t	right = KIDS(above, w)[at + 1];
	char	   *p = node_at(t, KIDS(above, w)[at], w);
	char	   *q = node_at(t, right, w);
	Key			keys[MAX_KIDS];
	Tid			tids[MAX_KIDS];
	int			n = (int) COUNT(p) + (int) COUNT(q);
	int			half = n / 2;

	if (t->shape.prefetch)
		prefetch_lines(steps[1].at == at ? q : p, (size_t) w * LINE);
	memcpy(keys, KEYS(p), sizeof(Key) * COUNT(p));
	memcpy(tids, TIDS(p, w, kind), sizeof(Tid) * COUNT(p));
	memcpy(keys + COUNT(p), KEYS(q), sizeof(Key) * COUNT(q));
	memcpy(tids + COUNT(p), TIDS(q, w, kind), sizeof(Tid) * COUNT(q));
	if (n == 1)
		half = 1;
	COUNT(p) = (uint32_t) half;
	memcpy(KEYS(p), keys, sizeof(Key) * (size_t) half);
	memcpy(TIDS(p, w, kind), tids, sizeof(Tid) * (size_t) half);
	if (n > 1)
	{
		COUNT(q) = (uint32_t) (n - half);
		memcpy(KEYS(q), keys + half, sizeof(Key) * (size_t) (n - half));
		memcpy(TIDS(q, w, kind), tids + half, sizeof(Tid) * (size_t) (n - half));
		KEYS(above)[at] = keys[half];
		return;
	}
	LINK(p, w) = LINK(q, w);
	if (kind == MEM_EXTERNAL)
		array_remove(t, right);
	arena_release(&t->nodes, right);
	t->leaves--;
	inner_drop(above, w, at);
	inner_refill(t, steps, 1);
}

INLINE bool
mem_take(MemTree *t, Key key, const MemShape s)
{
	MemStep		steps[MAX_LEVELS];
	char	   *p = node_at(t, mem_descend(t, key, s, steps, NULL), s.w);
	Tid		   *tids = TIDS(p, s.w, s.kind);
	size_t		tail;
	int			at;

	if (s.prefetch)
		prefetch_lines(p, (size_t) s.w * LINE);
	at = find_le(KEYS(p), (int) COUNT(p), key, s.finder) - 1;
	if (at < 0 || KEYS(p)[at] != key)
		return false;
	tail = COUNT(p) - (size_t) at - 1;
	memmove(KEYS(p) + at, KEYS(p) + at + 1, tail * sizeof(Key));
	memmove(tids + at, tids + at + 1, tail * sizeof(Tid));
	if (--COUNT(p) == 0 && t->levels > 1)
		leaf_refill(t, steps);
	return true;
}

/* --- statistics, check -------------------------------------------------- */

static void
mem_stats(const void *tree, Stats *s)
{
	const MemTree *t = tree;

	memset(s, 0, sizeof(*s));
	s->levels = t->levels;
	s->nodes = t->nodes.live;
	s->leaves = t->leaves;
	s->bytes = (size_t) t->nodes.live * (size_t) t->shape.w * LINE;
	s->extra = (size_t) t->chunks.live * sizeof(Chunk);
	s->splits = t->splits;
	s->leaf_entries = leaf_entries(t->shape.w, t->shape.kind);
}

typedef struct MemCheck
{
	const MemTree *t;
	uint32_t	leaf;			/* that the next one must be */
	uint32_t	bottom;
	uint32_t	chunk;
	int			slot;
	long		leaves;
	long		nodes;
	const char *wrong;
} MemCheck;

/* The next leaf of the external array must be this one, and know its chunk. */
static void
check_array(MemCheck *c, uint32_t no)
{
	const MemTree *t = c->t;

	for (;; c->slot++)
	{
		if (c->slot == CHUNK_SLOTS)
		{
			uint32_t	old = c->chunk;

			c->chunk = chunk_at(t, c->chunk)->next;
			c->slot = 0;
			if (c->chunk != 0 && chunk_at(t, c->chunk)->prev != old)
				c->wrong = "a chunk does not know the one before it";
		}
		if (c->chunk == 0)
		{
			c->wrong = "a leaf is missing in the array";
			return;
		}
		if (chunk_at(t, c->chunk)->slot[c->slot] != 0)
			break;
	}
	if (chunk_at(t, c->chunk)->slot[c->slot++] != no)
		c->wrong = "the array has leaves in another order";
	else if (HINT(node_at(t, no, t->shape.w), t->shape.w) / CHUNK_SLOTS !=
			 c->chunk)
		c->wrong = "a leaf has another chunk";
}

static void
check_node(MemCheck *c, uint32_t no, int level, Key low, Key high, bool last)
{
	const MemTree *t = c->t;
	int			w = t->shape.w;
	char	   *p = node_at(t, no, w);
	int			n = (int) COUNT(p);

	c->nodes++;
	for (int i = 0; i < n; i++)
	{
		if (KEYS(p)[i] < low || (!last && KEYS(p)[i] >= high) ||
			(i > 0 && KEYS(p)[i] <= KEYS(p)[i - 1]))
			c->wrong = "keys are not in order";
	}
	if (level == 0)
	{
		c->leaves++;
		if (no != c->leaf)
			c->wrong = "leaves are linked in another order";
		c->leaf = LINK(p, w);
		if (t->levels > 1 && n == 0)
			c->wrong = "a leaf is empty";
		if (t->shape.kind == MEM_EXTERNAL && c->wrong == NULL)
			check_array(c, no);
		return;
	}
	if (n == 0)
		c->wrong = "an inner node has one child";
	if (level == 1 && t->shape.kind == MEM_INTERNAL)
	{
		if (c->bottom != 0 && c->bottom != no)
			c->wrong = "inner nodes are linked in another order";
		c->bottom = LINK(p, w);
	}
	for (int i = 0; i <= n && c->wrong == NULL; i++)
		check_node(c, KIDS(p, w)[i], level - 1, i > 0 ? KEYS(p)[i - 1] : low,
				   i < n ? KEYS(p)[i] : high, last && i == n);
}

static const char *
mem_check(const void *tree)
{
	const MemTree *t = tree;
	MemCheck	c = {.t = t, .leaf = t->first_leaf, .chunk = t->first_chunk};

	check_node(&c, t->root, t->levels - 1, 0, 0, true);
	if (c.wrong == NULL && (c.leaf != 0 || c.bottom != 0))
		c.wrong = "the last node has a next one";
	if (c.wrong == NULL && (c.leaves != t->leaves || c.nodes != t->nodes.live))
		c.wrong = "nodes are lost";
	return c.wrong;
}

/* --- the trees ---------------------------------------------------------- */

#define MEM_TREE(id, text, width, array, ahead, find) \
static const MemShape id##_shape = {width, array, ahead, find}; \
static void *id##_build(const Load *l) { return mem_build(l, id##_shape); } \
static Tid id##_search(const void *t, Key k) \
{ return mem_find(t, k, id##_shape, NULL); } \
static void id##_visit(const void *t, Key k, Path *path) \
{ mem_trace(t, k, id##_shape, path); } \
static void id##_open(void *t, Key k, Cursor *c) \
{ mem_open_scan(t, k, CURSOR(MemCursor, c), id##_shape); } \
static long id##_next(void *t, Cursor *c, long n, Tid *out) \
{ return mem_scan_on(t, CURSOR(MemCursor, c), n, out, id##_shape); } \
static bool id##_insert(void *t, Key k, Tid tid) \
{ return mem_put(t, k, tid, id##_shape); } \
static bool id##_delete(void *t, Key k) \
{ return mem_take(t, k, id##_shape); } \
const TreeKind id = { \
	.name = #id, .label = text, .shape = "memory " #width " " #array " " #ahead, \
	.build = id##_build, .destroy = mem_destroy, .search = id##_search, \
	.visit = id##_visit, .open = id##_open, .next = id##_next, \
	.insert = id##_insert, .delete = id##_delete, .stats = mem_stats, \
	.check = mem_check \
};

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
