/*-------------------------------------------------------------------------
 *
 * test_overflow.c
 *	  Kids with overflow nodes.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

static char *page;
static FPTLayout l8;
static FPTLayout l16;
static int	enc8;				/* encoding of most of these tests' pages */
static const FPTKey minf = {.cls = FPT_CLS_MINF};
static const FPTKey pinf = {.cls = FPT_CLS_PINF};
static FPTEntry e[FPT_MAX_ENTRIES + 1];
static int	n;					/* how many of them are in the page, in order */
static uint64 apart = 1000;		/* keys that full_nodes() makes */

static FPTPage
open_page(const FPTLayout *l)
{
	return fpt_page_open(l, page);
}

static bool
sound(const FPTLayout *l)
{
	return kt_sound(l, page);
}

/*
 * An encoding of pages that can have overflow nodes, with room for five nodes
 * at least: with TIDs of these kinds and keys of so many bytes or less; 0:
 * there is none at this page size.
 */
static int
encoding(const FPTLayout *l, int kw, int kind)
{
	for (; kw >= (l->keysize == 16 ? 10 : 5); kw--)
	{
		const FPTGeom *g = &l->geoms->geom[kw - 1][kind];

		if (g->cap >= 8 && g->maxnodes >= 5 && fpt_may_overflow(g))
			return fpt_enc(kw - 1, kind);
	}
	return 0;
}

/*
 * A page of "full" nodes without a free slot, with keys so far apart, and two
 * nodes or more in the hole; TIDs are in no order.
 */
static const FPTGeom *
full_nodes(const FPTLayout *l, int enc, int full)
{
	FPTKey		base = kt_key(FPT_CLS_VALUE, 0, 0, 0);
	const FPTGeom *g;

	fpt_page_init(l, page, &(FPTPageSpec) {.pageno = 5, .low = &minf,
				  .high = &pinf}, enc, &base, 0);
	g = fpt_page_geom(l, page);
	CHECK(g->maxnodes >= full + 2);
	n = full * g->cap;
	for (int i = 0; i < n; i++)
	{
		uint64		tid = ((uint64) (i * 7919 % 10007) << 16) | 3;

		e[i].key = kt_key(FPT_CLS_VALUE, l->keysize == 16 ? 1000 + i : 0,
						  1000 + apart * i, tid);
		e[i].down = 0;
	}
	CHECK(fpt_page_fill(l, page, e, n, 100) == FPT_OK && sound(l));
	CHECK(fpt_header(page)->nkids == full);
	return g;
}

/* Insert a key into the page and into e[]. */
static FPTResult
insert(const FPTLayout *l, uint64 hi, uint64 lo, uint64 tid)
{
	FPTEntry	x = {.key = kt_key(FPT_CLS_VALUE, hi, lo, tid)};
	FPTResult	res = kt_insert(l, page, &x);
	int			i = n;

	if (res != FPT_OK)
		return res;
	for (; i > 0 && fpt_key_cmp(l, &x.key, &e[i - 1].key) < 0; i--)
		e[i] = e[i - 1];
	e[i] = x;
	n++;
	return res;
}

/* The page has the entries of e[], and each is found. */
static void
check_entries(const FPTLayout *l)
{
	kt_check_all(l, page, e, n);
}

/*
 * What goes to the middle of a full node gets an overflow node: no entry moves,
 * no kid is added.  When that is full, too, two kids are made of the two nodes,
 * with hints where they belong.
 */
