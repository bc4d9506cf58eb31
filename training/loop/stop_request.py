"""Requests to save a checkpoint and stop: SIGTERM, or the file that the launcher of Ray workers writes.

Ray calls the training function in a thread of its workers, where Python allows no handlers of signals.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bitcipher.files import storage

# File in the folder of a run or a study that asks its workers to stop.
STOP = "stop-requested"
# Exit code of a process that stopped because of SIGTERM.
STOPPED = 128 + signal.SIGTERM
# Minimum number of seconds between two looks for the file, because shared file systems and stores are slow.
_INTERVAL = 0.5
_STORE_INTERVAL = 5.0


@contextmanager
def catching_stop_requests(folder: str) -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether this process should stop.

    In the main thread, SIGTERM is caught until the end of the block; there, the process exits with code 143. A second
    SIGTERM is handled as before the block.

    Args:
        folder: path or URI of the run or the study, in which the launcher of workers may write `stop-requested`.
    """
    request = _Request(storage.join(folder, STOP))
    if threading.current_thread() is not threading.main_thread():
        yield request.is_made
        return
    previous = signal.getsignal(signal.SIGTERM)

    def catch(number: int, frame: object) -> None:
        request.is_caught = True
        signal.signal(signal.SIGTERM, previous)

    signal.signal(signal.SIGTERM, catch)
    try:
        yield request.is_made
    finally:
        signal.signal(signal.SIGTERM, previous)
    if request.is_caught:
        raise SystemExit(STOPPED)


class _Request:
    """State of a request to stop.

    Args:
        uri: file that requests it.
    """

    def __init__(self, uri: str):
        self.is_caught = False
        self._uri, self._interval = uri, _STORE_INTERVAL if storage.local_path(uri) is None else _INTERVAL
        self._looked = -self._interval

    def is_made(self) -> bool:
        """Return whether SIGTERM was caught, or the file exists."""
        if self.is_caught:
            return True
        now = time.monotonic()
        if now - self._looked < self._interval:
            return False
        self._looked = now
        return storage.exists(self._uri)
