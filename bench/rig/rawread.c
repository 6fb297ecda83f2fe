/*-------------------------------------------------------------------------
 *
 * rawread.c
 *	  Does a file system of stripefs behave like n disks?  Read and see.
 *
 * rawread FILE PAGES DISTANCE
 *
 * Reads PAGES random 8 kB pages of the file, one after the other, having asked
 * for each (posix_fadvise, WILLNEED) when it was DISTANCE pages ahead; 0 asks
 * for none.  Prints the elapsed milliseconds, and those of them spent in
 * posix_fadvise: asking must not block.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE	8192

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

int
main(int argc, char **argv)
{
	static char buf[PAGE];
	int			fd = argc == 4 ? open(argv[1], O_RDONLY) : -1;
	long		pages = argc == 4 ? atol(argv[2]) : 0;
	long		distance = argc == 4 ? atol(argv[3]) : 0;
	struct stat st;
	long		total;
	long	   *order;
	double		start;
	double		asking = 0;
	long		asked = 0;
	long		i;

	if (fd < 0 || fstat(fd, &st) < 0 || pages < 1 || distance < 0 ||
		(total = st.st_size / PAGE) < pages ||
		(order = malloc(total * sizeof(long))) == NULL)
	{
		fprintf(stderr, "usage: rawread FILE PAGES DISTANCE (a file of at "
				"least PAGES pages of %d bytes)\n", PAGE);
		return 2;
	}

	/* Distinct pages in a random order that is always the same. */
	srandom(1);
	for (i = 0; i < total; i++)
		order[i] = i;
	for (i = 0; i < pages; i++)
	{
		long		k = i + random() % (total - i);
		long		t = order[i];

		order[i] = order[k];
		order[k] = t;
	}

	/* As the server does not: no read-ahead of the kernel's own. */
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	start = now_ms();
	for (i = 0; i < pages; i++)
	{
		double		before = now_ms();

		if (distance > 0)
			while (asked < pages && asked <= i + distance)
				posix_fadvise(fd, order[asked++] * PAGE, PAGE,
							  POSIX_FADV_WILLNEED);
		asking += now_ms() - before;
		if (pread(fd, buf, PAGE, order[i] * PAGE) != PAGE)
		{
			perror(argv[1]);
			return 1;
		}
	}
	printf("%.1f %.1f\n", now_ms() - start, asking);
	free(order);
	close(fd);
	return 0;
}
