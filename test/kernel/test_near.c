/*-------------------------------------------------------------------------
 *
 * test_near.c
 *	  Pages in which keys are relative to their nodes (FPT_ENC_NEAR).
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

static char *page;
static FPTLayout l8;
static FPTLayout l16;
static FPTLayout l8nf;			/* NULLS FIRST */
static const FPTKey minf = {.cls = FPT_CLS_MINF};
static const FPTKey pinf = {.cls = FPT_CLS_PINF};
static FPTEntry e[FPT_MAX_ENTRIES + 1];

static FPTKey
value(uint64 hi, uint64 lo, uint64 tid)
{
	return kt_key(FPT_CLS_VALUE, hi, lo, tid);
}

static FPTEntry
entry(uint64 hi, uint64 lo)
{
	FPTEntry	x = {.key = value(hi, lo, 1)};

	return x;
}

/* Values first, first + step, ... in e[]. */
static void
make_entries(int n, uint64 first, uint64 step)
{
	for (int i = 0; i < n; i++)
		e[i] = entry(0, first + i * step);
}

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

/* Form a page of n entries; false: none of them fits. */
static bool
form(const FPTLayout *l, const FPTKey *low, const FPTKey *high, int n, int fill)
{
	if (fpt_page_form(l, page, &(FPTPageSpec) {0, 5, low, high, 65536}, e, n,
					  fill) != FPT_OK)
		return false;
	fpt_header(page)->left = low->cls == FPT_CLS_MINF ? 0 : 7;
	fpt_header(page)->right = high->cls == FPT_CLS_PINF ? 0 : 7;
	CHECK(fpt_page_count(l, page) == n && sound(l));
	return true;
}

static bool
is_near(const FPTLayout *l)
{
	return fpt_is_near(fpt_page_geom(l, page));
}

/* An empty page of this encoding, base 0, open at both ends. */
static const FPTGeom *
empty_page(const FPTLayout *l, int enc)
{
	FPTKey		base = value(0, 0, 0);

	fpt_page_init(l, page, &(FPTPageSpec) {.pageno = 5, .low = &minf,
				  .high = &pinf, .rowbits = 8}, enc, &base, 0);
	return fpt_page_geom(l, page);
}

/* Insert, making room if that is needed; what made no room is the result. */
static FPTResult
insert(const FPTLayout *l, const FPTEntry *x)
{
	return kt_insert(l, page, x);
}

/* Is each of the n entries in e[] found, and all keys around it where they are? */
static void
check_found(const FPTLayout *l, int n)
{
	for (int i = 0; i < n; i++)
	{
		for (int d = -1; d <= 1; d++)
		{
			FPTKey		k = e[i].key;
			FPTLoc		loc;
			FPTEntry	got;
			int			at = i + (d > 0);

			k.tid = d == 0 ? 1 : 0;
			k.lo += d > 0 ? 1 : 0;
			k.hi += d > 0 && k.lo == 0 ? 1 : 0;
			CHECK(fpt_page_lower_bound(l, page, &k, &loc) == FPT_OK);
			if (at == n)
				CHECK(loc.kid == fpt_header(page)->nkids);
			else
				CHECK(fpt_page_get(l, page, loc, &got) == FPT_OK &&
					  got.key.lo == e[at].key.lo && got.key.hi == e[at].key.hi);
		}
	}
}

/*
 * Such a page is made if all that may come between two separators can be told,
 * and only then.
 */
static void
test_chosen(void)
{
	FPTKey		low = value(0, 1000, 0);
	int			near = 0;
	int			n = 600 * (BLCKSZ / 1024) / 8;

	for (int step = 1; step < 64; step++)
	{
		FPTKey		high = value(0, 1000 + n * step, 0);
		int			max = 0;

		make_entries(n, 1000, step);
		CHECK(form(&l8, &low, &high, n, 90));
		check_found(&l8, n);
		for (int kid = 0; kid < fpt_header(page)->nkids; kid++)
			max = Max(max, fpt_node_count(&l8, page, kid));
		if (!is_near(&l8))
		{
			/* a node of the other kind has fewer slots, so it need not fail */
			CHECK(n * step <= 256 || max * step > 3 * 256 / 4 ||
				  n * step > 65536);
			continue;
		}
		near++;
		CHECK((max - 1) * step < 1 << (8 * fpt_page_geom(&l8, page)->sw));
		for (int i = 0; i < n * step - 1; i++)
		{
			FPTEntry	x = entry(0, 1001 + i);
			FPTPlace	place;
			FPTLocal	local;
			const FPTEntry *p = &x;

			x.key.tid = 2;
			CHECK(fpt_page_insert_find(&l8, page, &p, &local, &place) !=
				  FPT_UNFIT);
			CHECK(place.beyond == 0 ||
				  (place.beyond > 0 && place.kid + 1 == place.to));
		}
	}
	CHECK(near >= 1);

	/* as a build makes sure before it fills a page */
	for (int step = 1; step < 400; step++)
	{
		const FPTGeom *g = &l16.geoms->geom[2][FPT_KIND_NEAR];

		make_entries((int) g->capacity, 0, step);
		empty_page(&l16, g->enc);
		if (fpt_near_enough(g, 0, (uint64) step * FPT_MAX_CAP) &&
			g->capacity * step < 0xFFFFFF)
			CHECK(fpt_page_fill(&l16, page, e, (int) g->capacity,
								1 + step % 100) == FPT_OK);
	}
	CHECK(!fpt_near_enough(&l16.geoms->geom[2][FPT_KIND_LEAF3], 0, 0));
	CHECK(!fpt_near_enough(&l8.geoms->geom[9][FPT_KIND_NEAR], 0, 0));
	CHECK(!fpt_near_enough(&l16.geoms->geom[2][FPT_KIND_NEAR], 1, 0));
	CHECK(fpt_near_enough(&l16.geoms->geom[10][FPT_KIND_NEAR], 0xBFFE, 5));
	CHECK(fpt_near_enough(&l16.geoms->geom[10][FPT_KIND_NEAR], 0xBFFF, 5));
	CHECK(!fpt_near_enough(&l16.geoms->geom[10][FPT_KIND_NEAR], 0xC000, 0));
	CHECK(!fpt_near_enough(&l16.geoms->geom[10][FPT_KIND_NEAR],
						   ~UINT64CONST(0), ~UINT64CONST(0)));
}

