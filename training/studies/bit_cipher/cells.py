"""Storage of finished table cells. Each cell is one file, so an interrupted run resumes from the stored cells."""

import hashlib
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from bitcipher.files import json_files, storage
from bitcipher.files.records import FROM_LIST, Record
from pipelines.embed.embed_counts import EMBEDDING_VERSION
from training.evaluation.probes.data import Split, TaskData
from training.evaluation.probes.fit import PROBE_VERSION, SETTINGS
from training.evaluation.probes.probe_scores import ProbeResult
from training.studies.bit_cipher.vector_models import CountedBuild, PeerVectors, VectorModel

CELLS = "cells"


class StoredTask(Record):
    """Name and digest of a probing task."""

    name: str
    sha256: str


class StoredCell(Record):
    """Finished cell: the inputs of `Cell.key`, and its scores."""

    stages: dict[str, int]
    """Versions of the stages that make vectors and probes."""
    source: dict[str, str]
    """Digests of the words and counts of the build, or of vectors that are stored already."""
    model: VectorModel
    embedding: dict[str, Any] | None
    """Options of the vectors; None for random vectors and those of another tool."""
    task: StoredTask
    seeds: Annotated[tuple[int, ...], FROM_LIST]
    probe: dict[str, int | float]
    """Hyperparameters of the probe."""
    dimensions: int = Field(ge=1)
    """Number of dimensions of the vectors."""
    result: ProbeResult


@dataclass(frozen=True)
class Cell:
    """Inputs of a table cell: vectors of a build or of another tool, a task, and the seeds of the probes."""

    source: CountedBuild | PeerVectors
    model: VectorModel
    task: TaskData
    seeds: tuple[int, ...]

    def key(self) -> dict[str, Any]:
        """Return all inputs of the cell's scores. A stored cell is reused only if its inputs are equal to these."""
        embedding = self.source.embedding(self.model)
        return {
            "stages": {"vectors": EMBEDDING_VERSION, "probe": PROBE_VERSION},
            "source": self.source.digests_of(self.model),
            "model": self.model.to_dict(),
            "embedding": None if embedding is None else embedding.to_dict(),
            "task": {"name": self.task.name, "sha256": _digest(self.task)},
            "seeds": list(self.seeds),
            "probe": SETTINGS,
        }


def read_cell(folder: str, cell: Cell) -> tuple[int, ProbeResult] | None:
    """Return the vector size and scores of a finished cell, or None if it is not stored.

    Raises:
        BitcipherError: if the file is damaged.
    """
    uri = _uri(folder, cell)
    if not storage.exists(uri):
        return None
    stored = StoredCell.read(uri)
    return stored.dimensions, stored.result


def write_cell(folder: str, cell: Cell, dimensions: int, result: ProbeResult) -> None:
    """Store a finished cell atomically."""
    stored = StoredCell(**cell.key(), dimensions=dimensions, result=result)
    json_files.write(_uri(folder, cell), stored.to_dict())


def _uri(folder: str, cell: Cell) -> str:
    digest = hashlib.sha256(json_files.to_bytes(cell.key())).hexdigest()[:16]
    parts = [part for part in cell.model.to_dict().values() if part is not None]
    name = "-".join(map(str, [cell.task.name, *parts, digest]))
    return storage.join(folder, CELLS, f"{name}.json")


def _digest(task: TaskData) -> str:
    digest = hashlib.sha256("\n".join([*task.words, "", *task.labels]).encode())
    for split in (task.train, task.validation, task.test):
        digest.update(_bytes(split))
    return digest.hexdigest()


def _bytes(split: Split) -> bytes:
    return b"".join(np.ascontiguousarray(column).tobytes() for column in (split.words, split.labels, split.sentences))
