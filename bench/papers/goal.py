"""Goal G of the fpB+ paper: widths of the nodes of an in-page tree.

"Maximize the page fan-out while maintaining the analytical search cost to be
within 10% of the optimal" (section 3.1.1).  As test/kernel/goal.c explains, each
pair of widths has the number of levels, two or more, that uses the most of a
page, and the optimum is the cheapest of all pairs.  With the paper's latencies
this gives its Table 2, but for pages of 16 kB, where the paper has leaf nodes of
8 lines and goal G those of 9, whose fan-out is larger.
"""

LINE = 64
PAGES = (4096, 8192, 16384, 32768)

# Table 2: nonleaf bytes, leaf bytes, fan-out; node bytes and fan-out of
# cache-first; bytes of a sub-array and fan-out of micro-indexing
TABLE2 = {4096: (64, 384, 470, 576, 497, 128, 496),
          8192: (192, 256, 961, 576, 994, 192, 1008),
          16384: (192, 512, 1953, 704, 2001, 320, 2032),
          32768: (256, 832, 4017, 640, 4029, 320, 4064)}


def leaves(room, levels, nonleaf, leaf, fan):
    """The most leaf nodes of a tree of so many levels in the room."""
    best = 0
    for n in range(1, min(room // leaf, fan ** (levels - 1)) + 1):
        used, nodes = n * leaf, n
        for _ in range(levels - 1):
            nodes = -(-nodes // fan)
            used += nodes * nonleaf
        if used > room:
            break
        best = n
    return best


def tree(page, w, x, key):
    """Fan-out and levels of a page with nodes of w and x lines."""
    nonleaf, leaf = w * LINE, x * LINE
    fan, entries = (nonleaf - key) // (key + 2), (leaf - 8) // (key + 4)
    best = (0, 0)
    for levels in range(2, 7):
        n = leaves(page - LINE, levels, nonleaf, leaf, fan)
        if n * entries > best[0]:
            best = (n * entries, levels)
    return best


def cost(levels, w, x, t1, tnext):
    return (levels - 1) * (t1 + (w - 1) * tnext) + t1 + (x - 1) * tnext


def disk_first(page, t1=150, tnext=10, key=4, widest=32):
    """Nonleaf bytes, leaf bytes, fan-out, levels, cost / optimum."""
    found = []
    for w in range(1, widest + 1):
        for x in range(1, widest + 1):
            fan, levels = tree(page, w, x, key)
            if fan > 0:
                found.append((fan, cost(levels, w, x, t1, tnext), levels, w, x))
    least = min(c for _, c, *_ in found)
    fan, c, levels, w, x = max(
        (f for f in found if f[1] <= 1.1 * least), key=lambda f: (f[0], -f[1]))
    return w * LINE, x * LINE, fan, levels, c / least
