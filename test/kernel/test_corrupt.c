/*-------------------------------------------------------------------------
 *
 * test_corrupt.c
 *	  Damaged pages: fpt_page_check() names every kind of damage, and every
 *	  function reports what it stumbles over.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"
#include "page/join.h"

#define NENTRIES	20			/* on each page, in several nodes */

static char *page;
static FPTLayout l8;			/* NULLS LAST */
static FPTLayout l4;
static FPTLayout l16;
static const FPTGeom *g;
static FPTEntry e[NENTRIES + 1];
static uint64 all_slots[FPT_MAX_NODES];
static uint64 tids[FPT_MAX_ENTRIES];
static FPTChanges changed;
static const FPTKey minf = {.cls = FPT_CLS_MINF};
static const FPTKey pinf = {.cls = FPT_CLS_PINF};
static const FPTPageSpec leaf = {.pageno = 5, .low = &minf, .high = &pinf,
.rowbits = 8};
static const FPTKey base500 = {.lo = 500, .cls = FPT_CLS_VALUE};
static const FPTKey zero = {.cls = FPT_CLS_VALUE};

/*
 * A sound page: values 1000, 1010, ... with TIDs 1, 2, ..., the last four
 * entries are NULLs; base 500.  Four or more nodes, one of them for NULLs.
 */
static void
sound_page(const FPTLayout *l, int level)
{
	for (int i = 0; i < NENTRIES; i++)
	{
		e[i].key = kt_key(FPT_CLS_VALUE, 0, 1000 + 10 * i, 1 + i);
		if (i >= NENTRIES - 4)
			e[i].key = kt_key(FPT_CLS_NULLLAST, 0, 0, 1 + i);
		e[i].down = level > 0 ? 2 + i : 0;
	}
	fpt_page_init(l, page, &(FPTPageSpec) {level, 5, &minf, &pinf},
				  level > 0 ? ENC(4, INNER) : ENC(4, LEAF6), &base500, 0);
	memset(all_slots, 0xFF, sizeof(all_slots));
	g = fpt_page_geom(l, page);
	CHECK(fpt_page_fill(l, page, e, NENTRIES, 600 / g->cap) == FPT_OK);
	CHECK(fpt_header(page)->nkids >= 3);
	CHECK(fpt_page_check(l, page, 5, NULL) == NULL);
}

static FPTPageHeader *
header(void)
{
	return fpt_header(page);
}

static FPTPageSpecial *
special(void)
{
	return fpt_special(page);
}

static uint8 *
kids(void)
{
	return (uint8 *) page + g->kids_off;
}

static char *
node(int kid)
{
	FPTPage		pg = {.g = g, .p = page};

	return fpt_kid_node(pg, kid);
}

static FPTPage
open_page(void)
{
	return (FPTPage) {.l = &l8, .g = g, .p = page};
}

/* Bits of the slots in use, of a node that has them. */
static uint64 *
used(int kid)
{
	CHECK(g->perm);
	return &((FPTNode *) node(kid))->used;
}

/* Of a node's slots, keep only these in use. */
static void
keep_slots(int kid, uint64 slots)
{
	fpt_slots_free(g, node(kid), fpt_node_used(g, node(kid)) & ~slots);
}

static uint8 *
perm(int kid)
{
	return fpt_node_perm(g, node(kid));
}

static void
set_key(int kid, int slot, uint64 offset)
{
	fpt_slot_set_rel(g, node(kid), 0, slot, 0, offset);
}

static void
set_separator(int kid, uint64 offset)
{
	fpt_sep_set(open_page(), kid, 0, offset);
}

/* --- the full check ----------------------------------------------------- */

static void
expect_on(const FPTLayout *l, const char *message)
{
	FPTFault	fault;
	const char *msg = fpt_page_check(l, page, 5, &fault);

	CHECK(msg == NULL || (fault.what == msg && fault.field != NULL));
	if (msg == NULL || strcmp(msg, message) != 0)
	{
		printf("expected: %s, got: %s\n", message, msg ? msg : "nothing");
		CHECK(!"message of page check");
	}
}

/* After a change: this is wrong.  Then start over with a sound leaf. */
static void
expect(const char *message)
{
	expect_on(&l8, message);
	sound_page(&l8, 0);
}

/* The same, and this field is said to have this value. */
static void
expect_field(const char *message, const char *field, uint64 value)
{
	FPTFault	fault;

	CHECK(fpt_page_check(&l8, page, 5, &fault) != NULL);
	if (strcmp(fault.field, field) != 0 || fault.value != value)
	{
		printf("expected: %s, got: %s\n", field, fault.field);
		CHECK(!"field of page check");
	}
	expect(message);
}

