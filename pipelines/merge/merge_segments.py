"""Exact sums and differences of segments. All merges run at the same time, each in three stages:

1. `SumStage` adds up the words of a merge, numbers them, and splits them into ranges.
2. `NumberStage` maps the words of an operand to their new numbers, and finds the rows of each range in the operand.
3. `MergeStage` reads the rows of one range of words from all operands, renumbers them and adds them up. Each range
   becomes a part of the new segment.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher import storage
from bitcipher.counts import (
    SEGMENT_WORDS,
    CountDigest,
    PairBlock,
    RowRange,
    cut_ranges,
    digest_pairs,
    digest_words,
    find_row_ranges,
    merge_rows,
    merge_words,
    negate,
    read_words,
    renumber,
    split,
    word_hashes,
    word_numbers,
    write_part,
)
from bitcipher.errors import BitcipherError
from pipelines.merge.merge_records import (
    MergedRange,
    MergeInput,
    NumberedOperand,
    NumberInput,
    RangeRows,
    SumInput,
    SummedWords,
)
from pipelines.runtime.memory_budget import BYTES_PER_ENTRY, BYTES_PER_WORD
from pipelines.runtime.runtime import In, Out, Runtime, StageResult, StageSpec
from pipelines.store.job_ledger import MERGED_PARTS, MergedPart
from pipelines.store.ledger import Ledger
from pipelines.store.segments import Merge, Segment

# Number of pairs per row group of the written files.
BLOCK_ENTRIES = 1 << 22

# Columns of the file with the hashes of the words of a merge, in the order of their numbers.
HASHES = ("first", "second")


class SumStage:
    """Stage that adds up the words of a merge, numbers them, and splits them into ranges.

    Args:
        work: folder for temporary files.
        range_entries: maximum number of entries (stored pairs) that a worker can hold. The words of the merge take some
            of this memory, so ranges have fewer entries.
    """

    def __init__(self, work: str, range_entries: int):
        self._work = work
        self._range_entries = range_entries

    def __call__(self, item: SumInput) -> Iterator[SummedWords]:
        """Yield the ranges of a merge."""
        words = merge_words(item.members, item.subtracted)
        numbers = np.empty(len(words), np.int32)
        numbers[np.argsort(-words["count"].to_numpy(), kind="stable")] = np.arange(len(words), dtype=np.int32)
        words = words.append_column("number", pa.array(numbers))
        storage.write_table(_words_file(self._work, item.merge), words)
        hashes = np.empty((len(words), 2), np.uint64)
        hashes[numbers] = word_hashes(words["word"].combine_chunks())
        storage.write_table(_hashes_file(self._work, item.merge), pa.table(dict(zip(HASHES, hashes.T, strict=True))))
        # Each worker also holds all words, which leaves less memory for entries.
        words_in_entries = len(words) * BYTES_PER_WORD // BYTES_PER_ENTRY
        range_entries = max(self._range_entries - words_in_entries, self._range_entries // 4, 1)
        types = int(np.count_nonzero(words["count"].to_numpy()))
        yield SummedWords(item.merge, cut_ranges(words, range_entries), types)


class _MergeWords:
    """Cache of the summed words of the merge that was read last."""

    def __init__(self, work: str):
        self._work = work
        self._merge: str | None = None

    def table(self, merge: str) -> pa.Table:
        self._load(merge)
        return self._table

    def positions(self, merge: str) -> np.ndarray:
        """Return the position of each word number among the sorted words, (words,) int64."""
        self._load(merge)
        if self._positions is None:
            self._positions = np.empty(len(self._table), np.int64)
            self._positions[self._table["number"].to_numpy()] = np.arange(len(self._table))
        return self._positions

    def hashes(self, merge: str) -> np.ndarray:
        """Return the hashes of the words by number, (words, 2) uint64."""
        self._load(merge)
        if self._hashes is None:
            table = storage.read_table(_hashes_file(self._work, merge))
            self._hashes = np.stack([table[name].to_numpy() for name in HASHES], axis=1)
        return self._hashes

    def _load(self, merge: str) -> None:
        if self._merge != merge:
            self._merge, self._table = merge, storage.read_table(_words_file(self._work, merge))
            self._positions: np.ndarray | None = None
            self._hashes: np.ndarray | None = None


class NumberStage:
    """Stage that maps the words of an operand to their numbers in the merged segment, and finds the rows of each range.

    Args:
        work: folder for temporary files.
    """

    def __init__(self, work: str):
        self._work = work
        self._words = _MergeWords(work)

    def __call__(self, item: NumberInput) -> Iterator[NumberedOperand]:
        """Yield the row ranges of an operand."""
        merged = self._words.table(item.merge)
        words = merged["word"].combine_chunks()
        tables = [read_words([part]) for part in item.parts]
        table = pa.concat_tables([SEGMENT_WORDS.empty_table(), *tables]).combine_chunks()
        numbers = np.empty(len(table), np.int32)
        positions = np.asarray(pc.index_in(table["word"].combine_chunks(), words), np.int64)
        numbers[word_numbers(table)] = merged["number"].to_numpy()[positions]
        storage.write_table(_numbers_file(self._work, item.merge, item.operand), pa.table({"number": numbers}))
        first_words = [words[position].as_py().encode() for position in item.range_starts]
        yield NumberedOperand(item.merge, item.operand, find_row_ranges(item.parts, tables, first_words))


class MergeStage:
    """Stage that merges a range of words.

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
        self._words = _MergeWords(work)

    def __call__(self, item: MergeInput) -> Iterator[MergedRange]:
        """Yield the part of a range. A range in the ledger is not merged again."""
        key = f"{item.merge}/{item.start}-{item.stop}"
        entry = self._ledger and self._ledger.find(MERGED_PARTS, key)
        if entry is None:
            part = storage.join(self._folder, f"{item.merge}-{item.index:05d}-{uuid.uuid4().hex[:8]}")
            entry = self._write(part, item)
            if self._ledger:
                entry = self._ledger.record(MERGED_PARTS, key, entry)
        yield MergedRange(item.merge, item.index, entry.part, entry.sha256, entry.entries, entry.digest)

    def _write(self, part: str, item: MergeInput) -> MergedPart:
        words = self._words.table(item.merge).slice(item.start, item.stop - item.start)
        blocks = [block for rows in item.rows for block in self._read(item.merge, rows)]
        rows, _ = merge_rows(blocks, self._words.positions(item.merge), -1)
        del blocks
        # A word without a count was subtracted completely. Only a word of the left context of a batch can have pairs.
        is_left = pa.array(np.isin(words["number"].to_numpy(), rows.left))
        words = words.filter(pc.or_(pc.greater(words["count"], 0), is_left))
        numbers, counts, passages = (words[name].to_numpy() for name in ("number", "count", "passages"))
        hashes = self._words.hashes(item.merge)
        digest = digest_words(hashes[numbers], counts, passages, 0) + digest_pairs(rows, hashes)
        uri, sorted_words = storage.join(self._build, part), words["word"].combine_chunks()
        written = write_part(uri, sorted_words, numbers, counts, passages, split(rows, BLOCK_ENTRIES))
        return MergedPart(part=part, sha256=written.sha256, entries=written.entries, digest=digest.hex())

    def _read(self, merge: str, rows: RangeRows) -> list[PairBlock]:
        numbers = storage.read_table(_numbers_file(self._work, merge, rows.operand))["number"].to_numpy()
        blocks = [renumber(row_range.read(len(numbers)), numbers) for row_range in rows.row_ranges]
        return blocks if rows.sign > 0 else [negate(block) for block in blocks]


