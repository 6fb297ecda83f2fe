/*-------------------------------------------------------------------------
 *
 * test_fuzz.c
 *	  Damaged pages: every function must come back, without leaving the page,
 *	  and fpt_page_check() must tell or the page must be usable.
 *
 * Damage is: bits and bytes; zeroes; what is left of a page whose end was never
 * written; sectors of an earlier version of the page; lines, nodes or all of
 * another page of the index; a page of another index.
 *
 * With KT_LIBFUZZER defined this file is a fuzz target instead: the first byte
 * of the input chooses the page, the next two what is tried with it, the others
 * are changes to the page.  KT_REPLAY adds a main program that runs the inputs in
 * the files it is given, and stops at the first that fails.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"
#include "page/join.h"

static char *copy;				/* what modifying functions work on */
static FPTEntry *entries;		/* FPT_MAX_ENTRIES, of their own for ASan */
static uint64 *numbers;
static uint16 *slotids;
static uint16 *tupoffs;
static uint16 *tuplens;

/* Sound pages that damage is made of. */
static KTWorld *friend;			/* the world of the next two */
static char *good;				/* the page itself */
static char *past;				/* an earlier version of it */
static char *near;				/* another page of the index */
static char *far;				/* a page of another index */

static void
setup(void)
{
	copy = aligned_alloc(64, BLCKSZ);
	entries = malloc(sizeof(FPTEntry) * FPT_MAX_ENTRIES);
	numbers = malloc(sizeof(uint64) * FPT_MAX_ENTRIES);
	slotids = malloc(sizeof(uint16) * FPT_MAX_ENTRIES);
	tupoffs = malloc(sizeof(uint16) * FPT_MAX_ENTRIES);
	tuplens = malloc(sizeof(uint16) * FPT_MAX_ENTRIES);
	friend = kt_world_new();
}

static void
alloc_pages(void)
{
	good = aligned_alloc(64, BLCKSZ);
	past = aligned_alloc(64, BLCKSZ);
	near = aligned_alloc(64, BLCKSZ);
	far = aligned_alloc(64, BLCKSZ);
}

/* --- sound pages --------------------------------------------------------- */

/* Some insertions, deletions and hints, as they come. */
static void
grow_older(KTWorld *w)
{
	FPTEdit		edit;
	int			n = 1 + (int) kt_below(60);

	for (int i = 0; i < n; i++)
	{
		FPTEntry	e = kt_random_entry(w);
		FPTLoc		loc = {0};

		edit.n = 0;
		loc.kid = (int) kt_below(fpt_header(w->page)->nkids + 1);
		if (kt_chance(10))
			fpt_page_hint_set(&w->l, w->page, (int) kt_below(300));
		else if (kt_chance(60) || (w->level > 0 && loc.kid == 0))
			fpt_page_insert(&w->l, w->page, &e, &edit);
		else
			fpt_page_delete(&w->l, w->page, loc);
	}
}

/* Make a world's page and its relatives. */
static void
make_pages(KTWorld *w, int pct)
{
	kt_world_init(friend);
	kt_world_fill(friend, (int) kt_below(101));
	memcpy(far, friend->page, BLCKSZ);
	kt_world_init(w);
	kt_world_fill(w, pct);
	memcpy(past, w->page, BLCKSZ);
	grow_older(w);
	memcpy(good, w->page, BLCKSZ);
	friend->l = w->l;
	friend->general = w->general;
	kt_world_init_page(friend);
	kt_world_fill(friend, (int) kt_below(101));
	memcpy(near, friend->page, BLCKSZ);
}

/* --- calling everything ------------------------------------------------- */

static FPTLoc
any_loc(void)
{
	FPTLoc		loc;

	loc.kid = (int) kt_below(kt_chance(80) ? 12 : 260) - 1;
	loc.rank = (int) kt_below(kt_chance(80) ? 12 : 70) - 1;
	loc.below = 0;
	return loc;
}

/*
 * Whatever a page of fixed-width keys holds, ranges that ascend have places that
 * ascend.  Scans rely on it for the size of a batch, and test it themselves for
 * general keys, of which damage can make that ranges overlap.
 */
