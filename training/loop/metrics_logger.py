"""`metrics.jsonl` of a run, a line for every look at it; and the same for TensorBoard."""

import json
import os
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

METRICS = "metrics.jsonl"
TENSORBOARD = "tensorboard"


class MetricsLogger:
    """Writes what is measured. A run that goes on from a step drops what was written after it.

    Args:
        folder: of the run.
        step: how many steps are done; 0 begins anew.
    """

    def __init__(self, folder: Path, step: int):
        self._path = folder / METRICS
        kept = [line for line in read_metrics(folder) if line["step"] <= step] if step else []
        unfinished = self._path.with_suffix(".partial")
        unfinished.write_text("".join(map(_line, kept)), "utf-8")
        os.replace(unfinished, self._path)
        self._lines = open(self._path, "a", encoding="utf-8")
        self._board = SummaryWriter(str(folder / TENSORBOARD), purge_step=step + 1 if step else None)

    def write(self, step: int, values: dict[str, float | int | str]) -> None:
        """Add a line, at once readable by others."""
        self._lines.write(_line({"step": step, **values}))
        self._lines.flush()
        for name, value in values.items():
            if not isinstance(value, str):
                self._board.add_scalar(name, value, step)

    def close(self) -> None:
        """Let go of the files."""
        self._lines.close()
        self._board.close()


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run; a last one that was cut off while it was written is left out."""
    path = folder / METRICS
    if not path.exists():
        return []
    lines = path.read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values) + "\n"
