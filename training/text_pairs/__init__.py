"""Evaluation of models that generate the targets of pairs of texts; see README.md."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.text_pairs.evaluation import evaluate_text_pairs, score_run
    from training.text_pairs.scores import PREDICTIONS, SCORES, TextPairScores, check_scoring

__all__ = ["PREDICTIONS", "SCORES", "TextPairScores", "check_scoring", "evaluate_text_pairs", "score_run"]

__getattr__ = lazy_names(
    __name__,
    {
        "evaluation": ("score_run", "evaluate_text_pairs"),
        "scores": ("PREDICTIONS", "SCORES", "TextPairScores", "check_scoring"),
    },
)
