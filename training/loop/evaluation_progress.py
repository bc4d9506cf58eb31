"""Progress of a long evaluation: a file in the folder of the run, which the progress bar reads."""

import time
from pathlib import Path

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, storage

# File in the folder of a run, which exists during an evaluation that takes more than a second.
EVALUATING = "evaluating.json"
_FRACTION = "fraction"
# Minimum number of seconds between two writes.
_INTERVAL = 1.0


class EvaluationProgress:
    """Writes which fraction of an evaluation is done, at most once per second. A context that removes the file.

    Args:
        folder: folder of the run on this node; None on workers that do not write.
    """

    def __init__(self, folder: Path | None):
        self._path = folder and folder / EVALUATING
        self._written = time.monotonic()

    def __enter__(self) -> "EvaluationProgress":
        return self

    def __exit__(self, *exception: object) -> None:
        if self._path:
            self._path.unlink(missing_ok=True)

    def advance(self, fraction: float) -> None:
        """Note which fraction is done, from 0 to 1."""
        if self._path and time.monotonic() - self._written >= _INTERVAL:
            self._written = time.monotonic()
            json_files.write(str(self._path), {_FRACTION: round(fraction, 3)})


def read_evaluated_fraction(folder: str) -> float | None:
    """Return which fraction of the current evaluation of a run is done; None if no long evaluation is running.

    Args:
        folder: path or URI of the run. Runs in stores have no progress of evaluations.
    """
    if storage.local_path(folder) is None:
        return None
    try:
        fraction = json_files.read(storage.join(folder, EVALUATING)).get(_FRACTION)
    except BitcipherError:  # there is no file
        return None
    return fraction if isinstance(fraction, float) else None
