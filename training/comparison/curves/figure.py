"""Figures of groups of runs: learning curves, and the lead over the first group."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from training.comparison.curves.lead import lead_curve
from training.comparison.curves.run_groups import AXES, Group
from training.comparison.figures import DOTS_PER_INCH, open_frame

# Okabe and Ito's colors, which are safe for color-blind readers. Groups after the seventh repeat the colors, with other
# line styles.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", ":", "-.")
PANEL_INCHES = (5.0, 3.5)  # width and height
LEGEND_INCHES = 0.28  # height of a row of the legend
MARGIN_INCHES = 0.1
# Validation losses of a part of the objective, which have a panel of their own, with its label.
PARTS = {"sentence_loss": "validation loss of sentences", "detection_loss": "validation loss of the discriminator"}
# Maximum number of characters in a row of the legend, per panel of the width.
LEGEND_CHARACTERS = 45


def draw_curves(groups: Sequence[Group], path: Path, n_columns: int = 2) -> None:
    """Plot validation perplexity over steps, over tokens and over seconds, and training loss over steps.

    If all runs predict sentences, or detect replaced tokens, a panel has the validation loss of that, too.

    Args:
        groups: groups of runs; each has its own color.
        path: output path; its suffix, .png or .svg, selects the format. The same curves give the same bytes.
        n_columns: number of panels in a row.
    """
    evaluations = [run.evaluations for group in groups for run in group.runs]
    parts = [name for name in PARTS if all(name in each for each in evaluations)]
    with _saving_figure(groups, path, len(AXES) + 1 + len(parts), n_columns) as panels:
        for axis in AXES:
            _draw_perplexity(next(panels), groups, axis)
        _draw_losses(next(panels), groups)
        for part in parts:
            _draw_part(next(panels), groups, part)


def draw_lead(groups: Sequence[Group], path: Path) -> None:
    """Plot the lead of each group over the first one, over the tokens that the group has read.

    Args:
        groups: groups of runs; each has the color that it has in the curves.
        path: output path; see `draw_curves`.
    """
    with _saving_figure(groups, path, n_panels=1, n_columns=1) as panels:
        panel = next(panels)
        for number, group in enumerate(groups):
            panel.plot(*lead_curve(group, groups[0]), marker="o", markersize=2.5, **_style(number))
        panel.set(ylabel="lead over the first run", ylim=(0, None))
        _name_axis(panel, "tokens")


@contextmanager
def _saving_figure(groups: Sequence[Group], path: Path, n_panels: int, n_columns: int) -> Iterator[Iterator[Axes]]:
    """Yield the panels of a figure, which gets a legend of the groups and is saved at the end."""
    n_rows = -(-n_panels // n_columns)
    columns = _legend_columns(groups, n_columns)
    rows = -(-len(groups) // columns)
    size = (n_columns * PANEL_INCHES[0], n_rows * PANEL_INCHES[1] + rows * LEGEND_INCHES)
    # Without a salt, the ids in an SVG are random.
    with matplotlib.rc_context({"svg.hashsalt": "bitcipher"}):
        figure = Figure(figsize=size, layout="constrained")
        figure.get_layout_engine().set(w_pad=MARGIN_INCHES, h_pad=MARGIN_INCHES)
        panels = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
        while len(panels) > n_panels:
            panels.pop().remove()
        yield iter(panels)
        for panel in panels:
            panel.grid(alpha=0.3)
            open_frame(panel)
        _name_groups(figure, groups, columns)
        metadata = {"Date": None} if path.suffix == ".svg" else None
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)


def _draw_evaluations(panel: Axes, groups: Sequence[Group], metric: str, axis: str) -> None:
    """Draw the mean of a metric over the runs of each group, with a band from the minimum to the maximum."""
    for number, group in enumerate(groups):
        values, positions = group.values(metric), group.mean(axis)
        panel.plot(positions, values.mean(axis=0), marker="o", markersize=2.5, **_style(number))
        panel.fill_between(
            positions, values.min(axis=0), values.max(axis=0), color=_style(number)["color"], alpha=0.2, lw=0
        )
    _name_axis(panel, axis)


def _draw_perplexity(panel: Axes, groups: Sequence[Group], axis: str) -> None:
    _draw_evaluations(panel, groups, "perplexity", axis)
    panel.set(yscale="log", ylabel="validation perplexity")
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5, 7)))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, position: f"{value:,.6g}"))
    panel.yaxis.set_minor_formatter(NullFormatter())


def _draw_part(panel: Axes, groups: Sequence[Group], part: str) -> None:
    _draw_evaluations(panel, groups, part, "step")
    panel.set(ylabel=PARTS[part])


def _draw_losses(panel: Axes, groups: Sequence[Group]) -> None:
    for number, group in enumerate(groups):
        for run in group.runs:
            panel.plot(run.losses["step"], run.losses["loss"], alpha=0.7, **_style(number) | {"linewidth": 0.8})
    panel.set(ylabel="training loss")
    _name_axis(panel, "step")


def _name_axis(panel: Axes, axis: str) -> None:
    panel.set(xlabel=AXES[axis])
    panel.xaxis.set_major_locator(MaxNLocator(5))
    panel.xaxis.set_major_formatter(
        EngFormatter() if axis == "tokens" else FuncFormatter(lambda v, position: f"{v:,.6g}")
    )


def _name_groups(figure: Figure, groups: Sequence[Group], columns: int) -> None:
    handles = [Line2D([], [], **_style(number)) for number in range(len(groups))]
    # Names are set afterwards: matplotlib omits labels that begin with _, and parses $ as a formula.
    legend = figure.legend(handles, ["?"] * len(groups), loc="outside lower center", ncols=columns, frameon=False)
    for text, group in zip(legend.get_texts(), groups, strict=True):
        seeds = f" ({len(group.runs)} seeds)" if len(group.runs) > 1 else ""
        text.set(text=group.name + seeds, parse_math=False)


def _legend_columns(groups: Sequence[Group], n_panels: int) -> int:
    longest = max(len(group.name) for group in groups) + len(" (3 seeds)")
    return max(1, min(len(groups), 2 * n_panels, n_panels * LEGEND_CHARACTERS // longest))


def _style(number: int) -> dict[str, object]:
    return {
        "color": COLORS[number % len(COLORS)],
        "linestyle": DASHES[number // len(COLORS) % len(DASHES)],
        "linewidth": 1.6,
    }