static void
grow(const FPTLayout *l, int enc)
{
	const FPTGeom *g;
	uint64		hi = 0;
	uint16		slotids[FPT_MAX_ENTRIES];
	FPTRun		run = {.slotids = slotids};
	char		was[BLCKSZ];

	if (enc == 0)
		return;
	g = full_nodes(l, enc, 2);
	memcpy(was, page, BLCKSZ);
	for (int i = 0; i < g->cap; i++)
	{
		/* between two entries of the first node, each between two others */
		int			at = (i * 7 + 3) % (g->cap - 1);

		if (l->keysize == 16)
			hi = 1000 + at;
		CHECK(insert(l, hi, 1000 + 1000 * at + 1 + i,
					 ((uint64) (i * 613 % 4001) << 16) | 5) == FPT_OK);
		CHECK(fpt_header(page)->nkids == 2 && fpt_page_nodes(l, page) == 3);
		was[g->over_off] = page[g->over_off];
		CHECK(memcmp(page + g->node_off, was + g->node_off,
					 2 * g->x * FPT_LINE) == 0);
		if (i % 8 == 0 || i == g->cap - 1)
			check_entries(l);
	}
	CHECK(fpt_node_count(l, page, 0) == 2 * g->cap);

	/* every third entry has a hint */
	CHECK(fpt_page_copy_all(l, page, false, &run) == n);
	for (int i = 0; i < n; i += 3)
		fpt_page_hint_set(l, page, slotids[i]);
	hi = l->keysize == 16 ? 1000 + g->cap / 2 : 0;
	CHECK(insert(l, hi, 1000 + 1000 * (g->cap / 2) + 999, 0x10007) == FPT_OK);
	CHECK(fpt_header(page)->nkids == 3 && fpt_page_nodes(l, page) == 4);
	check_entries(l);
	CHECK(fpt_page_copy_all(l, page, false, &run) == n);
	for (int i = 0, j = 0; i < n; i++)
	{
		bool		added = e[i].key.tid == 0x10007;

		CHECK(fpt_page_hint_get(l, page, slotids[i]) == (!added && j % 3 == 0));
		j += !added;
	}
}

static void
test_grow(void)
{
	for (int kind = FPT_KIND_LEAF3; kind <= FPT_KIND_LEAF6; kind++)
	{
		grow(&l8, encoding(&l8, 8, kind));
		grow(&l16, encoding(&l16, 16, kind));
		grow(&l16, encoding(&l16, 12, kind));
	}
}

/* Entries of one kid that has two nodes, of each the first half of its slots. */
static const FPTGeom *
two_nodes(void)
{
	const FPTGeom *g = full_nodes(&l8, enc8, 2);

	for (int i = 0; i < g->cap / 2; i++)
		CHECK(insert(&l8, 0, 1500 + 1000 * ((i * 5 + 1) % (g->cap - 1)) + i,
					 (uint64) (i * 97 % 1009) << 16 | 9) == FPT_OK);
	CHECK(fpt_header(page)->nkids == 2 && fpt_page_nodes(&l8, page) == 3);
	check_entries(&l8);
	return g;
}

/* Take the entries of one of the first kid's nodes; e[] loses them, too. */
static void
take_node(int i)
{
	uint64		gone[FPT_KID_NODES] = {0};
	int			m = 0;

	gone[i] = ~UINT64CONST(0);
	for (int j = 0; j < n; j++)
	{
		/* offsets tell which ones came later */
		bool		first = e[j].key.lo < 1000 + 1000 * (uint64)
			fpt_page_geom(&l8, page)->cap;
		bool		over = (e[j].key.tid & 0xFFFF) == 9;

		if (!first || over != (i == 1))
			e[m++] = e[j];
	}
	CHECK(m < n);
	n = m;
	CHECK(kt_delete_slots(&l8, page, 0, gone) == FPT_OK);
}

/* A node that becomes empty leaves the root, and the other one stays. */
static void
test_take(void)
{
	uint64		all[FPT_KID_NODES] = {~UINT64CONST(0), ~UINT64CONST(0)};
	const FPTGeom *g = two_nodes();

	take_node(1);
	CHECK(fpt_header(page)->nkids == 2 && fpt_page_nodes(&l8, page) == 2);
	check_entries(&l8);

	g = two_nodes();
	take_node(0);
	CHECK(fpt_header(page)->nkids == 2 && fpt_page_nodes(&l8, page) == 2);
	CHECK(fpt_node_count(&l8, page, 0) == g->cap / 2);
	check_entries(&l8);

	two_nodes();
	CHECK(kt_delete_slots(&l8, page, 0, all) == FPT_OK);
	CHECK(fpt_header(page)->nkids == 1 && fpt_page_nodes(&l8, page) == 1);
	CHECK(sound(&l8) && fpt_page_count(&l8, page) == g->cap);

	/* the node that is put to use again belongs to nobody else */
	g = two_nodes();
	take_node(1);
	for (int i = 0; i < g->cap; i++)
		CHECK(insert(&l8, 0, 1000 + 1000 * (g->cap + (i * 3 + 1) % (g->cap - 1))
					 + 1 + i, (uint64) (i * 97 % 1009) << 16 | 11) == FPT_OK);
	CHECK(fpt_page_nodes(&l8, page) == 3);
	check_entries(&l8);
}

