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
	d->head = NULL;
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

/*
 * Slots of a node, in use or not, whose entries are from "from" on and below
 * "to".  Slots are numbers on a circle of 2^8w, so that it takes a comparison
 * for either end and no more.
 */
static inline uint64
fpt_num_between(const FPTNumNode *d, uint64 from, uint64 to)
{
	uint64		mask = fpt_ones(8 * d->w);
	uint64		eq;
	uint64		before,
				below;

	from = Max(from, d->b);
	if (to <= from || from - d->b > mask)
		return 0;
	if (to - d->b > mask)
	{
		/* the end is the separator's own place, after all there is */
		if (from == d->b)
			return fpt_first_slots(d->cap);
		to = d->b;
	}
	from &= mask;
	to &= mask;
	before = fpt_simd->cmp[d->w - 1] (d->p, d->cap, from, &eq);
	below = fpt_simd->cmp[d->w - 1] (d->p, d->cap, to, &eq);
	return from < to ? below & ~before :
		below | (~before & fpt_first_slots(d->cap));
}

/*
 * Put n slots in order that are not, with their distances.  Vectors order by
 * position (FPTSimd.order); insertion mends equal ones.
 */
static pg_noinline void
fpt_num_sort(uint8 *slots, uint64 *distances, int n)
{
	uint64		at[FPT_MAX_CAP];
	uint8		mine[FPT_MAX_CAP];
	uint8		pos[FPT_MAX_CAP];

	memcpy(at, distances, n * sizeof(uint64));
	memcpy(mine, slots, n);
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
}

