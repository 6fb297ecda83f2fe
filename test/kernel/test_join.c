/*-------------------------------------------------------------------------
 *
 * test_join.c
 *	  One page of two neighbours' entries, or a full one and the rest:
 *	  fpt_page_join() and fpt_page_slide() of runs of leaf pages of every
 *	  kind, from most of whose nodes entries are gone.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"
#include "page/join.h"
#include "page/number.h"

#define PAGENO		5
#define PARTS		6

static FPTJoinWork work;
static FPTEntry all[FPT_MAX_ENTRIES + 1];
static FPTEntry model[FPT_MAX_ENTRIES + 1];
static FPTEntry got[FPT_MAX_ENTRIES];
static long joined;				/* pages that were, */
static long added;				/* of these without forming one anew */
static long numbers;			/* the same of numbers, or of those before */
static long slid;				/* pages that were filled from the next one */
static long filled;				/* of these to within a twentieth of "most" */

/* The page has these entries, in order, and each is found. */
static void
check_entries(const FPTLayout *l, void *page, const FPTEntry *e, int n)
{
	CHECK(kt_sound(l, page));
	CHECK(fpt_page_extract(l, page, got, FPT_MAX_ENTRIES) == n);
	for (int i = 0; i < n; i++)
	{
		FPTLoc		loc;
		FPTEntry	x;

		CHECK(fpt_key_cmp(l, &got[i].key, &e[i].key) == 0);
		CHECK(got[i].key.tid == e[i].key.tid);
		CHECK(fpt_page_lower_bound(l, page, &e[i].key, &loc) == FPT_OK);
		CHECK(fpt_page_get(l, page, loc, &x) == FPT_OK);
		CHECK(fpt_key_cmp(l, &x.key, &e[i].key) == 0);
	}
}

/*
 * Form a page of some entries, and remove some of these, but one.  Returns how
 * many it has; they are put behind the model's n.  0: they make no page.
 */
static int
make_part(const KTWorld *w, char *page, uint32 pageno, const FPTKey *low,
		  const FPTKey *high, FPTEntry *e, int ne, int gonepct, int n)
{
	FPTPageSpec spec = {.pageno = pageno, .low = low, .high = high};
	int			left = ne;

	if (fpt_page_form(&w->l, page, &spec, e, ne, 90) != FPT_OK)
		return 0;
	for (int i = 0; i < ne; i++)
	{
		FPTLoc		loc;

		if (left > 1 && kt_chance(gonepct))
		{
			CHECK(fpt_page_lower_bound(&w->l, page, &e[i].key, &loc) == FPT_OK);
			CHECK(fpt_page_delete(&w->l, page, loc) == FPT_OK);
			left--;
		}
		else
			model[n++] = e[i];
	}
	fpt_header(page)->left = low->cls == FPT_CLS_MINF ? FPT_NOPAGE : 3;
	fpt_header(page)->right = high->cls == FPT_CLS_PINF ? FPT_NOPAGE :
		pageno + 1;
	fpt_header(page)->flags = 0;
	return left;
}

/* Join one more page to "page", which has the model's first n entries. */
static bool
join_part(const KTWorld *w, char *page, char *right, int n, int m)
{
	static char before[BLCKSZ];
	static char other[BLCKSZ];
	const FPTLayout *l = &w->l;
	FPTKey		low = fpt_page_low(l, page);
	int			most = 300 + (int) kt_below(701);
	uint32		reach = kt_chance(30) ? 0 : 1u << kt_below(32);
	uint16		nodes = fpt_header(page)->nnodes;
	FPTResult	res;

	memcpy(before, page, BLCKSZ);
	memcpy(other, right, BLCKSZ);
	res = fpt_page_join(l, page, right, most, reach, &work);
	CHECK(memcmp(other, right, BLCKSZ) == 0);
	CHECK(res == FPT_OK || res == FPT_FULL);
	if (res != FPT_OK)
	{
		/* what is far from full by any measure fits */
		CHECK(n + m > 8 || most < 500 || fpt_is_general(l));
		memcpy(page, before, BLCKSZ);
		return false;
	}
	CHECK(fpt_header(page)->left == fpt_header(before)->left);
	CHECK(fpt_header(page)->right == fpt_header(before)->right);
	fpt_header(page)->right = fpt_header(right)->right;
	check_entries(l, page, model, n + m);
	low = fpt_page_low(l, before);
	CHECK(fpt_page_begins_at(l, page, &low));
	low = fpt_page_high(l, right);
	CHECK(fpt_page_ends_at(l, page, &low));
	CHECK(fpt_page_thousandths(l, page) <= most);
	joined++;
	added += fpt_header(page)->enc == fpt_header(before)->enc &&
		fpt_header(page)->nnodes >= nodes &&
		memcmp(page + fpt_page_geom(l, page)->node_off,
			   before + fpt_page_geom(l, page)->node_off, 64) == 0;
	numbers += fpt_is_number(fpt_page_geom(l, page));
	return true;
}

