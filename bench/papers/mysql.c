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
#include "lab.h"

#define FANOUT		128			/* pointers of a node */
#define FANOUT_BITS	7
#define LEVELS		3
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
typedef struct Rows
{
	Node	   *root;
	int			levels;
	uint64_t	under[LEVELS];
	uint64_t	magic[LEVELS];	/* 2^64 / under, rounded up */
	int			shift[LEVELS];
	Leaf	   *first;
	uint64_t	leaves;
	uint32_t   *order;			/* positions at random */
} Rows;

/* How the leaf of a position is found */
typedef enum Way
{
	DIVISION,
	TWO_DIVISIONS,				/* which the processor cannot do as one */
	MULTIPLICATION,				/* exact for positions below 2^32 */
	SHIFT,
	NEXT_LEAF					/* by the pointer of the leaf before */
} Way;

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

typedef struct Side
{
	const char *name;
	uint64_t	(*run) (void *work);
} Side;

static int	rounds;
static bool first_line = true;

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
			lab_fail("%s, %s: %s and %s differ", group, name, sides[0].name,
					 sides[i].name);
	for (int r = 0; r < rounds; r++)
		for (int k = 0; k < n; k++)
		{
			int			i = (k + r) % n;
			double		start = lab_now();

			if (sides[i].run(work) != sum)
				exit(1);
			took[i][r] = (lab_now() - start) / count;
		}
	printf("%s\n  {\"group\": \"%s\", \"name\": \"%s\", \"sides\": {",
		   first_line ? "" : ",", group, name);
	for (int i = 0; i < n; i++)
	{
		printf("%s", i ? ", " : "");
		lab_print_samples(sides[i].name, took[i], rounds);
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
make_rows(Rows *rows, size_t leaves, bool scattered)
{
	size_t		nodes = (leaves + FANOUT - 1) / FANOUT;
	Leaf	   *leaf = (Leaf *) lab_map(leaves * sizeof(Leaf));
	Node	   *node = (Node *) lab_map(nodes * sizeof(Node));
	Node	   *middle = (Node *) lab_map((nodes / FANOUT + 1) * sizeof(Node));
	uint32_t   *place = scattered ? lab_shuffle(leaves, 1) : NULL;
	uint32_t   *node_place = scattered ? lab_shuffle(nodes, 2) : NULL;
	Leaf	   *before = NULL;

	rows->root = (Node *) lab_map(sizeof(Node));
	rows->levels = LEVELS;
	rows->leaves = leaves;
	for (int i = 0; i < LEVELS; i++)
	{
		rows->shift[i] = FANOUT_BITS * (LEVELS - 1 - i);
		rows->under[i] = UINT64_C(1) << rows->shift[i];
		rows->magic[i] = UINT64_MAX / rows->under[i] + 1;
	}
	for (size_t i = 0; i < leaves; i++)
	{
		Leaf	   *l = &leaf[place ? place[i] : i];
		size_t		n = i / FANOUT;
		Node	   *parent = &node[node_place ? node_place[n] : n];

		l->row = 2 * i + 2;
		parent->child[i % FANOUT] = l;
		middle[n / FANOUT].child[n % FANOUT] = parent;
		rows->root->child[n / FANOUT] = &middle[n / FANOUT];
		if (before)
			before->next = l;
		else
			rows->first = l;
		before = l;
	}
	rows->order = lab_shuffle(leaves, 3);
}

INLINE Leaf *
find_leaf(const Rows *rows, uint64_t pos, const Way way)
{
	void	   *p = rows->root;

	for (int i = 0; i < rows->levels; i++)
	{
		uint64_t	under = rows->under[i],
					again = under,
					n = pos;
		int			shift = rows->shift[i];

		if (way == SHIFT)
		{
			OPAQUE(shift);
			n = pos >> shift;
			pos &= (UINT64_C(1) << shift) - 1;
		}
		else if (way == MULTIPLICATION)
		{
			OPAQUE(under);
			if (under > 1)
				n = ((unsigned __int128) pos * rows->magic[i]) >> 64;
			pos -= n * under;
		}
		else
		{
			OPAQUE(under);
			if (way == TWO_DIVISIONS)
				OPAQUE(again);
			else
				again = under;
			n = pos / under;
			pos %= again;
		}
		p = ((Node *) p)->child[n];
	}
	return p;
}

/* Sums over all leaves in order: of their rows, or of their places alone */
INLINE uint64_t
scan(const Rows *rows, const Way way, const bool locate)
{
	uint64_t	sum = 0;

	if (way == NEXT_LEAF)
	{
		for (Leaf *l = rows->first; l; l = l->next)
			sum += locate ? (uintptr_t) l : l->row;
		return sum;
	}
	for (uint64_t i = 0; i < rows->leaves; i++)
	{
		Leaf	   *l = find_leaf(rows, i, way);

		sum += locate ? (uintptr_t) l : l->row;
	}
	return sum;
}

/*
 * Sums of rows at random, or of one again and again.  All rows are even, which
 * the compiler does not know: each search waits for the row before.
 */
INLINE uint64_t
search(const Rows *rows, const Way way, const bool same)
{
	uint64_t	sum = 0,
				last = 0;

	for (uint64_t i = 0; i < rows->leaves; i++)
	{
		uint64_t	pos = same ? rows->leaves / 2 : rows->order[i];

		sum += last = find_leaf(rows, pos + (last & 1), way)->row;
	}
	return sum;
}

#define KERNEL(name, call) \
	static uint64_t name(void *work) { return call; }
#define KERNELS(name, way) \
	KERNEL(name##_read, scan(work, way, false)) \
	KERNEL(name##_locate, scan(work, way, true)) \
	KERNEL(name##_random, search(work, way, false)) \
	KERNEL(name##_same, search(work, way, true))

KERNELS(division, DIVISION)
KERNELS(multiplication, MULTIPLICATION)
KERNELS(shift, SHIFT)
KERNEL(two_divisions_random, search(work, TWO_DIVISIONS, false))
KERNEL(two_divisions_same, search(work, TWO_DIVISIONS, true))
KERNEL(next_read, scan(work, NEXT_LEAF, false))
KERNEL(next_locate, scan(work, NEXT_LEAF, true))

#define SIDES(test, name, other) { \
	{"division", division_##test}, {"shift", shift_##test}, \
	{"multiplication", multiplication_##test}, {name, other##_##test}}

static void
measure_places(void)
{
	static const Side read[] = SIDES(read, "next-leaf pointer", next);
	static const Side locate[] = SIDES(locate, "next-leaf pointer", next);
	static const Side same[] = SIDES(same, "two divisions", two_divisions);
	static const Side at_random[] = SIDES(random, "two divisions",
										  two_divisions);
	Rows		ordered,
				scattered,
				large;

	make_rows(&ordered, PAPER_LEAVES, false);
	make_rows(&scattered, PAPER_LEAVES, true);
	make_rows(&large, (size_t) FANOUT * FANOUT * FANOUT, true);
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
INLINE void
ask_for(const Table *table, size_t i, size_t most)
{
	const char *p;
	size_t		bytes = LAB_MIN(table->width, most);

	if (i >= table->count)
		return;
	p = row_of(table, i);
	for (size_t at = 0; at < bytes; at += LINE)
		__builtin_prefetch(p + at);
	OPAQUE(p);
}

/* The columns of the query are found anew. */
static inline void
point_to(Table *table, char *row)
{
	for (Field *f = table->fields; f; f = f->next)
		f->ptr = row + f->offset;
	OPAQUE(row);
}

/*
 * What MySQL 4.1 does: rows are copied to a buffer, where fields stay in their
 * places; or what the paper does.
 */
INLINE uint64_t
scan_table(Table *table, const bool copy, const bool ahead)
{
	uint64_t	sum = 0;
	char	   *to = table->buffer;

	if (copy)
		point_to(table, to);
	for (size_t i = 0; i < table->count; i++)
	{
		if (ahead)
			ask_for(table, i + AHEAD, copy ? AHEAD_BYTES : 1);
		if (copy)
		{
			memcpy(to, row_of(table, i), table->width);
			OPAQUE(to);
		}
		else
			point_to(table, row_of(table, i));
		sum += look(table);
	}
	return sum;
}

KERNEL(copied, scan_table(work, true, false))
KERNEL(copied_ahead, scan_table(work, true, true))
KERNEL(by_pointer, scan_table(work, false, false))
KERNEL(by_pointer_ahead, scan_table(work, false, true))

/* The list that a query has of its columns, of some width each, in an array */
static Field *
make_fields(size_t width, size_t column, size_t columns)
{
	Field	   *fields = lab_alloc(columns * sizeof(Field));

	for (size_t i = 0; i < columns; i++)
	{
		fields[i].offset = i * column < width ? i * column : 0;
		fields[i].next = i + 1 < columns ? &fields[i + 1] : NULL;
	}
	return fields;
}

/* Memory with numbers that are never NEVER */
static char *
make_numbers(size_t bytes, uint64_t seed)
{
	Random		r = {seed};
	char	   *p = lab_map(bytes);

	for (size_t i = 0; i < bytes / 4; i++)
		((uint32_t *) p)[i] = random_next(&r) >> 36;
	return p;
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

	table.width = width;
	table.count = is_paper ? PAPER_ROWS : bytes / width;
	table.rows = make_numbers(table.count * width, 4);
	table.order = at_random ? lab_shuffle(table.count, 5) : NULL;
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
		free(table.fields);
	}
	lab_unmap(table.rows, table.count * width);
	if (table.order)
		lab_unmap(table.order, table.count * sizeof(uint32_t));
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
	Rows		rows;
	char	   *memory;			/* of the leaves, by their positions */
	Table		table;
} Both;

static inline uint64_t
scan_leaf(Both *both, const Leaf *l)
{
	uint64_t	sum = 0;
	char	   *rows = both->memory + (l->row - 2) / 2 * BIG_LEAF;

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

	for (size_t i = 0; i < both->rows.leaves; i++)
		sum += scan_leaf(both, find_leaf(&both->rows, i, DIVISION));
	return sum;
}

static uint64_t
both_next(void *work)
{
	Both	   *both = work;
	uint64_t	sum = 0;

	for (Leaf *l = both->rows.first; l; l = l->next)
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

	both.memory = make_numbers(leaves * BIG_LEAF, 6);
	make_rows(&both.rows, leaves, false);
	both.table.fields = make_fields(BOTH_ROW, 0, 1);
	measure("rows by pointer, 128-kB leaves", "4104 bytes, one column",
			leaves * BOTH_ROWS, &both, sides, 2);
	lab_unmap(both.memory, leaves * BIG_LEAF);
}

int
main(int argc, char **argv)
{
	static const size_t widths[] = {16, 64, 128, 260, 520, 1032, 2056, 4104};
	const char *option[128] = {['r'] = "9", ['m'] = "128", ['H'] = "0"};
	size_t		bytes;

	if (!lab_options(argc, argv, "r:m:H", option))
		return 2;
	rounds = atoi(option['r']);
	bytes = strtoul(option['m'], NULL, 10);
	lab.memory = atoi(option['H']);
	if (rounds < 1 || rounds > MAX_ROUNDS || bytes < 1 || bytes > 65536)
		lab_fail("needs 1 to %d rounds and 1 to 65536 MB", MAX_ROUNDS);
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
