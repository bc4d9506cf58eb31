"""Figure of the mismatch of nearest class center and model: a panel per task, and a line per kind of weights."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from training.comparison.curves.figure import COLORS
from training.studies.class_centers.layer_analysis.center_metrics import HELD_OUT, TRAIN

PANEL_INCHES = 2.6
LEGEND_INCHES = 1.5
DOTS_PER_INCH = 120
STYLES = {TRAIN: "--", HELD_OUT: "-"}


def draw_centers(mismatches: Mapping[str, Mapping[str, Mapping[str, np.ndarray]]], path: Path) -> None:
    """Plot mismatches by layer.

    Args:
        mismatches: [layers] each, by task, weights and part.
        path: output path of the PNG.
    """
    ways = list(dict.fromkeys(way for of_task in mismatches.values() for way in of_task))
    colors = dict(zip(ways, COLORS, strict=False))
    figure = Figure(figsize=(len(mismatches) * PANEL_INCHES + LEGEND_INCHES, 1.1 * PANEL_INCHES), layout="constrained")
    panels = figure.subplots(1, len(mismatches), sharey=True, squeeze=False)[0]
    for panel, (task, of_task) in zip(panels, mismatches.items(), strict=True):
        for way, of_way in of_task.items():
            for part, style in STYLES.items():
                panel.plot(of_way[part], color=colors[way], linestyle=style, marker="o", markersize=2.5)
        panel.set_title(task, fontsize="medium")
        panel.set(xlabel="layer (0: embeddings)", ylim=(0, 1.02))
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("mismatch")
    handles = [Line2D([], [], color=color, label=way) for way, color in colors.items()]
    handles += [Line2D([], [], color="grey", linestyle=style, label=part) for part, style in STYLES.items()]
    panels[-1].legend(handles=handles, fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(path, dpi=DOTS_PER_INCH)
