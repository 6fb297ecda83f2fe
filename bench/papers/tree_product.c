/*-------------------------------------------------------------------------
 *
 * tree_product.c
 *	  The tree of the product's own pages: what src/page makes of them, outside
 *	  the server, for the pages' sizes and keys of the laboratory.
 *
 * Pages are verified on the way down as the server verifies them (number,
 * encoding, fences), which no other tree here does.  Pages are not instrumented:
 * a cold search finds none of the lines of its pages cached, whether it reads
 * them or not.  As in the server a node of the next page is asked for ahead of
 * a descent, a leaf that is full where keys ascend is split at its end, and
 * rows of the table are 100 a block.
 *
 *-------------------------------------------------------------------------
 */
#include "lab.h"


#include "page/check.h"
#include "page/copy.h"
#include "page/form.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/remove.h"
#include "page/room.h"
#include "page/simd.h"
#include "page/widths.h"

#define ROWS_A_BLOCK	100
#define MAX_LEVELS		16
#define SPLIT_FILL		90		/* percent of nodes that a split makes */
#define AHEAD_LINES		12		/* of a page that a scan comes to */
#define MIN_ENTRIES		8		/* of a leaf page that a load makes */

typedef struct ProductTree
{
	Arena		pages;
	uint32_t	root;
	int			levels;
	long		leaves;
	long		splits;
	long		entries;		/* of a leaf page, as loaded */
	uint32_t	reach;			/* blocks of the table, see fpt_tids_reach() */
	FPTGuess	guess;
} ProductTree;

typedef struct ProductCursor
{
	char	   *page;			/* NULL: no more entries */
	FPTLoc		at;
} ProductCursor;

static FPTLayout layout;
static FPTGeoms geoms;
static int	root_lines;			/* widest in-page root */
static FPTWork work;
static FPTEntry entries[FPT_MAX_ENTRIES + 1];
static const FPTKey minf = {.cls = FPT_CLS_MINF};
static const FPTKey pinf = {.cls = FPT_CLS_PINF};

/* The layout of all trees.  Ends the program if there is none. */
static void
product_begin(void)
{
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];

	if (layout.geoms != NULL)
		return;
	if (!fpt_simd_select("auto") ||
		!fpt_choose_widths(KEYSIZE, 0, 0, widths) ||
		!fpt_layout_init(&layout, &geoms, KEYSIZE, false, 1, widths))
		lab_fail("the product has no pages of %d bytes", PAGESIZE);
	for (int i = 0; i < FPT_NKW * FPT_NKINDS; i++)
		root_lines = LAB_MAX(root_lines,
							 widths[i / FPT_NKINDS][i % FPT_NKINDS].w);
}

INLINE FPTKey
product_key(Key key, uint64 tid)
{
	FPTKey		k = {.lo = key, .tid = tid, .cls = FPT_CLS_VALUE};

	return k;
}

/* A tuple id as a row of the table, and back. */
INLINE uint64
product_row(Tid tid)
{
	return (uint64) (tid / ROWS_A_BLOCK) << 16 | (1 + tid % ROWS_A_BLOCK);
}

INLINE Tid
product_tid(uint64 row)
{
	return (Tid) (row >> 16) * ROWS_A_BLOCK + (Tid) (row & 0xFFFF) - 1;
}

INLINE char *
page_at(const ProductTree *t, uint32_t no)
{
	return arena_at(&t->pages, no, PAGESIZE);
}

/* --- bulk load ---------------------------------------------------------- */

/*
 * Make a page of the first of n entries; returns how many it has.  How many
 * that are depends on the encoding, which depends on the entries: "guess", and
 * then as many as such a page should have, until they are the same.
 */
static int
product_fill(const ProductTree *t, char *page, FPTPageSpec *spec, FPTEntry *e,
			 int n, int fill, int guess)
{
	int			take = LAB_MIN(guess, n);
	int			good = 0;
	FPTEntry	first = e[0];

	for (int tries = 0; tries < 12; tries++)
	{
		FPTKey		high = take < n ? e[take].key : pinf;
		int			want;

		if (spec->level == 0)
			high.tid = 0;
		spec->high = &high;
		spec->reach = t->reach;
		e[0] = first;			/* may stand for minus infinity */
		if (fpt_page_form(&layout, page, spec, e, take, fill) != FPT_OK)
		{
			take = LAB_MAX(take * 3 / 4, 1);
			continue;
		}
		if (take == good)
			return take;
		good = take;
		want = (int) fpt_page_geom(&layout, page)->capacity * fill / 100;
		if (tries < 6 || want < take)
			take = LAB_MIN(LAB_MAX(want, 1), n);
		if (take == good)
			return take;
	}
	lab_fail("a page cannot be filled");
}

