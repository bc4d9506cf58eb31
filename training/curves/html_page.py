"""Self-contained HTML page with curves and tables."""

import tempfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

from training.curves.figure import draw_curves
from training.curves.run_groups import Group
from training.curves.table import CurveTable, perplexity_table, scores_table

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem}"
    "h1{font-size:1.5rem;overflow-wrap:anywhere}svg{width:100%;height:auto}.wide{overflow-x:auto}"
    "table{border-collapse:collapse;margin-bottom:2rem}"
    "td,th{border-bottom:1px solid #ccc;padding:.3rem .6rem;text-align:right;white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left}"
)


def write_page(groups: Sequence[Group], path: Path) -> None:
    """Write the curves and tables of groups as one HTML file. The same curves give the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        drawing = Path(folder) / "curves.svg"
        draw_curves(groups, drawing)
        svg = drawing.read_text("utf-8")
    names = escape(", ".join(group.name for group in groups))
    tables = [table for table in (perplexity_table(groups), scores_table(groups)) if table]
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Runs: {names}</title><style>{_STYLE}</style><h1>Runs: {names}</h1>"
        f"{svg[svg.index('<svg') :]}<h2>Validation perplexity</h2>{''.join(map(_table, tables))}</html>\n",
        "utf-8",
    )


def _table(table: CurveTable) -> str:
    rows = "".join(f"<tr>{_cells(row, 'td')}</tr>" for row in table.rows)
    return f'<div class="wide"><table><tr>{_cells(table.header, "th")}</tr>{rows}</table></div>'


def _cells(cells: Sequence[str], kind: str) -> str:
    return "".join(f"<{kind}>{escape(cell)}</{kind}>" for cell in cells)
