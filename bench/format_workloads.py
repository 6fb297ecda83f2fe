"""The workloads "format-..." and "images" of bench/run.

What the format of pages is worth: bytes of an index, and of WAL that is the
index's own.  A table has an index of each access method, so that both get the
same rows at the same time; which records of the log belong to which index,
pg_waldump tells.  Nothing depends on time: one round is all there is, but for
instructions, which valgrind counts.

Keys lie as far apart as among DENSITY rows, whatever the number of rows: their
bits, and with them the bytes of an index by row, depend on that.
"""

import collections
import re
import subprocess

from general_workloads import SIDES, V4, V7_BURST, V7_SLOW, v4
from instructions import Stopped, available
from pgcluster import BenchError, CpuClock

DENSITY = 10000000
MAX_STREAM = 400000             # rows of uuid v7, inserted one by one
MAX_COUNTED = 30000             # of these, rows whose instructions are counted

# 32 hexadecimal digits
DIGITS = ("lpad(to_hex(('x' || substr(md5(i::text), 1, 8))::bit(32)::int8 * "
          "{near} / %d), 8, '0') || substr(md5(i::text), 9)" % DENSITY)
# six bits in a byte
BASE64 = ("substr(encode(decode(%s || md5('more' || i), 'hex'), 'base64'), 1, "
          "32)" % DIGITS)
INT8 = "hashint8extended(i, 1) / ({density} / {near})".format(
    density=DENSITY, near="{near}")
BITS = "(hashint8extended(i, 2) & 1152921504606846975)"
# microseconds of a year
MOMENT = ("'2025-01-01 UTC'::timestamptz + interval '1 microsecond' * "
          "(%s %% (31536000000000 / %d * {near}))" % (BITS, DENSITY))
FEW = "((hashint8extended(i, 3) & 1152921504606846975) %% ({rows} / %d))::int4"
URL = ("'https://shop-' || lpad((%(bits)s %% greatest({near} / 200000, 1))"
       "::text, 2, '0') || '.example.com/' || (array['electronics', 'garden', "
       "'kitchen', 'toys', 'clothes', 'books', 'music', 'sport', 'office', "
       "'furniture', 'health', 'outdoor'])[1 + (%(bits)s >> 8) %% 12] || '/' "
       "|| (array%(words)s)[1 + (%(bits)s >> 16) %% 32] || '-' || "
       "(array%(words)s)[1 + (%(bits)s >> 24) %% 32] || '-' || "
       "10000000 + (%(bits)s >> 30) %% 90000000" % {
           "bits": BITS,
           "words": ("black blue green white large small light heavy wireless "
                     "classic modern compact premium folding steel wooden "
                     "keyboard chair table lamp kettle jacket bottle camera "
                     "speaker backpack charger monitor blanket helmet cushion "
                     "printer").split()})
TEXT = 'text COLLATE "C"'


class Kind:
    """Keys and the order of the table; targets bulk-built and doubled.

    key: of row i.  order: of the table; None: that of i.  more: keys that the
    table is doubled with; None: those of the rows that follow, "": it is not
    doubled.
    """

    def __init__(self, name, typ, key, bulk, doubled, order=None, more=None,
                 filler=0, fillfactor=None):
        self.name = name
        self.typ = typ
        self.key = key
        self.bulk = bulk
        self.doubled = doubled
        self.order = order
        self.more = more
        self.filler = filler        # bytes of the row beside the key
        self.fillfactor = fillfactor    # None: the default

    def rows(self, key, rows, low, high, order):
        near = min(rows, DENSITY)
        return "SELECT %s FROM generate_series(%d::int8, %d) i%s" % (
            key.format(near=near, rows=rows), low, high,
            " ORDER BY " + order if order else "")

    def first(self, rows):
        return self.rows(self.key, rows, 1, rows, self.order)

    def doubling(self, rows):
        if self.more is None:
            return self.rows(self.key, rows, rows + 1, 2 * rows, None)
        return self.rows(self.more, rows, 1, rows, "hashint8extended(i, 43)")