/* Entries of a level from the i'th on: keys to load, or the pages below. */
static int
product_window(const Load *load, int level, const FPTEntry *below, long i,
			   long n)
{
	int			m = (int) LAB_MIN(n - i, FPT_MAX_ENTRIES + 1);

	for (int k = 0; k < m; k++)
	{
		if (level > 0)
			entries[k] = below[i + k];
		else
			entries[k] = (FPTEntry) {
				product_key(load->keys[i + k], product_row(load->tids[i + k])),
				0};
	}
	return m;
}

/* Pages of a level over n entries; their separators and numbers are in e. */
static long
product_level(ProductTree *t, const Load *load, int level, FPTEntry *e, long n)
{
	FPTKey		low = minf;
	uint32_t	left = FPT_NOPAGE;
	uint32_t	no = arena_new(&t->pages);
	long		out = 0;
	int			take = PAGESIZE / 16;

	for (long i = 0; i < n || out == 0; i += take)
	{
		FPTPageSpec spec = {.level = level, .pageno = no, .low = &low};
		char	   *page = page_at(t, no);
		int			m = product_window(load, level, e, i, n);
		FPTKey		next = pinf;

		take = product_fill(t, page, &spec, entries, m, load->fill, take);
		if (i + take < n)
			next = entries[take].key;
		if (level == 0)
			next.tid = 0;
		fpt_header(page)->left = left;
		left = no;
		no = i + take < n ? arena_new(&t->pages) : FPT_NOPAGE;
		fpt_header(page)->right = no;
		if (level == 0 && out > load->n / MIN_ENTRIES)
			lab_fail("pages are too small");
		e[out].key = low;
		e[out++].down = left;
		low = next;
	}
	return out;
}

static void *
product_build(const Load *load)
{
	ProductTree *t = lab_alloc(sizeof(ProductTree));
	FPTEntry   *e = lab_alloc(sizeof(FPTEntry) *
							  (size_t) (load->n / MIN_ENTRIES + 2));
	long		n = load->n;

	product_begin();
	t->reach = fpt_tids_reach((uint32_t) (load->expect / ROWS_A_BLOCK));
	arena_init(&t->pages, PAGESIZE,
			   (uint64_t) (load->expect * 16 / PAGESIZE + 16));
	do
	{
		n = product_level(t, load, t->levels, e, n);
		if (t->levels++ == 0)
		{
			t->leaves = n;
			t->entries = load->n / n;
		}
	} while (n > 1);
	t->root = e[0].down;
	free(e);
	return t;
}

static void
product_destroy(void *tree)
{
	ProductTree *t = tree;

	arena_destroy(&t->pages);
	free(t);
}

/* --- search, scan ------------------------------------------------------- */

/* What a search touches before it knows the node. */
INLINE void
product_ahead(const char *page)
{
	for (int i = 0; i <= root_lines; i++)
		fpt_prefetch(page + i * FPT_LINE);
	fpt_prefetch(page + FPT_SPECIAL_OFFSET);
}

/*
 * The leaf page of a key, verified; steps and path, if not NULL, get the pages.
 * The guess at the node is the caller's to learn from.
 */
INLINE char *
product_descend(ProductTree *t, const FPTKey *key, uint32_t *steps, Path *path)
{
	uint32_t	no = t->root;

	for (int level = t->levels - 1;; level--)
	{
		char	   *page = page_at(t, no);
		FPTLoc		loc;

		path_add(path, page, PAGESIZE);
		if (steps != NULL)
			steps[level] = no;
		if (!fpt_page_sane(&layout, page, no) ||
			fpt_header(page)->level != level ||
			!fpt_page_above_low(&layout, page, key) ||
			!fpt_page_below_high(&layout, page, key))
			abort();
		if (level == 0)
			return page;
		if (fpt_page_find_child(&layout, page, key, &no, &loc) != FPT_OK)
			abort();
		product_ahead(page_at(t, no));
		if (level == 1 && fpt_guess_wanted(&t->guess))
			fpt_guess_prefetch(&t->guess, page_at(t, no),
							   fpt_page_fraction(&layout, page, loc, key));
	}
}

