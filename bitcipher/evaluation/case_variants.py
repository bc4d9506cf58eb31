"""Which rows of a table are meant by a word of an evaluation set."""

from collections.abc import Sequence


class CaseVariants:
    """The words of a table by spelling: with cases told apart, or as one, as gensim does.

    Args:
        words: of the table, in order of rank.
        case_insensitive: whether words that differ in case only are one; the most frequent of them has the vector.
    """

    def __init__(self, words: Sequence[str], case_insensitive: bool):
        self._case_insensitive = case_insensitive
        self.rows: dict[str, list[int]] = {}
        """The rows of each spelling, the most frequent first."""
        for row, word in enumerate(words):
            self.rows.setdefault(self.spelling(word), []).append(row)

    def spelling(self, word: str) -> str:
        """What words that count as one have in common."""
        return word.upper() if self._case_insensitive else word

    def __contains__(self, word: str) -> bool:
        return self.spelling(word) in self.rows

    def row(self, word: str) -> int:
        """The row whose vector the word has."""
        return self.rows[self.spelling(word)][0]

    def all_rows(self, word: str) -> list[int]:
        """All rows that are spelt so."""
        return self.rows[self.spelling(word)]
