"""Layer metrics as records and as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa

SCHEMA = pa.schema(
    [
        ("step", pa.int64()),
        ("layer", pa.int64()),
        ("part", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
    ]
)


@dataclass(frozen=True)
class LayerMetric:
    """Value of one metric of one layer at one step."""

    step: int
    """Training step; 0 for the initial model."""
    layer: int
    """Layer; 0 for the embeddings."""
    part: str
    """Samples that are measured: `train`, from which class means are computed, or `held out`."""
    metric: str
    """Name of the metric: `ncc_accuracy`, `ncc_mismatch`, `model_accuracy`, or for linear probes the name of the task
    and `_accuracy`, such as `pos_accuracy`."""
    value: float
    """Fraction between 0 and 1."""


def to_records(step: int, metrics: Mapping[tuple[str, str], np.ndarray]) -> list[LayerMetric]:
    """Return the records of a step from arrays [layers] by part and metric."""
    return [
        LayerMetric(step, layer, part, metric, float(value))
        for (part, metric), values in metrics.items()
        for layer, value in enumerate(values)
    ]


def to_table(records: Sequence[LayerMetric]) -> pa.Table:
    """Return a table with one row per record and one column per field."""
    return pa.Table.from_pylist([asdict(record) for record in records], SCHEMA)
