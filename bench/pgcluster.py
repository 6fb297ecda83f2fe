"""A throw-away PostgreSQL server, and a client that can watch its backend.

Used by all benchmarks.  Python's standard library only.  The server listens on
a Unix socket inside its own directory and on nothing else, so that it cannot
get in the way of another server of the machine.

Also what bench/run and others have in common: servers of several versions, the
two sides, options.
"""

import json
import os
import platform
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

SERVER_USER = "postgres"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
START = time.time()


class BenchError(Exception):
    """Something that ends the run with a message instead of a traceback."""


def find_pg_config(given=None):
    """Path of the pg_config that names the server to use."""
    candidates = [given, os.environ.get("PG_CONFIG")]
    base = "/usr/lib/postgresql"
    if os.path.isdir(base):
        for major in sorted(os.listdir(base), reverse=True):
            candidates.append(os.path.join(base, major, "bin", "pg_config"))
    candidates.append(shutil.which("pg_config"))
    for path in candidates:
        if path is None:
            continue
        bindir = os.path.dirname(path)
        if os.access(path, os.X_OK) and \
                os.access(os.path.join(bindir, "postgres"), os.X_OK):
            return path
        if path == given:
            raise BenchError("%s is not the pg_config of a server" % given)
    raise BenchError("no PostgreSQL server found: install PostgreSQL, or "
                     "set PG_CONFIG")


