"""`CipherEmbedding`: the raw table of modes cat, sum and cipher (Zhao & Williams 2023, *Bit Cipher*, section 3.5)."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bitcipher.cipher import ActiveBits, BitCipher
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock
from bitcipher.embedding import kernels
from bitcipher.embedding import noise as noises
from bitcipher.embedding.fixed_point import FixedCode, fixed_code
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary

MODES = ("cat", "sum", "cipher")
LOGS = ("aggregate", "counts", "none")

# Minimum share of a bit in the sum over all bits, before the log. Noise gives every bit more than this, so the minimum
# has an effect only without noise.
SHARE_FLOOR = 1e-9

# Rows per block of the conversion from sums to vectors. A block fits into the cache.
BLOCK_ROWS = 1024

# Maximum bytes of the integer sums in memory. A table that needs more is built in several passes over the counts, each
# for some of the offsets.
SUMS_BYTES = 1 << 30


class ContextCiphers(NamedTuple):
    """Noisy ciphers of all words as context words.

    Attributes:
        code: codes and weights.
        noise_distribution: (bits,) float64, the noise probability σ of each bit.
        ranks: (N,) int32, 0, 1, …
    """

    code: FixedCode
    noise_distribution: np.ndarray
    ranks: np.ndarray


class WordCiphers(NamedTuple):
    """Noisy ciphers of all words as rows of the table of mode cipher.

    Attributes:
        codes: active bits of all words.
        beta: (N,) float64, the weight β of each word's cipher.
        noise_distribution: (bits,) float64, the noise probability σ of each bit.
    """

    codes: ActiveBits
    beta: np.ndarray
    noise_distribution: np.ndarray

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return the rows of the words with ranks from `start` on and before `stop`, (n, bits) float64."""
        starts = self.codes.starts[start : stop + 1]
        sizes = np.diff(starts)
        ciphers = np.zeros((stop - start, len(self.noise_distribution)))
        words = np.repeat(np.arange(len(sizes)), sizes)
        ciphers[words, self.codes.bits[starts[0] : starts[-1]]] = np.repeat(1.0 / sizes, sizes)
        beta = self.beta[start:stop]
        return beta[:, None] * ciphers + np.outer(1 - beta, self.noise_distribution)


