"""Mode spectral compared with dense matrices: weights, products and tables."""

import numpy as np
import pytest
import reference
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from small_corpora import CountedShards, choices, cut, documents, keep_rows

from bitcipher import BitcipherError
from bitcipher.counts import ContextWindow, concatenate, merge_rows, split
from bitcipher.embedding.spectral import (
    CONTEXTS,
    InMemoryProducts,
    SpectralEmbedding,
    compute_marginals,
    opposite_block,
    ppmi,
    transpose,
    weight_rows,
)
from bitcipher.embedding.spectral.spectral_embedding import VALUE_EXPONENT

corpora = st.tuples(documents.filter(any), choices, st.lists(st.integers(0, 6), max_size=2))
context_windows = st.builds(ContextWindow, st.sampled_from([1, 2, 5]), st.booleans())


def build(corpus, context_window):
    """Return the merged counts of a corpus, and its dense blocks of counts by the reference."""
    texts, choice, positions = corpus
    try:
        counts = CountedShards(cut(texts, positions), context_window).merged(**choice)
    except (BitcipherError, ValueError):  # the corpus has no words, or none is in the vocabulary
        assume(False)
    words, _ = reference.choose_words(texts, **choice)
    matrices = reference.context_matrices(texts, words, context_window.size)
    blocks = [] if context_window.summed else [matrices[offset] for offset in sorted(matrices)]
    return counts, [*blocks, sum(matrices.values())]


def weights_of(blocks):
    """Return the weighted matrix as dense blocks, pair by pair from the definition."""
    weighted = []
    for index, block in enumerate(blocks):
        exponent = 1 if index == len(blocks) - 1 else ppmi.OFFSET_EXPONENT
        sums, contexts = block.sum(axis=1), block.sum(axis=0)
        shares = contexts**exponent / max(1e-300, (contexts**exponent).sum())
        weight = np.zeros_like(block)
        for w, c in zip(*np.nonzero(block), strict=True):
            n, rarer = block[w, c], min(sums[w], contexts[c])
            certainty = n / (n + ppmi.DISCOUNT) * rarer / (rarer + ppmi.DISCOUNT)
            weight[w, c] = certainty * max(0, np.log(n / (sums[w] * shares[c])))
        weighted.append(weight)
    return weighted


def dense(rows, words):
    """Return the blocks of weighted rows as dense matrices, from the weights and from the opposite weights."""
    forward, opposite = (np.zeros((len(rows.starts), words, words)) for _ in range(2))
    for block, starts in enumerate(rows.starts):
        for index, word in enumerate(rows.words):
            pairs = slice(starts[index], starts[index + 1])
            forward[block, word, rows.contexts[pairs]] = rows.weights[pairs]
            opposite[opposite_block(block, len(rows.starts)), rows.contexts[pairs], word] = rows.opposite_weights[pairs]
    return forward, opposite


