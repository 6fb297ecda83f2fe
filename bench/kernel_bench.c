/*-------------------------------------------------------------------------
 *
 * kernel_bench.c
 *	  Micro-benchmark of the page kernel: trees of fptree pages against trees
 *	  of pages laid out as nbtree's, outside the server.
 *
 * Both trees hold the same 8-byte integer keys (-k 16: fptree's are 16 bytes,
 * of which these are the upper half), in pages scattered over an
 * arena, without buffer manager, locks and WAL.  The nbtree-like page has line
 * pointers, 16-byte tuples and a high key as its first item, and is searched by
 * binary search with a comparison through a function pointer, called as the
 * server calls it (-b: a bare call).  What a descent verifies of a page (fences
 * here, high key there) is part of both.
 *
 * The two are measured in turns; times are medians with quartiles, in ns per
 * operation.
 *
 * Build and run: make -C test/kernel bench
 *
 *-------------------------------------------------------------------------
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "page/check.h"
#include "page/copy.h"
#include "page/form.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/room.h"
#include "page/rows.h"
#include "page/simd.h"
#include "page/widths.h"

#define MAX_ROUNDS		101
#define INSERT_FILL		70
#define ROWS_A_BLOCK	100

static FPTWork work;

/* --- keys --------------------------------------------------------------- */

static long nkeys = 10000000;
static bool uniform;			/* spread over 64 bits, else dense */
static long scan_len = 1000;	/* entries */
static long expect_lines = 12;	/* of the next page, prefetched in a scan */

static uint64
hash64(uint64 z)
{
	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* The i'th key in order, as an unsigned image; odd numbers are never keys. */
static uint64
nth_key(long i)
{
	uint64		gap = uniform ? ~UINT64CONST(0) / (uint64) (nkeys + 1) : 16;

	return ((uint64) i * gap + hash64((uint64) i) % gap) & ~UINT64CONST(1);
}

/*
 * Where the i'th key points to: 100 rows to a heap page, in the keys' order if
 * these are dense, else in no order.
 */
static uint64
nth_tid(long i)
{
	if (uniform)
		i = (long) (hash64((uint64) i + 0x5DEECE66D) % (uint64) nkeys);
	return ((uint64) (i / ROWS_A_BLOCK) << 16) |
		(uint64) (1 + i % ROWS_A_BLOCK);
}

static uint64 rnd_state = 1;

static uint64
rnd(void)
{
	return hash64(rnd_state += UINT64CONST(0x9E3779B97F4A7C15));
}

/* CPU time: what else runs on the machine counts as little as possible. */
static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* --- arena: pages by number, scattered ---------------------------------- */

typedef struct Tree
{
	char	   *arena;
	size_t		size;
	uint32		npages;
	uint32		maxpages;
	uint32		root;
	int			rootlevel;
} Tree;

/* -H: memory in pages of 4 kB, else in huge ones as far as there are any */
static bool small_memory;

static void
tree_create(Tree *t, int perpage)
{
	memset(t, 0, sizeof(*t));
	t->maxpages = 64;
	while (t->maxpages < 1.3 * nkeys / perpage)
		t->maxpages *= 2;
	t->size = (size_t) t->maxpages * BLCKSZ;
	t->arena = mmap(NULL, t->size, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t->arena == MAP_FAILED)
	{
		perror("mmap");
		exit(1);
	}
#ifdef MADV_HUGEPAGE
	madvise(t->arena, t->size, small_memory ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
#endif
}

/* Megabytes that the process has got in huge pages; -1: unknown */
static long
huge_memory(void)
{
	FILE	   *f = fopen("/proc/self/smaps_rollup", "r");
	char		line[200];
	long		kb = -1024;

	if (f == NULL)
		return -1;
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "AnonHugePages: %ld kB", &kb) == 1)
			break;
	fclose(f);
	return kb / 1024;
}

static void
tree_destroy(Tree *t)
{
	munmap(t->arena, t->size);
}

static inline char *
tree_page(Tree *t, uint32 no)
{
	return t->arena + (size_t) no * BLCKSZ;
}

