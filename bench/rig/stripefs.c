/*-------------------------------------------------------------------------
 *
 * stripefs.c
 *	  A pass-through file system that behaves like a few slow disks.
 *
 * stripefs MOUNTPOINT -o backing=DIR,disks=N,unit=BYTES,service_us=T,iops=R
 *
 * What is stored lies in DIR.  Block number b of a file (of "unit" bytes) is
 * on disk b mod N, as in a RAID-0.  A disk has one server and a queue: a read
 * that reaches it waits until the reads before it are done, and then takes T
 * microseconds, whatever its place and size.  Writes cost nothing; a benchmark
 * of reads prepares its data first.
 *
 * With "iops" all disks together serve R reads a second at most, as volumes of
 * clouds do: each 256 kB of a read, or part of that, count as one.  A tenth of a
 * second that was not used is made up for.
 *
 * A disk is nothing but the time until which it is busy, so that no thread of
 * its own is needed: a read moves that time on by T and sleeps until then.
 * Only reads that the kernel's page cache does not satisfy arrive here.
 *
 * posix_fadvise(WILLNEED) stays asynchronous as long as fewer requests than
 * max_background are under way; that, and the number of threads, must exceed
 * the reads that a backend may have in flight (128).
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#define FUSE_USE_VERSION 312

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define MAX_DISKS	64
#define IN_FLIGHT	256
#define READ_UNIT	(256 * 1024)	/* that counts as one of "iops" */
#define SAVED_NS	100000000LL		/* of what was not used */

static struct
{
	char	   *backing;
	unsigned	disks;
	unsigned	unit;
	unsigned	service_us;
	unsigned	iops;
}			conf = {NULL, 1, 8192, 5000, 0};

static int	root = -1;			/* the backing directory */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long long busy_until[MAX_DISKS]; /* ns, CLOCK_MONOTONIC */
static long long spent_until;	/* reads of the volume, likewise */

/* "/a/b" below the backing directory */
static const char *
rel(const char *path)
{
	return path[1] == '\0' ? "." : path + 1;
}

static int
result(int rc)
{
	return rc < 0 ? -errno : 0;
}

/* --- the disks ---------------------------------------------------------- */

static long long
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Wait until the disks have served a read of these bytes. */
static void
serve(off_t offset, size_t size)
{
	off_t		first = offset / conf.unit;
	off_t		last = (offset + (off_t) size - 1) / conf.unit;
	long long	done = 0;
	struct timespec ts;
	off_t		b;

	if (size == 0 || (conf.service_us == 0 && conf.iops == 0))
		return;

	/* A request for neighbouring blocks is one request of each disk. */
	if (last - first >= conf.disks)
		last = first + conf.disks - 1;
	pthread_mutex_lock(&lock);
	for (b = first; b <= last; b++)
	{
		long long  *busy = &busy_until[b % conf.disks];
		long long	now = now_ns();

		*busy = (*busy > now ? *busy : now) + conf.service_us * 1000LL;
		if (*busy > done)
			done = *busy;
	}
	if (conf.iops > 0)
	{
		long long	reads = (size + READ_UNIT - 1) / READ_UNIT;
		long long	now = now_ns();

		if (spent_until < now - SAVED_NS)
			spent_until = now - SAVED_NS;
		spent_until += reads * 1000000000LL / conf.iops;
		if (spent_until > done)
			done = spent_until;
	}
	pthread_mutex_unlock(&lock);
	ts.tv_sec = done / 1000000000LL;
	ts.tv_nsec = done % 1000000000LL;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* --- operations ----------------------------------------------------------- */

static int
s_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	if (fi)
		return result(fstat((int) fi->fh, st));
	return result(fstatat(root, rel(path), st, AT_SYMLINK_NOFOLLOW));
}

static int
s_readdir(const char *path, void *buf, fuse_fill_dir_t filler, off_t offset,
		  struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	int			fd = openat(root, rel(path), O_RDONLY | O_DIRECTORY);
	DIR		   *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	(void) offset;
	(void) fi;
	(void) flags;
	if (dir == NULL)
	{
		int			err = errno;

		if (fd >= 0)
			close(fd);
		return -err;
	}
	while ((e = readdir(dir)) != NULL)
		filler(buf, e->d_name, NULL, 0, 0);
	closedir(dir);
	return 0;
}

static int
s_open(const char *path, struct fuse_file_info *fi)
{
	int			fd = openat(root, rel(path), fi->flags & ~O_DIRECT);

	if (fd < 0)
		return -errno;
	fi->fh = (uint64_t) fd;
	fi->keep_cache = 1;
	return 0;
}

static int
s_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	const struct fuse_context *who = fuse_get_context();
	int			fd = openat(root, rel(path), fi->flags & ~O_DIRECT, mode);

	if (fd < 0)
		return -errno;
	if (fchown(fd, who->uid, who->gid) < 0)
	{
		int			err = errno;

		close(fd);
		return -err;
	}
	fi->fh = (uint64_t) fd;
	fi->keep_cache = 1;
	return 0;
}

static int
s_read(const char *path, char *buf, size_t size, off_t offset,
	   struct fuse_file_info *fi)
{
	ssize_t		n = pread((int) fi->fh, buf, size, offset);

	(void) path;
	if (n < 0)
		return -errno;
	serve(offset, (size_t) n);
	return (int) n;
}

