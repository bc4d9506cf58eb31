"""Incremental cost-effectiveness ratios (Deshpande et al. 2023, section 4.4, equation 1; Table 2)."""

import numpy as np

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.checks import Numbers, check_lengths, check_positive


def cost_effectiveness(flops: Numbers, perplexities: Numbers) -> tuple[float | None, ...]:
    """Return the decrease in perplexity per additional billion FLOPs, relative to the next cheaper model.

    Args:
        flops: (N,) FLOPs of one training sequence of each model (`Shape.flops_published`), in increasing order.
        perplexities: (N,) perplexity of each model.

    Returns:
        N ratios. A ratio is below 0 if the more expensive model is worse. The first ratio is None.

    Raises:
        BitcipherError: if the FLOPs are not in increasing order, or a number is not finite or not above 0.
    """
    costs, outcomes = check_positive("FLOPs", flops), check_positive("perplexities", perplexities)
    check_lengths(("FLOPs", costs), ("perplexities", outcomes), min_points=1)
    differences = np.diff(costs) / 1e9
    if (differences <= 0).any():
        index = int(np.argmax(differences <= 0))
        raise BitcipherError(
            f"Model {index + 2} costs {costs[index + 1]:.0f} FLOPs and model {index + 1} costs {costs[index]:.0f}; "
            "order the models by increasing cost, without equal costs."
        )
    return None, *(float(ratio) for ratio in -np.diff(outcomes) / differences)