static void
test_check_identity(void)
{
	const char *msg = "page header or identity is not valid";
	const char *enc = "page's encoding or counts are not valid";

	sound_page(&l8, 0);
	header()->std.pd_special--;
	expect_field(msg, "pd_special", header()->std.pd_special);
	header()->std.pd_upper--;
	expect_field(enc, "pd_upper", header()->std.pd_upper);
	header()->std.pd_lower++;
	expect_field(enc, "pd_lower", header()->std.pd_lower);
	special()->pageid++;
	expect_field(msg, "page id", special()->pageid);
	special()->version++;
	expect_field(msg, "format version", special()->version);
	special()->pageno++;
	expect_field(msg, "page number", 6);
	special()->indexid++;
	expect_field(msg, "index id", special()->indexid);
	header()->flags |= FPT_F_ALL + 1;
	expect_field(msg, "flags", FPT_F_ALL + 1);
	header()->flags |= FPT_F_META;
	expect_field(msg, "flags", FPT_F_META);
	header()->level = FPT_MAX_LEVEL + 1;
	expect_field(msg, "level", FPT_MAX_LEVEL + 1);
	header()->enc |= 0x80;		/* kinds that there are not */
	expect_field(enc, "encoding", header()->enc);
	header()->enc = (uint8) fpt_enc(0, FPT_KIND_NEAR);
	expect_field(enc, "encoding", header()->enc);
	for (int low = 8; low < 16; low++)	/* wider than the key size */
	{
		header()->enc = (uint8) low;
		expect_field(enc, "encoding", low);
	}
	for (int kind = 0; kind < FPT_KIND_LEAF6; kind++)
	{
		/* inner pages have TIDs of 6 bytes */
		header()->level = 1;
		header()->enc = (uint8) fpt_enc(3, kind);
		expect_field(enc, "encoding", header()->enc);
		header()->level = 1;
		header()->enc = (uint8) fpt_enc(3, FPT_KIND_NEAR + kind);
		expect_field(enc, "encoding", header()->enc);
	}
	special()->tidbase = FPT_MAX_TIDBASE + 1u;
	expect_field(msg, "block of TIDs", FPT_MAX_TIDBASE + 1u);
	special()->tidbase = 0xFFFFFFFF;
	expect_field(msg, "block of TIDs", 0xFFFFFFFF);
	header()->nnodes = 255;
	expect_field(enc, "encoding", header()->enc);
	header()->nkids = header()->nnodes + 1;
	expect_field(enc, "number of nodes in use", header()->nkids);
	header()->nnull = header()->nkids + 1;
	expect_field(enc, "number of NULL nodes", header()->nnull);
}

static void
test_check_header(void)
{
	sound_page(&l8, 0);
	header()->ndict = 1;
	expect("reserved bytes of the page header are not zero");
	special()->bits = 1;
	expect("reserved bytes of the page header are not zero");
	special()->reserved = 1;
	expect("reserved bytes of the page header are not zero");
	header()->high.tidcls |= (uint64) 1 << 48;
	expect("high fence is not valid");
	header()->high.tidcls = (uint64) 9 << 56;
	expect("high fence is not valid");
	/* minus infinity, and above the low fence's by its TID */
	header()->high.tidcls = (uint64) FPT_CLS_MINF << 56 | 1;
	header()->right = 9;
	expect("high fence is not valid");
	header()->high.lo = 1;
	expect("high fence is not valid");
	header()->high.tidcls = (uint64) FPT_CLS_VALUE << 56;
	header()->high.hi = 1;
	expect("high fence is not valid");
	special()->low.hi = 1;
	expect("low fence is not valid");
	special()->base_hi = 1;
	expect("key base is not valid");
	special()->low = header()->high;
	expect("low fence is not below the high fence");
	header()->right = 9;
	expect("high fence and right link disagree about being rightmost");
	header()->left = 9;
	expect("low fence and left link disagree about being leftmost");
	header()->flags |= FPT_F_DELETED;
	expect("deleted page has entries");
	header()->flags |= FPT_F_DELETED;
	header()->nkids = header()->nnull = 0;
	CHECK(fpt_page_check(&l8, page, 5, NULL) == NULL);
	sound_page(&l8, 1);
	header()->nkids = header()->nnull = 0;
	header()->flags |= FPT_F_DELETED;
	CHECK(fpt_page_check(&l8, page, 5, NULL) == NULL);
	sound_page(&l8, 1);
	header()->nkids = header()->nnull = 0;
	expect("inner page has no entries");

	/* 4-byte keys */
	sound_page(&l4, 0);
	special()->low.lo = (uint64) 1 << 32;
	special()->low.tidcls = (uint64) FPT_CLS_VALUE << 56;
	expect_on(&l4, "low fence is not valid");
	sound_page(&l4, 0);
	special()->base_lo = (uint64) 1 << 32;
	expect_on(&l4, "key base is not valid");
}

static void
test_check_nodes(void)
{
	sound_page(&l8, 0);
	kids()[1] = header()->nnodes;
	expect("in-page root points to a node that does not exist");
	kids()[1] = kids()[0];
	expect("in-page root points to a node twice");
	keep_slots(1, 0);
	expect("node in use is empty");
	set_key(header()->nkids - 1, 0, 3);
	expect("NULL entry has a key");
	set_separator(1, 0xFFFF);
	expect("separator is above its node's first entry");
	set_separator(1, 1);
	expect("separator is below the previous node's last entry");
	fpt_page_hint_set(&l8, page, g->cap - 1);
	expect("dead-entry hint for a slot that is not in use");
	CHECK(fpt_page_truncate(&l8, page, 0) == FPT_OK);
	fpt_page_hint_set(&l8, page, 0);
	expect("dead-entry hint for a slot that is not in use");

	/* a slot's entry once more: no order of a node can be right */
	memcpy(node(1) + g->key_off + g->sw, node(1) + g->key_off, g->sw);
	memcpy(node(1) + g->tid_off + g->pw, node(1) + g->tid_off, g->pw);
	expect("entries are out of order");
}

