"""An event model of the multi-disk B-trees of Seeger and Larson (SIGMOD 1991).

Trees are grown key by key, so that their pages are as full as random inserts
make them.  A scheme says which disks a query reads, and how many pages of each.
Tasks then put these reads into the disks' queues.  Nothing here is taken from
the paper but its parameters: test/disks compares the model with closed forms.
"""

import bisect
import heapq
import itertools
import math

DOMAIN = 1 << 40                # keys are below


# -- places of pages -------------------------------------------------------------


def window(disks):
    """Pages on each side that FindDisk looks at."""
    return math.ceil(disks / 2 - 1)


def find_disk(order, at, load, size):
    """The paper's FindDisk, for a page that would stand at place "at"."""
    near = set(order[max(0, at - size):at] + order[at:at + size])
    return min((d for d in range(len(load)) if d not in near),
               key=lambda d: (load[d], d))


class Places:
    """Disks of the pages of one level, in key order."""

    def __init__(self, disks, kind, rand):
        self.disks, self.kind, self.rand = disks, kind, rand
        self.size = window(disks)
        self.load = [0] * disks
        self.order = []
        self.moved = 0
        self.add(0)

    def choose(self, at):
        if self.kind == "random":
            return self.rand.randrange(self.disks)
        if self.kind == "turn":         # the emptiest, the first of several
            return self.load.index(min(self.load))
        return find_disk(self.order, at, self.load, self.size)

    def add(self, at):
        """A new page gets the place "at"."""
        disk = self.choose(at)
        self.order.insert(at, disk)
        self.load[disk] += 1

    def merge(self, at, move):
        """The page is merged with its neighbour; "move" as in section 7.

        The pages that have come together to the distance of the window are
        those that may be on one disk now: the right one of a pair is moved.
        """
        self.load[self.order.pop(at)] -= 1
        if not move:
            return
        for b in range(at, min(len(self.order), at + self.size)):
            a = b - self.size
            if a < 0 or self.order[a] != self.order[b]:
                continue
            self.load[self.order.pop(b)] -= 1
            self.moved += 1
            disk = find_disk(self.order, b, self.load, self.size)
            self.order.insert(b, disk)
            self.load[disk] += 1

    def apart(self):
        """Is there a page with its disk's next page within the window?"""
        return all(self.order[i] not in self.order[i + 1:i + 1 + self.size]
                   for i in range(len(self.order)))


def grow(disks, kind, pages, rand):
    """Places after as many splits, of pages that are drawn at random."""
    places = Places(disks, kind, rand)
    while len(places.order) < pages:
        places.add(rand.randrange(len(places.order)) + 1)
    return places


def slowest(order, disks, size):
    """For ranges of so many pages: most reads of one disk / ideal, of each."""
    count, ideal, out = [0] * disks, math.ceil(size / disks), []
    for i, disk in enumerate(order):
        count[disk] += 1
        if i >= size:
            count[order[i - size]] -= 1
        if i >= size - 1:
            out.append(max(count) / ideal)
    return out


# -- trees -----------------------------------------------------------------------


class Tree:
    """The leaves of a B-tree, grown by inserts; places are told of splits."""

    def __init__(self, capacity, places=None):
        self.capacity, self.places = capacity, places
        self.low, self.leaves = [-1], [[]]

    def insert(self, key):
        at = bisect.bisect_right(self.low, key) - 1
        leaf = self.leaves[at]
        bisect.insort(leaf, key)
        if len(leaf) > self.capacity:
            half = len(leaf) // 2
            self.leaves.insert(at + 1, leaf[half:])
            self.low.insert(at + 1, leaf[half])
            del leaf[half:]
            if self.places:
                self.places.add(at + 1)

    def load(self, keys, rand):
        """Begin with pages as full as random inserts leave them in the end.

        Of pages that split in halves one of fill x is as frequent as 1 / x^2,
        x of 1/2 to 1.  Few large pages take long to come to that by themselves:
        they split all at about the same time, and are half full or full.
        """
        keys = sorted(keys)
        self.low, self.leaves = [], []
        while keys:
            fill = 1 / (2 - rand.random())
            count = max(1, round(self.capacity * fill))
            self.low.append(keys[0] if self.low else -1)
            self.leaves.append(keys[:count])
            del keys[:count]

    def range(self, first, last):
        """The first leaf of a range of keys, and the one after the last."""
        return (bisect.bisect_right(self.low, first) - 1,
                bisect.bisect_right(self.low, last))

    def pages(self, first, last):
        return len(range(*self.range(first, last)))

    def fill(self):
        return sum(map(len, self.leaves)) / len(self.leaves) / self.capacity


