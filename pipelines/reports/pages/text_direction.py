"""Direction in which lists of words are read."""

import unicodedata
from collections.abc import Iterable
from typing import Literal

# Letters that are written from right to left: Hebrew and others, and Arabic (Unicode Standard Annex #9, table 4).
_RIGHT_TO_LEFT = ("R", "AL")


def text_direction(words: Iterable[str]) -> Literal["ltr", "rtl"]:
    """Return the value of the HTML attribute `dir` for a list of words: "rtl" if more words begin right to left.

    A word begins with its first letter that has a direction. Numbers and punctuation have none.

    Examples:
        >>> text_direction(["في", "2018", "من", "the"])
        'rtl'
    """
    balance = 0
    for word in words:
        classes = (unicodedata.bidirectional(letter) for letter in word)
        first = next((each for each in classes if each in ("L", *_RIGHT_TO_LEFT)), None)
        balance += 0 if first is None else 1 if first in _RIGHT_TO_LEFT else -1
    return "rtl" if balance > 0 else "ltr"
