"""Comparison of run directories: curves, leads, an HTML page and tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bitcipher.files import storage
from training.comparison.curves.figure import draw_curves, draw_lead
from training.comparison.curves.html_page import write_page
from training.comparison.curves.lead import last_lead, lead_table
from training.comparison.curves.run_groups import AXES, Group, RunMetrics, group_runs, read_run
from training.comparison.curves.seed_pairs import paired_table
from training.comparison.curves.table import CurveTable, perplexity_table, scores_table, steps_to_loss
from training.loop.run_store import copying_run


@dataclass(frozen=True)
class GroupSummary:
    """Last evaluation of a group of runs; means over its seeds."""

    name: str
    runs: list[str]
    """Names of the runs."""
    seeds: list[int]
    step: float
    tokens: float
    seconds: float
    validation_loss: float
    perplexity: float
    """Geometric mean of the perplexities."""
    steps_to_first_loss: float | None
    """First step at which the loss is at most the final loss of the first group; None if it never is."""
    lead: float | None
    """Number of tokens after which the first group reaches the perplexity, divided by the tokens of the group; None if
    it never does."""


@dataclass(frozen=True)
class Comparison:
    """Comparison of groups of runs; the first group is the baseline."""

    groups: list[Group]
    tables: list[CurveTable]

    def markdown(self) -> str:
        """Return the tables in Markdown."""
        return "\n".join(table.markdown() for table in self.tables)

    def summaries(self) -> list[GroupSummary]:
        """Return the last evaluation of each group."""
        return [_summarize(group, self.groups[0]) for group in self.groups]


def compare_runs(runs: Sequence[str], out: str) -> Comparison:
    """Write and return the comparison of runs: curves.png, curves.html, table.md and, of several groups, lead.png.

    Args:
        runs: paths or URIs of the runs.
        out: output directory or URI. Existing files are replaced.

    Raises:
        BitcipherError: if a directory is not a run, or names or seeds are not unique.
    """
    groups = group_runs([_read_run(run) for run in runs])
    tables = (perplexity_table(groups), lead_table(groups), paired_table(groups), scores_table(groups))
    comparison = Comparison(groups, [table for table in tables if table])
    with TemporaryDirectory() as temporary:
        draw_curves(groups, Path(temporary, "curves.png"))
        if len(groups) > 1:
            draw_lead(groups, Path(temporary, "lead.png"))
        write_page(groups, Path(temporary, "curves.html"))
        Path(temporary, "table.md").write_text(comparison.markdown(), "utf-8")
        copy_files(Path(temporary), out)
    return comparison


def _summarize(group: Group, first: Group) -> GroupSummary:
    last = {axis: float(group.mean(axis)[-1]) for axis in (*AXES, "validation_loss")}
    return GroupSummary(
        name=group.name,
        runs=[run.name for run in group.runs],
        seeds=[run.seed for run in group.runs],
        **last,
        perplexity=float(np.exp(group.log_perplexity()[-1])),
        steps_to_first_loss=steps_to_loss(group, float(first.mean("validation_loss")[-1])),
        lead=last_lead(group, first),
    )


def _read_run(run: str) -> RunMetrics:
    with copying_run(run) as folder:
        return read_run(folder)


def copy_files(folder: Path, out: str) -> None:
    """Copy the files of a folder to a directory or URI, each atomically."""
    for path in sorted(folder.iterdir()):
        with storage.writing(storage.join(out, path.name)) as stream:
            stream.write(path.read_bytes())
