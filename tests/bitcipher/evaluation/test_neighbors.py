"""Nearest neighbors of many rows at once, compared with a plain search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bitcipher.evaluation import neighbors
from bitcipher.evaluation.neighbors import match_rows, nearest_rows, neighbor_overlap
from bitcipher.vectors.cipher_vectors import CipherVectors


@given(st.integers(1, 90), st.integers(1, 12), st.integers(1, 40), st.integers(1, 40), st.integers(0, 99))
@settings(max_examples=60)
def test_neighbors_and_cosines_match_a_plain_search(size, topn, block_rows, query_rows, seed):
    random = np.random.default_rng(seed)
    units = random.normal(size=(size, 5)).astype(np.float32)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    rows = random.permutation(size)[: random.integers(0, size + 1)]
    progress = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbors, "BLOCK_ROWS", block_rows)
        patch.setattr(neighbors, "QUERY_ROWS", query_rows)
        found, cosines = nearest_rows(units, rows, topn, progress.append)
    assert sum(progress) == len(rows) == len(found)
    for row, others, scores in zip(rows, found, cosines, strict=True):
        expected = units @ units[row]
        expected[row] = -np.inf
        order = np.argsort(-expected)[: min(topn, size - 1)]
        assert row not in others
        np.testing.assert_allclose(scores, expected[order], atol=1e-6)
        np.testing.assert_allclose(expected[others], scores, atol=1e-6)


def test_match_rows_finds_words_in_the_other_table():
    before, after = (CipherVectors(words, np.eye(len(words))) for words in (["a", "b", "c"], ["c", "d", "a"]))
    assert match_rows(before, after).tolist() == [2, -1, 0]


def test_neighbor_overlap_is_the_share_that_stayed():
    before = np.array([[1, 2], [1, -1], [-1, -1]])
    assert neighbor_overlap(before, np.array([[2, 1], [1, 7], [3, 4]])).tolist() == [1, 0.5, 0]
    assert neighbor_overlap(np.empty((2, 0), np.int64), np.empty((2, 0), np.int64)).tolist() == [1, 1]
