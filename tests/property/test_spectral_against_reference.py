"""Mode spectral against dense matrices: weights, products, and the table that is made of them."""

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
    add_up,
    mirror,
    mirror_of,
    ppmi,
    weigh,
)
from bitcipher.embedding.spectral.spectral_embedding import VALUE_EXPONENT

corpora = st.tuples(documents.filter(any), choices, st.lists(st.integers(0, 6), max_size=2))
context_windows = st.builds(ContextWindow, st.sampled_from([1, 2, 5]), st.booleans())


def build(corpus, context_window):
    """The merged counts of a corpus by the real code, and its dense blocks of counts by the reference."""
    texts, choice, places = corpus
    try:
        counts = CountedShards(cut(texts, places), context_window).merged(**choice)
    except (BitcipherError, ValueError):  # no document has any word, or none is kept
        assume(False)
    words, _ = reference.choose_words(texts, **choice)
    matrices = reference.context_matrices(texts, words, context_window.size)
    blocks = [] if context_window.summed else [matrices[offset] for offset in sorted(matrices)]
    return counts, [*blocks, sum(matrices.values())]


def weights_of(blocks):
    """The matrix that is factored, a dense block each, pair by pair from its definition."""
    weighed = []
    for place, block in enumerate(blocks):
        exponent = 1 if place == len(blocks) - 1 else ppmi.OFFSET_EXPONENT
        sums, contexts = block.sum(axis=1), block.sum(axis=0)
        shares = contexts**exponent / max(1e-300, (contexts**exponent).sum())
        weight = np.zeros_like(block)
        for w, c in zip(*np.nonzero(block), strict=True):
            n, rarer = block[w, c], min(sums[w], contexts[c])
            certainty = n / (n + ppmi.DISCOUNT) * rarer / (rarer + ppmi.DISCOUNT)
            weight[w, c] = certainty * max(0, np.log(n / (sums[w] * shares[c])))
        weighed.append(weight)
    return weighed


def dense(rows, words):
    """The blocks of weighed rows as dense matrices, and those that are seen from the contexts."""
    own, mirrored = (np.zeros((len(rows.starts), words, words)) for _ in range(2))
    for block, starts in enumerate(rows.starts):
        for place, word in enumerate(rows.words):
            pairs = slice(starts[place], starts[place + 1])
            own[block, word, rows.contexts[pairs]] = rows.weights[pairs]
            mirrored[mirror_of(block, len(rows.starts)), rows.contexts[pairs], word] = rows.mirrored[pairs]
    return own, mirrored


