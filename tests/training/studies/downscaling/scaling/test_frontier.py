import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from training.studies.downscaling.scaling.frontier import compute_optimal

points = st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 5)), min_size=1, max_size=60)


def reference(flops, losses, bins):
    edges = np.geomspace(min(flops), max(flops), bins + 1).tolist()
    best = {}
    for index, (cost, loss) in enumerate(zip(flops, losses, strict=True)):
        number = max(number for number in range(bins) if number == 0 or edges[number] <= cost)
        if number not in best or loss < losses[best[number]]:
            best[number] = index
    return [best[number] for number in sorted(best)]


@given(points, st.integers(1, 40))
def test_compute_optimal_points_have_lowest_loss_of_bin(found, bins):
    flops, losses = zip(*found, strict=True)
    assert compute_optimal(flops, losses, bins).tolist() == reference(flops, losses, bins)


def test_bins_are_logarithmically_spaced():
    flops = [1e13, 5e13, 2e14, 9e14, 2e16, 1e17]
    losses = [3.0, 2.9, 2.5, 2.6, 1.0, 1.0]
    # Four bins from 10^13 to 10^17; the third is empty.
    assert compute_optimal(flops, losses, bins=4).tolist() == [1, 2, 4]
    assert compute_optimal(flops, losses).dtype == np.int64


def test_bins_contain_lower_edge_and_last_bin_both_edges():
    edges = np.geomspace(1, 16, 5)
    assert compute_optimal(edges, [1, 1, 1, 2, 1], bins=4).tolist() == [0, 1, 2, 4]


def test_points_of_equal_cost_are_in_one_bin():
    assert compute_optimal([7, 7, 7], [2.0, 1.0, 1.0]).tolist() == [1]


def test_invalid_points_and_bins_raise():
    with pytest.raises(
        BitcipherError, match=r"Number 2 of the FLOPs is 0\.0, but must be above 0; leave its point out"
    ):
        compute_optimal([1, 0], [1, 1])
    with pytest.raises(BitcipherError, match=r"Number 1 of the losses is nan, but must be a finite number"):
        compute_optimal([1, 2], [float("nan"), 1])
    with pytest.raises(BitcipherError, match=r"There are 0 points"):
        compute_optimal([], [])
    with pytest.raises(BitcipherError, match=r"`bins` must be at least 1, got 0\."):
        compute_optimal([1], [1], bins=0)
