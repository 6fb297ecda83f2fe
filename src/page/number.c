/*-------------------------------------------------------------------------
 *
 * page/number.c
 *	  Page kernel: reading a leaf page of numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "page/number.h"

bool
fpt_num_sane(const FPTLayout *l, void *page)
{
	FPTNumbers	pg;

	return fpt_num_open(l, page, &pg) &&
		fpt_header(page)->std.pd_lower == pg.node0 + pg.nnodes * pg.step;
}

bool
fpt_num_node(const FPTNumbers *pg, int kid, FPTNumNode *d)
{
	int			shape;

	if (kid < 0 || kid >= pg->nkids)
		return false;
	d->ordinal = fpt_num_ordinal(pg, kid);
	shape = ((const uint8 *) pg->p)[pg->shapes + kid];
	if (d->ordinal >= pg->nnodes || shape < FPT_NUM_MIN_WIDTH - 1 ||
		shape >= FPT_NUM_MAX_WIDTH)
		return false;
	d->p = pg->p + pg->node0 + d->ordinal * pg->step;
	d->w = shape + 1;
	d->cap = fpt_num_cap(pg->x, d->w);
	d->b = fpt_num_sep(pg, kid) << pg->ss;
	return true;
}

/* All separators are compared: no branch depends on them. */
int
fpt_num_kid(const FPTNumbers *pg, uint64 e)
{
	uint64		unit = fpt_num_unit(pg, e);
	int			n = 0;

	for (int i = 0; i < pg->nkids; i += 64)
	{
		uint64		eq;
		uint64		lt = fpt_simd->cmp[pg->sw - 1]
			(pg->p + FPT_LINE + i * pg->sw, Min(64, pg->nkids - i), unit, &eq);

		n += fpt_popcount(lt | eq);
	}
	return Max(0, n - 1);
}

/* Slots of a node whose distance from its separator is below this one. */
static uint64
fpt_num_nearer(const FPTNumNode *d, uint64 distance)
{
	uint64		mask = fpt_ones(8 * d->w);
	uint64		from = d->b & mask;
	uint64		to;
	uint64		eq;
	uint64		below,
				first;

	if (distance == 0)
		return 0;
	if (distance > mask)
		return fpt_first_slots(d->cap);
	to = (d->b + distance) & mask;
	below = fpt_simd->cmp[d->w - 1] (d->p, d->cap, to, &eq);
	first = ~fpt_simd->cmp[d->w - 1] (d->p, d->cap, from, &eq) &
		fpt_first_slots(d->cap);
	return from <= to ? first & below : first | below;
}

/* Slots in use of a node whose entries are below this number. */
static inline uint64
fpt_num_below(const FPTNumNode *d, uint64 used, uint64 e)
{
	return e <= d->b ? 0 : fpt_num_nearer(d, e - d->b) & used;
}

int
fpt_num_order(const FPTNumNode *d, uint64 set, uint8 *slots, uint64 *distances)
{
	uint64		at[FPT_MAX_CAP];
	uint8		mine[FPT_MAX_CAP];
	uint8		pos[FPT_MAX_CAP];
	uint64		least = 0;
	bool		ordered = true;
	int			n = 0;

	for (; set != 0; set &= set - 1)
	{
		int			slot = fpt_ctz(set);
		uint64		v = fpt_num_distance(d, slot);

		ordered &= v >= least;
		least = v;
		mine[n] = (uint8) slot;
		at[n++] = v;
	}
	if (ordered || n == 0)
	{
		memcpy(slots, mine, n);
		memcpy(distances, at, n * sizeof(uint64));
		return n;
	}
	fpt_simd->order(at, n, pos);
	for (int i = 0; i < n; i++)
	{
		uint64		v = at[pos[i]];
		int			j = i;

		for (; j > 0 && distances[j - 1] > v; j--)
		{
			distances[j] = distances[j - 1];
			slots[j] = slots[j - 1];
		}
		distances[j] = v;
		slots[j] = mine[pos[i]];
	}
	return n;
}

/* --- heads --------------------------------------------------------------- */

/* Where the i'th head is, by its place in the page. */
static inline char *
fpt_num_head(const FPTNumbers *pg, int i)
{
	Assert(i >= 0 && i < pg->nheads);
	return pg->p + pg->upper + i * pg->headstep;
}

/*
 * The first head, from the i'th one on, that has this number of "width" bytes
 * at this offset, or -1.  "width", 2, 4 or 8, is known to the compiler.  After
 * the last head the special line may be read.
 */