/* Nodes that have a bitmap and a permutation: those of inner pages. */
static void
test_check_perm(void)
{
	sound_page(&l8, 1);
	*used(1) |= g->capmask + 1;
	expect("node uses slots it does not have");
	sound_page(&l8, 1);
	*used(1) = 0;
	expect("node in use is empty");
	sound_page(&l8, 1);
	perm(1)[0] = g->cap;
	expect("node's order names a slot that is not in use");
	sound_page(&l8, 1);
	perm(1)[0] = g->cap - 1;
	expect("node's order names a slot that is not in use");
	sound_page(&l8, 1);
	perm(1)[1] = perm(1)[0];
	expect("node's order names a slot twice");
	sound_page(&l8, 1);
	perm(1)[0] = 1;
	perm(1)[1] = 0;
	expect("entries are out of order");
}

/* What a search would not find, as nodes of NULLs have no separators. */
static void
test_check_null_nodes(void)
{
	uint8		kid;

	for (int i = 0; i < NENTRIES; i++)
	{
		e[i].key = kt_key(FPT_CLS_NULLLAST, 0, 0, 1 + i);
		e[i].down = 0;
	}
	fpt_page_init(&l8, page, &leaf, ENC(4, LEAF1), &zero, 0);
	g = fpt_page_geom(&l8, page);
	CHECK(fpt_page_fill(&l8, page, e, NENTRIES, 600 / g->cap) == FPT_OK);
	CHECK(header()->nkids > 1 && header()->nnull == header()->nkids);
	CHECK(fpt_page_check(&l8, page, 5, NULL) == NULL);
	kid = kids()[0];
	kids()[0] = kids()[1];
	kids()[1] = kid;
	expect("entries are out of order");
}

/* A lost offset: the entry is gone, but its TID's block is still there. */
static void
test_check_free_slots(void)
{
	for (int kw = 1; kw <= 16; kw++)
	{
		for (int kind = 0; kind < FPT_KIND_INNER; kind++)
		{
			char	   *at;

			for (int i = 0; i < 6; i++)
			{
				e[i].key = kt_key(FPT_CLS_VALUE, 0, 7 + i, 0x50001);
				e[i].down = 0;
			}
			fpt_page_init(&l16, page, &leaf, fpt_enc(kw - 1, kind), &zero, 0);
			g = fpt_page_geom(&l16, page);
			CHECK(fpt_page_fill(&l16, page, e, 6, 100) == FPT_OK);
			at = node(0) + g->tid_off + g->pw;
			memset(at, 0, g->tw);
			CHECK(fpt_page_check(&l16, page, 5, NULL) == NULL);
			CHECK(fpt_page_count(&l16, page) == 5);
			if (fpt_has_far(g))
				continue;		/* a byte that is zero, or not */
			at[g->tw - 1] = 1;
			expect_on(&l16, "free slot has a block of a TID");
		}
	}
}

/* Entries that are in the page a second time, whatever is stored of them. */
static void
test_check_twice(void)
{
	for (int kw = 1; kw <= 16; kw++)
	{
		for (int kind = 0; kind < FPT_KIND_INNER; kind++)
		{
			int			n = 6;

			for (int i = 0; i < n; i++)
			{
				e[i].key = kt_key(FPT_CLS_VALUE, 0, 7 + i / 2, 1 + i);
				e[i].down = 0;
			}
			fpt_page_init(&l16, page, &leaf, fpt_enc(kw - 1, kind), &zero, 0);
			g = fpt_page_geom(&l16, page);
			CHECK(fpt_page_fill(&l16, page, e, n, 100) == FPT_OK);
			CHECK(fpt_page_check(&l16, page, 5, NULL) == NULL);
			if (fpt_node_count(&l16, page, 0) < 2)
				continue;
			CHECK(fpt_slot_tid((FPTPage) {&l16, g, page}, node(0), 1) == 2);
			fpt_slots_free(g, node(0), 2);
			fpt_slot_set_tid((FPTPage) {&l16, g, page}, node(0), 1, 1);
			expect_on(&l16, "entries are out of order");
		}
	}
}

