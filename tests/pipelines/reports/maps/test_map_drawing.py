"""Map data of pages: packed numbers, and groups named after typical words."""

import base64
import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bitcipher.vectors.cipher_vectors import CipherVectors
from pipelines.reports.maps import drawing
from pipelines.reports.maps.drawing import COLORS, map_data, pack, pack_fractions
from pipelines.reports.maps.layout import choose_rows, make_map


def unpacked(packed: dict[str, str]) -> np.ndarray:
    """Decode a packed array as `arrays.js` does."""
    return np.frombuffer(base64.b64decode(packed["base64"]), np.dtype(packed["type"]).newbyteorder("<"))


@given(arrays.arrays(np.int64, st.integers(0, 40), elements=st.integers(-(2**31), 2**31 - 1)))
def test_packed_integers_are_unpacked_equal(numbers):
    packed = pack(numbers)
    assert unpacked(packed).tolist() == numbers.tolist()
    assert packed["type"] in Path(drawing.__file__).with_name("arrays.js").read_text()


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ([0, 255], "uint8"),
        ([0, 256], "uint16"),
        ([65_536], "uint32"),
        ([-1, 127], "int8"),
        ([-1, 255], "int16"),
        ([], "uint8"),
    ],
)
def test_integers_are_packed_in_the_smallest_type(numbers, name):
    assert pack(np.array(numbers, np.int64))["type"] == name


@given(arrays.arrays(np.float64, st.integers(0, 40), elements=st.floats(-1, 1)))
def test_packed_fractions_are_exact_to_four_digits(fractions):
    np.testing.assert_allclose(unpacked(pack_fractions(fractions)) / drawing.FRACTION_SCALE, fractions, atol=2e-5)


def test_groups_are_named_after_central_words_of_letters():
    random = np.random.default_rng(20)
    table = np.repeat(np.eye(2, 8) * 5, 20, axis=0) + random.normal(size=(40, 8))
    table[20] = [0, 5, 0, 0, 0, 0, 0, 0]  # at the center of the group, but punctuation
    words = [f"{'ab'[number // 20]}{chr(97 + number % 20)}" for number in range(40)]
    words[20] = ","
    vectors = CipherVectors(words, table)
    data = map_data(words, make_map(vectors, choose_rows(vectors, 40)))
    assert sum(group["size"] for group in data["groups"]) == 40
    assert [group["color"] for group in data["groups"]] == list(COLORS[: len(data["groups"])])
    group = unpacked(data["group"])
    for number, each in enumerate(data["groups"]):
        assert 1 <= len(each["words"]) <= 3
        assert {group[words.index(word)] for word in each["words"]} == {number}
        assert "," not in each["words"] or each["size"] == 1


def test_d3_equals_the_published_file():
    content = Path(drawing.__file__).with_name("d3.min.js").read_bytes()
    assert content.startswith(b"// https://d3js.org v7.9.0 Copyright")
    published = "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539"  # dist/d3.min.js of d3 7.9.0 on npm
    assert hashlib.sha256(content).hexdigest() == published
