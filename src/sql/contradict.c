/*-------------------------------------------------------------------------
 *
 * sql/contradict.c
 *	  Verification: is it the operator class that contradicts itself?
 *
 * An order in which p comes before q, and s not after p, has s before q.  So a
 * key s proves that there is no such order if it is not after p, and not before
 * q.  Any two neighbours of a page will do as p and q: where comparisons of s
 * with all entries do not change from "after" to "before" once, there are two
 * neighbours that they contradict.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "key/tid.h"
#include "page/check.h"
#include "page/copy.h"
#include "page/kernel.h"
#include "sql/contradict.h"
#include "store/buf.h"
#include "store/place.h"

/* Places at which a page is out of order that are looked into. */
#define FPT_CONTRADICT_PLACES	16

/* Entries of other pages that a key is compared with, in a large index. */
#define FPT_CONTRADICT_MAX	1000000

/* The fences of a page come before and after its entries. */
#define FPT_MAX_ORDERED		(FPT_MAX_ENTRIES + 2)

/*
 * A page's keys as they should ascend: low fence, entries, high fence.  Their
 * tuples are in the page.
 */
typedef struct FPTOrdered
{
	Relation	rel;
	const FPTLayout *l;
	uint32		pageno;
	int			n;
	FPTKey		keys[FPT_MAX_ORDERED];
	uint32		down[FPT_MAX_ORDERED];	/* children, of an inner page */
} FPTOrdered;

/* Take a page's keys; false: it makes no sense. */
static bool
fpt_ordered_read(FPTOrdered *o, void *page, uint32 pageno)
{
	FPTEntry   *entries;
	FPTFault	fault;
	bool		inner;
	int			n;

	if (fpt_page_check_form(o->l, page, pageno, &fault) != NULL)
		return false;
	entries = palloc(FPT_MAX_ENTRIES * sizeof(FPTEntry));
	n = fpt_page_extract(o->l, page, entries, FPT_MAX_ENTRIES);
	inner = fpt_header(page)->level > 0;
	o->pageno = pageno;
	o->n = 0;
	/* The first separator of a page stands for its low fence. */
	o->down[0] = inner && n > 0 ? entries[0].down : FPT_NOPAGE;
	o->keys[o->n++] = fpt_page_low(o->l, page);
	for (int i = inner ? 1 : 0; i < n; i++)
	{
		o->down[o->n] = inner ? entries[i].down : FPT_NOPAGE;
		o->keys[o->n++] = entries[i].key;
	}
	o->keys[o->n++] = fpt_page_high(o->l, page);
	Assert(o->n <= FPT_MAX_ORDERED);
	pfree(entries);
	return n >= 0;
}

/* The name of the page's i-th key. */
static const char *
fpt_ordered_name(const FPTOrdered *o, int i)
{
	Assert(i >= 0 && i < o->n);
	if (i == 0)
		return psprintf("the low fence of page %u", o->pageno);
	if (i == o->n - 1)
		return psprintf("the high fence of page %u", o->pageno);
	/* as fptree_page_items() counts: an inner page's first one is its fence */
	return psprintf("entry %d of page %u",
					o->down[0] != FPT_NOPAGE ? i + 1 : i, o->pageno);
}

/* Raise the error that comparisons are to blame for. */
static void __attribute__((noreturn))
fpt_contradict(Relation rel, const char *how)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("comparisons of keys of index \"%s\" contradict each other",
					RelationGetRelationName(rel)),
			 errdetail("By the operator class or the collation, %s.", how),
			 errhint("No order of these values is right, so REINDEX does not help.  Have no index on them, or use another operator class or collation.")));
}

/*
 * Do comparisons of a key with itself, and with each two neighbours of a page,
 * contradict each other?  Raises an error if so.  The key may be one of the
 * page's.
 */
static void
fpt_contradict_key(const FPTOrdered *o, const FPTKey *s, const char *name)
{
	const FPTKey *before = NULL;	/* the last one that s was compared with */
	int			last = 0;

	if (fpt_key_cmp(o->l, s, s) != 0)
		fpt_contradict(o->rel, psprintf("%s is not equal to itself", name));
	for (const FPTKey *key = o->keys; key < o->keys + o->n; key++)
	{
		int			i = key - o->keys;
		int			c;

		CHECK_FOR_INTERRUPTS();
		if (key == s)
			continue;
		c = fpt_key_cmp(o->l, s, key);
		if ((c > 0) != (fpt_key_cmp(o->l, key, s) < 0))
			fpt_contradict(o->rel,
						   psprintf("%s is %s %s, which is %s the former",
									name, c > 0 ? "after" : "not after",
									fpt_ordered_name(o, i),
									c > 0 ? "not before" : "before"));
		/* s <= p < q <= s */
		if (before != NULL && last <= 0 && c >= 0 &&
			fpt_key_cmp(o->l, before, key) < 0)
			fpt_contradict(o->rel,
						   psprintf("%s is before %s, which is not after %s, which is not after the first",
									fpt_ordered_name(o, before - o->keys),
									fpt_ordered_name(o, i), name));
		before = key;
		last = c;
	}
}

