"""Cached folders, named after a hash of their inputs. On a disk they are published atomically."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bitcipher.files import json_files, object_store, storage
from pipelines.store.removal import leasing_work, remove_abandoned_work

# File in a cached folder with its inputs.
INPUTS = "inputs.json"


def cached_dir(
    parent: str, kind: str, inputs: dict[str, Any], make: Callable[[str], None], is_complete: Callable[[str], bool]
) -> str:
    """Return the folder for the given inputs, and create it if it does not exist.

    Args:
        parent: path or URI of the folder of the cached folders.
        kind: prefix of the folder's name.
        inputs: everything that the contents depend on, as plain values; the folder's name has a hash of them.
        make: function that writes the contents to the folder that it is called with. In a store, where folders cannot
            be renamed, it may be called with a folder that an interrupted job has begun, or that another job writes,
            too: the same inputs must give the same bytes.
        is_complete: function that returns whether a folder of a store is complete. `make` must write last what it
            looks for.

    Raises:
        BitcipherError: if the folder cannot be written.
    """
    digest = hashlib.sha256(json_files.to_bytes(inputs)).hexdigest()[:16]
    target = storage.join(parent, f"{kind}-{digest}")
    if storage.local_path(parent) is None:
        if not is_complete(target):
            _fill(target, inputs, make)
        return target
    remove_abandoned_work(target)
    if os.path.exists(target):
        return target
    with leasing_work(target) as work:
        unfinished = Path(work, "content")
        with object_store.translating_errors("write", target, is_local=True):
            unfinished.mkdir()
            _fill(str(unfinished), inputs, make)
            try:
                os.replace(unfinished, target)
            except OSError:
                # If the folder exists now, another run has published it in the meantime.
                if not os.path.exists(target):
                    raise
    return target


def _fill(folder: str, inputs: dict[str, Any], make: Callable[[str], None]) -> None:
    json_files.write(storage.join(folder, INPUTS), inputs)
    make(folder)
