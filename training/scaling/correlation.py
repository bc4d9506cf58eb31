"""Whether a better language model does better downstream (section 5.3)."""

import math
from typing import Any

import numpy as np
from scipy.stats import permutation_test, rankdata, spearmanr

from bitcipher.errors import BitcipherError
from training.scaling.checks import Numbers, check_finite, check_lengths, check_positive

# With two points the coefficient is always 1 or -1, and there is no p-value.
MIN_POINTS = 3
# Up to so many, all orders are gone through (5,040): the distribution that spearmanr takes is one of many points, and
# says 0 for three that happen to be in order.
_MOST_IN_EVERY_ORDER = 7


def rank_correlation(perplexities: Numbers, scores: Numbers) -> tuple[float, float]:
    """Spearman's rank correlation between perplexity and score.

    Args:
        perplexities: [N].
        scores: [N], such as GLUE's mean of the same models, in any unit.

    Returns:
        The coefficient, below 0 if a lower perplexity goes with a higher score, and its two-sided p-value (0 to 1),
        which is exact up to seven points.

    Raises:
        BitcipherError: if there are fewer than three points, all perplexities or all scores are the same, a number is
            not finite, or a perplexity is not above 0.
    """
    losses, outcomes = check_positive("perplexities", perplexities), check_finite("scores", scores)
    check_lengths(("perplexities", losses), ("scores", outcomes), min_points=MIN_POINTS)
    for name, values in (("perplexities", losses), ("scores", outcomes)):
        if np.ptp(values) == 0:
            raise BitcipherError(f"All {len(values)} {name} are {values[0]}: they have no ranks to compare.")
    found: Any = spearmanr(losses, outcomes)
    exact = len(losses) <= _MOST_IN_EVERY_ORDER
    return float(found.statistic), _exact_p(losses, outcomes) if exact else float(found.pvalue)


def _exact_p(losses: np.ndarray, outcomes: np.ndarray) -> float:
    """How likely ranks in any order agree or disagree as much, of all orders."""
    ranks = rankdata(outcomes) - (len(outcomes) + 1) / 2
    tested = permutation_test(
        (rankdata(losses),),
        lambda order, axis: np.sum(order * ranks, axis=axis),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=math.factorial(len(losses)),
    )
    return float(tested.pvalue)
