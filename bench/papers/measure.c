/*-------------------------------------------------------------------------
 *
 * measure.c
 *	  Builds the trees that it is asked for, proves that they give the same
 *	  answers, and times them in turns.  One line of JSON for each test.
 *
 * A round measures each tree once, and begins with another tree than the round
 * before it, so that ratios of two trees are taken within rounds.  Times are the
 * process's CPU time; those of cold searches and of scans are medians of single
 * ones, whose lines were flushed before.
 *
 *-------------------------------------------------------------------------
 */
#include "lab.h"

#include <unistd.h>

#define MAX_SUBJECTS	64
#define MAX_ROUNDS		101
#define SEGMENT			1000	/* entries of a request in segmented scans */
#define IO_SEARCHES		2000	/* as the paper */

typedef struct Subject
{
	const TreeKind *kind;
	void	   *tree;
	bool		owner;			/* else the tree is another subject's */
	Stats		stats;			/* when it was built */
	double		sample[MAX_ROUNDS];
	double		other[MAX_ROUNDS];	/* a second figure of the test */
} Subject;

static Subject subject[MAX_SUBJECTS];
static int	nsubjects;
static int	rounds;
static long nops;
static bool mature;
static volatile uint64_t sink;
static Tid *out;				/* of scans: room for all keys */

/* --- building ----------------------------------------------------------- */

/* The next number of a permutation of 0 .. n - 1; skips what is too large. */
static long
permuted(uint32_t *state, long n)
{
	int			bits = 1;
	long		no;

	while ((1L << bits) < n)
		bits++;
	do
		no = permute((*state)++, bits);
	while (no >= n);
	return no;
}

static bool
loaded(long i)
{
	return !mature || hash64((uint64_t) i + 12345) % 10 == 0;
}

/* All pairs loaded; or a tenth, and the others inserted in random order. */
static void *
build_tree(const TreeKind *kind, const Load *load)
{
	void	   *tree = kind->build(load);
	uint32_t	state = 0;

	for (long i = 0; mature && i < lab.nkeys; i++)
	{
		long		no = permuted(&state, lab.nkeys);

		if (!loaded(no) && !kind->insert(tree, nth_key(no), nth_tid(no)))
			lab_fail("%s: key %ld is there already", kind->name, no);
	}
	return tree;
}

/* share: a tree serves all kinds of its shape. */
static void
build_subjects(bool share)
{
	Load		load = {pairs_new(lab.nkeys), 0, lab.nkeys, lab.fill};

	for (long i = 0; i < lab.nkeys; i++)
	{
		if (!loaded(i))
			continue;
		load.pairs.keys[load.n] = nth_key(i);
		load.pairs.values[load.n++] = nth_tid(i);
	}
	for (int i = 0; i < nsubjects; i++)
	{
		Subject    *s = &subject[i];
		int			j = share ? 0 : i;

		while (strcmp(s->kind->shape, subject[j].kind->shape) != 0)
			j++;
		s->owner = j == i;
		s->tree = s->owner ? build_tree(s->kind, &load) : subject[j].tree;
		s->kind->stats(s->tree, &s->stats);
	}
	pairs_free(load.pairs);
}

static void
destroy_subjects(void)
{
	for (int i = 0; i < nsubjects; i++)
	{
		if (subject[i].owner)
			subject[i].kind->destroy(subject[i].tree);
	}
}

/* --- the same answers --------------------------------------------------- */

/*
 * A hash of the answers to searches of keys that are there, or may be, and to
 * scans.  known: the answers follow from the generator.
 */
static uint64_t
answers(const Subject *s, bool known)
{
	Random		r = {4711};
	uint64_t	h = 0;

	for (int i = 0; i < 20000; i++)
	{
		long		no = random_below(&r, lab.nkeys);
		Tid			hit = s->kind->search(s->tree, nth_key(no));
		Tid			miss = s->kind->search(s->tree, nth_key(no) | 1);

		if (known && (hit != nth_tid(no) || miss != 0))
			lab_fail("%s: wrong answer for key %ld", s->kind->name, no);
		h = hash64(h ^ hit) + miss;
	}
	for (int i = 0; i < 100; i++)
	{
		long		no = random_below(&r, lab.nkeys);
		long		n = 1 + random_below(&r, LAB_MIN(20000, lab.nkeys));
		Cursor		c;
		long		count;

		s->kind->open(s->tree, nth_key(no), &c);
		count = s->kind->next(s->tree, &c, n, out);
		if (known && count != LAB_MIN(n, lab.nkeys - no))
			lab_fail("%s: a scan of %ld gave %ld", s->kind->name, n, count);
		for (long j = 0; j < count; j++)
		{
			if (known && out[j] != nth_tid(no + j))
				lab_fail("%s: wrong scan from key %ld", s->kind->name, no);
			h = hash64(h ^ out[j]);
		}
	}
	return h;
}