static void
test_check_entries(void)
{
	sound_page(&l8, 0);
	fpt_page_set_low(&l8, page, &e[1].key, &kt_work);
	header()->left = 9;
	expect("entry is below the low fence");
	fpt_page_set_high(&l8, page, &e[NENTRIES - 1].key, &kt_work);
	header()->right = 9;
	expect("entry is not below the high fence");
	fpt_slot_set_tid(open_page(), node(0), 0, UINT64CONST(0xFFFFFFFF0001));
	expect("heap TID is not valid");

	/* the sum of base and offset overflows */
	sound_page(&l16, 0);
	special()->base_hi = ~(uint64) 0;
	special()->base_lo = ~(uint64) 0;
	expect_on(&l16, "key is beyond the largest one");
	sound_page(&l4, 0);
	special()->base_lo = 0xFFFFFFFF;
	expect_on(&l4, "key is wider than the key size");

	/* inner pages */
	sound_page(&l8, 1);
	fpt_page_set_low(&l8, page, &e[0].key, &kt_work);
	special()->low.lo--;
	header()->left = 9;
	expect("first separator differs from the low fence");
	sound_page(&l8, 1);
	fpt_slot_set_down(g, node(0), 1, FPT_METAPAGE);
	expect("downlink points to the metapage");
}

/* --- what functions report ---------------------------------------------- */

/* The header makes no sense: everybody notices. */
static void
test_bad_header(void)
{
	FPTLoc		loc = {0, 0};
	FPTLoc		last;
	FPTEntry	x;
	FPTEdit		edit = {0};
	FPTRun		run = {0};
	FPTKey		k;
	uint32		child;
	int			lower;

	sound_page(&l8, 1);
	header()->enc = 12;
	k = e[3].key;
	x = e[3];
	lower = header()->std.pd_lower;
	CHECK(fpt_page_geom(&l8, page) == NULL);
	CHECK(fpt_page_extract(&l8, page, e, NENTRIES) == -1);
	CHECK(fpt_page_count(&l8, page) == -1);
	CHECK(fpt_node_count(&l8, page, 0) == -1);
	CHECK(fpt_page_get(&l8, page, loc, &x) == FPT_CORRUPT);
	CHECK(fpt_page_lower_bound(&l8, page, &k, &loc) == FPT_CORRUPT);
	CHECK(fpt_page_range(&l8, page, &k, &k, &loc, &last) == FPT_CORRUPT);
	CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_CORRUPT);
	CHECK(!fpt_page_step(&l8, page, &loc, 1));
	CHECK(!fpt_page_step(&l8, page, &loc, -1));
	CHECK(fpt_page_copy(&l8, page, loc, loc, false, &run) == -1);
	CHECK(kt_insert_probe(&l8, page, &x) == FPT_CORRUPT);
	CHECK(fpt_page_insert(&l8, page, &x, &edit) == FPT_CORRUPT);
	CHECK(fpt_page_make_room(&l8, page, &x, &kt_work) == FPT_CORRUPT);
	CHECK(fpt_page_take(&l8, page, all_slots, &changed) == FPT_CORRUPT);
	CHECK(fpt_page_tids(&l8, page, tids, NULL) == -1);
	CHECK(fpt_page_marked(&l8, page, tids, 0, 4, all_slots) == -1);
	CHECK(fpt_page_delete(&l8, page, loc) == FPT_CORRUPT);
	CHECK(fpt_page_set_down(&l8, page, loc, 9) == FPT_CORRUPT);
	CHECK(fpt_page_truncate(&l8, page, 1) == FPT_CORRUPT);
	fpt_page_trim(&l8, page);
	CHECK(header()->std.pd_lower == lower);
	CHECK(!fpt_page_has_hints(&l8, page));
	CHECK(!fpt_page_hint_get(&l8, page, 0));
	CHECK(!fpt_page_slot_is(&l8, page, 0, 1));
}

/*
 * Node "kid" is damaged: every function that must look at it fails.  Its
 * entries are e[first] and later ones.
 */
static void
everybody_fails(int kid, int first)
{
	FPTLoc		loc;
	FPTLoc		at = {0, 0};
	FPTLoc		end = {0, 0};
	FPTLoc		last;
	FPTEntry	x = e[first];
	FPTRun		run = {0};
	FPTEntry	out[NENTRIES];
	static char copy[BLCKSZ];

	at.kid = kid;
	end.kid = header()->nkids;
	x.key.tid += 50;
	CHECK(fpt_page_extract(&l8, page, out, NENTRIES) == -1);
	CHECK(fpt_page_get(&l8, page, at, &x) == FPT_CORRUPT);
	CHECK(fpt_page_copy(&l8, page, at, end, false, &run) == -1);
	memcpy(copy, page, BLCKSZ);
	CHECK(fpt_page_take(&l8, copy, all_slots, &changed) == FPT_CORRUPT);
	CHECK(fpt_page_delete(&l8, page, at) == FPT_CORRUPT);
	CHECK(fpt_page_truncate(&l8, page, first) == FPT_CORRUPT);
	CHECK(header()->level == 0 ||
		  fpt_page_set_down(&l8, page, at, 9) == FPT_CORRUPT);
	x = e[first];
	CHECK(fpt_page_range(&l8, page, &x.key, &x.key, &loc, &last) ==
		  fpt_page_lower_bound(&l8, page, &x.key, &loc));
}

/* First entry of a kid of a sound page. */
static int
first_of(int kid)
{
	int			n = 0;

	for (int i = 0; i < kid; i++)
		n += fpt_node_count(&l8, page, i);
	return n;
}

