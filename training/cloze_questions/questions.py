"""Cloze questions about the contexts of a document (Lewis et al. 2019, "Unsupervised Question Answering by Cloze
Translation", arXiv 1906.04980, section 2)."""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np

from training.cloze_questions.contexts import Context
from training.cloze_questions.options import ClozeOptions
from training.cloze_questions.question_text import ScatteredWords, mix_near_words
from training.cloze_questions.restatements import AnswerPlace, Candidate, Restatements
from training.counter_rng import derive_key, uniform
from training.tasks.phrases import PhraseKind, find_phrases

# Number of words of a sentence that are near the answer.
QUESTION_WORDS = 12


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
    mix = ScatteredWords(contexts, frequent).mix if options.scattered else mix_near_words
    lowercase = [context.text.lower() for context in contexts]
    questions = []
    for number, of_context in enumerate(candidates):
        draws = uniform(derive_key(options.seed, "cloze questions", document, number), np.arange(len(of_context)), 5)
        drafts = _choose(number, of_context, draws, restatements, options)
        for index in sorted(drafts):
            of_sentence, place = drafts[index]
            answer = contexts[place.context].text[place.start : place.end]
            _, word_draw, _, kind_draw, context_draw = draws[index].tolist()
            words = question_words[of_context[index][1].kind]
            key = derive_key(options.seed, "cloze words", document, number, index)
            mixed = mix(of_sentence, key)
            if not mixed:  # all words are left out, or the answer ends its sentence and no word before it was chosen
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
    options: ClozeOptions,
) -> dict[int, tuple[list[str], AnswerPlace]]:
    """Return words and answers of random questions about a context, by the index of the candidate."""
    chosen: dict[int, tuple[list[str], AnswerPlace]] = {}
    for index in np.argsort(draws[:, 0]).tolist():
        if len(chosen) == options.questions_per_context:
            break
        sentence, phrase = candidates[index]
        words = _words_of(candidates[index], None if options.scattered else draws[index, 2])
        if restatements is None:
            place = AnswerPlace(context, sentence[phrase.first].start, sentence[phrase.last].end)
        else:
            place = restatements.find(context, candidates[index], words)
        if place is not None:
            chosen[index] = words, place
    return chosen


def _words_of(candidate: Candidate, draw: float | None) -> list[str]:
    """Return words of a sentence, without the answer.

    Args:
        candidate: the answer and its sentence.
        draw: random number that chooses how many of the words near the answer are before it; None for all words of the
            sentence.
    """
    sentence, phrase = candidate
    before, after = sentence[: phrase.first], sentence[phrase.last + 1 :]
    if draw is not None:
        n_before = min(len(before), round(draw * QUESTION_WORDS))
        before, after = before[len(before) - n_before :], after[: QUESTION_WORDS - n_before]
    return [word.text for word in (*before, *after)]


def _find_other_context(texts: Sequence[str], own: int, answer: str, draw: float) -> int | None:
    """Return the index of a random other text that does not contain the answer, or None."""
    others = [index for index, text in enumerate(texts) if index != own and answer not in text]
    return others[int(draw * len(others))] if others else None