static int
s_write(const char *path, const char *buf, size_t size, off_t offset,
		struct fuse_file_info *fi)
{
	ssize_t		n = pwrite((int) fi->fh, buf, size, offset);

	(void) path;
	return n < 0 ? -errno : (int) n;
}

static int
s_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	int			fd;
	int			rc;

	if (fi)
		return result(ftruncate((int) fi->fh, size));
	fd = openat(root, rel(path), O_WRONLY);
	if (fd < 0)
		return -errno;
	rc = result(ftruncate(fd, size));
	close(fd);
	return rc;
}

static int
s_release(const char *path, struct fuse_file_info *fi)
{
	(void) path;
	close((int) fi->fh);
	return 0;
}

static int
s_fsync(const char *path, int datasync, struct fuse_file_info *fi)
{
	(void) path;
	return result(datasync ? fdatasync((int) fi->fh) : fsync((int) fi->fh));
}

static int
s_fsyncdir(const char *path, int datasync, struct fuse_file_info *fi)
{
	(void) path;
	(void) datasync;
	(void) fi;
	return 0;
}

static int
s_mkdir(const char *path, mode_t mode)
{
	const struct fuse_context *who = fuse_get_context();

	if (mkdirat(root, rel(path), mode) < 0)
		return -errno;
	return result(fchownat(root, rel(path), who->uid, who->gid, 0));
}

static int
s_unlink(const char *path)
{
	return result(unlinkat(root, rel(path), 0));
}

static int
s_rmdir(const char *path)
{
	return result(unlinkat(root, rel(path), AT_REMOVEDIR));
}

static int
s_rename(const char *from, const char *to, unsigned int flags)
{
	if (flags != 0)
		return -EINVAL;
	return result(renameat(root, rel(from), root, rel(to)));
}

static int
s_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	(void) fi;
	return result(fchmodat(root, rel(path), mode, 0));
}

static int
s_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *fi)
{
	(void) fi;
	return result(fchownat(root, rel(path), uid, gid, AT_SYMLINK_NOFOLLOW));
}

static int
s_utimens(const char *path, const struct timespec tv[2],
		  struct fuse_file_info *fi)
{
	(void) fi;
	return result(utimensat(root, rel(path), tv, AT_SYMLINK_NOFOLLOW));
}

static int
s_statfs(const char *path, struct statvfs *st)
{
	(void) path;
	return result(fstatvfs(root, st));
}

static void *
s_init(struct fuse_conn_info *conn, struct fuse_config *cfg)
{
	/*
	 * As in a local file system, what is in the page cache stays there when
	 * something else of the file is written, and writes are for later.
	 */
	conn->want &= ~FUSE_CAP_AUTO_INVAL_DATA;
	conn->want |= conn->capable & FUSE_CAP_WRITEBACK_CACHE;
	conn->max_background = IN_FLIGHT;
	conn->congestion_threshold = IN_FLIGHT;
	cfg->kernel_cache = 1;
	cfg->attr_timeout = 3600;
	cfg->entry_timeout = 3600;
	cfg->negative_timeout = 0;
	return NULL;
}

static const struct fuse_operations operations = {
	.getattr = s_getattr,
	.readdir = s_readdir,
	.open = s_open,
	.create = s_create,
	.read = s_read,
	.write = s_write,
	.truncate = s_truncate,
	.release = s_release,
	.fsync = s_fsync,
	.fsyncdir = s_fsyncdir,
	.mkdir = s_mkdir,
	.unlink = s_unlink,
	.rmdir = s_rmdir,
	.rename = s_rename,
	.chmod = s_chmod,
	.chown = s_chown,
	.utimens = s_utimens,
	.statfs = s_statfs,
	.init = s_init,
};

static const struct fuse_opt options[] = {
	{"backing=%s", offsetof(__typeof__(conf), backing), 1},
	{"disks=%u", offsetof(__typeof__(conf), disks), 1},
	{"unit=%u", offsetof(__typeof__(conf), unit), 1},
	{"service_us=%u", offsetof(__typeof__(conf), service_us), 1},
	{"iops=%u", offsetof(__typeof__(conf), iops), 1},
	FUSE_OPT_END
};

int
main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
	char		threads[64];
	int			rc;

	if (fuse_opt_parse(&args, &conf, options, NULL) < 0)
		return 2;
	if (conf.backing == NULL || conf.disks < 1 || conf.disks > MAX_DISKS ||
		conf.unit < 512 || conf.service_us > 1000000)
	{
		fprintf(stderr, "usage: stripefs MOUNTPOINT -o backing=DIR,disks=1..%d,"
				"unit=BYTES,service_us=T,iops=R\n", MAX_DISKS);
		return 2;
	}
	root = open(conf.backing, O_RDONLY | O_DIRECTORY);
	if (root < 0)
	{
		perror(conf.backing);
		return 1;
	}
	umask(0);
	snprintf(threads, sizeof(threads),
			 "-omax_threads=%d,max_idle_threads=%d", IN_FLIGHT, IN_FLIGHT);
	fuse_opt_add_arg(&args, "-oallow_other,default_permissions");
	fuse_opt_add_arg(&args, threads);
	rc = fuse_main(args.argc, args.argv, &operations, NULL);
	fuse_opt_free_args(&args);
	return rc;
}
