"""Figures of layers as rows of a table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa

SCHEMA = pa.schema(
    [
        ("step", pa.int64()),
        ("layer", pa.int64()),
        ("part", pa.string()),
        ("figure", pa.string()),
        ("value", pa.float64()),
    ]
)


@dataclass(frozen=True)
class LayerMetrics:
    """One figure of one layer at one step."""

    step: int
    """0 for the model as it starts."""
    layer: int
    """0 for the embeddings."""
    part: str
    """Of the samples: `train`, which centers are taken of, or `held out`."""
    figure: str
    """`ncc_accuracy`, `ncc_mismatch`, `model_accuracy`, or a task's name and `_accuracy` for linear probes."""
    value: float
    """A share from 0 to 1."""


def to_table(records: Sequence[LayerMetrics]) -> pa.Table:
    """The records as a table with a column for each field."""
    return pa.Table.from_pylist([asdict(record) for record in records], SCHEMA)
