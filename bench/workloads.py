"""The workloads of bench/run.

Every workload makes its tables with its section of bench/workloads.sql, then
runs its statements in rounds.  A round measures both sides, one right after
the other, in alternating order, so that a disturbance of the machine hits
both.  Times are CPU times of the backend unless a line says otherwise.
"""

import time

from exact_workloads import Exact
from format_workloads import Format, Images
from general_workloads import NESTED_LOOP, SIDES, General
from pgcluster import BenchError, CpuClock, plan_nodes
from report import Result
from transactions import Pgbench

HEAP_SETTING = "fptree.heap_lines"
# A side beside the two: the candidate without.
HEAP_OFF = "off"
HEAP_NAME = "plain scan, random heap, cached, "

# Keys of a range, number of ranges.
HEAP_RANGES = ((1000, 500), (10000, 50))
# The same for a session that has just begun.
HEAP_FIRST = (10000, 10)


class Heap:
    """The workload "heap", rows of a cached table in random order.

    A plain index scan of it waits for memory at each row.  The candidate is
    measured with the setting that asks for the rows' cache lines ahead, and
    without.  Methods of Bench.
    """

    def heap(self):
        self.read_tables()
        for span, ranges in HEAP_RANGES:
            cpu = self.heap_rounds(span, ranges, self.heap_session)
            self.heap_add("ranges of {:,}".format(span), cpu, 0.30)
        cpu = self.heap_rounds(*HEAP_FIRST, self.heap_new_session)
        self.heap_add("first ranges of a session", cpu, 0.50)

    def heap_add(self, name, cpu, target):
        self.add("heap", HEAP_NAME + name, "ns/row", cpu["reference"],
                 cpu["candidate"], target)
        if HEAP_OFF in cpu:
            self.add("heap", HEAP_NAME + name + ", " + HEAP_SETTING + " off",
                     "ns/row", cpu["reference"], cpu[HEAP_OFF])

    def heap_session(self):
        return self.conn, self.clock

    def heap_new_session(self):
        conn = self.cluster.connect()
        return conn, CpuClock(conn.pid, self.clock.postmaster)

    def heap_set(self, conn, side):
        settings = dict(NESTED_LOOP, enable_indexonlyscan="off",
                        search_path="%s, public" %
                        ("candidate" if side == HEAP_OFF else side))
        if self.am["candidate"] == "fptree":
            conn.query("LOAD 'fptree'")
            settings[HEAP_SETTING] = "off" if side == HEAP_OFF else "on"
        for name, value in settings.items():
            conn.query("SET %s = %s" % (name, value))

    def heap_rounds(self, span, ranges, session):
        """CPU nanoseconds of each row, by side; HEAP_OFF if that can be."""
        span = min(span, self.rows // 10)
        sides = SIDES
        if self.am["candidate"] == "fptree":
            sides += (HEAP_OFF,)
        cpu = {side: [] for side in sides}
        statement = (
            "SELECT sum(n) FROM (SELECT least(lo, %d) AS lo FROM short_range "
            "LIMIT %d) r, LATERAL (SELECT count(v) AS n FROM accounts WHERE k "
            "BETWEEN r.lo AND r.lo + %d) x" %
            (self.rows - span, ranges, span - 1))
        for rnd in range(-1, self.rounds):
            for side in sides if rnd % 2 == 0 else sides[::-1]:
                own = self.heap_once(statement, side, ranges * span, session)
                if rnd >= 0:
                    cpu[side].append(own / (ranges * span) * 1e9)
        return cpu

    def heap_once(self, statement, side, rows, session):
        conn, clock = session()
        self.heap_set(conn, side)
        self.plan_uses(statement, "Index Scan", "accounts_k", conn)
        clock.settle()
        before = clock.backend_time()
        answer = conn.query(statement)
        clock.settle()
        own = clock.backend_time() - before
        if conn is not self.conn:
            conn.close()
        if int(answer[0][0]) != rows:
            raise BenchError("%d rows of %s expected, not %s" %
                             (rows, side, answer[0][0]))
        return own


class Bench(General, Heap, Images, Format, Exact):
    """State of a run: the server, its connection, the results."""

    def __init__(self, cluster, options, log):
        self.cluster = cluster
        self.rows = options.rows
        self.rounds = options.rounds
        self.seconds = options.seconds
        self.am = {"reference": options.reference,
                   "candidate": options.candidate}
        self.log = log
        self.results = []
        self.conn = cluster.connect()
        self.clock = CpuClock(self.conn.pid, cluster.postmaster_pid())
        self.transactions = Pgbench(cluster, cluster.postmaster_pid())
        self.checker = False

    # -- plumbing ---------------------------------------------------------

    def script(self, name, **variables):
        variables.update(am_reference=self.am["reference"],
                         am_candidate=self.am["candidate"],
                         rows=self.rows, rounds=self.rounds)
        self.cluster.psql_file(self.cluster.section(name), **variables)

    def sql(self, statement):
        return self.conn.query(statement)

    def settings(self, values):
        for name, value in values.items():
            self.sql("SET %s = '%s'" % (name, value))

    def reset(self):
        self.sql("RESET ALL")
        self.sql("CHECKPOINT")

    def wait_for_setting(self, name, value):
        """After pg_reload_conf(), in all processes that matter: this one."""
        for _ in range(100):
            if self.conn.value("SHOW " + name) == value:
                return
            time.sleep(0.05)
        raise BenchError("%s does not become %s" % (name, value))

    def use(self, side):
        self.sql("SET search_path = %s, public" % side)

    def order(self, rnd):
        return SIDES if rnd % 2 == 0 else SIDES[::-1]

    def timed(self, statement):
        """Run a statement; its CPU seconds, elapsed seconds and rows."""
        self.clock.settle()
        cpu = self.clock.backend_time()
        start = time.perf_counter()
        rows = self.sql(statement)
        elapsed = time.perf_counter() - start
        self.clock.settle()
        return self.clock.backend_time() - cpu, elapsed, rows

    def add(self, *args, **kwargs):
        result = Result(*args, **kwargs)
        self.results.append(result)
        self.log("  %-52s %s %s" % (
            result.name,
            "-" if result.ratio is None else "%.3f" % result.ratio,
            result.verdict()))

    def plan_uses(self, statement, node, index, conn=None):
        """Complain unless the statement's plan reads the index that way."""
        plan = (conn or self.conn).value("EXPLAIN (FORMAT JSON) " + statement)
        for p in plan_nodes(plan):
            if p["Node Type"] == node and p.get("Index Name") == index:
                return
        raise BenchError("expected %s on %s in the plan of:\n%s\n%s" %
                         (node, index, statement, plan))

    def check(self, index):
        """The index must be sound after what was done to it."""
        if self.checker:
            self.sql("SELECT fptree_index_check('%s', true, false)" % index)

    def drop(self, *tables):
        for name in tables:
            self.sql("DROP TABLE IF EXISTS " + name)

    # -- index size -------------------------------------------------------

    SIZED = (("k4", "int4, dense ids", 0.25, 0.33),
             ("k8", "int8, dense ids", 0.25, 0.33),
             ("r8", "int8, whole domain", 0.52, 0.62),
             ("ts", "timestamptz, one year", 0.42, 0.52),
             ("u", "uuid, random", 0.70, None),
             ("d4", "int4, 1,000 distinct values", None, None))

    def size(self):
        self.script("size")
        self.settings({"maintenance_work_mem": "1GB"})
        per_key = {}
        for column, name, target, _ in self.SIZED:
            for side in SIDES:
                index = "sized_%s_%s" % (column, side)
                self.sql("CREATE INDEX %s ON sized USING %s (%s)" %
                         (index, self.am[side], column))
                per_key[side] = self.bytes_per_key(index, self.rows)
                if column not in ("k4", "k8", "r8", "ts"):
                    self.sql("DROP INDEX " + index)
            self.add("size", "bulk-built, %s" % name, "B/key",
                     [per_key["reference"]], [per_key["candidate"]], target)
        self.sql("INSERT INTO sized SELECT * FROM doubling")
        for column, name, _, target in self.SIZED[:4]:
            for side in SIDES:
                index = "sized_%s_%s" % (column, side)
                per_key[side] = self.bytes_per_key(index, self.rows * 2)
            self.add("size", "doubled by random inserts, %s" % name, "B/key",
                     [per_key["reference"]], [per_key["candidate"]], target)
        self.check("sized_k8_candidate")
        self.size_from_empty()
        self.drop("sized", "doubling")

    def size_from_empty(self):
        """No bulk load at all: every page made by splits."""
        self.sql("CREATE TABLE sprouted (k4 int4, k8 int8)")
        for column in ("k4", "k8"):
            for side in SIDES:
                self.sql("CREATE INDEX sprouted_%s_%s ON sprouted USING %s (%s)"
                         % (column, side, self.am[side], column))
        self.sql("INSERT INTO sprouted SELECT k4, k8 FROM doubling")
        for column, name in (("k4", "int4"), ("k8", "int8")):
            size = [self.bytes_per_key("sprouted_%s_%s" % (column, side),
                                       self.rows) for side in SIDES]
            self.add("size", "grown from empty by random inserts, %s" % name,
                     "B/key", [size[0]], [size[1]])
        self.drop("sprouted")

    def bytes_per_key(self, index, keys):
        return int(self.conn.value(
            "SELECT pg_relation_size('%s')" % index)) / keys

    # -- CREATE INDEX -----------------------------------------------------

    def build(self):
        self.sql("CREATE TABLE ordered AS SELECT k FROM base ORDER BY k")
        self.sql("VACUUM (FREEZE, ANALYZE) ordered")
        cases = (("base", 0, "build from random order", 0.22),
                 ("base", 2, "build from random order, two workers", 0.80),
                 ("ordered", 0, "build from key order", 1.00))
        for table, workers, name, target in cases:
            cpu, wall = self.build_case(table, workers)
            self.add("build", name, "s", cpu["reference"], cpu["candidate"],
                     target)
            self.add("build", name + ", elapsed", "s", wall["reference"],
                     wall["candidate"])
        self.sql("ALTER TABLE base RESET (parallel_workers)")
        self.drop("ordered")

    def build_case(self, table, workers):
        cpu = {side: [] for side in SIDES}
        wall = {side: [] for side in SIDES}
        self.settings({"maintenance_work_mem": "1GB",
                       "max_parallel_maintenance_workers": workers})
        self.sql("ALTER TABLE %s SET (parallel_workers = %d)" %
                 (table, workers))
        self.sql("SELECT count(*) FROM " + table)
        for rnd in range(self.rounds):
            for side in self.order(rnd):
                helpers = self.clock.children_time()
                own, elapsed, _ = self.timed(
                    "CREATE INDEX built ON %s USING %s (k)" %
                    (table, self.am[side]))
                helpers = self.clock.children_time() - helpers
                if workers > 0 and helpers == 0:
                    self.log("  note: no parallel workers for %s" %
                             self.am[side])
                cpu[side].append(own + helpers)
                wall[side].append(elapsed)
                self.sql("DROP INDEX built")
            self.sql("CHECKPOINT")
        return cpu, wall

    # -- reading ----------------------------------------------------------

    def read_tables(self):
        """Tables that lookup, range and select share."""
        if self.conn.value("SELECT to_regclass('reference.accounts')"):
            return
        self.script("read", probes=max(self.rows // 10, 1000))
        for side in SIDES:
            # from 16 on, empty pages that were added in advance may follow
            if self.sql("SELECT 1 FROM pg_class WHERE oid = "
                        "'%s.accounts'::regclass AND relallvisible <= (SELECT "
                        "(max(ctid)::text::point)[0] FROM %s.accounts)" %
                        (side, side)):
                raise BenchError("VACUUM left pages not all-visible")
        self.check("candidate.accounts_k")

    def read_rounds(self, statement, node, what, expect=None,
                    index="accounts_k"):
        """CPU seconds of a read-only statement, by side."""
        cpu = {side: [] for side in SIDES}
        answer = {}
        for rnd in range(-1, self.rounds):
            for side in self.order(rnd):
                self.use(side)
                if rnd < 0:
                    self.plan_uses(statement, node, index)
                own, _, rows = self.timed(statement)
                answer[side] = rows[0][0]
                if rnd >= 0:
                    cpu[side].append(own)
        if answer["reference"] != answer["candidate"] or \
                (expect is not None and int(answer["reference"]) != expect):
            raise BenchError("%s: the two sides disagree: %s" % (what, answer))
        return cpu

    def per(self, samples, count, scale=1e6):
        return [s / count * scale for s in samples]

    def lookup(self):
        self.read_tables()
        self.settings(NESTED_LOOP)
        probes = int(self.conn.value("SELECT count(*) FROM probe"))
        cpu = self.read_rounds(
            "SELECT count(*) FROM probe p JOIN accounts a ON a.k = p.k",
            "Index Only Scan", "lookup", probes)
        bare = [self.timed("SELECT count(p.k) FROM probe p")[0]
                for _ in range(self.rounds)]
        self.add("lookup", "random index-only lookups, nested loop", "us",
                 self.per(cpu["reference"], probes),
                 self.per(cpu["candidate"], probes))
        self.add("lookup", "the same less the scan of the outer table", "us",
                 self.per([a - b for a, b in zip(cpu["reference"], bare)],
                          probes),
                 self.per([a - b for a, b in zip(cpu["candidate"], bare)],
                          probes), 0.36)

    def range(self):
        self.read_tables()
        self.settings(NESTED_LOOP)
        for table, span, name in (
                ("short_range", 1000, "index-only count, ranges of 1,000"),
                ("long_range", 1000000, "index-only count, ranges of 1 million")):
            span = min(span, self.rows - 1)
            ranges = int(self.conn.value("SELECT count(*) FROM " + table))
            cpu = self.read_rounds(
                "SELECT sum(n) FROM %s r, LATERAL (SELECT count(*) AS n FROM "
                "accounts WHERE k BETWEEN r.lo AND r.lo + %d) x" %
                (table, span - 1), "Index Only Scan", name, ranges * span)
            self.add("range", name, "ns/key",
                     self.per(cpu["reference"], ranges * span, 1e9),
                     self.per(cpu["candidate"], ranges * span, 1e9), 0.80)

    # -- pgbench ----------------------------------------------------------

    def pgbench(self, script, side, clients):
        """One short run: transactions per second, CPU us a transaction."""
        done = self.transactions.run(
            ["-T", str(self.seconds), "-D", "rows=%d" % self.rows, "-f",
             self.cluster.section(script)], clients,
            "-c search_path=%s,public" % side)
        return done.tps, done.cpu * 1e6

    def pgbench_rounds(self, group, script, what):
        for clients in (1, 2):
            tps = {side: [] for side in SIDES}
            cpu = {side: [] for side in SIDES}
            for rnd in range(-1, self.rounds):
                for side in self.order(rnd):
                    t, c = self.pgbench(script, side, clients)
                    if rnd >= 0:
                        tps[side].append(t)
                        cpu[side].append(c)
            name = "%s, %d client%s" % (what, clients, "s"[:clients - 1])
            self.add(group, name, "tps", tps["reference"], tps["candidate"],
                     0.98, at_least=True)
            self.add(group, name + ", server CPU", "us", cpu["reference"],
                     cpu["candidate"])

    def select(self):
        self.read_tables()
        for side in SIDES:
            self.use(side)
            self.plan_uses("SELECT v FROM accounts WHERE k = 1", "Index Scan",
                           "accounts_k")
        self.pgbench_rounds("select", "select", "pgbench select-only")

    def pginsert(self):
        self.script("pginsert")
        self.pgbench_rounds("pginsert", "insert_row",
                            "pgbench single-row insert")
        self.check("candidate.events_k")
        self.drop("reference.events", "candidate.events")

    # -- inserts ----------------------------------------------------------

    def insert_rounds(self, table, source, count):
        """The index's share of CPU us and WAL bytes an insert, by side.

        source(round) is the query whose rows are inserted, count of them.
        """
        cpu = {side: [] for side in SIDES}
        wal = {side: [] for side in SIDES}
        for rnd in range(self.rounds):
            got = {}
            for side in ("bare",) + tuple(self.order(rnd)):
                lsn = self.conn.value("SELECT pg_current_wal_insert_lsn()")
                own, _, _ = self.timed("INSERT INTO %s.%s %s" %
                                       (side, table, source(rnd)))
                size = self.conn.value(
                    "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '%s')"
                    % lsn)
                got[side] = (own, int(size))
            for side in SIDES:
                cpu[side].append((got[side][0] - got["bare"][0]) / count * 1e6)
                wal[side].append((got[side][1] - got["bare"][1]) / count)
            self.sql("CHECKPOINT")
        return cpu, wal

    def insert(self):
        self.script("insert")
        count = self.rows // self.rounds
        for rnd in range(self.rounds):
            self.sql("SELECT count(*) FROM odd_%d" % rnd)
        cpu, wal = self.insert_rounds(
            "grown", lambda rnd: "SELECT k FROM odd_%d" % rnd, count)
        self.add("insert", "random inserts, index's share", "us",
                 cpu["reference"], cpu["candidate"], 0.35, total=True)
        self.add("insert", "WAL of random inserts, index's share", "B",
                 wal["reference"], wal["candidate"], 1.00, total=True)
        size = [self.bytes_per_key(side + ".grown_k", self.rows * 2)
                for side in SIDES]
        self.add("insert", "size after these inserts", "B/key", [size[0]],
                 [size[1]])
        self.check("candidate.grown_k")
        self.drop(*["odd_%d" % r for r in range(self.rounds)])
        self.drop("bare.grown", "reference.grown", "candidate.grown")

    def ascending(self):
        self.script("ascending")
        count = self.rows // 10
        cpu, wal = self.insert_rounds(
            "logged", lambda rnd: "SELECT generate_series(%d, %d)" %
            (rnd * count + 1, (rnd + 1) * count), count)
        self.add("ascending", "ascending inserts, index's share", "us",
                 cpu["reference"], cpu["candidate"], 1.00)
        self.add("ascending", "WAL of ascending inserts, index's share", "B",
                 wal["reference"], wal["candidate"], 0.95)
        size = [self.bytes_per_key(side + ".logged_k", count * self.rounds)
                for side in SIDES]
        self.add("ascending", "size after these inserts", "B/key", [size[0]],
                 [size[1]])
        self.check("candidate.logged_k")
        self.drop("bare.logged", "reference.logged", "candidate.logged")

    # -- VACUUM -----------------------------------------------------------

    def vacuum(self):
        self.script("vacuum")
        self.settings({"maintenance_work_mem": "1GB"})
        cpu = {side: [] for side in SIDES}
        share = 65536 // 20
        for rnd in range(self.rounds):
            got = {}
            for side in ("bare",) + tuple(self.order(rnd)):
                self.sql("DELETE FROM %s.purged WHERE (hashint8extended(k, 9) "
                         "& 65535) BETWEEN %d AND %d" %
                         (side, rnd * share, (rnd + 1) * share - 1))
            self.sql("CHECKPOINT")
            for side in ("bare",) + tuple(self.order(rnd)):
                got[side], _, _ = self.timed(
                    "VACUUM (INDEX_CLEANUP ON, PARALLEL 0, TRUNCATE OFF) "
                    "%s.purged" % side)
            for side in SIDES:
                cpu[side].append(got[side] - got["bare"])
        self.add("vacuum", "VACUUM after deleting 5%, index's share", "s",
                 cpu["reference"], cpu["candidate"], 0.70)
        self.check("candidate.purged_k")
        self.drop("bare.purged", "reference.purged", "candidate.purged")


# In the order in which they run.  kernel is run by bench/run itself.
GROUPS = ("size", "build", "lookup", "range", "heap", "select", "insert",
          "ascending", "vacuum", "pginsert", "general", "images", "format-size",
          "format-wal", "format-v7", "format-sweep", "repeated",
          "warm", "counts", "keys", "kernel")
READERS = ("lookup", "range", "heap", "select")
# Those that start with this have a table of their own; "format": but for the
# sweep, which has no targets.
FORMAT = "format"
# Counts, in a table of their own.
EXACT = ("repeated", "warm", "counts", "keys")
EVERY = tuple(name for name in GROUPS
              if not name.startswith(FORMAT) and name not in EXACT)
CORE = tuple(name for name in EVERY
             if name not in ("general", "images", "kernel"))
ALIASES = {"core": CORE,
           FORMAT: ("format-size", "format-wal", "format-v7"),
           "exact": EXACT}
