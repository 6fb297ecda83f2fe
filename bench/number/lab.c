/*-------------------------------------------------------------------------
 *
 * lab.c
 *	  What an index of pages of numbers takes, and logs, beside the product's.
 *
 *	  number_lab [-n rows] [-v] [-o name] [-k rows a key]
 *				 repeated|unique|composite|burst|few ...
 *
 * Figures of btree are a server's, of the same keys in an index of 400,000
 * rows: PostgreSQL 15, after as many rows again a tenth and all of them.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "level.h"

static long nrows = 400000;
static bool verbose;
static long per;				/* only those with as many rows a key */
static const char *only = "";	/* workloads whose names have this */

static num_u128
hashed(uint64 i, uint64 salt)
{
	uint64		state = (i + 1) * UINT64CONST(0xD6E8FEB86659FD93) + salt;
	uint64		hi = lab_random(&state);

	return (num_u128) hi << 64 | lab_random(&state);
}

/* --- keys -------------------------------------------------------------------- */

typedef enum KeyKind
{
	K_UUID, K_INT8, K_INSTANT, K_TEXT, K_INT4, K_DENSE, K_YEAR, K_UUID7
} KeyKind;

/* How a workload's i'th key looks, of so many rows. */
static num_u128
make_key(KeyKind kind, uint64 i, double dens)
{
	switch (kind)
	{
		case K_UUID:
			return (hashed(i, 1) & ~((num_u128) 0xF000 << 64) &
					~((num_u128) 3 << 62)) | (num_u128) 0x4000 << 64 |
				(num_u128) 2 << 62;
		case K_INT8:
			return (uint64) ((double) (uint64) hashed(i, 2) * dens);
		case K_INSTANT:
			return UINT64CONST(0x8002CC0000000000) +
				(uint64) hashed(i, 3) % UINT64CONST(31557600000000);
		case K_TEXT:			/* CODE and seven digits */
			{
				num_u128	v = 0;
				const char *code = "CODE";

				for (int k = 0; k < 4; k++)
					v = v << 8 | (uint8) code[k];
				for (uint64 d = 1000000; d > 0; d /= 10)
					v = v << 8 | ('0' + i / d % 10);
				return v << 40;
			}
		case K_YEAR:
			return (uint64) ((double) ((uint64) hashed(i, 4) %
									   UINT64CONST(31557600000000)) * dens);
		case K_UUID7:
			return (num_u128) ((UINT64CONST(1700000000000) + i * 8000) << 16 |
							   0x7000 | ((uint64) hashed(i, 5) & 0xFFF)) << 64 |
				((uint64) hashed(i, 6) >> 2) | UINT64CONST(1) << 63;
		default:
			return i;
	}
}

static int
key_size(KeyKind kind)
{
	return kind == K_UUID || kind == K_TEXT || kind == K_UUID7 ? 16 :
		kind == K_INT4 ? 4 : 8;
}

static uint64
nth_tid(long row, int perblock)
{
	return (uint64) (row / perblock) << 16 | (uint64) (row % perblock + 1);
}

static int
entry_qcmp(const void *a, const void *b)
{
	return num_entry_cmp(a, b);
}

static NumIndex
index_of(KeyKind kind, int restbits, long rows, int perblock)
{
	NumIndex	ix = {.headsize = key_size(kind), .restbits = restbits,
	.blocks = (uint64) (rows / perblock + 1), .maxoff = perblock};

	/* the product's dictionaries have a head and an offset, and a tuple */
	if (kind == K_TEXT)
		ix.headextra = 8 + 2 + 12 - 16;
	return ix;
}

/* --- workloads ---------------------------------------------------------------- */

static void
show_ways(const Level *l)
{
	if (!verbose)
		return;
	printf("    %s: %ld pages; room %ld x %.0f, splits %ld x %.0f, formed anew "
		   "%ld x %.0f",
		   l->number ? "numbers" : "product", l->n, l->rooms,
		   l->roomwal / Max(1, l->rooms), l->splits,
		   l->splitwal / Max(1, l->splits), l->reforms,
		   l->reformwal / Max(1, l->reforms));
	if (l->number)
		printf("; nodes split %ld, shifted %ld, appended %ld, planned %ld, "
			   "heads %ld, full %ld",
			   num_ways[NUM_WAY_SPLIT], num_ways[NUM_WAY_SHIFT],
			   num_ways[NUM_WAY_APPEND], num_ways[NUM_WAY_REPLAN],
			   num_ways[NUM_WAY_HEAD], num_ways[NUM_WAY_FULL]);
	printf("\n");
}

