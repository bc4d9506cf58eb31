"""What answers to questions are worth that know nothing: what a model has to be better than."""

import re
from collections.abc import Sequence

import numpy as np

from training.counter_rng import derive_key, uniform
from training.tasks.answers import AnswerPrediction
from training.tasks.squad import Question

# Words of a random answer at most. Nine in ten answers of SQuAD 1.1's dev part have no more than seven.
LONGEST = 7

_WORD = re.compile(r"\S+")


def random_spans(questions: Sequence[Question], seed: int) -> list[AnswerPrediction]:
    """Some words in a row of each context, all starts and all numbers of words up to `LONGEST` being as likely.

    The answer to a question depends on the seed and its place among the questions alone. No question is left unanswered
    at a threshold of 0.
    """
    draws = uniform(derive_key(seed, "random spans"), np.arange(len(questions)), 2)
    return [_random_span(question.context, *draw) for question, draw in zip(questions, draws.tolist(), strict=True)]


def no_answers(questions: Sequence[Question]) -> list[AnswerPrediction]:
    """No answer to any question: half of SQuAD 2.0's dev part has none."""
    return [AnswerPrediction("", no_answer_score=1.0) for _ in questions]


def _random_span(context: str, where: float, how_long: float) -> AnswerPrediction:
    words = [match.span() for match in _WORD.finditer(context)]
    if not words:
        return AnswerPrediction("", no_answer_score=0.0)
    first = int(where * len(words))
    last = min(first + int(how_long * LONGEST), len(words) - 1)
    return AnswerPrediction(context[words[first][0] : words[last][1]], no_answer_score=0.0)
