#!/usr/bin/env python3
"""Draws the bar charts of the benchmark pages from the tables in these pages, so that the two cannot disagree.

charts.py            makes PAGE.svg beside each page; needs Matplotlib
"""
import re
from pathlib import Path

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "forebay"})
import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator

HERE = Path(__file__).resolve().parent
# Page: heading of the section with the table, columns to draw.
CHARTS = {
    "pnetcdf": ("Results", (1, 2)),
    "hdf5": ("Results", (1, 2)),
    "read": ("Results: PnetCDF", (1, 3)),
    "amr": ("Results", (1, 2)),
    "applications": ("Results: the rows", (1, 3)),
}
COLORS = ("#0072b2", "#e69f00")
TICKS = (0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 30, 50, 100, 200)
GREY = "#808080"  # legible on a light and on a dark page


def table_below(text, heading):
    """The cells of the first table of a section, a list a line, without the line of dashes."""
    section = text.split(f"\n## {heading}\n", 1)[1]
    lines = re.search(r"(?:^\|.*\n)+", section, re.M).group().splitlines()
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]
    return [rows[0]] + rows[2:]


def ratio_and_bound(cell):
    """The ratio, and its lower bound in parentheses."""
    ratio, bound = re.match(r"([\d.]+)(?: \(([\d.]+)\))?", cell).groups()
    return float(ratio), float(bound or ratio)


def draw(page, heading, columns):
    head, *rows = table_below((HERE / f"{page}.md").read_text(), heading)
    figure, axes = plt.subplots(figsize=(7.5, 0.8 + 0.45 * len(rows)))
    for i, column in enumerate(columns):
        values = [ratio_and_bound(row[column]) for row in rows]
        places = [y + 0.4 * i - 0.2 for y in range(len(rows))]
        ratios = [ratio for ratio, _ in values]
        below = [max(0, ratio - bound) for ratio, bound in values]
        axes.barh(places, [r - 1 for r in ratios], 0.36, left=1, color=COLORS[i], label=head[column].replace("`", ""))
        axes.errorbar(ratios, places, xerr=[below, [0] * len(rows)], fmt="none", ecolor=GREY, elinewidth=1)
        for y, ratio, row in zip(places, ratios, rows):
            axes.annotate(re.match(r"[\d.]+", row[column]).group(), (max(ratio, 1), y), (4, 0),
                          textcoords="offset points", va="center", fontsize=8, color=GREY)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.invert_yaxis()
    axes.axvline(1, color=GREY, linewidth=1)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks([x for x in TICKS if axes.get_xlim()[0] <= x <= axes.get_xlim()[1]])
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("fastest stock time over Forebay's; the thin line ends at the lower bound", color=GREY)
    axes.tick_params(which="both", colors=GREY)
    for name, spine in axes.spines.items():
        spine.set_visible(name == "bottom")
        spine.set_color(GREY)
    axes.legend(frameon=False, labelcolor=GREY, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(columns))
    figure.savefig(HERE / f"{page}.svg", transparent=True, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    for page, (heading, columns) in CHARTS.items():
        draw(page, heading, columns)