static void
show_shapes(const Level *l)
{
	long		by[NUM_MAXW + 1][2] = {{0}};
	long		heads = 0;
	NumPage		pg;
	NumNode		d;

	if (!verbose)
		return;
	for (long i = 0; i < l->n; i++)
	{
		if (!num_page_open(&l->ix, l->leaf[i].page, &pg))
			exit(1);
		heads += pg.heads;
		for (int k = 0; k < pg.n; k++)
			if (num_node_open(&pg, k, &d))
				by[d.s.w][d.s.rel]++;
	}
	printf("    %ld pages, %ld with heads; nodes:", l->n, heads);
	for (int w = 1; w <= NUM_MAXW; w++)
		for (int r = 0; r < 2; r++)
			if (by[w][r])
				printf(" %ld of %d%s", by[w][r], w, r ? "r" : "");
	printf("; last: x %d sw %d ss %d T %d\n", pg.x, pg.sw, pg.ss, pg.t);
}

typedef struct Repeated
{
	const char *name;
	KeyKind		kind;
	long		per;
	double		btree[3];		/* bytes: built, after 10%, after 100% */
	double		btreewal[2];	/* a row, of the first 10%, of the rest */
	double		product[3];		/* the server's own, of format 19 */
	double		productwal[2];
} Repeated;

static const Repeated repeated[] = {
#include "repeated.h"
};

