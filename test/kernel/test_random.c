/*-------------------------------------------------------------------------
 *
 * test_random.c
 *	  Random operations on random pages, compared with a sorted array.
 *
 *-------------------------------------------------------------------------
 */
#include "ktest.h"

#define VERIFY_EVERY	100		/* operations between full comparisons */

static KTWorld *w;
static char *before;			/* image before an insertion */
static char *spare;				/* the other page of a split */
static FPTEntry entries[FPT_MAX_ENTRIES + 1];
static long noutliers;			/* splits that could not be in the middle */
static long nfar;				/* entries too far from all nodes */
static long nrows;				/* pages formed of TIDs relative to nodes */
static long ncrowded;			/* ... of which nodes were crowded */
static long ncrowdedfull;		/* ... that have no room for another node */
static long nstuck;				/* ... of which no half makes a page */

/* Fill of pages when they had to be split. */
static long nsplits;
static double splitfill;
static double minfill = 1.0;
static long ngsplits;			/* of general keys, in bytes */
static double gsplitfill;
static long nsmall;				/* of these, if the new tuple is small */
static double smallfill;
static long nwithout;			/* splits without the new entry */
static long nrefused;			/* entries for which no split makes room */
static long npacked;			/* packed pages */

/* --- what a caller does when a page is full ----------------------------- */

static void
set_links(char *page, const FPTKey *low, const FPTKey *high)
{
	fpt_header(page)->left = low->cls == FPT_CLS_MINF ? FPT_NOPAGE : 7;
	fpt_header(page)->right = high->cls == FPT_CLS_PINF ? FPT_NOPAGE : 9;
}

static bool
is_minf(void)
{
	return w->level > 0 && w->low.cls == FPT_CLS_MINF && w->n > 0;
}

/* The model's entries and e, as a caller collects them; returns e's place. */
static int
collect_entries(const FPTEntry *e)
{
	int			pos = kt_model_lower_bound(w, &e->key);

	if (is_minf() && pos == 0)
		pos = 1;
	for (int i = 0; i < pos; i++)
		entries[i] = w->m[i].e;
	entries[pos] = *e;
	for (int i = pos; i < w->n; i++)
		entries[i + 1] = w->m[i].e;
	return pos;
}

/* The model now is entries a .. b - 1; hints are unknown, or none. */
static void
model_from_entries(int a, int b, bool maybe_dead)
{
	w->n = b - a;
	for (int i = 0; i < w->n; i++)
	{
		w->m[i].e = entries[a + i];
		w->m[i].dead = maybe_dead && w->level == 0;
	}
}

static FPTResult
form(char *page, const FPTKey *low, const FPTKey *high, int a, int b, int fill)
{
	FPTPageSpec spec = {.level = w->level, .pageno = w->pageno, .low = low,
	.high = high};
	FPTResult	res;

	/* what is known of the page before, or nothing */
	if (kt_chance(50))
		spec.rowbits = fpt_page_rowbits(&w->l, w->page, entries + a, b - a);
	res = fpt_page_form(&w->l, page, &spec, entries + a, b - a, fill);
	nrows += res == FPT_OK && fpt_has_far(fpt_page_geom(&w->l, page));
	set_links(page, low, high);
	return res;
}

/* The left half: in place if e's node can have it, otherwise formed anew. */
static FPTResult
split_left(const FPTEntry *e, int pos, int at, const FPTKey *sep)
{
	FPTResult	res;
	bool		mine = pos < at;	/* pos is beyond the end if e stays out */
	FPTEdit		edit = {0};

	memcpy(before, w->page, BLCKSZ);
	res = fpt_page_truncate(&w->l, before, mine ? at - 1 : at);
	CHECK(res == FPT_OK);
	if (mine)
	{
		res = fpt_page_make_room(&w->l, before, e, &kt_work);
		if (res == FPT_OK)
			res = fpt_page_insert(&w->l, before, e, &edit);
	}
	if (res == FPT_OK && kt_chance(90))
		fpt_page_trim(&w->l, before);
	if (res == FPT_OK)
	{
		res = fpt_page_set_high(&w->l, before, sep, &kt_work);
		CHECK(res == FPT_OK || (w->general && res == FPT_FULL));
	}
	/* minus infinity alone may have a key that is above the separator */
	if (res != FPT_OK || kt_chance(10) || (is_minf() && at == 1))
		return form(before, &w->low, sep, 0, at, 75);
	set_links(before, &w->low, sep);
	return FPT_OK;
}