INLINE Tid
product_find(ProductTree *t, Key key, Path *path)
{
	FPTKey		from = product_key(key, 0);
	FPTKey		to = product_key(key, FPT_MAX_TID);
	char	   *page = product_descend(t, &from, NULL, path);
	uint64		rows[FPT_MAX_CAP];
	FPTRun		run = {.tids = rows};
	FPTLoc		first;
	FPTLoc		last;
	int			kid;
	int			n = fpt_page_copy_image(&layout, page, &from, true, &run, &kid);

	if (n >= 0)
		fpt_guess_learn(&t->guess, &layout, page, kid);
	else
	{
		if (fpt_page_range(&layout, page, &from, &to, &first, &last) != FPT_OK)
			abort();
		fpt_guess_learn(&t->guess, &layout, page, first.kid);
		n = fpt_page_copy(&layout, page, first, last, true, &run);
	}
	return n == 1 ? product_tid(rows[0]) : 0;
}

static Tid
product_search(const void *tree, Key key)
{
	return product_find((ProductTree *) tree, key, NULL);
}

static void
product_visit(const void *tree, Key key, Path *path)
{
	product_find((ProductTree *) tree, key, path);
}

static void
product_go_on(ProductTree *t, ProductCursor *c, uint32_t no)
{
	c->page = no != FPT_NOPAGE ? page_at(t, no) : NULL;
	memset(&c->at, 0, sizeof(c->at));
	if (c->page != NULL && fpt_header(c->page)->right != FPT_NOPAGE)
	{
		char	   *next = page_at(t, fpt_header(c->page)->right);

		for (int i = 0; i < AHEAD_LINES; i++)
			fpt_prefetch(next + i * FPT_LINE);
		fpt_prefetch(next + FPT_SPECIAL_OFFSET);
	}
}

static void
product_open(void *tree, Key from, Cursor *cursor)
{
	ProductTree *t = tree;
	ProductCursor *c = CURSOR(ProductCursor, cursor);
	FPTKey		key = product_key(from, 0);
	char	   *page = product_descend(t, &key, NULL, NULL);
	FPTLoc		at;

	if (fpt_page_lower_bound(&layout, page, &key, &at) != FPT_OK)
		abort();
	fpt_guess_learn(&t->guess, &layout, page, at.kid);
	product_go_on(t, c, fpt_special(page)->pageno);
	c->at = at;
}

/*
 * The rows of a page from the cursor on: of all of its nodes where that many
 * are wanted for sure, else of one.  Returns their number, "max" at most, and
 * moves the cursor behind them.
 */
static long
product_copy(ProductCursor *c, long max, Tid *out)
{
	uint64		rows[FPT_MAX_ENTRIES];
	FPTRun		run = {.tids = rows};
	int			kids = fpt_header(c->page)->nkids;
	FPTLoc		end = {.kid = c->at.kid + 1};
	int			n;

	if ((long) (kids - c->at.kid) * FPT_MAX_CAP <= max)
		end.kid = kids;
	n = fpt_page_copy(&layout, c->page, c->at, end, true, &run);
	if (n < 0)
		abort();
	if (n > max)
	{
		FPTLoc		at = {.kid = c->at.kid, .rank = c->at.rank + (int) max};

		end = at;
		n = (int) max;
	}
	for (int i = 0; i < n; i++)
		out[i] = product_tid(rows[i]);
	c->at = end;
	return n;
}

static long
product_next(void *tree, Cursor *cursor, long n, Tid *out)
{
	ProductTree *t = tree;
	ProductCursor *c = CURSOR(ProductCursor, cursor);
	long		got = 0;

	while (c->page != NULL && got < n)
	{
		if (c->at.kid >= fpt_header(c->page)->nkids)
			product_go_on(t, c, fpt_header(c->page)->right);
		else
			got += product_copy(c, n - got, out + got);
	}
	return got;
}

/* --- changes ------------------------------------------------------------ */

/* All entries of a page, and e among them; returns e's place. */
static int
product_collect(char *page, const FPTEntry *e, int *n)
{
	int			at = 0;

	*n = fpt_page_extract(&layout, page, entries, FPT_MAX_ENTRIES);
	if (*n < 0)
		abort();
	/* the first one of a level's first inner page is below all keys */
	if (fpt_header(page)->level > 0)
		at = 1;
	while (at < *n && fpt_key_cmp(&layout, &entries[at].key, &e->key) < 0)
		at++;
	memmove(entries + at + 1, entries + at,
			sizeof(FPTEntry) * (size_t) (*n - at));
	entries[at] = *e;
	(*n)++;
	return at;
}

