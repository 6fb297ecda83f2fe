/*-------------------------------------------------------------------------
 *
 * page/join.c
 *	  Page kernel: one page of two neighbours' entries, or a full one and the
 *	  rest.
 *
 * The entries of the right one follow those of the left one, in whatever way
 * either page stores them.  Keys of the left page are relative to its base, its
 * nodes or its prefix, so not every page can represent what follows.  One that
 * cannot is formed anew: of images as a page that is open above, which chooses
 * a width for the keys that are still to come (fpt_form_base), because several
 * neighbours may follow, one after the other.
 *
 *-------------------------------------------------------------------------
 */
#include "page/copy.h"
#include "page/encoding.h"
#include "page/form.h"
#include "page/format.h"
#include "page/geom.h"
#include "page/join.h"
#include "page/kernel.h"
#include "page/modify.h"
#include "page/node.h"
#include "page/number.h"
#include "page/remove.h"
#include "page/room.h"

/*
 * Fill of the nodes of a page that is formed anew, percent, as a build leaves
 * them: the hole is as large as can be for the next neighbours, and each node
 * has slots for a few insertions.
 */
#define FPT_JOIN_FILL		93

/* See page/join.h. */
int
fpt_page_thousandths(const FPTLayout *l, void *page)
{
	FPTSpace	space;
	int			n = fpt_page_count(l, page);

	if (n < 0 || fpt_page_space(l, page, n, &space) != FPT_OK ||
		space.room <= 0)
		return -1;
	return (int) ((int64) space.used * 1000 / space.room);
}

/* Tuples that are counted for a guess. */
#define FPT_JOIN_SAMPLE		8

/* So full by its nodes' slots, in thousandths, no tuple need be looked at. */
#define FPT_JOIN_SURE		600

/*
 * See page/join.h.  As many tuples as slots are free are taken to be garbage,
 * which is too many.
 */
int
fpt_page_guess_fill(const FPTLayout *l, void *page, int n)
{
	FPTPage		pg = fpt_page_open(l, page);
	int			nkids = fpt_header(page)->nkids;
	int			slots;
	int			bytes = 0;
	int			room;
	FPTEntry	e;

	if (n == 0)
		return 0;
	if (pg.g == NULL || !fpt_shares_space(pg.g) ||
		fpt_encoding(pg.g)->few_keys ||
		n < 2 * FPT_JOIN_SAMPLE)
		return fpt_page_thousandths(l, page);
	slots = Max(fpt_header(page)->nnodes * pg.g->cap, n);
	room = FPT_SPECIAL_OFFSET - pg.g->node_off;
	bytes = (FPT_SPECIAL_OFFSET - fpt_header(page)->std.pd_upper) * n / slots +
		n * fpt_slot_bytes(pg.g);
	if (bytes * 1000 / room > FPT_JOIN_SURE)
		return bytes * 1000 / room;
	bytes = 0;
	for (int i = 0; i < FPT_JOIN_SAMPLE; i++)
	{
		FPTLoc		loc = {.kid = i * nkids / FPT_JOIN_SAMPLE};

		if (fpt_page_get(l, page, loc, &e) != FPT_OK)
			return -1;
		bytes += fpt_tuple_space(e.key.len);
	}
	bytes = n * fpt_slot_bytes(pg.g) + n * bytes / FPT_JOIN_SAMPLE;
	return bytes * 1000 / room;
}

/*
 * Has the page's hole room for m of the neighbour's entries?  They go on where
 * the last node ends.  Tuples need a node more, as some slots may stay free.
 */
