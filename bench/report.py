"""Samples to medians, quartiles, ratios and tables; figures for bench/summary.

Python's standard library only.
"""

import json
import os
import re
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def quantile(values, q):
    """Quantile by linear interpolation; values need not be sorted."""
    v = sorted(values)
    pos = (len(v) - 1) * q
    low = int(pos)
    high = min(low + 1, len(v) - 1)
    return v[low] + (v[high] - v[low]) * (pos - low)


def summary(values):
    return {"median": quantile(values, 0.5), "q1": quantile(values, 0.25),
            "q3": quantile(values, 0.75), "mean": sum(values) / len(values),
            "samples": list(values)}


class Result:
    """One line of the table.

    ref and cand are the samples of the reference (btree) and of the candidate
    (fptree), one a round, the same round at the same place.  The ratio is that
    of the medians, its spread the quartiles of the rounds' own ratios.  With
    total=True it is the ratio of the sums: for a workload whose rounds are
    different stages of one long run.
    """

    def __init__(self, group, name, unit, ref, cand, target=None,
                 at_least=False, total=False, note=None):
        self.group = group
        self.name = name
        self.unit = unit
        self.ref = summary(ref)
        self.cand = summary(cand)
        self.target = target
        self.at_least = at_least
        self.total = total
        self.note = note
        ratios = [c / r for c, r in zip(cand, ref) if r > 0]
        if total:
            top, bottom = sum(cand), sum(ref)
        else:
            top, bottom = self.cand["median"], self.ref["median"]
        self.ratio = top / bottom if bottom > 0 else None
        self.ratio_q1 = quantile(ratios, 0.25) if ratios else None
        self.ratio_q3 = quantile(ratios, 0.75) if ratios else None

    @classmethod
    def of_quartiles(cls, group, name, unit, ref, cand, speedup, target=None):
        """From [q1, median, q3] of each side and of reference / candidate."""
        result = cls(group, name, unit, ref, cand, target)
        for side, given in ((result.ref, ref), (result.cand, cand)):
            side["q1"], side["median"], side["q3"] = given
        result.ratio = 1 / speedup[1]
        result.ratio_q1, result.ratio_q3 = 1 / speedup[2], 1 / speedup[0]
        return result

    @classmethod
    def of_dict(cls, line):
        """What as_dict() made of it."""
        result = cls(line["group"], line["name"], line["unit"],
                     line["reference"]["samples"],
                     line["candidate"]["samples"], line["target"],
                     line["target_is"] == "at least",
                     line["ratio_of"] == "means", line["note"])
        result.ref, result.cand = line["reference"], line["candidate"]
        result.ratio = line["ratio"]
        result.ratio_q1, result.ratio_q3 = line["ratio_q1"], line["ratio_q3"]
        return result

    def verdict(self):
        if self.target is None or self.ratio is None:
            return ""
        if self.at_least:
            good = self.ratio >= self.target
        else:
            good = self.ratio <= self.target
        return "ok" if good else "MISSED"

    def as_dict(self):
        return {"group": self.group, "name": self.name, "unit": self.unit,
                "reference": self.ref, "candidate": self.cand,
                "ratio": self.ratio, "ratio_q1": self.ratio_q1,
                "ratio_q3": self.ratio_q3,
                "ratio_of": "means" if self.total else "medians",
                "target": self.target,
                "target_is": "at least" if self.at_least else "at most",
                "verdict": self.verdict(), "note": self.note}


def number(x):
    if x is None:
        return "-"
    if abs(x) >= 1000:
        return "%.0f" % x
    if abs(x) >= 100:
        return "%.1f" % x
    return "%.3g" % x


def spread(s, middle):
    text = number(s[middle])
    if len(s["samples"]) > 1:
        text += " [%s %s]" % (number(s["q1"]), number(s["q3"]))
    return text


def ratio_text(result):
    text = "-" if result.ratio is None else "%.3f" % result.ratio
    if len(result.ref["samples"]) > 1 and result.ratio_q1 is not None:
        text += " [%.3f %.3f]" % (result.ratio_q1, result.ratio_q3)
    return text


def target_text(result, at_least=">=", at_most="<="):
    if result.target is None:
        return ""
    return "%s %.2f" % (at_least if result.at_least else at_most,
                        result.target)


def columns(result):
    middle = "mean" if result.total else "median"
    return [result.name, result.unit, spread(result.ref, middle),
            spread(result.cand, middle), ratio_text(result),
            target_text(result), result.verdict()]


def header(ref, cand):
    return ["workload", "unit", ref, cand, "ratio", "target", ""]


def rows_of_table(results, ref, cand):
    """Header and lines; without columns for targets where there are none."""
    rows = [header(ref, cand)] + [columns(r) for r in results]
    if all(r.target is None for r in results):
        rows = [row[:-2] for row in rows]
    return rows


def text_table(results, ref, cand):
    rows = rows_of_table(results, ref, cand)
    width = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    out = []
    for n, row in enumerate(rows):
        out.append("  ".join(c.ljust(w) for c, w in zip(row, width)).rstrip())
        if n == 0:
            out.append("  ".join("-" * w for w in width))
    return "\n".join(out)


