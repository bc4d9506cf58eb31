"""Runs side by side: curves of loss and perplexity, and how much sooner one is where another ends."""

from training.curves.draw import draw
from training.curves.page import write_page
from training.curves.runs import Group, Run, group_runs, read_run
from training.curves.table import Table, figures_table, perplexity_table, steps_to

__all__ = [
    "Group",
    "Run",
    "Table",
    "draw",
    "figures_table",
    "group_runs",
    "perplexity_table",
    "read_run",
    "steps_to",
    "write_page",
]
