"""Folders named after what their content depends on, which appear when they are whole."""

import hashlib
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bitcipher import storage


def cached_dir(parent: Path, kind: str, depends_on: dict[str, Any], make: Callable[[Path], None]) -> Path:
    """A folder that is there, or is made now.

    Args:
        parent: of such folders.
        kind: what they hold.
        depends_on: all that the content depends on: what JSON can hold.
        make: called with an empty folder to fill.
    """
    digest = hashlib.sha256(storage.to_json(depends_on)).hexdigest()[:16]
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
            # Another run has made the same meanwhile.
            if not target.exists():
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return target
