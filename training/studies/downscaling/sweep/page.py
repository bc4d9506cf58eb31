"""Report of a study: a self-contained HTML page, and its figures and tables as files."""

import base64
import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bitcipher.files import json_files, storage
from pipelines.reports.pages.rendering import render_page
from training.studies.downscaling.sweep.figures import ReportFigure
from training.studies.downscaling.sweep.figures_scores import draw_figures
from training.studies.downscaling.sweep.findings import Findings
from training.studies.downscaling.sweep.laws import fit_laws
from training.studies.downscaling.sweep.measures import Measures
from training.studies.downscaling.sweep.summary import study_sizes, summarize
from training.studies.downscaling.sweep.tables import PAPER, SHAPE_LEGEND, ReportTable
from training.studies.downscaling.sweep.tables_inits import all_tables

FORMAT = "bitcipher-findings/1"
TITLE = "A study of small language models"


def write_report(findings: Findings, folder: str) -> str:
    """Write the report: report.html, a PNG of each figure, tables.md and findings.json.

    The same findings give the same bytes. Files are replaced atomically, the page last. A figure without data has no
    file, and the page states the reason.

    Args:
        findings: findings of a study, finished or not.
        folder: path or URI.

    Returns:
        The path or URI of the page.

    Raises:
        BitcipherError: if two models have the same shape, init and language, or a file cannot be written.
    """
    measures = Measures(findings)
    laws = fit_laws(measures)
    figures, tables = draw_figures(measures, laws), all_tables(measures)
    page = _render(measures, summarize(measures, laws), figures, tables)
    for figure in figures:
        target = storage.join(folder, f"{figure.name}.png")
        if figure.png is None:
            storage.remove(target)  # file of an earlier report
        else:
            _write(target, figure.png)
    markdown = "\n".join([f"# {TITLE}\n", f"{SHAPE_LEGEND}\n", *(table.markdown() for table in tables)])
    _write(storage.join(folder, "tables.md"), markdown.encode(errors="replace"))
    content = json_files.to_bytes({"format": FORMAT, **_plain(asdict(findings))})
    storage.write_bytes(storage.join(folder, "findings.json"), content)
    target = storage.join(folder, "report.html")
    _write(target, page)
    return target


def _write(target: str, content: bytes) -> None:
    with storage.writing(target) as stream:
        stream.write(content)


def _render(
    measures: Measures, summary: Any, figures: tuple[ReportFigure, ...], tables: tuple[ReportTable, ...]
) -> bytes:
    folder = Path(__file__).parent
    return render_page(
        folder / "page.html",
        [],
        [folder / "page.css"],
        title=TITLE,
        sizes=study_sizes(measures),
        options=list(_options(measures.findings.recipe)),
        summary=summary,
        figures=figures,
        images={figure.name: base64.b64encode(figure.png).decode() for figure in figures if figure.png},
        tables=tables,
        paper=PAPER,
        shape_legend=SHAPE_LEGEND,
    )


def _options(values: dict[str, Any], parents: str = "") -> Iterator[tuple[str, str]]:
    """Yield options with dotted names, as in `--set`."""
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _options(value, f"{parents}{name}.")
        else:
            yield f"{parents}{name}", value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    """Return the value with None in place of NaN and infinity, which JSON cannot represent."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
