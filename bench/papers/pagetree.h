/*-------------------------------------------------------------------------
 *
 * pagetree.h
 *	  A B+-tree of pages, or of nodes in memory, whatever one is like inside.
 *
 * A file defines PageHow, what differs between its trees, includes this, and
 * defines the functions that are declared first: what a page does.  Above leaves
 * a page has the lowest key of each child; that of a level's first page is 0.
 *
 *-------------------------------------------------------------------------
 */
#include "find.h"

/* Files define these before, where a page is not as most are. */
#ifndef PAGE_BYTES
#define PAGE_BYTES(how)		PAGESIZE
#endif
#ifndef PAGE_STEPS				/* scans and deletions need their way */
#define PAGE_STEPS(steps)	NULL
#endif
#ifndef PAGE_VISITED			/* a search that takes a path has a leaf */
#define PAGE_VISITED(t, leaf, path, how) ((void) 0)
#endif
#ifndef PAGE_JOINED				/* the link from left to right is set */
#define PAGE_JOINED(t, left, right) ((void) 0)
#endif

typedef enum PageResult
{
	PAGE_DONE,
	PAGE_THERE,					/* the key */
	PAGE_FULL
} PageResult;

/* A page on the way to a key. */
typedef struct PageStep
{
	uint32_t	no;
	int			at;				/* in it, if its functions want to know */
} PageStep;

typedef struct PageCursor
{
	char	   *page;			/* NULL: no more entries */
	uint64_t	position;		/* in it, 0 is its begin */
	uint64_t	below;			/* what else its functions want to know */

	/* of trees with a list of leaves: where it goes on */
	uint32_t	list;
	int32_t		slot;
	int32_t		ahead;			/* leaves asked for and not yet visited */
	bool		end;
} PageCursor;

/* --- what a page does ----------------------------------------------------- */

/* Where the number of the next page is, or NULL: this level is not linked. */
static uint32_t *page_link(char *page, int level, const PageHow how);

/* Value of a leaf's key, or 0. */
static Tid	page_lookup(Tree *t, char *page, Key key, const PageHow how,
						Path *path);

/* Set c to the first entry of its page that is not below the key. */
static void page_open(Tree *t, PageCursor *c, Key key, const PageHow how);

/* n values from c on, or as many as there are in its page; their number. */
static long page_copy(PageCursor *c, long n, Tid *out, const PageHow how);

/*
 * Ask for what a scan reads after c's page, which it has come to.  If it has
 * begun there, steps is not NULL.
 */
static void page_ahead(Tree *t, PageCursor *c, const PageStep *steps,
					   const PageHow how);

/* If not PAGE_DONE, nothing was done; *at may be set for page_split(). */
static PageResult page_insert(char *page, int level, Key key, uint32_t value,
							  int *at, const PageHow how);

/* False: the key is not there. */
static bool page_delete(Tree *t, char *page, PageStep *steps, Key key,
						const PageHow how);

/* The leaf of a key; steps, if not NULL, get the pages by level. */
static char *tree_descend(Tree *t, Key key, PageStep *steps, const PageHow how,
						  Path *path);

/* The page for the check, but for its link; w->wrong if it is not sound. */
static void page_view(Walk *w, char *page, uint32_t no, int level, View *v,
					  const PageHow how);

INLINE char *
page_at(const Tree *t, uint64_t no, const PageHow how)
{
	return arena_at(&t->nodes, (uint32_t) no, PAGE_BYTES(how));
}

/* --- bulk load, splits ---------------------------------------------------- */

#ifdef PAGE_OWN_BUILD

/* The file makes the tree, and room in a full leaf for the entry. */
static void tree_divide(Tree *t, PageStep *steps, Key key, uint32_t value,
						const PageHow how);

#else

/* Entries, or children, that it has room for. */
static int	page_capacity(int level, const PageHow how);

/*
 * The page has no room for the entry: move its upper half to a new page, whose
 * number is returned, and put the entry into one of the two; *key becomes the
 * lowest key of the new one.  0: nothing else has to be done.
 */
static uint32_t page_split(Tree *t, PageStep *step, int level, Key *key,
						   uint32_t value, const PageHow how);

static int	page_load(Tree *t, uint32_t no, int level, Key low, Pairs entries,
					  long n, int fill, const PageHow how);

#ifndef PAGE_OWN_LOAD