static bool
fpt_join_has_hole(const FPTLayout *l, void *page, void *right, int m)
{
	FPTPageHeader *h = fpt_header(page);
	const FPTGeom *g = fpt_page_geom(l, page);
	FPTSpace	space;
	int			hole = (int) h->std.pd_upper - (int) h->std.pd_lower;
	int			all = fpt_page_count(l, right);
	int			used;
	int			last;
	int			more;

	Assert(m <= all);
	if (g == NULL || all <= 0 ||
		fpt_page_space(l, right, all, &space) != FPT_OK)
		return false;
	used = (int) ((int64) space.used * m / all);
	if (fpt_is_number(g))
		return hole >= used + g->x * FPT_LINE;
	last = h->nkids > 0 ? fpt_node_count(l, page, h->nkids - 1) : g->cap;
	if (last < 0)
		return false;
	more = fpt_ceil_div(Max(0, m - (g->cap - last)), g->cap);
	if (h->nnodes + more > g->maxnodes)
		return false;
	return hole >= (fpt_shares_space(g) ? used + g->x * FPT_LINE :
					more * g->x * FPT_LINE);
}

/*
 * Add the m entries one by one.  Not FPT_OK: the page, which was a copy, means
 * nothing.  May raise.
 */
static FPTResult
fpt_join_add(const FPTLayout *l, void *page, const FPTKey *high,
			 const FPTEntry *e, int m, FPTWork *work)
{
	FPTResult	res = fpt_page_set_high(l, page, high, work);

	for (int i = 0; res == FPT_OK && i < m; i++)
	{
		FPTEdit		edit = {0};

		res = fpt_page_insert(l, page, &e[i], &edit);
		if (res != FPT_FULL)
			continue;
		res = fpt_page_make_room(l, page, &e[i], work);
		memset(&edit, 0, sizeof(edit));
		if (res == FPT_OK)
			res = fpt_page_insert(l, page, &e[i], &edit);
	}
	return res;
}

/*
 * Form the page of n entries, which are in the work memory, and not of the page
 * "to".  Open above, if that is allowed, and its high fence is given to it
 * then.  FPT_OK, or "to" means nothing.  May raise.
 */
static FPTResult
fpt_join_form(const FPTLayout *l, void *to, const FPTPageSpec *spec, int n,
			  bool open, FPTJoinWork *work)
{
	FPTKey		pinf = {.cls = FPT_CLS_PINF, .tid = FPT_MAX_TID};
	FPTPageSpec s = *spec;
	FPTResult	res;

	if (open)
		s.high = &pinf;
	res = fpt_page_form(l, to, &s, work->entries, n, FPT_JOIN_FILL);
	if (open && res == FPT_OK)
		res = fpt_page_set_high(l, to, spec->high, &work->work);
	return res;
}

/* Do the entries ascend?  Those of a damaged page may not.  May raise. */
static bool
fpt_join_sorted(const FPTLayout *l, const FPTEntry *e, int n)
{
	for (int i = 1; i < n; i++)
	{
		if (fpt_key_cmp(l, &e[i - 1].key, &e[i].key) >= 0)
			return false;
	}
	return true;
}

/* The last entry of a leaf page that has some; false: the page is corrupt. */
static bool
fpt_join_last(const FPTLayout *l, void *page, FPTEntry *e)
{
	FPTLoc		loc = {.kid = fpt_header(page)->nkids - 1};

	loc.rank = fpt_node_count(l, page, loc.kid) - 1;
	return loc.rank >= 0 && fpt_page_get(l, page, loc, e) == FPT_OK;
}

/*
 * Are the m entries of the right page where they should be: in order, between
 * its fences, and after the n of the left one?  Where damage has put one
 * elsewhere, it would be inserted where it seems to belong, and no check of the
 * merged page could see it any more.  FPT_CORRUPT if they are not; of general
 * keys FPT_FULL, which leaves the pages as they are: the order may be another
 * one than that of the entries, and the index does not know which.  May raise.
 */
