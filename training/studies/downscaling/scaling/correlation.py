"""Rank correlation between perplexity and downstream score (Deshpande et al. 2023, section 5.3)."""

import math
from typing import Any

import numpy as np
from scipy.stats import permutation_test, rankdata, spearmanr

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.checks import Numbers, check_finite, check_lengths, check_positive

# With two points, the coefficient is always 1 or -1 and has no p-value.
MIN_POINTS = 3
# Maximum number of points for an exact test over all permutations (5,040 for seven points). The asymptotic distribution
# that `spearmanr` uses is valid only for many points: for three points in order, it gives a p-value of 0.
_MAX_POINTS_OF_EXACT_TEST = 7


def rank_correlation(perplexities: Numbers, scores: Numbers) -> tuple[float, float]:
    """Return Spearman's rank correlation between perplexity and score.

    Args:
        perplexities: (N,) perplexity of each model.
        scores: (N,) score of each model in any unit, such as its mean GLUE score.

    Returns:
        The coefficient, below 0 if a lower perplexity goes with a higher score, and its two-sided p-value (0 to 1),
        which is exact for up to seven points.

    Raises:
        BitcipherError: if there are fewer than three points, all perplexities or all scores are equal, a number is not
            finite, or a perplexity is not above 0.
    """
    losses, outcomes = check_positive("perplexities", perplexities), check_finite("scores", scores)
    check_lengths(("perplexities", losses), ("scores", outcomes), min_points=MIN_POINTS)
    for name, values in (("perplexities", losses), ("scores", outcomes)):
        if np.ptp(values) == 0:
            raise BitcipherError(
                f"All {len(values)} {name} are {values[0]}, so they have no ranks to compare; use models that differ."
            )
    result: Any = spearmanr(losses, outcomes)
    exact = len(losses) <= _MAX_POINTS_OF_EXACT_TEST
    return float(result.statistic), _exact_p(losses, outcomes) if exact else float(result.pvalue)


def _exact_p(losses: np.ndarray, outcomes: np.ndarray) -> float:
    """Return the two-sided p-value: the share of permutations with a correlation at least as strong."""
    ranks = rankdata(outcomes) - (len(outcomes) + 1) / 2
    tested = permutation_test(
        (rankdata(losses),),
        lambda order, axis: np.sum(order * ranks, axis=axis),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=math.factorial(len(losses)),
    )
    return float(tested.pvalue)