/* A new page: an odd multiplier permutes the numbers; 0 and 1 are not used. */
static uint32
tree_alloc(Tree *t)
{
	uint32		no;

	do
	{
		if (t->npages >= t->maxpages)
		{
			fprintf(stderr, "arena too small\n");
			exit(1);
		}
		no = (t->npages++ * 2654435761u) & (t->maxpages - 1);
	} while (no < 2);
	return no;
}

/* --- tree of fptree pages ----------------------------------------------- */

static FPTLayout layout;
static const FPTKey minf = {.cls = FPT_CLS_MINF};
static const FPTKey pinf = {.cls = FPT_CLS_PINF};

static inline FPTKey
value_key(uint64 v, uint64 tid)
{
	FPTKey		k = {0, v, tid, FPT_CLS_VALUE};

	if (layout.keysize > 8)
	{
		k.hi = v;
		k.lo = hash64(v);
	}
	return k;
}

/* TIDs reach as far as a build's, which knows the whole table. */
static uint32
reach(void)
{
	return fpt_tids_reach((uint32) (nkeys / ROWS_A_BLOCK));
}

/*
 * Entries for the next leaf page, if their rows follow each other so that its
 * TIDs can be relative to nodes; 0: they do not.
 */
static int
fpt_page_take_rows(const FPTEntry *e, long n, int fill)
{
	int			best = 0;

	for (int kw = 1; kw <= layout.keysize; kw++)
	{
		const FPTGeom *g = &layout.geoms->geom[kw - 1][FPT_KIND_LEAF1];
		long		take = Min((long) g->capacity * fill / 100, n);
		FPTRows		rows;

		if (take <= best)
			break;
		if (fpt_choose_kw(&layout, &e[0].key, &e[take - 1].key) > kw)
			continue;
		fpt_rows_begin(&rows, fpt_row_bits(ROWS_A_BLOCK));
		for (long i = 0; i < take; i++)
			fpt_rows_add(&rows, e[i].key.tid);
		if (fpt_rows_enough(&rows, g))
			best = (int) take;
	}
	return best;
}

/* Entries for the next page of a level: the tightest encoding's fill. */
static int
fpt_page_take(const FPTEntry *e, long n, int level, int fill)
{
	int			best = level > 0 ? 1 : Max(1, fpt_page_take_rows(e, n, fill));

	for (int kind = FPT_KIND_LEAF3; kind <= FPT_KIND_INNER; kind++)
	{
		if ((kind == FPT_KIND_INNER) != (level > 0))
			continue;
		for (int kw = 1; kw <= layout.keysize; kw++)
		{
			long		take = layout.geoms->geom[kw - 1][kind].capacity * fill / 100;
			FPTTidRange tids;
			uint32		base;
			int			rowbits;

			take = Min(take, n);
			if (take <= best)
				break;
			if (fpt_choose_kw(&layout, &e[0].key, &e[take - 1].key) > kw)
				continue;
			fpt_tids_none(&tids);
			for (long i = 0; i < take; i++)
				fpt_tids_add(&tids, e[i].key.tid);
			if (level == 0 &&
				fpt_choose_tids(&tids, reach(), &base, &rowbits) > kind)
				break;
			best = (int) take;
		}
	}
	return best;
}

static double form_time;		/* of forming the pages of a tree, ns */

/* Build one level; returns its pages' separators and numbers in e. */
static long
fpt_build_level(Tree *t, int level, FPTEntry *e, long n, int fill)
{
	FPTKey		low = minf;
	uint32		left = FPT_NOPAGE;
	uint32		no = tree_alloc(t);
	long		out = 0;

	for (long i = 0; i < n;)
	{
		int			take = fpt_page_take(e + i, n - i, level, fill);
		FPTKey		high = i + take < n ? e[i + take].key : pinf;
		char	   *page = tree_page(t, no);
		uint32		right = i + take < n ? tree_alloc(t) : FPT_NOPAGE;

		double		start = now();

		/* keys are unique: a search for one alone must go to its page */
		if (level == 0)
			high.tid = 0;
		if (fpt_page_form(&layout, page,
						  &(FPTPageSpec) {level, no, &low, &high, reach()}, e + i,
						  take, fill) != FPT_OK)
		{
			fprintf(stderr, "page does not hold %d entries\n", take);
			exit(1);
		}
		form_time += now() - start;
		fpt_header(page)->left = left;
		fpt_header(page)->right = right;
		e[out].key = low;
		e[out++].down = no;
		low = high;
		left = no;
		no = right;
		i += take;
	}
	return out;
}