/* Split the page in front of entry "at", go on with one of the halves. */
static bool
split_page_at(const FPTEntry *e, int pos, int n, int at)
{
	FPTKey		sep = entries[at].key;
	FPTKeyBuf	buf;
	char	   *left = w->page;

	if (w->level == 0 && w->general)
	{
		w->l.separate(w->l.arg, &entries[at - 1].key, &sep, &buf);
		CHECK(fpt_key_cmp(&w->l, &entries[at - 1].key, &buf.key) < 0);
		CHECK(fpt_key_cmp(&w->l, &buf.key, &sep) <= 0);

		/* the model keeps it: that key's tuple begins so */
		sep.len = buf.key.len;
		sep.tid = buf.key.tid;
	}
	else if (w->level == 0 &&
		fpt_image_cmp(&entries[at - 1].key, &entries[at].key) != 0)
		sep.tid = 0;
	if (form(spare, &sep, &w->high, at, n, 75 + (int) kt_below(26)) != FPT_OK ||
		split_left(e, pos, at, &sep) != FPT_OK)
		return false;
	if (kt_chance(50))
	{
		w->page = spare;
		spare = left;
		w->low = sep;
		model_from_entries(at, n, false);
	}
	else
	{
		w->page = before;
		before = left;
		w->high = sep;
		model_from_entries(0, at, true);
		if (is_minf() && w->l.cut == NULL)	/* its key is what form() made of it */
			CHECK(fpt_page_get(&w->l, w->page, kt_index_loc(w, 0),
							   &w->m[0].e) == FPT_OK);
	}
	kt_verify(w, false);
	return true;
}

/* Split the full page, with e going in. */
static void
split_page(const FPTEntry *e, bool unfit)
{
	int			pos = collect_entries(e);
	int			n = w->n + 1;
	int			at = (n + 1) / 2;

	CHECK(n >= (w->general ? 2 : 3));
	if (n < 2)
		return;

	/* anywhere, which need not work with NULLs in a page of few nodes */
	if (kt_chance(30))
	{
		if (split_page_at(e, pos, n, 1 + (int) kt_below(n - 1)))
			return;
		collect_entries(e);
	}
	if (pos == n - 1)
		at = Max(1, (n - 1) * 90 / 100);
	if (split_page_at(e, pos, n, at))
		return;

	/* Wide tuples: somewhere it must be possible, at least without e. */
	for (at = 1; w->general && at < n; at++)
	{
		collect_entries(e);
		if (split_page_at(e, pos, n, at))
			return;
	}
	for (at = 1; w->general && at < n - 1; at++)
	{
		kt_model_entries(w, entries);
		if (split_page_at(e, n, n - 1, at))
		{
			nwithout++;
			return;
		}
	}

	/*
	 * In a page of 1 kB a dictionary's node leaves no room for a wide key and
	 * two wide fences: no server inserts such an entry.
	 */
	if (BLCKSZ == 1024 && fpt_has_dict(kt_geom(w)))
	{
		nrefused++;
		return;
	}

	/* An outlier makes the keys of its half too wide: it goes by itself. */
	CHECK(unfit || fpt_has_far(kt_geom(w)));
	noutliers++;
	collect_entries(e);
	at = Min(Max(pos, 1), n - 1);
	if (split_page_at(e, pos, n, at))
		return;
	collect_entries(e);
	if (split_page_at(e, pos, n, Min(pos + 1, n - 1)))
		return;

	/*
	 * Or its TID is too far, and without it half of the others make a page;
	 * where TIDs are relative to nodes that need not be, as others would share
	 * a node: then some more are left here, where nodes stay as they are.
	 */
	CHECK(fpt_has_far(kt_geom(w)));
	for (int half = 0; half < 8; half++)
	{
		kt_model_entries(w, entries);
		if (half > 1)
			at = w->n - (w->n >> half);
		else
			at = half == 0 ? pos : w->n / 2;
		nstuck += half == 2;
		if (at >= 1 && at < w->n && split_page_at(e, n, n - 1, at))
		{
			nwithout++;
			return;
		}
	}
	kt_model_entries(w, entries);
	CHECK(split_page_at(e, n, n - 1, n - 2));
}

/* e does not fit in this encoding: rebuild the page in one that it does. */
static void
recode_page(const FPTEntry *e, bool unfit)
{
	char	   *old = w->page;
	FPTResult	res;

	collect_entries(e);
	res = form(spare, &w->low, &w->high, 0, w->n + 1, 90);
	if (res == FPT_OK)
	{
		w->page = spare;
		spare = old;
		model_from_entries(0, w->n + 1, false);
		kt_verify(w, true);
		return;
	}
	CHECK(res == FPT_FULL);
	split_page(e, unfit);
}

/* --- operations --------------------------------------------------------- */