/* Half of a page: kids with two nodes stay as they are, or lose a part. */
static void
test_truncate(void)
{
	const FPTGeom *g = two_nodes();

	for (int keep = n - 1; keep > 0; keep = keep * 3 / 4)
	{
		CHECK(fpt_page_truncate(&l8, page, keep) == FPT_OK);
		n = keep;
		check_entries(&l8);
	}
	g = two_nodes();
	CHECK(fpt_page_truncate(&l8, page, fpt_node_count(&l8, page, 0)) == FPT_OK);
	n = fpt_node_count(&l8, page, 0);
	fpt_page_trim(&l8, page);
	CHECK(fpt_header(page)->nnodes == 3 && n > g->cap);
	check_entries(&l8);
}

/*
 * Random keys until the page is full: entries are shifted from and to such kids
 * when the page has no other room, and kids are made of them.
 */
static void
fill_page(int enc)
{
	const FPTGeom *g = full_nodes(&l8, enc, 2);
	int			nodes = 0;
	int			over = 0;
	int			i = 0;

	g = full_nodes(&l8, enc, g->maxnodes - 2);
	while (insert(&l8, 0, 1001 + kt_random() % (apart * (uint64) (n - 1)),
				  (kt_random() % 60000) << 16 | 7) == FPT_OK)
	{
		if (i++ % 64 == 0)
			check_entries(&l8);
		nodes = Max(nodes, fpt_page_nodes(&l8, page));
		over = Max(over, nodes - fpt_header(page)->nkids);
	}
	check_entries(&l8);
	CHECK(nodes == g->maxnodes);
	CHECK(over > 0);
	CHECK(n > (int) g->capacity - 2 * g->cap);
}

static void
test_shift(void)
{
	fill_page(enc8);
}

/*
 * The same where keys are relative to their nodes.  These begin at different
 * bases, and what separators are between them changes, and with it, now and
 * then, what the keys of two nodes are relative to.
 */
static void
test_near_overflow(void)
{
	int			had = 0;

	apart = UINT64CONST(500) << 24;
	for (int kind = FPT_KIND_NEAR + FPT_KIND_LEAF3;
		 kind <= FPT_KIND_NEAR + FPT_KIND_LEAF6; kind++)
	{
		const FPTGeom *g = &l8.geoms->geom[5][kind];

		/* the keys of a node, and what bases are rounded by, take five bytes */
		if (g->maxnodes < 5 || !fpt_may_overflow(g) ||
			g->cap * apart > UINT64CONST(40000) << 24)
			continue;
		had++;
		for (int i = 0; i < 20; i++)
			fill_page(fpt_enc(5, kind));
	}
	apart = 1000;
	CHECK(had > 0 || BLCKSZ != 8192);
}

/*
 * Take some or nearly all entries of a kid, of each of its nodes; returns how
 * many.
 */
static int
thin_out(const FPTLayout *l)
{
	uint64		gone[FPT_MAX_NODES] = {0};
	FPTPage		pg = open_page(l);
	bool		most = kt_chance(60);
	int			taken = 0;
	FPTChanges	changed;
	FPTKid		k;

	CHECK(fpt_kid_open(pg, (int) kt_below(fpt_header(page)->nkids), &k));
	for (int i = 0; i < k.n; i++)
	{
		uint64		used = fpt_node_used(pg.g, k.node[i]);

		gone[k.ordinal[i]] = used & kt_random();
		if (most)
			gone[k.ordinal[i]] = used &
				~(UINT64CONST(3) << kt_below(pg.g->cap));
		taken += fpt_popcount(gone[k.ordinal[i]]);
	}
	CHECK(fpt_page_take(l, page, gone, &changed) == FPT_OK);
	return taken;
}