static void
fpt_build(Tree *t, int fill)
{
	FPTEntry   *e = malloc(sizeof(FPTEntry) * (size_t) nkeys);
	long		n = nkeys;
	int			level = 0;

	tree_create(t, 200);
	form_time = 0;
	for (long i = 0; i < n; i++)
	{
		e[i].key = value_key(nth_key(i), nth_tid(i));
		e[i].down = 0;
	}
	while ((n = fpt_build_level(t, level, e, n, fill)) > 1)
	{
		level++;
		fill = 90;
	}
	t->root = e[0].down;
	t->rootlevel = level;
	free(e);
}

/* What value_key() was given. */
static inline uint64
key_value(const FPTKey *k)
{
	return layout.keysize > 8 ? k->hi : k->lo;
}

static int	root_lines;			/* widest in-page root */

/* What the next page's search touches before it knows the node. */
static inline void
fpt_prefetch_root(char *page)
{
	for (int i = 0; i <= root_lines; i++)
		fpt_prefetch(page + i * FPT_LINE);
	fpt_prefetch(page + FPT_SPECIAL_OFFSET);
}

static bool prefetch_page = true;
static FPTGuess guess;

/* The leaf page of a key, verified as in the server. */
static char *
fpt_find_leaf(Tree *t, const FPTKey *key)
{
	uint32		no = t->root;
	int			level = t->rootlevel;

	for (;;)
	{
		char	   *page = tree_page(t, no);
		FPTLoc		loc;

		if (!fpt_page_sane(&layout, page, no) ||
			fpt_header(page)->level != level ||
			!fpt_page_above_low(&layout, page, key) || !fpt_page_below_high(&layout, page, key))
			abort();
		if (level == 0)
			return page;
		if (fpt_page_find_child(&layout, page, key, &no, &loc) != FPT_OK)
			abort();
		if (prefetch_page)
		{
			fpt_prefetch_root(tree_page(t, no));
			if (level == 1 && fpt_guess_wanted(&guess))
				fpt_guess_prefetch(&guess, tree_page(t, no),
								   fpt_page_fraction(&layout, page, loc, key));
		}
		level--;
	}
}

static uint64
fpt_search(Tree *t, uint64 v)
{
	FPTKey		lo = value_key(v, 0);
	FPTKey		hi = value_key(v, FPT_MAX_TID);
	char	   *page = fpt_find_leaf(t, &lo);
	FPTLoc		first,
				last;
	uint64		tid;
	FPTRun		run = {&tid, NULL, NULL, NULL};
	int			kid;

	if (fpt_page_copy_image(&layout, page, &lo, true, &run, &kid) == 1)
	{
		fpt_guess_learn(&guess, &layout, page, kid);
		return tid;
	}
	if (fpt_page_range(&layout, page, &lo, &hi, &first, &last) != FPT_OK)
		abort();
	fpt_guess_learn(&guess, &layout, page, first.kid);
	if (fpt_page_copy(&layout, page, first, last, true, &run) != 1)
		abort();
	return tid;
}

