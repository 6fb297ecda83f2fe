"""The workloads of bench/cold: read-ahead, cold and warm.

A table has two columns with the same values, one indexed by btree and one by
fptree, so that both sides read the same heap.  A round measures every side,
each after a restart of its own, in an order that turns from round to round.
"""

import os
import random

from cold_report import Line
from cold_server import Session
from pgcluster import BenchError
from transactions import processed

# Leave one plan for a statement.
PLAIN = {"enable_seqscan": "off", "enable_bitmapscan": "off",
         "enable_indexonlyscan": "off", "enable_sort": "off"}
ONLY = {"enable_seqscan": "off", "enable_bitmapscan": "off",
        "enable_indexscan": "on", "enable_indexonlyscan": "on"}
BITMAP = {"enable_seqscan": "off", "enable_indexscan": "off",
          "enable_indexonlyscan": "off"}
OFF = {"fptree.leaf_prefetch": "off", "fptree.heap_prefetch": "off"}
IO = {"effective_io_concurrency": "128"}

# For the workload "plans": the planner is free, fptree is told what it reads.
FREE = {"effective_io_concurrency": "128"}
NODES = ("Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Seq Scan")

RANGES = ((1000, "1,000 keys", 1.3), (100000, "100,000 keys", None),
          (1000000, "1 million keys", 3.0), (None, "all keys", 2.2))
HEAP = ((100, "100 rows", 2.5, None), (10000, "10,000 rows", 4.0, 0.95),
        (100000, "100,000 rows", 4.0, 0.95))
LIMITS = (1, 4, 16, 32, 100)
SERVICES = 500

# What a session runs on a small table before it is measured.
SMALL = ("count({c})", "sum(length(pad))")

# Statements that make one sample of a LIMIT: single ones differ too much.
LIMIT_STATEMENTS = {1: 100, 4: 100}
PGBENCH = (("cold_point", "point"), ("cold_range", "range of 100 rows"))
PGBENCH_SECONDS = 5
SHARES = (1, 10, 30, 50, 60, 70, 80, 90)        # percent of the keys, "plans"


def merged(*settings):
    out = {}
    for s in settings:
        out.update(s)
    return out


class Side:
    """One way to run a statement: column, plan, settings."""

    def __init__(self, name, column, node, settings):
        self.name = name
        self.column = column
        self.node = node        # expected in the plan; None: any
        self.settings = settings
        self.chosen = None      # if any: the one that was chosen


def index_sides(node, base):
    return [Side("btree", "b", node, merged(base, IO)),
            Side("fptree off", "f", node, merged(base, IO, OFF)),
            Side("fptree", "f", node, merged(base, IO))]


