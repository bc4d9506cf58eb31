import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.counts.bitset import drain, empty_set, insert

# Both sides of every boundary of the two levels: 64 and 64² members.
BOUNDARIES = [0, 1, 31, 32, 63, 64, 65, 127, 128, 4_095, 4_096, 4_097, 8_191, 8_192, 299_999]
SIZE = 300_000


@given(st.lists(st.sampled_from(BOUNDARIES) | st.integers(0, SIZE - 1), max_size=200))
@settings(max_examples=100, deadline=None)
def test_drain_yields_ascending_members_with_totals_and_clears_the_set(members):
    low, high = empty_set(SIZE)
    totals = np.zeros(SIZE, np.int64)
    for member in members:
        insert(low, high, member)
        totals[member] += 2**40
    expected = sorted(set(members))
    members_out, totals_out = np.full((2, len(expected) + 2), -1, np.int64)
    assert drain(low, high, totals, members_out, totals_out, 1) == len(expected) + 1
    assert members_out.tolist() == [-1, *expected, -1]
    assert totals_out.tolist() == [-1, *(members.count(member) * 2**40 for member in expected), -1]
    assert not low.any()
    assert not high.any()
    assert not totals.any()


def test_drain_skips_members_with_total_zero():
    low, high = empty_set(100)
    totals = np.zeros(100, np.int64)
    for member, total in ((3, 5), (64, 0), (70, -2), (99, 0)):
        insert(low, high, member)
        totals[member] = total
    members_out, totals_out = np.zeros((2, 4), np.int64)
    assert drain(low, high, totals, members_out, totals_out, 0) == 2
    assert members_out[:2].tolist() == [3, 70]
    assert totals_out[:2].tolist() == [5, -2]
    assert not low.any()
    assert not high.any()
    assert not totals.any()
