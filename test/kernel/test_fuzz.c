/*-------------------------------------------------------------------------
 *
 * test_fuzz.c
 *	  Pages with mutated bytes: every function must come back, without leaving
 *	  the page, and fpt_page_check() must tell or the page must be usable.
 *
 * With KT_LIBFUZZER defined this file is a fuzz target instead: the first eight
 * bytes of the input seed a valid page, the others are changes to it.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

static char *copy;				/* what modifying functions work on */
static FPTEntry *entries;		/* FPT_MAX_ENTRIES, of their own for ASan */
static uint64 *numbers;
static uint16 *slotids;
static char *tups;
static uint16 *tupends;

static void
setup(void)
{
	copy = aligned_alloc(64, BLCKSZ);
	entries = malloc(sizeof(FPTEntry) * FPT_MAX_ENTRIES);
	numbers = malloc(sizeof(uint64) * FPT_MAX_ENTRIES);
	slotids = malloc(sizeof(uint16) * FPT_MAX_ENTRIES);
	tups = malloc(BLCKSZ);
	tupends = malloc(sizeof(uint16) * FPT_MAX_ENTRIES);
}

/* --- calling everything ------------------------------------------------- */

static FPTLoc
any_loc(void)
{
	FPTLoc		loc;

	loc.kid = (int) kt_below(kt_chance(80) ? 12 : 260) - 1;
	loc.rank = (int) kt_below(kt_chance(80) ? 12 : 70) - 1;
	return loc;
}

static void
call_readers(KTWorld *w)
{
	FPTGuess	guess = {0};
	const FPTLayout *l = &w->l;
	FPTRun		run = {numbers, numbers, numbers, slotids};
	FPTKeyBuf	fence;
	FPTKey		k = kt_random_key(w);
	FPTKey		hi = kt_random_key(w);
	FPTLoc		loc = any_loc();
	FPTLoc		last;
	FPTEntry	e;
	uint32		child;
	int			steps;

	if (w->general)
	{
		run.tups = tups;
		run.tupends = tupends;
	}
	k.hi = hi.hi = w->general ? 0 : k.hi;
	fence.key = fpt_page_low(l, w->page);
	fpt_key_copy(&fence, &fence.key);
	fence.key = fpt_page_high(l, w->page);
	fpt_key_copy(&fence, &fence.key);
	CHECK(fpt_page_count(l, w->page) <= FPT_MAX_ENTRIES);
	CHECK(fpt_page_extract(l, w->page, entries, FPT_MAX_ENTRIES) <=
		  FPT_MAX_ENTRIES);
	CHECK(fpt_page_extract(l, w->page, entries, 3) <= 3);
	fpt_node_count(l, w->page, loc.kid);
	fpt_page_get(l, w->page, loc, &e);
	fpt_page_copy(l, w->page, loc, any_loc(), kt_chance(50), &run);
	if (fpt_page_find_child(l, w->page, &k, &child, &loc) == FPT_OK)
		CHECK(fpt_page_fraction(l, w->page, loc, &k) < 65536);
	fpt_guess_prefetch(&guess, w->page, (uint32) kt_below(65536));
	fpt_guess_learn(&guess, l, w->page, any_loc().kid);
	CHECK(guess.node_off + guess.nkids * guess.step <= FPT_SPECIAL_OFFSET);
	if (fpt_page_lower_bound(l, w->page, &k, &loc) == FPT_OK)
	{
		fpt_page_copy(l, w->page, loc, any_loc(), kt_chance(50), &run);
		for (steps = 0; fpt_page_step(l, w->page, &loc, 1); steps++)
			CHECK(steps <= FPT_MAX_ENTRIES);
		for (steps = 0; fpt_page_step(l, w->page, &loc, -1); steps++)
			CHECK(steps <= FPT_MAX_ENTRIES);
	}
	fpt_page_range(l, w->page, &k, &hi, &loc, &last);
	loc = any_loc();
	fpt_page_step(l, w->page, &loc, kt_chance(50) ? 1 : -1);
	fpt_page_has_hints(l, w->page);
	fpt_page_slot_is(l, w->page, (int) kt_below(20000) - 10, kt_random());
	fpt_page_hint_get(l, w->page, (int) kt_below(20000) - 10);
}

