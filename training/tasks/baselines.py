"""Trivial baselines of question answering."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from training.counter_rng import derive_key, uniform
from training.tasks.answers import AnswerPrediction, Candidate
from training.tasks.sentence_spans import sentence_spans
from training.tasks.squad import Question

# Maximum number of words of a random answer. Nine in ten answers of SQuAD 1.1's dev split have at most seven.
MAX_WORDS = 7

_WORD = re.compile(r"\S+")


def random_spans(questions: Sequence[Question], seed: int) -> list[AnswerPrediction]:
    """Return a random span of words from each context, uniform over starts and over lengths up to `MAX_WORDS` words.

    The span depends only on the seed, the index of the question and its context. At a threshold of 0, every span counts
    as an answer.
    """
    draws = uniform(derive_key(seed, "random spans"), np.arange(len(questions)), 2)
    return [_random_span(question.context, *draw) for question, draw in zip(questions, draws.tolist(), strict=True)]


def no_answers(questions: Sequence[Question]) -> list[AnswerPrediction]:
    """Return an empty answer to every question. Half of the questions of SQuAD 2.0's dev split have no answer."""
    return [AnswerPrediction("", no_answer_score=1.0) for _ in questions]


def first_sentences(questions: Sequence[Question]) -> list[AnswerPrediction]:
    """Return the first sentence of each context."""
    spans = [next(iter(sentence_spans(question.context)), (0, 0)) for question in questions]
    return [_span(question.context, *span) for question, span in zip(questions, spans, strict=True)]


def most_frequent_answers(questions: Sequence[Question], train: Sequence[Question]) -> list[AnswerPrediction]:
    """Return the most frequent answer of the training questions as the answer to every question.

    Of equally frequent answers, the first one is used. Its position is that of its first occurrence in the context; it
    has none if the context does not contain it.
    """
    answers = Counter(question.golds[0] for question in train if question.golds)
    text = max(answers, key=answers.__getitem__, default="")
    return [_find(question.context, text) for question in questions]


def _find(context: str, text: str) -> AnswerPrediction:
    start = context.find(text)
    return _span(context, start, start + len(text)) if text and start >= 0 else AnswerPrediction(text, 0.0)


def _random_span(context: str, start: float, length: float) -> AnswerPrediction:
    words = [match.span() for match in _WORD.finditer(context)]
    if not words:
        return AnswerPrediction("", no_answer_score=0.0)
    first = int(start * len(words))
    last = min(first + int(length * MAX_WORDS), len(words) - 1)
    return _span(context, words[first][0], words[last][1])


def _span(context: str, start: int, end: int) -> AnswerPrediction:
    text = context[start:end]
    return AnswerPrediction(text, no_answer_score=0.0, candidates=(Candidate(text, start, end, score=0.0),))