static void
test_bad_node(void)
{
	for (int level = 0; level < 2; level++)
	{
		int			nkids;

		sound_page(&l8, level);
		nkids = header()->nkids;
		for (int kid = 0; kid < nkids; kid++)
		{
			int			first = first_of(kid);

			/* a node that does not exist */
			kids()[kid] = header()->nnodes;
			everybody_fails(kid, first);
			CHECK(fpt_page_count(&l8, page) == -1);
			CHECK(fpt_node_count(&l8, page, kid) == -1);
			sound_page(&l8, level);

			/* a slot that does not exist */
			if (!g->perm)
				continue;
			perm(kid)[0] = g->cap;
			everybody_fails(kid, first);
			sound_page(&l8, level);
		}
	}
}

/* Searches that have to read a damaged node. */
static void
test_bad_node_search(void)
{
	FPTLoc		loc;
	FPTLoc		last;
	FPTEdit		edit = {0};
	uint32		child;
	FPTEntry	x;
	FPTKey		k;
	int			second;

	sound_page(&l8, 1);
	second = first_of(1);

	/* the key's node does not exist */
	x = e[second];
	x.key.lo++;
	k = x.key;
	kids()[1] = 255;
	CHECK(fpt_page_lower_bound(&l8, page, &k, &loc) == FPT_CORRUPT);
	CHECK(fpt_page_range(&l8, page, &k, &k, &loc, &last) == FPT_CORRUPT);
	CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_CORRUPT);
	CHECK(fpt_page_insert(&l8, page, &x, &edit) == FPT_CORRUPT);
	CHECK(kt_insert_probe(&l8, page, &x) == FPT_CORRUPT);
	CHECK(fpt_page_make_room(&l8, page, &x, &kt_work) == FPT_CORRUPT);

	/* it equals a separator, and the node must be asked */
	k = e[second].key;
	CHECK(fpt_page_lower_bound(&l8, page, &k, &loc) == FPT_CORRUPT);
	sound_page(&l8, 1);
	perm(1)[0] = g->cap;
	CHECK(fpt_page_lower_bound(&l8, page, &k, &loc) == FPT_CORRUPT);
	CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_CORRUPT);

	/* the entry sought is the last one of a damaged node */
	sound_page(&l8, 1);
	k.tid--;
	kids()[0] = 255;
	CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_CORRUPT);
	k = e[0].key;
	k.lo = 1;
	CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_CORRUPT);
	sound_page(&l8, 1);
	perm(0)[0] = g->cap;
	CHECK(fpt_page_find_child(&l8, page, &e[0].key, &child, &loc) ==
		  FPT_CORRUPT);
	sound_page(&l8, 1);
	*used(0) = 0;
	CHECK(fpt_page_find_child(&l8, page, &k, &child, &loc) == FPT_CORRUPT);
	CHECK(!fpt_page_step(&l8, page, &(FPTLoc) {1, 0}, -1));

	/* separators in no order */
	sound_page(&l8, 1);
	k = e[second].key;
	for (int i = 1; i < header()->nkids; i++)
		set_separator(i, i == 1 ? k.lo - 500 : 0);
	set_separator(2, k.lo - 500);
	fpt_page_lower_bound(&l8, page, &k, &loc);
	header()->nkids = header()->nnodes = g->maxnodes;
	header()->nnull = 0;
	for (int i = 1; i < g->maxnodes; i++)
		set_separator(i, i % 2 ? k.lo - 500 : 0);
	fpt_page_lower_bound(&l8, page, &k, &loc);

	/* NULLs */
	for (int i = 0; i < NENTRIES; i++)
		e[i].key = kt_key(FPT_CLS_NULLLAST, 0, 0, 1 + i);
	fpt_page_init(&l8, page, &leaf, ENC(4, LEAF6), &base500, 0);
	g = fpt_page_geom(&l8, page);
	CHECK(fpt_page_fill(&l8, page, e, NENTRIES, 600 / g->cap) == FPT_OK);
	k = e[NENTRIES - 1].key;
	for (int i = 0; i < header()->nkids; i++)
		kids()[i] = 255;
	CHECK(fpt_page_lower_bound(&l8, page, &k, &loc) == FPT_CORRUPT);
}

/* An insertion at the end of a node looks at the next one, for a duplicate. */
static void
test_bad_next_node(void)
{
	FPTEdit		edit = {0};
	FPTEntry	x;
	int			second;

	sound_page(&l8, 0);
	second = first_of(1);
	x = e[second - 1];
	x.key.lo++;
	kids()[1] = 255;
	CHECK(fpt_page_insert(&l8, page, &x, &edit) == FPT_CORRUPT);
}

