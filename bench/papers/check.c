/*-------------------------------------------------------------------------
 *
 * check.c
 *	  Every tree against an array: random operations, and the tree's own check
 *	  of its structure.
 *
 * Keys are numbered; the array has a tuple id, or 0, for each number.  Trees are
 * loaded with few or many pairs and different fill factors, then grow, shrink
 * to nothing and change at random.  The test compiles this with sanitizers.
 *
 *-------------------------------------------------------------------------
 */
#include "lab.h"

/* --- structure ----------------------------------------------------------- */

void
walk_node(Walk *w, uint64_t no, int level, Key low, Key high, bool last)
{
	static View view[MAX_LEVELS];
	View	   *v = &view[level];

	v->low = low;
	v->high = high;
	v->last = last;
	v->linked = false;
	w->nodes++;
	w->leaves += level == 0;
	w->view(w, no, level, v);
	if (v->linked)
	{
		if (w->before[level] != 0 && w->next[level] != no)
			w->wrong = "nodes are linked in another order";
		w->before[level] = no;
		w->next[level] = v->next;
	}
	for (int i = 0; i < v->n && w->wrong == NULL; i++)
	{
		if (v->keys[i] < low || (!last && v->keys[i] >= high) ||
			(i > 0 && v->keys[i] <= v->keys[i - 1]))
			w->wrong = "keys are not in order";
	}
	for (int i = 0; level > 0 && i <= v->n && w->wrong == NULL; i++)
		walk_node(w, v->kid[i], level - 1, i > 0 ? v->keys[i - 1] : low,
				  i < v->n ? v->keys[i] : high, last && i == v->n);
}

const char *
walk_end(Walk *w, long nodes, long leaves)
{
	for (int i = 0; i < MAX_LEVELS && w->wrong == NULL; i++)
	{
		if (w->next[i] != 0)
			w->wrong = "the last node has a next one";
	}
	if (w->wrong == NULL && (w->nodes != nodes || w->leaves != leaves))
		w->wrong = "nodes are lost";
	return w->wrong;
}

/* --- answers -------------------------------------------------------------- */

#define NUMBERS		(1 << 16)	/* of keys */

typedef struct Model
{
	Tid			tid[NUMBERS];
	Key			gap;			/* between keys of neighbouring numbers */
	long		count;
	Random		random;
	const TreeKind *kind;
	void	   *tree;
	Tid			next_tid;
} Model;

static Tid	got[NUMBERS + 1];

static Key
number_key(const Model *m, long number)
{
	return (Key) (number + 1) * m->gap;
}

static void __attribute__((noreturn))
wrong(const Model *m, const char *what, long number)
{
	lab_fail("%s (%s), key %ld of gap %llu, %ld entries: %s", m->kind->name,
			 m->kind->label, number, (unsigned long long) m->gap, m->count, what);
}

static void
check_search(Model *m, long number)
{
	Key			key = number_key(m, number);

	if (m->kind->search(m->tree, key) != m->tid[number])
		wrong(m, "search", number);
	if (m->gap > 1 && m->kind->search(m->tree, key - 1) != 0)
		wrong(m, "search of a key that is not there", number);
}

/* Some of the memory that visit() names, so that sanitizers look at it. */
static void
check_visit(Model *m, long number)
{
	static volatile char sink __attribute__((unused));
	Path		path = {0};

	m->kind->visit(m->tree, number_key(m, number), &path);
	if (path.n == 0)
		wrong(m, "visit names nothing", number);
	for (int i = 0; i < path.n; i++)
	{
		if (path.part[i].len == 0)
			wrong(m, "visit names an empty part", number);
		sink = path.part[i].at[0];
		sink = path.part[i].at[path.part[i].len - 1];
	}
}

/* A scan in segments of some length; it may run into the end. */
static void
check_scan(Model *m, long number, long n, long segment)
{
	Cursor		c;
	long		done = 0;

	m->kind->open(m->tree, number_key(m, number) - (m->gap > 1), &c);
	while (done < n)
	{
		long		ask = LAB_MIN(segment, n - done);
		long		count = m->kind->next(m->tree, &c, ask, got);

		for (long i = 0; i < count; i++)
		{
			while (number < NUMBERS && m->tid[number] == 0)
				number++;
			if (number == NUMBERS || got[i] != m->tid[number])
				wrong(m, "scan", number);
			number++;
		}
		done += count;
		if (count < ask)
		{
			while (number < NUMBERS && m->tid[number] == 0)
				number++;
			if (number < NUMBERS)
				wrong(m, "scan ends too early", number);
			return;
		}
	}
}

