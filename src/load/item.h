/*-------------------------------------------------------------------------
 *
 * load/item.h
 *	  What a build sorts: records of keys, and items that stand for them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FPT_BUILD_ITEM_H
#define FPT_BUILD_ITEM_H

#include "page/format.h"
#include "page/layout.h"
#include "page/port.h"

/*
 * A spooled image key is a record of 1, 2 or 3 words of 64 bits, which sort as
 * one long number, the first word being the most significant:
 *
 *		NULL keys			tid
 *		images of <= 8 bytes	lo, tid
 *		16-byte images		hi, lo, tid
 *
 * where the word "tid" is the TID shifted left by one, with the lowest bit set
 * if the tuple is dead to everybody but old snapshots.  No two records of an
 * index are equal.
 *
 * A spooled general key is this and its tuple, filled up with zeroes to a
 * multiple of 8 bytes.
 */
typedef struct FPTRecord
{
	uint64		head;
	uint64		tid;
	uint32		len;
	uint16		cls;
	uint16		flags;			/* FPT_ENTRY_* */
} FPTRecord;

#define FPT_ENTRY_DEAD		0x0001	/* dead to everybody but old snapshots */
#define FPT_ENTRY_NULL		0x0002	/* a key column is NULL */
StaticAssertDecl(FPT_ENTRY_DEAD == 1, "it is the lowest bit of an image's TID");

/*
 * What is sorted of it in memory, as a record of 3 words.  The place is the
 * number of a chunk and the offset there: the order of places is that in which
 * records came.  A sort may put other numbers into "cls" and "head"
 * (load/order.c); the place stays.
 */
typedef struct FPTItem
{
	uint64		cls;
	uint64		head;
	uint64		place;
} FPTItem;

#define FPT_ITEM_WORDS		3

#define FPT_CHUNK_BITS		18
#define FPT_CHUNK_BYTES		((Size) 1 << FPT_CHUNK_BITS)

/* How far ahead of their use records are asked for, which lie anywhere. */
#define FPT_ITEM_AHEAD		8

/* Bytes of a general key's record in a chunk or a run, whose tuple has len. */
static inline Size
fpt_record_size(uint32 len)
{
	return MAXALIGN(sizeof(FPTRecord) + len);
}

/* A record's key; its tuple is in the record. */
static inline void
fpt_record_get(const FPTRecord *rec, FPTKey *key)
{
	key->hi = 0;
	key->lo = rec->head;
	key->tid = rec->tid;
	key->cls = rec->cls;
	key->len = rec->len;
	key->tup = rec->len > 0 ? (const char *) (rec + 1) : NULL;
	key->search = NULL;
	key->pre = NULL;
	key->cut = 0;
}

/*
 * The record that an item stands for, which is in a chunk and stays there until
 * the spool writes its chunks out.
 */
static inline const FPTRecord *
fpt_item_record(char *const *chunks, const FPTItem *item)
{
	return (const FPTRecord *) (chunks[item->place >> FPT_CHUNK_BITS] +
								(item->place & (FPT_CHUNK_BYTES - 1)));
}

static inline void
fpt_item_get(char *const *chunks, const FPTItem *item, FPTKey *key)
{
	fpt_record_get(fpt_item_record(chunks, item), key);
}

/*
 * Item i of n is being used: ask for the record of one that comes later.
 * Always inline, because gcc removes calls of functions that only prefetch,
 * taking them for functions without effect.
 */
static pg_attribute_always_inline void
fpt_item_ahead(char *const *chunks, const FPTItem *items, size_t i, size_t n)
{
	if (i + FPT_ITEM_AHEAD < n)
	{
		const char *rec = (const char *)
		fpt_item_record(chunks, &items[i + FPT_ITEM_AHEAD]);

		fpt_prefetch(rec);
		fpt_prefetch(rec + FPT_LINE);
	}
}

/* The end of the items from "from" on that have the same class and head. */
static inline size_t
fpt_item_run(const FPTItem *items, size_t from, size_t n)
{
	size_t		to = from + 1;

	Assert(from < n);
	while (to < n && items[to].head == items[from].head &&
		   items[to].cls == items[from].cls)
		to++;
	return to;
}

#endif							/* FPT_BUILD_ITEM_H */
