/*-------------------------------------------------------------------------
 *
 * lostwrites.c
 *	  Storage that may forget what was not synced, for LD_PRELOAD.
 *
 * Every change of a file below $FPT_LOST_DATA is preceded by a record of what
 * it replaces in a journal in $FPT_LOST_DIR (see journal.h); fsync and fdatasync
 * empty the journal instead of bothering the disk.  After all processes were
 * killed, dropwrites takes back any part of what the journals hold.
 *
 * What is not modelled: entries of directories (create, rename and unlink last
 * at once); files written with stdio or through mappings, which last at once,
 * too.  Left alone are files that need not survive: temporary files and
 * postmaster.pid.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "journal.h"

#define MAX_FDS		65536

/* What is known of a file descriptor; inherited by fork. */
typedef struct FdInfo
{
	bool		tracked;
	int			journal;		/* 0: not opened yet */
} FdInfo;

static FdInfo fds[MAX_FDS];
static const char *data_dir;
static const char *journal_dir;

static int	(*real_open) (const char *, int, ...);
static int	(*real_close) (int);
static ssize_t (*real_write) (int, const void *, size_t);
static ssize_t (*real_pwrite) (int, const void *, size_t, off_t);
static ssize_t (*real_pwritev) (int, const struct iovec *, int, off_t);
static int	(*real_fsync) (int);
static int	(*real_fdatasync) (int);
static int	(*real_ftruncate) (int, off_t);
static int	(*real_truncate) (const char *, off_t);
static int	(*real_fallocate) (int, off_t, off_t);
static int	(*real_rename) (const char *, const char *);
static int	(*real_unlink) (const char *);

static void
give_up(const char *what)
{
	int			err = errno;

	dprintf(2, "lostwrites: %s: %s\n", what, strerror(err));
	_exit(99);
}

static void
init(void)
{
	if (real_open)
		return;
	real_close = dlsym(RTLD_NEXT, "close");
	real_write = dlsym(RTLD_NEXT, "write");
	real_pwrite = dlsym(RTLD_NEXT, "pwrite");
	real_pwritev = dlsym(RTLD_NEXT, "pwritev");
	real_fsync = dlsym(RTLD_NEXT, "fsync");
	real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
	real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
	real_truncate = dlsym(RTLD_NEXT, "truncate");
	real_fallocate = dlsym(RTLD_NEXT, "posix_fallocate");
	real_rename = dlsym(RTLD_NEXT, "rename");
	real_unlink = dlsym(RTLD_NEXT, "unlink");
	data_dir = getenv("FPT_LOST_DATA");
	journal_dir = getenv("FPT_LOST_DIR");
	/* the server writes its title over the environment */
	data_dir = data_dir && journal_dir ? strdup(data_dir) : NULL;
	journal_dir = data_dir ? strdup(journal_dir) : NULL;
	real_open = dlsym(RTLD_NEXT, "open");
}

__attribute__((constructor)) static void
start(void)
{
	init();
}

/* --- journals ------------------------------------------------------------ */

static int
journal_open(ino_t ino)
{
	char		path[PATH_MAX];
	int			fd;

	snprintf(path, sizeof(path), "%s/%llu", journal_dir,
			 (unsigned long long) ino);
	fd = real_open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		give_up(path);
	return fd;
}

/* POSIX locks: not inherited, and dropped when their owner is killed */
static void
journal_lock(int journal, short type)
{
	struct flock fl;

	memset(&fl, 0, sizeof(fl));
	fl.l_type = type;
	fl.l_whence = SEEK_SET;
	while (fcntl(journal, F_SETLKW, &fl) < 0)
	{
		if (errno != EINTR)
			give_up("lock of a journal");
	}
}

static void
journal_reset(int journal)
{
	if (real_ftruncate(journal, 0) < 0)
		give_up("reset of a journal");
}

static int
journal_of(int fd)
{
	struct stat st;

	if (fds[fd].journal == 0)
	{
		if (fstat(fd, &st) < 0)
			give_up("fstat");
		fds[fd].journal = journal_open(st.st_ino);
	}
	return fds[fd].journal;
}

