"""The workload "general" of bench/run: keys that are no single number.

Text in two collations, uuid, several columns, few distinct values.  Each kind
of key goes through build, size, lookups and inserts, with fewer rows than the
other workloads have, since there are so many kinds.
"""

SIDES = ("reference", "candidate")
MAX_ROWS = 2000000
COLLATION = "en-US-x-icu"

# Planner settings under which a statement has only the plan that is meant.
NESTED_LOOP = {"enable_hashjoin": "off", "enable_mergejoin": "off",
               "enable_memoize": "off", "enable_material": "off",
               "enable_bitmapscan": "off", "enable_seqscan": "off"}

TEXT16 = "substr(md5({k}::text), 1, 16)"
TEXT32 = "md5({k}::text)"
MOMENT = ("'2025-01-01 UTC'::timestamptz + interval '1 microsecond' * "
          "(hashint8extended({k}, 2) & 1099511627775)")
FEW = "(hashint8extended({k}, 3) & 1152921504606846975) %% ({n} / %d)"


# -- keys that several benchmarks share; i is the row's number


def v4(digits):
    """uuids of version 4, of 32 hexadecimal digits: all other bits are these"""
    return ("overlay(overlay(%s placing '4' from 13) placing translate(substr("
            "%s, 17, 1), '01234567cdef', '89ab89ab89ab') from 17)::uuid" %
            (digits, digits))


# uuids of version 4, and of version 7: of millisecond %s since the year 2025.
V4 = v4("md5(i::text)")
V7 = ("(lpad(to_hex(1735689600000 + (%s)::int8), 12, '0') || '7' || "
      "substr(md5(i::text), 1, 3) || 'b' || "
      "substr(md5(i::text), 4, 15))::uuid")

# Eight rows a millisecond, and a row in eight seconds.
V7_BURST = V7 % "i / 8"
V7_SLOW = V7 % "i::int8 * 8000"


class Keys:
    """A kind of keys: its columns and what is aimed at."""

    def __init__(self, name, columns, size, lookup, rows_a_key=1):
        self.name = name
        self.columns = columns          # (type, expression) of each
        self.size = size
        self.lookup = lookup
        self.rows_a_key = rows_a_key

    def names(self):
        return ["abc"[i] for i in range(len(self.columns))]

    def select(self, rows):
        """The key columns of the number k."""
        return ", ".join(
            "(%s)::%s AS %s" % (expr.format(k="k", n=rows), typ, name)
            for (typ, expr), name in zip(self.columns, self.names()))

    def join(self):
        return " AND ".join("g.%s = p.%s" % (c, c) for c in self.names())


def text(expr, collation):
    return ('text COLLATE "%s"' % collation, expr)


KINDS = (
    Keys("text of 16 bytes, C", [text(TEXT16, "C")], 0.95, 0.70),
    Keys("text of 32 bytes, C", [text(TEXT32, "C")], 0.95, 0.70),
    Keys("text of 16 bytes, ICU en-US", [text(TEXT16, COLLATION)], 0.95, 0.90),
    Keys("text of 32 bytes, ICU en-US", [text(TEXT32, COLLATION)], 0.95, 0.90),
    Keys("uuid", [("uuid", v4("md5({k}::text)"))], 0.85, None),
    Keys("(int4, int4)", [("int4", "hashint8({k}) / 1000"),
                          ("int4", "hashint8extended({k}, 1) & 1048575")],
         0.95, 0.75),
    Keys("(text, timestamptz)", [text(TEXT16, "C"), ("timestamptz", MOMENT)],
         0.95, 0.75),
    Keys("int4, 10 rows a key", [("int4", FEW % 10)], 1.00, None, 10),
    Keys("int4, 1,000 rows a key", [("int4", FEW % 1000)], 1.00, None, 1000),
    Keys("text of 16 bytes, C, 10 rows a key",
         [text(TEXT16.replace("{k}", "(" + FEW % 10 + ")"), "C")], 1.00, None,
         10),
    Keys("text of 16 bytes, C, 1,000 rows a key",
         [text(TEXT16.replace("{k}", "(" + FEW % 1000 + ")"), "C")], 1.00, None,
         1000),
)


