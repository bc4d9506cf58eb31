"""Copies of files of stores on the disk of this node."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bitcipher.errors import BitcipherError
from bitcipher.files import object_store, storage

_BLOCK_BYTES = 1 << 20


def cache_folder() -> Path:
    """Return the folder of the copies: `$XDG_CACHE_HOME/bitcipher`, or `~/.cache/bitcipher`.

    Raises:
        BitcipherError: if the user of this process has no home directory.
    """
    parent = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(parent):
        raise BitcipherError(
            "There is no home directory for copies of files of a store; set XDG_CACHE_HOME to the absolute path of a "
            "folder."
        )
    return Path(parent, "bitcipher")


def copy_file(source: str, target: str) -> None:
    """Copy a file between a store and this disk. It appears under its name when it is complete.

    Raises:
        BitcipherError: if the file is missing, or cannot be read or written.
    """
    with storage.reading(source) as stream, storage.writing(target, durable=False) as copy:
        while block := stream.read(_BLOCK_BYTES):
            copy.write(block)


@contextmanager
def locking_folder(folder: Path) -> Iterator[None]:
    """Create a folder, and let one process of this node at a time work in it. A killed process holds no lock.

    Raises:
        BitcipherError: if the folder cannot be written.
    """
    with object_store.translating_errors("write", str(folder), is_local=True):
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder.with_name(folder.name + ".lock"), "wb")
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
