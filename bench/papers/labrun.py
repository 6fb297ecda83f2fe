"""Runs the laboratory's program, and makes claims of its samples.

Used by bench/papers/run and the files of experiments.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

# pylint: disable=wrong-import-position
from cold_report import Line, grid, plot                   # noqa: E402
from pgcluster import cpu_model                            # noqa: E402
from report import quantile, summary                       # noqa: E402

BUILD = os.path.join(HERE, "build")

QUIET = 0.05    # of one processor
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def busy():
    """Seconds that all processors have worked for anybody, hosts included."""
    with open("/proc/stat", encoding="utf-8") as f:
        user, nice, system, _, _, *rest = f.readline().split()[1:9]
    ticks = sum(int(x) for x in [user, nice, system] + rest)
    return ticks / os.sysconf("SC_CLK_TCK")


class Gauge:
    """Adds up, over measurements by child processes, what others took."""

    def __init__(self):
        self.others = 0.0
        self.seconds = 0.0
        self.before = None

    def __enter__(self):
        self.before = self.now()
        return self

    def __exit__(self, *_):
        seconds, others = self.now()
        self.seconds += seconds - self.before[0]
        self.others += max(others - self.before[1], 0)

    @staticmethod
    def now():
        own = os.times()
        return time.monotonic(), busy() - (
            own.user + own.system + own.children_user + own.children_system)

    def machine(self):
        """For the line of JSON that describes where something was measured."""
        share = self.others / self.seconds if self.seconds else None
        return {"others": share, "quiet": share is not None and share <= QUIET}


class Outcome:
    """One test's line of JSON: samples of trees, a sample for each round."""

    def __init__(self, line):
        self.line = line
        self.trees = {t["name"]: t for t in line["trees"]}

    def samples(self, tree, key="samples"):
        return self.trees[tree][key]

    def median(self, tree, key="samples"):
        return median(self.samples(tree, key))

    def speedup(self, base, tree):
        """Of rounds: the time of the base over that of the tree."""
        return [b / t for b, t in zip(self.samples(base), self.samples(tree))
                if t > 0]

    def gain(self, base, tree):
        return median(self.speedup(base, tree))

    def curves(self, trees):
        return {self.trees[t]["label"]: self.samples(t) for t in trees}


class Lab:
    """The program for each size of keys and pages, compiled once."""

    def __init__(self, args):
        self.args = args
        self.quick = args.quick
        self.rounds = args.rounds or (3 if args.quick else 7)
        self.built = set()
        self.start = time.time()
        self.gauge = Gauge()

    def log(self, text):
        minutes, seconds = divmod(int(time.time() - self.start), 60)
        print("%3d:%02d  %s" % (minutes, seconds, text), file=sys.stderr,
              flush=True)

    def program(self, page=8192, key=4):
        name = "lab-%d-%d" % (key, page)
        if name not in self.built:
            self.log("compiling %s" % name)
            subprocess.run(["make", "-s", "-C", HERE, name], check=True)
            self.built.add(name)
        return os.path.join(BUILD, name)

    def call(self, program, options):
        command = [program] + [str(x) for x in options]
        if self.args.cpu is not None:
            command = ["taskset", "-c", self.args.cpu] + command
        with self.gauge:
            out = subprocess.run(command, check=True, stdout=subprocess.PIPE)
        return [json.loads(x) for x in out.stdout.decode().splitlines()]

    def measure(self, tests, trees, keys, fill=100, scattered=True, ops=None,
                mature=False, page=8192, key=4, memory=1, distance=3,
                rounds=None):
        """Outcomes of tests by their names; all trees in turns."""
        options = ["-n", keys, "-f", fill, "-r", rounds or self.rounds,
                   "-t", ",".join(trees), "-H", memory, "-d", distance,
                   "-o", ops or (30000 if self.quick else 200000)]
        options += ["-s"] if scattered else []
        options += ["-m"] if mature else []
        self.log("%s: %s keys, fill %d%%, pages of %d, %d trees%s" % (
            " ".join(tests), format(keys, ","), fill, page, len(trees),
            ", mature" if mature else ""))
        out = {}
        for line in self.call(self.program(page, key), options + list(tests)):
            out[line["test"]] = Outcome(line)
        return out

    def machine(self):
        line = self.call(self.program(), ["machine"])[0]
        return dict(line, **processor(), **self.gauge.machine(),
                    rounds=self.rounds, quick=self.quick,
                    date=time.strftime("%Y-%m-%d"))


def processor():
    """Name, processors and caches, as far as Linux tells."""
    found = {"name": cpu_model(), "cpus": os.cpu_count()}
    for index in sorted(CACHES.glob("index*")):
        found["cache" + (index / "level").read_text().strip()] = (
            index / "size").read_text().strip()
    return found


