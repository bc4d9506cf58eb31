import numpy as np
import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from small_corpora import CountedShards, choices, cut, documents

from bitcipher import BitcipherError, CipherEmbedding
from bitcipher.counts import ContextWindow, MergedCounts, split
from bitcipher.embedding import LOGS, MODES, cipher_embedding
from bitcipher.noise import NOISES

corpora = st.tuples(documents.filter(any), choices, st.lists(st.integers(0, 6), max_size=2))
window_sizes = st.sampled_from([1, 2, 5])


def build(corpus, context_window, block_entries=100):
    """The merged counts of a corpus by the real code, and the words by the reference."""
    documents, choice, places = corpus
    try:
        counts = CountedShards(cut(documents, places), context_window).merged(block_entries, **choice)
    except (BitcipherError, ValueError):  # no document has any word, or none is kept
        assume(False)
    return counts, *reference.choose_words(documents, **choice)


def enough_bits(words, more):
    return max(2, len(words).bit_length()) + more


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("log", LOGS)
@given(corpora, window_sizes, st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_tables_are_those_of_dense_matrices(mode, noise, log, corpus, window, more_bits):
    counts, words, total = build(corpus, ContextWindow(window))
    bits = enough_bits(words, more_bits)
    embedding = CipherEmbedding(bits, window, mode, noise, log)
    table = embedding.table(counts)
    assert table.shape == (len(words), embedding.vector_size)
    assert table.dtype == np.float64
    expected = reference.table(corpus[0], words, total, bits, window, mode, noise, log)
    np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("log", LOGS)
@given(corpora, window_sizes, st.sampled_from(list(NOISES)))
@settings(max_examples=40, deadline=None)
def test_summed_counts_give_the_sum(log, corpus, window, noise):
    counts, words, total = build(corpus, ContextWindow(window, summed=True))
    bits = enough_bits(words, 1)
    table = CipherEmbedding(bits, window, "sum", noise, log).table(counts)
    expected = reference.table(corpus[0], words, total, bits, window, "sum", noise, log, summed=True)
    np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
@given(corpora, window_sizes, st.sampled_from(list(NOISES)), st.sampled_from(LOGS), st.integers(1, 30))
@settings(max_examples=30, deadline=None)
def test_how_blocks_are_cut_leaves_the_same_bytes(mode, corpus, window, noise, log, block_entries):
    counts, words, _ = build(corpus, ContextWindow(window), block_entries=10**6)
    embedding = CipherEmbedding(enough_bits(words, 0), window, mode, noise, log)
    expected = embedding.table(counts).tobytes()
    assert embedding.table(build(corpus, ContextWindow(window), block_entries)[0]).tobytes() == expected
    documents, choice, _ = corpus
    assert (
        embedding.table(build((documents, choice, []), ContextWindow(window), block_entries)[0]).tobytes() == expected
    )


@pytest.mark.parametrize("mode", MODES)
@given(corpora, st.integers(1, 7), st.sampled_from(LOGS), st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_how_many_sums_are_held_at_once_leaves_the_same_bytes(mode, corpus, window, log, offsets_at_once):
    counts, words, _ = build(corpus, ContextWindow(7))
    embedding = CipherEmbedding(enough_bits(words, 0), window, mode, log=log)
    expected = embedding.table(counts).tobytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cipher_embedding, "SUMS_BYTES", offsets_at_once * 2 * len(words) * (embedding.bits + 1) * 8)
        assert embedding.table(counts).tobytes() == expected
        patch.setattr(cipher_embedding, "SUMS_BYTES", 1)
        assert embedding.table(counts).tobytes() == expected


@pytest.mark.parametrize("mode", MODES)
@given(corpora, st.integers(1, 5), st.integers(1, 5), st.sampled_from(LOGS))
@settings(max_examples=30, deadline=None)
def test_a_smaller_radius_of_larger_counts_is_that_counted(mode, corpus, window, more, log):
    larger, words, _ = build(corpus, ContextWindow(window + more))
    embedding = CipherEmbedding(enough_bits(words, 0), window, mode, log=log)
    assert embedding.table(larger).tobytes() == embedding.table(build(corpus, ContextWindow(window))[0]).tobytes()


@pytest.mark.parametrize("mode", ["cat", "sum"])
@given(corpora, documents, window_sizes, st.sampled_from(LOGS), st.integers(1, 30), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_parts_in_any_order_number_and_sign_leave_the_same_bytes(
    mode, corpus, replaced, window, log, block_entries, random
):
    """Text that was counted, and subtracted again, its words among those of the vocabulary or outside."""
    context_window = ContextWindow(window)
    merged, words, _ = build(corpus, context_window)
    kept, _, places = corpus
    parts = CountedShards(cut(kept + replaced, places), context_window).parts(merged.vocabulary)
    parts += [part._replace(sign=-1) for part in CountedShards([replaced], context_window).parts(merged.vocabulary)]
    pieces = [part._replace(block=block) for part in parts for block in split(part.block, block_entries)]
    random.shuffle(pieces)
    counts = MergedCounts(merged.vocabulary, context_window, merged.rows, lambda window: iter(pieces))
    embedding = CipherEmbedding(enough_bits(words, 0), window, mode, log=log)
    assert embedding.table(counts).tobytes() == embedding.table(merged).tobytes()