/* Make it of n entries; its link stays. */
static void page_fill(char *page, int level, Pairs entries, int n,
					  const PageHow how);

/*
 * Make a page of the first of n entries: of how many is returned.  None above
 * leaves gets one child: the page before gives one away, or takes it.
 */
static int
page_load(Tree *t, uint32_t no, int level, Key low, Pairs entries, long n,
		  int fill, const PageHow how)
{
	int			room = page_capacity(level, how);
	int			take = (int) LAB_MIN(LAB_MAX(2, room * fill / 100), n);

	if (level > 0 && n - take == 1)
		take += take > 2 ? -1 : 1;
	page_fill(page_at(t, no, how), level, entries, take, how);
	if (page_link(page_at(t, no, how), level, how) != NULL)
		*page_link(page_at(t, no, how), level, how) = 0;
	return take;
}

#endif

/* The right page comes next after the left one. */
static void
page_join(Tree *t, uint32_t left, uint32_t right, int level, const PageHow how)
{
	uint32_t   *from = page_link(page_at(t, left, how), level, how);

	if (from == NULL)
		return;
	*page_link(page_at(t, right, how), level, how) = *from;
	*from = right;
	PAGE_JOINED(t, left, right);
}

/* Pages of a level over n entries; these become the pages' own. */
static long
tree_level(Tree *t, Pairs e, long n, int fill, const PageHow how)
{
	uint32_t	prev = 0;
	long		out = 0;

	for (long i = 0; i < n || out == 0; out++)
	{
		uint32_t	no = arena_new(&t->nodes);
		/* so that keys that come before all others sort after it */
		Key			low = out > 0 ? e.keys[i] : 0;

		i += page_load(t, no, t->levels, low, pairs_from(e, i), n - i, fill,
					   how);
		if (prev != 0)
			page_join(t, prev, no, t->levels, how);
		prev = no;
		e.keys[out] = low;
		e.values[out] = no;
	}
	return out;
}

static void *
tree_build(const Load *load, const PageHow how)
{
	Tree	   *t = lab_alloc(sizeof(Tree));
	long		n = load->n;
	Pairs		e = pairs_new(n + 1);

	t->leaf_entries = page_capacity(0, how);
	arena_init(&t->nodes, PAGE_BYTES(how),
			   load_units(load, t->leaf_entries) + 16);
	pairs_copy(e, load->pairs, n);
	do
	{
		n = tree_level(t, e, n, load->fill, how);
		if (t->levels++ == 0)
			t->leaves = n;
	} while (n > 1);
	t->root = e.values[0];
	pairs_free(e);
	return t;
}

/* A leaf is full: split it, and pages above that are full as well. */
NOINLINE void
tree_divide(Tree *t, PageStep *steps, Key key, uint32_t value,
			const PageHow how)
{
	Key			keys[2] = {0};
	uint32_t	values[2] = {t->root};

	for (int level = 0; level < t->levels; level++)
	{
		PageStep   *step = &steps[level];

		if (level > 0 && page_insert(page_at(t, step->no, how), level, key,
									 value, &step->at, how) == PAGE_DONE)
			return;
		value = page_split(t, step, level, &key, value, how);
		if (value == 0)
			return;
		page_join(t, step->no, value, level, how);
		t->leaves += level == 0;
		t->splits += level == 0;
	}
	keys[1] = key;
	values[1] = value;
	t->root = arena_new(&t->nodes);
	page_load(t, t->root, t->levels, 0, (Pairs) {keys, values}, 2, 100, how);
	t->levels++;
}

#endif

/* --- search, scan --------------------------------------------------------- */

#ifndef PAGE_OWN_DESCENT

/* The child of a key; *at, if not NULL, may be set for page_insert(). */
static uint32_t page_child(char *page, Key key, int *at, const PageHow how,
						   Path *path);

INLINE char *
tree_descend(Tree *t, Key key, PageStep *steps, const PageHow how, Path *path)
{
	uint32_t	no = t->root;

	for (int level = t->levels - 1; level > 0; level--)
	{
		if (steps != NULL)
			steps[level].no = no;
		no = page_child(page_at(t, no, how), key,
						steps != NULL ? &steps[level].at : NULL, how, path);
	}
	if (steps != NULL)
		steps[0].no = no;
	return page_at(t, no, how);
}

#endif