class Clients:
    """A server's programs, and a directory of their own to run them in."""

    def __init__(self, pg_config, keep=False):
        self.pg_config = pg_config
        self.bindir = self._output([pg_config, "--bindir"])
        self.version = self._output([pg_config, "--version"])
        self.keep = keep
        self.as_user = []
        self.dir = tempfile.mkdtemp(prefix="fptree-bench.")

    @staticmethod
    def _output(cmd):
        return subprocess.run(cmd, check=True, stdout=subprocess.PIPE,
                              universal_newlines=True).stdout.strip()

    def tool(self, name):
        return os.path.join(self.bindir, name)

    def env(self, **extra):
        raise NotImplementedError

    def run(self, cmd, **extra_env):
        """Run a client or server program as the server's user."""
        done = subprocess.run(self.as_user + cmd, env=self.env(**extra_env),
                              cwd=self.dir, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True)
        if done.returncode != 0:
            raise BenchError("%s failed:\n%s" % (" ".join(cmd), done.stdout))
        return done.stdout

    def psql(self, script, name="psql", options="", **variables):
        """Output of a script, unaligned; name is for the complaint."""
        cmd = self.as_user + [self.tool("psql"), "-X", "-q", "-At", "-v",
                              "ON_ERROR_STOP=1"]
        for variable, value in variables.items():
            cmd += ["-v", "%s=%s" % (variable, value)]
        done = subprocess.run(cmd, env=self.env(PGOPTIONS=options),
                              cwd=self.dir, input=script,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True)
        if done.returncode != 0:
            raise BenchError("%s failed:\n%s" % (name, done.stdout))
        return done.stdout.strip()

    def psql_file(self, path, **variables):
        """Run a script of bench/ with psql variables."""
        with open(path, encoding="utf-8") as f:
            script = f.read()
        self.psql(script, path, **variables)

    def section(self, name):
        """The path of a file with a section of workloads.sql, which psql or
        pgbench can read."""
        path = os.path.join(self.dir, name + ".sql")
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "workloads.sql"), encoding="utf-8") as f:
            sections = dict(part.split("\n", 1) for part in
                            f.read().split("\n--- section ")[1:])
        with open(path, "w", encoding="utf-8") as f:
            f.write(sections[name])
        return path

    def stop(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class Connected(Clients):
    """Clients of a server that runs, found as any program of libpq finds it."""

    def __init__(self, pg_config, keep=False):
        super().__init__(pg_config, keep)
        self.version = "PostgreSQL " + self.psql("SHOW server_version")

    def env(self, **extra):
        env = dict(os.environ, LC_ALL="C")
        given = [env.get("PGOPTIONS"), extra.pop("PGOPTIONS", None)]
        env.update(extra, PGOPTIONS=" ".join(filter(None, given)))
        return env

    def postmaster_pid(self):
        """None unless it is a process of this machine."""
        told = self.psql(
            "SELECT pg_backend_pid() AS pid, inet_server_addr() IS NULL OR "
            "inet_server_addr() = inet_client_addr() AS local \\gset\n"
            "\\setenv FPT_BACKEND :pid\n"
            "\\if :local\n\\! cat /proc/$FPT_BACKEND/stat\n\\endif")
        found = re.search(r"^\d+ \(postgres\) \S (\d+) ", told, re.M)
        return int(found.group(1)) if found else None


class Cluster(Clients):
    """initdb, start, stop, remove."""

    def __init__(self, pg_config, settings, keep=False):
        super().__init__(pg_config, keep)
        self.settings = settings
        if os.geteuid() == 0:
            if shutil.which("runuser") is None:
                raise BenchError("runuser is missing (package util-linux)")
            self.as_user = ["runuser", "-u", SERVER_USER, "--"]
            shutil.chown(self.dir, SERVER_USER)
        self.data = os.path.join(self.dir, "data")
        self.log = os.path.join(self.dir, "server.log")
        self.port = 5432
        self.running = False

    def env(self, **extra):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith("PG") and k not in ("LC_ALL", "LANG")}
        env.update(LC_ALL="C", PGHOST=self.dir, PGPORT=str(self.port),
                   PGUSER=SERVER_USER, PGDATABASE="bench")
        env.update(extra)
        return env

    def start(self):
        self.run([self.tool("initdb"), "-D", self.data, "-A", "trust", "-U",
                  SERVER_USER, "-E", "UTF8", "--locale=C", "--no-sync"])
        conf = dict(self.settings)
        conf["listen_addresses"] = ""
        conf["unix_socket_directories"] = self.dir
        conf["port"] = str(self.port)
        with open(os.path.join(self.data, "postgresql.auto.conf"), "a",
                  encoding="utf-8") as f:
            for name, value in conf.items():
                f.write("%s = '%s'\n" % (name, value))
        try:
            self.run([self.tool("pg_ctl"), "-D", self.data, "-l", self.log,
                      "-w", "-t", "60", "start"])
        except BenchError as err:
            raise BenchError("%s\n%s" % (err, self.log_tail()))
        self.running = True
        self.run([self.tool("createdb"), "bench"], PGDATABASE="postgres")

    def log_tail(self, lines=30):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as f:
                return "".join(f.readlines()[-lines:])
        except OSError:
            return "(no server log)"

    def postmaster_pid(self):
        with open(os.path.join(self.data, "postmaster.pid"),
                  encoding="utf-8") as f:
            return int(f.readline())

    def halt(self):
        """Stop the server, whose directory stays until stop()."""
        self.run([self.tool("pg_ctl"), "-D", self.data, "-m", "fast", "-w",
                  "stop"])
        self.running = False

    def stop(self):
        if self.running:
            self.running = False
            try:
                self.run([self.tool("pg_ctl"), "-D", self.data, "-m",
                          "immediate", "-w", "stop"])
            except BenchError as err:
                print(err, file=sys.stderr)
        if self.keep:
            print("kept: %s" % self.dir, file=sys.stderr)
        else:
            super().stop()

    def connect(self):
        return Connection(os.path.join(self.dir, ".s.PGSQL.%d" % self.port),
                          SERVER_USER, "bench")


class ServerError(BenchError):
    """An ERROR the server sent."""


def plan_nodes(plan):
    """All nodes of a plan, from EXPLAIN (FORMAT JSON)."""
    waiting = [json.loads(plan)[0]["Plan"]]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.get("Plans", [])[::-1]


