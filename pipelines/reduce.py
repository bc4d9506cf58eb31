"""The reduce step: the pairs of all shards, added up by ranges of rows and numbered by rank."""

from collections.abc import Iterator

import numpy as np
import pyarrow.parquet as pq

from bitcipher import storage
from bitcipher.counts import MergedCounts, PairBlock, PairReader, Window, merge_rows, write_pairs
from bitcipher.counts.merge import renumber
from bitcipher.counts.pairs import split
from bitcipher.errors import BitcipherError
from bitcipher.vocabulary import Vocabulary, byte_order
from pipelines.runtime import Row
from pipelines.words import place_of, read_words

# Entries that a range has in all shards together: 12 bytes each, three times over while they are merged.
RANGE_ENTRIES = 1 << 24

# Entries of a row group of merged pairs, and of a block that is read again.
BLOCK_ENTRIES = 1 << 22


class MergeStage:
    """Merges a range of rows.

    Args:
        shards: the folders of all shards' counts.
        vocabulary: the file of the vocabulary.
        pairs: the folder for the merged rows.
        oov: the folder for what the range adds to the rows of `<oov>`.
    """

    def __init__(self, shards: list[str], vocabulary: str, pairs: str, oov: str):
        self._shards = shards
        self._vocabulary = read_vocabulary(vocabulary)
        self._order = row_order(self._vocabulary)
        self._pairs = pairs
        self._oov = oov

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a range's name, first and last word to its entries."""
        blocks = [self._read(shard, row["first"], row["last"]) for shard in self._shards]
        words, oov = merge_rows(blocks, self._order, self._vocabulary.oov_rank)
        del blocks
        write_merged(storage.join(self._pairs, row["name"]), words)
        write_merged(storage.join(self._oov, row["name"]), oov)
        yield {"entries": len(words.right)}

    def _read(self, shard: str, first: str, last: str) -> PairBlock:
        table = read_words(shard)
        words, numbers = table["word"].combine_chunks(), table["number"].to_numpy()
        start, stop = place_of(words, first, behind=False), place_of(words, last, behind=True)
        # Rows lie in the order of the words, so those of a range of words are one run.
        ends_of_words = np.cumsum(table["entries"].to_numpy())
        starts_of_words = np.concatenate([np.zeros(1, np.int64), ends_of_words])
        reader = PairReader(storage.join(shard, "pairs"))
        first_row, behind_row = np.searchsorted(reader.starts, starts_of_words[[start, stop]])
        ranks = np.empty(len(words), np.int32)
        ranks[numbers] = self._vocabulary.ranks(words)
        return renumber(reader.read(int(first_row), int(behind_row)), ranks)


def merge_oov(parts: list[str], vocabulary: Vocabulary, target: str) -> int:
    """Add up what the ranges found for the rows of `<oov>`; returns the entries."""
    blocks = []
    for part in parts:
        reader = PairReader(part)
        blocks.append(reader.read(0, len(reader.left)))
    _, oov = merge_rows(blocks, row_order(vocabulary), vocabulary.oov_rank)
    write_merged(target, oov)
    return len(oov.right)


def write_merged(uri: str, rows: PairBlock) -> None:
    """Write merged rows in row groups of bounded size."""
    for _ in write_pairs(uri, split(rows, BLOCK_ENTRIES)):
        pass


def row_order(vocabulary: Vocabulary) -> np.ndarray:
    """The place of each rank in the order of the words' bytes, (N,) int64."""
    order = np.empty(len(vocabulary), np.int64)
    order[byte_order(vocabulary.words)] = np.arange(len(vocabulary))
    return order


def read_vocabulary(uri: str) -> Vocabulary:
    """A vocabulary from its file."""
    with storage.reading(uri) as stream:
        return Vocabulary.from_table(pq.read_table(stream))


def open_merged(build: str, window: Window) -> MergedCounts:
    """The merged counts of a build, read a block at a time whenever they are walked."""
    vocabulary = read_vocabulary(storage.join(build, "words.parquet"))
    ending = ".rows.parquet"
    folder = storage.join(build, "pairs")
    names = [name.removesuffix(ending) for name in storage.files_below(folder) if name.endswith(ending)]

    def blocks(radius: int) -> Iterator[PairBlock]:
        for name in names:
            yield from _walk(storage.join(folder, name), radius, len(vocabulary))

    return MergedCounts(vocabulary, window, blocks)


def _walk(uri: str, radius: int, words: int) -> Iterator[PairBlock]:
    reader = PairReader(uri)
    # Rows lie in the order of their offsets.
    behind = int(np.searchsorted(reader.offset, radius, side="right"))
    row = 0
    while row < behind:
        stop = int(np.searchsorted(reader.starts, reader.starts[row] + BLOCK_ENTRIES, side="right")) - 1
        stop = min(max(stop, row + 1), behind)
        block = reader.read(row, stop)
        if len(block.right) and max(block.left.max(), block.right.max()) >= words:
            raise BitcipherError(f"The pairs in {uri} name words that are not in the vocabulary: build again.")
        yield block
        row = stop