/* Make two pages of the first "at" of n entries, and of the others. */
static bool
product_halve(ProductTree *t, char *left, char *right, uint32_t no, int at,
			  int n, FPTKey *separator)
{
	static char formed[2][PAGESIZE] __attribute__((aligned(LINE)));
	int			level = fpt_header(left)->level;
	FPTKey		low = fpt_page_low(&layout, left);
	FPTKey		high = fpt_page_high(&layout, left);
	FPTPageSpec a = {level, fpt_special(left)->pageno, &low, separator,
		t->reach, 0, 0, NULL, 0};
	FPTPageSpec b = {level, no, separator, &high, t->reach, 0, 0, NULL, 0};

	*separator = entries[at].key;
	if (level == 0)
		separator->tid = 0;
	if (fpt_page_form(&layout, formed[1], &b, entries + at, n - at,
					  SPLIT_FILL) != FPT_OK ||
		fpt_page_form(&layout, formed[0], &a, entries, at,
					  SPLIT_FILL) != FPT_OK)
		return false;
	fpt_header(formed[0])->left = fpt_header(left)->left;
	fpt_header(formed[0])->right = no;
	fpt_header(formed[1])->left = fpt_special(left)->pageno;
	fpt_header(formed[1])->right = fpt_header(left)->right;
	memcpy(left, formed[0], PAGESIZE);
	memcpy(right, formed[1], PAGESIZE);
	return true;
}

/*
 * A page that cannot have an entry: formed anew with it, if only the encoding
 * was in its way, else split.  Returns the new page's number, or 0.
 */
static uint32_t
product_split(ProductTree *t, char *page, const FPTEntry *e, bool unfit,
			  FPTKey *separator)
{
	static char formed[PAGESIZE] __attribute__((aligned(LINE)));
	int			level = fpt_header(page)->level;
	FPTKey		low = fpt_page_low(&layout, page);
	FPTKey		high = fpt_page_high(&layout, page);
	FPTPageSpec whole = {level, fpt_special(page)->pageno, &low, &high,
		t->reach, 0, 0, NULL, 0};
	int			n;
	int			pos = product_collect(page, e, &n);
	int			middle = n / 2;
	uint32_t	no;
	char	   *right;

	if (unfit && fpt_page_form(&layout, formed, &whole, entries, n,
							   SPLIT_FILL) == FPT_OK)
	{
		fpt_header(formed)->left = fpt_header(page)->left;
		fpt_header(formed)->right = fpt_header(page)->right;
		memcpy(page, formed, PAGESIZE);
		return 0;
	}
	if (fpt_header(page)->right == FPT_NOPAGE && pos == n - 1)
		middle = n * SPLIT_FILL / 100;
	no = arena_new(&t->pages);
	right = page_at(t, no);
	/* what is far from all others goes alone if need be */
	if (!product_halve(t, page, right, no, middle, n, separator) &&
		!product_halve(t, page, right, no, LAB_MAX(pos, 1), n, separator) &&
		!product_halve(t, page, right, no, LAB_MIN(pos + 1, n - 1), n,
					   separator))
		lab_fail("a page cannot be split");
	if (fpt_header(right)->right != FPT_NOPAGE)
		fpt_header(page_at(t, fpt_header(right)->right))->left = no;
	if (level == 0)
	{
		t->leaves++;
		t->splits++;
	}
	return no;
}

static void
product_new_root(ProductTree *t, const FPTKey *separator, uint32_t right)
{
	uint32_t	no = arena_new(&t->pages);
	FPTPageSpec spec = {t->levels, no, &minf, &pinf, 0, 0, 0, NULL, 0};
	FPTEntry	two[2] = {{minf, t->root}, {*separator, right}};

	if (fpt_page_form(&layout, page_at(t, no), &spec, two, 2, 100) != FPT_OK)
		lab_fail("a root cannot be made");
	fpt_header(page_at(t, no))->left = FPT_NOPAGE;
	fpt_header(page_at(t, no))->right = FPT_NOPAGE;
	t->root = no;
	t->levels++;
}

