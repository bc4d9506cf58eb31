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
def weight_pairs(block, starts, first_rows, blocks_of_rows, terms, discount, columns, contexts, weights):
    """Write the weights of all pairs of some words.

    Args:
        block: `PairBlock` with forward and backward offsets; the rows of a word are adjacent, in the order of offsets.
        starts: (rows,) int64, the start of each row's pairs.
        first_rows: (n + 1,) int64, the start of each word's rows.
        blocks_of_rows: (rows,) int64, the block of each row's offset.
        terms: (blocks, N, 3) float64, see `Marginals.terms`.
        discount: d in the factors n / (n + d), which reduce the weights of small counts n.
        columns: (N,) int32, the column of each word as a context word, or -1 for words to leave out.
        contexts: (pairs,) int32, output: the columns of the pairs with a weight above 0, word after word.
        weights: (pairs, 2) float32, output: their weights, first in the row of the word, then in the row of the context
            word, in the opposite block.

    Returns:
        For each block and word, the number of pairs with a weight above 0, (blocks, n) int64.
    """
    blocks = len(terms)
    window_block = blocks - 1
    logs = _small_logs()
    sizes = np.zeros((blocks, len(first_rows) - 1), np.int64)
    window_counts = np.zeros(len(columns), np.int64)
    seen = np.empty(len(columns), np.int32)
    used = 0
    for word in range(len(first_rows) - 1):
        distinct = 0
        left = block.left[first_rows[word]]
        for row in range(first_rows[word], first_rows[word + 1]):
            row_block = blocks_of_rows[row]
            before = used
            left_terms, right_terms = terms[row_block, left], terms[window_block - 1 - row_block]
            for pair in range(starts[row], starts[row] + block.length[row]):
                right, n = np.uint64(block.right[pair]), block.count[pair]
                if columns[right] < 0:
                    continue
                if window_counts[right] == 0:
                    seen[distinct] = right
                    distinct += 1
                window_counts[right] += n
                if row_block < window_block:
                    weight, opposite = _weigh(n, left_terms, right_terms[right], discount, logs)
                    if weight > 0 or opposite > 0:
                        contexts[used], weights[used, 0], weights[used, 1] = columns[right], weight, opposite
                        used += 1
            sizes[row_block, word] = used - before
        before = used
        left_terms, right_terms = terms[window_block, left], terms[window_block]
        for index in range(distinct):
            right = np.uint64(seen[index])
            weight, opposite = _weigh(window_counts[right], left_terms, right_terms[right], discount, logs)
            window_counts[right] = 0
            if weight > 0 or opposite > 0:
                contexts[used], weights[used, 0], weights[used, 1] = columns[right], weight, opposite
                used += 1
        sizes[window_block, word] = used - before
    return sizes


@njit(cache=True, nogil=True)
def _small_logs():
    """Return the natural log of each count below 4,096, which most counts are, (4096,) float64."""
    logs = np.empty(4096)
    for n in range(len(logs)):
        logs[n] = math.log(n) if n else -np.inf
    return logs


@njit(cache=True, nogil=True, inline="always")
def _weigh(n, left, right, discount, logs):
    """Return the weight of a pair in the row of the left word, and in the row of the right word, at least 0.

    Args:
        n: count of the pair.
        left: (3,) float64, the terms of the left word in the block of the pair.
        right: (3,) float64, the terms of the right word in the opposite block.
        discount: see `weight_pairs`.
        logs: from `_small_logs`.
    """
    log = logs[np.uint64(n)] if n < len(logs) else math.log(n)
    weight = log - left[0] - right[1]
    opposite_weight = log - right[0] - left[1]
    weight = weight if weight > ROUNDING else 0.0
    opposite_weight = opposite_weight if opposite_weight > ROUNDING else 0.0
    rarer = min(left[2], right[2])
    certainty = (n / (n + discount)) * (rarer / (rarer + discount))
    return certainty * weight, certainty * opposite_weight


@njit(cache=True, nogil=True)
def sort_by_block(sizes, starts, contexts, weights, sorted_contexts, sorted_weights, sorted_opposite):
    """Write the same pairs sorted by block instead of by word, since `multiply` takes one block at a time.

    Args:
        sizes: (blocks, n) int64, number of pairs of each word in each block, from `weight_pairs`.
        starts: (blocks, n) int64, the start in the output of the pairs of each word in each block.
        contexts, weights: from `weight_pairs`.
        sorted_contexts: (pairs,) int32, output: columns.
        sorted_weights: (pairs,) float32, output: weights in the row of the word.
        sorted_opposite: (pairs,) float32, output: weights in the row of the context word.
    """
    pair = 0
    for word in range(sizes.shape[1]):
        for block in range(len(sizes)):
            start = starts[block, word]
            for target in range(start, start + sizes[block, word]):
                sorted_contexts[target] = contexts[pair]
                sorted_weights[target] = weights[pair, 0]
                sorted_opposite[target] = weights[pair, 1]
                pair += 1


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