/* Is e of another class than the page, or equal to a key it is not alike? */
static bool
unfit_dict(const FPTEntry *e)
{
	FPTPageHeader *h = fpt_header(w->page);

	if (w->n == 0 || w->m[0].e.key.cls != e->key.cls)
		return true;
	for (int i = 0; i < h->ndict; i++)
	{
		FPTKey		k;

		CHECK(fpt_dict_key(w->page, i, e->key.cls, &k));
		k.tid = e->key.tid;
		if (fpt_key_cmp(&w->l, &k, &e->key) == 0)
			return !fpt_key_alike(&k, &e->key);
	}
	return false;
}

/*
 * A key as the page has it, but for the base: without its fixed bits, if it
 * leaves them out, or with what it lends.
 */
static kt_u128
stored_value(const FPTKey *key)
{
	FPTPageSpecial *s = fpt_special(w->page);
	FPTKey		k = *key;

	if (fpt_is_fixed(&w->l, w->page))
		fpt_key_squeeze(&k.hi, &k.lo);
	if (fpt_is_lent(&w->l, w->page) && key->lo >= s->base_lo)
		return s->base_lo + ((kt_u128) (key->lo - s->base_lo) << s->bits |
							 fpt_lent_part(s, s->bits, key->tid));
	return kt_value(&k);
}

/* What must be the result, as far as the model knows: FULL counts as OK. */
static FPTResult
expected_insert(const FPTEntry *e)
{
	const FPTGeom *g = kt_geom(w);
	kt_u128		base = ((kt_u128) fpt_special(w->page)->base_hi << 64) |
		fpt_special(w->page)->base_lo;
	kt_u128		v = kt_value(&e->key);
	int			i = kt_model_lower_bound(w, &e->key);
	const FPTEntry *stored = e;
	FPTLocal	local;
	int			lent = fpt_lent_bits(&w->l, w->page);

	if (i == 0 && is_minf())
		return FPT_UNFIT;
	if (fpt_has_dict(g))
	{
		if (unfit_dict(e))
			return FPT_UNFIT;
	}
	else if (fpt_page_localize(fpt_page_open(&w->l, w->page), &stored,
							   &local) != FPT_OK)
		return FPT_UNFIT;
	else if (e->key.cls == FPT_CLS_VALUE && fpt_is_fixed(&w->l, w->page) &&
			 fpt_fixed_bits(e->key.hi, e->key.lo) !=
			 fpt_special(w->page)->bits)
		return FPT_UNFIT;
	else if (e->key.cls == FPT_CLS_VALUE &&
		((v = stored_value(&stored->key)) < base || (g->kw < 16 && (v - base) >> (8 * g->kw) != 0)))
		return FPT_UNFIT;
	if (!kt_tid_fits(g, fpt_special(w->page)->rowbits, lent,
					 fpt_special(w->page)->tidbase, e->key.tid) ||
		(lent > 0 && e->key.cls != FPT_CLS_VALUE))
		return FPT_UNFIT;
	if (i < w->n && fpt_key_cmp(&w->l, &w->m[i].e.key, &e->key) == 0)
		return FPT_DUPLICATE;
	return FPT_OK;
}

static bool
same_outside_hole(const char *a, const char *b)
{
	int			lower = fpt_header(w->page)->std.pd_lower;
	int			upper = fpt_header(w->page)->std.pd_upper;

	return memcmp(a, b, lower) == 0 &&
		memcmp(a + upper, b + upper, BLCKSZ - upper) == 0;
}

/* Insert where there is room, and hold the edits against the images. */
static FPTResult
insert_checked(const FPTEntry *e)
{
	FPTEdit		edit = {0};
	FPTResult	probe = kt_insert_probe(&w->l, w->page, e);
	FPTResult	res;

	memcpy(before, w->page, BLCKSZ);
	res = fpt_page_insert(&w->l, w->page, e, &edit);
	CHECK(res == probe);
	CHECK((res == FPT_OK) == (edit.n > 0));
	for (int i = 0; i < edit.n; i++)
	{
		CHECK(edit.r[i].len > 0 &&
			  (edit.r[i].off + edit.r[i].len <=
			   fpt_header(w->page)->std.pd_lower ||
			   edit.r[i].off >= fpt_header(w->page)->std.pd_upper));
		memcpy(before + edit.r[i].off, w->page + edit.r[i].off, edit.r[i].len);
	}
	CHECK(same_outside_hole(before, w->page));
	if (res == FPT_OK)
		kt_model_insert(w, e);
	return res;
}

