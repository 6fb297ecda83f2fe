"""A hundred million keys: a group of its own, as it takes the longest."""

from exp_pages import PAPER, SHOWN, product_rows
from labrun import Experiment, short

FIGURES = ()
TREES = ("p8", "vcsb8", "mbplus") + SHOWN
HUNDRED = 100000000


def run(lab, _only):
    """The processor's caches hold no level but the root; memory in huge pages
    and in small ones.
    """
    x = Experiment("hundred", PAPER)
    tests = ("search", "cold", "scan=1000", "space")
    for memory, name in ((1, "huge"), (0, "small")):
        out = lab.measure(tests, TREES, HUNDRED, fill=90, memory=memory,
                          rounds=3)
        x.table("The product's page: %s keys of 4 bytes, 8 kB, scattered, "
                "%s pages of memory" % (short(HUNDRED), name),
                product_rows(out, tests, TREES))
    return x
