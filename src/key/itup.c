/*-------------------------------------------------------------------------
 *
 * key/itup.c
 *	  Index tuples of a page's entries, for index-only scans of general keys.
 *
 * They are made while the page is locked, of many entries at once, and straight
 * from what lies there: reading a scan's entries takes longest here.  So only
 * entries that take no asking are dealt with (FPTWriteKind); of others a copy
 * of their tuples is kept, for fpt_general_write().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bswap.h"
#include "utils/memutils.h"

#include "key/itup.h"
#include "page/port.h"

/* n bytes, and up to FPT_WRITE_CHUNK more, which there are on both sides. */
static inline void
copy_chunks(char *to, const char *from, int n)
{
	const char *end = from + n;

	Assert(n >= 0);
	do
	{
		memcpy(to, from, FPT_WRITE_CHUNK);
		to += FPT_WRITE_CHUNK;
		from += FPT_WRITE_CHUNK;
	} while (unlikely(from < end));
}

/*
 * An entry that is being written: what is left of its tuple, p up to end, its
 * head, and the prefix of the page, whose npre bytes its first column begins
 * with.
 */
typedef struct FPTSource
{
	const char *p;
	const char *end;
	uint64		head;
	const char *pre;
	int			npre;
} FPTSource;

/*
 * A string that begins at s->p, or a value of fixed length, as a value at "to";
 * "length": of a string, or FPT_LENGTH_*; npre: s->npre, or 0 if it is not the
 * first column.  Returns the end of the value, or NULL if it is not a short
 * one, or ends beyond s->end; s->p is then the next column's.  Reads and writes
 * in units of FPT_WRITE_CHUNK, and so up to that much after both ends, where
 * there is room for it (write_simple()).
 */
static inline char *
write_bytes(const FPTWriteStep *w, FPTSource *s, int npre, int length, char *to)
{
	const char *from = s->p;
	const char *end = s->end;
	int			len = w->typlen;
	int			nhead = w->nhead;

	Assert(w->kind == FPT_WRITE_VARLENA || w->kind == FPT_WRITE_FIXED);
	if (w->kind == FPT_WRITE_VARLENA)
	{
		len = length;
		if (length == FPT_LENGTH_REST)
			len = nhead + (int) (end - from);
		else if (length == FPT_LENGTH_STORED)
		{
			if (unlikely(from >= end))
				return NULL;
			len = (uint8) *from++;
		}
		if (unlikely(npre + len > FPT_V_SHORT_MAX))
			return NULL;
		nhead = Min(nhead, len);
		SET_VARSIZE(to, VARHDRSZ + npre + len);
		to += VARHDRSZ;
		if (unlikely(npre > 0))
		{
			copy_chunks(to, s->pre, npre);
			to += npre;
		}
	}
	len -= nhead;
	if (unlikely(end - from < len))
		return NULL;
	if (nhead > 0)
	{
		uint64		v = pg_hton64(s->head << w->shift);

		memcpy(to, &v, sizeof(v));
		to += nhead;
	}
	copy_chunks(to, from, len);
	s->p = from + len;
	return to + len;
}

/*
 * Column i at "to"; the same as for write_bytes().  Returns the end of what was
 * written; NULL if the entry ends before.  Always inline: i is a constant for
 * the first two columns.
 */
static pg_attribute_always_inline char *
write_column(const FPTGeneral *g, int i, FPTSource *s, int length, char *to)
{
	const FPTWriteStep *w = &g->col[i].step;
	uint64		v = 0;
	uint32		v4;

	Assert(w->kind != FPT_WRITE_OTHER);
	if (i > 0)
	{
		/* zeroes in front of a varlena tell a reader to align */
		memcpy(to, &v, sizeof(v));
		to += -(uintptr_t) to & w->align;
	}
	if (w->kind == FPT_WRITE_HEAD4)
	{
		v4 = (uint32) ((s->head >> w->shift) ^ w->mask);
		memcpy(to, &v4, sizeof(v4));
		return to + sizeof(v4);
	}
	if (w->kind == FPT_WRITE_HEAD8)
	{
		v = s->head ^ w->mask;
		memcpy(to, &v, sizeof(v));
		return to + sizeof(v);
	}
	return write_bytes(w, s, i == 0 ? s->npre : 0, length, to);
}