def merge_segments(
    merges: Mapping[str, Merge],
    build: str,
    folder: str,
    work: str,
    range_entries: int,
    runtime: Runtime,
    ledger: str | None = None,
    on_result: Callable[[StageResult[Any]], None] = lambda result: None,
    on_range: Callable[[StageResult[MergedRange], int], None] = lambda result, ranges: None,
) -> list[Segment]:
    """Merge segments, and return the new segments.

    Args:
        merges: the merges, by the name of the new segment.
        build: folder of the build.
        folder: folder for the parts, relative to the build.
        work: folder for temporary files, which is removed at the end.
        range_entries: maximum number of entries (stored pairs) that a worker holds.
        runtime: runtime of the stages.
        ledger: URI of the ledger that records finished ranges, or None.
        on_result: called with each result of a stage.
        on_range: called with the result of each merged range, and the total number of ranges.
    """

    def run(
        make: Callable[..., Callable[[In], Iterator[Out]]], arguments: dict[str, Any], inputs: Sequence[In]
    ) -> Iterator[StageResult[Out]]:
        for result in runtime.stream(StageSpec("merge", make, arguments), inputs):
            on_result(result)
            yield result

    parts = {
        name: [[storage.join(build, part) for part in segment.parts] for segment in merge.operands]
        for name, merge in merges.items()
    }
    sums = []
    for name, merge in merges.items():
        members = len(merge.members)
        sums.append(SumInput(name, parts[name][:members], parts[name][members:]))
    arguments = {"work": work, "range_entries": range_entries}
    summed = {result.value.merge: result.value for result in run(SumStage, arguments, sums)}
    operands = [
        NumberInput(name, operand, parts_of_operand, [start for start, _ in summed[name].ranges])
        for name in merges
        for operand, parts_of_operand in enumerate(parts[name])
    ]
    row_ranges = {
        (result.value.merge, result.value.operand): result.value.row_ranges
        for result in run(NumberStage, {"work": work}, operands)
    }
    ranges = [
        MergeInput(name, index, start, stop, _rows_in_range(merge, name, index, row_ranges))
        for name, merge in merges.items()
        for index, (start, stop) in enumerate(summed[name].ranges)
    ]
    done: dict[tuple[str, int], MergedRange] = {}
    arguments = {"work": work, "build": build, "folder": folder, "ledger": ledger}
    for result in run(MergeStage, arguments, ranges):
        done[result.value.merge, result.value.index] = result.value
        on_range(result, len(ranges))
    storage.remove(work)
    return [
        _merged_segment(merge, name, [done[name, i] for i in range(len(summed[name].ranges))], summed[name].types)
        for name, merge in merges.items()
    ]


