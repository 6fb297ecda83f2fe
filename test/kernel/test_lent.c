/*-------------------------------------------------------------------------
 *
 * test_lent.c
 *	  Pages whose keys lend bits to TIDs (FPT_ENC_LENT).
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

static char *page;
static FPTLayout l4;
static FPTLayout l8;
static FPTKey low;				/* fences: keys between them take as many */
static FPTKey high;				/* bytes, whether they lend bits or not */
static FPTEntry e[FPT_MAX_ENTRIES + 1];
static int	n;

#define KEYS			12
#define FIRST			1000	/* the lowest key, */
#define TIDBASE			500		/* and the lowest block */

/* Put an entry where it belongs in e[]; false: it is there. */
static bool
put(uint64 key, uint64 tid)
{
	FPTEntry	x = {.key = kt_key(FPT_CLS_VALUE, 0, key, tid)};
	int			i = n;

	for (; i > 0 && fpt_key_cmp(&l8, &x.key, &e[i - 1].key) <= 0; i--)
	{
		if (fpt_key_cmp(&l8, &x.key, &e[i - 1].key) == 0)
			return false;
	}
	memmove(&e[i + 1], &e[i], (n - i) * sizeof(FPTEntry));
	e[i] = x;
	n++;
	return true;
}

/*
 * Rows of blocks that have so many bits for an offset: how many blocks there
 * are of which three bytes and what keys lend can tell rows.
 */
static int	rowbits;
static uint64 maxoff;

static uint64
table_of(int offbits, int bits)
{
	rowbits = offbits;
	maxoff = (UINT64CONST(1) << rowbits) - 1;
	return (UINT64CONST(1) << (24 - rowbits)) << bits;
}

/* A row of a table of so many blocks, of all parts of it. */
static uint64
any_tid(uint64 blocks)
{
	uint64		block = kt_chance(20) ? kt_below(3) :
		kt_chance(20) ? blocks - 1 - kt_below(3) : kt_below(blocks);

	return (TIDBASE + block) << 16 | (1 + kt_below(maxoff));
}

/* Fences of a page of keys so far apart. */
static void
fences(uint64 range)
{
	low = kt_key(FPT_CLS_VALUE, 0, FIRST, 0);
	high = kt_key(FPT_CLS_VALUE, 0, FIRST + range, 0);
}

/* Form a page of e[] whose keys lend so many bits; false: they lend none. */
static bool
form(const FPTLayout *l, int bits)
{
	FPTPageSpec spec = {0, 5, &low, &high};

	CHECK(fpt_page_form(l, page, &spec, e, n, 90) == FPT_OK);
	fpt_header(page)->left = 7;
	fpt_header(page)->right = high.cls == FPT_CLS_PINF ? 0 : 7;
	CHECK(kt_sound(l, page));
	CHECK(!fpt_is_lent(l, page) || (fpt_lent_bits(l, page) == bits &&
									fpt_special(page)->rowbits == rowbits));
	return fpt_is_lent(l, page);
}

/* Entries that come to a page, at most. */
#define MORE			600

/*
 * Keys at a distance, several rows of each, in all parts of the table: a page
 * has them, and takes those between them, until it is full.  False: its keys
 * lend nothing, as they are as short relative to nodes.
 */
static bool
rows(const FPTLayout *l, int offbits, int bits, int distance, int rowsofkey)
{
	uint64		blocks = table_of(offbits, bits);
	FPTResult	res = FPT_OK;

	n = 0;
	fences(KEYS * distance);
	put(FIRST, (uint64) TIDBASE << 16 | 1);
	put(FIRST, (TIDBASE + blocks - 1) << 16 | maxoff);
	for (int i = 0; i < KEYS; i++)
	{
		for (int j = 0; j < rowsofkey; j++)
			put(FIRST + i * distance, any_tid(blocks));
	}
	if (!form(l, bits))
		return false;
	kt_check_all(l, page, e, n);
	for (int i = 0; i < Min(MORE, FPT_MAX_ENTRIES - n) && res == FPT_OK; i++)
	{
		FPTEntry	x = {.key = kt_key(FPT_CLS_VALUE, 0, FIRST +
									   kt_below(KEYS * distance),
									   any_tid(blocks))};

		if (!put(x.key.lo, x.key.tid))
			CHECK(kt_insert(l, page, &x) == FPT_DUPLICATE);
		else
		{
			res = kt_insert(l, page, &x);
			CHECK(res == FPT_OK || res == FPT_FULL || res == FPT_UNFIT);
			if (i % 37 == 0 && res == FPT_OK)
				kt_check_all(l, page, e, n);
		}
	}
	if (res == FPT_OK)
		kt_check_all(l, page, e, n);
	return true;
}