static void
check_insert(Model *m, long number)
{
	bool		fresh = m->tid[number] == 0;

	if (!fresh && m->kind->repeats)
		return;
	if (m->kind->insert(m->tree, number_key(m, number), m->next_tid) != fresh)
		wrong(m, "insertion", number);
	if (fresh)
	{
		m->tid[number] = m->next_tid++;
		m->count++;
	}
}

static void
check_delete(Model *m, long number)
{
	bool		there = m->tid[number] != 0;

	if (m->kind->delete(m->tree, number_key(m, number)) != there)
		wrong(m, "deletion", number);
	m->count -= there;
	m->tid[number] = 0;
}

static void
check_structure(Model *m)
{
	const char *problem = m->kind->check(m->tree);

	if (problem != NULL)
		wrong(m, problem, -1);
}

/* ops operations; of those that change something, this part inserts. */
static void
check_phase(Model *m, long ops, int insert_percent)
{
	long		every = LAB_MAX(1, ops / 8);

	for (long i = 0; i < ops; i++)
	{
		long		number = random_below(&m->random, NUMBERS);
		int			what = (int) random_below(&m->random, 100);

		if (what < 8)
			check_search(m, number);
		else if (what < 9)
			check_visit(m, number);
		else if (what < 10)
			check_scan(m, number, random_below(&m->random, 3000),
					   1 + random_below(&m->random, 1000));
		else if (random_below(&m->random, 100) < insert_percent)
			check_insert(m, number);
		else
			check_delete(m, number);
		if (i % every == 0)
			check_structure(m);
	}
	check_structure(m);
	for (long i = 0; i < NUMBERS; i += 1 + random_below(&m->random, 20))
		check_search(m, i);
	check_scan(m, 0, NUMBERS, NUMBERS);
}

/* n pairs of numbers from "first" on. */
static void
check_load(Model *m, long first, long n, int fill)
{
	Load		load = {pairs_new(n), 0, NUMBERS, fill};

	memset(m->tid, 0, sizeof(m->tid));
	m->next_tid = 1;
	for (long i = first; i < NUMBERS && load.n < n; i++)
	{
		if (random_below(&m->random, NUMBERS - i) >= n - load.n)
			continue;
		load.pairs.keys[load.n] = number_key(m, i);
		load.pairs.values[load.n++] = m->tid[i] = m->next_tid++;
	}
	m->count = load.n;
	m->tree = m->kind->build(&load);
	pairs_free(load.pairs);
	check_structure(m);
	check_scan(m, 0, NUMBERS, 777);
}

/* In ascending and descending order: splits at the edges, emptied leaves. */
static void
check_orders(Model *m)
{
	check_load(m, 0, 0, 100);
	for (long i = 0; i < NUMBERS / 4; i++)
		check_insert(m, i);
	check_structure(m);
	for (long i = NUMBERS / 2; i > NUMBERS / 4; i--)
		check_insert(m, i);
	check_structure(m);
	check_scan(m, 0, NUMBERS, 100);
	for (long i = 0; i < NUMBERS / 3; i++)
		check_delete(m, i);
	check_structure(m);
	check_scan(m, 0, NUMBERS, 100);
	m->kind->destroy(m->tree);
}

static void
check_tree(const TreeKind *kind, long ops, uint64_t seed)
{
	static const long sizes[] = {0, 1, 7, 300, 5000, 30000};
	static Model m;
	Stats		s;

	m.kind = kind;
	m.random.state = seed;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
	{
		m.gap = i % 2 ? 1 : (Key) (~(Key) 0) / (NUMBERS + 2);
		lab.scattered = i % 3 == 1;
		lab.distance = (int) (1 + i % 4);
		/* without low keys, so that these come before all that were loaded */
		check_load(&m, i % 2 ? NUMBERS / 4 : 0, sizes[i],
				   60 + (int) random_below(&m.random, 41));
		check_phase(&m, ops, 90);
		check_phase(&m, ops, 10);
		check_phase(&m, ops / 2, 50);
		for (long n = 0; n < NUMBERS; n++)
			check_delete(&m, n);
		check_structure(&m);
		check_phase(&m, ops / 2, 70);
		kind->stats(m.tree, &s);
		if (s.levels < 1 || s.nodes < 1 || s.bytes == 0)
			wrong(&m, "statistics", -1);
		kind->destroy(m.tree);
	}
	check_orders(&m);
}

/* All trees; an error ends the program. */
void
check_all(long ops, uint64_t seed)
{
	int			n = 0;

	for (; tree_kinds[n] != NULL; n++)
		check_tree(tree_kinds[n], ops, seed);
	printf("ok: %d trees, keys of %d bytes, pages of %d, %ld operations each\n",
		   n, KEYSIZE, PAGESIZE, ops);
}
