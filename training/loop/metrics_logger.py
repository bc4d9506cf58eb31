"""Metrics of a run: `metrics.jsonl`, and the same values for trackers such as TensorBoard."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from bitcipher.errors import BitcipherError
from bitcipher.files import json_files, object_store, storage
from bitcipher.files.file_digests import FileDigest, digest_bytes, digest_file
from bitcipher.files.records import Record
from training.loop.checkpoint_folders import find_metrics_digest, read_checkpoint_digests
from training.loop.file_names import METRICS
from training.loop.options import TrackerName
from training.loop.trackers.base import TrackedRun, Tracker, numbers_of
from training.loop.trackers.open_trackers import open_trackers


class MetricsLine(Record):
    """A line of `metrics.jsonl`: the step and any number of metrics."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | int | str]

    step: int = Field(ge=0)
    """Number of completed updates."""
    loss: float | None = None
    """Training loss."""
    validation_loss: float | None = None
    """Validation loss, if the model was evaluated."""
    perplexity: float | None = None
    """Validation perplexity, if the model was evaluated."""


class MetricsLogger:
    """Writer of metrics. Trackers are opened by the first line, so that nothing is reported of a complete run.

    Args:
        uri: path or URI of the run.
        folder: its folder, or its working copy on this node.
        step: number of completed updates.
        kept: content of `metrics.jsonl` up to this step (see `read_kept_metrics`). Later lines are dropped.
        report_to: names of the trackers.
    """

    def __init__(self, uri: str, folder: Path, step: int, kept: bytes, report_to: Sequence[TrackerName]):
        self._path = folder / METRICS
        self._report_to = report_to
        self._run = TrackedRun(uri, folder, step, parse_metrics(kept, str(self._path)))
        self._trackers: list[Tracker] | None = None
        with storage.writing(str(self._path)) as stream:
            stream.write(kept)
        self._lines = open(self._path, "a", encoding="utf-8")

    def write(self, step: int, metrics: dict[str, float | int | str]) -> None:
        """Append a line of finite metrics and flush it, so that readers see it immediately."""
        with object_store.translating_errors("write", str(self._path), is_local=True):
            self._lines.write(json.dumps({"step": step, **metrics}, allow_nan=False) + "\n")
            self._lines.flush()
        if self._trackers is None:
            self._trackers = open_trackers(self._report_to, self._run)
        for tracker in self._trackers:
            tracker.write(step, numbers_of(metrics))

    def flush(self) -> None:
        """Write everything to the files. Lines of `metrics.jsonl` always are."""
        for tracker in self._trackers or ():
            tracker.flush()

    def digest(self) -> FileDigest:
        """Return the digest of `metrics.jsonl`."""
        return digest_file(str(self._path))

    def close(self, *, is_complete: bool) -> None:
        """Close the files, and end the reports. Further calls have no effect.

        Args:
            is_complete: whether the run is complete.
        """
        self._lines.close()
        trackers, self._trackers = self._trackers, None
        for tracker in trackers or ():
            tracker.close(is_complete=is_complete)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's `metrics.jsonl`, without an incomplete last line.

    Lines up to the latest checkpoint are compared with the digest in the checkpoint.

    Raises:
        BitcipherError: if a line is damaged, except for an incomplete last line.
    """
    digest = find_metrics_digest(folder)  # before the metrics are read, because a job may be appending to them
    return parse_metrics(_read_checked(folder, digest), str(folder / METRICS))


def parse_metrics(content: bytes, source: str) -> list[dict[str, Any]]:
    """Return the lines in the content of `metrics.jsonl`, without an incomplete last line.

    Args:
        content: content of the file.
        source: name of the file for error messages.

    Raises:
        BitcipherError: if a line is damaged, except for an incomplete last line.
    """
    lines = content.split(b"\n")[:-1]
    return [_parse_line(line, f"{source}, line {number}") for number, line in enumerate(lines, 1)]


def check_metrics_of(folder: Path, checkpoint: Path) -> None:
    """Compare the metrics of a run up to the step of a checkpoint with their digest.

    Raises:
        BitcipherError: if this part of `metrics.jsonl`, or the digest, is missing or damaged.
    """
    _read_checked(folder, read_checkpoint_digests(checkpoint).metrics)


def read_kept_metrics(folder: Path) -> bytes:
    """Return the content of a run's `metrics.jsonl` up to its latest checkpoint; empty if it has none.

    Raises:
        BitcipherError: if this part of the file is missing or damaged.
    """
    digest = find_metrics_digest(folder)
    return _read_checked(folder, digest)[: digest.size] if digest else b""


def _read_checked(folder: Path, digest: FileDigest | None) -> bytes:
    path = folder / METRICS
    content = path.read_bytes() if path.exists() else b""
    if digest and digest_bytes(content[: digest.size]) != digest:
        raise BitcipherError(
            f"{path} is damaged, or was changed: its SHA-256 differs from that in the latest checkpoint. Restore it "
            f"from a copy, or remove {folder} to train again."
        )
    return content


def _parse_line(line: bytes, source: str) -> dict[str, Any]:
    values = json_files.parse(line, source)
    MetricsLine.parse(values, source)
    return values
