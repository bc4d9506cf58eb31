"""Numba kernels that weight pairs by PPMI and multiply by the weights.

The weighted matrix has a row per word and several blocks of columns: one per offset -r … -1, 1 … r (r is the window
size), and last the window block, in which the counts of all offsets are added up. Each row is weighted and multiplied
independently, with its pairs in their stored order, so its bytes do not depend on the other rows.
"""

import math

import numpy as np
from numba import njit

# Indices are unsigned in inner loops, since numba checks each signed index for a negative value.
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

# Weights up to this value are rounding errors of pairs that are exactly as frequent as chance predicts.
ROUNDING = 1e-9


@njit(cache=True, nogil=True)
def weight_pairs(block, first_pairs, first_rows, blocks_of_rows, sums, log_sums, log_shares, discount, columns):
    """Return the weights of all pairs of some words.

    Args:
        block: `PairBlock` with forward and backward offsets; the rows of a word are adjacent, in the order of offsets.
        first_pairs: (rows + 1,) int64, the start of each row's pairs.
        first_rows: (n + 1,) int64, the start of each word's rows.
        blocks_of_rows: (rows,) int64, the block of each row's offset.
        sums: (blocks, N) int64, number of pairs of each word in each block.
        log_sums, log_shares: (blocks, N) float64, see `Marginals`.
        discount: d in the factors n / (n + d), which reduce the weights of small counts n.
        columns: (N,) int32, the column of each word as a context word, or -1 for words to leave out.

    Returns:
        For each block and word, the number of pairs with a weight above 0, (blocks, n) int64; the columns of these
        pairs, (pairs,) int32, word after word; and their weights, (pairs, 2) float32: first in the row of the
        word, then in the row of the context word, in the opposite block.
    """
    blocks = len(sums)
    window_block = blocks - 1
    pairs = len(block.right)
    # The window has no more pairs than all offsets together.
    contexts = np.empty(2 * pairs, np.int32)
    weights = np.empty((2 * pairs, 2), np.float32)
    sizes = np.zeros((blocks, len(first_rows) - 1), np.int64)
    window_counts = np.zeros(len(columns), np.int64)
    seen = np.empty(len(columns), np.int32)
    used = 0
    for word in range(len(first_rows) - 1):
        distinct = 0
        for row in range(first_rows[word], first_rows[word + 1]):
            left, row_block = block.left[row], blocks_of_rows[row]
            before = used
            for pair in range(first_pairs[row], first_pairs[row + 1]):
                right, n = block.right[pair], block.count[pair]
                if columns[right] < 0:
                    continue
                if window_counts[right] == 0:
                    seen[distinct] = right
                    distinct += 1
                window_counts[right] += n
                if row_block < window_block:
                    used = _append_pair(
                        n,
                        left,
                        right,
                        row_block,
                        sums,
                        log_sums,
                        log_shares,
                        discount,
                        columns,
                        contexts,
                        weights,
                        used,
                    )
            sizes[row_block, word] = used - before
        before = used
        for index in range(distinct):
            right = seen[index]
            n = window_counts[right]
            window_counts[right] = 0
            used = _append_pair(
                n, left, right, window_block, sums, log_sums, log_shares, discount, columns, contexts, weights, used
            )
        sizes[window_block, word] = used - before
    return sizes, contexts[:used], weights[:used]


@njit(cache=True, nogil=True, inline="always")
def _append_pair(n, left, right, block, sums, log_sums, log_shares, discount, columns, contexts, weights, used):
    """Append a pair if one of its two weights is above 0, and return the new number of pairs."""
    opposite = len(sums) - 2 - block if block < len(sums) - 1 else block
    log = math.log(n)
    weight = log - log_sums[block, left] - log_shares[block, right]
    opposite_weight = log - log_sums[opposite, right] - log_shares[opposite, left]
    weight = weight if weight > ROUNDING else 0.0
    opposite_weight = opposite_weight if opposite_weight > ROUNDING else 0.0
    if weight == 0 and opposite_weight == 0:
        return used
    rarer = min(sums[block, left], sums[opposite, right])
    certainty = (n / (n + discount)) * (rarer / (rarer + discount))
    contexts[used] = columns[right]
    weights[used, 0] = certainty * weight
    weights[used, 1] = certainty * opposite_weight
    return used + 1


