/*-------------------------------------------------------------------------
 *
 * test_page.c
 *	  Unit tests of the page kernel on pages made by hand.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

static char *page;
static FPTLayout l4;			/* 4-byte keys */
static FPTLayout l8;
static FPTLayout l16;
static FPTLayout l8nf;			/* NULLS FIRST */
static const FPTKey minf = {.cls = FPT_CLS_MINF};
static const FPTKey pinf = {.cls = FPT_CLS_PINF};
static FPTEntry e[FPT_MAX_ENTRIES + 1];

static FPTKey
value(uint64 v, uint64 tid)
{
	return kt_key(FPT_CLS_VALUE, 0, v, tid);
}

static FPTEntry
leaf_entry(uint64 v, uint64 tid)
{
	FPTEntry	x;

	x.key = value(v, tid);
	x.down = 0;
	return x;
}

/* Values first, first + step, ... with TIDs 1, 2, ... in e[]. */
static void
make_entries(int n, uint64 first, uint64 step)
{
	for (int i = 0; i < n; i++)
	{
		e[i] = leaf_entry(first + i * step, 1 + i % 100);
		e[i].down = 2 + i;
	}
}

static void
init_page(const FPTLayout *l, int level, int enc, uint64 base)
{
	FPTKey		from = value(base, 0);

	fpt_page_init(l, page, &(FPTPageSpec) {.level = level, .pageno = 5,
				  .low = &minf, .high = &pinf, .rowbits = 8}, enc, &from, 0);
}

static bool
sound(const FPTLayout *l)
{
	return kt_sound(l, page);
}

/* --- order -------------------------------------------------------------- */

static void
test_order(void)
{
	FPTKey		k[] = {
		{.cls = FPT_CLS_MINF},
		{0, 0, 1, FPT_CLS_NULLFIRST}, {0, 0, 2, FPT_CLS_NULLFIRST},
		{0, 0, 9, FPT_CLS_VALUE}, {0, 1, 0, FPT_CLS_VALUE},
		{0, 1, FPT_MAX_TID, FPT_CLS_VALUE}, {0, ~(uint64) 0, 1, FPT_CLS_VALUE},
		{1, 0, 1, FPT_CLS_VALUE}, {~(uint64) 0, 5, 1, FPT_CLS_VALUE},
		{.cls = FPT_CLS_NULLLAST}, {0, 0, 0, FPT_CLS_PINF}
	};
	int			n = sizeof(k) / sizeof(k[0]);

	for (int i = 0; i < n; i++)
	{
		FPTKey		back;

		fpt_page_set_low(&l16, page, &k[i], &kt_work);
		back = fpt_page_low(&l16, page);
		CHECK(fpt_key_cmp(&l16, &back, &k[i]) == 0);
		for (int j = 0; j < n; j++)
		{
			FPTKey		a = k[i];
			FPTKey		b = k[j];

			CHECK(fpt_key_cmp(&l16, &a, &b) == (i > j) - (i < j));
			a.tid = b.tid = 0;
			CHECK(fpt_image_cmp(&k[i], &k[j]) == fpt_key_cmp(&l16, &a, &b));
		}
	}
}

static void
test_fences(void)
{
	FPTKey		low = value(100, 7);
	FPTKey		high = value(200, 0);
	FPTKey		k = value(100, 6);

	fpt_page_init(&l8, page, &(FPTPageSpec) {0, 5, &low, &high}, ENC(2, LEAF6),
				  &low, 0);
	CHECK(!fpt_page_above_low(&l8, page, &k));
	k.tid = 7;
	CHECK(fpt_page_above_low(&l8, page, &k) && fpt_page_below_high(&l8, page, &k));
	k = value(199, FPT_MAX_TID);
	CHECK(fpt_page_below_high(&l8, page, &k));
	k = value(200, 0);
	CHECK(!fpt_page_below_high(&l8, page, &k) && fpt_page_above_low(&l8, page, &k));
}

/* --- encodings ---------------------------------------------------------- */

/* The width of keys that are up to (hi, lo) apart. */
static void
check_kw(const FPTLayout *l, uint64 hi, uint64 lo, int expect)
{
	FPTKey		base = {3, 0xFFFFFFFFFFFFFF00, 0, FPT_CLS_VALUE};
	FPTKey		last = base;

	if (l->keysize < 16)
		base.hi = last.hi = 0;
	if (l->keysize < 16)
		base.lo = last.lo = 0;
	last.lo += lo;
	last.hi += hi + (last.lo < lo ? 1 : 0);
	CHECK(fpt_choose_kw(l, &base, &last) == expect);
}

static void
test_choose_kw(void)
{
	const FPTLayout *layouts[3] = {&l4, &l8, &l16};

	for (int i = 0; i < 3; i++)
	{
		const FPTLayout *l = layouts[i];

		check_kw(l, 0, 0, 1);
		check_kw(l, 0, 1, 1);
		for (int kw = 1; kw <= l->keysize; kw++)
		{
			kt_u128		max = kw == 16 ? ~(kt_u128) 0 :
				((kt_u128) 1 << (8 * kw)) - 1;

			/* 16 bytes: what is added to the base must not overflow */
			if (kw == 16)
				max -= (kt_u128) 4 << 64;
			check_kw(l, (uint64) (max >> 64), (uint64) max, kw);
			if (kw < l->keysize)
				check_kw(l, (uint64) ((max + 1) >> 64), (uint64) (max + 1),
						 kw + 1);
		}
	}
}

/* Is there a base relative to which pages of this kind can have these TIDs? */
static bool
tids_can(int kind, uint64 minblock, uint64 maxblock, uint64 maxoff)
{
	uint64		base = Min(minblock, FPT_MAX_TIDBASE);
	uint64		rows = 2;

	while (rows <= maxoff)
		rows *= 2;
	return kind == FPT_KIND_LEAF6 ||
		(maxoff <= 255 && maxblock - base <
		 (kind == FPT_KIND_LEAF3 ? (1 << 24) / rows : 1 << 24));
}

/* The kind of page for some TIDs; *tidbase: what they are relative to. */
static int
check_tids(uint64 minblock, uint64 maxblock, uint64 maxoff, uint32 *tidbase)
{
	FPTTidRange r;
	int			kind;
	int			bits = 42;
	int			expect = FPT_KIND_LEAF3;

	fpt_tids_none(&r);
	fpt_tids_add(&r, (maxblock << 16) | 1);
	fpt_tids_add(&r, (minblock << 16) | maxoff);
	CHECK(r.minblock == minblock && r.maxblock == maxblock);
	CHECK(r.maxoff == maxoff);
	while (!tids_can(expect, minblock, maxblock, maxoff))
		expect++;
	*tidbase = 42;
	kind = fpt_choose_tids(&r, 0, tidbase, &bits);
	CHECK(kind == expect);
	CHECK(*tidbase <= FPT_MAX_TIDBASE);
	if (kind < FPT_KIND_LEAF6)
	{
		const FPTGeom *g = &l8.geoms->geom[0][kind];

		CHECK(*tidbase <= minblock);
		CHECK(bits >= 1 && (kind == FPT_KIND_LEAF3 ? bits <= 8 : bits == 8));
		CHECK(fpt_tid_fits(g->tw, *tidbase, bits, (minblock << 16) | maxoff));
		CHECK(fpt_tid_fits(g->tw, *tidbase, bits, (maxblock << 16) | 1));
		CHECK(kt_tid_fits(g, bits, 0, *tidbase, (maxblock << 16) | 1));

		/* offsets have as many bits as there can be */
		CHECK(bits == 8 || maxblock - *tidbase >= kt_blocks(g, bits + 1));
	}
	else
		CHECK(bits == 0 && *tidbase == 0);
	return kind;
}

static void
test_choose_tids(void)
{
	static const uint64 last = 0xFFFFFFFE;
	static const uint64 span[] = {0, 1, 254, 255, 256, 257, 65534, 65535, 65536,
	65537, 0xFFFFFE, 0xFFFFFF, 0x1000000, 0x1000001, 0xFFFFFFFE};
	FPTTidRange none;
	uint32		base;
	int			bits;

	fpt_tids_none(&none);
	base = 42;
	CHECK(fpt_choose_tids(&none, 0, &base, &bits) == FPT_KIND_LEAF3);
	CHECK(base == 0 && bits == 8);
	base = 42;
	CHECK(fpt_choose_tids(&none, 257, &base, &bits) == FPT_KIND_LEAF3);
	CHECK(base == 0 && bits == 8);

	for (int i = 0; i < (int) (sizeof(span) / sizeof(span[0])); i++)
	{
		uint64		from[] = {0, 1, 100, 65535, 1 << 24, FPT_MAX_TIDBASE - 1,
			FPT_MAX_TIDBASE, (uint64) FPT_MAX_TIDBASE + 1,
		0};

		from[8] = last - span[i];
		for (int j = 0; j < 9; j++)
		{
			uint64		to = from[j] + span[i];

			if (to > last)
				continue;
			for (int off = 1; off < 256; off += off + kt_below(2))
				check_tids(from[j], to, (uint64) off, &base);
			check_tids(from[j], to, 255, &base);
			CHECK(check_tids(from[j], to, 256, &base) == FPT_KIND_LEAF6);
			CHECK(check_tids(from[j], to, 0xFFFF, &base) == FPT_KIND_LEAF6);
		}
	}

	/* the borders by name */
	CHECK(check_tids(0, 255, 255, &base) == FPT_KIND_LEAF3 && base == 0);
	CHECK(check_tids(0, 256, 255, &base) == FPT_KIND_LEAF3 && base == 0);
	CHECK(check_tids(7, 65535, 1, &base) == FPT_KIND_LEAF3 && base == 7);
	CHECK(check_tids(0, 65535, 128, &base) == FPT_KIND_LEAF3);
	CHECK(check_tids(0, 65536, 128, &base) == FPT_KIND_LEAF4 && base == 0);
	CHECK(check_tids(0, 65536, 127, &base) == FPT_KIND_LEAF3);
	CHECK(check_tids(0, 131072, 127, &base) == FPT_KIND_LEAF4);
	CHECK(check_tids(5, 131072, 127, &base) == FPT_KIND_LEAF3 && base == 5);
	CHECK(check_tids(0, 0x7FFFFF, 1, &base) == FPT_KIND_LEAF3);
	CHECK(check_tids(0, 0x7FFFFF, 2, &base) == FPT_KIND_LEAF4);
	CHECK(check_tids(0, 0xFFFFFF, 1, &base) == FPT_KIND_LEAF4 && base == 0);
	CHECK(check_tids(0, 0x1000000, 1, &base) == FPT_KIND_LEAF6);
	CHECK(check_tids(last, last, 1, &base) == FPT_KIND_LEAF4);
	CHECK(check_tids(FPT_MAX_TIDBASE, FPT_MAX_TIDBASE + 255, 1, &base) ==
		  FPT_KIND_LEAF3);

	/* rows that come later count, and windows of theirs begin at block 0 */
	fpt_tids_none(&none);
	fpt_tids_add(&none, (UINT64CONST(1000) << 16) | 100);
	CHECK(fpt_choose_tids(&none, 0, &base, &bits) == FPT_KIND_LEAF3 &&
		  base == 1000 && bits == 8);
	CHECK(fpt_choose_tids(&none, 1, &base, &bits) == FPT_KIND_LEAF3 &&
		  base == 0 && bits == 8);
	CHECK(fpt_choose_tids(&none, 65536, &base, &bits) == FPT_KIND_LEAF3 &&
		  bits == 8);
	CHECK(fpt_choose_tids(&none, 65537, &base, &bits) == FPT_KIND_LEAF3 &&
		  bits == 7);
	CHECK(fpt_choose_tids(&none, 131073, &base, &bits) == FPT_KIND_LEAF4 &&
		  bits == 8);
	CHECK(fpt_choose_tids(&none, 0x1000000, &base, &bits) == FPT_KIND_LEAF4);
	CHECK(fpt_choose_tids(&none, 0x1000001, &base, &bits) == FPT_KIND_LEAF6);
	CHECK(fpt_choose_tids(&none, 0xFFFFFFFF, &base, &bits) == FPT_KIND_LEAF6);
	CHECK(fpt_tids_reach(0) == 64 && fpt_tids_reach(800) == 1664);
	CHECK(fpt_tids_reach(0xFFFFFFFF) == 0xFFFFFFFF);
	CHECK(fpt_tids_reach(0x80000000) == 0xFFFFFFFF);
	CHECK(fpt_tids_reach(32736) == 65536);
}

