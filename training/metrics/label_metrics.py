"""Metrics of predicted labels, between 0 and 1: accuracy, weighted F1, and F1 of spans."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score

Span = tuple[int, int, str]


def accuracy(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the fraction of correct labels. Both arguments are the labels of the tokens, (n,) integers."""
    return float(accuracy_score(truth, predicted))


def weighted_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean of the F1 of all labels, weighted by the number of tokens with each label in `truth`."""
    zero: Any = 0  # the type stub accepts strings only
    return float(f1_score(truth, predicted, average="weighted", zero_division=zero))


def span_f1(truth: Sequence[str], predicted: Sequence[str], sentences: Sequence[int]) -> float:
    """Return the F1 of spans. A span is correct if its first token, last token and type are those of the truth.

    Args:
        truth, predicted: IOB1 tag of each token: O, or I- and B- with the type of a span.
        sentences: index of each token's sentence. Spans do not cross sentences.

    Returns:
        F1 between 0 and 1; 0 if neither `truth` nor `predicted` has a span.
    """
    true_spans, predicted_spans = (set(spans(tags, sentences)) for tags in (truth, predicted))
    total = len(true_spans) + len(predicted_spans)
    return 2 * len(true_spans & predicted_spans) / total if total else 0.0


def spans(tags: Sequence[str], sentences: Sequence[int]) -> list[Span]:
    """Return the spans of IOB1 tags, each as the index of its first token, that of its last token, and its type.

    A span continues while tags are I- with the type of the span. B-, or I- with another type, starts a new span.
    """
    result: list[Span] = []
    previous = (None, "O")
    for index, (tag, sentence) in enumerate(zip(tags, sentences, strict=True)):
        kind = tag[2:]
        if tag != "O":
            continues = tag[:2] == "I-" and previous[0] == sentence and previous[1][2:] == kind
            first = result.pop()[0] if continues else index
            result.append((first, index, kind))
        previous = (sentence, tag)
    return result
