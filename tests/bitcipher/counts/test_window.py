import pytest

from bitcipher import BitcipherError
from bitcipher.counts import Window


def test_each_offset_has_a_matrix_of_its_own():
    assert Window(3).bands.tolist() == [[1, 1], [2, 2], [3, 3]]
    assert Window(3).offsets == [1, 2, 3]


def test_a_summed_window_has_one_matrix():
    assert Window(128, summed=True).bands.tolist() == [[1, 128]]
    assert Window(128, summed=True).offsets == [0]


@pytest.mark.parametrize("radius", [0, -1, 129])
@pytest.mark.parametrize("summed", [False, True])
def test_a_radius_out_of_bounds_is_an_error(radius, summed):
    with pytest.raises(BitcipherError, match=rf"The radius must be from 1 to 128, not {radius}\."):
        Window(radius, summed)
