/*-------------------------------------------------------------------------
 *
 * dropwrites.c
 *	  After a crash on lostwrites.c: forget what was not synced.
 *
 * usage: dropwrites DATA-DIRECTORY JOURNAL-DIRECTORY MODE SEED
 *
 * MODE
 *	  keep		nothing is lost
 *	  all		every file is as it was when it was synced last
 *	  a number	each piece of so many bytes is, by the dice, as it was when synced
 *				last, as it was written last, or as it was in between; so is
 *				the size of each file
 *
 * Prints how many files and pieces there were, and how many pieces are not
 * what was written last.  The journals are removed.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal.h"

static const char *journal_dir;
static uint64_t piece;			/* 0: all or nothing */
static bool keep;
static uint64_t state;
static unsigned long nfiles,
			npieces,
			nchanged,
			nsizes;

static void
die(const char *what)
{
	perror(what);
	exit(1);
}

/* splitmix64 */
static uint64_t
dice(void)
{
	uint64_t	z = (state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* One of the states 0 (synced) .. n (written last); extremes are likely. */
static size_t
choose(size_t n)
{
	uint64_t	d = dice() % 10;

	if (piece == 0 || d < 4)
		return 0;
	return d < 8 ? n : dice() % (n + 1);
}

static void *
read_file(int fd, size_t *size)
{
	struct stat st;
	char	   *data;
	size_t		got = 0;

	if (fstat(fd, &st) < 0)
		die("fstat");
	data = malloc((size_t) st.st_size + 1);
	if (data == NULL)
		die("malloc");
	while (got < (size_t) st.st_size)
	{
		ssize_t		n = pread(fd, data + got, (size_t) st.st_size - got,
							  (off_t) got);

		if (n <= 0)
			die("read");
		got += (size_t) n;
	}
	*size = got;
	return data;
}

static bool
touches(const FPTJournalRecord *rec, uint64_t from, uint64_t to)
{
	return rec->from < to && rec->from + rec->len > from;
}

/* Take one change back, as far as it concerns bytes from .. to - 1. */
static void
take_back(char *image, const FPTJournalRecord *rec, uint64_t from, uint64_t to)
{
	uint64_t	a = rec->from > from ? rec->from : from;
	uint64_t	b = rec->from + rec->len < to ? rec->from + rec->len : to;

	for (; a < b; a++)
	{
		uint64_t	i = a - rec->from;

		image[a] = i < rec->oldlen ? ((const char *) (rec + 1))[i] : 0;
	}
}

/*
 * Choose a state of one piece of an image.  The size of the file is that of
 * before record "kept"; where a file shrinks, size and contents go together.
 */
static void
take_back_piece(char *image, uint64_t from, uint64_t to,
				FPTJournalRecord **recs, size_t n, size_t kept)
{
	size_t		touched = 0;
	size_t		lo = 0;
	size_t		hi = SIZE_MAX;
	size_t		left;

	for (size_t i = 0; i < n; i++)
	{
		if (!touches(recs[i], from, to))
			continue;
		if (recs[i]->shrinks && i < kept)
			lo = touched + 1;
		if (recs[i]->shrinks && i >= kept && hi == SIZE_MAX)
			hi = touched;
		touched++;
	}
	if (touched == 0)
		return;
	if (hi == SIZE_MAX)
		hi = touched;
	npieces++;
	left = lo + choose(hi - lo);
	if (left < touched)
		nchanged++;
	for (size_t i = n; i-- > 0 && left < touched;)
	{
		if (touches(recs[i], from, to))
		{
			take_back(image, recs[i], from, to);
			touched--;
		}
	}
}

static void
drop(const char *path, char *journal, size_t journal_size)
{
	FPTJournalRecord **recs = NULL;
	size_t		n = 0;
	size_t		size;
	uint64_t	end;
	uint64_t	newsize;
	uint64_t	step;
	size_t		kept;
	char	   *image;
	char	   *data;
	int			fd;

	for (size_t off = 0; off + sizeof(FPTJournalRecord) <= journal_size;)
	{
		FPTJournalRecord *rec = (FPTJournalRecord *) (journal + off);

		if (rec->magic != FPT_JOURNAL_MAGIC)
		{
			fprintf(stderr, "%s: damaged journal\n", path);
			exit(1);
		}
		if (off + fpt_journal_size(rec) > journal_size)
			break;				/* cut off: the change was not made */
		recs = realloc(recs, (n + 1) * sizeof(*recs));
		recs[n++] = rec;
		off += fpt_journal_size(rec);
	}
	if (n == 0 || keep)
	{
		free(recs);
		return;
	}
	nfiles++;
	if ((fd = open(path, O_RDWR)) < 0)
		die(path);
	data = read_file(fd, &size);
	end = size;
	for (size_t i = 0; i < n; i++)
	{
		uint64_t	to = recs[i]->from + recs[i]->len;

		end = to > end ? to : end;
		end = recs[i]->oldsize > end ? recs[i]->oldsize : end;
	}
	image = calloc(1, end + 1);
	if (image == NULL)
		die("calloc");
	memcpy(image, data, size);
	kept = choose(n);
	step = piece ? piece : end + 1;
	for (uint64_t from = 0; from < end; from += step)
		take_back_piece(image, from, from + step < end ? from + step : end,
						recs, n, kept);
	newsize = kept == n ? size : recs[kept]->oldsize;
	if (newsize != size)
		nsizes++;
	if (pwrite(fd, image, newsize, 0) != (ssize_t) newsize ||
		ftruncate(fd, (off_t) newsize) < 0 || close(fd) < 0)
		die(path);
	free(image);
	free(data);
	free(recs);
}

static int
visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char		name[4096];
	char	   *journal;
	size_t		size;
	int			fd;

	(void) ftw;
	if (type != FTW_F || st->st_nlink == 0)
		return 0;
	snprintf(name, sizeof(name), "%s/%llu", journal_dir,
			 (unsigned long long) st->st_ino);
	if ((fd = open(name, O_RDONLY)) < 0)
		return 0;
	journal = read_file(fd, &size);
	close(fd);
	if (size > 0)
		drop(path, journal, size);
	free(journal);
	/* a file with two names is dealt with once */
	unlink(name);
	return 0;
}

int
main(int argc, char **argv)
{
	DIR		   *dir;
	struct dirent *de;

	if (argc != 5)
	{
		fprintf(stderr, "usage: dropwrites DATA JOURNALS keep|all|BYTES SEED\n");
		return 1;
	}
	journal_dir = argv[2];
	keep = strcmp(argv[3], "keep") == 0;
	if (!keep && strcmp(argv[3], "all") != 0)
		piece = strtoull(argv[3], NULL, 10);
	state = strtoull(argv[4], NULL, 10);
	if (nftw(argv[1], visit, 32, FTW_PHYS) != 0)
		die(argv[1]);
	if ((dir = opendir(journal_dir)) == NULL || chdir(journal_dir) < 0)
		die(journal_dir);
	while ((de = readdir(dir)) != NULL)
	{
		if (de->d_name[0] != '.')
			unlink(de->d_name);
	}
	closedir(dir);
	printf("%lu files, %lu pieces, %lu changed, %lu sizes\n",
		   nfiles, npieces, nchanged, nsizes);
	return 0;
}
