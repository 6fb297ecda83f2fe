"""What WAL an index was logged with, by pg_waldump.  Used by bench/run."""

import collections
import re
import subprocess

from pgcluster import BenchError

ALIGNMENT = 8

# Of a line: bytes without images, bytes of all, whether there is a second page
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
        return self.conn.value("SELECT pg_current_wal_insert_lsn()")

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