class Cold:
    """State of a run."""

    def __init__(self, cluster, options, log):
        self.cluster = cluster
        self.rows = options.rows
        self.heap_rows = options.heap_rows
        self.event_rows = options.event_rows
        self.rounds = options.rounds
        self.log = log
        self.lines = []
        self.explained = []
        self.tablespace = None
        self.random = random.Random(options.seed)

    # -- tables --------------------------------------------------------------

    def use_tablespace(self, path):
        """Tables and indexes go there from now on."""
        self.run("CREATE TABLESPACE measured LOCATION '%s'" % path)
        self.tablespace = "measured"
        self.cluster.also.append(path)

    def run(self, *statements):
        conn = self.cluster.connect()
        if self.tablespace:
            statements = ("SET default_tablespace = " + self.tablespace,
                          *statements)
        try:
            for s in statements:
                conn.query(s)
        finally:
            conn.close()

    def make_ranges(self):
        """The aged index: loaded at 70%, then doubled by random inserts."""
        self.log("index-only table, %d rows" % self.rows)
        self.run(
            "SELECT setseed(0.5)", "SET maintenance_work_mem = '1GB'",
            "SET work_mem = '512MB'",
            "CREATE TABLE ranges (b int8 NOT NULL, f int8 NOT NULL)",
            "INSERT INTO ranges SELECT k, k FROM generate_series(1, %d, 2) k "
            "ORDER BY random()" % self.rows,
            "CREATE INDEX ranges_b ON ranges USING btree (b) "
            "WITH (fillfactor = 70)",
            "CREATE INDEX ranges_f ON ranges USING fptree (f) "
            "WITH (fillfactor = 70)",
            "INSERT INTO ranges SELECT k, k FROM generate_series(2, %d, 2) k "
            "ORDER BY random()" % self.rows,
            "VACUUM (FREEZE, ANALYZE, PARALLEL 0) ranges", "CHECKPOINT")

    def make_heap(self):
        """Rows of 200 bytes in random order."""
        self.log("heap table, %d rows" % self.heap_rows)
        self.run(
            "SELECT setseed(0.5)", "SET maintenance_work_mem = '1GB'",
            "SET work_mem = '512MB'",
            "CREATE TABLE heap (b int4 NOT NULL, f int4 NOT NULL, pad text)",
            "INSERT INTO heap SELECT k, k, repeat(md5(k::text), 5) FROM "
            "(SELECT k FROM generate_series(1, %d) k ORDER BY random()) s"
            % self.heap_rows,
            "CREATE INDEX heap_b ON heap USING btree (b)",
            "CREATE INDEX heap_f ON heap USING fptree (f)",
            "VACUUM (FREEZE, ANALYZE, PARALLEL 0) heap", "CHECKPOINT")

    def make_events(self):
        """What services report, in the order of time, 5% of it changed later.

        No VACUUM has been there since, so an index-only scan has to look at
        nearly all heap pages.
        """
        rows = self.event_rows
        self.log("events of %d services, %d rows" % (SERVICES, rows))
        self.run(
            "SET maintenance_work_mem = '1GB'",
            "CREATE TABLE events (b uuid, f uuid, bt timestamptz, "
            "ft timestamptz, n int, pad text)",
            "INSERT INTO events SELECT u, u, x, x, i, repeat('x', 40) FROM "
            "generate_series(1, %d) i, LATERAL (SELECT "
            "md5((abs(hashint4(i)) %% %d)::text)::uuid u, timestamptz "
            "'2025-01-01 UTC' + i * interval '1 s' x) s" % (rows, SERVICES),
            "CREATE INDEX events_b ON events USING btree (b, bt)",
            "CREATE INDEX events_f ON events USING fptree (f, ft)",
            "CREATE INDEX events_at_b ON events USING btree (bt)",
            "CREATE INDEX events_at_f ON events USING fptree (ft)",
            "VACUUM (FREEZE, ANALYZE, PARALLEL 0) events",
            "UPDATE events SET n = n + 1 WHERE abs(hashint4(n + 7)) % 20 = 0",
            "ANALYZE events", "CHECKPOINT")

    def make_small(self):
        """For a session's first scan of a kind, which loads its code."""
        self.run(
            "CREATE TABLE small (b int8 NOT NULL, f int8 NOT NULL, pad text)",
            "INSERT INTO small SELECT k, k, repeat(md5(k::text), 5) FROM "
            "generate_series(1, 3000) k ORDER BY hashint8(k)",
            "CREATE INDEX small_b ON small USING btree (b)",
            "CREATE INDEX small_f ON small USING fptree (f)",
            "VACUUM (FREEZE, ANALYZE) small", "CHECKPOINT")

    def big_file(self):
        """The first file of the largest table."""
        conn = self.cluster.connect()
        try:
            path = conn.value(
                "SELECT pg_relation_filepath(oid) FROM pg_class WHERE relkind "
                "= 'r' ORDER BY relpages DESC LIMIT 1")
        finally:
            conn.close()
        return os.path.join(self.cluster.data, path)

    # -- measuring -----------------------------------------------------------

    def start_key(self, rows, width):
        return self.random.randint(1, max(1, rows - width + 1))

    def rounds_for(self, width):
        """What takes a millisecond differs most: more samples of it."""
        if width is not None and width <= 1000:
            return 5 * self.rounds
        return self.rounds

    def one(self, side, statements, table, cold=True):
        """A run of statements on a server without caches: a list of samples."""
        self.cluster.restart(cold)
        session = Session(self.cluster, side.settings)
        try:
            texts = [x.format(c=side.column) for x in statements]
            if side.node is not None:
                session.check_plan(texts[0], side.node,
                                   "%s_%s" % (table, side.column))
            else:
                side.chosen = session.scan_node(texts[0], NODES)
            for what in SMALL:
                session.conn.query(
                    "SELECT %s FROM small WHERE {c} BETWEEN 1 AND 2000".format(
                        c=side.column) % what.format(c=side.column))
            return [session.measure(x) for x in texts]
        finally:
            session.close()

    def rounds_of(self, group, name, sides, table, statements, cold=True,
                  cpu=False):
        """All rounds of one line.

        statements: one for each round, or a list of statements, run one after
        the other, whose mean is the sample.
        """
        samples = {s.name: [] for s in sides}
        runs = {s.name: [] for s in sides}
        for rnd, batch in enumerate(statements):
            turn = rnd % len(sides)
            answers = []
            if isinstance(batch, str):
                batch = [batch]
            for side in sides[turn:] + sides[:turn]:
                got = self.one(side, batch, table, cold)
                answers.append([g.rows for g in got])
                samples[side.name].append(1000 / len(got) * sum(
                    g.cpu if cpu else g.elapsed for g in got))
                runs[side.name] += [g.as_dict() for g in got]
            if any(a != answers[0] for a in answers):
                raise BenchError("different answers to " + batch[0])
        line = Line(group, name, "CPU ms" if cpu else "ms", samples)
        line.runs = runs
        self.lines.append(line)
        return line

    def note(self, line):
        for r in line.ratios:
            self.log("  %-18s %-28s %s %s" % (line.name, r.label, r.text(),
                                              r.verdict()))

    # -- (a) index-only ------------------------------------------------------

    def range(self):
        for width, name, target in RANGES:
            if width is not None and width >= self.rows:
                continue
            texts = []
            for _ in range(self.rounds_for(width)):
                if width is None:
                    texts.append("SELECT count({c}) FROM ranges WHERE {c} > 0")
                else:
                    lo = self.start_key(self.rows, width)
                    texts.append("SELECT count({c}) FROM ranges WHERE {c} "
                                 "BETWEEN %d AND %d" % (lo, lo + width - 1))
            line = self.rounds_of("Cold index-only scans, aged index", name,
                                  index_sides("Index Only Scan", ONLY),
                                  "ranges", texts)
            line.compare("btree / fptree", "btree", "fptree", target)
            line.compare("fptree off / on", "fptree off", "fptree")
            self.note(line)

    # -- (b) heap in random order --------------------------------------------

    def heap_texts(self, width):
        texts = []
        for _ in range(self.rounds_for(width)):
            lo = self.start_key(self.heap_rows, width)
            texts.append("SELECT sum(length(pad)) FROM heap WHERE {c} BETWEEN "
                         "%d AND %d" % (lo, lo + width - 1))
        return texts

    def heap(self):
        sides = index_sides("Index Scan", PLAIN)
        for n in (1, 16):
            sides.append(Side("fptree, eic %d" % n, "f", "Index Scan", merged(
                PLAIN, {"effective_io_concurrency": str(n)})))
        for n in (1, 16, 128):
            sides.append(Side("bitmap, eic %d" % n, "b", "Bitmap Index Scan",
                              merged(BITMAP,
                                     {"effective_io_concurrency": str(n)})))
        for width, name, btree, bitmap in HEAP:
            if width >= self.heap_rows:
                continue
            line = self.rounds_of("Cold index scans, heap in random order",
                                  name, sides, "heap", self.heap_texts(width))
            line.compare("btree / fptree", "btree", "fptree", btree)
            line.compare("bitmap, eic 128 / fptree", "bitmap, eic 128",
                         "fptree", bitmap)
            line.compare("fptree off / on", "fptree off", "fptree")
            self.note(line)

    # -- events ---------------------------------------------------------------

    def events(self):
        """Heap pages in ascending order, and those of one service."""
        group = "Cold scans of events"
        rows = self.event_rows // 13
        time = ("BETWEEN timestamptz '2025-01-01 UTC' + %d * interval '1 s' "
                "AND timestamptz '2025-01-01 UTC' + %d * interval '1 s'")
        for name, node, base, what in (
                ("a time, index-only", "Index Only Scan", ONLY,
                 "count({c}t)"),
                ("a time, heap", "Index Scan", PLAIN, "sum(n)")):
            texts = []
            for _ in range(self.rounds):
                lo = self.start_key(self.event_rows, rows)
                texts.append(("SELECT %s FROM events WHERE {c}t " % what) +
                             time % (lo, lo + rows))
            line = self.rounds_of(group, name, index_sides(node, base),
                                  "events_at", texts)
            line.compare("fptree / btree", "fptree", "btree", 1.05, False)
            line.compare("fptree off / on", "fptree off", "fptree")
            self.note(line)
        for name, node, base, what in (
                ("a service, index-only", "Index Only Scan", ONLY,
                 "count({c}t)"),
                ("a service, heap", "Index Scan", PLAIN, "sum(n)")):
            texts = ["SELECT %s FROM events WHERE {c} = md5('%d')::uuid" %
                     (what, x) for x in self.random.sample(range(SERVICES),
                                                           self.rounds)]
            line = self.rounds_of(group, name, index_sides(node, base),
                                  "events", texts)
            line.compare("btree / fptree", "btree", "fptree", 3.1)
            line.compare("fptree off / on", "fptree off", "fptree")
            self.note(line)

    # -- (c) warm ------------------------------------------------------------

    def warm_line(self, group, name, table, node, base, statement, target):
        """Read-ahead on and off, turn by turn, in one session."""
        session = Session(self.cluster, merged(base, IO))
        off, on = [], []
        try:
            session.check_plan(statement, node, table + "_f")
            session.measure(statement)
            session.measure(statement)
            for rnd in range(4 * self.rounds + 1):
                for state in (("off", "on"), ("on", "off"))[rnd % 2]:
                    for setting in OFF:
                        session.conn.query("SET %s = %s" % (setting, state))
                    got = session.measure(statement)
                    (on if state == "on" else off).append(1000 * got.cpu)
        finally:
            session.close()
        line = Line(group, name, "CPU ms", {"fptree off": off, "fptree": on})
        line.compare("fptree on / off", "fptree", "fptree off", target, False)
        self.lines.append(line)
        self.note(line)

    def warm(self):
        group = "Warm: all in shared buffers"
        for width in (1000, 100000, 1000000, None):
            if width is not None and width >= self.rows:
                continue
            self.warm_line(
                group, "index-only, all keys" if width is None else
                "index-only, %d keys" % width, "ranges", "Index Only Scan",
                ONLY, self.ranges_loop(width, 200000), 1.01)
        for width in (100, 10000, 100000):
            if width < self.heap_rows:
                self.warm_line(group, "heap, %d rows" % width, "heap",
                               "Index Scan", PLAIN,
                               self.heap_loop(width, 40000), 1.01)
        for limit in LIMITS:
            self.warm_line(group, "LIMIT %d" % limit, "heap", "Index Scan",
                           PLAIN, self.limit_loop(limit, 20000), 1.01)

    # Statements that run a scan often enough to be measured.

    def ranges_loop(self, width, keys):
        if width is None:
            return "SELECT count(f) FROM ranges WHERE f > 0"
        times = max(1, keys // width)
        step = self.rows // times // 2
        return ("SELECT sum(n) FROM generate_series(0, %d) g, LATERAL (SELECT "
                "count(f) n FROM ranges WHERE f BETWEEN g * %d + 1 AND "
                "g * %d + %d) s" % (times - 1, step, step, width))

    def heap_loop(self, width, rows):
        times = max(1, rows // width)
        step = self.heap_rows // times // 2
        return ("SELECT sum(n) FROM generate_series(0, %d) g, LATERAL (SELECT "
                "sum(length(pad)) n FROM heap WHERE f BETWEEN g * %d + 1 AND "
                "g * %d + %d) s" % (times - 1, step, step, width))

    def limit_loop(self, limit, rows):
        times = max(1, rows // (limit + 3))
        return ("SELECT sum(n) FROM generate_series(1, %d) g, LATERAL (SELECT "
                "length(pad) n FROM heap WHERE f >= g * %d ORDER BY f LIMIT "
                "%d) s" % (times, self.heap_rows // (times + 1), limit))

    # -- instructions --------------------------------------------------------

    def instructions(self):
        """Instructions, counted by valgrind in a single-user server.

        Warm: of the second and third execution.  Cold: of the first one, with
        the pages in the operating system's cache, whose instructions are not
        counted.
        """
        if not self.cluster.can_count():
            self.log("  left out: there is no valgrind")
            return
        cases = []
        for width in (1000, 100000):
            if width < self.rows:
                cases.append(("index-only, %d keys" % width, ONLY,
                              self.ranges_loop(width, 100000), 2))
        for width in (100, 10000):
            if width < self.heap_rows:
                cases.append(("heap, %d rows" % width, PLAIN,
                              self.heap_loop(width, 10000), 2))
        for limit in LIMITS:
            cases.append(("LIMIT %d" % limit, PLAIN,
                          self.limit_loop(limit, 2000), 2))
        for limit in LIMITS[:2]:
            cases.append((
                "LIMIT %d, cold" % limit, PLAIN,
                "SELECT sum(l) FROM (SELECT length(pad) l FROM heap WHERE "
                "f >= %d ORDER BY f LIMIT %d) s" %
                (self.heap_rows // 2, limit), 0))
        self.cluster.pause()
        try:
            for name, base, text, times in cases:
                got = []
                for extra in (OFF, {}):
                    few, many = [self.cluster.count_instructions(
                        merged(base, IO, extra), ["EXPLAIN " + text] +
                        [text] * n) for n in ((1, 3) if times else (0, 1))]
                    got.append((many - few) / max(times, 1) / 1e6)
                line = Line("Instructions", name, "million",
                            {"fptree off": got[:1], "fptree": got[1:]})
                line.compare("fptree on / off", "fptree", "fptree off", 1.01,
                             False)
                self.lines.append(line)
                self.note(line)
        finally:
            self.cluster.resume()

    # -- the planner's choice --------------------------------------------------

    def plans(self):
        """What the planner chooses for btree and for fptree, cold.

        The credit that the cost estimate gives to read-ahead must not lead to
        a plan that is slower than btree's.
        """
        sides = [Side("btree", "b", None, FREE), Side("fptree", "f", None, FREE),
                 Side("fptree, cost_readahead off", "f", None, merged(
                     FREE, {"fptree.cost_readahead": "off"}))]
        cases = [("ranges", self.rows, "%d%% of the keys" % x, max(
            1, self.rows * x // 100), "count({c})") for x in SHARES]
        cases += [("heap", self.heap_rows, name, width, "sum(length(pad))")
                  for width, name, _, _ in HEAP if width < self.heap_rows]
        for table, rows, name, width, what in cases:
            texts = []
            for _ in range(self.rounds):
                lo = self.start_key(rows, width)
                texts.append("SELECT %s FROM %s WHERE {c} BETWEEN %d AND %d" %
                             (what, table, lo, lo + width - 1))
            line = self.rounds_of("Plans", name, sides, table, texts)
            chosen = [s.chosen for s in sides]
            line.name = "%s (%s)" % (name, " / ".join(chosen))
            line.compare("btree / fptree", "btree", "fptree",
                         1.0 if chosen[0] != chosen[1] else None)
            line.compare("cost_readahead off / on", sides[2].name, "fptree",
                         1.0 if chosen[2] != chosen[1] else None)
            self.note(line)

    def oscache(self):
        """Read-ahead cannot help here, but has to ask to find out."""
        group = "Server restarted, data in the operating system's cache"
        self.run("SELECT sum(length(pad)) FROM heap", "SELECT sum(b) FROM "
                 "ranges")
        sides = index_sides("Index Scan", PLAIN)[1:]
        for width, name, _, _ in HEAP:
            if width >= self.heap_rows:
                continue
            line = self.rounds_of(group, name, sides, "heap",
                                  self.heap_texts(width), cold=False, cpu=True)
            line.compare("fptree on / off", "fptree", "fptree off")
            self.note(line)

    # -- (d) LIMIT -----------------------------------------------------------

    def limit(self):
        sides = index_sides("Index Scan", PLAIN)
        for n in LIMITS:
            texts = [["SELECT sum(l) FROM (SELECT length(pad) l FROM heap "
                      "WHERE {c} >= %d ORDER BY {c} LIMIT %d) s" %
                      (self.start_key(self.heap_rows, n), n)
                      for _ in range(LIMIT_STATEMENTS.get(n, 20))]
                     for _ in range(2 * self.rounds + 1)]
            line = self.rounds_of("Cold LIMIT, heap in random order",
                                  "LIMIT %d" % n, sides, "heap", texts)
            if n <= 4:
                line.compare("fptree on / off", "fptree", "fptree off", 1.01,
                             False)
            line.compare("fptree off / on", "fptree off", "fptree",
                         1.3 if n == 32 else None)
            line.compare("btree / fptree", "btree", "fptree")
            self.note(line)

    # -- (e) pgbench ---------------------------------------------------------

    def pgbench_once(self, script, side, clients):
        """Transactions per second, of random keys, from a cold start on."""
        self.cluster.restart(True)
        options = " ".join("-c %s=%s" % x for x in side.settings.items())
        out = self.cluster.run(
            [self.cluster.tool("pgbench"), "-n", "-c", str(clients), "-j",
             str(clients), "-T", str(PGBENCH_SECONDS), "-D", "rows=%d" %
             self.heap_rows, "-D", "column=" + side.column, "-f", script],
            PGOPTIONS=options)
        return processed(out)[0]

    def pgbench(self):
        sides = index_sides("Index Scan", PLAIN)
        sides.append(Side("bitmap, eic 128", "b", "Bitmap Index Scan",
                          merged(BITMAP, IO)))
        for name, what in PGBENCH:
            script = self.cluster.section(name)
            for clients in (1, 2):
                samples = {s.name: [] for s in sides}
                for rnd in range(self.rounds):
                    turn = rnd % len(sides)
                    for side in sides[turn:] + sides[:turn]:
                        samples[side.name].append(
                            self.pgbench_once(script, side, clients))
                line = Line("pgbench, cold start, heap in random order",
                            "%s, %d client%s" % (what, clients,
                                                 "s"[:clients - 1]), "tps",
                            samples)
                line.compare("fptree / btree", "fptree", "btree")
                line.compare("fptree / bitmap, eic 128", "fptree",
                             "bitmap, eic 128")
                line.compare("fptree on / off", "fptree", "fptree off")
                self.lines.append(line)
                self.note(line)

    # -- EXPLAIN -------------------------------------------------------------

    def explain(self):
        """The same statement cold with read-ahead off, on, at distances."""
        width = min(20000, self.heap_rows // 10)
        lo = self.heap_rows // 3
        text = ("SELECT sum(length(pad)) FROM heap WHERE f BETWEEN %d AND %d" %
                (lo, lo + width - 1))
        tries = [("off", OFF), ("automatic", {})]
        tries += [("distance %d" % d, {"fptree.prefetch_distance": str(d)})
                  for d in (1, 4, 16, 64, 128)]
        for name, extra in tries:
            self.cluster.restart(True)
            session = Session(self.cluster, merged(
                PLAIN, IO, extra, {"track_io_timing": "on"}))
            try:
                session.check_plan(text, "Index Scan", "heap_f")
                session.conn.query("SELECT fptree_prefetch_reset()")
                rows = session.conn.query(
                    "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) "
                    + text)
                plan = "\n".join(r[0] for r in rows)
                self.explained.append({"name": name, "statement": text,
                                       "plan": plan,
                                       "counters": session.counters()})
                self.log("  %s: %s" % (name, rows[-1][0]))
            finally:
                session.close()

    # -- prefetched, never read ----------------------------------------------

    def wasted(self):
        """Over all cold runs of bounded ranges."""
        out = []
        for line in self.lines:
            if not line.group.startswith("Cold"):
                continue
            bounded = "LIMIT" not in line.name
            total = {"asked": 0, "issued": 0, "wasted": 0, "distance": 0}
            for side in line.runs:
                if not side.startswith("fptree") or side == "fptree off":
                    continue
                for run in line.runs[side]:
                    c = run["counters"]
                    for kind in ("leaf", "heap"):
                        total["issued"] += c[kind + "_issued"]
                        total["asked"] += (c[kind + "_issued"] +
                                           c[kind + "_cached"])
                        total["wasted"] += c[kind + "_wasted"]
                    total["distance"] = max(total["distance"],
                                            c["distance_max"])
            total["name"] = "%s: %s" % (line.group, line.name)
            total["share"] = total["wasted"] / max(total["issued"], 1)
            total["verdict"] = "" if not bounded else \
                "ok" if total["share"] <= 0.05 else "MISSED"
            out.append(total)
        return out
