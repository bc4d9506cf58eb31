"""Numba kernels that find the strongest contributions of many words."""

import math

import numpy as np

from bitcipher.kernel_cache import kernel

NONE, COUNTS, AGGREGATE = range(3)


@kernel
def strongest_of_ciphers(
    rows, first_pairs, blocks, right, count, log, code_starts, code_bits, beta, noise_distribution, slopes, topn
):
    """Return the strongest contributions of words in mode cat or sum.

    Args:
        rows: (n, 2) int64, start and stop of each word's rows.
        first_pairs: (rows + 1,) int64, the start of each row's pairs.
        blocks: (rows,) int64, the block of dimensions of each row.
        right, count: (pairs,) int32 and int64, right word and count of each pair.
        log: what the cipher of a pair with count n is multiplied by: n divided by the sum of the row for AGGREGATE,
            log(1 + n) for COUNTS, n for NONE.
        code_starts, code_bits: active bits of all words, see `bitcipher.cipher.ActiveBits`.
        beta: (N,) float64, the weight β of each word's cipher (see `bitcipher.embedding.noise`).
        noise_distribution: (b,) float64, the noise probability σ of each of the b bits.
        slopes: (n, blocks, b) float64, contribution per unit of that product, for each word and dimension.
        topn: number of contributions per word.

    Returns:
        Indices of rows and of pairs, (n, topn) int64 each, and contributions, (n, topn) float64. The contribution 0
        marks unused entries.
    """
    words = len(rows)
    best_rows, best_pairs = np.zeros((words, topn), np.int64), np.zeros((words, topn), np.int64)
    best_weights = np.zeros((words, topn))
    for word in range(words):
        for row in range(rows[word, 0], rows[word, 1]):
            slope = slopes[word, blocks[row]]
            noise_term = 0.0
            for bit in range(len(noise_distribution)):
                noise_term += noise_distribution[bit] * slope[bit]
            total = 0
            for pair in range(first_pairs[row], first_pairs[row + 1]):
                total += count[pair]
            for pair in range(first_pairs[row], first_pairs[row + 1]):
                context = right[pair]
                start, end = code_starts[context], code_starts[context + 1]
                code_term = 0.0
                for index in range(start, end):
                    code_term += slope[code_bits[index]]
                product = beta[context] * code_term / (end - start) + (1 - beta[context]) * noise_term
                factor = math.log1p(count[pair]) if log == COUNTS else float(count[pair])
                weight = product * (factor / total if log == AGGREGATE else factor)
                position = _find_position(best_weights[word], weight)
                if position < topn:
                    _insert(best_weights[word], position, weight)
                    _insert(best_rows[word], position, row)
                    _insert(best_pairs[word], position, pair)
    return best_rows, best_pairs, best_weights


@kernel(fastmath=True)
def add_strongest(
    rows,
    starts,
    contexts,
    weights,
    table,
    units,
    block,
    totals,
    best_weights,
    best_contexts,
    best_blocks,
):
    """Update the strongest contributions with one block of the weighted matrix (one offset, or the whole window).

    Args:
        rows: (n,) int64, the row of each word in `starts`, or -1 for a word without pairs.
        starts: (rows + 1,) int64, the start of each row's pairs.
        contexts, weights: (pairs,) int32 and float32, column of the context word and PPMI weight of each pair.
        table: `Operand` with the vectors of the context words in this block, (C, d).
        units: (n, d) float32, unit vectors of the words, transformed for this table.
        block: index of the block.
        totals: (n,) float64, updated in place: the sum of all contributions of each word.
        best_weights: (n, topn) float32, updated in place: the strongest contributions of each word, strongest first.
        best_contexts, best_blocks: (n, topn) int32 and int64, updated in place: their columns and blocks.
    """
    topn = best_weights.shape[1]
    values, scales = table.values, table.scales
    for word in range(len(rows)):
        row, unit = rows[word], units[word]
        if row < 0:
            continue
        for pair in range(starts[row], starts[row + 1]):
            context_vector = values[contexts[pair]]
            product = np.float32(0)
            for dimension in range(len(unit)):
                product += np.float32(context_vector[dimension]) * unit[dimension]
            weight = weights[pair] * scales[contexts[pair]] * product
            totals[word] += weight
            position = _find_position(best_weights[word], weight)
            if position < topn:
                _insert(best_weights[word], position, weight)
                _insert(best_contexts[word], position, contexts[pair])
                _insert(best_blocks[word], position, block)


@kernel(inline="always")
def _find_position(best, weight):
    """Return the position of a weight among the strongest weights, or len(best) if it is not stronger than any."""
    size, position = abs(weight), len(best)
    while position > 0 and size > abs(best[position - 1]):
        position -= 1
    return position


@kernel(inline="always")
def _insert(values, position, value):
    for later in range(len(values) - 1, position, -1):
        values[later] = values[later - 1]
    values[position] = value