static uint64
fpt_scan(Tree *t, uint64 from, uint64 to)
{
	static uint64 tids[FPT_MAX_ENTRIES];
	FPTKey		lo = value_key(from, 0);
	FPTKey		hi = value_key(to, FPT_MAX_TID);
	char	   *page = fpt_find_leaf(t, &lo);
	FPTRun		run = {tids, NULL, NULL, NULL};
	uint64		sum = 0;

	for (;;)
	{
		FPTLoc		first = {0, 0};
		FPTLoc		last = {0, 0};
		bool		ends = fpt_page_below_high(&layout, page, &hi);
		int			n;

		last.kid = fpt_header(page)->nkids;
		if (fpt_page_above_low(&layout, page, &lo) &&
			fpt_page_lower_bound(&layout, page, &lo, &first) != FPT_OK)
			abort();
		if (ends && fpt_page_lower_bound(&layout, page, &hi, &last) != FPT_OK)
			abort();
		if (!ends && fpt_header(page)->right != FPT_NOPAGE && expect_lines > 0)
		{
			char	   *next = tree_page(t, fpt_header(page)->right);

			for (int i = 0; i < expect_lines; i++)
				fpt_prefetch(next + i * FPT_LINE);
			fpt_prefetch(next + FPT_SPECIAL_OFFSET);
		}
		n = fpt_page_copy(&layout, page, first, last, true, &run);
		for (int i = 0; i < n; i++)
			sum += tids[i];
		if (ends || fpt_header(page)->right == FPT_NOPAGE)
			return sum;
		page = tree_page(t, fpt_header(page)->right);
	}
}

/* False if the page would have to be split. */
static bool
fpt_insert(Tree *t, uint64 v, uint64 tid)
{
	FPTEntry	e;
	FPTEdit		edit = {0};
	FPTResult	res;
	char	   *page;

	e.key = value_key(v, tid);
	e.down = 0;
	page = fpt_find_leaf(t, &e.key);
	res = fpt_page_insert(&layout, page, &e, &edit);
	if (res == FPT_FULL &&
		fpt_page_make_room(&layout, page, &e, &work) == FPT_OK)
		res = fpt_page_insert(&layout, page, &e, &edit);
	return res == FPT_OK;
}

/* --- tree of pages like nbtree's ---------------------------------------- */

typedef struct NbTuple
{
	uint16		blkhi;			/* TID, or the downlink in blkhi, blklo */
	uint16		blklo;
	uint16		off;
	uint16		info;			/* size and flags */
	uint64		key;
} NbTuple;

typedef struct NbSpecial
{
	uint32		left;
	uint32		right;
	uint32		level;
	uint32		flags;
} NbSpecial;

#define NB_LINP(page)	((uint32 *) ((char *) (page) + sizeof(FPTPageStd)))
#define NB_SPECIAL(page) \
	((NbSpecial *) ((char *) (page) + BLCKSZ - sizeof(NbSpecial)))

/*
 * A comparison costs nbtree a look for NULLs, a function call record and a call
 * through a pointer.  The record here has the members of the server's.
 */
typedef struct NbCall
{
	void	   *flinfo;
	void	   *context;
	void	   *resultinfo;
	uint32		collation;
	bool		isnull;
	short		nargs;
	struct
	{
		uint64		value;
		bool		isnull;
	}			args[2];
} NbCall;

static uint64
nb_key_cmp(NbCall *call)
{
	uint64		a = call->args[0].value;
	uint64		b = call->args[1].value;

	return a < b ? (uint64) -1 : a > b;
}

static int
nb_bare_cmp(uint64 a, uint64 b)
{
	return a < b ? -1 : a > b;
}

/* volatile: the compiler must not know what is called */
static uint64 (*volatile nb_cmp_call) (NbCall *) = nb_key_cmp;
static int	(*volatile nb_cmp_bare) (uint64, uint64) = nb_bare_cmp;
static bool bare;

static inline int
nb_cmp(uint64 key, const NbTuple *tup)
{
	NbCall		call;

	if (bare)
		return nb_cmp_bare(key, tup->key);
	if (tup->info & 0x8000)		/* has NULLs */
		return -1;
	call.flinfo = (void *) &nb_cmp_call;
	call.context = NULL;
	call.resultinfo = NULL;
	call.collation = 0;
	call.isnull = false;
	call.nargs = 2;
	call.args[0].value = key;
	call.args[0].isnull = false;
	call.args[1].value = tup->key;
	call.args[1].isnull = false;
	return (int) nb_cmp_call(&call);
}

