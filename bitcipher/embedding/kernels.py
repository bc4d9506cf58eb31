"""Counts times ciphers, by the sparse and rank-one arithmetic of SPEC 1, in numba.

C·V with noise is C·(β∘P) + (C(1 - β))·σᵀ. The first term costs a handful of additions an entry, as many as the
words have active bits, whatever the bits of the code; the second needs one number a row.
"""

import math

import numpy as np
from numba import njit

# Counts whose logs are looked up: nearly all pairs are rare, and a logarithm takes as long as all else of an entry.
SMALL_COUNTS = 1024


@njit(cache=True, nogil=True)
def add_rows(block, starts, log_counts, codes, scales, doubts, forward, backward, sums, doubt_sums):
    """Add C·(β∘P) and C(1 - β) of a block of rows, for the offsets themselves and for their mirrors.

    The sums of a word run over its left words in the order of the rows, so cutting rows into other blocks leaves
    the same bytes.

    Args:
        block: rows by rank.
        starts: (rows + 1,) int64, where each row's pairs start.
        log_counts: add log(1 + n) instead of n.
        codes: the active bits of each rank.
        scales: (N,) float64, β over the number of active bits.
        doubts: (N,) float64, 1 - β.
        forward, backward: (offsets,) int64, the block of dimensions of each offset and of its mirror; -1 for an
            offset that is not wanted.
        sums: (blocks, N, b) float64, added to.
        doubt_sums: (blocks, N) float64, added to.
    """
    logs = np.empty(SMALL_COUNTS)
    for n in range(SMALL_COUNTS):
        logs[n] = math.log1p(n)
    for row in range(len(block.left)):
        offset = block.offset[row]
        if offset >= len(forward) or forward[offset] < 0:
            continue
        ahead = forward[offset]
        behind = backward[offset]
        left = block.left[row]
        left_start, left_stop = codes.starts[left], codes.starts[left + 1]
        own = sums[ahead, left]
        own_doubt = 0.0
        for entry in range(starts[row], starts[row + 1]):
            right = block.right[entry]
            count = block.count[entry]
            n = float(count)
            if log_counts:
                n = logs[count] if count < SMALL_COUNTS else math.log1p(n)
            weight = n * scales[right]
            for place in range(codes.starts[right], codes.starts[right + 1]):
                own[codes.bits[place]] += weight
            own_doubt += n * doubts[right]
            weight = n * scales[left]
            mirror = sums[behind, right]
            for place in range(left_start, left_stop):
                mirror[codes.bits[place]] += weight
            doubt_sums[behind, right] += n * doubts[left]
        doubt_sums[ahead, left] += own_doubt


@njit(cache=True, nogil=True)
def add_noise(sums, doubt_sums, other_bits):
    """Add the rank-one term: (C(1 - β))·σᵀ."""
    words, bits = sums.shape
    for word in range(words):
        for bit in range(bits):
            sums[word, bit] += doubt_sums[word] * other_bits[bit]


@njit(cache=True, nogil=True)
def take_log(sums, floor):
    """Divide each row by its sum, raise it to the floor, and take its log; an empty row becomes uniform."""
    words, bits = sums.shape
    for word in range(words):
        total = 0.0
        for bit in range(bits):
            total += sums[word, bit]
        for bit in range(bits):
            share = sums[word, bit] / total if total > 0 else 1.0 / bits
            sums[word, bit] = math.log(max(share, floor))
