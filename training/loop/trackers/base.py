"""Interface of trackers, and the ids of a run in them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bitcipher.files import json_files, storage
from bitcipher.files.records import Record

# In the folder of a run.
TRACKER_IDS = "trackers.json"


class TrackerIds(Record):
    """Ids of a run in trackers, with which it goes on after an interruption; stored as `trackers.json`."""

    wandb: str | None = None
    """Id of the run in Weights & Biases."""
    mlflow: str | None = None
    """Id of the run in MLflow."""


@dataclass(frozen=True)
class TrackedRun:
    """Run whose metrics a tracker shows."""

    uri: str
    """Path or URI of the run."""
    folder: Path
    """Its folder, or its working copy on this node."""
    step: int
    """Number of completed updates when this job began."""
    lines: Sequence[Mapping[str, Any]]
    """Lines of `metrics.jsonl` up to this step, for trackers that lack them."""

    @property
    def name(self) -> str:
        """Name of the folder of the run."""
        return self.uri.rstrip("/").rpartition("/")[2]

    def logged_metrics(self) -> Iterator[tuple[int, dict[str, float]]]:
        """Yield the step and the numbers of each line."""
        for line in self.lines:
            yield line["step"], numbers_of({name: value for name, value in line.items() if name != "step"})

    def read_ids(self) -> TrackerIds:
        """Return the ids of the run; empty if it is new."""
        uri = storage.join(self.uri, TRACKER_IDS)
        return TrackerIds.read(uri) if storage.exists(uri) else TrackerIds()

    def write_ids(self, **changes: str) -> None:
        """Store ids of the run at once, because a job can be killed before its next upload."""
        ids = self.read_ids().copy_with(**changes)
        json_files.write(storage.join(self.uri, TRACKER_IDS), ids.to_dict())


class Tracker(Protocol):
    """Writer of metrics to a tracker. `TrackedRun` is the argument of its constructor."""

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Report the numbers of a line of `metrics.jsonl`."""
        ...

    def flush(self) -> None:
        """Write everything to the files of the tracker in the folder of the run, if it has any."""
        ...

    def close(self, *, is_complete: bool) -> None:
        """End the report.

        Args:
            is_complete: whether the run is complete; an interrupted one goes on later.
        """
        ...


def numbers_of(metrics: Mapping[str, float | int | str]) -> dict[str, float]:
    """Return the metrics that are numbers."""
    return {name: value for name, value in metrics.items() if not isinstance(value, str)}