static inline FPTPageStd *
nb_header(char *page)
{
	return (FPTPageStd *) page;
}

static inline int
nb_nitems(char *page)
{
	return (nb_header(page)->pd_lower - (int) sizeof(FPTPageStd)) / 4;
}

static inline NbTuple *
nb_tuple(char *page, int i)
{
	return (NbTuple *) (page + (NB_LINP(page)[i] & 0x7FFF));
}

static inline uint64
nb_tid(const NbTuple *tup)
{
	return ((uint64) tup->blkhi << 32) | ((uint64) tup->blklo << 16) | tup->off;
}

/* First item that is not the high key. */
static inline int
nb_first(char *page)
{
	return NB_SPECIAL(page)->right == FPT_NOPAGE ? 0 : 1;
}

static void
nb_init(char *page, int level, uint32 left, uint32 right)
{
	memset(page, 0, BLCKSZ);
	nb_header(page)->pd_lower = sizeof(FPTPageStd);
	nb_header(page)->pd_upper = BLCKSZ - sizeof(NbSpecial);
	NB_SPECIAL(page)->left = left;
	NB_SPECIAL(page)->right = right;
	NB_SPECIAL(page)->level = (uint32) level;
}

/* Put a tuple in front of item "at"; false if there is no room. */
static bool
nb_add(char *page, int at, uint64 key, uint64 tid)
{
	FPTPageStd *h = nb_header(page);
	int			n = nb_nitems(page);
	NbTuple    *tup;

	if (h->pd_lower + 4 + sizeof(NbTuple) > h->pd_upper)
		return false;
	h->pd_lower += 4;
	h->pd_upper -= sizeof(NbTuple);
	tup = (NbTuple *) (page + h->pd_upper);
	tup->blkhi = (uint16) (tid >> 32);
	tup->blklo = (uint16) (tid >> 16);
	tup->off = (uint16) tid;
	tup->info = sizeof(NbTuple);
	tup->key = key;
	memmove(NB_LINP(page) + at + 1, NB_LINP(page) + at, (n - at) * 4);
	NB_LINP(page)[at] = h->pd_upper | 1 << 15 | (uint32) sizeof(NbTuple) << 17;
	return true;
}

static long
nb_build_level(Tree *t, int level, FPTEntry *e, long n, int fill)
{
	int			per = (BLCKSZ - 40) / 20 * fill / 100;
	uint32		left = FPT_NOPAGE;
	uint32		no = tree_alloc(t);
	long		out = 0;

	for (long i = 0; i < n;)
	{
		long		end = i + per < n ? i + per : n;
		char	   *page = tree_page(t, no);
		uint32		right = end < n ? tree_alloc(t) : FPT_NOPAGE;
		FPTEntry	self = e[i];
		int			at = 0;

		nb_init(page, level, left, right);
		if (end < n)
			nb_add(page, at++, key_value(&e[end].key), 0);
		for (; i < end; i++)
		{
			if (!nb_add(page, at++, key_value(&e[i].key),
						level > 0 ? (uint64) e[i].down << 16 : e[i].key.tid))
				abort();
		}
		e[out] = self;
		e[out++].down = no;
		left = no;
		no = right;
	}
	return out;
}

static void
nb_build(Tree *t, int fill)
{
	FPTEntry   *e = malloc(sizeof(FPTEntry) * (size_t) nkeys);
	long		n = nkeys;
	int			level = 0;

	tree_create(t, 200);
	for (long i = 0; i < n; i++)
	{
		e[i].key = value_key(nth_key(i), nth_tid(i));
		e[i].down = 0;
	}
	while ((n = nb_build_level(t, level, e, n, fill)) > 1)
	{
		level++;
		fill = 70;				/* nbtree's for inner pages */
	}
	t->root = e[0].down;
	t->rootlevel = level;
	free(e);
}