class Connection:
    """The simple query protocol over a Unix socket, results as text."""

    def __init__(self, path, user, database):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(path)
        self.buf = self.sock.makefile("rb")
        params = b"".join(
            p.encode() + b"\0" for p in
            ("user", user, "database", database, "application_name", "bench"))
        body = struct.pack("!I", 196608) + params + b"\0"
        self.sock.sendall(struct.pack("!I", len(body) + 4) + body)
        self.pid = None
        self._until_ready()

    def _message(self):
        head = self.buf.read(5)
        if len(head) < 5:
            raise BenchError("the server closed the connection; see its log")
        size = struct.unpack("!I", head[1:])[0]
        return head[:1], self.buf.read(size - 4)

    @staticmethod
    def _row(body):
        out, pos = [], 2
        for _ in range(struct.unpack("!H", body[:2])[0]):
            size = struct.unpack("!i", body[pos:pos + 4])[0]
            pos += 4
            if size < 0:
                out.append(None)
            else:
                out.append(body[pos:pos + size].decode())
                pos += size
        return tuple(out)

    def _until_ready(self):
        rows, error = [], None
        while True:
            kind, body = self._message()
            if kind == b"D":
                rows.append(self._row(body))
            elif kind == b"K":
                self.pid = struct.unpack("!I", body[:4])[0]
            elif kind == b"E":
                fields = {f[:1]: f[1:].decode() for f in body.split(b"\0") if f}
                error = fields.get(b"M", "unknown error")
                if kind == b"E" and b"H" in fields:
                    error += " (hint: %s)" % fields[b"H"]
            elif kind == b"R" and struct.unpack("!I", body[:4])[0] != 0:
                raise BenchError("the server wants a password")
            elif kind == b"Z":
                if error is not None:
                    raise ServerError(error)
                return rows

    def query(self, sql):
        body = sql.encode() + b"\0"
        self.sock.sendall(b"Q" + struct.pack("!I", len(body) + 4) + body)
        try:
            return self._until_ready()
        except ServerError as err:
            raise ServerError("%s\nin: %s" % (err, sql))

    def value(self, sql):
        return self.query(sql)[0][0]

    def close(self):
        try:
            self.sock.sendall(b"X" + struct.pack("!I", 4))
        except OSError:
            pass
        self.sock.close()


class CpuClock:
    """CPU time of one backend, and of the server's children that have ended.

    /proc/PID/schedstat counts nanoseconds on a CPU.  It is exact while the
    process sleeps, which a backend does before and after its statement.  Where
    the kernel does not have it, the clock ticks (10 ms) of /proc/PID/stat serve.
    """

    def __init__(self, backend_pid, postmaster_pid):
        self.backend = backend_pid
        self.postmaster = postmaster_pid
        self.tick = 1.0 / os.sysconf("SC_CLK_TCK")
        try:
            self.exact = self._schedstat() > 0
        except (OSError, ValueError, IndexError):
            self.exact = False

    def _schedstat(self):
        with open("/proc/%d/schedstat" % self.backend, encoding="ascii") as f:
            return int(f.read().split()[0]) / 1e9

    def _stat(self, pid):
        with open("/proc/%d/stat" % pid, encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()

    def backend_time(self):
        if self.exact:
            return self._schedstat()
        fields = self._stat(self.backend)
        return (int(fields[11]) + int(fields[12])) * self.tick

    def children_time(self):
        """Parallel workers and sessions that have ended (clock ticks)."""
        fields = self._stat(self.postmaster)
        return (int(fields[13]) + int(fields[14])) * self.tick

    def children(self):
        """The postmaster's processes, as far as the kernel tells."""
        try:
            with open("/proc/%d/task/%d/children" %
                      (self.postmaster, self.postmaster),
                      encoding="ascii") as f:
                return set(f.read().split())
        except OSError:
            return set()

    def wait_for_children(self, before):
        """Wait until those that were not there before have ended."""
        for _ in range(500):
            time.sleep(0.01)
            if self.children() <= before:
                return

    @staticmethod
    def settle():
        """Give a backend time to go to sleep after its last message."""
        time.sleep(0.002)


def checked_run(cmd):
    """What a command said; BenchError if it failed."""
    done = subprocess.run(cmd, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    if done.returncode != 0:
        raise BenchError("%s failed:\n%s" % (" ".join(cmd), done.stdout))
    return done.stdout.strip()


def installed(version):
    """Path of the pg_config of a server of this version.

    It is the system's or, where the system has none, one of packages that
    test/servers gets; both are built for use, not for tests.
    """
    bindir = "/usr/lib/postgresql/%s/bin" % version
    if all(os.access(os.path.join(bindir, name), os.X_OK)
           for name in ("postgres", "pg_config")) and \
            os.path.isdir("/usr/include/postgresql/%s/server" % version):
        return os.path.join(bindir, "pg_config")
    return checked_run([os.path.join(ROOT, "test", "servers"), "--binaries",
                        version]).split("\n")[-1]


class PrivateServer:
    """A copy of a server with the extension; removed on leaving the context.

    The parts keep their paths below the new root, since the programs find each
    other by relative ones.
    """

    PARTS = ("bindir", "sharedir", "pkglibdir", "pkgincludedir",
             "includedir-server")

    def __init__(self, version):
        self.version = version
        self.root = None

    def __enter__(self):
        """The copy's pg_config."""
        original = installed(self.version)
        self.root = tempfile.mkdtemp(prefix="fptree-bench-server.")
        os.chmod(self.root, 0o755)          # the server's user reads it
        try:
            for part in self.PARTS:
                path = checked_run([original, "--" + part])
                shutil.copytree(path, self.root + path, dirs_exist_ok=True,
                                ignore_dangling_symlinks=True)
            bindir = checked_run([original, "--bindir"])
            pg_config = self.root + bindir + "/pg_config"
            tree = os.path.join(self.root, "tree")
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(
                ".git", "*.o", "*.bc", "*.so", "tmp_check"))
            checked_run(["make", "-s", "-j%d" % os.cpu_count(), "-C", tree,
                         "PG_CONFIG=" + pg_config, "install"])
        except BaseException:
            self.__exit__()
            raise
        return pg_config

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)


