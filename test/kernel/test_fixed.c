/*-------------------------------------------------------------------------
 *
 * test_fixed.c
 *	  Pages that leave out the bits that all keys have (FPT_ENC_FIXED).
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

static char *page;
static FPTLayout l16;
static const FPTKey pinf = {.cls = FPT_CLS_PINF};
static FPTKey lowfence;		/* fences of pages of entries: any page size */
static FPTKey highfence;	/* gives these keys the same width */
static FPTEntry e[FPT_MAX_ENTRIES + 1];

#define N				20	/* entries that fit in any page */

#define FIXED_V7	(7 << 2 | 2)	/* version 7, the usual variant */

/* The i'th of uuids of version 7 that ascend, a millisecond apart. */
static FPTKey
uuid7(int i)
{
	kt_u128		v = ((kt_u128) (0x19000000000 + i) << 74) + kt_random();
	FPTKey		k = kt_key(FPT_CLS_VALUE, (uint64) (v >> 64), (uint64) v, 0);

	fpt_key_expand(FIXED_V7, &k.hi, &k.lo);
	return k;
}

/* A page of n of them; its encoding. */
static int
form(int n, const FPTKey *low, const FPTKey *high)
{
	CHECK(fpt_page_form(&l16, page, &(FPTPageSpec) {0, 5, low, high, 65536}, e,
						n, 90) == FPT_OK);
	fpt_header(page)->left = low->cls == FPT_CLS_MINF ? 0 : 7;
	fpt_header(page)->right = high->cls == FPT_CLS_PINF ? 0 : 7;
	CHECK(fpt_page_check(&l16, page, 5, NULL) == NULL);
	return fpt_header(page)->enc;
}

static void
make_entries(int n)
{
	lowfence = uuid7(-1);
	highfence = uuid7(n);
	for (int i = 0; i < n; i++)
	{
		e[i] = (FPTEntry) {.key = uuid7(i)};
		e[i].key.tid = 1 + i % 100;
	}
}

/* Without the bits, and with them again; the order is the same. */
static void
test_squeeze(void)
{
	for (int i = 0; i < 20000; i++)
	{
		uint64		hi = kt_random(),
					lo = kt_random();
		uint32		fixed = fpt_fixed_bits(hi, lo);
		uint64		h = hi,
					l = lo;
		kt_u128		v;
		kt_u128		up = 0;

		fpt_key_squeeze(&h, &l);
		v = (kt_u128) h << 64 | l;
		CHECK(h >> FPT_FIXED_HIGHBITS == 0);
		fpt_key_expand(fixed, &h, &l);
		CHECK(h == hi && l == lo);

		/* the next above, of any bits, and the one before that */
		for (uint32 bits = 0; bits <= FPT_FIXED_MAX; bits++)
		{
			FPTKey		k = kt_key(FPT_CLS_VALUE, hi, lo, 0);
			FPTKey		above = k;
			bool		is = fpt_key_squeeze_up(bits, &above.hi, &above.lo);

			up = (kt_u128) above.hi << 64 | above.lo;
			CHECK(bits != fixed || (is && up == v));
			if (!is)
				up = (kt_u128) 1 << 122;
			else
			{
				fpt_key_expand(bits, &above.hi, &above.lo);
				CHECK(kt_value(&above) >= kt_value(&k));
			}
			if (up-- == 0)
				continue;
			above.hi = (uint64) (up >> 64);
			above.lo = (uint64) up;
			fpt_key_expand(bits, &above.hi, &above.lo);
			CHECK(kt_value(&above) < kt_value(&k));
		}
	}
}

