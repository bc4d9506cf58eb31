"""Stage of a merge that adds up the rows of a range of words."""

import uuid
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from bitcipher.counts.digest import digest_pairs, digest_words
from bitcipher.counts.merge import merge_rows, negate, renumber
from bitcipher.counts.number_set import NumberSet
from bitcipher.counts.pairs import PairBlock, concatenate, split
from bitcipher.counts.segment import write_part
from bitcipher.files import parquet_files, storage
from pipelines.merge.merge_records import MergedRange, MergeInput, RangeRows
from pipelines.merge.number_tables import SliceCache
from pipelines.merge.word_stages import words_file
from pipelines.runtime.free_memory import release_memory
from pipelines.store.build_folder import MERGED_PARTS, MergedPart
from pipelines.store.ledger import Ledger

# Maximum number of pairs per row group of the written files, unless a row has more.
BLOCK_ENTRIES = 1 << 20


class MergeStage:
    """Stage that merges a range of words.

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
        rows, used = self._merge(item.rows, words["number"].to_numpy(), item.hashes.rows)
        hashes = item.hashes.read(used.members, self._hashes)
        # A word without a count was subtracted completely. Only a word of the left context of a batch can have pairs.
        positions = used.positions(words["number"].to_numpy())
        kept = (words["count"].to_numpy() > 0) | np.isin(positions, rows.left)
        words, positions = words.filter(pa.array(kept)), positions[kept]
        numbers, counts, passages = (words[name].to_numpy() for name in ("number", "count", "passages"))
        digest = digest_words(hashes[positions], counts, passages, 0) + digest_pairs(rows, hashes)
        rows = rows._replace(left=used.members[rows.left], right=used.members[rows.right])
        uri, sorted_words = storage.join(self._build, part), words["word"].combine_chunks()
        written = write_part(uri, sorted_words, numbers, counts, passages, split(rows, BLOCK_ENTRIES))
        return MergedPart(part=part, sha256=written.sha256, entries=written.entries, digest=digest.hex())

    def _merge(self, rows: list[RangeRows], numbers: np.ndarray, size: int) -> tuple[PairBlock, NumberSet]:
        """Return the sum of the rows, with positions in place of numbers, and the set of the numbers.

        Args:
            rows: rows of each operand.
            numbers: (words,) int32, numbers of the words of the range, in the order of their bytes.
            size: number of words of the merged segment.
        """
        blocks: list[PairBlock] = []
        numbers_of_blocks = [numbers]
        owners: list[int] = []
        for operand in rows:
            read = [row_range.read(operand.numbers.rows) for row_range in operand.row_ranges]
            own = NumberSet.of((column for block in read for column in (block.left, block.right)), operand.numbers.rows)
            numbers_of_blocks.append(operand.numbers.read(own.members, SliceCache())[:, 0])
            while read:
                blocks.append(_replace_numbers(read.pop(), own, operand.sign))
                owners.append(len(numbers_of_blocks) - 1)
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

    def _read_words(self, uri: str) -> pa.Table:
        if self._words is None or self._words[0] != uri:
            self._words = uri, parquet_files.read_table(uri)
        return self._words[1]


def _replace_numbers(block: PairBlock, numbers: NumberSet, sign: int) -> PairBlock:
    """Return rows with the positions of their numbers, to add (sign 1) or to subtract (sign -1)."""
    block = block._replace(left=numbers.positions(block.left), right=numbers.positions(block.right))
    return block if sign > 0 else negate(block)
