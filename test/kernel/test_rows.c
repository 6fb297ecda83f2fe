/*-------------------------------------------------------------------------
 *
 * test_rows.c
 *	  Pages in which TIDs are relative to their nodes (FPT_KIND_LEAF1).
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

static char *page;
static char *copy;
static FPTLayout l8;
static const FPTKey minf = {.cls = FPT_CLS_MINF};
static const FPTKey pinf = {.cls = FPT_CLS_PINF};
static FPTEntry e[FPT_MAX_ENTRIES + 1];
static FPTEntry was[FPT_MAX_ENTRIES + 1];

static FPTPage
open_page(void)
{
	return fpt_page_open(&l8, page);
}

static const FPTGeom *
geom(void)
{
	return fpt_page_geom(&l8, page);
}

static char *
node(int kid)
{
	return fpt_kid_node(open_page(), kid);
}

static bool
sound(void)
{
	return kt_sound(&l8, page);
}

static const FPTGeom *
empty_page(int enc, int rowbits, uint32 tidbase)
{
	FPTKey		base = kt_key(FPT_CLS_VALUE, 0, 0, 0);
	FPTPageSpec spec = {.pageno = 5, .low = &minf, .high = &pinf,
	.rowbits = rowbits};

	fpt_page_init(&l8, page, &spec, enc, &base, tidbase);
	return geom();
}

/* A row of this number, or the next one, if the offset would be zero. */
static uint64
row_tid(uint32 tidbase, int rowbits, uint64 row)
{
	uint64		mask = (UINT64CONST(1) << rowbits) - 1;

	if ((row & mask) == 0)
		row++;
	return (tidbase + (row >> rowbits)) << 16 | (row & mask);
}

static FPTEntry
entry(uint64 v, uint64 tid)
{
	FPTEntry	x = {.key = kt_key(FPT_CLS_VALUE, 0, v, tid)};

	return x;
}

/* A TID that is far from all small rows: the i'th. */
static uint64
far_tid(int i)
{
	return ((uint64) (100000 + 2000 * i) << 16) | (uint64) (1 + i % 255);
}

/* --- what TIDs are relative to ------------------------------------------- */

/*
 * How many far TIDs n of them take in a node whose rows begin with this one; no
 * more than "most" are counted.
 */
static int
far_of(const FPTGeom *g, uint32 tidbase, int bits, const uint64 *tids, int n,
	   uint64 from, int most)
{
	uint64		seen[FPT_MAX_CAP];
	int			far = 0;

	for (int i = 0; i < n && far < most; i++)
	{
		uint64		block = tids[i] >> 16;
		uint64		off = tids[i] & 0xFFFF;
		uint64		row = (block - tidbase) << bits | off;
		bool		told = block >= tidbase && block - tidbase < 1 << 24;
		uint64		mine = tids[i] >> g->farbits;
		int			j = 0;

		if (told && off < UINT64CONST(1) << bits && row >= from &&
			row < from + fpt_near_rows(g))
			continue;
		if (!told || off > 255)
			mine = tids[i] + (UINT64CONST(1) << 50);	/* shares none */
		while (j < far && seen[j] != mine)
			j++;
		if (j == far)
			seen[far++] = mine;
	}
	return far;
}

/* The fewest of all stretches that begin with one of the rows, or with none. */
static int
fewest_far(const FPTGeom *g, uint32 tidbase, int bits, const uint64 *tids, int n)
{
	int			best = far_of(g, tidbase, bits, tids, n, UINT64CONST(1) << 40,
							  n);

	for (int i = 0; i < n; i++)
	{
		uint64		row = fpt_row_of(tidbase, bits, tids[i]);

		if (row != FPT_NO_ROW)
			best = far_of(g, tidbase, bits, tids, n, row, best);
	}
	return best;
}

/* The best stretch is chosen, whatever the order of TIDs and their kind. */
static void
test_choose(void)
{
	for (int round = 0; round < 20000; round++)
	{
		static const uint32 bases[] = {0, 1000, FPT_MAX_TIDBASE};
		const FPTGeom *g =
			&l8.geoms->geom[kt_below(8)][FPT_KIND_LEAF1];
		uint32		tidbase = bases[kt_below(3)];
		int			bits = 1 + (int) kt_below(8);
		int			n = (int) kt_below(FPT_MAX_CAP + 1);
		int			outliers = (int) kt_below(4) * 10;
		int			step = 1 + (int) kt_below(12);
		bool		down = kt_chance(40);
		uint64		max = (UINT64CONST(1) << (24 + bits)) - 1;
		uint64		at = kt_chance(30) ? 0 : kt_below(max);
		uint64		tids[FPT_MAX_CAP];
		uint32		row = 42;
		int			far;

		if (kt_chance(20))
			at = max - kt_below(300);
		for (int i = 0; i < n; i++)
		{
			uint64		r = at + (uint64) (down ? n - i : i) * step +
				kt_below(3);

			tids[i] = row_tid(tidbase, bits, Min(r, max));
			if (!kt_chance(outliers))
				continue;
			/* anywhere, before the page's block, offsets that have no row */
			tids[i] = kt_random() & FPT_MAX_TID;
			if (kt_chance(50))
				tids[i] = (tidbase + kt_below(600)) << 16 | kt_below(300);
			if (tidbase > 0 && kt_chance(30))
				tids[i] = (uint64) (tidbase - 1) << 16 | 1;
		}
		far = fpt_rows_choose(g, tidbase, bits, tids, n, &row);
		CHECK(far == fewest_far(g, tidbase, bits, tids, n));
		CHECK(far_of(g, tidbase, bits, tids, n, row, n) == far);
		CHECK(row <= max);
		CHECK(n > 0 || row == 0);
	}
}