#define NRANGES		8

static void
call_ranges(KTWorld *w)
{
	FPTKey		k[NRANGES];
	FPTLoc		done = {0, 0};
	FPTLoc		first;
	FPTLoc		last;
	int			n = 0;

	for (int i = 0; i < NRANGES; i++)
	{
		FPTKey		x = kt_random_key(w);
		int			j;

		if (x.cls == FPT_CLS_MINF || x.cls == FPT_CLS_PINF)
			continue;
		x.tid = 0;
		for (j = n; j > 0 && fpt_key_cmp(&w->l, &k[j - 1], &x) > 0; j--)
			k[j] = k[j - 1];
		k[j] = x;
		n++;
	}
	for (int i = 0; i < n; i++)
	{
		FPTKey		lo = k[i];
		FPTKey		hi;

		/* up to the next key, or this key alone */
		if (i + 1 < n && k[i + 1].cls == lo.cls && kt_chance(50))
			i++;
		while (i + 1 < n && fpt_key_cmp(&w->l, &k[i], &k[i + 1]) == 0)
			i++;
		hi = k[i];
		hi.tid = FPT_MAX_TID;
		if (fpt_page_range(&w->l, w->page, &lo, &hi, &first, &last) != FPT_OK ||
			first.kid > last.kid ||
			(first.kid == last.kid && first.rank >= last.rank))
			continue;
		CHECK(w->general || first.kid > done.kid ||
			  (first.kid == done.kid && first.rank >= done.rank));
		done = last;
	}
}

