"""Weighing pairs and multiplying with the weights, in numba.

A row is a word, its blocks the offsets -r … -1, 1 … r, and last the whole window, in which all offsets are added up.
Every row is weighed and multiplied by itself, with its pairs in the order of the counts, so it comes out to the same
bytes whatever rows are beside it.
"""

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def weigh(block, first_pairs, first_rows, columns, sums, log_sums, log_shares, discount, words):
    """Weights of all pairs of some words.

    Args:
        block: `PairBlock` of both directions, the rows of a word together, by offset.
        first_pairs: (rows + 1,) int64, where each row's pairs start.
        first_rows: (n + 1,) int64, where each word's rows start.
        columns: (rows,) int64, the block of each row's offset.
        sums: (blocks, N) int64, the pairs of each word in each block.
        log_sums, log_shares: (blocks, N) float64, see `Marginals`.
        discount: pairs that are taken off the certainty of each weight.
        words: N.

    Returns:
        (blocks, n) int64, the pairs that are left; and of these, word after word, their contexts, int32, and (pairs, 2)
        float32, their weights and those that they have seen from the context.
    """
    blocks = len(sums)
    context_window = blocks - 1
    pairs = len(block.right)
    # The window cannot have more pairs than its offsets together.
    contexts = np.empty(2 * pairs, np.int32)
    weights = np.empty((2 * pairs, 2), np.float32)
    kept = np.zeros((blocks, len(first_rows) - 1), np.int64)
    together = np.zeros(words, np.int64)
    seen = np.empty(words, np.int32)
    used = 0
    for word in range(len(first_rows) - 1):
        distinct = 0
        for row in range(first_rows[word], first_rows[word + 1]):
            left, column = block.left[row], columns[row]
            before = used
            for pair in range(first_pairs[row], first_pairs[row + 1]):
                right, n = block.right[pair], block.count[pair]
                if together[right] == 0:
                    seen[distinct] = right
                    distinct += 1
                together[right] += n
                if column < context_window:
                    used = _keep(n, left, right, column, sums, log_sums, log_shares, discount, contexts, weights, used)
            kept[column, word] = used - before
        before = used
        for index in range(distinct):
            right = seen[index]
            n = together[right]
            together[right] = 0
            used = _keep(n, left, right, context_window, sums, log_sums, log_shares, discount, contexts, weights, used)
        kept[context_window, word] = used - before
    return kept, contexts[:used], weights[:used]


@njit(cache=True, nogil=True, inline="always")
def _keep(n, left, right, column, sums, log_sums, log_shares, discount, contexts, weights, used):
    """Put a pair behind the others if it has a weight from either side; returns how many there are then."""
    mirror = len(sums) - 2 - column if column < len(sums) - 1 else column
    log = math.log(n)
    weight = max(0.0, log - log_sums[column, left] - log_shares[column, right])
    mirrored = max(0.0, log - log_sums[mirror, right] - log_shares[mirror, left])
    if weight == 0 and mirrored == 0:
        return used
    rarer = min(sums[column, left], sums[mirror, right])
    certainty = (n / (n + discount)) * (rarer / (rarer + discount))
    contexts[used] = right
    weights[used, 0] = certainty * weight
    weights[used, 1] = certainty * mirrored
    return used + 1


@njit(cache=True, nogil=True)
def by_block(kept, starts, contexts, weights):
    """The same pairs, block after block instead of word after word: a block's tables share the cache.

    Args:
        kept: (blocks, n) int64, pairs of each word in each block.
        starts: (blocks, n) int64, where they go.
        contexts, weights: as `weigh` gives them.
    """
    sorted_contexts = np.empty_like(contexts)
    sorted_weights, sorted_mirrored = np.empty(len(weights), np.float32), np.empty(len(weights), np.float32)
    pair = 0
    for word in range(kept.shape[1]):
        for block in range(len(kept)):
            start = starts[block, word]
            for place in range(start, start + kept[block, word]):
                sorted_contexts[place] = contexts[pair]
                sorted_weights[place] = weights[pair, 0]
                sorted_mirrored[place] = weights[pair, 1]
                pair += 1
    return sorted_contexts, sorted_weights, sorted_mirrored


@njit(cache=True, nogil=True, fastmath=True)
def multiply(starts, contexts, weights, scale, table, result):
    """Add what stands around words, in the dimensions of a table: one block of rows times the table.

    Args:
        starts: (n + 1,) int64, where the pairs of each word start.
        contexts, weights: the pairs, as `by_block` gave them; the weights of either side.
        scale: times every weight.
        table: (N, b) float32.
        result: (n, b) float32, added to.
    """
    for word in range(len(result)):
        own = result[word]
        for pair in range(starts[word], starts[word + 1]):
            weight, of_context = scale * weights[pair], table[contexts[pair]]
            for dimension in range(len(own)):
                own[dimension] += weight * of_context[dimension]
