"""Numba kernels that weight pairs by PPMI and multiply by the weights.

The weighted matrix has a row per word and several blocks of columns: one per offset -r … -1, 1 … r (r is the window
size), and last the window block, in which the counts of all offsets are added up. Each row is weighted and multiplied
independently, with its pairs in their stored order, so its bytes do not depend on the other rows.
"""

import math

import numpy as np

from bitcipher.kernel_cache import kernel

# Indices are unsigned in inner loops, since numba checks each signed index for a negative value.
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

_float = np.float32

# Weights up to this value are rounding errors of pairs that are exactly as frequent as chance predicts.
ROUNDING = 1e-9


@kernel
def add_counts(block, blocks_of_rows, sums):
    """Add the counts of all pairs to the sums of their left words.

    Args:
        block: `PairBlock` with rows in any order.
        blocks_of_rows: (rows,) int64, the block of each row's offset.
        sums: (blocks, N) int64, updated in place.
    """
    pair = 0
    for row in range(len(block.left)):
        total = 0
        for _ in range(block.length[row]):
            total += block.count[pair]
            pair += 1
        sums[blocks_of_rows[row], block.left[row]] += total


@kernel
def weight_pairs(
    block, starts, first_rows, blocks_of_rows, terms, discount, columns, contexts, weights, opposite_weights
):
    """Write the weights of all pairs of some words, block after block, and in each block word after word.

    Args:
        block: `PairBlock` with forward and backward offsets; the rows of a word are adjacent, in the order of blocks. A
            word can have several rows in a block.
        starts: (rows,) int64, the start of each row's pairs.
        first_rows: (n + 1,) int64, the start of each word's rows.
        blocks_of_rows: (rows,) int64, the block of each row's offset.
        terms: (blocks, N, 3) float64, see `Marginals.terms`.
        discount: d in the factors n / (n + d), which reduce the weights of small counts n.
        columns: (N,) int32, the column of each word as a context word, or -1 for words to leave out.
        contexts: (2 · pairs,) int32, output: the columns of the pairs with a weight above 0.
        weights: (2 · pairs,) float32, output: their weights in the row of the word.
        opposite_weights: (2 · pairs,) float32, output: their weights in the row of the context word, in the opposite
            block.

    Returns:
        For each block, the start of each word's pairs, and the end of the last word's pairs, (blocks, n + 1) int64.
    """
    words, window_block = len(first_rows) - 1, len(terms) - 1
    outputs = contexts, weights, opposite_weights
    small = _small_count_terms(discount)
    result = np.empty((len(terms), words + 1), np.int64)
    next_rows = first_rows[:-1].copy()
    used = np.uint64(0)
    # One block at a time, because the terms of a block fit into the cache.
    for index in range(window_block):
        right_terms = terms[window_block - 1 - index]
        for word in range(words):
            result[index, word] = used
            while next_rows[word] < first_rows[word + 1] and blocks_of_rows[next_rows[word]] == index:
                row = next_rows[word]
                next_rows[word] += 1
                pairs = slice(starts[row], starts[row] + block.length[row])
                left_terms = terms[index, block.left[row]]
                rights, counts = block.right[pairs], block.count[pairs]
                used = _weigh(rights, counts, left_terms, right_terms, small, discount, columns, outputs, used)
        result[index, words] = used
    window_counts = np.zeros(len(columns), np.int64)
    # One element more than there are words, because the element behind the last one is written, too.
    seen, seen_counts = np.empty(len(columns) + 1, np.int32), np.empty(len(columns) + 1, np.int64)
    for word in range(words):
        result[window_block, word] = used
        distinct = np.uint64(0)
        for row in range(first_rows[word], first_rows[word + 1]):
            for pair in range(np.uint64(starts[row]), np.uint64(starts[row] + block.length[row])):
                right = np.uint64(block.right[pair])
                if columns[right] >= 0:
                    seen[distinct] = right
                    distinct += np.uint64(window_counts[right] == 0)
                    window_counts[right] += block.count[pair]
        for index in range(distinct):
            right = np.uint64(seen[index])
            seen_counts[index] = window_counts[right]
            window_counts[right] = 0
        left_terms = terms[window_block, block.left[first_rows[word]]]
        rights, counts = seen[:distinct], seen_counts[:distinct]
        used = _weigh(rights, counts, left_terms, terms[window_block], small, discount, columns, outputs, used)
    result[window_block, words] = used
    return result


