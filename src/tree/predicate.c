/*-------------------------------------------------------------------------
 *
 * tree/predicate.c
 *	  Predicate locks of serializable transactions: of leaves, and of intervals
 *	  of the key space.
 *
 * A leaf has several times the entries that a page of other indexes has, and so
 * two transactions that have nothing in common would often meet on one.  So a
 * reader of a part of a leaf locks that part of the key space instead, in
 * intervals that are fixed once and for all, *cells*: of the keys' numbers,
 * images or heads, all those that differ in the lower s bits at most, for any s
 * that is a multiple of FPT_CELL_STEP.  Which s is the reader's choice,
 * as an insertion looks for a lock of every cell that its key is in, and of the
 * leaf.  Cells belong to no page: splits, moves and deletions do not concern
 * their locks (src/scan/README.md, K1 to K4).
 *
 * Core knows locks of pages.  The lock of a cell is that of a page whose number
 * is made of the cell.  If two cells, or a cell and a page, have the same one,
 * a reader of either has locked both.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relscan.h"
#include "common/hashfn.h"
#include "storage/predicate.h"

#include "page/format.h"
#include "page/kernel.h"
#include "server/stop.h"
#include "store/buf.h"
#include "tree/predicate.h"

/* Bits by which cells of one size are larger than those of the next one. */
#define FPT_CELL_STEP		4

/*
 * The most entries that a cell shall have, where they are about as dense as
 * they are next to the keys that are read: fewer than a leaf of a btree that is
 * two thirds full, or there would be more false failures; not much fewer, or a
 * transaction that reads a few hundred rows, one after the other, would have
 * many locks, which core makes one of the whole index if they are more than 31.
 */
#define FPT_CELL_ENTRIES		256
#define FPT_CELL_ENTRIES_WIDE	128 /* of keys that take more space there */

/* Cells that are locked of one leaf at most: beyond that all of it is. */
#define FPT_MAX_CELLS		8

/*
 * The number of a key: those of ascending keys do not descend.  False: it has
 * none, or none that can be compared with others.
 */
static inline bool
key_number(const FPTLayout *l, const FPTKey *key, uint64 *number)
{
	if (key->cls != FPT_CLS_VALUE || (fpt_is_general(l) && key->cut != 0))
		return false;
	*number = l->keysize == 16 ? key->hi : key->lo;
	return true;
}

/* Bits of a number. */
static inline int
number_bits(const FPTLayout *l)
{
	return l->keysize == 4 ? 32 : 64;
}

/*
 * The number of a page by which core knows the lock of a cell: none that an
 * index of less than 16 TB has.
 */
static uint32
cell_target(uint64 cell, int shift)
{
	uint32		hash = murmurhash32((uint32) cell);

	hash = hash_combine(hash, (uint32) (cell >> 32));
	hash = murmurhash32(hash_combine(hash, (uint32) shift));
	hash |= 0x80000000;
	return hash == PG_UINT32_MAX ? hash - 1 : hash;
}

/* The leaf is locked. */
static void
lock_leaf(FPTReading *p)
{
	PredicateLockPage(p->rel, p->pageno, p->snapshot);	/* S6 */
	p->whole = true;
}

void
fpt_reading_begin(FPTReading *p, IndexScanDesc scan, const FPTIndex *ix,
				  void *page, const FPTKey *low, const FPTKey *high,
				  bool keys)
{
	bool		same = p->goeson && p->pageno == fpt_special(page)->pageno;

	if (!same)
		p->ncells = 0;
	keys &= !(same && p->whole);
	p->whole = false;
	p->at = 0;
	p->rel = scan->indexRelation;
	p->ix = ix;
	p->snapshot = scan->xs_snapshot;
	p->page = page;
	p->pageno = fpt_special(page)->pageno;
	p->low = low;
	p->high = high;
	if (!keys || ix->headless || fpt_header(page)->nkids == 0)
		lock_leaf(p);
}

/* The number of an entry of the leaf; false: it has none. */
static bool
entry_number(const FPTReading *p, int kid, int rank, uint64 *number)
{
	FPTLoc		loc = {.kid = kid, .rank = rank};
	FPTEntry	e;

	return fpt_page_get(&p->ix->layout, p->page, loc, &e) == FPT_OK &&
		key_number(&p->ix->layout, &e.key, number);
}

/*
 * The number of a kid's first entry, or of the last entry of all, if there is
 * no such kid.
 */
static bool
border_number(const FPTReading *p, int kid, uint64 *number)
{
	int			last = fpt_header(p->page)->nkids - 1;
	int			n;

	if (kid <= last)
		return entry_number(p, kid, 0, number);
	n = fpt_node_count(&p->ix->layout, p->page, last);
	return n > 0 && entry_number(p, last, n - 1, number);
}

/*
 * By how many bits the smallest cells that shall be locked at this key are
 * larger than a number: as dense as they are within its node and those on both
 * sides entries are at the key.  -1: not known.
 */
