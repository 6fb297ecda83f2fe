"""Tables and plots of bench/cold.  Python's standard library only."""

import html
import math
import re

from report import number, quantile, summary

COLOURS = {"btree": "#4269d0", "fptree": "#ff725c", "fptree off": "#9c6b4e"}
MORE = ("#6cc5b0", "#3ca951", "#97bbf5", "#a463f2", "#efb118", "#9498a0")


class Ratio:
    """How one side compares with another, and what it should reach."""

    def __init__(self, label, top, bottom, target=None, at_least=True):
        self.label = label
        self.target = target
        self.at_least = at_least
        pairs = [t / b for t, b in zip(top, bottom) if b > 0]
        low = quantile(bottom, 0.5)
        self.value = quantile(top, 0.5) / low if low > 0 else None
        self.q1 = quantile(pairs, 0.25) if pairs else None
        self.q3 = quantile(pairs, 0.75) if pairs else None

    def verdict(self):
        if self.target is None or self.value is None:
            return ""
        if self.at_least:
            return "ok" if self.value >= self.target else "MISSED"
        return "ok" if self.value <= self.target else "MISSED"

    def aim(self):
        if self.target is None:
            return ""
        return "%s %g" % (">=" if self.at_least else "<=", self.target)

    def text(self):
        if self.value is None:
            return "-"
        return "%.3f [%.3f %.3f]" % (self.value, self.q1, self.q3)

    def as_dict(self):
        return {"label": self.label, "value": self.value, "q1": self.q1,
                "q3": self.q3, "target": self.aim(),
                "verdict": self.verdict()}


class Line:
    """One workload: samples by side, and ratios between sides."""

    def __init__(self, group, name, unit, sides):
        self.group = group
        self.name = name
        self.unit = unit
        self.sides = sides
        self.ratios = []
        self.runs = {}

    def compare(self, label, top, bottom, target=None, at_least=True):
        if top in self.sides and bottom in self.sides:
            self.ratios.append(Ratio(label, self.sides[top],
                                     self.sides[bottom], target, at_least))

    def as_dict(self):
        return {"group": self.group, "name": self.name, "unit": self.unit,
                "sides": {k: summary(v) for k, v in self.sides.items()},
                "ratios": [r.as_dict() for r in self.ratios],
                "runs": self.runs}


def spread(samples):
    s = summary(samples)
    text = number(s["median"])
    if len(samples) > 1:
        text += " [%s %s]" % (number(s["q1"]), number(s["q3"]))
    return text


def grid(rows, markdown):
    if markdown:
        out = ["| " + " | ".join(r) + " |" for r in rows]
        out.insert(1, "|" + "---|" * len(rows[0]))
        return "\n".join(out)
    width = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    out = []
    for n, r in enumerate(rows):
        out.append("  ".join(c.ljust(w) for c, w in zip(r, width)).rstrip())
        if n == 0:
            out.append("  ".join("-" * w for w in width))
    return "\n".join(out)


def tables(lines, markdown=False):
    """Two tables for each group: times, and ratios with their targets."""
    out = []
    for group in dict.fromkeys(x.group for x in lines):
        mine = [x for x in lines if x.group == group]
        sides = list(dict.fromkeys(s for x in mine for s in x.sides))
        rows = [["workload"] + sides]
        for x in mine:
            rows.append(["%s, %s" % (x.name, x.unit)] + [
                spread(x.sides[s]) if s in x.sides else "-" for s in sides])
        out.append(("### %s\n" if markdown else "%s\n") % group)
        out.append(grid(rows, markdown) + "\n")
        rows = [["workload", "ratio", "median [quartiles]", "target", ""]]
        for x in mine:
            for r in x.ratios:
                rows.append([x.name, r.label, r.text(), r.aim(), r.verdict()])
        if len(rows) > 1:
            out.append(grid(rows, markdown) + "\n")
    return "\n".join(out)


# -- plots ---------------------------------------------------------------------