class CipherEmbedding:
    """Embedding of modes cat, sum and cipher: the product of merged counts and noisy ciphers.

    Args:
        bits: number of bits of the code.
        window: the largest offset of a context word (the radius of *Bit Cipher*).
        mode: "cat" has one block of `bits` dimensions per offset, -window … -1, 1 … window, and therefore
            2 · window · bits dimensions. "sum" has one block of `bits` dimensions, the sum over all offsets. "cipher"
            is the noisy cipher of the word itself, without context.
        noise: function in `embedding.noise` that gives the weight β of the ciphers: "document_share", "frequency",
            "document_ratio" or "none".
        log: "aggregate" divides each block of a row by its sum and takes the log. "counts" takes log(1 + n) of the
            count n of each pair at each offset, before the product with the ciphers. "none" takes no log. Mode
            "cipher" ignores this option.
        noise_over: "bits" or "words", which the noise distribution is over (see `bitcipher.embedding.noise`).

    Raises:
        BitcipherError: if a value is invalid.
    """

    def __init__(
        self,
        bits: int = 25,
        window: int = 4,
        mode: str = "cat",
        noise: str = "document_share",
        log: str = "aggregate",
        noise_over: str = "bits",
    ):
        for name, value, choices in (
            ("mode", mode, MODES),
            ("noise", noise, noises.NOISES),
            ("log", log, LOGS),
            ("noise over", noise_over, noises.NOISE_OVER),
        ):
            if value not in choices:
                raise BitcipherError(f"There is no {name} {value!r}: choose from {', '.join(choices)}.")
        if window < 1:
            raise BitcipherError(f"`window` must be at least 1, got {window}.")
        if noise != "none" and bits == 1:
            raise BitcipherError(
                "Noise needs at least 2 bits, because it gives weight to the bits that are not active."
            )
        self.cipher = BitCipher(bits)
        self.bits = bits
        self.window = window
        self.mode = mode
        self.noise = noise
        self.log = log
        self.noise_over = noise_over

    @property
    def vector_size(self) -> int:
        """Number of columns of the table."""
        return self.bits * (2 * self.window if self.mode == "cat" else 1)

    def table(self, counts: MergedCounts, sums_bytes: int = SUMS_BYTES) -> np.ndarray:
        """Return the raw table, (N, vector_size) float64, in order of rank.

        Args:
            counts: counts of a corpus.
            sums_bytes: maximum bytes of the integer sums in memory, see `SUMS_BYTES`. Sums of one offset are always in
                memory. The result does not depend on this number.

        A word without any context has a row of zeros. If a word has context, but not at all offsets, and `log` is
        "aggregate", the dimensions of an offset without context are equal.

        Raises:
            BitcipherError: if the counts have a smaller window, or more words than the bits have codes.
        """
        words = len(counts.vocabulary)
        if self.mode == "cipher":
            return self.word_ciphers(counts.vocabulary).rows(0, words)
        self.check_context_window(counts.context_window)
        ciphers = self.context_ciphers(counts.vocabulary)
        table = np.empty((words, self.vector_size))
        has_context = np.zeros(words, bool)
        for forward, backward, columns in self.plan_passes(counts, sums_bytes):
            sums = np.zeros((len(columns), words, self.bits + 1), np.int64)
            self._add(counts, ciphers.code, forward, backward, sums)
            for block, column in enumerate(columns):
                has_context |= sums[block, :, self.bits] != 0
                target = table[:, column * self.bits : (column + 1) * self.bits]
                self._finish(sums[block], ciphers.code.drops, ciphers.noise_distribution, target)
        table[~has_context] = 0
        return table

    def context_ciphers(self, vocabulary: Vocabulary) -> "ContextCiphers":
        """Return the noisy ciphers of the words of a vocabulary, which all rows of modes cat and sum are made from.

        Raises:
            BitcipherError: if there are more words than the bits have codes.
        """
        codes, beta, noise_distribution = self.noisy_codes(vocabulary)
        code = fixed_code(codes, self.bits, beta, self._bounds(vocabulary))
        return ContextCiphers(code, noise_distribution, np.arange(len(vocabulary), dtype=np.int32))

    def word_ciphers(self, vocabulary: Vocabulary) -> "WordCiphers":
        """Return the noisy ciphers of the words of a vocabulary, which are the rows of mode cipher.

        Raises:
            BitcipherError: if there are more words than the bits have codes.
        """
        return WordCiphers(*self.noisy_codes(vocabulary))

    def rows(self, ranks: np.ndarray, pairs: Iterable[PairBlock], ciphers: "ContextCiphers") -> np.ndarray:
        """Return the rows of some words in the table of mode cat or sum, (n, vector_size) float64.

        Args:
            ranks: (n,) int32, the words, ascending.
            pairs: all pairs of these words, forward and backward, numbered by rank. Each pair occurs once, with its
                total count. Counts that were summed over offsets have each pair once in either direction.
            ciphers: the noisy ciphers of all words.
        """
        # The block of dimensions of each offset. A negative offset counts from the end.
        blocks = np.zeros(2 * self.window + 1, np.int64)
        if self.mode == "cat":
            blocks[:] = [0, *range(self.window, 2 * self.window), *range(self.window)]
        code = ciphers.code._replace(drops=ciphers.code.drops[ranks])
        sums = np.zeros((self.vector_size // self.bits, len(ranks), self.bits + 1), np.int64)
        for block in pairs:
            left = np.searchsorted(ranks, block.left).astype(np.int32)
            starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(block.length)])
            rows = np.argsort(block.offset, kind="stable")
            if self.log == "counts":
                kernels.add_forward_logs(block, rows, starts, left, np.log1p(block.count), code, blocks, sums)
            else:
                kernels.add_forward(block, rows, starts, left, ciphers.ranks, 1, code, blocks, sums)
        table = np.empty((len(ranks), self.vector_size))
        for block, each in enumerate(sums):
            target = table[:, block * self.bits : (block + 1) * self.bits]
            self._finish(each, code.drops, ciphers.noise_distribution, target)
        table[~sums[:, :, self.bits].any(axis=0)] = 0
        return table

    def noisy_codes(self, vocabulary: Vocabulary) -> tuple[ActiveBits, np.ndarray, np.ndarray]:
        """Return the codes of all words, their weights β, (N,) float64, and the noise distribution, (bits,) float64."""
        codes = self.cipher.active_bits(len(vocabulary))
        noise_distribution = (
            np.zeros(self.bits)
            if self.noise == "none"
            else noises.noise_distribution(codes, self.bits, vocabulary, self.noise_over)
        )
        return codes, noises.beta(self.noise, vocabulary), noise_distribution

    def _bounds(self, vocabulary: Vocabulary) -> np.ndarray:
        """Return an upper bound of the sum of a word's counts, or of their logs, in a block, (N,) float64."""
        # The counts of an offset add up to at most the word's occurrences, and log(1 + n) is at most n.
        return vocabulary.counts * float(2 * self.window if self.mode == "sum" else 1)

    def _add(
        self, counts: MergedCounts, code: FixedCode, forward: np.ndarray, backward: np.ndarray, sums: np.ndarray
    ) -> None:
        """Add the product of all counts and noisy ciphers to the sums.

        `forward` and `backward` have the block in `sums` of each offset and of its opposite, -1 for none.
        """
        window = len(forward) - 1
        if self.log == "counts":
            for block in counts.rows(window):
                rows, starts = _rows_by_offset(block, forward)
                logs = np.log1p(block.count)
                kernels.add_forward_logs(block, rows, starts, block.left, logs, code, forward, sums)
                kernels.add_backward_logs(block, rows, starts, block.left, logs, code, backward, sums)
        else:
            for block, ranks, sign in counts.partials(window):
                rows, starts = _rows_by_offset(block, forward)
                left = ranks[block.left]
                kernels.add_forward(block, rows, starts, left, ranks, sign, code, forward, sums)
                kernels.add_backward(block, rows, starts, left, ranks, sign, code, backward, sums)

    def _finish(self, sums: np.ndarray, drops: np.ndarray, noise_distribution: np.ndarray, table: np.ndarray) -> None:
        """Add the noise to the sums of a block, take the log if it is "aggregate", and write the result to `table`.

        Args:
            sums: (n, bits + 1) int64, the sums of one block.
            drops: (n,) int64, digits dropped from the weights in each row.
            noise_distribution: (bits,) float64.
            table: (n, bits) float64, the columns of this block, updated in place.
        """
        for start in range(0, len(sums), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = kernels.to_floats(
                sums[rows], drops[rows], self.log == "counts", self.log == "aggregate", noise_distribution
            )
            if self.log == "aggregate":
                np.log(np.maximum(block, SHARE_FLOOR, out=block), out=block)
            table[rows] = block

    def plan_passes(
        self, counts: MergedCounts, sums_bytes: int = SUMS_BYTES
    ) -> list[tuple[np.ndarray, np.ndarray, list[int]]]:
        """Return what each pass over the counts adds up.

        Args:
            counts: counts of a corpus.
            sums_bytes: maximum bytes of the sums of a pass.

        Returns:
            For each pass: the block in `sums` of each offset, (offsets,) int64, and of its opposite, -1 for offsets of
            other passes; and the position in the table of each block.
        """
        offsets = [0] if counts.context_window.summed else list(range(1, self.window + 1))
        if self.mode == "sum":
            block_of_offset = np.full(offsets[-1] + 1, -1)
            block_of_offset[offsets] = 0
            return [(block_of_offset, block_of_offset, [0])]
        words = len(counts.vocabulary)
        offsets_per_pass = max(1, sums_bytes // (2 * words * (self.bits + 1) * 8))
        passes = []
        for first in range(0, len(offsets), offsets_per_pass):
            group = offsets[first : first + offsets_per_pass]
            forward = np.full(group[-1] + 1, -1)
            backward = forward.copy()
            forward[group] = np.arange(len(group))
            backward[group] = np.arange(len(group)) + len(group)
            columns = [self.window + offset - 1 for offset in group] + [self.window - offset for offset in group]
            passes.append((forward, backward, columns))
        return passes

    def check_context_window(self, context_window: ContextWindow) -> None:
        """Check that counts of a window give the rows of this embedding.

        Raises:
            BitcipherError: if the window is smaller, or the counts were summed over another window.
        """
        if context_window.summed and (self.mode == "cat" or self.window != context_window.size):
            raise BitcipherError(
                f"The counts are summed over a window of {context_window.size}, which allows only mode sum with that "
                f"window, not mode {self.mode} with window {self.window}: build again without --summed."
            )
        if self.window > context_window.size:
            raise BitcipherError(
                f"The counts have a window of {context_window.size}, which is smaller than {self.window}: choose a "
                "smaller window, or build again."
            )


def _rows_by_offset(block: PairBlock, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the rows whose offset has a block, grouped by offset, and the start of each row's pairs.

    Args:
        block: rows of any offsets.
        blocks: (offsets,) int64, the block in the sums of each offset, -1 for none.

    Returns:
        (n,) int64 and (rows + 1,) int64.
    """
    selected = np.flatnonzero(np.append(blocks, -1)[np.minimum(block.offset, len(blocks))] >= 0)
    rows = selected[np.argsort(block.offset[selected], kind="stable")]
    return rows, np.concatenate([np.zeros(1, np.int64), np.cumsum(block.length)])
