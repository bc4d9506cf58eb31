"""What names a row of the table: a word or a row number, and the sentence for one that is not there."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from bitcipher.errors import BitcipherError, UnknownWordError
from bitcipher.vocabulary import OOV

Key = str | int | np.integer

# Rarer words are hardly what was meant, and comparing with these already takes 60 ms.
CLOSE_AMONG = 50_000

# Of difflib's ratio: one letter wrong or missing in a word of four still counts as close, two do not.
CLOSE_RATIO = 0.75

CLOSE_SPELLINGS = 3


def as_list(keys: Any) -> list[Any]:
    """One key, or several, as a list; None is the empty one.

    Raises:
        BitcipherError: if it is neither.
    """
    if keys is None:
        return []
    if isinstance(keys, Key | bytes):
        return [keys]
    try:
        return list(keys)
    except TypeError:
        raise BitcipherError(f"A key is a word or a row number, or a list of them, not {keys!r}.") from None


def unknown_key(key: Any, words: Sequence[str], known: dict[str, int]) -> UnknownWordError:
    """The error for a key without a row, with close spellings among the most frequent words."""
    if not isinstance(key, Key):
        return UnknownWordError(f"A key is a word or a row number, not {key!r}.")
    if not isinstance(key, str):
        return UnknownWordError(f"There is no row {key}: the table has {len(words):,}, numbered from 0.")
    close = [word for word in (key.lower(),) if word in known]
    close += get_close_matches(key, words[:CLOSE_AMONG], CLOSE_SPELLINGS, CLOSE_RATIO)
    suggestions = ", ".join(repr(word) for word in dict.fromkeys(close) if word != OOV)
    return UnknownWordError(
        f"The word {key!r} is not among the {len(words):,} words of the table"
        + (f" (close to it: {suggestions})" if suggestions else "")
        + f"; ask with oov=True to get the vector of {OOV} for it."
    )
