"""Explanations compared with dense matrices, pair by pair."""

import dense_spectra
import numpy as np
import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_vectors import make_vectors
from small_corpora import CountedShards, choices, cut, documents

from bitcipher import BitcipherError
from bitcipher.counts.context_window import ContextWindow
from bitcipher.embedding.cipher_embedding import LOGS
from bitcipher.embedding.noise import NOISE_OVER, NOISES
from bitcipher.embedding.spectral.basis import Basis
from bitcipher.embedding.spectral.operand import LARGEST
from bitcipher.explain.explainer import Explainer

corpora = st.tuples(documents.filter(any), choices, st.lists(st.integers(0, 6), max_size=2))
window_sizes = st.sampled_from([1, 2, 5])
row_numbers = st.integers(0, 20)
landmark_numbers = st.sampled_from([3, 5, 1000])


def build(corpus, context_window):
    documents, choice, positions = corpus
    try:
        counts = CountedShards(cut(documents, positions), context_window).merged(**choice)
    except (BitcipherError, ValueError):  # the corpus has no words, or none is in the vocabulary
        assume(False)
    return counts, *reference.choose_words(documents, **choice)


def weights_by_pair(explanation):
    return {(each.offset, each.word): each.weight for each in explanation.contributions}


def assert_same_contributions(found, expected, tolerance):
    """Compare {(offset, word): weight}, where missing pairs have weight 0."""
    for pair in found.keys() | expected.keys():
        # In a tiny table, contributions of opposite signs can be in the thousands.
        assert found.get(pair, 0) == pytest.approx(expected.get(pair, 0), rel=1e-10, abs=tolerance)


def cipher_contributions(corpus, words, total, options, vectors, row, other):
    """Return {(offset, word): weight} of the cosine of a row with the direction of another row, and the cosine."""
    bits, window, mode, noise, log, over = (
        options[name] for name in ("bits", "window", "mode", "noise", "log", "noise_over")
    )
    raw = reference.table(corpus[0], words, total, bits, window, mode, noise, log, over)[row]
    if not raw.any():
        return {}, 0.0
    mean, matrix = vectors.refinement["mean"], vectors.refinement["matrix"]
    white = (raw - mean) @ matrix
    white -= white.mean()
    direction = vectors.vectors[other].astype(float)
    length = np.linalg.norm(white) * np.linalg.norm(direction)
    if not length:
        return {}, 0.0
    gains = matrix @ (direction - direction.mean()) / length
    shares = (raw - mean) * gains
    ciphers = reference.noisy_ciphers(words, total, bits, noise, over)
    transform = np.log1p if log == "counts" else np.array
    counts = reference.context_matrices(corpus[0], words, window)
    blocks = {offset: 0 if mode == "sum" else block for block, offset in enumerate(sorted(counts))}
    terms = {offset: transform(counts[offset][row])[:, None] * ciphers for offset in counts}
    sums = np.zeros((max(blocks.values()) + 1, bits))
    for offset, block in blocks.items():
        sums[block] += terms[offset].sum(axis=0)
    contributions = {}
    for offset, block in blocks.items():
        dimensions = slice(block * bits, (block + 1) * bits)
        slopes = gains[dimensions]
        if log == "aggregate":
            slopes = np.divide(shares[dimensions], sums[block], out=np.zeros(bits), where=sums[block] > 0)
        shown = 0 if mode == "sum" and log != "counts" else offset
        for rank, weight in enumerate(terms[offset] @ slopes):
            contributions[shown, words[rank].word] = contributions.get((shown, words[rank].word), 0) + weight
    return contributions, float(shares.sum())


@pytest.mark.parametrize("mode", ["cat", "sum"])
@pytest.mark.parametrize("log", LOGS)
@given(corpora, window_sizes, st.sampled_from(list(NOISES)), st.sampled_from(NOISE_OVER), row_numbers, row_numbers)
@settings(max_examples=40, deadline=None)
def test_cipher_contributions_match_dense_matrices(mode, log, corpus, window, noise, over, one, other):
    counts, words, total = build(corpus, ContextWindow(window))
    options = {"bits": max(2, len(words).bit_length()) + 1, "window": window, "mode": mode}
    options |= {"noise": noise, "log": log, "noise_over": over}
    try:
        vectors = make_vectors(counts, **options)
    except BitcipherError:  # fewer than two words have context
        assume(False)
    one, other = one % len(words), other % len(words)
    explanation = Explainer(vectors, counts).explain(one, other, topn=10_000)
    expected, cosine = cipher_contributions(corpus, words, total, options, vectors, one, other)
    back, back_cosine = cipher_contributions(corpus, words, total, options, vectors, other, one)
    assert explanation.similarity == pytest.approx((cosine + back_cosine) / 2, abs=1e-7)
    assert explanation.similarity == pytest.approx(vectors.similarity(one, other), abs=1e-6)
    weights = weights_by_pair(explanation)
    assert sum(weights.values()) + explanation.rest == pytest.approx(explanation.similarity, abs=1e-9)
    assert_same_contributions(
        weights, {pair: (expected.get(pair, 0) + back.get(pair, 0)) / 2 for pair in expected | back}, 1e-8
    )


def largest_rounding_error(blocks, directions, row):
    """Return a bound for the error of a row's length: both factors of its product are rounded to 16 bits per value."""
    largest, columns = np.abs(directions).max(axis=1), directions.shape[1]
    sizes = [scale * matrix[row] @ (matrix[: len(directions)].T @ largest) for scale, matrix in blocks.values()]
    return 2 * columns**0.5 / (2 * LARGEST) * sum(sizes)


@given(
    corpora, window_sizes, st.sampled_from(["both", "positions", "window"]), row_numbers, row_numbers, landmark_numbers
)
@settings(max_examples=60, deadline=None)
def test_spectral_contributions_match_dense_matrices(corpus, window, context, one, other, landmarks):
    counts, words, _ = build(corpus, ContextWindow(window))
    try:
        options = {"context": context, "landmarks": landmarks, "landmark_contexts": 5, "spelling_share": 0}
        vectors = make_vectors(counts, mode="spectral", vector_size=6, **options)
    except BitcipherError:  # no pair is more frequent than by chance
        assume(False)
    one, other = one % len(words), other % len(words)
    explanation = Explainer(vectors, counts).explain(one, other, topn=10_000)
    blocks = dense_spectra.blocks(corpus[0], words, window, context, contexts=max(landmarks, 5))
    directions, rows = Basis.from_arrays(vectors.refinement).scaled_directions, vectors.vectors.astype(float)
    expected, rounding = {}, 0
    for word, towards in ((one, other), (other, one)):
        length = dense_spectra.table(blocks, directions @ rows[word])[word]
        rounding = max(rounding, largest_rounding_error(blocks, directions, word) / length if length > 0 else 0)
        for offset, (scale, matrix) in blocks.items():
            products = scale * matrix[word] * (matrix[: len(directions)].T @ (directions @ rows[towards]))
            for rank, weight in enumerate(products):
                pair = offset, words[rank].word
                expected[pair] = expected.get(pair, 0) + (weight / length / 2 if length > 0 else 0)
    weights = weights_by_pair(explanation)
    assert sum(weights.values()) + explanation.rest == pytest.approx(explanation.similarity, abs=1e-9)
    # Weights are float32, and large contributions may cancel in a text of few words. A rounded row has another length,
    # which divides all contributions.
    tolerance = (1e-5 + rounding) * max(1, *map(abs, expected.values()))
    assert explanation.similarity == pytest.approx(sum(expected.values()), abs=tolerance)
    assert_same_contributions(weights, expected, tolerance)
