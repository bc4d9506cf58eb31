"""The strongest contributions of many words, in numba."""

import math

import numpy as np
from numba import njit

NONE, COUNTS, AGGREGATE = range(3)


@njit(cache=True, nogil=True)
def strongest_of_ciphers(
    rows, first_pairs, blocks, right, count, log, code_starts, code_bits, trust, noise_distribution, slopes, topn
):
    """The strongest contributions of words in mode cat or sum.

    Args:
        rows: (n, 2) int64, where the rows of each word start and end.
        first_pairs: (rows + 1,) int64, where the pairs of each row start.
        blocks: (rows,) int64, the block of dimensions of each row.
        right, count: the pairs.
        log: what a pair of n counts: AGGREGATE, its share of the row; COUNTS, log(1 + n); else n.
        code_starts, code_bits: the active bits of all words.
        trust: (N,) float64, β.
        noise_distribution: (b,) float64, σ.
        slopes: (n, blocks, b) float64.
        topn: how many.

    Returns:
        (n, topn) rows, pairs and weights; a weight of 0 is none.
    """
    words = len(rows)
    best_rows, best_pairs = np.zeros((words, topn), np.int64), np.zeros((words, topn), np.int64)
    best_weights = np.zeros((words, topn))
    for word in range(words):
        for row in range(rows[word, 0], rows[word, 1]):
            slope = slopes[word, blocks[row]]
            usual = 0.0
            for bit in range(len(noise_distribution)):
                usual += noise_distribution[bit] * slope[bit]
            total = 0
            for pair in range(first_pairs[row], first_pairs[row + 1]):
                total += count[pair]
            for pair in range(first_pairs[row], first_pairs[row + 1]):
                context = right[pair]
                start, end = code_starts[context], code_starts[context + 1]
                own = 0.0
                for place in range(start, end):
                    own += slope[code_bits[place]]
                told = trust[context] * own / (end - start) + (1 - trust[context]) * usual
                amount = math.log1p(count[pair]) if log == COUNTS else float(count[pair])
                weight = told * (amount / total if log == AGGREGATE else amount)
                place = _place(best_weights[word], weight)
                if place < topn:
                    _insert(best_weights[word], place, weight)
                    _insert(best_rows[word], place, row)
                    _insert(best_pairs[word], place, pair)
    return best_rows, best_pairs, best_weights


@njit(cache=True, nogil=True, fastmath=True)
def add_strongest(
    words,
    starts,
    contexts,
    weights,
    scale,
    places,
    told,
    units,
    block,
    totals,
    best_weights,
    best_contexts,
    best_blocks,
):
    """Go through one block of the rows of mode spectral, and keep the strongest contributions.

    Args:
        words: (n,) int32, whose rows these are.
        starts: (n + 1,) int64, where the pairs of each word start.
        contexts, weights: the pairs.
        scale: what the block counts.
        places: (N,) int64, where each context is in `told`.
        told: (m, d) float32, what each context tells in this block.
        units: (N, d) float32, the directions of all words.
        block: its number.
        totals: (N,) float64, added to: the sum of all contributions of each word.
        best_weights, best_contexts, best_blocks: (N, topn), kept: the strongest first.
    """
    topn = best_weights.shape[1]
    for place in range(len(words)):
        word = words[place]
        unit = units[word]
        for pair in range(starts[place], starts[place + 1]):
            of_context = told[places[contexts[pair]]]
            product = np.float32(0)
            for dimension in range(len(unit)):
                product += of_context[dimension] * unit[dimension]
            weight = scale * weights[pair] * product
            totals[word] += weight
            slot = _place(best_weights[word], weight)
            if slot < topn:
                _insert(best_weights[word], slot, weight)
                _insert(best_contexts[word], slot, contexts[pair])
                _insert(best_blocks[word], slot, block)


@njit(cache=True, nogil=True, inline="always")
def _place(best, weight):
    """Where a weight belongs among the strongest; behind the last if it is weaker."""
    size, place = abs(weight), len(best)
    while place > 0 and size > abs(best[place - 1]):
        place -= 1
    return place


@njit(cache=True, nogil=True, inline="always")
def _insert(values, place, value):
    for later in range(len(values) - 1, place, -1):
        values[later] = values[later - 1]
    values[place] = value
