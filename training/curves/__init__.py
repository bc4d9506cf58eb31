"""Runs side by side: curves of loss and perplexity, and how much sooner one is where another ends."""

from training.curves.draw import draw
from training.curves.html_page import write_page
from training.curves.run_groups import Group, RunMetrics, group_runs, read_run
from training.curves.table import CurveTable, figures_table, perplexity_table, steps_to

__all__ = [
    "CurveTable",
    "Group",
    "RunMetrics",
    "draw",
    "figures_table",
    "group_runs",
    "perplexity_table",
    "read_run",
    "steps_to",
    "write_page",
]