INLINE Tid
tree_search(Tree *t, Key key, const PageHow how, Path *path)
{
	char	   *page = tree_descend(t, key, NULL, how, path);

	if (path != NULL)
		PAGE_VISITED(t, page, path, how);
	return page_lookup(t, page, key, how, path);
}

INLINE void
tree_open(Tree *t, Key key, PageCursor *c, const PageHow how)
{
	PageStep	steps[MAX_LEVELS];

	c->page = tree_descend(t, key, PAGE_STEPS(steps), how, NULL);
	page_open(t, c, key, how);
	page_ahead(t, c, steps, how);
}

INLINE long
tree_next(Tree *t, PageCursor *c, long n, Tid *out, const PageHow how)
{
	long		got = 0;

	while (c->page != NULL)
	{
		uint32_t	next;

		got += page_copy(c, n - got, out + got, how);
		if (got == n)
			break;
		next = *page_link(c->page, 0, how);
		c->page = next != 0 ? page_at(t, next, how) : NULL;
		c->position = 0;
		if (next != 0)
			page_ahead(t, c, NULL, how);
	}
	return got;
}

/* --- changes -------------------------------------------------------------- */

INLINE bool
tree_insert(Tree *t, Key key, Tid tid, const PageHow how)
{
	PageStep	steps[MAX_LEVELS];
	char	   *page = tree_descend(t, key, steps, how, NULL);
	PageResult	result = page_insert(page, 0, key, tid, &steps[0].at, how);

	if (result == PAGE_FULL)
		tree_divide(t, steps, key, tid, how);
	return result != PAGE_THERE;
}

INLINE bool
tree_delete(Tree *t, Key key, const PageHow how)
{
	PageStep	steps[MAX_LEVELS];
	char	   *page = tree_descend(t, key, PAGE_STEPS(steps), how, NULL);

	return page_delete(t, page, steps, key, how);
}

/* Of page_view(), for pages that have the keys of all entries. */
static void __attribute__((unused))
page_show(Walk *w, int level, View *v, Pairs entries, int n)
{
	int			above = level > 0;

	if (above && (n == 0 || entries.keys[0] < v->low))
		w->wrong = "an inner page has no child, or the first is too low";
	v->n = n - above;
	v->keys = entries.keys + above;
	for (int i = 0; above && i < n; i++)
		v->kid[i] = entries.values[i];
}

static void
tree_view(Walk *w, uint64_t no, int level, View *v)
{
	const PageHow *how = w->how;
	char	   *page = page_at(w->tree, no, *how);
	uint32_t   *link = page_link(page, level, *how);

	page_view(w, page, (uint32_t) no, level, v, *how);
	v->linked = link != NULL;
	v->next = link != NULL ? *link : 0;
}

INLINE const char *
tree_check(const void *tree, const PageHow how)
{
	const Tree *t = tree;
	Walk		w = {.tree = t, .how = &how, .view = tree_view};

	walk_node(&w, t->root, t->levels - 1, 0, 0, true);
	return walk_end(&w, t->count > 0 ? t->count : t->nodes.live, t->leaves);
}

/*
 * A tree: its name, label and shape, what its family has functions of its own
 * for (build, destroy, stats, check), members of TreeKind, and a PageHow, which
 * its functions have as a constant.
 */