/* Making room in a page where that fails on the way. */
static void
test_bad_make_room(void)
{
	static FPTEntry full[FPT_MAX_ENTRIES];
	int			n;
	FPTEntry	x;

	for (int damage = 0; damage < 5; damage++)
	{
		/* orders that are stored are those of inner pages */
		int			level = damage == 0 || damage == 2 ? 1 : 0;

		sound_page(&l8, level);
		n = (int) g->capacity;
		for (int i = 0; i < n; i++)
		{
			full[i].key = kt_key(FPT_CLS_VALUE, 0, 1000 + 10 * i, 1 + i);
			full[i].down = level > 0 ? 2 + i : 0;
		}
		fpt_page_init(&l8, page, &(FPTPageSpec) {level, 5, &minf, &pinf},
					  level > 0 ? ENC(4, INNER) : ENC(4, LEAF6), &base500, 0);
		CHECK(fpt_page_fill(&l8, page, full, n, 100) == FPT_OK);
		x = full[3];
		x.key.lo++;
		switch (damage)
		{
			case 0:				/* the node to be split */
				perm(0)[5] = g->cap;
				break;
			case 1:				/* a neighbour to share with is missing */
				kids()[1] = 255;
				break;
			case 2:				/* ... has a broken order */
				*used(2) >>= 2;
				perm(1)[g->cap - 1] = g->cap;
				break;
			case 3:				/* ... is the node itself */
				keep_slots(2, g->capmask >> 2);
				kids()[1] = kids()[0];
				break;
			case 4:				/* ... far away */
				for (int i = 1; i < g->maxnodes; i++)
					keep_slots(i, 1);
				kids()[g->maxnodes - 1] = 255;
				keep_slots(1, 0);
				break;
		}
		CHECK(fpt_page_make_room(&l8, page, &x, &kt_work) == FPT_CORRUPT);
	}
}

/* Places that do not exist. */
static void
test_bad_places(void)
{
	FPTLoc		bad[] = {{-1, 0}, {0, -1}, {0, 64}, {255, 0}, {4, 0}};
	FPTRun		run = {0};
	FPTEntry	x;
	FPTEntry	out[3];

	sound_page(&l8, 1);
	bad[4].kid = header()->nkids;
	for (int i = 0; i < 5; i++)
	{
		CHECK(fpt_page_get(&l8, page, bad[i], &x) == FPT_CORRUPT);
		CHECK(fpt_page_delete(&l8, page, bad[i]) == FPT_CORRUPT);
		CHECK(fpt_page_set_down(&l8, page, bad[i], 3) == FPT_CORRUPT);
	}
	CHECK(fpt_page_copy(&l8, page, bad[0], bad[4], false, &run) == -1);
	CHECK(fpt_page_copy(&l8, page, bad[1], bad[4], false, &run) == -1);
	CHECK(fpt_page_copy(&l8, page, bad[4], bad[3], false, &run) == -1);
	CHECK(fpt_page_extract(&l8, page, out, 3) == -1);
}

static int	ncompared;

/* All keys are above all others, themselves included. */
static int
cmp_above(const void *arg, const FPTKey *a, const FPTKey *b)
{
	ncompared++;
	return 1;
}

/* General keys are compared by one of the two checks only. */
static void
test_check_form(void)
{
	FPTLayout	l;
	FPTFault	fault;
	const char *msg;

	kt_layout_general(&l, false, false);
	for (int i = 0; i < NENTRIES; i++)
		e[i].key = kt_key(FPT_CLS_VALUE, 0, 1000 + i / 5, 1 + i);
	CHECK(fpt_page_form(&l, page, &leaf, e, NENTRIES, 90) == FPT_OK);
	CHECK(fpt_page_check(&l, page, 5, NULL) == NULL);
	l.cmp = cmp_above;
	msg = fpt_page_check(&l, page, 5, NULL);
	CHECK(msg && strcmp(msg, "entries are out of order") == 0);
	CHECK(ncompared > 0);
	ncompared = 0;
	CHECK(fpt_page_check_form(&l, page, 5, &fault) == NULL);
	header()->nnull = header()->nkids + 1;
	CHECK(fpt_page_check_form(&l, page, 5, &fault) != NULL);
	CHECK(strcmp(fault.field, "number of NULL nodes") == 0);
	CHECK(ncompared == 0);

	/* those of images are */
	sound_page(&l8, 0);
	memcpy(node(0) + g->key_off + g->sw, node(0) + g->key_off, g->sw);
	memcpy(node(0) + g->tid_off + g->pw, node(0) + g->tid_off, g->pw);
	msg = fpt_page_check_form(&l8, page, 5, NULL);
	CHECK(msg && strcmp(msg, "entries are out of order") == 0);
}

/* The high fence's tuple lies in the dictionary. */
static void
test_bad_dictionary(void)
{
	FPTLayout	l;
	FPTPageHeader *h = header();
	const char *msg;

	/* keys whose bytes are lengths of tuples */
	kt_layout_general(&l, false, false);
	for (int i = 0; i < NENTRIES; i++)
		e[i].key = kt_key(FPT_CLS_VALUE, 0,
						  UINT64CONST(0x0303030303030303) + i / 5, 1 + i);
	fpt_page_init(&l, page, &leaf, fpt_enc(FPT_ENC_DICT, FPT_KIND_LEAF4), &zero,
				  0);
	CHECK(fpt_page_fill(&l, page, e, NENTRIES, 90) == FPT_OK);
	CHECK(h->ndict == NENTRIES / 5);
	CHECK(fpt_page_check(&l, page, 5, NULL) == NULL);
	h->right = 7;
	h->high.hi = h->std.pd_upper + 8;
	h->high.lo = ~UINT64CONST(0);
	h->high.tidcls = (uint64) FPT_CLS_VALUE << 56 | 1;
	msg = fpt_page_check(&l, page, 5, NULL);
	CHECK(msg && strcmp(msg, "dictionary overlaps tuples") == 0);
	special()->low = h->high;
	msg = fpt_page_check(&l, page, 5, NULL);
	CHECK(msg && strcmp(msg, "low fence is not valid") == 0);
}