/* The rows of pages that are worth a try. */
static void
test_follow(void)
{
	int			n = 3 * FPT_MAX_CAP;

	for (int i = 0; i < n; i++)
		e[i] = entry(i, (uint64) (i / 3) << 16 | 1);
	CHECK(fpt_rows_follow(e, n, 8));
	for (int i = 0; i < n; i++)
		e[i] = entry(i, (uint64) (1000 - i * 2) << 16 | 1);
	/* how many blocks a byte can tell depends on the bits of offsets */
	CHECK(fpt_rows_follow(e, n, 1) && fpt_rows_follow(e, n, 7));
	CHECK(!fpt_rows_follow(e, n, 8));
	for (int i = 0; i < n; i += 10)
		e[i].key.tid = far_tid(i);
	CHECK(fpt_rows_follow(e, n, 1));
	for (int i = 0; i < n; i += 3)
		e[i].key.tid = far_tid(i);
	CHECK(!fpt_rows_follow(e, n, 1));
	for (int i = 0; i < n; i++)
		e[i] = entry(i, (uint64) (i * 7919 % 10007) << 16 | 1);
	CHECK(!fpt_rows_follow(e, n, 8));
	CHECK(fpt_rows_follow(e, 1, 8) && fpt_rows_follow(e, 0, 8));
}

/* --- builds -------------------------------------------------------------- */

/* Rows that mostly run, in one way of many. */
typedef struct Run
{
	uint32		tidbase;
	int			bits;
	uint64		max;			/* last row */
	uint64		at;
	int			step;			/* by so many, at most, up or down */
	bool		down;
	int			noise;			/* and around that */
	int			outliers;		/* of a thousand */
	int			jumps;			/* the same, to go on elsewhere */
	int			first;			/* outliers to begin with */
} Run;

static void
run_begin(Run *r)
{
	static const int outliers[] = {0, 0, 10, 30, 60, 100};
	static const int noise[] = {1, 1, 20, 60, 110, 230};

	r->tidbase = kt_chance(50) ? 0 : (uint32) kt_below(FPT_MAX_TIDBASE);
	r->bits = 1 + (int) kt_below(FPT_MAX_ROWBITS);
	r->max = (UINT64CONST(1) << (24 + r->bits)) - 1;
	r->at = kt_chance(20) ? 0 : kt_below(r->max);
	r->step = (int) kt_below(5);
	r->down = kt_chance(40);
	if (r->down && kt_chance(50))
		r->at = kt_below(BLCKSZ);
	r->noise = noise[kt_below(6)];
	r->outliers = outliers[kt_below(6)];
	r->jumps = kt_chance(30) ? (int) kt_below(10) : 0;
	r->first = kt_chance(40) ? (int) kt_below(8) : 0;
}

static uint64
run_next(Run *r)
{
	uint64		by = kt_below((uint64) r->step + 1);
	uint64		row;

	if ((int) kt_below(1000) < r->jumps)
		r->at = kt_below(r->max);
	r->at = r->down ? r->at - Min(r->at, by) : Min(r->at + by, r->max);
	if (r->first > 0 || (int) kt_below(1000) < r->outliers)
	{
		r->first -= r->first > 0;
		return (r->tidbase + kt_below(1 << 24)) << 16 | (1 + kt_below(255));
	}
	row = r->at + kt_below((uint64) r->noise);
	return row_tid(r->tidbase, r->bits, Min(row, r->max));
}

/*
 * What a build relies on: if the rows of a page's entries are in line, they
 * make one, wherever its nodes begin.
 */
