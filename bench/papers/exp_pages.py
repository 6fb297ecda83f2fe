"""Fractal prefetching B+-trees: trees of pages."""

from labrun import at_least, grade, kb, median, short, within

PAPER = "fpB+ (Chen, Gibbons, Mowry, Valentin 2002)"
TREES = ("sorted", "sortedb", "micro", "vmicro", "diskfirst", "vdiskfirst",
         "cachefirst", "vcachefirst", "nbtree", "product")
DRAWN = ("sorted", "micro", "diskfirst", "cachefirst")
SHOWN = ("sorted", "diskfirst", "cachefirst", "nbtree", "product")
HUNDRED_TREES = ("p8", "vcsb8", "mbplus") + SHOWN
HUNDRED = 100000000
DISK_FIRST = "used: src/page"
MEMMOVE = ("the direction is right: it grows with the page; moving half a "
           "sorted array takes the less the faster a processor copies, and "
           "today's copies tens of bytes a cycle")

PAGES = (4096, 8192, 16384, 32768)

# Table 2: fan-outs of disk-first, cache-first and micro-indexing
TABLE2 = {4096: (470, 497, 496), 8192: (961, 994, 1008),
          16384: (1953, 2001, 2032), 32768: (4017, 4029, 4064)}


def medians(outs, base, tree):
    """Speed-ups by page size, for a claim's text."""
    return ", ".join("%s %.2f" % (kb(page), out.gain(base, tree))
                     for page, out in sorted(outs.items()))


def searches(lab, x):
    """Figure 10: searches by number of keys and page size.

    Not a million keys: with these some pages make one level more than others.
    """
    n = 3000000 if lab.quick else 10000000
    warm, cold = {}, {}
    for page in PAGES:
        out = lab.measure(["search", "cold"], TREES, n, page=page)
        warm[page], cold[page] = out["search"], out["cold"]
        x.searches("Figure 10, %s keys, %s" % (short(n), kb(page)), out,
                   "sorted", TREES)
    x.plot("fpfig10", "Figure 10: searches, cold, by page size", "ns",
           [(kb(p), o) for p, o in cold.items()], DRAWN)
    where = "%s keys, scattered, " % short(n)
    v = cold[16384].speedup("sorted", "diskfirst")
    w = cold[8192].speedup("sorted", "diskfirst")
    verdict = at_least(v, 1.41)
    x.claim(16, "Fig. 10", where + "cold, 16 kB: disk-first over the "
            "disk-optimized page", "1.41 or more; 8 kB: 1.25 to 1.77", v,
            "times faster",
            verdict if at_least(w, 1.25) == verdict else "partly",
            "by page size: cold %s; warm %s" % (
                medians(cold, "sorted", "diskfirst"),
                medians(warm, "sorted", "diskfirst")), DISK_FIRST)
    v = cold[8192].speedup("diskfirst", "micro")
    c = cold[8192].gain("diskfirst", "cachefirst")
    near = 0.9 <= median(v) <= 1.1
    x.claim(17, "Fig. 10", where + "cold, 8 kB: micro-indexing over disk-first",
            "within a few percent; cache-first ahead at 4 kB", v,
            "times faster", grade(near and c < 1.1, near or c < 1.1),
            "cache-first over disk-first: %s; warm %s. A tree without a root in "
            "each page has fewer nodes on the way, each a miss that waits for "
            "the one before" % (
                medians(cold, "diskfirst", "cachefirst"),
                medians(warm, "diskfirst", "cachefirst")),
            "disk-first is used; the second miss of a page is guessed, "
            "src/tree/search.c")


def insertions(lab, x):
    """Figure 13, and the first half of the claim on micro-indexing."""
    n = 3000000
    fills = {}
    for fill in (60, 90) if lab.quick else (60, 70, 80, 90, 100):
        fills[fill] = lab.measure(["insert"], TREES, n, fill=fill, page=16384,
                                  rounds=3)["insert"]
        x.speedups("Figure 13a, %s keys, 16 kB, %d%% full" % (short(n), fill),
                   fills[fill], "sorted", TREES)
    pages = {page: lab.measure(["insert"], TREES, n, fill=70, page=page,
                               rounds=3)["insert"]
             for page in (4096, 8192, 32768)}
    for page, out in pages.items():
        x.speedups("Figure 13d, %s keys, 70%% full, %s" % (short(n), kb(page)),
                   out, "sorted", TREES)
    x.plot("fpfig13d", "Figure 13d: insertions, 70% full, by page size", "ns",
           [(kb(p), o) for p, o in pages.items()], DRAWN)
    x.faster(18, "Fig. 13a", "%s keys, 16 kB, 90%% full, warm: insertion, "
             "disk-first over the disk-optimized page (60%%: %.1f; cache-first "
             "%.1f)" % (short(n), fills[60].gain("sorted", "diskfirst"),
                        fills[90].gain("sorted", "cachefirst")),
             "14 to 20", fills[90].speedup("sorted", "diskfirst"), 14, MEMMOVE,
             "used for the bytes that a change logs, not for time: src/page")
    x.faster(19, "Fig. 13d", "%s keys, 70%% full, 32 kB, warm: insertion, "
             "disk-first over the disk-optimized page" % short(n),
             "35.6; 4 kB: 4.7",
             pages[32768].speedup("sorted", "diskfirst"), 35.6,
             medians(pages, "sorted", "diskfirst") + "; " + MEMMOVE, DISK_FIRST)
    v = fills[90].speedup("sorted", "micro")
    x.claim(20, "Fig. 13, 14", "%s keys, 16 kB, 90%% full: insertion, "
            "micro-indexing over the disk-optimized page" % short(n),
            "as bad", v, "times faster", grade(0.8 <= median(v) <= 1.25, True),
            "", "left out")


