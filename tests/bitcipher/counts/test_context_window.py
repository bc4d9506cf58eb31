import pytest

from bitcipher import BitcipherError
from bitcipher.counts.context_window import ContextWindow


def test_each_offset_has_its_own_matrix():
    assert ContextWindow(3).bands.tolist() == [[1, 1], [2, 2], [3, 3]]
    assert ContextWindow(3).offsets == [1, 2, 3]


def test_a_summed_window_has_one_matrix():
    assert ContextWindow(128, summed=True).bands.tolist() == [[1, 128]]
    assert ContextWindow(128, summed=True).offsets == [0]


@pytest.mark.parametrize("window", [0, -1, 129])
@pytest.mark.parametrize("summed", [False, True])
def test_window_out_of_bounds_raises(window, summed):
    with pytest.raises(BitcipherError, match=f"window.*got {window}"):
        ContextWindow(window, summed)