/* Read a page of the index; false: it makes no sense. */
static bool
fpt_ordered_copy(FPTOrdered *o, FPTIndex *ix, uint32 pageno, char *page)
{
	if (!fpt_page_exists(o->rel, &ix->map, pageno))
		return false;
	fpt_copy_page(o->rel, &ix->map, pageno, NULL, page);
	return fpt_page_sane(o->l, page, pageno) &&
		fpt_ordered_read(o, page, pageno);
}

/* The first leaf; FPT_NOPAGE: there is damage. */
static uint32
fpt_ordered_leftmost(FPTOrdered *o, FPTIndex *ix, char *page)
{
	uint32		pageno = ix->root;

	/* No tree is higher. */
	for (int i = 0; i <= FPT_MAX_LEVEL; i++)
	{
		if (!fpt_ordered_copy(o, ix, pageno, page))
			break;
		if (fpt_header(page)->level == 0)
			return pageno;
		pageno = o->down[0];
	}
	return FPT_NOPAGE;
}

/*
 * The same as fpt_contradict_key() with the fences of all leaves: a leaf has
 * two neighbours.  A search from the root compares a key with some of them: if
 * it misses the key's place, two of them prove it.  And with entries, up to
 * FPT_CONTRADICT_MAX.
 */
static void
fpt_contradict_leaves(FPTOrdered *o, FPTIndex *ix, const FPTKey *s,
					  const char *name)
{
	char	   *page = palloc(BLCKSZ);
	uint32		pageno = fpt_ordered_leftmost(o, ix, page);
	uint32		pages = fpt_npages(o->rel, &ix->map);
	int			n = 0;

	for (uint32 i = 0; i < pages && pageno != FPT_NOPAGE; i++)
	{
		FPTKey	   *low = &o->keys[0];
		FPTKey	   *high;

		CHECK_FOR_INTERRUPTS();
		if (!fpt_ordered_copy(o, ix, pageno, page))
			break;
		high = &o->keys[o->n - 1];
		if (fpt_key_cmp(o->l, s, low) <= 0 &&
			fpt_key_cmp(o->l, s, high) >= 0 &&
			fpt_key_cmp(o->l, low, high) < 0)
			fpt_contradict(o->rel,
						   psprintf("the low fence of page %u is before its high fence, which is not after %s, which is not after the first",
									pageno, name));
		if (n < FPT_CONTRADICT_MAX)
			fpt_contradict_key(o, s, name);
		n = Min(n + o->n, FPT_CONTRADICT_MAX);
		pageno = fpt_header(page)->right;
	}
	pfree(page);
}

/* An FPTOrdered in the current context; NULL: keys are images. */
static FPTOrdered *
fpt_ordered_begin(Relation rel, const FPTLayout *l)
{
	FPTOrdered *o;

	if (!fpt_is_general(l))
		return NULL;
	o = palloc0(sizeof(FPTOrdered));
	o->rel = rel;
	o->l = l;
	return o;
}

void
fpt_contradict_page(Relation rel, FPTIndex *ix, void *page, uint32 pageno)
{
	FPTOrdered *o = fpt_ordered_begin(rel, &ix->layout);
	int			first = 0;
	int			wrong = 0;
	const char *names[2];
	FPTKey		keys[2];

	if (o == NULL || !fpt_ordered_read(o, page, pageno))
		return;
	for (int i = 0; i < o->n && wrong < FPT_CONTRADICT_PLACES; i++)
	{
		/* The last fence is a neighbour of the first. */
		int			next = i < o->n - 1 ? i + 1 : 0;

		if (fpt_key_cmp(o->l, &o->keys[Min(i, next)],
						&o->keys[Max(i, next)]) < 0)
			continue;
		fpt_contradict_key(o, &o->keys[i], fpt_ordered_name(o, i));
		fpt_contradict_key(o, &o->keys[next], fpt_ordered_name(o, next));
		if (wrong++ == 0)
			first = i;
	}
	for (int k = 0; k < 2; k++)
	{
		int			i = (first + k) % o->n;

		keys[k] = o->keys[i];
		names[k] = fpt_ordered_name(o, i);
	}
	for (int k = 0; k < 2; k++)
		fpt_contradict_leaves(o, ix, &keys[k], names[k]);
}

void
fpt_contradict_search(Relation rel, FPTIndex *ix, const FPTKey *key,
					  void *leaf, uint32 pageno)
{
	FPTOrdered *o = fpt_ordered_begin(rel, &ix->layout);
	const char *name;

	if (o == NULL)
		return;
	name = psprintf("the entry of heap TID (%u,%u)",
					FPT_TID_FORMAT_ARGS(key->tid));
	if (fpt_ordered_read(o, leaf, pageno))
		fpt_contradict_key(o, key, name);
	fpt_contradict_leaves(o, ix, key, name);
}