@given(corpora, context_windows)
@settings(max_examples=60)
def test_weights_are_those_of_the_definition(corpus, context_window):
    counts, blocks = build(corpus, context_window)
    (rows,) = InMemoryProducts.of(counts, context_window.size)._rows
    own, mirrored = dense(rows, len(counts.vocabulary))
    np.testing.assert_allclose(own, weights_of(blocks), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(mirrored, weights_of(blocks), rtol=1e-5, atol=1e-6)


@given(corpora, context_windows, st.integers(1, 9))
@settings(max_examples=40)
def test_marginals_are_sums_whatever_the_pieces(corpus, context_window, entries):
    counts, blocks = build(corpus, context_window)
    forward = concatenate(counts.rows(context_window.size))
    backward = mirror(forward, len(counts.vocabulary))
    pieces = [piece for block in (backward, forward) for piece in split(block, entries)]
    found = add_up(pieces, context_window.size, context_window.summed, len(counts.vocabulary))
    np.testing.assert_array_equal(found.sums, [block.sum(axis=1) for block in blocks])


@given(corpora, context_windows)
@settings(max_examples=40)
def test_twice_mirrored_is_as_it_was(corpus, context_window):
    counts, _ = build(corpus, context_window)
    forward = concatenate(counts.rows(context_window.size))
    once = mirror(forward, len(counts.vocabulary))
    assert cells(once) == sorted((right, -offset, left, n) for left, offset, right, n in cells(forward))
    assert cells(mirror(once, len(counts.vocabulary))) == cells(forward)


def cells(block):
    lefts, offsets = (np.repeat(column, block.length).tolist() for column in (block.left, block.offset))
    return sorted(zip(lefts, offsets, block.right.tolist(), block.count.tolist(), strict=True))


@given(corpora, context_windows, st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_products_are_those_of_dense_matrices(corpus, context_window, seed):
    counts, blocks = build(corpus, context_window)
    random = np.random.default_rng(seed)
    table = random.normal(size=(len(counts.vocabulary), 16)).astype(np.float32)
    scales = random.integers(0, 3, len(blocks)).astype(np.float32)
    products = InMemoryProducts.of(counts, context_window.size)
    weights = weights_of(blocks)
    around = sum(scale * block @ table for scale, block in zip(scales, weights, strict=True))
    np.testing.assert_allclose(products.around(table, scales), around, rtol=1e-4, atol=1e-4)
    squared = sum(scale * block @ block.T @ table for scale, block in zip(scales, weights, strict=True))
    np.testing.assert_allclose(products.multiply(table, scales), squared, rtol=1e-3, atol=1e-3)


# "of" and "a" stand in each other's places, and only offsets taken apart tell them from one word.
INTERCHANGEABLE = ([["the"] * 6, ["the"] * 64, ["the"] * 96, ["of", "a"] * 15], {}, [])


@pytest.mark.parametrize("context", CONTEXTS)
@given(corpora, context_windows, st.integers(1, 20))
@example(INTERCHANGEABLE, ContextWindow(2, False), 2)
@settings(max_examples=40)
def test_tables_hold_the_leading_eigenvectors(context, corpus, context_window, dimensions):
    assume(not (context_window.summed and context == "positions"))
    counts, blocks = build(corpus, context_window)
    embedding = SpectralEmbedding(dimensions, context)
    table, directions = embedding.table(counts)
    scales = embedding.scales(len(blocks))
    matrix = sum(scale * block @ block.T for scale, block in zip(scales, weights_of(blocks), strict=True))
    expected = np.linalg.eigvalsh(matrix)[::-1]
    assert table.dtype == directions.dtype == np.float32
    assert table.shape == directions.shape
    assert table.shape[1] <= min(dimensions, np.count_nonzero(expected > 1e-12 * max(expected[0], 1e-12)))
    # What is weak beside the strongest is known less well, in float32.
    strong = np.flatnonzero(expected[: table.shape[1]] > 1e-3 * expected[0])
    table, directions, expected = table[:, strong], directions[:, strong], expected[strong]
    np.testing.assert_allclose(table, matrix @ directions, rtol=1e-2, atol=1e-3)
    # Columns are as long as the singular values' power says, and lie in the directions of eigenvectors.
    values = np.linalg.norm(table, axis=0) ** (2 / VALUE_EXPONENT)
    np.testing.assert_allclose(values, expected, rtol=1e-2)
    units = table / np.linalg.norm(table, axis=0)
    np.testing.assert_allclose(matrix @ units, units * values, atol=1e-2 * expected.max(initial=1))


@given(corpora, context_windows)
@settings(max_examples=30)
def test_how_words_are_cut_leaves_the_same_bytes(corpus, context_window):
    counts, _ = build(corpus, context_window)
    window, words = context_window.size, len(counts.vocabulary)
    whole = InMemoryProducts.of(counts, window)
    forward = concatenate(counts.rows(window))
    marginals = add_up([forward, mirror(forward, words)], window, context_window.summed, words)
    pieces = [weigh(rows_of_word(forward, word, words), marginals) for word in reversed(range(words))]
    embedding = SpectralEmbedding(5)
    at_once, in_pieces = (
        embedding.factor(products, words, whole.blocks) for products in (whole, InMemoryProducts(pieces))
    )
    assert at_once.table.tobytes() == in_pieces.table.tobytes()
    assert at_once.directions.tobytes() == in_pieces.directions.tobytes()


def rows_of_word(forward, word, words):
    """All rows of one word in both directions, in order."""
    both = [forward, mirror(forward, words)]
    rows, _ = merge_rows([keep_rows(block, block.left == word) for block in both], np.arange(words), -1)
    return rows
