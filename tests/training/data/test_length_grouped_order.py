from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.data import length_grouped_order
from training.data.length_grouped_order import LengthGroupedOrder
from training.data.token_streams import SequenceOrder

# Numbers of sequences, batches and seeds for which epochs end within a batch, within a group, or after several groups.
orders = st.builds(
    lambda lengths, batch_size, seed: (LengthGroupedOrder(np.array(lengths), batch_size, seed), lengths),
    st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=300),
    st.integers(1, 7),
    st.integers(0, 2**31),
)


@given(orders, st.integers(0, 10**6))
def test_each_epoch_is_a_permutation(made, epoch):
    order, lengths = made
    total = len(lengths)
    assert sorted(order.sequence_ids(epoch * total + np.arange(total))) == list(range(total))


@given(orders, st.data())
def test_sequence_id_depends_on_its_position_only(made, data):
    order, lengths = made
    positions = np.array(data.draw(st.lists(st.integers(0, 3 * len(lengths)), min_size=1, max_size=20)))
    alone = [int(order.sequence_ids(positions[i : i + 1])[0]) for i in range(len(positions))]
    assert order.sequence_ids(positions).tolist() == alone


@given(orders, st.data())
def test_sum_of_lengths_is_that_of_the_sequences_so_far(made, data):
    order, lengths = made
    numbers = data.draw(st.lists(st.integers(0, 4 * len(lengths)), min_size=1, max_size=8))
    for number in numbers:  # more sequences than before, or fewer
        ids = order.sequence_ids(np.arange(number))
        assert order.sum_lengths(number) == sum(sum(lengths[each]) for each in ids)


@pytest.mark.parametrize("epoch", [0, 3])
def test_batches_of_a_group_share_its_sequences_by_length(monkeypatch, epoch):
    monkeypatch.setattr(length_grouped_order, "GROUPED_BATCHES", 4)
    lengths = np.random.default_rng(5).integers(1, 100, (62, 2))
    order, plain = LengthGroupedOrder(lengths, 5, seed=8), SequenceOrder(62, 8)
    # Batches begin at multiples of 5, groups at multiples of 20; an epoch also ends both.
    starts = sorted({epoch * 62, *range(-(-epoch * 62 // 20) * 20, (epoch + 1) * 62, 20)})
    for start, stop in zip(starts, [*starts[1:], (epoch + 1) * 62], strict=True):
        positions = np.arange(start, stop)
        ids = order.sequence_ids(positions)
        assert sorted(ids) == sorted(plain.sequence_ids(positions))
        batches = [
            sorted((lengths[number, 1], lengths[number, 0]) for number in ids[positions // 5 == batch])
            for batch in np.unique(positions // 5)
        ]
        together = list(chain.from_iterable(sorted(batches)))
        assert together == sorted(together)  # the ranges of lengths do not overlap


def test_batches_are_not_in_the_order_of_their_lengths():
    lengths = np.random.default_rng(5).integers(1, 100, (5000, 1))
    means = lengths[LengthGroupedOrder(lengths, 10, seed=8).sequence_ids(np.arange(5000))].reshape(-1, 10).mean(axis=1)
    assert abs(np.corrcoef(means, np.arange(500))[0, 1]) < 0.2
