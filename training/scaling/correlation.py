"""Whether a better language model does better downstream (section 5.3)."""

import numpy as np
from scipy.stats import spearmanr

from bitcipher.errors import BitcipherError
from training.scaling.checks import Numbers, finite, positive, same_length

# With two points the coefficient is always 1 or -1, and there is no p-value.
FEWEST_POINTS = 3


def rank_correlation(perplexities: Numbers, scores: Numbers) -> tuple[float, float]:
    """Spearman's rank correlation between perplexity and score.

    Args:
        perplexities: [N].
        scores: [N], such as GLUE's mean of the same models, in any unit.

    Returns:
        The coefficient, below 0 if a lower perplexity goes with a higher score, and its two-sided p-value (0 to 1).

    Raises:
        BitcipherError: if there are fewer than three points, all perplexities or all scores are the same, a number is
            not finite, or a perplexity is not above 0.
    """
    losses, outcomes = positive("perplexities", perplexities), finite("scores", scores)
    same_length(("perplexities", losses), ("scores", outcomes), fewest=FEWEST_POINTS)
    for name, values in (("perplexities", losses), ("scores", outcomes)):
        if np.ptp(values) == 0:
            raise BitcipherError(f"All {len(values)} {name} are {values[0]}: they have no ranks to compare.")
    found = spearmanr(losses, outcomes)
    return float(found.statistic), float(found.pvalue)