def log(text):
    print("%5d s  %s" % (time.time() - START, text), file=sys.stderr,
          flush=True)


def interrupted(number, frame):
    """End as if by Ctrl-C: the server is stopped and removed."""
    raise KeyboardInterrupt


def comparison_options(parser, what):
    """Options of bench/run and bench/pgbench/run.

    what: is run before the indexes are verified.
    """
    add = parser.add_argument
    add("--json", metavar="FILE", help="write all samples here")
    add("--markdown", metavar="FILE", help="write the table here")
    add("--pg-config", metavar="PATH",
        help="pg_config of the server to use (default $PG_CONFIG, then the "
        "newest /usr/lib/postgresql/*)")
    add("--set", metavar="NAME=VALUE", action="append", default=[],
        help="server setting, overrides the benchmark's own")
    add("--reference", default="btree", metavar="AM",
        help="access method to compare with (default btree)")
    add("--candidate", default="fptree", metavar="AM",
        help="access method to compare (default fptree); btree measures the "
        "noise of the machine")
    add("--no-check", action="store_true",
        help="do not verify the indexes after " + what)
    add("--keep", action="store_true", help="do not remove what was made")


def check_settings(parser, options):
    for item in options.set:
        if "=" not in item:
            parser.error("--set takes NAME=VALUE")


def memory_mb():
    with open("/proc/meminfo", encoding="ascii") as f:
        for line in f:
            if line.startswith("MemTotal:"):
                return int(line.split()[1]) // 1024
    return 4096


def server_settings(given, clients=0):
    """Everything in memory, nothing in the background, no waiting for disks.

    fsync off: the workloads compare CPU time, and both sides wait for the same
    disk.  Commits stay synchronous, because VACUUM cannot mark pages all-visible
    whose rows were committed asynchronously a moment ago.  full_page_writes
    off: page images after a checkpoint would drown the records that are
    compared.
    """
    settings = {
        "shared_buffers": "%dMB" % min(4096, memory_mb() // 3),
        "fsync": "off", "full_page_writes": "off", "autovacuum": "off",
        "jit": "off",
        "max_parallel_workers_per_gather": "0",
        "checkpoint_timeout": "1d", "max_wal_size": "16GB",
        "min_wal_size": "4GB", "wal_buffers": "64MB",
        "bgwriter_lru_maxpages": "0", "log_checkpoints": "off",
        "effective_cache_size": "8GB",
        "max_connections": "%d" % (20 + clients),
    }
    settings.update(item.split("=", 1) for item in given)
    return settings


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def machine():
    """Where and when something was measured."""
    return {"cpu": cpu_model(), "cores": os.cpu_count(),
            "memory_mb": memory_mb(), "system": platform.platform(),
            "date": time.strftime("%Y-%m-%d %H:%M:%S %z")}


def extension(clients, options):
    """Install fptree in the database, if a side needs it; its version."""
    if "fptree" not in (options.reference, options.candidate):
        return None
    version = clients.psql("SELECT default_version FROM "
                           "pg_available_extensions WHERE name = 'fptree'")
    if not version:
        raise BenchError("fptree is not installed in this server: run "
                         "make PG_CONFIG=%s install" % clients.pg_config)
    clients.psql("CREATE EXTENSION IF NOT EXISTS fptree",
                 options="-c client_min_messages=warning")
    return version