static void
verify(bool known)
{
	uint64_t	first = 0;

	for (int i = 0; i < nsubjects; i++)
	{
		const char *problem = subject[i].kind->check(subject[i].tree);
		uint64_t	h = answers(&subject[i], known);

		if (problem != NULL)
			lab_fail("%s: %s", subject[i].kind->name, problem);
		if (i == 0)
			first = h;
		else if (h != first)
			lab_fail("%s answers otherwise than %s", subject[i].kind->name,
					 subject[0].kind->name);
	}
}

/* --- report ------------------------------------------------------------- */

/* n samples of each tree; "other", if not NULL, names the second figure. */
static void
report(const char *test, const char *unit, long ops, int n, const char *other)
{
	printf("{\"test\": \"%s\", \"unit\": \"%s\", \"ops\": %ld, \"keys\": %ld, "
		   "\"keyset\": %d, \"fill\": %d, \"layout\": \"%s\", \"memory\": %d, "
		   "\"page\": %d, \"keysize\": %d, \"distance\": %d, "
		   "\"trees\": [",
		   test, unit, ops, lab.nkeys, lab.keyset, lab.fill,
		   mature ? "mature" : lab.scattered ? "scattered" : "order",
		   lab.memory, PAGESIZE, KEYSIZE, lab.distance);
	for (int i = 0; i < nsubjects; i++)
	{
		const Stats *s = &subject[i].stats;

		printf("%s{\"name\": \"%s\", \"label\": \"%s\", \"levels\": %d, "
			   "\"nodes\": %ld, \"leaves\": %ld, \"overflow\": %ld, "
			   "\"extra\": %zu, \"leaf_entries\": %d", i ? ", " : "",
			   subject[i].kind->name, subject[i].kind->label, s->levels,
			   s->nodes, s->leaves, s->overflow, s->extra, s->leaf_entries);
		printf(", ");
		lab_print_samples("samples", subject[i].sample, n);
		if (other != NULL)
		{
			printf(", ");
			lab_print_samples(other, subject[i].other, n);
		}
		printf("}");
	}
	printf("]}\n");
	fflush(stdout);
}

/* --- samples ------------------------------------------------------------ */

/* A round measures each tree once, beginning with another one than before. */
static void
measure(void (*sample) (Subject *s, int r, long n), long n)
{
	for (int r = 0; r < rounds; r++)
	{
		for (int i = 0; i < nsubjects; i++)
			sample(&subject[(i + r) % nsubjects], r, n);
	}
}