/*
 * Pages that fill while entries go, so that kids with two nodes are anything
 * between empty and full, keys repeat, and entries are shifted over several
 * kids: each insertion is done, or finds the page full.
 */
static void
sparse(const FPTLayout *l, int kw, int kind)
{
	const FPTGeom *g = &l->geoms->geom[kw - 1][kind];
	FPTEdit		edit;
	uint64		keys = 1 + kt_random() % 8;
	int			count;

	if (g->maxnodes < 5 || !fpt_may_overflow(g))
		return;
	(void) full_nodes(l, fpt_enc(kw - 1, kind), g->maxnodes - 2);
	count = n;
	for (int i = 0; i < 4 * (int) g->capacity; i++)
	{
		uint64		key = 1000 + kt_random() % (apart * (uint64) n);
		FPTEntry	x;
		FPTResult	res;

		if (kt_chance(50))
			key = 1000 + kt_random() % keys * apart * (n / keys);
		x.key = kt_key(FPT_CLS_VALUE, 0, key, (uint64) (i + 1) << 16 | 9);
		x.down = 0;
		edit.n = 0;
		res = fpt_page_insert(l, page, &x, &edit);
		if (res == FPT_FULL)
		{
			res = (kt_chance(70) ? fpt_page_make_room : fpt_page_find_room)
				(l, page, &x, &kt_work);
			if (res == FPT_OK)
				res = fpt_page_insert(l, page, &x, &edit);
		}
		CHECK(res == FPT_OK || res == FPT_FULL || res == FPT_DUPLICATE);
		count += res == FPT_OK;
		if (res == FPT_FULL || kt_chance(3))
			count -= thin_out(l);
		CHECK(fpt_page_count(l, page) == count);
		CHECK(i % 16 != 0 || sound(l));
		if (fpt_header(page)->nkids == 0)
			return;
	}
	CHECK(sound(l));
}

static void
test_sparse(void)
{
	for (int i = 0; i < 40; i++)
	{
		FPTLayout	l;

		kt_layout(&l, 8, false, i % 4 != 0);
		for (int kw = 4; kw <= 8; kw++)
			sparse(&l, kw, FPT_KIND_LEAF3 + (int) kt_below(3));
	}
}

/* Where rows ascend, or keys repeat, nodes are split as ever; so are NULLs'. */
static void
test_not_made(void)
{
	const FPTGeom *g = full_nodes(&l8, enc8, 2);

	for (int i = 0; i < g->cap; i++)
	{
		CHECK(insert(&l8, 0, 1000 * (uint64) (n + 1) + i,
					 (uint64) (20000 + i) << 16 | 1) == FPT_OK);
		CHECK(fpt_header(page)->nkids == fpt_page_nodes(&l8, page));
	}
	g = full_nodes(&l8, enc8, 2);
	for (int i = 0; i < g->cap; i++)
	{
		CHECK(insert(&l8, 0, 1000 + 1000 * (g->cap / 2),
					 (uint64) (i * 97 % 1009) << 16 | 13) == FPT_OK);
		CHECK(fpt_header(page)->nkids == fpt_page_nodes(&l8, page));
	}
	for (int kw = 1; kw <= 8; kw++)
	{
		g = &l8.geoms->geom[kw - 1][FPT_KIND_INNER];
		CHECK(!fpt_may_overflow(g));
		g = &l8.geoms->geom[kw - 1][FPT_KIND_LEAF1];
		CHECK(!fpt_may_overflow(g));
	}
}

