"""Vectors of words from sentences that contain them."""

import numpy as np
import pytest
from made_vectors import make_vectors, merge_counts, small_text

from bitcipher import OOV, BitcipherError, CipherVectors
from bitcipher.counts.context_window import ContextWindow
from bitcipher.infer.context_counts import count_contexts

OPTIONS = [
    {"mode": "cat"},
    {"mode": "sum", "bits": 30, "log": "counts", "noise": "frequency"},
    {"mode": "spectral", "vector_size": 20},
    {"mode": "spectral", "vector_size": 20, "spelling_share": 0},
    {"mode": "spectral", "vector_size": 20, "landmarks": 30, "landmark_contexts": 50},
]


@pytest.fixture(scope="module")
def counts():
    return merge_counts(small_text(), ContextWindow(3))


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def vectors(request, counts):
    return make_vectors(counts, **request.param)


def test_all_sentences_of_a_word_give_its_own_vector(vectors, counts):
    for row in (0, 5, 40, len(vectors) - 1):
        word = vectors.index_to_key[row]
        if word == OOV:
            continue
        inferred = vectors.infer(small_text(), word, counts=counts)
        assert (inferred.shape, inferred.dtype) == ((vectors.vector_size,), np.float32)
        assert np.linalg.norm(inferred) == pytest.approx(1, abs=1e-6)
        assert inferred @ vectors[word] >= 1 - 1e-6


def test_new_word_gets_the_vector_of_the_word_that_it_replaces(vectors, counts):
    """A word that replaces another one in all sentences has the same contexts."""
    word = "w7"
    text = [["new" if token == word else token for token in document] for document in small_text()]
    inferred = vectors.infer(text, "new", counts=counts)
    assert vectors.similar_by_vector(inferred, topn=1)[0][0] == word


def test_other_sentences_and_their_order_do_not_matter(vectors, counts):
    text = [document for document in small_text() if "w3" in document]
    more = [["w1", "w2"], *text[::-1], []]
    assert (
        vectors.infer(text, "w3", counts=counts).tobytes() == vectors.infer(iter(more), "w3", counts=counts).tobytes()
    )


def test_cipher_modes_need_no_counts_if_the_table_has_what_the_noise_needs(counts):
    text = small_text()
    for noise in ("none", "frequency", "document_ratio"):
        vectors = make_vectors(counts, noise=noise)
        assert vectors.infer(text, "w3").tobytes() == vectors.infer(text, "w3", counts=counts).tobytes()
    vectors = make_vectors(counts)
    with pytest.raises(BitcipherError, match="pass `counts`"):
        vectors.infer(text, "w3")
    manifest = {**vectors.manifest, "total_passages": counts.vocabulary.total_passages}
    complete = CipherVectors(
        vectors.words, vectors.vectors, vectors.counts, vectors.passages, vectors.refinement, manifest
    )
    assert complete.infer(text, "w3").tobytes() == vectors.infer(text, "w3", counts=counts).tobytes()


def test_count_contexts_matches_the_windows_of_a_build():
    text = [["a", "x", "b", "x"], ["x"], ["q", "b", "x", "a", "a"]]
    key_to_index = {"a": 0, "b": 1, OOV: 2}
    row, occurrences = count_contexts(text, "x", 2, key_to_index)
    assert occurrences == 4
    assert list(zip(*(column.tolist() for column in row), strict=True)) == [
        (-2, 2, 2),
        (-1, 0, 1),
        (-1, 1, 2),
        (1, 0, 1),
        (1, 1, 1),
        (2, 0, 1),
        (2, 2, 1),
    ]
    summed, _ = count_contexts(text, "x", 2, key_to_index, summed=True)
    assert list(zip(*(column.tolist() for column in summed), strict=True)) == [
        (-1, 0, 1),
        (-1, 1, 2),
        (-1, 2, 2),
        (1, 0, 2),
        (1, 1, 1),
        (1, 2, 1),
    ]


def test_invalid_arguments_raise(counts):
    vectors = make_vectors(counts)
    for contexts, message in (
        ([["w1", "w2"]], "'new' no context: none of them"),
        ([["new"]], "no other word is near it"),
        (["a new word"], "list of tokens, got str"),
        ([], "none of them contains it"),
    ):
        with pytest.raises(BitcipherError, match=message):
            vectors.infer(contexts, "new", counts=counts)
    text = [["w1", "new", "w2"]]
    with pytest.raises(BitcipherError, match="needs the counts"):
        make_vectors(counts, mode="spectral", vector_size=5).infer(text, "new")
    with pytest.raises(BitcipherError, match="use the counts"):
        vectors.infer(text, "new", counts=merge_counts(small_text(10), ContextWindow(3)))
    with pytest.raises(BitcipherError, match="do not record how they were made"):
        CipherVectors([OOV, "w1"], np.eye(2)).infer(text, "new")
    with pytest.raises(BitcipherError, match=f"The table has no {OOV}"):
        CipherVectors(["w1"], np.eye(1)).infer(text, "new")
