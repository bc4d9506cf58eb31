"""Noise: how much of a word's cipher is trusted, and what stands in for the rest (papers/bit-cipher.txt, 3.2, 3.3).

A noisy cipher is v = β p + (1 - β) σ. Noise lives in the bits, not in the words (SPEC 1).
"""

from collections.abc import Callable

import numpy as np

from bitcipher.cipher import ActiveBits
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary


def document_share(vocabulary: Vocabulary) -> np.ndarray:
    """β = d / D: the share of passages that hold the word; the best of those measured (SPEC 1)."""
    return vocabulary.passages / max(1, vocabulary.total_passages)


def frequency(vocabulary: Vocabulary) -> np.ndarray:
    """β = f / (f + 1): one error in all of a word's occurrences (papers/bit-cipher.txt, section 3.2)."""
    return vocabulary.counts / (vocabulary.counts + 1)


def document_ratio(vocabulary: Vocabulary) -> np.ndarray:
    """β = d / f: passages over occurrences (papers/bit-cipher.txt, section 3.3); 0 for a word that never occurs."""
    # The passages of <oov> are a sum, so there may be as many as occurrences, never more.
    return vocabulary.passages / np.maximum(1, vocabulary.counts)


def none(vocabulary: Vocabulary) -> np.ndarray:
    """β = 1: ciphers as they are."""
    return np.ones(len(vocabulary))


NOISES: dict[str, Callable[[Vocabulary], np.ndarray]] = {
    noise.__name__: noise for noise in (document_share, frequency, document_ratio, none)
}


def trust(noise: str, vocabulary: Vocabulary) -> np.ndarray:
    """β by the name of its noise, (N,) float64 in [0, 1].

    Raises:
        BitcipherError: if there is no noise of that name.
    """
    if noise not in NOISES:
        raise BitcipherError(f"There is no noise {noise!r}: choose {', '.join(NOISES)}.")
    return NOISES[noise](vocabulary)


def noise_distribution(codes: ActiveBits, bits: int, vocabulary: Vocabulary) -> np.ndarray:
    """σ: how likely each bit should have been seen instead, (b,) float64 of sum 1 (SPEC 1).

    Args:
        codes: the active bits of each word.
        bits: b, those of the code.
        vocabulary: the counts f and their sum M, in σ = (1 - m / M) / (b - 1) with m = Σ f p.
    """
    if bits < 2:
        raise BitcipherError("Noise needs at least 2 bits: with 1 there is no other bit to be mistaken for.")
    sizes = np.diff(codes.starts)
    mass = np.bincount(codes.bits, np.repeat(vocabulary.counts / sizes, sizes), minlength=bits)
    return (1 - mass / max(1, vocabulary.total_count)) / (bits - 1)
