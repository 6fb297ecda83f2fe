"""The workload "images" of bench/run: WAL with full_page_writes on.

The first change of a page after a checkpoint logs an image of the page.  What
an index adds to WAL is then mostly images, and depends on how many rows come
between two checkpoints.  Each kind of key: an index that was built with half
of its rows and got the others one by one; a checkpoint, then rows at random,
few for a page, about one for a page, and ten for a page.
"""

from general_workloads import SIDES, v4

MAX_ROWS = 650000

# One row inserted for so many rows of the table, per checkpoint.
SHARES = (650, 65, 6.5)

# Name, type, and the key of the number k: the targets for each of SHARES.
KINDS = (
    ("int8, whole domain", "int8", "hashint8extended(k, 44)",
     (1.00, 0.80, 0.90)),
    ("uuid v4", "uuid", v4("md5(k::text)"), (1.00, 0.90, 0.95)),
    ("int8, dense ids", "int8", "k * 1664525 % 1048573", (0.90, 0.55, 0.70)),
    ("text of 32 bytes, C", 'text COLLATE "C"', "md5(k::text)",
     (1.00, 0.90, 0.95)),
)


class Images:
    """Methods of Bench (workloads.py)."""

    def server_set(self, name, value):
        self.sql("ALTER SYSTEM SET %s = '%s'" % (name, value))
        self.sql("SELECT pg_reload_conf()")
        self.wait_for_setting(name, value)

    def images(self):
        self.server_set("full_page_writes", "on")
        rows = min(self.rows, MAX_ROWS)
        for name, typ, key, targets in KINDS:
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
