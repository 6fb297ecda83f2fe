/*-------------------------------------------------------------------------
 *
 * scan/position.c
 *	  Ranges of general indexes: from a position to the next one that the
 *	  quals allow, see scan/position.h.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/rel.h"

#include "key/compare.h"
#include "key/general.h"
#include "page/format.h"
#include "page/port.h"
#include "scan/position.h"
#include "scan/qualset.h"

/* The code that is known of a position's value, or NULL. */
static inline const uint64 *
known_code(const FPTQuals *q, const FPTPosition *pos)
{
	int			i = q->longcol;
	FPTCode		want;
	const FPTCode *found;

	if (likely(q->ncodes == 0) || pos->natts <= i || pos->isnull[i])
		return NULL;
	want.value = DatumGetPointer(pos->values[i]);
	found = bsearch(&want, q->codes, q->ncodes, sizeof(FPTCode),
					fpt_code_order);
	return found != NULL ? &found->code : NULL;
}

/*
 * The interval that a value is in (*in), or else the next one in this
 * direction; -1: there is none.  Runs the type's function, which may raise,
 * with a page locked, perhaps: a binary search (L10).
 */
static int
find_interval(const FPTQuals *q, int i, Datum v, bool vnull, int dir, bool *in)
{
	const FPTSet *set = &q->col[i].set;
	FPTBound	b = {.value = v, .isnull = vnull};
	int			lo = 0;
	int			hi = set->n;

	Assert(!q->col[i].any && set->n > 0);

	/* the first one that is not below the value: a binary search (rule L10) */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;
		int			side = fpt_set_side(q, i, set, mid, &b, false);

		if (side == 0)
		{
			*in = true;
			return mid;
		}
		if (side > 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*in = false;
	if (dir < 0)
		return lo - 1;
	return lo < set->n ? lo : -1;
}

/* The end of an interval that a scan in this direction comes to first. */
static inline const FPTBound *
near_end(const FPTInterval *iv, int dir)
{
	return dir > 0 ? &iv->lo : &iv->hi;
}

static inline const FPTBound *
far_end(const FPTInterval *iv, int dir)
{
	return dir > 0 ? &iv->hi : &iv->lo;
}

/*
 * Set the columns from i on to the first values that are allowed, as far as
 * those are known; "which" is column i's interval, -1 for its first one.  Those
 * before i stay.  Values are not copied: they are the quals', or where a set
 * converts them (FPTSet.at).  Compares nothing, raises nothing, allocates
 * nothing.
 */
static void
pos_fill(FPTQuals *q, FPTPosition *pos, int i, int which, int dir)
{
	Assert(i >= 0 && i < q->nkeycols && (dir == 1 || dir == -1));
	pos->natts = i;
	pos->side = -dir;
	for (; i < q->nkeycols && !q->col[i].any; i++, which = -1)
	{
		FPTAllowed *a = &q->col[i];
		FPTInterval iv;
		const FPTBound *b;

		a->cur = which >= 0 ? which : dir > 0 ? 0 : a->set.n - 1;
		iv = fpt_set_interval(&a->set, a->cur, a->set.at, false);
		b = near_end(&iv, dir);
		if (b->inf)
			return;
		pos->values[i] = b->value;
		pos->isnull[i] = b->isnull;
		pos->natts = i + 1;
		if (!b->incl)
		{
			pos->side = dir;
			return;
		}
	}
}

/*
 * Is a column's value the last one of its current interval?  Runs the type's
 * function, which may raise, with a page locked, perhaps (L7).
 */
static bool
pos_at_end(const FPTQuals *q, const FPTPosition *pos, int i, int dir)
{
	const FPTAllowed *a = &q->col[i];
	FPTConverted buf;
	FPTBound	v = {.value = pos->values[i], .isnull = pos->isnull[i]};
	FPTInterval iv;
	const FPTBound *b;

	if (a->any)
		return false;
	iv = fpt_set_interval(&a->set, a->cur, &buf, false);
	b = far_end(&iv, dir);
	if (a->set.width != 0 && !v.isnull && v.value == b->value)
		return true;
	return !b->inf && fpt_value_cmp(q, i, &v, b, false) == 0;
}

/* Go on to the next interval of a column, if there is one. */
static bool
pos_next_interval(FPTQuals *q, FPTPosition *pos, int i, int dir)
{
	int			next = q->col[i].cur + dir;

	if (next < 0 || next >= q->col[i].set.n)
		return false;
	pos_fill(q, pos, i, next, dir);
	return true;
}

/*
 * Column i's values in this direction are exhausted: go on to the next value of
 * the last column before it that has one.  Returns that column, or -1, and then
 * the position means nothing.  A comparison a column, as pos_at_end().
 */
static int
pos_carry(FPTQuals *q, FPTPosition *pos, int i, int dir)
{
	while (--i >= 0)
	{
		if (!pos_at_end(q, pos, i, dir))
		{
			/* whatever comes next */
			pos->natts = i + 1;
			pos->side = dir;
			return i;
		}
		if (pos_next_interval(q, pos, i, dir))
			return i;
	}
	return -1;
}

/*
 * Move a position on to the first one from it on that all columns' quals allow.
 * False if there is none.  *moved: the first column that was changed, or that
 * was not there before, -1: none.  Sets the columns' current intervals.
 * Compares values, perhaps with a page locked: one binary search a column
 * (L10).  The types' functions may raise.
 */
static bool
pos_seek(FPTQuals *q, FPTPosition *pos, int dir, int *moved)
{
	int			natts = pos->natts;
	bool		beyond = natts > 0 && pos->side == dir;

	Assert(natts >= 0 && natts <= q->nkeycols && !q->never);
	*moved = -1;
	for (int i = 0; i < natts; i++)
	{
		FPTAllowed *a = &q->col[i];
		bool		in = true;

		if (!a->any)
			a->cur = find_interval(q, i, pos->values[i], pos->isnull[i], dir,
								   &in);
		if (in)
		{
			if (!beyond || i < natts - 1 || !pos_at_end(q, pos, i, dir))
				continue;
			*moved = i;
			if (pos_next_interval(q, pos, i, dir))
				return true;
		}
		else if (a->cur >= 0)
		{
			*moved = i;
			pos_fill(q, pos, i, a->cur, dir);
			return true;
		}
		*moved = pos_carry(q, pos, i, dir);
		return *moved >= 0;
	}
	if (natts < q->nkeycols && !beyond)
	{
		pos_fill(q, pos, natts, -1, dir);
		if (pos->natts > natts)
			*moved = natts;
	}
	return true;
}

/*
 * The position of a key.  One that has no columns but a class is on either side
 * of the first column's NULLs.  Of a stored key the values are copies in
 * q->poscxt, of which those made before are gone; of a search key they are
 * those of the position that it was made of.  A page may be locked.  Raises an
 * error if the key's tuple makes no sense.
 */
static void
pos_load(FPTQuals *q, FPTPosition *pos, const FPTKey *key)
{
	if (key->search != NULL)
	{
		const FPTPosition *from = (const FPTPosition *)
		((const char *) key->search - offsetof(FPTPosition, s));

		pos->natts = from->natts;
		pos->side = from->side;
		memmove(pos->values, from->values, from->natts * sizeof(Datum));
		memmove(pos->isnull, from->isnull, from->natts * sizeof(bool));
		return;
	}

	fpt_context_reset(q->poscxt);
	pos->natts = 0;
	pos->side = key->cls == FPT_CLS_PINF ? 1 : -1;
	if (key->cls != FPT_CLS_MINF && key->cls != FPT_CLS_PINF)
	{
		MemoryContext old;
		bool		nullsfirst = (q->args.rel->rd_indoption[0] &
								  INDOPTION_NULLS_FIRST) != 0;

		if (q->poscxt == NULL)
			q->poscxt = AllocSetContextCreate(q->args.cxt, "fptree position",
											  ALLOCSET_SMALL_SIZES);
		old = MemoryContextSwitchTo(q->poscxt);
		pos->natts = fpt_general_deform(q->g, key, pos->values, pos->isnull);
		MemoryContextSwitchTo(old);
		pos->natts = Min(pos->natts, q->nkeycols);
		if (pos->natts == q->nkeycols)
			pos->side = 0;
		else if (pos->natts == 0 &&
				 (key->cls == FPT_CLS_NULLLAST ||
				  (key->cls == FPT_CLS_VALUE && nullsfirst)))
		{
			pos->natts = 1;
			pos->isnull[0] = true;
			pos->side = key->cls == FPT_CLS_VALUE ? 1 : -1;
		}
	}
	Assert(pos->natts >= 0 && pos->natts <= q->nkeycols);
}

static inline void
pos_search(const FPTQuals *q, FPTPosition *pos)
{
	pos->s.code = known_code(q, pos);
	pos->s.natts = pos->natts;
	pos->s.after = pos->side > 0;
	pos->s.values = pos->values;
	pos->s.isnull = pos->isnull;
}

/*
 * The position of a row comparison's values, before all entries from there on
 * that may match, or after those up to there.
 */
static void
pos_row(const FPTQuals *q, FPTPosition *pos)
{
	Assert(q->nrow > 0 && q->nrow <= q->nkeycols);
	for (int i = 0; i < q->nrow; i++)
	{
		pos->values[i] = q->row[i].sk_argument;
		pos->isnull[i] = false;
	}
	pos->natts = q->nrow;
	pos->side = q->rowfirst == q->rowincl ? -1 : 1;
}

/*
 * Is a position after the end of a range that ends at those values?  Runs
 * functions of types, which may raise, with a page locked, perhaps (L7).
 */
static bool
pos_passes_row(const FPTQuals *q, const FPTPosition *pos, int dir)
{
	bool		excl = q->rowfirst == q->rowincl ? dir > 0 : dir < 0;

	for (int i = 0; i < Min(pos->natts, q->nrow); i++)
	{
		int			c = fpt_general_compare_values(q->g, i, pos->values[i],
												   pos->isnull[i],
												   q->row[i].sk_argument,
												   false);

		if (c != 0)
			return (c > 0) == (dir > 0);
	}
	return (excl && pos->natts >= q->nrow) ||
		(pos->natts <= q->nrow && pos->side == dir);
}

/*
 * A position as a key, which lives as long as the position.  Values are in
 * memory, and codes of the quals' long ones are known, so that a page may be
 * locked (L10).  May raise (memory).
 */
static void
pos_key(const FPTQuals *q, FPTPosition *pos, FPTKey *key)
{
	Assert(pos->side != 0);
	if (pos->natts == 0)
	{
		memset(key, 0, sizeof(*key));
		key->cls = pos->side < 0 ? FPT_CLS_MINF : FPT_CLS_PINF;
		key->tid = pos->side < 0 ? 0 : FPT_MAX_TID;
		return;
	}
	pos_search(q, pos);
	fpt_general_search_key(q->g, &pos->s, key);
}

/* Does a column's current interval have one value? */
static inline bool
column_is_fixed(const FPTQuals *q, int i)
{
	const FPTAllowed *a = &q->col[i];
	FPTInterval iv;

	if (a->any || a->set.width == 1)
		return !a->any;
	Assert(a->cur >= 0 && a->cur < a->set.n);
	iv = fpt_set_interval(&a->set, a->cur, NULL, false);
	return fpt_interval_point(q, i, &iv);
}

/* How many columns before "to" are fixed, those before "from" being so? */
static int
fixed_columns(const FPTQuals *q, int from, int to)
{
	while (from < to && column_is_fixed(q, from))
		from++;
	return from;
}

/* Columns of the position of which a value is known. */
static inline int
known_columns(const FPTPosition *pos, int dir)
{
	return pos->side == dir ? pos->natts - 1 : pos->natts;
}

/*
 * The far end of a range in which q->pos is: of the first e columns, which are
 * fixed, the values, of the next one the end of its interval, or a row
 * comparison's values there, in *end.  False if the position is after those
 * values, and so are all that are allowed.  Its values are those of q->pos and
 * the quals, not copies.  Runs functions of types, which may raise, with a page
 * locked, perhaps (L7).
 */
static bool
end_of_fixed(FPTQuals *q, FPTPosition *end, int e, int dir)
{
	FPTPosition *pos = &q->pos;

	Assert(e >= 0 && e <= pos->natts && end != pos);
	memcpy(end->values, pos->values, e * sizeof(Datum));
	memcpy(end->isnull, pos->isnull, e * sizeof(bool));
	end->natts = e;
	end->side = dir;
	if (e < q->nkeycols && !q->col[e].any)
	{
		const FPTSet *set = &q->col[e].set;
		FPTInterval iv = fpt_set_interval(set, q->col[e].cur, set->at,
										  false);
		const FPTBound *b = far_end(&iv, dir);

		if (!b->inf)
		{
			end->values[e] = b->value;
			end->isnull[e] = b->isnull;
			end->natts = e + 1;
			end->side = b->incl ? dir : -dir;
			if (e == 0 && q->nrow > 1 && q->rowfirst == (dir < 0) &&
				b->incl && !b->isnull &&
				fpt_general_compare_values(q->g, 0, q->row->sk_argument,
										   false, b->value, false) == 0)
			{
				if (pos_passes_row(q, pos, dir))
					return false;
				pos_row(q, end);
			}
		}
	}
	return true;
}

/*
 * The far end of the range that begins at q->pos, in q->end.  Returns the
 * number of fixed columns; -1 if there is no such range.  *part: see
 * FPTRange.  As end_of_fixed().
 */
static int
range_end(FPTQuals *q, int dir, int moved, bool *part)
{
	int			to = known_columns(&q->pos, dir);
	int			e = fixed_columns(q, 0, to);

	/*
	 * What is before "moved" keeps its value: with any other one the position
	 * would have to be moved again.
	 */
	*part = e < moved && q->pos.side != dir;
	if (*part)
		e = fixed_columns(q, moved, to);
	return end_of_fixed(q, &q->end, e, dir) ? e : -1;
}

bool
fpt_quals_walk_end(FPTQuals *q, int dir, FPTKey *end)
{
	int			e = fixed_columns(q, 0, known_columns(&q->pos, dir));

	Assert(!q->point && q->read);
	if (!end_of_fixed(q, &q->walk, e, dir))
		return false;
	pos_key(q, &q->walk, end);
	return true;
}

/*
 * The first column that may have several values, if all it may have are those
 * of an array, one of which the position is in; else -1.  Runs functions of
 * types, as column_is_fixed().
 */
static int
array_column(const FPTQuals *q)
{
	int			i = 0;

	while (i < q->pos.natts && !q->col[i].any && q->col[i].set.n == 1)
		i++;
	if (i == q->pos.natts || q->col[i].any || q->nrow > 0)
		return -1;
	return fixed_columns(q, 0, i) == i ? i : -1;
}

void
fpt_quals_array_end(FPTQuals *q, int dir, FPTKey *end)
{
	FPTPosition *walk = &q->walk;
	int			i = array_column(q);
	const FPTSet *set = &q->col[i].set;
	FPTInterval iv;

	Assert(!q->point && q->read && i >= 0 && set->width > 0);
	iv = fpt_set_interval(set, dir > 0 ? set->n - 1 : 0, &q->walkbuf, false);
	memcpy(walk->values, q->pos.values, i * sizeof(Datum));
	memcpy(walk->isnull, q->pos.isnull, i * sizeof(bool));
	walk->values[i] = far_end(&iv, dir)->value;
	walk->isnull[i] = false;
	walk->natts = i + 1;
	walk->side = dir;
	pos_key(q, walk, end);
}

/*
 * The one range of a point: from before to after all keys that begin with its
 * values.  Its keys live as long as q->pos and q->end.  As pos_key(): a page
 * may be locked; may raise (memory).
 */
static void
point_range(FPTQuals *q, FPTRange *r)
{
	FPTPosition *pos = &q->pos;
	FPTPosition *end = &q->end;

	for (int i = 0; i < q->nscankeys; i++)
	{
		pos->values[i] = end->values[i] = q->keys[i].sk_argument;
		pos->isnull[i] = end->isnull[i] = false;
	}
	pos->natts = end->natts = q->nscankeys;
	pos->side = -1;
	end->side = 1;
	pos_search(q, pos);
	pos_search(q, end);
	fpt_general_search_keys(q->g, &pos->s, &end->s, &r->lo, &r->hi);

	/* both ends have all columns, and differ by TIDs: see fpt_one_key() */
	if (q->nscankeys == q->nkeycols)
		r->lo.search = r->hi.search;
	r->filter = false;
	r->seek = false;
	r->moved = true;
	r->bounded = false;
	r->part = false;
	r->element = -1;
}

bool
fpt_quals_range(FPTQuals *q, const FPTKey *from, int dir, FPTRange *r)
{
	FPTKey		near;
	FPTKey		far;
	int			moved;
	int			e;
	int			array;
	bool		begin;			/* at a row comparison's values */

	Assert(dir == 1 || dir == -1);
	r->point = q->point;
	r->here = false;
	if (q->point)
	{
		/* there is nothing after it */
		if (from->search != NULL)
			return false;
		if (from->cls == (dir > 0 ? FPT_CLS_MINF : FPT_CLS_PINF))
		{
			/* What is asked for next, backward, is so with a page locked. */
			if (dir < 0 && !q->read)
				fpt_quals_read(q);
			point_range(q, r);
			return true;
		}
	}
	if (!q->read)
		fpt_quals_read(q);
	if (q->never ||
		from->cls == (dir > 0 ? FPT_CLS_PINF : FPT_CLS_MINF))
		return false;
	pos_load(q, &q->pos, from);
	begin = q->nrow > 1 && q->rowfirst == (dir > 0) &&
		from->cls == (dir > 0 ? FPT_CLS_MINF : FPT_CLS_PINF);
	if (begin)
		pos_row(q, &q->pos);
	if (!pos_seek(q, &q->pos, dir, &moved))
		return false;
	e = range_end(q, dir, moved, &r->part);
	if (e < 0)
		return false;

	r->moved = moved >= 0 || begin;
	r->filter = q->nothers > 0 || q->last > e;
	r->seek = dir > 0 && q->last > e && q->last >= q->pos.natts;

	array = array_column(q);
	r->element = array >= 0 ? q->col[array].cur : -1;

	/* (a value and not the NULLs, at which a range without an end ends) */
	r->bounded = q->end.natts > e && !q->end.isnull[e];
	near = *from;
	if (r->moved || from->search != NULL)
		pos_key(q, &q->pos, &near);
	pos_key(q, &q->end, &far);
	r->lo = dir > 0 ? near : far;
	r->hi = dir > 0 ? far : near;
	return true;
}

void
fpt_quals_beside(FPTQuals *q, FPTPosition *pos, int natts, int dir,
				 FPTKey *key)
{
	Assert(natts > 0 && natts <= q->nkeycols && (dir == 1 || dir == -1));

	/* a point has nothing after it, as long as nobody asks within it */
	q->point = false;
	pos->natts = natts;
	pos->side = dir;
	pos_key(q, pos, key);
}

/* --- entries ------------------------------------------------------------- */

/*
 * "value <operator> argument", for a qual that has no intervals.  With a page
 * locked: FPT_MAX_ASKED calls at most, of all quals together (rule L10), and no
 * look-ups; nothing is allocated here.
 */
static bool
ask(FPTOther *other, Datum value)
{
	for (int k = 0; k < other->nargs; k++)
	{
		if (DatumGetBool(FunctionCall2Coll(&other->key.sk_func,
										   other->key.sk_collation, value,
										   other->args[k])))
			return true;
	}
	return false;
}

/*
 * The same of a row comparison, whose members have functions of order, one call
 * each at most.  The functions may raise, with a page locked; nothing is
 * allocated here.
 */
static bool
ask_row(ScanKey key, const Datum *values, const bool *isnull)
{
	ScanKey		member = (ScanKey) DatumGetPointer(key->sk_argument);
	int			c = 0;

	for (;; member++)
	{
		int			i = member->sk_attno - 1;

		if (isnull[i] || (member->sk_flags & SK_ISNULL))
			return false;
		c = DatumGetInt32(FunctionCall2Coll(&member->sk_func,
											member->sk_collation, values[i],
											member->sk_argument));
		if (c != 0 || (member->sk_flags & SK_ROW_END))
			break;
	}
	switch (key->sk_strategy)
	{
		case BTLessStrategyNumber:
			return c < 0;
		case BTLessEqualStrategyNumber:
			return c <= 0;
		case BTGreaterEqualStrategyNumber:
			return c >= 0;
		default:
			return c > 0;
	}
}

bool
fpt_quals_match(FPTQuals *q, const FPTKey *key)
{
	MemoryContext old;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	bool		in = true;

	Assert(q->read);
	if (unlikely(q->matchcxt == NULL))
		q->matchcxt = AllocSetContextCreate(q->args.cxt, "fptree entries",
											ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(q->matchcxt);
	(void) fpt_general_deform(q->g, key, values, isnull);
	for (int i = 0; i <= q->last && in; i++)
	{
		if (!q->col[i].any)
			(void) find_interval(q, i, values[i], isnull[i], 1, &in);
	}
	for (int k = 0; k < q->nothers && in; k++)
	{
		FPTOther   *other = &q->others[k];
		int			i = other->key.sk_attno - 1;

		if (other->key.sk_flags & SK_ROW_HEADER)
			in = ask_row(&other->key, values, isnull);
		else
			in = !isnull[i] && ask(other, values[i]);
	}
	MemoryContextSwitchTo(old);
	return in;
}