/*
 * A page whose TIDs are relative to its own blocks, as builds at a fillfactor of
 * 100 make them, is split into pages with TIDs as wide, where these suffice.
 */
static void
test_page_reach(void)
{
	static const FPTKey minf = {.cls = FPT_CLS_MINF};
	static const FPTKey pinf = {.cls = FPT_CLS_PINF};
	FPTKey		low = value(0, 0);
	FPTKey		high = value(20, 0);

	for (int i = 0; i < 10; i++)
		e[i] = leaf_entry((uint64) i,
						  ((uint64) (70000 + i * 500000) << 16) | 200);
	CHECK(fpt_page_form(&l8, page, &(FPTPageSpec) {0, 5, &minf, &pinf}, e, 10,
						100) == FPT_OK);
	CHECK(fpt_page_geom(&l8, page)->tw == 4);
	CHECK(fpt_special(page)->tidbase == 70000);
	CHECK(fpt_page_reach(&l8, page, e, 10) == 1 << 24);

	/* no offset is above 1: 3 bytes tell as many blocks, and half of them */
	for (int i = 0; i < 10; i++)
		e[i].key.tid -= 199;
	CHECK(fpt_page_form(&l8, page, &(FPTPageSpec) {0, 5, &minf, &pinf}, e, 10,
						100) == FPT_OK);
	CHECK(fpt_page_geom(&l8, page)->tw == 3);
	CHECK(fpt_special(page)->rowbits == 1);
	CHECK(fpt_page_reach(&l8, page, e, 0) == 1 << 23);
	CHECK(fpt_page_form(&l8, page, &(FPTPageSpec) {0, 5, &minf, &pinf,
						.rowbits = 2}, e, 10, 100) == FPT_OK);
	CHECK(fpt_page_geom(&l8, page)->tw == 4 || fpt_is_lent(&l8, page));
	for (int i = 0; i < 10; i++)
		e[i].key.tid += 199;

	/* keys lend what is needed besides 3 bytes */
	e[9].key.tid = ((uint64) (70000 + 8 * 65536 - 1) << 16) | 200;
	CHECK(fpt_page_form(&l8, page, &(FPTPageSpec) {0, 5, &low, &high}, e, 10,
						100) == FPT_OK);
	CHECK(fpt_page_geom(&l8, page)->tw == 4);
	for (int i = 0; i < 10; i++)
		e[i].key.tid = e[i % 2 == 0 ? 0 : 9].key.tid + i;
	CHECK(fpt_page_form(&l8, page, &(FPTPageSpec) {0, 5, &low, &high}, e, 10,
						100) == FPT_OK);
	CHECK(fpt_page_geom(&l8, page)->tw == 3);
	CHECK(fpt_lent_bits(&l8, page) == 3 && fpt_special(page)->rowbits == 8);
	CHECK(fpt_page_reach(&l8, page, e, 0) == 1 << 19);

	/* they lend less where offsets have fewer bits */
	for (int i = 0; i < 10; i++)
		e[i].key.tid -= 200 - 63 + 9;
	CHECK(fpt_page_form(&l8, page, &(FPTPageSpec) {0, 5, &low, &high}, e, 10,
						100) == FPT_OK);
	CHECK(fpt_page_geom(&l8, page)->tw == 3);
	CHECK(fpt_lent_bits(&l8, page) == 1 && fpt_special(page)->rowbits == 6);
	CHECK(fpt_page_reach(&l8, page, e, 0) == 1 << 19);
}

/* A page is not filled with rows whose offsets it has no bits for. */
static void
test_fill_offsets(void)
{
	FPTKey		base = value(0, 0);

	for (int i = 0; i < 2 * FPT_MAX_ROWBITS; i++)
	{
		const FPTLayout *l = i % 2 ? &l16 : &l8;
		int			bits = 1 + i / 2;

		for (int over = 0; over < 2; over++)
		{
			FPTPageSpec spec = {0, 5, &minf, &pinf, .rowbits = bits};

			make_entries(10, 1000, 5);
			for (int j = 0; j < 10; j++)
				e[j].key.tid = (uint64) j << 16 | 1;
			e[7].key.tid = 7 << 16 | ((1 << bits) - 1 + over);
			fpt_page_init(l, page, &spec, fpt_enc(3, FPT_KIND_LEAF3), &base, 0);
			CHECK(fpt_page_fill(l, page, e, 10, 90) ==
				  (over ? FPT_UNFIT : FPT_OK));
		}
	}
}

/* A page takes the TIDs of its window, and no others. */
static void
test_window(void)
{
	static const uint64 first[] = {0, 300, 70000, 0x2000000, 0xFFFFFF00};
	static const uint64 span[] = {10, 255, 1000, 70000};

	for (int i = 0; i < 5 * 4; i++)
	{
		uint64		from = first[i / 4];
		uint64		to = Min(from + span[i % 4], 0xFFFFFFFE);
		const FPTGeom *g;
		uint64		base;
		uint64		blocks;
		int			lent;
		FPTEntry	x = leaf_entry(1025, 0);

		make_entries(10, 1000, 5);
		for (int j = 0; j < 10; j++)
			e[j].key.tid = ((j % 2 ? from : to) << 16) | 255;
		CHECK(fpt_page_form(&l8, page, &(FPTPageSpec) {0, 5, &minf, &pinf}, e,
							10, 90) == FPT_OK);
		CHECK(fpt_page_count(&l8, page) == 10 && sound(&l8));
		g = fpt_page_geom(&l8, page);
		base = fpt_special(page)->tidbase;
		CHECK(g->tw < 6);
		lent = fpt_lent_bits(&l8, page);
		CHECK(fpt_special(page)->rowbits == 8);
		blocks = UINT64CONST(1) << (8 * g->tw - 8 + lent);
		for (int j = 0; j < 4; j++)
		{
			uint64		ends[4] = {base - 1, base,
				base + blocks - 1,
			base + blocks};

			if (ends[j] > 0xFFFFFFFE)
				continue;
			for (int off = 0; off < 4; off++)
			{
				static const int offs[4] = {1, 254, 255, 256};
				bool		fits = (j == 1 || j == 2) && offs[off] < 256;
				FPTEdit		edit = {0};
				FPTLoc		loc;
				FPTEntry	back;

				x.key.tid = (ends[j] << 16) | (uint64) offs[off];
				CHECK(kt_tid_fits(g, 8, lent, (uint32) base,
								  x.key.tid) == fits);
				CHECK((kt_insert_probe(&l8, page, &x) != FPT_UNFIT) == fits);
				if (fpt_page_insert(&l8, page, &x, &edit) != FPT_OK)
					continue;
				CHECK(fpt_page_lower_bound(&l8, page, &x.key, &loc) == FPT_OK);
				CHECK(fpt_page_get(&l8, page, loc, &back) == FPT_OK);
				CHECK(fpt_key_cmp(&l8, &back.key, &x.key) == 0);
			}
		}
		CHECK(sound(&l8));
	}
}

static void
test_init(void)
{
	FPTPageHeader *h = fpt_header(page);

	init_page(&l8, 3, ENC(4, INNER), 42);
	CHECK(h->std.pd_lower == fpt_page_geom(&l8, page)->node_off);
	CHECK(h->std.pd_upper == FPT_SPECIAL_OFFSET);
	CHECK(h->std.pd_special == FPT_SPECIAL_OFFSET);
	CHECK(h->std.pd_pagesize_version == (uint16) (BLCKSZ | 4));
	CHECK(h->left == 0 && h->right == 0 && h->flags == 0 && h->level == 3);
	CHECK(fpt_special(page)->base_lo == 42);
	CHECK(fpt_page_sane(&l8, page, 5));
	CHECK(!fpt_page_sane(&l8, page, 6));
	CHECK(!fpt_page_sane(&l16, page, 5));	/* another index */
	CHECK(fpt_page_count(&l8, page) == 0);
	CHECK(((uint16 *) page)[BLCKSZ / 2 - 1] == FPT_PAGE_ID);
}

/* --- order of a node's entries ------------------------------------------- */

static FPTPage
open_page(const FPTLayout *l)
{
	return fpt_page_open(l, page);
}

/* Are the entry of slot a and that of slot b in this order? */
static bool
slot_below(FPTPage pg, const char *node, int a, int b)
{
	uint64		ahi,
				alo,
				bhi,
				blo;

	fpt_slot_rel(pg.g, node, 0, a, &ahi, &alo);
	fpt_slot_rel(pg.g, node, 0, b, &bhi, &blo);
	if (ahi != bhi)
		return ahi < bhi;
	if (alo != blo)
		return alo < blo;
	return fpt_slot_tid(pg, node, a) < fpt_slot_tid(pg, node, b);
}

/* A number of up to so many bytes: of few that there are, or anything. */
static uint64
some_number(int width, int how)
{
	uint64		max = ~UINT64CONST(0) >> (64 - 8 * width);
	uint64		v = kt_random() & max;

	switch (how)
	{
		case 0:
			return v & 1;
		case 1:
			return max - (v & 1);
		case 2:					/* the lowest bits make the difference */
			return (max / 2 & ~UINT64CONST(7)) | (v & 7);
		case 3:					/* those far below the highest one do */
			return ((v & 1) * (max - max / 2)) | (v >> 1 & 3);
		case 4:
			return 7 & max;
		default:
			return v;
	}
}

/*
 * A TID for a slot of a node that has those in "used", if TIDs are relative to
 * nodes; the slot may have one.  Few of the node's rows, or any of them, or any
 * TID at all, as long as there is room for it.
 */
static uint64
some_row(FPTPage pg, char *node, int slot, bool few)
{
	const FPTPageSpecial *s = fpt_special(pg.p);
	uint64		tid;

	if (fpt_slot_used(pg.g, node, slot))
		fpt_slots_free(pg.g, node, UINT64CONST(1) << slot);
	do
	{
		uint32		row = fpt_node_row(pg.g, node) +
			(uint32) kt_below(few ? 4 : fpt_near_rows(pg.g));

		tid = fpt_row_tid(s->tidbase, s->rowbits, row);
		if (kt_chance(5))
			tid = (s->tidbase + kt_below(1 << 24)) << 16 | kt_below(256);
	} while ((tid & 0xFFFF) == 0 || !fpt_node_takes(pg, node, tid));
	return tid;
}

