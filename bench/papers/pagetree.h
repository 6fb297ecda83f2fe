/*-------------------------------------------------------------------------
 *
 * pagetree.h
 *	  A B+-tree of pages, whatever a page is like inside.
 *
 * A file defines a page, and then includes this once; it gets a tree:
 *
 *	PageHow						what differs between its trees, as constants
 *	page_capacity(level, how)	entries of a page
 *	page_fill(page, level, keys, values, n, how)
 *								make a page of entries in order
 *	page_link(page)				where the number of the next page is, or 0
 *	page_child(page, key, how, path)
 *								value of the last entry not above a key, else
 *								of the first one
 *	page_lookup(page, key, how, path)
 *								value of the key, or 0
 *	page_insert(page, level, key, value, how)
 *	page_delete(page, key, how)
 *	page_split(left, right, level, how)
 *								move the upper half of the entries to an empty
 *								page; returns its first key
 *	page_open(page, key, how)	position of the first entry not below a key
 *	page_copy(page, &position, n, out, how)
 *								values from there on, of this page
 *	page_ahead(page, how)		ask for what a scan that comes reads first
 *	page_list(page, how, keys, values)
 *								all entries in order, for checks; their number
 *	page_wrong(page, how)		what is wrong inside of a page, or NULL
 *
 * The first key of a level's first page is 0.
 *
 *-------------------------------------------------------------------------
 */
#include "find.h"

#define MAX_LEVELS		16

typedef struct PageTree
{
	PageHow		how;
	Arena		pages;
	uint32_t	root;
	int			levels;
	long		leaves;
	long		splits;
} PageTree;

typedef struct PageCursor
{
	char	   *page;			/* NULL: no more entries */
	uint32_t	position;
} PageCursor;

INLINE char *
page_at(const PageTree *t, uint32_t no)
{
	return arena_at(&t->pages, no, PAGESIZE);
}

/* --- bulk load ---------------------------------------------------------- */

/* Pages of a level over n entries; these become the pages' own. */
static long
pagetree_level(PageTree *t, int level, Key *keys, uint32_t *values, long n,
			   int fill)
{
	int			per = LAB_MAX(2, (int) ((long) page_capacity(level, t->how) *
										fill / 100));
	long		out = 0;
	char	   *prev = NULL;

	for (long i = 0; i < n || out == 0; out++)
	{
		int			take = (int) LAB_MIN(per, n - i);
		uint32_t	no = arena_new(&t->pages);
		/* so that keys that come before all others sort after it */
		Key			low = out > 0 ? keys[i] : 0;

		page_fill(page_at(t, no), level, keys + i, values + i, take, t->how);
		*page_link(page_at(t, no)) = 0;
		if (prev != NULL)
			*page_link(prev) = no;
		prev = page_at(t, no);
		i += take;
		keys[out] = low;
		values[out] = no;
	}
	return out;
}

static void *
pagetree_build(const Load *load, PageHow how)
{
	PageTree   *t = lab_alloc(sizeof(PageTree));
	Key		   *keys = lab_alloc(sizeof(Key) * (size_t) (load->n + 1));
	uint32_t   *values = lab_alloc(sizeof(uint32_t) * (size_t) (load->n + 1));
	long		n = load->n;

	t->how = how;
	arena_init(&t->pages, PAGESIZE,
			   (uint64_t) (load->expect * 100 / load->fill /
						   page_capacity(0, how) * 5 / 4 + 16));
	memcpy(keys, load->keys, sizeof(Key) * (size_t) n);
	memcpy(values, load->tids, sizeof(Tid) * (size_t) n);
	do
	{
		n = pagetree_level(t, t->levels, keys, values, n, load->fill);
		if (t->levels++ == 0)
			t->leaves = n;
	} while (n > 1);
	t->root = values[0];
	free(keys);
	free(values);
	return t;
}

static void
pagetree_destroy(void *tree)
{
	PageTree   *t = tree;

	arena_destroy(&t->pages);
	free(t);
}

/* --- search, scan ------------------------------------------------------- */

/* The leaf page of a key; steps, if not NULL, get pages' numbers by level. */
INLINE char *
pagetree_descend(const PageTree *t, Key key, const PageHow how,
				 uint32_t *steps, Path *path)
{
	uint32_t	no = t->root;

	for (int level = t->levels - 1; level > 0; level--)
	{
		if (steps != NULL)
			steps[level] = no;
		no = page_child(page_at(t, no), key, how, path);
	}
	if (steps != NULL)
		steps[0] = no;
	return page_at(t, no);
}

INLINE Tid
pagetree_search(const PageTree *t, Key key, const PageHow how, Path *path)
{
	return page_lookup(pagetree_descend(t, key, how, NULL, path), key, how,
					   path);
}

INLINE void
pagetree_open(const PageTree *t, Key key, PageCursor *c, const PageHow how)
{
	c->page = pagetree_descend(t, key, how, NULL, NULL);
	c->position = page_open(c->page, key, how);
	if (*page_link(c->page) != 0)
		page_ahead(page_at(t, *page_link(c->page)), how);
}

INLINE long
pagetree_next(const PageTree *t, PageCursor *c, long n, Tid *out,
			  const PageHow how)
{
	long		got = 0;

	while (c->page != NULL)
	{
		uint32_t	next;

		got += page_copy(c->page, &c->position, n - got, out + got, how);
		if (got == n)
			break;
		next = *page_link(c->page);
		c->page = next != 0 ? page_at(t, next) : NULL;
		c->position = 0;
		if (next != 0 && *page_link(c->page) != 0)
			page_ahead(page_at(t, *page_link(c->page)), how);
	}
	return got;
}

/* --- changes ------------------------------------------------------------ */