@njit(cache=True, nogil=True)
def sort_by_block(sizes, starts, contexts, weights):
    """Return the same pairs sorted by block instead of by word, since `multiply` takes one block at a time.

    Args:
        sizes: (blocks, n) int64, number of pairs of each word in each block, from `weight_pairs`.
        starts: (blocks, n) int64, the start in the output of the pairs of each word in each block.
        contexts, weights: from `weight_pairs`.

    Returns:
        Columns, (pairs,) int32; weights in the row of the word, (pairs,) float32; and weights in the row of the
        context word, (pairs,) float32.
    """
    sorted_contexts = np.empty_like(contexts)
    sorted_weights, sorted_opposite = np.empty(len(weights), np.float32), np.empty(len(weights), np.float32)
    pair = 0
    for word in range(sizes.shape[1]):
        for block in range(len(sizes)):
            start = starts[block, word]
            for target in range(start, start + sizes[block, word]):
                sorted_contexts[target] = contexts[pair]
                sorted_weights[target] = weights[pair, 0]
                sorted_opposite[target] = weights[pair, 1]
                pair += 1
    return sorted_contexts, sorted_weights, sorted_opposite


# Fused multiply-add is allowed, but no other order of additions, so that the bytes do not depend on the compiler.
@njit(cache=True, nogil=True, fastmath={"contract"})
def multiply(starts, contexts, weights, scale, targets, table, result):
    """Add scale · M · table to the result, with n rows of one block of the weighted matrix as M.

    Args:
        starts: (n + 1,) int64, the start of each word's pairs in this block.
        contexts: (pairs,) int32, columns from `sort_by_block`.
        weights: (pairs,) float32, one of the two arrays of weights from `sort_by_block`.
        scale: factor of all weights.
        targets: (n,) int64, the row of the result for each word, or -1 for words to skip.
        table: (m, b) float32, rows of the first m columns. Pairs in other columns are skipped.
        result: (k, b) float32, updated in place.
    """
    contexts_used = len(table)
    for word in range(len(targets)):
        if targets[word] < 0:
            continue
        row = result[targets[word]]
        pair, end = np.uint64(starts[word]), np.uint64(starts[word + 1])
        while pair < end:
            second, third, fourth = pair + _ONE, pair + _TWO, pair + _THREE
            # Four pairs at once take half of the time, because the row is loaded and stored a quarter as often.
            if fourth < end and _are_below(contexts_used, contexts, pair, second, third, fourth):
                a, b = table[np.uint64(contexts[pair])], table[np.uint64(contexts[second])]
                c, d = table[np.uint64(contexts[third])], table[np.uint64(contexts[fourth])]
                weight_a, weight_b = scale * weights[pair], scale * weights[second]
                weight_c, weight_d = scale * weights[third], scale * weights[fourth]
                for i in range(len(row)):
                    row[i] = (((row[i] + weight_a * a[i]) + weight_b * b[i]) + weight_c * c[i]) + weight_d * d[i]
                pair += _FOUR
            else:
                if contexts[pair] < contexts_used:
                    weight, context_row = scale * weights[pair], table[np.uint64(contexts[pair])]
                    for i in range(len(row)):
                        row[i] += weight * context_row[i]
                pair += _ONE


@njit(cache=True, nogil=True, inline="always")
def _are_below(limit, contexts, first, second, third, fourth):
    """Return whether the contexts of four pairs are below a limit."""
    return max(max(contexts[first], contexts[second]), max(contexts[third], contexts[fourth])) < limit