/* Make room, without work memory as long as that is not needed. */
static FPTResult
find_room(const FPTEntry *e, bool hard)
{
	FPTWork    *work = kt_chance(50) ? &kt_work : NULL;
	FPTResult	res;

	do
	{
		res = hard ? fpt_page_find_room(&w->l, w->page, e, work) :
			fpt_page_make_room(&w->l, w->page, e, work);
		CHECK(res != FPT_NO_WORK || work == NULL);
		work = &kt_work;
	} while (res == FPT_NO_WORK);
	return res;
}

/* How full is a page of general keys that is to be split? */
static void
note_general_fill(const FPTEntry *e)
{
	const FPTGeom *g = kt_geom(w);
	int			slot = g->kw + g->perm + g->tw + g->dw + g->ow;
	FPTPage		pg = fpt_page_open(&w->l, w->page);
	int			garbage = fpt_tuple_garbage(pg);
	int			bytes = FPT_SPECIAL_OFFSET - fpt_tuples_from(pg) - garbage +
		w->n * slot;

	CHECK(garbage >= 0);
	ngsplits++;
	gsplitfill += (double) bytes / (FPT_SPECIAL_OFFSET - g->node_off);
	if (fpt_tuple_space(e->key.len) < 100 && w->nullpct == 0 &&
		g->maxnodes >= 10)
	{
		nsmall++;
		smallfill += (double) bytes / (FPT_SPECIAL_OFFSET - g->node_off);
	}
}

static void
op_insert(void)
{
	FPTEntry	e = kt_random_entry(w);
	FPTResult	expect = expected_insert(&e);
	FPTResult	res;
	int			i = kt_model_lower_bound(w, &e.key);
	int			nread;

	/* a TID does not come twice with equal keys that are not alike */
	if (i < w->n && fpt_key_cmp(&w->l, &w->m[i].e.key, &e.key) == 0 &&
		!fpt_key_alike(&w->m[i].e.key, &e.key) && w->level == 0)
		return;

	/* nor does a separator that has none */
	if (e.key.tid == 0 && i < w->n &&
		fpt_key_cmp(&w->l, &w->m[i].e.key, &e.key) == 0)
		return;

	/* nobody inserts minus infinity a second time, nor beyond the fences */
	if ((is_minf() && fpt_key_cmp(&w->l, &e.key, &w->m[0].e.key) == 0) ||
		fpt_key_cmp(&w->l, &e.key, &w->low) < 0 ||
		fpt_key_cmp(&w->l, &e.key, &w->high) >= 0)
		return;
	if (w->general && w->level > 0 && fpt_key_cmp(&w->l, &e.key, &w->low) == 0)
		return;

	/*
	 * Nothing is below the lowest key of all, so it is no separator; and where
	 * keys are strings the model does not know what stands for minus infinity:
	 * a page formed anew would have that after this entry, without a tuple.
	 */
	if (is_minf() && i == 0 &&
		(w->l.cut != NULL || (e.key.tid == 0 && kt_value(&e.key) == 0)))
		return;
	res = insert_checked(&e);
	if (res == FPT_FULL)
	{
		CHECK(expect == FPT_OK);
		if (w->level == 0 && kt_chance(20))
			res = find_room(&e, true);
		else
			res = find_room(&e, false);
		if (res == FPT_OK)
		{
			res = insert_checked(&e);
			CHECK(res == FPT_OK);
			kt_verify(w, false);
		}
		else
		{
			double		fill = (double) w->n / kt_geom(w)->capacity;

			if (res == FPT_UNFIT && (fpt_is_near(kt_geom(w)) ||
									 fpt_has_far(kt_geom(w))))
			{
				/* too far from its neighbours, and no node to be had */
				kt_verify(w, false);
				nfar += !fpt_has_far(kt_geom(w));
				ncrowded += fpt_has_far(kt_geom(w));
				recode_page(&e, true);
				return;
			}
			CHECK(res == FPT_FULL);
			if (fpt_has_far(kt_geom(w)))
				ncrowdedfull++;
			else if (!w->general)
			{
				nsplits++;
				splitfill += fill;
				if (kt_geom(w)->maxnodes >= 10 && fill < minfill)
					minfill = fill;
			}
			else
				note_general_fill(&e);
			kt_verify(w, false);
			if (w->general && (w->n <= FPT_WIDE_ENTRIES ||
							   fpt_page_repeats(&w->l, w->page, &kt_work,
												&nread)))
				recode_page(&e, false);
			else
				split_page(&e, false);
			return;
		}
	}
	CHECK(res == expect);
	if (res == FPT_UNFIT)
		recode_page(&e, true);
}

/* The page's first entry stays in inner pages: it repeats the low fence. */
static int
first_deletable(void)
{
	return w->level > 0 ? 1 : 0;
}

