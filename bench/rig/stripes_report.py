"""Tables and plots of bench/rig/stripes, what the papers report beside them."""

import json
import math
import os
import random

from cold_report import Line, grid, plots, spread
from pgcluster import machine
from report import quantile
import stripes_tasks

OURS = "fptree, stripes"
# What is to be reached with 2 million keys on 10 disks of 5 ms: milliseconds by
# percent of the keys, and the speed-up of the longest scan by disks.  What texts
# are to reach was set for as many leaf pages as btree has for the int8s.
TARGETS = {"int8": {0.01: 12, 0.25: 14, 1: 36, 10: 180},
           "leaves": {0.01: 15, 0.25: 30, 1: 60, 10: 420}}
NAMES = {"int8": "int8", "leaves": "text, as many leaves as btree has of int8",
         "text": "text"}
SPEED_UP = {2: 1.9, 4: 3.5, 8: 7.0, 10: 8.3}
SIZES = (1, 2, 5, 10, 15, 20, 30, 40, 60, 80, 100)


def median(values):
    return quantile(values, 0.5)


def heading(text, markdown):
    return ("### %s\n" if markdown else "%s\n") % text


class Results:
    """The measured lines, by key type, percent and disks."""

    def __init__(self, done, meta):
        self.at = {(x["kind"], x["percent"], x["disks"]): x["sides"]
                   for x in done["lines"]}
        self.places = done["places"]
        self.tasks = done["tasks"]
        self.meta = meta
        self.rows = meta["rows"]
        self.kinds = list(dict.fromkeys(k for k, _, _ in self.at))
        self.percent = sorted({p for _, p, _ in self.at})
        self.disks = sorted({d for _, _, d in self.at})

    def time(self, kind, percent, disks, side):
        samples = self.at.get((kind, percent, disks), {}).get(side)
        return median(samples) if samples else None

    def ratio(self, kind, percent, disks, top, bottom=OURS):
        a = self.time(kind, percent, disks, top)
        b = self.time(kind, percent, disks, bottom)
        return a / b if a and b else None

    def speed_up(self, kind, percent, disks):
        one = self.time(kind, percent, 1, "fptree, RAID-0")
        many = self.time(kind, percent, disks, OURS)
        return one / many if one and many else None

    def sides(self):
        return list(dict.fromkeys(s for d in reversed(self.disks)
                                  for (_, _, n), x in self.at.items()
                                  if n == d for s in x))

    def lines(self, keep, name):
        """The measured lines of which keep(kind, percent, disks) is true."""
        return [Line("", name(p, d), "ms", x)
                for (k, p, d), x in sorted(self.at.items()) if keep(k, p, d)]


def keys(r, kind, percent):
    """Name of a line: a part of all keys of a type."""
    return "%s, %g%% of %s keys" % ("int8" if kind == "int8" else "text",
                                    percent, format(r.rows[kind], ","))


def number(x, form="%.1f"):
    return "-" if x is None else form % x


def verdict(value, target, at_least):
    if value is None or target is None:
        return ""
    good = value >= target if at_least else value <= target
    return "ok" if good else "MISSED"


def times(r, markdown):
    out = []
    sides = r.sides()
    for kind in r.kinds:
        for percent in r.percent:
            rows = [["ms"] + sides]
            for d in r.disks:
                here = r.at.get((kind, percent, d), {})
                if here:
                    rows.append(["%d disks" % d if d > 1 else "1 disk"] + [
                        spread(here[s]) if s in here else "-" for s in sides])
            out.append(heading(keys(r, kind, percent), markdown))
            out.append(grid(rows, markdown) + "\n")
    return out