/* Put n entries into random slots of page's first node; all slots in use. */
static uint64
scatter(FPTPage pg, char *node, int n)
{
	int			khow = (int) kt_below(6);
	int			lhow = (int) kt_below(6);
	int			thow = (int) kt_below(3);
	bool		sorted = kt_chance(20);
	uint64		used = 0;
	uint64		base = fpt_special(pg.p)->tidbase;
	int			maxoff = pg.g->tw == 3 ?
		(1 << fpt_special(pg.p)->rowbits) - 1 : 255;

	memset(node, 0, pg.g->x * FPT_LINE);
	if (fpt_has_far(pg.g))
		fpt_node_set_row(pg.g, node, (uint32) kt_below(1 << 24));

	/* what is in free slots besides a TID of zero means nothing */
	for (int i = 0; i < pg.g->cap; i++)
		fpt_slot_set_rel(pg.g, node, 0, i,
						 pg.g->kw > 8 ? some_number(pg.g->sw, 9) : 0,
						 some_number(Min(pg.g->kw, 8), 9));
	for (int i = 0; i < n; i++)
	{
		uint64		block = thow == 0 ? kt_below(2) : kt_below(256);
		uint64		off = 1 + kt_below(Min(thow == 1 ? 255 : 3, maxoff));
		int			slot = sorted ? i : (int) kt_below(pg.g->cap);
		bool		dup;
		bool		again = false;

		while ((used >> slot) & 1)
			slot = (slot + 1) % pg.g->cap;
		if (pg.g->tw == 6)
			off = kt_chance(30) ? 256 * off : off + kt_below(3) * 256;
		do
		{
			fpt_slot_set_rel(pg.g, node, 0, slot,
							 pg.g->kw > 8 ? some_number(pg.g->sw, khow) : 0,
							 some_number(Min(pg.g->kw, 8),
										 pg.g->kw > 8 ? lhow : khow));
			fpt_slot_set_tid(pg, node, slot, !fpt_has_far(pg.g) ?
							 ((base + block) << 16) | off :
							 some_row(pg, node, slot, thow == 0 && !again));
			again = true;
			dup = false;
			for (int j = 0; j < pg.g->cap; j++)
				dup |= ((used >> j) & 1) && !slot_below(pg, node, j, slot) &&
					!slot_below(pg, node, slot, j);
			block = kt_below(1024);
			off = 1 + kt_below(maxoff);
		} while (dup);
		used |= UINT64CONST(1) << slot;
	}
	return used;
}

/* The order of some of a node's slots; "set" is of those. */
static void
check_order(FPTPage pg, char *node, uint64 set, const uint8 *slots, int n)
{
	CHECK(n == __builtin_popcountll(set));
	for (int i = 0; i < n; i++)
	{
		CHECK((set >> slots[i]) & 1);
		CHECK(i == 0 || slot_below(pg, node, slots[i - 1], slots[i]));
	}
}

/* A few entries at either end of some slots of a node, which are ordered. */
static void
check_node_ends(FPTPage pg, const char *node, uint64 set, const uint8 *slots)
{
	int			n = __builtin_popcountll(set);
	uint8		end[FPT_END_MOST];

	for (int m = 1; m <= FPT_END_MOST && m <= n; m++)
	{
		fpt_slots_end(pg, node, set, false, m, end);
		CHECK(memcmp(end, slots, m) == 0);
		fpt_slots_end(pg, node, set, true, m, end);
		CHECK(memcmp(end, slots + n - m, m) == 0);
	}
}

static void
check_node_order(FPTPage pg, char *node, int n)
{
	uint64		used = scatter(pg, node, n);
	uint64		some = used & kt_random();
	uint64		before = 0;
	uint8		slots[FPT_MAX_CAP];
	uint8		part[FPT_MAX_CAP];
	FPTLoc		loc = {0};

	CHECK(fpt_node_used(pg.g, node) == used);
	CHECK(fpt_node_order(pg, node, slots) == n);
	check_order(pg, node, used, slots, n);
	check_order(pg, node, some, part, fpt_slots_order(pg, node, some, part));
	check_node_ends(pg, node, used, slots);
	check_node_ends(pg, node, some, part);
	for (int i = 0; i < n; i++)
	{
		CHECK(fpt_slot_used(pg.g, node, slots[i]));
		loc.rank = i;
		loc.below = 0;
		CHECK(fpt_node_slot(pg, node, &loc) == slots[i]);
		loc.below = before;
		CHECK(fpt_node_slot(pg, node, &loc) == slots[i]);
		before |= UINT64CONST(1) << slots[i];
	}
	loc.rank = n;
	CHECK(fpt_node_slot(pg, node, &loc) == -1);
	loc.below = 0;
	CHECK(fpt_node_slot(pg, node, &loc) == -1);

	/* free some of them: their TIDs are zero */
	fpt_slots_free(pg.g, node, some);
	CHECK(fpt_node_used(pg.g, node) == (used & ~some));
}

static void
test_node_order(void)
{
	static const uint32 bases[] = {0, 1, 77777, FPT_MAX_TIDBASE};
	const char *names[8];
	int			nnames = fpt_simd_available(names, 8);

	for (int kw = 1; kw <= 16; kw++)
	{
		for (int kind = 0; kind < FPT_KIND_INNER; kind++)
		{
			FPTPage		pg;
			FPTKey		base = value(0, 0);

			fpt_page_init(&l16, page,
						  &(FPTPageSpec) {.pageno = 5, .low = &minf,
						  .high = &pinf, .rowbits = 1 + (int) kt_below(8)},
						  fpt_enc(kw - 1, kind), &base,
						  kind == FPT_KIND_LEAF6 ? 0 : bases[kt_below(4)]);
			pg = open_page(&l16);
			for (int i = 0; i < nnames * 40; i++)
			{
				CHECK(fpt_simd_select(names[i % nnames]));

				/* the last node reads behind itself */
				check_node_order(pg, fpt_node(pg, i % 3 ? 0 :
											  pg.g->maxnodes - 1),
								 (int) kt_below(pg.g->cap + 1));
				check_node_order(pg, fpt_node(pg, 0), pg.g->cap);
			}
		}
	}
	fpt_simd_select("auto");
}

/* Offsets whose lowest byte is zero, in TIDs of 6 bytes: slots are not free. */
static void
test_long_tids(void)
{
	FPTEntry	x;
	FPTLoc		loc;

	for (int kw = 1; kw <= 16; kw++)
	{
		int			n = Min(40, l16.geoms->geom[kw - 1][FPT_KIND_LEAF6].capacity);

		CHECK(n > 9);
		init_page(&l16, 0, fpt_enc(kw - 1, FPT_KIND_LEAF6), 0);
		for (int i = 0; i < n; i++)
			e[i] = leaf_entry(1 + (uint64) i / 4, ((uint64) i << 24) |
							  (uint64) (256 * (1 + i)));
		CHECK(fpt_page_fill(&l16, page, e, n, 100) == FPT_OK);
		CHECK(fpt_page_count(&l16, page) == n && sound(&l16));
		for (int i = 0; i < n; i++)
		{
			CHECK(fpt_page_lower_bound(&l16, page, &e[i].key, &loc) == FPT_OK);
			CHECK(fpt_page_get(&l16, page, loc, &x) == FPT_OK);
			CHECK(fpt_key_cmp(&l16, &x.key, &e[i].key) == 0);
		}
		x = leaf_entry(3, 0xFF00);
		CHECK(kt_insert_probe(&l16, page, &x) == FPT_OK ||
			  kt_insert_probe(&l16, page, &x) == FPT_FULL);
		CHECK(fpt_page_lower_bound(&l16, page, &e[9].key, &loc) == FPT_OK);
		CHECK(fpt_page_delete(&l16, page, loc) == FPT_OK);
		CHECK(fpt_page_count(&l16, page) == n - 1 && sound(&l16));
	}
}

/* --- filling ------------------------------------------------------------ */

static void
test_fill(void)
{
	const FPTGeom *g;
	int			n;

	init_page(&l8, 0, ENC(4, LEAF4), 1000);
	g = fpt_page_geom(&l8, page);
	CHECK(fpt_page_fill(&l8, page, e, 0, 90) == FPT_OK);
	CHECK(fpt_page_count(&l8, page) == 0 && sound(&l8));

	/* half full nodes, evenly */
	n = g->maxnodes * (g->cap / 2);
	make_entries(n, 1000, 3);
	CHECK(fpt_page_fill(&l8, page, e, n, 50) == FPT_OK);
	CHECK(fpt_page_count(&l8, page) == n && sound(&l8));
	for (int i = 0; i < fpt_header(page)->nkids; i++)
		CHECK(fpt_node_count(&l8, page, i) == g->cap / 2);
	CHECK(fpt_node_count(&l8, page, -1) == -1);
	CHECK(fpt_node_count(&l8, page, fpt_header(page)->nkids) == -1);

	/* everything, whatever "fill" asks for; one more does not fit */
	n = (int) g->capacity;
	make_entries(n + 1, 1000, 3);
	init_page(&l8, 0, ENC(4, LEAF4), 1000);
	CHECK(fpt_page_fill(&l8, page, e, n, 10) == FPT_OK);
	CHECK(fpt_page_count(&l8, page) == n && sound(&l8));
	init_page(&l8, 0, ENC(4, LEAF4), 1000);
	CHECK(fpt_page_fill(&l8, page, e, n + 1, 10) == FPT_FULL);
}

static void
test_fill_unfit(void)
{
	make_entries(3, 1000, 3);
	init_page(&l8, 0, ENC(2, LEAF6), 1001);
	CHECK(fpt_page_fill(&l8, page, e, 3, 90) == FPT_UNFIT);
	e[2].key.lo = 1000 + 0x10000;
	init_page(&l8, 0, ENC(2, LEAF6), 1000);
	CHECK(fpt_page_fill(&l8, page, e, 3, 90) == FPT_UNFIT);
	e[2].key.lo--;
	init_page(&l8, 0, ENC(2, LEAF6), 1000);
	CHECK(fpt_page_fill(&l8, page, e, 3, 90) == FPT_OK && sound(&l8));
	e[1].key.tid = FPT_MAX_TID - 0x10000;
	init_page(&l8, 0, ENC(2, LEAF4), 1000);
	CHECK(fpt_page_fill(&l8, page, e, 3, 90) == FPT_UNFIT);
	init_page(&l8, 0, ENC(2, LEAF6), 1000);
	CHECK(fpt_page_fill(&l8, page, e, 3, 90) == FPT_OK && sound(&l8));
}

/* NULLs and values, with less room than "fill" wants: no node stays empty. */
static void
test_fill_regions(void)
{
	const FPTLayout *layouts[2] = {&l8, &l8nf};

	for (int which = 0; which < 2; which++)
	{
		const FPTLayout *l = layouts[which];
		int			max = (int) l->geoms->geom[7][FPT_KIND_LEAF4].maxnodes + 8;

		for (int nulls = 0; nulls <= max; nulls++)
		{
			for (int values = 0; values <= max; values++)
			{
				int			n = 0;

				for (int i = 0; l->nullsfirst && i < nulls; i++)
				{
					e[n].key = kt_key(FPT_CLS_NULLFIRST, 0, 0, 1 + i);
					e[n++].down = 0;
				}
				for (int i = 0; i < values; i++)
					e[n++] = leaf_entry(i, 1);
				for (int i = 0; !l->nullsfirst && i < nulls; i++)
				{
					e[n].key = kt_key(FPT_CLS_NULLLAST, 0, 0, 1 + i);
					e[n++].down = 0;
				}
				init_page(l, 0, ENC(8, LEAF4), 0);
				CHECK(fpt_page_fill(l, page, e, n, 1) == FPT_OK);
				CHECK(fpt_page_count(l, page) == n && sound(l));
			}
		}
	}
}

