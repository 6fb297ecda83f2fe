/*-------------------------------------------------------------------------
 *
 * load/radix.c
 *	  Sorting records of one to three 64-bit words without comparing.
 *
 * The most significant digit first, eight bits at a time, in place: records are
 * counted by the digit, swapped into its 256 parts, and each part is sorted by
 * itself.  A digit begins at the highest bit in which records of a part may
 * differ, so a long common beginning, as keys of an index have, takes a pass
 * over the records and no more.  Of some thousand records the digit has fewer
 * bits, so that its parts have some hundred: these are put into the order of a
 * digit by way of the stack, with a part for each record or two, and insertion
 * does the rest.  Nothing is allocated: the array may fill all the memory that
 * a build has.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "load/radix.h"

/* Records looked at between two checks for interrupts. */
#define FPT_SORT_CHUNK		65536

/* Arrays of so many records, or fewer, are sorted by insertion. */
#define FPT_SORT_SMALL		24

/* The same by way of the stack. */
#define FPT_SORT_STACK		512

/* Bits of a digit. */
#define FPT_LEAST_BITS		4
#define FPT_DIGIT_BITS		8

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

/* Put another record among the first n, which are in order. */
static pg_attribute_always_inline void
fpt_insert_record(uint64 *recs, size_t n, const uint64 *rec, int nwords)
{
	uint64	   *to = recs + n * nwords;

	for (; to > recs && fpt_rec_less(rec, to - nwords, nwords); to -= nwords)
		fpt_rec_copy(to, to - nwords, nwords);
	fpt_rec_copy(to, rec, nwords);
}

