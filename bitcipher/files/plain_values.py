"""Checks of values that were parsed from JSON or YAML: every value must be printable, and storable as JSON."""

from typing import Any

from bitcipher.errors import BitcipherError

# Numbers of more bits have no meaning in any file of bitcipher, and Python refuses to print the longest.
MAX_INTEGER_BITS = 1024


def check_plain(value: Any, source: str) -> None:
    """Check the strings and numbers in nested lists and dictionaries.

    Args:
        value: parsed value.
        source: name of the file for error messages.

    Raises:
        BitcipherError: if a string has half a surrogate pair, which UTF-8 cannot encode, or a number is too long.
    """
    waiting, seen = [value], set()
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            _check_string(each, source)
        elif isinstance(each, int):
            _check_integer(each, source)
        elif isinstance(each, dict | list) and id(each) not in seen:
            seen.add(id(each))  # an alias of YAML can put one list into many places
            waiting += [*each, *each.values()] if isinstance(each, dict) else each


def _check_string(text: str, source: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BitcipherError(
            f"{source} has a string with half a surrogate pair ({text[error.start : error.end]!a}), which is not valid "
            "Unicode: correct it."
        ) from None


def _check_integer(number: int, source: str) -> None:
    if number.bit_length() > MAX_INTEGER_BITS:
        raise BitcipherError(f"{source} has a number of {number.bit_length():,} bits: correct it.")
