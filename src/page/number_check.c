/*-------------------------------------------------------------------------
 *
 * page/number_check.c
 *	  Page kernel: is a leaf page of numbers sound in itself?
 *
 *-------------------------------------------------------------------------
 */
#include "page/number_check.h"

/* The state of a check. */
typedef struct FPTNumCheck
{
	FPTNumbers	pg;
	FPTKey		low;			/* the fences */
	FPTKey		high;
	uint64		last;			/* the last entry, or 0 */
	int			n;				/* entries */
	bool		taken[FPT_MAX_NODES + 1];	/* nodes that the root lists */
	FPTFault   *fault;
} FPTNumCheck;

/* Note a fault, and the field that shows it; returns "what". */
static const char *
fpt_num_fault(FPTNumCheck *st, const char *what, const char *field,
			  uint64 value)
{
	st->fault->what = what;
	st->fault->field = field;
	st->fault->value = value;
	return what;
}

/* Counts and borders, and what must be zero. */
static const char *
fpt_num_check_header(FPTNumCheck *st, const FPTLayout *l, void *page)
{
	static const char *const what = "page's encoding or counts are not valid";
	static const char *const reserved =
	"reserved bytes of the page header are not zero";
	FPTPageHeader *h = fpt_header(page);
	FPTPageSpecial *s = fpt_special(page);

	if (!fpt_num_open(l, page, &st->pg))
		return fpt_num_fault(st, what, "lines and separators", h->ndict);
	if (!fpt_num_sane(l, page))
		return fpt_num_fault(st, what, "pd_lower", h->std.pd_lower);
	if (s->base_hi != 0 || s->base_lo != 0)
		return fpt_num_fault(st, reserved, "key base",
							 s->base_hi | s->base_lo);
	if (s->tidbase != 0 || s->prefix != 0 || s->bits != 0)
		return fpt_num_fault(st, reserved, "block of TIDs", s->tidbase);
	if (s->reserved != 0)
		return fpt_num_fault(st, reserved, "bytes of the last line",
							 s->reserved);
	for (int i = h->std.pd_lower; i < fpt_num_hint_off(&st->pg); i++)
	{
		if (((char *) page)[i] != 0)
			return fpt_num_fault(st,
								 "free space between nodes and hints is not zero",
								 "offset", i);
	}
	return NULL;
}

/* Heads differ, and their labels are in their order. */
static const char *
fpt_num_check_heads(FPTNumCheck *st)
{
	const FPTNumbers *pg = &st->pg;

	for (int i = 0; i < pg->nheads; i++)
	{
		const char *head = pg->p + pg->upper + i * pg->headstep;
		uint64		label = fpt_num_label(head);
		uint64		hi,
					lo,
					below,
					above;

		fpt_num_image(pg, head, &hi, &lo);
		if (label < 1 || label > FPT_NUM_MAX_LABEL)
			return fpt_num_fault(st, "label of a head is not valid", "label",
								 label);
		if (fpt_num_head_find(pg, hi, lo) != head)
			return fpt_num_fault(st, "a head is there twice", "lower half", lo);
		if (fpt_num_head_of(pg, label) != head)
			return fpt_num_fault(st, "two heads have the same label", "label",
								 label);
		for (int j = 0; j < i; j++)
		{
			const char *other = pg->p + pg->upper + j * pg->headstep;

			fpt_num_image(pg, other, &above, &below);
			if ((above < hi || (above == hi && below < lo)) !=
				(fpt_num_label(other) < label))
				return fpt_num_fault(st, "labels are not in the order of heads",
									 "label", label);
		}
	}
	return NULL;
}

/* Separators ascend: all of them decide which node an entry belongs to. */
static const char *
fpt_num_check_separators(FPTNumCheck *st)
{
	for (int kid = 1; kid < st->pg.nkids; kid++)
	{
		uint64		sep = fpt_num_sep(&st->pg, kid);

		st->fault->kid = kid;
		if (fpt_num_sep(&st->pg, kid - 1) >= sep)
			return fpt_num_fault(st, "separators are out of order",
								 "separator", sep);
	}
	return NULL;
}

