"""What bench/run and bench/pgbench/run have in common: the two sides, options.
"""

import os
import platform
import sys
import time

from pgcluster import BenchError

START = time.time()


def log(text):
    print("%5d s  %s" % (time.time() - START, text), file=sys.stderr,
          flush=True)


def interrupted(number, frame):
    """End as if by Ctrl-C: the server is stopped and removed."""
    raise KeyboardInterrupt


def comparison_options(parser, what):
    """Options of both programs; what is run before indexes are verified."""
    add = parser.add_argument
    add("--json", metavar="FILE", help="write all samples here")
    add("--markdown", metavar="FILE", help="write the table here")
    add("--pg-config", metavar="PATH",
        help="pg_config of the server to use (default $PG_CONFIG, then the "
        "newest /usr/lib/postgresql/*)")
    add("--set", metavar="NAME=VALUE", action="append", default=[],
        help="server setting, overrides the benchmark's own")
    add("--reference", default="btree", metavar="AM",
        help="access method to compare with (default btree)")
    add("--candidate", default="fptree", metavar="AM",
        help="access method to compare (default fptree); btree measures the "
        "noise of the machine")
    add("--no-check", action="store_true",
        help="do not verify the indexes after " + what)
    add("--keep", action="store_true", help="do not remove what was made")


def check_settings(parser, options):
    for item in options.set:
        if "=" not in item:
            parser.error("--set takes NAME=VALUE")


def memory_mb():
    with open("/proc/meminfo", encoding="ascii") as f:
        for line in f:
            if line.startswith("MemTotal:"):
                return int(line.split()[1]) // 1024
    return 4096


def server_settings(given, clients=0):
    """Everything in memory, nothing in the background, no waiting for disks.

    fsync off: the workloads compare CPU time, and both sides wait for the same
    disk.  Commits stay synchronous, because VACUUM cannot mark pages all-visible
    whose rows were committed asynchronously a moment ago.  full_page_writes
    off: page images after a checkpoint would drown the records that are
    compared.
    """
    settings = {
        "shared_buffers": "%dMB" % min(4096, memory_mb() // 3),
        "fsync": "off", "full_page_writes": "off", "autovacuum": "off",
        "jit": "off",
        "max_parallel_workers_per_gather": "0",
        "checkpoint_timeout": "1d", "max_wal_size": "16GB",
        "min_wal_size": "4GB", "wal_buffers": "64MB",
        "bgwriter_lru_maxpages": "0", "log_checkpoints": "off",
        "effective_cache_size": "8GB",
        "max_connections": "%d" % (20 + clients),
    }
    settings.update(item.split("=", 1) for item in given)
    return settings


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def machine():
    """Where and when something was measured."""
    return {"cpu": cpu_model(), "cores": os.cpu_count(),
            "memory_mb": memory_mb(), "system": platform.platform(),
            "date": time.strftime("%Y-%m-%d %H:%M:%S %z")}


def extension(clients, options):
    """Install fptree in the database, if a side needs it; its version."""
    if "fptree" not in (options.reference, options.candidate):
        return None
    version = clients.psql("SELECT default_version FROM "
                           "pg_available_extensions WHERE name = 'fptree'")
    if not version:
        raise BenchError("fptree is not installed in this server: run "
                         "make PG_CONFIG=%s install" % clients.pg_config)
    clients.psql("CREATE EXTENSION IF NOT EXISTS fptree",
                 options="-c client_min_messages=warning")
    return version
