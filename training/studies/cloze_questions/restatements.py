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


class AnswerPlace(NamedTuple):
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
        frequent: frequent words, lowercase, which do not count as shared.
    """

    def __init__(self, candidates: Sequence[Sequence[Candidate]], frequent: Set[str]) -> None:
        self._frequent = frequent
        self._occurrences: dict[tuple[str, ...], list[tuple[AnswerPlace, Set[str]]]] = defaultdict(list)
        for number, of_context in enumerate(candidates):
            for sentence, phrase in of_context:
                place = AnswerPlace(number, sentence[phrase.first].start, sentence[phrase.last].end)
                around = {word.text.lower() for word in (*sentence[: phrase.first], *sentence[phrase.last + 1 :])}
                self._occurrences[_text_of((sentence, phrase))].append((place, around - frequent))

    def find(self, context: int, candidate: Candidate, question: Sequence[str]) -> AnswerPlace | None:
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
        for place, around in self._occurrences[_text_of(candidate)]:
            n_shared = len(words & around)
            if place.context != context and most < n_shared < MAX_SHARED_FRACTION * len(words):
                best, most = place, n_shared
        return best


def _text_of(candidate: Candidate) -> tuple[str, ...]:
    sentence, phrase = candidate
    return tuple(word.text.lower() for word in sentence[phrase.first : phrase.last + 1])