/*
 * Fill "page", which has the model's first n entries, from the next one, which
 * has m: what one has lost the other one has got, and fences meet.
 */
static bool
slide_part(const KTWorld *w, char *page, char *right, int n, int m)
{
	static char before[BLCKSZ];
	static char other[BLCKSZ];
	const FPTLayout *l = &w->l;
	int			fill = fpt_page_thousandths(l, page);
	int			most = fill + (int) kt_below(Max(1, 1001 - fill));
	FPTKey		fence;
	FPTResult	res;
	int			now;

	memcpy(before, page, BLCKSZ);
	memcpy(other, right, BLCKSZ);
	res = fpt_page_slide(l, page, right, most, 0, &work);
	CHECK(res == FPT_OK || res == FPT_FULL);
	if (res != FPT_OK)
		return false;
	CHECK(fpt_header(page)->left == fpt_header(before)->left);
	CHECK(fpt_header(page)->right == fpt_header(before)->right);
	CHECK(fpt_header(right)->left == fpt_header(other)->left);
	CHECK(fpt_header(right)->right == fpt_header(other)->right);
	now = fpt_page_count(l, page);
	CHECK(now > n && now < n + m);
	check_entries(l, page, model, now);
	fpt_special(right)->pageno = PAGENO;	/* which kt_sound() expects */
	check_entries(l, right, model + now, n + m - now);
	fpt_special(right)->pageno = PAGENO + 1;
	fence = fpt_page_low(l, before);
	CHECK(fpt_page_begins_at(l, page, &fence));
	fence = fpt_page_high(l, other);
	CHECK(fpt_page_ends_at(l, right, &fence));
	CHECK(fpt_page_ends_at(l, page, &work.sep.key));
	CHECK(fpt_page_begins_at(l, right, &work.sep.key));
	CHECK(fpt_key_cmp(l, &model[now - 1].key, &work.sep.key) < 0);
	CHECK(fpt_key_cmp(l, &work.sep.key, &model[now].key) <= 0);
	CHECK(fpt_page_thousandths(l, page) <= most);
	slid++;
	filled += fpt_page_thousandths(l, page) >= most - 50;
	return true;
}

/*
 * A random leaf's entries, cut into several pages, which are joined again, from
 * left to right; or the first one is filled from the second.
 */
static void
join_run(KTWorld *w, bool slide)
{
	static char page[BLCKSZ];
	static char right[BLCKSZ];
	const FPTLayout *l = &w->l;
	int			parts = 2 + (int) kt_below(PARTS - 1);
	int			gonepct = 50 + (int) kt_below(50);
	FPTKeyBuf	sep;
	FPTKey		low = w->low;
	int			from = 0;
	int			n = 0;

	kt_model_entries(w, all);
	for (int i = 1; i <= parts && from < w->n; i++)
	{
		int			to = i == parts ? w->n : w->n * i / parts;
		FPTKey		high = w->high;
		int			m;

		if (to <= from)
			return;
		if (to < w->n)
		{
			if (!fpt_key_whole(l, &all[to].key, &sep))
				return;
			high = sep.key;
		}
		m = make_part(w, i == 1 ? page : right, i == 1 ? PAGENO : PAGENO + 1,
					  &low, &high, all + from, to - from, gonepct, n);
		if (m == 0)
			return;
		if (i > 1 && (slide ? !slide_part(w, page, right, n, m) || m > 0 :
					  !join_part(w, page, right, n, m)))
			return;
		n += m;
		low = all[to < w->n ? to : 0].key;
		from = to;
	}
}

/* The same of random leaves of all kinds. */
static void
join_worlds(bool slide)
{
	KTWorld    *w = kt_world_new();

	for (int i = 0; i < 3000; i++)
	{
		kt_world_init(w);
		if (w->level > 0)
			continue;
		w->l.nonumbers = kt_chance(30);
		kt_world_fill(w, 10 + (int) kt_below(90));
		join_run(w, slide);
	}
	kt_world_free(w);
}

static void
test_join_runs(void)
{
	joined = added = numbers = 0;
	join_worlds(false);
	CHECK(joined > 500);
	CHECK(added > 50);
	CHECK(joined - added > 50);
	CHECK(BLCKSZ < 4096 || numbers > 0);
}

static void
test_slide_runs(void)
{
	slid = filled = 0;
	join_worlds(true);
	CHECK(slid > 300);
	CHECK(filled > 50);
}

