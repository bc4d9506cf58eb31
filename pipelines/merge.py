"""Merging segments into one, range of words by range of words, exact and within memory.

The words are added up and numbered first. Then each member's words get their new numbers, and it is found where the
ranges lie in it (NumberStage); each range's runs are read, renumbered and added up (MergeStage), and nothing else is
read. A range becomes a part of the new segment.
"""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher import storage
from bitcipher.counts import merge_rows, negate, read_words, renumber, split, write_part
from pipelines.ledger import Ledger
from pipelines.runs import Run, find_runs
from pipelines.runtime import Row, Runtime, StageSpec
from pipelines.segments import Merge, Segment
from pipelines.words import cut_ranges, merge_words

# Entries of a row group of merged pairs, and of a block that is read again.
BLOCK_ENTRIES = 1 << 22


class NumberStage:
    """Gives a member's words their numbers in the merged segment, and finds the ranges in it.

    Args:
        words: the file of the merged words.
        firsts: the place of the first word of each range.
        numbers: the folder for the numbers.
    """

    def __init__(self, words: str, firsts: list[int], numbers: str):
        table = storage.read_table(words)
        self._words = table["word"].combine_chunks()
        self._numbers = table["number"].to_numpy()
        self._firsts = [self._words[place].as_py().encode() for place in firsts]
        self._folder = numbers

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a member's parts to its runs, for each range."""
        tables = [read_words([part]) for part in row["parts"]]
        table = pa.concat_tables(tables).combine_chunks()
        numbers = np.empty(len(table), np.int32)
        places = np.asarray(pc.index_in(table["word"].combine_chunks(), self._words), np.int64)
        numbers[table["number"].to_numpy()] = self._numbers[places]
        storage.write_table(storage.join(self._folder, f"{row['index']}.parquet"), pa.table({"number": numbers}))
        yield {"index": row["index"], "runs": find_runs(row["parts"], tables, self._firsts)}


class MergeStage:
    """Merges a range of words.

    Args:
        words: the file of the merged words.
        numbers: the folder of the members' numbers.
        build: the folder of the build.
        folder: below it, the folder for the parts.
        ledger: where finished ranges are written down, or None.
        name: of the merged segment.
        signs: of each member, 1 or -1.
    """

    def __init__(
        self, words: str, numbers: str, build: str, folder: str, ledger: str | None, name: str, signs: list[int]
    ):
        self._words = storage.read_table(words)
        self._place = np.empty(len(self._words), np.int64)
        self._place[self._words["number"].to_numpy()] = np.arange(len(self._words))
        self._folder = numbers
        self._build = build
        self._parts = folder
        self._ledger = None if ledger is None else Ledger(ledger)
        self._name = name
        self._signs = signs

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a range's place, words and runs to its part."""
        key = f"merge/{self._name}/{row['index']:05d}"
        entry = self._ledger and self._ledger.find(key)
        if entry is None:
            part = storage.join(self._parts, f"{self._name}-{row['index']:05d}-{uuid.uuid4().hex[:8]}")
            entry = {"part": part, "entries": self._merge(storage.join(self._build, part), row)}
            if self._ledger:
                entry = self._ledger.record(key, entry)
        yield {"index": row["index"], **entry}

    def _merge(self, uri: str, row: Row) -> int:
        first, behind = row["words"]
        words = self._words.slice(first, behind - first)
        words = words.filter(pc.greater(words["count"], 0))
        blocks = [self._read(index, runs) for index, runs in row["runs"]]
        rows, _ = merge_rows([block for member in blocks for block in member], self._place, -1)
        del blocks
        columns = (words[name].to_numpy() for name in ("number", "count", "documents"))
        return write_part(uri, words["word"].combine_chunks(), *columns, split(rows, BLOCK_ENTRIES))

    def _read(self, index: int, runs: list[list[Any]]) -> list[Any]:
        numbers = storage.read_table(storage.join(self._folder, f"{index}.parquet"))["number"].to_numpy()
        blocks = [renumber(Run(*run).read(), numbers) for run in runs]
        return blocks if self._signs[index] > 0 else [negate(block) for block in blocks]


def merge_segments(
    merge: Merge,
    name: str,
    build: str,
    folder: str,
    work: str,
    range_entries: int,
    runtime: Runtime,
    ledger: str | None = None,
    on_result: Callable[[Row, int], None] = lambda result, ranges: None,
) -> Segment:
    """Merge segments into a new one.

    Args:
        merge: what is added up.
        name: of the new segment, and what the names of its parts begin with.
        build: the folder of the build.
        folder: below it, the folder for the parts.
        work: a folder of one's own, which is removed in the end.
        range_entries: entries that a worker holds at once, see `cut_ranges`.
        runtime: where to run.
        ledger: where finished ranges are written down and found again, if that is worth it.
        on_result: called with the result of each range, and how many ranges there are.
    """
    inputs = [[storage.join(build, part) for part in segment.parts] for segment in (*merge.members, *merge.without)]
    signs = [1] * len(merge.members) + [-1] * len(merge.without)
    words = _number(merge_words(inputs[: len(merge.members)], inputs[len(merge.members) :]))
    ranges = cut_ranges(words, range_entries)
    words_file, numbers = storage.join(work, "words.parquet"), storage.join(work, "numbers")
    storage.write_table(words_file, words)
    number = {"words": words_file, "firsts": [first for first, _ in ranges], "numbers": numbers}
    rows = [{"index": index, "parts": parts} for index, parts in enumerate(inputs)]
    runs = {row["index"]: row["runs"] for row in runtime.stream(StageSpec("merge", NumberStage, number), rows)}
    add = {"words": words_file, "numbers": numbers, "build": build, "folder": folder, "ledger": ledger}
    rows = [
        {"index": i, "words": words_of_range, "runs": [(member, runs[member][i]) for member in range(len(inputs))]}
        for i, words_of_range in enumerate(ranges)
    ]
    done: dict[int, Row] = {}
    for row in runtime.stream(StageSpec("merge", MergeStage, {**add, "name": name, "signs": signs}), rows):
        done[row["index"]] = row
        on_result(row, len(ranges))
    storage.remove(work)
    return Segment(
        name=name,
        parts=tuple(done[index]["part"] for index in sorted(done)),
        shards=merge.shards,
        documents=merge.total("documents"),
        total_documents=merge.total("total_documents"),
        text_bytes=merge.total("text_bytes"),
        tokens=merge.total("tokens"),
        types=int(np.count_nonzero(words["count"].to_numpy())),
        entries=sum(row["entries"] for row in done.values()),
        digest=merge.digest,
    )


def _number(words: pa.Table) -> pa.Table:
    """With a column for the numbers: the ranks of the words, those of equal counts in the order of their bytes."""
    numbers = np.empty(len(words), np.int32)
    numbers[np.argsort(-words["count"].to_numpy(), kind="stable")] = np.arange(len(words), dtype=np.int32)
    return words.append_column("number", pa.array(numbers))