/* Rows of so many keys in no order, then more of them. */
static void
run_repeated(void)
{
	long		total = 2 * nrows;
	NumEntry   *e = malloc(sizeof(NumEntry) * (size_t) total);

	printf("| keys | rows a key | built: btree, B a row | product | numbers |"
		   " after 10%% | product | numbers | after 100%% | product | numbers |"
		   " WAL of 10%% | product | numbers | of the rest | product |"
		   " numbers |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
		   "---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(repeated) / sizeof(repeated[0]); i++)
	{
		const Repeated *r = &repeated[i];
		int			perblock = key_size(r->kind) == 16 ? 185 : 226;
		uint64		nkeys = (uint64) Max(1, nrows / r->per);
		uint64		state = 42;
		NumIndex	ix = index_of(r->kind, 0, nrows, perblock);
		Level		l;
		double		size[3], wal[2];

		if (strstr(r->name, only) == NULL || (per > 0 && r->per != per))
			continue;
		for (long k = 0; k < total; k++)
			e[k] = (NumEntry) {make_key(r->kind, lab_random(&state) % nkeys, 1),
							   0, nth_tid(k, perblock)};
		level_init(&l, true, &ix, 90);
		qsort(e, (size_t) nrows, sizeof(NumEntry), entry_qcmp);
		level_build(&l, e, nrows);
		level_check(&l);
		size[0] = level_bytes(&l);
		show_shapes(&l);
		for (int step = 0; step < 2; step++)
		{
			long		from = step ? nrows * 11 / 10 : nrows;
			long		to = step ? total : nrows * 11 / 10;

			level_reset(&l);
			for (long k = from; k < to; k++)
			{
				l.ix.blocks = Max(l.ix.blocks, e[k].tid >> 16);
				level_insert(&l, &e[k]);
			}
			level_check(&l);
			size[1 + step] = level_bytes(&l);
			wal[step] = l.wal / (double) l.inserted;
			show_shapes(&l);
			show_ways(&l);
		}
		level_free(&l);
		printf("| %s | %ld", r->name, r->per);
		for (int k = 0; k < 3; k++)
			printf(" | %.1f | %.2f | %.2f", r->btree[k] /
				   (double) (k == 0 ? nrows : k == 1 ? nrows * 11 / 10 : total),
				   r->product[k] / r->btree[k],
				   size[k] / r->btree[k]);
		for (int k = 0; k < 2; k++)
			printf(" | %.1f | %.2f | %.2f", r->btreewal[k],
				   r->productwal[k] / r->btreewal[k],
				   wal[k] / r->btreewal[k]);
		printf(" |\n");
		fflush(stdout);
	}
	free(e);
}

/* --- unique keys --------------------------------------------------------------- */

typedef struct Unique
{
	const char *name;
	KeyKind		kind;
	bool		random;			/* rows are in no order of keys */
} Unique;

static const Unique uniques[] = {
	{"ids, key order", K_DENSE, false},
	{"ids, random order", K_DENSE, true},
	{"int8 random", K_INT8, true},
	{"instants, time order", K_YEAR, false},
	{"instants, random order", K_YEAR, true},
	{"uuid v4", K_UUID, true},
	{"uuid v7, one in 8 s", K_UUID7, false},
};

/* n entries of a workload in the order of keys; rows are their places. */
static NumEntry *
unique_entries(const Unique *u, long n, int perblock)
{
	NumEntry   *e = malloc(sizeof(NumEntry) * (size_t) n);

	for (long i = 0; i < n; i++)
		e[i] = (NumEntry) {make_key(u->kind, (uint64) i, (double) n / 1e7), 0,
						   nth_tid(i, perblock)};
	if (u->random && u->kind == K_DENSE)
		for (long i = 0; i < n; i++)
			e[i].head = (uint64) hashed((uint64) i, 9) >> 1;
	qsort(e, (size_t) n, sizeof(NumEntry), entry_qcmp);
	for (long i = 0; i < n; i++)
	{
		if (u->kind == K_DENSE)
			e[i].head = (num_u128) i + 1;
		if (!u->random)
			e[i].tid = nth_tid(i, perblock);
	}
	return e;
}

/* Built of half of the rows; then the other half in the order of the table. */
static void
run_unique(void)
{
	printf("| keys | built: product, B a row | numbers | doubled: product |"
		   " numbers | WAL a row: product | numbers |\n"
		   "|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(uniques) / sizeof(uniques[0]); i++)
	{
		const Unique *u = &uniques[i];
		int			perblock = key_size(u->kind) == 16 ? 185 : 226;
		long		n = u->random ? 2 * nrows : nrows;
		NumIndex	ix = index_of(u->kind, 0, nrows, perblock);
		NumEntry   *e;
		NumEntry   *more = malloc(sizeof(NumEntry) * (size_t) n);
		double		size[2][2] = {{0}}, wal[2] = {0};

		if (strstr(u->name, only) == NULL)
			continue;
		e = unique_entries(u, n, perblock);
		for (int k = 0; k < 2; k++)
		{
			Level		l;
			long		m = 0, first = 0;
			uint64		half = nth_tid(nrows, perblock);

			level_init(&l, k == 1, &ix, 90);
			for (long j = 0; j < n; j++)
			{
				if (e[j].tid < half)
					more[m++] = e[j];
			}
			level_build(&l, more, m);
			level_check(&l);
			show_ways(&l);
			if (k == 1)
				show_shapes(&l);
			size[k][0] = level_bytes(&l) / (double) m;
			for (long j = 0; u->random && j < n; j++)
			{
				if (e[j].tid < half)
					continue;
				/* row numbers are places in the order of arrival */
				first = (long) (e[j].tid >> 16) * perblock +
					(long) (e[j].tid & 0xFFFF) - 1 - nrows;
				more[first] = e[j];
			}
			for (long j = 0; u->random && j < n - m; j++)
			{
				l.ix.blocks = Max(l.ix.blocks, more[j].tid >> 16);
				level_insert(&l, &more[j]);
			}
			level_check(&l);
			show_ways(&l);
			size[k][1] = level_bytes(&l) / (double) l.rows;
			wal[k] = l.wal / (double) Max(1, l.inserted);
			level_free(&l);
		}
		printf("| %s | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f |\n", u->name,
			   size[0][0], size[1][0], size[0][1], size[1][1], wal[0], wal[1]);
		fflush(stdout);
		free(e);
		free(more);
	}
}

/* --- updates of neighbours ----------------------------------------------------- */

static const struct
{
	long		every, first;	/* the first ones of so many keys */
	KeyKind		kind;
}			bursts[] = {
	{2760, 5, K_DENSE}, {2760, 7, K_DENSE}, {2760, 20, K_DENSE},
	{1024, 7, K_DENSE}, {128, 5, K_DENSE}, {128, 6, K_DENSE},
	{128, 7, K_DENSE}, {50, 1, K_DENSE}, {20, 1, K_DENSE}, {10, 1, K_DENSE},
	{1300, 7, K_YEAR}, {400, 8, K_UUID7}
};

static void
run_bursts(void)
{
	printf("| keys | updated | pages built: product | after | numbers | after |"
		   " WAL a row: product | numbers |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(bursts) / sizeof(bursts[0]); i++)
	{
		Unique		u = {"", bursts[i].kind, false};
		int			perblock = key_size(u.kind) == 16 ? 185 : 226;
		NumEntry   *e = unique_entries(&u, nrows, perblock);
		NumIndex	ix = index_of(u.kind, 0, nrows, perblock);
		long		built[2], after[2];
		double		wal[2];

		for (int k = 0; k < 2; k++)
		{
			Level		l;
			long		row = nrows;

			level_init(&l, k == 1, &ix, 90);
			level_build(&l, e, nrows);
			built[k] = l.n;
			for (long j = 0; j < nrows; j++)
			{
				NumEntry	new = e[j];

				if (j % bursts[i].every >= bursts[i].first)
					continue;
				new.tid = nth_tid(row++, perblock);
				l.ix.blocks = Max(l.ix.blocks, new.tid >> 16);
				level_insert(&l, &new);
			}
			level_check(&l);
			show_ways(&l);
			after[k] = l.n;
			wal[k] = l.wal / (double) l.inserted;
			level_free(&l);
		}
		printf("| %s | %ld of %ld | %ld | %ld | %ld | %ld | %.1f | %.1f |\n",
			   u.kind == K_DENSE ? "ids" : u.kind == K_YEAR ? "instants" :
			   "uuid v7", bursts[i].first, bursts[i].every, built[0], after[0],
			   built[1], after[1], wal[0], wal[1]);
		fflush(stdout);
		free(e);
	}
}

/* --- composites ------------------------------------------------------------------ */

#define TENANTS		1024

/* Tenants and instants of a year in the order of the table, and 10% more. */
static void
run_composite(void)
{
	static const struct
	{
		const char *name;
		KeyKind		kind;
	}			tenants[] = {
		{"int4", K_INT4}, {"int8", K_INT8}, {"uuid", K_UUID}, {"text", K_TEXT}
	};
	long		total = nrows * 11 / 10;
	NumEntry   *e = malloc(sizeof(NumEntry) * (size_t) total);

	printf("| tenant, with timestamptz | built: numbers, B a row | 10%% more |"
		   " WAL a row |\n|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof(tenants) / sizeof(tenants[0]); i++)
	{
		int			perblock = 120;
		NumIndex	ix = index_of(tenants[i].kind, 64, nrows, perblock);
		uint64		state = 11;
		Level		l;
		double		built;

		for (long k = 0; k < total; k++)
			e[k] = (NumEntry) {make_key(tenants[i].kind,
										lab_random(&state) % TENANTS, 1),
							   UINT64CONST(0x8002CC0000000000) +
							   (uint64) k * (UINT64CONST(31557600000000) /
											 (uint64) nrows),
							   nth_tid(k, perblock)};
		qsort(e, (size_t) nrows, sizeof(NumEntry), entry_qcmp);
		level_init(&l, true, &ix, 90);
		level_build(&l, e, nrows);
		level_check(&l);
		show_shapes(&l);
		built = level_bytes(&l) / (double) nrows;
		for (long k = nrows; k < total; k++)
		{
			l.ix.blocks = Max(l.ix.blocks, e[k].tid >> 16);
			level_insert(&l, &e[k]);
		}
		level_check(&l);
		show_ways(&l);
		printf("| %s | %.1f | %.1f | %.1f |\n", tenants[i].name, built,
			   level_bytes(&l) / (double) total,
			   l.wal / (double) l.inserted);
		fflush(stdout);
		level_free(&l);
	}
	free(e);
}

/* int4 of 1,000 values. */
static void
run_few(void)
{
	NumEntry   *e = malloc(sizeof(NumEntry) * (size_t) nrows);
	NumIndex	ix = index_of(K_INT4, 0, nrows, 226);
	uint64		state = 5;
	Level		l;

	for (long k = 0; k < nrows; k++)
		e[k] = (NumEntry) {lab_random(&state) % 1000, 0, nth_tid(k, 226)};
	qsort(e, (size_t) nrows, sizeof(NumEntry), entry_qcmp);
	level_init(&l, true, &ix, 90);
	level_build(&l, e, nrows);
	level_check(&l);
	show_shapes(&l);
	printf("| int4 of 1,000 values, %ld rows | %.2f B a row |\n", nrows,
		   level_bytes(&l) / (double) nrows);
	level_free(&l);
	free(e);
}

int
main(int argc, char **argv)
{
	int			opt;

	while ((opt = getopt(argc, argv, "n:vo:k:")) != -1)
		if (opt == 'n')
			nrows = atol(optarg);
		else if (opt == 'k')
			per = atol(optarg);
		else if (opt == 'o')
			only = optarg;
		else if (opt == 'v')
			verbose = true;
	for (int i = optind; i < argc; i++)
		if (strcmp(argv[i], "repeated") == 0)
			run_repeated();
		else if (strcmp(argv[i], "unique") == 0)
			run_unique();
		else if (strcmp(argv[i], "burst") == 0)
			run_bursts();
		else if (strcmp(argv[i], "composite") == 0)
			run_composite();
		else if (strcmp(argv[i], "few") == 0)
			run_few();
	return 0;
}
