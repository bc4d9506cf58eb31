"""Concurrent searches give the results of single ones, fail alone, and keep no table."""

import gc
import weakref
from concurrent.futures import wait

import numpy as np
import pytest

from bitcipher import CipherVectors
from bitcipher.errors import UnknownWordError
from bitcipher.vectors.exact_search import ExactSearch
from cluster.neighbors import NeighborFinder, NeighborQuery
from cluster.serve.search_queue import SearchedTable


def made_vectors(seed):
    table = np.random.default_rng(seed).standard_normal((2000, 16)).astype(np.float32)
    table[7] = 0
    return CipherVectors([f"w{row}" for row in range(2000)], table)


def made_table(seed):
    vectors = made_vectors(seed)
    return SearchedTable(NeighborFinder(vectors), ExactSearch(vectors, 2))


def query(topn=10, minus=()):
    return NeighborQuery((), minus, topn, None, False)


def test_concurrent_searches_in_two_tables(queue):
    tables = [made_table(1), made_table(2)]
    asked = [(tables[number % 2], f"w{number}", query(1 + number % 9)) for number in range(300)]
    futures = [queue.submit(*each) for each in asked]
    for (table, word, asked_for), future in zip(asked, futures, strict=True):
        assert [future.result()] == table.finder.find([word], asked_for)
    assert futures[7].result().neighbors == []  # a zero vector


def test_failed_search_fails_no_other(queue):
    table = made_table(1)
    words = ["w1", "nosuch", "w2"]
    futures = [queue.submit(table, word, query()) for word in words]
    with pytest.raises(UnknownWordError, match="nosuch"):
        futures[1].result()
    assert [futures[0].result(), futures[2].result()] == table.finder.find(["w1", "w2"], query())


def test_search_that_fails_does_not_end_the_queue(queue):
    table = made_table(1)
    broken = SearchedTable(table.finder, ExactSearch(made_vectors(1), 1))
    broken.search.nearest = None  # a bug
    with pytest.raises(TypeError):
        queue.submit(broken, "w1", query()).result()
    assert queue.submit(table, "w1", query()).result().neighbors


def test_canceled_search_is_not_made(queue):
    table = made_table(1)
    futures = [queue.submit(table, f"w{number}", query()) for number in range(200)]
    canceled = [each for each in futures if each.cancel()]
    wait(futures)
    assert canceled
    assert all(each.cancelled() for each in canceled)
    assert queue.submit(table, "w1", query()).result().neighbors


def test_waiting_queue_keeps_no_table(queue):
    table = made_table(1)
    queue.submit(table, "w1", query()).result()
    freed = weakref.ref(table.search)
    del table
    gc.collect()
    assert freed() is None
