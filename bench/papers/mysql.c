/*-------------------------------------------------------------------------
 *
 * mysql.c
 *	  The kernels of "Speeding up main memory table scans in MySQL" (Samuel,
 *	  Pedersen).
 *
 * mysql [-r ROUNDS] [-m MB] [-H]
 *
 * A table is an array of rows under a tree of at most three levels of nodes
 * of 128 pointers; a row is found by its position.  Measured are the place of a
 * row by divisions, by divisions that are done twice, by multiplications and by
 * shifts, beside a pointer from each leaf to the next; and what becomes of a
 * row: copied to a buffer, or handed on as a pointer, after which the pointers
 * to its fields are set; and rows that are asked for ahead.
 *
 * Each line of the output is measured in rounds, all sides in each, the first
 * one turning.  The sums of what the sides read must be equal before anything
 * is timed.  The output is JSON: samples in nanoseconds, CPU time.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FANOUT		128			/* pointers of a node */
#define FANOUT_BITS	7
#define MAX_LEVELS	3
#define LEAF_SIZE	64			/* of a leaf with one row of 8 bytes */
#define PAPER_LEAVES 300000
#define PAPER_ROWS	25000
#define BIG_LEAF	131072		/* the default of MySQL */
#define MAX_ROW		8192
#define MAX_SIDES	6
#define MAX_ROUNDS	99
#define AHEAD		12			/* rows */
#define AHEAD_BYTES	512			/* of a row, at most; hardware goes on */
#define NEVER		0xffffffffu /* no field has this value */

/* Keep the compiler from joining or dropping accesses. */
#define OPAQUE(x)	__asm__ volatile("" : "+r" (x) : : "memory")

typedef struct Node
{
	void	   *child[FANOUT];
} Node;

/* One row, and the pointer that the paper puts after the last one of a leaf */
typedef struct Leaf
{
	uint64_t	row;
	struct Leaf *next;
	char		unused[LEAF_SIZE - 16];
} Leaf;

/* How many positions there are below a child of each level, from the root */
typedef struct Tree
{
	Node	   *root;
	int			levels;
	uint64_t	under[MAX_LEVELS];
	uint64_t	magic[MAX_LEVELS];	/* 2^64 / under, rounded up */
	int			shift[MAX_LEVELS];
	Leaf	   *first;
	uint64_t	leaves;
	uint32_t   *order;			/* positions at random */
} Tree;

/* A column that a query uses: where it is in the row that is looked at */
typedef struct Field
{
	char	   *ptr;
	size_t		offset;
	struct Field *next;
} Field;

typedef struct Table
{
	char	   *rows;
	size_t		width;
	size_t		count;
	uint32_t   *order;			/* NULL: one after the other */
	Field	   *fields;			/* of the query */
	char		buffer[MAX_ROW];
} Table;

typedef uint64_t (*Kernel) (void *work);

typedef struct Side
{
	const char *name;
	Kernel		run;
} Side;

static int	rounds = 9;
static bool huge = false;
static bool first_line = true;

/* --- memory, numbers, time ------------------------------------------------ */

