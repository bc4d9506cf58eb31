from itertools import pairwise

import numpy as np
import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_corpora import CountedShards, choices, cut, documents

from bitcipher import BitcipherError, CipherEmbedding
from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.merged_counts import MergedCounts
from bitcipher.counts.pairs import select_rows, split
from bitcipher.embedding.cipher_embedding import LOGS, MODES
from bitcipher.embedding.noise import NOISE_OVER, NOISES
from bitcipher.embedding.spectral.transpose import forward_and_backward

corpora = st.tuples(documents.filter(any), choices, st.lists(st.integers(0, 6), max_size=2))
window_sizes = st.sampled_from([1, 2, 5])


def build(corpus, context_window, block_entries=100):
    """Return the merged counts of a corpus, and its vocabulary by the reference."""
    documents, choice, positions = corpus
    try:
        counts = CountedShards(cut(documents, positions), context_window).merged(block_entries, **choice)
    except (BitcipherError, ValueError):  # the corpus has no words, or none is in the vocabulary
        assume(False)
    return counts, *reference.choose_words(documents, **choice)


def sufficient_bits(words, more):
    return max(2, len(words).bit_length()) + more


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("log", LOGS)
@given(corpora, window_sizes, st.integers(0, 3), st.sampled_from(NOISE_OVER))
@settings(max_examples=40, deadline=None)
def test_tables_match_dense_matrices(mode, noise, log, corpus, window, more_bits, noise_over):
    counts, words, total = build(corpus, ContextWindow(window))
    assume(len(words) > 1 or noise_over == "bits")
    bits = sufficient_bits(words, more_bits)
    embedding = CipherEmbedding(bits, window, mode, noise, log, noise_over)
    table = embedding.table(counts)
    assert table.shape == (len(words), embedding.vector_size)
    assert table.dtype == np.float64
    expected = reference.table(corpus[0], words, total, bits, window, mode, noise, log, noise_over)
    np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("log", LOGS)
@given(corpora, window_sizes, st.sampled_from(list(NOISES)))
@settings(max_examples=40, deadline=None)
def test_summed_counts_match_the_reference(log, corpus, window, noise):
    counts, words, total = build(corpus, ContextWindow(window, summed=True))
    bits = sufficient_bits(words, 1)
    table = CipherEmbedding(bits, window, "sum", noise, log).table(counts)
    expected = reference.table(corpus[0], words, total, bits, window, "sum", noise, log, summed=True)
    np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
@given(corpora, window_sizes, st.sampled_from(list(NOISES)), st.sampled_from(LOGS), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_block_size_does_not_change_the_bytes(mode, corpus, window, noise, log, block_entries):
    counts, words, _ = build(corpus, ContextWindow(window), block_entries=10**6)
    embedding = CipherEmbedding(sufficient_bits(words, 0), window, mode, noise, log)
    expected = embedding.table(counts).tobytes()
    assert embedding.table(build(corpus, ContextWindow(window), block_entries)[0]).tobytes() == expected
    documents, choice, _ = corpus
    assert (
        embedding.table(build((documents, choice, []), ContextWindow(window), block_entries)[0]).tobytes() == expected
    )


@pytest.mark.parametrize("mode", MODES)
@given(corpora, st.integers(1, 7), st.sampled_from(LOGS), st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_number_of_passes_does_not_change_the_bytes(mode, corpus, window, log, offsets_per_pass):
    counts, words, _ = build(corpus, ContextWindow(7))
    embedding = CipherEmbedding(sufficient_bits(words, 0), window, mode, log=log)
    expected = embedding.table(counts).tobytes()
    for sums_bytes in (offsets_per_pass * 2 * len(words) * (embedding.bits + 1) * 8, 1):
        assert embedding.table(counts, sums_bytes).tobytes() == expected


@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("log", LOGS)
@given(corpora, window_sizes, st.sampled_from(list(NOISES)), st.lists(st.integers(0, 60), max_size=3))
@settings(max_examples=30, deadline=None)
def test_rows_of_ranges_have_the_bytes_of_the_table(summed, log, corpus, window, noise, cuts):
    counts, words, _ = build(corpus, ContextWindow(window, summed))
    for mode in ("sum",) if summed else ("cat", "sum"):
        embedding = CipherEmbedding(sufficient_bits(words, 0), window, mode, noise, log)
        ciphers = embedding.context_ciphers(counts.vocabulary)
        pairs = forward_and_backward(counts, window)
        bounds = [0, *sorted(min(cut, len(words)) for cut in cuts), len(words)]
        rows = []
        for start, stop in pairwise(bounds):
            ranks = np.arange(start, stop, dtype=np.int32)
            of_range = select_rows(pairs, (start <= pairs.left) & (pairs.left < stop))
            rows.append(embedding.rows(ranks, [of_range], ciphers))
        assert np.vstack(rows).tobytes() == embedding.table(counts).tobytes()


@pytest.mark.parametrize("mode", MODES)
@given(corpora, st.integers(1, 5), st.integers(1, 5), st.sampled_from(LOGS))
@settings(max_examples=30, deadline=None)
def test_smaller_window_of_larger_counts_gives_the_same_bytes(mode, corpus, window, more, log):
    larger, words, _ = build(corpus, ContextWindow(window + more))
    embedding = CipherEmbedding(sufficient_bits(words, 0), window, mode, log=log)
    assert embedding.table(larger).tobytes() == embedding.table(build(corpus, ContextWindow(window))[0]).tobytes()


@pytest.mark.parametrize("mode", ["cat", "sum"])
@given(corpora, documents, window_sizes, st.sampled_from(LOGS), st.integers(1, 30), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_order_number_and_sign_of_partial_counts_do_not_change_the_bytes(
    mode, corpus, replaced, window, log, block_entries, random
):
    """Text is added and subtracted again, with words inside and outside the vocabulary."""
    context_window = ContextWindow(window)
    merged, words, _ = build(corpus, context_window)
    remaining, _, positions = corpus
    partials = CountedShards(cut(remaining + replaced, positions), context_window).partials(merged.vocabulary)
    partials += [
        partial._replace(sign=-1) for partial in CountedShards([replaced], context_window).partials(merged.vocabulary)
    ]
    pieces = [partial._replace(block=block) for partial in partials for block in split(partial.block, block_entries)]
    random.shuffle(pieces)
    counts = MergedCounts(merged.vocabulary, context_window, merged.rows, lambda window: iter(pieces), merged.selected)
    embedding = CipherEmbedding(sufficient_bits(words, 0), window, mode, log=log)
    assert embedding.table(counts).tobytes() == embedding.table(merged).tobytes()
