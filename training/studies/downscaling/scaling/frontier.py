"""Compute-optimal points: the lowest loss per amount of compute (Deshpande et al. 2023, section 5.1; Figure 1)."""

import numpy as np

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.checks import Numbers, check_finite, check_lengths, check_positive


def compute_optimal(flops: Numbers, losses: Numbers, bins: int = 30) -> np.ndarray:
    """Return the point of lowest loss in each bin of FLOPs.

    The bins are logarithmically spaced from the minimum to the maximum FLOPs. Each bin contains its lower edge, and the
    last bin contains both edges. Empty bins give no point.

    Args:
        flops: (P,) FLOPs of each checkpoint since the start of its training.
        losses: (P,) loss of each checkpoint.
        bins: number of bins; Deshpande et al. use "over 30".

    Returns:
        Indices of the points in the order of their bins, (at most `bins`,) int64. Of equal losses in a bin, the first
        is returned.

    Raises:
        BitcipherError: if there is no point or no bin, FLOPs are not above 0, or a loss is not finite.
    """
    costs, outcomes = check_positive("FLOPs", flops), check_finite("losses", losses)
    check_lengths(("FLOPs", costs), ("losses", outcomes), min_points=1)
    if bins < 1:
        raise BitcipherError(f"`bins` must be at least 1, got {bins}.")
    edges = np.geomspace(costs.min(), costs.max(), bins + 1)
    bin_of = np.searchsorted(edges[1:-1], costs, side="right")
    by_bin_and_loss = np.lexsort((outcomes, bin_of))
    _, first = np.unique(bin_of[by_bin_and_loss], return_index=True)
    return by_bin_and_loss[first].astype(np.int64)