def aims(r, markdown):
    """Times and speed-ups beside what they should be."""
    rows = [["10 disks", "leaves of the range / 10 x service, ms", "measured, ms",
             "aim, ms", ""]]
    for kind in r.kinds:
        leaves = r.places.get(kind, {}).get("leaves", {}).get("s10")
        for percent in r.percent:
            aim = TARGETS.get(kind, {}).get(percent)
            got = r.time(kind, percent, 10, OURS)
            if got is None:
                continue
            least = leaves and math.ceil(leaves * percent / 1000) * \
                r.meta["service_us"] / 1000
            rows.append([keys(r, kind, percent), number(least, "%.0f"),
                         number(got), number(aim, "%d"),
                         verdict(got, aim, False)])
    speed = [["%g%% of the keys" % max(r.percent)] +
             ["%d disks" % d for d in r.disks if d > 1]]
    for kind in r.kinds:
        speed.append([NAMES[kind]] + [
            number(r.speed_up(kind, max(r.percent), d), "%.2f")
            for d in r.disks if d > 1])
    speed.append(["aim"] + [str(SPEED_UP.get(d, "-"))
                            for d in r.disks if d > 1])
    out = []
    if len(rows) > 1:
        out += [heading("What was to be reached", markdown),
                grid(rows, markdown) + "\n"]
    return out + [heading("Speed-up over one disk", markdown),
                  grid(speed, markdown) + "\n"]


def beside_papers(r, markdown):
    top = max(r.disks)
    rows = [["", "paper"] + [NAMES[k] for k in r.kinds]]

    def row(text, paper, value):
        rows.append([text, paper] + [number(value(k), "%.2f")
                                     for k in r.kinds])

    for percent, keys, paper in ((0.25, "10^4", "1.9"), (1, "10^6", "6.2"),
                                 (10, "10^7", "6.9")):
        row("fpB+-trees, Fig. 18a: B+-tree / fpB+-tree, 10 disks; %s of 10^8 "
            "keys, here btree on RAID-0 / striped, %g%%" % (keys, percent),
            paper, lambda k, p=percent: r.ratio(k, p, top, "btree, RAID-0"))
    row("fpB+-trees, Fig. 18c: speed-up at 10 disks", "6.9",
        lambda k: r.speed_up(k, max(r.percent), top))
    return [heading("Beside the papers: one session", markdown),
            grid(rows, markdown) + "\n"]


# -- response time of placements -------------------------------------------------


def normalized(disk_of, disks, size):
    """Of all ranges of so many leaves: slowest disk / ideal; mean, maximum."""
    ideal = math.ceil(size / disks)
    count = [0] * disks
    worst = []
    for i, d in enumerate(disk_of):
        count[d] += 1
        if i >= size:
            count[disk_of[i - size]] -= 1
        if i >= size - 1:
            worst.append(max(count) / ideal)
    return sum(worst) / len(worst), max(worst)


def responses(places):
    disks = places["disks"]
    rand = random.Random(1)
    sides = {"stripes": places["stripes"], "RAID-0": places["RAID-0"],
             "random": [rand.randrange(disks) for _ in places["stripes"]]}
    return [(size, {s: normalized(x, disks, size) for s, x in sides.items()})
            for size in SIZES if size <= len(places["stripes"])]


def placement(r, markdown):
    out = []
    for kind, places in r.places.items():
        rows = [["leaves of the range"] + [
            "%s: mean" % s if i == 0 else "highest"
            for s in ("stripes", "RAID-0", "random") for i in range(2)]]
        for size, sides in responses(places):
            rows.append([str(size)] + ["%.2f" % v for s in sides.values()
                                       for v in s])
        held = [places["stripes"].count(d) for d in range(places["disks"])]
        out += [heading("Response time by Multi-Disk B-trees, Fig. 4: %s, %d "
                        "leaves on %d disks" % (
                            NAMES[kind], len(places["stripes"]),
                            places["disks"]), markdown),
                grid(rows, markdown) + "\n",
                "Leaves on the emptiest and on the fullest disk: %d and %d.\n" %
                (min(held), max(held))]
    return out


def leaf_counts(r, markdown):
    rows = [["leaf pages", "btree", "fptree, RAID-0", "fptree, stripes"]]
    for kind, places in r.places.items():
        rows.append([NAMES[kind]] +
                    [str(n) for n in places["leaves"].values()])
    return [grid(rows, markdown) + "\n"] if len(rows) > 1 else []


# -- claims ----------------------------------------------------------------------


