"""Comparison of groups by pairs of runs with the same seed.

Runs with the same seed share the order of the sequences, the masks of the validation sequences and, except for the
embeddings, the initial weights. So their difference varies less than the perplexities do.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import t

from training.comparison.curves.run_groups import Group, RunMetrics
from training.comparison.curves.table import CurveTable


def paired_table(groups: Sequence[Group]) -> CurveTable | None:
    """Return the final perplexity of each group divided by that of the first group, over the seeds that both have.

    The ratio is the geometric mean over seeds, with the 95 % confidence interval of Student's t distribution. Final is
    the last step that both runs of a pair have reached; the log perplexity is interpolated linearly.

    Returns:
        None if no group shares two seeds with the first one.
    """
    first, *others = groups
    rows = []
    for group in others:
        ratios = _log_ratios(first, group)
        if len(ratios) < 2:
            continue
        mean, error = ratios.mean(), ratios.std(ddof=1) / np.sqrt(len(ratios))
        margin = t.ppf(0.975, len(ratios) - 1) * error
        low, ratio, high = (f"{value:.3f}" for value in np.exp([mean - margin, mean, mean + margin]))
        rows.append((group.name, str(len(ratios)), ratio, f"{low} to {high}"))
    header = ("run", "pairs of seeds", f"final perplexity / {first.name}'s", "95 % interval")
    return CurveTable(header, tuple(rows)) if rows else None


def _log_ratios(first: Group, group: Group) -> np.ndarray:
    """Return the log of the ratio of final perplexities of each seed that both groups have."""
    runs = {run.seed: run for run in first.runs}
    pairs = [(runs[run.seed], run) for run in group.runs if run.seed in runs]
    return np.array([_final(other, one) - _final(one, other) for one, other in pairs])


def _final(run: RunMetrics, partner: RunMetrics) -> float:
    """Return the log perplexity of a run at the last step that it and its partner have reached."""
    step = min(run.evaluations["step"][-1], partner.evaluations["step"][-1])
    return float(np.interp(step, run.evaluations["step"], np.log(run.evaluations["perplexity"])))
