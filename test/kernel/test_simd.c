/*-------------------------------------------------------------------------
 *
 * test_simd.c
 *	  All variants of the node comparison against a plain one, for every key
 *	  width and number of keys, at odd addresses.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

#define MAX_NAMES		8
#define MAX_STRIDE		80

/* Just enough room behind the keys: whole vectors may be read. */
static char buf[1 + 16 * MAX_STRIDE + 63];

static uint64
plain_compare(int kw, const char *keys, int n, int stride, kt_u128 key,
			  uint64 *eq)
{
	uint64		lt = 0;

	*eq = 0;
	for (int i = 0; i < n; i++)
	{
		uint64		hi,
					lo;
		kt_u128		v;

		fpt_array_rel(kw, keys, stride, i, &hi, &lo);
		v = ((kt_u128) hi << 64) | lo;
		if (v < key)
			lt |= UINT64CONST(1) << i;
		if (v == key)
			*eq |= UINT64CONST(1) << i;
	}
	return lt;
}

/* A key of kw bytes: anything, or a boundary of signed or unsigned numbers. */
static kt_u128
some_key(int kw)
{
	kt_u128		max = kw == 16 ? ~(kt_u128) 0 : ((kt_u128) 1 << (8 * kw)) - 1;
	kt_u128		half = max / 2;
	kt_u128		any = ((kt_u128) kt_random() << 64 | kt_random()) & max;

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
			return any & ~(kt_u128) 0xFFFFFFFF & max;
		case 6:
			return any | ((kt_u128) 0xFFFFFFFF & max);
		default:
			return any;
	}
}

static void
compare_once(int kwi, int n)
{
	const char *names[MAX_NAMES];
	int			nnames = fpt_simd_available(names, MAX_NAMES);
	int			kw = 1 << kwi;
	int			stride = n + (int) kt_below(MAX_STRIDE - n + 1);
	char	   *keys = buf + kt_below(2);
	kt_u128		few[4];
	kt_u128		key = some_key(kw);
	uint64		eq;
	uint64		lt;

	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (char) kt_random();
	for (int i = 0; i < 4; i++)
		few[i] = some_key(kw);
	for (int i = 0; i < stride; i++)
	{
		kt_u128		v = kt_chance(50) ? few[kt_below(4)] : some_key(kw);

		fpt_array_set(kw, keys, stride, i, (uint64) (v >> 64), (uint64) v);
	}
	if (kt_chance(70))
		key = few[kt_below(4)];
	lt = plain_compare(kw, keys, n, stride, key, &eq);
	for (int i = 0; i < nnames; i++)
	{
		uint64		e;

		CHECK(fpt_simd_select(names[i]));
		CHECK(fpt_simd->cmp[kwi] (keys, n, stride, (uint64) (key >> 64),
								  (uint64) key, &e) == lt);
		CHECK(e == eq);
	}
}

static void
test_variants(void)
{
	for (int kwi = 0; kwi < FPT_NKW; kwi++)
	{
		for (int n = 0; n <= 64; n++)
		{
			for (int i = 0; i < 100; i++)
				compare_once(kwi, n);
		}
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
	kt_run("variants", test_variants);
}
