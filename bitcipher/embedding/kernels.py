"""Numba kernels for the product of counts and noisy ciphers.

C is the count matrix of an offset, and V = β∘P + (1 - β)·σᵀ are the noisy ciphers: P are the ciphers, β their weights,
and σ is the noise distribution (see `noise`). The product is C·V = C·(β∘P) + (C(1 - β))·σᵀ. The first term is
sparse: each pair costs one addition per active bit of its word, independent of the number of bits. The second term has
rank one and is computed from the row's sum of counts and the first term. All sums are integers (see `fixed_point`), so
they do not depend on the order of addition.

A block of sums belongs to one offset, or to all offsets in mode sum.

Indices in inner loops are unsigned, since numba checks each signed index for a negative value.
"""

import math

import numpy as np

from bitcipher.embedding.fixed_point import WEIGHT_DIGITS
from bitcipher.kernel_cache import kernel


@kernel
def add_forward(block, rows, starts, left, ranks, sign, code, blocks, sums):
    """Add C·(β∘P), and the sum of counts of each row, to the sums.

    Args:
        block: `PairBlock` with its own numbering of words.
        rows: (n,) int64, indices of the rows to add, preferably grouped by offset, so that their sums share the cache.
        starts: (rows + 1,) int64, the start of each row's pairs.
        left: (rows,) int32, rank of each row's left word.
        ranks: (V,) int32, rank of each word number.
        sign: 1 or -1, the factor of all counts.
        code: the `FixedCode` of all ranks.
        blocks: (offsets,) int64, the block of sums of each offset.
        sums: (blocks, N, b + 1) int64, updated in place: one column per bit of the code, then the sum of counts.
    """
    slots = code.slots.shape[1]
    total_slot = sums.shape[2] - 1
    row_sums = np.zeros(total_slot + 1 + slots, np.int64)
    for row in rows:
        drop = code.drops[left[row]]
        total = 0
        for entry in range(starts[row], starts[row + 1]):
            right = np.uint64(ranks[np.uint64(block.right[entry])])
            n = block.count[entry]
            weight = n * _round(code.weights[right], drop)
            total += n
            for slot in range(slots):
                row_sums[np.uint64(code.slots[right, np.uint64(slot)])] += weight
        row_sums[total_slot] = total
        word_sums = sums[blocks[block.offset[row]], left[row]]
        for slot in range(total_slot + 1):
            word_sums[slot] += sign * row_sums[slot]
        row_sums[:] = 0


@kernel
def add_backward(block, rows, starts, left, ranks, sign, code, blocks, sums):
    """Add Cᵀ·(β∘P), the product for the opposite offsets, and the sums of counts.

    The arguments are those of `add_forward`, with the block of sums of each opposite offset in `blocks`.
    """
    total_slot = np.uint64(sums.shape[2] - 1)
    for row in rows:
        opposite = sums[blocks[block.offset[row]]]
        left_weight = code.weights[left[row]]
        left_size = code.sizes[left[row]]
        left_slots = code.slots[left[row]]
        for entry in range(starts[row], starts[row + 1]):
            right = np.uint64(ranks[np.uint64(block.right[entry])])
            n = sign * block.count[entry]
            weight = n * _round(left_weight, code.drops[right])
            opposite[right, total_slot] += n
            for slot in range(left_size):
                opposite[right, np.uint64(left_slots[slot])] += weight


@kernel
def add_forward_logs(block, rows, starts, left, logs, code, blocks, sums):
    """Add log(1 + C)·(β∘P) and the sums of logs.

    The log of a sum is not a sum of logs, so each pair must occur once, with its total count.

    Args:
        block: `PairBlock` with words numbered by rank.
        rows, starts, left: as in `add_forward`.
        logs: (entries,) float64, log(1 + n) of each pair.
        code: the `FixedCode` of all ranks.
        blocks: (offsets,) int64, the block of sums of each offset.
        sums: (blocks, N, b + 1) int64, updated in place: one column per bit of the code, then the sum of logs, all with
            the fraction digits of the row.
    """
    for row in rows:
        word_sums = sums[blocks[block.offset[row]], left[row]]
        drop = code.drops[left[row]]
        for entry in range(starts[row], starts[row + 1]):
            _add_log(word_sums, logs[entry], code, block.right[entry], drop)


@kernel
def add_backward_logs(block, rows, starts, left, logs, code, blocks, sums):
    """Add log(1 + Cᵀ)·(β∘P), the product for the opposite offsets, and the sums of logs.

    The arguments are those of `add_forward_logs`, with the block of sums of each opposite offset in `blocks`.
    """
    for row in rows:
        opposite = sums[blocks[block.offset[row]]]
        for entry in range(starts[row], starts[row + 1]):
            right = block.right[entry]
            _add_log(opposite[right], logs[entry], code, left[row], code.drops[right])


@kernel
def to_floats(sums, drops, are_logs, normalize, noise_distribution):
    """Return C·V from the sums of a block: the sums in floating point, plus the rank-one term (C(1 - β))·σᵀ.

    Args:
        sums: (n, b + 1) int64, n rows of a block of sums.
        drops: (n,) int64, digits dropped from the weights in each row.
        are_logs: whether the sums are those of logs.
        normalize: whether to divide each row by its sum. All values of a zero row become 1 / b.
        noise_distribution: (b,) float64, σ.

    Returns:
        (n, b) float64.
    """
    words, bits = len(sums), len(noise_distribution)
    values = np.empty((words, bits))
    for word in range(words):
        unit = math.ldexp(1.0, drops[word] - WEIGHT_DIGITS)
        noise = sums[word, bits]
        if not are_logs:
            noise <<= WEIGHT_DIGITS - drops[word]
        for bit in range(bits):
            noise -= sums[word, bit]
        # Now `noise` is the sum of counts minus the weights of all bits. Without noise, rounding can make it negative.
        noise_weight = unit * max(noise, 0)
        total = 0.0
        for bit in range(bits):
            values[word, bit] = unit * sums[word, bit] + noise_weight * noise_distribution[bit]
            total += values[word, bit]
        if normalize:
            for bit in range(bits):
                values[word, bit] = values[word, bit] / total if total > 0 else 1.0 / bits
    return values


@kernel
def _add_log(row, log, code, context, drop):
    """Add the code of a context word, weighted by the log of a count, to a row of sums."""
    weight = np.int64(np.rint(math.ldexp(log * code.weights[context], -drop)))
    for slot in range(code.sizes[context]):
        row[code.slots[context, slot]] += weight
    row[len(row) - 1] += np.int64(np.rint(math.ldexp(log, WEIGHT_DIGITS - drop)))


@kernel(inline="always")
def _round(weight, drop):
    """Return the weight without its last `drop` digits, rounded half up."""
    return ((weight >> (drop - 1)) + 1) >> 1