static FPTResult
fpt_join_check(const FPTLayout *l, void *page, void *right, int n,
			   const FPTEntry *e, int m)
{
	FPTKey		low = fpt_page_low(l, right);
	FPTKey		high = fpt_page_high(l, right);
	FPTEntry	last;
	bool		sound = true;

	if (n > 0 && !fpt_join_last(l, page, &last))
		return FPT_CORRUPT;
	if (n > 0)
		sound = fpt_key_cmp(l, &last.key, &low) < 0;
	if (m > 0)
		sound = sound && fpt_key_cmp(l, &low, &e[0].key) <= 0 &&
			fpt_key_cmp(l, &e[m - 1].key, &high) < 0 &&
			fpt_join_sorted(l, e, m);
	if (sound)
		return FPT_OK;
	return fpt_is_general(l) ? FPT_FULL : FPT_CORRUPT;
}

/*
 * The page is formed apart, as its fences and tuples are read meanwhile; it
 * stays as it was unless FPT_OK is returned.  The caller says how far TIDs
 * reach, as in a build: a page with wide ones does not know how large the table
 * was when it was formed, and short ones may do, or keys lend a bit
 * (FPT_ENC_LENT).
 */
static FPTResult
fpt_join_anew(const FPTLayout *l, void *page, const FPTKey *high, int n,
			  int most, uint32 reach, FPTJoinWork *work)
{
	FPTPageHeader *h = fpt_header(page);
	FPTKey		low = fpt_page_low(l, page);
	FPTPageSpec spec = {.level = 0, .pageno = fpt_special(page)->pageno,
	.low = &low, .high = high,.reach = reach};
	bool		open = !fpt_is_general(l) && high->cls == FPT_CLS_VALUE;
	FPTResult	res = FPT_FULL;

	spec.rowbits = fpt_page_rowbits(l, page, work->entries, n);
	if (open)
		res = fpt_join_form(l, work->formed, &spec, n, true, work);
	if (res != FPT_OK || fpt_page_thousandths(l, work->formed) > most)
		res = fpt_join_form(l, work->formed, &spec, n, false, work);
	if (res == FPT_UNFIT ||
		(res == FPT_OK && fpt_page_thousandths(l, work->formed) > most))
		res = FPT_FULL;
	if (res != FPT_OK)
		return res;
	fpt_header(work->formed)->left = h->left;
	fpt_header(work->formed)->right = h->right;
	fpt_header(work->formed)->flags = h->flags;
	memcpy(page, work->formed, BLCKSZ);
	return FPT_OK;
}

/* Entries that come to a page from its right neighbour. */
typedef struct FPTJoinPart
{
	int			n;				/* entries of the page */
	int			m;				/* that come, after n in the work memory */
	const FPTKey *high;			/* where the page ends then */
	bool		hole;			/* may there be room in the hole? */
} FPTJoinPart;

/*
 * Put the part's entries into the page, which has its fence then.  Not FPT_OK:
 * the page is as it was.  May raise.
 */
static FPTResult
fpt_join_part(const FPTLayout *l, void *page, const FPTJoinPart *part, int most,
			  uint32 reach, FPTJoinWork *work)
{
	int			n = part->n;
	FPTResult	res;

	Assert(n + part->m <= FPT_MAX_ENTRIES);
	if (part->hole)
	{
		memcpy(work->formed, page, BLCKSZ);
		res = fpt_join_add(l, work->formed, part->high, work->entries + n,
						   part->m, &work->work);
		/* formed anew it may be less full, as its nodes are */
		if (res == FPT_OK && fpt_page_thousandths(l, work->formed) <= most)
		{
			memcpy(page, work->formed, BLCKSZ);
			return FPT_OK;
		}
	}

	/* general keys are put down in the order that they have */
	if (fpt_page_extract(l, page, work->entries, n) != n ||
		(!fpt_is_general(l) && !fpt_join_sorted(l, work->entries, n)))
		return FPT_CORRUPT;
	return fpt_join_anew(l, page, part->high, n + part->m, most, reach, work);
}

/*
 * Read the neighbour's entries to the place after that of the page's own.
 * FPT_FULL: they are too many, or as fpt_join_check().  May raise.
 */
