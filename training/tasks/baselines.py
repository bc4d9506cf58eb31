"""Baselines of question answering that are not trained."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from training.data.counter_rng import derive_key, uniform
from training.tasks.answers import AnswerPrediction, Candidate
from training.tasks.phrases import Phrase, Word, find_phrases, frequent_words, split_words
from training.tasks.sentence_spans import sentence_spans
from training.tasks.squad import Question

# Maximum number of words of a random answer. Nine in ten answers of SQuAD 1.1's dev split have at most seven.
MAX_WORDS = 7
# Distance in words up to which a word of the question counts for a phrase. On SQuAD 1.1's dev split, F1 is 14.6 with 5,
# 13.0 with 10 and 8.4 with 20.
NEAR_WORDS = 5

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


def phrases_near_question_words(questions: Sequence[Question]) -> list[AnswerPrediction]:
    """Return the phrase of each context that has most words of the question near it, a baseline of bags of words.

    It is like the sliding windows of Richardson et al. (2013, "MCTest", section 4.1). A phrase without words of the
    question is scored by the words of the question that are at most `NEAR_WORDS` words away, weighted by the logarithm
    of their inverse frequency over the contexts. At a threshold of 0, the phrase counts as an answer if these words
    have more than half of the weight of the question.
    """
    contexts = {question.context: split_words(question.context) for question in questions}
    frequent = frequent_words(contexts)
    phrases = {context: find_phrases(words, frequent) for context, words in contexts.items()}
    n_contexts = Counter(word for words in contexts.values() for word in {each.text.lower() for each in words})
    predictions = []
    for question in questions:
        asked = {word.text.lower() for word in split_words(question.question)}
        weights = {word: math.log((1 + len(contexts)) / (n_contexts[word] or 1)) for word in asked}
        words, found = contexts[question.context], phrases[question.context]
        shares = [_share(words, phrase, weights) for phrase in found]
        if not shares:
            predictions.append(AnswerPrediction("", no_answer_score=0.5))
            continue
        best = found[shares.index(max(shares))]
        span = _span(question.context, words[best.first].start, words[best.last].end)
        predictions.append(span._replace(no_answer_score=0.5 - max(shares)))
    return predictions


def most_frequent_answers(questions: Sequence[Question], train: Sequence[Question]) -> list[AnswerPrediction]:
    """Return the most frequent answer of the training questions as the answer to every question.

    Of equally frequent answers, the first one is used. Its position is that of its first occurrence in the context; it
    has none if the context does not contain it.
    """
    answers = Counter(question.golds[0] for question in train if question.golds)
    text = max(answers, key=answers.__getitem__, default="")
    return [_find(question.context, text) for question in questions]


def _share(words: Sequence[Word], phrase: Phrase, weights: Mapping[str, float]) -> float:
    """Return the share of the weights whose words are near a phrase, or -1 if the phrase contains one of the words."""
    if any(word.text.lower() in weights for word in words[phrase.first : phrase.last + 1]):
        return -1.0
    near = words[max(0, phrase.first - NEAR_WORDS) : phrase.last + 1 + NEAR_WORDS]
    common = {word.text.lower() for word in near} & weights.keys()
    # Exact sums, because the order of a set is random.
    return math.fsum(weights[word] for word in common) / (math.fsum(weights.values()) or 1)


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