/* Local variables have all that the loop needs: its stores might alias it. */
int
fpt_num_order(const FPTNumNode *d, uint64 set, uint8 *slots, uint64 *distances)
{
	const char *p = d->p;
	int			w = d->w;
	uint64		b = d->b;
	uint64		mask = fpt_ones(8 * w);
	uint64		least = 0;
	bool		ordered = true;
	int			n = 0;

	Assert((set & ~fpt_first_slots(d->cap)) == 0);
	for (; set != 0; set &= set - 1)
	{
		int			slot = fpt_ctz(set);
		uint64		v = (fpt_load_uint(p + slot * w, 8) - b) & mask;

		ordered &= v >= least;
		least = v;
		slots[n] = (uint8) slot;
		distances[n++] = v;
	}
	if (!ordered)
		fpt_num_sort(slots, distances, n);
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
 * at this offset, or -1.  "width", 2, 4 or 8, and "step", the bytes of a head,
 * are known to the compiler.  After the last head the special line may be read.
 */
static pg_attribute_always_inline int
fpt_num_head_search(const FPTNumbers *pg, int i, int off, const int width,
					const int step, uint64 value)
{
	const char *p = pg->p + pg->upper + i * step + off;
	int			n = pg->nheads;

	Assert(step == pg->headstep);
	for (; i + 4 <= n; i += 4, p += 4 * step)
	{
		if (fpt_load_uint(p, width) == value)
			return i;
		if (fpt_load_uint(p + step, width) == value)
			return i + 1;
		if (fpt_load_uint(p + 2 * step, width) == value)
			return i + 2;
		if (fpt_load_uint(p + 3 * step, width) == value)
			return i + 3;
	}
	for (; i < n; i++, p += step)
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
	switch (pg->l->keysize)
	{
		case 4:
			return fpt_num_head_search(pg, i, FPT_NUM_LABEL_BYTES, 4,
									   4 + FPT_NUM_LABEL_BYTES, lo);
		case 8:
			return fpt_num_head_search(pg, i, FPT_NUM_LABEL_BYTES, 8,
									   8 + FPT_NUM_LABEL_BYTES, lo);
		default:
			return fpt_num_head_search(pg, i, FPT_NUM_LABEL_BYTES, 8,
									   16 + FPT_NUM_LABEL_BYTES, lo);
	}
}

/* Heads from which on it pays to guess where one is. */
#define FPT_NUM_GUESS_HEADS		12

/*
 * Where the head of an image is if heads are in order: they are when a page is
 * formed, the greatest in front, and new ones are put before them.  The number
 * of a head, which may be another one.  No branch depends on keys.  "width"
 * is known to the compiler.
 */
static pg_attribute_always_inline int
fpt_num_head_guess(const FPTNumbers *pg, uint64 hi, uint64 lo,
				   const int width)
{
	const int	step = width + FPT_NUM_LABEL_BYTES;
	const char *p = pg->p + pg->upper + FPT_NUM_LABEL_BYTES;
	int			n = pg->nheads;
	int			i = 0;

	while (n > 1)
	{
		int			half = n / 2;
		const char *q = p + (i + half - 1) * step;
		uint64		klo = fpt_load_uint(q, Min(8, width));
		bool		above = klo > lo;

		if (width > 8)
		{
			uint64		khi = fpt_load_uint(q + 8, 8);

			above = (khi > hi) | ((khi == hi) & above);
		}
		i += above ? half : 0;
		n -= half;
	}
	return i;
}

/* The same of any width. */
static inline int
fpt_num_image_guess(const FPTNumbers *pg, uint64 hi, uint64 lo)
{
	switch (pg->l->keysize)
	{
		case 4:
			return fpt_num_head_guess(pg, hi, lo, 4);
		case 8:
			return fpt_num_head_guess(pg, hi, lo, 8);
		default:
			return fpt_num_head_guess(pg, hi, lo, 16);
	}
}

/* Has the i'th head this image? */
static inline bool
fpt_num_head_is(const FPTNumbers *pg, int i, uint64 hi, uint64 lo)
{
	uint64		khi,
				klo;

	fpt_num_image(pg, fpt_num_head(pg, i), &khi, &klo);
	return klo == lo && khi == hi;
}

/* If it is not where it should be, all heads are looked at. */
char *
fpt_num_head_find(const FPTNumbers *pg, uint64 hi, uint64 lo)
{
	int			i;

	if (pg->nheads >= FPT_NUM_GUESS_HEADS)
	{
		i = fpt_num_image_guess(pg, hi, lo);
		if (likely(fpt_num_head_is(pg, i, hi, lo)))
			return fpt_num_head(pg, i);
	}
	for (i = 0; (i = fpt_num_image_search(pg, i, lo)) >= 0; i++)
	{
		if (fpt_num_head_is(pg, i, hi, lo))
			return fpt_num_head(pg, i);
	}
	return NULL;
}

char *
fpt_num_head_of(const FPTNumbers *pg, uint64 label)
{
	int			i;

	if (label > FPT_NUM_MAX_LABEL)
		return NULL;
	switch (pg->l->keysize)
	{
		case 4:
			i = fpt_num_head_search(pg, 0, 0, FPT_NUM_LABEL_BYTES,
									4 + FPT_NUM_LABEL_BYTES, label);
			break;
		case 8:
			i = fpt_num_head_search(pg, 0, 0, FPT_NUM_LABEL_BYTES,
									8 + FPT_NUM_LABEL_BYTES, label);
			break;
		default:
			i = fpt_num_head_search(pg, 0, 0, FPT_NUM_LABEL_BYTES,
									16 + FPT_NUM_LABEL_BYTES, label);
			break;
	}
	return i < 0 ? NULL : fpt_num_head(pg, i);
}

/* fpt_num_labels() for images of a width that the compiler knows. */
static pg_attribute_always_inline void
fpt_num_labels_of(const FPTNumbers *pg, uint64 hi, uint64 lo, const int width,
				  uint64 *below, uint64 *above)
{
	const int	step = width + FPT_NUM_LABEL_BYTES;
	const char *p = pg->p + pg->upper;
	uint64		most = 0;
	uint64		least = FPT_NUM_MAX_LABEL + 1;

	for (int i = 0; i < pg->nheads; i++, p += step)
	{
		const char *q = p + FPT_NUM_LABEL_BYTES;
		uint64		label = fpt_load_uint(p, FPT_NUM_LABEL_BYTES);
		uint64		klo = fpt_load_uint(q, Min(8, width));
		bool		before = klo < lo;

		if (width > 8)
		{
			uint64		khi = fpt_load_uint(q + 8, 8);

			before = (khi < hi) | ((khi == hi) & before);
		}
		most = before && label > most ? label : most;
		least = !before && label < least ? label : least;
	}
	*below = most;
	*above = least;
}

void
fpt_num_labels(const FPTNumbers *pg, uint64 hi, uint64 lo, uint64 *below,
			   uint64 *above)
{
	switch (pg->l->keysize)
	{
		case 4:
			fpt_num_labels_of(pg, hi, lo, 4, below, above);
			break;
		case 8:
			fpt_num_labels_of(pg, hi, lo, 8, below, above);
			break;
		default:
			fpt_num_labels_of(pg, hi, lo, 16, below, above);
			break;
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

/*
 * Does a place come with the slots before it, which are in this set?  A search
 * has found them, a step from entry to entry has not.
 */
static inline bool
fpt_num_knows(uint64 set, const FPTLoc *loc)
{
	return (loc->below & ~set) == 0 && fpt_popcount(loc->below) == loc->rank;
}

/* The slots of the first "rank" entries of this set. */
static uint64
fpt_num_first(const FPTNumNode *d, uint64 set, int rank)
{
	uint8		slots[FPT_MAX_CAP];
	uint64		distances[FPT_MAX_CAP];
	uint64		first = 0;
	int			n = fpt_num_order(d, set, slots, distances);

	for (int i = 0; i < Min(n, rank); i++)
		first |= UINT64CONST(1) << slots[i];
	return first;
}

/* The entry at a place is the first one of those that are not before it. */
FPTResult
fpt_num_get(const FPTNumbers *pg, FPTLoc loc, FPTEntry *out)
{
	FPTNumNode	d;
	uint64		set;
	uint64		least = ~UINT64CONST(0);
	const char *head = NULL;

	if (loc.rank < 0 || !fpt_num_node(pg, loc.kid, &d))
		return FPT_CORRUPT;
	set = fpt_num_used(&d);
	set &= ~(fpt_num_knows(set, &loc) ? loc.below :
			 fpt_num_first(&d, set, loc.rank));
	if (set == 0)
		return FPT_CORRUPT;
	for (; set != 0; set &= set - 1)
		least = Min(least, fpt_num_distance(&d, fpt_ctz(set)));
	return fpt_num_entry(pg, d.b + least, &head, out) ? FPT_OK : FPT_CORRUPT;
}

/*
 * TIDs of n entries at these distances from the node's separator; false if one
 * is not a heap TID.  All are copied even then.
 */
static inline bool
fpt_num_copy_tids(const FPTNumbers *pg, uint64 b, const uint64 *distances,
				  int n, uint64 *tids)
{
	uint64		rows = fpt_ones(pg->t);
	uint64		offsets = fpt_ones(pg->ob);
	int			ob = pg->ob;
	bool		valid = true;

	for (int i = 0; i < n; i++)
	{
		uint64		e = b + distances[i];
		uint64		tid = (e & rows) >> ob << 16 | (e & offsets);

		tids[i] = tid;
		valid &= fpt_tid_is_valid(tid);
	}
	return valid;
}

/*
 * Their images; either array may be NULL.  "head" is the first one's, or NULL:
 * it is not known.  False if one has no head.  Neighbours mostly
 * have one head.
 */
static inline bool
fpt_num_copy_images(const FPTNumbers *pg, uint64 b, const uint64 *distances,
					int n, const char *head, uint64 *los, uint64 *his)
{
	uint64		label = head == NULL ? 0 : fpt_num_label(head);
	uint64		hi = 0,
				lo = 0;
	int			t = pg->t;

	if (head != NULL)
		fpt_num_image(pg, head, &hi, &lo);
	for (int i = 0; i < n; i++)
	{
		uint64		e = b + distances[i];

		if (unlikely(e >> t != label || head == NULL))
		{
			if (!fpt_num_key(pg, e, &head, &hi, &lo))
				return false;
			label = e >> t;
		}
		if (los)
			los[i] = lo;
		if (his)
			his[i] = hi;
	}
	return true;
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
	bool		valid = true;

	if (run->tids)
		valid = fpt_num_copy_tids(pg, d->b, distances, n, run->tids + at);
	if ((run->los || run->his) &&
		!fpt_num_copy_images(pg, d->b, distances, n, d->head,
							 run->los ? run->los + at : NULL,
							 run->his ? run->his + at : NULL))
		return false;
	if (run->slotids)
	{
		uint16	   *slotids = run->slotids + at;
		int			first = d->ordinal * FPT_MAX_CAP;

		for (int i = 0; i < n; i++)
			slotids[i] = (uint16) (first + slots[i]);
	}
	if (run->tupoffs)
	{
		memset(run->tupoffs + at, 0, n * sizeof(uint16));
		memset(run->tuplens + at, 0, n * sizeof(uint16));
	}
	return valid;
}

/*
 * Copy a kid's entries, from "first" on and before "end" unless these are NULL,
 * to entry "at" of a run on.  Returns their number, dead ones that are skipped
 * left out, or -1.
 */
static int
fpt_num_copy_kid(const FPTNumbers *pg, int kid, const FPTLoc *first,
				 const FPTLoc *end, bool skip_dead, FPTRun *run, int at)
{
	int			max = run->max > 0 ? run->max : FPT_MAX_ENTRIES;
	FPTNumNode	d;
	uint8		slots[FPT_MAX_CAP];
	uint64		distances[FPT_MAX_CAP];
	uint64		set;
	uint64		dead = 0;
	int			from = first != NULL ? first->rank : 0;
	int			n;
	int			m = 0;

	if (!fpt_num_node(pg, kid, &d))
		return -1;
	set = fpt_num_used(&d);
	if (end != NULL && fpt_num_knows(set, end))
		set &= end->below;
	else if (end != NULL)
		set = fpt_num_first(&d, set, end->rank);
	if (first != NULL && fpt_num_knows(set, first))
	{
		set &= ~first->below;
		from = 0;
	}
	if (skip_dead)
		dead = fpt_num_hints(pg, d.ordinal);
	n = fpt_num_order(&d, set, slots, distances);
	if (likely(dead == 0 && from == 0))
		m = n;
	else
	{
		for (int i = from; i < n; i++)
		{
			slots[m] = slots[i];
			distances[m] = distances[i];
			m += (dead >> slots[i] & 1) == 0;
		}
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
	int			end = last.kid + (last.rank > 0);
	int			n = 0;

	if (first.kid < 0 || first.rank < 0 || last.kid > pg->nkids)
		return -1;
	for (int kid = first.kid; kid < end && kid < pg->nkids; kid++)
	{
		int			m = fpt_num_copy_kid(pg, kid,
										 kid == first.kid ? &first : NULL,
										 kid == last.kid ? &last : NULL,
										 skip_dead, run, n);

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
	{
		*kid = 0;
		return 0;
	}
	from = fpt_num_label(head) << pg->t;
	to = from + (UINT64CONST(1) << pg->t);
	*kid = fpt_num_kid(pg, from);
	if (fpt_num_kid(pg, to) != *kid || !fpt_num_node(pg, *kid, &d))
		return FPT_NO_IMAGE;
	d.head = head;
	set = fpt_num_between(&d, from, to) & fpt_num_used(&d);
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