static int
double_cmp(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Median of n numbers, which are freed. */
static double
median_of(double *v, long n)
{
	double		median;

	qsort(v, (size_t) n, sizeof(*v), double_cmp);
	median = v[n / 2];
	free(v);
	return median;
}

/* --- searches ----------------------------------------------------------- */

/* Time of a search; of making its key, if s is NULL. */
static double
time_searches(const Subject *s, uint64_t seed, bool one_key)
{
	Tid			(*search) (void *, Key) = s != NULL ? s->kind->search : NULL;
	Random		r = {seed};
	double		start = lab_now();

	for (long i = 0; i < nops; i++)
	{
		long		no = random_below(&r, lab.nkeys);
		Key			key = nth_key(one_key ? (no & 1) : no);

		sink += search != NULL ? search(s->tree, key) : key;
	}
	return (lab_now() - start) / (double) nops;
}

/*
 * Searches back to back.  The second figure is the time of the same search for
 * two keys over and over: what is left when nothing waits for memory.
 */
static void
sample_search(Subject *s, int r, long n)
{
	static double base;
	uint64_t	seed = 1000 + (uint64_t) r;

	if (s == &subject[r % nsubjects])	/* the round's first */
		base = time_searches(NULL, seed, false);
	s->sample[r] = time_searches(s, seed, false) - base;
	s->other[r] = time_searches(s, seed, true) - base;
}

/* The median of n searches, each of which finds nothing in caches. */
static void
sample_cold(Subject *s, int r, long n)
{
	double	   *one = lab_alloc(sizeof(double) * (size_t) n);
	Random		random = {3000 + (uint64_t) r};
	Path		path = {0};

	for (long i = 0; i < n; i++)
	{
		Key			key = nth_key(random_below(&random, lab.nkeys));
		uint64_t	start;

		s->kind->visit(s->tree, key, &path);
		lab_flush_path(&path);
		start = lab_ticks();
		sink += s->kind->search(s->tree, key);
		one[i] = (double) (lab_ticks() - start);
	}
	s->sample[r] = median_of(one, n) * lab_tick_ns();
}

/* --- scans -------------------------------------------------------------- */

/* Flush all that a scan reads: the paths of keys no further apart than leaves */
static void
flush_range(const Subject *s, long from, long n)
{
	Path		path = {0};
	/* leaves are at least half full */
	long		step = LAB_MAX(1, LAB_MIN(s->stats.leaf_entries, LINE) / 3);

	for (long i = 0; i < n + step && from + i < lab.nkeys; i += step)
	{
		s->kind->visit(s->tree, nth_key(from + i), &path);
		lab_flush_path(&path);
	}
}

static long scan_segment;		/* entries of a request */

static long
scan_count(long n)
{
	return LAB_MAX(3, LAB_MIN(1000, 300000 / n));
}

/*
 * The median of scans of n entries in requests; all lines were flushed before.
 * Long ones by CPU time.
 */
static void
sample_scan(Subject *s, int r, long n)
{
	Random		random = {5000 + (uint64_t) r};
	long		count = scan_count(n);
	double	   *one = lab_alloc(sizeof(double) * (size_t) count);

	for (long i = 0; i < count; i++)
	{
		long		from = random_below(&random, lab.nkeys - n);
		Key			key = nth_key(from);
		Cursor		c;
		uint64_t	start;
		double		cpu;

		flush_range(s, from, n);
		cpu = lab_now();
		start = lab_ticks();
		s->kind->open(s->tree, key, &c);
		for (long done = 0; done < n; done += scan_segment)
		{
			if (s->kind->next(s->tree, &c, LAB_MIN(scan_segment, n - done),
							  out) == 0)
				lab_fail("%s: a scan ended", s->kind->name);
			sink += out[0];
		}
		one[i] = (double) (lab_ticks() - start) * lab_tick_ns();
		if (n > 10000)
			one[i] = lab_now() - cpu;
	}
	s->sample[r] = median_of(one, count);
}

static void
test_scan(const char *test, long n, long segment)
{
	if (n >= lab.nkeys)
		lab_fail("a scan of %ld of %ld keys", n, lab.nkeys);
	scan_segment = segment;
	measure(sample_scan, n);
	report(test, "ns a scan", scan_count(n), rounds, NULL);
}

/* --- changes ------------------------------------------------------------ */

/* Random keys into, or out of, a tree: the same keys for all trees. */
static void
change_tree(Subject *s, int r, long n, bool insert)
{
	uint32_t	state = (uint32_t) (r * n);
	Stats		after;
	double		start = lab_now();

	for (long i = 0; i < n; i++)
	{
		/* no key twice: some trees do not look whether it is there */
		long		no = permuted(&state, lab.nkeys);

		if (insert)
			sink += s->kind->insert(s->tree, nth_key(no) | 1,
									(Tid) (lab.nkeys + no + 1));
		else
			sink += s->kind->delete(s->tree, nth_key(no));
	}
	s->sample[r] = (lab_now() - start) / (double) n;
	s->kind->stats(s->tree, &after);
	s->other[r] = (double) (after.splits - s->stats.splits);
}

/*
 * Each round begins with new trees, and ends with a comparison of what is in
 * them.  The second figure is splits of leaves.
 */
static void
test_change(bool insert)
{
	long		n = LAB_MIN(nops, lab.nkeys / 4);

	for (int r = 0; r < rounds; r++)
	{
		build_subjects(false);
		if (r == 0)
			verify(true);
		for (int i = 0; i < nsubjects; i++)
			change_tree(&subject[(i + r) % nsubjects], r, n, insert);
		verify(false);
		destroy_subjects();
	}
	report(insert ? "insert" : "delete", "ns", n, rounds, "splits");
}

/* --- space, pages ------------------------------------------------------- */

static void
test_space(void)
{
	for (int i = 0; i < nsubjects; i++)
		subject[i].sample[0] = (double) subject[i].stats.bytes;
	report("space", "bytes", 0, 1, NULL);
}

/* Distinct pages of some searches: a buffer pool that is empty at first. */
static void
test_io(void)
{
	size_t		max = (size_t) IO_SEARCHES * 16;
	double	   *page = lab_alloc(sizeof(double) * max);

	for (int i = 0; i < nsubjects; i++)
	{
		Random		r = {99};
		Path		path = {0};
		size_t		n = 0;
		long		distinct = 0;

		for (int j = 0; j < IO_SEARCHES; j++)
		{
			path.n = 0;
			subject[i].kind->visit(subject[i].tree,
								   nth_key(random_below(&r, lab.nkeys)), &path);
			for (int k = 0; k < path.n; k++)
			{
				double		p = (double) ((uintptr_t) path.part[k].at /
										  PAGESIZE);

				if ((k == 0 || p != page[n - 1]) && n < max)
					page[n++] = p;
			}
		}
		qsort(page, n, sizeof(*page), double_cmp);
		for (size_t k = 0; k < n; k++)
			distinct += k == 0 || page[k] != page[k - 1];
		subject[i].sample[0] = (double) distinct;
	}
	free(page);
	report("io", "pages", IO_SEARCHES, 1, NULL);
}

/* --- main --------------------------------------------------------------- */

static void __attribute__((noreturn))
usage(const char *name)
{
	fprintf(stderr,
			"usage: %s [options] test...\n"
			"tests: machine, search, cold, scan=N, segments=N, insert, delete,\n"
			"       space, io, check=OPERATIONS, list\n"
			"  -n keys  -o operations  -r rounds  -f fill  -t tree,tree,...\n"
			"  -s       nodes and pages scattered in memory\n"
			"  -m       mature trees: a tenth loaded, the others inserted\n"
			"  -k 0|1|2 keys: uniform, dense, clustered\n"
			"  -H 0|1   memory: small pages, or large ones if there are any\n"
			"  -d n     leaves prefetched ahead of a scan\n"
			"  -S seed  of the check\n", name);
	exit(2);
}

static void
choose_trees(char *list)
{
	for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ","))
	{
		if (nsubjects == MAX_SUBJECTS)
			lab_fail("too many trees");
		subject[nsubjects].kind = tree_kind(name);
		if (subject[nsubjects++].kind == NULL)
			lab_fail("there is no tree %s", name);
	}
}

