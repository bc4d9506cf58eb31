"""Reader of the metrics of a run while they are written."""

import json
import os
from pathlib import Path
from typing import Any

from training.loop.checkpoint_folders import METRICS


class MetricsTail:
    """Returns lines of `metrics.jsonl` as they are appended, for progress only: nothing is checked.

    Args:
        folder: folder of the run.
    """

    def __init__(self, folder: Path):
        self._path = folder / METRICS
        self._offset, self._file = 0, 0

    def read(self) -> list[dict[str, Any]]:
        """Return the lines since the last call, or all lines if a run that resumed has replaced the file."""
        try:
            with self._path.open("rb") as stream:
                status = os.fstat(stream.fileno())
                if status.st_ino != self._file or status.st_size < self._offset:
                    self._offset, self._file = 0, status.st_ino
                stream.seek(self._offset)
                content = stream.read()
        except FileNotFoundError:
            return []
        complete = content[: content.rfind(b"\n") + 1]
        self._offset += len(complete)
        return [values for line in complete.splitlines() if (values := _parse(line)) is not None]


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None