/* --- inserting ---------------------------------------------------------- */

/* Insert with make_room; what a caller sees. */
static FPTResult
insert(const FPTLayout *l, const FPTEntry *x)
{
	return kt_insert(l, page, x);
}

static void
test_insert_results(void)
{
	FPTEntry	x = leaf_entry(1000, 5);
	FPTEdit		edit = {0};

	init_page(&l8, 0, ENC(2, LEAF4), 1000);
	CHECK(kt_insert_probe(&l8, page, &x) == FPT_FULL);
	CHECK(fpt_page_insert(&l8, page, &x, &edit) == FPT_FULL && edit.n == 0);
	CHECK(insert(&l8, &x) == FPT_OK && sound(&l8));
	CHECK(insert(&l8, &x) == FPT_DUPLICATE);
	CHECK(fpt_page_make_room(&l8, page, &x, &kt_work) == FPT_DUPLICATE);
	x.key.tid = 4;
	CHECK(fpt_page_make_room(&l8, page, &x, &kt_work) == FPT_OK);	/* nothing to do */
	CHECK(insert(&l8, &x) == FPT_OK);
	x.key.lo = 999;
	CHECK(insert(&l8, &x) == FPT_UNFIT);
	x.key.lo = 1000 + 0x10000;
	CHECK(insert(&l8, &x) == FPT_UNFIT);
	x.key = value(1000, FPT_MAX_TID);
	CHECK(insert(&l8, &x) == FPT_UNFIT);
	x.key = kt_key(FPT_CLS_NULLFIRST, 0, 0, 1);
	CHECK(insert(&l8, &x) == FPT_CORRUPT);	/* a NULLS LAST index */
	x.key.cls = FPT_CLS_MINF;
	CHECK(insert(&l8, &x) == FPT_CORRUPT);
	x.key.cls = FPT_CLS_PINF;
	CHECK(insert(&l8, &x) == FPT_CORRUPT);
	x.key.cls = FPT_CLS_NULLLAST;
	CHECK(insert(&l8, &x) == FPT_OK);
	CHECK(fpt_page_count(&l8, page) == 3 && sound(&l8));
}

/* A separator that is there already: its TID is 0, for which none is searched. */
static void
test_insert_separators(void)
{
	int			n = (int) l8.geoms->geom[3][FPT_KIND_INNER].capacity / 2;
	FPTEntry	null = {.key = {.cls = FPT_CLS_NULLLAST}, .down = 7};

	make_entries(n, 1000, 10);
	init_page(&l8, 1, ENC(4, INNER), 1000);
	for (int i = 0; i < n; i++)
		e[i].key.tid = 0;
	CHECK(fpt_page_fill(&l8, page, e, n, 90) == FPT_OK);
	CHECK(insert(&l8, &null) == FPT_OK);
	CHECK(insert(&l8, &null) == FPT_DUPLICATE);
	for (int i = 1; i < n; i++)
		CHECK(insert(&l8, &e[i]) == FPT_DUPLICATE);
	CHECK(fpt_page_count(&l8, page) == n + 1 && sound(&l8));
}

/* A duplicate that begins the node behind the one searched. */
static void
test_insert_duplicates(void)
{
	const FPTGeom *g;
	int			n;

	init_page(&l8, 0, ENC(2, LEAF4), 0);
	g = fpt_page_geom(&l8, page);
	n = g->maxnodes * (g->cap / 2);
	for (int i = 0; i < n; i++)
		e[i] = leaf_entry(7, ((uint64) i << 16) | 1);
	CHECK(fpt_page_fill(&l8, page, e, n, 50) == FPT_OK);
	for (int i = 0; i < n; i++)
		CHECK(insert(&l8, &e[i]) == FPT_DUPLICATE);
	for (int i = 0; i < n; i++)
	{
		FPTEntry	x = leaf_entry(7, ((uint64) i << 16) | 2);

		CHECK(insert(&l8, &x) == FPT_OK);
	}
	CHECK(fpt_page_count(&l8, page) == 2 * n && sound(&l8));
}

/*
 * An insertion changes few bytes, and of a value reports those that are others
 * than they were.
 */
static void
test_insert_edits(void)
{
	for (int i = 0; i < 2 * 16; i++)
	{
		for (int kind = 0; kind <= FPT_KIND_INNER; kind++)
		{
			int			kw = i / 2 + 1;
			bool		far = i % 2 == 1;
			FPTEntry	x = leaf_entry(50, 1);
			FPTEdit		edit = {0};
			static char before[BLCKSZ];
			const FPTGeom *g;
			int			bytes = 0;
			int			expect = 0;

			/* near the others, and, where that matters, far from them */
			if (far && kind != FPT_KIND_LEAF1)
				continue;
			make_entries(3, 10, 30);
			init_page(&l16, kind == FPT_KIND_INNER ? 1 : 0,
					  fpt_enc(kw - 1, kind), 0);
			g = fpt_page_geom(&l16, page);
			if (far)
				x.key.tid = UINT64CONST(0x0100020003);
			CHECK(fpt_page_fill(&l16, page, e, 3, 90) == FPT_OK);
			memcpy(before, page, BLCKSZ);
			CHECK(fpt_page_insert(&l16, page, &x, &edit) == FPT_OK);
			CHECK(edit.n >= 1 && edit.n <= FPT_MAX_EDITS);
			for (int j = 0; j < edit.n; j++)
			{
				int			off = edit.r[j].off;

				bytes += edit.r[j].len;
				memcpy(before + off, page + off, edit.r[j].len);
			}
			CHECK(memcmp(before, page, BLCKSZ) == 0);

			/* a byte of the searched key, whose upper bytes are zero */
			expect = kw <= 8 ? 1 : 0;

			/* one of the TID, or all that goes with it */
			expect += kw <= 8 && kind != FPT_KIND_INNER ? 1 : g->pw;

			/* a far TID */
			expect += far ? 4 : 0;

			/* a byte of the bitmap, and two of the permutation */
			expect += kind == FPT_KIND_INNER ? 1 + 2 : 0;
			CHECK(bytes == expect);
		}
	}
}

/* Ascending insertions leave full nodes behind. */
static void
test_insert_ascending(void)
{
	FPTEntry	x;
	FPTResult	res = FPT_OK;
	int			n = 0;

	init_page(&l8, 0, ENC(2, LEAF4), 0);
	while (res == FPT_OK)
	{
		x = leaf_entry((uint64) n, 1);
		res = insert(&l8, &x);
		n += res == FPT_OK;
	}
	CHECK(res == FPT_FULL);
	CHECK(n == (int) fpt_page_geom(&l8, page)->capacity);
	CHECK(fpt_page_count(&l8, page) == n && sound(&l8));
}

/*
 * Rows of which eight at a time come in any order do, too, at the end of a page
 * or in front of others that are older; they take no reorganisation.
 */
static void
test_insert_nearly_ascending(void)
{
	for (int others = 0; others <= 40; others += 40)
	{
		FPTResult	res = FPT_OK;
		int			n = 0;

		init_page(&l8, 0, ENC(4, LEAF4), 0);
		make_entries(others, 0x80000000, 7);
		CHECK(fpt_page_fill(&l8, page, e, others, 90) == FPT_OK);
		while (res == FPT_OK)
		{
			int			i = n / 8 * 8 + n % 8 * 5 % 8;
			FPTEntry	x = leaf_entry((uint64) i * 100,
									   ((uint64) (n / 100 + 9) << 16) |
									   (uint64) (n % 100 + 1));

			res = fpt_page_make_room(&l8, page, &x, NULL);
			if (res == FPT_OK)
				res = insert(&l8, &x);
			n += res == FPT_OK;
		}
		CHECK(res == FPT_FULL || res == FPT_NO_WORK);
		CHECK((n + others) * 100 >=
			  (int) fpt_page_geom(&l8, page)->capacity * 88);
		CHECK(fpt_page_count(&l8, page) == n + others && sound(&l8));
	}
}

/*
 * The new entry's key is that of the last one of a full node, and the next node
 * has one free slot: the last one must not take it, as the new one would follow.
 */
static void
test_insert_behind_equal(void)
{
	int			cap;
	FPTEntry	x;

	init_page(&l8, 0, ENC(4, LEAF4), 0);
	cap = fpt_page_geom(&l8, page)->cap;
	for (int i = 0; i < 2 * cap - 1; i++)
		e[i] = leaf_entry((uint64) i * 2, ((uint64) 9 << 16) | (uint64) (i + 1));
	CHECK(fpt_page_fill(&l8, page, e, 2 * cap - 1, 100) == FPT_OK);
	CHECK(fpt_node_count(&l8, page, 0) == cap);
	CHECK(fpt_node_count(&l8, page, 1) == cap - 1);
	x = leaf_entry((uint64) (cap - 1) * 2,
				   ((uint64) 9 << 16) | (uint64) (2 * cap));
	CHECK(fpt_page_make_room(&l8, page, &x, NULL) == FPT_OK);
	CHECK(insert(&l8, &x) == FPT_OK);
	CHECK(fpt_page_count(&l8, page) == 2 * cap && sound(&l8));
}

/*
 * A page of full nodes, of keys 0, 2, 4 ..., or all of them 2 if "equal", but
 * for two of which so many entries are left.  Returns a node's slots.
 */
static int
init_rooms(bool equal, int kid1, int left1, int kid2, int left2)
{
	const FPTGeom *g;
	uint64		gone;
	int			n;

	init_page(&l8, 0, ENC(4, LEAF4), 0);
	g = fpt_page_geom(&l8, page);
	n = (int) g->capacity;
	for (int i = 0; i < n; i++)
		e[i] = leaf_entry(equal ? 2 : (uint64) i * 2,
						  ((uint64) (equal ? i : i * 7919 % n) << 16) | 2);
	CHECK(fpt_page_fill(&l8, page, e, n, 100) == FPT_OK);
	gone = g->capmask & ~fpt_first_slots(left1);
	CHECK(kt_delete_slots(&l8, page, kid1, gone) == FPT_OK);
	gone = g->capmask & ~fpt_first_slots(left2);
	CHECK(kt_delete_slots(&l8, page, kid2, gone) == FPT_OK);
	CHECK(sound(&l8));
	return g->cap;
}

/*
 * Entries are shifted to where slots cost the least, or not at all.  Which is
 * what, hangs on how many nodes and slots there are: with pages of 8 kB only.
 */
static void
test_shift_cost(void)
{
	FPTEntry	x;
	int			cap;

	if (BLCKSZ != 8192)
		return;
	/* not to the neighbour with one free slot, but to that with many */
	cap = init_rooms(false, 3, 2, 5, fpt_page_geom(&l8, page)->cap - 1);
	x = leaf_entry((uint64) (4 * cap + cap / 2) * 2 + 1, 1);
	CHECK(insert(&l8, &x) == FPT_OK && sound(&l8));
	CHECK(fpt_node_count(&l8, page, 5) == cap - 1);
	CHECK(fpt_node_count(&l8, page, 3) == 2 + 4);
	CHECK(fpt_node_count(&l8, page, 4) == cap + 1 - 4);

	/* over a node with a free slot, if more are to be had there */
	cap = init_rooms(false, 5, cap - 1, 6, cap / 2);
	CHECK(insert(&l8, &x) == FPT_OK && sound(&l8));
	CHECK(fpt_node_count(&l8, page, 5) == cap - 1);
	CHECK(fpt_node_count(&l8, page, 6) == cap / 2 + 4);

	/* not so far for a single slot */
	cap = init_rooms(false, 0, cap, 10, cap - 1);
	CHECK(fpt_page_make_room(&l8, page, &x, NULL) == FPT_FULL);
	CHECK(fpt_page_find_room(&l8, page, &x, NULL) == FPT_OK);
	CHECK(insert(&l8, &x) == FPT_OK && sound(&l8));

	/* all the room is wanted, but a node on the way has not so much to give */
	cap = init_rooms(true, 5, cap - 5, 6, 1);
	x = leaf_entry(2, ((uint64) (4 * cap + 1) << 16) | 1);
	CHECK(insert(&l8, &x) == FPT_OK && sound(&l8));
}

