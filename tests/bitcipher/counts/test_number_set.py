import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bitcipher.counts.number_set import NumberSet


@given(st.lists(st.lists(st.integers(0, 300)), max_size=4), st.integers(0, 200))
def test_members_and_positions(lists, more):
    arrays = [np.array(numbers, np.int32) for numbers in lists]
    found = NumberSet.of(arrays, 301 + more)
    members = sorted(set().union(*lists))
    assert found.members.tolist() == members
    for numbers, array in zip(lists, arrays, strict=True):
        assert found.positions(array).tolist() == [members.index(number) for number in numbers]


def test_largest_number_of_a_multiple_of_64():
    found = NumberSet.of([np.array([127, 0, 64, 63], np.int32)], 128)
    assert found.members.tolist() == [0, 63, 64, 127]
    assert found.positions(np.array([127, 64], np.int32)).tolist() == [3, 2]
