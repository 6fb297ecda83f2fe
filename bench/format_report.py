"""Tables and plots of the workloads "format-..." of bench/run."""

import os

from cold_report import Line, plot
from report import markdown_table, text_table, version_name

PLOT = "format-images.svg"
STEPS = (1, 1.2, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)
SWEPT = "WAL, "
HEAD = """# Bytes of indexes and of WAL

`bench/run --only format,format-sweep`, or a part of these, wrote this file
(`--markdown`); how it measures is in
[benchmarks.md](../benchmarks.md#what-each-line-measures).

"""


def told(meta):
    """On what server, how many rows, when."""
    return "%s, %s rows, %s" % (meta.get("server"),
                                "{:,}".format(meta["rows"]),
                                meta["date"][:10])


def document(runs, markdown=False):
    """Of runs (meta, results); a server's sweep comes after its targets."""
    out = [HEAD] if markdown else []
    swept = False
    for meta, results in runs:
        sides = meta["reference"], meta["candidate"]
        for sweep in (False, True):
            mine = [r for r in results if (r.group == "format-sweep") == sweep]
            if not mine:
                continue
            title = told(meta) + (", sweep" if sweep else "")
            swept = swept or sweep
            if markdown:
                out.append("## %s\n\n%s\n" % (title,
                                              markdown_table(mine, *sides)))
            else:
                out.append("%s; ratio = %s / %s\n\n%s\n\n" % (
                    (title,) + sides[::-1] + (text_table(mine, *sides),)))
    if markdown and swept:
        out.append("![Ratio of WAL by rows after a checkpoint](%s)\n" % PLOT)
    return "".join(out).rstrip("\n") + "\n" * (1 if markdown else 2)


def plots(folder, runs):
    """Ratio by rows after a checkpoint, a curve for each kind of key."""
    os.makedirs(folder, exist_ok=True)
    for meta, results in runs:
        points = {}
        for r in results:
            if r.group == "format-sweep":
                when, kind = r.name[len(SWEPT):].split(" after a checkpoint, ")
                points.setdefault(when, {})[kind] = [r.ratio]
        if points:
            plot(os.path.join(folder, PLOT),
                 "WAL of an index by rows after a checkpoint, PostgreSQL %s" %
                 version_name(meta["server"]),
                 "%s / %s" % (meta["candidate"], meta["reference"]),
                 [Line("", when, "ratio", sides)
                  for when, sides in points.items()], STEPS)