/*
 * Separators of wide keys, where their upper bytes tell enough.  The page must
 * have room for a fifth node, and nodes must be split before all are there.
 */
static void
test_short_separators(void)
{
	const FPTGeom *g;
	uint64		hi;
	uint64		lo;
	FPTPage		pg;
	FPTEntry	x;
	int			n;

	if (BLCKSZ != 8192 && BLCKSZ != 4096)
		return;
	fpt_page_init(&l16, page, &(FPTPageSpec) {0, 5, &minf, &pinf},
				  ENC(16, LEAF4), &(FPTKey) {.cls = FPT_CLS_VALUE}, 0);
	pg = fpt_page_open(&l16, page);
	g = pg.g;
	n = 2 * g->cap;
	for (int i = 0; i < n; i++)
	{
		/* the second node begins within one upper half, the fourth does not */
		e[i].key = kt_key(FPT_CLS_VALUE, (uint64) (i < n / 2 ? 7 : i), 99 + i,
						  ((uint64) (i * 7919 % n) << 16) | 2);
		e[i].down = 0;
	}
	CHECK(fpt_page_fill(&l16, page, e, n, 50) == FPT_OK);
	CHECK(fpt_header(page)->nkids >= 4 && sound(&l16));
	fpt_sep_get(pg, 1, &hi, &lo);
	CHECK(hi == 7 && lo != 0);
	fpt_sep_get(pg, fpt_header(page)->nkids - 1, &hi, &lo);
	CHECK(hi != 7 && lo == 0);

	/* a node split makes such a one: keys repeat, rows come in no order */
	x = e[n - 2];
	x.key.lo++;
	for (int i = 0; fpt_header(page)->nkids == 4 && i < g->cap; i++)
	{
		x.key.tid = ((uint64) (i * 7919 % 1009 + 1) << 16) | 3;
		CHECK(insert(&l16, &x) == FPT_OK && sound(&l16));
	}
	fpt_sep_get(pg, 4, &hi, &lo);
	CHECK(fpt_header(page)->nkids == 5 && hi == x.key.hi && lo != 0);
}

/*
 * Nodes that lost their last entry, or went to another page, keep what was in
 * them; so do they when they are put to use, TIDs apart.
 */
static void
test_nodes_keep_bytes(void)
{
	const FPTGeom *g;
	char	   *node;
	char		was[BLCKSZ];
	int			cap;

	if (BLCKSZ < 4096)			/* seven nodes */
		return;
	cap = init_rooms(false, 0, 64, 1, 64);
	g = fpt_page_geom(&l8, page);
	node = page + g->node_off + 6 * g->x * FPT_LINE;
	memcpy(was, node, g->x * FPT_LINE);
	CHECK(fpt_page_truncate(&l8, page, 6 * cap) == FPT_OK && sound(&l8));
	CHECK(memcmp(node, was, g->x * FPT_LINE) == 0);
	for (int i = 0; fpt_page_nodes(&l8, page) == 6; i++)
	{
		FPTEntry	x = leaf_entry((uint64) i * 2 + 1, 77 << 16 | 3);

		CHECK(insert(&l8, &x) == FPT_OK && sound(&l8));
	}
	CHECK(fpt_node_used(g, node) != 0);
	CHECK(memcmp(node + (cap - 1) * g->sw, was + (cap - 1) * g->sw,
				 g->sw) == 0);
	CHECK(fpt_load_uint(node + g->tid_off + (cap - 1) * g->pw, g->tw) == 0);
	CHECK(fpt_page_count(&l8, page) == 6 * cap + 1);
}

/* What a new page's delta begins with: deleted, sound, as short as can be. */
static void
test_strip(void)
{
	FPTPageHeader *h = fpt_header(page);
	FPTKey		high;

	init_rooms(false, 0, 64, 1, 64);
	high = fpt_page_high(&l8, page);
	fpt_page_strip(&l8, page);
	CHECK(sound(&l8) && fpt_page_sane(&l8, page, 5));
	CHECK(h->flags == FPT_F_DELETED && h->nnodes == 0 && h->nkids == 0);
	CHECK(h->std.pd_lower <= (BLCKSZ <= 8192 ? 2 : 5) * FPT_LINE);
	CHECK(fpt_image_cmp(&high, &(FPTKey) {.cls = FPT_CLS_PINF}) == 0);

	/* an inner page keeps being one */
	init_page(&l8, 3, ENC(8, INNER), 0);
	make_entries(20, 1, 5);
	e[0].key = (FPTKey) {.cls = FPT_CLS_VALUE};
	CHECK(fpt_page_fill(&l8, page, e, 20, 50) == FPT_OK && sound(&l8));
	fpt_page_strip(&l8, page);
	CHECK(sound(&l8) && h->level == 3 && h->nnodes == 0);
}

/* Where the entries are that came last. */
static void
test_recent_band(void)
{
	uint64		tids[100];
	FPTBand		band;

	for (int i = 0; i < 100; i++)
		tids[i] = (uint64) i << 16 | 1;
	CHECK(fpt_recent_band(tids, 100, 16, &band));
	CHECK(band.from == 84 && band.to == 99 && !band.local);
	for (int i = 20; i < 60; i++)
		tids[i] = (UINT64CONST(1) << 40) + (uint64) (i ^ 3);
	CHECK(fpt_recent_band(tids, 100, 16, &band));
	CHECK(band.from == 44 && band.to == 59 && band.local);
	tids[50] += UINT64CONST(1) << 20;
	CHECK(!fpt_recent_band(tids, 100, 16, &band));
	tids[50] -= UINT64CONST(1) << 20;
	tids[99] = UINT64CONST(1) << 41;
	CHECK(!fpt_recent_band(tids, 100, 16, &band));
	CHECK(!fpt_recent_band(tids, 8, 16, &band));
	CHECK(!fpt_recent_band(tids, 8, 1, &band));
	CHECK(!fpt_recent_band(tids, 100, FPT_RECENT_MAX + 1, &band));
}

/* Random ones use most of the page before it has to be split. */
static void
test_insert_random(void)
{
	FPTResult	res = FPT_OK;
	int			n = 0;

	init_page(&l8, 0, ENC(4, LEAF4), 0);
	while (res == FPT_OK)
	{
		FPTEntry	x = leaf_entry(kt_below(0xFFFFFFFF), 1);

		res = insert(&l8, &x);
		n += res == FPT_OK;
	}
	CHECK(res == FPT_FULL || res == FPT_DUPLICATE);
	CHECK(n * 4 >= (int) fpt_page_geom(&l8, page)->capacity * 3);
	CHECK(fpt_page_count(&l8, page) == n && sound(&l8));
}

/*
 * A first NULL in a page whose nodes are all in use, but sparsely: the page is
 * reorganised to get a node for it.
 */
static void
test_reorganise(void)
{
	const FPTGeom *g;
	FPTEntry	x;
	int			n;
	FPTLoc		loc;
	FPTLoc		next;
	uint16		slotid;
	FPTRun		run = {.slotids = &slotid};

	init_page(&l8, 0, ENC(4, LEAF4), 0);
	g = fpt_page_geom(&l8, page);
	n = g->maxnodes;
	make_entries(n, 1, 5);
	CHECK(fpt_page_fill(&l8, page, e, n, 1) == FPT_OK);
	CHECK(fpt_header(page)->nkids == g->maxnodes);
	x.key = kt_key(FPT_CLS_NULLLAST, 0, 0, 3);
	x.down = 0;
	fpt_page_hint_set(&l8, page, (g->maxnodes - 1) * g->cap);
	CHECK(insert(&l8, &x) == FPT_OK);
	CHECK(fpt_page_count(&l8, page) == n + 1 && sound(&l8));
	CHECK(fpt_header(page)->nnull == 1);

	/* the hint is where its entry is now */
	CHECK(fpt_page_lower_bound(&l8, page, &e[n - 1].key, &loc) == FPT_OK);
	next = (FPTLoc) {loc.kid, loc.rank + 1, 0};
	CHECK(fpt_page_copy(&l8, page, loc, next, false, &run) == 1);
	CHECK(fpt_page_hint_get(&l8, page, slotid));
	CHECK(fpt_page_copy(&l8, page, loc, next, true, &run) == 0);

	/* not worth it when the page is almost full */
	n = (int) g->capacity;
	make_entries(n, 1, 5);
	init_page(&l8, 0, ENC(4, LEAF4), 0);
	CHECK(fpt_page_fill(&l8, page, e, n, 100) == FPT_OK);
	CHECK(insert(&l8, &x) == FPT_FULL);
	CHECK(fpt_page_count(&l8, page) == n && sound(&l8));
}

/*
 * A page of half empty nodes is packed: the same entries in fewer nodes, each
 * with a free slot, hints with their entries, the rest in the hole.
 */
static void
test_pack(void)
{
	const FPTGeom *g;
	int			n;
	int			nnodes;
	int			lower;
	int			hinted = 0;

	init_page(&l8, 0, ENC(4, LEAF4), 0);
	g = fpt_page_geom(&l8, page);
	n = (int) g->capacity / 2;
	make_entries(n, 1, 5);
	CHECK(fpt_page_fill(&l8, page, e, n, 50) == FPT_OK);
	nnodes = fpt_header(page)->nnodes;
	lower = fpt_header(page)->std.pd_lower;
	fpt_page_hint_set(&l8, page, (nnodes - 1) * g->cap);
	CHECK(fpt_page_hint_get(&l8, page, (nnodes - 1) * g->cap));
	CHECK(fpt_page_pack(&l8, page, NULL) == FPT_NO_WORK);
	CHECK(fpt_header(page)->nnodes == nnodes);
	CHECK(fpt_page_pack(&l8, page, &kt_work) == FPT_OK);
	CHECK(fpt_page_count(&l8, page) == n && sound(&l8));
	CHECK(fpt_header(page)->nnodes < nnodes);
	CHECK(lower - fpt_header(page)->std.pd_lower >= BLCKSZ / 16);
	for (int i = 0; i < fpt_header(page)->nkids; i++)
	{
		CHECK(fpt_node_count(&l8, page, i) < g->cap);
		for (int slot = 0; slot < g->cap; slot++)
			hinted += fpt_page_hint_get(&l8, page,
										fpt_kid(fpt_page_open(&l8, page), i) *
										g->cap + slot);
	}
	CHECK(hinted == 1);

	/* once is enough, and full pages stay as they are */
	CHECK(fpt_page_pack(&l8, page, &kt_work) == FPT_FULL);
	n = (int) g->capacity;
	make_entries(n, 1, 5);
	init_page(&l8, 0, ENC(4, LEAF4), 0);
	CHECK(fpt_page_fill(&l8, page, e, n, 100) == FPT_OK);
	CHECK(fpt_page_pack(&l8, page, &kt_work) == FPT_FULL);
}

