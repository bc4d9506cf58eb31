"""Vectors of words from sentences that hold them."""

import numpy as np
import pytest
from made_vectors import counted, made, small_text

from bitcipher import OOV, BitcipherError, CipherVectors
from bitcipher.counts import ContextWindow
from bitcipher.infer.context_counts import row_of_contexts

CHOICES = [
    {"mode": "cat"},
    {"mode": "sum", "bits": 30, "log": "counts", "noise": "frequency"},
    {"mode": "spectral", "vector_size": 20},
]


@pytest.fixture(scope="module")
def counts():
    return counted(small_text(), ContextWindow(3))


@pytest.fixture(scope="module", params=CHOICES, ids=str)
def vectors(request, counts):
    return made(counts, **request.param)


def test_all_sentences_of_a_word_give_its_own_vector(vectors, counts):
    for row in (0, 5, 40, len(vectors) - 1):
        word = vectors.index_to_key[row]
        if word == OOV:
            continue
        inferred = vectors.infer(small_text(), word, counts)
        assert (inferred.shape, inferred.dtype) == ((vectors.vector_size,), np.float32)
        assert np.linalg.norm(inferred) == pytest.approx(1, abs=1e-6)
        assert inferred @ vectors[word] >= 1 - 1e-6


def test_a_new_word_lies_where_its_contexts_say(vectors, counts):
    """A word that takes the place of another in all of its sentences has the same contexts, itself apart."""
    word = "w7"
    text = [["new" if token == word else token for token in document] for document in small_text()]
    inferred = vectors.infer(text, "new", counts)
    assert vectors.similar_by_vector(inferred, topn=1)[0][0] == word


def test_sentences_without_the_word_and_their_order_change_nothing(vectors, counts):
    text = [document for document in small_text() if "w3" in document]
    more = [["w1", "w2"], *text[::-1], []]
    assert vectors.infer(text, "w3", counts).tobytes() == vectors.infer(iter(more), "w3", counts).tobytes()


def test_codes_need_no_counts_where_the_table_keeps_what_noise_needs(counts):
    text = small_text()
    for noise in ("none", "frequency", "document_ratio"):
        vectors = made(counts, noise=noise)
        assert vectors.infer(text, "w3").tobytes() == vectors.infer(text, "w3", counts).tobytes()
    vectors = made(counts)
    with pytest.raises(BitcipherError, match="do not say how many passages they were made of: give the build's count"):
        vectors.infer(text, "w3")
    manifest = {**vectors.manifest, "total_passages": counts.vocabulary.total_passages}
    whole = CipherVectors(
        vectors.words, vectors.vectors, vectors.counts, vectors.passages, vectors.refinement, manifest
    )
    assert whole.infer(text, "w3").tobytes() == vectors.infer(text, "w3", counts).tobytes()


def test_rows_are_counted_as_windows_are():
    text = [["a", "x", "b", "x"], ["x"], ["q", "b", "x", "a", "a"]]
    known = {"a": 0, "b": 1, OOV: 2}
    row = row_of_contexts(text, "x", 2, known)
    assert list(zip(*(column.tolist() for column in row), strict=True)) == [
        (-2, 2, 2),
        (-1, 0, 1),
        (-1, 1, 2),
        (1, 0, 1),
        (1, 1, 1),
        (2, 0, 1),
        (2, 2, 1),
    ]
    summed = row_of_contexts(text, "x", 2, known, summed=True)
    assert list(zip(*(column.tolist() for column in summed), strict=True)) == [
        (-1, 0, 1),
        (-1, 1, 2),
        (-1, 2, 2),
        (1, 0, 2),
        (1, 1, 1),
        (1, 2, 1),
    ]


def test_mistakes_are_told(counts):
    vectors = made(counts)
    for contexts, sentence in (
        ([["w1", "w2"]], "say nothing about 'new': none of them holds it as a token"),
        ([["new"]], "say nothing about 'new': no other word stands near it"),
        (["a new word"], "as a list of tokens, not as str"),
        ([], "none of them holds it as a token"),
    ):
        with pytest.raises(BitcipherError, match=sentence):
            vectors.infer(contexts, "new", counts)
    text = [["w1", "new", "w2"]]
    with pytest.raises(BitcipherError, match="from the counts of the build"):
        made(counts, mode="spectral", vector_size=5).infer(text, "new")
    with pytest.raises(BitcipherError, match="take the counts that the vectors were made of"):
        vectors.infer(text, "new", counted(small_text(10), ContextWindow(3)))
    with pytest.raises(BitcipherError, match="do not say how they were made"):
        CipherVectors([OOV, "w1"], np.eye(2)).infer(text, "new")
    with pytest.raises(BitcipherError, match=f"The table has no {OOV}"):
        CipherVectors(["w1"], np.eye(1)).infer(text, "new")