# -- schemes ---------------------------------------------------------------------


class Scheme:
    """One way to lay keys out over disks.

    make(keys) makes the trees, with the first "loaded" keys; insert(key) adds
    one.  reads(first, last) are the pages that a range query wants of each
    disk, exact(key) those that a look-up wants.  Pages of synchronized disks
    count as one read of a single device with "width" accesses.
    """

    name = paper = ""
    width = 1
    loaded = 0

    def __init__(self, disks, capacity, keys, rand):
        self.disks, self.capacity, self.rand = disks, capacity, rand
        self.devices = disks
        self.make(keys)
        for key in keys[self.loaded:]:
            self.insert(key)

    def insert(self, key):
        self.tree.insert(key)

    def exact(self, key):
        return self.reads(key, key)


class Local(Scheme):
    """An ordinary tree whose pages are dealt out."""

    name, kind = "LOB-tree: local balancing", "local"
    paper = "LOB-tree"

    def make(self, keys):
        self.places = Places(self.disks, self.kind, self.rand)
        self.tree = Tree(self.capacity, self.places)

    def reads(self, first, last):
        need = [0] * self.disks
        for disk in self.places.order[slice(*self.tree.range(first, last))]:
            need[disk] += 1
        return need


class Turn(Local):
    name, kind, paper = "pages by turns (RAID-0)", "turn", ""


class Random(Local):
    name, kind, paper = "pages at random", "random", ""


class Records(Scheme):
    """A tree on each disk; disk(key) says which of them."""

    def make(self, keys):
        self.trees = [Tree(self.capacity) for _ in range(self.disks)]

    def insert(self, key):
        self.trees[self.disk(key)].insert(key)

    def reads(self, first, last):
        return [t.pages(first, last) for t in self.trees]


class Hash(Records):
    name = "HBB-tree: records by hash"
    paper = "HBB-tree"

    def disk(self, key):
        return (key * 0x9E3779B97F4A7C15 & (1 << 64) - 1) * self.disks >> 64

    def exact(self, key):
        disk = self.disk(key)
        return [int(d == disk) for d in range(self.disks)]


class RecordTurn(Records):
    """Which disk has a key is known to none: a look-up asks all."""

    name, made = "records by turns", 0

    def disk(self, key):
        self.made += 1
        return self.made % self.disks