/*
 * Pages of few nodes, with NULLs and values: room is made, or the page is
 * full, but nothing goes on for ever.
 */
static void
layout_of_few_nodes(FPTLayout *l)
{
	static FPTGeoms geoms;
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];
	int			fewest = FPT_MAX_NODES;

	for (int w = 1; w <= 8; w++)
	{
		for (int x = 1; x <= 32; x++)
		{
			FPTGeom		g;

			if (fpt_choose_widths(8, w, x, widths) &&
				fpt_geom_init(&g, 8, FPT_KIND_LEAF4, w, x) &&
				g.maxnodes < fewest)
			{
				fewest = g.maxnodes;
				CHECK(fpt_layout_init(l, &geoms, 8, false, 9, widths));
			}
		}
	}
	CHECK(fewest < 16);
}

static void
test_few_nodes(void)
{
	FPTLayout	l;

	layout_of_few_nodes(&l);
	for (int nulls = 0; nulls < 200; nulls += 7)
	{
		FPTResult	res = FPT_OK;
		int			n = 0;

		init_page(&l, 0, ENC(8, LEAF4), 0);
		while (res == FPT_OK)
		{
			FPTEntry	y = leaf_entry(kt_random() / 2, 1 + (uint64) n);

			if (n < nulls)
				y.key = kt_key(FPT_CLS_NULLLAST, 0, 0, 1 + (uint64) n);
			y.key.tid = (y.key.tid << 16) | 1;
			res = insert(&l, &y);
			n += res == FPT_OK;
			CHECK(sound(&l));
		}
		CHECK(res == FPT_FULL && fpt_page_count(&l, page) == n);
	}
}

/* --- searching ---------------------------------------------------------- */

static void
test_empty_page(void)
{
	FPTKey		k = value(3, 1);
	FPTLoc		loc;
	FPTLoc		last;
	FPTEntry	x;
	FPTRun		run = {0};

	init_page(&l8, 0, ENC(2, LEAF6), 0);
	for (uint32 cls = FPT_CLS_MINF; cls <= FPT_CLS_PINF; cls++)
	{
		k.cls = cls;
		CHECK(fpt_page_lower_bound(&l8, page, &k, &loc) == FPT_OK);
		CHECK(loc.kid == 0 && loc.rank == 0);
		CHECK(fpt_page_range(&l8, page, &k, &k, &loc, &last) == FPT_OK);
		CHECK(loc.kid == 0 && last.kid == 0 && last.rank == 0);
	}
	CHECK(!fpt_page_step(&l8, page, &loc, 1));
	CHECK(!fpt_page_step(&l8, page, &loc, -1));
	CHECK(fpt_page_get(&l8, page, loc, &x) == FPT_CORRUPT);
	CHECK(fpt_page_delete(&l8, page, loc) == FPT_CORRUPT);
	CHECK(fpt_page_copy(&l8, page, loc, loc, false, &run) == 0);
	CHECK(fpt_page_extract(&l8, page, &x, 0) == 0);
	CHECK(fpt_page_truncate(&l8, page, 0) == FPT_OK);
	fpt_page_trim(&l8, page);
	CHECK(sound(&l8));
}

static void
test_find_child(void)
{
	FPTKey		k;
	FPTLoc		loc;
	uint32		child = 0;
	int			n = (int) l8.geoms->geom[3][FPT_KIND_INNER].capacity / 2;

	make_entries(n, 1000, 10);
	init_page(&l8, 1, ENC(4, INNER), 1000);
	CHECK(fpt_page_fill(&l8, page, e, n, 90) == FPT_OK);
	k = value(5, 1);			/* before everything: minus infinity's */
	CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_OK);
	CHECK(child == 2 && loc.kid == 0 && loc.rank == 0);
	k = kt_key(FPT_CLS_PINF, 0, 0, 0);
	CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_OK);
	CHECK(child == (uint32) n + 1);
	for (int i = 0; i < n; i++)
	{
		k = e[i].key;
		CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_OK);
		CHECK(child == e[i].down);
		k.lo += 9;
		CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_OK);
		CHECK(child == e[i].down);
		CHECK(fpt_page_set_down(&l8, page, loc, 70000 + i) == FPT_OK);
		CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_OK);
		CHECK(child == 70000 + (uint32) i);
	}
	init_page(&l8, 0, ENC(4, LEAF6), 1000);
	CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_CORRUPT);
	CHECK(fpt_page_set_down(&l8, page, loc, 3) == FPT_CORRUPT);
}

/* --- removing ----------------------------------------------------------- */

static void
test_delete_all(void)
{
	const FPTGeom *g;
	FPTLoc		loc = {0, 0};
	int			n;

	init_page(&l8, 0, ENC(4, LEAF6), 0);
	g = fpt_page_geom(&l8, page);
	n = (int) g->capacity;
	make_entries(n, 0, 2);
	CHECK(fpt_page_fill(&l8, page, e, n, 100) == FPT_OK);
	for (int i = n; i > 0; i--)
	{
		CHECK(fpt_page_count(&l8, page) == i);
		loc.rank = (int) kt_below(fpt_node_count(&l8, page, 0));
		CHECK(fpt_page_delete(&l8, page, loc) == FPT_OK);
	}
	CHECK(fpt_page_delete(&l8, page, loc) == FPT_CORRUPT);
	CHECK(fpt_header(page)->nkids == 0);
	CHECK(fpt_header(page)->std.pd_lower > g->node_off);
	fpt_page_trim(&l8, page);
	CHECK(fpt_header(page)->std.pd_lower == g->node_off);
	CHECK(sound(&l8));
}

static void
test_truncate(void)
{
	int			n = (int) l8.geoms->geom[3][FPT_KIND_LEAF6].capacity;

	make_entries(n, 0, 2);
	for (int keep = 0; keep <= n; keep++)
	{
		init_page(&l8, 0, ENC(4, LEAF6), 0);
		CHECK(fpt_page_fill(&l8, page, e, n, 100) == FPT_OK);
		CHECK(fpt_page_truncate(&l8, page, keep) == FPT_OK);
		CHECK(fpt_page_count(&l8, page) == keep);
		if (keep % 50 == 0)
			CHECK(sound(&l8));
	}
	CHECK(fpt_page_truncate(&l8, page, n + 10) == FPT_OK);
	CHECK(fpt_page_count(&l8, page) == n);
}

/* --- hints -------------------------------------------------------------- */

static void
test_hints(void)
{
	const FPTGeom *g;
	FPTLoc		loc = {0, 0};
	uint16		slotid;
	FPTRun		run = {.slotids = &slotid};
	FPTLoc		next = {0, 1};
	int			n = 20;
	int			from;
	int			to;

	make_entries(n, 0, 2);
	init_page(&l8, 0, ENC(4, LEAF6), 0);
	g = fpt_page_geom(&l8, page);
	CHECK(fpt_page_fill(&l8, page, e, n, 50) == FPT_OK);
	CHECK(fpt_page_has_hints(&l8, page));
	fpt_page_hint_area(&l8, page, &from, &to);
	CHECK(from >= fpt_header(page)->std.pd_lower && from < to &&
		  to <= fpt_header(page)->std.pd_upper);
	CHECK(fpt_page_copy(&l8, page, loc, next, true, &run) == 1);
	CHECK(fpt_page_slot_is(&l8, page, slotid, 1));
	CHECK(!fpt_page_slot_is(&l8, page, slotid, 2));
	CHECK(!fpt_page_slot_is(&l8, page, g->cap - 1, 0));	/* unused */
	for (int i = from; i < to; i++)
		CHECK(((char *) page)[i] == 0);
	fpt_page_hint_set(&l8, page, slotid);
	CHECK(fpt_page_hint_get(&l8, page, slotid) && sound(&l8));
	while (from < to && ((char *) page)[from] == 0)
		from++;
	CHECK(from < to);
	CHECK(fpt_page_copy(&l8, page, loc, next, true, &run) == 0);
	CHECK(fpt_page_copy(&l8, page, loc, next, false, &run) == 1);

	/* an entry that takes the slot is not dead */
	CHECK(fpt_page_delete(&l8, page, loc) == FPT_OK);
	CHECK(!fpt_page_hint_get(&l8, page, slotid));
	CHECK(!fpt_page_slot_is(&l8, page, slotid, 1));

	/* no such slot */
	fpt_page_hint_set(&l8, page, -1);
	fpt_page_hint_set(&l8, page, fpt_header(page)->nnodes * g->cap);
	CHECK(!fpt_page_hint_get(&l8, page, -1));
	CHECK(!fpt_page_hint_get(&l8, page, fpt_header(page)->nnodes * g->cap));
	CHECK(!fpt_page_slot_is(&l8, page, -1, 1));
	CHECK(sound(&l8));

	/* a node that is free keeps its bytes, but its entries are gone */
	slotid = (uint16) (fpt_kid(fpt_page_open(&l8, page), 0) * g->cap);
	CHECK(fpt_page_truncate(&l8, page, 0) == FPT_OK);
	fpt_node(fpt_page_open(&l8, page), slotid / g->cap)[0] = 1;
	CHECK(!fpt_page_slot_is(&l8, page, slotid, 1));

	/* none in inner pages */
	init_page(&l8, 1, ENC(4, INNER), 0);
	CHECK(fpt_page_fill(&l8, page, e, n, 50) == FPT_OK);
	CHECK(!fpt_page_has_hints(&l8, page));
	fpt_page_hint_area(&l8, page, &from, &to);
	CHECK(from == 0 && to == 0);
	fpt_page_hint_set(&l8, page, 0);
	CHECK(!fpt_page_hint_get(&l8, page, 0) && sound(&l8));
	CHECK(!fpt_page_slot_is(&l8, page, 0, 1));
}

/* --- forming ------------------------------------------------------------ */

/* Form a page of e[0 .. n - 1]; its key width, or -1 if it does not fit. */
static int
form(const FPTLayout *l, int level, const FPTKey *low, const FPTKey *high,
	 int n)
{
	if (fpt_page_form(l, page, &(FPTPageSpec) {level, 5, low, high}, e, n,
					  90) != FPT_OK)
		return -1;
	fpt_header(page)->left = low->cls == FPT_CLS_MINF ? 0 : 7;
	fpt_header(page)->right = high->cls == FPT_CLS_PINF ? 0 : 7;
	CHECK(fpt_page_count(l, page) == n && sound(l));
	return fpt_page_geom(l, page)->kw;
}

/*
 * Entries near a value and a high fence that is as far from it as so many bytes
 * can tell, or one more; "fixed": that is so without the fixed bits, which all
 * have.  Else the last entry has others.
 */
static void
between_widths(int kw, bool fixed)
{
	FPTKey		low = value(1000, 0);
	FPTKey		high = low;
	FPTEntry	x = leaf_entry(1000, 1);

	make_entries(10, 1000, 5);
	if (!fixed && kw >= 8)
		e[9].key.lo |= (uint64) 1 << 63;
	for (int more = 0; more < 2; more++)
	{
		kt_u128		v = 1000 + ((kt_u128) 1 << (8 * kw)) - 1 + more;
		int			got;

		high.hi = (uint64) (v >> 64);
		high.lo = (uint64) v;
		if (fixed && kw == 15 && more > 0)
			break;				/* all bytes, with the fixed bits */
		if (fixed)
			fpt_key_expand(0, &high.hi, &high.lo);
		x.key = high;
		x.key.tid = 1;
		if (more > 0)
			CHECK(kt_insert_probe(&l16, page, &x) == FPT_UNFIT);
		got = form(&l16, 0, &low, &high, 10);
		CHECK(got == kw + more);
		CHECK(fpt_is_fixed(&l16, page) == (fixed && more == 0));
		CHECK(kt_insert_probe(&l16, page, &x) != FPT_UNFIT);
	}
}