SHUFFLED = "hashint8extended(i, 42)"

SIZED = (
    Kind("int8 ids, table in key order", "int8", "i", 0.16, None, more=""),
    Kind("the same, each second id", "int8", "i * 2", None, None, more=""),
    Kind("the same, rows of 120 bytes", "int8", "i", None, None, more="",
         filler=80),
    Kind("the same as the first, fillfactor 100", "int8", "i", None, None,
         more="", fillfactor=100),
    Kind("int8 ids, table in random order", "int8", "i * 2", 0.25, 0.33,
         SHUFFLED, "i * 2 - 1"),
    Kind("int8, random", "int8", INT8, 0.52, 0.62),
    Kind("timestamptz of a year, table in time order", "timestamptz", MOMENT,
         0.30, None, "1", ""),
    Kind("the same, fillfactor 100", "timestamptz", MOMENT, None, None, "1",
         "", fillfactor=100),
    Kind("timestamptz of a year, random order", "timestamptz", MOMENT, 0.42,
         0.52),
    Kind("uuid v4", "uuid", v4(DIGITS), 0.70, 0.80),
    Kind("uuid of random bits", "uuid", "(%s)::uuid" % DIGITS, 0.70, 0.80),
    Kind("uuid v7 in time order, 8 rows a ms", "uuid", V7_BURST, 0.50, None,
         more=""),
    Kind("uuid v7 in time order, a row in 8 s", "uuid", V7_SLOW, 0.50, None,
         more=""),
    Kind("text C of 32 random hexadecimal digits", TEXT, DIGITS, 0.80, 0.85),
    Kind("text C of 32 random bytes, base64", TEXT, BASE64, 0.80, 0.85),
    Kind("urls of about 60 bytes", TEXT, URL, 0.60, 0.85),
    Kind("int4, 1,000 rows a key", "int4", FEW % 1000, 0.70, None),
    Kind("int4, 10 rows a key", "int4", FEW % 10, 0.60, None),
)

# Of these tables so many percent of the rows are updated, step by step.
SCATTERED = ("int8 ids, table in key order",
             "timestamptz of a year, table in time order",
             "uuid v7 in time order, a row in 8 s")
UPDATED = (2, 5, 10, 20, 40, 100)

# An index that logs: of LOGGED times the rows, half of them bulk-built, the
# others inserted one by one.  Then a checkpoint, and a row for 650, 65, or 6.5
# of the table.
LOGGED = 0.65
SHARES = (650, 65, 6.5)
SWEEP = (6500, 2000, 650, 200, 65, 20, 6.5, 3)
# Few rows hit few pages, which are not all alike: as many checkpoints as give
# so many rows, but no more than
ENOUGH = 3000
CHECKPOINTS = 5


class Logged:
    """Keys of an index that logs; targets without images, and with, by share.

    pool: the numbers of so many times the rows, in random order, are drawn
    from; there are enough for all that SHARES or SWEEP add.
    """

    def __init__(self, name, typ, key, off, on, pool=None):
        self.name = name
        self.typ = typ
        self.key = key
        self.off = off
        self.on = on
        self.pool = pool


LOGS = (
    Logged("int8, random", "int8", INT8, 1.00, (1.00, 0.80, 0.90)),
    Logged("uuid v4", "uuid", v4(DIGITS), 1.00, (1.00, 0.90, 0.95)),
    Logged("int8 ids in random order", "int8", "i", 1.00, (0.90, 0.55, 0.70),
           1.7),
    Logged("text C of 32 digits", TEXT, DIGITS, 1.05, (1.00, 0.90, 0.95)),
    Logged("int8, ascending", "int8", "i", 0.95, (0.95, 0.95, 0.95)),
)

# uuid v7 as it comes: targets of WAL, instructions, size
STREAMS = (
    ("uuid v7, 8 rows a ms", V7_BURST, 1.00, 0.90, 0.65),
    ("uuid v7, a row in 8 s", V7_SLOW, 0.95, 0.85, 0.55),
)


