"""Checks of parsed values: strings that UTF-8 cannot encode, and numbers that Python refuses to print."""

import pytest

from bitcipher.errors import BitcipherError
from bitcipher.files.plain_values import check_plain
from pipelines.options import BuildOptions

LONG = 1 << 2_999


@pytest.mark.parametrize("value", ["x\ud800", {"a": [1, {"b": "\ud800"}]}, {"a": {"\ud800": 1}}])
def test_half_surrogate_pairs_are_refused(value):
    with pytest.raises(BitcipherError, match=r"^f.yaml has a string with half a surrogate pair \('\\ud800'\)"):
        check_plain(value, "f.yaml")


@pytest.mark.parametrize("value", [LONG, {"a": [0.5, -LONG]}, {LONG: 1}])
def test_long_numbers_are_refused(value):
    with pytest.raises(BitcipherError, match=r"^f.yaml has a number of 3,000 bits"):
        check_plain(value, "f.yaml")


def test_plain_and_cyclic_values_are_accepted():
    values: dict = {"a": [None, True, 0.5, "naïve 🙂", 10**20], "é": {}}
    values["self"] = values
    check_plain(values, "f.yaml")


@pytest.mark.parametrize("values", [{"tokenizer": "\ud800"}, {"\ud800": 1}, {"min_count": LONG}])
def test_options_of_a_file_are_checked(values):
    with pytest.raises(BitcipherError, match=r"^f.yaml has a (string|number)"):
        BuildOptions.parse(values, "f.yaml")
