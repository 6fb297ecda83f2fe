/*-------------------------------------------------------------------------
 *
 * lab.c
 *	  What all trees of the laboratory share: keys, arenas, clocks, flushing.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include "lab.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define UNIT_HIDE(p, n)	__asan_poison_memory_region(p, n)
#define UNIT_SHOW(p, n)	__asan_unpoison_memory_region(p, n)
#else
#define UNIT_HIDE(p, n)	((void) 0)
#define UNIT_SHOW(p, n)	((void) 0)
#endif

#define HUGE_BYTES		((size_t) 2 << 20)
#define CLUSTER_KEYS	1000

Lab			lab;

/* --- options, output, memory --------------------------------------------- */

bool
lab_options(int argc, char **argv, const char *letters, const char **option)
{
	int			letter;

	while ((letter = getopt(argc, argv, letters)) != -1)
	{
		if (letter == '?')
			return false;
		option[letter] = optarg != NULL ? optarg : "1";
	}
	return true;
}

void
lab_fail(const char *format, ...)
{
	va_list		args;

	va_start(args, format);
	fprintf(stderr, "lab: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

void
lab_print_samples(const char *name, const double *v, int n)
{
	printf("\"%s\": [", name);
	for (int i = 0; i < n; i++)
		printf("%s%.3f", i ? ", " : "", v[i]);
	printf("]");
}

void *
lab_alloc(size_t bytes)
{
	size_t		whole = (bytes + LINE) & ~(size_t) (LINE - 1);
	void	   *p = aligned_alloc(LINE, whole);

	if (p == NULL)
		lab_fail("no memory for %zu bytes", bytes);
	return memset(p, 0, whole);
}

Pairs
pairs_new(long n)
{
	return (Pairs) {lab_alloc(sizeof(Key) * (size_t) n),
		lab_alloc(sizeof(uint32_t) * (size_t) n)};
}

void
pairs_free(Pairs p)
{
	free(p.keys);
	free(p.values);
}

/* --- keys --------------------------------------------------------------- */

uint64_t
hash64(uint64_t z)
{
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

Key
nth_key(long i)
{
	uint64_t	range = KEYSIZE == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t	at = (uint64_t) i;
	uint64_t	gap;

	switch (lab.keyset)
	{
		case KEYS_DENSE:
			return (Key) (2 * (at + 1));
		case KEYS_CLUSTERED:
			gap = range / ((uint64_t) lab.nkeys / CLUSTER_KEYS + 2);
			return (Key) ((at / CLUSTER_KEYS + 1) * (gap & ~UINT64_C(1)) +
						  2 * (at % CLUSTER_KEYS));
		default:
			/* an even gap, or neighbours could become the same */
			gap = range / ((uint64_t) lab.nkeys + 2) & ~UINT64_C(1);
			return (Key) ((at + 1) * gap +
						  (hash64(at) % gap & ~UINT64_C(1)));
	}
}

/*
 * Multiplications by odd numbers and shifts to the right can be undone, so no
 * two numbers become the same.
 */
uint32_t
permute(uint32_t no, int bits)
{
	uint32_t	mask = (UINT32_C(1) << bits) - 1;
	int			shift = (bits + 1) / 2;

	no = (no * UINT32_C(2654435761)) & mask;
	no ^= no >> shift;
	no = (no * UINT32_C(2246822519)) & mask;
	no ^= no >> shift;
	no = (no * UINT32_C(3266489917)) & mask;
	return no ^ no >> shift;
}

/* --- arenas ------------------------------------------------------------- */

static size_t
whole_pages(size_t bytes)
{
	return (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
}

char *
lab_map(size_t bytes)
{
	size_t		whole = whole_pages(bytes);
	char	   *p = mmap(NULL, whole + HUGE_BYTES, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t		head = -(uintptr_t) p % HUGE_BYTES;

	if (p == MAP_FAILED)
		lab_fail("cannot map %zu bytes", bytes);
	/* what lies before the first large page and after the last is given back */
	if (head != 0)
		munmap(p, head);
	munmap(p + head + whole, HUGE_BYTES - head);
#ifdef MADV_HUGEPAGE
	madvise(p + head, whole, lab.memory ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
	return p + head;
}

void
lab_unmap(void *p, size_t bytes)
{
	munmap(p, whole_pages(bytes));
}

uint32_t *
lab_shuffle(uint32_t n, uint64_t seed)
{
	Random		r = {seed};
	uint32_t   *order = (uint32_t *) lab_map(n * sizeof(uint32_t));

	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = n - 1; i > 0; i--)
	{
		uint32_t	j = (uint32_t) random_below(&r, i + 1);
		uint32_t	x = order[i];

		order[i] = order[j];
		order[j] = x;
	}
	return order;
}

static size_t
arena_bytes(const Arena *a)
{
	return (size_t) a->max * a->unit;
}

void
arena_init(Arena *a, size_t unit, uint64_t count)
{
	memset(a, 0, sizeof(*a));
	a->unit = unit;
	a->bits = 6;
	while ((UINT64_C(1) << a->bits) < count / 8)
		a->bits++;
	a->block = UINT32_C(1) << a->bits;
	a->max = (uint32_t) LAB_MIN((uint64_t) UINT32_MAX / 2,
								4 * count + 2 * a->block + 4096);
	a->max -= a->max % a->block;
	a->base = lab_map(arena_bytes(a));
	a->used = 1;
	/* pages that the kernel hands out later would be part of what is timed */
	for (size_t i = 0; i < LAB_MIN(count + a->block, a->max) * unit; i += 4096)
		a->base[i] = 0;
	UNIT_HIDE(a->base, arena_bytes(a));
}

void
arena_destroy(Arena *a)
{
	if (a->base == NULL)
		return;
	UNIT_SHOW(a->base, arena_bytes(a));
	lab_unmap(a->base, arena_bytes(a));
	a->base = NULL;
}

/*
 * Inside of a block numbers are permuted, so that neighbours in the order of
 * keys are nowhere near each other, nor at equal distances, which hardware
 * would notice.  A block is an eighth of the expected units: what is unused of
 * the last one costs little memory.
 */
uint32_t
arena_new(Arena *a)
{
	uint32_t	no = a->free;

	while (no == 0)
	{
		if (a->used >= a->max)
			lab_fail("an arena of %u units is too small", a->max);
		no = a->used++;
		if (lab.scattered)
			no = (no & ~(a->block - 1)) |
				permute(no & (a->block - 1), a->bits);
	}
	UNIT_SHOW(arena_at(a, no, a->unit), a->unit);
	if (no == a->free)
		memcpy(&a->free, arena_at(a, no, a->unit), sizeof(a->free));
	a->live++;
	return no;
}

void
arena_release(Arena *a, uint32_t no)
{
	memcpy(arena_at(a, no, a->unit), &a->free, sizeof(a->free));
	a->free = no;
	a->live--;
	UNIT_HIDE(arena_at(a, no, a->unit), a->unit);
}

/* --- trees ---------------------------------------------------------------- */

void
tree_destroy(void *tree)
{
	Tree	   *t = tree;

	arena_destroy(&t->nodes);
	arena_destroy(&t->others);
	free(t);
}

void
tree_stats(const void *tree, Stats *s)
{
	const Tree *t = tree;

	*s = (Stats) {
		.levels = t->levels, .leaves = t->leaves,
		.nodes = t->count > 0 ? t->count : t->nodes.live,
		.bytes = (size_t) t->nodes.live * t->nodes.unit,
		.extra = (size_t) t->others.live * t->others.unit,
		.splits = t->splits, .leaf_entries = t->leaf_entries
	};
}

/* --- clocks ------------------------------------------------------------- */

static double
clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

double
lab_now(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t
lab_ticks(void)
{
#if defined(__x86_64__)
	unsigned	aux;
	uint64_t	t = __rdtscp(&aux);

	_mm_lfence();
	return t;
#elif defined(__aarch64__)
	uint64_t	t;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	return (uint64_t) lab_now();
#endif
}

double
lab_tick_ns(void)
{
	static double ns;
	double		begin;
	double		passed;
	uint64_t	start;

	if (ns > 0)
		return ns;
	begin = clock_ns(CLOCK_MONOTONIC);
	start = lab_ticks();
	do
		passed = clock_ns(CLOCK_MONOTONIC) - begin;
	while (passed < 5e7);
	return ns = passed / (double) (lab_ticks() - start);
}

/* --- flushing ----------------------------------------------------------- */

#if defined(__x86_64__) || defined(__aarch64__)
bool		lab_can_flush = true;
#else
bool		lab_can_flush = false;
#endif

static void
flush(const void *at, size_t bytes)
{
	const char *p = (const char *) ((uintptr_t) at & ~(uintptr_t) (LINE - 1));
	const char *end = (const char *) at + bytes;

	for (; p < end; p += LINE)
	{
#if defined(__CLFLUSHOPT__)
		_mm_clflushopt((void *) p);
#elif defined(__x86_64__)
		_mm_clflush(p);
#elif defined(__aarch64__)
		__asm__ volatile("dc civac, %0" : : "r"(p) : "memory");
#endif
	}
}

void
lab_flush_path(Path *path)
{
	for (int i = 0; i < path->n; i++)
		flush(path->part[i].at, path->part[i].len);
	path->n = 0;
#if defined(__x86_64__)
	_mm_mfence();
#else
	__sync_synchronize();
#endif
}
