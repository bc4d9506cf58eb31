"""The bit-cipher: every rank gets a short code, a set of active bits (papers/bit-cipher.txt, section 3; SPEC 1).

The most frequent words get one bit each, the next ones two, and so on, in an order in which words of similar
frequency get similar codes. A code is kept as its active bits; a dense word-by-bit matrix is never built.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bitcipher.errors import BitcipherError

if TYPE_CHECKING:
    # Loaded where a matrix is asked for, which vectors of counts never do: it takes a tenth of a second.
    import scipy.sparse as sp

# Rows of predictions deciphered at once: 256 rows against 420,000 words are 860 MB of float64 scores.
DECIPHER_ROWS = 256


class ActiveBits(NamedTuple):
    """The active bits of n words: those of rank t are ``bits[starts[t]:starts[t + 1]]``, ascending."""

    starts: np.ndarray  # (n + 1,) int64
    bits: np.ndarray  # (starts[n],) int32


class BitCipher:
    """The code of ``bits`` bits, in the order of Figure 2.

    Args:
        bits: dimensions of the code; it has 2**bits - 1 words at most.

    Raises:
        BitcipherError: if ``bits`` is not a whole number of at least 1.

    >>> BitCipher(5).encipher(7).toarray()[5:]
    array([[0. , 0. , 0. , 0.5, 0.5],
           [0. , 0. , 0.5, 0. , 0.5]])
    """

    def __init__(self, bits: int):
        if not isinstance(bits, int | np.integer) or isinstance(bits, bool) or bits < 1:
            raise BitcipherError(f"bits must be a whole number of at least 1, not {bits!r}.")
        self.bits = int(bits)

    def active_bits(self, n: int) -> ActiveBits:
        """The active bits of the n most frequent words.

        Raises:
            BitcipherError: if n words need more bits than the code has.
        """
        self._check_size(n)
        levels = list(self._levels(n))
        sizes = np.concatenate([np.full(len(level), level.shape[1], np.int64) for level in levels])
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        return ActiveBits(starts, np.concatenate([level.ravel() for level in levels]))

    def matrix(self, n: int) -> "sp.csr_array":
        """The bit vectors η of the n most frequent words, (n, bits) of 0 and 1: Figure 2's U."""
        import scipy.sparse as sp

        starts, bits = self.active_bits(n)
        return sp.csr_array((np.ones(len(bits)), bits, starts), shape=(n, self.bits))

    def encipher(self, n: int) -> "sp.csr_array":
        """The ciphers p = η / ‖η‖₁ of the n most frequent words, (n, bits), rows of sum 1: Figure 2's V."""
        import scipy.sparse as sp

        starts, bits = self.active_bits(n)
        sizes = np.diff(starts)
        return sp.csr_array((np.repeat(1.0 / sizes, sizes), bits, starts), shape=(n, self.bits))

    def decipher(self, predictions: np.ndarray, n: int | None = None, topn: int = 1) -> np.ndarray:
        """The ranks of the words whose bit vectors best match b-dimensional predictions.

        The match is the cosine between a prediction and Figure 2's raw bit vectors: the plain product would tie
        a word with every word whose bits include its own. Ties go to the more frequent word.

        Args:
            predictions: (m, bits), such as ciphers, noisy ciphers, or what a model puts out.
            n: words to choose from, the most frequent first; all 2**bits - 1 by default, of codes of up to 20 bits.
            topn: how many ranks to give for each prediction, best first.

        Returns:
            (m, topn) int64.
        """
        import scipy.sparse as sp

        if n is None and self.bits > 20:
            raise BitcipherError(f"{self.bits} bits tell too many words apart to try them all: say how many there are.")
        n = 2**self.bits - 1 if n is None else n
        predictions = np.atleast_2d(np.asarray(predictions, np.float64))
        if predictions.shape[1] != self.bits:
            raise BitcipherError(
                f"Predictions have {predictions.shape[1]} dimensions, but the code has {self.bits} bits."
            )
        starts, bits = self.active_bits(n)
        sizes = np.diff(starts)
        directions = sp.csr_array((np.repeat(sizes**-0.5, sizes), bits, starts), shape=(n, self.bits))
        best = [
            np.argsort(-(directions @ rows.T).T, axis=1, kind="stable")[:, :topn]
            for rows in np.array_split(predictions, max(1, -(-len(predictions) // DECIPHER_ROWS)))
        ]
        return np.concatenate(best)

    def _check_size(self, n: int) -> None:
        if n < 1:
            raise BitcipherError(f"A code is for at least 1 word, not {n}.")
        if n > 2**self.bits - 1:
            raise BitcipherError(
                f"{n:,} words do not fit into {self.bits} bits, which tell {2**self.bits - 1:,} words apart: "
                f"use at least {int(n).bit_length()} bits."
            )

    def _levels(self, n: int) -> Iterator[np.ndarray]:
        """Levels 1, 2, … until they hold n codes: (size, k) int32 of ascending bits, in order of assignment."""
        level = np.arange(self.bits, dtype=np.int32)[:, None][:n]
        missing = n - len(level)
        yield level
        while missing:
            level = self._next_level(level)[:missing]
            missing -= len(level)
            yield level

    def _next_level(self, level: np.ndarray) -> np.ndarray:
        """Every member, backwards, with bit i added if all its bits are below i, for i falling (SPEC 1)."""
        backwards = level[::-1]
        largest = backwards[:, -1]
        pieces = []
        for i in range(self.bits - 1, level.shape[1] - 1, -1):
            # Level 1 backwards has its bits falling, every later level its largest bits rising: so the members
            # below bit i are a tail of the former and a head of the latter.
            members = backwards[self.bits - i :] if level.shape[1] == 1 else backwards[: np.searchsorted(largest, i)]
            pieces.append(np.column_stack([members, np.full(len(members), i, np.int32)]))
        return np.concatenate(pieces)