/* Zeroed memory in pages of the size that was asked for; never returns NULL. */
static void *
grab(size_t size)
{
	void	   *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
	{
		perror("mmap");
		exit(1);
	}
	madvise(p, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return p;
}

static uint64_t
draw(uint64_t *state)
{
	uint64_t	x = (*state += 0x9E3779B97F4A7C15);

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
	return x ^ (x >> 31);
}

/* The numbers below count in random order; the caller unmaps them. */
static uint32_t *
permutation(size_t count, uint64_t seed)
{
	uint32_t   *p = grab(count * sizeof(uint32_t));

	for (size_t i = 0; i < count; i++)
		p[i] = i;
	for (size_t i = count - 1; i > 0; i--)
	{
		size_t		j = draw(&seed) % (i + 1);
		uint32_t	x = p[i];

		p[i] = p[j];
		p[j] = x;
	}
	return p;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/*
 * Measure the sides and print a line: nanoseconds by side and round, divided by
 * "count".  Ends the program if two sides have read different things.
 */
static void
measure(const char *group, const char *name, size_t count, void *work,
		const Side *sides, int n)
{
	double		took[MAX_SIDES][MAX_ROUNDS];
	uint64_t	sum = sides[0].run(work);

	for (int i = 1; i < n; i++)
		if (sides[i].run(work) != sum)
		{
			fprintf(stderr, "%s, %s: %s and %s differ\n", group, name,
					sides[0].name, sides[i].name);
			exit(1);
		}
	for (int r = 0; r < rounds; r++)
		for (int k = 0; k < n; k++)
		{
			int			i = (k + r) % n;
			double		start = now();

			if (sides[i].run(work) != sum)
				exit(1);
			took[i][r] = (now() - start) / count;
		}
	printf("%s\n  {\"group\": \"%s\", \"name\": \"%s\", \"sides\": {",
		   first_line ? "" : ",", group, name);
	for (int i = 0; i < n; i++)
	{
		printf("%s\"%s\": [", i ? ", " : "", sides[i].name);
		for (int r = 0; r < rounds; r++)
			printf("%s%.3f", r ? ", " : "", took[i][r]);
		printf("]");
	}
	printf("}}");
	fflush(stdout);
	first_line = false;
	fprintf(stderr, "%s, %s\n", group, name);
}

/* --- places of leaves ----------------------------------------------------- */

/*
 * A tree over so many leaves of one row.  Nodes and leaves lie as they were
 * made, or at random places.  Never freed.
 */
static void
make_tree(Tree *tree, size_t leaves, bool scattered)
{
	size_t		nodes = (leaves + FANOUT - 1) / FANOUT;
	Leaf	   *leaf = grab(leaves * sizeof(Leaf));
	Node	   *node = grab(nodes * sizeof(Node));
	Node	   *middle = grab((nodes / FANOUT + 1) * sizeof(Node));
	uint32_t   *place = scattered ? permutation(leaves, 1) : NULL;
	uint32_t   *node_place = scattered ? permutation(nodes, 2) : NULL;
	Leaf	   *before = NULL;

	tree->root = grab(sizeof(Node));
	tree->levels = MAX_LEVELS;
	tree->leaves = leaves;
	for (int i = 0; i < MAX_LEVELS; i++)
	{
		tree->shift[i] = FANOUT_BITS * (MAX_LEVELS - 1 - i);
		tree->under[i] = UINT64_C(1) << tree->shift[i];
		tree->magic[i] = UINT64_MAX / tree->under[i] + 1;
	}
	for (size_t i = 0; i < leaves; i++)
	{
		Leaf	   *l = &leaf[place ? place[i] : i];
		size_t		n = i / FANOUT;
		Node	   *parent = &node[node_place ? node_place[n] : n];

		l->row = 2 * i + 2;
		parent->child[i % FANOUT] = l;
		middle[n / FANOUT].child[n % FANOUT] = parent;
		tree->root->child[n / FANOUT] = &middle[n / FANOUT];
		if (before)
			before->next = l;
		else
			tree->first = l;
		before = l;
	}
	tree->order = permutation(leaves, 3);
}

static inline Leaf *
by_division(const Tree *tree, uint64_t pos)
{
	void	   *p = tree->root;

	for (int i = 0; i < tree->levels; i++)
	{
		uint64_t	under = tree->under[i];

		OPAQUE(under);
		p = ((Node *) p)->child[pos / under];
		pos %= under;
	}
	return p;
}

/* The remainder by a division of its own, which the processor cannot reuse */
static inline Leaf *
by_two_divisions(const Tree *tree, uint64_t pos)
{
	void	   *p = tree->root;

	for (int i = 0; i < tree->levels; i++)
	{
		uint64_t	under = tree->under[i],
					again = under;

		OPAQUE(under);
		OPAQUE(again);
		p = ((Node *) p)->child[pos / under];
		pos %= again;
	}
	return p;
}

/* Exact for positions below 2^32 and these divisors. */
static inline Leaf *
by_multiplication(const Tree *tree, uint64_t pos)
{
	void	   *p = tree->root;

	for (int i = 0; i < tree->levels; i++)
	{
		uint64_t	under = tree->under[i],
					n = pos;

		OPAQUE(under);
		if (under > 1)
			n = ((unsigned __int128) pos * tree->magic[i]) >> 64;
		p = ((Node *) p)->child[n];
		pos -= n * under;
	}
	return p;
}

static inline Leaf *
by_shift(const Tree *tree, uint64_t pos)
{
	void	   *p = tree->root;

	for (int i = 0; i < tree->levels; i++)
	{
		int			shift = tree->shift[i];

		OPAQUE(shift);
		p = ((Node *) p)->child[pos >> shift];
		pos &= (UINT64_C(1) << shift) - 1;
	}
	return p;
}

/* Sums over all leaves in order: of their rows, and of their places alone */
#define SCANS(find) \
static uint64_t \
find##_read(void *work) \
{ \
	Tree	   *tree = work; \
	uint64_t	sum = 0; \
	for (uint64_t i = 0; i < tree->leaves; i++) \
		sum += find(tree, i)->row; \
	return sum; \
} \
static uint64_t \
find##_locate(void *work) \
{ \
	Tree	   *tree = work; \
	uint64_t	sum = 0; \
	for (uint64_t i = 0; i < tree->leaves; i++) \
		sum += (uintptr_t) find(tree, i); \
	return sum; \
}

/*
 * Sums of rows at random, or of one again and again.  All rows are even, which
 * the compiler does not know: each search waits for the row before.
 */
#define SEARCHES(find) \
static uint64_t \
find##_random(void *work) \
{ \
	Tree	   *tree = work; \
	uint64_t	sum = 0, \
				last = 0; \
	for (uint64_t i = 0; i < tree->leaves; i++) \
		sum += last = find(tree, tree->order[i] + (last & 1))->row; \
	return sum; \
} \
static uint64_t \
find##_same(void *work) \
{ \
	Tree	   *tree = work; \
	uint64_t	sum = 0, \
				last = 0; \
	for (uint64_t i = 0; i < tree->leaves; i++) \
		sum += last = find(tree, tree->leaves / 2 + (last & 1))->row; \
	return sum; \
}

SCANS(by_division)
SCANS(by_multiplication)
SCANS(by_shift)
SEARCHES(by_division)
SEARCHES(by_two_divisions)
SEARCHES(by_multiplication)
SEARCHES(by_shift)

static uint64_t
next_read(void *work)
{
	uint64_t	sum = 0;

	for (Leaf *l = ((Tree *) work)->first; l; l = l->next)
		sum += l->row;
	return sum;
}

static uint64_t
next_locate(void *work)
{
	uint64_t	sum = 0;

	for (Leaf *l = ((Tree *) work)->first; l; l = l->next)
		sum += (uintptr_t) l;
	return sum;
}

static void
measure_places(void)
{
	static const Side read[] = {
		{"division", by_division_read}, {"shift", by_shift_read},
		{"multiplication", by_multiplication_read},
		{"next-leaf pointer", next_read}};
	static const Side locate[] = {
		{"division", by_division_locate}, {"shift", by_shift_locate},
		{"multiplication", by_multiplication_locate},
		{"next-leaf pointer", next_locate}};
	static const Side same[] = {
		{"division", by_division_same}, {"shift", by_shift_same},
		{"multiplication", by_multiplication_same},
		{"two divisions", by_two_divisions_same}};
	static const Side at_random[] = {
		{"division", by_division_random}, {"shift", by_shift_random},
		{"multiplication", by_multiplication_random},
		{"two divisions", by_two_divisions_random}};
	Tree		ordered,
				scattered,
				large;

	make_tree(&ordered, PAPER_LEAVES, false);
	make_tree(&scattered, PAPER_LEAVES, true);
	make_tree(&large, (size_t) FANOUT * FANOUT * FANOUT, true);
	measure("leaf of a position", "one leaf again and again", PAPER_LEAVES,
			&ordered, same, 4);
	measure("leaf of a position", "at random, 2 million leaves", large.leaves,
			&large, at_random, 4);
	measure("next leaf", "located only, in order of memory", PAPER_LEAVES,
			&ordered, locate, 4);
	measure("next leaf", "row read, in order of memory", PAPER_LEAVES,
			&ordered, read, 4);
	measure("next leaf", "located only, leaves scattered", PAPER_LEAVES,
			&scattered, locate, 4);
	measure("next leaf", "row read, leaves scattered", PAPER_LEAVES,
			&scattered, read, 4);
}

/* --- rows ----------------------------------------------------------------- */

/* The condition of a query, on its first column: no row satisfies it. */
static inline uint32_t
look(const Table *table)
{
	uint32_t	value;

	memcpy(&value, table->fields->ptr, sizeof(value));
	return value == NEVER ? 1u << 31 : value;
}

static inline char *
row_of(const Table *table, size_t i)
{
	return table->rows + (table->order ? table->order[i] : i) * table->width;
}

/* The rest of a row comes by itself.  Without OPAQUE the compiler drops it. */
static inline void
ask_for(const Table *table, size_t i)
{
	const char *p;
	size_t		bytes = table->width < AHEAD_BYTES ? table->width : AHEAD_BYTES;

	if (i >= table->count)
		return;
	p = row_of(table, i);
	for (size_t at = 0; at < bytes; at += 64)
		__builtin_prefetch(p + at);
	OPAQUE(p);
}

/* What MySQL 4.1 does: fields stay where they are, in a buffer. */
static inline void
copy_row(Table *table, const char *row)
{
	char	   *to = table->buffer;

	memcpy(to, row, table->width);
	OPAQUE(to);
}

/* What the paper does: the columns of the query are found anew. */
static inline void
point_to(Table *table, char *row)
{
	for (Field *f = table->fields; f; f = f->next)
		f->ptr = row + f->offset;
	OPAQUE(row);
}

static uint64_t
copied(void *work)
{
	Table	   *table = work;
	uint64_t	sum = 0;

	for (Field *f = table->fields; f; f = f->next)
		f->ptr = table->buffer + f->offset;
	for (size_t i = 0; i < table->count; i++)
	{
		copy_row(table, row_of(table, i));
		sum += look(table);
	}
	return sum;
}

static uint64_t
copied_ahead(void *work)
{
	Table	   *table = work;
	uint64_t	sum = 0;

	for (Field *f = table->fields; f; f = f->next)
		f->ptr = table->buffer + f->offset;
	for (size_t i = 0; i < table->count; i++)
	{
		ask_for(table, i + AHEAD);
		copy_row(table, row_of(table, i));
		sum += look(table);
	}
	return sum;
}

static uint64_t
by_pointer(void *work)
{
	Table	   *table = work;
	uint64_t	sum = 0;

	for (size_t i = 0; i < table->count; i++)
	{
		point_to(table, row_of(table, i));
		sum += look(table);
	}
	return sum;
}

static uint64_t
by_pointer_ahead(void *work)
{
	Table	   *table = work;
	uint64_t	sum = 0;

	for (size_t i = 0; i < table->count; i++)
	{
		if (i + AHEAD < table->count)
			__builtin_prefetch(row_of(table, i + AHEAD));
		point_to(table, row_of(table, i));
		sum += look(table);
	}
	return sum;
}

/* The list that a query has of its columns, of some width each */
static Field *
make_fields(size_t width, size_t column, size_t columns)
{
	Field	   *fields = NULL;

	for (size_t i = columns; i-- > 0;)
	{
		Field	   *f = calloc(1, sizeof(Field));

		if (!f)
			exit(1);
		f->offset = i * column < width ? i * column : 0;
		f->next = fields;
		fields = f;
	}
	return fields;
}

static void
free_fields(Field *f)
{
	while (f)
	{
		Field	   *next = f->next;

		free(f);
		f = next;
	}
}

/*
 * Rows of one width: some as many as the paper's, others a table of "bytes".
 * One column, and all of those that are there if they have "column" bytes.
 */
static void
measure_rows(size_t width, size_t bytes, bool is_paper, bool at_random)
{
	static const Side sides[] = {
		{"copied", copied}, {"by pointer", by_pointer},
		{"copied, asked for ahead", copied_ahead},
		{"by pointer, asked for ahead", by_pointer_ahead}};
	static Table table;
	char		name[100];
	uint64_t	seed = 4;

	table.width = width;
	table.count = is_paper ? PAPER_ROWS : bytes / width;
	table.rows = grab(table.count * width);
	for (size_t i = 0; i < table.count * width / 4; i++)
		((uint32_t *) table.rows)[i] = draw(&seed) >> 36;
	table.order = at_random ? permutation(table.count, 5) : NULL;
	for (int column = 0; column <= 128; column = column ? 4 * column : 32)
	{
		size_t		columns = column ? (width + column - 1) / column : 1;

		if (column && (columns == 1 || at_random || !is_paper))
			continue;
		table.fields = make_fields(width, column, columns);
		if (column)
			snprintf(name, sizeof(name),
					 "%zu bytes, all %zu columns of %d", width, columns,
					 column);
		else
			snprintf(name, sizeof(name), "%zu bytes, one column", width);
		measure(is_paper ? "25,000 rows" : at_random ?
				"table larger than caches, at random" :
				"table larger than caches, in order", name, table.count,
				&table, sides, column ? 2 : 4);
		free_fields(table.fields);
	}
	munmap(table.rows, table.count * width);
	if (table.order)
		munmap(table.order, table.count * sizeof(uint32_t));
}

/* --- both ----------------------------------------------------------------- */

#define BOTH_ROW	4104
#define BOTH_ROWS	(BIG_LEAF / BOTH_ROW)

/*
 * A scan of large rows by pointer, with leaves of 128 kB that are found by
 * their position or by the pointer after the last row.
 */
typedef struct Both
{
	Tree		tree;
	char	  **leaf;			/* rows of the leaf with this position */
	Table		table;
} Both;

static inline uint64_t
scan_leaf(Both *both, Leaf *l)
{
	uint64_t	sum = 0;
	char	   *rows = both->leaf[(l->row - 2) / 2];

	for (size_t i = 0; i < BOTH_ROWS; i++)
	{
		point_to(&both->table, rows + i * BOTH_ROW);
		sum += look(&both->table);
	}
	return sum;
}

static uint64_t
both_division(void *work)
{
	Both	   *both = work;
	uint64_t	sum = 0;

	for (size_t i = 0; i < both->tree.leaves; i++)
		sum += scan_leaf(both, by_division(&both->tree, i));
	return sum;
}

static uint64_t
both_next(void *work)
{
	Both	   *both = work;
	uint64_t	sum = 0;

	for (Leaf *l = both->tree.first; l; l = l->next)
		sum += scan_leaf(both, l);
	return sum;
}

static void
measure_both(size_t bytes)
{
	static const Side sides[] = {
		{"division", both_division}, {"next-leaf pointer", both_next}};
	static Both both;
	size_t		leaves = bytes / BIG_LEAF;
	char	   *memory = grab(leaves * BIG_LEAF);
	uint64_t	seed = 6;

	make_tree(&both.tree, leaves, false);
	both.leaf = grab(leaves * sizeof(char *));
	for (size_t i = 0; i < leaves; i++)
		both.leaf[i] = memory + i * BIG_LEAF;
	for (size_t i = 0; i < leaves * BIG_LEAF / 4; i++)
		((uint32_t *) memory)[i] = draw(&seed) >> 36;
	both.table.fields = make_fields(BOTH_ROW, 0, 1);
	measure("rows by pointer, 128-kB leaves", "4104 bytes, one column",
			leaves * BOTH_ROWS, &both, sides, 2);
	munmap(memory, leaves * BIG_LEAF);
}

int
main(int argc, char **argv)
{
	static const size_t widths[] = {16, 64, 128, 260, 520, 1032, 2056, 4104};
	size_t		bytes = 128;
	int			c;

	while ((c = getopt(argc, argv, "r:m:H")) != -1)
		switch (c)
		{
			case 'r':
				rounds = atoi(optarg);
				break;
			case 'm':
				bytes = strtoul(optarg, NULL, 10);
				break;
			case 'H':
				huge = true;
				break;
			default:
				return 2;
		}
	if (rounds < 1 || rounds > MAX_ROUNDS || bytes < 1 || bytes > 65536)
	{
		fprintf(stderr, "needs 1 to %d rounds and 1 to 65536 MB\n",
				MAX_ROUNDS);
		return 2;
	}
	bytes <<= 20;
	printf("[");
	measure_places();
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
	{
		measure_rows(widths[i], bytes, true, false);
		measure_rows(widths[i], bytes, false, false);
		measure_rows(widths[i], bytes, false, true);
	}
	measure_both(bytes);
	printf("\n]\n");
	return 0;
}
