"""Figures 1 to 3: the loss of compute-optimal points against FLOPs, tokens and parameters, with power laws.

Figures are numbered as in Deshpande et al. (2023). A compute-optimal point is the evaluation with the lowest loss in a
bin of FLOPs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import (
    EngFormatter,
    Formatter,
    FuncFormatter,
    LogFormatterSciNotation,
    LogLocator,
    MaxNLocator,
    NullLocator,
)

from training.comparison.figures import open_frame, to_png
from training.studies.downscaling.scaling.power_law import BrokenPowerLaw, PowerLaw
from training.studies.downscaling.sweep.laws import LawFit, ScalingLaws
from training.studies.downscaling.sweep.measures import Measures
from training.studies.downscaling.sweep.tables import format_scientific

# Colors of Okabe and Ito, which are safe for color-blind readers, as in `training.comparison.curves`.
BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
GRAY = "#999999"
PANEL_INCHES = (7.0, 4.6)
MARGIN_INCHES = 0.1
# Ticks of logarithmic axes depend on the ratio of the largest to the smallest value. `_EVEN_TICKS` has the largest
# ratio with evenly spaced ticks, and the maximum number of these ticks. For larger ratios, `_MULTIPLES` has pairs of a
# maximum ratio and the multiples of powers of ten that have a tick. The x axis has fewer ticks, because its labels are
# side by side.
_EVEN_TICKS = {"x": (2, 4), "y": (8, 8)}
_MULTIPLES = {
    "x": ((8, (1, 1.5, 2, 3, 5, 7)), (40, (1, 2, 5)), (1000, (1, 3)), (float("inf"), (1,))),
    "y": ((100, (1, 2, 3, 5, 7)), (1000, (1, 2, 5)), (float("inf"), (1,))),
}


@dataclass(frozen=True)
class ReportFigure:
    """A figure of the report."""

    name: str
    """File name without .png."""
    title: str
    caption: str
    """Sentences below the figure."""
    alt: str
    """Text alternative for screen readers."""
    png: bytes | None
    """PNG file; None if there is no data yet."""
    missing: str = ""
    """Sentence that replaces a figure without data."""


def draw_compute(measures: Measures, laws: ScalingLaws) -> ReportFigure:
    """Draw Figure 1: loss against FLOPs, with one gray line per model and the compute-optimal points in green."""

    def lines(panel: Axes) -> None:
        for model in measures.select():
            trained = [each for each in model.evaluations if each.step > 0]
            flops = [each.sequences * measures.sequence_flops(model) for each in trained]
            panel.plot(flops, [each.loss for each in trained], color=GRAY, alpha=0.45, linewidth=0.9, zorder=1)
        panel.plot([], [], color=GRAY, linewidth=0.9, label="models during training")

    return _draw_law(
        "figure-1",
        "Figure 1: loss against compute",
        "Each gray line is a model during training; green points have the lowest loss in each of 30 bins of FLOPs. "
        "The paper fits one law below 2.2 · 10¹⁵ FLOPs and another law above.",
        ("FLOPs of training", LogFormatterSciNotation(minor_thresholds=(np.inf, np.inf))),
        (laws.points.flops, laws.points.losses),
        laws.flops,
        lines,
    )


def draw_tokens(laws: ScalingLaws) -> ReportFigure:
    """Draw Figure 2: loss against training tokens."""
    return _draw_law(
        "figure-2",
        "Figure 2: loss against training tokens",
        "The compute-optimal points of Figure 1 against training tokens. The paper's exponent is -0.2459.",
        ("tokens of training", EngFormatter(sep=" ")),
        (laws.points.tokens, laws.points.losses),
        laws.tokens,
    )


def draw_parameters(laws: ScalingLaws) -> ReportFigure:
    """Draw Figure 3: loss against parameters."""
    return _draw_law(
        "figure-3",
        "Figure 3: loss against parameters",
        "The compute-optimal points of Figure 1 against parameters. The paper's exponent is -0.2805.",
        ("parameters", EngFormatter(sep=" ")),
        (laws.points.parameters, laws.points.losses),
        laws.parameters,
    )


def new_figure(panels: int = 1, width: float = PANEL_INCHES[0]) -> tuple[Figure, list[Axes]]:
    """Return an empty figure, and its panels, which are side by side and share the vertical axis.

    Args:
        panels: number of panels.
        width: width of the figure in inches.
    """
    figure = Figure(figsize=(width, PANEL_INCHES[1]), layout="constrained")
    figure.get_layout_engine().set(w_pad=MARGIN_INCHES, h_pad=MARGIN_INCHES)
    axes = list(figure.subplots(1, panels, sharey=True, squeeze=False)[0])
    for panel in axes:
        panel.grid(alpha=0.3)
        open_frame(panel)
    return figure, axes


def set_log_scale(axis: Axis, values: Iterable[float], formatter: Formatter) -> None:
    """Make an axis logarithmic, with limits around all values, and with so few ticks that labels do not overlap.

    Args:
        axis: x or y axis of a panel.
        values: all plotted values, each above 0.
        formatter: format of the tick labels.
    """
    numbers = np.fromiter(values, np.float64)
    low, high = numbers.min(), numbers.max()
    # Margin on each side, even if all numbers are equal.
    margin = max(high / low, 1.2) ** 0.06
    low, high = low / margin, high * margin
    getattr(axis.axes, f"set_{axis.axis_name}scale")("log")
    getattr(axis.axes, f"set_{axis.axis_name}lim")(low, high)
    set_ticks(axis, high / low, formatter)


def set_ticks(axis: Axis, ratio: float, formatter: Formatter) -> None:
    """Set the ticks of a logarithmic axis.

    Args:
        axis: x or y axis.
        ratio: upper limit of the axis divided by its lower limit.
        formatter: format of the tick labels.
    """
    highest, number = _EVEN_TICKS[axis.axis_name]
    multiples = next(multiples for most, multiples in _MULTIPLES[axis.axis_name] if ratio <= most)
    locator = MaxNLocator(number, steps=[1, 2, 5, 10]) if ratio <= highest else LogLocator(subs=multiples, numticks=12)
    axis.set_major_locator(locator)
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(formatter)


def plain_formatter() -> Formatter:
    """Return a format of tick labels without exponents."""
    return FuncFormatter(lambda value, position: f"{value:,.6g}")


def _draw_law(
    name: str,
    title: str,
    caption: str,
    axis: tuple[str, Formatter],
    points: tuple[np.ndarray, np.ndarray],
    fit: LawFit,
    lines: Callable[[Axes], None] | None = None,
) -> ReportFigure:
    (quantity, formatter), (x, losses) = axis, points
    if not len(x):
        return ReportFigure(name, title, caption, "", None, fit.missing)
    figure, (panel,) = new_figure()
    if lines:
        lines(panel)
    panel.scatter(x, losses, s=26, color=GREEN, edgecolors="white", linewidths=0.5, zorder=3, label="compute-optimal")
    for law, ends, style in _laws_of(fit, x):
        xs = np.geomspace(*ends, 100)
        label = f"{_equation(law, quantity)}, R² = {law.r_squared:.4f}"
        panel.plot(xs, law.at(xs), linewidth=1.5, zorder=2, label=label, **style)
    panel.set(xlabel=quantity, ylabel="development loss, nats")
    plotted = [line.get_xydata() for line in panel.lines if len(line.get_xdata())] + [np.column_stack(points)]
    xs, ys = np.concatenate(plotted).T
    set_log_scale(panel.xaxis, xs[np.isfinite(xs)], formatter)
    set_log_scale(panel.yaxis, ys[np.isfinite(ys) & (ys > 0)], plain_formatter())
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    caption = " ".join(filter(None, (caption, fit.missing)))
    return ReportFigure(name, title, caption, _alt(fit, x, losses, quantity), to_png(figure))


def _laws_of(fit: LawFit, x: np.ndarray) -> list[tuple[PowerLaw, tuple[float, float], dict[str, Any]]]:
    """Return each law with the range of x in which it is drawn, and its style."""
    if fit.plain is None:
        return []
    low, high = float(x.min()), float(x.max())
    laws: list[tuple[PowerLaw, tuple[float, float], dict[str, Any]]]
    laws = [(fit.plain, (low, high), {"color": BLACK})]
    if isinstance(fit.law, BrokenPowerLaw):
        laws.append((fit.law.below, (low, fit.law.break_at), {"color": ORANGE, "linestyle": "--"}))
        laws.append((fit.law.above, (fit.law.break_at, high), {"color": BLUE, "linestyle": "--"}))
    elif fit.law and fit.law.offset:
        laws.append((fit.law, (low, high), {"color": ORANGE, "linestyle": "--"}))
    return laws


def _equation(law: PowerLaw, quantity: str) -> str:
    size = law.coefficient
    coefficient = f"{size:.3g}" if 1e-3 <= size < 1e4 else format_scientific(size)
    offset = f"{law.offset:.3g} + " if law.offset else ""
    return rf"loss = {offset}{coefficient} · {quantity.split()[0]}$^{{{law.exponent:.4f}}}$"


def _alt(fit: LawFit, x: np.ndarray, losses: np.ndarray, quantity: str) -> str:
    law = f" The fitted power law has the exponent {fit.plain.exponent:.4f}." if fit.plain else ""
    return (
        f"{len(x)} compute-optimal points: the loss goes from {losses[np.argmin(x)]:.3f} at "
        f"{format_scientific(x.min())} {quantity} to {losses[np.argmax(x)]:.3f} at {format_scientific(x.max())}.{law}"
    )
