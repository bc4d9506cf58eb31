"""Pairs of ranges of words: gathered from all segments, and located in the gathered files."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bitcipher.counts.context_window import ContextWindow
from bitcipher.counts.row_ranges import RowRange
from bitcipher.counts.segment_words import cut_ranges
from bitcipher.counts.vocabulary_file import VocabularyFile
from bitcipher.counts.word_ranges import choose_ranges, sample_step
from bitcipher.files import storage
from pipelines.embed.spectral.gather_ranges import (
    BACKWARD,
    FORWARD,
    OOV_RANGE,
    GatherInput,
    GatherOovInput,
    GatherStage,
    LocateInput,
    LocateStage,
    gathered_uri,
)
from pipelines.embed.spectral.rank_ranges import RankInput, RankStage
from pipelines.embed.stage_runner import RunStage
from pipelines.merge.sample_stage import SampleInput, SampleStage
from pipelines.runtime.memory_budget import BYTES_PER_ENTRY

# Bytes of memory of a worker, in addition to its range: per word of the vocabulary (position, name and dense totals),
# and per word and block (a sum and two logarithms). A block has the pairs at one offset, or in the whole window.
BYTES_PER_WORD = 64
BYTES_PER_SUM = 24

# A range has at least this part of the entries that fit, however many words there are.
MIN_SHARE = 4


def word_bytes(blocks: int) -> int:
    """Return the bytes that a worker needs for each word of the vocabulary, with a number of blocks."""
    return BYTES_PER_WORD + blocks * BYTES_PER_SUM


def entries_left(range_entries: int, words: int, blocks: int) -> int:
    """Return how many entries fit in the memory of a worker beside numbers for each word of the vocabulary.

    Args:
        range_entries: number of entries (stored pairs) that fit in its memory.
        words: number of words.
        blocks: number of blocks.
    """
    return max(range_entries - words * word_bytes(blocks) // BYTES_PER_ENTRY, range_entries // MIN_SHARE, 1)


@dataclass(frozen=True)
class CountPaths:
    """URIs of stored counts and of a folder for temporary files."""

    vocabulary: VocabularyFile
    """File of the vocabulary."""
    segments: Sequence[Sequence[str]]
    """URIs of the parts of each segment."""
    work: str
    """Folder for temporary files, which is removed at the end."""


@dataclass(frozen=True)
class LocatedWords:
    """A range of the vocabulary, and its pairs in the gathered files."""

    start: int
    """Position of the first word among the words sorted by their bytes."""
    stop: int
    """Position after the last word."""
    row_ranges: list[RowRange]
    """All pairs of these words, first forward, then backward. Each pair occurs once in either direction. The order of
    the pairs of a word and an offset does not depend on the ranges."""


def gather(paths: CountPaths, context_window: ContextWindow, range_entries: int, run: RunStage) -> list[str]:
    """Gather the pairs of all ranges of words, and return the names of the ranges.

    Args:
        paths: URIs of the counts, and folder for temporary files.
        context_window: window of the vectors.
        range_entries: maximum number of pairs in the memory of a worker.
        run: function that runs a stage over inputs.
    """
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


def locate(
    paths: CountPaths, names: list[str], sizes: np.ndarray, range_entries: int, run: RunStage
) -> list[LocatedWords]:
    """Choose ranges of the vocabulary, and find their pairs in the gathered files.

    Args:
        paths: URIs of the counts, and folder for temporary files.
        names: names of the gathered ranges.
        sizes: (words,) int64, size of each word in memory, in pairs, sorted by the bytes of the words.
        range_entries: maximum size of a range.
        run: function that runs a stage over inputs.
    """
    bounds = [start for start, _ in cut_ranges(sizes, range_entries)] + [len(sizes)]
    inputs = [
        LocateInput(gathered_uri(paths.work, name, direction), bounds)
        for direction in (FORWARD, BACKWARD)
        for name in names
    ]
    located = {rows.uri: rows.row_ranges for rows in run(LocateStage, {"vocabulary": paths.vocabulary}, inputs)}
    return [
        LocatedWords(
            start, stop, [each for item in inputs if (each := located[item.uri][index]).row_start < each.row_stop]
        )
        for index, (start, stop) in enumerate(pairwise(bounds))
    ]


def remove_gathered(paths: CountPaths) -> None:
    """Remove the gathered files."""
    storage.remove(storage.join(paths.work, "ranges"))