static pg_attribute_always_inline int
fpt_num_head_search(const FPTNumbers *pg, int i, int off, const int width,
					uint64 value)
{
	const char *p = pg->p + pg->upper + i * pg->headstep + off;

	for (; i < pg->nheads; i++, p += pg->headstep)
	{
		if (fpt_load_uint(p, width) == value)
			return i;
	}
	return -1;
}

/* The same of the image, or its lower half. */
static inline int
fpt_num_image_search(const FPTNumbers *pg, int i, uint64 lo)
{
	return pg->l->keysize == 4 ?
		fpt_num_head_search(pg, i, FPT_NUM_LABEL_BYTES, 4, lo) :
		fpt_num_head_search(pg, i, FPT_NUM_LABEL_BYTES, 8, lo);
}

char *
fpt_num_head_find(const FPTNumbers *pg, uint64 hi, uint64 lo)
{
	int			i = 0;

	while ((i = fpt_num_image_search(pg, i, lo)) >= 0)
	{
		uint64		khi,
					klo;

		fpt_num_image(pg, fpt_num_head(pg, i), &khi, &klo);
		if (khi == hi)
			return fpt_num_head(pg, i);
		i++;
	}
	return NULL;
}

char *
fpt_num_head_of(const FPTNumbers *pg, uint64 label)
{
	int			i;

	if (label > FPT_NUM_MAX_LABEL)
		return NULL;
	i = fpt_num_head_search(pg, 0, 0, FPT_NUM_LABEL_BYTES, label);
	return i < 0 ? NULL : fpt_num_head(pg, i);
}

void
fpt_num_labels(const FPTNumbers *pg, uint64 hi, uint64 lo, uint64 *below,
			   uint64 *above)
{
	*below = 0;
	*above = FPT_NUM_MAX_LABEL + 1;
	for (int i = 0; i < pg->nheads; i++)
	{
		const char *head = fpt_num_head(pg, i);
		uint64		label = fpt_num_label(head);
		uint64		khi,
					klo;

		fpt_num_image(pg, head, &khi, &klo);
		if (khi < hi || (khi == hi && klo < lo))
			*below = Max(*below, label);
		else
			*above = Min(*above, label);
	}
}

/* --- searching ----------------------------------------------------------- */

/*
 * The least number that an entry not below this value can have; "head" is the
 * value's, or NULL.  TIDs that the page cannot represent are between rows, or
 * after all rows of the head.
 */
static uint64
fpt_num_bound(const FPTNumbers *pg, const char *head, const FPTKey *key)
{
	uint64		tid = key->tid;
	uint64		e;

	if (head == NULL)
	{
		uint64		below,
					above;

		fpt_num_labels(pg, key->hi, key->lo, &below, &above);
		return above << pg->t;
	}
	e = fpt_num_label(head) << pg->t;
	if ((int64) tid < 0)
		return e;
	if (tid >> 16 > fpt_ones(pg->t - pg->ob))
		return e + (UINT64CONST(1) << pg->t);
	if ((tid & 0xFFFF) > fpt_ones(pg->ob))
		return e + (((tid >> 16) + 1) << pg->ob);
	return e + fpt_num_row(tid, pg->ob);
}

/* The place of the first entry that is not below this number. */
static FPTResult
fpt_num_locate(const FPTNumbers *pg, uint64 e, FPTLoc *loc)
{
	FPTNumNode	d;
	uint64		used;

	memset(loc, 0, sizeof(FPTLoc));
	if (pg->nkids == 0)
		return FPT_OK;
	loc->kid = fpt_num_kid(pg, e);
	if (!fpt_num_node(pg, loc->kid, &d))
		return FPT_CORRUPT;
	used = fpt_num_used(&d);
	loc->below = fpt_num_below(&d, used, e);
	loc->rank = fpt_popcount(loc->below);
	if (loc->rank >= fpt_popcount(used))
	{
		loc->kid++;
		loc->rank = 0;
		loc->below = 0;
	}
	return FPT_OK;
}

FPTResult
fpt_num_lower_bound(const FPTNumbers *pg, const FPTKey *key, FPTLoc *loc)
{
	if (key->cls == FPT_CLS_VALUE)
	{
		const char *head = fpt_num_head_find(pg, key->hi, key->lo);

		return fpt_num_locate(pg, fpt_num_bound(pg, head, key), loc);
	}
	memset(loc, 0, sizeof(FPTLoc));
	loc->kid = key->cls < FPT_CLS_VALUE ? 0 : pg->nkids;
	return FPT_OK;
}

