"""Figure 4 and the figure of inits: GLUE scores by size and compute, and perplexities of both inits by size."""

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, LogFormatterSciNotation, MaxNLocator

from training.comparison.figures import to_png
from training.studies.downscaling.sweep.figures import (
    BLUE,
    GRAY,
    ORANGE,
    PANEL_INCHES,
    ReportFigure,
    draw_compute,
    draw_parameters,
    draw_tokens,
    new_figure,
    plain_formatter,
    set_log_scale,
    set_ticks,
)
from training.studies.downscaling.sweep.laws import ScalingLaws
from training.studies.downscaling.sweep.measures import Measures

_MARKERS = {True: "o", False: "^"}
_KINDS = {True: "filtered GLUE", False: "unfiltered GLUE"}


def draw_figures(measures: Measures, laws: ScalingLaws) -> tuple[ReportFigure, ...]:
    """Return Figures 1 to 4 as numbered in Deshpande et al. (2023), and the figure of inits."""
    return (
        draw_compute(measures, laws),
        draw_tokens(laws),
        draw_parameters(laws),
        draw_scores(measures),
        draw_inits(measures),
    )


def draw_scores(measures: Measures) -> ReportFigure:
    """Draw Figure 4: the mean GLUE score against parameters and against FLOPs, colored by perplexity."""
    name, title = "figure-4", "Figure 4: GLUE against size and compute"
    caption = "Mean over tasks and seeds; bars are standard deviations over seeds, colors test perplexities."
    tested = [(model, measures.perplexity(model)) for model in measures.select()]
    if measures.findings.checkpoints:
        caption += " Checkpoints before the last have development perplexities."
        earlier = [each for model in measures.select() for each in measures.checkpoints(model)[:-1]]
        tested += [(each, measures.development_perplexity(each)) for each in earlier]
    rows = [
        (measures.parameters(model), measures.flops(model), score.mean, score.deviation or 0.0, perplexity, filtered)
        for filtered in _KINDS
        for model, perplexity in tested
        if perplexity is not None
        and (score := measures.glue(model, filtered=filtered)) is not None
        and measures.flops(model) > 0
    ]
    if not rows:
        return ReportFigure(
            name, title, caption, "", None, "No finished model has been evaluated on all tasks of GLUE yet."
        )
    columns = np.array(rows, np.float64).T
    perplexities = columns[4]
    low, high = perplexities.min(), perplexities.max()
    colors = LogNorm(low / 1.01, high * 1.01)
    figure, panels = new_figure(2, 1.6 * PANEL_INCHES[0])
    for panel, x, label, formatter in (
        (panels[0], columns[0], "parameters", EngFormatter(sep=" ")),
        (panels[1], columns[1], "FLOPs of training", LogFormatterSciNotation(minor_thresholds=(np.inf, np.inf))),
    ):
        for filtered, marker in _MARKERS.items():
            of_kind = columns[5] == filtered
            means, deviations = columns[2:4, of_kind]
            panel.errorbar(x[of_kind], means, deviations, fmt="none", ecolor=GRAY, elinewidth=0.8, zorder=1)
            points = panel.scatter(
                x[of_kind],
                means,
                c=perplexities[of_kind],
                norm=colors,
                cmap="viridis",
                marker=marker,
                s=44,
                edgecolors="white",
                linewidths=0.5,
                zorder=2,
            )
        panel.set(xlabel=label)
        panel.yaxis.set_major_locator(MaxNLocator(6))
        set_log_scale(panel.xaxis, x, formatter)
    panels[0].set(ylabel="mean score on GLUE, %")
    bar = figure.colorbar(points, ax=panels, label="perplexity", pad=0.02)
    set_ticks(bar.ax.yaxis, high / low, plain_formatter())
    kinds = [kind for kind in _KINDS if kind in columns[5]]
    handles = [Line2D([], [], linestyle="", marker=_MARKERS[kind], color=GRAY, label=_KINDS[kind]) for kind in kinds]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    shown = " and ".join(f"{np.sum(columns[5] == kind)} mean scores on {_KINDS[kind]}" for kind in kinds)
    alt = (
        f"{shown}, from {columns[2].min():.1f} to {columns[2].max():.1f} %, against parameters and FLOPs, "
        f"of models whose perplexity is from {low:.2f} to {high:.2f}."
    )
    return ReportFigure(name, title, caption, alt, to_png(figure))


def draw_inits(measures: Measures) -> ReportFigure:
    """Draw test perplexity against parameters for both inits, with a line between the two models of a shape."""
    name, title = "inits", "Inits: perplexity of random and cipher init by size"
    caption = "Test perplexity after the last step; a line joins the two models of a shape."
    pairs = [pair for pair in measures.init_pairs() if measures.init_ratio(pair) is not None]
    if not pairs:
        missing = "No shape has finished with both random and cipher init, so there is nothing to draw."
        return ReportFigure(name, title, caption, "", None, missing)
    sizes = np.array([measures.parameters(pair.random) for pair in pairs], np.float64)
    random, cipher = (
        np.array([measures.perplexity(getattr(pair, init)) for pair in pairs], np.float64)
        for init in ("random", "cipher")
    )
    figure, (panel,) = new_figure()
    panel.vlines(sizes, random, cipher, color=GRAY, linewidth=1, zorder=1)
    panel.scatter(sizes, random, s=36, color=BLUE, marker="o", edgecolors="white", linewidths=0.5, label="random")
    panel.scatter(sizes, cipher, s=40, color=ORANGE, marker="D", edgecolors="white", linewidths=0.5, label="cipher")
    panel.set(xlabel="parameters", ylabel="test perplexity")
    set_log_scale(panel.xaxis, sizes, EngFormatter(sep=" "))
    set_log_scale(panel.yaxis, [*random, *cipher], plain_formatter())
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    alt = (
        f"Test perplexity of {len(pairs)} shapes: from {random.min():.2f} to {random.max():.2f} with a random init, "
        f"from {cipher.min():.2f} to {cipher.max():.2f} with a cipher init."
    )
    return ReportFigure(name, title, caption, alt, to_png(figure))
