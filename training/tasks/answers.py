"""From a model's start and end logits to answers: parts of the context, cut from the text itself."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# The no-answer score of a question whose windows show no context: above any difference of logits, and still JSON.
NO_CONTEXT_SCORE = 1e9


class Candidate(NamedTuple):
    """A part of the context, and how likely it is the answer."""

    text: str
    start: int
    """Characters, in the context."""
    end: int
    """Behind the last character."""
    score: float
    """The start logit and the end logit together; of several windows the highest."""


class AnswerPrediction(NamedTuple):
    """What a model answers to a question."""

    text: str
    """The likeliest part of the context, whether or not no answer is likelier still; empty if there is none."""
    no_answer_score: float
    """The score of no answer (of all windows the lowest) less that of `text`: above 0, no answer is likelier."""
    candidates: tuple[Candidate, ...] = ()
    """The best ones, best first; those with the same score as in the text."""

    def chosen(self, threshold: float) -> str:
        """The answer, or an empty text if the no-answer score is above the threshold."""
        return "" if self.no_answer_score > threshold else self.text


def read_answers(
    contexts: Sequence[str],
    questions: np.ndarray,
    places: np.ndarray,
    start_logits: np.ndarray,
    end_logits: np.ndarray,
    *,
    max_answer: int,
    n_best: int,
) -> list[AnswerPrediction]:
    """The answers to all questions (Devlin et al. 2019, sections 4.2 and 4.3).

    Every span of a window is weighed, not only those of the likeliest starts and ends, so that none is missed. Spans
    that end before they start, are longer than `max_answer` tokens or reach out of the context are no answers.

    Args:
        contexts: of each question.
        questions: [W], whose window it is.
        places: [W, S, 2]: see `training.tasks.windows.Windows`.
        start_logits, end_logits: [W, S].
        max_answer: tokens.
        n_best: how many candidates a question keeps at most.
    """
    best: list[dict[tuple[int, int], float]] = [{} for _ in contexts]
    nothing = np.full(len(contexts), np.inf)
    for window, question in enumerate(questions):
        starts, ends = (logits[window].astype(np.float64) for logits in (start_logits, end_logits))
        nothing[question] = min(nothing[question], starts[0] + ends[0])
        for span, score in _best_spans(starts, ends, places[window], max_answer, n_best):
            best[question][span] = max(score, best[question].get(span, -np.inf))
    return [
        _predict(text, spans, float(none), n_best) for text, spans, none in zip(contexts, best, nothing, strict=True)
    ]


def _best_spans(
    starts: np.ndarray, ends: np.ndarray, places: np.ndarray, max_answer: int, n_best: int
) -> list[tuple[tuple[int, int], float]]:
    is_text = places[:, 0] < places[:, 1]
    starts, ends = (np.where(is_text, logits, -np.inf) for logits in (starts, ends))
    padded = np.append(ends, np.full(max_answer - 1, -np.inf))
    # [S, max_answer]: by first token and number of tokens less one.
    scores = starts[:, None] + np.lib.stride_tricks.sliding_window_view(padded, max_answer)
    flat = scores.ravel()
    # Not `argpartition`, whose choice among equals differs between processors.
    enough = np.partition(flat, -n_best)[-n_best] if len(flat) > n_best else -np.inf
    chosen = np.flatnonzero((flat >= enough) & np.isfinite(flat))
    chosen = chosen[np.argsort(-flat[chosen], kind="stable")][:n_best]
    firsts, more = np.divmod(chosen, max_answer)
    spans = zip(places[firsts, 0].tolist(), places[firsts + more, 1].tolist(), strict=True)
    return list(zip(spans, flat[chosen].tolist(), strict=True))


def _predict(context: str, spans: dict[tuple[int, int], float], nothing: float, n_best: int) -> AnswerPrediction:
    ranked = sorted(spans.items(), key=lambda item: (-item[1], item[0]))[:n_best]
    candidates = tuple(Candidate(context[start:end], start, end, score) for (start, end), score in ranked)
    if not candidates:
        return AnswerPrediction("", NO_CONTEXT_SCORE)
    return AnswerPrediction(candidates[0].text, nothing - candidates[0].score, candidates)