/*
 * An entry as an index tuple, if it has no NULLs and short strings only; the
 * columns are simple.  Returns the end of the tuple, or NULL if the entry is
 * another one; its bytes s->p .. s->end - 1 are checked here, too.  There are
 * FPT_WRITE_CHUNK bytes of some kind behind them, and FPT_WRITE_MAX bytes for
 * the index tuple.
 */
static inline char *
write_simple(const FPTGeneral *g, int natts, FPTSource *s, char *itup)
{
	char	   *to = itup + MAXALIGN(sizeof(IndexTupleData));
	int			lastlen = FPT_LENGTH_STORED;	/* the last column's */

	Assert(natts > 0 && g->simple);
	Assert((uintptr_t) itup % MAXIMUM_ALIGNOF == 0);
	if (s->p < s->end)
	{
		uint8		b = g->usual;

		if (unlikely((uint8) *s->p == FPT_T_HEADER))
		{
			if (s->end - s->p < 2)
				return NULL;
			b = (uint8) s->p[1];
			s->p += 2;
		}

		/* the number of columns, and no bitmap */
		lastlen = header_length(b);
		if (unlikely(lastlen < 0 && (b & ~FPT_T_REST) != natts))
			return NULL;
	}

	/* Most indexes have one column or two: a loop would take longer. */
	to = write_column(g, 0, s, natts == 1 ? lastlen : FPT_LENGTH_STORED, to);
	if (natts == 1 || unlikely(to == NULL))
		return to;
	to = write_column(g, 1, s, natts == 2 ? lastlen : FPT_LENGTH_STORED, to);
	for (int i = 2; i < natts && likely(to != NULL); i++)
		to = write_column(g, i, s,
						  i == natts - 1 ? lastlen : FPT_LENGTH_STORED, to);
	return to;
}

/*
 * Make room for "size" bytes in all: at least twice as many as there were, so
 * that copying costs a constant for each byte.  May raise for want of memory.
 */
static pg_noinline void
itups_grow(FPTItups *t, Size size)
{
	Assert(t->data != NULL && size > t->size);
	t->size = Max(t->size * 2, MAXALIGN(size));
	t->data = repalloc(t->data, t->size);
}

/*
 * See key/itup.h.  Bounded by n, the entries of a page, times the columns of
 * one (L10).
 */
void
fpt_general_write_page(const FPTGeneral *g, const char *page, bool isnull,
					   int n, const FPTRun *run, FPTItups *t, uint32 *items)
{
	const uint64 *heads = run->los;
	const uint16 *tupoffs = run->tupoffs;
	const uint16 *tuplens = run->tuplens;
	int			natts = g->natts;
	bool		simple = g->simple && !isnull;
	uint16		flags = g->writeflags;
	Size		room = FPT_WRITE_MAX(natts);
	Size		at = t->used;
	int			lastoff = -1;
	uint64		lasthead = 0;
	uint32		item = 0;
	uint32		npre = 0;
	const char *pre = isnull ? NULL : fpt_page_prefix(page, &npre);
	FPTSource	s = {.pre = pre, .npre = (int) npre};

	Assert(at <= t->size && at == MAXALIGN(at));
	for (int i = 0; i < n; i++)
	{
		int			off = tupoffs[i];
		Size		len = tuplens[i];
		uint64		head = heads[i];
		const char *tup = page + off;
		char	   *itup;
		char	   *end = NULL;

		if (off == lastoff && head == lasthead)
		{
			items[i] = item;
			continue;
		}
		lastoff = off;
		lasthead = head;
		if (unlikely(t->size - at < room))
			itups_grow(t, at + room);
		itup = t->data + at;
		if (likely(simple))
		{
			s.p = tup;
			s.end = tup + len;
			s.head = head;
			end = write_simple(g, natts, &s, itup);
		}
		if (likely(end != NULL))
		{
			Assert((Size) (end - itup) <= room);
			((IndexTuple) itup)->t_info = flags | (uint16) (end - itup);
			items[i] = item = (uint32) at;
			at += MAXALIGN(end - itup);
			continue;
		}
		if (t->size - at < len + npre)
			itups_grow(t, at + len + npre);
		memcpy(t->data + at, tup, len);
		if (npre > 0)
			memcpy(t->data + at + len, pre, npre);
		items[i] = item = (uint32) at | FPT_ITUP_STORED;
		Assert(at < FPT_ITUP_STORED);
		at += MAXALIGN(len + npre);
	}
	t->used = at;
}
