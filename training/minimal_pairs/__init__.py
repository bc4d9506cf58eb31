"""Evaluation of language models by minimal pairs of a grammatical and an ungrammatical sentence."""

from typing import TYPE_CHECKING

from bitcipher.lazy_names import lazy_names

if TYPE_CHECKING:
    from training.minimal_pairs.pair_accuracy import PairAccuracy, evaluate_pairs
    from training.minimal_pairs.pair_files import MinimalPair, read_pairs
    from training.minimal_pairs.sentence_likelihood import score_sentences

__all__ = ["MinimalPair", "PairAccuracy", "evaluate_pairs", "read_pairs", "score_sentences"]

__getattr__ = lazy_names(
    __name__,
    {
        "pair_accuracy": ("PairAccuracy", "evaluate_pairs"),
        "pair_files": ("MinimalPair", "read_pairs"),
        "sentence_likelihood": ("score_sentences",),
    },
)