/* What a page that names an overflow node wrongly is told to be. */
static void
expect(const char *what, int kid, int over)
{
	static uint64 tids[FPT_MAX_ENTRIES + 1];
	static uint64 gone[FPT_MAX_NODES];
	static FPTEntry got[FPT_MAX_ENTRIES + 1];
	FPTRun		run = {.tids = tids};
	FPTFault	fault;
	char		was[BLCKSZ];
	FPTEntry	x = e[1];
	FPTChanges	changed;
	const char *msg;

	memcpy(was, page, BLCKSZ);
	fpt_overflow_set(open_page(&l8), fpt_kid(open_page(&l8), kid), over);
	msg = fpt_page_check(&l8, page, 5, &fault);
	CHECK(msg != NULL && strcmp(msg, what) == 0);

	/* nothing is written or read where it should not be */
	tids[FPT_MAX_ENTRIES] = 0xABCD;
	got[FPT_MAX_ENTRIES].down = 0xABCD;
	(void) fpt_page_copy_all(&l8, page, false, &run);
	(void) fpt_page_tids(&l8, page, tids, NULL);
	(void) fpt_page_extract(&l8, page, got, FPT_MAX_ENTRIES);
	(void) fpt_page_truncate(&l8, page, n / 2);
	memset(gone, 0xFF, sizeof(gone));
	(void) fpt_page_take(&l8, page, gone, &changed);
	CHECK(tids[FPT_MAX_ENTRIES] == 0xABCD);
	CHECK(got[FPT_MAX_ENTRIES].down == 0xABCD);
	memcpy(page, was, BLCKSZ);
	fpt_overflow_set(open_page(&l8), fpt_kid(open_page(&l8), kid), over);
	x.key.lo++;
	for (int i = 0; i < 100; i++)
	{
		FPTEdit		edit = {0};

		x.key.lo += 7;
		if (fpt_page_insert(&l8, page, &x, &edit) == FPT_FULL)
			(void) fpt_page_make_room(&l8, page, &x, &kt_work);
	}
	memcpy(page, was, BLCKSZ);
}

static void
test_corrupt_overflow(void)
{
	const FPTGeom *g = two_nodes();
	int			over = fpt_overflow_get(open_page(&l8), 0);

	CHECK(over == 2 && fpt_header(page)->nnodes == 3);
	expect("overflow node does not exist", 0, 3);
	expect("overflow node does not exist", 1, g->maxnodes - 1);
	expect("in-page root points to a node twice", 1, 2);
	expect("in-page root points to a node twice", 0, 1);

	/* its own, which no function would give it */
	((uint8 *) page)[g->over_off] = 1;
	CHECK(strcmp(fpt_page_check(&l8, page, 5, NULL),
				 "overflow node does not exist") == 0);
	CHECK(fpt_page_count(&l8, page) == -1);

	two_nodes();
	fpt_overflow_set(open_page(&l8), over, 1);
	CHECK(strcmp(fpt_page_check(&l8, page, 5, NULL),
				 "overflow node has an overflow node") == 0);

	two_nodes();
	fpt_header(page)->nnull = 2;
	CHECK(strcmp(fpt_page_check(&l8, page, 5, NULL),
				 "NULLs have an overflow node") == 0);
}

void
test_overflow(void)
{
	page = aligned_alloc(64, BLCKSZ);
	kt_layout(&l8, 8, false, false);
	kt_layout(&l16, 16, false, false);
	for (int kind = FPT_KIND_LEAF3; enc8 == 0 && kind <= FPT_KIND_LEAF6; kind++)
		enc8 = encoding(&l8, 8, kind);
	kt_run("overflow: grow", test_grow);
	CHECK(enc8 != 0 || BLCKSZ < 8192);
	if (enc8 == 0)
		return;
	kt_run("overflow: take", test_take);
	kt_run("overflow: truncate", test_truncate);
	kt_run("overflow: shift", test_shift);
	kt_run("overflow: near", test_near_overflow);
	kt_run("overflow: sparse", test_sparse);
	kt_run("overflow: not made", test_not_made);
	kt_run("overflow: corrupt", test_corrupt_overflow);
	free(page);
}