class Experiment:
    """Claims, tables and plots of one paper's figures."""

    def __init__(self, name, paper):
        self.name = name
        self.paper = paper
        self.claims = []
        self.tables = []
        self.plots = []

    def claim(self, number, figure, workload, says, values, unit, verdict,
              why="", product=""):
        self.claims.append({
            "id": "C%d" % number, "paper": self.paper, "figure": figure,
            "workload": workload, "paper_says": says,
            "ours": dict(middle(values), unit=unit),
            "verdict": verdict, "why": why, "product": product})

    def faster(self, number, figure, workload, says, values, low, why="",
               product=""):
        """The claim that something is at least so many times faster."""
        self.claim(number, figure, workload, says, values, "times faster",
                   at_least(values, low), why, product)

    def finish(self, options, head, **more):
        """Print tables and what the claims come to; --markdown, --json."""
        print(document(self.tables, False))
        for c in self.claims:
            print("%s %s: %.2f [%.2f %.2f] %s, %s; %s" % (
                c["id"], c["figure"], c["ours"]["median"], c["ours"]["q1"],
                c["ours"]["q3"], c["ours"]["unit"], c["verdict"], c["why"]))
        if options.markdown:
            with open(options.markdown, "w", encoding="utf-8") as f:
                f.write(head + document(self.tables, True))
        self.save(options.json, **more)

    def save(self, path, **more):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"experiment": self.name, "claims": self.claims,
                       "tables": self.tables, **more}, f, indent=1)
            f.write("\n")

    def table(self, title, rows):
        self.tables.append({"title": title, "rows": rows})

    def speedups(self, title, outcome, base, trees):
        """A table: medians, quartiles, and speed-ups over the base."""
        rows = [["tree", outcome.line["unit"], "quartiles", "speed-up",
                 "quartiles"]]
        for name in trees:
            s = summary(outcome.samples(name))
            r = summary(outcome.speedup(base, name))
            rows.append([outcome.trees[name]["label"], "%.4g" % s["median"],
                         "%.4g to %.4g" % (s["q1"], s["q3"]),
                         "%.2f" % r["median"],
                         "%.2f to %.2f" % (r["q1"], r["q3"])])
        self.table(title, rows)

    def searches(self, title, out, base, trees):
        self.speedups(title + ": cold", out["cold"], base, trees)
        self.speedups(title + ": warm", out["search"], base, trees)

    def plot(self, name, title, unit, outcomes, trees):
        """outcomes: (place, outcome), as the paper's figure has them."""
        self.plots.append({"name": name, "title": title, "unit": unit,
                           "lines": [(place, outcome.curves(trees))
                                     for place, outcome in outcomes]})

    def pair(self, name, title, tests, outs, trees):
        """A plot of each of two tests: (name in the title, of the outcomes)."""
        for letter, (said, test) in zip("ab", tests):
            self.plot(name + letter, title % (letter, said), "ns",
                      [(place, out[test]) for place, out in outs], trees)

    def write(self, lab, folder, plots):
        path = os.path.join(folder, self.name + ".json")
        self.save(path, plots=self.plots, machine=lab.machine())
        if plots:
            os.makedirs(plots, exist_ok=True)
            for p in self.plots:
                plot(os.path.join(plots, "papers-%s.svg" % p["name"]),
                     p["title"], p["unit"],
                     [Line("", name, "", sides) for name, sides in p["lines"]])
        return path


def arguments(name, description, epilog, quick):
    """Of a program of its own: what bench/papers/run gives it, and others."""
    p = argparse.ArgumentParser(
        prog="bench/papers/" + name, description=description, epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help=quick)
    p.add_argument("--json", metavar="FILE",
                   default=os.path.join(HERE, "results", name + ".json"),
                   help="write claims and results here (default "
                   "bench/papers/results/%s.json)" % name)
    p.add_argument("--markdown", metavar="FILE", help="write the tables here")
    return p


def median(values):
    return quantile(values, 0.5)


def middle(values):
    s = summary(values)
    return {x: s[x] for x in ("median", "q1", "q3")}


def document(tables, markdown):
    return "\n".join("%s%s\n\n%s\n" % (
        "### " * markdown, t["title"], grid(t["rows"], markdown))
                     for t in tables)


# -- verdicts --------------------------------------------------------------------


def grade(good, near):
    return "holds" if good else "partly" if near else "refuted"


def at_least(values, low):
    """Of a speed-up: the paper's, or more; the direction only; or neither."""
    got = median(values)
    return grade(got >= 0.95 * low, got >= 1.05)


def within(values, low, high, slack=0.1):
    """Of a figure that the paper gives a range for."""
    got = median(values)
    return grade(low * (1 - slack) <= got <= high * (1 + slack),
                 low / 2 <= got <= high * 2)


def alike(values, slack=0.1):
    """Of a ratio that should be 1."""
    got = median(values)
    return grade(1 / (1 + slack) <= got <= 1 + slack,
                 1 / (1 + 3 * slack) <= got <= 1 + 3 * slack)


def kb(page):
    return "%d kB" % (page // 1024)


def short(n):
    for unit, size in (("M", 1000000), ("K", 1000)):
        if n >= size and n % size == 0:
            return "%d%s" % (n // size, unit)
    return str(n)
