"""Cached folders, named after a hash of their inputs and published atomically."""

import hashlib
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bitcipher import json_files


def cached_dir(parent: Path, kind: str, inputs: dict[str, Any], make: Callable[[Path], None]) -> Path:
    """Return the folder for the given inputs, and create it if it does not exist.

    Args:
        parent: folder of the cached folders.
        kind: prefix of the folder's name.
        inputs: everything that the contents depend on, as plain values; the folder's name has a hash of them.
        make: function that writes the contents to the folder that it is called with.
    """
    digest = hashlib.sha256(json_files.to_bytes(inputs)).hexdigest()[:16]
    target = parent / f"{kind}-{digest}"
    if target.exists():
        return target
    unfinished = parent / f".{kind}-{uuid.uuid4().hex[:8]}"
    unfinished.mkdir(parents=True)
    try:
        make(unfinished)
        try:
            os.replace(unfinished, target)
        except OSError:
            # If the folder exists now, another run has published it in the meantime.
            if not target.exists():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target