static void
call_readers(KTWorld *w)
{
	FPTGuess	guess = {0};
	const FPTLayout *l = &w->l;
	FPTRun		run = {.tids = numbers, .los = numbers, .his = numbers,
	.slotids = slotids};
	FPTKeyBuf	fence;
	FPTKey		k = kt_random_key(w);
	FPTKey		hi = kt_random_key(w);
	FPTLoc		loc = any_loc();
	FPTLoc		last;
	FPTEntry	e;
	uint64		gone[FPT_MAX_NODES];
	uint32		child;
	int			steps;
	int			n;

	if (w->general)
	{
		run.tupoffs = tupoffs;
		run.tuplens = tuplens;
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
	n = fpt_page_copy(l, w->page, loc, any_loc(), kt_chance(50), &run);
	for (int i = 0; w->general && i < n; i++)
		CHECK(tupoffs[i] + tuplens[i] <= FPT_SPECIAL_OFFSET);
	run.tupbytes = 0;
	if (fpt_page_find_child(l, w->page, &k, &child, &loc) == FPT_OK)
		CHECK(fpt_page_fraction(l, w->page, loc, &k) < 65536);
	n = fpt_page_copy_image(l, w->page, &k, kt_chance(50), &run, &steps);
	CHECK(n >= FPT_NO_IMAGE && n <= FPT_MAX_CAP);
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
	n = fpt_page_tids(l, w->page, numbers, slotids);
	CHECK(n <= FPT_MAX_ENTRIES);
	if (n >= 0)
		CHECK(fpt_page_marked(l, w->page, numbers, 3, n, gone) <= n);
	fpt_page_range(l, w->page, &k, &hi, &loc, &last);
	loc = any_loc();
	fpt_page_step(l, w->page, &loc, kt_chance(50) ? 1 : -1);
	fpt_page_has_hints(l, w->page);
	fpt_page_slot_is(l, w->page, (int) kt_below(20000) - 10, kt_random());
	fpt_page_hint_get(l, w->page, (int) kt_below(20000) - 10);
	fpt_page_hints(l, w->page, gone);
}

static void
call_writers(KTWorld *w)
{
	const FPTLayout *l = &w->l;
	FPTEntry	e = kt_random_entry(w);
	FPTEdit		edit = {0};
	uint64		gone[FPT_MAX_NODES];
	static FPTChanges changed;
	static FPTKeyBuf fence;
	static FPTJoinWork joins;
	int			n = (int) kt_below(2000);
	int			had;

	if (kt_chance(10))
		e.key = kt_random_key(w);
	fpt_page_repeats(l, w->page, &kt_work, &had);
	CHECK(had >= -1 && had <= FPT_MAX_ENTRIES);
	memcpy(copy, w->page, BLCKSZ);
	kt_insert_probe(l, copy, &e);
	fpt_page_insert(l, copy, &e, &edit);
	for (int i = 0; i < edit.n; i++)
		CHECK(edit.r[i].off + edit.r[i].len <= BLCKSZ);
	fpt_page_make_room(l, copy, &e, &kt_work);
	edit.n = 0;
	fpt_page_insert(l, copy, &e, &edit);
	fpt_page_set_down(l, copy, any_loc(), 77);
	fpt_page_hint_set(l, copy, (int) kt_below(20000) - 10);
	fpt_page_delete(l, copy, any_loc());
	for (int i = 0; i < FPT_MAX_NODES; i++)
		gone[i] = kt_random() & kt_random();
	fpt_page_take(l, copy, gone, &changed);
	CHECK(changed.n <= FPT_MAX_ENTRIES);
	for (int i = 0; i < changed.n; i++)
		CHECK(changed.r[i].off + changed.r[i].len <= FPT_SPECIAL_OFFSET);
	fpt_page_trim(l, copy);
	if (fpt_key_whole(l, &e.key, &fence))
	{
		fpt_page_set_low(l, copy, &fence.key, &kt_work);
		fpt_page_set_high(l, copy, &fence.key, &kt_work);
	}

	memcpy(copy, w->page, BLCKSZ);
	fpt_page_make_room(l, copy, &e, &kt_work);
	fpt_page_trim(l, copy);
	memcpy(copy, w->page, BLCKSZ);
	fpt_page_find_room(l, copy, &e, &kt_work);
	memcpy(copy, w->page, BLCKSZ);
	fpt_page_truncate(l, copy, kt_chance(50) ? n % 40 : n);
	if (w->level == 0)
		fpt_page_join(l, copy, w->page, 1000, 1 << 16, &joins);
	fpt_page_trim(l, copy);
}

void
kt_call_everything(KTWorld *w)
{
	call_readers(w);
	call_ranges(w);
	call_writers(w);
}

/* --- damage --------------------------------------------------------------- */

#ifndef KT_LIBFUZZER

#define SECTOR			512		/* what a disk writes at once, at least */

/* Bytes: of the header, of the in-page root, of a node, of anything. */
static int
any_offset(KTWorld *w, int kind)
{
	const FPTGeom *g = fpt_page_geom(&w->l, good);
	int			node = g->node_off + (int) kt_below(g->maxnodes) * g->x * FPT_LINE;

	switch (kind)
	{
		case 0:
			return sizeof(FPTPageStd) + (int) kt_below(FPT_LINE - 24);
		case 1:
			return FPT_LINE + (int) kt_below(g->w * FPT_LINE);
		case 2:
			return g->kids_off + (int) kt_below(g->maxnodes);
		case 3:
			return node + (int) kt_below(sizeof(FPTNode));
		case 4:
			/* what TIDs are relative to, and far ones */
			if (fpt_has_far(g) && kt_chance(50))
				return node + g->far_off +
					(int) kt_below((1 + g->nfar) * FPT_FAR_BYTES);
			return node + (g->perm ? g->perm_off + (int) kt_below(g->cap) :
						   g->tid_off + (int) kt_below(g->cap) * g->pw +
						   (int) kt_below(g->tw));
		case 5:
			return FPT_SPECIAL_OFFSET + (int) kt_below(FPT_LINE);
		default:
			return (int) kt_below(BLCKSZ);
	}
}

static void
damage_bytes(KTWorld *w)
{
	uint8	   *p = (uint8 *) w->page;
	int			n = 1 + (int) kt_below(8);
	int			kind = (int) kt_below(7);

	for (int i = 0; i < n; i++)
	{
		int			off = any_offset(w, kind);

		p[off] = kt_chance(50) ? (uint8) kt_below(16) : (uint8) kt_random();
	}
	if (kt_chance(5))
	{
		int			line = (int) kt_below(FPT_PAGE_LINES);

		for (int i = 0; i < FPT_LINE; i++)
			p[line * FPT_LINE + i] = (uint8) kt_random();
	}
}

static void
damage_bits(KTWorld *w)
{
	int			n = kt_chance(70) ? 1 : 2 + (int) kt_below(4);

	for (int i = 0; i < n; i++)
		w->page[any_offset(w, (int) kt_below(7))] ^= (char) (1 << kt_below(8));
}

static void
damage_zeroes(KTWorld *w)
{
	int			unit = kt_chance(50) ? FPT_LINE : SECTOR;
	int			first = (int) kt_below(BLCKSZ / unit);
	int			n = 1 + (int) kt_below(kt_chance(70) ? 2 : BLCKSZ / unit);

	if (kt_chance(5))
		first = 0, n = BLCKSZ / unit;
	memset(w->page + first * unit, 0, Min(n * unit, BLCKSZ - first * unit));
}

/* The file was cut here, and extended again. */
static void
damage_end(KTWorld *w)
{
	int			from = (int) kt_below(BLCKSZ / SECTOR) * SECTOR;

	memset(w->page + from, 0, BLCKSZ - from);
}

/* Some sectors of the last write did not reach the disk, or all of it. */
static void
damage_past(KTWorld *w)
{
	bool		all = kt_chance(10);

	for (int i = 0; i < BLCKSZ / SECTOR; i++)
	{
		if (all || kt_chance(50))
			memcpy(w->page + i * SECTOR, past + i * SECTOR, SECTOR);
	}
}

/* Exchange two lines, or two nodes. */
static void
damage_swap(KTWorld *w)
{
	const FPTGeom *g = fpt_page_geom(&w->l, good);
	int			a = (int) kt_below(FPT_PAGE_LINES) * FPT_LINE;
	int			b = (int) kt_below(FPT_PAGE_LINES) * FPT_LINE;
	int			len = FPT_LINE;

	if (kt_chance(50))
	{
		len = g->x * FPT_LINE;
		a = g->node_off + (int) kt_below(g->maxnodes) * len;
		b = g->node_off + (int) kt_below(g->maxnodes) * len;
	}
	memcpy(copy, w->page + a, len);
	memmove(w->page + a, w->page + b, len);
	memcpy(w->page + b, copy, len);
}

/* A page, or some lines of it, that were to be written elsewhere. */
static void
damage_near(KTWorld *w)
{
	int			n = 1 + (int) kt_below(12);

	if (kt_chance(20))
		memcpy(w->page, near, BLCKSZ);
	for (int i = 0; i < n; i++)
	{
		int			line = (int) kt_below(FPT_PAGE_LINES) * FPT_LINE;

		memcpy(w->page + line, near + line, FPT_LINE);
	}
}

static void
damage_far(KTWorld *w)
{
	int			from = 0;

	/* with or without the special line, which identifies a page */
	if (kt_chance(30))
		from = FPT_LINE * (int) kt_below(FPT_BODY_LINES);
	memcpy(w->page + from, far + from,
		   (kt_chance(50) ? BLCKSZ : FPT_SPECIAL_OFFSET) - from);
}

/* Kinds of damage, how many of a hundred pages get them first. */
static struct
{
	const char *name;
	int			share;
	void		(*fn) (KTWorld *w);
	long		n;
}			kinds[] = {
	{"bytes", 40, damage_bytes, 0},
	{"bits", 20, damage_bits, 0},
	{"zeroed", 6, damage_zeroes, 0},
	{"cut off", 4, damage_end, 0},
	{"earlier versions", 12, damage_past, 0},
	{"swapped parts", 6, damage_swap, 0},
	{"other pages", 7, damage_near, 0},
	{"other indexes", 5, damage_far, 0},
};

static void
damage(KTWorld *w)
{
	do
	{
		int			pick = (int) kt_below(100);
		int			i = 0;

		for (; pick >= kinds[i].share; i++)
			pick -= kinds[i].share;
		kinds[i].fn(w);
		kinds[i].n++;
	} while (kt_chance(15));
}

#endif							/* !KT_LIBFUZZER */

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
	s->tidbase = Min(s->tidbase, FPT_MAX_TIDBASE);
	if (fpt_is_lent(&w->l, w->page))
		s->bits = 1 + s->bits % FPT_LENT_MAX;
	else
		s->bits %= fpt_is_fixed(&w->l, w->page) ? FPT_FIXED_MAX + 1 : 1;
	h->flags &= FPT_F_INCOMPLETE;
	h->level %= FPT_MAX_LEVEL + 1;
	h->nnodes = h->nkids = h->nnull = 0;
	g = kt_geom(w);
	if (g == NULL)
	{
		h->enc = 1;
		g = kt_geom(w);
	}
	if (!fpt_rowbits_sound((FPTPage) {&w->l, g, w->page}))
		s->rowbits = g->tw == 6 ? 0 : g->tw == 4 ? FPT_MAX_ROWBITS :
			Max(1 + s->rowbits % FPT_MAX_ROWBITS,
				fpt_lent_bits(&w->l, w->page));
	h->nnodes = Min(nnodes, g->maxnodes);
	h->nkids = Min(nkids, h->nnodes);
	h->nnull = Min(nnull, h->nkids);
	while (w->general && h->nnodes > 0 &&
		   fpt_tuple_room((FPTPage) {&w->l, g, w->page}) < 0)
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

	/* a second separator without a TID is not found out */
	if (w->level > 0 && e.key.tid == 0)
		e.key.tid = 1;
	if (w->level == 0)
		e.down = 0;
	res = fpt_page_insert(&w->l, w->page, &e, &edit);
	if (res == FPT_FULL &&
		fpt_page_make_room(&w->l, w->page, &e, &kt_work) == FPT_OK)
	{
		res = fpt_page_insert(&w->l, w->page, &e, &edit);
		CHECK(res == FPT_OK);
	}
	if (res == FPT_OK)
	{
		const char *msg = fpt_page_check(&w->l, w->page, w->pageno, NULL);

		if (msg != NULL)
			kt_fail(msg, __FILE__, __LINE__);
	}
}

