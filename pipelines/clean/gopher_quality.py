"""Quality rule of Gopher (Rae et al. 2021, appendix A.1.1, "Quality Filtering")."""

from typing import Literal

import numpy as np
from pydantic import Field

from bitcipher.files.records import Strings
from pipelines.clean.base import CleaningRule, Drop, Fraction, ratio
from pipelines.clean.document import Document

ELLIPSES = ("...", "…")
BULLETS = ("•", "-")


class GopherQualityRule(CleaningRule):
    """Drops documents that are unlike prose (Rae et al. 2021, appendix A.1.1, "Quality Filtering").

    As in datatrove, the number and the mean length of words are those of words that are not only punctuation.
    """

    rule: Literal["gopher_quality"] = "gopher_quality"
    """Drop documents that are unlike prose by their words, symbols and lines."""
    min_words: int = Field(50, ge=0)
    """Minimum number of words."""
    max_words: int = Field(100_000, ge=1)
    """Maximum number of words."""
    min_mean_word_length: float = Field(3.0, ge=0)
    """Minimum mean length of words, in characters."""
    max_mean_word_length: float = Field(10.0, ge=0)
    """Maximum mean length of words, in characters."""
    max_symbols_per_word: float = Field(0.1, ge=0)
    """Maximum number of hash signs per word, and of ellipses per word."""
    max_bullet_lines: Fraction = 0.9
    """Maximum fraction of lines that begin with a bullet or a hyphen."""
    max_ellipsis_lines: Fraction = 0.3
    """Maximum fraction of lines that end with an ellipsis."""
    min_alphabetic_words: Fraction = 0.8
    """Minimum fraction of tokens, punctuation included, that have a letter."""
    min_stop_words: int = Field(2, ge=0)
    """Minimum number of distinct stop words."""
    stop_words: Strings = ("the", "be", "to", "of", "and", "that", "have", "with")
    """Stop words, in the case in which they are counted."""

    def apply(self, document: Document) -> Document | Drop:
        """Drop the document if a property is out of bounds."""
        reason = self._check_words(document) or self._check_lines(document) or self._check_kinds(document)
        return Drop(reason) if reason else document

    def _check_words(self, document: Document) -> str | None:
        """Return a reason to drop the document by the number and length of words, and by symbols per word."""
        text, words = document.text, document.words
        is_word = ~words.table.is_symbol[words.numbers]
        count = np.count_nonzero(is_word)
        if count < self.min_words:
            return "too few words"
        if count > self.max_words:
            return "too many words"
        mean = ratio(int(words.table.lengths[words.numbers[is_word]].sum()), int(count))
        if mean < self.min_mean_word_length:
            return "short words"
        if mean > self.max_mean_word_length:
            return "long words"
        if ratio(text.count("#"), len(words)) > self.max_symbols_per_word:
            return "hash signs"
        if ratio(sum(map(text.count, ELLIPSES)), len(words)) > self.max_symbols_per_word:
            return "ellipses"
        return None

    def _check_lines(self, document: Document) -> str | None:
        lines = document.lines
        bullets = sum(line.lstrip().startswith(BULLETS) for line in lines)
        if ratio(bullets, len(lines)) > self.max_bullet_lines:
            return "bullet lines"
        ellipses = sum(line.rstrip().endswith(ELLIPSES) for line in lines)
        if ratio(ellipses, len(lines)) > self.max_ellipsis_lines:
            return "lines that end with an ellipsis"
        return None

    def _check_kinds(self, document: Document) -> str | None:
        words = document.words
        letters = np.count_nonzero(words.table.has_letter[words.numbers])
        if words and letters / len(words) < self.min_alphabetic_words:
            return "words without letters"
        found = 0
        for word in set(self.stop_words):
            if found == self.min_stop_words:
                break
            found += bool((words.numbers == words.table.number_of(word)).any())
        return "too few stop words" if found < self.min_stop_words else None