static void
test_enough(void)
{
	int			nenough = 0;
	int			nnot = 0;
	int			nmade = 0;		/* of those, pages all the same */

	for (int round = 0; round < 6000; round++)
	{
		int			kw = 2 + (int) kt_below(7);
		Run			r;
		FPTRows		rows;
		const FPTGeom *g;
		int			n;
		bool		enough;
		FPTResult	res;

		run_begin(&r);
		g = empty_page(fpt_enc(kw - 1, FPT_KIND_LEAF1), r.bits, r.tidbase);
		n = 1 + (int) kt_below(kt_chance(50) ? 3 * (uint64) g->cap :
							   (uint64) g->capacity);
		n = Min(n, (int) g->capacity);
		fpt_rows_begin(&rows, r.bits);
		CHECK(fpt_rows_enough(&rows, g));
		for (int i = 0; i < n; i++)
		{
			uint64		tid = run_next(&r);

			e[i] = entry(i, tid);

			/* a build numbers blocks from the table's first one */
			fpt_rows_add(&rows, tid - ((uint64) r.tidbase << 16));
		}
		enough = fpt_rows_enough(&rows, g);
		res = fpt_page_fill(&l8, page, e, n, 1 + (int) kt_below(100));
		CHECK(res == FPT_OK || (res == FPT_UNFIT && !enough));
		if (res == FPT_OK)
		{
			CHECK(fpt_page_count(&l8, page) == n && sound());
			CHECK(fpt_page_extract(&l8, page, was, FPT_MAX_ENTRIES) == n);
			for (int i = 0; i < n; i++)
				CHECK(was[i].key.lo == e[i].key.lo &&
					  was[i].key.tid == e[i].key.tid);
		}
		nenough += enough;
		nnot += !enough;
		nmade += !enough && res == FPT_OK;

		/* another kind of page, and rows that nobody can number */
		CHECK(!fpt_rows_enough(&rows,
							   &l8.geoms->geom[kw - 1][FPT_KIND_LEAF3]));
		fpt_rows_begin(&rows, (int) kt_below(2) * 9);
		CHECK(!fpt_rows_enough(&rows, g));
	}
	CHECK(nenough > 1000 && nnot > 1000 && nmade < nnot);

	/* rows that just run are enough, up and down, however many */
	for (int i = 0; i < 2 * 8; i++)
	{
		FPTRows		rows;
		int			bits = 1 + i / 2;

		fpt_rows_begin(&rows, bits);
		for (int j = 0; j < 20000; j++)
			fpt_rows_add(&rows, row_tid(0, bits, (uint64)
										(i % 2 ? 2 * j : 50000 - 2 * j)));
		CHECK(rows.most == 0);
		CHECK(fpt_rows_enough(&rows, &l8.geoms->geom[3][FPT_KIND_LEAF1]));
	}
}

/* Which pages are formed so, and how their rows are numbered. */
static void
test_form(void)
{
	FPTPageSpec spec = {.pageno = 5, .low = &minf, .high = &pinf};
	int			n = 80;

	for (int bits = 1; bits <= 8; bits++)
	{
		for (int i = 0; i < n; i++)
			e[i] = entry(i * 3, row_tid(700, bits, (uint64)
										(i + Max(0, (1 << bits) - n / 2))));
		spec.rowbits = 0;
		CHECK(fpt_page_form(&l8, page, &spec, e, n, 90) == FPT_OK && sound());
		CHECK(fpt_has_far(geom()) && fpt_special(page)->rowbits == bits);
		CHECK(fpt_page_rowbits(&l8, page, e, n) == bits);
		CHECK(fpt_page_rowbits(&l8, page, e, 0) == bits);
		spec.rowbits = Min(bits + 1, 8);
		CHECK(fpt_page_form(&l8, page, &spec, e, n, 90) == FPT_OK && sound());
		CHECK(fpt_has_far(geom()));
		CHECK(fpt_special(page)->rowbits == spec.rowbits);
	}

	/* what others need cannot be had, nor rows that have no number */
	spec.rowbits = 9;
	CHECK(fpt_page_form(&l8, page, &spec, e, n, 90) == FPT_OK && sound());
	CHECK(!fpt_has_far(geom()) && fpt_special(page)->rowbits == 8);
	CHECK(fpt_page_rowbits(&l8, page, e, n) == 8);
	spec.rowbits = 0;
	e[3].key.tid |= 256;
	CHECK(fpt_page_form(&l8, page, &spec, e, n, 90) == FPT_OK && sound());
	CHECK(!fpt_has_far(geom()));
	CHECK(fpt_page_rowbits(&l8, page, e, n) == 9);

	/* rows in no order */
	for (int i = 0; i < n; i++)
		e[i] = entry(i * 3, (uint64) (i * 7919 % 10007) << 16 | 1);
	CHECK(fpt_page_form(&l8, page, &spec, e, n, 90) == FPT_OK && sound());
	CHECK(!fpt_has_far(geom()));
}

/* --- crowded nodes -------------------------------------------------------- */

/*
 * A page of so many nodes, each of so many entries, of keys 100 apart and rows
 * that follow each other; the last of a node's entries are far ones, or they
 * are evenly among them.
 */