static void
op_delete(void)
{
	int			first = first_deletable();
	int			i;

	if (w->n <= first)
		return;
	i = first + (int) kt_below(w->n - first);
	CHECK(fpt_page_delete(&w->l, w->page, kt_index_loc(w, i)) == FPT_OK);
	kt_model_delete(w, i);
}

static void
op_delete_slots(void)
{
	const FPTGeom *g = kt_geom(w);
	int			kid;
	FPTLoc		loc = {0};
	uint64		slots = kt_random() & kt_random() & g->capmask;
	int			count;
	int			first;
	uint8		order[FPT_MAX_CAP];
	FPTPage		pg = fpt_page_open(&w->l, w->page);

	if (fpt_header(w->page)->nkids <= first_deletable())
		return;
	kid = loc.kid = first_deletable() +
		(int) kt_below(fpt_header(w->page)->nkids - first_deletable());
	if (kt_chance(10))
		slots = g->capmask;
	first = kt_loc_index(w, loc);
	count = fpt_node_count(&w->l, w->page, kid);
	CHECK(fpt_node_order(pg, fpt_kid_node(pg, kid), order) == count);
	for (int r = count - 1; r >= 0; r--)
	{
		if ((slots >> order[r] & 1) != 0)
			kt_model_delete(w, first + r);
	}
	CHECK(kt_delete_slots(&w->l, w->page, kid, slots) == FPT_OK);
}

/*
 * The entries of a leaf page by node, of each by slot: their places in the
 * model.
 */
static void
entries_by_slot(int *index)
{
	static int	by_slotid[FPT_MAX_ENTRIES];
	static uint16 slotids[FPT_MAX_ENTRIES];
	FPTPage		pg = fpt_page_open(&w->l, w->page);
	FPTRun		run = {.slotids = slotids};
	int			n = 0;

	for (int i = 0; i < FPT_MAX_ENTRIES; i++)
		by_slotid[i] = -1;
	CHECK(fpt_page_copy_all(&w->l, w->page, false, &run) == w->n);
	for (int i = 0; i < w->n; i++)
		by_slotid[slotids[i]] = i;
	for (int kid = 0; kid < fpt_header(w->page)->nkids; kid++)
	{
		for (int slot = 0; slot < pg.g->cap; slot++)
		{
			int			i = by_slotid[fpt_kid(pg, kid) * pg.g->cap + slot];

			if (i >= 0)
				index[n++] = i;
		}
	}
	CHECK(n == w->n);
}

/* Bytes of two page images that differ, hints apart, are in these ranges. */
static void
check_changes(const char *old, const FPTChanges *changed)
{
	static bool told[BLCKSZ];
	int			lower = fpt_header(w->page)->std.pd_lower;
	int			upper = fpt_header(w->page)->std.pd_upper;

	memset(told, 0, sizeof(told));
	for (int i = 0; i < changed->n; i++)
		memset(told + changed->r[i].off, true, changed->r[i].len);
	for (int i = 0; i < BLCKSZ; i++)
	{
		bool		hole = i >= lower && i < upper;

		CHECK(hole ? !told[i] : told[i] || old[i] == w->page[i]);
	}
}

/* As VACUUM: TIDs in no order, marks on them, and all that are marked go. */
static void
op_take(void)
{
	static uint64 tids[FPT_MAX_ENTRIES];
	static uint16 slotids[FPT_MAX_ENTRIES];
	static int	index[FPT_MAX_ENTRIES];
	static bool dead[FPT_MAX_ENTRIES];
	static uint64 marks[(FPT_MAX_ENTRIES + 100) / 64 + 2];
	static FPTChanges changed;
	uint64		gone[FPT_MAX_NODES];
	int			first = (int) kt_below(100);
	int			percent = (int) kt_below(4) * 20;
	int			nodes = fpt_page_nodes(&w->l, w->page);
	int			n = fpt_page_tids(&w->l, w->page, tids, slotids);
	int			ndead = 0;

	CHECK(n == (w->level > 0 ? -1 : w->n));
	if (w->level > 0)
		return;
	entries_by_slot(index);
	for (int i = 0; i < (FPT_MAX_ENTRIES + 100) / 64 + 2; i++)
		marks[i] = kt_random();
	for (int i = 0; i < n; i++)
	{
		uint64		bit = UINT64CONST(1) << (first + i) % 64;

		CHECK(tids[i] == w->m[index[i]].e.key.tid);
		CHECK(fpt_page_slot_is(&w->l, w->page, slotids[i], tids[i]));
		CHECK(i == 0 || slotids[i] != slotids[i - 1]);
		dead[index[i]] = kt_chance(percent);
		ndead += dead[index[i]];
		marks[(first + i) / 64] &= ~bit;
		if (dead[index[i]])
			marks[(first + i) / 64] |= bit;
	}
	CHECK(fpt_page_marked(&w->l, w->page, marks, first, n + 1, gone) == -1);
	CHECK(n == 0 ||
		  fpt_page_marked(&w->l, w->page, marks, first, n - 1, gone) == -1);
	CHECK(fpt_page_marked(&w->l, w->page, marks, first, n, gone) == ndead);
	memcpy(before, w->page, BLCKSZ);
	CHECK(fpt_page_take(&w->l, w->page, gone, &changed) == FPT_OK);
	CHECK((changed.n < 0) == (fpt_page_nodes(&w->l, w->page) < nodes));
	if (changed.n >= 0)
		check_changes(before, &changed);
	for (int i = w->n - 1; i >= 0; i--)
	{
		if (dead[i])
			kt_model_delete(w, i);
	}
}