/* A page as full as it may be gets no more, and one of a single entry does. */
static void
test_join_full(void)
{
	static char page[BLCKSZ];
	static char right[BLCKSZ];
	FPTLayout	l;
	FPTKey		low = kt_key(FPT_CLS_VALUE, 0, 1000, 0);
	FPTKey		sep = kt_key(FPT_CLS_VALUE, 0, 5000000, 0);
	FPTKey		high = kt_key(FPT_CLS_VALUE, 0, 9000000, 0);
	FPTPageSpec spec = {.pageno = PAGENO, .low = &low, .high = &sep};
	FPTPageSpec next = {.pageno = PAGENO + 1, .low = &sep, .high = &high};
	int			n = 0;

	kt_layout(&l, 8, false, false);
	for (int i = 0; i < FPT_MAX_ENTRIES; i++)
	{
		all[i].key = kt_key(FPT_CLS_VALUE, 0, 1000 + i * 101,
							(uint64) kt_below(1 << 20) << 16 | (1 + i % 100));
		if (fpt_page_form(&l, page, &spec, all, i + 1, 100) != FPT_OK)
			break;
		n = i + 1;
	}
	CHECK(n > 40);
	all[n].key = kt_key(FPT_CLS_VALUE, 0, 6000000, 7 << 16 | 1);
	CHECK(fpt_page_form(&l, right, &next, all + n, 1, 90) == FPT_OK);
	CHECK(fpt_page_form(&l, page, &spec, all, n, 100) == FPT_OK);
	CHECK(fpt_page_join(&l, page, right, 1000, 0, &work) == FPT_FULL);
	CHECK(fpt_page_form(&l, page, &spec, all, 1, 100) == FPT_OK);
	CHECK(fpt_page_join(&l, page, right, 1000, 0, &work) == FPT_OK);
	CHECK(fpt_page_count(&l, page) == 2);

	/* a page that has lost all */
	CHECK(fpt_page_form(&l, page, &spec, all, 0, 100) == FPT_OK);
	CHECK(fpt_page_join(&l, page, right, 1000, 0, &work) == FPT_OK);
	CHECK(fpt_page_count(&l, page) == 1);

	/* "most" is a bound */
	CHECK(fpt_page_form(&l, page, &spec, all, n / 2, 100) == FPT_OK);
	CHECK(fpt_page_join(&l, page, right, 300, 0, &work) == FPT_FULL);
}

/*
 * Two half-empty pages whose TIDs take 4 bytes make one if the table is such
 * that 3 bytes do, and a bit that the keys lend.
 */
static void
test_join_reach(void)
{
	static char page[BLCKSZ];
	static char right[BLCKSZ];
	FPTLayout	l;
	FPTKey		low = kt_key(FPT_CLS_VALUE, 0, 0, 0);
	FPTKey		sep = kt_key(FPT_CLS_VALUE, 0, UINT64CONST(1) << 51, 0);
	FPTKey		high = kt_key(FPT_CLS_VALUE, 0, UINT64CONST(1) << 52, 0);
	FPTPageSpec spec = {.pageno = PAGENO, .low = &low, .high = &sep,
	.reach = 1 << 24, .rowbits = 8};
	FPTPageSpec next = {.pageno = PAGENO + 1, .low = &sep, .high = &high,
	.reach = 1 << 24, .rowbits = 8};
	int			n;

	kt_layout(&l, 8, false, false);
	n = (int) (BLCKSZ - 3 * FPT_LINE) * 88 / 100 / 10 / 2;
	for (int i = 0; i < 2 * n; i++)
		all[i].key = kt_key(FPT_CLS_VALUE, 0, (i < n ? 0 : sep.lo) +
							sep.lo / n * (i % n) + 7,
							(uint64) kt_below(54000) << 16 | (1 + i % 185));
	for (int reach = 0; reach < 2; reach++)
	{
		CHECK(fpt_page_form(&l, page, &spec, all, n, 90) == FPT_OK);
		CHECK(fpt_page_form(&l, right, &next, all + n, n, 90) == FPT_OK);
		CHECK(fpt_page_geom(&l, page)->tw == 4);
		CHECK(fpt_page_join(&l, page, right, 940, reach ? 108000 : 1 << 24,
							&work) == (reach ? FPT_OK : FPT_FULL));
	}
	CHECK(fpt_page_geom(&l, page)->tw == 3);
}

void
test_join(void)
{
	kt_run("join: runs of pages", test_join_runs);
	kt_run("join: a page filled from the next", test_slide_runs);
	kt_run("join: full and empty pages", test_join_full);
	if (BLCKSZ == 8192)
		kt_run("join: where the table's rows are", test_join_reach);
}
