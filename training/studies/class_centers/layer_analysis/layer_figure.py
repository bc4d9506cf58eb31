"""Figure of layer metrics: for each metric, one line per step, and a heat map of layers and steps."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from training.comparison.figures import open_frame, to_png
from training.studies.class_centers.layer_analysis.center_metrics import ACCURACY, MISMATCH, MODEL_ACCURACY
from training.studies.class_centers.layer_analysis.records import LayerMetric

TITLES = {ACCURACY: "accuracy of the nearest class center", MISMATCH: "mismatch of nearest class center and model"}
PANEL_INCHES = (5.4, 3.2)
COLORS = "viridis"  # from dark to bright over training
STYLES = {"train": "--", "held out": "-"}
# Maximum number of steps that have a line or a label.
MAX_LABELED_STEPS = 6
# Maximum size of a heat map whose cells show numbers.
MAX_NUMBERED_STEPS, MAX_NUMBERED_LAYERS = 10, 13


def draw_layers(records: Sequence[LayerMetric], path: Path) -> None:
    """Plot each metric in two panels: a line over the layers per step, and a heat map of layers and steps.

    The heat map shows held-out samples only.

    Args:
        records: metrics of one run.
        path: output path of the PNG; the same records give the same bytes.
    """
    names = [name for name in dict.fromkeys(record.metric for record in records) if name != MODEL_ACCURACY]
    figure = Figure(figsize=(2 * PANEL_INCHES[0], len(names) * PANEL_INCHES[1]), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    for name, (lines, heat) in zip(names, figure.subplots(len(names), 2, squeeze=False), strict=True):
        title = TITLES.get(name, f"{name.removesuffix('_accuracy')}: accuracy of a linear probe")
        of_metric = [record for record in records if record.metric == name]
        _draw_lines(lines, of_metric)
        lines.set_title(title, fontsize="medium")
        image = _draw_heat(heat, [record for record in of_metric if record.part == "held out"])
        heat.set_title(f"{title}, held out", fontsize="medium")
        figure.colorbar(image, ax=heat)
    path.write_bytes(to_png(figure))


def to_grid(records: Sequence[LayerMetric]) -> tuple[list[int], np.ndarray]:
    """Return the steps of records of one metric and one part, and their values [layers, steps]."""
    steps = sorted({record.step for record in records})
    values = np.full((1 + max(record.layer for record in records), len(steps)), np.nan)
    for record in records:
        values[record.layer, steps.index(record.step)] = record.value
    return steps, values


def _draw_lines(panel: Axes, records: Sequence[LayerMetric]) -> None:
    parts = [part for part in STYLES if any(record.part == part for record in records)]
    for part in parts:
        steps, values = to_grid([record for record in records if record.part == part])
        colors = _colors(len(steps))
        named = _labeled_steps(len(steps))
        for number in named:
            panel.plot(values[:, number], color=colors[number], linestyle=STYLES[part], marker="o", markersize=2.5)
    handles = [Line2D([], [], color=colors[number], label=f"step {steps[number]:,}") for number in named]
    if len(parts) > 1:
        handles += [Line2D([], [], color="grey", linestyle=STYLES[part], label=part) for part in parts]
    panel.legend(handles=handles, fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set(xlabel="layer (0: embeddings)", ylabel="fraction")
    panel.grid(alpha=0.3)
    open_frame(panel)


def _draw_heat(panel: Axes, records: Sequence[LayerMetric]) -> matplotlib.image.AxesImage:
    steps, values = to_grid(records)
    image = panel.imshow(values, aspect="auto", origin="lower", cmap=COLORS, norm=_norm(values))
    named = _labeled_steps(len(steps))
    panel.set_xticks(named, [f"{steps[number]:,}" for number in named])
    panel.yaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set(xlabel="step", ylabel="layer")
    if values.shape[0] <= MAX_NUMBERED_LAYERS and values.shape[1] <= MAX_NUMBERED_STEPS:
        for (layer, column), value in np.ndenumerate(values):
            color = "white" if image.norm(value) < 0.6 else "black"
            panel.text(column, layer, f"{value:.2f}", ha="center", va="center", color=color, fontsize="x-small")
    return image


def _norm(values: np.ndarray) -> Normalize:
    low, high = np.nanmin(values, initial=1.0), np.nanmax(values, initial=0.0)
    return Normalize(low, high) if low < high else Normalize(0, 1)


def _labeled_steps(steps: int) -> np.ndarray:
    """Return evenly spaced indices of steps, including the first and the last."""
    return np.unique(np.linspace(0, steps - 1, MAX_LABELED_STEPS).round().astype(int))


def _colors(number: int) -> np.ndarray:
    # The brightest yellow is hard to see on white.
    return matplotlib.colormaps[COLORS](np.linspace(0, 0.92, number))
