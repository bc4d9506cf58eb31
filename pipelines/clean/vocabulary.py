"""Rule that keeps documents with words of a word list."""

from functools import cache
from typing import Annotated, Literal

from pydantic import Field

from bitcipher.files.records import Metavar
from pipelines.clean.base import CleaningRule, Drop, Fraction
from pipelines.clean.document import Document
from pipelines.clean.word_filter import extract_corpus_words, read_words

# A full cache is cleared. It has about 50 MB.
_MAX_TOKENS = 500_000


class VocabularyRule(CleaningRule):
    """Keeps documents whose words are mostly in a word list (after Deshpande et al. 2023, section 3).

    Words are those of the corpus filter: lower case, letters only, split at hyphens. Documents without words are kept.
    """

    rule: Literal["vocabulary"] = "vocabulary"
    """Keep documents whose words are mostly in a word list."""
    path: Annotated[str, Metavar("PATH")]
    """Text file with one word per line, or CSV file with a column `word`."""
    min_known_words: Fraction = Field(0.95, ge=0, le=1)
    """Minimum fraction of words that are in the list."""

    def paths(self) -> tuple[str, ...]:
        """Return the word list."""
        return (self.path,)

    def load(self) -> None:
        """Read the word list, also if this process has read an earlier content of it."""
        _lexicon.cache_clear()
        _lexicon(self.path)

    def apply(self, document: Document) -> Document | Drop:
        """Drop the document if too many of its words are not in the list."""
        counts = list(map(_lexicon(self.path).__getitem__, document.text.split()))
        words = sum(words for _, words in counts)
        known = sum(known for known, _ in counts)
        if words and known / words < self.min_known_words:
            return Drop("unknown words")
        return document


class _KnownWords(dict[str, tuple[int, int]]):
    """Number of known words and of all words of each token, computed when a token is first looked up."""

    def __init__(self, words: frozenset[str]):
        super().__init__()
        self._words = words

    def __missing__(self, token: str) -> tuple[int, int]:
        if len(self) > _MAX_TOKENS:
            self.clear()
        words = extract_corpus_words(token)
        counts = self[token] = sum(word in self._words for word in words), len(words)
        return counts


@cache
def _lexicon(path: str) -> _KnownWords:
    return _KnownWords(read_words(path))
