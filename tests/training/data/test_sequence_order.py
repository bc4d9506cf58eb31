import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.data.token_streams import SequenceOrder


def test_each_epoch_is_a_permutation():
    for total in [*range(1, 400), *range(400, 3001, 29)]:
        for epoch in (0, 1_000_003):
            numbers = SequenceOrder(total, seed=total % 7).sequence_ids(epoch * total + np.arange(total))
            assert numbers.dtype == np.int64
            np.testing.assert_array_equal(np.bincount(numbers, minlength=total), 1, err_msg=f"{total}, {epoch}")


@settings(max_examples=30)
@given(total=st.integers(1, 10**12), seed=st.integers(0, 2**31), data=st.data())
def test_sequence_id_depends_on_its_position_only(total, seed, data):
    positions = data.draw(st.lists(st.integers(0, 3 * total), min_size=1, max_size=20))
    order = SequenceOrder(total, seed)
    together = order.sequence_ids(np.array(positions))
    alone = [int(order.sequence_ids(np.array([position]))[0]) for position in positions]
    np.testing.assert_array_equal(together, alone)
    assert 0 <= together.min() <= together.max() < total
    np.testing.assert_array_equal(SequenceOrder(total, seed).sequence_ids(np.array(positions)), together)


@pytest.mark.parametrize("total", [60, 1000, 4097])
def test_epochs_and_seeds_have_different_orders(total):
    positions = np.arange(total)
    orders = [
        tuple(SequenceOrder(total, seed).sequence_ids(epoch * total + positions))
        for seed in range(10)
        for epoch in range(10)
    ]
    assert len(set(orders)) == 100
    assert tuple(positions) not in orders


def test_sequences_are_uniform_over_positions():
    total, epochs = 7, 14_000
    numbers = SequenceOrder(total, seed=1).sequence_ids(np.arange(total * epochs)).reshape(epochs, total)
    counts = np.array([np.bincount(column, minlength=total) for column in numbers.T])
    # 2,000 expected, with a standard deviation of 41.
    assert np.abs(counts - epochs / total).max() < 5 * 41


def test_order_has_no_trend():
    numbers = SequenceOrder(100_000, seed=3).sequence_ids(np.arange(100_000))
    assert abs(np.corrcoef(numbers, np.arange(100_000))[0, 1]) < 0.02
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.02


def test_no_positions_give_no_sequences():
    assert SequenceOrder(5, seed=1).sequence_ids(np.empty(0, np.int64)).shape == (0,)


def test_invalid_arguments_raise():
    with pytest.raises(ValueError, match="total"):
        SequenceOrder(0, seed=1)
    with pytest.raises(ValueError, match="positions"):
        SequenceOrder(5, seed=1).sequence_ids(np.array([3, -1]))