/*
 * The range ends before the first entry not below "to" with the next TID.  Most
 * ranges are those of one image, whose head is searched for once.
 */
FPTResult
fpt_num_range(const FPTNumbers *pg, const FPTKey *from, const FPTKey *to,
			  FPTLoc *first, FPTLoc *last)
{
	FPTKey		end = *to;
	const char *head;

	end.tid++;
	if (fpt_image_cmp(from, to) != 0 || from->cls != FPT_CLS_VALUE)
	{
		if (fpt_num_lower_bound(pg, from, first) != FPT_OK)
			return FPT_CORRUPT;
		return fpt_num_lower_bound(pg, &end, last);
	}
	head = fpt_num_head_find(pg, from->hi, from->lo);
	if (fpt_num_locate(pg, fpt_num_bound(pg, head, from), first) != FPT_OK)
		return FPT_CORRUPT;
	if (head == NULL)
	{
		*last = *first;
		return FPT_OK;
	}
	return fpt_num_locate(pg, fpt_num_bound(pg, head, &end), last);
}

/* --- counting ------------------------------------------------------------ */

int
fpt_num_node_count(const FPTNumbers *pg, int kid)
{
	FPTNumNode	d;

	return fpt_num_node(pg, kid, &d) ? fpt_popcount(fpt_num_used(&d)) : -1;
}

/* A damaged page may name a node twice, but no page has more entries. */
int
fpt_num_count(const FPTNumbers *pg)
{
	int			n = 0;

	for (int kid = 0; kid < pg->nkids; kid++)
	{
		int			m = fpt_num_node_count(pg, kid);

		if (m < 0)
			return -1;
		n += m;
	}
	return n <= FPT_MAX_ENTRIES ? n : -1;
}

/* Bytes of slots in use and of heads, of those that there are. */
void
fpt_num_space(const FPTNumbers *pg, FPTSpace *space)
{
	int			heads = pg->nheads * pg->headstep;

	space->used = heads;
	space->room = heads + pg->nnodes * pg->step +
		Max(0, fpt_num_hole(pg)) / pg->step * pg->step;
	for (int kid = 0; kid < pg->nkids; kid++)
	{
		FPTNumNode	d;

		if (fpt_num_node(pg, kid, &d))
			space->used += fpt_popcount(fpt_num_used(&d)) * pg->step / d.cap;
	}
	space->used = Min(space->used, space->room);
}

/* --- entries ------------------------------------------------------------- */

/*
 * The image of an entry; "head" is that of the entry before, or NULL.  Pages
 * are formed such that the next head is the one below it.
 */
static inline bool
fpt_num_key(const FPTNumbers *pg, uint64 e, const char **head, uint64 *hi,
			uint64 *lo)
{
	uint64		label = e >> pg->t;

	if (*head == NULL || fpt_num_label(*head) != label)
	{
		const char *next = *head == NULL ? NULL : *head - pg->headstep;

		if (next != NULL && next >= pg->p + pg->upper &&
			fpt_num_label(next) == label)
			*head = next;
		else
			*head = fpt_num_head_of(pg, label);
		if (*head == NULL)
			return false;
	}
	fpt_num_image(pg, *head, hi, lo);
	return true;
}

/* Make an entry of its number.  False: corrupt. */
static bool
fpt_num_entry(const FPTNumbers *pg, uint64 e, const char **head, FPTEntry *out)
{
	memset(out, 0, sizeof(FPTEntry));
	out->key.cls = FPT_CLS_VALUE;
	out->key.tid = fpt_num_tid(pg, e);
	return fpt_tid_is_valid(out->key.tid) &&
		fpt_num_key(pg, e, head, &out->key.hi, &out->key.lo);
}

FPTResult
fpt_num_get(const FPTNumbers *pg, FPTLoc loc, FPTEntry *out)
{
	FPTNumNode	d;
	uint8		slots[FPT_MAX_CAP];
	uint64		distances[FPT_MAX_CAP];
	const char *head = NULL;
	int			n;

	if (!fpt_num_node(pg, loc.kid, &d))
		return FPT_CORRUPT;
	n = fpt_num_order(&d, fpt_num_used(&d), slots, distances);
	if (loc.rank < 0 || loc.rank >= n ||
		!fpt_num_entry(pg, d.b + distances[loc.rank], &head, out))
		return FPT_CORRUPT;
	return FPT_OK;
}

/*
 * Copy entries of a node, in order, to entry "at" of a run on.  False if
 * corrupt; then the run's arrays mean nothing.
 */
