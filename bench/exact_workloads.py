"""The workloads "repeated", "hot" and "warm" of bench/run: counts, no times.

Used by bench/run.  Bytes and instructions are the same in each run, whatever
else the machine does, so that one round is all there is.
"""

from general_workloads import SIDES
from instructions import Stopped, available
from pgcluster import CpuClock

MAX_REPEATED = 1000000
MAX_HOT = 1000000

# (type, key of a number that is drawn for each row)
REPEATED = (
    ("int4", "n::int4"),
    ("int8", "hashint8extended(n, 7)"),
    ("timestamptz", "'2025-01-01 UTC'::timestamptz + interval '1 hour' * n"),
    ("uuid", "md5(n::text)::uuid"),
)
ROWS_A_KEY = (10, 100, 1000)

# Statements of a table of consecutive ids in a cache; {mid}: one of them.
HOT = (
    ("point look-up, one row",
     "SELECT amount FROM hot WHERE id = {mid}"),
    ("ORDER BY id LIMIT 1, from the middle",
     "SELECT id, amount FROM hot WHERE id >= {mid} ORDER BY id LIMIT 1"),
    ("ORDER BY id LIMIT 20, from the middle",
     "SELECT id, amount FROM hot WHERE id >= {mid} ORDER BY id LIMIT 20"),
    ("ORDER BY id LIMIT 100, from the middle",
     "SELECT id, amount FROM hot WHERE id >= {mid} ORDER BY id LIMIT 100"),
    ("ORDER BY id DESC LIMIT 20, from the middle",
     "SELECT id, amount FROM hot WHERE id <= {mid} ORDER BY id DESC LIMIT 20"),
    ("min(id)", "SELECT min(id) FROM hot"),
    ("count of 10 ids, index only",
     "SELECT count(id) FROM hot WHERE id BETWEEN {mid} AND {mid} + 9"),
    ("count of 1,000 ids, index only",
     "SELECT count(id) FROM hot WHERE id BETWEEN {mid} AND {mid} + 999"),
)
# Scans of all rows of that table in the order of ids: functions of the server
# that stand for parts of what a row takes, the executor for the rest.
SCANS = (
    ("index-only scan", "SELECT count(id) FROM hot WHERE id >= 0",
     (("index", "index_getnext_tid"),
      ("copy, index tuple to slot", "index_deform_tuple"))),
    ("index scan", "SELECT count(amount) FROM hot WHERE id >= 0",
     (("index", "index_getnext_tid"),
      ("table, the row's page", "index_fetch_heap"),
      ("copy, row to slot", "slot_getsomeattrs_int"))),
)
MAX_SCAN = 100000
ONE_PLAN = ("enable_seqscan", "enable_bitmapscan", "enable_sort")
# What a statement takes is the difference of runs of so many.
FEW, MANY = 20, 120


class Exact:
    """Methods of Bench (workloads.py)."""

    def repeated(self):
        """Bytes of indexes of repeated keys, rows in random order: built, and
        after a tenth more.
        """
        self.format_settings()
        rows = min(self.rows, MAX_REPEATED)
        for typ, key in REPEATED:
            for each in ROWS_A_KEY:
                source = (
                    "SELECT {key} FROM (SELECT (hashint8extended(i, 3) & "
                    "1152921504606846975) % {keys} AS n FROM "
                    "generate_series({{}}, {{}}) i) s".format(
                        key=key, keys=rows // each))
                name = "size, %s, %s rows a key: " % (typ, "{:,}".format(each))
                self.format_table(typ, source.format(1, rows))
                self.format_add("repeated", name + "bulk-built", "B",
                                self.format_bytes())
                self.sql("INSERT INTO formatted " +
                         source.format(rows + 1, rows + rows // 10))
                self.format_add("repeated", name + "a tenth more", "B",
                                self.format_bytes())
                self.format_done()

    def hot_table(self, rows):
        """Consecutive ids, and an amount of each, for both sides."""
        for side in SIDES:
            self.sql("CREATE TABLE %s.hot AS SELECT i AS id, (i %% 1000)::int "
                     "AS amount FROM generate_series(1::int8, %d) i" %
                     (side, rows))
            self.sql("CREATE INDEX hot_id ON %s.hot USING %s (id)" %
                     (side, self.am[side]))
            self.sql("VACUUM (FREEZE, ANALYZE) %s.hot" % side)
        self.sql("CHECKPOINT")

    def counted(self, measure):
        """measure(stopped) on a server that is stopped meanwhile."""
        self.conn.close()
        try:
            with Stopped(self.cluster) as stopped:
                return measure(stopped)
        finally:
            self.conn = self.cluster.connect()
            self.clock = CpuClock(self.conn.pid, self.cluster.postmaster_pid())

    def hot(self):
        """Instructions of short statements, all of it cached and planned."""
        if not available():
            self.log("  no valgrind: left out")
            return
        rows = min(self.rows, MAX_HOT)
        self.hot_table(rows)
        got = self.counted(lambda stopped: [
            (name, {side: self.hot_count(
                stopped, side, statement.format(mid=rows // 2 + 123))
                for side in SIDES}) for name, statement in HOT])
        for name, count in got:
            self.format_add("hot", "hot: " + name, "instructions", count)
        self.check("candidate.hot_id")
        self.drop(*[side + ".hot" for side in SIDES])

    def warm(self):
        """Which part of a row's time in a warm scan is the index's, which the
        executor's, and which copies: instructions a row.
        """
        if not available():
            self.log("  no valgrind: left out")
            return
        rows = min(self.rows, MAX_SCAN)
        self.hot_table(rows)
        got = self.counted(lambda stopped: [
            (name, {side: self.warm_parts(stopped, side, statement, parts,
                                          rows) for side in SIDES})
            for name, statement, parts in SCANS])
        for name, sides in got:
            for part in sides[SIDES[0]]:
                self.format_add(
                    "warm", "warm %s, a row: %s" % (name, part),
                    "instructions", {s: sides[s][part] for s in SIDES})
        self.check("candidate.hot_id")
        self.drop(*[side + ".hot" for side in SIDES])

    @staticmethod
    def loop(side, statement, times):
        """A script that does a planned statement some times."""
        settings = ["SET %s = off" % name for name in ONE_PLAN] + \
            ["SET search_path = %s, public" % side]
        return "\n".join(settings + [
            "DO $$BEGIN FOR i IN 1..%d LOOP %s; END LOOP; END$$" %
            (times, statement.replace("SELECT", "PERFORM", 1))])

    def warm_parts(self, stopped, side, statement, parts, rows):
        """Instructions a row by part: two scans after the first one."""
        names = [function for _, function in parts]
        one, three = (stopped.profile(self.loop(side, statement, n), names,
                                      "standard_ProcessUtility")
                      for n in (1, 3))
        each = {f: (three[f] - one[f]) / (2 * rows) for f in [""] + names}
        out = {"all": each[""]}
        out.update((part, each[function]) for part, function in parts)
        out["executor, the rest"] = each[""] - sum(each[f] for f in names)
        return out

    @staticmethod
    def hot_count(stopped, side, statement):
        """Instructions of one of many executions of a planned statement."""
        few, many = (stopped.count(Exact.loop(side, statement, n),
                                   "standard_ProcessUtility")
                     for n in (FEW, MANY))
        return (many - few) / (MANY - FEW)