#define TREE_KIND(id, text, form, family, own, ...) \
static const PageHow id##_how = __VA_ARGS__; \
static void *id##_build(const Load *load) \
{ return family##_build(load, id##_how); } \
static Tid id##_search(void *t, Key key) \
{ return tree_search(t, key, id##_how, NULL); } \
static void id##_visit(void *t, Key key, Path *path) \
{ tree_search(t, key, id##_how, path); } \
static void id##_open(void *t, Key from, Cursor *c) \
{ tree_open(t, from, CURSOR(PageCursor, c), id##_how); } \
static long id##_next(void *t, Cursor *c, long n, Tid *out) \
{ return tree_next(t, CURSOR(PageCursor, c), n, out, id##_how); } \
static bool id##_insert(void *t, Key key, Tid tid) \
{ return tree_insert(t, key, tid, id##_how); } \
static bool id##_delete(void *t, Key key) \
{ return tree_delete(t, key, id##_how); } \
static const char *id##_check(const void *t) \
{ return family##_check(t, id##_how); } \
const TreeKind id = { \
	.name = #id, .label = text, .shape = form, own, \
	.build = id##_build, .destroy = family##_destroy, \
	.search = id##_search, .visit = id##_visit, .open = id##_open, \
	.next = id##_next, .insert = id##_insert, .delete = id##_delete, \
	.stats = family##_stats, .check = id##_check \
};

/* --- pages whose entries have numbers, in order --------------------------- */

#ifdef PAGE_RANKED

/* Number of keys that are not above a key; all of these are of leaves. */
static int	page_rank(char *page, Key key, const PageHow how, Path *path);
static Key	page_key(char *page, int at, const PageHow how);
static uint32_t page_value(char *page, int at, const PageHow how, Path *path);
static void page_drop(Tree *t, PageStep *steps, char *page, int at,
					  const PageHow how);

/* Number of the entry with a key, or -1. */
INLINE int
page_find(char *page, Key key, const PageHow how, Path *path)
{
	int			at = page_rank(page, key, how, path) - 1;

	return at >= 0 && page_key(page, at, how) == key ? at : -1;
}

INLINE Tid
page_lookup(Tree *t, char *page, Key key, const PageHow how, Path *path)
{
	int			at = page_find(page, key, how, path);

	return at >= 0 ? page_value(page, at, how, path) : 0;
}

INLINE void
page_open(Tree *t, PageCursor *c, Key key, const PageHow how)
{
	int			rank = page_rank(c->page, key, how, NULL);

	if (rank > 0 && page_key(c->page, rank - 1, how) == key)
		rank--;
	c->position = (uint64_t) rank;
}

INLINE bool
page_delete(Tree *t, char *page, PageStep *steps, Key key, const PageHow how)
{
	int			at = page_find(page, key, how, NULL);

	if (at >= 0)
		page_drop(t, steps, page, at, how);
	return at >= 0;
}

#endif

/* --- of these, pages whose leaves are an array of keys and one of values -- */

#ifdef PAGE_PAIRS				/* and COUNT(page) */

static Pairs page_pairs(char *page, int level, const PageHow how);

INLINE Key
page_key(char *page, int at, const PageHow how)
{
	return page_pairs(page, 0, how).keys[at];
}

INLINE uint32_t
page_value(char *page, int at, const PageHow how, Path *path)
{
	uint32_t   *value = page_pairs(page, 0, how).values + at;

	path_add(path, value, sizeof(*value));
	return *value;
}

INLINE long
page_copy(PageCursor *c, long n, Tid *out, const PageHow how)
{
	long		take = LAB_MIN(n, (long) COUNT(c->page) - (long) c->position);

	memcpy(out, page_pairs(c->page, 0, how).values + c->position,
		   sizeof(Tid) * (size_t) take);
	c->position += (uint64_t) take;
	return take;
}

#endif

/* --- pages that are divided by halves ------------------------------------- */

#ifdef PAGE_HALVES

/* Move the upper half of the entries to an empty page: its first key. */
static Key	page_halve(char *left, char *right, int level, const PageHow how);

static uint32_t
page_split(Tree *t, PageStep *step, int level, Key *key, uint32_t value,
		   const PageHow how)
{
	uint32_t	no = arena_new(&t->nodes);
	char	   *left = page_at(t, step->no, how);
	char	   *right = page_at(t, no, how);
	Key			low = page_halve(left, right, level, how);
	int			at;

	if (page_insert(*key < low ? left : right, level, *key, value, &at,
					how) != PAGE_DONE)
		lab_fail("half a page has no room");
	*key = low;
	return no;
}

#endif

/* --- pages that are both, and alike at all levels ------------------------- */

#if defined(PAGE_RANKED) && defined(PAGE_HALVES)	/* and COUNT(page) */

/* An entry more, before the at'th; there is room. */
static void page_put(char *page, int at, Key key, uint32_t value,
					 const PageHow how);

INLINE uint32_t
page_child(char *page, Key key, int *at, const PageHow how, Path *path)
{
	return page_value(page, LAB_MAX(page_rank(page, key, how, path) - 1, 0),
					  how, path);
}

INLINE PageResult
page_insert(char *page, int level, Key key, uint32_t value, int *at,
			const PageHow how)
{
	int			rank = page_rank(page, key, how, NULL);

	if (level == 0 && rank > 0 && page_key(page, rank - 1, how) == key)
		return PAGE_THERE;
	if (COUNT(page) >= page_capacity(level, how))
		return PAGE_FULL;
	page_put(page, rank, key, value, how);
	return PAGE_DONE;
}

#endif
