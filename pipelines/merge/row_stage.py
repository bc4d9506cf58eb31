"""Stage of a merge that adds up the rows of a range of words."""

import uuid
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from bitcipher.counts.digest import CountDigest, digest_pairs, digest_words
from bitcipher.counts.merge import merge_rows, renumber
from bitcipher.counts.number_set import NumberSet
from bitcipher.counts.pairs import PairBlock, concatenate, cut_rows, split
from bitcipher.counts.segment import write_part
from bitcipher.files import parquet_files, storage
from pipelines.merge.large_words import NumberedRows, iter_pieces, read_numbered
from pipelines.merge.merge_records import MergedRange, MergeInput
from pipelines.merge.number_tables import SliceCache
from pipelines.merge.word_stages import words_file
from pipelines.runtime.free_memory import release_memory
from pipelines.store.build_folder import MERGED_PARTS, MergedPart
from pipelines.store.ledger import Ledger

# Maximum number of pairs per row group of the written files, and per stored row.
BLOCK_ENTRIES = 1 << 20


class RowSum(NamedTuple):
    """Sum of the rows of some words.

    Attributes:
        rows: the sum, with the word numbers of the merged segment.
        digest: digest of the rows and of the words.
    """

    rows: PairBlock
    digest: CountDigest


class MergeStage:
    """Stage that merges a range of words. A word whose pairs do not fit in memory is merged in pieces (`large_words`).

    Arrays have one element per word that occurs in the range, not one per word of the corpus: word numbers are replaced
    by their positions among the numbers that occur.

    Args:
        work: folder for temporary files.
        build: folder of the build.
        folder: folder for the parts, relative to the build.
        ledger: URI of the ledger that records finished ranges, or None.
    """

    def __init__(self, work: str, build: str, folder: str, ledger: str | None):
        self._work = work
        self._build = build
        self._folder = folder
        self._ledger = None if ledger is None else Ledger(ledger)
        self._hashes = SliceCache()
        self._words: tuple[str, pa.Table] | None = None

    def __call__(self, item: MergeInput) -> Iterator[MergedRange]:
        """Yield the part of a range. A range in the ledger is not merged again."""
        start, stop = (item.words_before + position for position in (item.start, item.stop))
        key = f"{item.merge}/{start}-{stop}"
        entry = self._ledger and self._ledger.find(MERGED_PARTS, key)
        was_done = entry is not None
        if entry is None:
            part = storage.join(self._folder, f"{item.merge}-{item.index:05d}-{uuid.uuid4().hex[:8]}")
            entry = self._write(part, item)
            if self._ledger:
                entry = self._ledger.record(MERGED_PARTS, key, entry)
        yield MergedRange(item.merge, item.index, entry.part, entry.sha256, entry.entries, entry.digest, was_done)

    def _write(self, part: str, item: MergeInput) -> MergedPart:
        words = self._read_words(words_file(self._work, item.merge, item.words))
        words = words.slice(item.start, item.stop - item.start)
        numbers, counts, passages = (words[name].to_numpy() for name in ("number", "count", "passages"))
        sums = self._iter_sums(item, numbers, counts, passages)
        first, digests = [next(sums)], list[CountDigest]()
        while not len(first[0].rows.left) and (following := next(sums, None)):
            digests.append(first[0].digest)
            first = [following]
        # A word without a count was subtracted completely. Only a word of the left context of a batch can have pairs.
        kept = (counts > 0) | np.isin(numbers, first[0].rows.left)

        def iter_blocks() -> Iterator[PairBlock]:
            while summed := first.pop() if first else next(sums, None):
                digests.append(summed.digest)
                yield from split(cut_rows(summed.rows, BLOCK_ENTRIES), BLOCK_ENTRIES)

        uri, names = storage.join(self._build, part), words["word"].combine_chunks().filter(pa.array(kept))
        written = write_part(uri, names, numbers[kept], counts[kept], passages[kept], iter_blocks())
        digest = sum(digests, CountDigest())
        return MergedPart(part=part, sha256=written.sha256, entries=written.entries, digest=digest.hex())

    def _iter_sums(
        self, item: MergeInput, numbers: np.ndarray, counts: np.ndarray, passages: np.ndarray
    ) -> Iterator["RowSum"]:
        """Yield the sum of the rows of a range, or the sum of each piece if the range is a word with too many pairs.

        Args:
            item: the range.
            numbers: (words,) int32, numbers of the words of the range, in the order of their bytes.
            counts: (words,) int64, occurrences of each word.
            passages: (words,) int64, number of passages that contain each word.
        """
        entries = sum(each.entry_stop - each.entry_start for rows in item.rows for each in rows.row_ranges)
        if len(numbers) == 1 and entries > item.piece_entries:
            pieces = iter_pieces(item.rows, item.hashes.rows, item.piece_entries)
        else:
            pieces = iter([(read_numbered(rows, SliceCache()) for rows in item.rows)])
        for piece in pieces:
            rows, used = _add_up(piece, numbers, item.hashes.rows)
            hashes = item.hashes.read(used.members, self._hashes)
            digest = digest_words(hashes[used.positions(numbers)], counts, passages, 0) + digest_pairs(rows, hashes)
            rows = rows._replace(left=used.members[rows.left], right=used.members[rows.right])
            del used, hashes
            yield RowSum(rows, digest)
            counts = passages = np.zeros_like(counts)  # the first sum has the digest of the words

    def _read_words(self, uri: str) -> pa.Table:
        if self._words is None or self._words[0] != uri:
            self._words = uri, parquet_files.read_table(uri)
        return self._words[1]


def _add_up(operands: Iterable[NumberedRows], numbers: np.ndarray, size: int) -> tuple[PairBlock, NumberSet]:
    """Return the sum of rows, with positions in place of numbers, and the set of the numbers.

    Args:
        operands: the rows.
        numbers: (words,) int32, numbers of their left words, in the order of the words' bytes.
        size: number of words of the merged segment.
    """
    blocks: list[PairBlock] = []
    numbers_of_blocks = [numbers]
    owners: list[int] = []
    for operand in operands:
        numbers_of_blocks.append(operand.numbers)
        owners += [len(numbers_of_blocks) - 1] * len(operand.blocks)
        blocks += operand.blocks
        del operand
    used = NumberSet.of(numbers_of_blocks, size)
    positions = [used.positions(each) for each in numbers_of_blocks]
    blocks = [renumber(block, positions[owner]) for block, owner in zip(blocks, owners, strict=True)]
    # Memory holds the rows twice: now as blocks and in one block, and then in one block and merged.
    joined = concatenate(blocks)
    blocks.clear()
    release_memory()  # blocks are small, so the C library keeps their memory for other small arrays
    order = np.zeros(len(used.members), np.int64)
    order[positions[0]] = np.arange(len(numbers))
    return merge_rows([joined], order, -1)[0], used
