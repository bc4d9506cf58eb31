"""Noise: the weight β of each word's cipher, and the distribution σ that gets the remaining weight.

A noisy cipher is v = β p + (1 - β) σ (Zhao & Williams 2023, *Bit Cipher*, sections 3.2 and 3.3). Section 3.2 defines σ
over N dimensions. These are the bits of the code here, or the words, whose distribution is then enciphered.

Symbols: f is the number of occurrences of a word, d the number of passages that contain it, D the number of all
passages, p the cipher of the word, b the number of bits, and N the number of words.
"""

from collections.abc import Callable

import numpy as np

from bitcipher.cipher import ActiveBits
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary


def document_share(vocabulary: Vocabulary) -> np.ndarray:
    """Return β = d / D, the share of passages that contain the word. It gives the best vectors of the four noises."""
    return vocabulary.passages / max(1, vocabulary.total_passages)


def frequency(vocabulary: Vocabulary) -> np.ndarray:
    """Return β = f / (f + 1), as if one of f + 1 occurrences were an error (*Bit Cipher*, section 3.2)."""
    return vocabulary.counts / (vocabulary.counts + 1)


def document_ratio(vocabulary: Vocabulary) -> np.ndarray:
    """Return β = d / f: passages per occurrence (*Bit Cipher*, section 3.3), or 0 for a word that never occurs."""
    # The passages of <oov> are a sum over its words, which is at most the number of its occurrences.
    return vocabulary.passages / np.maximum(1, vocabulary.counts)


def none(vocabulary: Vocabulary) -> np.ndarray:
    """Return β = 1, which means ciphers without noise."""
    return np.ones(len(vocabulary))


NOISES: dict[str, Callable[[Vocabulary], np.ndarray]] = {
    noise.__name__: noise for noise in (document_share, frequency, document_ratio, none)
}

NOISE_OVER = ("bits", "words")


def beta(noise: str, vocabulary: Vocabulary) -> np.ndarray:
    """Return β of each word, (N,) float64 in [0, 1].

    Args:
        noise: name of a function in `NOISES`.
        vocabulary: the N words with their counts.

    Raises:
        BitcipherError: if there is no noise of that name.
    """
    if noise not in NOISES:
        raise BitcipherError(f"There is no noise {noise!r}: choose from {', '.join(NOISES)}.")
    return NOISES[noise](vocabulary)


def noise_distribution(codes: ActiveBits, bits: int, vocabulary: Vocabulary, over: str = "bits") -> np.ndarray:
    """Return σ, the noise probability of each bit, (b,) float64 with sum 1.

    Over bits, σ = (1 - m / M) / (b - 1), with the sums m = Σ f p and M = Σ f over all words. Over words, each word has
    the noise probability (1 - f / M) / (N - 1), and σ is the sum of the words' ciphers with these weights.

    Args:
        codes: the active bits of each word.
        bits: number of bits b of the code.
        vocabulary: the N words with their counts f.
        over: "bits" or "words".

    Raises:
        BitcipherError: if there is only one bit or only one word, or `over` has another value.
    """
    if over not in NOISE_OVER:
        raise BitcipherError(f"There is no noise over {over!r}: choose from {', '.join(NOISE_OVER)}.")
    if bits < 2:
        raise BitcipherError("Noise needs at least 2 bits, because it gives weight to the bits that are not active.")
    total = max(1, vocabulary.total_count)
    if over == "bits":
        return (1 - _encipher(codes, bits, vocabulary.counts) / total) / (bits - 1)
    if len(vocabulary) < 2:
        raise BitcipherError("Noise over words needs at least 2 words, because it gives weight to the other words.")
    return _encipher(codes, bits, (1 - vocabulary.counts / total) / (len(vocabulary) - 1))


def _encipher(codes: ActiveBits, bits: int, weights: np.ndarray) -> np.ndarray:
    """Return the sum of all ciphers with the weights of their words, (b,) float64."""
    sizes = np.diff(codes.starts)
    return np.bincount(codes.bits, np.repeat(weights / sizes, sizes), minlength=bits)
