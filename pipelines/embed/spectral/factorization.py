"""Factorization of stored counts that do not fit in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa

from bitcipher import storage
from bitcipher.counts import ContextWindow, VocabularyFile, choose_ranges, cut_ranges, sample_step
from bitcipher.embedding.spectral import Products, block_count
from pipelines.embed.spectral.gather_ranges import (
    OOV_RANGE,
    GatherInput,
    GatherOovInput,
    GatherStage,
    LocateInput,
    LocateStage,
    read_sums,
)
from pipelines.embed.spectral.ppmi_ranges import PpmiInput, PpmiStage, write_inputs
from pipelines.embed.spectral.range_products import RangeProducts
from pipelines.embed.spectral.rank_ranges import RankInput, RankStage
from pipelines.embed.stage_runner import RunStage
from pipelines.merge.sample_stage import SampleInput, SampleStage
from pipelines.runtime.memory_budget import BYTES_PER_ENTRY

Factored = TypeVar("Factored")

# Bytes of memory of a worker, in addition to its range: per word of the vocabulary (position, name and dense totals),
# and per word and block (a sum and two logarithms). A block has the pairs at one offset, or in the whole window.
BYTES_PER_WORD = 64
BYTES_PER_SUM = 24


@dataclass(frozen=True)
class CountPaths:
    """URIs of stored counts and of a folder for temporary files."""

    vocabulary: VocabularyFile
    """File of the vocabulary."""
    segments: Sequence[Sequence[str]]
    """URIs of the parts of each segment."""
    work: str
    """Folder for temporary files, which is removed at the end."""


def factor(
    paths: CountPaths,
    context_window: ContextWindow,
    columns: np.ndarray,
    use_products: Callable[[Products, int], Factored],
    range_entries: int,
    row_bytes: int,
    run: RunStage,
) -> Factored:
    """Factor counts of any size, in ranges of words.

    The products have the same bytes as those of `InMemoryProducts`, for any ranges. Ranges are processed by the
    workers of the runtime. This process holds tables with a row per context word, and some integers per word.

    Args:
        paths: URIs of the counts, and folder for temporary files.
        context_window: window of the vectors.
        columns: (N,) int32, the column of each word as a context word, or -1 for words to leave out.
        use_products: called with the products and the number of blocks; returns the result.
        range_entries: maximum number of entries (stored pairs) in the memory of a worker.
        row_bytes: bytes of a row of the last product, which a worker holds for each word of its range.
        run: function that runs a stage over inputs.
    """

    vocabulary = paths.vocabulary.read()
    words, blocks = len(vocabulary), block_count(context_window.size, context_window.summed)
    words_in_entries = words * (BYTES_PER_WORD + blocks * BYTES_PER_SUM) // BYTES_PER_ENTRY
    range_entries = max(range_entries - words_in_entries, range_entries // 4, 1)
    try:
        names = _gather(paths, context_window, range_entries, run)
        sums = cast(np.ndarray, sum(read_sums(paths.work, name) for name in names))
        write_inputs(paths.work, sums[:-1], columns)
        entries = sums[-1][np.argsort(vocabulary.row_order())] + -(-row_bytes // BYTES_PER_ENTRY)
        ranges = _weight(paths, names, entries, range_entries, run)
        return use_products(RangeProducts(paths.work, ranges, columns, run), blocks)
    finally:
        storage.remove(paths.work)


def _gather(paths: CountPaths, context_window: ContextWindow, range_entries: int, run: RunStage) -> list[str]:
    """Gather the pairs of all ranges of words, and return the names of the ranges."""
    step = sample_step(range_entries, len(paths.segments))
    samples = [SampleInput("", number, list(parts), "entries", step) for number, parts in enumerate(paths.segments)]
    ranges = choose_ranges([each.sample for each in run(SampleStage, {}, samples)], range_entries)
    segments = [RankInput(number, list(parts), ranges) for number, parts in enumerate(paths.segments)]
    arguments: dict[str, Any] = {"vocabulary": paths.vocabulary, "work": paths.work}
    ranked = {segment.segment: segment.row_ranges for segment in run(RankStage, arguments, segments)}
    inputs = [
        GatherInput(f"{index:05d}", [(segment, ranked[segment][index]) for segment in sorted(ranked)])
        for index in range(len(ranges))
    ]
    arguments |= {"context_window": context_window, "range_entries": range_entries}
    names = [item.name for item in inputs]
    for _ in run(GatherStage, arguments, inputs):
        pass
    for _ in run(GatherStage, arguments, [GatherOovInput(names)]):
        pass
    return [*names, OOV_RANGE]


def _weight(paths: CountPaths, names: list[str], entries: np.ndarray, range_entries: int, run: RunStage) -> int:
    """Compute and write the PPMI weights of all pairs, in ranges of the vocabulary.

    Args:
        paths: URIs of the counts, and folder for temporary files.
        names: names of the gathered ranges.
        entries: (words,) int64, size of each word in memory, in pairs, sorted by the bytes of the words.
        range_entries: maximum number of pairs of a range.
        run: function that runs a stage over inputs.

    Returns:
        The number of ranges.
    """
    bounds = [start for start, _ in cut_ranges(pa.table({"entries": entries}), range_entries)] + [len(entries)]
    arguments = {"vocabulary": paths.vocabulary, "work": paths.work}
    located = {
        rows.name: rows.row_ranges
        for rows in run(LocateStage, arguments, [LocateInput(name, bounds) for name in names])
    }
    inputs = [
        PpmiInput(index, [row_range for name in names for row_range in located[name][index]])
        for index in range(len(bounds) - 1)
    ]
    for _ in run(PpmiStage, arguments, inputs):
        pass
    storage.remove(storage.join(paths.work, "ranges"))
    return len(inputs)
