"""`SearchQueue`: searches of concurrent requests, answered in batches."""

from collections.abc import Iterator
from concurrent.futures import Future
from itertools import groupby
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

import numpy as np

from bitcipher.vectors.exact_search import ExactSearch
from cluster.neighbors import NeighborFinder, NeighborQuery, NeighborSearch, WordNeighbors

# Maximum number of searches in a batch. In larger ones, the time per search falls only a little.
MAX_BATCH = 32


class SearchedTable(NamedTuple):
    """A table with what its searches need."""

    finder: NeighborFinder
    search: ExactSearch


class _Waiting(NamedTuple):
    """A search that waits for its batch."""

    table: SearchedTable
    word: str
    query: NeighborQuery
    found: "Future[WordNeighbors]"


class SearchQueue:
    """Thread that answers all waiting searches of a table at once.

    While a batch is answered, the next one collects, so a search never waits for others to come. With a thread per
    search, the event loop would often wait for Python's lock. `close` ends the thread.
    """

    def __init__(self):
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="search", daemon=True)
        self._thread.start()

    def submit(self, table: SearchedTable, word: str, query: NeighborQuery) -> "Future[WordNeighbors]":
        """Return the future result of a search, which can be canceled until its batch begins.

        Its exception is an `UnknownWordError` if a word is unknown, and has no vector from its spelling.
        """
        waiting = _Waiting(table, word, query, Future())
        self._queue.put(waiting)
        return waiting.found

    def close(self) -> None:
        """End the thread after the searches that wait."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        # No variable of this loop may keep a search: while it waits, the table of an old version must be freed.
        while self._answer([*self._take()]):
            pass

    def _take(self) -> Iterator[_Waiting | None]:
        """Yield the next search, and those that wait behind it."""
        yield self._queue.get()
        try:
            for _ in range(MAX_BATCH - 1):
                yield self._queue.get_nowait()
        except Empty:
            pass

    @staticmethod
    def _answer(taken: list[_Waiting | None]) -> bool:
        """Answer searches, and return whether there can be others."""
        batch = [each for each in taken if each is not None and each.found.set_running_or_notify_cancel()]
        batch.sort(key=lambda each: id(each.table))
        for _, group in groupby(batch, key=lambda each: id(each.table)):
            _answer_batch(list(group))
        return None not in taken


def _answer_batch(batch: list[_Waiting]) -> None:
    """Answer searches in one table. If one fails, the others do not."""
    finder, search = batch[0].table
    prepared: list[tuple[_Waiting, NeighborSearch]] = []
    for each in batch:
        try:
            prepared.append((each, finder.prepare(each.word, each.query)))
        except Exception as error:  # such as an unknown word
            each.found.set_exception(error)
    try:
        searched = [one for _, one in prepared if one.vector.any()]
        vectors, numbers = [one.vector for one in searched], [one.rows for one in searched]
        rows = iter(search.nearest(np.stack(vectors), numbers) if searched else ())
    except Exception as error:  # such as too little memory
        for each, _ in prepared:
            each.found.set_exception(error)
        return
    for each, one in prepared:
        try:
            each.found.set_result(finder.answer(one, next(rows) if one.vector.any() else np.empty(0, np.int64)))
        except Exception as error:
            each.found.set_exception(error)
