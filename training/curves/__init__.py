"""Comparison of training runs: curves of loss and perplexity, and tables; see README.md."""

from training.curves.figure import draw_curves, draw_lead
from training.curves.html_page import write_page
from training.curves.lead import lead_curve, lead_table
from training.curves.run_groups import Group, RunMetrics, group_runs, read_run
from training.curves.seed_pairs import paired_table
from training.curves.table import CurveTable, perplexity_table, scores_table, steps_to_loss

__all__ = [
    "CurveTable",
    "Group",
    "RunMetrics",
    "draw_curves",
    "draw_lead",
    "group_runs",
    "lead_curve",
    "lead_table",
    "paired_table",
    "perplexity_table",
    "read_run",
    "scores_table",
    "steps_to_loss",
    "write_page",
]
