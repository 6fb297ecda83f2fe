"""Trees in memory: of two papers.

Improving Index Performance through Prefetching; Modularizing B+-trees, which
have three levels, and a large root.
"""

import math

from labrun import alike, at_least, grade, median, short, within

PAPER = "pB+ (Chen, Gibbons, Mowry 2001)"
SEARCHED = ("b1", "n8", "p1", "p2", "p4", "p8", "p12", "p16", "p24", "p32",
            "csb1", "csb8", "v1", "v4", "v8", "v16", "vcsb1", "vcsb8")
DRAWN = ("b1", "csb1", "p2", "p4", "p8", "p16", "csb8")
SCANNED = ("b1", "p8", "e8", "i8")
WIDTHS = (1, 2, 4, 8, 12, 16, 24, 32)
FILLS = (60, 70, 80, 90, 100)
STATES = ("warm", "search"), ("cold", "cold")

MB_PAPER = "MB+ (Sasaki, Araki)"
MB_READ = ("mbplus", "mbbin", "mbless", "mbmid", "mbnone")
MB_WRITTEN = ("v8", "b1", "mbplus", "mbuniq")


def search_cost(width, pairs, b, per_line):
    """Equation (1), in units of Tnext."""
    fan = width * per_line
    levels = math.ceil(math.log(pairs / (fan - 1), fan) + 1)
    return levels * (b + math.ceil(3 * width / 4) - 1)


def best_width(b, per_line=8):
    """The width that equation (1) prefers, over sizes of 10^3 to 10^9."""
    costs = {w: sum(search_cost(w, 10 ** e, b, per_line)
                    for e in range(3, 10)) for w in range(1, 65)}
    return min(costs, key=costs.get)


def widths(x, cold, machine):
    b, of_b = machine["b"], [best_width(b) for b in (machine["b"], 15, 50)]
    medians = {w: cold.median("p%d" % w) for w in WIDTHS}
    best = min(medians, key=medians.get)
    x.table("Widths, beside equation (1): B = %.0f here, of which it makes %d "
            "lines; of the paper's B = 15 %d, of 50 %d" % (b, *of_b), [
                ["lines", "cold search, ns", "times of the best"]] + [
                    [str(w), "%.0f" % medians[w],
                     "%.2f" % (medians[w] / medians[best])] for w in WIDTHS])
    loss = [a / min(every) for a, every in zip(
        cold.samples("p8"), zip(*(cold.samples("p%d" % w) for w in WIDTHS)))]
    x.claim(7, "eq. (1), Fig. 7", "widths of 1 to 32 lines, cold",
            "8 lines are best; 22 if B = 50", loss,
            "time of 8 lines / of the best width",
            grade(median(loss) <= 1.1, True),
            "best here: %d lines; equation (1) gives %d for the paper's B, %d "
            "for 50 and %d for this machine's %.0f" % (
                best, *of_b[1:], of_b[0], b),
            "goal G with T1 and Tnext of today: src/page/widths.c; widths near "
            "the best differ little, so capacity decides")


def searches(lab, x):
    """Figures 1, 2, 7 and 14, Table 3, equation (1)."""
    sizes = (100000, 1000000, 10000000) if lab.quick else \
        (10000, 30000, 100000, 300000, 1000000, 3000000, 10000000)
    outs = [(short(n), lab.measure(
        ["search", "cold", "space"],
        SEARCHED if n == sizes[-1] else DRAWN, n)) for n in sizes]
    x.pair("fig7", "Figure 7%s: searches, %s, by number of keys", STATES, outs,
           DRAWN)
    last = outs[-1][1]
    x.table("Table 3: levels", [["keys"] + [
        last["space"].trees[t]["label"] for t in DRAWN]] + [
            [n] + [str(out["space"].trees[t]["levels"]) for t in DRAWN]
            for n, out in outs])
    warm, cold = last["search"], last["cold"]
    where = "%s keys, scattered" % short(sizes[-1])
    x.searches("Figure 7, " + where, last, "b1", SEARCHED)
    search_claims(x, warm, cold, where)
    widths(x, cold, lab.machine())
    stalls(x, warm, where)


