"""Exact match and F1 of answers, as the scripts evaluate-v1.1 and evaluate-v2.0 of SQuAD define them.

Rajpurkar et al. 2016 (arXiv:1606.05250, section 6.1) and Rajpurkar et al. 2018 (arXiv:1806.03822, section 5). The two
scripts differ where an answer holds nothing but articles and punctuation: 1.1 gives it no F1, 2.0 does not count it as
an answer.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
# ASCII alone: both scripts leave “ ” and ، in place.
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalize(text: str) -> str:
    """A text without what is not compared: in lower case, no ASCII punctuation, no English articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(gold: str, predicted: str) -> float:
    """1 if both are the same once normalized, else 0."""
    return float(normalize(gold) == normalize(predicted))


def token_f1(gold: str, predicted: str) -> float:
    """The harmonic mean of precision and recall over the normalized tokens; repeated ones count as often as in both.

    Returns:
        0 to 1; 0 where a side has no tokens, even if both have none (see `scores_with_no_answers` for 2.0).
    """
    gold_tokens, predicted_tokens = (normalize(text).split() for text in (gold, predicted))
    common = (Counter(gold_tokens) & Counter(predicted_tokens)).total()
    return 2 * common / (len(gold_tokens) + len(predicted_tokens)) if common else 0.0


def scores(golds: Sequence[Sequence[str]], predicted: Sequence[str]) -> dict[str, float]:
    """The figures of evaluate-v1.1, where every question has an answer.

    Args:
        golds: the right answers of each question, of which the best fitting one counts.
        predicted: one text a question.

    Returns:
        `exact_match` and `f1`, in percent.
    """
    exact = [
        max((exact_match(gold, text) for gold in g), default=0.0) for g, text in zip(golds, predicted, strict=True)
    ]
    f1 = [max((token_f1(gold, text) for gold in g), default=0.0) for g, text in zip(golds, predicted, strict=True)]
    return {"exact_match": _percent(np.array(exact)), "f1": _percent(np.array(f1))}


def scores_with_no_answers(
    golds: Sequence[Sequence[str]],
    predicted: Sequence[str],
    no_answer_scores: Sequence[float],
    threshold: float,
) -> dict[str, float]:
    """The figures of evaluate-v2.0, where some questions have no answer.

    Args:
        golds: the right answers of each question; none means that it has none.
        predicted: one text a question, the best one even where no answer is likelier; an empty one answers nothing.
        no_answer_scores: one a question, the higher the more likely that it has no answer.
        threshold: a question whose score is above counts as not answered.

    Returns:
        `exact`, `f1` and `total`; the same of the questions with and without answers as `HasAns_…` and `NoAns_…`, where
        there are any; and what the best threshold would give: `best_exact` with `best_exact_thresh`, `best_f1` with
        `best_f1_thresh`. In percent, apart from the thresholds and totals.
    """
    has_answer = np.array([bool(g) for g in golds], bool)
    scores = np.asarray(no_answer_scores, np.float64)
    pairs = [([gold for gold in g if normalize(gold)], text) for g, text in zip(golds, predicted, strict=True)]
    raw = {
        "exact": np.array([max(exact_match(gold, text) for gold in g or [""]) for g, text in pairs]),
        "f1": np.array(
            [max((token_f1(gold, text) for gold in g), default=not normalize(text)) for g, text in pairs], float
        ),
    }
    reached = {name: np.where(scores > threshold, ~has_answer, values) for name, values in raw.items()}

    figures: dict[str, float] = {}
    for prefix, chosen in (("", np.ones(len(pairs), bool)), ("HasAns_", has_answer), ("NoAns_", ~has_answer)):
        if chosen.any() or not prefix:
            figures |= {prefix + name: _percent(values[chosen]) for name, values in reached.items()}
            figures[prefix + "total"] = int(chosen.sum())
    for name, values in raw.items():
        figures[f"best_{name}"], figures[f"best_{name}_thresh"] = best_threshold(values, scores, has_answer)
    return figures


def best_threshold(raw: np.ndarray, no_answer_scores: np.ndarray, has_answer: np.ndarray) -> tuple[float, float]:
    """The threshold that would have given most: questions with a higher no-answer score count as not answered.

    As evaluate-v2.0 finds it, apart from two cases where the script's threshold does not give its own figure: questions
    with the same score stay together here, and where it is best to answer nothing the threshold lies below all scores.

    Args:
        raw: [Q], 0 to 1, what each question would get if its answer were given.
        no_answer_scores: [Q].
        has_answer: [Q], bool.

    Returns:
        The mean in percent and the threshold, the lowest of several that are as good.
    """
    if not len(raw):
        return 0.0, 0.0
    order = np.argsort(no_answer_scores, kind="stable")
    ordered = no_answer_scores[order]
    gains = np.cumsum((raw - ~has_answer)[order])
    # The last of each run of equal scores.
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    best = ends[np.argmax(gains[ends])]
    unanswered = float((~has_answer).sum())
    if gains[best] <= 0:
        # 0, as in the script, if that is below all scores, as it is of probabilities.
        return 100 * unanswered / len(raw), float(min(0.0, np.nextafter(ordered[0], -np.inf)))
    return float(100 * (unanswered + gains[best]) / len(raw)), float(ordered[best])


def _percent(values: np.ndarray) -> float:
    return float(100 * values.mean()) if len(values) else 0.0
