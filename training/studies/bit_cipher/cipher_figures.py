"""Figures 1 and 3 of Zhao & Williams (2023), *Bit Cipher*, as PNG files."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from bitcipher.cipher import BitCipher
from training.comparison.figures import open_frame, to_png
from training.studies.bit_cipher.cell_results import CellResult, builds_of, find_cell
from training.studies.bit_cipher.paper_tables import PaperGrid
from training.studies.bit_cipher.vector_models import PAPER_WINDOW, VectorModel, grid_models

# Line and marker of each mode. Lines of larger texts are darker.
_STYLES = {"cat": ("Cat", "-o"), "sum": ("Sum", "--s")}
_COLORS = colormaps["viridis_r"]

# Bits and accuracies in percent of a line.
_Line = tuple[list[int], list[float]]


def draw_codes(bits: int) -> bytes:
    """Return Figure 1: the ciphers of all 2**bits - 1 ranks, as a PNG file. Each row is the vector of a rank."""
    ranks = 2**bits - 1
    figure = Figure(figsize=(3.4, 7.6), layout="constrained")
    panel = figure.subplots()
    image = panel.imshow(
        BitCipher(bits).encipher(ranks).toarray(), cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="none"
    )
    panel.set(xlabel="bit", ylabel="rank", xticks=range(bits), xticklabels=range(1, bits + 1))
    panel.set(yticks=range(0, ranks, 5), yticklabels=range(1, ranks + 1, 5))
    panel.set_xticks(np.arange(0.5, bits - 1), minor=True)
    panel.set_yticks(np.arange(0.5, ranks - 1), minor=True)
    panel.grid(which="minor", color="white", linewidth=1)
    panel.tick_params(which="both", length=0)
    panel.spines[:].set_visible(False)
    figure.colorbar(image, ax=panel, label="value", shrink=0.4)
    return to_png(figure)


def draw_sizes(grids: Sequence[PaperGrid], results: Sequence[CellResult]) -> bytes:
    """Return Figure 3: accuracy against bits, with a line per mode and size of the text, as a PNG file.

    Args:
        grids: tables of the paper, whose scores are in the lower row. Those of modes cat and sum with window 4 are
            drawn.
        results: measured scores, for the upper row.
    """
    grids = [grid for grid in grids if grid.mode in _STYLES]
    tasks = [task for task in ("pos", "ner") if any(grid.task == task for grid in grids)] or ["pos"]
    figure = Figure(figsize=(7.4 * len(tasks), 8.4), layout="constrained")
    panels = figure.subplots(2, len(tasks), squeeze=False)
    for column, task in enumerate(tasks):
        of_task = [grid for grid in grids if grid.task == task]
        for row, title in enumerate((f"{task.upper()}, here", f"{task.upper()}, the paper")):
            panel = panels[row, column]
            lines = _published_lines(of_task) if row else _measured_lines(of_task, results)
            _draw_lines(panel, lines)
            panel.set(title=title, xlabel="bits", ylabel="accuracy in %", xscale="log", xticks=[25, 50, 100, 200])
            panel.set_xticklabels(["25", "50", "100", "200"])
            panel.xaxis.set_minor_locator(NullLocator())
            panel.grid(alpha=0.3)
            open_frame(panel)
    return to_png(figure)


def _measured_lines(grids: Sequence[PaperGrid], results: Sequence[CellResult]) -> dict[tuple[str, str], _Line]:
    """Return the measured line of each mode and text."""
    lines: dict[tuple[str, str], _Line] = {}
    for grid in grids:
        for build in builds_of(results):
            found = [find_cell(results, build, model, grid.task) for model in _models(grid)]
            points = [(cell.model.bits or 0, 100 * cell.result.mean("accuracy")) for cell in found if cell]
            lines[grid.mode, f"{build.tokens / 1e6:,.1f} M tokens"] = ([x for x, _ in points], [y for _, y in points])
    return lines


def _published_lines(grids: Sequence[PaperGrid]) -> dict[tuple[str, str], _Line]:
    """Return the published line of each mode and text."""
    lines: dict[tuple[str, str], _Line] = {}
    for grid in grids:
        for size, cells in grid.rows.items():
            scores = dict(zip(grid_models(grid), cells, strict=True))
            points = [(model.bits or 0, scores[model][0]) for model in _models(grid)]
            lines[grid.mode, f"{size:g} B tokens"] = ([x for x, _ in points], [y for _, y in points])
    return lines


def _models(grid: PaperGrid) -> list[VectorModel]:
    """Return the models of a table with the window of Figure 3."""
    return [model for model in grid_models(grid) if model.window == PAPER_WINDOW]


def _draw_lines(panel: Axes, lines: dict[tuple[str, str], _Line]) -> None:
    sizes = list(dict.fromkeys(size for _, size in lines))
    for (mode, size), (bits, accuracies) in lines.items():
        name, style = _STYLES[mode]
        color = _COLORS(0.2 + 0.8 * (sizes.index(size) + 1) / len(sizes))
        panel.plot(bits, accuracies, style, color=color, markersize=5, linewidth=1.5, label=f"{name}, {size}")
    if lines:
        panel.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