static bool
fpt_num_copy_slots(const FPTNumbers *pg, const FPTNumNode *d,
				   const uint8 *slots, const uint64 *distances, int n,
				   FPTRun *run, int at)
{
	const char *head = NULL;
	bool		valid = true;

	if (run->tids)
	{
		for (int i = 0; i < n; i++)
		{
			run->tids[at + i] = fpt_num_tid(pg, d->b + distances[i]);
			valid &= fpt_tid_is_valid(run->tids[at + i]);
		}
	}
	for (int i = 0; (run->los || run->his) && i < n; i++)
	{
		uint64		hi,
					lo;

		if (!fpt_num_key(pg, d->b + distances[i], &head, &hi, &lo))
			return false;
		if (run->los)
			run->los[at + i] = lo;
		if (run->his)
			run->his[at + i] = hi;
	}
	for (int i = 0; run->slotids && i < n; i++)
		run->slotids[at + i] =
			(uint16) (d->ordinal * FPT_MAX_CAP + slots[i]);
	if (run->tupoffs)
	{
		memset(run->tupoffs + at, 0, n * sizeof(uint16));
		memset(run->tuplens + at, 0, n * sizeof(uint16));
	}
	return valid;
}

/*
 * Copy entries "from" to "to" - 1 of a kid's node to entry "at" of a run on.
 * Returns their number, dead ones that are skipped left out, or -1.
 */
static int
fpt_num_copy_kid(const FPTNumbers *pg, int kid, int from, int to,
				 bool skip_dead, FPTRun *run, int at)
{
	int			max = run->max > 0 ? run->max : FPT_MAX_ENTRIES;
	FPTNumNode	d;
	uint8		slots[FPT_MAX_CAP];
	uint64		distances[FPT_MAX_CAP];
	uint64		dead = 0;
	int			n;
	int			m = 0;

	if (!fpt_num_node(pg, kid, &d))
		return -1;
	if (skip_dead)
		dead = fpt_num_hints(pg, d.ordinal);
	n = fpt_num_order(&d, fpt_num_used(&d), slots, distances);
	for (int i = from; i < Min(n, to); i++)
	{
		slots[m] = slots[i];
		distances[m] = distances[i];
		m += (dead >> slots[i] & 1) == 0;
	}
	if (at + m > max ||
		!fpt_num_copy_slots(pg, &d, slots, distances, m, run, at))
		return -1;
	return m;
}

int
fpt_num_copy(const FPTNumbers *pg, FPTLoc first, FPTLoc last, bool skip_dead,
			 FPTRun *run)
{
	int			n = 0;

	if (first.kid < 0 || first.rank < 0 || last.kid > pg->nkids)
		return -1;
	for (int kid = first.kid; kid <= last.kid && kid < pg->nkids; kid++)
	{
		int			from = kid == first.kid ? first.rank : 0;
		int			to = kid == last.kid ? last.rank : FPT_MAX_CAP;
		int			m = fpt_num_copy_kid(pg, kid, from, to, skip_dead, run,
										 n);

		if (m < 0)
			return -1;
		n += m;
	}
	return n;
}

/* Only an image all of whose entries are in one node. */
int
fpt_num_copy_image(const FPTNumbers *pg, const FPTKey *key, bool skip_dead,
				   FPTRun *run, int *kid)
{
	FPTNumNode	d;
	uint8		slots[FPT_MAX_CAP];
	uint64		distances[FPT_MAX_CAP];
	const char *head;
	uint64		from,
				to;
	uint64		set;
	int			n;

	if (key->cls != FPT_CLS_VALUE || pg->nkids == 0)
		return FPT_NO_IMAGE;
	head = fpt_num_head_find(pg, key->hi, key->lo);
	if (head == NULL)
		return FPT_NO_IMAGE;
	from = fpt_num_label(head) << pg->t;
	to = from + (UINT64CONST(1) << pg->t);
	*kid = fpt_num_kid(pg, from);
	if (fpt_num_kid(pg, to) != *kid || !fpt_num_node(pg, *kid, &d))
		return FPT_NO_IMAGE;
	set = fpt_num_used(&d);
	set = fpt_num_below(&d, set, to) & ~fpt_num_below(&d, set, from);
	if (skip_dead)
		set &= ~fpt_num_hints(pg, d.ordinal);
	n = fpt_num_order(&d, set, slots, distances);
	return fpt_num_copy_slots(pg, &d, slots, distances, n, run, 0) ? n :
		FPT_NO_IMAGE;
}