def _rows_in_range(
    merge: Merge, name: str, index: int, row_ranges: dict[tuple[str, int], list[list[RowRange]]]
) -> list[RangeRows]:
    """Return the rows of a range. Operands without rows are left out."""
    signs = [1] * len(merge.members) + [-1] * len(merge.subtracted)
    return [
        RangeRows(operand, sign, found)
        for operand, sign in enumerate(signs)
        if (found := row_ranges[name, operand][index])
    ]


def _merged_segment(merge: Merge, name: str, ranges: list[MergedRange], types: int) -> Segment:
    """Return the record of a merged segment.

    Raises:
        BitcipherError: if its counts differ from those that are recorded for its operands.
    """
    none = np.empty(0, np.int64)
    digest = digest_words(np.empty((0, 2), np.uint64), none, none, merge.total("total_passages"))
    digest = sum((CountDigest.from_hex(merged.digest) for merged in ranges), digest)
    if digest.hex() != merge.digest:
        names = ", ".join(segment.name for segment in merge.operands)
        raise BitcipherError(
            f"The counts of at least one of the segments {names} are damaged, because their sum has another digest "
            "than their records: build again."
        )
    return Segment(
        name=name,
        parts=tuple(merged.part for merged in ranges),
        part_hashes=tuple(merged.sha256 for merged in ranges),
        shards=merge.shards,
        documents=merge.total("documents"),
        total_passages=merge.total("total_passages"),
        text_bytes=merge.total("text_bytes"),
        tokens=merge.total("tokens"),
        types=types,
        entries=sum(merged.entries for merged in ranges),
        digest=merge.digest,
    )


def _words_file(work: str, merge: str) -> str:
    return storage.join(work, merge, "words.parquet")


def _hashes_file(work: str, merge: str) -> str:
    return storage.join(work, merge, "hashes.parquet")


def _numbers_file(work: str, merge: str, operand: int) -> str:
    return storage.join(work, merge, f"{operand}.parquet")
