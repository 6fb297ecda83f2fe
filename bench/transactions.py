"""pgbench on a server, and what its transactions took.

Used by bench/run, bench/cold and bench/pgbench/run.
"""

import glob
import os
import re

from pgcluster import BenchError, CpuClock

TPS = re.compile(r"^tps = ([0-9.]+) \(without", re.M)
FAILED = re.compile(r"number of failed transactions: ([0-9]+)")
DONE = re.compile(r"transactions actually processed: ([0-9]+)")


def processed(out):
    """Of what pgbench says: transactions per second, and how many."""
    failed = FAILED.search(out)
    if failed and int(failed.group(1)) > 0:
        raise BenchError("pgbench: failed transactions\n" + out)
    return float(TPS.search(out).group(1)), int(DONE.search(out).group(1))


class Transactions:
    """Of one run: by second, CPU seconds of each (or None), latencies in us."""

    def __init__(self, tps, cpu, latencies):
        self.tps = tps
        self.cpu = cpu
        self.latencies = latencies


class Pgbench:
    """pgbench with prepared statements, and the server's CPU time of it.

    postmaster: its process, or None if that is not on this machine, and then
    there is no CPU time.  pin: may it be bound to a core?
    """

    def __init__(self, clients, postmaster, pin=True):
        self.clients = clients
        self.pin = pin and postmaster is not None
        self.clock = None
        if postmaster is not None:
            self.clock = CpuClock(postmaster, postmaster)

    def run(self, arguments, clients, options, log=False):
        """A run with so many clients; options are those of their sessions.

        One client and its backend share a core: they never run at once, and
        waking up another core takes a time that varies wildly from run to run,
        most of all in virtual machines.
        """
        command = [self.clients.tool("pgbench"), "-n", "-M", "prepared", "-c",
                   str(clients), "-j", str(clients)]
        prefix = os.path.join(self.clients.dir, "transactions")
        if log:
            command += ["--log", "--log-prefix=" + prefix]
        cores = os.sched_getaffinity(0)
        before = self.clock.children() if self.clock else None
        cpu = self.clock.children_time() if self.clock else 0
        if clients == 1 and self.pin:
            self.bind({max(cores)})
        try:
            out = self.clients.run(command + arguments, PGOPTIONS=options)
        finally:
            if self.pin:
                self.bind(cores)
        tps, done = processed(out)
        if self.clock:
            self.clock.wait_for_children(before)
            cpu = (self.clock.children_time() - cpu) / done
        return Transactions(tps, cpu if self.clock else None,
                            self.latencies(prefix) if log else [])

    def bind(self, cores):
        """What this process and the postmaster start from now on."""
        os.sched_setaffinity(0, cores)
        os.sched_setaffinity(self.clock.postmaster, cores)

    @staticmethod
    def latencies(prefix):
        """Of all transactions; the files, one of each thread, are removed."""
        out = []
        for path in glob.glob(prefix + ".*"):
            with open(path, encoding="ascii") as f:
                out += [int(line.split(" ", 3)[2]) for line in f]
            os.unlink(path)
        return out