int
fpt_num_extract(const FPTNumbers *pg, FPTEntry *out, int max)
{
	const char *head = NULL;
	int			n = 0;

	max = Min(max, FPT_MAX_ENTRIES);
	for (int kid = 0; kid < pg->nkids; kid++)
	{
		FPTNumNode	d;
		uint8		slots[FPT_MAX_CAP];
		uint64		distances[FPT_MAX_CAP];
		int			m;

		if (!fpt_num_node(pg, kid, &d))
			return -1;
		m = fpt_num_order(&d, fpt_num_used(&d), slots, distances);
		if (n + m > max)
			return -1;
		for (int i = 0; i < m; i++)
		{
			if (!fpt_num_entry(pg, d.b + distances[i], &head, &out[n++]))
				return -1;
		}
	}
	return n;
}

int
fpt_num_tids(const FPTNumbers *pg, uint64 *tids, uint16 *slotids)
{
	int			n = 0;

	for (int kid = 0; kid < pg->nkids; kid++)
	{
		FPTNumNode	d;
		uint64		used;

		if (!fpt_num_node(pg, kid, &d))
			return -1;
		used = fpt_num_used(&d);
		if (n + fpt_popcount(used) > FPT_MAX_ENTRIES)
			return -1;
		for (; used != 0; used &= used - 1)
		{
			int			slot = fpt_ctz(used);

			tids[n] = fpt_num_tid(pg, d.b + fpt_num_distance(&d, slot));
			if (!fpt_tid_is_valid(tids[n]))
				return -1;
			if (slotids)
				slotids[n] = (uint16) (d.ordinal * FPT_MAX_CAP + slot);
			n++;
		}
	}
	return n;
}

/* The order is that of fpt_num_tids(). */
int
fpt_num_marked(const FPTNumbers *pg, const uint64 *marks, int first, int n,
			   uint64 gone[FPT_MAX_NODES])
{
	int			at = 0;
	int			nmarked = 0;

	for (int kid = 0; kid < pg->nkids; kid++)
	{
		FPTNumNode	d;
		uint64		used;
		uint64		set = 0;

		if (!fpt_num_node(pg, kid, &d))
			return -1;
		used = fpt_num_used(&d);
		if (fpt_popcount(used) > n - at)
			return -1;
		for (; used != 0; used &= used - 1, at++)
		{
			if ((marks[(first + at) / 64] >> (first + at) % 64 & 1) != 0)
				set |= used & -used;
		}
		nmarked += fpt_popcount(set);
		gone[d.ordinal] = set;
	}
	return at == n ? nmarked : -1;
}

/* A free node keeps its bytes: it must be one in use. */
bool
fpt_num_slot_is(const FPTNumbers *pg, int slotid, uint64 tid)
{
	int			ordinal = slotid / FPT_MAX_CAP;
	int			slot = slotid % FPT_MAX_CAP;

	for (int kid = 0; slotid >= 0 && kid < pg->nkids; kid++)
	{
		FPTNumNode	d;

		if (fpt_num_ordinal(pg, kid) != ordinal || !fpt_num_node(pg, kid, &d))
			continue;
		return slot < d.cap && (fpt_num_used(&d) >> slot & 1) != 0 &&
			fpt_num_tid(pg, d.b + fpt_num_distance(&d, slot)) == tid;
	}
	return false;
}

/* The byte of a slot's hint, or NULL: there is no such slot. */
static uint8 *
fpt_num_hint_byte(const FPTNumbers *pg, int slotid)
{
	if (slotid < 0 || slotid / FPT_MAX_CAP >= pg->nnodes)
		return NULL;
	return (uint8 *) pg->p + fpt_num_hint_off(pg) + slotid / 8;
}

bool
fpt_num_hint_get(const FPTNumbers *pg, int slotid)
{
	const uint8 *p = fpt_num_hint_byte(pg, slotid);

	return p != NULL && (*p >> slotid % 8 & 1) != 0;
}

/* As fpt_hint_set(). */
void
fpt_num_hint_set(const FPTNumbers *pg, int slotid)
{
	uint8	   *p = fpt_num_hint_byte(pg, slotid);

	if (p != NULL)
		*p |= 1 << slotid % 8;
}

bool
fpt_num_all_hints(const FPTNumbers *pg, uint64 hints[FPT_MAX_NODES])
{
	bool		any = false;

	for (int kid = 0; kid < pg->nkids; kid++)
	{
		FPTNumNode	d;
		uint64		set;

		if (!fpt_num_node(pg, kid, &d))
			return false;
		set = fpt_num_hints(pg, d.ordinal) & fpt_num_used(&d);
		hints[d.ordinal] = set;
		any |= set != 0;
	}
	return any;
}
