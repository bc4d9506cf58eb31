"""`RequestPool`: threads for one kind of request, and a limit on those that wait for them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from bitcipher.errors import BitcipherError

Answer = TypeVar("Answer")


class BusyError(BitcipherError):
    """Error for a request of a kind of which too many wait."""


class RequestPool:
    """Threads for one kind of request. All methods are called in the thread of the event loop.

    Args:
        kind: name of the requests, for error messages.
        threads: number of threads.
        limit: maximum number of requests that run or wait.
    """

    def __init__(self, kind: str, threads: int, limit: int):
        self._kind = kind
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=kind)
        self._limit = limit
        self._requests = 0

    async def run(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Return the result of a function, which runs in a thread.

        Raises:
            BusyError: if too many requests wait.
        """
        if self._requests >= self._limit:
            raise BusyError(f"The server has {self._limit} requests for {self._kind} already: try again later.")
        self._requests += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, function, *arguments)
        finally:
            self._requests -= 1
