"""Phrases of a sentence that can be answers: runs of words between frequent words and punctuation."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from itertools import islice
from typing import Literal, NamedTuple

# Words that divide a sentence into phrases. In English, they are nearly all articles, prepositions, pronouns,
# conjunctions and auxiliary verbs, and make up half of the text.
N_FREQUENT_WORDS = 100
MAX_PHRASE_WORDS = 5

# Kind of a phrase: a year of four digits, another phrase with a digit, a phrase with a capital letter, or neither.
PhraseKind = Literal["year", "number", "name", "other"]

_WORD = re.compile(r"\S+")
# A year of four digits, in the digits of any script.
_YEAR = re.compile(r"\d{4}")


class Word(NamedTuple):
    """Word of a text, without the punctuation around it."""

    text: str
    start: int
    """Position of the first character in the text."""
    breaks_before: bool
    """Whether punctuation precedes the word."""
    breaks_after: bool
    """Whether punctuation follows the word."""

    @property
    def end(self) -> int:
        """Position after the last character."""
        return self.start + len(self.text)


class Phrase(NamedTuple):
    """Words from `first` to `last` of a sentence."""

    first: int
    last: int
    kind: PhraseKind


def split_words(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """Return the words of a part of a text. Punctuation alone is no word, but divides phrases."""
    words: list[Word] = []
    breaks = False
    for match in _WORD.finditer(text, start, len(text) if end is None else end):
        first, last = match.span()
        while first < last and _is_punctuation(text[first]):
            first += 1
        while first < last and _is_punctuation(text[last - 1]):
            last -= 1
        if first == last:
            breaks = True
            continue
        words.append(Word(text[first:last], first, breaks or first > match.start(), last < match.end()))
        breaks = False
    return words


def frequent_words(texts: Iterable[str], max_words: int = 2_000_000) -> frozenset[str]:
    """Return the `N_FREQUENT_WORDS` most frequent lowercase words of the first `max_words` words of the texts.

    Words with digits are left out, because years are among the most frequent words of an encyclopedia. Equally frequent
    words are taken in the order of the text.
    """
    words = (word.text.lower() for text in texts for word in split_words(text))
    counts = Counter(word for word in islice(words, max_words) if not _has_digit(word))
    return frozenset(word for word, _ in counts.most_common(N_FREQUENT_WORDS))


def find_phrases(words: Sequence[Word], frequent: Set[str]) -> list[Phrase]:
    """Return the phrases of a sentence that can be answers.

    A phrase is a longest run of words that are not frequent, without punctuation between them. A frequent word with a
    capital letter, as in "New York", is part of a phrase. A phrase can be an answer if it has at most
    `MAX_PHRASE_WORDS` words and a frequent word precedes it, as in "the river", or a word has a digit or, after the
    first word of the sentence, a capital letter.

    Args:
        words: words of a sentence.
        frequent: frequent words, lowercase.
    """
    divides = [word.text in frequent or (at == 0 and word.text.lower() in frequent) for at, word in enumerate(words)]
    phrases, first = [], 0
    for position, word in enumerate(words):
        if divides[position]:
            first = position + 1
            continue
        is_last = position + 1 == len(words)
        if not (is_last or divides[position + 1] or word.breaks_after or words[position + 1].breaks_before):
            continue
        run = words[first : position + 1]
        kind = _kind(run, is_sentence_start=first == 0)
        follows_frequent = first > 0 and divides[first - 1] and not run[0].breaks_before
        if len(run) <= MAX_PHRASE_WORDS and (kind != "other" or follows_frequent):
            phrases.append(Phrase(first, position, kind))
        first = position + 1
    return phrases


def _kind(run: Sequence[Word], *, is_sentence_start: bool) -> PhraseKind:
    if len(run) == 1 and _YEAR.fullmatch(run[0].text):
        return "year"
    if any(_has_digit(word.text) for word in run):
        return "number"
    is_name = any(word.text[0].isupper() for word in run[is_sentence_start:])
    return "name" if is_name else "other"


def _is_punctuation(character: str) -> bool:
    # Punctuation, symbols and control characters. Vowel signs, as of Arabic and Hindi, are parts of a word.
    return not character.isalnum() and unicodedata.category(character)[0] in "PSC"


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