static void
page_of(int nodes, int per, int far, bool evenly)
{
	const FPTGeom *g = empty_page(ENC(4, LEAF1), 7, 0);
	int			n = 0;

	CHECK(per <= g->cap && nodes <= g->maxnodes && far <= g->nfar);
	for (int k = 0; k < nodes; k++)
	{
		int			had = 0;

		for (int i = 0; i < per; i++, n++)
		{
			bool		isfar = evenly ? (i + 1) * far / per > had :
				i >= per - far;

			e[n] = entry((uint64) n * 100, isfar ? far_tid(n) :
						 row_tid(0, 7, (uint64) n));
			had += isfar;
		}
		CHECK(had == far);
	}
	CHECK(fpt_page_fill(&l8, page, e, n, (100 * per + g->cap - 1) / g->cap) ==
		  FPT_OK);
	CHECK(fpt_header(page)->nkids == nodes && sound());
	for (int k = 0; k < nodes; k++)
	{
		CHECK(fpt_node_count(&l8, page, k) == per);
		CHECK(fpt_far_room(g, node(k)) == g->nfar - far);
	}
	memcpy(copy, page, BLCKSZ);
}

static FPTResult
insert(uint64 v, uint64 tid)
{
	FPTEntry	x = entry(v, tid);
	FPTEdit		edit = {0};

	return fpt_page_insert(&l8, page, &x, &edit);
}

static FPTResult
make_room(uint64 v, uint64 tid)
{
	FPTEntry	x = entry(v, tid);

	return fpt_page_make_room(&l8, page, &x, &kt_work);
}

/* What insertion says of the place of a TID. */
static bool
crowded(uint64 v, uint64 tid)
{
	FPTEntry	x = entry(v, tid);
	const FPTEntry *p = &x;
	FPTPlace	place;
	FPTLocal	local;
	FPTResult	res = fpt_page_insert_find(&l8, page, &p, &local, &place);

	CHECK(res == FPT_OK || res == FPT_FULL);
	CHECK(!place.crowded || res == FPT_FULL);
	return place.crowded;
}

static void
test_crowded(void)
{
	const FPTGeom *g = &l8.geoms->geom[3][FPT_KIND_LEAF1];
	int			per = Max(2, g->cap / 2) - 1 - g->nfar;

	/* near and far, until there is no room for these; less than half full */
	CHECK(per > 2);
	page_of(1, per, 0, true);
	CHECK(!crowded(1, row_tid(0, 7, 200)) && !crowded(1, far_tid(1)));
	for (int i = 0; i < g->nfar; i++)
	{
		CHECK(fpt_far_free(g, node(0)) == i);
		CHECK(insert((uint64) (1 + i), far_tid(500 + i)) == FPT_OK);
		CHECK(sound());
	}
	memcpy(copy, page, BLCKSZ);
	CHECK(crowded(99, far_tid(900)));
	CHECK(insert(99, far_tid(900)) == FPT_FULL);
	CHECK(make_room(99, far_tid(900)) == FPT_UNFIT);
	CHECK(insert(1, far_tid(500)) == FPT_DUPLICATE);
	CHECK(memcmp(copy, page, BLCKSZ) == 0);

	/* rows nearby are welcome, others without a number are not */
	CHECK(insert(98, row_tid(0, 7, 100)) == FPT_OK);
	CHECK(crowded(97, 1 << 16 | 128));	/* an offset of 8 bits */
	CHECK(insert(97, 1 << 16 | 256) == FPT_UNFIT);
	CHECK(insert(97, UINT64CONST(1) << 40 | 1) == FPT_UNFIT);
	CHECK(sound() && fpt_page_count(&l8, page) == per + g->nfar + 1);

	/* its TIDs are made relative to other rows, if there are more of these */
	page_of(1, 2, 0, true);
	for (int i = 0; i <= g->nfar + 3; i++)
	{
		uint64		tid = row_tid(0, 7, 700000 + 9 * (uint64) i);

		CHECK(crowded(1 + (uint64) i, tid) == (i == g->nfar));
		CHECK(i != g->nfar || make_room(1 + (uint64) i, tid) == FPT_OK);
		CHECK(insert(1 + (uint64) i, tid) == FPT_OK && sound());
	}
	CHECK(fpt_header(page)->nkids == 1);
	CHECK(fpt_far_room(g, node(0)) == g->nfar - 1);
	CHECK(fpt_slot_far(g, node(0), 0) >= 0 && fpt_slot_far(g, node(0), 2) < 0);
	CHECK(fpt_page_count(&l8, page) == g->nfar + 6);

	/* half full: it is split */
	per = Max(2, g->cap / 2);
	page_of(1, Max(per, 2 * g->nfar), g->nfar, true);
	per = Max(per, 2 * g->nfar);
	CHECK(insert(99, far_tid(900)) == FPT_FULL);
	CHECK(make_room(99, far_tid(900)) == FPT_OK);
	CHECK(fpt_header(page)->nkids == 2 && sound());
	CHECK(fpt_page_count(&l8, page) == per);
	CHECK(insert(99, far_tid(900)) == FPT_OK && sound());
	CHECK(fpt_page_count(&l8, page) == per + 1);

	/* no room for a node, and none to be had by putting more into each */
	page_of(g->maxnodes, g->cap / 2, g->nfar, true);
	CHECK(make_room(99, far_tid(2900)) == FPT_UNFIT);
	CHECK(memcmp(copy, page, BLCKSZ) == 0);
	per = g->cap * 3 / 4 + 1;
	page_of(g->maxnodes, per, g->nfar, true);
	CHECK(make_room(99, far_tid(2900)) == FPT_FULL);
	CHECK(memcmp(copy, page, BLCKSZ) == 0);
	CHECK(insert(99, row_tid(0, 7, 3)) == (per < g->cap ? FPT_OK : FPT_FULL));
}