/* An entry, the rank'th one of its node. */
static const char *
fpt_num_check_entry(FPTNumCheck *st, int kid, int rank, uint64 e)
{
	const FPTNumbers *pg = &st->pg;
	FPTKey		key = {.cls = FPT_CLS_VALUE, .tid = fpt_num_tid(pg, e)};
	const char *head = fpt_num_head_of(pg, e >> pg->t);

	st->fault->rank = rank;
	if (!fpt_tid_is_valid(key.tid))
		return fpt_num_fault(st, "TID is not valid", "TID", key.tid);
	if (head == NULL)
		return fpt_num_fault(st, "entry has a label without a head", "label",
							 e >> pg->t);
	if (st->n > 0 && e <= st->last)
		return fpt_num_fault(st, "entries are out of order", "number", e);
	if (fpt_num_kid(pg, e) != kid)
		return fpt_num_fault(st, "entry belongs to another node", "number", e);
	fpt_num_image(pg, head, &key.hi, &key.lo);
	if (fpt_key_cmp(pg->l, &key, &st->low) < 0)
		return fpt_num_fault(st, "entry is below the low fence",
							 "lower half of its key", key.lo);
	if (fpt_key_cmp(pg->l, &key, &st->high) >= 0)
		return fpt_num_fault(st, "entry is not below the high fence",
							 "lower half of its key", key.lo);
	st->last = e;
	st->n++;
	return NULL;
}

/* A node, after those before it. */
static const char *
fpt_num_check_node(FPTNumCheck *st, int kid)
{
	const FPTNumbers *pg = &st->pg;
	FPTNumNode	d;
	uint64		used;
	uint8		slots[FPT_MAX_CAP];
	uint64		distances[FPT_MAX_CAP];
	const char *msg = NULL;
	int			n;

	st->fault->kid = kid;
	st->fault->rank = -1;
	if (!fpt_num_node(pg, kid, &d))
		return fpt_num_fault(st, "node's number or shape is not valid",
							 "number", fpt_num_ordinal(pg, kid));
	if (st->taken[d.ordinal])
		return fpt_num_fault(st, "node is in use twice", "number", d.ordinal);
	st->taken[d.ordinal] = true;
	used = fpt_num_used(&d);
	if (used == 0)
		return fpt_num_fault(st, "node in use is empty", "number", d.ordinal);
	if ((fpt_num_hints(pg, d.ordinal) & ~used) != 0)
		return fpt_num_fault(st,
							 "dead-entry hint for a slot that is not in use",
							 "hints", fpt_num_hints(pg, d.ordinal));
	n = fpt_num_order(&d, used, slots, distances);
	for (int i = 0; i < n && msg == NULL; i++)
		msg = fpt_num_check_entry(st, kid, i, d.b + distances[i]);
	return msg;
}

const char *
fpt_num_check(const FPTLayout *l, void *page, FPTFault *fault)
{
	FPTNumCheck st;
	const char *msg;

	memset(&st, 0, sizeof(st));
	st.fault = fault;
	st.low = fpt_page_low(l, page);
	st.high = fpt_page_high(l, page);
	msg = fpt_num_check_header(&st, l, page);
	if (msg != NULL || (fpt_header(page)->flags & FPT_F_DELETED) != 0)
		return msg != NULL || st.pg.nkids == 0 ? msg :
			fpt_num_fault(&st, "deleted page has entries", "nodes in use",
						  st.pg.nkids);
	msg = fpt_num_check_heads(&st);
	if (msg == NULL)
		msg = fpt_num_check_separators(&st);
	for (int kid = 0; msg == NULL && kid < st.pg.nkids; kid++)
		msg = fpt_num_check_node(&st, kid);
	if (msg != NULL)
		return msg;
	st.fault->kid = st.fault->rank = -1;
	if (st.n > FPT_MAX_ENTRIES)
		return fpt_num_fault(&st, "page has too many entries", "entries", st.n);
	for (int i = 0; i < st.pg.maxnodes; i++)
	{
		if (!st.taken[i] && fpt_num_hints(&st.pg, i) != 0)
			return fpt_num_fault(&st,
								 "dead-entry hint for a slot that is not in use",
								 "node", i);
	}
	return NULL;
}
