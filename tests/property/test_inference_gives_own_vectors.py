"""All sentences of a word give the vector that the build gave it."""

import dense_spectra
import numpy as np
import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_vectors import make_vectors
from small_corpora import CountedShards, choices, cut, documents

from bitcipher import OOV, BitcipherError
from bitcipher.counts.context_window import ContextWindow
from bitcipher.embedding.cipher_embedding import LOGS
from bitcipher.embedding.noise import NOISES
from bitcipher.embedding.spectral.basis import Basis
from pipelines.options import EmbeddingOptions

corpora = st.tuples(documents.filter(any), choices, st.lists(st.integers(0, 6), max_size=2))
window_sizes = st.sampled_from([1, 2, 5])


def build(corpus, context_window, **options):
    documents, choice, positions = corpus
    try:
        counts = CountedShards(cut(documents, positions), context_window).merged(**choice)
    except (BitcipherError, ValueError):  # the corpus has no words, or none is in the vocabulary
        assume(False)
    sizes = {} if options["mode"] == "spectral" else {"bits": max(2, len(counts.vocabulary).bit_length()) + 1}
    options = EmbeddingOptions(window=context_window.size, **sizes, **options)
    try:
        return counts, make_vectors(counts, **options.to_dict())
    except BitcipherError:  # too little text to whiten or to factor
        assume(False)


def assert_vectors_are_inferred(vectors, rows, counts, corpus):
    for word, row in zip(vectors.index_to_key, rows.astype(float), strict=True):
        if word != OOV and row.any():
            inferred = vectors.infer(corpus[0], word, counts=counts)
            assert inferred.dtype == np.float32
            assert inferred @ row / np.linalg.norm(inferred) / np.linalg.norm(row) >= 1 - 1e-6


@pytest.mark.parametrize("mode", ["cat", "sum"])
@pytest.mark.parametrize("summed", [False, True])
@given(corpora, window_sizes, st.sampled_from(list(NOISES)), st.sampled_from(LOGS))
@settings(max_examples=40, deadline=None)
def test_cipher_modes_infer_the_vectors_of_the_table(mode, summed, corpus, window, noise, log):
    if summed and mode == "cat":
        return
    counts, vectors = build(corpus, ContextWindow(window, summed), mode=mode, noise=noise, log=log)
    assert_vectors_are_inferred(vectors, vectors.vectors, counts, corpus)


@pytest.mark.parametrize("summed", [False, True])
@given(corpora, window_sizes, st.sampled_from(["both", "positions", "window"]), st.sampled_from([3, 5, 1000]))
@settings(max_examples=30, deadline=None)
def test_mode_spectral_infers_the_rows_of_dense_matrices(summed, corpus, window, context, landmarks):
    assume(not (summed and context == "positions"))
    sizes = {"vector_size": 6, "landmarks": landmarks, "landmark_contexts": 5, "spelling_share": 0}
    counts, vectors = build(corpus, ContextWindow(window, summed), mode="spectral", context=context, **sizes)
    words, _ = reference.choose_words(corpus[0], **corpus[1])
    blocks = dense_spectra.blocks(corpus[0], words, window, context, summed, max(landmarks, 5))
    # The float32 table is no reference here: weak dimensions of a text of few words are rounding errors.
    assert_vectors_are_inferred(
        vectors, dense_spectra.table(blocks, Basis.from_arrays(vectors.refinement).scaled_directions), counts, corpus
    )
