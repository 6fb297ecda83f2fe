"""The event model of multidisk_model.py against closed forms.

test/disks runs all of it, bench/papers/multidisk does so before it measures.
"""

import math
import random

from multidisk_model import (SCHEMES, Hash, LargePages, Local, Places, Tasks,
                             Tree, grow, heights, mean_highest, slowest)

DISKS = (2, 3, 5, 8, 10, 20)


def near(got, wanted, part):
    return abs(got - wanted) <= part * abs(wanted)


class Checks:
    """Results by name; each method that begins with "of_" adds some."""

    def __init__(self):
        self.results = []

    def add(self, name, good, told=""):
        self.results.append((name, bool(good), str(told)))

    def close(self, name, got, wanted, part):
        self.add(name, near(got, wanted, part), "%.4g, %.4g" % (got, wanted))

    def all(self):
        for name in sorted(x for x in dir(self) if x.startswith("of_")):
            getattr(self, name)()
        return self.results

    # -- places ------------------------------------------------------------------

    def of_random(self):
        """Balls into bins: the loads of disks, and the slowest of a range."""
        rounds, pages, disks = 200, 400, 10
        square = 0.0
        for seed in range(rounds):
            load = grow(disks, "random", pages, random.Random(seed)).load
            square += sum((x - pages / disks) ** 2 for x in load) / disks
        self.close("variance of the load at random is N/p (1 - 1/p)",
                   square / rounds, pages / disks * (1 - 1 / disks), 0.1)
        order = grow(disks, "random", 20000, random.Random(1)).order
        for size in (2, 3, 10, 20):
            got = slowest(order, disks, size)
            self.close("slowest disk of %d pages at random" % size,
                       sum(got) / len(got),
                       mean_highest(size, disks) / math.ceil(size / disks),
                       0.02)

    def of_highest(self):
        self.add("two balls, p bins: 1 + 1/p",
                 all(near(mean_highest(2, p), 1 + 1 / p, 1e-9) for p in DISKS))
        p = 4                   # 1 of 16 all three in one, 6/16 in three
        self.close("three balls, four bins: by counting",
                   mean_highest(3, p), (3 * 1 + 2 * 9 + 1 * 6) / 16, 1e-9)

    def of_turn(self):
        for disks in DISKS:
            load = grow(disks, "turn", 1416, random.Random(2)).load
            self.add("by turns, %d disks: all within one page" % disks,
                     max(load) == -(-1416 // disks) and
                     min(load) == 1416 // disks, load)

    def of_local(self):
        """Theorem 7.1 and corollary 7.3."""
        for disks in DISKS:
            places = grow(disks, "local", 1500, random.Random(3))
            self.add("theorem 7.1, %d disks" % disks, places.apart())
            half = math.ceil(disks / 2)
            good = True
            for size in range(1, 4 * disks + 1):
                ideal = math.ceil(size / disks)
                most = max(slowest(places.order, disks, size)) * ideal
                good = good and round(most) <= math.ceil(size / half)
            self.add("corollary 7.3, %d disks" % disks, good)

    def of_merges(self):
        """Moves keep theorem 7.1; without them it is broken."""
        for disks in DISKS[1:]:
            rand = random.Random(4)
            places = grow(disks, "local", 600, rand)
            still = Places(disks, "local", rand)
            still.order, still.load = list(places.order), list(places.load)
            good = True
            for _ in range(400):
                at = rand.randrange(len(places.order))
                places.merge(at, True)
                still.merge(at, False)
                good = good and places.apart()
            self.add("moves keep theorem 7.1 after each of 400 merges, "
                     "%d disks" % disks, good)
            self.add("loads are those of the pages, %d disks" % disks,
                     places.load == [places.order.count(d)
                                     for d in range(disks)])
            if places.size > 1:
                self.add("no moves, %d disks: it is broken" % disks,
                         not still.apart() and places.moved > 0)

    # -- trees -------------------------------------------------------------------

    def of_trees(self):
        rand = random.Random(5)
        tree = Tree(40)
        keys = rand.sample(range(1 << 40), 60000)
        for key in keys:
            tree.insert(key)
        self.close("random inserts fill pages to ln 2", tree.fill(),
                   math.log(2), 0.02)
        self.add("all keys are there, in order",
                 [k for leaf in tree.leaves for k in leaf] == sorted(keys))
        part, total = len(keys) // 50, 0
        keys.sort()
        for _ in range(2000):
            i = rand.randrange(len(keys) - part)
            total += tree.pages(keys[i], keys[i + part])
        self.close("a range of f n keys reads 1 + f N pages", total / 2000,
                   1 + len(tree.leaves) / 50, 0.02)

    def of_load(self):
        """Steady state: as full, and kept so by the inserts that follow."""
        rand = random.Random(10)
        keys = rand.sample(range(1 << 40), 120000)
        tree = Tree(100)
        tree.load(keys[:60000], rand)
        first = tree.fill()
        for key in keys[60000:]:
            tree.insert(key)
        self.add("pages loaded as after random inserts: ln 2, and they stay so",
                 near(first, math.log(2), 0.02) and
                 near(tree.fill(), math.log(2), 0.02),
                 "%.3f %.3f" % (first, tree.fill()))
        self.add("all loaded keys are there, in order",
                 [k for leaf in tree.leaves for k in leaf] == sorted(keys))

    def of_schemes(self):
        """Each scheme reads the pages that have keys of a range, once."""
        rand = random.Random(6)
        keys = rand.sample(range(1 << 40), 8000)
        ordered = sorted(keys)
        for kind in SCHEMES:
            scheme = kind(10, 10, keys, random.Random(7))
            trees = getattr(scheme, "trees", None) or [scheme.tree]
            held = sorted(k for t in trees for leaf in t.leaves for k in leaf)
            pages = sum(len(t.leaves) for t in trees)
            whole = sum(scheme.reads(0, 1 << 41))
            if kind.width == 1 and not issubclass(kind, LargePages):
                good = whole == pages
            else:
                good = whole == pages * scheme.devices
            self.add("%s: all keys, all pages" % scheme.name,
                     held == ordered and good, "%d, %d" % (whole, pages))
        hashed = Hash(10, 10, keys, rand)
        self.add("a look-up by hash asks one disk, of local balancing too",
                 all(sum(hashed.exact(k)) == 1 for k in keys[:500]) and
                 all(sum(Local(10, 10, keys[:900], rand).exact(k)) == 1
                     for k in keys[:500:50]))

    def of_heights(self):
        """Table 1 of the paper: 1.1 MB, 300 MB, 2 GB with 11 pages."""
        small, middle, large = heights()
        self.add("Table 1", near(small[0], 1.1e6, 0.05) and
                 near(middle[0], 300e6, 0.05) and large[2] == 11 and
                 (small[3], middle[3], large[3]) == (1, 2, 2),
                 "%s %s %s" % (small, middle, large))

    # -- queues ------------------------------------------------------------------

    @staticmethod
    def tasks(devices, tasks, queries, query, service=lambda: 1.0):
        return Tasks(devices, tasks, queries, query, service).go()

    def of_one_task(self):
        """No queues: a query takes as long as its slowest disk."""
        rand = random.Random(8)
        wants = [[rand.randrange(1, 5) for _ in range(6)] for _ in range(300)]
        given = iter(wants)
        run = self.tasks(6, 1, 300, lambda: next(given))
        self.add("one task: the sum of slowest disks, no wait",
                 run.elapsed == sum(map(max, wants)) and run.wait() == 0 and
                 run.busy == [sum(x) for x in zip(*wants)])
        self.add("one task: each response is its slowest disk",
                 run.responses == list(map(max, wants)))

    def of_one_disk(self):
        """A single server is never idle; the others are before me."""
        tasks, queries = 20, 500
        run = self.tasks(1, tasks, queries, lambda: [1])
        self.add("one disk: busy all the time",
                 run.elapsed == tasks * queries == run.busy[0])
        self.close("one disk: waits are of the other tasks", run.wait(),
                   tasks - 1, 0.01)
        self.close("one disk: tasks = throughput x response (Little)",
                   run.throughput() * run.response(), tasks, 0.01)

    def of_closed_network(self):
        """Exponential service, one read a query: T / (T + p - 1) busy."""
        for disks, tasks in ((10, 20), (4, 3)):
            rand = random.Random(9)

            def query(disks=disks, rand=rand):
                need = [0] * disks
                need[rand.randrange(disks)] = 1
                return need

            run = self.tasks(disks, tasks, 60000 // tasks, query,
                             lambda rand=rand: rand.expovariate(1))
            self.close("%d tasks, %d disks: reads a service time" % (
                tasks, disks), run.throughput(),
                       disks * tasks / (tasks + disks - 1), 0.02)