def claim(number, figure, workload, says, values, unit, good, why):
    return {"id": "C%d" % number, "paper": "Fractal Prefetching B+-Trees",
            "figure": figure, "workload": workload, "paper_says": says,
            "ours": {"median": median(values), "q1": quantile(values, 0.25),
                     "q3": quantile(values, 0.75), "unit": unit},
            "verdict": "holds" if good else "partly", "why": why,
            "product": "used in src/tree/prefetch.c and src/tree/finddisk.c"}


def claims(r, kind):
    """Figure 18 of fpB+-trees, as far as one key type has been measured."""
    top, most = max(r.disks), max(r.percent)
    one = r.at.get((kind, most, 1), {}).get("fptree, RAID-0")
    many = r.at.get((kind, most, top), {})
    if not one or not many or top != 10:
        return []
    ours = many[OURS]
    against = [a / b for a, b in zip(many["btree, RAID-0"], ours)]
    less = ", ".join("%g%%: %.1f" % (p, r.ratio(kind, p, top, "btree, RAID-0"))
                     for p in r.percent[:-1]
                     if r.ratio(kind, p, top, "btree, RAID-0"))
    speed = [a / b for a, b in zip(one, ours)]
    what = "%g%% of %s %s, 10 emulated disks of %g ms, one session" % (
        most, format(r.rows[kind], ","), kind, r.meta["service_us"] / 1000)
    return [claim(27, "18a", what + ": btree on RAID-0 / striped",
                  "1.9 (10^4 entries), 6.2 to 6.9", against,
                  "ratio of times", median(against) >= 6.2,
                  "smaller ranges: %s; another baseline than the paper's: "
                  "btree reads no leaves ahead and has several times as many "
                  "leaf pages" % less),
            claim(28, "18c", what + ": one disk / ten",
                  "6.9", speed, "speed-up", median(speed) >= 6.9,
                  "stripes keep neighbours apart, and requests for all disks "
                  "are under way")]


def write_claims(done, meta, path):
    r = Results(done, meta)
    found = claims(r, r.kinds[0]) if r.at else []
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"experiment": "stripes", "claims": found,
                   "tasks": r.tasks,
                   "machine": dict(machine(), service_us=meta["service_us"],
                                   server=meta["server"])}, f, indent=1)
        f.write("\n")


# -- output ----------------------------------------------------------------------


def picture(r, folder):
    tail = ", emulated disks of %g ms" % (r.meta["service_us"] / 1000)
    top, most = max(r.disks), max(r.percent)
    charts = []
    for kind in r.kinds:
        charts += [
            ("%s: cold scans of %g%% of the keys%s" % (NAMES[kind], most, tail),
             "ms",
             r.lines(lambda k, p, d, kind=kind: k == kind and p == most,
                     lambda p, d: "%d disks" % d if d > 1 else "1 disk")),
            ("%s: cold scans by part of the keys, %d%s" %
             (NAMES[kind], top, tail), "ms",
             r.lines(lambda k, p, d, kind=kind: k == kind and d == top,
                     lambda p, d: "%g%%" % p))]
    if "int8" in r.places:
        charts.append(
            ("Slowest disk / ideal, by leaves of the range, %d disks" %
             r.places["int8"]["disks"], "mean",
             [Line("", str(size), "", {s: [v[0]] for s, v in sides.items()})
              for size, sides in responses(r.places["int8"])]))
    # not all may have been measured
    plots(os.path.join(folder, "stripes.svg"), [x for x in charts if x[2]])


def alone(r, markdown):
    """Tables of single sessions."""
    return aims(r, markdown) + leaf_counts(r, markdown) + \
        times(r, markdown) + beside_papers(r, markdown) if r.at else []


def write(done, meta, markdown, folder):
    r = Results(done, meta)
    if not r.at and not r.tasks:
        return
    for path, md in ((None, False), (markdown, True)):
        text = "\n".join(alone(r, md) + (stripes_tasks.tables(
            r.tasks, NAMES, md) if r.tasks else []) + placement(r, md))
        if path:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        elif not md:
            print(text)
    if folder and r.at:
        picture(r, folder)