/* Between two values every key that can arrive is representable. */
static void
test_form_between(void)
{
	FPTKey		low = value(1000, 0);
	FPTKey		high = value(1000 + 0xFFFF, 0);
	FPTEntry	x = leaf_entry(high.lo, 1);

	make_entries(10, 1000, 5);
	CHECK(form(&l8, 0, &low, &high, 10) == 2);
	CHECK(kt_insert_probe(&l8, page, &x) != FPT_UNFIT);
	high.lo = 1000 + 0xFF;
	CHECK(form(&l4, 0, &low, &high, 10) == 1);
	x.key.lo = 1000 + 0xFE;
	CHECK(kt_insert_probe(&l4, page, &x) != FPT_UNFIT);
	high.lo++;
	CHECK(form(&l4, 0, &low, &high, 10) == 2);
	high.lo = 1000 + 0xFFFF;
	high.lo++;
	CHECK(form(&l8, 0, &low, &high, 10) == 3);
	high.lo = ~(uint64) 0;
	CHECK(form(&l8, 0, &low, &high, 10) == 8);

	/* all widths, and where the next one begins */
	for (int kw = 1; kw < 16; kw++)
		between_widths(kw, false);
	for (int kw = 8; kw < 16; kw++)
		between_widths(kw, true);
}

/* Too many entries for that: as tight as they are. */
static void
test_form_dense(void)
{
	FPTKey		low = value(1000, 0);
	FPTKey		high = value(~(uint64) 0, 0);
	int			n = (int) l8.geoms->geom[1][FPT_KIND_LEAF1].capacity;

	make_entries(n, 1000, 1);
	CHECK(form(&l8, 0, &low, &high, n) == 2);
	make_entries(n, 1000, 1000000);
	CHECK(form(&l8, 0, &low, &high, n) == -1);

	/* the widest range of 8-byte offsets, and one more */
	n = (int) l16.geoms->geom[7][FPT_KIND_LEAF1].capacity;
	make_entries(n, 1000, 1);
	e[n - 1].key.hi = 1;
	e[n - 1].key.lo = 999;
	CHECK(form(&l16, 0, &minf, &pinf, n) == 8);
	e[n - 1].key.lo = 1000;
	CHECK(form(&l16, 0, &minf, &pinf, n) == 8);
	CHECK(fpt_is_fixed(&l16, page));
	e[n - 1].key.lo |= (uint64) 1 << 62;
	CHECK(form(&l16, 0, &minf, &pinf, n) == -1);
}

/* A page that is open at an end gets room there. */
static void
test_form_open(void)
{
	FPTKey		low = value(1000, 0);
	FPTEntry	x;

	make_entries(30, 1000, 5);
	CHECK(form(&l8, 0, &low, &pinf, 30) == 2);
	x = leaf_entry(1000 + 0xFFFF, 1);
	CHECK(kt_insert_probe(&l8, page, &x) != FPT_UNFIT);
	/* of wide keys below the lowest one, too, whatever its upper half is */
	for (uint64 hi = 0; hi < 3; hi++)
	{
		for (int i = 0; i < 30; i++)
			e[i].key = kt_key(FPT_CLS_VALUE, hi + i * 3, 500 - i, 1);
		CHECK(form(&l16, 0, &minf, &pinf, 30) > 8);
		x = leaf_entry(499, 1);
		x.key.hi = hi;
		CHECK(kt_insert_probe(&l16, page, &x) != FPT_UNFIT);
		x.key.lo = 0;
		CHECK(kt_insert_probe(&l16, page, &x) != FPT_UNFIT);
	}

	make_entries(30, 100000, 5);
	low = value(100150, 0);
	CHECK(form(&l8, 0, &minf, &low, 30) == 2);
	x = leaf_entry(100150 - 0xFFFF, 1);
	CHECK(kt_insert_probe(&l8, page, &x) != FPT_UNFIT);
	CHECK(form(&l8, 0, &minf, &pinf, 30) == 2);
	x = leaf_entry(100000 - 0x7000, 1);
	CHECK(kt_insert_probe(&l8, page, &x) != FPT_UNFIT);
	x = leaf_entry(100150 + 0x7000, 1);
	CHECK(kt_insert_probe(&l8, page, &x) != FPT_UNFIT);

	/* near the ends of all keys */
	make_entries(30, 0, 5);
	CHECK(form(&l8, 0, &minf, &pinf, 30) == 2);
	make_entries(30, ~(uint64) (29 * 5), 5);
	CHECK(form(&l8, 0, &minf, &pinf, 30) == 2);
	make_entries(3, 0, ~(uint64) 0 / 2);
	CHECK(form(&l8, 0, &minf, &pinf, 3) == 8);
	for (int i = 0; i < 3; i++)
		e[i].key.hi = (uint64) i << 62;
	CHECK(form(&l16, 0, &minf, &pinf, 3) == 16);
	CHECK(form(&l8, 0, &minf, &pinf, 0) == 1);
}

/* Only NULLs. */
static void
test_form_nulls(void)
{
	FPTKey		low = value(1000, 0);

	for (int i = 0; i < 5; i++)
	{
		e[i].key = kt_key(FPT_CLS_NULLLAST, 0, 0, 1 + i);
		e[i].down = 0;
	}
	CHECK(form(&l8, 0, &low, &pinf, 5) == 1);
	CHECK(fpt_header(page)->nnull == 1);
	low = e[0].key;
	CHECK(form(&l8, 0, &low, &pinf, 5) == 1);
}

/* The first entry of a leftmost inner page is below whatever comes. */
static void
test_form_minus_infinity(void)
{
	FPTKey		high = kt_key(FPT_CLS_NULLLAST, 0, 0, 1);
	FPTEntry	x;
	FPTLoc		loc;
	int			n;

	make_entries(10, 1000, 5);
	e[0].key = minf;
	CHECK(form(&l8, 1, &minf, &pinf, 10) == 2);
	CHECK(fpt_key_cmp(&l16, &e[0].key, &e[1].key) < 0);
	x = leaf_entry(1002, 0);
	x.down = 99;
	CHECK(kt_insert_probe(&l8, page, &x) == FPT_UNFIT);
	x = leaf_entry(1007, 1);
	x.down = 99;
	CHECK(insert(&l8, &x) == FPT_OK);
	CHECK(fpt_page_lower_bound(&l8, page, &x.key, &loc) == FPT_OK);
	CHECK(loc.rank == 2);

	/* separators without a TID */
	make_entries(2, 1000, 5);
	e[1].key.tid = 0;
	n = form(&l8, 1, &minf, &pinf, 2);
	CHECK(n == 1 || n == 2);
	e[1].key = value(0, 0);
	e[1].key.hi = 1;
	n = form(&l16, 1, &minf, &pinf, 2);
	CHECK(n == 1 || n == 2);

	/* nothing to be near to */
	make_entries(2, 1000, 5);
	e[1].key = kt_key(FPT_CLS_NULLLAST, 0, 0, 7);
	CHECK(form(&l8, 1, &minf, &pinf, 2) == 1);
	CHECK(form(&l8, 1, &minf, &high, 1) == 1);
	make_entries(2, 1000, 5);
	CHECK(form(&l8nf, 1, &minf, &pinf, 2) == 1);
	CHECK(e[0].key.cls == FPT_CLS_NULLFIRST && e[0].key.tid == 0);
	x.key = kt_key(FPT_CLS_NULLFIRST, 0, 0, 9);
	CHECK(insert(&l8nf, &x) == FPT_OK && sound(&l8nf));
}

/* Where a key is between its separator and the next one. */
static void
test_fraction(void)
{
	FPTLayout  *layouts[2] = {&l8, &l16};

	for (int j = 0; j < 2; j++)
	{
		FPTLayout  *l = layouts[j];
		int			n = (int) l->geoms->geom[3][FPT_KIND_INNER].capacity / 2;
		FPTLoc		loc = {0, 0};
		FPTKey		k;
		uint32		child;

		make_entries(n, 1000, 16);
		init_page(l, 1, ENC(4, INNER), 1000);
		CHECK(fpt_page_fill(l, page, e, n, 90) == FPT_OK);
		for (int i = 0; i < n; i++)
		{
			uint32		f;

			k = e[i].key;
			k.lo += 4;
			CHECK(fpt_page_find_child(l, page, &k, &child, &loc) == FPT_OK);
			f = fpt_page_fraction(l, page, loc, &k);
			if (i < n - 1)
				CHECK(f > 65536 / 8 && f < 65536 * 3 / 8);
			else
				CHECK(f == 0);	/* there is no next one */
			k.lo += 100;		/* not of this child */
			CHECK(fpt_page_fraction(l, page, loc, &k) == 0);
		}
		k = kt_key(FPT_CLS_PINF, 0, 0, 0);
		CHECK(fpt_page_fraction(l, page, loc, &k) == 0);
		k = value(5, 1);		/* below the page's base */
		CHECK(fpt_page_fraction(l, page, loc, &k) == 0);

		/* slots that do not exist */
		k = e[0].key;
		CHECK(fpt_page_find_child(l, page, &k, &child, &loc) == FPT_OK);
		fpt_node_perm(fpt_page_geom(l, page),
					  fpt_kid_node(fpt_page_open(l, page), 0))[1] = 255;
		CHECK(fpt_page_fraction(l, page, loc, &k) == 0);
		loc.rank = 1;
		CHECK(fpt_page_fraction(l, page, loc, &k) == 0);
		loc.kid = 255;
		CHECK(fpt_page_fraction(l, page, loc, &k) == 0);
	}
}

