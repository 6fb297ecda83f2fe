/*-------------------------------------------------------------------------
 *
 * test_number.c
 *	  Pages of bench/number against a sorted array, under random operations,
 *	  and damaged.
 *
 *	  test_number [-n operations] [-f damaged pages] [-s seed]
 *
 * Prints what failed; the last line is "N operations, N pages, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "number.h"

static uint64 state;
static long failed;

static uint64
rnd(void)
{
	uint64		z = state += UINT64CONST(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static uint64
below(uint64 n)
{
	return rnd() % n;
}

#define CHECK(c) \
	do { if (!(c)) fail(#c, __LINE__); } while (0)

static void
fail(const char *what, int line)
{
	failed++;
	printf("line %d: %s\n", line, what);
	if (failed > 20)
		exit(1);
}

/* How a world's keys and rows come. */
typedef struct World
{
	NumIndex	ix;
	int			keys;			/* distribution of heads */
	uint64		few;			/* ... number of distinct ones */
	num_u128	base;
	num_u128	mask;
	int			rows;			/* 0: anywhere, 1: as keys, 2: mostly so */
	int			rests;
	NumEntry	m[NUM_MAXENTRIES];
	int			n;
	uint8	   *page;
} World;

static World w;
static NumEntry out[NUM_MAXENTRIES + NUM_MAXCAP];

static num_u128
ones128(int bits)
{
	return bits >= 128 ? ~(num_u128) 0 : ((num_u128) 1 << bits) - 1;
}

static num_u128
mixed(uint64 i)
{
	uint64		was = state;
	num_u128	v;

	state = i * 77 + 1;
	v = (num_u128) rnd() << 64 | rnd();
	state = was;
	return v;
}

static NumEntry
random_entry(void)
{
	NumEntry	e = {0, 0, 0};
	uint64		off = 1 + below((uint64) w.ix.maxoff);
	uint64		i = below(w.few);
	uint64		block = below(w.ix.blocks);

	switch (w.keys)
	{
		case 0:					/* dense */
			e.head = w.base + i;
			break;
		case 1:					/* few that are anywhere */
			e.head = mixed(i);
			break;
		case 2:
			e.head = (num_u128) rnd() << 64 | rnd();
			break;
		case 3:					/* the ends of the range */
			e.head = below(2) ? below(3) : ~(num_u128) 0 - below(3);
			break;
		default:				/* a dense range and a far one */
			e.head = w.base + i + (below(50) == 0 ? w.mask / 2 : 0);
	}
	e.head &= w.mask;
	if (w.ix.restbits > 0)
		e.rest = (w.rests == 0 ? rnd() : w.rests == 1 ? below(1000) : 7) &
			num_ones(w.ix.restbits);
	if (w.rows == 1 || (w.rows == 2 && below(20) != 0))
	{
		block = ((uint64) e.head / 100 + e.rest / 100) % w.ix.blocks;
		off = 1 + ((uint64) e.head + e.rest) % (uint64) w.ix.maxoff;
		if (below(4) == 0)
			block = (block + below(3)) % w.ix.blocks;
	}
	e.tid = block << 16 | off;
	return e;
}

static void
random_world(void)
{
	static const int sizes[] = {4, 8, 16};

	memset(&w.ix, 0, sizeof(w.ix));
	w.ix.headsize = sizes[below(3)];
	w.ix.headextra = below(4) == 0 ? 6 : 0;
	w.ix.restbits = (int) below(3) * 32;
	w.ix.blocks = below(3) == 0 ? 1 + below(20) : below(8) == 0 ?
		UINT64CONST(0xFFFFFFFF) : 1 + below(100000);
	w.ix.maxoff = 1 + (int) below(below(2) ? 290 : 30);
	w.keys = (int) below(5);
	w.few = 1 + below(below(2) ? 5 : below(2) ? 100 : 5000);
	w.mask = ones128(8 * w.ix.headsize);
	w.base = ((num_u128) rnd() << 64 | rnd()) & w.mask;
	w.rows = (int) below(3);
	w.rests = (int) below(3);
	w.n = 0;
}