static bool
product_insert(void *tree, Key key, Tid tid)
{
	ProductTree *t = tree;
	FPTEntry	e = {product_key(key, product_row(tid)), 0};
	uint32_t	steps[MAX_LEVELS];

	product_descend(t, &e.key, steps, NULL);
	t->guess.pending = false;
	for (int level = 0; level < t->levels; level++)
	{
		char	   *page = page_at(t, steps[level]);
		FPTEdit		edit = {0};
		FPTKey		separator;
		FPTResult	res = fpt_page_insert(&layout, page, &e, &edit);

		if (res == FPT_FULL)
		{
			res = fpt_page_make_room(&layout, page, &e, &work);
			if (res == FPT_OK)
				res = fpt_page_insert(&layout, page, &e, &edit);
		}
		if (res == FPT_OK || res == FPT_DUPLICATE)
			return res == FPT_OK;
		if (res != FPT_FULL && res != FPT_UNFIT)
			abort();
		e.down = product_split(t, page, &e, res == FPT_UNFIT, &separator);
		if (e.down == 0)
			return true;
		e.key = separator;
	}
	product_new_root(t, &e.key, e.down);
	return true;
}

static bool
product_delete(void *tree, Key key)
{
	ProductTree *t = tree;
	FPTKey		from = product_key(key, 0);
	FPTKey		to = product_key(key, FPT_MAX_TID);
	char	   *page = product_descend(t, &from, NULL, NULL);
	FPTLoc		first;
	FPTLoc		last;

	t->guess.pending = false;
	if (fpt_page_range(&layout, page, &from, &to, &first, &last) != FPT_OK)
		abort();
	return fpt_loc_before(&first, &last) &&
		fpt_page_delete(&layout, page, first) == FPT_OK;
}

/* --- statistics, check -------------------------------------------------- */

static void
product_stats(const void *tree, Stats *s)
{
	const ProductTree *t = tree;

	memset(s, 0, sizeof(*s));
	s->levels = t->levels;
	s->nodes = t->pages.live;
	s->leaves = t->leaves;
	s->bytes = (size_t) t->pages.live * PAGESIZE;
	s->splits = t->splits;
	s->leaf_entries = (int) t->entries;
}

typedef struct ProductCheck
{
	const ProductTree *t;
	uint32_t	last[MAX_LEVELS];	/* page before the next one, by level */
	long		pages;
	const char *wrong;
} ProductCheck;

/* A page and all below it: sound, where its parent and neighbours say. */
static void
product_check_page(ProductCheck *c, uint32_t no, int level, const FPTKey *low,
				   const FPTKey *high)
{
	char	   *page = page_at(c->t, no);
	FPTKey		mine[2];
	int			n;
	FPTEntry   *e;

	c->pages++;
	c->wrong = fpt_page_check(&layout, page, no, NULL);
	if (c->wrong != NULL)
		return;
	mine[0] = fpt_page_low(&layout, page);
	mine[1] = fpt_page_high(&layout, page);
	if (fpt_header(page)->level != level ||
		fpt_key_cmp(&layout, &mine[0], low) != 0 ||
		fpt_key_cmp(&layout, &mine[1], high) != 0)
		c->wrong = "a page is not where its downlink is";
	if (fpt_header(page)->left != c->last[level] ||
		(c->last[level] != FPT_NOPAGE &&
		 fpt_header(page_at(c->t, c->last[level]))->right != no))
		c->wrong = "pages are linked in another order";
	c->last[level] = no;
	if (level == 0)
		return;
	e = lab_alloc(sizeof(FPTEntry) * FPT_MAX_ENTRIES);
	n = fpt_page_extract(&layout, page, e, FPT_MAX_ENTRIES);
	if (n < 1)
		c->wrong = "an inner page has no child";
	for (int i = 0; i < n && c->wrong == NULL; i++)
		product_check_page(c, e[i].down, level - 1,
						   i > 0 ? &e[i].key : &mine[0],
						   i + 1 < n ? &e[i + 1].key : &mine[1]);
	free(e);
}

static const char *
product_check(const void *tree)
{
	const ProductTree *t = tree;
	ProductCheck c = {.t = t};

	for (int i = 0; i < MAX_LEVELS; i++)
		c.last[i] = FPT_NOPAGE;
	product_check_page(&c, t->root, t->levels - 1, &minf, &pinf);
	for (int i = 0; i < t->levels && c.wrong == NULL; i++)
	{
		if (fpt_header(page_at(t, c.last[i]))->right != FPT_NOPAGE)
			c.wrong = "the last page has a next one";
	}
	if (c.wrong == NULL && c.pages != t->pages.live)
		c.wrong = "pages are lost";
	return c.wrong;
}

const TreeKind product = {
	.name = "product", .label = "the product's page", .shape = "product",
	.pages = true, .repeats = true,
	.build = product_build, .destroy = product_destroy,
	.search = product_search, .visit = product_visit, .open = product_open,
	.next = product_next, .insert = product_insert, .delete = product_delete,
	.stats = product_stats, .check = product_check
};
