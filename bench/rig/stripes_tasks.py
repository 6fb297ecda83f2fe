"""Throughput and response time under many sessions, for bench/rig/stripes.

Sessions do one range query after the other, as the tasks of Seeger and Larson
(Multi-Disk B-trees, Table 4).  Their trees are read from disks each time; so
no two queries of a run read the same keys here, and each run begins with
nothing cached.  A size of ranges has at most as many queries as the keys have
such ranges.
"""

import random
import threading
import time

from cold_report import grid
from cold_server import Session
from pgcluster import BenchError
from report import quantile

QUERIES = {1: 8, 0.25: 20, 0.01: 50}    # of a task at most, by percent
# Table 4: elapsed seconds of records hashed to disks / local balancing
HASHED = {0.01: 85.899 / 13.488, 0.25: 73.006 / 35.680, 1: 83.646 / 63.945,
          10: 124.583 / 115.703}


def ranges(percent, tasks):
    """First keys, as parts of all keys, of the queries of each task."""
    there = int(100 / percent)
    each = min(QUERIES.get(percent, 20), there // tasks)
    if each < 2:
        return []
    firsts = [i / there for i in
              random.Random("%g" % percent).sample(range(there), each * tasks)]
    return [firsts[i::tasks] for i in range(tasks)]


class Task(threading.Thread):
    """A session and its queries; all tasks begin at the same time."""

    def __init__(self, session, queries, width, barrier):
        super().__init__(daemon=True)
        self.session, self.queries, self.width = session, queries, width
        self.barrier = barrier
        self.responses = []
        self.error = None

    def run(self):
        try:
            self.barrier.wait()
            for text in self.queries:
                start = time.perf_counter()
                rows = self.session.conn.query(text)
                self.responses.append(time.perf_counter() - start)
                if rows != [(str(self.width),)]:
                    raise BenchError("%s rows from %s" % (rows, text))
        except (BenchError, OSError, threading.BrokenBarrierError) as err:
            self.error = err


def run_tasks(cluster, queries, settings, width, check):
    """One run of all tasks on a server just started: sample of it."""
    cluster.restart(True)
    sessions = [Session(cluster, settings) for _ in queries]
    for session, mine in zip(sessions, queries):
        check(session, mine[0])
    barrier = threading.Barrier(len(queries) + 1)
    tasks = [Task(s, q, width, barrier) for s, q in zip(sessions, queries)]
    for task in tasks:
        task.start()
    barrier.wait()
    start = time.perf_counter()
    for task in tasks:
        task.join()
    elapsed = time.perf_counter() - start
    for task in tasks:
        task.session.close()
        if task.error:
            raise task.error
    responses = sorted(x for t in tasks for x in t.responses)
    return {"throughput": len(responses) / elapsed,
            "response": 1000 * sum(responses) / len(responses),
            "late": 1000 * responses[int(len(responses) * 0.95)]}


def measure_tasks(cluster, keys, percent, tasks, sides, check_plan):
    """All rounds of all sides: samples by side; None if there are too few keys.

    sides are those of bench/rig/stripes; check_plan(session, text, table,
    column) complains about a plan that is not meant.
    """
    plan = ranges(percent, tasks)
    if not plan:
        return None
    width = max(1, int(cluster.rows * percent / 100))
    samples = {s[0]: [] for s in sides}
    for r in range(cluster.options.rounds):
        turn = r % len(sides)
        for side, table, column, settings in sides[turn:] + sides[:turn]:
            texts = []
            for mine in plan:
                firsts = [min(int(x * cluster.rows), cluster.rows - width)
                          for x in mine]
                texts.append([
                    "SELECT count(%s) FROM %s WHERE %s BETWEEN %s AND %s" % (
                        column, table, column, keys.literal(first),
                        keys.literal(first + width - 1)) for first in firsts])
            samples[side].append(run_tasks(
                cluster, texts, settings, width,
                lambda s, text, t=table, c=column: check_plan(s, text, t, c)))
    return samples


# -- tables ----------------------------------------------------------------------


def middle(samples, what):
    return quantile([x[what] for x in samples], 0.5)


def cell(samples, what, form="%.0f"):
    values = [x[what] for x in samples]
    text = form % quantile(values, 0.5)
    if len(values) > 1:
        text += " [%s %s]" % (form % quantile(values, 0.25),
                              form % quantile(values, 0.75))
    return text


def tables(done, names, markdown):
    """Throughput and response time of each number of sessions."""
    out = []
    for kind in dict.fromkeys(x["kind"] for x in done):
        mine = [x for x in done if x["kind"] == kind]
        tasks, disks = mine[0]["tasks"], mine[0]["disks"]
        rows = [["part of the keys", "", "queries/s", "of stripes'",
                 "mean response, ms", "95%"]]
        for line in mine:
            ours = middle(next(iter(line["sides"].values())), "throughput")
            for side, samples in line["sides"].items():
                rows.append([
                    "%g%%" % line["percent"], side,
                    cell(samples, "throughput", "%.1f"),
                    "%.2f" % (middle(samples, "throughput") / ours),
                    cell(samples, "response"), cell(samples, "late")])
        out += [("### %s\n" if markdown else "%s\n") %
                ("%d sessions at the same time, %d disks: %s, %s keys" % (
                    tasks, disks, names[kind],
                    format(mine[0]["rows"], ","))),
                grid(rows, markdown) + "\n"]
    return out + beside_paper(done, names, markdown)


def beside_paper(done, names, markdown):
    """Table 4, whose elapsed times are of 20 tasks, and ours of as many."""
    kinds = list(dict.fromkeys(x["kind"] for x in done))
    at = {(x["kind"], x["percent"]): x["sides"] for x in done}
    rows = [["throughput of local balancing (stripes) / hash (partitions)",
             "paper"] + [names[k] for k in kinds]]
    for percent in sorted({p for _, p in at}):
        row = ["%g%% of the keys" % percent,
               "%.2f" % HASHED[percent] if percent in HASHED else "-"]
        for kind in kinds:
            sides = at.get((kind, percent), {})
            got = [middle(sides[s], "throughput") for s in
                   ("fptree, stripes", "fptree, partitions") if s in sides]
            row.append("%.2f" % (got[0] / got[1]) if len(got) == 2 else "-")
        rows.append(row)
    return [("### %s\n" if markdown else "%s\n") %
            "Beside Table 4 of Multi-Disk B-trees", grid(rows, markdown) + "\n"]
