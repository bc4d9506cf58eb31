"""What ends a run early: a request to stop, or another job that has taken over its folder.

A request is SIGTERM, or a file that the launcher of Ray workers writes: Ray calls the training function in a thread of
its workers, where Python allows no handlers of signals. The launcher holds the lease of the folder (see
`training.runs.launch.run_dir`), and workers write to the folder. If the launcher was suspended, another one may have
taken over, and the workers of the first must stop before they write.
"""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from pipelines.store.lease import list_generations

# Folder of the lease in a run or a study. It has another name than that of a build, so that a run is no build.
RUN_LEASE = "run-lease"


class RunLease:
    """Generation of the lease that covers a folder: its own, or that of the study it belongs to.

    Args:
        folder: path or URI of the run. A folder without a lease is not checked.
    """

    def __init__(self, folder: str):
        candidates = (folder, *_ancestors(folder))
        self.folder = next((each for each in candidates if list_generations(each, RUN_LEASE)), None)
        """Path or URI of the folder that has the lease, or None."""
        self._generation = self._newest()

    def is_lost(self) -> bool:
        """Return whether another job has taken over the folder."""
        return self._newest() != self._generation

    def error(self) -> BitcipherError:
        """Return the error to raise if the lease is lost."""
        return BitcipherError(
            f"Another job has taken over {self.folder}, because this job was suspended. Let the other job finish; it "
            "continues from the last checkpoint."
        )

    def _newest(self) -> int:
        return max(list_generations(self.folder, RUN_LEASE), default=0) if self.folder else 0


def _ancestors(folder: str) -> list[str]:
    """Return the folders two and three levels above a folder, which can be those of its study."""
    protocol, separator, path = folder.rpartition("://")
    names = path.split("/")
    return [protocol + separator + "/".join(names[:-levels]) for levels in (2, 3) if any(names[:-levels])]


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