class Range(Records):
    """Key ranges of equal numbers of records, parts of them a disk."""

    name, parts = "records by key range", 1

    def make(self, keys):
        n, keys = self.disks * self.parts, sorted(keys)
        self.bounds = [keys[len(keys) * i // n] for i in range(1, n)]
        self.trees = [Tree(self.capacity) for _ in range(n)]

    def disk(self, key):
        return bisect.bisect_right(self.bounds, key)

    def reads(self, first, last):
        need = [0] * self.disks
        for i in range(self.disk(first), self.disk(last) + 1):
            need[i % self.disks] += self.trees[i].pages(first, last)
        return need


class HybridRange(Range):
    name, parts = "hybrid range, 16 parts a disk", 16


class LargePages(Scheme):
    """Each page is spread over all disks, which are synchronized."""

    name = "SLB-tree: large pages, synchronized"
    paper = "SLB-tree"

    def make(self, keys):
        self.tree = Tree(self.capacity * self.disks)
        self.loaded = len(keys) // 2
        self.tree.load(keys[:self.loaded], self.rand)
        self.devices, self.width = 1, self.disks

    def reads(self, first, last):
        return [self.tree.pages(first, last)]


class Loose(LargePages):
    """The same on disks that turn as they like."""

    name, paper = "large pages, disks not synchronized", ""

    def make(self, keys):
        super().make(keys)
        self.devices, self.width = self.disks, 1

    def reads(self, first, last):
        return [self.tree.pages(first, last)] * self.disks


class Disorder(Loose):
    """Bounded disorder: a hash says which subpage has a key.

    One subpage in ten takes what overflows the others; a look-up that does not
    find its key reads it as well (one in twenty here).
    """

    name = "large pages, bounded disorder"
    overflow = 0.05

    def exact(self, key):
        need = [0] * self.disks
        need[Hash.disk(self, key) % (self.disks - 1)] = 1
        if self.rand.random() < self.overflow:
            need[-1] = 1
        return need


SCHEMES = (Local, Turn, Random, Hash, RecordTurn, Range, HybridRange,
           LargePages, Loose, Disorder)


# -- queues ----------------------------------------------------------------------


class Run:
    """What a run of tasks has taken."""

    def __init__(self, devices):
        self.busy = [0.0] * devices
        self.waits = []
        self.responses = []
        self.elapsed = 0.0

    def throughput(self):
        return len(self.responses) / self.elapsed

    def wait(self):
        return sum(self.waits) / len(self.waits)

    def response(self):
        return sum(self.responses) / len(self.responses)


class Tasks:
    """Tasks that each do one query after the other, as in section 8.2.

    A query's reads are known when it begins.  A task has one read at most
    under way on each device; each device serves one read after the other, in
    order of arrival.  query() says how many reads of each device the next
    query wants, service() what a read takes.
    """

    def __init__(self, devices, tasks, queries, query, service):
        self.query, self.service = query, service
        self.run = Run(devices)
        self.free = [0.0] * devices
        self.left = [queries] * tasks
        self.need = [[]] * tasks
        self.out = [0] * tasks
        self.began = [0.0] * tasks
        self.events = []
        self.number = itertools.count()

    def issue(self, task, device, now):
        start, took = max(now, self.free[device]), self.service()
        self.run.waits.append(start - now)
        self.run.busy[device] += took
        self.free[device] = start + took
        heapq.heappush(self.events,
                       (start + took, next(self.number), task, device))

    def begin(self, task, now):
        self.left[task] -= 1
        self.began[task] = now
        need = self.need[task] = list(self.query())
        for device, pages in enumerate(need):
            if pages:
                need[device] -= 1
                self.out[task] += 1
                self.issue(task, device, now)

    def go(self):
        for task in range(len(self.left)):
            self.begin(task, 0.0)
        while self.events:
            now, _, task, device = heapq.heappop(self.events)
            self.run.elapsed = now
            if self.need[task][device]:
                self.need[task][device] -= 1
                self.issue(task, device, now)
                continue
            self.out[task] -= 1
            if self.out[task] == 0:
                self.run.responses.append(now - self.began[task])
                if self.left[task]:
                    self.begin(task, now)
        return self.run


# -- closed forms ----------------------------------------------------------------


def mean_highest(balls, bins):
    """Expectation of the fullest of some bins, balls thrown at random.

    P(none has more than k) = n! / b^n [x^n] (sum of x^j / j!, j <= k)^b
    """
    mean = 0.0
    for k in range(balls):
        series = [1.0] + [0.0] * balls
        for _ in range(bins):
            series = [sum(series[n - j] / math.factorial(j)
                          for j in range(min(k, n) + 1))
                      for n in range(balls + 1)]
        mean += 1 - series[balls] * math.factorial(balls) / bins ** balls
    return mean


def heights(page=4096, entries=400, fill=math.log(2)):
    """The paper's Table 1: the largest file by height, and one of 2 GB.

    Of each: bytes of records, index levels, index pages in memory, accesses.
    """
    usual, data = int(entries * fill), page * fill
    lowest = 2e9 / data / usual         # lowest index pages of the 2 GB
    return [(entries * data, 1, 1, 1), (entries * usual * data, 2, 1, 2),
            (2e9, 3, 1 + math.floor(lowest / usual + 1), 2)]