/*
 * Neighbours share a far TID, whatever the order in which they come and go: as
 * many in a row as one tells, of which the last one that goes frees it.
 */
static void
test_shared(void)
{
	static FPTChanges changed;
	const FPTGeom *g = &l8.geoms->geom[3][FPT_KIND_LEAF1];
	int			rows = 1 << g->farbits;
	uint64		first = UINT64CONST(7000) << 16 | (uint64) (8 * rows);

	CHECK(rows > 2);
	page_of(1, g->cap / 2, 0, true);
	for (int i = 0; i < rows; i++)
	{
		int			off = i * 5 % rows;

		CHECK(insert((uint64) (50 + i), first + (uint64) off) == FPT_OK);
		CHECK(fpt_far_room(g, node(0)) == g->nfar - 1 && sound());
	}
	CHECK(insert(80, first + (uint64) rows) == FPT_OK && sound());
	CHECK(insert(81, first - 1) == FPT_OK && sound());
	CHECK(fpt_far_room(g, node(0)) == g->nfar - 3);
	for (int i = 0; i < rows; i++)
	{
		uint64		gone[FPT_MAX_NODES] = {0};
		uint64		used = fpt_node_used(g, node(0));
		bool		found = false;

		for (; used != 0; used &= used - 1)
		{
			uint64		tid = fpt_slot_tid(open_page(), node(0), fpt_ctz(used));

			if (tid != first + (uint64) (i * 3 % rows))
				continue;
			gone[fpt_kid(open_page(), 0)] = used & -used;
			found = true;
		}
		CHECK(found);
		CHECK(fpt_far_room(g, node(0)) == g->nfar - 3);
		CHECK(fpt_page_take(&l8, page, gone, &changed) == FPT_OK && sound());
	}
	CHECK(fpt_far_room(g, node(0)) == g->nfar - 2);
	CHECK(fpt_page_count(&l8, page) == g->cap / 2 + 2);
}

/* Insertion tells which bytes it changed: replaying these gives the page. */
static void
test_edits(void)
{
	const FPTGeom *g = &l8.geoms->geom[3][FPT_KIND_LEAF1];

	page_of(2, g->cap / 2, 1, false);
	for (int i = 0; i < g->nfar + 8; i++)
	{
		FPTEntry	x = entry((uint64) (7 + i), i % 2 ? far_tid(600 + i) :
							  row_tid(0, 7, (uint64) i * 4));
		FPTEdit		edit = {0};

		if (fpt_page_insert(&l8, page, &x, &edit) != FPT_OK)
		{
			CHECK(edit.n == 0);
			continue;
		}
		CHECK(edit.n > 0 && edit.n <= FPT_MAX_EDITS);
		for (int j = 0; j < edit.n; j++)
			memcpy(copy + edit.r[j].off, page + edit.r[j].off, edit.r[j].len);
		CHECK(memcmp(copy, page, BLCKSZ) == 0);
	}
	CHECK(fpt_far_room(g, node(0)) == 0 && sound());
}

/* Removal frees far TIDs, and tells which bytes it changed. */
static void
test_take(void)
{
	static FPTChanges changed;
	static bool told[BLCKSZ];
	const FPTGeom *g = &l8.geoms->geom[3][FPT_KIND_LEAF1];

	for (int round = 0; round < 200; round++)
	{
		uint64		gone[FPT_MAX_NODES] = {0};
		uint64		used;
		uint64		v = 100 * (uint64) (g->cap / 2) * kt_below(2) + 1;
		int			far = 0;
		int			kid = (int) kt_below(2);
		int			ngone = 0;

		page_of(2, g->cap / 2, Min(g->nfar, g->cap / 2), kt_chance(50));
		used = fpt_node_used(g, node(kid));
		for (uint64 s = used; s != 0; s &= s - 1)
		{
			int			slot = fpt_ctz(s);
			bool		isfar = fpt_slot_far(g, node(kid), slot) >= 0;
			bool		take = round == 0 ? isfar : kt_chance(50);

			if (!take || (s & (s - 1)) == 0)	/* the node stays */
				continue;
			gone[fpt_kid(open_page(), kid)] |= UINT64CONST(1) << slot;
			far += isfar;
			ngone++;
		}
		CHECK(fpt_page_take(&l8, page, gone, &changed) == FPT_OK);
		CHECK(changed.n >= 0);
		memset(told, 0, sizeof(told));
		for (int i = 0; i < changed.n; i++)
			memset(told + changed.r[i].off, true, changed.r[i].len);
		for (int i = 0; i < BLCKSZ; i++)
			CHECK(told[i] || copy[i] == page[i]);
		CHECK(sound());
		CHECK(fpt_page_count(&l8, page) == 2 * (g->cap / 2) - ngone);
		CHECK(fpt_far_room(g, node(kid)) == far);
		CHECK(fpt_far_room(g, node(1 - kid)) == 0);

		/* what is free again is used again */
		if ((v > 1) == (kid == 1))
		{
			for (int i = 0; i < far; i++)
				CHECK(insert(v + (uint64) i, far_tid(700 + i)) == FPT_OK);
		}
		CHECK(crowded(v, far_tid(900)) && sound());
	}
}

