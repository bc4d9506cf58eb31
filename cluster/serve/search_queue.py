"""`SearchQueue`: searches of concurrent requests, answered in batches."""

from collections.abc import Iterator
from concurrent.futures import Future
from itertools import groupby
from queue import Empty, SimpleQueue
from threading import Thread
from typing import NamedTuple

import numpy as np

from bitcipher.vectors.exact_search import ExactSearch

# Maximum number of searches in a batch. In larger ones, the time per search falls only a little.
MAX_BATCH = 64


class QueuedSearch:
    """Search in one table through the queue, for `most_similar(..., indexer=...)`.

    Args:
        queue: the queue, which can serve several tables.
        search: search in the table.
    """

    def __init__(self, queue: "SearchQueue", search: ExactSearch):
        self._queue = queue
        self._search = search

    def nearest(self, query: np.ndarray, topn: int) -> np.ndarray:
        """Return rows that contain the nearest ones, (n,) int64, ascending. Waits for the batch of the query.

        Args:
            query: (d,) float32, of length 1.
            topn: number of nearest rows that are needed.
        """
        return self._queue.ask(self._search, query, topn)


class _Waiting(NamedTuple):
    """A search that waits for its batch."""

    search: ExactSearch
    query: np.ndarray
    topn: int
    rows: "Future[np.ndarray]"


class SearchQueue:
    """Thread that answers all waiting searches of a table at once.

    While a batch is answered, the next one collects, so a search never waits for others to come. `close` ends the
    thread.
    """

    def __init__(self):
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="search", daemon=True)
        self._thread.start()

    def ask(self, search: ExactSearch, query: np.ndarray, topn: int) -> np.ndarray:
        """Return the rows of a search; see `QueuedSearch.nearest`."""
        waiting = _Waiting(search, query, topn, Future())
        self._queue.put(waiting)
        return waiting.rows.result()

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
        batch = sorted((each for each in taken if each is not None), key=lambda each: id(each.search))
        for _, group in groupby(batch, key=lambda each: id(each.search)):
            same = list(group)
            try:
                found = same[0].search.nearest(np.stack([each.query for each in same]), [each.topn for each in same])
            except Exception as error:  # such as too little memory: the requests fail, and the thread goes on
                for each in same:
                    each.rows.set_exception(error)
            else:
                for each, rows in zip(same, found, strict=True):
                    each.rows.set_result(rows)
        return None not in taken
