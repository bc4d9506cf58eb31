"""What all figures share: resolution, frames, and the bytes of a PNG."""

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure

DOTS_PER_INCH = 120


def to_png(figure: Figure) -> bytes:
    """Return the figure as PNG; the same figure gives the same bytes."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=DOTS_PER_INCH)
    return stream.getvalue()


def open_frame(panel: Axes) -> None:
    """Hide the top and the right line of a panel's frame."""
    panel.spines[["top", "right"]].set_visible(False)
