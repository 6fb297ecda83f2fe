/*-------------------------------------------------------------------------
 *
 * page/number_geom.c
 *	  Opening a page of numbers: its borders and counts.
 *
 *-------------------------------------------------------------------------
 */
#include "page/number_geom.h"

/*
 * What callers may ask of any page's geometry.  Slots are numbered as if all
 * nodes had FPT_MAX_CAP of them.
 */
static const FPTGeom fpt_number_geom = {
	.kw = 1, .rw = 1, .sw = 1, .tw = 3, .fw = 1, .w = 1, .x = 4,
	.cap = FPT_MAX_CAP, .maxnodes = FPT_MAX_NODES, .enc = FPT_ENC_NUMBER,
	.coding = FPT_CODING_NUMBER, .capmask = ~UINT64CONST(0),
	.capacity = FPT_MAX_ENTRIES
};

/*
 * A page has no more slots than FPT_MAX_ENTRIES, however narrow they are.  The
 * bytes that round the root up to whole lines are left out of the space before
 * it is divided.  Small pages have no node of many lines: maxnodes is 0.
 */
void
fpt_num_place(FPTNumbers *pg)
{
	int			space = FPT_SPECIAL_OFFSET - FPT_LINE - (FPT_LINE - 1);
	int			root = pg->sw + 2;

	pg->step = pg->x * FPT_LINE;
	pg->maxnodes = space / (pg->step + root + FPT_NUM_HINT_BYTES);
	pg->maxnodes = Min(pg->maxnodes, FPT_MAX_ENTRIES /
					   fpt_num_cap(pg->x, FPT_NUM_MIN_WIDTH));
	pg->maxnodes = Min(pg->maxnodes, FPT_MAX_NODES);
	pg->numbers = FPT_LINE + pg->maxnodes * pg->sw;
	pg->shapes = pg->numbers + pg->maxnodes;
	pg->node0 = FPT_LINE + (pg->maxnodes * root + FPT_LINE - 1) / FPT_LINE *
		FPT_LINE;
	Assert(pg->node0 + pg->maxnodes * (pg->step + FPT_NUM_HINT_BYTES) <=
		   FPT_SPECIAL_OFFSET);
}

/* A page says sw in three bits, whose values all have a place below. */
StaticAssertDecl(FPT_NUM_MAX_SEP == 8, "sw is an index of known[]");

/*
 * The same for a page's own x and sw, 1 to FPT_NUM_MAX_LINES lines, which the
 * caller has verified, and 1 to FPT_NUM_MAX_SEP bytes.  Divisions are done once
 * for all pages.
 */
static inline void
fpt_num_place_known(FPTNumbers *pg)
{
	static FPTNumbers known[FPT_NUM_MAX_LINES][FPT_NUM_MAX_SEP];
	FPTNumbers *k = &known[pg->x - 1][pg->sw - 1];

	if (unlikely(k->step == 0))
	{
		*k = *pg;
		fpt_num_place(k);
	}
	pg->maxnodes = k->maxnodes;
	pg->numbers = k->numbers;
	pg->shapes = k->shapes;
	pg->node0 = k->node0;
	pg->step = k->step;
}

bool
fpt_num_open(const FPTLayout *l, void *page, FPTNumbers *pg)
{
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpecial *s = fpt_special(page);

	pg->l = l;
	pg->p = (char *) page;
	pg->x = h->ndict & 31;
	pg->sw = (h->ndict >> 5) + 1;
	pg->ss = s->unit;
	pg->t = s->t;
	pg->ob = s->rowbits;
	pg->nkids = h->nkids;
	pg->nnodes = h->nnodes;
	pg->upper = h->std.pd_upper;
	pg->headstep = l->keysize + FPT_NUM_LABEL_BYTES;
	if (h->level != 0 || fpt_is_general(l) || pg->x < 1 ||
		pg->x > FPT_NUM_MAX_LINES || pg->sw < FPT_NUM_MIN_SEP ||
		pg->ss > 48 || pg->ob < 1 || pg->ob > FPT_MAX_ROWBITS ||
		pg->t < pg->ob || pg->t > 32 + pg->ob || h->nnull != 0 ||
		pg->nkids > pg->nnodes)
		return false;
	fpt_num_place_known(pg);
	if (pg->maxnodes < 1 || pg->nnodes > pg->maxnodes ||
		pg->upper > FPT_SPECIAL_OFFSET || fpt_num_hole(pg) < 0)
		return false;
	pg->nheads = (FPT_SPECIAL_OFFSET - pg->upper) / pg->headstep;
	return pg->upper + pg->nheads * pg->headstep == FPT_SPECIAL_OFFSET;
}

const FPTGeom *
fpt_num_geom(const FPTLayout *l, void *page)
{
	FPTNumbers	pg;

	return fpt_num_open(l, page, &pg) ? &fpt_number_geom : NULL;
}