/* Keys of 16 bytes whose lower halves carry. */
static void
test_wide(void)
{
	const FPTGeom *g = &l16.geoms->geom[10][FPT_KIND_NEAR + 1];
	int			n = (int) g->capacity;

	for (int i = 0; i < n; i++)
		e[i] = entry(7 + i * 700, i % 3 == 0 ? ~(uint64) 0 :
					 (uint64) i << 60 | 5);
	CHECK(empty_page(&l16, g->enc) == g);
	CHECK(fpt_page_fill(&l16, page, e, n, 100) == FPT_OK && sound(&l16));
	check_found(&l16, n);
	CHECK(form(&l16, &minf, &pinf, n / 2, 90));
	check_found(&l16, n / 2);
}

/*
 * What is too far from its neighbour begins a node, as long as there is one;
 * then the page is to be made anew.  Rows that ascend fast end up in a page
 * whose keys are relative to it alone.
 */
static void
test_beyond(void)
{
	const FPTGeom *g = empty_page(&l8, ENC(2, NEAR + 1));
	FPTEntry	x;
	int			n = 0;

	for (;; n++)
	{
		FPTResult	res;

		e[n] = x = entry(0, 10 + 300 * n);
		res = insert(&l8, &x);
		if (res != FPT_OK)
		{
			CHECK(res == FPT_UNFIT);
			break;
		}
		CHECK(sound(&l8) && fpt_header(page)->nkids == n + 1);
	}
	CHECK(n == g->maxnodes);
	check_found(&l8, n);
	CHECK(form(&l8, &minf, &pinf, n + 1, 90));
	CHECK(!is_near(&l8) || fpt_page_geom(&l8, page)->sw > 1);

	/* it may begin the next node, if that can tell it */
	make_entries(10, 1000, 10);
	e[9] = entry(0, 3000);
	g = empty_page(&l8, ENC(2, NEAR + 1));
	for (int i = 0; i < 10; i++)
		CHECK(insert(&l8, &e[i]) == FPT_OK);
	CHECK(fpt_header(page)->nkids == 2);
	while (fpt_header(page)->nkids < g->maxnodes)
	{
		x = entry(0, 5000 + 300 * fpt_header(page)->nkids);
		CHECK(insert(&l8, &x) == FPT_OK);
	}
	x = entry(0, 2990);
	CHECK(insert(&l8, &x) == FPT_OK && sound(&l8));
	CHECK(fpt_node_count(&l8, page, 1) == 2);
	x = entry(0, 2000);			/* nobody can tell this */
	CHECK(insert(&l8, &x) == FPT_UNFIT && sound(&l8));
	x = entry(0, 900);			/* the first one can: it has no lower neighbour */
	CHECK(insert(&l8, &x) == FPT_OK && sound(&l8));
	x = entry(0, 0);
	CHECK(insert(&l8, &x) == FPT_UNFIT && sound(&l8));
}