/* First item >= key (leaf), or > key (inner page). */
static int
nb_binsrch(char *page, uint64 key, bool leaf)
{
	int			low = nb_first(page);
	int			high = nb_nitems(page);
	int			cmpval = leaf ? 1 : 0;

	/* the first item of an inner page is minus infinity */
	if (!leaf)
		low++;
	while (high > low)
	{
		int			mid = low + (high - low) / 2;

		if (nb_cmp(key, nb_tuple(page, mid)) >= cmpval)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static char *
nb_find_leaf(Tree *t, uint64 key)
{
	uint32		no = t->root;

	for (;;)
	{
		char	   *page = tree_page(t, no);
		NbTuple    *down;

		if (nb_first(page) && nb_cmp(key, nb_tuple(page, 0)) >= 0)
			abort();
		if (NB_SPECIAL(page)->level == 0)
			return page;
		down = nb_tuple(page, nb_binsrch(page, key, false) - 1);
		no = ((uint32) down->blkhi << 16) | down->blklo;
	}
}

static uint64
nb_search(Tree *t, uint64 key)
{
	char	   *page = nb_find_leaf(t, key);
	NbTuple    *tup = nb_tuple(page, nb_binsrch(page, key, true));

	if (nb_cmp(key, tup) != 0)
		abort();
	return nb_tid(tup);
}

/* Every tuple is compared with the end of the range, as up to version 16. */
static uint64
nb_scan(Tree *t, uint64 from, uint64 to)
{
	char	   *page = nb_find_leaf(t, from);
	int			i = nb_binsrch(page, from, true);
	uint64		sum = 0;

	for (;;)
	{
		int			n = nb_nitems(page);

		for (; i < n; i++)
		{
			NbTuple    *tup = nb_tuple(page, i);

			if (nb_cmp(to, tup) < 0)
				return sum;
			sum += nb_tid(tup);
		}
		if (NB_SPECIAL(page)->right == FPT_NOPAGE)
			return sum;
		page = tree_page(t, NB_SPECIAL(page)->right);
		i = nb_first(page);
	}
}

static bool
nb_insert(Tree *t, uint64 key, uint64 tid)
{
	char	   *page = nb_find_leaf(t, key);

	return nb_add(page, nb_binsrch(page, key, true), key, tid);
}

/* --- measuring ---------------------------------------------------------- */

typedef struct Series
{
	const char *name;
	double		nb[MAX_ROUNDS]; /* ns per operation */
	double		fpt[MAX_ROUNDS];
	double		ratio[MAX_ROUNDS];
} Series;

static int	rounds = 7;
static long nops = 500000;
static uint64 sink;				/* keeps results alive */
static long refused;			/* insertions that would split a page */

static double
time_search(Tree *t, uint64 (*search) (Tree *, uint64), uint64 seed)
{
	double		start;

	rnd_state = seed;
	start = now();
	for (long i = 0; i < nops; i++)
		sink += search(t, nth_key((long) (rnd() % (uint64) nkeys)));
	return (now() - start) / nops;
}

/* The cost of making up the random keys, to be taken off. */
static double
time_nothing(uint64 seed)
{
	double		start;

	rnd_state = seed;
	start = now();
	for (long i = 0; i < nops; i++)
		sink += nth_key((long) (rnd() % (uint64) nkeys));
	return (now() - start) / nops;
}

static double
time_scan(Tree *t, uint64 (*scan) (Tree *, uint64, uint64), uint64 seed)
{
	long		n = Max(nops * 10 / scan_len, 1);
	uint64		before = sink;
	double		start;

	rnd_state = seed;
	start = now();
	for (long i = 0; i < n; i++)
	{
		long		from = (long) (rnd() % (uint64) (nkeys - scan_len));

		sink += scan(t, nth_key(from), nth_key(from + scan_len - 1));
	}
	start = (now() - start) / (double) n / (double) scan_len;
	return sink == before ? 0 : start;
}

/* No more than 5% of the keys in all rounds, so that no page gets full. */
static double
time_insert(Tree *t, bool (*insert) (Tree *, uint64, uint64), uint64 seed)
{
	long		n = Min(nops / 5, nkeys / (20 * rounds));
	double		start;

	rnd_state = seed;
	start = now();
	for (long i = 0; i < n; i++)
	{
		long		k = (long) (rnd() % (uint64) nkeys);

		/* another row of the same heap page, which the leaf can point to */
		if (!insert(t, nth_key(k) | 1, nth_tid(k) + 100))
			refused++;
	}
	return (now() - start) / n;
}

static int
double_cmp(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static void
quartiles(double *v, int n, double q[3])
{
	qsort(v, n, sizeof(double), double_cmp);
	for (int i = 0; i < 3; i++)
	{
		double		at = (n - 1) * (i + 1) / 4.0;
		int			k = (int) at;

		q[i] = v[k];
		if (k + 1 < n)
			q[i] += (at - k) * (v[k + 1] - v[k]);
	}
}

/* One line of text, one JSON object. */
static void
report(Series *s, FILE *json, bool last)
{
	double		nb[3],
				fpt[3],
				ratio[3];

	for (int i = 0; i < rounds; i++)
		s->ratio[i] = s->nb[i] / s->fpt[i];
	quartiles(s->nb, rounds, nb);
	quartiles(s->fpt, rounds, fpt);
	quartiles(s->ratio, rounds, ratio);
	printf("%-22s %8.1f [%7.1f %7.1f]  %8.1f [%7.1f %7.1f]  "
		   "%5.2f [%5.2f %5.2f]\n", s->name, nb[1], nb[0], nb[2],
		   fpt[1], fpt[0], fpt[2], ratio[1], ratio[0], ratio[2]);
	if (json)
		fprintf(json,
				"    {\"name\": \"%s\", \"unit\": \"ns\",\n"
				"     \"nbtree\": [%.2f, %.2f, %.2f],\n"
				"     \"fptree\": [%.2f, %.2f, %.2f],\n"
				"     \"ratio\": [%.3f, %.3f, %.3f]}%s\n",
				s->name, nb[0], nb[1], nb[2], fpt[0], fpt[1], fpt[2],
				ratio[0], ratio[1], ratio[2], last ? "" : ",");
}

static void
check_trees(Tree *nb, Tree *fpt)
{
	for (long i = 0; i < 100000; i++)
	{
		long		k = (long) (rnd() % (uint64) nkeys);

		if (nb_search(nb, nth_key(k)) != nth_tid(k) ||
			fpt_search(fpt, nth_key(k)) != nth_tid(k))
		{
			fprintf(stderr, "wrong result for key %ld\n", k);
			exit(1);
		}
	}
}

static void
usage(const char *name)
{
	fprintf(stderr,
			"usage: %s [-n keys] [-r rounds] [-o operations] [-u] [-p] [-b]\n"
			"       [-H] [-w lines] [-x lines] [-l entries] [-e lines] [-j file]\n"
			"       [-s scalar|sse2|avx2|avx512|neon|auto] [-k 8|16]\n"
			"-u: keys spread over 64 bits; -p: no prefetch of child pages;\n"
			"-b: compare through a bare function pointer;\n"
			"-H: memory in pages of 4 kB, not in huge ones;\n"
			"-k: size of fptree's keys, 8 or 16;\n"
			"-w, -x: widths of in-page nonleaf and leaf nodes;\n"
			"-l: length of a scan; -e: lines of the next leaf prefetched in it\n",
			name);
	exit(2);
}

static void
measure_all(FILE *json)
{
	static Series search = {.name = "search"};
	static char scan_name[40];
	static Series scan = {.name = scan_name};
	static Series insert = {.name = "insert, 70% full"};
	Tree		nb;
	Tree		fpt;

	snprintf(scan_name, sizeof(scan_name), "scan of %ld, an entry", scan_len);
	nb_build(&nb, 90);
	fpt_build(&fpt, 90);
	check_trees(&nb, &fpt);
	printf("forming fptree's pages: %.1f ns an entry; huge pages: %ld MB\n",
		   form_time / nkeys, huge_memory());
	printf("%ld %s keys; pages: nbtree %u, fptree %u; levels %d, %d; "
		   "search variant %s\n", nkeys, uniform ? "uniform" : "dense",
		   nb.npages, fpt.npages, nb.rootlevel + 1, fpt.rootlevel + 1,
		   fpt_simd->name);
	printf("%-22s %-28s%-28s%s\n", "ns, median [quartiles]", "  nbtree-like",
		   "  fptree", "  ratio");
	if (json)
		fprintf(json, "  \"pages\": {\"nbtree\": %u, \"fptree\": %u},\n"
				"  \"results\": [\n", nb.npages, fpt.npages);
	for (int i = 0; i < rounds; i++)
	{
		uint64		seed = 1000 + (uint64) i;
		double		base = time_nothing(seed);

		search.nb[i] = time_search(&nb, nb_search, seed) - base;
		search.fpt[i] = time_search(&fpt, fpt_search, seed) - base;
		scan.nb[i] = time_scan(&nb, nb_scan, seed);
		scan.fpt[i] = time_scan(&fpt, fpt_scan, seed);
	}
	report(&search, json, false);
	report(&scan, json, false);
	tree_destroy(&nb);
	tree_destroy(&fpt);

	nb_build(&nb, INSERT_FILL);
	fpt_build(&fpt, INSERT_FILL);
	for (int i = 0; i < rounds; i++)
	{
		uint64		seed = 2000 + (uint64) i;
		double		base = time_nothing(seed);

		insert.nb[i] = time_insert(&nb, nb_insert, seed) - base;
		insert.fpt[i] = time_insert(&fpt, fpt_insert, seed) - base;
	}
	report(&insert, json, true);
	if (refused > 0)
		printf("%ld insertions refused (duplicate, or page full or of another "
			   "form)\n", refused);
	tree_destroy(&nb);
	tree_destroy(&fpt);
}

int
main(int argc, char **argv)
{
	static FPTGeoms geoms;
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];
	const char *variant = "auto";
	FILE	   *json = NULL;
	int			force_w = 0;
	int			force_x = 0;
	int			keysize = 8;
	int			opt;

	while ((opt = getopt(argc, argv, "n:r:o:us:j:pbHw:x:l:e:k:")) != -1)
	{
		switch (opt)
		{
			case 'n':
				nkeys = atol(optarg);
				break;
			case 'r':
				rounds = atoi(optarg);
				break;
			case 'o':
				nops = atol(optarg);
				break;
			case 'u':
				uniform = true;
				break;
			case 'p':
				prefetch_page = false;
				break;
			case 'b':
				bare = true;
				break;
			case 'H':
				small_memory = true;
				break;
			case 'k':
				keysize = atoi(optarg);
				break;
			case 'w':
				force_w = atoi(optarg);
				break;
			case 'x':
				force_x = atoi(optarg);
				break;
			case 'l':
				scan_len = atol(optarg);
				break;
			case 'e':
				expect_lines = atol(optarg);
				break;
			case 's':
				variant = optarg;
				break;
			case 'j':
				json = fopen(optarg, "w");
				break;
			default:
				usage(argv[0]);
		}
	}
	if (scan_len < 1 || expect_lines < 0 || expect_lines > BLCKSZ / FPT_LINE ||
		nkeys < 10 * scan_len || rounds < 1 || rounds > MAX_ROUNDS ||
		nops < 1000 || (keysize != 8 && keysize != 16) ||
		!fpt_simd_select(variant) ||
		!fpt_choose_widths(keysize, force_w, force_x, widths) ||
		!fpt_layout_init(&layout, &geoms, keysize, false, 1, widths))
		usage(argv[0]);
	for (int i = 0; i < FPT_NKW * FPT_NKINDS; i++)
		root_lines = Max(root_lines, widths[i / FPT_NKINDS][i % FPT_NKINDS].w);
	if (json)
		fprintf(json, "{\n  \"keys\": %ld, \"distribution\": \"%s\", "
				"\"variant\": \"%s\", \"blcksz\": %d,\n", nkeys,
				uniform ? "uniform" : "dense", fpt_simd->name, BLCKSZ);
	measure_all(json);
	if (json)
	{
		fprintf(json, "  ]\n}\n");
		fclose(json);
	}
	return sink == 42;
}
