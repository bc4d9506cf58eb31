import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.errors import BitcipherError
from bitcipher.evaluation.stability import StabilityResult, neighbor_stability
from bitcipher.vectors.cipher_vectors import CipherVectors


def table(size, seed=0, vector_size=6, first=0):
    rows = np.random.default_rng(seed).normal(size=(size, vector_size)).astype(np.float32)
    return CipherVectors([f"w{i}" for i in range(first, first + size)], rows)


def nearest_words(vectors, word, topn):
    return {other for other, _ in vectors.most_similar(word, topn=topn)}


@given(st.integers(3, 40), st.integers(3, 40), st.integers(1, 12), st.integers(1, 50), st.integers(0, 99))
@settings(max_examples=40)
def test_stability_matches_most_similar(size, other_size, topn, words, seed):
    before, after = table(size, seed), table(other_size, seed + 1, first=1)
    shared = [word for word in before.index_to_key if word in after][:words]
    found = neighbor_stability(before, after, words, topn)
    overlaps, jaccards = [], []
    for word in shared:
        one, other = nearest_words(before, word, topn), nearest_words(after, word, topn)
        overlaps.append(len(one & other) / len(one))
        jaccards.append(len(one & other) / len(one | other))
    assert found.words == len(shared)
    assert found.overlap == pytest.approx(np.mean(overlaps))
    assert found.jaccard == pytest.approx(np.mean(jaccards))


def test_rotated_and_scaled_tables_have_the_same_neighbors():
    vectors = table(50)
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))
    lengths = np.random.default_rng(2).uniform(0.5, 3, (50, 1))
    rotated = CipherVectors(vectors.words, (lengths * vectors.vectors @ rotation).astype(np.float32))
    assert neighbor_stability(vectors, rotated) == StabilityResult(50, 1.0, 1.0)


def test_oov_is_skipped_and_disjoint_tables_raise():
    words, rows = ["<oov>", "a", "b"], np.eye(3)
    assert neighbor_stability(CipherVectors(words, rows), CipherVectors(words, rows)).words == 2
    with pytest.raises(BitcipherError, match="no word in common"):
        neighbor_stability(table(3), CipherVectors(["x"], np.eye(1)))
