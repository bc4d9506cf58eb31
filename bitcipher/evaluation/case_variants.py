"""Lookup of the words of an evaluation set, with or without regard to case."""

from collections.abc import Callable, Sequence


class CaseVariants:
    """Rows of a table by word, optionally ignoring case, as in gensim.

    Args:
        words: words of the table, in order of rank.
        case_insensitive: whether words that differ only in case are one word.
        normalize_key: function that returns the form in which the table has a word.

    Attributes:
        rows: row numbers of the variants of each normalized word, most frequent first.
    """

    def __init__(self, words: Sequence[str], case_insensitive: bool, normalize_key: Callable[[str], str] = str):
        self._case_insensitive = case_insensitive
        self._normalize_key = normalize_key
        self.rows: dict[str, list[int]] = {}
        for row, word in enumerate(words):
            self.rows.setdefault(self.normalize(word), []).append(row)

    def normalize(self, word: str) -> str:
        """Return the form that all variants of a word share."""
        word = self._normalize_key(word)
        # In lowercase first, because some capitals have two lowercase letters or none: İ and i̇, ẞ and ß.
        return word.lower().upper() if self._case_insensitive else word

    def spell(self, word: str) -> str:
        """Return the spelling whose n-grams an unknown word has: lowercase if case is ignored."""
        word = self._normalize_key(word)
        return word.lower() if self._case_insensitive else word

    def __contains__(self, word: str) -> bool:
        return self.normalize(word) in self.rows

    def row(self, word: str) -> int:
        """Return the row of the most frequent variant of a word."""
        return self.rows[self.normalize(word)][0]

    def all_rows(self, word: str) -> list[int]:
        """Return the rows of all variants of a word."""
        return self.rows[self.normalize(word)]
