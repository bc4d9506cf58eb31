"""Mode spectral compared with dense matrices: weights, products and tables."""

import numpy as np
import pytest
import reference
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from small_corpora import CountedShards, choices, cut, documents, keep_rows

from bitcipher import BitcipherError
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.pairs import concatenate, split
from bitcipher.embedding.spectral import ppmi
from bitcipher.embedding.spectral.in_memory_products import InMemoryProducts
from bitcipher.embedding.spectral.operand import Operand
from bitcipher.embedding.spectral.ppmi import compute_marginals, opposite_block, weight_rows
from bitcipher.embedding.spectral.spectral_embedding import CONTEXTS, VALUE_EXPONENT, SpectralEmbedding
from bitcipher.embedding.spectral.transpose import transpose

corpora = st.tuples(documents.filter(any), choices, st.lists(st.integers(0, 6), max_size=2))
landmark_numbers = st.integers(1, 12) | st.just("all")
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


def all_products(counts, window):
    """Return the products with all words as context words."""
    return InMemoryProducts.from_counts(counts, window, np.arange(len(counts.vocabulary), dtype=np.int32))


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


def dense(products, words):
    """Return the blocks of the weighted matrix as dense matrices, from the weights and from the opposite weights."""
    forward, opposite = (np.zeros((products.blocks, words, words)) for _ in range(2))
    for rows in products._rows:
        for block, starts in enumerate(rows.starts):
            other = opposite_block(block, products.blocks)
            for index, word in enumerate(rows.words):
                pairs = slice(starts[index], starts[index + 1])
                forward[block, word, rows.contexts[pairs]] = rows.weights[pairs]
                opposite[other, rows.contexts[pairs], word] = rows.opposite_weights[pairs]
    return forward, opposite


@given(corpora, context_windows)
@settings(max_examples=60)
def test_weights_match_the_definition(corpus, context_window):
    counts, blocks = build(corpus, context_window)
    forward, opposite = dense(all_products(counts, context_window.size), len(counts.vocabulary))
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
@settings(max_examples=60)
def test_products_match_dense_matrices(corpus, context_window, seed):
    counts, blocks = build(corpus, context_window)
    random = np.random.default_rng(seed)
    words = len(counts.vocabulary)
    landmarks, contexts = np.sort(random.integers(1, words + 1, 2))
    # The context words, landmarks first: any words in any order.
    ranks = random.permutation(words)[:contexts]
    columns = np.full(words, -1, np.int32)
    columns[ranks] = np.arange(contexts)
    scales = random.integers(0, 3, len(blocks)).astype(np.float32)
    products = InMemoryProducts.from_counts(counts, context_window.size, columns, threads=2)
    weights = [block[:, ranks] for block in weights_of(blocks)]
    table = random.normal(size=(contexts, 16)).astype(np.float32)
    expected = sum(scale * block @ rounded(table) for scale, block in zip(scales, weights, strict=True))
    expected = expected[ranks[:landmarks]]
    np.testing.assert_allclose(products.project(table, scales, landmarks), expected, rtol=1e-4, atol=1e-4)
    table = random.normal(size=(landmarks, 16)).astype(np.float32)
    expected = sum(
        block @ rounded(scale * block[ranks[:landmarks]].T @ rounded(table))
        for scale, block in zip(scales, weights, strict=True)
    )
    np.testing.assert_allclose(products.extend(table, scales).rows.array, expected, rtol=1e-3, atol=1e-3)
    found = products.gram_product(table, scales)
    np.testing.assert_allclose(found, expected[ranks[:landmarks]], rtol=1e-3, atol=1e-3)


def rounded(table):
    """Return a table with the 16 bits per value that products have."""
    values, scales = Operand.rounded(table.astype(np.float32))
    return values * scales[:, None]


# All pairs are as frequent as chance predicts.
BY_CHANCE = ([["of", "the", "the"]] * 3, {}, [])
# "of" and "a" have the same contexts, and only separate offsets distinguish them.
INTERCHANGEABLE = ([["the"] * 6, ["the"] * 64, ["the"] * 96, ["of", "a"] * 15], {}, [])


@pytest.mark.parametrize("context", CONTEXTS)
@given(corpora, context_windows, st.integers(1, 20), landmark_numbers, landmark_numbers)
@example(INTERCHANGEABLE, ContextWindow(2, False), 2, "all", "all")
@example(BY_CHANCE, ContextWindow(1, False), 1, "all", "all")
@settings(max_examples=60)
def test_tables_span_the_leading_eigenvectors(context, corpus, context_window, vector_size, landmarks, contexts):
    assume(not (context_window.summed and context == "positions"))
    counts, blocks = build(corpus, context_window)
    embedding = SpectralEmbedding(vector_size, context, landmarks, contexts)
    spectrum = embedding.table(counts)
    table, directions = spectrum.table, spectrum.basis.scaled_directions
    words, scales = len(directions), embedding.scales(len(blocks))
    assert words == (len(table) if landmarks == "all" else min(landmarks, len(table)))
    used = [block[:, : embedding.contexts(len(table))] for block in weights_of(blocks)]
    products = sum(scale * block @ block[:words].T for scale, block in zip(scales, used, strict=True))
    matrix = products[:words]
    expected = np.linalg.eigvalsh(matrix)[::-1]
    assert table.dtype == directions.dtype == np.float32
    assert table.shape == (len(counts.vocabulary), directions.shape[1])
    assert table.shape[1] <= min(vector_size, np.count_nonzero(expected > 1e-12 * max(expected[0], 1e-12)))
    # Weak directions are less accurate in products of 16 bits.
    strong = np.flatnonzero(expected[: table.shape[1]] > 1e-2 * expected[0])
    table, directions, expected = table[:, strong], directions[:, strong], expected[strong]
    np.testing.assert_allclose(table, products @ directions, rtol=1e-2, atol=1e-3)
    table = table[:words]
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
    whole = all_products(counts, window)
    forward = concatenate(counts.rows(window))
    marginals = compute_marginals([forward, transpose(forward, words)], window, context_window.summed, words)
    columns = np.arange(words, dtype=np.int32)
    pieces = [weighted_row(forward, word, marginals, columns) for word in reversed(range(words))]
    embedding = SpectralEmbedding(5)
    single, grouped = (
        embedding.factor(products, counts.vocabulary, whole.blocks)
        for products in (whole, InMemoryProducts(pieces, columns, marginals, threads=3))
    )
    assert single.table.tobytes() == grouped.table.tobytes()
    assert single.basis.directions.tobytes() == grouped.basis.directions.tobytes()


def weighted_row(forward, word, marginals, columns):
    """Return the weighted row of one word."""
    both = concatenate([forward, transpose(forward, len(columns))])
    rows = keep_rows(both, both.left == word)
    return weight_rows(rows, marginals, columns, np.argsort(rows.offset, kind="stable"))
