/*-------------------------------------------------------------------------
 *
 * machine.c
 *	  What the papers' formulas need of a machine: the latency of a miss (T1),
 *	  of one more that is under way at the same time (Tnext), and what a figure
 *	  measured on it is worth.
 *
 *-------------------------------------------------------------------------
 */
#include "lab.h"

#define REGION		((size_t) 512 << 20)
#define CHASED		((uint32_t) 1 << 21)	/* lines of the cycle */
#define STEP		(REGION / CHASED)

static volatile uint64_t sink;

/* Each line of a random cycle has the place of the next one. */
static double
time_misses(char *base)
{
	uint32_t   *order = lab_shuffle(CHASED, 1);
	uint64_t	at = order[0] * STEP;
	double		start;
	long		n = 1000000;

	for (uint32_t i = 0; i < CHASED; i++)
		*(uint64_t *) (base + order[i] * STEP) = order[(i + 1) % CHASED] * STEP;
	lab_unmap(order, CHASED * sizeof(*order));
	start = lab_now();
	for (long i = 0; i < n; i++)
		at = *(uint64_t *) (base + at);
	sink = at;
	return (lab_now() - start) / (double) n;
}

/* A node of w lines, all prefetched, then read; the next one depends on it. */
static double
time_node(const char *base, int w)
{
	uint64_t	sum = 0;
	long		n = 200000;
	double		start = lab_now();

	for (long i = 0; i < n; i++)
	{
		const char *p = base +
			hash64((uint64_t) i + (sum & 1)) % (REGION / 4096 - 1) * 4096;

		for (int j = 0; j < w; j++)
			__builtin_prefetch(p + j * LINE);
		for (int j = 0; j < w; j++)
			sum += *(const volatile uint64_t *) (p + j * LINE);
	}
	sink = sum;
	return (lab_now() - start) / (double) n;
}

static double
time_copy(char *base)
{
	size_t		half = REGION / 2;
	double		start = lab_now();

	memcpy(base, base + half, half);
	return (double) half / (lab_now() - start);
}

/* Bytes in large pages that the kernel really gave, by smaps; -1 if unknown. */
static long
huge_kilobytes(void)
{
	FILE	   *f = fopen("/proc/self/smaps_rollup", "r");
	char		line[256];
	long		kb = -1;

	if (f == NULL)
		return -1;
	while (fgets(line, sizeof(line), f) != NULL)
		sscanf(line, "AnonHugePages: %ld kB", &kb);
	fclose(f);
	return kb;
}

/* The timer's grain: the most frequent small difference of two readings. */
static double
timer_grain(void)
{
	uint64_t	least = UINT64_MAX;

	for (int i = 0; i < 100000; i++)
	{
		uint64_t	a = lab_ticks();
		uint64_t	b = lab_ticks();

		if (b > a && b - a < least)
			least = b - a;
	}
	return (double) least * lab_tick_ns();
}

/* One line of JSON. */
void
machine_report(void)
{
	static const int widths[] = {1, 2, 4, 8, 16, 32};
	char	   *base = lab_map(REGION);
	double		t1;
	double		node[6];
	double		next;

	memset(base, 1, REGION);
	t1 = time_misses(base);
	for (int i = 0; i < 6; i++)
		node[i] = time_node(base, widths[i]);
	/* the steps of widths that are small have less noise per line */
	next = (node[4] - node[1]) / 14;
	printf("{\"test\": \"machine\", \"t1\": %.1f, \"tnext\": %.2f, "
		   "\"b\": %.1f, \"node_lines\": [1, 2, 4, 8, 16, 32], "
		   "\"node_ns\": [%.1f, %.1f, %.1f, %.1f, %.1f, %.1f], ",
		   t1, next, next > 0 ? t1 / next : 0.0, node[0], node[1], node[2],
		   node[3], node[4], node[5]);
	printf("\"copy_gb_s\": %.1f, \"timer_ns\": %.1f, "
		   "\"huge_kb\": %ld, \"memory\": %d}\n",
		   time_copy(base), timer_grain(), huge_kilobytes(), lab.memory);
	lab_unmap(base, REGION);
}
