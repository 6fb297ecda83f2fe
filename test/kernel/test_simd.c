/*-------------------------------------------------------------------------
 *
 * test_simd.c
 *	  All variants of what searches and orders nodes against plain ones, for
 *	  every width and number of keys, at odd addresses.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

#define MAX_NAMES		8
#define READ_BEHIND		63		/* bytes that variants may read too many */

/*
 * Memory of random bytes from p on, at any distance from an aligned address:
 * just enough for what a variant may read.  The caller frees what is returned.
 */
static char *
some_bytes(int n, char **p)
{
	int			skip = (int) kt_below(16);
	int			size = skip + Max(n, 1) + READ_BEHIND;
	char	   *buf = malloc(size);

	for (int i = 0; i < size; i++)
		buf[i] = (char) kt_random();
	*p = buf + skip;
	return buf;
}

static uint64
plain_load(const char *p, int width)
{
	uint64		v = 0;

	for (int i = 0; i < width; i++)
		v |= (uint64) (uint8) p[i] << (8 * i);
	return v;
}

static void
plain_store(char *p, int width, uint64 v)
{
	for (int i = 0; i < width; i++)
		p[i] = (char) (v >> (8 * i));
}

/* A key of so many bytes: anything, or next to a border of something. */
static uint64
some_key(int width)
{
	uint64		max = ~UINT64CONST(0) >> (64 - 8 * width);
	uint64		half = max / 2;
	uint64		any = kt_random() & max;

	switch (kt_below(10))
	{
		case 0:
			return kt_below(3);
		case 1:
			return max - kt_below(3);
		case 2:
			return half + kt_below(3);
		case 3:
			return half - kt_below(3);
		case 4:
			return any & 0xFFFF;
		case 5:
			return any & ~UINT64CONST(0xFFFFFFFF) & max;
		case 6:
			return (any | UINT64CONST(0xFFFFFFFF)) & max;
		case 7:
			return (UINT64CONST(1) << kt_below(8 * width)) - kt_below(2);
		default:
			return any;
	}
}

/* --- packed numbers ------------------------------------------------------ */

/* Loads and stores change nothing but what they are about. */
static void
test_numbers(void)
{
	for (int i = 0; i < 10000; i++)
	{
		int			width = 1 + (int) kt_below(8);
		uint64		v = some_key(width);
		char	   *p;
		char	   *buf = some_bytes(width + 8, &p);
		char		was[16];

		memcpy(was, p, 16);
		plain_store(was, width, v);
		fpt_store_uint(p, width, v);
		CHECK(memcmp(p, was, 16) == 0);
		CHECK(fpt_load_uint(p, width) == v);
		CHECK(plain_load(p, width) == v);
		free(buf);
	}
}

static void
test_copy_bytes(void)
{
	for (int i = 0; i < 10000; i++)
	{
		int			n = (int) kt_below(70);
		int			from = (int) kt_below(30);
		int			to = (int) kt_below(30);
		char		a[100];
		char		b[100];

		for (int j = 0; j < 100; j++)
			a[j] = b[j] = (char) kt_random();
		memmove(a + to, a + from, n);
		fpt_copy_bytes(b + to, b + from, n);
		CHECK(memcmp(a, b, sizeof(a)) == 0);
	}
}

/* --- variants ------------------------------------------------------------ */

static void
compare_once(const char *const *names, int nnames, int width, int n)
{
	char	   *keys;
	char	   *buf = some_bytes(n * width, &keys);
	uint64		few[4];
	uint64		key = some_key(width);
	uint64		lt = 0;
	uint64		eq = 0;

	for (int i = 0; i < 4; i++)
		few[i] = some_key(width);
	if (kt_chance(70))
		key = few[kt_below(4)];
	for (int i = 0; i < n; i++)
	{
		uint64		v = kt_chance(50) ? few[kt_below(4)] : some_key(width);

		plain_store(keys + i * width, width, v);
		if (v < key)
			lt |= UINT64CONST(1) << i;
		if (v == key)
			eq |= UINT64CONST(1) << i;
	}
	for (int i = 0; i < nnames; i++)
	{
		uint64		e = kt_random();

		CHECK(fpt_simd_select(names[i]));
		CHECK(fpt_simd->cmp[width - 1] (keys, n, key, &e) == lt);
		CHECK(e == eq);
	}
	free(buf);
}

