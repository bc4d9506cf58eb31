"""What a segment's words are in the vocabulary, and where ranges of words lie in it."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.counts import SEGMENT_WORDS, read_words
from pipelines.merge.merged_counts import ranks_of, read_vocabulary
from pipelines.merge.row_ranges import find_runs
from pipelines.runtime.runtime import Row


class RankStage:
    """Writes the rank of each number of a segment.

    Args:
        vocabulary: its file.
        work: the folder for what is needed for a moment.
    """

    def __init__(self, vocabulary: str, work: str):
        self._vocabulary = read_vocabulary(vocabulary)
        self._work = work

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a segment's parts and the first words of ranges to its runs in each."""
        tables = [read_words([part]) for part in row["parts"]]
        words = pa.concat_tables([SEGMENT_WORDS.empty_table(), *tables]).combine_chunks()
        ranks = pa.table({"rank": ranks_of(self._vocabulary, words)})
        storage.write_table(_file(self._work, row["segment"]), ranks)
        firsts = [word.encode() for word in row["firsts"]]
        yield {"segment": row["segment"], "runs": find_runs(row["parts"], tables, firsts)}


def read_ranks(work: str, segment: int) -> np.ndarray:
    """The rank of each number of a segment, (V,) int32."""
    return storage.read_table(_file(work, segment))["rank"].to_numpy()


def _file(work: str, segment: int) -> str:
    return storage.join(work, "ranks", f"{segment}.parquet")
