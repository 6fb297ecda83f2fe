"""The workload "heap" of bench/run: rows of a cached table in random order.

A plain index scan of it waits for memory at each row.  The candidate is
measured with the setting that asks for the rows' cache lines ahead, and
without.
"""

from general_workloads import NESTED_LOOP, SIDES
from pgcluster import BenchError, CpuClock

SETTING = "fptree.heap_lines"
# A side beside the two: the candidate without.
OFF = "off"
NAME = "plain scan, random heap, cached, "

# Keys of a range, number of ranges.
RANGES = ((1000, 500), (10000, 50))
# The same for a session that has just begun.
FIRST = (10000, 10)


class Heap:
    """Methods of Bench (workloads.py)."""

    def heap(self):
        self.read_tables()
        for span, ranges in RANGES:
            cpu = self.heap_rounds(span, ranges, self.heap_session)
            self.heap_add("ranges of {:,}".format(span), cpu, 0.30)
        cpu = self.heap_rounds(*FIRST, self.heap_new_session)
        self.heap_add("first ranges of a session", cpu, 0.50)

    def heap_add(self, name, cpu, target):
        self.add("heap", NAME + name, "ns/row", cpu["reference"],
                 cpu["candidate"], target)
        if OFF in cpu:
            self.add("heap", NAME + name + ", " + SETTING + " off", "ns/row",
                     cpu["reference"], cpu[OFF])

    def heap_session(self):
        return self.conn, self.clock

    def heap_new_session(self):
        conn = self.cluster.connect()
        return conn, CpuClock(conn.pid, self.clock.postmaster)

    def heap_set(self, conn, side):
        settings = dict(NESTED_LOOP, enable_indexonlyscan="off",
                        search_path="%s, public" %
                        ("candidate" if side == OFF else side))
        if self.am["candidate"] == "fptree":
            conn.query("LOAD 'fptree'")
            settings[SETTING] = "off" if side == OFF else "on"
        for name, value in settings.items():
            conn.query("SET %s = %s" % (name, value))

    def heap_rounds(self, span, ranges, session):
        """CPU nanoseconds of each row, by side; OFF if that can be."""
        span = min(span, self.rows // 10)
        sides = SIDES + ((OFF,) if self.am["candidate"] == "fptree" else ())
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