/*
 * The first separator of a page of general keys is below all there is, even if
 * the model thinks that it equals the low fence.  Where the page has a prefix
 * it has a head that is not above the next one's, and nothing else: what is
 * between the two may be found on either side.
 */
static bool
same_index(int got, int expect)
{
	return got == expect ||
		(w->general && w->level > 0 &&
		 ((expect == 0 && got == 1) ||
		  (w->nprefix > 0 && expect == 1 && got == 0)));
}

/* What a search says of a place's node is right, or it says nothing. */
static bool
knows_below(const FPTLoc *loc)
{
	FPTLoc		right = *loc;

	/* where there are permutations it means nothing */
	if (loc->below == 0 || kt_geom(w)->perm)
		return true;
	kt_slots_before(w, &right);
	return loc->rank > 0 && loc->below == right.below;
}

static void
op_lower_bound(void)
{
	FPTKey		k = kt_random_key(w);
	FPTLoc		loc;

	CHECK(fpt_page_lower_bound(&w->l, w->page, &k, &loc) == FPT_OK);
	CHECK(same_index(kt_loc_index(w, loc), kt_model_lower_bound(w, &k)));
	CHECK(knows_below(&loc));
}

static void
op_range(void)
{
	FPTKey		lo = kt_random_key(w);
	FPTKey		hi = kt_random_key(w);
	FPTLoc		first,
				last;
	int			i;

	if (kt_chance(50))
	{
		hi = lo;
		if (kt_chance(50))
			lo.tid = 0;
	}
	if (fpt_key_cmp(&w->l, &lo, &hi) > 0)
		return;
	i = kt_model_lower_bound(w, &hi);
	if (i < w->n && fpt_key_cmp(&w->l, &w->m[i].e.key, &hi) == 0)
		i++;
	CHECK(fpt_page_range(&w->l, w->page, &lo, &hi, &first, &last) == FPT_OK);
	CHECK(same_index(kt_loc_index(w, first), kt_model_lower_bound(w, &lo)));
	CHECK(same_index(kt_loc_index(w, last), i));
	CHECK(knows_below(&first) && knows_below(&last));
}

static void
op_find_child(void)
{
	FPTKey		k = kt_random_key(w);
	FPTLoc		loc;
	uint32		child;
	int			i = kt_model_lower_bound(w, &k);

	if (w->level == 0 || w->n == 0)
		return;
	if (i == w->n || fpt_key_cmp(&w->l, &w->m[i].e.key, &k) > 0)
		i = Max(0, i - 1);
	CHECK(fpt_page_find_child(&w->l, w->page, &k, &child, &loc) == FPT_OK);
	CHECK(kt_loc_index(w, loc) == i);
	CHECK(child == w->m[i].e.down);
}

static void
op_set_down(void)
{
	int			i;

	if (w->level == 0 || w->n == 0)
		return;
	i = (int) kt_below(w->n);
	w->m[i].e.down = 2 + (uint32) kt_below(0xFFFFFFF0);
	CHECK(fpt_page_set_down(&w->l, w->page, kt_index_loc(w, i),
							w->m[i].e.down) == FPT_OK);
}

static void
op_get_and_step(void)
{
	int			i;
	int			dir = kt_chance(50) ? 1 : -1;
	FPTLoc		loc;
	FPTEntry	e;

	if (w->n == 0)
		return;
	i = (int) kt_below(w->n);
	loc = kt_index_loc(w, i);
	for (int steps = 0; steps < 5; steps++)
	{
		CHECK(fpt_page_get(&w->l, w->page, loc, &e) == FPT_OK);
		CHECK(e.down == w->m[i].e.down);
		if (i > 0 || w->level == 0 || w->l.cut == NULL)
			CHECK(fpt_key_cmp(&w->l, &e.key, &w->m[i].e.key) == 0);
		i += dir;
		CHECK(fpt_page_step(&w->l, w->page, &loc, dir) ==
			  (i >= 0 && i < w->n));
		if (i < 0 || i >= w->n)
			break;
	}
}