@given(corpora, context_windows)
@settings(max_examples=60)
def test_weights_match_the_definition(corpus, context_window):
    counts, blocks = build(corpus, context_window)
    (rows,) = InMemoryProducts.from_counts(counts, context_window.size)._rows
    forward, opposite = dense(rows, len(counts.vocabulary))
    np.testing.assert_allclose(forward, weights_of(blocks), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(opposite, weights_of(blocks), rtol=1e-5, atol=1e-6)


@given(corpora, context_windows, st.integers(1, 9))
@settings(max_examples=40)
def test_marginals_do_not_depend_on_block_sizes(corpus, context_window, entries):
    counts, blocks = build(corpus, context_window)
    forward = concatenate(counts.rows(context_window.size))
    backward = transpose(forward, len(counts.vocabulary))
    pieces = [piece for block in (backward, forward) for piece in split(block, entries)]
    found = compute_marginals(pieces, context_window.size, context_window.summed, len(counts.vocabulary))
    np.testing.assert_array_equal(found.sums, [block.sum(axis=1) for block in blocks])


@given(corpora, context_windows)
@settings(max_examples=40)
def test_transpose_is_its_own_inverse(corpus, context_window):
    counts, _ = build(corpus, context_window)
    forward = concatenate(counts.rows(context_window.size))
    once = transpose(forward, len(counts.vocabulary))
    assert cells(once) == sorted((right, -offset, left, n) for left, offset, right, n in cells(forward))
    assert cells(transpose(once, len(counts.vocabulary))) == cells(forward)


def cells(block):
    lefts, offsets = (np.repeat(column, block.length).tolist() for column in (block.left, block.offset))
    return sorted(zip(lefts, offsets, block.right.tolist(), block.count.tolist(), strict=True))


@given(corpora, context_windows, st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_products_match_dense_matrices(corpus, context_window, seed):
    counts, blocks = build(corpus, context_window)
    random = np.random.default_rng(seed)
    table = random.normal(size=(len(counts.vocabulary), 16)).astype(np.float32)
    scales = random.integers(0, 3, len(blocks)).astype(np.float32)
    products = InMemoryProducts.from_counts(counts, context_window.size)
    weights = weights_of(blocks)
    projected = sum(scale * block @ table for scale, block in zip(scales, weights, strict=True))
    np.testing.assert_allclose(products.project(table, scales), projected, rtol=1e-4, atol=1e-4)
    squared = sum(scale * block @ block.T @ table for scale, block in zip(scales, weights, strict=True))
    np.testing.assert_allclose(products.gram_product(table, scales), squared, rtol=1e-3, atol=1e-3)


# "of" and "a" have the same contexts, and only separate offsets distinguish them.
INTERCHANGEABLE = ([["the"] * 6, ["the"] * 64, ["the"] * 96, ["of", "a"] * 15], {}, [])


@pytest.mark.parametrize("context", CONTEXTS)
@given(corpora, context_windows, st.integers(1, 20))
@example(INTERCHANGEABLE, ContextWindow(2, False), 2)
@settings(max_examples=40)
def test_tables_span_the_leading_eigenvectors(context, corpus, context_window, vector_size):
    assume(not (context_window.summed and context == "positions"))
    counts, blocks = build(corpus, context_window)
    embedding = SpectralEmbedding(vector_size, context)
    table, directions = embedding.table(counts)
    scales = embedding.scales(len(blocks))
    matrix = sum(scale * block @ block.T for scale, block in zip(scales, weights_of(blocks), strict=True))
    expected = np.linalg.eigvalsh(matrix)[::-1]
    assert table.dtype == directions.dtype == np.float32
    assert table.shape == directions.shape
    assert table.shape[1] <= min(vector_size, np.count_nonzero(expected > 1e-12 * max(expected[0], 1e-12)))
    # Weak directions are less accurate in float32.
    strong = np.flatnonzero(expected[: table.shape[1]] > 1e-3 * expected[0])
    table, directions, expected = table[:, strong], directions[:, strong], expected[strong]
    np.testing.assert_allclose(table, matrix @ directions, rtol=1e-2, atol=1e-3)
    # Columns are eigenvectors, scaled by a power of the singular values.
    values = np.linalg.norm(table, axis=0) ** (2 / VALUE_EXPONENT)
    np.testing.assert_allclose(values, expected, rtol=1e-2)
    units = table / np.linalg.norm(table, axis=0)
    np.testing.assert_allclose(matrix @ units, units * values, atol=1e-2 * expected.max(initial=1))


@given(corpora, context_windows)
@settings(max_examples=30)
def test_grouping_of_words_does_not_change_the_bytes(corpus, context_window):
    counts, _ = build(corpus, context_window)
    window, words = context_window.size, len(counts.vocabulary)
    whole = InMemoryProducts.from_counts(counts, window)
    forward = concatenate(counts.rows(window))
    marginals = compute_marginals([forward, transpose(forward, words)], window, context_window.summed, words)
    pieces = [weight_rows(rows_of_word(forward, word, words), marginals) for word in reversed(range(words))]
    embedding = SpectralEmbedding(5)
    single, grouped = (
        embedding.factor(products, words, whole.blocks) for products in (whole, InMemoryProducts(pieces))
    )
    assert single.table.tobytes() == grouped.table.tobytes()
    assert single.directions.tobytes() == grouped.directions.tobytes()


def rows_of_word(forward, word, words):
    """Return all forward and backward rows of one word, in order."""
    both = [forward, transpose(forward, words)]
    rows, _ = merge_rows([keep_rows(block, block.left == word) for block in both], np.arange(words), -1)
    return rows
