/*-------------------------------------------------------------------------
 *
 * iofault.c
 *	  Calls of the operating system that fail when told to, for LD_PRELOAD.
 *
 * A file, $FPT_FAULT_CONTROL, is shared by all processes of the server and by
 * the test, which writes a Control to it.  Calls of the kinds in "ops" on files
 * of tablespaces (any but the default one) are counted; the n-th fails, or, if
 * "sticky", all from the n-th on.  Memory allocation is one of the kinds; it is
 * counted in process "pid" only.
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
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define OP_READ		1
#define OP_WRITE	2
#define OP_SYNC		4
#define OP_TRUNCATE 8
#define OP_OPEN		16
#define OP_UNLINK	32
#define OP_SEEK		64
#define OP_MALLOC	128
#define OP_EXTEND	256			/* writes beyond the end of the file */

#define FAULT_EIO	1
#define FAULT_ENOSPC 2
#define FAULT_SHORT 3			/* half of the bytes */
#define FAULT_ENOMEM 4

#define MAX_FDS		65536

typedef struct Control
{
	uint32_t	ops;			/* 0: no faults */
	uint32_t	fault;
	uint32_t	sticky;
	uint32_t	pid;
	int64_t		n;
	int64_t		count;
	int64_t		fired;
	char		what[256];		/* file of the first fault */
	uint32_t	reading;		/* it was an open for reading only */
	uint32_t	resumed;		/* the rest of a half call was done */
	int64_t		rest;			/* where the rest begins; 0: no such call */
} Control;

static Control *control;
static bool tracked[MAX_FDS];

static int	(*real_open) (const char *, int, ...);
static int	(*real_close) (int);
static ssize_t (*real_pread) (int, void *, size_t, off_t);
static ssize_t (*real_pwrite) (int, const void *, size_t, off_t);
static ssize_t (*real_pwritev) (int, const struct iovec *, int, off_t);
static ssize_t (*real_preadv) (int, const struct iovec *, int, off_t);
static int	(*real_ftruncate) (int, off_t);
static int	(*real_truncate) (const char *, off_t);
static int	(*real_fallocate) (int, off_t, off_t);
static int	(*real_unlink) (const char *);
static off_t (*real_lseek) (int, off_t, int);

/* the C library's own names: dlsym() allocates */
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *old, size_t size);

static void
init(void)
{
	const char *path;
	int			fd;

	if (real_open)
		return;
	real_close = dlsym(RTLD_NEXT, "close");
	real_pread = dlsym(RTLD_NEXT, "pread");
	real_pwrite = dlsym(RTLD_NEXT, "pwrite");
	real_pwritev = dlsym(RTLD_NEXT, "pwritev");
	real_preadv = dlsym(RTLD_NEXT, "preadv");
	real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
	real_truncate = dlsym(RTLD_NEXT, "truncate");
	real_fallocate = dlsym(RTLD_NEXT, "posix_fallocate");
	real_unlink = dlsym(RTLD_NEXT, "unlink");
	real_lseek = dlsym(RTLD_NEXT, "lseek");
	real_open = dlsym(RTLD_NEXT, "open");
	path = getenv("FPT_FAULT_CONTROL");
	if (path == NULL || (fd = real_open(path, O_RDWR | O_CLOEXEC)) < 0)
		return;
	control = mmap(NULL, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED,
				   fd, 0);
	if (control == MAP_FAILED)
		control = NULL;
	real_close(fd);
}

__attribute__((constructor)) static void
start(void)
{
	init();
}

/* --- when ------------------------------------------------------------------ */

/* Does this call fail?  "path" only to be told, may be NULL. */
static bool
hit(uint32_t op, int fd, const char *path)
{
	char		link[64];
	int64_t		count;
	ssize_t		n;

	if (control == NULL || (control->ops & op) == 0)
		return false;
	if (control->pid != 0 && control->pid != (uint32_t) getpid())
		return false;
	count = __atomic_add_fetch(&control->count, 1, __ATOMIC_SEQ_CST);
	if (control->n == 0 || count < control->n ||
		(count > control->n && !control->sticky))
		return false;
	if (__atomic_add_fetch(&control->fired, 1, __ATOMIC_SEQ_CST) == 1 &&
		op != OP_MALLOC)
	{
		if (path != NULL)
			snprintf(control->what, sizeof(control->what), "%s", path);
		else
		{
			snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
			n = readlink(link, control->what, sizeof(control->what) - 1);
			control->what[n > 0 ? n : 0] = '\0';
		}
	}
	return true;
}

/* Of a call on a file that is looked at */
static bool
hit_fd(uint32_t op, int fd)
{
	init();
	return fd >= 0 && fd < MAX_FDS && tracked[fd] && hit(op, fd, NULL);
}

/* Names of files in tablespaces are relative to the data directory. */
static bool
wanted(const char *path)
{
	init();
	return control != NULL && strncmp(path, "pg_tblspc/", 10) == 0;
}

