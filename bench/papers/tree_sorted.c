/*-------------------------------------------------------------------------
 *
 * tree_sorted.c
 *	  Pages of sorted arrays: the "disk-optimized" page of the fpB+ paper, and
 *	  the same with a micro-index.
 *
 * A page has a header line, an array of keys and one of values.  A micro-index
 * has the first key of each sub-array of keys; the two are prefetched as nodes
 * of a pB+-tree are, and a change makes the part of the index after it anew.
 *
 *-------------------------------------------------------------------------
 */
#include "find.h"

typedef struct PageHow
{
	bool		micro;
	Finder		finder;
} PageHow;

typedef struct PageHeader
{
	uint32_t	count;
	uint32_t	next;
	char		unused[LINE - 8];
} PageHeader;

#define HEADER(page)	((PageHeader *) (page))
#define COUNT(page)		((int) HEADER(page)->count)

#define PAGE_RANKED
#define PAGE_PAIRS
#define PAGE_HALVES
#include "pagetree.h"

/* --- layout ------------------------------------------------------------- */

/* Bytes of a sub-array: the paper's Table 2. */
#if PAGESIZE <= 4096
#define SUBARRAY	128
#elif PAGESIZE == 8192
#define SUBARRAY	192
#else
#define SUBARRAY	320
#endif
#define SUBKEYS		(SUBARRAY / KEYSIZE)

/*
 * Bytes of the micro-index, if the page had no other; what it takes of the page
 * makes it hardly smaller.  Constants, as a search needs them to find values.
 */
#define SUBARRAYS	((SORTED_ENTRIES + SUBKEYS - 1) / SUBKEYS)
#define MICRO_BYTES	((SUBARRAYS * KEYSIZE + LINE - 1) / LINE * LINE)

enum
{
	SORTED_ENTRIES = (PAGESIZE - LINE) / (KEYSIZE + 4),
	MICRO_KEYS_AT = LINE + MICRO_BYTES,
	MICRO_ENTRIES = (PAGESIZE - MICRO_KEYS_AT) / (KEYSIZE + 4) / 8 * 8
};

INLINE int
page_capacity(int level, const PageHow how)
{
	return how.micro ? MICRO_ENTRIES : SORTED_ENTRIES;
}

INLINE Pairs
page_pairs(char *page, int level, const PageHow how)
{
	Key		   *keys = (Key *) (page + (how.micro ? MICRO_KEYS_AT : LINE));

	return (Pairs) {keys, (uint32_t *) (keys + page_capacity(0, how))};
}

INLINE Key *
page_micro(char *page)
{
	return (Key *) (page + LINE);
}

INLINE uint32_t *
page_link(char *page, int level, const PageHow how)
{
	return &HEADER(page)->next;
}

/* --- search ------------------------------------------------------------- */

/* Number of keys that are not above a key. */
INLINE int
page_rank(char *page, Key key, const PageHow how, Path *path)
{
	int			n = COUNT(page);
	Key		   *keys = page_pairs(page, 0, how).keys;
	int			subs = (n + SUBKEYS - 1) / SUBKEYS;
	int			sub;

	path_add(path, page, LINE);
	if (!how.micro)
	{
		path_add(path, keys, (size_t) LAB_MAX(n, 1) * KEYSIZE);
		return find_le(keys, n, key, how.finder);
	}
	path_add(path, page + LINE, MICRO_KEYS_AT - LINE);
	prefetch_lines(page + LINE, (size_t) subs * KEYSIZE);
	sub = (find_le(page_micro(page), subs, key, how.finder) - 1) * SUBKEYS;
	if (sub < 0)
		return 0;
	prefetch_lines(keys + sub, SUBARRAY);
	prefetch_lines(page_pairs(page, 0, how).values + sub, SUBKEYS * 4);
	path_add(path, keys + sub,
			 (size_t) LAB_MIN(SUBKEYS, MICRO_ENTRIES - sub) * KEYSIZE);
	return sub + find_le(keys + sub, LAB_MIN(SUBKEYS, n - sub), key,
						 how.finder);
}

/* The next page's count. */
INLINE void
page_ahead(Tree *t, PageCursor *c, const PageStep *steps, const PageHow how)
{
	if (HEADER(c->page)->next != 0)
		__builtin_prefetch(page_at(t, HEADER(c->page)->next, how));
}

/* --- changes ------------------------------------------------------------ */

/* n entries; the micro-index from the sub-array of the at'th on. */
INLINE void
page_changed(char *page, int n, int at, const PageHow how)
{
	HEADER(page)->count = (uint32_t) n;
	for (int sub = at / SUBKEYS; how.micro && sub * SUBKEYS < n; sub++)
		page_micro(page)[sub] = page_pairs(page, 0, how).keys[sub * SUBKEYS];
}

static void
page_fill(char *page, int level, Pairs entries, int n, const PageHow how)
{
	pairs_copy(page_pairs(page, 0, how), entries, n);
	page_changed(page, n, 0, how);
}

INLINE void
page_put(char *page, int at, Key key, uint32_t value, const PageHow how)
{
	int			n = COUNT(page);

	pairs_put(page_pairs(page, 0, how), n, at, key, value);
	page_changed(page, n + 1, at, how);
}

INLINE void
page_drop(Tree *t, PageStep *steps, char *page, int at, const PageHow how)
{
	int			n = COUNT(page);

	pairs_drop(page_pairs(page, 0, how), n, at);
	page_changed(page, n - 1, at, how);
}

static Key
page_halve(char *left, char *right, int level, const PageHow how)
{
	int			half = COUNT(left) / 2;
	Pairs		upper = pairs_from(page_pairs(left, level, how), half);

	page_fill(right, level, upper, COUNT(left) - half, how);
	HEADER(left)->count = (uint32_t) half;
	return upper.keys[0];
}

/* --- check -------------------------------------------------------------- */

static void
page_view(Walk *w, char *page, uint32_t no, int level, View *v,
		  const PageHow how)
{
	Pairs		p = page_pairs(page, 0, how);

	page_show(w, level, v, p, COUNT(page));
	for (int sub = 0; how.micro && sub * SUBKEYS < COUNT(page); sub++)
	{
		if (page_micro(page)[sub] != p.keys[sub * SUBKEYS])
			w->wrong = "the micro-index has another key";
	}
}

/* --- the trees ---------------------------------------------------------- */

#define SORTED_TREE(id, text, form, ...) \
	TREE_KIND(id, text, form, tree, .pages = true, __VA_ARGS__)

SORTED_TREE(sorted, "disk-optimized page", "sorted", {false, FIND_BINARY})
SORTED_TREE(sortedb, "disk-optimized page, branchless", "sorted",
			{false, FIND_BRANCHLESS})
SORTED_TREE(sortedi, "disk-optimized page, interpolation", "sorted",
			{false, FIND_INTERPOLATE})
SORTED_TREE(micro, "micro-indexing", "micro", {true, FIND_BINARY})
SORTED_TREE(vmicro, "micro-indexing, SIMD", "micro", {true, FIND_SIMD})
