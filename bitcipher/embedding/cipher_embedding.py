"""The raw table: what stands around each word, told in the bits of the cipher (SPEC 1)."""

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

# The least share of a row that a bit is taken to have: below what noise leaves (β near 0 makes every bit about
# 1 / b), so it only shows where there is no noise.
SHARE_FLOOR = 1e-9

# Rows that are turned from sums into vectors at once: they stay in the cache.
BLOCK_ROWS = 1024

# Sums that are held at once, in bytes; a table with more is built some offsets at a time, with a walk for each.
SUMS_BYTES = 1 << 30


class CipherEmbedding:
    """Builds a table from merged counts.

    Args:
        bits: bits of the code.
        window: the largest offset that is context.
        mode: "cat", one block of dimensions an offset, -radius … -1, 1 … window: 2 · radius · bits dimensions;
            "sum", all offsets added up: `bits` dimensions; "cipher", the word's own code without context.
        noise: how far codes are trusted: "document_share", "frequency", "document_ratio" or "none".
        log: "aggregate", the log of each block's shares; "counts", log(1 + count) of each offset's counts before
            they are added; "none". Of no effect on mode "cipher".

    Raises:
        BitcipherError: if a value is none of these.
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
                raise BitcipherError(f"There is no {name} {value!r}: choose {', '.join(choices)}.")
        if window < 1:
            raise BitcipherError(f"`window` must be at least 1, got {window}.")
        if noise != "none" and bits == 1:
            raise BitcipherError("Noise needs at least 2 bits: with 1 there is no other bit to be mistaken for.")
        self.cipher = BitCipher(bits)
        self.bits = bits
        self.window = window
        self.mode = mode
        self.noise = noise
        self.log = log

    @property
    def vector_size(self) -> int:
        """Columns of the table."""
        return self.bits * (2 * self.window if self.mode == "cat" else 1)

    def table(self, counts: MergedCounts) -> np.ndarray:
        """The raw table, (N, dimensions) float64, a row a word in order of rank.

        A word without any context has a row of zeros; where only some of its blocks are empty, and `log` is
        "aggregate", those are uniform.

        Raises:
            BitcipherError: if the counts were made with a smaller window, or have too many words for the bits.
        """
        vocabulary = counts.vocabulary
        codes = self.cipher.active_bits(len(vocabulary))
        trust = noises.trust(self.noise, vocabulary)
        noise_distribution = (
            np.zeros(self.bits) if self.noise == "none" else noises.noise_distribution(codes, self.bits, vocabulary)
        )
        if self.mode == "cipher":
            ciphers = self.cipher.encipher(len(vocabulary)).toarray()
            return trust[:, None] * ciphers + np.outer(1 - trust, noise_distribution)
        self._check_context_window(counts)
        code = fixed_code(codes, self.bits, trust, self._bounds(vocabulary))
        table = np.empty((len(vocabulary), self.vector_size))
        seen = np.zeros(len(vocabulary), bool)
        for forward, backward, columns in self._walks(counts):
            sums = np.zeros((len(columns), len(vocabulary), self.bits + 1), np.int64)
            self._add(counts, code, forward, backward, sums)
            for place, column in enumerate(columns):
                seen |= sums[place, :, self.bits] != 0
                self._finish(
                    sums[place], code, noise_distribution, table[:, column * self.bits : (column + 1) * self.bits]
                )
        table[~seen] = 0
        return table

    def _bounds(self, vocabulary: Vocabulary) -> np.ndarray:
        """(N,) float64: the most that the counts, or the logs of counts, of a word can add up to in a block."""
        # As often as a word occurs, at each offset; log(1 + n) is less than n.
        return vocabulary.counts * float(2 * self.window if self.mode == "sum" else 1)

    def _add(
        self, counts: MergedCounts, code: FixedCode, forward: np.ndarray, backward: np.ndarray, sums: np.ndarray
    ) -> None:
        """Add all that is counted to the sums."""
        window = len(forward) - 1
        if self.log == "counts":
            for block in counts.rows(window):
                walk, starts = _by_offset(block, forward)
                kernels.add_logs(block, walk, starts, np.log1p(block.count), code, forward, backward, sums)
        else:
            for block, ranks, sign in counts.parts(window):
                walk, starts = _by_offset(block, forward)
                left = ranks[block.left]
                kernels.add_forward(block, walk, starts, left, ranks, sign, code, forward, sums)
                kernels.add_backward(block, walk, starts, left, ranks, sign, code, backward, sums)

    def _finish(self, sums: np.ndarray, code: FixedCode, noise_distribution: np.ndarray, table: np.ndarray) -> None:
        """Turn the sums of a block into its columns of the table: add the noise, and take logs of shares."""
        for start in range(0, len(sums), BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = kernels.to_floats(
                sums[rows], code.drops[rows], self.log == "counts", self.log == "aggregate", noise_distribution
            )
            if self.log == "aggregate":
                np.log(np.maximum(block, SHARE_FLOOR, out=block), out=block)
            table[rows] = block

    def _walks(self, counts: MergedCounts) -> list[tuple[np.ndarray, np.ndarray, list[int]]]:
        """For each walk over the counts: the block of sums of each offset and of its mirror, and their columns."""
        offsets = [0] if counts.context_window.summed else list(range(1, self.window + 1))
        if self.mode == "sum":
            wanted = np.full(offsets[-1] + 1, -1)
            wanted[offsets] = 0
            return [(wanted, wanted, [0])]
        words = len(counts.vocabulary)
        at_once = max(1, SUMS_BYTES // (2 * words * (self.bits + 1) * 8))
        walks = []
        for first in range(0, len(offsets), at_once):
            group = offsets[first : first + at_once]
            forward = np.full(group[-1] + 1, -1)
            backward = forward.copy()
            forward[group] = np.arange(len(group))
            backward[group] = np.arange(len(group)) + len(group)
            columns = [self.window + offset - 1 for offset in group] + [self.window - offset for offset in group]
            walks.append((forward, backward, columns))
        return walks

    def _check_context_window(self, counts: MergedCounts) -> None:
        context_window = counts.context_window
        if context_window.summed and (self.mode == "cat" or self.window != context_window.size):
            raise BitcipherError(
                f"The counts are summed over a window of {context_window.size}: they give mode sum with that window, "
                f"not {self.mode} at {self.window}: build again without --summed."
            )
        if self.window > context_window.size:
            raise BitcipherError(
                f"The counts have a window of {context_window.size}, not {self.window}: "
                "choose a smaller window, or build again."
            )


def _by_offset(block: PairBlock, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of wanted offsets, those of an offset together, and (rows + 1,) where the pairs of each row start."""
    wanted = np.flatnonzero(np.append(blocks, -1)[np.minimum(block.offset, len(blocks))] >= 0)
    walk = wanted[np.argsort(block.offset[wanted], kind="stable")]
    return walk, np.concatenate([np.zeros(1, np.int64), np.cumsum(block.length)])
