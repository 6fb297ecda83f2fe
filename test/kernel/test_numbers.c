/*-------------------------------------------------------------------------
 *
 * test_numbers.c
 *	  Leaf pages of numbers: images whose keys repeat, changed at random beside
 *	  a sorted array, and damaged pages.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"
#include "page/number.h"

#define PAGENO		5

static FPTLayout layout;
static FPTKey low, high;
static char *page;				/* BLCKSZ bytes of their own */
static FPTEntry model[FPT_MAX_ENTRIES + 1];
static bool dead[FPT_MAX_ENTRIES + 1];
static int	nmodel;

/* Where entries come from. */
static int	nkeys;
static uint32 nblocks;
static uint32 noffs;
static FPTKey keys[FPT_MAX_ENTRIES];
static uint64 next_row;			/* if rows ascend, else 0 */

static FPTPageSpec
spec_of(void)
{
	FPTPageSpec spec = {.pageno = PAGENO, .low = &low, .high = &high,
	.reach = fpt_tids_reach(nblocks), .rowbits = fpt_row_bits(noffs)};

	return spec;
}

static bool
is_number(void)
{
	const FPTGeom *g = fpt_page_geom(&layout, page);

	return g != NULL && fpt_is_number(g);
}

static int
place_of(const FPTKey *k)
{
	int			a = 0;
	int			b = nmodel;

	while (a < b)
	{
		int			m = (a + b) / 2;

		if (fpt_key_cmp(&layout, &model[m].key, k) < 0)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

static FPTEntry
any_entry(void)
{
	FPTEntry	e = {.key = keys[kt_below((uint64) nkeys)]};
	uint64		block = kt_below(nblocks);
	uint64		off = 1 + kt_below(noffs);

	if (next_row > 0 && kt_chance(90))
	{
		next_row++;
		block = next_row / noffs;
		off = 1 + next_row % noffs;
	}
	else if (kt_chance(1))
		block *= 3;
	e.key.tid = block << 16 | off;
	return e;
}

/* Has the model this TID, of any key?  Marks are by TID. */
static bool
has_tid(uint64 tid)
{
	for (int i = 0; i < nmodel; i++)
	{
		if (model[i].key.tid == tid)
			return true;
	}
	return false;
}

/* Put an entry into the model; false: its row is there. */
static bool
model_add(const FPTEntry *e)
{
	int			at = place_of(&e->key);

	if (nmodel == FPT_MAX_ENTRIES || has_tid(e->key.tid))
		return false;
	memmove(model + at + 1, model + at, (nmodel - at) * sizeof(FPTEntry));
	memmove(dead + at + 1, dead + at, nmodel - at);
	model[at] = *e;
	dead[at] = false;
	nmodel++;
	return true;
}

static void
model_remove(int at)
{
	nmodel--;
	memmove(model + at, model + at + 1, (nmodel - at) * sizeof(FPTEntry));
	memmove(dead + at, dead + at + 1, nmodel - at);
}

static void
new_world(void)
{
	static const int sizes[] = {4, 8, 16};
	int			size = sizes[kt_below(3)];

	kt_layout(&layout, size, kt_chance(50), false);
	layout.nonumbers = false;
	low = kt_key(FPT_CLS_MINF, 0, 0, 0);
	high = kt_key(FPT_CLS_PINF, 0, 0, 0);
	nkeys = 1 + (int) kt_below(kt_chance(50) ? 4 : BLCKSZ / 40);
	nblocks = 1 + (uint32) kt_below(kt_chance(20) ? 100000000 : 20000);
	noffs = 1 + (uint32) kt_below(kt_chance(10) ? 300 : 120);
	next_row = kt_chance(30) ? 1 + kt_below(1000) : 0;
	for (int i = 0; i < nkeys; i++)
		keys[i] = kt_key(FPT_CLS_VALUE, size == 16 ? kt_random() : 0,
						 size == 4 ? (uint32) kt_random() :
						 kt_chance(50) ? kt_random() : kt_below(100000), 0);
	nmodel = 0;
}

/* Form the page of what the model has; entries that do not fit go. */
static void
form(void)
{
	FPTPageSpec spec = spec_of();

	while (nmodel > 0 && fpt_page_form(&layout, page, &spec, model, nmodel,
									   (int) kt_below(51) + 50) != FPT_OK)
		nmodel -= (nmodel + 9) / 10;
	memset(dead, 0, sizeof(dead));
	if (nmodel == 0)
		CHECK(fpt_page_form(&layout, page, &spec, model, 0, 90) == FPT_OK);
}

/* A range of the page, copied, with or without dead entries. */
static void
check_range(int a, int b)
{
	static uint64 tids[FPT_MAX_ENTRIES];
	static uint64 los[FPT_MAX_ENTRIES];
	static uint64 his[FPT_MAX_ENTRIES];
	static uint16 slotids[FPT_MAX_ENTRIES];
	FPTRun		run = {.tids = tids, .los = los, .slotids = slotids,
	.his = layout.keysize == 16 ? his : NULL};
	bool		skip = kt_chance(50);
	FPTLoc		first,
				last;
	int			n = 0;
	int			got;

	CHECK(fpt_page_range(&layout, page, &model[a].key, &model[b].key, &first,
						 &last) == FPT_OK);
	got = fpt_page_copy(&layout, page, first, last, skip, &run);
	for (int i = a; i <= b; i++)
	{
		if (skip && dead[i])
			continue;
		CHECK(n < got && tids[n] == model[i].key.tid &&
			  los[n] == model[i].key.lo &&
			  (layout.keysize < 16 || his[n] == model[i].key.hi));
		CHECK(fpt_page_slot_is(&layout, page, slotids[n], tids[n]));
		CHECK(fpt_page_hint_get(&layout, page, slotids[n]) == dead[i]);
		n++;
	}
	CHECK(got == n);
}

static void
check_page(void)
{
	FPTFault	fault;
	const char *what = fpt_page_check(&layout, page, PAGENO, &fault);

	if (what != NULL)
		printf("%s: %s %llu, node %d, entry %d\n", what, fault.field,
			   (unsigned long long) fault.value, fault.kid, fault.rank);
	CHECK(what == NULL);
	CHECK(fpt_page_sane(&layout, page, PAGENO));
	kt_check_all(&layout, page, model, nmodel);
	for (int i = 0; nmodel > 0 && i < 5; i++)
	{
		int			a = (int) kt_below((uint64) nmodel);
		int			b = a + (int) kt_below((uint64) (nmodel - a));

		check_range(a, b);
	}
}

/*
 * All rows of a key, also of one that came after the page was formed, so that
 * heads are not in order; none of a key that is not there.
 */
static void
check_image(FPTKey k)
{
	uint64		tids[FPT_MAX_CAP];
	uint64		los[FPT_MAX_CAP];
	uint16		slotids[FPT_MAX_CAP];
	FPTRun		run = {.tids = tids, .los = los, .slotids = slotids};
	bool		skip = kt_chance(50);
	int			n = 0;
	int			m;
	int			kid;

	m = fpt_page_copy_image(&layout, page, &k, skip, &run, &kid);
	if (m == FPT_NO_IMAGE)
		return;
	for (int i = 0; i < nmodel; i++)
	{
		if (model[i].key.hi != k.hi || model[i].key.lo != k.lo ||
			(skip && dead[i]))
			continue;
		CHECK(n < m && tids[n] == model[i].key.tid && los[n] == k.lo);
		CHECK(fpt_page_slot_is(&layout, page, slotids[n], tids[n]));
		n++;
	}
	CHECK(m == n);
}

/* Keys that are there, or not, with any TID: where their entries would be. */
static void
check_bounds(void)
{
	for (int i = 0; i < 20; i++)
	{
		FPTKey		k = keys[kt_below((uint64) nkeys)];
		FPTLoc		loc;
		int			at = 0;

		if (kt_chance(30))
			k.lo += kt_below(3) - 1;
		if (layout.keysize == 4)
			k.lo &= 0xFFFFFFFF;
		k.tid = kt_chance(30) ? 0 : kt_chance(30) ? FPT_MAX_TID :
			is_number() && kt_chance(10) ? ~UINT64CONST(0) :
			kt_below(2 * (uint64) nblocks) << 16 | kt_below(2 * noffs);
		if (nmodel > 0 && kt_chance(50))
			k = model[kt_below((uint64) nmodel)].key;
		CHECK(fpt_page_lower_bound(&layout, page, &k, &loc) == FPT_OK);
		for (int kid = 0; kid < loc.kid; kid++)
			at += fpt_node_count(&layout, page, kid);
		CHECK(at + loc.rank == place_of(&k));
		check_image(k);
	}
}

/* As the server does: into a slot, with room made, or the page formed anew. */
static void
insert(void)
{
	FPTEntry	e = any_entry();
	FPTEdit		edit = {0};
	FPTResult	res;
	char	   *before = malloc(BLCKSZ);

	memcpy(before, page, BLCKSZ);
	res = fpt_page_insert(&layout, page, &e, &edit);
	if (place_of(&e.key) < nmodel &&
		fpt_key_cmp(&layout, &model[place_of(&e.key)].key, &e.key) == 0)
	{
		CHECK(res == FPT_DUPLICATE);
		free(before);
		return;
	}
	CHECK(res != FPT_DUPLICATE && res != FPT_CORRUPT);
	if (has_tid(e.key.tid))
	{
		memcpy(page, before, BLCKSZ);
		free(before);
		return;
	}
	if (res == FPT_OK && is_number())
	{
		CHECK(edit.n == 1);
		memcpy(before + edit.r[0].off, page + edit.r[0].off, edit.r[0].len);
		CHECK(memcmp(before, page, BLCKSZ) == 0);
	}
	if (res == FPT_FULL)
	{
		res = kt_chance(90) ?
			fpt_page_make_room(&layout, page, &e, &kt_work) :
			fpt_page_find_room(&layout, page, &e, &kt_work);
		if (res == FPT_OK)
			res = fpt_page_insert(&layout, page, &e, &edit);
		CHECK(res == FPT_OK || res == FPT_FULL || res == FPT_UNFIT);

		/* it may have forgotten hints */
		for (int i = 0; i < nmodel; i++)
		{
			FPTLoc		loc;
			FPTLoc		next;
			uint16		slotid;
			FPTRun		run = {.slotids = &slotid};

			if (!dead[i])
				continue;
			CHECK(fpt_page_lower_bound(&layout, page, &model[i].key,
									   &loc) == FPT_OK);
			next = loc;
			(void) fpt_page_step(&layout, page, &next, 1);
			CHECK(fpt_page_copy(&layout, page, loc, next, false, &run) == 1);
			dead[i] = fpt_page_hint_get(&layout, page, slotid);
		}
	}
	if (res == FPT_OK)
		CHECK(model_add(&e));
	else if (model_add(&e))
		form();
	free(before);
}

static void
set_hint(void)
{
	static uint64 tids[FPT_MAX_ENTRIES];
	static uint16 slotids[FPT_MAX_ENTRIES];
	int			i;

	if (nmodel == 0)
		return;
	CHECK(fpt_page_tids(&layout, page, tids, slotids) == nmodel);
	i = (int) kt_below((uint64) nmodel);
	fpt_page_hint_set(&layout, page, slotids[i]);
	for (int j = 0; j < nmodel; j++)
		dead[j] |= model[j].key.tid == tids[i];
}

/* As VACUUM does, by marks. */
static void
remove_some(void)
{
	static uint64 tids[FPT_MAX_ENTRIES];
	static FPTChanges changed;
	uint64		marks[FPT_MAX_ENTRIES / 64 + 2] = {0};
	uint64		gone[FPT_MAX_NODES] = {0};
	char	   *before = malloc(BLCKSZ);
	int			n = fpt_page_tids(&layout, page, tids, NULL);
	int			m = 0;
	int			percent = kt_chance(80) ? 2 : (int) kt_below(101);

	CHECK(n == nmodel);
	for (int i = 0; i < n; i++)
	{
		if (!kt_chance(percent))
			continue;
		marks[(i + 3) / 64] |= UINT64CONST(1) << (i + 3) % 64;
		m++;
		for (int j = 0; j < nmodel; j++)
		{
			if (model[j].key.tid == tids[i])
			{
				model_remove(j);
				break;
			}
		}
	}
	CHECK(fpt_page_marked(&layout, page, marks, 3, n, gone) == m);
	memcpy(before, page, BLCKSZ);
	CHECK(fpt_page_take(&layout, page, gone, &changed) == FPT_OK);
	for (int i = 0; i < changed.n; i++)
		memcpy(before + changed.r[i].off, page + changed.r[i].off,
			   changed.r[i].len);
	if (changed.n >= 0 && is_number())
	{
		int			from;
		int			to;

		fpt_page_hint_area(&layout, page, &from, &to);
		CHECK(memcmp(before, page, from) == 0 &&
			  memcmp(before + to, page + to, BLCKSZ - to) == 0);
	}
	fpt_page_trim(&layout, page);
	free(before);
}

/* The left half of a split. */
static void
cut(void)
{
	int			n = (int) kt_below((uint64) nmodel + 1);

	CHECK(fpt_page_truncate(&layout, page, n) == FPT_OK);
	nmodel = n;
	fpt_page_trim(&layout, page);
}

/* The model takes time by the square of the number of entries. */
static void
test_changes(void)
{
	int			rounds = BLCKSZ > 8192 ? 15 : 150;
	int			numbers = 0;

	for (int round = 0; round < rounds; round++)
	{
		new_world();
		for (int i = (int) kt_below(FPT_MAX_ENTRIES); i > 0; i--)
		{
			FPTEntry	e = any_entry();

			(void) model_add(&e);
		}
		form();
		check_page();
		for (int op = 0; op < 400 && kt_failures < 20; op++)
		{
			int			kind = (int) kt_below(1000);

			if (kind < 900)
				insert();
			else if (kind < 980)
				set_hint();
			else if (kind < 995)
				remove_some();
			else
				cut();
			numbers += is_number();
			if (op % 40 == 0)
			{
				check_page();
				check_bounds();
			}
		}
		check_page();
	}
	CHECK(numbers > rounds * 400 / 3);
}

/* Builds: pages of the first entries, which all are there. */
static void
test_build(void)
{
	for (int round = 0; round < (BLCKSZ > 8192 ? 20 : 200); round++)
	{
		FPTPageSpec spec;
		int			most;
		int			all;
		int			n;

		new_world();
		for (int i = (int) kt_below(FPT_MAX_ENTRIES); i > 0; i--)
		{
			FPTEntry	e = any_entry();

			(void) model_add(&e);
		}
		spec = spec_of();
		all = nmodel;
		n = fpt_page_form_first(&layout, page, &spec, model, nmodel,
								50 + (int) kt_below(51), &most);
		CHECK(n >= 0 && n <= all && (n == 0 || most >= n));
		if (n == 0)
			continue;
		CHECK(is_number());
		nmodel = n;
		memset(dead, 0, sizeof(dead));
		check_page();
	}
}

/* Damaged pages: nothing outside of them is touched, the check finds most. */
static void
test_damaged(void)
{
	static KTWorld *w;

	if (w == NULL)
		w = kt_world_new();
	for (int round = 0; round < 300; round++)
	{
		char	   *sound = malloc(BLCKSZ);

		new_world();
		for (int i = (int) kt_below(1500); i > 0; i--)
		{
			FPTEntry	e = any_entry();

			(void) model_add(&e);
		}
		form();
		memcpy(sound, page, BLCKSZ);
		for (int k = 0; is_number() && k < 30; k++)
		{
			static uint64 numbers[FPT_MAX_ENTRIES];
			static FPTEntry out[FPT_MAX_ENTRIES];
			static FPTChanges changed;
			FPTRun		run = {.tids = numbers, .los = numbers};
			uint64		gone[FPT_MAX_NODES];
			FPTEntry	e = any_entry();
			FPTKey		key = any_entry().key;
			FPTEdit		edit = {0};
			FPTLoc		first,
						last;
			int			kid;

			memcpy(page, sound, BLCKSZ);
			for (int i = 1 + (int) kt_below(6); i > 0; i--)
			{
				int			off = kt_chance(30) ? (int) kt_below(BLCKSZ) :
					kt_chance(30) ? FPT_SPECIAL_OFFSET + 56 + (int) kt_below(8) :
					kt_chance(50) ? 12 + (int) kt_below(28) :
					FPT_LINE + (int) kt_below(300);

				page[off] = (char) kt_random();
			}
			(void) fpt_page_check(&layout, page, PAGENO, NULL);
			(void) fpt_page_sane(&layout, page, PAGENO);
			(void) fpt_page_extract(&layout, page, out, FPT_MAX_ENTRIES);
			(void) fpt_page_copy_all(&layout, page, true, &run);
			(void) fpt_page_copy_image(&layout, page, &key, true, &run, &kid);
			if (fpt_page_range(&layout, page, &key, &e.key, &first,
							   &last) == FPT_OK)
				(void) fpt_page_copy(&layout, page, first, last, false, &run);
			(void) fpt_page_tids(&layout, page, numbers, NULL);
			(void) fpt_page_hints(&layout, page, gone);
			(void) fpt_page_slot_is(&layout, page, (int) kt_below(20000), 7);
			if (fpt_page_insert(&layout, page, &e, &edit) == FPT_FULL)
				(void) fpt_page_make_room(&layout, page, &e, &kt_work);
			for (int i = 0; i < FPT_MAX_NODES; i++)
				gone[i] = kt_random() & kt_random();
			(void) fpt_page_take(&layout, page, gone, &changed);
			(void) fpt_page_truncate(&layout, page, (int) kt_below(2000));
			fpt_page_trim(&layout, page);
		}
		free(sound);
	}
}

/* Each fault has a name. */
static void
expect_fault(const char *sound, int off, uint8 value, const char *what)
{
	const char *found;

	memcpy(page, sound, BLCKSZ);
	page[off] = (char) value;
	found = fpt_page_check(&layout, page, PAGENO, NULL);
	if (found == NULL || strcmp(found, what) != 0)
		printf("byte %d: \"%s\", not \"%s\"\n", off, found ? found : "sound",
			   what);
	CHECK(found != NULL && strcmp(found, what) == 0);
}

static void
test_faults(void)
{
	char	   *sound = malloc(BLCKSZ);
	FPTNumbers	pg;
	FPTNumNode	d;
	FPTNumNode	other;

	kt_layout(&layout, 8, false, false);
	layout.nonumbers = false;
	low = kt_key(FPT_CLS_MINF, 0, 0, 0);
	high = kt_key(FPT_CLS_PINF, 0, 0, 0);
	nkeys = 8;
	nblocks = 5000;
	noffs = 100;
	nmodel = 0;
	next_row = 0;
	for (int i = 0; i < nkeys; i++)
		keys[i] = kt_key(FPT_CLS_VALUE, 0, (uint64) i << 50 | 1000, 0);
	for (int i = 0; i < (BLCKSZ > 2048 ? 500 : 60); i++)
	{
		FPTEntry	e = any_entry();

		e.key.tid = (e.key.tid >> 16) % nblocks << 16 | (e.key.tid & 0xFFFF);
		(void) model_add(&e);
	}
	form();
	CHECK(is_number());
	CHECK(fpt_num_open(&layout, page, &pg) && pg.nkids >= 2);
	CHECK(fpt_num_node(&pg, 0, &d) && fpt_num_node(&pg, 1, &other));
	memcpy(sound, page, BLCKSZ);
	CHECK(fpt_page_check(&layout, page, PAGENO, NULL) == NULL);
	expect_fault(sound, 39, 0, "page's encoding or counts are not valid");
	expect_fault(sound, 12, (uint8) (sound[12] + 1),
				 "page's encoding or counts are not valid");
	expect_fault(sound, FPT_SPECIAL_OFFSET, 1,
				 "reserved bytes of the page header are not zero");
	expect_fault(sound, FPT_SPECIAL_OFFSET + 59, 1,
				 "reserved bytes of the page header are not zero");
	expect_fault(sound, fpt_num_hint_off(&pg) - 1, 1,
				 "free space between nodes and hints is not zero");
	expect_fault(sound, pg.upper, (uint8) sound[pg.upper + pg.headstep],
				 "two heads have the same label");
	expect_fault(sound, pg.upper + 8, (uint8) sound[pg.upper + pg.headstep + 8],
				 "a head is there twice");
	expect_fault(sound, pg.numbers, 255, "node's number or shape is not valid");
	expect_fault(sound, pg.shapes, 8, "node's number or shape is not valid");
	expect_fault(sound, pg.numbers + 1, (uint8) sound[pg.numbers],
				 "node is in use twice");
	expect_fault(sound, d.ordinal * pg.step + pg.node0, 0x80,
				 "TID is not valid");
	expect_fault(sound, fpt_num_hint_off(&pg) + 8 * other.ordinal + 7, 0x80,
				 "dead-entry hint for a slot that is not in use");
	memcpy(sound + FPT_LINE + pg.sw, sound + FPT_LINE, (size_t) pg.sw);
	expect_fault(sound, FPT_LINE, (uint8) sound[FPT_LINE],
				 "separators are out of order");
	free(sound);
}

void
test_number_pages(void)
{
	page = malloc(BLCKSZ);
	kt_run("numbers: changes", test_changes);
	kt_run("numbers: builds", test_build);
	kt_run("numbers: damaged pages", test_damaged);
	kt_run("numbers: faults", test_faults);
	free(page);
}
