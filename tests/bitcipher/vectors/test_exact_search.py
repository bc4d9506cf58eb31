"""Searches for several queries at once give the neighbors and cosines of a search for each of them."""

import numpy as np
import pytest

from bitcipher import CipherVectors
from bitcipher.vectors import exact_search
from bitcipher.vectors.exact_search import ExactSearch


class Alone:
    """Index that searches for one query at a time."""

    def __init__(self, vectors, threads):
        self.search = ExactSearch(vectors, threads)

    def nearest(self, query, topn):
        (rows,) = self.search.nearest(query[None], [topn])
        return rows


def clustered(rows=3000, dimensions=24):
    """Words in 40 clusters; some rows are equal, zero, very short or very long, and one is <oov>."""
    random = np.random.default_rng(3)
    centers = random.standard_normal((40, dimensions))
    table = (centers[random.integers(0, 40, rows)] + 0.4 * random.standard_normal((rows, dimensions))).astype(
        np.float32
    )
    table *= random.uniform(0.1, 9, (rows, 1)).astype(np.float32)
    table[10:rows:100] = table[5]
    table[20:rows:100] = 0
    table[30:rows:100] *= np.float32(1e-30)
    table[40:rows:100] *= np.float32(1e30)
    return CipherVectors([f"w{row}" for row in range(rows - 1)] + ["<oov>"], table)


@pytest.fixture(params=[64, 1000, 1 << 13])
def vectors(request, monkeypatch):
    monkeypatch.setattr(exact_search, "BLOCK_ROWS", request.param)
    return clustered()


@pytest.mark.parametrize("threads", [1, 3])
def test_neighbors_and_cosines_are_those_of_a_search_without_index(vectors, threads):
    index = Alone(vectors, threads)
    for number, word in enumerate(vectors.index_to_key[:200]):
        topn = (1, 3, 10, 100)[number % 4]
        assert vectors.most_similar(word, topn=topn, indexer=index) == vectors.most_similar(word, topn=topn)
    for topn in (1, 17, 2999, 5000):
        query = (["w1", "w2"], ["w3"], topn)
        assert vectors.most_similar(*query, indexer=index) == vectors.most_similar(*query)


def test_queries_of_a_batch_do_not_change_each_other(vectors):
    search = ExactSearch(vectors, threads=2)
    queries = np.array([vectors.get_vector(f"w{row}", norm=True) for row in range(1, 20)])
    topn = [1 + 7 * number for number in range(len(queries))]
    for query, number, rows in zip(queries, topn, search.nearest(queries, topn), strict=True):
        nearest = vectors.similar_by_vector(query, topn=number)
        assert {word for word, _ in nearest} <= {vectors.index_to_key[row] for row in rows}
        assert (np.diff(rows) > 0).all()


def test_more_threads_than_rows():
    vectors = CipherVectors(["cat", "dog"], np.array([[3, 4], [4, 3]]))
    assert vectors.most_similar("cat", indexer=Alone(vectors, 5)) == vectors.most_similar("cat")


def test_few_other_rows_are_returned():
    random = np.random.default_rng(4)
    vectors = CipherVectors([f"w{row}" for row in range(50_000)], random.standard_normal((50_000, 50)))
    queries = np.array([vectors.get_vector(f"w{row}", norm=True) for row in range(16)])
    assert max(map(len, ExactSearch(vectors).nearest(queries, [10] * 16))) < 15


def test_zero_vectors_and_oov_are_never_returned(vectors):
    (rows,) = ExactSearch(vectors).nearest(vectors.get_vector("w1", norm=True)[None], [5000])
    assert set(rows.tolist()) == set(range(2999)) - set(range(20, 3000, 100))