static FPTResult
fpt_join_read(const FPTLayout *l, void *page, void *right, FPTJoinPart *part,
			  FPTJoinWork *work)
{
	int			n = fpt_page_count(l, page);
	int			m = fpt_page_count(l, right);

	Assert(page != right);
	if (n < 0 || m < 0 || fpt_header(page)->level > 0 ||
		fpt_header(right)->level > 0)
		return FPT_CORRUPT;
	if (n + m > FPT_MAX_ENTRIES)
		return FPT_FULL;
	if (fpt_page_extract(l, right, work->entries + n, m) != m)
		return FPT_CORRUPT;
	part->n = n;
	part->m = m;
	return fpt_join_check(l, page, right, n, work->entries + n, m);
}

/* See page/join.h. */
FPTResult
fpt_page_join(const FPTLayout *l, void *page, void *right, int most,
			  uint32 reach, FPTJoinWork *work)
{
	FPTJoinPart part = {0};
	FPTKey		high = fpt_page_high(l, right);
	FPTResult	res = fpt_join_read(l, page, right, &part, work);

	if (res != FPT_OK)
		return res;
	part.high = &high;
	part.hole = fpt_join_has_hole(l, page, right, part.m);
	return fpt_join_part(l, page, &part, most, reach, work);
}

/*
 * The fence between the i'th entry of the work memory and the one before, as a
 * split would make it.  False: the entry is corrupt.  May raise.
 */
static bool
fpt_slide_fence(const FPTLayout *l, FPTJoinWork *work, int i)
{
	const FPTKey *prev = &work->entries[i - 1].key;
	const FPTKey *key = &work->entries[i].key;

	Assert(i > 0 && i < FPT_MAX_ENTRIES);
	if (fpt_is_general(l))
		l->separate(l->arg, prev, key, &work->sep);
	else if (!fpt_key_whole(l, key, &work->sep))
		return false;
	if (!fpt_is_general(l) && fpt_image_cmp(prev, &work->sep.key) != 0)
		work->sep.key.tid = 0;
	return true;
}

/* Take the first m entries out of a page, which has more. */
static FPTResult
fpt_slide_behead(const FPTLayout *l, void *page, int m, FPTJoinWork *work)
{
	FPTLoc		first = {0};
	FPTResult	res = FPT_OK;

	while (res == FPT_OK && m-- > 0)
		res = fpt_page_delete(l, page, first);
	if (res != FPT_OK)
		return res;
	fpt_page_trim(l, page);
	return fpt_page_set_low(l, page, &work->sep.key, &work->work);
}

/* Entries that a slide hands over at least, as part of the neighbour's. */
#define FPT_SLIDE_LEAST		16

/* How often a slide is tried, each time with an eighth fewer entries. */
#define FPT_SLIDE_TRIES		3

/* See page/join.h. */
FPTResult
fpt_page_slide(const FPTLayout *l, void *page, void *right, int most,
			   uint32 reach, FPTJoinWork *work)
{
	FPTJoinPart part = {0};
	int			fill = fpt_page_thousandths(l, page);
	int			rest = fpt_page_thousandths(l, right);
	FPTResult	res = fpt_join_read(l, page, right, &part, work);
	int			m = part.m;

	if (res != FPT_OK)
		return res;
	if (fill < 0 || rest < 0)
		return FPT_CORRUPT;
	part.high = &work->sep.key;
	part.m = Min(m - 1, (most - fill) * m / Max(rest, 1));
	res = FPT_FULL;
	for (int i = 0; res == FPT_FULL && i < FPT_SLIDE_TRIES; i++)
	{
		if (part.m < 1 || part.m < m / FPT_SLIDE_LEAST)
			return FPT_FULL;
		if (!fpt_slide_fence(l, work, part.n + part.m))
			return FPT_CORRUPT;
		part.hole = fpt_join_has_hole(l, page, right, part.m);
		res = fpt_join_part(l, page, &part, most, reach, work);
		if (res != FPT_OK)
			part.m -= Max(part.m / 8, 1);
	}
	return res == FPT_OK ? fpt_slide_behead(l, right, part.m, work) : res;
}
