"""Metrics of a run: `metrics.jsonl`, and the same values for TensorBoard."""

import json
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from bitcipher import json_files, storage
from bitcipher.records import Record

METRICS = "metrics.jsonl"
TENSORBOARD = "tensorboard"


class MetricsLine(Record):
    """A line of `metrics.jsonl`: the step and any number of metrics. Those of a run that diverged can be NaN."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=True)
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
    """Writer of metrics. A run that resumes from a checkpoint drops the lines after its step.

    Args:
        folder: folder of the run.
        step: number of completed updates; 0 starts a new file.
    """

    def __init__(self, folder: Path, step: int):
        from torch.utils.tensorboard import SummaryWriter  # not at the top: this module is imported to check options

        self._path = folder / METRICS
        lines = [line for line in read_metrics(folder) if line["step"] <= step] if step else []
        with storage.writing(str(self._path)) as stream:
            stream.write("".join(map(_to_line, lines)).encode())
        self._lines = open(self._path, "a", encoding="utf-8")
        self._tensorboard = SummaryWriter(str(folder / TENSORBOARD), purge_step=step + 1 if step else None)

    def write(self, step: int, metrics: dict[str, float | int | str]) -> None:
        """Append a line and flush it, so that readers see it immediately."""
        self._lines.write(_to_line({"step": step, **metrics}))
        self._lines.flush()
        for name, value in metrics.items():
            if not isinstance(value, str):
                self._tensorboard.add_scalar(name, value, step)

    def close(self) -> None:
        """Close the files."""
        self._lines.close()
        self._tensorboard.close()


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of a run's `metrics.jsonl`, without an incomplete last line.

    Raises:
        BitcipherError: if a line is damaged, except for an incomplete last line.
    """
    path = folder / METRICS
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")
    return [_parse_line(line, f"{path}, line {number}") for number, line in enumerate(lines[:-1], 1)]


def _parse_line(line: bytes, source: str) -> dict[str, Any]:
    values = json_files.parse(line, source)
    MetricsLine.parse(values, source)
    return values


def _to_line(values: dict[str, Any]) -> str:
    return json.dumps(values) + "\n"