def deletions(lab, x):
    """Figure 14b."""
    n = 3000000
    outs = {page: lab.measure(["delete"], DRAWN, n, page=page,
                              rounds=3)["delete"] for page in PAGES}
    for page, out in outs.items():
        x.speedups("Figure 14b, %s keys, 100%% full, %s" % (short(n), kb(page)),
                   out, "sorted", DRAWN)
    x.faster(21, "Fig. 14b", "%s keys, 100%% full, 16 kB, warm: lazy deletion, "
             "disk-first over the disk-optimized page" % short(n),
             "3.2 to 20.4, 4 to 32 kB",
             outs[16384].speedup("sorted", "diskfirst"), 3.2,
             medians(outs, "sorted", "diskfirst") + "; cache-first " +
             medians(outs, "sorted", "cachefirst") + "; " + MEMMOVE,
             "entries do not move at all; VACUUM: src/page/remove.c")


def scans(lab, x):
    """Figure 15."""
    n, long = (3000000, 300000) if lab.quick else (3000000, 1000000)
    trees = DRAWN + ("nbtree", "product")
    tests = ["scan=100", "scan=1000", "scan=%d" % long]
    out = lab.measure(tests, trees, n, page=16384, rounds=3)
    for test in tests:
        x.speedups("Figure 15, %s keys, 16 kB: %s" % (short(n), test),
                   out[test], "sorted", trees)
    huge = out[tests[-1]]
    x.faster(22, "Fig. 15", "%s keys, scattered, 16 kB, cold: scans of %s, "
             "disk-first over the disk-optimized page" % (
                 short(n), short(long)), "4.2; cache-first 3.5",
             huge.speedup("sorted", "diskfirst"), 4.2,
             "cache-first %.2f. The array of a sorted page is a stream, which "
             "processors fetch ahead today; nodes are not. Scans of 100: %.2f, "
             "of 1,000: %.2f" % (
                 huge.gain("sorted", "cachefirst"),
                 out["scan=100"].gain("sorted", "diskfirst"),
                 out["scan=1000"].gain("sorted", "diskfirst")),
             "used: src/page/copy.c; an entry costs the executor many times as "
             "much")


def overhead(space, tree):
    """Percent over the disk-optimized pages."""
    return 100 * (space.median(tree) / space.median("sorted") - 1)


def by_page(outs, tree):
    return ", ".join("%s %+.1f%%" % (kb(page), overhead(out, tree))
                     for page, out in sorted(outs.items()))


def overhead_claim(x, number, figure, workload, says, outs, most, more="",
                   product="disk-first is used: src/page"):
    """most: percent, which disk-first is below, and cache-first not above."""
    disk, cache = ([overhead(o, t) for o in outs.values()]
                   for t in ("diskfirst", "cachefirst"))
    fine = max(disk) < most[0], max(cache) <= most[1]
    x.claim(number, figure, "%s over the disk-optimized page, 4 to 32 kB "
            "(cache-first %s)" % (workload, by_page(outs, "cachefirst")), says,
            disk, "%", grade(all(fine), any(fine)),
            "disk-first %s; cache-first %s%s" % (
                by_page(outs, "diskfirst"), by_page(outs, "cachefirst"), more),
            product)


def space_claim(x, number, figure, where, space, limit):
    """limit: of disk-first, of cache-first, in percent."""
    x.table("%s, %s: bytes beside the disk-optimized page" % (figure, where), [
        ["page"] + list(DRAWN) + ["overflow pages"]] + [
            [kb(page)] + ["%+.1f%%" % overhead(out, t) for t in DRAWN] +
            [str(out.trees["cachefirst"]["overflow"])]
            for page, out in sorted(space.items())])
    overhead_claim(x, number, figure, where + ": space of disk-first",
                   "disk-first below %d%%, cache-first below %d%%" % limit,
                   space, (limit[0], limit[1] * 1.05))


