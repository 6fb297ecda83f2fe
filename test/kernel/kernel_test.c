/*-------------------------------------------------------------------------
 *
 * kernel_test.c
 *	  Tests of the page kernel outside the server: unit tests, random
 *	  operations against a model, mutated pages.
 *
 * Usage: kernel_test [-n OPERATIONS] [-f MUTATIONS] [-s SEED]
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

#include <time.h>
#include <unistd.h>

#define MAX_REPORTS		20

long		kt_failures;
static long tests_passed;
static long tests_failed;

void
kt_fail(const char *expr, const char *file, int line)
{
	if (kt_failures++ < MAX_REPORTS)
		printf("%s:%d: failed: %s\n", file, line, expr);
}

void
kt_count_test(bool ok)
{
	if (ok)
		tests_passed++;
	else
		tests_failed++;
}

void
kt_run(const char *name, void (*fn) (void))
{
	long		failed = kt_failures;

	fn();
	kt_count_test(kt_failures == failed);
	if (kt_failures != failed)
		printf("FAILED %s\n", name);
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int
main(int argc, char **argv)
{
	long		ops = 10000000;
	long		mutations = 100000;
	uint64		seed = 1;
	double		start;
	int			opt;

	while ((opt = getopt(argc, argv, "n:f:s:")) != -1)
	{
		switch (opt)
		{
			case 'n':
				ops = atol(optarg);
				break;
			case 'f':
				mutations = atol(optarg);
				break;
			case 's':
				seed = strtoull(optarg, NULL, 10);
				break;
			default:
				fprintf(stderr,
						"usage: %s [-n operations] [-f mutations] [-s seed]\n",
						argv[0]);
				return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("BLCKSZ %d, seed %llu\n", BLCKSZ, (unsigned long long) seed);
	kt_seed(seed);
	test_simd();
	test_geom();
	test_page();
	test_near();
	test_fixed();
	test_lent();
	test_rows();
	test_number_pages();
	test_join();
	test_corrupt();
	start = seconds();
	test_random(ops, seed);
	printf("%ld random operations: %.1f s\n", ops, seconds() - start);
	start = seconds();
	test_fuzz(mutations, seed);
	printf("%ld mutated pages: %.1f s\n", mutations, seconds() - start);
	printf("%ld passed, %ld failed\n", tests_passed, tests_failed);
	return tests_failed == 0 ? 0 : 1;
}
