"""Incremental cost-effectiveness ratios (Deshpande et al. 2023, section 4.4, equation 1; Table 2)."""

import numpy as np

from bitcipher.errors import BitcipherError
from training.scaling.checks import Numbers, check_lengths, check_positive


def cost_effectiveness(flops: Numbers, perplexities: Numbers) -> tuple[float | None, ...]:
    """Return the decrease in perplexity per additional billion FLOPs, relative to the next cheaper model.

    Args:
        flops: [N], FLOPs of one training sequence (`Shape.flops_published`), in increasing order.
        perplexities: [N], perplexities of the same models.

    Returns:
        [N] ratios, below 0 if the more expensive model is worse; None for the first model.

    Raises:
        BitcipherError: if the FLOPs are not in increasing order, or a number is not finite or not above 0.
    """
    costs, outcomes = check_positive("FLOPs", flops), check_positive("perplexities", perplexities)
    check_lengths(("FLOPs", costs), ("perplexities", outcomes), min_points=1)
    more = np.diff(costs) / 1e9
    if (more <= 0).any():
        index = int(np.argmax(more <= 0))
        raise BitcipherError(
            f"Model {index + 2} costs {costs[index + 1]:.0f} FLOPs and model {index + 1} costs {costs[index]:.0f}; "
            "order the models by increasing cost, without equal costs."
        )
    return None, *(float(ratio) for ratio in -np.diff(outcomes) / more)