static void
op_copy(void)
{
	static uint64 tids[FPT_MAX_ENTRIES];
	static uint64 los[FPT_MAX_ENTRIES];
	static uint64 his[FPT_MAX_ENTRIES];
	static uint16 tupoffs[FPT_MAX_ENTRIES];
	static uint16 tuplens[FPT_MAX_ENTRIES];
	static uint32 downs[FPT_MAX_ENTRIES];
	FPTRun		run = {0};
	int			a = (int) kt_below(w->n + 1);
	int			b = a + (int) kt_below(w->n - a + 1);
	bool		skip = kt_chance(50);
	int			n;
	int			j = 0;

	if (kt_chance(90))
		run.tids = tids;
	if (kt_chance(50))
		run.los = los;
	if (run.los && kt_chance(50))
		run.his = his;
	if (w->general && kt_chance(80))
	{
		run.tupoffs = tupoffs;
		run.tuplens = tuplens;
	}
	if (w->level > 0 && (a + b) % 2 == 0)
		run.downs = downs;
	n = fpt_page_copy(&w->l, w->page, kt_index_loc(w, a), kt_index_loc(w, b),
					  skip, &run);
	for (int i = a; i < b; i++)
	{
		const FPTEntry *stored = &w->m[i].e;
		const FPTKey *k;
		FPTLocal	local;

		if (skip && w->m[i].dead)
			continue;

		/* (that of minus infinity has no key) */
		if (i > 0 || w->level == 0)
			CHECK(fpt_page_localize(fpt_page_open(&w->l, w->page), &stored,
									&local) == FPT_OK);
		k = &stored->key;
		if (run.tids)
			CHECK(tids[j] == k->tid);
		if (run.los && k->cls == FPT_CLS_VALUE &&
			(i > 0 || w->level == 0 || w->l.cut == NULL))
			CHECK(los[j] == k->lo);
		if (run.his && k->cls == FPT_CLS_VALUE)
			CHECK(his[j] == k->hi);
		if (run.downs)
			CHECK(downs[j] == stored->down);
		if (run.tupoffs && (i > 0 || w->level == 0))
		{
			CHECK(tuplens[j] == k->len);
			CHECK(k->len == 0 ||
				  memcmp(w->page + tupoffs[j], k->tup, k->len) == 0);
		}
		j++;
	}
	CHECK(n == j);
}

/* All entries of an image, by the search that looks for nothing else. */
static void
op_copy_image(void)
{
	uint64		tids[FPT_MAX_CAP];
	uint64		los[FPT_MAX_CAP];
	uint64		his[FPT_MAX_CAP];
	uint16		slotids[FPT_MAX_CAP];
	FPTRun		run = {.tids = tids, .los = los, .slotids = slotids};
	FPTKey		k = kt_random_key(w);
	bool		skip = kt_chance(50);
	int			kid;
	int			n;
	int			j = 0;

	if (w->l.keysize == 16)
		run.his = his;
	k.tid = 0;
	n = fpt_page_copy_image(&w->l, w->page, &k, skip, &run, &kid);
	if (w->general || w->level > 0 || k.cls != FPT_CLS_VALUE)
		CHECK(n == FPT_NO_IMAGE);
	if (n == FPT_NO_IMAGE)
		return;
	CHECK(kid >= 0 && kid < fpt_header(w->page)->nkids);
	for (int i = kt_model_lower_bound(w, &k);
		 i < w->n && fpt_image_cmp(&w->m[i].e.key, &k) == 0; i++)
	{
		if (skip && w->m[i].dead)
			continue;
		CHECK(j < n && tids[j] == w->m[i].e.key.tid && los[j] == k.lo);
		CHECK(run.his == NULL || his[j] == k.hi);
		CHECK(slotids[j] / kt_geom(w)->cap ==
			  fpt_kid(fpt_page_open(&w->l, w->page), kid));
		CHECK(fpt_page_slot_is(&w->l, w->page, slotids[j], tids[j]));
		j++;
	}
	CHECK(n == j);
}