static void
test_compare(void)
{
	const char *names[MAX_NAMES];
	int			nnames = fpt_simd_available(names, MAX_NAMES);

	for (int width = 1; width <= 8; width++)
	{
		for (int n = 0; n <= 64; n++)
		{
			for (int i = 0; i < 100; i++)
				compare_once(names, nnames, width, n);
		}
	}
	fpt_simd_select("auto");
}

static void
test_used(void)
{
	const char *names[MAX_NAMES];
	int			nnames = fpt_simd_available(names, MAX_NAMES);

	for (int round = 0; round < 65 * 16 * 30; round++)
	{
		int			n = round % 65;
		int			stride = 1 + round / 65 % 16;
		int			zeroes = (int) kt_below(101);
		char	   *low;
		char	   *buf = some_bytes(n * stride, &low);
		uint64		used = 0;

		for (int i = 0; i < n; i++)
		{
			/* all ones and a lone highest bit are not zero, either */
			if (kt_chance(zeroes))
				low[i * stride] = 0;
			else if (kt_chance(30))
				low[i * stride] = (char) (kt_chance(50) ? 0xFF : 0x80);
			if (low[i * stride] != 0)
				used |= UINT64CONST(1) << i;
		}
		for (int i = 0; i < nnames; i++)
		{
			CHECK(fpt_simd_select(names[i]));
			CHECK(fpt_simd->used(low, n, stride) == used);
		}
		free(buf);
	}
	fpt_simd_select("auto");
}

/* A number's upper bits, as FPTSimd.order goes by them, and its position. */
typedef struct Placed
{
	uint64		upper;
	int			pos;
} Placed;

static int
placed_cmp(const void *a, const void *b)
{
	const Placed *x = a;
	const Placed *y = b;

	if (x->upper != y->upper)
		return x->upper < y->upper ? -1 : 1;
	return x->pos - y->pos;
}

/* Numbers in any order, in order, the other way round, close together, far. */
static void
order_once(const char *const *names, int nnames, int n)
{
	uint64		v[FPT_MAX_CAP];
	Placed		sorted[FPT_MAX_CAP];
	uint64		min = ~UINT64CONST(0);
	uint64		max = 0;
	int			kind = (int) kt_below(6);
	uint64		base = kt_random();
	uint64		span = kt_random() >> kt_below(64);

	for (int i = 0; i < FPT_MAX_CAP; i++)
		v[i] = kt_random();		/* what is behind them is anything */
	for (int i = 0; i < n; i++)
	{
		if (kind == 1)
			v[i] = (uint64) i / 2;
		else if (kind == 2)
			v[i] = (uint64) (FPT_MAX_CAP - i) / 2;
		else if (kind == 3)
			v[i] = kt_below(2) * ~UINT64CONST(0);
		else if (kind == 4)
			v[i] = base + (span > 0 ? kt_random() % span : 0);
		min = Min(min, v[i]);
		max = Max(max, v[i]);
	}
	for (int i = 0; i < n; i++)
	{
		sorted[i].upper = v[i] - min;
		for (uint64 s = max - min; s >= 1024; s /= 2)
			sorted[i].upper /= 2;
		sorted[i].pos = i;
	}
	qsort(sorted, n, sizeof(Placed), placed_cmp);
	for (int i = 0; i < nnames; i++)
	{
		uint64	   *in = malloc(sizeof(v));
		uint8	   *pos = malloc(n);

		memcpy(in, v, sizeof(v));
		CHECK(fpt_simd_select(names[i]));
		fpt_simd->order(in, n, pos);
		for (int j = 0; j < n; j++)
			CHECK(pos[j] == sorted[j].pos);
		free(in);
		free(pos);
	}
}

static void
test_order_numbers(void)
{
	const char *names[MAX_NAMES];
	int			nnames = fpt_simd_available(names, MAX_NAMES);

	for (int n = 1; n <= FPT_MAX_CAP; n++)
	{
		for (int i = 0; i < 200; i++)
			order_once(names, nnames, n);
	}
	fpt_simd_select("auto");
}