/* Keys are shorter; those that are foreign have a place, and no room. */
static void
test_foreign(void)
{
	int			n = N;
	FPTKey		low;
	int			kw;

	make_entries(n);
	CHECK((form(n, &lowfence, &highfence) & FPT_ENC_FIXED) != 0);
	CHECK(fpt_special(page)->bits == FIXED_V7);
	kw = fpt_page_geom(&l16, page)->kw;
	for (int i = 0; i < n; i++)
	{
		for (uint32 bits = 0; bits <= FPT_FIXED_MAX; bits++)
		{
			FPTEntry	x = {.key = e[i].key};
			FPTEntry	got;
			FPTLoc		loc;
			FPTLoc		last;
			FPTEdit		edit = {0};
			int			at = 0;

			fpt_key_squeeze(&x.key.hi, &x.key.lo);
			fpt_key_expand(bits, &x.key.hi, &x.key.lo);
			x.key.tid = 7;
			while (at < n && fpt_key_cmp(&l16, &e[at].key, &x.key) < 0)
				at++;
			CHECK(fpt_page_lower_bound(&l16, page, &x.key, &loc) == FPT_OK);
			if (at == n)
				CHECK(loc.kid == fpt_header(page)->nkids);
			else
				CHECK(fpt_page_get(&l16, page, loc, &got) == FPT_OK &&
					  fpt_key_cmp(&l16, &got.key, &e[at].key) == 0);
			if (bits == FIXED_V7)
				continue;
			x.key.tid = 0;
			low = x.key;
			low.tid = FPT_MAX_TID;
			CHECK(fpt_page_range(&l16, page, &x.key, &low, &loc, &last) ==
				  FPT_OK && loc.kid == last.kid && loc.rank == last.rank);
			x.key.tid = 7;
			CHECK(fpt_page_insert(&l16, page, &x, &edit) == FPT_UNFIT);
		}
	}

	/* formed anew with a foreign one they are as long as they were */
	e[n] = e[n - 1];
	e[n].key.hi ^= 0x1000 << 3;
	CHECK((form(n + 1, &lowfence, &highfence) & FPT_ENC_FIXED) == 0);
	CHECK(fpt_page_geom(&l16, page)->kw > kw);

	/* fences may be foreign */
	low = e[0].key;
	low.hi &= ~(uint64) 0xF000;
	low.lo = 0;
	CHECK((form(n, &low, &e[n].key) & FPT_ENC_FIXED) != 0);
	CHECK((form(n, &low, &highfence) & FPT_ENC_FIXED) != 0);
	CHECK((form(n, &lowfence, &e[n].key) & FPT_ENC_FIXED) != 0);

	/* and so may NULLs be there */
	e[n] = (FPTEntry) {.key = {.cls = FPT_CLS_NULLLAST, .tid = 9}};
	(void) form(n + 1, &low, &pinf);
}

/*
 * So many keys at this distance, without fixed bits: they fit only if keys are
 * relative to nodes, which they can be only without these bits.
 */
static void
test_near_only(void)
{
	static const struct
	{
		int			gap;		/* bits */
		int			n;
	}			cases[] = {{64, 600}, {72, 560}, {80, 530}, {88, 500}, {96, 460}};

	if (BLCKSZ != 8192)
		return;
	for (int c = 0; c < 5; c++)
	{
		for (int i = 0; i <= cases[c].n; i++)
		{
			kt_u128		v = ((kt_u128) 1 << 110) +
				((kt_u128) i << cases[c].gap);

			e[i] = (FPTEntry) {.key = kt_key(FPT_CLS_VALUE,
											 (uint64) (v >> 64), (uint64) v, 1)};
			fpt_key_expand(FIXED_V7, &e[i].key.hi, &e[i].key.lo);
		}
		CHECK((form(cases[c].n, &e[0].key, &e[cases[c].n].key) &
			   (FPT_ENC_FIXED | FPT_ENC_NEAR)) ==
			  (FPT_ENC_FIXED | FPT_ENC_NEAR));
	}
}

/* What is wrong with the page is found. */
static void
test_faults(void)
{
	static const uint16 wrong[] = {FPT_FIXED_MAX + 1, 0xFFFF};
	const char *msg;

	make_entries(N);
	for (int i = 0; i < 2; i++)
	{
		CHECK((form(N, &lowfence, &highfence) & FPT_ENC_FIXED) != 0);
		fpt_special(page)->bits = wrong[i];
		CHECK(fpt_page_check(&l16, page, 5, NULL) != NULL);
		CHECK(!fpt_page_sane(&l16, page, 5));
	}
	form(N, &lowfence, &highfence);
	fpt_special(page)->base_hi |= UINT64CONST(1) << FPT_FIXED_HIGHBITS;
	msg = fpt_page_check(&l16, page, 5, NULL);
	CHECK(msg != NULL && strcmp(msg, "key base is not valid") == 0);

	/* the sum of base and key goes past all bits */
	form(N, &lowfence, &highfence);
	fpt_special(page)->base_hi = ~UINT64CONST(0) >> (64 - FPT_FIXED_HIGHBITS);
	fpt_special(page)->base_lo = ~UINT64CONST(0);
	CHECK(fpt_page_check(&l16, page, 5, NULL) != NULL);

	/* a page without such bits has none there; keys of 8 bytes have none */
	make_entries(N);
	e[N - 1].key.hi ^= 0x1000 << 3;
	CHECK((form(N, &lowfence, &highfence) & FPT_ENC_FIXED) == 0);
	fpt_special(page)->bits = 1;
	CHECK(fpt_page_check(&l16, page, 5, NULL) != NULL);
	fpt_special(page)->bits = 0;
	fpt_header(page)->enc |= FPT_ENC_KW_MASK | FPT_ENC_FIXED;
	CHECK(!fpt_page_sane(&l16, page, 5));
}

void
test_fixed(void)
{
	page = aligned_alloc(64, BLCKSZ);
	kt_layout(&l16, 16, false, false);
	kt_run("fixed bits: order", test_squeeze);
	kt_run("fixed bits: foreign keys", test_foreign);
	kt_run("fixed bits: near enough without them", test_near_only);
	kt_run("fixed bits: faults", test_faults);
	free(page);
}
