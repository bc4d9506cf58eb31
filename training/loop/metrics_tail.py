"""Reader of the metrics of a run while they are written."""

import json
import os
from typing import Any

from bitcipher.errors import BitcipherError
from bitcipher.files import storage
from training.loop.file_names import METRICS


class MetricsTail:
    """Returns lines of `metrics.jsonl` as they are appended, for progress only: nothing is checked.

    Args:
        folder: path or URI of the run.
    """

    def __init__(self, folder: str):
        self._uri = storage.join(folder, METRICS)
        self._path = storage.local_path(self._uri)
        self._offset, self._file = 0, 0

    def read(self) -> list[dict[str, Any]]:
        """Return the lines since the last call, or all lines if a run that resumed has replaced the file."""
        content = self._read_stored() if self._path is None else self._read_local(self._path)
        complete = content[: content.rfind(b"\n") + 1]
        self._offset += len(complete)
        return [values for line in complete.splitlines() if (values := _parse(line)) is not None]

    def _read_local(self, path: str) -> bytes:
        try:
            with open(path, "rb") as stream:
                status = os.fstat(stream.fileno())
                if status.st_ino != self._file or status.st_size < self._offset:
                    self._offset, self._file = 0, status.st_ino
                stream.seek(self._offset)
                return stream.read()
        except FileNotFoundError:
            return b""

    def _read_stored(self) -> bytes:
        try:
            content = storage.read_bytes(self._uri) or b""
        except BitcipherError:  # a later call can succeed
            return b""
        if len(content) < self._offset:
            self._offset = 0
        return content[self._offset :]


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None
