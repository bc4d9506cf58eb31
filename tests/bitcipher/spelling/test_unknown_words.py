"""Unknown words with vectors from their spelling, in the methods of vectors, evaluation and inference."""

import numpy as np
import pytest
from made_vectors import make_vectors, merge_counts

from bitcipher import BitcipherError, CipherVectors, UnknownWordError
from bitcipher.counts.context_window import ContextWindow

STEMS = "walk talk jump laugh paint climb press".split()
TEXTS = [
    f"{before} {stem}{ending} {after}".split()
    for stem in STEMS
    for ending, before, after in (("s", "he", "often"), ("ed", "she", "yesterday"), ("ing", "is", "now"))
] * 9


@pytest.fixture(scope="module")
def counts():
    return merge_counts(TEXTS, ContextWindow(2))


@pytest.fixture(scope="module")
def vectors(counts):
    return make_vectors(counts, mode="spectral", vector_size=8, spelling_share=0.4)


def test_get_vector_of_unknown_words(vectors):
    vector = vectors.get_vector("dressing", oov="spelling")
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    np.testing.assert_array_equal(vectors.get_vector("walks", oov="spelling"), vectors["walks"])
    assert not vectors.get_vector("中文", oov="spelling").any()
    with pytest.raises(UnknownWordError):
        vectors.get_vector("dressing")
    with pytest.raises(UnknownWordError):
        vectors.get_vector(10_000, oov="spelling")


def test_neighbors_of_unknown_words(vectors):
    found = vectors.most_similar("dressing", topn=3, oov="spelling")
    vector = vectors.get_vector("dressing", oov="spelling")
    assert found == vectors.similar_by_vector(vector, topn=3)
    assert all(word.endswith("ing") for word, _ in found)
    assert vectors.most_similar(["walking", "dressing"], topn=1, oov="spelling")[0][0] not in ("walking", "dressing")


def test_comparisons_with_unknown_words(vectors):
    vector = vectors.get_vector("dressing", oov="spelling")
    cosine = float(vector @ vectors.get_vector("walking", norm=True))
    assert vectors.similarity("dressing", "walking", oov="spelling") == pytest.approx(cosine, abs=1e-6)
    distances = vectors.distances("walking", ["dressing", "walking"], oov="spelling")
    np.testing.assert_allclose(distances, [1 - cosine, 0], atol=1e-6)
    closer = vectors.closer_than("dressing", "walks", oov="spelling")
    assert "walks" not in closer
    assert vectors.rank("dressing", closer[0], oov="spelling") <= len(closer)
    assert vectors.doesnt_match(["walking", "talking", "dressing", "yesterday"], oov="spelling") == "yesterday"
    mean = vectors.get_mean_vector(["walking", "dressing"], oov="spelling")
    np.testing.assert_allclose(mean, (vectors.get_vector("walking", norm=True) + vector) / 2, atol=1e-6)


def test_tables_without_ngrams_raise(counts):
    plain = make_vectors(counts, mode="spectral", vector_size=8, spelling_share=0)
    with pytest.raises(BitcipherError, match="spelling_share"):
        plain.get_vector("dressing", oov="spelling")
    np.testing.assert_array_equal(plain.get_vector("walks", oov="spelling"), plain["walks"])
    with pytest.raises(BitcipherError, match='True or "spelling"'):
        plain.get_vector("walks", oov="spell")


def test_ngrams_are_saved_with_the_vectors(vectors):
    vectors.save("memory://spelling/vectors", overwrite=True)
    read = CipherVectors.load("memory://spelling/vectors")
    np.testing.assert_array_equal(
        read.get_vector("dressing", oov="spelling"), vectors.get_vector("dressing", oov="spelling")
    )


def test_word_pairs_with_unknown_words(vectors, tmp_path):
    pairs = [("walks", "talks", 9.0), ("Dressing", "walking", 7.0), ("he", "dressing", 1.0), ("is", "yesterday", 0.5)]
    file = tmp_path / "pairs.txt"
    file.write_text("".join(f"{first}\t{second}\t{score}\n" for first, second, score in pairs))
    known = vectors.evaluate_word_pairs(file)
    spelled = vectors.evaluate_word_pairs(file, oov="spelling")
    assert (known.covered, spelled.covered, spelled.unknown) == (2, 2, ("Dressing", "dressing"))
    cosines = [vectors.similarity(first.lower(), second, oov="spelling") for first, second, _ in pairs]
    assert spelled.pearson == pytest.approx(np.corrcoef(cosines, [score for *_, score in pairs])[0, 1], abs=1e-6)
    assert known.pearson == pytest.approx(1)
    with pytest.raises(BitcipherError, match='True or "spelling"'):
        vectors.evaluate_word_pairs(file, oov="spell")
    file.write_text("dressing\tmessing\t9\ndressing\tdressed\t1\n")
    assert vectors.evaluate_word_pairs(file, oov="spelling").covered == 0
    with pytest.raises(BitcipherError, match="covers 0"):
        vectors.evaluate_word_pairs(file)


def test_infer_gives_known_words_their_own_vectors(vectors, counts):
    for word in ("walks", "painted", "now"):
        assert vectors.infer(TEXTS, word, counts=counts) @ vectors[word] >= 1 - 1e-5
    inferred = vectors.infer([["he", "dresses", "often"]], "dresses", counts=counts)
    assert vectors.similar_by_vector(inferred, topn=1)[0][0].endswith("s")