def search_claims(x, warm, cold, where):
    used = "used: nodes are prefetched whole, src/page/node.h"
    x.faster(1, "Fig. 7b", where + ", cold: p8B+ over B+", "1.32 to 1.55",
             cold.speedup("b1", "p8"), 1.32, "", used)
    x.faster(2, "Fig. 7a", where + ", warm: p8B+ over B+", "1.27 to 1.47",
             warm.speedup("b1", "p8"), 1.27, "", used)
    v = cold.speedup("b1", "n8")
    w = warm.gain("b1", "n8")
    lost = median(v) < 0.95
    x.claim(3, "Fig. 2", where + ", cold: nodes of 8 lines that are not "
            "prefetched, over B+", "slower, 0.67 in the example", v,
            "times faster", grade(lost and w < 1, lost or w < 1),
            "warm they are %.2f times as fast: the processor runs ahead of a "
            "binary search, and fetches by guesses" % w, used)
    x.faster(4, "Fig. 1, 14", where + ", cold: CSB+ over B+", "1.15",
             cold.speedup("b1", "csb1"), 1.15, "",
             "left out: children of a page lie where pages are free")
    x.faster(5, "Fig. 7b", where + ", cold: p8B+ over CSB+", "1.14 to 1.34",
             cold.speedup("csb1", "p8"), 1.14, "",
             "prefetching is used, groups of children are not")
    v = cold.speedup("p8", "csb8")
    x.claim(6, "Fig. 7", where + ", cold: p8CSB+ over p8B+", "comparable", v,
            "times faster", alike(v), "", "left out, as C4")


def stalls(x, warm, where):
    """Without counters: what a search of two keys over and over does not wait.

    Instructions are the same; what it takes less is waiting for memory.
    """
    gone = []
    for total, busy, total8, busy8 in zip(
            warm.samples("b1"), warm.samples("b1", "busy"),
            warm.samples("p8"), warm.samples("p8", "busy")):
        if total > busy:
            gone.append(1 - max(total8 - busy8, 0) / (total - busy))
    x.claim(15, "Fig. 14", where + ", warm: waits of B+ that p8B+ has not",
            "45% (searches); 97% (scans)", [100 * g for g in gone], "%",
            within([100 * g for g in gone], 45, 100),
            "an estimate: time less that of searching two keys over and over, "
            "which are in the first-level cache; counters are not to be had",
            "used: nodes are prefetched")


def fills(lab, x):
    """Figure 8, and Figure 9: arrays do not slow searches."""
    n = 1000000 if lab.quick else 3000000
    some = (60, 80, 100) if lab.quick else FILLS
    outs = [("%d%%" % fill, lab.measure(["search", "cold"], DRAWN, n,
                                        fill=fill)) for fill in some]
    x.pair("fig8", "Figure 8%s: searches, %s, by fill factor", STATES, outs,
           DRAWN)
    n = 3000000 if lab.quick else 10000000
    out = lab.measure(["search", "cold"], ("p8", "e8", "i8"), n)
    worse = [max(a, b) / p for p, a, b in zip(
        *(out["cold"].samples(t) for t in ("p8", "e8", "i8")))]
    x.searches("Figure 9, %s keys" % short(n), out, "p8", ("p8", "e8", "i8"))
    x.claim(8, "Fig. 9", "%s keys, cold: the slower of the trees with arrays / "
            "p8B+" % short(n), "negligible", worse, "times slower",
            alike(worse), "", "used: leaf-parents are the array, "
            "src/tree/prefetch.c")


def mature(lab, x):
    n = 1000000 if lab.quick else 10000000
    trees = ("b1", "csb1", "p4", "p8", "p16", "csb8")
    out = lab.measure(["search", "cold"], trees, n, mature=True,
                      scattered=False)
    x.speedups("Section 4.2, mature trees (a tenth of %s keys loaded, the "
               "others inserted): cold" % short(n), out["cold"], "b1", trees)
    x.speedups("The same, warm", out["search"], "b1", trees)