/* The page's entries are those that it had, in any nodes. */
static void
same_entries(int n)
{
	CHECK(sound());
	CHECK(fpt_page_extract(&l8, page, was, FPT_MAX_ENTRIES) == n);
	for (int i = 0; i < n; i++)
		CHECK(was[i].key.lo == e[i].key.lo && was[i].key.tid == e[i].key.tid);
}

/* Entries go to a node whose TIDs are relative to another row. */
static void
test_shift(void)
{
	const FPTGeom *g = &l8.geoms->geom[3][FPT_KIND_LEAF1];
	int			per = g->cap / 2;
	int			nshifted = 0;
	int			nfull = 0;

	for (int by = -1; by <= 1; by += 2)
	{
		for (int far = 0; far <= Min(g->nfar, per); far++)
		{
			for (int m = 1; m < per; m++)
			{
				FPTResult	res;

				page_of(2, per, far, kt_chance(50));
				CHECK(far == per ||
					  fpt_node_row(g, node(0)) <= fpt_node_row(g, node(1)));
				res = fpt_entries_shift(open_page(), by > 0 ? 0 : 1, by, m);
				CHECK(res == FPT_OK || res == FPT_FULL);
				nshifted += res == FPT_OK;
				nfull += res == FPT_FULL;
				if (res == FPT_FULL)
					CHECK(memcmp(copy, page, BLCKSZ) == 0);
				else
					CHECK(fpt_node_count(&l8, page, by > 0 ? 1 : 0) == per + m);
				CHECK(far > 0 || res == FPT_OK || m > 0);
				same_entries(2 * per);
			}
		}
	}
	CHECK(nshifted > 0 && nfull > 0);

	/* without far ones, and bases that are a block apart at most, all go */
	page_of(2, per, 0, true);
	CHECK(fpt_node_row(g, node(0)) != fpt_node_row(g, node(1)) ||
		  per < 64);
	CHECK(fpt_entries_shift(open_page(), 0, 1, 1) == FPT_OK);
	same_entries(2 * per);
}

/*
 * Of two rows that share a far TID one is near in the node that takes them, at
 * the edge of its stretch, and the other one needs room for the far TID.
 */
static void
test_shift_edge(void)
{
	const FPTGeom *g = &l8.geoms->geom[3][FPT_KIND_LEAF1];
	int			per = g->cap / 2;
	int			far = Min(g->nfar, per) - 1;
	uint64		rows = UINT64CONST(1) << g->farbits;

	for (int room = 0; room <= 1; room++)
	{
		uint64		at;
		uint64		tid[2];
		FPTResult	res;
		int			n;

		/* the last row that is told, and the next; or the first, backward */
		page_of(2, per, far, true);
		at = fpt_node_row(g, node(1));
		tid[0] = row_tid(0, 7, at);
		tid[1] = row_tid(0, 7, at - 1);
		if (at % rows == 0)
		{
			tid[0] = row_tid(0, 7, at + fpt_near_rows(g) - 1);
			tid[1] = row_tid(0, 7, at + fpt_near_rows(g));
		}
		CHECK(tid[0] != tid[1]);
		CHECK(fpt_far_of(g, 0, tid[0]) == fpt_far_of(g, 0, tid[1]));
		for (int i = 0; i < 2; i++)
			CHECK(insert((uint64) (100 * per - 50 + i), tid[i]) == FPT_OK);
		CHECK(fpt_node_count(&l8, page, 0) == per + 2);
		for (int i = room; i < g->nfar - far; i++)
			CHECK(insert((uint64) (100 * per + 1 + i), far_tid(900 + i)) ==
				  FPT_OK);
		CHECK(fpt_far_room(g, node(1)) == room);
		CHECK(fpt_tid_byte(open_page(), node(1), tid[0]) != 0);
		CHECK(fpt_tid_byte(open_page(), node(1), tid[1]) == 0);

		n = fpt_page_extract(&l8, page, e, FPT_MAX_ENTRIES);
		CHECK(n == fpt_page_count(&l8, page) && sound());
		memcpy(copy, page, BLCKSZ);
		res = fpt_entries_shift(open_page(), 0, 1, 2);
		same_entries(n);
		CHECK(res == (room > 0 ? FPT_OK : FPT_FULL));
		CHECK(room > 0 || memcmp(copy, page, BLCKSZ) == 0);
	}
}

