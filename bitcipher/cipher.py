"""The bit-cipher: a short code of active bits for each rank (Zhao & Williams 2023, *Bit Cipher*, section 3).

The most frequent words have one active bit each, the next ones two, and so on, in an order that gives words of similar
frequency similar codes. Codes are stored as active bits; a dense word-by-bit matrix is never built.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bitcipher.errors import BitcipherError

if TYPE_CHECKING:
    # Imported only by methods that return a matrix, since the import takes 0.1 s and embeddings do not need it.
    import scipy.sparse as sp

# Predictions per matrix product of `decipher`: the float64 scores of 256 rows and 420,000 words take 860 MB.
DECIPHER_ROWS = 256


class ActiveBits(NamedTuple):
    """Active bits of the codes of ranks 0 … n - 1. Those of rank t are ``bits[starts[t]:starts[t + 1]]``, ascending."""

    starts: np.ndarray  # (n + 1,) int64
    bits: np.ndarray  # (starts[n],) int32


class BitCipher:
    """Bit cipher, which assigns a code to each rank in the order of Figure 2 of *Bit Cipher*.

    Args:
        bits: number of bits; there are codes for at most 2**bits - 1 words.

    Raises:
        BitcipherError: if ``bits`` is not an integer of at least 1.

    >>> BitCipher(5).encipher(7).toarray()[5:]
    array([[0. , 0. , 0. , 0.5, 0.5],
           [0. , 0. , 0.5, 0. , 0.5]])
    """

    def __init__(self, bits: int):
        if not isinstance(bits, int | np.integer) or isinstance(bits, bool) or bits < 1:
            raise BitcipherError(f"`bits` must be an integer of at least 1, got {bits!r}.")
        self.bits = int(bits)

    def active_bits(self, n: int) -> ActiveBits:
        """Return the active bits of the n most frequent words.

        Raises:
            BitcipherError: if the number of bits gives fewer than n codes.
        """
        self._check_size(n)
        levels = list(self._levels(n))
        sizes = np.concatenate([np.full(len(level), level.shape[1], np.int64) for level in levels])
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        return ActiveBits(starts, np.concatenate([level.ravel() for level in levels]))

    def matrix(self, n: int) -> "sp.csr_array":
        """Return the bit vectors η of the n most frequent words, sparse (n, bits) float64 of 0 and 1.

        They are the rows of U in Figure 2 of *Bit Cipher*.
        """
        import scipy.sparse as sp

        starts, bits = self.active_bits(n)
        return sp.csr_array((np.ones(len(bits)), bits, starts), shape=(n, self.bits))

    def encipher(self, n: int) -> "sp.csr_array":
        """Return the ciphers p = η / ‖η‖₁ of the n most frequent words, sparse (n, bits) float64. Each row sums to 1.

        They are the rows of V in Figure 2 of *Bit Cipher*.
        """
        import scipy.sparse as sp

        starts, bits = self.active_bits(n)
        sizes = np.diff(starts)
        return sp.csr_array((np.repeat(1.0 / sizes, sizes), bits, starts), shape=(n, self.bits))

    def decipher(self, predictions: np.ndarray, n: int | None = None, topn: int = 1) -> np.ndarray:
        """Return the ranks of the words whose bit vectors best match predictions.

        The score is the cosine between a prediction and a bit vector. With the dot product, a word would have the same
        score as every word whose active bits include its own. Ties are broken by rank.

        Args:
            predictions: (m, bits), such as ciphers, noisy ciphers, or the outputs of a model.
            n: number of candidates, the most frequent words; by default all 2**bits - 1 codes. Required for more than
                20 bits.
            topn: number of ranks per prediction.

        Returns:
            Ranks, best first, (m, topn) int64.

        Raises:
            BitcipherError: if `n` is missing or out of bounds, or if predictions have another number of dimensions.
        """
        import scipy.sparse as sp

        if n is None and self.bits > 20:
            raise BitcipherError(f"{self.bits} bits have too many codes to compare with all of them: pass `n`.")
        candidates = 2**self.bits - 1 if n is None else n
        predictions = np.atleast_2d(np.asarray(predictions, np.float64))
        if predictions.shape[1] != self.bits:
            raise BitcipherError(
                f"Predictions have {predictions.shape[1]} dimensions, but the code has {self.bits} bits."
            )
        starts, bits = self.active_bits(candidates)
        sizes = np.diff(starts)
        directions = sp.csr_array((np.repeat(sizes**-0.5, sizes), bits, starts), shape=(candidates, self.bits))
        best = [
            np.argsort(-(directions @ rows.T).T, axis=1, kind="stable")[:, :topn]
            for rows in np.array_split(predictions, max(1, -(-len(predictions) // DECIPHER_ROWS)))
        ]
        return np.concatenate(best)

    def _check_size(self, n: int) -> None:
        if n < 1:
            raise BitcipherError(f"`n` must be at least 1, got {n}.")
        if int(n).bit_length() > self.bits:
            raise BitcipherError(
                f"{self.bits} bits have codes for {2**self.bits - 1:,} words, not for {n:,}: "
                f"use at least {int(n).bit_length()} bits."
            )

    def _levels(self, n: int) -> Iterator[np.ndarray]:
        """Yield the codes with 1, 2, … active bits (levels 1, 2, …) until there are n codes, in order of assignment.

        Level k is a (codes, k) int32 array. Each row has the active bits of a code, ascending.
        """
        level = np.arange(self.bits, dtype=np.int32)[:, None][:n]
        missing = n - len(level)
        yield level
        while missing:
            level = self._next_level(level)[:missing]
            missing -= len(level)
            yield level

    def _next_level(self, level: np.ndarray) -> np.ndarray:
        """Return the codes with one more active bit than those of `level`, in order of assignment.

        For each bit i, in descending order, the codes of `level` whose bits are all below i get bit i. These codes are
        taken in reverse order. This rule gives Figure 2 of *Bit Cipher* for all 2**bits - 1 codes (checked for 2 to
        10 bits), without a search for duplicates.
        """
        backwards = level[::-1]
        largest = backwards[:, -1]
        blocks = []
        for i in range(self.bits - 1, level.shape[1] - 1, -1):
            # In reverse order, the bits of level 1 descend, and the largest bits of later levels ascend. The codes
            # whose bits are all below i are therefore at the end of the reversed level 1, and at the start of reversed
            # later levels.
            members = backwards[self.bits - i :] if level.shape[1] == 1 else backwards[: np.searchsorted(largest, i)]
            blocks.append(np.column_stack([members, np.full(len(members), i, np.int32)]))
        return np.concatenate(blocks)