def scans(lab, x):
    """Figures 10 and 11."""
    n = 3000000
    most = 100000 if lab.quick else 1000000
    lengths = (10, 100, 1000, 10000, most)
    tests = ["scan=%d" % m for m in lengths]
    rounds = 3 if lab.quick else 5
    out = lab.measure(tests + ["segments=%d" % most], SCANNED, n, rounds=rounds)
    order = lab.measure(["scan=1000", "scan=%d" % most], SCANNED, n,
                        scattered=False, rounds=rounds)
    x.plot("fig10a", "Figure 10a: scans of 3M keys, by length", "ns a scan",
           [(short(m), out["scan=%d" % m]) for m in lengths], SCANNED)
    for m in lengths:
        x.speedups("Figure 10a, scattered: scans of %s" % short(m),
                   out["scan=%d" % m], "b1", SCANNED)
    for m in (1000, most):
        x.speedups("The same in order of building: scans of %s" % short(m),
                   order["scan=%d" % m], "b1", SCANNED)
    x.speedups("Figure 11: scans of %s in segments of 1,000" % short(most),
               out["segments=%d" % most], "b1", SCANNED)
    scan_claims(x, out, order, most)
    x.plot("fig10b", "Figure 10b: scans of 1,000, by fill factor", "ns a scan",
           [("%d%%" % fill, lab.measure(["scan=1000"], SCANNED, n, fill=fill,
                                        rounds=rounds)["scan=1000"])
            for fill in ((60, 100) if lab.quick else FILLS)], SCANNED)
    rows = [["leaves ahead", "external, ns", "internal, ns"]]
    for distance in (1, 2, 3, 4, 8):
        got = lab.measure(["scan=1000"], ("e8", "i8"), n, distance=distance,
                          rounds=rounds)["scan=1000"]
        rows.append([str(distance), "%.0f" % got.median("e8"),
                     "%.0f" % got.median("i8")])
    x.table("Distance of prefetching (k): scans of 1,000", rows)


def scan_claims(x, out, order, most):
    long, huge, ten = out["scan=1000"], out["scan=%d" % most], out["scan=10"]
    where = "3M keys, scattered, cold: "
    in_order = order["scan=%d" % most].gain("p8", "i8")
    used = "used for pages (src/tree/prefetch.c) and nodes (src/page/copy.c)"
    x.faster(9, "Fig. 10a", where + "scans of 1,000, internal array over B+ "
             "(%s: %.1f; external %.1f)" % (
                 short(most), huge.gain("b1", "i8"), long.gain("b1", "e8")),
             "6.5 to 8.7", long.speedup("b1", "i8"), 6.5, "", used)
    x.faster(10, "Fig. 10a", where + "scans of 1,000, p8B+ over B+",
             "3.5 to 3.7", long.speedup("b1", "p8"), 3.5, "", used)
    v = long.speedup("p8", "i8")
    verdict = at_least(v, 2)
    x.claim(11, "Fig. 10a", where + "scans of 1,000, internal array over p8B+",
            "about 2", v, "times faster",
            verdict if in_order >= 1.5 else verdict.replace("holds", "partly"),
            "only where leaves lie in no order; in order of building the gain "
            "is %.2f (%s), as the hardware sees a stream" % (
                in_order, short(most)), used)
    v = long.speedup("e8", "i8")
    x.claim(12, "Fig. 10a", where + "scans of 1,000, internal over external",
            "alike", v, "times faster", alike(v, 0.2), "",
            "internal: no other structure to keep")
    v = ten.speedup("p8", "e8")
    b = ten.gain("b1", "e8")
    slower = median(v) < 0.95
    x.claim(13, "Fig. 10a", where + "scans of 10, external array over p8B+",
            "slower than B+", v, "times faster",
            grade(slower and b < 1, slower),
            "%.2f times B+'s speed: the array's start costs less than the wide "
            "nodes gain" % b,
            "the window begins with the second leaf, src/tree/prefetch.c")


