"""The reduce step: the pairs of all shards, added up by ranges of rows and numbered by rank."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.counts import (
    MergedCounts,
    PairBlock,
    PairReader,
    Window,
    merge_rows,
    read_run,
    renumber,
    split,
    write_pairs,
)
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary
from pipelines import folder
from pipelines.runtime import Row
from pipelines.words import read_words

# Entries that a range has in all shards together: 12 bytes each, three times over while they are merged.
RANGE_ENTRIES = 1 << 24

# Entries of a row group of merged pairs, and of a block that is read again.
BLOCK_ENTRIES = 1 << 22


class CutStage:
    """Prepares a shard for the merge: its ranks in the vocabulary, and where each range of words lies in it.

    Args:
        shards: the folder of all shards' counts.
        vocabulary: the file of the vocabulary.
        ranges: the first and last word of each range.
        ranks: the folder for the ranks.
    """

    def __init__(self, shards: str, vocabulary: str, ranges: list[tuple[str, str]], ranks: str):
        self._shards = shards
        self._vocabulary = read_vocabulary(vocabulary)
        self._ranges = ranges
        self._ranks = ranks

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a shard's name to its runs: for each range, the first and the behind row, and likewise entry."""
        shard = storage.join(self._shards, row["name"])
        table = read_words(shard)
        words = table["word"].combine_chunks()
        ranks = np.empty(len(words), np.int32)
        ranks[table["number"].to_numpy()] = self._vocabulary.ranks(words)
        storage.write_table(storage.join(self._ranks, f"{row['name']}.parquet"), pa.table({"rank": ranks}))
        # Rows lie in the order of the words, so those of a range of words are one run.
        entries = np.concatenate([np.zeros(1, np.int64), np.cumsum(table["entries"].to_numpy())])
        bounds = [
            (bisect_left(words, first.encode(), key=_bytes), bisect_right(words, last.encode(), key=_bytes))
            for first, last in self._ranges
        ]
        entry_bounds = entries[np.array(bounds)]
        row_bounds = np.searchsorted(PairReader(storage.join(shard, "pairs")).starts, entry_bounds)
        yield {"name": row["name"], "runs": np.hstack([row_bounds, entry_bounds]).tolist()}


class MergeStage:
    """Merges a range of rows.

    Args:
        shards: the folder of all shards' counts.
        ranks: the folder of their ranks.
        vocabulary: the file of the vocabulary.
        pairs: the folder for the merged rows.
        oov: the folder for what the range adds to the rows of `<oov>`.
    """

    def __init__(self, shards: str, ranks: str, vocabulary: str, pairs: str, oov: str):
        self._shards = shards
        self._ranks = ranks
        words = read_vocabulary(vocabulary)
        self._order, self._oov_rank = words.row_order(), words.oov_rank
        self._pairs = pairs
        self._oov = oov

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a range's name and its run in each shard to its entries."""
        blocks = [self._read(shard, run) for shard, run in row["runs"].items()]
        words, oov = merge_rows(blocks, self._order, self._oov_rank)
        del blocks
        write_merged(storage.join(self._pairs, row["name"]), words)
        write_merged(storage.join(self._oov, row["name"]), oov)
        yield {"entries": len(words.right)}

    def _read(self, shard: str, run: list[int]) -> PairBlock:
        ranks = storage.read_table(storage.join(self._ranks, f"{shard}.parquet"))["rank"].to_numpy()
        first_row, behind_row, first_entry, behind_entry = run
        pairs = storage.join(self._shards, shard, "pairs")
        return renumber(read_run(pairs, (first_row, behind_row), (first_entry, behind_entry)), ranks)


def _bytes(word: pa.LargeStringScalar) -> bytes:
    return word.as_py().encode()


def merge_oov(parts: list[str], vocabulary: Vocabulary, target: str) -> None:
    """Add up what the ranges found for the rows of `<oov>`."""
    blocks = []
    for part in parts:
        reader = PairReader(part)
        blocks.append(reader.read(0, len(reader.left)))
    _, oov = merge_rows(blocks, vocabulary.row_order(), vocabulary.oov_rank)
    write_merged(target, oov)


def write_merged(uri: str, rows: PairBlock) -> None:
    """Write merged rows, in row groups of bounded size and of one offset each, as they are read again."""
    offsets = np.unique(rows.offset)
    bounds = zip(
        np.searchsorted(rows.offset, offsets), np.searchsorted(rows.offset, offsets, side="right"), strict=True
    )
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows.length)])
    blocks = (
        PairBlock(*(c[first:behind] for c in rows[:3]), *(c[starts[first] : starts[behind]] for c in rows[3:]))
        for first, behind in bounds
    )
    for _ in write_pairs(uri, (part for block in blocks for part in split(block, BLOCK_ENTRIES))):
        pass


def read_vocabulary(uri: str) -> Vocabulary:
    """A vocabulary from its file."""
    return Vocabulary.from_table(storage.read_table(uri))


def open_merged(build: str, window: Window) -> MergedCounts:
    """The merged counts of a build, read a block at a time whenever they are walked."""
    vocabulary = read_vocabulary(storage.join(build, folder.WORDS))
    ending = ".rows.parquet"
    pairs = storage.join(build, folder.PAIRS)
    names = [name.removesuffix(ending) for name in storage.files_below(pairs) if name.endswith(ending)]

    def blocks(radius: int) -> Iterator[PairBlock]:
        # Offset by offset over all ranges, so that how rows are cut into ranges does not change the order.
        readers = {name: PairReader(storage.join(pairs, name)) for name in names}
        for offset in (offset for offset in window.offsets if offset <= radius):
            for name, reader in readers.items():
                for block in _walk(reader, offset):
                    if max(block.left.max(), block.right.max()) >= len(vocabulary):
                        raise BitcipherError(f"The pairs {name} of {build} are damaged: build again.")
                    yield block

    return MergedCounts(vocabulary, window, blocks)


def _walk(reader: PairReader, offset: int) -> Iterator[PairBlock]:
    """The rows of an offset, which lie together, in blocks."""
    row, behind = np.searchsorted(reader.offset, [offset, offset + 1])
    while row < behind:
        stop = int(np.searchsorted(reader.starts, reader.starts[row] + BLOCK_ENTRIES, side="right")) - 1
        stop = min(max(stop, row + 1), behind)
        yield reader.read(row, stop)
        row = stop