static void
test_rows_anywhere(void)
{
	int			lent = 0;

	for (int i = 0; i < FPT_LENT_MAX * FPT_MAX_ROWBITS; i++)
	{
		int			bits = 1 + i % FPT_LENT_MAX;
		int			offbits = 1 + i / FPT_LENT_MAX;

		if (bits > offbits)
		{
			/* blocks of more than 24 bits */
			CHECK(!rows(&l8, offbits, bits, 80, 1));
			continue;
		}
		lent += rows(&l8, offbits, bits, 80, 1);
		lent += rows(&l8, offbits, bits, 80, 5);
		lent += rows(&l8, offbits, bits, 2000000, 2);
		lent += rows(&l4, offbits, bits, 40, 3);
		lent += rows(&l4, offbits, bits, 10000, 1);
	}
	CHECK(lent >= 3 * 33);
}

/* What the page cannot have: NULLs, and TIDs beyond what bits can tell. */
static void
test_limits(void)
{
	for (int round = 0; round < 3 * FPT_LENT_MAX; round++)
	{
		int			bits = 1 + round / 3;
		uint64		blocks = table_of(6 + round % 3, bits);
		uint64		wrong[] = {(TIDBASE - 1) << 16 | 1,
			(TIDBASE + blocks) << 16 | 1, (uint64) TIDBASE << 16 | (maxoff + 1),
		(TIDBASE + blocks - 1) << 16 | (maxoff + 1)};
		FPTEntry	x = {.key = kt_key(FPT_CLS_NULLLAST, 0, 0, 1)};

		n = 0;
		fences(KEYS * 80);
		put(FIRST, (uint64) TIDBASE << 16 | 1);
		put(FIRST, (TIDBASE + blocks - 1) << 16 | maxoff);
		for (int i = 0; i < KEYS; i++)
			put(FIRST + i * 80, any_tid(blocks));
		CHECK(form(&l8, bits));
		x.key.tid = e[0].key.tid;
		CHECK(kt_insert_probe(&l8, page, &x) == FPT_UNFIT);
		for (int i = 0; i < 4; i++)
		{
			FPTLoc		loc;
			FPTLoc		end;
			FPTEntry	got;
			FPTKey		k = kt_key(FPT_CLS_VALUE, 0, FIRST + 400, wrong[i]);
			int			at = 0;

			x.key = k;
			CHECK(kt_insert_probe(&l8, page, &x) == FPT_UNFIT);
			while (fpt_key_cmp(&l8, &e[at].key, &k) < 0)
				at++;
			CHECK(fpt_page_lower_bound(&l8, page, &k, &loc) == FPT_OK);
			CHECK(fpt_page_get(&l8, page, loc, &got) == FPT_OK);
			CHECK(fpt_key_cmp(&l8, &got.key, &e[at].key) == 0);
			CHECK(fpt_page_range(&l8, page, &k, &k, &loc, &end) == FPT_OK);
			CHECK(!fpt_loc_before(&loc, &end));
		}

		/* a NULL, or a row that no bits can tell: other pages */
		e[n].key = kt_key(FPT_CLS_NULLLAST, 0, 0, e[0].key.tid);
		n++;
		high = kt_key(FPT_CLS_PINF, 0, 0, 0);
		CHECK(!form(&l8, bits));
		n--;
		fences(KEYS * 80);
		put(FIRST, (uint64) TIDBASE << 16 | 300);
		CHECK(!form(&l8, bits));
	}
}

/* Pages that are open below: what keys are relative to is moved down. */
static void
test_open(void)
{
	int			lent = 0;

	for (int shift = 0; shift < 50; shift++)
	{
		FPTPageSpec spec = {0, 5, &low, &high};
		uint64		first = kt_below(2) ? UINT64CONST(1) << 60 : 77;

		low = kt_key(FPT_CLS_MINF, 0, 0, 0);
		high = kt_key(FPT_CLS_PINF, 0, 0, 0);
		if (shift % 2 == 0)
			high = kt_key(FPT_CLS_VALUE, 0,
						  first + (UINT64CONST(21) << shift), 0);
		n = 0;
		for (int i = 0; i < 20; i++)
			put(first + ((uint64) i << shift) + kt_below(2),
				(uint64) (TIDBASE + (i * 7 % 3) * 65536) << 16 | 255);
		CHECK(fpt_page_form(&l8, page, &spec, e, n, 90) == FPT_OK);
		fpt_header(page)->right = high.cls == FPT_CLS_PINF ? 0 : 7;
		lent += fpt_is_lent(&l8, page);
		kt_check_all(&l8, page, e, n);
	}
	CHECK(lent > 5);
}