/* --- damage --------------------------------------------------------------- */

static void
damaged(const char *expect)
{
	FPTFault	fault;
	const char *msg = fpt_page_check(&l8, page, 5, &fault);

	CHECK(msg != NULL && fault.what == msg && fault.field != NULL);
	if (msg == NULL || strcmp(msg, expect) != 0)
	{
		printf("expected: %s, got: %s\n", expect, msg ? msg : "nothing");
		CHECK(!"message of page check");
	}
	memcpy(page, copy, BLCKSZ);
	CHECK(sound());
}

/* The i'th slot of node 0 whose TID is a far one, or is none. */
static int
slot_of(bool isfar, int i)
{
	const FPTGeom *g = geom();

	for (uint64 used = fpt_node_used(g, node(0)); used != 0; used &= used - 1)
	{
		int			slot = fpt_ctz(used);

		if ((fpt_slot_far(g, node(0), slot) >= 0) == isfar && i-- == 0)
			return slot;
	}
	CHECK(!"no such slot");
	return 0;
}

static uint8 *
byte_of(int slot)
{
	return (uint8 *) node(0) + geom()->tid_off + slot * geom()->pw;
}

static void
store_far(int i, uint32 v)
{
	fpt_store_uint(node(0) + fpt_far_off(geom(), i), FPT_FAR_BYTES, v);
}

static void
test_damage(void)
{
	const char *lost = "far TID is not that of a slot";
	const char *enc = "page's encoding or counts are not valid";
	const char *reserved = "reserved bytes of the page header are not zero";
	const FPTGeom *g = &l8.geoms->geom[3][FPT_KIND_LEAF1];
	int			last = g->nfar - 1;
	int			far;

	/* two far TIDs, and room for another one, if there is more than two */
	page_of(2, g->cap / 2, 2, true);
	*byte_of(slot_of(true, 0)) = *byte_of(slot_of(true, 1));
	damaged(lost);
	*byte_of(slot_of(true, 0)) = 0;
	damaged(lost);
	store_far(fpt_slot_far(g, node(0), slot_of(true, 1)), 0);
	damaged(lost);
	if (last >= 2)
	{
		store_far(last, 0x10001);
		damaged(lost);
		*byte_of(slot_of(false, 1)) = 255;
		damaged(lost);
	}
	far = fpt_slot_far(g, node(0), slot_of(true, 0));
	store_far(far, 0x100);
	damaged("far TID is not the last of its rows");
	store_far(far, 0x100 | ((1u << g->farbits) - 1));
	*byte_of(slot_of(true, 0)) = (uint8) fpt_far_byte(g, far, 0);
	damaged("heap TID is not valid");

	/* rows that there are not: of 7 bits, and of 8, all of the word */
	fpt_node_set_row(g, node(0), 0x80000000);
	damaged("row is beyond the last one");
	fpt_node_set_row(g, node(0), 0x7FFFFFFE);
	damaged("row is beyond the last one");
	for (int i = 0; i < 3; i++)
		e[i] = entry((uint64) i, row_tid(0, 8, (uint64) i + 1));
	empty_page(ENC(4, LEAF1), 8, 0);
	CHECK(fpt_page_fill(&l8, page, e, 3, 100) == FPT_OK && sound());
	memcpy(copy, page, BLCKSZ);
	*byte_of(2) = 100;
	fpt_node_set_row(g, node(0), 0xFFFFFFF0);
	damaged("row is beyond the last one");

	/* a row that no slot is near to */
	empty_page(ENC(4, LEAF1), 7, 0);
	e[0] = entry(7, 1 << 16 | 200);
	CHECK(fpt_page_fill(&l8, page, e, 1, 100) == FPT_OK && sound());
	CHECK(fpt_slot_far(g, node(0), 0) == 0);
	memcpy(copy, page, BLCKSZ);
	fpt_node_set_row(g, node(0), 0x80000000);
	damaged("row of a node is not valid");
	fpt_node_set_row(g, node(0), 0x7FFFFFFF);
	CHECK(sound());
	memcpy(page, copy, BLCKSZ);

	/* a slot's row at the border of a block has no offset */
	page_of(1, g->cap / 2, 0, true);
	*byte_of(0) = (uint8) (128 - fpt_node_row(g, node(0)) + 1);
	damaged("heap TID is not valid");

	/* bits of a row's offset, in pages that have them or not */
	for (int bits = 0; bits < 256; bits++)
	{
		if (bits >= 1 && bits <= 8)
			continue;
		fpt_special(page)->rowbits = (uint8) bits;
		CHECK(!fpt_page_sane(&l8, page, 5));
		damaged(enc);
	}
	fpt_special(page)->t = 1;
	damaged(reserved);
	empty_page(ENC(4, LEAF4), 7, 0);
	CHECK(fpt_special(page)->rowbits == 8);
	memcpy(copy, page, BLCKSZ);
	fpt_special(page)->rowbits = 7;
	CHECK(!fpt_page_sane(&l8, page, 5));
	damaged(enc);
	empty_page(ENC(4, LEAF6), 7, 0);
	CHECK(fpt_special(page)->rowbits == 0);
	memcpy(copy, page, BLCKSZ);
	fpt_special(page)->rowbits = 8;
	CHECK(!fpt_page_sane(&l8, page, 5));
	damaged(enc);
	empty_page(ENC(4, LEAF3), 7, 0);
	CHECK(fpt_special(page)->rowbits == 7);
	memcpy(copy, page, BLCKSZ);
	fpt_special(page)->rowbits = 0;
	CHECK(!fpt_page_sane(&l8, page, 5));
	damaged(enc);
	fpt_special(page)->rowbits = 9;
	CHECK(!fpt_page_sane(&l8, page, 5));
	damaged(enc);
}

