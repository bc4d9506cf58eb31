"""Exact match and F1 of answers, as defined by the scripts evaluate-v1.1 and evaluate-v2.0 of SQuAD.

The metrics are described by Rajpurkar et al. 2016 (arXiv:1606.05250), section 6.1, and Rajpurkar et al. 2018
(arXiv:1806.03822), section 5. The scripts differ for answers that consist of articles and punctuation only:
evaluate-v1.1 gives them an F1 of 0, and evaluate-v2.0 treats them like empty answers.
"""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

Normalize = Callable[[str], str]

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
# Only ASCII punctuation is removed: both scripts keep “, ” and ،.
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize(text: str) -> str:
    """Return a text in lower case, without ASCII punctuation, without English articles, and with single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(gold: str, predicted: str, normalize: Normalize = normalize) -> float:
    """Return 1 if the normalized texts are equal, else 0."""
    return float(normalize(gold) == normalize(predicted))


def token_f1(gold: str, predicted: str, normalize: Normalize = normalize) -> float:
    """Return the F1 of the multisets of normalized tokens of two texts.

    Returns:
        F1 from 0 to 1; 0 if a text has no tokens, even if both have none. (`scores_with_no_answers` returns 1 for two
        texts without tokens, as evaluate-v2.0 does.)
    """
    gold_tokens, predicted_tokens = (normalize(text).split() for text in (gold, predicted))
    common = (Counter(gold_tokens) & Counter(predicted_tokens)).total()
    return 2 * common / (len(gold_tokens) + len(predicted_tokens)) if common else 0.0


def scores(
    golds: Sequence[Sequence[str]], predicted: Sequence[str], normalize: Normalize = normalize
) -> dict[str, float]:
    """Return the metrics of evaluate-v1.1, for questions that all have an answer.

    Args:
        golds: correct answers of each question. The one that matches best counts.
        predicted: predicted answer of each question.
        normalize: function that normalizes an answer, by default that of evaluate-v1.1.

    Returns:
        `exact_match` and `f1`, in percent.
    """
    pairs = list(zip(golds, predicted, strict=True))
    exact = [max((exact_match(gold, text, normalize) for gold in g), default=0.0) for g, text in pairs]
    f1 = [max((token_f1(gold, text, normalize) for gold in g), default=0.0) for g, text in pairs]
    return {"exact_match": _percent(np.array(exact)), "f1": _percent(np.array(f1))}


def scores_with_no_answers(
    golds: Sequence[Sequence[str]],
    predicted: Sequence[str],
    no_answer_scores: Sequence[float],
    threshold: float,
) -> dict[str, float]:
    """Return the metrics of evaluate-v2.0, where some questions have no answer.

    Args:
        golds: correct answers of each question; empty for a question without an answer.
        predicted: most likely answer text of each question, even if it is more likely that there is no answer. An empty
            text means no answer.
        no_answer_scores: score of each question; a higher score means that it is more likely to have no answer.
        threshold: questions with a higher no-answer score count as left unanswered.

    Returns:
        - `exact`, `f1` and `total` (the number of questions)
        - `HasAns_exact`, `HasAns_f1` and `HasAns_total` for questions with answers, if there are any, and `NoAns_…` for
          questions without answers
        - `best_exact` and `best_f1`, the results of the best thresholds, and the thresholds `best_exact_thresh` and
          `best_f1_thresh`

        All are in percent, except for thresholds and totals.
    """
    has_answer = np.array([bool(g) for g in golds], bool)
    no_answer = np.asarray(no_answer_scores, np.float64)
    pairs = [([gold for gold in g if normalize(gold)], text) for g, text in zip(golds, predicted, strict=True)]
    raw = {
        "exact": np.array([max(exact_match(gold, text) for gold in g or [""]) for g, text in pairs]),
        "f1": np.array(
            [max((token_f1(gold, text) for gold in g), default=not normalize(text)) for g, text in pairs], float
        ),
    }
    thresholded = {name: np.where(no_answer > threshold, ~has_answer, values) for name, values in raw.items()}

    metrics: dict[str, float] = {}
    for prefix, selected in (("", np.ones(len(pairs), bool)), ("HasAns_", has_answer), ("NoAns_", ~has_answer)):
        if selected.any() or not prefix:
            metrics |= {prefix + name: _percent(values[selected]) for name, values in thresholded.items()}
            metrics[prefix + "total"] = int(selected.sum())
    for name, values in raw.items():
        metrics[f"best_{name}"], metrics[f"best_{name}_thresh"] = best_threshold(values, no_answer, has_answer)
    return metrics


def best_threshold(raw: np.ndarray, no_answer_scores: np.ndarray, has_answer: np.ndarray) -> tuple[float, float]:
    """Return the best mean score over all no-answer thresholds, and the threshold that gives it.

    The threshold is that of evaluate-v2.0, except in two cases where applying the script's threshold does not give the
    score that the script reports: questions with equal no-answer scores are never separated, and if it is best to
    answer nothing, the threshold is below all no-answer scores.

    Args:
        raw: (Q,) score of each question if the predicted answer is given, 0 to 1.
        no_answer_scores: (Q,) no-answer score of each question.
        has_answer: (Q,) bool, whether each question has an answer.

    Returns:
        The mean score in percent, and the lowest threshold that gives it.
    """
    if not len(raw):
        return 0.0, 0.0
    order = np.argsort(no_answer_scores, kind="stable")
    ordered = no_answer_scores[order]
    gains = np.cumsum((raw - ~has_answer)[order])
    # Index of the last of several equal scores.
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    best = ends[np.argmax(gains[ends])]
    unanswered = float((~has_answer).sum())
    if gains[best] <= 0:
        # The script's threshold, 0, is kept if it is below all scores, as it is for probabilities.
        return 100 * unanswered / len(raw), float(min(0.0, np.nextafter(ordered[0], -np.inf)))
    return float(100 * (unanswered + gains[best]) / len(raw)), float(ordered[best])


def _percent(values: np.ndarray) -> float:
    return float(100 * values.mean()) if len(values) else 0.0
