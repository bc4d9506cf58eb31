"""Merging segments, range of words by range of words, exact and within memory; several merges go on at once.

First the words of each merge are added up, numbered and cut into ranges (SumStage). Then each member's words get their
new numbers, and it is found where the ranges lie in it (NumberStage). Then each range's runs are read, renumbered and
added up (MergeStage), and nothing else is read: a range becomes a part of the new segment.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bitcipher import storage
from bitcipher.counts import SEGMENT_WORDS, PairBlock, merge_rows, negate, read_words, renumber, split, write_part
from pipelines.merge.row_ranges import RowRange, find_runs
from pipelines.merge.words import cut_ranges, merge_words
from pipelines.runtime.memory_budget import BYTES_OF_ENTRY, BYTES_OF_WORD
from pipelines.runtime.runtime import Row, Runtime, StageSpec
from pipelines.store.ledger import Ledger
from pipelines.store.segments import Merge, Segment

# Entries of a row group of merged pairs, and of a block that is read again.
BLOCK_ENTRIES = 1 << 22


class SumStage:
    """Adds up the words of a merge, numbers them, and cuts them into ranges.

    Args:
        work: the folder for what is needed for a moment, a folder below it for each merge.
        range_entries: entries that a worker may hold at once, beside the words.
    """

    def __init__(self, work: str, range_entries: int):
        self._work = work
        self._range_entries = range_entries

    def __call__(self, row: Row) -> Iterator[Row]:
        """From the parts of a merge's members to its ranges, by their places among the words."""
        words = merge_words(row["members"], row["without"])
        numbers = np.empty(len(words), np.int32)
        numbers[np.argsort(-words["count"].to_numpy(), kind="stable")] = np.arange(len(words), dtype=np.int32)
        storage.write_table(_words_file(self._work, row["merge"]), words.append_column("number", pa.array(numbers)))
        # Each worker holds all words beside a range, so many words leave less room for entries.
        words_in_entries = len(words) * BYTES_OF_WORD // BYTES_OF_ENTRY
        range_entries = max(self._range_entries - words_in_entries, self._range_entries // 4, 1)
        types = int(np.count_nonzero(words["count"].to_numpy()))
        yield {"merge": row["merge"], "ranges": cut_ranges(words, range_entries), "types": types}


class NumberStage:
    """Gives a member's words their numbers in the merged segment, and finds the ranges in it.

    Args:
        work: as for `SumStage`.
    """

    def __init__(self, work: str):
        self._work = work
        self._merge: str | None = None

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a member's parts and the first words of ranges to its runs in each."""
        if self._merge != row["merge"]:
            self._merge, self._words = row["merge"], storage.read_table(_words_file(self._work, row["merge"]))
        words = self._words["word"].combine_chunks()
        tables = [read_words([part]) for part in row["parts"]]
        table = pa.concat_tables([SEGMENT_WORDS.empty_table(), *tables]).combine_chunks()
        numbers = np.empty(len(table), np.int32)
        places = np.asarray(pc.index_in(table["word"].combine_chunks(), words), np.int64)
        numbers[table["number"].to_numpy()] = self._words["number"].to_numpy()[places]
        target = _numbers_file(self._work, row["merge"], row["member"])
        storage.write_table(target, pa.table({"number": numbers}))
        firsts = [words[place].as_py().encode() for place in row["firsts"]]
        yield {"merge": row["merge"], "member": row["member"], "runs": find_runs(row["parts"], tables, firsts)}


class MergeStage:
    """Merges a range of words.

    Args:
        work: as for `SumStage`.
        build: the folder of the build.
        folder: below it, the folder for the parts.
        ledger: where finished ranges are written down, or None.
    """

    def __init__(self, work: str, build: str, folder: str, ledger: str | None):
        self._work = work
        self._build = build
        self._folder = folder
        self._ledger = None if ledger is None else Ledger(ledger)
        self._merge: str | None = None

    def __call__(self, row: Row) -> Iterator[Row]:
        """From a range's words and its runs in each member to its part."""
        first, behind = row["words"]
        key = f"merge/{row['merge']}/{first}-{behind}"
        entry = self._ledger and self._ledger.find(key)
        if entry is None:
            part = storage.join(self._folder, f"{row['merge']}-{row['index']:05d}-{uuid.uuid4().hex[:8]}")
            entry = {"part": part, "entries": self._write(storage.join(self._build, part), row)}
            if self._ledger:
                entry = self._ledger.record(key, entry)
        yield {"merge": row["merge"], "index": row["index"], **entry}

    def _write(self, uri: str, row: Row) -> int:
        if self._merge != row["merge"]:
            self._merge, self._words = row["merge"], storage.read_table(_words_file(self._work, row["merge"]))
            self._place = np.empty(len(self._words), np.int64)
            self._place[self._words["number"].to_numpy()] = np.arange(len(self._words))
        first, behind = row["words"]
        words = self._words.slice(first, behind - first)
        words = words.filter(pc.greater(words["count"], 0))
        blocks = [block for member, sign, runs in row["runs"] for block in self._read(member, sign, runs)]
        rows, _ = merge_rows(blocks, self._place, -1)
        del blocks
        columns = (words[name].to_numpy() for name in ("number", "count", "passages"))
        return write_part(uri, words["word"].combine_chunks(), *columns, split(rows, BLOCK_ENTRIES))

    def _read(self, member: int, sign: int, runs: list[list[Any]]) -> list[PairBlock]:
        numbers = storage.read_table(_numbers_file(self._work, self._merge, member))["number"].to_numpy()
        blocks = [renumber(RowRange(*run).read(), numbers) for run in runs]
        return blocks if sign > 0 else [negate(block) for block in blocks]


def merge_segments(
    merges: Mapping[str, Merge],
    build: str,
    folder: str,
    work: str,
    range_entries: int,
    runtime: Runtime,
    ledger: str | None = None,
    on_costs: Callable[[list[Row]], None] = lambda costs: None,
    on_range: Callable[[Row, int], None] = lambda result, ranges: None,
) -> list[Segment]:
    """Merge segments into new ones.

    Args:
        merges: what is added up, by the name of the new segment, with which the names of its parts begin.
        build: the folder of the build.
        folder: below it, the folder for the parts.
        work: a folder of one's own, which is removed in the end.
        range_entries: entries that a worker may hold at once, see `cut_ranges`.
        runtime: where to run.
        ledger: where finished ranges are written down and found again, if that is worth it.
        on_costs: called with what each piece of work took.
        on_range: called with the result of each range, and how many ranges there are.
    """

    def run(make: Callable[..., Any], arguments: Row, rows: list[Row]) -> Iterator[Row]:
        for result in runtime.stream(StageSpec("merge", make, arguments), rows):
            on_costs(result["costs"])
            yield result

    parts_of = {
        name: [[storage.join(build, part) for part in segment.parts] for segment in (*merge.members, *merge.without)]
        for name, merge in merges.items()
    }
    sums = []
    for name, merge in merges.items():
        members = len(merge.members)
        sums.append({"merge": name, "members": parts_of[name][:members], "without": parts_of[name][members:]})
    found = {row["merge"]: row for row in run(SumStage, {"work": work, "range_entries": range_entries}, sums)}
    members = [
        {"merge": name, "member": member, "parts": parts, "firsts": [first for first, _ in found[name]["ranges"]]}
        for name in merges
        for member, parts in enumerate(parts_of[name])
    ]
    runs = {(row["merge"], row["member"]): row["runs"] for row in run(NumberStage, {"work": work}, members)}
    ranges = [
        {"merge": name, "index": index, "words": words, "runs": _runs_of_range(merge, name, index, runs)}
        for name, merge in merges.items()
        for index, words in enumerate(found[name]["ranges"])
    ]
    done: dict[tuple[str, int], Row] = {}
    places = {"work": work, "build": build, "folder": folder, "ledger": ledger}
    for row in run(MergeStage, places, ranges):
        done[row["merge"], row["index"]] = row
        on_range(row, len(ranges))
    storage.remove(work)
    return [
        _segment(merge, name, [done[name, i] for i in range(len(found[name]["ranges"]))], found[name]["types"])
        for name, merge in merges.items()
    ]


def _runs_of_range(
    merge: Merge, name: str, index: int, runs: dict[tuple[str, int], list[list[RowRange]]]
) -> list[tuple[int, int, list[RowRange]]]:
    """The members that have rows in a range, each with its sign and its runs there."""
    signs = [1] * len(merge.members) + [-1] * len(merge.without)
    return [(member, sign, runs[name, member][index]) for member, sign in enumerate(signs) if runs[name, member][index]]


def _segment(merge: Merge, name: str, parts: list[Row], types: int) -> Segment:
    return Segment(
        name=name,
        parts=tuple(part["part"] for part in parts),
        shards=merge.shards,
        documents=merge.total("documents"),
        total_passages=merge.total("total_passages"),
        text_bytes=merge.total("text_bytes"),
        tokens=merge.total("tokens"),
        types=types,
        entries=sum(part["entries"] for part in parts),
        digest=merge.digest,
    )


def _words_file(work: str, merge: str) -> str:
    return storage.join(work, merge, "words.parquet")


def _numbers_file(work: str, merge: str, member: int) -> str:
    return storage.join(work, merge, f"{member}.parquet")
