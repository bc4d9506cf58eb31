"""Concurrent searches give the results of single ones, and keep no table."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bitcipher import CipherVectors
from bitcipher.vectors.exact_search import ExactSearch
from cluster.serve.search_queue import QueuedSearch


def made_vectors(seed):
    table = np.random.default_rng(seed).standard_normal((2000, 16)).astype(np.float32)
    return CipherVectors([f"w{row}" for row in range(2000)], table)


def test_concurrent_searches_in_two_tables(queue):
    tables = [made_vectors(1), made_vectors(2)]
    indexes = [QueuedSearch(queue, ExactSearch(table)) for table in tables]

    def search(number):
        return tables[number % 2].most_similar(f"w{number}", topn=1 + number % 9, indexer=indexes[number % 2])

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(search, range(300)))
    for number, neighbors in enumerate(found):
        assert neighbors == tables[number % 2].most_similar(f"w{number}", topn=1 + number % 9)


def test_failed_search_does_not_end_the_queue(queue):
    vectors = made_vectors(1)
    index = QueuedSearch(queue, ExactSearch(vectors))
    with pytest.raises(ValueError, match="mismatch"):
        index.nearest(np.zeros(3, np.float32), 5)
    assert vectors.most_similar("w1", indexer=index) == vectors.most_similar("w1")


def test_waiting_queue_keeps_no_table(queue):
    vectors = made_vectors(1)
    vectors.most_similar("w1", indexer=QueuedSearch(queue, ExactSearch(vectors)))
    freed = weakref.ref(vectors)
    del vectors
    gc.collect()
    assert freed() is None
