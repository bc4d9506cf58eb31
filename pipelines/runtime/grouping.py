"""Grouping of rows by keys: the interface of runtimes that can do it, and the partitions of the key space."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa

from pipelines.runtime.in_process import InProcessRuntime
from pipelines.runtime.runtime import In, Runtime, StageSpec


class GroupingRuntime(Runtime, Protocol):
    """Executor of stages that can also bring rows with equal keys together."""

    def group(
        self,
        read: StageSpec[In, pa.Table],
        inputs: Sequence[In],
        group: StageSpec[pa.Table, pa.Table],
        partitions: int,
    ) -> Iterator[pa.Table]:
        """Bring rows with equal keys together, and yield the results of each partition, in any order.

        Args:
            read: stage that yields the tables of an input, with a column `key` of uint64.
            inputs: the inputs of `read`.
            group: stage that yields one table for the table of a partition, whose rows are in any order.
            partitions: number of partitions. At any time, a worker holds the rows of one.
        """
        ...


class InProcessGroupingRuntime(InProcessRuntime):
    """Runs stages in this process, and groups rows by one partition after another."""

    def group(
        self,
        read: StageSpec[In, pa.Table],
        inputs: Sequence[In],
        group: StageSpec[pa.Table, pa.Table],
        partitions: int,
    ) -> Iterator[pa.Table]:
        """Bring rows with equal keys together, and yield the results of each partition in order."""
        read_tables, group_table = read.make(**read.arguments), group.make(**group.arguments)
        for partition in range(partitions):
            tables = [
                table.filter(pa.array(partition_of(table["key"].to_numpy(), partitions) == partition))
                for item in inputs
                for table in read_tables(item)
            ]
            if any(map(len, tables)):
                yield from group_table(pa.concat_tables(tables))


def partition_of(keys: np.ndarray, partitions: int) -> np.ndarray:
    """Return the partition of each key, (keys,) int64: equal ranges of the key space, in ascending order.

    Args:
        keys: (keys,) uint64, the column `key` of a table.
        partitions: number of partitions, at most 2^31.
    """
    return ((keys >> np.uint64(32)) * np.uint64(partitions) >> np.uint64(32)).astype(np.int64)