static void
call_writers(KTWorld *w)
{
	const FPTLayout *l = &w->l;
	FPTEntry	e = kt_random_entry(w);
	FPTEdit		edit = {0};
	int			n = (int) kt_below(2000);
	bool		dead[FPT_MAX_CAP];

	for (int i = 0; i < FPT_MAX_CAP; i++)
		dead[i] = kt_chance(50);
	if (kt_chance(10))
		e.key = kt_random_key(w);
	memcpy(copy, w->page, BLCKSZ);
	fpt_page_insert_probe(l, copy, &e);
	fpt_page_insert(l, copy, &e, &edit);
	for (int i = 0; i < edit.n; i++)
		CHECK(edit.r[i].off + edit.r[i].len <= BLCKSZ);
	fpt_page_make_room(l, copy, &e);
	edit.n = 0;
	fpt_page_insert(l, copy, &e, &edit);
	fpt_page_set_down(l, copy, any_loc(), 77);
	fpt_page_hint_set(l, copy, (int) kt_below(20000) - 10);
	fpt_page_delete(l, copy, any_loc());
	fpt_page_delete_slots(l, copy, (int) kt_below(30) - 1, kt_random());
	fpt_node_delete(l, copy, (int) kt_below(30) - 1, dead);
	fpt_page_trim(l, copy);
	fpt_page_set_low(l, copy, &e.key);
	fpt_page_set_high(l, copy, &e.key);

	memcpy(copy, w->page, BLCKSZ);
	fpt_page_make_room(l, copy, &e);
	fpt_page_trim(l, copy);
	memcpy(copy, w->page, BLCKSZ);
	fpt_page_truncate(l, copy, kt_chance(50) ? n % 40 : n);
	fpt_page_trim(l, copy);
}

void
kt_call_everything(KTWorld *w)
{
	call_readers(w);
	call_writers(w);
}

/* --- mutating ----------------------------------------------------------- */

static void
mutate(KTWorld *w)
{
	const FPTGeom *g = kt_geom(w);
	uint8	   *p = (uint8 *) w->page;
	int			n = 1 + (int) kt_below(8);
	int			kind = (int) kt_below(7);

	for (int i = 0; i < n; i++)
	{
		int			node = g->node_off +
			(int) kt_below(g->maxnodes) * g->x * FPT_LINE;
		int			off;

		switch (kind)
		{
			case 0:
				off = sizeof(FPTPageStd) + (int) kt_below(FPT_LINE - 24);
				break;
			case 1:
				off = FPT_LINE + (int) kt_below(g->w * FPT_LINE);
				break;
			case 2:
				off = g->kids_off + (int) kt_below(g->maxnodes);
				break;
			case 3:
				off = node + (int) kt_below(sizeof(FPTNode));
				break;
			case 4:
				off = node + g->perm_off + (int) kt_below(g->cap);
				break;
			case 5:
				off = FPT_SPECIAL_OFFSET + (int) kt_below(FPT_LINE);
				break;
			default:
				off = (int) kt_below(BLCKSZ);
				break;
		}
		p[off] = kt_chance(50) ? (uint8) kt_below(16) : (uint8) kt_random();
	}
	if (kt_chance(5))
	{
		int			line = (int) kt_below(FPT_PAGE_LINES);

		for (int i = 0; i < FPT_LINE; i++)
			p[line * FPT_LINE + i] = (uint8) kt_random();
	}
}

/* Make the header plausible again, so that what is behind it is reached. */
static void
repair_header(KTWorld *w)
{
	FPTPageHeader *h = fpt_header(w->page);
	FPTPageSpecial *s = fpt_special(w->page);
	int			nnodes = h->nnodes;
	int			nkids = h->nkids;
	int			nnull = h->nnull;
	const FPTGeom *g;

	h->std.pd_special = FPT_SPECIAL_OFFSET;
	if (!w->general || h->std.pd_upper > FPT_SPECIAL_OFFSET)
		h->std.pd_upper = FPT_SPECIAL_OFFSET;
	s->pageid = FPT_PAGE_ID;
	s->version = FPT_VERSION;
	s->pageno = w->pageno;
	s->indexid = w->l.indexid;
	h->flags &= FPT_F_INCOMPLETE;
	h->level %= FPT_MAX_LEVEL + 1;
	h->nnodes = h->nkids = h->nnull = 0;
	g = kt_geom(w);
	if (g == NULL)
	{
		h->enc = 1;
		g = kt_geom(w);
	}
	h->nnodes = Min(nnodes, g->maxnodes);
	h->nkids = Min(nkids, h->nnodes);
	h->nnull = Min(nnull, h->nkids);
	while (w->general && h->nnodes > 0 && fpt_heap_room(g, w->page) < 0)
		h->nnodes--;
	h->nkids = Min(nkids, h->nnodes);
	h->nnull = Min(nnull, h->nkids);
	h->std.pd_lower = fpt_lower(g, h->nnodes);
	if (w->general && kt_chance(80))
	{
		uint32		len;

		if (fpt_tuple_at(w->page, h->high.hi & 0xFFFF, &len) == NULL)
			h->high.hi = 0;
		if (fpt_tuple_at(w->page, s->low.hi & 0xFFFF, &len) == NULL)
			s->low.hi = 0;
	}
}

