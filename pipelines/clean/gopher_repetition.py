"""Repetition rule of Gopher (Rae et al. 2021, appendix A.1.1, Table A1)."""

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from bitcipher.files.records import FROM_LIST
from pipelines.clean.base import CleaningRule, Drop, Fraction
from pipelines.clean.document import Document

if TYPE_CHECKING:
    from pipelines.clean.word_table import Words

_PARAGRAPH_BREAK = re.compile(r"\n{2,}")
_LINE_BREAK = re.compile(r"\n+")

TOP_SIZES = (2, 3, 4)
DUPLICATE_SIZES = (5, 6, 7, 8, 9, 10)


class GopherRepetitionRule(CleaningRule):
    """Drops documents with repeated lines, paragraphs or n-grams of words (Rae et al. 2021, appendix A.1.1, Table A1).

    All fractions of characters refer to the length of the text.
    """

    rule: Literal["gopher_repetition"] = "gopher_repetition"
    """Drop documents with repeated lines, paragraphs or n-grams of words."""
    max_duplicate_paragraphs: Fraction = 0.3
    """Maximum fraction of paragraphs that repeat a preceding paragraph."""
    max_duplicate_paragraph_characters: Fraction = 0.2
    """Maximum fraction of characters in such paragraphs."""
    max_duplicate_lines: Fraction = 0.3
    """Maximum fraction of lines that repeat a preceding line."""
    max_duplicate_line_characters: Fraction = 0.2
    """Maximum fraction of characters in such lines."""
    max_top_ngram_characters: Annotated[
        tuple[Fraction, ...], FROM_LIST, Field(min_length=len(TOP_SIZES), max_length=len(TOP_SIZES))
    ] = (0.2, 0.18, 0.16)
    """Maximum fractions of characters in all occurrences of the most frequent n-gram, for 2, 3 and 4 words."""
    max_duplicate_ngram_characters: Annotated[
        tuple[Fraction, ...], FROM_LIST, Field(min_length=len(DUPLICATE_SIZES), max_length=len(DUPLICATE_SIZES))
    ] = (0.15, 0.14, 0.13, 0.12, 0.11, 0.1)
    """Maximum fractions of characters in n-grams that occurred before, for 5 to 10 words."""

    def apply(self, document: Document) -> Document | Drop:
        """Drop the document if a fraction is above its maximum."""
        text = document.text
        if not text:
            return Drop("empty")
        share, characters = _duplicates(_PARAGRAPH_BREAK.split(text.strip()))
        if share > self.max_duplicate_paragraphs:
            return Drop("repeated paragraphs")
        if characters / len(text) > self.max_duplicate_paragraph_characters:
            return Drop("characters in repeated paragraphs")
        share, characters = _duplicates(_LINE_BREAK.split(text))
        if share > self.max_duplicate_lines:
            return Drop("repeated lines")
        if characters / len(text) > self.max_duplicate_line_characters:
            return Drop("characters in repeated lines")
        return self._check_ngrams(document.words, len(text)) or document

    def _check_ngrams(self, words: "Words", characters: int) -> Drop | None:
        from pipelines.clean.ngrams import duplicate_ngram_characters, extend_hashes, top_ngram_characters

        lengths = words.table.lengths[words.numbers]
        hashes = words.table.hashes[words.numbers]
        powers = words.table.powers[words.numbers]
        ngrams = hashes.copy()
        for n in range(2, min(DUPLICATE_SIZES[-1], len(words)) + 1):
            ngrams = ngrams[:-1]
            extend_hashes(ngrams, hashes[n - 1 :], powers[n - 1 :])
            if n in TOP_SIZES:
                found = top_ngram_characters(ngrams, words.numbers, lengths, n)
                if found / characters > self.max_top_ngram_characters[n - TOP_SIZES[0]]:
                    return Drop(f"most frequent {n}-gram")
            else:
                found = duplicate_ngram_characters(ngrams, lengths, n)
                if found / characters > self.max_duplicate_ngram_characters[n - DUPLICATE_SIZES[0]]:
                    return Drop(f"repeated {n}-grams")
        return None


def _duplicates(parts: list[str]) -> tuple[float, int]:
    """Return the fraction of parts that repeat a preceding part, and the number of characters of these parts."""
    distinct = set(parts)
    if len(distinct) == len(parts):
        return 0.0, 0
    return (len(parts) - len(distinct)) / len(parts), sum(map(len, parts)) - sum(map(len, distinct))