/* A new page on the right of a full one; the entry goes into one of the two. */
static void
pagetree_divide(PageTree *t, const uint32_t *steps, int level, Key key,
				uint32_t value)
{
	for (; level < t->levels; level++)
	{
		char	   *left = page_at(t, steps[level]);
		uint32_t	no;
		char	   *right;
		Key			separator;

		if (page_insert(left, level, key, value, t->how) == PAGE_DONE)
			return;
		no = arena_new(&t->pages);
		right = page_at(t, no);
		separator = page_split(left, right, level, t->how);
		*page_link(right) = *page_link(left);
		*page_link(left) = no;
		if (page_insert(key < separator ? left : right, level, key, value,
						t->how) != PAGE_DONE)
			lab_fail("half a page has no room");
		if (level == 0)
		{
			t->leaves++;
			t->splits++;
		}
		key = separator;
		value = no;
	}
	{
		uint32_t	root = arena_new(&t->pages);
		Key			keys[2] = {0, key};
		uint32_t	values[2] = {t->root, value};

		page_fill(page_at(t, root), level, keys, values, 2, t->how);
		*page_link(page_at(t, root)) = 0;
		t->root = root;
		t->levels++;
	}
}

INLINE bool
pagetree_insert(PageTree *t, Key key, Tid tid, const PageHow how)
{
	uint32_t	steps[MAX_LEVELS];
	char	   *page = pagetree_descend(t, key, how, steps, NULL);
	PageResult	result = page_insert(page, 0, key, tid, how);

	if (result == PAGE_FULL)
		pagetree_divide(t, steps, 0, key, tid);
	return result != PAGE_THERE;
}

INLINE bool
pagetree_delete(PageTree *t, Key key, const PageHow how)
{
	return page_delete(pagetree_descend(t, key, how, NULL, NULL), key, how);
}

/* --- statistics, check -------------------------------------------------- */

static void
pagetree_stats(const void *tree, Stats *s)
{
	const PageTree *t = tree;

	memset(s, 0, sizeof(*s));
	s->levels = t->levels;
	s->nodes = t->pages.live;
	s->leaves = t->leaves;
	s->bytes = (size_t) t->pages.live * PAGESIZE;
	s->splits = t->splits;
	s->leaf_entries = page_capacity(0, t->how);
}

typedef struct PageCheck
{
	const PageTree *t;
	uint32_t	next[MAX_LEVELS];	/* page that must come, by level */
	bool		any[MAX_LEVELS];
	long		pages;
	const char *wrong;
} PageCheck;

static void
pagetree_check_page(PageCheck *c, uint32_t no, int level, Key low, Key high,
					bool last)
{
	char	   *page = page_at(c->t, no);
	Key		   *keys = malloc(sizeof(Key) * MAX_ENTRIES);
	uint32_t   *values = malloc(sizeof(uint32_t) * MAX_ENTRIES);
	int			n = page_list(page, c->t->how, keys, values);
	const char *wrong = page_wrong(page, c->t->how);

	c->pages++;
	if (wrong != NULL)
		c->wrong = wrong;
	if (c->any[level] && c->next[level] != no)
		c->wrong = "pages are linked in another order";
	c->any[level] = true;
	c->next[level] = *page_link(page);
	if (level > 0 && n == 0)
		c->wrong = "an inner page has no child";
	for (int i = 0; i < n; i++)
	{
		if (keys[i] < low || (!last && keys[i] >= high) ||
			(i > 0 && keys[i] <= keys[i - 1]))
			c->wrong = "keys are not in order";
	}
	for (int i = 0; level > 0 && i < n && c->wrong == NULL; i++)
		pagetree_check_page(c, values[i], level - 1, i > 0 ? keys[i] : low,
							i + 1 < n ? keys[i + 1] : high,
							last && i + 1 == n);
	free(keys);
	free(values);
}

static const char *
pagetree_check(const void *tree)
{
	const PageTree *t = tree;
	PageCheck	c = {.t = t};

	pagetree_check_page(&c, t->root, t->levels - 1, 0, 0, true);
	for (int i = 0; i < t->levels && c.wrong == NULL; i++)
	{
		if (c.next[i] != 0)
			c.wrong = "the last page has a next one";
	}
	if (c.wrong == NULL && c.pages != t->pages.live)
		c.wrong = "pages are lost";
	return c.wrong;
}

/* A kind of tree: its name, label, shape, and a PageHow in parentheses. */
#define PAGE_TREE(id, text, form, ...) \
static const PageHow id##_how = __VA_ARGS__; \
static void *id##_build(const Load *l) { return pagetree_build(l, id##_how); } \
static Tid id##_search(const void *t, Key k) \
{ return pagetree_search(t, k, id##_how, NULL); } \
static void id##_visit(const void *t, Key k, Path *path) \
{ pagetree_search(t, k, id##_how, path); } \
static void id##_open(void *t, Key k, Cursor *c) \
{ pagetree_open(t, k, CURSOR(PageCursor, c), id##_how); } \
static long id##_next(void *t, Cursor *c, long n, Tid *out) \
{ return pagetree_next(t, CURSOR(PageCursor, c), n, out, id##_how); } \
static bool id##_insert(void *t, Key k, Tid tid) \
{ return pagetree_insert(t, k, tid, id##_how); } \
static bool id##_delete(void *t, Key k) \
{ return pagetree_delete(t, k, id##_how); } \
const TreeKind id = { \
	.name = #id, .label = text, .shape = form, .pages = true, \
	.build = id##_build, .destroy = pagetree_destroy, .search = id##_search, \
	.visit = id##_visit, .open = id##_open, .next = id##_next, \
	.insert = id##_insert, .delete = id##_delete, .stats = pagetree_stats, \
	.check = pagetree_check \
};
