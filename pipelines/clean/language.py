"""Language rule: identification by py3langid."""

from functools import cache
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from bitcipher.errors import BitcipherError
from bitcipher.files.records import Strings
from pipelines.clean.base import CleaningRule, Drop, Fraction
from pipelines.clean.document import Document

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier


class LanguageRule(CleaningRule):
    """Keeps documents in given languages, and notes the language of each document.

    The language is identified by py3langid, a naive Bayes classifier of byte n-grams (Lui & Baldwin 2012). It knows 140
    languages by their ISO 639 codes.
    """

    rule: Literal["language"] = "language"
    """Keep documents in given languages, and note the language."""
    languages: Strings = ()
    """Codes of the languages to keep, such as [en, ar]; all languages if the list is empty."""
    min_score: Fraction = 0.65
    """Minimum probability of the most probable language."""
    max_characters: int = Field(2000, ge=1)
    """Number of characters, from the start, by which the language is identified."""

    def load(self) -> None:
        """Load the classifier, and check the codes of languages."""
        labels = sorted(_identifier().labels)
        for language in self.languages:
            if language not in labels:
                raise BitcipherError(f"`languages` has the unknown code {language!r}; choose from {', '.join(labels)}.")

    def apply(self, document: Document) -> Document | Drop:
        """Note the language, or drop the document if it is in another language, or if the language is uncertain."""
        language, score = _identifier().classify(document.text[: self.max_characters])
        if self.languages and language not in self.languages:
            return Drop("language")
        if score < self.min_score:
            return Drop("uncertain language")
        return document.with_language(language)


@cache
def _identifier() -> "LanguageIdentifier":
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