def updates(lab, x):
    """Figures 12 and 13."""
    n = 3000000
    trees = SCANNED + ("p16", "csb1", "v1", "v8")
    ops = 50000 if lab.quick else 100000
    outs = [("%d%%" % fill, lab.measure(["insert", "delete"], trees, n,
                                        fill=fill, ops=ops, rounds=3))
            for fill in ((70, 100) if lab.quick else FILLS)]
    for fill, out in outs:
        for test in ("insert", "delete"):
            x.speedups("Figure 12, 3M keys, %s full: %s" % (fill, test),
                       out[test], "b1", trees)
    x.table("Figure 13: insertions that split a leaf", [["fill"] + [
        outs[0][1]["insert"].trees[t]["label"] for t in trees]] + [[fill] + [
            "%.1f%%" % (100 * out["insert"].median(t, "splits") / ops)
            for t in trees] for fill, out in outs])
    x.pair("fig12", "Figure 12%s: %s, by fill factor",
           (("insertions", "insert"), ("deletions", "delete")), outs, SCANNED)
    v = min((o.speedup("b1", "p8") for _, out in outs for o in out.values()),
            key=median)
    x.faster(14, "Fig. 12", "3M keys, 60 to 100% full, warm: p8B+ over B+, the "
             "least of insertions and deletions", "1.24 to 1.52", v, 1.24, "",
             "used: an insertion finds its node as a search does")


def puts(lab, x):
    n = 1000000 if lab.quick else 3000000
    out = lab.measure(["insert"], MB_WRITTEN, n, fill=70, rounds=3)["insert"]
    x.speedups("Insertion, %s keys, 70%% full" % short(n), out, "v8",
               MB_WRITTEN)
    x.faster(30, "unsorted leaves", "%s keys, 70%% full, warm: put of keys "
             "known to be new, MB+ over p8B+ with SIMD" % short(n), "2 to 3",
             out.speedup("v8", "mbuniq"), 2,
             "over B+ %.2f; where the leaf is searched first, %.2f over p8B+: "
             "sorted leaves move little, and that is fast now" % (
                 out.gain("b1", "mbuniq"), out.gain("v8", "mbplus")),
             "used: leaf nodes without order, src/page/order.c")


def roots(lab, x):
    n = 3000000 if lab.quick else 16000000
    out = lab.measure(["search", "cold"], MB_READ, n)
    for test in ("cold", "search"):
        x.speedups("Searches, %s keys: %s" % (short(n), test), out[test],
                   "mbbin", MB_READ)
    v = out["cold"].speedup("mbbin", "mbplus")
    w = out["search"].gain("mbbin", "mbplus")
    low = median(v)
    x.claim(31, "root", "%s keys, cold: root searched by interpolation over "
            "binary search" % short(n), "a slight gain at 16M, more at 32M", v,
            "times faster", grade(low >= 1.02, max(low, w) >= 1),
            "warm %.2f; keys are uniform" % w,
            "as a guess of what to prefetch: src/tree/search.c")
    v = out["cold"].speedup("mbplus", "mbmid")
    w = out["search"].gain("mbplus", "mbmid")
    x.claim(33, "prefetching", "%s keys, cold: only middle nodes prefetched over "
            "leaves, too" % short(n), "prefetching leaves hurts", v,
            "times faster", grade(median(v) >= 1, w > 1),
            "warm %.2f. A leaf without order is read whole, and its lines come "
            "together if they are asked for; a processor has room for that "
            "many misses today" % w,
            "left out: nodes of all levels are prefetched, src/page/node.h")


def huge(lab, x):
    n = 3000000 if lab.quick else 16000000
    small, large = zip(*([lab.measure(
        ["search"], ("mbplus",), n, memory=memory, rounds=3)["search"].median(
            "mbplus") for memory in (0, 1)] for _ in range(lab.rounds)))
    v = [s / h for s, h in zip(small, large)]
    x.table("Searches, %s keys, warm, in turns" % short(n), [
        ["memory", "ns"], ["pages of 4 kB", "%.0f" % median(small)],
        ["huge pages", "%.0f" % median(large)]])
    x.faster(32, "large pages", "%s keys, warm: nodes in huge pages over pages "
             "of 4 kB" % short(n), "1.03 (root, middle), 1.20 (leaves)", v, 1.2,
             product="advised: docs/benchmarks.md, huge pages; no code")


FIGURES = {"fig7": searches, "fig8": fills, "mature": mature, "fig10": scans,
           "fig12": updates}
MB_FIGURES = {"mbput": puts, "mbroot": roots, "mbhuge": huge}