/* True if the check calls the page sound. */
static bool
try_page(KTWorld *w)
{
	const char *msg = fpt_page_check(&w->l, w->page, w->pageno, NULL);

	CHECK(msg != NULL || fpt_page_sane(&w->l, w->page, w->pageno));
	kt_call_everything(w);
	if (msg == NULL)
		use_sound_page(w);
	return msg == NULL;
}

#ifndef KT_LIBFUZZER

void
test_fuzz(long rounds, uint64 seed)
{
	KTWorld    *w = kt_world_new();
	long		sound = 0;

	setup();
	alloc_pages();
	for (long round = 0; round < rounds && kt_failures < 20; round++)
	{
		long		failed = kt_failures;

		if (round % 20 == 0)
		{
			kt_seed(seed + (uint64) round);
			make_pages(w, (int) kt_below(101));
		}
		w->low = kt_key(FPT_CLS_MINF, 0, 0, 0);
		w->high = kt_key(FPT_CLS_PINF, 0, 0, 0);
		memcpy(w->page, good, BLCKSZ);
		w->level = fpt_header(good)->level;
		damage(w);
		if (kt_chance(80))
			repair_header(w);
		sound += try_page(w);
		if (round % 1000 == 0 || kt_failures != failed)
			kt_count_test(kt_failures == failed);
		if (kt_failures != failed)
			printf("failed: mutation %ld of -s %llu\n", round % 20,
				   (unsigned long long) (seed + (uint64) (round - round % 20)));
	}
	printf("damaged pages:");
	for (int i = 0; i < (int) (sizeof(kinds) / sizeof(kinds[0])); i++)
		printf(" %s %ld,", kinds[i].name, kinds[i].n);
	printf(" sound all the same %ld\n", sound);
	kt_world_free(w);
	kt_world_free(friend);
	free(copy);
	free(entries);
	free(numbers);
	free(slotids);
	free(tupoffs);
	free(tuplens);
	free(good);
	free(past);
	free(near);
	free(far);
}

