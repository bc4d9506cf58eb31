"""Intrinsic evaluation of word vectors: word similarity, analogies and neighbor stability."""

from bitcipher.evaluation.analogies import AnalogiesResult, AnalogySection, evaluate_word_analogies
from bitcipher.evaluation.stability import StabilityResult, neighbor_stability
from bitcipher.evaluation.word_pairs import WordPairsResult, evaluate_word_pairs

__all__ = [
    "AnalogiesResult",
    "AnalogySection",
    "StabilityResult",
    "WordPairsResult",
    "evaluate_word_analogies",
    "evaluate_word_pairs",
    "neighbor_stability",
]
