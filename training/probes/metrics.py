"""Figures of a labeling: accuracy, weighted F1, and F1 of whole spans."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, f1_score

Span = tuple[int, int, str]


def accuracy(truth: np.ndarray, predicted: np.ndarray) -> float:
    """The share of tokens, (n,) each, with the right label."""
    return float(accuracy_score(truth, predicted))


def weighted_f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    """The mean of the labels' F1, each weighing as many tokens as truly have it."""
    zero: Any = 0  # the stub knows strings only
    return float(f1_score(truth, predicted, average="weighted", zero_division=zero))


def span_f1(truth: Sequence[str], predicted: Sequence[str], sentences: Sequence[int]) -> float:
    """F1 of spans: those that are predicted with the same first and last token and the same type as in the truth.

    Args:
        truth, predicted: the IOB1 tag of each token.
        sentences: the number of each token's sentence; no span goes beyond one.

    Returns:
        0 if neither has a span.
    """
    true_spans, predicted_spans = (set(spans(tags, sentences)) for tags in (truth, predicted))
    found = len(true_spans) + len(predicted_spans)
    return 2 * len(true_spans & predicted_spans) / found if found else 0.0


def spans(tags: Sequence[str], sentences: Sequence[int]) -> list[Span]:
    """The spans of IOB1 tags: first token, last token and type.

    A span goes on as long as tags are I- of its type. B- of a type always begins another span; so does I- of
    another type.
    """
    found: list[Span] = []
    before = (None, "O")
    for place, (tag, sentence) in enumerate(zip(tags, sentences, strict=True)):
        kind = tag[2:]
        if tag != "O":
            goes_on = tag[:2] == "I-" and before[0] == sentence and before[1][2:] == kind
            first = found.pop()[0] if goes_on else place
            found.append((first, place, kind))
        before = (sentence, tag)
    return found