static pg_attribute_always_inline void
fpt_insertion_sort(uint64 *recs, size_t n, int nwords)
{
	for (size_t i = 1; i < n; i++)
	{
		uint64		rec[FPT_MAX_WORDS];

		fpt_rec_copy(rec, recs + i * nwords, nwords);
		fpt_insert_record(recs, i, rec, nwords);
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

/* Some bits of one word, FPT_DIGIT_BITS at most. */
typedef struct FPTDigit
{
	int			word;
	int			shift;
	int			bits;
} FPTDigit;

/* Bits of the digit of so many records: some 256 each will have the same. */
static inline int
fpt_digit_bits(size_t n)
{
	return Max(FPT_LEAST_BITS,
			   Min(pg_leftmost_one_pos64(n) - 8, FPT_DIGIT_BITS));
}

/*
 * The highest bits of word w, so many at most, of those in "differ", which is
 * not zero.
 */
static pg_attribute_always_inline FPTDigit
fpt_digit_below(int w, uint64 differ, int bits)
{
	int			top = pg_leftmost_one_pos64(differ);
	FPTDigit	d = {.word = w, .shift = Max(top + 1 - bits, 0), .bits = bits};

	Assert(bits >= 1 && bits <= FPT_DIGIT_BITS);
	Assert(d.shift >= 0 && d.shift < 64);
	return d;
}

static pg_attribute_always_inline unsigned
fpt_digit(const uint64 *rec, FPTDigit d)
{
	return (rec[d.word] >> d.shift) & ((1u << d.bits) - 1);
}

/*
 * Where a digit's records begin: start[v], for all values v that it can have;
 * the next one is n.  Returns the bits of the digit's word in which records
 * differ: looked for in the same pass, as memory is what takes the time.  May
 * be cancelled, between chunks of FPT_SORT_CHUNK.
 */
static pg_attribute_always_inline uint64
fpt_digit_starts(const uint64 *recs, size_t n, int nwords, FPTDigit d,
				 size_t *start)
{
	int			values = 1 << d.bits;
	uint64		first = recs[d.word];
	uint64		differ = 0;

	memset(start, 0, (values + 1) * sizeof(size_t));
	for (size_t from = 0; from < n; from += FPT_SORT_CHUNK)
	{
		size_t		to = Min(from + FPT_SORT_CHUNK, n);

		for (size_t i = from; i < to; i++)
		{
			differ |= recs[i * nwords + d.word] ^ first;
			start[fpt_digit(recs + i * nwords, d) + 1]++;
		}
		CHECK_FOR_INTERRUPTS();
	}
	for (int v = 0; v < values; v++)
		start[v + 1] += start[v];
	Assert(start[values] == n);
	return differ;
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
	size_t		next[1 << FPT_DIGIT_BITS];
	uint8		open[1 << FPT_DIGIT_BITS];
	int			nopen = 0;

	for (int v = 0; v < 1 << d.bits; v++)
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
 * Sort up to FPT_SORT_STACK records whose words before w are equal, and which
 * differ in these bits of word w at most: they are put in the order of a digit
 * on the stack, and back by insertion.  False: too many have the same digit;
 * nothing has been done.
 */
static pg_attribute_always_inline bool
fpt_stack_sort(uint64 *recs, size_t n, int nwords, int w, uint64 differ)
{
	uint64		stack[FPT_SORT_STACK * FPT_MAX_WORDS];
	uint16		next[1 << FPT_DIGIT_BITS];
	FPTDigit	d = fpt_digit_below(w, differ,
									Min(pg_leftmost_one_pos64(n) + 1,
										FPT_DIGIT_BITS));
	unsigned	begin = 0;
	unsigned	most = 0;

	Assert(n > 1 && n <= FPT_SORT_STACK);
	memset(next, 0, sizeof(uint16) << d.bits);
	for (size_t i = 0; i < n; i++)
		next[fpt_digit(recs + i * nwords, d)]++;
	for (int v = 0; v < 1 << d.bits; v++)
	{
		unsigned	count = next[v];

		next[v] = (uint16) begin;
		begin += count;
		most = Max(most, count);
	}
	Assert(begin == n);
	if (most > FPT_SORT_SMALL)
		return false;
	for (size_t i = 0; i < n; i++)
	{
		const uint64 *rec = recs + i * nwords;

		fpt_rec_copy(stack + next[fpt_digit(rec, d)]++ * nwords, rec, nwords);
	}
	for (size_t i = 0; i < n; i++)
		fpt_insert_record(recs, i, stack + i * nwords, nwords);
	return true;
}

/*
 * The next word in which records differ, after those up to *w, and its bits in
 * which they do; of many, perhaps only those in which the first ones do, which
 * mostly has the highest of all.  0: there is none.  May be cancelled.
 */
static pg_attribute_always_inline uint64
fpt_next_diff(const uint64 *recs, size_t n, int nwords, int *w)
{
	uint64		differ = 0;

	while (differ == 0 && ++*w < nwords)
	{
		differ = fpt_word_diff(recs, Min(n, FPT_SORT_STACK), nwords, *w);
		if (differ == 0 && n > FPT_SORT_STACK)
			differ = fpt_word_diff(recs, n, nwords, *w);
	}
	return differ;
}

/* Functions of one record size: those that sort few records, and any number. */
typedef struct FPTRadix
{
	bool		(*few) (uint64 *, size_t, int, uint64);
	void		(*any) (uint64 *, size_t, int, uint64);
} FPTRadix;

/*
 * Sort more records than FPT_SORT_SMALL whose words before w are equal, and
 * which differ in these bits of word w at most (0: in none of it): by the
 * highest of them, and then each part.  The depth of the recursion is at most
 * 64 / FPT_LEAST_BITS times the number of words, and a frame has some 4.5 kB
 * (start[], next[]).  May be cancelled, the records then in no order.  Takes no
 * memory besides.
 */
static pg_attribute_always_inline void
fpt_radix_step(uint64 *recs, size_t n, int nwords, int w, uint64 differ,
			   FPTRadix sort)
{
	size_t		start[(1 << FPT_DIGIT_BITS) + 1];
	FPTDigit	d;
	uint64		digit;

	/* until it begins with the highest bit in which they do differ */
	do
	{
		if (differ == 0)
			differ = fpt_next_diff(recs, n, nwords, &w);
		if (differ == 0 ||
			(n <= FPT_SORT_STACK && sort.few(recs, n, w, differ)))
			return;
		d = fpt_digit_below(w, differ, fpt_digit_bits(n));
		differ = fpt_digit_starts(recs, n, nwords, d, start);
		digit = ((UINT64CONST(1) << d.bits) - 1) << d.shift;
	} while ((differ & digit) == 0 || differ > (digit | (digit - 1)));
	fpt_digit_permute(recs, nwords, d, start);
	differ &= (UINT64CONST(1) << d.shift) - 1;
	for (int v = 0; v < 1 << d.bits; v++)
	{
		uint64	   *part = recs + start[v] * nwords;
		size_t		m = start[v + 1] - start[v];

		if (m > FPT_SORT_SMALL)
			sort.any(part, m, w, differ);
		else
			fpt_insertion_sort(part, m, nwords);
	}
}

/*
 * One copy for each record size, so that the sizes are constants.  What is on
 * the stack for few records is not in the frames of the recursion.
 */
#define FPT_RADIX(nwords) \
static pg_noinline bool \
fpt_stack_sort##nwords(uint64 *recs, size_t n, int w, uint64 differ) \
{ \
	return fpt_stack_sort(recs, n, nwords, w, differ); \
} \
\
static void \
fpt_radix##nwords(uint64 *recs, size_t n, int w, uint64 differ) \
{ \
	fpt_radix_step(recs, n, nwords, w, differ, \
				   (FPTRadix) {fpt_stack_sort##nwords, fpt_radix##nwords}); \
} \
\
static void \
fpt_sort##nwords(uint64 *recs, size_t n) \
{ \
	if (n > FPT_SORT_SMALL) \
		fpt_radix##nwords(recs, n, -1, 0); \
	else \
		fpt_insertion_sort(recs, n, nwords); \
}

FPT_RADIX(1)
FPT_RADIX(2)
FPT_RADIX(3)

void
fpt_radix_sort(uint64 *recs, size_t n, int nwords)
{
	switch (nwords)
	{
		case 1:
			fpt_sort1(recs, n);
			break;
		case 2:
			fpt_sort2(recs, n);
			break;
		default:
			Assert(nwords == 3);
			fpt_sort3(recs, n);
			break;
	}
}