/* A test that needs no trees.  False: it is another one. */
static bool
run_alone(const char *test, uint64_t seed)
{
	if (strcmp(test, "machine") == 0)
		machine_report();
	else if (strncmp(test, "check=", 6) == 0)
		check_all(atol(test + 6), seed);
	else if (strcmp(test, "list") == 0)
	{
		for (int i = 0; tree_kinds[i] != NULL; i++)
			printf("%s\t%s\n", tree_kinds[i]->name, tree_kinds[i]->label);
	}
	else
		return false;
	return true;
}

static void
run_test(const char *test)
{
	if (strcmp(test, "insert") == 0 || strcmp(test, "delete") == 0)
	{
		test_change(test[0] == 'i');
		return;
	}
	build_subjects(true);
	verify(true);
	if (strcmp(test, "search") == 0)
	{
		measure(sample_search, nops);
		report(test, "ns", nops, rounds, "busy");
	}
	else if (strcmp(test, "cold") == 0 && lab_can_flush)
	{
		measure(sample_cold, LAB_MAX(1000, nops / 10));
		report(test, "ns", LAB_MAX(1000, nops / 10), rounds, NULL);
	}
	else if (strncmp(test, "scan=", 5) == 0)
		test_scan(test, atol(test + 5), atol(test + 5));
	else if (strncmp(test, "segments=", 9) == 0)
		test_scan(test, atol(test + 9), SEGMENT);
	else if (strcmp(test, "space") == 0)
		test_space();
	else if (strcmp(test, "io") == 0)
		test_io();
	else if (strcmp(test, "cold") != 0)
		lab_fail("there is no test %s", test);
	destroy_subjects();
}

int
main(int argc, char **argv)
{
	const char *option[128] = {
		['n'] = "1000000", ['o'] = "100000", ['r'] = "3", ['f'] = "100",
		['t'] = "", ['s'] = "0", ['m'] = "0", ['k'] = "0", ['H'] = "1",
		['d'] = "3", ['S'] = "1"
	};

	if (!lab_options(argc, argv, "n:o:r:f:t:smk:H:d:S:", option))
		usage(argv[0]);
	lab = (Lab) {
		.nkeys = atol(option['n']), .keyset = (KeySet) atoi(option['k']),
		.fill = atoi(option['f']), .scattered = atoi(option['s']),
		.memory = atoi(option['H']), .distance = atoi(option['d'])
	};
	nops = atol(option['o']);
	rounds = atoi(option['r']);
	mature = atoi(option['m']);
	choose_trees(strdup(option['t']));
	if (optind == argc || rounds < 1 || rounds > MAX_ROUNDS || nops < 1 ||
		lab.nkeys < 10 || lab.fill < 10 || lab.fill > 100 ||
		lab.keyset > KEYS_CLUSTERED || lab.memory > 1)
		usage(argv[0]);
	out = lab_alloc(sizeof(Tid) * (size_t) lab.nkeys);
	for (int i = optind; i < argc; i++)
	{
		if (run_alone(argv[i], (uint64_t) atoll(option['S'])))
			continue;
		if (nsubjects == 0)
			usage(argv[0]);
		run_test(argv[i]);
	}
	return 0;
}