static void
op_hint(void)
{
	int			i;
	uint16		slotid;
	FPTRun		run = {.slotids = &slotid};

	if (w->n == 0 || w->level > 0)
		return;
	CHECK(fpt_page_has_hints(&w->l, w->page));
	i = (int) kt_below(w->n);
	CHECK(fpt_page_copy(&w->l, w->page, kt_index_loc(w, i),
						kt_index_loc(w, i + 1), false, &run) == 1);
	CHECK(fpt_page_slot_is(&w->l, w->page, slotid, w->m[i].e.key.tid));
	CHECK(fpt_page_hint_get(&w->l, w->page, slotid) == w->m[i].dead);
	fpt_page_hint_set(&w->l, w->page, slotid);
	CHECK(fpt_page_hint_get(&w->l, w->page, slotid));
	w->m[i].dead = true;
}

/* Pack the page, if that pays: entries and hints stay, and bytes are gained. */
static void
op_pack(void)
{
	int			lower = fpt_header(w->page)->std.pd_lower;
	FPTResult	res;

	memcpy(before, w->page, BLCKSZ);
	kt_verify(w, false);		/* the model knows the hints now */
	res = fpt_page_pack(&w->l, w->page, NULL);
	CHECK(res == FPT_FULL || res == FPT_NO_WORK);
	CHECK(memcmp(before, w->page, BLCKSZ) == 0);
	if (res == FPT_FULL)
		return;
	res = fpt_page_pack(&w->l, w->page, &kt_work);
	CHECK(res == FPT_OK || res == FPT_FULL);
	CHECK(res == FPT_OK || memcmp(before, w->page, BLCKSZ) == 0);
	CHECK(res != FPT_OK || fpt_header(w->page)->std.pd_lower < lower);
	kt_verify(w, true);
	npacked++;
}

static void
one_operation(int insertpct)
{
	int			r = (int) kt_below(100);

	if (r < 50)
	{
		if (kt_chance(insertpct))
			op_insert();
		else
			op_delete();
	}
	else if (r < 51)
	{
		if (kt_chance(80))
			op_delete_slots();
		else
			op_take();
	}
	else if (r < 65)
		op_lower_bound();
	else if (r < 77)
		op_range();
	else if (r < 81)
		op_find_child();
	else if (r < 85)
		op_copy_image();
	else if (r < 90)
		op_hint();
	else if (r < 91)
		op_copy();
	else if (r < 97)
		op_get_and_step();
	else if (r < 99)
		op_set_down();
	else if (kt_chance(90))
		fpt_page_trim(&w->l, w->page);
	else
		op_pack();
}

/* One world: fill it, work on it for a while. */
static void
one_round(long ops)
{
	const char *names[8];
	int			n = fpt_simd_available(names, 8);
	int			insertpct = 30 + (int) kt_below(70);

	CHECK(fpt_simd_select(names[kt_below(n)]));
	kt_world_init(w);
	kt_world_fill(w, (int) kt_below(101));
	kt_verify(w, true);
	for (long i = 1; i <= ops; i++)
	{
		one_operation(insertpct);
		if (i % VERIFY_EVERY == 0)
			kt_verify(w, true);
	}
}

void
test_random(long ops, uint64 seed)
{
	w = kt_world_new();
	before = aligned_alloc(64, BLCKSZ);
	spare = aligned_alloc(64, BLCKSZ);
	for (uint64 round = 0; ops > 0 && kt_failures < 20; round++)
	{
		long		failed = kt_failures;
		long		n;

		kt_seed(seed + round);
		n = Min(ops, 1 + (long) kt_below(4000));
		one_round(n);
		ops -= n;
		kt_count_test(kt_failures == failed);
		if (kt_failures != failed)
			printf("first failing round: -s %llu -n 4000\n",
				   (unsigned long long) (seed + round));
	}
	fpt_simd_select("auto");
	if (nsplits > 0)
		printf("%ld full pages, %.0f%% filled on average, %.0f%% at least; "
			   "%ld outliers, %ld too far from nodes\n", nsplits,
			   100 * splitfill / nsplits, 100 * minfill, noutliers, nfar);
	printf("%ld pages formed of TIDs relative to nodes; %ld crowded, %ld full, "
		   "%ld stuck\n", nrows, ncrowded, ncrowdedfull, nstuck);
	if (ngsplits > 0)
		printf("%ld full pages of general keys, %.0f%% filled on average; "
			   "%ld of small tuples, %.0f%%; %ld without the new one, "
			   "%ld refused\n", ngsplits,
			   100 * gsplitfill / ngsplits, nsmall,
			   100 * smallfill / Max(nsmall, 1), nwithout, nrefused);
	if (npacked > 0)
		printf("%ld pages packed\n", npacked);
	kt_world_free(w);
	free(before);
	free(spare);
}
