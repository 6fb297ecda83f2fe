/*-------------------------------------------------------------------------
 *
 * ktest.h
 *	  What the page kernel's tests share: a tiny harness, a random number
 *	  generator, and random pages with a model of what they hold.
 *
 *-------------------------------------------------------------------------
 */
#ifndef KTEST_H
#define KTEST_H

#include <stdio.h>
#include <stdlib.h>

#include "page/check.h"
#include "page/coding.h"
#include "page/copy.h"
#include "page/dict.h"
#include "page/encoding.h"
#include "page/fill.h"
#include "page/form.h"
#include "page/geom.h"
#include "page/hints.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/node.h"
#include "page/order.h"
#include "page/prefix.h"
#include "page/remove.h"
#include "page/room.h"
#include "page/rows.h"
#include "page/shift.h"
#include "page/simd.h"
#include "page/slots.h"
#include "page/tuple.h"
#include "page/widths.h"

/* --- harness (kernel_test.c) -------------------------------------------- */

extern long kt_failures;		/* checks that failed so far */

extern void kt_fail(const char *expr, const char *file, int line);

/* Run one test; it passes if no check fails in it. */
extern void kt_run(const char *name, void (*fn) (void));
extern void kt_count_test(bool ok);

#define CHECK(c) \
	do { if (unlikely(!(c))) kt_fail(#c, __FILE__, __LINE__); } while (0)

/* Cost model of goal G, in ns: what layout measurements gave (goal.c). */
#define GOAL_T1				100.0
#define GOAL_TNEXT			8.0

extern void test_goal_table(void);

/* Memory for the kernel to work in (ktest_page.c). */
extern FPTWork kt_work;

/* --- random numbers (ktest_page.c) -------------------------------------- */

extern void kt_seed(uint64 seed);
extern uint64 kt_random(void);

/* 0 .. n - 1 */
static inline uint64
kt_below(uint64 n)
{
	return kt_random() % n;
}

static inline bool
kt_chance(int percent)
{
	return kt_below(100) < (uint64) percent;
}

/* --- model and random pages (ktest_page.c) ------------------------------ */

typedef unsigned __int128 kt_u128;

typedef struct KTEntry
{
	FPTEntry	e;
	bool		dead;			/* its hint is set */
} KTEntry;

/* How a world's keys and TIDs are distributed. */
typedef enum KTDist
{
	KT_WIDE,					/* all that the page can represent */
	KT_DENSE,					/* few values, many duplicates */
	KT_ASCENDING,
	KT_EDGE,					/* ends of the range */
	KT_PARTS,					/* few values of each of two bytes */
	KT_NDISTS
} KTDist;

/* One page, what it should hold, and where entries come from. */
typedef struct KTWorld
{
	FPTLayout	l;
	char	   *page;			/* BLCKSZ bytes of their own */
	uint32		pageno;
	int			level;
	KTDist		dist;
	kt_u128		base;			/* of generated keys */
	kt_u128		span;			/* largest offset generated */
	kt_u128		next;			/* KT_ASCENDING */
	int			nullpct;
	bool		near;			/* the page was made with FPT_ENC_NEAR */
	int			fixed;			/* ... with FPT_ENC_FIXED, of most entries,
								 * which base and span are without; or -1 */
	int			kind;			/* FPT_KIND_* without that, and what ... */
	int			lent;			/* ... with FPT_ENC_LENT, so many bits, or 0 */
	uint32		tidbase;		/* ... TIDs are relative to */
	int			rowbits;		/* short TIDs: bits of a row's offset; */
	uint64		row;			/* FPT_KIND_LEAF1: where rows begin, and */
	uint64		rows;			/* ... how many there are, more or less; of */
	int			jitter;			/* ... neighbours, so many apart; and */
	int			farpct;			/* ... of 100, how many are anywhere else */
	int			tries;			/* ... at filling the page */
	bool		general;		/* general keys, in ... */
	int			tupmin;			/* ... tuples of so many bytes */
	int			tupmax;
	bool		dict;			/* ... of nkeys kinds: pages with dictionaries */
	int			nkeys;
	int			unlikepct;		/* of those that equal another but are not alike */
	char		prefix[FPT_MAX_PREFIX]; /* what most keys begin with, if */
	int			nprefix;		/* the layout knows prefixes; its bytes or 0 */
	FPTKey		low;
	FPTKey		high;
	KTEntry		m[FPT_MAX_ENTRIES + 1];
	int			n;
} KTWorld;

extern KTWorld *kt_world_new(void);
extern void kt_world_free(KTWorld *w);

/* Make a new random world with an empty page. */
extern void kt_world_init(KTWorld *w);

/* The same but for the layout, which is given: another page of its index. */
extern void kt_world_init_page(KTWorld *w);

/* Fill the page with about pct percent of its capacity. */
extern void kt_world_fill(KTWorld *w, int pct);

/* A random entry that lies between the fences. */
extern FPTEntry kt_random_entry(KTWorld *w);

/* A random search key: an entry's, near one, or anything. */
extern FPTKey kt_random_key(KTWorld *w);

/* First index of the model whose key is >= key. */
extern int	kt_model_lower_bound(KTWorld *w, const FPTKey *key);
extern void kt_model_insert(KTWorld *w, const FPTEntry *e);
extern void kt_model_delete(KTWorld *w, int i);

/* Index of a place, or -1; and place of an index (n: behind the end). */
extern int	kt_loc_index(KTWorld *w, FPTLoc loc);
extern FPTLoc kt_index_loc(KTWorld *w, int i);

/* Entries of the model, dead flags left out. */
extern void kt_model_entries(KTWorld *w, FPTEntry *out);

/* A layout with goal G's widths, or with random ones. */
extern void kt_layout(FPTLayout *l, int keysize, bool nullsfirst,
					  bool randomwidths);

/* The same for general keys: tuples are compared as strings of bytes. */
extern void kt_layout_general(FPTLayout *l, bool nullsfirst,
							  bool randomwidths);

/*
 * The same layout for keys that are strings, the first 8 bytes of which, or as
 * many as there are, are the head: pages may have prefixes.
 */
extern void kt_layout_strings(FPTLayout *l);

/* A string as such a key: head and tuple, the bytes of which are kept. */
extern void kt_string_key(FPTKey *key, const char *s, int n);

/*
 * Set what a place knows: the slots of its kid that hold the first "rank"
 * entries, by comparing all of these with each other; only for nodes without a
 * permutation.
 */
extern void kt_slots_before(KTWorld *w, FPTLoc *loc);

/* Base of a world's pages. */
static inline kt_u128
kt_page_base(const KTWorld *w)
{
	return w->dict ? 0 : w->base;
}

/* Page 5, as most tests make it: does the check find nothing? */
extern bool kt_sound(const FPTLayout *l, void *page);

/* The page is sound, and has these entries, each of which is found. */
extern void kt_check_all(const FPTLayout *l, void *page, const FPTEntry *e,
						 int n);

/* Insert, making room if that is needed; what made no room is the result. */
extern FPTResult kt_insert(const FPTLayout *l, void *page, const FPTEntry *e);

/* Only look: FPT_OK if fpt_page_insert() would succeed. */
static inline FPTResult
kt_insert_probe(const FPTLayout *l, void *page, const FPTEntry *e)
{
	FPTPlace	place;
	FPTLocal	local;

	return fpt_page_insert_find(l, page, &e, &local, &place);
}

/* Remove these slots of a sound kid's node, as VACUUM does. */
static inline FPTResult
kt_delete_slots(const FPTLayout *l, void *page, int kid, uint64 slots)
{
	uint64		gone[FPT_MAX_NODES] = {0};
	FPTChanges	changed;

	gone[fpt_kid(fpt_page_open(l, page), kid)] = slots;
	return fpt_page_take(l, page, gone, &changed);
}

/* The page has exactly the model's entries and (exact) hints, and is sound. */
extern void kt_verify(KTWorld *w, bool exact_hints);

/* The geometry in use. */
static inline const FPTGeom *
kt_geom(KTWorld *w)
{
	return fpt_page_geom(&w->l, w->page);
}

static inline FPTKey
kt_key(uint32 cls, uint64 hi, uint64 lo, uint64 tid)
{
	FPTKey		k = {0};

	k.hi = hi;
	k.lo = lo;
	k.tid = tid;
	k.cls = cls;
	return k;
}

static inline kt_u128
kt_value(const FPTKey *k)
{
	return ((kt_u128) k->hi << 64) | k->lo;
}

/* FPTPageHeader.enc of pages of images: key width, kind without its prefix */
#define ENC(kw, kind)	fpt_enc((kw) - 1, FPT_KIND_##kind)

/*
 * Blocks that TIDs of less than 6 bytes tell, of rows with so many bits for an
 * offset: those of a far one, which has 8, too.
 */
static inline uint64
kt_blocks(const FPTGeom *g, int rowbits)
{
	return UINT64CONST(1) << (g->tw == 3 ? 24 - rowbits : 24);
}

/*
 * Can this TID be stored in a page of this geometry and base?  Where TIDs are
 * relative to nodes, as a far one.
 */
static inline bool
kt_tid_fits(const FPTGeom *g, int rowbits, int lent, uint32 tidbase,
			uint64 tid)
{
	uint64		block = tid >> 16;
	uint64		offset = tid & 0xFFFF;

	if (g->tw == 6)
		return true;
	return offset < (g->tw == 3 ? 1u << rowbits : 256) && block >= tidbase &&
		(block - tidbase) >> lent < kt_blocks(g, rowbits);
}

/* --- tests -------------------------------------------------------------- */

extern void test_simd(void);
extern void test_geom(void);
extern void test_page(void);
extern void test_near(void);
extern void test_number_pages(void);
extern void test_join(void);
extern void test_fixed(void);
extern void test_lent(void);
extern void test_rows(void);
extern void test_corrupt(void);
extern void test_random(long ops, uint64 seed);
extern void test_fuzz(long rounds, uint64 seed);

/* Call every function of the kernel on a page that may hold anything. */
extern void kt_call_everything(KTWorld *w);

#endif							/* KTEST_H */
