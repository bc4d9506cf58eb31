"""Answer spans of a context from a model's start and end logits."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

# No-answer score of a question whose windows contain no context: larger than any difference of logits, and valid JSON.
NO_CONTEXT_SCORE = 1e9


class Candidate(NamedTuple):
    """Span of the context with its score."""

    text: str
    start: int
    """Position of the first character in the context."""
    end: int
    """Position after the last character in the context."""
    score: float
    """Sum of the start logit and the end logit. If several windows contain the span, the maximum of the sums."""


class AnswerPrediction(NamedTuple):
    """Predicted answer to a question."""

    text: str
    """Span with the highest score, even if "no answer" has a higher score; empty if there is no span."""
    no_answer_score: float
    """Score of "no answer" (the minimum over windows) minus the score of `text`. Above 0, "no answer" is likelier."""
    candidates: tuple[Candidate, ...] = ()
    """Highest-scoring spans in descending order; equal scores in the order of the text."""

    def answer_at(self, threshold: float) -> str:
        """Return the answer, or an empty string if the no-answer score is above the threshold."""
        return "" if self.no_answer_score > threshold else self.text


def decode_answers(
    contexts: Sequence[str],
    questions: np.ndarray,
    offsets: np.ndarray,
    start_logits: np.ndarray,
    end_logits: np.ndarray,
    *,
    max_answer: int,
    n_best: int,
) -> list[AnswerPrediction]:
    """Return the answers to all questions (Devlin et al. 2019, sections 4.2 and 4.3).

    All spans of a window are scored, not only spans with the highest start and end logits, so that no span is missed.
    Spans are invalid if they end before they start, have more than `max_answer` tokens or leave the context.

    Args:
        contexts: context of each question.
        questions: [W], index of the question of each of the W windows.
        offsets: [W, S, 2], character spans of the S tokens of each window: see `training.tasks.windows.Windows`.
        start_logits: [W, S], logits of the first token of the answer.
        end_logits: [W, S], logits of the last token of the answer.
        max_answer: maximum length of an answer in tokens.
        n_best: maximum number of candidates per question.
    """
    best: list[dict[tuple[int, int], float]] = [{} for _ in contexts]
    no_answer = np.full(len(contexts), np.inf)
    for window, question in enumerate(questions):
        starts, ends = (logits[window].astype(np.float64) for logits in (start_logits, end_logits))
        no_answer[question] = min(no_answer[question], starts[0] + ends[0])
        for span, score in _best_spans(starts, ends, offsets[window], max_answer, n_best):
            best[question][span] = max(score, best[question].get(span, -np.inf))
    return [
        _predict(text, spans, float(score), n_best)
        for text, spans, score in zip(contexts, best, no_answer, strict=True)
    ]


def _best_spans(
    starts: np.ndarray, ends: np.ndarray, offsets: np.ndarray, max_answer: int, n_best: int
) -> list[tuple[tuple[int, int], float]]:
    is_text = offsets[:, 0] < offsets[:, 1]
    starts, ends = (np.where(is_text, logits, -np.inf) for logits in (starts, ends))
    padded = np.append(ends, np.full(max_answer - 1, -np.inf))
    # [S, max_answer]: by first token and number of following tokens.
    scores = starts[:, None] + np.lib.stride_tricks.sliding_window_view(padded, max_answer)
    flat = scores.ravel()
    # `argpartition` would choose among equal scores differently on different processors.
    threshold = np.partition(flat, -n_best)[-n_best] if len(flat) > n_best else -np.inf
    chosen = np.flatnonzero((flat >= threshold) & np.isfinite(flat))
    chosen = chosen[np.argsort(-flat[chosen], kind="stable")][:n_best]
    firsts, more = np.divmod(chosen, max_answer)
    spans = zip(offsets[firsts, 0].tolist(), offsets[firsts + more, 1].tolist(), strict=True)
    return list(zip(spans, flat[chosen].tolist(), strict=True))


def _predict(context: str, spans: dict[tuple[int, int], float], no_answer: float, n_best: int) -> AnswerPrediction:
    ranked = sorted(spans.items(), key=lambda item: (-item[1], item[0]))[:n_best]
    candidates = tuple(Candidate(context[start:end], start, end, score) for (start, end), score in ranked)
    if not candidates:
        return AnswerPrediction("", NO_CONTEXT_SCORE)
    return AnswerPrediction(candidates[0].text, no_answer - candidates[0].score, candidates)