/*
 * A leaf that says offsets have no bits: its rows are in blocks of their own,
 * without any.  None may get into another page, where its slot would be free.
 */
static void
test_bad_offsets(void)
{
	static FPTJoinWork joins;
	static FPTEntry out[NENTRIES];
	static char right[BLCKSZ];
	FPTLayout	general;

	kt_layout_general(&general, false, false);
	for (int i = 0; i < NENTRIES; i++)
		e[i].key = kt_key(FPT_CLS_VALUE, 0, 7, 1 + i);
	for (int dict = 0; dict < 2; dict++)
	{
		const FPTLayout *l = dict ? &general : &l8;

		fpt_page_init(l, page, &leaf, dict ?
					  fpt_enc(FPT_ENC_DICT, FPT_KIND_LEAF3) : ENC(4, LEAF3),
					  &zero, 0);
		CHECK(fpt_page_fill(l, page, e, NENTRIES, 90) == FPT_OK);
		memcpy(right, page, BLCKSZ);
		CHECK(fpt_page_extract(l, right, out, NENTRIES) == NENTRIES);
		fpt_special(right)->rowbits = 0;
		CHECK(fpt_page_extract(l, right, out, NENTRIES) == -1);
		CHECK(fpt_page_join(l, page, right, 1000, 0, &joins) == FPT_CORRUPT);
	}
}

/*
 * The right one of two neighbours, or the left one's end, has entries that are
 * not between its fences, or not in order: joined, they would be where they
 * seem to belong, and no check would see it.  Nobody can say of general keys
 * which is wrong, the order or the page: they stay as they are.
 */
static void
test_bad_neighbours(void)
{
	static FPTJoinWork joins;
	static char left[BLCKSZ];
	static char right[BLCKSZ];
	FPTLayout	general;
	FPTKey		sep = kt_key(FPT_CLS_VALUE, 0, 1105, 0);
	FPTKey		high = kt_key(FPT_CLS_VALUE, 0, 1195, 0);

	kt_layout_general(&general, false, false);
	for (int i = 0; i < NENTRIES; i++)
	{
		e[i].key = kt_key(FPT_CLS_VALUE, 0, 1000 + 10 * i, 1 + i);
		e[i].down = 0;
	}
	for (int what = 0; what < 10; what++)
	{
		const FPTLayout *l = what % 2 ? &general : &l8;
		FPTPageSpec one = {.pageno = 5, .low = &minf, .high = &sep};
		FPTPageSpec two = {.pageno = 6, .low = &sep, .high = &high};
		FPTEntry	theirs[NENTRIES / 2 - 1];
		int			n = NENTRIES / 2 + 1;
		int			m = NENTRIES / 2 - 1;
		uint8	   *order;
		uint8		first;
		FPTResult	res;

		memcpy(theirs, e + n, sizeof(theirs));
		switch (what / 2)
		{
			case 1:				/* below its fences */
				theirs[0].key.lo = 1057;
				break;
			case 2:				/* above them */
				theirs[m - 1].key.lo = 1205;
				break;
			case 4:				/* the left one's, in the other's range */
				n++;
				break;
		}
		fpt_page_init(l, left, &one, ENC(4, LEAF6), &base500, 0);
		CHECK(fpt_page_fill(l, left, e, n, 90) == FPT_OK);
		fpt_header(left)->right = 6;
		fpt_page_init(l, right, &two, ENC(4, LEAF6), &base500, 0);
		g = fpt_page_geom(l, right);
		CHECK(fpt_page_fill(l, right, theirs, m, 300 / g->cap) == FPT_OK);
		if (what / 2 == 3)		/* nodes in the wrong order */
		{
			order = (uint8 *) right + g->kids_off;
			CHECK(fpt_header(right)->nkids >= 2);
			first = order[0];
			order[0] = order[1];
			order[1] = first;
		}
		res = fpt_page_join(l, left, right, 1000, 0, &joins);
		if (what / 2 == 0)
		{
			CHECK(res == FPT_OK);
			CHECK(fpt_page_count(l, left) == n + m);
			CHECK(fpt_page_check(l, left, 5, NULL) == NULL);
		}
		else
			CHECK(res == (what % 2 ? FPT_FULL : FPT_CORRUPT));
	}
}

