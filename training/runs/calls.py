"""Training functions in other processes: their errors, and SIGTERM while they run."""

import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bitcipher.errors import first_line
from bitcipher.files import storage

Config = dict[str, Any]


def describe_failure(error: Exception) -> str:
    """Return the type and the first line of an unexpected error; its traceback goes to the log of this process."""
    traceback.print_exception(error, file=sys.stderr)
    return f"{type(error).__name__}: {first_line(error)}"


@contextmanager
def writing_stop_file(uri: str) -> Iterator[None]:
    """On SIGTERM, write a file that asks the workers to stop, and exit with code 143 at the end of the block.

    A second SIGTERM is handled as before the block. The file is removed at the end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.getsignal(signal.SIGTERM)
    is_caught = False

    def catch(number: int, frame: object) -> None:
        nonlocal is_caught
        is_caught = True
        signal.signal(signal.SIGTERM, previous)
        storage.write_bytes(uri, b"")

    signal.signal(signal.SIGTERM, catch)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
        storage.remove(uri)
    if is_caught:
        raise SystemExit(128 + signal.SIGTERM)
