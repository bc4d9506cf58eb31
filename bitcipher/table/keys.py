"""Keys of a table (words or row numbers), and the error for a key that is not found."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.vocabulary import OOV

Key = str | int | np.integer

Oov = bool | Literal["spelling"]
"""Vector of an unknown word: that of `<oov>` (True), or one from its character n-grams ("spelling"). With False, the
default of all methods, it has none: lookups raise an error, and evaluations say what they do."""

# Number of the most frequent words among which close spellings are searched. The search takes 60 ms.
MAX_COMPARED_WORDS = 50_000

# Minimum of difflib's ratio for a close spelling. It allows one wrong or missing letter in a word of four letters.
MIN_SPELLING_RATIO = 0.75

MAX_SUGGESTIONS = 3


def as_list(keys: Any) -> list[Any]:
    """Return a key, or an iterable of keys, as a list. None gives an empty list.

    Raises:
        BitcipherError: if `keys` is neither a key nor iterable.
    """
    if keys is None:
        return []
    if isinstance(keys, Key | bytes):
        return [keys]
    try:
        return list(keys)
    except TypeError:
        raise BitcipherError(f"A key must be a word, a row number, or a list of them, got {keys!r}.") from None


def check_oov(oov: Oov) -> None:
    """Check the argument `oov` of a method.

    Raises:
        BitcipherError: if it is not a value of `Oov`.
    """
    if oov not in (False, True, "spelling"):
        raise BitcipherError(f'`oov` must be False, True or "spelling", got {oov!r}.')


def unknown_key(
    key: Any,
    words: Sequence[str],
    key_to_index: Mapping[str, int],
    advice: str = f"Pass oov=True to use the vector of {OOV} instead.",
) -> UnknownWordError:
    """Return the error for a key without a row. It suggests close spellings among the most frequent words."""
    if not isinstance(key, Key):
        return UnknownWordError(f"A key must be a word or a row number, got {key!r}.")
    if not isinstance(key, str):
        return UnknownWordError(f"Row {key} is out of range: the table has {len(words):,} rows, numbered from 0.")
    close = [word for word in (key.lower(),) if word in key_to_index]
    close += get_close_matches(key, words[:MAX_COMPARED_WORDS], MAX_SUGGESTIONS, MIN_SPELLING_RATIO)
    suggestions = ", ".join(repr(word) for word in dict.fromkeys(close) if word != OOV)
    return UnknownWordError(
        f"The word {key!r} is not in the vocabulary of {len(words):,} words"
        + (f" (close spellings: {suggestions})." if suggestions else "."),
        advice,
    )
