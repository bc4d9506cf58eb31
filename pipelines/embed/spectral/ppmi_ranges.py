"""Ranges of the vocabulary, with all their pairs in both directions, weighed."""

from collections.abc import Iterator

import numpy as np

from bitcipher import storage
from bitcipher.counts import merge_rows
from bitcipher.embedding.spectral import Marginals, weight_rows
from pipelines.embed.spectral.array_files import read_array, write_array, write_rows
from pipelines.merge.merged_counts import read_vocabulary
from pipelines.merge.row_ranges import RowRange
from pipelines.runtime.runtime import Row


class PpmiStage:
    """Weighs the pairs of a range.

    Args:
        vocabulary: its file.
        work: the folder for what is needed for a moment.
    """

    def __init__(self, vocabulary: str, work: str):
        self._order = read_vocabulary(vocabulary).row_order()
        self._marginals = Marginals(read_array(_sums_uri(work)))
        self._work = work

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a range's runs in each piece to its weighed rows."""
        # <oov> is a word like the others by now.
        pairs, _ = merge_rows([RowRange(*run).read() for run in row["runs"]], self._order, -1)
        rows = weight_rows(pairs, self._marginals)
        write_rows(rows_uri(self._work, row["index"]), rows)
        yield {"index": row["index"], "entries": len(rows.contexts)}


def write_sums(work: str, sums: np.ndarray) -> None:
    """Write the sums of the marginals, (blocks, N) int64, for all who weigh."""
    write_array(_sums_uri(work), sums)


def rows_uri(work: str, index: int) -> str:
    """The weighed rows of a range."""
    return storage.join(work, "weighed", f"{index:05d}")


def _sums_uri(work: str) -> str:
    return storage.join(work, "sums.npy")
