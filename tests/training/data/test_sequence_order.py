import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from training.data import Order


def test_every_epoch_of_every_total_has_each_number_once():
    for total in [*range(1, 400), *range(400, 3001, 29)]:
        for epoch in (0, 1_000_003):
            numbers = Order(total, seed=total % 7).numbers(epoch * total + np.arange(total))
            assert numbers.dtype == np.int64
            np.testing.assert_array_equal(np.bincount(numbers, minlength=total), 1, err_msg=f"{total}, {epoch}")


@settings(max_examples=30)
@given(total=st.integers(1, 10**12), seed=st.integers(0, 2**31), data=st.data())
def test_a_position_has_the_same_number_in_any_company(total, seed, data):
    positions = data.draw(st.lists(st.integers(0, 3 * total), min_size=1, max_size=20))
    order = Order(total, seed)
    together = order.numbers(np.array(positions))
    alone = [int(order.numbers(np.array([position]))[0]) for position in positions]
    np.testing.assert_array_equal(together, alone)
    assert 0 <= together.min() <= together.max() < total
    np.testing.assert_array_equal(Order(total, seed).numbers(np.array(positions)), together)


@pytest.mark.parametrize("total", [60, 1000, 4097])
def test_other_epochs_and_seeds_are_other_orders(total):
    places = np.arange(total)
    orders = [tuple(Order(total, seed).numbers(epoch * total + places)) for seed in range(10) for epoch in range(10)]
    assert len(set(orders)) == 100
    assert tuple(places) not in orders


def test_each_number_comes_at_each_place_equally_often():
    total, epochs = 7, 14_000
    numbers = Order(total, seed=1).numbers(np.arange(total * epochs)).reshape(epochs, total)
    counts = np.array([np.bincount(column, minlength=total) for column in numbers.T])
    # 2,000 expected, with a standard deviation of 41.
    assert np.abs(counts - epochs / total).max() < 5 * 41


def test_a_shuffled_order_has_no_trend():
    numbers = Order(100_000, seed=3).numbers(np.arange(100_000))
    assert abs(np.corrcoef(numbers, np.arange(100_000))[0, 1]) < 0.02
    assert abs(np.corrcoef(numbers[1:], numbers[:-1])[0, 1]) < 0.02


def test_no_position_is_no_number():
    assert Order(5, seed=1).numbers(np.empty(0, np.int64)).shape == (0,)


def test_what_cannot_be_ordered_is_refused():
    with pytest.raises(ValueError, match="1 sequence or more, not 0"):
        Order(0, seed=1)
    with pytest.raises(ValueError, match="0 or more"):
        Order(5, seed=1).numbers(np.array([3, -1]))
