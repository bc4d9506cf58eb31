"""Self-contained HTML page with curves and tables."""

import base64
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pipelines.reports.pages.rendering import render_page
from training.comparison.curves.figure import draw_curves, draw_lead
from training.comparison.curves.lead import lead_table
from training.comparison.curves.run_groups import Group
from training.comparison.curves.seed_pairs import paired_table
from training.comparison.curves.table import perplexity_table, scores_table


def write_page(groups: Sequence[Group], path: Path) -> None:
    """Write the curves and tables of groups as one HTML file. The same curves give the same bytes."""
    tables = (perplexity_table(groups), lead_table(groups), paired_table(groups), scores_table(groups))
    folder = Path(__file__).parent
    page = render_page(
        folder / "page.html",
        [],
        [folder / "page.css"],
        title=f"Runs: {', '.join(group.name for group in groups)}",
        curves=_encode_svg(draw_curves, groups),
        narrow_curves=_encode_svg(partial(draw_curves, n_columns=1), groups),
        lead=_encode_svg(draw_lead, groups) if len(groups) > 1 else None,
        tables=[table for table in tables if table],
    )
    path.write_bytes(page)


def _encode_svg(draw: Callable[[Sequence[Group], Path], None], groups: Sequence[Group]) -> str:
    """Return a drawing as SVG in base64."""
    with tempfile.TemporaryDirectory() as temporary:
        drawing = Path(temporary) / "drawing.svg"
        draw(groups, drawing)
        return base64.b64encode(drawing.read_bytes()).decode()
