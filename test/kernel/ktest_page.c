/*-------------------------------------------------------------------------
 *
 * ktest_page.c
 *	  Random pages with a model: a sorted array of what they should hold.
 *
 * Arithmetic on keys is done in 128 bits here, unlike in the kernel.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"
#include "page/number.h"

FPTWork		kt_work;

static uint64 kt_state = 1;

void
kt_seed(uint64 seed)
{
	kt_state = seed * UINT64CONST(0x9E3779B97F4A7C15) + 1;
}

/* splitmix64 */
uint64
kt_random(void)
{
	uint64		z = (kt_state += UINT64CONST(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* 0 .. max, all of them possible */
static kt_u128
kt_random_wide(kt_u128 max)
{
	kt_u128		r = ((kt_u128) kt_random() << 64) | kt_random();

	return max + 1 == 0 ? r : r % (max + 1);
}

static kt_u128
kt_max_of(int bytes)
{
	return bytes == 16 ? ~(kt_u128) 0 : ((kt_u128) 1 << (8 * bytes)) - 1;
}

/* --- worlds ------------------------------------------------------------- */

KTWorld *
kt_world_new(void)
{
	KTWorld    *w = calloc(1, sizeof(KTWorld));

	w->page = aligned_alloc(64, BLCKSZ);
	return w;
}

void
kt_world_free(KTWorld *w)
{
	free(w->page);
	free(w);
}

/* Geometries that never change, as layouts are copied. */
static const FPTGeoms *
kt_geoms_keep(const FPTGeoms *geoms)
{
	static FPTGeoms **known = NULL;
	static int	n = 0;

	for (int i = 0; i < n; i++)
	{
		if (memcmp(known[i], geoms, sizeof(FPTGeoms)) == 0)
			return known[i];
	}
	known = realloc(known, (n + 1) * sizeof(FPTGeoms *));
	known[n] = malloc(sizeof(FPTGeoms));
	memcpy(known[n], geoms, sizeof(FPTGeoms));
	return known[n++];
}

void
kt_layout(FPTLayout *l, int keysize, bool nullsfirst, bool randomwidths)
{
	static FPTGeoms geoms;
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];
	int			force_w = 0;
	int			force_x = 0;

	do
	{
		if (randomwidths)
		{
			force_w = (int) kt_below(9);
			force_x = (int) kt_below(BLCKSZ > 1024 ? 17 : 7);
		}
	} while (!fpt_choose_widths(keysize, force_w, force_x, widths));
	if (!fpt_layout_init(l, &geoms, keysize, nullsfirst, (uint32) kt_random(),
						 widths))
		abort();
	l->geoms = kt_geoms_keep(&geoms);
	l->nonumbers = true;
}

/* --- general keys ------------------------------------------------------- */

/* Tuples of entries: they never change, so that models may point to them. */
#define KT_POOL		(4 * 1024 * 1024)
#define KT_UNLIKE		32
#define KT_UNLIKE_STEP	(32 * 1024)

static char *
kt_pool(void)
{
	static char *pool = NULL;

	if (pool == NULL)
	{
		uint64		state = kt_state;

		/* the same in all runs */
		kt_seed(1);
		pool = malloc(KT_POOL);

		/* few different bytes, so that there are common prefixes */
		for (int i = 0; i < KT_POOL; i++)
			pool[i] = (char) kt_below(kt_below(50) == 0 ? 256 : 2);

		/* tuples that are equal to others, but not alike */
		for (int i = 0; i < KT_UNLIKE; i++)
		{
			char	   *p = pool + KT_POOL / 2 + i * KT_UNLIKE_STEP;

			memcpy(p, pool + 16 * i, FPT_MAX_TUPLE);
			p[0] ^= (char) 0x80;
		}
		kt_state = state;
	}
	return pool;
}

/* The upper bit of the first byte makes no difference. */
static inline int
kt_tuple_byte(const FPTKey *k, uint32 i)
{
	return (uint8) k->tup[i] & (i == 0 ? 0x7F : 0xFF);
}

static int
kt_tuple_cmp(const void *arg, const FPTKey *a, const FPTKey *b)
{
	int			n = (int) Min(a->len, b->len);
	int			r = n > 0 ? kt_tuple_byte(a, 0) - kt_tuple_byte(b, 0) : 0;

	if (r == 0 && n > 1)
		r = memcmp(a->tup + 1, b->tup + 1, n - 1);

	CHECK(arg == &kt_state);
	CHECK(a->search == NULL && b->search == NULL);
	return r != 0 ? r : (int) a->len - (int) b->len;
}

/* The shortest beginning of key that is above prev, but never empty. */
static void
kt_separate(const void *arg, const FPTKey *prev, const FPTKey *key,
			FPTKeyBuf *sep)
{
	bool		same = prev->cls == key->cls && prev->lo == key->lo;
	uint32		n = 0;

	sep->key = *key;
	if (same && kt_tuple_cmp(arg, prev, key) == 0)
	{
		fpt_key_copy(sep, key);
		return;
	}
	if (same)
	{
		while (n < prev->len && n < key->len &&
			   kt_tuple_byte(prev, n) == kt_tuple_byte(key, n))
			n++;
	}
	sep->key.len = Min(n + 1, key->len);
	sep->key.tid = 0;
	fpt_key_copy(sep, &sep->key);
}

void
kt_layout_general(FPTLayout *l, bool nullsfirst, bool randomwidths)
{
	static FPTGeoms geoms;
	FPTWidths	widths[FPT_NKW][FPT_NKINDS];
	int			force_w = 0;
	int			force_x = 0;

	do
	{
		if (randomwidths)
		{
			force_w = (int) kt_below(9);
			force_x = (int) kt_below(BLCKSZ > 1024 ? 17 : 7);
		}
	} while (!fpt_choose_widths_general(force_w, force_x, widths));
	if (!fpt_layout_init_general(l, &geoms, nullsfirst, (uint32) kt_random(),
								 widths))
		abort();
	l->geoms = kt_geoms_keep(&geoms);
	l->cmp = kt_tuple_cmp;
	l->separate = kt_separate;
	l->arg = &kt_state;
}

/* --- strings -------------------------------------------------------------- */

/*
 * A string's tuple is what follows its first 8 bytes.  If that is nothing, or
 * begins with KT_HEADER, it follows KT_HEADER and a byte: the string's length,
 * if it has no more than 8 bytes, or KT_LONG.
 */
#define KT_HEADER	0xFF
#define KT_LONG		0x80

/* Longest string, as bytes of head, tuple and prefix can make it. */
#define KT_STRING	(8 + FPT_MAX_TUPLE + FPT_MAX_PREFIX)

/* Memory that a world's keys are kept in; most of it is never touched. */
#define KT_ARENA	(1024 * 1024 * 1024)

static int	kt_kept = 0;

static char *
kt_bytes(int n)
{
	static char *arena = NULL;

	if (arena == NULL)
		arena = malloc(KT_ARENA);
	if (kt_kept + n > KT_ARENA)
		abort();
	kt_kept += n;
	return arena + kt_kept - n;
}

/* A key's string, the prefix that it is relative to included. */
static int
kt_string_of(const FPTKey *k, char *s)
{
	uint64		head = __builtin_bswap64(k->lo);
	const uint8 *t = (const uint8 *) k->tup;
	int			len = (int) k->len;
	int			nhead = 8;

	CHECK(k->search == NULL);
	if (len >= 2 && t[0] == KT_HEADER)
	{
		if (t[1] <= 8)
			nhead = t[1];
		t += 2;
		len -= 2;
	}
	if (k->cut > 0)
		memcpy(s, k->pre, k->cut);
	memcpy(s + k->cut, &head, 8);
	if (len > 0)
		memcpy(s + k->cut + nhead, t, len);
	return (int) k->cut + nhead + len;
}

/* Head and tuple of a string; the tuple is written to t, FPT_MAX_TUPLE at most. */
static void
kt_string_split(FPTKey *key, const char *s, int n, char *t)
{
	uint64		head = 0;
	int			rest = Max(n - 8, 0);
	int			header = rest == 0 || (uint8) s[8] == KT_HEADER ? 2 : 0;

	memcpy(&head, s, Min(n, 8));
	key->lo = __builtin_bswap64(head);
	if (header > 0)
	{
		t[0] = (char) KT_HEADER;
		t[1] = (char) (rest == 0 ? n : KT_LONG);
	}
	rest = Min(rest, FPT_MAX_TUPLE - header);
	memcpy(t + header, s + 8, rest);
	key->len = (uint32) (header + rest);
	key->tup = t;
}

void
kt_string_key(FPTKey *key, const char *s, int n)
{
	char		t[FPT_MAX_TUPLE];
	char	   *kept;

	key->pre = NULL;
	key->cut = 0;
	kt_string_split(key, s, n, t);
	kept = kt_bytes((int) key->len);
	memcpy(kept, t, key->len);
	key->tup = kept;
}

static int
kt_string_cmp(const void *arg, const FPTKey *a, const FPTKey *b)
{
	char		x[KT_STRING];
	char		y[KT_STRING];
	int			n = kt_string_of(a, x);
	int			m = kt_string_of(b, y);
	int			r = memcmp(x, y, Min(n, m));

	CHECK(arg == &kt_state);
	CHECK(a->cut != b->cut || a->lo == b->lo);
	return r != 0 ? r : n - m;
}

static int
kt_begin(const void *arg, const FPTKey *key, char *bytes, int max)
{
	char		s[KT_STRING];
	int			n;

	if (key->cls != FPT_CLS_VALUE)
		return -1;
	n = kt_string_of(key, s);
	memcpy(bytes, s, Min(n, max));
	return Min(n, max);
}

static int
kt_cut(const void *arg, const FPTKey *key, const char *prefix, uint32 len,
	   FPTKeyBuf *out)
{
	char		s[KT_STRING];
	int			n = kt_string_of(key, s);
	int			r = len > 0 ? memcmp(s, prefix, Min(n, (int) len)) : 0;

	CHECK(key->cls == FPT_CLS_VALUE);
	CHECK(len == 0 || (len >= FPT_MIN_PREFIX && len <= FPT_MAX_PREFIX));
	if (r != 0)
		return r < 0 ? FPT_CUT_BELOW : FPT_CUT_ABOVE;
	if (n < (int) len)
		return FPT_CUT_BELOW;
	out->key = *key;
	kt_string_split(&out->key, s + len, n - (int) len, out->data);
	out->key.pre = len > 0 ? prefix : NULL;
	out->key.cut = len;
	return FPT_CUT_DONE;
}

/* All of the key, and its TID where it is the same string as the one before. */
static void
kt_string_separate(const void *arg, const FPTKey *prev, const FPTKey *key,
				   FPTKeyBuf *sep)
{
	char		x[KT_STRING];
	char		y[KT_STRING];
	int			n = kt_string_of(prev, x);
	int			m = kt_string_of(key, y);
	FPTLayout	l = {.cmp = kt_string_cmp, .cut = kt_cut, .arg = arg};

	CHECK(fpt_key_whole(&l, key, sep));
	if (prev->cls != key->cls || n != m || memcmp(x, y, n) != 0)
		sep->key.tid = 0;
}

void
kt_layout_strings(FPTLayout *l)
{
	l->cmp = kt_string_cmp;
	l->separate = kt_string_separate;
	l->begin = kt_begin;
	l->cut = kt_cut;
}

/* Head and tuple, which are anything, become a string's after n bytes. */
static void
kt_make_string(KTWorld *w, FPTKey *key, int n)
{
	char		s[KT_STRING];
	uint64		head = __builtin_bswap64(key->lo);

	memcpy(s, w->prefix, n);
	memcpy(s + n, &head, 8);
	n += 8;
	if (key->len > 0)
		memcpy(s + n, key->tup, key->len);
	n = Min(n + (int) key->len, FPT_MAX_TUPLE);
	kt_string_key(key, s, n);
}

/* Give a key a tuple. */
static void
kt_random_tuple(KTWorld *w, FPTKey *key)
{
	if (w->dict)
	{
		int			i = (int) kt_below(w->nkeys);

		key->len = (uint32) (w->tupmin + i * 7 % (w->tupmax - w->tupmin + 1));
		key->tup = kt_pool() + 16 * i;
		if (i < KT_UNLIKE && kt_chance(w->unlikepct))
			key->tup = kt_pool() + KT_POOL / 2 + i * KT_UNLIKE_STEP;
		if (key->len == 0)
			key->tup = NULL;
		return;
	}
	key->len = (uint32) (w->tupmin + kt_below(w->tupmax - w->tupmin + 1));
	key->tup = kt_pool() + (w->dist == KT_DENSE ? 16 * kt_below(64) :
							kt_below(KT_POOL - FPT_MAX_TUPLE));
	if (key->len == 0)
		key->tup = NULL;
}

static void
kt_world_general(KTWorld *w)
{
	static const int max[] = {0, 8, 20, 60, 200, 600, FPT_MAX_TUPLE};

	int			some = max[kt_below(7)];

	w->tupmax = Min(some, FPT_MAX_TUPLE);
	w->tupmin = kt_chance(50) ? 0 : w->tupmax / 2;
	if (w->level > 0)
	{
		/* what has no tuple stands for minus infinity */
		w->tupmax = Max(w->tupmax, 1);
		w->tupmin = Max(w->tupmin, 1);
	}
}

static uint32
kt_null_cls(KTWorld *w)
{
	return w->l.nullsfirst ? FPT_CLS_NULLFIRST : FPT_CLS_NULLLAST;
}

void
kt_world_init(KTWorld *w)
{
	w->general = kt_chance(50);
	kt_kept = 0;
	if (w->general)
	{
		kt_layout_general(&w->l, kt_chance(50), kt_chance(30));
		if (kt_chance(40))
			kt_layout_strings(&w->l);
	}
	else
		kt_layout(&w->l, 4 << kt_below(3), kt_chance(50), kt_chance(30));
	kt_world_init_page(w);
}

/* Make the world's page anew: empty. */
static void
kt_page_init(KTWorld *w, int enc)
{
	FPTPageSpec spec = {.level = w->level, .pageno = w->pageno,
		.low = &w->low, .high = &w->high, .rowbits = w->rowbits,
	.lent = w->lent,
	.prefix = w->prefix, .nprefix = (uint32) w->nprefix};
	FPTKey		base = kt_key(FPT_CLS_VALUE, (uint64) (kt_page_base(w) >> 64),
							  (uint64) kt_page_base(w), 0);

	if (w->fixed >= 0)
	{
		fpt_key_expand((uint32) w->fixed, &base.hi, &base.lo);
		enc |= FPT_ENC_FIXED;
	}
	if (w->lent > 0)
		enc |= FPT_ENC_LENT;
	fpt_page_init(&w->l, w->page, &spec, enc, &base, w->tidbase);
}

/*
 * Where the rows of a page are whose TIDs are relative to nodes: anywhere that
 * these can tell, at the ends of that above all.
 */
static void
kt_world_rows(KTWorld *w)
{
	static const int jitters[] = {1, 10, 60, 200};
	uint64		max;

	w->rowbits = 1 + (int) kt_below(FPT_MAX_ROWBITS);
	max = (UINT64CONST(1) << (24 + w->rowbits)) - 1;
	w->rows = 1 + kt_below(BLCKSZ);
	w->row = kt_chance(40) ? 0 : kt_below(max);
	if (kt_chance(20))
		w->row = max - kt_below(w->rows);
	w->jitter = jitters[kt_below(4)];
	w->farpct = kt_chance(30) ? 0 : 1 + (int) kt_below(8);
	w->tries = 0;
}

void
kt_world_init_page(KTWorld *w)
{
	int			keysize = w->general ? 8 : w->l.keysize;
	int			kw = 1 + (int) kt_below(keysize);
	int			enc = kw - 1;
	kt_u128		max;

	w->pageno = 1 + (uint32) kt_below(1000);
	w->level = kt_chance(70) ? 0 : 1 + (int) kt_below(FPT_MAX_LEVEL);
	w->dist = (KTDist) kt_below(KT_NDISTS);
	if (w->general)
	{
		kt_world_general(w);
		if (kw == 8 && kt_chance(50))
			enc = FPT_ENC_WIDE;
	}
	w->nullpct = kt_chance(60) ? 0 : (int) kt_below(101);
	w->dict = w->general && w->level == 0 && kt_chance(50);
	if (w->dict)
	{
		static const int nkeys[] = {1, 3, 20, 100, 400};

		enc = FPT_ENC_DICT;
		w->nkeys = nkeys[kt_below(5)];
		w->nullpct = kt_chance(70) ? 0 : 100;
	}
	w->unlikepct = 0;
	w->kind = w->level > 0 ? FPT_KIND_INNER : (int) kt_below(FPT_KIND_INNER);
	if (w->kind == FPT_KIND_LEAF1 && w->general)
		w->kind = FPT_KIND_LEAF3;
	else if (w->level == 0 && !w->general && kt_chance(30))
		w->kind = FPT_KIND_LEAF1;
	kt_world_rows(w);
	if (w->kind == FPT_KIND_LEAF4 || kt_chance(30))
		w->rowbits = FPT_MAX_ROWBITS;
	enc = fpt_enc(enc, w->kind);
	w->near = w->kind < FPT_KIND_INNER && kt_chance(60) &&
		w->l.geoms->geom[kw - 1][w->kind + FPT_KIND_NEAR].cap > 0;
	if (w->near)
		enc |= FPT_ENC_NEAR;
	w->tidbase = 0;
	if (w->kind < FPT_KIND_LEAF6 && kt_chance(70))
		w->tidbase = kt_chance(30) ? FPT_MAX_TIDBASE :
			(uint32) kt_below(kt_chance(50) ? 1000 : FPT_MAX_TIDBASE);
	w->fixed = -1;
	if (keysize == 16 && w->level == 0 && kw < 16 && kt_chance(50))
		w->fixed = (int) kt_below(FPT_FIXED_MAX + 1);
	w->lent = 0;
	if (w->kind == FPT_KIND_LEAF3 && !w->general && keysize <= 8 &&
		kw < keysize && kt_chance(60))
	{
		w->lent = 1 + (int) kt_below(Min(FPT_LENT_MAX, w->rowbits));
		w->nullpct = kt_chance(80) ? 0 : 2;
	}
	max = w->fixed >= 0 ? kt_max_of(16) >> 6 : kt_max_of(keysize);
	w->base = kt_random_wide(max - kt_max_of(kw));
	if (kt_chance(20))
		w->base = max - kt_max_of(kw);
	w->span = kt_max_of(kw) >> w->lent;
	if (w->near && kt_chance(80))
		w->span = Min(w->span, kt_max_of(kw - 1) * (1 + kt_below(20)));
	if (w->dist == KT_DENSE)
		w->span = kt_below(w->span < 400 ? (uint64) w->span : 400);
	if (w->dict || (w->general && kt_chance(50)))
		w->span = 2 + kt_below(3);
	if (w->dict)
		w->base = kt_below(100);
	w->next = 0;
	w->nprefix = 0;
	if (w->general && w->l.cut != NULL && !w->dict && kt_chance(80))
	{
		w->nprefix = FPT_MIN_PREFIX + (int) kt_below(kt_chance(70) ? 30 :
													 BLCKSZ > 1024 ? 246 : 60);
		w->tupmax = Min(w->tupmax, FPT_MAX_TUPLE - w->nprefix - 16);
		w->tupmin = Min(w->tupmin, w->tupmax);
		for (int i = 0; i < w->nprefix; i++)
			w->prefix[i] = (char) kt_below(kt_chance(50) ? 256 : 2);
	}
	w->low = kt_key(FPT_CLS_MINF, 0, 0, 0);
	w->high = kt_key(FPT_CLS_PINF, 0, 0, 0);
	w->n = 0;
	kt_page_init(w, enc);
}

/*
 * A TID: of the blocks and offsets that pages of this kind can hold, above all
 * of those at their ends.  Offset 256 has a lowest byte of zero.
 */
static uint64
kt_random_tid(KTWorld *w, int kind)
{
	static const uint64 blocks[] = {1 << 24, 1 << 24, 1 << 24, 0xFFFFFFFF,
	0xFFFFFFFF};
	bool		whole = kind >= FPT_KIND_LEAF6;
	int			rowbits = kind == FPT_KIND_LEAF3 ? w->rowbits : 0;
	uint64		base = whole ? 0 : w->tidbase;
	uint64		nblocks = blocks[kind] >> rowbits << (whole ? 0 : w->lent);
	uint64		maxblk = base + nblocks - 1;
	uint64		maxoff = whole ? 0xFFFF :
		rowbits > 0 ? (1 << rowbits) - 1 : FPT_TID_MAXOFF;

	switch (kt_below(10))
	{
		case 0:
			return (maxblk << 16) | maxoff;
		case 1:
			return (base << 16) | (1 + kt_below(Min(3, maxoff)));
		case 2:
			return ((base + kt_below(nblocks)) << 16) | maxoff;
		case 3:
			return ((base + kt_below(4)) << 16) |
				(1 + kt_below(Min(4, maxoff)));
		case 4:
			if (whole)
				return (kt_below(4) << 16) | (256 * (1 + kt_below(255)));
			/* FALLTHROUGH */
		case 5:
			/* separators mostly have no TID */
			if (w->level > 0)
				return 0;
			/* FALLTHROUGH */
		default:
			return ((base + kt_below(nblocks)) << 16) |
				(1 + kt_below(maxoff));
	}
}

/*
 * A TID of rows that run: the row that is as far from the first one as the key,
 * relative to the page's base, is from that; or the next one, if keys ascend.
 */
static uint64
kt_running_tid(KTWorld *w, uint32 cls, kt_u128 offset)
{
	uint64		max = (UINT64CONST(1) << (24 + w->rowbits)) - 1;
	uint64		row;

	if (kt_chance(w->farpct))
		return kt_random_tid(w, FPT_KIND_LEAF1);
	if (cls != FPT_CLS_VALUE)
		row = kt_below(w->rows);
	else if (w->dist == KT_ASCENDING)
		row = (uint64) (w->next % w->rows);
	else
	{
		/* 32 bits tell enough */
		while (offset > 0xFFFFFFFF)
			offset >>= 8;
		row = w->span > 0 ? (uint64) offset * w->rows /
			((uint64) Min(w->span, (kt_u128) 0xFFFFFFFF) + 1) : 0;
	}
	row += w->row + kt_below((uint64) w->jitter);
	row = Min(row, max);
	if ((row & ((UINT64CONST(1) << w->rowbits) - 1)) == 0)
		row++;
	return (w->tidbase + (row >> w->rowbits)) << 16 |
		(row & ((UINT64CONST(1) << w->rowbits) - 1));
}

/*
 * Numbers that are the same but for two bytes at most: in wide keys, often of
 * the same upper or lower 8 bytes.
 */
static kt_u128
kt_random_parts(kt_u128 span)
{
	static const uint8 values[] = {0, 1, 0x7F, 0x80, 0xFF};
	kt_u128		v = 0;

	for (int i = 0; i < 2; i++)
		v |= (kt_u128) values[kt_below(5)] << (8 * kt_below(16));
	return v & span;
}

static kt_u128
kt_random_offset(KTWorld *w)
{
	kt_u128		span = w->span;

	switch (w->dist)
	{
		case KT_ASCENDING:
			w->next += kt_below(3);
			return w->next < span ? w->next : kt_random_wide(span);
		case KT_EDGE:
			if (kt_chance(30))
				return kt_below(3);
			if (kt_chance(30))
				return span - kt_below(3);
			return kt_random_wide(span);
		case KT_PARTS:
			return kt_random_parts(span);
		default:
			return kt_random_wide(span);
	}
}

/* An entry, perhaps not between the fences, perhaps not representable. */
static FPTEntry
kt_any_entry(KTWorld *w)
{
	FPTEntry	e;
	kt_u128		offset = kt_random_offset(w);
	kt_u128		v = w->base + offset;

	if (kt_below(200) == 0)
		v = kt_random_wide(kt_max_of(w->l.keysize));
	memset(&e, 0, sizeof(e));
	e.key = kt_key(FPT_CLS_VALUE, (uint64) (v >> 64), (uint64) v, 0);
	if (w->fixed >= 0 && kt_below(200) > 0)
		fpt_key_expand(kt_below(200) > 0 ? (uint32) w->fixed :
					   (uint32) kt_below(FPT_FIXED_MAX + 1),
					   &e.key.hi, &e.key.lo);
	if (kt_chance(w->nullpct))
		e.key = kt_key(kt_null_cls(w), 0, 0, 0);
	if (w->general)
		kt_random_tuple(w, &e.key);
	if (w->l.cut != NULL && e.key.cls == FPT_CLS_VALUE)
		kt_make_string(w, &e.key, kt_below(300) == 0 ? 0 : w->nprefix);
	if (kt_below(200) == 0 &&
		(w->kind != FPT_KIND_LEAF1 || w->farpct > 0))
		e.key.tid = kt_random_tid(w, Max(w->kind, FPT_KIND_LEAF6));
	else if (w->kind == FPT_KIND_LEAF1)
		e.key.tid = kt_running_tid(w, e.key.cls, offset);
	else
		e.key.tid = kt_random_tid(w, w->kind);
	if (w->level > 0)
		e.down = 2 + (uint32) kt_below(1000000);
	return e;
}

FPTEntry
kt_random_entry(KTWorld *w)
{
	for (int i = 0; i < 20; i++)
	{
		FPTEntry	e = kt_any_entry(w);

		if (fpt_key_cmp(&w->l, &e.key, &w->low) >= 0 &&
			fpt_key_cmp(&w->l, &e.key, &w->high) < 0)
			return e;
	}

	/* narrow fences: something next to an entry */
	if (w->n > 0)
	{
		FPTEntry	e = w->m[kt_below(w->n)].e;
		e.key.tid++;

		/* only minus infinity has no tuple where pages may have a prefix */
		if ((e.key.tid & 0xFFFF) != 0 &&
			fpt_key_cmp(&w->l, &e.key, &w->high) < 0 &&
			(w->l.cut == NULL || e.key.len > 0 || e.key.cls != FPT_CLS_VALUE))
			return e;
		return w->m[w->n - 1].e;
	}
	return kt_any_entry(w);
}

FPTKey
kt_random_key(KTWorld *w)
{
	FPTKey		k = kt_any_entry(w).key;

	if (w->n > 0 && kt_chance(60))
		k = w->m[kt_below(w->n)].e.key;
	switch (kt_below(12))
	{
		case 0:
			k.tid = 0;
			break;
		case 1:
			k.tid = FPT_MAX_TID;
			break;
		case 2:
			k.tid++;
			break;
		case 3:
			k.tid -= k.tid > 0 || w->general;
			break;
		case 4:
			if (k.cls == FPT_CLS_VALUE && k.lo > 0)
				k.lo--;
			break;
		case 5:
			k = kt_key((uint32) kt_below(FPT_CLS_PINF + 1), 0, 0, k.tid);
			break;
		case 6:
			/* foreign, and near an entry */
			if (k.cls == FPT_CLS_VALUE && w->fixed >= 0)
			{
				fpt_key_squeeze(&k.hi, &k.lo);
				fpt_key_expand((uint32) kt_below(FPT_FIXED_MAX + 1), &k.hi,
							   &k.lo);
			}
			break;
		default:
			break;
	}
	if (w->general && k.cls != FPT_CLS_VALUE)
		k.lo = kt_chance(10) ? ~(uint64) 0 : 0;

	/* searches of inner pages are for what is on the page */
	if (w->general && w->level > 0 && w->low.cls != FPT_CLS_MINF &&
		fpt_key_cmp(&w->l, &k, &w->low) < 0)
		k = w->low;
	return k;
}

/* --- model -------------------------------------------------------------- */

int
kt_model_lower_bound(KTWorld *w, const FPTKey *key)
{
	int			a = 0;
	int			b = w->n;

	while (a < b)
	{
		int			m = (a + b) / 2;

		if (fpt_key_cmp(&w->l, &w->m[m].e.key, key) < 0)
			a = m + 1;
		else
			b = m;
	}
	return a;
}

void
kt_model_insert(KTWorld *w, const FPTEntry *e)
{
	int			i = kt_model_lower_bound(w, &e->key);

	memmove(&w->m[i + 1], &w->m[i], (w->n - i) * sizeof(KTEntry));
	w->m[i].e = *e;
	w->m[i].dead = false;
	w->n++;
}

void
kt_model_delete(KTWorld *w, int i)
{
	memmove(&w->m[i], &w->m[i + 1], (w->n - i - 1) * sizeof(KTEntry));
	w->n--;
}

void
kt_model_entries(KTWorld *w, FPTEntry *out)
{
	for (int i = 0; i < w->n; i++)
		out[i] = w->m[i].e;
}

int
kt_loc_index(KTWorld *w, FPTLoc loc)
{
	int			nkids = fpt_header(w->page)->nkids;
	int			i = loc.rank;

	if (loc.kid < 0 || loc.kid > nkids || loc.rank < 0)
		return -1;
	if (loc.rank > 0 &&
		(loc.kid == nkids ||
		 loc.rank >= fpt_node_count(&w->l, w->page, loc.kid)))
		return -1;
	for (int kid = 0; kid < loc.kid; kid++)
		i += fpt_node_count(&w->l, w->page, kid);
	return i;
}

bool
kt_sound(const FPTLayout *l, void *page)
{
	const char *msg = fpt_page_check(l, page, 5, NULL);

	if (msg)
		printf("page check: %s\n", msg);
	return msg == NULL;
}

FPTResult
kt_insert(const FPTLayout *l, void *page, const FPTEntry *e)
{
	FPTEdit		edit = {0};
	FPTResult	res = fpt_page_insert(l, page, e, &edit);

	if (res != FPT_FULL)
		return res;
	res = fpt_page_make_room(l, page, e, &kt_work);
	return res == FPT_OK ? fpt_page_insert(l, page, e, &edit) : res;
}

/* From the i'th entry of n, at "from", to others in both directions. */
static void
check_away(const FPTLayout *l, void *page, const FPTEntry *e, int n, int i,
		   const FPTLoc *from)
{
	for (int dir = -1; dir <= 1; dir += 2)
	{
		for (int k = 1; k <= n; k = k * 3 + 1)
		{
			int			at = i + k * dir;
			FPTLoc		to;
			FPTLoc		found;
			FPTEntry	x;

			if (!fpt_page_away(l, page, from, k, dir, &to, &x))
			{
				CHECK(at < 0 || at >= n ||
					  fpt_is_number(fpt_page_geom(l, page)));
				continue;
			}
			CHECK(at >= 0 && at < n);
			CHECK(fpt_key_cmp(l, &x.key, &e[at].key) == 0);
			CHECK(fpt_page_lower_bound(l, page, &x.key, &found) == FPT_OK);
			CHECK(to.kid == found.kid && to.rank == found.rank);
			CHECK(found.below == 0 || to.below == found.below);
		}
	}
}

void
kt_check_all(const FPTLayout *l, void *page, const FPTEntry *e, int n)
{
	static FPTEntry got[FPT_MAX_ENTRIES];
	static uint64 tids[FPT_MAX_ENTRIES];
	static uint64 los[FPT_MAX_ENTRIES];
	FPTRun		run = {.tids = tids, .los = los};
	uint64		sum = 0;

	CHECK(kt_sound(l, page) && fpt_page_count(l, page) == n);
	CHECK(fpt_page_tids(l, page, tids, NULL) == n);
	for (int i = 0; i < n; i++)
		sum += tids[i] - e[i].key.tid;
	CHECK(sum == 0);			/* in any order */
	CHECK(fpt_page_extract(l, page, got, FPT_MAX_ENTRIES) == n);
	CHECK(fpt_page_copy_all(l, page, false, &run) == n);
	for (int i = 0; i < n; i++)
	{
		const FPTKey *k = &e[i].key;
		FPTKey		first = *k;
		FPTKey		last = *k;
		FPTLoc		loc;
		FPTLoc		end;
		FPTEntry	x;
		int			kid;

		CHECK(fpt_key_cmp(l, &got[i].key, k) == 0);
		CHECK(tids[i] == k->tid && los[i] == k->lo);
		CHECK(fpt_page_lower_bound(l, page, k, &loc) == FPT_OK);
		CHECK(fpt_page_get(l, page, loc, &x) == FPT_OK);
		CHECK(fpt_key_cmp(l, &x.key, k) == 0);
		if (i % 16 == 0)
			check_away(l, page, e, n, i, &loc);
		first.tid = 0;
		last.tid = FPT_MAX_TID;
		CHECK(fpt_page_range(l, page, &first, &last, &loc, &end) == FPT_OK);
		CHECK(fpt_loc_before(&loc, &end));
		if (i % 16 == 0)
		{
			FPTRun		one = {.tids = tids};
			int			m = fpt_page_copy_image(l, page, k, false, &one, &kid);
			int			from = i;
			int			to = i + 1;

			while (from > 0 && fpt_image_cmp(&e[from - 1].key, k) == 0)
				from--;
			while (to < n && fpt_image_cmp(&e[to].key, k) == 0)
				to++;
			CHECK(m == FPT_NO_IMAGE || m == to - from);
			for (int j = 0; j < m; j++)
				CHECK(tids[j] == e[from + j].key.tid);
			CHECK(fpt_page_copy_all(l, page, false, &run) == n);
		}
	}
}

/* Is slot j's entry before slot i's, of a node's slots? */
static bool
slot_before(FPTPage pg, char *node, int j, int i)
{
	uint64		hi[2];
	uint64		lo[2];
	uint64		tid[2];

	for (int s = 0; s < 2; s++)
	{
		int			slot = s == 0 ? j : i;

		fpt_slot_rel(pg.g, node, 0, slot, &hi[s], &lo[s]);
		tid[s] = fpt_slot_tid(pg, node, slot);
	}
	if (hi[0] != hi[1])
		return hi[0] < hi[1];
	if (lo[0] != lo[1])
		return lo[0] < lo[1];
	return fpt_has_offsets(pg.g) ? j < i : tid[0] < tid[1];
}

void
kt_slots_before(KTWorld *w, FPTLoc *loc)
{
	FPTPage		pg = fpt_page_open(&w->l, w->page);
	char	   *node = fpt_kid_node(pg, loc->kid);
	uint64		before = 0;

	CHECK(node != NULL);
	for (int i = 0; i < pg.g->cap; i++)
	{
		int			n = 0;

		if (!fpt_slot_used(pg.g, node, i))
			continue;
		for (int j = 0; j < pg.g->cap; j++)
			n += fpt_slot_used(pg.g, node, j) && slot_before(pg, node, j, i);
		if (n < loc->rank)
			before |= UINT64CONST(1) << i;
	}
	loc->below = before;
}

FPTLoc
kt_index_loc(KTWorld *w, int i)
{
	FPTLoc		loc = {0};

	for (; loc.kid < fpt_header(w->page)->nkids; loc.kid++)
	{
		int			n = fpt_node_count(&w->l, w->page, loc.kid);

		if (i < n)
			break;
		i -= n;
	}
	loc.rank = i;

	/* places that searches find mostly know what is below */
	if (i > 0 && !kt_geom(w)->perm && kt_chance(50))
		kt_slots_before(w, &loc);
	return loc;
}

/* Put what is in m[] in order, without duplicates. */
static const FPTLayout *kt_sort_layout;

static int
kt_entry_cmp(const void *a, const void *b)
{
	return fpt_key_cmp(kt_sort_layout, &((const KTEntry *) a)->e.key,
					   &((const KTEntry *) b)->e.key);
}

static void
kt_model_sort(KTWorld *w)
{
	int			n = 0;

	kt_sort_layout = &w->l;
	qsort(w->m, w->n, sizeof(KTEntry), kt_entry_cmp);
	for (int i = 0; i < w->n; i++)
	{
		if (n == 0 || fpt_key_cmp(&w->l, &w->m[n - 1].e.key, &w->m[i].e.key) != 0)
			w->m[n++] = w->m[i];
	}
	w->n = n;
}

void
kt_world_fill(KTWorld *w, int pct)
{
	static FPTEntry e[FPT_MAX_ENTRIES + 1];
	const FPTGeom *g = kt_geom(w);
	int			n = g->capacity * pct / 100;
	FPTResult	res;

	w->n = 0;
	if (w->tries++ == 0)
		w->rows = 8 + (uint64) n * (1 + kt_below(3));
	if (w->level > 0)
	{
		/* minus infinity, as fpt_page_form() would store it */
		memset(&w->m[0], 0, sizeof(KTEntry));
		w->m[0].e.down = 2;
		if (w->l.nullsfirst)
			w->m[0].e.key.cls = FPT_CLS_NULLFIRST;
		else
			w->m[0].e.key = kt_key(FPT_CLS_VALUE, (uint64) (w->base >> 64),
								   (uint64) w->base, 0);
		if (w->nprefix > 0 && w->m[0].e.key.cls == FPT_CLS_VALUE)
			kt_make_string(w, &w->m[0].e.key, w->nprefix);
		w->n = 1;
	}
	if (w->general && !w->dict)
		n = Min(n, BLCKSZ * 2 / (w->tupmin + w->tupmax + 14) + 1);
	while (w->n < n)
	{
		FPTEntry	x = kt_any_entry(w);
		const FPTEntry *e0 = &x;
		FPTLocal	local;
		FPTPage		pg = fpt_page_open(&w->l, w->page);
		uint64		hi,
					lo;

		if (fpt_page_localize(pg, &e0, &local) != FPT_OK ||
			(x.key.cls == FPT_CLS_VALUE && !fpt_has_dict(g) &&
			 fpt_rel(pg, &e0->key, &hi, &lo) != 0) ||
			!kt_tid_fits(g, w->rowbits, w->lent, w->tidbase, x.key.tid) ||
			(x.key.cls != FPT_CLS_VALUE && w->lent > 0))
			continue;
		w->m[w->n].e = x;
		w->m[w->n++].dead = false;
	}
	kt_model_sort(w);
	kt_model_entries(w, e);
	res = fpt_page_fill(&w->l, w->page, e, w->n, 1 + (int) kt_below(100));

	/* NULLs and values do not share nodes: that may be too much by a node */
	if (res == FPT_FULL)
	{
		CHECK(w->general || ((w->nullpct > 0 || w->level > 0) &&
							 w->n > (int) g->capacity - g->cap));
		w->n = 0;
		kt_page_init(w, g->enc);
		kt_world_fill(w, pct / 2);
		return;
	}
	/* nodes have too many TIDs that are far from the others */
	if (res == FPT_UNFIT && w->kind == FPT_KIND_LEAF1 && w->tries < 12)
	{
		int			enc = g->enc;

		w->n = 0;
		w->next = 0;
		w->farpct = w->tries < 3 ? w->farpct / 2 : 0;
		w->jitter = Max(w->jitter / 2, 1);
		w->rows = w->rows / 2 + 1;
		kt_page_init(w, enc);
		kt_world_fill(w, pct);
		return;
	}
	/* nor nodes keys that are too far from one another */
	if (res == FPT_UNFIT && w->near)
	{
		int			enc = g->enc;

		w->n = 0;
		w->span /= 2;
		w->near = w->span > 1000;
		kt_page_init(w, w->near ? enc : enc & ~FPT_ENC_NEAR);
		kt_world_fill(w, pct);
		return;
	}
	CHECK(res == FPT_OK);
	/* later rows may come from elsewhere: nodes become crowded */
	if (w->kind == FPT_KIND_LEAF1 && kt_chance(40))
		w->farpct = (int) kt_below(60);
	if (w->dict && kt_chance(30))
		w->unlikepct = (int) kt_below(20);
}

static bool
kt_same_entry(KTWorld *w, const FPTEntry *a, const FPTEntry *b)
{
	if (w->l.cut != NULL)
		return fpt_key_cmp(&w->l, &a->key, &b->key) == 0 &&
			a->down == b->down;
	return fpt_key_cmp(&w->l, &a->key, &b->key) == 0 && a->down == b->down &&
		a->key.len == b->key.len &&
		(w->level > 0 || a->key.len == 0 ||
		 memcmp(a->key.tup, b->key.tup, a->key.len) == 0);
}

void
kt_verify(KTWorld *w, bool exact_hints)
{
	static FPTEntry e[FPT_MAX_ENTRIES + 1];
	static uint16 slotids[FPT_MAX_ENTRIES + 1];
	FPTRun		run = {.slotids = slotids};
	const char *msg;
	uint64		hints[FPT_MAX_NODES];
	bool		hinted = false;
	bool		any;
	int			n;

	msg = fpt_page_check(&w->l, w->page, w->pageno, NULL);
	if (msg && !(w->level > 0 && w->n == 0))
		kt_fail(msg, __FILE__, __LINE__);
	CHECK(fpt_page_count(&w->l, w->page) == w->n);
	n = fpt_page_extract(&w->l, w->page, e, FPT_MAX_ENTRIES);
	CHECK(n == w->n);
	if (n != w->n)
		return;
	for (int i = 0; i < n; i++)
	{
		/* that of minus infinity is any key */
		if (i > 0 || w->l.cut == NULL || w->level == 0)
			CHECK(kt_same_entry(w, &e[i], &w->m[i].e));
	}
	n = kt_loc_index(w, fpt_page_null_border(&w->l, w->page));
	CHECK(n == w->n || (n >= 0 && (n == 0 || w->m[n - 1].e.key.cls !=
								   w->m[n].e.key.cls)));
	if (w->level > 0)
		return;
	n = fpt_page_copy(&w->l, w->page, kt_index_loc(w, 0),
					  kt_index_loc(w, w->n), false, &run);
	CHECK(n == w->n);
	any = fpt_page_hints(&w->l, w->page, hints);
	for (int i = 0; i < n; i++)
	{
		bool		dead = fpt_page_hint_get(&w->l, w->page, slotids[i]);
		int			cap = fpt_page_geom(&w->l, w->page)->cap;

		CHECK(!any ? !dead :
			  dead == ((hints[slotids[i] / cap] >> slotids[i] % cap & 1) != 0));
		hinted |= dead;
		CHECK(fpt_page_slot_is(&w->l, w->page, slotids[i], e[i].key.tid));
		CHECK(exact_hints ? dead == w->m[i].dead : dead <= w->m[i].dead);
		w->m[i].dead = dead;
	}
	CHECK(any == hinted);
}