#else							/* KT_LIBFUZZER */

void
kt_fail(const char *expr, const char *file, int line)
{
	fprintf(stderr, "%s:%d: failed: %s\n", file, line, expr);
	abort();
}

/*
 * Changes of four bytes: what, where (two bytes, or two lines), and a value.
 */
static void
change(KTWorld *w, const uint8 *c)
{
	char	   *p = w->page;
	int			off = (c[1] | c[2] << 8) % BLCKSZ;
	int			line = c[1] % FPT_PAGE_LINES * FPT_LINE;
	int			line2 = c[2] % FPT_PAGE_LINES * FPT_LINE;

	switch (c[0] % 8)
	{
		case 0:
			p[off] = (char) c[3];
			break;
		case 1:
			p[off] ^= (char) (1 << c[3] % 8);
			break;
		case 2:					/* the last bytes, where the page's number is */
			p[BLCKSZ - 1 - off % FPT_LINE] = (char) c[3];
			break;
		case 3:
			memset(p + line, c[3], FPT_LINE);
			break;
		case 4:
			memcpy(p + line, past + line, FPT_LINE * (1 + c[3] %
													  ((BLCKSZ - line) / FPT_LINE)));
			break;
		case 5:
			memcpy(p + line, near + line, FPT_LINE * (1 + c[3] %
													  ((BLCKSZ - line) / FPT_LINE)));
			break;
		case 6:
			memcpy(p + line, far + line, FPT_LINE * (1 + c[3] %
													 ((BLCKSZ - line) / FPT_LINE)));
			break;
		default:
			memmove(p + line, p + line2, FPT_LINE);
			break;
	}
}

