"""The workloads "repeated", "warm", "counts" and "keys" of bench/run: no times.

Used by bench/run.  Bytes and instructions are the same in each run, whatever
else the machine does, so that one round is all there is.
"""

from general_workloads import SIDES
from instructions import Stopped, available
from pgcluster import CpuClock

MAX_REPEATED = 1000000

# (type, key of a number that is drawn for each row)
REPEATED = (
    ("int4", "n::int4"),
    ("int8", "hashint8extended(n, 7)"),
    ("timestamptz", "'2025-01-01 UTC'::timestamptz + interval '1 hour' * n"),
    ("uuid", "md5(n::text)::uuid"),
)
ROWS_A_KEY = (10, 100, 1000)

# Scans of all rows of a table in the order of ids: functions of the server
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

# Aggregates of ranges of random keys: (rows in the range, statement, few, many)
COUNTS = (
    (1000, "SELECT count(*) FROM counted WHERE k BETWEEN {lo} AND {hi}", 10, 40),
    (10000, "SELECT count(*) FROM counted WHERE k BETWEEN {lo} AND {hi}", 2, 6),
    (1000000, "SELECT count(*) FROM counted WHERE k BETWEEN {lo} AND {hi}",
     1, 2),
    (1000, "SELECT sum(k) FROM counted WHERE k BETWEEN {lo} AND {hi}", 10, 40),
    (10000, "SELECT sum(k) FROM counted WHERE k BETWEEN {lo} AND {hi}", 2, 6),
)
MAX_COUNTED = 2000000

# Keys of an index, of KEYS different ones: (what, statement)
KEYS = 1000
KEYED = (
    ("DISTINCT, integers", "SELECT DISTINCT k FROM keyed"),
    ("DISTINCT, texts", "SELECT DISTINCT t FROM keyed"),
    ("DISTINCT, first of two columns", "SELECT DISTINCT a FROM keyed"),
    ("first ten of DISTINCT, descending",
     "SELECT DISTINCT k FROM keyed ORDER BY k DESC LIMIT 10"),
    ("GROUP BY with count(*), integers",
     "SELECT k, count(*) FROM keyed GROUP BY k"),
)


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
    def loop(side, statement, times, off=(), on=()):
        """A script that does a planned statement some times."""
        settings = ["SET %s = off" % name for name in ONE_PLAN + off] + \
            ["SET %s = on" % name for name in on] + \
            ["SET search_path = %s, public" % side]
        return "\n".join(settings + [
            "DO $$BEGIN FOR i IN 1..%d LOOP %s; END LOOP; END$$" %
            (times, statement.replace("SELECT", "PERFORM", 1))])

    def warm_parts(self, stopped, side, statement, parts, rows):
        """Instructions a row by part: two scans after the first one."""
        names = [function for _, function in parts]
        off = ("fptree.enable_count", "fptree.enable_indexonlyscan")
        one, three = (stopped.profile(self.loop(side, statement, n, off),
                                      names, "standard_ProcessUtility")
                      for n in (1, 3))
        each = {f: (three[f] - one[f]) / (2 * rows) for f in [""] + names}
        out = {"all": each[""]}
        out.update((part, each[function]) for part, function in parts)
        out["executor, the rest"] = each[""] - sum(each[f] for f in names)
        return out

    def counts(self):
        """Instructions of aggregates of ranges, rows in random order: of a table
        that is all-visible, and after an update of 1% of the rows.
        """
        if not available():
            self.log("  no valgrind: left out")
            return
        rows = min(self.rows, MAX_COUNTED)
        for side in SIDES:
            self.sql("CREATE TABLE %s.counted WITH (autovacuum_enabled = off) "
                     "AS SELECT hashint8extended(i, 7) AS k, i AS id, "
                     "0 AS amount FROM generate_series(1::int8, %d) i" %
                     (side, rows))
            self.sql("CREATE INDEX counted_k ON %s.counted USING %s (k)" %
                     (side, self.am[side]))
            self.sql("VACUUM (FREEZE, ANALYZE) %s.counted" % side)
        self.count_ranges(rows, "all-visible")
        for side in SIDES:
            self.sql("UPDATE %s.counted SET amount = 1 WHERE id %% 100 = 0" %
                     side)
            # the first visit prunes pages, and sets hints of rows
            self.sql("SELECT count(amount) FROM %s.counted" % side)
        self.count_ranges(rows, "1% updated")
        self.check("candidate.counted_k")
        self.drop(*[side + ".counted" for side in SIDES])

    def keys(self):
        """Instructions of DISTINCT and GROUP BY, rows in random order."""
        if not available():
            self.log("  no valgrind: left out")
            return
        rows = min(self.rows, MAX_COUNTED)
        for side in SIDES:
            self.sql("CREATE TABLE %s.keyed AS SELECT n AS k, ('key ' || n) COLLATE \"C\" AS t, "
                     "n AS a, i AS b FROM (SELECT i, (hashint8extended(i, 3) & "
                     "1048575)::int %% %d AS n FROM generate_series(1::int8, %d) "
                     "i OFFSET 0) x" % (side, KEYS, rows))
            for columns in ("k", "t", "a, b"):
                self.sql("CREATE INDEX ON %s.keyed USING %s (%s)" %
                         (side, self.am[side], columns))
            self.sql("VACUUM (FREEZE, ANALYZE) %s.keyed" % side)
        self.sql("CHECKPOINT")
        off = ("enable_hashagg",)
        got = self.counted(lambda stopped: [
            (what, {side: self.hot_count(stopped, side, statement, 1, 2, off)
                    for side in SIDES}) for what, statement in KEYED])
        for what, count in got:
            self.format_add("keys", "%s: %s keys of %s rows" % (
                what, "{:,}".format(KEYS), "{:,}".format(rows)),
                            "instructions", count)
        self.check("candidate.keyed_k_idx")
        self.drop(*[side + ".keyed" for side in SIDES])

    def count_ranges(self, rows, state):
        """COUNTS, with the table in this state."""
        self.sql("CHECKPOINT")
        got = self.counted(lambda stopped: [
            (wanted, statement.split()[1], {side: self.hot_count(
                stopped, side, statement.format(
                    lo=1 - 2**63 * wanted // rows, hi=2**63 * wanted // rows - 1),
                few, many) for side in SIDES})
            for wanted, statement, few, many in COUNTS if wanted <= rows])
        for wanted, what, count in got:
            self.format_add("counts", "%s of %s rows, %s" %
                            (what, "{:,}".format(wanted), state),
                            "instructions", count)

    @staticmethod
    def hot_count(stopped, side, statement, first, last, off=()):
        """Instructions of one of many executions of a planned statement."""
        on = ("fptree.enable_count",)
        few, many = (stopped.count(Exact.loop(side, statement, n, off, on),
                                   "standard_ProcessUtility")
                     for n in (first, last))
        return (many - few) / (last - first)