/* A separator that moves takes the node's keys with it, if they allow it. */
static void
test_set_sep(void)
{
	FPTPage		pg;
	uint64		was;
	static char copy[BLCKSZ];

	empty_page(&l8, ENC(2, NEAR + 2));
	pg = open_page(&l8);
	make_entries(pg.g->cap + 3, 640, 1);
	e[pg.g->cap + 2] = entry(0, 640 + 200);
	CHECK(fpt_page_fill(&l8, page, e, pg.g->cap + 3, 60) == FPT_OK);
	CHECK(fpt_header(page)->nkids == 2);
	was = fpt_kid_base(pg, 1);
	CHECK(was >= 640 && was % 64 == 0);
	memcpy(copy, page, BLCKSZ);
	CHECK(fpt_kid_set_sep(pg, 1, 0, 840 - 256 - 64) == FPT_FULL);
	CHECK(memcmp(copy, page, BLCKSZ) == 0);
	CHECK(fpt_kid_set_sep(pg, 1, 0, 641) == FPT_OK);
	CHECK(fpt_kid_base(pg, 1) == 640);
	CHECK(fpt_entries_shift(pg, 0, 1, 1) == FPT_OK && sound(&l8));
	CHECK(fpt_entries_shift(pg, 1, -1, 3) == FPT_OK && sound(&l8));
	check_found(&l8, pg.g->cap + 3);

	/* what the other node cannot tell is not moved */
	e[0] = entry(0, 0);
	for (int i = 1; i <= 3; i++)
		e[i] = entry(0, 300 + i);
	empty_page(&l8, ENC(2, NEAR + 2));
	for (int i = 0; i < 4; i++)
		CHECK(insert(&l8, &e[i]) == FPT_OK);
	CHECK(fpt_header(page)->nkids == 2);
	memcpy(copy, page, BLCKSZ);
	CHECK(fpt_entries_shift(open_page(&l8), 1, -1, 1) == FPT_FULL);
	CHECK(memcmp(copy, page, BLCKSZ) == 0);
}

/* NULLs are zeroes there, whatever the values' nodes are relative to. */
static void
test_nulls(void)
{
	for (int first = 0; first < 2; first++)
	{
		const FPTLayout *l = first ? &l8nf : &l8;
		FPTKey		null = kt_key(first ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST,
								  0, 0, 0);
		int			n = 200 * (BLCKSZ / 1024) / 8;
		int			nnull = n / 3;

		make_entries(n, 77777, 3);
		for (int i = 0; i < nnull; i++)
		{
			FPTEntry   *x = first ? &e[i] : &e[n - nnull + i];

			x->key = null;
			x->key.tid = 1 + i;
		}
		CHECK(form(l, &minf, &pinf, n, 90) && is_near(l));
		for (int i = 0; i < 100; i++)
		{
			FPTEntry	x = {.key = null};

			/* rows follow each other */
			x.key.tid = ((uint64) (1 + i / nnull) << 16) |
				(uint64) (1 + i % nnull);
			CHECK(insert(l, &x) == FPT_OK);
		}
		CHECK(sound(l) && fpt_page_count(l, page) == n + 100);
	}
}

/* A damaged page's key is beyond what a search can be for. */
static void
test_corrupt_base(void)
{
	FPTFault	fault;
	const char *msg;

	empty_page(&l8, ENC(2, NEAR + 1));
	make_entries(20, 0xFF00, 10);
	CHECK(fpt_page_fill(&l8, page, e, 20, 20) == FPT_OK && sound(&l8));
	CHECK(fpt_header(page)->nkids >= 2);
	fpt_sep_set(open_page(&l8), fpt_header(page)->nkids - 1, 0, 0xFFFF);
	msg = fpt_page_check(&l8, page, 5, &fault);
	CHECK(msg != NULL &&
		  (strcmp(msg, "key is too far from the page's base") == 0 ||
		   strcmp(msg, "separator is above its node's first entry") == 0));
	fpt_sep_set(open_page(&l8), 0, 0, 0xFF80);
	msg = fpt_page_check(&l8, page, 5, &fault);
	CHECK(msg != NULL);
}

/* Stored keys that go round the end of all numbers make no node. */
static void
test_corrupt_wrap(void)
{
	const FPTGeom *g = empty_page(&l8, ENC(8, NEAR + 1));
	uint64		step = UINT64CONST(1) << 40;
	uint64		first = ~UINT64CONST(0) - (g->cap + 1) * step;
	FPTEntry	x = entry(0, first + 5 * step + 1);
	FPTPage		pg;
	char	   *keys;

	make_entries(g->cap, first, step);
	CHECK(fpt_page_fill(&l8, page, e, g->cap, 100) == FPT_OK && sound(&l8));
	pg = open_page(&l8);
	CHECK(fpt_header(page)->nkids == 1);
	fpt_sep_set(pg, 0, 0, first);
	keys = fpt_kid_node(pg, 0) + g->key_off;
	for (int slot = g->cap - 3; slot < g->cap; slot++)
		keys[slot * g->sw + g->sw - 1] = (char) 0xFF;
	CHECK(fpt_page_check(&l8, page, 5, NULL) != NULL);
	CHECK(fpt_page_make_room(&l8, page, &x, &kt_work) != FPT_OK ||
		  fpt_page_check(&l8, page, 5, NULL) != NULL);
}

void
test_near(void)
{
	page = aligned_alloc(64, BLCKSZ);
	kt_layout(&l8, 8, false, false);
	kt_layout(&l16, 16, false, false);
	kt_layout(&l8nf, 8, true, false);
	kt_run("near: chosen", test_chosen);
	kt_run("near: wide keys", test_wide);
	kt_run("near: beyond a node", test_beyond);
	kt_run("near: separators move", test_set_sep);
	kt_run("near: NULLs", test_nulls);
	kt_run("near: damaged", test_corrupt_base);
	kt_run("near: beyond all numbers", test_corrupt_wrap);
	free(page);
}