/* Sound pages to start from; they are made when they are wanted first. */
#define NSTARTS		64

typedef struct Start
{
	KTWorld    *w;
	char	   *good;
	char	   *past;
	char	   *near;
	char	   *far;
} Start;

static KTWorld *
start_with(int i)
{
	static Start starts[NSTARTS];
	Start	   *s = &starts[i];
	KTWorld    *w = s->w;

	if (copy == NULL)
	{
		setup();
		fpt_simd_select("auto");
	}
	if (w == NULL)
	{
		w = s->w = kt_world_new();
		alloc_pages();
		kt_seed((uint64) i);
		make_pages(w, i * 100 / (NSTARTS - 1));
		s->good = good;
		s->past = past;
		s->near = near;
		s->far = far;
	}
	good = s->good;
	past = s->past;
	near = s->near;
	far = s->far;
	memcpy(w->page, good, BLCKSZ);
	w->level = fpt_header(good)->level;
	w->low = kt_key(FPT_CLS_MINF, 0, 0, 0);
	w->high = kt_key(FPT_CLS_PINF, 0, 0, 0);
	w->n = fpt_page_extract(&w->l, good, entries, FPT_MAX_ENTRIES);
	for (int j = 0; j < w->n; j++)
		w->m[j].e = entries[j];
	return w;
}

extern int	LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	KTWorld    *w;

	if (size < 3)
		return 0;
	w = start_with(data[0] % NSTARTS);
	for (size_t i = 3; i + 4 <= size; i += 4)
		change(w, data + i);
	if (data[1] & 1)
		repair_header(w);

	/* keys to look for and entries to insert */
	kt_seed((uint64) data[1] << 8 | data[2]);
	try_page(w);
	return 0;
}

#ifdef KT_REPLAY
int
main(int argc, char **argv)
{
	static uint8 data[4096];

	for (int i = 1; i < argc; i++)
	{
		FILE	   *f = fopen(argv[i], "rb");
		size_t		size;

		if (f == NULL)
		{
			perror(argv[i]);
			return 1;
		}
		size = fread(data, 1, sizeof(data), f);
		fclose(f);
		fprintf(stderr, "\r%s", argv[i]);
		LLVMFuzzerTestOneInput(data, size);
	}
	fprintf(stderr, "\n");
	printf("%d passed, 0 failed\n", argc - 1);
	return 0;
}
#endif							/* KT_REPLAY */

#endif							/* KT_LIBFUZZER */