def ticks(low, high, steps):
    """Such steps of the decades that cover the values."""
    out = []
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for e in range(first, last + 1):
        for m in steps:
            v = m * 10.0 ** e
            if low <= v * 1.0001 and v <= high * 1.0001:
                out.append(v)
    return out


def colour(name, nth):
    return COLOURS.get(name, MORE[nth % len(MORE)])


def plot(path, title, unit, lines, steps=(1, 2, 5)):
    """Medians with quartiles, a logarithmic axis, one curve for each side.

    lines: Line objects, the horizontal axis from left to right.
    """
    sides = list(dict.fromkeys(s for x in lines for s in x.sides))
    stats = {(x.name, s): summary(v) for x in lines
             for s, v in x.sides.items()}
    low = min(s["q1"] for s in stats.values())
    high = max(s["q3"] for s in stats.values())
    low, high = max(low, high / 1e9) / 1.3, high * 1.3
    height, left, right, top, bottom = 400, 70, 170, 40, 50
    label = max(len(x.name) for x in lines)
    width = max(720, left + right + 60 + 7 * label * (len(lines) - 1))

    def xpos(i):
        n = max(len(lines) - 1, 1)
        return left + 30 + (width - left - right - 60) * i / n

    def ypos(v):
        v = max(v, low)
        return (height - bottom) - (height - top - bottom) * \
            math.log(v / low) / math.log(high / low)

    svg = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' %
           (width, height, width, height),
           '<rect width="100%" height="100%" fill="white"/>',
           '<text x="%d" y="22" font-size="14">%s</text>' %
           (left, html.escape(title)),
           '<text x="%d" y="%d" text-anchor="end">%s</text>' %
           (left - 8, top - 6, html.escape(unit))]
    for v in ticks(low, high, steps):
        svg.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" '
                   'stroke="#ddd"/>' %
                   (left, width - right, ypos(v), ypos(v)))
        svg.append('<text x="%d" y="%.1f" text-anchor="end">%g</text>' %
                   (left - 8, ypos(v) + 4, v))
    for i, x in enumerate(lines):
        svg.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>' %
                   (xpos(i), height - bottom + 20, html.escape(x.name)))
    for nth, side in enumerate(sides):
        c = colour(side, nth)
        here = [(i, stats[x.name, side]) for i, x in enumerate(lines)
                if (x.name, side) in stats]
        svg.append('<polyline fill="none" stroke="%s" stroke-width="2" '
                   'points="%s"/>' %
                   (c, " ".join("%.1f,%.1f" % (xpos(i), ypos(s["median"]))
                                for i, s in here)))
        for i, s in here:
            svg.append('<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" '
                       'stroke="%s"/>' %
                       (xpos(i), xpos(i), ypos(s["q1"]), ypos(s["q3"]), c))
            svg.append('<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' %
                       (xpos(i), ypos(s["median"]), c))
        y = top + 14 + 18 * nth
        svg.append('<rect x="%d" y="%d" width="12" height="12" fill="%s"/>' %
                   (width - right + 12, y - 10, c))
        svg.append('<text x="%d" y="%d">%s</text>' %
                   (width - right + 30, y, html.escape(side)))
    svg.append("</svg>")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(svg) + "\n")


def plots(path, charts):
    """Several plots in one picture, one below the other.

    charts: what plot() is given, each without the path.
    """
    parts, widest, y = [], 0, 0
    for chart in charts:
        plot(path, *chart)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        width, height = re.search(r'width="(\d+)" height="(\d+)"',
                                  text).groups()
        parts.append(text.replace("<svg ", '<svg y="%d" ' % y, 1))
        widest, y = max(widest, int(width)), y + int(height)
    if parts:
        with open(path, "w", encoding="utf-8") as f:
            f.write('<svg xmlns="http://www.w3.org/2000/svg" width="%d" '
                    'height="%d">\n%s</svg>\n' % (widest, y, "".join(parts)))