static bool
tracked(int fd)
{
	init();
	return fd >= 0 && fd < MAX_FDS && fds[fd].tracked;
}

/*
 * Note that bytes from .. from + len will change, or be cut off.  The journal is
 * locked.
 */
static void
journal_note(int fd, int journal, uint64_t from, uint64_t len, bool shrinks)
{
	FPTJournalRecord *rec;
	struct stat st;
	size_t		total;
	int			in = fd;

	if (fstat(fd, &st) < 0)
		give_up("fstat");
	/* nobody will see it again */
	if (st.st_nlink == 0)
		return;
	rec = calloc(1, sizeof(*rec) + len + 8);
	if (rec == NULL)
		give_up("calloc");
	rec->magic = FPT_JOURNAL_MAGIC;
	rec->from = from;
	rec->len = len;
	rec->oldsize = (uint64_t) st.st_size;
	rec->shrinks = shrinks;
	if (len > 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
	{
		char		link[64];

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		in = real_open(link, O_RDONLY | O_CLOEXEC);
	}
	while (rec->oldlen < len)
	{
		ssize_t		n = pread(in, (char *) (rec + 1) + rec->oldlen,
							  len - rec->oldlen,
							  (off_t) (from + rec->oldlen));

		if (n < 0)
			give_up("read of what is overwritten");
		if (n == 0)
			break;
		rec->oldlen += (uint64_t) n;
	}
	if (in != fd)
		real_close(in);
	total = fpt_journal_size(rec);
	if (real_write(journal, rec, total) != (ssize_t) total)
		give_up("write to a journal");
	free(rec);
}

/* --- what is intercepted ------------------------------------------------- */

static bool
wanted(int fd)
{
	char		link[64];
	char		path[PATH_MAX];
	ssize_t		n;
	size_t		len = strlen(data_dir);
	struct stat st;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return strncmp(path, data_dir, len) == 0 && path[len] == '/' &&
		strstr(path, "/pgsql_tmp") == NULL &&
		strstr(path, "/postmaster.pid") == NULL &&
		fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

static int
change_size(int fd, off_t size)
{
	int			journal = journal_of(fd);
	struct stat st;
	uint64_t	lost;
	int			res;

	journal_lock(journal, F_WRLCK);
	if (fstat(fd, &st) < 0)
		give_up("fstat");
	lost = st.st_size > size ? (uint64_t) (st.st_size - size) : 0;
	journal_note(fd, journal, (uint64_t) size, lost, lost > 0);
	res = real_ftruncate(fd, size);
	journal_lock(journal, F_UNLCK);
	return res;
}

static int
do_open(const char *path, int flags, mode_t mode)
{
	int			fd;

	init();
	if (data_dir == NULL || (flags & O_ACCMODE) == O_RDONLY ||
		(flags & O_DIRECTORY))
		fd = real_open(path, flags, mode);
	else
	{
		fd = real_open(path, flags & ~O_TRUNC, mode);
		if (fd >= 0 && fd < MAX_FDS && wanted(fd))
		{
			fds[fd].tracked = true;
			fds[fd].journal = 0;
		}
		if (fd >= 0 && (flags & O_TRUNC))
			(void) (tracked(fd) ? change_size(fd, 0) : real_ftruncate(fd, 0));
	}
	return fd;
}

int
open(const char *path, int flags, ...)
{
	va_list		args;
	mode_t		mode = 0;

	va_start(args, flags);
	if (flags & O_CREAT)
		mode = (mode_t) va_arg(args, int);
	va_end(args);
	return do_open(path, flags, mode);
}

extern int	open64(const char *path, int flags, ...)
			__attribute__((alias("open")));

int
close(int fd)
{
	if (tracked(fd))
	{
		if (fds[fd].journal != 0)
			real_close(fds[fd].journal);
		fds[fd].tracked = false;
		fds[fd].journal = 0;
	}
	return real_close(fd);
}

ssize_t
pwritev(int fd, const struct iovec *iov, int n, off_t off)
{
	uint64_t	len = 0;
	ssize_t		res;
	int			journal;

	if (!tracked(fd))
		return real_pwritev(fd, iov, n, off);
	for (int i = 0; i < n; i++)
		len += iov[i].iov_len;
	journal = journal_of(fd);
	journal_lock(journal, F_WRLCK);
	journal_note(fd, journal, (uint64_t) off, len, false);
	res = real_pwritev(fd, iov, n, off);
	journal_lock(journal, F_UNLCK);
	return res;
}

ssize_t
pwrite(int fd, const void *buf, size_t len, off_t off)
{
	struct iovec iov = {(void *) buf, len};

	if (!tracked(fd))
		return real_pwrite(fd, buf, len, off);
	return pwritev(fd, &iov, 1, off);
}

ssize_t
write(int fd, const void *buf, size_t len)
{
	off_t		off;
	ssize_t		res;
	int			journal;

	if (!tracked(fd))
		return real_write(fd, buf, len);
	journal = journal_of(fd);
	journal_lock(journal, F_WRLCK);
	off = lseek(fd, 0, (fcntl(fd, F_GETFL) & O_APPEND) ? SEEK_END : SEEK_CUR);
	journal_note(fd, journal, (uint64_t) off, len, false);
	res = real_write(fd, buf, len);
	journal_lock(journal, F_UNLCK);
	return res;
}

/* All that anybody has written to the file will last. */
static int
sync_file(int fd)
{
	if (tracked(fd))
	{
		int			journal = journal_of(fd);

		journal_lock(journal, F_WRLCK);
		journal_reset(journal);
		journal_lock(journal, F_UNLCK);
	}
	else
	{
		struct stat st;

		/* of a file that was opened for reading, or of a directory */
		if (wanted(fd) && fstat(fd, &st) == 0)
		{
			int			journal = journal_open(st.st_ino);

			journal_lock(journal, F_WRLCK);
			journal_reset(journal);
			journal_lock(journal, F_UNLCK);
			real_close(journal);
		}
	}
	return 0;
}

int
fsync(int fd)
{
	init();
	return data_dir ? sync_file(fd) : real_fsync(fd);
}

int
fdatasync(int fd)
{
	init();
	return data_dir ? sync_file(fd) : real_fdatasync(fd);
}

int
ftruncate(int fd, off_t size)
{
	return tracked(fd) ? change_size(fd, size) : real_ftruncate(fd, size);
}

int
truncate(const char *path, off_t size)
{
	int			fd;
	int			res;

	init();
	if (data_dir == NULL)
		return real_truncate(path, size);
	fd = open(path, O_RDWR);
	if (fd < 0)
		return -1;
	res = ftruncate(fd, size);
	close(fd);
	return res;
}

int
posix_fallocate(int fd, off_t off, off_t len)
{
	int			journal;
	int			res;

	if (!tracked(fd))
		return real_fallocate(fd, off, len);
	journal = journal_of(fd);
	journal_lock(journal, F_WRLCK);
	journal_note(fd, journal, (uint64_t) (off + len), 0, false);
	res = real_fallocate(fd, off, len);
	journal_lock(journal, F_UNLCK);
	return res;
}

/*
 * A file loses its name; with the last one its number is free for others, who
 * must find an empty journal.
 */
static int
lose_name(const char *path, const char *other)
{
	struct stat st;
	int			journal = -1;
	int			res;
	int			err;

	init();
	if (data_dir != NULL && stat(path, &st) == 0 && S_ISREG(st.st_mode))
	{
		journal = journal_open(st.st_ino);
		journal_lock(journal, F_WRLCK);
	}
	res = other ? real_rename(other, path) : real_unlink(path);
	err = errno;
	if (journal >= 0)
	{
		if (res == 0 && st.st_nlink == 1)
			journal_reset(journal);
		journal_lock(journal, F_UNLCK);
		real_close(journal);
	}
	errno = err;
	return res;
}

int
unlink(const char *path)
{
	return lose_name(path, NULL);
}

int
rename(const char *from, const char *to)
{
	return lose_name(to, from);
}