/* Numbers that ascend, but for one pair perhaps. */
static void
test_ascend(void)
{
	const char *names[MAX_NAMES];
	int			nnames = fpt_simd_available(names, MAX_NAMES);

	for (int round = 0; round < 8 * 64 * 100; round++)
	{
		int			width = 1 + round % 8;
		int			n = 1 + round / 8 % 64;
		uint64		max = ~UINT64CONST(0) >> (64 - 8 * width);
		uint64		step = 1 + kt_random() % (max / 64);
		char	   *keys;
		char	   *buf = some_bytes(n * width, &keys);
		uint64		v = max / 2 - step * (uint64) (n / 2);
		int			odd = kt_chance(60) ? (int) kt_below(n) : n;
		bool		ascend = odd == 0 || odd == n;

		for (int i = 0; i < n; i++)
		{
			if (i == odd)
				v -= i > 0 && kt_chance(50) ? kt_below(2) : 0;
			else if (i > 0)
				v += 1 + kt_below(step);
			plain_store(keys + i * width, width, v);
		}
		for (int i = 0; i < nnames; i++)
		{
			CHECK(fpt_simd_select(names[i]));
			CHECK(fpt_simd->ascend(keys, n, width) == ascend);
		}
		free(buf);
	}
	fpt_simd_select("auto");
}

static void
test_tids(void)
{
	const char *names[MAX_NAMES];
	int			nnames = fpt_simd_available(names, MAX_NAMES);

	for (int round = 0; round < 2 * 65 * 150; round++)
	{
		int			width = 3 + round % 2;
		int			n = round / 2 % 65;
		int			stride = width + (int) kt_below(9);
		int			bits = width == 4 || kt_chance(30) ? 8 :
			1 + (int) kt_below(7);
		char		none = (char) (kt_below(256) << bits);
		uint32		base = kt_chance(50) ? FPT_MAX_TIDBASE :
			(uint32) kt_below(FPT_MAX_TIDBASE);
		char	   *tids;
		char	   *buf = some_bytes(n * stride, &tids);
		bool		valid = true;

		for (int i = 0; i < n; i++)
		{
			if ((tids[i * stride] & ((1 << bits) - 1)) == 0)
				tids[i * stride]++;
			if (kt_chance(20))
				memset(tids + i * stride, 0xFF, width);
		}
		if (n > 0 && kt_chance(50))
		{
			tids[kt_below(n) * stride] = none;
			valid = false;
		}
		for (int i = 0; i < nnames; i++)
		{
			uint64	   *out = malloc(Max(n, 1) * sizeof(uint64));

			CHECK(fpt_simd_select(names[i]));
			CHECK(fpt_simd->tids(tids, n, stride, width, base, bits, out) ==
				  valid);
			for (int j = 0; j < n; j++)
			{
				uint64		v = plain_load(tids + j * stride, width);

				CHECK(out[j] == ((base + (v >> bits)) << 16 |
								 (v & ((1 << bits) - 1))));
			}
			free(out);
		}
		free(buf);
	}
	fpt_simd_select("auto");
}

static void
test_choice(void)
{
	const char *names[MAX_NAMES];
	int			n = fpt_simd_available(names, MAX_NAMES);

	/* nothing was selected yet: the portable one */
	CHECK(strcmp(fpt_simd->name, "scalar") == 0);
	CHECK(n >= 1 && strcmp(names[n - 1], "scalar") == 0);
	CHECK(fpt_simd_available(names, 1) == 1);
	CHECK(fpt_simd_available(names, 0) == 0);
	CHECK(!fpt_simd_select(""));
	CHECK(!fpt_simd_select("mmx"));
	CHECK(strcmp(fpt_simd->name, "scalar") == 0);
	for (int i = 0; i < n; i++)
	{
		CHECK(fpt_simd_select(names[i]));
		CHECK(strcmp(fpt_simd->name, names[i]) == 0);
		printf("search variant: %s\n", names[i]);
	}
	CHECK(fpt_simd_select("auto"));
	CHECK(strcmp(fpt_simd->name, names[0]) == 0);
}

void
test_simd(void)
{
	kt_run("choice of variant", test_choice);
	kt_run("packed numbers", test_numbers);
	kt_run("copying bytes", test_copy_bytes);
	kt_run("variants: comparison", test_compare);
	kt_run("variants: slots in use", test_used);
	kt_run("variants: order", test_order_numbers);
	kt_run("variants: ascent", test_ascend);
	kt_run("variants: TIDs", test_tids);
}