/* Which keys of a page fpt_page_copy_image() finds, and which it leaves. */
static void
test_copy_image(void)
{
	FPTLayout  *layouts[2] = {&l8, &l16};

	for (int j = 0; j < 2; j++)
	{
		FPTLayout  *l = layouts[j];
		const FPTGeom *g = &l->geoms->geom[j == 0 ? 3 : 15][FPT_KIND_LEAF4];
		int			n = (int) g->capacity / 2;
		uint64		tid;
		uint16		slotid;
		FPTRun		run = {.tids = &tid, .slotids = &slotid};
		FPTKey		k;
		int			kid;
		int			first;

		make_entries(n, 1000, 16);
		init_page(l, 0, j == 0 ? ENC(4, LEAF4) : ENC(16, LEAF4), 1000);
		CHECK(fpt_page_fill(l, page, e, n, 90) == FPT_OK);
		for (int i = 0; i < n; i++)
		{
			int			m;

			k = e[i].key;
			k.tid = 0;
			m = fpt_page_copy_image(l, page, &k, true, &run, &kid);
			CHECK(m == 1 && tid == e[i].key.tid);
			k.lo++;				/* is not there */
			CHECK(fpt_page_copy_image(l, page, &k, true, &run, &kid) == 0);
		}

		/* a separator's, of which there is one more in the node before */
		first = fpt_node_count(l, page, 0);
		e[first].key.lo = e[first - 1].key.lo;
		e[first].key.tid = e[first - 1].key.tid + 1;
		init_page(l, 0, j == 0 ? ENC(4, LEAF4) : ENC(16, LEAF4), 1000);
		CHECK(fpt_page_fill(l, page, e, n, 90) == FPT_OK);
		CHECK(fpt_node_count(l, page, 0) == first);
		k = e[first].key;
		k.tid = 0;
		CHECK(fpt_page_copy_image(l, page, &k, true, &run, &kid) ==
			  FPT_NO_IMAGE);
		make_entries(n, 1000, 16);
		init_page(l, 0, j == 0 ? ENC(4, LEAF4) : ENC(16, LEAF4), 1000);
		CHECK(fpt_page_fill(l, page, e, n, 90) == FPT_OK);

		/* a dead entry, and a free slot that has the key still */
		CHECK(fpt_page_copy_image(l, page, &e[0].key, true, &run, &kid) == 1);
		CHECK(kid == 0);
		fpt_page_hint_set(l, page, slotid);
		CHECK(fpt_page_copy_image(l, page, &e[0].key, true, &run, &kid) == 0);
		CHECK(fpt_page_copy_image(l, page, &e[0].key, false, &run, &kid) == 1);
		fpt_slots_free(g, fpt_kid_node(fpt_page_open(l, page), 0), 1);
		CHECK(fpt_page_copy_image(l, page, &e[0].key, false, &run, &kid) == 0);

		/* below the base, and after all keys that can be stored */
		k = value(5, 0);
		CHECK(fpt_page_copy_image(l, page, &k, true, &run, &kid) ==
			  FPT_NO_IMAGE);
		k = kt_key(FPT_CLS_VALUE, ~(uint64) 0, ~(uint64) 0, 0);
		CHECK(fpt_page_copy_image(l, page, &k, true, &run, &kid) <= 0);

		/* a node that is not there */
		k = e[1].key;
		((uint8 *) page)[g->kids_off] = 255;
		CHECK(fpt_page_copy_image(l, page, &k, true, &run, &kid) ==
			  FPT_NO_IMAGE);
	}
}

/* Guesses of a leaf's node go on while they are right, and end. */
static void
test_guess(void)
{
	int			n = (int) l8.geoms->geom[3][FPT_KIND_LEAF4].capacity / 2;
	FPTGuess	guess = {0};
	int			nkids;
	int			made = 0;

	make_entries(n, 1000, 16);
	init_page(&l8, 0, ENC(4, LEAF4), 1000);
	CHECK(fpt_page_fill(&l8, page, e, n, 90) == FPT_OK);
	nkids = fpt_header(page)->nkids;
	CHECK(nkids > 2);

	/* none in the first search; nodes are in order: then all are right */
	CHECK(!fpt_guess_wanted(&guess));
	for (int i = 0; i < 50; i++)
	{
		int			kid = i % nkids;

		CHECK(fpt_guess_wanted(&guess));
		fpt_guess_prefetch(&guess, page,
						   (uint32) ((65536 * kid + 32768) / nkids));
		CHECK(guess.pending);
		CHECK(guess.node + guess.step <= fpt_header(page)->std.pd_lower);
		fpt_guess_learn(&guess, &l8, page, kid);
		CHECK(!guess.pending);
		CHECK(guess.score == Min(3 * i, FPT_GUESS_MAX));
	}
	CHECK(guess.score == FPT_GUESS_MAX);

	/* always wrong: one try in 16 is left */
	for (int i = 0; i < 1600; i++)
	{
		if (fpt_guess_wanted(&guess))
		{
			made++;
			fpt_guess_prefetch(&guess, page, 0);
			fpt_guess_learn(&guess, &l8, page, nkids - 1);
		}
	}
	CHECK(guess.score == FPT_GUESS_MIN);
	CHECK(made > 100 && made < 160);

	/* no guess, no verdict; behind the last node there is none to be had */
	guess.score = 7;
	fpt_guess_learn(&guess, &l8, page, 0);
	CHECK(guess.score == 7);
	fpt_guess_prefetch(&guess, page, 0);
	fpt_guess_learn(&guess, &l8, page, nkids);
	CHECK(guess.score == 7 && !guess.pending);
}

/*
 * However wide the root is, a page has room for two fences as wide as they may
 * be, and an entry of an inner page that is the first of them.
 */
static void
test_form_wide_fences(void)
{
	static FPTGeoms geoms;
	static char low[FPT_MAX_TUPLE];
	static char high[FPT_MAX_TUPLE];
	int			usable = 0;

	high[0] = 1;
	for (int w = 1; w <= 32; w++)
	{
		FPTWidths	widths[FPT_NKW][FPT_NKINDS];
		FPTKey		from = value(5, 1);
		FPTKey		to = value(5, 2);
		FPTPageSpec spec = {1, 5, &from, &to};
		FPTLayout	l;
		FPTKey		got;

		kt_layout_general(&l, false, false);
		if (!fpt_choose_widths_general(w, 0, widths) ||
			!fpt_layout_init_general(&l, &geoms, false, 1, widths))
			continue;
		usable++;
		kt_layout_general(&l, false, false);
		l.geoms = &geoms;
		from.len = to.len = FPT_MAX_TUPLE;
		from.tup = low;
		to.tup = high;
		e[0].key = from;
		e[0].down = 7;
		CHECK(fpt_page_form(&l, page, &spec, e, 1, 90) == FPT_OK);
		got = fpt_page_low(&l, page);
		CHECK(got.len == FPT_MAX_TUPLE && got.tup[0] == 0);
		got = fpt_page_high(&l, page);
		CHECK(got.len == FPT_MAX_TUPLE && got.tup[0] == 1);
	}
	CHECK(usable > 0);
}

/*
 * Wide keys ascend in full nodes, but for "room" slots of the second one; the
 * last rows of the first node have one key if "rows" is not 0.  Which TIDs they
 * have decides who makes room.
 */
static bool
wide_page(int kw, int nodes, int room, int rows)
{
	const FPTGeom *g;
	FPTKey		zero = kt_key(FPT_CLS_VALUE, 0, 0, 0);

	fpt_page_init(&l16, page, &(FPTPageSpec) {0, 5, &minf, &pinf},
				  ENC(kw, LEAF4), &zero, 0);
	g = fpt_page_geom(&l16, page);
	if (g == NULL || g->maxnodes + nodes < 3 || g->cap <= room || g->cap < 20)
		return false;
	nodes += g->maxnodes;
	for (int i = 0; i < nodes * g->cap; i++)
	{
		e[i] = (FPTEntry) {.key = kt_key(FPT_CLS_VALUE, (uint64) i + 1, 1000, 0)};
		e[i].key.tid = (uint64) (i / 200) << 16 | (i % 200 + 1);
		if (rows > 0)
			e[i].key.tid = (uint64) (100 + i * 37 % 90) << 16 | (i % 200 + 1);
	}
	for (int i = g->cap - rows; i < g->cap; i++)
	{
		e[i].key.hi = e[g->cap - rows].key.hi;
		e[i].key.tid = (uint64) 200 << 16 | (i - g->cap + rows + 1);
	}
	CHECK(fpt_page_fill(&l16, page, e, nodes * g->cap, 100) == FPT_OK);
	for (int i = 0; i < room; i++)
		CHECK(fpt_page_delete(&l16, page, (FPTLoc) {.kid = 1, .rank = 3}) ==
			  FPT_OK);
	return sound(&l16);
}

/*
 * Room is made although a separator without a lower half sends the new entry
 * after those that were shifted, to a node that they have filled.
 */
static void
test_wide_room(void)
{
	int			n = 0;

	for (int kw = 10; kw <= 14; kw++)
	{
		FPTEntry	x;
		FPTEdit		edit = {0};
		int			cap;

		for (int room = 2; room < 8 && wide_page(kw, -1, room, 0); room++)
		{
			/* passed on to the next node; another one is free */
			cap = fpt_page_geom(&l16, page)->cap;
			x.key = e[cap - room].key;
			x.key.lo = 7;
			x.key.tid = 220;
			x.down = 0;
			CHECK(fpt_page_insert(&l16, page, &x, &edit) == FPT_FULL);
			CHECK(fpt_page_make_room(&l16, page, &x, NULL) == FPT_OK);
			CHECK(fpt_page_insert(&l16, page, &x, &edit) == FPT_OK);
			CHECK(sound(&l16));
			edit.n = 0;
			n++;
		}

		/* shifted, as many rows have its key; all nodes are in use */
		cap = l16.geoms->geom[kw - 1][FPT_KIND_LEAF4].cap;
		if (!wide_page(kw, 0, cap / 2 + 1, cap / 2 + 1))
			continue;
		x.key = e[cap - cap / 2 - 1].key;
		x.key.tid = 1 << 16 | 1;
		x.down = 0;
		CHECK(fpt_page_insert(&l16, page, &x, &edit) == FPT_FULL);
		CHECK(fpt_page_make_room(&l16, page, &x, NULL) == FPT_OK);
		CHECK(fpt_page_insert(&l16, page, &x, &edit) == FPT_OK);
		CHECK(sound(&l16));
		n++;
	}
	CHECK(n > 0 || BLCKSZ < 4096);
}

void
test_page(void)
{
	page = aligned_alloc(64, BLCKSZ);
	kt_layout(&l4, 4, false, false);
	kt_layout(&l8, 8, false, false);
	kt_layout(&l16, 16, false, false);
	kt_layout(&l8nf, 8, true, false);
	kt_run("order", test_order);
	kt_run("fences", test_fences);
	kt_run("key widths", test_choose_kw);
	kt_run("TID widths", test_choose_tids);
	kt_run("reach of pages", test_page_reach);
	kt_run("room for wide keys", test_wide_room);
	kt_run("offsets", test_fill_offsets);
	kt_run("TID windows", test_window);
	kt_run("order of a node", test_node_order);
	kt_run("TIDs of 6 bytes", test_long_tids);
	kt_run("init", test_init);
	kt_run("fill", test_fill);
	kt_run("fill, not representable", test_fill_unfit);
	kt_run("fill, two regions", test_fill_regions);
	kt_run("results of insertion", test_insert_results);
	kt_run("duplicates", test_insert_duplicates);
	kt_run("separators that are there", test_insert_separators);
	kt_run("edits", test_insert_edits);
	kt_run("ascending", test_insert_ascending);
	kt_run("nearly ascending", test_insert_nearly_ascending);
	kt_run("behind an equal key", test_insert_behind_equal);
	kt_run("cost of shifts", test_shift_cost);
	kt_run("short separators", test_short_separators);
	kt_run("nodes keep bytes", test_nodes_keep_bytes);
	kt_run("strip", test_strip);
	kt_run("last entries", test_recent_band);
	kt_run("random insertions", test_insert_random);
	kt_run("reorganise", test_reorganise);
	kt_run("pack", test_pack);
	kt_run("few nodes", test_few_nodes);
	kt_run("empty page", test_empty_page);
	kt_run("find child", test_find_child);
	kt_run("fraction", test_fraction);
	kt_run("copy of an image", test_copy_image);
	kt_run("guess", test_guess);
	kt_run("delete all", test_delete_all);
	kt_run("truncate", test_truncate);
	kt_run("hints", test_hints);
	kt_run("form between fences", test_form_between);
	kt_run("form, dense", test_form_dense);
	kt_run("form, open end", test_form_open);
	kt_run("form, NULLs", test_form_nulls);
	kt_run("form, minus infinity", test_form_minus_infinity);
	kt_run("form, wide fences", test_form_wide_fences);
	free(page);
}
