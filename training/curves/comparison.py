"""Comparison of run directories: curves, leads, an HTML page and tables."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bitcipher import storage
from training.curves import (
    RunMetrics,
    draw_curves,
    draw_lead,
    group_runs,
    lead_table,
    paired_table,
    perplexity_table,
    read_run,
    scores_table,
    write_page,
)
from training.loop import copying_run


def compare_runs(runs: Sequence[str], out: str) -> str:
    """Write the comparison of runs: curves.png, curves.html, table.md and, of several groups, lead.png.

    Args:
        runs: paths or URIs of the runs.
        out: output directory or URI. Existing files are replaced.

    Returns:
        The tables in Markdown.

    Raises:
        BitcipherError: if a directory is not a run, or names or seeds are not unique.
    """
    groups = group_runs([_read_run(run) for run in runs])
    tables = (perplexity_table(groups), lead_table(groups), paired_table(groups), scores_table(groups))
    table = "\n".join(table.markdown() for table in tables if table)
    with TemporaryDirectory() as temporary:
        draw_curves(groups, Path(temporary, "curves.png"))
        if len(groups) > 1:
            draw_lead(groups, Path(temporary, "lead.png"))
        write_page(groups, Path(temporary, "curves.html"))
        Path(temporary, "table.md").write_text(table, "utf-8")
        copy_files(Path(temporary), out)
    return table


def _read_run(run: str) -> RunMetrics:
    with copying_run(run) as folder:
        return read_run(folder)


def copy_files(folder: Path, out: str) -> None:
    """Copy the files of a folder to a directory or URI, each atomically."""
    for path in sorted(folder.iterdir()):
        with storage.writing(storage.join(out, path.name)) as stream:
            stream.write(path.read_bytes())