/*
 * Keys lend bits only if they are not longer by it, and relative to nodes if
 * they are without: at most distances slots are as short as can be.
 */
static void
test_length(void)
{
	(void) table_of(8, 1);
	for (int shift = 0; shift < 40; shift++)
	{
		const FPTGeom *g;
		int			plain;

		n = 0;
		fences(UINT64CONST(20) << shift);
		for (int i = 0; i < 20; i++)
			put(FIRST + ((uint64) i << shift),
				(uint64) (TIDBASE + (i % 2 ? 9000000 : 0)) << 16 | 255);
		CHECK(!form(&l8, 1));
		g = fpt_page_geom(&l8, page);
		CHECK(g->tw == 4);
		plain = fpt_slot_bytes(g);
		for (int i = 0; i < 20; i++)
			e[i].key.tid = (uint64) (TIDBASE + (i % 2 ? 70000 : 0)) << 16 | 255;
		if (form(&l8, 1))
		{
			g = fpt_page_geom(&l8, page);
			CHECK(fpt_slot_bytes(g) == plain - 1);
			kt_check_all(&l8, page, e, n);
		}
		else
		{
			/* 20 << shift, doubled, takes another byte, or a node would */
			CHECK(shift % 8 >= 2);
		}
	}
}

/* What is wrong with the page is found. */
static void
test_faults(void)
{
	static const uint16 wrong[] = {0, FPT_LENT_MAX + 1, 0xFFFF};
	FPTPageHeader *h = fpt_header(page);
	char		was[BLCKSZ];
	FPTPage		pg;
	uint64		hi,
				lo;

	n = 0;
	fences(KEYS * 300);
	for (int i = 0; i < 100; i++)
		put(FIRST + i / 10 * 300, (uint64) (TIDBASE + 1300 * i) << 16 | 255);
	(void) table_of(8, 1);
	CHECK(form(&l8, 1));
	memcpy(was, page, BLCKSZ);

	/* offsets have no bits, or too many, or fewer than keys lend */
	for (int bits = 0; bits < 256; bits++)
	{
		fpt_special(page)->bits = 3;
		fpt_special(page)->rowbits = (uint8) bits;
		CHECK(fpt_page_sane(&l8, page, 5) == (bits >= 3 && bits <= 8));
		CHECK(fpt_page_sane(&l8, page, 5) ||
			  fpt_page_check(&l8, page, 5, NULL) != NULL);
	}
	memcpy(page, was, BLCKSZ);
	for (int i = 0; i < 3; i++)
	{
		fpt_special(page)->bits = wrong[i];
		CHECK(fpt_page_check(&l8, page, 5, NULL) != NULL);
		CHECK(!fpt_page_sane(&l8, page, 5));
	}
	memcpy(page, was, BLCKSZ);
	h->enc = (h->enc & ~FPT_ENC_TID_MASK) |
		(FPT_KIND_LEAF6 - FPT_KIND_LEAF4) << FPT_ENC_TID_SHIFT;
	CHECK(!fpt_page_sane(&l8, page, 5));
	memcpy(page, was, BLCKSZ);
	h->enc |= 7;
	CHECK(!fpt_page_sane(&l8, page, 5));
	memcpy(page, was, BLCKSZ);
	h->nnull = 1;
	CHECK(fpt_page_check(&l8, page, 5, NULL) != NULL);

	/* a separator whose key is that of the entry, but not what it lends */
	memcpy(page, was, BLCKSZ);
	pg = fpt_page_open(&l8, page);
	for (int kid = 1; kid < h->nkids; kid++)
	{
		fpt_sep_get(pg, kid, &hi, &lo);
		fpt_sep_set(pg, kid, hi, lo ^ 1);
		CHECK(fpt_page_check(&l8, page, 5, NULL) != NULL);
		fpt_sep_set(pg, kid, hi, lo);
		CHECK(kt_sound(&l8, page));
	}
	CHECK(h->nkids > 1);
}

void
test_lent(void)
{
	page = aligned_alloc(64, BLCKSZ);
	kt_layout(&l4, 4, false, false);
	kt_layout(&l8, 8, false, false);
	kt_run("lent bits: rows anywhere", test_rows_anywhere);
	kt_run("lent bits: limits", test_limits);
	kt_run("lent bits: open pages", test_open);
	kt_run("lent bits: length", test_length);
	kt_run("lent bits: faults", test_faults);
	free(page);
}
