"""The figures of a table as a small JSON file, which bench/summary reads.

Samples are left out: --json writes them.  Python's standard library only.
"""

import json
import os
import re
import time

HERE = os.path.dirname(os.path.abspath(__file__))


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
    """Of lines that are report.Result."""
    return [figure(r.name, r.unit, *(side["mean" if r.total else "median"]
                                     for side in (r.ref, r.cand)))
            for r in results]


def write_figures(path, program, meta, figures):
    """meta: how it was measured, what a reader of the table is told."""
    doc = {"program": program, "format": on_disk_format(),
           "date": time.strftime("%Y-%m-%d")}
    doc.update(meta)
    with open(path, "w", encoding="utf-8") as f:
        # a figure a line, so that a change of one is seen
        f.write(json.dumps(doc, indent=1)[:-2] + ',\n "figures": [\n  ')
        f.write(",\n  ".join(json.dumps(x) for x in figures) + "\n ]\n}\n")
