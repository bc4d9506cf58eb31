"""Lookup of the words of an evaluation set, with or without regard to case."""

from collections.abc import Sequence


class CaseVariants:
    """Rows of a table by word, optionally ignoring case, as in gensim.

    Args:
        words: words of the table, in order of rank.
        case_insensitive: whether words that differ only in case are one word.

    Attributes:
        rows: row numbers of the variants of each normalized word, most frequent first.
    """

    def __init__(self, words: Sequence[str], case_insensitive: bool):
        self._case_insensitive = case_insensitive
        self.rows: dict[str, list[int]] = {}
        for row, word in enumerate(words):
            self.rows.setdefault(self.normalize(word), []).append(row)

    def normalize(self, word: str) -> str:
        """Return the form that all variants of a word share."""
        return word.upper() if self._case_insensitive else word

    def spell(self, word: str) -> str:
        """Return the spelling whose n-grams an unknown word has: lowercase if case is ignored."""
        return word.lower() if self._case_insensitive else word

    def __contains__(self, word: str) -> bool:
        return self.normalize(word) in self.rows

    def row(self, word: str) -> int:
        """Return the row of the most frequent variant of a word."""
        return self.rows[self.normalize(word)][0]

    def all_rows(self, word: str) -> list[int]:
        """Return the rows of all variants of a word."""
        return self.rows[self.normalize(word)]
