"""Counts times ciphers, by the sparse and rank-one arithmetic of SPEC 1, in numba.

C·V with noise is C·(β∘P) + (C(1 - β))·σᵀ. The first term costs a handful of additions an entry, as many as the
words have active bits, whatever the bits of the code; the second follows from the row's sum of counts and from the
first. All sums are of whole numbers, see `fixed_point`, so their order leaves no trace.

Indexes are unsigned where speed counts: of a signed one numba asks each time whether it counts from the end.
"""

import math

import numpy as np
from numba import njit

from bitcipher.embedding.fixed_point import WEIGHT_DIGITS


@njit(cache=True, nogil=True)
def add_forward(block, walk, starts, left, ranks, sign, code, blocks, sums):
    """Add C·(β∘P) and the sums of counts of a block of rows.

    Args:
        block: rows with numbers of their own.
        walk: (n,) int64, the rows to add, best those of an offset together: their sums share the cache.
        starts: (rows + 1,) int64, where each row's pairs start.
        left: (rows,) int32, the ranks of their left words.
        ranks: (V,) int32, the rank of each number.
        sign: 1 or -1, times every count.
        code: the `FixedCode` of all ranks.
        blocks: (offsets,) int64, the block of sums of each offset.
        sums: (blocks, N, b + 1) int64, added to: the bits of the code, then the sum of counts.
    """
    slots = code.slots.shape[1]
    total_slot = sums.shape[2] - 1
    own = np.zeros(total_slot + 1 + slots, np.int64)
    for row in walk:
        drop = code.drops[left[row]]
        total = 0
        for entry in range(starts[row], starts[row + 1]):
            right = np.uint64(ranks[np.uint64(block.right[entry])])
            n = block.count[entry]
            weight = n * _round(code.weights[right], drop)
            total += n
            for slot in range(slots):
                own[np.uint64(code.slots[right, np.uint64(slot)])] += weight
        own[total_slot] = total
        of_word = sums[blocks[block.offset[row]], left[row]]
        for slot in range(total_slot + 1):
            of_word[slot] += sign * own[slot]
        own[:] = 0


@njit(cache=True, nogil=True)
def add_backward(block, walk, starts, left, ranks, sign, code, blocks, sums):
    """Add the same of the mirrored offsets: Cᵀ·(β∘P). The arguments are those of `add_forward`."""
    total_slot = np.uint64(sums.shape[2] - 1)
    for row in walk:
        mirror = sums[blocks[block.offset[row]]]
        left_weight = code.weights[left[row]]
        left_size = code.sizes[left[row]]
        left_slots = code.slots[left[row]]
        for entry in range(starts[row], starts[row + 1]):
            right = np.uint64(ranks[np.uint64(block.right[entry])])
            n = sign * block.count[entry]
            weight = n * _round(left_weight, code.drops[right])
            mirror[right, total_slot] += n
            for slot in range(left_size):
                mirror[right, np.uint64(left_slots[slot])] += weight


@njit(cache=True, nogil=True)
def add_logs(block, walk, starts, logs, code, forward, backward, sums):
    """Add log(1 + C)·(β∘P) and the sums of logs, for the offsets and for their mirrors.

    A log is no sum of logs, so each pair must come once, with all that was counted of it.

    Args:
        block: rows by rank.
        walk, starts: as in `add_forward`.
        logs: (entries,) float64, log(1 + n) of each pair.
        code: the `FixedCode` of all ranks.
        forward, backward: (offsets,) int64, the block of sums of each offset and of its mirror.
        sums: (blocks, N, b + 1) int64, added to; here the sum of logs has the row's fraction digits too.
    """
    for row in walk:
        left, offset = block.left[row], block.offset[row]
        for entry in range(starts[row], starts[row + 1]):
            right = block.right[entry]
            _add_log(sums[forward[offset], left], logs[entry], code, right, code.drops[left])
            _add_log(sums[backward[offset], right], logs[entry], code, left, code.drops[right])


@njit(cache=True, nogil=True)
def to_floats(sums, drops, of_logs, shares, noise_distribution):
    """C·V from the sums of a block of dimensions: what they say, and the rank-one term (C(1 - β))·σᵀ.

    Args:
        sums: (n, b + 1) int64, from the kernels above.
        drops: (n,) int64, those of the rows.
        of_logs: whether `add_logs` made the sums.
        shares: divide each row by its sum; one of zeros becomes uniform.
        noise_distribution: (b,) float64, σ.

    Returns:
        (n, b) float64.
    """
    words, bits = len(sums), len(noise_distribution)
    values = np.empty((words, bits))
    for word in range(words):
        unit = math.ldexp(1.0, drops[word] - WEIGHT_DIGITS)
        doubt = sums[word, bits]
        if not of_logs:
            doubt <<= WEIGHT_DIGITS - drops[word]
        for bit in range(bits):
            doubt -= sums[word, bit]
        # What the weights do not say is doubt. It is rounded as they are, so where there is none it may be below 0.
        own_doubt = unit * max(doubt, 0)
        total = 0.0
        for bit in range(bits):
            values[word, bit] = unit * sums[word, bit] + own_doubt * noise_distribution[bit]
            total += values[word, bit]
        if shares:
            for bit in range(bits):
                values[word, bit] = values[word, bit] / total if total > 0 else 1.0 / bits
    return values


@njit(cache=True, nogil=True)
def _add_log(row, log, code, context, drop):
    """Add a context's code to a row of sums."""
    weight = np.int64(np.rint(math.ldexp(log * code.weights[context], -drop)))
    for slot in range(code.sizes[context]):
        row[code.slots[context, slot]] += weight
    row[len(row) - 1] += np.int64(np.rint(math.ldexp(log, WEIGHT_DIGITS - drop)))


@njit(cache=True, nogil=True, inline="always")
def _round(weight, drop):
    """The weight without its last `drop` digits, rounded half up."""
    return ((weight >> (drop - 1)) + 1) >> 1
