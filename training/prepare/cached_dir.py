"""Cached folders, named after a hash of their inputs and published atomically."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bitcipher import json_files, object_store
from pipelines.store.removal import leasing_work, remove_abandoned_work


def cached_dir(parent: Path, kind: str, inputs: dict[str, Any], make: Callable[[Path], None]) -> Path:
    """Return the folder for the given inputs, and create it if it does not exist.

    Args:
        parent: folder of the cached folders.
        kind: prefix of the folder's name.
        inputs: everything that the contents depend on, as plain values; the folder's name has a hash of them.
        make: function that writes the contents to the folder that it is called with.

    Raises:
        BitcipherError: if the folder cannot be written.
    """
    digest = hashlib.sha256(json_files.to_bytes(inputs)).hexdigest()[:16]
    target = parent / f"{kind}-{digest}"
    remove_abandoned_work(str(target))
    if target.exists():
        return target
    with leasing_work(str(target)) as work:
        unfinished = Path(work, "content")
        with object_store.translating_errors("write", str(target), is_local=True):
            unfinished.mkdir()
            make(unfinished)
            try:
                os.replace(unfinished, target)
            except OSError:
                # If the folder exists now, another run has published it in the meantime.
                if not target.exists():
                    raise
    return target