class General:
    """Methods of Bench (workloads.py)."""

    def general(self):
        have = self.sql("SELECT 1 FROM pg_collation WHERE collname = '%s'" %
                        COLLATION)
        for kind in KINDS:
            if not have and COLLATION in kind.columns[0][0]:
                self.log("  no collation %s: left out %s" %
                         (COLLATION, kind.name))
                continue
            self.general_tables(kind)
            self.general_build(kind)
            self.general_lookup(kind)
            self.general_insert(kind)
            self.check("candidate.g_k")
            self.drop("bare.g", "reference.g", "candidate.g", "numbers",
                      "general_probe")

    def general_rows(self):
        return min(self.rows, MAX_ROWS)

    def general_tables(self, kind):
        rows = self.general_rows()
        self.settings({"maintenance_work_mem": "1GB", "work_mem": "256MB",
                       "max_parallel_maintenance_workers": "0"})
        self.sql("CREATE TABLE numbers AS SELECT k FROM base LIMIT %d" % rows)
        self.sql("CREATE TABLE bare.g AS SELECT %s FROM numbers" %
                 kind.select(rows))
        for side in SIDES:
            self.sql("CREATE TABLE %s.g AS TABLE bare.g" % side)
            self.sql("ALTER TABLE %s.g SET (parallel_workers = 0)" % side)
            self.sql("VACUUM (FREEZE, ANALYZE) %s.g" % side)
        probes = max(rows // (10 * kind.rows_a_key), 100)
        self.sql("CREATE TABLE general_probe AS SELECT %s FROM (SELECT k FROM "
                 "numbers ORDER BY hashint8extended(k, 6) LIMIT %d) x" %
                 (kind.select(rows), probes))
        self.sql("ANALYZE general_probe")

    def general_build(self, kind):
        cpu = {side: [] for side in SIDES}
        for rnd in range(self.rounds):
            for side in self.order(rnd):
                if rnd == 0:
                    self.sql("SELECT count(*) FROM %s.g" % side)
                else:
                    self.sql("DROP INDEX %s.g_k" % side)
                own, _, _ = self.timed(
                    "CREATE INDEX g_k ON %s.g USING %s (%s)" %
                    (side, self.am[side], ", ".join(kind.names())))
                cpu[side].append(own)
            self.sql("CHECKPOINT")
        size = [self.bytes_per_key(side + ".g_k", self.general_rows())
                for side in SIDES]
        self.add("general", "bulk-built, " + kind.name, "B/key", [size[0]],
                 [size[1]], kind.size)
        self.add("general", "build, " + kind.name, "s", cpu["reference"],
                 cpu["candidate"], 0.90)

    def general_lookup(self, kind):
        self.settings(NESTED_LOOP)
        count = int(self.conn.value("SELECT count(*) FROM general_probe"))
        cpu = self.read_rounds(
            "SELECT count(*) FROM general_probe p JOIN g ON " + kind.join(),
            "Index Only Scan", kind.name, index="g_k")
        self.add("general", "random lookups, " + kind.name, "us",
                 self.per(cpu["reference"], count),
                 self.per(cpu["candidate"], count), kind.lookup)
        self.reset()

    def general_insert(self, kind):
        rows = self.general_rows()
        count = rows // 2 // self.rounds
        for rnd in range(self.rounds):
            first = self.rows + rnd * count
            self.sql("CREATE TABLE more_%d AS SELECT %s FROM (SELECT k + 0::int8 "
                     "AS k FROM generate_series(%d, %d) k ORDER BY "
                     "hashint8extended(k, 43)) x" %
                     (rnd, kind.select(rows), first + 1, first + count))
        cpu, _ = self.insert_rounds("g", lambda rnd: "TABLE more_%d" % rnd,
                                    count)
        self.add("general", "random inserts, index's share, " + kind.name,
                 "us", cpu["reference"], cpu["candidate"], 0.90, total=True)
        size = [self.bytes_per_key(side + ".g_k", rows + count * self.rounds)
                for side in SIDES]
        self.add("general", "size after these inserts", "B/key", [size[0]],
                 [size[1]])
        self.drop(*["more_%d" % r for r in range(self.rounds)])
