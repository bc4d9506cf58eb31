"""Draw the scores of `evaluate_vectors.py` against CPU seconds: one panel per metric.

draw_quality.py FILE PICTURE
"""

import json
import math
import sys
from pathlib import Path
from statistics import mean

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, StrMethodFormatter

# Colors of Okabe & Ito, which color-blind readers can distinguish, and different markers.
STYLES = {True: {"color": "#d55e00", "marker": "D"}, False: {"color": "#0072b2", "marker": "o"}}
WIDTH, HEIGHT = 11, 8  # inches, at 110 dots each
INK, FAINT = "#333333", "#dddddd"

PANELS = {
    "Part of speech: accuracy, %": lambda each: each["pos"]["accuracy"],
    "Entities: accuracy, %": lambda each: each["ner"]["accuracy"],
    "Word similarity: mean of Spearman × 100": lambda each: [mean(each["similarity"].values()), 0],
    "Analogies: right answers, %": lambda each: [each["analogies"], 0],
}


def draw_panel(axes: Axes, title: str, vectors: list[dict]) -> None:
    """Draw a labeled dot per kind of vectors, and a bar for the spread over seeds."""
    values = {each["method"]: PANELS[title](each) for each in vectors}
    for each in vectors:
        value, spread = values[each["method"]]
        axes.errorbar(each["cpu"], value, spread or None, markersize=7, capsize=3, **STYLES[each["is_ours"]])
        # Of two dots with similar costs, the higher one has its name above and the lower one below.
        others = [other for other in vectors if other is not each]
        nearest = min(others, key=lambda other: abs(math.log(other["cpu"] / each["cpu"])), default=each)
        is_above = value >= values[nearest["method"]][0]
        end = value + spread if is_above else value - spread
        style = {"va": "bottom" if is_above else "top", "ha": "center", "fontsize": 9, "color": INK}
        name = each["title"].replace(", ", ",\n").replace(" and ", "\nand ")
        axes.annotate(name, (each["cpu"], end), (0, 6 if is_above else -6), textcoords="offset points", **style)
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    axes.set_xscale("log")
    costs = [each["cpu"] for each in vectors]
    axes.set_xlim(min(costs) / 2, 2 * max(costs))  # room for names
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.xaxis.minorticks_off()
    axes.margins(y=0.2)
    axes.grid(color=FAINT)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=INK)
    axes.spines[:].set_visible(False)


def main(scores: dict, picture: str) -> None:
    """Draw all panels."""
    figure, grid = plt.subplots(2, 2, figsize=(WIDTH, HEIGHT), layout="constrained")
    for axes, title in zip(grid.flat, PANELS, strict=True):
        draw_panel(axes, title, scores["vectors"])
    for axes in grid[1]:
        axes.set_xlabel("CPU seconds", color=INK)
    figure.savefig(picture, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])