static int
fail(void)
{
	errno = control->fault == FAULT_ENOSPC ? ENOSPC :
		control->fault == FAULT_ENOMEM ? ENOMEM : EIO;
	return -1;
}

static bool
short_one(void)
{
	return control->fault == FAULT_SHORT;
}

/* --- what -------------------------------------------------------------------- */

static int
do_open(const char *path, int flags, mode_t mode)
{
	bool		mine = wanted(path);
	int			fd;

	if (mine && hit(OP_OPEN, -1, path))
	{
		control->reading = (flags & O_ACCMODE) == O_RDONLY;
		return fail();
	}
	fd = real_open(path, flags, mode);
	if (fd >= 0 && fd < MAX_FDS)
		tracked[fd] = mine;
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
	init();
	if (fd >= 0 && fd < MAX_FDS)
		tracked[fd] = false;
	return real_close(fd);
}

/* Half of a call's bytes, of which there are more than one */
static size_t
half(size_t len, off_t off)
{
	control->rest = off + (off_t) (len / 2);
	return len / 2;
}

/*
 * A call that takes up where another one has stopped: in the middle of a page,
 * as no other call does.
 */
static void
resume(uint32_t op, int fd, off_t off)
{
	if (fd >= 0 && fd < MAX_FDS && tracked[fd] && control != NULL &&
		(control->ops & op) != 0 && control->rest != 0 && off == control->rest)
		control->resumed = 1;
}

ssize_t
pread(int fd, void *buf, size_t len, off_t off)
{
	if (hit_fd(OP_READ, fd))
		return short_one() ? real_pread(fd, buf, half(len, off), off) : fail();
	resume(OP_READ, fd, off);
	return real_pread(fd, buf, len, off);
}

ssize_t
preadv(int fd, const struct iovec *iov, int n, off_t off)
{
	if (hit_fd(OP_READ, fd))
		return short_one() ?
			real_pread(fd, iov[0].iov_base, half(iov[0].iov_len, off), off) : fail();
	resume(OP_READ, fd, off);
	return real_preadv(fd, iov, n, off);
}

/* A write fails as such, or, beyond the end of the file, for want of space. */
static bool
hit_write(int fd, off_t end)
{
	struct stat st;

	if (hit_fd(OP_WRITE, fd))
		return true;
	return fd >= 0 && fd < MAX_FDS && tracked[fd] && control != NULL &&
		(control->ops & OP_EXTEND) != 0 && fstat(fd, &st) == 0 &&
		end > st.st_size && hit(OP_EXTEND, fd, NULL);
}

ssize_t
pwrite(int fd, const void *buf, size_t len, off_t off)
{
	if (hit_write(fd, off + (off_t) len))
		return short_one() ? real_pwrite(fd, buf, half(len, off), off) : fail();
	resume(OP_WRITE, fd, off);
	return real_pwrite(fd, buf, len, off);
}

ssize_t
pwritev(int fd, const struct iovec *iov, int n, off_t off)
{
	off_t		end = off;

	for (int i = 0; i < n; i++)
		end += (off_t) iov[i].iov_len;
	if (hit_write(fd, end))
		return short_one() ?
			real_pwrite(fd, iov[0].iov_base, half(iov[0].iov_len, off), off) : fail();
	resume(OP_WRITE, fd, off);
	return real_pwritev(fd, iov, n, off);
}

int
posix_fallocate(int fd, off_t off, off_t len)
{
	/* returns an error number, and knows no half measures */
	if (!short_one() && hit_write(fd, off + len))
		return fail(), errno;
	return real_fallocate(fd, off, len);
}

/* Nobody pulls the plug here, so a sync that does not fail need not be one. */
int
fsync(int fd)
{
	return hit_fd(OP_SYNC, fd) ? fail() : 0;
}

int
fdatasync(int fd)
{
	return hit_fd(OP_SYNC, fd) ? fail() : 0;
}

int
ftruncate(int fd, off_t size)
{
	return hit_fd(OP_TRUNCATE, fd) ? fail() : real_ftruncate(fd, size);
}

int
truncate(const char *path, off_t size)
{
	if (wanted(path) && hit(OP_TRUNCATE, -1, path))
		return fail();
	return real_truncate(path, size);
}

int
unlink(const char *path)
{
	if (wanted(path) && hit(OP_UNLINK, -1, path))
		return fail();
	return real_unlink(path);
}

off_t
lseek(int fd, off_t off, int whence)
{
	return hit_fd(OP_SEEK, fd) ? (off_t) fail() : real_lseek(fd, off, whence);
}

void *
malloc(size_t size)
{
	if (hit(OP_MALLOC, -1, NULL))
	{
		errno = ENOMEM;
		return NULL;
	}
	return __libc_malloc(size);
}

void *
realloc(void *old, size_t size)
{
	if (hit(OP_MALLOC, -1, NULL))
	{
		errno = ENOMEM;
		return NULL;
	}
	return __libc_realloc(old, size);
}
