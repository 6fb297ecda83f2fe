/*-------------------------------------------------------------------------
 *
 * tree_nbtree.c
 *	  Pages laid out as those of the server's btree: a header, an array of line
 *	  pointers in the order of keys, and tuples of 16 bytes from the end of the
 *	  page on.
 *
 * A search is binary, and compares through a function pointer, as the server
 * does.  A page here has no high key: nothing changes pages during a descent, so
 * a tuple more fits.  Deletion closes the gap that a tuple leaves, at once.
 *
 *-------------------------------------------------------------------------
 */
#include "lab.h"

typedef struct PageHow
{
	int			unused;
} PageHow;

typedef struct PageHeader
{
	char		lsn[12];		/* and checksum, flags */
	uint16_t	lower;			/* end of the line pointers */
	uint16_t	upper;			/* the lowest tuple */
	char		rest[8];
} PageHeader;

/* A heap page's number and a row's, as a tuple has them. */
typedef struct Tuple
{
	uint16_t	block_hi,
				block_lo,
				row,
				info;
	Key			key;			/* in 8 bytes */
} Tuple;

typedef struct LinePointer
{
	uint32_t	offset:15,
				flags:2,
				length:15;
} LinePointer;

#define TUPLE		16
#define SPECIAL		16
#define HEADER(page)	((PageHeader *) (page))
#define ITEMS(page)		((LinePointer *) ((page) + sizeof(PageHeader)))
#define LINK_AT			(PAGESIZE - SPECIAL)
#define COUNT(page) \
	((int) ((HEADER(page)->lower - sizeof(PageHeader)) / sizeof(LinePointer)))

#define PAGE_RANKED
#define PAGE_HALVES
#include "pagetree.h"

static int
key_cmp(Key a, Key b)
{
	return (a > b) - (a < b);
}

static int	(*volatile key_cmp_call) (Key, Key) = key_cmp;

INLINE Tuple *
tuple_at(const char *page, int at)
{
	return (Tuple *) ((char *) page + ITEMS(page)[at].offset);
}

INLINE uint32_t
tuple_value(const Tuple *t)
{
	return (uint32_t) t->block_hi << 16 | t->block_lo;
}

INLINE int
page_capacity(int level, const PageHow how)
{
	return (PAGESIZE - SPECIAL - (int) sizeof(PageHeader)) /
		(TUPLE + (int) sizeof(LinePointer));
}

INLINE uint32_t *
page_link(char *page, int level, const PageHow how)
{
	return (uint32_t *) (page + LINK_AT);
}

/* --- search, scan ------------------------------------------------------- */

/* Number of keys that are not above a key. */
INLINE int
page_rank(char *page, Key key, const PageHow how, Path *path)
{
	int			low = 0,
				high = COUNT(page);

	path_add(path, page, sizeof(PageHeader));
	while (low < high)
	{
		int			mid = (low + high) / 2;
		Tuple	   *t = tuple_at(page, mid);

		path_add(path, &ITEMS(page)[mid], sizeof(LinePointer));
		path_add(path, t, TUPLE);
		if (key_cmp_call(t->key, key) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

INLINE Key
page_key(char *page, int at, const PageHow how)
{
	return tuple_at(page, at)->key;
}

INLINE uint32_t
page_value(char *page, int at, const PageHow how, Path *path)
{
	path_add(path, tuple_at(page, at), TUPLE);
	return tuple_value(tuple_at(page, at));
}

INLINE long
page_copy(PageCursor *c, long n, Tid *out, const PageHow how)
{
	const char *page = c->page;
	int			at = (int) c->position;
	int			take = (int) LAB_MIN(n, (long) COUNT(page) - at);

	for (int i = 0; i < take; i++)
		out[i] = tuple_value(tuple_at(page, at + i));
	c->position += (uint64_t) take;
	return take;
}

/* The server's btree asks for nothing ahead. */
INLINE void
page_ahead(Tree *t, PageCursor *c, const PageStep *steps, const PageHow how)
{
}

/* --- changes ------------------------------------------------------------ */

static void
page_put(char *page, int at, Key key, uint32_t value, const PageHow how)
{
	size_t		tail = (size_t) (COUNT(page) - at);
	LinePointer *item = ITEMS(page) + at;
	Tuple	   *t;

	memmove(item + 1, item, sizeof(LinePointer) * tail);
	HEADER(page)->lower += sizeof(LinePointer);
	HEADER(page)->upper -= TUPLE;
	item->offset = HEADER(page)->upper & 0x7FFF;
	item->flags = 1;
	item->length = TUPLE;
	t = tuple_at(page, at);
	t->block_hi = (uint16_t) (value >> 16);
	t->block_lo = (uint16_t) value;
	t->row = 1;
	t->info = TUPLE;
	t->key = key;
}

static void
page_fill(char *page, int level, Pairs entries, int n, const PageHow how)
{
	HEADER(page)->lower = sizeof(PageHeader);
	HEADER(page)->upper = LINK_AT;
	for (int i = 0; i < n; i++)
		page_put(page, i, entries.keys[i], entries.values[i], how);
}

/* Tuples below the one that goes move up, as the server moves them. */
static void
page_drop(Tree *t, PageStep *steps, char *page, int at, const PageHow how)
{
	unsigned	gone = ITEMS(page)[at].offset;
	unsigned	upper = HEADER(page)->upper;

	memmove(page + upper + TUPLE, page + upper, gone - upper);
	HEADER(page)->upper += TUPLE;
	memmove(ITEMS(page) + at, ITEMS(page) + at + 1,
			sizeof(LinePointer) * (size_t) (COUNT(page) - at - 1));
	HEADER(page)->lower -= sizeof(LinePointer);
	for (int i = 0; i < COUNT(page); i++)
	{
		if (ITEMS(page)[i].offset < gone)
			ITEMS(page)[i].offset = (ITEMS(page)[i].offset + TUPLE) & 0x7FFF;
	}
}

/* All entries in order; their number. */
static int
page_list(const char *page, Pairs out)
{
	for (int i = 0; i < COUNT(page); i++)
	{
		out.keys[i] = tuple_at(page, i)->key;
		out.values[i] = tuple_value(tuple_at(page, i));
	}
	return COUNT(page);
}

static Key
page_halve(char *left, char *right, int level, const PageHow how)
{
	Key			keys[MAX_ENTRIES];
	uint32_t	values[MAX_ENTRIES];
	Pairs		all = {keys, values};
	int			n = page_list(left, all);

	page_fill(right, level, pairs_from(all, n / 2), n - n / 2, how);
	page_fill(left, level, all, n / 2, how);
	return keys[n / 2];
}

static void
page_view(Walk *w, char *page, uint32_t no, int level, View *v,
		  const PageHow how)
{
	Pairs		all = {v->buffer, v->values};

	for (int i = 0; i < COUNT(page); i++)
	{
		if (ITEMS(page)[i].offset < HEADER(page)->upper ||
			ITEMS(page)[i].offset > LINK_AT - TUPLE)
			w->wrong = "a line pointer leads out of the tuples";
	}
	if (LINK_AT - HEADER(page)->upper != COUNT(page) * TUPLE)
		w->wrong = "tuples are lost";
	page_show(w, level, v, all, page_list(page, all));
}

TREE_KIND(nbtree, "btree's page", "nbtree", tree, .pages = true, {0})
