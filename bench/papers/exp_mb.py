"""Modularizing B+-trees: three levels, a large root."""

from labrun import quantile, short, speedups

PAPER = "MB+ (Sasaki, Araki)"
READ = ("mbplus", "mbbin", "mbless", "mbmid", "mbnone")
WRITTEN = ("v8", "b1", "mbplus", "mbuniq")


def puts(lab, x):
    n = 1000000 if lab.quick else 3000000
    out = lab.measure(["insert"], WRITTEN, n, fill=70, rounds=3)["insert"]
    x.table("Insertion, %s keys, 70%% full" % short(n),
            speedups(out, "v8", WRITTEN))
    x.faster(30, "unsorted leaves", "%s keys, 70%% full, warm: put of keys "
             "known to be new, MB+ over p8B+ with SIMD" % short(n), "2 to 3",
             out.speedup("v8", "mbuniq"), 2,
             "over B+ %.2f; where the leaf is searched first, %.2f over p8B+: "
             "sorted leaves move little, and that is fast now" % (
                 quantile(out.speedup("b1", "mbuniq"), 0.5),
                 quantile(out.speedup("v8", "mbplus"), 0.5)),
             "used: leaf nodes without order, src/page/order.c")


def roots(lab, x):
    n = 3000000 if lab.quick else 16000000
    out = lab.measure(["search", "cold"], READ, n)
    for test in ("cold", "search"):
        x.table("Searches, %s keys: %s" % (short(n), test),
                speedups(out[test], "mbbin", READ))
    v = out["cold"].speedup("mbbin", "mbplus")
    w = quantile(out["search"].speedup("mbbin", "mbplus"), 0.5)
    low = quantile(v, 0.5)
    x.claim(31, "root", "%s keys, cold: root searched by interpolation over "
            "binary search" % short(n), "a slight gain at 16M, more at 32M", v,
            "times faster", "holds" if low >= 1.02 else
            "partly" if max(low, w) >= 1 else "refuted",
            "warm %.2f; keys are uniform" % w,
            "as a guess of what to prefetch: src/tree/search.c")
    v = out["cold"].speedup("mbplus", "mbmid")
    w = quantile(out["search"].speedup("mbplus", "mbmid"), 0.5)
    worse = quantile(v, 0.5) < 1
    x.claim(33, "prefetching", "%s keys, cold: only middle nodes prefetched over "
            "leaves, too" % short(n), "prefetching leaves hurts", v,
            "times faster", "partly" if worse and w > 1 else
            "refuted" if worse else "holds",
            "warm %.2f. A leaf without order is read whole, and its lines come "
            "together if they are asked for; a processor has room for that "
            "many misses today" % w,
            "left out: nodes of all levels are prefetched, src/page/node.h")


def huge(lab, x):
    n = 3000000 if lab.quick else 16000000
    small, large = [], []
    for _ in range(lab.rounds):
        for memory, to in ((0, small), (1, large)):
            out = lab.measure(["search"], ("mbplus",), n, memory=memory,
                              rounds=3)
            to.append(out["search"].median("mbplus"))
    v = [s / h for s, h in zip(small, large)]
    x.table("Searches, %s keys, warm, in turns" % short(n), [
        ["memory", "ns"], ["pages of 4 kB", "%.0f" % quantile(small, 0.5)],
        ["huge pages", "%.0f" % quantile(large, 0.5)]])
    x.faster(32, "large pages", "%s keys, warm: nodes in huge pages over pages "
             "of 4 kB" % short(n), "1.03 (root, middle), 1.20 (leaves)", v, 1.2,
             product="advised: docs/benchmarks.md, huge pages; no code")


FIGURES = {"mbput": puts, "mbroot": roots, "mbhuge": huge}
