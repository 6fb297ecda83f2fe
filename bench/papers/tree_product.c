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
#define SPLIT_FILL		90		/* percent of nodes that a split makes */
#define AHEAD_LINES		12		/* of a page that a scan comes to */

typedef struct PageHow
{
	int			unused;
} PageHow;

static void product_joined(Tree *t, uint32_t left, uint32_t right);

#define PAGE_JOINED(t, left, right) product_joined(t, left, right)
#define PAGE_OWN_LOAD
#define PAGE_OWN_DESCENT
#include "pagetree.h"

static FPTLayout layout;
static FPTGeoms geoms;
static int	root_lines;			/* widest in-page root */
static uint32_t reach;			/* blocks of the table, see fpt_tids_reach() */
static FPTGuess guess;			/* of the tree that was built last */
static int	last_take;			/* entries of the page that was loaded last */
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

/* About; nobody asks for more than memory for pages, and for a first guess. */
INLINE int
page_capacity(int level, const PageHow how)
{
	return PAGESIZE / 16;
}

INLINE FPTKey
product_key(Key key, uint64 tid)
{
	FPTKey		k = {.lo = key, .tid = tid, .cls = FPT_CLS_VALUE};

	return k;
}

/* A page's lower border: the laboratory has 0 for that of a level's first. */
INLINE FPTKey
product_low(Key key)
{
	return key == 0 ? minf : product_key(key, 0);
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

/* An entry of a leaf, or of a page above. */
INLINE FPTEntry
product_entry(int level, Key key, uint32_t value)
{
	if (level > 0)
		return (FPTEntry) {product_low(key), value};
	return (FPTEntry) {product_key(key, product_row(value)), 0};
}

INLINE uint32_t *
page_link(char *page, int level, const PageHow how)
{
	return &fpt_header(page)->right;
}

/* Links to the left, which no other page here has. */
static void
product_joined(Tree *t, uint32_t left, uint32_t right)
{
	FPTPageHeader *h = fpt_header(page_at(t, right, (PageHow) {0}));

	h->left = left;
	if (h->right != FPT_NOPAGE)
		fpt_header(page_at(t, h->right, (PageHow) {0}))->left = right;
}

/* --- bulk load ---------------------------------------------------------- */

/*
 * How many entries a page has depends on the encoding, which depends on them.
 * Try as many as the page before has, and then as many as such a page should
 * have, until they are the same.
 */
static int
page_load(Tree *t, uint32_t no, int level, Key low, Pairs all, long rest,
		  int fill, const PageHow how)
{
	char	   *page = page_at(t, no, how);
	int			n = (int) LAB_MIN(rest, FPT_MAX_ENTRIES + 1);
	FPTKey		low_key = product_low(low);
	FPTPageSpec spec = {.level = level, .pageno = no, .low = &low_key,
		.reach = reach};
	int			good = 0;
	int			take = LAB_MIN(low == 0 ? page_capacity(0, how) : last_take, n);

	for (int i = 0; i < n; i++)
		entries[i] = product_entry(level, all.keys[i], all.values[i]);
	for (int tries = 0; tries < 12; tries++)
	{
		FPTKey		high = take < n ? product_low(all.keys[take]) : pinf;
		int			want;

		spec.high = &high;
		/* the first entry may stand for minus infinity */
		if (n > 0)
			entries[0] = product_entry(level, all.keys[0], all.values[0]);
		if (fpt_page_form(&layout, page, &spec, entries, take, fill) != FPT_OK)
		{
			take = LAB_MAX(take * 3 / 4, 1);
			continue;
		}
		if (take == good)
			return last_take = take;
		good = take;
		want = (int) fpt_page_geom(&layout, page)->capacity * fill / 100;
		if (tries < 6 || want < take)
			take = LAB_MIN(LAB_MAX(want, 1), n);
		if (take == good)
			return last_take = take;
	}
	lab_fail("a page cannot be filled");
}

static void *
kernel_build(const Load *load, const PageHow how)
{
	Tree	   *t;

	product_begin();
	reach = fpt_tids_reach((uint32_t) (load->expect / ROWS_A_BLOCK));
	memset(&guess, 0, sizeof(guess));
	t = tree_build(load, how);
	t->leaf_entries = (int) (load->n / t->leaves);
	return t;
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
tree_descend(Tree *t, Key key, PageStep *steps, const PageHow how, Path *path)
{
	FPTKey		from = product_key(key, 0);
	uint32_t	no = t->root;

	guess.pending = false;
	for (int level = t->levels - 1;; level--)
	{
		char	   *page = page_at(t, no, how);
		FPTLoc		loc;

		path_add(path, page, PAGESIZE);
		if (steps != NULL)
			steps[level].no = no;
		if (!fpt_page_sane(&layout, page, no) ||
			fpt_header(page)->level != level ||
			!fpt_page_above_low(&layout, page, &from) ||
			!fpt_page_below_high(&layout, page, &from))
			abort();
		if (level == 0)
			return page;
		if (fpt_page_find_child(&layout, page, &from, &no, &loc) != FPT_OK)
			abort();
		product_ahead(page_at(t, no, how));
		if (level == 1 && fpt_guess_wanted(&guess))
			fpt_guess_prefetch(&guess, page_at(t, no, how),
							   fpt_page_fraction(&layout, page, loc, &from));
	}
}

INLINE Tid
page_lookup(Tree *t, char *page, Key key, const PageHow how, Path *path)
{
	FPTKey		from = product_key(key, 0);
	FPTKey		to = product_key(key, FPT_MAX_TID);
	uint64		rows[FPT_MAX_CAP];
	FPTRun		run = {.tids = rows};
	FPTLoc		first;
	FPTLoc		last;
	int			kid;
	int			n = fpt_page_copy_image(&layout, page, &from, true, &run, &kid);

	if (n >= 0)
		fpt_guess_learn(&guess, &layout, page, kid);
	else
	{
		if (fpt_page_range(&layout, page, &from, &to, &first, &last) != FPT_OK)
			abort();
		fpt_guess_learn(&guess, &layout, page, first.kid);
		n = fpt_page_copy(&layout, page, first, last, true, &run);
	}
	return n == 1 ? product_tid(rows[0]) : 0;
}

/* A position: the node in order, and the entry in it. */
static void
product_set(PageCursor *c, FPTLoc at)
{
	c->position = (uint64_t) at.kid << 32 | (uint64_t) at.rank;
	c->below = at.below;
}

static void
page_open(Tree *t, PageCursor *c, Key key, const PageHow how)
{
	FPTKey		from = product_key(key, 0);
	FPTLoc		at;

	if (fpt_page_lower_bound(&layout, c->page, &from, &at) != FPT_OK)
		abort();
	fpt_guess_learn(&guess, &layout, c->page, at.kid);
	product_set(c, at);
}

static void
page_ahead(Tree *t, PageCursor *c, const PageStep *steps, const PageHow how)
{
	char	   *next = page_at(t, fpt_header(c->page)->right, how);

	if (steps == NULL)
		c->below = 0;
	if (fpt_header(c->page)->right == FPT_NOPAGE)
		return;
	for (int i = 0; i < AHEAD_LINES; i++)
		fpt_prefetch(next + i * FPT_LINE);
	fpt_prefetch(next + FPT_SPECIAL_OFFSET);
}

/*
 * The rows of a page from a place on: of all of its nodes where that many are
 * wanted for sure, else of one.  Returns their number, "max" at most, and moves
 * the place behind them.
 */
static long
product_copy(char *page, FPTLoc *at, long max, Tid *out)
{
	uint64		rows[FPT_MAX_ENTRIES];
	FPTRun		run = {.tids = rows};
	int			kids = fpt_header(page)->nkids;
	FPTLoc		end = {.kid = at->kid + 1};
	int			n;

	if ((long) (kids - at->kid) * FPT_MAX_CAP <= max)
		end.kid = kids;
	n = fpt_page_copy(&layout, page, *at, end, true, &run);
	if (n < 0)
		abort();
	if (n > max)
	{
		end = (FPTLoc) {.kid = at->kid, .rank = at->rank + (int) max};
		n = (int) max;
	}
	for (int i = 0; i < n; i++)
		out[i] = product_tid(rows[i]);
	*at = end;
	return n;
}

static long
page_copy(PageCursor *c, long n, Tid *out, const PageHow how)
{
	FPTLoc		at = {(int) (c->position >> 32), (int) c->position, c->below};
	long		got = 0;

	while (got < n && at.kid < fpt_header(c->page)->nkids)
		got += product_copy(c->page, &at, n - got, out + got);
	product_set(c, at);
	return got;
}

/* --- changes ------------------------------------------------------------ */

/* *at: the page cannot have the entry as it is, whatever room it has. */
static PageResult
page_insert(char *page, int level, Key key, uint32_t value, int *at,
			const PageHow how)
{
	FPTEntry	e = product_entry(level, key, value);
	FPTEdit		edit = {0};
	FPTResult	res = fpt_page_insert(&layout, page, &e, &edit);

	if (res == FPT_FULL)
	{
		res = fpt_page_make_room(&layout, page, &e, &work);
		if (res == FPT_OK)
			res = fpt_page_insert(&layout, page, &e, &edit);
	}
	*at = res == FPT_UNFIT;
	if (res == FPT_OK || res == FPT_DUPLICATE)
		return res == FPT_OK ? PAGE_DONE : PAGE_THERE;
	if (res != FPT_FULL && res != FPT_UNFIT)
		abort();
	return PAGE_FULL;
}

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

/* Make a page anew, of n entries, with its links; "no" can be another one. */
static bool
product_form(char *formed, char *page, uint32_t no, const FPTKey *low,
			 const FPTKey *high, FPTEntry *e, int n)
{
	FPTPageSpec spec = {.level = fpt_header(page)->level, .pageno = no,
		.low = low, .high = high, .reach = reach};

	if (fpt_page_form(&layout, formed, &spec, e, n, SPLIT_FILL) != FPT_OK)
		return false;
	fpt_header(formed)->left = fpt_header(page)->left;
	fpt_header(formed)->right = fpt_header(page)->right;
	return true;
}

/* Make two pages of the first "at" of n entries, and of the others. */
static bool
product_halve(Tree *t, char *left, uint32_t no, int at, int n, Key *key)
{
	static char formed[2][PAGESIZE] __attribute__((aligned(LINE)));
	FPTKey		low = fpt_page_low(&layout, left);
	FPTKey		high = fpt_page_high(&layout, left);
	FPTKey		separator = product_key((Key) entries[at].key.lo, 0);

	if (!product_form(formed[1], left, no, &separator, &high, entries + at,
					  n - at) ||
		!product_form(formed[0], left, fpt_special(left)->pageno, &low,
					  &separator, entries, at))
		return false;
	memcpy(left, formed[0], PAGESIZE);
	memcpy(page_at(t, no, (PageHow) {0}), formed[1], PAGESIZE);
	*key = (Key) separator.lo;
	return true;
}

/* A page is formed anew, if only the encoding was in the entry's way. */
static uint32_t
page_split(Tree *t, PageStep *step, int level, Key *key, uint32_t value,
		   const PageHow how)
{
	static char formed[PAGESIZE] __attribute__((aligned(LINE)));
	char	   *page = page_at(t, step->no, how);
	FPTKey		low = fpt_page_low(&layout, page);
	FPTKey		high = fpt_page_high(&layout, page);
	FPTEntry	e = product_entry(level, *key, value);
	int			n;
	int			at = product_collect(page, &e, &n);
	int			middle = n / 2;
	uint32_t	no;

	if (step->at && product_form(formed, page, step->no, &low, &high,
								 entries, n))
	{
		memcpy(page, formed, PAGESIZE);
		return 0;
	}
	if (fpt_header(page)->right == FPT_NOPAGE && at == n - 1)
		middle = n * SPLIT_FILL / 100;
	no = arena_new(&t->nodes);
	/* what is far from all others goes alone if need be */
	if (!product_halve(t, page, no, middle, n, key) &&
		!product_halve(t, page, no, LAB_MAX(at, 1), n, key) &&
		!product_halve(t, page, no, LAB_MIN(at + 1, n - 1), n, key))
		lab_fail("a page cannot be split");
	return no;
}

static bool
page_delete(Tree *t, char *page, PageStep *steps, Key key, const PageHow how)
{
	FPTKey		from = product_key(key, 0);
	FPTKey		to = product_key(key, FPT_MAX_TID);
	FPTLoc		first;
	FPTLoc		last;

	if (fpt_page_range(&layout, page, &from, &to, &first, &last) != FPT_OK)
		abort();
	return fpt_loc_before(&first, &last) &&
		fpt_page_delete(&layout, page, first) == FPT_OK;
}

/* --- check -------------------------------------------------------------- */

static void
page_view(Walk *w, char *page, uint32_t no, int level, View *v,
		  const PageHow how)
{
	const char *problem = fpt_page_check(&layout, page, no, NULL);
	FPTKey		low = product_low(v->low);
	FPTKey		high = v->last ? pinf : product_key(v->high, 0);
	FPTKey		mine[2] = {fpt_page_low(&layout, page),
	fpt_page_high(&layout, page)};
	int			n = fpt_page_extract(&layout, page, entries, FPT_MAX_ENTRIES);

	for (int i = 0; i < n; i++)
	{
		v->buffer[i] = (Key) entries[i].key.lo;
		v->values[i] = entries[i].down;
	}
	if (level > 0)
		v->buffer[0] = v->low;	/* or minus infinity */
	page_show(w, level, v, (Pairs) {v->buffer, v->values}, LAB_MAX(n, 0));
	if (fpt_header(page)->level != level || fpt_header(page)->left !=
		(uint32_t) w->before[level] ||
		fpt_key_cmp(&layout, &mine[0], &low) != 0 ||
		fpt_key_cmp(&layout, &mine[1], &high) != 0)
		w->wrong = "a page is not where its downlink or its neighbour is";
	if (problem != NULL)
		w->wrong = problem;
}

#define PRODUCT_OWN	.pages = true, .repeats = true
#define kernel_destroy tree_destroy
#define kernel_stats tree_stats
#define kernel_check tree_check

TREE_KIND(product, "the product's page", "product", kernel, PRODUCT_OWN,
		  {0})
