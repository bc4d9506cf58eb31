"""Storage of finished table cells, one file each, from which an interrupted run resumes."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bitcipher import __version__, storage
from training.probes.data import Split, TaskData
from training.probes.fit import SETTINGS
from training.probes.probe import ProbeResult, SeedResult
from training.reproduce.models import CountedBuild, VectorModel

CELLS = "cells"


@dataclass(frozen=True)
class Cell:
    """Inputs of a table cell: vectors of a build, a task, and the seeds of the probes."""

    build: CountedBuild
    model: VectorModel
    task: TaskData
    seeds: tuple[int, ...]

    def key(self) -> dict[str, Any]:
        """Return all inputs of the cell's scores. A stored cell is reused only if they are equal."""
        embedding = self.build.embedding(self.model)
        return {
            "bitcipher": __version__,
            "counts": self.build.digests,
            "model": asdict(self.model),
            "embedding": None if embedding is None else embedding.to_dict(),
            "task": {"name": self.task.name, "sha256": _digest(self.task)},
            "seeds": list(self.seeds),
            "probe": SETTINGS,
        }


def read_cell(folder: str, cell: Cell) -> tuple[int, ProbeResult] | None:
    """Return the vector size and scores of a finished cell, or None."""
    content = storage.read_bytes(_uri(folder, cell))
    if content is None:
        return None
    kept = storage.from_json(content, _uri(folder, cell))
    result = kept["result"]
    return kept["dimensions"], ProbeResult(**{**result, "seeds": tuple(SeedResult(**seed) for seed in result["seeds"])})


def write_cell(folder: str, cell: Cell, dimensions: int, result: ProbeResult) -> None:
    """Store a finished cell atomically."""
    content = {**cell.key(), "dimensions": dimensions, "result": asdict(result)}
    storage.write_json(_uri(folder, cell), content)


def _uri(folder: str, cell: Cell) -> str:
    digest = hashlib.sha256(storage.to_json(cell.key())).hexdigest()[:16]
    parts: Sequence[object] = [part for part in asdict(cell.model).values() if part is not None]
    name = "-".join(map(str, [cell.task.name, *parts, digest]))
    return storage.join(folder, CELLS, f"{name}.json")


def _digest(task: TaskData) -> str:
    digest = hashlib.sha256("\n".join([*task.words, "", *task.labels]).encode())
    for split in (task.train, task.validation, task.test):
        digest.update(_bytes(split))
    return digest.hexdigest()


def _bytes(split: Split) -> bytes:
    return b"".join(np.ascontiguousarray(column).tobytes() for column in (split.words, split.labels, split.sentences))
