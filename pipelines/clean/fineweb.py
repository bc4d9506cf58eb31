"""Quality rule of FineWeb (Penedo et al. 2024, section 3.6)."""

from typing import Literal

from pydantic import Field

from pipelines.clean.base import CleaningRule, Drop, Fraction
from pipelines.clean.characters import SENTENCE_TERMINALS
from pipelines.clean.document import Document


class FineWebRule(CleaningRule):
    """Drops lists and pages of short or repeated lines (Penedo et al. 2024, section 3.6)."""

    rule: Literal["fineweb"] = "fineweb"
    """Drop lists and pages of short or repeated lines."""
    min_punctuated_lines: Fraction = 0.12
    """Minimum fraction of lines that end with a terminal punctuation mark of any script."""
    max_short_lines: Fraction = 0.67
    """Maximum fraction of short lines."""
    short_line_length: int = Field(30, ge=0)
    """Maximum length of a short line, in characters."""
    max_duplicate_characters: Fraction = 0.01
    """Maximum fraction of characters in lines that repeat a preceding line."""
    max_line_breaks_per_word: float = Field(0.3, ge=0)
    """Maximum number of line breaks per word."""

    def apply(self, document: Document) -> Document | Drop:
        """Drop the document if a property is out of bounds. Blank lines are ignored."""
        text = document.text
        lines = [line for line in text.split("\n") if line and not line.isspace()]
        if not lines:
            return Drop("empty")
        if sum(line[-1] in SENTENCE_TERMINALS for line in lines) / len(lines) < self.min_punctuated_lines:
            return Drop("lines without terminal punctuation")
        if sum(len(line) <= self.short_line_length for line in lines) / len(lines) > self.max_short_lines:
            return Drop("short lines")
        line_breaks = text.count("\n")
        duplicates = sum(map(len, lines)) - sum(map(len, set(lines)))
        if duplicates / (len(text) - line_breaks) > self.max_duplicate_characters:
            return Drop("characters in repeated lines")
        if line_breaks / len(document.words) > self.max_line_breaks_per_word:
            return Drop("line breaks")
        return document
