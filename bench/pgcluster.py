"""A throw-away PostgreSQL server, and a client that can watch its backend.

Used by bench/run.  Python's standard library only.  The server listens on a
Unix socket inside its own directory and on nothing else, so that it cannot get
in the way of another server of the machine.
"""

import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

SERVER_USER = "postgres"


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