def pages(lab, x):
    """Table 2, Figures 16 and 17: space, and pages that searches read."""
    n = 3000000 if lab.quick else 10000000
    m = 300000 if lab.quick else 3000000
    full, old = ([lab.measure(["space", "io"], DRAWN, keys, page=page,
                              scattered=False, mature=keys == m)
                  for page in PAGES] for keys in (n, m))
    space, old_space, io, old_io = (
        {page: out[test] for page, out in zip(PAGES, outs)}
        for test in ("space", "io") for outs in (full, old))
    space_claim(x, 23, "Fig. 16a", "%s keys, loaded to 100%%" % short(n),
                space, (9, 5))
    space_claim(x, 24, "Fig. 16b", "%s keys, mature" % short(m), old_space,
                (9, 36))
    for outs, where in ((io, "%s keys, loaded" % short(n)),
                        (old_io, "%s keys, mature" % short(m))):
        x.table("Figure 17, %s: distinct pages of 2,000 searches" % where, [
            ["page"] + list(DRAWN)] + [
                [kb(page)] + ["%d" % out.median(t) for t in DRAWN]
                for page, out in outs.items()])
    overhead_claim(x, 25, "Fig. 17a", "%s keys, loaded: pages that 2,000 "
                   "searches read, disk-first" % short(n),
                   "disk-first below 3% more, cache-first to 25%", io, (3, 25),
                   "; mature: " + by_page(old_io, "cachefirst"),
                   "disk-first is used, as it reads fewer pages")
    fan_outs(x, space)


def fan_outs(x, space):
    both = {page: [(out.trees[t]["leaf_entries"], paper) for t, paper in zip(
        ("diskfirst", "cachefirst", "micro"), TABLE2[page])]
            for page, out in sorted(space.items())}
    x.table("Table 2: entries of a leaf page", [
        ["page", "disk-first", "paper", "cache-first", "paper",
         "micro-indexing", "paper"]] + [
             [kb(page)] + [str(n) for pair in pairs for n in pair]
             for page, pairs in both.items()])
    ratio = [a / b for pairs in both.values() for a, b in pairs]
    x.claim(26, "Table 2", "4-byte keys, pages of 4 to 32 kB: entries of a leaf "
            "page, ours over the paper's",
            "470 961 1953 4017; 497 994 2001 4029; 496 1008 2032 4064", ratio,
            "of the paper's", within(ratio, 1, 1, 0.02),
            "disk-first and cache-first to the entry; micro-indexing has a "
            "header of a line here", "goal G: src/page/widths.c")


def product(lab, x):
    """The product's page beside the papers', keys of 4 and of 8 bytes.

    Counts and times of one kind of tree each; not a figure of a paper.
    """
    n = 3000000 if lab.quick else 10000000
    tests = ("search", "cold", "scan=1000", "space")
    for key in (4, 8):
        out = lab.measure(tests, SHOWN, n, fill=90, key=key)
        out.update(lab.measure(["insert"], SHOWN, n // 4, fill=70, key=key))
        x.table("The product's page: %s keys of %d bytes, 8 kB, scattered" % (
            short(n), key), product_rows(out, tests + ("insert",), SHOWN))


def product_rows(out, tests, trees):
    """A line a tree: medians, and the ratio to btree's page."""
    rows = [["tree"] + [cell for t in tests for cell in (
        "%s, %s" % (t.replace("=", " of "), out[t].line["unit"]),
        "of btree's")]]
    for tree in trees:
        values = [(out[t].median(tree), out[t].median("nbtree"))
                  for t in tests]
        rows.append([out["search"].trees[tree]["label"]] + [
            cell for v, base in values
            for cell in ("%.4g" % v, "%.2f" % (v / base))])
    return rows


def hundred(lab, x):
    """The processor's caches hold no level but the root; memory in huge pages
    and in small ones.
    """
    tests = ("search", "cold", "scan=1000", "space")
    for memory, name in ((1, "huge"), (0, "small")):
        out = lab.measure(tests, HUNDRED_TREES, HUNDRED, fill=90, memory=memory,
                          rounds=3)
        x.table("The product's page: %s keys of 4 bytes, 8 kB, scattered, "
                "%s pages of memory" % (short(HUNDRED), name),
                product_rows(out, tests, HUNDRED_TREES))


FIGURES = {"product": product, "fpfig10": searches, "fpfig13": insertions,
           "fpfig14": deletions, "fpfig15": scans, "fpfig16": pages}