ALIGNMENT = 8                   # of a record in WAL

# Of a line of pg_waldump: bytes without images, bytes of all, whether there is
# a second page
RECORD = re.compile(rb"len \(rec/tot\): +(\d+)/ *(\d+),"
                    rb"(?:[^\n]*(, blkref #1:))?[^\n]*\n")
CHUNK = 1 << 20


class IndexWal:
    """Records of one index between two places of WAL.

    Bytes are those which a record takes there: its length, rounded up to where
    the next one may begin.
    """

    def __init__(self):
        self.records = 0
        self.bytes = 0
        self.images = 0         # bytes of page images, among the bytes
        self.plain = 0          # records of a single page, without an image
        self.plain_bytes = 0

    def add(self, length, total, pages, times):
        taken = -(-total // ALIGNMENT) * ALIGNMENT
        self.records += times
        self.bytes += taken * times
        self.images += (total - length) * times
        if pages == 1 and length == total:
            self.plain += times
            self.plain_bytes += taken * times


class WalDump:
    """The server's pg_waldump on the server's own WAL."""

    def __init__(self, cluster, conn):
        self.cluster = cluster
        self.conn = conn

    def position(self):
        """After all that has been committed, and not after what another
        process has logged since and nobody has written yet."""
        return self.conn.value("SELECT pg_current_wal_flush_lsn()")

    def relation(self, index):
        return self.conn.value(
            "SELECT concat_ws('/', coalesce(nullif(c.reltablespace, 0), "
            "d.dattablespace), d.oid, pg_relation_filenode(c.oid)) "
            "FROM pg_class c, pg_database d WHERE c.oid = '%s'::regclass AND "
            "d.datname = current_database()" % index)

    def read(self, index, start, end):
        if start == end:
            return IndexWal()
        cmd = self.cluster.as_user + [
            self.cluster.tool("pg_waldump"), "-p",
            self.cluster.data + "/pg_wal", "-s", start, "-e", end,
            "-R", self.relation(index)]
        seen = collections.Counter()
        with subprocess.Popen(cmd, env=self.cluster.env(),
                              cwd=self.cluster.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as dump:
            rest = b""
            while True:
                chunk = dump.stdout.read(CHUNK)
                if not chunk:
                    break
                lines, newline, rest = (rest + chunk).rpartition(b"\n")
                seen.update(RECORD.findall(lines + newline))
            said = dump.stderr.read().decode(errors="replace")
        if dump.returncode != 0:
            raise BenchError("pg_waldump failed:\n" + said)
        wal = IndexWal()
        for (length, total, second), times in seen.items():
            wal.add(int(length), int(total), 2 if second else 1, times)
        return wal


def index(side):
    return "formatted_" + side


class Format:
    """Methods of Bench (workloads.py)."""

    def format_settings(self):
        # Nothing that would not be the same again.
        self.settings({"maintenance_work_mem": "1GB", "work_mem": "1GB",
                       "max_parallel_maintenance_workers": "0",
                       "synchronize_seqscans": "off"})

    def format_table(self, typ, rows, filler=0, fillfactor=None):
        """A table with these rows, indexes of both access methods."""
        self.sql("CREATE TABLE formatted (k %s%s)" %
                 (typ, ", filler char(%d) DEFAULT ''" % filler if filler
                  else ""))
        self.sql("INSERT INTO formatted " + rows)
        for side in SIDES:
            self.sql("CREATE INDEX %s ON formatted USING %s (k)%s" %
                     (index(side), self.am[side],
                      " WITH (fillfactor = %d)" % fillfactor if fillfactor
                      else ""))

    def format_done(self):
        self.check(index("candidate"))
        self.drop("formatted")

    def format_bytes(self):
        return {side: int(self.conn.value(
            "SELECT pg_relation_size('%s')" % index(side))) for side in SIDES}

    def format_add(self, group, name, unit, got, target=None):
        self.add(group, name, unit, [got["reference"]], [got["candidate"]],
                 target)

    # -- bytes of an index ---------------------------------------------------

    def format_size(self):
        self.format_settings()
        for kind in SIZED:
            self.format_table(kind.typ, kind.first(self.rows), kind.filler,
                              kind.fillfactor)
            self.format_add("format-size", "size, %s: bulk-built" % kind.name,
                            "B", self.format_bytes(), kind.bulk)
            if kind.more != "":
                self.sql("INSERT INTO formatted " + kind.doubling(self.rows))
                self.format_add("format-size", "size, %s: doubled" % kind.name,
                                "B", self.format_bytes(), kind.doubled)
            self.format_done()
        for kind in SIZED:
            if kind.name in SCATTERED:
                self.format_updated(kind)
        self.format_mixed()

    def format_updated(self, kind):
        """Scattered rows updated, so that they go to the table's end; VACUUM
        after each step.
        """
        self.format_table(kind.typ, kind.first(self.rows), 4)
        updated = 0
        for part in UPDATED:
            self.sql("UPDATE formatted SET filler = '%d' WHERE "
                     "hashtextextended(k::text, 44) & 1023 "
                     "BETWEEN %d AND %d" %
                     (part, 1024 * updated // 100, 1024 * part // 100 - 1))
            self.sql("VACUUM formatted")
            updated = part
            self.format_add("format-size", "size, %s: %d%% updated" %
                            (kind.name, part), "B", self.format_bytes())
        self.format_done()

    def format_mixed(self):
        """Rows of version 7 into a tree of twice as many of version 4."""
        count = min(self.rows, MAX_STREAM)
        self.format_table("uuid", "SELECT %s FROM generate_series(%d, %d) i" %
                          (V4, count + 1, 3 * count))
        had = self.format_bytes()
        self.sql("INSERT INTO formatted SELECT %s FROM generate_series(1, %d) "
                 "i" % (V7_BURST, count))
        got = self.format_bytes()
        self.format_add("format-size", "growth, uuid v7 into a tree of v4", "B",
                        {side: got[side] - had[side] for side in SIDES}, 0.60)
        self.format_done()

    # -- WAL -----------------------------------------------------------------

    def format_log(self, rows):
        """WAL of each index while these rows are inserted, after a checkpoint:
        until the next one no file of the log goes.
        """
        dump = WalDump(self.cluster, self.conn)
        self.sql("CHECKPOINT")
        start = dump.position()
        self.sql("INSERT INTO formatted " + rows)
        end = dump.position()
        return {side: dump.read(index(side), start, end) for side in SIDES}

    def format_a_row(self, wal, count):
        return {side: wal[side].bytes / count for side in SIDES}

    def format_logged(self, kind):
        """A table of half the rows; how many they will be, and a function that
        makes a query of rows from one number to another.
        """
        rows = int(self.rows * LOGGED)
        near = min(self.rows, DENSITY)
        key = kind.key.format(near=near, rows=self.rows)
        if kind.pool:
            self.sql("CREATE TABLE shuffled AS SELECT row_number() OVER () AS "
                     "n, i FROM (SELECT i FROM generate_series(1::int8, %d) i "
                     "ORDER BY %s) s" % (rows * kind.pool, SHUFFLED))

        def source(low, high):
            if kind.pool:
                return "SELECT %s FROM shuffled WHERE n BETWEEN %d AND %d" % (
                    key, low, high)
            return "SELECT %s FROM generate_series(%d::int8, %d) i" % (
                key, low, high)

        self.format_table(kind.typ, source(1, rows // 2))
        return rows, source

    def format_images(self, group, kind, source, shares, note=""):
        """A line for each share (of a row, target) of the aged table, which is
        dropped at the end.
        """
        rows = end = int(self.rows * LOGGED)
        self.server_set("full_page_writes", "on")
        for share, target in shares:
            count = int(rows / share)
            times = min(max(ENOUGH // count, 1), CHECKPOINTS)
            taken = dict.fromkeys(SIDES, 0)
            for _ in range(times):
                wal = self.format_log(source(end + 1, end + count))
                end += count
                for side in SIDES:
                    taken[side] += wal[side].bytes
            self.format_add(
                group, "WAL, {:,} rows after a checkpoint, {}{}".format(
                    count, kind.name, note), "B/row",
                {side: taken[side] / (count * times) for side in SIDES},
                target)
        self.format_unset()
        self.format_done()
        self.drop("shuffled")

    def format_wal(self):
        self.format_settings()
        for kind in LOGS:
            rows, source = self.format_logged(kind)
            half = rows // 2
            wal = self.format_log(source(half + 1, rows))
            count = rows - half
            self.format_add("format-wal", "WAL, no images, " + kind.name,
                            "B/row", self.format_a_row(wal, count), kind.off)
            self.format_add(
                "format-wal", "WAL, records of one page, " + kind.name, "B",
                {side: wal[side].plain_bytes / max(wal[side].plain, 1)
                 for side in SIDES})
            self.format_images("format-wal", kind, source,
                               zip(SHARES, kind.on))
            # the same index and the same rows again
            self.format_aged(kind)
            self.server_set("wal_compression", "pglz")
            self.format_images("format-wal", kind, source,
                               [(share, None) for share in SHARES], ", pglz")

    def format_sweep(self):
        """More numbers of rows after a checkpoint; for the plot."""
        self.format_settings()
        for kind in LOGS:
            source = self.format_aged(kind)
            self.format_images("format-sweep", kind, source,
                               [(share, None) for share in SWEEP])

    def format_aged(self, kind):
        """All the rows of format_logged(); the function that makes more."""
        rows, source = self.format_logged(kind)
        self.sql("INSERT INTO formatted " + source(rows // 2 + 1, rows))
        return source

    def format_unset(self):
        self.server_set("full_page_writes", "off")
        self.server_set("wal_compression", "off")

    # -- uuid v7 as it comes -------------------------------------------------

    def format_v7(self):
        self.format_settings()
        count = min(self.rows, MAX_STREAM)
        for name, key, wal, _, size in STREAMS:
            rows = "SELECT %s FROM generate_series(1, %d) i" % (key, count)
            for compression in (None, "pglz"):
                if compression:
                    self.server_set("full_page_writes", "on")
                    self.server_set("wal_compression", compression)
                self.format_table("uuid", "SELECT NULL::uuid LIMIT 0")
                got = self.format_log(rows)
                self.format_add(
                    "format-v7", "WAL, %s, %s" % (
                        "after a checkpoint, pglz" if compression
                        else "no images", name), "B/row",
                    self.format_a_row(got, count),
                    None if compression else wal)
                if not compression:
                    self.format_add("format-v7", "size, " + name, "B",
                                    self.format_bytes(), size)
                self.format_done()
            self.format_unset()
        if available():
            self.format_instructions()
        else:
            self.log("  no valgrind: left out instructions")

    def format_instructions(self):
        """The index's share: those of the statement, less what they are without
        an index.
        """
        count = min(self.rows, MAX_COUNTED)
        for n, (_, key, _, _, _) in enumerate(STREAMS):
            self.sql("CREATE TABLE arrival_%d AS SELECT %s AS k FROM "
                     "generate_series(1, %d) i" % (n, key, count))
            self.sql("VACUUM (FREEZE, ANALYZE) arrival_%d" % n)
            for side in SIDES:
                table = "%s.counted_%d" % (side, n)
                self.sql("CREATE TABLE %s (k uuid)" % table)
                self.sql("CREATE INDEX counted_%d_k ON %s USING %s (k)" %
                         (n, table, self.am[side]))
        self.sql("CREATE TABLE bare.counted_0 (k uuid)")
        self.sql("CHECKPOINT")
        self.conn.close()
        try:
            with Stopped(self.cluster) as stopped:
                bare = stopped.count("INSERT INTO bare.counted_0 SELECT k "
                                     "FROM arrival_0")
                got = [{side: (stopped.count(
                    "INSERT INTO %s.counted_%d SELECT k FROM arrival_%d" %
                    (side, n, n)) - bare) / count for side in SIDES}
                       for n in range(len(STREAMS))]
        finally:
            self.conn = self.cluster.connect()
            self.clock = CpuClock(self.conn.pid, self.cluster.postmaster_pid())
        for n, (name, _, _, target, _) in enumerate(STREAMS):
            self.format_add("format-v7", "instructions, " + name, "/row",
                            got[n], target)
            self.check("candidate.counted_%d_k" % n)
            self.drop("arrival_%d" % n, *["%s.counted_%d" % (side, n)
                                          for side in SIDES])
        self.drop("bare.counted_0")


MAX_IMAGED = 650000             # rows of "images"

# Name, type, and the key of the number k: the targets for each of SHARES.
IMAGED = (
    ("int8, whole domain", "int8", "hashint8extended(k, 44)",
     (1.00, 0.80, 0.90)),
    ("uuid v4", "uuid", v4("md5(k::text)"), (1.00, 0.90, 0.95)),
    ("int8, dense ids", "int8", "k * 1664525 % 1048573", (0.90, 0.55, 0.70)),
    ("text of 32 bytes, C", 'text COLLATE "C"', "md5(k::text)",
     (1.00, 0.90, 0.95)),
)


class Images:
    """The workload "images", WAL with full_page_writes on: methods of Bench.

    The first change of a page after a checkpoint logs an image of the page.
    What an index adds to WAL is then mostly images, and depends on how many
    rows come between two checkpoints.  Each kind of key: an index that was
    built with half of its rows and got the others one by one; a checkpoint,
    then rows at random, few for a page, about one for a page, and ten for a
    page.
    """

    def server_set(self, name, value):
        self.sql("ALTER SYSTEM SET %s = '%s'" % (name, value))
        self.sql("SELECT pg_reload_conf()")
        self.wait_for_setting(name, value)

    def images(self):
        self.server_set("full_page_writes", "on")
        rows = min(self.rows, MAX_IMAGED)
        for name, typ, key, targets in IMAGED:
            self.images_tables(typ, key, rows)
            end = rows
            for share, target in zip(SHARES, targets):
                count = int(rows / share)
                wal = self.images_wal(key, end, count)
                end += count
                self.add("images", "WAL with images, a row in %g, %s" %
                         (share, name), "B", [wal["reference"]],
                         [wal["candidate"]], target)
            self.check("candidate.aged_k")
            self.drop("bare.aged", "reference.aged", "candidate.aged")
        self.server_set("full_page_writes", "off")

    def images_tables(self, typ, key, rows):
        """rows of them, the second half into the built index."""
        for schema in ("bare",) + SIDES:
            self.sql("CREATE TABLE %s.aged (k %s)" % (schema, typ))
            for low, high in ((1, rows // 2), (rows // 2 + 1, rows)):
                self.sql("INSERT INTO %s.aged SELECT %s FROM "
                         "generate_series(%d::int8, %d) AS k" %
                         (schema, key, low, high))
                if low == 1 and schema in SIDES:
                    self.sql("CREATE INDEX aged_k ON %s.aged USING %s (k)" %
                             (schema, self.am[schema]))

    def images_wal(self, key, end, count):
        """The index's share of WAL bytes a row, by side."""
        got = {}
        for schema in ("bare",) + SIDES:
            self.sql("CHECKPOINT")
            lsn = self.conn.value("SELECT pg_current_wal_insert_lsn()")
            self.sql("INSERT INTO %s.aged SELECT %s FROM "
                     "generate_series(%d::int8, %d) AS k" %
                     (schema, key, end + 1, end + count))
            got[schema] = int(self.conn.value(
                "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '%s')"
                % lsn))
        return {side: (got[side] - got["bare"]) / count for side in SIDES}
