"""Cloze questions about the contexts of a document (Lewis et al. 2019, "Unsupervised Question Answering by Cloze
Translation", arXiv 1906.04980, section 2)."""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

from training.data.counter_rng import derive_key, uniform
from training.studies.cloze_questions.contexts import Context
from training.studies.cloze_questions.options import ClozeOptions
from training.studies.cloze_questions.restatements import AnswerPlace, Candidate, Restatements
from training.tasks.phrases import PhraseKind, find_phrases

# Number of words of a sentence that a question keeps, besides the answer.
QUESTION_WORDS = 12
# Lewis et al. 2019, section 2.3: words are dropped with a probability of 0.1, and move by up to three positions.
DROPPED_FRACTION = 0.1
MAX_MOVE = 3


class ClozeQuestion(NamedTuple):
    """Question on a context of a document."""

    context: int
    """Index of the context."""
    question: str
    answer: str | None
    """Text of the answer, or None if the context has none."""
    answer_start: int
    """Position of the answer's first character in the context; 0 if there is none."""


def make_questions(
    contexts: Sequence[Context],
    frequent: Set[str],
    question_words: Mapping[PhraseKind, Sequence[str]],
    options: ClozeOptions,
    document: int,
) -> list[ClozeQuestion]:
    """Return the questions of a document, ordered by context.

    Args:
        contexts: contexts of the document.
        frequent: frequent words, lowercase.
        question_words: question words by the kind of the answer.
        options: number and form of the questions.
        document: number of the document, which selects the random numbers.
    """
    candidates = [_find_candidates(context, frequent) for context in contexts]
    restatements = Restatements(candidates, frequent) if options.restatements else None
    lowercase = [context.text.lower() for context in contexts]
    questions = []
    for number, of_context in enumerate(candidates):
        draws = uniform(derive_key(options.seed, "cloze questions", document, number), np.arange(len(of_context)), 5)
        drafts = _choose(number, of_context, draws, restatements, options.questions_per_context)
        for index in sorted(drafts):
            near_words, place = drafts[index]
            answer = contexts[place.context].text[place.start : place.end]
            _, word_draw, _, kind_draw, context_draw = draws[index].tolist()
            words = question_words[of_context[index][1].kind]
            mixed = _mix(near_words, derive_key(options.seed, "cloze words", document, number, index))
            if not mixed:  # the answer ends its sentence, and no word before it was chosen
                continue
            question = f"{words[int(word_draw * len(words))]} {mixed}?"
            is_moved = kind_draw < options.unanswerable_fraction
            other = _find_other_context(lowercase, number, answer.lower(), context_draw) if is_moved else None
            if other is None:
                questions.append(ClozeQuestion(place.context, question, answer, place.start))
            else:
                questions.append(ClozeQuestion(other, question, None, 0))
    return sorted(questions, key=lambda question: question.context)


def _find_candidates(context: Context, frequent: Set[str]) -> list[Candidate]:
    """Return the phrases of a context that can be answers, each with its sentence. Short sentences have none."""
    return [
        (sentence, phrase)
        for sentence in context.sentences
        if len(sentence) > QUESTION_WORDS // 2
        for phrase in find_phrases(sentence, frequent)
    ]


def _choose(
    context: int,
    candidates: Sequence[Candidate],
    draws: np.ndarray,
    restatements: Restatements | None,
    n_questions: int,
) -> dict[int, tuple[list[str], AnswerPlace]]:
    """Return words and answers of random questions about a context, by the index of the candidate."""
    chosen: dict[int, tuple[list[str], AnswerPlace]] = {}
    for index in np.argsort(draws[:, 0]).tolist():
        if len(chosen) == n_questions:
            break
        draft = _draft(context, candidates[index], draws[index, 2], restatements)
        if draft is not None:
            chosen[index] = draft
    return chosen


def _draft(
    context: int, candidate: Candidate, draw: float, restatements: Restatements | None
) -> tuple[list[str], AnswerPlace] | None:
    """Return words around a phrase, and the place of the answer; None if there is no restatement.

    Args:
        context: index of the context.
        candidate: the phrase and its sentence.
        draw: random number, which chooses how many words before the phrase are taken.
        restatements: where to find the answer; None for the phrase itself.
    """
    sentence, phrase = candidate
    before = min(phrase.first, round(draw * QUESTION_WORDS))
    after = sentence[phrase.last + 1 : phrase.last + 1 + QUESTION_WORDS - before]
    words = [word.text for word in (*sentence[phrase.first - before : phrase.first], *after)]
    if restatements is None:
        return words, AnswerPlace(context, sentence[phrase.first].start, sentence[phrase.last].end)
    place = restatements.find(context, candidate, words)
    return None if place is None else (words, place)


def _mix(words: list[str], key: int) -> str:
    """Return words in a random order near their own, with some left out."""
    draws = uniform(key, np.arange(len(words)), 2)
    order = np.argsort(np.arange(len(words)) + draws[:, 0] * MAX_MOVE, kind="stable")
    return " ".join(words[index] for index in order.tolist() if draws[index, 1] >= DROPPED_FRACTION)


def _find_other_context(texts: Sequence[str], own: int, answer: str, draw: float) -> int | None:
    """Return the index of a random other text that does not contain the answer, or None."""
    others = [index for index, text in enumerate(texts) if index != own and answer not in text]
    return others[int(draw * len(others))] if others else None
