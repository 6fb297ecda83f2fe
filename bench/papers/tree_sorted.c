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
page_entries(const PageHow how)
{
	return how.micro ? MICRO_ENTRIES : SORTED_ENTRIES;
}

INLINE int
page_capacity(int level, const PageHow how)
{
	(void) level;
	return page_entries(how);
}

INLINE Key *
page_keys(const char *page, const PageHow how)
{
	return (Key *) (page + (how.micro ? MICRO_KEYS_AT : LINE));
}

INLINE uint32_t *
page_values(const char *page, const PageHow how)
{
	return (uint32_t *) (page_keys(page, how) + page_entries(how));
}

INLINE Key *
page_micro(const char *page)
{
	return (Key *) (page + LINE);
}

INLINE uint32_t *
page_link(char *page)
{
	return &HEADER(page)->next;
}

/* --- search ------------------------------------------------------------- */

/* Number of keys that are not above a key. */
INLINE int
page_rank(const char *page, Key key, const PageHow how, Path *path)
{
	int			n = (int) HEADER(page)->count;
	Key		   *keys = page_keys(page, how);
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
	sub = find_le(page_micro(page), subs, key, how.finder) - 1;
	if (sub < 0)
		return 0;
	prefetch_lines(keys + sub * SUBKEYS, SUBARRAY);
	prefetch_lines(page_values(page, how) + sub * SUBKEYS, SUBKEYS * 4);
	path_add(path, keys + sub * SUBKEYS,
			 (size_t) LAB_MIN(SUBKEYS, MICRO_ENTRIES - sub * SUBKEYS) * KEYSIZE);
	return sub * SUBKEYS + find_le(keys + sub * SUBKEYS,
								   LAB_MIN(SUBKEYS, n - sub * SUBKEYS), key,
								   how.finder);
}

INLINE uint32_t
page_child(const char *page, Key key, const PageHow how, Path *path)
{
	int			at = page_rank(page, key, how, path);
	uint32_t   *value = page_values(page, how) + LAB_MAX(at - 1, 0);

	path_add(path, value, sizeof(*value));
	return *value;
}

INLINE Tid
page_lookup(const char *page, Key key, const PageHow how, Path *path)
{
	int			at = page_rank(page, key, how, path) - 1;
	uint32_t   *value = page_values(page, how) + LAB_MAX(at, 0);

	path_add(path, value, sizeof(*value));
	return at >= 0 && page_keys(page, how)[at] == key ? *value : 0;
}

INLINE uint32_t
page_open(const char *page, Key key, const PageHow how)
{
	int			at = page_rank(page, key, how, NULL);

	return (uint32_t) (at > 0 && page_keys(page, how)[at - 1] == key ? at - 1 :
					   at);
}

INLINE long
page_copy(const char *page, uint32_t *position, long n, Tid *out,
		  const PageHow how)
{
	long		take = LAB_MIN(n, (long) HEADER(page)->count - *position);

	memcpy(out, page_values(page, how) + *position, sizeof(Tid) * (size_t) take);
	*position += (uint32_t) take;
	return take;
}

INLINE void
page_ahead(const char *page, const PageHow how)
{
	__builtin_prefetch(page);
	(void) how;
}

/* --- changes ------------------------------------------------------------ */

/* The micro-index from the sub-array of an entry on. */
INLINE void
page_reindex(char *page, int at, const PageHow how)
{
	int			n = (int) HEADER(page)->count;

	if (!how.micro)
		return;
	for (int sub = at / SUBKEYS; sub * SUBKEYS < n; sub++)
		page_micro(page)[sub] = page_keys(page, how)[sub * SUBKEYS];
}

static void
page_fill(char *page, int level, const Key *keys, const uint32_t *values, int n,
		  const PageHow how)
{
	(void) level;
	HEADER(page)->count = (uint32_t) n;
	memcpy(page_keys(page, how), keys, sizeof(Key) * (size_t) n);
	memcpy(page_values(page, how), values, sizeof(uint32_t) * (size_t) n);
	page_reindex(page, 0, how);
}

INLINE PageResult
page_insert(char *page, int level, Key key, uint32_t value, const PageHow how)
{
	int			n = (int) HEADER(page)->count;
	int			at = page_rank(page, key, how, NULL);
	Key		   *keys = page_keys(page, how);
	uint32_t   *values = page_values(page, how);

	if (level == 0 && at > 0 && keys[at - 1] == key)
		return PAGE_THERE;
	if (n >= page_entries(how))
		return PAGE_FULL;
	memmove(keys + at + 1, keys + at, sizeof(Key) * (size_t) (n - at));
	memmove(values + at + 1, values + at, sizeof(uint32_t) * (size_t) (n - at));
	keys[at] = key;
	values[at] = value;
	HEADER(page)->count++;
	page_reindex(page, at, how);
	return PAGE_DONE;
}

INLINE bool
page_delete(char *page, Key key, const PageHow how)
{
	int			n = (int) HEADER(page)->count;
	int			at = page_rank(page, key, how, NULL) - 1;
	Key		   *keys = page_keys(page, how);
	uint32_t   *values = page_values(page, how);

	if (at < 0 || keys[at] != key)
		return false;
	memmove(keys + at, keys + at + 1, sizeof(Key) * (size_t) (n - at - 1));
	memmove(values + at, values + at + 1,
			sizeof(uint32_t) * (size_t) (n - at - 1));
	HEADER(page)->count--;
	page_reindex(page, at, how);
	return true;
}

static Key
page_split(char *left, char *right, int level, const PageHow how)
{
	int			n = (int) HEADER(left)->count;
	int			half = n / 2;

	page_fill(right, level, page_keys(left, how) + half,
			  page_values(left, how) + half, n - half, how);
	HEADER(left)->count = (uint32_t) half;
	return page_keys(right, how)[0];
}

/* --- check -------------------------------------------------------------- */

static int
page_list(const char *page, const PageHow how, Key *keys, uint32_t *values)
{
	int			n = (int) HEADER(page)->count;

	memcpy(keys, page_keys(page, how), sizeof(Key) * (size_t) n);
	memcpy(values, page_values(page, how), sizeof(uint32_t) * (size_t) n);
	return n;
}

static const char *
page_wrong(const char *page, const PageHow how)
{
	int			n = (int) HEADER(page)->count;

	for (int sub = 0; how.micro && sub * SUBKEYS < n; sub++)
	{
		if (page_micro(page)[sub] != page_keys(page, how)[sub * SUBKEYS])
			return "the micro-index has another key";
	}
	return NULL;
}

/* --- the trees ---------------------------------------------------------- */

#include "pagetree.h"

PAGE_TREE(sorted, "disk-optimized page", "sorted", {false, FIND_BINARY})
PAGE_TREE(sortedb, "disk-optimized page, branchless", "sorted",
		  {false, FIND_BRANCHLESS})
PAGE_TREE(sortedi, "disk-optimized page, interpolation", "sorted",
		  {false, FIND_INTERPOLATE})
PAGE_TREE(micro, "micro-indexing", "micro", {true, FIND_BINARY})
PAGE_TREE(vmicro, "micro-indexing, SIMD", "micro", {true, FIND_SIMD})
