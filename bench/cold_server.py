"""A server that can be made to forget, and statements measured on it.

Used by bench/cold.  Cold means: the server is stopped, the operating system's
page cache is dropped, the server is started again.  A fresh session then
plans the statement (EXPLAIN), so that catalogs and the index's meta page are
known as they are to any session, and runs it.
"""

import os
import random
import re
import shutil
import subprocess
import time

from pgcluster import BenchError, Cluster, CpuClock, plan_nodes


def drop_all():
    """Drop the page cache of the whole machine."""
    subprocess.run(["sync"], check=True)
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
        f.write("3\n")


def evict_below(path):
    """Drop from the page cache what lies below this directory."""
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                fd = os.open(os.path.join(folder, name), os.O_RDONLY)
            except OSError:
                continue
            try:
                os.fdatasync(fd)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)


class ColdCluster(Cluster):
    """A throw-away server that is restarted with or without caches."""

    def __init__(self, pg_config, settings, keep, whole_machine):
        super().__init__(pg_config, settings, keep)
        self.whole_machine = whole_machine
        self.also = []          # directories outside the data directory

    def ctl(self, *args):
        self.run([self.tool("pg_ctl"), "-D", self.data, "-l", self.log, "-w",
                  "-t", "120"] + list(args))

    def restart(self, cold):
        self.ctl("-m", "fast", "stop")
        if cold:
            if self.whole_machine:
                drop_all()
            else:
                for path in [self.data] + self.also:
                    evict_below(path)
        self.ctl("start")


    # -- instructions --------------------------------------------------------

    @staticmethod
    def can_count():
        return shutil.which("valgrind") is not None

    def pause(self):
        self.ctl("-m", "fast", "stop")

    def resume(self):
        self.ctl("start")

    def count_instructions(self, settings, statements):
        """User-space instructions of a single-user server that runs them."""
        script = "".join("SET %s = '%s'\n" % x for x in settings.items())
        script += "".join(x + "\n" for x in statements)
        done = subprocess.run(
            self.as_user + ["valgrind", "--tool=cachegrind", "--cache-sim=no",
                            "--cachegrind-out-file=/dev/null",
                            self.tool("postgres"), "--single", "-D", self.data,
                            "bench"], env=self.env(), cwd=self.dir,
            input=script, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True)
        counted = re.search(r"I\s+refs:\s+([0-9,]+)", done.stderr)
        if done.returncode != 0 or not counted or "ERROR" in done.stderr:
            raise BenchError("valgrind: " + done.stderr[-2000:])
        return int(counted.group(1).replace(",", ""))


def raw_reads(path, pages, distance):
    """Milliseconds for a page of 8 kB, random ones, asked for in advance."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fdatasync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        there = os.fstat(fd).st_size // 8192
        pages = min(pages, there)
        order = random.Random(1).sample(range(there), pages)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        asked = 0
        start = time.perf_counter()
        for i, page in enumerate(order):
            while distance > 0 and asked < min(i + distance, pages):
                os.posix_fadvise(fd, order[asked] * 8192, 8192,
                                 os.POSIX_FADV_WILLNEED)
                asked += 1
            os.pread(fd, 8192, page * 8192)
        return 1000 * (time.perf_counter() - start) / pages
    finally:
        os.close(fd)


class Sample:
    """What one run of a statement took."""

    def __init__(self, elapsed, cpu, read_bytes, rows, counters):
        self.elapsed = elapsed
        self.cpu = cpu
        self.read_bytes = read_bytes
        self.rows = rows
        self.counters = counters

    def as_dict(self):
        return {"elapsed_s": self.elapsed, "cpu_s": self.cpu,
                "read_bytes": self.read_bytes, "counters": self.counters}


def read_bytes(pid):
    """Bytes that a process made the disks read, read-ahead included."""
    try:
        with open("/proc/%d/io" % pid, encoding="ascii") as f:
            for line in f:
                if line.startswith("read_bytes:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return None


class Session:
    """A connection, its settings, its plan checks and its clock."""

    def __init__(self, cluster, settings):
        self.conn = cluster.connect()
        self.clock = CpuClock(self.conn.pid, cluster.postmaster_pid())
        for name, value in settings.items():
            self.conn.query("SET %s = '%s'" % (name, value))
        self.fptree = bool(self.conn.query(
            "SELECT 1 FROM pg_extension WHERE extname = 'fptree'"))

    def plan_nodes(self, statement):
        return list(plan_nodes(
            self.conn.value("EXPLAIN (FORMAT JSON) " + statement)))

    def check_plan(self, statement, node, index):
        nodes = self.plan_nodes(statement)
        if not any(p["Node Type"] == node and p.get("Index Name") == index
                   for p in nodes):
            raise BenchError("expected %s on %s in the plan of:\n%s\n%s" %
                             (node, index, statement, nodes))

    def scan_node(self, statement, names):
        """The first node of one of these types."""
        for p in self.plan_nodes(statement):
            if p["Node Type"] in names:
                return p["Node Type"]
        raise BenchError("none of %s in the plan of:\n%s" %
                         (", ".join(names), statement))

    def counters(self):
        if not self.fptree:
            return {}
        rows = self.conn.query("SELECT * FROM fptree_prefetch_stats()")
        return {name: int(value) for name, value in rows}

    def measure(self, statement):
        pid = self.conn.pid
        if self.fptree:
            self.conn.query("SELECT fptree_prefetch_reset()")
        before = read_bytes(pid)
        self.clock.settle()
        cpu = self.clock.backend_time()
        start = time.perf_counter()
        rows = self.conn.query(statement)
        elapsed = time.perf_counter() - start
        self.clock.settle()
        cpu = self.clock.backend_time() - cpu
        after = read_bytes(pid)
        done = None if before is None or after is None else after - before
        return Sample(elapsed, cpu, done, rows, self.counters())

    def close(self):
        self.conn.close()
