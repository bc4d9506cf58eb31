"""Restatements: sentences of other contexts that have a question's answer and some of its words."""

from collections import defaultdict
from collections.abc import Sequence, Set
from typing import NamedTuple

from training.tasks.phrases import Phrase, Word

# A sentence with fewer of the question's words may be about something else, and one with nearly all of them is a copy.
MIN_SHARED_WORDS = 2
MAX_SHARED_FRACTION = 0.8

Candidate = tuple[Sequence[Word], Phrase]
"""Phrase that can be an answer, with its sentence."""


class Place(NamedTuple):
    """Place of an answer in a document."""

    context: int
    """Index of the context."""
    start: int
    """Position of the answer's first character in the context."""
    end: int
    """Position after the answer's last character."""


class Restatements:
    """Phrases of a document, by their text.

    Args:
        candidates: the phrases of each context that can be answers.
        frequent: frequent words, lowercase, which count as shared by no sentences.
    """

    def __init__(self, candidates: Sequence[Sequence[Candidate]], frequent: Set[str]) -> None:
        self._frequent = frequent
        self._occurrences: dict[tuple[str, ...], list[tuple[int, Candidate]]] = defaultdict(list)
        for number, of_context in enumerate(candidates):
            for candidate in of_context:
                self._occurrences[_text_of(candidate)].append((number, candidate))

    def find(self, context: int, candidate: Candidate, question: Sequence[str]) -> Place | None:
        """Return the place of the answer in another context, or None.

        Of the sentences with the same phrase, the one with most words of the question is chosen, and the first of
        these.

        Args:
            context: index of the context of the question.
            candidate: answer of the question, with its sentence.
            question: words of the question.
        """
        words = {word.lower() for word in question} - self._frequent
        best, most = None, MIN_SHARED_WORDS - 1
        for number, (sentence, phrase) in self._occurrences[_text_of(candidate)]:
            if number == context:
                continue
            n_shared = len(words & _words_around(sentence, phrase))
            if most < n_shared < MAX_SHARED_FRACTION * len(words):
                best, most = Place(number, sentence[phrase.first].start, sentence[phrase.last].end), n_shared
        return best


def _text_of(candidate: Candidate) -> tuple[str, ...]:
    sentence, phrase = candidate
    return tuple(word.text.lower() for word in sentence[phrase.first : phrase.last + 1])


def _words_around(sentence: Sequence[Word], phrase: Phrase) -> set[str]:
    return {word.text.lower() for word in (*sentence[: phrase.first], *sentence[phrase.last + 1 :])}