static int
cell_shift(const FPTReading *p, const FPTKey *key)
{
	const FPTLayout *l = &p->ix->layout;
	int			nkids = fpt_header(p->page)->nkids;
	int			n = 0;
	int			shift = 0;
	int			from;
	int			to;
	uint64		first;
	uint64		last;
	double		width;
	FPTLoc		loc;

	if (fpt_page_lower_bound(l, p->page, key, &loc) != FPT_OK)
		return -1;
	from = Max(Min(loc.kid, nkids - 1) - 1, 0);
	to = Min(loc.kid + 2, nkids);
	for (int kid = from; kid < to; kid++)
		n += fpt_node_count(l, p->page, kid);
	if (n <= 0 || !border_number(p, from, &first) ||
		!border_number(p, to, &last) || last < first)
		return -1;
	width = (double) (last - first) / n *
		(fpt_is_general(l) || l->keysize == 16 ? FPT_CELL_ENTRIES_WIDE :
		 FPT_CELL_ENTRIES);
	while (shift + FPT_CELL_STEP < number_bits(l) &&
		   (double) (UINT64CONST(1) << (shift + FPT_CELL_STEP)) <= width)
		shift += FPT_CELL_STEP;
	return shift;
}

/* The width of all keys that the leaf may have, or has; 0: not known. */
static uint64
leaf_width(const FPTReading *p)
{
	const FPTLayout *l = &p->ix->layout;
	FPTKey		low = fpt_page_low(l, p->page);
	FPTKey		high = fpt_page_high(l, p->page);
	uint64		first;
	uint64		last;

	if ((!key_number(l, &low, &first) && !border_number(p, 0, &first)) ||
		(!key_number(l, &high, &last) &&
		 !border_number(p, fpt_header(p->page)->nkids, &last)))
		return 0;
	return last > first ? last - first : 0;
}

/*
 * Lock the numbers from .. to by cells; "key" is one of those.  False: that is
 * not worth it, as these are too many, or no less than the leaf.
 */
static bool
lock_cells(FPTReading *p, const FPTKey *key, uint64 from, uint64 to)
{
	int			bits = number_bits(&p->ix->layout);
	int			shift = cell_shift(p, key);
	int			n;

	Assert(from <= to);
	if (shift < 0)
		return false;
	while ((to >> shift) - (from >> shift) >= FPT_MAX_CELLS)
	{
		shift += FPT_CELL_STEP;
		if (shift >= bits)
			return false;
	}
	n = (int) ((to >> shift) - (from >> shift)) + 1;
	if (p->ncells + n > FPT_MAX_CELLS ||
		n * (double) (UINT64CONST(1) << shift) >= (double) leaf_width(p))
		return false;
	p->ncells += n;
	for (int i = 0; i < n; i++)
		PredicateLockPage(p->rel, cell_target((from >> shift) + i, shift),
						  p->snapshot);
	return true;
}

/*
 * The number at which reading begins, or ends ("upper"), if that is at this key
 * or at the bound, whichever comes later, or earlier; *key is that one then.
 */
static bool
within_bound(const FPTReading *p, const FPTKey **key, bool upper,
			 uint64 *number)
{
	const FPTLayout *l = &p->ix->layout;
	const FPTKey *bound = upper ? p->high : p->low;
	uint64		at;

	if (key_number(l, *key, number) && key_number(l, bound, &at))
	{
		if (upper ? at < *number : at > *number)
		{
			*number = at;
			*key = bound;
		}
		return true;
	}
	if (upper ? bound->cls < (*key)->cls : bound->cls > (*key)->cls)
		*key = bound;
	return key_number(l, *key, number);
}

void
fpt_reading_range(FPTReading *p, const FPTKey *lo, const FPTKey *hi)
{
	uint64		from;
	uint64		to;

	if (p->whole)
		return;
	if (!within_bound(p, &lo, false, &from) ||
		!within_bound(p, &hi, true, &to) ||
		!lock_cells(p, lo, from, Max(from, to)))
		lock_leaf(p);
}

void
fpt_reading_from(FPTReading *p, const FPTKey *lo)
{
	if (!p->whole && !within_bound(p, &lo, false, &p->at))
		lock_leaf(p);
}

void
fpt_reading_gap(FPTReading *p, const FPTKey *to)
{
	uint64		at;

	if (p->whole)
		return;
	if (!within_bound(p, &to, true, &at) ||
		(p->at <= at && !lock_cells(p, to, p->at, at)))
		lock_leaf(p);
}

/*
 * See tree/predicate.h.  Looking for a lock is cheaper than a whole check, and
 * most cells are not locked.  A session that locks one now reads another part
 * of the key space, as the leaf of this one is ours.
 *
 * The leaf comes last (K2), and with it the index, as core looks from small to
 * large: a reader elsewhere in the index may at any time get too many locks,
 * which core makes one of the whole index then.  It takes that one before it
 * lets go of the others, so that who does not find these any more finds it.
 */
void
fpt_predicate_insert(Relation rel, const FPTIndex *ix, const FPTKey *key,
					 uint32 pageno)
{
	uint64		number;

	if (!ix->headless && key_number(&ix->layout, key, &number))
	{
		for (int shift = 0; shift < number_bits(&ix->layout);
			 shift += FPT_CELL_STEP)
		{
			uint32		target = cell_target(number >> shift, shift);

			if (PageIsPredicateLocked(rel, target))
				CheckForSerializableConflictIn(rel, NULL, target);
		}
	}
	fpt_stop_point(FPT_STOP_PREDICATE);
	CheckForSerializableConflictIn(rel, NULL, pageno);	/* S6 */
}