static int
place(const NumEntry *e)
{
	int			a = 0, b = w.n;

	while (a < b)
	{
		int			m = (a + b) / 2;

		if (num_entry_cmp(&w.m[m], e) < 0)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

static bool
add(const NumEntry *e)
{
	int			at = place(e);

	if (w.n == NUM_MAXENTRIES ||
		(at < w.n && num_entry_cmp(&w.m[at], e) == 0))
		return false;
	memmove(w.m + at + 1, w.m + at, sizeof(NumEntry) * (size_t) (w.n - at));
	w.m[at] = *e;
	w.n++;
	return true;
}

static void
drop(int at)
{
	memmove(w.m + at, w.m + at + 1,
			sizeof(NumEntry) * (size_t) (--w.n - at));
}

/* The page holds what the array does. */
static void
verify(void)
{
	int			n = num_extract(&w.ix, w.page, out, NUM_MAXENTRIES +
								NUM_MAXCAP);
	const char *what = num_check(&w.ix, w.page);

	if (what)
		fail(what, __LINE__);
	CHECK(n == w.n);
	for (int i = 0; i < Min(n, w.n); i++)
	{
		if (num_entry_cmp(&out[i], &w.m[i]) != 0)
		{
			fail("an entry differs", __LINE__);
			break;
		}
	}
}

/* All rows of a key are found, and no others. */
static void
verify_find(const NumEntry *e)
{
	static uint64 tids[NUM_MAXENTRIES];
	NumEntry	low = {e->head, e->rest, 0};
	int			at = place(&low);
	int			n = num_find(&w.ix, w.page, e->head, e->rest, tids,
							 NUM_MAXENTRIES);
	int			want = 0;

	for (; at + want < w.n && w.m[at + want].head == e->head &&
		 w.m[at + want].rest == e->rest; want++)
	{
		bool		there = false;

		for (int i = 0; i < n; i++)
			there |= tids[i] == w.m[at + want].tid;
		CHECK(there);
	}
	CHECK(n == want);
}

/* The page anew, of the array's first entries or of all; false: they don't fit */
static bool
reform(bool all)
{
	static uint8 copy[BLCKSZ];
	NumFill		fill = {50 + (int) below(51), all ? 100 : 90, all, false};
	int			n;

	fill.open = all && below(4) == 0;
	n = w.n == 0 ? 0 : num_form(&w.ix, copy, w.m, w.n, &fill);
	if (n == 0)
		return false;
	memcpy(w.page, copy, BLCKSZ);
	w.n = n;
	verify();
	return true;
}

static void
fill_array(int n)
{
	w.n = 0;
	for (int i = 0; i < n; i++)
	{
		NumEntry	e = random_entry();

		(void) add(&e);
	}
}

static void
insert(void)
{
	static uint8 copy[BLCKSZ];
	NumEntry	e = random_entry();
	NumResult	r;

	if (!add(&e))
		return;
	r = num_insert(&w.ix, w.page, &e);
	CHECK(r != NUM_CORRUPT);
	if (r == NUM_OK)
		return;
	memcpy(copy, w.page, BLCKSZ);
	r = num_insert_room(&w.ix, copy, &e);
	CHECK(r != NUM_CORRUPT);
	if (r == NUM_OK)
	{
		memcpy(w.page, copy, BLCKSZ);
		verify();
		return;
	}
	if (r == NUM_UNFIT && reform(true))
		return;
	/* split: one half stays */
	if (w.n > 1)
	{
		int			half = w.n / 2;

		if (below(2))
		{
			int			at = place(&e);

			if (at < half)
			{
				drop(at);
				half--;
			}
			else
				drop(at);
			num_truncate(&w.ix, w.page, half);
			w.n = half;
			verify();
			return;
		}
		memmove(w.m, w.m + half, sizeof(NumEntry) * (size_t) (w.n - half));
		w.n -= half;
	}
	if (!reform(true))
		CHECK(reform(false));
}

static long
run_world(long most)
{
	long		ops = 0;

	random_world();
	fill_array(1 + (int) below(below(2) ? 3000 : 30));
	CHECK(reform(false));
	for (; ops < most && w.n > 0; ops++)
	{
		int			what = (int) below(100);

		if (what < 70)
			insert();
		else if (what < 90)
		{
			int			at = (int) below((uint64) w.n);

			CHECK(num_remove(&w.ix, w.page, &w.m[at]));
			drop(at);
		}
		else
		{
			NumEntry	e = below(2) ? w.m[below((uint64) w.n)] :
				random_entry();

			verify_find(&e);
			if (place(&e) == w.n || num_entry_cmp(&w.m[place(&e)], &e) != 0)
				CHECK(!num_remove(&w.ix, w.page, &e));
		}
		if (ops % 64 == 0)
			verify();
	}
	verify();
	return ops;
}

/* Whatever a page holds, nothing reads or writes outside it, or does not end. */
static void
run_damaged(void)
{
	static uint8 copy[BLCKSZ];
	static uint64 tids[NUM_MAXENTRIES];

	random_world();
	fill_array(1 + (int) below(2000));
	CHECK(reform(false));
	memcpy(copy, w.page, BLCKSZ);
	for (int i = 0; i < 8; i++)
	{
		int			hits = 1 + (int) below(8);

		memcpy(w.page, copy, BLCKSZ);
		while (hits-- > 0)
		{
			uint64		at = below(4) == 0 ? below(BLCKSZ) : below(2) ?
				below(64 * 8) : BLCKSZ - 1 - below(64 * 4);

			w.page[at] = below(4) ? (uint8) rnd() : (uint8) (w.page[at] + 1);
		}
		for (int k = 0; k < 8; k++)
		{
			NumEntry	e = below(2) ? w.m[below((uint64) w.n)] :
				random_entry();

			(void) num_find(&w.ix, w.page, e.head, e.rest, tids,
							NUM_MAXENTRIES);
			(void) num_extract(&w.ix, w.page, out, NUM_MAXENTRIES + NUM_MAXCAP);
			(void) num_check(&w.ix, w.page);
			(void) num_remove(&w.ix, w.page, &e);
			if (num_insert(&w.ix, w.page, &e) != NUM_OK)
				(void) num_insert_room(&w.ix, w.page, &e);
		}
		num_truncate(&w.ix, w.page, (int) below(500));
	}
}

int
main(int argc, char **argv)
{
	long		ops = 1000000, damaged = 2000, done = 0;
	int			opt;

	state = 1;
	while ((opt = getopt(argc, argv, "n:f:s:")) != -1)
		if (opt == 'n')
			ops = atol(optarg);
		else if (opt == 'f')
			damaged = atol(optarg);
		else if (opt == 's')
			state = (uint64) atol(optarg);
	w.page = aligned_alloc(FPT_LINE, BLCKSZ);
	while (done < ops)
	{
		uint64		seed = state;
		long		was = failed;

		done += run_world(Min(ops - done, 1 + (long) below(4000)));
		if (failed > was)
			printf("seed %ld: headsize %d rest %d keys %d few %lu rows %d\n",
				   (long) seed, w.ix.headsize, w.ix.restbits, w.keys,
				   (long) w.few, w.rows);
	}
	for (long i = 0; i < damaged; i++)
		run_damaged();
	free(w.page);
	printf("%ld operations, %ld pages, %ld failed\n", done, damaged, failed);
	return failed > 0;
}