@kernel
def _weigh(rights, counts, left_terms, right_terms, small, discount, columns, outputs, used):
    """Write the weights of a word's pairs in a block, and return the number of all pairs that are written.

    Args:
        rights: (n,) int32, right words of the pairs.
        counts: (n,) int64, their counts.
        left_terms: (3,) float64, the terms of the word in the block, see `Marginals.terms`.
        right_terms: (N, 3) float64, the terms of all words in the opposite block.
        small: from `_small_count_terms`.
        discount, columns: see `weight_pairs`.
        outputs: contexts, weights and opposite weights, see `weight_pairs`.
        used: uint64, number of pairs that are already written.
    """
    contexts, weights, opposite_weights = outputs
    left_log, left_share, left_certainty = left_terms[0], left_terms[1], left_terms[2]
    for pair in range(len(rights)):
        right, n = np.uint64(rights[pair]), counts[pair]
        if n < len(small):
            log, certainty = small[np.uint64(n), 0], small[np.uint64(n), 1]
        else:
            log, certainty = math.log(n), n / (n + discount)
        weight = log - left_log - right_terms[right, 1]
        opposite = log - right_terms[right, 0] - left_share
        weight = weight if weight > ROUNDING else 0.0
        opposite = opposite if opposite > ROUNDING else 0.0
        certainty *= min(left_certainty, right_terms[right, 2])
        contexts[used], weights[used], opposite_weights[used] = columns[right], certainty * weight, certainty * opposite
        # Without a branch, which the processor would often predict wrongly.
        used += np.uint64(((weight > 0) | (opposite > 0)) & (columns[right] >= 0))
    return used


@kernel
def _small_count_terms(discount):
    """Return the natural log of each count n below 4,096, which most counts are, and n / (n + d), (4096, 2) float64."""
    terms = np.empty((4096, 2))
    for n in range(len(terms)):
        terms[n, 0], terms[n, 1] = math.log(n) if n else -np.inf, n / (n + discount)
    return terms


# Fused multiply-add is allowed, but no other order of additions, so that the bytes do not depend on the compiler.
@kernel(fastmath={"contract"})
def multiply(starts, contexts, weights, scale, targets, table, result):
    """Add scale · M · table to the result, with n rows of one block of the weighted matrix as M.

    Args:
        starts: (n + 1,) int64, the start of each word's pairs in this block.
        contexts: (pairs,) int32, columns from `weight_pairs`.
        weights: (pairs,) float32, one of the two arrays of weights from `weight_pairs`.
        scale: factor of all weights.
        targets: (n,) int64, the row of the result for each word, or -1 for words to skip.
        table: `Operand` with the rows of the first m columns, (m, b). Pairs in other columns are skipped.
        result: (k, b) float32, updated in place.
    """
    values, scales, columns = table.values, table.scales, np.uint64(result.shape[1])
    longest = 0
    for word in range(len(targets)):
        longest = max(longest, starts[word + 1] - starts[word])
    used_contexts, used_weights = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.float32)
    for word in range(len(targets)):
        if targets[word] < 0:
            continue
        used = np.uint64(0)
        for pair in range(np.uint64(starts[word]), np.uint64(starts[word + 1])):
            # Without a branch, which the processor would often predict wrongly.
            used_contexts[used], used_weights[used] = contexts[pair], scale * weights[pair]
            used += np.uint64((contexts[pair] < len(scales)) & (weights[pair] > 0))
        for pair in range(used):
            used_weights[pair] *= scales[used_contexts[pair]]
        target = np.uint64(targets[word])
        pair = np.uint64(0)
        # Four pairs at once take half of the time, because the row is loaded and stored a quarter as often.
        while pair + _THREE < used:
            a, b = used_contexts[pair], used_contexts[pair + _ONE]
            c, d = used_contexts[pair + _TWO], used_contexts[pair + _THREE]
            weight_a, weight_b = used_weights[pair], used_weights[pair + _ONE]
            weight_c, weight_d = used_weights[pair + _TWO], used_weights[pair + _THREE]
            for i in range(columns):
                first_two = (result[target, i] + weight_a * _float(values[a, i])) + weight_b * _float(values[b, i])
                result[target, i] = (first_two + weight_c * _float(values[c, i])) + weight_d * _float(values[d, i])
            pair += _FOUR
        while pair < used:
            a, weight_a = used_contexts[pair], used_weights[pair]
            for i in range(columns):
                result[target, i] += weight_a * _float(values[a, i])
            pair += _ONE
