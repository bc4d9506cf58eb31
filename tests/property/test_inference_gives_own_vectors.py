"""A word's own sentences, all of them, give its own vector."""

import dense_spectra
import numpy as np
import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_vectors import made
from small_corpora import CountedShards, choices, cut, documents

from bitcipher import OOV, BitcipherError
from bitcipher.counts import ContextWindow
from bitcipher.embedding import LOGS
from bitcipher.noise import NOISES

corpora = st.tuples(documents.filter(any), choices, st.lists(st.integers(0, 6), max_size=2))
window_sizes = st.sampled_from([1, 2, 5])


def build(corpus, context_window, **options):
    documents, choice, places = corpus
    try:
        counts = CountedShards(cut(documents, places), context_window).merged(**choice)
        bits = max(2, len(counts.vocabulary).bit_length()) + 1
        return counts, made(counts, bits=bits, **options)
    except (BitcipherError, ValueError):  # too little text
        assume(False)


def assert_own_vectors(vectors, rows, counts, corpus):
    for word, own in zip(vectors.index_to_key, rows.astype(float), strict=True):
        if word != OOV and own.any():
            inferred = vectors.infer(corpus[0], word, counts)
            assert inferred.dtype == np.float32
            assert inferred @ own / np.linalg.norm(inferred) / np.linalg.norm(own) >= 1 - 1e-6


@pytest.mark.parametrize("mode", ["cat", "sum"])
@pytest.mark.parametrize("summed", [False, True])
@given(corpora, window_sizes, st.sampled_from(list(NOISES)), st.sampled_from(LOGS))
@settings(max_examples=40, deadline=None)
def test_codes_give_own_vectors(mode, summed, corpus, window, noise, log):
    if summed and mode == "cat":
        return
    counts, vectors = build(corpus, ContextWindow(window, summed), mode=mode, noise=noise, log=log)
    assert_own_vectors(vectors, vectors.vectors, counts, corpus)


@pytest.mark.parametrize("summed", [False, True])
@given(corpora, window_sizes, st.sampled_from(["both", "positions", "window"]))
@settings(max_examples=30, deadline=None)
def test_spectra_give_the_rows_of_dense_matrices(summed, corpus, window, context):
    assume(not (summed and context == "positions"))
    counts, vectors = build(corpus, ContextWindow(window, summed), mode="spectral", vector_size=6, context=context)
    words, _ = reference.choose_words(corpus[0], **corpus[1])
    blocks = dense_spectra.blocks(corpus[0], words, window, context, summed)
    # Not the table itself, which is float32: where a text of a few words has dimensions that hold next to nothing,
    # they are rounding there.
    assert_own_vectors(vectors, dense_spectra.table(blocks, vectors.refinement["directions"]), counts, corpus)
