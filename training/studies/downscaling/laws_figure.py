"""Figures 1 to 3 of Deshpande et al. (2023) side by side: compute-optimal points and power laws."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

from training.comparison.figures import open_frame, to_png
from training.studies.downscaling.scaling.power_law import fit_power_law
from training.studies.downscaling.scaling.published import published

# Colors of Okabe and Ito, which are safe for color-blind readers, as in `training.comparison.curves`.
_BLUE, _ORANGE, _GREEN, _BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"


def draw_laws(flops: np.ndarray, tokens: np.ndarray, parameters: np.ndarray, losses: np.ndarray) -> bytes:
    """Return a PNG file; the same points give the same bytes.

    Args:
        flops, tokens, parameters: (P,) coordinates of the compute-optimal points.
        losses: (P,) losses in nats.
    """
    figure = Figure(figsize=(13.0, 4.6), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    below = flops <= published().break_at
    everywhere = np.full(len(losses), True)
    quantities = (
        ("FLOPs", flops, ((below, _ORANGE), (~below, _BLUE))),
        ("tokens", tokens, ((everywhere, _BLACK),)),
        ("parameters", parameters, ((everywhere, _BLACK),)),
    )
    for panel, (name, x, parts) in zip(panels, quantities, strict=True):
        panel.scatter(x, losses, s=26, color=_GREEN, edgecolors="white", linewidths=0.5, zorder=3)
        for mask, color in parts:
            law = fit_power_law(x[mask], losses[mask])
            xs = np.geomspace(x[mask].min(), x[mask].max(), 100)
            label = f"exponent {law.exponent:.4f}, R² = {law.r_squared:.4f}"
            panel.plot(xs, law.at(xs), color=color, linewidth=1.5, label=label)
        panel.set(xscale="log", xlabel=name)
        panel.xaxis.set_minor_locator(NullLocator())
        panel.grid(alpha=0.3)
        open_frame(panel)
        panel.legend(frameon=False)
    for panel in panels[1:]:
        panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.xaxis.set_major_formatter(EngFormatter(sep=" "))
    panels[0].set_ylabel("development loss, nats")
    return to_png(figure)
