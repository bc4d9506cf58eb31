"""Numba kernels that weight pairs by PPMI and multiply by the weights.

The weighted matrix has a row per word and several blocks of columns: one per offset -r … -1, 1 … r (r is the window
size), and last the window block, in which the counts of all offsets are added up. Each row is weighted and multiplied
independently, with its pairs in their stored order, so its bytes do not depend on the other rows.
"""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def weight_pairs(block, first_pairs, first_rows, columns, sums, log_sums, log_shares, discount, words):
    """Return the weights of all pairs of some words.

    Args:
        block: `PairBlock` with forward and backward offsets; the rows of a word are adjacent, in the order of offsets.
        first_pairs: (rows + 1,) int64, the start of each row's pairs.
        first_rows: (n + 1,) int64, the start of each word's rows.
        columns: (rows,) int64, the block of each row's offset.
        sums: (blocks, N) int64, number of pairs of each word in each block.
        log_sums, log_shares: (blocks, N) float64, see `Marginals`.
        discount: d in the factors n / (n + d), which reduce the weights of small counts n.
        words: number of words N of the vocabulary.

    Returns:
        For each block and word, the number of pairs with a weight above 0, (blocks, n) int64; the context words of
        these pairs, (pairs,) int32, word after word; and their weights, (pairs, 2) float32: first in the row of the
        word, then in the row of the context word, in the opposite block.
    """
    blocks = len(sums)
    window_block = blocks - 1
    pairs = len(block.right)
    # The window has no more pairs than all offsets together.
    contexts = np.empty(2 * pairs, np.int32)
    weights = np.empty((2 * pairs, 2), np.float32)
    sizes = np.zeros((blocks, len(first_rows) - 1), np.int64)
    window_counts = np.zeros(words, np.int64)
    seen = np.empty(words, np.int32)
    used = 0
    for word in range(len(first_rows) - 1):
        distinct = 0
        for row in range(first_rows[word], first_rows[word + 1]):
            left, column = block.left[row], columns[row]
            before = used
            for pair in range(first_pairs[row], first_pairs[row + 1]):
                right, n = block.right[pair], block.count[pair]
                if window_counts[right] == 0:
                    seen[distinct] = right
                    distinct += 1
                window_counts[right] += n
                if column < window_block:
                    used = _append_pair(
                        n, left, right, column, sums, log_sums, log_shares, discount, contexts, weights, used
                    )
            sizes[column, word] = used - before
        before = used
        for index in range(distinct):
            right = seen[index]
            n = window_counts[right]
            window_counts[right] = 0
            used = _append_pair(
                n, left, right, window_block, sums, log_sums, log_shares, discount, contexts, weights, used
            )
        sizes[window_block, word] = used - before
    return sizes, contexts[:used], weights[:used]


@njit(cache=True, nogil=True, inline="always")
def _append_pair(n, left, right, column, sums, log_sums, log_shares, discount, contexts, weights, used):
    """Append a pair if one of its two weights is above 0, and return the new number of pairs."""
    opposite = len(sums) - 2 - column if column < len(sums) - 1 else column
    log = math.log(n)
    weight = max(0.0, log - log_sums[column, left] - log_shares[column, right])
    opposite_weight = max(0.0, log - log_sums[opposite, right] - log_shares[opposite, left])
    if weight == 0 and opposite_weight == 0:
        return used
    rarer = min(sums[column, left], sums[opposite, right])
    certainty = (n / (n + discount)) * (rarer / (rarer + discount))
    contexts[used] = right
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
        Context words, (pairs,) int32; weights in the row of the word, (pairs,) float32; and weights in the row of the
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


@njit(cache=True, nogil=True, fastmath=True)
def multiply(starts, contexts, weights, scale, table, result):
    """Add scale · M · table to the result, with n rows of one block of the weighted matrix as M.

    Args:
        starts: (n + 1,) int64, the start of each word's pairs in this block.
        contexts: (pairs,) int32, context words from `sort_by_block`.
        weights: (pairs,) float32, one of the two arrays of weights from `sort_by_block`.
        scale: factor of all weights.
        table: (N, b) float32.
        result: (n, b) float32, updated in place.
    """
    for word in range(len(result)):
        row = result[word]
        for pair in range(starts[word], starts[word + 1]):
            weight, context_row = scale * weights[pair], table[contexts[pair]]
            for dimension in range(len(row)):
                row[dimension] += weight * context_row[dimension]