/* How far pd_upper may be below the tuples, and what is there. */
static void
test_bad_reserve(void)
{
	FPTLayout	l;
	FPTPageHeader *h = header();
	int			from;
	const char *msg;

	kt_layout_general(&l, false, false);
	for (int i = 0; i < 12; i++)
	{
		e[i].key = kt_key(FPT_CLS_VALUE, 0, 1000 + i, 1 + i);
		e[i].key.tup = "tup";
		e[i].key.len = 3;
		e[i].down = 0;
	}
	fpt_page_init(&l, page, &leaf, ENC(2, LEAF6), &zero, 0);
	CHECK(fpt_page_fill(&l, page, e, 12, 90) == FPT_OK);
	from = h->std.pd_upper;
	CHECK(fpt_tuples_from(fpt_page_open(&l, page)) == from);
	CHECK(from == FPT_SPECIAL_OFFSET - 12 * 4);
	h->std.pd_upper = from / FPT_TUPLE_RESERVE * FPT_TUPLE_RESERVE;
	CHECK(h->std.pd_upper < from);
	CHECK(fpt_tuples_from(fpt_page_open(&l, page)) == from);
	CHECK(fpt_page_check(&l, page, 5, NULL) == NULL);
	for (int i = 0; i < 2; i++)
	{
		h->std.pd_upper -= i == 0 ? 1 : FPT_TUPLE_RESERVE - 1;
		CHECK(fpt_page_sane(&l, page, 5));
		msg = fpt_page_check(&l, page, 5, NULL);
		CHECK(msg &&
			  strcmp(msg, "page's encoding or counts are not valid") == 0);
	}

	/* what is not zero counts as a tuple's */
	h->std.pd_upper += FPT_TUPLE_RESERVE;
	page[from - 5] = 1;
	CHECK(fpt_tuples_from(fpt_page_open(&l, page)) == from - 5);
	CHECK(fpt_page_check(&l, page, 5, NULL) == NULL);
}

/* Tuples that all entries share, which do not fit into a copy; none at all. */
static void
test_bad_tuples(void)
{
	static char tuple[BLCKSZ / 8];
	uint64		tids[12];
	uint64		los[12];
	uint16		offs[12];
	uint16		lens[12];
	FPTRun		run = {.tids = tids, .los = los, .tupoffs = offs,
	.tuplens = lens};
	FPTLoc		first = {0, 0};
	FPTLoc		last = {0, 0};
	FPTLayout	l;
	char	   *node;
	uint16		off = 0;

	kt_layout_general(&l, false, false);
	for (int i = 0; i < 12; i++)
	{
		e[i].key = kt_key(FPT_CLS_VALUE, 0, 1000 + 10 * i, 1 + i);
		e[i].key.tup = tuple;
		e[i].key.len = i == 0 ? sizeof(tuple) : 4;
		e[i].down = 0;
	}
	fpt_page_init(&l, page, &leaf, ENC(8, LEAF6), &zero, 0);
	CHECK(fpt_page_fill(&l, page, e, 12, 90) == FPT_OK);
	g = fpt_page_geom(&l, page);
	last.kid = header()->nkids;
	CHECK(fpt_page_copy(&l, page, first, last, false, &run) == 12);
	for (int kid = 0; kid < header()->nkids; kid++)
	{
		node = fpt_kid_node(fpt_page_open(&l, page), kid);
		for (uint64 used = fpt_node_used(g, node); used != 0;
			 used &= used - 1)
		{
			char	   *at = node + g->off_off + g->pw * fpt_ctz(used);

			if (off == 0)
				memcpy(&off, at, sizeof(off));
			memcpy(at, &off, sizeof(off));
		}
	}
	run.tupbytes = 0;
	CHECK(fpt_page_copy(&l, page, first, last, false, &run) == -1);
	CHECK(fpt_page_fill_gaps(fpt_page_open(&l, page), &kt_work.u.map) ==
		  FPT_CORRUPT);
	kids()[0] = 0xFF;
	CHECK(fpt_page_fill_gaps(fpt_page_open(&l, page), &kt_work.u.map) ==
		  FPT_CORRUPT);
	special()->low.hi = BLCKSZ;
	CHECK(fpt_page_fill_gaps(fpt_page_open(&l, page), &kt_work.u.map) ==
		  FPT_CORRUPT);
}

void
test_corrupt(void)
{
	page = aligned_alloc(64, BLCKSZ);
	kt_layout(&l8, 8, false, false);
	kt_layout(&l4, 4, false, false);
	kt_layout(&l16, 16, false, false);
	kt_run("check: identity", test_check_identity);
	kt_run("check: header", test_check_header);
	kt_run("check: nodes", test_check_nodes);
	kt_run("check: permutations", test_check_perm);
	kt_run("check: nodes of NULLs", test_check_null_nodes);
	kt_run("check: entries", test_check_entries);
	kt_run("check: entries twice", test_check_twice);
	kt_run("check: free slots", test_check_free_slots);
	kt_run("bad header", test_bad_header);
	kt_run("bad node", test_bad_node);
	kt_run("bad node, searches", test_bad_node_search);
	kt_run("bad next node", test_bad_next_node);
	kt_run("bad node, making room", test_bad_make_room);
	kt_run("bad places", test_bad_places);
	kt_run("check of the form", test_check_form);
	kt_run("bad dictionary", test_bad_dictionary);
	kt_run("bad offsets", test_bad_offsets);
	kt_run("bad neighbours", test_bad_neighbours);
	kt_run("bad tuples", test_bad_tuples);
	kt_run("bad reserve", test_bad_reserve);
	free(page);
}
