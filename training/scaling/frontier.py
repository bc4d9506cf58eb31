"""Compute-optimal points: the best that was reached for each amount of compute (section 5.1; Figure 1)."""

import numpy as np

from bitcipher.errors import BitcipherError
from training.scaling.checks import Numbers, check_finite, check_lengths, check_positive


def compute_optimal(flops: Numbers, losses: Numbers, bins: int = 30) -> np.ndarray:
    """The point of lowest loss in each bin of FLOPs.

    The bins have equal ratios over the range from the least to the most FLOPs; each holds its lower edge, the last one
    both edges. Only as many as hold a point give one.

    Args:
        flops: [P], FLOPs that each checkpoint had taken up to then.
        losses: [P], its loss.
        bins: how many; "over 30" in the paper.

    Returns:
        int64, at most [bins]: which points, in order of their bins, the first of several that are as good.

    Raises:
        BitcipherError: if there is no point or no bin, FLOPs are not above 0, or a loss is not finite.
    """
    costs, outcomes = check_positive("FLOPs", flops), check_finite("losses", losses)
    check_lengths(("FLOPs", costs), ("losses", outcomes), min_points=1)
    if bins < 1:
        raise BitcipherError(f"There must be at least 1 bin of FLOPs, not {bins}.")
    edges = np.geomspace(costs.min(), costs.max(), bins + 1)
    bin_of = np.searchsorted(edges[1:-1], costs, side="right")
    by_bin_and_loss = np.lexsort((outcomes, bin_of))
    _, first = np.unique(bin_of[by_bin_and_loss], return_index=True)
    return by_bin_and_loss[first].astype(np.int64)
