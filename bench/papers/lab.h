/*-------------------------------------------------------------------------
 *
 * lab.h
 *	  The interface of a tree in the laboratory of the papers, and what trees
 *	  are made of: keys, memory for nodes and pages, the lines of a search.
 *
 * A tree is a TreeKind: a file defines it, and trees.c has a row for it.
 * Sizes of keys and pages are constants (KEYSIZE, PAGESIZE), so that loops over
 * a node have constant bounds; the program is compiled for each pair of them.
 * As in the papers pointers and tuple ids have 4 bytes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef PAPERS_LAB_H
#define PAPERS_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KEYSIZE
#define KEYSIZE		4
#endif
#ifndef PAGESIZE
#define PAGESIZE	8192
#endif

#if KEYSIZE == 4
typedef uint32_t Key;
#else
typedef uint64_t Key;
#endif
typedef uint32_t Tid;			/* never 0 */

#define LINE		64			/* bytes of a cache line */
#define INLINE		static inline __attribute__((always_inline))
#define NOINLINE	static __attribute__((noinline))
/* each side is evaluated once: it may be a search */
#define LAB_MIN(a, b) \
	({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define LAB_MAX(a, b) \
	({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })

/* --- keys: one generator for all trees ---------------------------------- */

typedef enum KeySet
{
	KEYS_UNIFORM,				/* spread over the key's range, random gaps */
	KEYS_DENSE,					/* 2, 4, 6, ... */
	KEYS_CLUSTERED				/* dense runs of 1,000, far apart */
} KeySet;

typedef struct Lab
{
	long		nkeys;
	KeySet		keyset;
	int			fill;			/* percent of a node or page, when loaded */
	bool		scattered;		/* nodes and pages in no order in memory */
	int			memory;			/* 0: small pages, 1: THP */
	int			distance;		/* leaf nodes prefetched ahead of a scan */
} Lab;

extern Lab	lab;

/* The i'th key in order; keys are even, so that key | 1 is not there. */
extern Key	nth_key(long i);
extern uint64_t hash64(uint64_t z);

/* A number below 1 << bits to another one, each to its own. */
extern uint32_t permute(uint32_t no, int bits);

static inline Tid
nth_tid(long i)
{
	return (Tid) i + 1;
}

typedef struct Random
{
	uint64_t	state;
} Random;

static inline uint64_t
random_next(Random *r)
{
	return hash64(r->state += UINT64_C(0x9E3779B97F4A7C15));
}

static inline long
random_below(Random *r, long n)
{
	return (long) (random_next(r) % (uint64_t) n);
}

/* --- memory for nodes or pages of one size ------------------------------ */

typedef struct Arena
{
	char	   *base;
	size_t		unit;			/* bytes */
	uint32_t	used;			/* units given out, in the order of asking */
	uint32_t	max;
	uint32_t	block;			/* units; scattered inside of it */
	int			bits;			/* block is 1 << bits */
	uint32_t	free;			/* first of the list of released units, or 0 */
	uint32_t	live;
} Arena;

/* Room for about "count" units, and for four times as many if need be. */
extern void arena_init(Arena *a, size_t unit, uint64_t count);
extern void arena_destroy(Arena *a);

/* A unit's number, from 1 on.  Its bytes are 0 or old. */
extern uint32_t arena_new(Arena *a);
extern void arena_release(Arena *a, uint32_t no);

/* "unit" is a->unit, given as a constant where there is one. */
INLINE char *
arena_at(const Arena *a, uint32_t no, size_t unit)
{
	return a->base + (size_t) no * unit;
}

/* --- what a search touches ---------------------------------------------- */

#define PATH_MAX_PARTS 256

typedef struct Path
{
	int			n;
	struct
	{
		const char *at;
		uint32_t	len;
	}			part[PATH_MAX_PARTS];
} Path;

/* path: NULL, as a constant, in searches that are timed */
INLINE void
path_add(Path *path, const void *at, size_t len)
{
	if (path == NULL)
		return;
	if (path->n >= PATH_MAX_PARTS)
		abort();
	path->part[path->n].at = at;
	path->part[path->n++].len = (uint32_t) len;
}

INLINE void
prefetch_lines(const void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += LINE)
		__builtin_prefetch((const char *) at + i);
}

/* --- entries: keys, and values, in arrays of their own ------------------- */

typedef struct Pairs
{
	Key		   *keys;
	uint32_t   *values;			/* tuple ids, or numbers of nodes */
} Pairs;

/* Room for n entries. */
extern Pairs pairs_new(long n);
extern void pairs_free(Pairs p);

INLINE Pairs
pairs_from(Pairs p, long at)
{
	return (Pairs) {p.keys + at, p.values + at};
}

INLINE void
pairs_copy(Pairs to, Pairs from, long n)
{
	memcpy(to.keys, from.keys, sizeof(Key) * (size_t) n);
	memcpy(to.values, from.values, sizeof(uint32_t) * (size_t) n);
}

/* Into n entries, which have room for it, before the at'th. */
INLINE void
pairs_put(Pairs p, int n, int at, Key key, uint32_t value)
{
	size_t		tail = (size_t) (n - at);

	memmove(p.keys + at + 1, p.keys + at, tail * sizeof(Key));
	memmove(p.values + at + 1, p.values + at, tail * sizeof(uint32_t));
	p.keys[at] = key;
	p.values[at] = value;
}

/* The at'th of n entries goes. */
INLINE void
pairs_drop(Pairs p, int n, int at)
{
	size_t		tail = (size_t) (n - at - 1);

	memmove(p.keys + at, p.keys + at + 1, tail * sizeof(Key));
	memmove(p.values + at, p.values + at + 1, tail * sizeof(uint32_t));
}

/* --- a tree ------------------------------------------------------------- */

/* n pairs in the order of keys; all keys differ, and none is 0. */
typedef struct Load
{
	Pairs		pairs;
	long		n;
	long		expect;			/* pairs that the tree will have one day */
	int			fill;			/* percent */
} Load;

/* Units of an arena for entries of leaves with room for so many each. */
static inline uint64_t
load_units(const Load *load, int leaf_entries)
{
	return (uint64_t) (load->expect * 100 / load->fill / leaf_entries * 5 / 4);
}

/* Entries that a load puts into a node with room for so many. */
static inline int
load_take(const Load *load, int room)
{
	return LAB_MAX(2, room * load->fill / 100);
}

/* Where a scan goes on; the tree knows what is in it. */
typedef struct Cursor
{
	uint64_t	word[16];
} Cursor;

#define CURSOR(type, c) \
	((void) sizeof(char[sizeof(type) <= sizeof(Cursor) ? 1 : -1]), \
	 (type *) (c)->word)

typedef struct Stats
{
	int			levels;			/* of nodes; of pages in trees of pages */
	long		nodes;			/* or pages */
	long		leaves;
	long		overflow;		/* overflow pages (cache-first) */
	size_t		bytes;			/* of nodes or pages that are in use */
	size_t		extra;			/* of other things: chunks, the root's arrays */
	long		splits;			/* of leaves, since the load */
	int			leaf_entries;	/* that a leaf, or leaf page, can have */
} Stats;

#define MAX_LEVELS		32

/* Entries of a node or page at most, whatever it is like. */
#define MAX_ENTRIES		(PAGESIZE / 2)

/* A family may begin its own struct with it. */
typedef struct Tree
{
	Arena		nodes;			/* or pages */
	Arena		others;			/* if it has any: chunks, nodes above leaves */
	uint32_t	root;
	int			levels;
	long		leaves;
	long		count;			/* of nodes, if a unit has several */
	long		splits;
	int			leaf_entries;
} Tree;

/* Of TreeKind, for trees that have nothing else. */
extern void tree_destroy(void *tree);
extern void tree_stats(const void *tree, Stats *s);

typedef struct TreeKind
{
	const char *name;			/* by which a run asks for it */
	const char *label;			/* in tables */
	const char *shape;			/* kinds of the same shape can share a tree
								 * until it is changed */
	bool		pages;			/* it is made of pages */
	bool		repeats;		/* insert() does not look for the key, which
								 * the caller knows not to be there */

	void	   *(*build) (const Load *load);
	void		(*destroy) (void *tree);

	/* The key's tuple id, or 0. */
	Tid			(*search) (void *tree, Key key);

	/* All memory that search() reads, for flushing and for counting pages. */
	void		(*visit) (void *tree, Key key, Path *path);

	/* A scan from the first key not below "from": n tuple ids, or all. */
	void		(*open) (void *tree, Key from, Cursor *c);
	long		(*next) (void *tree, Cursor *c, long n, Tid *out);

	/* False if the key is there, or is not there. */
	bool		(*insert) (void *tree, Key key, Tid tid);
	bool		(*delete) (void *tree, Key key);

	void		(*stats) (const void *tree, Stats *s);

	/* What is wrong with the tree's structure, or NULL. */
	const char *(*check) (const void *tree);
} TreeKind;

extern const TreeKind *const tree_kinds[];	/* ends with NULL */
extern const TreeKind *tree_kind(const char *name);

/* --- the check of a tree's structure (check.c) --------------------------- */

/* A node; of one that is above leaves keys are those between children. */
typedef struct View
{
	Key			low;			/* given: what its parent says of its keys */
	Key			high;
	bool		last;			/* given: there is no "high" */
	int			n;
	const Key  *keys;			/* n */
	uint64_t	kid[MAX_ENTRIES + 1];	/* n + 1, above leaves */
	bool		linked;
	uint64_t	next;			/* if it is: the next one of its level, or 0 */

	/* for keys and values that have to be collected */
	Key			buffer[MAX_ENTRIES];
	uint32_t	values[MAX_ENTRIES];
} View;

typedef struct Walk
{
	const void *tree;
	const void *how;			/* the tree's, if view() needs it */
	void		(*view) (struct Walk *w, uint64_t no, int level, View *v);
	const char *wrong;			/* or NULL; view() may set it */
	long		nodes;
	long		leaves;
	uint64_t	next[MAX_LEVELS];	/* node that must come, if any came */
	uint64_t	before[MAX_LEVELS]; /* the one that came last, or 0 */
	uint32_t	list;			/* where view() is in a list of leaves */
	int32_t		slot;
} Walk;

/* A node and all below it; then, at the end, that there is no next one. */
extern void walk_node(Walk *w, uint64_t no, int level, Key low, Key high,
					  bool last);
extern const char *walk_end(Walk *w, long nodes, long leaves);

/* Set what getopt() finds, by letter; "1" if it has no value.  False: usage. */
extern bool lab_options(int argc, char **argv, const char *letters,
						const char **option);

/* Ends the program. */
extern void lab_fail(const char *format, ...)
			__attribute__((format(printf, 1, 2), noreturn));

/* Never NULL; bytes are 0, and begin with a cache line. */
extern void *lab_alloc(size_t bytes);

/* A name and numbers, as JSON has them. */
extern void lab_print_samples(const char *name, const double *v, int n);

/* Memory of zeros in pages of the size that lab.memory asks for; aligned. */
extern char *lab_map(size_t bytes);
extern void lab_unmap(void *p, size_t bytes);

/* The numbers below n in random order; mapped. */
extern uint32_t *lab_shuffle(uint32_t n, uint64_t seed);

/* --- measuring ---------------------------------------------------------- */

/* CPU time of this process, ns. */
extern double lab_now(void);

/* Of single searches: the processor's own clock. */
extern uint64_t lab_ticks(void);
extern double lab_tick_ns(void);

/* Write a path's lines back and out of all caches, and forget it. */
extern void lab_flush_path(Path *path);
extern bool lab_can_flush;

extern void machine_report(void);	/* machine.c */
extern void check_all(long ops, uint64_t seed); /* check.c */

#endif							/* PAPERS_LAB_H */