/* Operations that stumble over it say so: nothing is stored that is another. */
static void
test_damaged_nodes(void)
{
	const FPTGeom *g = &l8.geoms->geom[3][FPT_KIND_LEAF1];
	int			per = g->cap / 2;

	/* rows beyond the last one, which no TID can be */
	page_of(2, per, 0, true);
	fpt_node_set_row(g, node(0), 0x80000000);
	CHECK(fpt_entries_shift(open_page(), 0, 1, 1) == FPT_CORRUPT);

	/* the block that the table would take for a request for a new one */
	for (int far = 0; far < 2; far++)
	{
		static uint64 tids[FPT_MAX_ENTRIES];
		FPTRun		run = {.max = FPT_MAX_ENTRIES, .tids = tids};

		page_of(2, per, far, true);
		fpt_special(page)->tidbase = FPT_MAX_TIDBASE;
		CHECK(fpt_page_sane(&l8, page, 5));
		CHECK(fpt_page_tids(&l8, page, tids, NULL) == 2 * per);
		CHECK(fpt_page_copy_all(&l8, page, false, &run) == 2 * per);
		fpt_node_set_row(g, node(1), 1u << 24 << fpt_special(page)->rowbits);
		CHECK(fpt_page_sane(&l8, page, 5));
		CHECK(fpt_page_tids(&l8, page, tids, NULL) == -1);
		CHECK(fpt_page_copy_all(&l8, page, false, &run) == -1);
	}
}

/* Pages made shorter, and new ones begun, have rows' bits that they can. */
static void
test_strip(void)
{
	page_of(2, 8, 1, true);
	fpt_page_strip(&l8, page);
	CHECK(sound() && fpt_page_sane(&l8, page, 5));
	CHECK(!fpt_has_far(geom()));
	CHECK(fpt_special(page)->rowbits == (geom()->tw == 6 ? 0 : 8));

	/* a node that is put to use again has no far TIDs left */
	page_of(3, 8, 2, true);
	CHECK(fpt_page_truncate(&l8, page, 8) == FPT_OK && sound());
	CHECK(insert(100000000, far_tid(2000)) != FPT_CORRUPT);
	for (int i = 0; fpt_header(page)->nkids < 3 && i < 1000; i++)
	{
		uint64		tid = row_tid(0, 7, (uint64) (20 + i));

		CHECK(make_room((uint64) (3000 + i), tid) == FPT_OK);
		CHECK(insert((uint64) (3000 + i), tid) == FPT_OK);
	}
	CHECK(fpt_header(page)->nkids >= 2 && sound());
}

void
test_rows(void)
{
	page = aligned_alloc(64, BLCKSZ);
	copy = aligned_alloc(64, BLCKSZ);
	kt_layout(&l8, 8, false, false);
	kt_run("rows: chosen", test_choose);
	kt_run("rows: that follow each other", test_follow);
	kt_run("rows: enough for builds", test_enough);
	kt_run("rows: form", test_form);
	kt_run("rows: crowded nodes", test_crowded);
	kt_run("rows: neighbours share", test_shared);
	kt_run("rows: edits", test_edits);
	kt_run("rows: removal", test_take);
	kt_run("rows: shifts", test_shift);
	kt_run("rows: shifts of rows that share", test_shift_edge);
	kt_run("rows: damage", test_damage);
	kt_run("rows: damaged nodes", test_damaged_nodes);
	kt_run("rows: strip", test_strip);
	free(page);
	free(copy);
}
