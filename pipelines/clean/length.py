"""Rule that drops very short or very long documents."""

from typing import Literal, Self

from pydantic import Field, model_validator

from pipelines.clean.base import CleaningRule, Drop
from pipelines.clean.document import Document


class LengthRule(CleaningRule):
    """Drops documents with too few or too many words or characters. Words are split at white space."""

    rule: Literal["length"] = "length"
    """Drop documents with too few or too many words or characters."""
    min_words: int = Field(0, ge=0)
    """Minimum number of words, split at white space."""
    max_words: int | None = Field(None, ge=1)
    """Maximum number of words."""
    min_characters: int = Field(0, ge=0)
    """Minimum number of characters."""
    max_characters: int | None = Field(None, ge=1)
    """Maximum number of characters."""

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        for unit in ("words", "characters"):
            least, most = getattr(self, f"min_{unit}"), getattr(self, f"max_{unit}")
            if most is not None and least > most:
                raise ValueError(f"`min_{unit}` must be at most `max_{unit}`, got {least} and {most}.")
        return self

    def apply(self, document: Document) -> Document | Drop:
        """Drop the document if its length is out of bounds."""
        characters = len(document.text)
        if characters < self.min_characters:
            return Drop("too few characters")
        if self.max_characters is not None and characters > self.max_characters:
            return Drop("too many characters")
        if self.min_words or self.max_words is not None:
            words = len(document.text.split())
            if words < self.min_words:
                return Drop("too few words")
            if self.max_words is not None and words > self.max_words:
                return Drop("too many words")
        return document
