/*-------------------------------------------------------------------------
 *
 * build/radix.c
 *	  Sorting records of one to three 64-bit words without comparing.
 *
 * The most significant digit first, eight bits at a time, in place: records are
 * counted by the digit, swapped into its 256 parts, and each part is sorted by
 * itself, small ones by insertion.  A digit begins at the highest bit in which
 * records of a part differ, so a long common beginning, as keys of an index
 * have, takes a pass over the records and no more.  Nothing is allocated: the
 * array may fill all the memory that a build has.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "build/radix.h"

/* Records looked at between two checks for interrupts. */
#define FPT_SORT_CHUNK		65536

/* Shorter arrays are sorted by insertion. */
#define FPT_SORT_SMALL		24

static pg_attribute_always_inline void
fpt_rec_swap(uint64 *a, uint64 *b, int nwords)
{
	for (int w = 0; w < nwords; w++)
	{
		uint64		t = a[w];

		a[w] = b[w];
		b[w] = t;
	}
}

static pg_attribute_always_inline void
fpt_insertion_sort(uint64 *recs, size_t n, int nwords)
{
	for (size_t i = 1; i < n; i++)
	{
		uint64		rec[FPT_MAX_WORDS];
		size_t		j = i;

		fpt_rec_copy(rec, recs + i * nwords, nwords);
		for (; j > 0 && fpt_rec_less(rec, recs + (j - 1) * nwords, nwords); j--)
			fpt_rec_copy(recs + j * nwords, recs + (j - 1) * nwords, nwords);
		fpt_rec_copy(recs + j * nwords, rec, nwords);
	}
}

/*
 * Bits of word w in which the records differ; 0: it is the same in all.  May be
 * cancelled.
 */
static pg_attribute_always_inline uint64
fpt_word_diff(const uint64 *recs, size_t n, int nwords, int w)
{
	uint64		first = recs[w];
	uint64		diff = 0;

	Assert(n > 0 && w >= 0 && w < nwords);
	for (size_t from = 0; from < n; from += FPT_SORT_CHUNK)
	{
		size_t		to = Min(from + FPT_SORT_CHUNK, n);

		for (size_t i = from; i < to; i++)
			diff |= recs[i * nwords + w] ^ first;
		CHECK_FOR_INTERRUPTS();
	}
	return diff;
}

/* Eight bits of one word. */
typedef struct FPTDigit
{
	int			word;
	int			shift;
} FPTDigit;

static pg_attribute_always_inline unsigned
fpt_digit(const uint64 *rec, FPTDigit d)
{
	return (rec[d.word] >> d.shift) & 0xFF;
}

/*
 * Where a digit's records begin: start[v], for v = 0 .. 255; start[256] = n.
 * May be cancelled, between chunks of FPT_SORT_CHUNK.
 */
static pg_attribute_always_inline void
fpt_digit_starts(const uint64 *recs, size_t n, int nwords, FPTDigit d,
				 size_t *start)
{
	memset(start, 0, 257 * sizeof(size_t));
	for (size_t from = 0; from < n; from += FPT_SORT_CHUNK)
	{
		size_t		to = Min(from + FPT_SORT_CHUNK, n);

		for (size_t i = from; i < to; i++)
			start[fpt_digit(recs + i * nwords, d) + 1]++;
		CHECK_FOR_INTERRUPTS();
	}
	for (int v = 0; v < 256; v++)
		start[v + 1] += start[v];
	Assert(start[256] == n);
}

/*
 * Bring each record into its digit's part of the array, in place.
 *
 * next[v] is the end of what is already in place in part v.  A pass goes over
 * the unsettled records of every part and swaps each with the first unsettled
 * place of the part where it belongs, which settles one record a step.  Steps
 * do not depend on each other's loads, so that the CPU overlaps their cache
 * misses; following each record's cycle to its end would wait for one after the
 * other.  A part that got its last record drops out.  May be cancelled, the
 * records then in no order.
 */
static pg_attribute_always_inline void
fpt_digit_permute(uint64 *recs, int nwords, FPTDigit d, const size_t *start)
{
	size_t		next[256];
	uint8		open[256];
	int			nopen = 0;

	for (int v = 0; v < 256; v++)
	{
		next[v] = start[v];
		if (start[v + 1] > start[v])
			open[nopen++] = (uint8) v;
	}
	/* When one part is open, what is in it belongs there. */
	while (nopen > 1)
	{
		int			still = 0;

		for (int i = 0; i < nopen; i++)
		{
			unsigned	v = open[i];
			size_t		end = start[v + 1];

			for (size_t from = next[v]; from < end; from += FPT_SORT_CHUNK)
			{
				size_t		to = Min(from + FPT_SORT_CHUNK, end);

				for (size_t j = from; j < to; j++)
				{
					uint64	   *rec = recs + j * nwords;
					size_t		place = next[fpt_digit(rec, d)]++;

					fpt_rec_swap(rec, recs + place * nwords, nwords);
				}
				CHECK_FOR_INTERRUPTS();
			}
			if (next[v] < end)
				open[still++] = (uint8) v;
		}
		nopen = still;
	}
}

/*
 * Sort records whose words before w are equal: by the highest eight bits in
 * which they differ, then each part by "recurse".  The depth of the recursion
 * is at most eight times the number of words, and a frame has some 4.5 kB
 * (start[], next[]).  May be cancelled, the records then in no order.  Takes no
 * memory besides.
 */
static pg_attribute_always_inline void
fpt_radix_step(uint64 *recs, size_t n, int nwords, int w,
			   void (*recurse) (uint64 *, size_t, int))
{
	size_t		start[257];
	FPTDigit	d;
	uint64		diff = 0;

	if (n <= FPT_SORT_SMALL)
	{
		fpt_insertion_sort(recs, n, nwords);
		return;
	}
	for (; w < nwords; w++)
	{
		diff = fpt_word_diff(recs, n, nwords, w);
		if (diff != 0)
			break;
	}
	if (diff == 0)
		return;					/* all equal */
	d.word = w;
	d.shift = Max(pg_leftmost_one_pos64(diff) - 7, 0);
	Assert(d.shift >= 0 && d.shift <= 64 - 8);
	fpt_digit_starts(recs, n, nwords, d, start);
	fpt_digit_permute(recs, nwords, d, start);
	for (int v = 0; v < 256; v++)
	{
		if (start[v + 1] - start[v] > 1)
			recurse(recs + start[v] * nwords, start[v + 1] - start[v], w);
	}
}

/* One copy for each record size, so that the sizes are constants. */
static void
fpt_radix1(uint64 *recs, size_t n, int w)
{
	fpt_radix_step(recs, n, 1, w, fpt_radix1);
}

static void
fpt_radix2(uint64 *recs, size_t n, int w)
{
	fpt_radix_step(recs, n, 2, w, fpt_radix2);
}

static void
fpt_radix3(uint64 *recs, size_t n, int w)
{
	fpt_radix_step(recs, n, 3, w, fpt_radix3);
}

void
fpt_radix_sort(uint64 *recs, size_t n, int nwords)
{
	switch (nwords)
	{
		case 1:
			fpt_radix1(recs, n, 0);
			break;
		case 2:
			fpt_radix2(recs, n, 0);
			break;
		default:
			Assert(nwords == 3);
			fpt_radix3(recs, n, 0);
			break;
	}
}