/* A page that passes the check must behave. */
static void
use_sound_page(KTWorld *w)
{
	FPTPageHeader *h = fpt_header(w->page);
	FPTEntry	e;
	FPTKeyBuf	own;
	FPTEdit		edit = {0};
	FPTResult	res;

	w->level = h->level;
	w->low = fpt_page_low(&w->l, w->page);
	w->high = fpt_page_high(&w->l, w->page);
	w->n = fpt_page_extract(&w->l, w->page, entries, FPT_MAX_ENTRIES);
	CHECK(w->n >= 0);
	for (int i = 0; i < w->n; i++)
	{
		w->m[i].e = entries[i];
		w->m[i].dead = true;
	}
	for (int i = 0; i < w->n; i++)
	{
		FPTLoc		loc;

		CHECK(fpt_page_lower_bound(&w->l, w->page, &entries[i].key,
								   &loc) == FPT_OK);
		CHECK(kt_loc_index(w, loc) == i ||
			  (w->general && w->level > 0 && i == 0));
	}
	if ((h->flags & FPT_F_DELETED) != 0 || w->n == 0)
		return;
	kt_verify(w, false);
	e = kt_random_entry(w);
	fpt_key_copy(&own, &e.key);	/* its tuple may be in the page */
	e.key = own.key;
	if (fpt_key_cmp(&w->l, &e.key, &w->low) < 0 ||
		fpt_key_cmp(&w->l, &e.key, &w->high) >= 0 ||
		(w->level == 0 && (e.key.tid & 0xFFFF) == 0))
		return;
	if (w->level > 0 && e.down < 2)
		e.down = 2;
	if (w->level == 0)
		e.down = 0;
	res = fpt_page_insert(&w->l, w->page, &e, &edit);
	if (res == FPT_FULL && fpt_page_make_room(&w->l, w->page, &e) == FPT_OK)
	{
		res = fpt_page_insert(&w->l, w->page, &e, &edit);
		CHECK(res == FPT_OK);
	}
	if (res == FPT_OK)
		CHECK(fpt_page_check(&w->l, w->page, w->pageno) == NULL);
}

static void
try_page(KTWorld *w)
{
	const char *msg = fpt_page_check(&w->l, w->page, w->pageno);

	CHECK(msg != NULL || fpt_page_sane(&w->l, w->page, w->pageno));
	kt_call_everything(w);
	if (msg == NULL)
		use_sound_page(w);
}

#ifndef KT_LIBFUZZER

void
test_fuzz(long rounds, uint64 seed)
{
	KTWorld    *w = kt_world_new();
	char	   *good = aligned_alloc(64, BLCKSZ);

	setup();
	for (long round = 0; round < rounds && kt_failures < 20; round++)
	{
		long		failed = kt_failures;

		if (round % 20 == 0)
		{
			kt_seed(seed + (uint64) round);
			kt_world_init(w);
			kt_world_fill(w, (int) kt_below(101));
			memcpy(good, w->page, BLCKSZ);
		}
		w->low = kt_key(FPT_CLS_MINF, 0, 0, 0);
		w->high = kt_key(FPT_CLS_PINF, 0, 0, 0);
		memcpy(w->page, good, BLCKSZ);
		w->level = fpt_header(good)->level;
		mutate(w);
		if (kt_chance(80))
			repair_header(w);
		try_page(w);
		if (round % 1000 == 0 || kt_failures != failed)
			kt_count_test(kt_failures == failed);
		if (kt_failures != failed)
			printf("failed: mutation %ld of -s %llu\n", round % 20,
				   (unsigned long long) (seed + (uint64) (round - round % 20)));
	}
	kt_world_free(w);
	free(good);
	free(copy);
	free(entries);
	free(numbers);
	free(slotids);
	free(tups);
	free(tupends);
}

#else							/* KT_LIBFUZZER */

void
kt_fail(const char *expr, const char *file, int line)
{
	fprintf(stderr, "%s:%d: failed: %s\n", file, line, expr);
	abort();
}

extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	static KTWorld *w;
	uint64		seed;

	if (w == NULL)
	{
		w = kt_world_new();
		setup();
		fpt_simd_select("auto");
	}
	if (size < 9)
		return 0;
	memcpy(&seed, data, 8);
	kt_seed(seed % 1000);
	kt_world_init(w);
	kt_world_fill(w, (int) ((seed >> 32) % 101));
	for (size_t i = 9; i + 3 <= size; i += 3)
	{
		int			off = (data[i] | data[i + 1] << 8) % BLCKSZ;

		w->page[off] = (char) data[i + 2];
	}
	if (data[8] & 1)
		repair_header(w);
	try_page(w);
	return 0;
}

#endif							/* KT_LIBFUZZER */