def markdown_table(results, ref, cand):
    rows = rows_of_table(results, ref, cand)
    out = ["| " + " | ".join(row) + " |" for row in rows]
    out.insert(1, "|---" * len(rows[0]) + "|")
    return "\n".join(out) + "\n"


def version_name(server):
    """What a column is called: of "PostgreSQL 15.20 (Debian ...)" 15.20."""
    return server.split()[1]


def rounds_text(rounds):
    """Of a set of numbers of rounds."""
    if rounds == {1}:
        return "1 round"
    return " to ".join("%d" % n for n in sorted({min(rounds), max(rounds)})) + \
        " rounds"


def keyed(results):
    """Results by their name, group, and number among those of that name."""
    out, seen = {}, {}
    for result in results:
        name = (result.group, result.name)
        seen[name] = seen.get(name, 0) + 1
        out[name + (seen[name],)] = result
    return out


class Versions:
    """Results of several servers side by side, of runs (meta, results).

    A line that was measured more than once is as in the last run.
    """

    def __init__(self, runs):
        self.order = []             # keys of the lines
        self.servers = {}           # name: {key: (meta, result)}
        self.sides = (runs[0][0]["reference"], runs[0][0]["candidate"])
        for meta, results in runs:
            lines = self.servers.setdefault(version_name(meta["server"]), {})
            for key, result in keyed(results).items():
                if key not in self.order:
                    self.order.append(key)
                lines[key] = meta, result
        self.names = sorted(self.servers, key=lambda name: int(
            re.match("[0-9]+", name).group()))

    def results(self, name):
        return [result for _, result in self.servers[name].values()]

    def measured(self, name):
        """On what server, how many rows and rounds, when."""
        rounds = {}
        for meta, _ in self.servers[name].values():
            rounds.setdefault((meta["rows"], meta["date"][:10]),
                              set()).add(meta["rounds"])
        said = ["{:,} rows, {}, {}".format(rows, rounds_text(n), day)
                for (rows, day), n in sorted(rounds.items(), reverse=True)]
        return "%s: %s" % (meta["server"], "; ".join(said))

    def table(self):
        """A column of ratios for each server."""
        out = ["Ratio of medians, %s / %s, [quartiles of the rounds' "
               "ratios].\n" % self.sides[::-1]]
        out += ["* " + self.measured(name) for name in self.names]
        out.append("\n| workload | target | " + " | ".join(self.names) + " |")
        out.append("|---" * (len(self.names) + 2) + "|")
        for key in self.order:
            found = [self.servers[name].get(key, (None, None))[1]
                     for name in self.names]
            some = next(r for r in found if r is not None)
            cells = ["-" if r is None else
                     " ".join(filter(None, (ratio_text(r), r.verdict())))
                     for r in found]
            out.append("| %s | %s | %s |" % (
                some.name, target_text(some, "\u2265", "\u2264"),
                " | ".join(cells)))
        return "\n".join(out) + "\n"


def write_json(path, runs):
    """One run as an object, several as an array."""
    docs = [{"meta": meta, "results": [r.as_dict() for r in results]}
            for meta, results in runs]
    with open(path, "w", encoding="utf-8") as f:
        json.dump(docs[0] if len(docs) == 1 else docs, f, indent=1)
        f.write("\n")


def read_json(paths):
    """The runs of several such files."""
    runs = []
    for path in paths:
        with open(path, encoding="utf-8") as f:
            docs = json.load(f)
        for doc in docs if isinstance(docs, list) else [docs]:
            runs.append((doc["meta"],
                         [Result.of_dict(line) for line in doc["results"]]))
    return runs


def on_disk_format():
    """The number of the format that the sources write."""
    path = os.path.join(HERE, "..", "src", "page", "format.h")
    with open(path, encoding="utf-8") as f:
        return int(re.search(r"#define FPT_VERSION\s+(\d+)", f.read()).group(1))


def rounded(x):
    """A large number is a count, in the tables too, however it was made."""
    return round(x) if abs(x) >= 1e4 or float(x).is_integer() else \
        float("%.6g" % x)


def figure(name, unit, btree, fptree):
    sides = {"btree": btree, "fptree": fptree}
    return dict({"name": name, "unit": unit},
                **{side: rounded(x) for side, x in sides.items()})


def of_results(results):
    """Of lines that are Result."""
    return [figure(r.name, r.unit, *(side["mean" if r.total else "median"]
                                     for side in (r.ref, r.cand)))
            for r in results]


def write_figures(path, program, meta, figures):
    """The figures of a table as a small JSON file, which bench/summary reads.

    Samples are left out: --json writes them.  meta: how it was measured, what
    a reader of the table is told.
    """
    doc = {"program": program, "format": on_disk_format(),
           "date": time.strftime("%Y-%m-%d")}
    doc.update(meta)
    with open(path, "w", encoding="utf-8") as f:
        # a figure a line, so that a change of one is seen
        f.write(json.dumps(doc, indent=1)[:-2] + ',\n "figures": [\n  ')
        f.write(",\n  ".join(json.dumps(x) for x in figures) + "\n ]\n}\n")
