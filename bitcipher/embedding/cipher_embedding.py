"""`CipherEmbedding`: the raw table of modes cat, sum and cipher (Zhao & Williams 2023, *Bit Cipher*, section 3.5)."""

import numpy as np

from bitcipher import noise as noises
from bitcipher.cipher import BitCipher
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import PairBlock
from bitcipher.embedding import kernels
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


class CipherEmbedding:
    """Embedding of modes cat, sum and cipher: the product of merged counts and noisy ciphers.

    Args:
        bits: number of bits of the code.
        window: the largest offset of a context word (the radius of *Bit Cipher*).
        mode: "cat" has one block of `bits` dimensions per offset, -window … -1, 1 … window, and therefore
            2 · window · bits dimensions. "sum" has one block of `bits` dimensions, the sum over all offsets. "cipher"
            is the noisy cipher of the word itself, without context.
        noise: function in `bitcipher.noise` that gives the weight β of the ciphers: "document_share", "frequency",
            "document_ratio" or "none".
        log: "aggregate" divides each block of a row by its sum and takes the log. "counts" takes log(1 + n) of the
            count n of each pair at each offset, before the product with the ciphers. "none" takes no log. Mode
            "cipher" ignores this option.

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
    ):
        for name, value, choices in (("mode", mode, MODES), ("noise", noise, noises.NOISES), ("log", log, LOGS)):
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

    @property
    def vector_size(self) -> int:
        """Number of columns of the table."""
        return self.bits * (2 * self.window if self.mode == "cat" else 1)

    def table(self, counts: MergedCounts) -> np.ndarray:
        """Return the raw table, (N, vector_size) float64, in order of rank.

        A word without any context has a row of zeros. If a word has context, but not at all offsets, and `log` is
        "aggregate", the dimensions of an offset without context are equal.

        Raises:
            BitcipherError: if the counts have a smaller window, or more words than the bits have codes.
        """
        vocabulary = counts.vocabulary
        codes = self.cipher.active_bits(len(vocabulary))
        beta = noises.beta(self.noise, vocabulary)
        noise_distribution = (
            np.zeros(self.bits) if self.noise == "none" else noises.noise_distribution(codes, self.bits, vocabulary)
        )
        if self.mode == "cipher":
            ciphers = self.cipher.encipher(len(vocabulary)).toarray()
            return beta[:, None] * ciphers + np.outer(1 - beta, noise_distribution)
        self._check_context_window(counts)
        code = fixed_code(codes, self.bits, beta, self._bounds(vocabulary))
        table = np.empty((len(vocabulary), self.vector_size))
        has_context = np.zeros(len(vocabulary), bool)
        for forward, backward, columns in self._plan_passes(counts):
            sums = np.zeros((len(columns), len(vocabulary), self.bits + 1), np.int64)
            self._add(counts, code, forward, backward, sums)
            for block, column in enumerate(columns):
                has_context |= sums[block, :, self.bits] != 0
                self._finish(
                    sums[block], code, noise_distribution, table[:, column * self.bits : (column + 1) * self.bits]
                )
        table[~has_context] = 0
        return table

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
                kernels.add_logs(block, rows, starts, np.log1p(block.count), code, forward, backward, sums)
        else:
            for block, ranks, sign in counts.partials(window):
                rows, starts = _rows_by_offset(block, forward)
                left = ranks[block.left]
                kernels.add_forward(block, rows, starts, left, ranks, sign, code, forward, sums)
                kernels.add_backward(block, rows, starts, left, ranks, sign, code, backward, sums)

    def _finish(self, sums: np.ndarray, code: FixedCode, noise_distribution: np.ndarray, table: np.ndarray) -> None:
        """Add the noise to the sums of a block, take the log if it is "aggregate", and write the result to `table`.

        Args:
            sums: (N, bits + 1) int64, the sums of one block.
            code: the code of all words.
            noise_distribution: (bits,) float64.
            table: (N, bits) float64, the columns of this block, updated in place.
        """
        for start in range(0, len(sums), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = kernels.to_floats(
                sums[rows], code.drops[rows], self.log == "counts", self.log == "aggregate", noise_distribution
            )
            if self.log == "aggregate":
                np.log(np.maximum(block, SHARE_FLOOR, out=block), out=block)
            table[rows] = block

    def _plan_passes(self, counts: MergedCounts) -> list[tuple[np.ndarray, np.ndarray, list[int]]]:
        """Return what each pass over the counts adds up.

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
        offsets_per_pass = max(1, SUMS_BYTES // (2 * words * (self.bits + 1) * 8))
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

    def _check_context_window(self, counts: MergedCounts) -> None:
        context_window = counts.context_window
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
